"""``naysay survey ethics``: both forms, and what is refused."""

import re

import pytest


def test_the_command_writes_both_forms(naysay, survey):
    assert naysay("survey", "ethics", "survey.json", "--out", "s.html", "--language", "de").code == 0
    ran = naysay("survey", "ethics", "survey.json", "--smallest", 10)
    assert ran.out.startswith("# Statement")
    assert "fewer than 10 people" in ran.out


def test_the_day_of_deletion_is_the_one_that_is_scheduled(naysay, survey):
    naysay("survey", "open", "survey.json")
    naysay("survey", "schedule", "sample", "--keep-until", "2099-12-31")
    assert "to be deleted by 2099-12-31" in naysay("survey", "ethics", "sample").out


def test_the_statement_says_that_its_hash_changes_with_the_first_invitation_and_then_has_that_of_the_letters(
    naysay, survey
):
    of_file = naysay("survey", "ethics", "survey.json")
    hash_of_file = re.search("[0-9a-f]{64}", of_file.out)[0]
    naysay("survey", "open", "survey.json")
    assert hash_of_file in naysay("survey", "ethics", "sample").out
    assert "The first invitation by a one-time link gives the survey another hash" in of_file.out
    invite = "naysay survey invite sample --count N, which sends nothing)"
    assert f"first do so (naysay survey open survey.json, then {invite}" in of_file.err
    assert f"first do so ({invite}" in naysay("survey", "ethics", "sample").err
    invited = naysay("survey", "invite", "sample", "--count", 1, "--to", "links.csv", "--at", "https://a.example")
    assert "the one that invites: naysay survey ethics sample" in invited.err
    after = naysay("survey", "ethics", "sample")
    assert "The first invitation" not in after.out and "changes the hash" not in after.err
    letters = naysay("survey", "invite", "sample", "--letters", "links.csv", "--to", "letters.html")
    hash_of_letters = re.search("[0-9a-f]{64}", letters.out)[0]
    assert hash_of_letters != hash_of_file
    assert hash_of_letters in after.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--out", "s.pdf"], "a statement is written as .html or .md; got 's.pdf'"),
        (["--until", "soon"], "--until is a day such as 2027-12-31; got 'soon'"),
        (["--out", "survey.md"], "'survey.md' exists; add --force"),
        (["--out", "no/s.md"], "there is no folder 'no'"),
    ],
)
def test_what_cannot_be_written_is_refused_first(refused, survey, write, words, told):
    write("survey.md", "mine")
    assert told in refused("survey", "ethics", "survey.json", *words)
