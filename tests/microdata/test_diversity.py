"""Diversity, counted set by set."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError

from . import brute

CELLS = st.one_of(st.none(), st.integers(1, 2), st.just([1, 2]))
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from([None, "u", "v", "w"])), min_size=1, max_size=12)


def measured(rows, **more):
    table = {name: [row[place] for row in rows] for place, name in enumerate("abs")}
    return microdata.diversity(microdata.Keys(table, list("abs"), **more), "s")


def agree(one, other):
    """Whether two rows may be the same on both keys."""
    return all(
        a is None or b is None or set(brute.candidates(a)) & set(brute.candidates(b))
        for a, b in zip(one[:2], other[:2], strict=True)
    )


@given(ROWS)
def test_diversity_is_that_of_each_anonymity_set(rows):
    found = measured(rows)
    k = brute.anonymity([row[:2] for row in rows])
    sharing = 0
    for place, (row, size) in enumerate(zip(rows, k, strict=True)):
        members = [other[2] for other in rows if other[:2] == row[:2] and other[2] is not None]
        if size is None or not members:
            assert found.distinct.mask[place]
            assert found.entropy.mask[place]
            continue
        counts = Counter(members).values()
        entropy = -sum(each / len(members) * math.log(each / len(members)) for each in counts)
        assert found.distinct[place] == len(counts)
        assert found.entropy[place] == pytest.approx(math.exp(entropy))
        sharing += size > 1 and row[2] is not None and len(counts) == 1
    assert found.sharing == sharing
    assert found.least_distinct == (found.distinct.min() if found.sets else 0)


@given(ROWS)
def test_matches_share_a_value_where_none_has_another(rows):
    sharing = 0
    for row in rows:
        others = [other for other in rows if agree(row, other)]
        sharing += len(others) > 1 and row[2] is not None and all(other[2] in (None, row[2]) for other in others)
    assert measured(rows).matches_sharing == sharing


def test_sharing_a_value_makes_a_large_set_unsafe():
    found = measured([(1, 1, "u")] * 50 + [(1, 2, "u"), (1, 2, "v")] * 25)
    assert microdata.anonymity(found.keys.only(["a", "b"])).min() == 50
    assert (found.sharing, found.matches_sharing) == (50, 50)
    assert found.least_distinct == 1
    assert found.entropy[50:].compressed() == pytest.approx(np.full(50, 2.0))


def test_a_set_of_which_nothing_is_known_is_not_counted():
    found = measured([(1, 1, None), (1, 1, None), (2, 2, "u")])
    assert found.sets == 1
    nothing = measured([(1, 1, None)])
    assert (nothing.sets, nothing.least_distinct) == (0, 0)
    assert math.isnan(nothing.least_entropy)


def test_what_cannot_be_measured_is_refused():
    keys = microdata.Keys({"a": [1, 2], "s": ["u", None]}, ["a", "s"], missing={"s": "drop"})
    with pytest.raises(DataError, match="must be 'wildcard'"):
        microdata.diversity(keys, "s")
    with pytest.raises(DataError, match="there is no key 't'"):
        microdata.diversity(keys, "t")
    with pytest.raises(DataError, match="a quasi-identifier is needed beside"):
        microdata.diversity(keys.only(["a"]), "a")
