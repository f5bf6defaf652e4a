"""One draw for each private answer leaves a device, whatever surveys, names and keys the server tells it of."""

import json

import pytest
from browsing import ANSWERS, Respondent, privates, remembered, serve
from hostile import refused

from naysay import designs
from naysay.collect import Published
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.server.keys import Keys

REFUSED = "can no longer ask this question privately"
RENEWED = "can no longer be read"
LOOK = "Look at the answers again"


def questions(asked):
    return {each["name"]: each for each in asked["items"][0]["items"]}


def tell(liar, change):
    """Serve what `change` makes of the questionnaire, published as an honest server would publish it."""

    def told(form):
        change(form["questionnaire"])
        return Published.of(Questionnaire.model_validate(form["questionnaire"])).form

    liar.tell(told)


def spaced(asked):
    asked["title"]["en"] += " "


def relabeled(asked):
    for question in questions(asked).values():
        question["label"] = {"en": f"Tell us once more: {question['label']['en']}"}


def in_other_notes(asked):
    for question in questions(asked).values():
        question["private"]["design"]["design"]["notes"] = ["told about it"]


def renamed(asked):
    for name, question in questions(asked).items():
        question["name"] = f"{name}_2"


def under_another_name(asked):
    asked["name"] = "other"


def under_other_names_in_other_letters(asked):
    renamed(asked)
    under_another_name(asked)
    for question in questions(asked).values():
        question["label"] = {"en": "  " + question["label"]["en"].upper().replace("?", " ?!\u200b\u3164")}


def moved(asked, place):
    """Ask in another survey, with the words at another place of the same screens, and with no other words of before."""
    under_another_name(asked)
    group = asked["items"][0]
    heading, group["label"] = group["label"], {"en": "Another heading"}
    group.pop("hint", None)
    for number, question in enumerate(questions(asked).values()):
        words, question["label"] = question["label"], {"en": f"Question {number}"}
        question.pop("hint", None)
        choices = question.get("choices", [{}])
        if place.endswith("a choice") and "choices" not in question:
            question["label"] = words
        elif place == "from a heading":
            question["label"] = heading
        elif place == "in another language":
            question["label"] = {"en": words["de"]}
        elif place == "from a choice":
            question["label"] = choices[0]["label"]
        elif place == "in a choice":
            choices[-1]["label"] = words
        elif place == "hint":
            question["hint"] = words
        elif place.startswith("heading"):
            labels = (
                {"label": {"en": f"Part {number}"}, "hint": words} if place == "heading's hint" else {"label": words}
            )
            group["items"][number] = {"kind": "group", "name": f"group_{number}", **labels, "items": [question]}
        if place == "from a choice":
            for other, choice in enumerate(choices):
                choice["label"] = dict.fromkeys(choice.get("label", ()), f"Choice {number}.{other}")


def in_hints(asked):
    moved(asked, "hint")


def in_headings(asked):
    moved(asked, "heading")


def in_hints_of_headings(asked):
    moved(asked, "heading's hint")


def in_choices(asked):
    moved(asked, "in a choice")


def from_choices(asked):
    moved(asked, "from a choice")


def from_a_heading(asked):
    moved(asked, "from a heading")


def in_another_language(asked):
    moved(asked, "in another language")


def reordered(asked):
    party = questions(asked)["party"]
    party["choices"].reverse()
    designed(party, designs.negative([choice["name"] for choice in party["choices"]]))


def weighted_otherwise(asked):
    designed(questions(asked)["smoking"], designs.warner(p=0.55))


def with_a_level_less(asked):
    levels = questions(asked)["income"]["private"]["design"]["design"]["levels"]
    levels.pop(0)


def designed(question, design):
    question["private"]["design"] = json.loads(design.to_json())


def look_again(respondent):
    respondent.page.get_by_role("button", name=LOOK).click()
    respondent.page.locator("#confirm").wait_for()


def told(body):
    return json.loads(body)["answers"]


STORED = "() => [localStorage, sessionStorage].map((each) => ({ ...each }))"
STORE = "(all) => [localStorage, sessionStorage].forEach((each, place) => Object.assign(each, all[place]))"


@pytest.fixture(scope="module")
def refused_once(browser, lied):
    """A message that a server has refused, and all that the device of its sender stores then."""
    lied.truth()
    lied.replies = [refused()]
    with browser.new_context(locale="en-US") as context:
        respondent = Respondent(context.new_page(), lied.page("private")).start().to_review(ANSWERS)
        respondent.page.locator("#confirm").click()
        look_again(respondent)
        return lied.bodies[0], respondent.page.evaluate(STORED)


@pytest.fixture
def sent(refused_once, respond, liar):
    """Somebody whose message a server has refused, and what it had learned by then."""
    body, stored = refused_once
    liar.replies, liar.bodies = [refused() for _ in range(8)], [body]
    respondent = respond("private", on=liar)
    respondent.page.goto(f"{liar.address}/health")
    respondent.page.evaluate(STORE, stored)
    return respondent, told(body)


def send_again(respondent, liar, answers=ANSWERS):
    before = len(liar.bodies)
    respondent.questions |= {f"{name}_2": each for name, each in respondent.questions.items()}
    respondent.start().to_review(answers)
    respondent.page.locator("#confirm").click()
    look_again(respondent)
    assert len(liar.bodies) == before + 1
    return told(liar.bodies[-1])


@pytest.mark.parametrize("change", [spaced, relabeled, in_other_notes])
def test_a_new_hash_is_told_what_was_sent_before(sent, liar, change):
    respondent, first = sent
    for _ in range(2):
        tell(liar, change)
        again = send_again(respondent, liar, {**ANSWERS, "income": "below_1000", "smoking": "yes"})
        assert again == first
    assert json.loads(liar.bodies[1])["survey"] != json.loads(liar.bodies[0])["survey"]


def test_four_refusals_and_four_hashes_buy_one_draw(sent, liar):
    respondent, first = sent
    for spaces in range(4):
        tell(liar, lambda asked, n=spaces: asked["title"].update(en="Survey" + " " * n))
        assert send_again(respondent, liar) == first
    assert len({json.loads(body)["survey"] for body in liar.bodies}) == 5


def test_a_question_under_another_name_is_told_what_was_sent_before(sent, liar):
    respondent, first = sent
    tell(liar, renamed)
    assert send_again(respondent, liar) == {f"{name}_2": response for name, response in first.items()}


ALL = set(ANSWERS) & {"income", "smoking", "taxes", "partners", "drugs", "rent", "debt", "party"}


@pytest.mark.parametrize(
    ("change", "those"),
    [
        (under_another_name, ALL),
        (under_other_names_in_other_letters, ALL),
        (in_hints, ALL),
        (in_headings, ALL),
        (in_hints_of_headings, ALL),
        (in_choices, ALL),
        (from_choices, ALL),
        (from_a_heading, ALL),
        (in_another_language, ALL),
        (reordered, {"party"}),
        (weighted_otherwise, {"smoking"}),
        (with_a_level_less, {"income"}),
    ],
)
def test_another_survey_or_design_is_told_nothing_and_the_respondent_is_told_why(sent, liar, change, those):
    respondent, first = sent
    tell(liar, change)
    again = {name.removesuffix("_2"): answer for name, answer in send_again(respondent, liar).items()}
    assert again == {**first, **dict.fromkeys(those)}
    refusals = {name.removesuffix("_2") for name, told in respondent.noticed.items() if REFUSED in told}
    assert refusals == those
    assert len(respondent.noticed) == len(again)  # nothing is asked
    assert respondent.page.locator(".review dd", has_text=REFUSED).count() == len(those)


@pytest.mark.parametrize("language", ["de-DE", "es-ES", "ar"])
def test_the_refusal_is_told_in_every_language(respond, liar, language):
    from test_words import FOLDER

    respondent = respond("private", on=liar, locale=language).start()
    tell(liar, reordered)
    respondent.start().to_review({})
    (told,) = respondent.noticed.values()
    assert f'refused: "{told}"' in (FOLDER / "words" / f"{language[:2]}.js").read_text(encoding="utf-8")


def test_the_rest_of_a_changed_survey_can_be_answered(respond, liar):
    respondent = respond("sample", on=liar).start().to_review(ANSWERS)

    def change(asked):
        (group,) = (item for item in asked["items"] if item["name"] == "personal")
        income = next(item for item in group["items"] if item["name"] == "income")
        income["private"]["design"]["design"]["levels"].pop(0)

    tell(liar, change)
    respondent.start().to_review({"smoking": "no"}).confirm()  # plain answers are still there
    answers = told(liar.bodies[-1])
    assert answers["income"] is None
    assert answers["smoking"] is not None
    assert answers["age"] == 44


def test_what_was_drawn_and_not_sent_is_used_by_a_changed_survey(respond, liar):
    respondent = respond("private", on=liar).start()
    before = respondent.through(ANSWERS)
    for change in (spaced, relabeled, under_another_name):
        tell(liar, change)
        assert respondent.start().through(ANSWERS) == before


def test_two_tabs_with_two_versions_share_one_draw(respond, liar):
    first = respond("private", on=liar).start()
    drawn = first.through(ANSWERS)
    tell(liar, spaced)
    assert respond("private", on=liar, within=first.page.context).start().through(ANSWERS) == drawn


def test_of_one_question_under_two_names_the_second_is_refused(respond, liar):
    def twice(asked):
        items = asked["items"][0]["items"]
        items.append(json.loads(json.dumps(items[0])) | {"name": "income_2"})

    tell(liar, twice)
    respondent = respond("private", on=liar).start().to_review({})
    assert list(respondent.noticed) == ["income_2"]
    assert REFUSED in respondent.noticed["income_2"]


def test_words_in_a_hint_of_the_same_survey_ask_again(respond, liar):
    def twice(asked):
        items = asked["items"][0]["items"]
        items.append(json.loads(json.dumps(items[0])) | {"name": "income_2", "label": {"en": "And?"}})
        items[-1]["hint"] = items[0]["label"]

    tell(liar, twice)
    respondent = respond("private", on=liar).start().to_review({})
    assert list(respondent.noticed) == ["income_2"]
    assert REFUSED in respondent.noticed["income_2"]


def test_equal_choices_are_not_shown_at_all(respond, liar):
    def equal(asked):
        drugs = questions(asked)["drugs"]
        assert drugs["kind"] == "select_multiple"
        for choice in drugs["choices"]:
            choice["label"] = {"en": "I take drugs"}

    tell(liar, equal)
    page = respond("private", on=liar).open().page
    page.get_by_text("This page refuses to ask this survey").wait_for()


def test_after_the_receipt_is_deleted_another_survey_is_told_nothing(respond, liar):
    respondent = respond("private", on=liar).start().to_review(ANSWERS).confirm()
    respondent.page.get_by_role("button", name="Delete it from this device").click()
    respondent.page.get_by_text("The receipt is gone").wait_for()
    assert respondent.open().page.get_by_text("The receipt is gone").count() == 1
    tell(liar, under_another_name)
    respondent.start().to_review(ANSWERS).confirm()
    assert set(told(liar.bodies[-1]).values()) == {None}


def test_a_server_that_changes_its_key_after_a_refusal_is_told_nothing_more(sent, liar, monkeypatch):
    """What was sent cannot be read any more on the device; that it was sent can."""
    respondent, first = sent
    monkeypatch.setattr(liar._app.state.service, "keys", Keys())
    assert set(send_again(respondent, liar).values()) == {None}
    assert [REFUSED in told for told in respondent.noticed.values()] == [True] * len(first)


def test_a_server_that_cannot_be_asked_for_a_key_has_lost_none(respond, liar):
    respondent = respond("private", on=liar).start()
    before = respondent.through(ANSWERS)
    respondent.page.route("**/key", lambda route: route.abort(), times=1)
    respondent.page.goto(respondent.address)
    respondent.page.get_by_text("The survey could not be loaded.").wait_for()
    respondent.page.get_by_role("button", name="Try again").click()
    respondent.page.locator(".welcome").wait_for()
    assert respondent.move(".welcome .actions .main").through(ANSWERS) == before


def test_without_a_key_the_page_draws_nothing(respond, liar):
    respondent = respond("private", on=liar)
    respondent.page.route(
        "**/survey.json", lambda route: route.fulfill(response=route.fetch(), headers={"content-type": "text/json"})
    )
    respondent.open()
    assert "could not be loaded" in respondent.page.locator("main").text_content()


def test_no_number_that_a_device_sends_for_a_key_comes_twice(respond, liar):
    respondent = respond("private", on=liar).start()
    for _ in range(3):
        respondent.start()
    asked = [json.loads(each.post_data)["point"] for each in respondent.requests if each.url.endswith("/key")]
    assert len(asked) == len(set(asked)) == 3
    assert not any(request.url.endswith("/key") for request in respond("private", on=liar).start().requests)


@pytest.fixture
def restarting(tmp_path):
    """Starts the same server again and again, on one port and one database."""
    port, running = [0], []

    def stop():
        while running:
            running.pop().__exit__(None, None, None)

    def start():
        stop()
        running.append(serve([privates()], tmp_path, port=port[0]))
        server = running[-1].__enter__()
        port[0] = int(server.address.rpartition(":")[2])
        return server

    yield start
    stop()


def test_after_a_restart_of_the_server_chance_draws_anew_and_says_so(respond, restarting):
    respondent = respond("private", on=restarting()).start().answer("income", ANSWERS["income"])
    server = restarting()
    drawn = respondent.start().through(ANSWERS)
    assert [RENEWED in told for told in respondent.noticed.values()] == [True] * len(drawn)
    assert respondent.start().through(ANSWERS) == drawn
    assert not respondent.noticed  # this time it could be read
    respondent.confirm()
    assert remembered(respondent, server.keys)[0]["surveys"]["/private"] == {"confirmed": True, "answered": True}


def test_after_a_restart_the_receipt_is_gone_and_nobody_answers_twice(respond, restarting):
    respondent = respond("private", on=restarting()).start().to_review(ANSWERS).confirm()
    restarting()
    page = respondent.open().page
    assert page.get_by_role("heading", name="Sent. Thank you.").count() == 1
    assert page.get_by_text("The receipt is gone").count() == 1
    assert not page.locator("#receipt").count()


def test_a_message_that_waited_and_was_refused_is_readable_no_more(respond, liar):
    stored = "JSON.stringify({...localStorage})"
    liar.replies = [refused("unavailable", 503), refused("closed_for_now")]
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    shown = json.loads(respondent.shown())
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_role("heading", name="Not yet sent").wait_for()
    assert shown["id"] in respondent.page.evaluate(stored)
    respondent.page.get_by_role("button", name="Try again now").click()
    respondent.page.get_by_role("button", name=LOOK).click()
    respondent.page.locator(".welcome, .step, #confirm").first.wait_for()
    assert shown["id"] not in respondent.page.evaluate(stored)


def test_a_message_that_waits_outlives_the_server(respond, restarting):
    respondent = respond("private", on=restarting()).start().to_review(ANSWERS)
    shown = respondent.shown()
    respondent.page.route("**/answers", lambda route: route.abort(), times=1)
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_role("heading", name="Not yet sent").wait_for()
    server = restarting()
    respondent.page.goto(respondent.address)
    respondent.page.locator(".receipt").wait_for()
    assert set(respondent.bodies()) == {shown}
    assert [json.loads(answers) for _, answers in server.store.replies("private").rows] == [told(shown)]


HELD = """
    (maps) => maps.flatMap((map) => [...map.values()]).some((value) => value === 98765431)
"""


def test_true_answers_are_nowhere_in_the_page_once_they_are_confirmed(respond):
    """Every map of the page is looked through, private fields included: before it is confirmed the answer is in one."""
    respondent = respond("private").start().to_review({**ANSWERS, "rent": 98_765_431})
    session = respondent.page.context.new_cdp_session(respondent.page)

    def held():
        prototype = session.send("Runtime.evaluate", {"expression": "Map.prototype"})["result"]["objectId"]
        maps = session.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]["objectId"]
        asked = {"functionDeclaration": f"function () {{ return ({HELD})([...this]) }}", "objectId": maps}
        return session.send("Runtime.callFunctionOn", {**asked, "returnByValue": True})["result"]["value"]

    assert held() is True
    respondent.confirm()
    assert held() is False


def test_no_two_boxes_are_sealed_with_one_nonce(respond):
    """Under one key, a nonce that comes twice would give away what both boxes hold."""
    respondent = respond("private").open()
    nonces = set()
    respondent.start()
    for _ in range(4):
        nonces.add(json.loads(respondent.page.evaluate("localStorage.getItem('naysay')"))["box"]["iv"])
        respondent.page.reload()
        respondent.page.locator("h1").wait_for()
    assert len(nonces) == 4
    assert all(len(nonce) == 24 and len(set(bytes.fromhex(nonce))) > 4 for nonce in nonces)
