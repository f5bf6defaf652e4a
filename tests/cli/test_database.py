"""``naysay risk`` and ``naysay protect`` of a table of a DuckDB database: as of the same table in a Parquet file."""

import json
import tomllib

import duckdb
import numpy as np
import polars as pl
import pytest

from naysay import files
from naysay.microdata.protect import pieces

N = 3_000
KEYS = ("--keys", "age,job")


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({
        "id": rng.permutation(N) + 90_001,
        "age": rng.integers(18, 90, N),
        "job": rng.choice(["nurse", "cook", "smith", None], N, p=[0.5, 0.3, 0.19, 0.01]),
    })  # fmt: skip
    frame.write_parquet(tmp_path / "people.parquet")
    with duckdb.connect(str(tmp_path / "one.duckdb")) as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM '{tmp_path / 'people.parquet'}'")
    with duckdb.connect(str(tmp_path / "two.duckdb")) as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM '{tmp_path / 'people.parquet'}'")
        database.execute("CREATE SCHEMA old; CREATE TABLE old.people AS SELECT * FROM people LIMIT 10")
        database.execute("CREATE VIEW adults AS SELECT * FROM people")
    return tmp_path


def result(naysay, *words):
    code, out, err = naysay(*words, "--format", "json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_risk_of_a_table_is_that_of_the_file(naysay, people, engine):
    words = (*KEYS, "--population", "100000", "--engine", engine)
    expected = result(naysay, "risk", "people.parquet", *words)
    assert result(naysay, "risk", "one.duckdb", *words) == expected
    assert result(naysay, "risk", "two.duckdb", "--table", "people", *words) == expected
    assert result(naysay, "risk", "two.duckdb", "--table", "old.people", *words)["n"] == 10


@pytest.mark.parametrize("memory", [True, False], ids=["in memory", "in pieces"])
def test_the_release_of_a_table_is_that_of_the_file_row_by_row(naysay, people, memory, monkeypatch):
    plan = 'naysay = "plan"\nversion = 1\nkeys = ["age", "job"]\ntarget = "k >= 3"\naccepted = ["id"]\n[[step]]\n'
    plan += 'method = "bins"\nvariable = "age"\nwidth = 5\n[[step]]\nmethod = "suppress"\nkeys = ["age", "job"]\n'
    plan += '[[step]]\nmethod = "shuffle"\nseed = 7000000000000000001\n'
    (people / "plan.toml").write_text(plan, encoding="utf-8")
    if not memory:
        monkeypatch.setattr("naysay.microdata.commands.protecting._memory", lambda: 2_000)
        monkeypatch.setattr(files.Original, "read", lambda *given, **more: pytest.fail("the whole file was read"))
        monkeypatch.setattr(pieces, "_ROWS", 700)
    words = ("--plan", "plan.toml", "--out")
    expected = result(naysay, "protect", "people.parquet", *words, "file.parquet")
    found = result(naysay, "protect", "two.duckdb", "--table", "people", *words, "table.parquet")
    made = pl.read_parquet(people / "table.parquet")
    assert made.equals(pl.read_parquet(people / "file.parquet").cast(made.schema))
    assert {name: found[name] for name in ("steps", "guarantee_after")} == {
        name: expected[name] for name in ("steps", "guarantee_after")
    }
    assert any("intruders were not tried" in note for note in found["notes"]) != memory
    log = tomllib.loads((people / "table.parquet.log.toml").read_text(encoding="utf-8"))["log"]
    assert (log["source"]["original"], log["source"]["table"]) == ("two.duckdb", "people")
    assert naysay("protect", "two.duckdb", "--table", "people", *KEYS).code == 0  # nothing is written


def test_a_second_release_of_a_table_finds_its_rows_by_the_log(naysay, people):
    words = ("protect", "two.duckdb", "--table", "people", "--drop", "id")
    assert naysay(*words, "--keys", "job", "--out", "first.csv").code == 0
    code, _, err = naysay(*words, "--keys", "job", "--beside", "first.csv", "--out", "second.csv")
    assert code == 0, err


REFUSED = {
    "no table named": (("risk", "two.duckdb", *KEYS), "holds several tables, 'people', 'old.people'"),
    "another table": (("risk", "two.duckdb", "--table", "peple", *KEYS), "has no table 'peple'; did you mean 'people'"),
    "a view": (("protect", "two.duckdb", "--table", "adults", *KEYS), "'adults' is a view, whose rows have no fixed"),
    "no database": (("risk", "people.parquet", "--table", "people", *KEYS), "--table is for databases of DuckDB"),
    "a database to write": (("protect", "one.duckdb", *KEYS, "--out", "o.duckdb"), "read, not written: take .parquet"),
    "a damaged database": (("risk", "bad.duckdb", *KEYS), "cannot read"),
    "no file": (("risk", "none.duckdb", *KEYS), "there is no file"),
    "changes that wait": (("risk", "busy.duckdb", *KEYS), "run CHECKPOINT there"),
    "a command without the option": (
        ("estimate", "two.duckdb", "--design", "warner(p=0.7)", "--response", "job"),
        """COPY "main"."people" TO 'people.parquet'""",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_database_that_cannot_be_read_is_refused_in_one_line(naysay, people, case):
    (people / "bad.duckdb").write_bytes(b"x" * 5_000)
    (people / "busy.duckdb").write_bytes((people / "one.duckdb").read_bytes())
    (people / "busy.duckdb.wal").write_bytes(b"x")
    words, reason = REFUSED[case]
    code, out, err = naysay(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_types_that_parquet_has_not_are_read_without_a_loss(tmp_path):
    with duckdb.connect(str(tmp_path / "types.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT sum(9007199254740993)::HUGEINT AS total, "
                         "'6f1c2b8e-0000-4000-8000-000000000001'::UUID AS number, 'a'::ENUM('a','b') AS word, "
                         "INTERVAL 3 DAY AS stay, DATE '2024-01-05' AS day")  # fmt: skip
    row = files.scan(tmp_path / "types.duckdb").collect().row(0, named=True)
    assert row["total"] == 9_007_199_254_740_993
    assert (row["number"], row["word"]) == ("6f1c2b8e-0000-4000-8000-000000000001", "a")
    assert (row["stay"], str(row["day"])) == ("3 days", "2024-01-05")
    with duckdb.connect(str(tmp_path / "types.duckdb")) as database:
        database.execute("INSERT INTO t SELECT * FROM t")
    assert files.scan(tmp_path / "types.duckdb").collect().height == 2  # a database that changed is read anew
