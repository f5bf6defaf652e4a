"""The tally: a tuple of parts, to be added, saved and loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.tally import stored
from naysay.tally.parts import Part, unique_codes

__all__ = ["Tally"]


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct answers and their weights, per design and level.

    Made by `Design.tally`; two tallies add with ``+``.

    Parameters
    ----------
    parts : tuple of Part
        One part for each design or level.
    weighted : bool
        Whether survey weights were given (then estimates are weighted and their covariance linearized).
    question : str, optional
        Name of the question, for tables.

    Examples
    --------
    >>> from naysay import designs
    >>> income = designs.negative(("low", "middle", "high"))
    >>> tally = income.tally(["low", "high", "high", None])
    >>> tally.n, tally.missing, tally.counts.tolist()
    (3, 1, [1, 0, 2])
    >>> (tally + tally).n
    6
    """

    parts: tuple[Part, ...]
    weighted: bool = False
    question: str | None = field(default=None)

    def __post_init__(self) -> None:
        if not self.parts:
            raise DataError("a tally needs at least one part")
        first = self.parts[0].design.categories
        for part in self.parts[1:]:
            if part.design.categories != first:
                raise DataError(
                    "all answers of one tally must be about the same categories; got "
                    f"{_checks.shown(first)} and {_checks.shown(part.design.categories)}"
                )

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that the answers are about."""
        return self.parts[0].design.categories

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return sum(part.n for part in self.parts)

    @property
    def missing(self) -> int:
        """Respondents who gave no answer."""
        return sum(part.missing for part in self.parts)

    @property
    def weight(self) -> float:
        """Sum of the weights of those who answered."""
        return float(sum(part.weight.sum() for part in self.parts))

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise: (Σw)²/Σw² (Kish 1965)."""
        return self.weight**2 / float(sum(part.weight_squared.sum() for part in self.parts))

    @cached_property
    def by_level(self) -> dict[Any, Part]:
        """The parts by their level."""
        return {part.level: part for part in self.parts}

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many people gave each response, (responses,), in the order of the design's matrix rows."""
        part = self._only_part("counts")
        listing = part.design.space.listing()
        distinct, inverse = unique_codes(np.vstack([listing, part.codes]))
        totals = np.zeros(len(distinct), dtype=np.int64)
        totals[inverse[len(listing) :]] = part.count
        return totals[inverse[: len(listing)]]

    def _only_part(self, what: str) -> Part:
        if len(self.parts) > 1:
            raise DataError(f"{what} belong to one design; this tally has {len(self.parts)} parts, see `.parts`")
        return self.parts[0]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        parts = list(self.parts)
        for part in other.parts:
            place = next((i for i, mine in enumerate(parts) if mine.same_kind(part)), None)
            if place is None:
                parts.append(part)
            else:
                parts[place] = parts[place].plus(part)
        question = self.question if self.question == other.question else self.question or other.question
        return Tally(tuple(parts), weighted=self.weighted or other.weighted, question=question)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __repr__(self) -> str:
        about = f" to {self.question!r}" if self.question else ""
        missing = f", {self.missing} missing" if self.missing else ""
        return f"<Tally: {self.n} answers{about}{missing}, {sum(len(part.codes) for part in self.parts)} distinct>"

    def save(self, path: str | Path) -> None:
        """Write the tally and its designs to one ``.npz`` file, without any respondent's row."""
        stored.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """The tally that `save` wrote."""
        parts, head = stored.load(Path(path))
        return cls(parts, weighted=head["weighted"], question=head["question"])
