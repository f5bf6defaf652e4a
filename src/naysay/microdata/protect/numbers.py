"""Rounding and noise: numbers that are near the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Random, numbers_of
from naysay.microdata.protect.recoding import gapped

__all__ = ["Noise", "Round", "several"]

Floats = NDArray[np.float64]


def several(names: Any, what: str) -> tuple[str, ...]:
    """Names of variables as a tuple, one at least and each once."""
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found or len(set(found)) < len(found):
        raise DataError(f"{what} needs one variable or more, each named once; got {names!r}")
    return found


@dataclass(frozen=True, kw_only=True)
class Round(Random):
    """Numbers rounded to multiples of a base.

    Parameters
    ----------
    columns : sequence of str
    base : float
    how : {"nearest", "random"}
        To the nearest multiple; or up with a probability equal to the rest, so that every sum stays right on average
        (the variance added to x is b²·f(1 − f), f being the rest of x/b).
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Round(columns=["income"], base=10).apply({"income": [12, 25, 38]})[0]["income"]
    [10, 20, 40]
    """

    name: ClassVar[str] = "round"
    arithmetic: ClassVar[bool] = True
    columns: Sequence[str]
    base: float
    how: Literal["nearest", "random"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "rounding"))
        check_choice(self.how, ("nearest", "random"), what="how")
        if not self.base > 0:
            raise DataError(f"numbers are rounded to multiples of a base above 0; got {self.base!r}")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        mean = "sums are right on average" if self.how == "random" else "sums may be off by half a base a record"
        return f"{mean}; exact multiples of {self.base:g} stay as they are, so nobody is promised company"

    @property
    def foretold(self) -> bool:
        return self.how == "nearest"

    def done(self, frame: pl.DataFrame) -> Done:
        made = []
        for place, name in enumerate(self.columns):
            number = numbers_of(frame, name, what=self.name) / self.base
            low = np.floor(number)
            up = self.rng(place).random(len(low)) < number - low if self.how == "random" else None
            made.append(gapped(frame[name], (np.round(number) if up is None else low + up) * self.base))
        return Done(frame.with_columns(made))


@dataclass(frozen=True, kw_only=True)
class Noise(Random):
    """Numbers plus noise from a normal distribution.

    Parameters
    ----------
    columns : sequence of str
    percent : float
        The standard deviation of the noise, in percent of the variable's.
    how : {"independent", "correlated", "masked"}
        Independent; correlated as the variables are, which keeps correlations (Kim 1986); or correlated and shrunk,
        which keeps means and covariances, too: y = √(1 − δ²)·x + δ·e around the mean, δ = percent/100.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Noise(columns=["income"], percent=10, seed=1).apply({"income": [12.0, 25.0, 38.0]})
    >>> [round(each) for each in safe["income"]]
    [12, 26, 38]
    """

    name: ClassVar[str] = "noise"
    arithmetic: ClassVar[bool] = True
    columns: Sequence[str]
    percent: float
    how: Literal["independent", "correlated", "masked"] = "independent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "noise"))
        check_choice(self.how, ("independent", "correlated", "masked"), what="how")
        most = 100 if self.how == "masked" else float("inf")
        if not 0 < self.percent <= most:
            raise DataError(
                f"the noise must be above 0 percent{' and at most 100' * (most == 100)}; got {self.percent!r}"
            )

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        kept = {
            "independent": "means stay right on average; variances grow and correlations shrink",
            "correlated": "correlations stay right on average; variances grow",
            "masked": "means and covariances stay right on average",
        }
        return f"{kept[self.how]}; outliers stay outliers, so nobody is promised company"

    def done(self, frame: pl.DataFrame) -> Done:
        x = np.column_stack([numbers_of(frame, name, what=self.name) for name in self.columns])
        if np.isinf(x).any():
            row, place = np.argwhere(np.isinf(x))[0]
            told = f"column {self.columns[place]!r}, row {row + 1}, holds an infinite number"
            raise DataError(
                f"{told}, whose deviation has no size; empty the cell, or top-code it first",
                row=int(row),
                column=self.columns[place],
            )
        whole = ~np.isnan(x).any(axis=1)
        if whole.sum() < 2:
            raise DataError(f"noise needs two records or more with all of {list(self.columns)}; got {int(whole.sum())}")
        sd = np.nanstd(x, axis=0, ddof=1)
        delta = self.percent / 100
        drawn = self.rng().standard_normal(x.shape)
        if self.how == "independent":
            e = drawn * sd
        else:
            values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(x[whole], rowvar=False)))
            e = drawn @ (vectors * np.sqrt(np.maximum(values, 0))).T
        mean = np.nanmean(x, axis=0)
        made = mean + np.sqrt(1 - delta**2) * (x - mean) + delta * e if self.how == "masked" else x + delta * e
        notes = [f"the standard deviation of the noise in {name!r} is {delta * each:.6g}, r(x, y) is {r:.3f}"
                 for name, each, r in zip(self.columns, sd, _alike(x, made), strict=True)]  # fmt: skip
        columns = [gapped(frame[name], made[:, place]) for place, name in enumerate(self.columns)]
        return Done(frame.with_columns(columns), None, tuple(notes))


def _alike(x: Floats, y: Floats) -> list[float]:
    found = []
    for one, other in zip(x.T, y.T, strict=True):
        known = ~np.isnan(one)
        varies = known.sum() > 1 and np.ptp(one[known]) > 0
        found.append(float(np.corrcoef(one[known], other[known])[0, 1]) if varies else float("nan"))
    return found
