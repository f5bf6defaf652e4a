"""The kinds of channels that surveys use: a table of integer weights, its pattern, and sets of categories.

A `Pattern` is a table whose columns are one pattern, in two integers instead of t × t. A `Subset` draws k categories,
too many sets for a table. `relabeled` is the same design about the same people, whose categories have other names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import JsonObject, Label
from naysay.design import protocol
from naysay.design.algebra import Memorable
from naysay.design.base import DESCRIPTIVE_FIELDS, TABLED, Answerable, Design, Structure, Truth, of_node, told_of
from naysay.design.drawing import LIMIT, Source, blended, blocks, flag, integer, labels_of
from naysay.errors import DesignError
from naysay.responses import WORD, Codes, Labels, Subsets

LEAST = 4
"""From so many categories on, a family whose columns are one pattern makes a `Pattern`: its JSON is then shorter than a
table's, with any labels and weights."""

MANY = TABLED
"""With more categories than this, a table of one pattern is read as a `Pattern`; JSON of so many or fewer stays as it
is, so that a design that is open keeps its form."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pattern(Memorable):
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

    def __post_init__(self) -> None:
        if self.space.labels != self.categories:
            raise DesignError("a pattern reports its own categories; other responses need a table")
        if integer(self.own) < 0 or integer(self.other) < 0 or not 0 < self.denominator <= LIMIT:
            raise DesignError(
                "the two weights of a pattern must not be negative, and a column of them must sum to 1 to 2**53; got "
                f"own={self.own}, other={self.other} for {len(self.categories)} categories"
            )

    @classmethod
    def of(cls, categories: Sequence[Label], own: int, other: int, **fields: Any) -> Self:
        """The design over these categories, with weights in lowest terms."""
        labels, shared = tuple(categories), math.gcd(integer(own), integer(other)) or 1
        return cls(categories=labels, space=Labels(labels), own=own // shared, other=other // shared, **fields)

    @classmethod
    def _of_form(cls, node: JsonObject) -> Pattern:  # with the weights as they are: in lowest terms it draws otherwise
        labels = labels_of(node["categories"])
        return cls(categories=labels, space=Labels(labels), own=node["own"], other=node["other"], **told_of(node))

    @property
    def denominator(self) -> int:
        """D, the sum of every column of weights."""
        return self.own + (len(self.categories) - 1) * self.other

    @property
    def weights(self) -> NDArray[np.int64]:
        """The table of integers, (t, t)."""
        return self.integers(self.space.listing())

    @cached_property
    def structure(self) -> Structure:
        named_chances = Fraction(self.own, self.denominator), Fraction(self.other, self.denominator)
        return Structure(
            self,
            exchangeable=True,  # renaming the categories changes nothing, so one response stands for all
            one_pattern=True,
            pure=True,
            tabular=True,
            all_possible=True,
            named_chances=named_chances,
            mean=self._even_mean,
            typical=self._typical_codes,
        )

    def _even_mean(self) -> tuple[float, float]:
        """(α, β) of the matrix αI + β11ᵀ, which is the mean of the linear statistic."""
        beta = self.other / self.denominator
        return self.own / self.denominator - beta, beta

    def _typical_codes(self) -> Codes:
        return np.zeros((1, 1), dtype=np.int64)

    def integers(self, codes: Codes) -> NDArray[np.int64]:
        result = np.full((len(codes), len(self.categories)), self.other, dtype=np.int64)
        result[np.arange(len(codes)), codes[:, 0]] = self.own
        return result

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.integers(codes) / self.denominator

    def draw(self, truth: Truth, source: Source) -> Codes:
        return drawn_even(self.own, self.other, len(self.categories), truth, source)

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(self.matrix)

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


def drawn_even(own_weight: int, other_weight: int, t: int, truth: Truth, source: Source) -> Codes:
    """The responses that a table with these two weights would draw from the same integers, without running sums."""
    response_codes = np.empty((len(truth), 1), dtype=np.int64)
    for rows in blocks(len(truth)):
        x = truth[rows]
        draws = source.below(own_weight + (t - 1) * other_weight, len(x))
        weight_before = x * other_weight
        # Above the truth's own weight all places move up by own_weight - other_weight; within it, to its start.
        shifted_draws = (
            np.maximum(draws - (own_weight - other_weight), weight_before) if other_weight else weight_before
        )
        response_codes[rows, 0] = (
            np.where(draws < weight_before, draws, shifted_draws) // other_weight if other_weight else x
        )
    return response_codes


_TABLE = (
    "Draw u below the denominator. In the column of the true category add up the weights from the first row on; the "
    "response is the first row whose running sum exceeds u."
)
_ROUNDED = Fraction(1, 2**50)  # rounding to a denominator of 2**53 may change a chance by this much


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Table(Memorable):
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

    def __post_init__(self) -> None:
        _checks.categories(self.categories)
        weight_matrix = np.array(self.weights, dtype=np.int64)
        expected_shape = (len(self.space.labels), len(self.categories))
        if weight_matrix.shape != expected_shape:
            raise DesignError(
                f"the matrix must have {expected_shape[0]} rows (responses) and {expected_shape[1]} columns; "
                f"got {weight_matrix.shape}"
            )
        column_sums = weight_matrix.sum(axis=0)
        if (weight_matrix < 0).any() or (column_sums != column_sums[0]).any() or not 0 < column_sums[0] <= LIMIT:
            raise DesignError(
                f"integer columns must be non-negative and share one sum up to 2**53; sums are {column_sums.tolist()}"
            )
        object.__setattr__(self, "weights", _checks.read_only(weight_matrix))
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
    def structure(self) -> Structure:
        even_weights = self._even
        named_chances = even_weights and (
            Fraction(even_weights[0], self.denominator),
            Fraction(even_weights[1], self.denominator),
        )
        return Structure(self, tabular=True, named_chances=named_chances)

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
        running_sums = np.cumsum(self.weights, axis=0)
        response_places = np.empty(len(truth), dtype=np.int64)
        for category in range(len(self.categories)):
            has_category = truth == category
            # side="right": a draw equal to a running sum belongs to the next row, as the rule says.
            response_places[has_category] = np.searchsorted(
                running_sums[:, category], draws[has_category], side="right"
            )
        return response_places.reshape(-1, 1)

    @cached_property
    def _even(self) -> tuple[int, int] | None:
        """The weight of the true category and that of each other, if the columns are one pattern."""
        return even_weights(self.weights) if len(self.space.labels) == len(self.categories) else None

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
    def _of_form(cls, node: JsonObject) -> Table | Pattern:
        design = cls(**cls._fields(node))
        if design.denominator != integer(node["denominator"]):
            raise DesignError(f"the columns must sum to the denominator {node['denominator']}")
        return compact(design, least=MANY + 1)

    @staticmethod
    def _fields(node: JsonObject) -> dict[str, Any]:
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
    own_and_other = even_weights(table.weights)
    if own_and_other is None or (t <= MANY and math.gcd(*own_and_other) != 1):
        return table
    descriptive_fields = {field_name: getattr(table, field_name) for field_name in DESCRIPTIVE_FIELDS}
    return Pattern.of(table.categories, own=own_and_other[0], other=own_and_other[1], **descriptive_fields)


def even_weights(weights: NDArray[np.int64]) -> tuple[int, int] | None:
    """The number on the diagonal and the number elsewhere, (t, t), if there are no others."""
    own_weight, other_weight = int(weights[0, 0]), int(weights[0, 1])
    # Counting the entries that are not `other` needs no second table of the same size.
    expected_differing = len(weights) if own_weight != other_weight else 0
    is_even = (weights.diagonal() == own_weight).all() and np.count_nonzero(
        weights != other_weight
    ) == expected_differing
    return (own_weight, other_weight) if is_even else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoOption(Table):
    """The table of a survey in which respondents see a few categories and reject a false one.

    It stores how many are shown. From that follows the band of estimates over all ways in which people may choose.
    """

    shown: int = field()  # required: else the base class's value of that name would be the default
    kind: ClassVar[str] = "two_option"

    @cached_property
    def structure(self) -> Structure:
        return replace(super().structure, shown=self.shown)

    def form(self) -> dict[str, Any]:
        return super().form() | {"shown": self.shown}

    @staticmethod
    def _fields(node: JsonObject) -> dict[str, Any]:
        shown = _checks.whole_number(integer(node["shown"]), 2, len(node["categories"]), what="shown")
        return Table._fields(node) | {"shown": shown}


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
    return of_node(_relabel_node(design.form(), labels))


def _relabel_node(node: object, labels: Mapping[str, str]) -> Any:
    """A part of the JSON form with these labels in place of others."""
    if isinstance(node, list):
        return [_relabel_node(child_node, labels) for child_node in node]
    if not isinstance(node, Mapping):
        return node
    relabeled_node: dict[str, Any] = {}
    for field_name, field_content in node.items():
        if field_name in _LISTS and isinstance(field_content, list):
            relabeled_node[field_name] = [
                labels.get(label, label) if isinstance(label, str) else label for label in field_content
            ]
        elif field_name in _SINGLE and isinstance(field_content, str):
            relabeled_node[field_name] = labels.get(field_content, field_content)
        else:
            relabeled_node[field_name] = (
                field_content if field_name in _NUMBERS else _relabel_node(field_content, labels)
            )
    return relabeled_node


_SET = "The response is the set of discarded categories; as text, in the order of the categories, joined by ';'."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Discarded(Design):
    """A design whose response is a set of `discards` categories."""

    discards: int
    space: Subsets

    def __post_init__(self) -> None:
        t = len(self.categories)
        if not 1 <= integer(self.discards) <= t - 1:
            raise DesignError(f"discards must lie between 1 and {t - 1} for {t} categories; got {self.discards}")

    @classmethod
    def of(cls, categories: Sequence[Label], discards: int, **fields: Any) -> Self:
        """The design over these categories."""
        labels = tuple(categories)
        return cls(categories=labels, space=Subsets(labels, discards, discards), discards=discards, **fields)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Subset(_Discarded):
    """k categories drawn with equal chances: out of the t - 1 false ones (``truthful``), or out of all t.

    P(S | j) = 1 / C(t - 1, k) for every k-subset S that does not hold j. Sets are never listed, so that t = 60, k = 30
    costs time and memory only for the sets that were drawn.

    Parameters
    ----------
    discards : int
        k, from 1 to t - 1. At t - 1 a truthful answer reveals the true category.
    truthful : bool
        Whether the true category stays out of the set. If not, the answer is pure noise.
    """

    truthful: bool = True
    kind: ClassVar[str] = "subset"
    rule: ClassVar[str] = (
        "With t categories, truth x and k to discard: visit x+1, x+2, ... (modulo t, x itself left out). At each visit "
        "draw an integer below the number of categories not yet visited, this one included; discard this one if the "
        "integer is less than the number still to be discarded. If truthful is false, visit 0, 1, ..., t-1 instead. "
        + _SET
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.truthful)

    @property
    def candidates(self) -> int:
        """How many categories may be drawn."""
        return len(self.categories) - self.truthful

    @cached_property
    def structure(self) -> Structure:
        return Structure(self, exchangeable=True, all_possible=True)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        probability = 1 / math.comb(self.candidates, self.discards)
        if not self.truthful:
            return np.full((len(codes), len(self.categories)), probability)
        return np.where(self.space.decode(codes), 0.0, probability)

    def draw(self, truth: Truth, source: Source) -> Codes:
        """Selection sampling: go through the candidates, take each with chance (still needed) / (still to come)."""
        t, n = len(self.categories), len(truth)
        first_candidate = truth + 1 if self.truthful else np.zeros(n, dtype=np.int64)
        still_needed = np.full(n, self.discards, dtype=np.int64)
        codes = np.zeros((n, self.space.width), dtype=np.int64)
        for candidate_number in range(self.candidates):
            is_taken = source.below(self.candidates - candidate_number, n) < still_needed
            still_needed -= is_taken
            _set_bits(codes, (first_candidate + candidate_number) % t, is_taken)
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """E[M_i | X = j] = k / (t - 1) for i ≠ j, and 0 for i = j."""
        t = len(self.categories)
        expected = np.full((t, t), self.discards / self.candidates)
        if self.truthful:
            np.fill_diagonal(expected, 0.0)
        return _checks.read_only(expected)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedSubset(_Discarded):
    """k false categories drawn with probability in proportion to the product of their weights.

    P(S | j) = Π_{i ∈ S} w_i / e_k(w without j) for j ∉ S. Here e_k is the elementary symmetric polynomial of degree k.

    Parameters
    ----------
    discards : int
        k, from 1 to t - 1.
    weights : tuple of int
        Positive integers, one for each category; their e_k must not exceed 2⁵³.
    """

    weights: tuple[int, ...]
    kind: ClassVar[str] = "weighted_subset"
    rule: ClassVar[str] = (
        "Visit 0, 1, ..., t-1 without x. Let c be the number still to be discarded and e(c, S) the sum over the "
        "c-subsets of S of the products of their weights (e(0, S) = 1). Draw an integer below e(c, this and the rest); "
        "discard this one if the integer is less than its weight times e(c-1, the rest). " + _SET
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        t, kinds = len(self.categories), set(map(type, self.weights))
        if len(self.weights) != t or kinds != {int} or min(self.weights) < 1:
            raise DesignError(f"weights must be {t} positive integers, one a category; got {self.weights}")
        if symmetric_sums(self.weights, self.discards)[-1] > LIMIT:
            raise DesignError("the weights are too fine: their e_k exceeds 2**53; use smaller integers")

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """e_k of the weights without each category, (t,)."""
        w = self.weights
        return np.array([symmetric_sums(w[:j] + w[j + 1 :], self.discards)[-1] for j in range(len(w))], dtype=float)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        members = self.space.decode(codes)
        product = np.where(members, np.array(self.weights, dtype=float), 1.0).prod(axis=1)
        return np.where(members, 0.0, product[:, None] / self.totals)

    @cached_property
    def structure(self) -> Structure:
        # Every set of the right size leaves out a category that can give it.
        return Structure(self, all_possible=True, typical=self._typical_codes)

    def _typical_codes(self) -> Codes:
        """All responses; if too many, the most revealing one: it leaves the heaviest category and the lightest ones."""
        if self.space.listable:
            return self.space.listing()
        heaviest_first = sorted(range(len(self.weights)), key=lambda place: -self.weights[place])
        is_member = np.zeros((1, len(self.weights)), dtype=bool)
        is_member[0, heaviest_first[1 : self.discards + 1]] = True
        return self.space.pack(is_member)

    def draw(self, truth: Truth, source: Source) -> Codes:
        codes = np.zeros((len(truth), self.space.width), dtype=np.int64)
        for category in np.unique(truth).tolist():
            category_rows = np.flatnonzero(truth == category)
            category_codes = np.zeros((len(category_rows), self.space.width), dtype=np.int64)
            still_needed = np.full(len(category_rows), self.discards, dtype=np.int64)
            weights = [(i, weight) for i, weight in enumerate(self.weights) if i != category]
            for candidate_number, (candidate_place, candidate_weight) in enumerate(weights):
                weights_left = [weight for _, weight in weights[candidate_number:]]
                with_this, sums_without = (symmetric_sums(w, self.discards) for w in (weights_left, weights_left[1:]))
                is_taken = np.zeros(len(category_rows), dtype=bool)
                for c in range(1, self.discards + 1):
                    waiting_rows = np.flatnonzero(still_needed == c)
                    if len(waiting_rows):
                        draws = source.below(with_this[c], len(waiting_rows))
                        is_taken[waiting_rows] = draws < candidate_weight * sums_without[c - 1]
                still_needed -= is_taken
                _set_bits(category_codes, np.full(len(category_rows), candidate_place), is_taken)
            codes[category_rows] = category_codes
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """E[M_i | X = j] = w_i e_{k-1}(w without i, j) / e_k(w without j)."""
        w, k = self.weights, self.discards
        expected = np.zeros((len(w), len(w)))
        for i, j in itertools.permutations(range(len(w)), 2):
            other_weights = [weight for place, weight in enumerate(w) if place not in (i, j)]
            expected[i, j] = w[i] * symmetric_sums(other_weights, k - 1)[-1] / self.totals[j]
        return _checks.read_only(expected)


def symmetric_sums(weights: Sequence[int], k: int) -> list[int]:
    """Elementary symmetric polynomials e_0 … e_k of the weights.

    Examples
    --------
    >>> symmetric_sums((1, 2, 3), 2)
    [1, 6, 11]
    """
    sums = [1] + [0] * k
    for weight in weights:
        for subset_size in range(k, 0, -1):
            sums[subset_size] += weight * sums[subset_size - 1]
    return sums


def _set_bits(codes: Codes, positions: NDArray[np.int64], is_taken: NDArray[np.bool_]) -> None:
    """Add each taken position to the set of its row."""
    if codes.shape[1] == 1:
        codes[:, 0] |= is_taken.astype(np.int64) << positions
    else:
        codes[np.arange(len(codes)), positions // WORD] |= is_taken.astype(np.int64) << (positions % WORD)
