"""Pure designs: a response speaks for a set of categories, its support, and its chance knows only two cases.

P(y | j) = c a where the support S(y) holds j, and c b otherwise, with integers a > b; in `Unary`, c depends on y. So
the chance p* that a response speaks for the true category is the same for all categories, and so is the chance q* that
it speaks for a given other one. The mean of T_v = [v ∈ S(y)] is q* + (p* - q*) π_v: the estimate, its variance and the
intervals need no matrix. ε = ln(a / b), read from the integers (Wang, Blocki, Li & Jha 2017; Ye & Barg 2018).

`SubsetSelection` reports a set, `Unary` one bit for each category, for aggregators that can only add bits. `AffineHash`
is local hashing by every linear hash, so that a tally of counts is complete and its variance exact. Every sampler draws
the same number of integers for every truth: whoever counts bytes or time learns nothing. What must hold of reports
whatever the proportions are, `client_test` in `naysay.estimate.likelihood` tests.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._checks import whole
from naysay._counts import Sums, Tally
from naysay._values import Array, Floats, JsonObject, Label
from naysay.design.algebra import Memorable
from naysay.design.base import Design, Structure, Truth
from naysay.design.channels import MANY
from naysay.design.drawing import LIMIT, Source, blended, blocks, flag, integer, system
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import WORD, Affine, Bits, Codes, Space, Subsets, cells_of, name_of

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

MOST_NUMBERED = 10_000_000
"""More categories than this take too long to list."""

SUMS_ONLY = "a tally of this design keeps sums, because nearly every respondent gives another set"
_WORTH_COMPILING = 2_000  # responses from which on compiled code pays, which takes a while to load
_DRAWS, _SEED = 100_000, 2006  # Monte Carlo draws for the information of responses too many to list


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pure(Memorable):
    """What pure designs share: everything that follows from a : b, p* and q*."""

    @property
    @abstractmethod
    def odds(self) -> tuple[int, int]:
        """(a, b): the odds of a response whose support holds the truth against one whose support does not."""

    @property
    @abstractmethod
    def named_chances(self) -> tuple[Fraction, Fraction]:
        """(p*, q*): the chances that a response speaks for the true category, and for a given other one."""

    @cached_property
    def structure(self) -> Structure:
        return self._structure()

    def _structure(self, **more: Any) -> Structure:
        return Structure(
            self,
            pure=True,
            all_possible=True,
            odds=self.odds,
            named_chances=self.named_chances,
            mean=self._even_mean,
            **more,
        )

    def _even_mean(self) -> tuple[float, float]:
        """(p* - q*, q*)."""
        p, q = self.named_chances
        return float(p - q), float(q)

    @property
    def supported(self) -> tuple[int, int]:
        """The least and the greatest number of categories that a response can speak for."""
        return 0, len(self.categories)

    @cached_property
    def expected_statistic(self) -> Floats:
        alpha, beta = self._even_mean()
        return _checks.read_only(alpha * np.eye(len(self.categories)) + beta)

    def integers(self, codes: Codes) -> Array:
        return np.where(self.space.statistic(codes) == 1, *self.odds)

    def draw(self, truth: Truth, source: Source) -> Codes:
        """The responses, drawn block by block."""
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for rows in blocks(len(truth)):
            codes[rows] = self._draw(truth[rows], source)
        return codes

    @abstractmethod
    def _draw(self, truth: Truth, source: Source) -> Codes: ...

    @property
    def truth_numbers(self) -> NDArray[np.int64]:
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
            impossible_place = int((report_counts > n).argmax())
            raise DataError(
                f"{report_counts[impossible_place]:,} reports speak for {self.categories[impossible_place]!r}, and "
                f"there are only {n:,}; is n the number of all reports, and is each one added once?",
                row=impossible_place,
                value=int(report_counts[impossible_place]),
            )
        (fewest_named, most_named), set_sizes = self.supported, np.zeros(len(report_counts) + 1, dtype=np.int64)
        if not fewest_named * n <= report_counts.sum() <= most_named * n:
            categories_text = _checks.several(fewest_named, "category", "categories")
            raise DataError(
                f"each report speaks for {categories_text}, so that {n:,} reports add up to {fewest_named * n:,}; "
                f"these add up to {report_counts.sum():,}: a client lies, or reports of another design are among them",
                value=int(report_counts.sum()),
            )
        if fewest_named == most_named:
            set_sizes[fewest_named] = n
        report_total = np.array([n])
        return Tally(
            (
                Sums(
                    self,
                    None,
                    report_total,
                    report_total * 1.0,
                    report_total * 1.0,
                    report_counts,
                    report_counts,
                    set_sizes,
                ),
            )
        )

    def form(self) -> dict[str, Any]:
        return super().form() | {"categories": domain_form(self.categories)}

    @classmethod
    def _of_form(cls, node: JsonObject) -> Design:
        return super()._of_form({**node, "categories": domain_of(node["categories"])})


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


def domain_form(categories: tuple[Label, ...]) -> Any:
    """The categories as JSON: by their number where they are 0, 1, …, and many."""
    numbered = len(categories) > MANY and categories == tuple(range(len(categories)))
    return {"size": len(categories)} if numbered else list(categories)


def domain_of(node: object) -> Any:
    """What the JSON says of the categories: labels, or how many numbered ones there are."""
    if not isinstance(node, Mapping):
        return node
    return tuple(range(_checks.whole_number(integer(node["size"]), 2, MOST_NUMBERED, what="the number of categories")))


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

    @classmethod
    def of(cls, categories: Sequence[Label], size: int, *, inside: int, outside: int, **fields: Any) -> Self:
        labels, k = tuple(categories), integer(size)
        if not 1 <= k < len(labels):
            raise DesignError(f"size must lie between 1 and {len(labels) - 1} for {len(labels)} categories; got {k}")
        return cls(categories=labels, space=Subsets(labels, k, k), size=k, inside=inside, outside=outside, **fields)

    @cached_property
    def structure(self) -> Structure:
        return self._structure(exchangeable=True, **_sums_if_many(self.space))

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
        is_kept = source.below(whole, n) < keep
        is_member = np.zeros((n, t), dtype=bool)
        for last_place in range(t - self.size, t):  # Floyd's rule, as in `_draw`
            candidate_places = source.below(last_place + 1, n)
            is_member[
                np.arange(n), np.where(is_member[np.arange(n), candidate_places], last_place, candidate_places)
            ] = True
        return np.where(is_kept[:, None], codes, self.space.pack(is_member))

    @property
    def supported(self) -> tuple[int, int]:
        return self.size, self.size

    @property
    def named_chances(self) -> tuple[Fraction, Fraction]:
        p = Fraction(self.inside * self.size, self.whole)
        return p, (self.size - p) / (len(self.categories) - 1)

    def rows(self, codes: Codes) -> Floats:
        # The sets of size k that hold a category are k/t of all C(t, k).
        return np.asarray(self.integers(codes) / self.whole * (len(self.categories) / self.space.size))

    def _draw(self, truth: Truth, source: Source) -> Codes:
        t, k, n = len(self.categories), self.size, len(truth)
        holds_truth, first = source.below(self.whole, n) < self.inside * k, t - 1 - k
        candidate_draws = np.array([source.below(last + 1, n) for last in range(first, t - 1)])
        truth_place = np.where(holds_truth, source.below(k, n), -1)
        codes = np.zeros((n, self.space.width), dtype=np.int64)
        if n >= _WORTH_COMPILING and find_spec("numba") is not None:
            compiled_sets()(candidate_draws, first, truth, truth_place, codes, WORD)
            return codes
        row_numbers, is_taken = np.arange(n), np.zeros((t - 1, n), dtype=bool)
        for draw_number, step_candidates in enumerate(candidate_draws):
            step_candidates[is_taken[step_candidates, row_numbers]] = first + draw_number
            is_taken[step_candidates, row_numbers] = True
        candidate_draws += candidate_draws >= truth
        candidate_draws[truth_place[holds_truth], row_numbers[holds_truth]] = truth[holds_truth]
        for named_category in candidate_draws:
            codes[row_numbers, named_category // WORD] |= 1 << (named_category % WORD)
        return codes


@cache
def compiled_sets() -> Callable[..., None]:
    """`write_sets` in compiled code; needs numba (the extra `fast`)."""
    from numba import njit

    compiled: Callable[..., None] = njit(cache=True, nogil=True)(write_sets)
    return compiled


def write_sets(
    candidate_draws: NDArray[np.int64],
    first: int,
    truth: NDArray[np.int64],
    place: NDArray[np.int64],
    codes: NDArray[np.int64],
    word: int,
) -> None:  # pragma: no cover (coverage does not see compiled code; a test holds it to the plain one)
    """Write the set of each row into `codes`, which holds zeros; see `SubsetSelection.rule`.

    `candidate_draws` holds the integers of each step, (k, n), the first of them at most `first`. `place` is the drawn
    category that the truth replaces, or -1.
    """
    k, n = candidate_draws.shape
    is_taken = np.zeros(first + k + 1, dtype=np.uint8)
    set_members = np.empty(k, dtype=np.int64)
    for row_number in range(n):
        for set_place in range(k):
            candidate_place = candidate_draws[set_place, row_number]
            if is_taken[candidate_place]:
                candidate_place = first + set_place
            is_taken[candidate_place] = 1
            set_members[set_place] = candidate_place
        for set_place in range(k):
            candidate_place = set_members[set_place]
            is_taken[candidate_place] = 0
            member_category = candidate_place + 1 if candidate_place >= truth[row_number] else candidate_place
            if set_place == place[row_number]:
                member_category = truth[row_number]
            codes[row_number, member_category // word] |= 1 << (member_category % word)


def _sums_if_many(space: Space) -> dict[str, Any]:
    """What follows if there are too many responses to list: a tally keeps sums, and nothing maximizes a likelihood."""
    return {} if space.listable else {"keeps_sums": True, "moments_only": SUMS_ONLY}


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
    >>> design.structure.even_mean, design.odds
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
    def of(cls, categories: Sequence[Label], own: int, other: int, **fields: Any) -> Self:
        labels = tuple(categories)
        return cls(categories=labels, space=Bits(labels), own=own, other=other, **fields)

    @cached_property
    def structure(self) -> Structure:
        return self._structure(typical=self._typical_codes, **_sums_if_many(self.space))

    def _typical_codes(self) -> Codes:
        is_named = np.zeros((1, len(self.categories)), dtype=bool)
        is_named[0, 0] = True
        return self.space.pack(is_named)

    @cached_property
    def odds(self) -> tuple[int, int]:
        ratio = Fraction(self.own * (_WHOLE - self.other), self.other * (_WHOLE - self.own))
        return ratio.numerator, ratio.denominator

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """The bit of the true category, and that of another."""
        p, q = self.named_chances
        return (p, q, 2), (1 - q, 1 - p, 2)

    def faded(self, keep: int, whole: int) -> Unary:
        half = _WHOLE // 2
        own_weight, other_weight = (
            half + Fraction(keep * (bit_weight - half), whole) for bit_weight in (self.own, self.other)
        )
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
    def named_chances(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, _WHOLE), Fraction(self.other, _WHOLE)

    def integers(self, codes: Codes) -> Array:
        return np.where(
            self.space.statistic(codes) == 1, *(np.array(chance_weight, dtype=object) for chance_weight in self.odds)
        )

    def rows(self, codes: Codes) -> Floats:
        """C(y) (p/q) if the category is named, and C(y) (1-p)/(1-q) otherwise; C(y) = q^s (1-q)^(t-s), with s named."""
        p, q = map(float, self.named_chances)
        is_named = self.space.statistic(codes)
        named_counts = is_named.sum(axis=1, keepdims=True)
        scale = np.exp(named_counts * np.log(q) + (len(self.categories) - named_counts) * np.log1p(-q))
        return np.asarray(scale * np.where(is_named == 1, p / q, (1 - p) / (1 - q)))

    def _draw(self, truth: Truth, source: Source) -> Codes:
        is_named = np.empty((len(truth), len(self.categories)), dtype=bool)
        for place in range(len(self.categories)):
            draws = source.below(_WHOLE, len(truth))
            is_named[:, place] = draws < np.where(truth == place, self.own, self.other)
        return self.space.pack(is_named)


_MANY = 2**22  # of so many responses × categories the most telling response is sought in a list
_ROWS = 2**18  # with more responses × categories than this, a transform is quicker than likelihood rows


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AffineHash(ByOdds):
    """A random linear hash of the category over GF(g), whose value is true with odds of a to b against each other one.

    The hash is drawn from all (g^m - 1)/(g - 1), so that two categories collide with chance κ = (g^{m-1} - 1)/(g^m - 1)
    exactly, whichever they are: nothing is assumed about the quality of a hash. There are fewer than g² t/(g - 1)
    responses, so that a table of counts holds everything, and any engine can count them. With g = 2 it is Hadamard
    response.

    Parameters
    ----------
    base : int
        g, a prime.
    named : bool
        Whether any text may be a category, by its 48-bit number; the categories are then candidates, see `about`.

    Examples
    --------
    >>> design = AffineHash.of(tuple(range(9)), 3, inside=3, outside=1)
    >>> design.space.size, design.structure.even_mean
    (12, (0.3, 0.3))
    """

    base: int
    named: bool = False
    space: Affine
    kind: ClassVar[str] = "affine"
    rule: ClassVar[str] = (
        "With base g, t categories numbered from 0, truth x, inside a and outside b: m is the least number of digits "
        "with g^m >= t. Draw s below (g^m-1)/(g-1), then u below a + (g-1)*b. Let L be the largest number with "
        "(g^L-1)/(g-1) <= s; the number g^L + s - (g^L-1)/(g-1) has the digits alpha_i in base g, alpha_0 the lowest, "
        "and x the digits x_i. h is the sum of alpha_i * x_i modulo g. If u < a then y = h; otherwise let "
        "o = floor((u-a)/b), and y = o if o < h, otherwise o + 1. The response is the number s*g + y. If named is "
        "true, t is 2^48, and x is the first 6 bytes, big-endian, of SHA-256 of the text in NFC and UTF-8."
    )

    @classmethod
    def of(
        cls, categories: Sequence[Label], base: int, *, inside: int, outside: int, named: bool = False, **fields: Any
    ) -> Self:
        labels, space = tuple(categories), Affine(tuple(categories), integer(base), flag(named))
        return cls(categories=labels, space=space, base=base, named=named, inside=inside, outside=outside, **fields)

    def about(self, candidates: Sequence[Label]) -> AffineHash:
        """The same design of an open domain, estimated for these texts."""
        if not self.named:
            raise DesignError("only a design of an open domain takes candidates; this one has its categories")
        labels = _checks.categories(candidates, least=1, what="candidates")
        return replace(self, categories=labels, space=Affine(labels, self.base, named=True))

    def form(self) -> dict[str, Any]:
        # The candidates change no response, so that equal designs of open domains have equal forms.
        return super().form() | ({"categories": []} if self.named else {})

    @cached_property
    def structure(self) -> Structure:
        return self._structure(moments_only=self.moments_only, typical=self._typical_codes, transform=self._transform)

    @cached_property
    def moments_only(self) -> str:
        if self.named:
            return "the candidates of an open domain need not be all categories, so that shares need not sum to one"
        if not (self.space.listable and self.space.quick):
            return f"the likelihood of {self.space.size:,} responses takes long"
        return ""

    def _typical_codes(self) -> Codes:
        """All responses; if too many, one that speaks for the fewest categories, which moves their odds most."""
        if self.named:
            return np.zeros((1, 1), dtype=np.int64)
        if self.space.size * len(self.categories) <= _MANY:
            return self.space.listing()
        sizes = self.space.over_supports(np.ones(len(self.categories), dtype=np.int64), np.add, 0)
        return np.array([[np.where(sizes > 0, sizes, len(self.categories)).argmin()]])

    def _transform(self) -> LinearOperator | None:
        if self.moments_only or self.space.size * len(self.categories) <= _ROWS:
            return None
        response_count, codes = self.space.size, self.space.listing()
        a, b = (chance_weight / self.whole / self.space.hashes for chance_weight in self.odds)

        def chances(measure: Floats) -> Floats:
            values = np.ravel(measure)
            return np.asarray(b * values.sum() + (a - b) * self.space.over_supports(values, np.add, 0.0))

        def speaking(amounts: Floats) -> Floats:
            values = np.ravel(amounts)
            return np.asarray(b * values.sum() + (a - b) * self.space.total(codes, values))

        shape = (response_count, len(self.categories))
        return scipy.sparse.linalg.LinearOperator(shape, matvec=chances, rmatvec=speaking, dtype=float)

    def _positions(self, truth: object, source: Source = system) -> Truth:
        if not self.named:
            return super()._positions(truth, source)
        truth_cells = list(cells_of(truth))
        for row_number, truth_cell in enumerate(truth_cells):
            if not _checks.is_missing(truth_cell) and not isinstance(truth_cell, str):
                problem = f"is {truth_cell!r}; a category of an open domain is a text"
                raise AnswerError(problem, row=row_number, total=len(truth_cells), value=truth_cell)
            if isinstance(truth_cell, str) and any("\ud800" <= letter <= "\udfff" for letter in truth_cell):
                problem = f"is {truth_cell!r}, which holds half a character; give whole text"
                raise AnswerError(problem, row=row_number, total=len(truth_cells), value=truth_cell)
        return np.array(
            [-1 if _checks.is_missing(truth_cell) else name_of(truth_cell) for truth_cell in truth_cells],
            dtype=np.int64,
        )

    @property
    def copies(self) -> tuple[int, int]:
        return 1, self.base - 1

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """The value of the hash; the hash itself says nothing of the truth, and stays."""
        return ((Fraction(self.inside, self.whole), Fraction(self.outside, self.whole), self.base),)

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        stays = source.below(whole, len(codes)) < keep
        value = source.below(self.base, len(codes))
        return np.where(stays, codes[:, 0], codes[:, 0] // self.base * self.base + value).reshape(-1, 1)

    @property
    def named_chances(self) -> tuple[Fraction, Fraction]:
        p, other_chance = Fraction(self.inside, self.whole), Fraction(self.outside, self.whole)
        vector_count = self.base**self.space.digits
        collision_chance = Fraction(vector_count // self.base - 1, vector_count - 1)
        return p, collision_chance * p + (1 - collision_chance) * other_chance

    def rows(self, codes: Codes) -> Floats:
        return np.asarray(self.integers(codes) / self.whole / self.space.hashes)

    def _draw(self, truth: Truth, source: Source) -> Codes:
        hash_numbers = source.below(self.space.hashes, len(truth))
        draws = source.below(self.whole, len(truth))
        true_values = self.space.values(hash_numbers, truth).astype(np.int64)
        other_values = (draws - self.inside) // self.outside
        other_values += other_values >= true_values
        return (hash_numbers * self.base + np.where(draws < self.inside, true_values, other_values)).reshape(-1, 1)

    @property
    def truth_numbers(self) -> NDArray[np.int64]:
        return self.space.numbers


def binomial(n: int, q: float) -> Floats:
    """The chances of 0, 1, …, n ones among n bits, (n + 1,)."""
    k, log = np.arange(n + 1), scipy.special.gammaln
    return np.asarray(np.exp(log(n + 1) - log(k + 1) - log(n - k + 1) + k * np.log(q) + (n - k) * np.log1p(-q)))
