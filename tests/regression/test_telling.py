"""What a regression tells, in every form."""

import json

import numpy as np
import pytest
from people import asked, people

from naysay import crosstab, designs, regression
from naysay.errors import DataError, NotEstimable
from naysay.estimate.compliance import compliance
from naysay.regression.result import prediction_chart, regression_html
from naysay.show import Column, Facts, Heading, Note, Points, Sentence, Table, latex


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(31)
    design = designs.negative_levels(("a", "b", "c", "d"))
    table, truth = people(4_000, [[0.3, 0.4, -0.4], [0.1, -0.5, 0.5], [0, 0.2, 0.1]], rng, categories=design.categories)
    said, level = asked(design, truth, rng)
    return regression.regress(design, "said ~ x*g", table | {"said": said, "level": level}, level="level")


def test_text_says_what_it_is_and_what_it_rests_on(fit):
    told = str(fit)
    assert told.startswith(
        "said ~ x*g: negative_levels()\n4,000 answers, none missing\nmultinomial regression against “d”"
    )
    for words in ("Log odds of “a” against “d”", "x:g[T.m]", "Wald χ²", "g: m - f"):
        assert words in told
    assert "assumes: among people with the same covariates the chosen level has nothing to do with the category" in told


def test_effects_of_a_variable_add_up_to_nothing(fit):
    found = fit.effects()
    assert found.values.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert found.interval().shape == (2, 4, 2)


def test_effects_are_differences_of_margins(fit):
    difference = fit.margins(g="m").probabilities - fit.margins(g="f").probabilities
    assert fit.effects(["g"]).values == pytest.approx(difference)


def test_predictions_stay_within_zero_and_one(fit):
    found = fit.predict({"x": [-9.0, 0.0, 9.0], "g": ["f", "m", "m"]})
    ends = found.interval(0.99)
    assert found.probabilities.sum(axis=1) == pytest.approx(1)
    assert (ends[..., 0] <= found.probabilities).all()
    assert (ends[..., 1] >= found.probabilities).all()
    assert np.nanmin(ends) >= 0
    assert np.nanmax(ends) <= 1


def test_a_term_is_tested_in_all_equations(fit):
    assert fit.wald("g").degrees_of_freedom == 3
    assert set(fit.tests()) == {"x", "g", "x:g"}
    assert str(fit.wald("g")).startswith("Wald χ² = ")


def test_json_can_be_written(fit):
    told = json.loads(json.dumps(fit.to_dict(at=[{"g": "f"}]), allow_nan=False))
    assert len(told["coefficients"]) == 12
    assert np.shape(told["covariance"]) == (12, 12)
    assert [each["category"] for each in told["effects"]][:4] == ["a", "b", "c", "d"]


def test_pages_and_notebooks_show_the_same_tables(fit):
    page = regression_html(fit)
    assert page.count("<caption>") >= 4
    assert "x:g[T.m]" in page
    assert "x:g[T.m]" in fit._repr_html_()


def test_a_page_draws_coefficients_with_intervals_and_predicted_shares_with_bands(fit):
    page = regression_html(fit)
    images = page.split("<svg")[1:]
    assert len(images) == 2 * (3 + 2), "wide and narrow: three equations, then a line and dots"
    low, high = fit.interval()[1]
    ratio, least, most = np.exp([fit.coefficients[1], low, high])
    told = f"{fit.coefficients[1]:.3f}, {low:.3f} to {high:.3f}; odds ratio {ratio:.3g}, {least:.3g} to {most:.3g}"
    assert told in images[0]
    ends = fit.margins(g="m").interval()[0, 0]
    assert (
        f"m: a: predicted share with its 0.95 interval {100 * fit.margins(g='m').probabilities[0, 0]:.2f}\u00a0%, "
        in page
    )
    assert f"{100 * ends[0]:.2f}\u00a0% to {100 * ends[1]:.2f}\u00a0%" in page
    assert "--chart-estimate" in prediction_chart(fit, "x"), "colors are those of the page, light and dark"


def test_shares_along_a_number_are_margins_at_its_places(fit):
    values, shares = fit.along("x")
    assert len(values) == 21
    assert shares.probabilities[7] == pytest.approx(fit.margins(x=values[7]).probabilities[0])
    assert shares.standard_errors[7] == pytest.approx(fit.margins(x=values[7]).standard_errors[0])


def test_a_regression_on_the_constant_alone_has_a_page_without_charts():
    table = {"said": ["yes", "no"], "people": [30, 70]}
    page = regression_html(regression.regress(designs.direct(("yes", "no")), "said ~ 1", table, count="people"))
    assert "<svg" not in page and "Intercept" in page


def test_latex_knows_the_whole_vocabulary():
    content = [Heading("A & B"), Sentence("50 %"), Note("x_1"), Points(("one", "two")), Facts((("n", "5"),))]
    content.append(Table((Column("a", words=True), Column("b")), (("π", "-1.5"), ("~", "<0.001")), "C", apart=1))
    told = latex(content)
    for words in (r"A \& B", r"50 \%", r"x\_1", r"\item two", r"\emph{n:} 5", r"$\pi$ & $-$1.5", r"\textless{}0.001"):
        assert words in told
    assert told.count(r"\midrule") == 2


@pytest.mark.parametrize(
    "term", ["bs(x, df=4)", "cr(x, df=4, constraints='center')", "poly(x, 2)", "log(x)", "scale(x)", "I(x**2)"]
)
def test_functions_of_a_number_have_an_effect(term):
    rng = np.random.default_rng(8)
    x = rng.lognormal(3, 2, 2_000)  # the least lies far below the standard deviation
    table = {"said": rng.choice(["yes", "no"], 2_000), "x": np.minimum(x, 1e4)}
    found = regression.regress(designs.direct(("yes", "no")), f"said ~ {term}", table, penalty=1)
    effect = found.effects()
    assert effect.names == ("x",)
    assert np.isfinite(effect.values).all()
    assert np.isfinite(effect.standard_errors).all()
    assert "–" not in str(found)


def test_the_effect_of_a_logarithm_is_its_derivative():
    rng = np.random.default_rng(8)
    table = {"said": rng.choice(["yes", "no"], 2_000), "x": rng.lognormal(3, 2, 2_000)}
    found = regression.regress(designs.direct(("yes", "no")), "said ~ log(x)", table)
    shares = found.model.shares(found.optimum.theta)[0]
    derivative = np.mean(shares * (1 - shares) * found.coefficients[1] / table["x"])
    assert found.effects().values[0] == pytest.approx([derivative, -derivative], rel=1e-6)


def test_a_square_root_at_zero_has_no_effect_that_could_be_told():
    rng = np.random.default_rng(8)
    table = {"said": rng.choice(["yes", "no"], 500), "x": rng.integers(0, 5, 500)}
    assert np.isnan(regression.regress(designs.direct(("yes", "no")), "said ~ sqrt(x)", table).effects().values).all()


def test_names_that_statsmodels_has_give_the_same_numbers_by_name():
    table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
    fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
    assert fit.params["old"] == pytest.approx(np.log(3.5))
    assert fit.bse["old"] == pytest.approx(np.sqrt(1 / 30 + 1 / 70 + 1 / 60 + 1 / 40))
    assert fit.pvalues.to_numpy() == pytest.approx(fit.p_values)
    assert fit.conf_int(0.1).loc["old"].to_numpy() == pytest.approx(fit.interval(0.9)[1])
    assert fit.bic - fit.aic == pytest.approx(2 * np.log(200) - 4)


def test_coefficients_of_several_categories_have_the_category_in_their_name(fit):
    assert list(fit.params.index.names) == ["category", "term"]
    assert fit.params["b", "x"] == fit.coefficients[fit.names.index(("b", "x"))]
    assert fit.conf_int().loc[("b", "x"), 0] == pytest.approx(fit.interval()[fit.names.index(("b", "x")), 0])


def cheats(left_out, weights=None):
    """A regression of 900 people with a control, which every `left_out`-th of them has not answered."""
    rng, same = np.random.default_rng(12), np.array(("same", "different"))
    away, age = rng.random(900) < 0.25, rng.integers(18, 70, 900)
    carries = rng.random(900) < 1 / (1 + np.exp(2.5 - 0.03 * age))
    masked = designs.crosswise(prevalence=0.25)
    question, control = (
        np.where(away, rng.choice(same, 900), masked.randomize(np.where(truth, "yes", "no"), rng=rng).texts())
        for truth in (carries, np.zeros(900, dtype=bool))
    )
    answers = [None if left_out and place % left_out == 0 else text for place, text in enumerate(control.tolist())]
    columns = {"cheated": question.tolist(), "check": answers, "age": age.tolist()}
    survey = designs.controlled(masked, truth="no")
    if weights is not None:
        columns["w"] = weights
    return survey, columns, regression.regress(survey, "cheated + check ~ age", columns, weights=weights and "w")


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5] * 300])
def test_who_does_not_comply_is_told_by_the_controls_alone(weights):
    survey, columns, fit = cheats(0, weights)
    alone = compliance(survey, survey.tally((columns["cheated"], columns["check"]), weights=weights))
    assert fit.compliance.interval(0.9) == pytest.approx(alone.interval(0.9))
    assert f"by the controls alone {alone.sentence(0.9)}" in fit.to_text(0.9)
    assert fit.to_dict()["compliance"]["p_value"] == pytest.approx(alone.p_value)


def test_a_control_that_half_of_the_people_left_out_is_said():
    survey, columns, fit = cheats(2)
    assert "left out by people who answered the rest: check (450 of 900); what they said is used" in fit.to_text()
    rest = [[text for place, text in enumerate(columns[name]) if place % 2] for name in ("cheated", "check")]
    assert fit.compliance.interval() == compliance(survey, survey.tally(tuple(rest))).interval()
    assert "left out by people" not in cheats(0)[2].to_text()


def test_the_error_of_a_truth_that_was_found_from_people_is_no_part_of_a_regression_or_a_crosstab():
    """So both refuse it, rather than leave its error out."""
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth={"yes": "0.1", "no": "0.9"}, people=60)
    answers = {"cheated": ["same", "different"] * 9, "check": ["same"] * 18, "sex": ["f", "m", "m"] * 6}
    with pytest.raises(DataError, match="takes the chances of a design as known, and those of controlled"):
        regression.regress(survey, "cheated + check ~ sex", answers)
    with pytest.raises(DataError, match="takes the chances of a design as known, and those of controlled"):
        crosstab.crosstab(answers, row=crosstab.Variable("cheated", survey, controls=("check",)), column="sex")


@pytest.mark.parametrize(
    ("same", "options", "told"),
    [
        (
            (90, 65),
            {},
            "“at random” against all others (separation): for 10,000 of 20,000 people their share of “at random” is",
        ),
        ((70, 45), {}, "in some group everybody answered the control as if at random: nobody is left"),
        ((65, 70), {"cheaters": "CDM"}, "leave compliance or cheaters out"),
        ((65, 70), {"compliance": "sex + C(sex, Sum)"}, "collinear"),
        ((65, 70), {"compliance": "check"}, "stands on both sides"),
    ],
)
def test_who_complies_is_refused_where_nothing_tells_it(same, options, told):
    """Of 100 who comply 75 say “same” to the control, of others 50; so many do in the first and the second group."""
    columns = {
        "cheated": ["same", "different"] * 4,
        "check": ["same", "same", "different", "different"] * 2,
        "sex": ["f"] * 4 + ["m"] * 4,
        "n": [count * part for each in same for part in (each, 100 - each) for count in (60, 40)],
    }
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    with pytest.raises((DataError, NotEstimable)) as refused:
        regression.regress(survey, "cheated + check ~ 1", columns, count="n", **{"compliance": "sex"} | options)
    assert told in str(refused.value)
    assert str(refused.value).count(". ") == 0


def test_one_person_far_out_does_not_stand_for_a_group_without_compliers():
    """An age typed as 2,000 gives this one person a ρ of 1; the maximum is finite, and all others tell coefficients."""
    survey, columns, _ = cheats(0)
    ages = np.where(np.arange(900) == 7, 2_000, columns["age"])
    fit = regression.regress(survey, "cheated + check ~ 1", columns | {"age": ages + 0.0}, compliance="age")
    assert fit.optimum.endless.size == 0
    assert fit.model.nuisance(fit.optimum.theta, slice(7, 8)).item() > 1 - 1e-6
    with pytest.raises(DataError, match="'age' is no variable of the formula"):
        fit.along("age")


def test_equal_compliance_is_compared_with_fewer_covariates_only():
    survey, columns, same = cheats(0)
    by_age, by_power = (
        regression.regress(survey, "cheated + check ~ age", columns, compliance=formula)
        for formula in ("age", "poly(age, 2)")
    )
    assert by_age.equal_compliance == by_age.likelihood_ratio(same)
    assert by_power.likelihood_ratio(by_age).degrees_of_freedom == 1
    more = regression.regress(survey, "cheated + check ~ poly(age, 3)", columns)
    with pytest.raises(DataError, match="the smaller regression has covariates of who complies, and the larger one"):
        more.likelihood_ratio(by_age)
    with pytest.raises(DataError, match="is not part of the larger one"):
        by_power.likelihood_ratio(regression.regress(survey, "cheated + check ~ 1", columns, compliance="log(age)"))
    weighted = cheats(0, [1.0] * 900)[1]
    wald = regression.regress(survey, "cheated + check ~ age", weighted, compliance="age", weights="w").equal_compliance
    assert (wald.name, wald.degrees_of_freedom) == ("Wald", 1)
    assert regression.regress(survey, "cheated + check ~ age", columns, compliance="age - 1").equal_compliance is None
