"""What pyxform itself says of an XLSForm, so that a form that passes here can be used in other tools too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.xlsform.columns import Columns, own
from naysay.questionnaire.xlsform.sheets import Sheet

__all__ = ["upstream_problems"]

_ROW = re.compile(r"(?:\[row ?: |[Rr]ow )(\d+)")
_SENT = re.compile(r"sent\(\s*(\$\{[^}]*\})\s*\)")


def upstream_problems(sheets: Mapping[str, Sheet], columns: Columns) -> list[Problem]:
    """The errors and warnings of pyxform's own conversion, without the columns that it does not know.

    Parameters
    ----------
    sheets : {name: Sheet}
    columns : Columns
        Of the survey sheet.

    Returns
    -------
    list of Problem
        pyxform ends at the first error.
    """
    from pyxform.errors import PyXFormError
    from pyxform.xls2xform import convert

    warnings: list[str] = []
    try:
        convert(_workbook(sheets, columns), warnings=warnings, form_name="data")
    except PyXFormError as error:
        return [_problem(str(error), "error")]
    except Exception as error:  # what pyxform did not foresee in a form that was understood here
        return [_problem(f"{type(error).__name__} in pyxform: {error}", "warning")]
    return [_problem(each, "warning") for each in warnings]


def _workbook(sheets: Mapping[str, Sheet], columns: Columns) -> dict[str, Any]:
    """The sheets as pyxform takes them, without what is ours; rows keep their numbers."""
    ours = {header for meaning, header in columns.plain.items() if meaning in own()}
    ours |= {header for meaning, named in columns.translated.items() if meaning in own() for header in named.values()}
    book: dict[str, Any] = {"sheet_names": list(sheets)}
    for name, sheet in sheets.items():
        dropped = ours if name == "survey" else set()
        if name == "settings":
            dropped = {header for header in sheet.columns if header.startswith("naysay_") or "::" in header}
        kept = [header for header in sheet.columns if header not in dropped]
        numbered = dict(sheet.rows)
        rows = [numbered.get(number, {}) for number in range(2, max(numbered, default=1) + 1)]
        book[name] = [{header: _SENT.sub(r"\1", row[header]) for header in kept if header in row} for row in rows]
        book[f"{name}_header"] = [dict.fromkeys(kept)]
    return book


def _problem(text: str, severity: Severity) -> Problem:
    found = _ROW.search(text)
    row = int(found[1]) if found else None
    message = "pyxform: " + " ".join(text.split())
    return Problem("pyxform", message, severity=severity, place=Place("survey" if row else "workbook", row))
