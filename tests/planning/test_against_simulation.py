"""Plans against surveys that were simulated: every design, every estimator, levels however they are chosen."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, stats

from naysay import designs, estimate, planning, simulate
from naysay.responses import Responses

_spec = importlib.util.spec_from_file_location("contract", Path(__file__).parents[1] / "designs" / "test_contract.py")
contract = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(contract)

CASES = {name: case.design for name, case in contract.BATTERY.items() if case.estimable}
N = 4_000

OFFER = designs.negative_levels(tuple("abcd"))
MASKED = designs.levels({"masked": designs.k_ary(tuple("abc"), epsilon=1), "negative": designs.negative(tuple("abc"))})
CHOICES = {
    "uniform": (OFFER, None),
    "skewed": (OFFER, simulate.skewed(OFFER)),
    "tied": (OFFER, simulate.tied(OFFER, hiding=("a",), share_of=0.7)),
    "two kinds": (MASKED, (0.7, 0.3)),
}


def proportions(design):
    t = len(design.categories)
    return np.roll(np.arange(2, t + 2), 1) / np.arange(2, t + 2).sum()


def respondents(design, pi):
    """Enough that no proportion lies within six standard errors of 0, where likelihood estimates are cut off."""
    one = planning.variance(design, pi, estimator="moments").each
    return max(N, math.ceil(float((36 * one / pi**2).max())))


def fitted(estimator, design, counts):
    """The estimate from how often each response of the design came."""
    seen = np.flatnonzero(counts)
    said = Responses(design.space.listing()[seen], design.space)
    return estimator(design, design.tally(said, count=counts[seen])).proportions


def spread(u, chances, n):
    """Exact standard errors of the mean of indicators u (responses, t) of n independent answers."""
    return np.sqrt((chances @ u**2 - (chances @ u) ** 2) / n)


def agree(found, planned, *, estimator, within=0.03):
    """Standard errors as planned over all categories, and in each within what chance in the simulation allows."""
    spread = found.summary(estimator).standard_deviation
    overall = np.sqrt((spread.values**2).sum() / (planned**2).sum())
    assert overall == pytest.approx(1, abs=within)
    assert (abs(spread.values - planned) < within * planned + 4 * spread.errors).all()


def agree_in_power(found, design, pi, **assumed):
    """Power at an effect of three standard errors, within the error of the simulation and of whole counts."""
    planned = planning.standard_error(design, pi, n=found.survey.n, **assumed)[0]
    null = pi[0] + 3 * planned * (1 if pi[0] < 0.5 else -1)
    category = design.categories[0]
    told = planning.power(design, pi, n=found.survey.n, null=null, category=category, **assumed)
    power, error = found.power(null, estimator=assumed.get("estimator"))
    assert power == pytest.approx(told, abs=4 * error + 0.005)


@pytest.mark.parametrize("name", CASES)
def test_moments_are_a_mean_whose_exact_error_is_planned(name):
    design = CASES[name]
    pi = proportions(design)
    answers = np.eye(design.space.size, dtype=int)
    u = np.array([fitted(estimate.moments, design, each) for each in answers])
    counts = np.random.default_rng(1936).multinomial(500, design.matrix @ pi)
    np.testing.assert_allclose(fitted(estimate.moments, design, counts), counts @ u / 500, atol=1e-9)
    np.testing.assert_allclose(design.matrix.T @ u, np.eye(len(pi)), atol=1e-9)
    planned = planning.standard_error(design, pi, n=N, estimator="moments")
    np.testing.assert_allclose(spread(u, design.matrix @ pi, N), planned, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, design in CASES.items() if not design.structure.moments_only])
def test_likelihood_estimates_vary_as_planned(name):
    """Beside the efficient mean of the same answers, whose exact error is known; so few surveys tell the rest."""
    design = CASES[name]
    pi = proportions(design)
    n, chances = respondents(design, pi), design.matrix @ pi
    basis = linalg.helmert(len(pi)).T
    scores = np.divide(design.matrix, chances[:, None], out=np.ones_like(design.matrix), where=chances[:, None] > 0) - 1
    information = basis.T @ ((scores + 1).T @ design.matrix) @ basis
    u = pi + scores @ basis @ np.linalg.inv(information) @ basis.T
    planned = planning.standard_error(design, pi, n=n, estimator="maximum_likelihood")
    np.testing.assert_allclose(spread(u, chances, n), planned, rtol=1e-6)
    drawn = np.random.default_rng(1936).multinomial(n, chances / chances.sum(), 200)
    found = np.array([fitted(estimate.maximum_likelihood, design, counts) for counts in drawn])
    mean = drawn @ u / n
    ratio = np.sqrt(found.var(axis=0).sum() / mean.var(axis=0).sum())
    assert ratio == pytest.approx(1, abs=0.03)
    assert (np.abs((found - mean).mean(axis=0)) < 0.1 * planned).all()


def exact_power(design, pi, *, n, null, estimator, method):
    """How often the interval of the first of two categories excludes a null value: over every count that can come."""
    chances = stats.binom.pmf(np.arange(n + 1), n, design.matrix[0] @ pi)
    counts = np.flatnonzero(chances > 1e-12)
    fits = (getattr(estimate, estimator)(design, design.tally(count=[yes, n - yes])) for yes in counts)
    bounds = np.array([fit.interval(method=method) for fit in fits])[:, 0]
    return chances[counts] @ ((null < bounds[:, 0]) | (bounds[:, 1] < null))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["moments", "maximum_likelihood"])
def test_an_effect_of_two_categories_is_found_as_often_as_planned_over_all_counts(estimator):
    """Without the error of a simulation, so more surely than 1,500 surveys would tell."""
    design = CASES["warner"]
    pi = proportions(design)
    n = respondents(design, pi)
    null = pi[0] + 3 * planning.standard_error(design, pi, n=n, estimator=estimator)[0] * (1 if pi[0] < 0.5 else -1)
    told = planning.power(design, pi, n=n, null=null, category=design.categories[0], estimator=estimator)
    assert exact_power(design, pi, n=n, null=null, estimator=estimator, method="wald") == pytest.approx(told, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["negative, sets", "gaussian_negative", "k_ary", "product"])
def test_an_effect_is_found_as_often_as_planned(name):
    design = CASES[name]
    pi = proportions(design)
    estimators = ("moments", "maximum_likelihood")
    found = simulate.replicate(
        design, pi, n=respondents(design, pi), replicates=1_500, seed=1936, estimators=estimators
    )
    for estimator in estimators:
        agree_in_power(found, design, pi, estimator=estimator)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("name", CHOICES)
def test_every_way_of_choosing_a_level_keeps_what_is_planned(name, target):
    choice, preferences = CHOICES[name]
    pi = simulate.shares(proportions(choice)).people(N) / N  # so that a file can hold them
    estimators = ["stratified"]
    if name != "tied":
        estimators += ["stratified_equal", "stratified_variance", "pooled"]
    found = simulate.replicate(
        choice, pi, n=N, replicates=1_000, seed=1936, preferences=preferences, target=target, estimators=estimators
    )
    for estimator in estimators:
        assumed = {"estimator": estimator, "preferences": preferences, "target": target}
        agree(found, planning.standard_error(choice, pi, n=N, **assumed), estimator=estimator, within=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warner", "negative, sets", "gaussian_negative", "k_ary", "product"])
def test_a_difference_between_two_groups_is_found_as_often_as_planned(name):
    design = CASES[name]
    first = proportions(design)
    second = np.roll(first, 1)
    sizes = (3_000, 1_500)
    gap = abs(first[0] - second[0])
    error = np.hypot(
        *(planning.standard_error(design, pi, n=n)[0] for pi, n in zip((first, second), sizes, strict=True))
    )
    sizes = tuple(max(200, round(n * (3 * error / gap) ** 2)) for n in sizes)  # an effect of three standard errors
    runs = [
        simulate.replicate(design, pi, n=n, replicates=1_500, seed=seed, estimators=["moments"]).runs["moments"]
        for pi, n, seed in zip((first, second), sizes, (1, 2), strict=True)
    ]
    difference = runs[0].proportions[:, 0] - runs[1].proportions[:, 0]
    spread = np.hypot(runs[0].standard_errors[:, 0], runs[1].standard_errors[:, 0])
    power = np.mean(abs(difference) > 1.959964 * spread)
    told = planning.difference_power(design, first, second, n=sizes, category=design.categories[0], estimator="moments")
    assert power == pytest.approx(told, abs=4 * np.sqrt(power * (1 - power) / 1_500) + 0.005)


@pytest.mark.slow
def test_the_planned_size_is_the_first_with_the_wanted_power():
    design, pi = designs.warner(p=0.8), (0.1, 0.9)
    n = planning.sample_size(design, pi, null=0.05, power=0.8)
    wanted = {"null": 0.05, "estimator": "moments", "method": None}
    assert exact_power(design, pi, n=n - 1, **wanted) < 0.8 <= exact_power(design, pi, n=n, **wanted)


@pytest.mark.slow
def test_liars_bias_as_planned():
    design, pi, n = designs.warner(p=0.8), (0.2, 0.8), 1_000
    liars = planning.Liars(0.4, says="no", under_design=0.1)
    planned = planning.compare([design], pi, n=n, liars=liars).options
    for option, asked, share in zip(planned, (designs.direct(("yes", "no")), design), (0.4, 0.1), strict=True):
        behavior = simulate.Behavior(liars=share, among=("yes",), says="no")
        options = {"replicates": 1_500, "seed": 8, "behavior": behavior, "estimators": ["moments"]}
        found = simulate.replicate(asked, pi, n=n, **options).summary("moments")
        assert abs(found.bias.values[0] - option.bias) < 4 * found.bias.errors[0]
        assert abs(found.rmse.values[0] - option.rmse) < 4 * found.rmse.errors[0]


def test_a_wrong_plan_would_be_noticed():
    design = CASES["negative"]
    pi = proportions(design)
    found = simulate.replicate(design, pi, n=N, replicates=500, seed=1936, estimators=["moments"])
    wrong = planning.standard_error(design, pi, n=N, target="file")
    with pytest.raises(AssertionError):
        agree(found, wrong, estimator="moments")
