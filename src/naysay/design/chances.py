"""P(response | category), and what is read from it.

What must hold of answers whatever the proportions are: a client that is broken, or lies, shows in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.drawing import ByteSource, Source
from naysay.errors import DesignError
from naysay.responses import Codes, Responses, Space

Truth = NDArray[np.int64]

_FEW = 20_000  # a sum lists at most this many responses; above it a closed form is quicker
_ENTRIES = 30_000_000  # largest array of second moments, in entries (240 MB)


class Chances(ABC):
    """P(response | category) of one channel.

    Every kind of design gives `rows` and `draw`. The other members have a default that works wherever responses can be
    listed; a kind may replace it by a closed form.
    """

    categories: tuple[Any, ...]
    space: Space

    @abstractmethod
    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Likelihood rows P(response | category) of encoded, non-missing responses, (n, t)."""

    @abstractmethod
    def draw(self, truth: Truth, source: Source) -> Codes:
        """Codes of one response for each true category; no category is missing."""

    @property
    def exchangeable(self) -> bool:
        """Whether one response stands for all: its probability depends only on whether the truth allows it."""
        return False

    @property
    def one_pattern(self) -> bool:
        """Whether P is αI + β11ᵀ and stored as α and β (see `even_mean`), so that no array of t × t is needed."""
        return False

    @property
    def pure(self) -> bool:
        """Whether a response speaks for a set of categories, and its chance depends only on whether the truth is there.

        Then `even_mean` alone gives the estimate, and a tally may keep sums in place of answers.
        """
        return False

    tabular: ClassVar[bool] = False
    """Whether every response is a label and all chances are stored as integers."""

    @property
    def odds(self) -> tuple[int, int] | None:
        """The largest odds of a response between two categories, as integers; None where they must be searched for."""
        return None

    @property
    def chances_named(self) -> tuple[Fraction, Fraction] | None:
        """(p*, q*): the chances that a response speaks for the true category, and for a given other one.

        None where they depend on the category.
        """
        return None

    @property
    def keeps_sums(self) -> bool:
        """Whether a tally keeps the sums of the statistic, because its responses cannot be listed."""
        return False

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """The mean of the linear statistic T given the category, (d, t): column j is E[T | X = j]."""
        codes = self.space.listing()
        return _checks.read_only(self.space.statistic(codes).T @ self.rows(codes))

    def numbers(self, codes: Codes, power: int = 1) -> NDArray[np.float64] | None:
        """An unbiased number of each response's truth, or with `power` 2 of its square, (n,); None for categories."""
        return None

    @property
    def responses(self) -> Responses:
        """All responses, in the order of the rows of `matrix`.

        Raises
        ------
        DesignError
            Where there are too many to list.
        """
        return Responses(self.space.listing(), self.space)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """P (responses, t); columns are categories and sum to one.

        Raises
        ------
        DesignError
            Where there are too many responses to list.
        """
        return self.rows(self.space.listing())

    @property
    def typical_codes(self) -> Codes:
        """Responses that include the most revealing one: all of them, or one that stands for all."""
        listing = self.space.size <= 5_000 or not self.exchangeable
        # `bytes`, called with n, gives n zero bytes: a source without chance.
        return self.space.listing() if listing else self.draw(np.zeros(1, dtype=np.int64), ByteSource(bytes))

    def integers(self, codes: Codes) -> NDArray[np.int64] | None:
        """Integers (n, t) in proportion to `rows`; None where the design does not store its chances as integers."""
        return None

    @cached_property
    def even_mean(self) -> tuple[float, float] | None:
        """(α, β), if the mean of the linear statistic is αI + β11ᵀ and the statistic has a constant sum; else None.

        Then the unbiased indicator of category j is (T_j - β) / α, and nothing has to be inverted.
        """
        expected, t = self.expected_statistic, len(self.categories)
        if len(expected) != t or t < 2 or not self.space.constant_sum:
            return None
        beta, alpha = expected[0, 1], expected[0, 0] - expected[0, 1]
        # An absolute tolerance alone: entries are chances, and a relative one would accept larger ones that differ.
        even = np.allclose(expected, alpha * np.eye(t) + beta, rtol=0, atol=1e-15)
        return (float(alpha), float(beta)) if even else None

    @property
    def listed(self) -> bool:
        """Whether sums over responses list all of them; above 20,000 responses a closed form is quicker."""
        return self.space.listable and self.space.size <= _FEW

    def second_moments(self) -> NDArray[np.float64] | None:
        """E[T Tᵀ | X = j] of the linear statistic T for each category j, (t, d, d).

        None where it would be too large, or where there are too many responses to list and there is no closed form.
        """
        if self.space.dimension**2 * len(self.categories) > _ENTRIES:
            return None
        return self._second_moments()

    def _second_moments(self) -> NDArray[np.float64] | None:
        if not self.listed:
            return None
        codes = self.space.listing()
        statistic = self.space.statistic(codes)
        return np.asarray(np.einsum("yj,ya,yb->jab", self.rows(codes), statistic, statistic, optimize=True))

    def products(self, measure: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Σ_j measure_j E[T Tᵀ | X = j], (d, d); None where `second_moments` is None and there is no closed form."""
        moments = self.second_moments()
        return None if moments is None else np.asarray(np.tensordot(measure, moments, axes=1))

    def told_bits(self, prior: NDArray[np.float64]) -> float | None:
        """The information of an answer under a prior, in bits, by a closed form; None where there is none."""
        return None

    def diagnosed(self, part: Any) -> Diagnostic | None:
        """The test of something that holds of these answers whatever the proportions are; None where there is none."""
        return None

    def guessed(self, prior: NDArray[np.float64]) -> float:
        """How often the likeliest category, given the response, is the true one: Σ_y max_j π_j P(y | j).

        Raises
        ------
        DesignError
            Where there are too many responses to list, and there is no closed form.
        """
        if self.exchangeable and (prior == prior[0]).all():
            row = self.rows(self.typical_codes[:1])
            return float(row.max() / row.sum())
        return float((self.rows(self.space.listing()) * prior).max(axis=1).sum())

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """(p, q, n) of each piece of a response that noise redraws by itself.

        Its chance where the response speaks for the category, and where not; and among how many it is redrawn.

        Raises
        ------
        DesignError
            Where the design is not pure.
        """
        raise DesignError(
            f"only pure designs can be remembered: k-ary, subset selection, affine or unary; this one is of kind "
            f"{getattr(self, 'kind', '')!r}"
        )

    def faded(self, keep: int, whole: int) -> Any:
        """The design of the same family in which each piece of a response stays only with chance keep/whole."""
        raise DesignError(f"noise on a report needs a pure design, of which this is none: {len(self.pieces)} pieces")

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        """Responses in which each piece stays with chance keep/whole, and is drawn evenly otherwise."""
        raise DesignError(f"noise on a report needs a pure design, of which this is none: {len(self.pieces)} pieces")

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        """Whether each of these responses is one that no category can give, (n,)."""
        return np.asarray(self.rows(codes).max(axis=1) <= 0)


_RARE = 5  # cells that expect fewer answers are joined
_PAIRS = 10  # with fewer expected pairs of equal hashes, nothing can be said about them
SUSPICIOUS = 1e-4
"""A p-value below this becomes a warning."""


@dataclass(frozen=True)
class Diagnostic:
    """A test of the clients, not of the proportions.

    Parameters
    ----------
    about : str
        What was tested, in words.
    statistic : float
        Pearson's X².
    degrees_of_freedom : float
    p_value : float
    """

    about: str
    statistic: float
    degrees_of_freedom: float
    p_value: float

    @property
    def suspicious(self) -> bool:
        """Whether honest clients would hardly ever show this."""
        return self.p_value < SUSPICIOUS

    def __str__(self) -> str:
        value = "< 0.0001" if self.p_value < SUSPICIOUS else f"= {self.p_value:.3g}"
        return f"{self.about}: X² = {self.statistic:.1f} on {self.degrees_of_freedom:.0f} df, p {value}"


def uniform(counts: NDArray[np.int64], cells: int, about: str) -> Diagnostic | None:
    """Pearson's test that all cells are equally likely; `counts` holds those that came.

    With few answers a cell X² is not χ². Its first two moments under the hypothesis are exact, and a scaled χ² that has
    them gives the p-value.
    """
    n = int(counts.sum())
    if cells < 2 or n < 2 or n * (n - 1) / (2 * cells) < _PAIRS:
        return None
    statistic = cells / n * float((counts.astype(float) ** 2).sum()) - n
    df, spread = cells - 1, (n - 1) / n  # variance 2 df (n - 1)/n
    p = float(scipy.special.chdtrc(df / spread, statistic / spread))
    return Diagnostic(about, statistic, df, p)


def of_counts(observed: NDArray[np.int64], chances: NDArray[np.float64], about: str) -> Diagnostic | None:
    """Pearson's test of counts against known chances; neighbors that expect few answers are joined."""
    expected = observed.sum() * chances
    places, pool, pool_total = np.zeros(len(expected), dtype=int), 0, 0.0
    for place, value in enumerate(expected.tolist()):
        places[place] = pool
        pool_total += value
        if pool_total >= _RARE:
            pool, pool_total = pool + 1, 0.0
    places = np.minimum(places, max(pool - 1, 0))  # the remainder joins the last pool
    if places[-1] == 0:
        return None
    pool_counts, pool_expected = np.bincount(places, observed), np.bincount(places, expected)
    statistic = float(((pool_counts - pool_expected) ** 2 / pool_expected).sum())
    return Diagnostic(about, statistic, places[-1], float(scipy.special.chdtrc(places[-1], statistic)))
