"""A scripted respondent draws once for a question, whatever hash or name its survey has."""

import json
import sqlite3

import pytest

from naysay import designs
from naysay.collect import Published, respond
from naysay.collect.device.post import Survey
from naysay.collect.respond import opened, prepared
from naysay.errors import DataError

ROWS = range(20)


@pytest.fixture
def device(questionnaire, client, tmp_path):
    """Draws, or finds, the messages of twenty people to a changed questionnaire, on one file."""

    def messages(change=lambda asked: asked, *, acknowledged=False):
        asked = change(questionnaire)
        survey = Survey("http://192.0.2.1/s/kinds", Published.of(asked, client=client))
        memory = opened(tmp_path / "state", survey)
        try:
            found = prepared(survey, respond.anybody(asked, len(ROWS), seed=4), memory, ROWS)[0]
            assert {json.loads(body)["survey"] for body in found.values()} == {survey.hash}
            return [json.loads(found[row])["answers"] for row in ROWS]
        finally:
            memory.close()

    return messages


def altered(asked, which, /, **fields):
    """The questionnaire with one of its private questions altered."""
    (group,) = (item for item in asked.items if item.name == "sensitive")
    items = [each.model_copy(update=fields) if each.name == which else each for each in group.items]
    changed = group.model_copy(update={"items": tuple(items)})
    return asked.model_copy(update={"items": tuple(changed if item is group else item for item in asked.items)})


def retitled(asked):
    return asked.model_copy(update={"title": {"en": "Kinds "}})


def test_a_new_hash_gets_what_was_drawn_before(device):
    assert device(retitled) == device()


def test_other_words_are_the_same_question_while_its_name_is(device):
    before = device()
    assert device(lambda asked: altered(asked, "rare", label={"en": "Something else?"})) == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda asked: asked.model_copy(update={"name": "other"}), "party was asked in the survey 'kinds' already"),
        (
            lambda asked: altered(asked, "rare", private=_otherwise(asked)),
            "rare was asked in the survey 'kinds' already, and was drawn by another design",
        ),
        (lambda asked: altered(asked, "rare", label={"en": " PARTY?!"}), "rare asks in the same words as party"),
        (lambda asked: altered(asked, "rare", name="seldom"), "asks other questions now"),
    ],
)
def test_a_second_draw_is_refused(device, change, told):
    device()
    with pytest.raises(DataError, match=told):
        device(change)


def _otherwise(asked):
    rare = next(question for question in asked.questions if question.name == "rare")
    form = json.loads(designs.negative(("a", "c", "b")).to_json())
    return rare.private.model_copy(update={"design": form})


def test_what_is_told_about_a_design_changes_nothing(device):
    before = device()

    def noted(asked):
        rare = next(question for question in asked.questions if question.name == "rare")
        form = json.loads(json.dumps(rare.private.design)) | {}
        form["design"]["notes"] = ["told about it"]
        return altered(asked, "rare", private=rare.private.model_copy(update={"design": form}))

    assert device(noted) == before


def test_a_file_of_an_earlier_version_is_known_again(device, questionnaire, client, tmp_path):
    before = device()
    hash = Published.of(questionnaire, client=client).hash
    with sqlite3.connect(tmp_path / "state") as database:
        database.execute("UPDATE kept SET survey = ?", (hash,))
        database.execute("DROP TABLE asked")
    database.close()
    assert device() == before
