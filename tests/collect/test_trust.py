"""Surveys that must not be trusted: the server's checker and the respondent's page come to the same verdicts."""

import copy
import json
from pathlib import Path

import pytest

from naysay.collect.survey.published import complaint

from . import generating

RECORDED = json.loads(Path(__file__).with_name("survey_vectors.json").read_text(encoding="utf-8"))


def changed(survey, changes):
    """The survey after some changes (see make_survey_vectors.py)."""
    form = copy.deepcopy(survey)
    for (*path, last), *value in changes:
        place = form
        for step in path:
            place = place[step]
        if last == "+":
            place.extend(value)
        elif value:
            place[last] = value[0]
        else:
            del place[last]
    return form


@pytest.mark.parametrize("vector", RECORDED["vectors"], ids=lambda vector: vector["what"])
def test_the_servers_checker_refuses_what_the_vectors_say(vector):
    found = complaint(changed(RECORDED["survey"], vector["changes"]))
    assert (found is not None) == vector["server"], found


def test_the_page_refuses_what_the_vectors_say_and_where_they_say(page_node):
    surveys = [changed(RECORDED["survey"], vector["changes"]) for vector in RECORDED["vectors"]]
    found = page_node("trust.mjs", "flaw", "trust.js", surveys)
    told = {vector["what"]: where for vector, where in zip(RECORDED["vectors"], found, strict=True)}
    assert told == {vector["what"]: vector["page"] for vector in RECORDED["vectors"]}


def test_odd_surveys_that_chance_has_made_are_judged_as_they_were(page_node):
    """Kept where the two differ: the page reads no protocol, and it wants fields that every published survey has."""
    kept = json.loads(Path(__file__).with_name("odd_surveys.json").read_text(encoding="utf-8"))
    surveys = [generating.changed(case["changes"]) for case in kept]
    assert [generating.verdict(survey) for survey in surveys] == [case["server"] for case in kept]
    flaws = page_node("trust.mjs", "flaw", "trust.js", surveys)
    assert [flaw is None for flaw in flaws] == [case["page"] for case in kept]


def test_the_checker_refuses_and_never_fails_on_surveys_made_by_chance():
    verdicts = [generating.verdict(generating.changed(generating.generated(seed))) for seed in range(5000, 5060)]
    assert {True, False} == set(verdicts)
