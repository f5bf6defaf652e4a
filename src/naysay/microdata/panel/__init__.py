"""Panels: waves merged into one row a respondent, and what the waves give away beside their answers."""

from naysay.microdata.keys.variables import composite
from naysay.microdata.panel.changes import Birthdays, Dated, Gain, gain, month_of_birth, when_changed
from naysay.microdata.panel.waves import Merged, merge_waves

__all__ = [
    "Birthdays",
    "Dated",
    "Gain",
    "Merged",
    "composite",
    "gain",
    "merge_waves",
    "month_of_birth",
    "when_changed",
]
