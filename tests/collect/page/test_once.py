"""Chance is drawn once for each answer, whatever is done: no average over draws can be taken of anyone."""

import json

import pytest
from browsing import ANSWERS

OTHER = {"income": "below_1000", "smoking": "yes", "taxes": "no", "partners": "ten_or_more", "rent": 2_000, "debt": 100}
OTHER |= {"drugs": {"cannabis": "no", "cocaine": "yes", "sedatives": "yes"}, "party": "red"}


@pytest.fixture
def answered(respond):
    """Somebody who has answered all private questions, and what would be sent."""
    respondent = respond("private").start().fill(ANSWERS)
    return respondent, respondent.previews()


def test_people_get_draws_of_their_own(respond):
    drawn = {json.dumps(respond("private").start().fill(ANSWERS).previews()) for _ in range(3)}
    assert len(drawn) == 3


def test_going_back_and_forth_draws_nothing_new(answered):
    respondent, before = answered
    respondent.move().move(".review .back")
    assert respondent.previews() == before
    respondent.page.go_back()
    respondent.page.locator("#confirm").wait_for()
    respondent.page.go_back()
    respondent.page.locator("#q-income").wait_for()
    assert respondent.previews() == before


def test_changing_ones_mind_and_back_gives_what_was_there(answered):
    respondent, before = answered
    between = respondent.fill(OTHER).previews()
    assert between != before
    assert respondent.fill(ANSWERS).previews() == before
    assert respondent.fill(OTHER).previews() == between


def test_trying_other_levels_draws_once_for_each(answered):
    respondent, before = answered
    at_level_2 = respondent.answer("income", ANSWERS["income"], level=1).previews()["income"]
    assert '"level":"2"' in at_level_2
    respondent.answer("income", ANSWERS["income"], level=0)
    assert respondent.previews() == before
    assert respondent.answer("income", ANSWERS["income"], level=1).previews()["income"] == at_level_2


def test_clearing_and_answering_again_gives_what_was_there(answered):
    respondent, before = answered
    respondent.at("income").get_by_text("Clear this answer").click()
    assert respondent.previews()["income"] == '"income":null'
    respondent.answer("income", ANSWERS["income"])
    assert respondent.previews() == before


def test_reloading_forgets_the_answers_and_not_the_draws(answered):
    respondent, before = answered
    respondent.start()
    assert all(fragment.endswith("null") for fragment in respondent.previews().values())
    assert not respondent.page.locator(".inputs input:checked").count()
    assert respondent.fill(ANSWERS).previews() == before


def test_a_second_tab_draws_nothing_new(answered, respond):
    respondent, before = answered
    second = respond("private", within=respondent.page.context).start().fill(ANSWERS)
    assert second.previews() == before


def test_two_tabs_at_once_draw_one_table(respond):
    first = respond("private")
    second = respond("private", within=first.page.context)
    first.open()
    second.open()
    for each in (first, second):
        each.page.evaluate("setTimeout(() => document.querySelector('.welcome .main').click(), 0)")
    for each in (first, second):
        each.page.locator("#q-income").wait_for()
    assert first.fill(ANSWERS).previews() == second.fill(ANSWERS).previews()


def test_a_double_click_sends_once(answered, served):
    respondent, _ = answered
    respondent.move()
    before = {each.name: each.replies for each in served.store.surveys()}["private"]
    respondent.page.locator("#confirm").dblclick()
    respondent.page.locator("#receipt").wait_for()
    assert [request.method for request in respondent.requests].count("POST") == 1
    assert {each.name: each.replies for each in served.store.surveys()}["private"] == before + 1


def test_once_a_tab_has_confirmed_all_tabs_send_its_message(answered, respond):
    respondent, _ = answered
    second = respond("private", within=respondent.page.context).start().fill(OTHER).move()
    respondent.move()
    respondent.page.context.route("**/answers", lambda route: route.abort())
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("Not yet sent").first.wait_for()
    second.page.get_by_text("Not yet sent").first.wait_for()  # it learns of the other, and no longer asks
    assert len({body for each in (respondent, second) for body in each.bodies()}) == 1


def test_after_sending_there_is_no_second_submission_from_this_device(answered, respond):
    respondent, _ = answered
    respondent.move().confirm()
    respondent.open()
    assert respondent.page.locator("#receipt").count() == 1
    assert respond("private", within=respondent.page.context).open().page.locator("#receipt").count() == 1
    respondent.page.go_back()
    assert len(respondent.bodies()) == 1
