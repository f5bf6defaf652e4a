"""Which recodings lose least: the levels of several hierarchies that reach a target, and a whole plan that does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay._values import Floats
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_choice, check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.hierarchies import Generalize, Hierarchy, nesting
from naysay.microdata.protect.method import Method, opened, texts
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.recoding import Bins, Coarser, Intervals
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.target import Target, Units, prices, totals
from naysay.show import Content, Note, Sentence
from naysay.show.result import Printed, grid, percent, rounded_down

Node = tuple[int, ...]

MOST_NODES = 2_000_000


@dataclass(frozen=True)
class Coarsening(Printed):
    """The levels that reach a target with the least loss, as far as the search came.

    Parameters
    ----------
    levels : mapping of key to level
    loss : float
        Of all keys together; 1 where everything is lost.
    losses : mapping of key to float
        Of each key: the mean share of its values that a published value may stand for; 1 where it is suppressed. One
        of L values that is untouched stands for 1/L, so a key of two values never loses less than a half. Gaps of the
        file lose nothing and do not count.
    suppressed : int
        Records (or units) below the target at these levels, within the allowed share; they are still to be suppressed.
    bound : float
        No levels lose less than this. Equal to `loss` where the search came to its end.
    nodes, counted : int
        Combinations of levels, and those that had to be counted.
    steps : tuple of Generalize
        What to do.
    """

    levels: Mapping[str, int]
    loss: float
    losses: Mapping[str, float]
    suppressed: int
    bound: float
    nodes: int
    counted: int
    steps: tuple[Generalize, ...]

    @property
    def complete(self) -> bool:
        """Whether no levels lose less."""
        return self.bound >= self.loss

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names."""
        json_fields = {
            name: getattr(self, name) for name in ("loss", "suppressed", "bound", "nodes", "counted", "complete")
        }
        return {"levels": dict(self.levels), "losses": dict(self.losses), **json_fields}

    def parts(self) -> list[Content]:
        """A row for each key, and how far the search came."""
        level_rows = [
            [step.variable, f"{step.level} of {step.hierarchy.height}", percent(self.losses[step.variable])]
            for step in self.steps
        ]
        level_table = grid("Levels of the keys, and what they lose", ["key", "level", "loss"], level_rows)
        search_sentence = (
            f"{self.counted:,} of {self.nodes:,} combinations were counted; {self.suppressed:,} records stay below"
        )
        short = f"out of time: the loss is {self.loss:.4f}, and no levels lose less than {rounded_down(self.bound, 4)}"
        end = [] if self.complete else [Note(short)]
        return [level_table, Sentence(f"{search_sentence} and are to be suppressed.", small=True), *end]


def coarsen(
    table: object,
    hierarchies: Mapping[str, Hierarchy],
    *,
    target: Target | str = "k >= 3",
    suppress: float = 0.0,
    aggregate: Literal["mean", "rank"] = "mean",
    importance: Mapping[str, float] | None = None,
    seconds: float | None = None,
    unit: str | None = None,
    order: str | None = None,
) -> Coarsening:
    """The levels of all hierarchies at which the target is reached with the least loss.

    At each combination of levels, records with too few that read the same count as suppressed, up to a share. A
    combination that is too fine makes all finer ones too fine, and one that is coarse enough all coarser ones: paths
    through the lattice are halved, and most combinations are never counted. The loss with suppression is not monotone,
    so combinations are left out by the loss that they have without it.

    Parameters
    ----------
    table : dataframe or mapping of columns
    hierarchies : mapping of key to Hierarchy
        One for each key.
    target : str or Target
        In the reading k.
    suppress : float
        The share of records that may stay below the target, to be suppressed.
    aggregate : {"mean", "rank"}
        The loss of several keys: their mean (weighted by importance), or the largest, then the next largest, and so on.
    importance : mapping of key to float, optional
    seconds : float, optional
        The most time to search; the result then says how far it may be from the best.
    unit, order : str, optional
        As in `Suppress`.

    Raises
    ------
    DataError
        Values that a hierarchy does not hold, a target that not even the coarsest levels reach.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> ages = protect.hierarchy_of_numbers([21, 23, 38, 39], widths=[5, 20])
    >>> found = protect.coarsen({"age": [21, 23, 38, 39]}, {"age": ages}, target="k >= 2")
    >>> found.levels, found.complete
    ({'age': 1}, True)

    Source: Samarati 2001; El Emam et al. 2009; Kohlmayer et al. 2012; METHODS, section 3.
    """
    goal = Target.of(target)
    if goal.reading != "k":
        raise DataError(f"levels are searched for k, which bounds an intruder; got {goal}")
    if not 0 <= suppress < 1:
        raise DataError(f"suppress must be a share of the records, from 0 to below 1; got {suppress!r}")
    check_choice(aggregate, ("mean", "rank"), what="aggregate")
    frame, _ = opened(table)
    check_names(list(hierarchies), frame.columns)
    lattice = _Lattice(frame, hierarchies, goal, suppress, aggregate, importance or {}, unit, order)
    return lattice.search(None if seconds is None else time.monotonic() + seconds)


class _Lattice:
    """All combinations of levels, with their losses; what is known of each is filled in as the search goes on."""

    def __init__(
        self,
        frame: pl.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        goal: Target,
        suppress: float,
        aggregate: str,
        importance: Mapping[str, float],
        unit: str | None,
        order: str | None,
    ) -> None:
        self.hierarchies, self.goal, self.aggregate = dict(hierarchies), goal, aggregate
        keys = Keys(frame, list(hierarchies))
        self.units = Units.of(frame, keys, unit=unit, order=order)
        self.most = int(np.floor(suppress * self.units.total + 1e-9))
        self.shape = tuple(hierarchy.height + 1 for hierarchy in self.hierarchies.values())
        self.nodes = int(np.prod(self.shape, dtype=float))
        if self.nodes > MOST_NODES:
            raise DataError(f"{self.nodes:,} combinations of levels are more than {MOST_NODES:,}; leave levels out")
        weight = np.array([float(importance.get(name, 1.0)) for name in self.hierarchies])
        self.weight = weight / weight.sum()
        # for each key the group of each of its cells at each level, gaps first, and the share that it stands for
        self.groups: list[NDArray[np.int64]] = []
        self.shares: list[Floats] = []
        self.bounds: list[Floats] = []  # the loss of each key at each of its levels, with nobody suppressed
        columns = self.units.keys.tuples.columns
        for (key_name, hierarchy), variable, column in zip(
            self.hierarchies.items(), keys.variables, columns, strict=True
        ):
            if not variable.cells.certain:
                raise DataError(
                    f"levels are searched for plain values; {key_name!r} holds sets of candidates", column=key_name
                )
            value_texts = [str(value) for value in variable.cells.values]
            hierarchy.check(value_texts, key_name)
            numbers, value_shares = hierarchy.numbers(value_texts), hierarchy.shares(value_texts)
            self.groups.append(np.column_stack([np.zeros(len(numbers), np.int64), numbers + 1]))
            self.shares.append(np.column_stack([np.zeros(len(value_shares)), value_shares]))
            value_counts = np.bincount(column, self.units.keys.tuples.count, self.shares[-1].shape[1])
            value_counts[0] = 0
            self.bounds.append(self.shares[-1] @ value_counts / max(value_counts.sum(), 1))
        self.known = np.zeros(self.shape, np.int8)  # -1: too fine, 1: coarse enough
        self.counted: dict[Node, int] = {}
        self.lost: dict[Node, Floats] = {}  # of nodes that are coarse enough, where some are suppressed

    def rank(self, losses: Floats) -> tuple[float, ...]:
        """What is compared: the mean, or the losses from the largest to the smallest."""
        if self.aggregate == "mean":
            return (float(losses @ self.weight),)
        return tuple(sorted((round(float(key_loss), 12) for key_loss in losses), reverse=True))

    def bound(self, node: Node) -> tuple[float, ...]:
        """The loss of a node without suppression: it has no less with it."""
        return self.rank(self._plain(node))

    def _plain(self, node: Node) -> Floats:
        return np.array([level_losses[level] for level_losses, level in zip(self.bounds, node, strict=True)])

    def below(self, node: Node) -> int:
        """How many units stay below the target at a node."""
        if node not in self.counted:
            tuples, packed_keys, key_span = self.units.keys.tuples, np.zeros(len(self.units.keys.tuples), np.uint64), 1
            for level_groups, level, column in zip(self.groups, node, tuples.columns, strict=True):
                packed_keys = packed_keys * np.uint64(int(level_groups[level].max()) + 1) + level_groups[level][
                    column
                ].astype(np.uint64)
                key_span *= int(level_groups[level].max()) + 1
            if key_span > 2**63:
                raise DataError("the values of the keys combine in too many ways; leave out a key, or start coarser")
            units = self.units
            has_few = (
                totals(packed_keys if units.single else units.together(packed_keys), units.count) < self.goal.least
            )
            self.counted[node] = int(units.count[has_few].sum())
            is_enough = self.counted[node] <= self.most
            if is_enough and has_few.any():
                self.lost[node] = self._lost(node, has_few)
            part = tuple(slice(level, None) if is_enough else slice(0, level + 1) for level in node)
            self.known[part] = 1 if is_enough else -1
        return self.counted[node]

    def _lost(self, node: Node, few: NDArray[np.bool_]) -> Floats:
        """The loss of each key where some units lose everything: they are the rare ones, whose values lose less."""
        units, key_losses = self.units, []
        members = np.diff(np.append(units.start, len(units.member)))
        is_gone, member_counts = np.repeat(few, members), np.repeat(units.count, members)
        for key_shares, level, column in zip(self.shares, node, units.keys.tuples.columns, strict=True):
            cell_codes = column[units.member]
            weight = np.where(cell_codes > 0, member_counts, 0)
            key_losses.append(weight @ np.where(is_gone, 1.0, key_shares[level][cell_codes]) / max(weight.sum(), 1))
        return np.array(key_losses)

    def losses(self, node: Node) -> Floats:
        """The loss of each key at a node; whoever is below the target has lost everything."""
        self.below(node)
        return self.lost[node] if node in self.lost else self._plain(node)

    def search(self, until: float | None) -> Coarsening:
        top_node = tuple(size - 1 for size in self.shape)
        if self.below(top_node) > self.most:
            complaint = (
                f"not even the coarsest levels reach {self.goal}: "
                f"gaps still tell {self.below(top_node):,} records apart"
            )
            raise DataError(f"{complaint}; allow more of them to be suppressed (suppress=), or ask for less")
        nodes_by_bound = sorted(np.ndindex(*self.shape), key=self.bound)
        best_node, least_loss, unsearched_bound = top_node, self.rank(self.losses(top_node)), None
        for node in nodes_by_bound:
            if self.bound(node) >= least_loss:
                break
            if until is not None and time.monotonic() > until:
                unsearched_bound = self.bound(node)
                break
            if self.known[node] == 0:
                self._halve_path(node, least_loss)
            if self.known[node] < 0:
                continue
            if (node_loss := self.rank(self.losses(node))) < least_loss:
                best_node, least_loss = node, node_loss
        return self._result(best_node, least_loss, least_loss if unsearched_bound is None else unsearched_bound)

    def _halve_path(self, node: Node, least_loss: tuple[float, ...]) -> None:
        """Find where a path from a node to the top becomes coarse enough, by halving it."""
        path = [node]
        while True:
            last_node = path[-1]
            higher = [at for at in range(len(last_node)) if last_node[at] + 1 < self.shape[at]]
            upper_nodes = [(*last_node[:at], last_node[at] + 1, *last_node[at + 1 :]) for at in higher]
            upper_nodes = [
                upper_node
                for upper_node in upper_nodes
                if self.known[upper_node] == 0 and self.bound(upper_node) < least_loss
            ]
            if not upper_nodes:
                break
            path.append(min(upper_nodes, key=self.bound))
        low_place, high_place = 0, len(path) - 1
        while low_place <= high_place:
            middle_place = (low_place + high_place) // 2
            if self.known[path[middle_place]] == 0:
                self.below(path[middle_place])
            low_place, high_place = (
                (low_place, middle_place - 1) if self.known[path[middle_place]] > 0 else (middle_place + 1, high_place)
            )

    def _result(self, node: Node, loss: tuple[float, ...], bound: tuple[float, ...]) -> Coarsening:
        key_names = list(self.hierarchies)
        loss_of_key = dict(zip(key_names, map(float, self.losses(node)), strict=True))
        steps = tuple(
            Generalize(variable=name, level=level, hierarchy=hierarchy)
            for (name, hierarchy), level in zip(self.hierarchies.items(), node, strict=True) if level
        )  # fmt: skip
        level_of_key = dict(zip(key_names, node, strict=True))
        return Coarsening(
            level_of_key, loss[0], loss_of_key, self.below(node), bound[0], self.nodes, len(self.counted), steps
        )


_FEW_VALUES = 8  # numbers with fewer values are left to suppression
_MOST_BOUNDS = 200  # values that a key keeps one by one between its tails
_TAIL = 0.01
_WORK = 400_000_000  # tuples times sets of keys that all plans together go through
_FEWEST_PLANS = 12


def propose(
    table: object,
    keys: Sequence[str],
    *,
    target: Target | str = "k >= 3",
    importance: Mapping[str, str | float] | None = None,
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
    hierarchies, bins, importance = hierarchies or {}, bins or {}, importance or {}
    goal, costs = Target.of(target), prices(tuple(keys), importance)
    cost_of_key = dict(zip(keys, costs, strict=True))
    for key_name in (*hierarchies, *bins):
        if key_name not in keys:
            raise DataError(f"recodings are offered for keys; {key_name!r} is none of them", column=key_name)
        if key_name in hierarchies and key_name in bins:
            raise DataError(f"{key_name!r} has both a hierarchy and bins; give one of them", column=key_name)
    for key_name, hierarchy in hierarchies.items():
        flat = frame[key_name].explode() if frame[key_name].dtype.is_nested() else frame[key_name]
        hierarchy.check(texts(flat).drop_nulls().unique().sort().to_list(), key_name)
    first_steps: list[Method] = [Bins(variable=key_name, width=width) for key_name, width in bins.items()]
    last_step = Suppress(
        keys=tuple(keys),
        target=goal,
        importance=importance,
        strata=tuple(strata),
        sets=sets,
        related=related or {},
        unit=unit,
        order=order,
    )
    ladders = {
        key_name: _ladder(key_name, frame[key_name], hierarchies.get(key_name))
        for key_name in keys
        if key_name not in bins and (np.isfinite(cost_of_key[key_name]) or key_name in hierarchies)
    }

    def plan_with(steps: Sequence[Method]) -> Plan:
        return Plan(
            keys=tuple(keys),
            target=goal,
            steps=[*first_steps, *steps, last_step],
            importance=importance,
            unit=unit,
            order=order,
            missing=missing,
            sets=sets,
        )

    tuples = frame.select(pl.struct(keys).n_unique()).item()
    descent = _Descent(frame, ladders, max(_FEWEST_PLANS, _WORK // (tuples << min(len(keys), 16))))
    return plan_with(descent.best(lambda steps: _loss(plan_with(steps), frame, cost_of_key, hierarchies)))


def _ladder(name: str, column: pl.Series, hierarchy: Hierarchy | None) -> list[Method | None]:
    """What may be done with a key, from nothing to the coarsest: levels of its hierarchy, or bins and tails of numbers.

    Bins of rising width are offered twice: as they are, and with the rarest percent of the values at either end in one.
    """
    if hierarchy is not None:
        levels = range(1, hierarchy.height + 1)
        return [None, *(Generalize(variable=name, level=level, hierarchy=hierarchy) for level in levels)]
    cells = texts(column).drop_nulls()
    cell_numbers = cells.cast(pl.Float64, strict=False)
    if cell_numbers.null_count() or cell_numbers.is_infinite().any() or cell_numbers.n_unique() < _FEW_VALUES:
        return [None]
    sorted_numbers = np.sort(cell_numbers.to_numpy())
    number_span = float(sorted_numbers[-1] - sorted_numbers[0])
    is_whole = bool((sorted_numbers == np.floor(sorted_numbers)).all())
    bin_widths = (
        nesting(sorted_numbers.tolist())
        if is_whole
        else [float(f"{number_span / parts:.0e}") for parts in (50, 20, 10, 5, 2)]
    )
    key_ladder: list[Method | None] = [None]
    for bin_width in [*([1] if is_whole and cell_numbers.n_unique() <= _MOST_BOUNDS else []), *bin_widths]:
        low, high = (np.quantile(sorted_numbers, share) for share in (_TAIL, 1 - _TAIL))
        first, last = np.ceil(low / bin_width) * bin_width, np.floor(high / bin_width) * bin_width
        bounds = np.arange(first, last + bin_width / 2, bin_width)
        if bin_width != 1:
            key_ladder.append(Bins(variable=name, width=bin_width))
        if len(bounds) > 1:
            key_ladder.append(Intervals(variable=name, bounds=[round(float(bound), 9) for bound in bounds]))
    return key_ladder


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
        starts = [[top_rung * part // 2 for top_rung in heights] for part in range(3)]
        for start_place in starts:
            reached_place, has_moved = start_place, True
            self._loss(start_place, loss)
            while has_moved and self.most > 0:
                has_moved = False
                for key_number, top_rung in enumerate(heights):
                    for rungs_up in (1, 2, -1, -2):
                        while 0 <= reached_place[key_number] + rungs_up <= top_rung:
                            other_place = reached_place.copy()
                            other_place[key_number] += rungs_up
                            if self._loss(other_place, loss) >= self._loss(reached_place, loss):
                                break
                            reached_place, has_moved = other_place, True
        best_place = min(self.losses, key=lambda tried_place: (self.losses[tried_place], tried_place))
        if self.problem is not None and np.isinf(self.losses[best_place]):
            raise self.problem
        return self._steps(best_place)

    def _steps(self, place: Sequence[int]) -> list[Method]:
        rungs = (ladder[rung] for ladder, rung in zip(self.ladders.values(), place, strict=True))
        return [step for step in rungs if step is not None]

    def _loss(self, place: Sequence[int], loss: Callable[[Sequence[Method]], float]) -> float:
        rung_numbers = tuple(place)
        if rung_numbers not in self.losses:
            if self.most <= 0 and self.losses:
                return float("inf")
            self.most -= 1
            try:
                self.losses[rung_numbers] = loss(self._steps(rung_numbers))
            except DataError as error:
                self.problem, self.losses[rung_numbers] = self.problem or error, float("inf")
        return self.losses[rung_numbers]


def _loss(plan: Plan, frame: pl.DataFrame, price: Mapping[str, float], hierarchies: Mapping[str, Hierarchy]) -> float:
    """The mean loss of the cells that were known, summed over the keys by their weight."""
    released_frame, _, row_origins = plan.run(frame)
    total_loss = 0.0
    for key_name, key_cost in price.items():
        hierarchy = hierarchies.get(key_name)
        distinct_values = (
            frame.select(pl.col(key_name).unique().drop_nulls())
            if hierarchy is None
            else pl.DataFrame({key_name: [*hierarchy.levels]})
        )
        parent_values = distinct_values
        for step in plan.steps:
            if isinstance(step, Coarser) and step.variable == key_name:
                parent_values = step.values(parent_values).alias(key_name).to_frame()
        groups = pl.DataFrame({"value": texts(distinct_values[key_name]), "parent": texts(parent_values[key_name])})
        share = dict(groups.select("value", pl.len().over("parent") / groups.height).iter_rows())
        cell_losses = (
            texts(frame[key_name]).replace_strict(share, default=None, return_dtype=pl.Float64).to_numpy().copy()
        )
        is_shown = np.zeros(frame.height, bool)
        is_shown[row_origins.to_numpy()[released_frame[key_name].is_not_null().to_numpy()]] = True
        cell_losses[~is_shown & ~np.isnan(cell_losses)] = 1.0
        total_loss += min(key_cost, 100.0) * (float(np.nanmean(cell_losses)) if (~np.isnan(cell_losses)).any() else 0.0)
    return total_loss
