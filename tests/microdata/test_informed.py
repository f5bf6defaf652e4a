"""The informed intruder: simulated attacks lie between the two numbers that are printed."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata

from . import brute


@st.composite
def attacked(draw):
    """True keys, and the released rows: some cells are gaps, or sets of candidates that hold the truth."""
    keys, values = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    truth = draw(st.lists(st.tuples(*[st.integers(0, values - 1)] * keys), min_size=1, max_size=6))
    sets = draw(st.booleans())

    def cell(value):
        others = draw(st.sets(st.integers(0, values - 1), max_size=2)) if sets else set()
        return draw(st.sampled_from([value, value, None, sorted({value, *others})] if sets else [value, value, None]))

    return truth, [tuple(cell(value) for value in row) for row in truth]


def read(rows):
    return microdata.Keys({f"key {place}": list(column) for place, column in enumerate(zip(*rows, strict=True))}, [
        f"key {place}" for place in range(len(rows[0]))
    ])  # fmt: skip


def informed(rows, **others):
    keys = read(rows)
    return microdata.risk_table(keys, [keys.columns], **others).quasi_identifiers[0].matches.informed


def consistent(truth, row):
    return all(a is None or b in a for a, b in zip(row, truth, strict=True))


def attack(truth, rows, weight):
    """How often the record of a person is drawn, on average: with a chance in proportion to weight(keys, place)."""
    shown = brute.declared(rows)
    right = []
    for target, keys in enumerate(truth):
        chances = np.array(
            [weight(shown, place) if consistent(keys, row) else 0.0 for place, row in enumerate(shown)], float
        )
        right.append(chances[target] / chances.sum() if chances[target] else 0.0)
    return float(np.mean(right))


def exact(shown, place):
    return float(brute.known(shown[place]))


def fewest_gaps(shown, place):
    """So steep that a record with fewer gaps is always preferred."""
    return 1e-12 ** sum(cell is None or len(cell) > 1 for cell in shown[place])


def weigher(rows):
    sizes = brute.matches(rows, "intersect")
    return lambda _, place: 1 / sizes[place]


@given(attacked())
def test_simulated_attacks_lie_between_what_is_printed(file):
    truth, rows = file
    found = informed(rows)
    by_exact, by_weight = attack(truth, rows, exact), attack(truth, rows, weigher(rows))
    by_gaps = attack(truth, rows, fewest_gaps)
    assert found.exact == pytest.approx(by_exact)
    assert found.weighed <= by_weight + 1e-9
    assert found.least <= max(by_exact, by_weight) + 1e-9
    assert max(by_exact, by_weight, by_gaps) <= found.most + 1e-9


@given(attacked())
def test_not_even_the_keys_of_everybody_beat_the_upper_number(file):
    """All ways to assign the records to the people are equally likely: how often is each record the right one?"""
    truth, rows = file
    shown = brute.declared(rows)
    n = len(rows)
    fits = np.array([[consistent(keys, row) for row in shown] for keys in truth])
    ways = [way for way in permutations(range(n)) if all(fits[person, record] for person, record in enumerate(way))]
    times = np.zeros((n, n))
    for way in ways:
        times[range(n), way] += 1
    picked = times >= times.max(axis=1, keepdims=True) - 1e-9  # the likeliest record, at random among equals
    success = np.diag(picked / picked.sum(axis=1, keepdims=True)).mean()
    assert success <= informed(rows).most + 1e-9


@given(attacked())
def test_the_chances_are_read_off_their_definition(file):
    _, rows = file
    sizes = brute.matches(rows, "intersect")
    around = brute.matches(rows, "intersect", weights=[1 / size for size in sizes])
    found = informed(rows)
    assert found.weighed == pytest.approx(np.mean([1 / m / s for m, s in zip(sizes, around, strict=True)]))
    assert found.exact == pytest.approx(sum(1 / k for k in brute.anonymity(rows) if k) / len(rows))
    assert found.most == pytest.approx(len(set(map(repr, brute.declared(rows)))) / len(rows))


@given(attacked(), st.sampled_from(["worst", "first", "intersect"]))
def test_the_rule_of_the_counts_changes_nothing(file, rule):
    assert informed(file[1], rule=rule) == informed(file[1])


def test_without_gaps_all_numbers_are_the_mean_of_one_over_k():
    table = {"a": [1, 1, 2, 3, 3, 3]}
    part = microdata.risk_table(table, [["a"]]).quasi_identifiers[0].matches
    assert part.informed.least == part.informed.most == pytest.approx(part.sizes.inverse) == pytest.approx(0.5)


def test_a_gap_that_is_an_answer_counts_as_one_and_the_dropped_are_not_in_the_file():
    table = {"a": [1, 1, 2, None]}
    own, left = microdata.risk_table(table, [["a"]], missing=["category", "drop"]).quasi_identifiers
    assert (own.matches.informed.least, own.matches.informed.most) == (0.75, 0.75)
    assert left.matches.informed.most == pytest.approx(2 / 3)
    nobody = microdata.risk_table({"a": [None, None]}, [["a"]], missing="drop").quasi_identifiers[0]
    assert np.isnan(nobody.matches.informed.least)
    assert nobody.matches.informed.most != nobody.matches.informed.most


def test_the_table_names_the_mean_for_what_it_is():
    told = str(microdata.risk_table({"a": [1, 2, 2, None]}, [["a"]], population=100))
    assert "if all matches were" in told
    assert "0.5000 to 0.7500" in told
    assert "1/m: how often" not in told


def test_an_acquaintance_succeeds_as_often_as_an_informed_intruder_at_least():
    row = microdata.risk_table({"a": [1, 2, 2, None]}, [["a"]], population=100).quasi_identifiers[0]
    assert microdata.identification(row, "acquaintance", attempt=1).success == row.matches.informed.least
