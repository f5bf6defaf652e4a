"""Letters of invitation: a page for each person, with their link and the survey's hash as codes to scan."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Sequence
from pathlib import Path

import segno

from naysay.collect import invitations
from naysay.collect.survey.published import Published
from naysay.errors import DataError

__all__ = ["page"]

_RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi")

# The address stands where windows of long envelopes are (DIN 5008, form B).
_HEAD = """<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
@page {{ size: A4; margin: 20mm 20mm 15mm; }}
body {{ font: 11.5pt/1.45 system-ui, sans-serif; color: #000; background: #fff; margin: 0 auto; max-width: 170mm; }}
section {{ break-after: page; break-inside: avoid; position: relative; }}
section:last-of-type {{ break-after: auto; }}
address {{ font-style: normal; min-height: 62mm; padding-top: 25mm; box-sizing: border-box; white-space: pre-line; }}
h1 {{ font-size: 17pt; line-height: 1.25; margin: 0 0 4mm; }}
p {{ margin: 0 0 3mm; }}
.code {{ display: flex; gap: 6mm; align-items: center; margin: 4mm 0; break-inside: avoid; }}
.code svg {{ flex: none; width: 42mm; height: 42mm; }}
.code.hash svg {{ width: 34mm; height: 34mm; }}
code {{ font: 10.5pt/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }}
code {{ direction: ltr; display: block; text-align: left; }}
code b {{ font-weight: inherit; white-space: nowrap; }}
footer {{ display: flex; justify-content: space-between; gap: 6mm; font-size: 9.5pt; margin-top: 5mm; }}
@media screen {{ section {{ padding: 10mm; margin: 8mm 0; border: 1px solid #999; }} }}
</style>
</head>
<body>
"""


def page(published: Published, links: Sequence[str], addresses: Sequence[str], *, language: str | None = None) -> str:
    """One HTML page to print, with a sheet for each person.

    Parameters
    ----------
    published : Published
        A survey that invites.
    links : (people,) sequence of str
        As `invitations.link` wrote them: all of this survey, under one address of the server.
    addresses : (people,) sequence of str
        What stands above each letter, line by line.
    language : str, optional
        Of the survey's texts, and of the letter's own words where naysay has them, otherwise English. The
        questionnaire's first by default.

    Raises
    ------
    DataError
        The survey does not have this language, or a link is not one that was written, or is there twice.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}), key="ab" * 32)
    >>> text = page(published, ["https://example.org/s/sample#0123456789012345678901"], ["Ada"])
    >>> text.count("<section>"), "Letter 1 of 1" in text
    (1, True)
    """
    _check(published.name, links)
    form = published.questionnaire
    text_language = form.language(language)
    words_by_language = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    base = text_language.partition("-")[0].lower()
    words = {name: html.escape(text) for name, text in words_by_language.get(base, words_by_language["en"]).items()}
    title, about, contact = (
        html.escape(label.get(text_language, "").strip()) for label in (form.title, form.about, form.contact)
    )
    contact_line = words["contact"].format(contact=contact) if contact else ""
    after_code = (
        f'<p>{words["once"]}</p>\n<div class="code hash">{_code(published.hash.upper())}'
        f"<div><p>{words['check']}</p><code>{published.hash}</code></div></div>\n<footer><span>{contact_line}</span>"
    )
    head = _HEAD.format(
        language=text_language if base in words_by_language else "en",
        direction="rtl" if base in _RIGHT_TO_LEFT else "ltr",
        title=title,
    )
    sheets = (
        f'<section>\n<address dir="auto">{html.escape(address)}</address>\n<h1 dir="auto">{title}</h1>\n'
        f'<p dir="auto">{about}</p>\n<p>{words["invited"]}</p>\n'
        f'<div class="code">{_code(link)}<code>{_typed(link)}</code></div>\n{after_code}'
        f"<span>{words['number'].format(number=f'{number:,}', count=f'{len(links):,}')}</span></footer>\n</section>\n"
        for number, (link, address) in enumerate(zip(links, addresses, strict=True), start=1)
    )
    return f"{head}{''.join(sheets)}</body>\n</html>\n"


def _code(text: str) -> str:
    return segno.make_qr(text, error="m").svg_inline(border=4, omitsize=True)


def _typed(link: str) -> str:
    """A link to type: no line ends within the code, where a hyphen of it would look like one that divides a word."""
    base, _, code = html.escape(link).partition("#")
    return f"{base}<wbr><b>#{code}</b>"


def _check(survey: str, links: Sequence[str]) -> None:
    """Raise unless all links are those of one server to this survey, each once: a code is scanned and not read."""
    base = links[0].partition("/s/")[0]
    if not base.startswith(("http://", "https://")) or any(letter in base for letter in "#?@ \\"):
        raise DataError(f"a link begins with the address of a server, such as https://example.org; got {links[0]!r}")
    row_of_link: dict[str, int] = {}
    for row, link in enumerate(links, start=1):
        if link != invitations.link(base, survey, invitations.code_of(link)):
            expected = invitations.link(base, survey, "…")
            raise DataError(f"row {row}: a link must be as it was written, {expected}; got {link!r}", row=row - 1)
        if link in row_of_link:
            same_rows = f"rows {row_of_link[link]} and {row}"
            raise DataError(f"{same_rows} have the same link; each person needs their own", row=row - 1)
        row_of_link[link] = row
