"""Designs of many categories that are stored as one pattern: the same numbers as their table, without the table."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, designs, privacy
from naysay.design import ByteSource, Pattern, Table
from naysay.design.channels import LEAST, MANY, compact
from naysay.errors import DesignError
from naysay.responses import Labels

LABELS = tuple(f"category {place}" for place in range(300))


def table_of(design):
    """The same design, written out."""
    return Table(categories=design.categories, space=design.space, weights=design.weights)


@st.composite
def patterns(draw, largest=2**20):
    t = draw(st.integers(2, 12))
    own, other = draw(st.tuples(st.integers(0, largest), st.integers(0, largest)).filter(any))
    return Pattern.of(tuple(f"c{place}" for place in range(t)), own, other)


@given(patterns(), st.integers(0, 2**32), st.data())
def test_numbers_are_those_of_the_table(design, seed, data):
    table = table_of(design)
    np.testing.assert_array_equal(design.matrix, table.matrix)
    assert design.denominator == table.denominator
    codes = np.random.default_rng(seed).integers(0, len(design.categories), (20, 1))
    np.testing.assert_array_equal(design.rows(codes), table.rows(codes))
    np.testing.assert_array_equal(design.expected_statistic, table.expected_statistic)
    np.testing.assert_array_equal(design.structure.impossible(codes), table.structure.impossible(codes))
    assert privacy.epsilon(design) == pytest.approx(privacy.epsilon(table), rel=1e-13)
    assert privacy.still_possible(design) == privacy.still_possible(table)
    odds = privacy.odds(table)
    assert privacy.odds(design).max() == pytest.approx(odds.max(), rel=1e-12)
    weights = data.draw(
        st.lists(st.integers(1, 1000), min_size=len(design.categories), max_size=len(design.categories))
    )
    for prior in (None, np.array(weights) / sum(weights)):
        assert privacy.information(design, prior) == pytest.approx(privacy.information(table, prior), abs=1e-12)
        assert privacy.vulnerability(design, prior) == pytest.approx(privacy.vulnerability(table, prior), rel=1e-13)


@given(patterns(largest=2**49), st.integers(0, 2**32))
def test_the_same_bytes_give_the_same_answers(design, seed):
    truth = np.random.default_rng(seed).integers(0, len(design.categories), 50)
    drawn = [each.draw(truth, ByteSource(np.random.default_rng(seed).bytes)) for each in (design, table_of(design))]
    np.testing.assert_array_equal(*drawn)


@given(patterns(largest=2**49))
def test_json_round_trip(design):
    again = Design.from_json(design.to_json())
    assert again == design
    assert (again.own, again.other) == (design.own, design.other)
    assert again.to_json() == design.to_json()


@pytest.mark.parametrize(
    ("make", "own", "other"),
    [
        (designs.negative, 0, 1),
        (designs.uniform, 1, 1),
        (designs.direct, 1, 0),
        (lambda labels: designs.custom(np.eye(len(labels)).tolist(), categories=labels), 1, 0),
    ],
)
def test_families_are_patterns_from_many_categories_on(make, own, other):
    design = make(LABELS)
    assert (design.kind, design.own, design.other) == ("pattern", own, other)
    assert make(LABELS[:LEAST]).kind == "pattern"
    assert make(LABELS[: LEAST - 1]).kind == "table"


def test_few_and_many_categories_are_told_and_drawn_alike():
    few, many = designs.k_ary(LABELS[:MANY], epsilon=2), designs.k_ary(LABELS[: MANY + 1], epsilon=2)
    assert (few.kind, many.kind) == ("pattern", "pattern")
    assert few.protocol.source == many.protocol.source
    weights = few.weights
    assert compact(table_of(many)) == many
    assert weights[0, 0] / weights[0, 1] == pytest.approx(many.own / many.other, rel=1e-12)
    assert many.protocol.instruction.startswith("Let the device draw lots")


def test_a_longer_table_is_read_as_a_pattern_and_any_other_stays_a_table():
    design = designs.k_ary(LABELS, epsilon=3)
    written = json.loads(table_of(design).to_json())
    assert Design.from_json(written) == design
    written["design"]["columns"][5][6] += 1
    written["design"]["columns"][5][7] -= 1
    assert Design.from_json(written).kind == "table"
    shifted = np.roll(design.weights, 1, axis=0)
    assert compact(Table(categories=LABELS, space=design.space, weights=shifted)).kind == "table"


@pytest.mark.parametrize(
    ("own", "other", "message"),
    [
        (-1, 1, "must not be negative"),
        (0, 0, "sum to 1 to 2"),
        (2**53, 1, "sum to 1 to 2"),
        (0.5, 1, "whole numbers"),
        (True, 1, "whole numbers"),
    ],
)
def test_weights_that_make_no_design_are_refused(own, other, message):
    with pytest.raises(DesignError, match=message):
        Pattern(categories=("a", "b"), space=Labels(("a", "b")), own=own, other=other)


def test_responses_must_be_the_categories():
    with pytest.raises(DesignError, match="reports its own categories"):
        Pattern(categories=("a", "b"), space=Labels(("b", "a")), own=2, other=1)


@pytest.mark.parametrize("make", [designs.negative, lambda labels: designs.k_ary(labels, epsilon=6)])
def test_ten_thousand_categories_cost_their_labels(make):
    labels = tuple(f"c{place}" for place in range(10_000))
    rng = np.random.default_rng(1)
    tracemalloc.start()
    design = make(labels)
    text = design.to_json()
    truth = np.array(labels)[rng.integers(0, len(labels), 100_000)]
    tally = design.tally(design.randomize(truth, rng=rng))
    told = (privacy.epsilon(design), privacy.still_possible(design), privacy.information(design))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tally.n == 100_000
    assert told[0] > 5
    assert len(text) < 15 * len(labels)
    assert Design.from_json(text) == design
    assert peak < 10_000**2  # bytes: an eighth of a table of t times t


def test_a_written_pattern_is_read_with_its_weights_and_held_to_its_denominator():
    """In lowest terms it would draw other answers from the same bytes than a client that reads the same JSON."""
    node = {"kind": "pattern", "categories": ["a", "b", "c", "d"], "own": 2, "other": 4}
    document = {"naysay": "design", "version": 1, "design": node}
    assert {"own": 2, "other": 4}.items() <= Design.from_json(document).form().items()
    with pytest.raises(DesignError, match="must sum to 1 to 2"):
        Design.from_json(document | {"design": node | {"own": 0, "other": 2**53 + 2}})
