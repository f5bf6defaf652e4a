"""Profiles of the likelihood that are reached in two ways are one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.estimate import inversion
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.likelihood import evidence, maximize

CHEATING = designs.cheating_detection(p=(0.25, 0.75))


@given(st.lists(st.integers(20, 400), min_size=4, max_size=4))
def test_the_profile_of_a_share_is_the_profile_of_a_proportion(counts):
    tally = CHEATING.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=counts)
    rows, weights, _ = evidence(tally)
    start = 0.999 * maximize(rows, weights).proportions + 0.001 / 3
    ends = inversion.likelihood_profile(rows, weights, start, np.full(3, 3.84))
    for cell, unit in enumerate(np.eye(3)):
        found = inversion.share_profile(inversion.told_summit(rows, weights, start), unit, np.ones(3), 3.84)
        assert found == pytest.approx(ends[cell], abs=1e-6)


@pytest.mark.parametrize("yes", [(393, 113), (420, 130), (300, 200), (120, 110)])
def test_the_interval_of_a_ratio_holds_its_estimate_and_is_the_other_way_round_for_the_rest(yes):
    survey = designs.stochastic_lie_detector(p=(0.2, 0.8))
    counts = [yes[0], 500 - yes[0], yes[1], 500 - yes[1]]
    fit = estimate.maximum_likelihood(survey, survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=counts))
    low, high = nuisance_intervals(fit)["truth-tellers"]
    assert 0 <= low <= fit.nuisance["truth-tellers"].value <= high <= 1


def test_a_ratio_whose_denominator_can_be_nothing_is_not_known_at_all():
    survey = designs.stochastic_lie_detector(p=(0.2, 0.8))
    tally = survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[393, 107, 113, 387])
    assert nuisance_intervals(estimate.maximum_likelihood(survey, tally))["truth-tellers"] == (0.0, 1.0)
