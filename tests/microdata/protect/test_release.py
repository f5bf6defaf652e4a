"""Releases: files written again with all that they say, plans that are read and run, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import openpyxl
import polars as pl
import pyreadstat
import pytest

from naysay import files
from naysay.cli import main
from naysay.errors import DataError
from naysay.microdata import attack, protect
from naysay.microdata.protect.releases import log_of
from naysay.microdata.report import protection_content

LABELS = {
    "gender": {1: "male", 2: "female", 9: "refused"},
    "occupation": {1: "clerk", 2: "teacher", 3: "nurse", 4: "pilot"},
    "income": {1: "low", 2: "high", 8: "does not know", 9: "refused"},
}


def survey(n=300):
    rng = np.random.default_rng(3)
    return pl.DataFrame({
        "id": np.arange(n) * 1.0,
        "age": np.clip(rng.normal(42, 15, n).round(), 18, 95),
        "gender": rng.choice([1.0, 2.0, 9.0], n, p=[0.47, 0.5, 0.03]),
        "occupation": rng.choice([1.0, 2.0, 3.0, 4.0], n, p=[0.5, 0.3, 0.17, 0.03]),
        "income": rng.choice([1.0, 2.0, 8.0, 9.0], n),
        "said": rng.choice(["yes", "it depends", ""], n),
        "day": 13e9 + 86_400 * rng.integers(0, 900, n),
    })  # fmt: skip


@pytest.fixture
def sav(tmp_path):
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        survey(), path, file_label="A survey", note="kept",
        column_labels={"age": "Age in years", "occupation": "What do you do?"},
        variable_value_labels=LABELS, missing_ranges={"gender": [9], "income": [8, 9]},
        variable_measure={"age": "scale", "occupation": "nominal"},
        variable_format={"day": "DATE11", "age": "F3.0"}, variable_display_width={"age": 12},
    )  # fmt: skip
    return path


def stored(path, read=pyreadstat.read_sav):
    return read(path, output_format="dict", user_missing=True, disable_datetime_conversion=True)


def run(*words):
    return main(["protect", *map(str, words)])


def test_a_file_of_spss_comes_back_with_all_that_it_says(sav, capsys):
    out = sav.with_name("safe.sav")
    assert (
        run(sav, "--keys", "age,gender,occupation", "--importance", "occupation=high", "--keep-order", "--out", out)
        == 0
    )
    said = capsys.readouterr()
    assert "occupation (What do you do?)" in said.out and "secret like the original" in said.err
    (before, old), (after, new) = stored(sav), stored(out)
    for name in ("income", "said", "day"):  # untouched, user-missing codes and dates too
        assert before[name] == after[name]
    assert after["id"] == [each + 1 for each in before["id"]]  # old numbers are gone
    assert (
        new.column_names_to_labels["age"] == "Age in years" and new.file_label == "A survey" and new.notes == ["kept"]
    )
    assert new.variable_value_labels["income"] == old.variable_value_labels["income"]
    assert new.missing_ranges["income"] == old.missing_ranges["income"]
    assert (new.original_variable_types["day"], new.variable_measure["occupation"]) == ("DATE11", "nominal")
    read = files.scan(out).collect()
    assert protect.guarantee(read, ["age", "gender", "occupation"]).k >= 3
    assert 9.0 not in after["gender"]  # why a key is missing would tell people apart
    assert new.missing_ranges["gender"] == old.missing_ranges["gender"]  # its label stays, and so does what it means
    assert f"({before['gender'].count(9.0)} of gender) are plain gaps" in " ".join(said.out.split()).replace("'", "")
    kept = [(a, b) for a, b in zip(before["occupation"], after["occupation"], strict=True) if b is not None]
    assert all(a == b for a, b in kept)
    ages = new.variable_value_labels["age"]  # new codes, new labels, in order
    assert list(ages) == list(range(1, len(ages) + 1)) and all(
        any(word in label for word in (" to ", "under ", " or more")) for label in ages.values()
    )


def test_the_log_is_a_plan_that_repeats_the_release(sav, capsys):
    plan = protect.Plan(
        keys=["age", "gender"], target="k >= 3",
        steps=[
            protect.Bins(variable="age", width=20),
            protect.Pram(variable="occupation", keep=0.8),
            protect.Suppress(keys=["age", "gender"]),
        ],
    )  # fmt: skip
    path, one, two = (sav.with_name(name) for name in ("plan.toml", "one.sav", "two.sav"))
    path.write_text(plan.toml(), encoding="utf-8")
    assert protect.Plan.read(path) == plan
    assert run(sav, "--plan", path, "--out", one) == 0
    log = sav.with_name("one.sav.log.toml")
    assert tomllib.loads(log.read_text(encoding="utf-8"))["log"]["source"]["rows"] == 300
    assert run(sav, "--plan", log, "--out", two) == 0
    assert stored(one)[0] == stored(two)[0]
    capsys.readouterr()
    # the release carries the design: no --design is needed, and the file is the target
    assert main(["estimate", str(one), "--response", "occupation", "--target", "file", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    share = dict(zip(told["categories"], told["proportions"], strict=True))
    truth = files.scan(sav).collect()["occupation"]
    for label in ("clerk", "teacher"):
        assert share[label] == pytest.approx((truth == label).mean(), abs=0.12)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx", ".dta"])
def test_every_format_keeps_what_is_not_protected(suffix, tmp_path):
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    frame = (
        survey(120)
        .select("id", "gender", "occupation", "said")
        .with_columns(pl.col("id", "gender", "occupation").cast(pl.Int32))
    )
    if suffix == ".dta":
        pyreadstat.write_dta(
            frame, path, variable_value_labels={"gender": LABELS["gender"]}, column_labels={"id": "Number"}
        )
    else:
        files.write(frame, path)
    assert run(path, "--keys", "gender,occupation", "--keep-order", "--out", out) == 0
    before, after = files.scan(path).collect(), files.scan(out).collect()
    assert after.columns == before.columns
    assert after["said"].equals(before["said"])
    assert after["id"].cast(int).to_list() == [int(each) + 1 for each in before["id"].to_list()]
    assert protect.guarantee(after, ["gender", "occupation"]).k >= 3
    if suffix == ".dta":
        assert stored(out, pyreadstat.read_dta)[1].column_names_to_labels["id"] == "Number"
    if suffix == ".xlsx":
        assert openpyxl.load_workbook(out).active["A2"].value == 1  # a number stays a number


def test_a_csv_keeps_its_separator_encoding_and_missing_words(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes("age;town;said\n36;Köln;NA\n36;Köln;ja\n40;NA;nein\n41;NA;ja\n".encode("latin-1"))
    words = (
        "--keys",
        "age,town",
        "--target",
        "k >= 2",
        "--separator",
        ";",
        "--encoding",
        "latin-1",
        "--na",
        "NA",
        "--keep-order",
    )
    assert run(path, *words, "--out", out) == 0
    lines = out.read_bytes().decode("latin-1").splitlines()
    assert lines[:3] == ["age;town;said", "36;Köln;NA", "36;Köln;ja"] and lines[3:] == [";;nein", ";;ja"]


def test_stata_letters_of_missing_stay_where_nothing_is_protected(tmp_path):
    import pandas as pd

    path, out = tmp_path / "in.dta", tmp_path / "out.dta"
    told = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0], "x": pd.Series([1.0, "a", 3.0, "b"], dtype=object)})
    pyreadstat.write_dta(
        told, path, missing_user_values={"x": ["a", "b"]}, variable_value_labels={"x": {"a": "refused"}}
    )
    assert run(path, "--keys", "a", "--target", "k >= 2", "--keep-order", "--out", out) == 0
    assert stored(out, pyreadstat.read_dta)[0]["x"] == [1.0, "a", 3.0, "b"]


def test_stata_letters_of_a_key_become_plain_gaps_and_that_is_said(tmp_path, capsys):
    import pandas as pd

    path, out = tmp_path / "in.dta", tmp_path / "out.dta"
    told = pd.DataFrame({"x": pd.Series([1.0, "a", 1.0, "b", 2.0, 2.0], dtype=object)})
    letters = {"missing_user_values": {"x": ["a", "b"]}, "variable_value_labels": {"x": {"a": "refused"}}}
    pyreadstat.write_dta(told, path, **letters)
    assert run(path, "--keys", "x", "--target", "k >= 2", "--keep-order", "--out", out) == 0
    assert stored(out, pyreadstat.read_dta)[0]["x"] == [1.0, None, 1.0, None, 2.0, 2.0]
    assert "2 of x" in capsys.readouterr().out


def test_a_proposal_is_saved_read_changed_and_run(sav, capsys):
    plan = sav.with_name("plan.toml")
    assert run(sav, "--keys", "age,gender", "--save", plan, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["guarantee_after"]["k"] >= 3 and told["guarantee_before"]["k"] == 1
    assert told["intruder_after"]["mean"] < told["intruder_before"]["mean"]
    assert not list(sav.parent.glob("release*")) and not list(sav.parent.glob("*.log.toml"))
    plan.write_text(plan.read_text().replace('"k >= 3"', '"k >= 5"'))
    assert run(sav, "--plan", plan, "--out", sav.with_name("safe.sav")) == 0
    assert protect.guarantee(files.scan(sav.with_name("safe.sav")).collect(), ["age", "gender"]).k >= 5


def test_households_go_through_the_command(tmp_path, capsys):
    rng = np.random.default_rng(2)
    house = np.repeat(np.arange(120), rng.integers(1, 4, 120))
    frame = pl.DataFrame({"house": house, "region": house % 3, "age": rng.integers(0, 4, len(house))})
    frame.write_csv(tmp_path / "in.csv")
    out = tmp_path / "out.csv"
    assert run(tmp_path / "in.csv", "--keys", "age", "--unit", "house", "--out", out) == 0
    assert "measured on records of people" in capsys.readouterr().out
    assert protect.guarantee(pl.read_csv(out), ["age"], unit="house").k >= 3
    plan = protect.Plan(
        keys=["age"], target=None, unit="house", steps=[protect.RankSwap(columns=["region"], percent=50, seed=1)]
    )
    safe, _ = plan.apply(frame)
    assert safe.group_by("house").agg(pl.col("region").n_unique())["region"].max() == 1  # members stay together
    both = protect.Plan(
        keys=["age"], target=None, unit="house", steps=[protect.RankSwap(columns=["region", "age"], percent=50)]
    )
    with pytest.raises(DataError, match="in two steps"):
        both.apply(frame)


def test_a_household_column_that_stays_is_said(tmp_path, capsys):
    rng = np.random.default_rng(2)
    house = np.repeat(np.arange(120), rng.integers(1, 4, 120))
    frame = pl.DataFrame(
        {"group": house, "age": rng.integers(0, 4, len(house)), "pay": rng.integers(0, 90, len(house))}
    )
    frame.write_csv(tmp_path / "in.csv")
    said = []
    for words in ([], ["--drop", "group"], ["--unit", "group"]):
        assert run(tmp_path / "in.csv", "--keys", "age", *words) == 0
        said.append("may say which rows are one household" in capsys.readouterr().out)
    assert said == [True, False, False]
    frame.sample(fraction=1, shuffle=True, seed=1).rename({"group": "hh_id"}).write_csv(tmp_path / "in.csv")
    assert run(tmp_path / "in.csv", "--keys", "age") == 0
    assert "'hh_id' may say" in capsys.readouterr().out


REFUSED = {
    "no keys": ([], "give --keys to have a plan proposed, or --plan"),
    "both": (["--keys", "age", "--plan", "p.toml"], "--keys to have"),
    "an option of proposals": (["--plan", "p.toml", "--target", "k >= 3"], "--target is for a plan that is proposed"),
    "a key that is not there": (["--keys", "ago"], "'ago'"),
    "importance of no key": (["--keys", "age", "--importance", "income=high"], "'income' is none of them"),
    "a hierarchy that is not there": (["--keys", "age", "--hierarchy", "age=no.csv"], "cannot read '"),
    "keys with semicolons": (["--keys", "age;gender"], "write several with commas: age,gender"),
    "a hierarchy that is none": (["--keys", "age", "--hierarchy", "age=bad.csv"], "the hierarchy 'bad.csv': a label"),
    "a plan that is no TOML": (["--plan", "bad.csv"], "a plan must be TOML, and 'bad.csv' is not"),
    "a width that is none": (["--keys", "age", "--bins", "age=x"], "--bins must be a width"),
    "a plan that is not there": (["--plan", "no.toml"], "cannot read the plan"),
    "an unreachable target": (["--keys", "id", "--importance", "id=must"], "in the way stand 'id'"),
    "another suffix": (["--keys", "age", "--out", "safe.doc"], "must end in"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_command_refuses_it_refuses_in_one_line_and_leaves_nothing(case, sav, capsys, monkeypatch):
    monkeypatch.chdir(sav.parent)
    words, told = REFUSED[case]
    Path("bad.csv").write_text("1,a,x\n2,a,y\n", encoding="utf-8")
    out = [] if "--out" in words else ["--out", "safe.sav"]
    assert run(sav, *words, *out) == 2
    assert told in capsys.readouterr().err
    assert sorted(path.name for path in sav.parent.iterdir()) == ["bad.csv", "survey.sav"]


def test_no_file_is_overwritten_unasked_and_the_original_never(sav, capsys):
    out = sav.with_name("safe.sav")
    out.write_text("mine")
    assert run(sav, "--keys", "age", "--bins", "age=20", "--out", out) == 2
    assert "add --force" in capsys.readouterr().err and out.read_text() == "mine"
    assert run(sav, "--keys", "age", "--bins", "age=20", "--out", out, "--force") == 0
    assert run(sav, "--keys", "age", "--out", sav, "--force") == 2
    assert "the original itself" in capsys.readouterr().err


def test_labels_that_would_become_false_are_refused(sav):
    original = files.Original.read(sav, codes=True)
    plan = protect.Plan(keys=["age"], target=None, steps=[protect.Round(columns=["occupation"], base=2)])
    with pytest.raises(DataError, match="have labels, such as 1 = 'clerk'; 'round' computes"):
        protect.release(original, plan, sav.with_name("safe.sav"))
    fine = protect.Plan(keys=["gender"], target=None, steps=[protect.Round(columns=["age"], base=10)])
    protect.release(original, fine, sav.with_name("safe.sav"))
    assert set(stored(sav.with_name("safe.sav"))[0]["age"]) <= {10.0 * each for each in range(2, 11)}


def test_read_by_codes_the_risk_is_the_same(sav):
    keys = ["age", "gender", "occupation"]
    plan = protect.Plan(
        keys=keys, steps=[protect.Bins(variable="age", width=20), protect.Suppress(keys=keys)], keep_order=True
    )
    found = [
        protect.release(files.Original.read(sav, codes=codes), plan, sav.with_name(f"{codes}.sav"))
        for codes in (True, False)
    ]
    told = [(each.after.k, each.worst.intruder_before.mean, each.worst.intruder_after.mean) for each in found]
    assert told[0] == pytest.approx(told[1]) and told[0][2] > 0.01
    assert stored(sav.with_name("True.sav"))[0] == stored(sav.with_name("False.sav"))[0]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".sav"])
@pytest.mark.parametrize("by", ["mean", "threshold"])
def test_a_coded_key_is_counted_by_value_and_hides_few(suffix, by, tmp_path, capsys):
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    frame = survey(300).select(pl.col("age", "gender").cast(pl.Int32))
    pyreadstat.write_sav(frame, path) if suffix == ".sav" else files.write(frame, path)
    top = protect.Top(variable="age", above=60, by=by)
    plan = protect.Plan(keys=["age", "gender"], target=None, steps=[top])
    (tmp_path / "plan.toml").write_text(plan.toml(), encoding="utf-8")
    assert run(path, "--plan", tmp_path / "plan.toml", "--out", out, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["steps"][0]["columns"]["age"]["changed"] == (frame["age"] > 60).sum()
    coded = frame.with_columns(
        pl.when(pl.col("age") > 60).then(999 if by == "mean" else 60).otherwise("age").alias("age")
    )
    share = coded.unique().height / coded.height  # whoever knows the threshold is right as often as classes are few
    assert told["intruder_after"]["mean"] == pytest.approx(share) and share > 0.2


MOVING = {
    "noise": lambda: protect.Noise(columns=["age"], percent=1),
    "round": lambda: protect.Round(columns=["age"], base=2, how="random"),
    "rank_swap": lambda: protect.RankSwap(columns=["age"], percent=5),
    "microaggregate": lambda: protect.Microaggregate(columns=["age"], least=3),
}


@pytest.mark.parametrize("name", MOVING)
def test_after_values_move_no_safety_is_claimed(name, sav, capsys):
    plan = protect.Plan(keys=["age", "gender"], target=None, steps=[MOVING[name]()], keep_order=True)
    out = sav.with_name("safe.sav")
    found = protect.release(files.Original.read(sav), plan, out)
    assert found.worst.intruder_before.mean > 0.3 and found.worst.intruder_after is None
    assert f"after {name}, keys may hold other values" in str(found) and "naysay attack" in str(found)
    names = ["age", "gender"]
    beside = attack.link(files.Original.read(out).frame, files.Original.read(sav).frame, names, attacks=["nearest"])
    assert found.worst.intruder_nearest.value == pytest.approx(beside.attacks[0].of_all.value, abs=0.02)
    assert str(found.worst.intruder_nearest) in str(found)
    log = tomllib.loads(log_of(out).read_text(encoding="utf-8"))
    [told] = [each.text for each in protection_content(log) if "other values now" in getattr(each, "text", "")]
    assert "the nearest record was right for" in told and "naysay attack" in told


def test_an_overwritten_release_leaves_no_codebook_of_the_old_one(sav):
    out, original = sav.with_name("safe.sav"), files.Original.read(sav)
    drawn = protect.Plan(keys=["age"], target=None, steps=[protect.Pram(variable="occupation", keep=0.5)])
    plain = protect.Plan(keys=["age"], target=None, steps=[protect.Bins(variable="age", width=20)])
    protect.release(original, drawn, out)
    assert "occupation" in files.designs_of(out)
    protect.release(original, plain, out, force=True)
    assert not files.designs_of(out)


def test_labels_of_a_released_column_that_was_drawn_say_so(sav):
    """Whoever opens the file without its codebook reads that a cell is not the person's answer."""
    out, original = sav.with_name("safe.sav"), files.Original.read(sav)
    drawn = protect.Plan(keys=["age"], target=None, steps=[protect.Pram(variable="occupation", keep=0.5)])
    protect.release(original, drawn, out)
    before, after = stored(sav)[1], stored(out)[1]
    labels = after.variable_value_labels["occupation"]
    assert labels == {code: f"{label} (after randomization)" for code, label in LABELS["occupation"].items()}
    told = after.column_names_to_labels
    assert told["occupation"] == "After randomization: What do you do?"
    assert told["age"] == before.column_names_to_labels["age"]
    assert set(files.scan(out).collect()["occupation"]) <= set(LABELS["occupation"].values())  # by its codebook


def test_what_names_people_is_said_and_can_be_left_out(sav, capsys):
    out = sav.with_name("safe.sav")
    assert run(sav, "--keys", "gender", "--out", out) == 0
    assert "renumber: id" in capsys.readouterr().out
    old = files.Original.read(sav).frame.select("id", "day", "said").rows()
    assert sorted(stored(out)[0]["id"]) == list(range(1, 301))
    new = files.Original.read(out).frame.select("id", "day", "said").rows()
    assert sum(a == b for a, b in zip(old, new, strict=True)) < 30
    assert run(sav, "--keys", "gender", "--drop", "id", "--out", out, "--force") == 0
    assert "name people" not in capsys.readouterr().out and "id" not in stored(out)[0]
    with pytest.raises(DataError, match="no column would be left"):
        protect.Drop(columns=["a"]).apply({"a": [1]})


def test_a_plan_that_misses_its_target_says_how_near_it_comes(sav):
    plan = protect.Plan(keys=["age", "gender"], steps=[protect.Bins(variable="age", width=5)])
    with pytest.raises(DataError, match=r"reaches k >= 1, not k >= 3: \d+ of 300 .* 'age' tells most"):
        protect.release(files.Original.read(sav), plan, sav.with_name("safe.sav"))
    assert not sav.with_name("safe.sav").exists()


BROKEN = {
    "no TOML": ("keys = [", "must be TOML"),
    "no plan": ("keys = ['a']", "begins with naysay"),
    "no keys": ('naysay = "plan"\nversion = 1', "must name its keys"),
    "an entry too many": ('naysay = "plan"\nversion = 1\nkeys = ["a"]\nkey = 1', "no entry 'key'"),
    "no such method": ('naysay = "plan"\nversion = 1\nkeys = ["a"]\n[[step]]\nmethod = "melt"', "'melt'"),
    "no such parameter": (
        'naysay = "plan"\nversion = 1\nkeys = ["a"]\n[[step]]\nmethod = "bins"\nvariable = "a"\nwith = 3', "'with'",
    ),
    "a parameter missing": (
        'naysay = "plan"\nversion = 1\nkeys = ["a"]\n[[step]]\nmethod = "bins"\nvariable = "a"', "not complete",
    ),
    "a step alone": ('naysay = "plan"\nversion = 1\nkeys = ["a"]\nstep = 3', "one after the other"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_plan_that_cannot_be_is_refused(case):
    text, told = BROKEN[case]
    with pytest.raises(DataError, match=told):
        protect.Plan.read(text)


def test_a_release_beside_its_codebook_is_no_original(sav):
    plan = protect.Plan(keys=["age"], target=None, steps=[protect.Pram(variable="occupation", keep=0.5)])
    protect.release(files.Original.read(sav), plan, sav.with_name("safe.sav"))
    with pytest.raises(DataError, match="its codebook lies beside it"):
        files.Original.read(sav.with_name("safe.sav"))


def test_synthetic_records_are_written_with_labels(sav):
    plan = protect.Plan(keys=["gender"], target=None, steps=[protect.Synthesize(columns=["gender", "occupation"])])
    protect.release(files.Original.read(sav), plan, sav.with_name("safe.sav"))
    cells, told = stored(sav.with_name("safe.sav"))
    assert list(cells) == ["gender", "occupation"] and len(cells["gender"]) == 300
    assert set(cells["occupation"]) <= {1.0, 2.0, 3.0, 4.0} and told.variable_value_labels["occupation"][3.0] == "nurse"


SLOW = """
import sys
from pathlib import Path
from naysay.microdata import protect
from naysay.files.frames import Original
slow = Original.write
def write(self, made, rows, path, **given):
    slow(self, made, rows, path, **given)
    print("written", flush=True)
    import time; time.sleep(20)
Original.write = write
plan = protect.Plan(keys=["gender"], target="k >= 2", steps=[protect.Suppress(keys=["gender"], target="k >= 2")])
protect.release(Original.read(Path(sys.argv[1])), plan, Path(sys.argv[2]), force=True)
"""


def test_an_interrupted_run_leaves_what_was_there(sav):
    out = sav.with_name("safe.sav")
    out.write_text("mine")
    words = [sys.executable, "-c", SLOW, str(sav), str(out)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "written\n"
        os.kill(process.pid, signal.SIGINT)
    assert process.returncode != 0
    assert out.read_text() == "mine"
    assert sorted(path.name for path in sav.parent.iterdir()) == ["safe.sav", "survey.sav"]


def test_the_risk_of_households_is_that_on_the_worst_of_several_sets_of_keys(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": ["x"] * 300, "b": rng.integers(0, 4, 300), "home": np.repeat(np.arange(150), 2)})
    frame.write_csv(tmp_path / "in.csv")
    sets = [["a"], ["b"]]
    step = protect.Suppress(keys=["a", "b"], sets=sets, unit="home")
    plan = protect.Plan(keys=["a", "b"], sets=sets, unit="home", steps=[step])
    done = protect.release(files.Original.read(tmp_path / "in.csv"), plan, tmp_path / "out.csv", trial=True)
    assert [each.after.k for each in done.standings] == [150, done.after.k]
    assert 3 <= done.after.k < 150
    assert done.to_dict()["guarantee_after"]["k"] == done.after.k


def test_a_column_without_a_name_such_as_the_row_names_of_r_stays_without_one(tmp_path):
    rows = [f'"{row + 1}",{row % 4},{"xyz"[row % 3]}\n' for row in range(60)]
    (tmp_path / "in.csv").write_text('"","a","b"\n' + "".join(rows))
    options = ["--keys", "a,b", "--bins", "a=2", "--out", str(tmp_path / "out.csv")]
    assert main(["protect", str(tmp_path / "in.csv"), *options]) == 0
    assert files.Original.read(tmp_path / "out.csv").frame.columns == ["", "a", "b"]
