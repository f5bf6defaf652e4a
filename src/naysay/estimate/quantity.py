"""What estimates other than proportions share: a few named numbers with intervals, told and written alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from naysay import _checks, privacy
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.findings import decimals, shown
from naysay.estimate.information import alike, suspicions
from naysay.estimate.result import Options
from naysay.printing import Column, Content, Note, Points, Sentence, Table, plain, text
from naysay.printing.html import notebook
from naysay.tally import Tally

__all__ = ["QUANTITIES", "Measured", "Quantity", "Row", "default_quantity"]


class Row(NamedTuple):
    """A named number, or a category, with its standard error (NaN where there is none) and interval."""

    name: str
    estimate: Any
    standard_error: float
    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class Measured(ABC):
    """An estimate that is not one of proportions, such as a mean or quantiles.

    Parameters
    ----------
    design : Design, Levels or Hierarchy
    tally : Tally
    target : {"population", "file"}
    """

    design: Answerable
    tally: Tally
    target: str

    quantity: ClassVar[str]
    """Its name in `QUANTITIES`."""
    method: ClassVar[str]
    """How it is estimated, in words."""

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return self.tally.n

    @property
    def missing(self) -> int:
        """Respondents who gave no answer."""
        return self.tally.missing

    @property
    @abstractmethod
    def errors(self) -> str:
        """What standard errors and intervals rest on, in words."""

    @abstractmethod
    def rows(self, confidence: float = 0.95) -> list[Row]:
        """The numbers that are printed."""

    def remarks(self) -> list[str]:
        """What a reader must know beside the numbers."""
        return []

    def beside(self, confidence: float) -> list[Content]:
        """Further content below the table."""
        return []

    def _reservations(self) -> list[str]:
        alone = ["a single answer has no standard error"] if self.n == 1 else alike(self.tally)
        return [*self.remarks(), *alone, *suspicions(self.tally)]

    def sections(self, options: Options | None = None) -> list[Content]:
        """The estimate in the vocabulary of `naysay.printing`."""
        confidence = (options or Options()).confidence
        rows = self.rows(_checks.confidence(confidence))
        places = decimals([row.standard_error for row in rows]) or 3
        cells = tuple((row.name, *(_told(each, places) for each in row[1:])) for row in rows)
        missing = f"{self.missing:,} missing" if self.missing else "none missing"
        weighted = f", weighted (sum of weights {self.tally.weight:,.6g})" if self.tally.weighted else ""
        return [
            Sentence(f"{self.tally.question or 'Estimate'}: {self.design.name or self.design.kind}"),
            Sentence(f"{self.n:,} answers, {missing}{weighted}; target: the {self.target}"),
            Sentence(f"{self.method}; {confidence:.4g} intervals: {self.errors}"),
            Table((Column("", words=True), *map(Column, ("estimate", "s.e.", "low", "high"))), cells),
            *self.beside(confidence),
            Points(tuple(dict.fromkeys(privacy.lines(self.design)))),
            *map(Note, self._reservations()),
        ]

    def to_dict(self, options: Options | None = None) -> dict[str, Any]:
        """The estimate as one JSON object; undefined numbers are None."""
        confidence = (options or Options()).confidence
        names = ("n", "missing", "target", "method")
        told: dict[str, Any] = plain(
            {
                "question": self.tally.question,
                "design": self.design.name or self.design.kind,
                "quantity": self.quantity,
                **{name: getattr(self, name) for name in names},
                "estimates": [row._asdict() for row in self.rows(_checks.confidence(confidence))],
                "confidence": confidence,
                "interval_method": self.errors,
                "warnings": self._reservations(),
            }
        )
        return told

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        first = self.rows()[0]
        return f"<{self.quantity}: {first.name} {first.estimate} (n = {self.n})>"


def _told(value: Any, places: int) -> str:
    return shown(value, places) if isinstance(value, float) else _checks.label(value)


@dataclass(frozen=True)
class Quantity:
    """A way to estimate something other than proportions. To add one, add one entry to `QUANTITIES`.

    Parameters
    ----------
    name : str
    function : callable
        ``function(design, tally, target=…)``, which makes a `Measured`.
    help : str
        What it is, in one line.
    of : tuple of str
        The designs that it is for: what they say they `estimates`.
    """

    name: str
    function: Callable[..., Measured]
    help: str
    of: tuple[str, ...]

    def fit(self, design: Answerable, tally: Tally, target: str = "population", **others: Any) -> Measured:
        """The estimate of a tally.

        Raises
        ------
        DataError
            If it is not for this design, or other arguments are given that it does not have.
        """
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise DataError(f"{self.name} has one kind of {given[0]}; leave it out")
        return self.function(design, tally, target=target)


QUANTITIES: dict[str, Quantity] = {}
"""All quantities by name. The first one that is for a design is its default."""


def default_quantity(design: Answerable) -> Quantity | None:
    """The quantity that a design's answers are for; None where they are for proportions.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> default_quantity(designs.number(low=0, high=1, epsilon=1)).name, default_quantity(designs.two_coins())
    ('mean', None)
    """
    return next((each for each in QUANTITIES.values() if design.estimates in each.of), None)
