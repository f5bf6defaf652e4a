"""The privacy of a questionnaire, against the privacy of its designs."""

import math

import pytest

from naysay import designs, privacy
from naysay.collect.questionnaire import (
    Private,
    Questionnaire,
    SelectMultiple,
    SelectOne,
    lines,
    sample,
    statements,
    together,
)
from naysay.collect.questionnaire.offers import private_of


def asked(kind=SelectOne, names=("yes", "no"), name="q", **cells):
    categories = ("yes", "no") if kind is SelectMultiple else names
    private = Private.model_validate(private_of(categories, **cells))
    choices = [{"name": each, "label": {"en": each}} for each in names]
    return kind(name=name, label={"en": "?"}, choices=choices, private=private)


def form(*items):
    return Questionnaire(name="q", title={"en": "Q"}, languages=("en",), items=items)


def test_every_private_question_has_its_levels():
    told = statements(sample())
    assert set(told) == {each.name for each in sample().questions if getattr(each, "private", None)}
    for question in sample().questions:
        if question.name in told:
            assert [each["level"] for each in told[question.name]] == list(question.private.levels)
            assert [each["by_hand"] for each in told[question.name]] == [
                level in question.private.by_hand for level in question.private.levels
            ]


def test_numbers_are_those_of_the_designs():
    [entry] = statements(form(asked(design="warner(p=0.75)")))["q"]
    design = designs.warner(p=0.75)
    assert entry["epsilon"] == privacy.epsilon(design) == pytest.approx(math.log(3))
    assert entry["odds"] == pytest.approx(3)
    assert entry["bits"] == privacy.information(design)
    assert (entry["categories"], entry["still_possible"], entry["reveals"]) == (2, [2, 2], False)


def test_infinity_is_null_and_a_level_that_reveals_says_so():
    told = statements(form(asked(names=tuple("abcd"), design="negative_levels()")))["q"]
    assert [each["epsilon"] for each in told] == [None] * 3
    assert [each["reveals"] for each in told] == [False, False, True]
    assert told[2]["odds"] is None
    assert [each["still_possible"] for each in told] == [[3, 3], [2, 2], [1, 1]]


def test_answers_add_up():
    two = form(asked(design="two_coins()"), asked(SelectMultiple, tuple("abc"), "r", design="warner(p=0.75)"))
    told = together(two)
    bits = privacy.information(designs.two_coins()) + 3 * privacy.information(designs.warner(p=0.75))
    assert told["epsilon"] == pytest.approx(4 * math.log(3))
    assert told["odds"] == pytest.approx(3)
    assert bits <= told["bits"] <= bits * 1.2  # under the worst prior a little more than under the uniform one


def test_the_most_telling_level_counts_and_the_choice_of_it_too():
    offer = form(asked(names=tuple("abcde"), design="negative", levels="1..3"))
    told = together(offer)
    assert told["odds"] == pytest.approx(4)
    assert told["bits"] == pytest.approx(math.log2(5))


def test_a_plain_questionnaire_says_so():
    plain = form(SelectOne(name="q", label={"en": "?"}, choices=[]))
    assert together(plain) == {"epsilon": 0.0, "bits": 0.0, "odds": 1.0}
    assert lines(plain) == ["privacy: no question is private; every answer is sent as it is"]


def test_lines_name_every_question_level_and_the_sum():
    told = lines(
        form(asked(design="two_coins()", levels="coin"), asked(SelectMultiple, ("a", "b"), "r", design="two_coins()"))
    )
    assert told[0].startswith("q: level device:")
    assert told[1].startswith("q: level coin:")
    assert told[3].startswith("r, each of 2 choices: ")
    assert "ε = 3.296" in told[-1]
    assert "odds of a category by 3 at most" in told[-1]


def test_what_privacy_by_hand_rests_on_is_said():
    names, design = ("yes", "no"), "crosswise(prevalence=1/4)"
    alone = asked(names=names, design=design)
    beside = alone.model_copy(
        update={"private": alone.private.model_copy(update={"innocuous": {"en": "Born in May?"}})}
    )
    said = "q: by hand this holds for readers who do not know a person's innocuous answer"
    assert (said in lines(form(alone)), said in lines(form(beside))) == (False, True)
