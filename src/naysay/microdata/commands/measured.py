"""Files as tables in memory, numbers as numbers, for commands that compare files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from naysay import files
from naysay.microdata.commands import declared
from naysay.microdata.protect.plan import Plan

__all__ = ["RECORD", "Reading"]

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
    """

    separator: str
    encoding: str | None
    codes: bool
    na: Sequence[str]

    @classmethod
    def of(cls, options: Any) -> Reading:
        """What the options of a command say."""
        na = () if options.na is None else declared.record(options.na, option="--na")
        return cls(options.separator, options.encoding, options.codes, na)

    def table(self, path: Path) -> pl.DataFrame:
        """All columns: those that hold only numbers as numbers, other texts as they are."""
        with files.readable(path):
            frame = files.scan(path, separator=self.separator, encoding=self.encoding, codes=self.codes)
            plain = [name for name, kind in frame.collect_schema().items() if not kind.is_nested()]
            if self.na:
                kept = (pl.when(~pl.col(name).cast(pl.String).is_in(list(self.na))).then(name) for name in plain)
                frame = frame.with_columns(kept)
            return files.as_measured(frame, plain).collect()

    def released(self, path: Path, original: Path, rows: int) -> pl.DataFrame:
        """A release in which `RECORD` says which of the rows of the original each one was.

        They have one order. Where the release of `naysay protect` has fewer rows, its log, a plan that repeats it, says
        which are left. Without such a log, or after a change of either file, the column is left out.
        """
        table = self.table(path)
        log = path.with_name(f"{path.name}.log.toml")
        places = pl.int_range(rows, eager=True)
        if table.height != rows and log.is_file():
            plan = Plan.read(log)
            read: dict[str, Any] = {"separator": self.separator, "encoding": self.encoding, "missing": plan.missing}
            places = plan.run(files.Original.read(original, **read).frame)[2]
        return table if table.height != len(places) else table.with_columns(places.cast(pl.UInt32).alias(RECORD))
