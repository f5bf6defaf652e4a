"""A part of a tally: the distinct answers given under one design, and how often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.responses import Codes, Space

__all__ = ["ARRAYS", "Channel", "Part", "unique_codes"]

ARRAYS = ("codes", "count", "weight", "weight_squared")
"""The arrays of a part, one entry for each distinct answer."""


class Channel(Protocol):
    """What a tally needs to know about a design."""

    @property
    def categories(self) -> tuple[Any, ...]: ...
    @property
    def space(self) -> Space: ...
    @property
    def expected_statistic(self) -> NDArray[np.float64]: ...
    @property
    def even_mean(self) -> tuple[float, float] | None: ...
    @property
    def tabular(self) -> bool: ...
    @property
    def one_pattern(self) -> bool: ...
    @property
    def matrix(self) -> NDArray[np.float64]: ...
    def rows(self, codes: Codes) -> NDArray[np.float64]: ...
    def form(self) -> dict[str, Any]: ...
    def impossible(self, codes: Codes) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, eq=False)
class Part:
    """Distinct answers given under one design.

    Parameters
    ----------
    design : Channel
        The design, a single channel.
    level : label or None
        The level at which these answers were given.
    codes : (distinct, width) int
        Distinct answers, sorted.
    count : (distinct,) int
        How many respondents gave each answer.
    weight, weight_squared : (distinct,) float
        Sum of their survey weights, and sum of the squared weights.
    missing : int
        How many respondents gave no answer.
    missing_weight : float
        The sum of their weights.
    """

    design: Channel
    level: Any
    codes: Codes
    count: NDArray[np.int64]
    weight: NDArray[np.float64]
    weight_squared: NDArray[np.float64]
    missing: int = 0
    missing_weight: float = 0.0

    def __post_init__(self) -> None:
        for name in ARRAYS:
            object.__setattr__(self, name, _checks.read_only(np.asarray(getattr(self, name))))

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return int(self.count.sum())

    @property
    def effective(self) -> float:
        """How many unweighted answers would be as precise: (Σw)²/Σw² (Kish 1965)."""
        return float(self.weight.sum() ** 2 / self.weight_squared.sum())

    @classmethod
    def of(
        cls,
        design: Channel,
        codes: Codes,
        *,
        level: Any = None,
        count: NDArray[np.int64],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> Part:
        """The part that these rows of answers make.

        Each row stands for `count` people. `weights` holds the sums of their weights and of the squared weights;
        without survey weights, both are the counts.
        """
        each = count.astype(np.float64)
        weight, weight_squared = (each, each) if weights is None else weights
        gone = design.space.missing(codes)
        missing, missing_weight = int(count[gone].sum()), float(weight[gone].sum())
        keep = ~gone & (count > 0)
        distinct, inverse = unique_codes(codes[keep])
        impossible = design.impossible(distinct)
        if impossible.any():
            answer = design.space.texts(distinct[impossible.argmax()].reshape(1, -1))[0]
            raise DataError(
                f"nobody can have answered {answer!r}: under this design no category gives it", value=answer
            )

        def total(amounts: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(inverse, amounts[keep], minlength=len(distinct)).astype(np.float64)

        people = np.rint(total(count)).astype(np.int64)
        return cls(design, level, distinct, people, total(weight), total(weight_squared), missing, missing_weight)

    def places(self, codes: Codes) -> NDArray[np.intp]:
        """The place of each of these codes among the distinct answers; -1 for a code that is not there."""
        distinct, inverse = unique_codes(np.vstack([self.codes, codes]))
        found = np.full(len(distinct), -1, dtype=np.intp)
        found[inverse[: len(self.codes)]] = np.arange(len(self.codes))
        return np.asarray(found[inverse[len(self.codes) :]])

    def plus(self, other: Part) -> Part:
        """Both parts' answers together."""
        both = ([getattr(each, name) for each in (self, other)] for name in ARRAYS)
        codes, count, weight, squared = map(np.concatenate, both)
        merged = Part.of(self.design, codes, level=self.level, count=count, weights=(weight, squared))
        missing = self.missing + other.missing, self.missing_weight + other.missing_weight
        return replace(merged, missing=missing[0], missing_weight=missing[1])


def unique_codes(codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """Sorted distinct codes, and for each code its place among them."""
    if codes.shape[1] == 1:
        values, inverse = np.unique(codes[:, 0], return_inverse=True)
        return values.reshape(-1, 1), inverse.reshape(-1)
    order = np.lexsort(codes.T[::-1])
    ranked = codes[order]
    new = np.ones(len(codes), dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    inverse = np.empty(len(codes), dtype=np.intp)
    inverse[order] = np.cumsum(new) - 1
    return ranked[new], inverse
