"""Measure the respondent's page, and write the table into its document: ``python docs/measured.py``. Needs Chromium.

It also writes what a screen reader reads on each private screen, `tests/collect/page/spoken.txt`, to be reviewed.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "page_rules.md"

sys.path.insert(0, str(ROOT / "tests" / "collect" / "page"))


def main() -> None:
    import measuring
    from browsing import ARGUMENTS, Respondent, privates, serve

    from naysay.collect.questionnaire import sample

    with (
        tempfile.TemporaryDirectory() as folder,
        serve([sample(), privates()], Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)

        def new(survey: str = "private", **context: object) -> Respondent:
            return Respondent(browser.new_context(**context).new_page(), server.page(survey))

        found = measuring.measured(new)
        measuring.SPOKEN.write_text(measuring.spoken(new(**measuring.AT_PHONE["en"])), encoding="utf-8")
        browser.close()
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join(measuring.table(found))
    PAGE.write_text(re.sub(measuring.PLACE, rf"\g<1>{table}\g<2>", text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
