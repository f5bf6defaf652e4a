"""The risk of a release on one set of keys: who reads alike, and how often an intruder is right, before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, files
from naysay.errors import DataError
from naysay.microdata.attack.linkage import nearest
from naysay.microdata.attack.register import Register, frame_of
from naysay.microdata.attack.success import Share, share_of
from naysay.microdata.keys.table import texts_of_values
from naysay.microdata.protect.clues import ROW_ORDER, Hints
from naysay.microdata.protect.conditions import unmet
from naysay.microdata.protect.identity import Renumber
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.plan import Guarantee, Plan
from naysay.microdata.protect.weighing import ceiling, weighing
from naysay.microdata.risk.released import InformedIntruder, informed
from naysay.microdata.risk.written import DASH, grid, share
from naysay.show import Content, Note, Sentence

_FEWEST_TRIED, _MOST_TRIED = 50, 1_000
_DISTANCES = 200_000_000  # between people and records, key by key: a few seconds


_MEASURED = (
    "The informed intruder knows that a person is in the file, and all keys of that person, and takes a record that "
    "fits. An intruder who repeats the steps also knows everybody else's keys, and so which records are left for "
    "which people, with what other columns were seen to tell for sure. An intruder who weighs takes the likeliest "
    "record by how columns, alone and in pairs, go together with keys in the original. That is measured, not proved: "
    "a better model may find more."
)
_BOUND = (
    "The last line is proved. An intruder without the log, who knows of people no more than what the file holds of "
    "these keys, finds no more on average, however exactly they know which keys go with which other columns. An "
    "intruder who knows another column of a person may find more: make it a key."
)


@dataclass(frozen=True)
class Standing:
    """The risk on one set of keys, before and after.

    Parameters
    ----------
    keys : tuple of str
    before, after : Guarantee
        Of the file that came, and of the file as it is written, on those keys that it has; None where it has none.
    read_back : (int, int), optional
        k, and the records below the asked level, where what other columns tell of hidden cells is read, too; None where
        they tell nothing.
    beside : (int, int), optional
        The same for this release and those that are out already together, row by row; None without such.
    intruder_before, intruder_after : InformedIntruder, optional
        Who knows everybody's keys, and that a person is in the file; None for units of several rows and new records.
        `intruder_after` is also None where keys may hold other values than the true ones: exact matching is blind then.
    intruder_nearest : Share, optional
        Where exact matching is blind: of a sample of people, how many are found by the nearest record.
    most_before, most_after : float, optional
        The share of people whom an intruder can find at most who knows everybody's keys and repeats the steps: distinct
        rows, with all that other columns and releases tell, to people.
    weighing_after : float, optional
        The share whom this intruder finds who also weighs how every other column goes together with the keys: measured,
        so that a better model may find more.
    bound_after : float, optional
        The most that anybody finds who knows of each person no more than these keys, whatever other columns tell.
    """

    keys: tuple[str, ...]
    before: Guarantee
    after: Guarantee | None
    read_back: tuple[int, int] | None = None
    beside: tuple[int, int] | None = None
    intruder_before: InformedIntruder | None = None
    intruder_after: InformedIntruder | None = None
    intruder_nearest: Share | None = None
    most_before: float | None = None
    most_after: float | None = None
    weighing_after: float | None = None
    bound_after: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As fields of one JSON object with stable names."""
        pairs = {
            "guarantee_before": self.before,
            "guarantee_after": self.after,
            "intruder_before": self.intruder_before,
            "intruder_after": self.intruder_after,
        }
        risk: dict[str, Any] = {
            name: None if risk_measure is None else risk_measure.to_dict() for name, risk_measure in pairs.items()
        }
        risk["intruder_nearest"] = None if self.intruder_nearest is None else self.intruder_nearest.fields()
        risk["intruder_most"] = {
            "before": self.most_before,
            "after": self.most_after,
            "weighing_after": self.weighing_after,
            "bound_after": self.bound_after,
        }
        for name in ("read_back", "beside"):
            pair = getattr(self, name)
            risk[f"guarantee_{name}"] = None if pair is None else {"k": pair[0], "below": pair[1]}
        return risk

    def content(self, *, on: str, moved: Sequence[str]) -> list[Content]:
        """Who reads alike, and what intruders find; `on` ends titles, `moved` are steps that blind exact matching."""
        before, after = self.before, self.after
        names = {"k": "read the same (k)", "c": "show as much (c)", "m": "may be the same (m)"}
        rows = [
            [name, _number(getattr(before, what)), _number(getattr(after, what, None)),
             _number(before.below[place]), _number(None if after is None else after.below[place])]
            for place, (what, name) in enumerate(names.items())
        ]  # fmt: skip
        others = {
            "k, with what other columns tell": self.read_back,
            "k, with the releases that are out": self.beside,
        }
        for name, pair in others.items():
            if pair is not None:
                rows.append([name, DASH, _number(pair[0]), DASH, _number(pair[1])])
        heads = ["fewest that", "before", "after", f"below {before.least} before", "after"]
        return [grid(f"Fewest matches of any record{on}", heads, rows), *self._intruders(on, moved)]

    def _intruders(self, on: str, moved: Sequence[str]) -> list[Content]:
        before, after, nearest_found = self.intruder_before, self.intruder_after, self.intruder_nearest
        bound = ["at most, whatever other columns tell", _share(self.most_before), _share(self.bound_after)]
        if moved:
            moved_sentence = f"after {', '.join(moved)}, keys may hold other values than the true ones"
            note = Note(f"{moved_sentence}, and exact matching sees too little; naysay attack measures more attacks")
            if before is None or nearest_found is None:
                return [note]
            title = (
                "How often an intruder finds the right record, who takes the nearest "
                f"({nearest_found.n:,} people tried){on}"
            )
            rows = [["right", share(before.mean), str(nearest_found)], bound]
            return [grid(title, ["", "before", "after"], rows), Sentence(_BOUND, small=True), note]
        if before is None or after is None:
            return [
                Note(
                    "the informed intruder is measured on records of people, one row each, in a file that memory "
                    "holds, and on no others"
                )
            ]
        heads = ["an informed intruder is right", "before", "after"]
        rows = [
            ["of all people", share(before.mean), share(after.mean)],
            [
                f"of the {before.people_at_risk:,} with m below {before.below}",
                *(share(x.mean_at_risk) for x in (before, after)),
            ],
            ["of the one found most surely", share(before.highest), share(after.highest)],
            ["of all people, repeating the steps", _share(self.most_before), _share(self.most_after)],
            ["… and weighing all other columns", _share(self.most_before), _share(self.weighing_after)],
            bound,
        ]
        title = f"How often an intruder finds the right record{on}"
        return [grid(title, heads, rows), Sentence(f"{_MEASURED} {_BOUND}", small=True)]


def standing_on(
    plan: Plan,
    keys: tuple[str, ...],
    original: files.Original,
    written_frame: pl.DataFrame,
    frame_with_reasons: pl.DataFrame,
    stored: pl.DataFrame,
    original_rows: list[int] | None,
    below: int | None,
    key_hints: Hints | None,
    beside: Mapping[str, pl.DataFrame],
) -> Standing:
    """The risk of a release on one set of keys.

    Parameters
    ----------
    plan : Plan
    keys : tuple of str
    original : Original
    written_frame, frame_with_reasons, stored : DataFrame
        The release row by row: as it is read, with why other cells than those of keys are missing, and as it is stored.
    original_rows : list of int, optional
        The row of the original that each row was; None where they are new.
    below : int, optional
        People are at risk if their m is below this.
    key_hints : Hints, optional
        What other columns tell of these keys.
    beside : mapping of name to DataFrame
        Releases that are out already, row by row as the original.

    Raises
    ------
    DataError
        Written cells, or releases that are out, with which the target of the plan is not reached.
    """
    before = plan.guarantee(original.frame, keys)
    released_keys = [name for name in keys if name in written_frame.columns]
    if not released_keys:
        return Standing(keys, before, None)
    after, goal = plan.guarantee(written_frame, released_keys), plan.goal
    if goal is not None and (after.of(goal.reading) or 0) < goal.least:
        complaint = f"the file as written has {goal.reading} >= {after.of(goal.reading)}, not {goal}, and was not kept"
        raise DataError(f"{complaint}: values that differed in memory read differently there")
    if plan.unit is not None or original_rows is None:
        return Standing(keys, before, after)
    coarse = plan.coarsened(original.frame)
    people = {name: texts_of_values(original.frame[name]) for name in keys}
    coarse_texts, released_texts = (
        {name: texts_of_values(frame[name]) for name in released_keys} for frame in (coarse, written_frame)
    )
    least = below or before.least
    intruder_before = informed(people, people, keys, below=least)
    cells = {} if key_hints is None else key_hints.claim_numbers
    secrets = {f"told {name}": pl.Series(codes) for name, codes in cells.items() if codes.any()}
    earlier_columns: dict[str, pl.Series] = {}
    for earlier_name, table in beside.items():
        earlier_columns |= {
            f"{name} of {earlier_name}": texts_of_values(table[name]).gather(original_rows)
            for name in keys
            if name in table.columns
        }
        earlier_columns[f"in {earlier_name}"] = (
            table.select(pl.any_horizontal(pl.all().is_not_null())).to_series().gather(original_rows)
        )
    counts = _class_sizes({**released_texts, **secrets, **earlier_columns})
    joint = _fewest(_class_sizes({**released_texts, **earlier_columns}), before.least) if earlier_columns else None
    if goal is not None and goal.reading == "k" and joint is not None and joint[0] < goal.least:
        raise DataError(
            f"beside {_checks.listing_text(beside)}, {joint[1]:,} records read like fewer than {goal.least}: who has "
            f"both files knows more than each shows; have a plan proposed with --beside, or ask for less than {goal}"
        )
    for condition in () if goal is None or joint is None else goal.conditions:
        shown_out = [column.rename(name) for name, column in earlier_columns.items()]
        unmet_rows = unmet(written_frame.hstack(shown_out), [*released_keys, *earlier_columns], [condition])
        if unmet_rows:
            raise DataError(
                f"beside {_checks.listing_text(beside)}, {unmet_rows:,} records are in classes that fail {condition}: "
                "have a plan proposed with --beside, or ask for less"
            )
    read_back = _fewest(_class_sizes({**released_texts, **secrets}), before.least) if secrets else None
    rows = original.frame.height
    truth = _classes({name: cells.gather(original_rows) for name, cells in people.items()}, rows=len(original_rows))
    most = [float((1 / class_sizes).sum()) / rows for class_sizes in (_class_sizes(people), counts)]
    drawn_columns = {name for step in plan.steps if isinstance(step, Random) for name in step.variables}
    repeated_classes = _classes(
        {name: cells for name, cells in {**released_texts, **earlier_columns}.items() if name not in drawn_columns},
        rows=len(original_rows),
    )
    bound = ceiling(truth, repeated_classes, _whole_rows(plan, stored, original_rows, beside)) / rows
    standing = Standing(
        keys, before, after, read_back, joint, intruder_before=intruder_before, most_before=most[0], bound_after=bound
    )
    if plan.moved:
        return replace(standing, intruder_nearest=_nearest(released_keys, coarse, written_frame, original_rows))
    intruder_after = informed(coarse_texts, released_texts, released_keys, below=least, rows=original_rows)
    # rows that are told apart may still hold the same people, and gains in a sample are scaled: neither beats the bound
    true_columns = [
        original.frame[name].gather(original_rows) for name in keys if not original.frame.schema[name].is_nested()
    ]
    classes = _classes({**released_texts, **secrets, **earlier_columns}, rows=len(original_rows))
    right = (
        weighing(true_columns, _other_columns(plan, keys, frame_with_reasons, original_rows, beside), classes) / rows
    )
    return replace(
        standing,
        intruder_after=replace(intruder_after, at_risk=intruder_before.at_risk, below=least),
        most_after=min(most[1], bound),
        weighing_after=min(right, bound),
    )


def _other_columns(
    plan: Plan,
    keys: Sequence[str],
    frame_with_reasons: pl.DataFrame,
    original_rows: Sequence[int],
    beside: Mapping[str, pl.DataFrame],
) -> list[pl.Series]:
    """What this release and those that are out show beside the keys, with the order of rows where it is kept."""
    tables = (frame_with_reasons, *(table[original_rows] for table in beside.values()))
    shown_columns = [
        column for table in tables for column in table if column.name not in keys and not column.dtype.is_nested()
    ]
    return [
        *shown_columns,
        *([pl.int_range(len(original_rows), eager=True).alias(ROW_ORDER)] if plan.keep_order else []),
    ]


def _whole_rows(
    plan: Plan, stored: pl.DataFrame, original_rows: Sequence[int], beside: Mapping[str, pl.DataFrame]
) -> NDArray[np.int64]:
    """All that is out on each person, letter by letter, as a number: equal ones cannot be told apart."""
    renumbered_names = {name for step in plan.steps if isinstance(step, Renumber) for name in step.columns}
    # of new numbers that nobody shares, only who has none says something
    unshared_names = [
        name for name in renumbered_names if name in stored.columns and stored[name].drop_nulls().is_unique().all()
    ]
    shown_frame = stored.with_columns(pl.col(unshared_names).is_null())
    tables = {"": shown_frame, **{name: table[original_rows] for name, table in beside.items()}}
    columns = {
        f"{column.name} of {name}": column if column.dtype.is_nested() else column.cast(pl.String)
        for name, table in tables.items()
        for column in table
    }
    order = {ROW_ORDER: pl.int_range(len(original_rows), eager=True)} if plan.keep_order else {}
    return _classes({**columns, **order}, rows=len(original_rows))


def _classes(columns: Mapping[str, pl.Series], *, rows: int) -> NDArray[np.int64]:
    """A number from 0 for each row: equal ones read alike, gaps included."""
    if not columns:
        return np.zeros(rows, np.int64)
    frame = pl.DataFrame([column.rename(name) for name, column in columns.items()])
    number = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
    return number.to_numpy().astype(np.int64) - 1


def _class_sizes(columns: Mapping[str, pl.Series]) -> NDArray[np.int64]:
    """How many rows read like each row, gaps included."""
    frame = pl.DataFrame([column.rename(name) for name, column in columns.items()])
    return frame.select(pl.len().over(frame.columns)).to_series().to_numpy().astype(np.int64)


def _fewest(counts: NDArray[np.int64], least: int) -> tuple[int, int]:
    return int(counts.min()), int((counts < least).sum())


def _nearest(
    keys: Sequence[str], people: pl.DataFrame, written_frame: pl.DataFrame, original_rows: Sequence[int]
) -> Share | None:
    """How often the nearest record is the person's own, for some people of the release; None for sets of candidates."""
    if any(frame.schema[name].is_nested() for frame in (people, written_frame) for name in keys):
        return None
    # a CSV file holds numbers as texts, and between texts there is no distance
    people, written_frame = (
        frame_of(files.as_measured(frame.lazy(), keys).collect(), what="a file") for frame in (people, written_frame)
    )
    released_places = np.full(people.height, -1, dtype=np.int64)
    released_places[original_rows] = np.arange(len(original_rows))
    most = max(_FEWEST_TRIED, min(_MOST_TRIED, _DISTANCES // (len(keys) * max(written_frame.height, 1))))
    tried_people = (
        Register(tuple(keys), people, written_frame, released_places).take(np.sort(original_rows)).sampled(most, seed=1)
    )
    return share_of(nearest(tried_people)["nearest"].right)


def _number(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return share(math.nan if value is None else value)
