"""XLSForm out: a questionnaire as a workbook that spreadsheet programs and other survey tools open.

The purpose of each column of the survey sheet, as a workbook explains it beside the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naysay.errors import DataError, NaysayError
from naysay.questionnaire.expressions.parsing import write_expression
from naysay.questionnaire.items import Group, Item
from naysay.questionnaire.kinds.base import BaseItem, Bin, Choice, Label, Question, RowCells
from naysay.questionnaire.questionnaire import TEXTS, Questionnaire
from naysay.questionnaire.xlsform.learning import written_practice
from naysay.questionnaire.xlsform.offers import written_carried, written_private
from naysay.questionnaire.xlsform.sheets import SURVEY, own_columns, translated

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
                first, *other_rows = item.written(self)
                self.rows += [_question_cells(item) | first, *other_rows]
            else:
                self.rows.append({"type": "note", **_head(item)})

    def list_of(self, name: str, choices: Sequence[Choice | Bin]) -> str:
        """The name of a list with these choices; questions with the same choices share it."""
        choice_pairs = [(choice.name, choice.label) for choice in choices]
        shared = next((list_name for list_name, other_pairs in self.known.items() if other_pairs == choice_pairs), name)
        self.known[shared] = choice_pairs
        return shared

    def sheets(self) -> dict[str, list[list[Any]]]:
        """Header and rows of each sheet."""
        form = self.questionnaire
        practice_cells = written_practice(form, self)
        choices = [
            {"list_name": list_name, "name": name, "label": label}
            for list_name, pairs in self.known.items()
            for name, label in pairs
        ]
        settings = {"form_id": form.name, "default_language": _language(form.languages[0])}
        texts = {"form_title": form.title, **{f"naysay_{n}": getattr(form, n) for n in TEXTS}}
        texts["naysay_practice_label"] = practice_cells.pop("naysay_practice_label", {})
        settings |= practice_cells
        for column, text in texts.items():
            settings |= {f"{column}::{_language(language)}": words for language, words in text.items()}
        return {
            "survey": _table(self.rows, (*SURVEY, *own_columns()), form.languages),
            "choices": _table(choices, ("list_name", "name", "label"), form.languages),
            "settings": [list(settings), list(settings.values())],
        }


def _language(tag: str) -> str:
    return f"{_LANGUAGES[tag]} ({tag})" if tag in _LANGUAGES else tag


def _head(item: BaseItem) -> RowCells:
    relevant = {} if item.relevant is None else {"relevant": write_expression(item.relevant)}
    return {"name": item.name, "label": item.label, "hint": item.hint, **relevant}


def _question_cells(question: Question) -> RowCells:
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
        header_name = f"bind::{column}" if name != column else column
        if any(texts) and translated(column):
            header += [f"{header_name}::{_language(language)}" for language in languages]
            cells += [[text.get(language, "") if text else "" for text in texts] for language in languages]
        elif any(texts):
            header.append(header_name)
            cells.append(texts)
    return [header, *map(list, zip(*cells, strict=True))]


HELP_SHEET = "help"

_TABLE = """
column | what it is for | example
type | What is asked. begin_group and end_group put questions under one heading. | select_one yes_no
name | Its name in the data: a letter, then letters, digits, _ and -. | income
label::English (en) | What respondents read, a column for each language; the tag in parentheses. | Do you smoke?
hint::English (en) | A smaller text below it. | In years
required | yes where an answer is needed. | yes
relevant | When it is asked. A private question counts as it is sent: sent(${smoking}). | ${age} >= 18
constraint | The condition that a direct answer must meet; . is the answer. | . <= today()
constraint_message::English (en) | The message if the answer does not meet it. | This day is still to come.
appearance | table-list on a group: a grid. likert: numbers as a rating. multiline: a longer text. | table-list
parameters | Ends of a range, which is shown as a rating. | start=1 end=5 step=1
bind::naysay_design | Makes a question private: how its answer is randomized on the device. | negative
bind::naysay_levels | Levels that respondents choose from, and whether they may toss a coin instead. | 1..3, coin
bind::naysay_begins_at | The level at which the page begins; by default the most private one. | 2
bind::naysay_sink | Choices that are never ruled out, because that would say too much. | zero_to_two
bind::naysay_sink_label::English (en) | What stands in their place among the responses. | Nothing is ruled out
bind::naysay_mode | Who carries out the design: respondents (hand) or their device; the usual one first. | hand, device
bind::naysay_innocuous::English (en) | The innocuous question beside it. | Was your mother born in March?
bind::naysay_first_label::English (en) | Words of the first of two responses, if they are not choices. | The same
bind::naysay_second_label::English (en) | Words of the second. | Different
bind::naysay_right | Makes a select_one a check of understanding: the choice that is right. | nobody
type naysay_check | A check in naysay's own words: a row with this type and a name. | naysay_check
bind::naysay_explanation::English (en) | What is said after it. | Nobody sees your answer: it stays on your device.
bind::naysay_bins | Where the bins of a private number end; a list of choices before it names them. | 20, 40, 60
bind::naysay_range | Ends of a direct number, which is sent as it is. | 0..24
bind::naysay_max_length | How many characters a text may have. | 500
bind::naysay_lines | How many lines are shown for a text. | 4
bind::naysay_low_label::English (en) | What stands at the lower end of a rating. | Very bad
bind::naysay_high_label::English (en) | What stands at its upper end. | Very good
"""

HELP = [line.split(" | ") for line in _TABLE.strip().splitlines()]
"""The rows of the help sheet, the header first."""
