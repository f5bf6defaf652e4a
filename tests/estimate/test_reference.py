"""Published and peer numbers come out."""

import numpy as np
import pytest

from naysay import designs, estimate

# Bao, Luo & Zhang (2013), section 3.1 and figure 2: answers of 100 people, and what the three methods make of them.
BAO = [
    ((23, 22, 20, 18, 17), (8, 12, 20, 28, 32), (8, 12, 20, 28, 32)),
    ((2, 8, 16, 29, 45), (92, 68, 36, -16, -80), (80, 20, 0, 0, 0)),
]


@pytest.fixture
def survey():
    return designs.negative(tuple("abcde"))


@pytest.mark.parametrize(("named", "unbounded", "bounded"), BAO)
def test_the_three_reconstructions_give_the_numbers_of_bao_luo_and_zhang(survey, named, unbounded, bounded):
    tally = survey.tally(count=named)
    assert estimate.nstops(survey, tally).counts == pytest.approx(unbounded, abs=1e-9)
    assert estimate.nstops_ii(survey, tally).counts == pytest.approx(bounded, abs=1e-6)
    assert estimate.maximum_likelihood(survey, tally).counts == pytest.approx(bounded, abs=1e-6)
    assert estimate.nstops_i(survey, tally).counts == pytest.approx(bounded, abs=0.005)
    assert estimate.nstops_i(survey, tally, tol=1e-11).counts == pytest.approx(bounded, abs=1e-6)


def test_the_path_of_nstops_i_starts_even_and_never_lowers_the_likelihood(survey):
    fit = estimate.nstops_i(survey, survey.tally(count=BAO[1][0]))
    assert fit.path[0] == pytest.approx([20.0] * 5)
    assert fit.path.sum(axis=1) == pytest.approx(100.0)
    likelihood = np.log(fit.path / 100 @ survey.matrix.T) @ BAO[1][0]
    assert (np.diff(likelihood) > -1e-9).all()
    assert np.abs(np.diff(fit.path[-2:], axis=0)).max() < 1e-4 <= np.abs(np.diff(fit.path[-3:-1], axis=0)).max()


def test_categories_that_nobody_named_share_everybody_evenly_and_say_so(survey):
    tally = survey.tally(count=[0, 0, 30, 30, 40])
    for method in (estimate.nstops_ii, estimate.maximum_likelihood):
        fit = method(survey, tally)
        assert fit.counts == pytest.approx([50, 50, 0, 0, 0], abs=1e-6)
        assert np.isnan(fit.standard_errors[:2]).all()
        assert any("not determined" in str(told) for told in fit.warnings)
        assert fit.interval()[:2] == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-3)


def test_one_category_never_named_is_no_special_case(survey):
    tally = survey.tally(count=[0, 20, 25, 25, 30])
    fit = estimate.nstops_ii(survey, tally)
    assert fit.counts == pytest.approx(estimate.maximum_likelihood(survey, tally).counts, abs=1e-6)
    assert not np.isnan(fit.standard_errors).any()


def test_two_coins_at_200_answers_have_the_textbook_error():
    coins = designs.two_coins()
    fit = estimate.moments(coins, coins.tally(count=[65, 135]))
    assert fit.proportions[0] == pytest.approx(0.15)
    assert fit.standard_errors[0] == pytest.approx(0.066, abs=0.002)


def test_nstops_i_serves_the_gaussian_survey_and_goes_where_the_likelihood_is_largest():
    rng = np.random.default_rng(7)
    labels = tuple("1234567")
    survey = designs.gaussian_negative(labels, sigma=1)
    places = np.clip(np.rint(1 + rng.exponential(1.0329, 100)), 1, 7).astype(int)
    tally = survey.tally(survey.randomize(places.astype(str), rng=rng))
    fit = estimate.nstops_i(survey, tally, tol=1e-9)
    assert fit.counts.min() >= 0
    assert fit.counts == pytest.approx(estimate.maximum_likelihood(survey, tally).counts, abs=1e-3)


def test_the_reconstructions_refuse_designs_that_they_are_not_for():
    pairs = designs.negative(tuple("abcd"), discards=2)
    gaussian = designs.gaussian_negative(tuple("abcd"), sigma=1)
    said = pairs.tally([{"a", "b"}, {"c", "d"}])
    with pytest.raises(ValueError, match="NStoPS is for negative surveys with one answer"):
        estimate.nstops(pairs, said)
    with pytest.raises(ValueError, match="uniform negative survey with one answer"):
        estimate.nstops_ii(gaussian, gaussian.tally(count=[1, 2, 3, 4]))
    with pytest.raises(ValueError, match="NStoPS-I is for"):
        estimate.nstops_i(designs.warner(p=0.7), designs.warner(p=0.7).tally(count=[1, 2]))
