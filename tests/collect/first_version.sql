-- sqlite
CREATE TABLE admin_account (
    id INTEGER NOT NULL,
    password VARCHAR(255),
    setup VARCHAR(64),
    setup_until BIGINT,
    totp VARCHAR(64),
    totp_step BIGINT,
    PRIMARY KEY (id)
);
CREATE TABLE admin_deletion (
    id INTEGER NOT NULL,
    name VARCHAR(64) NOT NULL,
    day DATE NOT NULL,
    receipt TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE admin_draft (
    name VARCHAR(64) NOT NULL,
    "key" VARCHAR(32) NOT NULL,
    content BLOB NOT NULL,
    made DATE NOT NULL,
    PRIMARY KEY (name),
    UNIQUE ("key")
);
CREATE TABLE admin_log (
    id INTEGER NOT NULL,
    at BIGINT NOT NULL,
    who VARCHAR(80) NOT NULL,
    what VARCHAR(40) NOT NULL,
    about VARCHAR(64),
    detail TEXT,
    PRIMARY KEY (id)
);
CREATE TABLE admin_plan (
    survey VARCHAR(64) NOT NULL,
    opens DATE,
    closes DATE,
    keeps DATE,
    PRIMARY KEY (survey)
);
CREATE TABLE admin_session (
    digest VARCHAR(64) NOT NULL,
    began BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    PRIMARY KEY (digest)
);
CREATE TABLE admin_token (
    id VARCHAR(8) NOT NULL,
    name VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    scopes VARCHAR(255) NOT NULL,
    survey VARCHAR(64),
    made DATE NOT NULL,
    expires DATE,
    used DATE,
    PRIMARY KEY (id),
    UNIQUE (digest)
);
CREATE TABLE client_file (
    client VARCHAR(16) NOT NULL,
    name VARCHAR(255) NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (client, name)
);
CREATE TABLE invitation (
    survey VARCHAR(64) NOT NULL,
    code VARCHAR(64) NOT NULL,
    taken VARCHAR(64),
    PRIMARY KEY (survey, code)
)
 WITHOUT ROWID;
CREATE TABLE issuer (
    survey VARCHAR(64) NOT NULL,
    "key" BLOB NOT NULL,
    again INTEGER NOT NULL,
    PRIMARY KEY (survey)
);
CREATE TABLE reply (
    survey VARCHAR(64) NOT NULL,
    id VARCHAR(32) NOT NULL,
    day DATE NOT NULL,
    answers TEXT NOT NULL,
    PRIMARY KEY (survey, id)
)
 WITHOUT ROWID;
CREATE TABLE report_count (
    design VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    wave VARCHAR(140) NOT NULL,
    level VARCHAR(140) NOT NULL,
    what VARCHAR(8) NOT NULL,
    place BIGINT NOT NULL,
    people BIGINT NOT NULL,
    PRIMARY KEY (design, question, wave, level, what, place)
)
 WITHOUT ROWID;
CREATE TABLE report_receipt (
    digest VARCHAR(64) NOT NULL,
    day DATE NOT NULL,
    PRIMARY KEY (digest)
)
 WITHOUT ROWID;
CREATE TABLE report_topic (
    design VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    wave VARCHAR(140) NOT NULL,
    content BLOB NOT NULL,
    opened DATE NOT NULL,
    closed DATE,
    PRIMARY KEY (design, question, wave)
);
CREATE TABLE shared (
    survey VARCHAR(64) NOT NULL,
    link VARCHAR(64),
    beside VARCHAR(140) NOT NULL,
    least BIGINT NOT NULL,
    shown BLOB NOT NULL,
    PRIMARY KEY (survey)
);
CREATE TABLE spent (
    survey VARCHAR(64) NOT NULL,
    token VARCHAR(32) NOT NULL,
    PRIMARY KEY (survey, token)
)
 WITHOUT ROWID;
CREATE TABLE survey (
    name VARCHAR(64) NOT NULL,
    hash VARCHAR(64) NOT NULL,
    client VARCHAR(16) NOT NULL,
    published BLOB NOT NULL,
    opened DATE NOT NULL,
    closed DATE,
    PRIMARY KEY (name)
);
CREATE TABLE tally (
    survey VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    beside VARCHAR(140) NOT NULL,
    day VARCHAR(10) NOT NULL,
    digest VARCHAR(32) NOT NULL,
    cell TEXT NOT NULL,
    people BIGINT NOT NULL,
    PRIMARY KEY (survey, question, beside, day, digest)
)
 WITHOUT ROWID;
CREATE TABLE untallied (
    survey VARCHAR(64) NOT NULL,
    id VARCHAR(32) NOT NULL,
    PRIMARY KEY (survey, id)
)
 WITHOUT ROWID;
-- postgresql
CREATE TABLE admin_account (
    id INTEGER NOT NULL,
    password VARCHAR(255),
    setup VARCHAR(64),
    setup_until BIGINT,
    totp VARCHAR(64),
    totp_step BIGINT,
    PRIMARY KEY (id)
);
CREATE TABLE admin_deletion (
    id SERIAL NOT NULL,
    name VARCHAR(64) NOT NULL,
    day DATE NOT NULL,
    receipt TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE admin_draft (
    name VARCHAR(64) NOT NULL,
    key VARCHAR(32) NOT NULL,
    content BYTEA NOT NULL,
    made DATE NOT NULL,
    PRIMARY KEY (name),
    UNIQUE (key)
);
CREATE TABLE admin_log (
    id SERIAL NOT NULL,
    at BIGINT NOT NULL,
    who VARCHAR(80) NOT NULL,
    what VARCHAR(40) NOT NULL,
    about VARCHAR(64),
    detail TEXT,
    PRIMARY KEY (id)
);
CREATE TABLE admin_plan (
    survey VARCHAR(64) NOT NULL,
    opens DATE,
    closes DATE,
    keeps DATE,
    PRIMARY KEY (survey)
);
CREATE TABLE admin_session (
    digest VARCHAR(64) NOT NULL,
    began BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    PRIMARY KEY (digest)
);
CREATE TABLE admin_token (
    id VARCHAR(8) NOT NULL,
    name VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    scopes VARCHAR(255) NOT NULL,
    survey VARCHAR(64),
    made DATE NOT NULL,
    expires DATE,
    used DATE,
    PRIMARY KEY (id),
    UNIQUE (digest)
);
CREATE TABLE client_file (
    client VARCHAR(16) NOT NULL,
    name VARCHAR(255) NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (client, name)
);
CREATE TABLE invitation (
    survey VARCHAR(64) NOT NULL,
    code VARCHAR(64) NOT NULL,
    taken VARCHAR(64),
    PRIMARY KEY (survey, code)
);
CREATE TABLE issuer (
    survey VARCHAR(64) NOT NULL,
    key BYTEA NOT NULL,
    again INTEGER NOT NULL,
    PRIMARY KEY (survey)
);
CREATE TABLE reply (
    survey VARCHAR(64) NOT NULL,
    id VARCHAR(32) NOT NULL,
    day DATE NOT NULL,
    answers TEXT NOT NULL,
    PRIMARY KEY (survey, id)
);
CREATE TABLE report_count (
    design VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    wave VARCHAR(140) NOT NULL,
    level VARCHAR(140) NOT NULL,
    what VARCHAR(8) NOT NULL,
    place BIGINT NOT NULL,
    people BIGINT NOT NULL,
    PRIMARY KEY (design, question, wave, level, what, place)
);
CREATE TABLE report_receipt (
    digest VARCHAR(64) NOT NULL,
    day DATE NOT NULL,
    PRIMARY KEY (digest)
);
CREATE TABLE report_topic (
    design VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    wave VARCHAR(140) NOT NULL,
    content BYTEA NOT NULL,
    opened DATE NOT NULL,
    closed DATE,
    PRIMARY KEY (design, question, wave)
);
CREATE TABLE shared (
    survey VARCHAR(64) NOT NULL,
    link VARCHAR(64),
    beside VARCHAR(140) NOT NULL,
    least BIGINT NOT NULL,
    shown BYTEA NOT NULL,
    PRIMARY KEY (survey)
);
CREATE TABLE spent (
    survey VARCHAR(64) NOT NULL,
    token VARCHAR(32) NOT NULL,
    PRIMARY KEY (survey, token)
);
CREATE TABLE survey (
    name VARCHAR(64) NOT NULL,
    hash VARCHAR(64) NOT NULL,
    client VARCHAR(16) NOT NULL,
    published BYTEA NOT NULL,
    opened DATE NOT NULL,
    closed DATE,
    PRIMARY KEY (name)
);
CREATE TABLE tally (
    survey VARCHAR(64) NOT NULL,
    question VARCHAR(140) NOT NULL,
    beside VARCHAR(140) NOT NULL,
    day VARCHAR(10) NOT NULL,
    digest VARCHAR(32) NOT NULL,
    cell TEXT NOT NULL,
    people BIGINT NOT NULL,
    PRIMARY KEY (survey, question, beside, day, digest)
);
CREATE TABLE untallied (
    survey VARCHAR(64) NOT NULL,
    id VARCHAR(32) NOT NULL,
    PRIMARY KEY (survey, id)
);
