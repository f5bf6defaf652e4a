"""``python -m reproductions``: what it prints and writes, and what it refuses."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

import reproductions
from naysay.console import output
from reproductions.__main__ import main, panel, source
from reproductions.panel import generate

COINS = ("two_coins", "--runs", 40, "--workers", 1)
PANEL = ("panel", "--respondents", 60, "--background-only", 40, "--waves", 24, "--out", "made")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run one command in an empty folder: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return run


def test_without_a_name_all_are_listed(run):
    out = run()[1]
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(reproductions.SOURCES)
    told = json.loads(run("--format", "json")[1])
    assert [each["name"] for each in told] == list(reproductions.SOURCES)
    assert run("--format", "markdown")[1].startswith("| name | what | surveys |\n|---|---|--:|\n| esp")


def test_it_is_reproduce(run):
    found = reproductions.reproduce("two_coins", runs=40)
    assert run(*COINS) == (0, f"{found}\n", "")
    assert run(*COINS, "--format", "markdown")[1] == found.to_markdown()
    told = json.loads(run(*COINS, "--format", "json")[1])
    assert {**told, "seconds": 0} == {**json.loads(json.dumps(found.to_dict())), "seconds": 0}
    assert run(*COINS, "--seed", 5)[1] == f"{reproductions.reproduce('two_coins', runs=40, seed=5)}\n"


def test_a_folder_is_left(run):
    code, _, err = run(*COINS, "--out", "here")
    assert (code, err) == (0, f"naysay: note: written to {Path('here', 'two_coins')}\n")
    assert Path("here", "two_coins", "estimates.svg").read_text().startswith("<svg")


def test_ctrl_c_leaves_nothing(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("naysay.simulate.replicate", interrupt)
    assert run(*COINS, "--out", "here") == (130, "", "")
    assert not Path("here").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["two_coin"], "nothing that can be reproduced is called 'two_coin'; did you mean 'two_coins'?"),
        (["two_coins", "--runs", 0], "runs must be at least 2, as the spread of one survey is not known; got 0"),
        (["two_coins", "--runs", -3], "runs must be at least 2"),
        (["two_coins", "--runs", "many"], "--runs"),
        (["two_coins", "--seed", -1], "--seed"),
        (["two_coins", "--workers", 0], "workers must be at least 1"),
        (["two_coins", "--out", "taken"], "the results go into a folder, and 'taken' is a file"),
        (["two_coins", "bao2013"], "unexpected extra argument"),
        (["panel", "--out", "made", "--respondents", "0"], "respondents must be a whole number"),
        (["panel", "--out", "no/made", "--respondents", "9"], "cannot make the folder 'no/made'"),
        (["panel"], "Missing option '--out'; see python -m reproductions panel --help"),
    ],
)
def test_bad_input_is_one_line(run, tmp_path, words, told):
    (tmp_path / "taken").write_text("a file")
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_without_the_plots_nothing_is_begun(run, monkeypatch):
    def missing(module):
        raise output.ExtraMissing(f"the report needs {module}")

    monkeypatch.setattr("naysay.console.output.need", missing)
    assert "the report needs altair" in run(*COINS, "--out", "here")[2]


def test_the_panel_is_that_of_the_library(run):
    assert run(*PANEL, "--kind", "parquet")[0] == 0
    same = generate(respondents=60, background_only=40, waves=24)
    for name, table in {"background": same.background, **same.modules, "truth": same.truth}.items():
        assert pl.read_parquet(Path("made", f"{name}.parquet")).equals(table)


def test_the_panel_says_what_it_wrote_takes_a_seed_and_is_not_overwritten_unasked(run):
    code, out, err = run(*PANEL, "--seed", 2)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].endswith("truth.csv: 100 rows")
    first = Path("made/background.csv").read_text()
    assert "exists; add --force" in run(*PANEL, "--seed", 3)[2]
    assert run(*PANEL, "--seed", 3, "--force")[0] == 0
    assert Path("made/background.csv").read_text() != first


@pytest.mark.parametrize(("words", "command"), [([], source), (["panel"], panel)])
def test_the_help_holds_examples_that_can_be_read(run, words, command):
    code, out, err = run(*words, "--help")
    examples = command.__doc__.partition("Examples:")[2].replace("\\\n", " ").split("python -m reproductions")[1:]
    assert (code, err) == (0, "")
    assert len(examples) >= 2
    assert max(map(len, out.splitlines())) <= 80
    for example in examples:
        assert [word for word in shlex.split(example) if word.startswith("--") and word not in out] == []
