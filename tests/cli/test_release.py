"""``naysay utility`` and ``naysay attack``: the library's numbers from files, pages, and what is refused."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from naysay import designs
from naysay.microdata import attack, utility


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An original, and releases of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    n = 300
    survey = pl.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["farmer", "clerk", "none"], n),
            "home": np.arange(n) // 2,
            "w": rng.integers(1, 4, n),
        }
    )
    survey.write_csv("survey.csv")
    gaps = pl.Series(rng.random(n) < 0.8)
    survey.with_columns(pl.when(gaps).then(pl.col("job")).otherwise(pl.lit("-9")).alias("job")).write_csv("gaps.csv")
    decades = (pl.col("age") // 10 * 10).cast(pl.String) + "s"
    survey.with_columns(decades.alias("age")).write_csv("coarse.csv")
    design = designs.k_ary(("farmer", "clerk", "none"), epsilon=1)
    said = design.randomize(survey["job"].to_list(), rng=rng).texts()
    survey.with_columns(pl.Series("job", said)).write_csv("pram.csv")
    return survey


def told(naysay, *words):
    code, out, err = naysay(*words, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_utility_is_that_of_the_library(naysay, folder):
    words = (
        "utility",
        "survey.csv",
        "gaps.csv",
        "--id",
        "id",
        "--na",
        "-9",
        "--weight",
        "w",
        "--formula",
        "age ~ sex + job",
    )
    found = told(naysay, *words)
    gaps = pl.read_csv("gaps.csv", null_values="-9")
    expected = utility.compare(folder, gaps, id="id", weights="w", formulas=["age ~ sex + job"])
    assert found == expected.to_dict()
    assert found["changes"]["variables"][2]["suppressed"] == gaps["job"].null_count()
    assert found["estimates"]["named"][0]["name"] == "Intercept"


def test_a_design_is_undone(naysay, folder):
    words = ("utility", "survey.csv", "pram.csv", "--variables", "job,sex", "--design", "job=k_ary(epsilon=1)")
    found = told(naysay, *words, "--categories", "job=farmer,clerk,none")["estimates"]["undone"]
    assert len(found) == 3
    assert all(
        abs(each["undone"]["after"] - each["undone"]["before"]) < 4 * each["undone"]["after_error"] for each in found
    )


def test_the_codebook_beside_a_release_carries_its_designs(naysay, folder):
    Path("plan.toml").write_text(
        'naysay = "plan"\nversion = 1\nkeys = ["job"]\ntarget = "none"\n'
        '[[step]]\nmethod = "pram"\nvariable = "job"\nkeep = 0.5\n',
        encoding="utf-8",
    )
    code, _, err = naysay("protect", "survey.csv", "--plan", "plan.toml", "--out", "safe.csv")
    assert code == 0, err
    words = ("utility", "survey.csv", "safe.csv")
    found = told(naysay, *words)["estimates"]["undone"]
    assert [each["raw"]["name"] for each in found] == ["job = clerk", "job = farmer", "job = none"]
    several = told(naysay, *words, "--keys", "age,job")["releases"][0]["utility"]
    assert several["estimates"]["undone"] == found


def test_the_log_of_a_release_says_which_records_are_left(naysay, folder):
    alone = pl.DataFrame([[900], [70], ["x"], ["spy"], [-1], [1]], schema=folder.schema)
    alike = pl.concat([folder.with_columns(pl.col("id") + 1_000 * place) for place in range(3)])  # all have company
    pl.concat([alone, alike]).write_csv("more.csv")
    code, _, err = naysay("protect", "more.csv", "--keys", "age,sex,job", "--out", "safe.csv")
    assert code == 0, err
    assert pl.read_csv("safe.csv").height == 900
    by_log = told(naysay, "utility", "more.csv", "safe.csv", "--variables", "sex,job,w")
    code, _, err = naysay("utility", "more.csv", "safe.csv", "--variables", "sex,job,w", "--id", "id")
    assert (code, "'id' was numbered anew in 'safe.csv'" in err) == (2, True)
    assert (by_log["changes"]["deleted"], by_log["changes"]["variables"][2]["changed"]) == (1, 0)
    found = told(naysay, "attack", "safe.csv", "--register", "more.csv", "--keys", "age,sex,job")["linkage"]
    assert (found["people"], found["control"]) == (900, 1)
    assert all(each["right_of_all"]["share"] <= 1 / 3 for each in found["attacks"])
    Path("safe.csv.log.toml").unlink()
    code, _, err = naysay("utility", "more.csv", "safe.csv")
    assert (code, "--id" in err) == (2, True)


def test_releases_side_by_side_as_table_json_csv_and_page(naysay, folder):
    words = ("utility", "survey.csv", "gaps.csv", "coarse.csv", "--keys", "age,sex,job", "--id", "id", "--na", "-9")
    code, out, _ = naysay(*words, "--html", "page.html")
    assert code == 0
    assert "Risk and utility" in out
    found = told(naysay, *words)
    assert [each["release"] for each in found["releases"]] == ["gaps.csv", "coarse.csv"]
    assert found["risk_before"] > found["releases"][1]["risk"]
    _, table, _ = naysay(*words, "--format", "csv")
    assert table.splitlines()[0] == "release,risk,loss,mean_pair_variation,pmse_ratio,mean_overlap"
    page = Path("page.html").read_text(encoding="utf-8")
    assert "coarse.csv" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_an_attack_is_that_of_the_library(naysay, folder):
    words = ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age,sex,job", "--id", "id", "--na", "-9")
    found = told(naysay, *words, "--household", "home")["linkage"]
    gaps = pl.read_csv("gaps.csv", null_values="-9")
    expected = attack.link(gaps, folder, ["age", "sex", "job"], id="id", household="home")
    assert found == expected.to_dict()
    assert [each["attack"] for each in found["attacks"]][-1] == "exact, whole households"
    code, out, _ = naysay(*words, "--format", "csv")
    assert (code, len(out.splitlines())) == (0, 4)


def test_a_recoding_comes_from_a_file(naysay, folder):
    folder.select(
        pl.col("age").alias("value"), ((pl.col("age") // 10 * 10).cast(pl.String) + "s").alias("released")
    ).unique().write_csv("age.csv")
    words = ("attack", "coarse.csv", "--register", "survey.csv", "--keys", "age,sex", "--by", "exact")
    given = told(naysay, *words, "--recoding", "age=age.csv")
    assert given == told(naysay, *words)
    assert given["linkage"]["recoded"] == ["age"]


def test_synthetic_records_are_attacked_beside_a_control(naysay, folder):
    folder.sample(300, shuffle=True, seed=1).write_csv("others.csv")
    words = ("attack", "coarse.csv", "--synthetic", "--register", "survey.csv", "--keys", "sex,job", "--secret", "home")
    found = told(naysay, *words, "--control", "others.csv")
    assert found["replicated"]["control"] == 300
    assert found["inference"]["control"]["n"] == 300
    code, out, _ = naysay(*words, "--html", "page.html")
    assert (code, "again in a fresh sample: 0, expected under Pitman" in out) == (0, True)


REFUSED = {
    "several without keys": (("utility", "survey.csv", "gaps.csv", "coarse.csv"), "--keys"),
    "a release twice": (("utility", "survey.csv", "gaps.csv", "gaps.csv", "--keys", "age"), "named twice"),
    "categories without a design": (("utility", "survey.csv", "gaps.csv", "--categories", "job=a,b"), "no --design"),
    "no file": (("utility", "survey.csv", "nothing.csv"), "nothing.csv"),
    "a folder as a page": (("utility", "survey.csv", "gaps.csv", "--html", "."), "folder"),
    "a control of links": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--control", "gaps.csv"),
        "--secret",
    ),
    "names of synthetic records": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--synthetic", "--id", "id"),
        "belong to nobody",
    ),
    "a secret that is a key": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--secret", "age"),
        "both",
    ),
    "a recoding without columns": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--recoding", "age=survey.csv"),
        "value and released",
    ),
    "an unknown attack": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--by", "magic"),
        "magic",
    ),
    "no csv of copies": (
        ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "age", "--synthetic", "--format", "csv"),
        "table or json",
    ),
}


@pytest.mark.parametrize(("words", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_said_in_one_line(naysay, folder, words, expected):
    code, out, err = naysay(*words)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1


def test_swapped_files_are_refused_by_the_log_and_otherwise_named(naysay, folder):
    assert naysay("protect", "survey.csv", "--keys", "age", "--bins", "age=10", "--out", "safe.csv")[0] == 0
    attacked = ("attack", "survey.csv", "--register", "safe.csv", "--keys", "age")
    for words, role in (attacked, "register"), (("utility", "safe.csv", "survey.csv"), "original"):
        code, _, err = naysay(*words)
        assert code == 2
        assert f"name 'safe.csv' as the release, and 'survey.csv' as the {role}" in err
    assert "release: coarse.csv; as the original: survey.csv" in naysay("utility", "survey.csv", "coarse.csv")[2]
    assert naysay("utility", "survey.csv", "safe.csv")[2] == ""


def test_in_csv_every_attack_says_which_keys_its_intruder_knows(naysay, folder):
    words = ("attack", "gaps.csv", "--register", "survey.csv", "--id", "id", "--na", "-9", "--format", "csv")
    code, out, _ = naysay(*words, "--keys", "age,sex", "--keys", "job")
    assert code == 0
    table = pl.read_csv(out.encode(), infer_schema=False)
    assert table["keys"].unique(maintain_order=True).to_list() == ["age,sex", "job"]
    outs = (naysay(*words, "--keys", keys).out.encode() for keys in ("age,sex", "job"))
    alone = [pl.read_csv(text, infer_schema=False) for text in outs]
    assert pl.concat(alone).equals(table)


def test_every_secret_is_told_in_json(naysay, folder):
    words = ("attack", "gaps.csv", "--register", "survey.csv", "--keys", "sex", "--id", "id", "--na", "-9")
    found = told(naysay, *words, "--secret", "job", "--secret", "home")
    assert [each["secret"] for each in found["inferences"]] == ["job", "home"]
    assert "inference" not in found
    assert told(naysay, *words, "--secret", "job")["inference"] == found["inferences"][0]


@pytest.mark.parametrize("command", ["risk", "protect", "attack"])
@pytest.mark.parametrize("sets", [("age,sex", "age,sex"), ("age,sex", "sex,age"), ("age,age",)])
def test_keys_that_are_given_twice_are_refused_also_in_another_order(naysay, folder, command, sets):
    files_of = {"attack": ("gaps.csv", "--register", "survey.csv", "--id", "id")}.get(command, ("survey.csv",))
    code, _, err = naysay(command, *files_of, *(word for each in sets for word in ("--keys", each)))
    assert (code, err.count("\n")) == (2, 1)
    assert "once" in err
    assert "twice" in err
