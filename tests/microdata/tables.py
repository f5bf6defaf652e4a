"""Random small tables with missing cells and sets, and the frames that hold them."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

VALUES = 4
POLICIES = ("wildcard", "category", "drop")
RULES = ("worst", "intersect", "first")

cell = st.one_of(
    st.none(),
    st.integers(0, VALUES - 1),
    st.lists(st.integers(0, VALUES - 1), min_size=1, max_size=3, unique=True),
)


@st.composite
def tables(draw, *, cells=cell, least=1, most=12):
    """Rows of cells, all of one length."""
    keys = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[cells] * keys), min_size=least, max_size=most))


def names(rows):
    """Names of the keys of some rows."""
    return [f"key {place}" for place in range(len(rows[0]))]


def columns(rows):
    """The rows as a mapping of columns."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names(rows))}


def batch(seed, *, tables=40, rows=9):
    """Many random tables in one, told apart by their last key, which everybody knows.

    Columns hold either values or lists, as columns of typed frames must.
    """
    rng = np.random.default_rng(seed)
    keys = int(rng.integers(1, 5))
    sets = rng.random(keys) < 0.5
    gone = rng.choice([0.0, 0.2, 0.5], keys)
    return [
        (*(_cell(rng, in_set, missing) for in_set, missing in zip(sets, gone, strict=True)), table)
        for table in range(tables)
        for _ in range(rows)
    ]


def _cell(rng, in_set, missing):
    if rng.random() < missing:
        return None
    some = rng.permutation(VALUES)[: rng.integers(1, 4)].tolist()
    return some if in_set else some[0]


def of_each_table(counted, rows, *arguments):
    """What the oracle says of a batch, table by table (each table has the same number of rows)."""
    tables = sorted({row[-1] for row in rows})
    return [size for table in tables for size in counted([row for row in rows if row[-1] == table], *arguments)]


def polars_frame(rows):
    """The rows as a polars frame, with their number."""
    kinds = {
        name: pl.List(pl.Int64) if any(isinstance(cell, list) for cell in cells) else pl.Int64
        for name, cells in columns(rows).items()
    }
    return pl.DataFrame(columns(rows), schema=kinds).with_row_index("row")


FRAMES = {
    "mapping": columns,
    "polars": polars_frame,
    "lazy polars": lambda rows: polars_frame(rows).lazy(),
    "pyarrow": lambda rows: polars_frame(rows).to_arrow(),
    "pandas": lambda rows: pd.DataFrame(columns(rows)),
    "pandas with arrow": lambda rows: polars_frame(rows).to_pandas(use_pyarrow_extension_array=True),
}


def duckdb_relation(rows):
    """The rows as a DuckDB relation."""
    return duckdb.connect().from_arrow(polars_frame(rows).to_arrow())
