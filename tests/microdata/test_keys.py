import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, StatisticalWarning, microdata
from naysay.microdata.keys import cells
from naysay.microdata.keys.cells import grouped

from .tables import RULES, columns, names, tables

PEOPLE = {
    "age": [40, 36, None, 40, 23, 23],
    "gender": ["M", "F", "M", None, "M", "M"],
    "weight": [1.0, 2.0, 1.0, 1.5, 1.0, 3.0],
}


def test_keys_say_what_they_hold():
    keys = microdata.Keys(PEOPLE, ["age", "gender"])
    assert (keys.n, keys.columns, keys.distinct) == (6, ("age", "gender"), 5)
    assert keys.tuples.count.tolist() == [1, 2, 1, 1, 1]
    assert keys.candidates("age") == ((40,), (36,), (), (40,), (23,), (23,))
    assert repr(keys) == "<Keys: age, gender; 6 respondents, 5 distinct>"
    with pytest.raises(ValueError, match="read-only"):
        keys.tuples.count[0] = 7


@settings(max_examples=150)
@given(rows=tables(), data=st.data())
def test_some_of_the_keys_are_those_keys_read_alone(rows, data):
    every = microdata.Keys(columns(rows), names(rows), weights=np.arange(1.0, len(rows) + 1))
    some = data.draw(st.lists(st.sampled_from(names(rows)), min_size=1, unique=True))
    part, alone = every.only(some), microdata.Keys(columns(rows), some, weights=np.arange(1.0, len(rows) + 1))
    assert (part.n, part.columns, part.distinct) == (alone.n, alone.columns, alone.distinct)
    assert (
        microdata.anonymity(part, weights="weights").tolist() == microdata.anonymity(alone, weights="weights").tolist()
    )
    for rule in RULES:
        assert microdata.matches(part, rule=rule).tolist() == microdata.matches(alone, rule=rule).tolist()


def test_reading_tells_its_progress():
    told = []
    microdata.Keys(PEOPLE, ["age", "gender"], progress=told.append)
    assert told == [0.5, 1.0]


def test_some_of_the_keys_forget_the_policies_of_the_others():
    keys = microdata.Keys({"a": [1, None], "b": [1, 1]}, ["a", "b"], missing={"a": "drop"})
    assert microdata.matches(keys).tolist() == [1, None]
    assert microdata.matches(keys.only(["b"])).tolist() == [2, 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=30))
def test_tuples_are_grouped_however_wide_their_values(rows):
    some = [np.array(column) for column in zip(*rows, strict=True)]
    first, inverse = grouped(some, [4, 2**40 + 1, 2**40 + 1])
    distinct = sorted(set(rows))
    assert [rows[row] for row in first] == distinct
    assert [distinct[place] for place in inverse] == rows


def test_weights_by_name_and_by_number():
    keys = microdata.Keys(PEOPLE, ["gender"], weights="weight")
    assert keys.weight(None) is None
    named = microdata.anonymity(keys, weights="weight")
    assert named.tolist() == [6.0, 2.0, 6.0, None, 6.0, 6.0]
    assert named.tolist() == microdata.anonymity(keys, weights=PEOPLE["weight"]).tolist()
    assert microdata.matches(keys, weights="weight").tolist() == [7.5, 3.5, 7.5, 9.5, 7.5, 7.5]
    with pytest.raises(DataError, match=r"hold no weights 'w'; name them in Keys\(..., weights='w'\)"):
        microdata.matches(keys, weights="w")


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("inf")])
def test_weights_must_be_positive(bad):
    table = PEOPLE | {"weight": [1.0, bad, 1.0, 1.0, 1.0, 1.0]}
    with pytest.raises(DataError, match=r"weights must be (positive|finite)"):
        microdata.Keys(table, ["age"], weights="weight")


def test_a_key_that_is_not_in_the_file():
    with pytest.raises(DataError, match=r"no column 'gendr'.*did you mean 'gender'\?"):
        microdata.Keys(PEOPLE, ["age", "gendr"])
    with pytest.raises(DataError, match=r"no key 'weigth'"):
        microdata.Keys(PEOPLE, ["age"]).only(["weigth"])
    with pytest.raises(DataError, match=r"no column 'wt'"):
        microdata.Keys(PEOPLE, ["age"], weights="wt")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("age", "the single text 'age'"),
        ([], "at least one key"),
        (["age", "age"], "'age' is named twice"),
        ([3], "named by their columns; got 3"),
    ],
)
def test_keys_are_a_list_of_different_columns(named, message):
    with pytest.raises(DataError, match=message):
        microdata.Keys(PEOPLE, named)


def test_policies_are_checked():
    with pytest.raises(DataError, match="'wildcard', 'category', 'drop', 'impute'; got 'ignore'"):
        microdata.Keys(PEOPLE, ["age"], missing={"age": "ignore"})
    with pytest.raises(DataError, match="no key 'aeg'"):
        microdata.Keys(PEOPLE, ["age"], missing={"aeg": "drop"})
    with pytest.raises(DataError, match="must be declared as Joined"):
        microdata.Keys(PEOPLE, ["age"], cells={"age": ";"})


def test_tables_that_are_none():
    with pytest.raises(DataError, match="the table has no rows"):
        microdata.Keys({"age": []}, ["age"])
    with pytest.raises(DataError, match="equally long; got age: 2, sex: 1"):
        microdata.Keys({"age": [1, 2], "sex": [1]}, ["age"])
    with pytest.raises(DataError, match="a dataframe, or a mapping of columns, is needed; got list"):
        microdata.Keys([1, 2], ["age"])
    with pytest.raises(DataError, match=r"an array of shape \(2, 2\)"):
        microdata.Keys({"age": np.ones((2, 2))}, ["age"])


def test_reservations_travel_with_the_keys():
    table = {"same": [1, 1, 1], "name": ["a", "b", None], "gone": [None] * 3, "fine": [1, 1, 2]}
    keys = microdata.Keys(table, list(table))
    assert [type(warning) for warning in keys.warnings] == [StatisticalWarning] * 3
    same, name, gone = map(str, keys.warnings)
    assert "'same' is the same for everybody" in same
    assert "'name' differs for all who have it" in name
    assert "'gone' is missing for everybody" in gone
    assert microdata.matches(keys).tolist() == [1, 1, 1]
    assert keys.only(["fine"]).warnings == ()


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", "mapping"])
def test_whole_floats_are_integers_and_nan_is_missing(frame):
    keys = microdata.Keys(frame({"age": [40.0, float("nan"), 23.0]}), ["age"])
    assert keys.candidates("age") == ((40,), (), (23,))


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", "mapping"])
@pytest.mark.parametrize("bad", [1.5, float("inf")])
def test_other_floats_are_refused_with_a_word_on_bins(frame, bad):
    with pytest.raises(DataError, match="'income' holds a number in row 2 that is not whole: bin it first") as caught:
        microdata.Keys(frame({"income": [1.0, bad]}), ["income"])
    assert (caught.value.row, caught.value.column) == (1, "income")


@pytest.mark.parametrize("cells", [[40, "40"], ["a", 1.0], [True, 1], [[1, "x"], None], [[1], "x"]], ids=str)
def test_values_of_one_key_are_of_one_kind(cells):
    with pytest.raises(DataError, match="must be of one kind; key 'age' holds a"):
        microdata.Keys({"age": cells}, ["age"])


def test_things_that_are_no_values():
    with pytest.raises(DataError, match="key 'age' holds a complex in row 1"):
        microdata.Keys({"age": [1j]}, ["age"])


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([3, None, 5], dtype=pl.Int8),
        pl.Series([2**63 + 1, None, 2**63 + 5], dtype=pl.UInt64),
        pl.Series([-(10**12), None, 10**12]),
        pl.Series(["b", None, "c"]),
        pl.Series(["b", "", "c"]),
        pl.Series(["b", None, "c"], dtype=pl.Categorical),
        pl.Series(["b", None, "c"], dtype=pl.Enum(["c", "b"])),
        pl.Series([True, None, False]),
        pl.Series(["2026-01-02", None, "2026-01-03"]).str.to_date(),
        pl.Series(["2.00", None, "3.00"]).cast(pl.Decimal(10, 2)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_every_type_of_column_can_be_a_key(series):
    keys = microdata.Keys(pl.DataFrame({"key": series}), ["key"])
    assert microdata.matches(keys).tolist() == [2, 3, 2]
    assert microdata.anonymity(keys).tolist() == [1, None, 1]
    assert keys.candidates("key")[1] == ()
    assert microdata.matches(microdata.Keys({"key": series.to_list()}, ["key"])).tolist() == [2, 3, 2] or (
        series.dtype == pl.UInt64
    )


def test_a_column_of_nothing():
    keys = microdata.Keys(pl.DataFrame({"key": [None, None], "other": [1, 2]}), ["key", "other"])
    assert microdata.matches(keys).tolist() == [1, 1]


def test_pandas_keeps_scalars_beside_lists():
    frame = pd.DataFrame({"month": [[3, 4], 4, None, [3]]})
    assert microdata.Keys(frame, ["month"]).candidates("month") == ((3, 4), (4,), (), (3,))


def test_large_files_are_ranked_by_bits_as_by_sorting(monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(7)
    own, sizes = [rng.integers(0, size, 60_000) for size in (70, 40, 90)], [70, 40, 90]
    plain = cells.tallied(own, sizes)
    monkeypatch.setattr(cells, "_COMPILED", 1)
    monkeypatch.setattr(cells, "ranked", None)  # the other way, which must not be taken
    for ours, before in zip(cells.tallied(own, sizes), plain, strict=True):
        assert np.array_equal(ours, before)


def test_all_keys_are_the_keys_themselves():
    keys = microdata.Keys(PEOPLE, ["age", "gender"])
    assert keys.only(["age", "gender"]) is keys
    assert keys.only(["gender", "age"]).columns == ("gender", "age")
