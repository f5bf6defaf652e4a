"""``naysay survey invite``: links in a file that the researcher keeps, and counts that name nobody."""

import html
import json
import os
import re
import sqlite3
import stat
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zxingcpp

from naysay import collect
from naysay.collect.questionnaire import sample, write_xlsform
from naysay.collect.storage import Store

NAMES = "name,id\nÄnne,0070070\n=SUM(A1),0080080\n"
AT = ("--at", "https://survey.example.org")


@pytest.fixture
def opened(naysay, tmp_path):
    """A survey that nobody has answered."""
    write_xlsform(sample(), tmp_path / "survey.xlsx")
    assert naysay("survey", "open", "survey.xlsx").code == 0
    return tmp_path


def table(path):
    return pl.read_csv(path, infer_schema=False)


def take(folder, link):
    """Mark an invitation as taken, as a server does."""
    from naysay.collect.storage import Taking
    from naysay.collect.storage.replies import digest

    store = Store(folder / "naysay-data" / "naysay.db")
    [outcome] = store.add([Taking("sample", digest(link.rpartition("#")[2]), "b" * 64)])
    store.dispose()
    assert outcome.what == "taken"


def test_so_many_links_are_written(naysay, opened):
    told = naysay("survey", "invite", "sample", "--count", 500, *AT)
    assert "sample-invitations.csv: 500 links" in told.out
    before, now = re.findall(r"hash \w+: +(\w{64})", told.out)
    assert before != now == json.loads(naysay("survey", "list", "--format", "json").out)["surveys"][0]["hash"]
    assert "stored nowhere else" in told.err
    links = table(opened / "sample-invitations.csv")["link"]
    assert links.n_unique() == len(links) == 500
    assert links.str.contains(r"^https://survey\.example\.org/s/sample#[\w-]{22}$").all()
    assert stat.S_IMODE((opened / "sample-invitations.csv").stat().st_mode) == 0o600
    more = naysay("survey", "invite", "sample", "--count", 2, "--to", "more.csv")
    assert "hash now" not in more.out
    assert "works on this computer alone; see --at" in more.err
    assert naysay("survey", "invite", "sample").out == "sample: 502 invited, 0 have begun, 0 have answered\n"


def test_names_stay_in_the_researchers_file(naysay, opened):
    (opened / "people.csv").write_text(NAMES, encoding="utf-8")
    assert naysay("survey", "invite", "sample", "--names", "people.csv", "--to", "links.csv", *AT).code == 0
    links = table(opened / "links.csv")
    assert links.drop("link").rows() == [("Änne", "0070070"), ("=SUM(A1)", "0080080")]
    codes = links["link"].str.split("#").list.last().to_list()
    everything = b"".join(path.read_bytes() for path in (opened / "naysay-data").iterdir())
    assert not [each for each in ("Änne", "0070070", "SUM(", *codes) if each.encode() in everything]
    with sqlite3.connect(opened / "naysay-data" / "naysay.db") as connection:
        rows = connection.execute("SELECT * FROM invitation").fetchall()
    assert {(survey, taken) for survey, _, taken in rows} == {("sample", None)}
    assert len(rows) == 2


def test_those_who_have_not_begun_are_reminded(naysay, opened):
    (opened / "people.csv").write_text(NAMES, encoding="utf-8")
    naysay("survey", "invite", "sample", "--names", "people.csv", "--to", "links.csv", *AT)
    take(opened, table(opened / "links.csv")["link"][0])
    told = naysay("survey", "invite", "sample", "--remind", "links.csv", "--to", "again.csv")
    assert told.out == "again.csv: 1 of 2 have not begun\n"
    assert "nobody can know" in told.err
    assert table(opened / "again.csv")["id"].to_list() == ["0080080"]
    listed = naysay("survey", "list").out.split("\n")
    assert re.search(r"sample +open +0 +2 +1 ", listed[1]), listed
    assert "invited" in listed[0] and "begun" in listed[0]


def test_a_lost_link_is_replaced_and_a_used_one_only_on_purpose(naysay, refused, opened):
    naysay("survey", "invite", "sample", "--count", 2, "--to", "links.csv", *AT)
    first, second = table(opened / "links.csv")["link"]
    told = naysay("survey", "invite", "sample", "--replace", first)
    assert re.fullmatch(r"https://survey\.example\.org/s/sample#[\w-]{22}\n", told.out)
    assert "was replaced already" in refused("survey", "invite", "sample", "--replace", first)
    take(opened, second)
    assert "allow it with --taken" in refused("survey", "invite", "sample", "--replace", second)
    assert naysay("survey", "invite", "sample", "--replace", second, "--taken").code == 0
    told = naysay("survey", "invite", "sample")
    assert "made tokens" not in told.err
    assert told.out == "sample: 2 invited, 0 have begun, 0 have answered\n"
    assert "1 invitation was replaced after use, so at most 1 reply is a second one" in told.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--count", "0"], "invite at least 1 person"),
        (["--count", "3", "--names", "people.csv"], "got --count and --names"),
        (["--count", "3", "--at", "example.org"], "links begin with http:// or https://; got --at 'example.org'"),
        (["--count", "3", "--to", "people.csv"], "'people.csv' exists; name a new file with --to"),
        (["--remind", "people.csv", "--to", "people.csv"], "'people.csv' exists; name a new file with --to"),
        (["--count", "3", "--language", "de"], "--address and --language are of letters"),
        (["--letters", "people.csv", "--to", "people.csv"], "'people.csv' exists; name a new file with --to"),
        (["--letters", "people.csv"], "has no column 'link'"),
        (["--letters", "linked.csv", "--at", "https://example.org"], "--at is of new links; those in the file keep"),
        (["--letters", "linked.csv"], "an invitation ends in # and 22 letters or digits; got 'x'"),
        (["--letters", "linked.csv", "--to", "letters.pdf"], "letters are written as .html; got 'letters.pdf'"),
        (["--count", "3", "--to", "links.docx"], "links.docx"),
        (["--names", "linked.csv"], "has a column 'link' already"),
        (["--names", "empty.csv"], "holds no rows"),
        (["--names", "nowhere.csv"], "nowhere.csv"),
        (["--remind", "people.csv", "--to", "again.csv"], "has no column 'link'"),
        (["--remind", "linked.csv", "--to", "again.csv"], "an invitation ends in # and 22 letters or digits; got 'x'"),
        (["--replace", "https://example.org/s/sample"], "an invitation ends in #"),
        (["--replace", "#" + "A" * 22], "is not one of 'sample'"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(refused, opened, arguments, said):
    (opened / "people.csv").write_text(NAMES, encoding="utf-8")
    (opened / "linked.csv").write_text("link\nx\n", encoding="utf-8")
    (opened / "empty.csv").write_text("name\n", encoding="utf-8")
    before = sorted(path.name for path in opened.iterdir())
    assert said in refused("survey", "invite", "sample", *arguments)
    assert sorted(path.name for path in opened.iterdir()) == before
    store = Store(opened / "naysay-data" / "naysay.db")
    assert store.published("sample").key is None
    store.dispose()


def test_a_survey_that_is_not_there_leaves_no_links(naysay, refused, opened):
    (opened / "links.csv").write_text(f"link\nhttps://example.org/s/sample#{'A' * 22}\n", encoding="utf-8")
    for way in (("--count", 3), ("--letters", "links.csv"), ("--remind", "links.csv")):
        assert "there is no survey 'other'" in refused("survey", "invite", "other", *way)
    (opened / "links.csv").unlink()
    naysay("survey", "close", "sample")
    assert "is closed; open it again" in refused("survey", "invite", "sample", "--count", 3)
    assert not list(opened.glob("*.csv"))
    assert "anybody with the link can answer" in naysay("survey", "invite", "sample").out


def test_a_second_list_says_how_many_are_invited_and_who_could_answer_twice(naysay, opened):
    assert "invited now" not in naysay("survey", "invite", "sample", "--count", 3, "--to", "first.csv").err
    told = naysay("survey", "invite", "sample", "--count", 2, "--to", "second.csv").err
    assert "5 are invited now; whoever has a link in an earlier file, too, can answer twice" in told


def test_scripted_people_answer_with_their_invitations(naysay, opened):
    """And estimates of a survey that invites do not say that anybody could answer again."""
    from naysay.collect.app import create_app
    from naysay.collect.serving import background

    naysay("survey", "invite", "sample", "--count", 60, "--to", "links.csv")
    store = Store(opened / "naysay-data" / "naysay.db")
    with background(create_app([], store, each=0)) as server:
        link = f"{server}/s/sample"
        assert "give one for each of the 60 people" in naysay("respond", link, "--random", 60).err
        fewer = naysay("respond", link, "--random", 59, "--invitations", "links.csv")
        assert "each of the 59 people; got 60" in fewer.err
        told = naysay("respond", link, "--random", 60, "--seed", 1, "--invitations", "links.csv")
        assert told.out.startswith("60 answers stored")
        again = naysay("respond", link, "--random", 60, "--invitations", "links.csv")
        assert "(used)" in again.err
    store.dispose()
    assert naysay("survey", "invite", "sample").out == "sample: 60 invited, 60 have begun, 60 have answered\n"
    fit = naysay("estimate", "--survey", "sample", "--response", "smoking")
    assert fit.code == 0
    assert "any number of times" not in fit.out + fit.err


def test_the_log_says_who_was_let_in_by_number_and_never_by_link(naysay, opened):
    assert naysay("survey", "invite", "sample", "--count", 3, *AT).code == 0
    [lost, *_] = table(opened / "sample-invitations.csv")["link"]
    assert naysay("survey", "invite", "sample", "--replace", lost).code == 0
    assert naysay("survey", "share", "sample").code == 0
    assert naysay("survey", "share", "sample", "--revoke").code == 0
    told = naysay("admin", "log", "--format", "json").out
    done = [(each["what"], each["detail"]) for each in reversed(json.loads(told)["log"])]
    assert done == [
        ("opened", None),
        ("invited", "3 links"),
        ("replaced an invitation", None),
        ("shared the results", None),
        ("ended the link to the results", None),
    ]
    assert lost.rpartition("#")[2] not in told


def scanned(sheet):
    """What a reader of codes finds in each picture of a sheet, drawn from the picture's own strokes."""
    texts = []
    for side, strokes in re.findall(r'viewBox="0 0 (\d+) \d+".*? d="([^"]+)"', sheet):
        dark, x, y = np.zeros((int(side), int(side)), dtype=bool), 0, 0
        for move, across, down in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", strokes):
            if move == "h":
                dark[int(y), x : x + int(across)] = True
            x = int(across) if move == "M" else x + int(across)
            y = float(down) if move == "M" else y + float(down or 0)
        picture = np.where(dark, 0, 255).astype(np.uint8).repeat(8, axis=0).repeat(8, axis=1)
        texts += [found.text for found in zxingcpp.read_barcodes(picture)]
    return texts


def sheets(path):
    return path.read_text(encoding="utf-8").split("<section>")[1:]


def invited(naysay, folder, names=NAMES):
    """Links for people, as a table."""
    (folder / "people.csv").write_text(names, encoding="utf-8")
    assert naysay("survey", "invite", "sample", "--names", "people.csv", "--to", "links.csv", *AT).code == 0
    return table(folder / "links.csv")


def test_letters_hold_the_link_and_the_hash_of_each_person_as_codes(naysay, opened):
    people = invited(naysay, opened, "name,town\n<b>Änne</b>,Ulm\nBo,\n")
    told = naysay("survey", "invite", "sample", "--letters", "links.csv", "--address", "name, town")
    hash_now = json.loads(naysay("survey", "list", "--format", "json").out)["surveys"][0]["hash"]
    assert told.out == (
        f"sample-letters.html: 2 letters, with links to https://survey.example.org\nthe hash in them: {hash_now}\n"
    )
    assert "delete it when it is printed" in told.err
    written = sheets(opened / "sample-letters.html")
    assert [scanned(sheet) for sheet in written] == [[link, hash_now.upper()] for link in people["link"]]
    assert [html.unescape(re.search("<address.*?>(.*?)</address>", sheet, re.DOTALL)[1]) for sheet in written] == [
        "<b>Änne</b>\nUlm",
        "Bo",
    ]
    for link, sheet in zip(people["link"], written, strict=True):
        base, _, code = html.escape(link).partition("#")
        assert f"<code>{base}<wbr><b>#{code}</b></code>" in sheet  # no line ends at a hyphen of the code
        assert hash_now in sheet
    assert "Letter 2 of 2" in written[1]
    assert stat.S_IMODE((opened / "sample-letters.html").stat().st_mode) == 0o600


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_letters_speak_the_language_of_the_survey_and_name_what_its_page_names(naysay, opened, language):
    invited(naysay, opened)
    told = naysay("survey", "invite", "sample", "--letters", "links.csv", "--language", language)
    assert "letters have no address" in told.err
    text = (opened / "sample-letters.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}" dir="{"rtl" if language == "ar" else "ltr"}">' in text
    assert sample().title[language] in text
    folder = Path(collect.__file__).parent
    words = tomllib.loads((folder / "letters.toml").read_text(encoding="utf-8"))[language]
    assert words["invited"] in text
    page_words = (folder / "client" / "words" / f"{language}.js").read_text(encoding="utf-8")
    assert re.search('^    check: "(.*)",$', page_words, re.MULTILINE)[1] in words["check"]
    spoken = (folder / "client" / "invited" / "invitation.js").read_text(encoding="utf-8")
    assert any(words["once"].startswith(once) for once in re.findall('once: "(.*)",', spoken))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda link: link.replace("survey.example", "evil.example"), "row 2: a link must be as it was written"),
        (lambda link: link.replace("/s/sample", "/s/other"), "row 2: a link must be as it was written"),
        (lambda link: link.replace("https://", "javascript://"), "row 2: a link must be as it was written"),
        (lambda link: f" {link}", "row 2: a link must be as it was written"),
        (lambda link: link.replace("#", "?x=1#"), "row 2: a link must be as it was written"),
        (lambda link: link[:-22] + "A" * 22, "is not one of 'sample'"),
        (lambda link: None, "rows 1 and 2 have the same link"),
    ],
)
def test_links_that_were_edited_make_no_letters(naysay, refused, opened, change, said):
    """A code is scanned and not read, so nobody would see where it leads."""
    people = invited(naysay, opened)
    first, second = people["link"]
    people.with_columns(link=pl.Series([first, change(second) or first])).write_csv(opened / "edited.csv")
    assert said in refused("survey", "invite", "sample", "--letters", "edited.csv")
    both = pl.Series([change(link) or first for link in (first, second)])
    if "javascript" in both[0] or "?" in both[0]:
        people.with_columns(link=both).write_csv(opened / "edited.csv", include_header=True)
        assert "link" in refused("survey", "invite", "sample", "--letters", "edited.csv")
    assert not (opened / "sample-letters.html").exists()


def test_columns_of_the_address_are_named_once_and_are_there(naysay, refused, opened):
    invited(naysay, opened)
    letters = ("survey", "invite", "sample", "--letters", "links.csv")
    assert "--address names 'name' 2 times" in refused(*letters, "--address", "name,name")
    assert "has name, id; got 'town'" in refused(*letters, "--address", "town")
    assert "has name, id; got 'link'" in refused(*letters, "--address", "link")
    assert "given 2 times" in naysay(*letters, "--address", "name", "--address", "id").err
    assert "no texts in 'fr'; it has en, de, es, ar" in refused(*letters, "--language", "fr")
    assert not (opened / "sample-letters.html").exists()


def test_no_file_of_links_is_readable_for_others_at_any_moment(naysay, opened, monkeypatch):
    """Whatever the mask of the shell; and none is written over another."""
    monkeypatch.setattr(Path, "chmod", lambda *_: None)  # so the mode is the one with which each was made
    mask = os.umask(0)
    try:
        people = invited(naysay, opened)
        before = (opened / "links.csv").read_bytes()
        assert naysay("survey", "invite", "sample", "--letters", "links.csv").code == 0
    finally:
        os.umask(mask)
    for name in ("links.csv", "sample-letters.html"):
        assert stat.S_IMODE((opened / name).stat().st_mode) == 0o600
    for way in ("--remind", "--letters"):
        assert (
            "exists; name a new file" in naysay("survey", "invite", "sample", way, "links.csv", "--to", "links.csv").err
        )
    assert (opened / "links.csv").read_bytes() == before
    assert len(people) == 2
