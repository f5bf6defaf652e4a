"""The commands of those who run surveys, and what they say to wrong input."""

import contextlib
import io
import json
import shutil
import sqlite3

import pytest

from naysay.collect import Published
from naysay.collect.admin import backup as backups
from naysay.collect.admin import log
from naysay.collect.admin.account import Account
from naysay.collect.client import FOLDER, Client
from naysay.collect.questionnaire import load, sample
from naysay.collect.storage import Store, today


@pytest.fixture
def opened(naysay, tmp_path):
    """A survey that is open."""
    (tmp_path / "survey.json").write_bytes(sample().to_json())
    assert naysay("survey", "open", "survey.json").code == 0


@pytest.fixture
def store(tmp_path, opened):
    found = Store(tmp_path / "naysay-data" / "naysay.db")
    yield found
    found.dispose()


def test_a_survey_goes_into_a_next_wave_as_a_draft_or_as_a_file(naysay, refused, opened, tmp_path):
    assert "sample-2 is a draft now" in naysay("survey", "copy", "sample", "sample-2").out
    assert [each["state"] for each in json.loads(naysay("survey", "list", "--format", "json").out)["surveys"]] == [
        "open",
        "draft",
    ]
    assert "sample-2 is open" in naysay("survey", "open", "sample-2").out
    naysay("survey", "copy", "sample", "wave-3", "--to", "wave-3.xlsx")
    assert load(tmp_path / "wave-3.xlsx").form() == {**sample().form(), "name": "wave-3"}
    assert "add --force" in refused("survey", "copy", "sample", "wave-3", "--to", "wave-3.xlsx")
    assert "there is a survey 'sample-2' already" in refused("survey", "copy", "sample", "sample-2")
    assert "there is no draft 'nothing'" in refused("survey", "copy", "nothing", "x")
    assert "lower-case letters" in refused("survey", "copy", "sample", "Wave 4")


def test_dates_are_set_one_by_one_struck_out_and_carried_out(naysay, refused, store):
    assert naysay("survey", "schedule", "sample").out == "sample has no dates\n"
    naysay("survey", "schedule", "sample", "--closes", "2036-03-31")
    both = naysay("survey", "schedule", "sample", "--keep-until", "2037-03-31").out
    assert both == "sample closes when 2036-03-31 is over; is deleted when 2037-03-31 is over (UTC)\n"
    assert naysay("survey", "schedule", "sample", "--clear").out == "sample has no dates\n"
    assert "takes a date such as 2027-01-31; got '31.3.2036'" in refused(
        "survey", "schedule", "sample", "--closes", "31.3.2036"
    )
    assert "must not be over" in refused("survey", "schedule", "sample", "--closes", "2020-01-01")
    assert "there is no survey or draft 'nothing'" in refused("survey", "schedule", "nothing")
    naysay("survey", "close", "sample")
    naysay("survey", "schedule", "sample", "--opens", str(today()))
    assert "opened sample" in naysay("survey", "schedule", "sample", "--run").out


def test_a_draft_without_a_private_question_gets_a_first_day_only_after_a_yes(naysay, monkeypatch, tmp_path):
    asked = [{"kind": "integer", "name": "age", "label": {"en": "How old are you?"}}]
    form = {"naysay": "questionnaire", "version": 1, "name": "plain", "title": {"en": "P"}, "languages": ["en"]}
    (tmp_path / "plain.json").write_text(json.dumps({**form, "items": asked}))
    assert naysay("survey", "open", "plain.json", "--yes").code == 0
    assert naysay("survey", "copy", "plain", "plain-2").code == 0
    first = ("survey", "schedule", "plain-2", "--opens", str(today()))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    told = naysay(*first)
    assert (told.code, "'plain-2' was not opened: no question is private" in told.err) == (2, True)
    assert naysay("survey", "schedule", "plain-2").out == "plain-2 has no dates\n"
    assert naysay(*first, "--yes").code == 0
    naysay("survey", "backup", "first-day.db")
    restored = naysay("survey", "restore", "first-day.db", "--db", "restored.db")
    assert "plain-2: this draft has no private question, so its first day of answers was struck out" in restored.err
    assert naysay("survey", "schedule", "plain-2", "--db", "restored.db").out == "plain-2 has no dates\n"
    (tmp_path / "other.json").write_text(json.dumps({**form, "name": "other", "items": [{**asked[0], "name": "year"}]}))
    naysay("survey", "open", "other.json", "--yes")
    assert "its first day of answers was struck out" in naysay("survey", "copy", "other", "plain-2").err
    assert naysay("survey", "schedule", "plain-2").out == "plain-2 has no dates\n"


def test_backups_say_what_they_hold_and_what_is_wrong(naysay, refused, opened, tmp_path):
    assert naysay("survey", "backup", "b.db").out == "b.db: 1 survey with 0 replies\n"
    assert "does not replace another" in refused("survey", "backup", "b.db")
    assert naysay("survey", "restore", "b.db", "--data", "two").out == "restored 1 survey with 0 replies\n"
    assert "without surveys; this one holds 1" in refused("survey", "restore", "b.db", "--data", "two")
    assert "there is no file 'nothing.db'" in refused("survey", "restore", "nothing.db")
    (tmp_path / "c.db").write_text("x")
    assert "is no backup" in refused("survey", "restore", "c.db", "--data", "three")
    for change, later in (("UPDATE", "SET version_num = '9999'"), ("INSERT INTO", "VALUES ('9998')")):
        shutil.copy(tmp_path / "b.db", tmp_path / "later.db")
        with contextlib.closing(sqlite3.connect(tmp_path / "later.db", isolation_level=None)) as connection:
            connection.execute(f"{change} alembic_version {later}")
        for database in (("--data", "three"), ("--db", "three.db")):
            assert "a newer one: upgrade naysay" in refused("survey", "restore", "later.db", *database)
        assert "a newer one: upgrade naysay" in refused("survey", "list", "--db", "later.db")
    assert not (tmp_path / "three").exists()  # nothing is made before the backup is found sound
    assert not (tmp_path / "three.db").exists()


def test_a_restored_survey_with_a_foreign_page_has_the_page_of_this_naysay_and_that_is_said(naysay, tmp_path):
    shipped = Client.of(FOLDER)
    script = shipped.files["survey.js"]
    evil = Client({**shipped.files, "survey.js": script[:-1] + bytes([script[-1] ^ 1])})
    store = Store(tmp_path / "other.db")
    before = Published.of(sample(), client=evil)
    store.open(before)
    Account(store).set_password("the password of somebody else")
    backups.backup(store, tmp_path / "b.db")
    store.dispose()
    told = naysay("survey", "restore", "b.db", "--data", "mine")
    mine = Store(tmp_path / "mine" / "naysay.db")
    after = mine.published("sample")
    mine.dispose()
    assert after.has(shipped)
    assert "the admin pages have the password of the backup" in told.err
    assert f"it has a new hash: before {before.hash}, now {after.hash}" in " ".join(told.err.split())


def test_the_password_is_asked_for_and_never_shown(naysay, refused, store, monkeypatch):
    monkeypatch.setattr("typer.prompt", lambda *_, **how: "correct horse battery" if how["hide_input"] else "")
    ran = naysay("admin", "password")
    assert "correct" not in ran.out + ran.err
    assert Account(store).is_right("correct horse battery")
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "short")
    assert "12 to 1,000 characters; got 5" in refused("admin", "password")
    assert "no code from a phone" in refused("admin", "factor-off")


def test_tokens_are_made_listed_and_revoked(naysay, refused, store):
    made = naysay("admin", "token", "numbers", "--scope", "read:aggregates", "--survey", "sample")
    assert made.out.startswith("naysay_")
    assert made.out.strip() not in naysay("admin", "tokens").out
    assert "numbers" in naysay("admin", "tokens").out
    assert "got write" in refused("admin", "token", "x", "--scope", "write")
    assert "--expires takes a date" in refused("admin", "token", "x", "--scope", "read:export", "--expires", "soon")
    assert "reads nothing more" in naysay("admin", "revoke", "numbers").out
    assert "there are 0" in refused("admin", "revoke", "numbers")
    assert [entry.what for entry in log.entries(store)] == ["revoked a token", "made a token", "opened"]
    told = json.loads(naysay("admin", "log", "--format", "json").out)["log"]
    assert [each["what"] for each in told] == ["revoked a token", "made a token", "opened"]
    assert told[0]["at"].endswith("Z")
