"""A panel with known truth, to try on it what `naysay.microdata.panel` finds out."""

from reproductions.panel.generate import BACKGROUND, Panel, generate

__all__ = ["BACKGROUND", "Panel", "generate"]
