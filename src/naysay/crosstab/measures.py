"""What a table tells in one number: odds ratio, correlation, Cramér's V, a share of a row; each with its gradient.

All take tables that need not sum to one, and none changes where a table is multiplied by a number. So they serve the
layers of a table of three variables too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from naysay.estimate.linear import Floats

__all__ = ["MEASURES", "Measured", "correlation", "cramers_v", "odds_ratio", "row_share", "yules_q"]

Measured = Callable[[Floats], tuple[float, Floats]]
"""The value at a table (rows, columns), and its derivatives by the cells, (rows, columns)."""

_TRACE = 1e-9  # of a share: keeps measures finite where cells are empty


def yules_q(table: Floats) -> tuple[float, Floats]:
    """Yule's Q = (ad - bc)/(ad + bc) of a table of two by two: the odds ratio on a scale from -1 to 1.

    The odds ratio is (1 + Q)/(1 - Q). Q stays finite where a cell is empty, so that intervals are sought in it.

    Examples
    --------
    >>> round(yules_q(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.7143
    """
    (a, b), (c, d) = np.maximum(table / table.sum(), 0.0) + _TRACE
    with_, against = a * d, b * c
    slope = 2 * with_ * against / (with_ + against) ** 2
    gradient = slope * np.array([[1 / a, -1 / b], [-1 / c, 1 / d]]) / table.sum()
    return float((with_ - against) / (with_ + against)), gradient


def odds_ratio(q: float) -> float:
    """The odds ratio that belongs to a value of Yule's Q; ∞ where an empty cell makes it so.

    Examples
    --------
    >>> odds_ratio(0.5), odds_ratio(1.0)
    (3.0, inf)
    """
    return float("inf") if q > 1 - 1e-7 else 0.0 if q < -1 + 1e-7 else (1 + q) / (1 - q)


def correlation(rows: Floats, columns: Floats) -> Measured:
    """Pearson's correlation of scores of the rows and of the columns; for two by two categories φ.

    Examples
    --------
    >>> phi = correlation(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    >>> round(phi(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.4082
    """

    def measured(table: Floats) -> tuple[float, Floats]:
        total = table.sum()
        shares = table / total
        x, y = (_standardized(s, shares.sum(axis=a)) for s, a in ((rows, 1), (columns, 0)))
        value = float(x @ shares @ y)
        gradient = np.outer(x, y) - value / 2 * (x[:, None] ** 2 + y**2)
        return value, np.asarray(gradient / total)

    return measured


def _standardized(scores: Floats, shares: Floats) -> Floats:
    centered = scores - scores @ shares
    variance, least = float(shares @ centered**2), _TRACE * float(np.ptp(scores)) ** 2
    # Moments may estimate a variance below zero; nothing is a correlation then.
    return np.asarray(centered / np.sqrt(max(variance, least) if variance > -least else np.nan))


def cramers_v(table: Floats) -> tuple[float, Floats]:
    """Cramér's V = sqrt(φ²/min(rows - 1, columns - 1)), φ² = Σ π_ij²/(π_i. π_.j) - 1.

    Examples
    --------
    >>> round(cramers_v(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.4082
    """
    total = table.sum()
    shares = table / total
    row, column = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
    row, column = np.maximum(row, _TRACE), np.maximum(column, _TRACE)
    parts = shares / (row * column)
    squared = float((shares * parts).sum() - 1)
    gradient = 2 * parts - (parts * shares).sum(axis=1, keepdims=True) / row
    gradient -= (parts * shares).sum(axis=0, keepdims=True) / column
    most = min(table.shape) - 1
    value = np.sqrt(max(squared, 0.0) / most)
    # homogeneous of degree 0: less the mean, so that moving the whole table changes nothing
    gradient -= (gradient * shares).sum()
    return float(value), np.asarray(gradient / (2 * most * max(value, 1e-6)) / total)


def row_share(row: int, column: int) -> Measured:
    """The share of a row that lies in a column, π_ij/π_i."""

    def measured(table: Floats) -> tuple[float, Floats]:
        whole = max(float(table[row].sum()), _TRACE)
        value = float(table[row, column]) / whole
        gradient = np.zeros_like(table)
        gradient[row] = -value / whole
        gradient[row, column] += 1 / whole
        return value, gradient

    return measured


MEASURES = {
    "odds ratio": "how many times the odds of the first row are those of the second",
    "correlation": "Pearson's, of the scores of the categories",
    "Cramér's V": "0 for independence, 1 where one variable tells the other",
}
"""What the measures of association are called, and what they are."""
