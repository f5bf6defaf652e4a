"""A plan that reaches a target with few losses, from what a table holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.hierarchy import Generalize, Hierarchy, nesting
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.recoding import Bins, Coarser, Intervals
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.tables import opened, texts
from naysay.microdata.protect.target import Target, prices

__all__ = ["propose"]

_FEW_VALUES = 8  # numbers with fewer values are left to suppression
_MOST_BOUNDS = 200  # values that a key keeps one by one between its tails
_TAIL = 0.01
_WORK = 400_000_000  # tuples times sets of keys that all plans together go through
_FEWEST_PLANS = 12


def propose(
    table: Any,
    keys: Sequence[str],
    *,
    target: Target | str = "k >= 3",
    importance: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    bins: Mapping[str, float] | None = None,
    strata: Sequence[str] = (),
    sets: Sequence[Sequence[str]] = (),
    related: Mapping[str, str] | None = None,
    unit: str | None = None,
    order: str | None = None,
    missing: Sequence[str] = (),
) -> Plan:
    """The plan that loses least of those tried: suppression alone, and after recodings that a search finds.

    Recodings come from hierarchies, and for keys of numbers from bins, with and without tails in one. The search goes
    up and down in one key after the other. It tries a number of plans that depends on the table alone, so that the same
    table has the same plan on every machine. The loss of a cell is that of
    `coarsen`: the share of its key's values that it may stand for; 1 where it is suppressed. Keys weigh by importance.

    Parameters
    ----------
    table : dataframe or mapping of columns
    keys, target, importance, strata, sets, related, unit, order
        As in `Suppress`.
    hierarchies : mapping of key to Hierarchy, optional
    bins : mapping of key to float, optional
        Widths of bins that are made in any case.
    missing : sequence of str
        Kept with the plan.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> table = {"age": [40, 41, 40, 42, 36, 37] * 6, "sex": list("ffmmfm") * 6}
    >>> [step.name for step in protect.propose(table, ["age", "sex"]).steps]
    ['suppress']
    """
    frame, _ = opened(table)
    check_names([*keys, *strata], frame.columns)
    goal, costs = Target.of(target), prices(tuple(keys), importance or {})
    price = dict(zip(keys, costs, strict=True))
    for name in (*(hierarchies or {}), *(bins or {})):
        if name not in keys:
            raise DataError(f"recodings are offered for keys; {name!r} is none of them", column=name)
        if name in (hierarchies or {}) and name in (bins or {}):
            raise DataError(f"{name!r} has both a hierarchy and bins; give one of them", column=name)
    for name, hierarchy in (hierarchies or {}).items():
        flat = frame[name].explode() if frame[name].dtype.is_nested() else frame[name]
        hierarchy.check(texts(flat).drop_nulls().unique().sort().to_list(), name)
    first: list[Method] = [Bins(variable=name, width=width) for name, width in (bins or {}).items()]
    shared: dict[str, Any] = {"unit": unit, "order": order}
    last = Suppress(
        keys=tuple(keys),
        target=goal,
        importance=importance or {},
        strata=tuple(strata),
        sets=sets,
        related=related or {},
        **shared,
    )
    free = [name for name in keys if name not in (bins or {})]
    free = [name for name in free if np.isfinite(price[name]) or name in (hierarchies or {})]
    ladders = {name: _ladder(name, frame[name], (hierarchies or {}).get(name)) for name in free}

    def planned(steps: Sequence[Method]) -> Plan:
        whole = [*first, *steps, last]
        about: dict[str, Any] = {"importance": importance or {}, "missing": missing, "sets": sets, **shared}
        return Plan(keys=tuple(keys), target=goal, steps=whole, **about)

    tuples = frame.select(pl.struct(keys).n_unique()).item()
    descent = _Descent(frame, ladders, max(_FEWEST_PLANS, _WORK // (tuples << min(len(keys), 16))))
    return planned(descent.best(lambda steps: _loss(planned(steps), frame, price, hierarchies or {})))


def _ladder(name: str, column: pl.Series, hierarchy: Hierarchy | None) -> list[Method | None]:
    """What may be done with a key, from nothing to the coarsest: levels of its hierarchy, or bins and tails of numbers.

    Bins of rising width are offered twice: as they are, and with the rarest percent of the values at either end in one.
    """
    if hierarchy is not None:
        levels = range(1, hierarchy.height + 1)
        return [None, *(Generalize(variable=name, level=level, hierarchy=hierarchy) for level in levels)]
    cells = texts(column).drop_nulls()
    number = cells.cast(pl.Float64, strict=False)
    if number.null_count() or number.is_infinite().any() or number.n_unique() < _FEW_VALUES:
        return [None]
    known = np.sort(number.to_numpy())
    span = float(known[-1] - known[0])
    whole = bool((known == np.floor(known)).all())
    widths = nesting(known.tolist()) if whole else [float(f"{span / parts:.0e}") for parts in (50, 20, 10, 5, 2)]
    ladder: list[Method | None] = [None]
    for width in [*([1] if whole and number.n_unique() <= _MOST_BOUNDS else []), *widths]:
        low, high = (np.quantile(known, share) for share in (_TAIL, 1 - _TAIL))
        first, last = np.ceil(low / width) * width, np.floor(high / width) * width
        bounds = np.arange(first, last + width / 2, width)
        tails = Intervals(variable=name, bounds=[round(float(each), 9) for each in bounds]) if len(bounds) > 1 else None
        ladder += [
            each for each in (Bins(variable=name, width=width) if width != 1 else None, tails) if each is not None
        ]
    return ladder


class _Descent:
    """Plans that differ in what is done with each key, and the loss of each, counted once."""

    def __init__(self, frame: pl.DataFrame, ladders: Mapping[str, Sequence[Method | None]], most: int) -> None:
        self.frame, self.ladders, self.most = frame, ladders, most
        self.losses: dict[tuple[int, ...], float] = {}
        self.problem: DataError | None = None

    def best(self, loss: Callable[[Sequence[Method]], float]) -> list[Method]:
        """The steps that lose least of those tried: one key after the other, a rung up or down, until none is better.

        The first start leaves every key as it is; the others take the rungs halfway up, and at the top.
        """
        heights = [len(ladder) - 1 for ladder in self.ladders.values()]
        starts = [[height * part // 2 for height in heights] for part in range(3)]
        for start in starts:
            place, moved = start, True
            self._loss(start, loss)
            while moved and self.most > 0:
                moved = False
                for key, height in enumerate(heights):
                    for way in (1, 2, -1, -2):
                        other = [*place[:key], place[key] + way, *place[key + 1 :]]
                        while 0 <= other[key] <= height and self._loss(other, loss) < self._loss(place, loss):
                            place, moved = other, True
                            other = [*place[:key], place[key] + way, *place[key + 1 :]]
        found = min(self.losses, key=lambda each: (self.losses[each], each))
        if np.isinf(self.losses[found]):
            raise self.problem or DataError("no plan was found")
        return self._steps(found)

    def _steps(self, place: Sequence[int]) -> list[Method]:
        rungs = (ladder[rung] for ladder, rung in zip(self.ladders.values(), place, strict=True))
        return [each for each in rungs if each is not None]

    def _loss(self, place: Sequence[int], loss: Callable[[Sequence[Method]], float]) -> float:
        at = tuple(place)
        if at not in self.losses:
            if self.most <= 0 and self.losses:
                return float("inf")
            self.most -= 1
            try:
                self.losses[at] = loss(self._steps(at))
            except DataError as error:
                self.problem, self.losses[at] = self.problem or error, float("inf")
        return self.losses[at]


def _loss(plan: Plan, frame: pl.DataFrame, price: Mapping[str, float], hierarchies: Mapping[str, Hierarchy]) -> float:
    """The mean loss of the cells that were known, summed over the keys by their weight."""
    made, _, rows = plan.run(frame)
    total = 0.0
    for name, weight in price.items():
        own = hierarchies.get(name)
        values = (
            frame.select(pl.col(name).unique().drop_nulls()) if own is None else pl.DataFrame({name: [*own.levels]})
        )
        parents = values
        for step in plan.steps:
            if isinstance(step, Coarser) and step.variable == name:
                parents = step.values(parents).alias(name).to_frame()
        groups = pl.DataFrame({"value": texts(values[name]), "parent": texts(parents[name])})
        share = dict(groups.select("value", pl.len().over("parent") / groups.height).iter_rows())
        loss = texts(frame[name]).replace_strict(share, default=None, return_dtype=pl.Float64).to_numpy().copy()
        shown = np.zeros(frame.height, bool)
        shown[rows.to_numpy()[made[name].is_not_null().to_numpy()]] = True
        loss[~shown & ~np.isnan(loss)] = 1.0
        total += min(weight, 100.0) * (float(np.nanmean(loss)) if (~np.isnan(loss)).any() else 0.0)
    return total
