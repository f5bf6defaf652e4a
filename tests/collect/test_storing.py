"""From a request to the database: nothing is acknowledged before it is stored, and nothing acknowledged is lost."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError

from naysay.collect import Client, Published, Refusal
from naysay.collect.storage import Reply, Store, today
from naysay.collect.writer import Writer


@pytest.fixture
def served(store, run, published, client):
    """A server on an empty database of each kind."""
    return run([published], store, client=client, each=0, everybody=0)


def count(store):
    return sum(each.replies for each in store.surveys())


def test_answers_are_stored_as_they_were_sent(served, store, published, answers, write_body):
    found = served.post(write_body(published, answers))
    assert (found.status, found.json) == (201, {"stored": True, "day": today().isoformat()})
    ((day, kept),) = store.replies("kinds").rows
    assert (day, json.loads(kept)) == (today(), answers)


def test_a_retry_is_the_same_submission(served, store, published, answers, write_body):
    content = write_body(published, answers)
    first, second = served.post(content), served.post(content)
    assert (first.status, second.status) == (201, 200)
    assert first.json == second.json
    assert count(store) == 1


def test_an_id_is_for_one_submission(served, store, published, answers, write_body):
    served.post(write_body(published, answers, id="c" * 32))
    found = served.post(write_body(published, {**answers, "age": 31}, id="c" * 32))
    assert (found.status, found.code) == (409, "conflict")
    assert json.loads(store.replies("kinds").rows[0][1])["age"] == 30


def test_another_hash_is_refused(served, published, answers, write_body):
    found = served.post(write_body(published, answers, survey="0" * 64))
    assert (found.status, found.code) == (409, "wrong_survey")


def test_a_survey_that_another_process_closes_is_closed(served, url, store, published, answers, write_body, until):
    other = Store(url)
    other.close("kinds")
    other.dispose()
    found = served.post(write_body(published, answers))
    assert (found.status, found.code) == (410, "closed")
    until(lambda: served.get("/s/kinds/survey.json").status == 410)
    assert served.get("/s/kinds").status == 200
    store.reopen("kinds")
    assert served.post(write_body(published, answers)).status == 201


def test_a_survey_that_another_process_opens_is_served(served, url, questionnaire, client, until):
    second = Client({**client.files, "survey.js": b"export const version = 2;"})
    other = Store(url)
    other.open(Published.of(questionnaire.model_copy(update={"name": "second"}), client=second))
    other.dispose()
    until(lambda: served.get("/s/second").status == 200)
    assert served.get(f"/client/{second.hash}/survey.js").content == b"export const version = 2;"
    assert served.get(f"/client/{client.hash}/survey.js").content == client.files["survey.js"]


def test_a_survey_keeps_its_client_when_naysay_has_a_newer_one(run, url, published, client, questionnaire):
    first = Store(url)
    first.open(published)
    first.dispose()
    newer = Client({**client.files, "survey.js": b"export const version = 2;"})
    again = Store(url)
    running = run([], again, client=newer)
    assert f"/client/{client.hash}/survey.js".encode() in running.get("/s/kinds").content
    assert running.get(f"/client/{client.hash}/survey.js").content == client.files["survey.js"]
    running.stop()
    again.dispose()


def test_a_survey_that_is_renewed_has_the_newer_client_and_names_both_hashes(
    served, url, store, published, client, answers, write_body, until
):
    """Replies stay; who has the old page open can still send, and sent again it is the same submission."""
    early, late = write_body(published, answers), write_body(published, answers)
    assert served.post(early).status == 201
    newer = Client({**client.files, "survey.js": b"export const version = 2;"})
    other = Store(url)
    after = other.renew("kinds", client=newer)
    assert after.hash != published.hash
    assert after.renewed == (published.hash,)
    until(lambda: served.get("/s/kinds/survey.json").content == after.bytes)
    assert f"/client/{newer.hash}/survey.js".encode() in served.get("/s/kinds").content
    assert [served.post(content).status for content in (early, late)] == [200, 201]
    assert served.post(write_body(after, answers)).status == 201
    assert other.renew("kinds", client=newer) == after  # nothing to do
    again = other.renew("kinds", client=client)
    assert again.renewed == (after.hash, published.hash)
    assert again.form["questionnaire"] == published.form["questionnaire"]
    assert count(other) == 3
    other.dispose()


def test_a_survey_that_would_be_asked_in_another_form_is_not_renewed(store, published, client, monkeypatch):
    store.open(published)
    monkeypatch.setattr("naysay.collect.survey.published.body_length", lambda _, **how: 2_048)
    with pytest.raises(ValueError, match="cannot be renewed: this naysay would ask it in another form"):
        store.renew("kinds", client=Client({**client.files, "survey.js": b"2"}))


def test_32_at_once_and_none_is_lost(served, store, published, answers, write_body):
    bodies = [write_body(published, {**answers, "age": 18 + number % 100}) for number in range(320)]

    def respondent(place):
        return [served.post(content).status for content in bodies[place::32] for _ in range(2)]

    with ThreadPoolExecutor(32) as pool:
        told = [status for statuses in pool.map(respondent, range(32)) for status in statuses]
    assert sorted(told) == [200] * 320 + [201] * 320
    assert count(store) == 320


def test_the_same_submission_twice_at_once_is_stored_once(served, store, published, answers, write_body):
    content = write_body(published, answers)
    with ThreadPoolExecutor(16) as pool:
        told = sorted(pool.map(lambda _: served.post(content).status, range(16)))
    assert told == [200] * 15 + [201]
    assert count(store) == 1


def test_mutated_bodies_are_never_stored(served, store, published, answers, write_body):
    content = write_body(published, answers)
    for place in range(0, len(content), 7):
        bent = content[:place] + bytes([content[place] ^ 0x20 or 1]) + content[place + 1 :]
        found = served.post(bent)
        if found.status == 201:  # a letter of a text, a digit of a number
            continue
        assert 400 <= found.status < 500
        assert found.json["error"]["message"]
    for kept in (json.loads(each) for _, each in store.replies("kinds").rows):
        assert set(kept) == set(answers)


def test_stopping_stores_what_waits(url, published, client, answers):
    """Replies that are in line when the server is asked to stop are stored, and acknowledged."""
    store = Store(url)
    store.open(published)
    writer = Writer(store, look=lambda: None, fold=lambda _: 0)
    replies = [
        Reply("kinds", published.hash, f"{number:032x}", json.dumps(answers), today()) for number in range(2_500)
    ]
    futures = [writer.submit(reply) for reply in replies]
    writer.start()
    writer.stop()
    assert {future.result(0).what for future in futures} == {"stored"}
    assert (count(store), writer.stored) == (2_500, 2_500)
    with pytest.raises(Refusal) as refused:
        writer.submit(replies[0])
    assert (refused.value.code, refused.value.retry_after) == ("unavailable", 5)
    store.dispose()


def test_stopping_leaves_no_order_of_arrival(run, postgresql, published, client, answers, write_body):
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    running = run([published], store, client=client)
    for number in range(30):
        assert running.post(write_body(published, answers, id=f"{30 - number:032x}")).status == 201
    with postgresql.connect(name) as connection:
        asked = "SELECT count(DISTINCT xmin::text), array_agg(id ORDER BY ctid) = array_agg(id ORDER BY id) FROM reply"
        assert connection.execute(asked).fetchone() == (30, False)
        running.stop()
        assert connection.execute(asked).fetchone() == (1, True)
    store.dispose()


def test_new_answers_are_settled_while_the_server_runs(run, postgresql, published, client, answers, write_body, until):
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    running = run([published], store, client=client, settle_every=0.2)
    for number in range(5):
        running.post(write_body(published, answers, id=f"{5 - number:032x}"))
    with postgresql.connect(name) as connection:
        asked = "SELECT count(DISTINCT xmin::text), count(*) FROM reply"
        until(lambda: connection.execute(asked).fetchone() == (1, 5))
    running.stop()
    store.dispose()


def test_a_group_is_written_in_the_order_of_ids(store, published, answers):
    store.open(published)
    written = []
    listening = threading.get_ident()

    def note(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith("INSERT INTO reply") and threading.get_ident() == listening:
            written.extend(each["id"] if isinstance(each, dict) else each[1] for each in parameters)

    event.listen(store.engine, "before_cursor_execute", note)
    known = [f"{number * 7919 % 101:032x}" for number in range(100)]
    store.add([Reply("kinds", published.hash, id, "{}", today()) for id in known])
    assert written == sorted(known)


def test_a_reply_that_the_database_cannot_take_spoils_no_other(store, published, answers, monkeypatch):
    """Here one with a text that no database stores; the server's own check would have refused it."""
    store.open(published)
    writer = Writer(store, look=lambda: None, fold=lambda _: 0)
    good = Reply("kinds", published.hash, "a" * 32, "{}", today())
    bad = Reply("kinds", published.hash, "b" * 32, "{}", "no day")
    futures = [writer.submit(bad), writer.submit(good)]
    writer.start()
    writer.stop()
    assert futures[1].result(0).what == "stored"
    with pytest.raises(Refusal) as refused:
        futures[0].result(0)
    assert refused.value.status in (500, 503)
    assert count(store) == 1


def test_health_tells_whether_answers_can_be_stored(served, store, monkeypatch, until):
    assert (served.get("/health").status, served.get("/health").json) == (200, {"status": "ok"})
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE survey RENAME TO elsewhere"))
    until(lambda: served.get("/health").status == 503)
    assert served.get("/health").headers["retry-after"] == "5"
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO survey"))
    until(lambda: served.get("/health").status == 200)


@pytest.fixture
def one(store, published):
    """A writer on a store with an open survey, and a reply to it."""
    store.open(published)
    return Writer(store, look=lambda: None, fold=lambda _: 0, every=0.0), Reply(
        "kinds", published.hash, "a" * 32, "{}", today()
    )


def test_another_server_that_stores_the_same_meanwhile_is_no_error(one, store, monkeypatch):
    writer, reply = one
    add = store.add

    def raced(group):
        add(group)
        monkeypatch.setattr(store, "add", add)
        raise IntegrityError("insert", {}, Exception())

    monkeypatch.setattr(store, "add", raced)
    future = writer.submit(reply)
    writer.start()
    writer.stop()
    assert future.result(0).what == "repeated"
    assert count(store) == 1


def test_a_mistake_of_ours_ends_no_thread(one, store, monkeypatch, caplog):
    writer, reply = one
    add = store.add

    def broken(group):
        monkeypatch.setattr(store, "add", add)
        raise ZeroDivisionError("marker7319")

    monkeypatch.setattr(store, "add", broken)
    first = writer.submit(reply)
    writer.start()
    with pytest.raises(Refusal) as refused:
        first.result(10)
    assert refused.value.code == "internal"
    assert writer.submit(reply).result(10).what == "stored"
    writer.stop()
    assert "the database failed while storing: ZeroDivisionError" in caplog.text
    assert "marker7319" not in caplog.text


def test_answers_are_taken_when_settling_fails(one, store, monkeypatch, caplog):
    writer, reply = one
    monkeypatch.setattr(store, "settle", lambda: 1 / 0)
    writer.start()
    assert writer.submit(reply).result(10).what == "stored"
    writer.stop()
    assert "the database failed while settling: ZeroDivisionError" in caplog.text


def test_a_line_that_is_too_long_is_told(one, monkeypatch):
    monkeypatch.setattr("naysay.collect.writer.WAITING", 2)
    writer, reply = one
    short = Writer(writer._store, look=lambda: None, fold=lambda _: 0)
    short.submit(reply)
    short.submit(reply)
    with pytest.raises(Refusal) as refused:
        short.submit(reply)
    assert (refused.value.status, refused.value.retry_after) == (503, 5)
    short.start()
    short.stop()


def test_two_servers_on_one_database_lose_nothing(url, published, answers):
    stores = [Store(url), Store(url)]
    stores[0].open(published)
    writers = [Writer(store, look=lambda: None, fold=lambda _: 0, every=0.0) for store in stores]
    replies = [Reply("kinds", published.hash, f"{number:032x}", "{}", today()) for number in range(300)]
    for writer in writers:
        writer.start()
    futures = [writers[number % 2].submit(reply) for number, reply in enumerate(replies * 2)]
    outcomes = [future.result(60).what for future in futures]
    for writer in writers:
        writer.stop()
    assert sorted(outcomes) == ["repeated"] * 300 + ["stored"] * 300
    assert count(stores[0]) == 300
    for store in stores:
        store.dispose()
