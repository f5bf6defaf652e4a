"""Three readings of a gap, and the intruder who knows the original, against both definitions."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError

from . import brute
from .tables import columns, names, tables

UNKNOWN = [None, 0, 1, 2, [0, 1], [1, 2]]


@st.composite
def releases(draw):
    """An original, a release of the same people in another order, and who each record is."""
    keys = draw(st.integers(1, 3))
    cell = st.sampled_from(UNKNOWN if draw(st.booleans()) else UNKNOWN[:4])
    original = draw(st.lists(st.tuples(*[cell] * keys), min_size=1, max_size=8))
    kept = draw(st.permutations(range(len(original))))[: draw(st.integers(1, len(original)))]
    truthful = draw(st.booleans())
    released = [
        tuple(draw(st.sampled_from([own, None])) if truthful else draw(cell) for own in original[row]) for row in kept
    ]
    return original, released, kept


def fits(truth, shown):
    cells = zip(map(brute.candidates, truth), map(brute.candidates, shown), strict=True)
    return all(a is None or b is None or set(a) & set(b) for a, b in cells)


def gaps(truth, shown):
    """Keys that a record does not show for certain, of those that the truth knows."""
    return sum(
        own is not None and (cell is None or len(brute.candidates(cell)) > 1)
        for own, cell in zip(truth, shown, strict=True)
    )


def attack(original, released, kept):
    """The success of whoever takes the records with the fewest gaps, one pair of rows at a time."""
    success = np.zeros(len(original))
    for person, truth in enumerate(original):
        candidates = [place for place, shown in enumerate(released) if fits(truth, shown)]
        fewest = min((gaps(truth, released[place]) for place in candidates), default=0)
        taken = [place for place in candidates if gaps(truth, released[place]) == fewest]
        success[person] = np.mean([kept[place] == person for place in taken]) if taken else 0
    return success


@given(releases())
def test_the_success_is_read_off_its_definition(file):
    original, released, kept = file
    found = microdata.informed(columns(original), columns(released), names(original), rows=kept)
    assert found.success == pytest.approx(attack(original, released, kept))
    assert found.at_risk.tolist() == [m < 3 for m in brute.matches(original)]
    assert found.mean == pytest.approx(found.success.mean())
    assert found.highest == found.success.max()


@given(tables(most=9))
def test_k_c_and_m_are_read_off_their_definitions_and_rise(rows):
    keys = microdata.Keys(columns(rows), names(rows))
    shown = [tuple(map(brute.candidates, row)) for row in rows]
    holding = [
        [row for row in rows if all(own is None or cell is not None for own, cell in zip(mine, row, strict=True))]
        for mine in rows
    ]
    found = microdata.readings(keys, rule="intersect")
    assert found.k.tolist() == [shown.count(mine) for mine in shown]
    assert found.c.tolist() == [sum(fits(mine, row) for row in near) for mine, near in zip(rows, holding, strict=True)]
    assert found.m.tolist() == brute.matches(rows, "intersect")
    for rule in ("intersect", "worst", "first"):
        each = microdata.readings(keys, rule=rule)
        assert (each.c <= each.m).all()
        assert rule == "first" or (each.k <= each.c).all()  # the first candidate of a set depends on its order
    assert (found.least_k, found.least_c, found.least_m) == (found.k.min(), found.c.min(), found.m.min())


@given(tables(cells=st.sampled_from([None, 0, 1]), most=8), st.randoms(use_true_random=False))
def test_no_strategy_beats_one_over_k(rows, random):
    """Three ways to pick, each knowing everybody's true keys: none is right more often than 1/k within a class."""
    truth = [tuple(random.randrange(2) if cell is None else cell for cell in row) for row in rows]
    k = microdata.readings(microdata.Keys(columns(rows), names(rows))).k
    weights = {
        "fewest gaps": lambda row: 1e-12 ** row.count(None),
        "any that fits": lambda _: 1.0,
        "rare rows": lambda row: 1e-12 ** rows.count(row),
    }
    for weigh in weights.values():
        for person, keys in enumerate(truth):
            chances = np.array([weigh(row) * fits(keys, row) for row in rows])
            assert chances[person] / chances.sum() <= 1 / k[person] + 1e-9


def test_two_emptied_records_raise_m_for_everybody_and_protect_nobody():
    rng = np.random.default_rng(19)
    original = {name: rng.integers(0, 6, 400).tolist() for name in ("age", "job", "town")}
    alone = microdata.readings(microdata.Keys(original, list(original)))
    emptied = {name: [None, None, *cells[2:]] for name, cells in original.items()}
    after = microdata.readings(microdata.Keys(emptied, list(original)))
    assert (alone.least_m, after.least_m) == (1, 3)
    assert after.least_k == after.least_c == 1
    before, since = (microdata.informed(original, each, list(original)) for each in (original, emptied))
    assert before.mean == pytest.approx((1 / alone.k).mean())
    assert since.mean > before.mean - 0.01
    assert since.people_at_risk == before.people_at_risk == (alone.m < 3).sum()
    assert since.mean_at_risk > before.mean_at_risk - 0.02


def test_a_recoding_is_known_to_the_intruder_too():
    original = {"age": [23, 24, 37, 38], "sex": ["f", "f", "m", "f"]}
    released = {"age": ["20 to 29", "20 to 29", "37", None], "sex": ["f", "f", "m", "f"]}
    told = microdata.informed(original, released, ["age", "sex"], recoded={"age": dict.fromkeys([23, 24], "20 to 29")})
    assert told.success.tolist() == [0.5, 0.5, 1, 1]
    assert told.to_dict()["mean"] == 0.75
    frames = [pl.DataFrame(each) for each in (original, released)]
    again = microdata.informed(*frames, ["age", "sex"], recoded={"age": dict.fromkeys([23, 24], "20 to 29")})
    assert again.success.tolist() == told.success.tolist()


def test_a_recoded_set_is_a_set_of_the_new_values():
    original, released = {"age": [[1, 2], [2, 3], 3]}, {"age": [9, [9, 3], 3]}
    found = microdata.informed(original, released, ["age"], recoded={"age": {1: 9, 2: 9}})
    assert found.success.tolist() == [1, 0, 1]  # whoever is 9 or 3 is taken for one of those who are it for certain


def test_without_anybody_at_risk_their_mean_is_undefined():
    found = microdata.informed({"a": [1, 1, 1]}, {"a": [1, 1, 1]}, ["a"])
    assert np.isnan(found.mean_at_risk)
    assert found.to_dict()["mean_at_risk"] is None
    assert microdata.readings(microdata.Keys({"a": [None]}, ["a"], missing="drop")).least_k == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"released": {"a": [1]}}, "got 1 records for 2 people"),
        ({"released": {"a": [1]}, "rows": [2]}, "different rows of the original, from 0 to 1"),
        ({"rows": [0, 0]}, "different rows of the original"),
        ({"rows": [0.5, 1]}, "different rows of the original"),
        ({"released": {"b": [1, 2]}}, "there is no column 'a'"),
        ({"recoded": {"b": {}}}, "there is no key 'b'"),
    ],
)
def test_wrong_releases_are_refused(given, told):
    asked = {"original": {"a": [1, 2]}, "released": {"a": [1, 2]}, "keys": ["a"]} | given
    with pytest.raises(DataError, match=told):
        microdata.informed(**asked)
