"""``naysay survey invite``: links in a file that the researcher keeps, and counts that name nobody."""

import json
import re
import sqlite3
import stat

import polars as pl
import pytest

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
    from naysay.collect.storage.arrivals import digest

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
        (["--count", "3", "--to", "people.csv"], "'people.csv' exists; add --force"),
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
    assert "there is no survey 'other'" in refused("survey", "invite", "other", "--count", 3)
    naysay("survey", "close", "sample")
    assert "is closed; open it again" in refused("survey", "invite", "sample", "--count", 3)
    assert not list(opened.glob("*.csv"))
    assert "anybody with the link can answer" in naysay("survey", "invite", "sample").out


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
