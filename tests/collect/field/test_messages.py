"""The message of a scripted respondent is the page's, byte for byte."""

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay.collect import Published, Reader, respond
from naysay.collect.device.people import draw_replies
from naysay.collect.device.post import json_text, message
from naysay.collect.questionnaire import Questionnaire, Text, sample
from naysay.collect.storage import today
from naysay.errors import DataError


@pytest.fixture(params=["kinds", "sample"])
def survey(request, published):
    return published if request.param == "kinds" else Published.of(sample())


@pytest.fixture
def cases(survey, truth):
    """Answers of people who answer everything, something and nothing, with what they draw."""
    people = [respond.anybody(survey.questionnaire, 20, seed=7)]
    if survey.name == "kinds":
        people.append(respond.checked(survey.questionnaire, truth))
    answers = [each for crowd in people for each in draw_replies(survey.questionnaire, crowd).answers]
    return [{"id": secrets.token_hex(16), "answers": each} for each in answers]


def test_bodies_are_those_of_the_page(node, survey, cases):
    given = {"survey": survey.form, "hash": survey.hash, "cases": cases}
    theirs = node("body.mjs", "bodies", "sending.js", given)
    ours = [message(survey, each["id"], each["answers"]) for each in cases]
    assert ours == [text.encode() for text in theirs]
    assert {len(body) for body in ours} == {survey.body_length}


def test_the_server_takes_them(survey, cases):
    reader = Reader(survey)
    for each in cases:
        found = reader.read(message(survey, each["id"], each["answers"]), today=today())
        assert (found.id, found.answers) == (each["id"], each["answers"])


NUMBERS = [0.0, -0.0, 1.0, -2.5, 0.1, 1e-6, 1.5e-7, 123456789012345680000.0, 1e21, -1.25e22, 5e-324, 2**53 - 1, 1 / 3]


def test_numbers_are_written_as_the_page_writes_them(node):
    assert [json_text(number) for number in NUMBERS] == node("body.mjs", "numbers", "sending.js", [*map(repr, NUMBERS)])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_reads_back_as_itself(number):
    assert float(json_text(number)) == number


def test_answers_that_are_too_long_are_refused(client):
    asked = Questionnaire(
        name="short", title={"en": "Short"}, languages=("en",), items=(Text(name="why", label={"en": "Why?"}),)
    )
    survey = Published.of(asked, client=client)
    with pytest.raises(DataError, match="longer than the"):
        message(survey, "0" * 32, {"why": "x" * survey.body_length})
