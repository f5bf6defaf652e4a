import numpy as np
import pytest

from naysay import designs, simulate
from naysay.errors import DataError
from naysay.simulate import Behavior

CHOICE = designs.negative_levels(tuple("abcde"))


def test_everybody_does_as_asked_by_default():
    assert str(Behavior()) == "all do as asked"
    np.testing.assert_array_equal(Behavior().stated("abc"), np.eye(3))
    np.testing.assert_array_equal(Behavior().silent("abc"), np.zeros(3))


def test_liars_name_any_other_category():
    stated = Behavior(liars=0.3).stated(("a", "b", "c"))
    np.testing.assert_allclose(stated, 0.15 + 0.55 * np.eye(3))


def test_who_denies_stays_in_the_category_that_is_claimed():
    stated = Behavior(liars=0.4, says="c").stated(("a", "b", "c"))
    np.testing.assert_allclose(stated, [[0.6, 0, 0], [0, 0.6, 0], [0.4, 0.4, 1]])


def test_nonresponse_by_category():
    assert Behavior(nonresponse={"b": 0.5}).silent(("a", "b")).tolist() == [0, 0.5]
    assert Behavior(nonresponse=0.25).silent(("a", "b")).tolist() == [0.25, 0.25]


def test_behavior_in_words():
    told = str(Behavior(liars=0.2, among=("a",), says="b", at_random=0.1, nonresponse={"a": 0.5}))
    assert told == "0.2 of 'a' say 'b'; 0.1 answer at random; no answer from 0.5 of 'a'"
    assert str(Behavior(liars=0.2, nonresponse=0.1)) == "0.2 say another category; no answer from 0.1"


def test_skewed_preferences_halve_from_level_to_level():
    np.testing.assert_allclose(simulate.skewed(CHOICE), np.array([8, 4, 2, 1]) / 15)
    np.testing.assert_allclose(simulate.skewed(CHOICE, toward="open", ratio=3), np.array([1, 3, 9, 27]) / 40)
    np.testing.assert_allclose(simulate.skewed(CHOICE, ratio=1), np.full(4, 0.25))


def test_tied_preferences_hide_a_category():
    tied = simulate.tied(CHOICE, hiding=("b",), share_of=0.6)
    np.testing.assert_allclose(tied[:, 0], np.full(4, 0.25))
    np.testing.assert_allclose(tied[:, 1], [0.7, 0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Behavior(liars=1.1), r"share of liars must lie in \[0, 1\]; got 1.1"),
        (lambda: Behavior(at_random=-0.1), "answers at random must lie"),
        (lambda: Behavior(nonresponse=2), "does not answer must lie"),
        (lambda: Behavior(nonresponse={"a": float("nan")}), "does not answer must lie"),
        (lambda: Behavior(liars=True), "must lie in"),
        (lambda: Behavior(liars=0.1, among=("q",)).stated(("a", "b")), "'q' is no category"),
        (lambda: Behavior(liars=0.1, says="q").stated(("a", "b")), "'q' is no category"),
        (lambda: Behavior(nonresponse={"q": 0.1}).silent(("a", "b")), "'q' is no category"),
        (lambda: simulate.skewed(CHOICE, toward="closed"), "'private' or 'open'"),
        (lambda: simulate.skewed(CHOICE, ratio=0.5), "at least 1"),
        (lambda: simulate.tied(CHOICE, hiding=("q",)), "'q' is no category"),
        (lambda: simulate.tied(CHOICE, hiding=("a",), share_of=1.5), "must lie in"),
    ],
)
def test_behavior_that_cannot_be(made, told):
    with pytest.raises(DataError, match=told):
        made()
