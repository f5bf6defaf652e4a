"""The pages that walk through the code list the files that the code enters, and no other."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def page(name, heading=""):
    """The text of a page, or of its part below a heading."""
    text = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    return text.partition(f"\n{heading}\n")[2].partition("\n## ")[0] if heading else text


def listed(text):
    return set(re.findall(r"`([\w/]+\.py)`", text))


WALKS = {
    "printed": ("walk_answer.md", "", ""),
    "file": ("walk_file.md", "", ""),
    "reply": ("walk_reply.md", "## On the server", ""),
    "counted": ("walk_reply.md", "## To an estimate", "walk_answer.md"),
}


def test_a_walk_lists_the_files_that_its_trip_enters():
    """All in one process. ``before`` is a page on which a trip goes on: what it lists need not stand here again."""
    command = [sys.executable, str(ROOT / "benchmarks/_walks.py"), *WALKS]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for trip, files in json.loads(run.stdout).items():
        name, heading, before = WALKS[trip]
        on_page, on_trip = listed(page(name, heading)), set(files)
        assert len(on_page) > 10
        assert sorted(on_page - on_trip) == [], f"{trip}: never entered"
        assert sorted(on_trip - on_page - (listed(page(before)) if before else set())) == [], f"{trip}: not listed"
