"""The mean of a number, from reports that each are an unbiased number of their respondent.

What estimates other than proportions share: a few named numbers with intervals, told and written alike.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy

from naysay import _checks, privacy
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.findings import decimals, shown
from naysay.estimate.information import alike, answered_under, checked_target, suspicions
from naysay.estimate.linear import Floats
from naysay.estimate.moments import moments
from naysay.estimate.result import Options
from naysay.printing import Column, Content, Note, Points, Sentence, Table, plain, text
from naysay.printing.html import notebook
from naysay.tally import Tally

__all__ = ["QUANTITIES", "Mean", "Measured", "Quantity", "Row", "default_quantity", "mean"]


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


@dataclass(frozen=True, eq=False)
class Mean(Measured):
    """A mean with its standard error.

    Parameters
    ----------
    design : Design or Levels
    tally : Tally
    target : {"population", "file"}
    value, standard_error : float
        Unbiased; it may lie outside the bounds. The standard error is NaN for a single answer.
    degrees_of_freedom : float
        Of the quantile of t for intervals.
    bounds : (float, float)
        The least and the largest number.
    """

    value: float
    standard_error: float
    degrees_of_freedom: float
    bounds: tuple[float, float]

    quantity: ClassVar[str] = "mean"
    method: ClassVar[str] = "mean of unbiased numbers"

    @property
    def errors(self) -> str:
        rests = "the randomization only" if self.target == "file" else "their spread"
        return f"Wald with t, from {rests}"

    def interval(self, confidence: float = 0.95) -> Floats:
        """The confidence interval (2,), cut to the bounds.

        Parameters
        ----------
        confidence : float
        """
        z = scipy.stats.t.ppf(0.5 + _checks.confidence(confidence) / 2, self.degrees_of_freedom)
        ends = self.value + np.array([-z, z]) * self.standard_error
        return np.asarray(np.clip(ends, *self.bounds))

    def rows(self, confidence: float = 0.95) -> list[Row]:
        return [Row("mean", self.value, self.standard_error, *self.interval(confidence))]

    def remarks(self) -> list[str]:
        low, high = self.bounds
        if low <= self.value <= high:
            return []
        return [f"outside [{low:g}, {high:g}], as an unbiased estimate may be; the interval is cut to it"]


def mean(design: Answerable, tally: Tally, *, target: str = "population") -> Mean:
    """The unbiased mean of a number, with its variance for n reports.

    Each report o becomes a number u(o) with E[u | x] = x, for windows that of its place; the estimate is their
    weighted mean. For a population its variance is n/(n-1) Σw²(u - ū)²/(Σw)², or that of the complex sample. For a
    file, where only the randomization is random, it is Σw² Var(u | x)/(Σw)²; the square of x is known up to the
    variance of rounding it to the grid, which counts as randomization at its largest, so that this variance is never
    too small.

    Parameters
    ----------
    design : Design or Levels
        One of `designs.number` or `designs.window`; or any design whose categories are numbers.
    tally : Tally
        Of counts or weights.
    target : {"population", "file"}

    Returns
    -------
    Mean

    Raises
    ------
    DataError
        If the categories are no numbers, or the tally was collected under another design.
    NotEstimable
        If the design cannot tell some categories apart.

    References
    ----------
    Duchi, Jordan & Wainwright (2018); N. Wang et al. (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, truth = designs.number(low=0, high=100, epsilon=2), np.repeat([20, 50, 80], [400, 300, 300])
    >>> fit = mean(survey, survey.tally(survey.randomize(truth, rng=np.random.default_rng(1))))
    >>> round(fit.value, 2), round(fit.standard_error, 2), fit.interval().round(1)
    (47.51, 1.62, array([44.3, 50.7]))
    """
    answered_under(design, tally)
    checked_target(target)
    bounds = _bounds(design)
    parts = [part for part in tally.parts if part.n]
    if any(part.design.numbers(part.codes[:1]) is None for part in parts):
        value, variance = _of_categories(design, tally, target)
    else:
        value, variance = _of_numbers(tally, parts, target)
    freedom = tally.n - 1.0 if tally.complex is None else tally.complex.degrees_of_freedom
    return Mean(design, tally, target, value, math.sqrt(variance), max(freedom, 1.0), bounds)


def _bounds(design: Answerable) -> tuple[float, float]:
    """The least and the largest category, if all are numbers."""
    odd = next(
        (each for each in design.categories if isinstance(each, bool) or not isinstance(each, int | float)), None
    )
    if odd is not None:
        raise DataError(f"a mean needs categories that are numbers; {odd!r} is none", value=odd)
    return float(min(design.categories)), float(max(design.categories))


def _of_categories(design: Answerable, tally: Tally, target: str) -> tuple[float, float]:
    """The mean of the categories under their unbiased proportions, and its variance."""
    fit, labels = moments(design, tally, target=target), np.array(design.categories, dtype=float)
    return float(labels @ fit.proportions), max(float(labels @ fit.covariance @ labels), 0.0)


def _of_numbers(tally: Tally, parts: list[Any], target: str) -> tuple[float, float]:
    """The mean of the reports' numbers, and its variance."""
    number, square = (np.concatenate([part.design.numbers(part.codes, power) for part in parts]) for power in (1, 2))
    weight, squared = (np.concatenate([getattr(part, name) for part in parts]) for name in ("weight", "weight_squared"))
    total = float(weight.sum())
    value = float(weight @ number / total)
    rounding = max(part.design.step for part in parts) ** 2 / 4

    def randomized(heavy: Floats) -> float:
        """Σ w² Var(u | x): the mean of u² less that of x², for which Jensen gives a lower bound, too."""
        known = max(float(heavy @ square) - rounding * heavy.sum(), value**2 * heavy.sum())
        return float(max(heavy @ number**2 - known, 0.0)) / total**2

    if target == "file":
        return value, randomized(squared)
    if tally.n < 2:
        return value, math.nan
    sampled = tally.sampled.take(np.concatenate([np.full(len(part.codes), part.n > 0) for part in tally.parts]))
    spread = float(sampled.covariance((number - value).reshape(-1, 1) / total)[0, 0])
    kept = sampled.kept
    return value, spread + (randomized(kept) if kept.any() else 0.0)


QUANTITIES["mean"] = Quantity("mean", mean, "the mean of a number, unbiased", ("mean",))
