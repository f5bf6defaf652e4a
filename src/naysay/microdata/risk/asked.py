"""What a table of risk is asked: quasi-identifiers, the keys that they need, and households."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl
from numpy.typing import ArrayLike

from naysay.errors import DataError
from naysay.microdata.keys.codes import Form
from naysay.microdata.keys.table import Table
from naysay.microdata.keys.variables import Keys


def lists(quasi_identifiers: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The keys of each quasi-identifier."""
    if isinstance(quasi_identifiers, str) or any(isinstance(names, str) for names in quasi_identifiers):
        raise DataError(
            f"quasi-identifiers are lists of keys, such as [['age'], ['age', 'gender']]; got {quasi_identifiers!r}"
        )
    key_lists = [tuple(names) for names in quasi_identifiers]
    if not key_lists:
        raise DataError("at least one quasi-identifier is needed, such as [['age', 'gender']]; got none")
    return key_lists


def members(table: Any, also: Sequence[str], households: str | Sequence[Any] | None) -> pl.Series | None:
    """The household of each respondent."""
    if ("household" in also) != (households is not None):
        raise DataError("household risk needs to know the households: name both 'household' and their column")
    if households is None:
        return None
    cells = Table.of(table).column(households) if isinstance(households, str) else households
    return cells if isinstance(cells, pl.Series) else pl.Series(cells)


def encoded(
    table: Any,
    key_lists: Sequence[Sequence[str]],
    policy: str | Mapping[str, str],
    cells: Mapping[str, Form] | None,
    weights: str | ArrayLike | None,
    sensitive: str | None,
) -> Keys:
    """All keys that are asked for, and the sensitive variable, encoded once."""
    names = list(dict.fromkeys(chain.from_iterable(key_lists)))
    if sensitive in names:
        raise DataError(f"the sensitive variable must not be a key; {sensitive!r} is both", column=sensitive)
    all_names = names if sensitive is None else [*names, sensitive]
    if isinstance(table, Keys):
        if policy != "wildcard" or cells or not isinstance(weights, str | None):
            raise DataError("keys that are read have their policies, cells and weights; give them to Keys(...) instead")
        return table.only(all_names)
    policies = dict.fromkeys(names, policy) if isinstance(policy, str) else policy
    return Keys(table, all_names, missing=policies, cells=cells, weights=weights)
