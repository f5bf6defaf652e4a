"""Backups: from either kind of database into either kind, at one moment, and nothing hostile comes in."""

import hashlib
import json
import random
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import inspect, select, text, update

from naysay import DataError
from naysay.collect import Published
from naysay.collect.admin import backup as backups
from naysay.collect.admin import drafts, log, plans, tokens
from naysay.collect.admin.account import Account, Sessions
from naysay.collect.client import Client
from naysay.collect.questionnaire import of_form, sample
from naysay.collect.results import sharing
from naysay.collect.storage import Reply, Store, today
from naysay.collect.storage.tables import _SETTLE as SETTLE
from naysay.collect.storage.tables import metadata

from .conftest import PASSWORD


def fill(store, published, answers, *, n=2_500):
    """A survey with replies, and a row in every table of those who run it."""
    store.open(published)
    rng = random.Random(1)
    told = [json.dumps({**answers, "age": 18 + k % 80, "other": f"näh ☃ {k}"}, ensure_ascii=False) for k in range(n)]
    ids = [f"{rng.getrandbits(128):032x}" for _ in range(n)]
    store.add([Reply("kinds", published.hash, id, text, today()) for id, text in zip(ids, told, strict=True)])
    Account(store).set_password(PASSWORD)
    Sessions(store).begin()
    tokens.create(store, "numbers", scopes=["read:export"])
    drafts.keep(store, drafts.copied(store, "kinds", "kinds-2"))
    plans.schedule(store, "kinds", plans.Plan(keeps=today()))
    log.record(store, "opened", who=log.COMMAND_LINE, about="kinds")


def everything(store):
    left_out = {"admin_session", "admin_token", "admin_log"}
    with store.reading() as connection:
        return {
            table.name: [tuple(bytes(x) if isinstance(x, memoryview) else x for x in row) for row in rows]
            for table in metadata.sorted_tables
            if table.name not in left_out
            for rows in [connection.execute(select(table).order_by(*table.primary_key))]
        }


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request, tmp_path):
    """An empty database of each kind to restore into."""
    server = request.getfixturevalue("postgresql") if request.param == "postgresql" else None
    found = Store(server.url(server.new_database()) if server else tmp_path / "restored.db")
    yield found
    found.dispose()


@pytest.mark.reads_tables
def test_a_backup_of_either_kind_is_restored_into_either_kind(store, empty, client, published, answers, tmp_path):
    fill(store, published, answers)
    path = tmp_path / "backup.db"
    assert backups.backup(store, path) == backups.Copied(1, 2_500)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir() if "backup" in each.name) == ["backup.db"]
    before = everything(store)
    assert backups.restore(empty, path, client=client) == backups.Copied(1, 2_500)
    assert everything(empty) == before
    assert [(each.who, each.what) for each in log.entries(empty)] == [
        (each.who, each.what) for each in log.entries(store)
    ]
    assert tokens.listed(empty) == ()
    assert Account(empty).is_right(PASSWORD)
    log.record(empty, "restored", who=log.COMMAND_LINE)  # numbers go on
    assert empty.replies("kinds").frame.equals(store.replies("kinds").frame)
    with pytest.raises(DataError, match="without surveys; this one holds 1"):
        backups.restore(empty, path)


def test_a_link_to_results_does_not_come_in_with_a_backup(tmp_path):
    """It may have been revoked since, and whoever gives the file may know it. How results are shared stays known."""
    store, other = Store(tmp_path / "here.db"), Store(tmp_path / "there.db")
    store.open(Published.of(sample()))
    secret = sharing.share(store, "sample", least=30).removeprefix(sharing.PATH)
    backups.backup(store, tmp_path / "backup.db")
    backups.restore(other, tmp_path / "backup.db")
    assert sharing.survey_of(store, secret) == "sample"
    assert sharing.survey_of(other, secret) is None
    assert sharing.shared(other, "sample") == sharing.Shared(by=None, least=30, linked=False)
    with other.engine.begin() as connection:  # as the file of a stranger could have it
        connection.execute(update(metadata.tables["shared"]).values(least=0))
    with pytest.raises(DataError, match="people or more; got 0"):
        sharing.share(other, "sample")
    store.dispose()
    other.dispose()


def test_a_backup_holds_one_moment_and_can_be_served_as_it_is(store, published, answers, tmp_path):
    fill(store, published, answers, n=30)
    path = tmp_path / "backup.db"
    with store.snapshot() as connection:
        assert len(connection.execute(select(metadata.tables["reply"].c.id)).all()) == 30
        more = Reply("kinds", published.hash, "f" * 32, json.dumps(answers), today())
        assert store.add([more])[0].what == "stored"
        assert len(connection.execute(select(metadata.tables["reply"].c.id)).all()) == 30
    backups.backup(store, path)
    served = Store(path, mode="read")
    assert served.surveys()[0].replies == 31
    with served.reading() as connection:
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, "alembic_version"}
    served.dispose()


def test_a_backup_that_begins_while_the_rows_are_rewritten_holds_them_all(
    postgresql, published, answers, tmp_path, until
):
    """PostgreSQL shows a truncated table as empty even to those whose snapshot is older."""
    store = Store(postgresql.url(postgresql.new_database()))
    fill(store, published, answers, n=50)
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with ThreadPoolExecutor(1) as pool:
        with store.engine.begin() as rewriting:
            for statement in SETTLE:
                rewriting.execute(text(statement))
            copied = pool.submit(backups.backup, store, tmp_path / "backup.db")
            with store.reading() as other:
                until(lambda: other.execute(waiting).scalar())
        assert copied.result(60).replies == 50
    store.dispose()


def test_a_backup_does_not_tell_in_which_order_replies_came(published, answers, tmp_path):
    rng = random.Random(2)
    replies = [
        Reply("kinds", published.hash, f"{rng.getrandbits(128):032x}", json.dumps(answers), today()) for _ in range(300)
    ]
    contents = []
    for order in (1, 2):
        store = Store(tmp_path / f"{order}.db")
        store.open(published)
        random.Random(order).shuffle(replies)
        for reply in replies:
            store.add([reply])
        path = tmp_path / f"backup-{order}.db"
        backups.backup(store, path)
        store.dispose()
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


def test_a_password_that_is_there_stays_when_a_backup_is_restored(store, published, answers, tmp_path):
    fill(store, published, answers, n=1)
    backups.backup(store, tmp_path / "backup.db")
    other = Store(tmp_path / "other.db")
    Account(other).set_password("another horse battery")
    backups.restore(other, tmp_path / "backup.db")
    assert Account(other).is_right("another horse battery")
    assert not Account(other).is_right(PASSWORD)
    other.dispose()


def test_a_backup_replaces_no_file(store, tmp_path):
    backups.backup(store, tmp_path / "backup.db")
    with pytest.raises(DataError, match="does not replace another"):
        backups.backup(store, tmp_path / "backup.db")
    with pytest.raises(DataError, match="there is no folder"):
        backups.backup(store, tmp_path / "nowhere" / "backup.db")


def evil_of(client):
    """A page of somebody else: every hash in its survey is right, and one byte of its script is another one."""
    script = client.files["survey.js"]
    return Client({**client.files, "survey.js": script[:-1] + bytes([script[-1] ^ 1])})


def backup_with(page, questionnaire, tmp_path):
    """A backup whose survey was published with this page."""
    store = Store(tmp_path / "of-somebody-else.db")
    store.open(Published.of(questionnaire, client=page))
    backups.backup(store, tmp_path / "backup.db")
    store.dispose()
    return tmp_path / "backup.db"


def client_bytes(store):
    with store.reading() as connection:
        rows = connection.execute(select(metadata.tables["client_file"])).all()
    return {(client, name): bytes(content) for client, name, content in rows}


def test_a_page_that_differs_in_one_byte_does_not_come_in_with_a_backup(questionnaire, client, tmp_path):
    evil = evil_of(client)
    path, before = backup_with(evil, questionnaire, tmp_path), Published.of(questionnaire, client=evil)
    empty = Store(tmp_path / "empty.db")
    assert backups.restore(empty, path, client=client).renewed == ("kinds",)
    after = empty.published("kinds")
    assert after == Published.of(questionnaire, client=client, renewed=[before.hash])
    assert set(client_bytes(empty).values()) == set(client.serving(invites=False).files.values())
    assert backups.hashes(empty, "kinds") == f"before {before.hash}, now {after.hash}"
    empty.dispose()


PUT_UNDER = "UPDATE client_file SET client = ?"


@pytest.mark.parametrize("has_survey", [True, False])
def test_a_page_that_lies_under_the_hash_of_the_shipped_one_does_not_come_in(
    questionnaire, client, tmp_path, has_survey
):
    """The store keeps no file a second time under a hash that it has: what lies there would be served later."""
    path = backup_with(evil_of(client), questionnaire, tmp_path)
    change = [(PUT_UNDER, [client.hash]), ("UPDATE survey SET client = ?", [client.hash])]
    spoiled(change if has_survey else [(PUT_UNDER, [client.hash]), "DELETE FROM survey"])(path)
    empty = Store(tmp_path / "empty.db")
    if has_survey:
        with pytest.raises(DataError, match="its files have other hashes"):
            backups.restore(empty, path, client=client)
    else:
        assert backups.restore(empty, path, client=client) == backups.Copied(0, 0)
    assert client_bytes(empty) == {}
    empty.dispose()


def test_a_foreign_survey_that_cannot_have_the_shipped_page_is_refused_with_a_way_out(questionnaire, client, tmp_path):
    evil = Published.of(questionnaire, client=evil_of(client))
    longer = json.dumps({**evil.form, "body_length": 2 * evil.body_length}).encode()
    path = backup_with(evil.client, questionnaire, tmp_path)
    spoiled([("UPDATE survey SET published = ?, hash = ?", [longer, hashlib.sha256(longer).hexdigest()])])(path)
    empty = Store(tmp_path / "empty.db")
    with pytest.raises(DataError, match=r"none that this naysay ships.*export its replies from the backup itself"):
        backups.restore(empty, path, client=client)
    assert (empty.surveys(), client_bytes(empty)) == ((), {})
    empty.dispose()


def test_the_admin_page_restores_a_foreign_page_as_its_own_and_says_so(run, client, questionnaire, tmp_path):
    from .conftest import Visitor

    path = backup_with(evil_of(client), questionnaire, tmp_path)
    store = Store(tmp_path / "mine.db")
    Account(store).set_password(PASSWORD)
    admin = Visitor(run([], store, client=client, admin=True))
    admin.log_in()
    found = admin.post("/admin/restore", files={"backup": ("x.db", path.read_bytes())})
    assert (
        "They have the page of this naysay now, and a new hash."
        in admin.get(found.headers["location"]).content.decode()
    )
    assert ("renewed", "kinds", backups.hashes(store, "kinds")) in {
        (entry.what, entry.about, entry.detail) for entry in log.entries(store)
    }
    assert set(client_bytes(store).values()) == set(client.serving(invites=False).files.values())


PLAIN = {
    **{"naysay": "questionnaire", "version": 1, "name": "plain", "title": {"en": "P"}, "languages": ["en"]},
    "items": [{"kind": "integer", "name": "age", "label": {"en": "How old are you?"}}],
}


@pytest.fixture
def backup_with_first_days(tmp_path):
    """A backup with two drafts that open today: `plain` without a private question, and the sample."""
    source, path = Store(tmp_path / "source.db"), tmp_path / "first-days.db"
    for form in (of_form(PLAIN).questionnaire, sample()):
        drafts.keep(source, form)
        plans.schedule(source, form.name, plans.Plan(opens=today(), keeps=today()))
    backups.backup(source, path)
    source.dispose()
    return path


def test_a_restored_draft_without_a_private_question_does_not_open_by_itself(backup_with_first_days, client, empty):
    """Whoever wrote the backup set the day; nobody here agreed that every answer is sent as it is."""
    assert backups.restore(empty, backup_with_first_days, client=client).undated == ("plain",)
    assert plans.find(empty, "plain") == plans.Plan(keeps=today())
    assert plans.carry_out(empty, client=client) == ["opened sample"]
    assert list(empty.standing()) == ["sample"]


def test_whoever_restores_a_draft_without_its_first_day_is_told(backup_with_first_days, run, client, tmp_path):
    from .conftest import Visitor

    store = Store(tmp_path / "mine.db")
    Account(store).set_password(PASSWORD)
    admin = Visitor(run([], store, client=client, admin=True))
    admin.log_in()
    found = admin.post("/admin/restore", files={"backup": ("x.db", backup_with_first_days.read_bytes())})
    page = admin.get(found.headers["location"]).content.decode()
    assert "The backup is restored." in page
    assert "Drafts without a private question lost their first day" in page
    assert ("struck out a first day", "plain") in {(entry.what, entry.about) for entry in log.entries(store)}
    store.dispose()


def spoiled(change):
    def spoil(path):
        with sqlite3.connect(path) as connection:
            for statement in change:
                connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
        connection.close()

    return spoil


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path):
    content = bytearray(path.read_bytes())
    for place in range(4_096, len(content), 4_096):
        content[place : place + 12] = b"\xff" * 12
    path.write_bytes(content)


HOSTILE = {
    "no database": (lambda path: path.write_bytes(b"PK\x03\x04 hello"), "is no backup"),
    "empty": (lambda path: path.write_bytes(b""), "is no backup"),
    "cut off": (halved, "is damaged"),
    "overwritten": (flipped, "is damaged"),
    "a trigger": (
        spoiled(["CREATE TRIGGER t AFTER INSERT ON reply BEGIN DELETE FROM survey; END"]),
        "it holds the trigger 't'",
    ),
    "a view": (spoiled(["DROP TABLE admin_log", "CREATE VIEW admin_log AS SELECT 1"]), "it holds the view 'admin_log'"),
    "a virtual table": (
        spoiled(
            [
                "DROP TABLE spent",
                "CREATE VIRTUAL TABLE spent USING fts5(survey, token)",
                "PRAGMA writable_schema = ON",
                "DELETE FROM sqlite_schema WHERE name LIKE 'spent_%'",
            ]
        ),
        "is damaged|it holds the virtual table 'spent'",
    ),
    "another table": (spoiled(["CREATE TABLE sqlite_stat9 (x)"]), "is damaged|it holds the table"),
    "an index on an expression": (spoiled(["CREATE INDEX i ON reply (abs(id))"]), "it holds the index 'i'"),
    "of a newer naysay": (spoiled(["UPDATE alembic_version SET version_num = '9999'"]), "made by a newer one"),
    "another question": (
        spoiled(["UPDATE survey SET published = CAST(replace(CAST(published AS TEXT), 'Kinds', 'Other') AS BLOB)"]),
        "not what its name and hash say",
    ),
    "another page": (
        spoiled(["UPDATE client_file SET content = CAST('evil()' AS BLOB) WHERE name = 'survey.js'"]),
        "other hashes",
    ),
    "text for bytes": (spoiled(["UPDATE survey SET published = 'x'"]), "is damaged"),
    "bytes that are no survey": (spoiled(["UPDATE survey SET published = x'7b7d'"]), "is damaged"),
    "another name": (spoiled(["UPDATE survey SET name = 'other'"]), "not what its name and hash say"),
}


@pytest.mark.parametrize("lie", HOSTILE)
def test_a_hostile_backup_is_refused_and_nothing_of_it_is_kept(published, answers, tmp_path, lie):
    store = Store(tmp_path / "a.db")
    fill(store, published, answers, n=200)
    backups.backup(store, tmp_path / "backup.db")
    store.dispose()
    change, told = HOSTILE[lie]
    if lie == "another table":
        change = spoiled(["CREATE TABLE other (x)"])
    change(tmp_path / "backup.db")
    empty = Store(tmp_path / "empty.db")
    with pytest.raises(DataError, match=told):
        backups.restore(empty, tmp_path / "backup.db")
    assert empty.surveys() == ()
    assert log.entries(empty) == ()
    empty.dispose()


def test_a_backup_from_the_page_is_restored_on_the_page_of_another_server(
    admin, run, client, store, published, answers, tmp_path
):
    store.add([Reply("kinds", published.hash, "a" * 32, json.dumps(answers), today())])
    found = admin.post("/admin/backup")
    assert found.status == 200
    assert found.headers["content-disposition"].startswith('attachment; filename="naysay-')
    from .conftest import Visitor

    with Store(tmp_path / "second.db").engine.connect():
        second = Store(tmp_path / "second.db")
    Account(second).set_password(PASSWORD)
    other = Visitor(run([], second, client=client, admin=True))
    other.log_in()
    assert other.post("/admin/restore", files={"backup": ("x.db", b"not a database")}).status == 422
    assert other.post("/admin/restore", files={"backup": ("x.db", found.content)}).status == 303
    assert second.surveys()[0].replies == 1
    assert other.running.get("/s/kinds").status == 200
    assert other.post("/admin/restore", files={"backup": ("x.db", found.content)}).status == 422
