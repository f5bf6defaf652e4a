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
    kept: NDArray[np.integer]
    gone: NDArray[np.intp]


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
    others = [name for name in schema.names() if name not in plan.keys]
    numbers = [name for name in others if numbers_of_people(column := raw.select(name).collect(), naming(column))]
    given = notes_of(plan)
    plan = closed(plan, numbers)
    check_out(path, out, force=force)
    strata = [name for step in plan.steps if isinstance(step, Suppress) for name in step.strata]
    changed = {name for step in plan.steps for name in step.variables} | set(plan.keys)
    steps: list[Step] = []
    coded, released_table = (_gaps(raw, names, plan.missing) for names in ({*changed, *strata}, changed))
    stays: _Masks | None = None
    order: NDArray[np.intp] | None = None
    shown_rows = rows
    for step in plan.steps:
        method = step.prepared()
        if isinstance(method, Drop):
            cells = [Cells(name, held := int(released_table.select(pl.col(name).count()).collect().item()), held, 0)
                     for name in method.columns]  # fmt: skip
            released_table = released_table.drop(method.columns)
            steps.append(Step(method, rows, 0, tuple(cells)))
        elif isinstance(method, Coarser):
            coded, released_table, told = _recoded(method, coded, released_table)
            steps.append(Step(method, rows, 0, (told,)))
        elif isinstance(method, Suppress):
            stays, told_step = _suppressed(method, coded, rows)
            shown_rows -= told_step.deleted
            steps.append(told_step)
        elif isinstance(method, Shuffle):
            order = method.order(shown_rows)
            steps.append(Step(method, shown_rows, 0, ()))
        elif isinstance(method, Renumber):
            for name in method.columns:
                if name not in numbers:
                    raise DataError(
                        f"{name!r} has one value in several rows; to number it anew needs the file in memory: "
                        f"leave it out (--drop {name})",
                        column=name,
                    )
            held_cells = released_table.select(pl.col(method.columns).count()).collect().row(0, named=True)
            numbered_cells = (Cells(name, cells, cells, 0) for name, cells in held_cells.items())
            steps.append(Step(method, shown_rows, 0, tuple(numbered_cells)))
    log = Log(tuple(steps))
    done = Plan(**{**vars(plan), "steps": log.methods})
    numbered = [name for step in done.steps if isinstance(step, Renumber) for name in step.columns]
    released = released_table.collect_schema().names()
    untried = _untried(done, log, [name for name in released if name not in numbered], trial=trial)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        there = Path(folder) / out.name
        pieces = _pieces(released_table, rows, stays)
        ordered = pieces if order is None else _scattered(pieces, order, Path(folder))
        files.write_pieces(_renumbered(ordered, numbered), there)
        written = pl.scan_parquet(there, glob=False)
        standings = tuple(_standing(done, known, raw, written) for known in done.known)
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
        names = [name for name in released if name not in numbered and naming(written.select(name).collect())]
        households = [name for name in others if name in released and grouping(raw.select(name).collect(), plan.keys)]
        notes = ["memory does not hold this file: intruders were not tried on it, and answers that it lost are counted "
                 "by step only", *given, *untried]  # fmt: skip
        found = Release(done, log, standings, (), {}, names, households, {}, notes, source)
        note = Path(folder) / log_of(out).name
        note.write_text(log_text(found, [] if stays is None else stays.gone.tolist()), encoding="utf-8")
        files.place_of(out).unlink(missing_ok=True)
        note.replace(log_of(out))
        there.replace(out)
    return found


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


def _recoded(method: Coarser, coded: pl.LazyFrame, table: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame, Cells]:
    """The file with one column recoded, by its distinct values."""
    name = method.variable
    if table.collect_schema()[name].is_nested():
        raise DataError(f"{name!r} holds lists, which are recoded in memory only; leave it out", column=name)
    counted = table.group_by(name).len().collect(engine="streaming").sort(name)
    new = method.values(counted.select(name))
    known = counted[name].is_not_null()
    differs = known & ~alike(counted[name], new)
    cells = Cells(name, int(counted["len"].filter(texts(counted[name]).is_not_null()).sum()),
                  int(counted["len"].filter(differs).sum()), 0)  # fmt: skip
    found = pl.col(name).replace_strict(counted[name].filter(known), new.filter(known), default=None)
    return coded.with_columns(found), table.with_columns(found), cells


def _suppressed(method: Suppress, coded: pl.LazyFrame, rows: int) -> tuple[_Masks, Step]:
    """What each row keeps, decided on distinct tuples of keys."""
    keys = _keys(coded, [*method.keys, *method.strata])
    keep, left = masks(method, Units.of_tuples(keys))
    tuples = keys.tuples
    cells = []
    for place, name in enumerate(method.keys):
        held = (tuples.columns[place] > 0) & ~left
        emptied = int(tuples.count[held & (keep >> place & 1 == 0)].sum())
        cells.append(Cells(name, int(tuples.count[held].sum()), emptied, emptied))
        if held.any() and not (held & (keep >> place & 1 > 0)).any():
            raise DataError(
                f"suppression would empty column {name!r}; recode it first (numbers by --bins {name}=5), give it more "
                "importance, or leave it out of the file",
                column=name,
            )
    deleted = int(tuples.count[left].sum())
    if deleted == rows:
        raise DataError(f"the target {method.target} would delete every record; recode the keys first, or take fewer")
    kept = keep.astype(np.min_scalar_type((1 << len(keys.variables)) - 1))[keys.owner]
    gone = np.flatnonzero(left[keys.owner]) if deleted else np.zeros(0, np.intp)
    return _Masks(tuple(method.keys), kept, gone), Step(method, rows, deleted, tuple(cells), method.notes(deleted))


def _untried(plan: Plan, log: Log, names: Sequence[str], *, trial: bool) -> list[str]:
    """Notes on columns that were not tried for what they tell of hidden cells.

    Raises
    ------
    DataError
        Where the plan does not accept one of them.
    """
    if not any(cells.changed for step in log for cells in step.columns if cells.variable in plan.keys):
        return []
    every = [name for name in names if any(name not in known for known in plan.known)]
    every += [ROW_ORDER] if plan.keep_order else []
    open_ = [name for name in every if name not in plan.accepted]
    told = "memory does not hold this file, and what other columns tell of cells that it hides was not tried"
    if open_ and not trial:
        ways = f"leave {open_[0]!r} out (--drop), or accept it, which the log tells (--accept {open_[0]!r})"
        raise DataError(f"{told}: {_checks.shown(open_)}; {ways}", column=open_[0])
    return [f"{told}: {_checks.shown(every)}"] if every else []


def _pieces(table: pl.LazyFrame, rows: int, stays: _Masks | None) -> Iterator[pl.DataFrame]:
    """The rows of the release in the order of the file."""
    for begin in range(0, rows, _ROWS):
        piece = table.slice(begin, _ROWS).collect()
        if stays is not None:
            kept = pl.Series(stays.kept[begin : begin + _ROWS])
            piece = piece.with_columns(
                pl.select(pl.when((kept & (1 << place)) > 0).then(piece[name])).to_series().alias(name)
                for place, name in enumerate(stays.keys)
            )
            low, high = np.searchsorted(stays.gone, (begin, begin + _ROWS))
            there = np.ones(piece.height, bool)
            there[stays.gone[low:high] - begin] = False
            piece = piece.filter(pl.Series(there))
        yield piece.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def _scattered(pieces: Iterator[pl.DataFrame], order: NDArray[np.intp], folder: Path) -> Iterator[pl.DataFrame]:
    """The rows in another order: each goes to the part of the file where it will be, and each part is sorted."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    begin, parts = 0, -(-len(order) // _ROWS)
    for number, piece in enumerate(pieces):
        own = place[begin : begin + piece.height]
        begin += piece.height
        rows = np.argsort(own)
        sorted_piece = piece[rows].with_columns(pl.Series("naysay_place", own[rows]))
        ends = np.searchsorted(own[rows], np.arange(parts + 1) * _ROWS)
        for part in range(parts):
            sorted_piece[ends[part] : ends[part + 1]].write_ipc(folder / f"{part}-{number}", compression="zstd")
    pieces_read = number + 1
    for part in range(parts):
        paths = [folder / f"{part}-{number}" for number in range(pieces_read)]
        yield (pl.concat([pl.read_ipc(path) for path in paths]).sort("naysay_place").drop("naysay_place"))
        for path in paths:
            path.unlink()


def _renumbered(pieces: Iterator[pl.DataFrame], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Columns that differ for all, numbered in the order of rows."""
    last = dict.fromkeys(names, 0)
    for piece in pieces:
        columns = []
        for name in names:
            known = texts(piece[name]).is_not_null()
            number = pl.select(pl.when(known).then(known.cast(pl.Int64).cum_sum() + last[name])).to_series()
            columns.append(number.cast(pl.String if piece[name].dtype == pl.String else pl.Int64).alias(name))
            last[name] += int(known.sum())
        yield piece.with_columns(columns)


def _standing(plan: Plan, keys: tuple[str, ...], raw: pl.LazyFrame, written: pl.LazyFrame) -> Standing:
    """The fewest matches before, and in the file as it is written."""
    before = _guarantee(_gaps(raw, set(keys), plan.missing), keys, plan)
    left = [name for name in keys if name in written.collect_schema()]
    if not left:
        return Standing(keys, before, None)
    after, goal = _guarantee(written, left, plan), plan.goal  # whose new values may read as missing elsewhere
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
    written = [text_of(name, schema[name]).alias(name) for name in measures if broken[name].item()]
    return Keys(table.with_columns(written), list(names))
