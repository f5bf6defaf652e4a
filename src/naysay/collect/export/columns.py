"""The columns of an export: what they hold, what they mean, and how they come from replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from naysay.collect.storage.replies import Replies
from naysay.collect.survey.published import Published
from naysay.errors import DataError
from naysay.files import Asked, Codebook, Entry, Value, explained
from naysay.files.statistical import portable
from naysay.questionnaire import Bin, Choice, Label, Private, Question, in_words
from naysay.responses import Space

_TYPES = {int: "numbers", float: "numbers", str: "texts"}
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

    Raises
    ------
    DataError
        A language that the questionnaire does not have.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> columns = Columns(published, language="de", system="spss")
    >>> [(each.column, each.label) for each in columns.book.entries if each.question == "area"]
    [('area', 'Wo wohnen Sie?')]
    """

    def __init__(self, published: Published, *, language: str | None = None, system: str | None = None) -> None:
        self._form = form = published.questionnaire
        if language is not None and language not in form.languages:
            raise DataError(f"survey {form.name!r} has no texts in {language!r}; it has {', '.join(form.languages)}")
        self._language = language or form.languages[0]
        day = Entry("day", "day", "The day on which the answers came, in UTC", "days", measure="scale")
        columns = [_Column(day, pl.col("day"))]
        for question in form.questions:
            columns += self._private(question, question.privacy) if question.privacy else self._plain(question)
        names = [column.entry.column for column in columns]
        file_names = portable(names, system) if system else dict(zip(names, names, strict=True))
        self._columns = [_file_column(column, file_names, coded=system is not None) for column in columns]
        self.book = Codebook(
            survey=published.name,
            title=self._text(form.title),
            about=self._text(form.about),
            hash=published.hash,
            language=self._language,
            entries=tuple(column.entry for column in self._columns),
            coded=system is not None,
        )

    def table(self, replies: Replies) -> pl.DataFrame:
        """Replies as a table of these columns, in their order."""
        return replies.frame.select(cells.alias(entry.column) for entry, cells in self._columns)

    def _text(self, label: Label) -> str:
        return in_words(label.get(self._language, ""), self._form, self._language)

    def _values(self, parts: Sequence[Choice | Bin]) -> dict[str, str]:
        """What choices or bins are called, ``{name: label}``."""
        return {part.name: self._text(part.label) for part in parts}

    def _plain(self, question: Question) -> Iterator[_Column]:
        """The columns of a plain question."""
        name, question_text, answer_lists = question.name, self._text(question.label), dict(question.lists())
        choices = self._values(answer_lists.get("choices", ()))
        entry = Entry(name, name, question_text, "values", _coded_values(choices))
        if question.stored is list and question.parts:
            for choice, label in choices.items():
                part = replace(
                    entry, column=f"{name}/{choice}", label=f"{question_text}: {label}", holds="flags", values=()
                )
                yield _Column(part, pl.col(name).list.contains(choice).cast(pl.Int8))
        elif question.stored is list:
            for place in range(1, len(choices) + 1):
                part = replace(entry, column=f"{name}/{place}", label=f"{question_text}: {place}.")
                yield _Column(part, pl.col(name).list.get(place - 1, null_on_oob=True))
        elif question.parts:
            for row, label in self._values(answer_lists["rows"]).items():
                column = f"{name}/{row}"
                yield _Column(replace(entry, column=column, label=f"{question_text}: {label}"), pl.col(column))
        elif choices:
            yield _Column(entry, pl.col(name))
        else:
            yield _Column(self._bare_entry(question, entry), pl.col(name))

    def _bare_entry(self, question: Question, entry: Entry) -> Entry:
        """A question that is answered with a number, a day or a text."""
        holds = _TYPES.get(question.stored, "days")
        ends = [self._text(getattr(question, end, {})) for end in _SCALE]
        if any(ends):
            marks = zip((getattr(question, "low", 0), getattr(question, "high", 0)), ends, strict=True)
            labels = tuple(Value(code, str(code), text) for code, text in marks if text)
            return replace(entry, holds="numbers", values=labels, measure="ordinal")
        return replace(entry, holds=holds, measure="nominal" if holds == "texts" else "scale")  # type: ignore[arg-type]

    def _private(self, question: Question, private: Private) -> Iterator[_Column]:
        """The columns of a private question, and that of the levels where respondents chose one."""
        name, lists = question.name, dict(question.lists())
        spaces = [part.space for part in private.offer.parts.values()]
        level_column = None if private.levels == (None,) else f"{name}_level"
        list_labels = self._values(lists.get(question.categories_in, ()))
        response_words = {label: self._text(text) for label, text in private.responses.items()}
        response_names = [str(label) for space in spaces for label in space.labels]
        labels = {
            value_name: (response_words | list_labels).get(value_name, value_name)
            for value_name in [*map(str, private.offer.categories), *response_names]
        }
        # a level may rule out one category where another rules out several
        holds = "sets" if any(space.sets for space in spaces) else "values" if _single(spaces) else "texts"
        question_text = self._text(question.label)
        entry = Entry(
            *(name, name, question_text, holds, _coded_values(labels) if holds != "texts" else ()),  # type: ignore[arg-type]
            asked=Asked(private.offer, level_column),
        )
        for part in question.parts or ("",):
            column = f"{name}/{part}" if part else name
            label = f"{question_text}: {list_labels[part]}" if part else question_text
            yield _Column(
                explained(replace(entry, column=column, label=label), language=self._language), pl.col(column)
            )
        if level_column:
            levels = _coded_values({str(level): str(level) for level in private.levels})
            level_label = f"Level of privacy that was chosen: {self._text(question.label)}"
            yield _Column(Entry(level_column, name, level_label, "values", levels), pl.col(level_column))


def _single(spaces: Sequence[Space]) -> bool:
    """Whether every response is one of the labels."""
    return all(space.one_label for space in spaces)


def _coded_values(labels: dict[str, str]) -> tuple[Value, ...]:
    """The values with their codes: the names themselves where all are whole numbers, otherwise numbers from 1 on."""
    are_whole = all(name.removeprefix("-").isdecimal() and str(int(name)) == name for name in labels)
    are_small = are_whole and all(abs(int(name)) < 2**31 - 100 for name in labels)
    codes = [int(name) for name in labels] if are_small else range(1, len(labels) + 1)
    return tuple(Value(code, name, label) for code, (name, label) in zip(codes, labels.items(), strict=True))


def _file_column(column: _Column, names: dict[str, str], *, coded: bool) -> _Column:
    """The column as a file holds it: its name there, and codes in place of names where they are asked for."""
    entry, cells = column
    if entry.asked is not None and entry.asked.level is not None:
        entry = replace(entry, asked=replace(entry.asked, level=names[entry.asked.level]))
    if coded and entry.holds == "values":
        codes = {value.name: value.code for value in entry.values}
        cells = cells.replace_strict(codes, return_dtype=pl.Int32)
    return _Column(replace(entry, column=names[entry.column]), cells)
