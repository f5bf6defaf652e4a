"""Lists: the counts of statements on covariates, beside differences of means and moments that are written anew."""

import json

import numpy as np
import pytest
import scipy

from naysay import designs, regression
from naysay.errors import DataError, DesignError, NotEstimable

ITEMS = designs.item_count(items=4)
PLACEBO = designs.item_count(items=4, placebo=True)
DOUBLE = designs.double_list(items=(4, 3))
TRUTH, OTHERS = (-0.6, 0.8, 0.5), (0.2, -0.4, 0.3)


def counted(design, n, rng):
    """People with z and g, the sample that lot drew, and what they counted; half of the others go together."""
    z, g = rng.normal(size=n), rng.integers(0, 2, n)
    x = np.column_stack([np.ones(n), z, g])
    carries, other = rng.random(n) < scipy.special.expit(x @ TRUTH), scipy.special.expit(x @ OTHERS)
    arms = rng.integers(0, len(design.levels), n)
    table = {"z": z, "g": g, "arm": np.array(design.levels)[arms]}
    two = rng.random(n) < other
    if design is DOUBLE:
        return table | {"a": 2 * two + rng.binomial(2, other) + carries * (arms == 0),
                        "b": rng.binomial(3, other) + carries * (arms == 1)}  # fmt: skip
    return table | {"a": 2 * two + rng.binomial(2, other) + carries * (table["arm"] == "treatment")}


def fitted(design, table, right="z + g", **more):
    answers = "a + b" if design is DOUBLE else "a"
    return regression.regress_list(design, f"{answers} ~ {right}", table, sample="arm", **more)


def moments(design, table, theta):
    """The moments of both steps at these parameters, (n, P), from first principles."""
    x = np.column_stack([np.ones(len(table["z"])), table["z"], table["g"]])
    delta, sensitive = scipy.special.expit(x @ theta[-3:]), np.zeros((len(x), 3))
    columns = []
    lists = [("a", 4, 1), ("b", 3, 2)] if design is DOUBLE else [("a", 4, "treatment")]
    for place, (name, length, arm) in enumerate(lists):
        mean, long = scipy.special.expit(x @ theta[3 * place : 3 * place + 3]), table["arm"] == arm
        error = table[name] - length * mean
        columns.append((~long * error * mean * (1 - mean))[:, None] * x)
        sensitive += (long * (error - delta) * delta * (1 - delta))[:, None] * x
    return np.hstack([*columns, sensitive])


@pytest.mark.parametrize("design", [ITEMS, PLACEBO, DOUBLE], ids=["items", "placebo", "double"])
def test_both_steps_solve_their_moments_and_the_sandwich_is_theirs(design):
    table = counted(design, 20_000, np.random.default_rng(1))
    fit = fitted(design, table)
    theta = np.append(fit.others.ravel(), fit.coefficients)
    at = moments(design, table, theta)
    assert at.sum(axis=0) / np.sqrt((at**2).sum(axis=0)) == pytest.approx(0, abs=1e-4)
    steps = 1e-5 * np.eye(len(theta))
    bread = np.array(
        [(moments(design, table, theta + s) - moments(design, table, theta - s)).sum(axis=0) for s in steps]
    )
    inverse = np.linalg.inv(bread.T / 2e-5)
    errors = np.sqrt(np.diagonal(inverse @ (at.T @ at) @ inverse.T))
    assert np.sqrt(np.diagonal(fit.whole_covariance)) == pytest.approx(
        errors, rel=0.1
    )  # here of all second derivatives
    assert (np.abs(fit.coefficients - TRUTH) < 4 * fit.standard_errors).all()


def test_a_constant_alone_is_the_difference_of_means_and_groups_are_each_their_own():
    table = counted(ITEMS, 4_000, np.random.default_rng(2))
    long, short = (table["a"][table["arm"] == arm] for arm in ("treatment", "control"))
    fit = fitted(ITEMS, table, "1")
    error = np.sqrt(long.var() / len(long) + short.var() / len(short))
    assert fit.share == pytest.approx((long.mean() - short.mean(), error), rel=1e-3)
    by_group = fitted(ITEMS, table, "g")
    for g in (0, 1):
        means = [table["a"][(table["arm"] == arm) & (table["g"] == g)].mean() for arm in ("treatment", "control")]
        assert scipy.special.expit(by_group.coefficients @ [1, g]) == pytest.approx(means[0] - means[1], abs=1e-6)


def test_neither_order_nor_scale_nor_counts_of_rows_change_it():
    table = counted(ITEMS, 3_000, np.random.default_rng(3))
    fit, order = fitted(ITEMS, table), np.random.default_rng(4).permutation(3_000)
    again = fitted(ITEMS, {name: column[order] for name, column in table.items()} | {"z": 1e4 * table["z"][order]})
    assert again.coefficients * (1, 1e4, 1) == pytest.approx(fit.coefficients, rel=1e-5)
    assert again.standard_errors * (1, 1e4, 1) == pytest.approx(fit.standard_errors, rel=1e-4)
    many = np.random.default_rng(5).integers(1, 4, 3_000)
    once = fitted(ITEMS, {name: np.repeat(column, many) for name, column in table.items()})
    counts = fitted(ITEMS, table | {"many": many}, count="many")
    assert (counts.n, counts.coefficients) == (once.n, pytest.approx(once.coefficients, rel=1e-5))
    assert counts.standard_errors == pytest.approx(once.standard_errors, rel=1e-5)


@pytest.mark.parametrize("design", [ITEMS, DOUBLE], ids=["items", "double"])
def test_who_left_the_lists_out_is_missing_and_changes_nothing(design):
    """One empty cell made the regression of all others be refused, as if it were half an answer."""
    table = counted(design, 1_000, np.random.default_rng(12))
    some = {name: column[:990] for name, column in table.items()}
    lists = [name for name in ("a", "b") if name in table]
    left = {name: [*some[name].tolist(), *[None] * 10] for name in lists}
    fit, expected = fitted(design, table | left), fitted(design, some)
    assert fit.coefficients == pytest.approx(expected.coefficients)
    assert fit.standard_errors == pytest.approx(expected.standard_errors)
    assert fit.n == 990


def test_one_result_in_every_form():
    fit = fitted(DOUBLE, counted(DOUBLE, 2_000, np.random.default_rng(5)))
    told = json.loads(fit.to_json())
    assert [row["equation"] for row in told["coefficients"]] == ["yes"] * 3 + ["others in a"] * 3 + ["others in b"] * 3
    assert told["share"]["estimate"] == pytest.approx(fit.share[0])
    assert "Log odds of one of the 3 other statements in b, on average" in str(fit)
    assert fit.to_csv().startswith("equation,term,estimate,standard_error")
    assert "toprule" in fit.to_latex()


def test_what_tells_little_is_told():
    few = fitted(ITEMS, counted(ITEMS, 290, np.random.default_rng(6)), "g + z")
    assert few.reservations[-1] == "fewer than 50 answers a coefficient; intervals of a list may be too short"
    table = counted(ITEMS, 4_000, np.random.default_rng(6))
    assert not fitted(ITEMS, table).reservations
    rare = table | {"a": table["a"] - ((table["arm"] == "treatment") & (table["a"] > 1) & (table["z"] < -0.15))}
    fit = fitted(ITEMS, rare, "1")
    assert 2.5 < fit.share[0] / fit.share[1] < 3
    assert fit.reservations == ["the average share is within 3 standard errors of 0; intervals may be too short"]


@pytest.mark.parametrize(
    ("more", "right", "error", "message"),
    [
        ({}, "z + I(2*z)", NotEstimable, "collinear"),
        ({"a": np.zeros(400, int)}, "1", NotEstimable, "for the other statements: .* as they count none or all"),
        ({"arm": np.repeat("treatment", 400)}, "1", NotEstimable, "too few people counted the short list"),
        ({"a": np.full(400, 9)}, "1", DataError, "'9', which is not a response"),
    ],
)  # fmt: skip
def test_what_cannot_be_regressed_is_named(more, right, error, message):
    table = counted(ITEMS, 400, np.random.default_rng(7)) | more
    with pytest.raises(error, match=message):
        fitted(ITEMS, table, right)


def test_counts_that_are_no_higher_with_the_sensitive_statement_have_no_coefficients():
    table = counted(ITEMS, 2_000, np.random.default_rng(8))
    table["a"] = np.minimum(table["a"], 4) - (table["arm"] == "treatment") * (table["a"] > 0)
    with pytest.raises(NotEstimable, match="for the sensitive one: their share is estimated as 0 or 1"):
        fitted(ITEMS, table, "1")


@pytest.mark.parametrize("seed", [469, 527])
def test_of_several_starts_the_best_end_counts(seed):
    """Of 815 small lists four ended at two places: of 469 the steepest start at the worse one, of 527 all others."""
    rng = np.random.default_rng(seed)
    z, long, g = rng.normal(size=300), rng.random(300) < 0.5, rng.integers(0, 2, 300)
    counts = rng.binomial(4, 0.4, 300) + long * (rng.random(300) < scipy.special.expit(2 * z - 1))
    fit = fitted(ITEMS, {"a": counts, "z": z, "g": g, "arm": np.where(long, "treatment", "control")})
    x = np.column_stack([np.ones(300), z, g])[long]
    added = counts[long] - 4 * scipy.special.expit(x @ fit.others[0])

    def squares(theta):
        return ((added - scipy.special.expit(x @ theta)) ** 2).sum()

    starts = np.random.default_rng(1).normal(size=(20, 3)) * 3
    ends = [scipy.optimize.minimize(squares, start) for start in starts]
    finite = [end.fun for end in ends if np.abs(end.x).max() < 20]  # a step between two people may fit better still
    assert squares(fit.coefficients) < min(finite) + 1e-6


def test_a_few_people_far_from_all_others_leave_finite_coefficients_finite():
    """By incomes like these 35 of 80 right regressions were refused, the steepest of them."""
    rng = np.random.default_rng(11)
    income, long = rng.lognormal(size=2_000), rng.random(2_000) < 0.5
    income[:2] = 70
    counts = rng.binomial(4, 0.4, 2_000) + long * (rng.random(2_000) < scipy.special.expit(income - 1.2))
    fit = fitted(ITEMS, {"a": counts, "income": income, "arm": np.where(long, "treatment", "control")}, "income")
    assert (np.abs(fit.coefficients - (-1.2, 1)) < 4 * fit.standard_errors).all()
    assert (fit.standard_errors < 0.5).all()


def test_other_designs_halves_of_two_lists_and_another_reference_are_refused():
    table = counted(DOUBLE, 400, np.random.default_rng(9))
    with pytest.raises(DataError, match="is no list whose sensitive statement stands in some samples only"):
        regression.regress_list(designs.single_sample_count(), "a ~ z", table, sample="arm")
    half = [None if place < 3 else count for place, count in enumerate(table["b"].tolist())]
    with pytest.raises(DataError, match="somebody answered one of two lists"):
        fitted(DOUBLE, table | {"b": half})
    with pytest.raises(DataError, match="log odds are those of the sensitive statement"):
        fitted(DOUBLE, table, reference="yes")
    with pytest.raises(DesignError, match=r"regression\.regress_list"):
        regression.regress(DOUBLE, "a + b ~ z", table, sample="arm")


@pytest.mark.slow
@pytest.mark.parametrize("design", [ITEMS, DOUBLE], ids=["items", "double"])
def test_intervals_cover_and_no_coefficient_is_biased(design):
    rng, runs = np.random.default_rng(10), 200
    fits = [fitted(design, counted(design, 3_000, rng)) for _ in range(runs)]
    found, errors = np.array([fit.coefficients for fit in fits]), np.array([fit.standard_errors for fit in fits])
    covered = (np.abs(found - TRUTH) < 1.96 * errors).mean(axis=0)
    assert (covered > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)).all()
    assert (np.abs(found.mean(axis=0) - TRUTH) < 4 * found.std(axis=0) / np.sqrt(runs) + 0.05).all()
