"""What is done to surveys from the page and on a day: opened, closed, copied, exported, deleted, and logged."""

import datetime
import io
import json
import re
import sqlite3
import zipfile

import polars as pl
import pytest
from sqlalchemy.exc import OperationalError

from naysay import DataError, questionnaire
from naysay.collect import Published
from naysay.collect.admin import drafts, log, plans
from naysay.collect.admin.plans import Clock, Plan
from naysay.collect.questionnaire import sample
from naysay.collect.storage import Receipt, Reply, Store, tables, today
from naysay.collect.storage.tables import draft as draft_table

DAY = datetime.timedelta(1)


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "a.db")
    yield found
    found.dispose()


def say(store, published, answers, n=1):
    ids = [f"{k:032x}" for k in range(n)]
    store.add([Reply("kinds", published.hash, id, json.dumps(answers), today()) for id in ids])


def done(store):
    return [(entry.who, entry.what, entry.about) for entry in log.entries(store)][::-1]


def test_a_survey_from_its_upload_to_its_deletion(office, admin, store):
    admin.upload("sample.json", sample().to_json())
    admin.post("/admin/drafts/sample/open")
    assert office.get("/s/sample").status == 200
    assert b"sample" in admin.get("/admin/").content
    admin.post("/admin/surveys/sample/close")
    assert office.get("/s/sample/survey.json").status == 410
    admin.post("/admin/surveys/sample/reopen")
    assert office.get("/s/sample/survey.json").status == 200
    assert admin.post("/admin/surveys/sample/copy", {"new": "Not a name"}).status == 422
    assert admin.post("/admin/surveys/sample/copy", {"new": "kinds"}).status == 422
    assert (
        admin.post("/admin/surveys/sample/copy", {"new": "sample-2"}).headers["location"].startswith("/admin/drafts/")
    )
    assert drafts.find(store, "sample-2").questionnaire.form() == {**sample().form(), "name": "sample-2"}
    assert admin.post("/admin/drafts/sample-2/discard").status == 303
    assert admin.post("/admin/surveys/sample/delete", {"confirmed": "kinds"}).status == 422
    assert admin.post("/admin/surveys/sample/delete", {"confirmed": "sample"}).status == 303
    assert office.get("/s/sample").status == 404
    receipt = admin.get("/admin/deleted").content
    assert b"Survey sample was deleted on" in receipt
    acts = ["logged in", "uploaded", "opened", "closed", "reopened", "copied", "discarded", "deleted"]
    assert [what for _, what, _ in done(store)] == acts
    assert {who for who, _, _ in done(store)} == {"page"}
    assert b"reopened" in admin.get("/admin/log").content


@pytest.mark.parametrize("act", ["close", "reopen", "renew", "copy", "delete", "export", "schedule"])
def test_what_is_not_there_is_not_acted_on(admin, store, act):
    for name in ("nothing", "KINDS", "kinds%20", "..", "%2e%2e%2fkinds"):
        found = admin.post(f"/admin/surveys/{name}/{act}", {"confirmed": name, "new": "x", "format": ".csv"})
        assert found.status in (404, 422), name
    assert [entry.what for entry in log.entries(store)] == ["logged in"]


@pytest.mark.parametrize("suffix", [".csv", ".sav", ".xlsx"])
def test_an_export_from_the_page_is_that_of_the_command(admin, store, published, answers, suffix, tmp_path):
    say(store, published, answers, n=7)
    found = admin.post("/admin/surveys/kinds/export", {"format": suffix, "language": "en"})
    assert found.status == 200
    assert int(found.headers["content-length"]) == len(found.content)
    with zipfile.ZipFile(io.BytesIO(found.content)) as archive:
        names = sorted(archive.namelist())
        archive.extractall(tmp_path / "out")
    stem = f"kinds-{today()}{suffix}"
    assert names == sorted([stem, *(f"{stem}.{end}" for end in ("codebook.md", "codebook.xml", "designs.json"))])
    if suffix == ".csv":
        assert pl.read_csv(tmp_path / "out" / stem)["age"].to_list() == [30] * 7
    assert done(store)[-1] == ("page", "exported", "kinds")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"format": ".exe"}, b"an export is one of"),
        ({"format": ".csv", "language": "xx"}, b"no texts in"),
        ({}, b"one of"),
    ],
)
def test_what_cannot_be_exported_is_said(admin, store, published, answers, fields, told):
    say(store, published, answers)
    found = admin.post("/admin/surveys/kinds/export", fields)
    assert found.status == 422
    assert told in found.content


def test_the_questionnaire_comes_back_as_a_file(admin, published):
    assert json.loads(admin.get("/admin/surveys/kinds/questionnaire.json").content) == published.questionnaire.form()
    sheet = admin.get("/admin/surveys/kinds/questionnaire.xlsx").content
    assert admin.upload("kinds-2.xlsx", sheet).status == 422  # its settings still name it kinds
    assert admin.get("/admin/surveys/kinds/questionnaire.exe").status == 404
    assert admin.get("/admin/surveys/other/questionnaire.json").status == 404


def test_results_are_shown_and_shared_under_a_link_that_is_shown_once(
    office, admin, store, published, answers, write_body
):
    assert b"Nobody has answered yet" in admin.get("/admin/surveys/kinds/results").content
    for n in range(30):
        assert office.post(write_body(published, {**answers, "age": 20 + n})).status == 201
    page = admin.get("/admin/surveys/kinds/results").content
    assert b"<svg" in page
    assert not re.search(rb"<script|<style| style=| on\w+=", page)
    link = re.search(rb"<code>(http[^<]*)</code>", admin.post("/admin/surveys/kinds/share").content)[1].decode()
    path = "/" + link.partition("/results/")[1].strip("/") + "/" + link.partition("/results/")[2]
    assert office.get(path).status == 200
    assert link.encode() not in admin.get("/admin/surveys/kinds/results").content
    assert admin.post("/admin/surveys/kinds/unshare").status == 303
    assert office.get(path).status == 404
    assert admin.post("/admin/surveys/kinds/unshare").status == 422
    assert admin.get("/admin/surveys/kinds/results?by=nothing").status == 422


def test_a_frame_shows_the_findings_so_far_and_only_admin_pages_may_hold_it(
    office, admin, published, answers, write_body
):
    before = admin.get("/admin/surveys/kinds/live")
    assert b"<b>0</b> replies" in before.content
    for _ in range(12):
        office.post(write_body(published, answers))
    frame = admin.get("/admin/surveys/kinds/live")
    assert b"<b>12</b> replies" in frame.content
    assert b"between" in frame.content
    assert not re.search(rb"<script|<style| style=| on\w+=", frame.content)
    assert frame.headers["refresh"] == "5"
    assert "frame-ancestors 'self'" in frame.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in admin.get("/admin/surveys/kinds/results").headers["content-security-policy"]
    admin.cookie = ""
    assert admin.get("/admin/surveys/kinds/live").status == 303


def test_links_of_invitations_come_once_and_are_stored_nowhere(office, admin, store, tmp_path):
    found = admin.post("/admin/surveys/kinds/invite", {"count": "25"})
    links = found.content.decode().split()
    assert links[0] == "link"
    assert len(set(links[1:])) == 25
    assert store.surveys()[0].invited == 25
    store.settle()
    codes = [link.partition("#")[2] for link in links[1:]]
    assert not [code for code in codes if code.encode() in (tmp_path / "a.db").read_bytes()]
    for wrong in ("", "0", "-1", "1e3", "10001", "９"):
        assert admin.post("/admin/surveys/kinds/invite", {"count": wrong}).status == 422
    assert b"Only those who are invited" in admin.get("/admin/surveys/kinds").content


def test_a_draft_that_breaks_a_newer_rule_keeps_no_page_from_showing(admin, store, published):
    drafts.keep(store, published.questionnaire.model_copy(update={"name": "old"}))
    with store.engine.begin() as connection:
        connection.execute(draft_table.update().values(content=b'{"naysay": "questionnaire", "items": 1}'))
    assert b"old" in admin.get("/admin/").content
    assert admin.get("/admin/drafts/old").status == 422
    assert admin.post("/admin/drafts/old/open").status == 422
    assert admin.post("/admin/drafts/old/discard").status == 303


def test_while_the_database_is_locked_the_page_says_so(admin, store, tmp_path, monkeypatch):
    locked = OperationalError("", {}, sqlite3.OperationalError("database is locked"))
    monkeypatch.setattr(Store, "close", lambda *_: (_ for _ in ()).throw(locked))
    found = admin.post("/admin/surveys/kinds/close")
    assert found.status == 503
    assert b"the database is busy" in found.content
    assert found.headers["retry-after"] == "5"


# Dates


def test_dates_are_set_from_the_page_and_said(admin, store):
    last = today() + 30 * DAY
    fields = {"closes": str(last), "keeps": str(last + 365 * DAY)}
    assert admin.post("/admin/surveys/kinds/schedule", fields).status == 303
    assert plans.find(store, "kinds") == Plan(None, last, last + 365 * DAY)
    assert str(last).encode() in admin.get("/admin/").content
    for wrong, told in (
        ({"closes": "31.1.2027"}, b"written as 2027-01-31"),
        ({"closes": str(today() - DAY)}, b"must not be over"),
        ({"opens": str(last), "closes": str(today())}, b"must not be after"),
    ):
        found = admin.post("/admin/surveys/kinds/schedule", wrong)
        assert found.status == 422
        assert told in found.content
    assert admin.post("/admin/surveys/kinds/schedule", {}).status == 303
    assert plans.find(store, "kinds") == Plan()


def test_a_draft_without_a_private_question_opens_only_after_a_tick(admin, store):
    asked = [{"kind": "integer", "name": "age", "label": {"en": "How old are you?"}}]
    form = {"naysay": "questionnaire", "version": 1, "name": "plain", "title": {"en": "P"}, "languages": ["en"]}
    admin.upload("plain.json", json.dumps({**form, "items": asked}).encode())
    page = admin.get("/admin/drafts/plain").content
    assert page.count(b"No question is private: every answer is sent as it is.") == 2
    for act, fields in (("open", {}), ("schedule", {"opens": str(today())})):
        refused = admin.post(f"/admin/drafts/plain/{act}", fields)
        assert refused.status == 422
        assert b"no question is private, so every answer is sent as it is" in refused.content
    assert plans.find(store, "plain") == Plan()
    assert "plain" not in store.standing()
    assert admin.post("/admin/drafts/plain/schedule", {"opens": str(today()), "plain": "yes"}).status == 303
    assert admin.post("/admin/drafts/plain/open", {"plain": "yes"}).status == 303
    assert "plain" in store.standing()


def test_a_draft_that_asks_something_else_loses_the_first_day_that_was_agreed_to(admin, store, client, monkeypatch):
    """The day was set on a draft with a private question; the one that replaces it sends every answer as it is."""
    monkeypatch.setattr(plans.Clock, "__call__", lambda _: None)  # the server must not open it between two uploads
    admin.upload("sample.json", sample().to_json())
    days = {"opens": today(), "closes": today() + datetime.timedelta(30)}
    assert admin.post("/admin/drafts/sample/schedule", {key: str(day) for key, day in days.items()}).status == 303
    assert admin.upload("sample.json", sample().to_json()).headers["location"].endswith("uploaded")
    assert plans.find(store, "sample") == Plan(**days)  # the same questionnaire, uploaded once more
    asked = [{"kind": "integer", "name": "age", "label": {"en": "How old are you?"}}]
    form = {"naysay": "questionnaire", "version": 1, "name": "sample", "title": {"en": "P"}, "languages": ["en"]}
    replaced = admin.upload("plain.json", json.dumps({**form, "items": asked}).encode())
    assert plans.carry_out(store, client=client) == []
    assert "sample" not in store.standing()
    assert plans.find(store, "sample") == Plan(closes=days["closes"])
    assert b"its first day of answers was struck out" in admin.get(replaced.headers["location"]).content


def test_a_draft_with_a_private_question_asks_for_no_tick(admin, store):
    admin.upload("sample.json", sample().to_json())
    assert b"No question is private" not in admin.get("/admin/drafts/sample").content
    assert admin.post("/admin/drafts/sample/open").status == 303


def test_a_survey_opens_closes_and_is_deleted_on_its_days(store, client, published, answers):
    drafts.keep(store, published.questionnaire)
    first, last, kept = (today() + n * DAY for n in (10, 20, 30))
    plans.schedule(store, "kinds", Plan(first, last, kept))

    def on(day):
        return plans.carry_out(store, client=client, day=day)

    assert on(first - DAY) == []
    assert on(first) == ["opened kinds"]
    assert on(first) == []
    say(store, store.published("kinds"), answers, n=3)
    assert on(last) == []
    assert store.surveys()[0].closed is None
    assert on(last + DAY) == ["closed kinds"]
    assert on(last + DAY) == []
    assert on(kept) == []
    assert on(kept + DAY) == ["deleted kinds"]
    assert store.surveys() == ()
    [receipt] = store.receipts()
    assert (receipt.survey, receipt.replies, receipt.overwritten) == ("kinds", 3, True)
    assert on(kept + DAY) == []
    assert list(done(store)) == [("schedule", what, "kinds") for what in ("opened", "closed", "deleted")]


def test_a_server_that_slept_through_all_days_opens_nothing_and_deletes(store, client, published):
    drafts.keep(store, published.questionnaire)
    plans.schedule(store, "kinds", Plan(today(), today() + DAY))
    assert plans.carry_out(store, client=client, day=today() + 5 * DAY) == []
    assert store.surveys() == ()
    plans.schedule(store, "kinds", Plan(today(), today(), today()))
    assert plans.carry_out(store, client=client, day=today() + 5 * DAY) == ["deleted kinds"]
    assert drafts.listed(store) == ()


def test_a_survey_that_was_closed_by_hand_is_opened_again_on_its_day_but_not_closed_twice(store, client, published):
    store.open(published)
    store.close("kinds")
    plans.schedule(store, "kinds", Plan(closes=today() + DAY))
    closed = store.surveys()[0].closed
    assert plans.carry_out(store, client=client, day=today() + 3 * DAY) == []
    assert store.surveys()[0].closed == closed
    plans.schedule(store, "kinds", Plan(opens=today()))
    assert plans.carry_out(store, client=client) == ["opened kinds"]
    assert store.surveys()[0].closed is None


def test_an_opening_that_cannot_succeed_is_logged_once_and_holds_up_no_other(store, client, published):
    drafts.keep(store, published.questionnaire)
    plans.schedule(store, "kinds", Plan(opens=today()))
    other = published.questionnaire.model_copy(update={"title": {"en": "Other"}})
    store.open(type(published).of(other, client=client))  # in the meantime, from elsewhere, under the same name
    store.close("kinds")
    drafts.keep(store, published.questionnaire.model_copy(update={"name": "second"}))
    plans.schedule(store, "second", Plan(opens=today()))
    assert plans.carry_out(store, client=client) == ["opened kinds", "opened second"]
    assert store.published("kinds").questionnaire.title == {"en": "Other"}


def test_what_was_deleted_while_a_reader_held_the_file_is_overwritten_later(
    store, client, published, answers, tmp_path, monkeypatch
):
    """The receipt says so only then."""
    monkeypatch.setattr(tables, "_PATIENCE", 0)
    store.open(published)
    say(store, published, {**answers, "other": "needle"}, n=50)
    reader = sqlite3.connect(tmp_path / "a.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM reply").fetchone()
    with pytest.raises(DataError, match="another program reads the database"):
        store.delete("kinds", by=log.COMMAND_LINE)
    assert [(entry.who, entry.what, entry.about, entry.detail) for entry in log.entries(store)] == [
        ("command line", "deleted", "kinds", "50 replies")
    ]
    assert [each.overwritten for each in store.receipts()] == [False]
    reader.close()
    plans.carry_out(store, client=client)
    assert [each.overwritten for each in store.receipts()] == [True]
    assert not [path.name for path in tmp_path.iterdir() if b"needle" in path.read_bytes()]


def test_the_server_looks_about_once_a_minute(store, client, published):
    now = [0.0]
    clock = Clock(store, client, clock=lambda: now[0])
    clock()
    drafts.keep(store, published.questionnaire)
    plans.schedule(store, "kinds", Plan(opens=today()))
    now[0] = 59.0
    clock()
    assert store.surveys() == ()
    now[0] = 61.0
    clock()
    assert store.surveys()[0].name == "kinds"


def test_a_receipt_comes_back_from_json():
    receipt = Receipt("kinds", "ab" * 32, today(), None, today(), 12, "postgresql", True)
    assert Receipt.of_json(receipt.to_json()) == receipt


def test_nothing_of_respondents_is_in_the_log(office, admin, store, published, answers, write_body):
    """Only acts of those who run surveys are there, whatever respondents send."""
    before = log.entries(store)
    office.post(write_body(published, answers))
    office.post(b"junk")
    office.get("/s/kinds", user_agent="needle")
    assert log.entries(store) == before
    store.settle()
    assert [entry.what for entry in before] == ["logged in"]


def test_a_closed_survey_with_controls_offers_no_way_to_open_it_again(admin, store, client, tmp_path):
    sheet = (
        "| survey | | | | | |\n| | type | name | label | bind::naysay_design | bind::naysay_control |\n"
        "| | select_one vote | vote | Your vote? | negative() | |\n| | select_one vote | check | | | vote: lot |\n"
        "| choices | | | |\n| | list_name | name | label |\n"
        "| | vote | a | A |\n| | vote | b | B |\n| | vote | c | C |\n"
        "| settings | | |\n| | form_id | form_title |\n| | club | Club |\n"
    )
    (tmp_path / "club.md").write_text(sheet, encoding="utf-8")
    store.open(Published.of(questionnaire.load(tmp_path / "club.md"), client=client))
    assert b"<h1>Results so far</h1>" in admin.get("/admin/surveys/club/results").content
    store.close("club")
    page = admin.get("/admin/surveys/club").content
    assert b"A survey with controls stays closed" in page
    assert b"Take answers again" not in page
    assert b"<h1>Results</h1>" in admin.get("/admin/surveys/club/results").content
    admin.post("/admin/surveys/kinds/close")
    assert b"Take answers again" in admin.get("/admin/surveys/kinds").content
