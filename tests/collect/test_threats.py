"""What docs/reference/attackers.md says: each row names a test that is there; what does not hold is shown."""

import json
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from naysay import designs
from naysay.collect import Client, Published
from naysay.collect.app import create_app
from naysay.collect.client import FOLDER
from naysay.collect.questionnaire import Questionnaire, canonical, load, sample, write_xlsform
from naysay.collect.serving import background
from naysay.collect.storage import Reply, today

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize(
    "page",
    [
        "reference/attackers.md",
        "reference/page_rules.md",
        "explanation/respondent.md",
        "reference/invitation_protocol.md",
    ],
)
def test_every_test_that_the_docs_name_is_there(page):
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (DOCS / page).read_text(encoding="utf-8"))
    assert len(named) >= 2
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), (path, test)


def test_every_row_of_the_threats_names_its_test():
    tables = (DOCS / "reference" / "attackers.md").read_text(encoding="utf-8")
    rows = [line for line in tables.splitlines() if line.startswith("| ")]
    told = [row for row in rows if not row.startswith("| who |")]
    assert len(told) > 12
    assert all("`tests/" in row or row.endswith("| none can be |") for row in told)


@pytest.fixture
def approved(tmp_path):
    """The survey that the board has approved, whose questionnaire it has as a workbook."""
    write_xlsform(sample(), tmp_path / "survey.xlsx")
    return Published.of(load(tmp_path / "survey.xlsx"))


@pytest.fixture
def compared(tmp_path, approved):
    """What the commands of docs/how-to/crime.md print for a survey at a link."""
    commands = re.findall(
        r"^    ((?:naysay verify|curl|python) .*)$", (DOCS / "how-to" / "crime.md").read_text(encoding="utf-8"), re.M
    )
    assert len(commands) == 3

    def run(link):
        script = "\n".join(commands).replace("https://survey.example.org/s/survey", link)
        script = script.replace("python -c", f"{shlex.quote(sys.executable)} -c").replace("HASH", approved.hash)
        script = script.replace("naysay verify", f"{shlex.quote(sys.executable)} -m naysay verify").replace("\n", "; ")
        ran = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        return ran.stdout.splitlines(), ran.stderr

    return run


def test_the_commands_that_compare_hashes_agree(compared, approved):
    with background(create_app([approved])) as server:
        (same, hash, *hashes), errors = compared(f"{server}/s/sample")
    assert "byte for byte" in same
    assert (hash, hashes) == (f"hash: {approved.hash}", [f"{approved.hash}  -", approved.hash])
    assert errors == ""


def test_the_commands_that_compare_hashes_find_a_survey_that_was_changed(compared, approved):
    """Another design, or another line of code for everybody, has another hash."""
    form = approved.questionnaire.form()
    smoking = next(each for item in form["items"] for each in item.get("items", ()) if each["name"] == "smoking")
    smoking["private"]["design"] = json.loads(designs.warner(p=0.99).to_json())
    other = Published.of(Questionnaire.model_validate(form))
    longer = Client({**approved.client.files, "survey.js": approved.client.files["survey.js"] + b"\n"})
    for changed in (other, Published.of(approved.questionnaire, client=longer)):
        assert changed.hash != approved.hash
        with background(create_app([changed])) as server:
            hashes, errors = compared(f"{server}/s/sample")
        assert hashes == [f"{changed.hash}  -", approved.hash]
        assert f"the hash is {changed.hash}, and should be {approved.hash}" in errors


def test_who_counts_requests_sees_who_took_part_and_when(published_for_real, answers, write_body):
    """One line a request, as a proxy's log has it: an address, a moment, and that somebody answered."""
    seen = []
    app = create_app([Published.of(published_for_real.questionnaire)])

    async def counting(scope, receive, send):
        if scope["type"] == "http":
            seen.append((scope["client"][0], time.time(), scope["method"]))
        await app(scope, receive, send)

    with background(counting) as server:
        link = f"{server}/s/kinds"
        urllib.request.urlopen(link).close()
        content = write_body(published_for_real, answers)
        headers = {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{link}/answers", content, headers)).close()
    assert [(address, method) for address, _, method in seen] == [("127.0.0.1", "GET"), ("127.0.0.1", "POST")]


def test_a_receipt_and_a_database_together_tell_what_was_sent_until_the_survey_is_closed(
    store, published, answers, write_body
):
    """The receipt holds the message, and that its number; the number is the key of the row until it is replaced."""
    receipt = json.loads(write_body(published, answers))
    store.open(published)
    store.add([Reply("kinds", published.hash, receipt["id"], canonical(answers).decode(), today())])

    def found():
        with store.engine.connect() as connection:
            asked = text("SELECT answers FROM reply WHERE id = :id")
            return connection.execute(asked, {"id": receipt["id"]}).scalar()

    assert json.loads(found()) == receipt["answers"]
    store.close("kinds")
    assert found() is None


def test_whoever_has_the_seed_undoes_the_randomization():
    coins = designs.warner(p=0.7)
    truth = np.random.default_rng(1).choice(["yes", "no"], 200)
    said = coins.randomize(truth, rng=np.random.default_rng(2016)).texts()
    both = [coins.randomize([each] * 200, rng=np.random.default_rng(2016)).texts() for each in ("yes", "no")]
    guessed = ["yes" if yes == heard else "no" for heard, yes, no in zip(said, *both, strict=True) if yes != no]
    known = [each for each, yes, no in zip(truth, *both, strict=True) if yes != no]
    assert len(known) > 50  # of the others the seed tells nothing: their answer was the same either way
    assert guessed == known


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_the_respondents_page_on_threats_speaks_of_answers_by_the_mark_that_they_bear(language):
    """Questions that are sent as they are bear one mark; no other word for them is left on the page."""
    words = (FOLDER / "words" / f"{language}.js").read_text(encoding="utf-8")
    mark = re.search(r'asked: \{\n +plain: "(.*)"', words)[1]
    page = (FOLDER / f"threats.{language}.html").read_text(encoding="utf-8")
    assert any(f"{before}{mark}{after}" in page for before, after in ("“”", "„“", "«»"))
    assert mark in sample().items[0].label[language]  # so does the sample survey
    assert page.count("<dt>") == 20  # by hand and by invitation, too
    assert not re.search(r"plain answer|offenen? Antwort|respuestas abiertas|الإجابات العادية", page, re.IGNORECASE)


def test_a_database_that_is_served_as_it_is_serves_the_page_that_lies_in_it(store, run, client, questionnaire):
    script = client.files["survey.js"] + b"act_as_the_admin()"
    store.open(Published.of(questionnaire, client=Client({**client.files, "survey.js": script})))
    folder = store.published(questionnaire.name).client.hash
    assert run([], store, client=client, admin=True).get(f"/client/{folder}/survey.js").content == script
