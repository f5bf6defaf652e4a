"""A plan: what a release must reach, and the steps that lead there. It is a file that people read, change and run.

Beside it stands what a file guarantees: the least k, c and m of its records.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import _checks
from naysay._values import JsonNode, JsonObject
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.matches import readings
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.drawn import Negative, Pram, Synthesize
from naysay.microdata.protect.hierarchies import Generalize
from naysay.microdata.protect.method import Done, Log, Method, Step, keyed, opened, plain_parameter, texts
from naysay.microdata.protect.numbers import Microaggregate, Noise, RankSwap, Round
from naysay.microdata.protect.recoding import (
    Areas,
    Bins,
    Bottom,
    Coarser,
    Dates,
    Drop,
    Intervals,
    Recode,
    Renumber,
    Shuffle,
    Top,
)
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.target import Ints, Target, Units, prices, totals, unmet

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
    importance: Mapping[str, str | float] = field(default_factory=dict)
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

    @property
    def renumbered(self) -> list[str]:
        """The columns of numbers that are drawn anew."""
        return list(dict.fromkeys(name for step in self.steps if isinstance(step, Renumber) for name in step.columns))

    def guarantee(self, table: object, keys: Sequence[str] | None = None) -> Guarantee:
        """What a table guarantees on some keys of the plan, by default all."""
        least = 3 if self.goal is None else self.goal.least
        return guarantee(table, keys or self.keys, least=least, unit=self.unit, order=self.order)

    def apply(self, table: object) -> tuple[Any, Log]:
        """The table after all steps, and the log.

        Raises
        ------
        DataError
            What a step cannot do, or a target that the steps do not reach: how near they come, and what stands in the
            way.
        """
        frame, to_table_kind = opened(table)
        released_frame, log, _ = self.run(frame)
        return to_table_kind(released_frame), log

    def run(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Log, pl.Series]:
        """The same in memory, and the row of the original that each row of the result was; empty for new rows."""
        needed_columns = [*self.keys, *(name for step in self.steps for name in step.needs)]
        check_names(
            [*needed_columns, *(column for column in (self.unit, self.order) if column is not None)], frame.columns
        )
        current_frame, log, row_origins = frame, Log(()), pl.int_range(frame.height, eager=True)
        area_steps: list[tuple[Areas, pl.DataFrame]] = []
        for step in self.steps:
            prepared_method = step.prepared()
            if isinstance(prepared_method, Areas):
                area_rows = pl.DataFrame({"row": row_origins, "area": texts(current_frame[prepared_method.variable])})
                area_steps.append((prepared_method, area_rows))
            done = self._done(prepared_method, current_frame)
            log += Log((Step.of(prepared_method, current_frame, done),))
            row_origins = row_origins if done.rows is None else row_origins.gather(done.rows)
            current_frame = done.frame
        self._check(current_frame)
        for areas, area_rows in area_steps:
            areas.check_left(current_frame, row_origins, area_rows)
        return current_frame, log, row_origins

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
        for step_number, step in enumerate(self.steps):
            is_changed = any(
                isinstance(earlier_step, Suppress) or not earlier_step.foretold
                for earlier_step in self.steps[:step_number]
            )
            if set(step.variables) & set(self.keys) and (not step.foretold or (isinstance(step, Top) and is_changed)):
                moving_steps.append(step.name)
        return list(dict.fromkeys(moving_steps))

    def _done(self, method: Method, frame: pl.DataFrame) -> Done:
        """One step; what all rows of a household share is drawn once for the household."""
        if self.unit is None or isinstance(method, Coarser | Suppress | Shuffle | Renumber):
            return method.done(frame)
        distinct_counts = frame.group_by(self.unit).agg(
            pl.col(column_name).n_unique() for column_name in method.variables
        )
        is_shared = {
            column_name: bool((distinct_counts[column_name] == 1).all())
            for column_name in method.variables
            if column_name != self.unit
        }
        if distinct_counts.height == frame.height or not any(is_shared.values()):
            return method.done(frame)
        if not all(is_shared.values()):
            shared_names, differing_names = (
                [column_name for column_name in is_shared if is_shared[column_name] is same] for same in (True, False)
            )
            complaint = (
                f"all rows of one {self.unit!r} share {_checks.listing_text(shared_names)}, "
                f"but not {_checks.listing_text(differing_names)}"
            )
            raise DataError(
                f"{complaint}; give {method.name!r} in two steps, or members of one unit would differ where they cannot"
            )
        heads = frame.unique(self.unit, keep="first", maintain_order=True)
        heads_done = method.done(heads)
        drawn_heads = heads_done.frame.select(self.unit, *method.variables)
        return Done(frame.drop(method.variables).join(drawn_heads, on=self.unit, how="left", maintain_order="left")
                    .select(frame.columns), None, heads_done.notes)  # fmt: skip

    def _check(self, released_frame: pl.DataFrame) -> None:
        goal = self.goal
        if goal is None:
            return
        self.check_conditions(released_frame)
        for key_set in self.known:
            # who leaves a key out has the others to protect
            released_keys = [name for name in key_set if name in released_frame.columns]
            if not released_keys:
                continue
            key_guarantee = self.guarantee(released_frame, released_keys)
            fewest_matches = key_guarantee.of(goal.reading)
            if fewest_matches is None:
                raise DataError(f"units of several rows have k only; ask for the target 'k >= {goal.least}'")
            if fewest_matches >= goal.least:
                continue
            below_count = key_guarantee.below["kcm".index(goal.reading)]
            value_counts = {name: released_frame[name].n_unique() for name in released_keys}
            finest_key = max(value_counts, key=lambda name: value_counts[name])
            raise DataError(
                f"the plan reaches {goal.reading} >= {fewest_matches}, not {goal}: {below_count:,} of "
                f"{key_guarantee.records:,} records stay below it; {finest_key!r} tells most apart, with "
                f"{value_counts[finest_key]:,} values: recode it, or end the plan with a step that suppresses"
            )

    def check_conditions(self, frame: pl.DataFrame) -> None:
        """Raise unless the classes of a table meet the conditions of the target on sensitive columns."""
        present_keys = [name for name in self.keys if name in frame.columns]
        for condition in () if self.goal is None or not present_keys else self.goal.conditions:
            failing_count = unmet(frame, present_keys, [condition], unit=self.unit, order=self.order)
            if failing_count:
                complaint = f"{failing_count:,} of {frame.height:,} records are in classes that fail {condition}"
                raise DataError(f"{complaint}: end the plan with a step that suppresses for the same target")

    def form(self) -> JsonObject:
        """The plan as plain data."""
        plain_form: JsonObject = {"naysay": "plan", "version": _VERSION, "keys": list(self.keys)}
        plain_form["target"] = "none" if self.goal is None else str(self.goal)
        for field_name in ("importance", "unit", "order", "missing", "sets", "accepted", "keep_order"):
            if getattr(self, field_name):
                plain_form[field_name] = plain_parameter(getattr(self, field_name))
        return plain_form | {"step": [step.form() for step in self.steps]}

    def toml(self) -> str:
        """The plan as the text of a TOML file."""
        import tomlkit

        return tomlkit.dumps(self.form())

    @classmethod
    def of_form(cls, node: JsonNode, *, folder: Path | None = None) -> Plan:
        """The plan that plain data describes; files that it names are in the folder."""
        if node.get("naysay") != "plan" or node.get("version") != _VERSION:
            raise DataError(f'a plan begins with naysay = "plan" and version = {_VERSION}; this file does not')
        entries = {
            entry_name: value
            for entry_name, value in node.items()
            if entry_name not in ("naysay", "version", "step", "log")
        }
        entry_names = [plan_field.name for plan_field in fields(cls)]
        for entry_name in entries:
            if entry_name not in entry_names or entry_name == "steps":
                raise DataError(
                    f"a plan has no entry {entry_name!r}; {_checks.nearest(entry_name, [*entry_names, 'step'])}"
                )
        if "keys" not in entries:
            raise DataError("a plan must name its keys")
        step_forms = node.get("step", [])
        if not isinstance(step_forms, list):
            raise DataError("steps of a plan are written as [[step]], one after the other")
        entries["target"] = None if entries.get("target") == "none" else entries.get("target", "k >= 3")
        return cls(**entries, steps=[method_of(step_form, folder=folder) for step_form in step_forms])

    @classmethod
    def read(cls, source: str | Path) -> Plan:
        """The plan in a TOML file, or in its text.

        Raises
        ------
        DataError
            A file that cannot be read, text that is no TOML, or a plan that cannot be: names the entry.
        """
        plan_folder = None
        if isinstance(source, Path):
            try:
                plan_text, plan_folder = source.read_text(encoding="utf-8"), source.parent
            except (OSError, UnicodeError) as error:
                raise DataError(f"cannot read the plan {str(source)!r}: {error}") from None
        else:
            plan_text = source
        try:
            plan_form = tomllib.loads(plan_text)
        except tomllib.TOMLDecodeError as error:
            named = f", and {str(source)!r} is not" if plan_folder is not None else ""
            raise DataError(f"a plan must be TOML{named}: {error}") from None
        return cls.of_form(plan_form, folder=plan_folder)


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

    def to_dict(self) -> JsonObject:
        """As one JSON object with stable names."""
        below = dict(zip(("k", "c", "m"), self.below, strict=True))
        return {"records": self.records, "k": self.k, "c": self.c, "m": self.m, "least": self.least, "below": below}


def guarantee(
    table: object,
    keys: Sequence[str],
    *,
    least: int = 3,
    unit: str | None = None,
    order: str | None = None,
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

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> found = protect.guarantee({"age": [40, 36, 36, None], "sex": ["f", "m", "m", "m"]}, ["age", "sex"], least=2)
    >>> found.k, found.c, found.m, found.below
    (1, 1, 1, (2, 1, 1))
    """
    frame, _ = opened(table)
    return of_units(Units.of(frame, Keys(keyed(frame, keys), list(keys)), unit=unit, order=order), least)


def of_units(units: Units, least: int) -> Guarantee:
    """The same of units that are counted already."""

    def below(match_counts: Ints) -> int:
        return int(units.count[match_counts < least].sum())

    k = totals(units.shown_numbers(-1, np.arange(len(units))), units.count)
    if not units.single:
        return Guarantee(units.total, int(k.min()), None, None, (below(k), None, None), least)
    c, m = readings(units.keys).showing, readings(units.keys).possible
    return Guarantee(units.total, int(k.min()), int(c.min()), int(m.min()), (below(k), below(c), below(m)), least)


_RECODING = (Recode, Areas, Bins, Intervals, Dates, Generalize)
_NUMBERS = (Top, Bottom, Round, Noise, Microaggregate)
_RANDOMIZED = (Pram, Negative)

METHODS: dict[str, type[Method]] = {
    method_class.name: method_class
    for method_class in (Drop, *_RECODING, Suppress, *_NUMBERS, RankSwap, *_RANDOMIZED, Synthesize, Shuffle, Renumber)
}
"""A new method is a class in a file of its own, and its name here."""


def method_of(node: JsonNode, *, folder: Path | None = None) -> Method:
    """The method that one step of a plan describes.

    Examples
    --------
    >>> method_of({"method": "bins", "variable": "age", "width": 5})
    Bins(variable='age', width=5, base=0, keep=())
    """
    method_name = node.get("method")
    if method_name not in METHODS:
        raise DataError(f"a step must name one of the methods {_checks.listing_text(METHODS, 40)}; got {method_name!r}")
    return METHODS[str(method_name)].of_form(node, folder=folder)
