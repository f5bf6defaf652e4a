import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, designs, microdata

from . import brute

LABELS = ("low", "middle", "high", "top")


def read(cells, form=None, **more):
    return microdata.Keys({"key": cells, **more}, ["key"], cells={} if form is None else {"key": form})


def test_joined_texts_are_split_only_where_declared():
    texts = ["a;b", " b ", "", None, "b;a", "a;a"]
    assert read(texts, microdata.Joined()).candidates("key") == (("a", "b"), ("b",), (), (), ("b", "a"), ("a",))
    assert read(["a;b", "b"]).candidates("key") == (("a;b",), ("b",))
    assert read(["a|b"], microdata.Joined("|")).candidates("key") == (("a", "b"),)
    assert read([None, None], microdata.Joined()).candidates("key") == ((), ())


def test_joined_texts_must_be_texts():
    with pytest.raises(DataError, match="must be texts; column 'key' holds Int64"):
        read([1, 2], microdata.Joined())


@pytest.mark.parametrize("form", [pl.DataFrame, dict], ids=["polars", "mapping"])
@pytest.mark.parametrize("bad", [[], [1, None]])
def test_empty_sets_are_refused(form, bad):
    with pytest.raises(DataError, match=r"must not be empty.*key 'key' does in row 3") as caught:
        microdata.Keys(form({"key": [[1, 2], None, bad]}), ["key"])
    assert caught.value.row == 2


def test_an_empty_part_of_a_text_is_refused():
    with pytest.raises(DataError, match=r"must not be empty.*in row 2"):
        read(["a", "a;;b"], microdata.Joined())


@pytest.mark.parametrize("cells", [[{2, 1}], [frozenset((1, 2))], [(1, 2)], [np.array([1, 2])], [pl.Series([1, 2])]])
def test_collections_of_all_kinds_are_sets(cells):
    assert read(cells).candidates("key") == ((1, 2),)


def test_either_of_two_columns():
    keys = microdata.Keys(
        {"one": [3, 4, None, None, 5], "two": [4, None, 6, None, 5]},
        ["month"],
        cells={"month": microdata.Either("one", "two")},
    )
    assert keys.candidates("month") == ((3, 4), (4,), (6,), (), (5,))
    assert microdata.anonymity(keys).tolist() == [None, 1, 1, None, 1]


def test_bounds_of_a_range():
    keys = read([None] * 3, microdata.Between("low", "high"), low=[30, None, 33], high=[32, None, 33])
    assert keys.candidates("key") == ((30, 31, 32), (), (33,))


def test_bounds_written_as_texts():
    keys = read([None] * 3, microdata.Between("low", "high"), low=["9", "", "11.0"], high=["10", "", "11"])
    assert keys.candidates("key") == ((9, 10), (), (11,))


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([1, 5], [2, 4], "row 2: the low bound lies above"),
        ([1, 5], [2, None], "row 2: one bound is missing"),
        ([0], [10**6], "row 1: it spans more than 100,000 values"),
        (["a"], ["b"], "columns 'low' and 'high', row 1: the low bound must be a whole number"),
    ],
)
def test_bounds_that_are_none(low, high, message):
    with pytest.raises(DataError, match=message):
        read([None] * len(low), microdata.Between("low", "high"), low=low, high=high)


def test_chances_beside_the_candidates():
    keys = read([[3, 4], [3], None, [4, 3]], microdata.Chances("p"), p=[[0.75, 0.25], [1.0], None, [0.5, 0.5]])
    assert keys.candidates("key") == ((3, 4), (3,), (), (4, 3))
    assert microdata.expected_matches(keys).tolist() == [3.25, 3.25, 4.0, 3.0]


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        ([[0.5, 0.4]], r"chances of 'key' in row 1 must sum to one"),
        ([[1.5, -0.5]], r"must not be negative"),
        ([[1.0]], r"one probability for each candidate of 'key'; row 1 has 2"),
        ([None], r"one probability for each candidate of 'key'; row 1 has 2"),
    ],
)
def test_chances_that_are_none(chances, message):
    with pytest.raises(DataError, match=message):
        read([[3, 4]], microdata.Chances("p"), p=chances)


def test_a_candidate_without_a_chance_is_none():
    assert read([{3: 1.0, 4: 0.0}]).candidates("key") == ((3,),)


def test_a_negative_answer_is_the_set_of_categories_not_discarded():
    keys = read(["low;top", "middle;high", None], microdata.Privatized(designs.negative(LABELS, discards=2)))
    assert keys.candidates("key") == (("middle", "high"), ("low", "top"), ())
    assert microdata.matches(keys, rule="intersect").tolist() == [2, 2, 3]


def test_a_direct_answer_is_its_value_and_a_lie_leaves_all():
    assert read(["yes", "no"], microdata.Privatized(designs.direct(("yes", "no")))).candidates("key") == (
        ("yes",),
        ("no",),
    )
    told = read(["yes", "no"], microdata.Privatized(designs.warner(p=0.7), prior=(0.5, 0.5)))
    assert told.candidates("key") == (("yes", "no"), ("yes", "no"))
    assert np.allclose(microdata.expected_matches(told), 1 + 2 * 0.7 * 0.3)


def test_answers_at_levels():
    choice = designs.negative_levels(LABELS)
    table = {"said": ["low", "low;top", "low;middle;top", None], "k": [1, 2, 3, 1]}
    form = microdata.Privatized(choice, level="k")
    keys = microdata.Keys(table, ["said"], cells={"said": form})
    assert keys.candidates("said") == (("middle", "high", "top"), ("middle", "high"), ("high",), ())


def test_answers_that_the_design_cannot_give():
    with pytest.raises(
        DataError, match="column 'key', row 2, holds an answer that the design cannot have given"
    ) as caught:
        read(["low", "none", "low"], microdata.Privatized(designs.negative(LABELS)))
    assert caught.value.row == 1
    with pytest.raises(DataError, match="prior must have 4 probabilities"):
        read(["low"], microdata.Privatized(designs.negative(LABELS), prior=(1.0,)))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["low;middle", "middle;top", "high;top", "low;high", None]), min_size=1, max_size=9))
def test_a_file_of_negative_answers_is_assessed_by_the_same_code(said):
    keys = read(said, microdata.Privatized(designs.negative(LABELS, discards=2)))
    rows = [(None if cell is None else [c for c in LABELS if c not in cell.split(";")],) for cell in said]
    for rule in ("worst", "intersect", "first"):
        assert microdata.matches(keys, rule=rule).tolist() == brute.matches(rows, rule)
