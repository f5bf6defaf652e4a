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


def test_the_test_of_arms_that_hardly_anybody_gets_holds_its_level():
    """Of 330 people a third of one is expected in two of the arms: by χ², ten times too many were below .001."""
    n, weights = 330, (1000, 1, 1)
    sizes = [(n - a - b, a, b) for a, b in itertools.product(range(5), repeat=2)]
    law = scipy.stats.multinomial.pmf(sizes, n, np.array(weights) / 1002)
    tests = [lot(weights, size) for size in sizes]
    values = np.array([test.p_value for test in tests])
    assert tests[0].test_name == "Pearson's test (99,999 draws of the lot)"
    assert law[values <= 0.001].sum() < 0.00115
    assert law[values <= 0.05].sum() < 0.051
    assert any("warning" in line for line in lot(weights, (326, 4, 0)).lines())


def test_a_warning_stands_where_people_left_one_arm():
    assert not any("warning" in line for line in lot((1, 1), (520, 480)).lines())
    assert any("people left one arm more often" in line for line in lot((1, 1), (600, 400)).lines())
    assert "a over b 1.50" in " ".join(lot((1, 1), (600, 400)).lines())


def test_within_each_stratum_sizes_are_held_against_the_same_lot():
    """Nothing shows in all, as one arm loses in the north what the other loses in the south."""
    sizes = {"north": (160, 240), "south": (240, 160), "west": (10, 9)}
    test = LotTest(("a", "b"), (1, 1), (410, 409), 0.95, "region", sizes)
    assert test.p_value > 0.9
    assert test.within["north"].p_value == pytest.approx(scipy.stats.binomtest(160, 400).pvalue)
    said = "\n".join(test.lines())
    assert (
        "within the answers to “region” the lot is the same in each; exact binomial test: north: a 160, b 240" in said
    )
    assert "warning: the sizes in “north” are not those of the lot" in said
    assert "people are in none of these" not in said
    assert "3 people are in none" in "\n".join(LotTest(("a", "b"), (1, 1), (412, 410), 0.95, "region", sizes).lines())
    assert test.numbers()["within"]["west"]["counts"] == (10, 9)
    assert "are not shown here" in LotTest(("a", "b"), (1, 1), (5, 4), 0.95, "region", {}).lines()[-1]


def test_of_many_strata_one_may_be_rare_without_a_warning():
    """Of twenty, one is below .001 by chance in one survey of fifty."""
    even = {f"r{number:02}": (200, 200) for number in range(19)}
    rare = {"far": (164, 236)}
    assert 0.001 / 20 < scipy.stats.binomtest(164, 400).pvalue < 0.001
    for sizes, is_warned in ((even | rare, False), (rare, True)):
        counts = tuple(map(sum, zip(*sizes.values(), strict=True)))
        said = LotTest(("a", "b"), (1, 1), counts, 0.95, "region", sizes).lines()
        assert any("warning: the sizes in “far”" in line for line in said) == is_warned


def test_each_of_three_arms_is_compared_with_the_others():
    said = " ".join(lot((3, 2, 1), (30, 20, 10)).lines())
    assert [
        words in said for words in ("a over the others 1.00", "b over the others 1.00", "c over the others 1.00")
    ] == [True] * 3


def test_three_arms_in_a_small_stratum_are_tested_exactly_and_in_a_large_one_by_pearson():
    assert lot((1, 1, 1), (3, 0, 0)).p_value == pytest.approx(1 / 9)  # 3 of 27 outcomes are as rare
    assert lot((3, 2, 1), (30, 20, 10)).p_value == 1.0
    assert lot((1, 1, 1), (90, 100, 120)).test_name == "exact multinomial test"
    assert lot((1, 1, 1), (900, 1000, 1200)).test_name == "Pearson's test"
    assert lot((1, 1, 1), (90, 100, 120)).p_value == pytest.approx(
        scipy.stats.chisquare((90, 100, 120)).pvalue, abs=0.01
    )


def test_an_arm_that_nobody_completed_is_compared_in_words():
    for counts, words in (((0, 5), "a over b at most 1.09 (nobody completed a)"),
                          ((5, 0), "a over b at least 0.92 (nobody completed b)")):  # fmt: skip
        said = " ".join(LotTest(("a", "b"), (1, 1), counts, 0.95).lines())
        assert words in said
        assert "inf" not in said
    sizes = {"north": (5, 5)}
    assert "1 person is in none" in "\n".join(LotTest(("a", "b"), (1, 1), (6, 5), 0.95, "region", sizes).lines())


@pytest.mark.parametrize(("n", "powers"), [(1_000, (0, 0.053)), (4_000, (0.6244, 0.5491))])
def test_the_test_of_sizes_hardly_sees_that_fewer_complete_in_one_arm(n, powers):
    """Of one arm .9 complete, of the other .8. First: exactly half of the people are in each; then: a lot for each."""
    totals = range(round(0.85 * n) - 5 * round((0.13 * n) ** 0.5), round(0.85 * n) + 5 * round((0.13 * n) ** 0.5))
    most, power = totals[0] // 2, np.zeros(2)
    first, second = (scipy.stats.binom(n // 2, share) for share in (0.9, 0.8))
    for total in totals:
        most = max(most, total // 2)
        while lot((1, 1), (most, total - most)).p_value >= 0.001:
            most += 1
        sizes = np.arange(most, min(total, n // 2) + 1)
        power[0] += first.pmf(sizes) @ second.pmf(total - sizes)
        power[1] += scipy.stats.binom.pmf(total, n, 0.85) * scipy.stats.binom.sf(most - 1, total, 0.9 / 1.7)
        most -= 1
    assert power == pytest.approx(powers, abs=1e-3)
