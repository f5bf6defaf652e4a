"""Nothing that a survey says, and nobody between server and browser, makes the page do something else."""

import re
import time

import pytest
from browsing import serve

from naysay.collect.client import DRAWING, FOLDER
from naysay.collect.questionnaire import Choice, Group, Note, Questionnaire, SelectOne, Text

EVIL = '<img src=x onerror="document.title=\'evil\'"><script>document.title="evil"</script>'
SPIED = """
    window.violations = [];
    addEventListener("securitypolicyviolation",
        (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def until(page, holds):
    """Wait for what the browser says; it says it only while it is waited for."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A survey whose every text is markup."""
    said = {"en": EVIL}
    items = (
        Note(name="note", label=said),
        Group(
            name="group",
            label=said,
            hint=said,
            items=(
                SelectOne(
                    name="one",
                    label=said,
                    hint=said,
                    choices=(Choice(name="a", label=said), Choice(name="b", label=said)),
                ),
                Text(name="text", label=said),
            ),
        ),
    )
    survey = Questionnaire(
        name="hostile", title=said, about=said, contact=said, thanks=said, languages=("en",), items=items
    )
    with serve([survey], tmp_path_factory.mktemp("hostile")) as server:
        yield server


def test_markup_in_labels_is_shown_as_text(respond, hostile):
    respondent = respond("hostile", on=hostile)
    respondent.page.add_init_script(SPIED)
    respondent.start()
    respondent.page.locator("#q-one input").first.check()
    respondent.page.locator("#q-text-input").fill(EVIL)
    respondent.move().confirm()
    page = respondent.page
    assert page.locator("img, main script").count() == 0
    assert EVIL in page.locator("main").text_content()
    assert page.evaluate("document.title").endswith(EVIL)
    assert page.evaluate("violations") == []


def test_the_whole_way_violates_no_policy_and_raises_no_error(respond):
    respondent = respond()
    raised = []
    respondent.page.on("pageerror", lambda error: raised.append(str(error)))
    respondent.page.add_init_script(SPIED)
    respondent.start().to_review().confirm()
    assert respondent.page.evaluate("violations") == []
    assert raised == []


def test_code_in_strings_cannot_run_on_the_page(respond):
    respondent = respond().open()
    tried = "(code) => { try { %s; return 'ran'; } catch (error) { return error.name; } }"
    assert respondent.page.evaluate(tried % "document.body.innerHTML = code", "<b>") == "TypeError"
    respondent.page.evaluate(
        "document.body.append(Object.assign(document.createElement('img'), {src: 'https://example.org/x.png'}))"
    )
    assert not any(
        "example.org" in (request.failure or "ok")
        for request in respondent.requests
        if request.url.startswith("http://127")
    )


@pytest.mark.parametrize("name", ["words/en.js", "extras/en.js"])
def test_a_file_that_was_changed_on_the_way_is_refused(respond, name):
    respondent = respond()

    def change(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.body() + b"\n/* changed */")

    respondent.page.route(f"**/client/*/{name}", change)
    respondent.page.goto(respondent.address)
    if name == "extras/en.js":
        respondent.page.locator("footer .threats").click()
    until(respondent.page, lambda: any("integrity" in each for each in respondent.problems))
    if name == "words/en.js":
        assert respondent.page.locator("main").text_content().startswith("This page could not be loaded.")
    assert respondent.page.locator("dialog[open]").count() == 0


def test_no_module_reads_markup_or_code_from_strings():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.style\b")
    for path in (*FOLDER.rglob("*.js"), FOLDER / DRAWING):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_modules_take_chance_from_the_cryptographic_source_alone():
    for path in (*FOLDER.rglob("*.js"), FOLDER / DRAWING):
        code = path.read_text(encoding="utf-8")
        assert "Math.random" not in code
        assert ("getRandomValues" in code) == (path.name in ("randomize.js", "voprf.js"))


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_the_page_on_threats_has_the_same_rows_in_every_language(language):
    text = (FOLDER / f"threats.{language}.html").read_text(encoding="utf-8")
    defended, not_defended = (part.count("<dt>") for part in text.split('<dl class="told">')[1:])
    assert (defended, not_defended) == (7, 13)
    assert text.count("<dd>") == text.count("<dt>")


@pytest.mark.parametrize(
    "language, told",
    [
        ("en", "and the person as well"),
        ("de", "schadet auch ihr"),
        ("es", "perjudica a ella"),
        ("ar", "ويضر بذلك الشخص أيضًا"),
    ],
)
def test_who_answers_twice_is_told_that_it_tells_more(respond, served, language, told):
    respondent = respond()
    respondent.page.goto(f"{served.address}/threats?lang={language}")
    assert told in respondent.page.locator("dl").last.text_content()


def test_no_name_that_modules_share_hides_one_of_the_browsers(browser):
    """In the page all modules see what each of them exports, so `open` or `status` must not become ours by that."""
    code = "".join(path.read_text(encoding="utf-8") for path in (*FOLDER.glob("*.js"), FOLDER / DRAWING))
    names = re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", code, re.MULTILINE)
    assert len(names) > 90
    page = browser.new_page()
    assert page.evaluate("(names) => names.filter((name) => name in window)", names) == []
    page.close()
