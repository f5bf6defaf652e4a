"""``naysay tally`` and ``naysay reports``: from batches to a tally file to an estimate."""

import io
import json
import sys

import pytest

from naysay import batches, designs
from naysay.cli import main
from naysay.tally import Tally

CRASH = designs.k_ary(("list", "map", "search"), epsilon=2)
DESIGN = ("--design", "k_ary(epsilon=2)", "--categories", "list,map,search")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ["list"] * 60 + ["map"] * 30 + ["search"] * 10
    for wave in (1, 2):
        batches.write(f"{wave}.nsrb", CRASH, said * wave, question="crash", wave=wave)
    return tmp_path


def run(*words):
    assert main(list(words)) == 0


def refused(capsys, *words):
    assert main(list(words)) == 2
    return capsys.readouterr().err


def test_from_batches_to_an_estimate(folder, capsys):
    run("tally", "1.nsrb", "2.nsrb", *DESIGN)
    assert [line.split()[:2] + line.split()[4:5] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["crash", "1", "100"],
        ["crash", "2", "200"],
    ]
    run("tally", "1.nsrb", "2.nsrb", *DESIGN, "--wave", "2", "--out", "2.tally")
    assert capsys.readouterr().out == "200 reports are in 2.tally\n"
    run("estimate", "2.tally", "--format", "json")
    told = json.loads(capsys.readouterr().out)
    assert (told["n"], told["categories"]) == (200, ["list", "map", "search"])
    run("tally", "2.tally", "2.tally", "--subtract", "2.tally", "--out", "again.tally")
    assert Tally.load("again.tally").counts.tolist() == [120, 60, 20]


def test_batches_come_from_a_pipe(folder, capsys, monkeypatch):
    class Piped:
        buffer = io.BytesIO((folder / "1.nsrb").read_bytes())

    monkeypatch.setattr(sys, "stdin", Piped)
    run("tally", "-", *DESIGN, "--out", "piped.tally")
    assert Tally.load("piped.tally").n == 100
    assert "100 reports are in piped.tally" in capsys.readouterr().out


def test_what_does_not_fit_is_named(folder, capsys):
    run("tally", "1.nsrb", *DESIGN, "--out", "1.tally")
    run("tally", "2.nsrb", *DESIGN, "--out", "2.tally")
    other = designs.k_ary(("list", "map", "search"), epsilon=1)
    batches.write("other.nsrb", other, ["map"])
    run("tally", "other.nsrb", "--design", "k_ary(epsilon=1)", *DESIGN[2:], "--out", "other.tally")
    capsys.readouterr()
    assert "tallies of two waves do not add" in refused(capsys, "tally", "1.tally", "2.tally", "--out", "x.tally")
    assert "tallies of different designs do not add" in refused(
        capsys, "tally", "1.tally", "other.tally", "--out", "x.tally"
    )
    assert "batch 1 of 'other.nsrb': its design has the hash" in refused(capsys, "tally", "other.nsrb", *DESIGN)
    assert "--design DESIGN is missing" in refused(capsys, "tally", "1.nsrb")
    assert "no batch is of that question and wave; there are" in refused(
        capsys, "tally", "1.nsrb", *DESIGN, "--wave", "9"
    )
    assert "exists; add --force" in refused(capsys, "tally", "1.nsrb", *DESIGN, "--out", "1.tally")
    assert "a tally's name ends in .tally" in refused(capsys, "tally", "1.nsrb", *DESIGN, "--out", "x.npz")
    assert "leave --by out: a tally has no columns" in refused(capsys, "estimate", "1.tally", "--by", "age")
    (Tally.load("1.tally") + Tally.load("1.tally")).save("double.tally")
    told = refused(capsys, "tally", "1.tally", "--subtract", "double.tally", "--out", "x.tally")
    assert "was given 60 times; 120 cannot be taken off" in told


def test_one_bad_report_of_a_file(folder, capsys):
    line = {"naysay": "reports", "version": 1, "design": CRASH.hash, "reports": ["map", 9, 0]}
    (folder / "bad.jsonl").write_text(json.dumps(line))
    assert "batch 1 of 'bad.jsonl': report 2 of 3 is 9" in refused(capsys, "tally", "bad.jsonl", *DESIGN)
    run("tally", "bad.jsonl", *DESIGN, "--bad", "keep", "--out", "kept.tally")
    assert "left out, since no device can draw them: 1 report; report 2 of 3 is 9" in capsys.readouterr().err
    assert Tally.load("kept.tally").counts.tolist() == [1, 1, 0]


def test_levels_and_open_domains_need_their_design(folder, capsys):
    levels = designs.negative_levels(("a", "b", "c"))
    levels.tally(["a", "b"], level=[1, 1]).save("levels.tally")
    assert "name the --design of this tally" in refused(capsys, "estimate", "levels.tally")
    run("estimate", "levels.tally", "--design", "negative_levels()", "--categories", "a,b,c")
    assert "negative_levels()" in capsys.readouterr().out


def test_what_a_server_counts_is_opened_listed_closed_and_tallied(folder, capsys):
    run("reports", "open", *DESIGN[1:], "--question", "crash", "--wave", "1")
    assert capsys.readouterr().out.strip() == CRASH.hash
    run("reports", "list")
    assert CRASH.hash[:12] in capsys.readouterr().out
    assert "no report to 'crash' has come yet" in refused(capsys, "reports", "tally", "x.tally")
    run("reports", "close", "--question", "crash")
    assert "0 reports were counted; no more are" in capsys.readouterr().out
    assert "nothing is counted under this name" in refused(capsys, "reports", "close", "--question", "other")
    run("reports", "open", *DESIGN[1:])
    assert "only batches that name no question are counted" in capsys.readouterr().err
