"""Formulas of the randomized-response designs, which of them are one, and what they refuse."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naysay import Design, designs, estimate, privacy
from naysay.errors import DataError, DesignError

ABC = tuple("abc")
chances = st.fractions(0, 1, max_denominator=60)
inner = st.fractions(0, 1, max_denominator=60).filter(lambda p: 0 < p < 1)


def yes_row(design):
    """P(yes | A), P(yes | not A): the first row of the matrix."""
    return design.matrix[0]


def same(one, other):
    np.testing.assert_allclose(one.matrix, other.matrix, rtol=0, atol=1e-15)


# formulas


@given(chances.filter(lambda p: p != Fraction(1, 2)))
def test_warner_answers_the_statement_or_its_negation(p):
    assert yes_row(designs.warner(p=p)) == pytest.approx([float(p), 1 - float(p)], abs=1e-15)


@given(chances.filter(bool))
def test_mangat_members_always_say_yes(p):
    assert yes_row(designs.mangat(p=p)) == pytest.approx([1, 1 - float(p)], abs=1e-15)


@given(st.tuples(chances, chances).filter(lambda f: sum(f) < 1))
def test_forced_response_is_written_in_shares_of_all_respondents(forced):
    yes, no = forced
    design = designs.forced_response(forced_yes=yes, forced_no=no)
    assert yes_row(design) == pytest.approx([1 - float(no), float(yes)], abs=1e-15)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=6), st.integers(1, 40))
def test_forced_response_for_several_categories_is_bourke_and_dalenius(weights, honest):
    total = sum(weights) + honest
    f = [Fraction(weight, total) for weight in weights]
    design = designs.forced_response(range(len(f)), forced=f)
    expected = np.outer(f, np.ones(len(f))).astype(float) + float(1 - sum(f)) * np.eye(len(f))
    np.testing.assert_allclose(design.matrix, expected, rtol=0, atol=1e-15)


@given(st.tuples(chances, chances).filter(lambda p: p[0] != p[1]), st.integers(1, 6))
def test_kuk_with_r_draws_is_binomial(p, draws):
    design = designs.kuk(p=p, draws=draws)
    red = np.arange(draws, -1, -1) if draws == 1 else np.arange(draws + 1)
    expected = np.column_stack([stats.binom.pmf(red, draws, float(share)) for share in p])
    np.testing.assert_allclose(design.matrix, expected, rtol=0, atol=1e-12)


@given(st.floats(0.01, 5), st.integers(2, 7))
def test_k_ary_tells_the_truth_with_odds_of_e_to_epsilon(epsilon, t):
    matrix = designs.k_ary(range(t), epsilon=epsilon).matrix
    each = 1 / (math.exp(epsilon) + t - 1)
    assert matrix[1, 0] == pytest.approx(each, rel=1e-6)
    assert matrix[0, 0] == pytest.approx(math.exp(epsilon) * each, rel=1e-6)
    assert math.log(matrix[0, 0] / matrix[1, 0]) <= epsilon + 1e-15


# which are one


def test_two_coins_are_a_forced_response():
    same(designs.two_coins(), designs.forced_response(forced_yes="1/4", forced_no="1/4"))
    assert designs.two_coins() == designs.forced_response(forced_yes="1/4", forced_no="1/4")


@given(st.tuples(chances, chances).filter(lambda f: sum(f) < 1))
def test_forced_response_may_be_written_in_either_way(forced):
    yes, no = forced
    one = designs.forced_response(forced_yes=yes, forced_no=no)
    assert one == designs.forced_response(("yes", "no"), forced=(yes, no))


@given(inner.filter(lambda p: p != Fraction(1, 2)))
def test_kuk_with_mirrored_packs_and_one_draw_is_warner(p):
    same(designs.kuk(p=(p, 1 - p)), designs.warner(p=p))


@given(inner)
def test_a_one_sided_forced_yes_is_mangat(p):
    same(designs.mangat(p=p), designs.forced_response(forced_yes=1 - p, forced_no=0))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=1), st.integers(2, 5))
def test_k_ary_is_a_forced_response_with_even_lots(numerator, t):
    share = Fraction(numerator[0], 40)
    forced = designs.forced_response(range(t), forced=[share] * t)
    epsilon = math.log1p((1 - t * float(share)) / float(share))
    np.testing.assert_allclose(designs.k_ary(range(t), epsilon=epsilon).matrix, forced.matrix, rtol=0, atol=1e-9)


def test_three_quarters_of_the_two_coins_answers_are_true():
    assert np.trace(designs.two_coins().matrix) / 2 == 0.75


def test_probabilities_are_read_as_they_are_written():
    assert designs.warner(p="2/3").denominator == 3
    assert designs.warner(p=0.1).denominator == 10
    assert designs.forced_response(forced_yes="1/6", forced_no="1/12").denominator == 12
    assert designs.forced_response(forced_yes=Fraction(1, 6), forced_no=np.float64(0.25)).denominator == 12


def test_a_forced_answer_may_be_left_out():
    assert yes_row(designs.forced_response(forced_no=0.2)) == pytest.approx([0.8, 0])
    assert yes_row(designs.forced_response(forced_yes=0.2)) == pytest.approx([1, 0.2])


@pytest.mark.parametrize(("p", "share"), [("1/5", "0.8"), (0, "1"), (0.2, "0.8")])
def test_a_warner_below_a_half_says_that_an_answer_speaks_for_the_other_category(p, share):
    (note,) = designs.warner(p=p).notes
    assert f"an answer “yes” speaks for “no”; it is as private and as precise as p={share} with" in note
    assert designs.warner(p=share).notes == ()


# bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.warner(p=0.5), r"p must not be 1/2; got 0\.5 \(a fair coin carries no information\)"),
        (lambda: designs.warner(p="1/2"), "p must not be 1/2; got 1/2"),
        (lambda: designs.warner(p=1.2), r"p must lie in \[0, 1\]; got 1\.2"),
        (lambda: designs.warner(p=-0.1), r"p must lie in \[0, 1\]; got -0\.1"),
        (lambda: designs.warner(p=70), r"p must lie in \[0, 1\]; got 70"),
        (lambda: designs.warner(p="seven"), "p must be a number such as"),
        (lambda: designs.warner(p=math.nan), "p must be a number such as"),
        (lambda: designs.warner(p=None), "p must be a number such as"),
        (lambda: designs.warner(p=0.7, categories=ABC), "takes two categories, the sensitive one first; got 3"),
        (lambda: designs.two_coins(categories=ABC), "takes two categories"),
        (lambda: designs.mangat(p=0), "p must not be 0: everybody would say yes"),
        (lambda: designs.mangat(p=1.5), r"p must lie in \[0, 1\]"),
        (lambda: designs.mangat(p=0.5, categories=ABC), "takes two categories"),
        (lambda: designs.kuk(p=(0.4, 0.4)), r"two packs must hold different shares of red cards; got 0\.4 twice"),
        (lambda: designs.kuk(p=(0.4, "2/5")), "must hold different shares"),
        (lambda: designs.kuk(p=0.4), "the shares of red cards must be two probabilities; got 0.4"),
        (lambda: designs.kuk(p="0.4"), "must be two probabilities"),
        (lambda: designs.kuk(p=(0.4, 0.5, 0.6)), "must be two probabilities"),
        (lambda: designs.kuk(p=(0.4, 1.1)), r"the shares of red cards must lie in \[0, 1\]; got 1\.1"),
        (lambda: designs.kuk(p=(0.8, 0.2), draws=0), "draws must be a whole number from 1 to 22; got 0"),
        (lambda: designs.kuk(p=(0.8, 0.2), draws=101), "draws must be a whole number from 1 to 22; got 101"),
        (lambda: designs.kuk(p=(0.8, 0.2), draws=2.5), "draws must be a whole number"),
        (lambda: designs.kuk(p=(0.8, 0.2), categories=ABC), "takes two categories"),
        (
            lambda: designs.forced_response(forced_yes=0.6, forced_no=0.5),
            r"forced probabilities must sum to less than one, or nobody tells the truth; they sum to 1\.1 .*multiply",
        ),
        (lambda: designs.forced_response(forced_yes=0.5, forced_no=0.5), "sum to less than one"),
        (lambda: designs.forced_response(ABC, forced=(0.5, 0.3, 0.2)), "sum to less than one"),
        (designs.forced_response, "give forced_yes and forced_no, or forced"),
        (lambda: designs.forced_response(forced_yes=0.1, forced=(0.1, 0.1)), "give forced_yes and forced_no, or"),
        (lambda: designs.forced_response(ABC, forced_yes=0.1, forced_no=0.1), "takes two categories"),
        (
            lambda: designs.forced_response(ABC, forced=(0.1, 0.1)),
            "forced must be 3 probabilities, one for each category",
        ),
        (lambda: designs.forced_response(ABC, forced="abc"), "forced must be 3 probabilities"),
        (lambda: designs.forced_response(ABC, forced=0.1), "forced must be 3 probabilities"),
        (
            lambda: designs.forced_response(ABC, forced=(-0.1, 0.1, 0.1)),
            r"the forced probability of 'a' must lie in \[0, 1\]; got -0\.1",
        ),
        (lambda: designs.k_ary(ABC, epsilon=0), "ε|epsilon"),
        (lambda: designs.k_ary(ABC, epsilon=-1), "ε|epsilon"),
    ],
)
def test_designs_that_cannot_be_say_why(make, message):
    with pytest.raises(DesignError, match=message):
        make()


# what may be answered


WORDS_FOR_YES = ["yes", "Yes", "YES", " yes ", "true", "TRUE", True, np.True_, 1, 1.0, "1", np.int64(1)]
WORDS_FOR_NO = ["no", "No", "NO", "false", "False", False, np.False_, 0, 0.0, "0", np.int8(0)]
TWO_ANSWERS = [
    designs.warner(p=0.7),
    designs.two_coins(),
    designs.mangat(p=0.7),
    designs.forced_response(forced_yes=0.1, forced_no=0.1),
    designs.warner(p=0.7, categories=("doped", "clean")),
    designs.kuk(p=(0.8, 0.2)),
    designs.crosswise(prevalence=0.25),
    designs.triangular(prevalence=0.25),
    designs.unrelated_question(p=0.7, prevalence=0.25),
    designs.stochastic_lie_detector(p=(0.2, 0.8)).channel(1),
    designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]).channel(1),
    designs.direct(("yes", "no")),
]
two_answers = pytest.mark.parametrize("design", TWO_ANSWERS, ids=lambda design: design.name or design.kind)


@two_answers
def test_yes_and_no_are_said_in_many_words(design):
    first, second = design.space.labels
    assert set(design.encode(WORDS_FOR_YES).texts()) == {first}
    assert set(design.encode(WORDS_FOR_NO).texts()) == {second}
    assert design.encode([first, second, None]).texts() == [first, second, None]


@pytest.mark.parametrize("labels", [("no", "yes"), ("0", "1"), (False, True), (0, 1), ("False", "True")])
def test_labels_that_are_yes_and_no_themselves_keep_their_meaning_in_any_order(labels):
    design = designs.custom([[0.2, 0.9], [0.8, 0.1]], categories=labels)
    assert set(design.encode(WORDS_FOR_NO).texts()) == {str(labels[0])}
    assert set(design.encode(WORDS_FOR_YES).texts()) == {str(labels[1])}


@pytest.mark.parametrize("answer", ["maybe", 2, -1, 0.5, "y", "10"])
def test_any_other_answer_is_shown_with_what_could_be_said(answer):
    with pytest.raises(DataError, match=rf"answer 2 of 3 is '{answer}', which is not a response here") as raised:
        designs.crosswise(prevalence=0.25).encode(["same", answer, "different"])
    assert raised.value.row == 1
    assert raised.value.value == answer


def test_all_values_that_do_not_fit_are_shown():
    known = r"known are 'same', 'different' \(or yes and no, true and false, 1 and 0\)"
    with pytest.raises(DataError, match=rf"answer 1 of 5 is 'ja', .*{known}; also found: 'nein', '3'"):
        designs.crosswise(prevalence=0.25).encode(["ja", "nein", "same", "ja", 3])


def test_words_are_not_answers_where_yes_has_no_meaning():
    colors = designs.custom([[0.8, 0.2], [0.2, 0.8]], categories=("red", "blue"))
    with pytest.raises(DataError, match=r"'yes', which is not a response here; known are 'red', 'blue'$"):
        colors.encode(["yes"])
    with pytest.raises(DataError, match="'yes', which is not a response"):
        designs.kuk(p=(0.8, 0.2), draws=2).encode(["yes"])


def test_the_number_of_red_cards_is_a_number_or_its_text():
    design = designs.kuk(p=(0.8, 0.2), draws=2)
    assert design.encode([0, "1", 2.0, np.int64(2)]).texts() == ["0", "1", "2", "2"]
    with pytest.raises(DataError, match="'3', which is not a response here"):
        design.encode([3])


def test_a_pair_of_labels_one_of_which_is_a_word_is_no_yes_and_no():
    odd = designs.custom([[0.8, 0.2], [0.2, 0.8]], categories=("yes", "refused"))
    assert odd.encode(["yes", "refused"]).texts() == ["yes", "refused"]
    with pytest.raises(DataError, match="'no', which is not a response"):
        odd.encode(["no"])


def calls(work):
    """How many calls of functions a piece of work makes, those written in C too."""
    made = 0

    def count(_, event, __):
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("make", [designs.direct, designs.uniform, lambda labels: designs.k_ary(labels, epsilon=2)])
def test_twice_the_categories_take_twice_the_work_to_make_and_compare(make):
    few, many = (calls(lambda t=t: make(range(t)) == make(range(t))) for t in (100, 200))
    assert many < 2.5 * few


def test_a_thousand_categories_are_drawn_tallied_and_estimated():
    design = designs.k_ary(range(1_024), epsilon=6)
    assert privacy.epsilon(design) <= 6
    assert design.denominator <= 2**53
    said = design.randomize(np.repeat([3, 700], [30_000, 10_000]), rng=np.random.default_rng(1))
    fit = estimate.moments(design, design.tally(said))
    off = np.abs(fit.proportions[[3, 700]] - [0.75, 0.25])
    assert (off < 4 * fit.standard_errors[[3, 700]]).all()
    assert Design.from_json(design.to_json()) == design
