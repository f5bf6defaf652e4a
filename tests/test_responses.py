"""How answers are read, held and written, and what is said of those that do not fit."""

import decimal
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import Bits, Labels, Pair, Responses, Subsets

ABCD = tuple("abcd")
CITIES = ("Utrecht", "Den Haag", "Łódź", "القاهرة")


def test_the_size_of_a_space_is_the_length_of_its_listing():
    for space in (Labels(ABCD), Subsets(ABCD, 1, 3), Bits(ABCD), Pair(Labels(ABCD), Subsets(ABCD, 2, 2))):
        codes = space.listing()
        assert len(np.unique(codes, axis=0)) == len(codes) == space.size
        assert space.statistic(codes).shape == (space.size, space.dimension)
        assert not space.missing(codes).any()
        assert space.listing() is codes  # made once, so that nobody may write into it
        assert not codes.flags.writeable


@pytest.mark.parametrize("t", [4, 61, 62, 63, 124, 130])
def test_sets_survive_coding(t):
    space = Subsets(tuple(range(t)), 0, t)
    membership = np.random.default_rng(t).random((50, t)) < 0.5
    codes = space.encode(membership)
    assert codes.shape == (50, math.ceil(t / 62))
    np.testing.assert_array_equal(space.decode(codes), membership)
    np.testing.assert_array_equal(space.encode(space.texts(codes)), codes)
    np.testing.assert_array_equal(space.encode([set(np.flatnonzero(row).tolist()) for row in membership]), codes)


@given(st.lists(st.one_of(st.none(), st.sets(st.sampled_from(CITIES), min_size=1, max_size=3)), min_size=1))
def test_sets_lists_texts_and_booleans_are_one_answer(answers):
    space = Subsets(CITIES, 1, 3)
    codes = space.encode(answers)
    in_order = [None if answer is None else [label for label in CITIES if label in answer] for answer in answers]
    for other in (
        in_order,
        [None if answer is None else answer[::-1] for answer in in_order],
        [None if answer is None else tuple(answer) for answer in in_order],
        [None if answer is None else frozenset(answer) for answer in answers],
        [None if answer is None else ";".join(answer) for answer in in_order],
        ["" if answer is None else " ; ".join(answer) for answer in in_order],
        [math.nan if answer is None else np.array(answer) for answer in in_order],
        np.array(
            [[None] * 4 if answer is None else [label in answer for label in CITIES] for answer in answers],
            dtype=object,
        ),
        pd.Series(in_order, dtype=object),
        pl.Series(in_order, dtype=pl.List(pl.String)),
        space.texts(codes),
    ):
        np.testing.assert_array_equal(space.encode(other), codes)
    assert space.missing(codes).tolist() == [answer is None for answer in answers]


@given(st.lists(st.one_of(st.none(), st.sampled_from(CITIES)), min_size=1))
def test_labels_are_one_answer_in_any_container(answers):
    space = Labels(CITIES)
    codes = space.encode(answers)
    for other in (
        tuple(answers),
        [answer and {answer} for answer in answers],
        [answer and [answer] for answer in answers],
        np.array(answers, dtype=object),
        pd.Series(answers, dtype=object),
        pd.Series(answers, dtype="string"),
        pd.Series(answers, dtype=pd.CategoricalDtype(CITIES)),
        pl.Series(answers, dtype=pl.Enum(CITIES)),
        [answer or "" for answer in answers],
        [answer or math.nan for answer in answers],
        [answer or pd.NA for answer in answers],
        [answer or pd.NaT for answer in answers],
        np.ma.masked_array([answer or "?" for answer in answers], mask=[answer is None for answer in answers]),
    ):
        np.testing.assert_array_equal(space.encode(other), codes)
    assert space.texts(codes) == answers


@pytest.mark.parametrize("cell", [2, 2.0, "2", np.int64(2), np.float32(2), decimal.Decimal(2)])
def test_numbers_are_labels_too(cell):
    assert Labels((1, 2, 3)).encode([cell]).tolist() == [[1]]
    assert Subsets((1, 2, 3), 1, 1).encode([[cell]]).tolist() == [[2]]


def test_a_text_is_its_own_label_before_it_is_the_decimal_that_javascript_writes_so():
    assert Labels((0.0, 0.5, 1.0)).encode(["1", "0", "0.5", "1.0"]).ravel().tolist() == [2, 0, 1, 2]
    assert Labels(("1", 1.0)).encode(["1", "1.0"]).ravel().tolist() == [0, 1]
    for cell in ("true", "True", "yes", "1.00"):
        with pytest.raises(AnswerError):
            Labels((0.0, 0.5, 1.0)).encode([cell])


def test_an_array_holds_labels_or_memberships():
    said = Responses(np.array([[1], [0]]), Labels(("yes", "no")))
    assert np.asarray(said).tolist() == ["no", "yes"]
    assert np.asarray(Responses(np.array([[1], [-1]]), Labels((10, 20)))).tolist() == [20, None]
    assert np.asarray(Responses(np.array([[5], [-1]]), Subsets(ABCD, 2, 2))).tolist() == [
        [True, False, True, False],
        [False] * 4,
    ]


def test_the_empty_set_is_no_missing_answer_where_it_may_be_given():
    space = Bits(ABCD)
    codes = space.encode([set(), None, set(ABCD), ";", ""])
    assert codes.ravel().tolist() == [0, -1, 15, 0, -1]
    assert space.encode(space.texts(codes)).tolist() == codes.tolist()


def test_missing_answers_have_no_statistic():
    assert np.isnan(Labels(ABCD).statistic(np.array([[-1]]))).all()
    assert np.isnan(Subsets(ABCD, 1, 2).statistic(np.array([[-1]]))).all()


SET_ERRORS = {
    "unknown": ([{"a", "b"}, {"a", "Łodź"}], "answer 2 of 2 is 'Łodź', which is not a response here"),
    "nearest": (["a;b", "a;Bb"], "is 'Bb', which is not"),
    "too few": ([{"a", "b"}, {"a"}], "answer 2 of 2 names 1 category; it must be a set of 2 of the 4 categories"),
    "too many": ([{"a", "b", "c"}], "answer 1 of 1 names 3 categories; it must be a set of 2"),
    "empty": ([{"a", "b"}, set()], "answer 2 of 2 is empty; it must be a set of 2"),
    "empty list": ([[]], "answer 1 of 1 is empty"),
    "empty text": ([";"], "answer 1 of 1 is empty"),
    "full": ([set(ABCD)], "names every category, so that no category is left; it must be a set of 2"),
    "twice": ([["a", "a"]], r"answer 1 of 1 names 'a' twice in \['a', 'a'\]"),
    "twice in text": (["a;b;a"], "names 'a' twice in 'a;b;a'"),
    "a gap": (["a;;b"], "is '', which is not a response here"),
    "no set": ([3], "is '3', which is not a response here"),
    "a dict": ([{"a": 1}], "names 1 category;"),
    "nested": ([["a", ["b", "c"]]], "not a response here"),
}


@pytest.mark.parametrize(("answers", "message"), SET_ERRORS.values(), ids=SET_ERRORS.keys())
def test_a_set_that_cannot_be_is_named(answers, message):
    with pytest.raises(AnswerError, match=message) as caught:
        Subsets(ABCD, 2, 2).encode(answers)
    assert caught.value.row == len(answers) - 1


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("utrecht", "did you mean 'Utrecht'"),
        ("UTRECHT ", "did you mean 'Utrecht'"),
        ("Lodz", "known are"),
        ("Łodź", "did you mean 'Łódź'"),
        ("Den Hag", "did you mean 'Den Haag'"),
        (3, "known are 'Utrecht', 'Den Haag', 'Łódź', 'القاهرة'"),
        (True, "known are"),
        (2.5, "known are"),
        (("Utrecht", "Łódź"), "not a response here"),
        (["Utrecht", "Łódź"], "not a response here"),
    ],
)
def test_an_unknown_label_is_named_with_the_nearest_known_one(label, hint):
    with pytest.raises(AnswerError) as caught:
        designs.direct(CITIES).tally([None, "Utrecht", label, "nowhere"])
    assert str(caught.value).startswith("answer 3 of 4 is ")
    assert hint in str(caught.value)
    assert caught.value.row == 2


def test_several_categories_where_one_is_taken_are_told_to_be_several():
    with pytest.raises(ValueError, match=r"it names 2 and the design takes one \(discards=2 would take them\)"):
        designs.negative(("low", "middle", "high", "none")).tally(["low", "middle;none"])


def test_very_long_labels_are_cut_in_messages():
    with pytest.raises(AnswerError) as caught:
        Labels(("x" * 10_000, "y" * 10_000)).encode(["z" * 10_000])
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3), bool), r"one column for each of the 4 categories; got shape \(2, 3\)"),
        (
            np.array([[True, None, False, True]], dtype=object),
            "answer 1 of 1 is only partly filled; give all 4 columns or none",
        ),
        (np.array([[1, 2, 0, 0]]), "must hold booleans"),
        (np.array([["a", "b", "c", "d"]]), "must hold booleans"),
        (np.zeros((1, 4), bool), "answer 1 of 1 is empty"),
        (np.ones((1, 4), bool), "names every category"),
    ],
)
def test_boolean_arrays_have_one_full_column_a_category(array, message):
    with pytest.raises(DataError, match=message):
        Subsets(ABCD, 2, 2).encode(array)


def test_one_label_may_come_as_a_row_of_booleans():
    assert Labels(ABCD).encode(np.eye(4, dtype=bool)).ravel().tolist() == [0, 1, 2, 3]
    with pytest.raises(AnswerError, match="answer 2 of 2 names 2 labels; it must name one"):
        Labels(ABCD).encode(np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool))


@pytest.mark.parametrize("answers", ["abc", 3, None])
def test_answers_are_a_sequence(answers):
    with pytest.raises(DataError, match="answers must be a sequence, one entry for each respondent"):
        Labels(ABCD).encode(answers)


def test_labels_that_hold_the_joiner_are_refused_in_texts_only():
    space = Subsets(("a;b", "c", "d"), 1, 2)
    assert space.encode([{"a;b"}, ["c", "d"], "c"]).ravel().tolist() == [1, 6, 2]
    with pytest.raises(AnswerError, match="cannot be split at ';' because the label 'a;b' holds one; rename the label"):
        space.encode(["c;d"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("a",), "at least 2 categories are needed; got 1: 'a'"),
        ((), "at least 2 categories are needed; got 0"),
        (("a", "b", "a"), "categories must differ; 'a' is number 1 and number 3"),
        ((1, "1"), "categories must differ; '1' is number 1 and number 2"),
        (("a", ""), "categories must not be empty; number 2 of 2 is ''"),
        (("a", "  "), "must not be empty"),
        (("a", None), "must not be empty; number 2 of 2 is None"),
        (("a", math.nan), "must not be empty"),
        (("a", ["b"]), "must be texts or numbers"),
        ("ab", "got the single text 'ab'"),
    ],
)
@pytest.mark.parametrize("family", [designs.direct, designs.uniform, lambda labels: designs.k_ary(labels, epsilon=1)])
def test_labels_are_several_different_and_not_empty(family, labels, message):
    with pytest.raises(DesignError, match=message):
        family(labels)


@pytest.mark.parametrize("sizes", [(3, 2), (-1, 2), (0, 5)])
def test_set_sizes_rise_within_the_labels(sizes):
    with pytest.raises(DesignError, match="set sizes must rise from 0 to 4"):
        Subsets(ABCD, *sizes)


def test_responses_check_their_codes():
    with pytest.raises(DataError, match=r"codes must have shape \(n, 1\); got \(3,\)"):
        Responses(np.array([1, 2, 3]), Labels(ABCD))
    with pytest.raises(DataError, match="got 1 levels for 2 responses"):
        Responses(np.array([[1], [2]]), Labels(ABCD), np.array([1]))


def test_a_pair_needs_two_columns_of_one_length():
    with pytest.raises(DataError, match="got 2 and 1 answers"):
        Pair(Labels(ABCD), Labels(ABCD)).encode((["a", "b"], ["c"]))


def test_a_thousand_responses_show_themselves_in_one_line():
    said = designs.warner(p=0.8).randomize(["yes", "no"] * 500)
    assert re.fullmatch(r"<1,000 responses: ((yes|no), ){5}…>", repr(said))
    assert repr(said.take([])) == "<0 responses>"
    assert repr(said.take([0])) in ("<1 response: yes>", "<1 response: no>")


def test_long_labels_show_themselves_in_one_line():
    said = designs.direct(("one\n\nline", "x" * 200)).randomize(["one\n\nline", "x" * 200])
    assert repr(said) == f"<2 responses: one line, {'x' * 29}…>"
