"""Chance is drawn once for each answer, whatever is done: no average over draws can be taken of anyone."""

import pytest
from browsing import ANSWERS

OTHER = {"income": "below_1000", "smoking": "yes", "taxes": "no", "partners": "ten_or_more", "rent": 2_000, "debt": 100}
OTHER |= {"drugs": {"cannabis": "no", "cocaine": "yes", "sedatives": "yes"}, "party": "red"}


@pytest.fixture
def answered(respond):
    """Somebody who has answered all private questions and is at the review, and what would be sent."""
    respondent = respond("private").start()
    return respondent, respondent.through(ANSWERS)


def test_people_get_draws_of_their_own(respond):
    one, other = (respond("private").start().through(ANSWERS) for _ in range(2))
    assert one != other


def test_going_back_and_forth_draws_nothing_new(answered):
    respondent, before = answered
    assert respondent.back_to("income").through({}) == before
    respondent.page.go_back()
    respondent.page.locator("#q-party").wait_for()
    assert respondent.previews() == {"party": before["party"]}
    respondent.page.go_forward()
    respondent.page.locator("#confirm").wait_for()


def test_changing_ones_mind_and_back_gives_what_was_there(answered):
    respondent, before = answered
    between = respondent.back_to("income").through(OTHER)
    assert between != before
    assert respondent.back_to("income").through(ANSWERS) == before
    assert respondent.back_to("income").through(OTHER) == between


def test_trying_other_levels_draws_once_for_each(answered):
    """A level that is changed after the answer gives what was drawn for it at first."""
    respondent, before = answered
    at_income = {"income": before["income"]}
    at_level_2 = respondent.back_to("income").answer("income", ANSWERS["income"], level=1).previews()
    assert '"level":"2"' in at_level_2["income"]
    levels = respondent.at("income").locator(".levels input")
    levels.nth(0).check()
    assert respondent.previews() == at_income
    levels.nth(1).check()
    assert respondent.previews() == at_level_2
    respondent.answer("income", "to_5000").answer("income", ANSWERS["income"], level=0)
    assert respondent.previews() == at_income


def test_clearing_and_answering_again_gives_what_was_there(answered):
    respondent, before = answered
    respondent.back_to("income").page.locator(".how summary").click()
    clear = respondent.at("income").get_by_role("button", name="Clear my answer")
    clear.click()
    assert respondent.previews() == {"income": '"income":null'}
    assert not clear.is_visible()  # nothing is left to clear
    assert not respondent.page.locator(".actions.leaving").count()
    respondent.answer("income", ANSWERS["income"])
    assert respondent.previews() == {"income": before["income"]}


def test_reloading_forgets_the_answers_and_not_the_draws(answered):
    respondent, before = answered
    respondent.start()
    assert all(fragment.endswith("null") for fragment in respondent.through({}).values())
    assert respondent.back_to("income").through(ANSWERS) == before


def test_a_second_tab_draws_nothing_new(answered, respond):
    respondent, before = answered
    assert respond("private", within=respondent.page.context).start().through(ANSWERS) == before


def test_two_tabs_at_once_draw_one_table(respond):
    first = respond("private")
    second = respond("private", within=first.page.context)
    first.open()
    second.open()
    for each in (first, second):
        each.page.evaluate("setTimeout(() => document.querySelector('.welcome .main').click(), 0)")
    for each in (first, second):
        each.page.locator("#q-practice").wait_for()
    drawn = second.through(ANSWERS)
    first.page.bring_to_front()
    assert first.through(ANSWERS) == drawn


def test_a_double_click_sends_once(answered, served):
    respondent, _ = answered
    before = {each.name: each.replies for each in served.store.surveys()}["private"]
    respondent.page.locator("#confirm").dblclick()
    respondent.page.locator(".receipt").wait_for()
    assert [request.method for request in respondent.requests].count("POST") == 1
    assert {each.name: each.replies for each in served.store.surveys()}["private"] == before + 1


def test_once_a_tab_has_confirmed_all_tabs_send_its_message(answered, respond):
    respondent, _ = answered
    second = respond("private", within=respondent.page.context).start().to_review(OTHER)
    respondent.page.context.route("**/answers", lambda route: route.abort())
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("Not yet sent").first.wait_for()
    second.page.get_by_text("Not yet sent").first.wait_for()  # it learns of the other, and no longer asks
    assert len({body for each in (respondent, second) for body in each.bodies()}) == 1


def test_after_sending_there_is_no_second_submission_from_this_device(answered, respond):
    respondent, _ = answered
    respondent.confirm()
    respondent.open()
    assert respondent.page.locator("#receipt").count() == 1
    assert respond("private", within=respondent.page.context).open().page.locator("#receipt").count() == 1
    respondent.page.go_back()
    assert len(respondent.bodies()) == 1
