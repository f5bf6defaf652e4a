"""The true category as predictor of a plain outcome: against likelihoods written out, least squares, and by chance."""

import json

import numpy as np
import pytest
import scipy

from naysay import designs, regression
from naysay.errors import DataError, NotEstimable

ANCHORED = designs.anchored_crosswise(prevalence=0.15, anchor=0.15)
WARNER = designs.warner(p=0.75)
LOT = designs.controlled(designs.negative(("a", "b", "c")), truth="lot")


def warner(n, rng, *, logistic=False):
    """Answers of people of whom more have the trait the higher z is; it moves the outcome by 1."""
    z = rng.normal(size=n)
    trait = rng.random(n) < scipy.special.expit(0.5 * z - 1)
    y = 0.5 + 0.3 * z + trait
    y = np.where(rng.random(n) < scipy.special.expit(y - 1), "ill", "well") if logistic else rng.normal(y)
    return {"said": WARNER.randomize(np.where(trait, "yes", "no"), rng=rng).texts(), "z": z, "y": y}


def anchored(n, rng):
    """The same people by the crosswise model with an anchor; one in five answers both at random."""
    table = warner(n, rng)
    yes, away = rng.random(n) < scipy.special.expit(0.5 * table["z"] - 1), rng.random(n) < 0.2
    same = np.where(away, rng.random(n) < 0.5, (rng.random(n) < 0.15) == yes)
    anchor = np.where(away, rng.random(n) < 0.5, rng.random(n) < 0.85)
    answers = {name: np.where(each, "same", "different") for name, each in (("said", same), ("anchor", anchor))}
    return table | answers | {"y": rng.normal(0.5 + 0.3 * table["z"] + yes)}


def negative(n, rng):
    """A negative survey of three categories with a control whose truth is drawn by lot."""
    z, category, lot = rng.normal(size=n), rng.integers(3, size=n), rng.integers(3, size=n)
    away, names = rng.random(n) < 0.2, np.array(["a", "b", "c"])
    said, check = (
        np.where(away, rng.integers(3, size=n), (k + rng.integers(1, 3, size=n)) % 3) for k in (category, lot)
    )
    y = rng.random(n) < scipy.special.expit(0.5 * z + np.array([1.0, -0.7, 0])[category])
    return {"said": names[said], "check": names[check], "lot": names[lot], "z": z, "y": y.astype(int)}


def fits():
    """One fit of each kind."""
    table = anchored(800, np.random.default_rng(1))
    yield regression.regress_outcome(ANCHORED, "said + anchor ~ z", "y ~ said + z", table, compliance="z")
    table = negative(1_500, np.random.default_rng(2))
    yield regression.regress_outcome(LOT, "said + check ~ z", "y ~ said*z", table, sample="lot")


def test_the_maximum_is_that_of_a_likelihood_written_out():
    table = anchored(800, np.random.default_rng(1))
    fit = next(fits())
    x, y = np.column_stack([np.ones(800), table["z"]]), table["y"]
    same, anchor = table["said"] == "same", table["anchor"] == "same"

    def loss(theta):
        pi, attentive = scipy.special.expit(x @ theta[:2]), scipy.special.expit(x @ theta[2:4])
        total = 0
        for yes in (0, 1):
            chance = 0.15 if yes else 0.85
            attentive_answers = np.where(same, chance, 1 - chance) * np.where(anchor, 0.85, 0.15)
            answers = attentive * attentive_answers + (1 - attentive) / 4
            f = scipy.stats.norm.pdf(y, x @ theta[4:6] + yes * theta[6], np.exp(theta[7]))
            total = total + np.where(yes, pi, 1 - pi) * answers * f
        return -np.log(total).sum()

    found = scipy.optimize.minimize(loss, [-1, 0, 1, 0, 0.5, 0, 0.8, 0], options={"gtol": 1e-6})
    order = [fit.names.index(name) for name in ("Intercept", "z", "said[T.yes]")]
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    assert fit.coefficients[order] == pytest.approx(found.x[4:7], abs=1e-4)
    assert fit.sigma == pytest.approx(np.exp(found.x[7]), abs=1e-4)
    assert fit.end.theta[:4] == pytest.approx(found.x[:4], abs=1e-3)


@pytest.mark.parametrize("place", [0, 1], ids=["normal", "logistic"])
def test_score_and_information_are_the_differences(place):
    fit = list(fits())[place]
    units, rng = fit.mixture.units, np.random.default_rng(3)
    theta = fit.end.theta + 0.05 * units * rng.normal(size=len(units))
    found, steps = fit.mixture.evaluate(theta), 1e-5 * np.diag(units)
    ends = [(fit.mixture.evaluate(theta + step), fit.mixture.evaluate(theta - step)) for step in steps]
    score = np.array([up.value - down.value for up, down in ends]) / 2e-5
    information = np.array([down.gradient - up.gradient for up, down in ends]) / 2e-5
    assert fit.mixture.model.weight @ fit.mixture.scores(theta) == pytest.approx(found.gradient)
    assert found.gradient * units == pytest.approx(score, abs=1e-4)
    assert found.information * units * units[:, None] == pytest.approx(information * units, abs=1e-3)


def test_of_plain_answers_it_is_least_squares():
    rng = np.random.default_rng(4)
    trait, z = rng.random(400) < 0.4, rng.normal(size=400)
    table = {"said": np.where(trait, "yes", "no"), "z": z, "y": rng.normal(trait + z)}
    fit = regression.regress_outcome(designs.direct(("yes", "no")), "said ~ z", "y ~ said + z", table)
    x = np.column_stack([np.ones(400), trait, z])
    beta, (squares,), *_ = np.linalg.lstsq(x, table["y"])
    assert fit.coefficients == pytest.approx(beta)
    assert fit.sigma == pytest.approx(np.sqrt(squares / 400))
    assert fit.least_squares[0] == pytest.approx(beta)
    assert fit.normality is None
    assert fit.covariance == pytest.approx(np.linalg.inv(x.T @ x) * squares / 400, rel=1e-5)


@pytest.mark.parametrize("logistic", [False, True], ids=["normal", "logistic"])
def test_intervals_cover_the_truth(logistic):
    rng, covered, estimates = np.random.default_rng(5), 0, []
    for _ in range(60):
        table = warner(1_500 if logistic else 500, rng, logistic=logistic)
        fit = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", table)
        place = fit.names.index("said[T.yes]")
        estimates.append(fit.coefficients[place])
        low, high = fit.interval()[place]
        covered += low <= (-1 if logistic else 1) <= high  # the log odds are of “well”
    assert covered >= 52  # 57 expected, sd 1.7
    assert np.median(estimates) == pytest.approx(-1 if logistic else 1, abs=5 * np.std(estimates) / 60**0.5)


def test_a_skewed_outcome_is_told_by_least_squares():
    """The mixture takes the tail of the outcome for the category; least squares do not."""
    rng = np.random.default_rng(8)
    table = warner(3_000, rng)
    yes = rng.random(3_000) < scipy.special.expit(0.5 * table["z"] - 1)
    said = WARNER.randomize(np.where(yes, "yes", "no"), rng=rng).texts()
    skewed = {"said": said, "z": table["z"], "y": 0.3 * table["z"] + yes + rng.exponential(size=3_000)}
    fit = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", skewed)
    place = fit.names.index("said[T.yes]")
    beta, errors = fit.least_squares
    assert fit.coefficients[place] > 2
    assert beta[place] == pytest.approx(1, abs=2.5 * errors[place])
    assert fit.normality.p_value < 1e-4
    assert "the outcome is not normal with one σ within categories" in str(fit)
    normal = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", warner(3_000, rng))
    assert normal.normality.p_value > 0.01
    assert "the outcome is not normal" not in str(normal)


def test_errors_of_least_squares_are_those_of_both_steps_from_first_principles():
    """The regression of the category and least squares solve one set of equations; people stand for one to three."""
    table = warner(400, np.random.default_rng(12))
    many = np.random.default_rng(13).integers(1, 4, 400)
    one, z, said = np.ones(400), np.asarray(table["z"], float), np.asarray(table["said"]) == "yes"
    p = WARNER.matrix[0, 0]

    def equations(theta):
        share = scipy.special.expit(theta[0] + theta[1] * z)
        yes = np.where(said, p, 1 - p) * share
        chance = yes / (yes + np.where(said, 1 - p, p) * (1 - share))
        x = np.column_stack([one, chance, z])
        return np.hstack(
            [(chance - share)[:, None] * np.column_stack([one, z]), x * (table["y"] - x @ theta[2:])[:, None]]
        )

    fit = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", table | {"many": many}, count="many")
    beta, errors = fit.least_squares
    theta = np.append(fit.regression.coefficients, beta)
    at = equations(theta)
    assert many @ at == pytest.approx(0, abs=1e-4)
    steps = 1e-5 * np.eye(5)
    slopes = np.array([many @ (equations(theta + step) - equations(theta - step)) / 2e-5 for step in steps])
    inverse = np.linalg.inv(slopes.T)
    assert errors == pytest.approx(np.sqrt(np.diagonal(inverse @ ((at.T * many) @ at) @ inverse.T))[2:], rel=1e-4)


def test_a_covariate_of_one_formula_only_is_told():
    """Left out of the category's formula it bends both tables, and Hausman's test, which compares them, is silent."""
    rng, n = np.random.default_rng(9), 4_000
    z = rng.normal(size=n)
    yes = rng.random(n) < scipy.special.expit(1.5 * z)
    said = WARNER.randomize(np.where(yes, "yes", "no"), rng=rng).texts()
    table = {"said": said, "z": z, "y": rng.normal(yes + 0.3 * z)}
    without = regression.regress_outcome(WARNER, "said ~ 1", "y ~ said + z", table)
    beta, errors = without.least_squares
    assert (beta[1], without.coefficients[1]) < (1 - 2 * errors[1], 1 - 2 * without.standard_errors[1])
    assert without.normality.p_value > 0.05
    assert "the category has nothing to do with z" in str(without)
    lacking = regression.regress_outcome(WARNER, "said ~ z", "y ~ said", table)
    assert lacking.least_squares[0][1] > 1 + 5 * lacking.least_squares[1][1]
    assert "it has nothing to do with z" in str(lacking)
    assert "or a formula lacks a covariate, and neither holds" in str(lacking)
    of_two = regression.regress_outcome(WARNER, "said ~ 1", "high ~ said + z", table | {"high": table["y"] > 1})
    assert "the category has nothing to do with z" in str(of_two)
    assert "least squares" not in str(of_two)
    right = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", table)
    assert right.coefficients[1] == pytest.approx(1, abs=2 * right.standard_errors[1])
    assert "nothing to do with z" not in str(right)


def test_columns_that_rest_on_all_people_are_those_of_plain_regression():
    rng = np.random.default_rng(10)
    trait, z = rng.random(400) < 0.4, rng.normal(size=400)
    table = {"said": np.where(trait, "yes", "no"), "z": z, "y": rng.normal(trait + z)}
    fit = regression.regress_outcome(designs.direct(("yes", "no")), "said ~ z", "y ~ said + poly(z, 2)", table)
    orthogonal = np.linalg.qr(np.vander(z, 3, increasing=True))[0][:, 1:]
    beta = np.linalg.lstsq(np.column_stack([np.ones(400), trait, orthogonal]), table["y"])[0]
    assert np.abs(fit.coefficients) == pytest.approx(np.abs(beta))


def test_what_is_printed_of_an_outcome_of_two_values_and_of_numbers():
    table = warner(500, np.random.default_rng(6))
    of_truths = regression.regress_outcome(WARNER, "said ~ z", "high ~ said", table | {"high": table["y"] > 1})
    assert "Log odds of high “1”" in str(of_truths)
    assert "errors: observed information\n" in str(of_truths)
    of_numbers = regression.regress_outcome(WARNER, "said ~ z", "y ~ said", table)
    assert "errors: observed information; of least squares: sandwich\n" in str(of_numbers)
    assert of_numbers.to_dict()["standard_error_kind"] == "observed information; of least squares: sandwich"


def test_a_rare_category_is_told():
    """Intervals of the mixture covered .78 at a share of .02 among 1,500 people."""
    rng = np.random.default_rng(11)
    yes = rng.random(1_500) < 0.04
    said = WARNER.randomize(np.where(yes, "yes", "no"), rng=rng).texts()
    fit = regression.regress_outcome(WARNER, "said ~ 1", "y ~ said", {"said": said, "y": rng.normal(yes)})
    assert "shares within 3 standard errors of 0: “yes” (0.0" in str(fit)
    often = regression.regress_outcome(WARNER, "said ~ z", "y ~ said + z", warner(1_500, rng))
    assert "standard errors of 0" not in str(often)


def test_who_left_a_control_out_is_told():
    table = negative(1_500, np.random.default_rng(2))
    table["check"] = np.where(np.arange(1_500) < 90, "", table["check"])
    fit = regression.regress_outcome(LOT, "said + check ~ z", "y ~ said", table, sample="lot")
    assert fit.reservations[0].startswith("left out by people who answered the rest: check (90 of 1,500)")


def test_one_result_in_every_form():
    for fit in fits():
        numbers = json.loads(fit.to_json())
        assert numbers["n"] == fit.n
        assert len(numbers["coefficients"]) == len(fit.to_csv().splitlines()) - 1
        assert fit.outcome.text in str(fit)
        assert "<table" in fit.to_html()


@pytest.mark.parametrize(
    ("change", "outcome", "error", "message"),
    [
        ({"y": np.ones(500)}, "y ~ said", NotEstimable, "'y' has no variation"),
        ({"y": np.arange(500), "z": np.arange(500)}, "y ~ said + z", NotEstimable, "without error"),
        ({"y": list("abcde") * 100}, "y ~ said", DataError, "numbers or two values"),
        ({"y": [np.inf, *range(499)]}, "y ~ said", DataError, "'y' has an infinite cell"),
        ({}, "y ~ z", DataError, "must hold 'said'"),
        ({}, "z ~ said", DataError, "stands nowhere else"),
        ({"z": [0, 1] * 250, "y": [0, 1] * 250}, "y ~ said + z", NotEstimable, "separation"),
        ({"y": [None] + [0.5, 1.5, 2] * 166 + [3]}, "y ~ said", DataError, "empty cell in 'y'"),
    ],
)
def test_what_cannot_be_estimated_is_said(change, outcome, error, message):
    table = warner(500, np.random.default_rng(6)) | change
    with pytest.raises(error, match=message):
        regression.regress_outcome(WARNER, "said ~ z", outcome, table)
