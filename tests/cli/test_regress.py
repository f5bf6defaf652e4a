"""``naysay regress``: a formula, a file, and what comes out."""

import csv
import io
import json
import re

import numpy as np
import pytest

from naysay import designs
from naysay.cli import main

WARNER = ["--design", "warner(p=0.8)"]


@pytest.fixture
def file(tmp_path):
    """Three hundred people: answers, an age, a gender, a region in numbers, weights, schools and an arm."""
    rng = np.random.default_rng(21)
    truth = rng.choice(["yes", "no"], 300)
    said = designs.warner(p=0.8).randomize(truth, rng=rng).texts()
    rows = [["cheated", "age", "gender", "region", "w", "school", "gap"]]
    for i in range(300):
        gap = "" if i in (3, 8) else i % 7
        rows.append([said[i], 18 + i % 40, "f" if i % 3 else "m", 1 + i % 4, 1 + i % 2, i // 10, gap])
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as out:
        csv.writer(out).writerows(rows)
    return path


def run(capsys, *words):
    code = main(["regress", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_table_tells_coefficients_effects_and_predictions(file, capsys):
    code, out, err = run(capsys, "cheated ~ age + gender", file, *WARNER, "--at", "gender=m", "--at", "age=20,gender=f")
    assert (code, err) == (0, "")
    for words in ("300 answers", "gender[T.m]", "odds ratio", "Average marginal effects", "age = 20, gender = f"):
        assert words in out


def test_columns_of_numbers_are_numbers_and_can_be_categories(file, capsys):
    _, out, _ = run(capsys, "cheated ~ age + C(region)", file, *WARNER, "--format", "json")
    terms = [each["term"] for each in json.loads(out)["coefficients"]]
    assert terms == ["Intercept", "age", "C(region)[T.2]", "C(region)[T.3]", "C(region)[T.4]"]


def test_json_holds_all_numbers_unrounded(file, capsys):
    code, out, _ = run(
        capsys, "cheated ~ age", file, *WARNER, "--format", "json", "--at", "age=30", "--confidence", 0.9
    )
    told = json.loads(out)
    assert code == 0
    assert {"formula", "design", "n", "missing", "coefficients", "covariance", "tests", "effects", "warnings"} <= set(
        told
    )
    assert told["predictions"][0]["at"] == {"age": 30}
    assert sum(told["predictions"][0]["probabilities"]) == pytest.approx(1)
    low, high = told["coefficients"][1]["interval"]
    error = told["coefficients"][1]["standard_error"]
    assert high - low == pytest.approx(2 * 1.6448536 * error)
    assert told["coefficients"][1]["odds_ratio"] == pytest.approx(np.exp(told["coefficients"][1]["estimate"]))


def test_an_outcome_is_regressed_on_the_true_category(file, capsys, tmp_path):
    words = ["cheated ~ age", file, *WARNER, "--outcome", "gap ~ cheated + age", "--missing", "drop"]
    code, out, err = run(capsys, *words, "--html", tmp_path / "page.html")
    assert (code, err) == (0, "")
    assert "gap ~ cheated + age, where cheated is the true category" in out
    assert "cheated[T.yes]" in (tmp_path / "page.html").read_text()
    told = json.loads(run(capsys, *words, "--format", "json")[1])
    assert [each["equation"] for each in told["coefficients"]] == ["gap, least squares"] * 3 + ["gap"] * 3 + ["yes"] * 2
    assert told["n"] == 298
    for covariance, rows in (("least_squares_covariance", slice(3)), ("covariance", slice(3, 6))):
        errors = [each["standard_error"] for each in told["coefficients"][rows]]
        assert np.sqrt(np.diagonal(told[covariance])) == pytest.approx(errors)
    code, _, err = run(capsys, *words, "--penalty", 1)
    assert (code, err) == (2, "naysay: a regression of an outcome takes no --penalty; leave it out\n")


def test_csv_has_a_row_for_each_coefficient(file, capsys):
    code, out, err = run(capsys, "cheated ~ age + gap", file, *WARNER, "--missing", "drop", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["term"] for row in rows] == ["Intercept", "age", "gap"]
    assert {row["n"] for row in rows} == {"298"}
    assert "2 people were left out, whose covariates are missing: gap (2)" in err


def test_latex_is_a_booktabs_table_with_what_users_wrote_escaped(file, capsys):
    code, out, _ = run(capsys, "cheated ~ age + gender", file, *WARNER, "--format", "latex")
    assert code == 0
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == out.count(r"\toprule") == 2
    assert r"\textasciitilde{}" in out
    assert re.search(r"^age & \$?-?\$?[\d.]+ & ", out, re.MULTILINE)
    assert "“" not in out


def test_a_page_is_written(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    code, _, _ = run(capsys, "cheated ~ age + gender", file, *WARNER, "--html", page)
    assert code == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "odds ratio" in text
    assert "gender[T.m]" in text


def test_a_complex_sample_is_told_as_to_estimate(file, capsys):
    words = ["--weight", "w", "--cluster", "school", "--format", "json"]
    code, out, _ = run(capsys, "cheated ~ age", file, *WARNER, *words)
    assert code == 0
    assert json.loads(out)["standard_error_kind"] == "sandwich, 30 clusters"
    _, out, _ = run(capsys, "cheated ~ age", file, *WARNER, *words, "--replicates", "jackknife")
    assert "jackknife" in json.loads(out)["standard_error_kind"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cheated ~ age + nothing"], "there is no column 'nothing'"),
        (["cheated"], "'cheated' is no formula"),
        (["cheated ~ open('x')"], "a formula cannot call 'open'"),
        (["cheated ~ __import__('os').system('touch pwned')"], "is no formula such as"),
        (["gender ~ age"], "column 'gender', row 1, is 'm', which is not a response here"),
        (["cheated ~ gap"], r"2 of 300 people who answered have an empty cell in 'gap' \(2\), first in row 4"),
        (["cheated ~ age", "--weight", "gender"], "column 'gender', row 1, holds 'm', which is not a number"),
        (["cheated ~ age", "--offset", "nothing"], "there is no column 'nothing'"),
        (["cheated ~ age", "--at", "age"], "--at must be values by column, such as 'age=40,gender=f'"),
        (["cheated ~ age", "--at", "gender=f"], "'gender' is no variable of the formula"),
        (["cheated ~ age", "--penalty", "-1"], "penalty must be 0"),
        (["cheated ~ age", "--confidence", "2"], "confidence must lie between 0 and 1"),
        (["cheated ~ age", "--reference", "maybe"], "the reference 'maybe' is no category"),
        (["cheated ~ age", "--level", "region"], "has no levels"),
        (["cheated ~ age", "--cluster", "nothing"], "there is no column 'nothing'"),
    ],
)
def test_bad_input_is_one_clear_line(file, capsys, words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, words[0], file, *WARNER, *words[1:])
    assert (code, out) == (2, "")
    assert re.search(told, err)
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "pwned").exists()
