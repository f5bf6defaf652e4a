"""Ranks: who leads, and which ranks each category may have, from the differences between all of its rivals.

With D_kj = π̂_k - π̂_j and s_kj its standard error, category k is ahead of j where D_kj > c sqrt(s_kj² + D_kj²/n): the
error that D would have if the two tied, as in a score test, because with few people s is smallest where chance has
parted two most. Category j then has a rank between 1 + #{k ahead of j} and t - #{k behind j}. The critical value c is a
quantile of the largest |D - E D| / s over pairs, by the law of t with n - 1 degrees of freedom or those of the sample,
so that no pair is called in the wrong order; what ties, is called ahead no more often than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats
from naysay.errors import DataError
from naysay.estimate.fit import Fit, number_text
from naysay.show import Chart, Column, Note, Records, Result, Sentence, Table
from naysay.show.content import Content

_MOST = 300  # categories: the work grows with their square
_ROUNDING = 1e-9
_DRAWS = 10_000


class CriticalValues(NamedTuple):
    """How many standard errors a difference must exceed.

    Parameters
    ----------
    joint : float
        For the ranks of all categories at once: two-sided, over all pairs.
    single : (t,) float
        For the rank of one category: two-sided, over the pairs that it is in.
    leader : (t,) float
        For "this one leads": one-sided, over its rivals.
    """

    joint: float
    single: Floats
    leader: Floats


@dataclass(frozen=True, eq=False)
class Ranks(Result):
    """The order of the categories, and what is uncertain about it; see `ranks`.

    Parameters
    ----------
    categories : (t,) tuple of label
    proportions : (t,) float
        The unbiased estimates that are ranked.
    rank : (t,) int
        1 for the largest estimate; ties share the best rank.
    chance_of_leading : (t,) float
        The share of draws around the estimates in which this category is the largest, by `margin` at least. It is a
        chance about the truth for somebody who held all values equally likely before, in large samples.
    joint : (t, 2) int
        The lowest and highest rank of each; all sets hold at once in the stated share of surveys.
    single : (t, 2) int
        The same for one category that was chosen before the answers came.
    may_lead : (t,) bool
        The confidence set of the leader: whoever leads, or is behind the leader by `margin` at most, is in it in the
        stated share of surveys. Where one is alone in it, it leads by more than `margin`.
    confidence : float
    margin : float
    decimals : int
        Of the printed shares.
    """

    categories: tuple[object, ...]
    proportions: Floats
    rank: NDArray[np.int64]
    chance_of_leading: Floats
    joint: NDArray[np.int64]
    single: NDArray[np.int64]
    may_lead: NDArray[np.bool_]
    confidence: float
    margin: float = 0.0
    decimals: int = 3

    @property
    def leaders(self) -> tuple[object, ...]:
        """The categories of the confidence set of the leader."""
        return tuple(category for category, leads in zip(self.categories, self.may_lead.tolist(), strict=True) if leads)

    @property
    def _in_order(self) -> NDArray[np.int64]:
        return np.argsort(-self.proportions, kind="stable")

    def parts(self) -> list[Content]:
        """A sentence about the leader, the table from the first rank to the last, and what it rests on."""
        leaders_text = ", ".join(_checks.label(category) for category in self.leaders)
        margin_text = f" by {100 * self.margin:.4g} points" if self.margin else ""
        names = ("rank", "estimate", f"leads{margin_text}", "ranks", "ranks, this one alone")
        rows = tuple(
            (
                _checks.label(self.categories[place]),
                str(self.rank[place]),
                number_text(float(self.proportions[place]), self.decimals),
                f"{self.chance_of_leading[place]:.3f}",
                _range_text(self.joint[place]),
                _range_text(self.single[place]),
            )
            for place in self._in_order
        )
        if len(self.leaders) == 1:
            leader_sentence = f"leads{margin_text}: {leaders_text}"
        elif self.margin:
            leader_sentence = f"the leader, and whoever is behind{margin_text} at most, is one of: {leaders_text}"
        else:
            leader_sentence = f"the leader is one of: {leaders_text}"
        return [
            Sentence(f"{leader_sentence} ({self.confidence:.4g} confidence set)"),
            Chart(self._draw),
            Table((Column("category", words=True, width=40), *map(Column, names)), rows),
            Note(
                f"ranks: {self.confidence:.4g} confidence sets from all pairwise differences, by the law of t; "
                "those of the column “ranks” hold together"
            ),
            Note("leads: the share of draws around the estimates in which it is largest, no test"),
        ]

    def _draw(self, size: int, room: int) -> str:
        """The rank of each category in the estimate, and its set among the joint ones."""
        from naysay.show import charts

        in_order = self._in_order
        names = tuple(self.categories[place] for place in in_order)
        return charts.ranks(names, self.rank[in_order], self.joint[in_order], size=min(size, 640), room=room)

    def numbers(self) -> dict[str, object]:
        return {
            "categories": self.categories,
            "proportions": self.proportions,
            "ranks": self.rank,
            "chance_of_leading": self.chance_of_leading,
            "margin": self.margin,
            "rank_sets": self.joint,
            "single_rank_sets": self.single,
            "leaders": self.leaders,
            "confidence": self.confidence,
        }

    def records(self) -> Records:
        """A row for each category, in their order."""
        names = ("category", "estimate", "rank", "lowest", "highest", "chance_of_leading", "may_lead")
        columns = (self.proportions, self.rank, *self.joint.T, self.chance_of_leading, self.may_lead)
        return Records(
            names, [list(row) for row in zip(self.categories, *map(np.ndarray.tolist, columns), strict=True)]
        )


def ranks(fit: Fit, *, confidence: float = 0.95, margin: float = 0.0, rng: np.random.Generator | None = None) -> Ranks:
    """The ranks of the categories, the chance that each leads, and confidence sets for ranks and for the leader.

    At the boundary the unbiased estimate is ranked, which has a standard error there.

    Parameters
    ----------
    fit : Estimate
    confidence : float
        Of all rank sets together, of each single one, and of the set of the leader.
    margin : float
        "Leads" means: by so much at least, such as 0.03 for 3 points. It enters `chance_of_leading` and `may_lead`.
    rng : numpy Generator, optional
        Of the draws; by default one with a fixed seed.

    Returns
    -------
    Ranks

    Raises
    ------
    DataError
        An estimate without a covariance, more than 300 categories, a confidence or margin outside (0, 1) and [0, 1).

    References
    ----------
    M. Klein, T. Wright & J. Wieczorek (2020), J. R. Stat. Soc. A 183; M. Mogstad, J. P. Romano, A. M. Shaikh &
    D. Wilhelm (2024), Rev. Econ. Stud. 91, the single-step sets.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("Ada", "Ben", "Cleo", "Dan"))
    >>> found = estimate.moments(survey, survey.tally(count=[500, 700, 780, 820])).ranks()
    >>> found.rank, found.joint.tolist(), found.leaders
    (array([1, 2, 3, 4]), [[1, 1], [2, 3], [2, 4], [3, 4]], ('Ada',))
    """
    _checks.confidence(confidence)
    if not 0 <= margin < 1:
        raise DataError(f"the margin of a lead must be at least 0 and below 1; got {margin!r} (3 points are 0.03)")
    ranked_fit = _unbounded(fit)
    proportions, covariance = np.asarray(ranked_fit.proportions), np.asarray(ranked_fit.covariance)
    t = len(proportions)
    if t > _MOST:
        raise DataError(f"ranks of {t:,} categories take too long; estimate at most {_MOST} of them")
    if not np.isfinite(covariance).all():
        raise DataError("ranks need the standard errors of all differences, and this estimate has none")
    complex_sample = fit.tally.complex
    effective_n = fit.tally.effective if complex_sample is None else float(complex_sample.degrees_of_freedom) + 1
    deviations = normal_draws(covariance, rng or np.random.default_rng(20), max(effective_n - 1, 1))
    errors = difference_errors(covariance)
    ahead = proportions[:, None] - proportions[None, :]  # [k, j]: how far k is ahead of j
    lead_ratios = tie_ratios(ahead, errors, effective_n)
    critical = critical_values(deviations, errors, confidence)
    drawn_shares = proportions + deviations
    two_largest = np.partition(drawn_shares, -2, axis=1)[:, -2:] if t > 1 else drawn_shares
    leads_enough = two_largest[:, -1] - two_largest[:, 0] >= margin
    lead_counts = np.bincount(drawn_shares.argmax(axis=1)[leads_enough], minlength=t)
    return Ranks(
        ranked_fit.categories,
        proportions,
        1 + (ahead > _ROUNDING).sum(axis=0),
        lead_counts / len(drawn_shares),
        _rank_sets(lead_ratios > critical.joint),
        _rank_sets(lead_ratios > critical.single, -lead_ratios > critical.single),
        np.asarray((tie_ratios(ahead - margin, errors, effective_n) <= critical.leader).all(axis=0)),
        confidence,
        margin,
        min(max(2, 1 - math.floor(math.log10(max(float(np.sqrt(np.diagonal(covariance).max())), 1e-6)))), 6),
    )


def _unbounded(fit: Fit) -> Fit:
    """The unbiased estimate where a likelihood estimate is at the boundary."""
    shares = fit.proportions if fit.cells is None else fit.cells.values
    at_edge = fit.maximum is not None and ((shares <= _ROUNDING) | (shares >= 1 - _ROUNDING)).any()
    other_fit = fit.others["unbounded"](fit) if at_edge and "unbounded" in fit.others else None
    return other_fit if isinstance(other_fit, Fit) else fit


def normal_draws(covariance: Floats, rng: np.random.Generator, degrees_of_freedom: float = math.inf) -> Floats:
    """Deviations from the truth by the law of t, or by the normal one, (draws, t)."""
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    roots = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0))
    deviations = rng.standard_normal((_DRAWS, len(covariance))) @ roots.T
    if math.isfinite(degrees_of_freedom):
        deviations /= np.sqrt(rng.chisquare(degrees_of_freedom, _DRAWS) / degrees_of_freedom)[:, None]
    return np.asarray(deviations)


def difference_errors(covariance: Floats) -> Floats:
    """Standard errors of all differences, (t, t); infinite where they are 0, which tells no order."""
    variances = np.diagonal(covariance)
    of_differences = variances[:, None] + variances[None, :] - 2 * covariance
    return np.where(of_differences > 1e-18, np.sqrt(np.maximum(of_differences, 0)), np.inf)


def tie_ratios(ahead: Floats, errors: Floats, n: float) -> Floats:
    """Differences over the errors that they would have if they were 0: a mean square in place of a variance."""
    return np.asarray(ahead / np.sqrt(errors**2 + ahead**2 / n))


def critical_values(deviations: Floats, errors: Floats, confidence: float) -> CriticalValues:
    """Quantiles of the largest standardized deviation between categories."""
    t = errors.shape[0]
    largest, single, leader = np.zeros(len(deviations)), np.zeros(t), np.zeros(t)
    for place in range(t):
        ratios = (deviations - deviations[:, [place]]) / errors[:, place]
        sizes = np.abs(ratios).max(axis=1)
        np.maximum(largest, sizes, out=largest)
        single[place] = np.quantile(sizes, confidence)
        leader[place] = np.quantile(ratios.max(axis=1), confidence)
    return CriticalValues(float(np.quantile(largest, confidence)), single, leader)


def _rank_sets(is_ahead: NDArray[np.bool_], is_behind: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """The lowest and highest rank of each column, (t, 2): [k, j] says that k is ahead of j, or behind it."""
    behind = is_ahead.T if is_behind is None else is_behind
    return np.column_stack([1 + is_ahead.sum(axis=0), len(is_ahead) - behind.sum(axis=0)])


def _range_text(ends: NDArray[np.int64]) -> str:
    low, high = ends.tolist()
    return str(low) if low == high else f"{low} to {high}"
