"""The variables of a crosstab: columns of answers, each with its design, or plain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, designs
from naysay.design import Answerable
from naysay.design.base import check_known
from naysay.designs.catalog import YES_NO
from naysay.errors import DataError
from naysay.responses import JOINER
from naysay.responses.spaces import MISSING
from naysay.tally import Channel, Part, Tally

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

MOST_CELLS = 1_000
"""Cells of a table, beyond which its covariance and its likelihood take long."""

PLAIN: Final = "plain"
"""What stands in place of a design where answers were not randomized."""

_MOST_PLAIN = 200  # values of a plain column, beyond which it is no variable of categories


@dataclass(frozen=True)
class Variable:
    """A column of a crosstab.

    Parameters
    ----------
    column : str
        The answers.
    design : Design, Levels, Samples or "plain", optional
        How they were randomized; "plain" says that they were not. Without it the column is read as it is, unless its
        answers are those of a randomized question.
    level : str, optional
        The column of the levels that respondents chose, or of the samples that they were in.
    categories : sequence of label, optional
        Of a plain column; by default the values that it holds, in order.
    scores : sequence of float, optional
        A number for each category, for correlations. By default 1 and 0 for two categories, and the numbers themselves
        where all categories are numbers.
    controls : sequence of str
        The columns of the answers to its controls, in the order of a design that was `controlled`; `level` is then the
        column of the truths, where these differ between people.

    Examples
    --------
    >>> from naysay import designs
    >>> Variable("cheated", designs.warner(p=0.8)).numbers
    (1.0, 0.0)
    """

    column: str
    design: Answerable | Literal["plain"] | None = None
    level: str | None = None
    categories: Sequence[Any] | None = None
    scores: Sequence[float] | None = None
    controls: Sequence[str] = ()

    def __post_init__(self) -> None:
        structure = getattr(self.design, "structure", None)
        if structure is not None and structure.estimates == "heavy_hitters":
            raise DataError(
                f"{self.known.name} of column {self.column!r} has no list of categories; find its values with "
                "naysay heavy-hitters",
                column=self.column,
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of answers: to the question, then to its controls."""
        return (self.column, *self.controls)

    @property
    def plain(self) -> bool:
        """Whether the answers are the categories themselves, by a column without a design."""
        return self.design is None or self.design == PLAIN

    @property
    def known(self) -> Answerable:
        """The design; that of a plain column is direct, once its categories are known."""
        if self.design is None or self.design == PLAIN:
            return designs.direct(self.labels)
        return self.design

    @property
    def labels(self) -> tuple[Any, ...]:
        """The categories."""
        if self.design is None or self.design == PLAIN:
            return tuple(self.categories or ())
        return self.design.categories

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """A number for each category; None where nothing orders them."""
        if self.scores is not None:
            return tuple(map(float, self.scores))
        try:
            label_numbers = tuple(float(str(label)) for label in self.labels)
        except ValueError:
            label_numbers = (math.nan,)
        if all(map(math.isfinite, label_numbers)):
            return label_numbers
        return (1.0, 0.0) if len(self.labels) == 2 else None


def as_variable(name_or_variable: Variable | str) -> Variable:
    """The variable itself; a name is that of a column that is read as it is."""
    if isinstance(name_or_variable, Variable):
        if isinstance(name_or_variable.design, str) and name_or_variable.design != PLAIN:
            raise DataError(
                f"the design of {name_or_variable.column!r} must be a design or 'plain'; "
                f"got {name_or_variable.design!r}"
            )
        return name_or_variable
    if not isinstance(name_or_variable, str):
        raise DataError(f"a variable is a column's name or a Variable; got {type(name_or_variable).__name__}")
    return Variable(name_or_variable)


def check_variables(
    variables: Sequence[Variable], data: IntoFrame | Mapping[str, Iterable[object]]
) -> tuple[Variable, ...]:
    """The variables with the categories of plain columns, after a look at all that a table of them cannot be."""
    variables = known_variables(variables, data)
    cell_count = math.prod(len(variable.known.cells) for variable in variables)
    if cell_count > MOST_CELLS:
        sizes = " × ".join(str(len(variable.known.cells)) for variable in variables)
        raise DataError(
            f"a crosstab has at most {MOST_CELLS:,} cells, and {sizes} = {cell_count:,}; merge categories, or leave a "
            "variable out"
        )
    return tuple(variables)


def known_variables(
    variables: Sequence[Variable], data: IntoFrame | Mapping[str, Iterable[object]]
) -> tuple[Variable, ...]:
    """The variables with the categories of plain columns, after a look at all that cannot be crossed."""
    column_names = [column for variable in variables for column in variable.columns]
    # the column of levels may be that of two
    column_names += dict.fromkeys(variable.level for variable in variables if variable.level is not None)
    repeated_column = _checks.repeated(column_names)
    if repeated_column is not None:
        raise DataError(
            f"column {repeated_column!r} is named twice; a crosstab needs different columns", column=repeated_column
        )
    with_categories = tuple(_with_categories(variable, data) for variable in variables)
    for variable in with_categories:
        _check(variable)
        if variable.design is None:
            _check_plain(variable, with_categories)
    return with_categories


def _check_plain(variable: Variable, variables: Sequence[Variable]) -> None:
    """Raise if the answers of a column whose design nobody named are those that a randomized question has.

    Answers that were randomized, read as they are, look less related than they were; nothing in the file would say so.
    """
    randomized_variables = [other_variable for other_variable in variables if not other_variable.plain]
    answer_labels = {_checks.label(label).casefold() for label in variable.labels}
    labels_by_column = {
        other_variable.column: {_checks.label(label).casefold() for label in other_variable.labels}
        for other_variable in randomized_variables
    }
    similar_column = next(
        (column for column, column_labels in labels_by_column.items() if answer_labels == column_labels), None
    )
    if (
        similar_column is None
        and answer_labels != set(YES_NO)
        and not any(JOINER in answer for answer in answer_labels)
    ):
        return
    similar_text = f"those of {similar_column!r}" if similar_column is not None else "those of a randomized question"
    raise DataError(
        f"column {variable.column!r} has no design, and its answers, {_checks.listing_text(variable.labels)}, are "
        f"{similar_text}; name its design, or say that it was not randomized: --column-design plain, "
        "Variable(column, 'plain')",
        column=variable.column,
    )


def _check(variable: Variable) -> None:
    design = variable.known
    check_known(design, "a crosstab")
    if design.space.answers != len(variable.columns):
        raise DataError(
            f"column {variable.column!r}: a variable has one column of answers, and a design of one question; of a "
            f"controlled question it has one column more for each control (controls=, --row-control), and this design "
            f"needs {design.space.answers} in all; got {_checks.listing_text(variable.columns)}",
            column=variable.column,
        )
    if design.offer.names_needed and variable.level is None:
        raise DataError(
            f"{design.name or design.kind} needs the column of the levels or samples of {variable.column!r}, level=",
            column=variable.column,
        )
    if not design.offer.names_needed and variable.level is not None:
        raise DataError(
            f"{design.name or design.kind} has no levels; leave the level of {variable.column!r} out",
            column=variable.column,
        )
    if variable.scores is not None and (
        len(variable.scores) != len(variable.labels)
        or not all(map(math.isfinite, variable.scores))
        or len(set(variable.scores)) < 2
    ):
        raise DataError(
            f"scores of {variable.column!r} must be {len(variable.labels)} numbers, one for each category, not all "
            f"alike; got {_checks.listing_text(variable.scores)}",
            column=variable.column,
        )


def _with_categories(variable: Variable, data: IntoFrame | Mapping[str, Iterable[object]]) -> Variable:
    if not variable.plain:
        if variable.categories is not None:
            raise DataError(f"the design of {variable.column!r} names its categories; leave categories out")
        return variable
    category_values = tuple(variable.categories) if variable.categories is not None else _values(data, variable.column)
    if len(category_values) < 2:
        column_text = f"holds only {_checks.listing_text(category_values)}" if category_values else "holds no answer"
        raise DataError(
            f"a variable needs two categories at least; column {variable.column!r} {column_text}",
            column=variable.column,
        )
    return Variable(
        variable.column,
        variable.design,
        variable.level,
        _checks.categories(category_values),
        variable.scores,
        variable.controls,
    )


def _values(data: IntoFrame | Mapping[str, Iterable[object]], column: str) -> tuple[Any, ...]:
    """The different values of a plain column, in order."""
    frame = nw.from_native(pl.DataFrame(data, strict=False) if isinstance(data, Mapping) else data)
    column_names = frame.collect_schema().names()
    if column not in column_names:
        raise DataError(_checks.no_column(column, column_names), column=column)
    distinct_rows: Any = frame.select(column).unique()
    distinct_rows = distinct_rows.collect() if isinstance(distinct_rows, nw.LazyFrame) else distinct_rows
    values = [value for value in distinct_rows[column].to_list() if not _checks.is_missing(value)]
    if len(values) > _MOST_PLAIN:
        raise DataError(
            f"column {column!r} holds {len(values):,} different values, too many for categories; put them into classes "
            f"first, or name its design",
            column=column,
        )
    return tuple(sorted(values, key=_place))


def _place(value: object) -> tuple[bool, float, str]:
    """Numbers by size, before texts by their letters."""
    try:
        return False, float(value), str(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return True, 0.0, str(value)


def check_margin(place: int, variable: Variable, tally: Tally) -> None:
    """Raise where a question was answered by nobody, or where nobody is in a category of a plain column."""
    answer_codes = (first_words(part)[part.weight > 0, place].tolist() for part in tally.parts)
    answered_codes = {code for part_codes in answer_codes for code in part_codes} - {MISSING}
    if not answered_codes:
        raise DataError(
            f"nobody answered {variable.column!r}; a crosstab needs answers to each of its questions",
            column=variable.column,
        )
    unanswered_labels = (
        [label for answer_code, label in enumerate(variable.labels) if answer_code not in answered_codes]
        if variable.plain
        else []
    )
    if unanswered_labels:
        raise DataError(
            f"an empty margin: nobody answered {_checks.listing_text(unanswered_labels)} in column "
            f"{variable.column!r}, which is not randomized; leave such categories out",
            column=variable.column,
            value=unanswered_labels[0],
        )


def question_ends(design: Channel) -> NDArray[np.int64]:
    """Where the words of each question begin in a joint answer, and where the last ends, (variables + 1,)."""
    crossed: Any = design
    return np.cumsum([0, *(factor.space.width for factor in crossed.factors)])


def first_words(part: Part) -> NDArray[np.int64]:
    """The first word of the answer to each question, (distinct, variables); `MISSING` where it was left out."""
    return part.codes[:, question_ends(part.design)[:-1]]


def answered_alike(tally: Tally, place: int) -> bool:
    """Whether everybody who answered one question gave the same answer, at every level."""
    for part in tally.parts:
        start, end = question_ends(part.design)[place : place + 2]
        question_answers = part.codes[part.weight > 0, start:end]
        if part.n and len(np.unique(question_answers[question_answers[:, 0] != MISSING], axis=0)) > 1:
            return False
    return True
