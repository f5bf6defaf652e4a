import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, microdata
from naysay.microdata.keys import counting

from . import brute
from .tables import POLICIES, RULES, batch, columns, names, of_each_table, tables

CASES = json.loads((Path(__file__).parents[1] / "reference" / "sdc_cases.json").read_text(encoding="utf-8"))["cases"]
ALGORITHMS = ("cube", "bitmap", "join")


def keys_of(rows, **options):
    return microdata.Keys(columns(rows), names(rows), **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
@pytest.mark.parametrize("rule", RULES)
def test_published_cases(case, rule, algorithm):
    keys = keys_of(case["rows"])
    assert microdata.matches(keys, rule=rule, algorithm=algorithm).tolist() == case.get(f"m_{rule}", case.get("m"))


@settings(max_examples=700)
@given(rows=tables(), data=st.data())
def test_matches_are_those_of_the_definition(rows, data):
    policies = data.draw(st.lists(st.sampled_from(POLICIES), min_size=len(rows[0]), max_size=len(rows[0])))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    keys = keys_of(rows, missing=dict(zip(names(rows), policies, strict=True)))
    halves = np.array(weights) / 2
    for rule in RULES:
        by_hand = brute.matches(rows, rule, policies), brute.matches(rows, rule, policies, halves)
        for algorithm in ("cube", "bitmap"):
            found = microdata.matches(keys, rule=rule, algorithm=algorithm)
            assert found.tolist() == by_hand[0]
            weighted = microdata.matches(keys, rule=rule, weights=halves, algorithm=algorithm)
            assert weighted.tolist() == by_hand[1]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_matches_of_batches_of_tables(algorithm, seed):
    rows = batch(seed)
    for rule in RULES:
        found = microdata.matches(keys_of(rows), rule=rule, algorithm=algorithm)
        assert found.tolist() == of_each_table(brute.matches, rows, rule)


@settings(max_examples=300)
@given(rows=tables())
def test_matches_are_at_least_the_anonymity_set(rows):
    keys = keys_of(rows)
    k = microdata.anonymity(keys)
    for rule in RULES:
        m = microdata.matches(keys, rule=rule)
        assert (m >= 1).all()
        assert (m >= k).filled(fill_value=True).all()


@given(rows=tables(cells=st.integers(0, 2)))
def test_without_missing_values_matches_are_the_anonymity_set(rows):
    keys = keys_of(rows)
    k = microdata.anonymity(keys)
    assert not np.ma.getmaskarray(k).any()
    for rule, algorithm in product(RULES, ALGORITHMS):
        assert microdata.matches(keys, rule=rule, algorithm=algorithm).tolist() == k.tolist()


@settings(max_examples=200)
@given(rows=tables(), data=st.data())
def test_more_keys_never_match_more(rows, data):
    keys = keys_of(rows)
    some = data.draw(st.lists(st.sampled_from(names(rows)), min_size=1, unique=True))
    for rule in RULES:
        assert (microdata.matches(keys, rule=rule) <= microdata.matches(keys.only(some), rule=rule)).all()


@settings(max_examples=200)
@given(rows=tables(), data=st.data())
def test_matches_move_with_the_rows(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    moved = keys_of([rows[place] for place in order])
    for rule in RULES:
        assert (
            microdata.matches(moved, rule=rule).tolist() == microdata.matches(keys_of(rows), rule=rule)[order].tolist()
        )


@settings(max_examples=200)
@given(rows=tables())
def test_intersecting_understates_the_risk(rows):
    keys = keys_of(rows)
    worst, first, meet = (microdata.matches(keys, rule=rule) for rule in ("worst", "first", "intersect"))
    assert (worst <= first).all()
    assert (first <= meet).all()


def expected(rows):
    """The definition of expected matches, pair by pair."""

    def agree(a, b):
        if a is None or b is None:
            return 1.0
        a, b = (dict.fromkeys(c, 1 / len(c)) if isinstance(c, list) else c for c in (a, b))
        a, b = (c if isinstance(c, dict) else {c: 1.0} for c in (a, b))
        return sum(a[value] * b.get(value, 0.0) for value in a)

    return [
        1
        + sum(
            np.prod([agree(a, b) for a, b in zip(row, other, strict=True)])
            for place, other in enumerate(rows)
            if place != own
        )
        for own, row in enumerate(rows)
    ]


chances = st.one_of(
    st.none(),
    st.integers(0, 2),
    st.just([0, 1]),
    st.sampled_from([{0: 0.25, 1: 0.75}, {1: 0.5, 2: 0.5}, {0: 0.125, 1: 0.25, 2: 0.625}, {2: 1.0}]),
)


@settings(max_examples=200)
@given(rows=tables(cells=chances))
def test_expected_matches_are_those_of_the_definition(rows):
    found = microdata.expected_matches(keys_of(rows))
    assert np.allclose(found, expected(rows), rtol=1e-12)
    assert np.allclose(found, microdata.expected_matches(keys_of(rows), algorithm="bitmap"), rtol=1e-12)


def test_expected_matches_with_weights_count_everybody_by_weight():
    rows = [([1, 2],), (1,), (None,)]
    weights = [2.0, 3.0, 4.0]
    assert np.allclose(microdata.expected_matches(keys_of(rows), weights=weights), [7.5, 8.0, 9.0])


def test_expected_matches_of_the_dropped_are_masked():
    keys = keys_of([(1,), (None,)], missing="drop")
    assert microdata.expected_matches(keys).tolist() == [1.0, None]


def test_a_table_of_dropped_respondents_only():
    keys = keys_of([(None,), (None,)], missing="drop")
    assert microdata.matches(keys).tolist() == [None, None]
    assert microdata.anonymity(keys).tolist() == [None, None]


def test_many_candidates_are_taken_in_batches(monkeypatch):

    rows = batch(3, tables=5)
    whole = microdata.matches(keys_of(rows)).tolist()
    monkeypatch.setattr(counting, "_COMBINATIONS_AT_ONCE", 7)
    assert microdata.matches(keys_of(rows)).tolist() == whole == of_each_table(brute.matches, rows, "worst")


def test_too_many_candidates_are_refused_with_a_way_out():
    row = tuple(list(range(100)) for _ in range(6))
    keys = keys_of([row, row])
    with pytest.raises(DataError, match=r"combine in 1e\+12 ways.*intersect"):
        microdata.matches(keys)
    assert microdata.matches(keys, rule="intersect").tolist() == [2, 2]
    with pytest.raises(DataError, match=r"combine in 2e\+12 ways|combine in 1e\+12 ways"):
        microdata.expected_matches(keys)


def test_unknown_rules_and_algorithms_are_refused():
    keys = keys_of([(1,)])
    with pytest.raises(DataError, match="rule must be one of 'worst', 'intersect', 'first'; got 'best'"):
        microdata.matches(keys, rule="best")
    with pytest.raises(DataError, match="algorithm must be one of 'cube', 'join', 'bitmap'; got 'magic'"):
        microdata.matches(keys, algorithm="magic")
