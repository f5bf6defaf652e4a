"""``naysay survey ethics``: both forms, and what is refused."""

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
