"""The command that finds values without a list."""

import json

import numpy as np
import pytest

DESIGN = ("--design", "heavy_hitters(length=3, alphabet='abc', epsilon=5)")


@pytest.fixture
def reports(naysay, tmp_path):
    words = np.random.default_rng(3).choice(["cab", "a", "bb"], 3_000, p=[0.6, 0.3, 0.1])
    (tmp_path / "words.csv").write_text("word\n" + "\n".join(words) + "\n", encoding="utf-8")
    told = naysay("randomize", "words.csv", "--response", "word", "--out", "reports.csv", "--seed", "1", *DESIGN)
    assert told.code == 0, told.err
    assert "estimate: naysay heavy-hitters reports.csv --response word --level word_level" in told.out
    return ("reports.csv", "--response", "word", "--level", "word_level", *DESIGN)


def test_values_are_found_in_a_file_of_reports(naysay, reports, tmp_path):
    told = naysay("heavy-hitters", *reports, "--target", "file", "--html", "found.html")
    assert (told.code, told.err) == (0, "")
    assert "3 values stand out among 3,000 reports" in told.out
    assert "Shares of the devices that reported" in told.out
    assert "forged reports" in (tmp_path / "found.html").read_text(encoding="utf-8")
    found = json.loads(naysay("heavy-hitters", *reports, "--format", "json").out)
    assert [each["value"] for each in found["candidates"][:3]] == ["cab", "a", "bb"]
    assert naysay("heavy-hitters", *reports, "--format", "csv").out.startswith("value,share,standard_error,low,high,")


def test_a_later_randomization_counts_the_reports_among_what_is_told(naysay, refused, reports, tmp_path):
    (tmp_path / "words.csv").write_text("word,vote\n" + "cab,yes\nbb,no\n" * 300, encoding="utf-8")
    naysay("randomize", "words.csv", "--response", "word", "--out", "first.csv", *DESIGN)
    vote = ("--response", "vote", "--design", "warner(p=0.75)", "--categories", "yes,no")
    told = naysay("randomize", "first.csv", *vote, "--out", "both.csv")
    assert "2 randomized columns together: ε = 6.099" in told.out
    assert "kept as before: the order of the rows" in told.out
    assert naysay("heavy-hitters", "both.csv", *reports[1:]).code == 0
    spoken = "has no list of categories; find its values with naysay heavy-hitters"
    assert spoken in refused("estimate", "both.csv", "--response", "word")
    assert spoken in refused("query", "both.csv", "word = cab")
    assert spoken in refused("crosstab", "both.csv", "--joint", "word", "--joint", "vote")
    assert "tells heavy hitters" in refused("regress", "word ~ vote", "first.csv")
    assert "holds randomized answers already" in refused(
        "randomize", "both.csv", "--response", "word", "--out", "c.csv", *DESIGN
    )


def test_the_command_that_is_told_names_the_part_of_the_budget(naysay, reports):
    part = ("--design", "heavy_hitters(length=3, alphabet='abc', epsilon=part)", "--budget", 5, "--out", "part.csv")
    told = naysay("randomize", "words.csv", "--response", "word", *part).out
    assert "epsilon=5.0)" in told.splitlines()[-1]


def test_counted_reports_are_the_same(naysay, reports, tmp_path):
    import polars as pl

    frame = pl.read_csv(tmp_path / "reports.csv")
    frame.group_by(["word", "word_level"]).len("n").write_csv(tmp_path / "counted.csv")
    one = naysay("heavy-hitters", *reports, "--format", "json").out
    assert naysay("heavy-hitters", "counted.csv", *reports[1:], "--count", "n", "--format", "json").out == one


def test_wrong_input_is_told_in_one_line(naysay, refused, reports, tmp_path):
    assert "no column" in refused("heavy-hitters", *reports[:3], "--level", "group", *DESIGN)
    listed = ("--design", "k_ary(('a', 'b'), epsilon=1)")
    assert "lists its values; use naysay estimate" in refused("heavy-hitters", *reports[:5], *listed)
    assert "with naysay heavy-hitters" in refused("estimate", "reports.csv", "--response", "word", *DESIGN)
    (tmp_path / "bad.csv").write_text("word,word_level\n12,1\nx,2\n", encoding="utf-8")
    assert "row 2" in refused("heavy-hitters", "bad.csv", *reports[1:])
    (tmp_path / "long.csv").write_text("word\ncab\nabca\n", encoding="utf-8")
    told = refused("randomize", "long.csv", "--response", "word", "--out", "out.csv", *DESIGN)
    assert "row 2" in told
    assert "4 characters" in told
