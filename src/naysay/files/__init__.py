"""Files of answers: CSV, Parquet, JSON lines, SPSS, Stata and Excel, by suffix.

Files are scanned, not loaded: what a tally needs is grouped while the file is read. In a CSV file every cell is text,
so that labels such as ``1`` and ``007`` stay as they are written; an empty cell is missing. In a file of SPSS or Stata
value labels stand for their codes, and user-missing values are missing. The export of a survey has its `Codebook`
beside it; `designs_of` finds the design of every private column there.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
