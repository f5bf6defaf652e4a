"""Respondents and their true answers, from a table with one row for each respondent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naysay import _checks
from naysay.collect.device.cells import reader_of
from naysay.errors import DataError
from naysay.questionnaire import Question, Questionnaire
from naysay.responses import cells_of

__all__ = ["People", "checked", "offers"]

_LEVEL = "_level"


@dataclass(frozen=True)
class People:
    """What n people would answer: true answers, which never leave the device.

    Parameters
    ----------
    size : int
        n.
    answers : {question: (n,) list}
        In the form that the page knows: private numbers as their bins; None where there is no answer.
    levels : {question: (n,) list of str}
        The levels that they choose, for every private question that offers some.
    places : (n,) sequence of int
        Their places among all respondents, for messages and for what a device keeps.

    Examples
    --------
    >>> from naysay.collect.respond import checked
    >>> from naysay.questionnaire import sample
    >>> checked(sample(), {"age": [30, 44]}).size
    2
    """

    size: int
    answers: Mapping[str, list[Any]]
    levels: Mapping[str, list[str]]
    places: Sequence[int]

    def __repr__(self) -> str:
        return f"<People: {self.size:,}>"

    def column(self, question: str) -> list[Any]:
        """The answers to one question."""
        return self.answers.get(question, [None] * self.size)

    def take(self, rows: Sequence[int]) -> People:
        """Some of them."""
        answers = {name: [column[row] for row in rows] for name, column in self.answers.items()}
        levels = {name: [column[row] for row in rows] for name, column in self.levels.items()}
        return People(len(rows), answers, levels, [self.places[row] for row in rows])


def checked(
    questionnaire: Questionnaire, columns: Mapping[str, Any], *, levels: Mapping[str, str] | None = None
) -> People:
    """The people that a table tells of, every cell checked as the page would.

    Parameters
    ----------
    questionnaire : Questionnaire
    columns : {column: (n,) sequence}
        By question: names of choices, ``a;b`` or lists for several choices and rankings, numbers, days, texts, or
        texts of these. A grid is ``question/row``; a select multiple may be ``question/choice`` with yes or no.
        ``question_level`` chooses levels. A question without a column is left out by everybody.
    levels : {question: level}, optional
        The level of everybody, for questions without a column of levels. Respondents who choose none answer at
        the level at which the page begins: the most private one that the device draws.

    Raises
    ------
    DataError
        A column that belongs to no question, or a cell that cannot be an answer: its row and column, never its value.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> people = checked(sample(), {"age": ["30", "41"], "news": ["net;paper", None], "rent": [250, 800]})
    >>> people.column("news"), people.column("rent")
    ([['paper', 'net'], None], ['below_400', 'from_800'])
    """
    cells = {name: list(cells_of(column)) for name, column in columns.items()}
    size = len(next(iter(cells.values()), ()))
    if any(len(column) != size for column in cells.values()):
        raise DataError("all columns must be equally long, a row for each respondent")
    if not size:
        raise DataError("there is nobody to answer; give a column for at least one question")
    known = {question.name: question for question in questionnaire.questions}
    roles = {name: _role(name, known) for name in cells}
    answers = {question.name: _answers(question, cells, roles, size) for question in known.values()}
    chosen = _levels(known, cells, roles, levels or {}, size)
    given = {name: column for name, column in answers.items() if column is not None}
    return People(size, given, chosen, range(size))


def _role(name: str, known: Mapping[str, Question]) -> tuple[str, str]:
    """Which question a column belongs to, and as what: the answer, its level, or a part."""
    if name in known:
        return name, ""
    question, _, part = name.partition("/")
    if question in known and part in known[question].parts:
        return question, part
    question = name.removesuffix(_LEVEL)
    if name.endswith(_LEVEL) and question in known and known[question].privacy is not None:
        return question, _LEVEL
    names = [*known, *(f"{each.name}/{part}" for each in known.values() for part in each.parts)]
    raise DataError(
        f"column {name!r} belongs to no question ({_checks.nearest(name, names)}); rename it, or leave it out",
        column=name,
    )


def _answers(
    question: Question, cells: Mapping[str, list[Any]], roles: Mapping[str, tuple[str, str]], size: int
) -> list[Any] | None:
    own = {role[1]: name for name, role in roles.items() if role[0] == question.name and role[1] != _LEVEL}
    if not own:
        return None
    if "" in own and len(own) > 1:
        raise DataError(f"question {question.name!r} has a column of its own and columns of its parts; leave one out")
    read = reader_of(question)
    if "" in own:
        return [_read(read, cell, row, own[""]) for row, cell in enumerate(cells[own[""]])]
    rows = zip(*(cells[name] for name in own.values()), strict=True)
    where = f"{question.name}/…"
    return [_read(read, dict(zip(own, row, strict=True)), place, where) for place, row in enumerate(rows)]


def _read(read: Any, cell: Any, row: int, column: str) -> Any:
    try:
        return read(cell)
    except DataError as error:
        told = f"row {row + 1}, column {column!r} {error}; correct the cell, or empty it to give no answer"
        raise DataError(told, row=row, column=column) from None


def _levels(
    known: Mapping[str, Question],
    cells: Mapping[str, list[Any]],
    roles: Mapping[str, tuple[str, str]],
    fixed: Mapping[str, str],
    size: int,
) -> dict[str, list[str]]:
    found = {}
    for name, (question, role) in roles.items():
        if role != _LEVEL:
            continue
        if question in fixed:
            raise DataError(f"the level of {question!r} is given twice: by column {name!r}, and for everybody")
        offered = _offered(known[question])
        column = [None if _checks.is_missing(cell) else _as_text(cell) for cell in cells[name]]
        found[question] = [
            offered[0] if cell is None else _level(cell, offered, f"row {row + 1}, column {name!r}")
            for row, cell in enumerate(column)
        ]
    for question, level in fixed.items():
        if question not in known:
            raise DataError(f"there is no question {question!r} ({_checks.nearest(question, known)})")
        found[question] = [_level(str(level), _offered(known[question]), f"the level of {question!r}")] * size
    return {name: [levels[0]] * size for name, levels in offers(known.values()).items()} | found


def offers(questions: Iterable[Question]) -> dict[str, tuple[str, ...]]:
    """The levels of every question that offers some, first the one at which the page begins."""
    private = {question.name: question.privacy for question in questions}
    return {
        name: tuple(sorted(filter(None, how.levels), key=how.by_hand.__contains__))  # the sort is stable
        for name, how in private.items()
        if how is not None and how.levels != (None,)
    }


def _offered(question: Question) -> tuple[str, ...]:
    found = offers([question])
    if not found:
        raise DataError(f"question {question.name!r} offers no levels; leave its level out")
    return found[question.name]


def _as_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _level(level: str, offered: Iterable[str], where: str) -> str:
    if level not in offered:
        raise DataError(f"{where} must be a level that is offered; {_checks.nearest(level, offered)}")
    return level
