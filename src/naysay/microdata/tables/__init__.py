"""Tables that are published: cells that tell too much, what hides them, and what can still be computed."""

from naysay.microdata.tables.noise import NoisyTable, noisy
from naysay.microdata.tables.release import ProtectedTable, protect
from naysay.microdata.tables.suppression import intervals
from naysay.microdata.tables.table import CellTable, Dimension, Rules, tabulate

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
