"""Panels: waves merged into one row a respondent, and what the waves give away beside their answers."""

from naysay.microdata.panel.birthdays import Birthdays, month_of_birth
from naysay.microdata.panel.changes import Dated, Gain, gain, when_changed
from naysay.microdata.panel.composite import composite
from naysay.microdata.panel.generate import BACKGROUND, Panel, generate
from naysay.microdata.panel.merge import Merged, merge_waves

__all__ = [
    "BACKGROUND",
    "Birthdays",
    "Dated",
    "Gain",
    "Merged",
    "Panel",
    "composite",
    "gain",
    "generate",
    "merge_waves",
    "month_of_birth",
    "when_changed",
]
