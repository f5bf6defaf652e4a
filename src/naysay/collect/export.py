"""A survey's replies as files for other programs: the data, and beside it what its columns mean.

First what the columns hold, and how they come from replies; then the codebook as DDI-Codebook 2.5, which archives take,
and as a page that people read; then the files.
"""

from __future__ import annotations

import datetime
import json
import shlex
import tempfile
import zipfile
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.metadata import version
from itertools import chain, product
from operator import getitem
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast
from xml.etree import ElementTree as ET

import polars as pl

from naysay import files, privacy
from naysay.collect.questionnaire import Bin, Choice, Label, Private, Question, Questionnaire, in_words
from naysay.collect.questionnaire.arms import (
    can_fail,
    controlled,
    counts_only,
    measurements,
    violates,
)
from naysay.collect.questionnaire.kinds import Lot
from naysay.collect.questionnaire.privacy import as_told, has_innocuous
from naysay.collect.questionnaire.questionnaire import ARM, truth_column
from naysay.collect.storage import Store, today
from naysay.collect.storage.replies import Replies
from naysay.collect.survey import tallies
from naysay.collect.survey.published import Published
from naysay.design.base import answers_of
from naysay.errors import DataError
from naysay.files import Asked, Codebook, Entry, Value, explained
from naysay.files.codebook import EVERYBODY, place_of
from naysay.files.frames import whole
from naysay.files.statistical import portable
from naysay.files.text import PROGRAMS, hash_of, library

__all__ = ["Columns", "Exported", "betrays", "export", "places"]


_TYPES = {int: "numbers", float: "numbers", str: "texts", datetime.date: "days"}
"""What a column of the data holds, by how answers are stored; a kind that is stored otherwise has to say it here."""


_SCALE = ("low_label", "high_label")  # the words at the ends of a scale of numbers


class _Column(NamedTuple):
    """One column, and the cells of replies that it is made of; those of listed values are names."""

    entry: Entry
    cells: pl.Expr


class Columns:
    """The columns of the export of a survey.

    Parameters
    ----------
    published : Published
    language : str, optional
        Of the labels; by default the first of the questionnaire.
    system : {"spss", "stata"}, optional
        For which program: cells are codes then, and names are such as it takes.
    controls : bool
        Whether it has the columns of controls. Rows that leave the server have none: they would tell who failed one.

    Raises
    ------
    DataError
        A language that the questionnaire does not have.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> columns = Columns(published, language="de", system="spss")
    >>> [(each.column, each.label) for each in columns.book.entries if each.question == "area"]
    [('area', 'Wo wohnen Sie?')]
    """

    def __init__(
        self, published: Published, *, language: str | None = None, system: str | None = None, controls: bool = True
    ) -> None:
        self._form = form = published.questionnaire
        self._language = form.language(language)
        day_entry = Entry("day", "day", "The day on which the answers came, in UTC", "days", measure="scale")
        columns = [_Column(day_entry, pl.col("day"))]
        self._controlled = controlled(form) if controls else {}
        for question in form.questions:
            if controls or not is_of_control(question, form):
                columns += self._private(question, question.privacy) if question.privacy else self._plain(question)
        column_names = [column.entry.column for column in columns]
        file_names = portable(column_names, system) if system else dict(zip(column_names, column_names, strict=True))
        self._columns = []
        for column in columns:  # as the file holds it: its names, and codes where they are asked for
            entry, cell_expression = column
            if entry.asked is not None:
                entry = replace(entry, asked=_renamed(entry.asked, file_names))
            if entry.column == ARM and form.strata:
                entry = replace(entry, strata=file_names[form.strata])
            if system is not None and entry.holds == "values":
                value_codes = {value.name: value.code for value in entry.values}
                cell_expression = cell_expression.replace_strict(value_codes, return_dtype=pl.Int32)
            self._columns.append(_Column(replace(entry, column=file_names[entry.column]), cell_expression))
        self.book = Codebook(
            survey=published.name,
            title=self._text(form.title),
            about=self._text(form.about),
            hash=published.hash,
            language=self._language,
            entries=tuple(column.entry for column in self._columns),
            coded=system is not None,
            measures=tuple(self._measure(name, asked, file_names) for name, asked in measurements(form).items()),
        )

    def _measure(self, measure: str, asked: Asked, file_names: Mapping[str, str]) -> Entry:
        """What questions of several arms measure together."""
        by_name = {question.name: question for question in self._form.questions}
        members = [by_name[column] for columns in asked.arms.values() for column in columns]
        question, is_count = members[0], counts_only(members[0])
        words = self._values(dict(question.lists()).get(question.categories_in, ()))
        for private in (member.privacy for member in members if member.privacy is not None):
            words |= {response: self._text(label) for response, label in private.responses.items()}
        parts = [part for part in asked.design.parts.values() if part.space.listable]
        names = [
            *map(str, asked.design.categories),
            *(str(label) for part in parts for answer in answers_of(part, joint=True) for label in answer.space.labels),
        ]
        values = _coded_values({name: words.get(name, name) for name in names})
        is_part = is_count or asked.is_of_everybody  # the words of one row are not those of all that is measured
        label = "" if is_part else self._text(question.label)
        holds: Literal["values", "numbers"] = "numbers" if is_count else "values"
        return Entry(measure, measure, label, holds, values, asked=_renamed(asked, file_names))

    def table(self, replies: Replies) -> pl.DataFrame:
        """Replies as a table of these columns, in their order."""
        return replies.frame.select(cell_expression.alias(entry.column) for entry, cell_expression in self._columns)

    def _text(self, label: Label) -> str:
        return in_words(label.get(self._language, ""), self._form, self._language)

    def _values(self, parts: Sequence[Choice | Bin]) -> dict[str, str]:
        """What choices or bins are called, ``{name: label}``."""
        return {part.name: self._text(part.label) for part in parts}

    def _plain(self, question: Question) -> Iterator[_Column]:
        """The columns of a plain question."""
        question_name, question_text, answer_lists = question.name, self._text(question.label), dict(question.lists())
        choice_labels = self._values(answer_lists.get("choices", ()))
        question_entry = Entry(question_name, question_name, question_text, "values", _coded_values(choice_labels))
        if question.stored is list and question.parts:
            for choice_name, choice_label in choice_labels.items():
                part_entry = replace(
                    question_entry,
                    column=f"{question_name}/{choice_name}",
                    label=f"{question_text}: {choice_label}",
                    holds="flags",
                    values=(),
                )
                yield _Column(part_entry, pl.col(question_name).list.contains(choice_name).cast(pl.Int8))
        elif question.stored is list:
            for rank_place in range(1, len(choice_labels) + 1):
                part_entry = replace(
                    question_entry, column=f"{question_name}/{rank_place}", label=f"{question_text}: {rank_place}."
                )
                yield _Column(part_entry, pl.col(question_name).list.get(rank_place - 1, null_on_oob=True))
        elif question.parts:
            for row_name, row_label in self._values(answer_lists["rows"]).items():
                column_name = f"{question_name}/{row_name}"
                yield _Column(
                    replace(question_entry, column=column_name, label=f"{question_text}: {row_label}"),
                    pl.col(column_name),
                )
        elif choice_labels:
            weights = question.weights if isinstance(question, Lot) else ()
            yield _Column(replace(question_entry, weights=weights), pl.col(question_name))
        else:
            yield _Column(self._bare_entry(question, question_entry), pl.col(question_name))

    def _bare_entry(self, question: Question, entry: Entry) -> Entry:
        """A question that is answered with a number, a day or a text."""
        holds = _TYPES[question.stored]
        end_labels = [self._text(getattr(question, end_field, {})) for end_field in _SCALE]
        if any(end_labels):
            end_marks = zip((getattr(question, "low", 0), getattr(question, "high", 0)), end_labels, strict=True)
            labeled_values = tuple(Value(code, str(code), end_label) for code, end_label in end_marks if end_label)
            return replace(entry, holds="numbers", values=labeled_values, measure="ordinal")
        return replace(entry, holds=holds, measure="nominal" if holds == "texts" else "scale")  # type: ignore[arg-type]

    def _private(self, question: Question, private: Private) -> Iterator[_Column]:
        """The columns of a private question, and that of the levels where respondents chose one."""
        question_name, answer_lists = question.name, dict(question.lists())
        spaces = [design_part.space for design_part in private.offer.parts.values()]
        level_column = None if private.levels == (None,) else f"{question_name}_level"
        list_labels = self._values(answer_lists.get(question.categories_in, ()))
        response_words = {
            response_label: self._text(label_text) for response_label, label_text in private.responses.items()
        }
        response_names = [str(response_label) for space in spaces for response_label in space.labels]
        labels = {
            value_name: (response_words | list_labels).get(value_name, value_name)
            for value_name in [*map(str, private.offer.categories), *response_names]
        }
        # a level may rule out one category where another rules out several
        holds = (
            "sets"
            if any(space.sets for space in spaces)
            else "values"
            if all(space.one_label for space in spaces)
            else "texts"
        )
        question_text = self._text(question.label)
        question_entry = Entry(
            *(question_name, question_name, question_text, holds, _coded_values(labels) if holds != "texts" else ()),  # type: ignore[arg-type]
            asked=self._controlled.get(question_name, Asked(private.offer, level_column)),
        )
        for part_name in question.parts or ("",):
            column_name = f"{question_name}/{part_name}" if part_name else question_name
            column_label = f"{question_text}: {list_labels[part_name]}" if part_name else question_text
            yield _Column(
                explained(replace(question_entry, column=column_name, label=column_label), language=self._language),
                pl.col(column_name),
            )
        if level_column:
            coded_levels = _coded_values({str(level): str(level) for level in private.levels})
            level_label = f"Level of privacy that was chosen: {self._text(question.label)}"
            yield _Column(Entry(level_column, question_name, level_label, "values", coded_levels), pl.col(level_column))


def _renamed(asked: Asked, names: Mapping[str, str]) -> Asked:
    """The columns beside a private column under the names that the file has."""
    return replace(
        asked,
        level=None if asked.level is None else names[asked.level],
        beside=tuple(names[column] for column in asked.beside),
        sample=tuple(names[column] for column in asked.sample),
        arms={arm: tuple(names[column] for column in columns) for arm, columns in asked.arms.items()},
    )


def is_of_control(question: Question, form: Questionnaire) -> bool:
    """Whether a question is a control, or the truth that lot has drawn for one."""
    truths = {truth_column(other.name) for other in form.questions if other.control is not None}
    return question.control is not None or (isinstance(question, Lot) and question.name in truths)


def _coded_values(labels: dict[str, str]) -> tuple[Value, ...]:
    """The values with their codes: the names themselves where all are whole numbers, otherwise numbers from 1 on."""
    are_whole = all(
        value_name.removeprefix("-").isdecimal() and str(int(value_name)) == value_name for value_name in labels
    )
    are_small = are_whole and all(abs(int(value_name)) < 2**31 - 100 for value_name in labels)
    codes = [int(value_name) for value_name in labels] if are_small else range(1, len(labels) + 1)
    return tuple(
        Value(code, value_name, label) for code, (value_name, label) in zip(codes, labels.items(), strict=True)
    )


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
    study_element = _add(root, "stdyDscr")
    title_element = _add(_add(study_element, "citation"), "titlStmt")
    _add(title_element, "titl", book.title)
    _add(title_element, "IDNo", book.survey)
    _add(title_element, "IDNo", book.hash, agency="SHA-256")
    if book.about:
        _add(_add(study_element, "stdyInfo"), "abstract", book.about)
    file_element = _add(root, "fileDscr", ID="F1")
    text_element = _add(file_element, "fileTxt")
    _add(text_element, "fileName", file)
    dimensions_element = _add(text_element, "dimensns")
    _add(dimensions_element, "caseQnty", str(replies))
    _add(dimensions_element, "varQnty", str(len(book.entries)))
    _add(text_element, "software", software)
    _add(file_element, "notes", digest, type="fingerprint", subject="SHA-256")  # 2.5 as first published has no element
    data_element = _add(root, "dataDscr")
    for entry_place, entry in enumerate(book.entries, start=1):
        _variable(data_element, entry, entry_place, coded=book.coded)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _variable(data: ET.Element, entry: Entry, place: int, *, coded: bool) -> None:
    """One variable, its elements in the order that the schema demands."""
    kind_attributes = {"intrvl": "contin" if entry.measure == "scale" else "discrete", "nature": _NATURE[entry.measure]}
    representation = {"representationType": _REPRESENTED.get(entry.holds, "text")}
    variable_element = _add(
        data, "var", ID=f"V{place}", name=entry.column, files="F1", **kind_attributes, **representation
    )
    _add(variable_element, "labl", entry.label)
    _add(_add(variable_element, "qstn"), "qstnLit", entry.wording or entry.label)
    if entry.asked is not None:
        _add(variable_element, "txt", f"{entry.meaning} {'; '.join(privacy.lines(entry.asked.design))}")
    for value in entry.values:
        category_element = _add(variable_element, "catgry")
        _add(category_element, "catValu", str(value.code) if coded and entry.holds == "values" else value.name)
        _add(category_element, "labl", value.meaning or value.label or value.name)
    is_text = entry.holds in ("texts", "sets") or (entry.holds == "values" and not coded)
    day_attributes = {"category": "date"} if entry.holds == "days" else {}
    _add(variable_element, "varFormat", type="character" if is_text else "numeric", **day_attributes)
    if entry.asked is not None:
        _add(variable_element, "notes", entry.asked.design.to_json(), type="design", subject="after randomization")


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
    lines = [f"# {_one_line(book.title)}", "", *([_one_line(book.about), ""] if book.about else [])]
    lines += [
        *_table_lines(("", ""), facts),
        "",
        "Rows are in random order. An empty cell means that nothing was answered.",
    ]
    lines += ["", _one_line(caution)] if caution else []
    if escaped:
        lines += [
            "",
            "An apostrophe stands before what a spreadsheet would take for a formula, and before what looks so; "
            "`naysay` takes it away again.",
        ]
    for entry in book.entries:
        lines += ["", f"## `{entry.column}`", "", _one_line(entry.label), "", *_entry(entry, book, file)]
    for measure in book.measures:
        lines += ["", f"## `{measure.column}`", "", *_measured_together(measure, file)]
    return "\n".join(lines) + "\n"


def _measured_together(measure: Entry, file: str) -> Iterator[str]:
    asked = cast("Asked", measure.asked)
    yield f"It is no column: it is what these columns measure together, by `{asked.design.name or asked.design.kind}`."
    yield ""
    for arm, columns in asked.arms.items():
        who = "of everybody" if arm == EVERYBODY else f"in the arm `{arm}`"
        yield f"- {who}: {', '.join(f'`{column}`' for column in columns)}"
    yield ""
    yield _estimate_command(file, measure)


def _estimate_command(file: str, entry: Entry) -> str:
    return f"    naysay estimate {shlex.quote(file)} --response {shlex.quote(entry.column)}"


def _entry(entry: Entry, book: Codebook, file: str) -> Iterator[str]:
    if entry.meaning:
        yield f"**{_one_line(entry.meaning)}**"
        yield ""
    yield f"It holds {_HOLDS[entry.holds]}."
    if entry.asked is not None:
        design, level_column = entry.asked.design, entry.asked.level
        yield ""
        level_text = f", at the level in `{level_column}`" if level_column else ""
        yield f"What was sent was drawn by `{design.name or design.kind}`{level_text}."
        yield ""
        for privacy_line in privacy.lines(design):
            yield f"- {_one_line(privacy_line)}"
        yield ""
        yield _estimate_command(file, entry)
    if entry.values:
        is_coded = book.coded and entry.holds != "sets"
        table_head: tuple[str, ...] = ("code", "name", "label") if is_coded else ("value", "label")
        table_rows: list[tuple[str, ...]] = [
            ((str(value.code), value.name, value.label) if is_coded else (value.name, value.label))
            for value in entry.values
        ]
        if entry.asked is not None:
            table_head, table_rows = (
                (*table_head, "meaning"),
                [(*row, value.meaning) for row, value in zip(table_rows, entry.values, strict=True)],
            )
        yield ""
        yield from _table_lines(table_head, table_rows)


def _table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_one_line(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _one_line(text: str) -> str:
    return " ".join(text.split())


_SYSTEMS = ("spss", "stata")


class Exported(NamedTuple):
    """What was written: how many replies in how many columns, of the survey with which hash, and which files.

    `withheld` are questions whose controls are not in it.
    """

    replies: int
    columns: int
    hash: str
    files: tuple[Path, ...]
    withheld: tuple[str, ...] = ()


def places(path: Path) -> tuple[Path, Path, Path, Path]:
    """The files of an export: the data, its codebook for people, for archives, and with the designs for programs.

    Examples
    --------
    >>> [place.name for place in places(Path("data.sav"))]
    ['data.sav', 'data.sav.codebook.md', 'data.sav.codebook.xml', 'data.sav.designs.json']
    """
    readable_path, archived_path = (path.with_name(f"{path.name}.codebook.{name_end}") for name_end in ("md", "xml"))
    return path, readable_path, archived_path, place_of(path)


def export(store: Store, survey: str, path: Path, *, language: str | None = None, separator: str = ",") -> Exported:
    """Write the replies to a survey to a file, and beside it what its columns mean and how private ones were drawn.

    Rows are in random order, drawn afresh each time. CSV, Parquet, JSON lines and Excel are written piece by piece.

    Parameters
    ----------
    store : Store
    survey : str
    path : Path
        Its suffix says which kind of file: .csv, .parquet, .jsonl, .sav, .zsav, .dta or .xlsx.
    language : str, optional
        Of the labels; by default the first of the questionnaire.
    separator : str
        Between the cells of a CSV file.

    Raises
    ------
    DataError
        No such survey or language, nobody has answered yet, or the files cannot be written.
    """
    file_kind = files.kind(path, to_write=True)
    if file_kind in PROGRAMS:
        library(path)
    published = store.published(survey)
    columns = Columns(published, language=language, system=file_kind if file_kind in _SYSTEMS else None, controls=False)
    reply_count = 0

    tables = ControlTables(published, language=language)
    is_closed = not store.standing()[survey][1]

    def pieces() -> Generator[pl.DataFrame]:
        nonlocal reply_count
        for replies in store.shuffled(published):
            reply_count += len(replies.rows)
            if is_closed:
                tables.add(replies)
            yield columns.table(replies)

    data_path, readable_path, archived_path, designs_path = places(path)
    with closing(pieces()) as table_pieces:  # an error would keep the generator, and so its connection
        first_piece = next(table_pieces, None)
        if first_piece is None:
            raise DataError(f"nobody has answered {survey!r} yet; export when answers have come")
        files.write_pieces(chain([first_piece], table_pieces), data_path, separator=separator, book=columns.book)
    data_digest = hash_of(data_path)
    caution_text = f"{tallies.BY_INVITATION[:1].upper()}{tallies.BY_INVITATION[1:]}."
    if published.key is None:  # how many may have answered more than once, and what that would move
        points_text = tallies.moved_points_text(published.questionnaire)
        effect_text = f"; 1 % of repeated or dishonest answers moves a share by {points_text}" if points_text else ""
        caution_text = f"{tallies.OPEN_LINK[:1].upper()}{tallies.OPEN_LINK[1:]}{effect_text}."
    book = columns.book
    codebook_text = markdown(
        book, file=data_path.name, replies=reply_count, caution=caution_text, escaped=file_kind == "csv"
    )
    _write(readable_path, codebook_text.encode())
    _write(
        archived_path,
        ddi(book, file=data_path.name, replies=reply_count, digest=data_digest, software=f"naysay {version('naysay')}"),
    )
    _write(designs_path, json.dumps(book.form(), ensure_ascii=False, indent=1).encode() + b"\n")
    control_paths = tables.write(data_path, separator=separator)
    own_paths = (data_path, readable_path, archived_path, designs_path)
    names = [entry.column for entry in tables.entries]
    withheld = tuple(name for name in names if not any(f".{name}.controls.csv" in path.name for path in control_paths))
    return Exported(reply_count, len(columns.book.entries), published.hash, (*own_paths, *control_paths), withheld)


PEOPLE = "people"
"""The column of a table of controls with how many people each row stands for."""


class ControlTables:
    """How many people gave each answer to a question together with each answer to its controls.

    Rows of an export hold no answer to a control: in a negative survey such a row would say of its person that they did
    not follow the instruction. So these answers leave the server as counts alone, once the survey is closed. It is
    never opened again, so no later export shows what one more reply has changed.

    Parameters
    ----------
    published : Published
    language : str, optional
        Of the labels; by default the first of the questionnaire.
    """

    def __init__(self, published: Published, *, language: str | None = None) -> None:
        self._form, self._book = published.questionnaire, (columns := Columns(published, language=language)).book
        self._counts: dict[str, pl.DataFrame] = {}
        self._arm = [ARM] if self._form.arms else []
        self.entries = [entry for entry in columns.book.entries if entry.asked is not None and entry.asked.beside]

    def add(self, replies: Replies) -> None:
        """Count these replies, too, where the question and its controls are answered, and the truth is known."""
        for entry in self.entries:
            names = [*self._arm, entry.column, *(() if entry.asked is None else entry.asked.columns)]
            frame = replies.frame.drop_nulls(names).group_by(list(dict.fromkeys(names))).len(PEOPLE)
            earlier = self._counts.get(entry.column)
            both = frame if earlier is None else pl.concat([earlier, frame])
            self._counts[entry.column] = both.group_by(frame.columns[:-1]).agg(pl.col(PEOPLE).sum())

    def write(self, data_path: Path, *, separator: str) -> list[Path]:
        """Write a table, and its codebook, for each question that has a control and whose table `betrays` nobody."""
        paths = []
        for entry in self.entries:
            counts = self._counts.get(entry.column)
            if counts is None or betrays(self._form, entry, counts, count=PEOPLE):
                continue
            path = data_path.with_name(f"{data_path.name}.{entry.column}.controls.csv")
            entries = tuple(column for column in self._book.entries if column.column in counts.columns)
            book = replace(self._book, entries=entries, measures=(), count=PEOPLE, coded=False)
            files.write_pieces([counts.sort(counts.columns)], path, separator=separator, book=book)
            _write(place_of(path), json.dumps(book.form(), ensure_ascii=False, indent=1).encode() + b"\n")
            paths += [path, place_of(path)]
        return paths


_PASSED = 2  # whoever has passed knows it of themselves, and would know the rest of a cell with one other person
_ALIKE = 10  # people in a cell; were a cell of one left out only if its person failed, its absence would tell that


def betrays(form: Questionnaire, entry: Entry, counts: pl.DataFrame, *, count: str) -> bool:
    """Whether counts of answers beside those to controls would tell of a row of an export that its person failed one.

    A row holds the answer, the arm, the level and the truth from the file; so it is known in which cell of these its
    person is counted. Each cell needs ten people, whether they failed or not, and two of them who have passed. By hand
    an answer can be a failure to whoever knows the innocuous one, such as a birthday: with each innocuous answer two of
    them must have passed. Where nobody can be seen to fail, nothing is told.

    Parameters
    ----------
    form : Questionnaire
    entry : Entry
        Of the question, with its controls.
    counts : DataFrame
        The distinct answers as the database holds them, and in the column `count` how many people gave each.
    count : str
    """
    controls = {question.name: question for question in form.asked if question.control is not None}
    beside = entry.asked.beside if entry.asked is not None else ()
    if not any(can_fail(control) or has_innocuous(control) for control in map(controls.__getitem__, beside)):
        return False
    hidden = {f"{name}{end}" for name in beside for end in ("", "_level", truth_column(""))}
    shown = [column for column in counts.columns if column not in {*hidden, count}]
    people, passed = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for row in counts.drop_nulls().iter_rows(named=True):
        cell, number = tuple(row[column] for column in shown), int(row[count])
        people[cell] += number
        complied = []  # to whoever knows no innocuous answer, and to whoever knows that it is this one
        for name in beside:
            control, truth = controls[name], row.get(_known_truth(controls[name]))
            failed = violates(control, row[name], row.get(f"{name}_level"), truth)
            complied.append((not failed, *as_told(control, row[name], truth)))
        for places in product(*map(range, map(len, complied))):
            passed[places, *cell] += number * all(map(getitem, complied, places))
    return any(number < _ALIKE for number in people.values()) or any(number < _PASSED for number in passed.values())


def _known_truth(control: Question) -> str:
    """The column with the truth of a control, if it differs between people."""
    truth_file = control.control.truth.file if control.control is not None else None
    return truth_column(control.name) if truth_file is None else truth_file


def _write(path: Path, content: bytes) -> None:
    try:
        with whole(path) as file:
            file.write(content)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


@contextmanager
def packed(store: Store, survey: str, suffix: str, *, language: str | None = None) -> Iterator[tuple[Path, Exported]]:
    """A zip file with the data, its codebooks and its designs; it is deleted at the end of the context.

    Parameters
    ----------
    store : Store
    survey : str
    suffix : str
        Of the data, such as ``.sav``.
    language : str, optional
        Of the labels; by default the first of the questionnaire.

    Raises
    ------
    DataError
        No such survey or language, or nobody has answered yet.
    """
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        base_name = f"{survey}-{today()}"
        export_result = export(store, survey, Path(folder, base_name + suffix), language=language)
        zip_path = Path(folder, f"{base_name}.zip")
        with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_DEFLATED) as zip_file:
            for path in export_result.files:
                zip_file.write(path, path.name)
                path.unlink()
        yield zip_path, export_result
