"""A release: a file protected by a plan, written whole or not at all, with its risk before and after.

Beside it stand a log that repeats it and, where something was drawn, a codebook, from which estimates know the designs.
"""

from __future__ import annotations

import datetime
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import polars as pl

from naysay import _checks, files
from naysay._values import JsonNode, JsonObject
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.files import Asked, Codebook, Entry, Original, Value, explained
from naysay.files.text import hash_of
from naysay.microdata.protect.clues import Hint, Hints, grouping, hints, naming, numbers_of_people
from naysay.microdata.protect.drawn import Synthesize
from naysay.microdata.protect.method import Log, Random
from naysay.microdata.protect.plan import Guarantee, Plan
from naysay.microdata.protect.recoding import Drop, Renumber, Shuffle
from naysay.microdata.protect.standings import Losses, Standing, WrittenFile, losses_of, standing_on
from naysay.show import Content, Facts, Note, Sentence, page
from naysay.show.page import Section
from naysay.show.result import DASH, Printed, grid, percent

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
    source: JsonNode
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

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names; the risk is that on the worst set of keys."""
        standing_forms = [{"keys": list(standing.keys), **standing.to_dict()} for standing in self.standings]
        return {
            "plan": self.plan.form(),
            **self.log.numbers(),
            **self.worst.to_dict(),
            "sets": standing_forms if len(standing_forms) > 1 else [],
            "hints": [hint.to_dict() for hint in self.hints],
            "naming": list(self.naming),
            "households": list(self.households),
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "source": dict(self.source),
            "losses": None if self.losses is None else self.losses.to_dict(),
        }

    def parts(self) -> list[Content]:
        """Provenance, what was done, and risk before and after."""
        return [self.provenance(), *self.details()]

    def provenance(self) -> Facts:
        """Where it comes from, and what was asked of it."""
        key_names = [
            f"{key_name} ({self.labels[key_name]})" if key_name in self.labels else key_name
            for key_name in self.plan.keys
        ]
        target_text = "none" if self.plan.goal is None else str(self.plan.goal)
        row_facts = ((fact_name, f"{self.source[fact_name]:,}") for fact_name in ("rows", "rows released"))
        return Facts(
            (
                ("original", str(self.source["original"])),
                *row_facts,
                ("keys", ", ".join(key_names)),
                ("target", target_text),
            )
        )

    def details(self) -> list[Content]:
        """What was done, and risk before and after."""
        risk_parts = [
            risk_part
            for standing in self.standings
            for risk_part in standing.parts(
                on=f", on {', '.join(standing.keys)}" if len(self.standings) > 1 else "", moved=self.plan.moved
            )
        ]
        return [*self.log.parts(), *risk_parts, *self._notes()]

    def _notes(self) -> list[Content]:
        """What a curator may overlook."""
        naming_sentence = (
            f"{', '.join(self.naming)} differ for all who have them: they name people; leave them out (--drop)"
        )
        note_parts: list[Content] = [Note(naming_sentence)] if self.naming else []
        for hint in self.hints:
            is_accepted = set(hint.columns) <= set(self.plan.accepted)
            note_parts.append(
                Note(f"{hint}; that is {'accepted, and stands in the log' if is_accepted else 'not accepted yet'}")
            )
        note_parts += [Note(text) for text in self.notes]
        if self.households:
            household_column = self.households[0]
            household_sentence = f"{_checks.listing_text(self.households)} may say which rows are one household"
            note_parts.append(
                Note(
                    f"{household_sentence}: rows were protected one by one, and a household is found by the keys of "
                    f"all its members together; leave it out (--drop {household_column}), "
                    f"or protect households (--unit {household_column})"
                )
            )
        if self.reasons:
            reason_counts = _checks.listing_text(
                [f"{cells:,} of {reason_column}" for reason_column, cells in self.reasons.items()]
            )
            note_parts.append(
                Note(
                    f"cells that say why they are missing ({reason_counts}) are plain gaps in the release: "
                    "with the reason, rows that are counted as the same would read differently"
                )
            )
        return note_parts


def planned(plan: Plan, original: files.Original) -> tuple[pl.DataFrame, Log, pl.Series]:
    """The table that a plan makes of a file, after checking that no label would become false."""
    for step in plan.steps:
        for column_name in step.variables if step.arithmetic else ():
            value_labels = original.value_labels(column_name)
            if value_labels and not all(
                isinstance(code, str)
                or any(low["lo"] <= code <= low["hi"] for low in original.metadata.missing_ranges.get(column_name, ()))
                for code in value_labels
            ):
                value_code, label = next(iter(value_labels.items()))
                complaint = f"the codes of {column_name!r} have labels, such as {value_code:g} = {label!r}"
                raise DataError(
                    f"{complaint}; {step.name!r} computes with numbers and would make labels false: recode the column "
                    "instead, or remove its labels first",
                    column=column_name,
                )
    return plan.run(original.frame)


def release(
    original: files.Original,
    plan: Plan,
    out: Path,
    *,
    force: bool = False,
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
    plan_notes = notes_of(plan)
    plan = closed(plan, numbers_of_people(original.frame, naming(original.frame)))
    check_out(original.path, out, force=force)
    released_frame, log, row_origins = planned(plan, original)
    seeded_plan = Plan(**{**vars(plan), "steps": log.methods})
    changed_columns = {column_name for step in log for column_name in step.method.variables} | set(plan.keys)
    original_rows = None if released_frame.height != len(row_origins) else row_origins.to_list()
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary_folder:
        temporary_out = Path(temporary_folder) / out.name
        write = partial(
            original.write, released_frame, original_rows, temporary_out, changed=changed_columns, plain=plan.keys
        )
        write()
        written_frame, stored_cells = _read_again(temporary_out, original, released_frame)
        written_file = WrittenFile(
            seeded_plan,
            original,
            written_frame,
            _with_reasons(released_frame, stored_cells, plan.keys),
            stored_cells,
            original_rows,
            beside or {},
        )
        measured_release = _measure_release(written_file, log, _hints(written_file, trial=trial), notes=plan_notes)
        if original_rows is not None:
            answers = original.frame.drop([f"as in {release_name}" for release_name in beside or {}], strict=False)
            losses = losses_of(
                answers, released_frame, original_rows, changed=changed_columns, numbers=seeded_plan.renumbered
            )
            measured_release = replace(measured_release, losses=losses)
        temporary_log, temporary_codebook = Path(temporary_folder) / log_of(out).name, files.place_of(temporary_out)
        deleted_rows = None if original_rows is None else sorted(set(range(original.frame.height)) - set(original_rows))
        temporary_log.write_text(log_text(measured_release, deleted_rows), encoding="utf-8")
        if log.designs:
            release_codebook = codebook(out.stem, log.designs, original, coded=files.kind(out) in ("spss", "stata"))
            # measured by the categories' own labels; a reader's labels say that chance had a part
            write(meanings=release_codebook)
            release_codebook = replace(release_codebook, hash=hash_of(temporary_out))
            temporary_codebook.write_text(
                json.dumps(release_codebook.form(), ensure_ascii=False, indent=1), encoding="utf-8"
            )
            temporary_codebook.replace(files.place_of(out))
        else:
            # of a release that is overwritten: it would tell of other cells
            files.place_of(out).unlink(missing_ok=True)
        temporary_log.replace(log_of(out))
        temporary_out.replace(out)
    return measured_release


def check_out(source: Path, out: Path, *, force: bool) -> None:
    """Raise unless a release can be written there."""
    files.kind(out, to_write=True)
    if out.exists() and source.exists() and out.samefile(source):
        raise DataError(f"{str(out)!r} is the original itself, which a release never replaces; name another file")
    for written_path in (out, log_of(out), files.place_of(out)):
        if written_path.is_dir():
            raise DataError(f"cannot write to {str(written_path)!r}: it is a folder")
        if written_path.exists() and not force:
            raise DataError(f"{str(written_path)!r} exists; add --force to overwrite it")
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
    code_columns = (
        [name for name, kind in released_frame.schema.items() if kind != pl.Enum] if original.codes else False
    )
    missing, separator = original.missing, original.separator
    written_frame = files.Original.read(
        path, separator=separator, encoding=encoding, codes=code_columns, missing=missing
    ).frame
    return written_frame, files.stored_cells(path, separator=separator, encoding=encoding)


def notes_of(plan: Plan) -> list[str]:
    """What the seeds and the order of a plan, as it is given, tell whoever has it or another file."""
    plan_notes = []
    seeded_methods = [step.name for step in plan.steps if isinstance(step, Random) and step.seed is not None]
    if seeded_methods:
        plan_notes.append(
            f"the seeds of {_checks.listing_text(dict.fromkeys(seeded_methods))} were not drawn for this release, "
            "they stand in the plan: who has that plan undoes what was drawn, "
            "and so does who guesses a seed that somebody chose. "
            "Leave seeds out of a plan, and new ones are drawn; only to repeat a release, run its log"
        )
    if plan.keep_order:
        plan_notes.append(
            "rows have the order of the original: whoever has another file in this order, such as an earlier release, "
            "links the two row by row"
        )
    return plan_notes


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
    dropped_columns = {column_name for step in plan.steps if isinstance(step, Drop) for column_name in step.columns}
    unit_columns = [] if plan.unit is None else [plan.unit]
    number_columns = [
        column_name
        for column_name in (*numbers, *unit_columns)
        if column_name not in (*plan.keys, *dropped_columns, plan.order)
    ]
    changed_columns = {column_name for step in plan.steps for column_name in step.variables}
    names = [column_name for column_name in dict.fromkeys(number_columns) if column_name not in changed_columns]
    all_steps = (*plan.steps, *((Renumber(columns=names),) if names else ()))
    renumber_place = next((place for place, step in enumerate(all_steps) if isinstance(step, Renumber)), len(all_steps))
    # new numbers follow the order of rows, which must be no more that of the original; a log has these steps already
    if not plan.keep_order and not any(isinstance(step, Shuffle) for step in all_steps[:renumber_place]):
        all_steps = (*all_steps[:renumber_place], Shuffle(), *all_steps[renumber_place:])
    return replace(plan, steps=all_steps)


def _with_reasons(released_frame: pl.DataFrame, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """A release with what its file says in gaps of other columns than keys: why an answer is missing tells, too."""
    for column in released_frame:
        if column.name in keys or column.dtype.is_nested():
            continue
        reasons = cells[column.name].cast(pl.String)
        if (column.is_null() & reasons.is_not_null()).any():
            released_frame = released_frame.with_columns(column.cast(pl.String).zip_with(column.is_not_null(), reasons))
    return released_frame


def _hints(written_file: WrittenFile, *, trial: bool) -> dict[tuple[str, ...], Hints]:
    """What other columns tell of hidden cells, for each set of keys.

    Raises
    ------
    DataError
        Where the plan does not accept that.
    """
    plan, released_frame, original_rows = written_file.plan, written_file.with_reasons, written_file.original_rows
    if original_rows is None:
        return {}
    moved_columns = {column_name for step in plan.steps if step.name in plan.moved for column_name in step.variables}
    hints_by_keys: dict[tuple[str, ...], Hints] = {}
    for key_set in plan.known:
        released_keys = [key_name for key_name in key_set if key_name in released_frame.columns]
        earlier_columns = [
            release_column.rename(f"{release_column.name} of {release_name}")
            for release_name, table in written_file.beside.items()
            for release_column in table[original_rows]
            if release_column.name not in released_keys
        ]
        if released_keys:
            hints_by_keys[key_set] = hints(
                written_file.original.frame[original_rows],
                released_frame.hstack(earlier_columns),
                released_keys,
                moved=moved_columns,
                ordered=plan.keep_order,
                alone=[earlier_column.name for earlier_column in earlier_columns],
            )
    unaccepted_hints = [
        unaccepted_hint
        for key_hints in hints_by_keys.values()
        for unaccepted_hint in key_hints.hints
        if not set(unaccepted_hint.columns) <= set(plan.accepted)
    ]
    if unaccepted_hints and not trial:
        strongest_hint = max(unaccepted_hints, key=lambda other_hint: (other_hint.implied, other_hint.narrowed))
        more_words = (
            f" (and {_checks.several(len(unaccepted_hints) - 1, 'more hint', 'more hints')})"
            if len(unaccepted_hints) > 1
            else ""
        )
        first_column = strongest_hint.columns[0]
        ways_out = (
            f"empty it along (--related {first_column}={strongest_hint.key}), leave it out (--drop {first_column})"
        )
        if first_column in plan.keys:
            ways_out = f"name it in the same set of keys as {strongest_hint.key!r}"
        accept = " ".join(f"--accept {column_name!r}" for column_name in strongest_hint.columns)
        raise DataError(
            f"{strongest_hint}{more_words}: {ways_out}, or accept it, which the log tells ({accept})",
            column=first_column,
        )
    return hints_by_keys


def _measure_release(
    written_file: WrittenFile,
    log: Log,
    hints_by_keys: Mapping[tuple[str, ...], Hints],
    *,
    notes: Sequence[str],
) -> Release:
    plan, original, written_frame = written_file.plan, written_file.original, written_file.frame
    plan.check_conditions(written_frame)
    standings = tuple(
        standing_on(written_file, key_set, key_hints=hints_by_keys.get(key_set)) for key_set in plan.known
    )
    source = source_of(original.path, original.table, rows=original.frame.height, released_rows=written_frame.height)
    notes = list(notes)
    if any(not key_hints.pairs for key_hints in hints_by_keys.values()):
        notes.append(
            "columns were tried alone for what they tell of keys, and not all pairs of them: there are too many"
        )
    reason_counts = {name: cells for name in plan.keys if (cells := original.reasons(name))}
    in_order = original.frame.select(name for name in written_frame.columns if name in original.frame.columns)
    household_columns = [] if plan.unit is not None else grouping(in_order, plan.keys)
    return Release(
        plan,
        log,
        standings,
        tuple(hint for key_hints in hints_by_keys.values() for hint in key_hints.hints),
        original.labels,
        naming(written_frame.drop(plan.renumbered, strict=False)),
        household_columns,
        reason_counts,
        notes,
        source,
    )


def source_of(path: Path, table: str | None, *, rows: int, released_rows: int) -> JsonObject:
    """Where a release comes from."""
    return {
        "original": path.name,
        "sha256": hash_of(path),
        "rows": rows,
        "rows released": released_rows,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "naysay": version("naysay"),
    } | ({} if table is None else {"table": table})


def log_text(written_release: Release, gone: Sequence[int] | None) -> str:
    """The plan with its seeds, and below it what it did."""
    import tomlkit

    json_fields = written_release.to_dict()
    log_fields = {field_name: json_fields[field_name] for field_name in ("source", "steps", "notes")}
    risk_fields = {
        field_name: json_fields[field_name]
        for field_name in json_fields
        if field_name.startswith(("guarantee", "intruder", "hints", "sets"))
    }
    log_document = tomlkit.document()
    log_document.add(
        tomlkit.comment("The log of a release: a plan that repeats it. With its seeds, whoever has this file can")
    )
    log_document.add(tomlkit.comment("undo what was drawn at random: keep it with the original, and never publish it."))
    log_document.update(written_release.plan.form())
    rows = {} if gone is None else {"rows_left_out": list(gone)}
    log_document["log"] = _clean(log_fields | rows | risk_fields)
    return tomlkit.dumps(log_document)


def _clean(value: object) -> object:
    """Plain data without what TOML cannot hold: None and NaN."""
    if isinstance(value, Mapping):
        return {str(name): _clean(entry_value) for name, entry_value in value.items() if not _void(entry_value)}
    if isinstance(value, list | tuple):
        return [_clean(entry_value) for entry_value in value if not _void(entry_value)]
    return value


def _void(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def codebook(title: str, designs: Mapping[str, Answerable], original: Original, *, coded: bool) -> Codebook:
    """The codebook of a release: an entry for each column that was drawn, with its design.

    Parameters
    ----------
    title : str
        What the release is called.
    designs : mapping of column to design
    original : Original
        The file that the release was made of, whose labels it keeps.
    coded : bool
        Whether cells of the release hold codes.
    """
    entries = []
    for column_name, column_design in designs.items():
        code_of_label = {category_label: code for code, category_label in original.value_labels(column_name).items()}
        entry_values = tuple(
            Value(
                _code(code_of_label.get(str(category_label), category_label), place),
                str(category_label),
                str(category_label),
            )
            for place, category_label in enumerate(column_design.categories, 1)
        )
        column_label = original.labels.get(column_name, column_name)
        entries.append(
            explained(Entry(column_name, column_name, column_label, "values", entry_values, asked=Asked(column_design)))
        )
    return Codebook(title, f"Release {title}", "", "en", tuple(entries), coded=coded)


def _code(code: str | float, place: int) -> int:
    """The code of a category in files of SPSS and Stata: its own where it is a whole number."""
    try:
        number = float(code)
    except (TypeError, ValueError):
        return place
    return int(number) if number.is_integer() else place


def protect_html(release: Release, *, title: str = "What protection changed") -> str:
    """A release before and after, as a whole page for people who are no statisticians. It holds no person's value.

    First stand three numbers: how many stand out, how often an intruder is right, and what the file lost, each with a
    sentence. Below stands what ``naysay protect`` prints.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    detail_parts = release.details()
    three_numbers = (_standing_out(release), _intruder(release), _lost(release))
    number_rows = [row for row, _ in three_numbers]
    decisive: list[Content] = [
        grid("The three numbers", ("", "before", "after"), number_rows),
        *(Sentence(text) for _, text in three_numbers),
    ]
    warnings = [part for part in detail_parts if isinstance(part, Note)]
    other_parts = [part for part in detail_parts if not isinstance(part, Note)]
    sections = [Section("Three numbers that decide", decisive)]
    if warnings:
        sections.append(Section("What to know before it is released", warnings))
    sections.append(Section("In detail", [release.provenance(), *other_parts]))
    return page.html(
        title, sections, facts=[(f"{before} → {after}", name) for name, before, after in number_rows], flow=True
    )


def _standing_out(release: Release) -> tuple[tuple[str, str, str], str]:
    """How many stand out, with all that other columns and earlier releases tell."""
    least_matches = release.before.least
    unit_words = "people" if release.plan.unit is None else "households"
    counts_before, counts_after = [], []
    for standing in release.standings:
        counts_before.append(standing.before.below[0])
        if standing.after is not None:
            pairs = [pair[1] for pair in (standing.read_back, standing.beside) if pair is not None]
            counts_after.append(max([standing.after.below[0], *pairs]))
    text_after = f"{max(counts_after):,}" if counts_after else DASH
    record_count = release.before.records
    known_columns = "the worst of the sets of keys below"
    if len(release.standings) == 1:
        known_columns = ", ".join(release.standings[0].keys)
    sentence = (
        f"{unit_words.capitalize()} stand out if they read like fewer than {least_matches}, themselves counted, "
        f"on what an intruder may know: {known_columns}. "
        "Somebody who knows them can pick them out, or nearly so. "
        f"There are {record_count:,} {unit_words} in the original."
    )
    if any(standing.read_back is not None for standing in release.standings):
        sentence += " Counted with what other columns of the release tell of hidden values."
    if any(standing.beside is not None for standing in release.standings):
        sentence += " Counted together with the earlier releases, as if every row could be linked."
    if not counts_after:
        sentence += " The release does not have all of these columns, and nobody is counted in it."
    return (f"{unit_words} who stand out", f"{max(counts_before):,}", text_after), sentence


def _intruder(release: Release) -> tuple[tuple[str, str, str], str]:
    """How often an intruder is right: by these columns, by weighing others too, and at most."""
    number_title = "people whom an intruder finds"
    exact_standings = [
        standing
        for standing in release.standings
        if standing.most_after is not None and standing.most_before is not None
    ]
    if len(exact_standings) == len(release.standings):
        share_before, share_after = (
            max(getattr(standing, f"most_{when}") for standing in exact_standings) for when in ("before", "after")
        )
        weighing_share, bound_share = (
            max(getattr(standing, f"{what}_after") for standing in exact_standings) for what in ("weighing", "bound")
        )
        sentence = (
            "An intruder finds so many people, on average, who knows all of this about everybody in the file, knows "
            "how it was protected, and repeats that. Who knows less finds fewer. Who also weighs what goes together "
            f"with these columns only loosely found {percent(weighing_share)}, as far as that was tried. And nobody "
            f"finds more than {percent(bound_share)} who has no log and knows no more of people than these columns: "
            "that is proved."
        )
        return (f"{number_title} by these columns", percent(share_before), percent(share_after)), sentence
    nearest = [(standing.intruder_before, standing.intruder_nearest) for standing in release.standings]
    share_pairs = [(first.mean, second.value) for first, second in nearest if first is not None and second is not None]
    if len(share_pairs) == len(release.standings):
        share_before, share_after = (max(pair[place] for pair in share_pairs) for place in (0, 1))
        sentence = (
            f"After {', '.join(release.plan.moved)}, values may differ from the true ones, and an intruder takes the "
            "most similar record: so many people are found. It is the result of one attack, tried on a sample, and not "
            "the most that anybody can find."
        )
        return (f"{number_title}, by the nearest record", percent(share_before), percent(share_after)), sentence
    sentence = (
        "This is not measured here: it needs a file with one row for each person, and a release with all columns that "
        "an intruder may know and only rows of the original. Attack the release before you give it away."
    )
    return (number_title, DASH, DASH), sentence


def _lost(release: Release) -> tuple[tuple[str, str, str], str]:
    """Answers that are no longer what they were."""
    number_title, losses = "answers that changed or are gone", release.losses
    if losses is None:
        sentence = "Every record is made up, though it may equal that of a person: answers are not compared one by one."
        return (number_title, DASH, DASH), sentence
    sentence = (
        f"The price: of {losses.answers:,} answers, {losses.emptied:,} are empty now or were deleted with their "
        f"record, and {losses.changed:,} hold another value, such as an age in years that became five years. What that "
        "does to results is another question: naysay utility answers it."
    )
    if losses.left_out:
        sentence += f" Not counted are columns that were left out: {', '.join(losses.left_out)}."
    return (number_title, percent(0.0), percent(losses.share)), sentence
