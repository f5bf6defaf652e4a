"""A design written out as a table of integer weights.

Designs of many categories whose columns are one pattern: two integers instead of a table of t × t.

A design about the same people whose categories have other names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import protocol
from naysay.design.base import Answerable, Design, told_of
from naysay.design.chances import Truth
from naysay.design.drawing import Source
from naysay.design.exact import LIMIT, blended, flag, integer
from naysay.design.form import TABLED, of_node
from naysay.errors import DesignError
from naysay.responses import Codes, Labels

_BLOCK = 2**14  # responses drawn at a time, so that what belongs to them stays in the cache

LEAST = 4
"""From so many categories on, a family whose columns are one pattern makes a `Pattern`: its JSON is then shorter than a
table's, with any labels and weights."""

MANY = TABLED
"""With more categories than this, a table of one pattern is read as a `Pattern`; JSON of so many or fewer stays as it
is, so that a design that is open keeps its form."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pattern(Design):
    """A design in which the true category has one chance, and every other category has another.

    P[j, j] = own / D and P[i, j] = other / D for i ≠ j, with D = own + (t - 1) other. Such designs are k-ary randomized
    response, the uniform negative survey (own = 0), pure noise (own = other) and the direct question (other = 0).
    Memory, JSON and privacy take O(t). Only `matrix`, `weights` and `expected_statistic` are (t, t), and they are made
    when asked for.

    Parameters
    ----------
    own : int
        The weight of the true category.
    other : int
        The weight of each other category.

    Raises
    ------
    DesignError
        Weights that are negative, or that sum to zero or to more than 2⁵³.

    Examples
    --------
    >>> design = Pattern.of(("a", "b", "c"), own=2, other=1)
    >>> design.matrix
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    own: int
    other: int
    space: Labels
    kind: ClassVar[str] = "pattern"
    rule: ClassVar[str] = (
        "Draw u below own + (t - 1) * other, for t categories, numbered from 0, and truth x. If u < x * other, the "
        "response is category floor(u / other); otherwise, if u < x * other + own, it is x; otherwise it is category "
        "floor((u - own) / other) + 1."
    )
    one_pattern = True
    pure = True
    tabular: ClassVar[bool] = True
    exchangeable = True  # renaming the categories changes nothing, so one response stands for all

    def __post_init__(self) -> None:
        if self.space.labels != self.categories:
            raise DesignError("a pattern reports its own categories; other responses need a table")
        if integer(self.own) < 0 or integer(self.other) < 0 or not 0 < self.denominator <= LIMIT:
            raise DesignError(
                "the two weights of a pattern must not be negative, and a column of them must sum to 1 to 2**53; got "
                f"own={self.own}, other={self.other} for {len(self.categories)} categories"
            )

    @classmethod
    def of(cls, categories: Sequence[Any], own: int, other: int, **fields: Any) -> Self:
        """The design over these categories, with weights in lowest terms."""
        labels, shared = tuple(categories), math.gcd(integer(own), integer(other)) or 1
        return cls(categories=labels, space=Labels(labels), own=own // shared, other=other // shared, **fields)

    @property
    def denominator(self) -> int:
        """D, the sum of every column of weights."""
        return self.own + (len(self.categories) - 1) * self.other

    @property
    def weights(self) -> NDArray[np.int64]:
        """The table of integers, (t, t)."""
        return self.integers(self.space.listing())

    @property
    def chances_named(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, self.denominator), Fraction(self.other, self.denominator)

    def integers(self, codes: Codes) -> NDArray[np.int64]:
        result = np.full((len(codes), len(self.categories)), self.other, dtype=np.int64)
        result[np.arange(len(codes)), codes[:, 0]] = self.own
        return result

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.integers(codes) / self.denominator

    def draw(self, truth: Truth, source: Source) -> Codes:
        return drawn_even(self.own, self.other, len(self.categories), truth, source)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(codes), dtype=bool)

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(self.matrix)

    @cached_property
    def even_mean(self) -> tuple[float, float]:
        """(α, β) of the matrix αI + β11ᵀ, which is the mean of the linear statistic."""
        beta = self.other / self.denominator
        return self.own / self.denominator - beta, beta

    @property
    def typical_codes(self) -> Codes:
        return np.zeros((1, 1), dtype=np.int64)

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        return ((Fraction(self.own, self.denominator), Fraction(self.other, self.denominator), len(self.categories)),)

    def faded(self, keep: int, whole: int) -> Pattern:
        if not self.own > self.other:
            raise DesignError("only a design in which the truth is the likeliest answer can be remembered")
        t = len(self.categories)
        own_weight, other_weight = blended(self.own, self.other, (1, t - 1), keep, whole)
        return Pattern.of(self.categories, own=own_weight, other=other_weight)

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        stays = source.below(whole, len(codes)) < keep
        other = source.below(len(self.categories), len(codes))
        return np.where(stays, codes[:, 0], other).reshape(-1, 1)

    def guessed(self, prior: NDArray[np.float64]) -> float:
        """Σ_y max(own π_y, other max_{j ≠ y} π_j) / D."""
        second, first = np.sort(prior)[-2:]
        others = np.where(np.arange(len(prior)) == prior.argmax(), second, first)
        return float(np.maximum(self.own * prior, self.other * others).sum() / self.denominator)


def drawn_even(own_weight: int, other_weight: int, t: int, truth: Truth, source: Source) -> Codes:
    """The responses that a table with these two weights would draw from the same integers, without running sums."""
    response_codes = np.empty((len(truth), 1), dtype=np.int64)
    for start in range(0, len(truth), _BLOCK):
        x = truth[start : start + _BLOCK]
        draws = source.below(own_weight + (t - 1) * other_weight, len(x))
        before = x * other_weight
        # Above the truth's own weight all places move up by `own - other`; within it, they move to its start.
        shifted_draws = np.maximum(draws - (own_weight - other_weight), before) if other_weight else before
        response_codes[start : start + _BLOCK, 0] = (
            np.where(draws < before, draws, shifted_draws) // other_weight if other_weight else x
        )
    return response_codes


_TABLE = (
    "Draw u below the denominator. In the column of the true category add up the weights from the first row on; the "
    "response is the first row whose running sum exceeds u."
)
_ROUNDED = Fraction(1, 2**50)  # rounding to a denominator of 2**53 may change a chance by this much


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Table(Design):
    """A design written out: integer weights, one column a category, one row a response.

    Parameters
    ----------
    weights : (responses, t) int
        Columns that all sum to the same denominator D ≤ 2⁵³; P = weights / D.
    """

    weights: NDArray[np.int64]
    space: Labels
    kind: ClassVar[str] = "table"
    rule: ClassVar[str] = _TABLE
    tabular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _checks.categories(self.categories)
        weights = np.array(self.weights, dtype=np.int64)
        shape = (len(self.space.labels), len(self.categories))
        if weights.shape != shape:
            raise DesignError(
                f"the matrix must have {shape[0]} rows (responses) and {shape[1]} columns; got {weights.shape}"
            )
        sums = weights.sum(axis=0)
        if (weights < 0).any() or (sums != sums[0]).any() or not 0 < sums[0] <= LIMIT:
            raise DesignError(
                f"integer columns must be non-negative and share one sum up to 2**53; sums are {sums.tolist()}"
            )
        object.__setattr__(self, "weights", _checks.read_only(weights))
        self._check_protocol()

    def _check_protocol(self) -> None:
        """Raise if the steps that respondents are told lead to other probabilities than the table's."""
        if self.protocol is None or not self.protocol.complete:
            return
        protocol_weights, protocol_denominator = protocol.probabilities(
            self.protocol.first, self.categories, self.space.labels
        )
        if (
            self.denominator % protocol_denominator == 0
            and (protocol_weights * (self.denominator // protocol_denominator) == self.weights).all()
        ):
            return
        weight_error = (
            protocol_weights.astype(object) * self.denominator - self.weights.astype(object) * protocol_denominator
        )  # too large for 64 bits
        is_wrong = (abs(weight_error) > math.floor(_ROUNDED * self.denominator * protocol_denominator)).any(axis=1)
        if is_wrong.any():
            response = self.space.labels[int(is_wrong.argmax())]
            raise DesignError(f"the protocol does not give {response!r} the probabilities of the table")

    @property
    def denominator(self) -> int:
        """D, the sum of every column of weights."""
        return int(self.weights[:, 0].sum())

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        return _checks.read_only(self.weights / self.denominator)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.matrix[codes[:, 0]]

    def integers(self, codes: Codes) -> NDArray[np.int64]:
        return self.weights[codes[:, 0]]

    def draw(self, truth: Truth, source: Source) -> Codes:
        if self._even is not None:
            return drawn_even(*self._even, len(self.categories), truth, source)
        draws = source.below(self.denominator, len(truth))
        sums = np.cumsum(self.weights, axis=0)
        result = np.empty(len(truth), dtype=np.int64)
        for category in range(len(self.categories)):
            has_category = truth == category
            # side="right": a draw equal to a running sum belongs to the next row, as the rule says.
            result[has_category] = np.searchsorted(sums[:, category], draws[has_category], side="right")
        return result.reshape(-1, 1)

    @cached_property
    def _even(self) -> tuple[int, int] | None:
        """The weight of the true category and that of each other, if the columns are one pattern."""
        return even_weights(self.weights) if len(self.space.labels) == len(self.categories) else None

    @property
    def chances_named(self) -> tuple[Fraction, Fraction] | None:
        if self._even is None:
            return None
        own_weight, other_weight = self._even
        return Fraction(own_weight, self.denominator), Fraction(other_weight, self.denominator)

    @property
    def _pattern(self) -> Pattern:
        """The same chances as two integers.

        Raises
        ------
        DesignError
            Where there are more than two.
        """
        if self._even is None or self.space.labels != self.categories:
            raise DesignError(
                "only a design with one chance for the truth and one for all else can be remembered, such as k_ary"
            )
        return Pattern.of(self.categories, own=self._even[0], other=self._even[1])

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        return self._pattern.pieces

    def faded(self, keep: int, whole: int) -> Pattern:
        return self._pattern.faded(keep, whole)

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        return self._pattern.redrawn(codes, keep, whole, source)

    def _content(self) -> dict[str, Any]:
        table = {"denominator": self.denominator, "columns": self.weights.T.tolist()}
        return {"responses": list(self.space.labels)} | table | ({"yes_no": True} if self.space.yes_no else {})

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Table | Pattern:
        design = cls(**cls._fields(node))
        if design.denominator != integer(node["denominator"]):
            raise DesignError(f"the columns must sum to the denominator {node['denominator']}")
        return compact(design, least=MANY + 1)

    @staticmethod
    def _fields(node: dict[str, Any]) -> dict[str, Any]:
        return told_of(node) | {
            "categories": tuple(node["categories"]),
            "space": Labels(tuple(node["responses"]), yes_no=flag(node.get("yes_no", False))),
            "weights": np.array([[integer(weight) for weight in column] for column in node["columns"]]).T,
        }


def compact(table: Table, *, least: int = LEAST) -> Table | Pattern:
    """The table itself; or its pattern, if it has `least` categories or more and its columns are one pattern.

    Up to `MANY` categories the weights must be in lowest terms, so that the pattern draws the same from the same bytes.
    """
    t = len(table.categories)
    if t < least or table.kind != "table" or table.space.labels != table.categories or table.space.yes_no:
        return table
    even = even_weights(table.weights)
    if even is None or (t <= MANY and math.gcd(*even) != 1):
        return table
    descriptive_fields = {
        "name": table.name,
        "notes": table.notes,
        "protocol": table.protocol,
        "alternatives": table.alternatives,
    }
    return Pattern.of(table.categories, own=even[0], other=even[1], **descriptive_fields)


def even_weights(weights: NDArray[np.int64]) -> tuple[int, int] | None:
    """The number on the diagonal and the number elsewhere, (t, t), if there are no others."""
    own_weight, other_weight = int(weights[0, 0]), int(weights[0, 1])
    # Counting the entries that are not `other` needs no second table of the same size.
    differing = len(weights) if own_weight != other_weight else 0
    even = (weights.diagonal() == own_weight).all() and np.count_nonzero(weights != other_weight) == differing
    return (own_weight, other_weight) if even else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoOption(Table):
    """The table of a survey in which respondents see a few categories and reject a false one.

    It stores how many are shown. From that follows the band of estimates over all ways in which people may choose.
    """

    shown: int = field()  # required: else the base class's value of that name would be the default
    kind: ClassVar[str] = "two_option"

    def form(self) -> dict[str, Any]:
        return super().form() | {"shown": self.shown}

    @staticmethod
    def _fields(node: dict[str, Any]) -> dict[str, Any]:
        return Table._fields(node) | {"shown": integer(node["shown"])}


# Fields of the JSON form that hold labels: of designs, of protocols and of the shares that samples tell apart.
_LISTS, _SINGLE = ("categories", "responses", "members", "of", "among"), ("say", "share")
_NUMBERS = ("columns",)


def relabeled(design: Answerable, labels: Mapping[str, str]) -> Answerable:
    """The same design, its categories and responses called otherwise; what has no new name keeps its own.

    To call people otherwise changes no probability: P stays as it is, row by row and column by column.

    Parameters
    ----------
    design : Answerable
    labels : {label: label}
        By the label as text.

    Raises
    ------
    DesignError
        Two labels that become one.

    Examples
    --------
    >>> from naysay import designs
    >>> other = relabeled(designs.warner(p=0.7), {"yes": "Ja", "no": "Nein"})
    >>> other.categories, other.matrix.tolist()
    (('Ja', 'Nein'), [[0.7, 0.3], [0.3, 0.7]])
    """
    renamed_design: Answerable = of_node(_relabel_node(design.form(), labels))
    return renamed_design


def _relabel_node(node: Any, labels: Mapping[str, str]) -> Any:
    """A part of the JSON form with these labels in place of others."""
    if isinstance(node, list):
        return [_relabel_node(child_node, labels) for child_node in node]
    if not isinstance(node, Mapping):
        return node
    relabeled_node: dict[str, Any] = {}
    for key, value in node.items():
        if key in _LISTS and isinstance(value, list):
            relabeled_node[key] = [labels.get(label, label) if isinstance(label, str) else label for label in value]
        elif key in _SINGLE and isinstance(value, str):
            relabeled_node[key] = labels.get(value, value)
        else:
            relabeled_node[key] = value if key in _NUMBERS else _relabel_node(value, labels)
    return relabeled_node
