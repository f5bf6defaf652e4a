"""Households as one record each: who knows a household knows all of its members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from naysay.errors import DataError
from naysay.microdata.keys.table import Table, check_names, first_row
from naysay.microdata.keys.variables import Keys
from naysay.microdata.panel.columns import column_of, composite

__all__ = ["households"]

_BETWEEN = ";"


def households(
    table: Any, keys: Sequence[str], *, by: str, own: Sequence[str] = (), missing: Literal["any", "all"] = "any"
) -> Keys:
    """Keys of households: the multiset of the keys of their members, and keys of their own.

    A household can stand out although none of its members does. What is asked of people's keys can be asked of these:
    k, m, θ and models of the population then count households.

    Parameters
    ----------
    table : dataframe or mapping of columns
        One row a person.
    keys : sequence of str
        What an intruder knows of each member.
    by : str
        The column that says to which household a person belongs.
    own : sequence of str
        Keys of the household, such as its region, alike for all of its members.
    missing : {"any", "all"}
        "any": the members' key is missing, and may be anything, where a key of one member is missing. "all": a missing
        key of a member is a value of its own, unless the member has no other.

    Raises
    ------
    DataError
        People without a household, keys of the household that differ between its members.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"home": [1, 1, 2, 2, 3], "age": [40, 8, 8, 40, 40], "sex": ["f", "m", "m", "f", "f"]}
    >>> found = households(people, ["age", "sex"], by="home")
    >>> microdata.anonymity(found).tolist()
    [2, 2, 1]
    """
    source = Table.of(table)
    check_names([by, *keys, *own], source.names)
    home = column_of(source, by)
    if (row := first_row(home.is_null())) is not None:
        raise DataError(f"everybody needs a household; column {by!r} is empty in row {row + 1}", row=row, column=by)
    member = composite(table, keys, missing=missing) if len(keys) > 1 else column_of(source, keys[0]).cast(pl.String)
    frame = pl.DataFrame({"home": home, "member": member.str.replace_all(r"([\\;])", r"\$1")})
    frame = frame.with_columns(column_of(source, name).alias(f"own {name}") for name in own)
    rows = frame.group_by("home", maintain_order=True).agg(
        pl.when(pl.col("member").null_count() == 0).then(pl.col("member").sort().str.join(_BETWEEN)).alias("members"),
        *(pl.col(f"own {name}").n_unique().alias(f"values {name}") for name in own),
        *(pl.col(f"own {name}").first() for name in own),
    )
    for name in own:
        if (place := first_row(rows[f"values {name}"] > 1)) is not None:
            told = f"a key of a household must be alike for all of its members; {name!r} differs within a household"
            raise DataError(f"{told} (the {place + 1}. that comes)", column=name)
    return Keys({"members": rows["members"], **{name: rows[f"own {name}"] for name in own}}, ["members", *own])
