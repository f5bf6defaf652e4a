"""Questions that are answered by choosing: one, several, all in order, or one for each row."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from naysay import _checks
from naysay.errors import DataError
from naysay.questionnaire.kinds.base import (
    YES_NO,
    Choice,
    Code,
    Label,
    Private,
    Question,
    Row,
    RowCells,
    Sheets,
    described,
    names_of,
    quoted,
)
from naysay.questionnaire.kinds.values import likert
from naysay.questionnaire.problems import Problem
from naysay.responses import JOINER

_MOST_RANKED = 20
_ANSWERS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class _Choosing(Question):
    """A question with a list of choices."""

    if TYPE_CHECKING:  # each kind declares this field: declared here, it would come before `kind` in JSON
        choices: tuple[Choice, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the choices."""
        return names_of(self.choices)

    def flaws(self, path: str) -> Iterator[Problem]:
        if len(self.choices) < 2:
            message = f"at least two choices are needed; got {len(self.choices)}"
            yield Problem("choices", message, "", "add choices", path=f"{path}.choices")


def _names_in_cell(cell: Any) -> Any:
    """Several names in one cell, ``a;b`` or a list."""
    if isinstance(cell, str):
        return [name.strip() for name in cell.split(JOINER)]
    return list(cell) if isinstance(cell, Sequence | set | frozenset) else cell


class SelectOne(_Choosing):
    """One of several choices.

    Parameters
    ----------
    right : str, optional
        The name of the right choice: the question then checks whether respondents have understood. Its answer is plain
        and is counted like any other. It cannot be changed, because the page then says what is right.
    explanation : {language: text}
        What the page says after the answer.

    Examples
    --------
    >>> sizes = tuple(Choice(name=name, label={"en": name}) for name in ("small", "large"))
    >>> SelectOne(name="size", label={"en": "Which size?"}, choices=sizes).private is None
    True
    """

    kind: Literal["select_one"] = "select_one"
    choices: tuple[Choice, ...]
    private: Private | None = None
    right: Code | None = Field(None, exclude_if=operator.not_)
    explanation: Label = Field({}, exclude_if=operator.not_)

    stored: ClassVar[type] = str
    types: ClassVar[tuple[str, ...]] = ("select_one", "select one")
    listed: ClassVar[bool] = True
    categories_in: ClassVar[str] = "choices"
    fields: ClassVar[Mapping[str, str]] = {"right": "naysay_right", "explanation": "naysay_explanation"}

    def complaint(self, value: Any) -> str | None:
        is_choice = isinstance(value, str) and value in self.names
        return None if is_choice else "must be the name of one of its choices"

    @property
    def longest(self) -> int:
        return max((quoted(name) for name in self.names), default=0)

    def value_of(self, cell: Any) -> Any:
        return cell

    def draw(self, rng: np.random.Generator) -> Any:
        return str(rng.choice(self.names))

    @classmethod
    def of_row(cls, row: Row) -> dict[str, Any]:
        question_fields = super().of_row(row)
        rating = likert(row, question_fields["choices"]) if "likert" in row.text("appearance").lower() else None
        check_fields = {"right": row.text("naysay_right"), "explanation": row.label("naysay_explanation")}
        return rating or question_fields | {name: content for name, content in check_fields.items() if content}

    def written(self, sheets: Sheets) -> list[RowCells]:
        (row,) = super().written(sheets)
        return [row | {"right": self.right or "", "explanation": self.explanation}]

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        choice_names = _checks.listing_text(self.names)
        if self.right is None and self.explanation:
            message, way_out = "an explanation must belong to a choice that is right", "name the choice in right"
            yield Problem("understanding", message, "", way_out, path=f"{path}.explanation")
        elif self.right is not None and self.private is not None:
            message = "a question that checks what respondents have understood must not be private"
            reason = "it is counted answer by answer"
            yield Problem("understanding", message, reason, "take the design or right away", path=f"{path}.right")
        elif self.right is not None and self.right not in self.names:
            message = f"the right choice must be one of {choice_names}; got {self.right!r}"
            yield Problem("understanding", message, "", "write its name", path=f"{path}.right")


class SelectMultiple(_Choosing):
    """Any of several choices. If it is private, each choice is a yes-or-no answer of its own.

    Examples
    --------
    >>> papers = tuple(Choice(name=name, label={"en": name}) for name in ("Times", "Post"))
    >>> SelectMultiple(name="papers", label={"en": "Which do you read?"}, choices=papers).kind
    'select_multiple'
    """

    kind: Literal["select_multiple"] = "select_multiple"
    choices: tuple[Choice, ...]
    private: Private | None = None

    stored: ClassVar[type] = list
    types: ClassVar[tuple[str, ...]] = ("select_multiple", "select multiple")
    listed: ClassVar[bool] = True
    categories_in: ClassVar[str] = "choices"

    @property
    def parts(self) -> tuple[str, ...]:
        return self.names

    @classmethod
    def categories_of(cls, names: Sequence[str]) -> tuple[str, ...]:
        return YES_NO

    def category_of(self, value: Any) -> Any:
        return {name: YES_NO[name not in value] for name in self.parts}

    def complaint(self, value: Any) -> str | None:
        in_order = isinstance(value, list) and value == [name for name in self.parts if name in value]
        return None if in_order else "must be a list of its choices, each once, in their order"

    @property
    def longest(self) -> int:
        return 2 + sum(quoted(name) + 1 for name in self.parts)

    def value_of(self, cell: Any) -> Any:
        """The choices that apply, in their order."""
        if isinstance(cell, Mapping):
            answer_of_choice = {name: _yes(cell.get(name)) for name in self.parts}
            if all(answer is None for answer in answer_of_choice.values()):
                return None
            if None in answer_of_choice.values():
                raise DataError("must say yes or no (1 or 0) for every choice, or for none of them")
            return [name for name in self.parts if answer_of_choice[name]]
        chosen_names = _names_in_cell(cell)
        if (
            isinstance(chosen_names, list)
            and set(map(str, chosen_names)) <= set(self.parts)
            and len(set(chosen_names)) == len(chosen_names)
        ):
            return [name for name in self.parts if name in chosen_names]
        return chosen_names

    def draw(self, rng: np.random.Generator) -> Any:
        return [name for name in self.parts if rng.random() < 0.5]

    def flaws(self, path: str) -> Iterator[Problem]:
        if not self.choices:
            yield Problem("choices", "at least one choice is needed", "", "add choices", path=f"{path}.choices")


def _yes(cell: Any) -> bool | None:
    if _checks.is_missing(cell):
        return None
    answer = _ANSWERS.get(str(cell).strip().lower().removesuffix(".0"))
    if answer is None:
        raise DataError(f"must be yes or no (1 or 0); it is {described(cell)}")
    return answer


class Grid(_Choosing):
    """Several statements judged on one scale: a choice for each row.

    Examples
    --------
    >>> rows = tuple(Choice(name=name, label={"en": name}) for name in ("state", "press"))
    >>> scale = tuple(Choice(name=name, label={"en": name}) for name in ("trust", "distrust"))
    >>> Grid(name="trust", label={"en": "Do you trust"}, rows=rows, choices=scale).parts
    ('state', 'press')
    """

    kind: Literal["grid"] = "grid"
    rows: tuple[Choice, ...]
    choices: tuple[Choice, ...]

    stored: ClassVar[type] = str
    types: ClassVar[tuple[str, ...]] = ()  # in an XLSForm it is a group, see `naysay.questionnaire.xlsform.reading`
    comparable: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[str, ...]:
        return names_of(self.rows)

    def empty(self, value: Any) -> bool:
        return value is None or None in value.values()

    def complaint(self, value: Any) -> str | None:
        allowed_names = {*self.names, None}  # rows in any order: JavaScript moves names such as "1" to the front
        has_all_rows = isinstance(value, dict) and value.keys() == set(self.parts)
        if has_all_rows and all(
            isinstance(choice_name, str | None) and choice_name in allowed_names for choice_name in value.values()
        ):
            return None
        return "must be an object of all its rows, each with the name of a choice or null"

    @property
    def longest(self) -> int:
        longest_name = max((quoted(name) for name in self.names), default=0)
        return 2 + sum(quoted(row) + 2 + max(4, longest_name) for row in self.parts)

    def columns(self, values: Sequence[Any]) -> dict[str, list[Any]]:
        return {f"{self.name}/{row}": [value and value[row] for value in values] for row in self.parts}

    def value_of(self, cell: Any) -> Any:
        if not isinstance(cell, Mapping):
            return cell
        choice_of_row = {name: None if _checks.is_missing(cell.get(name)) else cell[name] for name in self.parts}
        return None if all(choice_name is None for choice_name in choice_of_row.values()) else choice_of_row

    def draw(self, rng: np.random.Generator) -> Any:
        return {row: str(rng.choice(self.names)) for row in self.parts}

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        if not self.rows:
            yield Problem("choices", "a grid must have rows", "", "add rows", path=f"{path}.rows")

    def written(self, sheets: Sheets) -> list[RowCells]:
        if self.constraint is not None:
            raise DataError(
                f"XLSForm has no constraint on a grid, as {self.name!r} has; keep this questionnaire as JSON"
            )
        kind = f"select_one {sheets.list_of(self.name, self.choices)}"
        required = "yes" if self.required else ""
        rows = [{"type": kind, "name": row.name, "label": row.label, "required": required} for row in self.rows]
        first = {"type": "begin_group", "required": "", "appearance": "table-list"}
        return [first, *rows, {"type": "end_group"}]


class Ranking(_Choosing):
    """All choices, put in order.

    Examples
    --------
    >>> aims = tuple(Choice(name=name, label={"en": name}) for name in ("schools", "roads"))
    >>> Ranking(name="aims", label={"en": "What comes first?"}, choices=aims).kind
    'ranking'
    """

    kind: Literal["ranking"] = "ranking"
    choices: tuple[Choice, ...]

    stored: ClassVar[type] = list
    types: ClassVar[tuple[str, ...]] = ("rank",)
    listed: ClassVar[bool] = True

    def complaint(self, value: Any) -> str | None:
        is_text_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
        is_complete = is_text_list and sorted(value) == sorted(self.names)
        return None if is_complete else "must be a list of all its choices, each once"

    @property
    def longest(self) -> int:
        return 2 + sum(quoted(name) + 1 for name in self.names)

    def value_of(self, cell: Any) -> Any:
        return _names_in_cell(cell)

    def draw(self, rng: np.random.Generator) -> Any:
        return rng.permutation(self.names).tolist()

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        if len(self.choices) > _MOST_RANKED:
            message = f"at most {_MOST_RANKED} choices can be ranked; got {len(self.choices)}"
            yield Problem("choices", message, "nobody orders more", "leave some out", path=f"{path}.choices")
