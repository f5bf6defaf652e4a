"""Recodings: coarser values never make anybody stand out, and the numbers are those of a file recoded by hand."""

import datetime
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError

from . import brute
from .tables import POLICIES, RULES, columns, names, tables

NESTED = [("bins 2 wide", "bins 10 wide"), ("bins 5 wide", "bins 10 wide"), ("bins 10 wide", "bins 20 wide")]


def merged(rows, place, into):
    """The rows with the values of one key taken together, candidate by candidate."""

    def cell(old):
        if old is None:
            return None
        new = list(dict.fromkeys(into[value] for value in old)) if isinstance(old, list) else into[old]
        return new[0] if isinstance(new, list) and len(new) == 1 else new

    return [tuple(cell(old) if number == place else old for number, old in enumerate(row)) for row in rows]


@given(tables(), st.data(), st.sampled_from(RULES), st.sampled_from(POLICIES))
def test_merged_values_are_those_of_a_file_recoded_by_hand(rows, data, rule, policy):
    keys = microdata.Keys(columns(rows), names(rows), missing=policy)
    place = data.draw(st.integers(0, len(names(rows)) - 1))
    values = keys.variables[place].cells.values
    if not values:
        return
    real = [value for value in values if isinstance(value, int)]
    numbers = data.draw(st.lists(st.integers(0, 2), min_size=len(real), max_size=len(real)))
    into = [*np.unique(numbers, return_inverse=True)[1].tolist()] if real else []
    label = dict(zip(real, into, strict=True))
    if len(values) > len(real):  # "missing" as a category stays one of its own
        into.append(max(into, default=-1) + 1)
    other = keys.merged(names(rows)[place], into)
    policies = [policy] * len(names(rows))
    expected = merged(rows, place, label)
    assert microdata.matches(other, rule=rule).tolist() == brute.matches(expected, rule, policies)
    assert microdata.anonymity(other).tolist() == brute.anonymity(expected, policies)
    before = microdata.matches(keys, rule=rule)
    assert (np.ma.compressed(microdata.matches(other, rule=rule)) >= np.ma.compressed(before)).all()


def people(n=300, seed=4):
    rng = np.random.default_rng(seed)
    return {
        "age": [None if rng.random() < 0.1 else int(age) for age in rng.integers(18, 95, n)],
        "income": [str(100 * int(value)) for value in rng.integers(5, 60, n)],
        "town": [f"town {int(place)}" for place in np.floor(rng.random(n) ** 2.5 * 40)],
        "since": [datetime.date(2000, 1, 1) + datetime.timedelta(int(day)) for day in rng.integers(0, 3000, n)],
        "school": rng.choice(["none", "some", "more", "most"], n).tolist(),
    }


@pytest.fixture(scope="module")
def found():
    table = people()
    keys = microdata.Keys(table, ["age", "income", "town"])
    return microdata.recodings(keys)


def test_the_numbers_are_those_of_a_file_recoded_by_hand(found):
    table = people()
    by_name = {(each.key, each.told): each for each in found.recodings}
    ages = [None if age is None else age // 10 for age in table["age"]]
    known = np.array([age for age in table["age"] if age is not None])
    top = min(age for age in set(known.tolist()) if (known >= age).mean() <= 0.1)
    incomes = [int(income) // 1_000 for income in table["income"]]
    towns = {town: table["town"].count(town) / 300 for town in set(table["town"])}
    for name, told, cells in (
        ("age", "bins 10 wide", ages),
        ("age", "the highest 10 % together", [None if age is None else min(age, top) for age in table["age"]]),
        ("income", "bins 1,000 wide", incomes),
        ("town", "those below 2 % each together", ["rare" if towns[t] < 0.02 else t for t in table["town"]]),
    ):
        other = microdata.Keys(table | {name: cells}, ["age", "income", "town"])
        expected = microdata.search(other, size=3).of(3)[0]
        after = by_name[name, told].after
        assert (after.m.unique, after.k.unique, after.m.below_5) == (
            expected.m.unique,
            expected.k.unique,
            expected.m.below_5,
        )
        assert by_name[name, told].values == (
            len(set(filter(None, table[name]))),
            len(set(filter(lambda v: v is not None, cells))),
        )
    left = microdata.search(microdata.Keys(table, ["age", "town"]), size=2).of(2)[0]
    assert by_name["income", "left out"].after.m == left.m
    assert by_name["income", "left out"].values[1] == 0


def test_recoding_raises_nobodys_risk_and_wider_bins_raise_it_less(found):
    by_name = {(each.key, each.told): each.after for each in found.recodings}
    for each in found.recodings:
        assert each.after.m.unique <= found.before.m.unique
        assert found.bought(each) == found.before.m.unique - each.after.m.unique >= 0
        if each.told != "left out":
            assert each.after.k.unique <= found.before.k.unique
            assert by_name[each.key, "left out"].m.unique <= each.after.m.unique
    for finer, wider in NESTED:
        assert by_name["age", wider].k.unique <= by_name["age", finer].k.unique
        assert by_name["age", wider].m.unique <= by_name["age", finer].m.unique
    for end in ("highest", "lowest"):
        assert by_name["age", f"the {end} 10 % together"].k.unique <= by_name["age", f"the {end} 5 % together"].k.unique


def test_those_that_buy_most_come_first(found):
    unique = [each.after.m.unique for each in found.recodings]
    assert unique == sorted(unique)
    other = microdata.recodings(microdata.Keys(people(), ["age", "town"]), measure="anonymity")
    unique = [each.after.k.unique for each in other.recodings]
    assert unique == sorted(unique)


def test_dates_are_cut_and_ordered_values_join_their_neighbors():
    keys = microdata.Keys(people(), ["since", "school"])
    plain = microdata.recodings(keys)
    assert {each.told for each in plain.recodings if each.key == "since"} == {
        "to the month",
        "to the quarter",
        "to the year",
        "left out",
    }
    assert {each.told for each in plain.recodings if each.key == "school"} == {"left out"}
    ordered = microdata.recodings(keys, orders={"school": ["none", "some", "more", "most"]})
    pairs = next(each for each in ordered.recodings if each.told == "neighbors, 2 together")
    assert pairs.values == (4, 2)
    halves = [name in ("none", "some") for name in people()["school"]]
    by_hand = microdata.Keys(people() | {"school": halves}, ["since", "school"])
    assert pairs.after.m == microdata.search(by_hand, size=2).of(2)[0].m


def test_no_value_is_named(found):
    text = str(found) + json.dumps(found.to_dict(), allow_nan=False)
    assert "town 3" not in text
    assert "Which recoding would buy most on age + income + town" in text
    assert "No file is changed" in text


def test_one_key_alone_and_few_values():
    keys = microdata.Keys({"gender": ["f", "m", "m", None]}, ["gender"])
    assert microdata.recodings(keys).recodings == ()
    flags = microdata.Keys({"a": [True, False, True], "b": [1, 2, 3]}, ["a", "b"])
    assert [each.told for each in microdata.recodings(flags).recodings] == ["left out", "left out"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rule": "best"}, "rule must be one of"),
        ({"measure": "l"}, "measure must be one of"),
        ({"orders": {"ages": [1]}}, "did you mean 'age'"),
        ({"orders": {"town": ["town 1"]}}, "the order of 'town' must name all of its values; it leaves out"),
    ],
)
def test_bad_questions_are_refused(options, told):
    with pytest.raises(DataError, match=told):
        microdata.recodings(microdata.Keys(people(), ["age", "town"]), **options)


def test_it_says_how_far_it_is():
    told = []
    microdata.recodings(microdata.Keys(people(), ["age", "town"]), progress=lambda *each: told.append(each))
    assert told == [("age", 0.0), ("town", 0.5)]


def test_what_is_lost_is_the_information_that_values_told_apart(found):
    """1 - H(coarser)/H: all of it where the key is left out, more for wider bins, and none where nothing merges."""
    lost = {(each.key, each.told): each.lost for each in found.recodings}
    assert all(each.lost == 1 for each in found.recodings if each.told == "left out")
    for finer, wider in NESTED:
        assert 0 < lost["age", finer] < lost["age", wider] < 1
    halves = microdata.recodings(microdata.Keys({"x": [0, 1, 2, 3, 4, 5, 6, 7] * 25}, ["x"]))
    assert next(each.lost for each in halves.recodings if each.told == "bins 2 wide") == pytest.approx(1 / 3)  # 3 bits


def test_what_buys_much_for_next_to_nothing_is_free():
    rng = np.random.default_rng(4)
    ages = [*rng.integers(20, 60, 4_000).tolist(), *range(90, 100)]  # ten very old people, of whom each stands out
    found = microdata.recodings(microdata.Keys({"age": ages}, ["age"]))
    free = [each for each in found.recodings if found.is_free(each)]
    assert any("highest" in each.told and each.lost < 0.05 and found.bought(each) == 10 for each in free)
    assert "free" in str(found)
    assert all(row["free"] == (row["bought"] > 0 and row["lost"] <= 0.05) for row in found.to_dict()["recodings"])
