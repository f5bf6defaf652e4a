"""The coin mode: a respondent who draws herself never tells the device, and it asks her nowhere."""

import json

import pytest
from browsing import remembered


@pytest.fixture
def by_hand(respond):
    """Somebody who has chosen the coin for income: two of five options are drawn for her."""
    respondent = respond("private").start()
    turn(respondent)
    return respondent


def turn(respondent):
    """To the coin, or from it."""
    respondent.turn()


def test_only_two_options_are_shown_and_the_answer_is_asked_for_nowhere(by_hand):
    options = by_hand.at("income").locator(".inputs .option label").all_text_contents()
    assert len(set(options)) == 2
    assert by_hand.page.locator(".sentence").text_content().startswith("Is one true for you? Tap the other.")
    assert "This device never learns your true answer." in by_hand.at("income").locator(".hand").text_content()


def test_what_she_says_is_what_is_sent(by_hand):
    by_hand.answer("income", 1)
    fragment = by_hand.previews()["income"]
    said = json.loads("{" + fragment + "}")["income"]
    assert said["level"] == "coin"
    label = by_hand.at("income").locator(".inputs .option label").nth(1).text_content()
    choices = {choice.name: choice.label["en"] for choice in by_hand.questions["income"].choices}
    assert choices[said["response"]] == label
    assert by_hand.page.locator(".sent:not(.may)").text_content() == f"Will be sent: not {label}"
    assert fragment in by_hand.to_review({}).shown()


def test_the_options_are_drawn_once(by_hand):
    def options():
        return by_hand.at("income").locator(".inputs .option label").all_text_contents()

    first = options()
    turn(by_hand)
    turn(by_hand)
    assert options() == first
    turn(by_hand.start())
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
    respondent = respond("private").start().move().move().answer("taxes", "yes")
    turn(respondent)
    assert respondent.previews()["taxes"] == '"taxes":null'
    respondent.answer("taxes", 0)
    assert respondent.previews()["taxes"] == '"taxes":{"level":"coin","response":"yes"}'
    turn(respondent)
    assert respondent.previews()["taxes"] == '"taxes":null'
    assert not respondent.at("taxes").locator(".inputs input:checked").count()


def test_what_the_device_will_know_is_said_once_when_the_coin_is_left(by_hand):
    said = by_hand.at("income").locator("> .notice")
    assert not said.is_visible()
    turn(by_hand)
    assert said.text_content().startswith(
        "From now on you enter your true answer. Until you send, this device knows it"
    )
    turn(by_hand)
    assert not said.is_visible()


def test_two_coins_are_explained(respond):
    respondent = respond("private").start().move().move()
    turn(respondent)
    text = respondent.page.locator(".sentence").text_content()
    assert text == "Toss a coin. Heads: tap the truth. Tails: toss again. Then heads means “Yes”, and tails “No”."


def test_a_survey_answered_by_hand_is_stored(respond, served):
    respondent = respond("private").start()
    respondent.to_review({"income": 0, "taxes": 1}, levels={"income": "coin", "taxes": "coin"}).confirm()
    assert respondent.page.get_by_text("Your answers were stored on").count() == 1
