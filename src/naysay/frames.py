"""Tallies of dataframe columns, computed by the engine that holds them.

The engine groups and adds, lazily if it is lazy. Only distinct answers and their totals reach Python. The code uses
only narwhals operations that all engines support.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._checks import group_order, whole
from naysay._counts import Asked, Tally
from naysay.errors import AnswerError, DataError, in_group
from naysay.responses import JOINER, Responses, cells_of
from naysay.sampling import Rows, Sampling, distinct

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

__all__ = ["is_frame", "located", "tally_frame"]

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
"""A dataframe of any engine, eager or lazy."""

_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)
_N, _W, _W2 = "__naysay_n", "__naysay_w", "__naysay_w2"
_MARKS, _SPREADS, _BUCKETS = 2014, (1e6 + 3, 1e6 * np.e, 1e6 * np.pi), 4  # any numbers that share no factor


class _Totals(NamedTuple):
    """Rows of totals, as the engine returned them; each has its answer and its group among the distinct ones.

    Where every person weighs differently there are as many rows as people, so nothing is looked at row by row.
    """

    answers: list[tuple[Any, ...]]
    levels: list[tuple[Any, ...]] | None
    answer: NDArray[np.intp]
    groups: list[Any]
    group: NDArray[np.intp]
    people: NDArray[np.int64]
    weight: NDArray[np.float64]
    squared: NDArray[np.float64]
    rows: Rows | None


def is_frame(data: object) -> TypeGuard[IntoFrame]:
    """Whether narwhals accepts `data` as a dataframe, eager or lazy."""
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def tally_frame(
    asked: Asked,
    data: object,
    column: str | Sequence[str],
    *,
    level: object,
    weights: object,
    sampling: Sampling | None,
    count: object,
    by: object,
    sums: bool | None = None,
) -> Tally | dict[Any, Tally]:
    """The tally of a column of `data`, or with `by` one tally for each group."""
    frame = _frame_of(data)
    schema = frame.collect_schema()

    def columns_named(names: object) -> list[str]:
        """One column or several, all of which the frame has."""
        checked_names = []
        for name in names if isinstance(names, Iterable) and not isinstance(names, str) else [names]:
            if not isinstance(name, str):
                raise DataError(f"with a frame, name a column for everything; got {type(name).__name__}")
            if name not in schema.names():
                raise DataError(_checks.no_column(name, schema.names()), column=name)
            checked_names.append(name)
        return checked_names

    answer_columns = columns_named(column)
    group_columns = [] if by is None else columns_named(by)
    level_columns = [] if level is None else columns_named(level)
    if level_columns and asked.levels == (None,):
        raise DataError(
            "this design offers no levels; leave `level` out or use negative_levels()", column=level_columns[0]
        )
    weights = weights if sampling is None else sampling.weights
    weight_column, count_column = (None if name is None else columns_named([name])[0] for name in (weights, count))
    if sampling is not None:
        columns_named(sampling.columns)
    # Boolean columns, one for each category: put them in the order of the labels.
    if asked.space.answers == 1 and len(answer_columns) > 1:
        label_texts = [str(label) for label in asked.space.labels]
        answer_columns = label_texts if set(answer_columns) == set(label_texts) else answer_columns
    for column_name in answer_columns:
        if isinstance(schema[column_name], nw.List | nw.Array) or schema[column_name] == nw.Object:
            frame = _join_lists(frame, column_name)
    totals = _totals(
        frame,
        answer_columns,
        levels=level_columns,
        weights=weight_column,
        sampling=sampling,
        count=count_column,
        groups=group_columns,
    )
    question = column if isinstance(column, str) else " × ".join(answer_columns) if asked.space.answers > 1 else None
    tallies = {}
    if not len(totals.group):
        raise DataError("at least one answer is needed; the data has no rows")
    group_places = sorted(range(len(totals.groups)), key=lambda group_place: group_order(totals.groups[group_place]))
    for group, members in groupby(group_places, key=lambda group_place: totals.groups[group_place]):
        group_rows = np.flatnonzero(np.isin(totals.group, list(members)))
        try:
            with in_group(group):
                distinct_answers, answer_places = np.unique(totals.answer[group_rows], return_inverse=True)
                tallies[group] = Tally.of(
                    asked,
                    _encode_rows(asked, totals, distinct_answers).take(answer_places),
                    totals.people[group_rows],
                    (totals.weight[group_rows], totals.squared[group_rows]),
                    weighted=weights is not None or sampling is not None,
                    question=question,
                    rows=None if totals.rows is None else (totals.rows, group_rows),
                    sums=sums,
                )
        except AnswerError as error:
            first_error, bad_row = _first_bad(asked, totals, _first_rows(frame, [*answer_columns, *level_columns]))
            raise located(first_error or error, answer_columns, level_columns, row=bad_row) from None
    return tallies if group_columns else tallies[None]


def _frame_of(data: object) -> Frame:
    """The frame that narwhals makes of it; of a mapping of columns, in which sets become lists."""
    if not isinstance(data, Mapping):
        return nw.from_native(data)
    plain_columns = {
        name: [list(cell) if isinstance(cell, set | frozenset | tuple) else cell for cell in cells_of(cells)]
        for name, cells in data.items()
    }
    return nw.from_native(pl.DataFrame(plain_columns, strict=False))


def _join_lists(frame: Frame, name: str) -> Frame:
    """The frame with a column of lists joined into ``;`` texts; every engine can group by text."""
    native_frame = frame.to_native()
    if isinstance(native_frame, pl.DataFrame | pl.LazyFrame):
        list_column = pl.col(name).cast(pl.List(pl.String))
        empty_text = pl.when(list_column.list.len() == 0).then(pl.lit(JOINER))
        joined_frame = native_frame.with_columns(empty_text.otherwise(list_column.list.join(JOINER)).alias(name))
        return _frame_of(joined_frame)
    if type(native_frame).__name__ == "DuckDBPyRelation":
        quoted_name = '"' + name.replace('"', '""') + '"'
        sql_expression = f"CASE WHEN len({quoted_name}) = 0 THEN ';' ELSE array_to_string({quoted_name}, ';') END"
        return _frame_of(native_frame.project(f"* REPLACE ({sql_expression} AS {quoted_name})"))
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"column {name!r} holds lists, which this engine cannot group; join them into texts such as 'a;b' first",
            column=name,
        )
    column_cells = frame[name].to_list()
    if not any(isinstance(list_cell, _COLLECTIONS) for list_cell in column_cells):
        return frame
    cell_texts = [
        JOINER.join(map(str, cell)) or JOINER
        if isinstance(cell, _COLLECTIONS)
        else None
        if _checks.is_missing(cell) and not isinstance(cell, str)
        else str(cell)
        for cell in column_cells
    ]
    return frame.with_columns(nw.new_series(name, cell_texts, nw.String, backend=frame.implementation))


def _totals(
    frame: Frame,
    answers: Sequence[str],
    *,
    levels: Sequence[str],
    weights: str | None,
    sampling: Sampling | None,
    count: str | None,
    groups: Sequence[str],
) -> _Totals:
    key_columns = list(dict.fromkeys([*answers, *levels, *groups]))
    if sampling is not None:
        _check_sampling(frame, sampling)
        # Where each person is a unit of its own, people with equal weights can be added up: group by weight too.
        is_one_person = sampling.clusters is None and sampling.replicates is None
        key_columns = list(
            dict.fromkeys(
                [*key_columns, *sampling.labels, *([weights] if weights is not None and is_one_person else [])]
            )
        )
    if count is not None:
        check_amounts(frame, count, "counts")
    people_per_row = nw.lit(1.0) if count is None else nw.col(count).cast(nw.Float64)
    sum_columns = {_N: people_per_row}
    if weights is not None:
        check_amounts(frame, weights, "weights")
        weight_column = nw.col(weights).cast(nw.Float64)
        sum_columns |= {_W: weight_column * people_per_row, _W2: weight_column * weight_column * people_per_row}
    if sampling is not None:
        sum_columns |= {
            f"{_W}_{column_name}": nw.col(column_name).cast(nw.Float64) * people_per_row
            for column_name in sampling.replicate_columns
        }
    # Sum a column of ones instead of counting rows: engines do not agree on how to write a length inside `agg`.
    frame = frame.with_columns(**sum_columns)
    total_columns = _cells(frame.group_by(key_columns).agg(*(nw.col(sum_name).sum() for sum_name in sum_columns)))
    cells_by_key = {key: _Cells.of(total_columns[key], number=key == weights) for key in key_columns}
    row_order = np.lexsort([cells_by_key[key].place for key in reversed(key_columns)])
    sorted_columns = {
        sum_name: np.asarray(column_values)[row_order]
        for sum_name, column_values in total_columns.items()
        if sum_name not in cells_by_key
    }
    sorted_columns |= {
        key_name: key_cells.values[key_cells.place[row_order]] for key_name, key_cells in cells_by_key.items()
    }
    people_sums = np.asarray(sorted_columns[_N], dtype=np.float64)
    weight = np.asarray(sorted_columns[_W], dtype=np.float64) if weights is not None else people_sums
    first_rows, answer_places = _combine_places([cells_by_key[key].place[row_order] for key in (*answers, *levels)])
    of_groups = [cells_by_key[key].place[row_order] for key in groups] or [np.zeros(len(row_order), dtype=np.intp)]
    first_of_group, group_places = _combine_places(of_groups)
    group_names = [
        tuple(
            None
            if _checks.is_missing(sorted_columns[group_column][first_row])
            else sorted_columns[group_column][first_row]
            for group_column in groups
        )
        for first_row in first_of_group
    ]
    whole_counts = whole(people_sums) if count is not None else people_sums.astype(np.int64)
    weight_squared = np.asarray(sorted_columns[_W2], dtype=np.float64) if weights is not None else weight
    sampled_rows = None
    if sampling is not None:
        sampled_rows = sampling.rows(
            len(row_order),
            count=whole_counts,
            amounts=(weight, weight_squared),
            column=lambda name: sorted_columns[f"{_W}_{name}" if f"{_W}_{name}" in sorted_columns else str(name)],
            patterns=_patterns(frame, [f"{_W}_{column_name}" for column_name in sampling.replicate_columns]),
        )
        weight, weight_squared = sampled_rows.weight, sampled_rows.squared
    return _Totals(
        answers=list(
            zip(*(sorted_columns[answer_column][first_rows].tolist() for answer_column in answers), strict=True)
        ),
        levels=list(zip(*(sorted_columns[level_column][first_rows].tolist() for level_column in levels), strict=True))
        if levels
        else None,
        answer=answer_places,
        groups=[
            group_labels if len(group_labels) > 1 else (group_labels or (None,))[0] for group_labels in group_names
        ],
        group=group_places,
        people=whole_counts,
        weight=weight,
        squared=weight_squared,
        rows=sampled_rows,
    )


class _Cells(NamedTuple):
    """A column of keys: its distinct values in order, and the place of each row's value among them."""

    values: NDArray[Any]
    place: NDArray[np.intp]

    @classmethod
    def of(cls, cells: Sequence[object], *, number: bool) -> _Cells:
        """In the order of their texts, or of numbers: every engine returns its rows in an order of its own."""
        if number:
            return cls(*np.unique(np.asarray(cells, dtype=np.float64), return_inverse=True))
        distinct_values, cell_places = distinct(cells)
        value_texts = [str(value) for value in distinct_values]
        text_order = sorted(range(len(distinct_values)), key=value_texts.__getitem__)
        sorted_values = np.empty(len(distinct_values), dtype=object)
        ranks = np.empty(len(distinct_values), dtype=np.intp)
        sorted_values[:] = [distinct_values[value_place] for value_place in text_order]
        ranks[text_order] = np.arange(len(distinct_values))
        return cls(sorted_values, ranks[cell_places])


def _combine_places(places: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each distinct combination, and the place of each row's combination among them."""
    combination_places = np.zeros(len(places[0]), dtype=np.intp)
    for column_places in places:  # numbered anew at each column, so that no product of sizes grows too large
        _, combination_places = np.unique(
            combination_places * (int(column_places.max(initial=0)) + 1) + column_places, return_inverse=True
        )
    _, first_rows, combination_places = np.unique(combination_places, return_index=True, return_inverse=True)
    return first_rows, combination_places


def _patterns(frame: Frame, replicates: list[str]) -> NDArray[np.float64] | None:
    """Sums of weights and replicate weights, (patterns, 1 + replicates), over people whom replicates weigh alike.

    People are put into buckets by a number that replicates which weigh them alike give them alike. Some others fall
    into the same bucket; so that they are told apart, it is done three times.
    """
    if not replicates:
        return None
    column_marks = np.random.default_rng(_MARKS).uniform(1, 2, len(replicates)).tolist()
    marked_sum = nw.sum_horizontal(
        *(
            nw.col(weight_column) * column_mark
            for weight_column, column_mark in zip(replicates, column_marks, strict=True)
        )
    )
    mark_mean = marked_sum / (nw.sum_horizontal(*replicates) + 1e-300)  # the constant avoids 0/0
    weight_columns, pattern_sums = [_W, *replicates], []
    for spread in _SPREADS:
        scaled_mean = mark_mean * spread  # its fraction, without %, which pandas on arrow does not have
        bucket = ((scaled_mean - scaled_mean.floor()) * (_BUCKETS * (len(replicates) + 16))).round(0).cast(nw.Int64)
        bucket_sums = (
            frame.with_columns(bucket.alias(_N))
            .group_by(_N)
            .agg(*(nw.col(weight_column).sum() for weight_column in weight_columns))
        )
        sum_cells = _cells(bucket_sums)
        pattern_sums.append(
            np.column_stack(
                [np.asarray(sum_cells[weight_column], dtype=np.float64) for weight_column in weight_columns]
            )
        )
    return np.vstack(pattern_sums)


def _check_sampling(frame: Frame, sampling: Sampling) -> None:
    """Check strata, clusters, finite populations and replicate weights."""
    schema = frame.collect_schema()
    if sampling.fpc is not None:
        check_amounts(frame, sampling.fpc, "finite populations (fpc)")
    message_of = {sampling.strata: "every row needs a stratum", sampling.clusters: "every row needs a cluster"}
    message_of |= {
        margin_column: "every row needs a class where weights are calibrated to totals"
        for margin_column, _ in sampling.margins
    }
    for column_name, requirement_text in message_of.items():
        if column_name is not None:
            is_empty = nw.col(column_name).is_null()
            _refuse(
                frame,
                column_name,
                is_empty | nw.col(column_name).is_nan() if schema[column_name].is_float() else is_empty,
                requirement_text,
            )
    replicate_columns = sampling.replicate_columns
    numeric_columns = [
        replicate_column for replicate_column in replicate_columns if schema[replicate_column].is_numeric()
    ]
    if numeric_columns:  # one pass over all of them, as there may be hundreds
        flag_columns = frame.with_columns(
            nw.when(_unusable(replicate_column)).then(1.0).otherwise(0.0).alias(replicate_column)
            for replicate_column in numeric_columns
        )
        flag_sums = _cells(flag_columns.select(nw.col(replicate_column).sum() for replicate_column in numeric_columns))
        replicate_columns = [
            replicate_column
            for replicate_column in replicate_columns
            if replicate_column not in numeric_columns or flag_sums[replicate_column][0]
        ]
    for replicate_column in replicate_columns:
        check_amounts(frame, replicate_column, "replicate weights")


def _cells(frame: Frame) -> dict[str, list[Any]]:
    """The cells of a result by column, after the engine has computed it."""
    if frame.implementation.is_spark_like():  # as rows: Arrow would need a Java with all of its modules
        native_frame = frame.to_native()
        result_rows = native_frame.collect()
        return {
            column_name: [row[column_place] for row in result_rows]
            for column_place, column_name in enumerate(native_frame.columns)
        }
    table = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {column_name: table[column_name].to_list() for column_name in table.columns}


def _unusable(name: str) -> nw.Expr:
    """Where a column holds no finite number, or one below zero."""
    value = nw.col(name).cast(nw.Float64)
    return value.is_null() | value.is_nan() | ~value.is_finite() | (value < 0)


def check_amounts(frame: Frame, name: str, what: str) -> None:
    """Check counts or weights; the error names the first bad one."""
    if not frame.collect_schema()[name].is_numeric():
        raise DataError(f"{what} must be numbers; column {name!r} holds {frame.collect_schema()[name]}", column=name)
    _refuse(frame, name, _unusable(name), f"{what} must be finite and not negative")
    if what == "counts":  # each by itself: sums of counts that are not whole may be
        value = nw.col(name).cast(nw.Float64)
        hint_text = " (a survey weight goes into weights=)"
        _refuse(frame, name, value != value.round(0), "counts must be whole numbers", hint_text)


def _refuse(frame: Frame, name: str, is_wrong: nw.Expr, must: str, hint: str = "") -> None:
    """Raise for the first wrong cell of a column; the message gives its value and its row."""
    bad_cells = _cells(frame.filter(is_wrong).select(name).head(1))[name]
    if not bad_cells:
        return
    bad_cell = bad_cells[0]
    bad_row = _first_rows(frame, [name]).get((str(bad_cell),))
    cell_text = "is empty" if bad_cell is None else f"holds {bad_cell}"
    row_text = "" if bad_row is None else f" in row {bad_row + 1}"
    raise DataError(f"{must}; column {name!r} {cell_text}{row_text}{hint}", column=name, row=bad_row, value=bad_cell)


def _encode_rows(design: Asked, totals: _Totals, distinct_answers: NDArray[np.intp]) -> Responses:
    answer_cells = [totals.answers[row_place] for row_place in distinct_answers]
    encoded_cells: Any = (
        [answer[0] for answer in answer_cells] if len(answer_cells[0]) == 1 else np.array(answer_cells, dtype=object)
    )
    if design.space.answers > 1:
        encoded_cells = tuple(map(list, encoded_cells.T))
    if totals.levels is None:
        return design.encode(encoded_cells)
    level_columns = tuple(map(list, zip(*(totals.levels[row_place] for row_place in distinct_answers), strict=True)))
    return design.encode(encoded_cells, level_columns if len(level_columns) > 1 else level_columns[0])


def _first_bad(
    design: Asked, totals: _Totals, firsts: Mapping[tuple[str, ...], int]
) -> tuple[AnswerError | None, int | None]:
    """What is wrong with the first bad answer, and its row; None if the engine keeps no order of rows."""
    if not firsts:
        return None, None
    level_cells = totals.levels or [()] * len(totals.answers)
    row_places = [
        firsts[tuple(map(str, (*answer_cells, *row_levels)))]
        for answer_cells, row_levels in zip(totals.answers, level_cells, strict=True)
    ]
    row_order = np.argsort(row_places, kind="stable")

    def error_of_rows(rows: NDArray[np.intp]) -> AnswerError | None:
        try:
            _encode_rows(design, totals, rows)
        except AnswerError as error:
            return error
        return None

    # Checks run one after another, so that encoding all rows may report a later row first. Bisection finds the shortest
    # run of first rows that fails; it ends in the first bad row.
    good_rows = bisect_left(
        range(1, len(row_order)), True, key=lambda run_size: error_of_rows(row_order[:run_size]) is not None
    )
    first_error = error_of_rows(row_order)
    answer_error = (
        first_error
        if first_error is not None and first_error.row == good_rows
        else error_of_rows(row_order[: good_rows + 1])
    )
    return answer_error, row_places[row_order[good_rows]]


def located(error: AnswerError, answers: Sequence[str], levels: Sequence[str], *, row: int | None) -> DataError:
    """The same error; it names the column and row of the data, not the place among distinct answers."""
    error_columns = levels if error.about != "answer" and levels else answers
    column_text = (
        f"column {error_columns[0]!r}" if len(error_columns) == 1 else f"columns {_checks.listing_text(error_columns)}"
    )
    return error.at(column_text if row is None else f"{column_text}, row {row + 1},", row=row, column=error_columns[0])


def _first_rows(frame: Frame, names: Sequence[str]) -> dict[tuple[str, ...], int]:
    """For each combination of these columns' cells (as texts) its first row; empty if the engine has no order."""
    native_frame = frame.to_native()
    if isinstance(native_frame, pl.LazyFrame):
        native_frame = native_frame.select(list(dict.fromkeys(names))).collect()
    elif isinstance(frame, nw.LazyFrame):
        return {}
    column_cells = [native_frame[column_name] for column_name in names]
    text_rows = zip(
        *(
            cells_of_column.to_pylist() if hasattr(cells_of_column, "to_pylist") else cells_of_column.to_list()
            for cells_of_column in column_cells
        ),
        strict=True,
    )
    first_rows: dict[tuple[str, ...], int] = {}
    for row, row_cells in enumerate(text_rows):
        first_rows.setdefault(tuple(map(str, row_cells)), row)
    return first_rows
