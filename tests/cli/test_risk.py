"""``naysay risk``: the paper's table from a file, in every format, on every engine, and what it refuses."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from naysay import microdata
from naysay.microdata.commands import inputs

PAPER = ("age,gender", "40,Male", "36,Female", ",Male", "40,", "23,Male", "23,Male")
ASKED = ("--keys", "age", "--keys", "age,gender", "--population", "1000")


@pytest.fixture
def paper(write):
    return write("paper.csv", *PAPER)


def told(naysay, *words):
    code, out, err = naysay("risk", *(["search"] if "--up-to" in words else []), *words, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_json_is_the_table_of_the_library(naysay, paper):
    columns = pl.read_csv(paper, infer_schema=False)
    expected = microdata.risk_table(columns, [["age"], ["age", "gender"]], population=1_000).to_dict()
    assert told(naysay, paper, *ASKED) == expected
    both = expected["quasi_identifiers"][1]
    assert both["keys"] == ["age", "gender"]
    assert (both["listwise"]["deleted"], both["listwise"]["k1"], both["matches"]["m1"]) == (2, 2, 1)


def test_the_table_shows_both_ways_and_no_value_of_a_respondent(naysay, survey):
    words = ("--population", "1e6", "--sensitive", "illness", "--na", "refused,-9", "--stand-out", "2", "--row", "3")
    code, out, err = naysay("risk", "panel.csv", "--keys", "age,gender,job", *words)
    assert (code, err) == (0, "")
    assert "Listwise deletion" in out
    assert "Number of matches" in out
    assert "row 3 stands out on" in out
    for value in ("nurse", "clerk", "flu", "asthma", "refused"):
        assert value not in out
    assert max(map(len, out.splitlines())) <= 130


def names(value):
    """All names of fields within a JSON value."""
    if isinstance(value, dict):
        return set(value) | {name for inner in value.values() for name in names(inner)}
    return {name for inner in value for name in names(inner)} if isinstance(value, list) else set()


def test_every_field_is_documented(naysay, survey):
    words = ("panel.csv", "--keys", "age,gender", "--population", "1e7", "--weight", "weight", "--sensitive", "illness")
    found = told(
        naysay,
        *words,
        "--na",
        "refused,-9",
        "--attempt",
        "register=1",
        "--stand-out",
        "1",
        "--row",
        "1",
        "--missing",
        "category",
    )
    page = (Path(__file__).parents[2] / "docs" / "reference" / "risk_json.md").read_text(encoding="utf-8")
    data = {"age", "gender", "1", *microdata.SCENARIOS}
    assert not [name for name in names(found) - data if f"`{name}`" not in page]


def test_csv_has_one_row_for_each_quasi_identifier_and_notes_on_stderr(naysay, paper):
    code, out, err = naysay("risk", paper, *ASKED, "--format", "csv", "--missing", "wildcard", "--missing", "age=drop")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["keys"], row["missing"]) for row in rows] == [
        ("age", ""),
        ("age,gender", ""),
        ("age", "age=drop"),
        ("age,gender", "age=drop"),
    ]
    assert rows[1]["listwise.k1"] == "2"
    assert rows[1]["matches.m1"] == "1"
    assert all(line.startswith("naysay: note: ") for line in err.splitlines())


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_other_files_give_the_same(naysay, paper, suffix):
    expected = told(naysay, paper, *ASKED)
    frame = pl.read_csv(paper, infer_schema=False)
    (frame.write_parquet if suffix == "parquet" else frame.write_ndjson)(f"paper.{suffix}")
    assert told(naysay, f"paper.{suffix}", *ASKED) == expected


def test_duckdb_gives_the_same(naysay, survey):
    words = ("panel.csv", "--keys", "age,gender,job", "--keys", "age", "--population", "9e6", "--na", "refused,-9")
    more = ("--weight", "weight", "--sensitive", "illness", "--missing", "category", "--missing", "wildcard")
    expected = told(naysay, *words, *more)
    found = told(naysay, *words, *more, "--engine", "duckdb")
    for own, other in zip(expected["quasi_identifiers"], found["quasi_identifiers"], strict=True):
        for part in ("listwise", "matches"):
            assert own[part].pop("weighted") == pytest.approx(other[part].pop("weighted"))
            assert own[part].pop("theta_interval") == pytest.approx(other[part].pop("theta_interval"))
            assert own[part].pop("theta") == pytest.approx(other[part].pop("theta"))
        assert own == other


class Quiet:
    """A Spark that does not start."""

    def __getattr__(self, name):
        return lambda *_: self

    def getActiveSession(self):
        return None

    def getOrCreate(self):
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")


def test_a_spark_without_java_says_what_it_needs(refused, paper, monkeypatch):
    known = {
        "pyspark.sql": SimpleNamespace(SparkSession=SimpleNamespace(builder=Quiet(), getActiveSession=lambda: None)),
        "pyspark.errors": SimpleNamespace(PySparkRuntimeError=RuntimeError),
    }
    monkeypatch.setattr(inputs, "importlib", SimpleNamespace(import_module=known.__getitem__))
    assert "needs Java 17 or later" in refused("risk", paper, *ASKED, "--engine", "spark")


def test_a_spark_of_its_own_is_stopped(naysay, paper, monkeypatch):
    stopped = []
    session = SimpleNamespace(read=SimpleNamespace(parquet=pl.read_parquet), stop=lambda: stopped.append(True))
    builder = Quiet()
    monkeypatch.setattr(Quiet, "getOrCreate", lambda self: session)
    known = {
        "pyspark.sql": SimpleNamespace(SparkSession=SimpleNamespace(builder=builder, getActiveSession=lambda: None))
    }
    monkeypatch.setattr(inputs, "_needed", lambda module, extra: known.get(module))
    assert naysay("risk", paper, *ASKED, "--engine", "spark").code == 0
    assert stopped == [True]


def test_an_engine_that_is_not_installed_says_how_to_get_it(refused, paper, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(inputs, "importlib", SimpleNamespace(import_module=missing))
    assert "pip install 'naysay[duckdb]'" in refused("risk", paper, *ASKED, "--engine", "duckdb")
    assert "needs pyspark" in refused("risk", paper, *ASKED, "--engine", "spark")


def test_cells_that_mean_missing_are_missing_whatever_their_type(naysay, write):
    write("a.csv", "age,job", "40,x", "-9,x", "40,none said", "23,y")
    words = ("--keys", "age,job", "--population", "99", "--na", "-9,none said")
    assert told(naysay, "a.csv", *words)["quasi_identifiers"][0]["listwise"]["deleted"] == 2
    numbers = pl.read_csv("a.csv").with_columns(pl.col("age").cast(pl.Float64), pl.col("job").cast(pl.Categorical))
    numbers.write_parquet("a.parquet")
    assert told(naysay, "a.parquet", *words)["quasi_identifiers"][0]["listwise"]["deleted"] == 2


@pytest.mark.parametrize(
    "declared", [("--joined", "month"), ("--either", "month=one,two"), ("--between", "month=low,high")]
)
def test_sets_are_declared_on_the_command_line(naysay, declared):
    columns = {"month": ["3;4", "4", "5", None], "one": [3, 4, 5, None], "two": [4, None, 5, None]}
    pl.DataFrame(columns | {"low": [3, 4, 5, None], "high": [4, 4, 5, None]}).write_parquet("a.parquet")
    words = ("a.parquet", "--keys", "month", "--population", "99", *declared)
    records = told(naysay, *words, "--rule", "intersect", "--stand-out", "1", "--row", "3")
    (row,) = records["quasi_identifiers"]
    assert row["listwise"]["deleted"] == 2
    assert (row["matches"]["rule"], row["matches"]["smallest"]) == ("intersect", 2)
    assert row["matches"]["prosecutor_mean"] == pytest.approx(np.mean([1 / 3, 1 / 3, 1 / 2, 1 / 4]))


@pytest.mark.parametrize(
    ("lines", "design", "smallest"),
    [
        (("income,level", "low,1", "low,1", "high,1"), ("--design", "income=negative()"), 3),
        (
            ("income,level", "low,1", "high,1", "low;high,2", "middle;high,2"),
            ("--design", "income=negative_levels()", "--level", "income=level"),
            2,
        ),
    ],
)
def test_negative_answers_are_sets_under_their_design(naysay, write, lines, design, smallest):
    write("a.csv", *lines)
    words = ("--keys", "income", "--population", "99", "--rule", "intersect", "--categories", "income=low,middle,high")
    assert told(naysay, "a.csv", *words, *design)["quasi_identifiers"][0]["matches"]["smallest"] == smallest


def test_weights_scale_to_people(naysay, write):
    write("a.csv", "a,w", "1,10", "2,20", "2,30", "3,40")
    found = told(naysay, "a.csv", "--keys", "a", "--population", "100", "--weight", "w")
    assert found["weighted"] is True
    assert found["quasi_identifiers"][0]["listwise"]["weighted"]["smallest"] == pytest.approx(10)


def test_scenarios_are_multiplied_out(naysay, write):
    write("a.csv", "a", *map(str, np.repeat(np.arange(60), np.repeat([1, 2, 3], 20))))
    words = (
        "a.csv",
        "--keys",
        "a",
        "--population",
        "10000",
        "--attempt",
        "acquaintance=0.5",
        "--attempt",
        "register=1",
    )
    found = told(naysay, *words)["quasi_identifiers"][0]["identification"]
    assert found["acquaintance"] == {
        "attempt": 0.5,
        "success": 0.5,
        "probability": 0.25,
        "success_at_most": 0.5,
        "probability_at_most": 0.25,
    }
    assert found["register"]["success"] == pytest.approx(20 / 10_000)
    assert "Pr(identification) = 0.5 × 0.5 = 0.25" in naysay("risk", *words).out
    write("gap.csv", "a,b", "1,1", "1,", "2,1", "2,2", "2,2")
    gaps = ("gap.csv", "--keys", "a,b", "--population", "100", "--attempt", "acquaintance=0.5")
    assert " at least, and 0.0988 at most" in naysay("risk", *gaps[:-1], "acquaintance=0.1234").out  # 0.09872
    write("b.csv", "a", "1", "2", "2")
    few = ("b.csv", "--keys", "a", "--population", "100", "--attempt", "demonstration=0.5")
    assert told(naysay, *few)["quasi_identifiers"][0]["identification"]["demonstration"]["success"] is None
    assert "is withheld or undefined for this file" in naysay("risk", *few).out


def test_keys_that_make_people_stand_out(naysay, paper):
    found = told(naysay, paper, "--keys", "age,gender", "--population", "100", "--stand-out", "5", "--row", "2")
    assert found["stand_out"] == {
        "most": 2,
        "respondents": {"1": 0, "2": 1},
        "sets": [{"keys": ["age", "gender"], "respondents": 1}],
    }
    assert found["row"] == {"row": 2, "stands_out_on": [["age", "gender"]]}
    there = told(naysay, paper, "--keys", "age,gender", "--population", "100", "--stand-out", "5", "--engine", "duckdb")
    assert there["stand_out"] == found["stand_out"]
    words = ("--keys", "age,gender", "--population", "100")
    assert "row 1 stands out on no set of keys that was tried" in naysay("risk", paper, *words, "--row", "1").out


def test_k_and_m_of_every_respondent_are_written_without_the_keys(naysay, paper):
    words = (*ASKED, "--missing", "drop", "--missing", "wildcard", "--per-row", "rows.parquet", "--stand-out", "1")
    code, _, err = naysay("risk", paper, *words)
    assert code == 0
    assert "can find those who stand out" in err
    rows = pl.read_parquet("rows.parquet")
    assert rows["row"].to_list() == [1, 2, 3, 4, 5, 6]
    assert rows["k: age + gender"].to_list() == [1, 1, None, None, 2, 2]
    assert rows["m: age + gender"].to_list() == [3, 1, 5, 3, 3, 3]
    assert rows["m: age + gender (age: drop, gender: drop)"].to_list() == [1, 1, None, None, 2, 2]
    assert "keys to stand out" in rows.columns
    assert naysay("risk", paper, *ASKED, "--per-row", "rows.csv").code == 0
    assert "exists" in naysay("risk", paper, *ASKED, "--per-row", "rows.csv").err
    assert naysay("risk", paper, *ASKED, "--per-row", "rows.csv", "--force").code == 0


def test_explain_says_what_it_costs_and_answers(naysay, paper):
    plain = naysay("risk", paper, *ASKED)
    code, out, err = naysay("risk", paper, *ASKED, "--explain")
    assert (code, out) == (0, plain.out)
    assert "6 respondents" in err
    assert "→ cube" in err
    assert "age + gender:" in err


def test_progress_is_shown_on_a_terminal_only(naysay, paper, monkeypatch):
    said = []
    asked = microdata.risk_table

    def listened(*arguments, progress, **more):
        said.append(progress)
        if progress is not None:
            progress("age + " * 20, 0.5)
        return asked(*arguments, progress=progress, **more)

    monkeypatch.setattr(microdata, "risk_table", listened)
    naysay("risk", paper, *ASKED)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, out, _ = naysay("risk", paper, *ASKED)
    assert code == 0
    assert "Listwise" in out
    assert said[0] is None
    assert said[1] is not None


def test_an_interrupt_ends_cleanly_and_leaves_no_file(naysay, paper, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("naysay.microdata.risk.measure.matches_of_tuples", interrupt)
    assert naysay("risk", paper, *ASKED, "--per-row", "rows.parquet") == (130, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper.csv"]


def test_an_interrupt_of_duckdb_is_an_interrupt(naysay, paper, monkeypatch):
    def interrupt(*_, **__):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("naysay.microdata.risk.measure.matches_of_tuples", interrupt)
    assert naysay("risk", paper, *ASKED, "--engine", "duckdb") == (130, "", "")


SENTINEL = "secretvalue"
INTERVAL = ("--keys", "a", "--between", "a=x,y")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"a": ["1", SENTINEL], "x": ["1", SENTINEL], "y": ["2", "3"]}, INTERVAL),
        ({"a": ["low", SENTINEL]}, ("--keys", "a", "--design", "a=negative()", "--categories", "a=low,middle,high")),
        ({"a": ["1", "2"], "w": ["1", SENTINEL]}, ("--keys", "a", "--weight", "w")),
        ({"a": [1.0, 6417.25]}, ("--keys", "a")),
        ({"a": ["1", "2"], "w": ["1", "-6417.25"]}, ("--keys", "a", "--weight", "w")),
    ],
)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_an_error_shows_no_value_of_a_respondent(naysay, suffix, bad, words, engine):
    frame = pl.DataFrame(bad)
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[suffix](f"a.{suffix}")
    code, out, err = naysay("risk", f"a.{suffix}", *words, "--population", "9", "--engine", engine)
    assert code == 2
    assert SENTINEL not in out + err
    assert "6417" not in out + err


@pytest.mark.parametrize("lines", [('{"a": 1}', '{"a": "secretvalue"}'), ('{"a": "b"}', '{"a": ["secretvalue", 1]}')])
def test_lines_of_several_kinds_show_no_value(naysay, write, lines):
    write("a.jsonl", *lines)
    code, out, err = naysay("risk", "a.jsonl", "--keys", "a", "--population", "9")
    assert code == 2
    assert SENTINEL not in out + err
    assert "of one kind" in err


def test_bounds_of_a_text_file_are_numbers(naysay, write):
    write("a.csv", "low,high", "9,10", "10,12", "30,40.0")
    found = told(naysay, "a.csv", "--keys", "age", "--between", "age=low,high", "--population", "9")
    assert found["quasi_identifiers"][0]["matches"]["m1"] == 3
    meeting = told(
        naysay, "a.csv", "--keys", "age", "--between", "age=low,high", "--population", "9", "--rule", "intersect"
    )
    assert meeting["quasi_identifiers"][0]["matches"]["m1"] == 1


@pytest.mark.parametrize(("separator", "point"), [(",", "."), (";", ","), (";", ".")])
def test_whole_numbers_are_one_value_however_written(naysay, refused, write, separator, point):
    write("a.csv", f"age{separator}job", f"40{separator}x", f"40{point}0{separator}x", f"007{separator}y")
    words = ("--keys", "age", "--population", "9", "--separator", separator)
    assert told(naysay, "a.csv", *words)["quasi_identifiers"][0]["listwise"]["k1"] == 1
    write("b.csv", f"age{separator}job", f"40{point}5{separator}x", f"40{separator}y")
    assert "decimal numbers, as in row 1" in refused("risk", "b.csv", *words)


def test_a_file_is_encoded_once_under_each_policy(naysay, paper, monkeypatch):
    read = []
    original = microdata.Keys.__init__

    def counted(keys, *arguments, **options):
        read.append(1)
        original(keys, *arguments, **options)

    monkeypatch.setattr(microdata.Keys, "__init__", counted)
    words = ("--explain", "--stand-out", "1", "--row", "2", "--format", "json")
    assert naysay("risk", paper, *ASKED, *words).code == 0
    assert len(read) == 1


def test_the_journalist_is_the_demonstration(naysay, paper):
    found = told(naysay, paper, *ASKED, "--attempt", "journalist=1")
    assert list(found["quasi_identifiers"][0]["identification"]) == ["demonstration"]


def test_duckdb_reads_parquet_where_it_is(naysay, paper, monkeypatch):
    pl.read_csv(paper).with_columns(more=pl.lit("x")).write_parquet("a.parquet")
    expected = told(naysay, "a.parquet", *ASKED)
    copied = []
    original = pl.LazyFrame.sink_parquet
    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", lambda *args, **named: (copied.append(1), original(*args))[1])
    assert told(naysay, "a.parquet", *ASKED, "--engine", "duckdb") == expected
    assert not copied
    naysay("risk", "a.parquet", *ASKED, "--engine", "duckdb", "--na", "36")
    assert copied


def test_csv_says_what_it_leaves_out(naysay, paper):
    code, _, err = naysay("risk", paper, *ASKED, "--format", "csv", "--row", "1", "--attempt", "register=1")
    assert code == 0
    assert "--attempt and --row are not in csv" in err


def test_stand_out_names_the_policy_that_it_holds_for(naysay, paper):
    policies = ("--missing", "age=drop", "--missing", "category")
    code, _, err = naysay("risk", paper, *ASKED, *policies, "--stand-out", "1")
    assert code == 0
    assert "--stand-out and --row are for the first --missing, age=drop" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--keys", "age,gendr", "--population", "9"), "there is no column 'gendr'.*did you mean 'gender'"),
        (("--keys", "age,age", "--population", "9"), "'age' is named twice"),
        (("--keys", "", "--population", "9"), "--keys must list names with commas"),
        (("--keys", 'age,"gen', "--population", "9"), "--keys must be one CSV record"),
        (("--keys", "age", "--population", "5"), "at least as large as the sample; got 5 people for 6 records"),
        (("--keys", "age", "--population", "0"), "above zero"),
        (("--keys", "age", "--population", "inf"), "above zero"),
        (("--population", "9"), "Missing option '--keys'"),
        (("--keys", "age", "--population", "9", "--rule", "best"), "--rule"),
        (("--keys", "age", "--population", "9", "--missing", "gone"), "'gone'"),
        (("--keys", "age", "--population", "9", "--missing", "drop,age=category"), "one policy for all keys"),
        (("--keys", "age", "--population", "9", "--missing", "sex=drop"), "there is no key 'sex'"),
        (("--keys", "age", "--population", "9", "--missing", "age=drop,age=drop"), "given twice for 'age'"),
        (("--keys", "age", "--population", "9", "--weight", "w"), "there is no column 'w'"),
        (("--keys", "age", "--population", "9", "--weight", "gender"), "weights must be numbers"),
        (("--keys", "age", "--population", "9", "--sensitive", "age"), "must not be a key"),
        (("--keys", "age", "--population", "9", "--joined", "month"), "no --keys names it"),
        (("--keys", "age", "--population", "9", "--joined", "age", "--either", "age=a,b"), "declared twice"),
        (("--keys", "age", "--population", "9", "--either", "age"), "--either must be NAME=VALUE"),
        (("--keys", "age", "--population", "9", "--between", "age=low"), "--between must name two columns"),
        (("--keys", "age", "--population", "9", "--design", "age=negativ()"), "negativ"),
        (("--keys", "age", "--population", "9", "--categories", "age=a,b,c"), "'age' has no --design"),
        (("--keys", "age", "--population", "9", "--level", "age=l"), "'age' has no --design"),
        (("--keys", "age", "--population", "9", "--attempt", "acquaintance=often"), "--attempt must be a probability"),
        (("--keys", "age", "--population", "9", "--attempt", "acquaintance=2"), "attempt must be a probability"),
        (("--keys", "age", "--population", "9", "--attempt", "spy=0.2"), "there is no scenario 'spy'"),
        (("--keys", "age", "--population", "9", "--stand-out", "0"), "--stand-out"),
        (("--keys", "age", "--population", "9", "--row", "0"), "--row"),
        (("--keys", "age", "--population", "9", "--row", "7"), "--row must be from 1 to 6, the number of respondents"),
        (("--keys", "age", "--population", "9", "--per-row", "x.txt"), "is written as|must end in"),
        (("--keys", "age", "--population", "9", "--per-row", "no/x.csv"), "there is no folder 'no'"),
        (("--keys", "age", "--population", "9", "--per-row", "x.csv", "--engine", "duckdb"), "have no order"),
        (("--keys", "age", "--population", "9", "--confidence", "2"), "confidence must lie between 0 and 1"),
    ],
)
def test_bad_requests_are_one_line(refused, paper, words, told):
    assert re.search(told, refused("risk", paper, *words))


@pytest.mark.parametrize(
    ("weights", "told"), [("0", "must be positive"), ("-1", "must be positive"), ("", "not a number")]
)
def test_weights_that_stand_for_nobody_are_refused(refused, write, weights, told):
    write("a.csv", "a,w", "1,2", f"2,{weights}")
    assert told in refused("risk", "a.csv", "--keys", "a", "--population", "9", "--weight", "w")


def test_decimal_numbers_say_how_to_bin(refused, naysay, write):
    write("a.csv", "income,code", "1520.5,1.0", "1800,2.0", ",")
    message = refused("risk", "a.csv", "--keys", "income", "--population", "9")
    assert "column 'income' holds decimal numbers, as in row 1: bin them first" in message
    assert naysay("risk", "a.csv", "--keys", "code", "--population", "9").code == 0
    pl.DataFrame({"income": [1520.5, 1800.0]}).write_parquet("a.parquet")
    assert "bin it first" in refused("risk", "a.parquet", "--keys", "income", "--population", "9")


def test_empty_sets_are_refused(refused, write):
    pl.DataFrame({"a": [[1], []]}).write_parquet("a.parquet")
    assert "must not be empty" in refused("risk", "a.parquet", "--keys", "a", "--population", "9")


@pytest.mark.parametrize(
    ("lines", "told"),
    [(("1", "1"), "the same for everybody"), (("1", "2"), "differs for all"), (('""', '""'), "missing for everybody")],
)
def test_keys_that_tell_nothing_or_all_come_with_a_note_and_a_result(naysay, write, lines, told):
    write("a.csv", "a,b", *(f"{line},x" for line in lines))
    code, out, _ = naysay("risk", "a.csv", "--keys", "a", "--population", "9")
    assert code == 0
    assert told in out


def test_a_value_beside_lists_is_one_candidate(naysay, refused, write):
    lines = ('{"a": 1, "m": 4}', '{"a": 1, "m": [3, 4]}', '{"a": 1, "m": null}', '{"a": "", "m": [3]}')
    write("a.jsonl", *(line.replace('""', "1") for line in lines))
    words = ("--keys", "a,m", "--population", "99", "--rule", "intersect")
    (row,) = told(naysay, "a.jsonl", *words)["quasi_identifiers"]
    assert (row["listwise"]["deleted"], row["listwise"]["kept"], row["matches"]["smallest"]) == (2, 2, 3)
    (row,) = told(naysay, "a.jsonl", *words, "--na", "4")["quasi_identifiers"]
    assert row["listwise"]["deleted"] == 3
    assert "read with --engine polars only" in refused("risk", "a.jsonl", *words, "--engine", "duckdb")
    write("b.jsonl", '{"m": "x"}', '{"m": ["x", "y"]}', '{"m": "y"}')
    (row,) = told(naysay, "b.jsonl", "--keys", "m", "--population", "99", "--rule", "intersect")["quasi_identifiers"]
    assert (row["listwise"]["deleted"], row["matches"]["smallest"]) == (1, 2)


def test_candidates_with_their_chances_are_objects(naysay, write):
    write("a.jsonl", '{"m": "March"}', '{"m": {"March": 0.75, "April": 0.25}}', '{"m": "May"}')
    (row,) = told(naysay, "a.jsonl", "--keys", "m", "--population", "99", "--rule", "intersect")["quasi_identifiers"]
    assert (row["listwise"]["deleted"], row["matches"]["m1"], row["matches"]["m_lt_5"]) == (1, 1, 3)
    write("b.jsonl", '{"m": {"March": 0.75, "April": 0.25}}', '{"m": {"March": 1}}')
    (row,) = told(naysay, "b.jsonl", "--keys", "m", "--population", "99")["quasi_identifiers"]
    assert row["matches"]["m1"] == 1


def test_values_of_several_kinds_are_refused(refused, naysay, write):
    write("a.jsonl", '{"a": "x", "b": "\\"a\\": 1"}', '{"a": 1, "b": "y"}')
    message = refused("risk", "a.jsonl", "--keys", "a", "--population", "9")
    assert "column 'a' holds texts, and something else in row 2" in message
    assert naysay("risk", "a.jsonl", "--keys", "b", "--population", "9").code == 0


def test_other_faults_of_json_lines_stay_what_they_are(refused, write):
    write("b.jsonl", '{"a": 1}', "{")
    assert "line 2" in refused("risk", "b.jsonl", "--keys", "a", "--population", "9")
    write("c.jsonl", '{"a": 1}', '{"a": 2}')
    assert "there is no column 'b'" in refused("risk", "c.jsonl", "--keys", "b", "--population", "9")
    pl.DataFrame({"a": [{"x": 1}, {"x": 2}]}).write_parquet("d.parquet")
    assert "a key must hold values" in refused("risk", "d.parquet", "--keys", "a", "--population", "9")


SEARCH = ("panel.csv", "--keys", "age,gender,job,income", "--population", "1e7", "--na", "refused,-9")


def test_a_search_ranks_combinations_in_the_table_and_in_json(naysay, survey):
    code, out, err = naysay("risk", "search", *SEARCH, "--up-to", "2")
    assert (code, err) == (0, "")
    for text in ("Search for dangerous combinations", "What each key adds", "Which recoding would buy most"):
        assert text in out
    for value in ("nurse", "clerk", "middle", "refused"):
        assert value not in out
    assert max(map(len, out.splitlines())) <= 130
    found = told(naysay, *SEARCH, "--up-to", "2")["search"]
    frame = pl.read_csv("panel.csv", infer_schema=False)
    frame = frame.with_columns(pl.when(pl.col("age").is_in(["refused", "-9"])).then(None).otherwise("age").alias("age"))
    keys = microdata.Keys(frame, ["age", "gender", "job", "income"])
    expected = microdata.search(keys, size=2, population=10_000_000)
    assert {name: found[name] for name in expected.to_dict()} == expected.to_dict()
    assert found["contributions"] == microdata.contributions(expected).to_dict()
    riskiest = keys.only(expected.combinations[0].keys)
    assert found["recodings"] == microdata.recodings(riskiest).to_dict()
    assert "bins 10 wide" in {each["told"] for each in found["recodings"]["recodings"]}
    code, _, err = naysay("risk", "search", *SEARCH, "--up-to", "2", "--format", "csv")
    assert "json and table also hold what the search found" in err


def test_a_search_by_another_measure_with_orders_and_without_theta_where_there_are_weights(naysay, survey, refused):
    found = told(naysay, *SEARCH, "--up-to", "2", "--measure", "anonymity")["search"]
    unique = [each["listwise"]["k1"] for each in found["combinations"]]
    assert unique == sorted(unique, reverse=True)
    assert {found["measure"], found["contributions"]["measure"], found["recodings"]["measure"]} == {"anonymity"}
    jobs = sorted({job for job in pl.read_csv("panel.csv", infer_schema=False)["job"].to_list() if job is not None})
    ordered = ("--up-to", "4", "--order", f"job={','.join(jobs)}")
    ways = {each["told"] for each in told(naysay, *SEARCH, *ordered)["search"]["recodings"]["recodings"]}
    assert any(way.startswith("neighbors") for way in ways)
    pl.read_csv("panel.csv", infer_schema=False).with_columns(w=1).write_csv("weighted.csv")
    weighted = told(naysay, "weighted.csv", *SEARCH[1:], "--weight", "w", "--up-to", "1")["search"]
    assert weighted["population"] is None
    assert "theta" not in weighted["combinations"][0]["matches"]
    message = refused("risk", "search", *SEARCH, "--up-to", "2", "--order", "jobs=a,b")
    assert "there is no key 'jobs'" in message
    assert "--order must be NAME=VALUE" in refused("risk", "search", *SEARCH, "--up-to", "2", "--order", "a,b")


def test_a_search_stops_and_goes_on(naysay, survey, monkeypatch):
    whole = told(naysay, *SEARCH, "--up-to", "3")["search"]
    part = told(naysay, *SEARCH, "--up-to", "3", "--resume", "found.jsonl", "--most", "6")["search"]
    assert (part["finished"], part["asked"], part["stopped"]) == (6, 14, "most")

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("naysay.microdata.combinations.lattice.Lattice.combination_on", interrupt)
        code, out, _ = naysay(
            "risk", "search", *SEARCH, "--up-to", "3", "--resume", "found.jsonl", "--html", "part.html"
        )
    assert code == 130
    assert "8 of 14 combinations were not counted (interrupted)" in out
    assert "8 of 14 combinations were not counted (interrupted)" in Path("part.html").read_text(encoding="utf-8")
    assert told(naysay, *SEARCH, "--up-to", "3", "--resume", "found.jsonl")["search"] == whole
    assert len(Path("found.jsonl").read_text(encoding="utf-8").splitlines()) == 15


def test_a_long_search_says_so_beforehand(naysay, survey, monkeypatch, refused):
    monkeypatch.setattr("naysay.microdata.commands.request._LONG", 0.0)
    _, _, err = naysay("risk", "search", *SEARCH, "--up-to", "3")
    assert err.startswith(
        "naysay: note: 14 combinations of up to 3 of 4 keys, about a second on this machine; smaller: "
    )
    assert "up to 2: 10, about a second" in err
    monkeypatch.setattr("naysay.microdata.commands.request._LONG", 60.0)
    monkeypatch.setattr(sys.modules["naysay.microdata.combinations.search"], "LONGEST", 0.0)
    told_no = refused("risk", "search", *SEARCH, "--up-to", "3", "--resume", "new.jsonl")
    assert "needs a limit; this one has 14 combinations of up to 3 of 4 keys" in told_no
    assert "--most" in told_no
    assert "--minutes" in told_no


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["search", "--up-to", "0"], "--up-to must be a number of keys, from 1 to the 4 that --keys names; got 0"),
        (["search", "--up-to", "5"], "got 5"),
        (["--most", "3"], "--most is for a search; ask for one: naysay risk search"),
        (["--minutes", "3"], "--minutes is for a search"),
        (["--measure", "anonymity"], "--measure is for a search"),
        (["--order", "job=a,b"], "--order is for a search"),
        (["--resume", "a.jsonl"], "--resume is for a search"),
        (["search", "--up-to", "1", "--minutes", "-1"], "minutes must be positive; got -1.0"),
        (["search", "--up-to", "1", "--resume", "panel.csv"], "'panel.csv' is not the file of a search"),
        (["search", "--up-to", "1", "--resume", "no/a.jsonl"], "there is no folder 'no'"),
        (["--html", "no/a.html"], "there is no folder 'no'"),
    ],
)
def test_searches_that_cannot_be(refused, survey, words, message):
    command = ("risk", "search") if "search" in words else ("risk",)
    assert message in refused(*command, *SEARCH, *words[len(command) - 1 :])


def test_the_report_is_written_and_holds_no_value(naysay, survey):
    words = ("--search", "2", "--attempt", "register=0.5", "--html", "risk.html", "--joined", "month")
    code, _, err = naysay("risk", "report", *SEARCH, "--keys", "age,month", *words)
    assert (code, err) == (0, "")
    page = Path("risk.html").read_text(encoding="utf-8")
    for value in ("nurse", "clerk", "teacher", "refused"):
        assert value not in page
    assert "age + month" in page
    assert "5 keys" in page
    assert naysay("risk", "report", *SEARCH, "--html", "plain.html").code == 0
    assert "The most dangerous combinations" not in Path("plain.html").read_text(encoding="utf-8")


def test_the_old_spelling_does_the_same_and_says_where_it_went(naysay, survey):
    new = naysay("risk", "search", *SEARCH, "--up-to", "2")
    old = naysay("risk", *SEARCH, "--search", "2", "--html", "old.html")
    assert (old.code, old.out) == (
        new.code,
        naysay("risk", "report", *SEARCH, "--search", "2", "--html", "new.html").out,
    )
    assert "--search has a command of its own now: naysay risk search" in old.err
    assert "--html has a command of its own now: naysay risk report" in old.err
    pages = (Path(name).read_text(encoding="utf-8") for name in ("old.html", "new.html"))
    old_page, new_page = (re.sub(r"[\d-]{10} \d\d:\d\d", "", page) for page in pages)  # each says its minute
    assert old_page == new_page


def test_a_search_and_a_report_need_what_they_are_for(refused, survey):
    assert "Missing option '--up-to'" in refused("risk", "search", *SEARCH)
    assert "Missing option '--html'" in refused("risk", "report", *SEARCH)


def test_a_search_is_the_same_on_another_engine(naysay, survey):
    here = told(naysay, *SEARCH, "--up-to", "2")["search"]
    assert told(naysay, *SEARCH, "--up-to", "2", "--engine", "duckdb")["search"] == here


def test_every_field_of_a_search_is_documented(naysay, survey):
    page = (Path(__file__).parents[2] / "docs/reference/risk_json.md").read_text(encoding="utf-8")
    found = told(naysay, *SEARCH, "--up-to", "2")["search"]
    assert not [name for name in names(found) if f"`{name}`" not in page]
