"""What a regression tells, in every form."""

import json

import numpy as np
import pytest
from people import asked, people

from naysay import designs, regression
from naysay.printing import Column, Facts, Heading, Note, Points, Sentence, Table, latex
from naysay.report.regression_page import regression_html


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


def test_latex_knows_the_whole_vocabulary():
    content = [Heading("A & B"), Sentence("50 %"), Note("x_1"), Points(("one", "two")), Facts((("n", "5"),))]
    content.append(Table((Column("a", words=True), Column("b")), (("π", "-1.5"), ("~", "<0.001")), "C", apart=1))
    told = latex(content)
    for words in (r"A \& B", r"50 \%", r"x\_1", r"\item two", r"\emph{n:} 5", r"$\pi$ & $-$1.5", r"\textless{}0.001"):
        assert words in told
    assert told.count(r"\midrule") == 2
