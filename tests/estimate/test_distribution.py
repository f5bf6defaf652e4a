"""Distributions as displays, by the published accuracy; and shares moved to the simplex."""

import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate
from naysay.errors import DataError

# Mean Wasserstein-1 distance to Beta(5, 2), n = 100,000, 256 points: EM without and with smoothing.
DISTANCES = {1: (0.0076, 0.0052), 2: (0.0044, 0.0024)}


@pytest.mark.parametrize("epsilon", DISTANCES)
def test_smoothing_brings_the_square_wave_as_near_as_published(epsilon):
    rng, law = np.random.default_rng(epsilon), stats.beta(5, 2)
    design = designs.number(low=0, high=1, epsilon=epsilon, aim="distribution")
    tally = design.tally(design.randomize(law.rvs(100_000, random_state=rng), rng=rng))
    grid, found = np.linspace(0, 1, 2_001), []
    for smooth in (False, True):
        fit = estimate.distribution(design, tally, smooth=smooth)
        edges = np.concatenate([[0], (fit.points[1:] + fit.points[:-1]) / 2, [1]])
        below = np.interp(grid, edges, np.concatenate([[0], np.cumsum(fit.shares)]))
        found.append(np.abs(below - law.cdf(grid)).mean())
    assert found == pytest.approx(DISTANCES[epsilon], rel=0.6)
    assert found[1] < found[0]
    assert fit.quantile(0.5)[0] == pytest.approx(law.median(), abs=0.012)
    assert fit.shares.sum() == pytest.approx(1)
    assert fit.shares.min() >= 0


def test_the_display_says_that_it_is_one_and_stands_beside_the_mean():
    rng = np.random.default_rng(9)
    design = designs.window(low=0, high=30, epsilon=4, steps=15, width=4)
    tally = design.tally(design.randomize(rng.normal(15, 4, 4_000).clip(0, 30), rng=rng))
    fit = estimate.distribution(design, tally)
    told = str(fit)
    assert told.count("(display)") == 5
    assert "biased by design" in told
    assert "bootstraps of the whole chain" in told
    unbiased = estimate.mean(design, tally)
    assert fit.rows()[-1] == unbiased.rows()[0]
    median = fit.rows()[2]
    assert median.low < median.estimate < median.high
    assert fit.to_dict()["display"] == fit.shares.tolist()


def test_what_has_no_distribution_is_one_clear_error():
    rough = designs.window(low=0, high=1, epsilon=1, steps=1, width=1)
    with pytest.raises(DataError, match="a grid of three points or more"):
        estimate.distribution(rough, rough.tally([0, 1]))
    coins = designs.k_ary(("a", "b", "c"), epsilon=1)
    with pytest.raises(DataError, match="categories that are numbers in order"):
        estimate.distribution(coins, coins.tally(["a"]))
    fine = designs.number(low=0, high=1, epsilon=1, aim="distribution")
    with pytest.raises(DataError, match="got a file"):
        estimate.distribution(fine, fine.tally([3, 4]), target="file")


def test_projected_shares_are_the_nearest_ones():
    rng = np.random.default_rng(1)
    for _ in range(200):
        raw = rng.normal(0.1, 0.4, rng.integers(2, 9))
        near = estimate.projected(raw)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(1, abs=1e-12)
        for _ in range(20):  # the angle to every other vector of shares is obtuse: the theorem on projections
            other = rng.dirichlet(np.full(len(raw), 0.5))
            assert (raw - near) @ (other - near) <= 1e-9
    np.testing.assert_allclose(estimate.projected([0.2, 0.3, 0.5]), [0.2, 0.3, 0.5], atol=1e-15)
    with pytest.raises(DataError, match="finite"):
        estimate.projected([0.1, np.nan])


def test_projection_biases_sums_and_is_printed_as_a_display():
    """A share of .9 in one of 16 categories, n = 2,000, ε = 1: cutting off and scaling up misses it by far."""
    rng, design = np.random.default_rng(16), designs.affine(16, epsilon=1)
    pi = np.array([0.9, *[0.1 / 15] * 15])
    raw, near, scaled = [], [], []
    for _ in range(60):
        fit = estimate.moments(design, design.tally(design.randomize(rng.choice(16, 2_000, p=pi), rng=rng)))
        cut = np.maximum(fit.proportions, 0)
        raw.append(fit.proportions[0])
        near.append(fit.projected().shares[0])
        scaled.append(cut[0] / cut.sum())
    assert np.mean(raw) == pytest.approx(0.9, abs=4 * np.std(raw) / 60**0.5)
    assert np.mean(scaled) < np.mean(near) - 0.06
    assert np.mean(near) < np.mean(raw)
    told = str(fit.projected())
    assert "display" in told
    assert "not a basis for intervals" in told
