"""Recoding and suppression on DuckDB and Spark: decided on distinct values and tuples, done where the table is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.engines import digit, engine_for
from naysay.microdata.keys.table import check_names, engine_of
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.log import Cells, Log, Step, Verb
from naysay.microdata.protect.tables import alike
from naysay.microdata.protect.units import Ints, Units

_NEW, _VALUE, _ROWS = "naysay_new", "naysay_value", "naysay_rows"


def recode_on_engine(method: Verb, table: Any, values: Callable[[pl.DataFrame], pl.Series]) -> tuple[Any, Log]:
    """The table with one column recoded, on its engine: its distinct values are collected, and joined back."""
    engine = engine_for(str(engine_of(table)), table)
    frame, [name] = nw.from_native(table), method.variables
    names = frame.collect_schema().names()
    check_names([name], names)
    distinct_values = engine.collected(frame.group_by(name).agg(nw.len().alias(_ROWS)))
    coarser_values = values(distinct_values.select(name)).cast(pl.String).alias(_NEW)
    recoded_values = distinct_values.with_columns(coarser_values).filter(pl.col(name).is_not_null())
    lifted_values = engine.lift(recoded_values.select(pl.col(name).alias(_VALUE), _NEW), {_VALUE: name})
    joined_rows = frame.join(lifted_values, left_on=name, right_on=_VALUE, how="left")
    recoded_table = joined_rows.select(
        *(nw.col(_NEW).alias(name) if column_name == name else nw.col(column_name) for column_name in names)
    )
    differs = recoded_values.filter(~alike(recoded_values[name], recoded_values[_NEW]))[_ROWS].sum()
    cells = Cells(name, int(recoded_values[_ROWS].sum()), int(differs), 0)
    return recoded_table.to_native(), Log((Step(method, int(distinct_values[_ROWS].sum()), 0, (cells,)),))


def suppress_on_engine(
    method: Verb, table: Any, strata: Sequence[str], decided: Callable[[Units], tuple[Ints, NDArray[np.bool_]]]
) -> tuple[Any, Step]:
    """The table with cells emptied, on its engine: its distinct tuples are collected, and their masks joined back."""
    keys = Keys(table, [*method.variables, *strata])
    remote = keys.remote
    if remote is None:
        raise DataError("this table is in memory: apply the method to it")
    keep, to_delete = decided(Units.of_tuples(keys))
    tuples, digits = keys.tuples, [digit(place) for place in remote.places]
    stays = {f"naysay_keep_{place}": keep >> place & 1 for place in range(len(method.variables))}
    cells = {name: column.astype(np.int64) for name, column in zip(digits, tuples.columns, strict=True)}
    tuple_masks = pl.DataFrame(cells | stays | {"naysay_left": to_delete.astype(np.int64)})
    joined_rows = remote.rows.join(remote.engine.lift(tuple_masks), on=digits, how="inner").filter(
        nw.col("naysay_left") == 0
    )
    emptied_columns = [
        nw.when(nw.col(f"naysay_keep_{place}") == 1).then(nw.col(name)).alias(name)
        for place, name in enumerate(method.variables)
    ]
    names = nw.from_native(table).collect_schema().names()
    suppressed_table = joined_rows.with_columns(*emptied_columns).select(*names)
    column_cells = []
    for place, name in enumerate(method.variables):
        was_filled = (tuples.columns[place] > 0) & ~to_delete
        gone = int(tuples.count[was_filled & (keep >> place & 1 == 0)].sum())
        column_cells.append(Cells(name, int(tuples.count[was_filled].sum()), gone, gone))
    deleted = int(tuples.count[to_delete].sum())
    return suppressed_table.to_native(), Step(method, keys.n, deleted, tuple(column_cells))
