"""``POST /reports``: batches are checked, counted and forgotten, on both databases."""

import datetime
import hashlib
import json
import logging
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest
from sqlalchemy import text

from naysay import batches, designs
from naysay.collect import reports
from naysay.collect.admin.backup import _LEFT_OUT, backup, restore
from naysay.collect.reports import BINARY
from naysay.collect.storage import Reports, Store, replies, today
from naysay.collect.storage.replies import Cell
from naysay.collect.storage.tables import report_receipt
from naysay.collect.writer import Writer
from naysay.errors import DataError

CRASH = designs.k_ary(("list", "map", "search"), epsilon=1)
SETS = designs.subset_selection(70, epsilon=1)
KINDS = {"binary": BINARY, "json": "application/json"}


def written(design, said, **named):
    file = BytesIO()
    batches.write(file, design, said, **named)
    return file.getvalue()


def line(**changes):
    told = {"naysay": "reports", "version": 1, "design": CRASH.hash, "question": "crash", "reports": ["map"]}
    return json.dumps(told | changes).encode()


@pytest.fixture
def served(store, run):
    """A server on an empty database of each kind that counts crashes."""
    reports.open_topic(store, CRASH, question="crash")
    return run([], store, each=0, everybody=0)


def send(served, content, kind=BINARY, query="", **how):
    return served.ask("POST", f"/reports{query}", content, headers={"content-type": kind} | how)


def tally(store, **named):
    return reports.tally(store, reports.topic_of(store, **({"question": None, "wave": None} | named)))


@pytest.mark.parametrize("form", KINDS)
def test_what_is_sent_is_counted(served, store, until, form):
    rng = np.random.default_rng(3)
    levels = designs.negative_levels(("a", "b", "c", "d"))
    of = {
        "numbers": (designs.affine(40, epsilon=1), None),
        "sets": (SETS, None),
        "bits": (designs.unary(10, epsilon=1), None),
        "levels": (levels, rng.choice(levels.levels, 300).tolist()),
    }
    for question, (design, _) in of.items():
        reports.open_topic(store, design, question=question, wave="1")
    for question, (design, level) in of.items():
        truth = [design.categories[place] for place in rng.integers(0, 3, 300)]
        said = design.randomize(truth, rng=rng, **({} if level is None else {"level": level}))
        content = written(design, said, question=question, wave=1, form=form)
        until(lambda content=content: send(served, content, KINDS[form]).status == 200)
        found, expected = tally(store, question=question), design.tally(said)
        for mine, theirs in zip(found.parts, expected.parts, strict=True):
            for name in mine.arrays:
                np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert (found.question, found.wave) == (question, "1")
    assert {each.topic.question: each.reports for each in reports.all_topics(store)} == dict.fromkeys(of, 300) | {
        "crash": 0
    }


def test_many_senders_at_once_are_all_counted(served, store):
    content = written(CRASH, ["map", "list", "map"], question="crash")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: send(served, content), range(60)))
    assert {each.status for each in answers} == {200}
    assert answers[0].json == {"counted": 3, "refused": 0}
    assert tally(store).counts.tolist() == [60, 120, 0]


@pytest.mark.reads_tables
def test_a_server_keeps_counters_and_nothing_else(served, store):
    """No batch, id, address or time: the rows after many batches are those after one."""
    for said in (["map", "list"], ["map"], ["search"]):
        send(served, written(CRASH, said, question="crash"), user_agent="secret", referer="http://secret/")
    served.stop()
    with store.reading() as connection:
        rows = connection.execute(text("SELECT * FROM report_count ORDER BY place")).all()
        others = [connection.execute(text(f"SELECT count(*) FROM {t}")).scalar() for t in ("reply", "tally", "spent")]
    digest = CRASH.hash
    assert [tuple(row) for row in rows] == [
        (digest, "crash", "", "", "report", place, people) for place, people in enumerate((1, 2, 1))
    ]
    assert others == [0, 0, 0]


UPLOAD = {"idempotency-key": "0123456789abcdefABCDEF-_"}


def test_an_upload_with_an_id_is_counted_once_however_often_it_comes(served, store):
    """A connection broke after the body was sent: the same again, also at once from many threads, adds nothing."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: send(served, line(), "application/json", **UPLOAD), range(24)))
    assert [each.json for each in answers] == [{"counted": 1, "refused": 0}] * 24
    assert tally(store).n == 1
    other = UPLOAD | {"idempotency-key": UPLOAD["idempotency-key"][::-1]}
    for body, named in ((line(), other), (line(reports=["list"]), UPLOAD)):  # another id; another body
        assert send(served, body, "application/json", **named).json["counted"] == 1
    assert tally(store).n == 3


def test_a_receipt_is_a_hash_and_goes_after_a_day(store, monkeypatch):
    """The table holds nothing of the id or the report, and a backup leaves it out."""
    topic = reports.open_topic(store, CRASH, question="crash")
    counts = {Cell(*topic, "", "report", 1): 1}
    first = datetime.date(2026, 11, 22)
    outcomes = []
    for after in (0, 0, 1, 2):
        day = first + datetime.timedelta(after)
        monkeypatch.setattr("naysay.collect.storage.store.today", lambda day=day: day)
        store.settle()
        outcomes += [each.what for each in store.add([Reports(counts, day, "a" * 64)] * 2)]
        with store.reading() as connection:
            days = [row.day for row in connection.execute(text("SELECT day FROM report_receipt ORDER BY day"))]
        assert len(days) == 1
    assert outcomes == ["counted"] + ["repeated"] * 5 + ["counted", "repeated"]
    assert tally(store).n == 2


@pytest.mark.reads_tables
@pytest.mark.parametrize("later_first", [False, True])
def test_two_servers_at_midnight_count_one_upload_once(store, url, until, later_first):
    """Each had a day of its own, and the key was day and digest: both counted it."""
    topic = reports.open_topic(store, CRASH, question="crash")
    days = sorted((datetime.date(2026, 11, 22), datetime.date(2026, 11, 23)), reverse=later_first)
    one, other = (Reports({Cell(*topic, "", "report", 1): 1}, day, "a" * 64) for day in days)
    second = Store(url)

    def waiting():
        with store.reading() as connection:
            return connection.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar()

    try:
        with ThreadPoolExecutor(1) as pool:
            with store.engine.begin() as connection:
                outcomes = replies.add_reports(connection, [one])
                late = pool.submit(second.add, [other])
                if url.startswith("postgresql"):
                    until(waiting)  # else the second server comes after the first one's transaction
            outcomes += late.result()
    finally:
        second.dispose()
    assert [each.what for each in outcomes] == ["counted", "repeated"]
    assert tally(store).n == 1


def test_receipts_go_also_if_nothing_comes_any_more(store, monkeypatch, until):
    topic = reports.open_topic(store, CRASH, question="crash")
    writer = Writer(store, look=lambda: None, fold=lambda _: 0, every=0.01)
    writer.start()
    assert writer.submit(Reports({Cell(*topic, "", "report", 1): 1}, today(), "a" * 64)).result().what == "counted"

    def receipts():
        with store.reading() as connection:
            return connection.execute(text("SELECT count(*) FROM report_receipt")).scalar()

    assert receipts() == 1
    until(lambda: not writer._dirty)
    later = today() + datetime.timedelta(2)
    for place in ("writer", "storage.store"):
        monkeypatch.setattr(f"naysay.collect.{place}.today", lambda: later)
    until(lambda: receipts() == 0)
    writer.stop()


def test_a_server_that_stops_says_how_many_reports_it_has_counted(store, caplog):
    """Two uploads of 9,000 and 8,000 people, of whom each named 1.5 categories; the second upload came twice."""
    topic = reports.open_topic(store, CRASH, question="crash")
    writer = Writer(store, look=lambda: None, fold=lambda _: 0)
    writer.start()
    for size, receipt in ((9_000, ""), (8_000, "a" * 64), (8_000, "a" * 64)):
        named = Counter({Cell(*topic, "", "named", place): size // 2 for place in range(3)})
        upload = Reports(
            named + Counter({Cell(*topic, "", "size", 1): size // 2, Cell(*topic, "", "size", 2): size // 2}),
            today(),
            receipt,
        )
        writer.submit(upload).result()
    with caplog.at_level("INFO", "naysay.collect"):
        writer.stop()
    assert caplog.messages[-1] == "stopped; 0 answers stored, 17,000 reports counted since the start"


def test_a_receipt_names_neither_id_nor_report(served, store):
    send(served, line(), "application/json", **UPLOAD)
    served.stop()
    with store.reading() as connection:
        ((day, digest),) = connection.execute(text("SELECT day, digest FROM report_receipt")).all()
    assert str(day) == str(today())
    assert digest == hashlib.sha256(f"{UPLOAD['idempotency-key']} ".encode() + line()).hexdigest()
    assert report_receipt in _LEFT_OUT


@pytest.mark.parametrize("name", ["short", "x" * 65, "0123456789abcdef 01234567"])
def test_an_id_that_is_none_counts_nothing(served, store, name):
    answer = send(served, line(), "application/json", **{"idempotency-key": name})
    assert (answer.status, answer.json["error"]["code"]) == (422, "malformed")
    with pytest.raises(DataError, match="no report"):
        tally(store)


def test_a_batch_sent_twice_without_an_id_is_counted_twice(served, store):
    """There is nothing by which a server could know it again; docs/how-to/batches.md says when to send again."""
    for _ in range(2):
        assert send(served, line(), "application/json").json == {"counted": 1, "refused": 0}
    assert tally(store).n == 2


REFUSED = {
    "no batch": (b"", BINARY, 422, "malformed", "the body holds no batch"),
    "not ours": (b"hello", BINARY, 422, "malformed", "binary or as lines of JSON"),
    "another design": (line(design="0" * 64), "application/json", 404, "unknown", "a design that this server does not"),
    "another question": (line(question="other"), "application/json", 404, "unknown", "under this question and wave"),
    "another wave": (line(wave="2"), "application/json", 404, "unknown", "under this question and wave"),
    "a level": (line(level="1"), "application/json", 422, "malformed", "a batch must name a level if"),
    "out of range": (line(reports=[0, 77]), "application/json", 422, "malformed", "batch 1: report 2: "),
    "a later version": (line(version=2), "application/json", 422, "malformed", "of version 1"),
    "cut short": (written(CRASH, ["map"], question="crash")[:-1], BINARY, 422, "malformed", "cut short"),
    "damaged": (written(CRASH, ["map"], question="crash")[:-1] + b"\0", BINARY, 422, "malformed", "checksum"),
    "text": (line(), "text/plain", 415, "wrong_type", "reports are application/json or"),
    "too large": (b" " * (256 * 1024 + 1), BINARY, 413, "too_large", "send several"),
    "one good, one bad": (
        line() + b"\n" + line(reports=[3]),
        "application/json",
        422,
        "malformed",
        "batch 2: report 1",
    ),
}


@pytest.fixture
def refusing(tmp_path, run):
    """A server on SQLite, which is enough for what never reaches a database."""
    store = Store(tmp_path / "answers.db")
    reports.open_topic(store, CRASH, question="crash")
    yield run([], store, each=0), store
    store.dispose()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_counts_nothing_and_is_not_repeated(refusing, name):
    served, store = refusing
    content, kind, status, code, told = REFUSED[name]
    found = send(served, content, kind)
    assert (found.status, found.code) == (status, code)
    assert told in found.json["error"]["message"]
    assert not re.search(r"77|other\b|0000", found.json["error"]["message"])
    assert found.headers["access-control-allow-origin"] == "*"
    assert reports.all_topics(store)[0].reports == 0


def test_the_others_of_a_bad_batch_are_counted_if_asked(served, store):
    found = send(served, line(reports=["map", 3, "list", "no"]), "application/json", "?bad=keep")
    assert found.json == {"counted": 2, "refused": 2}
    assert tally(store).counts.tolist() == [1, 1, 0]
    assert send(served, line(), "application/json", "?bad=maybe").status == 422


def test_a_closed_question_takes_nothing_and_can_open_again(served, store, until):
    send(served, line(), "application/json")
    reports.close(store, reports.all_topics(store)[0].topic)
    assert send(served, line(), "application/json").code == "closed"
    until(lambda: send(served, line(), "application/json").status == 410)
    reports.open_topic(store, CRASH, question="crash")
    until(lambda: send(served, line(), "application/json").status == 200)
    assert tally(store).n == 2


def test_a_body_may_be_read_while_a_design_is_opened(store):
    """A large body is read in a thread, and the writer looks at the database meanwhile."""
    reports.open_topic(store, CRASH, question="crash")
    topics = reports.Topics(store)
    in_thread = iter(topics.designs.values())
    reports.open_topic(store, SETS, question="sets")
    topics.refresh()
    assert [design.hash for design in in_thread] == [CRASH.hash]
    assert set(topics.designs) == {CRASH.hash, SETS.hash}


def test_an_upload_that_came_while_a_question_was_closed_is_counted_when_it_is_open_again(store):
    topic = reports.open_topic(store, CRASH, question="crash")
    upload = Reports({Cell(*topic, "", "report", 1): 1}, today(), "a" * 64)
    reports.close(store, topic)
    assert [each.what for each in store.add([upload])] == ["closed"]
    reports.open_topic(store, CRASH, question="crash")
    assert [each.what for each in store.add([upload, upload])] == ["counted", "repeated"]
    assert tally(store).n == 1


def test_reports_of_one_address_are_limited(store, run):
    reports.open_topic(store, CRASH, question="crash")
    served = run([], store, each=10)
    assert send(served, line(reports=[0] * 11), "application/json").status == 413
    assert send(served, line(reports=[0] * 8), "application/json").status == 200
    found = send(served, line(reports=[0] * 3), "application/json")
    assert (found.status, found.code) == (429, "busy")
    assert int(found.headers["retry-after"]) <= 60
    assert send(served, line(reports=[0] * 2), "application/json").status == 200


def test_pages_of_other_origins_may_send_and_read_nothing_else(refusing):
    served, _ = refusing
    asked = {"origin": "https://app.example", "access-control-request-method": "POST"}
    found = served.ask("OPTIONS", "/reports", headers=asked | {"access-control-request-headers": "content-type"})
    assert found.status == 204
    assert found.headers["access-control-allow-methods"] == "POST"
    assert found.headers["access-control-allow-headers"] == "content-type, idempotency-key"
    for path in ("/health", "/", "/api/v1/surveys", "/api/v1/reports"):
        for method in ("GET", "OPTIONS"):
            assert "access-control-allow-origin" not in served.ask(method, path, headers=asked).headers
    for headers in (found.headers, send(served, b"").headers):
        assert "access-control-allow-credentials" not in headers
        assert "set-cookie" not in headers


def test_no_log_line_tells_of_a_batch(served, caplog):
    caplog.set_level(logging.DEBUG)
    send(served, line(), "application/json")
    send(served, line(reports=[77]), "application/json")
    served.stop()
    assert not re.search(r"77|192\.0\.2|map|crash", caplog.text)


def test_designs_whose_counters_would_grow_are_not_opened(store):
    names = designs.affine(("a.example", "b.example"), epsilon=2, names=True)
    for design in (names, designs.negative(range(70), discards=30)):
        with pytest.raises(DataError, match="a server counts designs of at most 4,194,304 responses"):
            reports.open_topic(store, design)
    with pytest.raises(DataError, match="at most 140 characters"):
        reports.open_topic(store, CRASH, question="q" * 141)


def test_the_topic_that_is_meant_must_be_one(store):
    with pytest.raises(DataError, match="nothing is counted under this name"):
        tally(store)
    reports.open_topic(store, CRASH, question="crash", wave="1")
    with pytest.raises(DataError, match="no report to 'crash' has come yet"):
        tally(store)
    reports.open_topic(store, CRASH, question="crash", wave="2")
    with pytest.raises(DataError, match="2 are meant by this; name one"):
        tally(store, question="crash")
    with pytest.raises(DataError, match="'crash', wave '1'"):
        tally(store, question="krash")


def test_a_backup_holds_the_counters_and_replaces_none(store, tmp_path):
    topic = reports.open_topic(store, CRASH, question="crash")
    store.add([Reports({Cell(*topic, "", "report", 1): 7}, today())])
    backup(store, tmp_path / "backup.db")
    fresh = Store(tmp_path / "fresh.db")
    restore(fresh, tmp_path / "backup.db")
    assert tally(fresh).counts.tolist() == [0, 7, 0]
    with pytest.raises(DataError, match="this database counts reports, which a restored backup would replace"):
        restore(fresh, tmp_path / "backup.db")
    fresh.dispose()
