"""What is wrong with a questionnaire: where, what must hold, why, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from naysay import _checks
from naysay.errors import DataError

__all__ = ["Place", "Problem", "QuestionnaireError", "located", "of_validation"]


@dataclass(frozen=True)
class Place:
    """Where something stands in the sheets of an XLSForm.

    Parameters
    ----------
    sheet : str
    row : int, optional
        Counted as spreadsheets do: the header is row 1.
    column : str, optional
        As the header has it.

    Examples
    --------
    >>> print(Place("survey", 4, "relevant"))
    survey, row 4, column 'relevant'
    """

    sheet: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        row = "" if self.row is None else f", row {self.row}"
        return f"{self.sheet}{row}{'' if self.column is None else f', column {self.column!r}'}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that an author should know.

    Parameters
    ----------
    rule : str
        The name of the rule, such as ``piping``.
    message : str
        What must hold, and what is there.
    reason : str
        Why.
    way_out : str
        What to do about it.
    severity : "error" or "warning"
        An error keeps the questionnaire from being fielded.
    path : str
        Where it stands in the canonical JSON, such as ``items[3].label.de``; empty where it does not stand there.
    place : Place, optional
        Where it stands in an XLSForm.

    Examples
    --------
    >>> print(Problem("names", "names must differ; got 'age' twice", "data would mix them up", "rename one"))
    error: names must differ; got 'age' twice (data would mix them up): rename one
    """

    rule: str
    message: str
    reason: str = ""
    way_out: str = ""
    severity: Literal["error", "warning"] = "error"
    path: str = ""
    place: Place | None = None

    @property
    def where(self) -> str:
        """Sheet, row and column, or the path in JSON."""
        return self.path if self.place is None else str(self.place)

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.severity}: {where}{self.message}{reason}{f': {self.way_out}' if self.way_out else ''}"

    def form(self) -> dict[str, Any]:
        """The problem as a JSON object."""
        place = self.place
        return {
            "severity": self.severity,
            "rule": self.rule,
            "sheet": place and place.sheet,
            "row": place and place.row,
            "column": place and place.column,
            "path": self.path or None,
            "message": self.message,
            "reason": self.reason,
            "way_out": self.way_out,
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
        errors = [each for each in problems if each.severity == "error"]
        counted = _checks.several(len(errors), "problem", "problems")
        self.problems = tuple(problems)
        self.lines = (f"{source} cannot be fielded; {counted}:", *map(str, errors))
        super().__init__("\n  ".join(self.lines))


def of_validation(error: ValidationError, path: str = "") -> list[Problem]:
    """The problems that keep an object from being part of a questionnaire."""
    found = []
    for each in error.errors(include_url=False, include_context=False):
        steps = [step for step in each["loc"] if step not in _KINDS]
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        field = str(steps[-1]) if steps else ""
        coded, given = bool(_CODED & set(steps)), each.get("input")
        message, way_out = _worded(each["type"], each["msg"], given, field, coded=coded, whole=not path)
        found.append(Problem("form", message, "", way_out, path=(path + where).lstrip(".")))
    return found


def _worded(kind: str, told: str, value: Any, field: str, *, coded: bool, whole: bool) -> tuple[str, str]:
    """What is wrong with a field, and the way out."""
    if kind == "string_pattern_mismatch" and field == "name" and whole:
        message = "the name of a questionnaire must hold lower-case letters, digits, _ and - only"
        return f"{message}; got {_checks.shown([value])}", "it stands in links; write it as survey-1"
    if kind == "string_pattern_mismatch" and field == "name" and coded:
        message = f"the name of a choice must hold letters, digits, _ and - only; got {_checks.shown([value])}"
        return message, "write it without spaces, as so_so, c1 or 1; what respondents read is the label"
    if kind == "string_pattern_mismatch" and field == "name":
        message = (
            f"a name must begin with a letter and hold letters, digits, _ and - only; got {_checks.shown([value])}"
        )
        return message, "write a letter first, as c1, and no spaces"
    if kind.startswith("union_tag"):
        given = value.get("kind") if isinstance(value, dict) else value
        return f"kind must be one of those that there are; got {given!r}", f"items are {', '.join(sorted(_ITEMS))}"
    if kind == "missing":
        return f"{field} is missing", "fill it in"
    if kind == "extra_forbidden":
        return f"there is no field {field!r}", "leave it out"
    return f"{told[:1].lower()}{told[1:]}; got {_checks.shown([value])}", ""


_ITEMS = {
    "select_one", "select_multiple", "integer", "decimal", "text", "date", "note", "rating", "grid", "ranking", "group",
}  # fmt: skip
_CODED = {"choices", "bins", "rows"}  # what is named there may be a number
_KINDS = _ITEMS | {"value", "answer", "sent", "apply"}  # pydantic names the member of a union that it tried


def located(problems: Iterable[Problem], places: Mapping[str, Place]) -> list[Problem]:
    """The problems with their places in the sheets, each that of the longest beginning of its path."""
    return [each if each.place else replace(each, place=_place(each.path, places)) for each in problems]


def _place(path: str, places: Mapping[str, Place]) -> Place | None:
    while path and path not in places:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return places.get(path)
