"""Plans against surveys that were simulated: every design, every estimator, levels however they are chosen."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, stats

from naysay import designs, estimate, planning, simulate
from naysay.responses import Responses
from naysay.tally import Tally

_spec = importlib.util.spec_from_file_location("contract", Path(__file__).parents[1] / "designs" / "test_contract.py")
contract = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(contract)

CASES = {name: case.design for name, case in contract.BATTERY.items() if case.estimable}
N = 4_000
SURVEYS = 30
"""That are estimated beside a mean of known error, from which estimates are at most 0.04 of that error away: the ratio
of both errors is then told to 0.04/√30 = 0.007, where 1,000 surveys by themselves tell an error to 0.013."""

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


def fit(estimator, design, counts):
    """The estimate from how often each response of the design came."""
    seen = np.flatnonzero(counts)
    said = Responses(design.space.listing()[seen], design.space)
    return estimator(design, design.tally(said, count=counts[seen]))


def fitted(estimator, design, counts):
    return fit(estimator, design, counts).proportions


def spread(u, chances, n):
    """Exact standard errors of the mean of indicators u (responses, t) of n independent answers."""
    return np.sqrt((chances @ u**2 - (chances @ u) ** 2) / n)


def efficient(matrix, pi):
    """The values (responses, t) whose mean over answers is as precise as any unbiased estimate can be."""
    chances = matrix @ pi
    basis = linalg.helmert(len(pi)).T
    scores = np.divide(matrix, chances[:, None], out=np.ones_like(matrix), where=chances[:, None] > 0) - 1
    information = basis.T @ ((scores + 1).T @ matrix) @ basis
    return pi + scores @ basis @ np.linalg.inv(information) @ basis.T


def first_category(counts, u):
    """The mean for the first category in each survey (surveys, responses), and its error from the same answers."""
    n = counts[0].sum()
    mean = counts @ u[:, 0] / n
    return mean, np.sqrt((counts @ u[:, 0] ** 2 / n - mean**2) / (n - 1))


def indicators(estimator, design, pi):
    """The values (responses, t) whose mean is the moment estimate, or the one beside which likelihood estimates lie."""
    if estimator == "maximum_likelihood":
        return efficient(design.matrix, pi)
    return np.array([fitted(estimate.moments, design, each) for each in np.eye(design.space.size, dtype=int)])


def fits_beside(counts, u, estimator, design):
    """Estimates and errors of the first category are those of the mean, but for a twentieth of an error on average."""
    mean, error = first_category(counts[:SURVEYS], u)
    fits = [fit(getattr(estimate, estimator), design, each) for each in counts[:SURVEYS]]
    bounds = np.array([each.interval(method="wald")[0] for each in fits])
    z = stats.norm.ppf(0.975)
    away = (bounds - np.clip(np.column_stack([mean - z * error, mean + z * error]), 0, 1)) / error[:, None]
    assert np.abs(away.mean(axis=0)).max() < 0.05


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
    u = efficient(design.matrix, pi)
    planned = planning.standard_error(design, pi, n=n, estimator="maximum_likelihood")
    np.testing.assert_allclose(spread(u, chances, n), planned, rtol=1e-6)
    drawn = np.random.default_rng(1936).multinomial(n, chances / chances.sum(), SURVEYS)
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
    """Without the error of a simulation."""
    design = CASES["warner"]
    pi = proportions(design)
    n = respondents(design, pi)
    null = pi[0] + 3 * planning.standard_error(design, pi, n=n, estimator=estimator)[0] * (1 if pi[0] < 0.5 else -1)
    told = planning.power(design, pi, n=n, null=null, category=design.categories[0], estimator=estimator)
    assert exact_power(design, pi, n=n, null=null, estimator=estimator, method="wald") == pytest.approx(told, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["negative, sets", "gaussian_negative", "k_ary", "product"])
@pytest.mark.parametrize("estimator", ["moments", "maximum_likelihood"])
def test_an_effect_is_found_as_often_as_planned(name, estimator):
    design = CASES[name]
    pi = proportions(design)
    n, u = respondents(design, pi), indicators(estimator, design, pi)
    counts = np.random.default_rng(1936).multinomial(n, design.matrix @ pi, 20_000)
    fits_beside(counts, u, estimator, design)
    planned = planning.standard_error(design, pi, n=n, estimator=estimator)[0]
    null = pi[0] + 3 * planned * (1 if pi[0] < 0.5 else -1)
    mean, error = first_category(counts, u)
    power = np.mean(abs(mean - null) > stats.norm.ppf(0.975) * error)
    told = planning.power(design, pi, n=n, null=null, category=design.categories[0], estimator=estimator)
    assert power == pytest.approx(told, abs=4 * np.sqrt(power * (1 - power) / len(counts)) + 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("name", CHOICES)
def test_every_way_of_choosing_a_level_keeps_what_is_planned(name, target):
    """Each beside a mean of the same answers, whose exact error is known, as likelihood estimates are above."""
    choice, preferences = CHOICES[name]
    pi = simulate.shares(proportions(choice)).people(N) / N  # so that a file can hold them
    how = {"preferences": preferences, "target": target}
    cells = simulate.replicate(choice, pi, n=N, replicates=1, estimators="stratified", **how).survey.cells
    matrix, sizes = np.vstack([each.response_chances for each in cells]), [len(each.codes) for each in cells]
    one, level = np.zeros(sum(sizes), dtype=int), np.repeat(np.arange(len(cells)), sizes)

    def tallied(counts):
        parts = zip(cells, np.split(counts, np.cumsum(sizes)[:-1]), strict=True)
        return Tally(tuple(each.part(count, 0) for each, count in parts))

    def fits(counts, estimator):
        return estimate.ESTIMATORS[estimator].fit(choice, tallied(counts), target).proportions

    x = np.array([fits(one + (np.arange(len(one)) == place), "stratified") for place in range(len(one))])
    chances = matrix @ pi
    shares = np.bincount(level, chances)
    means = {"stratified": x}
    if name != "tied":
        trace = np.bincount(level, chances * ((x - pi) ** 2).sum(axis=1)) / shares
        for estimator, z in (("stratified_equal", np.ones(len(cells))), ("stratified_variance", shares / trace)):
            means[estimator] = pi + (z / z.sum() / shares)[level, None] * (x - pi)
        means["pooled"] = efficient(matrix, pi)
    rng, people = np.random.default_rng(1936), np.rint(N * pi).astype(int)
    groups = zip(people, matrix.T, strict=True) if target == "file" else [(N, chances)]
    drawn = np.sum([rng.multinomial(n, each, SURVEYS) for n, each in groups], axis=0)
    for estimator, u in means.items():
        moving = matrix * pi if target == "file" else chances[:, None]
        exact = np.sqrt(sum(each @ u**2 - (each @ u) ** 2 / each.sum() for each in moving.T) / N)
        planned = planning.standard_error(choice, pi, n=N, estimator=estimator, **how)
        np.testing.assert_allclose(exact, planned, rtol=1e-6)
        found, mean = np.array([fits(counts, estimator) for counts in drawn]), drawn @ u / N
        assert np.sqrt(found.var(axis=0).sum() / mean.var(axis=0).sum()) == pytest.approx(1, abs=0.03)
        assert (np.abs((found - mean).mean(axis=0)) < 0.1 * planned).all()


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
    u, means, errors = indicators("moments", design, first), [], []
    for pi, n, seed in zip((first, second), sizes, (1, 2), strict=True):
        counts = np.random.default_rng(seed).multinomial(n, design.matrix @ pi, 20_000)
        fits_beside(counts, u, "moments", design)
        mean, error = first_category(counts, u)
        means.append(mean)
        errors.append(error)
    power = np.mean(abs(means[0] - means[1]) > stats.norm.ppf(0.975) * np.hypot(*errors))
    told = planning.difference_power(design, first, second, n=sizes, category=design.categories[0], estimator="moments")
    assert power == pytest.approx(told, abs=4 * np.sqrt(power * (1 - power) / 20_000) + 0.005)


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
    wrong = planning.standard_error(design, pi, n=N, target="file")
    right = spread(indicators("moments", design, pi), design.matrix @ pi, N)
    assert (right > 1.05 * wrong).any()
