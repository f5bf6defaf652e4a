"""Columns of the designs of several samples, which of them are one, and what they refuse."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.errors import DesignError

ABC = tuple("abc")
chances = st.fractions(0, 1, max_denominator=60)
pairs = st.tuples(chances, chances).filter(lambda p: p[0] != p[1])


def yes_rows(survey):
    """P(yes | cell) in each sample, (samples, cells)."""
    return np.array([survey.channel(name).matrix[0] for name in survey.levels])


def floats(*rows):
    return np.array(rows, dtype=float)


# formulas of METHODS: one row a sample, one column a cell


@given(pairs)
def test_the_unrelated_question_with_unknown_prevalence_has_four_cells(p):
    expected = floats(*[[1, share, 1 - share, 0] for share in p])
    np.testing.assert_allclose(yes_rows(designs.unrelated_question_unknown(p=p)), expected, rtol=0, atol=1e-15)


@given(pairs)
def test_cheaters_say_no_whatever_the_device_shows(p):
    expected = floats(*[[1, share, 0] for share in p])
    np.testing.assert_allclose(yes_rows(designs.cheating_detection(p=p)), expected, rtol=0, atol=1e-15)


@given(pairs, pairs)
def test_symmetric_cheating_detection_forces_both_ways(yes, no):
    yes, no = [share / 2 for share in yes], [share / 3 for share in no]
    expected = floats(*[[1 - down, up, 0] for up, down in zip(yes, no, strict=True)])
    survey = designs.cheating_detection_symmetric(forced_yes=yes, forced_no=no)
    np.testing.assert_allclose(yes_rows(survey), expected, rtol=0, atol=1e-15)


@given(pairs)
def test_lying_carriers_say_no_and_others_answer_by_the_device(p):
    expected = floats(*[[1, 1 - share, 0] for share in p])
    np.testing.assert_allclose(yes_rows(designs.stochastic_lie_detector(p=p)), expected, rtol=0, atol=1e-15)


@given(chances.filter(lambda p: p != Fraction(1, 2)))
def test_the_second_sample_of_the_extended_crosswise_model_is_the_first_turned_round(p):
    survey = designs.extended_crosswise(prevalence=p)
    np.testing.assert_allclose(yes_rows(survey), floats([p, 1 - p], [1 - p, p]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(yes_rows(survey).sum(axis=0), 1, rtol=0, atol=1e-15)


def test_the_anchored_crosswise_model_has_two_answers_and_the_inattentive_toss_coins():
    survey = designs.anchored_crosswise(prevalence=0.15, anchor=0.25)
    main, control = survey.channel().first, survey.channel().second
    np.testing.assert_allclose(main.matrix[0], [0.15, 0.85, 0.5])
    np.testing.assert_allclose(control.matrix[0], [0.75, 0.75, 0.5])
    expected = (main.matrix[:, None, :] * control.matrix[None, :, :]).reshape(4, 3)
    np.testing.assert_allclose(survey.channel().matrix, expected)


def test_abul_ela_asks_for_one_category_by_lot():
    rows = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]
    np.testing.assert_allclose(yes_rows(designs.abul_ela(ABC, p=rows)), rows)


# which are one


def test_without_forced_no_symmetric_cheating_detection_is_cheating_detection():
    one = designs.cheating_detection(p=(0.25, 0.75))
    other = designs.cheating_detection_symmetric(forced_yes=(0.25, 0.75), forced_no=(0, 0))
    np.testing.assert_allclose(yes_rows(other), yes_rows(one), rtol=0, atol=1e-15)
    assert (other.shares, other.nuisance) == (one.shares, one.nuisance)


def test_the_extended_crosswise_model_is_two_crosswise_samples():
    extended = designs.extended_crosswise(prevalence=0.2)
    stacked = designs.samples({1: designs.crosswise(prevalence=0.2), 2: designs.crosswise(prevalence=0.8)})
    assert stacked == extended


def test_the_stochastic_lie_detector_is_cheating_detection_with_another_view():
    liars, cheaters = designs.stochastic_lie_detector(p=(0.25, 0.75)), designs.cheating_detection(p=(0.75, 0.25))
    np.testing.assert_allclose(yes_rows(liars), yes_rows(cheaters))
    counts = {"count": [200, 300, 350, 150], "sample": [2, 2, 1, 1]}
    answers = ["yes", "no"] * 2
    one, other = (estimate.moments(survey, survey.tally(answers, **counts)) for survey in (liars, cheaters))
    assert one.proportions[0] == pytest.approx(other.nuisance["yes, at most"].value)


def test_the_least_and_the_most_are_told_apart_by_the_cheaters():
    survey = designs.cheating_detection(p=(0.25, 0.75))
    assert any("is the least it can be" in note for note in survey.notes)
    fit = estimate.moments(survey, survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[200, 300, 350, 150]))
    most = fit.nuisance["yes, at most"].value
    assert most == pytest.approx(fit.proportions[0] + fit.nuisance["cheaters"].value)
    assert "yes, at most" in str(fit)
    assert survey.notes[0] in str(fit)


def test_who_answers_by_two_coins_and_directly_is_estimated_once():
    arms = designs.samples(masked=designs.two_coins(), open=designs.direct(("yes", "no")))
    assert arms.name == "samples(masked=two_coins(), open=direct())"
    assert designs.samples({"masked": designs.two_coins(), "open": designs.direct(("yes", "no"))}) == arms


@pytest.mark.parametrize(
    "text",
    [
        "unrelated_question_unknown(p=(0.7, 0.3))",
        "cheating_detection(p=(1/4, 3/4))",
        "stochastic_lie_detector(p=(2/12, 10/12))",
        "extended_crosswise(prevalence=0.2)",
        "anchored_crosswise(prevalence=0.15, anchor=0.25)",
        "samples(open=direct(('yes', 'no')), masked=crosswise(prevalence=1/4))",
        "samples({1: two_coins(), 2: warner(p=0.7)})",
    ],
)
def test_several_samples_are_written_as_a_call(text):
    survey = designs.parse(text)
    assert survey.kind == "samples"
    assert "samples(" in text or designs.parse(survey.name) == survey


def test_categories_of_abul_ela_may_be_named_beside_the_call():
    survey = designs.parse("abul_ela(p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]])", categories=ABC)
    assert survey == designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]])


# bad input

TWO_P = [designs.unrelated_question_unknown, designs.cheating_detection, designs.stochastic_lie_detector]


@pytest.mark.parametrize("family", TWO_P, ids=lambda family: family.__name__)
@pytest.mark.parametrize(
    ("p", "message"),
    [
        ((0.3, 0.3), r"the two samples must carry different p; got 0\.3 twice"),
        (("1/4", 0.25), "the two samples must carry different p"),
        ((0.3, 1.3), r"p must lie in \[0, 1\]; got 1\.3"),
        ((-0.3, 0.3), r"p must lie in \[0, 1\]; got -0\.3"),
        ((0.3,), "p must be two probabilities"),
        ((0.3, 0.4, 0.5), "p must be two probabilities"),
        (0.3, r"p must be two probabilities; got 0\.3"),
        ("37", "p must be two probabilities; got '37'"),
        ((0.3, "x"), "p must be a number"),
    ],
)
def test_two_samples_need_two_probabilities_that_differ(family, p, message):
    with pytest.raises(DesignError, match=message):
        family(p=p)


@pytest.mark.parametrize("family", TWO_P, ids=lambda family: family.__name__)
def test_two_samples_are_about_two_categories(family):
    with pytest.raises(DesignError, match="takes two categories"):
        family(p=(0.3, 0.7), categories=ABC)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: designs.cheating_detection_symmetric(forced_yes=(0.1, 0.1), forced_no=(0.4, 0.4)),
            "the samples must differ in forced_yes",
        ),
        (
            lambda: designs.cheating_detection_symmetric(forced_yes=(0.6, 0.1), forced_no=(0.4, 0.1)),
            "must sum to less than one; sample 1 has 3/5 and 2/5",
        ),
        (
            lambda: designs.cheating_detection_symmetric(forced_yes=(0.6, 0.1), forced_no=(0.1, 1.1)),
            r"forced_no must lie in \[0, 1\]",
        ),
        (lambda: designs.cheating_detection_symmetric(forced_yes=0.1, forced_no=(0.1, 0.4)), "must be two prob"),
        (lambda: designs.extended_crosswise(prevalence=0.5), r"not be 1/2; got 0\.5"),
        (lambda: designs.extended_crosswise(prevalence=1.5), r"prevalence must lie in \[0, 1\]"),
        (lambda: designs.extended_crosswise(prevalence=0.2, between=(0.3, 0.4)), "between must hold the prevalence"),
        (lambda: designs.extended_crosswise(prevalence=0.2, categories=ABC), "takes two categories"),
        (lambda: designs.anchored_crosswise(prevalence=0.5, anchor=0.2), r"must not be 1/2; got 0\.5"),
        (lambda: designs.anchored_crosswise(prevalence=0.2, anchor=0.5), r"must not be 1/2; got 0\.5"),
        (lambda: designs.anchored_crosswise(prevalence=0.2, anchor=1.5), r"anchor must lie in \[0, 1\]; got 1\.5"),
        (lambda: designs.anchored_crosswise(prevalence=0.2, anchor=0.2, categories=ABC), "takes two categories"),
        (lambda: designs.abul_ela(("a", "b"), p=[[0.6, 0.4]]), "at least 3 categories are needed; got 2"),
        (lambda: designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1]]), r"p must have 2 rows \(samples\) of 3 probabilities"),
        (lambda: designs.abul_ela(ABC, p=[[0.6, 0.4], [0.4, 0.6]]), "p must have 2 rows"),
        (lambda: designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1]] * 2), "a row of p follows from the others"),
        (lambda: designs.abul_ela(ABC, p=[[0.6, 0.3, 0.2], [0.1, 0.6, 0.3]]), "must be in .* and sum to one"),
        (lambda: designs.abul_ela(ABC, p=[[1.6, -0.3, -0.3], [0.1, 0.6, 0.3]]), r"p of sample 1 must lie in \[0, 1\]"),
    ],
)
def test_designs_that_cannot_be_say_why(make, message):
    with pytest.raises(DesignError, match=message):
        make()
