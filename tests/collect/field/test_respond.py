"""Scripted respondents before a real server: drawn once, kept until acknowledged, never a truth."""

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from naysay.collect import respond
from naysay.collect.device import post
from naysay.collect.device.memory import Memory
from naysay.collect.server import guard
from naysay.errors import DataError


def replies(store):
    return [json.loads(text) for _, text in store.replies("kinds").rows]


def test_one_answers_and_keeps_a_receipt(answered, questionnaire, store):
    survey = answered(questionnaire)
    receipt = respond.one(survey, {"age": 30, "party": "a", "rare": "b"}, levels={"party": "3"})
    (sent,) = replies(store)
    assert json.loads(receipt.body)["answers"] == sent
    assert (receipt.survey, len(receipt.body)) == (survey.hash, survey.published.body_length)
    assert sent["party"]["level"] == "3"
    assert "a" not in sent["party"]["response"].split(";")
    assert sent["rare"]["response"] in ("a", "c")


def test_many_answer_and_all_is_stored(answered, questionnaire, store):
    survey = answered(questionnaire)
    people = respond.anybody(survey.questionnaire, 150, seed=2)
    counts = []
    sent = respond.many(survey, people, concurrency=20, on_acknowledged=lambda now: counts.append(now.stored))
    assert (sent.people, sent.stored, sent.repeated) == (150, 150, 0)
    assert counts == list(range(1, 151))
    assert sorted(each["age"] for each in replies(store)) == sorted(people.column("age"))


def test_a_second_run_sends_nothing_twice(answered, questionnaire, store, tmp_path):
    survey = answered(questionnaire)
    people = respond.anybody(survey.questionnaire, 30, seed=2)
    for before, acknowledged in ((0, 30), (30, 0)):
        sent = respond.many(survey, people, state=tmp_path / "state")
        assert (sent.before, sent.acknowledged) == (before, acknowledged)
    assert len(replies(store)) == 30
    assert respond.one(survey, {"age": 44}, state=tmp_path / "state").body is None


def test_what_is_kept_holds_no_truth_and_no_body_that_arrived(answered, questionnaire, tmp_path):
    survey = answered(questionnaire)
    respond.one(survey, {"age": 33, "rare": "b", "party": "b", "drinks": 3}, state=tmp_path / "state")
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("state*"))
    assert b"kinds" in kept
    assert not any(word in kept for word in (b'"age":33', b"rare", b"party", b"few"))
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


class Flaky(httpx2.AsyncBaseTransport):
    """A network between device and server that fails as it is told: before the server, after it, or by its answer."""

    def __init__(self, *failures):
        self.failures, self.bodies = list(failures), []
        self._real = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        if request.method == "GET":
            return await self._real.handle_async_request(request)
        self.bodies.append(await request.aread())
        failure = self.failures.pop(0) if self.failures else None
        if isinstance(failure, httpx2.Response):
            return failure
        if failure == "before":
            raise httpx2.ConnectError("no way")
        response = await self._real.handle_async_request(request)
        if failure == "after":
            await response.aread()
            await response.aclose()
            raise httpx2.ReadError("cut off")
        return response

    async def aclose(self):
        await self._real.aclose()


def busy(status, **headers):
    return httpx2.Response(status, headers=headers, json={"error": {"code": "busy", "message": "later"}})


@pytest.fixture
def waited(monkeypatch):
    """Waits are written down and not waited."""
    seconds, clock = [], [0.0]

    async def sleep(pause):
        seconds.append(pause)
        clock[0] += pause

    monkeypatch.setattr(post, "sleep", sleep)
    monkeypatch.setattr(post, "monotonic", lambda: clock[0])
    return seconds


@pytest.mark.parametrize("failures", [["before"], ["after"], ["before", "after", busy(503)], [httpx2.Response(502)]])
def test_a_retry_sends_the_same_bytes(answered, questionnaire, store, waited, failures):
    network = Flaky(*failures)
    respond.one(answered(questionnaire), {"age": 30, "rare": "a"}, transport=network)
    assert len(network.bodies) == len(failures) + 1
    assert len(set(network.bodies)) == 1
    assert len(replies(store)) == 1


def test_an_acknowledgment_that_was_lost_is_found_again(answered, questionnaire, store, waited):
    people = respond.checked(questionnaire, {"age": [30, 31]})
    sent = respond.many(answered(questionnaire), people, concurrency=1, transport=Flaky("after"))
    assert (sent.stored, sent.repeated) == (2, 1)
    assert len(replies(store)) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_the_server_says_how_long_to_wait(answered, questionnaire, waited, status):
    network = Flaky(busy(status, **{"retry-after": "17"}), "before")
    respond.one(answered(questionnaire), {"age": 30}, transport=network)
    assert waited[0] >= 17
    assert max(waited[1:]) < 1


def test_all_wait_when_one_is_told_to(answered, questionnaire, waited):
    network, done = Flaky(busy(429, **{"retry-after": "30"})), []
    people = respond.anybody(questionnaire, 3, seed=1)
    survey = answered(questionnaire)
    respond.many(survey, people, concurrency=1, transport=network, on_acknowledged=lambda _: done.append(sum(waited)))
    assert len(network.bodies) == 4
    assert done == [30] * 3


def test_patience_ends_and_what_was_drawn_is_kept(answered, questionnaire, store, waited, tmp_path):
    survey, state = answered(questionnaire), tmp_path / "state"
    down = Flaky(*["before"] * 100)
    with pytest.raises(respond.Undelivered, match="within 60 seconds: it cannot be reached"):
        respond.one(survey, {"age": 30, "rare": "a"}, state=state, patience=60, transport=down)
    assert 45 <= sum(waited) <= 60
    receipt = respond.one(survey, {"age": 99, "rare": "c"}, state=state)
    assert {receipt.body} == set(down.bodies)
    assert [each["age"] for each in replies(store)] == [30]


def test_an_interrupted_run_goes_on_with_what_was_drawn(answered, questionnaire, store, tmp_path):
    survey, state = answered(questionnaire), tmp_path / "state"
    people = respond.anybody(survey.questionnaire, 60, seed=3)

    def stop(now):
        if now.stored == 25:
            os.kill(os.getpid(), signal.SIGINT)  # to the main thread, as Ctrl-C; it may run a loop

    with pytest.raises(KeyboardInterrupt):
        respond.many(survey, people, concurrency=5, state=state, on_acknowledged=stop)
    memory = Memory(state, survey="kinds")
    waiting = memory.bodies(range(60))
    memory.close()
    assert waiting
    sent = respond.many(survey, people, state=state)
    assert sent.before + sent.acknowledged == 60
    stored = replies(store)
    assert len(stored) == 60
    kept = [json.dumps(json.loads(body)["answers"], sort_keys=True) for body in waiting.values()]
    assert set(kept) <= {json.dumps(each, sort_keys=True) for each in stored}


def test_answers_against_the_survey_are_refused_before_any_is_sent(answered, questionnaire, store):
    people = respond.checked(questionnaire, {"age": [30] * 300 + [17]})
    with pytest.raises(DataError, match="row 301: question 'age' must fulfill its constraint"):
        respond.many(answered(questionnaire), people)
    assert replies(store) == []


def test_a_closed_survey_ends_the_run_with_the_servers_words(answered, questionnaire, store):
    survey = answered(questionnaire)
    store.close("kinds")
    people = respond.anybody(questionnaire, 40, seed=1)
    with pytest.raises(respond.Refused, match=r"closed.*takes no more answers") as refused:
        respond.many(survey, people)
    assert refused.value.code == "closed"


def test_a_limit_of_rate_only_delays(answered, questionnaire, store, monkeypatch):
    monkeypatch.setattr(guard, "MINUTE", 1.0)  # a minute is long for a test
    survey = answered(questionnaire, each=15)
    sent = respond.many(survey, respond.anybody(questionnaire, 40, seed=1), concurrency=10)
    assert sent.stored == len(replies(store)) == 40


def test_the_hash_is_computed_from_the_bytes(answered, questionnaire):
    survey = answered(questionnaire)
    assert respond.fetch(f"{survey.url}/", hash=survey.hash.upper()).hash == survey.hash
    with pytest.raises(DataError, match="it is another one"):
        respond.fetch(survey.url, hash="0" * 64)


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("example.org/s/x", "begins with http"),
        ("ftp://example.org/s/x", "begins with http"),
        ("http://127.0.0.1:9/s/x", "cannot be reached"),
    ],
)
def test_a_link_to_nothing_is_refused(link, told):
    with pytest.raises(DataError, match=told):
        respond.fetch(link)


def test_another_survey_or_none_is_refused(answered, questionnaire):
    survey = answered(questionnaire)
    with pytest.raises(DataError, match="there is no survey at"):
        respond.fetch(survey.url + "x")


def test_what_is_no_survey_is_refused():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"naysay":"survey","version":2}')

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(DataError, match="is no survey of this version"):
                respond.fetch(f"http://127.0.0.1:{server.server_port}/s/x")
        finally:
            server.shutdown()
            thread.join()


def test_a_preview_stores_nothing_and_says_so(questionnaire, client):
    from naysay.collect.app import create_app
    from naysay.collect.serving import background

    with background(create_app([questionnaire], client=client)) as server:
        survey = respond.fetch(f"{server}/s/kinds")
        with pytest.raises(respond.Refused, match="stores nothing"):
            respond.one(survey, {"age": 30})


def test_a_file_of_another_kind_is_not_overwritten(answered, questionnaire, tmp_path):
    (tmp_path / "state").write_text("age\n30\n" * 200)
    with pytest.raises(DataError, match="cannot keep what was drawn"):
        respond.one(answered(questionnaire), {"age": 30}, state=tmp_path / "state")
    assert (tmp_path / "state").read_text() == "age\n30\n" * 200
