"""Moments are unbiased, and their covariance is the one that the formulas give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.likelihood import tangent
from naysay.estimate.linear import indicator_variances, linear_map

LABELS = tuple("abcdef")
SHARES = np.array([0.3, 0.25, 0.2, 0.15, 0.09, 0.01])


@given(st.integers(3, 8), st.integers(0, 10**6))
def test_any_negative_matrix_has_the_estimate_and_the_covariance_of_equations_5_and_6(t, seed):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(t - 1), size=t)
    matrix = np.array([np.insert(chances[j], j, 0) for j in range(t)]).T
    survey = designs.negative_matrix(matrix, categories=range(t))
    counts = rng.integers(1, 100, size=t)
    fit = estimate.moments(survey, survey.tally(count=counts))
    inverse, lam, n = np.linalg.inv(survey.matrix), counts / counts.sum(), counts.sum()
    covariance = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / (n - 1)
    scale = np.linalg.cond(survey.matrix)
    np.testing.assert_allclose(fit.proportions, inverse @ lam, atol=1e-12 * scale)
    np.testing.assert_allclose(fit.covariance, covariance, atol=1e-13 * scale**2)


def test_structure_chooses_the_way_and_not_the_result():
    """Closed form, inverse and constrained least squares are three routes to one map."""
    survey = designs.negative(LABELS)
    closed = linear_map(survey)
    assert closed.structure == "closed form"
    inverse = np.linalg.inv(survey.matrix)
    basis = tangent(6)
    slope = basis @ np.linalg.pinv(survey.matrix @ basis)
    for response in np.eye(6):
        u = closed(response)
        assert u == pytest.approx(inverse @ response, abs=1e-12)
        assert u == pytest.approx(1 / 6 + slope @ (response - survey.matrix @ np.full(6, 1 / 6)), abs=1e-12)


def test_closed_form_for_sets_is_the_pseudo_inverse_of_the_listed_matrix():
    survey = designs.negative(LABELS, discards=3)
    mapping = linear_map(survey)
    codes = survey.space.listing()
    assert pytest.approx(np.linalg.pinv(survey.matrix), abs=1e-10) == mapping(survey.space.statistic(codes)).T


def test_more_responses_than_categories_are_solved_by_least_squares_under_the_sum():
    design = designs.custom([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]], categories=("yes", "no"))
    fit = estimate.moments(design, design.tally(count=[30, 30, 40]))
    grid = np.linspace(-1, 2, 300_001)
    fitted = np.column_stack([grid, 1 - grid]) @ design.matrix.T
    best = grid[((fitted - [0.3, 0.3, 0.4]) ** 2).sum(axis=1).argmin()]
    assert fit.proportions[0] == pytest.approx(best, abs=1e-5)
    assert fit.proportions.sum() == pytest.approx(1)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_covariance_of_k_discards_has_the_joint_inclusions(k):
    """Esponda et al. (2016), proposition 2, with the joint inclusion that its print lost."""
    t, n = 6, 5_000
    survey = designs.negative(LABELS, discards=k)
    inclusion = k * (1 - SHARES) / (t - 1)
    joint = k * (k - 1) / ((t - 1) * (t - 2)) * (1 - SHARES[:, None] - SHARES)
    np.fill_diagonal(joint, inclusion)
    exact = ((t - 1) / k) ** 2 * (joint - np.outer(inclusion, inclusion)) / n
    rng = np.random.default_rng(k)
    fits = []
    for _ in range(400):
        truth = rng.choice(LABELS, n, p=SHARES)
        fits.append(estimate.moments(survey, survey.tally(survey.randomize(truth, rng=rng))))
    estimates = np.array([fit.proportions for fit in fits])
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs(np.cov(estimates.T) - exact).max() < 4 * np.sqrt(2 / 400) * scale.max()
    assert np.mean([fit.covariance for fit in fits], axis=0) == pytest.approx(exact, abs=0.02 * scale.max())
    assert np.abs(estimates.mean(axis=0) - SHARES).max() < 4 * np.sqrt(np.diag(exact).max() / 400)


@given(st.integers(1, 4), st.integers(0, 10_000))
def test_variance_for_a_file_is_the_formula_of_the_randomization_alone(k, seed):
    survey = designs.negative(LABELS, discards=k)
    rng = np.random.default_rng(seed)
    n = 400
    tally = survey.tally(survey.randomize(rng.choice(LABELS, n, p=SHARES), rng=rng))
    fit = estimate.moments(survey, tally, target="file")
    formula = (1 - fit.proportions) * (5 - k) / (k * n)
    assert fit.standard_errors**2 == pytest.approx(formula, rel=1e-9)


def test_a_census_asked_directly_has_no_error_for_the_file():
    direct = designs.direct(LABELS)
    fit = estimate.moments(direct, direct.tally(count=[5, 4, 3, 2, 1, 0]), target="file")
    assert fit.standard_errors == pytest.approx(np.zeros(6), abs=1e-12)


def test_file_errors_describe_randomizing_the_same_file_again():
    survey = designs.gaussian_negative(LABELS, sigma=2)
    truth = np.repeat(list(LABELS), (SHARES * 2_000).astype(int))
    shares = (SHARES * 2_000).astype(int) / len(truth)
    rng = np.random.default_rng(3)
    for method in (estimate.moments, estimate.maximum_likelihood):
        fits = [method(survey, survey.tally(survey.randomize(truth, rng=rng)), target="file") for _ in range(300)]
        spread = np.std([fit.proportions for fit in fits], axis=0)
        claimed = np.sqrt(np.mean([fit.standard_errors**2 for fit in fits], axis=0))
        inside = shares > 4 * spread
        assert inside.sum() >= 2
        assert claimed[inside] == pytest.approx(spread[inside], rel=4 / np.sqrt(2 * 300))
        assert fits[0].target == "file"


def test_integer_weights_estimate_what_repeated_answers_estimate():
    survey = designs.negative(LABELS)
    said, weights = ["a", "b", "c", "d", "e", "f", "a"], [1, 2, 3, 1, 2, 1, 4]
    repeated = np.repeat(said, weights)
    for method in (estimate.moments, estimate.maximum_likelihood):
        weighted = method(survey, survey.tally(said, weights=weights))
        assert weighted.proportions == pytest.approx(method(survey, survey.tally(repeated)).proportions, abs=1e-7)
        assert "linearized" in weighted.standard_error_kind


def test_equal_weights_change_neither_estimate_nor_error():
    survey = designs.negative(LABELS)
    tally = survey.tally(count=[30, 40, 50, 35, 45, 60])
    said = np.repeat(list(LABELS), [30, 40, 50, 35, 45, 60])
    weighted = estimate.moments(survey, survey.tally(said, weights=np.full(260, 2.5)))
    plain = estimate.moments(survey, tally)
    assert weighted.covariance == pytest.approx(plain.covariance, rel=1e-12)


@pytest.mark.parametrize("method", [estimate.moments, estimate.maximum_likelihood])
def test_weighted_errors_are_those_of_repeated_weighted_surveys(method):
    survey = designs.warner(p=0.8)
    rng = np.random.default_rng(11)
    estimates, errors = [], []
    for _ in range(600):
        weights = rng.gamma(2.0, 1.0, 500)
        truth = np.where(rng.random(500) < 0.3, "yes", "no")
        fit = method(survey, survey.tally(survey.randomize(truth, rng=rng), weights=weights))
        estimates.append(fit.proportions[0])
        errors.append(fit.standard_errors[0])
    assert np.mean(estimates) == pytest.approx(0.3, abs=4 * np.std(estimates) / np.sqrt(600))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=4 / np.sqrt(1200))


def test_a_value_below_zero_is_reported_as_it_is_and_told():
    warner = designs.warner(p=0.7)
    fit = estimate.moments(warner, warner.tally(count=[250, 750]))
    assert fit.proportions[0] == pytest.approx(-0.125)
    assert any("outside [0, 1]" in str(told) for told in fit.warnings)


def test_a_single_answer_has_no_error_and_says_so():
    survey = designs.negative(LABELS)
    fit = estimate.moments(survey, survey.tally(["a"]))
    assert np.isnan(fit.standard_errors).all()
    assert any("single answer" in str(told) for told in fit.warnings)
    assert "–" in str(fit)


def test_the_covariance_of_two_questions_is_that_of_both_together():
    both = designs.warner(p=0.8) * designs.negative(tuple("abc"))
    rng = np.random.default_rng(2)
    joint = np.array([[0.2, 0.1, 0.1], [0.1, 0.2, 0.3]])
    places = rng.choice(6, 20_000, p=joint.ravel())
    truth = (np.array(["yes", "no"])[places // 3], np.array(list("abc"))[places % 3])
    fit = estimate.moments(both, both.tally(both.randomize(truth, rng=rng)))
    assert np.abs(fit.proportions - joint.ravel()).max() < 4 * fit.standard_errors.max()
    most = estimate.maximum_likelihood(both, fit.tally)
    assert most.proportions == pytest.approx(fit.proportions, abs=1e-6)


def test_the_variances_of_indicators_are_those_of_the_negative_survey():
    t = 5
    share = 1 / t
    expected = (t - 1) ** 2 * share * (1 - share)
    assert indicator_variances(designs.negative(tuple("abcde"))) == pytest.approx(np.full(t, expected))


# several answers that are numbers

REDS = [150, 250, 220, 180, 130, 70]


def test_the_mean_of_reds_is_the_published_estimator_of_kuk():
    survey = designs.kuk(p=(0.8, 0.2), draws=5)
    fit = estimate.moments(survey, survey.tally(range(6), count=REDS), solution="mean")
    assert fit.proportions[0] == pytest.approx(0.366667, abs=5e-7)
    u, chance = linear_map(survey, "mean")(np.eye(6))[:, 0], survey.matrix @ fit.proportions
    model = (chance @ u**2 - (chance @ u) ** 2) / fit.n  # the peer's variance is the design's at the estimate
    assert np.sqrt(model) == pytest.approx(0.017926, abs=1e-5)
    assert fit.method == "moments (mean of answers)"
    squares = estimate.moments(survey, survey.tally(range(6), count=REDS), solution="least_squares")
    assert squares.proportions[0] == pytest.approx(0.362412, abs=5e-7)


@pytest.mark.parametrize(("p", "solution"), [((0.8, 0.2), "least_squares"), ((0.6, 0.4), "mean"), ((0.3, 0.1), "mean")])
def test_by_default_the_design_chooses_the_smaller_variance_whatever_was_answered(p, solution):
    survey = designs.kuk(p=p, draws=5)
    chance, variance = survey.matrix.mean(axis=1), {}
    for each in ("mean", "least_squares"):
        u = linear_map(survey, each)(np.eye(6))[:, 0]
        assert u @ survey.matrix == pytest.approx([1, 0]), "unbiased"
        variance[each] = chance @ u**2 - (chance @ u) ** 2
    assert min(variance, key=variance.get) == solution
    for said in (REDS, REDS[::-1]):
        tally = survey.tally(range(6), count=said)
        chosen, named = estimate.moments(survey, tally), estimate.moments(survey, tally, solution=solution)
        assert chosen.method == named.method
        np.testing.assert_array_equal(chosen.proportions, named.proportions)


@pytest.mark.parametrize("method", ["score", "wald", "profile", "bootstrap"])
@pytest.mark.parametrize("solution", ["mean", "least_squares"])
def test_intervals_and_bands_read_the_answers_by_the_solution_that_was_asked_for(solution, method):
    survey = designs.kuk(p=(0.8, 0.3), draws=5)
    tally = survey.tally(range(6), count=[9, 2, 60, 11, 40, 30])  # so that the two solutions lie far apart
    fit = estimate.moments(survey, tally, solution=solution)
    assert fit.interval(method=method).mean(axis=1) == pytest.approx(fit.proportions, abs=0.01)
    assert estimate.noncompliance_band(fit, share=0.0)[:, 0] == pytest.approx(fit.proportions)
    assert estimate.probability_band(fit, designs=[survey])[:, 1] == pytest.approx(fit.proportions)


@pytest.mark.parametrize(
    ("survey", "solution", "message"),
    [
        (designs.warner(p=0.7), "mean", "two categories and answers that are numbers"),
        (designs.kuk(p=(0.8, 0.2), draws=5), "median", "solution must be 'mean' or 'least_squares'; got 'median'"),
        (designs.extended_crosswise(prevalence=0.2), "mean", "several samples are solved by least squares"),
    ],
)
def test_a_solution_that_a_design_has_not_is_refused(survey, solution, message):
    channel = survey.channel(survey.levels[0])
    named = {} if survey.levels == (None,) else {"sample": [survey.levels[0]] * len(channel.responses)}
    tally = survey.tally(channel.responses.texts(), **named)
    with pytest.raises(DataError, match=message):
        estimate.moments(survey, tally, solution=solution)
