"""The database: what is opened stays, what is deleted is gone, and nothing tells in which order answers came."""

import dataclasses
import datetime
import json
import random
import sqlite3
import threading

import polars as pl
import pytest
from sqlalchemy import inspect, text

from naysay import DataError
from naysay.collect import Client, Published
from naysay.collect.storage import Reply, Store, tables
from naysay.collect.storage.tables import metadata

DAY = datetime.date(2026, 11, 20)


def reply(published, id, answers, day=DAY):
    return Reply(published.name, published.hash, id, json.dumps(answers), day)


def ids(n, seed=0):
    rng = random.Random(seed)
    return [f"{rng.getrandbits(128):032x}" for _ in range(n)]


def stored_ids(store):
    with store.engine.connect() as connection:
        return [row[0] for row in connection.execute(text("SELECT id FROM reply ORDER BY id"))]


def changed(published, client):
    other = published.questionnaire.model_copy(update={"title": {"en": "Other"}})
    return Published.of(other, client=client)


def test_the_tables_are_those_of_the_migrations(store):
    found = inspect(store.engine)
    assert set(found.get_table_names()) == {*metadata.tables, "alembic_version"}
    for name, table in metadata.tables.items():
        columns = {
            each["name"]: (str(each["type"]).split("(")[0], each["nullable"]) for each in found.get_columns(name)
        }
        dialect = store.engine.dialect
        wanted = {each.name: (each.type.compile(dialect).split("(")[0], bool(each.nullable)) for each in table.columns}
        assert columns == wanted
        assert found.get_pk_constraint(name)["constrained_columns"] == [each.name for each in table.primary_key]


def test_migrating_twice_changes_nothing(store, url, published):
    store.open(published)
    again = Store(url)
    assert [each.name for each in again.surveys()] == ["kinds"]
    again.dispose()


def test_nothing_is_stored_beside_what_is_promised():
    assert [column.name for column in metadata.tables["reply"].columns] == ["survey", "id", "day", "answers"]
    assert str(metadata.tables["reply"].c.day.type) == "DATE"


def test_a_survey_comes_back_as_it_was_published(store, published, client):
    store.open(published)
    found = store.published("kinds")
    assert found.bytes == published.bytes
    assert found.hash == published.hash
    assert dict(found.client.files) == dict(client.files)


def test_an_open_survey_does_not_change(store, published, client):
    store.open(published)
    store.open(published)
    with pytest.raises(DataError, match="does not change once it is open"):
        store.open(changed(published, client))
    assert store.published("kinds").bytes == published.bytes


def test_an_open_survey_keeps_its_client(store, published, client):
    newer = Published.of(published.questionnaire, client=Client({**client.files, "survey.js": b"newer"}))
    store.open(published)
    store.open(newer)
    assert store.published("kinds").client == client
    store.open(newer, replace=True)
    assert store.published("kinds").client.files["survey.js"] == b"newer"


def test_opening_what_was_closed_leaves_it_closed(store, published):
    """A server that is started again with the same command does not open what was closed meanwhile."""
    store.open(published)
    store.close("kinds")
    store.open(published)
    assert store.surveys()[0].closed is not None


def test_a_survey_is_replaced_only_while_nobody_has_answered(store, published, client, answers):
    store.open(published)
    other = changed(published, client)
    store.open(other, replace=True)
    assert store.published("kinds").hash == other.hash
    assert store.add([reply(other, "a" * 32, answers)])[0].what == "stored"
    with pytest.raises(DataError, match="has 1 reply"):
        store.open(published, replace=True)


def test_what_becomes_of_replies(store, published, answers):
    store.open(published)
    one = reply(published, "a" * 32, answers)
    other = dataclasses.replace(one, answers="{}")
    elsewhere = dataclasses.replace(one, survey="nothing")
    old = dataclasses.replace(one, hash="0" * 64, id="b" * 32)
    later = dataclasses.replace(one, day=DAY + datetime.timedelta(1))
    assert [each.what for each in store.add([one, one, other, elsewhere, old])] == [
        "stored",
        "repeated",
        "conflict",
        "closed",
        "wrong_survey",
    ]
    assert [(each.what, each.day) for each in store.add([later, other])] == [("repeated", DAY), ("conflict", DAY)]
    assert stored_ids(store) == ["a" * 32]


def test_closing_takes_no_more_and_forgets_the_ids(store, published, answers):
    store.open(published)
    known = ids(50)
    store.add([reply(published, id, answers) for id in known])
    store.close("kinds")
    assert not {*known} & {*stored_ids(store)}
    assert len({*stored_ids(store)}) == 50
    assert store.add([reply(published, "f" * 32, answers)])[0].what == "closed"
    (listed,) = store.surveys()
    assert (listed.closed is not None, listed.replies) == (True, 50)
    store.reopen("kinds")
    assert store.add([reply(published, "f" * 32, answers)])[0].what == "stored"


def test_an_unknown_survey_is_named_with_those_that_there_are(store, published):
    for act in (store.close, store.delete, store.reopen, store.published, store.replies):
        with pytest.raises(DataError, match=r"there is no survey 'gone'$"):
            act("gone")
    store.open(published)
    with pytest.raises(DataError, match="'gone'; there are 'kinds'"):
        store.close("gone")


@pytest.mark.parametrize("url", ["mysql://host/db", "nonsense://", "postgresql://:::", "://"])
def test_an_address_that_is_no_database_is_refused(url):
    with pytest.raises(DataError, match="a database is sqlite"):
        Store(url)


def test_sqlite_files_do_not_depend_on_the_order_of_arrival(tmp_path, published, answers):
    """Not only rows: page by page, byte by byte, after what was deleted or came late."""
    contents = []
    for seed in (1, 2):
        known = ids(400)
        random.Random(seed).shuffle(known)
        store = Store(tmp_path / f"{seed}.db")
        store.open(published)
        for start in range(0, 400, 1 if seed == 1 else 7):
            group = known[start : start + (1 if seed == 1 else 7)]
            store.add([reply(published, id, {**answers, "other": id * 3}) for id in group])
        before = (tmp_path / f"{seed}.db-wal").stat().st_size
        store.settle()
        assert before > 0
        assert (tmp_path / f"{seed}.db-wal").stat().st_size == 0
        store.dispose()
        content = bytearray((tmp_path / f"{seed}.db").read_bytes())
        for begin, end in ((24, 28), (40, 44), (92, 96)):  # how often the file was written
            content[begin:end] = bytes(end - begin)
        contents.append(bytes(content))
    assert contents[0] == contents[1]


def test_a_reader_who_keeps_the_order_from_being_forgotten_is_told_of(tmp_path, published, answers, monkeypatch):
    monkeypatch.setattr(tables, "_PRAGMAS", (*tables._PRAGMAS, "busy_timeout = 50"))
    monkeypatch.setattr(tables, "_PATIENCE", 0.1)
    store = Store(tmp_path / "a.db")
    store.open(published)
    store.add([reply(published, ids(1)[0], answers)])
    reader = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM reply").fetchall()
    with pytest.raises(DataError, match="another program reads the database"):
        store.settle()
    reader.close()
    store.settle()
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    store.dispose()


def test_two_servers_that_forget_the_order_at_once_wait_for_each_other(tmp_path, published, answers):
    store = Store(tmp_path / "a.db")
    store.open(published)
    done = threading.Event()

    def write_back():
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("PRAGMA busy_timeout = 5000")
        while not done.wait(0.001):
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM reply").fetchall()
            other.execute("ROLLBACK")
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        other.close()

    beside = threading.Thread(target=write_back)
    beside.start()
    try:
        for id in ids(40):
            store.add([reply(published, id, answers)])
            store.settle()
    finally:
        done.set()
        beside.join()
    store.dispose()


def test_without_settling_sqlite_files_tell_the_order(tmp_path, published, answers):
    """That what is wiped out above is there at first."""
    known = ids(40)
    contents = []
    for order in (known, known[::-1]):
        store = Store(tmp_path / f"{len(contents)}.db")
        store.open(published)
        for id in order:
            store.add([reply(published, id, answers)])
        store.dispose()
        contents.append((tmp_path / f"{len(contents)}.db").read_bytes())
    places = [[content.find(id.encode()) for id in known] for content in contents]
    assert places[0] != places[1]


def arrival(server, name):
    """Ids in the order of the places of their rows, and the transactions that wrote them."""
    with server.connect(name) as connection:
        rows = connection.execute("SELECT id, xmin::text::bigint, ctid::text FROM reply").fetchall()
    place = {id: tuple(map(int, ctid.strip("()").split(","))) for id, _, ctid in rows}
    return sorted(place, key=place.get), {xmin for _, xmin, _ in rows}


def test_postgresql_keeps_neither_places_nor_transactions(postgresql, published, answers):
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    known = ids(200)
    for id in known:
        store.add([reply(published, id, {**answers, "other": id * 200})])
    placed, transactions = arrival(postgresql, name)
    assert placed == known
    assert len(transactions) == 200
    store.settle()
    placed, transactions = arrival(postgresql, name)
    assert placed == sorted(known)
    assert len(transactions) == 1
    with postgresql.connect(name) as connection:
        found = connection.execute("SELECT relname FROM pg_class WHERE relname IN ('settled', 'reply')").fetchall()
    assert found == [("reply",)]
    store.dispose()


def test_settling_keeps_rights_that_were_granted(postgresql, published):
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    with postgresql.connect(name) as connection:
        connection.execute("CREATE ROLE analyst")
        connection.execute("GRANT SELECT ON reply TO analyst")
        store.settle()
        assert connection.execute("SELECT has_table_privilege('analyst', 'reply', 'SELECT')").fetchone() == (True,)
        connection.execute("DROP OWNED BY analyst")
        connection.execute("DROP ROLE analyst")
    store.dispose()


def test_deleting_overwrites_what_was_stored(tmp_path, published, answers):
    store = Store(tmp_path / "a.db")
    store.open(published)
    store.add([reply(published, id, {**answers, "other": "needle-in-the-file"}) for id in ids(300)])
    held = [path.name for path in tmp_path.iterdir() if b"needle-in-the-file" in path.read_bytes()]
    assert held
    asked = b'"questionnaire":'
    assert [path.name for path in tmp_path.iterdir() if asked in path.read_bytes()]
    receipt = store.delete("kinds")
    assert not [path.name for path in tmp_path.iterdir() if b"needle-in-the-file" in path.read_bytes()]
    assert not [path.name for path in tmp_path.iterdir() if asked in path.read_bytes()]
    assert (receipt.survey, receipt.hash, receipt.replies, receipt.overwritten) == ("kinds", published.hash, 300, True)
    assert store.receipts() == (receipt,)
    assert store.surveys() == ()
    store.dispose()


def test_a_deletion_has_its_own_receipt_also_while_another_survey_is_deleted(store, published, client, questionnaire):
    """Another server may delete a survey at the same moment, and its receipt is then the latest."""
    store.open(published)
    store.open(Published.of(questionnaire.model_copy(update={"name": "second"}), client=client))
    overwrite = store.overwrite

    def overwrite_later():
        store.overwrite = overwrite
        store.delete("second")
        overwrite()

    store.overwrite = overwrite_later
    receipt = store.delete("kinds")
    assert (receipt.survey, receipt.overwritten) == ("kinds", True)
    assert [each.survey for each in store.receipts()] == ["second", "kinds"]


def test_a_reader_of_postgresql_who_keeps_the_order_from_being_forgotten_is_told_of(postgresql, published, monkeypatch):
    monkeypatch.setattr(tables, "_OPTIONS", f"{tables._OPTIONS} -c lock_timeout=100ms")
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    with postgresql.connect(name) as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM reply")
        with pytest.raises(DataError, match="another program reads the database"):
            store.settle()
    store.settle()
    store.dispose()


def test_deleting_leaves_nothing_in_the_tables_of_postgresql(postgresql, published, answers):
    """The server's own write-ahead log is not ours to wipe; the page on serving says so."""
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    store.add([reply(published, id, {**answers, "other": "needle-in-a-table"}) for id in ids(300)])
    with postgresql.connect(name) as connection:
        connection.execute("CHECKPOINT")
        assert holders(postgresql.data / "base", b"needle-in-a-table")
        store.delete("kinds")
        connection.execute("CHECKPOINT")
        assert not holders(postgresql.data / "base", b"needle-in-a-table")
    store.dispose()


def test_statistics_of_postgresql_hold_no_answer(postgresql, published, answers):
    """They are taken by the server itself, and would stay when a survey is deleted."""
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    store.add([reply(published, id, {**answers, "other": "needle-in-statistics"}) for id in ids(300)])
    with postgresql.connect(name) as connection:
        connection.execute("ANALYZE")
        known = connection.execute("SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public'").fetchall()
    assert ("reply", "day") in known
    assert not {("reply", "answers"), ("tally", "cell")} & set(known)
    store.dispose()


def holders(folder, mark):
    return [path for path in folder.rglob("*") if path.is_file() and mark in path.read_bytes()]


def test_deleting_takes_the_client_only_when_no_other_survey_has_it(store, published, client, questionnaire):
    second = Published.of(questionnaire.model_copy(update={"name": "second"}), client=client)
    store.open(published)
    store.open(second)
    store.delete("kinds")
    assert dict(store.published("second").client.files) == dict(client.files)
    store.delete("second")
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM client_file")).scalar() == 0


def test_others_cannot_read_the_file(tmp_path):
    Store(tmp_path / "a.db").dispose()
    assert (tmp_path / "a.db").stat().st_mode & 0o077 == 0


def test_the_file_is_made_for_safety(tmp_path):
    store = Store(tmp_path / "a.db")
    with store.engine.connect() as connection:
        pragmas = ("journal_mode", "synchronous", "secure_delete")
        assert [connection.exec_driver_sql(f"PRAGMA {each}").scalar() for each in pragmas] == ["wal", 2, 1]
    store.dispose()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'reply'").fetchone()
        assert "WITHOUT ROWID" in made
    connection.close()


def test_replies_are_read_as_columns(store, published, answers):
    store.open(published)
    nothing = dict.fromkeys(answers)
    store.add([reply(published, "a" * 32, answers), reply(published, "b" * 32, nothing)])
    replies = store.replies("kinds")
    frame = replies.frame
    assert frame["day"].to_list() == [DAY, DAY]
    assert frame.row(0, named=True) == {
        "day": DAY,
        "age": 30,
        "area": "b",
        "news": ["a", "c"],
        "other": "näh ☃",
        "sleep": 7.5,
        "moved": datetime.date(2020, 2, 29),
        "health": 4,
        "views/x": "a",
        "views/y": None,
        "order": ["b", "a", "c"],
        "party": "a;b;e",
        "party_level": "3",
        "rare": "c",
        "drugs/tea": "yes",
        "drugs/wine": "no",
        "drinks": "few",
    }
    assert set(frame.row(1, named=True).values()) == {DAY, None}
    assert frame.schema["sleep"] == pl.Float64
    assert list(replies.private) == ["party", "rare", "drugs/tea", "drugs/wine", "drinks"]
    assert replies.level_of("party") == "party_level"
    assert replies.level_of("drugs/tea") is None
    with pytest.raises(DataError, match="there is no private column 'age'"):
        replies.level_of("age")


def test_replies_go_straight_into_a_tally(store, published, answers):
    store.open(published)
    store.add([reply(published, id, answers) for id in ids(5)])
    replies = store.replies("kinds")
    offer = replies.private["party"]
    tally = offer.tally(replies.frame, "party", level=replies.level_of("party"))
    assert tally.n == 5
