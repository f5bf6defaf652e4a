"""A plan that reaches a target with few losses, from what a table holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.hierarchy import Generalize, Hierarchy, hierarchy_of_numbers, nesting
from naysay.microdata.protect.lattice import coarsen
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.recoding import Bins, Coarser
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.tables import opened, texts
from naysay.microdata.protect.target import Target, prices

__all__ = ["propose"]

_MANY = 20  # values from which a key of whole numbers is offered in bins
_SHARES = (0.0, 0.02, 0.1)  # of records that a recoding may leave to be suppressed
_SECONDS = 20.0


def propose(
    table: Any,
    keys: Sequence[str],
    *,
    target: Target | str = "k >= 3",
    importance: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    bins: Mapping[str, float] | None = None,
    strata: Sequence[str] = (),
    unit: str | None = None,
    order: str | None = None,
    missing: Sequence[str] = (),
) -> Plan:
    """The plan that loses least of those tried: suppression alone, and after recodings that a search finds.

    Recodings come from hierarchies, and for keys of many whole numbers from bins. The loss of a cell is that of
    `coarsen`: the share of its key's values that it may stand for; 1 where it is suppressed. Keys weigh by importance.

    Parameters
    ----------
    table : dataframe or mapping of columns
    keys, target, importance, strata, unit, order
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
    first: list[Method] = [Bins(variable=name, width=width) for name, width in (bins or {}).items()]
    shared: dict[str, Any] = {"unit": unit, "order": order}
    last = Suppress(keys=tuple(keys), target=goal, importance=importance or {}, strata=tuple(strata), **shared)
    given = {name: own for name, own in (hierarchies or {}).items() if name not in (bins or {})}
    open_ = [name for name in keys if name not in given and name not in (bins or {}) and np.isfinite(price[name])]
    automatic = {name: own for name in open_ if (own := _of_numbers(frame[name])) is not None}
    offered = given | automatic
    binned = Plan(keys=tuple(keys), target=None, steps=first).run(frame)[0]
    ways: list[list[Method]] = [[]]
    if offered and goal.reading == "k":
        ways += _recodings(binned, tuple(keys), offered, goal, price, automatic, **shared)
    found: list[tuple[float, int, Plan]] = []
    problem: DataError | None = None
    for way in ways:
        steps = [*first, *way, last]
        plan = Plan(keys=tuple(keys), target=goal, steps=steps, importance=importance or {}, missing=missing, **shared)
        try:
            found.append((_loss(plan, frame, price, hierarchies or {}), len(found), plan))
        except DataError as error:
            problem = problem or error
    if not found:
        raise problem or DataError("no plan was found")
    return min(found)[2]


def _of_numbers(column: pl.Series) -> Hierarchy | None:
    """Bins for a key of many whole numbers; None for others."""
    cells = texts(column).drop_nulls()
    number = cells.cast(pl.Int64, strict=False)
    if number.null_count() or number.n_unique() < _MANY or number.n_unique() > 100_000:
        return None
    return hierarchy_of_numbers(number.unique().to_list())


def _recodings(
    frame: pl.DataFrame,
    keys: tuple[str, ...],
    offered: Mapping[str, Hierarchy],
    goal: Target,
    price: Mapping[str, float],
    automatic: Collection[str],
    **shared: Any,
) -> list[list[Method]]:
    """What searches find that may leave different shares of the records to be suppressed."""
    still = {name: offered.get(name) or _unchanged(frame[name]) for name in keys}
    weight = {name: min(price[name], 100.0) for name in keys}
    ways: list[list[Method]] = []
    for share in _SHARES:
        try:
            own = coarsen(
                frame, still, target=goal, suppress=share, importance=weight, seconds=_SECONDS / len(_SHARES), **shared
            )
        except DataError:
            continue
        steps = [_plain(step, automatic) for step in own.steps if step.variable in offered]
        if steps and steps not in ways and len(steps) == len(own.steps):
            ways.append(steps)
    return ways


def _plain(step: Generalize, automatic: Collection[str]) -> Method:
    """The step; bins that were offered unasked are written as bins, which are easier to read and to change."""
    if step.variable not in automatic or step.level == step.hierarchy.height:
        return step
    widths = nesting([int(leaf) for leaf in step.hierarchy.levels])
    return Bins(variable=step.variable, width=widths[step.level - 1])


def _unchanged(column: pl.Series) -> Hierarchy:
    """A hierarchy that leaves a key as it is, or gives it up."""
    return Hierarchy(
        {value: ["any"] for value in texts(column).drop_nulls().unique().sort().to_list()} or {"": ["any"]}
    )


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
