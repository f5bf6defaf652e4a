"""The statement for an ethics board prints on two pages, and reads well on a phone."""

import json
import re

import pytest

from naysay import designs
from naysay.collect import Published
from naysay.collect.ethics import Statement
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectMultiple, Text, sample

LONG = "Have you ever, in the last twelve months, done anything of what stands on the list below " * 8


def longest():
    """A survey whose statement is as long as it can get: many long questions, private and direct, with warnings."""
    yes_no = tuple(Choice(name=name, label={"en": LONG}) for name in ("yes", "no"))
    asked = Private(
        design=json.loads(designs.levels({"1": designs.warner(p=0.99), "2": designs.warner(p=0.98)}).to_json())
    )
    private = tuple(
        SelectMultiple(name=f"private{n}", label={"en": f"{n} {LONG}"}, choices=yes_no, private=asked)
        for n in range(10)
    )
    direct = tuple(Text(name=f"direct{n}", label={"en": f"{n} {LONG}"}) for n in range(40))
    told = {name: {"en": LONG} for name in ("title", "about", "contact")}
    return Questionnaire(name="longest", languages=("en",), items=(*private, *direct), **told)


@pytest.mark.parametrize("form", [sample(), longest()], ids=lambda form: form.name)
def test_a_statement_has_two_pages(browser, form, tmp_path):
    statement = Statement(Published.of(form, key="ab" * 32))  # its words on invitations are the longer ones
    page = browser.new_page(viewport={"width": 390, "height": 800})
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    (tmp_path / "statement.html").write_text(statement.to_html(), encoding="utf-8")
    page.goto((tmp_path / "statement.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for paper in ("A4", "Letter"):
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=paper))) == 2
    assert len(loaded) == 1  # the page itself, and nothing that it would load
    page.close()
