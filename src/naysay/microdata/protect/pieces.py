"""Releases of Parquet files that memory does not hold: decided on distinct tuples of keys, and written in pieces."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, files
from naysay.errors import DataError
from naysay.files.text import as_gaps, text_of
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.clues import ROW_ORDER, grouping, naming, numbers_of_people
from naysay.microdata.protect.method import Cells, Log, Step, alike, texts
from naysay.microdata.protect.plan import Guarantee, Plan, of_units
from naysay.microdata.protect.recoding import Coarser, Drop, Renumber, Shuffle
from naysay.microdata.protect.releases import Release, check_out, closed, log_of, log_text, notes_of, source_of
from naysay.microdata.protect.standings import Standing
from naysay.microdata.protect.suppression import Suppress, masks
from naysay.microdata.protect.target import Units

_ROWS = 1_000_000  # of a piece
_STAGES = (Drop | Coarser, Suppress, Shuffle, Renumber)


@dataclass(frozen=True, eq=False)
class _Masks:
    """For each row of the file the keys that it keeps, as bits, and the rows that are deleted."""

    keys: tuple[str, ...]
    keep_bits: NDArray[np.integer]
    deleted_rows: NDArray[np.intp]


def release_in_pieces(
    path: Path, plan: Plan, out: Path, *, force: bool = False, trial: bool = False, table: str | None = None
) -> Release:
    """Run a plan on a Parquet file, and write the release and its log, as `release` does, without holding the file.

    What is held are the distinct tuples of keys, a few bytes for each row, and one column or a piece of rows at a time.
    The same plan with the same seeds gives the same rows as in memory.

    Parameters
    ----------
    path, out : Path
        Both of Parquet; or `path` a database of DuckDB, whose table is copied to a temporary file first.
    plan : Plan
        Of steps that leave out columns, recode, suppress, shuffle and renumber, in this order.
    force : bool
        Whether files that exist may be overwritten.
    trial : bool
        Whether columns that were not tried for what they tell of hidden cells are only noted. Otherwise the plan must
        accept them by name.
    table : str, optional
        Of a database that holds several.

    Raises
    ------
    DataError
        A step or a measure that needs the file in memory, with the way out; all that `release` refuses.
    """
    _check(path, plan, out)
    raw_table = files.scan(path, table=table)
    raw_schema = raw_table.collect_schema()
    check_names([*plan.keys, *(column_name for step in plan.steps for column_name in step.needs)], raw_schema.names())
    row_count = int(raw_table.select(pl.len()).collect().item())
    if not row_count:
        raise DataError(f"{path.name!r} has no rows")
    other_columns = [column_name for column_name in raw_schema.names() if column_name not in plan.keys]
    number_columns = [
        column_name
        for column_name in other_columns
        if numbers_of_people(column := raw_table.select(column_name).collect(), naming(column))
    ]
    plan_notes = notes_of(plan)
    plan = closed(plan, number_columns)
    check_out(path, out, force=force)
    stratum_names = [column_name for step in plan.steps if isinstance(step, Suppress) for column_name in step.strata]
    changed_columns = {column_name for step in plan.steps for column_name in step.variables} | set(plan.keys)
    logged_steps: list[Step] = []
    coded_table, released_table = (
        as_gaps(raw_table, gap_columns, plan.missing)
        for gap_columns in ({*changed_columns, *stratum_names}, changed_columns)
    )
    row_masks: _Masks | None = None
    row_order: NDArray[np.intp] | None = None
    shown_rows = row_count
    for step in plan.steps:
        prepared_method = step.prepared()
        step_cells: list[Cells] = []
        if isinstance(prepared_method, Suppress):
            row_masks, suppress_step = _suppress_tuples(prepared_method, coded_table, row_count)
            shown_rows -= suppress_step.deleted
            logged_steps.append(suppress_step)
            continue
        if isinstance(prepared_method, Coarser):
            coded_table, released_table, recoded_cells = _recode_column(prepared_method, coded_table, released_table)
            step_cells.append(recoded_cells)
        elif isinstance(prepared_method, Shuffle):
            row_order = prepared_method.order(shown_rows)
        elif isinstance(prepared_method, Drop | Renumber):
            shared_name = next((name for name in prepared_method.columns if name not in number_columns), None)
            if shared_name is not None and isinstance(prepared_method, Renumber):
                raise DataError(
                    f"{shared_name!r} has one value in several rows; to number it anew needs the file in memory: "
                    f"leave it out (--drop {shared_name})",
                    column=shared_name,
                )
            filled_counts = released_table.select(pl.col(prepared_method.columns).count()).collect().row(0, named=True)
            step_cells = [Cells(column_name, count, count, 0) for column_name, count in filled_counts.items()]
            if isinstance(prepared_method, Drop):
                released_table = released_table.drop(prepared_method.columns)
        logged_steps.append(Step(prepared_method, shown_rows, 0, tuple(step_cells)))
    log = Log(tuple(logged_steps))
    seeded_plan = Plan(**{**vars(plan), "steps": log.methods})
    renumbered_columns = seeded_plan.renumbered
    released_names = released_table.collect_schema().names()
    untried_sentences = _untried_notes(
        seeded_plan,
        log,
        [column_name for column_name in released_names if column_name not in renumbered_columns],
        trial=trial,
    )
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary_folder:
        temporary_out = Path(temporary_folder) / out.name
        pieces = _pieces(released_table, row_count, row_masks)
        ordered_pieces = pieces if row_order is None else _scatter_pieces(pieces, row_order, Path(temporary_folder))
        files.write_pieces(_renumber_pieces(ordered_pieces, renumbered_columns), temporary_out)
        written_table = pl.scan_parquet(temporary_out, glob=False)
        standings = tuple(_standing(seeded_plan, key_set, raw_table, written_table) for key_set in seeded_plan.known)
        source = source_of(path, table, rows=row_count, released_rows=shown_rows)
        naming_columns = [
            column_name
            for column_name in released_names
            if column_name not in renumbered_columns and naming(written_table.select(column_name).collect())
        ]
        household_columns = [
            column_name
            for column_name in other_columns
            if column_name in released_names and grouping(raw_table.select(column_name).collect(), plan.keys)
        ]
        notes = ["memory does not hold this file: intruders were not tried on it, and answers that it lost are counted "
                 "by step only", *plan_notes, *untried_sentences]  # fmt: skip
        release = Release(seeded_plan, log, standings, (), {}, naming_columns, household_columns, {}, notes, source)
        temporary_log = Path(temporary_folder) / log_of(out).name
        temporary_log.write_text(
            log_text(release, [] if row_masks is None else row_masks.deleted_rows.tolist()), encoding="utf-8"
        )
        files.place_of(out).unlink(missing_ok=True)
        temporary_log.replace(log_of(out))
        temporary_out.replace(out)
    return release


def _check(path: Path, plan: Plan, out: Path) -> None:
    """Raise for what needs the whole file in memory."""
    complaint_start = f"memory does not hold {path.name!r}, and"
    if files.kind(out, to_write=True) != "parquet":
        raise DataError(
            f"{complaint_start} such a file is released as Parquet only; name an --out that ends in .parquet"
        )
    if files.codebook_of(path) is not None:
        raise DataError(f"{str(path)!r} is the export of a survey, or a release: its codebook lies beside it")
    if plan.unit is not None or plan.order is not None:
        raise DataError(f"{complaint_start} households are protected in memory only; take a larger computer")
    if plan.goal is not None and plan.goal.conditions:
        raise DataError(
            f"{complaint_start} conditions such as {plan.goal.conditions[0]} are met in memory only; "
            f"take a larger computer, or ask for {plan.goal.reading} >= {plan.goal.least}"
        )
    last_stage = 0
    for step in plan.steps:
        step_stage = next((number for number, kinds in enumerate(_STAGES) if isinstance(step, kinds)), None)
        if step_stage is None or (isinstance(step, Suppress) and step.related):
            what = "related columns are emptied" if step_stage is not None else f"the step {step.name!r} is done"
            raise DataError(
                f"{complaint_start} {what} in memory only; take it out of the plan, or take a larger computer"
            )
        if step_stage < last_stage or (step_stage == last_stage and step_stage in (1, 2)):
            raise DataError(
                f"{complaint_start} a plan is run in this order: drop and recode, suppress once, shuffle once, "
                f"renumber; {step.name!r} stands in another place"
            )
        last_stage = step_stage


def _recode_column(
    method: Coarser, coded_table: pl.LazyFrame, table: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame, Cells]:
    """The file with one column recoded, by its distinct values."""
    variable_name = method.variable
    if table.collect_schema()[variable_name].is_nested():
        raise DataError(
            f"{variable_name!r} holds lists, which are recoded in memory only; leave it out", column=variable_name
        )
    value_counts = table.group_by(variable_name).len().collect(engine="streaming").sort(variable_name)
    coarser_values = method.values(value_counts.select(variable_name))
    is_filled = value_counts[variable_name].is_not_null()
    is_changed = is_filled & ~alike(value_counts[variable_name], coarser_values)
    column_cells = Cells(
        variable_name,
        int(value_counts["len"].filter(texts(value_counts[variable_name]).is_not_null()).sum()),
        int(value_counts["len"].filter(is_changed).sum()),
        0,
    )
    recode_expression = pl.col(variable_name).replace_strict(
        value_counts[variable_name].filter(is_filled), coarser_values.filter(is_filled), default=None
    )
    return coded_table.with_columns(recode_expression), table.with_columns(recode_expression), column_cells


def _suppress_tuples(method: Suppress, coded_table: pl.LazyFrame, rows: int) -> tuple[_Masks, Step]:
    """What each row keeps, decided on distinct tuples of keys."""
    keys = _keys(coded_table, [*method.keys, *method.strata])
    keep_masks, to_delete = masks(method, Units.of_tuples(keys))
    step = method.step(keys, keep_masks, to_delete)
    for cells in step.columns:
        if cells.cells and cells.suppressed == cells.cells:
            raise DataError(
                f"suppression would empty column {cells.variable!r}; recode it first (numbers by --bins "
                f"{cells.variable}=5), give it more importance, or leave it out of the file",
                column=cells.variable,
            )
    if step.deleted == rows:
        raise DataError(f"the target {method.target} would delete every record; recode the keys first, or take fewer")
    keep_bits = keep_masks.astype(np.min_scalar_type((1 << len(keys.variables)) - 1))[keys.owner]
    deleted_rows = np.flatnonzero(to_delete[keys.owner]) if step.deleted else np.zeros(0, np.intp)
    return _Masks(tuple(method.keys), keep_bits, deleted_rows), step


def _untried_notes(plan: Plan, log: Log, names: Sequence[str], *, trial: bool) -> list[str]:
    """Notes on columns that were not tried for what they tell of hidden cells.

    Raises
    ------
    DataError
        Where the plan does not accept one of them.
    """
    if not any(cells.changed for step in log for cells in step.columns if cells.variable in plan.keys):
        return []
    untried_names = [column_name for column_name in names if any(column_name not in key_set for key_set in plan.known)]
    untried_names += [ROW_ORDER] if plan.keep_order else []
    not_accepted = [column_name for column_name in untried_names if column_name not in plan.accepted]
    sentence = "memory does not hold this file, and what other columns tell of cells that it hides was not tried"
    if not_accepted and not trial:
        ways_out = (
            f"leave {not_accepted[0]!r} out (--drop), or accept it, which the log tells (--accept {not_accepted[0]!r})"
        )
        raise DataError(f"{sentence}: {_checks.listing_text(not_accepted)}; {ways_out}", column=not_accepted[0])
    return [f"{sentence}: {_checks.listing_text(untried_names)}"] if untried_names else []


def _pieces(table: pl.LazyFrame, rows: int, stays: _Masks | None) -> Iterator[pl.DataFrame]:
    """The rows of the release in the order of the file."""
    for piece_start in range(0, rows, _ROWS):
        piece = table.slice(piece_start, _ROWS).collect()
        if stays is not None:
            keep_bits = pl.Series(stays.keep_bits[piece_start : piece_start + _ROWS])
            piece = piece.with_columns(
                pl.when((keep_bits & (1 << place)) > 0).then(pl.col(name)).alias(name)
                for place, name in enumerate(stays.keys)
            )
            first_deleted, past_deleted = np.searchsorted(stays.deleted_rows, (piece_start, piece_start + _ROWS))
            is_released = np.ones(piece.height, bool)
            is_released[stays.deleted_rows[first_deleted:past_deleted] - piece_start] = False
            piece = piece.filter(pl.Series(is_released))
        yield piece.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def _scatter_pieces(pieces: Iterator[pl.DataFrame], order: NDArray[np.intp], folder: Path) -> Iterator[pl.DataFrame]:
    """The rows in another order: each goes to the part of the file where it will be, and each part is sorted."""
    place_of_row = np.empty(len(order), np.int64)
    place_of_row[order] = np.arange(len(order))
    piece_start, part_count = 0, -(-len(order) // _ROWS)
    for piece_number, piece in enumerate(pieces):
        released_places = place_of_row[piece_start : piece_start + piece.height]
        piece_start += piece.height
        sorted_rows = np.argsort(released_places)
        sorted_piece = piece[sorted_rows].with_columns(pl.Series("naysay_place", released_places[sorted_rows]))
        part_ends = np.searchsorted(released_places[sorted_rows], np.arange(part_count + 1) * _ROWS)
        for part_number in range(part_count):
            sorted_piece[part_ends[part_number] : part_ends[part_number + 1]].write_ipc(
                folder / f"{part_number}-{piece_number}", compression="zstd"
            )
    pieces_read = piece_number + 1
    for part_number in range(part_count):
        paths = [folder / f"{part_number}-{piece_number}" for piece_number in range(pieces_read)]
        yield (pl.concat([pl.read_ipc(path) for path in paths]).sort("naysay_place").drop("naysay_place"))
        for path in paths:
            path.unlink()


def _renumber_pieces(pieces: Iterator[pl.DataFrame], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Columns that differ for all, numbered in the order of rows."""
    last_numbers = dict.fromkeys(names, 0)
    for piece in pieces:
        numbered_columns = []
        for column_name in names:
            is_filled = texts(piece[column_name]).is_not_null()
            number = pl.select(
                pl.when(is_filled).then(is_filled.cast(pl.Int64).cum_sum() + last_numbers[column_name])
            ).to_series()
            numbered_columns.append(
                number.cast(pl.String if piece[column_name].dtype == pl.String else pl.Int64).alias(column_name)
            )
            last_numbers[column_name] += int(is_filled.sum())
        yield piece.with_columns(numbered_columns)


def _standing(plan: Plan, keys: tuple[str, ...], raw: pl.LazyFrame, written_table: pl.LazyFrame) -> Standing:
    """The fewest matches before, and in the file as it is written."""
    guarantee_before = _guarantee(as_gaps(raw, keys, plan.missing), keys, plan)
    released_keys = [name for name in keys if name in written_table.collect_schema()]
    if not released_keys:
        return Standing(keys, guarantee_before, None)
    # new values may read as missing elsewhere
    guarantee_after, goal = _guarantee(written_table, released_keys, plan), plan.goal
    if goal is not None and (guarantee_after.of(goal.reading) or 0) < goal.least:
        raise DataError(
            f"the plan reaches {goal.reading} >= {guarantee_after.of(goal.reading)}, not {goal}, and nothing was kept: "
            "end it with a step that suppresses"
        )
    return Standing(keys, guarantee_before, guarantee_after)


def _guarantee(table: pl.LazyFrame, keys: Sequence[str], plan: Plan) -> Guarantee:
    return of_units(Units.of_tuples(_keys(table, keys)), 3 if plan.goal is None else plan.goal.least)


def _keys(table: pl.LazyFrame, names: Sequence[str]) -> Keys:
    """Keys of a table, measures that are not whole as texts, as `keyed` has them in memory."""
    schema = table.collect_schema()
    measures = [key_name for key_name in names if schema[key_name].is_float()]
    if not measures:
        return Keys(table, list(names))
    cells = [pl.col(key_name).fill_nan(None) for key_name in measures]
    has_fractions = table.select((cell != cell.round(0)).any() for cell in cells).collect(engine="streaming")
    text_columns = [
        text_of(key_name, schema[key_name]).alias(key_name) for key_name in measures if has_fractions[key_name].item()
    ]
    return Keys(table.with_columns(text_columns), list(names))
