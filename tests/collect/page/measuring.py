"""What a respondent sees, counted in a browser: words, taps, heights, bytes; and how hard the words are to read."""

import re
import statistics

import textstat
from browsing import ANSWERS

from naysay.collect.client import FOLDER

PHONE = {"width": 390, "height": 844}
SMALL = {"width": 320, "height": 640}
LOCALES = {"en": "en-US", "de": "de-DE", "es": "es-ES", "ar": "ar"}

VISIBLE = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const own = ".asked > :first-child, .inputs .option label, .question > .hint";
    const seen = [];
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (parent.closest(`${own}, .spoken, select`) || !parent.checkVisibility()) continue;
        seen.push(walker.currentNode.data);
    }
    for (const { selectedOptions } of document.querySelectorAll("select")) seen.push(selectedOptions[0].textContent);
    return seen.join(" ").match(/[\p{L}\p{N}][^\s]*/gu) ?? [];
}"""
"""The words on the screen beside the question and its options."""

FITS = """(count) => {
    const parts = [document.querySelector("h1"), ...[...document.querySelectorAll(".inputs .option")].slice(0, count)];
    return scrollY === 0 && parts.every((each) => each.getBoundingClientRect().bottom <= innerHeight);
}"""
"""Whether the question and its first options are on the screen as it opens."""

TAPS = "window.taps = 0; addEventListener('pointerdown', () => (window.taps += 1), true);"


def screens(respondent):
    """The private screens of a survey, each by name, as they open; each is answered after it was looked at."""
    respondent.start()
    while not respondent.page.locator("#confirm").count():
        asked = respondent.asked()
        if respondent.page.locator(".question.private").count() and asked != ["practice"]:
            yield asked[0]
        respondent.fill(ANSWERS).move()


def words(respondent):
    """How many words stand on each private screen before it is answered, beside the question and its options."""
    return {name: len(respondent.page.evaluate(VISIBLE)) for name in screens(respondent)}


def fitting(respondent, count):
    """The private screens on which so many options, or all, are visible with the question without scrolling."""
    return {name: respondent.page.evaluate(FITS, count) for name in screens(respondent)}


def taps(respondent):
    """How many taps each private question takes, the one on Next included."""
    respondent.page.add_init_script(TAPS)
    found, page = {}, respondent.page
    respondent.start()
    while not page.locator("#confirm").count():
        name = respondent.asked()[0]
        page.evaluate("window.taps = 0")
        kind = respondent.questions[name].kind
        inputs = respondent.at(name).locator(".inputs input")
        if kind in ("integer", "decimal"):
            inputs.click()
            page.keyboard.type(str(ANSWERS[name]))
        else:
            inputs.first.click()
        respondent.move()
        found[name] = page.evaluate("window.taps")
    return found


def heights(respondent):
    """How high each step is, in screens of a phone, before and after it is answered."""
    found, page = {}, respondent.page
    respondent.start()
    while not page.locator("#confirm").count():
        name, before = " ".join(respondent.asked()), page.evaluate("document.documentElement.scrollHeight")
        respondent.fill(ANSWERS)
        found[name] = max(before, page.evaluate("document.documentElement.scrollHeight")) / PHONE["height"]
        respondent.move()
    return found


def transferred(respondent):
    """All bytes that came and went, headers included, from the first request to the receipt."""
    sizes = [request.sizes() for request in respondent.requests]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


def sentences(language):
    """The sentences that the page can say in a language; in place of gaps stands a number."""
    code = (FOLDER / "words" / f"{language}.js").read_text(encoding="utf-8")
    texts = [re.sub(r"\{\w+\}", "25", text) for text in re.findall(r'^ +\w+: "(.*)",$', code, re.MULTILINE)]
    return " ".join(text for text in texts if text.endswith((".", "?")))


def read_with_ease(language):
    """How hard the page is to read: {measure: value}; in years of school, Spanish from 0 (hard) to 100."""
    textstat.set_lang(language)
    text = sentences(language)
    return {
        "en": lambda: {"Flesch–Kincaid grade": textstat.flesch_kincaid_grade(text)},
        "de": lambda: {"Wiener Sachtextformel (grade)": textstat.wiener_sachtextformel(text, 1)},
        "es": lambda: {
            "Fernández Huerta (ease)": textstat.fernandez_huerta(text),
            "Szigriszt-Pazos (ease)": textstat.szigriszt_pazos(text),
        },
    }[language]()


def middle(counts):
    return statistics.median(counts.values())
