"""``naysay query``: counts of a release by conditions."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def release(naysay, tmp_path):
    """A release of 2,000 people with two randomized columns, of whom one has no income."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 80, 2000),
            "region": rng.choice(["north", "south"], 2000),
            "day": rng.choice(["2026-01-31", "2026-11-28"], 2000),
            "income": [None, *rng.choice(["low", "middle", "high"], 1999)],
            "children": rng.choice(["0", "1", "2", "10"], 2000),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    words = ("--response", "income", "--categories", "low,middle,high", "--response", "children")
    more = ("--categories", "0,1,2,10", "--design", "k_ary(epsilon=3)", "--seed", 1, "--out", "release.csv")
    assert naysay("randomize", "people.csv", *words, *more).code == 0
    return frame


TRUE = {
    "income = low": pl.col("income") == "low",
    "income != low": pl.col("income") != "low",
    "'low' = income": pl.col("income") == "low",
    "income >= middle": pl.col("income").is_in(["middle", "high"]),
    "children < 2": pl.col("children").is_in(["0", "1"]),
    "children = 2.0": pl.col("children") == "2",
    "2 < children": pl.col("children") == "10",
    "age < 30 and income = low": (pl.col("age") < 30) & (pl.col("income") == "low"),
    "not(income = low or children = 0) and region = north": (pl.col("region") == "north")
    & ~((pl.col("income") == "low") | (pl.col("children") == "0")),
    "day > '2026-02-01' and ${children} = 0": (pl.col("day") == "2026-11-28") & (pl.col("children") == "0"),
}


@pytest.mark.parametrize("condition", TRUE)
def test_a_count_is_that_of_the_original(naysay, release, condition):
    counted = json.loads(naysay("query", "release.csv", condition, "--format", "json").out)
    truth = release.filter(TRUE[condition]).height
    assert abs(counted["count"] - truth) < 4 * counted["standard_error"]
    assert counted["interval"][0] < counted["count"] < counted["interval"][1]
    assert counted["left_out"] == ("income" in condition)


def test_how_a_count_reads(naysay, release):
    said = naysay("query", "release.csv", "income > low and age < 30").out.splitlines()
    assert said[0].startswith("income > low and age < 30: ")
    assert " of 1,999 records (standard error " in said[0]
    assert said[1:] == [
        "note: income is ordered low < middle < high",
        "note: 1 more records have a gap in a column that the condition names; not counted",
    ]
    assert ", exactly: no column that it names was randomized" in naysay("query", "release.csv", "age < 30").out
    assert "exactly: the plain columns decide it" in naysay("query", "release.csv", "age < 3 and income = low").out
    both = naysay("query", "release.csv", "income = low or not(income = low)").out
    assert "exactly: it holds for every answer, or for none" in both
    told = naysay("query", "people.csv", "income = low")
    assert "no designs lie beside 'people.csv': every column is counted as it is" in told.err
    frame = pl.read_csv(naysay("query", "release.csv", "income = low", "--format", "csv").out.encode())
    assert frame["low"][0] < frame["count"][0] < frame["high"][0]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("incme = low", "there is no column 'incme'; the columns are"),
        ("income = lw", "column 'income' never holds 'lw'; did you mean 'low'?"),
        ("income < lw", "did you mean 'low'?"),
        ("children = 3", "column 'children' never holds '3'"),
        ("region = nrth", "column 'region' never holds 'nrth'; did you mean 'north'?"),
        ("region < 3", "and 'north' is none; compare by = or !="),
        ("age < old", "compares numbers, or days such as '2026-11-28', and"),
        ("income", "'income' stands alone"),
        ("income = region", "compares two columns"),
        ("age + 1 = 30", "a condition compares a column with a value"),
        ("age < 30 and", "at position 10: here must stand a column"),
        ("age ! 30", "here must stand a column"),
        ("count-selected(age) = 1", "a condition compares a column with a value"),
    ],
)
def test_what_is_unknown_is_refused_by_name(refused, release, condition, told):
    assert told in refused("query", "release.csv", condition)
