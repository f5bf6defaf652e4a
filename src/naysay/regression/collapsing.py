"""Rows that are alike in answer and covariates, counted as one where that pays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.regression.likelihood import Model

Floats = NDArray[np.float64]

_LEAST = 5_000  # rows below which nothing is gained
_TRIED = 2_000
_PAYS = 0.5  # the share of distinct rows, among those that are tried, above which counting costs more than it saves


def collapse_rows(model: Model, squared: Floats) -> tuple[Model, Floats]:
    """The model with each kind of row once, and with it the sums of squared weights.

    Some rows are tried first: where covariates are continuous, nearly all are distinct, and the model stays as it is.
    """
    n = len(model.x)
    if n < _LEAST or _distinct(model, slice(None, None, max(n // _TRIED, 1))) > _PAYS:
        return model, squared
    key_columns, amounts = _columns(model, slice(None)), {"weight": model.weight, "squared": squared}
    table = pl.DataFrame(key_columns | amounts).group_by(list(key_columns), maintain_order=True)
    distinct_rows = table.agg(pl.col("weight").sum(), pl.col("squared").sum())
    x = np.ascontiguousarray(distinct_rows.select([f"x{i}" for i in range(model.x.shape[1])]).to_numpy())
    offset = None if model.offset is None else distinct_rows["offset"].to_numpy()
    answer, weight = distinct_rows["answer"].to_numpy(), distinct_rows["weight"].to_numpy()
    return replace(model, x=x, offset=offset, answer=answer, weight=weight), distinct_rows["squared"].to_numpy()


def _columns(model: Model, rows: slice) -> dict[str, NDArray[np.number]]:
    """What makes rows alike."""
    key_columns: dict[str, NDArray[np.number]] = {"answer": model.answer[rows]}
    key_columns |= {f"x{i}": np.ascontiguousarray(column) for i, column in enumerate(model.x[rows].T)}
    return key_columns if model.offset is None else key_columns | {"offset": model.offset[rows]}


def _distinct(model: Model, rows: slice) -> float:
    """The share of distinct rows among some."""
    table = pl.DataFrame(_columns(model, rows))
    return table.n_unique() / len(table)
