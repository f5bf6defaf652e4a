"""What was said, counted: distinct answers and how often each was given, in a tally that can be added and saved.

A tally has one part for each design, or level of it, under which people answered. A `Part` holds distinct answers.
`Sums` keep sums in place of answers, and are as large as their design, whatever the number of respondents: where nearly
every respondent gives another answer, such as a set of 34 of 128 categories, distinct answers would fill one row a
respondent. The unbiased estimate needs only how often the answers speak for each category: n, Σw, Σw² and, for the
statistic T of zeros and ones, ΣwT and Σw²T. Without survey weights all are integers, so that parts add exactly.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._checks import group_order, whole
from naysay._values import Array, JsonObject, Label
from naysay.errors import DataError, in_group
from naysay.responses import Codes, Responses, Space, cells_of
from naysay.sampling import Rows, Sampled, Sampling, Units, joined, restored, stored

ARRAYS = ("codes", "count", "weight", "weight_squared")
"""The arrays of a part, one entry for each distinct answer."""

_COUNTABLE = 2**22  # where codes are smaller, an array with a counter for each is quicker than sorting answers
_FORMAT = (
    4  # of files with a wave; others are of format 3 with sums, 2 with strata, clusters or replicate weights, or 1
)
_HEAD = ("level", "missing", "missing_weight")


class ChannelStructure(Protocol):
    """What holds of a design's probabilities as a whole; `naysay.design.base.Structure` says what each means."""

    @property
    def even_mean(self) -> tuple[float, float] | None: ...
    @property
    def plainly_apart(self) -> bool: ...
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
    def listed(self) -> bool: ...
    def impossible(self, codes: Codes) -> NDArray[np.bool_]: ...


class Channel(Protocol):
    """What a tally needs to know about a design."""

    @property
    def categories(self) -> tuple[Any, ...]: ...
    @property
    def space(self) -> Space: ...
    @property
    def expected_statistic(self) -> NDArray[np.float64]: ...
    @property
    def structure(self) -> ChannelStructure: ...
    @property
    def matrix(self) -> NDArray[np.float64]: ...
    @property
    def hash(self) -> str: ...
    def rows(self, codes: Codes) -> NDArray[np.float64]: ...
    def form(self) -> dict[str, Any]: ...


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

    @cached_property
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
        level: object = None,
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
        missing_people, missing_weight = int(count[missing_rows].sum()), float(weight[missing_rows].sum())
        kept_rows = ~missing_rows & (count > 0)
        distinct_codes, code_places = unique_codes(codes[kept_rows])
        is_impossible = design.structure.impossible(distinct_codes)
        if is_impossible.any():
            answer_text = design.space.texts(distinct_codes[is_impossible.argmax()].reshape(1, -1))[0]
            raise DataError(
                f"nobody can have answered {answer_text!r}: under this design no category gives it", value=answer_text
            )

        def total_per_answer(amounts: Array) -> NDArray[np.float64]:
            return np.bincount(code_places, amounts[kept_rows], minlength=len(distinct_codes)).astype(np.float64)

        people_per_answer = np.rint(total_per_answer(count)).astype(np.int64)
        return cls(
            design,
            level,
            distinct_codes,
            people_per_answer,
            total_per_answer(weight),
            total_per_answer(weight_squared),
            missing_people,
            missing_weight,
        )

    @classmethod
    def counted(cls, design: Channel, codes: Codes, *, level: Label = None) -> Part:
        """The part of answers that come without counts and weights, one row a person."""
        space = design.space
        # The largest code, not the number of responses: few subsets of fifty categories are masks of fifty bits, too.
        if not (space.width == 1 and len(codes) and codes.max() < _COUNTABLE):
            return cls.of(design, codes, level=level, count=np.ones(len(codes), dtype=np.int64))
        answer_codes, missing_people = codes[:, 0], 0
        try:
            frequencies = np.bincount(answer_codes)
        except ValueError:  # codes below 0 are missing answers
            answer_codes = answer_codes[answer_codes >= 0]
            frequencies, missing_people = np.bincount(answer_codes), len(codes) - len(answer_codes)
        distinct_codes = np.flatnonzero(frequencies)
        people_per_answer = frequencies[distinct_codes].astype(np.int64)
        answered_part = cls.of(
            design, distinct_codes.astype(np.int64).reshape(-1, 1), level=level, count=people_per_answer
        )
        return replace(answered_part, missing=missing_people, missing_weight=float(missing_people))

    def total(self) -> tuple[Array, Array]:
        """Σ w T and Σ w² T of the statistic T, (d,) each; whole numbers if there are no survey weights."""
        space, counts = self.design.space, self.count
        if (self.weight == counts).all() and (self.weight_squared == counts).all():
            totals = space.total(self.codes, counts)
            return totals, totals
        return space.total(self.codes, self.weight), space.total(self.codes, self.weight_squared)

    def places(self, codes: Codes) -> NDArray[np.intp]:
        """The place of each of these codes among the distinct answers; -1 for a code that is not there."""
        distinct_codes, code_places = unique_codes(np.vstack([self.codes, codes]))
        place_of_code = np.full(len(distinct_codes), -1, dtype=np.intp)
        place_of_code[code_places[: len(self.codes)]] = np.arange(len(self.codes))
        return np.asarray(place_of_code[code_places[len(self.codes) :]])

    def plus(self, other: Part) -> Part:
        """Both parts' answers together."""
        joint_arrays = ([getattr(part, array_name) for part in (self, other)] for array_name in ARRAYS)
        joint_codes, joint_count, joint_weight, weight_squared = map(np.concatenate, joint_arrays)
        merged_part = Part.of(
            self.design, joint_codes, level=self.level, count=joint_count, weights=(joint_weight, weight_squared)
        )
        missing_totals = self.missing + other.missing, self.missing_weight + other.missing_weight
        return replace(merged_part, missing=missing_totals[0], missing_weight=missing_totals[1])

    def minus(self, other: Part) -> Part:
        """The part without the answers of another, all of which it must hold."""
        remaining_arrays = {array_name: getattr(self, array_name).copy() for array_name in ARRAYS[1:]}
        code_places = self.places(other.codes)
        held_counts = np.where(code_places < 0, 0, self.count[code_places])
        if (held_counts < other.count).any():
            short_place = int((held_counts < other.count).argmax())
            answer_text = self.design.space.texts(other.codes[short_place : short_place + 1])[0]
            times_text = _checks.several(held_counts[short_place], "time", "times")
            raise DataError(
                f"answer {answer_text!r} was given {times_text}; {other.count[short_place]:,} cannot be taken off",
                value=answer_text,
            )
        if self.missing < other.missing:
            raise DataError(f"{self.missing:,} answers are missing; {other.missing:,} cannot be taken off")
        for array_name, amounts in remaining_arrays.items():
            amounts[code_places] -= getattr(other, array_name)
        kept_rows = remaining_arrays["count"] > 0
        kept_arrays = {array_name: amounts[kept_rows] for array_name, amounts in remaining_arrays.items()}
        if any((kept_arrays[array_name] <= 0).any() for array_name in ("weight", "weight_squared")):
            raise DataError("the answers to be taken off weigh more than those that are held")
        missing_people = self.missing - other.missing
        missing_weight = self.missing_weight - other.missing_weight if missing_people else 0.0
        return replace(
            self, codes=self.codes[kept_rows], **kept_arrays, missing=missing_people, missing_weight=missing_weight
        )


def check_size(count: NDArray[np.int64]) -> None:
    """Raise unless counts are at least zero, and together people who can be counted exactly."""
    total_people = float(count.sum(dtype=float))  # integers would overflow without a sound; floats skip 2**53 + 1
    if len(count) and count.min() < 0:
        raise DataError(f"counts must not be negative; got {count.min():,}", value=int(count.min()))
    if total_people > _checks.MOST_PEOPLE or int(count.sum()) > _checks.MOST_PEOPLE:
        raise DataError(f"a tally holds at most 2**53 answers; these would be {total_people:,.0f}", value=total_people)


def unique_codes(codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """Sorted distinct codes, and for each code its place among them."""
    if codes.shape[1] == 1:
        distinct_values, code_places = np.unique(codes[:, 0], return_inverse=True)
        return distinct_values.reshape(-1, 1), code_places.reshape(-1)
    code_order = np.lexsort(codes.T[::-1])
    sorted_codes = codes[code_order]
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = (sorted_codes[1:] != sorted_codes[:-1]).any(axis=1)
    code_places = np.empty(len(codes), dtype=np.intp)
    code_places[code_order] = np.cumsum(is_first) - 1
    return sorted_codes[is_first], code_places


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of the answers given under one design.

    Parameters
    ----------
    design : Channel
        The design, a single channel.
    level : label or None
        The level at which these answers were given.
    count : (1,) int
        How many respondents answered.
    weight, weight_squared : (1,) float
        Sum of their survey weights, and of the squared weights.
    said, squared : (d,) int or float
        Σ w T and Σ w² T: how often the answers speak for each category. Integers if there are no survey weights.
    sizes : (d + 1,) int
        How many answers speak for 0, 1, …, d categories.
    missing : int
        How many respondents gave no answer.
    missing_weight : float
        The sum of their weights.
    """

    design: Channel
    level: Any
    count: NDArray[np.int64]
    weight: NDArray[np.float64]
    weight_squared: NDArray[np.float64]
    said: Array
    squared: Array
    sizes: NDArray[np.int64]
    missing: int = 0
    missing_weight: float = 0.0

    arrays: ClassVar[tuple[str, ...]] = ("count", "weight", "weight_squared", "said", "squared", "sizes")
    """The arrays of the part, as they are stored."""

    summed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for array_name in self.arrays:
            object.__setattr__(self, array_name, _checks.read_only(np.array(getattr(self, array_name))))
        if len(self.said) != self.design.space.dimension:
            raise DataError(f"sums must have {self.design.space.dimension} entries; got {len(self.said)}")
        check_size(self.count)
        for array_name in ("said", "squared", "sizes"):
            if (getattr(self, array_name) < 0).any():
                raise DataError(f"sums must not be negative; {array_name} holds {getattr(self, array_name).min():,}")

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return int(self.count[0])

    @property
    def distinct(self) -> int | None:
        """How many distinct answers it holds; None, because it holds their sums."""
        return None

    @property
    def alike(self) -> bool:
        """Whether everybody gave the same answer."""
        return bool(((self.said == 0) | (self.said == self.weight[0])).all())

    @property
    def effective(self) -> float:
        """How many unweighted answers would be as precise: (Σw)²/Σw² (Kish 1965)."""
        return float(self.weight[0] ** 2 / self.weight_squared[0])

    @property
    def codes(self) -> Codes:
        """There are none.

        Raises
        ------
        DataError
            Always; the message says what to use.
        """
        raise DataError(
            "this tally keeps sums, not the answers themselves; estimate.moments reads them, with Agresti-Coull or "
            "Wald intervals. For anything else tally the answers with sums=False"
        )

    @classmethod
    def of(
        cls,
        design: Channel,
        codes: Codes,
        *,
        level: object = None,
        count: NDArray[np.int64] | None = None,
        weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> Sums:
        """The sums of these rows of answers; see `Part.of`. Without counts each row is a person."""
        space, missing_rows = design.space, design.space.missing(codes)
        kept_rows: Any = ~missing_rows if missing_rows.any() else slice(None)
        answer_codes = codes[kept_rows]
        people_per_row = np.ones(1, dtype=np.int64) if count is None else count[kept_rows]
        if count is None or (people_per_row == 1).all():
            total_people, category_sums = len(answer_codes), space.frequencies(answer_codes)
            size_counts = np.bincount(space.sizes(answer_codes))
        else:
            total_people, category_sums = int(people_per_row.sum()), space.total(answer_codes, people_per_row)
            size_counts = np.rint(np.bincount(space.sizes(answer_codes), people_per_row)).astype(np.int64)
        weight_sums, total_sums = [float(total_people)] * 2, [category_sums, category_sums]
        if (
            weights is not None
            and count is not None
            and not all((row_weights == count).all() for row_weights in weights)
        ):
            weight_sums = [row_weights[kept_rows].sum() for row_weights in weights]
            total_sums = [space.total(answer_codes, row_weights[kept_rows]) for row_weights in weights]
        missing_people = missing_rows.sum() if count is None else count[missing_rows].sum()
        return cls(
            design=design,
            level=level,
            count=np.array([total_people]),
            weight=np.array([weight_sums[0]], dtype=float),
            weight_squared=np.array([weight_sums[1]], dtype=float),
            said=total_sums[0],
            squared=total_sums[1],
            sizes=np.pad(size_counts, (0, len(category_sums) + 1 - len(size_counts))),
            missing=int(missing_people),
            missing_weight=float(missing_people if weights is None else weights[0][missing_rows].sum()),
        )

    @classmethod
    def counted(cls, design: Channel, codes: Codes, *, level: Label = None) -> Sums:
        """The sums of answers that come without counts and weights, one row a person."""
        return cls.of(design, codes, level=level)

    def total(self) -> tuple[Array, Array]:
        """Σ w T and Σ w² T, (d,) each."""
        return self.said, self.squared

    def plus(self, other: Sums) -> Sums:
        """Both parts' sums together."""
        return replace(self, **self._combined(other, operator.add))

    def minus(self, other: Sums) -> Sums:
        """The part's sums without those of another; none may fall below zero."""
        remaining_sums = self._combined(other, operator.sub)
        if any(np.any(np.asarray(remaining_sum) < 0) for remaining_sum in remaining_sums.values()):
            raise DataError("the answers to be taken off are not all held: a sum would fall below zero")
        return replace(self, **remaining_sums)

    def _combined(self, other: Sums, operation: Callable[[Array, Array], Array]) -> dict[str, Any]:
        """Each amount of the two parts, added or taken off."""
        if self.design.categories != other.design.categories:
            raise DataError("sums of an open domain add only if their candidates are the same, in the same order")
        names = (*self.arrays, "missing", "missing_weight")
        return {name: operation(getattr(self, name), getattr(other, name)) for name in names}


class Asked(Protocol):
    """What a tally needs to know about a design: its named channels, and how its responses are encoded."""

    @property
    def levels(self) -> tuple[Any, ...]: ...
    @property
    def space(self) -> Space: ...
    def channel(self, level: Label = None) -> Channel: ...
    def encode(self, values: object, level: object = None) -> Responses: ...
    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]: ...


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct answers and their weights, per design and level.

    `Design.tally` makes tallies; ``+`` adds two of them.

    Parameters
    ----------
    parts : tuple of Part or Sums
        One part for each design or level.
    weighted : bool
        Whether survey weights were given. If so, estimates are weighted and their covariance is linearized.
    question, wave : str, optional
        Name of the question, and of the wave in which it was asked. Tallies of two questions or waves do not add.
    complex : Sampled, optional
        How the people were sampled. Its items are the distinct answers of all parts, one part after the other. None if
        people were drawn independently of each other.

    Examples
    --------
    >>> from naysay import designs
    >>> income = designs.negative(("low", "middle", "high"))
    >>> tally = income.tally(["low", "high", "high", None])
    >>> tally.n, tally.missing, tally.counts.tolist()
    (3, 1, [1, 0, 2])
    >>> (tally + tally).n
    6
    """

    parts: tuple[Any, ...]
    weighted: bool = False
    question: str | None = field(default=None)
    complex: Sampled | None = field(default=None, repr=False)
    wave: str | None = field(default=None)

    design_of: ClassVar[Callable[[Any], Any]]
    """Makes a design from its JSON object, for `load`: `naysay.tally`, which knows designs, says how."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise DataError("a tally needs at least one part")
        first_categories = self.parts[0].design.categories
        for part in self.parts[1:]:
            if part.design.categories != first_categories:
                raise DataError(
                    "all answers of one tally must be about the same categories; got "
                    f"{_checks.listing_text(first_categories)} and {_checks.listing_text(part.design.categories)}"
                )

    @classmethod
    def of(
        cls,
        asked: Asked,
        responses: Responses,
        count: NDArray[np.int64],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
        *,
        weighted: bool,
        question: str | None = None,
        rows: tuple[Rows, Array] | None = None,
        sums: bool | None = None,
    ) -> Tally:
        """The tally of encoded responses; raises if nobody answered. See `Part.of` for `count` and `weights`.

        Every level on offer has a part, even if nobody chose it. `rows` holds the rows of the whole sample, and the
        place of each response among them. With `sums` parts keep sums in place of answers; by default where the design
        says so, and people were drawn independently of each other.
        """
        parts = []
        for level in asked.levels:
            level_rows, level_codes = asked.codes_at(level, responses)
            level_weights, channel = (weights[0][level_rows], weights[1][level_rows]), asked.channel(level)
            part_class = cls.kind(channel, sums=sums, rows=rows)
            parts.append(
                part_class.of(channel, level_codes, level=level, count=count[level_rows], weights=level_weights)
            )
        tally = cls(tuple(parts), weighted=weighted, question=question)
        tally._check_answered(len(count))
        if weighted and tally.weight == 0:
            raise DataError("the weights of the answers must not all be zero")
        if rows is None:
            return tally
        item_places, item_offset = np.full(len(rows[0].weight), -1, dtype=np.intp), 0
        for level, part in zip(asked.levels, tally.parts, strict=True):
            level_rows, level_codes = asked.codes_at(level, responses)
            code_places = part.places(level_codes)
            item_places[rows[1][level_rows]] = np.where(code_places < 0, -1, item_offset + code_places)
            item_offset += len(part.codes)
        return replace(tally, complex=rows[0].collapsed(item_places, item_offset))

    @classmethod
    def counted(cls, asked: Asked, responses: Responses, *, sums: bool | None = None) -> Tally:
        """The tally of encoded responses to one design, one row a person, without weights."""
        channel, (_, answer_codes) = asked.channel(), asked.codes_at(None, responses)
        tally = cls((cls.kind(channel, sums=sums).counted(channel, answer_codes),))
        tally._check_answered(len(answer_codes))
        return tally

    @staticmethod
    def kind(channel: Channel, *, sums: bool | None = None, rows: object = None) -> type[Part | Sums]:
        """The class of the part of a channel: `Sums` where they are asked for, or where the design says so."""
        if sums and not channel.structure.pure:
            raise DataError(
                "only pure designs, such as subset_selection or affine, have sums that tell all; leave sums out"
            )
        if sums and rows is not None:
            raise DataError("strata, clusters and replicate weights need the answers, not their sums; leave sums out")
        return Sums if (channel.structure.keeps_sums and rows is None if sums is None else sums) else Part

    def _check_answered(self, rows: int) -> None:
        """Raise if nobody answered."""
        if self.n == 0:
            answers_text = "all counts are 0" if rows else "there are none"
            if self.missing:
                answers_text = "the one answer is missing" if self.missing == 1 else f"all {self.missing} are missing"
            raise DataError(f"at least one answer is needed; {answers_text}")

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that the answers are about."""
        labels: tuple[Any, ...] = self.parts[0].design.categories
        return labels

    @cached_property
    def n(self) -> int:
        """Respondents who answered."""
        return sum(part.n for part in self.parts)

    @cached_property
    def missing(self) -> int:
        """Respondents who gave no answer."""
        return sum(part.missing for part in self.parts)

    @property
    def one_pattern(self) -> bool:
        """Whether it has one part, whose design is stored as a pattern, and no survey weights."""
        return len(self.parts) == 1 and self.parts[0].design.structure.one_pattern and not self.weighted and self.n > 0

    @property
    def pure(self) -> bool:
        """Whether it has one part, whose design is pure, and people were drawn independently of each other."""
        return len(self.parts) == 1 and self.parts[0].design.structure.pure and self.complex is None and self.n > 0

    @cached_property
    def summed(self) -> bool:
        """Whether some part keeps sums in place of answers."""
        return any(part.summed for part in self.parts)

    @cached_property
    def free(self) -> int:
        """How many response probabilities the designs leave free, over the parts that have answers."""
        return sum(part.design.space.size - 1 for part in self.parts if part.n)

    @cached_property
    def weight(self) -> float:
        """Sum of the weights of those who answered."""
        return float(sum(part.weight.sum() for part in self.parts))

    @cached_property
    def effective(self) -> float:
        """Unweighted answers that would be as precise: (Σw)²/Σw² (Kish 1965)."""
        return self.weight**2 / float(sum(part.weight_squared.sum() for part in self.parts))

    @property
    def sampled(self) -> Sampled:
        """How the people behind the distinct answers were sampled: independently, unless `complex` says otherwise."""
        return self.drawn()

    def drawn(self, *, by_part: bool = False, kish: bool = False) -> Sampled:
        """How people were sampled; the options apply only to people who were drawn independently.

        Parameters
        ----------
        by_part : bool
            Whether the people of each part are a sample of their own, of a fixed size.
        kish : bool
            Whether unequal weights reduce the number of people; see `Units.independent`.
        """
        if self.complex is not None:
            return self.complex
        count, weight, squared = (np.concatenate([getattr(part, name) for part in self.parts]) for name in ARRAYS[1:])
        stratum = np.repeat(np.arange(len(self.parts)), [len(part.codes) for part in self.parts]) if by_part else None
        return Units.independent(count, weight, squared, stratum=stratum, kish=kish)

    @property
    def apart(self) -> list[tuple[Part, Sampled]]:
        """The parts that have answers, each with how its people were sampled."""
        part_ends = np.cumsum([len(part.codes) for part in self.parts])
        sampled_parts = []
        for part, part_end in zip(self.parts, part_ends.tolist(), strict=True):
            part_sample = (
                Units.independent(part.count, part.weight, part.weight_squared)
                if self.complex is None
                else self.complex.take(np.arange(part_end - len(part.codes), part_end))
            )
            sampled_parts.append((part, part_sample))
        return [(part, part_sample) for part, part_sample in sampled_parts if part.n]

    @cached_property
    def by_level(self) -> dict[Any, Part]:
        """The parts by their level."""
        return {part.level: part for part in self.parts}

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many people gave each response, (responses,), in the order of the design's matrix rows."""
        if len(self.parts) > 1:
            raise DataError(f"counts belong to one design; this tally has {len(self.parts)} parts, see `.parts`")
        part = self.parts[0]
        response_codes = part.design.space.listing()
        distinct_codes, code_places = unique_codes(np.vstack([response_codes, part.codes]))
        code_counts = np.zeros(len(distinct_codes), dtype=np.int64)
        code_counts[code_places[len(response_codes) :]] = part.count
        return code_counts[code_places[: len(response_codes)]]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        joint_parts = list(self.parts)
        for other_part in other.parts:
            part_place = self._place(other_part)
            if part_place is None:
                joint_parts.append(other_part)
            else:
                joint_parts[part_place] = joint_parts[part_place].plus(other_part)
        question, wave = self._shared_names(other)
        joint_tally = Tally(tuple(joint_parts), weighted=self.weighted or other.weighted, question=question, wave=wave)
        if self.complex is None and other.complex is None:
            return joint_tally
        if self.complex is None or other.complex is None:
            raise DataError("only one of the two tallies has strata, clusters or replicate weights; tally both alike")
        item_places = joint_tally._items_of(self), joint_tally._items_of(other)
        return replace(
            joint_tally,
            complex=joined(self.complex, other.complex, item_places, sum(len(p.codes) for p in joint_parts)),
        )

    def __sub__(self, other: Tally) -> Tally:
        """The tally without another's answers, such as of people who want theirs deleted; exact without survey weights.

        Raises
        ------
        DataError
            The other tally holds an answer more often, or of another design, question or wave; or samples are complex.
        """
        if not isinstance(other, Tally):
            return NotImplemented
        if self.complex is not None or other.complex is not None:
            raise DataError("answers of a complex sample cannot be taken off; tally the others again")
        (question, wave), remaining_parts = self._shared_names(other), list(self.parts)
        for other_part in other.parts:
            part_place = self._place(other_part)
            if part_place is not None:
                remaining_parts[part_place] = remaining_parts[part_place].minus(other_part)
            elif other_part.n or other_part.missing:
                raise DataError("the answers to be taken off are of a level that this tally does not hold")
        return Tally(tuple(remaining_parts), weighted=self.weighted, question=question, wave=wave)

    def _place(self, part: Part | Sums) -> int | None:
        """The place of the part of the same level; None where there is none. Raises unless both are of one kind."""
        part_place = next((i for i, own_part in enumerate(self.parts) if str(own_part.level) == str(part.level)), None)
        if part_place is not None and self.parts[part_place].design != part.design:
            own_hash, other_hash = self.parts[part_place].design.hash[:12], part.design.hash[:12]
            raise DataError(
                f"the two tallies are of different designs, {own_hash}… and {other_hash}…; estimate each by itself"
            )
        if part_place is not None and self.parts[part_place].summed != part.summed:
            raise DataError("one of the two tallies keeps sums and the other one answers; tally both alike")
        return part_place

    def _shared_names(self, other: Tally) -> tuple[str | None, str | None]:
        """The question and wave of both; raises where they differ."""
        for attribute in ("question", "wave"):
            own_name, other_name = getattr(self, attribute), getattr(other, attribute)
            if own_name is not None and other_name is not None and own_name != other_name:
                hint = f"if they are one, give them one name first: dataclasses.replace(tally, {attribute}=...)"
                raise DataError(f"tallies of two {attribute}s do not add; got {own_name!r} and {other_name!r} ({hint})")
        return self.question or other.question, self.wave or other.wave

    def _items_of(self, other: Tally) -> NDArray[np.intp]:
        """The places of another tally's items among the items of this one, which holds them all."""
        item_offsets = np.cumsum([0, *(len(part.codes) for part in self.parts)])
        item_places = []
        for part in other.parts:
            part_place = cast("int", self._place(part))  # this one holds the other's parts, too
            item_places.append(item_offsets[part_place] + self.parts[part_place].places(part.codes))
        return np.concatenate(item_places)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # sum() starts by adding 0

    def __repr__(self) -> str:
        question_text = f" to {self.question!r}" if self.question else ""
        question_text += f" of wave {self.wave!r}" if self.wave else ""
        missing_text = f", {self.missing} missing" if self.missing else ""
        contents_text = "sums" if self.summed else f"{sum(part.distinct for part in self.parts)} distinct"
        return f"<Tally: {self.n} answers{question_text}{missing_text}, {contents_text}>"

    def save(self, path: str | Path) -> None:
        """Write the tally and its designs to one file. The file holds no respondent's row."""
        path = Path(path)
        # Write another file and rename it, so that a crash leaves no half-written tally.
        unfinished_path = path.with_name(f"{path.name}.part")
        try:
            with unfinished_path.open("wb") as open_file:
                self.write(open_file)
            unfinished_path.replace(path)
        except OSError as error:
            raise DataError(f"cannot write {str(path)!r}: {error}") from None
        finally:
            unfinished_path.unlink(missing_ok=True)

    def write(self, file: BinaryIO) -> None:
        """Write the tally to an open binary file; see `save`."""
        stored_arrays = {
            f"{array_name}{n}": getattr(part, array_name)
            for n, part in enumerate(self.parts)
            for array_name in part.arrays
        }
        part_heads = [
            {field_name: getattr(part, field_name) for field_name in _HEAD}
            | {"design": part.design.form()}
            | ({"sums": True, "categories": list(part.design.categories)} if part.summed else {})
            for part in self.parts
        ]
        head_fields: dict[str, Any] = {"weighted": self.weighted, "question": self.question, "parts": part_heads}
        if self.wave is not None:
            head_fields["wave"] = self.wave
        if self.complex is not None:
            head_fields["complex"], sample_arrays = stored(self.complex)
            stored_arrays |= {f"complex_{array_name}": array for array_name, array in sample_arrays.items()}
        format_version = (
            _FORMAT if self.wave is not None else 3 if self.summed else 2 if self.complex is not None else 1
        )
        head_text = json.dumps({"naysay": "tally", "version": format_version} | head_fields)
        np.savez_compressed(file, head=np.array(head_text), **stored_arrays)

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """The tally that `save` wrote."""
        path = Path(path)
        try:
            with path.open("rb") as open_file, np.load(open_file, allow_pickle=False) as stored_arrays:
                head_fields = json.loads(str(stored_arrays["head"]))
                is_later = head_fields["version"] > _FORMAT
                parts = (
                    ()
                    if is_later
                    else tuple(
                        cls._stored_part(stored_arrays, n, part_head)
                        for n, part_head in enumerate(head_fields["parts"])
                    )
                )
                sample_arrays = {
                    array_name.removeprefix("complex_"): stored_arrays[array_name]
                    for array_name in stored_arrays.files
                    if array_name[:7] == "complex"
                }
                sampled = restored(head_fields["complex"], sample_arrays) if "complex" in head_fields else None
        except FileNotFoundError:
            raise DataError(f"there is no file {str(path)!r}") from None
        except (OSError, LookupError, TypeError, ValueError, EOFError, BadZipFile) as error:
            raise DataError(f"{str(path)!r} is not a tally that naysay saved ({error})") from None
        if is_later:
            raise DataError(
                f"{str(path)!r} was saved by a later naysay (format {head_fields['version']}); please update"
            )
        return cls(
            parts,
            weighted=head_fields["weighted"],
            question=head_fields["question"],
            complex=sampled,
            wave=head_fields.get("wave"),
        )

    @classmethod
    def _stored_part(cls, stored: Mapping[str, Array], number: int, head: JsonObject) -> Part | Sums:
        part_class: type[Part | Sums] = Sums if head.get("sums") else Part
        part_arrays: dict[str, Any] = {array_name: stored[f"{array_name}{number}"] for array_name in part_class.arrays}
        design = cls.design_of(head["design"])
        if part_class is Sums and not design.categories:  # an open domain: its sums are those of the candidates
            design = design.about(head["categories"])
        return part_class(design=design, **{field_name: head[field_name] for field_name in _HEAD}, **part_arrays)


def tally_of(
    asked: Asked,
    responses: Responses,
    *,
    weights: object = None,
    sampling: Sampling | None = None,
    count: object = None,
    by: ArrayLike | None = None,
    sums: bool | None = None,
) -> Tally | dict[Any, Tally]:
    """The tally of encoded responses, or with `by` one tally for each group; see `Answerable.tally`."""
    answer_count = len(responses)
    if count is None and weights is None and sampling is None and by is None and asked.levels == (None,):
        return Tally.counted(asked, responses, sums=sums)
    people_per_answer = np.ones(answer_count, dtype=np.int64)
    if count is not None:
        people_per_answer = whole(_checks.amounts(count, what="counts", length=answer_count))
    answer_weights = (
        np.ones(answer_count) if weights is None else _checks.amounts(weights, what="weights", length=answer_count)
    )
    weights_and_squares = answer_weights * people_per_answer, answer_weights * answer_weights * people_per_answer
    sampled_answers = None if sampling is None else sampling.rows(answer_count, count=people_per_answer)
    if sampled_answers is not None:
        weights_and_squares = sampled_answers.weight, sampled_answers.squared
    rows_by_group: Mapping[Any, list[int] | slice] = (
        {None: slice(None)} if by is None else _members(by, answer_count)  # all rows are not copied
    )
    tally_by_group: dict[Any, Tally] = {}
    for group_name, group_rows in rows_by_group.items():
        with in_group(group_name):
            tally_by_group[group_name] = Tally.of(
                asked,
                responses if by is None else responses.take(group_rows),
                people_per_answer[group_rows],
                (weights_and_squares[0][group_rows], weights_and_squares[1][group_rows]),
                weighted=weights is not None or sampling is not None,
                rows=None if sampled_answers is None else (sampled_answers, np.arange(answer_count)[group_rows]),
                sums=sums,
            )
    return tally_by_group[None] if by is None else tally_by_group


def _members(by: ArrayLike, size: int) -> dict[Any, list[int]]:
    """The rows of each group, the missing group first."""
    group_by_row = [None if _checks.is_missing(group_name) else group_name for group_name in cells_of(by)]
    if len(group_by_row) != size:
        raise DataError(f"by must give one group to each of the {size} answers; got {len(group_by_row)}")
    rows_by_group: dict[Any, list[int]] = {
        group_name: [] for group_name in sorted(dict.fromkeys(group_by_row), key=group_order)
    }
    for row_number, group_name in enumerate(group_by_row):
        rows_by_group[group_name].append(row_number)
    return rows_by_group
