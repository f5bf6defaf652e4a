"""Opening a database: who only reads changes nothing and waits for nobody, and others on the computer read nothing."""

import contextlib
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy import text

from naysay import DataError, collect
from naysay.collect.storage import Store, migrations


@pytest.fixture
def made(tmp_path, published):
    """The path of a database with a survey, which nobody has open."""
    store = Store(tmp_path / "answers.db")
    store.open(published)
    store.dispose()
    return tmp_path / "answers.db"


def test_reading_waits_for_nobody_who_writes(made):
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as writing:
        writing.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        assert collect.replies(made, "kinds").frame.height == 0
        assert time.monotonic() - began < 2
        writing.execute("ROLLBACK")


def test_reading_postgresql_waits_for_nobody_who_writes(postgresql, published):
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    store.open(published)
    with postgresql.connect(name) as writing:
        writing.execute("BEGIN")
        writing.execute("LOCK TABLE survey, reply, alembic_version IN EXCLUSIVE MODE")
        assert collect.replies(postgresql.url(name), "kinds").frame.height == 0
        writing.execute("ROLLBACK")
    store.dispose()


def test_reading_changes_nothing(made):
    before = made.read_bytes()
    store = Store(made, mode="read")
    assert [each.name for each in store.surveys()] == ["kinds"]
    with pytest.raises(Exception, match="readonly"):
        store.close("kinds")
    store.dispose()
    assert made.read_bytes() == before


def test_reading_leaves_nothing_that_holds_an_answer(made):
    """SQLite itself leaves an empty log and an index of it beside a file that it only read."""
    before = made.stat()
    assert collect.replies(made, "kinds").frame.height == 0
    beside = {each.name: each.stat().st_size for each in made.parent.iterdir() if each != made}
    assert set(beside) <= {"answers.db-wal", "answers.db-shm"}
    assert beside.get("answers.db-wal", 0) == 0
    assert (made.stat().st_mtime_ns, made.stat().st_size) == (before.st_mtime_ns, before.st_size)


def test_reading_sees_what_another_process_has_just_written(made):
    """Committed rows stand in the log, not in the file, until the writer ends."""
    told = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute('PRAGMA wal_autocheckpoint = 0')\n"
    told += "db.execute(\"INSERT INTO reply VALUES ('kinds', 'a', '2026-11-20', '{}')\")\ndb.commit()\n"
    told += "db.execute(\"INSERT INTO reply VALUES ('kinds', 'b', '2026-11-20', '{}')\")\n"  # this one is not
    told += "print('ready', flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", told, str(made)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writing:
        assert writing.stdout.readline() == b"ready\n"
        store = Store(made, mode="read")
        assert [each.replies for each in store.surveys()] == [1]
        store.dispose()
        writing.stdin.close()
    assert writing.wait(20) == 0


@pytest.mark.parametrize("mode", ["read", "change"])
def test_a_database_that_is_not_there_is_not_made(tmp_path, mode):
    for url in (tmp_path / "typo.db", f"sqlite:///{tmp_path}/typo.db"):
        with pytest.raises(DataError, match=r"there is no database '.*typo\.db'; a server makes one"):
            Store(url, mode=mode)
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_version_is_told_of_and_stays_as_it_is(made, monkeypatch):
    last = migrations._VERSIONS[-1]
    monkeypatch.setattr(migrations, "_VERSIONS", [last, "9999"])
    with pytest.raises(DataError, match=f"version {last}, an earlier one; naysay serve brings it up to date"):
        Store(made, mode="read")
    monkeypatch.setattr(migrations, "_VERSIONS", ["0000"])
    for mode in ("read", "change", "make"):
        with pytest.raises(DataError, match="made by a newer one: upgrade naysay"):
            Store(made, mode=mode)


def test_a_file_of_somebody_else_is_no_database_of_ours(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE survey (name)")
    with pytest.raises(DataError, match="holds no surveys; is it the right one"):
        Store(tmp_path / "other.db", mode="read")


def test_the_short_name_of_postgresql_is_known(postgresql):
    url = postgresql.url(postgresql.new_database())
    store = Store(url.replace("postgresql://", "postgres://"))
    assert store.surveys() == ()
    store.dispose()


@pytest.mark.parametrize("password", ["p@TAIL", "TAIL@p", "p@TAIL/x", "p@TAIL:1", "p@TAIL?x"])
def test_a_password_with_an_at_sign_is_never_printed(password):
    with pytest.raises(DataError, match="write each @ of a password as %40") as refused:
        Store(f"postgresql://user:{password}@127.0.0.1:1/survey")
    assert "TAIL" not in str(refused.value)


def test_an_acknowledged_answer_is_on_the_disk_whatever_the_server_is_set_to(postgresql):
    """Without it PostgreSQL says that a transaction is done before it is written."""
    name = postgresql.new_database()
    with postgresql.connect(name) as connection:
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    store = Store(postgresql.url(name))
    with store.engine.connect() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
    store.dispose()


def test_a_file_that_others_could_open_is_mended_and_told_of(made, caplog):
    made.chmod(0o644)
    store = Store(made)
    assert "(mode 0644); now only its owner can" in caplog.text
    assert {stat.S_IMODE(each.stat().st_mode) for each in made.parent.iterdir()} == {0o600}
    store.dispose()
    caplog.clear()
    Store(made).dispose()
    assert caplog.text == ""


def test_a_file_whose_rights_cannot_be_changed_is_told_of(made, caplog, monkeypatch):
    made.chmod(0o644)

    def refused(path, mode):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(type(made), "chmod", refused)
    Store(made).dispose()
    assert "and still can: Operation not permitted; chmod 600 it" in caplog.text


def test_reading_and_writing_at_once_is_no_error(made, published):
    """A reader in the midst of a hundred writers' transactions reads on."""
    store, wrong = Store(made), []

    def read():
        for _ in range(20):
            try:
                collect.replies(made, "kinds")
            except Exception as error:
                wrong.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(100):
        store.reopen("kinds")
    thread.join()
    store.dispose()
    assert wrong == []
