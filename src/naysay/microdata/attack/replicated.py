"""People who are alone with their keys in the original, and stand again in a synthetic file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaln

from naysay.errors import DataError
from naysay.microdata.attack.register import frame_of, texts
from naysay.microdata.keys.variables import Keys
from naysay.microdata.population.uniques import Sample, pitman
from naysay.microdata.risk.written import DASH, Printed
from naysay.printing import Content, Facts, Sentence, plain

__all__ = ["Replicated", "recurring", "replicated"]


@dataclass(frozen=True)
class Replicated(Printed):
    """Unique people of the original whose keys stand again in a file of synthetic records.

    Parameters
    ----------
    keys : tuple of str
    unique : int
        People who are alone with their complete keys in the original.
    found : int
        Those whose keys a synthetic record holds.
    fresh : float
        How many a fresh sample of as many people holds: counted in the control, or else expected; NaN where too few
        people are alike for that.
    control : int
        People of the control; 0 where the number is expected.
    """

    name = "replicated"
    keys: tuple[str, ...]
    unique: int
    found: int
    fresh: float
    control: int

    def content(self) -> list[Content]:
        how = f"in {self.control:,} other people" if self.control else "expected under Pitman's model"
        fresh = DASH if math.isnan(self.fresh) else f"{self.fresh:,.0f}, {how}"
        rows = (
            ("alone in the original", f"{self.unique:,} people, on {', '.join(self.keys)}"),
            ("of them again in the synthetic file", f"{self.found:,}"),
            ("of them again in a fresh sample", fresh),
        )
        told = "More than a fresh sample holds means that the synthesis copied people."
        return [Facts(rows), Sentence(told, small=True)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        told: dict[str, Any] = plain(vars(self))
        return told


def replicated(synthetic: Any, original: Any, keys: Sequence[str], *, control: Any = None) -> Replicated:
    """How many unique people of the original stand again in a synthetic file, beside what a fresh sample holds.

    Parameters
    ----------
    synthetic, original : dataframe or mapping of columns
    keys : sequence of str
    control : dataframe or mapping of columns, optional
        Other people of the same population, as many as there are synthetic records or more; the first of them count.
        Without it, the number is expected under Pitman's model (`recurring`).

    Raises
    ------
    DataError
        A control with fewer people than there are synthetic records.

    Examples
    --------
    >>> people = {"age": [20, 30, 40, 40]}
    >>> found = replicated({"age": [20, 25, 40, 40]}, people, ["age"], control={"age": [21, 30, 20, 40]})
    >>> found.unique, found.found, found.fresh
    (2, 1, 2)
    """
    first, second = frame_of(original, what="the original"), frame_of(synthetic, what="the synthetic file")
    alone = _unique(first, keys)
    found = _again(alone, second, keys)
    if control is None:
        return Replicated(tuple(keys), alone.height, found, recurring(first, keys, second.height), 0)
    others = frame_of(control, what="the control")
    if others.height < second.height:
        told = f"the control has {others.height:,} people, and there are {second.height:,} synthetic records"
        raise DataError(f"a control must have as many people as there are synthetic records; {told}")
    fresh = _again(alone, others.head(second.height), keys)
    return Replicated(tuple(keys), alone.height, found, fresh, second.height)


def recurring(original: pl.DataFrame, keys: Sequence[str], people: int) -> float:
    """How many of the unique people of a file have their keys again among so many others of its population.

    Under Pitman's model with θ and α a class of one person stays alone in m more draws after n with probability
    Γ(θ+n+m-1+α) Γ(θ+n) / (Γ(θ+n-1+α) Γ(θ+n+m)). NaN where the model has no answer.
    """
    table = pl.DataFrame({name: texts(original[name]) for name in keys}).drop_nulls()
    sizes = table.group_by(list(keys)).len()["len"].cast(pl.Int64).to_numpy()
    n = int(sizes.sum())
    if n < 2:
        return float("nan")
    known = pitman(Sample.of(sizes, 2 * n)).parameters  # they do not depend on the population
    if not known:
        return float("nan")
    theta, alpha = known["theta"], known["alpha"]
    alone = gammaln(theta + n + people - 1 + alpha) - gammaln(theta + n + people)
    alone += gammaln(theta + n) - gammaln(theta + n - 1 + alpha)
    return float((sizes == 1).sum() * -np.expm1(alone))


def _unique(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The keys of people who are alone with them, all of them known."""
    Keys(frame, keys)  # checks them
    table = pl.DataFrame({name: texts(frame[name]) for name in keys}).drop_nulls()
    return table.filter(table.is_unique())


def _again(alone: pl.DataFrame, frame: pl.DataFrame, keys: Sequence[str]) -> int:
    Keys(frame, keys)
    table = pl.DataFrame({name: texts(frame[name]) for name in keys}).drop_nulls().unique()
    return alone.join(table, on=list(keys), how="semi").height
