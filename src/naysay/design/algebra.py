"""Designs made of designs: a lottery, two answers about one category, a report that is remembered, several questions.

*Memory.* What is kept is the memo, a response of `first`. Each wave sends it through a `Redraw`: with chance keep/whole
it stays, otherwise it is replaced by one of its n alternatives, each with the same chance. Both steps together are
again a design of the family of `first`, with smaller odds: moments, variances, intervals and tallies are those of that
design.

The memo is one of several pieces that are redrawn apart: a label, the value of a hash (the hash stays), a set, or each
bit of a unary report. If p and q are the chances of a piece of the memo in two categories, w equal reports have odds

    (1 + p (ρ^w - 1)) / (1 + q (ρ^w - 1)),  ρ = (keep n + whole - keep) / (whole - keep),

which is the odds of one report for w = 1 and p/q in the limit. It is the most that w reports of one memo tell. It can
exceed the odds of w independent reports: a memo that is seen twice is more than two draws.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import JsonObject, Label
from naysay.design.base import (
    Answerable,
    Design,
    Offer,
    Product,
    Share,
    Structure,
    Truth,
    TwoDesigns,
    check_channel,
    crossed_labels,
    rows_of_one,
    told_of,
)
from naysay.design.drawing import LIMIT, Source, as_fraction, blocks, flag, integer, rounded, source_of, system
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Margins, Pair, Responses, columns_of


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
    weight_pairs: Sequence[Any] = weighted
    if len(weight_pairs) < 2 or any(
        not isinstance(weight_pair, tuple | list) or len(weight_pair) != 2 for weight_pair in weight_pairs
    ):
        raise DesignError("a mix is made of two or more pairs (weight, design): mix((1, direct), (1, uniform))")
    exact_weights = [as_fraction(weight, what="a weight of the mix") for weight, _ in weighted]
    if min(exact_weights) <= 0:
        raise DesignError(
            f"the weights of a mix must be positive; got {_checks.listing_text(weight for weight, _ in weighted)}"
        )
    common_denominator = math.lcm(*(weight.denominator for weight in exact_weights))
    integer_weights = [int(weight * common_denominator) for weight in exact_weights]
    common_divisor = math.gcd(*integer_weights)
    if (
        sum(integer_weights) > LIMIT * common_divisor
    ):  # such as 1/3 given as a float: its exact denominator is too large
        integer_weights, common_divisor = rounded(exact_weights), 1
    component_designs = [check_channel(component_design, "a component of a mix") for _, component_design in weighted]
    component_list = ", ".join(
        f"({weight}, {part.name or part.kind})" for (weight, _), part in zip(weighted, component_designs, strict=True)
    )
    return Mixture.of(
        tuple(weight // common_divisor for weight in integer_weights), component_designs, name=f"mix({component_list})"
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mixture(Design):
    """A lottery between designs that share one response space; see `mix`."""

    weights: tuple[int, ...]
    components: tuple[Design, ...]
    kind: ClassVar[str] = "mixture"
    _written: ClassVar[tuple[str, ...]] = ("name",)
    rule: ClassVar[str] = (
        "Draw u below the sum of the weights; the component is the first whose running sum exceeds u; draw from it."
    )

    def __post_init__(self) -> None:
        first_component, *other_components = self.components
        for other_component in other_components:
            if other_component.categories != first_component.categories:
                raise DesignError(
                    "the designs of a mix must have the same categories; got "
                    f"{_checks.listing_text(first_component.categories)} and "
                    f"{_checks.listing_text(other_component.categories)}"
                )
            if other_component.space != first_component.space:
                raise DesignError(
                    "the designs of a mix must share one response space, or the answer would tell which one was used; "
                    f"got {first_component.space.form()} and {other_component.space.form()}"
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

    @cached_property
    def structure(self) -> Structure:
        is_exchangeable = all(component.structure.exchangeable for component in self.components)
        return Structure(self, exchangeable=is_exchangeable, made_of=self.components)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        parts = zip(self._shares, self.components, strict=True)
        return np.asarray(sum(share * component.rows(codes) for share, component in parts))

    def draw(self, truth: Truth, source: Source) -> Codes:
        # side="right": a draw equal to a running sum belongs to the next component, as the rule says.
        lot = np.searchsorted(np.cumsum(self.weights), source.below(sum(self.weights), len(truth)), side="right")
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for component_place, component in enumerate(self.components):
            at_component = lot == component_place
            codes[at_component] = component.draw(truth[at_component], source)
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        parts = zip(self._shares, self.components, strict=True)
        return _checks.read_only(np.asarray(sum(share * component.expected_statistic for share, component in parts)))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Both(TwoDesigns):
    """Two answers about one category, each randomized on its own. Answers come in two columns.

    P(y, y' | j) = P(y | j) P(y' | j).

    Parameters
    ----------
    joint : bool
        Whether moments also read how often the two answers agree; otherwise only how often each was given.

    Examples
    --------
    >>> from naysay import designs
    >>> twice = Both.of(designs.warner(p=0.7), designs.warner(p=0.7))
    >>> twice.matrix[:, 0].round(2)
    array([0.49, 0.21, 0.21, 0.09])
    """

    joint: bool = False
    space: Pair
    kind: ClassVar[str] = "both"
    rule: ClassVar[str] = "Draw from first, then from second, both times with the same truth."

    @classmethod
    def of(cls, first: Answerable, second: Answerable, *, joint: bool = False) -> Both:
        """The design of both answers."""
        first, second = check_channel(first, "the first answer"), check_channel(second, "the second answer")
        if first.categories != second.categories:
            raise DesignError(
                "two answers about one category need the same categories; got "
                f"{_checks.listing_text(first.categories)} and {_checks.listing_text(second.categories)}"
            )
        design_name = f"both({first.name or first.kind}, {second.name or second.kind})"
        space = (Pair if joint else Margins)(first.space, second.space)
        return cls(categories=first.categories, space=space, first=first, second=second, name=design_name, joint=joint)

    @classmethod
    def _of_form(cls, node: JsonObject) -> Design:
        return cls.of(node["first"], node["second"], joint=flag(node.get("joint", False)))

    def _content(self) -> dict[str, Any]:
        content = super()._content()
        return content if self.joint else {name: part for name, part in content.items() if name != "joint"}

    def _answers(self, *, joint: bool) -> list[Design]:
        return [self] if self.joint and not joint else [*self.first._answers(joint=joint), self.second]

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        first_codes, second_codes = self.space.split(codes)
        return rows_of_one(self.first, first_codes) * rows_of_one(self.second, second_codes)

    def draw(self, truth: Truth, source: Source) -> Codes:
        return np.hstack([self.first.draw(truth, source), self.second.draw(truth, source)])

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        first_statistic, second_statistic = self.first.expected_statistic, self.second.expected_statistic
        if self.joint:  # the two draws are independent, given the category
            product = first_statistic[:, None, :] * second_statistic[None, :, :]
            return _checks.read_only(product.reshape(-1, product.shape[2]))
        return _checks.read_only(np.vstack([first_statistic, second_statistic]))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Memorable(Design):
    """A design whose responses can be kept and sent with noise: each is one piece or several, redrawn apart."""

    @property
    @abstractmethod
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """(p, q, n) of each piece of a response that noise redraws by itself.

        Its chance where the response speaks for the category, and where not; and among how many it is redrawn.
        """

    @abstractmethod
    def faded(self, keep: int, whole: int) -> Design:
        """The design of the same family in which each piece of a response stays only with chance keep/whole."""

    @abstractmethod
    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        """Responses in which each piece stays with chance keep/whole, and is drawn evenly otherwise."""


def memorable(design: Design) -> Memorable:
    """The design itself, if its responses can be remembered."""
    if isinstance(design, Memorable):
        return design
    raise DesignError(
        "only pure designs can be remembered: k-ary, subset selection, affine or unary; this one is of kind "
        f"{design.kind!r}"
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Remembered(Design):
    """A report that is kept and sent with fresh noise in each wave; see `Redraw`.

    Parameters
    ----------
    first : Design
        The design of the memo: k-ary, subset selection, affine or unary. Its ε is that of a lifetime.
    second : Redraw
        The noise of each wave.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.remembered(128, epsilon=1, lifetime=2)
    >>> survey.wave == designs.affine(128, epsilon=1)
    True
    >>> [round(survey.epsilon_after(waves), 2) for waves in (1, 2, 5, 100)]
    [1.0, 1.66, 2.0, 2.0]
    """

    first: Design
    second: Redraw
    kind: ClassVar[str] = "remembered"
    _written: ClassVar[tuple[str, ...]] = ("name", "notes")
    rule: ClassVar[str] = (
        "Draw the memo from first; a device that remembers draws it once, and keeps it. Then, for each report, draw u "
        "below whole. If the memo is one of t labels, draw v below t; the report is the memo if u < keep, otherwise "
        "label v. If it is the number s*g+y of an affine design, draw v below g; the report is s*g+y if u < keep, "
        "otherwise s*g+v. If it is a set of k of t categories, draw for j = t-k, ..., t-1 a number v below j+1; the "
        "candidate is v if it was not drawn before, otherwise j; the report is the memo if u < keep, otherwise the set "
        "of the candidates. If it is unary, draw for each category, in order, its own u below whole, then v below 2; "
        "the category is named as in the memo if u < keep, otherwise if v = 1."
    )

    def __post_init__(self) -> None:
        _ = self.wave  # raises where the two steps do not fit

    @classmethod
    def of(cls, first: Answerable, second: Redraw, **fields: Any) -> Remembered:
        """The design of these two steps."""
        memo = check_channel(first, "what is remembered")
        fields.setdefault("name", f"{memo.name or memo.kind}.then(Redraw({second.keep}, {second.whole}))")
        return cls(categories=memo.categories, space=memo.space, first=memo, second=second, **fields)

    @classmethod
    def _of_form(cls, node: JsonObject) -> Design:
        second = node["second"]
        second = Redraw(second["keep"], second["whole"]) if isinstance(second, Mapping) else second
        return cls.of(node["first"], second, **{name: value for name, value in told_of(node).items() if value})

    @cached_property
    def wave(self) -> Design:
        """The design of one report by itself: the same family, with the odds of both steps together."""
        return self.memo.faded(self.second.keep, self.second.whole)

    @property
    def memo(self) -> Memorable:
        """The design of the memo."""
        return memorable(self.first)

    def _positions(self, truth: object, source: Source = system) -> Truth:
        return self.first._positions(truth, source)

    def draw(self, truth: Truth, source: Source) -> Codes:
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for rows in blocks(len(truth)):
            codes[rows] = self.again(self.first.draw(truth[rows], source), source)
        return codes

    def again(self, memo: Codes, source: Source) -> Codes:
        """The reports of one more wave from these memos."""
        return self.memo.redrawn(memo, self.second.keep, self.second.whole, source)

    def epsilon_after(self, waves: int) -> float:
        """ε of that many reports of one memo together: one wave's ε at first, at most that of `first`.

        Raises
        ------
        DesignError
            Fewer than one wave.
        """
        if waves < 1:
            raise DesignError(f"a memo is reported in one wave or more; got {waves}")
        keep_weight, whole_weight, exact_epsilon = self.second.keep, self.second.whole, Decimal(0)
        with localcontext() as context:
            context.prec, context.Emax = 60, 10**15
            for p, q, n in self.memo.pieces:
                growth_less_one = (
                    Decimal(keep_weight * n + whole_weight - keep_weight) / (whole_weight - keep_weight)
                ) ** waves - 1
                likely_factor, rare_factor = (
                    1 + growth_less_one * piece_chance.numerator / piece_chance.denominator for piece_chance in (p, q)
                )
                exact_epsilon += (likely_factor / rare_factor).ln()
        nearest_float = float(exact_epsilon)
        return nearest_float if Decimal(nearest_float) >= exact_epsilon else math.nextafter(nearest_float, math.inf)

    @cached_property
    def structure(self) -> Structure:
        return replace(self.wave.structure, tabular=False, transform=None, made_of=(self.first,))

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.wave.rows(codes)

    def integers(self, codes: Codes) -> NDArray[np.int64] | None:
        return self.wave.integers(codes)

    @property
    def expected_statistic(self) -> NDArray[np.float64]:
        return self.wave.expected_statistic


def memory_of(design: object) -> Remembered | None:
    """The design itself, if its answers are remembered."""
    return cast("Remembered", design) if getattr(design, "kind", "") == Remembered.kind else None


@dataclass(frozen=True)
class Redraw:
    """Noise on a report: it stays with chance keep/whole, and is otherwise drawn from all that it may be.

    Parameters
    ----------
    keep, whole : int
        0 < keep < whole ≤ 2⁵³.

    Raises
    ------
    DesignError
        Other numbers.

    Examples
    --------
    >>> from naysay import designs, privacy
    >>> first = designs.affine(1024, epsilon=2, base=3)
    >>> wave = first.then(Redraw(1, 2))
    >>> wave.kind, round(privacy.epsilon(wave), 3), round(privacy.epsilon(first), 3)
    ('remembered', 0.935, 2.0)
    """

    keep: int
    whole: int

    def __post_init__(self) -> None:
        if not 0 < integer(self.keep) < integer(self.whole) <= LIMIT:
            raise DesignError(f"0 < keep < whole <= 2**53 must hold; got keep={self.keep}, whole={self.whole}")

    def following(self, first: Answerable) -> Remembered:
        """The design that remembers a response of `first`, and sends it with this noise."""
        return Remembered.of(first, self)

    def form(self) -> dict[str, int]:
        """The two numbers, as JSON."""
        return {"keep": self.keep, "whole": self.whole}


class Crossing(Answerable):
    """Several channels with names; a question of them is crossed with any other."""

    @abstractmethod
    def level_named(self, name: Label) -> Any:
        """The level of that name (a number or its text)."""

    def __mul__(self, other: object) -> Crossed:
        return Crossed.of(self, other) if isinstance(other, Answerable) else NotImplemented

    def __rmul__(self, other: object) -> Crossed:
        return Crossed.of(other, self) if isinstance(other, Answerable) else NotImplemented


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Crossed(Crossing):
    """Two questions to one person, ``a * b``, where one question or both have levels or samples.

    Each pair of their levels is a level of its own; its channel is the product of both channels. Where only one
    question has levels, the levels keep their names. Answers come in one column for each question, and levels in one
    column for each question that has levels.

    Examples
    --------
    >>> from naysay import designs
    >>> choice = designs.negative_levels(("a", "b", "c"))
    >>> (choice * choice).levels
    ((1, 1), (1, 2), (2, 1), (2, 2))
    >>> both = choice * designs.direct(("f", "m"))
    >>> both.levels, both.channel(2).matrix.shape
    ((1, 2), (6, 6))
    """

    first: Answerable
    second: Answerable
    kind: ClassVar[str] = "crossed"
    _written: ClassVar[tuple[str, ...]] = ("name",)
    space: Pair
    shares: tuple[Share, ...] = field(default=())
    nuisance: tuple[Share, ...] = field(default=())

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Crossed:
        """The design of both questions."""
        level_assigners = {question_design.offer.assigned_by for question_design in (first, second)} - {"nobody"}
        if len(level_assigners) > 1:
            raise DesignError(
                "a question whose levels respondents choose cannot be crossed with one of several samples; cross the "
                "channel of one level, .channel(level); "
                f"got {first.name or first.kind} and {second.name or second.kind}"
            )
        return cls(
            categories=crossed_labels(first, second),
            space=Pair(first.space, second.space),
            shares=tuple(_shares(first, second)),
            nuisance=tuple(_nuisance(first, second)),
            first=first,
            second=second,
            name=f"{first.name or first.kind} * {second.name or second.kind}",
        )

    @classmethod
    def _of_form(cls, node: JsonObject) -> Crossed:
        return cls.of(node["first"], node["second"])

    def _content(self) -> dict[str, Any]:
        return {"first": self.first.form(), "second": self.second.form()}

    @cached_property
    def offer(self) -> Offer:
        first, second = self.first.offer, self.second.offer
        assigners = [assigner for assigner in (first.assigned_by, second.assigned_by) if assigner != "nobody"]
        return Offer(
            assigned_by=assigners[0] if assigners else "nobody",
            several=True,
            names_needed=first.names_needed + second.names_needed,
            measures_compliance=first.measures_compliance or second.measures_compliance,
        )

    @cached_property
    def structure(self) -> Structure:
        return Structure(self, divides_cells=True, made_of=(self.first, self.second))

    @property
    def factors(self) -> tuple[Answerable, ...]:
        return (*self.first.factors, *self.second.factors)

    @cached_property
    def cells(self) -> tuple[Any, ...]:
        return crossed_labels(self.first, self.second, "cells")

    @cached_property
    def _channels(self) -> dict[Any, tuple[Any, Any, Design]]:
        """By name: the level of each question, and the channel of the pair."""
        channels_by_name: dict[Any, tuple[Any, Any, Design]] = {}
        for first_level, second_level in itertools.product(self.first.levels, self.second.levels):
            level_names = (*_names(self.first, first_level), *_names(self.second, second_level))
            pair_channel = Product.of(self.first.channel(first_level), self.second.channel(second_level))
            channels_by_name[_joined(level_names)] = (first_level, second_level, pair_channel)
        return channels_by_name

    @property
    def levels(self) -> tuple[Any, ...]:
        return tuple(self._channels)

    def channel(self, level: Label = None) -> Design:
        return self._channels[self.level_named(level)][2]

    def level_named(self, name: Label) -> Any:
        if name in self._channels:
            return name
        level_names = tuple(name) if isinstance(name, list | tuple) else (name,)
        if len(level_names) != self.offer.names_needed:
            raise DataError(
                f"level {name!r} is not on offer; the levels are {_checks.listing_text(self.levels)}", value=name
            )
        first_count = self.first.offer.names_needed
        names_by_question = [
            _names(
                question_design,
                question_design.level_named(_joined(question_names)),
            )
            for question_design, question_names in (
                (self.first, level_names[:first_count]),
                (self.second, level_names[first_count:]),
            )
            if question_names and isinstance(question_design, Crossing)
        ]
        return _joined(tuple(itertools.chain(*names_by_question)))

    def _positions(self, truth: object, source: Source = system) -> Truth:
        first_truth, second_truth = columns_of(truth, len(self.first.factors), len(self.second.factors))
        first, second = self.first._positions(first_truth, source), self.second._positions(second_truth, source)
        return np.where((first >= 0) & (second >= 0), first * len(self.second.cells) + second, -1)

    def _levels_of(self, level: object) -> tuple[Any, Any]:
        """The column (or columns) of levels of each of the two questions; None where a question has none."""
        column_count, first_count = self.offer.names_needed, self.first.offer.names_needed
        if column_count == 0 or level is None:
            return None, None
        level_columns: Any = level if isinstance(level, tuple) and column_count > 1 else (level,)
        if len(level_columns) != column_count:
            raise DataError(
                f"{self.name} needs {column_count} columns of levels, one for each question that has levels, as a "
                f"tuple; got {len(level_columns)}"
            )
        columns_by_question = level_columns[:first_count], level_columns[first_count:]
        first_column, second_column = (
            (question_columns[0] if len(question_columns) == 1 else question_columns or None)
            for question_columns in columns_by_question
        )
        return first_column, second_column

    def encode(self, values: object, level: object = None) -> Responses:
        """Responses to both questions, each checked by its own design; see `columns_of`."""
        answers_by_question = columns_of(values, self.first.space.answers, self.second.space.answers)
        level_columns = self._levels_of(level)
        first_responses, second_responses = (
            question_design.encode(*answers_and_level)
            for question_design, *answers_and_level in zip(
                (self.first, self.second), answers_by_question, level_columns, strict=True
            )
        )
        return self._join_responses(first_responses, second_responses)

    def _join_responses(self, first_responses: Responses, second_responses: Responses) -> Responses:
        if len(first_responses) != len(second_responses):
            raise DataError(
                "every person must answer each question; "
                f"got {len(first_responses)} and {len(second_responses)} answers"
            )
        names_by_row = np.empty(len(first_responses), dtype=object)
        levels_and_designs = (
            (_level_rows(question_design, question_responses), question_design)
            for question_design, question_responses in ((self.first, first_responses), (self.second, second_responses))
        )
        name_columns = [
            [_names(question_design, question_level) for question_level in level_by_row]
            for level_by_row, question_design in levels_and_designs
        ]
        for row_number, (first_names, second_names) in enumerate(zip(*name_columns, strict=True)):
            names_by_row[row_number] = _joined((*first_names, *second_names))
        return Responses(np.hstack([first_responses.codes, second_responses.codes]), self.space, names_by_row)

    def _split(self, responses: object) -> tuple[Responses, Responses]:
        """The responses to each question, with its own levels."""
        if not isinstance(responses, Responses) or responses.space != self.space or responses.level is None:
            raise DataError("these responses were given to another design: their response spaces differ")
        first_codes, second_codes = self.space.split(responses.codes)
        level_pairs = [self._channels[level_name][:2] for level_name in responses.level.tolist()]
        level_columns = [np.empty(len(level_pairs), dtype=object) for _ in range(2)]
        for row_number, level_pair in enumerate(level_pairs):
            level_columns[0][row_number], level_columns[1][row_number] = level_pair
        return (
            Responses(first_codes, self.space.first, level_columns[0] if self.first.offer.several else None),
            Responses(second_codes, self.space.second, level_columns[1] if self.second.offer.several else None),
        )

    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        first_level, second_level, _ = self._channels[level]
        first_responses, second_responses = self._split(responses)
        at_level = np.fromiter(
            (level_name == level for level_name in _level_rows(self, responses)), np.bool_, len(responses)
        )
        question_codes = [
            question_design.codes_at(question_level, question_responses.take(np.flatnonzero(at_level)))[1]
            for question_design, question_level, question_responses in (
                (self.first, first_level, first_responses),
                (self.second, second_level, second_responses),
            )
        ]
        return at_level, np.hstack(question_codes)

    def likelihood(self, responses: object) -> NDArray[np.float64]:
        """P(response | cell) of both questions at the levels of each response, (n, cells)."""
        first_responses, second_responses = self._split(responses)
        first, second = self.first.likelihood(first_responses), self.second.likelihood(second_responses)
        return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(first), len(self.cells)))

    def randomize(
        self, truth: object, *, level: object = None, rng: np.random.Generator | Source | None = None
    ) -> Responses:
        """One response to both questions for each respondent, at the levels that they chose.

        Parameters
        ----------
        truth : tuple of (n,) sequence
            The true categories, one column for each question; for a question of several samples, the true cells.
        level : (n,) sequence, or tuple of such
            One column for each question that has levels or samples. Without it, levels are drawn with equal chances.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.
        """
        source: Any = source_of(rng)
        truth_by_question = columns_of(truth, len(self.first.factors), len(self.second.factors))
        response_pair = []
        for question_design, question_truth, level_column in zip(
            (self.first, self.second), truth_by_question, self._levels_of(level), strict=True
        ):
            design: Any = question_design
            level_argument = {} if level_column is None else {design.offer.noun: level_column}
            response_pair.append(design.randomize(question_truth, rng=source, **level_argument))
        return self._join_responses(*response_pair)


def _names(design: Answerable, level: Label) -> tuple[Label, ...]:
    """What one question adds to the name of a pair of levels: its level, or nothing where it has no levels."""
    if design.offer.names_needed == 0:
        return ()
    return level if isinstance(level, tuple) and design.offer.names_needed > 1 else (level,)


def _joined(names: tuple[Any, ...]) -> Any:
    """A tuple of several names; a single name by itself, and None where there is none."""
    return names if len(names) > 1 else next(iter(names), None)


def _level_rows(design: Answerable, responses: Responses) -> list[Any]:
    return [None] * len(responses) if responses.level is None else responses.level.tolist()


def _shares(first: Answerable, second: Answerable) -> list[Share]:
    """The categories of both questions as shares of their cells."""
    pair_labels = crossed_labels(first, second)
    share_pairs = itertools.product(first.shares, second.shares)
    return [
        _share(pair_label, first, second, first_share, second_share)
        for pair_label, (first_share, second_share) in zip(pair_labels, share_pairs, strict=True)
    ]


def _nuisance(first: Answerable, second: Answerable) -> list[Share]:
    """What either question estimates besides its categories."""
    whole_shares = {question_design: Share(None, question_design.cells) for question_design in (first, second)}
    crossed_shares: list[Share] = []
    for nuisance_share, (first_share, second_share) in [(s, (s, whole_shares[second])) for s in first.nuisance] + [
        (s, (whole_shares[first], s)) for s in second.nuisance
    ]:
        taken_names = {other_share.name for other_share in crossed_shares}
        share_name = (
            nuisance_share.name
            if nuisance_share.name not in taken_names
            else f"{nuisance_share.name} (second question)"
        )
        crossed_shares.append(_share(share_name, first, second, first_share, second_share))
    return crossed_shares


def _share(name: Label, first: Answerable, second: Answerable, first_share: Share, second_share: Share) -> Share:
    """The share of people who belong to both shares, one of each question."""
    pair_cells = crossed_labels(first, second, "cells")
    first_above, first_below = first_share.weights(first.cells)
    second_above, second_below = second_share.weights(second.cells)
    in_both = np.outer(first_above, second_above).ravel() > 0
    in_denominators = np.outer(first_below, second_below).ravel() > 0
    member_cells = tuple(pair_cell for pair_cell, is_kept in zip(pair_cells, in_both, strict=True) if is_kept)
    return Share(
        name,
        member_cells,
        ()
        if in_denominators.all()
        else tuple(c for c, is_kept in zip(pair_cells, in_denominators, strict=True) if is_kept),
    )
