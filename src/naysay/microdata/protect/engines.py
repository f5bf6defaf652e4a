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


def recoded(method: Verb, table: Any, values: Callable[[pl.DataFrame], pl.Series]) -> tuple[Any, Log]:
    """The table with one column recoded, on its engine: its distinct values are collected, and joined back."""
    engine = engine_for(str(engine_of(table)), table)
    frame, [name] = nw.from_native(table), method.variables
    names = frame.collect_schema().names()
    check_names([name], names)
    counted = engine.collected(frame.group_by(name).agg(nw.len().alias(_ROWS)))
    new = values(counted.select(name)).cast(pl.String).alias(_NEW)
    known = counted.with_columns(new).filter(pl.col(name).is_not_null())
    lifted = engine.lift(known.select(pl.col(name).alias(_VALUE), _NEW), {_VALUE: name})
    joined = frame.join(lifted, left_on=name, right_on=_VALUE, how="left")
    made = joined.select(*(nw.col(_NEW).alias(name) if each == name else nw.col(each) for each in names))
    differs = known.filter(~alike(known[name], known[_NEW]))[_ROWS].sum()
    cells = Cells(name, int(known[_ROWS].sum()), int(differs), 0)
    return made.to_native(), Log((Step(method, int(counted[_ROWS].sum()), 0, (cells,)),))


def suppressed(
    method: Verb, table: Any, strata: Sequence[str], decided: Callable[[Units], tuple[Ints, NDArray[np.bool_]]]
) -> tuple[Any, Step]:
    """The table with cells emptied, on its engine: its distinct tuples are collected, and their masks joined back."""
    keys = Keys(table, [*method.variables, *strata])
    remote = keys.remote
    if remote is None:
        raise DataError("this table is in memory: apply the method to it")
    keep, left = decided(Units.of_tuples(keys))
    tuples, digits = keys.tuples, [digit(place) for place in remote.places]
    stays = {f"naysay_keep_{place}": keep >> place & 1 for place in range(len(method.variables))}
    cells = {name: column.astype(np.int64) for name, column in zip(digits, tuples.columns, strict=True)}
    known = pl.DataFrame(cells | stays | {"naysay_left": left.astype(np.int64)})
    joined = remote.rows.join(remote.engine.lift(known), on=digits, how="inner").filter(nw.col("naysay_left") == 0)
    emptied = [
        nw.when(nw.col(f"naysay_keep_{place}") == 1).then(nw.col(name)).alias(name)
        for place, name in enumerate(method.variables)
    ]
    names = nw.from_native(table).collect_schema().names()
    made = joined.with_columns(*emptied).select(*names)
    found = []
    for place, name in enumerate(method.variables):
        held = (tuples.columns[place] > 0) & ~left
        gone = int(tuples.count[held & (keep >> place & 1 == 0)].sum())
        found.append(Cells(name, int(tuples.count[held].sum()), gone, gone))
    deleted = int(tuples.count[left].sum())
    return made.to_native(), Step(method, keys.n, deleted, tuple(found))
