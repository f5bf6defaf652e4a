"""``naysay risk`` without a population: everything but θ."""

import csv
import datetime
import io
import json

import polars as pl
import pytest

WORDS = ("risk", "panel.csv", "--keys", "age,gender", "--na", "refused,-9")


def test_only_theta_needs_a_population(naysay, survey):
    code, out, err = naysay(*WORDS, "--format", "json")
    assert (code, err) == (0, "")
    without, told = json.loads(out), json.loads(naysay(*WORDS, "--population", "1e7", "--format", "json").out)
    assert without["population"] is None
    for own, other in zip(without["quasi_identifiers"], told["quasi_identifiers"], strict=True):
        for part in ("listwise", "matches"):
            assert (own[part].pop("theta"), own[part].pop("theta_interval")) == (None, [None, None])
            assert own[part].pop("theta_withheld") == "the population is not known"
            for name in ("theta", "theta_interval", "theta_withheld"):
                del other[part][name]
        assert own == other


def test_every_form_says_that_theta_is_withheld(naysay, survey):
    code, out, err = naysay(
        "risk", "report", *WORDS[1:], "--search", "1", "--attempt", "demonstration=1", "--html", "risk.html"
    )
    assert (code, err) == (0, "")
    assert "300 records\n" in out
    assert "θ is withheld: it needs the size of the population (--population)" in out
    page = (survey / "risk.html").read_text(encoding="utf-8")
    assert "it needs the size of the population" in page
    assert "sampled from" not in page
    out, err = naysay(*WORDS, "--format", "csv")[1:]
    assert next(csv.DictReader(io.StringIO(out)))["matches.theta"] == ""
    assert "--population" in err


def test_weights_need_it(refused, survey):
    assert "give population= (--population)" in refused(*WORDS, "--weight", "weight")


@pytest.mark.parametrize(
    "words", [("risk", "panel.csv", "--keys", "age", "gender"), ("risk", "--keys", "age", "gender", "panel.csv")]
)
def test_a_list_without_commas_is_told_of_the_comma(refused, survey, words):
    assert "joined by commas: --keys a,b" in refused(*words)


def test_gaps_in_a_key_of_dates_as_a_category(naysay):
    born = [datetime.date(1970 + place % 9, 1 + place % 12, 3) if place % 7 else None for place in range(90)]
    pl.DataFrame({"born": born, "g": ["f", "m"] * 45}).write_parquet("d.parquet")
    words = ("--keys", "born,g", "--population", "100", "--missing", "category", "--up-to", "2")
    code, out, err = naysay("risk", "search", "d.parquet", *words)
    assert (code, err) == (0, "")
    assert "born: to the year" in out
    pl.read_parquet("d.parquet").write_csv("d.csv")
    assert "born: to the year" in naysay("risk", "search", "d.csv", *words).out
