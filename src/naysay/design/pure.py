"""Pure designs: a response speaks for a set of categories, its support, and its chance knows only two cases.

P(y | j) = c a where the support S(y) holds j, and c b otherwise, with integers a > b; in `Unary`, c depends on y. So
the chance p* that a response speaks for the true category is the same for all categories, and so is the chance q* that
it speaks for a given other one. The mean of T_v = [v ∈ S(y)] is q* + (p* - q*) π_v: the estimate, its variance and the
intervals need no matrix. ε = ln(a / b), read from the integers (Wang, Blocki, Li & Jha 2017; Ye & Barg 2018).

Every sampler draws the same number of integers for every truth: whoever counts bytes or time learns nothing.

Unary designs: one bit for each category, each randomized by itself. For aggregators that can only add bits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.base import Design
from naysay.design.chances import Diagnostic, Truth, of_counts
from naysay.design.channels import MANY
from naysay.design.drawing import GeneratorSource, Source
from naysay.design.exact import LIMIT, blended, integer
from naysay.errors import DataError, DesignError
from naysay.responses import WORD, Bits, Codes, Subsets
from naysay.tally import Sums, Tally
from naysay.tally.tally import whole

Floats = NDArray[np.float64]

MOST_NUMBERED = 10_000_000
"""More categories than this take too long to list."""

_BLOCK = 2**14  # responses drawn at a time, so that what belongs to them stays in the cache
SUMS_ONLY = "a tally of this design keeps sums, because nearly every respondent gives another set"
_WORTH_COMPILING = 2_000  # responses from which on compiled code pays, which takes a while to load
_DRAWS, _SEED = 100_000, 2006  # Monte Carlo draws for the information of responses too many to list


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pure(Design):
    """What pure designs share: everything that follows from a : b, p* and q*."""

    pure = True

    @property
    @abstractmethod
    def odds(self) -> tuple[int, int]:
        """(a, b): the odds of a response whose support holds the truth against one whose support does not."""

    @property
    @abstractmethod
    def chances_named(self) -> tuple[Fraction, Fraction]:
        """(p*, q*): the chances that a response speaks for the true category, and for a given other one."""

    @property
    def supported(self) -> tuple[int, int]:
        """The least and the greatest number of categories that a response can speak for."""
        return 0, len(self.categories)

    @property
    def even_mean(self) -> tuple[float, float]:
        """(p* - q*, q*)."""
        p, q = self.chances_named
        return float(p - q), float(q)

    @cached_property
    def expected_statistic(self) -> Floats:
        alpha, beta = self.even_mean
        return _checks.read_only(alpha * np.eye(len(self.categories)) + beta)

    def integers(self, codes: Codes) -> NDArray[Any]:
        return np.where(self.space.statistic(codes) == 1, *self.odds)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(codes), dtype=bool)

    def draw(self, truth: Truth, source: Source) -> Codes:
        """The responses, drawn block by block."""
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for start in range(0, len(truth), _BLOCK):
            rows = slice(start, start + _BLOCK)
            codes[rows] = self._draw(truth[rows], source)
        return codes

    @abstractmethod
    def _draw(self, truth: Truth, source: Source) -> Codes: ...

    @property
    def _places(self) -> NDArray[np.int64]:
        """What the sampler takes for each category, (t,)."""
        return np.arange(len(self.categories))

    def tally_of_sums(self, named: ArrayLike, *, n: int) -> Tally:
        """The tally of an aggregator that only adds bits: how many reports speak for each category.

        Parameters
        ----------
        named : (categories,) int
            Of each category, how many reports speak for it.
        n : int
            How many reports there were.

        Raises
        ------
        DataError
            Counts that no n reports of this design can add up to: above n, or too many or too few in all.

        Examples
        --------
        >>> from naysay import designs, estimate
        >>> survey = designs.unary(("fine", "slow", "crashed"), epsilon=2)
        >>> tally = survey.tally_of_sums([480, 150, 180], n=1_000)
        >>> estimate.moments(survey, tally).proportions.round(3)
        array([0.947, 0.081, 0.16 ])
        """
        n = _checks.whole_number(n, 1, LIMIT, what="n")
        report_counts = whole(_checks.amounts(named, what="named", length=len(self.categories)))
        if (report_counts > n).any():
            place = int((report_counts > n).argmax())
            raise DataError(
                f"{report_counts[place]:,} reports speak for {self.categories[place]!r}, and there are only {n:,}; is "
                "n the number of all reports, and is each one added once?",
                row=place,
                value=int(report_counts[place]),
            )
        (least, most), sizes = self.supported, np.zeros(len(report_counts) + 1, dtype=np.int64)
        if not least * n <= report_counts.sum() <= most * n:
            categories_text = _checks.several(least, "category", "categories")
            raise DataError(
                f"each report speaks for {categories_text}, so that {n:,} reports add up to {least * n:,}; these add "
                f"up to {report_counts.sum():,}: a client lies, or reports of another design are among them",
                value=int(report_counts.sum()),
            )
        if least == most:
            sizes[least] = n
        people = np.array([n])
        return Tally((Sums(self, None, people, people * 1.0, people * 1.0, report_counts, report_counts, sizes),))

    def told_bits(self, prior: Floats) -> float | None:
        """The mean of log₂ P(y | x) / P(y) over drawn responses; it needs only the share that each speaks for."""
        if self.space.listable:
            return None
        rng, (a, b), log_ratios = np.random.default_rng(_SEED), self.odds, []
        truth = rng.choice(len(prior), size=_DRAWS, p=prior)
        for start in range(0, _DRAWS, _BLOCK):
            true_places = truth[start : start + _BLOCK]
            is_named = self.space.statistic(self._draw(self._places[true_places], GeneratorSource(rng)))
            share, true = is_named @ prior, is_named[np.arange(len(true_places)), true_places]
            log_ratios.append(np.log2(np.where(true, a, b) / (a * share + b * (1 - share))))
        return float(np.concatenate(log_ratios).mean())

    def form(self) -> dict[str, Any]:
        return super().form() | {"categories": domain_form(self.categories)}

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        return super().of_form({**node, "categories": domain_of(node["categories"])})


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ByOdds(Pure):
    """A pure design that stores its odds.

    Parameters
    ----------
    inside, outside : int
        a and b.
    """

    inside: int
    outside: int

    def __post_init__(self) -> None:
        a, b = integer(self.inside), integer(self.outside)
        if not (0 < b < a and self.whole <= LIMIT):
            raise DesignError(f"odds must be whole numbers a > b > 0, together at most 2**53; got {a} and {b}")

    @property
    def odds(self) -> tuple[int, int]:
        return self.inside, self.outside

    @property
    @abstractmethod
    def copies(self) -> tuple[int, int]:
        """(own, others): the denominator of the chances is own a + others b."""

    @property
    def whole(self) -> int:
        """The denominator of the chances."""
        own_copies, other_copies = self.copies
        return self.inside * own_copies + self.outside * other_copies

    def faded(self, keep: int, whole: int) -> Self:
        a, b = blended(self.inside, self.outside, self.copies, keep, whole)
        return replace(self, inside=a, outside=b, name="", notes=())


def domain_form(categories: tuple[Any, ...]) -> Any:
    """The categories as JSON: by their number where they are 0, 1, …, and many."""
    numbered = len(categories) > MANY and categories == tuple(range(len(categories)))
    return {"size": len(categories)} if numbered else list(categories)


def domain_of(node: Any) -> Any:
    """What the JSON says of the categories: labels, or how many numbered ones there are."""
    if not isinstance(node, Mapping):
        return node
    return tuple(range(_checks.whole_number(integer(node["size"]), 2, MOST_NUMBERED, what="the number of categories")))


def pairs(alike: Floats | float, apart: Floats | float, diagonal: Floats) -> Floats:
    """A matrix with these entries off its diagonal, `alike` + `apart`, and with this diagonal."""
    result = np.array(np.broadcast_to(alike + apart, (len(diagonal),) * 2))
    np.fill_diagonal(result, diagonal)
    return result


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubsetSelection(ByOdds):
    """A set of `size` categories; sets that hold the true category are more likely, by odds of a to b.

    It is the mechanism of least variance among all with the same ε (Ye & Barg 2018), and the noisy negative survey:
    P of ``mix((w, negative(discards=t - k)), (1, uniform(discards=t - k)))`` with w = (a/b - 1) k/t, the categories
    that are *not* discarded being the response.

    Parameters
    ----------
    size : int
        k, from 1 to t - 1.

    Examples
    --------
    >>> design = SubsetSelection.of(("a", "b", "c", "d"), 2, inside=3, outside=1)
    >>> design.matrix[:, 0]
    array([0.25      , 0.25      , 0.25      , 0.08333333, 0.08333333,
           0.08333333])
    """

    size: int
    space: Subsets
    kind: ClassVar[str] = "subset_selection"
    rule: ClassVar[str] = (
        "With t categories, numbered from 0, truth x, size k, inside a and outside b: draw u below a*k + b*(t-k). Then "
        "for j = t-1-k, ..., t-2 draw v below j+1; the candidate is v if it was not drawn before, otherwise j; "
        "candidate c names category c if c < x, otherwise c+1. Then draw d below k. If u < a*k, x takes the place of "
        "the d-th drawn (from 0). The response is the set; as text, in the order of the categories, joined by ';'."
    )
    exchangeable = True

    @classmethod
    def of(cls, categories: Sequence[Any], size: int, *, inside: int, outside: int, **fields: Any) -> Self:
        labels, k = tuple(categories), integer(size)
        if not 1 <= k < len(labels):
            raise DesignError(f"size must lie between 1 and {len(labels) - 1} for {len(labels)} categories; got {k}")
        return cls(categories=labels, space=Subsets(labels, k, k), size=k, inside=inside, outside=outside, **fields)

    @property
    def copies(self) -> tuple[int, int]:
        return self.size, len(self.categories) - self.size

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """The whole set: there is one piece."""
        unit_chance = Fraction(len(self.categories), self.whole * self.space.size)
        return ((self.inside * unit_chance, self.outside * unit_chance, self.space.size),)

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        t, n = len(self.categories), len(codes)
        stays = source.below(whole, n) < keep
        members = np.zeros((n, t), dtype=bool)
        for last in range(t - self.size, t):  # Floyd's rule, as in `_draw`
            candidate = source.below(last + 1, n)
            members[np.arange(n), np.where(members[np.arange(n), candidate], last, candidate)] = True
        return np.where(stays[:, None], codes, self.space.pack(members))

    @property
    def supported(self) -> tuple[int, int]:
        return self.size, self.size

    @property
    def chances_named(self) -> tuple[Fraction, Fraction]:
        p = Fraction(self.inside * self.size, self.whole)
        return p, (self.size - p) / (len(self.categories) - 1)

    def rows(self, codes: Codes) -> Floats:
        # The sets of size k that hold a category are k/t of all C(t, k).
        return np.asarray(self.integers(codes) / self.whole * (len(self.categories) / self.space.size))

    def _draw(self, truth: Truth, source: Source) -> Codes:
        t, k, n = len(self.categories), self.size, len(truth)
        holds_truth, first = source.below(self.whole, n) < self.inside * k, t - 1 - k
        candidate_draws = np.array([source.below(last + 1, n) for last in range(first, t - 1)])
        place = np.where(holds_truth, source.below(k, n), -1)
        codes = np.zeros((n, self.space.width), dtype=np.int64)
        if n >= _WORTH_COMPILING and find_spec("numba") is not None:
            from naysay.design.compiled import write_sets

            write_sets(candidate_draws, first, truth, place, codes, WORD)
            return codes
        rows, is_taken = np.arange(n), np.zeros((t - 1, n), dtype=bool)
        for step, candidates in enumerate(candidate_draws):
            candidates[is_taken[candidates, rows]] = first + step
            is_taken[candidates, rows] = True
        candidate_draws += candidate_draws >= truth
        candidate_draws[place[holds_truth], rows[holds_truth]] = truth[holds_truth]
        for named_category in candidate_draws:
            codes[rows, named_category // WORD] |= 1 << (named_category % WORD)
        return codes

    @property
    def keeps_sums(self) -> bool:
        return not self.space.listable

    @property
    def moments_only(self) -> str:
        return "" if self.space.listable else SUMS_ONLY

    def told_bits(self, prior: Floats) -> float | None:
        """Under equal shares every set speaks for the same share."""
        if (prior != prior[0]).any():
            return super().told_bits(prior)
        t = len(prior)
        return bits(np.array([self.size / t]), np.array([t / self.whole]), self.inside, self.outside)

    def products(self, measure: Floats) -> Floats:
        t, k, total = len(self.categories), self.size, measure.sum()
        p, q = map(float, self.chances_named)
        among = p * (k - 1) / (t - 1)
        others = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / ((t - 1) * (t - 2)) if t > 2 else 0.0
        pair = measure[:, None] + measure
        return pairs(pair * among, (total - pair) * others, q * total + (p - q) * measure)

    def guessed(self, prior: Floats) -> float:
        """Σ_S max(a max_S π, b max_{∉ S} π) / …: only the likeliest category of S matters, and the likeliest of all."""
        t, k, ranked = len(prior), self.size, np.sort(prior)[::-1]
        best = np.maximum(self.inside * ranked, self.outside * ranked[0])
        chances = [math.comb(t - 1 - place, k - 1) / math.comb(t, k) for place in range(t - k + 1)]
        return float(math.fsum(best[: t - k + 1] * chances) * t / self.whole)


def bits(shares: Floats, scale: Floats, inside: float, outside: float) -> float:
    """I(X; Y) = Σ_y Σ_j π_j P(y | j) log₂ (P(y | j) / P(y)), from the share of people for whom each y speaks."""
    outer = np.maximum(1 - shares, 0.0)
    mean = inside * shares + outside * outer
    terms = inside * shares * np.log2(inside / mean) + outside * outer * np.log2(outside / mean)
    return float(scale @ terms)


_WHOLE = 2**32


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Unary(Pure):
    """A bit for each category: one with chance p for the true category, and with chance q for each other.

    Parameters
    ----------
    own, other : int
        p and q in units of 2⁻³², with own > other.

    Examples
    --------
    >>> design = Unary.of(("a", "b"), own=2**31, other=2**30)
    >>> design.even_mean, design.odds
    ((0.25, 0.25), (3, 1))
    """

    own: int
    other: int
    space: Bits
    kind: ClassVar[str] = "unary"
    rule: ClassVar[str] = (
        "For each category, in order, draw u below 2^32; the category is named if u < own for the true category, and "
        "if u < other for any other. The response is the set of named categories; as text, in the order of the "
        "categories, joined by ';'; the empty set is ';'."
    )

    def __post_init__(self) -> None:
        if not 0 < integer(self.other) < integer(self.own) < _WHOLE:
            raise DesignError(f"0 < other < own < 2**32 must hold; got own={self.own}, other={self.other}")

    @classmethod
    def of(cls, categories: Sequence[Any], own: int, other: int, **fields: Any) -> Self:
        labels = tuple(categories)
        return cls(categories=labels, space=Bits(labels), own=own, other=other, **fields)

    @cached_property
    def odds(self) -> tuple[int, int]:
        ratio = Fraction(self.own * (_WHOLE - self.other), self.other * (_WHOLE - self.own))
        return ratio.numerator, ratio.denominator

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """The bit of the true category, and that of another."""
        p, q = self.chances_named
        return (p, q, 2), (1 - q, 1 - p, 2)

    def faded(self, keep: int, whole: int) -> Unary:
        half = _WHOLE // 2
        own_weight, other_weight = (half + Fraction(keep * (weight - half), whole) for weight in (self.own, self.other))
        if own_weight.denominator > 1 or other_weight.denominator > 1:
            raise DesignError(
                "the chances of both steps together must be multiples of 2**-32; designs.remembered() finds steps for "
                "any two values of ε"
            )
        return replace(self, own=int(own_weight), other=int(other_weight), name="", notes=())

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        is_named = self.space.statistic(codes) == 1
        for place in range(len(self.categories)):
            stays = source.below(whole, len(codes)) < keep
            is_named[:, place] = np.where(stays, is_named[:, place], source.below(2, len(codes)) == 1)
        return self.space.pack(is_named)

    @property
    def chances_named(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, _WHOLE), Fraction(self.other, _WHOLE)

    def integers(self, codes: Codes) -> NDArray[Any]:
        return np.where(
            self.space.statistic(codes) == 1, *(np.array(chance_weight, dtype=object) for chance_weight in self.odds)
        )

    def rows(self, codes: Codes) -> Floats:
        """C(y) (p/q) if the category is named, and C(y) (1-p)/(1-q) otherwise; C(y) = q^s (1-q)^(t-s), with s named."""
        p, q = map(float, self.chances_named)
        is_named = self.space.statistic(codes)
        size = is_named.sum(axis=1, keepdims=True)
        scale = np.exp(size * np.log(q) + (len(self.categories) - size) * np.log1p(-q))
        return np.asarray(scale * np.where(is_named == 1, p / q, (1 - p) / (1 - q)))

    @property
    def typical_codes(self) -> Codes:
        is_named = np.zeros((1, len(self.categories)), dtype=bool)
        is_named[0, 0] = True
        return self.space.pack(is_named)

    def _draw(self, truth: Truth, source: Source) -> Codes:
        is_named = np.empty((len(truth), len(self.categories)), dtype=bool)
        for place in range(len(self.categories)):
            draws = source.below(_WHOLE, len(truth))
            is_named[:, place] = draws < np.where(truth == place, self.own, self.other)
        return self.space.pack(is_named)

    @property
    def keeps_sums(self) -> bool:
        return not self.space.listable

    @property
    def moments_only(self) -> str:
        return "" if self.space.listable else SUMS_ONLY

    def told_bits(self, prior: Floats) -> float | None:
        """For a uniform prior the sum over the sizes of sets, otherwise over drawn responses."""
        if (prior != prior[0]).any():
            return super().told_bits(prior)
        (p, q), t = map(float, self.chances_named), len(prior)
        return bits(np.arange(t + 1) / t, _binomial(t, q), p / q, (1 - p) / (1 - q))

    def guessed(self, prior: Floats) -> float:
        """The sum over the likeliest named category, by its rank r: the first r bits are zero and the next is one."""
        (p, q), ranked = map(float, self.chances_named), np.sort(prior)[::-1]
        first = q * (1 - q) ** np.arange(len(prior))
        best = np.maximum(p / q * ranked, (1 - p) / (1 - q) * ranked[0])
        return float(first @ best + (1 - q) ** len(prior) * (1 - p) / (1 - q) * ranked[0])

    def diagnosed(self, part: Any) -> Diagnostic | None:
        """One bit of chance p and t - 1 bits of chance q, whatever the truth."""
        t, (p, q) = len(self.categories), map(float, self.chances_named)
        sizes = part.sizes if part.summed else np.bincount(self.space.sizes(part.codes), part.count, minlength=t + 1)
        others = np.pad(_binomial(t - 1, q), 1)
        chances = p * others[:-1] + (1 - p) * others[1:]
        return of_counts(np.rint(sizes).astype(np.int64), chances, "sizes of sets come as often as published")

    def products(self, measure: Floats) -> Floats:
        """Bits are independent given the category: E[T_u T_v] = q² + (π_u + π_v) q (p - q)."""
        p, q = map(float, self.chances_named)
        total = measure.sum()
        result = q * q * total + q * (p - q) * (measure[:, None] + measure)
        np.fill_diagonal(result, q * total + (p - q) * measure)
        return np.asarray(result)


def _binomial(n: int, q: float) -> Floats:
    """The chances of 0, 1, …, n ones among n bits, (n + 1,)."""
    k, log = np.arange(n + 1), scipy.special.gammaln
    return np.asarray(np.exp(log(n + 1) - log(k + 1) - log(n - k + 1) + k * np.log(q) + (n - k) * np.log1p(-q)))
