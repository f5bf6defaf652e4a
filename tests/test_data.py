import json

from naysay.data import gvu_counts


def test_the_counts_are_those_of_the_survey(shared):
    assert gvu_counts() == json.loads((shared / "data" / "gvu8_counts.json").read_text(encoding="utf-8"))


def test_every_question_was_answered_by_everybody():
    assert [sum(counts.values()) for counts in gvu_counts().values()] == [10_108] * 5


def test_no_counts_are_shared_between_callers():
    gvu_counts()["race"].clear()
    assert gvu_counts()["race"]
