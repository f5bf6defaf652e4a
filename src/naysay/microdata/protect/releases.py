"""A release: a file protected by a plan, written whole or not at all, with its risk before and after."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, files
from naysay.errors import DataError
from naysay.microdata.attack.aligned import frame_of
from naysay.microdata.attack.nearest import nearest
from naysay.microdata.attack.register import Register
from naysay.microdata.attack.success import Share, share_of
from naysay.microdata.keys.table import texts_of_values
from naysay.microdata.protect.carried import codebook
from naysay.microdata.protect.clues import ROW_ORDER, Hint, Hints, hints
from naysay.microdata.protect.dropping import Drop, grouping, naming
from naysay.microdata.protect.guarantees import Guarantee
from naysay.microdata.protect.identity import Renumber, Shuffle, numbers_of_people
from naysay.microdata.protect.log import Log
from naysay.microdata.protect.losses import Losses, losses_of
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.synthetic import Synthesize
from naysay.microdata.protect.weighing import weighing
from naysay.microdata.risk.released import InformedIntruder, informed
from naysay.microdata.risk.written import DASH, Printed, grid, share
from naysay.printing import Content, Facts, Note, Sentence

__all__ = ["Release", "Standing", "log_of", "planned", "release"]

_FEWEST_TRIED, _MOST_TRIED = 50, 1_000
_CHOSEN = 2**40  # below it a seed can be guessed, and one of 63 bits is drawn once in 8 million times
_DISTANCES = 200_000_000  # between people and records, key by key: a few seconds


@dataclass(frozen=True)
class Standing:
    """The risk on one set of keys, before and after.

    Parameters
    ----------
    keys : tuple of str
    before, after : Guarantee
        Of the file that came, and of the file as it is written; `after` is None where keys are left out.
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
        The share whom this intruder finds who also weighs how every other column goes together with the keys.
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

    def to_dict(self) -> dict[str, Any]:
        """As fields of one JSON object with stable names."""
        pairs = {
            "guarantee_before": self.before,
            "guarantee_after": self.after,
            "intruder_before": self.intruder_before,
            "intruder_after": self.intruder_after,
        }
        risk: dict[str, Any] = {name: None if each is None else each.to_dict() for name, each in pairs.items()}
        risk["intruder_nearest"] = None if self.intruder_nearest is None else self.intruder_nearest.fields()
        risk["intruder_most"] = {
            "before": self.most_before,
            "after": self.most_after,
            "weighing_after": self.weighing_after,
        }
        for name in ("read_back", "beside"):
            pair = getattr(self, name)
            risk[f"guarantee_{name}"] = None if pair is None else {"k": pair[0], "below": pair[1]}
        return risk


@dataclass(frozen=True)
class Release(Printed):
    """What was done to a file, and what is left of its risk.

    Parameters
    ----------
    plan : Plan
        Its steps hold their seeds: run again, they give the same file.
    log : Log
    standings : tuple of Standing
        The risk on each set of keys.
    hints : tuple of Hint
        What other columns tell of cells that are hidden; a release is written only where all of it is accepted.
    labels : mapping of name to label
        What the file calls its variables.
    naming : sequence of str
        Columns of the release that differ for all who have them.
    households : sequence of str
        Columns of the release that seem to say which rows are one household, where people were protected one by one.
    reasons : mapping of key to int
        Cells of the original that said why they are missing; a release only says that they are.
    notes : sequence of str
        What else a curator must know.
    source : mapping
        Where it comes from: the file, its hash, rows, the date, the version.
    losses : Losses, optional
        Answers that are empty or others now; None where records are made up.
    """

    plan: Plan
    log: Log
    standings: tuple[Standing, ...]
    hints: tuple[Hint, ...]
    labels: Mapping[str, str]
    naming: Sequence[str]
    households: Sequence[str]
    reasons: Mapping[str, int]
    notes: Sequence[str]
    source: Mapping[str, Any]
    losses: Losses | None = None

    @property
    def worst(self) -> Standing:
        """The set of keys on which most people may be found after all steps."""
        return max(self.standings, key=lambda each: each.weighing_after or 0.0)

    @property
    def before(self) -> Guarantee:
        """Of the file that came, on the worst set of keys."""
        return self.worst.before

    @property
    def after(self) -> Guarantee | None:
        """Of the file as it is written, on the worst set of keys."""
        return self.worst.after

    @property
    def intruder_before(self) -> InformedIntruder | None:
        """Who knows the worst set of keys, in the file that came."""
        return self.worst.intruder_before

    @property
    def intruder_after(self) -> InformedIntruder | None:
        """Who knows the worst set of keys, in the release."""
        return self.worst.intruder_after

    @property
    def intruder_nearest(self) -> Share | None:
        """Who takes the nearest record, on the worst set of keys."""
        return self.worst.intruder_nearest

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names; the risk is that on the worst set of keys."""
        several = [{"keys": list(each.keys), **each.to_dict()} for each in self.standings]
        return {
            "plan": self.plan.form(),
            **self.log.to_dict(),
            **self.worst.to_dict(),
            "sets": several if len(several) > 1 else [],
            "hints": [hint.to_dict() for hint in self.hints],
            "naming": list(self.naming),
            "households": list(self.households),
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "source": dict(self.source),
            "losses": None if self.losses is None else self.losses.to_dict(),
        }

    def content(self) -> list[Content]:
        """Provenance, what was done, and risk before and after."""
        named = [f"{name} ({self.labels[name]})" if name in self.labels else name for name in self.plan.keys]
        goal = "none" if self.plan.goal is None else str(self.plan.goal)
        told = ((name, f"{self.source[name]:,}") for name in ("rows", "rows released"))
        facts = [("original", str(self.source["original"])), *told, ("keys", ", ".join(named)), ("target", goal)]
        risk = [part for each in self.standings for part in self._risk(each)]
        return [Facts(tuple(facts)), *self.log.content(), *risk, *self._notes()]

    def _risk(self, standing: Standing) -> list[Content]:
        """The tables of one set of keys."""
        before, after = standing.before, standing.after
        names = {"k": "read the same (k)", "c": "show as much (c)", "m": "may be the same (m)"}
        rows = [
            [name, _number(getattr(before, what)), _number(getattr(after, what, None)),
             _number(before.below[place]), _number(None if after is None else after.below[place])]
            for place, (what, name) in enumerate(names.items())
        ]  # fmt: skip
        others = {
            "k, with what other columns tell": standing.read_back,
            "k, with the releases that are out": standing.beside,
        }
        for name, pair in others.items():
            if pair is not None:
                rows.append([name, DASH, _number(pair[0]), DASH, _number(pair[1])])
        heads = ["fewest that", "before", "after", f"below {before.least} before", "after"]
        on = f", on {', '.join(standing.keys)}" if len(self.standings) > 1 else ""
        return [grid(f"Fewest matches of any record{on}", heads, rows), *self._intruder(standing, on)]

    def _notes(self) -> list[Content]:
        """What a curator may overlook."""
        left = f"{', '.join(self.naming)} differ for all who have them: they name people; leave them out (--drop)"
        notes: list[Content] = [Note(left)] if self.naming else []
        for hint in self.hints:
            accepted = set(hint.columns) <= set(self.plan.accepted)
            notes.append(
                Note(f"{hint}; that is {'accepted, and stands in the log' if accepted else 'not accepted yet'}")
            )
        notes += [Note(text) for text in self.notes]
        if self.households:
            name = self.households[0]
            told = f"{_checks.shown(self.households)} may say which rows are one household"
            notes.append(
                Note(
                    f"{told}: rows were protected one by one, and a household is found by the keys of all its "
                    f"members together; leave it out (--drop {name}), or protect households (--unit {name})"
                )
            )
        if self.reasons:
            told = _checks.shown([f"{cells:,} of {name}" for name, cells in self.reasons.items()])
            notes.append(
                Note(
                    f"cells that say why they are missing ({told}) are plain gaps in the release: "
                    "with the reason, rows that are counted as the same would read differently"
                )
            )
        return notes

    def _intruder(self, standing: Standing, on: str) -> list[Content]:
        before, after, nearest = standing.intruder_before, standing.intruder_after, standing.intruder_nearest
        if self.plan.moved:
            moved = f"after {', '.join(self.plan.moved)}, keys may hold other values than the true ones"
            note = Note(f"{moved}, and exact matching sees too little; naysay attack measures more attacks")
            if before is None or nearest is None:
                return [note]
            title = (
                f"How often an intruder finds the right record, who takes the nearest ({nearest.n:,} people tried){on}"
            )
            return [grid(title, ["", "before", "after"], [["right", share(before.mean), str(nearest)]]), note]
        if before is None or after is None:
            return [Note("the informed intruder is measured on records of people, one row each, and on no others")]
        heads = ["an informed intruder is right", "before", "after"]
        rows = [
            ["of all people", share(before.mean), share(after.mean)],
            [
                f"of the {before.people_at_risk:,} with m below {before.below}",
                *(share(x.mean_at_risk) for x in (before, after)),
            ],
            ["at most, of one person", share(before.highest), share(after.highest)],
            ["of all people, repeating the steps", *map(share, self._most(standing))],
            ["… and weighing all other columns", share(self._most(standing)[0]), share(standing.weighing_after or 0.0)],
        ]
        told = (
            "Informed: knows that a person is in the file, and all keys of that person; takes one that fits. Who also "
            "knows the keys of everybody else, and repeats the steps, knows which records are left for whom, with all "
            "that other columns tell for sure. The last line is measured, not proved: it takes the likeliest by how "
            "columns, alone and in pairs, go together with keys in the original. A better model may find more."
        )
        return [grid(f"How often an intruder finds the right record{on}", heads, rows), Sentence(told, small=True)]

    def _most(self, standing: Standing) -> tuple[float, float]:
        return standing.most_before or math.nan, standing.most_after or math.nan


def planned(plan: Plan, original: files.Original) -> tuple[pl.DataFrame, Log, pl.Series]:
    """The table that a plan makes of a file, after checking that no label would become false."""
    for step in plan.steps:
        for name in step.variables if step.arithmetic else ():
            labels = original.value_labels(name)
            if labels and not all(_missing(original, name, code) for code in labels):
                code, label = next(iter(labels.items()))
                told = f"the codes of {name!r} have labels, such as {code:g} = {label!r}"
                raise DataError(
                    f"{told}; {step.name!r} computes with numbers and would make labels false: recode the column "
                    "instead, or remove its labels first",
                    column=name,
                )
    return plan.run(original.frame)


def _missing(original: files.Original, name: str, code: Any) -> bool:
    if isinstance(code, str):
        return True
    return any(low["lo"] <= code <= low["hi"] for low in original.told.missing_ranges.get(name, ()))


def release(
    original: files.Original,
    plan: Plan,
    out: Path,
    *,
    force: bool = False,
    below: int | None = None,
    beside: Mapping[str, pl.DataFrame] | None = None,
    trial: bool = False,
) -> Release:
    """Run a plan on a file, and write the release with its log beside it.

    The release is written beside its place, read again, measured, and only then moved: an interruption, or a target
    that the written file does not reach, leaves nothing. Numbers that name people are drawn anew, and the rows
    shuffled, unless the plan keeps their order.

    Parameters
    ----------
    original : Original
    plan : Plan
    out : Path
        Of the kind that its suffix says. The log, ``OUT.log.toml``, is a plan with seeds, which repeats the release.
    force : bool
        Whether files that exist may be overwritten.
    below : int, optional
        People are at risk if their m is below this; the least matches of the target by default, or 3.
    beside : mapping of name to DataFrame, optional
        Releases of this file that are out already, row by row as the original: a gap in each cell of who is not there.
    trial : bool
        Whether columns that tell of hidden cells are only noted. Otherwise the plan must accept them by name.

    Raises
    ------
    DataError
        A file that exists, a plan that cannot be run or does not reach its target, a seed that somebody chose, or a
        column that tells of what is hidden.
    """
    plan = _closed(plan, original)
    check_out(original.path, out, force=force)
    made, log, rows = planned(plan, original)
    done = Plan(**{**vars(plan), "steps": log.methods})
    changed = {name for step in log for name in step.method.variables} | set(plan.keys)
    kept = None if made.height != len(rows) else rows.to_list()
    found_hints = _hints(done, original, made, kept, beside or {}, trial=trial)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        there = Path(folder) / out.name
        original.write(made, kept, there, changed=changed, plain=plan.keys)
        written = _read_again(there, original, made)
        found = _measured(done, original, written, log, kept, below, found_hints, beside or {})
        if kept is not None:
            own = original.frame.drop([f"as in {name}" for name in beside or {}], strict=False)
            found = replace(found, losses=losses_of(own, made, kept, changed=changed, numbers=_renumbered(done)))
        note, book = Path(folder) / log_of(out).name, files.place_of(there)
        gone = None if kept is None else sorted(set(range(original.frame.height)) - set(kept))
        note.write_text(_log_text(found, gone), encoding="utf-8")
        if log.designs:
            digest = hashlib.sha256(there.read_bytes()).hexdigest()
            told = codebook(out.stem, digest, log.designs, original, coded=files.kind(out) in ("spss", "stata"))
            book.write_text(json.dumps(told.form(), ensure_ascii=False, indent=1), encoding="utf-8")
            book.replace(files.place_of(out))
        else:
            files.place_of(out).unlink(
                missing_ok=True
            )  # of a release that is overwritten: it would tell of other cells
        note.replace(log_of(out))
        there.replace(out)
    return found


def check_out(source: Path, out: Path, *, force: bool) -> None:
    """Raise unless a release can be written there."""
    files.kind(out, to_write=True)
    if out.exists() and source.exists() and out.samefile(source):
        raise DataError(f"{str(out)!r} is the original itself, which a release never replaces; name another file")
    for path in (out, log_of(out), files.place_of(out)):
        if path.is_dir():
            raise DataError(f"cannot write to {str(path)!r}: it is a folder")
        if path.exists() and not force:
            raise DataError(f"{str(path)!r} exists; add --force to overwrite it")
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {str(out.parent)!r} to write to")


def log_of(out: Path) -> Path:
    """Where the log of a release is."""
    return out.with_name(f"{out.name}.log.toml")


def _read_again(path: Path, original: files.Original, made: pl.DataFrame) -> pl.DataFrame:
    """The release as it is written; columns that were read by their codes, and still have them, are so again."""
    encoding = original.encoding if files.kind(path) == files.kind(original.path) else None
    codes = [name for name, kind in made.schema.items() if kind != pl.Enum] if original.codes else False
    missing, separator = original.missing, original.separator
    return files.Original.read(path, separator=separator, encoding=encoding, codes=codes, missing=missing).frame


def _closed(plan: Plan, original: files.Original) -> Plan:
    """The plan with its last steps: numbers that name people drawn anew, and rows in random order."""
    for step in plan.steps:
        if isinstance(step, Random) and step.seed is not None and step.seed < _CHOSEN:
            raise DataError(
                f"the step {step.name!r} has the seed {step.seed}, which somebody chose: who guesses it undoes what "
                "was drawn. Leave the seed out: one of 63 bits is drawn, and the log holds it"
            )
    if any(isinstance(step, Renumber | Shuffle | Synthesize) for step in plan.steps):
        return plan  # the log of a release has these steps already; made-up records have no place and no number
    dropped = {name for step in plan.steps if isinstance(step, Drop) for name in step.columns}
    shared = [] if plan.unit is None else [plan.unit]
    listed = [
        name
        for name in (*numbers_of_people(original.frame, naming(original.frame)), *shared)
        if name not in (*plan.keys, *dropped, plan.order)
    ]
    changed = {name for step in plan.steps for name in step.variables}
    names = [name for name in dict.fromkeys(listed) if name not in changed]
    steps = (*plan.steps, *(() if plan.keep_order else (Shuffle(),)), *((Renumber(columns=names),) if names else ()))
    return replace(plan, steps=steps)


def _hints(
    plan: Plan,
    original: files.Original,
    made: pl.DataFrame,
    kept: list[int] | None,
    beside: Mapping[str, pl.DataFrame],
    *,
    trial: bool,
) -> dict[tuple[str, ...], Hints]:
    """What other columns tell of hidden cells, for each set of keys.

    Raises
    ------
    DataError
        Where the plan does not accept that.
    """
    if kept is None:
        return {}
    moved = {name for step in plan.steps if step.name in plan.moved for name in step.variables}
    found: dict[tuple[str, ...], Hints] = {}
    for known in plan.known:
        keys = [name for name in known if name in made.columns]
        out = [
            column.rename(f"{column.name} of {name}")
            for name, table in beside.items()
            for column in table[kept]
            if column.name not in keys
        ]
        if keys:
            found[known] = hints(
                original.frame[kept],
                made.hstack(out),
                keys,
                moved=moved,
                ordered=plan.keep_order,
                alone=[each.name for each in out],
            )
    open_ = [hint for each in found.values() for hint in each.hints if not set(hint.columns) <= set(plan.accepted)]
    if open_ and not trial:
        hint = max(open_, key=lambda each: (each.implied, each.narrowed))
        more = f" (and {_checks.several(len(open_) - 1, 'more hint', 'more hints')})" if len(open_) > 1 else ""
        column = hint.columns[0]
        ways = f"empty it along (--related {column}={hint.key}), leave it out (--drop {column})"
        if column in plan.keys:
            ways = f"name it in the same set of keys as {hint.key!r}"
        accept = " ".join(f"--accept {name!r}" for name in hint.columns)
        raise DataError(f"{hint}{more}: {ways}, or accept it, which the log tells ({accept})", column=column)
    return found


def _measured(
    plan: Plan,
    original: files.Original,
    written: pl.DataFrame,
    log: Log,
    kept: list[int] | None,
    below: int | None,
    found: Mapping[tuple[str, ...], Hints],
    beside: Mapping[str, pl.DataFrame],
) -> Release:
    if all(name in written.columns for name in plan.keys):
        plan.check_conditions(written)
    standings = tuple(
        _standing(plan, keys, original, written, kept, below, found.get(keys), beside) for keys in plan.known
    )
    digest = hashlib.sha256(original.path.read_bytes()).hexdigest()
    source = {
        "original": original.path.name,
        "sha256": digest,
        "rows": original.frame.height,
        "rows released": written.height,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "naysay": version("naysay"),
    }
    notes = []
    if plan.keep_order:
        notes.append(
            "rows have the order of the original: whoever has another file in this order, such as an earlier release, "
            "links the two row by row"
        )
    if any(not each.pairs for each in found.values()):
        notes.append(
            "columns were tried alone for what they tell of keys, and not all pairs of them: there are too many"
        )
    reasons = {name: cells for name in plan.keys if (cells := original.reasons(name))}
    in_order = original.frame.select(name for name in written.columns if name in original.frame.columns)
    households = [] if plan.unit is not None else grouping(in_order, plan.keys)
    return Release(
        plan,
        log,
        standings,
        tuple(hint for each in found.values() for hint in each.hints),
        original.labels,
        naming(written.drop(_renumbered(plan), strict=False)),
        households,
        reasons,
        notes,
        source,
    )


def _renumbered(plan: Plan) -> list[str]:
    return [name for step in plan.steps if isinstance(step, Renumber) for name in step.columns]


def _standing(
    plan: Plan,
    keys: tuple[str, ...],
    original: files.Original,
    written: pl.DataFrame,
    kept: list[int] | None,
    below: int | None,
    found: Hints | None,
    beside: Mapping[str, pl.DataFrame],
) -> Standing:
    """The risk on one set of keys."""
    before = plan.guarantee(original.frame, keys)
    if any(name not in written.columns for name in keys):
        return Standing(keys, before, None)
    after, goal = plan.guarantee(written, keys), plan.goal
    if goal is not None and (after.of(goal.reading) or 0) < goal.least:
        told = f"the file as written has {goal.reading} >= {after.of(goal.reading)}, not {goal}, and was not kept"
        raise DataError(f"{told}: values that differed in memory read differently there")
    if plan.unit is not None or kept is None:
        return Standing(keys, before, after)
    coarse = plan.coarsened(original.frame)
    people, shown, released = (
        {name: texts_of_values(frame[name]) for name in keys} for frame in (original.frame, coarse, written)
    )
    least = below or before.least
    first = informed(people, people, keys, below=least)
    cells = {} if found is None else found.told
    secrets = {f"told {name}": pl.Series(codes) for name, codes in cells.items() if codes.any()}
    out: dict[str, pl.Series] = {}
    for other, table in beside.items():
        out |= {
            f"{name} of {other}": texts_of_values(table[name]).gather(kept) for name in keys if name in table.columns
        }
        out[f"in {other}"] = table.select(pl.any_horizontal(pl.all().is_not_null())).to_series().gather(kept)
    counts = _alike({**released, **secrets, **out})
    joint = _fewest(_alike({**released, **out}), before.least) if out else None
    if goal is not None and goal.reading == "k" and joint is not None and joint[0] < goal.least:
        raise DataError(
            f"beside {_checks.shown(beside)}, {joint[1]:,} records read like fewer than {goal.least}: who has both "
            f"files knows more than each shows; have a plan proposed with --beside, or ask for less than {goal}"
        )
    read_back = _fewest(_alike({**released, **secrets}), before.least) if secrets else None
    standing = Standing(keys, before, after, read_back, joint, intruder_before=first)
    if plan.moved:
        return replace(standing, intruder_nearest=_nearest(keys, coarse, written, kept))
    second = informed(shown, released, keys, below=least, rows=kept)
    most = [float((1 / each).sum()) / original.frame.height for each in (_alike(people), counts)]
    true = [original.frame[name].gather(kept) for name in keys if not original.frame.schema[name].is_nested()]
    classes = _classes({**released, **secrets, **out})
    right = weighing(true, _others(plan, keys, written, kept, beside), classes) / original.frame.height
    return replace(
        standing,
        intruder_after=replace(second, at_risk=first.at_risk, below=least),
        most_before=most[0],
        most_after=most[1],
        weighing_after=right,
    )


def _others(
    plan: Plan, keys: Sequence[str], written: pl.DataFrame, kept: Sequence[int], beside: Mapping[str, pl.DataFrame]
) -> list[pl.Series]:
    """What this release and those that are out show beside the keys, with the order of rows where it is kept."""
    tables = (written, *(table[kept] for table in beside.values()))
    found = [column for table in tables for column in table if column.name not in keys and not column.dtype.is_nested()]
    return [*found, *([pl.int_range(len(kept), eager=True).alias(ROW_ORDER)] if plan.keep_order else [])]


def _classes(columns: Mapping[str, pl.Series]) -> NDArray[np.int64]:
    """A number from 0 for each row: equal ones read alike, gaps included."""
    frame = pl.DataFrame([column.rename(name) for name, column in columns.items()])
    number = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
    return number.to_numpy().astype(np.int64) - 1


def _alike(columns: Mapping[str, pl.Series]) -> NDArray[np.int64]:
    """How many rows read like each row, gaps included."""
    frame = pl.DataFrame([column.rename(name) for name, column in columns.items()])
    return frame.select(pl.len().over(frame.columns)).to_series().to_numpy().astype(np.int64)


def _fewest(counts: NDArray[np.int64], least: int) -> tuple[int, int]:
    return int(counts.min()), int((counts < least).sum())


def _nearest(keys: Sequence[str], people: pl.DataFrame, written: pl.DataFrame, kept: Sequence[int]) -> Share | None:
    """How often the nearest record is the person's own, for some people of the release; None for sets of candidates."""
    if any(frame.schema[name].is_nested() for frame in (people, written) for name in keys):
        return None
    # a CSV file holds numbers as texts, and between texts there is no distance
    people, written = (
        frame_of(files.as_measured(frame.lazy(), keys).collect(), what="a file") for frame in (people, written)
    )
    own = np.full(people.height, -1, dtype=np.int64)
    own[kept] = np.arange(len(kept))
    most = max(_FEWEST_TRIED, min(_MOST_TRIED, _DISTANCES // (len(keys) * max(written.height, 1))))
    tried = Register(tuple(keys), people, written, own).take(np.sort(kept)).sampled(most, seed=1)
    return share_of(nearest(tried)["nearest"].right)


def _log_text(found: Release, gone: Sequence[int] | None) -> str:
    """The plan with its seeds, and below it what it did."""
    import tomlkit

    told = found.to_dict()
    log = {name: told[name] for name in ("source", "steps")}
    risk = {name: told[name] for name in told if name.startswith(("guarantee", "intruder", "hints", "sets"))}
    document = tomlkit.document()
    document.add(
        tomlkit.comment("The log of a release: a plan that repeats it. With its seeds, whoever has this file can")
    )
    document.add(tomlkit.comment("undo what was drawn at random: keep it with the original, and never publish it."))
    document.update(found.plan.form())
    rows = {} if gone is None else {"rows_left_out": list(gone)}
    document["log"] = _clean(log | rows | risk)
    return tomlkit.dumps(document)


def _clean(value: Any) -> Any:
    """Plain data without what TOML cannot hold: None and NaN."""
    if isinstance(value, Mapping):
        return {str(name): _clean(each) for name, each in value.items() if not _void(each)}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value if not _void(each)]
    return value


def _void(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _number(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"
