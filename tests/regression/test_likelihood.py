"""The likelihood: derivatives against differences, theorems, and rows that are counted once."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from people import asked, people

from naysay import designs, regression
from naysay.regression.likelihood import collapse_rows, within
from naysay.regression.solving import Penalty

YES = ("yes", "no")
THREE = ("a", "b", "c")
LEVELS = designs.levels({"low": designs.warner(p=0.7), "high": designs.warner(p=0.9), "open": designs.direct(YES)})

SURVEYS = {
    "warner": designs.warner(p=0.8),
    "kuk": designs.kuk(p=(0.8, 0.2), draws=3),
    "negative": designs.negative(THREE),
    "k-ary": designs.k_ary(THREE, epsilon=2),
    "levels": LEVELS,
    "negative levels": designs.negative_levels(("a", "b", "c", "d")),
    "stacked": designs.samples(direct=designs.direct(YES), triangular=designs.triangular(prevalence=0.3)),
    "lie detector": designs.stochastic_lie_detector(p=(0.2, 0.8)),
    "cheating": designs.cheating_detection(p=(0.25, 0.75)),
    "cheating, symmetric": designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1)),
    "unknown prevalence": designs.unrelated_question_unknown(p=(0.7, 0.3)),
    "anchored": designs.anchored_crosswise(prevalence=0.15, anchor=0.2),
    "who complies": designs.controlled(designs.negative(THREE), truth="lot"),
    "who complies, two types": designs.controlled(
        designs.crosswise(prevalence=0.15), truth="no", types=("random", "one answer: different")
    ),
}
GAMMA = [-1.2, 0.6]  # log odds of each type by x, in surveys of who complies
BETA = {
    2: [[-0.3, 0.7, 0.4]],
    3: [[0.3, 0.7, -0.4], [-0.2, -0.5, 0.5]],
    4: [[0.3, 0.7, -0.4], [0.1, -0.5, 0.5], [0, 0.2, 0.1]],
}


def survey(name, n, seed=1):
    """A survey of some people: design, table, how its parts are named, and the true parameters."""
    design, rng = SURVEYS[name], np.random.default_rng(seed)
    table, truth = people(n, BETA[len(design.categories)], rng, categories=design.categories)
    inside, nu, by_x = within(design), np.full((5, n), 0.8), name.startswith("who complies")
    if by_x:
        nu[:] = 1 / (1 + np.exp(-GAMMA[0] - GAMMA[1] * table["x"]))
    chances = inside.chances(nu)
    places = [design.categories.index(each) for each in truth.tolist()]
    cells = np.array(design.cells, dtype=object)[
        [rng.choice(len(chances), p=chances[:, place, row]) for row, place in enumerate(places)]
    ]
    said, part = asked(design, cells.tolist(), rng)
    role = {"respondent": "level", "researcher": "sample", "nobody": None}[design.offer.assigned_by]
    if design.space.answers == 2:
        table |= dict(zip(("first", "second"), said, strict=True))
        formula = "first + second ~ x + g"
    else:
        table["said"], formula = said, "said ~ x + g"
    nuisance = GAMMA * len(inside.parameters) if by_x else nu[: len(inside.parameters), 0]
    theta = np.concatenate([np.ravel(BETA[len(design.categories)]), nuisance])
    names_part = role is not None and design.levels != (None,)
    options = ({role: role} if names_part else {}) | ({"compliance": "x"} if by_x else {})
    return design, formula, table | ({role: part} if names_part else {}), options, theta


@pytest.mark.parametrize("name", SURVEYS)
def test_gradient_and_information_are_derivatives(name):
    design, formula, table, role, theta = survey(name, 400)
    model = regression.regress(design, formula, table, **role, penalty=1).model
    theta = theta + np.random.default_rng(2).normal(scale=0.05, size=theta.size)
    at, step = model.evaluate(theta), 1e-5
    for i in range(theta.size):
        moved = step * (np.arange(theta.size) == i)
        above, below = model.evaluate(theta + moved), model.evaluate(theta - moved)
        assert at.gradient[i] == pytest.approx((above.value - below.value) / (2 * step), abs=1e-4)
        assert at.information[i] == pytest.approx(-(above.gradient - below.gradient) / (2 * step), abs=1e-3)
    assert model.scores(theta).T @ model.weight == pytest.approx(at.gradient)


@pytest.mark.parametrize("name", SURVEYS)
def test_expected_information_is_the_mean_over_all_answers(name):
    """Each row's answer is replaced by every other that its channel could have given."""
    design, formula, table, role, theta = survey(name, 60)
    model = regression.regress(design, formula, table, **role, penalty=1).model
    expected = model.evaluate(theta, "expected").information
    known, total = model.answers, np.zeros_like(expected)
    for part, rows in enumerate(known.listings()):
        here = np.flatnonzero(known.part[model.answer] == part)
        own = replace(model.at(here), answers=known._replace(rows=rows, part=np.full(len(rows), part)))
        for y in range(len(rows)):
            same = replace(own, answer=np.full(len(here), y))
            chances = np.array([np.exp(same.at([i]).evaluate(theta, None).value) for i in range(len(here))])
            total += (
                replace(same, weight=np.where(chances > 0, chances, 0)).evaluate(theta, "outer_product").information
            )
    assert expected == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("name", ["warner", "negative", "lie detector"])
def test_randomization_is_what_is_left_where_the_category_is_known(name):
    """The variance of scores splits into that of their means given the category, and the rest."""
    design, formula, table, role, theta = survey(name, 60)
    model = regression.regress(design, formula, table, **role, penalty=1).model
    ones = np.ones(60)
    between = model.weighted_information(theta, "expected", ones) - model.weighted_information(
        theta, "randomization", ones
    )
    assert np.linalg.eigvalsh(between).min() > -1e-9
    direct = regression.regress(designs.direct(YES), "y ~ x", {"y": ["yes", "no"] * 30, "x": range(60)})
    assert direct.model.weighted_information(direct.optimum.theta, "randomization", ones) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", SURVEYS)
def test_the_truth_is_found_in_many_answers(name):
    design, formula, table, role, theta = survey(name, 60_000)
    fit = regression.regress(design, formula, table, **role)
    errors = np.sqrt(np.diagonal(fit.whole_covariance))
    assert (np.abs(fit.optimum.theta - theta) < 4.5 * errors).all()
    assert errors.max() < 0.4


@pytest.mark.parametrize("name", ["levels", "who complies"])
def test_alike_rows_are_counted_once_and_change_nothing(name):
    design, formula, table, role, _ = survey(name, 9_000)
    table["x"] = np.round(table["x"])
    fit = regression.regress(design, formula, table, **role)
    assert len(fit.model.x) < 400
    full, squared = fit.data.model, fit.data.squared
    whole = replace(fit, model=full, squared=squared)
    assert fit.log_likelihood == pytest.approx(full.evaluate(fit.optimum.theta).value)
    for kind in ("observed", "expected", "outer_product", "sandwich"):
        both = (each.with_standard_errors(kind).covariance for each in (fit, whole))
        assert next(both) == pytest.approx(next(both), rel=1e-9)
    table["x"] = np.random.default_rng(3).normal(size=9_000)
    model = regression.regress(design, formula, table, **role).data.model
    assert collapse_rows(model, squared)[0] is model  # continuous: nothing to gain


def test_people_who_are_counted_or_listed_are_the_same():
    design, formula, table, _, _ = survey("warner", 600)
    listed = regression.regress(design, formula, table)
    frame = pl.DataFrame(table).with_columns(n=pl.lit(1))
    twice = pl.concat([frame, frame.head(300)])
    counted = frame.with_columns(n=pl.when(pl.int_range(pl.len()) < 300).then(2).otherwise(1))
    a, b = regression.regress(design, formula, twice), regression.regress(design, formula, counted, count="n")
    assert a.n == b.n == 900
    assert a.coefficients == pytest.approx(b.coefficients)
    for kind in ("observed", "sandwich"):
        assert a.with_standard_errors(kind).covariance == pytest.approx(b.with_standard_errors(kind).covariance)
    assert not np.allclose(a.coefficients, listed.coefficients)


def test_the_unit_of_weights_does_not_matter():
    design, formula, table, _, _ = survey("warner", 600)
    table["w"] = np.random.default_rng(4).uniform(1, 5, 600)
    one = regression.regress(design, formula, table, weights="w")
    other = regression.regress(design, formula, table | {"w": 1000 * table["w"]}, weights="w")
    assert one.covariance == pytest.approx(other.covariance)
    assert one.log_likelihood == pytest.approx(other.log_likelihood)


def test_another_reference_says_the_same():
    design, formula, table, _, _ = survey("negative", 3_000)
    one = regression.regress(design, formula, table)
    other = regression.regress(design, formula, table, reference="a")
    assert one.log_likelihood == pytest.approx(other.log_likelihood)
    first, _ = one.coefficients.reshape(2, 3)
    assert other.coefficients.reshape(2, 3)[1] == pytest.approx(-first, abs=1e-5)
    assert one.effects().values == pytest.approx(other.effects().values, abs=1e-7)
    assert one.effects().standard_errors == pytest.approx(other.effects().standard_errors, abs=1e-6)


@pytest.mark.parametrize("by", [0.5, 500.0])
def test_an_offset_moves_the_constant(by):
    design, formula, table, _, _ = survey("warner", 2_000)
    plain = regression.regress(design, formula, table)
    moved = regression.regress(design, formula, table | {"o": np.full(2_000, by)}, offset="o")
    assert moved.coefficients == pytest.approx(plain.coefficients - [by, 0, 0], abs=1e-6)
    assert moved.against_constant.statistic == pytest.approx(plain.against_constant.statistic, abs=1e-6)


def test_a_constant_alone_is_the_estimate_of_the_tally():
    from naysay import estimate

    design, _, table, _, _ = survey("negative", 3_000)
    fit = regression.regress(design, "said ~ 1", table)
    alone = estimate.maximum_likelihood(design, design.tally(table["said"]))
    assert fit.predict({"x": [0.0]}).probabilities[0] == pytest.approx(alone.proportions, abs=1e-6)
    assert fit.predict({"x": [0.0]}).standard_errors[0] == pytest.approx(alone.standard_errors, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(alone.maximum.log_likelihood)
    assert fit.against_constant is None


@pytest.mark.parametrize("name", ["lie detector", "cheating", "unknown prevalence", "anchored"])
def test_nuisance_parameters_of_a_constant_alone_are_those_of_the_tally(name):
    from naysay import estimate

    design, formula, table, role, _ = survey(name, 4_000)
    fit = regression.regress(design, formula.replace("x + g", "1"), table, **role)
    said = (table["first"], table["second"]) if "first" in table else table["said"]
    tally = design.tally(said, **{key: table[key] for key in role})
    alone = estimate.maximum_likelihood(design, tally)
    assert fit.log_likelihood == pytest.approx(alone.maximum.log_likelihood, abs=1e-5)
    for share, value in alone.nuisance.items():
        assert fit.nuisance[share].value == pytest.approx(value.value, abs=1e-4)
        assert fit.nuisance[share].standard_error == pytest.approx(value.standard_error, rel=1e-3)


def test_a_nuisance_parameter_at_the_boundary_is_held_there_and_said():
    rng = np.random.default_rng(3)
    design = SURVEYS["lie detector"]
    table, truth = people(2_000, [[0.5, 0.5, 0.2]], rng)
    cells = ["truthful yes" if each == "yes" else "no" for each in truth.tolist()]  # nobody lies
    said, part = asked(design, cells, rng)
    fit = regression.regress(design, "said ~ x + g", table | {"said": said, "s": part}, sample="s")
    assert fit.optimum.bound.tolist() == [False, False, False, True]
    assert fit.nuisance["truth-tellers"].value == 1
    assert np.isnan(fit.nuisance["truth-tellers"].standard_error)
    assert np.isfinite(fit.standard_errors).all()
    assert any("at the boundary, and held there: truth-tellers" in each for each in fit.reservations)


def test_the_penalty_is_that_of_a_beta_prior_for_one_share():
    """Log-F(m, m) on the logit is Beta(m/2, m/2) on the share: m answers more, split evenly."""
    said = ["yes"] * 7 + ["no"] * 21
    fit = regression.regress(designs.direct(YES), "said ~ 1", {"said": said}, penalty=3)
    assert fit.predict({"z": [0]}).probabilities[0, 0] == pytest.approx(8.5 / 31)


def test_the_penalty_has_its_derivatives():
    rng = np.random.default_rng(9)
    design, formula, table, role, _ = survey("who complies", 300)
    model = regression.regress(design, formula, table, **role, penalty=1).model
    prior, theta = Penalty.of(1.5, model), rng.normal(size=model.size)
    at = prior.prior_terms(model, theta)
    for i in range(model.size):
        moved = 1e-5 * (np.arange(model.size) == i)
        above, below = prior.prior_terms(model, theta + moved), prior.prior_terms(model, theta - moved)
        assert at.gradient[i] == pytest.approx((above.value - below.value) / 2e-5, abs=1e-6)
        assert at.information[i] == pytest.approx(-(above.gradient - below.gradient) / 2e-5, abs=1e-6)
