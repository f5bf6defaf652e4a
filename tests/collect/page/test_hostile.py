"""The genuine page before a server that lies: no true private answer leaves it, whatever the server says."""

import copy
import json
import random

import pytest
from attacks import ATTACKS, EACH, attacked, mutated
from browsing import ANSWERS, copied, privates
from hostile import lying, refused
from test_sent import CONSTANT, counting

from naysay import designs
from naysay.collect import Published

REFUSED = {
    "en-US": "This page refuses to ask this survey",
    "de-DE": "Diese Seite stellt die Fragen dieser Umfrage nicht",
    "es-ES": "Esta página se niega a hacer esta encuesta",
    "ar": "ترفض هذه الصفحة طرح هذا الاستبيان",
}
SEEDS = range(6)

FILL = """
    (truth) => {
        for (const asked of document.querySelectorAll(".step .question")) {
            if (asked.closest("[hidden]")) continue;
            const hides = asked.classList.contains("private");
            const groups = Map.groupBy(asked.querySelectorAll(".inputs input[type=radio]"), (each) => each.name);
            for (const each of groups.values()) each.at(hides ? truth : 0).click();
            const boxes = [...asked.querySelectorAll(".inputs input[type=checkbox]")];
            if (boxes.length && !boxes.some((each) => each.checked)) boxes.at(hides ? truth : 0).click();
            for (const typed of asked.querySelectorAll(".inputs input[type=text], .inputs textarea")) {
                typed.value = hides ? ["3", "900"].at(truth) : "7";
                typed.dispatchEvent(new Event("input"));
            }
        }
        const told = document.querySelector("main").cloneNode(true);
        for (const each of told.querySelectorAll(".private, [hidden]")) each.remove();
        return told.textContent;
    }
"""
"""Answers all that is asked: private questions truly, plain ones alike for everyone. Gives what plain ones say."""


def changed(folder, *changes):
    """naysay's own client with changes, each (file, old, new)."""
    copied(folder)
    for name, old, new in changes:
        code = (folder / name).read_text(encoding="utf-8")
        assert code.count(old) == 1
        (folder / name).write_text(code.replace(old, new), encoding="utf-8")
    return folder


def take(respondent, truth):
    """Take a survey as far as it goes; gives what can be seen of it, step by step, and of its last step."""
    respondent.page.add_init_script(counting())
    respondent.start()
    seen = []
    for _ in range(40):
        if respondent.page.locator("#confirm").count():
            return [*seen, respondent.shown()]
        seen.append(respondent.page.evaluate(FILL, truth))
        seen.append(respondent.page.evaluate(FILL, truth))  # what came up by that, too
        respondent.move()
    return seen


@pytest.fixture(scope="module")
def gullible(tmp_path_factory):
    """A liar whose page believes every survey, and draws the same response whatever the truth.

    So whatever tells two truths apart is a leak, and not one of the checks keeps it from being seen.
    """
    folder = tmp_path_factory.mktemp("gullible")
    check = "export function flaw(survey) {\n"
    changes = (
        ("trust.js", check, f"{check}  return null;\n"),
        ("randomize.js", "export function draw(", "function truly("),
    )
    client = changed(folder / "client", *changes)
    with (client / "randomize.js").open("a", encoding="utf-8") as module:
        module.write(CONSTANT)
    with lying([attacked()], folder, client=client) as server:
        yield server


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    with lying([attacked()], tmp_path_factory.mktemp("genuine")) as server:
        yield server


def test_the_liar_serves_the_genuine_page_until_it_lies(respond, liar):
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    liar.replies = [refused()]
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("The server did not take it").first.wait_for()
    respondent.page.get_by_role("button", name="Look at the answers again").click()
    respondent.confirm()
    first, second = (json.loads(body)["answers"] for body in liar.bodies)
    assert first == second
    assert all(set(answer) >= {"level"} or set(answer) == set(ANSWERS["drugs"]) for answer in first.values())
    liar.tell(lambda form: form["questionnaire"]["title"].update(en="Another title"))
    assert "Another title" in respond("private", on=liar).open().page.locator("main").text_content()


@pytest.mark.parametrize("locale", REFUSED)
def test_a_question_named_twice_is_refused_before_anything_is_asked(respond, liar, locale):
    """A plain, empty grid of the same name took the true answer into the message."""
    grid = {"kind": "grid", "name": "smoking", "label": {"en": "?"}, "rows": [], "choices": []}
    liar.tell(lambda form: form["questionnaire"]["items"].append(grid))
    respondent = respond("private", on=liar, locale=locale).open()
    assert respondent.page.locator("[role=alert]").text_content().startswith(REFUSED[locale])
    assert not respondent.page.locator("input, .welcome, .step").count()
    assert "smoking" not in json.dumps(respondent.stored())
    assert [request.method for request in respondent.requests].count("POST") == 0


@pytest.mark.parametrize("attack", [*ATTACKS, *EACH], ids=lambda attack: attack.__name__)
def test_the_page_refuses_each_attack(node, attack):
    form = Published.of(attacked()).form
    assert node("trust.mjs", "flaw", "trust.js", [form]) == [None]
    forms = [copy.deepcopy(form) for _ in range(40)]
    for seed, each in enumerate(forms):
        attack(each["questionnaire"]["items"], random.Random(seed))
    assert None not in node("trust.mjs", "flaw", "trust.js", forms)


def test_the_page_refuses_attacks_at_random(node):
    form = Published.of(attacked()).form
    found = node("trust.mjs", "flaw", "trust.js", [mutated(form, seed) for seed in range(400)])
    assert [seed for seed, where in enumerate(found) if where is None] == []


@pytest.mark.parametrize("attack", EACH, ids=lambda attack: attack.__name__)
def test_even_a_page_that_believes_it_tells_no_truth(respond, gullible, attack):
    """True answers are kept by the question itself: what is named twice, asked by or repeated finds none."""
    gullible.tell(lambda form: attack(form["questionnaire"]["items"], None))
    seen = [take(respond("attacked", on=gullible), truth) for truth in (0, -1)]
    assert seen[0] == seen[1]
    assert '"naysay":"answers"' in seen[0][-1]  # it came to the message


@pytest.mark.parametrize("seed", SEEDS)
def test_nor_does_it_after_attacks_at_random(respond, gullible, seed):
    gullible.tell(lambda form: mutated(form, seed))
    seen = [take(respond("attacked", on=gullible), truth) for truth in (0, -1)]
    assert seen[0] == seen[1]


def test_truths_that_are_sent_would_be_seen(respond, genuine):
    """Without the stub two truths are told apart, so the comparison above can fail."""
    genuine.truth()
    seen = [take(respond("attacked", on=genuine), truth) for truth in (0, -1)]
    assert seen[0][:-1] == seen[1][:-1]
    assert seen[0][-1] != seen[1][-1]


def test_numbers_come_from_the_integers_and_a_survey_that_states_less_is_refused(respond, liar):
    """The page showed ε = 0.1 for chances of 999 to 1."""

    def sharper(form, **stated):
        table = _question(form, "smoking")["private"]["design"]["design"]
        table.update(denominator=1000, columns=[[999, 1], [1, 999]])
        form["privacy"]["smoking"][0].update(stated)
        form["together"].update(bits=99, odds=None)

    liar.tell(lambda form: sharper(form, epsilon=0.1, odds=1.1, bits=0.01))
    refusing = respond("private", on=liar).open()
    assert refusing.page.locator("[role=alert]").text_content().startswith(REFUSED["en-US"])
    assert refusing.page.locator("code").first.text_content() == "privacy.smoking"
    liar.tell(lambda form: sharper(form, epsilon=99, odds=None, bits=1))
    told = respond("private", on=liar).start().move().page.locator(".how").text_content()
    assert "at most 999-fold (ε = 6.91)" in told
    assert "99)" not in told


def _question(form, name):
    group = form["questionnaire"]["items"][0]
    return next(item for item in group["items"] if item["name"] == name)


def test_an_answer_that_tells_a_lot_is_said_to(respond, liar):
    """Under warner(p=0.9999) both options stay possible, and the answer can be told all the same."""

    def loud(form):
        _question(form, "smoking")["private"]["design"] = json.loads(designs.warner(p=0.9999).to_json())
        form["privacy"]["smoking"][0].update(epsilon=9.3, odds=9999.5, bits=1)
        form["together"].update(bits=99, odds=None)

    liar.tell(loud)
    respondent = respond("private", on=liar).start().move().answer("smoking", "no")
    assert respondent.page.locator(".sentence").text_content().endswith("But what is sent tells a lot about it.")
    assert "obody can be sure" not in respondent.page.locator(".step").text_content()
    assert respondent.page.locator(".actions .small").first.text_content() == "This tells a lot about your answer."
    lot = "This tells a lot about your answer: the odds for an option can grow 9,999-fold."
    assert lot in respondent.page.locator(".how").text_content()
    taxes = respondent.move().answer("taxes", "no").at("taxes")
    assert "tells a lot" not in taxes.text_content()
    assert "Nobody can be sure" in taxes.text_content()


@pytest.mark.parametrize(
    "said",
    [None, {"day": "2026-99-99"}, {"day": "soon"}, {"day": 20261120}, {"day": "2026-11-20", "stored": False}],
    ids=str,
)
def test_what_is_no_acknowledgment_is_not_taken_for_one(respond, liar, said):
    liar.replies = [(201, said)]
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    shown = respondent.shown()
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_role("heading", name="Not yet sent").wait_for()
    respondent.page.get_by_role("button", name="Try again now").click()
    respondent.page.locator(".receipt").wait_for()
    assert [body.decode() for body in liar.bodies] == [shown, shown]


def test_a_refusal_without_a_reason_is_one(respond, liar):
    liar.replies = [refused("")]
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("This message was not stored.").wait_for()


def without_room(form):
    form["body_length"] = 1


def without_choices(form):
    form["questionnaire"]["items"].append({"kind": "ranking", "name": "rank", "label": {"en": "?"}})


@pytest.mark.parametrize("change", [without_room, without_choices])
def test_a_page_that_breaks_says_so(respond, liar, change):
    liar.tell(change)
    respondent = respond("private", on=liar).start()
    while respondent.page.locator(".step").count():
        respondent.fill(ANSWERS).move()
    assert "could not be loaded" in respondent.page.locator("main").text_content()
    assert not liar.bodies


def test_what_passes_for_a_preview_is_told_no_draw(respond, liar):
    """Each version of a preview is drawn anew, so that a server could ask for as many draws as it needs."""
    liar.tell(lambda form: form.update(preview=True))
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    assert respondent.page.locator(".review .warning", has_text="it sends nothing").count() == 1
    respondent.confirm()
    assert "nothing was sent" in respondent.page.locator("main").text_content()
    assert not liar.bodies
    assert not any(request.method == "POST" and request.url.endswith("/answers") for request in respondent.requests)


def test_a_server_that_tells_the_browser_to_forget_gets_another_draw(respond, tmp_path):
    """A limit, stated in docs/reference/page_rules.md: the header comes with the page, before any of its code."""

    def wiping(inner):
        async def app(scope, receive, send):
            async def wiped(message):
                if message["type"] == "http.response.start" and scope["path"].endswith("/s/private"):
                    message = {**message, "headers": [*message["headers"], (b"clear-site-data", b'"storage"')]}
                await send(message)

            await inner(scope, receive, wiped)

        return app

    with lying([privates()], tmp_path) as server:
        server._app = wiping(server._app)
        server.replies = [refused()] * 3
        respondent = respond("private", on=server)
        for _ in range(3):
            respondent.start().to_review(ANSWERS).page.locator("#confirm").click()
            respondent.page.locator(".sending button:visible").wait_for()
        sent = [json.loads(body)["answers"] for body in server.bodies]
        assert len({json.dumps(each) for each in sent}) > 1, "draws of one person for the same answers"


def test_a_server_that_lies_can_mark_a_browser(respond, tmp_path):
    """A limit, stated in docs/how-to/invitations.md: the mark comes with the page and goes with the page."""
    marks = []

    def marking(inner):
        async def app(scope, receive, send):
            async def marked(message):
                if message["type"] == "http.response.start" and scope["path"].endswith("/s/private"):
                    message = {
                        **message,
                        "headers": [*message["headers"], (b"set-cookie", b"mark=1; HttpOnly; Path=/")],
                    }
                await send(message)

            seen = dict(scope["headers"]).get(b"cookie")
            if scope["path"].endswith("/s/private"):
                marks.append(seen)
            await inner(scope, receive, marked)

        return app

    with lying([privates()], tmp_path) as server:
        server._app = marking(server._app)
        respondent = respond("private", on=server).open()
        respondent.page.reload()
        respondent.page.locator("main h1").first.wait_for()
        respondent.start().to_review(ANSWERS).confirm()
        fetched = {
            (request.url.rpartition("/")[2], "cookie" in request.all_headers())
            for request in respondent.requests
            if request.resource_type == "fetch"
        }
    assert (marks[0], marks[-1]) == (None, b"mark=1")
    assert fetched == {("survey.json", False), ("key", False), ("answers", False)}


def wordy(form):
    """Words in so many languages that their marks fill the storage."""
    form["questionnaire"]["items"][0]["items"][0]["label"] |= {f"x{number}": str(number) for number in range(90_000)}


def lengthy(form):
    form["body_length"] = 6_000_000


@pytest.mark.parametrize("fill", [wordy, lengthy])
def test_a_server_that_fills_the_storage_gets_no_private_answer(respond, tmp_path, fill):
    """What cannot be remembered would be drawn anew after a reload: it is not sent."""
    with lying([privates()], tmp_path) as server:
        server.tell(fill)
        respondent = respond("private", on=server)
        respondent.page.set_default_timeout(90_000)  # 90,000 words are read before the first page is there
        respondent.start().to_review(ANSWERS)
        respondent.page.locator("#confirm").click()
        if fill is lengthy:
            respondent.page.locator(".review [role=alert]").wait_for()
            assert server.bodies == []
            respondent.page.locator("#confirm").click()
        respondent.page.locator(".receipt").wait_for()
        [body] = server.bodies
        assert set(json.loads(body)["answers"].values()) == {None}
