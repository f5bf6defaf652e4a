"""A part of a tally: the distinct answers under one design, and how often each was given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.responses import Codes, Responses, Space

__all__ = ["Asked", "Channel", "Part"]


class Channel(Protocol):
    """What a tally knows of a design."""

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
    def matrix(self) -> NDArray[np.float64]: ...
    def rows(self, codes: Codes) -> NDArray[np.float64]: ...
    def form(self) -> dict[str, Any]: ...
    def impossible(self, codes: Codes) -> NDArray[np.bool_]: ...


class Asked(Protocol):
    """What people answered: a design, or an offer of designs by level."""

    @property
    def levels(self) -> tuple[Any, ...]: ...
    @property
    def space(self) -> Space: ...
    def channel(self, level: Any = None) -> Channel: ...
    def encode(self, values: Any, level: Any = None) -> Responses: ...
    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]: ...


@dataclass(frozen=True, eq=False)
class Part:
    """Distinct answers given under one design.

    Parameters
    ----------
    design : Channel
        The design, a single channel.
    level : label or None
        The level of an offer that this part answers at.
    codes : (distinct, width) int
        Distinct answers, sorted.
    count : (distinct,) int
        Respondents who gave each answer.
    weight, weight_squared : (distinct,) float
        Sum of their survey weights, and of the squares.
    missing : int
        Respondents who gave no answer.
    missing_weight : float
        Their weight.
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
        for name in ("codes", "count", "weight", "weight_squared"):
            object.__setattr__(self, name, _checks.read_only(np.asarray(getattr(self, name))))

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return int(self.count.sum())

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise: (Σw)²/Σw² (Kish 1965)."""
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
        """The part that rows of answers add up to.

        Each row stands for `count` people; `weights` are the sums of their weights and of the squares, the counts
        themselves where there are no weights.
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

    def plus(self, other: Part) -> Part:
        """Both parts' answers together."""
        merged = Part.of(
            self.design,
            np.vstack([self.codes, other.codes]),
            level=self.level,
            count=np.concatenate([self.count, other.count]),
            weights=(
                np.concatenate([self.weight, other.weight]),
                np.concatenate([self.weight_squared, other.weight_squared]),
            ),
        )
        return replace(
            merged,
            missing=self.missing + other.missing,
            missing_weight=self.missing_weight + other.missing_weight,
        )

    def same_kind(self, other: Part) -> bool:
        """Whether both parts count answers to the same design at the same level."""
        return str(self.level) == str(other.level) and self.design == other.design


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
