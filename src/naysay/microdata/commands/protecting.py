"""The work of ``naysay protect``: options read and checked, a plan proposed or read, and run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from naysay import _checks, files
from naysay.console import output
from naysay.errors import DataError
from naysay.microdata.commands import inputs
from naysay.microdata.commands.inputs import RECORD, Reading
from naysay.microdata.commands.options import ProtectOptions
from naysay.microdata.keys.codes import check_names
from naysay.microdata.protect.clues import naming, numbers_of_people
from naysay.microdata.protect.hierarchies import Hierarchy, read_hierarchies, write_hierarchies
from naysay.microdata.protect.pieces import release_in_pieces
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.proposals import propose
from naysay.microdata.protect.recoding import Bins, Drop, Renumber, Shuffle
from naysay.microdata.protect.releases import Release, check_out, log_of, release
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.target import Target

_THERE = "in this release"  # a column that tells people all of whose cells are gaps from those who are not there
_BYTES_OF_A_CELL = 75  # of suppression alone: 447 MB for 10⁶ rows of six keys (benchmarks/protect_speed.md)

_WRITTEN_AS = {".por": ".sav", ".duckdb": ".parquet"}  # what is read and cannot be written

_IN_MEMORY = ("beside", "hierarchy", "hierarchies", "related", "unit", "order", "html")

_OF_A_PROPOSAL = (
    "keys",
    "target",
    "importance",
    "hierarchy",
    "hierarchies",
    "write_hierarchies",
    "bins",
    "strata",
    "unit",
    "order",
    "drop",
    "save",
    "related",
)


class Protecting:
    """The options of ``naysay protect``, read.

    Parameters
    ----------
    options : ProtectOptions

    Raises
    ------
    DataError
        For options that are wrong whatever the file holds.
    """

    def __init__(self, options: ProtectOptions) -> None:
        self.options = options
        self.notes: list[str] = []
        self.importance = {
            key_name: _price(price_text)
            for key_name, price_text in inputs.named_values(
                options.importance or (), option="--importance", example="occupation=high"
            ).items()
        }
        goal_terms = re.split(r"\s+and\s+", options.target or "")
        area_terms = [term for term in goal_terms if re.match(r"\s*people\b", term)]
        self.areas = [inputs.areas(term, separator=options.separator) for term in area_terms]
        self.target = " and ".join(term for term in goal_terms if term not in area_terms) or "k >= 3"
        self._check()

    def _check(self) -> None:
        options = self.options
        if (options.plan is None) == (options.keys is None):
            raise DataError("give --keys to have a plan proposed, or --plan to run one")
        for option_name in _OF_A_PROPOSAL:
            if options.plan is not None and getattr(options, option_name) is not None:
                option_text = option_name.replace("_", "-")
                raise DataError(f"--{option_text} is for a plan that is proposed; change the file of --plan instead")
        if options.write_hierarchies is not None:
            for option_name in ("out", "save", "html", "hierarchy", "hierarchies", "bins"):
                if getattr(options, option_name):
                    raise DataError(f"--write-hierarchies only writes levels to edit; leave out --{option_name}")
            output.check_free(options.write_hierarchies, force=options.force)
        if options.beside and options.unit is not None:
            raise DataError("--beside is for rows of people; households cannot be followed through releases")
        if options.out is not None:
            check_out(options.file, options.out, force=options.force)
        if options.save is not None:
            output.check_free(options.save, force=options.force)

    def _original(self, missing: tuple[str, ...]) -> files.Original:
        options = self.options
        with files.readable(options.file):
            return files.Original.read(
                options.file,
                separator=options.separator,
                encoding=options.encoding,
                codes=options.codes,
                missing=missing,
                table=options.table,
            )

    def _sets_and_keys(self) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
        """The sets of keys that an intruder may know, and all keys in them."""
        key_sets = inputs.key_sets(self.options.keys or ())
        return key_sets, tuple(dict.fromkeys(key_name for key_set in key_sets for key_name in key_set))

    def _drop_steps(self) -> tuple[Drop, ...]:
        drop = self.options.drop
        return () if drop is None else (Drop(columns=inputs.record(drop, option="--drop")),)

    def levels(self, path: Path) -> dict[str, Hierarchy]:
        """Levels of each key, written to a workbook or folder for a person to edit."""
        _, keys = self._sets_and_keys()
        hierarchies = write_hierarchies(path, self._original(inputs.missing_texts(self.options.na)).frame, keys)
        self.notes.append(f"{path}: the levels of each key; change them, and give them with --hierarchies")
        return hierarchies

    def run_plan(self) -> Release:
        """The plan, run; written where --out says, and otherwise nowhere."""
        options = self.options
        plan = None if options.plan is None else Plan.read(options.plan)
        missing = inputs.missing_texts(options.na) or (() if plan is None else tuple(plan.missing))
        if _too_large(options.file, options.table):
            return self._in_pieces(plan, missing)
        original = self._original(missing)
        earlier_releases, original_frame = self._beside(original), original.frame
        if plan is None:
            plan, original = self._proposed(original, missing, earlier_releases)
        self._note_undeclared(original_frame.lazy(), plan)
        plan = self._completed(plan)
        if options.out is None:
            self.notes.append("nothing is written without --out")
            with TemporaryDirectory(prefix="naysay-") as folder:
                trial_path = (
                    Path(folder) / f"release{_WRITTEN_AS.get(options.file.suffix.lower(), options.file.suffix)}"
                )
                protected_release = release(original, plan, trial_path, beside=earlier_releases, trial=True)
            if any(not set(hint.columns) <= set(plan.accepted) for hint in protected_release.hints):
                self.notes.append("with --out it is refused: other columns tell of what it hides, and are not accepted")
            return protected_release
        protected_release = release(original, plan, options.out, force=options.force, beside=earlier_releases)
        self._note_log(options.out)
        return protected_release

    def _completed(self, plan: Plan) -> Plan:
        """The plan with what options say of its release; written where --save says."""
        options = self.options
        if any(isinstance(step, Shuffle) for step in plan.steps) and options.keep_order:
            raise DataError("--keep-order is given, and the plan shuffles rows; take that step out of it")
        plan = replace(
            plan,
            accepted=(*plan.accepted, *(options.accept or ())),
            keep_order=plan.keep_order or options.keep_order,
        )
        if options.save is not None:
            options.save.write_text(plan.toml(), encoding="utf-8")
            self.notes.append(f"{options.save}: the plan; change it, and run it with --plan")
        return plan

    def _note_undeclared(self, table: pl.LazyFrame, plan: Plan) -> None:
        """Say which cells of the columns that the plan works on may mean missing."""
        frame_columns = table.collect_schema().names()
        steps = [step for step in plan.steps if not isinstance(step, Drop | Renumber)]
        plan_variables = [*plan.keys, *(name for step in steps for name in (*step.needs, *step.variables))]
        columns = [name for name in plan_variables if name in frame_columns]
        missing_code_text = inputs.sentence(inputs.codes_in_frame(table, columns, declared=plan.missing))
        self.notes += [] if missing_code_text is None else [missing_code_text]

    def _note_log(self, out: Path) -> None:
        reason = "it repeats the release, and undoes what was drawn: keep it with the original"
        self.notes.append(f"{out}: the release; {log_of(out).name}: its log, secret like the original, for {reason}")

    def _in_pieces(self, plan: Plan | None, missing: tuple[str, ...]) -> Release:
        """The plan, run on a Parquet file that memory does not hold."""
        options = self.options
        for option_name in _IN_MEMORY:
            if getattr(options, option_name):
                raise DataError(
                    f"memory does not hold {options.file.name!r}, and --{option_name} needs all of it: "
                    "leave it out, or take a larger computer"
                )
        if plan is None:
            plan = self._suppressing(missing)
            self.notes.append(
                f"memory does not hold {options.file.name!r}: no coarser values were tried but those of --bins; "
                "where they lose less than empty cells, write them into a plan (--save, then --plan)"
            )
        plan = self._completed(replace(plan, missing=missing or plan.missing))
        self._note_undeclared(files.scan(options.file, table=options.table), plan)
        if options.out is not None:
            protected_release = release_in_pieces(
                options.file, plan, options.out, force=options.force, table=options.table
            )
            self._note_log(options.out)
            return protected_release
        self.notes.append("nothing is written without --out")
        with TemporaryDirectory(prefix="naysay-") as folder:
            trial_path = Path(folder) / "release.parquet"
            return release_in_pieces(options.file, plan, trial_path, trial=True, table=options.table)

    def _suppressing(self, missing: tuple[str, ...]) -> Plan:
        """A plan that puts keys in the bins that are asked for, and suppresses cells."""
        options, (key_sets, keys) = self.options, self._sets_and_keys()
        check_names(keys, files.scan(options.file, table=options.table).collect_schema().names())
        width_texts = inputs.named_values(options.bins or (), option="--bins", example="age=5")
        check_names(list(width_texts), keys, what="key")
        separate_sets = key_sets if len(key_sets) > 1 else ()
        suppress_step = Suppress(
            keys=keys,
            target=self.target,
            importance=self.importance,
            sets=separate_sets,
            strata=() if options.strata is None else inputs.record(options.strata, option="--strata"),
        )
        bin_steps = (
            Bins(variable=key_name, width=_width(width_text, key_name)) for key_name, width_text in width_texts.items()
        )
        plan_steps = (*self._drop_steps(), *self.areas, *bin_steps, suppress_step)
        return Plan(
            keys=keys,
            target=suppress_step.target,
            steps=plan_steps,
            importance=self.importance,
            missing=missing,
            sets=separate_sets,
        )

    def _beside(self, original: files.Original) -> dict[str, pl.DataFrame]:
        """Releases of the file that are out, row by row as the original."""
        options, row_count = self.options, original.frame.height
        frame_of: dict[str, pl.DataFrame] = {}
        for release_path in options.beside or ():
            if release_path.name in frame_of:
                raise DataError(f"--beside names {release_path.name!r} twice")
            if not log_of(release_path).is_file():
                raise DataError(
                    f"which row of {release_path.name!r} is whose, its log says: "
                    f"put {log_of(release_path).name!r} beside it"
                )
            reading = Reading(options.separator, options.encoding, options.codes, original.missing, options.table)
            release_table = reading.released(
                release_path, options.file, row_count, role="original", identity=None, synthetic=False
            )
            if RECORD not in release_table.columns:
                raise DataError(
                    f"{release_path.name!r} does not have the rows that its log says; it was changed afterwards"
                )
            stored_frame = files.stored_cells(release_path, separator=options.separator, encoding=options.encoding)
            release_table = stored_frame.with_columns(release_table[RECORD], pl.lit(value=True).alias(_THERE))
            record_frame = pl.DataFrame({RECORD: pl.int_range(row_count, dtype=pl.UInt32, eager=True)})
            frame_of[release_path.name] = record_frame.join(
                release_table, on=RECORD, how="left", maintain_order="left"
            ).drop(RECORD)
        return frame_of

    def _proposed(
        self, original: files.Original, missing: tuple[str, ...], beside: Mapping[str, pl.DataFrame]
    ) -> tuple[Plan, files.Original]:
        """The plan, and the file with a column for each earlier release that says who reads alike there."""
        options = self.options
        key_sets, keys = self._sets_and_keys()
        goal = Target.of(self.target)
        class_columns = [
            _class(release_table, keys, file_name, goal.least) for file_name, release_table in beside.items()
        ]
        if len(class_columns) > 1:  # each of them hides people whom all of them together show
            _check_few(pl.DataFrame(class_columns), f"{_checks.listing_text(beside)} together", goal.least)
        original = replace(original, frame=original.frame.hstack(class_columns)) if class_columns else original
        strata_columns = () if options.strata is None else inputs.record(options.strata, option="--strata")
        hierarchies = self._hierarchies()
        self._check_keys(original, keys, hierarchies)
        check_names([areas.variable for areas in self.areas], original.frame.columns)
        width_texts = inputs.named_values(options.bins or (), option="--bins", example="age=5")
        area_frame = original.frame
        for areas in self.areas:
            area_frame = areas.done(area_frame).frame
        plan = propose(
            area_frame,
            keys,
            target=goal,
            importance=self.importance,
            hierarchies=hierarchies,
            bins={binned_key: _width(width_text, binned_key) for binned_key, width_text in width_texts.items()},
            strata=(*strata_columns, *(class_column.name for class_column in class_columns)),
            sets=key_sets if len(key_sets) > 1 else (),
            related=inputs.named_values(options.related or (), option="--related", example="education_num=education"),
            unit=options.unit,
            order=options.order,
            missing=missing,
        )
        unused_keys = [
            recoded_key
            for recoded_key in hierarchies
            if not any(recoded_key in step.variables for step in plan.steps[:-1])
        ]
        if unused_keys:
            unused_text = (
                f"no level of the hierarchy of {', '.join(unused_keys)} loses less than emptying single cells does"
            )
            self.notes.append(
                f"{unused_text}: the plan leaves it out; --importance {unused_keys[0]}=high makes its cells dearer"
            )
        class_drop_steps = (
            (Drop(columns=[class_column.name for class_column in class_columns]),) if class_columns else ()
        )
        return replace(plan, steps=(*self._drop_steps(), *self.areas, *plan.steps, *class_drop_steps)), original

    def _hierarchies(self) -> dict[str, Hierarchy]:
        """The levels of keys that files of the user hold."""
        options = self.options
        path_texts = inputs.named_values(options.hierarchy or (), option="--hierarchy", example="job=jobs.csv")
        single_hierarchies = {
            key_name: Hierarchy.read(Path(path_text), separator=options.separator)
            for key_name, path_text in path_texts.items()
        }
        if options.hierarchies is None:
            return single_hierarchies
        joint_hierarchies = read_hierarchies(options.hierarchies, separator=options.separator)
        repeated_key = next((key_name for key_name in single_hierarchies if key_name in joint_hierarchies), None)
        if repeated_key is not None:
            raise DataError(f"--hierarchies and --hierarchy both have levels of {repeated_key!r}; give one of them")
        return joint_hierarchies | single_hierarchies

    def _check_keys(self, original: files.Original, keys: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> None:
        """Raise for a key that numbers people."""
        options = self.options
        check_names(keys, original.frame.columns)
        recoded_keys = {bins_text.partition("=")[0] for bins_text in options.bins or ()} | set(hierarchies)
        for key_name in numbers_of_people(original.frame, naming(original.frame.select(keys))):
            if key_name not in recoded_keys and key_name not in self.importance:
                raise DataError(
                    f"the key {key_name!r} is another one for each person: it names people, and no suppression hides "
                    f"that; leave it out of --keys, and out of the release (--drop {key_name})",
                    column=key_name,
                )


def _too_large(path: Path, name: str | None) -> bool:
    """Whether a table of Parquet or DuckDB would not fit into this computer's memory with what is computed from it."""
    memory_bytes = _memory()
    if memory_bytes is None or files.kind(path) not in ("parquet", "duckdb") or not path.is_file():
        return False
    table = files.scan(path, table=name)
    row_count, column_count = int(table.select(pl.len()).collect().item()), len(table.collect_schema())
    return row_count * column_count * _BYTES_OF_A_CELL > memory_bytes


def _memory() -> int | None:
    """Bytes of memory of this computer, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _class(table: pl.DataFrame, keys: Sequence[str], name: str, least: int) -> pl.Series:
    """Who reads alike in an earlier release on the keys that it has; who is not in it is one class.

    Raises
    ------
    DataError
        People who stand out there: no later release takes that back.
    """
    key_frame = table.select(
        pl.any_horizontal(pl.all().is_not_null()).alias(""), *(key for key in keys if key in table)
    )
    class_numbers = key_frame.select(pl.struct(pl.all()).rank("dense")).to_series()
    _check_few(key_frame, f"{name!r} alone", least)
    return class_numbers.cast(pl.String).alias(f"as in {name}")


def _check_few(there: pl.DataFrame, where: str, least: int) -> None:
    """Raise where people stand out in what is out already."""
    exposed_count = int((there.select(pl.len().over(there.columns)).to_series() < least).sum())
    if exposed_count:
        raise DataError(
            f"in {where}, {_checks.several(exposed_count, 'person reads', 'people read')} like fewer than "
            f"{least} on these keys, and no later release takes that back; "
            "ask for less, or leave out the keys that were not protected there"
        )


def _price(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _width(text: str, name: str) -> float:
    try:
        bin_width = float(text)
    except ValueError:
        raise DataError(f"--bins must be a width, such as {name}=5; got {text!r}") from None
    return int(bin_width) if bin_width.is_integer() else bin_width
