"""Parquet files that memory does not hold: the same release as in memory, and what needs memory refused."""

import json
import tomllib

import numpy as np
import polars as pl
import pytest

from naysay import files
from naysay.cli import main
from naysay.microdata import protect
from naysay.microdata.protect import pieces
from naysay.microdata.protect.releases import log_of

N = 4_000


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(8)
    age = np.clip(rng.normal(45, 16, N).round(), 18, 99).astype(int)
    frame = pl.DataFrame({
        "id": rng.permutation(N) + 70_001,
        "age": pl.Series(age).replace(50, None),
        "job": rng.choice(["nurse", "cook", "smith", "pilot", None], N, p=[0.4, 0.3, 0.2, 0.03, 0.07]),
        "town": rng.choice(["a", "b", "c", "none", "?"], N),
        "day": rng.choice(["2024-01-05", "2024-03-05", "2025-01-05"], N),
        "income": rng.lognormal(8, 1, N).round(2),
    })  # fmt: skip
    file = tmp_path / "people.parquet"
    frame.write_parquet(file)
    return file


@pytest.fixture
def without_memory(monkeypatch):
    monkeypatch.setattr("naysay.microdata.commands.protecting._memory", lambda: 2_000)
    monkeypatch.setattr(files.Original, "read", lambda *given, **more: pytest.fail("the whole file was read"))
    monkeypatch.setattr(pieces, "_ROWS", 700)


PLAN = """
naysay = "plan"
version = 1
keys = ["age", "job", "town"]
target = "k >= 3"
missing = ["?"]
accepted = ["income", "day"]
[[step]]
method = "bins"
variable = "age"
width = 5
[[step]]
method = "dates"
variable = "day"
to = "year"
[[step]]
method = "suppress"
keys = ["age", "job", "town"]
target = "k >= 3"
[[step]]
method = "shuffle"
seed = 7000000000000000001
"""


def both(path, plan, capsys, monkeypatch, request):
    """The release and the printed result of one plan: in memory, and in pieces."""
    file = path.with_name("plan.toml")
    file.write_text(plan)
    found = []
    for name in ("held.parquet", "pieces.parquet"):
        if name == "pieces.parquet":
            request.getfixturevalue("without_memory")
        out = path.with_name(name)
        assert main(["protect", str(path), "--plan", str(file), "--out", str(out), "--format", "json"]) == 0
        found.append(
            (pl.read_parquet(out), json.loads(capsys.readouterr().out), tomllib.loads(log_of(out).read_text()))
        )
    return found


def test_in_pieces_every_row_is_that_of_the_release_in_memory(path, capsys, monkeypatch, request):
    (held, told, log), (made, other, other_log) = both(path, PLAN, capsys, monkeypatch, request)
    assert made.equals(held)
    assert made.schema == held.schema
    for name in ("guarantee_before", "guarantee_after", "steps", "plan", "naming", "households", "reasons"):
        assert other[name] == told[name], name
    assert other["source"]["sha256"] == told["source"]["sha256"]
    assert other_log["step"] == log["step"]
    assert other["intruder_after"] is None
    assert any("intruders were not tried" in note for note in other["notes"])
    assert sum(step["columns"]["town"]["suppressed"] for step in other["steps"] if "town" in step["columns"]) > 0


def test_in_pieces_the_risk_is_that_on_the_worst_of_several_sets_of_keys(path, capsys, monkeypatch, request):
    plan = """
    naysay = "plan"
    version = 1
    keys = ["town", "age", "job"]
    sets = [["town"], ["age", "job"]]
    accepted = ["income", "day", "id", "age", "job", "town"]
    [[step]]
    method = "suppress"
    keys = ["town", "age", "job"]
    sets = [["town"], ["age", "job"]]
    [[step]]
    method = "shuffle"
    """
    (_, told, _), (_, other, _) = both(path, plan, capsys, monkeypatch, request)
    for name in ("guarantee_before", "guarantee_after"):
        assert other[name] == told[name] == min((each[name] for each in told["sets"]), key=lambda each: each["k"])
    assert other["guarantee_after"]["k"] < other["sets"][0]["guarantee_after"]["k"]


@pytest.mark.parametrize("order", ["shuffled by a seed of the plan", "kept"])
def test_in_pieces_seeds_of_a_plan_and_the_order_of_rows_are_noted_as_in_memory(
    order, path, capsys, monkeypatch, request
):
    plan = PLAN if order != "kept" else PLAN.partition('[[step]]\nmethod = "shuffle"')[0]
    head = "" if order != "kept" else "keep_order = true\n"
    plan = plan.replace("accepted", f"{head}accepted").replace('"day"]', '"day", "id", "the order of rows"]')
    (_, told, _), (_, other, other_log) = both(path, plan, capsys, monkeypatch, request)
    noted = [note for note in told["notes"] if "stand in the plan" in note or "have the order" in note]
    assert len(noted) == 1
    assert noted[0] in other["notes"]
    assert noted[0] in other_log["log"]["notes"]


def test_in_pieces_deleted_rows_are_those_that_memory_deletes(path, capsys, monkeypatch, request):
    alone = [row in (10, 2_100) for row in range(3_002)]  # in two pieces, with others behind them
    pl.DataFrame({"age": [1 + each for each in alone], "sex": ["m" if each else "f" for each in alone]}).write_parquet(
        path
    )
    plan = """
    naysay = "plan"
    version = 1
    keys = ["age", "sex"]
    importance = {age = 0.5}
    [[step]]
    method = "suppress"
    keys = ["age", "sex"]
    [[step]]
    method = "shuffle"
    seed = 7000000000000000001
    """
    (held, told, log), (made, other, other_log) = both(path, plan, capsys, monkeypatch, request)
    assert made.equals(held)
    assert other["steps"] == told["steps"]
    assert other_log["log"]["rows_left_out"] == log["log"]["rows_left_out"] == [10, 2_100]


def test_in_pieces_measures_with_a_point_are_put_in_bins_as_in_memory(path, capsys, monkeypatch, request):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"height": rng.normal(170, 9, N).round(1), "sex": rng.choice(["f", "m"], N)})
    frame.with_columns(pl.col("height").replace(170.0, None)).write_parquet(path)
    bins = '\n[[step]]\nmethod = "bins"\nvariable = "height"\nwidth = 10'
    plan = f"""
    naysay = "plan"
    version = 1
    keys = ["height", "sex"]
    {bins}
    [[step]]
    method = "suppress"
    keys = ["height", "sex"]
    [[step]]
    method = "shuffle"
    seed = 7000000000000000001
    """
    (held, told, _), (made, other, _) = both(path, plan, capsys, monkeypatch, request)
    assert made.equals(held)
    assert (other["steps"], other["guarantee_before"]) == (told["steps"], told["guarantee_before"])
    frame.with_columns(pl.int_range(N) + 0.5).write_parquet(path)
    words = ["protect", str(path), "--keys", "literal,sex", "--out", str(path.with_name("o.parquet"))]
    assert main(words) == 2
    assert "numbers by --bins literal=5" in " ".join(capsys.readouterr().err.split())


def test_in_pieces_codes_of_missing_in_a_stratum_are_one_with_its_gaps(path, capsys, monkeypatch, request):
    frame = pl.DataFrame({"age": [30] * 40 + [50] * 4, "town": ["a", "b"] * 20 + [None, None, "?", "?"]})
    frame.write_parquet(path)
    plan = """
    naysay = "plan"
    version = 1
    keys = ["age"]
    missing = ["?"]
    accepted = ["town"]
    [[step]]
    method = "suppress"
    keys = ["age"]
    strata = ["town"]
    [[step]]
    method = "shuffle"
    seed = 7000000000000000001
    """
    (held, told, _), (made, other, _) = both(path, plan, capsys, monkeypatch, request)
    assert made["age"].equals(held["age"])
    assert made["age"].null_count() == 0  # four people without a town are enough, two and two would not be
    assert other["steps"] == told["steps"]


def test_in_pieces_a_new_value_that_is_written_like_a_missing_one_is_no_gap(path, capsys, request):
    jobs = ["cook"] * 40 + ["pilot"] * 2 + [None] * 2
    pl.DataFrame({"job": jobs, "age": [30] * 44}).write_parquet(path)
    recode = protect.Recode(variable="job", into={"cook": "cook", "pilot": "?"})
    plan = protect.Plan(keys=["job"], target="k >= 3", steps=[recode], missing=["?"])
    path.with_name("plan.toml").write_text(plan.toml())
    for without in (False, True):
        if without:
            request.getfixturevalue("without_memory")
        words = ["protect", str(path), "--plan", str(path.with_name("plan.toml")), "--accept", "age", "--out"]
        assert main([*words, str(path.with_name("out.parquet"))]) == 2
        assert "the plan reaches k >= 2, not k >= 3" in " ".join(capsys.readouterr().err.split())


def test_in_pieces_a_release_over_another_removes_its_codebook(path, without_memory):
    out = path.with_name("safe.parquet")
    files.place_of(out).write_text("{}")
    options = ["--bins", "age=10", "--drop", "day,income", "--out", str(out)]
    assert protected(path, *options) == 2
    assert protected(path, *options, "--force") == 0
    assert not files.place_of(out).exists()


def protected(path, *options):
    return main(["protect", str(path), "--keys", "age,job,town", *options])


def test_a_file_that_memory_does_not_hold_is_protected_without_holding_it(path, capsys, without_memory):
    out = path.with_name("safe.parquet")
    options = ["--bins", "age=10", "--drop", "day", "--accept", "income", "--out", str(out)]
    assert protected(path, *options) == 0
    printed = capsys.readouterr()
    made, original = pl.read_parquet(out), pl.read_parquet(path)
    counts = made.group_by("age", "job", "town").len()["len"]
    assert counts.min() >= 3
    assert sorted(made["income"]) == sorted(original["income"])
    assert not made["income"].equals(original["income"])
    assert made["id"].to_list() == list(range(1, N + 1))
    assert "no coarser values were tried but those of --bins" in printed.err
    assert "what other columns tell of cells that it hides was not tried: 'income'" in " ".join(printed.out.split())
    assert [each.name for each in path.parent.iterdir() if each.name.startswith(".")] == []


REFUSED = {
    "a column that was not tried": ([], "what other columns tell of cells that it hides was not tried"),
    "an earlier release": (["--beside", "earlier.parquet"], "--beside needs all of it"),
    "a hierarchy": (["--hierarchy", "job=jobs.csv"], "--hierarchy needs all of it"),
    "related columns": (["--related", "income=age"], "--related needs all of it"),
    "households": (["--unit", "town"], "--unit needs all of it"),
    "a page": (["--html", "page.html"], "--html needs all of it"),
    "conditions": (["--target", "k >= 3 and l(income) >= 2"], "conditions such as l(income) >= 2 are met in memory"),
    "a key that would be empty": (["--keys", "id,town"], "suppression would empty column 'id'"),
    "a key of another set of keys": (
        ["--keys", "town", "--accept", "income", "--accept", "day"],
        "was not tried: 'age', 'job'",
    ),
    "an order that links": (["--accept", "income", "--accept", "day", "--keep-order"], "'the order of rows'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_needs_the_file_in_memory_is_refused_with_the_way_out(case, path, capsys, without_memory):
    options, reason = REFUSED[case]
    options = ["--out", str(path.with_name("safe.parquet")), *options]
    assert protected(path, *options, "--force") == 2
    error = " ".join(capsys.readouterr().err.split())
    assert reason in error
    assert not path.with_name("safe.parquet").exists()


STEPS = {
    "a step that draws": (
        '[[step]]\nmethod = "noise"\ncolumns = ["income"]\npercent = 5\n',
        "the step 'noise' is done in memory only",
    ),
    "another order of steps": (
        '[[step]]\nmethod = "shuffle"\n[[step]]\nmethod = "bins"\nvariable = "age"\nwidth = 5\n',
        "a plan is run in this order",
    ),
    "a number that several rows share": (
        '[[step]]\nmethod = "shuffle"\n[[step]]\nmethod = "renumber"\ncolumns = ["town"]\n',
        "has one value in several rows",
    ),
    "a target that is not reached": ("", "the plan reaches k >= 1, not k >= 3, and nothing was kept"),
}


@pytest.mark.parametrize("case", STEPS)
def test_a_plan_that_needs_memory_is_refused(case, path, capsys, without_memory):
    steps, reason = STEPS[case]
    plan = path.with_name("plan.toml")
    plan.write_text('naysay = "plan"\nversion = 1\nkeys = ["age", "job"]\n' + steps)
    out = path.with_name("safe.parquet")
    assert main(["protect", str(path), "--plan", str(plan), "--out", str(out)]) == 2
    assert reason in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_another_kind_of_file_is_refused(path, capsys, without_memory):
    out = path.with_name("safe.csv")
    assert protected(path, "--out", str(out)) == 2
    assert "is released as Parquet only" in capsys.readouterr().err
    assert not out.exists()
