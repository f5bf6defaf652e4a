"""The estimate as data: proportions with their covariance, what they rest on, and which estimator made them.

The parts on which an estimate builds: options of printing, intervals, findings, and the estimator's protocol.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from naysay import _checks, privacy
from naysay.design import Answerable, Share
from naysay.errors import DataError, StatisticalWarning
from naysay.estimate.fitting import GoodnessOfFit
from naysay.estimate.independence import IndependenceTest
from naysay.estimate.information import Maximum, alike
from naysay.estimate.linear import Floats, Indicators
from naysay.estimate.named import Named
from naysay.estimate.projection import Projected
from naysay.show import Points, plain, text
from naysay.show.content import Content
from naysay.show.html import notebook
from naysay.tally import Tally

_ROUNDING = 1e-12  # of sums of shares: below it nothing but rounding is left


class Value(NamedTuple):
    """A nuisance parameter with its standard error."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Cells:
    """Estimated cells of several samples, and the shares that are computed from them by the delta method.

    Only the shares are estimates: the answers may not tell all cells apart.

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
    def _denominators(self) -> Floats:
        """What each share is a share of, (shares,); NaN where that is zero but for rounding."""
        denominators = self._weights[1] @ self.proportions
        return np.where(np.abs(denominators) > _ROUNDING, denominators, np.nan)

    @property
    def values(self) -> Floats:
        """The shares, (shares,)."""
        return _without_rounding(self._weights[0] @ self.proportions / self._denominators)

    @property
    def gradients(self) -> Floats:
        """Derivatives of the shares with respect to the cells, (shares, cells)."""
        above, below = self._weights
        return np.asarray((above - self.values[:, None] * below) / self._denominators[:, None])

    @property
    def covariance_of_shares(self) -> Floats:
        """Covariance of the shares, (shares, shares)."""
        return np.asarray(self.gradients @ self.covariance @ self.gradients.T)

    @property
    def estimates(self) -> tuple[Floats, Floats]:
        """The shares of the categories, (t,), and their covariance, (t, t)."""
        t = len(self.categories)
        return self.values[:t], self.covariance_of_shares[:t, :t]


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a tally says about the population.

    Parameters
    ----------
    design : Design or Levels
    tally : Tally
    method : str
        The method in words.
    target : {"population", "file"}
        What the proportions describe: a population from which the respondents are a sample, or the fixed file whose
        records were randomized.
    proportions : (t,) float
        In category order. Moments may leave [0, 1]; they are reported as they are.
    covariance : (t, t) float
        NaN where it is undefined.
    standard_error_kind : str
        What the standard errors rest on.
    made_by : str
        The name of the estimator; `estimator` is the object of this name.
    warnings : tuple of StatisticalWarning
        Reservations, printed with the numbers.
    indicators : Indicators, optional
        For means of unbiased indicators: these indicators; None where a closed form needs none (`named`).
    solution : {"mean", "least_squares"}, optional
        The unbiased map that you asked for by name; intervals and bands use the same map.
    maximum : Maximum, optional
        For likelihood methods: the certificate.
    path : (iterations + 1, t) float, optional
        Counts per category after each step of an iterative method.
    level_weights : {level: float}, optional
        Weights of the levels, where they are not proportional to the numbers of answers.
    named : Named, optional
        For a design that is stored as one pattern: how many people named each category.
    cells : Cells, optional
        Where the proportions are shares of cells: these cells.

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
    made_by: str
    warnings: tuple[StatisticalWarning, ...] = ()
    indicators: Indicators | None = field(default=None, repr=False)
    solution: str | None = field(default=None, repr=False)
    maximum: Maximum | None = field(default=None, repr=False)
    path: Floats | None = field(default=None, repr=False)
    level_weights: Mapping[Any, float] | None = field(default=None, repr=False)
    named: Named | None = field(default=None, repr=False)
    cells: Cells | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        proportions = _without_rounding(np.array(self.proportions, dtype=float))
        for name, values in (("proportions", proportions), ("covariance", np.array(self.covariance, dtype=float))):
            object.__setattr__(self, name, _checks.read_only(values))

    @property
    def estimator(self) -> Maker:
        """The estimator that made this estimate; it defines the intervals and the findings."""
        return MAKERS[self.made_by]

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

    def projected(self) -> Projected:
        """The nearest possible shares beside these, labeled as a display; see `estimate.projected`."""
        return Projected(self)

    @cached_property
    def standard_errors(self) -> Floats:
        """Square roots of the variances, (t,); NaN where undefined."""
        variances = np.diagonal(self.covariance)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.where(variances > -1e-12, np.maximum(variances, 0), np.nan))
        return _checks.read_only(np.asarray(errors, dtype=float))

    @property
    def cells_of_samples(self) -> Cells:
        """The cells behind an estimate from several samples; raise `DataError` for any other estimate."""
        if self.cells is None:
            raise DataError(f"{self.method} is not an estimate from several samples")
        return self.cells

    @cached_property
    def nuisance(self) -> dict[Any, Value]:
        """Nuisance parameters by name, each with its delta-method standard error."""
        if self.cells is None:
            return {}
        t, errors = len(self.categories), np.sqrt(np.diagonal(self.cells.covariance_of_shares))
        pairs = zip(self.cells.values[t:].tolist(), errors[t:].tolist(), strict=True)
        return {share.name: Value(*pair) for share, pair in zip(self.cells.nuisance, pairs, strict=True)}

    @property
    def nuisance_shares(self) -> dict[Any, float]:
        """The nuisance parameters that are determined; values outside [0, 1] are moved to its nearest end."""
        values = {name: parameter.value for name, parameter in self.nuisance.items() if math.isfinite(parameter.value)}
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
            The confidence of each interval by itself.
        method : {"score", "agresti_coull", "wald", "profile", "bootstrap"}, optional
            By default the method whose measured coverage holds for such an estimate (see the page on coverage).
        replicates, rng : int, numpy Generator
            Resamples of the bootstrap, and their generator; by default one with a fixed seed.

        Raises
        ------
        DataError
            If the method does not exist or does not suit this estimate; the message names methods that do.
        """
        return np.asarray(self.intervals(confidence, method=method, replicates=replicates, rng=rng).bounds)

    def intervals(self, confidence: float = 0.95, *, method: str | None = None, **options: Any) -> Intervals:
        """The intervals, with the name of their method and the flagged categories."""
        return self.estimator.intervals(self, confidence, method=method, **options)

    @cached_property
    def privacy(self) -> dict[Any, privacy.Statement]:
        """What one answer tells about its person, by level (the key is None where there are no levels).

        Where cells are finer than the categories, it is about the category, at the estimated nuisance shares.
        """
        statements = privacy.about_categories(self.design, self.nuisance_shares) or privacy.statement(self.design)
        return statements if isinstance(statements, dict) else {None: statements}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What this estimate tells beyond its numbers, in the order in which it is printed."""
        possible_findings = (self._finding(name) for name in self.estimator.findings)
        return tuple(finding for finding in possible_findings if finding is not None)

    @cached_property
    def _findings_by_name(self) -> dict[str, Finding | None]:
        """Findings made so far: each is made once, when it is first asked for."""
        return {}

    def _finding(self, name: str) -> Finding | None:
        if name not in self._findings_by_name:
            self._findings_by_name[name] = self.estimator.findings[name](self)
        return self._findings_by_name[name]

    def _value(self, name: str) -> Any:
        finding = self._finding(name)
        return None if finding is None else finding.value

    @property
    def comparison(self) -> Comparison | None:
        """For levels: stratified beside pooled, their difference and the test of independence; otherwise None."""
        return cast("Comparison | None", self._value("comparison"))

    @property
    def sensitivity(self) -> Floats | None:
        """For the two-option scheme: the band (t, 2) over all ways of choosing between two false categories.

        None for other designs, and where it would take long; call `preference_band` then.
        """
        return cast("Floats | None", self._value("sensitivity"))

    @property
    def goodness_of_fit(self) -> GoodnessOfFit | None:
        """Pearson's test and the deviance; None unless the answers have more degrees of freedom than the estimate."""
        return cast("GoodnessOfFit | None", self._value("goodness_of_fit"))

    @property
    def unbounded(self) -> Estimate | None:
        """The unbiased estimate, to stand beside a likelihood estimate at the boundary; None elsewhere."""
        return cast("Estimate | None", self._value("unbounded"))

    @property
    def by_sample(self) -> dict[Any, Estimate] | None:
        """The unbiased estimate of each of several samples by itself; None unless every sample has one."""
        return cast("dict[Any, Estimate] | None", self._value("by_sample"))

    def noncompliance(self, share: float = 0.1, noncompliers: str = "anyone") -> Floats | None:
        """The band (t, 2) of `noncompliance_band`; None where people answer without chance."""
        band = self._value("noncompliance")
        return None if band is None else np.asarray(band(share, noncompliers))

    @property
    def probability_band(self) -> Floats | None:
        """The band (t, 2) over the range of a design probability that is not certain; None if no range is stated."""
        return cast("Floats | None", self._value("probability_band"))

    def sections(self, options: Options | None = None) -> list[Content]:
        """The estimate in the vocabulary of `naysay.show`: what it is, its table, and what it rests on."""
        return self.estimator.sections(self, options or Options())

    def to_dict(self, confidence: float = 0.95, *, interval_method: str | None = None) -> dict[str, Any]:
        """The estimate as one JSON object with stable names; undefined numbers are None."""
        return self.estimator.plain(self, Options(confidence, interval_method))

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        shares = ", ".join(f"{value:.3f}" for value in self.proportions[:8])
        return f"<{self.method}: {shares}{', …' if len(self.proportions) > 8 else ''} (n = {self.n})>"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Stratified beside pooled.

    Parameters
    ----------
    stratified, pooled : Estimate
    difference : (t,) float
        stratified - pooled.
    standard_errors : (t,) float
        Of the difference, valid whether or not the choice of level depends on the category.
    test : IndependenceTest
    """

    stratified: Estimate
    pooled: Estimate
    difference: Floats
    standard_errors: Floats
    test: IndependenceTest

    def beside(self, fit: Estimate) -> Estimate:
        """The estimate to show beside another: pooled beside stratified, and stratified beside pooled."""
        return self.stratified if is_pooled(fit) else self.pooled


def _without_rounding(shares: Floats) -> Floats:
    """Shares, exactly 0 or 1 where only rounding parts them from it: -1e-17 is neither outside [0, 1] nor a chance."""
    nearest = np.clip(np.round(shares), 0.0, 1.0)
    return np.where(np.abs(shares - nearest) < _ROUNDING, nearest, shares)


def is_stratified(fit: Estimate) -> bool:
    """Whether an estimate combines the levels' own estimates, with any weights."""
    return fit.design.assigned_by == "respondent" and fit.maximum is None


def is_pooled(fit: Estimate) -> bool:
    """Whether an estimate maximizes one likelihood over all levels."""
    return fit.design.assigned_by == "respondent" and fit.maximum is not None


def reliable_errors(fit: Estimate) -> Floats:
    """The standard errors that can be trusted, (t,); NaN at the boundary, and where all answers are alike."""
    return np.where(_reliable(fit, fit.proportions), fit.standard_errors, np.nan)


def reliable_nuisance(fit: Estimate) -> dict[str, float]:
    """The standard errors of the nuisance parameters, where they can be trusted; NaN elsewhere."""
    pairs = (
        (name, parameter, bool(_reliable(fit, np.array(parameter.value)))) for name, parameter in fit.nuisance.items()
    )
    return {name: parameter.standard_error if keep else math.nan for name, parameter, keep in pairs}


def _reliable(fit: Estimate, values: Floats) -> NDArray[np.bool_]:
    inside = (values > 1e-9) & (values < 1 - 1e-9)
    return np.full(values.shape, not alike(fit.tally)) & (inside if fit.maximum is not None else True)


@dataclass(frozen=True)
class Options:
    """How an estimate is printed.

    Parameters
    ----------
    confidence : float
        The confidence level of each interval by itself.
    method : str, optional
        The method of the intervals; by default the one whose coverage holds for the estimate.
    noncompliance : float
        The share of respondents who may not comply.
    noncompliers : {"anyone", "alike"}
        Who they are; see `noncompliance_band`.
    """

    confidence: float = 0.95
    method: str | None = None
    noncompliance: float = 0.1
    noncompliers: str = "anyone"


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals of all proportions.

    Parameters
    ----------
    bounds : (t, 2) float
    method : str
    confidence : float
    flagged : (t,) bool
        Where the interval missed [0, 1], and that of an estimate at the nearest end replaces it; for `bootstrap` and
        `profile` by name, that end itself.
    misfit : bool
        Whether some interval misses [0, 1] by so much that, if respondents keep to the design, at most one in a hundred
        surveys would.
    """

    bounds: Floats
    method: str
    confidence: float
    flagged: NDArray[np.bool_]
    misfit: bool = False


@dataclass(frozen=True, eq=False)
class Finding(ABC):
    """A part of a result that only some results have, such as a test, a band, or another estimate beside it.

    A kind of finding is a subclass that defines `compute` and its words.

    Parameters
    ----------
    fit : Estimate
    value : object
        What was found; None where it is left out, with a printed reason.
    """

    fit: Any
    value: Any

    name: ClassVar[str]
    """The member of `Estimate` that gives the value."""

    field: ClassVar[str]
    """The name in JSON."""

    beside: ClassVar[bool] = False
    """Whether it stands in the table beside the estimate; else it stands below the table."""

    left_out: ClassVar[str] = ""
    """The sentence where the value is left out; without one, there is then no finding."""

    @classmethod
    @abstractmethod
    def concerns(cls, fit: Any) -> bool:
        """Whether an estimate is of the kind that can have it."""

    @staticmethod
    @abstractmethod
    def compute(fit: Any) -> Any:
        """The value; None where there is none."""

    def columns(self) -> Iterable[tuple[str, Floats]]:
        """Columns of the table: names, and a number for each category."""
        return ()

    def words(self, options: Options) -> str:
        """One line about the value; empty where the table says all."""
        return ""

    def content_below(self, options: Options) -> Sequence[Content]:
        """The content below the table."""
        line = self.left_out if self.value is None else self.words(options)
        return [Points((line,))] if line else []

    def plain(self, options: Options) -> Any:
        """The value in JSON; None where JSON holds nothing of it."""
        return plain(self.value)


class Maker(Protocol):
    """What an estimate asks of the estimator that made it."""

    @property
    def name(self) -> str: ...
    @property
    def intervals(self) -> Callable[..., Intervals]: ...
    @property
    def findings(self) -> Mapping[str, Callable[[Any], Finding | None]]: ...
    @property
    def sections(self) -> Callable[[Any, Options], list[Content]]: ...
    @property
    def plain(self) -> Callable[[Any, Options], dict[str, Any]]: ...


MAKERS: dict[str, Maker] = {}
"""The estimators by name, below the estimates, so that each estimate finds its own; `estimators` fills it."""
