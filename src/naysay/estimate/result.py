"""The estimate: proportions with their covariance, intervals, assumptions and privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay import _checks, privacy
from naysay.design import Answerable, Levels, Share
from naysay.errors import DataError, NotEstimable, StatisticalWarning
from naysay.estimate.linear import Indicators
from naysay.estimate.solver import Maximum
from naysay.tally import Tally

if TYPE_CHECKING:  # these modules look at estimates
    from naysay.estimate.fitting import GoodnessOfFit
    from naysay.estimate.intervals import Intervals
    from naysay.estimate.levels import Comparison

__all__ = [
    "TARGETS",
    "Cells",
    "Estimate",
    "Value",
    "alike",
    "answered_under",
    "checked_target",
    "is_pooled",
    "is_stratified",
]

Floats = NDArray[np.float64]

TARGETS = ("population", "file")


class Value(NamedTuple):
    """A nuisance parameter with its standard error."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Cells:
    """Estimated cells of several samples, and the shares that are read from them by the delta method.

    Only the shares are estimates: the cells themselves may be told apart in part.

    Parameters
    ----------
    cells : tuple of label
    categories, nuisance : tuple of Share
    proportions : (cells,) float
    covariance : (cells, cells) float
    """

    cells: tuple[Any, ...]
    categories: tuple[Share, ...]
    nuisance: tuple[Share, ...]
    proportions: Floats
    covariance: Floats

    @property
    def shares(self) -> tuple[Share, ...]:
        """The categories, then the nuisance parameters."""
        return (*self.categories, *self.nuisance)

    @cached_property
    def _weights(self) -> tuple[Floats, Floats]:
        above, below = zip(*(share.weights(self.cells) for share in self.shares), strict=True)
        return np.array(above), np.array(below)

    @property
    def values(self) -> Floats:
        """The shares, (shares,)."""
        above, below = self._weights
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(above @ self.proportions / (below @ self.proportions))

    @property
    def gradients(self) -> Floats:
        """Derivatives of the shares with respect to the cells, (shares, cells)."""
        above, below = self._weights
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((above - self.values[:, None] * below) / (below @ self.proportions)[:, None])

    @property
    def covariance_of_shares(self) -> Floats:
        """Covariance of the shares, (shares, shares)."""
        return np.asarray(self.gradients @ self.covariance @ self.gradients.T)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a tally says about the population.

    Parameters
    ----------
    design : Design or Levels
    tally : Tally
    method : str
        The estimator.
    target : {"population", "file"}
        What the proportions are of: a population from which the respondents are a sample, or the fixed file whose
        records were randomized.
    proportions : (t,) float
        In category order; moments may leave [0, 1] and are reported as they are.
    covariance : (t, t) float
        NaN where it is undefined.
    standard_error_kind : str
        What the standard errors rest on.
    warnings : tuple of StatisticalWarning
        Reservations, printed with the numbers.
    indicators : Indicators, optional
        For means of unbiased indicators.
    solution : {"mean", "least_squares"}, optional
        The unbiased map that was asked for by name; intervals and bands read the answers by the same one.
    maximum : Maximum, optional
        For likelihood methods: the certificate.
    path : (iterations + 1, t) float, optional
        Counts per category after each step of an iterative method.
    level_weights : {level: float}, optional
        Weights of the levels where they are not in proportion to the answers.
    cells : Cells, optional
        For several samples: the cells from which the proportions are read.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d"))
    >>> fit = estimate.moments(survey, survey.tally(count=[280, 240, 260, 220]))
    >>> fit.proportions.round(6)
    array([0.16, 0.28, 0.22, 0.34])
    >>> fit.standard_errors.round(6)
    array([0.042617, 0.040537, 0.041633, 0.039319])
    >>> fit.interval(confidence=0.95).round(3)[0]
    array([0.074, 0.241])
    """

    design: Answerable
    tally: Tally
    method: str
    target: str
    proportions: Floats
    covariance: Floats
    standard_error_kind: str
    warnings: tuple[StatisticalWarning, ...] = ()
    indicators: Indicators | None = field(default=None, repr=False)
    solution: str | None = field(default=None, repr=False)
    maximum: Maximum | None = field(default=None, repr=False)
    path: Floats | None = field(default=None, repr=False)
    level_weights: Mapping[Any, float] | None = field(default=None, repr=False)
    cells: Cells | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("proportions", "covariance"):
            object.__setattr__(self, name, _checks.read_only(np.array(getattr(self, name), dtype=float)))

    @property
    def categories(self) -> tuple[Any, ...]:
        """The t categories."""
        return self.design.categories

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return self.tally.n

    @property
    def missing(self) -> int:
        """Respondents who gave no answer; they do not enter the estimate."""
        return self.tally.missing

    @property
    def counts(self) -> Floats:
        """Estimated respondents in each category, (t,): proportions times n."""
        return self.proportions * self.n

    @cached_property
    def standard_errors(self) -> Floats:
        """Square roots of the variances, (t,); NaN where undefined."""
        variances = np.diagonal(self.covariance)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.where(variances > -1e-12, np.maximum(variances, 0), np.nan))
        return _checks.read_only(np.asarray(errors, dtype=float))

    @property
    def cells_of_samples(self) -> Cells:
        """The cells behind an estimate from several samples."""
        if self.cells is None:
            raise DataError(f"{self.method} is no estimate from several samples")
        return self.cells

    @cached_property
    def nuisance(self) -> dict[Any, Value]:
        """Nuisance parameters by name, each with its delta-method standard error."""
        if self.cells is None:
            return {}
        t, errors = len(self.categories), np.sqrt(np.diagonal(self.cells.covariance_of_shares))
        names = [share.name for share in self.cells.shares]
        pairs = zip(names, self.cells.values.tolist(), errors.tolist(), strict=True)
        return {name: Value(value, error) for name, value, error in list(pairs)[t:]}

    @property
    def nuisance_shares(self) -> dict[Any, float]:
        """The nuisance parameters that are determined, moved into [0, 1]."""
        values = {name: each.value for name, each in self.nuisance.items() if math.isfinite(each.value)}
        return {name: min(max(value, 0.0), 1.0) for name, value in values.items()}

    def interval(
        self,
        confidence: float = 0.95,
        *,
        method: str | None = None,
        replicates: int = 1_999,
        rng: np.random.Generator | None = None,
    ) -> Floats:
        """Confidence intervals for each proportion, (t, 2), within [0, 1].

        Parameters
        ----------
        confidence : float
            Of each interval by itself.
        method : {"score", "agresti_coull", "wald", "profile", "bootstrap"}, optional
            By default the one whose coverage was measured to hold in this regime (see the page on coverage).
        replicates : int
            Resamples of the bootstrap.
        rng : numpy Generator, optional
            For the bootstrap; by default one with a fixed seed, so that a printed number can be printed again.

        Raises
        ------
        DataError
            A method that does not exist for this estimate; names those that do.
        """
        found = self.intervals(confidence, method=method, replicates=replicates, rng=rng)
        return np.asarray(found.bounds)

    def intervals(self, confidence: float = 0.95, *, method: str | None = None, **options: Any) -> Intervals:
        """The intervals with the name of their method and the categories that are flagged."""
        from naysay.estimate import intervals  # which looks at estimates

        return intervals.intervals(self, confidence=confidence, method=method, **options)

    @cached_property
    def privacy(self) -> dict[Any, privacy.Statement]:
        """What one answer tells about its person, by level (None where there are no levels).

        Where samples tell finer cells apart than the categories: about the category, at the estimated nuisance shares.
        """
        told = privacy.about_categories(self.design, self.nuisance_shares) or privacy.statement(self.design)
        return told if isinstance(told, dict) else {None: told}

    @cached_property
    def comparison(self) -> Comparison | None:
        """For levels: stratified beside pooled, their difference and the test of independence; otherwise None."""
        from naysay.estimate import levels

        return levels.compare(self) if isinstance(self.design, Levels) else None

    @cached_property
    def sensitivity(self) -> Floats | None:
        """For the two-option scheme the band (t, 2) over all ways of choosing between two false categories.

        None for other designs, and where it would take long: ask `preference_band` then.
        """
        from naysay.estimate import sensitivity

        return sensitivity.preference_band(self.design, self.tally) if sensitivity.quick(self.design) else None

    @cached_property
    def goodness_of_fit(self) -> GoodnessOfFit | None:
        """Pearson's test and the deviance, where the design expects more of the answers than it estimates."""
        from naysay.estimate import fitting

        return fitting.goodness_of_fit(self.design, self.tally)

    @cached_property
    def unbounded(self) -> Estimate | None:
        """The unbiased estimate, to stand beside a likelihood estimate at the boundary; None elsewhere."""
        from naysay.estimate.moments import moments

        values = self.proportions if self.cells is None else self.cells.values
        at_edge = bool(((values <= 1e-9) | (values >= 1 - 1e-9)).any())
        if self.maximum is None or not at_edge or isinstance(self.design, Levels):
            return None
        try:
            return moments(self.design, self.tally, target=self.target)
        except (NotEstimable, DataError):  # answers to one of two questions have no moments
            return None

    @cached_property
    def by_sample(self) -> dict[Any, Estimate] | None:
        """The unbiased estimate of each of several samples alone, where every one of them has one."""
        from naysay.estimate import samples

        return samples.each_sample(self)

    def noncompliance(self, share: float = 0.1, noncompliers: str = "anyone") -> Floats | None:
        """The band (t, 2) of `noncompliance_band`; None where people answer without chance."""
        from naysay.estimate import assumptions

        known = assumptions.behaviors(self.design)
        return assumptions.noncompliance_band(self, share=share, noncompliers=noncompliers) if known else None

    @cached_property
    def probability_band(self) -> Floats | None:
        """The band (t, 2) over the range of a design probability that is not certain; None where none is stated."""
        from naysay.estimate import assumptions

        return assumptions.probability_band(self)

    def to_dict(self, confidence: float = 0.95, *, interval_method: str | None = None) -> dict[str, Any]:
        """The estimate as one JSON object with stable names; undefined numbers are None."""
        from naysay.estimate import printing

        return printing.to_dict(self, confidence, interval_method)

    def __str__(self) -> str:
        from naysay.estimate import printing

        return printing.to_text(self)

    def _repr_html_(self) -> str:
        from naysay.estimate import printing

        return printing.to_html(self)

    def __repr__(self) -> str:
        shares = ", ".join(f"{value:.3f}" for value in self.proportions[:8])
        return f"<{self.method}: {shares}{', …' if len(self.proportions) > 8 else ''} (n = {self.n})>"


def is_stratified(fit: Estimate) -> bool:
    """Whether an estimate combines the levels' own estimates, by whatever weights."""
    return isinstance(fit.design, Levels) and fit.maximum is None


def is_pooled(fit: Estimate) -> bool:
    """Whether an estimate maximizes one likelihood over all levels."""
    return isinstance(fit.design, Levels) and fit.maximum is not None


def checked_target(target: str) -> str:
    """The target, if it is one."""
    if target not in TARGETS:
        raise DataError(f"target must be 'population' or 'file'; got {target!r}")
    return target


def answered_under(design: Answerable, tally: Tally) -> None:
    """Raise unless every answer of the tally was given under the design, or under one that it offers."""
    if not isinstance(tally, Tally):
        raise DataError(f"a tally is needed, as design.tally(answers); got {type(tally).__name__}")
    if not isinstance(design, Answerable):
        raise DataError(f"a design is needed first; got {type(design).__name__}")
    offered = [design.channel(level) for level in design.levels]
    for part in tally.parts:
        if part.design not in offered:
            raise DataError(
                f"the answers were given under {getattr(part.design, 'name', part.design)!s}, "
                f"not under {design.name or design.kind}; estimate with the design that was used"
            )


def alike(tally: Tally) -> list[StatisticalWarning]:
    """What to say where everybody gave one and the same answer, although there were others to give."""
    same = all(len(part.codes) == 1 and part.design.space.size > 1 for part in tally.parts if part.n)
    return [warning("all answers are alike: the standard errors say nothing, see intervals")] if same else []


def warning(text: str) -> StatisticalWarning:
    """A reservation to travel with an estimate."""
    return StatisticalWarning(text)


def number(value: float) -> float | None:
    """A JSON number; None where it is undefined."""
    return None if math.isnan(value) or math.isinf(value) else float(value)
