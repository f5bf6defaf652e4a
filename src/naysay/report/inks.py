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
"""Colors by role, on light and on dark. They are Okabe & Ito's, which people with any color vision tell apart.

A chart uses the style variable ``--chart-role``, which a page may set; the light color is its default.
"""

FILLS = {
    "alone": ("#a50f15", "#ff7a6b"),
    "few": ("#e6550e", "#c2592b"),
    "some": ("#fdae6b", "#7d4a2c"),
    "many": ("#c5d6e3", "#3b5365"),
    "deleted": ("#e9e9e6", "#2a2d2f"),
}
"""Colors of areas by role, on light and on dark: the fewer people, the paler the area, in gray print too.

Areas are large and lie side by side, so they need less contrast with the paper than letters.
"""


def ink(role: str) -> str:
    """The color of a role: the one that the page sets, otherwise the light one.

    Examples
    --------
    >>> ink("estimate")
    'var(--chart-estimate,#0072b2)'
    """
    return f"var(--chart-{role},{(INKS | FILLS)[role][0]})"
