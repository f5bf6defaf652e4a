"""A release: a file protected by a plan, written whole or not at all, with its risk before and after."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import _checks, files
from naysay.errors import DataError
from naysay.microdata.attack.aligned import frame_of
from naysay.microdata.attack.nearest import nearest
from naysay.microdata.attack.register import Register
from naysay.microdata.attack.success import Share, share_of
from naysay.microdata.keys.table import texts_of_values
from naysay.microdata.protect.carried import codebook
from naysay.microdata.protect.dropping import grouping, naming
from naysay.microdata.protect.guarantees import Guarantee
from naysay.microdata.protect.log import Log
from naysay.microdata.protect.plan import Plan
from naysay.microdata.risk.released import InformedIntruder, informed
from naysay.microdata.risk.written import DASH, Printed, grid, share
from naysay.printing import Content, Facts, Note, Sentence

__all__ = ["Release", "log_of", "planned", "release"]

_FEWEST_TRIED, _MOST_TRIED = 50, 1_000
_DISTANCES = 200_000_000  # between people and records, key by key: a few seconds


@dataclass(frozen=True)
class Release(Printed):
    """What was done to a file, and what is left of its risk.

    Parameters
    ----------
    plan : Plan
        Its steps hold their seeds: run again, they give the same file.
    log : Log
    before, after : Guarantee
        Of the file that came, and of the file as it is written.
    intruder_before, intruder_after : InformedIntruder, optional
        Who knows everybody's keys, and that a person is in the file; None for units of several rows and new records.
        `intruder_after` is also None where keys may hold other values than the true ones: exact matching is blind then.
    intruder_nearest : Share, optional
        Where exact matching is blind: of a sample of people, how many are found by the nearest record.
    labels : mapping of name to label
        What the file calls its variables.
    naming : sequence of str
        Columns of the release that differ for all who have them.
    households : sequence of str
        Columns of the release that seem to say which rows are one household, where people were protected one by one.
    reasons : mapping of key to int
        Cells of the original that said why they are missing; a release only says that they are.
    source : mapping
        Where it comes from: the file, its hash, rows, the date, the version.
    """

    plan: Plan
    log: Log
    before: Guarantee
    after: Guarantee | None
    intruder_before: InformedIntruder | None
    intruder_after: InformedIntruder | None
    intruder_nearest: Share | None
    labels: Mapping[str, str]
    naming: Sequence[str]
    households: Sequence[str]
    reasons: Mapping[str, int]
    source: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        pairs = {
            "guarantee_before": self.before,
            "guarantee_after": self.after,
            "intruder_before": self.intruder_before,
            "intruder_after": self.intruder_after,
        }
        risk = {name: None if each is None else each.to_dict() for name, each in pairs.items()}
        risk["intruder_nearest"] = None if self.intruder_nearest is None else self.intruder_nearest.fields()
        return {
            "plan": self.plan.form(),
            **self.log.to_dict(),
            **risk,
            "naming": list(self.naming),
            "households": list(self.households),
            "reasons": dict(self.reasons),
            "source": dict(self.source),
        }

    def content(self) -> list[Content]:
        """Provenance, what was done, and risk before and after."""
        named = [f"{name} ({self.labels[name]})" if name in self.labels else name for name in self.plan.keys]
        goal = "none" if self.plan.goal is None else str(self.plan.goal)
        told = ((name, f"{self.source[name]:,}") for name in ("rows", "rows released"))
        facts = [("original", str(self.source["original"])), *told, ("keys", ", ".join(named)), ("target", goal)]
        rows = [
            [what, _number(getattr(self.before, what)), _number(getattr(self.after, what, None)),
             _number(self.before.below[place]), _number(None if self.after is None else self.after.below[place])]
            for place, what in enumerate(("k", "c", "m"))
        ]  # fmt: skip
        least = self.before.least
        heads = ["fewest that", "before", "after", f"below {least} before", "after"]
        names = ["read the same (k)", "show as much (c)", "may be the same (m)"]
        risk = grid(
            "Fewest matches of any record", heads, [[name, *row[1:]] for name, row in zip(names, rows, strict=True)]
        )
        return [Facts(tuple(facts)), *self.log.content(), risk, *self._intruder(), *self._notes()]

    def _notes(self) -> list[Content]:
        """What a curator may overlook."""
        left = f"{', '.join(self.naming)} differ for all who have them: they name people; leave them out (--drop)"
        notes: list[Content] = [Note(left)] if self.naming else []
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

    def _intruder(self) -> list[Content]:
        before, after, nearest = self.intruder_before, self.intruder_after, self.intruder_nearest
        if self.plan.moved:
            moved = f"after {', '.join(self.plan.moved)}, keys may hold other values than the true ones"
            note = Note(f"{moved}, and exact matching sees too little; naysay attack measures more attacks")
            if before is None or nearest is None:
                return [note]
            title = f"How often an intruder finds the right record, who takes the nearest ({nearest.n:,} people tried)"
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
        ]
        told = "Informed: knows that a person is in the file, and all keys of that person; takes one that fits."
        return [grid("How often an intruder finds the right record", heads, rows), Sentence(told, small=True)]


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
    original: files.Original, plan: Plan, out: Path, *, force: bool = False, below: int | None = None
) -> Release:
    """Run a plan on a file, and write the release with its log beside it.

    The release is written beside its place, read again, measured, and only then moved: an interruption, or a target
    that the written file does not reach, leaves nothing.

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

    Raises
    ------
    DataError
        A file that exists, or a plan that cannot be run or does not reach its target.
    """
    check_out(original.path, out, force=force)
    made, log, rows = planned(plan, original)
    done = Plan(**{**vars(plan), "steps": log.methods})
    changed = {name for step in log for name in step.method.variables} | set(plan.keys)
    kept = None if made.height != len(rows) else rows.to_list()
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        there = Path(folder) / out.name
        original.write(made, kept, there, changed=changed, plain=plan.keys)
        written = _read_again(there, original, made)
        found = _measured(done, original, written, log, kept, below)
        note, book = Path(folder) / log_of(out).name, files.place_of(there)
        note.write_text(_log_text(found), encoding="utf-8")
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


def _measured(
    plan: Plan, original: files.Original, written: pl.DataFrame, log: Log, kept: list[int] | None, below: int | None
) -> Release:
    before = plan.guarantee(original.frame)
    whole = all(name in written.columns for name in plan.keys)
    after = plan.guarantee(written) if whole else None
    goal = plan.goal
    if whole:
        plan.check_conditions(written)
    if goal is not None and after is not None and (after.of(goal.reading) or 0) < goal.least:
        told = f"the file as written has {goal.reading} >= {after.of(goal.reading)}, not {goal}, and was not kept"
        raise DataError(f"{told}: values that differed in memory read differently there")
    first = second = by_distance = None
    if plan.unit is None and whole and kept is not None:
        coarse = plan.coarsened(original.frame)
        people, shown, released = (
            {name: texts_of_values(frame[name]) for name in plan.keys} for frame in (original.frame, coarse, written)
        )
        least = below or before.least
        first = informed(people, people, plan.keys, below=least)
        if plan.moved:
            by_distance = _nearest(plan.keys, coarse, written, kept)
        else:
            second = informed(shown, released, plan.keys, below=least, rows=kept)
            second = type(second)(second.success, first.at_risk, least)
    digest = hashlib.sha256(original.path.read_bytes()).hexdigest()
    source = {
        "original": original.path.name,
        "sha256": digest,
        "rows": original.frame.height,
        "rows released": written.height,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "naysay": version("naysay"),
    }
    reasons = {name: cells for name in plan.keys if (cells := original.reasons(name))}
    households = [] if plan.unit is not None else grouping(written, plan.keys)
    return Release(
        plan,
        log,
        before,
        after,
        first,
        second,
        by_distance,
        original.labels,
        naming(written),
        households,
        reasons,
        source,
    )


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


def _log_text(found: Release) -> str:
    """The plan with its seeds, and below it what it did."""
    import tomlkit

    told = found.to_dict()
    log = {name: told[name] for name in ("source", "steps")}
    risk = {name: told[name] for name in told if name.startswith(("guarantee", "intruder"))}
    document = tomlkit.document()
    document.add(
        tomlkit.comment("The log of a release: a plan that repeats it. With its seeds, whoever has this file can")
    )
    document.add(tomlkit.comment("undo what was drawn at random: keep it with the original, and never publish it."))
    document.update(found.plan.form())
    document["log"] = _clean(log | risk)
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
