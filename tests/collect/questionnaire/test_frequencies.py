"""Private questions with a design for many categories: from the cell of an XLSForm to what the server takes."""

import json

import numpy as np
import pytest

from naysay import designs
from naysay.collect.questionnaire import of_form
from naysay.collect.questionnaire.offers import private_of
from naysay.collect.survey.submission import check_of

NAMES = tuple("abcdefghij")


def asked(design):
    """A question with this design in its cell, read back from the questionnaire's JSON without any problem."""
    choices = [{"name": name, "label": {"en": name.upper()}} for name in NAMES]
    item = {"kind": "select_one", "name": "site", "label": {"en": "Which one?"}, "choices": choices}
    item["private"] = private_of(NAMES, design=design)
    form = {"naysay": "questionnaire", "name": "inn", "title": {"en": "Inn"}, "languages": ["en"], "items": [item]}
    read = of_form(json.loads(json.dumps(form)))
    assert not read.problems
    return read.questionnaire.questions[0]


@pytest.mark.parametrize("family", ["frequency", "subset_selection", "affine", "hadamard", "unary", "k_ary"])
def test_a_survey_can_name_the_design(family):
    question = asked(f"{family}(epsilon=1)")
    design = getattr(designs, family)(NAMES, epsilon=1)
    assert question.private.offer == design
    check = check_of(question)
    for text in design.randomize(["a"] * 30 + ["j"] * 30, rng=np.random.default_rng(2)).texts():
        assert check({"level": None, "response": text}) is None
    for wrong in ("A", "999999", "a;a", "b;a", "-1", "", "007"):
        assert check({"level": None, "response": wrong}) is not None


def test_a_page_that_keeps_nothing_asks_no_remembered_answer():
    with pytest.raises(AssertionError, match="the page keeps nothing from one survey to the next"):
        asked("remembered(epsilon=1, lifetime=2)")


def test_budgets_of_a_survey_are_called_by_whole_numbers():
    question = asked("budgets(epsilon=(1, 3), design='subset_selection')")
    assert question.private.levels == ("1", "3")
    sizes = [channel.size for _, channel in question.private.channels]
    for level, size in zip(("1", "3"), sizes, strict=True):
        assert check_of(question)({"level": level, "response": ";".join(NAMES[:size])}) is None
        assert check_of(question)({"level": level, "response": ";".join(NAMES[: size + 1])}) is not None
