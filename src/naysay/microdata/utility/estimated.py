"""One number from an original and from its release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_Z = 1.959963984540054


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Overlap of two intervals as a mean share of both; negative where they do not touch.

    ½ [(min U - max L)/(U₁ - L₁) + (min U - max L)/(U₂ - L₂)].

    Parameters
    ----------
    first, second : (float, float)
        Lower and upper bounds.

    Examples
    --------
    >>> overlap((0, 2), (1, 3)), overlap((0, 1), (2, 3))
    (0.5, -1.0)

    Source: Karr et al. (2006).
    """
    inner = min(first[1], second[1]) - max(first[0], second[0])
    widths = first[1] - first[0], second[1] - second[0]
    if not all(widths):  # an interval without width, of a share of 0 or 1
        return 1.0 if first == second else float(inner > 0) if any(widths) else 0.0
    return float(np.mean([inner / width for width in widths]))


@dataclass(frozen=True)
class Estimated:
    """One number from both files.

    Parameters
    ----------
    name : str
    before, before_error, after, after_error : float
        Estimates and their standard errors.
    group : str
        What it belongs to, such as a formula.
    tested : bool
        Whether its sign and its distance from zero mean something, as those of a coefficient do.
    """

    name: str
    before: float
    before_error: float
    after: float
    after_error: float
    group: str = ""
    tested: bool = False

    @property
    def difference(self) -> float:
        """(after - before) in standard errors of the original."""
        moved = self.after - self.before
        return moved / self.before_error if self.before_error else float("nan") if moved else 0.0

    @property
    def overlap(self) -> float:
        """Overlap of the 95 % intervals."""
        ends = [
            (value - _Z * error, value + _Z * error)
            for value, error in ((self.before, self.before_error), (self.after, self.after_error))
        ]
        return overlap(ends[0], ends[1])

    @property
    def verdict(self) -> str:
        """Whether a reader would conclude something else: another sign, or another test at 5 %; empty if not."""
        if not self.tested:
            return ""
        is_significant = abs(self.before) > _Z * self.before_error, abs(self.after) > _Z * self.after_error
        if any(is_significant) and np.sign(self.before) != np.sign(self.after):
            return "another sign"
        return (
            ""
            if is_significant[0] == is_significant[1]
            else "no longer significant"
            if is_significant[0]
            else "significant only now"
        )

    def fields(self) -> dict[str, Any]:
        derived = {"difference": self.difference, "overlap": self.overlap, "verdict": self.verdict}
        return {**vars(self), **derived}
