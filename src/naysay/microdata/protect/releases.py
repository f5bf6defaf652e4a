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

_LEAST_SEED = 2**40  # below it a seed can be guessed, and one of 63 bits is drawn once in 8 million times


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

        def risk(standing: Standing) -> tuple[float, float, float]:
            fewest = math.inf if standing.after is None else standing.after.k
            return standing.weighing_after or 0.0, standing.bound_after or 0.0, -fewest

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
        standings = [{"keys": list(standing.keys), **standing.to_dict()} for standing in self.standings]
        return {
            "plan": self.plan.form(),
            **self.log.to_dict(),
            **self.worst.to_dict(),
            "sets": standings if len(standings) > 1 else [],
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
        key_names = [f"{name} ({self.labels[name]})" if name in self.labels else name for name in self.plan.keys]
        goal = "none" if self.plan.goal is None else str(self.plan.goal)
        row_facts = ((name, f"{self.source[name]:,}") for name in ("rows", "rows released"))
        facts = [
            ("original", str(self.source["original"])),
            *row_facts,
            ("keys", ", ".join(key_names)),
            ("target", goal),
        ]
        risk = [
            part
            for standing in self.standings
            for part in standing.content(
                on=f", on {', '.join(standing.keys)}" if len(self.standings) > 1 else "", moved=self.plan.moved
            )
        ]
        return [Facts(tuple(facts)), *self.log.content(), *risk, *self._notes()]

    def _notes(self) -> list[Content]:
        """What a curator may overlook."""
        naming_sentence = (
            f"{', '.join(self.naming)} differ for all who have them: they name people; leave them out (--drop)"
        )
        notes: list[Content] = [Note(naming_sentence)] if self.naming else []
        for hint in self.hints:
            is_accepted = set(hint.columns) <= set(self.plan.accepted)
            notes.append(
                Note(f"{hint}; that is {'accepted, and stands in the log' if is_accepted else 'not accepted yet'}")
            )
        notes += [Note(text) for text in self.notes]
        if self.households:
            name = self.households[0]
            household_sentence = f"{_checks.listing_text(self.households)} may say which rows are one household"
            notes.append(
                Note(
                    f"{household_sentence}: rows were protected one by one, and a household is found by the keys of "
                    f"all its members together; leave it out (--drop {name}), or protect households (--unit {name})"
                )
            )
        if self.reasons:
            reason_counts = _checks.listing_text([f"{cells:,} of {name}" for name, cells in self.reasons.items()])
            notes.append(
                Note(
                    f"cells that say why they are missing ({reason_counts}) are plain gaps in the release: "
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
                complaint = f"the codes of {name!r} have labels, such as {code:g} = {label!r}"
                raise DataError(
                    f"{complaint}; {step.name!r} computes with numbers and would make labels false: recode the column "
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
    released_frame, log, rows = planned(plan, original)
    done = Plan(**{**vars(plan), "steps": log.methods})
    changed_columns = {name for step in log for name in step.method.variables} | set(plan.keys)
    original_rows = None if released_frame.height != len(rows) else rows.to_list()
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        temporary_out = Path(folder) / out.name
        original.write(released_frame, original_rows, temporary_out, changed=changed_columns, plain=plan.keys)
        written_frame, cells = _read_again(temporary_out, original, released_frame)
        frame_with_reasons = _with_reasons(released_frame, cells, plan.keys)
        found_hints = _hints(done, original, frame_with_reasons, original_rows, beside or {}, trial=trial)
        measured_release = _measure_release(
            done,
            original,
            written_frame,
            frame_with_reasons,
            cells,
            log,
            original_rows,
            below,
            found_hints,
            beside or {},
            notes,
        )
        if original_rows is not None:
            original_frame = original.frame.drop([f"as in {name}" for name in beside or {}], strict=False)
            measured_release = replace(
                measured_release,
                losses=losses_of(
                    original_frame,
                    released_frame,
                    original_rows,
                    changed=changed_columns,
                    numbers=_renumbered_columns(done),
                ),
            )
        note, book = Path(folder) / log_of(out).name, files.place_of(temporary_out)
        gone = None if original_rows is None else sorted(set(range(original.frame.height)) - set(original_rows))
        note.write_text(log_text(measured_release, gone), encoding="utf-8")
        if log.designs:
            meanings = codebook(out.stem, "", log.designs, original, coded=files.kind(out) in ("spss", "stata"))
            # measured by the categories' own labels; a reader's labels say that chance had a part
            original.write(
                released_frame,
                original_rows,
                temporary_out,
                changed=changed_columns,
                plain=plan.keys,
                meanings=meanings,
            )
            digest = hashlib.sha256(temporary_out.read_bytes()).hexdigest()
            hashed_codebook = replace(meanings, hash=digest)
            book.write_text(json.dumps(hashed_codebook.form(), ensure_ascii=False, indent=1), encoding="utf-8")
            book.replace(files.place_of(out))
        else:
            files.place_of(out).unlink(
                missing_ok=True
            )  # of a release that is overwritten: it would tell of other cells
        note.replace(log_of(out))
        temporary_out.replace(out)
    return measured_release


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


def _read_again(
    path: Path, original: files.Original, released_frame: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release as it is read, and all that it holds; what was read by codes, and still has them, is so again."""
    encoding = original.encoding if files.kind(path) == files.kind(original.path) else None
    codes = [name for name, kind in released_frame.schema.items() if kind != pl.Enum] if original.codes else False
    missing, separator = original.missing, original.separator
    written_frame = files.Original.read(
        path, separator=separator, encoding=encoding, codes=codes, missing=missing
    ).frame
    return written_frame, files.stored_cells(path, separator=separator, encoding=encoding)


def notes_of(plan: Plan) -> list[str]:
    """What the seeds and the order of a plan, as it is given, tell whoever has it or another file."""
    notes = []
    seeded = [step.name for step in plan.steps if isinstance(step, Random) and step.seed is not None]
    if seeded:
        notes.append(
            f"the seeds of {_checks.listing_text(dict.fromkeys(seeded))} were not drawn for this release, they stand "
            "in the plan: who has that plan undoes what was drawn, and so does who guesses a seed that somebody chose. "
            "Leave seeds out of a plan, and new ones are drawn; only to repeat a release, run its log"
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
        if isinstance(step, Random) and step.seed is not None and step.seed < _LEAST_SEED:
            raise DataError(
                f"the step {step.name!r} has the seed {step.seed}, which somebody chose: who guesses it undoes what "
                "was drawn. Leave the seed out: one of 63 bits is drawn, and the log holds it"
            )
    if any(isinstance(step, Synthesize) for step in plan.steps):
        return plan  # made-up records have no place and no number
    dropped_columns = {name for step in plan.steps if isinstance(step, Drop) for name in step.columns}
    unit_columns = [] if plan.unit is None else [plan.unit]
    number_columns = [
        name for name in (*numbers, *unit_columns) if name not in (*plan.keys, *dropped_columns, plan.order)
    ]
    changed_columns = {name for step in plan.steps for name in step.variables}
    names = [name for name in dict.fromkeys(number_columns) if name not in changed_columns]
    steps = (*plan.steps, *((Renumber(columns=names),) if names else ()))
    first = next((place for place, step in enumerate(steps) if isinstance(step, Renumber)), len(steps))
    # new numbers follow the order of rows, which must be no more that of the original; a log has these steps already
    if not plan.keep_order and not any(isinstance(step, Shuffle) for step in steps[:first]):
        steps = (*steps[:first], Shuffle(), *steps[first:])
    return replace(plan, steps=steps)


def _with_reasons(released_frame: pl.DataFrame, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """A release with what its file says in gaps of other columns than keys: why an answer is missing tells, too."""
    other_columns = [name for name, kind in released_frame.schema.items() if name not in keys and not kind.is_nested()]
    reason_columns = [
        name for name in other_columns if (released_frame[name].is_null() & cells[name].is_not_null()).any()
    ]
    return released_frame.with_columns(
        released_frame[name].cast(pl.String).zip_with(released_frame[name].is_not_null(), cells[name].cast(pl.String))
        for name in reason_columns
    )


def _hints(
    plan: Plan,
    original: files.Original,
    released_frame: pl.DataFrame,
    original_rows: list[int] | None,
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
    if original_rows is None:
        return {}
    moved = {name for step in plan.steps if step.name in plan.moved for name in step.variables}
    hints_by_keys: dict[tuple[str, ...], Hints] = {}
    for key_set in plan.known:
        keys = [name for name in key_set if name in released_frame.columns]
        earlier_columns = [
            column.rename(f"{column.name} of {name}")
            for name, table in beside.items()
            for column in table[original_rows]
            if column.name not in keys
        ]
        if keys:
            hints_by_keys[key_set] = hints(
                original.frame[original_rows],
                released_frame.hstack(earlier_columns),
                keys,
                moved=moved,
                ordered=plan.keep_order,
                alone=[earlier_column.name for earlier_column in earlier_columns],
            )
    unaccepted_hints = [
        hint
        for key_hints in hints_by_keys.values()
        for hint in key_hints.hints
        if not set(hint.columns) <= set(plan.accepted)
    ]
    if unaccepted_hints and not trial:
        hint = max(unaccepted_hints, key=lambda other_hint: (other_hint.implied, other_hint.narrowed))
        more = (
            f" (and {_checks.several(len(unaccepted_hints) - 1, 'more hint', 'more hints')})"
            if len(unaccepted_hints) > 1
            else ""
        )
        column = hint.columns[0]
        ways = f"empty it along (--related {column}={hint.key}), leave it out (--drop {column})"
        if column in plan.keys:
            ways = f"name it in the same set of keys as {hint.key!r}"
        accept = " ".join(f"--accept {name!r}" for name in hint.columns)
        raise DataError(f"{hint}{more}: {ways}, or accept it, which the log tells ({accept})", column=column)
    return hints_by_keys


def _measure_release(
    plan: Plan,
    original: files.Original,
    written_frame: pl.DataFrame,
    frame_with_reasons: pl.DataFrame,
    stored: pl.DataFrame,
    log: Log,
    original_rows: list[int] | None,
    below: int | None,
    hints_by_keys: Mapping[tuple[str, ...], Hints],
    beside: Mapping[str, pl.DataFrame],
    notes: Sequence[str],
) -> Release:
    plan.check_conditions(written_frame)
    standings = tuple(
        standing_on(
            plan,
            keys,
            original,
            written_frame,
            frame_with_reasons,
            stored,
            original_rows,
            below,
            hints_by_keys.get(keys),
            beside,
        )
        for keys in plan.known
    )
    digest = hashlib.sha256(original.path.read_bytes()).hexdigest()
    source = {
        "original": original.path.name,
        "sha256": digest,
        "rows": original.frame.height,
        "rows released": written_frame.height,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "naysay": version("naysay"),
    } | ({} if original.table is None else {"table": original.table})
    notes = list(notes)
    if any(not key_hints.pairs for key_hints in hints_by_keys.values()):
        notes.append(
            "columns were tried alone for what they tell of keys, and not all pairs of them: there are too many"
        )
    reasons = {name: cells for name in plan.keys if (cells := original.reasons(name))}
    in_order = original.frame.select(name for name in written_frame.columns if name in original.frame.columns)
    households = [] if plan.unit is not None else grouping(in_order, plan.keys)
    return Release(
        plan,
        log,
        standings,
        tuple(hint for key_hints in hints_by_keys.values() for hint in key_hints.hints),
        original.labels,
        naming(written_frame.drop(_renumbered_columns(plan), strict=False)),
        households,
        reasons,
        notes,
        source,
    )


def _renumbered_columns(plan: Plan) -> list[str]:
    return [name for step in plan.steps if isinstance(step, Renumber) for name in step.columns]


def log_text(written_release: Release, gone: Sequence[int] | None) -> str:
    """The plan with its seeds, and below it what it did."""
    import tomlkit

    json_fields = written_release.to_dict()
    log = {name: json_fields[name] for name in ("source", "steps", "notes")}
    risk = {
        name: json_fields[name] for name in json_fields if name.startswith(("guarantee", "intruder", "hints", "sets"))
    }
    document = tomlkit.document()
    document.add(
        tomlkit.comment("The log of a release: a plan that repeats it. With its seeds, whoever has this file can")
    )
    document.add(tomlkit.comment("undo what was drawn at random: keep it with the original, and never publish it."))
    document.update(written_release.plan.form())
    rows = {} if gone is None else {"rows_left_out": list(gone)}
    document["log"] = _clean(log | rows | risk)
    return tomlkit.dumps(document)


def _clean(value: Any) -> Any:
    """Plain data without what TOML cannot hold: None and NaN."""
    if isinstance(value, Mapping):
        return {str(name): _clean(part) for name, part in value.items() if not _void(part)}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value if not _void(part)]
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
