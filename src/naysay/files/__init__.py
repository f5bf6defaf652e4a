"""Files of answers: CSV, Parquet, JSON lines, SPSS and Stata, by suffix.

Files are scanned, not loaded: what a tally needs is grouped while the file is read. In a CSV file every cell is text,
so that labels such as ``1`` and ``007`` stay as they are written; an empty cell is missing. In a file of SPSS or Stata
value labels stand for their codes, and user-missing values are missing.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
