"""The privacy of a shuffled report, as it is told: first what holds without the shuffler."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Any

from naysay.printing import Column, Note, Sentence, Table, plain, text
from naysay.printing.content import Content
from naysay.printing.html import notebook

__all__ = ["Shuffled"]

_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)
_LARGE = "δ is 1/n or more: even a collector who publishes one person's truth in full would keep such a promise"


@dataclass(frozen=True, repr=False)
class Shuffled:
    """(ε, δ) of one person's report among many without sender and order.

    Parameters
    ----------
    local : float
        ε₀ of a report by itself, whoever sees it.
    n : int
        Reports that arrive.
    honest : int
        How many of them come from people who do not collude, this person included.
    delta : float
    blanket, clones, closed_form : float or None
        The bounds: by the privacy blanket of this design; for any design with this ε₀; and the formula for the latter.
        None where a bound does not apply, or is not below ε₀.
    """

    local: float
    n: int
    honest: int
    delta: float
    blanket: float | None
    clones: float | None
    closed_form: float | None

    @property
    def epsilon(self) -> float:
        """ε of the shuffled report: the least of the bounds; ε₀ where none is less."""
        found = [each for each in (self.blanket, self.clones, self.closed_form) if each is not None]
        return min([self.local, *found])

    @property
    def amplified(self) -> bool:
        """Whether shuffling is proven to add anything."""
        return self.epsilon < self.local

    def sections(self) -> list[Content]:
        """The promise in the vocabulary of `naysay.printing`."""
        known = "" if self.honest == self.n else f", {self.honest:,} of them from people who do not collude"
        if not self.amplified:
            return [
                Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
                Note(f"shuffling {self.n:,} reports{known} is not proven to add anything at δ = {self.delta:.3g}"),
            ]
        rows = (
            ("this design, used by everybody", "privacy blanket", _told(self.blanket)),
            ("any design with this ε", "clones", _told(self.clones)),
            ("any design with this ε", "clones, closed form", _told(self.closed_form)),
        )
        columns = (Column("holds for", words=True), Column("bound", words=True), Column("ε"))
        return [
            Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
            Sentence(
                f"(ε, δ) = ({_told(self.epsilon)}, {self.delta:.3g}) if the shuffler is honest and {self.n:,} reports "
                f"arrive{known}"
            ),
            Table(columns, rows, caption=f"Upper bounds of ε at δ = {self.delta:.3g}, rounded up"),
            *([Note(_LARGE)] if self.delta * self.n >= 1 else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The promise as one JSON object."""
        names = ("local", "epsilon", "delta", "n", "honest", "blanket", "clones", "closed_form")
        told: dict[str, Any] = plain({name: getattr(self, name) for name in names})
        return told

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<Shuffled: ε = {self.local:.4g} alone, ({_told(self.epsilon)}, {self.delta:.3g}) among {self.n:,}>"


def _told(value: float | None) -> str:
    """A bound in four digits, rounded up."""
    if value is None:
        return "–"
    return f"{float(_FOUR_DIGITS.create_decimal_from_float(value)):.4g}"
