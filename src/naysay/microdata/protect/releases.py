"""A release: a file protected by a plan, written whole or not at all, with its risk before and after.

What a release carries of its designs: the codebook beside it, from which estimates know what was drawn.
"""

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

import polars as pl

from naysay import _checks, files
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.files import Asked, Codebook, Entry, Original, Value, explained
from naysay.microdata.attack.success import Share
from naysay.microdata.protect.clues import Hint, Hints, hints
from naysay.microdata.protect.dropping import Drop, grouping, naming
from naysay.microdata.protect.identity import Renumber, Shuffle, numbers_of_people
from naysay.microdata.protect.log import Log
from naysay.microdata.protect.losses import Losses, losses_of
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.plan import Guarantee, Plan
from naysay.microdata.protect.standings import Standing, standing_on
from naysay.microdata.protect.synthetic import Synthesize
from naysay.microdata.risk.released import InformedIntruder
from naysay.microdata.risk.written import Printed
from naysay.show import Content, Facts, Note

__all__ = ["Release", "Standing", "check_out", "closed", "codebook", "log_of", "log_text", "planned", "release"]

_CHOSEN = 2**40  # below it a seed can be guessed, and one of 63 bits is drawn once in 8 million times


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
        Answers that are empty or others now; None where records are made up, and where memory does not hold the file.
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
        """The set of keys on which most people may be found, or where nobody measured that, on which fewest match."""

        def risk(each: Standing) -> tuple[float, float, float]:
            fewest = math.inf if each.after is None else each.after.k
            return each.weighing_after or 0.0, each.bound_after or 0.0, -fewest

        return max(self.standings, key=risk)

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
        risk = [
            part
            for each in self.standings
            for part in each.content(
                on=f", on {', '.join(each.keys)}" if len(self.standings) > 1 else "", moved=self.plan.moved
            )
        ]
        return [Facts(tuple(facts)), *self.log.content(), *risk, *self._notes()]

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
    notes = notes_of(plan)
    plan = closed(plan, numbers_of_people(original.frame, naming(original.frame)))
    check_out(original.path, out, force=force)
    made, log, rows = planned(plan, original)
    done = Plan(**{**vars(plan), "steps": log.methods})
    changed = {name for step in log for name in step.method.variables} | set(plan.keys)
    kept = None if made.height != len(rows) else rows.to_list()
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        there = Path(folder) / out.name
        original.write(made, kept, there, changed=changed, plain=plan.keys)
        written, cells = _read_again(there, original, made)
        seen = _with_reasons(made, cells, plan.keys)
        found_hints = _hints(done, original, seen, kept, beside or {}, trial=trial)
        found = _measured(done, original, written, seen, cells, log, kept, below, found_hints, beside or {}, notes)
        if kept is not None:
            own = original.frame.drop([f"as in {name}" for name in beside or {}], strict=False)
            found = replace(found, losses=losses_of(own, made, kept, changed=changed, numbers=_renumbered(done)))
        note, book = Path(folder) / log_of(out).name, files.place_of(there)
        gone = None if kept is None else sorted(set(range(original.frame.height)) - set(kept))
        note.write_text(log_text(found, gone), encoding="utf-8")
        if log.designs:
            meanings = codebook(out.stem, "", log.designs, original, coded=files.kind(out) in ("spss", "stata"))
            # measured by the categories' own labels; a reader's labels say that chance had a part
            original.write(made, kept, there, changed=changed, plain=plan.keys, meanings=meanings)
            digest = hashlib.sha256(there.read_bytes()).hexdigest()
            told = replace(meanings, hash=digest)
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


def _read_again(path: Path, original: files.Original, made: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release as it is read, and all that it holds; what was read by codes, and still has them, is so again."""
    encoding = original.encoding if files.kind(path) == files.kind(original.path) else None
    codes = [name for name, kind in made.schema.items() if kind != pl.Enum] if original.codes else False
    missing, separator = original.missing, original.separator
    read = files.Original.read(path, separator=separator, encoding=encoding, codes=codes, missing=missing).frame
    return read, files.stored_cells(path, separator=separator, encoding=encoding)


def notes_of(plan: Plan) -> list[str]:
    """What the seeds and the order of a plan, as it is given, tell whoever has it or another file."""
    notes = []
    seeded = [step.name for step in plan.steps if isinstance(step, Random) and step.seed is not None]
    if seeded:
        notes.append(
            f"the seeds of {_checks.shown(dict.fromkeys(seeded))} were not drawn for this release, they stand in the "
            "plan: who has that plan undoes what was drawn, and so does who guesses a seed that somebody chose. Leave "
            "seeds out of a plan, and new ones are drawn; only to repeat a release, run its log"
        )
    if plan.keep_order:
        notes.append(
            "rows have the order of the original: whoever has another file in this order, such as an earlier release, "
            "links the two row by row"
        )
    return notes


def closed(plan: Plan, numbers: Sequence[str]) -> Plan:
    """The plan with its last steps: columns of numbers that name people drawn anew, and rows in random order."""
    for step in plan.steps:
        if isinstance(step, Random) and step.seed is not None and step.seed < _CHOSEN:
            raise DataError(
                f"the step {step.name!r} has the seed {step.seed}, which somebody chose: who guesses it undoes what "
                "was drawn. Leave the seed out: one of 63 bits is drawn, and the log holds it"
            )
    if any(isinstance(step, Synthesize) for step in plan.steps):
        return plan  # made-up records have no place and no number
    dropped = {name for step in plan.steps if isinstance(step, Drop) for name in step.columns}
    shared = [] if plan.unit is None else [plan.unit]
    listed = [name for name in (*numbers, *shared) if name not in (*plan.keys, *dropped, plan.order)]
    changed = {name for step in plan.steps for name in step.variables}
    names = [name for name in dict.fromkeys(listed) if name not in changed]
    steps = (*plan.steps, *((Renumber(columns=names),) if names else ()))
    first = next((place for place, step in enumerate(steps) if isinstance(step, Renumber)), len(steps))
    # new numbers follow the order of rows, which must be no more that of the original; a log has these steps already
    if not plan.keep_order and not any(isinstance(step, Shuffle) for step in steps[:first]):
        steps = (*steps[:first], Shuffle(), *steps[first:])
    return replace(plan, steps=steps)


def _with_reasons(made: pl.DataFrame, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """A release with what its file says in gaps of other columns than keys: why an answer is missing tells, too."""
    others = [name for name, kind in made.schema.items() if name not in keys and not kind.is_nested()]
    filled = [name for name in others if (made[name].is_null() & cells[name].is_not_null()).any()]
    return made.with_columns(
        made[name].cast(pl.String).zip_with(made[name].is_not_null(), cells[name].cast(pl.String)) for name in filled
    )


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
    seen: pl.DataFrame,
    stored: pl.DataFrame,
    log: Log,
    kept: list[int] | None,
    below: int | None,
    found: Mapping[tuple[str, ...], Hints],
    beside: Mapping[str, pl.DataFrame],
    notes: Sequence[str],
) -> Release:
    plan.check_conditions(written)
    standings = tuple(
        standing_on(plan, keys, original, written, seen, stored, kept, below, found.get(keys), beside)
        for keys in plan.known
    )
    digest = hashlib.sha256(original.path.read_bytes()).hexdigest()
    source = {
        "original": original.path.name,
        "sha256": digest,
        "rows": original.frame.height,
        "rows released": written.height,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "naysay": version("naysay"),
    } | ({} if original.table is None else {"table": original.table})
    notes = list(notes)
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


def log_text(found: Release, gone: Sequence[int] | None) -> str:
    """The plan with its seeds, and below it what it did."""
    import tomlkit

    told = found.to_dict()
    log = {name: told[name] for name in ("source", "steps", "notes")}
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


def codebook(
    title: str, digest: str, designs: Mapping[str, Answerable], original: Original, *, coded: bool
) -> Codebook:
    """The codebook of a release: an entry for each column that was drawn, with its design.

    Parameters
    ----------
    title, digest : str
        What the release is called, and its hash.
    designs : mapping of column to design
    original : Original
        The file that the release was made of, whose labels it keeps.
    coded : bool
        Whether cells of the release hold codes.
    """
    entries = []
    for name, design in designs.items():
        codes = {label: code for code, label in original.value_labels(name).items()}
        values = tuple(
            Value(_code(codes.get(str(label), label), place), str(label), str(label))
            for place, label in enumerate(design.categories, 1)
        )
        label = original.labels.get(name, name)
        entries.append(explained(Entry(name, name, label, "values", values, asked=Asked(design))))
    return Codebook(title, f"Release {title}", digest, "en", tuple(entries), coded=coded)


def _code(code: Any, place: int) -> int:
    """The code of a category in files of SPSS and Stata: its own where it is a whole number."""
    try:
        number = float(code)
    except (TypeError, ValueError):
        return place
    return int(number) if number.is_integer() else place
