"""Shares moved to the nearest possible ones: a display beside an unbiased estimate, never a basis for intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay import _checks
from naysay.errors import DataError
from naysay.estimate.linear import Floats
from naysay.show import Column, Content, Note, Table, text
from naysay.show.html import notebook


def projected(shares: ArrayLike) -> Floats:
    """The nearest numbers that are at least zero and sum to one, by Euclidean distance: (x - c)₊ with Σ = 1.

    Single shares come nearer to the truth on average, and every sum of them is biased: use them to show, not to
    estimate.

    Parameters
    ----------
    shares : (t,) float
        Unbiased shares, which may be negative.

    Returns
    -------
    (t,) float

    Raises
    ------
    DataError
        Shares that are not finite numbers.

    References
    ----------
    T. Wang et al. (2020), there "norm-sub".

    Examples
    --------
    >>> projected([0.75, 0.5, -0.25])
    array([0.625, 0.375, 0.   ])
    """
    share_array = np.asarray(shares, dtype=float)
    if share_array.ndim != 1 or not share_array.size or not np.isfinite(share_array).all():
        raise DataError(
            f"shares must be one row of finite numbers; got {_checks.listing_text(share_array.ravel().tolist())}"
        )
    largest = np.sort(share_array)[::-1]
    excess = (np.cumsum(largest) - 1) / np.arange(1, len(largest) + 1)
    return np.asarray(np.maximum(share_array - excess[largest > excess][-1], 0))


@dataclass(frozen=True, eq=False)
class Projected:
    """The projected shares of an estimate, labeled as a display wherever they are printed.

    Parameters
    ----------
    fit : Estimate
        The unbiased estimate, which alone has intervals.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.k_ary(("a", "b", "c"), epsilon=1)
    >>> print(estimate.moments(survey, survey.tally(count=[60, 25, 15])).projected())
    category  estimate     low    high  display
    a           1.0656  0.7310  1.0000   0.9805
    b           0.1045  0.0000  0.3613   0.0195
    c          -0.1701  0.0000  0.2490   0.0000
    <BLANKLINE>
    note: display: moved to the nearest possible shares; its sums are biased, it is not a basis for intervals
    """

    fit: Any

    @property
    def shares(self) -> Floats:
        """The nearest possible shares, (t,)."""
        return projected(self.fit.proportions)

    def sections(self, confidence: float = 0.95) -> list[Content]:
        """The raw estimate with its intervals, and the projected shares in a column of their own."""
        numbers = np.column_stack([self.fit.proportions, self.fit.interval(confidence), self.shares])
        rows = zip(map(_checks.label, self.fit.categories), numbers.tolist(), strict=True)
        columns = (Column("category", words=True, width=40), *map(Column, ("estimate", "low", "high", "display")))
        note_text = (
            "display: moved to the nearest possible shares; its sums are biased, it is not a basis for intervals"
        )
        return [
            Table(columns, tuple((name, *(f"{number:.4f}" for number in row)) for name, row in rows)),
            Note(note_text),
        ]

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())
