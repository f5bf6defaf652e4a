"""A plan: what a release must reach, and the steps that lead there. It is a file that people read, change and run.

What a file guarantees: the least k, c and m of its records.

A plan that reaches a target with few losses, from what a table holds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.codes import Form
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.conditions import unmet
from naysay.microdata.protect.dropping import Drop
from naysay.microdata.protect.identity import Renumber, Shuffle
from naysay.microdata.protect.lattice import Generalize, Hierarchy, nesting
from naysay.microdata.protect.log import Done, Log, Step
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.methods import method_of
from naysay.microdata.protect.recoding import Bins, Coarser, Intervals, Top
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.tables import keyed, opened, texts
from naysay.microdata.protect.target import Target, prices
from naysay.microdata.protect.units import Ints, Units, totals
from naysay.microdata.risk.readings import readings

_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Steps that protect a table, and the target that they must reach.

    Parameters
    ----------
    keys : sequence of str
        What an intruder may know.
    target : str or Target, optional
        Such as ``k >= 3``. Without one, steps are done and nothing is promised.
    steps : sequence of Method
    importance : mapping of key to {"low", "normal", "high", "must"} or float
        What losing a cell of a key costs.
    unit, order : str, optional
        The column that says which rows are one household, or one person over waves; and the one that orders them.
    missing : sequence of str
        Cells that mean missing, as they are written in the file.
    sets : sequence of sequences of keys
        What different intruders may know, each of which must reach the target; by default one set, all keys.
    accepted : sequence of str
        Columns that may stay in a release although they tell of what it hides.
    keep_order : bool
        Whether a release has the order of the original, which links it with other files.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> plan = protect.Plan(keys=["age"], target="k >= 2", steps=[protect.Bins(variable="age", width=10)])
    >>> safe, log = plan.apply({"age": [31, 38, 44, 45]})
    >>> safe["age"]
    ['30 to 39', '30 to 39', '40 to 49', '40 to 49']
    >>> protect.Plan.read(plan.toml()) == plan
    True
    """

    keys: Sequence[str]
    target: Target | str | None = "k >= 3"
    steps: Sequence[Method] = ()
    importance: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None
    order: str | None = None
    missing: Sequence[str] = ()
    sets: Sequence[Sequence[str]] = ()
    accepted: Sequence[str] = ()
    keep_order: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.keys, str) or not self.keys:
            raise DataError(f"a plan needs its keys as a list of column names; got {self.keys!r}")
        for name in ("keys", "steps", "missing", "accepted"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "sets", tuple(map(tuple, self.sets)))
        for key_set in self.sets:
            check_names(key_set, self.keys, what="key")
        for step in self.steps:
            if not isinstance(step, Method):
                raise DataError(f"the steps of a plan must be methods; got {step!r}")
        object.__setattr__(self, "target", None if self.target is None else Target.of(self.target))
        prices(tuple(self.keys), self.importance)

    @property
    def goal(self) -> Target | None:
        """The target, read."""
        return None if self.target is None else Target.of(self.target)

    @property
    def known(self) -> tuple[tuple[str, ...], ...]:
        """The sets of keys that must reach the target."""
        return tuple(map(tuple, self.sets)) or (tuple(self.keys),)

    def guarantee(self, table: Any, keys: Sequence[str] | None = None) -> Guarantee:
        """What a table guarantees on some keys of the plan, by default all."""
        least = 3 if self.goal is None else self.goal.least
        return guarantee(table, keys or self.keys, least=least, unit=self.unit, order=self.order)

    def apply(self, table: Any) -> tuple[Any, Log]:
        """The table after all steps, and the log.

        Raises
        ------
        DataError
            What a step cannot do, or a target that the steps do not reach: how near they come, and what stands in the
            way.
        """
        frame, back = opened(table)
        released_frame, log, _ = self.run(frame)
        return back(released_frame), log

    def run(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Log, pl.Series]:
        """The same in memory, and the row of the original that each row of the result was; empty for new rows."""
        needed_columns = [*self.keys, *(name for step in self.steps for name in step.needs)]
        check_names(
            [*needed_columns, *(column for column in (self.unit, self.order) if column is not None)], frame.columns
        )
        current_frame, log, rows = frame, Log(()), pl.int_range(frame.height, eager=True)
        for step in self.steps:
            method = step.prepared()
            done = self._done(method, current_frame)
            log += Log((Step.of(method, current_frame, done),))
            rows = rows if done.rows is None else rows.gather(done.rows)
            current_frame = done.frame
        self._check(current_frame)
        return current_frame, log, rows

    def coarsened(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The original in the values of the release: only what is recoded, as an intruder can do it themselves."""
        for step in self.steps:
            if step.foretold and not isinstance(step, Suppress | Drop | Shuffle | Renumber):
                frame = step.done(frame).frame
        return frame

    @property
    def moved(self) -> list[str]:
        """The steps after which a key may hold another value than the true one, so that exact matching is blind.

        A threshold that is taken from the file is another one where a step before it emptied or moved cells.
        """
        moving_steps: list[str] = []
        for number, step in enumerate(self.steps):
            is_changed = any(
                isinstance(earlier_step, Suppress) or not earlier_step.foretold for earlier_step in self.steps[:number]
            )
            if set(step.variables) & set(self.keys) and (not step.foretold or (isinstance(step, Top) and is_changed)):
                moving_steps.append(step.name)
        return list(dict.fromkeys(moving_steps))

    def _done(self, method: Method, frame: pl.DataFrame) -> Done:
        """One step; what all rows of a household share is drawn once for the household."""
        if self.unit is None or isinstance(method, Coarser | Suppress | Shuffle | Renumber):
            return method.done(frame)
        distinct_counts = frame.group_by(self.unit).agg(pl.col(name).n_unique() for name in method.variables)
        alike = {name: bool((distinct_counts[name] == 1).all()) for name in method.variables if name != self.unit}
        if distinct_counts.height == frame.height or not any(alike.values()):
            return method.done(frame)
        if not all(alike.values()):
            shared_names, differing_names = ([name for name in alike if alike[name] is same] for same in (True, False))
            complaint = (
                f"all rows of one {self.unit!r} share {_checks.listing_text(shared_names)}, "
                f"but not {_checks.listing_text(differing_names)}"
            )
            raise DataError(
                f"{complaint}; give {method.name!r} in two steps, or members of one unit would differ where they cannot"
            )
        heads = frame.unique(self.unit, keep="first", maintain_order=True)
        done = method.done(heads)
        drawn_heads = done.frame.select(self.unit, *method.variables)
        return Done(frame.drop(method.variables).join(drawn_heads, on=self.unit, how="left", maintain_order="left")
                    .select(frame.columns), None, done.notes)  # fmt: skip

    def _check(self, released_frame: pl.DataFrame) -> None:
        goal = self.goal
        if goal is None:
            return
        self.check_conditions(released_frame)
        for key_set in self.known:
            keys = [
                name for name in key_set if name in released_frame.columns
            ]  # who leaves a key out has the others to protect
            if keys:
                self._check_set(released_frame, goal, keys)

    def _check_set(self, released_frame: pl.DataFrame, goal: Target, keys: Sequence[str]) -> None:
        key_guarantee = self.guarantee(released_frame, keys)
        fewest_matches = key_guarantee.of(goal.reading)
        if fewest_matches is None:
            raise DataError(f"units of several rows have k only; ask for the target 'k >= {goal.least}'")
        if fewest_matches < goal.least:
            below = key_guarantee.below["kcm".index(goal.reading)]
            values = {name: released_frame[name].n_unique() for name in keys}
            finest = max(values, key=lambda name: values[name])
            raise DataError(
                f"the plan reaches {goal.reading} >= {fewest_matches}, not {goal}: {below:,} of "
                f"{key_guarantee.records:,} records stay below it; {finest!r} tells most apart, with "
                f"{values[finest]:,} values: recode it, or end the plan with a step that suppresses"
            )

    def check_conditions(self, frame: pl.DataFrame) -> None:
        """Raise unless the classes of a table meet the conditions of the target on sensitive columns."""
        keys = [name for name in self.keys if name in frame.columns]
        for condition in () if self.goal is None or not keys else self.goal.conditions:
            rows = unmet(frame, keys, [condition], unit=self.unit, order=self.order)
            if rows:
                complaint = f"{rows:,} of {frame.height:,} records are in classes that fail {condition}"
                raise DataError(f"{complaint}: end the plan with a step that suppresses for the same target")

    def form(self) -> dict[str, Any]:
        """The plan as plain data."""
        plain_form: dict[str, Any] = {"naysay": "plan", "version": _VERSION, "keys": list(self.keys)}
        plain_form["target"] = "none" if self.goal is None else str(self.goal)
        if self.importance:
            plain_form["importance"] = dict(self.importance)
        for name in ("unit", "order"):
            if getattr(self, name) is not None:
                plain_form[name] = getattr(self, name)
        if self.missing:
            plain_form["missing"] = list(self.missing)
        if self.sets:
            plain_form["sets"] = [list(key_set) for key_set in self.sets]
        if self.accepted:
            plain_form["accepted"] = list(self.accepted)
        if self.keep_order:
            plain_form["keep_order"] = True
        return plain_form | {"step": [step.form() for step in self.steps]}

    def toml(self) -> str:
        """The plan as the text of a TOML file."""
        import tomlkit

        return tomlkit.dumps(self.form())

    @classmethod
    def of_form(cls, node: Mapping[str, Any], *, folder: Path | None = None) -> Plan:
        """The plan that plain data describes; files that it names are in the folder."""
        if node.get("naysay") != "plan" or node.get("version") != _VERSION:
            raise DataError(f'a plan begins with naysay = "plan" and version = {_VERSION}; this file does not')
        entries = {name: value for name, value in node.items() if name not in ("naysay", "version", "step", "log")}
        entry_names = [plan_field.name for plan_field in fields(cls)]
        for name in entries:
            if name not in entry_names or name == "steps":
                raise DataError(f"a plan has no entry {name!r}; {_checks.nearest(name, [*entry_names, 'step'])}")
        if "keys" not in entries:
            raise DataError("a plan must name its keys")
        steps = node.get("step", [])
        if not isinstance(steps, list):
            raise DataError("steps of a plan are written as [[step]], one after the other")
        entries["target"] = None if entries.get("target") == "none" else entries.get("target", "k >= 3")
        return cls(**entries, steps=[method_of(step_form, folder=folder) for step_form in steps])

    @classmethod
    def read(cls, source: str | Path) -> Plan:
        """The plan in a TOML file, or in its text.

        Raises
        ------
        DataError
            A file that cannot be read, text that is no TOML, or a plan that cannot be: names the entry.
        """
        folder = None
        if isinstance(source, Path):
            try:
                text, folder = source.read_text(encoding="utf-8"), source.parent
            except (OSError, UnicodeError) as error:
                raise DataError(f"cannot read the plan {str(source)!r}: {error}") from None
        else:
            text = source
        try:
            node = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            named = f", and {str(source)!r} is not" if folder is not None else ""
            raise DataError(f"a plan must be TOML{named}: {error}") from None
        return cls.of_form(node, folder=folder)


@dataclass(frozen=True)
class Guarantee:
    """The fewest matches of any record, in three readings of a gap; k ≤ c ≤ m.

    Parameters
    ----------
    records : int
        People; households, where rows were read as units.
    k : int
        Fewest that read the same, gaps included. Whoever knows the keys, even everybody's, picks the right record with
        a probability of at most 1/k.
    c : int, optional
        Fewest that hold, known, all that a record shows. No bound: true values behind gaps tell records apart.
    m : int, optional
        Fewest that may be the same, a gap matching anything. No bound either.
    below : (int, int, int)
        Records for which k, c and m are below the asked level.
    least : int
        That level.

    c and m are None for units of several rows.
    """

    records: int
    k: int
    c: int | None
    m: int | None
    below: tuple[int, int | None, int | None]
    least: int

    def of(self, reading: str) -> int | None:
        """The least count in one reading."""
        return {"k": self.k, "c": self.c, "m": self.m}[reading]

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        below = dict(zip(("k", "c", "m"), self.below, strict=True))
        return {"records": self.records, "k": self.k, "c": self.c, "m": self.m, "least": self.least, "below": below}


def guarantee(
    table: Any,
    keys: Sequence[str],
    *,
    least: int = 3,
    unit: str | None = None,
    order: str | None = None,
    cells: dict[str, Form] | None = None,
) -> Guarantee:
    """The least k, c and m of a table's records, and how many records are below a level.

    Parameters
    ----------
    table : dataframe or mapping of columns
    keys : sequence of str
    least : int
        The level.
    unit, order : str, optional
        The column that says which rows belong to one household or person, and the one that orders them, such as a wave.
    cells : mapping of name to Form, optional
        How a key writes its candidates, as in `naysay.microdata.Keys`.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> found = protect.guarantee({"age": [40, 36, 36, None], "sex": ["f", "m", "m", "m"]}, ["age", "sex"], least=2)
    >>> found.k, found.c, found.m, found.below
    (1, 1, 1, (2, 1, 1))
    """
    frame, _ = opened(table)
    table_keys = Keys(keyed(frame, [name for name in keys if name not in (cells or {})]), list(keys), cells=cells)
    return of_units(Units.of(frame, table_keys, unit=unit, order=order), least)


def of_units(units: Units, least: int) -> Guarantee:
    """The same of units that are counted already."""
    k = totals(units.shown_numbers(-1, np.arange(len(units))), units.count)
    c: Ints | None = None
    m: Ints | None = None
    if units.single:
        count_readings = readings(units.keys)
        c, m = count_readings.showing, count_readings.possible
    below = tuple(None if counts is None else int(units.count[counts < least].sum()) for counts in (k, c, m))
    fewest = tuple(None if counts is None else int(counts.min()) for counts in (k, c, m))
    return Guarantee(units.total, fewest[0] or 0, fewest[1], fewest[2], (below[0] or 0, below[1], below[2]), least)


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
    unit_options: dict[str, Any] = {"unit": unit, "order": order}
    last = Suppress(
        keys=tuple(keys),
        target=goal,
        importance=importance or {},
        strata=tuple(strata),
        sets=sets,
        related=related or {},
        **unit_options,
    )
    free = [name for name in keys if name not in (bins or {})]
    free = [name for name in free if np.isfinite(price[name]) or name in (hierarchies or {})]
    ladders = {name: _ladder(name, frame[name], (hierarchies or {}).get(name)) for name in free}

    def plan_with(steps: Sequence[Method]) -> Plan:
        all_steps = [*first, *steps, last]
        about: dict[str, Any] = {"importance": importance or {}, "missing": missing, "sets": sets, **unit_options}
        return Plan(keys=tuple(keys), target=goal, steps=all_steps, **about)

    tuples = frame.select(pl.struct(keys).n_unique()).item()
    descent = _Descent(frame, ladders, max(_FEWEST_PLANS, _WORK // (tuples << min(len(keys), 16))))
    return plan_with(descent.best(lambda steps: _loss(plan_with(steps), frame, price, hierarchies or {})))


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
    sorted_numbers = np.sort(number.to_numpy())
    span = float(sorted_numbers[-1] - sorted_numbers[0])
    is_whole = bool((sorted_numbers == np.floor(sorted_numbers)).all())
    widths = (
        nesting(sorted_numbers.tolist()) if is_whole else [float(f"{span / parts:.0e}") for parts in (50, 20, 10, 5, 2)]
    )
    ladder: list[Method | None] = [None]
    for width in [*([1] if is_whole and number.n_unique() <= _MOST_BOUNDS else []), *widths]:
        low, high = (np.quantile(sorted_numbers, share) for share in (_TAIL, 1 - _TAIL))
        first, last = np.ceil(low / width) * width, np.floor(high / width) * width
        bounds = np.arange(first, last + width / 2, width)
        tails = (
            Intervals(variable=name, bounds=[round(float(bound), 9) for bound in bounds]) if len(bounds) > 1 else None
        )
        ladder += [
            rung for rung in (Bins(variable=name, width=width) if width != 1 else None, tails) if rung is not None
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
            place, has_moved = start, True
            self._loss(start, loss)
            while has_moved and self.most > 0:
                has_moved = False
                for key, height in enumerate(heights):
                    for rungs_up in (1, 2, -1, -2):
                        other_place = [*place[:key], place[key] + rungs_up, *place[key + 1 :]]
                        while 0 <= other_place[key] <= height and self._loss(other_place, loss) < self._loss(
                            place, loss
                        ):
                            place, has_moved = other_place, True
                            other_place = [*place[:key], place[key] + rungs_up, *place[key + 1 :]]
        best_place = min(self.losses, key=lambda tried_place: (self.losses[tried_place], tried_place))
        if np.isinf(self.losses[best_place]):
            raise self.problem or DataError("no plan was found")
        return self._steps(best_place)

    def _steps(self, place: Sequence[int]) -> list[Method]:
        rungs = (ladder[rung] for ladder, rung in zip(self.ladders.values(), place, strict=True))
        return [step for step in rungs if step is not None]

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
    released_frame, _, rows = plan.run(frame)
    total = 0.0
    for name, weight in price.items():
        hierarchy = hierarchies.get(name)
        values = (
            frame.select(pl.col(name).unique().drop_nulls())
            if hierarchy is None
            else pl.DataFrame({name: [*hierarchy.levels]})
        )
        parents = values
        for step in plan.steps:
            if isinstance(step, Coarser) and step.variable == name:
                parents = step.values(parents).alias(name).to_frame()
        groups = pl.DataFrame({"value": texts(values[name]), "parent": texts(parents[name])})
        share = dict(groups.select("value", pl.len().over("parent") / groups.height).iter_rows())
        loss = texts(frame[name]).replace_strict(share, default=None, return_dtype=pl.Float64).to_numpy().copy()
        is_shown = np.zeros(frame.height, bool)
        is_shown[rows.to_numpy()[released_frame[name].is_not_null().to_numpy()]] = True
        loss[~is_shown & ~np.isnan(loss)] = 1.0
        total += min(weight, 100.0) * (float(np.nanmean(loss)) if (~np.isnan(loss)).any() else 0.0)
    return total
