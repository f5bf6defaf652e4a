"""XLSForm out: a questionnaire as a workbook that spreadsheet programs and other survey tools open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naysay.errors import DataError, NaysayError
from naysay.questionnaire.expressions.parsing import write_expression
from naysay.questionnaire.items import Group, Item
from naysay.questionnaire.kinds.base import BaseItem, Bin, Choice, Label, Question, RowCells
from naysay.questionnaire.questionnaire import TEXTS, Questionnaire
from naysay.questionnaire.xlsform.help_sheet import HELP, HELP_SHEET
from naysay.questionnaire.xlsform.learning import written_practice
from naysay.questionnaire.xlsform.offers import written_carried, written_private
from naysay.questionnaire.xlsform.sheets import SURVEY, own, translated

__all__ = ["write_xlsform"]

_LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "ar": "العربية", "fr": "Français"}
_WIDE, _NARROW = 40, 16


def write_xlsform(questionnaire: Questionnaire, path: str | Path) -> None:
    """Write a questionnaire as an XLSForm; `load` reads the same questionnaire back.

    Parameters
    ----------
    questionnaire : Questionnaire
    path : str or Path
        Of the workbook, .xlsx.

    Raises
    ------
    DataError
        The file cannot be written, or XLSForm has no cell for something, such as a constraint on a grid.
    NaysayError
        The extra ``collect`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.questionnaire import load, sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xlsform(sample(), Path(folder, "sample.xlsx"))
    ...     load(Path(folder, "sample.xlsx")).fingerprint == sample().fingerprint
    True
    """
    try:
        from openpyxl import Workbook
    except ImportError:
        raise NaysayError(
            "workbooks are written with openpyxl; install it with: pip install 'naysay[collect]'"
        ) from None
    writer = _Writer(questionnaire)
    writer.items(questionnaire.items)
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in {**writer.sheets(), HELP_SHEET: HELP}.items():
        _fill(book.create_sheet(name), rows)
    try:
        book.save(path)
    except OSError as error:
        raise DataError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None


def _fill(sheet: Any, rows: Sequence[Sequence[Any]]) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils.exceptions import IllegalCharacterError

    for number, row in enumerate(rows, start=1):
        for place, value in enumerate(row, start=1):
            if value in ("", None):
                continue
            try:
                cell = sheet.cell(number, place, value)
            except IllegalCharacterError:
                raise DataError(f"a workbook cannot hold the control characters in {value!r}") from None
            cell.data_type = "s"  # text, even if a label begins with =: it must not become a formula
            cell.font, cell.alignment = Font(bold=number == 1), Alignment(wrap_text=number > 1, vertical="top")
    for place, header in enumerate(rows[0]):
        wide = header.startswith(("label", "hint", "form_title", "naysay_", "what"))
        sheet.column_dimensions[sheet.cell(1, place + 1).column_letter].width = _WIDE if wide else _NARROW
    sheet.freeze_panes = "C2" if sheet.title == "survey" else "A2"


class _Writer:
    """Gathers the rows of the sheets."""

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.questionnaire = questionnaire
        self.rows: list[RowCells] = []
        self.known: dict[str, list[tuple[str, Label]]] = {}

    def items(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Group):
                self.rows.append({"type": "begin_group", **_head(item)})
                self.items(item.items)
                self.rows.append({"type": "end_group"})
            elif isinstance(item, Question):
                first, *others = item.written(self)
                self.rows += [_asked(item) | first, *others]
            else:
                self.rows.append({"type": "note", **_head(item)})

    def list_of(self, name: str, choices: Sequence[Choice | Bin]) -> str:
        """The name of a list with these choices; questions with the same choices share it."""
        written = [(each.name, each.label) for each in choices]
        shared = next((known for known, others in self.known.items() if others == written), name)
        self.known[shared] = written
        return shared

    def sheets(self) -> dict[str, list[list[Any]]]:
        """Header and rows of each sheet."""
        form = self.questionnaire
        practiced = written_practice(form, self)
        choices = [
            {"list_name": listed, "name": name, "label": label}
            for listed, pairs in self.known.items()
            for name, label in pairs
        ]
        settings = {"form_id": form.name, "default_language": _language(form.languages[0])}
        texts = {"form_title": form.title, **{f"naysay_{n}": getattr(form, n) for n in TEXTS}}
        texts["naysay_practice_label"] = practiced.pop("naysay_practice_label", {})
        settings |= practiced
        for column, text in texts.items():
            settings |= {f"{column}::{_language(language)}": words for language, words in text.items()}
        return {
            "survey": _table(self.rows, (*SURVEY, *own()), form.languages),
            "choices": _table(choices, ("list_name", "name", "label"), form.languages),
            "settings": [list(settings), list(settings.values())],
        }


def _language(tag: str) -> str:
    return f"{_LANGUAGES[tag]} ({tag})" if tag in _LANGUAGES else tag


def _head(item: BaseItem) -> RowCells:
    relevant = {} if item.relevant is None else {"relevant": write_expression(item.relevant)}
    return {"name": item.name, "label": item.label, "hint": item.hint, **relevant}


def _asked(question: Question) -> RowCells:
    cells: RowCells = {**_head(question), "required": "yes" if question.required else ""}
    if question.constraint is not None:
        cells["constraint"] = write_expression(question.constraint.expression)
        cells["constraint_message"] = question.constraint.message
    if question.privacy is not None:
        cells |= written_private(question.privacy) | written_carried(question.privacy)
        cells["begins_at"] = question.privacy.begins_at or ""
        cells["sink_label"] = {} if cells.get("first_label") else next(iter(question.privacy.responses.values()), {})
    return cells


def _table(rows: Sequence[RowCells], columns: Sequence[str], languages: Sequence[str]) -> list[list[Any]]:
    """Header and rows, a text in a column for each language, without columns that stay empty."""
    header, cells = [], []
    for column in columns:
        name = column.removeprefix("naysay_")
        texts = [row.get(name, "") for row in rows]
        shown = f"bind::{column}" if name != column else column
        if any(texts) and translated(column):
            header += [f"{shown}::{_language(language)}" for language in languages]
            cells += [[text.get(language, "") if text else "" for text in texts] for language in languages]
        elif any(texts):
            header.append(shown)
            cells.append(texts)
    return [header, *map(list, zip(*cells, strict=True))]
