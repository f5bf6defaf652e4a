"""Affine designs: local hashing by every linear hash, so that a tally of counts is complete and its variance exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.chances import Diagnostic, Truth, uniform
from naysay.design.drawing import Source, system
from naysay.design.exact import flag, integer
from naysay.design.pure import ByOdds, bits, pairs
from naysay.errors import AnswerError, DesignError
from naysay.responses import Affine, Codes, name_of

Floats = NDArray[np.float64]

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
    >>> design.space.size, design.even_mean
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
        cls, categories: Sequence[Any], base: int, *, inside: int, outside: int, named: bool = False, **fields: Any
    ) -> Self:
        labels, space = tuple(categories), Affine(tuple(categories), integer(base), flag(named))
        return cls(categories=labels, space=space, base=base, named=named, inside=inside, outside=outside, **fields)

    def about(self, candidates: Sequence[Any]) -> AffineHash:
        """The same design of an open domain, estimated for these texts."""
        if not self.named:
            raise DesignError("only a design of an open domain takes candidates; this one has its categories")
        labels = _checks.categories(candidates, least=1, what="candidates")
        return replace(self, categories=labels, space=Affine(labels, self.base, named=True))

    def form(self) -> dict[str, Any]:
        # The candidates change no response, so that equal designs of open domains have equal forms.
        return super().form() | ({"categories": []} if self.named else {})

    def positions(self, truth: Any, source: Source = system) -> Truth:
        if not self.named:
            return super().positions(truth, source)
        cells = list(truth)
        for row, cell in enumerate(cells):
            if not _checks.is_missing(cell) and not isinstance(cell, str):
                problem = f"is {cell!r}; a category of an open domain is a text"
                raise AnswerError(problem, row=row, total=len(cells), value=cell)
            if isinstance(cell, str) and any("\ud800" <= letter <= "\udfff" for letter in cell):
                problem = f"is {cell!r}, which holds half a character; give whole text"
                raise AnswerError(problem, row=row, total=len(cells), value=cell)
        return np.array([-1 if _checks.is_missing(cell) else name_of(cell) for cell in cells], dtype=np.int64)

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
    def chances_named(self) -> tuple[Fraction, Fraction]:
        p, other = Fraction(self.inside, self.whole), Fraction(self.outside, self.whole)
        reach = self.base**self.space.digits
        collide = Fraction(reach // self.base - 1, reach - 1)
        return p, collide * p + (1 - collide) * other

    def rows(self, codes: Codes) -> Floats:
        return np.asarray(self.integers(codes) / self.whole / self.space.hashes)

    @property
    def typical_codes(self) -> Codes:
        """All responses; if too many, one that speaks for the fewest categories, which moves their odds most."""
        if self.named:
            return np.zeros((1, 1), dtype=np.int64)
        if self.space.size * len(self.categories) <= _MANY:
            return self.space.listing()
        sizes = self.space.over_supports(np.ones(len(self.categories), dtype=np.int64), np.add, 0)
        return np.array([[np.where(sizes > 0, sizes, len(self.categories)).argmin()]])

    def _draw(self, truth: Truth, source: Source) -> Codes:
        hashes = source.below(self.space.hashes, len(truth))
        draws = source.below(self.whole, len(truth))
        true_values = self.space.values(hashes, truth).astype(np.int64)
        other_values = (draws - self.inside) // self.outside
        other_values += other_values >= true_values
        return (hashes * self.base + np.where(draws < self.inside, true_values, other_values)).reshape(-1, 1)

    def products(self, measure: Floats) -> Floats | None:
        """E[T_u T_v] depends on the share of the line through u and v: hashes that agree there agree on all of it."""
        if self.named:
            return None  # the line through two names holds texts that are no candidates
        g, reach, numbers = self.base, self.base**self.space.digits, self.space.numbers
        p, other = self.inside / self.whole, self.outside / self.whole
        chance_of_two = (reach // g - 1) / (reach - 1)
        chance_of_three = (reach // g**2 - 1) / (reach - 1) if self.space.digits > 1 else 0.0
        line = measure[:, None] + measure
        padded_measure = np.zeros(reach)
        padded_measure[: len(measure)] = measure
        for step in range(2, g):
            line += padded_measure[_combine_digits(numbers, step, g)]
        alike = chance_of_three * p + (chance_of_two - chance_of_three) * other
        _, q = map(float, self.chances_named)
        diagonal = q * measure.sum() + (p - q) * measure
        return pairs(alike * measure.sum(), (chance_of_two - chance_of_three) * (p - other) * line, diagonal)

    @cached_property
    def moments_only(self) -> str:
        if self.named:
            return "the candidates of an open domain need not be all categories, so that shares need not sum to one"
        if not (self.space.listable and self.space.quick):
            return f"the likelihood of {self.space.size:,} responses takes long"
        return ""

    @cached_property
    def by_transform(self) -> Any:
        if self.moments_only or self.space.size * len(self.categories) <= _ROWS:
            return None
        rows, codes = self.space.size, self.space.listing()
        a, b = (chance_weight / self.whole / self.space.hashes for chance_weight in self.odds)

        def chances(measure: Any) -> Floats:
            values = np.ravel(measure)
            return np.asarray(b * values.sum() + (a - b) * self.space.over_supports(values, np.add, 0.0))

        def speaking(amounts: Any) -> Floats:
            values = np.ravel(amounts)
            return np.asarray(b * values.sum() + (a - b) * self.space.total(codes, values))

        shape = (rows, len(self.categories))
        return scipy.sparse.linalg.LinearOperator(shape, matvec=chances, rmatvec=speaking, dtype=float)

    def diagnosed(self, part: Any) -> Diagnostic | None:
        """Every hash is equally likely, whatever the truth."""
        if part.summed:
            return None
        hashes, place = np.unique(part.codes[:, 0] // self.base, return_inverse=True)
        hash_counts = np.rint(np.bincount(place, part.count, minlength=len(hashes))).astype(np.int64)
        return uniform(hash_counts, self.space.hashes, "all hashes are equally common")

    def guessed(self, prior: Floats) -> float:
        if self.named:
            return super().guessed(prior)
        first = self.space.over_supports(prior, np.maximum, 0.0)
        return float(np.maximum(self.inside * first, self.outside * prior.max()).sum() / self.whole / self.space.hashes)

    @property
    def _places(self) -> NDArray[np.int64]:
        return self.space.numbers

    def told_bits(self, prior: Floats) -> float | None:
        if self.named:
            return super().told_bits(prior)
        shares = self.space.over_supports(prior, np.add, 0.0)
        return bits(shares, np.ones(len(shares)) / self.whole / self.space.hashes, self.inside, self.outside)


def _combine_digits(numbers: NDArray[np.int64], step: int, base: int) -> NDArray[np.int64]:
    """U + step (v - u), digit by digit modulo the base, for all pairs of numbers."""
    result, power, rest = np.zeros((len(numbers),) * 2, dtype=np.int64), 1, numbers
    while rest.any():
        rest, digit = np.divmod(rest, base)
        result += power * ((digit[:, None] + step * (digit - digit[:, None])) % base)
        power *= base
    return result
