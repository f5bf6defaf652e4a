"""Files as tables in memory, numbers as numbers, for commands that compare files."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from naysay import files
from naysay.errors import DataError
from naysay.files.casts import text_of
from naysay.microdata.commands import declared
from naysay.microdata.protect.identity import Renumber, Shuffle
from naysay.microdata.protect.plan import Plan

RECORD = "row of the original"


@dataclass(frozen=True)
class Reading:
    """How files are written.

    Parameters
    ----------
    separator : str
    encoding : str, optional
    codes : bool
    na : sequence of str
        Cells that mean missing.
    original_table : str, optional
        Of the original, where it is a database.
    """

    separator: str
    encoding: str | None
    codes: bool
    na: Sequence[str]
    original_table: str | None = None

    @classmethod
    def of(cls, options: Any) -> Reading:
        """What the options of a command say."""
        na = () if options.na is None else declared.record(options.na, option="--na")
        return cls(options.separator, options.encoding, options.codes, na)

    def table(self, path: Path) -> pl.DataFrame:
        """All columns: those that hold only numbers as numbers, other texts as they are."""
        with files.readable(path):
            frame = files.scan(path, separator=self.separator, encoding=self.encoding, codes=self.codes)
            schema = frame.collect_schema()
            plain = [name for name, kind in schema.items() if not kind.is_nested()]
            if self.na:
                known_cells = (
                    pl.when(~text_of(name, schema[name]).is_in(list(self.na))).then(name).alias(name) for name in plain
                )
                frame = frame.with_columns(known_cells)
            return files.as_measured(frame, plain).collect()

    def released(self, path: Path, original: Path, rows: int, *, identity: str | None, synthetic: bool) -> pl.DataFrame:
        """A release in which `RECORD` says which of the rows of the original each one was.

        The log beside a release of `naysay protect`, a plan that repeats it, says that. Without such a log the rows
        must have one order. Where they are not as many, or after a change of either file, the column is left out.

        Raises
        ------
        DataError
            A log that is that of another original, unless a column names people; or one that says that this column was
        numbered anew.
        """
        table = self.table(path)
        log = path.with_name(f"{path.name}.log.toml")
        places = pl.int_range(rows, eager=True)
        if log.is_file() and identity is not None:
            steps = Plan.read(log).steps
            if any(isinstance(step, Renumber) and identity in step.columns for step in steps):
                raise DataError(
                    f"{identity!r} was numbered anew in {path.name!r}, so it names other records than in the original; "
                    "leave --id out: the log beside the release says which rows belong together"
                )
        if log.is_file() and identity is None and not synthetic:
            plan, log_fields = Plan.read(log), tomllib.loads(log.read_text(encoding="utf-8")).get("log", {})
            if log_fields.get("source", {}).get("sha256") not in (
                None,
                hashlib.sha256(original.read_bytes()).hexdigest(),
            ):
                raise DataError(
                    f"{log.name!r} is the log of a release of another file than {original.name!r}, so nothing says "
                    "which rows belong together; name the column that does (--id)"
                )
            kinds = [type(step) for step in plan.steps]
            last = kinds[kinds.index(Shuffle) :] if Shuffle in kinds else []
            # rows that were left out after a shuffle moved others: then only the plan itself says which row is whose
            if "rows_left_out" in log_fields and set(last) <= {Shuffle, Renumber}:
                places = places.filter(~places.is_in(log_fields["rows_left_out"]))
                for step in plan.steps:
                    if isinstance(step, Shuffle):
                        places = step.done(places.to_frame()).frame.to_series()
            else:
                read_options: dict[str, Any] = {
                    "separator": self.separator,
                    "encoding": self.encoding,
                    "missing": plan.missing,
                }
                places = plan.run(files.Original.read(original, table=self.original_table, **read_options).frame)[2]
        return table if table.height != len(places) else table.with_columns(places.cast(pl.UInt32).alias(RECORD))
