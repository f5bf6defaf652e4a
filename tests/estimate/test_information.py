"""What standard errors rest on: kinds that agree where they must, differ where they may, and always have a name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.likelihood import KINDS, evidence, expected_information, information

WARNER = designs.warner(p=0.8)
LIARS = designs.stochastic_lie_detector(p=("2/12", "10/12"))
EXTENDED = designs.extended_crosswise(prevalence=0.2)
ARMS = designs.samples(open=designs.direct(("yes", "no")), masked=designs.warner(p=0.8))
PAIRS = designs.negative(tuple("abcd"), discards=2)


def stacked(survey, first, second):
    texts = survey.channel(survey.levels[0]).responses.texts()
    sample = np.repeat(survey.levels, len(texts)).tolist()
    return survey.tally(texts * 2, sample=sample, count=[*first, *second])


def test_the_extended_crosswise_model_is_one_binomial_for_the_likelihood():
    # Its second sample is the first one turned round, so that the shares of both are pooled whatever they are.
    tally, once = stacked(EXTENDED, (190, 310), (350, 450)), designs.crosswise(prevalence=0.2)
    pooled = estimate.maximum_likelihood(once, once.tally(count=[190 + 450, 310 + 350]))
    fit = estimate.maximum_likelihood(EXTENDED, tally)
    assert fit.proportions == pytest.approx(pooled.proportions, abs=1e-6)
    assert errors(EXTENDED, tally, "expected") == pytest.approx(pooled.standard_errors, rel=1e-5)


SATURATED = [
    (WARNER, WARNER.tally(count=[380, 620])),
    (LIARS, stacked(LIARS, (373, 191), (398, 294))),
    (designs.negative(tuple("abcd")), designs.negative(tuple("abcd")).tally(count=[280, 240, 260, 220])),
]
OVERDETERMINED = [
    (ARMS, stacked(ARMS, (60, 140), (560, 440))),
    (PAIRS, PAIRS.tally(PAIRS.responses, count=[20, 35, 10, 25, 30, 5])),
    (designs.kuk(p=(0.8, 0.3), draws=3), designs.kuk(p=(0.8, 0.3), draws=3).tally(count=[90, 200, 150, 60])),
]


def errors(design, tally, kind):
    fit = estimate.maximum_likelihood(design, tally, standard_errors=kind)
    return np.array([*fit.standard_errors, *(each.standard_error for each in fit.nuisance.values())])


@pytest.mark.parametrize(("design", "tally"), SATURATED, ids=lambda value: getattr(value, "name", ""))
def test_observed_and_expected_agree_where_the_answers_fit_exactly(design, tally):
    np.testing.assert_allclose(errors(design, tally, "observed"), errors(design, tally, "expected"), rtol=1e-5)


@pytest.mark.parametrize(("design", "tally"), OVERDETERMINED, ids=lambda value: getattr(value, "name", ""))
def test_observed_and_expected_differ_where_they_do_not(design, tally):
    apart = np.abs(errors(design, tally, "observed") / errors(design, tally, "expected") - 1)
    assert apart.max() > 1e-3
    assert apart.max() < 0.5


def test_they_agree_again_when_the_answers_are_those_that_are_expected():
    tally = stacked(EXTENDED, (620, 380), (380, 620))  # π = 0.3 exactly
    np.testing.assert_allclose(errors(EXTENDED, tally, "observed"), errors(EXTENDED, tally, "expected"), rtol=1e-9)


@pytest.mark.parametrize(
    ("design", "tally"), [*SATURATED, *OVERDETERMINED], ids=lambda value: getattr(value, "name", "")
)
def test_the_outer_product_is_the_observed_information_of_proportions(design, tally):
    # The likelihood is linear in π inside the logarithm, so that -∂² log(L·π) = LᵀL/(L·π)² is the score times itself.
    np.testing.assert_allclose(errors(design, tally, "outer_product"), errors(design, tally, "observed"), rtol=1e-6)


@pytest.mark.parametrize(
    ("design", "tally"), [*SATURATED, *OVERDETERMINED], ids=lambda value: getattr(value, "name", "")
)
def test_without_weights_the_sandwich_only_divides_by_one_less(design, tally):
    ratio = errors(design, tally, "sandwich") / errors(design, tally, "observed")
    np.testing.assert_allclose(ratio, np.sqrt(tally.n / (tally.n - 1)), rtol=1e-6)


@given(st.integers(150, 850))
def test_the_expected_error_of_warner_is_the_textbook_one(yes):
    fit = estimate.maximum_likelihood(WARNER, WARNER.tally(count=[yes, 1_000 - yes]), standard_errors="expected")
    if fit.proportions.min() > 0:
        rate = yes / 1_000
        assert fit.standard_errors[0] == pytest.approx(np.sqrt(rate * (1 - rate) / 1_000) / 0.6, rel=1e-5)


@given(st.integers(0, 2**32 - 1))
def test_the_expected_information_is_the_mean_of_the_observed_one(seed):
    pi = np.random.default_rng(seed).dirichlet(np.ones(4))
    tally = PAIRS.tally(PAIRS.responses, count=[20, 35, 10, 25, 30, 5])
    one_each = [information(row[None, :], np.ones(1), pi) for row in PAIRS.matrix]
    mean = np.tensordot(PAIRS.matrix @ pi, one_each, axes=1) * tally.n
    np.testing.assert_allclose(expected_information(tally, pi), mean, rtol=1e-9)


def test_evidence_scales_weights_to_the_number_of_answers():
    tally = WARNER.tally(["yes", "no", "yes"], weights=[2, 4, 6])
    _, weights, sampled = evidence(tally)
    assert weights.sum() == pytest.approx(3)
    assert sampled.squared.sum() == pytest.approx((4 + 16 + 36) / 16)


@pytest.mark.parametrize(("kind", "words"), KINDS.items())
def test_every_kind_is_named(kind, words):
    fit = estimate.maximum_likelihood(WARNER, WARNER.tally(count=[380, 620]), standard_errors=kind)
    assert fit.standard_error_kind == words
    assert f"standard errors: {words}" in str(fit)
    assert fit.to_dict()["standard_error_kind"] == words


def test_the_name_says_weights_and_the_target():
    plain = WARNER.tally(count=[380, 620])
    heavy = WARNER.tally(["yes", "no"] * 20, weights=np.arange(1.0, 41.0))
    assert estimate.maximum_likelihood(WARNER, plain).standard_error_kind == "observed information"
    assert estimate.maximum_likelihood(WARNER, heavy).standard_error_kind == "sandwich, linearized for the weights"
    file = estimate.maximum_likelihood(WARNER, plain, target="file", standard_errors="expected")
    assert file.standard_error_kind == "expected information, randomization only"


@pytest.mark.parametrize("kind", ["observed", "expected", "outer_product"])
def test_with_weights_only_the_sandwich_is_valid(kind):
    heavy = WARNER.tally(["yes", "no"] * 20, weights=np.arange(1.0, 41.0))
    with pytest.raises(DataError, match=f"with survey weights only the sandwich is valid; got .*{kind}"):
        estimate.maximum_likelihood(WARNER, heavy, standard_errors=kind)
    asked = estimate.maximum_likelihood(WARNER, heavy, standard_errors="sandwich")
    assert asked.covariance == pytest.approx(estimate.maximum_likelihood(WARNER, heavy).covariance)


def test_the_sandwich_of_a_weighted_sample_is_its_linearized_error():
    rng = np.random.default_rng(4)
    said, weights = WARNER.randomize(rng.choice(["yes", "no"], 500, p=(0.3, 0.7)), rng=rng), rng.gamma(2.0, 1.0, 500)
    tally = WARNER.tally(said, weights=weights)
    most, moments = estimate.maximum_likelihood(WARNER, tally), estimate.moments(WARNER, tally)
    assert most.standard_errors == pytest.approx(moments.standard_errors, rel=1e-3)


def test_an_unknown_kind_is_refused():
    with pytest.raises(DataError, match="standard_errors must be one of observed, expected, outer_product, sandwich"):
        estimate.maximum_likelihood(WARNER, WARNER.tally(count=[380, 620]), standard_errors="robust")


def test_the_expected_information_needs_a_list_of_responses():
    large = designs.negative(range(60), discards=30)
    tally = large.tally(large.randomize([3, 59] * 100, rng=np.random.default_rng(1)))
    with pytest.raises(DataError, match="needs responses that can be listed; use standard_errors='observed'"):
        estimate.maximum_likelihood(large, tally, standard_errors="expected")
