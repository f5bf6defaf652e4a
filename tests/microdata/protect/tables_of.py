"""Tables to protect, drawn at random."""

import numpy as np
import polars as pl


def skewed(n, sizes, *, seed, gaps=0.0):
    """Keys whose values are rarer the higher they are."""
    rng = np.random.default_rng(seed)
    columns = {}
    for number, size in enumerate(sizes):
        values = np.minimum(rng.geometric(min(0.9, 2.5 / size), n), size)
        columns[f"v{number}"] = pl.Series(values).set(pl.Series(rng.random(n) < gaps), None)
    return pl.DataFrame(columns)


def classes(frame, names):
    """How many rows read the same, for each row, by plain Python."""
    rows = list(frame.select(names).iter_rows())
    count = {row: rows.count(row) for row in set(rows)}
    return [count[row] for row in rows]
