import csv
import io
import json

import numpy as np
import pytest

from naysay import designs, simulate

FEW = ("--replicates", 20, "--seed", 1, "--workers", 1)
COINS = ("--design", "two_coins()", "--population", "0.15,0.85", "--n", 200, *FEW)
ABC = ("--design", "negative_levels()", "--categories", "a,b,c", "--n", 100, *FEW)


def test_it_is_replicate(naysay):
    code, out, _ = naysay("simulate", *COINS, "--format", "json")
    told = json.loads(out)
    found = simulate.replicate(designs.two_coins(), (0.15, 0.85), n=200, replicates=20, seed=1)
    assert code == 0
    assert {**told, "seconds": 0} == {**json.loads(json.dumps(found.to_dict())), "seconds": 0}


def test_the_table_is_on_stdout_and_the_progress_is_not(naysay):
    code, out, err = naysay("simulate", *COINS)
    assert code == 0
    assert out.startswith("two_coins(): 20 surveys, 200 people each")
    assert "maximum_likelihood; 0.95 intervals: wald" in out
    assert err == ""  # which is no terminal here


def test_the_reconstructions_of_a_negative_survey(naysay):
    words = ("--design", "negative()", "--categories", "a,b,c", "--population", "0.02,0.58,0.4", "--n", 200, *FEW)
    each = ("--estimator", "nstops", "--estimator", "nstops_i", "--estimator", "nstops_ii")
    told = json.loads(naysay("simulate", *words, *each, "--format", "json").out)
    assert [each["estimator"] for each in told["estimators"]] == ["nstops", "nstops_i", "nstops_ii"]
    assert [each["used"] for each in told["estimators"]] == [20, 20, 20]
    code, _, err = naysay("simulate", *COINS, "--estimator", "nstops")
    assert (code, err[:47]) == (2, "naysay: NStoPS is for negative surveys with one")


def test_csv(naysay):
    rows = list(
        csv.DictReader(io.StringIO(naysay("simulate", *COINS, "--format", "csv", "--estimator", "moments").out))
    )
    assert [(row["estimator"], row["category"]) for row in rows] == [("moments", "yes"), ("moments", "no")]
    assert rows[0]["seed"] == "1"


@pytest.mark.parametrize("population", ["normal(mean=2, sd=0.5)", "equal", "exponential", "0.5,0.3,0.2"])
def test_populations(naysay, population):
    told = json.loads(naysay("simulate", *ABC, "--population", population, "--format", "json").out)
    expected = (
        (0.5, 0.3, 0.2) if population.startswith("0") else simulate.population(population, tuple("abc")).proportions
    )
    np.testing.assert_allclose(told["truth"], expected)


def test_a_column_of_a_file(naysay, survey):
    words = ("--design", "negative()", "--categories", "low,middle,high,none", *FEW)
    told = json.loads(
        naysay("simulate", *words, "--population", "truth.csv", "--column", "income", "--format", "json").out
    )
    assert told["population"] == "column 'income', 400 people"
    assert sum(told["truth"]) == pytest.approx(1)


def test_counts_of_a_file(naysay, write):
    write("counts.csv", "income,n", "b,30", "a,10", ",5")
    words = ("--design", "direct()", "--categories", "a,b", "--population", "counts.csv", "--column", "income", *FEW)
    told = json.loads(naysay("simulate", *words, "--count", "n", "--format", "json").out)
    assert told["truth"] == [0.25, 0.75]


def test_people_who_do_as_they_like(naysay):
    words = ("--liars", 0.2, "--among", "a", "--says", "b", "--at-random", 0.1, "--nonresponse", "a=0.5,c=0.1")
    out = naysay("simulate", *ABC, *words, "--preferences", "tied:c").out
    assert "0.2 of 'a' say 'b'; 0.1 answer at random; no answer from 0.5 of 'a', 0.1 of 'c'" in out
    assert "going with the category" in out
    assert "no answer from 0.3" in naysay("simulate", *ABC, "--nonresponse", "0.3").out


def test_the_usual_interval(naysay):
    out = naysay("simulate", *COINS, "--interval", "usual", "--target", "file").out
    assert "intervals: score" in out


def test_a_page(naysay, tmp_path):
    assert naysay("simulate", *COINS, "--html", "page.html").code == 0
    assert "coverage of the intervals" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_ctrl_c_shows_what_is_done(naysay, monkeypatch):
    from naysay.simulate import command

    def interrupted(*given, **named):
        whole = simulate.replicate(*given, **named)
        return type(whole)(whole.survey, whole.runs, 1_000, whole.confidence, whole.seed, whole.seconds)

    fake = type("Fake", (), {"replicate": staticmethod(interrupted), "shares": staticmethod(simulate.shares)})
    monkeypatch.setattr(command, "simulate", fake)
    code, out, _ = naysay("simulate", *COINS)
    assert code == 130
    assert out.startswith("two_coins(): interrupted: 20 of 1,000 surveys")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--replicates", "0"], "replicates must be at least 1; got 0"),
        (["--n", "0"], "must be at least 1"),
        (["--workers", "0"], "workers must be at least 1"),
        (["--population", "nromal"], "no population is called 'nromal'; did you mean 'normal'?"),
        (["--population", "0.5,0.6,0.1"], "must sum to one"),
        (["--population", "0.5,x,0.1"], "--population must be numbers"),
        (["--population", "nowhere.csv", "--column", "x"], "there is no file 'nowhere.csv'"),
        (["--population", "truth.csv"], "name the column of the true answers with --column"),
        (["--population", "truth.csv", "--column", "incme"], "income"),
        (["--count", "n"], "--count is for a file of true answers"),
        (["--preferences", "0.5,0.6"], "preferences must sum to one; they sum to 1.1"),
        (["--preferences", "tied"], "needs the categories whose members hide, such as tied:a"),
        (["--preferences", "tied:q"], "'q' is no category"),
        (["--preferences", "skwed"], "did you mean 'skewed'"),
        (["--preferences", "skewed:up"], "'private' or 'open'"),
        (["--liars", "1.5"], "must lie in [0, 1]; got 1.5"),
        (["--at-random", "-0.5"], "must lie in [0, 1]"),
        (["--nonresponse", "q=0.5"], "'q' is no category"),
        (["--nonresponse", "0.5,0.4"], "--nonresponse must be one share"),
        (["--nonresponse", "a=0.5,0.4"], "must name a category in each"),
        (["--estimator", "momnets"], "did you mean 'moments'"),
        (["--html", "nowhere/page.html"], "there is no folder 'nowhere'"),
    ],
)
def test_bad_simulations_are_one_line(refused, survey, words, told):
    assert told in refused("simulate", "--design", "negative_levels()", "--categories", "a,b,c", *words)
