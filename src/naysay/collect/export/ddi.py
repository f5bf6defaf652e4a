"""The codebook as DDI-Codebook 2.5, which archives take."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from naysay import privacy
from naysay.files import Codebook, Entry

__all__ = ["NAMESPACE", "ddi"]

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
    told = {"representationType": _REPRESENTED.get(entry.holds, "text")}
    variable = _add(data, "var", ID=f"V{place}", name=entry.column, files="F1", **kinds, **told)
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
    made = ET.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
    made.text = "".join(letter for letter in text if letter >= " " or letter in "\n\t") or None
    return made
