"""What a respondent sees, counted in a browser: words, taps, heights, bytes; and how hard the words are to read."""

import re
import statistics
from pathlib import Path

import textstat
from browsing import ANSWERS

from naysay.collect.client import FOLDER

PHONE = {"width": 390, "height": 844}
SMALL = {"width": 320, "height": 640}
LOCALES = {"en": "en-US", "de": "de-DE", "es": "es-ES", "ar": "ar"}

VISIBLE = r"""() => {
    const walker = document.createTreeWalker(window.tree, NodeFilter.SHOW_TEXT);
    const own = ".asked > :first-child, .inputs .option label, .question > .hint";
    const seen = [];
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (parent.closest(`${own}, .spoken, select`)) continue;
        if (!parent.checkVisibility({ visibilityProperty: true })) continue;
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


def opened(respondent, options):
    """Of each private screen as it opens: how many words stand beside the question and its options, and whether the
    question and so many options, or all, are visible without scrolling."""
    page = respondent.page
    return [(len(page.evaluate(VISIBLE)), page.evaluate(FITS, options)) for _ in screens(respondent)]


VIEWPORTS = ({"width": 390, "height": 664}, {"width": 320, "height": 568})
"""What a phone shows of a page between the bars of its browser."""

BOXES = """() => {
    const parts = "h1, .marks, .inputs, .inputs .option, .levels, .step > .actions, .step .main";
    return [...document.querySelectorAll(parts)].map((one) => JSON.stringify(one.getBoundingClientRect()));
}"""
"""Where all stands that must not move."""

SEEN = """() => [".step > .actions .main", ".step > .actions .sent"].every((one) => {
    const { top, bottom, height } = document.querySelector(one).getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight + 0.5;
})"""
"""Whether Next and what will be sent are on the screen."""


def tapped(respondent):
    """Of each private screen once it is answered: how many words stand beside the question and its options, whether
    Next and the sentence are visible without scrolling, and whether anything has moved."""
    page = respondent.page
    for name in screens(respondent):
        page.evaluate("scrollTo(0, 0)")
        before = page.evaluate(BOXES)
        respondent.fill({name: ANSWERS[name]})
        page.evaluate("scrollTo(0, 0)")
        yield len(page.evaluate(VISIBLE)), page.evaluate(SEEN), page.evaluate(BOXES) != before


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
    """All bytes that were loaded, headers included, from the first request to the receipt."""
    sizes = [request.sizes() for request in respondent.requests if request.method == "GET"]
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


AT_PHONE = {language: {"locale": locale, "viewport": PHONE} for language, locale in LOCALES.items()}
NAMES = {"en": "English", "de": "German", "es": "Spanish", "ar": "Arabic"}


def measured(new):
    """All measures, {what: (found, at most or at least, its unit)}; `new(survey, **context)` is somebody new."""
    found = {}
    shown = {}
    seen, moved = [], 0
    for language, context in AT_PHONE.items():
        _, shown[language] = zip(*opened(new("private", **context), 5), strict=True)
        both = [each for size in VIEWPORTS for each in tapped(new("private", **{**context, "viewport": size}))]
        counts = [count for count, *_ in both]
        seen += [visible for _, visible, _ in both]
        moved += sum(moves for *_, moves in both)
        found[f"words on a private screen, most, {NAMES[language]}"] = (max(counts), "≤", 45)
        found[f"words on a private screen, median, {NAMES[language]}"] = (statistics.median(counts), "≤", 30)
    found["private screens, answered, that show Next and what will be sent"] = (sum(seen), "≥", len(seen))
    found["private screens on which the tap moves anything"] = (moved, "≤", 0)
    least = min(sum(fits) for fits in shown.values())
    found["private screens of 390 × 844 that show five options at once"] = (least, "≥", len(shown["en"]))
    _, fits = zip(*opened(new("private", **{**AT_PHONE["de"], "viewport": SMALL}), 2), strict=True)
    found["private screens of 320 × 640 that show two options at once"] = (sum(fits), "≥", len(fits))
    found["taps on a private question, most"] = (max(taps(new("private", **AT_PHONE["en"])).values()), "≤", 2)
    for language, context in AT_PHONE.items():
        whole = new("sample", **context)
        if language == "en":
            highest = max(heights(whole).values())
            found["height of a step of the sample, most, in screens of 390 × 844"] = (highest, "≤", 1.5)
        else:
            whole.start().to_review()
        whole.confirm()
        modules = [request.url.split("/", 5)[-1] for request in whole.requests if request.url.endswith(".js")]
        assert modules == [f"words/{language}.js"]  # one language, and nothing that is seldom read
        what = f"kilobytes loaded, headers included, 21 questions, {NAMES[language]}"
        found[what] = (transferred(whole) / 1000, "≤", 45)
    for language, limits in {"en": [("≤", 7)], "de": [("≤", 7)], "es": [("≥", 70), ("≥", 70)]}.items():
        for (measure, value), (sign, limit) in zip(read_with_ease(language).items(), limits, strict=True):
            found[f"{NAMES[language]}: {measure}"] = (value, sign, limit)
    return found


def table(found):
    """The measures as lines of Markdown."""
    rows = [f"| {what} | {value:.3g} | {sign} {limit} |" for what, (value, sign, limit) in found.items()]
    return ["| measured | found | wanted |", "|---|--:|--:|", *rows]


PLACE = r"(<!-- measured -->\n).*?(\n<!-- /measured -->)"
"""Where the table stands in docs/reference/page_rules.md."""

SPOKEN = Path(__file__).with_name("spoken.txt")
"""What a screen reader reads on each private screen, reviewed; ``python docs/measured.py`` writes it anew."""

SAME_CHANCE = """
    let next = 7;
    crypto.getRandomValues = (array) => array.map((_, i) => (array[i] = (next += 89) % 256)) && array;
"""
"""The same chance each time, so that only what has changed on the page changes a picture or what is read."""


def spoken(respondent):
    """The accessibility tree of each private screen in reading order: as it opens, and once it is answered."""
    respondent.page.add_init_script(SAME_CHANCE)
    parts = []
    for name in screens(respondent):
        for state, answers in (("opened", {}), ("answered", ANSWERS)):
            tree = respondent.fill(answers).page.locator("body").aria_snapshot()
            parts.append(f"=== {name}, {state}\n{tree}\n")
    return "\n".join(parts)
