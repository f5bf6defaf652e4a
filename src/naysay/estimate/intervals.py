"""Confidence intervals: six methods under one signature, the default chosen by measured coverage.

=============== ==================================================================================================
score           all values that the mean of the indicators does not reject, with the variance that the design gives
                each value; see `naysay.estimate.inversion`
agresti_coull   only where a proportion rests on one binomial share. It adds z²/2 answers of each kind (Agresti & Coull
                1998), to which the score interval is equal there; for a file it is the score interval of that share
wald            estimate ± z standard errors; for several samples, z is replaced by the quantile of t with the degrees
                of freedom that the variance is worth
fieller         for several samples: all ratios of a share to its base that are not rejected
profile         all values that the likelihood ratio does not reject. The profile keeps every possible answer's chance
                positive; where answers can prove a category, or are too few, it keeps to the simplex. Where
                proportions are means of indicators, it is the empirical likelihood of the mean (Owen 1988). The
                reference is F(1, df) with the degrees of freedom that the variance is worth
bootstrap       for means: studentized; for likelihood estimates: percentiles of refits
=============== ==================================================================================================

Every interval is cut to [0, 1]. An unbiased estimate beyond 0 or 1 gets the interval of an estimate at that end
(Mandelkern 2002): answers that lie beyond what a design allows make nobody more certain. So the interval is never
empty, and never shorter than it would be at the end. Only `bootstrap` and `profile` by name can leave nothing; then the
nearest end stands there, with a flag. An interval that rests on the unbounded estimate can miss the likelihood
estimate; it is then extended to hold that estimate.

Bootstrap intervals: respondents are drawn again from those who answered, and estimated again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks, privacy
from naysay._values import Floats
from naysay.design import Design
from naysay.errors import DataError, NotEstimable
from naysay.estimate import inversion, samples
from naysay.estimate.compliance import compliance
from naysay.estimate.fit import Fit, Intervals, certified
from naysay.estimate.inversion import score_bounds
from naysay.estimate.likelihood import check_identified, evidence, likelihood_covariance, maximize
from naysay.estimate.linear import Indicators, LinearMap, Named, efficient_indicators, indicators

_LEAST = 2  # fewer replicates have no spread
_SEED = 1998  # fixed, so that a printed number can be reproduced


def not_redrawn(fit: Fit) -> str | None:
    """Why an estimate cannot be bootstrapped; None where it can be."""
    if fit.target == "file":
        return "the bootstrap redraws respondents, but a file is fixed; use method='score', 'profile' or 'wald'"
    if fit.level_weights is not None:
        return "the bootstrap is for proportional weights of the levels; use method='score' or 'wald'"
    if fit.tally.weighted:
        return "the bootstrap of a weighted tally needs the rows; use method='score', 'wald' or 'profile'"
    if fit.cells is not None:
        return "several samples are not bootstrapped; use method='profile' or 'wald'"
    return None


def _studentized_bounds(
    u: Floats, count: Floats, replicates: int, tail: float, rng: np.random.Generator
) -> tuple[float, float]:
    """The bootstrap-t interval of a mean."""
    distinct_values, value_places = np.unique(u.round(12), return_inverse=True)
    value_counts = np.bincount(value_places, count)
    n = int(value_counts.sum())
    sample_mean = float(value_counts @ distinct_values / n)
    standard_error = float(np.sqrt(value_counts @ (distinct_values - sample_mean) ** 2 / n / max(n - 1, 1)))
    resampled_counts = rng.multinomial(n, value_counts / n, size=replicates)
    resampled_means = resampled_counts @ distinct_values / n
    resampled_errors = np.sqrt(
        np.maximum(resampled_counts @ distinct_values**2 / n - resampled_means**2, 0) / max(n - 1, 1)
    )
    is_usable = resampled_errors > 0
    if standard_error == 0 or not is_usable.any():
        return sample_mean, sample_mean
    studentized_means = (resampled_means[is_usable] - sample_mean) / resampled_errors[is_usable]
    low_ratio, high_ratio = np.quantile(studentized_means, [tail, 1 - tail])
    return sample_mean - high_ratio * standard_error, sample_mean - low_ratio * standard_error


def _bootstrap(ask: Request) -> Floats:
    """The bootstrap intervals, (t, 2): studentized for means, percentiles of refits for likelihood estimates."""
    fit = ask.fit
    replicates: object = ask.replicates  # as a user gave it
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or replicates < _LEAST:
        raise DataError(f"replicates must be a whole number from {_LEAST} on, such as 1999; got {replicates!r}")
    replicates = int(replicates)
    rng = np.random.default_rng(_SEED) if ask.rng is None else ask.rng
    tail_share = (1 - ask.confidence) / 2
    if (terms := fit.indicators) is not None:
        return np.array([_studentized_bounds(u, terms.count, replicates, tail_share, rng) for u in terms.u.T])
    check_identified(fit.tally)
    likelihood_rows, weights, _ = evidence(fit.tally)
    refit_proportions = []
    for _ in range(replicates):
        resampled_counts = rng.multinomial(round(weights.sum()), weights / weights.sum())
        is_drawn = resampled_counts > 0  # a resample that loses a category is left out
        refit_proportions.append(
            maximize(
                likelihood_rows[is_drawn], resampled_counts[is_drawn].astype(float), tolerance=1e-3, polish=0
            ).proportions
        )
    return np.quantile(np.array(refit_proportions), [tail_share, 1 - tail_share], axis=0).T


_TRACE = 1e-3  # answers added for each possible response: enough to keep its probability positive, too few to matter
_UNLIKELY = 0.01  # chance that a survey which follows its design is called a misfit


class Request(NamedTuple):
    """The arguments of an interval method.

    Parameters
    ----------
    fit : Estimate
    confidence : float
        Of each interval by itself, in (0, 1).
    replicates : int
        Resamples of a bootstrap.
    rng : numpy Generator or None
        For a bootstrap; None stands for a generator with a fixed seed.
    within : bool
        Whether an unbiased estimate beyond 0 or 1 gets the interval of an estimate at that end.
    """

    fit: Fit
    confidence: float
    replicates: int
    rng: np.random.Generator | None
    within: bool = True

    @property
    def z(self) -> float:
        """The two-sided quantile: 1.96 for a confidence of 0.95; for complex samples the quantile of t."""
        complex_sample, upper_share = self.fit.tally.complex, 0.5 + self.confidence / 2
        quantile = (
            scipy.special.ndtri(upper_share)
            if complex_sample is None
            else scipy.stats.t.ppf(upper_share, complex_sample.degrees_of_freedom)
        )
        return float(quantile)


@dataclass(frozen=True)
class IntervalMethod:
    """A way to make intervals, and which estimates have them.

    Parameters
    ----------
    name : str
    help : str
        What it is, in one line.
    bounds : callable
        ``bounds(request)`` takes a `Request` and returns (t, 2) float, not yet cut to [0, 1].
    refusal : callable
        ``refusal(fit)`` returns the reason why an estimate has no such intervals, or None where it has.
    moves_within : bool
        Whether an estimate beyond 0 or 1 is taken as one at that end. Refits of a bootstrap lie where they lie, and
        would take as long a second time.
    title : str
        What a paper calls them; by default their name.
    source : str
        Whom a paper cites for them, as author and year.
    """

    name: str
    help: str
    bounds: Callable[[Request], Floats]
    refusal: Callable[[Fit], str | None] = lambda fit: None
    moves_within: bool = True
    title: str = ""
    source: str = ""


def intervals(
    fit: Fit,
    confidence: float = 0.95,
    *,
    method: str | None = None,
    replicates: int = 1_999,
    rng: np.random.Generator | None = None,
) -> Intervals:
    """The intervals of an estimate; see `Estimate.interval`."""
    _checks.confidence(confidence)
    if method is not None and method not in METHODS:
        raise DataError(
            f"the interval methods are {', '.join(METHODS)}; got {method!r} ({_checks.nearest(method, METHODS)})"
        )
    method_name = default_method(fit) if method is None else method
    refusal_text = METHODS[method_name].refusal(fit)
    if refusal_text is not None:
        raise DataError(refusal_text)
    interval_request = Request(fit, confidence, replicates, rng)
    method_bounds = METHODS[method_name].bounds
    raw_bounds = method_bounds(interval_request)
    is_outside, is_misfit = _outside(raw_bounds), False
    if (
        METHODS[method_name].moves_within and ((raw_bounds[:, 0] <= 0) | (raw_bounds[:, 1] >= 1)).any()
    ):  # it may lie beyond an end
        is_outside = _outside(method_bounds(interval_request._replace(within=False)))
    if is_outside.any():  # of many intervals some miss by chance, so each gets only a share of that chance
        strict_confidence = max(confidence, 1 - _UNLIKELY / len(raw_bounds))
        is_misfit = bool(
            _outside(method_bounds(interval_request._replace(confidence=strict_confidence, within=False))).any()
        )
    clipped_bounds = np.clip(raw_bounds, 0.0, 1.0) + 0.0  # no negative zeros
    if fit.maximum is not None:  # it may rest on the unbounded estimate, and must hold the printed one
        clipped_bounds = holding(clipped_bounds, fit.proportions)
    return Intervals(clipped_bounds, method_name, confidence, is_outside, is_misfit)


def holding(bounds: Floats, values: Floats) -> Floats:
    """Intervals (t, 2), extended to the values (t,) where these lie beyond an end."""
    return np.column_stack([np.fmin(bounds[:, 0], values), np.fmax(bounds[:, 1], values)])


def _outside(raw: Floats) -> NDArray[np.bool_]:
    return np.asarray((raw[:, 1] < 0) | (raw[:, 0] > 1))


def nuisance_intervals(
    fit: Fit, *, confidence: float = 0.95, method: str | None = None
) -> dict[Any, tuple[float, float]]:
    """The interval of each nuisance parameter of several samples, by the method of the proportions."""
    method_name = default_method(fit) if method is None else method
    if not fit.nuisance:
        return {}
    nuisance = fit.cells_of_samples.nuisance
    people = compliance(fit.design, fit.tally) if method_name == "fieller" else None
    if people is not None:
        share_ends = np.array(people.interval(confidence))  # of those who do not comply, or of all others
        raw_bounds = np.array(
            [share_ends if people.type_name in share.of else 1 - share_ends[::-1] for share in nuisance]
        )
    elif method_name == "fieller":
        raw_bounds = samples.fieller(fit, Request(fit, confidence, 0, None).z, nuisance)
    else:
        raw_bounds = (samples.bounds if method_name == "profile" else samples.wald)(fit, confidence, nuisance)
    nuisance_bounds = np.clip(raw_bounds, 0.0, 1.0)
    if fit.maximum is not None:
        nuisance_estimates = np.array([value.value for value in fit.nuisance.values()])
        nuisance_bounds = holding(nuisance_bounds, nuisance_estimates)
    ends = nuisance_bounds.tolist()
    return {parameter_name: (low, high) for parameter_name, (low, high) in zip(fit.nuisance, ends, strict=True)}


def default_method(fit: Fit) -> str:
    """The method whose measured coverage holds for an estimate like this one (see ``docs/reference/coverage.md``)."""
    if fit.cells is not None:
        people = compliance(fit.design, fit.tally)
        if people is not None and (fit.maximum is None or people.violations is not None or fit.design.uncertain):
            return "fieller"
        if people is None and fit.design.uncertain:  # moments carry the error of the chances, at the boundary too
            return "fieller"
        return "wald" if samples.apart_from_likelihood(fit) else "profile"
    if fit.tally.summed and fit.named is None:
        return "wald"
    if fit.named is not None and (fit.maximum is None or fit.design.structure.by_transform is not None):
        return "agresti_coull"
    uses_more = fit.maximum is not None and more_is_told(fit.tally.parts[0].design)
    if fit.tally.weighted or fit.target == "file" or uses_more or _has_open_split(fit):
        return "score"
    return "agresti_coull" if _shares_of(fit) is not None else "score"


def more_is_told(design: Design) -> bool:
    """Whether a likelihood learns more from an answer than the binomial shares of moments do."""
    return design.space.size > len(design.categories) and design.space.listable


def _score(ask: Request) -> Floats:
    fit, bounds = ask.fit, score_bounds(ask.fit, ask.confidence, within=ask.within)
    if fit.maximum is not None and fit.maximum.open.any():  # the interval must hold every split that is equally likely
        is_open = fit.maximum.open
        likelihood_rows, weights, _ = evidence(fit.tally)
        profile_bounds = inversion.simplex_profile(
            likelihood_rows, weights, fit.proportions, np.full(len(is_open), ask.z**2)
        )[is_open]
        bounds[is_open] = holding(holding(bounds[is_open], profile_bounds[:, 0]), profile_bounds[:, 1])
    return bounds


def _wald(ask: Request) -> Floats:
    if ask.fit.cells is not None:
        return samples.wald(ask.fit, ask.confidence, ask.fit.cells.categories, within=ask.within)
    half_widths = ask.z * ask.fit.standard_errors
    interval_centers = np.clip(ask.fit.proportions, 0.0, 1.0) if ask.within else ask.fit.proportions
    return np.column_stack([interval_centers - half_widths, interval_centers + half_widths])


class BinomialShares(NamedTuple):
    """Proportions that each rest on one binomial share of the answers: π_j = low + (high - low) · share.

    With them come the number of answers that this share is worth, (t,), and that of all answers before it (Kish 1965).
    """

    low: Floats
    high: Floats
    share: Floats
    size: Floats
    effective: float


_SHARES: WeakKeyDictionary[Fit, BinomialShares | None] = WeakKeyDictionary()
"""The shares of estimates that are still in use: a print asks for its intervals several times."""


def _shares_of(fit: Fit) -> BinomialShares | None:
    """The share behind each proportion; None unless each indicator takes only two values."""
    if fit not in _SHARES:
        _SHARES[fit] = _binomial_shares(fit)
    return _SHARES[fit]


def _binomial_shares(fit: Fit) -> BinomialShares | None:
    terms: Named | Indicators
    if fit.design.offer.several or len(fit.tally.parts) != 1:
        return None
    if fit.named is not None:
        terms, low, high, share = fit.named, fit.named.low, fit.named.high, fit.named.share
    else:
        part = fit.tally.parts[0]
        if (ends := two_values(part.design, fit.linear_maps(part))) is None:
            return None
        (low, high), terms = ends, fit.indicators or indicators(fit.tally, fit.linear_maps)
        share = (terms.mean - low) / (high - low)
    # fewer answers than Kish's number where weights depend on the answers
    linearized_variances = terms.variances * (terms.n - 1) / max(terms.n, 1)
    plain_variances = share * (1 - share) * (high - low) ** 2 / terms.effective
    # nobody gave the answer: only rounding is left
    is_varying = plain_variances > 1e-9 * np.abs(high - low) / terms.effective
    variance_ratios = np.divide(
        linearized_variances, plain_variances, out=np.ones_like(plain_variances), where=is_varying
    )
    return BinomialShares(low, high, share, terms.effective / np.maximum(variance_ratios, 1.0), terms.effective)


def two_values(design: Design, mapping: LinearMap) -> tuple[Floats, Floats] | None:
    """The two values of each category's indicator, (t,) each: without and with the answer that names the category.

    None where an indicator takes more values, so that no proportion rests on one binomial share.
    """
    if mapping.structure == "closed form":
        return mapping.constant, mapping.constant + np.diagonal(mapping.slope)
    if not design.structure.tabular:
        return None
    possible_values = mapping(design.space.statistic(design.space.listing()))
    low, high = possible_values.min(axis=0), possible_values.max(axis=0)
    end_distances = np.minimum(np.abs(possible_values - low), np.abs(possible_values - high))
    return None if (end_distances > 1e-9 * np.abs(possible_values).max()).any() else (low, high)


def _agresti_coull(ask: Request) -> Floats:
    shares = cast("BinomialShares", _shares_of(ask.fit))  # `_no_share` has refused estimates without them
    if ask.within:
        shares = shares._replace(share=share_within(shares.share, shares.low, shares.high))
    if ask.fit.target == "file":
        return _file_score(shares, ask.z)
    interval_ends = share_ends(shares.share, shares.size, ask.z)
    return np.sort(shares.low[:, None] + (shares.high - shares.low)[:, None] * interval_ends, axis=1)


def share_within(share: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Binomial shares, moved to where the proportion low + (high - low) · share is 0 or 1 if it lies beyond."""
    return np.asarray((np.clip(low + (high - low) * share, 0.0, 1.0) - low) / (high - low))


def share_ends(share: Floats, n: Floats, z: float) -> Floats:
    """The interval of binomial shares by Agresti & Coull, (t, 2)."""
    padded_size = n + z**2
    padded_share = (n * share + z**2 / 2) / padded_size
    half_width = z * np.sqrt(padded_share * (1 - padded_share) / padded_size)
    return np.column_stack([padded_share - half_width, padded_share + half_width])


def _file_score(shares: BinomialShares, z: float) -> Floats:
    """The score interval of a file's share, in which only the randomization is random.

    A member gives the answer with chance a, anybody else with chance b. With x the share of the answer, the interval is
    (x - b - (a - b)π)² ≤ z² [π a(1-a) + (1-π) b(1-b)] / n. Like Agresti & Coull's it is widened to z standard errors at
    its center: where few answers are lies, it would otherwise cover too seldom.
    """
    a, b = (1 - shares.low) / (shares.high - shares.low), -shares.low / (shares.high - shares.low)
    n = shares.effective
    slope, offset = a - b, shares.share - b
    per_member = (a * (1 - a) - b * (1 - b)) * z**2 / n
    constant = b * (1 - b) * z**2 / n
    middle = (2 * slope * offset + per_member) / (2 * slope**2)
    roots, at_middle = middle**2 - (offset**2 - constant) / slope**2, (constant + per_member * middle) / slope**2
    half_widths = np.sqrt(np.maximum(np.maximum(roots, at_middle), 0.0))
    return np.column_stack([middle - half_widths, middle + half_widths])


def _fieller(ask: Request) -> Floats:
    return samples.fieller(ask.fit, ask.z, ask.fit.cells_of_samples.categories, within=ask.within)


def _profile(ask: Request) -> Floats:
    fit = ask.fit
    if fit.cells is not None:
        return samples.bounds(fit, ask.confidence, fit.cells.categories, within=ask.within)
    design = fit.tally.parts[0].design
    # A saturated design maps proportions one to one to answer shares, so both profiles agree.
    is_saturated = len(fit.tally.parts) == 1 and design.structure.tabular and design.space.size == len(fit.categories)
    if fit.indicators is not None or (is_saturated and not _has_open_split(fit)):
        return _mean_profile(ask)
    likelihood_rows, weights, sampled = evidence(fit.tally)
    quantile = _quantile(ask, efficient_indicators(likelihood_rows, weights, sampled, certified(fit)))
    if fit.target == "file" or fit.tally.weighted:  # scale by the variance over the model's (Rao & Scott)
        quantile = quantile * _ratio(
            np.diagonal(fit.covariance),
            np.diagonal(likelihood_covariance(likelihood_rows, weights, sampled, certified(fit))),
        )
    answered_parts = [part for part in fit.tally.parts if part.n]
    is_listable = all(part.design.space.listable for part in answered_parts)
    # Where some answers prove their category, no proportion can be negative.
    is_proving = any(privacy.still_possible(fit.design.channel(part.level))[0] == 1 for part in answered_parts)
    if not is_listable or is_proving or _has_open_split(fit):
        return inversion.simplex_profile(likelihood_rows, weights, fit.proportions, quantile)
    try:
        inside_proportions = 0.999 * fit.proportions + 0.001 / len(quantile)
        return inversion.likelihood_profile(
            *_with_possible(fit, likelihood_rows, weights), inside_proportions, quantile
        )
    except NotEstimable:  # too few different answers to allow negative proportions
        return inversion.simplex_profile(likelihood_rows, weights, fit.proportions, quantile)


def _with_possible(fit: Fit, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The evidence with a trace of every possible response.

    Without the trace, proportions may become so negative that a response that nobody gave has a negative probability.
    The other probabilities then sum to more than one. The coverage of such a profile was only 0.58.
    """
    part_designs = [part.design for part in fit.tally.parts if part.n]
    possible_rows = np.vstack([design.rows(design.space.listing()) for design in part_designs])
    possible_rows = possible_rows[possible_rows.max(axis=1) > 0]
    return np.vstack([rows, possible_rows]), np.concatenate([weights, np.full(len(possible_rows), _TRACE)])


def _has_open_split(fit: Fit) -> bool:
    """Whether the likelihood leaves the split between some proportions open."""
    return fit.maximum is not None and fit.maximum.undetermined.shape[1] > 0


def _mean_profile(ask: Request) -> Floats:
    """Empirical-likelihood intervals of the mean of the indicators, category by category."""
    fit = ask.fit
    terms = fit.indicators or indicators(fit.tally, fit.linear_maps)
    quantile = _quantile(ask, terms)
    if fit.target == "file" or fit.tally.weighted:
        plain_variances = terms.weight / terms.weight.sum() @ (terms.u - terms.mean) ** 2 / max(terms.n - 1, 1)
        quantile = quantile * _ratio(np.diagonal(terms.covariance(fit.target)), plain_variances)
    category_terms = zip(terms.u.T, quantile.tolist(), _extremes(fit), strict=True)
    return np.array(
        [inversion.mean_profile(u, terms.weight, terms.n, q, extremes) for u, q, extremes in category_terms]
    )


def _quantile(ask: Request, terms: Indicators) -> Floats:
    """The critical value of the likelihood ratio, (t,): of F(1, df), not χ²: few answers may make a variance."""
    df = degrees_of_freedom(terms)
    if ask.fit.tally.complex is not None:
        df = np.minimum(df, ask.fit.tally.complex.degrees_of_freedom)
    return np.asarray(scipy.stats.f.ppf(ask.confidence, 1, df))


def degrees_of_freedom(terms: Indicators) -> Floats:
    """Degrees of freedom that the variances are worth, (t,): few where a variance depends on a few large indicators.

    They are 2 V²/Var(V) for a variance V, by the fourth moments of the indicators (Satterthwaite 1946).
    """
    weight_shares = terms.weight / terms.weight.sum()
    squared_deviations = (terms.u - terms.mean) ** 2
    second_moment = weight_shares @ squared_deviations
    square_variance = weight_shares @ (squared_deviations - second_moment) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2 * terms.n * second_moment**2 / square_variance
    return np.clip(np.where(np.isfinite(df), df, np.inf), 1.0, 1e9)


def _extremes(fit: Fit) -> Floats:
    """The smallest and largest indicator that any answer could have given, (t, 2)."""
    part_ends = []
    for part in fit.tally.parts:
        if not part.n:
            continue
        mapping, space = fit.linear_maps(part), part.design.space
        if mapping.structure == "closed form":
            possible_indicators = np.array([mapping.constant, mapping.constant + np.diagonal(mapping.slope)])
        else:
            answer_codes = space.listing() if space.listable else part.codes
            possible_indicators = mapping(space.statistic(answer_codes))
        part_ends.append(np.column_stack([possible_indicators.min(axis=0), possible_indicators.max(axis=0)]))
    all_ends = np.array(part_ends)
    return np.column_stack([all_ends[:, :, 0].min(axis=0), all_ends[:, :, 1].max(axis=0)])


def _ratio(variance: Floats, model: Floats) -> Floats:
    """The variance divided by the model's; 1 where it is not known, or was estimated below zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = variance / model
    return np.where(np.isfinite(ratio) & (ratio > -1e-9), np.maximum(ratio, 0.0), 1.0)


def _no_score(fit: Fit) -> str | None:
    return None if fit.cells is None else "several samples have no score interval; use method='profile' or 'wald'"


def _no_share(fit: Fit) -> str | None:
    if _shares_of(fit) is not None:
        return None
    return (
        "agresti_coull needs proportions that each rest on one binomial share of the answers (uniform negative and "
        "two-category designs); use method='score', 'profile', 'wald' or 'bootstrap'"
    )


def _no_ratio(fit: Fit) -> str | None:
    if fit.cells is not None:
        return None
    return "fieller is for shares of those who comply, from several samples or controls; use method='score' or 'wald'"


def _no_profile(fit: Fit) -> str | None:
    if fit.cells is not None and samples.apart_from_likelihood(fit):
        return "these moments are not a likelihood estimate and have no profile; use method='wald'"
    if fit.level_weights is not None:
        return "only proportional weights give a mean, which has a profile; use method='score' or 'wald'"
    return None


METHODS = {
    interval_method.name: interval_method
    for interval_method in (
        IntervalMethod(
            "score",
            "all values that the mean of the indicators does not reject",
            _score,
            _no_score,
            title="score intervals",
            source="Wilson (1927)",
        ),
        IntervalMethod(
            "agresti_coull",
            "for one binomial share: z²/2 answers added",
            _agresti_coull,
            _no_share,
            title="intervals after Agresti and Coull",
            source="Agresti & Coull (1998)",
        ),
        IntervalMethod("wald", "estimate ± z standard errors", _wald, title="Wald intervals"),
        IntervalMethod(
            "fieller",
            "for shares of those who comply: all ratios that are not rejected",
            _fieller,
            _no_ratio,
            title="intervals after Fieller",
            source="Fieller (1954)",
        ),
        IntervalMethod(
            "profile",
            "all values that the likelihood ratio does not reject",
            _profile,
            _no_profile,
            title="profile likelihood intervals",
        ),
        IntervalMethod(
            "bootstrap",
            "respondents drawn again",
            _bootstrap,
            not_redrawn,
            moves_within=False,
            title="bootstrap intervals",
        ),
    )
}
"""All interval methods by name."""
