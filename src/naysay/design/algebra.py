"""Designs made of designs: a lottery between them, one after another, two questions, or two answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, check_channel
from naysay.design.chances import Truth
from naysay.design.drawing import Source, system
from naysay.design.exact import LIMIT, as_fraction, integer, rounded
from naysay.errors import DesignError
from naysay.responses import Codes, Labels, Margins, Pair, columns_of

_MOST = 10_000  # entries of a table up to which chances are multiplied exactly


def mix(*weighted: tuple[Any, Design]) -> Mixture:
    """A lottery: each respondent answers under one of several designs, and nobody learns which one.

    P = Σ w_c P_c / Σ w_c. A negative answer alone rules categories out for certain, so ε = ∞. Mixed with noise, it has
    a finite ε.

    Parameters
    ----------
    *weighted : (weight, Design)
        Integer or decimal weights, read as written; they need not sum to one. The designs share their categories and
        their response space.

    Raises
    ------
    DesignError
        Weights that are not positive; designs that differ in categories or in what may be reported.

    Examples
    --------
    >>> from naysay import designs
    >>> answers = ("a", "b", "c")
    >>> mix((3, designs.negative(answers)), (1, designs.uniform(answers))).matrix.round(3)
    array([[0.083, 0.458, 0.458],
           [0.458, 0.083, 0.458],
           [0.458, 0.458, 0.083]])
    """
    pairs: Sequence[Any] = weighted
    if len(pairs) < 2 or any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pairs):
        raise DesignError("a mix is made of two or more pairs (weight, design): mix((1, direct), (1, uniform))")
    exact = [as_fraction(weight, what="a weight of the mix") for weight, _ in weighted]
    if min(exact) <= 0:
        raise DesignError(
            f"the weights of a mix must be positive; got {_checks.listing_text(weight for weight, _ in weighted)}"
        )
    scale = math.lcm(*(weight.denominator for weight in exact))
    integer_weights = [int(weight * scale) for weight in exact]
    shared = math.gcd(*integer_weights)
    if sum(integer_weights) > LIMIT * shared:  # such as 1/3 given as a float: its exact denominator is too large
        integer_weights, shared = rounded(exact), 1
    parts = [check_channel(design, "a component of a mix") for _, design in weighted]
    name = ", ".join(f"({weight}, {part.name or part.kind})" for (weight, _), part in zip(weighted, parts, strict=True))
    return Mixture.of(tuple(weight // shared for weight in integer_weights), parts, name=f"mix({name})")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mixture(Design):
    """A lottery between designs that share one response space; see `mix`."""

    weights: tuple[int, ...]
    components: tuple[Design, ...]
    kind: ClassVar[str] = "mixture"
    written: ClassVar[tuple[str, ...]] = ("name",)
    rule: ClassVar[str] = (
        "Draw u below the sum of the weights; the component is the first whose running sum exceeds u; draw from it."
    )

    @property
    def made_of(self) -> tuple[Design, ...]:
        return self.components

    def __post_init__(self) -> None:
        first, *others = self.components
        for other in others:
            if other.categories != first.categories:
                raise DesignError(
                    "the designs of a mix must have the same categories; got "
                    f"{_checks.listing_text(first.categories)} and {_checks.listing_text(other.categories)}"
                )
            if other.space != first.space:
                raise DesignError(
                    "the designs of a mix must share one response space, or the answer would tell which one was used; "
                    f"got {first.space.form()} and {other.space.form()}"
                )
        if (
            len(self.weights) != len(self.components)
            or sum(self.weights) > LIMIT
            or min(map(integer, self.weights)) < 1
        ):
            raise DesignError(
                f"the weights of a mix must be {len(self.components)} positive integers that sum to at most 2**53; "
                f"got {_checks.listing_text(self.weights)}"
            )

    @classmethod
    def of(cls, weights: tuple[int, ...], components: Sequence[Answerable], **fields: Any) -> Mixture:
        """The lottery between these designs, with these odds."""
        parts = tuple(check_channel(component, "a component of a mix") for component in components)
        categories, space = parts[0].categories, parts[0].space
        return cls(categories=categories, space=space, weights=weights, components=parts, **fields)

    @property
    def _shares(self) -> NDArray[np.float64]:
        return np.array(self.weights) / sum(self.weights)

    @property
    def exchangeable(self) -> bool:
        return all(component.exchangeable for component in self.components)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        parts = zip(self._shares, self.components, strict=True)
        return np.asarray(sum(share * component.rows(codes) for share, component in parts))

    def draw(self, truth: Truth, source: Source) -> Codes:
        # side="right": a draw equal to a running sum belongs to the next component, as the rule says.
        lot = np.searchsorted(np.cumsum(self.weights), source.below(sum(self.weights), len(truth)), side="right")
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for place, component in enumerate(self.components):
            at_component = lot == place
            codes[at_component] = component.draw(truth[at_component], source)
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        parts = zip(self._shares, self.components, strict=True)
        return _checks.read_only(np.asarray(sum(share * component.expected_statistic for share, component in parts)))

    def _second_moments(self) -> NDArray[np.float64] | None:
        component_moments = [component.second_moments() for component in self.components]
        weighted_moments = [
            weight * moments
            for weight, moments in zip(self.weights, component_moments, strict=True)
            if moments is not None
        ]
        return (
            np.asarray(sum(weighted_moments)) / sum(self.weights)
            if len(weighted_moments) == len(component_moments)
            else None
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _TwoDesigns(Design):
    """A design of two designs."""

    first: Design
    second: Design
    written: ClassVar[tuple[str, ...]] = ("name",)

    @property
    def made_of(self) -> tuple[Design, ...]:
        return self.first, self.second

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        return cls.of(node["first"], node["second"])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Then(_TwoDesigns):
    """One design after another; see `Design.then`."""

    kind: ClassVar[str] = "then"
    rule: ClassVar[str] = "Draw from first; its response, by position, is the truth of second; draw from second."

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Then:
        """The design `first` followed by `second`."""
        first, second = check_channel(first, "what is followed"), check_channel(second, "what follows a design")
        if not isinstance(first.space, Labels):
            raise DesignError("only a design that reports one label can be followed by another; this one reports sets")
        if tuple(map(str, first.space.labels)) != tuple(map(str, second.categories)):
            raise DesignError(
                "the second design must take the first one's responses as its categories; responses are "
                f"{_checks.listing_text(first.space.labels)}, categories are {_checks.listing_text(second.categories)}"
            )
        name = f"{first.name or first.kind}.then({second.name or second.kind})"
        return cls(categories=first.categories, space=second.space, first=first, second=second, name=name)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.second.rows(codes) @ self.first.matrix

    def integers(self, codes: Codes) -> NDArray[Any] | None:
        """Products of the integers of both, where both store them."""
        if self.first.space.size * len(self.categories) > _MOST:
            return None
        first, last = self.first.integers(self.first.space.listing()), self.second.integers(codes)
        if first is None or last is None:
            return None
        return np.asarray(last.astype(object) @ first.astype(object))

    def draw(self, truth: Truth, source: Source) -> Codes:
        return self.second.draw(self.first.draw(truth, source)[:, 0], source)

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(self.second.expected_statistic @ self.first.matrix)

    def _second_moments(self) -> NDArray[np.float64] | None:
        last = self.second.second_moments()
        return None if last is None else np.asarray(np.tensordot(self.first.matrix.T, last, axes=1))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Product(_TwoDesigns):
    """Two questions to one person, each randomized on its own; three or more where one of the two is a product.

    Categories are pairs; P is the Kronecker product. Truth and answers are two columns.

    Examples
    --------
    >>> from naysay import designs
    >>> both = designs.warner(p=0.8) * designs.negative(("a", "b", "c"))
    >>> both.matrix.shape, both.categories[1]
    ((6, 6), ('yes', 'b'))
    >>> three = both * designs.direct(("f", "m"))
    >>> three.matrix.shape, three.categories[1]
    ((12, 12), ('yes', 'a', 'm'))
    """

    space: Pair
    kind: ClassVar[str] = "product"
    rule: ClassVar[str] = "Draw from first, then from second; categories are numbered i * (categories of second) + j."

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Product:
        """The design of both questions."""
        first, second = check_channel(first, "the first question"), check_channel(second, "the second question")
        name = f"{first.name or first.kind} * {second.name or second.kind}"
        return cls(
            categories=crossed_labels(first, second),
            space=Pair(first.space, second.space),
            first=first,
            second=second,
            name=name,
        )

    @property
    def factors(self) -> tuple[Answerable, ...]:
        return (*self.first.factors, *self.second.factors)

    @property
    def exchangeable(self) -> bool:
        return self.first.exchangeable and self.second.exchangeable

    def positions(self, truth: Any, source: Source = system) -> Truth:
        first_truth, second_truth = columns_of(truth, len(self.first.factors), len(self.second.factors))
        first, second = self.first.positions(first_truth, source), self.second.positions(second_truth, source)
        is_known = (first >= 0) & (second >= 0)
        return np.where(is_known, first * len(self.second.categories) + second, -1)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        first_codes, second_codes = self.space.split(codes)
        rows = [_rows_of_one(design, part) for design, part in ((self.first, first_codes), (self.second, second_codes))]
        return np.asarray((rows[0][:, :, None] * rows[1][:, None, :]).reshape(len(codes), len(self.categories)))

    def draw(self, truth: Truth, source: Source) -> Codes:
        first, second = np.divmod(truth, len(self.second.categories))
        return np.hstack([self.first.draw(first, source), self.second.draw(second, source)])

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(np.kron(self.first.expected_statistic, self.second.expected_statistic))

    def _second_moments(self) -> NDArray[np.float64] | None:
        first_moments, second_moments = self.first.second_moments(), self.second.second_moments()
        if first_moments is None or second_moments is None:
            return None
        size = first_moments.shape[1] * second_moments.shape[1]
        pair_moments = np.einsum("iab,jcd->ijacbd", first_moments, second_moments)
        return np.asarray(pair_moments.reshape(len(self.categories), size, size))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Both(_TwoDesigns):
    """Two answers about one category, each randomized on its own. Answers come in two columns.

    P(y, y' | j) = P(y | j) P(y' | j).

    Examples
    --------
    >>> from naysay import designs
    >>> twice = Both.of(designs.warner(p=0.7), designs.warner(p=0.7))
    >>> twice.matrix[:, 0].round(2)
    array([0.49, 0.21, 0.21, 0.09])
    """

    space: Margins
    kind: ClassVar[str] = "both"
    rule: ClassVar[str] = "Draw from first, then from second, both times with the same truth."

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Both:
        """The design of both answers."""
        first, second = check_channel(first, "the first answer"), check_channel(second, "the second answer")
        if first.categories != second.categories:
            raise DesignError(
                "two answers about one category need the same categories; got "
                f"{_checks.listing_text(first.categories)} and {_checks.listing_text(second.categories)}"
            )
        name = f"both({first.name or first.kind}, {second.name or second.kind})"
        space = Margins(first.space, second.space)
        return cls(categories=first.categories, space=space, first=first, second=second, name=name)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        first_codes, second_codes = self.space.split(codes)
        return _rows_of_one(self.first, first_codes) * _rows_of_one(self.second, second_codes)

    def draw(self, truth: Truth, source: Source) -> Codes:
        return np.hstack([self.first.draw(truth, source), self.second.draw(truth, source)])

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(np.vstack([self.first.expected_statistic, self.second.expected_statistic]))


def crossed_labels(first: Answerable, second: Answerable, of: str = "categories") -> tuple[Any, ...]:
    """The pairs of two questions' categories (or cells). Where one of the two is a product, the tuples are longer."""
    label_tuples = (
        getattr(design, of) if len(design.factors) > 1 else [(label,) for label in getattr(design, of)]
        for design in (first, second)
    )
    return tuple(first_label + second_label for first_label, second_label in itertools.product(*label_tuples))


def _rows_of_one(design: Design, codes: Codes) -> NDArray[np.float64]:
    """Likelihood rows of one of two answers; a row of ones where only the other answer was given."""
    has_answer = ~design.space.missing(codes)
    rows = np.ones((len(codes), len(design.categories)))
    rows[has_answer] = design.rows(codes[has_answer])
    return rows
