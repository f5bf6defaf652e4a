"""The admin pages in a browser: by rule (axe), by keyboard alone, on a phone, in the dark, without any script."""

import json
import re

import pyotp
import pytest
from browsing import OPENED, Respondent
from test_accessible import SMALL, WIDE, offences

from naysay.collect import Published
from naysay.collect.admin.account import Account
from naysay.collect.admin.drafts import find
from naysay.collect.app import create_app
from naysay.collect.questionnaire import load, sample
from naysay.collect.respond import anybody, fetch, many
from naysay.collect.serving import background
from naysay.collect.storage import Store

PASSWORD = "correct horse battery"


@pytest.fixture
def office(tmp_path):
    """A server that was started for the first time: its store, its address and the one-time link."""
    store = Store(tmp_path / "a.db")
    key = Account(store).setup()
    with background(create_app([], store, each=0, admin=True)) as address:
        yield store, address, f"{address}/admin/setup/{key}"
    store.dispose()


@pytest.fixture
def open_page(browser):
    """A page in a fresh browser; whatever its console says is an error."""
    contexts, said = [], []

    def new(**context):
        within = browser.new_context(locale="en-US", **context)
        within.set_default_timeout(10_000)
        contexts.append(within)
        within.add_init_script(OPENED)
        page = within.new_page()
        page.on(
            "console",
            lambda one: one.type in ("error", "warning") and said.append(f"{one.text} at {one.location['url']}"),
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    yield new
    for each in contexts:
        each.close()
    refusals = "the server responded with a status of"  # pages that say what is wrong
    assert [text for text in said if refusals not in text or "/admin/" not in text.partition(" at ")[2]] == []


def looked_at(page):
    """The title of a page, in which nothing offends, is too small for a thumb, or too wide for the screen."""
    assert offences(page) == [], page.url
    page.emulate_media(color_scheme="dark")
    assert offences(page, {"type": "rule", "values": ["color-contrast"]}) == [], page.url
    page.emulate_media(color_scheme="light")
    assert not page.evaluate(WIDE), page.url
    small = [html for html in page.evaluate(SMALL) if not re.match(r"<a |<summary", html)]  # links in running text
    assert small == [], page.url
    return page.title()


@pytest.mark.slow
def test_no_admin_page_offends_on_a_phone_in_light_and_dark(office, open_page, tmp_path):
    store, address, setup = office
    page = open_page(viewport={"width": 390, "height": 844})
    titles = []

    def see(path=None):
        if path is not None:
            page.goto(address + path)
        titles.append(looked_at(page))

    page.goto(setup)
    see()
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_label("The same password again").fill("short")
    page.get_by_role("button", name="Set it and go on").click()
    see()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Set it and go on").click()
    see()
    form = sample().form()
    form["items"][1]["name"] = "1"
    (tmp_path / "wrong.json").write_text(json.dumps(form))
    (tmp_path / "sample.json").write_bytes(sample().to_json())
    page.get_by_label("Questionnaire").set_input_files(tmp_path / "wrong.json")
    page.get_by_role("button", name="Upload and check").click()
    see()
    page.get_by_role("link", name="Upload it again").click()
    page.get_by_label("Questionnaire").set_input_files(tmp_path / "sample.json")
    page.get_by_role("button", name="Upload and check").click()
    see()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Preview").click()
    opened.value.locator("h1").wait_for()
    opened.value.close()
    page.get_by_role("button", name="Open the survey now").click()
    see()
    found = fetch(f"{address}/s/sample")
    many(found, anybody(found.questionnaire, 60, seed=1))
    see("/admin/surveys/sample")
    see("/admin/surveys/sample/results")
    frame = page.frame_locator("iframe.live")
    frame.get_by_text("60 replies").wait_for()
    page.evaluate("document.body.dataset.loaded = 'once'")
    many(found, anybody(found.questionnaire, 1, seed=2))
    frame.get_by_text("61 replies").wait_for()
    assert page.locator("body").get_attribute("data-loaded") == "once"
    see("/admin/")
    page.goto(f"{address}/admin/tokens")
    page.get_by_label("What uses it").fill("our dashboard")
    page.get_by_label("counts, estimates").check()
    page.get_by_role("button", name="Make the token").click()
    see()
    for path in ("backup", "log", "account", "deleted", "nothing"):
        see(f"/admin/{path}")
    page.goto(f"{address}/admin/surveys/sample")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert download.value.suggested_filename.startswith("sample-")
    page.get_by_label("Type “sample” to confirm").fill("sample")
    page.get_by_role("button", name="Delete for good").click()
    see()
    assert store.receipts()[0].replies == 61
    page.get_by_role("button", name="Log out").click()
    see()
    assert len(set(titles)) == 13


def test_everything_is_reached_with_the_keyboard_alone(office, open_page):
    store, address, setup = office
    page = open_page(java_script_enabled=False)
    press = page.keyboard.press

    def tab_to(locator):
        for _ in range(60):
            if locator.evaluate("one => one === document.activeElement"):
                return
            press("Tab")
        raise AssertionError(f"{locator} cannot be reached")

    def type_in(label, text):
        tab_to(page.get_by_label(label, exact=True))
        page.keyboard.type(text)

    page.goto(setup)
    press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    type_in("Password", PASSWORD)
    type_in("The same password again", PASSWORD)
    press("Enter")
    page.wait_for_url("**/admin/?done=password")
    store.open(Published.of(sample()))
    page.goto(f"{address}/admin/")
    tab_to(page.get_by_role("link", name="sample"))
    press("Enter")
    page.wait_for_url("**/surveys/sample")
    tab_to(page.get_by_role("button", name="Close the survey now"))
    press("Enter")
    page.wait_for_url("**done=closed")
    assert page.get_by_role("status").text_content() == "The survey is closed and takes no more answers."
    type_in("Type “sample” to confirm", "sample")
    press("Enter")
    page.wait_for_url("**done=deleted")
    tab_to(page.get_by_role("link", name="Account"))
    press("Enter")
    page.wait_for_url("**/account")
    secret = page.locator("[name=secret]").get_attribute("value")
    type_in("The code that the app shows now", pyotp.TOTP(secret).now())
    tab_to(page.locator("#old-3"))
    page.keyboard.type(PASSWORD)
    press("Enter")
    page.wait_for_url("**done=factor-on")
    tab_to(page.get_by_role("button", name="Log out", exact=True))
    press("Enter")
    page.wait_for_url("**/login?done=out")
    assert page.get_by_label("Code from your phone").count() == 1


PLAIN = """| survey |
| | type | name | label |
| | select_one yn | stolen | Have you ever stolen from a shop? |
| | select_one party | party | Which party did you vote for? |
| | integer | rent | How much rent do you pay? |
| choices |
| | list_name | name | label |
| | yn | yes | Yes |
| | yn | no | No |
| | party | red | The Reds |
| | party | blue | The Blues |
| | party | gray | The Grays |
| | party | pink | The Pinks |
"""
CHOSEN = {
    "stolen": ("Chance may change the answer", "swapped"),
    "party": ("respondents choose how many", "chosen"),
    "rent": ("Only what is true is sent", "struck"),
}


def enter(page, setup):
    """Set the first password, and go on to the surveys."""
    page.goto(setup)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Set it and go on").click()


def upload(page, path):
    page.get_by_label("Questionnaire").set_input_files(path)
    page.get_by_role("button", name="Upload and check").click()


@pytest.mark.slow
def test_a_plain_sheet_becomes_private_in_the_browser_and_downloads_with_its_columns(office, open_page, tmp_path):
    """Without a script: each question by what it promises, its screen beside it as respondents really see it."""
    store, address, setup = office
    page, phone = open_page(java_script_enabled=False), open_page(viewport={"width": 390, "height": 664})
    enter(page, setup)
    (tmp_path / "plain.md").write_text(PLAIN)
    upload(page, tmp_path / "plain.md")
    for name, (title, _) in CHOSEN.items():
        page.get_by_role("link", name=f"Make private: {name}").click()
        assert page.locator(".phone .bar").text_content() == "Sent unchanged"
        if name == "rent":
            page.get_by_label("Where one range ends").fill("400, 800, 1200")
        page.get_by_label(title).check()
        page.get_by_role("button", name="Use this").click()
        assert page.get_by_role("status").text_content().startswith("The draft has it.")
        assert page.get_by_label(title).is_checked()
        visitor = Respondent(phone, address + page.get_by_role("link", name="Try it").get_attribute("href"))
        visitor.open().move(".welcome .actions .main")
        while visitor.asked() != [name]:
            visitor.move()
        assert phone.locator(".sentence").text_content() == page.locator(".phone .bar").text_content()
        assert (
            phone.locator(".inputs .option label").all_text_contents() == page.locator(".phone li").all_text_contents()
        )
        assert (phone.locator(".levels").count() == 1) == (page.locator(".phone .ends").count() == 1)
        if name != "rent":
            page.get_by_role("link", name="Draft plain").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="download the sheet").click()
    download.value.save_as(tmp_path / "private.xlsx")
    private = load(tmp_path / "private.xlsx")
    assert {question.name: question.privacy.offer.name for question in private.questions} == {
        "stolen": "warner(p=0.7)",
        "party": "levels(1=negative(discards=1), 2=negative(discards=2))",
        "rent": "negative()",
    }
    page.get_by_label("Nothing: the answer is sent as it is.").check()
    page.get_by_role("button", name="Use this").click()
    assert page.locator(".phone .bar").text_content() == "Sent unchanged"
    assert [one.privacy is None for one in find(store, "plain").questionnaire.questions] == [False, False, True]


@pytest.mark.slow
def test_a_phone_answers_beside_the_desk_and_the_dashboard_moves_without_a_reload(office, open_page, tmp_path):
    _, address, setup = office
    desk, phone = open_page(), open_page(viewport={"width": 390, "height": 664})
    enter(desk, setup)
    (tmp_path / "live.md").write_text(PLAIN)
    upload(desk, tmp_path / "live.md")
    desk.get_by_label("Open it without a private question").first.check()
    desk.get_by_role("button", name="Open the survey now").click()
    desk.goto(f"{address}/admin/surveys/live/results")
    frame = desk.frame_locator("iframe.live")
    frame.get_by_text("0 replies").wait_for()
    desk.evaluate("document.body.dataset.loaded = 'once'")
    Respondent(phone, f"{address}/s/live").start().to_review({}).confirm()
    frame.get_by_text("1 reply").wait_for()
    assert desk.locator("body").get_attribute("data-loaded") == "once"


TWO_YES_OR_NO = """
| survey | type            | name   | label                    |
|        | select_one sure | stolen | Have you ever stolen?    |
|        | select_one sure | lied   | Have you lied in a test? |

| choices | list_name | name | label |
|         | sure      | yes  | Yes   |
|         | sure      | no   | No    |
"""


@pytest.mark.slow
def test_two_questions_are_hidden_by_two_innocuous_ones_in_the_browser(office, open_page, tmp_path):
    """One innocuous question protects one answer: the second is offered another, and no page is a dead end."""
    store, _, setup = office
    page = open_page(java_script_enabled=False)
    enter(page, setup)
    (tmp_path / "two.md").write_text(TWO_YES_OR_NO)
    upload(page, tmp_path / "two.md")
    for name, person in (("stolen", "mother"), ("lied", "father")):
        page.get_by_role("link", name=f"Make private: {name}").click()
        page.get_by_label("A harmless second question").check()
        page.get_by_role("button", name="Use this").click()
        assert f"your {person}'s birthday" in page.locator(".phone .second").text_content()
        assert page.locator(".phone li").all_text_contents() == ["The same", "Different"]
        page.get_by_role("link", name="Draft two").click()
    private = [question.privacy for question in find(store, "two").questionnaire.questions]
    assert [each.offer.name for each in private] == ["crosswise(prevalence=1/4)"] * 2
