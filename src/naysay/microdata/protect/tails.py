"""Top and bottom coding: values beyond a threshold become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice, check_names
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Method, numbers_of

__all__ = ["Bottom", "Top"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Top(Method):
    """The highest values replaced by one number for all of them.

    Parameters
    ----------
    variable : str
    above : float, optional
        The threshold; values above it are coded.
    share : float, optional
        Instead: the share of records to be coded, at most; the threshold is a value of the file.
    least : int
        Records that must lie beyond the threshold, or it would tell about single people.
    by : {"mean", "median", "threshold"}
        What stands in their place. The mean keeps the mean of the column, with `weight` the weighted one.
    weight : str, optional
        Column of sampling weights.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Top(variable="income", above=100, least=3).apply({"income": [40, 90, 110, 150, 400]})
    >>> safe["income"]
    [40, 90, 220, 220, 220]
    """

    name: ClassVar[str] = "top"
    arithmetic: ClassVar[bool] = True
    variable: str
    above: float | None = None
    share: float | None = None
    least: int = 3
    by: Literal["mean", "median", "threshold"] = "mean"
    weight: str | None = None

    _sign: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if (self._threshold is None) == (self.share is None):
            raise DataError(f"say where {self.variable!r} is coded: by a threshold, or by a share of the records")
        if self.share is not None and not 0 < self.share < 1:
            raise DataError(f"the share of records to be coded must lie between 0 and 1; got {self.share!r}")
        check_choice(self.by, ("mean", "median", "threshold"), what="by")
        _checks.whole(self.least, 1, 2**31, what="least")

    @property
    def _threshold(self) -> float | None:
        return self.above

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.variable, *([] if self.weight is None else [self.weight]))

    @property
    def promise(self) -> str:
        kept = "the mean is kept, the variance is not" if self.by == "mean" else "neither mean nor variance is kept"
        return f"{self.least} records or more share the coded value; {kept}"

    def done(self, frame: pl.DataFrame) -> Done:
        check_names(self.needs, frame.columns)
        number = self._sign * numbers_of(frame, self.variable, what=self.name)
        limit = self._limit(number)
        beyond = number > limit
        if 0 < beyond.sum() < self.least:
            told = f"{int(beyond.sum())} records lie beyond {self._sign * limit:g} of {self.variable!r}"
            raise DataError(f"{told}, fewer than {self.least}: take a threshold that more of them pass")
        if not beyond.any():
            return Done(frame, None, (f"no value lies beyond {self._sign * limit:g}: nothing was changed",))
        weight = np.ones(len(number)) if self.weight is None else numbers_of(frame, self.weight, what="a weight")
        made = number.copy()
        made[beyond] = {"threshold": limit, "median": float(np.median(number[beyond]))}.get(
            self.by, float(np.average(number[beyond], weights=weight[beyond]))
        )
        lost = 1 - np.nanvar(made) / np.nanvar(number) if np.nanvar(number) else 0.0
        notes = (
            f"{int(beyond.sum()):,} records beyond {self._sign * limit:g} got {self._sign * made[beyond][0]:.6g}",
            f"the variance falls by {100 * lost:.1f} %",
        )
        return Done(frame.with_columns(gapped(frame[self.variable], self._sign * made)), None, notes)

    def _limit(self, number: Floats) -> float:
        """The threshold: given, or the value that at most the share of the records exceed."""
        if self._threshold is not None:
            return self._sign * self._threshold
        known = np.sort(number[~np.isnan(number)])
        if not len(known):
            raise DataError(f"column {self.variable!r} holds no number", column=self.variable)
        return float(known[max(int(np.ceil(len(known) * (1 - (self.share or 0)) - 1e-9)) - 1, 0)])


@dataclass(frozen=True, kw_only=True)
class Bottom(Top):
    """The lowest values replaced by one number for all of them: `Top`, turned around.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Bottom(variable="age", below=20, by="threshold").apply({"age": [17, 18, 18, 35]})
    >>> safe["age"]
    [20, 20, 20, 35]
    """

    name: ClassVar[str] = "bottom"
    below: float | None = None
    _sign: ClassVar[int] = -1

    @property
    def _threshold(self) -> float | None:
        if self.above is not None:
            raise DataError("bottom coding takes 'below'; 'above' is for top coding")
        return self.below


def gapped(column: pl.Series, number: Floats) -> pl.Series:
    """A column's new numbers with gaps where they are NaN: whole numbers again where the column held no others."""
    made = pl.Series(column.name, number).fill_nan(None)
    whole = bool(((made == made.round(0)) & (made.abs() < 2**53)).all())
    return made.cast(pl.Int64) if whole and not column.dtype.is_float() else made
