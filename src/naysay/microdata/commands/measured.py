"""Files as tables in memory, numbers as numbers, for commands that compare files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from naysay import files
from naysay.microdata.commands import declared

__all__ = ["Reading"]


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
