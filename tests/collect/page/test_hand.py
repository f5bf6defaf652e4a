"""The coin mode: a respondent who draws herself never tells the device, and it asks her nowhere."""

import json

import pytest
from browsing import remembered


@pytest.fixture
def by_hand(respond):
    """Somebody who has chosen the coin for income: two of five options are drawn for her."""
    respondent = respond("private").start()
    respondent.at("income").locator(".levels input").last.check()
    return respondent


def test_only_two_options_are_shown_and_the_answer_is_asked_for_nowhere(by_hand):
    options = by_hand.at("income").locator(".inputs .option label").all_text_contents()
    instruction = by_hand.at("income").locator(".hand p").first.text_content()
    assert len(set(options)) == 2
    assert all(f"“{option}”" in instruction for option in options)


def test_what_she_says_is_what_is_sent(by_hand):
    by_hand.answer("income", 1)
    fragment = by_hand.previews()["income"]
    said = json.loads("{" + fragment + "}")["income"]
    assert said["level"] == "coin"
    label = by_hand.at("income").locator(".inputs .option label").nth(1).text_content()
    choices = {choice.name: choice.label["en"] for choice in by_hand.questions["income"].choices}
    assert choices[said["response"]] == label
    assert f"“{label}”" not in by_hand.at("income").locator(".preview [role=status]").text_content()
    assert fragment in by_hand.move().shown()


def test_the_options_are_drawn_once(by_hand):
    def options():
        return by_hand.at("income").locator(".inputs .option label").all_text_contents()

    first = options()
    by_hand.at("income").locator(".levels input").first.check()
    by_hand.at("income").locator(".levels input").last.check()
    assert options() == first
    by_hand.start()
    by_hand.at("income").locator(".levels input").last.check()
    assert options() == first


def test_the_device_knows_the_options_and_not_what_became_of_them(by_hand, served):
    before = by_hand.stored()
    by_hand.answer("income", 0)
    assert by_hand.stored() == before
    by_hand.answer("income", 1)
    assert by_hand.stored() == before
    _, box = remembered(by_hand, served.keys)
    assert list(box["tables"]["/private/income"]["coin"]) == ["shown"]
    assert box["tables"]["/private/taxes"]["coin"] == {}


def test_an_answer_to_the_device_is_dropped_when_the_coin_takes_over_and_the_other_way_round(respond):
    respondent = respond("private").start().answer("taxes", "yes")
    respondent.at("taxes").locator(".levels input").last.check()
    assert respondent.previews()["taxes"] == '"taxes":null'
    respondent.answer("taxes", 0)
    assert respondent.previews()["taxes"] == '"taxes":{"level":"coin","response":"yes"}'
    respondent.at("taxes").locator(".levels input").first.check()
    assert respondent.previews()["taxes"] == '"taxes":null'
    assert not respondent.at("taxes").locator(".inputs input:checked").count()


def test_two_coins_are_explained(respond):
    respondent = respond("private").start()
    respondent.at("taxes").locator(".levels input").last.check()
    text = respondent.at("taxes").locator(".hand").text_content()
    assert "whatever your true answer is, say “Yes” on heads and “No” on tails" in text


def test_a_survey_answered_by_hand_is_stored(respond, served):
    respondent = respond("private").start()
    respondent.answer("income", 0, level=3).answer("taxes", 1, level=1)
    respondent.move().confirm()
    assert respondent.page.get_by_text("Your answers were stored on").count() == 1
