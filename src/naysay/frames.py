"""Tallies of dataframe columns, computed by the engine that holds them.

The engine groups and adds, lazily if it is lazy. Only distinct answers and their totals reach Python. The code uses
only narwhals operations that all engines support.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError
from naysay.responses import JOINER, Responses, cells_of
from naysay.sampling import Rows, Sampling
from naysay.sampling.raking import distinct
from naysay.tally import Asked, Tally
from naysay.tally.tally import group_order, in_group, whole

__all__ = ["is_frame", "located", "tally_frame"]

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


def is_frame(data: object) -> bool:
    """Whether narwhals accepts `data` as a dataframe, eager or lazy."""
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def tally_frame(
    asked: Asked,
    data: Any,
    column: str | Sequence[str],
    *,
    level: str | Sequence[str] | None,
    weights: str | None,
    sampling: Sampling | None,
    count: str | None,
    by: str | Sequence[str] | None,
    sums: bool | None = None,
) -> Tally | dict[Any, Tally]:
    """The tally of a column of `data`, or with `by` one tally for each group."""
    frame = nw.from_native(_columns(data) if isinstance(data, Mapping) else data)
    answers = [column] if isinstance(column, str) else list(column)
    groups = [] if by is None else [by] if isinstance(by, str) else list(by)
    levels = [] if level is None else [level] if isinstance(level, str) else list(level)
    if levels and asked.levels == (None,):
        raise DataError("this design offers no levels; leave `level` out or use negative_levels()", column=levels[0])
    if sampling is not None:
        weights = sampling.weights
    sampling_columns = [] if sampling is None else sampling.columns
    columns_needed = [
        *answers,
        *groups,
        *levels,
        *(name for name in (weights, count) if name is not None),
        *sampling_columns,
    ]
    schema = frame.collect_schema()
    for name in columns_needed:
        if not isinstance(name, str):
            raise DataError(f"with a frame, name a column for everything; got {type(name).__name__}")
        if name not in schema.names():
            raise DataError(_checks.no_column(name, schema.names()), column=name)
    # Boolean columns, one for each category: put them in the order of the labels.
    if asked.space.answers == 1 and len(answers) > 1:
        texts = [str(label) for label in asked.space.labels]
        answers = texts if set(answers) == set(texts) else answers
    for name in answers:
        if isinstance(schema[name], nw.List | nw.Array) or schema[name] == nw.Object:
            frame = _join_lists(frame, name)
    totals = _totals(frame, answers, levels=levels, weights=weights, sampling=sampling, count=count, groups=groups)
    question = column if isinstance(column, str) else " × ".join(answers) if asked.space.answers > 1 else None
    tallies = {}
    for group, rows in _group_rows(totals):
        try:
            with in_group(group):
                present, place = np.unique(totals.answer[rows], return_inverse=True)
                responses, weight_sums = (
                    _encode_rows(asked, totals, present).take(place),
                    (totals.weight[rows], totals.squared[rows]),
                )
                people, has_weights = totals.people[rows], weights is not None or sampling is not None
                sampled = None if totals.rows is None else (totals.rows, rows)
                tallies[group] = Tally.of(
                    asked,
                    responses,
                    people,
                    weight_sums,
                    weighted=has_weights,
                    question=question,
                    rows=sampled,
                    sums=sums,
                )
        except AnswerError as error:
            first_error, row = _first_bad(asked, totals, _first_rows(frame, [*answers, *levels]))
            raise located(first_error or error, answers, levels, row=row) from None
    return tallies if groups else tallies[None]


def _columns(data: Mapping[str, Any]) -> pl.DataFrame:
    """A mapping of columns as a frame; sets become lists."""
    plain_columns = {
        name: [list(cell) if isinstance(cell, set | frozenset | tuple) else cell for cell in cells_of(cells)]
        for name, cells in data.items()
    }
    return pl.DataFrame(plain_columns, strict=False)


def _join_lists(frame: Any, name: str) -> Any:
    """The frame with a column of lists joined into ``;`` texts; every engine can group by text."""
    native = frame.to_native()
    if isinstance(native, pl.DataFrame | pl.LazyFrame):
        cell = pl.col(name).cast(pl.List(pl.String))
        empty = pl.when(cell.list.len() == 0).then(pl.lit(JOINER))
        return nw.from_native(native.with_columns(empty.otherwise(cell.list.join(JOINER)).alias(name)))
    if type(native).__name__ == "DuckDBPyRelation":
        quoted_name = '"' + name.replace('"', '""') + '"'
        sql_expression = f"CASE WHEN len({quoted_name}) = 0 THEN ';' ELSE array_to_string({quoted_name}, ';') END"
        return nw.from_native(native.project(f"* REPLACE ({sql_expression} AS {quoted_name})"))
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"column {name!r} holds lists, which this engine cannot group; join them into texts such as 'a;b' first",
            column=name,
        )
    cells = frame[name].to_list()
    if not any(isinstance(cell, _COLLECTIONS) for cell in cells):
        return frame
    texts = [_as_text(cell) for cell in cells]
    return frame.with_columns(nw.new_series(name, texts, nw.String, backend=frame.implementation))


def _as_text(cell: Any) -> str | None:
    if isinstance(cell, _COLLECTIONS):
        return JOINER.join(map(str, cell)) or JOINER
    return cell if isinstance(cell, str) else None if _checks.is_missing(cell) else str(cell)


def _totals(
    frame: Any,
    answers: Sequence[str],
    *,
    levels: Sequence[str],
    weights: str | None,
    sampling: Sampling | None,
    count: str | None,
    groups: Sequence[str],
) -> _Totals:
    keys = list(dict.fromkeys([*answers, *levels, *groups]))
    if sampling is not None:
        frame = _check_sampling(frame, sampling)
        # Where each person is a unit of its own, people with equal weights can be added up: group by weight too.
        is_one_person = sampling.clusters is None and sampling.replicates is None
        keys = list(
            dict.fromkeys([*keys, *sampling.labels, *([weights] if weights is not None and is_one_person else [])])
        )
    if count is not None:
        frame = _check_amounts(frame, count, "counts")
    people_per_row = nw.lit(1.0) if count is None else nw.col(count).cast(nw.Float64)
    sums = {_N: people_per_row}
    if weights is not None:
        frame = _check_amounts(frame, weights, "weights")
        weight_column = nw.col(weights).cast(nw.Float64)
        sums |= {_W: weight_column * people_per_row, _W2: weight_column * weight_column * people_per_row}
    if sampling is not None:
        sums |= {f"{_W}_{name}": nw.col(name).cast(nw.Float64) * people_per_row for name in sampling.replicate_columns}
    # Sum a column of ones instead of counting rows: engines do not agree on how to write a length inside `agg`.
    frame = frame.with_columns(**sums)
    column = _cells(frame.group_by(keys).agg(*(nw.col(name).sum() for name in sums)))
    cells = {key: _Cells.of(column[key], number=key == weights) for key in keys}
    order = np.lexsort([cells[key].place for key in reversed(keys)])
    take = {name: np.asarray(values)[order] for name, values in column.items() if name not in cells}
    take |= {name: key_cells.values[key_cells.place[order]] for name, key_cells in cells.items()}
    people = np.asarray(take[_N], dtype=np.float64)
    weight = np.asarray(take[_W], dtype=np.float64) if weights is not None else people
    first_rows, answer = _combine_places([cells[key].place[order] for key in (*answers, *levels)])
    of_groups = [cells[key].place[order] for key in groups] or [np.zeros(len(order), dtype=np.intp)]
    first_of_group, group = _combine_places(of_groups)
    names = [
        tuple(None if _checks.is_missing(take[name][row]) else take[name][row] for name in groups)
        for row in first_of_group
    ]
    number = whole(people) if count is not None else people.astype(np.int64)
    squared = np.asarray(take[_W2], dtype=np.float64) if weights is not None else weight
    rows = None
    if sampling is not None:
        rows = sampling.rows(
            len(order),
            count=number,
            amounts=(weight, squared),
            column=lambda name: take.get(f"{_W}_{name}", take.get(name)),
            patterns=_patterns(frame, [f"{_W}_{name}" for name in sampling.replicate_columns]),
        )
        weight, squared = rows.weight, rows.squared
    return _Totals(
        answers=list(zip(*(take[name][first_rows].tolist() for name in answers), strict=True)),
        levels=list(zip(*(take[name][first_rows].tolist() for name in levels), strict=True)) if levels else None,
        answer=answer,
        groups=[group_labels if len(group_labels) > 1 else (group_labels or (None,))[0] for group_labels in names],
        group=group,
        people=number,
        weight=weight,
        squared=squared,
        rows=rows,
    )


class _Cells(NamedTuple):
    """A column of keys: its distinct values in order, and the place of each row's value among them."""

    values: NDArray[Any]
    place: NDArray[np.intp]

    @classmethod
    def of(cls, cells: Sequence[Any], *, number: bool) -> _Cells:
        """In the order of their texts, or of numbers: every engine returns its rows in an order of its own."""
        if number:
            return cls(*np.unique(np.asarray(cells, dtype=np.float64), return_inverse=True))
        distinct_values, place = distinct(cells)
        texts = [str(value) for value in distinct_values]
        order = sorted(range(len(distinct_values)), key=texts.__getitem__)
        values, ranks = np.empty(len(distinct_values), dtype=object), np.empty(len(distinct_values), dtype=np.intp)
        values[:] = [distinct_values[at] for at in order]
        ranks[order] = np.arange(len(distinct_values))
        return cls(values, ranks[place])


def _combine_places(places: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each distinct combination, and the place of each row's combination among them."""
    combination = np.zeros(len(places[0]), dtype=np.intp)
    for place in places:  # numbered anew at each column, so that no product of sizes grows too large
        _, combination = np.unique(combination * (int(place.max(initial=0)) + 1) + place, return_inverse=True)
    _, first_rows, combination = np.unique(combination, return_index=True, return_inverse=True)
    return first_rows, combination


def _patterns(frame: Any, replicates: list[str]) -> NDArray[np.float64] | None:
    """Sums of weights and replicate weights, (patterns, 1 + replicates), over people whom replicates weigh alike.

    People are put into buckets by a number that replicates which weigh them alike give them alike. Some others fall
    into the same bucket; so that they are told apart, it is done three times.
    """
    if not replicates:
        return None
    marks = np.random.default_rng(_MARKS).uniform(1, 2, len(replicates)).tolist()
    marked_sum = nw.sum_horizontal(*(nw.col(name) * mark for name, mark in zip(replicates, marks, strict=True)))
    mean = marked_sum / (nw.sum_horizontal(*replicates) + 1e-300)  # the constant avoids 0/0
    names, pattern_sums = [_W, *replicates], []
    for spread in _SPREADS:
        scaled_mean = mean * spread  # its fraction, without %, which pandas on arrow does not have
        bucket = ((scaled_mean - scaled_mean.floor()) * (_BUCKETS * (len(replicates) + 16))).round(0).cast(nw.Int64)
        sums = frame.with_columns(bucket.alias(_N)).group_by(_N).agg(*(nw.col(name).sum() for name in names))
        cells = _cells(sums)
        pattern_sums.append(np.column_stack([np.asarray(cells[name], dtype=np.float64) for name in names]))
    return np.vstack(pattern_sums)


def _check_sampling(frame: Any, sampling: Sampling) -> Any:
    """The frame, after checks of its strata, clusters, finite populations and replicate weights."""
    schema = frame.collect_schema()
    if sampling.fpc is not None:
        frame = _check_amounts(frame, sampling.fpc, "finite populations (fpc)")
    message_of = {sampling.strata: "every row needs a stratum", sampling.clusters: "every row needs a cluster"}
    message_of |= {
        name: "every row needs a class where weights are calibrated to totals" for name, _ in sampling.margins
    }
    for name, must in message_of.items():
        if name is not None:
            empty = nw.col(name).is_null()
            _refuse(frame, name, empty | nw.col(name).is_nan() if schema[name].is_float() else empty, must)
    columns = sampling.replicate_columns
    numeric = [name for name in columns if schema[name].is_numeric()]
    if numeric:  # one pass over all of them, as there may be hundreds
        flags = frame.with_columns(nw.when(_unusable(name)).then(1.0).otherwise(0.0).alias(name) for name in numeric)
        flag_sums = _cells(flags.select(nw.col(name).sum() for name in numeric))
        columns = [name for name in columns if name not in numeric or flag_sums[name][0]]
    for name in columns:
        _check_amounts(frame, name, "replicate weights")
    return frame


def _cells(frame: Any) -> dict[str, list[Any]]:
    """The cells of a result by column, after the engine has computed it."""
    if frame.implementation.is_spark_like():  # as rows: Arrow would need a Java with all of its modules
        native = frame.to_native()
        rows = native.collect()
        return {name: [row[place] for row in rows] for place, name in enumerate(native.columns)}
    table = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: table[name].to_list() for name in table.columns}


def _unusable(name: str) -> Any:
    """Where a column holds no finite number, or one below zero."""
    value = nw.col(name).cast(nw.Float64)
    return value.is_null() | value.is_nan() | ~value.is_finite() | (value < 0)


def _group_rows(totals: _Totals) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    if not len(totals.group):
        raise DataError("at least one answer is needed; the data has no rows")
    order = sorted(range(len(totals.groups)), key=lambda at: group_order(totals.groups[at]))
    for group, members in groupby(order, key=lambda at: totals.groups[at]):
        yield group, np.flatnonzero(np.isin(totals.group, list(members)))


def _check_amounts(frame: Any, name: str, what: str) -> Any:
    """The frame, after a check of its counts or weights; the error names the first bad one."""
    if not frame.collect_schema()[name].is_numeric():
        raise DataError(f"{what} must be numbers; column {name!r} holds {frame.collect_schema()[name]}", column=name)
    _refuse(frame, name, _unusable(name), f"{what} must be finite and not negative")
    if what == "counts":  # each by itself: sums of counts that are not whole may be
        value = nw.col(name).cast(nw.Float64)
        hint = " (a survey weight goes into weights=)"
        _refuse(frame, name, value != value.round(0), "counts must be whole numbers", hint)
    return frame


def _refuse(frame: Any, name: str, is_wrong: Any, must: str, hint: str = "") -> None:
    """Raise for the first wrong cell of a column; the message gives its value and its row."""
    bad_cells = _cells(frame.filter(is_wrong).select(name).head(1))[name]
    if not bad_cells:
        return
    bad_cell = bad_cells[0]
    row = _first_rows(frame, [name]).get((str(bad_cell),))
    cell_text = "is empty" if bad_cell is None else f"holds {bad_cell}"
    place = "" if row is None else f" in row {row + 1}"
    raise DataError(f"{must}; column {name!r} {cell_text}{place}{hint}", column=name, row=row, value=bad_cell)


def _encode_rows(design: Asked, totals: _Totals, distinct_answers: NDArray[np.intp]) -> Responses:
    answers = [totals.answers[at] for at in distinct_answers]
    cells: Any = [answer[0] for answer in answers] if len(answers[0]) == 1 else np.array(answers, dtype=object)
    if design.space.answers > 1:
        cells = tuple(map(list, cells.T))
    if totals.levels is None:
        return design.encode(cells)
    columns = tuple(map(list, zip(*(totals.levels[at] for at in distinct_answers), strict=True)))
    return design.encode(cells, columns if len(columns) > 1 else columns[0])


def _first_bad(
    design: Asked, totals: _Totals, firsts: Mapping[tuple[str, ...], int]
) -> tuple[AnswerError | None, int | None]:
    """What is wrong with the first bad answer, and its row; None if the engine keeps no order of rows."""
    if not firsts:
        return None, None
    levels = totals.levels or [()] * len(totals.answers)
    places = [firsts[tuple(map(str, (*cells, *level)))] for cells, level in zip(totals.answers, levels, strict=True)]
    order = np.argsort(places, kind="stable")

    def error_of_rows(rows: NDArray[np.intp]) -> AnswerError | None:
        try:
            _encode_rows(design, totals, rows)
        except AnswerError as error:
            return error
        return None

    # Checks run one after another, so that encoding all rows may report a later row first. Bisection finds the shortest
    # run of first rows that fails; it ends in the first bad row.
    good_rows = bisect_left(range(1, len(order)), True, key=lambda size: error_of_rows(order[:size]) is not None)
    error = error_of_rows(order)
    answer_error = error if error is not None and error.row == good_rows else error_of_rows(order[: good_rows + 1])
    return answer_error, places[order[good_rows]]


def located(error: AnswerError, answers: Sequence[str], levels: Sequence[str], *, row: int | None) -> DataError:
    """The same error; it names the column and row of the data, not the place among distinct answers."""
    columns = levels if error.about != "answer" and levels else answers
    place = f"column {columns[0]!r}" if len(columns) == 1 else f"columns {_checks.listing_text(columns)}"
    return error.at(place if row is None else f"{place}, row {row + 1},", row=row, column=columns[0])


def _first_rows(frame: Any, names: Sequence[str]) -> dict[tuple[str, ...], int]:
    """For each combination of these columns' cells (as texts) its first row; empty if the engine has no order."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        native = native.select(list(dict.fromkeys(names))).collect()
    elif isinstance(frame, nw.LazyFrame):
        return {}
    columns = [native[name] for name in names]
    rows = zip(
        *(cells.to_pylist() if hasattr(cells, "to_pylist") else cells.to_list() for cells in columns), strict=True
    )
    firsts: dict[tuple[str, ...], int] = {}
    for row, cells in enumerate(rows):
        firsts.setdefault(tuple(map(str, cells)), row)
    return firsts
