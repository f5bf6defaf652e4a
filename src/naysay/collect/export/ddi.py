"""The codebook as DDI-Codebook 2.5, which archives take.

The codebook as a page that people read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from naysay import privacy
from naysay.files import Codebook, Entry

NAMESPACE = "ddi:codebook:2_5"
_XML = "{http://www.w3.org/XML/1998/namespace}"

_REPRESENTED = {"values": "code", "flags": "code", "numbers": "numeric", "days": "datetime"}
_NATURE = {"nominal": "nominal", "ordinal": "ordinal", "scale": "interval"}


def ddi(book: Codebook, *, file: str, digest: str, replies: int, software: str) -> bytes:
    """The codebook as an XML document.

    Parameters
    ----------
    book : Codebook
    file, digest : str
        The name of the file of data, and its SHA-256 in hexadecimal.
    replies : int
        Its rows.
    software : str
        Which version of naysay wrote it.

    Source: DDI Alliance, *DDI-Codebook 2.5*, elements codeBook, stdyDscr, fileDscr and dataDscr.

    Examples
    --------
    >>> from naysay.files import Entry
    >>> entry = Entry("age", "age", "How old are you?", "numbers", measure="scale")
    >>> book = Codebook("sample", "A sample", "0" * 64, "en", (entry,))
    >>> text = ddi(book, file="data.csv", digest="1" * 64, replies=12, software="naysay 1").decode()
    >>> "<labl>How old are you?</labl>" in text
    True
    """
    ET.register_namespace("", NAMESPACE)
    root = ET.Element(f"{{{NAMESPACE}}}codeBook", {"version": "2.5", f"{_XML}lang": book.language})
    study = _add(root, "stdyDscr")
    title = _add(_add(study, "citation"), "titlStmt")
    _add(title, "titl", book.title)
    _add(title, "IDNo", book.survey)
    _add(title, "IDNo", book.hash, agency="SHA-256")
    if book.about:
        _add(_add(study, "stdyInfo"), "abstract", book.about)
    described = _add(root, "fileDscr", ID="F1")
    about = _add(described, "fileTxt")
    _add(about, "fileName", file)
    sizes = _add(about, "dimensns")
    _add(sizes, "caseQnty", str(replies))
    _add(sizes, "varQnty", str(len(book.entries)))
    _add(about, "software", software)
    _add(described, "notes", digest, type="fingerprint", subject="SHA-256")  # 2.5 as first published has no element
    data = _add(root, "dataDscr")
    for place, entry in enumerate(book.entries, start=1):
        _variable(data, entry, place, coded=book.coded)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _variable(data: ET.Element, entry: Entry, place: int, *, coded: bool) -> None:
    """One variable, its elements in the order that the schema demands."""
    kinds = {"intrvl": "contin" if entry.measure == "scale" else "discrete", "nature": _NATURE[entry.measure]}
    representation = {"representationType": _REPRESENTED.get(entry.holds, "text")}
    variable = _add(data, "var", ID=f"V{place}", name=entry.column, files="F1", **kinds, **representation)
    _add(variable, "labl", entry.label)
    _add(_add(variable, "qstn"), "qstnLit", entry.wording or entry.label)
    if entry.asked is not None:
        _add(variable, "txt", f"{entry.meaning} {'; '.join(privacy.lines(entry.asked.design))}")
    for value in entry.values:
        category = _add(variable, "catgry")
        _add(category, "catValu", str(value.code) if coded and entry.holds == "values" else value.name)
        _add(category, "labl", value.meaning or value.label or value.name)
    text = entry.holds in ("texts", "sets") or (entry.holds == "values" and not coded)
    day = {"category": "date"} if entry.holds == "days" else {}
    _add(variable, "varFormat", type="character" if text else "numeric", **day)
    if entry.asked is not None:
        _add(variable, "notes", entry.asked.design.to_json(), type="design", subject="after randomization")


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    child_element = ET.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
    child_element.text = "".join(letter for letter in text if letter >= " " or letter in "\n\t") or None
    return child_element


_HOLDS = {
    "values": "one of the values below",
    "sets": "several of the values below, such as `a;b`",
    "flags": "1 where it was chosen, 0 where not",
    "numbers": "a number",
    "days": "a day",
    "texts": "people's own words",
}


def markdown(book: Codebook, *, file: str, replies: int, caution: str = "", escaped: bool = False) -> str:
    """The codebook in Markdown.

    Parameters
    ----------
    book : Codebook
    file : str
        The name of the file of data.
    replies : int
        Its rows.
    caution : str
        What a reader must know of how answers came.
    escaped : bool
        Whether texts that a spreadsheet would take for formulas have an apostrophe before them.

    Examples
    --------
    >>> from naysay.files import Entry
    >>> entry = Entry("age", "age", "How old are you?", "numbers", measure="scale")
    >>> print(markdown(Codebook("sample", "A sample", "0" * 64, "en", (entry,)), file="data.csv", replies=12))
    # A sample
    ...
    ## `age`
    <BLANKLINE>
    How old are you?
    <BLANKLINE>
    It holds a number.
    <BLANKLINE>
    """
    facts = [("survey", book.survey), ("hash", f"`{book.hash}`"), ("file", f"`{file}`"), ("replies", f"{replies:,}")]
    lines = [f"# {_line(book.title)}", "", *([_line(book.about), ""] if book.about else [])]
    lines += [*_table(("", ""), facts), "", "Rows are in random order. An empty cell means that nothing was answered."]
    lines += ["", _line(caution)] if caution else []
    if escaped:
        lines += [
            "",
            "An apostrophe stands before what a spreadsheet would take for a formula, and before what looks so; "
            "`naysay` takes it away again.",
        ]
    for entry in book.entries:
        lines += ["", f"## `{entry.column}`", "", _line(entry.label), "", *_entry(entry, book, file)]
    return "\n".join(lines) + "\n"


def _entry(entry: Entry, book: Codebook, file: str) -> Iterator[str]:
    if entry.meaning:
        yield f"**{_line(entry.meaning)}**"
        yield ""
    yield f"It holds {_HOLDS[entry.holds]}."
    if entry.asked is not None:
        design, level = entry.asked.design, entry.asked.level
        yield ""
        level_text = f", at the level in `{level}`" if level else ""
        yield f"What was sent was drawn by `{design.name or design.kind}`{level_text}."
        yield ""
        for line in privacy.lines(design):
            yield f"- {_line(line)}"
        yield ""
        yield f"    naysay estimate {shlex.quote(file)} --response {shlex.quote(entry.column)}"
    if entry.values:
        coded = book.coded and entry.holds != "sets"
        head: tuple[str, ...] = ("code", "name", "label") if coded else ("value", "label")
        rows: list[tuple[str, ...]] = [
            ((str(value.code), value.name, value.label) if coded else (value.name, value.label))
            for value in entry.values
        ]
        if entry.asked is not None:
            head, rows = (
                (*head, "meaning"),
                [(*row, value.meaning) for row, value in zip(rows, entry.values, strict=True)],
            )
        yield ""
        yield from _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _line(text: str) -> str:
    return " ".join(text.split())
