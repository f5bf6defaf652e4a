"""``naysay query``: how many people of a released file a condition describes, with the error of the randomization."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from numpy.typing import NDArray

from naysay import _checks, crosstab, files
from naysay.collect.questionnaire.expressions import Answer, Apply, Expression, Value, has_order, parse_expression
from naysay.console import options, output
from naysay.console.output import takes
from naysay.crosstab import Variable
from naysay.errors import DataError

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FORM = "a condition compares a column with a value, such as age < 30, and joins comparisons by and, or, not()"
_MOST_NAMED = 200  # values of a plain column among which a misspelled one is sought
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class QueryOptions:
    """The options of ``naysay query``."""

    file: options.File
    condition: Annotated[
        str,
        typer.Argument(metavar="CONDITION", help="Such as 'age < 30 and income = low'; texts with blanks in quotes."),
    ]
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False


@dataclass(frozen=True)
class Comparison:
    """A column, a sign and a value.

    Parameters
    ----------
    column : str
    sign : {"=", "!=", "<", "<=", ">", ">="}
    value : bool, int, float or str
    """

    column: str
    sign: str
    value: bool | float | str


@takes(QueryOptions)
def command(request: QueryOptions) -> None:
    """Count the people of a file whom a condition describes. Some columns may be randomized.

    FILE is what naysay randomize wrote, or the export of a survey: the designs lie beside it. Columns without a design
    are filters. Each record counts as one: weights do not enter. The count is unbiased; its interval is that of the
    randomization alone, for the file is fixed. A count below 0 is chance, and is shown. A condition compares columns
    with values by = != < <= > >=, and joins comparisons by and, or, not(). Categories that are no numbers are ordered
    as their design lists them. A name that is no word stands in ${…}, a value that is none in quotes.

    \b
    Examples:
      naysay query release.csv "age < 30 and income = low"
      naysay query release.csv "not(income = low or income = none)" --format json
      naysay query release.csv "income >= middle and smoker = yes"
    """
    _checks.confidence(request.confidence)
    expression = parse_expression(request.condition, words=True)
    frame = files.scan(request.file, separator=request.separator, encoding=request.encoding, codes=request.codes)
    randomizations = files.designs_of(request.file, codes=request.codes)
    with files.readable(request.file):
        columns = frame.collect_schema().names()
        named_columns = list(dict.fromkeys(comparison.column for comparison in _comparisons(expression, columns)))
        variables = [
            randomized_variable(request.file, name, randomizations[name])
            for name in named_columns
            if name in randomizations
        ]
        plain_columns = [name for name in named_columns if name not in randomizations]
        needed_columns = [*named_columns, *(variable.level for variable in variables if variable.level is not None)]
        table = files.as_text(frame.select(list(dict.fromkeys(needed_columns))), needed_columns).collect()
    if not randomizations:
        output.note(f"no designs lie beside {request.file.name!r}: every column is counted as it is")
    orders: dict[str, tuple[str, ...]] = {}
    readings = {
        comparison: _reading(comparison, table[comparison.column], variables, orders)
        for comparison in _comparisons(expression, columns)
    }
    remarks = [f"{name} is ordered {' < '.join(labels)}" for name, labels in orders.items()]
    result = crosstab.count(
        table,
        lambda **cells: _described(expression, readings, cells, columns),
        randomized=variables,
        plain=plain_columns,
        confidence=request.confidence,
        text=request.condition.strip(),
        remark="; ".join(remarks),
    )
    output.result_and_remarks(result, request.format_)


def randomized_variable(file: Path, name: str, randomization: files.Asked) -> Variable:
    """The column with the design that lies beside the file; refused if more than its level is needed to read it."""
    if randomization.beside or randomization.sample or randomization.arms or randomization.design.space.answers > 1:
        raise DataError(
            f"column {name!r} of {file.name!r} belongs to a question with samples, controls or several answers; "
            "use naysay estimate",
            column=name,
        )
    return Variable(name, randomization.design, randomization.level)


def _comparison(node: Apply, columns: Collection[str]) -> Comparison:
    """The comparison that one node of an expression is."""
    left, right = node.args
    sign: str = node.op
    names_column = [isinstance(side, Answer) and side.of in columns for side in (left, right)]
    if isinstance(left, Value) or (isinstance(left, Answer) and names_column == [False, True]):
        left, right, sign = right, left, _MIRRORED.get(sign, sign)
    if not isinstance(left, Answer) or not isinstance(right, Answer | Value):
        raise DataError(_FORM)
    if left.of not in columns:
        raise DataError(_checks.no_column(left.of, list(columns)), column=left.of)
    if isinstance(right, Value):
        return Comparison(left.of, sign, right.value)
    if right.of in columns:
        raise DataError(
            f"{left.of} {sign} {right.of} compares two columns, and a condition compares a column with a value; "
            f"if {right.of!r} is a value here, write it in quotes"
        )
    return Comparison(left.of, sign, right.of)


def _comparisons(expression: Expression, columns: Collection[str]) -> Iterator[Comparison]:
    """The comparisons of a condition, from left to right."""
    if not isinstance(expression, Apply):
        if isinstance(expression, Answer) and expression.of not in columns:
            raise DataError(_checks.no_column(expression.of, list(columns)), column=expression.of)
        raise DataError(f"{_FORM}; {_shown(expression)!r} stands alone")
    if expression.op in _SIGNS:
        yield _comparison(expression, columns)
    elif expression.op in ("and", "or", "not"):
        for part in expression.args:
            yield from _comparisons(part, columns)
    else:
        raise DataError(f"{_FORM}; got {expression.op!r}")


def _shown(expression: Expression) -> object:
    return expression.of if isinstance(expression, Answer) else getattr(expression, "value", expression)


def _described(
    expression: Expression,
    readings: Mapping[Comparison, Callable[[NDArray[Any]], Bools]],
    cells: Mapping[str, NDArray[Any]],
    columns: Collection[str],
) -> Bools:
    """Whether the condition holds, for arrays of cells by column."""
    if not isinstance(expression, Apply):  # `_comparisons` has refused it before
        raise DataError(_FORM)
    if expression.op in _SIGNS:
        comparison = _comparison(expression, columns)
        return readings[comparison](cells[comparison.column])
    parts = [_described(part, readings, cells, columns) for part in expression.args]
    if expression.op == "not":
        return ~parts[0]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part if expression.op == "and" else joined | part
    return joined


def _reading(
    comparison: Comparison, cells: pl.Series, variables: Collection[Variable], orders: dict[str, tuple[str, ...]]
) -> Callable[[NDArray[Any]], Bools]:
    """What a comparison says of each cell of its column; notes in `orders` which categories were taken as ordered."""
    column, compare, value = comparison.column, _SIGNS[comparison.sign], comparison.value
    variable = next((variable for variable in variables if variable.column == column), None)
    is_order = comparison.sign not in ("=", "!=")
    labels = (
        tuple(map(str, variable.labels))
        if variable is not None
        else tuple(map(str, cells.drop_nulls().unique().sort()))
    )
    value_text = f"{value:g}" if isinstance(value, float) else str(value)
    number = _number(value_text)
    if labels and number is not None and all(_number(label) is not None for label in labels):
        if variable is not None and not is_order and number not in map(_number, labels):
            raise _unknown(column, value_text, labels)
        number_of = {label: _number(label) for label in labels}
        return lambda array: _each(array, lambda label: compare(number_of[str(label)], number))
    if is_order and variable is not None:
        if value_text not in labels:
            raise _unknown(column, value_text, labels)
        orders[column] = labels
        place_of, place = {label: place for place, label in enumerate(labels)}, labels.index(value_text)
        return lambda array: _each(array, lambda label: compare(place_of[str(label)], place))
    if is_order:
        unordered = next(
            (label for label in (*labels, value_text) if not has_order(label) or _number(label) is not None), None
        )
        if unordered is not None:
            raise DataError(
                f"{column!r} {comparison.sign} {value_text!r} compares numbers, or days such as '2026-11-28', and "
                f"{unordered!r} is none; compare by = or !=",
                column=column,
                value=unordered,
            )
        return lambda array: _each(array, lambda label: compare(str(label), value_text))
    if value_text not in labels:
        raise _unknown(column, value_text, labels[:_MOST_NAMED])
    return lambda array: _each(array, lambda label: compare(str(label), value_text))


def _each(array: NDArray[Any], holds: Callable[[object], bool]) -> Bools:
    distinct, places = np.unique(array.astype(str), return_inverse=True)
    return np.array([holds(label) for label in distinct], dtype=bool)[places].reshape(array.shape)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _unknown(column: str, value: str, labels: tuple[str, ...]) -> DataError:
    return DataError(
        f"column {column!r} never holds {value!r}; {_checks.nearest(value, labels)}", column=column, value=value
    )
