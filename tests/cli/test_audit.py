"""``naysay audit``: programs, functions, endpoints and designs, with a verdict in the exit code."""

import json
import sys
from pathlib import Path

import pytest

from naysay.cli import main

CLIENTS = Path(__file__).parents[1] / "telemetry" / "clients.py"
ASKED = ("--truths", "0,1", "--epsilon", "1", "--runs", "1000")


def program(name):
    return f"{sys.executable} {CLIENTS} {name}"


def test_a_program_that_breaks_its_promise_fails(capsys):
    assert main(["audit", program("subset"), *ASKED]) == 3
    out = capsys.readouterr().out
    assert "FAIL" in out
    assert "is above" in out


def test_a_program_that_keeps_it_is_not_refuted(capsys):
    assert main(["audit", program("right"), *ASKED, "--alpha", "0.0001", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "not refuted"
    assert told["detectable"] is None or told["detectable"] > 1


def test_a_declared_hash_is_replayed(capsys, monkeypatch):
    monkeypatch.chdir(CLIENTS.parent)
    monkeypatch.delitem(sys.modules, "clients", raising=False)
    assert main(["audit", program("seeded"), *ASKED, "--replay", "clients:replay"]) == 3
    assert "the report replayed for each truth" in capsys.readouterr().out
    assert main(["audit", program("seeded"), *ASKED, "--replay", "clients"]) == 2
    assert "--replay names a function of Python" in capsys.readouterr().err


def test_a_function_is_audited(capsys, monkeypatch):
    monkeypatch.chdir(CLIENTS.parent)
    monkeypatch.delitem(sys.modules, "clients", raising=False)
    assert main(["audit", "clients:padded_lie", *ASKED]) == 3
    assert "the length in bytes" in (out := capsys.readouterr().out) or "the bytes" in out


def test_our_sampler_is_audited(capsys):
    assert main(["audit", "--design", "warner(p=0.7)", "--epsilon", "0.5", "--runs", "4000"]) == 3
    assert main(["audit", "--design", "warner(p=0.7)", "--epsilon", "1.2", "--runs", "400"]) == 0
    assert "warner(p=0.7): not refuted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "say what the client promises: --epsilon 1"),
        (("--epsilon", "1"), "give COMMAND or --design DESIGN"),
        (("x", "--epsilon", "1"), "name the truths"),
        (("", "--epsilon", "1", "--truths", "a,b"), "COMMAND is empty"),
        (("no.such:function", "--epsilon", "1", "--truths", "a,b"), "there is no no.such:function"),
        (("json:__name__", "--epsilon", "1", "--truths", "a,b"), "json:__name__ is no function; got str"),
        (("http://example.org", "--epsilon", "1", "--truths", "a,b"), "must be on this computer"),
        (
            ("--design", "negative_levels()", "--categories", "a,b,c", "--epsilon", "1"),
            "audit the channel of one level",
        ),
    ],
)
def test_bad_input(words, told, capsys):
    assert main(["audit", *words]) == 2
    assert told in capsys.readouterr().err
