"""Ranks: by theorem, by a second route over all pairs, and their coverage with ties and on random shares."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm, studentized_range

from naysay import designs, estimate, planning
from naysay.design import Design
from naysay.errors import DataError
from naysay.estimate.fit import Fit
from naysay.estimate.ranks import critical_values, difference_errors, normal_draws
from naysay.tally import Tally

FOUR = ("Ada", "Ben", "Cleo", "Dan")
PUBLISHED = json.loads((Path(__file__).parents[1] / "reference" / "ranks.json").read_text("utf-8"))


def election(shares: np.ndarray, n: int, rng: np.random.Generator) -> estimate.Estimate:
    survey = designs.negative(FOUR)
    return estimate.moments(survey, survey.tally(count=rng.multinomial(n, survey.matrix @ shares)))


def coverage(shares: np.ndarray, *, n: int, surveys: int, seed: int) -> tuple[float, float, float]:
    """How often all rank sets hold, how often that of the second category does, and how often a leader is left out."""
    rng = np.random.default_rng(seed)
    best = 1 + (shares[:, None] > shares[None, :]).sum(axis=0)
    worst = len(shares) - (shares[:, None] < shares[None, :]).sum(axis=0)
    leading = np.flatnonzero(shares == shares.max())
    together = alone = leads = 0
    for _ in range(surveys):
        found = election(shares, n, rng).ranks(rng=rng)
        holds = (found.joint[:, 0] <= best) & (found.joint[:, 1] >= worst)
        together += holds.all()
        alone += found.single[1, 0] <= best[1] and found.single[1, 1] >= worst[1]
        leads += found.may_lead[leading[0]]
    return together / surveys, alone / surveys, leads / surveys


@pytest.mark.parametrize(
    ("shares", "n"),
    [([0.25] * 4, 800), ([0.4, 0.4, 0.1, 0.1], 800), ([0.55, 0.3, 0.15, 0.0], 400), ([0.9, 0.04, 0.03, 0.03], 300)],
)
def test_the_sets_hold_the_true_ranks_and_the_leader_ties_included(shares: list[float], n: int) -> None:
    together, alone, leads = coverage(np.array(shares), n=n, surveys=150, seed=5)
    least = 0.95 - 4 * np.sqrt(0.95 * 0.05 / 150)
    assert min(together, alone, leads) > least


@pytest.mark.parametrize(
    ("survey", "n"),
    [
        (designs.negative(tuple("abcdef"), discards=2), 12),  # without the error of a tie the sets held in 78 of 100
        (designs.negative(tuple("abcde")), 30),
        (designs.direct(tuple("abcde")), 15),
    ],
)
def test_the_sets_hold_among_few_people_too(survey: Design, n: int) -> None:
    rng, t, surveys = np.random.default_rng(8), len(survey.categories), 120
    together = sum(
        estimate.moments(survey, survey.tally(count=counts)).ranks().joint.tolist() == [[1, t]] * t
        for counts in rng.multinomial(n, survey.matrix.mean(axis=1), size=surveys)
    )
    assert together / surveys > 0.95 - 4 * np.sqrt(0.95 * 0.05 / surveys)


@pytest.mark.parametrize("n", [12, 17, 22, 29])
def test_two_who_tie_among_few_people_are_both_in_the_set_of_the_leader(n: int) -> None:
    """Over all counts of n answers. With normal quantiles .927, .928, .933 and .932 of surveys held."""
    survey, holds = designs.direct(("a", "b")), 0.0
    for count in range(n + 1):
        held = "a" in estimate.moments(survey, survey.tally(count=[count, n - count])).ranks().leaders
        holds += held * binom.pmf(count, n, 0.5)
    assert holds > 0.96


def test_the_critical_values_are_those_of_published_tables() -> None:
    """Tukey's range of four means: 3.633 (Pearson & Hartley), over √2. Dunnett's one-sided d of three: 2.06."""
    independent = np.eye(4)
    found = critical_values(
        normal_draws(independent, np.random.default_rng(1)), difference_errors(independent), confidence=0.95
    )
    assert studentized_range.ppf(0.95, 4, 1e6) == pytest.approx(3.633, abs=0.001)
    assert found.joint == pytest.approx(3.633 / np.sqrt(2), abs=0.04)
    assert found.leader == pytest.approx(np.full(4, 2.06), abs=0.05)


def published_fit(names: tuple[str, ...], estimates: np.ndarray, errors: np.ndarray) -> Fit:
    """Independent published estimates as an estimate of naysay, in units that make them look like shares."""
    survey = designs.direct(names)
    tally = survey.tally(count=np.full(len(names), 10**9))  # so many that the error of a tie is the published error
    return Fit(survey, tally, "published", "π", estimates, np.diag(errors**2), "published", "test")


def test_ranks_of_countries_are_those_that_csranks_publishes() -> None:
    """PISA 2018. csranks goes on stepwise after the sets of one step, which are ours, so its sets are never wider."""
    names, scores, errors = zip(*PUBLISHED["mathematics"], strict=True)
    found = estimate.ranks(published_fit(names, np.array(scores) / 1_000, np.array(errors) / 1_000))
    assert found.rank.tolist() == PUBLISHED["ranks"]
    together = dict(zip(names, found.joint.tolist(), strict=True))
    low, high = found.single[names.index("United Kingdom")].tolist()
    assert (low + 1, high) == tuple(
        PUBLISHED["united_kingdom"]
    )  # 8 to 23 is printed, and 7 to 23 in the words below it
    best_five = {name for name, (low, _) in together.items() if low <= 5}
    assert best_five - set(PUBLISHED["best_five"]) == {"United Kingdom"}  # two-sided here, one-sided and stepwise there
    assert set(PUBLISHED["best_five"]) <= best_five
    assert [together[name] for name in ("Chile", "Mexico", "Colombia")] == [[35, 36], [35, 36], [37, 37]]
    assert together["Germany"][0] == together["Korea"][1] == 7  # both may be seventh, as the vignette says


def test_ranks_of_states_are_within_the_sets_of_klein_wright_and_wieczorek() -> None:
    """Travel time in 51 states at 90 %. Their sets come from intervals that do not overlap, which asks for more."""
    names, minutes, margins = zip(*PUBLISHED["travel_time"], strict=True)
    times, errors = np.array(minutes), np.array(margins) / norm.ppf(0.95)
    critical = norm.ppf((1 + 0.9 ** (1 / 51)) / 2)
    assert critical == pytest.approx(PUBLISHED["independent_intervals"], abs=5e-4)
    low, high = times - critical * errors, times + critical * errors
    theirs = [[1 + (high <= low[k]).sum(), 51 - (low >= high[k]).sum()] for k in range(51)]
    found = estimate.ranks(published_fit(names, -times / 1_000, errors / 1_000), confidence=0.9)
    assert found.rank.tolist() == [1 + int((times < own).sum()) for own in times]
    assert (found.joint[:, 0] >= np.array(theirs)[:, 0]).all()
    assert (found.joint[:, 1] <= np.array(theirs)[:, 1]).all()
    assert (theirs[names.index("MD")], found.joint[names.index("MD")].tolist()) == ([50, 51], [51, 51])
    assert (found.joint != theirs).any(axis=1).sum() > 25


def test_who_is_alone_in_the_set_leads_by_more_than_the_margin() -> None:
    rng, surveys, true_lead = np.random.default_rng(9), 150, 0.1
    shares = np.array([0.4, 0.4 - true_lead, 0.2, 0.1])
    claims = sum(
        len(election(shares, 1_500, rng).ranks(margin=true_lead).leaders) == 1 for _ in range(surveys)
    )  # it leads by no more than that: an error each time
    assert claims / surveys < 0.05 + 4 * np.sqrt(0.05 * 0.95 / surveys)


def test_the_power_to_show_who_leads_is_that_of_simulated_elections() -> None:
    rng, surveys, shares = np.random.default_rng(10), 120, np.array([0.45, 0.3, 0.15, 0.1])
    survey = designs.negative(FOUR)
    for n, margin in ((800, 0.0), (3_000, 0.05)):
        shown = sum(election(shares, n, rng).ranks(margin=margin).leaders == ("Ada",) for _ in range(surveys))
        power = planning.lead_power(survey, shares, n=n, margin=margin, estimator="moments")
        assert abs(shown / surveys - power) < 4 * np.sqrt(power * (1 - power) / surveys) + 0.02
    n = planning.lead_sample_size(survey, shares, margin=0.05)
    assert (
        planning.lead_power(survey, shares, n=n - 1, margin=0.05)
        < 0.8
        <= planning.lead_power(survey, shares, n=n, margin=0.05)
    )
    with pytest.raises(DataError, match=r"'Ada' and 'Ben' differ by 0\.15"):
        planning.lead_sample_size(survey, shares, margin=0.15)


def test_where_all_share_the_lead_the_sets_are_no_wider_than_they_must_be() -> None:
    together, _, leads = coverage(np.full(4, 0.25), n=2_000, surveys=150, seed=6)
    assert abs(together - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 150)
    assert abs(leads - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 150)


def test_of_two_categories_the_sets_and_the_chance_are_those_of_the_normal_law() -> None:
    survey = designs.warner(p=0.8)
    fit = estimate.moments(survey, survey.tally(count=[560, 440]))
    found = fit.ranks()
    z = (fit.proportions[0] - fit.proportions[1]) / (2 * fit.standard_errors[0])
    assert found.chance_of_leading[0] == pytest.approx(norm.cdf(z), abs=0.005)
    assert found.leaders == (("yes",) if z > norm.ppf(0.95) else ("yes", "no"))
    assert found.joint.tolist() == ([[1, 1], [2, 2]] if z > norm.ppf(0.975) else [[1, 2], [1, 2]])


def test_a_rank_set_counts_the_pairs_that_are_told_apart() -> None:
    fit = election(np.array([0.5, 0.3, 0.15, 0.05]), 3_000, np.random.default_rng(2))
    found, narrow = fit.ranks(), fit.ranks(0.5)
    for j, k in itertools.permutations(range(4), 2):  # a category that is surely ahead has the lower ranks
        if found.joint[j, 1] < found.joint[k, 0]:
            assert fit.proportions[j] > fit.proportions[k]
    assert (found.joint[:, 0] <= found.single[:, 0]).all() and (found.joint[:, 1] >= found.single[:, 1]).all()
    assert (found.joint[:, 0] <= narrow.joint[:, 0]).all() and (found.joint[:, 1] >= narrow.joint[:, 1]).all()


def test_a_new_order_of_the_categories_changes_no_rank() -> None:
    counts, order = np.array([500, 700, 780, 820]), [2, 0, 3, 1]
    survey, other = designs.negative(FOUR), designs.negative([FOUR[place] for place in order])
    found = estimate.moments(survey, survey.tally(count=counts)).ranks()
    again = estimate.moments(other, other.tally(count=counts[order])).ranks()
    assert again.rank.tolist() == found.rank[order].tolist()
    assert again.joint.tolist() == found.joint[order].tolist()


def test_without_randomization_sets_and_direct_counts_agree() -> None:
    survey = designs.direct(("a", "b", "c"))
    found = estimate.moments(survey, survey.tally(count=[300, 200, 195])).ranks()
    assert found.joint.tolist() == [[1, 1], [2, 3], [2, 3]]


def test_answers_that_are_all_alike_tell_no_order() -> None:
    survey = designs.direct(("a", "b"))
    assert estimate.moments(survey, survey.tally(count=[9, 0])).ranks().leaders == ("a", "b")


def test_a_lead_of_three_points_is_rarer_than_a_lead() -> None:
    fit = election(np.array([0.4, 0.35, 0.15, 0.1]), 3_000, np.random.default_rng(3))
    assert (fit.ranks(margin=0.03).chance_of_leading <= fit.ranks().chance_of_leading).all()
    with pytest.raises(DataError, match=r"3 points are 0\.03"):
        fit.ranks(margin=3)


def test_at_the_boundary_the_unbiased_estimate_is_ranked() -> None:
    survey = designs.negative(FOUR)
    tally: Tally = survey.tally(count=[10, 60, 70, 80])
    likely, unbiased = estimate.maximum_likelihood(survey, tally), estimate.moments(survey, tally)
    assert likely.proportions.min() == 0
    assert likely.ranks().proportions.tolist() == unbiased.proportions.tolist()
