"""δ-presence: how surely people who are alike are known to be in a study, or not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.measure import Case, OnRequest
from naysay.microdata.risk.written import amount, share
from naysay.show import number

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Presence(OnRequest):
    """The share of people with one of two values in each anonymity set, such as of those of a register who are studied.

    Parameters
    ----------
    sensitive : str
    value : label
        The second of the two values in their order: "yes" of "no" and "yes", 1 of 0 and 1.
    keys : Keys
        The quasi-identifier and the sensitive variable.
    shares : (distinct,) float
        Of the anonymity set of each distinct tuple; NaN where no sensitive value is known in it.
    """

    name = "presence"
    needs = ("sensitive",)
    columns = ("least share (δ min)", "largest share (δ max)", "records with certainty")
    explanation = ("δ: the share of people with this value in an anonymity set; at 0 and 1 an intruder is certain.",)
    page_columns = ("least share in a group", "largest share", "people of whom it is certain")

    sensitive: str
    value: Any
    keys: Keys
    shares: Floats

    @property
    def least(self) -> float:
        """The least share of any set; NaN where no set is known."""
        return float(np.nanmin(self.shares)) if np.isfinite(self.shares).any() else float("nan")

    @property
    def largest(self) -> float:
        """The largest share of any set; NaN where no set is known."""
        return float(np.nanmax(self.shares)) if np.isfinite(self.shares).any() else float("nan")

    @property
    def certain(self) -> int:
        """Records whose set has one value only."""
        return int(self.keys.tuples.count[(self.shares == 0) | (self.shares == 1)].sum())

    @classmethod
    def asked(cls, case: Case) -> Self | None:
        return None if case.sensitive is None else cls(*_presence_parts(*case.sensitive))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return f"Presence: the share of {found[0].sensitive!r} = {found[0].value} in anonymity sets"

    def cells(self) -> tuple[str, ...]:
        return (share(self.least), share(self.largest), amount(self.certain))

    def fields(self) -> dict[str, Any]:
        variable_fields = {"sensitive": self.sensitive, "value": str(self.value)}
        return variable_fields | {"least": number(self.least), "largest": number(self.largest), "certain": self.certain}

    def of_each(self) -> dict[str, NDArray[Any]]:
        return {"presence": np.asarray(self.shares[self.keys.owner], np.float64)}


def presence(keys: Keys, sensitive: str) -> Presence:
    """δ-presence: the share of people with one value of a variable of two in each anonymity set.

    The file is a public list, such as a register, with a column that says who is in a study. Whoever sees which people
    of the list are alike knows of each of them with this probability that they are in the study.

    Parameters
    ----------
    keys : Keys
        The quasi-identifier and, among its columns, the variable. Only records with every key and a known value count.
    sensitive : str

    Raises
    ------
    DataError
        A variable that is not among the keys, or the only one, or that has not two values.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [30, 30, 30, 40, 40], "study": ["yes", "no", "no", "yes", "no"]}
    >>> found = presence(microdata.Keys(people, ["age", "study"]), "study")
    >>> found.value, round(found.least, 3), found.largest
    ('yes', 0.333, 0.5)

    Notes
    -----
    Nergiz, Atzori & Clifton (2007), Hiding the presence of individuals from shared databases, SIGMOD.
    """
    return Presence(*_presence_parts(keys, sensitive))


def _presence_parts(keys: Keys, sensitive: str) -> tuple[str, Any, Keys, Floats]:
    values = keys.variable(sensitive).cells.values
    if len(values) != 2:
        message = f"presence needs a variable of two values, such as yes and no; {sensitive!r} has {len(values):,}"
        raise DataError(f"{message}: {_checks.listing_text(values)}", column=sensitive)
    other_names = [name for name in keys.columns if name != sensitive]
    if not other_names:
        raise DataError(f"a quasi-identifier is needed beside the sensitive variable {sensitive!r}", column=sensitive)
    other_keys = keys.only(other_names)
    _, group = keys.tuples.only([keys.columns.index(name) for name in other_names])
    code = keys.tuples.columns[keys.columns.index(sensitive)].astype(np.int64)
    is_known = (code > 0) & (code <= 2) & other_keys.complete[group]
    people, member = (
        np.bincount(group[is_counted], keys.tuples.count[is_counted], other_keys.distinct)
        for is_counted in (is_known, is_known & (code == 2))
    )
    return sensitive, values[1], keys, np.where(people > 0, member / np.maximum(people, 1), np.nan)[group]
