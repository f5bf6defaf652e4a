"""Controls by hand: ``naysay estimate --control``."""

import csv
import json

import numpy as np
import pytest

from naysay import designs
from naysay.cli import main

TRAVEL = ("car", "bus", "bike", "foot")
ASKED = ("--response", "travel", "--design", "negative()", "--categories", ",".join(TRAVEL))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A fifth of 900 people answer question and controls at random."""
    path, rng, negative = (
        tmp_path_factory.mktemp("controls") / "answers.csv",
        np.random.default_rng(4),
        designs.negative(TRAVEL),
    )
    away, lot = rng.random(900) < 0.2, rng.choice(TRAVEL, 900)
    truths = (rng.choice(TRAVEL, 900, p=[0.5, 0.3, 0.15, 0.05]), lot, np.full(900, "foot"))
    said = [np.where(away, rng.choice(TRAVEL, 900), np.asarray(negative.randomize(truth, rng=rng))) for truth in truths]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("travel", "check", "second", "check_truth"), *zip(*said, lot, strict=True)])
    return str(path)


def told(capsys, *words):
    assert main(["estimate", *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("controls", [["check: lot"], ["second: foot"], ["check: file check_truth", "second: foot"]])
def test_a_control_finds_who_answers_at_random(answers, capsys, controls):
    options = [word for control in controls for word in ("--control", control)]
    found = told(capsys, answers, *ASKED, *options, "--format", "json")["compliance"]
    assert found["interval"][0] < 0.2 < found["interval"][1]
    assert found["violations"] > 20


def test_expected_slips_move_the_share_and_are_printed(answers, capsys):
    without, with_slips = (
        told(capsys, answers, *ASKED, "--control", "second: foot", *slips, "--format", "json")["compliance"]
        for slips in ([], ["--slips", "0.02"])
    )
    assert with_slips["share"] < without["share"] - 0.03
    assert with_slips["violations"] is None
    assert without["p_value"] == 0 < with_slips["p_value"]
    assert main(["estimate", answers, *ASKED, "--control", "second: foot", "--slips", "0.02"]) == 0
    assert "assumes that of 100 who comply 2 slip in a control" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--slips", "0.02"], "--slips is about a control; add --control COLUMN: TRUTH"),
        (["--control", "second: foot", "--slips", "0.3"], "slips must stay below 0.25"),
        (["--control", "check"], "--control is a column and what is true there"),
        (["--control", "check: train"], "'train' is no category"),
        (["--control", "check: lot", "--sample", "check_truth"], "leave --sample out"),
        (["--control", "nothing: lot"], "nothing"),
        (["--control", "check: file travel", "--control", "second: foot"], "column 'travel' is named twice"),
    ],
)
def test_what_cannot_be_a_control_is_said(answers, capsys, options, problem):
    assert main(["estimate", answers, *ASKED, *options]) == 2
    assert problem in capsys.readouterr().err


def test_who_left_the_control_out_is_said_to_be_left_out_of_the_file(tmp_path, capsys):
    path = tmp_path / "answers.csv"
    path.write_text("travel,check\n" + "car,bus\nbus,car\nbike,car\nfoot,bike\n" * 9 + "car,\n")
    assert main(["estimate", str(path), *ASKED, "--control", "check: foot"]) == 2
    assert "a control needs both: leave these rows out" in capsys.readouterr().err


@pytest.fixture(scope="module")
def cheated(tmp_path_factory):
    """Of 4,000 people a fifth answer anything; log odds of yes are −2.2 for men and −0.85 for women."""
    path, rng = tmp_path_factory.mktemp("cheated") / "answers.csv", np.random.default_rng(1)
    masked, female, away = designs.crosswise(prevalence="1/4"), rng.random(4000) < 0.5, rng.random(4000) < 0.2
    truth = np.where(rng.random(4000) < np.where(female, 0.3, 0.1), "yes", "no")
    lot = rng.choice(["yes", "no"], 4000)
    said = [
        np.where(away, rng.choice(["same", "different"], 4000), masked.randomize(true, rng=rng).texts())
        for true in (truth, np.full(4000, "no"), lot)
    ]
    with path.open("w", newline="") as file:
        head = ("cheated", "check", "drawn", "drawn_truth", "female")
        csv.writer(file).writerows([head, *zip(*said, lot, female.astype(int), strict=True)])
    return str(path)


@pytest.mark.parametrize("control", ["check: no", "drawn: lot"])
def test_a_regression_with_a_control_stands_beside_the_one_without(cheated, capsys, control):
    words = ["regress", "cheated ~ female", cheated, "--design", "crosswise(prevalence=1/4)", "--control", control]
    assert main([*words, "--format", "json"]) == 0
    both = json.loads(capsys.readouterr().out)
    slopes = [
        {row["term"]: row["estimate"] for row in fit["coefficients"]}["female"]
        for fit in (both, both["without_control"])
    ]
    assert abs(slopes[0] - 1.35) < 4 * 0.4
    assert slopes[1] < slopes[0] - 0.2  # random answers hide the difference
    assert main(words) == 0
    assert "without the control, as if everybody had followed the instruction:" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["table", "json", "csv", "latex", "html"])
def test_covariates_of_who_complies_stand_in_every_output(cheated, tmp_path, capsys, form):
    words = ["regress", "cheated ~ 1", cheated, "--design", "crosswise(prevalence=1/4)", "--control", "check: no"]
    more = ["--html", str(tmp_path / "page.html")] if form == "html" else ["--format", form]
    assert main([*words, "--compliance", "female", *more]) == 0
    out = capsys.readouterr().out
    if form == "json":
        both = json.loads(out)
        assert [(row["category"], row["term"]) for row in both["coefficients"]][1:] == [
            ("at random", "Intercept"),
            ("at random", "female"),
        ]
        assert abs(both["coefficients"][2]["estimate"]) < 4 * both["coefficients"][2]["standard_error"]
        assert (both["compliance_test"]["degrees_of_freedom"], both["compliance_formula"]) == (1, "female")
        assert "compliance_test" not in both["without_control"]
    elif form == "csv":
        assert [line.split(",")[:2] for line in out.splitlines()[2:4]] == [
            ["at random", "Intercept"],
            ["at random", "female"],
        ]
    else:
        heading = "Log odds of ``at random'' against all" if form == "latex" else "Log odds of “at random” against all"
        assert heading in (out if form != "html" else (tmp_path / "page.html").read_text(encoding="utf-8"))
        assert "against compliance that depends on no covariate: likelihood ratio" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["regress", "cheated ~ female", "--control", "check: no", "--control", "check: yes"],
         "column 'check' is named twice; a question and each of its controls have their own"),
        (["regress", "`cheated` ~ female", "--control", "cheated: no"], "column 'cheated' is named twice"),
        (["regress", "cheated ~ female", "--control", "check: no", "--sample", "drawn_truth"],
         "leave --sample and --level out"),
        (["regress", "cheated ~ 1", "--compliance", "female"], "who complies can have covariates only where a control"),
        (["regress", "cheated ~ 1", "--control", "check: no", "--compliance", "town"], "there is no column 'town'"),
        (["regress", "cheated ~ 1", "--control", "check: no", "--compliance", "~ female"],
         "compliance takes the right side of a formula, such as 'age + gender'; got '~ female'"),
        (["change", "--response", "cheated", "--response", "drawn", "--control", "check: no",
          "--design", "crosswise(prevalence=1/4)"], "of the first wave, then of the second; got 1"),
        (["change", "--response", "cheated", "--response", "drawn", "--design",
          "controlled(crosswise(prevalence=1/4), truth='no')"], "needs 2 columns of answers"),
        (["change", "--response", "cheated", "--response", "drawn", "--control", "check: no", "--control", "check: no",
          "--design", "crosswise(prevalence=1/4)"], "column 'check' is named twice; each question and each control"),
        (["change", "--response", "cheated", "--response", "check", "--control", "check: no", "--control", "drawn: lot",
          "--design", "crosswise(prevalence=1/4)"], "column 'check' is named twice"),
        (["crosstab", "--row", "cheated", "--column", "check", "--row-control", "check: no", "--row-design",
          "crosswise(prevalence=1/4)"], "column 'check' is named twice"),
        (["crosstab", "--row", "cheated", "--column", "female", "--row-control", "drawn: no", "--row-design",
          "crosswise(prevalence=1/4)"], "column 'drawn_truth' has one for each person; say 'drawn: lot'"),
        (["estimate", "--response", "cheated", "--control", "drawn: no", "--design", "crosswise(prevalence=1/4)"],
         "column 'drawn_truth' has one for each person; say 'drawn: lot'"),
        (["regress", "cheated ~ female", "--control", "drawn: no"], "say 'drawn: lot'"),
        (["crosstab", "--row", "cheated", "--column", "female", "--row-design",
          "controlled(crosswise(prevalence=1/4), truth='no')"], "one column of answers, and a design of one question"),
    ],
)  # fmt: skip
def test_what_takes_no_control_says_so(cheated, capsys, words, told):
    file_place = 2 if words[0] == "regress" else 1
    design = ["--design", "crosswise(prevalence=1/4)"] if words[0] == "regress" else []
    assert main([*words[:file_place], cheated, *words[file_place:], *design]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("controls", [["check: no"], ["drawn: lot"], ["check: file drawn_truth", "drawn: lot"]])
def test_a_crosstab_with_controls_stands_beside_the_one_without(cheated, capsys, controls):
    """Where two controls share a column of truths, only that is wrong which was said of the first."""
    options = [word for control in controls for word in ("--row-control", control)]
    words = ["crosstab", cheated, "--row", "cheated", "--column", "female", "--bootstrap", "0"]
    words += ["--row-design", "crosswise(prevalence=1/4)", *options]
    assert main([*words, "--format", "json"]) == 0
    both = json.loads(capsys.readouterr().out)
    if len(controls) == 1:
        [people] = both["compliance"]
        assert (people["column"], people["type"]) == ("cheated", "at random")
        assert people["interval"][0] < 0.2 < people["interval"][1]
        truth = np.array([[0.05, 0.15], [0.45, 0.35]])
        assert (np.abs(np.array(both["proportions"]) - truth) < 4 * np.array(both["standard_errors"])).all()
        assert np.abs(np.array(both["without_control"]["proportions"]) - truth).max() > 0.02
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "people who understand and deny pass every control; no number here sees them" in out
    assert "without the control, as if everybody had followed the instruction:" in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--row-design", "crosswise(prevalence=1/4)", "--row-control", "check: no", "--row-level", "drawn_truth"],
         "leave --row-level out: with --row-control the samples are the truths"),
        (["--row-control", "check: no"], "--row-control goes with the design of the question"),
        (["--row-design", "controlled(crosswise(prevalence=1/4), truth=('no', 'no'))"], "this design needs 3 in all"),
    ],
)  # fmt: skip
def test_what_cannot_be_crossed_with_a_control_is_said(cheated, capsys, options, told):
    assert main(["crosstab", cheated, "--row", "cheated", "--column", "female", *options]) == 2
    assert told in capsys.readouterr().err


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """Of 4,000 people a fifth answer anything, in spring two fifths; yes grows from 0.2 to 0.3."""
    folder, rng = tmp_path_factory.mktemp("waves"), np.random.default_rng(8)
    masked, began = designs.crosswise(prevalence="1/4"), rng.random(4000) < 0.2
    waves = {"spring": (began, 0.4), "autumn": (began | (rng.random(4000) < 0.125), 0.2)}
    columns = []
    for name, (carries, misread) in waves.items():
        away, lot = rng.random(4000) < misread, rng.choice(["yes", "no"], 4000)
        said = [
            np.where(away, rng.choice(["same", "different"], 4000), masked.randomize(true, rng=rng).texts())
            for true in (np.where(carries, "yes", "no"), lot)
        ]
        columns.append([*said, lot])
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("id", "smokes", "k", "k_truth"), *zip(range(4000), *columns[-1], strict=True)])
    with (folder / "both.csv").open("w", newline="") as file:
        head = ("a", "ka", "ka_truth", "b", "kb", "kb_truth")
        csv.writer(file).writerows([head, *zip(*columns[0], *columns[1], strict=True)])
    return folder


def test_a_change_with_controls_is_that_of_people_who_comply(waves, capsys):
    """Half of the apparent level in spring is noise; without controls the change is hidden or turned round."""
    design = ["--design", "crosswise(prevalence=1/4)"]
    spring, autumn, both = (str(waves / f"{name}.csv") for name in ("spring", "autumn", "both"))
    asked = [
        [spring, autumn, "--person", "id", "--response", "smokes", "--control", "k: lot"],
        [both, "--response", "a", "--response", "b", "--control", "ka: lot", "--control", "kb: lot"],
    ]
    told = []
    for words in asked:
        assert main(["change", *words, *design, "--format", "json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    [change] = {json.dumps([each["change"], each["standard_errors"]]) for each in told}
    value, error = (numbers[0] for numbers in json.loads(change))
    assert abs(value - 0.1) < 3 * error
    assert told[0]["compliance"][0].startswith("first wave: about 4")
    naive = float(told[0]["compliance"][-1].split("“yes” ")[1].split(",")[0])
    assert abs(naive - 0.1) > 0.05


def test_a_regression_of_people_who_all_answer_at_random_is_refused(tmp_path, capsys):
    """Seeds at which the share that does not comply is estimated as one: no coefficient is left."""
    for seed in (1, 3):
        said = np.random.default_rng(seed).choice(("red", "green", "blue"), (600, 4))
        with (tmp_path / "random.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("home", "vote", "check", "check_truth"), *said])
        words = ["regress", "vote ~ home", str(tmp_path / "random.csv"), "--control", "check: lot"]
        assert main([*words, "--design", "negative()", "--categories", "red,green,blue"]) == 2
        assert "nobody is left whose answers tell coefficients" in capsys.readouterr().err


def test_both_counts_of_a_double_list_come_from_a_file(tmp_path, capsys):
    """A row of the sheet cannot ask them; the refusal sends their author here."""
    rng = np.random.default_rng(3)
    arm, carries = rng.choice(("1", "2"), 3000), rng.random(3000) < 0.3
    counts = [rng.binomial(4, 0.4, 3000) + (carries & (arm == name)) for name in ("1", "2")]
    with (tmp_path / "lists.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("arm", "a", "b"), *zip(arm, *counts, strict=True)])
    words = ["estimate", str(tmp_path / "lists.csv"), "--sample", "arm", "--design", "double_list(items=(4, 4))"]
    assert main([*words, "--response", "a", "--response", "b", "--format", "json"]) == 0
    assert abs(json.loads(capsys.readouterr().out)["proportions"][0] - 0.3) < 0.1
    assert main([*words, "--response", "a"]) == 2
    assert "takes two answers; give --response twice, got 1" in capsys.readouterr().err
