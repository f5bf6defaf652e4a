"""The solver finds the maximum, certifies it, and says where it is not unique."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from naysay import NotEstimable, designs, estimate
from naysay.estimate.likelihood import expectation_step, maximize


@st.composite
def problems(draw):
    """Random likelihood rows, some entries zero, and counts."""
    t, rows = draw(st.integers(2, 6)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.random((rows, t)) * (rng.random((rows, t)) < 0.7)
    matrix[np.arange(rows), rng.integers(t, size=rows)] += 0.1
    return matrix, rng.integers(1, 200, rows).astype(float)


@given(problems())
def test_no_other_proportions_are_more_likely(problem):
    rows, weights = problem
    found = maximize(rows, weights)
    pi, rng = found.proportions, np.random.default_rng(0)
    assert pi.min() >= 0
    assert pi.sum() == pytest.approx(1)
    assert found.total_gap <= 1e-6
    others = rng.dirichlet(np.ones(len(pi)), 200)
    near = 0.99 * pi + 0.01 * others
    for trial in (others, near):
        with np.errstate(divide="ignore"):
            assert (np.log(trial @ rows.T) @ weights <= found.log_likelihood + 1e-6).all()


@given(problems())
def test_a_general_solver_finds_the_same_maximum(problem):
    rows, weights = problem
    found = maximize(rows, weights)
    start = np.full(rows.shape[1], 1 / rows.shape[1])
    peer = minimize(
        lambda x: -weights @ np.log(np.maximum(rows @ x, 1e-300)) / weights.sum(),
        start,
        jac=lambda x: -(rows.T @ (weights / np.maximum(rows @ x, 1e-300))) / weights.sum(),
        bounds=[(0, 1)] * len(start),
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert -peer.fun * weights.sum() <= found.log_likelihood + 1e-6


@given(problems())
def test_em_never_gets_above_the_certified_maximum(problem):
    rows, weights = problem
    found = maximize(rows, weights)
    pi = np.full(rows.shape[1], 1 / rows.shape[1])
    for _ in range(50):
        pi = expectation_step(rows, weights / weights.sum(), pi)
    assert weights @ np.log(rows @ pi) <= found.log_likelihood + found.total_gap + 1e-9


@given(st.lists(st.integers(1, 500), min_size=3, max_size=8))
def test_maximum_likelihood_is_moments_inside_the_simplex(counts):
    survey = designs.negative([str(i) for i in range(len(counts))])
    tally = survey.tally(count=counts)
    unbounded = estimate.moments(survey, tally).proportions
    bounded = estimate.maximum_likelihood(survey, tally).proportions
    if unbounded.min() > 0:
        assert bounded == pytest.approx(unbounded, abs=1e-7)
    else:
        assert bounded.min() >= 0


@given(st.lists(st.integers(0, 200), min_size=3, max_size=8).filter(lambda counts: sum(counts) > 0))
def test_nstops_ii_is_the_maximum_of_the_likelihood(counts):
    survey = designs.negative([str(i) for i in range(len(counts))])
    tally = survey.tally(count=counts)
    two, most = estimate.nstops_ii(survey, tally), estimate.maximum_likelihood(survey, tally)
    assert two.counts == pytest.approx(most.counts, abs=1e-5 * max(1, sum(counts)))


@given(st.permutations(range(5)), st.integers(0, 1000))
def test_renaming_the_categories_renames_the_estimate(order, seed):
    labels = tuple("abcde")
    survey = designs.negative(labels, discards=2)
    renamed = designs.negative([labels[place] for place in order], discards=2)
    truth = np.random.default_rng(seed).choice(labels, 60)
    said = np.asarray(survey.randomize(truth, rng=np.random.default_rng(seed)))
    one = estimate.maximum_likelihood(survey, survey.tally(said)).proportions
    two = estimate.maximum_likelihood(renamed, renamed.tally(said[:, list(order)])).proportions
    assert two == pytest.approx(one[list(order)], abs=1e-5)


def test_more_than_one_set_of_answers_is_more_precise_than_moments():
    rng = np.random.default_rng(5)
    survey = designs.negative(tuple("abcdef"), discards=3)
    truth = np.repeat(list("abcdef"), [300, 250, 200, 150, 70, 30])
    moments, most = [], []
    for _ in range(150):
        tally = survey.tally(survey.randomize(truth, rng=rng))
        moments.append(estimate.moments(survey, tally).proportions)
        most.append(estimate.maximum_likelihood(survey, tally).proportions)
    assert np.var(most, axis=0).sum() < 0.9 * np.var(moments, axis=0).sum()


def test_a_mix_of_arms_is_one_estimate():
    direct, warner = designs.direct(("yes", "no")), designs.warner(p=0.8)
    arms = designs.levels({"randomized": warner, "direct": direct})
    arm = ["randomized", "randomized", "direct", "direct"]
    tally = arms.tally(["yes", "no", "yes", "no"], level=arm, count=[300, 700, 40, 160])
    fit = estimate.maximum_likelihood(arms, tally)
    rows = np.vstack([warner.matrix, direct.matrix])
    grid = np.linspace(0.001, 0.999, 9981)
    value = np.log(np.column_stack([grid, 1 - grid]) @ rows.T) @ [300, 700, 40, 160]
    assert fit.proportions[0] == pytest.approx(grid[value.argmax()], abs=2e-4)
    assert fit.standard_errors[0] < estimate.moments(warner, warner.tally(count=[300, 700])).standard_errors[0]


def test_a_missing_answer_changes_nothing_but_its_count():
    survey = designs.negative(tuple("abcd"))
    said = ["a", "b", "b", "c", "d", "a", "b"]
    whole, holed = survey.tally(said), survey.tally([*said, None, None])
    assert holed.missing == 2
    one, two = (estimate.maximum_likelihood(survey, tally) for tally in (whole, holed))
    assert two.proportions == pytest.approx(one.proportions)
    assert two.missing == 2


def test_noise_alone_is_not_estimable_and_names_what_is_lost():
    noise = designs.uniform(tuple("abc"))
    for method in (estimate.moments, estimate.maximum_likelihood):
        with pytest.raises(NotEstimable, match=r"rank 0, 2 needed") as raised:
            method(noise, noise.tally(count=[1, 2, 3]))
        assert len(raised.value.contrast) == 3


def test_a_rank_deficient_matrix_names_the_contrast():
    blurred = designs.custom(
        [["0.5", "0.5", "0"], ["0.5", "0.5", "0"], ["0", "0", "1"]], categories=("low", "middle", "high")
    )
    with pytest.raises(NotEstimable, match=r"'low' from 'middle'") as raised:
        estimate.moments(blurred, blurred.tally(count=[10, 10, 10]))
    assert raised.value.rank == 1
    assert raised.value.contrast[2] == pytest.approx(0, abs=1e-9)
    assert raised.value.contrast[0] == pytest.approx(-raised.value.contrast[1])


def test_answers_of_another_design_are_refused():
    one, two = designs.warner(p=0.7), designs.warner(p=0.8)
    with pytest.raises(ValueError, match=r"given under warner\(p=0.8\), not under warner\(p=0.7\)"):
        estimate.moments(one, two.tally(count=[1, 2]))


def test_sixty_categories_thirty_discarded_cost_nothing_special():
    labels = [str(i) for i in range(60)]
    survey = designs.negative(labels, discards=30)
    rng = np.random.default_rng(0)
    truth = rng.choice(labels, 20_000)
    tally = survey.tally(survey.randomize(truth, rng=rng))
    fit = estimate.maximum_likelihood(survey, tally)
    assert fit.maximum.total_gap <= 1e-6
    assert np.abs(fit.proportions - 1 / 60).max() < 5 * np.nanmax(fit.standard_errors)
    assert estimate.moments(survey, tally).interval().shape == (60, 2)


@pytest.mark.parametrize(
    "design",
    [
        designs.gaussian_negative(tuple("abcdefghij"), sigma=1.5),
        designs.gaussian_negative([str(i) for i in range(15)], sigma=3),
        designs.k_ary(tuple("abcdefghij"), epsilon=0.001),
        designs.negative([str(i) for i in range(60)]),
    ],
)
@pytest.mark.parametrize("n", [10**3, 10**6, 10**8])
def test_the_certificate_is_reached_from_a_thousand_answers_to_a_hundred_million(design, n):
    rng = np.random.default_rng(n)
    for concentration in (0.2, 1, 5):
        pi = rng.dirichlet(np.full(len(design.categories), concentration))
        fit = estimate.maximum_likelihood(design, design.tally(count=rng.multinomial(n, design.matrix @ pi)))
        assert fit.maximum.total_gap <= 1e-6
        assert fit.maximum.iterations < 50


def test_nstops_i_says_too_what_is_not_determined():
    survey = designs.negative(tuple("abcde"))
    fit = estimate.nstops_i(survey, survey.tally(count=[0, 0, 20, 30, 40]))
    assert any("not determined" in str(told) for told in fit.warnings)
    assert fit.interval()[:2] == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-3)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e9])
def test_nothing_depends_on_the_unit_of_the_weights(unit):
    survey = designs.negative(tuple("abcde"), discards=2)
    rng = np.random.default_rng(3)
    said = survey.randomize(rng.choice(list("abcde"), 300), rng=rng)
    weights = rng.gamma(1.0, 1.0, 300)
    one, other = (estimate.maximum_likelihood(survey, survey.tally(said, weights=w)) for w in (weights, weights * unit))
    assert other.proportions == pytest.approx(one.proportions, abs=1e-8)
    assert other.covariance == pytest.approx(one.covariance, rel=1e-6)
    assert other.interval(method="profile") == pytest.approx(one.interval(method="profile"), abs=1e-6)


def test_answers_without_weight_count_for_nothing():
    survey = designs.direct(tuple("abc"))
    weighted = estimate.maximum_likelihood(survey, survey.tally(["a", "b", "a", "c"], weights=[1, 2, 1, 0]))
    assert np.isfinite(weighted.standard_errors).all()
    assert weighted.proportions == pytest.approx([0.5, 0.5, 0])


def test_a_weighted_file_asked_directly_has_no_error():
    survey = designs.direct(tuple("abc"))
    tally = survey.tally(list("aabbbc"), weights=[1, 2, 3, 1, 2, 5])
    for method in (estimate.moments, estimate.maximum_likelihood):
        assert method(survey, tally, target="file").standard_errors == pytest.approx(np.zeros(3), abs=1e-7)


def test_weighted_file_errors_describe_randomizing_again():
    survey, rng = designs.negative(tuple("abcd")), np.random.default_rng(5)
    truth, weights = np.repeat(list("abcd"), [160, 120, 80, 40]), rng.gamma(2.0, 1.0, 400)
    fits = [
        estimate.maximum_likelihood(
            survey, survey.tally(survey.randomize(truth, rng=rng), weights=weights), target="file"
        )
        for _ in range(400)
    ]
    claimed = np.mean([fit.standard_errors for fit in fits], axis=0)
    assert claimed[:2] == pytest.approx(np.std([fit.proportions for fit in fits], axis=0)[:2], rel=4 / np.sqrt(800))


def test_the_interval_of_a_likelihood_estimate_holds_the_estimate():
    survey = designs.negative(tuple("abcde"))
    fit = estimate.maximum_likelihood(survey, survey.tally(count=[2, 8, 16, 29, 45]))
    for method in ("agresti_coull", "profile"):
        bounds = fit.interval(method=method)
        assert (bounds[:, 0] <= fit.proportions).all()
        assert (fit.proportions <= bounds[:, 1]).all()


def test_a_negative_variance_of_the_randomization_is_told_and_gives_no_empty_interval():
    survey = designs.negative(tuple("abcde"), weights=[1, 2, 3, 4, 5])
    fit = estimate.moments(survey, survey.tally(count=[0, 2, 0, 9, 9]), target="file")
    assert any("below zero" in str(told) for told in fit.warnings)
    assert (np.ptp(fit.interval(), axis=1) > 0.01).all()
