import json
import os
import signal

import pytest

from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.questionnaire import sample
from naysay.collect.serving import background
from naysay.collect.storage import Store

TRUTH = "age,income,income_level,smoking\n30,to_2000,2,yes\n41,to_5000,1,no\n55,,,\n"


@pytest.fixture
def link(tmp_path):
    """The sample survey, up on a database in the data folder."""
    (tmp_path / "naysay-data").mkdir()
    store = Store(tmp_path / "naysay-data" / "naysay.db")
    with background(create_app([sample()], store, each=0)) as server:
        yield f"{server}/s/sample"
    store.dispose()


def stored(tmp_path):
    store = Store(tmp_path / "naysay-data" / "naysay.db")
    try:
        return [json.loads(text) for _, text in store.replies("sample").rows]
    finally:
        store.dispose()


def test_a_file_of_people_answers(naysay, link, write, tmp_path):
    code, out, err = naysay("respond", link, write("people.csv", *TRUTH.splitlines()))
    assert (code, err) == (0, "")
    assert out.startswith("3 answers stored in 'sample', hash ")
    sent = sorted(stored(tmp_path), key=lambda each: each["age"])
    assert [each["age"] for each in sent] == [30, 41, 55]
    assert len(sent[0]["income"]["response"].split(";")) == 2
    assert sent[2]["income"] is None


def test_a_second_run_sends_nothing_and_says_so(naysay, link, write, tmp_path):
    name = write("people.csv", *TRUTH.splitlines())
    naysay("respond", link, name)
    code, out, err = naysay("respond", link, name)
    assert (code, out.split()[0]) == (0, "0")
    assert "3 more were stored in an earlier run; 'people.csv.sent' remembers them" in err
    assert len(stored(tmp_path)) == 3


def test_a_level_for_everybody_and_a_column_to_ignore(naysay, link, write, tmp_path):
    name = write("people.csv", "who,age,income", "anna,30,to_2000", "ben,40,to_5000")
    assert naysay("respond", link, name, "--ignore", "who", "--level", "income=3").code == 0
    assert [each["income"]["level"] for each in stored(tmp_path)] == ["3", "3"]


def test_random_people_say_that_they_are(naysay, link, tmp_path):
    code, out, err = naysay("respond", link, "--random", 12, "--seed", 1)
    assert (code, out.split()[0]) == (0, "12")
    assert "random people" in err
    assert len(stored(tmp_path)) == 12


@pytest.mark.parametrize(
    ("lines", "options", "told"),
    [
        (
            ["age,income", "30,canary"],
            [],
            "row 1, column 'income' must be the name of one of its choices; it is a text",
        ),
        (["age,incme", "30,x"], [], "column 'incme' belongs to no question (did you mean 'income'?)"),
        (["age", "17"], [], "row 1: question 'age' must fulfill its constraint"),
        (["age", "30"], ["--level", "income"], "--level must be QUESTION=LEVEL"),
        (["age", "30"], ["--level", "income=9"], "must be a level that is offered"),
        (["age", "30"], ["--seed", "1"], "--seed is for --random"),
        (["age", "30"], ["--random", "3"], "either a FILE of true answers"),
        (["age", "30"], ["--hash", "0" * 64], "it is another one"),
        (["age", "30"], ["--ignore", "who"], "there is no column 'who'"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_one_line(refused, link, write, tmp_path, lines, options, told):
    line = refused("respond", link, write("people.csv", *lines), *options)
    assert told in line
    assert "canary" not in line
    assert stored(tmp_path) == []


def test_a_server_that_is_not_there_is_one_line(refused, write):
    assert "cannot be reached" in refused("respond", "http://127.0.0.1:9/s/x", write("people.csv", "age", "30"))


def test_an_interruption_says_how_many_are_acknowledged(naysay, link, write, tmp_path, monkeypatch):
    many = respond.many

    def interrupted(*arguments, on_acknowledged, **options):
        def stop(now):
            on_acknowledged(now)
            if now.stored == 5:
                os.kill(os.getpid(), signal.SIGINT)

        return many(*arguments, on_acknowledged=stop, **{**options, "concurrency": 2})

    name = write("people.csv", "age", *["30"] * 40)
    monkeypatch.setattr(respond, "many", interrupted)
    code, out, err = naysay("respond", link, name)
    assert (code, out) == (130, "")
    assert " of 40 answers are acknowledged, " in err
    assert "run the same command again for the rest" in err
    monkeypatch.setattr(respond, "many", many)
    assert naysay("respond", link, name).code == 0
    assert len(stored(tmp_path)) == 40
