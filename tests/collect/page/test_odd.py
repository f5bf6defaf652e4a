"""Odd paths on the page: practice, many options, long labels, questions without words, checks of understanding."""

import json

import pytest
from browsing import ANSWERS, privates, serve

from naysay import designs
from naysay.collect.questionnaire import Choice, Integer, Note, Private, Questionnaire, SelectOne
from naysay.collect.questionnaire.questions import Practice

LONG = "Very " * 40  # 200 letters
MANY = tuple(f"c{place}" for place in range(60))


def private(name, names, design, *, label, labels=None):
    choices = tuple(
        Choice(name=each, label={"en": text}) for each, text in zip(names, labels or map(str.title, names), strict=True)
    )
    return SelectOne(
        name=name, label={"en": label}, choices=choices, private=Private(design=json.loads(design.to_json()))
    )


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    four = ("a", "b", "c", "d")
    items = (
        private("many", MANY, designs.negative(MANY, discards=3), label="Which of sixty?"),
        private(
            "long", four, designs.negative(four, discards=2), label=LONG, labels=[f"{each} {LONG}" for each in four]
        ),
        private("mute", four, designs.negative(four), label=" "),
    )
    survey = Questionnaire(name="odd", title={"en": "Odd"}, languages=("en",), items=items)
    with serve([survey], tmp_path_factory.mktemp("odd")) as server:
        server.questions = {question.name: question for question in items}
        yield server


@pytest.fixture
def visitor(respond, odd):
    respondent = respond("odd", on=odd, viewport={"width": 320, "height": 640})
    respondent.questions = odd.questions
    return respondent.start()


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_of_sixty_options_those_struck_out_are_named_and_the_rest_is_counted(visitor):
    visitor.answer("many", "c7")
    parts = visitor.page.locator(".sent:not(.may) b").all_text_contents()
    assert len(parts) == 3 and all(part.startswith("not C") for part in parts)
    assert "not C7" not in [part.rstrip(",") for part in parts]
    assert visitor.page.locator(".actions .small:not(.may)").text_content() == "57 of 60 answers could be yours."
    assert fits(visitor.page)


def test_labels_of_two_hundred_letters_stay_on_the_screen(visitor):
    visitor.move().answer("long", "b")
    assert visitor.page.locator(".sent:not(.may) b").count() == 2
    assert fits(visitor.page)


def test_a_question_without_words_has_its_name_for_a_heading(visitor):
    visitor.move().move()
    assert visitor.asked() == ["mute"]
    assert visitor.page.locator("h1").text_content().startswith("mute")


SEASON = "#q-practice"


@pytest.fixture
def practising(respond):
    respondent = respond("private").open()
    return respondent.move(".welcome .actions .main")


def season(respondent, place):
    """Answer the practice question; gives what would be sent."""
    respondent.page.locator(f"{SEASON} input").nth(place).check()
    return respondent.page.locator(".sent:not(.may)").text_content()


def test_practice_is_skipped_and_taken_again(practising):
    main = practising.page.locator(".step > .actions .main")
    assert main.text_content() == "Skip"
    practising.move().back_to("practice")
    first = season(practising, 1)
    assert first.startswith("Would be sent: not ")
    assert "Summer" not in first
    assert main.text_content() == "Next"
    assert "Could anyone be sure of your answer from this? No." in practising.page.locator(SEASON).text_content()
    season(practising, 3)
    practising.move().back_to("practice")
    assert practising.page.locator(f"{SEASON} input").nth(3).is_checked()
    assert season(practising, 1) == first  # one draw for each answer, here too


def test_practice_is_never_sent_or_stored(practising):
    before, requests = practising.stored(), len(practising.requests)
    said = season(practising, 0)
    assert practising.stored() == before
    practising.to_review(ANSWERS)
    assert len(practising.requests) == requests, "nothing is asked for before what is sent is confirmed"
    assert "practice" not in practising.shown()
    assert not any(season in practising.shown() for season in ("spring", "summer", "autumn", "winter"))
    practising.confirm()
    assert said not in practising.page.locator("#receipt").text_content()
    assert not any("spring" in each for each in practising.stored())


def survey_with(**of):
    four = ("a", "b", "c", "d")
    items = (Integer(name="age", label={"en": "Age?"}), private("asked", four, designs.negative(four), label="Which?"))
    return Questionnaire(name="other", title={"en": "Other"}, languages=("en",), items=items, **of)


def test_a_survey_without_private_questions_has_no_practice(respond, tmp_path):
    plain = survey_with().model_copy(update={"items": (Note(name="n", label={"en": "Hello"}), survey_with().items[0])})
    with serve([plain], tmp_path) as server:
        respondent = respond("other", on=server).start().move()
        assert respondent.page.locator("#confirm").count() == 1
        assert "You see all that is sent before it is sent." in respondent.open().page.locator(".lines").text_content()


@pytest.mark.parametrize(("practice", "first"), [(False, "asked"), (True, "practice")])
def test_the_researcher_may_leave_practice_out(respond, tmp_path, practice, first):
    with serve([survey_with(practice=practice)], tmp_path) as server:
        assert respond("other", on=server).open().move(".welcome .actions .main").move().asked() == [first]


MEALS = tuple(Choice(name=name, label={"en": name.title()}) for name in ("breakfast", "lunch", "dinner"))


def test_the_researcher_may_ask_another_question_for_practice(respond, tmp_path):
    own = Practice(label={"en": "Which meal do you like best?"}, choices=MEALS)
    with serve([survey_with(practice=own)], tmp_path) as server:
        respondent = respond("other", on=server).open().move(".welcome .actions .main").move()
        assert respondent.page.locator("h1").text_content() == "Which meal do you like best?"
        assert season(respondent, 0) in ("Would be sent: not Lunch", "Would be sent: not Dinner")
        assert respondent.page.get_by_text("Could anyone be sure of your answer from this? No.").is_visible()


def test_a_check_of_understanding_is_counted_as_it_was_answered_and_says_what_is_right(respond, tmp_path):
    check = SelectOne(
        name="check",
        label={"en": "What leaves this device?"},
        choices=(
            Choice(name="truth", label={"en": "My answer"}),
            Choice(name="rest", label={"en": "What is crossed out"}),
        ),
        right="rest",
        explanation={"en": "Your answer stays here."},
    )
    survey = survey_with().model_copy(update={"items": (check, survey_with().items[1])})
    with serve([Questionnaire.model_validate(survey.form())], tmp_path) as server:
        respondent = respond("other", on=server).start()
        told = respondent.at("check").locator(".notice")
        assert not told.is_visible()
        respondent.page.locator("#q-check input").first.check()
        words = "Not quite. The right answer is “What is crossed out”. Your answer stays here."
        assert told.text_content() == words
        assert respondent.page.locator("#q-check input").nth(1).is_disabled()  # the first answer counts
        assert not respondent.at("check").locator(".clear").count()
        respondent.move().back_to("check")
        assert told.text_content() == words
        while not respondent.page.locator("#confirm").count():
            respondent.move()
        respondent.confirm()
        assert [json.loads(row)["check"] for _, row in server.store.replies("other").rows] == ["truth"]


def test_the_page_begins_at_the_level_that_the_researcher_set(respond, tmp_path):
    survey = privates().form()
    survey["items"][0]["items"][0]["private"]["begins_at"] = "2"
    with serve([Questionnaire.model_validate(survey)], tmp_path) as server:
        steps = respond("private", on=server).start().at("income").locator(".levels input")
        assert [step.is_checked() for step in steps.all()] == [False, True, False]
