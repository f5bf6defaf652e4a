import io
import signal
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from naysay import designs, estimate
from naysay.errors import DataError, DesignError, NaysayError, NotEstimable
from naysay.simulate import ESTIMATORS, Behavior, replicate
from naysay.simulate import result as running

PI = (0.2, 0.5, 0.3)
SURVEY = designs.negative(tuple("abc"))
CHOICE = designs.negative_levels(tuple("abcd"))
PAIRS = (0.1, 0.2, 0.3, 0.4)


def same(one, other):
    assert one.runs.keys() == other.runs.keys()
    for name in one.runs:
        np.testing.assert_array_equal(one.runs[name].proportions, other.runs[name].proportions)
        np.testing.assert_array_equal(one.runs[name].standard_errors, other.runs[name].standard_errors)
        np.testing.assert_array_equal(one.runs[name].bounds, other.runs[name].bounds)


def test_a_seed_repeats_a_simulation():
    one, again, other = (replicate(SURVEY, PI, n=100, replicates=20, seed=seed) for seed in (3, 3, 4))
    same(one, again)
    assert not np.array_equal(one.runs["moments"].proportions, other.runs["moments"].proportions)


def test_without_a_seed_one_is_drawn_and_kept():
    one, other = (replicate(SURVEY, PI, n=100, replicates=5) for _ in range(2))
    assert one.seed != other.seed
    same(one, replicate(SURVEY, PI, n=100, replicates=5, seed=one.seed))


def test_more_replicates_begin_with_the_same():
    few, many = (replicate(SURVEY, PI, n=100, replicates=number, seed=1) for number in (5, 9))
    np.testing.assert_array_equal(few.runs["moments"].proportions, many.runs["moments"].proportions[:5])


def test_workers_change_nothing(monkeypatch):
    monkeypatch.setattr(running, "_SOON", 0.0)
    monkeypatch.setattr(running, "_BATCH", 0.02)
    told = io.StringIO()
    many = replicate(CHOICE, PAIRS, n=500, replicates=40, seed=7, workers=2, console=Console(file=told))
    same(many, replicate(CHOICE, PAIRS, n=500, replicates=40, seed=7))
    assert (many.replicates, many.interrupted) == (40, False)
    assert told.getvalue() == ""  # progress is for a terminal


@pytest.mark.parametrize(("terminal", "shown"), [(True, "surveys"), (False, "")])
def test_progress_is_for_a_terminal(terminal, shown):
    told = io.StringIO()
    console = Console(file=told, force_terminal=terminal, _environ={})
    replicate(SURVEY, PI, n=100, replicates=5, seed=1, console=console)
    assert shown in told.getvalue()
    assert bool(told.getvalue()) == terminal


def test_workers_start_deaf_to_ctrl_c_and_nobody_else_stays_so(monkeypatch):
    monkeypatch.setattr(running, "_SOON", 0.0)
    masks = []
    original = running.ProcessPoolExecutor.submit

    def submit(self, *arguments):
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return original(self, *arguments)

    monkeypatch.setattr(running.ProcessPoolExecutor, "submit", submit)
    monkeypatch.setattr(running, "_BATCH", 0.0)
    replicate(SURVEY, PI, n=100, replicates=6, seed=1, workers=2)
    assert len(masks) == 4
    assert all(signal.SIGINT in mask for mask in masks)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_is_done(workers, monkeypatch):
    monkeypatch.setattr(running, "_SOON", 0.0)
    monkeypatch.setattr(running, "_BATCH", 0.02)
    original = running.Progress.update

    def update(self, task, **fields):
        original(self, task, **fields)
        if fields["completed"] >= 10:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(running.Progress, "update", update)
    told = io.StringIO()
    found = replicate(SURVEY, PI, n=200, replicates=4_000, seed=2, workers=workers, console=Console(file=told))
    assert found.interrupted
    assert 10 <= found.replicates < 4_000
    assert f"interrupted after {found.replicates:,} of 4,000 surveys" in told.getvalue()
    assert str(found).startswith(f"negative(): interrupted: {found.replicates:,} of 4,000 surveys")
    monkeypatch.undo()
    whole = replicate(SURVEY, PI, n=200, replicates=found.replicates, seed=2)
    if workers == 1:
        same(found, whole)
    first = slice(2)  # done before the workers start; of the others any may be ready when Ctrl-C comes
    np.testing.assert_array_equal(found.runs["moments"].proportions[first], whole.runs["moments"].proportions[first])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_those_of_estimate(name):
    design = designs.negative(tuple("abcd")) if name.startswith("nstops") else CHOICE
    found = replicate(design, PAIRS, n=300, replicates=1, estimators=[name], seed=5)
    survey = found.survey
    tally = survey.draw(np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0]))
    kind, _, weights = name.partition("_")
    fit = (
        estimate.stratified(design, tally, weights=weights or "proportional")
        if kind == "stratified"
        else getattr(estimate, name)(design, tally)
    )
    np.testing.assert_array_equal(found.runs[name].proportions[0], fit.proportions)
    np.testing.assert_array_equal(found.runs[name].standard_errors[0], fit.standard_errors)
    np.testing.assert_array_equal(found.runs[name].bounds[0], fit.interval(method="wald"))


def test_the_reconstructions_agree_where_the_papers_say_so():
    names = ["nstops", "moments", "nstops_i", "nstops_ii", "maximum_likelihood"]
    found = replicate(SURVEY, (0.02, 0.58, 0.4), n=200, replicates=40, estimators=names, seed=3)
    shares = {name: found.runs[name].proportions for name in names}
    np.testing.assert_array_equal(shares["nstops"], shares["moments"])
    assert (shares["nstops"] < 0).any()
    assert (shares["nstops_ii"] >= 0).all()
    np.testing.assert_allclose(shares["nstops_ii"], shares["maximum_likelihood"], atol=1e-4)
    np.testing.assert_allclose(shares["nstops_i"], shares["nstops_ii"], atol=5e-3)
    inside = (shares["nstops"] >= 0).all(axis=1)
    np.testing.assert_allclose(shares["nstops_ii"][inside], shares["nstops"][inside], atol=1e-9)


def test_a_replicate_that_any_estimator_gives_up_on_is_counted_out(monkeypatch):
    given_up = iter([False, True, False])

    def gives_up(design, tally):
        if next(given_up):
            raise NaysayError("NStoPS-I moves by 0.0001 or more after 10 steps")
        return estimate.nstops_i(design, tally)

    monkeypatch.setitem(ESTIMATORS, "nstops_i", replace(ESTIMATORS["nstops_i"], function=gives_up))
    found = replicate(SURVEY, PI, n=300, replicates=3, estimators=["nstops_i"], seed=1)
    assert found.summary().used == 2
    assert "nstops_i gave no result in 1 of 3 surveys: NStoPS-I moves by 0.0001" in str(found)


def test_the_usual_interval_is_that_of_estimates():
    found = replicate(SURVEY, PI, n=300, replicates=3, estimators=["moments"], interval=None, seed=5)
    assert found.summary().interval_methods == ("agresti_coull",)


def test_a_replicate_without_answers_is_counted_out():
    silent = Behavior(nonresponse=0.7)
    found = replicate(SURVEY, PI, n=2, replicates=50, estimators=["maximum_likelihood"], behavior=silent, seed=1)
    summary = found.summary()
    assert 0 < summary.used < 50
    assert np.isnan(found.runs["maximum_likelihood"].proportions[:, 0]).sum() == 50 - summary.used
    assert f"gave no result in {50 - summary.used} of 50 surveys: nobody answered" in str(found)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"replicates": 0}, "replicates must be at least 1; got 0"),
        ({"replicates": 2.5}, "replicates must be at least 1"),
        ({"n": 0}, "the number of people asked must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"people": "nromal"}, "did you mean 'normal'"),
        ({"people": (0.5, 0.6, 0)}, "must sum to one"),
        ({"preferences": (0.5, 0.6)}, "offers no levels"),
        ({"estimators": ["momnets"]}, "did you mean 'moments'"),
        ({"estimators": ["pooled"]}, "pooled needs an offer of levels"),
        ({"estimators": ["nstops_ii"], "target": "file"}, "nstops_ii is for a population"),
        ({"estimators": []}, "at least one"),
        ({"estimators": ["moments", "moments"]}, "each estimator once"),
        ({"target": "sample"}, "target must be"),
        ({"interval": "exact"}, "the interval methods are"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"behavior": Behavior(nonresponse=1.0)}, "nobody answer"),
    ],
)
def test_bad_questions(arguments, told):
    given = {"n": 100, "replicates": 5, "people": PI} | arguments
    with pytest.raises(DataError, match=told):
        replicate(SURVEY, given.pop("people"), **given)


@pytest.mark.parametrize(
    ("design", "name", "told"),
    [
        (designs.negative(tuple("abcd"), discards=2), "nstops", "NStoPS is for negative surveys with one answer"),
        (designs.warner(p=0.7), "nstops_i", "NStoPS-I is for negative surveys with one answer"),
        (designs.gaussian_negative(tuple("abcd"), sigma=1), "nstops_ii", "NStoPS-II exists for the uniform negative"),
        (CHOICE, "nstops", "NStoPS is for negative surveys with one answer"),
    ],
)
def test_reconstructions_of_other_designs_are_refused_beside_an_estimator_that_works(design, name, told):
    proportions = np.full(len(design.categories), 1 / len(design.categories))
    with pytest.raises(DataError, match=told):
        replicate(design, proportions, n=100, replicates=5, estimators=[name, "moments"])


def test_preferences_sum_to_one():
    with pytest.raises(DataError, match=r"preferences must sum to one; they sum to 1\.1"):
        replicate(CHOICE, PAIRS, n=100, preferences=(0.5, 0.5, 0.1))


def test_what_cannot_be_estimated_is_not_tried_a_thousand_times():
    with pytest.raises(NotEstimable, match="cannot tell 'a' from 'b', 'c'"):
        replicate(designs.uniform(tuple("abc")), PI, n=100)


def test_what_is_no_design_or_seed():
    with pytest.raises(DataError, match="a design is needed first; got str"):
        replicate("negative()", PI, n=100)
    with pytest.raises(DesignError, match="seed must be a whole number"):
        replicate(SURVEY, PI, n=100, seed=-1)
