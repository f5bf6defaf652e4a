"""Every step can be read, reached and answered: by rule (axe), by keyboard alone, enlarged, and by thumb."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import ANSWERS, privates, serve

from naysay.collect.questionnaire import sample

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
PHONE = {"viewport": {"width": 390, "height": 844}}
SMALL_PHONE = {"viewport": {"width": 320, "height": 640}}  # 200 % on a phone
LOOKS = {
    "light on a small phone": {**SMALL_PHONE, "color_scheme": "light"},
    "dark at a desk, in German": {
        "color_scheme": "dark",
        "locale": "de-DE",
        "viewport": {"width": 1280, "height": 900},
    },
    "right to left, dark, on a small phone": {**SMALL_PHONE, "color_scheme": "dark", "locale": "ar"},
    "in Spanish, with less motion, in the colors of the system": {
        **PHONE,
        "locale": "es-ES",
        "reduced_motion": "reduce",
        "forced_colors": "active",
    },
}


AXE = Axe()
# What a look can change; names, roles and order are the same in every look.
OF_LOOKS = {
    "type": "rule",
    "values": ["color-contrast", "target-size", "html-has-lang", "html-lang-valid", "valid-lang"],
}


def offences(page, run_only=None):
    """What axe finds, by all rules or by some; its script is sent once a page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options = {**RULES, **({} if run_only is None else {"runOnly": run_only}), "resultTypes": ["violations"]}
    found = page.evaluate("options => axe.run(options).then(found => found.violations)", options)
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found]


@pytest.mark.parametrize("look", LOOKS)
def test_no_step_offends_against_wcag(respond, look):
    respondent = respond(**LOOKS[look]).open()
    page = respondent.page
    rules = None if look == next(iter(LOOKS)) else OF_LOOKS
    titles = [page.title()]
    assert offences(page, rules) == []
    respondent.move(".welcome .actions .main")
    while not page.locator("#confirm").count():
        if "age" in respondent.asked():
            page.locator(".step > .actions .main").click()
            assert offences(page, rules) == []
        if "practice" in respondent.asked():
            page.locator(".question input").first.check()
        respondent.fill(ANSWERS)
        assert misfits(page) == []
        for closed in page.locator(".step details").all():
            closed.locator("summary").click()
        assert offences(page, rules) == []
        titles.append(page.title())
        respondent.move()
    assert offences(page, rules) == []
    titles.append(page.title())
    page.route("**/answers", lambda route: route.abort(), times=1)
    page.locator("#confirm").click()
    page.locator(".sending .main:enabled").wait_for()
    assert offences(page, rules) == []
    titles.append(page.title())
    page.locator(".receipt").wait_for()
    assert offences(page, rules) == []
    assert len(set(titles)) == len(titles)


def test_the_coin_mode_offends_neither(respond):
    respondent = respond("private").start().answer("income", 0, level="coin")
    assert offences(respondent.page) == []
    respondent.move().move().answer("taxes", 0, level="coin")
    assert offences(respondent.page) == []


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_the_page_on_threats_offends_neither(respond, served, language):
    respondent = respond()
    respondent.page.goto(f"{served.address}/threats?lang={language}")
    assert respondent.page.locator("html").get_attribute("lang") == language
    assert offences(respondent.page) == []
    respondent.page.emulate_media(color_scheme="dark")
    assert offences(respondent.page, OF_LOOKS) == []


@pytest.mark.parametrize("locale", ["en-US", "de-DE", "es-ES", "ar"])
def test_threats_are_told_inside_the_page_and_loaded_from_files_of_the_survey(respond, served, locale):
    respondent = respond("private", locale=locale, **SMALL_PHONE).open()
    page = respondent.page
    page.locator("footer .threats").click()
    page.locator("dialog[open] dd").first.wait_for()
    assert page.locator("dialog dt").count() == 20
    assert offences(page) == []
    assert misfits(page) == []
    asked = [request.url.removeprefix(served.address) for request in respondent.requests]
    assert [url.split("/")[1] for url in asked] == ["s", "s", "client", "client"]
    page.locator("dialog .main").click()
    assert page.locator("dialog[open]").count() == 0


def test_a_page_that_offends_is_found(respond):
    respondent = respond().open()
    respondent.page.evaluate("document.body.append(document.createElement('button'))")
    assert [rule for rule, _ in offences(respondent.page)] == ["button-name"]


def test_the_whole_survey_is_taken_with_the_keyboard_alone(respond):
    respondent = respond().open()
    page = respondent.page
    press = page.keyboard.press
    focused = "() => document.activeElement.matches({!r})"

    def tab_to(selector):
        for _ in range(120):
            if page.evaluate(focused.format(selector)):
                return
            press("Tab")
        raise AssertionError(f"{selector} cannot be reached")

    def on(key):
        old = page.locator("main > *").last.element_handle()
        press(key)
        page.wait_for_function("old => !old.isConnected", arg=old)

    tab_to(".welcome .main")
    on("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    while not page.locator("#confirm").count():
        for name in respondent.asked():
            kind = "select_one" if name == "practice" else respondent.questions[name].kind
            if kind in ("integer", "decimal", "text"):
                tab_to(f"#q-{name}-input")
                page.keyboard.type(str(ANSWERS[name]) if kind != "text" else "word")
            elif kind == "date":
                tab_to(f"#q-{name}-input")
                page.keyboard.type("05012011")
            elif kind == "ranking":
                for _ in respondent.questions[name].choices:
                    tab_to(f"#q-{name} .choice")
                    press("Enter")
            else:
                for line in range(max(1, respondent.at(name).locator(".line").count())):
                    inside = (
                        f".line:nth-child({line + 1}) input"
                        if respondent.at(name).locator(".line").count()
                        else "input"
                    )
                    tab_to(f"#q-{name} .inputs {inside}")
                    press("Space")
        tab_to(".step > .actions .main")
        on("Enter")
    answers = json.loads(respondent.shown())["answers"]
    assert {name for name, value in answers.items() if value is None} <= {"news_other", "clear", "children"}
    tab_to("#confirm")
    press("Enter")
    page.locator(".receipt").wait_for()


WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
SMALL = """[...document.querySelectorAll(
        'button, select, a, summary, .option label, .step-option, input:not([type=radio], [type=checkbox])')]
    .filter((each) => each.offsetParent && !each.closest('.summary'))
    .map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
    .filter(([, box]) => box.width < 43.9 || box.height < 43.9).map(([html]) => html)"""
ALIKE = """[...document.querySelectorAll('.scale, .sides, .steps')].every((each) =>
    new Set([...each.children].map((one) => Math.round(one.getBoundingClientRect().width))).size === 1
    && new Set([...each.children].map((one) => Math.round(one.getBoundingClientRect().height))).size === 1)"""


def test_on_a_small_screen_nothing_scrolls_sideways_steps_are_alike_and_all_is_large_enough(respond):
    """In German, whose words are long; in other languages it is found with the rules of WCAG above."""
    respondent = respond(**SMALL_PHONE, locale="de-DE").open()
    page = respondent.page

    assert misfits(page) == []
    respondent.move(".welcome .actions .main")
    while not page.locator("#confirm").count():
        respondent.fill(ANSWERS)
        assert misfits(page) == [], respondent.asked()
        respondent.move()
    assert misfits(page) == []
    respondent.confirm()
    assert misfits(page) == []
    page.evaluate("document.body.append(Object.assign(document.createElement('p'), {textContent: 'x'.repeat(500)}))")
    page.evaluate("document.body.lastChild.style.whiteSpace = 'nowrap'")
    assert misfits(page) == ["it scrolls sideways"]


def misfits(page):
    """What does not fit the screen or a thumb."""
    wide = ["it scrolls sideways"] if page.evaluate(WIDE) else []
    return [*wide, *page.evaluate(SMALL), *([] if page.evaluate(ALIKE) else ["steps differ"])]


def test_with_text_at_200_percent_nothing_scrolls_sideways(respond):
    respondent = respond("private", locale="de-DE", **PHONE).open()
    page = respondent.page
    page.evaluate("document.documentElement.style.fontSize = '34px'")
    assert not page.evaluate(WIDE)
    respondent.move(".welcome .actions .main")
    while not page.locator("#confirm").count():
        respondent.fill(ANSWERS)
        assert not page.evaluate(WIDE), respondent.asked()
        respondent.move()
    assert not page.evaluate(WIDE)


def test_ranking_works_with_buttons_and_says_where_things_are(respond):
    respondent = respond().start()
    while "priorities" not in respondent.asked():
        respondent.fill(ANSWERS).move()
    page, at = respondent.page, respondent.at("priorities")
    respondent.answer("priorities", ["schools", "hospitals", "roads"])
    page.get_by_role("button", name="Move Roads and railways up").click()
    assert at.locator("[role=status]").text_content() == "Roads and railways is at place 2 of 3."
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Move Roads and railways up"
    page.get_by_role("button", name="Take Schools out").click()
    assert at.locator(".ranked li").count() == 2
    page.locator(".step > .actions .main").click()
    assert "Please place all of them, or none." in page.locator(".summary").text_content()


def test_the_language_is_chosen_by_the_respondent_and_answers_stay(respond):
    respondent = respond().start().answer("age", 44)
    page = respondent.page
    page.locator("#language").select_option("ar")
    page.locator("html[lang=ar][dir=rtl]").wait_for()
    assert page.locator("#q-age-input").input_value() == "44"
    label = next(each for each in sample().questions if each.name == "age").label
    assert label["ar"] in page.locator("h1").text_content()
    page.locator("#language").select_option("de")
    page.locator("html[lang=de][dir=ltr]").wait_for()
    page.reload()
    page.locator("html[lang=de]").wait_for()
    assert page.get_by_text("Ihre übrigen Antworten sind noch da.").count() == 1


def test_only_the_languages_of_the_survey_are_offered_the_browsers_first(respond, served, tmp_path):
    one = privates().model_copy(update={"name": "one", "languages": ("de",)})
    with serve([one], tmp_path) as server:
        alone = respond("one", on=server, locale="es-ES").open().page
        assert alone.locator("html").get_attribute("lang") == "de"
        assert alone.locator("#language").count() == 0
    offered = respond(locale="es-ES").open().page.locator("#language option")
    assert [each.get_attribute("value") for each in offered.all()] == ["es", "en", "de", "ar"]


def test_texts_that_a_survey_lacks_in_a_language_are_marked_with_theirs(respond):
    respondent = respond(locale="es-ES")
    respondent.page.route("**/survey.json", with_texts_in_english_alone)
    respondent.open()
    heading = respondent.page.locator("h1 span")
    assert (heading.get_attribute("lang"), heading.get_attribute("dir")) == ("en", "ltr")
    assert respondent.page.locator("html").get_attribute("lang") == "es"


def with_texts_in_english_alone(route):
    """Words that may be lacking: private choices without words in a language are refused."""
    given = route.fetch()
    content = given.json()
    for node in (content["questionnaire"], *content["questionnaire"]["items"]):
        for name in ("title", "hint", "label"):
            if "en" in (node.get(name) or {}):
                node[name] = {"en": node[name]["en"]}
    route.fulfill(json=content, headers={"naysay-key": given.headers["naysay-key"]})


def test_the_message_on_a_receipt_runs_from_left_to_right_below_arabic(respond):
    page = respond("private", locale="ar", **PHONE).start().to_review({}).confirm().page
    page.locator(".receipt summary").click()
    brace, name = page.evaluate("""() => {
        const text = document.querySelector("#receipt").firstChild, start = text.data.indexOf("{");
        return [start, start + 2].map((at) => {
            const range = new Range();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            return range.getBoundingClientRect().left;
        });
    }""")
    assert brace < name


def test_with_text_at_200_percent_on_a_small_phone_in_german_nothing_scrolls_sideways(respond):
    respondent = respond("private", **SMALL_PHONE, locale="de-DE").start()
    respondent.page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert respondent.page.evaluate("document.documentElement.scrollWidth") == SMALL_PHONE["viewport"]["width"]
