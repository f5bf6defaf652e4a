"""Problems of a questionnaire: where, what must hold, why, and the way out.

A questionnaire as it was written, before it is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from naysay import _checks
from naysay.errors import DataError

Severity = Literal["error", "warning"]
_SHEETS = ("settings", "survey", "choices")
_NUMBER = re.compile(r"\[(\d{1,9})\]")


@dataclass(frozen=True)
class Place:
    """Where something stands in the file of another program: in the sheets of an XLSForm, or in JSON.

    Parameters
    ----------
    sheet : str
    row : int, optional
        Counted as spreadsheets do: the header is row 1.
    column : str, optional
        As the header writes it.
    path : str
        In JSON, such as ``pages[0].elements[2].visibleIf``.

    Examples
    --------
    >>> print(Place("survey", 4, "relevant"), Place(path="pages[0].title"), sep="; ")
    survey, row 4, column 'relevant'; pages[0].title
    """

    sheet: str = ""
    row: int | None = None
    column: str | None = None
    path: str = ""

    def __str__(self) -> str:
        row = "" if self.row is None else f", row {self.row}"
        return self.path or f"{self.sheet}{row}{'' if self.column is None else f', column {self.column!r}'}"

    @property
    def order(self) -> tuple[int, ...]:
        """Problems are told in this order."""
        if self.path:
            return tuple(map(int, _NUMBER.findall(self.path)))
        return _SHEETS.index(self.sheet) if self.sheet in _SHEETS else len(_SHEETS), self.row or 0


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that the author should know.

    Parameters
    ----------
    rule : str
        The name of the rule, such as ``piping``.
    message : str
        What must hold, and what was found.
    reason : str
        Why.
    way_out : str
        What to do about it.
    severity : "error" or "warning"
        An error keeps the questionnaire from being fielded.
    path : str
        Where it stands in the canonical JSON, such as ``items[3].label.de``; empty where it has no place there.
    place : Place, optional
        Where it stands in the file of another program.

    Examples
    --------
    >>> print(Problem("names", "names must differ; got 'age' twice", "data would mix them up", "rename one"))
    error: names must differ; got 'age' twice (data would mix them up): rename one
    """

    rule: str
    message: str
    reason: str = ""
    way_out: str = ""
    severity: Severity = "error"
    path: str = ""
    place: Place | None = None

    @property
    def where(self) -> str:
        """Sheet, row and column, or the path in JSON."""
        return self.path if self.place is None else str(self.place)

    def __str__(self) -> str:
        where_text = f"{self.where}: " if self.where else ""
        reason_text = f" ({self.reason})" if self.reason else ""
        return f"{self.severity}: {where_text}{self.message}{reason_text}{f': {self.way_out}' if self.way_out else ''}"

    def form(self) -> dict[str, Any]:
        """The problem as a JSON object."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            **{
                place_field: getattr(self.place, place_field, None) or None
                for place_field in ("sheet", "row", "column")
            },
            "path": getattr(self.place, "path", "") or self.path or None,
            **{text_field: getattr(self, text_field) for text_field in ("message", "reason", "way_out")},
        }


class QuestionnaireError(DataError):
    """A questionnaire that cannot be fielded, with every problem that it has.

    Parameters
    ----------
    source : str
        What was read.
    problems : sequence of Problem

    Examples
    --------
    >>> error = QuestionnaireError("q.json", [Problem("names", "names must differ; got 'age' twice")])
    >>> error.problems[0].rule
    'names'
    """

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        errors = [problem for problem in problems if problem.severity == "error"]
        count_text = _checks.several(len(errors), "problem", "problems")
        self.problems = tuple(problems)
        self.lines = (f"{source} cannot be fielded; {count_text}:", *map(str, errors))
        super().__init__("\n  ".join(self.lines))


def located(problems: Iterable[Problem], places: Mapping[str, Place]) -> list[Problem]:
    """The problems with their places in the file; each takes the place of the longest known beginning of its path."""
    located_problems = []
    for problem in problems:
        problem_path = problem.path
        while problem_path and problem_path not in places:
            problem_path = problem_path[: max(problem_path.rfind("."), problem_path.rfind("["), 0)]
        located_problems.append(problem if problem.place else replace(problem, place=places.get(problem_path)))
    return located_problems


Lists = Mapping[str, Sequence[tuple[int, Mapping[str, str]]]]
"""The rows of each list of choices, numbered as in the sheet."""


@dataclass
class Draft:
    """A questionnaire as it was written, before it is checked.

    Parameters
    ----------
    form : object
        The canonical form, as far as it could be read.
    problems : list of Problem
        The problems of what could not be read.
    places : {path: Place}
        Where the parts of the form stand in the file.
    omitted : set of str
        Names of questions that could not be read.
    """

    form: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
