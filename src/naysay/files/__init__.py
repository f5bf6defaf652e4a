"""Files of answers: CSV, Parquet, JSON lines, SPSS and Stata, by suffix.

Files are scanned, not loaded: what a tally needs is grouped while the file is read. In a CSV file every cell is text,
so that labels such as ``1`` and ``007`` stay as they are written; an empty cell is missing. In a file of SPSS or Stata
value labels stand for their codes, and user-missing values are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from naysay._lazy import loader

if TYPE_CHECKING:  # loaded with a first file, so that a command's help does not wait for what reads files
    from naysay.files.casts import as_booleans, as_numbers, as_text, check_columns
    from naysay.files.kinds import kind, readable
    from naysay.files.reading import scan, value_labels
    from naysay.files.writing import write

__all__ = ["as_booleans", "as_numbers", "as_text", "check_columns", "kind", "readable", "scan", "value_labels", "write"]

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    __getattr__, __dir__ = loader(
        __name__,
        dict.fromkeys(("as_booleans", "as_numbers", "as_text", "check_columns"), "naysay.files.casts")
        | dict.fromkeys(("kind", "readable"), "naysay.files.kinds")
        | dict.fromkeys(("scan", "value_labels"), "naysay.files.reading")
        | {"write": "naysay.files.writing"},
    )
