"""Releases of Parquet files that memory does not hold: decided on distinct tuples of keys, and written in pieces."""

from __future__ import annotations

import datetime
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, files
from naysay.errors import DataError
from naysay.files.casts import text_of
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.clues import ROW_ORDER
from naysay.microdata.protect.dropping import Drop, grouping, naming
from naysay.microdata.protect.identity import Renumber, Shuffle, numbers_of_people
from naysay.microdata.protect.log import Cells, Log, Step
from naysay.microdata.protect.plan import Guarantee, Plan, of_units
from naysay.microdata.protect.recoding import Coarser
from naysay.microdata.protect.releases import Release, check_out, closed, log_of, log_text, notes_of
from naysay.microdata.protect.standings import Standing
from naysay.microdata.protect.suppression import Suppress, masks
from naysay.microdata.protect.tables import alike, texts
from naysay.microdata.protect.units import Units

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
    raw = files.scan(path, table=table)
    schema = raw.collect_schema()
    check_names([*plan.keys, *(name for step in plan.steps for name in step.needs)], schema.names())
    rows = int(raw.select(pl.len()).collect().item())
    if not rows:
        raise DataError(f"{path.name!r} has no rows")
    other_columns = [name for name in schema.names() if name not in plan.keys]
    number_columns = [
        name for name in other_columns if numbers_of_people(column := raw.select(name).collect(), naming(column))
    ]
    plan_notes = notes_of(plan)
    plan = closed(plan, number_columns)
    check_out(path, out, force=force)
    strata = [name for step in plan.steps if isinstance(step, Suppress) for name in step.strata]
    changed_columns = {name for step in plan.steps for name in step.variables} | set(plan.keys)
    steps: list[Step] = []
    coded_table, released_table = (
        _gaps(raw, names, plan.missing) for names in ({*changed_columns, *strata}, changed_columns)
    )
    stays: _Masks | None = None
    order: NDArray[np.intp] | None = None
    shown_rows = rows
    for step in plan.steps:
        method = step.prepared()
        if isinstance(method, Drop):
            cells = [
                Cells(name, filled_cells, filled_cells, 0)
                for name in method.columns
                for filled_cells in [int(released_table.select(pl.col(name).count()).collect().item())]
            ]
            released_table = released_table.drop(method.columns)
            steps.append(Step(method, rows, 0, tuple(cells)))
        elif isinstance(method, Coarser):
            coded_table, released_table, recoded_cells = _recode_column(method, coded_table, released_table)
            steps.append(Step(method, rows, 0, (recoded_cells,)))
        elif isinstance(method, Suppress):
            stays, suppress_step = _suppress_tuples(method, coded_table, rows)
            shown_rows -= suppress_step.deleted
            steps.append(suppress_step)
        elif isinstance(method, Shuffle):
            order = method.order(shown_rows)
            steps.append(Step(method, shown_rows, 0, ()))
        elif isinstance(method, Renumber):
            for name in method.columns:
                if name not in number_columns:
                    raise DataError(
                        f"{name!r} has one value in several rows; to number it anew needs the file in memory: "
                        f"leave it out (--drop {name})",
                        column=name,
                    )
            filled_counts = released_table.select(pl.col(method.columns).count()).collect().row(0, named=True)
            numbered_cells = (Cells(name, cells, cells, 0) for name, cells in filled_counts.items())
            steps.append(Step(method, shown_rows, 0, tuple(numbered_cells)))
    log = Log(tuple(steps))
    done = Plan(**{**vars(plan), "steps": log.methods})
    renumbered_columns = [name for step in done.steps if isinstance(step, Renumber) for name in step.columns]
    released_names = released_table.collect_schema().names()
    untried_sentences = _untried_notes(
        done, log, [name for name in released_names if name not in renumbered_columns], trial=trial
    )
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        temporary_out = Path(folder) / out.name
        pieces = _pieces(released_table, rows, stays)
        ordered_pieces = pieces if order is None else _scatter_pieces(pieces, order, Path(folder))
        files.write_pieces(_renumber_pieces(ordered_pieces, renumbered_columns), temporary_out)
        written_table = pl.scan_parquet(temporary_out, glob=False)
        standings = tuple(_standing(done, key_set, raw, written_table) for key_set in done.known)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        source = {
            "original": path.name,
            "sha256": digest,
            "rows": rows,
            "rows released": shown_rows,
            "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "naysay": version("naysay"),
        } | ({} if table is None else {"table": table})
        names = [
            name
            for name in released_names
            if name not in renumbered_columns and naming(written_table.select(name).collect())
        ]
        households = [
            name for name in other_columns if name in released_names and grouping(raw.select(name).collect(), plan.keys)
        ]
        notes = ["memory does not hold this file: intruders were not tried on it, and answers that it lost are counted "
                 "by step only", *plan_notes, *untried_sentences]  # fmt: skip
        release = Release(done, log, standings, (), {}, names, households, {}, notes, source)
        note = Path(folder) / log_of(out).name
        note.write_text(log_text(release, [] if stays is None else stays.deleted_rows.tolist()), encoding="utf-8")
        files.place_of(out).unlink(missing_ok=True)
        note.replace(log_of(out))
        temporary_out.replace(out)
    return release


def _check(path: Path, plan: Plan, out: Path) -> None:
    """Raise for what needs the whole file in memory."""
    needs = f"memory does not hold {path.name!r}, and"
    if files.kind(out, to_write=True) != "parquet":
        raise DataError(f"{needs} such a file is released as Parquet only; name an --out that ends in .parquet")
    if files.codebook_of(path) is not None:
        raise DataError(f"{str(path)!r} is the export of a survey, or a release: its codebook lies beside it")
    if plan.unit is not None or plan.order is not None:
        raise DataError(f"{needs} households are protected in memory only; take a larger computer")
    if plan.goal is not None and plan.goal.conditions:
        raise DataError(
            f"{needs} conditions such as {plan.goal.conditions[0]} are met in memory only; take a larger computer, or "
            f"ask for {plan.goal.reading} >= {plan.goal.least}"
        )
    stage = 0
    for step in plan.steps:
        at = next((number for number, kinds in enumerate(_STAGES) if isinstance(step, kinds)), None)
        if at is None or (isinstance(step, Suppress) and step.related):
            what = "related columns are emptied" if at is not None else f"the step {step.name!r} is done"
            raise DataError(f"{needs} {what} in memory only; take it out of the plan, or take a larger computer")
        if at < stage or (at == stage and at in (1, 2)):
            raise DataError(
                f"{needs} a plan is run in this order: drop and recode, suppress once, shuffle once, renumber; "
                f"{step.name!r} stands in another place"
            )
        stage = at


def _gaps(raw: pl.LazyFrame, names: set[str], missing: Sequence[str]) -> pl.LazyFrame:
    """The file with gaps in some columns where cells mean missing."""
    schema = raw.collect_schema()
    flat = [name for name in schema.names() if missing and name in names and not schema[name].is_nested()]
    gaps = [pl.when(~text_of(name, schema[name]).is_in(list(missing))).then(name).alias(name) for name in flat]
    return raw.with_columns(gaps)


def _recode_column(
    method: Coarser, coded_table: pl.LazyFrame, table: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame, Cells]:
    """The file with one column recoded, by its distinct values."""
    name = method.variable
    if table.collect_schema()[name].is_nested():
        raise DataError(f"{name!r} holds lists, which are recoded in memory only; leave it out", column=name)
    value_counts = table.group_by(name).len().collect(engine="streaming").sort(name)
    coarser_values = method.values(value_counts.select(name))
    is_filled = value_counts[name].is_not_null()
    differs = is_filled & ~alike(value_counts[name], coarser_values)
    cells = Cells(name, int(value_counts["len"].filter(texts(value_counts[name]).is_not_null()).sum()),
                  int(value_counts["len"].filter(differs).sum()), 0)  # fmt: skip
    recode_expression = pl.col(name).replace_strict(
        value_counts[name].filter(is_filled), coarser_values.filter(is_filled), default=None
    )
    return coded_table.with_columns(recode_expression), table.with_columns(recode_expression), cells


def _suppress_tuples(method: Suppress, coded_table: pl.LazyFrame, rows: int) -> tuple[_Masks, Step]:
    """What each row keeps, decided on distinct tuples of keys."""
    keys = _keys(coded_table, [*method.keys, *method.strata])
    keep, to_delete = masks(method, Units.of_tuples(keys))
    tuples = keys.tuples
    cells = []
    for place, name in enumerate(method.keys):
        was_filled = (tuples.columns[place] > 0) & ~to_delete
        emptied = int(tuples.count[was_filled & (keep >> place & 1 == 0)].sum())
        cells.append(Cells(name, int(tuples.count[was_filled].sum()), emptied, emptied))
        if was_filled.any() and not (was_filled & (keep >> place & 1 > 0)).any():
            raise DataError(
                f"suppression would empty column {name!r}; recode it first (numbers by --bins {name}=5), give it more "
                "importance, or leave it out of the file",
                column=name,
            )
    deleted = int(tuples.count[to_delete].sum())
    if deleted == rows:
        raise DataError(f"the target {method.target} would delete every record; recode the keys first, or take fewer")
    keep_bits = keep.astype(np.min_scalar_type((1 << len(keys.variables)) - 1))[keys.owner]
    gone = np.flatnonzero(to_delete[keys.owner]) if deleted else np.zeros(0, np.intp)
    return _Masks(tuple(method.keys), keep_bits, gone), Step(method, rows, deleted, tuple(cells), method.notes(deleted))


def _untried_notes(plan: Plan, log: Log, names: Sequence[str], *, trial: bool) -> list[str]:
    """Notes on columns that were not tried for what they tell of hidden cells.

    Raises
    ------
    DataError
        Where the plan does not accept one of them.
    """
    if not any(cells.changed for step in log for cells in step.columns if cells.variable in plan.keys):
        return []
    untried_names = [name for name in names if any(name not in key_set for key_set in plan.known)]
    untried_names += [ROW_ORDER] if plan.keep_order else []
    not_accepted = [name for name in untried_names if name not in plan.accepted]
    sentence = "memory does not hold this file, and what other columns tell of cells that it hides was not tried"
    if not_accepted and not trial:
        ways = (
            f"leave {not_accepted[0]!r} out (--drop), or accept it, which the log tells (--accept {not_accepted[0]!r})"
        )
        raise DataError(f"{sentence}: {_checks.listing_text(not_accepted)}; {ways}", column=not_accepted[0])
    return [f"{sentence}: {_checks.listing_text(untried_names)}"] if untried_names else []


def _pieces(table: pl.LazyFrame, rows: int, stays: _Masks | None) -> Iterator[pl.DataFrame]:
    """The rows of the release in the order of the file."""
    for begin in range(0, rows, _ROWS):
        piece = table.slice(begin, _ROWS).collect()
        if stays is not None:
            keep_bits = pl.Series(stays.keep_bits[begin : begin + _ROWS])
            piece = piece.with_columns(
                pl.select(pl.when((keep_bits & (1 << place)) > 0).then(piece[name])).to_series().alias(name)
                for place, name in enumerate(stays.keys)
            )
            low, high = np.searchsorted(stays.deleted_rows, (begin, begin + _ROWS))
            is_released = np.ones(piece.height, bool)
            is_released[stays.deleted_rows[low:high] - begin] = False
            piece = piece.filter(pl.Series(is_released))
        yield piece.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def _scatter_pieces(pieces: Iterator[pl.DataFrame], order: NDArray[np.intp], folder: Path) -> Iterator[pl.DataFrame]:
    """The rows in another order: each goes to the part of the file where it will be, and each part is sorted."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    begin, parts = 0, -(-len(order) // _ROWS)
    for number, piece in enumerate(pieces):
        released_places = place[begin : begin + piece.height]
        begin += piece.height
        rows = np.argsort(released_places)
        sorted_piece = piece[rows].with_columns(pl.Series("naysay_place", released_places[rows]))
        ends = np.searchsorted(released_places[rows], np.arange(parts + 1) * _ROWS)
        for part in range(parts):
            sorted_piece[ends[part] : ends[part + 1]].write_ipc(folder / f"{part}-{number}", compression="zstd")
    pieces_read = number + 1
    for part in range(parts):
        paths = [folder / f"{part}-{number}" for number in range(pieces_read)]
        yield (pl.concat([pl.read_ipc(path) for path in paths]).sort("naysay_place").drop("naysay_place"))
        for path in paths:
            path.unlink()


def _renumber_pieces(pieces: Iterator[pl.DataFrame], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Columns that differ for all, numbered in the order of rows."""
    last = dict.fromkeys(names, 0)
    for piece in pieces:
        columns = []
        for name in names:
            is_filled = texts(piece[name]).is_not_null()
            number = pl.select(pl.when(is_filled).then(is_filled.cast(pl.Int64).cum_sum() + last[name])).to_series()
            columns.append(number.cast(pl.String if piece[name].dtype == pl.String else pl.Int64).alias(name))
            last[name] += int(is_filled.sum())
        yield piece.with_columns(columns)


def _standing(plan: Plan, keys: tuple[str, ...], raw: pl.LazyFrame, written_table: pl.LazyFrame) -> Standing:
    """The fewest matches before, and in the file as it is written."""
    before = _guarantee(_gaps(raw, set(keys), plan.missing), keys, plan)
    released_keys = [name for name in keys if name in written_table.collect_schema()]
    if not released_keys:
        return Standing(keys, before, None)
    after, goal = (
        _guarantee(written_table, released_keys, plan),
        plan.goal,
    )  # whose new values may read as missing elsewhere
    if goal is not None and (after.of(goal.reading) or 0) < goal.least:
        raise DataError(
            f"the plan reaches {goal.reading} >= {after.of(goal.reading)}, not {goal}, and nothing was kept: end it "
            "with a step that suppresses"
        )
    return Standing(keys, before, after)


def _guarantee(table: pl.LazyFrame, keys: Sequence[str], plan: Plan) -> Guarantee:
    return of_units(Units.of_tuples(_keys(table, keys)), 3 if plan.goal is None else plan.goal.least)


def _keys(table: pl.LazyFrame, names: Sequence[str]) -> Keys:
    """Keys of a table, measures that are not whole as texts, as `keyed` has them in memory."""
    schema = table.collect_schema()
    measures = [name for name in names if schema[name].is_float()]
    if not measures:
        return Keys(table, list(names))
    cells = [pl.col(name).fill_nan(None) for name in measures]
    broken = table.select((cell != cell.round(0)).any() for cell in cells).collect(engine="streaming")
    text_columns = [text_of(name, schema[name]).alias(name) for name in measures if broken[name].item()]
    return Keys(table.with_columns(text_columns), list(names))
