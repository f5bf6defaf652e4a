"""Smallest key sets, by trying all of them with the oracle."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError

from . import brute

CELLS = st.one_of(st.none(), st.integers(1, 2), st.just([1, 2]), st.just([2, 3]))
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=7)
NAMES = ("a", "b", "c", "d")


def encoded(rows, missing="wildcard"):
    table = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    return microdata.Keys(table, NAMES, missing=missing)


def by_trying(rows, rule, policies=("wildcard",) * 4):
    """For each row the sets of places on which it alone matches itself, none within another."""
    found = [[] for _ in rows]
    for size in range(1, len(NAMES) + 1):
        for places in combinations(range(len(NAMES)), size):
            part = [tuple(row[place] for place in places) for row in rows]
            m = brute.matches(part, rule, [policies[place] for place in places])
            for own, number in zip(found, m, strict=True):
                if number == 1 and not any(set(smaller) <= set(places) for smaller in own):
                    own.append(places)
    return found


POLICIES = st.tuples(*[st.sampled_from(["wildcard", "category", "drop"])] * 4)


@given(ROWS, st.sampled_from(["worst", "intersect", "first"]), POLICIES)
def test_everybody_and_each_have_the_smallest_sets_that_trying_finds(rows, rule, policies):
    keys = encoded(rows, dict(zip(NAMES, policies, strict=True)))
    expected = by_trying(rows, rule, policies)
    every = microdata.stand_out(keys, most=4, rule=rule)
    assert every.size.tolist() == [len(own[0]) if own else 0 for own in expected]
    counted = {each.keys: each.respondents for each in every.sets}
    names = [tuple(NAMES[place] for place in places) for own in expected for places in own]
    assert counted == {each: names.count(each) for each in set(names)}
    for row, own in enumerate(expected):
        each = microdata.stand_out_of(keys, row, rule=rule)
        assert each == tuple(tuple(NAMES[place] for place in places) for places in own)


def test_three_keys_are_tried_unless_told_otherwise():
    keys = encoded([(1, 1, 1, 1), (1, 1, 1, 2), (1, 2, 2, 2)])
    assert microdata.stand_out(keys).most == 3
    assert microdata.stand_out(keys.only(["a", "b"])).most == 2
    text = str(microdata.stand_out(keys, most=1))
    assert "2 of 3 respondents stand out on 1 key, and not on fewer" in text
    assert "  d: 1" in text


def test_whoever_is_dropped_stands_out_on_no_set_that_drops_her():
    keys = encoded([(None, 1, 1, 1), (2, 2, 2, 2)], missing={"a": "drop"})
    assert microdata.stand_out_of(keys, 0) == (("b",), ("c",), ("d",))
    assert ("a",) in microdata.stand_out_of(keys, 1)


def test_a_key_drops_only_in_the_sets_that_have_it():
    pair = microdata.Keys({"age": [40, None], "gender": ["f", "f"]}, ["gender", "age"], missing={"age": "drop"})
    assert microdata.stand_out(pair, most=1).size.tolist() == [1, 0]
    assert [microdata.stand_out_of(pair, row) for row in range(2)] == [(("age",),), ()]
    three = microdata.Keys({"age": [40, 40, None], "gender": ["f", "f", "m"]}, ["age", "gender"], missing="drop")
    assert microdata.stand_out_of(three, 2) == (("gender",),)


def test_seventy_keys_are_told_apart():
    rng = np.random.default_rng(5)
    names = [f"key {place}" for place in range(70)]
    table = {name: rng.integers(0, 2, 30) for name in names} | {"key 69": np.arange(30)}
    keys = microdata.Keys(table, names)
    assert ("key 69",) in microdata.stand_out_of(keys, 7, most=1)
    assert keys.distinct == 30


def test_many_keys_are_searched_by_who_is_not_told_yet():
    rng = np.random.default_rng(6)
    names = [f"key {place}" for place in range(24)]
    keys = microdata.Keys({name: rng.integers(0, 12, 2_000) for name in names}, names)
    shares = []
    found = microdata.stand_out_of(keys, 0, most=4, progress=lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    assert 0 < len(shares) <= 24
    assert len(found) > 100
    assert all(microdata.matches(keys.only(each))[0] == 1 for each in found[:5])


def test_candidates_too_many_to_take_each_as_known_are_refused(monkeypatch):
    monkeypatch.setattr("naysay.microdata.combinations.standout._ROOM", 3)
    with pytest.raises(DataError, match="candidates of one respondent are too many"):
        microdata.stand_out_of(encoded([([1, 2, 3], 1, 1, 1), (2, 2, 2, 2)]), 0)


def test_twins_never_stand_out():
    keys = encoded([(1, 1, 1, 1), (1, 1, 1, 1)])
    assert microdata.stand_out_of(keys, 0) == ()
    assert not microdata.stand_out(keys).size.any()
    assert microdata.stand_out(keys).sets == ()


def test_progress_is_told():
    said = []
    keys = encoded([(1, 1, 1, 1), (1, 1, 1, 2)])
    microdata.stand_out(keys, most=2, progress=lambda *told: said.append(told))
    assert said[:5] == [("a", 0), ("b", 0.1), ("c", 0.2), ("d", 0.3), ("a + b", 0.4)]


@pytest.mark.parametrize("most", [0, 5, True, 1.5])
def test_a_number_of_keys_that_cannot_be_is_refused(most):
    with pytest.raises(DataError, match="most must be a number of keys, from 1 to 4"):
        microdata.stand_out(encoded([(1, 1, 1, 1)]), most=most)


@pytest.mark.parametrize("row", [-1, 1, True, "a"])
def test_a_row_that_is_not_there_is_refused(row):
    with pytest.raises(DataError, match="row must be a position"):
        microdata.stand_out_of(encoded([(1, 1, 1, 1)]), row)


def test_an_unknown_rule_is_refused():
    with pytest.raises(DataError, match="rule must be one of"):
        microdata.stand_out_of(encoded([(1, 1, 1, 1)]), np.int64(0), rule="best")
