"""Tables that are published: cells that tell too much, what hides them, and what can still be computed."""

from naysay.microdata.tables.suppression import ProtectedTable, intervals, protect
from naysay.microdata.tables.table import CellTable, Dimension, NoisyTable, Rules, noisy, tabulate

__all__ = [
    "CellTable",
    "Dimension",
    "NoisyTable",
    "ProtectedTable",
    "Rules",
    "intervals",
    "noisy",
    "protect",
    "tabulate",
]
