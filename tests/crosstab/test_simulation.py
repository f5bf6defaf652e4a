"""Do the intervals hold, and do the tests have their size? On tables drawn at random."""

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.crosstab import Crosstab, Variable, independence
from naysay.crosstab.independence import test as independence_test
from naysay.crosstab.intervals import correlation, yules_q
from naysay.estimate.likelihood import evidence, maximize

YN = ("yes", "no")
WARNER = designs.warner(p=0.8)
TABLES = 120


def most_misses(n, chance=0.05):
    """Four standard errors above the expected number."""
    return chance * n + 4 * np.sqrt(n * chance * (1 - chance))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1.0, 0.3])
def test_intervals_of_measures_hold_also_where_cells_are_rare(spread):
    rng = np.random.default_rng(2016)
    design = WARNER * designs.crosswise(prevalence=0.25)
    variables = Variable("a", WARNER), Variable("b", designs.crosswise(prevalence=0.25))
    phi = correlation(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    misses, delta, done = np.zeros(3), 0, 0
    while done < TABLES:
        truth = rng.dirichlet([spread] * 4).reshape(2, 2)
        if min(truth.sum(axis=0).min(), truth.sum(axis=1).min()) < 0.02:
            continue
        done += 1
        tally = design.tally(count=rng.multinomial(500, design.matrix @ truth.ravel()))
        found = Crosstab(variables, estimate.maximum_likelihood(design, tally))
        q, ratio = yules_q(truth)[0], found.associations()
        bounds = found.conditional()[1][0, 0]
        true = (1 + q) / (1 - q), phi(truth)[0], truth[0, 0] / truth[0].sum()
        ends = ratio[0].interval, ratio[1].interval, bounds
        misses += [not low - 1e-6 <= value <= high + 1e-6 for value, (low, high) in zip(true, ends, strict=True)]
        value, slope = yules_q(found.proportions)
        error = np.sqrt(max(slope.ravel() @ found.covariance @ slope.ravel(), 0))
        delta += not abs(value - q) <= 1.96 * error
    assert (misses <= most_misses(TABLES)).all()
    if spread < 1:
        assert delta > 2 * misses[0] + 4  # which is why the delta method is not used


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "shape", "truth"),
    [
        (WARNER * designs.direct(YN), (2, 2), np.outer([0.3, 0.7], [0.5, 0.5])),
        (WARNER * designs.crosswise(prevalence=0.25), (2, 2), np.outer([0.05, 0.95], [0.05, 0.95])),
        (designs.k_ary(tuple("abc"), epsilon=2) * WARNER, (3, 2), np.outer([0.8, 0.17, 0.03], [0.2, 0.8])),
    ],
)
def test_tests_keep_their_size(design, shape, truth, monkeypatch):
    monkeypatch.setattr(independence, "_ENOUGH", 2)  # two of 39 exceed what was observed: it is not among the 5 %
    rng = np.random.default_rng(11)
    rejected, drawn = np.zeros(3), 60
    for _ in range(drawn):
        tally = design.tally(count=rng.multinomial(400, design.matrix @ truth.ravel()))
        full = maximize(*evidence(tally)[:2]).log_likelihood
        found = independence_test(tally, shape, full, replicates=39, rng=rng)
        rejected += [found.chi2_p_value < 0.05, found.pearson_p_value < 0.05, found.p_value <= 0.05]
    assert (rejected <= most_misses(drawn)).all()


@pytest.mark.slow
def test_the_test_has_power():
    rng = np.random.default_rng(12)
    design, truth = WARNER * designs.direct(YN), np.array([[0.21, 0.09], [0.29, 0.41]])
    found = []
    for _ in range(60):
        tally = design.tally(count=rng.multinomial(1000, design.matrix @ truth.ravel()))
        full = maximize(*evidence(tally)[:2]).log_likelihood
        found.append(independence_test(tally, (2, 2), full).p_value < 0.05)
    assert np.mean(found) > 0.8
