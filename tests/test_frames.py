"""A column of answers gives one tally, whatever engine holds it."""

import math
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import designs
from naysay.errors import DataError
from naysay.sampling import Sampling

ABC, ABCD = tuple("abc"), tuple("abcd")
ONE = designs.negative(ABC)
SETS = designs.negative(ABCD, discards=2)
CHOICE = designs.negative_levels(ABCD)
BOTH = designs.two_coins() * ONE


def duckdb_relation(table):
    """A function of ours: Hypothesis keeps parameters to the end, and with one of duckdb the whole library."""
    return duckdb.from_arrow(table)


ENGINES = {
    "mapping": lambda table: table.to_pydict(),
    "pandas": lambda table: table.to_pandas(),
    "pandas nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas on arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": duckdb_relation,
}
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES.keys())

texts = pa.string()
rows = st.lists(
    st.fixed_dictionaries(
        {
            "one": st.sampled_from([*ABC, None]),
            "two": st.sampled_from(["yes", "no", None]),
            "set": st.sampled_from([None, "a;b", "a;c", "a;d", "b;c", "b;d", "c;d"]),
            "weight": st.integers(1, 64).map(lambda whole: whole / 8),
            "people": st.integers(1, 4),
            "group": st.sampled_from(["x", "y", None]),
            "wave": st.integers(1, 2),
            "level": st.sampled_from([1, 2, 3]),
        }
    ),
    min_size=1,
    max_size=25,
).filter(lambda rows: all(any(row[name] for row in rows) for name in ("one", "two", "set")))


def table_of(rows):
    """The rows as an arrow table with sets as text, lists and booleans, and answers of the level chosen."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kinds = {"weight": pa.float64(), "people": pa.int64(), "wave": pa.int64(), "level": pa.int64()}
    arrays = {name: pa.array(values, kinds.get(name, texts)) for name, values in columns.items()}
    members = [None if each is None else each.split(";") for each in columns["set"]]
    arrays["list"] = pa.array(members, pa.list_(texts))
    for label in ABCD:
        arrays[label] = pa.array([None if each is None else label in each for each in members], pa.bool_())
    arrays["chosen"] = pa.array(["".join("a;b;c"[: 2 * row["level"] - 1]) for row in rows])
    return pa.table(arrays), columns | {"chosen": arrays["chosen"].to_pylist()}


def same(one, other):
    assert (one.n, one.missing, one.weighted) == (other.n, other.missing, other.weighted)
    for mine, theirs in zip(one.parts, other.parts, strict=True):
        assert (mine.level, mine.missing, mine.missing_weight) == (theirs.level, theirs.missing, theirs.missing_weight)
        for name in ("codes", "count", "weight", "weight_squared"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    return True


@every_engine
@settings(max_examples=12)
@given(rows=rows)
def test_every_engine_gives_the_tally_of_the_list(engine, rows):
    table, plain = table_of(rows)
    frame = engine(table)
    assert same(ONE.tally(frame, "one"), ONE.tally(plain["one"]))
    expected = SETS.tally(plain["set"])
    assert same(SETS.tally(frame, "set"), expected)
    assert same(SETS.tally(frame, "list"), expected)
    assert same(SETS.tally(frame, ABCD), expected)
    assert same(SETS.tally(frame, ["c", "a", "d", "b"]), expected)
    weighing = {"weights": plain["weight"], "count": plain["people"]}
    assert same(SETS.tally(frame, "set", weights="weight", count="people"), SETS.tally(plain["set"], **weighing))
    assert same(SETS.tally(frame, "list", weights="weight"), SETS.tally(plain["set"], weights=plain["weight"]))
    assert same(CHOICE.tally(frame, "chosen", level="level"), CHOICE.tally(plain["chosen"], level=plain["level"]))
    assert same(BOTH.tally(frame, ("two", "one")), BOTH.tally((plain["two"], plain["one"])))


@every_engine
@settings(max_examples=8)
@given(rows=rows)
def test_groups_of_every_engine_are_tallied_apart(engine, rows):
    for row in rows:
        row["one"] = row["one"] or "a"
    table, plain = table_of(rows)
    frame = engine(table)
    expected = ONE.tally(plain["one"], by=plain["group"], weights=plain["weight"])
    tallies = ONE.tally(frame, "one", by="group", weights="weight")
    assert list(tallies) == list(expected)
    assert all(same(tallies[group], expected[group]) for group in expected)
    crossed = ONE.tally(frame, "one", by=["group", "wave"])
    assert crossed.keys() == {(row["group"], row["wave"]) for row in rows}
    assert same(sum(crossed.values()), ONE.tally(plain["one"]))


@every_engine
@settings(max_examples=6)
@given(rows=rows)
def test_samples_of_every_engine_are_those_of_arrays(engine, rows):
    for row in rows:
        row["one"], row["group"] = row["one"] or "a", row["group"] or "x"
    table, plain = table_of(rows)
    frame = engine(table)
    scores = np.array([[1.0], [-0.5], [0.25]])
    for columns in (
        {"weights": "weight"},
        {"weights": "weight", "strata": "group", "lonely": "center"},
        {"weights": "weight", "strata": "wave", "clusters": "level", "nest": True, "lonely": "certainty"},
        {"weights": "weight", "strata": "wave", "fpc": "level", "lonely": "center"},
    ):
        arrays = {role: plain.get(name, name) for role, name in columns.items()}
        if "fpc" in columns:
            plain["level"] = [50] * len(rows)
            arrays["fpc"] = plain["level"]
            frame = engine(table.set_column(table.column_names.index("level"), "level", pa.array(plain["level"])))
        told, expected = (
            ONE.tally(*said, sampling=Sampling(**given))
            for said, given in (((frame, "one"), columns), ((plain["one"],), arrays))
        )
        here = scores[: len(told.sampled.weight)]
        assert told.sampled.weight == pytest.approx(expected.sampled.weight)
        assert told.sampled.degrees_of_freedom == expected.sampled.degrees_of_freedom
        if len(rows) > 1 and (len(set(plain["level"])) > 1 or "clusters" not in columns):
            assert told.sampled.covariance(here) == pytest.approx(expected.sampled.covariance(here), abs=1e-9)


@every_engine
def test_replicate_weights_of_every_engine_are_looked_at(engine):
    table = pa.table({"one": ["a", "b"], "w": [1.0, 2.0], "r1": [2.0, 0.0], "r2": [0.0, 2.0], "r3": [0.0, -2.0]})
    drawn = {"weights": "w", "kind": "bootstrap"}
    tally = ONE.tally(engine(table), "one", sampling=Sampling(**drawn, replicates=["r1", "r2"]))
    assert sorted(map(tuple, tally.sampled.totals)) == [(0, 2), (2, 0)]
    with pytest.raises(DataError, match="replicate weights must be finite and not negative; column 'r3' holds -2"):
        ONE.tally(engine(table), "one", sampling=Sampling(**drawn, replicates=["r1", "r3"]))


@every_engine
def test_the_question_is_the_name_of_the_column(engine):
    table, _ = table_of(
        [{"one": "a", "two": "no", "set": "a;b", "weight": 1, "people": 1, "group": "x", "wave": 1, "level": 1}]
    )
    assert ONE.tally(engine(table), "one").question == "one"
    assert BOTH.tally(engine(table), ("two", "one")).question == "two × one"
    assert SETS.tally(engine(table), ABCD).question is None


CODED = {
    "pandas categories": pd.DataFrame({"q": pd.Categorical(["a", "b", None, "a"], categories=["z", "b", "a", "c"])}),
    "polars categories": pl.DataFrame({"q": pl.Series(["a", "b", None, "a"], dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({"q": pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["z", "b", "a", "c"]))}),
    "lazy enum": pl.LazyFrame({"q": pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["z", "b", "a", "c"]))}),
    "arrow dictionary": pa.table({"q": pa.array(["a", "b", None, "a"]).dictionary_encode()}),
    "duckdb enum": lambda: duckdb.sql("SELECT unnest(['a', 'b', NULL, 'a'])::ENUM('z', 'b', 'a') AS q"),
    "pandas objects": pd.DataFrame({"q": pd.Series(["a", "b", None, "a"], dtype=object)}),
    "pandas NaN": pd.DataFrame({"q": pd.Series(["a", "b", math.nan, "a"], dtype=object)}),
    "pandas NA": pd.DataFrame({"q": pd.Series(["a", "b", pd.NA, "a"], dtype="string")}),
    "empty text": pl.DataFrame({"q": ["a", "b", "", "a"]}),
    "empty text in duckdb": lambda: duckdb.sql("SELECT unnest(['a', 'b', '', 'a']) AS q"),
    "lists of one": pl.DataFrame({"q": [["a"], ["b"], None, ["a"]]}),
}


@pytest.mark.parametrize("frame", CODED.values(), ids=CODED.keys())
def test_coded_columns_and_every_kind_of_gap(frame):
    frame = frame() if callable(frame) else frame
    assert same(ONE.tally(frame, "q"), ONE.tally(["a", "b", None, "a"]))


NUMBERS = {
    "pandas floats": pd.DataFrame({"q": [1, 2, math.nan, 1]}),
    "pandas nullable": pd.DataFrame({"q": pd.array([1, 2, None, 1], dtype="Int64")}),
    "polars": pl.DataFrame({"q": [1, 2, None, 1]}),
    "polars floats": pl.DataFrame({"q": [1.0, 2.0, math.nan, 1.0]}),
    "arrow": pa.table({"q": [1, 2, None, 1]}),
    "duckdb": lambda: duckdb.sql("SELECT unnest([1, 2, NULL, 1]) AS q"),
    "duckdb decimals": lambda: duckdb.sql("SELECT unnest([1.0, 2.0, NULL, 1.0])::DECIMAL(4, 1) AS q"),
    "texts": pl.DataFrame({"q": ["1", "2", None, "1"]}),
}


@pytest.mark.parametrize("frame", NUMBERS.values(), ids=NUMBERS.keys())
@pytest.mark.parametrize("labels", [(1, 2, 3), ("1", "2", "3")])
def test_columns_of_numbers(frame, labels):
    frame = frame() if callable(frame) else frame
    design = designs.negative(labels)
    assert same(design.tally(frame, "q"), design.tally([labels[0], labels[1], None, labels[0]]))


SET_COLUMNS = {
    "sets in pandas": pd.DataFrame({"q": [{"a", "b"}, {"c", "d"}, None]}),
    "lists in pandas": pd.DataFrame({"q": [["a", "b"], ["d", "c"], None]}),
    "arrays in pandas": pd.DataFrame({"q": [np.array(["a", "b"]), np.array(["d", "c"]), None]}),
    "sets in a mapping": {"q": [{"a", "b"}, {"c", "d"}, None]},
    "lists in a mapping": {"q": [["a", "b"], ["d", "c"], None]},
    "arrays in polars": pl.DataFrame({"q": pl.Series([["a", "b"], ["d", "c"], None], dtype=pl.Array(pl.String, 2))}),
    "categories in polars": pl.DataFrame(
        {"q": pl.Series([["a", "b"], ["d", "c"], None], dtype=pl.List(pl.Enum(ABCD)))}
    ),
    "fixed lists in arrow": pa.table({"q": pa.array([["a", "b"], ["d", "c"], None], pa.list_(pa.string(), 2))}),
    "large lists in arrow": pa.table({"q": pa.array([["a", "b"], ["d", "c"], None], pa.large_list(pa.string()))}),
    "lists in duckdb": lambda: duckdb.sql("SELECT unnest([['a', 'b'], ['d', 'c'], NULL]) AS q"),
}


@pytest.mark.parametrize("frame", SET_COLUMNS.values(), ids=SET_COLUMNS.keys())
def test_columns_of_sets(frame):
    frame = frame() if callable(frame) else frame
    assert same(SETS.tally(frame, "q"), SETS.tally(["a;b", "c;d", None]))


def test_columns_of_sets_of_numbers():
    design = designs.negative(range(4), discards=2)
    frame = pl.DataFrame({"q": [[0, 1], [3, 2], None]})
    for each in (frame, frame.lazy(), frame.to_arrow(), frame.to_pandas(), duckdb.from_arrow(frame.to_arrow())):
        assert same(design.tally(each, "q"), design.tally([{0, 1}, {2, 3}, None]))


@pytest.mark.parametrize("dtype", [object, "boolean"])
def test_boolean_columns_of_pandas_with_gaps(dtype):
    columns = {"a": [True, None], "b": [True, None], "c": [False, None], "d": [False, None]}
    frame = pd.DataFrame({name: pd.Series(values, dtype=dtype) for name, values in columns.items()})
    assert same(SETS.tally(frame, list("abcd")), SETS.tally(["a;b", None]))


def test_groups_with_gaps_are_one_group():
    for group in ([math.nan, 1.0, math.nan], [None, 1, None]):
        for frame in (pd.DataFrame({"q": list("aab"), "g": group}), pl.DataFrame({"q": list("aab"), "g": group})):
            tallies = ONE.tally(frame, "q", by="g")
            assert {key: tally.n for key, tally in tallies.items()} == {None: 2, 1: 1}


FRAME = pl.DataFrame(
    {
        "income": ["a", "b", "d", None],
        "age": ["x", "x", "y", "y"],
        "weight": [1.0, 2.0, -3.0, 4.0],
        "gap": [1.0, None, 1.0, 1.0],
        "half": [1.0, 1.0, 0.5, 1.0],
        "nan": [1.0, math.nan, 1.0, 1.0],
        "none": [None] * 4,
        "zero": [0] * 4,
        "sets": ["a;b", "a;x", "c;d", "a"],
        "lists": [["a", "b"], [], ["c", "d"], ["a", "a"]],
        "ok": ["a", "b", "c", None],
    },
    schema_overrides={"none": pl.String},
)
BAD = {
    "column": (
        lambda f: ONE.tally(f, "incom"),
        r"there is no column 'incom'; the columns are 'income'.*did you mean 'income'",
    ),
    "level": (lambda f: CHOICE.tally(f, "ok", level="how"), "there is no column 'how'"),
    "weights": (lambda f: ONE.tally(f, "ok", weights="w"), "there is no column 'w'"),
    "array": (lambda f: ONE.tally(f, "ok", weights=[1, 2, 3, 4]), "name a column for everything; got list"),
    "label": (lambda f: ONE.tally(f, "income"), "column 'income'.* is 'd', which is not a response here"),
    "negative": (lambda f: ONE.tally(f, "ok", weights="weight"), r"weights must be finite .*'weight' holds -3\.0"),
    "null": (lambda f: ONE.tally(f, "ok", weights="gap"), "weights must be finite .*'gap' (is empty|holds nan)"),
    "nan": (lambda f: ONE.tally(f, "ok", weights="nan"), "weights must be finite .*'nan' holds"),
    "text weights": (lambda f: ONE.tally(f, "ok", weights="age"), "weights must be numbers; column 'age' holds"),
    "fractional": (lambda f: ONE.tally(f, "ok", count="half"), "counts must be whole numbers"),
    "all missing": (lambda f: ONE.tally(f, "none"), "at least one answer is needed; all 4 are missing"),
    "empty group": (lambda f: ONE.tally(f, "none", by="age"), "in group 'x' at least one answer is needed"),
    "set": (lambda f: SETS.tally(f, "sets"), "column 'sets'.* is 'x', which is not a response here"),
    "empty list": (
        lambda f: SETS.tally(f, "lists"),
        "column 'lists'.* is empty; it must be a set of 2|names 'a' twice",
    ),
    "no level": (lambda f: CHOICE.tally(f, "ok"), "need `level`"),
    "wrong level": (
        lambda f: CHOICE.tally(f, "ok", level="age"),
        "^column 'age'.* which is not on offer; the levels are '1'",
    ),
    "empty level": (lambda f: CHOICE.tally(f, "ok", level="none"), "^column 'none'.* is empty; say which level"),
    "no counts": (lambda f: ONE.tally(f, "ok", count="zero"), "at least one answer is needed; all counts are 0"),
    "levels not offered": (lambda f: ONE.tally(f, "ok", level="age"), "offers no levels"),
}
ORDERED = {"polars": FRAME, "polars lazy": FRAME.lazy(), "pandas": FRAME.to_pandas(), "pyarrow": FRAME.to_arrow()}


@pytest.mark.parametrize(("tally", "message"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize(
    "frame", [*ORDERED.values(), lambda: duckdb.from_arrow(FRAME.to_arrow())], ids=[*ORDERED, "duckdb"]
)
def test_what_cannot_be_tallied_is_said_with_its_column(frame, tally, message):
    frame = frame() if callable(frame) else frame
    with pytest.raises(DataError, match=message):
        tally(frame)


@pytest.mark.parametrize("frame", ORDERED.values(), ids=ORDERED.keys())
def test_the_row_of_a_bad_answer_is_told_where_rows_have_an_order(frame):
    with pytest.raises(DataError, match="column 'income', row 3, is 'd'") as caught:
        ONE.tally(frame, "income")
    assert (caught.value.row, caught.value.column, caught.value.value) == (2, "income", "d")
    with pytest.raises(DataError, match=r"row 3$") as caught:
        ONE.tally(frame, "ok", weights="weight")
    assert caught.value.row == 2


def test_a_frame_without_rows_has_no_answers():
    for frame in (FRAME.clear(), FRAME.clear().lazy(), FRAME.clear().to_pandas(), FRAME.clear().to_arrow()):
        with pytest.raises(DataError, match="at least one answer is needed; the data has no rows"):
            ONE.tally(frame, "ok")


def test_labels_that_hold_the_joiner_are_refused_in_a_column_of_sets():
    design = designs.negative(("a;b", "c", "d", "e"), discards=2)
    with pytest.raises(DataError, match="the label 'a;b' holds one"):
        design.tally({"q": ["c;d"]}, "q")
    booleans = {"a;b": [True], "c": [True], "d": [False], "e": [False]}
    assert design.tally(booleans, ["a;b", "c", "d", "e"]).n == 1


def test_a_lazy_frame_is_collected_grouped_only(monkeypatch):
    collected = []
    collect = pl.LazyFrame.collect

    def watched(self, *arguments, **named):
        result = collect(self, *arguments, **named)
        collected.append(result.shape)
        return result

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    rng = np.random.default_rng(1)
    frame = pl.LazyFrame({"q": rng.choice(ABC, 10_000), "w": rng.random(10_000), "g": rng.choice(["x", "y"], 10_000)})
    assert sum(tally.n for tally in ONE.tally(frame, "q", weights="w", by="g").values()) == 10_000
    assert collected
    assert max(height for height, _ in collected) <= 6


def test_sixty_categories_and_thirty_discards_need_no_list():
    script = """
import pathlib, time
import numpy as np
import polars as pl
from naysay import designs
design = designs.negative(range(60), discards=30)
rng = np.random.default_rng(1)
truth = rng.integers(60, size=100_000)
said = design.randomize(truth, rng=rng)
rows = design.likelihood(said)
assert (rows[np.arange(len(truth)), truth] > 0).all()
tally = design.tally(said)
assert tally.n == 100_000
framed = design.tally(pl.DataFrame({"q": said.texts()}), "q")
assert (framed.parts[0].codes == tally.parts[0].codes).all()
assert time.process_time() < 30, "it took too long"
status = pathlib.Path("/proc/self/status")  # getrusage would count what the process that started this one held
most = status.read_text().partition("VmHWM:")[2].split()[0] if status.exists() else 0
assert int(most) < 1_000_000, "it took too much memory"
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.parametrize(
    ("level", "told"),
    [
        ("7", "column 'l', row 3, is '7', which is not on offer; the levels are '1', '2', '3'"),
        ("", "column 'l', row 3, is empty; say which level it is"),
        (None, "column 'l', row 3, is empty; say which level it is"),
    ],
)
def test_a_level_that_cannot_be_is_told_with_its_own_column(level, told):
    with pytest.raises(DataError) as caught:
        CHOICE.tally({"r": ["a", "b;c", "a"], "l": ["1", "2", level]}, "r", level="l")
    assert str(caught.value) == told
    assert (caught.value.row, caught.value.column, caught.value.value) == (2, "l", level)


def test_an_answer_that_its_level_cannot_give_is_told_with_the_column_of_answers():
    with pytest.raises(DataError, match=r"^column 'r', row 2, at level 2 names 1 category; it must") as caught:
        CHOICE.tally({"r": ["a", "b"], "l": ["1", "2"]}, "r", level="l")
    assert caught.value.column == "r"


@pytest.mark.parametrize("wrap", [dict, pl.DataFrame, pd.DataFrame, pl.LazyFrame])
def test_the_first_bad_answer_of_the_data_is_the_one_reported(wrap):
    survey = designs.warner(p=0.7)
    data = {"q": ["yes", "perhaps", "no", "maybe", "perhaps"], "by": ["b", "b", "a", "a", "a"]}
    told = r"^column 'q', row 2, is 'perhaps', which .* also found: 'maybe'$"
    for by in (None, "by"):
        with pytest.raises(DataError, match=told) as caught:
            survey.tally(wrap(data), "q", by=by)
        assert (caught.value.row, caught.value.value) == (1, "perhaps")


def test_the_first_bad_answer_comes_first_whatever_is_wrong_with_it():
    survey = designs.negative(("a", "b", "c", "d"), discards=2)
    with pytest.raises(DataError, match=r"^column 'q', row 2, (at level 3 )?names 1 category"):
        survey.tally({"q": ["a;b", "c", "a;zz"]}, "q")
    with pytest.raises(DataError, match=r"^column 'q', row 2, is 'zz'"):
        survey.tally({"q": ["a;b", "a;zz", "c"]}, "q")


def test_the_first_bad_answer_comes_first_whatever_its_level():
    choice = designs.negative_levels(("a", "b", "c", "d"))
    with pytest.raises(DataError, match=r"^column 'q', row 2, (at level 3 )?names 1 category"):
        choice.tally({"q": ["a", "c", "a;zz"], "level": [1, 3, 1]}, "q", level="level")


def test_people_who_all_weigh_differently_are_encoded_once_for_each_distinct_answer(monkeypatch):
    """A million raked rows took 20 CPU seconds, since every row's answer was a text of its own."""
    survey, encoded = designs.warner(p=0.8), []
    encode = type(survey).encode
    monkeypatch.setattr(type(survey), "encode", lambda self, cells: encoded.append(len(cells)) or encode(self, cells))
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.choice(["yes", "no"], 500), "w": rng.uniform(1, 2, 500), "g": ["f", "m"] * 250})
    sampling = Sampling(weights="w", totals={"g": {"f": 60, "m": 40}})
    raked = survey.tally(frame, "a", sampling=sampling)
    assert encoded == [2]
    shuffled = survey.tally(frame.sample(fraction=1, shuffle=True, seed=2), "a", sampling=sampling)
    assert shuffled.parts[0].weight.tolist() == raked.parts[0].weight.tolist()
