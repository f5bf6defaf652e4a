"""The band holds whatever people's preferences make of a two-option survey, and no more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate

LABELS = tuple("abcd")


def preferences(seed, *, extreme):
    rng = np.random.default_rng(seed)
    theta = rng.integers(0, 2, (4, 4)).astype(float) if extreme else rng.random((4, 4)).round(3)
    upper = np.triu(theta, 1)
    return upper + np.tril(1 - upper.T, -1)


@given(st.integers(0, 10_000), st.booleans(), st.lists(st.integers(1, 60), min_size=4, max_size=4))
def test_no_preferences_lead_out_of_the_band(seed, extreme, shares):
    """Answers made by any θ: the true proportions lie in the band that is computed without knowing θ."""
    pi = np.array(shares) / sum(shares)
    theta = preferences(seed, extreme=extreme)
    said = designs.two_option(LABELS, preferences=theta.tolist()).matrix @ pi
    survey = designs.two_option(LABELS)
    band = estimate.preference_band(survey, survey.tally(list(LABELS), weights=said))
    assert (band[:, 0] <= pi + 1e-7).all()
    assert (pi <= band[:, 1] + 1e-7).all()


def test_the_ends_of_the_band_are_reached_by_some_preferences():
    survey = designs.two_option(LABELS)
    said = np.array([0.28, 0.24, 0.26, 0.22])
    band = estimate.preference_band(survey, survey.tally(list(LABELS), weights=said))
    rng = np.random.default_rng(0)
    reached = []
    for seed in range(4_000):
        theta = preferences(rng.integers(2**31), extreme=seed % 2 == 0)
        matrix = designs.two_option(LABELS, preferences=theta.tolist()).matrix
        if np.linalg.cond(matrix) < 1e6:
            pi = np.linalg.solve(matrix, said)
            if pi.min() >= 0:
                reached.append(pi)
    reached = np.array(reached)
    assert (reached.min(axis=0) >= band[:, 0] - 1e-7).all()
    assert (reached.max(axis=0) <= band[:, 1] + 1e-7).all()
    assert np.abs(reached.max(axis=0) - band[:, 1]).max() < 0.1


@pytest.mark.parametrize("shown", [2, 3])
def test_an_honest_coin_lies_in_the_middle_of_the_band(shown):
    survey = designs.two_option(tuple("abcde"), shown=shown)
    fit = estimate.moments(survey, survey.tally(count=[100, 210, 230, 220, 240]))
    assert (fit.sensitivity[:, 0] <= fit.proportions + 1e-9).all()
    assert (fit.proportions <= fit.sensitivity[:, 1] + 1e-9).all()
    assert "band low" in str(fit)


def test_showing_more_options_gives_preferences_more_room():
    counts = [180, 210, 200, 205, 205]
    two, three = (designs.two_option(tuple("abcde"), shown=shown) for shown in (2, 3))
    narrow, wide = (estimate.preference_band(survey, survey.tally(count=counts)) for survey in (two, three))
    assert (np.ptp(wide, axis=1) >= np.ptp(narrow, axis=1) - 1e-9).all()


def test_answers_beyond_all_preferences_still_get_a_band():
    survey = designs.two_option(LABELS)  # no category can be named by more than 2/t of all
    band = estimate.preference_band(survey, survey.tally(count=[90, 4, 3, 3]))
    assert np.isfinite(band).all()
    assert (band[:, 0] <= band[:, 1] + 1e-9).all()


def test_other_designs_have_no_band():
    survey = designs.negative(LABELS)
    fit = estimate.moments(survey, survey.tally(count=[1, 2, 3, 4]))
    assert fit.sensitivity is None
    with pytest.raises(ValueError, match="two_option"):
        estimate.preference_band(survey, fit.tally)
