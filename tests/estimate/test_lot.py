"""The sizes of arms against the lot that made them."""

import itertools

import numpy as np
import pytest
import scipy

from naysay.estimate.plain import LotTest


def lot(weights, counts, confidence=0.95):
    return LotTest(tuple("abcd"[: len(weights)]), weights, counts, confidence)


@pytest.mark.parametrize(("weights", "n"), [((1, 1), 61), ((2, 1), 60), ((1, 9), 80)])
def test_the_test_of_two_arms_is_exact_and_no_share_that_it_excludes_is_likely(weights, n):
    """Every outcome of n draws: those as rare under the lot add up to the p-value, and rejections to the level."""
    chance = weights[0] / sum(weights)
    law = scipy.stats.binom.pmf(np.arange(n + 1), n, chance)
    values = np.array([lot(weights, (size, n - size)).p_value for size in range(n + 1)])
    rare = np.array([law[law <= own * (1 + 1e-9)].sum() for own in law])
    assert np.allclose(values, rare)
    assert law[values <= 0.05].sum() <= 0.05
    assert law[values <= 0.001].sum() <= 0.001


def test_the_ratio_of_completion_is_covered_for_every_ratio():
    """Arms of 2 to 1, of which the first completes half, as much, or twice as often as the other."""
    n, weights = 120, (2, 1)
    ends = np.array([lot(weights, (size, n - size)).completion(0)[1:] for size in range(n + 1)])
    for ratio in (0.25, 0.5, 1.0, 1.5, 4.0):
        share = 2 * ratio / (2 * ratio + 1)
        law = scipy.stats.binom.pmf(np.arange(n + 1), n, share)
        assert law[(ends[:, 0] <= ratio) & (ratio <= ends[:, 1])].sum() >= 0.95
    assert lot(weights, (80, 40)).completion(0)[0] == pytest.approx(1)
    assert lot(weights, (120, 0)).completion(0)[0] == np.inf


def test_the_test_of_three_arms_holds_its_level():
    """Every outcome of 45 draws among 3, 2 and 1 of 6."""
    n, weights = 45, (3, 2, 1)
    sizes = [(a, b, n - a - b) for a, b in itertools.product(range(n + 1), repeat=2) if a + b <= n]
    law = scipy.stats.multinomial.pmf(sizes, n, np.array(weights) / 6)
    values = np.array([lot(weights, size).p_value for size in sizes])
    assert law.sum() == pytest.approx(1)
    assert 0.04 < law[values <= 0.05].sum() < 0.06


def test_a_warning_stands_where_people_left_one_arm():
    assert not any("warning" in line for line in lot((1, 1), (520, 480)).lines())
    assert any("people left one arm more often" in line for line in lot((1, 1), (600, 400)).lines())
    assert "a over b 1.50" in " ".join(lot((1, 1), (600, 400)).lines())
