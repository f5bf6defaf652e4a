"""What a seized device tells after everything was sent and deleted: its files are searched, deleted parts included."""

import json
import re
import shutil
import time

import pytest
from browsing import ANSWERS, ARGUMENTS, Respondent, privates, remembered, serve, unsealed
from residue import contents, found

from naysay.collect.client import FOLDER
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.server.keys import Keys

DELETE = "Delete it from this device"
BOX = re.compile(rb'"box":(\{"point":"[0-9a-f]+","iv":"[0-9a-f]+","sealed":"[0-9a-f]+"\})')
TRUTHS = {**ANSWERS, "rent": 98_765_431, "debt": "3,14159265358"}
TYPED = ("98765431", "3,14159265358", "3.14159265358")


@pytest.fixture
def device(browser, tmp_path):
    """Starts a browser on one profile, again and again; gives somebody before a survey."""
    contexts = []

    def start(address):
        while contexts:
            contexts.pop().close()
        launched = browser.browser_type.launch_persistent_context(
            tmp_path / "profile", executable_path=shutil.which("chromium"), args=ARGUMENTS, locale="en-US"
        )
        launched.set_default_timeout(10_000)
        contexts.append(launched)
        return Respondent(launched.pages[0] if launched.pages else launched.new_page(), address)

    yield start
    while contexts:
        contexts.pop().close()


def answered_and_deleted(device, server, profile):
    """Answers, sends, deletes and starts the browser twice; gives what must not be found.

    The browser is ended after each of these, too, since that is when it writes: what it has not written yet by the
    time it is deleted is in no file anyway.
    """
    address = server.page("private")
    drawn = device(address).start().through(TRUTHS)
    respondent = device(address).start()
    assert respondent.through(TRUTHS) == drawn
    _, before = remembered(respondent, server.keys)
    body = respondent.shown()
    respondent.confirm()
    respondent = device(address).open()
    assert body in respondent.page.locator("#receipt").text_content()
    respondent.page.get_by_role("button", name=DELETE).click()
    respondent.page.get_by_text("The receipt is gone").wait_for()
    for _ in range(2):
        respondent = device(address).open()
        assert respondent.page.get_by_text("The receipt is gone").count() == 1
    device("about:blank").page.context.close()
    tables = [json.dumps(table, separators=(",", ":")) for table in before["tables"].values()]
    sent = json.loads(body)
    answers = [json.dumps(answer, separators=(",", ":")) for answer in sent["answers"].values()]
    assert before["surveys"]["/private"]["id"] == sent["id"]
    return (*tables, *answers, *TYPED, sent["id"], body)


@pytest.fixture
def later():
    """By how many seconds the clock of the server is ahead."""
    return [0]


@pytest.fixture
def served_alone(tmp_path, later):
    with serve([privates()], tmp_path, keys=Keys(clock=lambda: time.time() + later[0])) as server:
        yield server


def test_nothing_readable_is_left_on_the_device(device, served_alone, later, tmp_path):
    texts = answered_and_deleted(device, served_alone, tmp_path / "profile")
    assert found(tmp_path / "profile", texts) == set()
    boxes = [json.loads(box) for _, raw in contents(tmp_path / "profile") for box in BOX.findall(raw)]
    assert any(unsealed(box, served_alone.keys)["tables"] for box in boxes)  # today, if the server helps
    later[0] = 26 * 3600
    assert not any(unsealed(box, served_alone.keys) for box in boxes)


NICKNAME = "Zyzzogeton"


def test_a_plain_answer_that_a_later_label_repeats_is_left_in_no_title(device, tmp_path):
    """The browser writes the title of each page into its history and its list of tabs."""
    asked = [
        {"kind": "text", "name": "nickname", "label": {"en": "How may we call you?"}, "max_length": 20},
        {"kind": "text", "name": "pet", "label": {"en": "And your pet, ${nickname}?"}, "max_length": 20},
    ]
    form = {"naysay": "questionnaire", "version": 1, "name": "names", "title": {"en": "Names"}, "languages": ["en"]}
    with serve([Questionnaire.model_validate({**form, "items": asked})], tmp_path) as server:
        respondent = device(server.page("names")).start()
        respondent.page.locator("#q-nickname .inputs input").fill(NICKNAME)
        respondent.move()
        respondent.page.get_by_text(f"And your pet, {NICKNAME}?").first.wait_for()
        assert NICKNAME not in respondent.page.title()
        respondent.move()
        device("about:blank").page.context.close()
    files = {name for _, name in found(tmp_path / "profile", [NICKNAME])}
    of_the_tab = re.compile(r"\d+\.(log|ldb)")  # where plain answers wait until they are sent
    assert {name for name in files if not of_the_tab.fullmatch(name)} == set()


def test_what_is_written_in_clear_is_found(device, tmp_path):
    """The same search, on a page that writes beside the box what is in it."""
    folder = tmp_path / "client"
    shutil.copytree(FOLDER, folder)
    module = folder / "sealing.js"
    code = module.read_text(encoding="utf-8")
    sealed = "sealed: hex(sealed) };"
    assert code.count(sealed) == 1
    module.write_text(code.replace(sealed, f"clear: state, {sealed}"), encoding="utf-8")
    with serve([privates()], tmp_path, client=folder) as server:
        texts = answered_and_deleted(device, server, tmp_path / "profile")
    kept = {text for text, _ in found(tmp_path / "profile", texts)}
    assert set(texts) - kept <= set(TYPED)
