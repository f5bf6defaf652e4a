"""What leaves the browser: nothing before it is confirmed, then what was shown, and never a trace of the truth."""

import datetime
import json

import pytest
from browsing import ANSWERS, copied, privates, remembered, serve

PRIVATE = ("income", "smoking", "taxes", "partners", "drugs", "rent", "debt", "party")
_ITEMS = ("cannabis", "cocaine", "sedatives")
TRUTHS = [
    {
        "income": ("below_1000", "to_2000", "to_3000", "to_5000", "from_5000")[turn],
        "smoking": ("yes", "no")[turn % 2],
        "taxes": ("yes", "no")[turn % 2],
        "partners": ("zero_to_two", "three_to_five", "six_to_nine", "ten_or_more")[turn % 4],
        "drugs": {item: ("yes", "no")[(turn >> place) % 2] for place, item in enumerate(_ITEMS)},
        "rent": (0, 500, 900, 40_000, 399)[turn],
        "debt": (0.5, 3, 10, 100, 2)[turn],
        "party": ("red", "green", "blue", "yellow", "violet")[turn],
    }
    for turn in range(5)
]
"""Five people, between them every category of every private question."""

HASH = """
    async (url) => {
        const bytes = await (await fetch(url)).arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        return [...hash].map((octet) => octet.toString(16).padStart(2, "0")).join("");
    }
"""

CONSTANT = """
export const draw = (design) => truly(design, categories(design)[0], (size) => new Uint8Array(size));
"""


def counting():
    """Makes the browser's random bytes the same for everyone."""
    return """
        let next = 0;
        crypto.getRandomValues = (array) => array.map((_, i) => (array[i] = (next += 89) % 256)) && array;
    """


def message(requests):
    (post,) = (request for request in requests if request.method == "POST")
    return post


def everything(respondent):
    """All that a browser has sent, request by request."""
    return [
        (request.method, request.url, sorted(request.all_headers().items()), request.post_data)
        for request in respondent.requests
    ]


def test_what_is_sent_is_what_was_shown_byte_for_byte(respond, served):
    respondent = respond().start().to_review()
    shown = respondent.shown()
    respondent.confirm()
    sent = message(respondent.requests)
    assert sent.post_data_buffer == shown.encode()
    assert shown in respondent.page.locator("#receipt").text_content()
    content = json.loads(shown)
    assert list(content["answers"]) == list(respondent.questions)
    assert content["survey"] == respondent.page.evaluate(HASH, served.page("sample") + "/survey.json")


def test_each_preview_is_part_of_what_is_sent(respond):
    respondent = respond("private").start()
    previews = respondent.through(ANSWERS)
    assert set(previews) == set(PRIVATE)
    shown = respondent.shown()
    for fragment in previews.values():
        assert fragment in shown


def test_nothing_is_sent_before_it_is_confirmed(respond):
    respondent = respond().start().to_review()
    address = respondent.address
    client = "/client/"
    asked = [request.url.removeprefix(address.removesuffix("/s/sample")) for request in respondent.requests]
    assert asked[0] == "/s/sample"
    assert asked.count("/s/sample/survey.json") == 1
    rest = [url for url in asked if url not in ("/s/sample", "/s/sample/survey.json")]
    assert all(url.startswith(client) for url in rest)
    assert len(rest) == len(set(rest))
    assert {request.method for request in respondent.requests} == {"GET"}
    before = len(respondent.requests)
    respondent.confirm()
    assert [request.method for request in respondent.requests[before:]] == ["POST"]


def test_nothing_comes_from_or_goes_to_other_sites_and_no_cookie_is_set(respond):
    respondent = respond().start().to_review().confirm()
    home = respondent.address.removesuffix("/s/sample")
    assert all(request.url.startswith(home) for request in respondent.requests)
    assert respondent.page.context.cookies() == []
    assert not any({"cookie", "referer"} & request.all_headers().keys() for request in respondent.requests)


def test_plain_questions_are_sent_as_they_are_answered(respond):
    content = json.loads(respond().start().to_review().shown())["answers"]
    expected = {
        "age": 44, "area": "town", "household_size": 3, "children": 1, "moved_in": "2011-05-01",
        "news": ["paper", "other"], "news_other": "neighbors", "sleep": 7.5, "health": 4,
        "views": {"trust_state": "agree", "trust_firms": "agree", "careful": "agree"},
        "priorities": ["hospitals", "schools", "roads"], "remarks": "None.\nThank you.",
    }  # fmt: skip
    assert {name: content[name] for name in expected} == expected


def test_questions_left_blank_are_null_and_nothing_else_is(respond):
    content = json.loads(respond().start().to_review({"age": 30}).shown())["answers"]
    assert {name for name, value in content.items() if value is not None} == {"age"}


def test_required_questions_are_asked_for(respond):
    respondent = respond().start()
    respondent.page.locator(".step > .actions .main").click()
    assert "Please answer this question." in respondent.page.locator(".summary").text_content()
    assert respondent.page.evaluate("document.activeElement.className") == "summary"
    respondent.page.locator(".summary button").click()
    assert respondent.page.evaluate("document.activeElement.id") == "q-age-input"


def test_every_message_has_one_length(respond, served):
    """The shortest and the longest that can be said."""
    lengths = set()
    for answers in ({}, {**ANSWERS, "remarks": "ä€😀" * 160}):
        respondent = respond().start().to_review({"age": 30, **answers})
        lengths.add(len(respondent.shown().encode()))
    assert len(lengths) == 1


@pytest.fixture(scope="module")
def stubbed(tmp_path_factory):
    """A server whose page draws the same response whatever the truth."""
    folder = copied(tmp_path_factory.mktemp("constant") / "client")
    module = folder / "randomize.js"
    code = module.read_text(encoding="utf-8")
    assert code.count("export function draw(") == 1
    module.write_text(code.replace("export function draw(", "function truly(") + CONSTANT, encoding="utf-8")
    with serve([privates()], folder.parent, client=folder) as server:
        yield server


def test_with_a_constant_response_every_request_is_the_same_for_every_truth(respond, stubbed):
    seen = []
    for truth in TRUTHS:
        respondent = respond("private", on=stubbed)
        respondent.page.add_init_script(counting())
        respondent.start().to_review(truth)
        respondent.confirm()
        seen.append(everything(respondent))
    assert len(seen[0]) == 4  # the page, the survey, one language, and the message
    for each in seen:
        assert each == seen[0]


def test_without_the_stub_requests_differ(respond):
    bodies = set()
    for truth in TRUTHS[:2]:
        respondent = respond("private")
        respondent.page.add_init_script(counting())
        bodies.add(respondent.start().to_review(truth).shown())
    assert len(bodies) == 2


def test_what_the_device_stores_is_the_same_for_every_truth(respond, served):
    stored, lengths = [], set()
    for truth in TRUTHS:
        respondent = respond("private")
        respondent.page.add_init_script(counting())
        respondent.start()
        before = respondent.stored()
        respondent.to_review(truth)
        assert respondent.stored() == before  # answering stores nothing
        marks, box = remembered(respondent, served.keys)
        lengths.add(len(marks.pop("box")["sealed"]))
        stored.append((marks, box))
    assert len(stored[0][1]["tables"]) == len(PRIVATE)
    assert all(each == stored[0] for each in stored)
    assert len(lengths) == 1


def test_plain_answers_are_kept_for_a_reload_and_private_ones_beside_them_are_not(respond, served):
    """The sample survey asks plain questions, too: what is kept of them tells nothing of the others."""
    stored = []
    for truth in TRUTHS[:2]:
        respondent = respond()
        respondent.page.add_init_script(counting())
        respondent.start().to_review({**ANSWERS, **truth})
        stored.append((remembered(respondent, served.keys)[1], respondent.stored()[1]))
    assert stored[0] == stored[1]
    (tab,) = (json.loads(each) for each in dict(json.loads(stored[0][1])).values())
    assert {"age", "area", "remarks"} <= set(tab["answers"])
    assert not set(PRIVATE) & set(tab["answers"])


def test_no_timer_runs_between_a_truth_and_its_message(respond):
    """The clock of the page stands still: a message that waited, for one truth more than another, would never go."""
    for truth in TRUTHS[:2]:
        respondent = respond("private")
        respondent.page.clock.install()
        respondent.start()
        respondent.page.clock.pause_at(datetime.datetime.now() + datetime.timedelta(hours=1))
        respondent.to_review(truth).confirm()
        assert message(respondent.requests)


KEPT = "\nglobalThis.kept = [Truths.prototype, Answers.prototype];\n"
"""What a page is made to say of itself here: where its memory is looked for."""
COUNTED = """
    function () {
        const questions = new Set(this.flatMap((each) => each.questions ?? []));
        return this.map((each) => [...questions].filter((question) => each.value(question) !== null).length);
    }
"""


def kept(respondent):
    """How many answers the page holds in memory: true private ones, and those to be sent."""
    debugger = respondent.page.context.new_cdp_session(respondent.page)
    both = debugger.send("Runtime.evaluate", {"expression": "globalThis.kept"})["result"]["objectId"]
    found = []
    for place in ("0", "1"):
        one = debugger.send("Runtime.getProperties", {"objectId": both, "ownProperties": True})["result"]
        prototype = next(each["value"]["objectId"] for each in one if each["name"] == place)
        found.append(debugger.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]["objectId"])
    joined = {"functionDeclaration": "function (all) { return [...this, ...all]; }", "objectId": found[0]}
    all_ = debugger.send("Runtime.callFunctionOn", {**joined, "arguments": [{"objectId": found[1]}]})["result"]
    count = {"functionDeclaration": COUNTED, "objectId": all_["objectId"], "returnByValue": True}
    return debugger.send("Runtime.callFunctionOn", count)["result"]["value"]


@pytest.fixture(scope="module")
def telling(tmp_path_factory):
    """A server whose page shows where its memory is, and is naysay's own otherwise."""
    folder = copied(tmp_path_factory.mktemp("telling") / "client")
    with (folder / "survey.js").open("a", encoding="utf-8") as module:
        module.write(KEPT)
    with serve([privates()], folder.parent, client=folder) as server:
        yield server


def test_answers_are_forgotten_once_they_are_sent(respond, telling):
    """True ones when what is sent is fixed, all others when it is acknowledged; as the page's memory shows."""
    respondent = respond("private", on=telling).start().to_review(TRUTHS[0])
    assert kept(respondent) == [len(PRIVATE), len(PRIVATE)]
    respondent.page.route("**/answers", lambda route: route.abort(), times=1)
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("Not yet sent").first.wait_for()
    assert kept(respondent) == [0, len(PRIVATE)]
    respondent.page.locator(".receipt").wait_for()
    assert kept(respondent) == [0, 0]


def test_no_cookie_goes_with_the_survey_or_the_message(respond):
    """Not even one that another page of the same computer has set."""
    respondent = respond("private")
    home = respondent.address.rpartition("/s/")[0]
    respondent.page.context.add_cookies([{"name": "known", "value": "by name", "url": home}])
    respondent.start().to_review(TRUTHS[0]).confirm()
    asked = [each for each in respondent.requests if each.url.endswith(("/survey.json", "/answers"))]
    assert [request.method for request in asked] == ["GET", "POST"]
    assert not any("cookie" in request.all_headers() for request in asked)
    assert "cookie" in respondent.requests[0].all_headers()  # the page itself: it would be seen


def test_after_sending_the_device_keeps_the_receipt_alone(respond, served):
    respondent = respond("private").start().to_review(TRUTHS[0]).confirm()
    assert json.loads(respondent.stored()[1]) == []
    box = remembered(respondent, served.keys)[1]
    receipt = box["surveys"]["/private"].pop("receipt")
    assert box == {"tables": {}, "sent": {}, "surveys": {"/private": {}}}
    assert receipt["content"] == message(respondent.requests).post_data
    respondent.page.get_by_text("Delete it from this device").click()
    respondent.page.get_by_text("The receipt is gone").wait_for()
    assert remembered(respondent, served.keys)[1] == {"tables": {}, "sent": {}, "surveys": {}}
    assert remembered(respondent, served.keys)[0]["surveys"] == {"/private": {"confirmed": True, "answered": True}}
