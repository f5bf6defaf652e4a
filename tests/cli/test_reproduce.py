import json
from pathlib import Path

import pytest

from naysay import reproduce
from naysay.cli import reproduce as command

COINS = ("reproduce", "two_coins", "--runs", 40, "--workers", 1)


def test_without_a_name_all_are_listed(naysay):
    out = naysay("reproduce").out
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(reproduce.SOURCES)
    told = json.loads(naysay("reproduce", "--format", "json").out)
    assert [each["name"] for each in told] == list(reproduce.SOURCES)
    assert naysay("reproduce", "--format", "markdown").out.startswith("| name | what | surveys |\n|---|---|--:|\n| esp")


def test_it_is_reproduce(naysay):
    found = reproduce.reproduce("two_coins", runs=40)
    assert naysay(*COINS) == (0, f"{found}\n", "")
    assert naysay(*COINS, "--format", "markdown").out == found.to_markdown()
    told = json.loads(naysay(*COINS, "--format", "json").out)
    assert {**told, "seconds": 0} == {**json.loads(json.dumps(found.to_dict())), "seconds": 0}
    assert naysay(*COINS, "--seed", 5).out == f"{reproduce.reproduce('two_coins', runs=40, seed=5)}\n"


def test_a_folder_is_left(naysay):
    code, _, err = naysay(*COINS, "--out", "here")
    assert (code, err) == (0, f"naysay: note: written to {Path('here', 'two_coins')}\n")
    assert Path("here", "two_coins", "estimates.svg").read_text().startswith("<svg")


def test_ctrl_c_leaves_nothing(naysay, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("naysay.simulate.replicate", interrupt)
    assert naysay(*COINS, "--out", "here") == (130, "", "")
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
    ],
)
def test_bad_input_is_one_line(refused, write, words, told):
    write("taken", "a file")
    assert told in refused("reproduce", *words)


def test_without_the_plots_nothing_is_begun(refused, monkeypatch):
    def missing(module):
        raise command.pages.ExtraMissing(f"the report needs {module}")

    monkeypatch.setattr("naysay.console.pages.need", missing)
    assert "the report needs altair" in refused(*COINS, "--out", "here")
