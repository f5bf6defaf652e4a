"""What a request carries beside the answers is recognizable here; afterwards it is looked for everywhere."""

import http.client
import json
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from databases import PostgreSQL

from naysay.collect.storage import Store

CANARIES = {
    "x-forwarded-for": "203.0.113.77",
    "x-real-ip": "203.0.113.78",
    "forwarded": "for=203.0.113.79",
    "user-agent": "canary-agent-5541",
    "referer": "https://canary-referrer-5542.example/",
    "accept-language": "tlh-canary-5543",
    "cookie": "session=canary-cookie-5544",
    "authorization": "Bearer canary-bearer-5545",
    "origin": "https://canary-origin-5546.example",
    "sec-ch-ua-platform": '"canary-platform-5547"',
}
TOKEN = "canary-token-5548"
REFUSED = "canary-refused-5549"
ACCEPTED = "canary-kept-5550"
MARKS = (*[value.split("=")[-1].removeprefix("Bearer ").strip('"') for value in CANARIES.values()], TOKEN, REFUSED)


def send(server, method, path, content=None, **headers):
    connection = http.client.HTTPConnection(urlsplit(server.link).netloc, timeout=20)
    connection.request(method, path, content, {**CANARIES, **headers})
    answer = connection.getresponse()
    told = answer.status, answer.read(), str(answer.headers)
    connection.close()
    return told


def holders(places, marks):
    """Each mark, and the name of a file that holds it; read again if PostgreSQL moves a log on meanwhile."""
    for _ in range(20):
        files = [path for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
        try:
            held = ((path.name, path.read_bytes()) for path in files if path.is_file())
            return {(mark, name) for name, content in held for mark in marks if mark.encode() in content}
        except FileNotFoundError:
            continue
    raise AssertionError("the files of the database do not keep still")


@pytest.fixture
def empty_postgresql():
    """A database and the places of a server that has no other: all files of the server are read."""
    server = PostgreSQL()
    yield server.url(server.new_database()), [server.data, server.log]
    server.stop("immediate")
    shutil.rmtree(server.folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request, tmp_path):
    """A database, and all places on disk in which it leaves something."""
    (tmp_path / "data").mkdir()
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/a.db", [tmp_path / "data"]
    return request.getfixturevalue("empty_postgresql")


def test_nothing_of_a_request_is_left_but_the_answers(kept, serve, published_for_real, answers, write_body):
    url, places = kept
    server = serve(url)
    json_type = {"content-type": "application/json"}
    path = urlsplit(server.link).path
    good = write_body(published_for_real, {**answers, "other": ACCEPTED})
    bad = write_body(published_for_real, {**answers, "area": REFUSED})
    told = [
        send(server, "GET", f"{path}?token={TOKEN}"),
        send(server, "GET", f"/{TOKEN}"),
        send(server, "GET", f"/client/{TOKEN}/{TOKEN}.js"),
        send(server, "GET", f"/threats?lang={TOKEN}"),
        send(server, TOKEN.replace("-", ""), path),
        send(server, "POST", f"{path}/answers?token={TOKEN}", good, **json_type),
        send(server, "POST", f"{path}/answers", good, **json_type),
        send(server, "POST", f"{path}/answers", good.replace(b"canary-kept", b"canary-lost"), **json_type),
        send(server, "POST", f"{path}/answers", bad, **json_type),
        send(server, "POST", f"{path}/answers", bad * 3, **json_type),
        send(server, "POST", f"{path}/answers", REFUSED.encode(), **json_type),
        send(server, "POST", f"{path}/answers", bad, **{"content-type": REFUSED}),
    ]
    assert [status for status, _, _ in told] == [200, 404, 404, 200, 405, 201, 200, 409, 422, 413, 422, 415]
    seen_running = holders(places, MARKS)
    server.process.terminate()
    assert server.process.wait(20) == 0
    assert (seen_running, holders(places, MARKS)) == (set(), set())
    assert [mark for mark in (*MARKS, ACCEPTED) if mark in server.output()] == []
    answered = b"".join(content + headers.encode() for _, content, headers in told).decode()
    assert [mark for mark in (*MARKS, ACCEPTED) if mark in answered] == []
    store = Store(url)
    ((_, stored),) = store.replies("kinds").rows
    assert json.loads(stored)["other"] == ACCEPTED
    store.dispose()


def test_a_canary_would_be_found(tmp_path):
    (tmp_path / "a").write_text(f"x{TOKEN}x")
    assert holders([Path(tmp_path)], MARKS) == {(TOKEN, "a")}


def test_errors_of_the_database_repeat_no_answer(run, store, published, client, answers, write_body, caplog, capfd):
    """The database fails on a statement that carries an answer, and its error says so to nobody."""
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE reply")
        connection.exec_driver_sql("CREATE TABLE reply (survey TEXT, id TEXT, day DATE, answers INTEGER CHECK (1 > 2))")
    running = run([published], store, client=client)
    found = running.post(write_body(published, {**answers, "other": REFUSED}))
    assert found.status == 503
    running.stop()
    assert "the database failed while storing" in caplog.text
    assert REFUSED not in caplog.text + "".join(capfd.readouterr()) + found.content.decode()
