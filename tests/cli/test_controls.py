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


@pytest.mark.parametrize(
    ("options", "problem"),
    [
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
