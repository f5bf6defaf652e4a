import csv
import io
import json

import numpy as np
import pytest

from naysay import designs, planning

WARNER = ("--design", "warner(p=0.7)", "--proportions", "0.1,0.9")


def test_how_many_for_an_error(naysay):
    code, out, err = naysay("plan", *WARNER, "--standard-error", "0.02")
    assert (code, err) == (0, "")
    assert out.startswith("warner(p=0.7): 3,507 respondents: a standard error of 0.02 for every category\n")
    assert "privacy: " in out


def test_what_respondents_reach(naysay):
    told = json.loads(naysay("plan", *WARNER, "--n", "1000", "--format", "json").out)
    expected = planning.standard_error(designs.warner(p=0.7), (0.1, 0.9), n=1_000)
    assert told["standard_errors"] == expected.tolist()
    assert (told["n"], told["power"], told["warnings"]) == (1000, None, [])


def test_csv(naysay):
    code, out, err = naysay("plan", *WARNER, "--n", "1000", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["category"] for row in rows] == ["yes", "no"]
    assert err.startswith("naysay: note: privacy")


def test_power_of_one_proportion(naysay):
    n = planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), null=0.05)
    assert (
        f"{n:,} respondents tell 'yes', 0.1, from 0.05 with a power of 0.8"
        in naysay("plan", *WARNER, "--null", "0.05").out
    )
    told = json.loads(naysay("plan", *WARNER, "--null", "0.05", "--n", 500, "--format", "json").out)
    assert told["power"] == planning.power(designs.warner(p=0.7), (0.1, 0.9), n=500, null=0.05)


@pytest.mark.parametrize(
    ("design", "share", "null", "printed"),
    [("direct()", 0.02, 0.1, "0.000"), ("direct()", 0.05, 0.15, "0.541"), ("warner(p=0.8)", 0.05, 0.25, "0.731")],
)
def test_a_plan_says_the_power_of_the_interval_that_is_printed(naysay, design, share, null, printed):
    named = ("--categories", "yes,no") if design == "direct()" else ()
    words = ("--design", design, *named, "--proportions", f"{share},{1 - share}", "--null", null)
    n = {"0.000": 39, "0.541": 50, "0.731": 104}[printed]
    assert f"with a power of {printed}\n" in naysay("plan", *words, "--n", n).out
    assert json.loads(naysay("plan", *words, "--format", "json").out)["power"] >= 0.8


def test_a_plan_of_another_interval_names_its_law(naysay):
    words = ("--design", "negative()", "--categories", "a,b,c", "--proportions", "0.2,0.3,0.5", "--category", "a")
    assert "the power" not in naysay("plan", *words, "--null", "0.1").out, "one count tells each share: it is exact"
    several = ("--design", "negative(discards=2)", "--categories", "a,b,c,d", "--proportions", "0.2,0.3,0.4,0.1")
    named = (*several, "--category", "a", "--null", "0.1")
    assert "the power takes the estimate as normal" in naysay("plan", *named, "--n", "1000").out
    assert "drawn surveys" in naysay("plan", *named, "--n", "60").out


def test_power_of_a_difference(naysay):
    told = json.loads(naysay("plan", *WARNER, "--versus", "0.2,0.8", "--format", "json").out)
    sizes = planning.difference_sample_size(designs.warner(p=0.7), (0.1, 0.9), (0.2, 0.8))
    assert (told["n"], told["n_second_group"]) == sizes
    assert "in two groups tell 'yes', 0.1 from 0.2 with" in naysay("plan", *WARNER, "--versus", "0.2,0.8").out
    told = json.loads(naysay("plan", *WARNER, "--versus", "0.2,0.8", "--n", 300, "--format", "json").out)
    assert (told["n"], told["n_second_group"]) == (300, 300)


def test_a_difference_has_a_standard_error_of_its_own(naysay):
    words = (*WARNER, "--versus", "0.2,0.8", "--n", 300)
    told = json.loads(naysay("plan", *words, "--format", "json").out)
    assert told["second_group"]["values"] == [0.2, 0.8]
    np.testing.assert_allclose(told["difference"]["values"], (-0.1, 0.1))
    both = np.array([told["standard_errors"], told["second_group"]["standard_errors"]])
    expected = [planning.standard_error(designs.warner(p=0.7), pi, n=300) for pi in ((0.1, 0.9), (0.2, 0.8))]
    np.testing.assert_allclose(both, expected)
    np.testing.assert_allclose(told["difference"]["standard_errors"], np.sqrt((both**2).sum(axis=0)))
    out = naysay("plan", *words).out
    assert "first group    s.e.  second group    s.e.  difference    s.e.  ± at 0.95" in out
    assert "difference" not in json.loads(naysay("plan", *WARNER, "--format", "json").out)


def test_who_leads_and_by_how_much(naysay):
    ballot = ("plan", "--design", "negative()", "--categories", "Ada,Ben,Cleo", "--proportions", "0.5,0.3,0.2")
    shown = naysay(*ballot, "--lead", "0.05").out
    assert "respondents show that 'Ada' leads by more than 5 points with a power of 0.80" in shown
    few, many = (json.loads(naysay(*ballot, "--lead", margin, "--format", "json").out)["n"] for margin in ("0", "0.1"))
    assert few < many
    assert json.loads(naysay(*ballot, "--lead", "0", "--n", few, "--format", "json").out)["power"] >= 0.8


def test_without_a_goal_a_thousand_respondents(naysay):
    out = naysay("plan", "--design", "negative_levels()", "--categories", "a,b,c", "--proportions", "0.2,0.3,0.5").out
    assert out.startswith("negative_levels(): 1,000 respondents\nmoments, exact\n")


def test_near_zero_is_told(naysay):
    out = naysay("plan", "--design", "warner(p=0.7)", "--proportions", "0.01,0.99", "--n", 100).out
    assert "note: within two standard errors of 0: yes" in out
    moments = naysay(
        "plan", "--design", "warner(p=0.7)", "--proportions", "0.01,0.99", "--n", 100, "--estimator", "moments"
    ).out
    assert "note:" not in moments


def test_preferences_of_levels(naysay):
    asked = ("--design", "negative_levels()", "--categories", "a,b,c,d", "--proportions", "0.1,0.2,0.3,0.4", "--n", 500)
    choice = designs.negative_levels(tuple("abcd"))
    given = {
        "uniform": None,
        "skewed": (4 / 7, 2 / 7, 1 / 7),
        "skewed:open": (1 / 7, 2 / 7, 4 / 7),
        "0.5,0.3,0.2": (0.5, 0.3, 0.2),
        "tied:d": [[1 / 3, 1 / 3, 1 / 3, 1], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 3, 1 / 3, 1 / 3, 0]],
    }
    for text, preferences in given.items():
        told = json.loads(naysay("plan", *asked, "--preferences", text, "--format", "json").out)
        expected = planning.standard_error(choice, (0.1, 0.2, 0.3, 0.4), n=500, preferences=preferences)
        assert told["standard_errors"] == pytest.approx(expected.tolist())


def test_designs_beside_one_another(naysay, tmp_path):
    options = ("--vary", "p=0.6,0.8", "--liars", "0.4", "--says", "no", "--html", "plan.html")
    code, out, err = naysay("plan", "--compare", *WARNER, *options)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[4:7]] == ["direct()", "warner(p=0.6)", "warner(p=0.8)"]
    assert (tmp_path / "plan.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_parameter_varies_in_every_design(naysay):
    both = ("--design", "negative()", "--design", "negative(discards=1, weights=(1,2,3,4))", "--vary", "discards=1,2")
    asked = ("--categories", "a,b,c,d", "--proportions", "0.1,0.2,0.3,0.4", "--category", "b", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(naysay("plan", "--compare", *both, *asked).out)))
    assert len(rows) == 4
    assert {row["fewest_possible"] for row in rows} == {"2", "3"}


def test_comparison_as_json(naysay):
    told = json.loads(naysay("plan", "--compare", *WARNER, "--standard-error", "0.03", "--format", "json").out)
    assert told["options"][0]["needed"] == planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), standard_error=0.03)


def test_a_page_of_one_plan(naysay, tmp_path):
    assert naysay("plan", *WARNER, "--n", 500, "--html", "one.html").code == 0
    assert "Error and number of respondents" in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_the_page_of_a_plan_tells_its_power(naysay, tmp_path):
    words = ("--null", "0.05", "--n", "57", "--target", "file", "--html", "one.html")
    out, page = naysay("plan", *WARNER, *words).out, (tmp_path / "one.html").read_text(encoding="utf-8")
    power = out.splitlines()[0].rpartition(" ")[2]
    assert f"with a power of {power}." in page
    whole = "no file of 57 people has a share of 0.1; the power is for 6 people"
    assert f"note: {whole}" in out
    assert f"{whole}." in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([*WARNER, "--standard-error", "0"], "must be above 0"),
        ([*WARNER, "--standard-error", "1e-9"], "more than there are people"),
        ([*WARNER, "--standard-error", "0.1", "--null", "0.2"], "--standard-error and --null are different goals"),
        ([*WARNER, "--standard-error", "0.1", "--n", "5"], "one follows from the other"),
        ([*WARNER, "--null", "0.1"], "no number of respondents tells 0.1 from 0.1"),
        ([*WARNER, "--versus", "0.1,0.9"], "two equal proportions"),
        ([*WARNER, "--lead", "0.9"], "no number of respondents shows a lead of more than 0.9"),
        ([*WARNER, "--lead", "3"], "3 points are 0.03"),
        ([*WARNER, "--null", "0.05", "--n", "0"], "n must be at least one respondent; got 0"),
        ([*WARNER, "--versus", "0.2,0.8", "--n", "0"], "n must be at least one respondent; got 0"),
        ([*WARNER, "--versus", "0.1,0.8"], "must sum to one"),
        ([*WARNER, "--null", "0.2", "--power", "1.5"], "power must lie between"),
        ([*WARNER, "--n", "0"], "at least one respondent"),
        ([*WARNER, "--preferences", "skewed"], "offers no levels"),
        ([*WARNER, "--vary", "p=0.6"], "--vary goes with --compare"),
        ([*WARNER, "--liars", "0.6"], "--liars goes with --compare"),
        ([*WARNER, "--design", "two_coins()"], "put the 2 designs beside one another with --compare"),
        ([*WARNER, "--compare", "--null", "0.2"], "--compare is about precision"),
        ([*WARNER, "--compare", "--liars", "1.5"], r"must lie in [0, 1]; got 1.5"),
        ([*WARNER, "--compare", "--vary", "q=1"], "has no parameter 'q'"),
        ([*WARNER, "--compare", "--vary", "p"], "--vary must be a parameter with its values"),
        ([*WARNER, "--compare", "--vary", "p=0.6,)"], "')' is no value"),
        ([*WARNER, "--compare", "--vary", "p=0.6,0.6"], "designs to compare must differ"),
        ([*WARNER, "--estimator", "pooled"], "the estimators are maximum_likelihood, moments"),
        ([*WARNER, "--html", "nowhere/plan.html"], "there is no folder 'nowhere'"),
        ([*WARNER, "--html", "."], "it is a folder"),
        (["--design", "warner(p=0.7)", "--proportions", "a,b"], "--proportions must be numbers"),
        (["--design", "warner(p=0.7)", "--proportions", "0.1,0.8"], "proportions must sum to one"),
        (["--design", "uniform()", "--categories", "a,b,c", "--proportions", "0.2,0.3,0.5"], "cannot tell 'a' from"),
        (["--design", "negative()", "--categories", "a,b,c", "--proportions", "0.2,0.3,0.5", "--null", "0.1"], "name"),
    ],
)
def test_bad_plans_are_one_line(refused, words, told):
    assert told in refused("plan", *words)


def test_a_parameter_varies_in_calls_only(refused, write):
    write("design.json", designs.warner(p=0.7).to_json())
    words = ("--compare", "--design", "design.json", "--proportions", "0.1,0.9", "--vary", "p=0.6,0.7")
    assert "needs a design that is written as a call" in refused("plan", *words)


def test_a_page_needs_its_extra(refused, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    assert "pip install 'naysay[plots]'" in refused("plan", *WARNER, "--html", "plan.html")
