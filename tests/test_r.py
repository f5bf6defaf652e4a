"""The page for users of R: its code runs in R, with the numbers that it names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "r_users.md"
CODE = dict(re.findall(r"^## ([^\n]+)\n(?:(?! {4}|## ).*\n)*((?: {4}.*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE))


def run(folder, *titles):
    """What the blocks under these headings print, run one after the other by one R."""
    code = "\n".join(re.sub(r"^ {4}", "", CODE[title], flags=re.MULTILINE) for title in titles)
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": paths, "RETICULATE_PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        ["Rscript", "--vanilla", "-e", code],
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(autouse=True, scope="module")
def r():
    """R, which the tests do not do without."""
    assert shutil.which("Rscript"), "R is not installed: scripts/browsers installs it, with jsonlite and reticulate"


def test_the_example_of_the_blog_gives_its_number_and_its_error(tmp_path):
    numbers = [float(word) for word in run(tmp_path, "Two coins, in R").split()]
    assert numbers == pytest.approx([0.14, 0.0661, 0.0184, 0.2752, 1.0986], abs=1e-4)


def test_reticulate_gives_the_same_as_the_formula(tmp_path):
    (tmp_path / "said.csv").write_text("alcohol\n" + "yes\n" * 64 + "no\n" * 136)
    run(tmp_path, "With reticulate")


def test_a_flowchart_is_a_picture_and_a_text_of_r_markdown(tmp_path):
    shown = run(tmp_path, "Flowcharts in R Markdown")
    assert shown.startswith("![What each respondent does](coins.svg)\n\n```\n")
    assert "\nToss a coin\n├─ heads (1/2)" in shown
    assert shown.rstrip().endswith("```")
    assert (tmp_path / "coins.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_page_has_code_for_each_way():
    assert {"Two coins, in R", "With reticulate", "Flowcharts in R Markdown"} <= CODE.keys()
