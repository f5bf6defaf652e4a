"""A private question in every state: asked or not, blank, required, by ranges, by items; and what is said of it."""

import json

import pytest
from browsing import ANSWERS, Respondent, serve

from naysay import designs
from naysay.questionnaire import (
    Bin,
    Choice,
    Group,
    Integer,
    Private,
    Questionnaire,
    Rating,
    SelectMultiple,
    SelectOne,
    Sent,
)
from naysay.questionnaire import parse_expression as condition

BINS = {"few": 5, "some": 10, "lots": None}


def named(*names):
    return tuple(Choice(name=name, label={"en": name.title()}) for name in names)


def private(design):
    return Private(design=json.loads(design.to_json()))


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    """A survey whose private questions depend on a plain one, and a plain one on what is sent."""
    open_gate = condition("${gate} = 'yes'")
    offer = designs.negative_levels(("a", "b", "c", "d"))
    items = (
        SelectOne(name="gate", label={"en": "Gate?"}, choices=named("yes", "no")),
        SelectOne(
            name="secret", label={"en": "Secret?"}, choices=named("a", "b", "c", "d"), private=private(offer),
            relevant=open_gate, required=True,
        ),
        Rating(name="after", label={"en": "And?"}, relevant=condition_on_sent()),
        SelectMultiple(
            name="several", label={"en": "Which?"}, choices=named("x", "y"), private=private(designs.two_coins()),
            relevant=open_gate,
        ),
        Integer(
            name="number", label={"en": "How many?"}, relevant=open_gate,
            bins=tuple(Bin(name=name, label={"en": name}, below=below) for name, below in BINS.items()),
            private=private(designs.direct(("few", "some", "lots"))),
        ),
    )  # fmt: skip
    survey = Questionnaire(name="gated", title={"en": "Gated"}, languages=("en",), items=items)
    with serve([survey], tmp_path_factory.mktemp("gated")) as server:
        server.questions = {question.name: question for question in survey.questions}
        yield server


def condition_on_sent():
    """Whether a response to the secret is going to be sent."""
    asked = condition("${gate} != ''")
    return asked.model_copy(update={"args": (Sent(of="secret"), asked.args[1])})


@pytest.fixture
def visitor(respond, gated):
    respondent = respond("gated", on=gated)
    respondent.questions = gated.questions
    return respondent.start()


def answers(respondent: Respondent):
    return json.loads(respondent.shown())["answers"]


def test_what_is_not_asked_is_null(visitor):
    visitor.answer("gate", "no").move()
    assert set(answers(visitor).values()) == {"no", None}
    assert visitor.page.get_by_text("not asked").count() == 4
    visitor.confirm()


def test_a_required_private_question_is_asked_for(visitor):
    visitor.answer("gate", "yes").move().move()
    assert "Please answer this question." in visitor.page.locator(".summary").text_content()
    visitor.answer("secret", "b").move()
    assert visitor.asked() == ["after"]


def test_going_back_through_the_gate_takes_the_answers_back(visitor):
    visitor.answer("gate", "yes").move().answer("secret", "b").move()
    visitor.move(".back").move(".back").answer("gate", "no").move()
    assert set(answers(visitor).values()) == {"no", None}


def test_a_group_of_which_nothing_is_asked_is_no_step(respond, tmp_path):
    gate = SelectOne(name="gate", label={"en": "Gate?"}, choices=named("yes", "no"))
    inner = Rating(name="inner", label={"en": "Inner?"}, relevant=condition("${gate} = 'yes'"))
    survey = Questionnaire(
        name="grouped", title={"en": "Grouped"}, languages=("en",),
        items=(gate, Group(name="group", label={"en": "G"}, items=(inner,)), Rating(name="last", label={"en": "L"})),
    )  # fmt: skip
    with serve([survey], tmp_path) as server:
        visitor = respond("grouped", on=server).start()
        visitor.questions = {question.name: question for question in survey.questions}
        assert visitor.answer("gate", "no").move().asked() == ["last"]
        assert visitor.move(".back").answer("gate", "yes").move().asked() == ["inner"]


def test_choices_that_are_named_by_numbers(respond, tmp_path):
    coded = named("3", "1", "-99", "2a")
    offer = designs.negative_levels(("3", "1", "-99", "2a"))
    items = (
        SelectMultiple(name="items", label={"en": "Which?"}, choices=coded, private=private(designs.two_coins())),
        SelectOne(name="secret", label={"en": "Secret?"}, choices=coded, private=private(offer)),
        SelectMultiple(name="several", label={"en": "Any?"}, choices=coded),
        Rating(name="follow", label={"en": "And?"}, relevant=condition("selected(${several}, 1)")),
    )
    survey = Questionnaire(name="coded", title={"en": "Coded"}, languages=("en",), items=items)
    with serve([survey], tmp_path) as server:
        visitor = respond("coded", on=server).start()
        visitor.questions = {question.name: question for question in items}
        sides = {"3": "yes", "1": "no", "-99": "no", "2a": "yes"}
        given = {"items": sides, "secret": "1", "several": ["3", "1"], "follow": 4}
        visitor.to_review(given).confirm()
        (row,) = server.store.replies("coded").frame.rows(named=True)
    assert (row["several"], row["follow"]) == (["3", "1"], 4)
    assert {row[f"items/{name}"] for name in sides} <= {"yes", "no"}
    assert row["secret"] in set(sides) - {"1"}


def test_every_item_or_none(visitor):
    visitor.answer("gate", "yes").move().answer("secret", "a").move().move()
    visitor.at("several").locator(".line").first.locator("input").first.check()
    visitor.page.locator(".step > .actions .main").click()
    assert "Please answer every line, or none." in visitor.page.locator(".summary").text_content()


def test_a_number_stays_and_its_range_goes(visitor):
    visitor.answer("gate", "yes").move().answer("secret", "a").move().move().move()
    visitor.answer("number", 7)
    assert visitor.at("number").locator(".range").text_content().endswith("some")
    words = visitor.at("number").locator(".preview [role=status]").text_content()
    assert words == "From this answer alone, only “some” stays possible. It tells your answer."
    assert "Your answer itself can be told" in visitor.at("number").text_content()
    for wrong in ("1.5", "many"):
        visitor.answer("number", wrong)
        visitor.page.locator(".step > .actions .main").click()
        assert visitor.at("number").locator(".error:visible").count() == 1
    visitor.answer("number", "٧").move()
    assert answers(visitor)["number"] == {"level": None, "response": "some"}
    visitor.confirm()


def test_the_words_beneath_an_answer_name_what_stays_possible(respond):
    respondent = respond("private").start().answer("income", ANSWERS["income"], level=2)
    sent = json.loads("{" + respondent.previews()["income"] + "}")["income"]
    ruled_out = sent["response"].split(";")
    words = respondent.at("income").locator(".preview [role=status]").text_content()
    for choice in respondent.questions["income"].choices:
        assert (f"“{choice.label['en']}”" in words) == (choice.name not in ruled_out)
    assert words.endswith(
        "stay possible. They need not be equally likely: if one is common, or your other answers hint at it, "
        "a reader may guess it."
    )


def test_each_level_is_told_in_words_and_numbers_and_the_most_private_is_chosen(respond):
    levels = respond("private").start().at("income").locator(".levels")
    told = levels.locator(".level b").all_text_contents()
    assert told[:3] == [f"{left} of 5 options stay possible" for left in (4, 3, 2)]
    assert told[3] == "With a coin of your own: 4 of 5 options stay possible"
    assert [each.is_checked() for each in levels.locator("input").all()] == [True, False, False, False]
    numbers = levels.locator(".figures").all_text_contents()
    assert numbers[:3] == [
        "Odds at most 1.34-fold; 0.33 bits of 2.33.",
        "Odds at most 2-fold; 0.74 bits of 2.33.",
        "Odds at most 4-fold; 1.33 bits of 2.33.",
    ]
    assert numbers[3].endswith(f"it never learns your answer. {numbers[0]}")
    note = levels.locator(".hint").text_content()
    assert note.startswith("Some options are ruled out for certain. All numbers are for a reader to whom")
    assert "The most private level that this device draws is chosen already." in note
    assert "choosing it may itself tell something" in note


def test_where_odds_are_bounded_for_every_reader_it_says_so(respond):
    respondent = respond("private").start()
    levels = respondent.at("taxes").locator(".levels")
    assert levels.locator("b").first.text_content() == "Both options stay possible"
    assert levels.locator(".figures").first.text_content() == "Odds at most 3-fold (ε = 1.1); 0.19 bits of 1."
    assert "whatever a reader knew before" in levels.locator(".hint").text_content()
    only = respondent.at("smoking").locator(".figures").text_content()
    assert "the odds for any option grow at most 2.34-fold (ε = 0.85). It tells 0.12 bits of 1" in only


def test_what_holds_for_every_line_is_said_once(respond):
    respondent = respond("private").start().answer("drugs", ANSWERS["drugs"])
    said = respondent.at("drugs").locator(".preview [role=status] p").all_text_contents()
    assert len(said) == 4
    assert [line.endswith("all options stay possible.") for line in said[:3]] == [True, True, True]
    assert said[3].startswith("They need not be equally likely")


def test_another_tab_that_has_sent_ends_this_one(respond):
    first = respond("private").start().fill(ANSWERS)
    second = respond("private", within=first.page.context).start().fill(ANSWERS)
    first.move().confirm()
    second.page.locator("#receipt").wait_for()
    assert not second.problems or not any("Error" in each and "header" not in each for each in second.problems)


@pytest.fixture(scope="module")
def several_ways(tmp_path_factory):
    """Designs whose numbers are no round ones, and one that strikes out without naming what it strikes out."""
    three, near = ("a", "b", "c"), [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    labeled = designs.custom(near, categories=three, responses=("x", "y", "z"))
    asked = {"one": designs.warner(p=0.7), "near": designs.custom(near, categories=three), "other": labeled}
    items = tuple(
        SelectOne(name=name, label={"en": name}, choices=named(*design.categories), private=private(design))
        for name, design in asked.items()
    )
    survey = Questionnaire(name="ways", title={"en": "Ways"}, languages=("en",), items=items)
    with serve([survey], tmp_path_factory.mktemp("ways")) as server:
        yield server


def test_what_is_promised_at_most_is_rounded_up(respond, several_ways):
    visitor = respond("ways", on=several_ways).open()
    assert (
        "From one answer alone: if all options were equally likely before"
        in visitor.page.locator("main").text_content()
    )
    visitor.start()
    assert "at most 2.34-fold" in visitor.at("one").text_content()  # 7/3


def test_only_a_design_that_names_what_is_not_true_is_said_to_strike_out(respond, several_ways):
    visitor = respond("ways", on=several_ways).start().move()
    for name in ("near", "other"):
        told = visitor.at(name).locator(".explanation").text_content()
        assert "strikes out" not in told
        assert "may send another answer than yours" in told
        if name == "near":
            visitor.move()
    assert "strikes out" in respond("private").start().at("income").locator(".explanation").text_content()
