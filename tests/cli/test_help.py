import json
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pyotp
import pytest

import naysay as package
from naysay.cli import crosstab, demo, design, estimate, randomize, root, telemetry
from naysay.cli.regress import command as regress
from naysay.collect import respond as responding
from naysay.collect.admin import tokens
from naysay.collect.admin.account import Account
from naysay.collect.app import create_app
from naysay.collect.commands import admin, questionnaire, respond, serve, survey
from naysay.collect.questionnaire import sample
from naysay.collect.serving import background, bound
from naysay.collect.storage import Store
from naysay.designs import FAMILIES
from naysay.microdata.commands import panel, risk
from naysay.planning.command import command as plan
from naysay.simulate.command import command as simulate

HELP = {
    "": root,
    "estimate": estimate.command,
    "tally": telemetry.command,
    "regress": regress,
    "crosstab": crosstab.command,
    "simulate": simulate,
    "plan": plan,
    "randomize": randomize.command,
    "risk": risk.command,
    "panel": panel.group,
    "panel merge": panel.merge,
    "panel birthdays": panel.birthdays,
    "design": design.group,
    "design show": design.show,
    "designs": design.catalog,
    "questionnaire": questionnaire.group,
    "questionnaire new": questionnaire.new,
    "questionnaire check": questionnaire.check,
    "questionnaire convert": questionnaire.convert,
    "questionnaire preview": serve.preview,
    "serve": serve.command,
    "respond": respond.command,
    "survey": survey.group,
    "survey open": survey.open_survey,
    "survey close": survey.close,
    "survey list": survey.survey_list,
    "survey export": survey.export,
    "survey ethics": survey.ethics,
    "survey copy": survey.copy,
    "survey schedule": survey.schedule,
    "survey backup": survey.backup,
    "survey restore": survey.restore,
    "survey delete": survey.delete,
    "admin": admin.group,
    "admin password": admin.password,
    "admin factor-off": admin.factor_off,
    "admin token": admin.token,
    "admin tokens": admin.tokens,
    "admin revoke": admin.revoke,
    "admin log": admin.log,
    "demo": demo.command,
}


def examples(function):
    text = function.__doc__.partition("Example")[2].replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.strip().startswith("naysay ")]


EXAMPLES = [each for function in HELP.values() for each in examples(function)]


@pytest.fixture
def quick_demo(monkeypatch):
    """The demo without its work."""

    def run(out, *, seed=None, console, stay=None):
        out.mkdir()
        console.print(f"seed {seed}")
        return out / "report.html"

    fake = types.ModuleType("naysay.demo")
    fake.run, fake.forever = run, None
    monkeypatch.setitem(sys.modules, "naysay.demo", fake)
    monkeypatch.setattr(package, "demo", fake, raising=False)


@pytest.mark.parametrize("command", HELP)
def test_every_command_has_help_with_an_example(naysay, command):
    code, out, err = naysay(*command.split(), "--help")
    assert (code, err) == (0, "")
    assert examples(HELP[command])
    for line in HELP[command].__doc__.partition("Example")[2].splitlines()[1:]:
        assert line.strip() in out
    assert max(map(len, out.splitlines())) <= 80
    assert not [line for line in out.splitlines() if line.endswith("...") and not line.startswith("Usage")]


@pytest.fixture
def quick_server(monkeypatch, naysay):
    """A server that ends as soon as it has begun, and a survey to be closed or deleted."""
    monkeypatch.setattr("naysay.collect.serving.serve", lambda *_: None)
    monkeypatch.setattr("naysay.collect.commands.serve.heard", lambda: None)
    monkeypatch.setattr("naysay.collect.serving.bound", lambda host, _: bound(host, 0))
    return lambda: naysay("survey", "open", "survey.json")


@pytest.fixture
def sample_server(tmp_path, monkeypatch):
    """The sample survey, up and answered by some, in place of whatever link is asked for."""
    (tmp_path / "naysay-data").mkdir()
    (tmp_path / "people.csv").write_text("age,income\n30,to_2000\n41,to_5000\n", encoding="utf-8")
    store, fetch = Store(tmp_path / "naysay-data" / "naysay.db"), responding.fetch
    with background(create_app([sample()], store, each=0)) as server:
        found = fetch(f"{server}/s/sample")
        responding.many(found, responding.anybody(found.questionnaire, 60, seed=1))
        monkeypatch.setattr(responding, "fetch", lambda _, **options: fetch(found.url, **options))
        yield
    store.dispose()


@pytest.fixture
def administered(tmp_path, monkeypatch, naysay):
    """A survey that is run by somebody with a password, a phone, a token and a backup."""
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "correct horse battery")
    if (tmp_path / "naysay-data").exists():
        store = Store(tmp_path / "naysay-data" / "naysay.db")
        account = Account(store)
        account.set_password("correct horse battery")
        secret = pyotp.random_base32()
        account.start_second_factor(secret, pyotp.TOTP(secret).now())
        tokens.create(store, "our dashboard", scopes=["read:aggregates"])
        store.dispose()


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_every_example_runs(naysay, survey, quick_demo, quick_server, request, words):
    if words[:1] == ["admin"] or (words[:1] == ["survey"] and words[1] not in ("open", "export", "ethics")):
        quick_server()
        request.getfixturevalue("administered")
    if words[:1] == ["respond"] or "--survey" in words or words[1:2] in (["export"], ["ethics"]):
        request.getfixturevalue("sample_server")
    if words[:2] == ["survey", "restore"]:
        naysay("survey", "backup", "monday.db")
    if words[:1] == ["query"] or "--joint" in words:
        naysay(*next(example for example in EXAMPLES if "--budget" in example))
    code, out, err = naysay(*words)
    assert code == 0, err
    assert out


def test_the_demo_is_run_with_its_options(naysay, quick_demo):
    code, out, _ = naysay("demo", "--seed", 3, "--out", "shown")
    assert code == 0
    assert out == "seed 3\n"
    assert Path("shown").is_dir()


def test_sample_files_are_written_once(naysay, refused):
    ran = naysay("demo", "--files", "samples")
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [f"{Path('samples', name)}: written" for name in ("people.csv", "answers.csv")],
    )
    before = Path("samples", "people.csv").read_bytes()
    assert f"{str(Path('samples', 'people.csv'))!r} already exists" in refused("demo", "--files", "samples")
    naysay("demo", "--files", "again")
    naysay("demo", "--files", "others", "--seed", 2)
    assert Path("again", "people.csv").read_bytes() == before != Path("others", "people.csv").read_bytes()


def test_the_demo_that_cannot_write_says_so(refused, quick_demo, write):
    write("taken", "a file")
    assert "cannot write to 'taken'" in refused("demo", "--out", "taken")


def test_version_and_no_command(naysay):
    assert naysay("--version").out == f"naysay {package.__version__}\n"
    assert "estimate" in naysay().out
    assert "show" in naysay("design").out


def test_all_families_are_listed(naysay):
    out = naysay("designs").out
    assert all(f"{name}(" in out for name in FAMILIES)
    listed = json.loads(naysay("designs", "--format", "json").out)
    assert [entry["name"] for entry in listed] == list(FAMILIES)
    assert set(listed[0]) == {"name", "parameters", "description"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["estimat"], "No such command"),
        (["design", "warner(p=0.7)"], "a design is shown by: naysay design show"),
        (["estimate"], "give FILE, or --survey NAME; see naysay estimate --help"),
        (["estimate", "a.csv", "--response"], "requires an argument"),
        (["estimate", "a.csv", "--response", "x"], "--design DESIGN is missing"),
        (["estimate", "a.csv", "--respose", "x"], "No such option: --respose"),
        (["estimate", "a.csv", "b.csv", "--response", "x", "--design", "y"], "unexpected extra argument"),
        (["design", "show"], "Missing argument"),
        (["randomize", "a", "--response", "x", "--design", "y", "--out", "b", "--seed", "-1"], "--seed"),
    ],
)
def test_wrong_usage_is_one_line(refused, words, told):
    assert told in refused(*words)


def test_an_interrupt_ends_quietly(naysay, survey, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("naysay.files.scan", interrupt)
    words = ("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)")
    assert naysay(*words) == (130, "", "")


def test_a_bug_shows_its_traceback(naysay, survey, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("naysay.files.scan", broken)
    with pytest.raises(ZeroDivisionError):
        naysay("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)")


def module(*words, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "naysay", *words], cwd=cwd, capture_output=True, env=environment or None, check=False
    )


def test_it_runs_as_a_module(survey):
    ran = module("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)", cwd=survey)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "ε = " in ran.stdout.decode()


def test_errors_of_the_module_exit_with_2_and_one_line(survey):
    ran = module("estimate", "nothing.csv", "--response", "doping", "--design", "warner(p=0.7)", cwd=survey)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().splitlines() == ["naysay: there is no file 'nothing.csv'"]


def test_a_terminal_without_unicode_gets_escapes(survey):
    words = ("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)")
    ran = module(*words, cwd=survey, PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert b"\\u03b5" in ran.stdout
    told = json.loads(module(*words, "--format", "json", cwd=survey, PYTHONIOENCODING="ascii").stdout)
    assert told["design"] == "warner(p=0.7)"


def test_a_closed_pipe_is_no_bug(survey):
    reader = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'naysay', 'designs'], "
    reader += "stdout=subprocess.PIPE, stderr=subprocess.PIPE); p.stdout.close(); "
    reader += "err = p.stderr.read(); p.stderr.close(); print(p.wait(), err)"
    ran = subprocess.run([sys.executable, "-c", reader], cwd=survey, capture_output=True, text=True, check=True)
    assert ran.stdout == "141 b''\n"


def test_bash_completes_commands_and_options():
    """The script that a shell reads asks the program itself, with the words so far."""
    command = Path(sys.executable).with_name("naysay")
    script = f"""
        eval "$(_NAYSAY_COMPLETE=source_bash {command})"
        complete -p naysay
        COMP_WORDS=(naysay est) COMP_CWORD=1; _naysay_completion {command}; echo "${{COMPREPLY[@]}}"
        COMP_WORDS=(naysay estimate --conf) COMP_CWORD=2; _naysay_completion {command}; echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["complete -o default -F _naysay_completion naysay", "estimate", "--confidence"]
