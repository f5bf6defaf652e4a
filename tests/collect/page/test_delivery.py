"""Until the server has acknowledged, the page says "not yet sent", keeps the bytes, and sends the same again."""

import json

import pytest
from browsing import ANSWERS, Served, privates, remembered

from naysay.collect.app import create_app
from naysay.collect.serving import background


@pytest.fixture
def ready(respond):
    return respond("private").start().to_review(ANSWERS)


def not_yet(respondent):
    respondent.page.get_by_role("heading", name="Not yet sent").wait_for()
    assert "Not yet sent" in respondent.page.locator("[role=status].told").text_content()
    assert not respondent.page.locator("#receipt").count()


def answering(status, **headers):
    def answer(route):
        body = json.dumps({"error": {"code": "unavailable", "message": "later"}})
        route.fulfill(status=status, headers=headers, content_type="application/json", body=body)

    return answer


@pytest.mark.parametrize("failure", ["offline", 500, 503, 429, "nonsense"])
def test_a_failure_is_not_yet_sent_and_a_later_try_sends_the_same_bytes(ready, failure):
    shown = ready.shown()
    if failure == "offline":
        fail = lambda route: route.abort("connectionrefused")  # noqa: E731
    elif failure == "nonsense":
        fail = lambda route: route.fulfill(status=200, body="<p>Welcome to this hotel's network</p>")  # noqa: E731
    else:
        fail = answering(failure, **{"retry-after": "600"})
    ready.page.route("**/answers", fail)
    ready.page.locator("#confirm").click()
    not_yet(ready)
    ready.page.unroute("**/answers")
    ready.page.get_by_role("button", name="Try again now").click()
    ready.page.locator(".receipt").wait_for()
    assert ready.bodies() == [shown, shown]


def test_it_tries_again_by_itself(ready):
    ready.page.route("**/answers", answering(503), times=1)
    ready.page.locator("#confirm").click()
    not_yet(ready)
    ready.page.locator(".receipt").wait_for()
    assert len(set(ready.bodies())) == 1


def test_a_reload_goes_on_with_the_same_bytes(ready):
    shown = ready.shown()
    ready.page.route("**/answers", answering(503))
    ready.page.locator("#confirm").click()
    not_yet(ready)
    ready.page.reload()
    not_yet(ready)
    ready.page.unroute("**/answers")
    ready.page.get_by_role("button", name="Try again now").click()
    ready.page.locator(".receipt").wait_for()
    assert set(ready.bodies()) == {shown}


def test_an_answer_that_got_lost_on_the_way_back_is_stored_once(ready, served):
    before = {each.name: each.replies for each in served.store.surveys()}["private"]

    def lose(route):
        route.fetch()
        route.abort("connectionreset")

    ready.page.route("**/answers", lose, times=1)
    ready.page.locator("#confirm").click()
    not_yet(ready)
    ready.page.get_by_role("button", name="Try again now").click()
    ready.page.locator(".receipt").wait_for()
    assert {each.name: each.replies for each in served.store.surveys()}["private"] == before + 1


def test_a_refusal_says_why_and_lets_go_of_the_bytes(ready):
    body = json.dumps({"error": {"code": "malformed", "message": "income must be answered"}})
    ready.page.route("**/answers", lambda route: route.fulfill(status=422, content_type="application/json", body=body))
    ready.page.locator("#confirm").click()
    ready.page.get_by_text("income must be answered").wait_for()
    ready.page.get_by_role("button", name="Look at the answers again").click()
    ready.page.locator("#confirm").wait_for()


def test_no_refusal_draws_a_second_response(ready):
    """A server could refuse to be told again: what has left the device for a private answer stays as it was."""
    shown = ready.shown()
    ready.page.route("**/answers", answering(422), times=1)
    ready.page.locator("#confirm").click()
    ready.page.get_by_role("button", name="Look at the answers again").click()
    ready.page.locator("#confirm").wait_for()
    assert ready.shown() == shown
    ready.move("header .back")
    assert not ready.page.locator(".levels input, .inputs input, .way, .clear").count()
    ready.start().to_review({})  # private answers are not asked for again, they are there
    assert len(ready.noticed) == 8
    assert all("has left your device already" in told for told in ready.noticed.values())
    ready.confirm()
    assert ready.bodies() == [shown, shown]


def test_a_private_answer_that_was_blank_can_be_given_after_a_refusal(respond):
    blank = {name: value for name, value in ANSWERS.items() if name != "smoking"}
    respondent = respond("private").start().to_review(blank)
    before = json.loads(respondent.shown())["answers"]
    respondent.page.route("**/answers", answering(422), times=1)
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_role("button", name="Look at the answers again").click()
    respondent.back_to("smoking").answer("smoking", "no").to_review({})
    after = json.loads(respondent.shown())["answers"]
    assert before.pop("smoking") is None
    assert after.pop("smoking") is not None
    assert after == before
    respondent.confirm()


def test_while_it_is_not_yet_sent_nothing_on_the_device_tells_the_truth(ready, served):
    """The table of responses to all categories, beside the response that was sent, would."""
    ready.page.route("**/answers", answering(503))
    ready.page.locator("#confirm").click()
    not_yet(ready)
    marks, box = remembered(ready, served.keys)
    body = box["surveys"]["/private"]["body"]
    answers = json.loads(body)["answers"]
    assert box["tables"] == {}
    assert box["sent"] == {f"/private/{name}": value for name, value in answers.items() if value is not None}
    assert marks["surveys"] == {"/private": {"confirmed": True, "body": body}}
    assert "income" not in ready.stored()[1]


def test_a_survey_that_was_closed_meanwhile_says_so(ready):
    body = json.dumps({"error": {"code": "closed", "message": "closed"}})
    ready.page.route("**/answers", lambda route: route.fulfill(status=410, content_type="application/json", body=body))
    ready.page.locator("#confirm").click()
    ready.page.get_by_text("This survey is closed and takes no more answers.").wait_for()


def test_the_receipt_can_be_saved_copied_and_printed(ready):
    shown = ready.shown()
    ready.page.add_init_script("window.print = () => document.body.dataset.printed = 'yes'")
    ready.page.evaluate("window.print = () => document.body.dataset.printed = 'yes'")
    ready.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ready.confirm()
    receipt = ready.page.locator("#receipt").text_content()
    with ready.page.expect_download() as saved:
        ready.page.get_by_role("button", name="Save as text").click()
    assert saved.value.path().read_text(encoding="utf-8") == receipt
    assert shown in receipt
    ready.page.get_by_role("button", name="Copy").click()
    ready.page.get_by_text("Copied.").wait_for()
    ready.page.get_by_role("button", name="Print").click()
    assert ready.page.locator("body").get_attribute("data-printed") == "yes"


def test_a_browser_that_stores_nothing_is_told_and_can_answer(respond):
    respondent = respond("private")
    respondent.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    respondent.open()
    assert "does not let the page remember anything" in respondent.page.locator(".warning").text_content()
    respondent.start().to_review(ANSWERS).confirm()
    assert len(respondent.bodies()) == 1


def test_a_connection_without_protection_is_refused(respond):
    respondent = respond("private")
    respondent.page.add_init_script("Object.defineProperty(window, 'isSecureContext', {value: false})")
    respondent.open()
    told = respondent.page.locator("main").text_content()
    assert "an insecure connection" in told
    assert respondent.address.replace("http:", "https:") in told  # the address that would work
    assert not any("survey.json" in request.url for request in respondent.requests)


@pytest.mark.parametrize("missing", ["delete Crypto.prototype.subtle", "delete Navigator.prototype.locks"])
def test_a_browser_that_cannot_draw_safely_is_told_so(respond, missing):
    respondent = respond("private")
    respondent.page.add_init_script(missing)
    respondent.open()
    assert "Please try a newer browser." in respondent.page.locator("main").text_content()
    assert not any("survey.json" in request.url for request in respondent.requests)


def test_without_javascript_a_plain_sentence_says_what_is_needed(respond):
    page = respond("private", java_script_enabled=False).page
    page.goto(respond("private").address)
    told = page.locator("noscript p").all_text_contents()
    assert told[0] == "This page needs JavaScript to protect your answers."
    assert [each.get_attribute("lang") for each in page.locator("noscript p").all()] == [None, "de", "es", "ar"]
    assert page.locator("noscript p").first.is_visible()


def test_no_server_can_make_a_survey_a_preview_afterwards(ready):
    """It would be answered anew, with other draws: a preview says what it is in what is hashed."""
    body = json.dumps({"stored": False, "day": "2026-11-20"})
    ready.page.route("**/answers", lambda route: route.fulfill(status=201, content_type="application/json", body=body))
    ready.page.locator("#confirm").click()
    ready.page.get_by_text("cannot store answers right now").wait_for()
    assert not ready.page.get_by_role("button", name="Start again").count()


def test_a_preview_can_be_taken_again(respond):
    with background(create_app([privates()])) as address:
        respondent = respond("private", on=Served(address, None)).start().to_review(ANSWERS).confirm()
        respondent.page.get_by_role("button", name="Start again").click()
        respondent.page.get_by_role("button", name="Start", exact=True).wait_for()
        assert not respondent.page.locator("#receipt").count()
