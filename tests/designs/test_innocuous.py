"""Innocuous questions in place of a device: formulas, equivalences, and what they refuse."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.errors import DesignError

ABC = tuple("abc")
HALF = Fraction(1, 2)
chances = st.fractions(0, 1, max_denominator=60)


def yes_row(design):
    return design.matrix[0]


# formulas


@given(chances.filter(lambda p: p != HALF))
def test_crosswise_answers_compare(p):
    design = designs.crosswise(prevalence=p)
    assert yes_row(design) == pytest.approx([float(p), 1 - float(p)], abs=1e-15)
    assert design.space.labels == ("same", "different")


@given(chances.filter(lambda p: p != 1))
def test_triangular_answers_say_whether_anything_applies(p):
    assert yes_row(designs.triangular(prevalence=p)) == pytest.approx([1, float(p)], abs=1e-15)


@given(chances.filter(bool), chances)
def test_the_unrelated_question_is_answered_by_chance(p, u):
    expected = [float(p + (1 - p) * u), float((1 - p) * u)]
    assert yes_row(designs.unrelated_question(p=p, prevalence=u)) == pytest.approx(expected, abs=1e-15)


# which are one


@given(chances.filter(lambda p: p != HALF))
def test_the_crosswise_model_is_warner_without_a_device(p):
    np.testing.assert_array_equal(designs.crosswise(prevalence=p).matrix, designs.warner(p=p).matrix)


@given(chances.filter(lambda p: p != 1))
def test_the_triangular_model_is_mangat_without_a_device(p):
    np.testing.assert_array_equal(designs.triangular(prevalence=p).matrix, designs.mangat(p=1 - p).matrix)


@given(chances.filter(bool), chances)
def test_the_unrelated_question_is_a_forced_response(p, u):
    forced = designs.forced_response(forced_yes=(1 - p) * u, forced_no=(1 - p) * (1 - u))
    np.testing.assert_allclose(designs.unrelated_question(p=p, prevalence=u).matrix, forced.matrix, rtol=0, atol=1e-15)


# a prevalence that is not certain


@pytest.mark.parametrize(
    "make",
    [designs.crosswise, designs.triangular, lambda **told: designs.unrelated_question(p=0.7, **told)],
    ids=["crosswise", "triangular", "unrelated_question"],
)
def test_a_range_gives_the_design_at_both_its_ends(make):
    design = make(prevalence=0.25, between=(0.2, 0.3))
    assert design == make(prevalence=0.25)
    assert design.alternatives == (make(prevalence=0.2), make(prevalence=0.3))
    assert make(prevalence=0.25, between=(0.25, 0.25)).alternatives == (design, design)


def test_both_samples_of_the_extended_crosswise_model_move_together():
    survey = designs.extended_crosswise(prevalence=0.2, between=(0.15, 0.25))
    for end, prevalence in zip(survey.alternatives, (0.15, 0.25), strict=True):
        assert end == designs.extended_crosswise(prevalence=prevalence)


# bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.crosswise(prevalence=0.5), r"prevalence must not be 1/2; got 0\.5"),
        (lambda: designs.crosswise(prevalence=1.5), r"prevalence must lie in \[0, 1\]; got 1\.5"),
        (lambda: designs.crosswise(prevalence="often"), "prevalence must be a number"),
        (lambda: designs.crosswise(prevalence=0.25, categories=ABC), "takes two categories"),
        (lambda: designs.triangular(prevalence=1), "prevalence must not be 1; got 1"),
        (lambda: designs.triangular(prevalence=-0.1), r"prevalence must lie in \[0, 1\]; got -0\.1"),
        (lambda: designs.triangular(prevalence=0.25, categories=ABC), "takes two categories"),
        (lambda: designs.unrelated_question(p=0.7, prevalence=1.2), r"prevalence must lie in \[0, 1\]; got 1\.2"),
        (lambda: designs.unrelated_question(p=0.7, prevalence=-0.2), r"prevalence must lie in \[0, 1\]; got -0\.2"),
        (lambda: designs.unrelated_question(p=1.7, prevalence=0.2), r"p must lie in \[0, 1\]; got 1\.7"),
        (lambda: designs.unrelated_question(p=0, prevalence=0.2), "p must not be 0: nobody would answer"),
        (lambda: designs.unrelated_question(p=0.7, prevalence=0.2, categories=ABC), "takes two categories"),
        (
            lambda: designs.crosswise(prevalence=0.25, between=(0.3, 0.4)),
            r"between must hold the prevalence, 0\.25; got \(0\.3, 0\.4\)",
        ),
        (lambda: designs.crosswise(prevalence=0.25, between=(0.4, 0.2)), "between must hold the prevalence"),
        (lambda: designs.crosswise(prevalence=0.25, between=(0.2, 1.3)), r"an end of between must lie in \[0, 1\]"),
        (lambda: designs.crosswise(prevalence=0.25, between=(0.2,)), "between must be the lowest and highest"),
        (lambda: designs.crosswise(prevalence=0.25, between="ab"), "between must be the lowest and highest"),
        (lambda: designs.crosswise(prevalence=0.25, between=(0.2, 0.5)), "prevalence must not be 1/2"),
        (lambda: designs.crosswise(prevalence=0.25, between=(0.2, 0.6)), "between must stay on one side of 1/2"),
        (lambda: designs.crosswise(prevalence=0.25, between=0.3), "between must be the lowest and highest"),
        (lambda: designs.triangular(prevalence=0.25, between=(0.2, 1)), "prevalence must not be 1"),
    ],
)
def test_designs_that_cannot_be_say_why(make, message):
    with pytest.raises(DesignError, match=message):
        make()
