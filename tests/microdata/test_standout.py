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


def by_trying(rows, rule):
    """For each row the sets of places on which it alone matches itself, none within another."""
    found = [[] for _ in rows]
    for size in range(1, len(NAMES) + 1):
        for places in combinations(range(len(NAMES)), size):
            m = brute.matches([tuple(row[place] for place in places) for row in rows], rule)
            for own, number in zip(found, m, strict=True):
                if number == 1 and not any(set(smaller) <= set(places) for smaller in own):
                    own.append(places)
    return found


@given(ROWS, st.sampled_from(["worst", "intersect", "first"]))
def test_everybody_and_each_have_the_smallest_sets_that_trying_finds(rows, rule):
    keys = encoded(rows)
    expected = by_trying(rows, rule)
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


def test_whoever_is_dropped_stands_out_on_nothing():
    keys = encoded([(None, 1, 1, 1), (2, 2, 2, 2)], missing={"a": "drop"})
    assert microdata.stand_out_of(keys, 0) == ()
    assert ("a",) in microdata.stand_out_of(keys, 1)


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
