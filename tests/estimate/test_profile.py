"""Profiles of the likelihood that are reached in two ways are one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.estimate import profile
from naysay.estimate.information import evidence
from naysay.estimate.solver import maximize

CHEATING = designs.cheating_detection(p=(0.25, 0.75))


@given(st.lists(st.integers(20, 400), min_size=4, max_size=4))
def test_the_profile_of_a_share_is_the_profile_of_a_proportion(counts):
    tally = CHEATING.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=counts)
    rows, weights, _ = evidence(tally)
    start = 0.999 * maximize(rows, weights).proportions + 0.001 / 3
    ends = profile.likelihood_profile(rows, weights, start, np.full(3, 3.84))
    for cell, unit in enumerate(np.eye(3)):
        found = profile.share_profile(profile.told_summit(rows, weights, start), unit, np.ones(3), 3.84)
        assert found == pytest.approx(ends[cell], abs=1e-6)
