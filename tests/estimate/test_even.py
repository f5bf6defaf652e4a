"""Estimates of designs that are stored as one pattern are those of their table, without arrays of t times t."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.design import Pattern, Table
from naysay.errors import NotEstimable

METHODS = (estimate.moments, estimate.maximum_likelihood)


@st.composite
def surveys(draw):
    """A pattern, its table, and answers: often some that nobody gave."""
    t = draw(st.integers(3, 9))
    own, other = draw(st.tuples(st.integers(0, 60), st.integers(0, 60)).filter(lambda pair: pair[0] != pair[1]))
    design = Pattern.of(tuple(f"c{place}" for place in range(t)), own, other)
    table = Table(categories=design.categories, space=design.space, weights=design.weights)
    counts = draw(st.lists(st.integers(0, 40) | st.just(0), min_size=t, max_size=t).filter(lambda each: sum(each) > 3))
    return design, table, counts


@given(surveys())
def test_estimates_are_those_of_the_table(survey):
    design, table, counts = survey
    for method in METHODS:
        even, general = (method(each, each.tally(count=counts)) for each in (design, table))
        np.testing.assert_allclose(even.proportions, general.proportions, atol=1e-7)
        assert even.method == general.method
        assert even.standard_error_kind == general.standard_error_kind
        assert [str(each) for each in even.warnings] == [str(each) for each in general.warnings]
        np.testing.assert_allclose(even.covariance, general.covariance, atol=1e-9)
        steep = (general.proportions > 1e-6) | (method is estimate.moments)
        np.testing.assert_allclose(even.standard_errors[steep], general.standard_errors[steep], rtol=1e-4, atol=1e-9)
        found, asked = even.intervals(), general.intervals()
        assert found.method == asked.method
        np.testing.assert_allclose(found.bounds, asked.bounds, atol=1e-6)


@given(surveys())
def test_the_maximum_is_certified_as_the_solver_does(survey):
    design, table, counts = survey
    even, general = (estimate.maximum_likelihood(each, each.tally(count=counts)).maximum for each in (design, table))
    assert even.log_likelihood >= general.log_likelihood - 1e-9 * max(1.0, abs(general.log_likelihood))
    assert even.total_gap < 1e-6
    np.testing.assert_array_equal(even.open, general.open)
    assert even.undetermined.shape == general.undetermined.shape


@pytest.mark.parametrize("method", ["score", "wald", "profile", "bootstrap"])
def test_every_method_of_intervals_is_there(method):
    design = Pattern.of(tuple("abcd"), own=5, other=1)
    table = Table(categories=design.categories, space=design.space, weights=design.weights)
    for estimator in METHODS:
        fits = [estimator(each, each.tally(count=[40, 30, 20, 30])) for each in (design, table)]
        even, general = (fit.interval(method=method) for fit in fits)
        np.testing.assert_allclose(even, general, atol=1e-7)


@given(surveys(), st.sampled_from(["anyone", "alike"]), st.floats(0, 0.9))
def test_bands_of_noncompliance_are_those_of_the_table(survey, who, share):
    assume(survey[0].other > 0)  # the direct question leaves nothing to chance
    for method in METHODS:
        even, general = (method(each, each.tally(count=survey[2])) for each in survey[:2])
        bands = [estimate.noncompliance_band(each, share=share, noncompliers=who) for each in (even, general)]
        np.testing.assert_allclose(*bands, atol=1e-9)
        assert (even.noncompliance() is None) == (general.noncompliance() is None)


def test_printed_as_others_are():
    design = Pattern.of(tuple("abcd"), own=5, other=1, name="k_ary(epsilon=1.6)")
    table = Table(categories=design.categories, space=design.space, weights=design.weights, name=design.name)
    for estimator in METHODS:
        even, general = (str(estimator(each, each.tally(count=[40, 30, 20, 3]))) for each in (design, table))
        assert even == general


def test_noise_alone_is_refused_at_once():
    noise = designs.uniform(tuple(range(2_000)))
    for method in METHODS:
        with pytest.raises(NotEstimable, match=r"cannot tell 0 from 1.*rank 0, 1999 needed"):
            method(noise, noise.tally([0, 1, 5]))


@pytest.mark.parametrize("family", [lambda labels: designs.k_ary(labels, epsilon=6), designs.negative])
def test_ten_thousand_categories_are_estimated_without_a_table(family):
    labels = tuple(f"c{place}" for place in range(10_000))
    rng = np.random.default_rng(3)
    design = family(labels)
    truth = np.array(labels)[np.minimum(rng.geometric(0.01, 100_000), 10_000) - 1]
    tally = design.tally(design.randomize(truth, rng=rng))
    tracemalloc.start()
    fits = [method(design, tally) for method in METHODS]
    bounds = [fit.interval() for fit in fits[: 1 + (design.own > 0)]]
    errors = [fit.standard_errors for fit in fits]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000**2
    assert all(each.shape == (10_000, 2) for each in bounds)
    assert all(np.isfinite(each).any() for each in errors)
    assert fits[1].proportions.sum() == pytest.approx(1)
    if design.own:
        assert fits[1].proportions[:20] == pytest.approx(0.99 ** np.arange(20) / 100, abs=0.009)


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("labels", ["abc", "abcd", "abcde"])
def test_a_share_that_only_rounding_parts_from_zero_is_zero(labels, weight, n):
    """Whichever solver there is for so many categories, the last digit of a sum is no share below zero."""
    survey, ruled_out = designs.negative(tuple(labels)), n // (len(labels) - 1)  # of each category that nobody has
    said = ["b"] * ruled_out + ["a"] * (n - ruled_out)
    fit = estimate.moments(survey, survey.tally(said, weights=[weight] * n))
    assert fit.proportions[1] == 0
    assert not [note for note in fit.remarks() if "outside [0, 1]" in note and note.endswith(": b")]
