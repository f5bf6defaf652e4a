"""What happens when the worst happens: killed, full, down. Nothing acknowledged is lost, and a retry succeeds."""

import contextlib
import http.client
import json
import signal
import sqlite3
import threading
import time
from urllib.parse import urlsplit

import pytest
from sqlalchemy import event, text

from naysay.collect.storage import Reply, Store, tables, today

JSON = {"content-type": "application/json"}


def stored_ids(url):
    store = Store(url)
    with store.engine.connect() as connection:
        found = {row[0] for row in connection.execute(text("SELECT id FROM reply"))}
    store.dispose()
    return found


class Load:
    """Respondents who send one submission after another, each in a thread, until the server is gone."""

    def __init__(self, link, bodies, threads=8):
        self.address = urlsplit(link)
        self.acknowledged, self.statuses, self.pending = set(), [], []
        self._lines = [iter(bodies[place::threads]) for place in range(threads)]
        self._threads = [threading.Thread(target=self._respond, args=(line,)) for line in self._lines]
        for thread in self._threads:
            thread.start()

    def _respond(self, line):
        with contextlib.closing(http.client.HTTPConnection(self.address.netloc, timeout=20)) as connection:
            for content in line:
                try:
                    self._send(connection, content)
                except (OSError, http.client.HTTPException, ValueError):
                    self.pending.append(content)
                    return

    def _send(self, connection, content):
        connection.request("POST", f"{self.address.path}/answers", content, JSON)
        with connection.getresponse() as answer:
            told = json.loads(answer.read())
        self.statuses.append(answer.status)
        if answer.status in (200, 201) and told["stored"]:
            self.acknowledged.add(json.loads(content)["id"])

    def join(self):
        for thread in self._threads:
            thread.join()


@pytest.fixture
def crowd(published_for_real, answers, write_body):
    """3,000 submissions with ids of their own."""
    return [write_body(published_for_real, answers) for _ in range(3_000)]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_acknowledged_answer_is_lost_when_the_server_ends_in_mid_load(how, serve, url, crowd, until):
    server = serve(url)
    load = Load(server.link, crowd)
    until(lambda: len(load.acknowledged) >= 150)
    server.process.send_signal(how)
    load.join()
    code = server.process.wait(30)
    assert 150 <= len(load.acknowledged) < len(crowd)
    assert set(load.statuses) <= {200, 201, 503}
    assert load.acknowledged <= stored_ids(url)
    assert code == (0 if how is signal.SIGTERM else -signal.SIGKILL)

    again = serve(url)
    retried = Load(again.link, load.pending)
    retried.join()
    assert set(retried.statuses) <= {200, 201}
    assert {json.loads(content)["id"] for content in load.pending} <= retried.acknowledged
    assert load.acknowledged | retried.acknowledged <= stored_ids(url)


def test_a_server_that_is_interrupted_stores_what_it_has_and_says_so_in_a_line(
    serve, url, published_for_real, answers, write_body
):
    server = serve(url)
    sent = Load(server.link, [write_body(published_for_real, answers) for _ in range(20)])
    sent.join()
    server.process.send_signal(signal.SIGINT)
    server.process.wait(30)
    assert sent.acknowledged <= stored_ids(url)
    assert "20 answers stored" in server.output()
    assert "Traceback" not in server.output()


def test_a_full_disk_is_told_and_a_retry_succeeds_sqlite(run, tmp_path, published, client, answers, write_body, caplog):
    store = Store(tmp_path / "a.db")
    limit = {"pages": 60}

    def shrink(connection, _):
        connection.execute(f"PRAGMA max_page_count = {limit['pages']}")

    running = run([published], store, client=client, each=0)
    store.engine.dispose()
    event.listen(store.engine, "connect", shrink)
    check_full(running, store, published, answers, write_body, caplog)
    limit["pages"] = 100_000
    store.engine.dispose()
    check_retry(running, store)
    store.dispose()


def check_full(running, store, published, answers, write_body, caplog):
    """Submissions until one finds no room: it is refused, and those before are there."""
    taken = 0
    for _ in range(2_000):
        content = write_body(published, answers)
        found = running.post(content)
        if found.status != 201:
            break
        taken += 1
    assert (found.status, found.code, found.headers["retry-after"]) == (503, "unavailable", "5")
    assert taken > 0
    assert "the database failed while storing" in caplog.text
    assert answers["other"] not in caplog.text
    running.content, running.taken = content, taken
    assert running.get("/health").status in (200, 503)
    assert json.loads(content)["id"] not in ids_of(store)


def ids_of(store):
    with store.engine.connect() as connection:
        return {row[0] for row in connection.execute(text("SELECT id FROM reply"))}


def check_retry(running, store):
    found = running.post(running.content)
    assert (found.status, found.json["stored"]) == (201, True)
    assert json.loads(running.content)["id"] in ids_of(store)


def test_a_full_disk_is_told_and_a_retry_succeeds_postgresql(
    run, postgresql, published, client, answers, write_body, caplog
):
    """No file of the server's process may grow beyond a size: the kernel refuses to extend the table."""
    name = postgresql.new_database()
    store = Store(postgresql.url(name))
    running = run([published], store, client=client, each=0)
    filling = [
        Reply("kinds", published.hash, f"{number:032x}", json.dumps(answers), today()) for number in range(2_500)
    ]
    store.add(filling)
    with postgresql.connect(name) as connection:
        asked = "SELECT pid, pg_relation_size('reply') FROM pg_stat_activity WHERE datname = current_database() "
        found = connection.execute(asked + "AND pid <> pg_backend_pid()").fetchall()
    assert min(size for _, size in found) > 1_000_000  # the server's log has files of 1 MiB, which must not be refused
    for pid, size in found:
        postgresql.limit_files(pid, max(size, 1 << 20))
    check_full(running, store, published, answers, write_body, caplog)
    for pid, _ in found:
        postgresql.limit_files(pid, "unlimited")
    check_retry(running, store)
    running.stop()
    store.dispose()


def test_a_database_that_is_down_is_told_and_a_retry_succeeds(
    run, postgresql, published, client, answers, write_body, until
):
    store = Store(postgresql.url(postgresql.new_database()))
    running = run([published], store, client=client)
    assert running.post(write_body(published, answers)).status == 201
    content = write_body(published, answers)
    postgresql.stop()
    try:
        found = running.post(content)
        assert (found.status, found.code, found.headers["retry-after"]) == (503, "unavailable", "5")
        until(lambda: running.get("/health").status == 503)
        assert running.get("/s/kinds").status == 200
    finally:
        postgresql.start()
    assert running.post(content).status == 201
    until(lambda: running.get("/health").status == 200)
    assert sum(each.replies for each in store.surveys()) == 2
    running.stop()
    store.dispose()


def test_a_locked_file_is_told_and_a_retry_succeeds(run, tmp_path, published, client, answers, write_body, monkeypatch):
    quick = [each for each in tables._PRAGMAS if "busy" not in each]
    monkeypatch.setattr(tables, "_PRAGMAS", (*quick, "busy_timeout = 50"))
    store = Store(tmp_path / "a.db")
    running = run([published], store, client=client)
    content = write_body(published, answers)
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    found = running.post(content)
    assert (found.status, found.code) == (503, "unavailable")
    other.execute("ROLLBACK")
    other.close()
    assert running.post(content).status == 201
    running.stop()
    store.dispose()


def test_a_server_that_was_killed_settles_when_it_starts_again(serve, postgresql, published_for_real, crowd, until):
    name = postgresql.new_database()
    url = postgresql.url(name)
    server = serve(url)
    load = Load(server.link, crowd[:300])
    until(lambda: len(load.acknowledged) >= 50)
    server.process.kill()
    load.join()
    asked = "SELECT count(DISTINCT xmin::text), array_agg(id ORDER BY ctid) = array_agg(id ORDER BY id) FROM reply"
    with postgresql.connect(name) as connection:
        assert connection.execute(asked).fetchone()[1] is False
        serve(url)
        until(lambda: connection.execute(asked).fetchone() == (1, True))


def test_requests_that_run_at_the_end_are_answered(serve, url, published_for_real, answers, write_body):
    """A body that is half sent when the server is asked to stop is awaited, stored and acknowledged."""
    server = serve(url)
    address = urlsplit(server.link)
    content = write_body(published_for_real, answers)
    with contextlib.closing(http.client.HTTPConnection(address.netloc, timeout=20)) as connection:
        connection.putrequest("POST", f"{address.path}/answers")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", str(len(content)))
        connection.putheader("expect", "100-continue")
        connection.endheaders()
        assert connection.sock.recv(25).startswith(b"HTTP/1.1 100")  # only now the server has begun with the request
        connection.send(content[:100])
        server.process.terminate()
        time.sleep(0.3)
        connection.send(content[100:])
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["stored"]) == (201, True)
    assert server.process.wait(20) == 0
    assert json.loads(content)["id"] in stored_ids(url)
