"""A part of a tally that keeps sums in place of answers: as large as its design, whatever the number of respondents.

Where nearly every respondent gives another answer, such as a set of 34 of 128 categories, distinct answers would fill
one row a respondent. The unbiased estimate needs only how often the answers speak for each category: n, Σw, Σw² and,
for the statistic T of zeros and ones, ΣwT and Σw²T. Without survey weights all are integers, so that parts add exactly.

Counts from the data points of a metric, as OpenTelemetry and its kin export a counter of reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.responses import Codes
from naysay.tally.part import Channel, check_size


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
    said: NDArray[Any]
    squared: NDArray[Any]
    sizes: NDArray[np.int64]
    missing: int = 0
    missing_weight: float = 0.0

    arrays: ClassVar[tuple[str, ...]] = ("count", "weight", "weight_squared", "said", "squared", "sizes")
    """The arrays of the part, as they are stored."""

    summed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in self.arrays:
            object.__setattr__(self, name, _checks.read_only(np.array(getattr(self, name))))
        if len(self.said) != self.design.space.dimension:
            raise DataError(f"sums must have {self.design.space.dimension} entries; got {len(self.said)}")
        check_size(self.count)
        for name in ("said", "squared", "sizes"):
            if (getattr(self, name) < 0).any():
                raise DataError(f"sums must not be negative; {name} holds {getattr(self, name).min():,}")

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
        level: Any = None,
        count: NDArray[np.int64] | None = None,
        weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> Sums:
        """The sums of these rows of answers; see `Part.of`. Without counts each row is a person."""
        space, missing_rows = design.space, design.space.missing(codes)
        kept_rows: Any = ~missing_rows if missing_rows.any() else slice(None)
        answer_codes = codes[kept_rows]
        people = np.ones(1, dtype=np.int64) if count is None else count[kept_rows]
        if count is None or (people == 1).all():
            total, category_sums, sizes = (
                len(answer_codes),
                space.frequencies(answer_codes),
                np.bincount(space.sizes(answer_codes)),
            )
        else:
            total, category_sums = int(people.sum()), space.total(answer_codes, people)
            sizes = np.rint(np.bincount(space.sizes(answer_codes), people)).astype(np.int64)
        weight_sums, total_sums = [float(total)] * 2, [category_sums, category_sums]
        if (
            weights is not None
            and count is not None
            and not all((row_weights == count).all() for row_weights in weights)
        ):
            weight_sums, total_sums = (
                [row_weights[kept_rows].sum() for row_weights in weights],
                [space.total(answer_codes, row_weights[kept_rows]) for row_weights in weights],
            )
        unanswered = missing_rows.sum() if count is None else count[missing_rows].sum()
        return cls(
            design=design,
            level=level,
            count=np.array([total]),
            weight=np.array([weight_sums[0]], dtype=float),
            weight_squared=np.array([weight_sums[1]], dtype=float),
            said=total_sums[0],
            squared=total_sums[1],
            sizes=np.pad(sizes, (0, len(category_sums) + 1 - len(sizes))),
            missing=int(unanswered),
            missing_weight=float(unanswered if weights is None else weights[0][missing_rows].sum()),
        )

    @classmethod
    def counted(cls, design: Channel, codes: Codes, *, level: Any = None) -> Sums:
        """The sums of answers that come without counts and weights, one row a person."""
        return cls.of(design, codes, level=level)

    def total(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Σ w T and Σ w² T, (d,) each."""
        return self.said, self.squared

    def plus(self, other: Any) -> Sums:
        """Both parts' sums together."""
        self._check_alike(other)
        joint_sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in self._amounts}
        return replace(self, **joint_sums)

    def minus(self, other: Any) -> Sums:
        """The part's sums without those of another; none may fall below zero."""
        self._check_alike(other)
        remaining_sums: dict[str, Any] = {name: getattr(self, name) - getattr(other, name) for name in self._amounts}
        if any(np.any(np.asarray(remaining_sum) < 0) for remaining_sum in remaining_sums.values()):
            raise DataError("the answers to be taken off are not all held: a sum would fall below zero")
        return replace(self, **remaining_sums)

    _amounts: ClassVar[tuple[str, ...]] = (*arrays, "missing", "missing_weight")

    def _check_alike(self, other: Any) -> None:
        if not isinstance(other, Sums):
            raise DataError("one of the two tallies keeps sums and the other one answers; tally both alike")
        if self.design.categories != other.design.categories:
            raise DataError("sums of an open domain add only if their candidates are the same, in the same order")


_OVERFLOW = "otel.metric.overflow"
_ATTRIBUTES = {"question", "design", "wave", "y"}


def counts_of_points(
    points: Iterable[tuple[Mapping[str, Any], int]],
    *,
    question: str,
    design: str,
    wave: Any = None,
    n: int | None = None,
) -> dict[Any, int]:
    """How many reports gave each response, from a counter with the attributes question, design and y.

    Parameters
    ----------
    points : sequence of (attributes, value)
        Data points of a counter, with delta temporality. Those about other questions or waves are passed over.
    question, design : str
        The values of these attributes; `design` names the design, such as by its hash.
    wave : label, optional
        The value of the attribute wave, if there is one.
    n : int, optional
        How many reports were recorded. Without it, points that were dropped or read twice cannot show.

    Returns
    -------
    dict of {response: int}
        What ``design.tally`` takes.

    Raises
    ------
    DataError
        An overflow of the counter; reports of another design; attributes that could link a report to its sender;
        a value that is no count; no point about this question; counts that do not add up to n.

    Examples
    --------
    >>> one, other = ({"question": "crash", "design": "4f1c", "y": y} for y in ("7", "12"))
    >>> counts_of_points([(one, 3), (other, 1), (one, 2)], question="crash", design="4f1c", n=6)
    {'7': 5, '12': 1}
    """
    counts: dict[Any, int] = {}
    other_points: set[Any] = set()
    for number, (attributes, value) in enumerate(points, start=1):
        if _OVERFLOW in attributes:
            raise DataError(
                f"point {number} holds {value:,} reports under {_OVERFLOW}: there were more responses than the counter "
                "keeps apart, and which ones were merged is no matter of chance. Nothing can be estimated; raise the "
                "limit above the number of responses, or take a design with fewer (design.space.size)",
                row=number,
                value=value,
            )
        if attributes.get("question") != question or attributes.get("wave") != wave:
            other_points.add((attributes.get("question"), attributes.get("wave")))
            continue
        response = _response(attributes, value, design, number)
        counts[response] = counts.get(response, 0) + value
    if not counts:
        points_text = (
            ", ".join(
                f"{other_question!r} in wave {other_wave!r}"
                for other_question, other_wave in sorted(other_points, key=str)
            )
            or "nothing"
        )
        raise DataError(f"no point is about {question!r} in wave {wave!r}; there are points about {points_text}")
    if n is not None and sum(counts.values()) != n:
        raise DataError(
            f"the points hold {sum(counts.values()):,} reports about {question!r}, and {n:,} were recorded: points "
            "were dropped, or cumulative points were added up (export with delta temporality)"
        )
    return counts


def _response(attributes: Mapping[str, Any], value: Any, design: str, number: int) -> Any:
    """The response of a point that is what it should be."""
    extra_attributes = sorted(attributes.keys() - _ATTRIBUTES)
    if extra_attributes:
        raise DataError(
            f"point {number} has the attribute {extra_attributes[0]!r}, which can link a report to its sender; a "
            f"report has only {', '.join(sorted(_ATTRIBUTES))}",
            row=number,
            column=extra_attributes[0],
        )
    if attributes.get("design") != design:
        raise DataError(
            f"point {number} is of design {attributes.get('design')!r}, not {design!r}; tally each design by itself",
            row=number,
            column="design",
        )
    if "y" not in attributes or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(
            f"point {number} must have a response, y, and count reports of it; got {_checks.listing_text(attributes)} "
            f"and {value!r}",
            row=number,
            value=value,
        )
    return attributes["y"]
