"""Randomized answers beside other variables: joint distributions of two or three, and how they go together.

`crosstab` estimates the table. Its `Crosstab` gives shares within rows, odds ratio, correlation and Cramér's V, each
with an interval, and tests independence.
"""

from naysay.crosstab.independence import Independence
from naysay.crosstab.table import ESTIMATED, Association, Crosstab, crosstab
from naysay.crosstab.variables import MOST_CELLS, Variable

__all__ = ["ESTIMATED", "MOST_CELLS", "Association", "Crosstab", "Independence", "Variable", "crosstab"]
