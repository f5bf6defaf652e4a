"""The columns of an XLSForm: which ones are understood, in which language, and the way out for others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from naysay import _checks
from naysay.questionnaire.items import KINDS
from naysay.questionnaire.kinds.base import Label
from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.questionnaire import TEXTS
from naysay.questionnaire.unread import SENT_PLAINLY, names_privacy, reads_as_design
from naysay.questionnaire.xlsform.sheets import Sheet

__all__ = ["SURVEY", "Columns", "columns_of", "own", "tag_of", "translated"]

SURVEY = (
    "type", "name", "label", "hint", "required", "relevant", "constraint", "constraint_message", "appearance",
    "parameters",
)  # fmt: skip
"""The columns of the survey sheet that every XLSForm may have, in the order in which they are written."""

_TEXTS = ("form_title", *(f"naysay_{name}" for name in TEXTS), "naysay_practice_label")
_PRIVACY = {
    "naysay_design": False, "naysay_levels": False, "naysay_begins_at": False,
    "naysay_sink": False, "naysay_sink_label": True,
    "naysay_mode": False, "naysay_innocuous": True, "naysay_first_label": True, "naysay_second_label": True,
}  # fmt: skip
_TRANSLATED = {"label", "hint", "constraint_message", *_TEXTS}
_KNOWN = {
    "survey": SURVEY,
    "choices": ("list_name", "name", "label"),
    "settings": ("form_id", "default_language", "version", "naysay_practice", *_TEXTS),
}
_ALIASES = {
    "relevance": "relevant", "bind::relevant": "relevant", "bind::required": "required", "caption": "label",
    "bind::constraint": "constraint", "constraint message": "constraint_message", "list name": "list_name",
    "bind::jr:constraintmsg": "constraint_message", "command": "type", "form_name": "form_title",
    "title": "form_title", "set form title": "form_title", "set form id": "form_id", "id_string": "form_id",
    "value": "name",
}  # fmt: skip
_REFUSED = {
    "calculation": "nothing is computed between questions; compute it from the collected answers",
    "choice_filter": "choices are the same for everyone; make a question for each case, with relevant",
    "repeat_count": "repeats are not asked; ask for a number, or write out the questions",
    "default": "an answer that stands there already is not the respondent's; leave it out",
    "readonly": "show a text with the type note",
    "trigger": "nothing is computed between questions; leave it out",
    "image": "a file that is fetched would tell which question is looked at; describe it in the label",
    "audio": "a file that is fetched would tell which question is looked at; write the words in the label",
    "video": "a file that is fetched would tell which question is looked at; write the words in the label",
}
_WAY_OUT = "call the column bind::naysay_design, or leave it out"
_NAMES = ("type", "name", "list_name", "form_id")  # whatever is wrong in them is an error already
_FOR_PROGRAMS = ("appearance", "parameters", "required")  # no respondent reads these words
_TAG, _LONGEST_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"), 35


def own() -> dict[str, bool]:
    """Naysay's own columns of the survey sheet, and whether they hold texts in each language.

    They are written with the prefix ``bind::``, too, so that other tools leave them alone.
    """
    fields = [(kind.model_fields[name], column) for kind in KINDS.values() for name, column in kind.fields.items()]
    return _PRIVACY | {column: field.annotation == Label for field, column in fields}


def translated(column: str) -> bool:
    """Whether a column holds a text in each language."""
    return column in _TRANSLATED or own().get(column, False)


def _known(sheet: str) -> set[str]:
    return {*_KNOWN[sheet], *(own() if sheet == "survey" else ())}


@dataclass
class Columns:
    """The columns of one sheet, by what they mean.

    Parameters
    ----------
    sheet : str
    plain : {meaning: header}
    translated : {meaning: {language: header}}
    problems : list of Problem
    """

    sheet: str
    plain: dict[str, str] = field(default_factory=dict)
    translated: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def text(self, row: Mapping[str, str], meaning: str) -> str:
        """A cell's text, empty where there is none."""
        return row.get(self.plain.get(meaning, ""), "")

    def label(self, row: Mapping[str, str], meaning: str) -> dict[str, str]:
        """A text in each language in which it is there."""
        headers = self.translated.get(meaning, {})
        return {language: row[header] for language, header in headers.items() if header in row}

    def places(self, path: str, number: int, meanings: Mapping[str, str]) -> Iterator[tuple[str, Place]]:
        """The places of the fields below a path; `meanings` names each field's column."""
        yield path, Place(self.sheet, number)
        for name, meaning in meanings.items():
            for language, header in self.translated.get(meaning, {}).items():
                yield f"{path}.{name}.{language}", Place(self.sheet, number, header)
            if meaning in self.plain:
                yield f"{path}.{name}", Place(self.sheet, number, self.plain[meaning])
            elif meaning in self.translated:
                yield f"{path}.{name}", Place(self.sheet, number, next(iter(self.translated[meaning].values())))


def columns_of(sheet: Sheet, name: str, *, default: str) -> Columns:
    """The meaning of a sheet's columns; a text without a language is in the default language.

    Parameters
    ----------
    sheet : Sheet
    name : str
        survey, choices or settings.
    default : str
        The language of columns that name none, as a BCP 47 tag.

    Returns
    -------
    Columns
        With a problem for each column that cannot be used.
    """
    found = Columns(name)
    for header in sheet.columns:
        base, _, named = (part.strip() for part in _split(header))
        meaning = _ALIASES.get(base.lower(), base.lower())
        last = "image" if name == "survey" and meaning == "media" else meaning.split("::")[-1]
        if last in _REFUSED:
            _refuse(found, header, _REFUSED[last])
        elif meaning not in _known(name):
            _unused(found, sheet, header, base)
        elif translated(meaning):
            _add_language(found, header, meaning, named, default)
            _misplaced(found, sheet, header, meaning)
        elif meaning in found.plain:
            _refuse(found, header, f"column {found.plain[meaning]!r} says it already; leave one out")
        else:
            found.plain[meaning] = header
            _misplaced(found, sheet, header, meaning)
    _unnamed(found, sheet)
    return found


def _split(header: str) -> tuple[str, str, str]:
    """Base and language of a header; `bind::` before one of naysay's columns is dropped."""
    text = re.sub(r"^bind\s*::\s*(?=naysay_)", "", header.strip(), flags=re.IGNORECASE)
    if text.lower().startswith(("media::", "bind::", "control::", "body::")):
        return text, "", ""
    return text.partition("::")


def _add_language(found: Columns, header: str, meaning: str, named: str, default: str) -> None:
    language = tag_of(named) if named else default
    if language is None:
        message = f"a language must be named with its tag; got {named!r}"
        _problem(found, header, message, "browsers and screen readers need it", f"write {header} (en), or what it is")
        return
    headers = found.translated.setdefault(meaning, {})
    if language in headers:
        _refuse(found, header, f"column {headers[language]!r} holds the same language; leave one out")
    else:
        headers[language] = header


def tag_of(language: str) -> str | None:
    """The BCP 47 tag of a language as XLSForm names it, such as "German (de)" or "de"; None without a tag.

    Examples
    --------
    >>> tag_of("Deutsch (de)"), tag_of("pt-BR"), tag_of("Swahili")
    ('de', 'pt-BR', None)
    """
    named = re.search(r"\(([^()]*)\)\s*$", language)
    tag = named[1].strip() if named else language.strip()
    return tag if _TAG.fullmatch(tag) and len(tag) <= _LONGEST_TAG else None


def _unused(found: Columns, sheet: Sheet, header: str, base: str) -> None:
    """A column that is not understood: a warning, unless it was meant to make answers private."""
    hint = _checks.nearest(base, sorted(_known(found.sheet)))
    cells = [(number, row[header]) for number, row in sheet.rows if header in row]
    design = next((cell for cell in cells if reads_as_design(cell[1])), None)
    if "naysay" in header.lower():
        message = f"there is no column {header!r}"
        other = next((name for name in _KNOWN if name != found.sheet and base in _known(name)), None)
        hint = f"write it into the sheet {other}" if other else hint
        _problem(found, header, message, SENT_PLAINLY, hint)
    elif design is not None:
        message = f"column {header!r} is not used, and its cell {design[1][:60]!r} reads as a design"
        _problem(found, header, message, SENT_PLAINLY, _WAY_OUT, row=design[0])
    elif cells and names_privacy(header):
        message = f"column {header!r} is not used, and is called as if it made answers private"
        _problem(found, header, message, SENT_PLAINLY, _WAY_OUT, row=cells[0][0])
    else:
        hint = hint if hint.startswith("did") else "leave it out, or keep it for yourself"
        _problem(found, header, f"column {header!r} is not used", "", hint, "warning")


def _misplaced(found: Columns, sheet: Sheet, header: str, meaning: str) -> None:
    """A design in a column that is used for something else, such as appearance, or a word that asks for one."""
    if meaning in own() or meaning in _NAMES:
        return
    for number, row in sheet.rows:
        cell = row.get(header, "")
        if reads_as_design(cell, alone=meaning in _FOR_PROGRAMS) or (meaning == "appearance" and names_privacy(cell)):
            message = f"column {header!r} holds no designs; got {cell[:60]!r}"
            _problem(found, header, message, SENT_PLAINLY, "write it into the column bind::naysay_design", row=number)


def _unnamed(found: Columns, sheet: Sheet) -> None:
    """A design in a column without a header."""
    for number, text in sheet.unnamed:
        if reads_as_design(text):
            message = f"a column without a name is not used, and its cell {text[:60]!r} reads as a design"
            _problem(found, None, message, SENT_PLAINLY, _WAY_OUT, row=number)


def _refuse(found: Columns, header: str, way_out: str) -> None:
    _problem(found, header, f"column {header!r} cannot be used", "", way_out)


def _problem(
    found: Columns,
    header: str | None,
    message: str,
    reason: str,
    way_out: str,
    severity: Severity = "error",
    *,
    row: int = 1,
) -> None:
    place = Place(found.sheet, row, header)
    found.problems.append(Problem("columns", message, reason, way_out, severity, place=place))
