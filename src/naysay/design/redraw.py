"""Noise on a report: the second step of a design that remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from naysay.design.exact import LIMIT, integer
from naysay.errors import DesignError


@dataclass(frozen=True)
class Redraw:
    """Noise on a report: it stays with chance keep/whole, and is otherwise drawn from all that it may be.

    Parameters
    ----------
    keep, whole : int
        0 < keep < whole ≤ 2⁵³.

    Raises
    ------
    DesignError
        Other numbers.

    Examples
    --------
    >>> from naysay import designs, privacy
    >>> first = designs.affine(1024, epsilon=2, base=3)
    >>> wave = first.then(Redraw(1, 2))
    >>> wave.kind, round(privacy.epsilon(wave), 3), round(privacy.epsilon(first), 3)
    ('remembered', 0.935, 2.0)
    """

    keep: int
    whole: int
    follows: ClassVar[str] = "remembered"
    """The kind of design that it makes of what it follows."""

    def __post_init__(self) -> None:
        if not 0 < integer(self.keep) < integer(self.whole) <= LIMIT:
            raise DesignError(f"0 < keep < whole <= 2**53 must hold; got keep={self.keep}, whole={self.whole}")

    def form(self) -> dict[str, int]:
        """The two numbers, as JSON."""
        return {"keep": self.keep, "whole": self.whole}
