"""Senders who open connections and send slowly, or send more than is read: others are served all the same."""

import contextlib
import json
import logging
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import pytest

from naysay.collect import serving
from naysay.collect.app import create_app
from naysay.collect.serving import Throttle, background

HALF = b"GET /s/kinds HTTP/1.1\r\nhost: localhost\r\nx-slow: "
HEAD = b"POST /s/kinds/answers HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@contextlib.contextmanager
def opened(link, sent, many):
    """Many connections on which so much was sent, and then nothing."""
    address = urlsplit(link)
    with contextlib.ExitStack() as stack:
        found = [
            stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=20))
            for _ in range(many)
        ]
        for each in found:
            with contextlib.suppress(ConnectionError):
                each.sendall(sent)
        yield found


def respond(link, content):
    """Load the page, send answers as a browser does; what came back, and in how many seconds."""
    began = time.monotonic()
    with urllib.request.urlopen(link, timeout=20) as page:
        assert page.status == 200
    headers = {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{link}/answers", content, headers), timeout=20) as answer:
        return answer.status, time.monotonic() - began


def closed(connection):
    """Whether the other side has ended a connection, which is waited for."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(65_536):
            pass
    return True


@pytest.mark.parametrize("sent", [b"", HALF, HEAD + b"content-length: 900\r\n\r\nx", b"junk\r\n\r\n"])
def test_half_sent_requests_keep_nobody_out_and_fill_no_log(
    serve, tmp_path, sent, published_for_real, answers, write_body
):
    server = serve(f"sqlite:///{tmp_path}/answers.db", files=300)
    with opened(server.link, sent, 600):
        for _ in range(3):
            status, seconds = respond(server.link, write_body(published_for_real, answers))
            assert status == 201
            assert seconds < serving.HEAD  # nobody waits until the others' time is over
    assert len(server.output()) < 4_000
    server.process.terminate()
    assert server.process.wait(30) == 0


@pytest.fixture
def running(published, client, monkeypatch):
    """A server whose patience is short."""
    monkeypatch.setattr(serving, "HEAD", 0.5)
    monkeypatch.setattr(serving, "REQUEST", 1.0)
    with background(create_app([published], client=client)) as link:
        yield f"{link}/s/kinds"


def test_a_head_that_does_not_arrive_ends_its_connection(running):
    began = time.monotonic()
    with opened(running, HALF, 3) as found:
        assert all(map(closed, found))
    assert 0.3 < time.monotonic() - began < 5


def test_a_head_that_drips_ends_its_connection_too(running):
    with opened(running, HALF, 1) as [dripping], contextlib.suppress(ConnectionError):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            dripping.sendall(b"x")
            time.sleep(0.05)
        pytest.fail("it went on")


def test_the_second_head_of_a_connection_has_its_time_too(running):
    with opened(running, b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n", 1) as [again]:
        assert b"200" in again.recv(65_536)
        again.sendall(HALF)
        assert closed(again)


def test_a_body_that_does_not_arrive_ends_its_connection(running):
    with opened(running, HEAD + b"content-length: 900\r\n\r\nx", 1) as [slow]:
        assert closed(slow)


@pytest.mark.parametrize("announced", [b"content-length: 3000000000", b"transfer-encoding: chunked"])
def test_after_too_large_a_body_the_connection_is_closed(serve, tmp_path, announced):
    """Of three gigabytes that are sent on and on, a few megabytes are taken, those that lie in buffers."""
    server = serve(f"sqlite:///{tmp_path}/answers.db")
    part = bytes(65_536) if announced.startswith(b"content") else b"10000\r\n" + bytes(65_536) + b"\r\n"
    taken = 0
    with opened(server.link, HEAD + announced + b"\r\n\r\n", 1) as [sending], contextlib.suppress(ConnectionError):
        while taken < 200_000_000:
            sending.sendall(part)
            taken += len(part)
    assert taken < 20_000_000


def test_those_who_never_read_what_they_asked_for_keep_nobody_out(published, client, monkeypatch, until):
    """Each asks for the survey again and again and takes none of it: the server waits in the midst of an answer."""
    made, accept = [], serving.Connection.connection_made

    def watched(self, transport):
        made.append(self)
        accept(self, transport)

    monkeypatch.setattr(serving, "MOST", 5)
    monkeypatch.setattr(serving.Connection, "connection_made", watched)
    with background(create_app([published], client=client)) as link, contextlib.ExitStack() as stack:
        address = urlsplit(link)
        for _ in range(5):
            slow = stack.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            slow.settimeout(20)
            slow.connect((address.hostname, address.port))
            slow.sendall(b"GET /s/kinds/survey.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 400)
        until(lambda: [each.flow.write_paused and not each.cycle.response_complete for each in made] == [True] * 5)
        with urllib.request.urlopen(f"{link}/s/kinds", timeout=20) as page:
            assert page.status == 200
        assert sum(each in each.connections for each in made[:5]) == 4  # the one that had waited longest was dropped


def test_the_answer_to_too_large_a_body_is_seen(running):
    with opened(running, HEAD + b"content-length: 200000\r\n\r\n" + bytes(200_000), 1) as [sending]:
        answer = b""
        while not answer.endswith(b"}}"):
            answer += sending.recv(65_536) or pytest.fail("it was closed before its answer")
    head, _, told = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413")
    assert json.loads(told)["error"]["code"] == "too_large"


def test_a_line_that_is_logged_again_and_again_is_counted():
    now = [0.0]
    throttle = Throttle(most=2, clock=lambda: now[0])

    def logged(line):
        record = logging.makeLogRecord(
            {"msg": "no room for %d", "args": (line,), "pathname": "a.py", "lineno": line % 2}
        )
        return throttle.filter(record), record.getMessage()

    assert [logged(1)[0] for _ in range(1_000)] == [True, True] + [False] * 998
    assert logged(2) == (True, "no room for 2")
    now[0] = 61.0
    assert logged(1) == (True, "no room for 1 (and 998 times more since, not written)")


@pytest.mark.parametrize(("soft", "hard", "connections"), [(256, 1_100, 500), (300, 300, 100), (20, 20, 1)])
def test_as_many_connections_are_held_as_there_are_files(soft, hard, connections):
    """As many more may be accepted before one is dropped, and the database and the log need some."""
    told = "print(serving.room(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    asked = f"import resource; from naysay.collect import serving; {told}"
    command = ["prlimit", f"--nofile={soft}:{hard}", sys.executable, "-c", asked]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(connections), str(hard), str(hard)]


def test_a_trusted_proxy_is_not_told_of(serve, tmp_path, published_for_real, answers, write_body):
    server = serve(f"sqlite:///{tmp_path}/answers.db")
    content = write_body(published_for_real, answers)
    headers = {"content-type": "application/json", "x-forwarded-for": "203.0.113.9"}
    urllib.request.urlopen(urllib.request.Request(f"{server.link}/answers", content, headers)).close()
    assert "a proxy that is not trusted" not in server.output()
