"""Files of answers: CSV, Parquet, JSON lines, SPSS and Stata, by suffix.

Files are scanned, not loaded: what a tally needs is grouped while the file is read. In a CSV file every cell is text,
so that labels such as ``1`` and ``007`` stay as they are written; an empty cell is missing. In a file of SPSS or Stata
value labels stand for their codes, and user-missing values are missing.
"""

from __future__ import annotations

from naysay.files.casts import as_booleans, as_numbers, as_text, check_columns
from naysay.files.kinds import kind, readable
from naysay.files.reading import scan, value_labels
from naysay.files.writing import write

__all__ = ["as_booleans", "as_numbers", "as_text", "check_columns", "kind", "readable", "scan", "value_labels", "write"]
