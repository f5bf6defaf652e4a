"""Bad input: each is one clear error that names what is wrong, and the way out."""

import datetime
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from naysay import designs, regression
from naysay.design import Samples
from naysay.errors import AnswerError, DataError, DesignError, NaysayError, NotEstimable
from naysay.regression.likelihood import within
from naysay.sampling import Sampling

WARNER = designs.warner(p=0.8)
DIRECT = designs.direct(("yes", "no"))


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    said = rng.choice(["yes", "no"], 60)
    return {"said": said, "x": rng.normal(size=60), "g": rng.choice(["f", "m"], 60), "w": np.ones(60)}


def refused(table, formula="said ~ x + g", *, match, design=WARNER, error=DataError, **options):
    with pytest.raises(error, match=match) as caught:
        regression.regress(design, formula, table, **options)
    return caught.value


def test_a_formula_that_names_no_column(table):
    error = refused(table, "said ~ x + gg", match="there is no column 'gg'; the columns are 'said', 'x', 'g', 'w'")
    assert error.column == "gg"
    refused(table, "sad ~ x", match=r"there is no column 'sad'.*did you mean 'said'")
    refused(table, "said ~ log(X)", match=r"there is no column 'X'.*did you mean 'x'")


def test_a_dot_is_answered_in_our_words(table):
    refused(table, "said ~ .", match=r"a formula cannot hold '\.'; name the columns")


def test_a_formula_that_is_none(table):
    refused(table, "said", match="'said' is no formula: write the response, ~, and the columns")
    refused(table, "said ~ __import__('os')", match="a formula cannot call '__import__'")


def test_the_answers_on_both_sides(table):
    for formula in ("said ~ x + said", "said ~ said + x", "said ~ said", "said ~ log(said):x"):
        refused(table, formula, match="column 'said' stands on both sides")


def test_rows_with_gaps_are_counted_and_dropped_only_when_told(table):
    table["x"][[4, 9]] = np.nan
    table["g"] = table["g"].astype(object)
    table["g"][[9, 20, 21]] = None
    match = r"4 of 60 people who answered have an empty cell in 'x' \(2\), 'g' \(3\), first in row 5; .* missing='drop'"
    error = refused(table, match=match)
    assert (error.row, error.column) == (4, "x")
    fit = regression.regress(WARNER, "said ~ x + g", table, missing="drop")
    assert (fit.n, fit.data.dropped, fit.data.missing) == (56, 4, {"x": 2, "g": 3})
    assert "4 people were left out, whose covariates are missing: x (2), g (3)" in str(fit)
    refused(table, match="missing must be one of error, drop; got 'ignore'", missing="ignore")


def test_an_empty_text_is_missing(table):
    table["g"][7] = ""
    refused(table, match="1 of 60 people who answered have an empty cell in 'g'")


def test_missing_answers_are_left_out_and_counted(table):
    said = table["said"].astype(object)
    said[:5] = None
    table["x"][2] = np.nan  # nobody misses the covariates of people who gave no answer
    fit = regression.regress(WARNER, "said ~ x + g", table | {"said": said})
    assert (fit.n, fit.to_dict()["missing"]) == (55, 5)
    assert "55 answers, 5 missing" in str(fit)
    rest = {name: np.asarray(values)[5:] for name, values in table.items()}
    assert fit.coefficients == pytest.approx(regression.regress(WARNER, "said ~ x + g", rest).coefficients)


def test_nobody_answered(table):
    refused(table | {"said": [None] * 60}, match="at least one answer is needed")
    refused({"said": [], "x": [], "g": []}, match="at least one answer is needed; the data has no rows")


def test_perfect_separation(table):
    table["said"] = np.where(table["g"] == "m", "yes", "no")
    match = (
        r"no finite coefficient of 'Intercept', 'g\[T\.m\]' for “yes” against “no” \(separation\): for 60 of 60 people "
        r"their share of “yes” is estimated as 0 or 1, .*penalty=1"
    )
    error = refused(table, "said ~ g", design=DIRECT, match=match, error=NotEstimable)
    assert error.rank == 0


def test_separation_of_some_people(table):
    table["said"][table["g"] == "m"] = "yes"
    number = int((table["g"] == "m").sum())
    refused(
        table,
        "said ~ g",
        design=DIRECT,
        match=rf"'g\[T\.m\]' .*for {number} of 60 people .*estimated as 1,",
        error=NotEstimable,
    )


def test_separation_by_a_number(table):
    table["said"] = np.where(table["x"] > 0.1, "yes", "no")
    refused(table, "said ~ x", design=DIRECT, match=r"\(separation\)", error=NotEstimable)


@pytest.mark.parametrize("n", [30, 3_000])
def test_complete_separation_by_a_number_whose_values_lie_close_together(n):
    x = np.random.default_rng(3).normal(size=n)
    survey = designs.direct(("yes", "no"))
    with pytest.raises(NotEstimable, match=r"no finite coefficient of .*'x'.*separation"):
        regression.regress(survey, "said ~ x", {"said": np.where(x > 0, "yes", "no"), "x": x})


def test_a_number_with_outliers_is_no_separation():
    rng = np.random.default_rng(4)
    income = rng.lognormal(3, 3, 3_000)
    truth = np.where(rng.random(3_000) < 1 / (1 + np.exp(1 - 0.02 * income)), "yes", "no")
    fit = regression.regress(designs.direct(("yes", "no")), "said ~ income", {"said": truth, "income": income})
    assert np.abs((fit.coefficients - [-1, 0.02]) / fit.standard_errors).max() < 3.5
    assert fit.optimum.iterations < 40


def test_answers_as_one_sided_as_the_design_allows_are_separated_too(table):
    table["said"][table["g"] == "m"] = "no"  # of m less than the 20 % say yes whom Warner's design lets lie
    match = r"no finite coefficient of 'g\[T\.m\]' .*share of “yes” is estimated as 0"
    refused(table, "said ~ g", match=match, error=NotEstimable)


def test_a_penalty_keeps_separated_coefficients_finite(table):
    table["said"] = np.where(table["g"] == "m", "yes", "no")
    fit = regression.regress(DIRECT, "said ~ g", table, penalty=1)
    assert np.isfinite(fit.coefficients).all()
    assert np.abs(fit.coefficients).max() < 12
    assert "penalty: log-F(1, 1) priors" in str(fit)
    for bad in (-1, np.nan, np.inf, True):
        refused(table, penalty=bad, match="penalty must be 0 .none. or above")


def test_more_coefficients_than_people(table):
    few = {name: values[:3] for name, values in table.items()}
    few["h"] = ["a", "b", "c"]
    refused(few, "said ~ x + h", match="asks for 4 coefficients, and only 3 people answered", error=NotEstimable)


def test_collinear_columns_are_named(table):
    table |= {"z": 2 * table["x"] - 3, "u": np.random.default_rng(1).normal(size=60)}
    error = refused(table, "said ~ x + u + z", match=r"columns 'Intercept', 'x', 'z' are collinear", error=NotEstimable)
    assert error.rank == 3
    assert len(error.contrast) == 4


def test_a_combination_of_categories_that_nobody_has(table):
    table["h"] = np.where(table["g"] == "m", "p", np.where(table["x"] > 0, "p", "q"))
    refused(table, "said ~ g*h", match=r"nobody is in 'g\[T\.m\]:h\[T\.q\]': this combination", error=NotEstimable)


def test_a_category_with_one_level(table):
    refused(table | {"g": ["f"] * 60}, match="'g' has one level only, 'f': it tells nobody apart; leave it out")
    said, g = table["said"].astype(object), np.full(60, "f")
    g[5], said[5] = "m", None  # the only other one gave no answer
    refused(table | {"said": said, "g": g}, match="'g' has one level only, 'f'")


@pytest.mark.parametrize("sampling", [None, Sampling(weights="w", clusters="g")])
def test_weights_that_are_all_zero(table, sampling):
    named = {"weights": "w"} if sampling is None else {"sampling": sampling}
    refused(table | {"w": np.zeros(60)}, match="the weights .*must not all be zero", **named)


def test_weights_that_are_none(table):
    table["w"][7] = -1
    error = refused(table, weights="w", match="weights must be finite and not negative; column 'w' holds -1 in row 8")
    assert (error.row, error.column, error.value) == (7, "w", -1)
    refused(table | {"w": ["a"] * 60}, weights="w", match="weights must be numbers; column 'w' holds String")
    refused(table, weights="v", match="there is no column 'v'")
    refused(
        table | {"w": np.ones(60)},
        weights="w",
        standard_errors="observed",
        match="with survey weights only the sandwich is valid; got standard_errors='observed'",
    )


def test_weights_that_are_named_twice(table):
    refused(table, weights="w", sampling=Sampling(weights="w"), match="weights are named twice")


def test_counts_that_are_not_whole(table):
    refused(table | {"n": np.full(60, 1.5)}, count="n", match="counts must be whole")


def test_an_offset_with_gaps(table):
    refused(table, offset="o", match="there is no column 'o'")
    table["o"] = np.zeros(60)
    table["o"][11] = np.nan
    refused(table, offset="o", match=r"1 of 60 people who answered have an empty cell in 'o' \(1\), first in row 12")
    table["o"][11] = np.inf
    refused(table, offset="o", match="the offset must be finite; got inf")


def test_an_answer_that_the_design_does_not_know(table):
    table["said"] = table["said"].astype(object)
    table["said"][[13, 17]] = "maybe"
    error = refused(
        table, match="column 'said', row 14, is 'maybe', which is not a response here; known are 'yes', 'no'"
    )
    assert not isinstance(error, AnswerError)
    assert (error.row, error.column, error.value) == (13, "said", "maybe")


def test_levels_and_samples_are_named_as_the_design_has_them(table):
    choice = designs.levels({"low": designs.warner(p=0.7), "high": designs.warner(p=0.9)})
    table["level"] = np.where(table["x"] > 0, "low", "high").astype(object)
    refused(table, design=choice, match="needs `level`: the column of the level of each respondent")
    refused(table, design=choice, sample="level", match="has no samples; leave `sample` out")
    refused(table, level="level", match="has no levels; leave `level` out")
    table["level"][3] = "middle"
    refused(table, design=choice, level="level", match="column 'level', row 4, is 'middle', which is not on offer")


def test_a_reference_that_is_no_category(table):
    refused(table, reference="YES", match="the reference 'YES' is no category; did you mean 'yes'")


def test_standard_errors_that_there_are_not(table):
    refused(table, standard_errors="robust", match="standard_errors must be one of observed, expected, outer_product")
    fit = regression.regress(WARNER, "said ~ x", table)
    with pytest.raises(DataError, match="standard_errors must be one of"):
        fit.with_standard_errors("robust")


def test_columns_that_no_formula_takes(table):
    table = pl.DataFrame(table).with_columns(day=pl.lit(datetime.date(2026, 1, 1)))
    refused(table, "said ~ day", match="column 'day' holds Date; a formula takes numbers and texts")
    refused(table, "said ~ log(g)", match="the right side of the formula cannot be computed")
    refused([1, 2], match="regression needs a table, such as a dataframe; got list")


def test_a_design_that_tells_nothing(table):
    useless = designs.custom([[0.5, 0.5], [0.5, 0.5]], categories=("yes", "no"))
    refused(table, design=useless, match="cannot", error=NotEstimable)
    refused(table, design="warner(p=0.7)", match="a design is needed")


def test_expected_information_of_too_many_responses():
    design = designs.negative(tuple(f"c{i}" for i in range(24)), discards=12)
    rng = np.random.default_rng(1)
    said = design.randomize(rng.choice(design.categories, 3_000), rng=rng)
    fit = regression.regress(design, "said ~ 1", {"said": said.texts()}, penalty=1)
    assert np.isfinite(fit.standard_errors).all()
    with pytest.raises(DataError, match="expected information needs all responses written out"):
        _ = fit.with_standard_errors("expected").standard_errors


def test_predictions_need_what_the_regression_knows(table):
    fit = regression.regress(WARNER, "said ~ x + g", table)
    for ask, match in [
        (lambda: fit.predict({"x": [1.0]}), "there is no column 'g' to predict from"),
        (lambda: fit.predict({"x": [1.0], "g": ["k"]}), "'g' is never 'k' here; known are 'f', 'm'"),
        (lambda: fit.predict({"x": [None], "g": ["f"]}), "column 'x' has an empty cell"),
        (lambda: fit.margins(y=1), "'y' is no variable of the formula"),
        (lambda: fit.margins(g="k"), "'g' is never 'k' here"),
        (lambda: fit.margins(x="k"), "'x' must be a number; got 'k'"),
        (lambda: fit.effects(["h"]), "'h' is no variable of the formula"),
        (lambda: fit.wald("h"), "'h' is no term of the formula"),
        (lambda: fit.interval(1.5), "confidence must lie between 0 and 1"),
    ]:
        with pytest.raises(DataError, match=match):
            ask()


def test_likelihood_ratios_compare_the_same_answers(table):
    table["other"] = table["said"][::-1]
    fit, smaller = (regression.regress(WARNER, f, table, penalty=0) for f in ("said ~ x", "other ~ 1"))
    with pytest.raises(DataError, match="compares regressions of the same answers; these have"):
        fit.likelihood_ratio(smaller)


def test_likelihood_ratios_compare_what_can_be_compared(table):
    whole, part = (regression.regress(WARNER, f"said ~ {right}", table) for right in ("x + g", "x"))
    assert whole.likelihood_ratio(part).degrees_of_freedom == 1
    weighted = regression.regress(WARNER, "said ~ x", table, weights="w")
    others = regression.regress(WARNER, "said ~ x", {name: values[:50] for name, values in table.items()})
    for first, second, match in [
        (part, whole, "must have fewer coefficients"),
        (whole, weighted, "with survey weights the likelihood ratio has no known distribution; use the Wald test"),
        (whole, others, "regressions of the same people; these have other rows"),
    ]:
        with pytest.raises(DataError, match=match):
            first.likelihood_ratio(second)


def test_likelihood_ratios_compare_what_is_nested(table):
    """A model with other columns, another offset, other counts, another design or reference is no part of this one."""
    rng = np.random.default_rng(3)
    table |= {"z": rng.normal(size=60), "o": rng.normal(size=60), "people": rng.integers(1, 4, 60)}
    larger = regression.regress(WARNER, "said ~ x + z", table)
    with pytest.raises(DataError, match=r"its column 'g\[T.m\]' does not follow from 'Intercept', 'x', 'z'"):
        larger.likelihood_ratio(regression.regress(WARNER, "said ~ g", table))
    for options, design, match in [
        ({"offset": "o"}, WARNER, "the same offset"),
        ({"count": "people"}, WARNER, "the same people; these have other rows or counts"),
        ({}, designs.warner(p=0.9), "the same design; these have"),
    ]:
        with pytest.raises(DataError, match=match):
            larger.likelihood_ratio(regression.regress(design, "said ~ x", table, **options))


def test_likelihood_ratios_take_other_columns_of_the_same_space(table):
    larger = regression.regress(WARNER, "said ~ x + g", table)
    plain, turned = (regression.regress(WARNER, f"said ~ {right}", table) for right in ("g", "0 + C(g, Sum)"))
    one, other = (larger.likelihood_ratio(each) for each in (plain, turned))
    assert one.statistic == pytest.approx(other.statistic, abs=1e-6)
    assert one.degrees_of_freedom == other.degrees_of_freedom == 1


def test_a_negative_likelihood_ratio_is_an_error_of_ours(table):
    larger, smaller = (regression.regress(WARNER, f"said ~ {right}", table) for right in ("x + g", "x"))
    missed = replace(larger, optimum=replace(larger.optimum, log_likelihood=smaller.log_likelihood - 0.5))
    with pytest.raises(NaysayError, match="a search has missed its maximum, which is an error of naysay"):
        missed.likelihood_ratio(smaller)


def test_cells_without_a_parameter_that_tells_them_apart():
    told = designs.stochastic_lie_detector(p=(0.2, 0.8))
    silent = Samples.of(told.parts, shares=told.shares)
    with pytest.raises(
        DesignError, match="tells the cells 'truthful yes', 'lying yes' apart; without one, compare groups: naysay"
    ):
        within(silent)


def test_a_contrast_without_its_category(table):
    refused(table, "said ~ C(g, Treatment)", match=r"names no category; write .* C\(region, Treatment\('north'\)\)")


def test_dates_in_an_array_are_refused_as_dates(table):
    days = np.array(["2026-01-01"] * 60, dtype="datetime64[D]")
    refused({**table, "day": days}, "said ~ day", match="column 'day' holds Date; a formula takes numbers and texts")


def test_separation_counts_people_and_not_rows():
    said = ["yes", "no", "yes", "no", "no"]
    table = {"said": said, "g": list("aaabb"), "n": [30, 40, 10, 70, 0]}
    refused(table, "said ~ g", design=DIRECT, error=NotEstimable, count="n", match="for 70 of 150 people")
    weights = {**table, "w": [1.0, 1.0, 1.0, 2.0, 0.0]}
    refused(weights, "said ~ g", design=DIRECT, error=NotEstimable, weights="w", match="for 1 of ")


def test_one_text_in_a_column_of_numbers_is_named_with_its_row():
    data = {"y": ["yes", "no"] * 150, "score": [str(each / 7) for each in range(300)]}
    data["score"][16] = "?"
    with pytest.raises(DataError, match=r"column 'score' holds numbers, but '\?' in row 17"):
        regression.regress(designs.warner(p=0.8), "y ~ score", data)
