"""Every frame and engine gives the numbers of the definition."""

import re
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, designs, microdata
from naysay.cli import main
from naysay.microdata import protect
from naysay.microdata.keys import engines
from naysay.microdata.keys.engines import engine_for

from . import brute, jvm
from .tables import FRAMES, RULES, batch, columns, duckdb_relation, names, of_each_table, polars_frame

DOCS = Path(__file__).parents[2] / "docs"

# Spark looks at the pandas that happens to be there, and warns of its age and of its sockets.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def spark(tmp_path, monkeypatch):
    session = jvm.session(tmp_path / "spark", monkeypatch)
    yield session
    session.stop()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("seed", range(4))
def test_every_frame_in_memory(frame, seed):
    rows = batch(seed)
    keys = microdata.Keys(FRAMES[frame](rows), names(rows))
    assert microdata.anonymity(keys).tolist() == of_each_table(brute.anonymity, rows)
    for rule in RULES:
        assert microdata.matches(keys, rule=rule).tolist() == of_each_table(brute.matches, rows, rule)


def brought_to(session, rows):
    """The rows as a Spark dataframe."""
    kinds = {pl.Int64: "long", pl.UInt32: "long", pl.List: "array<long>"}
    frame = polars_frame(rows)
    schema = ", ".join(f"`{name}` {kinds[type(kind)]}" for name, kind in frame.schema.items())
    return session.createDataFrame(frame.rows(), schema)


def in_order(table):
    """Rows of a result in the order of the table."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        return table.order("row").pl()
    return pl.DataFrame([row.asDict() for row in table.orderBy("row").collect()], infer_schema_length=None)


def check(table, rows, rule, algorithm):
    """The engine's numbers beside those of the definition."""
    keys = microdata.Keys(table, names(rows))
    expected = of_each_table(brute.matches, rows, rule)
    found = in_order(microdata.attached(keys, rule=rule, algorithm=algorithm))
    assert found["m"].to_list() == expected
    assert found["k"].to_list() == of_each_table(brute.anonymity, rows)
    assert found.columns == [*polars_frame(rows).columns, "k", "m"]
    sizes = microdata.histogram(keys, rule=rule, algorithm=algorithm)
    assert dict(zip(sizes.sizes.tolist(), sizes.respondents.tolist(), strict=True)) == Counter(expected)


@pytest.mark.parametrize("algorithm", [None, "join"])
@pytest.mark.parametrize("seed", range(6))
def test_duckdb_matches_like_the_definition(seed, algorithm):
    rows = batch(seed)
    for rule in RULES:
        check(duckdb_relation(rows), rows, rule, algorithm)


@pytest.mark.slow
def test_spark_gives_what_memory_gives(spark, tmp_path, capsys):
    """All that is said of Spark, in one test: its Java takes longer to start than all of it to run."""
    rows = batch(1, tables=30)
    for rule, algorithm in (("worst", "join"), ("intersect", "join"), ("first", None)):
        check(brought_to(spark, rows), rows, rule, algorithm)
    check_recoding(spark)
    check_reports(spark)
    file = tmp_path / "paper.csv"
    file.write_text("age,gender\n40,Male\n36,Female\n,Male\n40,\n23,Male\n23,Male\n", encoding="utf-8")
    words = ["risk", str(file), "--keys", "age", "--keys", "age,gender", "--population", "1000", "--format", "json"]
    told = [(main([*words, *engine]), *capsys.readouterr()) for engine in ((), ("--engine", "spark"))]
    assert told[0] == told[1] and told[0][0] == 0 and told[0][2] == ""
    assert not spark.sparkContext._jsc.sc().isStopped()  # a session that was running goes on


def check_recoding(spark):
    """Recoding and suppression give the cells that they give in memory."""
    ages = [None if place % 17 == 0 else 20 + place * 7 % 60 for place in range(200)]
    there = spark.createDataFrame([(age, "ab"[place % 2]) for place, age in enumerate(ages)], "age int, sex string")
    here = {"age": ages, "sex": ["ab"[place % 2] for place in range(200)]}
    for step in (protect.Bins(variable="age", width=20), protect.Suppress(keys=["age", "sex"], target="k >= 8")):
        there, here = step.apply(there)[0], step.apply(here)[0]
    made = sorted(map(str, map(tuple, there.collect())))
    assert made == sorted(map(str, zip(here["age"], here["sex"], strict=True)))


def test_some_of_the_keys_are_counted_where_they_are():
    rows = batch(5)
    every = microdata.Keys(duckdb_relation(rows), names(rows))
    some = names(rows)[1:]
    alone = microdata.Keys(columns(rows), names(rows)).only(some)
    wanted = microdata.histogram(alone)
    for algorithm in (None, "join"):
        found = microdata.histogram(every.only(some), algorithm=algorithm)
        assert found.sizes.tolist() == wanted.sizes.tolist()
        assert found.respondents.tolist() == wanted.respondents.tolist()


PEOPLE = {
    "age": [40.0, None, float("nan"), 23.0, 40.0],
    "sex": ["m", "f", "", None, "m"],
    "low": [1, None, 2, 2, 3],
    "high": [2, None, 2, 4, 3],
    "said": ["a;b", "c", None, "a", "b;c"],
    "weight": [1.0, 2.0, 3.0, 1.5, 1.0],
}
FORMS = {"range": microdata.Between("low", "high"), "said": microdata.Joined()}


@pytest.mark.parametrize("algorithm", [None, "join"])
@pytest.mark.parametrize("policy", ["wildcard", "category", "drop"])
def test_forms_policies_and_weights_are_the_same_there(policy, algorithm):
    wanted = ["age", "sex", "range", "said"]
    here = microdata.Keys(PEOPLE, wanted, missing={"sex": policy, "age": policy}, cells=FORMS, weights="weight")
    table = duckdb.connect().from_arrow(pl.DataFrame(PEOPLE).to_arrow())
    there = microdata.Keys(table, wanted, missing={"sex": policy, "age": policy}, cells=FORMS, weights="weight")
    assert there.n == here.n
    assert [str(warning) for warning in there.warnings] == [str(warning) for warning in here.warnings]
    for rule in RULES:
        for weights in (None, "weight"):
            expected = microdata.histogram(here, rule=rule, weights=weights)
            found = microdata.histogram(there, rule=rule, weights=weights, algorithm=algorithm)
            assert found.sizes.tolist() == expected.sizes.tolist()
            assert found.respondents.tolist() == expected.respondents.tolist()
    expected = microdata.histogram(here, measure="anonymity")
    assert microdata.histogram(there, measure="anonymity").sizes.tolist() == expected.sizes.tolist()


def test_an_engine_has_no_order_of_rows():
    keys = microdata.Keys(duckdb_relation(batch(0)), ["key 0"])
    with pytest.raises(DataError, match=r"no order; ask for microdata\.histogram\(keys\), or for microdata\.attached"):
        microdata.matches(keys)
    with pytest.raises(DataError, match="a table in memory keeps its order"):
        microdata.attached(microdata.Keys({"a": [1]}, ["a"]))


def test_what_an_engine_refuses():
    table = duckdb.connect().from_arrow(pl.DataFrame(PEOPLE | {"weight": [1.0, 0.0, 1.0, 1.0, 1.0]}).to_arrow())
    with pytest.raises(DataError, match="positive numbers; column 'weight' holds one that is not"):
        microdata.Keys(table, ["age"], weights="weight")
    with pytest.raises(DataError, match="on duckdb weights are named by their column; got list"):
        microdata.Keys(table, ["age"], weights=[1.0] * 5)
    with pytest.raises(DataError, match="there is no column 'aeg'"):
        microdata.Keys(table, ["aeg"])
    with pytest.raises(DataError, match="the table has no rows"):
        microdata.Keys(table.filter("age < 0"), ["age"])
    with pytest.raises(DataError, match="rule must be one of"):
        microdata.histogram(microdata.Keys(table, ["age"]), rule="best", algorithm="join")
    with pytest.raises(DataError, match="measure must be one of 'anonymity', 'matches'; got 'k'"):
        microdata.histogram(microdata.Keys(table, ["age"]), measure="k")


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, dict, lambda table: pl.DataFrame(table).to_arrow()])
def test_texts_and_categories_in_every_frame(frame):
    table = frame({"job": ["nurse", None, "nurse", "", "pilot"], "town": ["Gent", "Gent", None, "Breda", "Breda"]})
    found = microdata.matches(microdata.Keys(table, ["job", "town"]))
    assert found.tolist() == brute.matches(PLAIN, "worst")


PLAIN = [("nurse", "Gent"), (None, "Gent"), ("nurse", None), (None, "Breda"), ("pilot", "Breda")]


def test_categories_of_pandas():
    table = pd.DataFrame({"job": pd.Categorical(["nurse", None, "pilot"]), "age": pd.array([40, None, 23], "Int64")})
    assert microdata.matches(microdata.Keys(table, ["job", "age"])).tolist() == [2, 3, 2]


def test_engines_that_are_not_known_are_refused():
    with pytest.raises(DataError, match="this one is lazy on dask: collect it first"):
        engine_for("dask", None)


def test_more_tuples_than_memory_holds_are_left_to_the_engine(monkeypatch):
    rows = batch(2)
    wanted = microdata.histogram(microdata.Keys(duckdb_relation(rows), names(rows)))
    monkeypatch.setattr(engines, "_MOST", 10)
    keys = microdata.Keys(duckdb_relation(rows), names(rows))
    with pytest.raises(DataError, match=r"\d+ distinct tuples are too many to collect from duckdb; .*algorithm='join'"):
        microdata.histogram(keys)
    found = microdata.histogram(keys, algorithm="join")
    assert found.respondents.tolist() == wanted.respondents.tolist()


SMALL = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.lists(st.integers(0, 3), min_size=1, max_size=2))
)


@settings(max_examples=15, deadline=None)
@given(SMALL.filter(bool), st.sampled_from(["worst", "intersect", "first"]))
def test_every_frame_gives_the_numbers_of_the_definition(rows, rule):
    expected = sorted(brute.matches(rows, rule))
    for frame in FRAMES.values():
        assert sorted(microdata.matches(microdata.Keys(frame(rows), names(rows)), rule=rule)) == expected
    there = microdata.histogram(microdata.Keys(duckdb_relation(rows), names(rows)), rule=rule)
    assert np.repeat(there.sizes, there.respondents).tolist() == expected


STATEMENTS = re.findall(
    r"^    SELECT [^`]*?(?=\n\n)", (DOCS / "how-to" / "engines.md").read_text(encoding="utf-8"), re.M
)


def reports_of():
    """Reports to an affine and to a unary design, as rows of tables of docs/how-to/engines.md, and their tallies."""
    rng, tables, tallies = np.random.default_rng(4), {}, {}
    numbers, bits = designs.affine(40, epsilon=1), designs.unary(20, epsilon=1)
    for name, design in (("reports", numbers), ("bit_reports", bits)):
        said = [design.randomize(rng.integers(0, 20, 400), rng=rng) for _ in range(2)]
        codes = [(wave, int(code)) for wave, each in enumerate(said) for code in each.codes[:, 0]]
        tables[name] = [("crash", wave, design.hash, code) for wave, code in codes]
        tallies[name] = [design.tally(each) for each in said]
    tables["categories"] = [(category, 2**category) for category in range(20)]
    return tables, tallies, numbers, bits


def check_statements(run):
    """What the statements of the page return is the tally of the very reports, under the hash of their design."""
    _, tallies, numbers, bits = reports_of()
    counted, summed = (run(statement) for statement in STATEMENTS)
    assert {row[2] for row in counted} == {numbers.hash}
    for wave, expected in enumerate(tallies["reports"]):
        found = numbers.tally({y: n for _, of, _, y, n in counted if of == wave})
        assert found.parts[0].codes.tolist() == expected.parts[0].codes.tolist()
        assert found.parts[0].count.tolist() == expected.parts[0].count.tolist()
    for wave, expected in enumerate(tallies["bit_reports"]):
        rows = sorted(row for row in summed if row[1] == wave)
        found = bits.tally_of_sums([row[-1] for row in rows], n=rows[0][-2])
        assert found.parts[0].said.tolist() == expected.parts[0].said.tolist()
        assert found.n == expected.n == 400


def test_the_statements_of_the_page_on_engines_count_on_duckdb():
    tables, *_ = reports_of()
    db = duckdb.connect()
    db.execute("CREATE TABLE reports (question TEXT, wave INT, design TEXT, y BIGINT)")
    db.execute("CREATE TABLE bit_reports (question TEXT, wave INT, design TEXT, y BIGINT)")
    db.execute("CREATE TABLE categories (category INT, power BIGINT)")
    for name, rows in tables.items():
        db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    check_statements(lambda statement: db.execute(statement).fetchall())


def check_reports(spark):
    """The statements of the page on engines, and `tally` with groups, weights and counts at once."""
    tables, tallies, numbers, _ = reports_of()
    kinds = {"categories": "category int, power long"}
    for name, rows in tables.items():
        schema = kinds.get(name, "question string, wave int, design string, y long")
        spark.createDataFrame(rows, schema).createOrReplaceTempView(name)
    check_statements(lambda statement: list(map(tuple, spark.sql(statement).collect())))
    found = numbers.tally(
        spark.sql("SELECT y, wave, 1.5 AS w, 2 AS n FROM reports"), "y", by="wave", weights="w", count="n"
    )
    for wave, expected in enumerate(tallies["reports"]):
        part, like = found[wave].parts[0], expected.parts[0]
        assert (part.count == 2 * like.count).all() and (part.codes == like.codes).all()
        assert (part.weight == 3 * like.count).all() and (part.weight_squared == 4.5 * like.count).all()
