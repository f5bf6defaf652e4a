"""Take the pictures of the respondent's page: ``python docs/screens.py``. Needs Chromium (scripts/browsers)."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from naysay.collect.questionnaire import Questionnaire

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures" / "collect"
PHONE = {"width": 390, "height": 844}
SMALL = {"width": 320, "height": 640}
DESK = {"width": 1280, "height": 800}

sys.path.insert(0, str(ROOT / "tests" / "collect" / "page"))


def main() -> None:
    from browsing import privates, serve

    from naysay.collect.questionnaire import sample

    PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve([sample(), privates(), club(Path(folder))], Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, server)
        browser.close()


def take(browser: Browser, server: Any) -> None:
    """All pictures."""
    at_phone = respondent(browser, server, "sample", viewport=PHONE, locale="en-US")
    at_phone.open()
    picture(at_phone, "welcome")
    private = respondent(browser, server, "private", viewport=PHONE, locale="en-US")
    private.open().move(".welcome .actions .main")
    private.at("practice").locator("input").nth(1).check()
    picture(private, "practice")
    private.move()
    picture(private, "level")
    private.answer("income", "to_3000", level=1)
    scroll(private, "#q-income .levels")
    picture(private, "preview")
    private.page.locator(".how summary").click()
    scroll(private, ".how")
    picture(private, "how")
    private.page.locator(".way").click()
    scroll(private, "h1")
    picture(private, "coin")
    private.move().answer("smoking", "no")
    picture(private, "chance")
    arabic = respondent(browser, server, "private", viewport=PHONE, locale="ar", color_scheme="dark")
    arabic.start().answer("income", "to_3000", level=1)
    scroll(arabic, ".inputs")
    picture(arabic, "arabic")
    spanish = respondent(browser, server, "private", viewport=SMALL, locale="es-ES")
    spanish.start()
    picture(spanish, "small")
    german = respondent(browser, server, "sample", viewport=DESK, locale="de-DE", color_scheme="dark")
    german.start().to_review()
    picture(german, "sent")
    german.confirm()
    picture(german, "receipt")
    voter = respondent(browser, server, "club", viewport=PHONE, locale="en-US").start()
    for _ in range(2):  # lot decides which comes first
        [name] = voter.asked()
        label = voter.at(name).locator(".inputs label", has_text="Emil" if name.endswith("control") else "Cleo")
        label.click()
        scroll(voter, "h1")
        picture(voter, "club_control" if name.endswith("control") else "club_vote")
        voter.move()


def club(folder: Path) -> Questionnaire:
    """The election of docs/learn/self_test.md."""
    from naysay.collect.questionnaire import load

    text = (ROOT / "docs" / "learn" / "self_test.md").read_text(encoding="utf-8")
    (folder / "club.md").write_text(text.split('sheet = """')[1].split('"""')[0].lstrip(), encoding="utf-8")
    return load(folder / "club.md")


def respondent(browser: Browser, server: Any, survey: str, **context: Any) -> Any:
    """Somebody before a survey, at a device of their own."""
    from browsing import Respondent
    from measuring import SAME_CHANCE

    page = browser.new_context(**context).new_page()
    page.add_init_script(SAME_CHANCE)
    return Respondent(page, server.page(survey))


def scroll(respondent: Any, selector: str) -> None:
    respondent.page.locator(selector).first.evaluate(
        "(each) => scrollTo(0, each.getBoundingClientRect().top + scrollY - 16)"
    )


def picture(respondent: Any, name: str) -> None:
    respondent.page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
