"""The application: what it serves, how it refuses, and what every response tells the browser."""

import asyncio
import base64
import gzip
import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import brotli
import pytest
from starlette.requests import ClientDisconnect

from naysay.collect import Client, Published
from naysay.collect.app import create_app
from naysay.collect.results import sharing
from naysay.collect.server import guard
from naysay.collect.server.guard import ASSETS, DATA, SECURITY, Guard, Rates
from naysay.collect.survey.submission import STATUS

JSON = {"content-type": "application/json"}


@pytest.fixture
def preview(run, published, whole_client):
    """An application without a database."""
    return run([published], client=whole_client)


def test_the_page_is_the_same_for_everybody(preview, published):
    client = published.client
    plain = preview.get("/s/kinds")
    other = preview.get("/s/kinds?token=1", user_agent="x", cookie="a=b", accept_language="de", referer="http://y/")
    assert plain.content == other.content
    assert plain.headers["etag"] == other.headers["etag"]
    assert plain.headers["content-type"] == "text/html; charset=utf-8"
    assert f'src="/client/{client.hash}/survey.js"'.encode() in plain.content
    assert b"{{" not in plain.content


def test_the_policy_allows_what_is_published_and_nothing_else(preview, published):
    client = published.client
    page = preview.get("/s/kinds")
    (found,) = re.findall(rb'<script type="importmap">(.*?)</script>', page.content)
    digest = base64.b64encode(hashlib.sha256(found).digest()).decode()
    policy = dict(each.split(" ", 1) for each in page.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": f"'self' 'sha256-{digest}'",
        **dict.fromkeys(("style-src", "img-src", "connect-src"), "'self'"),
        **dict.fromkeys(("form-action", "base-uri", "frame-ancestors", "trusted-types"), "'none'"),
        "require-trusted-types-for": "'script'",
    }
    assert "unsafe" not in page.headers["content-security-policy"]
    modules = json.loads(found)["integrity"]
    assert modules == {
        f"/client/{client.hash}/{name}": digest
        for name, digest in client.integrity.items()
        if name.endswith(".js") and name != "survey.js"  # which stands in the page itself
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/s/kinds"),
        ("GET", "/health"),
        ("GET", "/"),
        ("GET", "/threats"),
        ("GET", "/nothing"),
        ("PUT", "/s/kinds"),
        ("POST", "/s/kinds/answers"),
        ("GET", "/openapi.json"),
        ("HEAD", "/s/kinds"),
        ("OPTIONS", "/s/kinds/answers"),
    ],
)
def test_every_response_has_every_security_header(preview, method, path):
    found = preview.ask(method, path).headers
    assert set(SECURITY) <= set(found)
    for name in set(SECURITY) - {"cache-control", "content-security-policy"}:
        assert found[name] == SECURITY[name]
    assert "set-cookie" not in found
    assert "access-control-allow-origin" not in found


def test_the_headers_are_those_that_the_issue_lists():
    assert SECURITY["referrer-policy"] == "no-referrer"
    assert SECURITY["integrity-policy"] == "blocked-destinations=(script)"
    opener, embedder, resource = (
        SECURITY[f"cross-origin-{each}-policy"] for each in ("opener", "embedder", "resource")
    )
    assert (opener, embedder, resource) == ("same-origin", "require-corp", "same-origin")
    for feature in ("geolocation", "camera", "microphone", "usb", "browsing-topics"):
        assert f"{feature}=()" in SECURITY["permissions-policy"]


def test_files_of_the_client_do_nothing_but_be_loaded(preview, client):
    found = preview.get(f"/client/{client.hash}/{next(name for name in client.files if name.endswith('.js'))}")
    assert {name: found.headers[name] for name in ASSETS} == ASSETS
    assert sum(len(name) + len(value) + 4 for name, value in found.headers.items()) < 500
    assert set(SECURITY) <= set(preview.get(f"/client/{client.hash}/nothing.js").headers)


def test_the_survey_is_served_byte_for_byte(preview, published):
    found = preview.get("/s/kinds/survey.json")
    assert found.content == published.bytes
    assert hashlib.sha256(found.content).hexdigest() == published.hash
    assert found.headers["content-type"] == "application/json"
    assert all(found.headers[name] == value for name, value in DATA.items() if name != "cache-control")
    assert set(SECURITY) <= set(preview.get("/s/nothing/survey.json").headers)


def test_documents_are_compressed_and_known_again(preview, published):
    for accepted, encoding, read in (
        ("br;q=1, gzip;q=0.5", "br", brotli.decompress),
        ("gzip", "gzip", gzip.decompress),
    ):
        small = preview.get("/s/kinds/survey.json", accept_encoding=accepted)
        assert small.headers["content-encoding"] == encoding
        assert read(small.content) == published.bytes
    again = preview.get("/s/kinds/survey.json", if_none_match=f'"x", {small.headers["etag"]}')
    assert (again.status, again.content) == (304, b"")
    assert set(DATA) <= set(again.headers)


def test_a_browser_that_refuses_an_encoding_does_not_get_it(preview):
    for accepted in ("gzip;q=0, br;q=0.0", "zstd"):
        assert "content-encoding" not in preview.get("/s/kinds/survey.json", accept_encoding=accepted).headers
    one = preview.get("/s/kinds/survey.json", accept_encoding="br;q=0, gzip")
    assert one.headers["content-encoding"] == "gzip"


def test_client_files_never_change_under_their_hash(preview, client):
    found = preview.get(f"/client/{client.hash}/words/en.js")
    assert found.content == client.files["words/en.js"]
    assert found.headers["cache-control"] == "max-age=31536000, immutable"
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"
    assert preview.get(f"/client/{client.hash}/style.css").headers["content-type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "words/../../app.py",
        "words\\en.js",
        "survey.html",
        "threats.en.html",
        "",
        "survey.js/",
        "survey.js\x00",
    ],
)
def test_no_path_leads_out_of_the_client(preview, client, path):
    found = preview.get(f"/client/{client.hash}/{path}")
    assert (found.status, found.code) == (404, "unknown")


def test_a_client_is_read_from_a_folder_once(tmp_path, questionnaire, run):
    (tmp_path / "words").mkdir()
    (tmp_path / "survey.html").write_text("<!doctype html>{{survey}}")
    (tmp_path / "words" / "en.js").write_text("1")
    (tmp_path / "secret.txt").write_text("no part of a client")
    found = Client.of(tmp_path)
    assert set(found.files) == {"survey.html", "words/en.js"}
    running = run([questionnaire], client=tmp_path)
    (tmp_path / "words" / "en.js").write_text("2")
    assert running.get(f"/client/{found.hash}/words/en.js").content == b"1"
    with pytest.raises(ValueError, match=r"a client is a folder with survey\.html"):
        Client.of(tmp_path / "words")


def test_threats_are_told_in_every_language(preview):
    assert b"Gefahren" in preview.get("/threats?lang=de").content
    assert b"Threats" in preview.get("/threats").content
    assert b"Threats" in preview.get("/threats?lang=xx").content


def test_the_root_says_what_runs_here_and_lists_nothing(preview):
    found = preview.get("/")
    assert (found.status, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"open the link that you were sent" in found.content
    for told in (b"kinds", b"Kinds", b"{{", b"<script"):
        assert told not in found.content
    for link in re.findall(r'href="(/[^"]*)"', found.content.decode()):
        assert preview.get(link).status == 200 or link.endswith(".svg")


def test_what_is_not_there(preview):
    for path in ("/s/none", "/s/none/survey.json", "/nothing", "/client/0/survey.js", "/s/", "/docs", "/redoc"):
        found = preview.get(path)
        assert (found.status, found.code) == (404, "unknown"), path
    assert preview.post(b"", name="none").code == "unknown"


def test_a_mistyped_link_shows_a_browser_a_page_to_read(preview):
    found = preview.get("/s/none", accept="text/html,*/*")
    assert (found.status, found.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"open the link that you were sent" in found.content
    assert b"none" not in found.content


@pytest.mark.parametrize(("method", "path"), [("PUT", "/health"), ("GET", "/s/kinds/answers"), ("POST", "/s/kinds")])
def test_methods_that_an_address_does_not_take(preview, method, path):
    found = preview.ask(method, path)
    assert (found.status, found.code) == (405, "wrong_method")
    assert found.headers["allow"]


def test_head_is_get_without_the_content(preview):
    full, head = preview.get("/s/kinds"), preview.ask("HEAD", "/s/kinds")
    assert (head.status, head.content, head.headers) == (200, b"", full.headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_answers_are_json_or_nothing(preview, published, answers, write_body, headers):
    found = preview.post(write_body(published, answers), headers=headers)
    assert (found.status, found.code) == (415, "wrong_type")


def test_json_may_say_that_it_is_utf_8(preview, published, answers, write_body):
    for kind in ("application/json; charset=utf-8", "Application/JSON;charset=UTF-8"):
        assert preview.post(write_body(published, answers), headers={"content-type": kind}).status == 201


def test_too_large_bodies_are_not_read_to_their_end(preview, published):
    announced = preview.post(b"x", headers={**JSON, "content-length": str(10**30)})
    assert (announced.status, announced.code) == (413, "too_large")
    assert announced.json["error"]["message"].endswith("exactly 1,024 bytes")
    parts = [b"x" * 512 for _ in range(1_000)]
    streamed = preview.post(parts)
    assert streamed.code == "too_large"


def test_a_zip_bomb_is_not_opened(preview):
    bomb = gzip.compress(bytes(50_000_000), 9)
    found = preview.post(bomb, headers={**JSON, "content-encoding": "gzip"})
    assert (found.status, found.code) == (415, "wrong_type")
    assert preview.post(bomb).code == "too_large"


async def slow():
    """A body that does not come."""
    yield b"x"
    await asyncio.sleep(60)


def run_apart(work):
    """Run a coroutine in a thread of its own: the browser's driver keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def test_slow_bodies_end(monkeypatch):
    monkeypatch.setattr(guard, "_PATIENCE", 0.05)
    with pytest.raises(Exception, match="must arrive within") as refused:
        run_apart(guard.body_of(slow(), announced=None, most=10))
    assert refused.value.status == 408


def test_a_preview_stores_nothing_and_says_so(preview, published, answers, write_body):
    found = preview.post(write_body(published, answers))
    assert found.status == 201
    assert found.json["stored"] is False
    assert preview.post(write_body(published, {**answers, "age": 3})).code == "malformed"


def test_rates_are_limited_by_address_and_in_all(run, questionnaire, client, published, answers, write_body):
    running = run([published], client=client, each=3, everybody=5)
    content = write_body(published, answers)
    told = [running.post(content, address="192.0.2.1").status for _ in range(4)]
    assert told == [201, 201, 201, 429]
    found = running.post(content, address="192.0.2.1")
    assert (found.code, 0 < int(found.headers["retry-after"]) <= 60) == ("busy", True)
    assert [running.post(content, address=f"198.51.100.{host}").status for host in range(3)] == [201, 201, 429]
    assert running.get("/s/kinds").status == 200


def test_pages_of_results_are_limited_too_for_right_links_and_wrong_ones(run, published, store, client):
    store.open(published)
    link = sharing.share(store, "kinds")
    running = run([], store, client=client, each=3)
    assert [running.get(path).status for path in (link, "/results/wrong", link, link)] == [200, 404, 200, 429]
    assert running.get(link).code == "busy"


def test_a_proxy_that_is_not_trusted_is_told_of_once(preview, published, answers, write_body, caplog):
    for _ in range(3):
        content = write_body(published, answers)
        assert preview.post(content, headers={**JSON, "x-forwarded-for": "203.0.113.9"}).status == 201
    assert caplog.text.count("set FORWARDED_ALLOW_IPS to its address") == 1
    assert "203.0.113" not in caplog.text


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_junk_from_one_address_takes_nothing_from_its_neighbors(run, client, published, answers, write_body):
    """Three answers and three refusals a minute: what is junk beyond that is told to wait, and answers are taken."""
    running = run([published], client=client, each=3, everybody=3)
    junk = [running.post(b"{}").code for _ in range(20)] + [running.post(b"{}", name="none").code for _ in range(20)]
    assert junk == ["malformed"] * 3 + ["busy"] * 37
    assert [running.post(write_body(published, answers)).status for _ in range(4)] == [201, 201, 201, 429]
    assert running.post(b"{}", address="192.0.2.2").code == "busy"  # all together have sent enough


def test_rates_begin_again_each_minute_under_another_key():
    clock = Clock()
    rates = Rates(per_address=1, clock=clock)
    assert [rates.wait("192.0.2.1") for _ in range(2)] == [0, 60]
    key = rates._key
    clock.now = 59.5
    assert rates.wait("192.0.2.1") == 1
    clock.now = 60.0
    assert rates.wait("192.0.2.1") == 0
    assert rates._key != key


def test_rates_hold_no_address():
    rates = Rates(per_address=100, all=100)
    for host in range(50):
        rates.wait(f"203.0.113.{host}")
    held = [value for value in vars(rates).values() if isinstance(value, str | dict | list | set)]
    assert held == []
    assert len(rates._taken) == guard.SLOTS


def test_one_network_of_ipv6_is_one_sender():
    rates = Rates(per_address=1)
    assert rates.wait("2001:db8::1") == 0
    assert rates.wait("2001:db8::2") > 0
    assert rates.wait("2001:db8:0:1::1") == 0
    assert rates.wait("::ffff:192.0.2.7") == 0
    assert rates.wait("192.0.2.7") > 0
    assert rates.wait("a-socket") == 0


def test_no_limit_is_no_limit():
    rates = Rates()
    assert not any(rates.wait("192.0.2.1") for _ in range(1_000))


def test_every_refusal_is_described(preview):
    told = preview.get("/openapi.json").json
    responses = told["paths"]["/s/{name}/answers"]["post"]["responses"]
    codes = [
        code
        for response in responses.values()
        for schema in [response["content"]["application/json"]["schema"]]
        for code in schema["properties"].get("error", {"properties": {"code": {"enum": []}}})["properties"]["code"][
            "enum"
        ]
    ]
    assert set(codes) == set(STATUS) - {"wrong_method", "used", "unauthorized", "forbidden"}
    assert set(responses) == {*map(str, STATUS.values()), "200", "201"} - {"405", "401"}
    assert set(told["paths"]) == {
        "/",
        "/s/{name}",
        "/s/{name}/survey.json",
        "/s/{name}/answers",
        "/s/{name}/key",
        "/s/{name}/token",
        "/client/{digest}/{file}",
        "/results/{secret}",
        "/results.css",
        "/threats",
        "/health",
    }


def test_an_error_of_ours_tells_nothing(preview, caplog, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("marker7319 of a respondent")

    monkeypatch.setattr(preview.app.state.service.line, "submit", broken)
    monkeypatch.setattr("naysay.collect.survey.submission.Reader.read", lambda *_, **__: broken(None))
    found = preview.post(b"{}")
    assert (found.status, found.code) == (500, "internal")
    assert set(SECURITY) <= set(found.headers)
    assert "ZeroDivisionError at test_app.py:" in caplog.text
    assert "marker7319" not in caplog.text
    assert "marker7319" not in found.content.decode()


def test_an_error_after_the_beginning_does_not_begin_again(caplog):
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    sent = []

    async def send(message):
        sent.append(message["type"])

    run_apart(Guard(broken)({"type": "http", "method": "GET", "path": "/"}, None, send))
    assert sent == ["http.response.start"]
    assert "ZeroDivisionError" in caplog.text


def test_who_goes_away_leaves_no_line_in_the_log(caplog):
    """It would be a line for each, with its time, and anybody could fill the log."""

    async def gone(scope, receive, send):
        raise ClientDisconnect

    run_apart(Guard(gone)({"type": "http", "method": "POST", "path": "/"}, None, None))
    assert caplog.text == ""


def test_requests_are_not_told_to_any_telemetry(preview, published, answers, write_body, monkeypatch):
    """FastAPI traces by itself as soon as the process has a provider; here it has one, and it is not asked."""
    from opentelemetry import trace

    asked = []

    class Provider(trace.TracerProvider):
        def get_tracer(self, *arguments, **named):
            asked.append(arguments)
            return trace.NoOpTracer()

    monkeypatch.setattr(trace, "get_tracer_provider", Provider)
    assert preview.post(write_body(published, answers)).status == 201
    assert preview.app._native_telemetry.enabled() is False
    assert asked == []


def test_telemetry_would_be_asked_if_it_were_not_turned_off(monkeypatch):
    from fastapi import FastAPI
    from opentelemetry import trace

    monkeypatch.setattr(trace, "get_tracer_provider", type("Provider", (), {}))
    assert FastAPI()._native_telemetry.enabled() is True


def test_without_a_page_there_is_nothing_on_threats(run, questionnaire):
    running = run([questionnaire], client=Client({"survey.html": b"<!doctype html>"}))
    assert running.get("/threats").code == "unknown"


def test_a_survey_that_was_published_is_served_as_it_is(published, client):
    app = create_app([published], client=client)
    assert app.state.service.catalog.surveys["kinds"].published is published


def test_a_preview_has_a_hash_of_its_own(questionnaire, client):
    survey, shown = (Published.of(questionnaire, client=client, preview=each) for each in (False, True))
    assert shown.form == survey.form | {"preview": True}
    assert shown.hash != survey.hash
