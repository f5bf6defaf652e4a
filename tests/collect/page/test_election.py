"""An election as its page tells it: scripted phones, and a count that anybody can repeat without naysay."""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from browsing import Respondent, serve

from naysay.cli import main
from naysay.collect.questionnaire import load

PAGE = (Path(__file__).parents[3] / "docs/how-to/elections.md").read_text(encoding="utf-8")
VOTES = ["Ada"] * 120 + ["Ben"] * 70 + ["Cleo"] * 40 + ["Dan"] * 10


SURVEY = re.sub("^    ", "", re.search(r"^    \{\"naysay.*?^$", PAGE, re.M | re.S)[0], flags=re.M)
[COUNT] = [text for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S) if "import csv" in text]


@pytest.mark.slow
def test_anybody_counts_from_the_stored_rows_what_naysay_finds(browser, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("election.json").write_text(SURVEY, encoding="utf-8")
    Path("count.py").write_text(COUNT, encoding="utf-8")
    assert len([line for line in Path("count.py").read_text().splitlines() if line]) <= 10
    form = load("election.json")
    with serve([form], tmp_path) as served:
        for vote in ("Ada", "Ben", "Cleo", "Dan"):  # four by hand, on phones
            context = browser.new_context(locale="en-US", viewport={"width": 390, "height": 800})
            context.set_default_timeout(30_000)
            voter = Respondent(context.new_page(), served.page("election"))
            voter.start().at("vote").get_by_label(vote).check()  # in an order that is drawn anew
            voter.move().confirm()
            [body] = voter.bodies()
            assert json.loads(body)["answers"]["vote"]["response"] != vote
            assert voter.problems == []
            context.close()
        pl.DataFrame({"vote": VOTES}).write_csv("people.csv")
        assert main(["respond", served.page("election"), "people.csv"]) == 0
    database = f"sqlite:///{tmp_path}/answers.sqlite"
    assert main(["survey", "export", "election", "--to", "answers.csv", "--db", database]) == 0
    capsys.readouterr()
    words = ["estimate", "answers.csv", "--response", "vote", "--estimator", "moments", "--ranks", "--format", "json"]
    assert main(words) == 0
    numbers = json.loads(capsys.readouterr().out)
    counted = subprocess.run(
        [sys.executable, "-I", "-S", "count.py"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in counted.splitlines()]
    assert [row[0] for row in rows] == numbers["categories"]
    assert [float(row[1]) for row in rows] == pytest.approx(numbers["proportions"], abs=1e-12)
    assert [float(row[2]) for row in rows] == pytest.approx(numbers["standard_errors"], abs=1e-12)
    assert numbers["n"] == len(VOTES) + 4
    assert max(rows, key=lambda row: float(row[1]))[0] in numbers["ranks"]["leaders"]
