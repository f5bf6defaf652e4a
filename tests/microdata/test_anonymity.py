import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import microdata

from . import brute
from .tables import POLICIES, columns, names, tables

PAPER = [(40, "Male"), (36, "Female"), (None, "Male"), (40, None), (23, "Male"), (23, "Male")]


def keys_of(rows, **options):
    return microdata.Keys(columns(rows), names(rows), **options)


def test_the_example_of_the_paper():
    keys = keys_of(PAPER)
    assert microdata.anonymity(keys).tolist() == [1, 1, None, None, 2, 2]
    assert microdata.matches(keys).tolist() == [3, 1, 5, 3, 3, 3]


@settings(max_examples=500)
@given(rows=tables(), data=st.data())
def test_anonymity_is_that_of_the_definition(rows, data):
    policies = data.draw(st.lists(st.sampled_from(POLICIES), min_size=len(rows[0]), max_size=len(rows[0])))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    keys = keys_of(rows, missing=dict(zip(names(rows), policies, strict=True)))
    assert microdata.anonymity(keys).tolist() == brute.anonymity(rows, policies)
    weighted = microdata.anonymity(keys, weights=np.array(weights) / 4)
    assert weighted.tolist() == brute.anonymity(rows, policies, np.array(weights) / 4)


@settings(max_examples=200)
@given(rows=tables(cells=st.integers(0, 5)), data=st.data())
def test_coarsening_never_lowers_k(rows, data):
    coarser = data.draw(st.lists(st.integers(0, 5), min_size=6, max_size=6))
    merged = [tuple(coarser[cell] for cell in row) for row in rows]
    assert (microdata.anonymity(keys_of(merged)) >= microdata.anonymity(keys_of(rows))).all()


@settings(max_examples=200)
@given(rows=tables(), data=st.data())
def test_anonymity_moves_with_the_rows(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    moved = keys_of([rows[place] for place in order])
    assert microdata.anonymity(moved).tolist() == microdata.anonymity(keys_of(rows))[list(order)].tolist()


def test_the_policies_stand_side_by_side():
    rows = [(40,), (None,), (None,), (23,)]
    sizes = {policy: microdata.anonymity(keys_of(rows, missing=policy)).tolist() for policy in POLICIES}
    found = {policy: microdata.matches(keys_of(rows, missing=policy)).tolist() for policy in POLICIES}
    assert sizes == {"wildcard": [1, None, None, 1], "category": [1, 2, 2, 1], "drop": [1, None, None, 1]}
    assert found == {"wildcard": [3, 4, 4, 3], "category": [1, 2, 2, 1], "drop": [1, None, None, 1]}


def test_not_applicable_is_a_value():
    keys = microdata.Keys({"job": ["nurse", "not applicable", "not applicable"]}, ["job"])
    assert microdata.anonymity(keys).tolist() == [1, 2, 2]
