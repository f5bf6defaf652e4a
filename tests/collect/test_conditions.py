"""What must be answered, and what counts as an answer."""

import datetime
import json

import pytest

from naysay import designs
from naysay.collect.questionnaire import Choice, Grid, Private, Questionnaire, SelectOne
from naysay.collect.survey.submission import Conditions

CHOICES = tuple(Choice(name=name, label={"en": name}) for name in ("yes", "no"))
ANY_DAY = datetime.date(2026, 11, 20)


def asked(*items):
    return Questionnaire(name="required", title={"en": "Required"}, languages=("en",), items=items)


@pytest.mark.parametrize("level", [None, "1"])
def test_a_required_private_question_is_answered_whether_or_not_there_is_a_level(level):
    private = Private(design=json.loads(designs.warner(p=0.7).to_json()))
    form = asked(SelectOne(name="smoking", label={"en": "?"}, choices=CHOICES, required=True, private=private))
    assert Conditions(form).complaint({"smoking": {"level": level, "response": "yes"}}, today=ANY_DAY) is None
    assert Conditions(form).complaint({"smoking": None}, today=ANY_DAY) == "question 'smoking' must be answered"


def test_a_required_grid_is_answered_when_every_row_is():
    form = asked(Grid(name="views", label={"en": "?"}, rows=CHOICES, choices=CHOICES, required=True))
    assert Conditions(form).complaint({"views": {"yes": "no", "no": "yes"}}, today=ANY_DAY) is None
    assert (
        Conditions(form).complaint({"views": {"yes": "no", "no": None}}, today=ANY_DAY)
        == "question 'views' must be answered"
    )
