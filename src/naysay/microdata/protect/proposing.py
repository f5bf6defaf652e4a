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
from naysay.microdata.protect.log import Log
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

    Recodings come from hierarchies, and for keys of many whole numbers from bins. The loss of a cell is the share of
    its key's values that it may stand for; a suppressed cell has lost all, times the importance of its key.

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
            log = plan.run(frame)[1]
        except DataError as error:
            problem = problem or error
            continue
        found.append((_loss(log, frame, keys, price), len(found), plan))
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


def _loss(log: Log, frame: pl.DataFrame, keys: Sequence[str], price: Mapping[str, float]) -> float:
    """What all steps lost: of each cell the share of values that it may stand for, and its price where it is gone."""
    total = 0.0
    for step in log:
        total += step.deleted * sum(price[name] for name in keys if np.isfinite(price[name]))
        for each in step.columns:
            weight = price.get(each.variable, 1.0)
            total += each.suppressed * (weight if np.isfinite(weight) else 0.0)
            if isinstance(step.method, Coarser):
                total += min(weight, 100.0) * _coarser(frame[each.variable], step.method)
    return total


def _coarser(column: pl.Series, method: Coarser) -> float:
    """Over all cells, the share of the file's values that their coarser value may stand for."""
    counted = texts(column).drop_nulls().value_counts(name="naysay_count")
    new = method.values(counted.select(column.name)).cast(pl.String)
    under = counted.group_by(new.alias("naysay_new")).agg(pl.len().alias("naysay_under"), pl.col("naysay_count").sum())
    return float(((under["naysay_under"] - 1) * under["naysay_count"]).sum()) / max(counted.height, 1)
