"""What a released class must leave open about a sensitive column: l-diversity and t-closeness as parts of a target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.tables import texts

__all__ = ["CONDITIONS", "Condition", "Secret", "unmet"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CONDITIONS = {
    "l(COLUMN) >= 2": "so many distinct values",
    "entropy_l(COLUMN) >= 2": "as uncertain as so many equally common values",
    "recursive_l(COLUMN, 3) >= 2": "the most common value less than 3 times the sum of the l-th and rarer ones",
    "t(COLUMN) <= 0.2": "shares within a total variation distance of those of the file",
    "ordered_t(COLUMN) <= 0.2": "the same for ordered values, by the earth mover's distance",
}
"""What may be asked of every released class beside its size, as it is written."""

_FORM = re.compile(
    r"\s*(?P<measure>[a-z_]+)\s*\(\s*(?P<column>[^(),]+?)\s*(?:,\s*(?P<factor>[\d.]+)\s*)?\)"
    r"\s*(?P<sign>>=|≥|<=|≤)\s*(?P<bound>\d*\.?\d+)\s*$"
)
_MOST = 4_000_000  # numbers of classes by values that are held at once
_NEAR = 1e-9


@dataclass(frozen=True)
class Condition:
    """A bound on what a released class tells of a sensitive column.

    Parameters
    ----------
    measure : {"l", "entropy_l", "recursive_l", "t", "ordered_t"}
    column : str
    bound : float
    factor : float, optional
        c of recursive (c, l)-diversity.

    Examples
    --------
    >>> str(Condition.of("recursive_l(illness, 3)>=2"))
    'recursive_l(illness, 3) >= 2'

    Source: Machanavajjhala et al. 2007, definitions 3 to 5; Li, Li & Venkatasubramanian 2007.
    """

    measure: str
    column: str
    bound: float
    factor: float | None = None

    @classmethod
    def of(cls, text: str) -> Condition:
        """The condition that a text such as ``l(illness) >= 2`` names."""
        form = _FORM.match(text)
        known = ", ".join(f"{form_!r} ({what})" for form_, what in CONDITIONS.items())
        if form is None or form["measure"] not in {each.partition("(")[0] for each in CONDITIONS}:
            raise DataError(f"a condition must be one of {known}; got {text.strip()!r}")
        measure, bound = form["measure"], float(form["bound"])
        near = measure.endswith("t")
        if (form["sign"] in "<=≤") != near or (form["factor"] is not None) != (measure == "recursive_l"):
            raise DataError(f"a condition must be one of {known}; got {text.strip()!r}")
        factor = None if form["factor"] is None else float(form["factor"])
        whole = measure in ("l", "recursive_l")
        if (near and not 0 < bound < 1) or (not near and bound <= 1) or (whole and bound != round(bound)):
            least = "between 0 and 1" if near else "whole and 2 or more" if whole else "above 1"
            raise DataError(f"the bound of {measure} must be {least}; got {text.strip()!r}")
        if factor is not None and factor <= 0:
            raise DataError(f"c of recursive_l must be above 0; got {text.strip()!r}")
        return cls(measure, form["column"], bound, factor)

    def __str__(self) -> str:
        sign = "<=" if self.measure.endswith("t") else ">="
        factor = "" if self.factor is None else f", {self.factor:g}"
        return f"{self.measure}({self.column}{factor}) {sign} {self.bound:g}"

    def holds(self, held: Floats, every: Floats) -> Bools:
        """Whether classes meet it: (classes, values) people with each value, in their order, and (values,) of all.

        A class of which no value is known tells none, and meets it.
        """
        people = held.sum(axis=1)
        empty = np.asarray(people == 0)
        if self.measure == "l":
            return np.asarray(empty | ((held > 0).sum(axis=1) >= self.bound))
        share = held / np.maximum(people, 1)[:, None]
        if self.measure == "entropy_l":
            entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=1)
            return np.asarray(empty | (np.exp(entropy) >= self.bound - _NEAR))
        if self.measure == "recursive_l":
            falling = -np.sort(-held, axis=1)
            rare = falling[:, round(self.bound) - 1 :].sum(axis=1)
            return np.asarray(empty | (falling[:, 0] < (self.factor or 0) * rare))
        apart = share - every / max(every.sum(), 1)
        if self.measure == "t":
            distance = np.abs(apart).sum(axis=1) / 2
        else:
            distance = np.abs(np.cumsum(apart, axis=1))[:, :-1].sum(axis=1) / max(held.shape[1] - 1, 1)
        return np.asarray(empty | (distance <= self.bound + _NEAR))


@dataclass(frozen=True, eq=False)
class Secret:
    """Sensitive columns of a frame, by the units that its rows belong to.

    Parameters
    ----------
    conditions : sequence of Condition
    held : for each condition, (units, values) people
    """

    conditions: Sequence[Condition]
    held: Sequence[csr_array]

    @classmethod
    def of(cls, frame: pl.DataFrame, conditions: Sequence[Condition], unit: NDArray[np.int64], units: int) -> Secret:
        """The columns of a frame, whose rows belong to these units."""
        check_names([each.column for each in conditions], frame.columns)
        held = []
        for condition in conditions:
            column = frame[condition.column]
            code = _ranks(column, ordered=condition.measure == "ordered_t")
            known = column.is_not_null().to_numpy()
            shape = (units, int(code[known].max(initial=0)) + 1)
            held.append(csr_array((np.ones(int(known.sum())), (unit[known], code[known])), shape=shape))
        return cls(conditions, held)

    def failing(self, which: NDArray[np.int64], group: NDArray[np.int64], everybody: NDArray[np.bool_]) -> Bools:
        """Which of some units are in a class, given by a number for each of them, that fails a condition."""
        _, place = np.unique(group, return_inverse=True)
        failed = np.zeros(int(place.max(initial=-1)) + 1, bool)
        joined = csr_array((np.ones(len(which)), (place, which)), shape=(len(failed), self.held[0].shape[0]))
        for condition, held in zip(self.conditions, self.held, strict=True):
            every = np.asarray(held[np.flatnonzero(everybody)].sum(axis=0), np.float64).reshape(-1)
            counts = csr_array(joined @ held)
            step = max(1, _MOST // max(held.shape[1], 1))
            for start in range(0, len(failed), step):
                part = counts[start : start + step].toarray()
                failed[start : start + step] |= ~condition.holds(part, every)
        return np.asarray(failed[place])


def _ranks(column: pl.Series, *, ordered: bool) -> NDArray[np.int64]:
    """Values as numbers from 0 in their order; texts of numbers are ordered as numbers."""
    if column.dtype == pl.String or not (column.dtype.is_numeric() or isinstance(column.dtype, pl.Enum)):
        cells = texts(column)
        number = cells.cast(pl.Float64, strict=False)
        if ordered and number.null_count() > cells.null_count():
            told = f"{column.name!r} holds texts, which have no order"
            raise DataError(f"{told}: ask for t({column.name}), or give it numbers", column=column.name)
        column = number if ordered else cells
    ranks = (column.to_physical() if isinstance(column.dtype, pl.Enum) else column).rank("dense")
    return ranks.fill_null(1).to_numpy().astype(np.int64) - 1


def unmet(frame: pl.DataFrame, keys: Sequence[str], conditions: Sequence[Condition]) -> int:
    """How many rows of a frame are in a class, gaps being values, that fails a condition."""
    if not conditions or not frame.height:
        return 0
    number = pl.struct([texts(frame[name]).alias(name) for name in keys]).rank("dense")
    group = frame.select(number).to_series().to_numpy().astype(np.int64)
    rows = np.arange(frame.height)
    return int(Secret.of(frame, conditions, rows, frame.height).failing(rows, group, rows >= 0).sum())
