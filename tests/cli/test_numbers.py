"""Numbers and hierarchies on the command line: from a file to a mean and to quantiles."""

import csv
import io
import json

import numpy as np
import pytest

NUMBER, LEVELS = "number(low=0, high=100, epsilon=3)", "hierarchy(categories=60, epsilon=4, fanout=4)"


@pytest.fixture
def file(tmp_path):
    """2,000 times with their group."""
    times = np.random.default_rng(12).gamma(3, 6, 2_000).clip(0, 59)
    rows = [f"{time:.2f},{int(time)},{place % 2}" for place, time in enumerate(times)]
    (tmp_path / "times.csv").write_text("ms,bin,group\n" + "\n".join(rows), encoding="utf-8")
    return times


def test_a_column_of_numbers_becomes_a_mean(naysay, file):
    made = naysay("randomize", "times.csv", "--response", "ms", "--design", NUMBER, "--out", "p.csv", "--seed", 1)
    assert made.code == 0
    asked = ("estimate", "p.csv", "--response", "ms", "--design", NUMBER)
    told = json.loads(naysay(*asked, "--target", "file", "--format", "json").out)
    [mean] = told["estimates"]
    assert mean["low"] < file.mean() < mean["high"]
    rows = list(csv.DictReader(io.StringIO(naysay(*asked, "--by", "group", "--format", "csv").out)))
    assert [(row["group"], row["quantity"], row["n"]) for row in rows] == [("0", "mean", "1000"), ("1", "mean", "1000")]
    assert "mean of unbiased numbers" in naysay(*asked).out


def test_a_hierarchy_draws_its_levels_and_gives_quantiles(naysay, file):
    made = naysay("randomize", "times.csv", "--response", "bin", "--design", LEVELS, "--out", "p.csv", "--seed", 2)
    assert made.code == 0
    assert "estimate: naysay estimate p.csv --response bin --target file" in made.out
    asked = ("estimate", "p.csv", "--response", "bin", "--level", "bin_level", "--design", LEVELS)
    told = json.loads(naysay(*asked, "--format", "json").out)
    median = next(row for row in told["estimates"] if row["name"] == "p50")
    assert median["low"] <= np.floor(np.median(file)) <= median["high"]
    assert sum(row["estimate"] for row in told["ranges"]) == pytest.approx(1)
    assert "p95" in naysay(*asked).out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("randomize", "--response", "ms", "--design", "number(low=0, high=9, epsilon=1)", "--out", "q.csv"),
            "must lie",
        ),
        (("estimate", "--response", "bin", "--design", LEVELS), "needs --level COLUMN: the level that was drawn"),
        (("estimate", "--response", "group", "--design", NUMBER, "--interval", "wald"), "intervals of one kind only"),
        (
            ("simulate", "--design", LEVELS, "--population", "normal", "--n", 9, "--replicates", 2),
            "use estimate.ranges",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(refused, file, words, told):
    command, *others = words
    source = [] if command == "simulate" else ["times.csv"]
    assert told in refused(command, *source, *others)


def test_a_questionnaire_does_not_ask_for_numbers(naysay, tmp_path):
    from naysay.collect.questionnaire.privacy import _unfit

    class Question:
        categories = ("0", "1", "2")

    class Private:
        from naysay import designs

        offer = designs.hierarchy(3, epsilon=1, fanout=2)

    [problem] = _unfit("a", Question, Private)
    assert "the page of a survey does not draw for hierarchy" in str(problem)
