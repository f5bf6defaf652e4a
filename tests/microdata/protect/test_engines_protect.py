"""Recoding and suppression where the table is."""

import duckdb
import numpy as np
import polars as pl
import pytest

from naysay.errors import DataError
from naysay.microdata import protect

RNG = np.random.default_rng(1)
FRAME = pl.DataFrame({
    "id": range(600),
    "age": pl.Series(RNG.integers(18, 90, 600)).set(pl.Series(RNG.random(600) < 0.05), None),
    "job": RNG.choice(list("abcdefgh"), 600),
})  # fmt: skip
STEPS = (
    protect.Bins(variable="age", width=10),
    protect.Recode(variable="job", into={"a": "x", "b": "x"}, others="y"),
    protect.Suppress(keys=["age", "job"], target="k >= 4"),
)


def test_duckdb_does_what_memory_does():
    there, here = duckdb.connect().from_arrow(FRAME.to_arrow()), FRAME
    for step in STEPS:
        (there, one), (here, other) = step.apply(there), step.apply(here)
        assert one.to_dict()["steps"][0]["columns"] == other.to_dict()["steps"][0]["columns"]
        assert one.deleted == other.deleted
    made = there.pl().sort("id")
    assert made.equals(here.with_columns(pl.col("age", "job").cast(pl.String)).sort("id"))
    assert protect.guarantee(made, ["age", "job"]).k >= 4


def test_what_cannot_be_done_there_says_what_can():
    table = duckdb.connect().from_arrow(FRAME.to_arrow())
    with pytest.raises(DataError, match=r"lazy on duckdb: collect it first. There, recode"):
        protect.Noise(columns=["age"], percent=5).apply(table)
    with pytest.raises(DataError, match="protected in memory"):
        protect.Suppress(keys=["job"], unit="id").apply(table)
    with pytest.raises(DataError, match="there is no column 'town'"):
        protect.Bins(variable="town", width=5).apply(table)
