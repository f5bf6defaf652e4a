"""The colors of charts and pages."""

__all__ = ["FILLS", "INKS", "ink"]

INKS = {
    "text": ("#1c2024", "#e8eaed"),
    "muted": ("#5c646c", "#a3abb3"),
    "grid": ("#dfe3e6", "#33393f"),
    "estimate": ("#0072b2", "#56b4e9"),
    "pooled": ("#d55e00", "#e69f00"),
    "truth": ("#1c2025", "#e8eaee"),
}
"""Ink by role, on light and on dark. Okabe & Ito's colors, told apart by every kind of color vision.

A chart names the light one and the style variable ``--chart-role``, which a page may set.
"""

FILLS = {
    "alone": ("#a50f15", "#ff7a6b"),
    "few": ("#e6550e", "#c2592b"),
    "some": ("#fdae6b", "#7d4a2c"),
    "many": ("#c5d6e3", "#3b5365"),
    "deleted": ("#e9e9e6", "#2a2d2f"),
}
"""Colors of areas by role, on light and on dark: from dark to pale as fewer people are concerned, also in gray.

Areas are large, and lie side by side; they need not stand off the paper as letters must.
"""


def ink(role: str) -> str:
    """The color of a role: what the page sets for it, or else the light one.

    Examples
    --------
    >>> ink("estimate")
    'var(--chart-estimate,#0072b2)'
    """
    return f"var(--chart-{role},{(INKS | FILLS)[role][0]})"
