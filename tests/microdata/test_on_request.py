"""Measures that a table has on request: what they need, what they tell of each person, and when they are silent."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata.risk.individual import Households, Individual, Special, household_risk, individual_risk
from naysay.microdata.risk.loglinear import LogLinearModel
from naysay.microdata.risk.uniques import Pitman

from . import brute
from .tables import columns, names, tables


def people(n=600, seed=5):
    rng = np.random.default_rng(seed)
    town = rng.zipf(1.5, n).clip(max=90).tolist()
    age = rng.integers(18, 60, n).tolist()
    return {
        "town": [None if rng.random() < 0.1 else each for each in town],
        "age": age,
        "home": (rng.integers(0, 250, n)).tolist(),
        "ill": rng.integers(0, 3, n).tolist(),
        "w": rng.uniform(5, 15, n).tolist(),
    }


def row_of(table, keys=("town", "age"), **asked):
    return microdata.risk_table(table, [list(keys)], **asked).quasi_identifiers[0]


def test_individual_risk_reads_matches_and_people_whom_weights_estimate():
    table = people()
    plain = row_of(table, population=6_000, also=["individual"]).measure(Individual).record_risks
    keys = microdata.Keys(table, ["town", "age"], weights="w")
    m = microdata.matches(keys)
    assert plain.risk == pytest.approx(individual_risk(m, 10 * m))
    weighed = row_of(table, population=6_000, also=["individual"], weights="w").measure(Individual).record_risks
    sums = microdata.matches(keys, weights="w") * 6_000 / sum(table["w"])
    assert weighed.risk == pytest.approx(individual_risk(m, sums))
    assert weighed.expected == pytest.approx(weighed.risk.sum())


def test_household_risk_is_that_of_its_members():
    table = people()
    row = row_of(table, population=6_000, also=["individual", "household"], households="home")
    own, shared = row.measure(Individual).record_risks.risk, row.measure(Households).risk
    assert shared == pytest.approx(household_risk(own, table["home"]))
    home = np.array(table["home"])
    assert shared[home == 7] == pytest.approx(1 - np.prod(1 - own[home == 7]))
    told = row.measure(Households)
    assert told.of_each()["household risk"] is told.risk


def test_models_say_that_they_do_not_use_weights():
    found = microdata.risk_table(
        people(), [["town", "age"]], population=6_000, weights="w", also=["pitman", "loglinear"]
    )
    told = [text for text in found.reservations if "does not use" in text]
    assert len(told) == 2
    assert not [
        text for text in microdata.risk_table(people(), [["age"]], population=6_000).reservations if "use" in text
    ]


def test_withheld_models_show_dashes_and_their_reason():
    found = microdata.risk_table({"a": [1, 2, 3, 3]}, [["a"]], population=40, also=["pitman", "suda", "loglinear"])
    row = found.quasi_identifiers[0]
    assert set(row.measure(Pitman).cells()) == set(row.measure(LogLinearModel).cells()) == {"–"}
    assert row.measure(Special).cells()[-2:] == ("–", "–")
    for name in ("pitman", "DIS", "loglinear"):
        assert any(f"{name} is withheld" in text for text in found.reservations)
    assert row.to_dict()["pitman"]["withheld"]


def test_nobody_left_in_leaves_nothing_to_measure():
    table = {"a": [None, None], "b": [1, 2]}
    row = row_of(table, keys="a", missing="drop", population=10, also=["readings", "pitman", "individual", "suda"])
    assert [each.name for each in row.measures] == ["listwise", "matches"]
    (every,) = microdata.risk_table(table, [["a"]], population=10, also=["pitman", "loglinear"]).quasi_identifiers
    assert every.measure(Pitman) is None  # nobody has every key


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"also": ["pitmann"], "population": 60}, "a measure on request .* must be one of"),
        ({"also": "pitman", "population": 60}, "are a list of names"),
        ({"also": ["pitman"]}, "'pitman' needs population="),
        ({"also": ["closeness"]}, "'closeness' needs sensitive="),
        ({"also": ["household"], "population": 60}, "needs to know the households"),
        ({"households": "b", "population": 60}, "needs to know the households"),
        ({"also": ["household"], "households": [1], "population": 60}, "one household for each respondent"),
    ],
)
def test_what_a_measure_needs_is_asked_for(asked, told):
    with pytest.raises(DataError, match=told):
        microdata.risk_table({"a": [1, 2, 3], "b": [1, 1, 2]}, [["a"]], **asked)


def test_a_model_that_is_not_known_is_refused():
    with pytest.raises(DataError, match="model must be one of pitman, zayatz, snb"):
        microdata.population_uniques(microdata.Keys({"a": [1, 2]}, ["a"]), population=9, model="ewens")


@given(tables(cells=st.sampled_from([None, 0, 1, 2]), least=2, most=9), st.booleans())
def test_closeness_is_the_distance_of_shares(rows, ordered):
    rows = [(row[0], *row) for row in rows]
    keys = microdata.Keys(columns(rows), names(rows))
    sensitive = names(rows)[-1]
    found = microdata.closeness(keys, sensitive, ordered=ordered)
    values = sorted({row[-1] for row in rows} - {None})
    known = [row for row in rows if None not in row]

    def shares(part):
        return np.array([sum(row[-1] == value for row in part) / len(part) for value in values])

    for row, distance in zip(rows, found.distance, strict=True):
        part = [other for other in known if other[:-1] == row[:-1]]
        if None in row[:-1] or not part:
            assert np.isnan(distance)
            continue
        apart = shares(part) - shares(known)
        wide = np.abs(np.cumsum(apart))[:-1].sum() / max(len(values) - 1, 1) if ordered else np.abs(apart).sum() / 2
        assert distance == pytest.approx(wide, abs=1e-12)


@pytest.mark.parametrize("of", ["closeness", "ordered closeness", "presence"])
def test_an_uncertain_value_counts_like_a_missing_one(of):
    def shares(uncertain):
        table = {"age": [30] * 4 + [40] * 4, "ill": [0, 0, 1, uncertain, 1, 1, 0, uncertain]}
        keys = microdata.Keys(table, ["age", "ill"])
        if of == "presence":
            return microdata.presence(keys, "ill").of_each()["presence"]
        return microdata.closeness(keys, "ill", ordered=of.startswith("ordered")).distance

    least = 1 / 3 if of == "presence" else 1 / 6
    assert shares([0, 1])[[0, 1, 2]] == pytest.approx(least)
    assert shares([0, 1]) == pytest.approx(shares(None))


def test_closeness_needs_a_quasi_identifier():
    with pytest.raises(DataError, match="a quasi-identifier is needed"):
        microdata.closeness(microdata.Keys({"a": [1, 2]}, ["a"]), "a")


homes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(["a;b", "a", "\\"])), min_size=1)


@given(homes)
def test_households_are_alike_if_their_members_are(rows):
    home, age, job = map(list, zip(*rows, strict=True))
    keys = microdata.households({"home": home, "age": age, "job": job}, ["age", "job"], by="home")
    first = list(dict.fromkeys(home))
    members = [tuple(sorted((a, j) for h, a, j in rows if h == own)) for own in first]
    assert microdata.anonymity(keys).tolist() == brute.anonymity([(str(each),) for each in members])


def test_wrong_households_are_refused():
    table = {"home": [1, 1, None], "age": [1, 2, 3], "region": ["n", "s", "s"]}
    with pytest.raises(DataError, match="'home' is empty in row 3"):
        microdata.households(table, ["age"], by="home")
    with pytest.raises(DataError, match="'region' differs within a household"):
        microdata.households(table | {"home": [1, 1, 2]}, ["age"], by="home", own=["region"])
    gaps = microdata.households({"home": [1, 1, 2], "age": [1, None, 1]}, ["age"], by="home")
    assert microdata.matches(gaps).tolist() == [2, 2]  # a gap of a member may be anything


@given(tables(cells=st.sampled_from([None, 0, 1]), least=2, most=9))
def test_presence_is_the_share_of_members_in_each_set(rows):
    rows = [(row[0], *row) for row in rows]
    if {row[-1] for row in rows} - {None} != {0, 1}:
        return
    found = microdata.presence(microdata.Keys(columns(rows), names(rows)), names(rows)[-1])
    assert found.value == 1
    certain = 0
    for row, share in zip(rows, found.of_each()["presence"], strict=True):
        part = [other[-1] for other in rows if other[:-1] == row[:-1] and None not in other]
        if None in row[:-1] or not part:
            assert np.isnan(share)
            continue
        assert share == pytest.approx(sum(part) / len(part))
        certain += len(set(part)) == 1
    assert found.certain == certain


def test_presence_needs_two_values():
    with pytest.raises(DataError, match="two values, such as yes and no; 'b' has 3"):
        microdata.presence(microdata.Keys({"a": [1, 1, 1], "b": [1, 2, 3]}, ["a", "b"]), "b")


def test_salaries_of_nine_patients_are_a_sixth_apart_in_steps_and_two_thirds_in_shares():
    """Three groups of three, by the definition in fractions; as texts, 10 and 11 would stand before 3."""
    groups = ["4767*"] * 3 + ["4790*"] * 3 + ["4760*"] * 3
    salary = [3, 5, 9, 6, 11, 8, 4, 7, 10]
    table = {"zip": groups, "salary": [str(each) for each in salary]}
    moved = []
    for group in dict.fromkeys(groups):
        own = [pay for pay, where in zip(salary, groups, strict=True) if where == group]
        gaps = [Fraction(sum(each <= pay for each in own), 3) - Fraction(pay - 2, 9) for pay in range(3, 11)]
        moved.append(sum(map(abs, gaps)) / 8)
    assert max(moved) == Fraction(1, 6)
    asked = {"sensitive": "salary", "also": ["closeness", "ordered_closeness"]}
    [row] = microdata.risk_table(table, [["zip"]], **asked).to_dict()["quasi_identifiers"]
    assert row["ordered_closeness"]["t"] == pytest.approx(1 / 6)
    assert row["closeness"]["t"] == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="texts, which have no order"):
        microdata.risk_table(table, [["salary"]], sensitive="zip", also=["ordered_closeness"])
