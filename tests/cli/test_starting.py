"""What is not loaded until it is needed."""

import subprocess
import sys

import pytest
import typer

import naysay
from naysay import designs, files
from naysay.cli import COMMANDS, app, main

HEAVY = {"altair", "duckdb", "fastapi", "numba", "pandas", "pyarrow", "scipy.stats", "scipy.optimize", "scipy.linalg"}
TABLES = HEAVY | {"narwhals", "polars"}
NUMBERS = TABLES | {"numpy", "rich", "scipy"}
NETWORK = {"ssl", "http.client", "urllib.request"}


def loaded(*words):
    """The modules that a run of Python imports."""
    run = subprocess.run([sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (("-c", "import naysay"), NUMBERS),
        (("-m", "naysay", "--version"), NUMBERS),
        (("-m", "naysay", "--help"), NUMBERS),
        (("-c", "from naysay import designs"), TABLES),
        (("-c", "import naysay; naysay.designs.warner(p=0.7)"), TABLES | NETWORK),
        (("-c", "from naysay import estimate"), TABLES),
        (("-m", "naysay", "estimate", "--help"), TABLES),
        (("-m", "naysay", "design", "show", "--help"), TABLES),
        (("-m", "naysay", "serve", "--help"), NUMBERS),
        (("-m", "naysay", "risk", "--help"), HEAVY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_not_needed_is_not_loaded(words, absent):
    assert not absent & loaded(*words)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name):
    own = typer.main.get_command(app).commands[name]
    assert own.name == name
    assert own.help.partition("\n\n")[0] == COMMANDS[name].summary() != ""


@pytest.mark.parametrize("name", ["plan", "regress", "simulate"])
def test_commands_whose_help_is_in_docstrings_run_without_docstrings(name):
    command = [sys.executable, "-OO", "-m", "naysay", name, "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not run.returncode, run.stderr
    assert f"Usage: naysay {name}" in run.stdout


@pytest.mark.parametrize("package", [naysay, files])
def test_public_names_are_there_before_they_are_loaded(package):
    code = f"import {package.__name__} as package; print(*(getattr(package, name) is None for name in package.__all__))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"False"}
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing


def test_a_tally_is_loaded_before_any_design_is(tmp_path):
    designs.warner(p=0.7).tally(["yes", "no", "no"]).save(tmp_path / "tally.npz")
    code = "from naysay.tally import Tally; print(Tally.load('tally.npz').n)"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "3\n"


def test_a_library_of_an_extra_that_is_missing_is_named_in_one_line(capsys):
    def commands(**_):
        raise ModuleNotFoundError("No module named 'sqlalchemy'", name="sqlalchemy")

    assert main(["reports", "list"], commands=commands) == 2
    err = capsys.readouterr().err
    assert err.startswith("naysay: this needs sqlalchemy")
    assert err.endswith("pip install 'naysay[all]'\n")
