"""Webhooks tell counts in steps, signed, to where they may, and bounded often; they never hold an answer."""

import contextlib
import itertools
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from naysay.collect import Published
from naysay.collect.api import webhooks
from naysay.collect.api.webhooks import SIGNATURE, Target, Webhooks, verified
from naysay.collect.questionnaire import sample
from naysay.collect.storage import Store
from naysay.errors import DataError
from tests.collect.replying import fill

SECRET = "a secret of some length"


class Receiver(HTTPServer):
    """A server that keeps what it hears, and answers with a status."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Hook)
        self.heard, self.status = [], 200

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/hook?x=1"


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.heard.append((self.path, dict(self.headers.items()), body))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    found = Receiver()
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.fixture
def field(tmp_path):
    """A survey in its database."""
    store = Store(tmp_path / "naysay.db")
    store.open(Published.of(sample()))
    yield store
    store.dispose()


def hourly():
    """A clock on which an hour has passed whenever somebody looks."""
    return map(float, itertools.count(0, 3_600)).__next__


def hooks(store, receiver, **how):
    return Webhooks(store, [Target(receiver.url, within=True)], SECRET, **how)


def test_counts_are_told_at_full_hours_alone_whenever_a_reply_comes(field, receiver):
    """Counts are of 0:00 and 1:00: a reply at any minute in between, or a receiver that fails, moves none of them."""
    now = [-60.0]
    telling = hooks(field, receiver, clock=lambda: now[0])
    published, heard = field.published("sample"), []
    for minute in range(-1, 121):
        now[0] = 60.0 * minute
        if minute in (30, 61):
            fill(field, published, 10)
        receiver.status = 500 if minute in (60, 62) else 200
        before = len(receiver.heard)
        telling.look()
        heard += [(minute, json.loads(body)["replies"]) for _, _, body in receiver.heard[before:]]
    assert heard == [(0, 0), (60, 10), (62, 10), (66, 10), (120, 20)]


def test_a_receiver_that_answers_slowly_does_not_choose_when_the_next_count_is(field, monkeypatch):
    """Nine targets take ten minutes each for a message: a look ends a minute after it began, or with the message."""
    now, heard = [0.0], []
    targets = [Target(f"https://hooks.example.org/{place}") for place in range(9)]

    def send(target, body, headers):
        now[0] += 600.0
        heard.append((target.path, json.loads(body)["replies"]))
        return 200

    monkeypatch.setattr(Target, "send", send)
    telling = Webhooks(field, targets, SECRET, clock=lambda: now[0], stopwatch=lambda: now[0])
    now[0] = 3_600.0
    telling.look()
    assert now[0] == 4_200.0
    for _ in range(20):  # those that come later are told by later looks
        telling.look()
    assert heard == [(target.path, 0) for target in targets]


def test_counts_are_told_in_steps_and_signed_and_hold_no_answer(field, receiver):
    now = [time.time()]
    telling = hooks(field, receiver, clock=lambda: now[0])
    published = field.published("sample")
    told = []
    for more in (0, 4, 9, 0, 30):
        if more:
            fill(field, published, more)
        now[0] += 3_600
        telling.look()
        told.append([json.loads(body)["replies"] for _, _, body in receiver.heard])
    assert told == [[0], [0], [0, 10], [0, 10], [0, 10, 40]]  # of 0, 4, 13, 13 and 43 replies
    field.close("sample")
    now[0] += 3_600
    telling.look()
    for path, headers, body in receiver.heard:
        assert path == "/hook?x=1"
        assert set(json.loads(body)) == {"naysay", "version", "day", "survey", "hash", "state", "replies"}
        signature = {name.lower(): value for name, value in headers.items()}[SIGNATURE]
        at = int(signature.partition(",")[0].removeprefix("t="))
        assert verified(body, signature, SECRET, now=at)
        assert not verified(body + b" ", signature, SECRET, now=at)
        assert not verified(body, signature, SECRET + "x", now=at)
        assert not verified(body, signature, SECRET, now=2e9)  # an old message, sent again
    assert json.loads(receiver.heard[-1][2])["state"] == "closed"


def test_a_receiver_that_fails_is_asked_again_after_growing_pauses_and_not_for_ever(field, receiver):
    now = [1_000.0]
    telling = hooks(field, receiver, clock=lambda: now[0])
    receiver.status, pauses = 500, []
    now[0] += 3_600
    for _ in range(60 * 60):
        before = len(receiver.heard)
        telling.look()
        if len(receiver.heard) > before:
            pauses.append(telling.targets[0].waits_until - now[0])
        now[0] += 60
    assert len(receiver.heard) == 30
    assert pauses[:4] == [120, 240, 480, 960]
    assert max(pauses) == 3_600
    telling.targets[0].failures = 5
    receiver.status = 200
    telling.look()
    assert (telling.targets[0].failures, json.loads(receiver.heard[-1][2])["replies"]) == (0, 0)


def test_a_redirect_is_not_followed(field, receiver):
    receiver.status = 302
    hooks(field, receiver, clock=hourly()).look()
    assert [path for path, _, _ in receiver.heard] == ["/hook?x=1"]


OWN = (
    "127.0.0.1", "10.1.2.3", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "localhost",
    "[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[2002:7f00:1::]",
    "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[::127.0.0.1]", "[::ffff:0:10.0.0.1]", "[fec0::1]",
)  # fmt: skip


@pytest.mark.parametrize("host", OWN)
def test_a_webhook_leads_into_no_network_of_its_own(host):
    with pytest.raises(DataError, match="leads into a network of its own"):
        Target(f"https://{host}/").address()


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700::1]", "[64:ff9b::8.8.8.8]"])
def test_everybodys_addresses_are_not_refused(host):
    assert Target(f"https://{host}/").address() == host.strip("[]").replace(
        "8.8.8.8", "808:808" if ":" in host else "8.8.8.8"
    )


def test_a_receiver_that_sends_one_byte_at_a_time_keeps_nobody_waiting(field, monkeypatch):
    monkeypatch.setattr(webhooks, "_PATIENCE", 0.2)
    ended = threading.Event()

    def drip(listening):
        connection, _ = listening.accept()
        with connection, contextlib.suppress(OSError):
            while not ended.wait(0.05):
                connection.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=[listening])
        thread.start()
        telling = Webhooks(
            field, [Target(f"http://127.0.0.1:{listening.getsockname()[1]}/", within=True)], SECRET, clock=hourly()
        )
        began = time.monotonic()
        telling.look()
        ended.set()
        thread.join()
    assert (telling.targets[0].failures, time.monotonic() - began < 3) == (1, True)


def test_a_name_that_leads_there_is_refused_when_it_is_used(field, monkeypatch):
    """The address that was looked up is the one that is connected to."""
    asked = []

    def found(host, port, **_):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("192.0.33.8", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    telling = Webhooks(field, [Target("https://hooks.example.org/")], SECRET, clock=hourly())
    telling.look()
    assert asked == ["hooks.example.org"]
    assert telling.targets[0].failures == 1


def test_a_webhook_connects_to_the_address_that_was_looked_up_and_never_by_name(field, monkeypatch):
    """Between a check and a connection by name, the name may come to lead into one's own network."""
    connected = []

    def found(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.33.8", port))]

    def connect(address, **_):
        connected.append(address)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", found)
    monkeypatch.setattr(socket, "create_connection", connect)
    Webhooks(field, [Target("https://hooks.example.org/")], SECRET, clock=hourly()).look()
    assert connected == [("192.0.33.8", 443)]


@pytest.mark.parametrize(
    "url", ["http://example.org/", "ftp://example.org", "https://a:b@example.org/", "https://", "x"]
)
def test_other_addresses_are_refused(url):
    with pytest.raises(DataError, match="a webhook must be an address"):
        Target(url)


def test_a_short_secret_is_refused(field):
    with pytest.raises(DataError, match="must have 16 letters or more; got 3"):
        Webhooks(field, [], "abc")


def test_it_runs_beside_the_server_until_that_ends(field, receiver, until, monkeypatch):
    monkeypatch.setattr(webhooks, "_EVERY", 0.01)
    with hooks(field, receiver, clock=hourly()).running():
        until(lambda: receiver.heard)
    assert not [each for each in threading.enumerate() if each.name == "naysay-webhooks"]
