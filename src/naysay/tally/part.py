"""A part of a tally: the distinct answers given under one design, and how often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.responses import Codes, Space

ARRAYS = ("codes", "count", "weight", "weight_squared")
"""The arrays of a part, one entry for each distinct answer."""

_COUNTABLE = 2**22  # where codes are smaller, an array with a counter for each is quicker than sorting answers
_MOST = 2**53  # largest number of people: above it floating point skips whole numbers


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
    def pure(self) -> bool: ...
    @property
    def keeps_sums(self) -> bool: ...
    @property
    def moments_only(self) -> str: ...
    @property
    def matrix(self) -> NDArray[np.float64]: ...
    def rows(self, codes: Codes) -> NDArray[np.float64]: ...
    def form(self) -> dict[str, Any]: ...
    def impossible(self, codes: Codes) -> NDArray[np.bool_]: ...
    def products(self, measure: NDArray[np.float64]) -> NDArray[np.float64] | None: ...
    def diagnosed(self, part: Any) -> Any: ...


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

    arrays: ClassVar[tuple[str, ...]] = ARRAYS
    """The arrays of the part, as they are stored."""

    summed: ClassVar[bool] = False
    """Whether it keeps sums in place of answers."""

    def __post_init__(self) -> None:
        for name in ARRAYS:
            object.__setattr__(self, name, _checks.read_only(np.asarray(getattr(self, name))))
        check_size(self.count)

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return int(self.count.sum())

    @property
    def distinct(self) -> int | None:
        """How many distinct answers it holds."""
        return len(self.codes)

    @property
    def alike(self) -> bool:
        """Whether everybody gave the same answer, although other answers were possible."""
        return len(self.codes) == 1 and self.design.space.size > 1

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
        check_size(count)
        float_count = count.astype(np.float64)
        weight, weight_squared = (float_count, float_count) if weights is None else weights
        missing_rows = design.space.missing(codes)
        missing, missing_weight = int(count[missing_rows].sum()), float(weight[missing_rows].sum())
        kept_rows = ~missing_rows & (count > 0)
        distinct, inverse = unique_codes(codes[kept_rows])
        impossible = design.impossible(distinct)
        if impossible.any():
            answer = design.space.texts(distinct[impossible.argmax()].reshape(1, -1))[0]
            raise DataError(
                f"nobody can have answered {answer!r}: under this design no category gives it", value=answer
            )

        def total(amounts: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(inverse, amounts[kept_rows], minlength=len(distinct)).astype(np.float64)

        people = np.rint(total(count)).astype(np.int64)
        return cls(design, level, distinct, people, total(weight), total(weight_squared), missing, missing_weight)

    @classmethod
    def counted(cls, design: Channel, codes: Codes, *, level: Any = None) -> Part:
        """The part of answers that come without counts and weights, one row a person."""
        space = design.space
        # The largest code, not the number of responses: few subsets of fifty categories are masks of fifty bits, too.
        if not (space.width == 1 and len(codes) and codes.max() < _COUNTABLE):
            return cls.of(design, codes, level=level, count=np.ones(len(codes), dtype=np.int64))
        answer_codes, missing = codes[:, 0], 0
        try:
            frequencies = np.bincount(answer_codes)
        except ValueError:  # codes below 0 are missing answers
            answer_codes = answer_codes[answer_codes >= 0]
            frequencies, missing = np.bincount(answer_codes), len(codes) - len(answer_codes)
        distinct = np.flatnonzero(frequencies)
        people = frequencies[distinct].astype(np.int64)
        part = cls.of(design, distinct.astype(np.int64).reshape(-1, 1), level=level, count=people)
        return replace(part, missing=missing, missing_weight=float(missing))

    def total(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Σ w T and Σ w² T of the statistic T, (d,) each; whole numbers if there are no survey weights."""
        space, counts = self.design.space, self.count
        if (self.weight == counts).all() and (self.weight_squared == counts).all():
            totals = space.total(self.codes, counts)
            return totals, totals
        return space.total(self.codes, self.weight), space.total(self.codes, self.weight_squared)

    def places(self, codes: Codes) -> NDArray[np.intp]:
        """The place of each of these codes among the distinct answers; -1 for a code that is not there."""
        distinct, inverse = unique_codes(np.vstack([self.codes, codes]))
        place_of_code = np.full(len(distinct), -1, dtype=np.intp)
        place_of_code[inverse[: len(self.codes)]] = np.arange(len(self.codes))
        return np.asarray(place_of_code[inverse[len(self.codes) :]])

    def plus(self, other: Part) -> Part:
        """Both parts' answers together."""
        if other.summed:
            raise DataError("one of the two tallies keeps sums and the other one answers; tally both alike")
        joint_arrays = ([getattr(part, name) for part in (self, other)] for name in ARRAYS)
        codes, count, weight, squared = map(np.concatenate, joint_arrays)
        merged = Part.of(self.design, codes, level=self.level, count=count, weights=(weight, squared))
        missing = self.missing + other.missing, self.missing_weight + other.missing_weight
        return replace(merged, missing=missing[0], missing_weight=missing[1])

    def minus(self, other: Part) -> Part:
        """The part without the answers of another, all of which it must hold."""
        if other.summed:
            raise DataError("one of the two tallies keeps sums and the other one answers; tally both alike")
        remaining_arrays = {name: getattr(self, name).copy() for name in ARRAYS[1:]}
        places = self.places(other.codes)
        held_counts = np.where(places < 0, 0, self.count[places])
        if (held_counts < other.count).any():
            worst = int((held_counts < other.count).argmax())
            answer = self.design.space.texts(other.codes[worst : worst + 1])[0]
            times_text = _checks.several(held_counts[worst], "time", "times")
            raise DataError(
                f"answer {answer!r} was given {times_text}; {other.count[worst]:,} cannot be taken off", value=answer
            )
        if self.missing < other.missing:
            raise DataError(f"{self.missing:,} answers are missing; {other.missing:,} cannot be taken off")
        for name, amounts in remaining_arrays.items():
            amounts[places] -= getattr(other, name)
        kept_rows = remaining_arrays["count"] > 0
        kept_arrays = {name: amounts[kept_rows] for name, amounts in remaining_arrays.items()}
        if any((kept_arrays[name] <= 0).any() for name in ("weight", "weight_squared")):
            raise DataError("the answers to be taken off weigh more than those that are held")
        missing = self.missing - other.missing
        weight = self.missing_weight - other.missing_weight if missing else 0.0
        return replace(self, codes=self.codes[kept_rows], **kept_arrays, missing=missing, missing_weight=weight)


def check_size(count: NDArray[np.int64]) -> None:
    """Raise unless counts are at least zero, and together people who can be counted exactly."""
    people = float(count.sum(dtype=float))  # integers would overflow without a sound; floats skip 2**53 + 1
    if len(count) and count.min() < 0:
        raise DataError(f"counts must not be negative; got {count.min():,}", value=int(count.min()))
    if people > _MOST or int(count.sum()) > _MOST:
        raise DataError(f"a tally holds at most 2**53 answers; these would be {people:,.0f}", value=people)


def unique_codes(codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """Sorted distinct codes, and for each code its place among them."""
    if codes.shape[1] == 1:
        values, inverse = np.unique(codes[:, 0], return_inverse=True)
        return values.reshape(-1, 1), inverse.reshape(-1)
    order = np.lexsort(codes.T[::-1])
    ranked = codes[order]
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    inverse = np.empty(len(codes), dtype=np.intp)
    inverse[order] = np.cumsum(is_first) - 1
    return ranked[is_first], inverse
