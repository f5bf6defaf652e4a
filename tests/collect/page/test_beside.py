"""Designs that people carry out themselves: the device never learns an answer, and one response leaves at most."""

import json

import pytest
from browsing import remembered, serve
from hostile import lying, refused
from measuring import VISIBLE
from test_accessible import misfits, offences

from naysay import designs
from naysay.collect import Published
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectMultiple, SelectOne
from naysay.collect.questionnaire.offers import carried_out, private_of

LANGUAGES = ("en", "de", "es", "ar")
YES = {"yes": dict(zip(LANGUAGES, ("Yes", "Ja", "Sí", "نعم"), strict=True))}
YES["no"] = dict(zip(LANGUAGES, ("No", "Nein", "No", "لا"), strict=True))
LEFT = "From now on you enter your true answer."
LOOK = "Look at the answers again"
CALLS = {
    "crosswise": "crosswise(prevalence=1/4)",
    "triangular": "triangular(prevalence=1/3)",
    "coin": "unrelated_question(p=1/2, prevalence=5/12)",
    "die": "unrelated_question(p=2/3, prevalence=1/6)",
    "coins": "two_coins",
}


def same(text):
    return dict.fromkeys(LANGUAGES, text)


def asked(name, mode="hand, device", kind=SelectOne):
    form = private_of(tuple(YES), design=CALLS[name])
    how = carried_out(form, LANGUAGES, mode=mode, several=kind is SelectMultiple)
    choices = tuple(Choice(name=each, label=YES[each]) for each in YES)
    return kind(name=name, label=same(f"Did you, {name}?"), choices=choices, private=Private(**how))


def options(mode="hand, device"):
    names = ("red", "green", "blue", "black")
    how = Private(design=json.loads(designs.two_option(names).to_json()), modes=tuple(mode.split(", ")))
    return SelectOne(
        name="options", label=same("Which?"), choices=tuple(Choice(name=n, label=same(n)) for n in names), private=how
    )


def survey(*items, name="hands"):
    whole = {"name": name, "title": same("By hand"), "languages": LANGUAGES, "practice": False}
    return Questionnaire(items=items, **whole)


ITEMS = (
    asked("crosswise"),
    asked("triangular", "hand"),
    asked("coin", "device, hand"),
    asked("die"),
    asked("coins"),
    options(),
)


@pytest.fixture(scope="module")
def hands(tmp_path_factory):
    with serve([survey(*ITEMS)], tmp_path_factory.mktemp("hands")) as server:
        yield server


@pytest.fixture
def begin(respond, hands):
    def begun(**context):
        respondent = respond("hands", on=hands, **context).start()
        respondent.questions = {item.name: item for item in ITEMS}
        return respondent

    return begun


@pytest.fixture(scope="module")
def lied(tmp_path_factory):
    with lying([survey(*ITEMS)], tmp_path_factory.mktemp("lied_hands")) as server:
        yield server


def at(respondent, name):
    """Go to a question, every one before it left blank."""
    while name not in respondent.asked():
        respondent.move()
    return respondent.at(name)


def tap(respondent, name, place):
    at(respondent, name).locator(".inputs input").nth(place).check()
    return respondent


def turn(respondent):
    return respondent.turn()


def said(respondent, name):
    return json.loads("{" + respondent.previews()[name] + "}")[name]


def sentence(respondent):
    return respondent.page.locator(".sentence").text_content()


@pytest.mark.parametrize("how", ["coins", "crosswise"])
def test_no_chance_on_this_device_is_promised_where_it_draws_nothing(respond, tmp_path, how):
    """Neither as the page opens nor in what is promised nor on the review."""
    hidden = "You hide private answers yourself: this device never learns the true ones."
    with serve([survey(asked(how, "hand"))], tmp_path) as server:
        respondent = respond("hands", on=server).open()
        assert hidden in respondent.page.locator(".welcome .lines").text_content()
        respondent.page.get_by_text("What we promise you").click()
        respondent.page.locator(".promises").get_by_text(hidden).wait_for()
        assert "Chance changes private answers" not in respondent.page.locator(".promises").text_content()
        respondent.start().to_review({})
        assert respondent.page.get_by_text(f"◌ {hidden}").count() == 1
        assert "chance decides" not in respondent.page.locator("main").text_content()


@pytest.mark.parametrize(
    ("name", "told", "labels"),
    [
        ("crosswise", "whether your two answers are the same", ["The same", "Different"]),
        ("triangular", "whether at least one answer is yes", ["At least one", "Neither"]),
        ("die", "\u20661–4\u2069: answer the question above. \u20665–6\u2069: answer the one below", ["Yes", "No"]),
    ],
)
def test_the_innocuous_question_stands_beside_the_sensitive_one(begin, name, told, labels):
    respondent = begin()
    question = at(respondent, name)
    assert respondent.page.locator("h1").text_content().startswith(f"Did you, {name}?")
    assert "Is your mother's birthday in the months January to" in question.locator(".second").text_content()
    assert told in sentence(respondent)
    assert question.locator(".inputs .option label").all_text_contents() == labels
    assert respondent.page.locator(".levels").count() == 0


def test_a_survey_may_begin_with_the_device_and_offer_the_coin(begin):
    respondent = begin()
    question = at(respondent, "coin")
    assert question.locator(".second").count() == 0
    assert "By chance, this device may change your answer." in sentence(respondent)
    turn(respondent)
    assert sentence(respondent) == "Toss a coin. Heads: answer the question above. Tails: answer the one below."
    assert "months January to May?" in question.locator(".second").text_content()


def test_what_is_tapped_is_what_is_sent_at_no_level_of_its_own(begin, hands):
    respondent = begin()
    sent = {}
    for name, place, response in (
        ("crosswise", 1, "different"),
        ("triangular", 0, "at least one"),
        ("die", 1, "no"),
        ("coins", 0, "yes"),
    ):
        tap(respondent, name, place)
        sent[name] = {"level": None, "response": response}
        assert said(respondent, name) == sent[name]
    respondent.to_review({}).confirm()
    [body] = respondent.bodies()
    answers = json.loads(body)["answers"]
    assert {name: answers[name] for name in sent} == sent
    assert (answers["coin"], answers["options"]) == (None, None)
    assert len(body.encode()) == Published.of(survey(*ITEMS)).body_length


def test_the_modes_send_the_same_bytes_for_the_same_response(begin):
    """Whoever reads the body, or the database, cannot tell by hand from by device."""
    respondent = begin()
    fragments = set()
    for place in (0, 1):
        tap(respondent, "crosswise", place)
        fragments.add(respondent.previews()["crosswise"])
    by_device = set()
    turn(respondent)
    for place in (0, 1):
        tap(respondent, "crosswise", place)
        by_device.add(respondent.previews()["crosswise"])
    assert by_device <= fragments


@pytest.mark.parametrize("name", ["crosswise", "die", "coins", "options"])
def test_by_hand_nothing_is_drawn_for_an_answer_and_nothing_of_it_is_kept(begin, hands, name):
    respondent = begin()
    at(respondent, name)
    before = respondent.stored()
    tap(respondent, name, 0)
    tap(respondent, name, 1)
    turn(respondent)
    tap(respondent, name, 1)
    turn(respondent)
    assert respondent.stored() == before
    _, box = remembered(respondent, hands.keys)
    tables = box["tables"][f"/hands/{name}"]
    by_hand = {"coins": {"hand": []}, "options": {"hand": ["shown"]}}.get(name, {})
    assert {key: list(table) for key, table in tables.items() if key != "null"} == by_hand


def test_leaving_the_hand_for_the_device_says_once_what_that_reveals(begin):
    respondent = turn(tap(begin(), "crosswise", 0))
    notice = respondent.page.locator(".question .notice:visible")
    assert LEFT in notice.text_content()
    assert respondent.previews()["crosswise"] == '"crosswise":null', "what was tapped is forgotten"
    assert respondent.at("crosswise").locator(".inputs .option label").all_text_contents() == ["Yes", "No"]
    assert sentence(respondent).startswith("By chance, this device draws yes or no.")
    assert respondent.page.locator(".second").count() == 0
    turn(respondent)
    assert notice.count() == 0


def test_changing_the_mode_back_and_forth_draws_nothing_a_second_time(begin):
    respondent = turn(begin())
    drawn = [said(tap(respondent, "crosswise", place), "crosswise") for place in (0, 1)]
    turn(tap(turn(respondent), "crosswise", 1))
    assert [said(tap(respondent, "crosswise", place), "crosswise") for place in (0, 1)] == drawn


@pytest.mark.parametrize(("first", "then"), [("hand", "device"), ("device", "hand")])
def test_a_server_that_refuses_gets_one_response_by_hand_or_by_device_and_not_both(respond, lied, first, then):
    """The server refuses the first message, so that the respondent takes the other mode: the first response stays."""
    lied.truth()
    lied.replies = [refused("invalid_answers", 422)]
    respondent = respond("hands", on=lied).start()
    if first == "device":
        turn(respondent)
    tap(respondent, "crosswise", 0)
    sent = said(respondent, "crosswise")
    respondent.to_review({})
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text(LOOK).click()
    respondent.page.locator(".review").wait_for()
    respondent.back_to("crosswise")
    assert not respondent.taken("crosswise") and respondent.page.locator(".way").count() == 0
    respondent.to_review({}).confirm()
    bodies = [json.loads(body)["answers"]["crosswise"] for body in lied.bodies]
    assert bodies == [sent, sent], (first, then)


def again(lied, change):
    """Serve a changed survey, published as an honest server would publish it."""

    def told(form):
        asked = form["questionnaire"]
        change(asked)
        return Published.of(Questionnaire.model_validate(asked)).form

    lied.tell(told)


def other_modes(asked):
    asked["title"]["en"] += "!"
    for item in asked["items"]:
        item["private"]["modes"] = ["device"]
        item["private"]["innocuous"] = {}


def other_innocuous(asked):
    asked["title"]["en"] += "!"
    for item in asked["items"]:
        if item["private"].get("innocuous"):
            item["private"]["innocuous"] = same(f"Is your cousin's birthday a {item['name']}day?")


@pytest.mark.parametrize("change", [other_modes, other_innocuous])
def test_another_mode_or_innocuous_question_buys_no_second_response(respond, lied, change):
    lied.truth()
    lied.replies = [refused()]
    respondent = tap(respond("hands", on=lied).start(), "crosswise", 0)
    sent = said(respondent, "crosswise")
    respondent.to_review({})
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text(LOOK).click()
    respondent.page.locator(".review").wait_for()
    again(lied, change)
    respondent.start().to_review({}).confirm()
    assert [json.loads(body)["answers"]["crosswise"] for body in lied.bodies] == [sent, sent]


def test_an_innocuous_question_protects_one_answer_on_a_device(respond, tmp_path):
    """Two surveys put the same innocuous question beside other ones: in the second one the device draws."""
    other = asked("crosswise").model_copy(update={"name": "stolen", "label": same("Did you steal?")})
    only = asked("crosswise", "hand").model_copy(update={"name": "lied", "label": same("Did you lie?")})
    with serve(
        [survey(asked("crosswise")), survey(other, name="second"), survey(only, name="third")], tmp_path
    ) as server:
        first = respond("hands", on=server).start()
        assert first.page.locator(".second").count() == 1
        within = first.page.context
        second = respond("second", on=server, within=within).start()
        assert (second.page.locator(".second").count(), second.page.locator(".way").count()) == (0, 0)
        assert second.at("stolen").locator(".inputs .option label").all_text_contents() == ["Yes", "No"]
        third = respond("third", on=server, within=within).start()
        assert not third.taken("lied")
        assert "can no longer ask this question privately" in third.at("lied").text_content()
        assert respond("hands", on=server, within=within).start().page.locator(".second").count() == 1


def device_only(asked):
    for item in asked["items"]:
        item["private"]["modes"] = ["device"]


def test_a_survey_that_turns_to_the_hand_later_shows_two_options_and_not_all(respond, tmp_path):
    """With all of them, and the words for a coin, it would be told the truth."""
    with lying([survey(options())], tmp_path) as server:
        again(server, device_only)
        respondent = respond("hands", on=server).start()
        assert respondent.page.locator(".inputs input").count() == 4
        server.truth()
        respondent.start()
        assert sentence(respondent).startswith("Is one true for you? Tap the other.")
        assert respondent.page.locator(".inputs input").count() == 2


UNHEARD = "addEventListener('storage', (event) => event.stopImmediatePropagation(), true)"


def test_what_another_survey_has_sent_is_not_sent_again_by_a_page_that_heard_nothing(respond, tmp_path):
    """A page that was put to sleep, or that Back brings again, confirms what was shown before: it looks anew first."""
    other = asked("crosswise").model_copy(update={"name": "other"})
    with serve([survey(asked("crosswise")), survey(other, name="second")], tmp_path) as server:
        first = respond("hands", on=server)
        first.page.add_init_script(UNHEARD)
        tap(turn(first.start()), "crosswise", 0).to_review({})
        second = respond("second", on=server, within=first.page.context).start()
        tap(second, "other", 0).to_review({}).confirm()
        first.page.bring_to_front()
        first.page.locator("#confirm").click()
        first.page.locator(".review [role=alert]").wait_for()
        assert first.bodies() == []
        first.confirm()
        assert [json.loads(body)["answers"] for body in first.bodies()] == [{"crosswise": None}]


@pytest.mark.parametrize("locale", ["en-US", "de-DE", "es-ES", "ar"])
def test_few_words_stand_beside_the_questions_and_the_options(begin, locale):
    """At most 45 beside question and options, in every language; one instruction of at most 20 words."""
    respondent = begin(locale=locale)
    page = respondent.page
    while not page.locator("#confirm").count():
        if not page.locator(".hand").count():
            turn(respondent)
        [name] = respondent.asked()
        second = page.locator(".second > :last-child").all_text_contents()
        counted = len(page.evaluate(VISIBLE)) - sum(len(each.split()) for each in second)
        assert len(sentence(respondent).split()) <= 20, name
        assert counted <= 45, (name, page.evaluate(VISIBLE))
        respondent.move()


LOOKS = [("en-US", "light", "none"), ("ar", "dark", "none"), ("de-DE", "light", "active")]


@pytest.mark.parametrize(("locale", "scheme", "forced"), LOOKS)
def test_no_screen_offends_against_wcag(begin, locale, scheme, forced):
    respondent = begin(locale=locale, color_scheme=scheme, forced_colors=forced)
    page = respondent.page
    while not page.locator("#confirm").count():
        if not page.locator(".hand").count():
            turn(respondent)
        page.locator(".inputs input").first.check()
        page.locator(".how summary").click()
        assert offences(page) == []
        assert misfits(page) == []
        respondent.move()


ASKED = "Did you, crosswise?"
SECOND = "The second question: Is your mother's birthday in the months January to March?"
READ = (
    f'- region "{ASKED}":',
    "- group: How private is this?",
    f'- heading "{ASKED}" [level=1]',
    f'- paragraph: "{SECOND}"',
    f"""- 'group "{ASKED} {SECOND.replace("'", "''")}"':""",
    '- radio "The same"',
    "- text: The same",
    '- radio "Different"',
    "- text: Different",
    "- paragraph: This device never learns your true answer.",
)


def test_a_screen_reader_reads_both_questions_before_the_options(begin):
    read = begin().page.locator(".question").aria_snapshot()
    assert [line.strip() for line in read.splitlines()] == list(READ)


@pytest.mark.parametrize("locale", ["en-US", "ar"])
def test_the_screens_fit_a_small_phone_and_are_taken_with_the_keyboard(begin, locale):
    respondent = begin(locale=locale, viewport={"width": 320, "height": 640})
    page = respondent.page
    assert page.evaluate("document.documentElement.scrollWidth <= 320")
    page.locator(".inputs input").first.focus()
    page.keyboard.press("Space")
    assert said(respondent, "crosswise")["response"] == "same"
    page.keyboard.press("ArrowDown")
    assert said(respondent, "crosswise")["response"] == "different"
    assert page.evaluate("document.documentElement.scrollWidth <= 320")
    ids = page.locator(".inputs fieldset").get_attribute("aria-labelledby").split()
    first, second = (page.locator(f"[id='{each}']").text_content() for each in ids)
    assert "Did you, crosswise?" in first and len(second.split()) > 5


def test_how_private_this_is_names_those_who_know_the_second_answer(begin):
    respondent = begin()
    respondent.page.locator(".how summary").click()
    told = respondent.page.locator(".how").text_content()
    assert "Your answer to the second question hides the first." in told
    turn(respondent)
    assert "hides the first" not in respondent.page.locator(".how").text_content()


def test_neither_says_that_the_answer_is_no(begin):
    respondent = begin()
    assert "“Neither” shows that your answer is no." in at(respondent, "triangular").text_content()
    tap(respondent, "triangular", 1)
    assert respondent.page.locator(".actions .small:not(.may)").text_content() == "This tells your answer."
    assert respondent.page.locator(".way").count() == 0, "by hand only"
