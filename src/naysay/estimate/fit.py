"""An estimate as data: proportions with their covariance, and what they rest on.

What is computed from them, such as intervals and bands, takes a `Fit`; `naysay.estimate.result` puts all of it together
in the `Estimate`. Also here: how many decimals its numbers have, and the nearest possible shares, a display beside an
unbiased estimate and never a basis for intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, privacy
from naysay._values import Floats
from naysay.design import Answerable, Share
from naysay.errors import DataError, StatisticalWarning
from naysay.estimate.likelihood import Maximum
from naysay.estimate.linear import Indicators, LinearMaps, Named
from naysay.privacy.measures import unit_of
from naysay.show.result import fixed_decimals
from naysay.tally import Tally

_ROUNDING = 1e-12  # of sums of shares: below it nothing but rounding is left
_FEWEST, _MOST = 2, 9  # decimals in print
_WIDE = 0.4  # the width of an interval from which on its middle is no finding


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
    moves : (numbers, cells) float, optional
        How the cells move with each estimated number of the design, a standard error up. Their squares and products are
        a part of the covariance; another estimate under the same numbers moves with them.
    """

    cells: tuple[Any, ...]
    categories: tuple[Share, ...]
    nuisance: tuple[Share, ...]
    proportions: Floats
    covariance: Floats
    moves: Floats | None = None

    @property
    def shares(self) -> tuple[Share, ...]:
        """The categories, then the nuisance parameters."""
        return (*self.categories, *self.nuisance)

    @cached_property
    def _weights(self) -> tuple[Floats, Floats]:
        numerator_weights, denominator_weights = zip(*(share.weights(self.cells) for share in self.shares), strict=True)
        return np.array(numerator_weights), np.array(denominator_weights)

    @property
    def _denominators(self) -> Floats:
        """What each share is a share of, (shares,); NaN where that is zero but for rounding."""
        denominators = self._weights[1] @ self.proportions
        return np.where(np.abs(denominators) > _ROUNDING, denominators, np.nan)

    @property
    def values(self) -> Floats:
        """The shares, (shares,)."""
        return without_rounding(self._weights[0] @ self.proportions / self._denominators)

    @property
    def gradients(self) -> Floats:
        """Derivatives of the shares with respect to the cells, (shares, cells)."""
        numerator_weights, denominator_weights = self._weights
        return np.asarray(
            (numerator_weights - self.values[:, None] * denominator_weights) / self._denominators[:, None]
        )

    @property
    def covariance_of_shares(self) -> Floats:
        """Covariance of the shares, (shares, shares)."""
        return np.asarray(self.gradients @ self.covariance @ self.gradients.T)

    @property
    def moves_of_categories(self) -> Floats:
        """How the categories' shares move with each estimated number of the design, (numbers, t)."""
        gradients = self.gradients[: len(self.categories)]
        return np.zeros((0, len(gradients))) if self.moves is None else np.asarray(self.moves @ gradients.T)

    @property
    def estimates(self) -> tuple[Floats, Floats]:
        """The shares of the categories, (t,), and their covariance, (t, t)."""
        t = len(self.categories)
        return self.values[:t], self.covariance_of_shares[:t, :t]


@dataclass(frozen=True, eq=False)
class Fit:
    """The numbers of an estimate, and what they rest on; see `Estimate`."""

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
    maps: LinearMaps | None = field(default=None, repr=False)
    others: Mapping[str, Callable[[Any], object]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        proportions = without_rounding(np.array(self.proportions, dtype=float))
        for field_name, field_array in (
            ("proportions", proportions),
            ("covariance", np.array(self.covariance, dtype=float)),
        ):
            object.__setattr__(self, field_name, _checks.read_only(field_array))

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
            standard_errors = np.sqrt(np.where(variances > -1e-12, np.maximum(variances, 0), np.nan))
        return _checks.read_only(np.asarray(standard_errors, dtype=float))

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
        t, share_errors = len(self.categories), np.sqrt(np.diagonal(self.cells.covariance_of_shares))
        parameter_pairs = zip(self.cells.values[t:].tolist(), share_errors[t:].tolist(), strict=True)
        return {
            share.name: Value(*parameter_pair)
            for share, parameter_pair in zip(self.cells.nuisance, parameter_pairs, strict=True)
        }

    @property
    def nuisance_shares(self) -> dict[Any, float]:
        """The nuisance parameters that are determined; values outside [0, 1] are moved to its nearest end."""
        finite_values = {
            parameter_name: parameter.value
            for parameter_name, parameter in self.nuisance.items()
            if math.isfinite(parameter.value)
        }
        return {parameter_name: min(max(value, 0.0), 1.0) for parameter_name, value in finite_values.items()}

    @cached_property
    def linear_maps(self) -> LinearMaps:
        """The unbiased map of each part, which intervals, tests and bands share."""
        return LinearMaps(self.solution) if self.maps is None else self.maps

    @cached_property
    def privacy(self) -> dict[Any, privacy.Statement]:
        """What one answer tells about its person, by level (the key is None where there are no levels).

        Where cells are finer than the categories, it is about the category, at the estimated nuisance shares.
        """
        statements = privacy.about_categories(self.design, self.nuisance_shares) or privacy.statement(
            self.design, unit=unit_of(self.design)
        )
        return statements if isinstance(statements, dict) else {None: statements}

    def __repr__(self) -> str:
        shares = ", ".join(f"{value:.3f}" for value in self.proportions[:8])
        return f"<{self.method}: {shares}{', …' if len(self.proportions) > 8 else ''} (n = {self.n})>"


def without_rounding(shares: Floats) -> Floats:
    """Shares, exactly 0 or 1 where only rounding parts them from it: -1e-17 is neither outside [0, 1] nor a chance."""
    nearest = np.clip(np.round(shares), 0.0, 1.0)
    return np.where(np.abs(shares - nearest) < _ROUNDING, nearest, shares)


def is_pooled(fit: Fit) -> bool:
    """Whether an estimate maximizes one likelihood over all levels."""
    return fit.design.offer.assigned_by == "respondent" and fit.maximum is not None


def alike(tally: Tally) -> list[str]:
    """The warning for a tally in which everybody gave the same answer, although other answers were possible."""
    same = all(part.alike for part in tally.parts if part.n)
    return ["all answers are alike: the standard errors say nothing, see intervals"] if same else []


def reliable_errors(fit: Fit) -> Floats:
    """The standard errors that can be trusted, (t,); NaN at the boundary, and where all answers are alike."""
    return np.where(_reliable(fit, fit.proportions), fit.standard_errors, np.nan)


def reliable_nuisance(fit: Fit) -> dict[str, float]:
    """The standard errors of the nuisance parameters, where they can be trusted; NaN elsewhere."""
    parameter_triples = (
        (parameter_name, parameter, bool(_reliable(fit, np.array(parameter.value))))
        for parameter_name, parameter in fit.nuisance.items()
    )
    return {
        parameter_name: parameter.standard_error if is_reliable else math.nan
        for parameter_name, parameter, is_reliable in parameter_triples
    }


def _reliable(fit: Fit, values: Floats) -> NDArray[np.bool_]:
    inside = (values > 1e-9) & (values < 1 - 1e-9)
    return np.full(values.shape, not alike(fit.tally)) & (inside if fit.maximum is not None else True)


def decimals(errors: ArrayLike) -> int | None:
    """Decimals that show two digits of the smallest positive standard error; None where none is positive.

    Examples
    --------
    >>> decimals([0.0341, 0.2]), decimals([0.00012]), decimals([0.0])
    (3, 5, None)
    """
    standard_errors = np.asarray(errors, dtype=float)
    usable = standard_errors[np.isfinite(standard_errors) & (standard_errors > 0)]
    if not usable.size:
        return None
    return min(max(1 - math.floor(math.log10(usable.min())), _FEWEST), _MOST)


def decimals_of(fit: Fit) -> int:
    """Decimals for all numbers of an estimate. Without standard errors, those for a plain share of n people."""
    error_decimals = decimals([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    return decimals([0.5 / math.sqrt(max(fit.n, 1))]) or _FEWEST if error_decimals is None else error_decimals


def of_hundred(share: float) -> str:
    """A share as a number of 100 people.

    Examples
    --------
    >>> of_hundred(0.1738), of_hundred(0.0042)
    ('17', '0.4')
    """
    return f"{100 * share:.0f}" if share >= 0.0995 or share == 0 else f"{100 * share:.1f}"


def number_text(value: float, places: int) -> str:
    """A number to so many decimals; a dash where it is undefined."""
    return "–" if math.isnan(value) else fixed_decimals(value, places)


def share_text(value: float, places: int, *, percent: bool) -> str:
    """A share to so many decimals, on pages in percent; a dash where it is undefined.

    Examples
    --------
    >>> share_text(0.125, 3, percent=False), share_text(0.125, 3, percent=True)
    ('0.125', '12.5 %')
    """
    if percent and not math.isnan(value):
        return f"{number_text(100 * value, max(places - 2, 0))} %"
    return number_text(value, places)


def as_points(text: str) -> str:
    """The text of a share as that of a difference of shares: on pages in points, since percent could be of the share.

    Examples
    --------
    >>> as_points("12.5 %"), as_points("0.125")
    ('12.5 points', '0.125')
    """
    return text.replace(" %", " points")


def mean_finding(value: float, low: float, high: float) -> str:
    """A mean with its interval in one line, whose ends are rounded outward; where it can lie, it is shown.

    Parameters
    ----------
    value : float
        An unbiased mean may lie outside the interval, which is cut to what is possible; then the nearest end is shown.
    low, high : float
        NaN where there is no interval.

    Examples
    --------
    >>> mean_finding(41.26, 37.72, 44.81)
    'On average 41, between 37 and 45'
    >>> mean_finding(0.213, 0.1983, 0.2277), mean_finding(-3.0, -3.9, -2.2)
    ('On average 0.213, between 0.198 and 0.228', 'On average −3.0, between −3.9 and −2.2')
    """
    if math.isnan(low + high):
        return f"On average {fixed_decimals(value, 1)}, of too few answers for an interval".replace("-", "−")
    width = high - low
    places = 0 if width == 0 else max(0, -math.floor(math.log10(width / 4)))
    scale, noise = 10.0**places, 1e-9 * max(1.0, abs(low), abs(high))
    ends = math.floor(low * scale + noise) / scale, math.ceil(high * scale - noise) / scale
    value_text, low_text, high_text = (f"{end + 0.0:,.{places}f}" for end in (min(max(value, low), high), *ends))
    between_text = f", between {low_text} and {high_text}" if width else ""
    return f"On average {value_text}{between_text}".replace("-", "−").replace("−0 ", "0 ")


def shares_finding(names: Sequence[str], shares: Sequence[float] | Floats, bounds: Floats) -> str:
    """The largest share, or the first of two, with its interval, in one line.

    Shares are in 100 people. Where the interval is wide it is all that is said. Where another share may be the largest,
    the ends are those of all that may be: picked among many equal shares, the largest one's interval hardly ever holds.

    Parameters
    ----------
    names : (t,) sequence of str
    shares : (t,) float
    bounds : (t, 2) float
        NaN where an interval has no end.

    Examples
    --------
    >>> shares_finding(("yes", "no"), (0.12, 0.88), np.array([[0.09, 0.16], [0.84, 0.91]]))
    '“yes”: about 12 in 100, between 9 and 16'
    >>> shares_finding(("a", "b", "c"), (0.4, 0.35, 0.25), np.array([[0.3, 0.5], [0.3, 0.45], [0.2, 0.29]]))
    'No clear first: “a” or “b”, each between 30 and 50 in 100'
    >>> shares_finding(("a", "b", "c"), (0.4, 0.35, 0.25), np.array([[0.3, 0.5], [0.3, 0.45], [0.2, 0.31]]))
    'No clear first: any of all 3, each between 20 and 50 in 100'
    >>> shares_finding(("yes", "no"), (0.003, 0.997), np.array([[0.002, 0.004], [0.996, 0.998]]))
    '“yes”: about 0.3 in 100, between 0.2 and 0.4'
    """
    ends = np.asarray(bounds, dtype=float)
    place = 0 if len(names) == 2 else int(np.argmax(np.nan_to_num(np.asarray(shares), nan=-1.0)))
    low, high = ends[place]
    quoted_name = f"“{names[place]}”"
    rivals = [other for other in range(len(names)) if other != place and not ends[other, 1] < low]
    if rivals and len(names) > 2:
        rivals_text = f"{quoted_name} or any of {len(rivals)} others"
        if len(rivals) == 1:
            rivals_text = f"{quoted_name} or “{names[rivals[0]]}”"
        elif len(rivals) == len(names) - 1:
            rivals_text = f"any of all {len(names)}"
        low, high = ends[[place, *rivals], 0].min(), ends[[place, *rivals], 1].max()
        each_text = f", each between {100 * low:.0f} and {100 * high:.0f} in 100" if math.isfinite(low + high) else ""
        return f"No clear first: {rivals_text}{each_text}"
    if math.isnan(shares[place]):
        return f"{quoted_name}: not known from these answers"
    places = sum(high - low < width for width in (0.02, 0.002, 0.0002))  # whole people would hide so small a width
    about_text = f"about {100 * shares[place]:.{places}f} in 100"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{quoted_name}: {about_text}"
    ends_text = f"between {100 * low:.{places}f} and {100 * high:.{places}f}"
    if high - low >= _WIDE:
        return f"{quoted_name}: {ends_text} in 100"
    return f"{quoted_name}: {about_text}, {ends_text}"


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
    sorted_shares = np.sort(share_array)[::-1]
    share_excess = (np.cumsum(sorted_shares) - 1) / np.arange(1, len(sorted_shares) + 1)
    return np.asarray(np.maximum(share_array - share_excess[sorted_shares > share_excess][-1], 0))


def certified(fit: Fit) -> Maximum:
    """The maximum of a likelihood estimate; raise `DataError` for any other estimate."""
    if fit.maximum is None:
        raise DataError(f"{fit.method} is not a likelihood estimate")
    return fit.maximum
