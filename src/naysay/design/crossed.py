"""Questions to one person, where at least one question has levels or samples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.algebra import Product, crossed_labels
from naysay.design.base import Answerable, Design, Share
from naysay.design.chances import Truth
from naysay.design.drawing import Source, source_of, system
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Pair, Responses, columns_of


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Crossed(Answerable):
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
    written: ClassVar[tuple[str, ...]] = ("name",)
    several: ClassVar[bool] = True
    space: Pair
    shares: tuple[Share, ...] = field(default=())
    nuisance: tuple[Share, ...] = field(default=())

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Crossed:
        """The design of both questions."""
        assigners = {question_design.assigned_by for question_design in (first, second)} - {"nobody"}
        if len(assigners) > 1:
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
    def of_form(cls, node: dict[str, Any]) -> Crossed:
        return cls.of(node["first"], node["second"])

    def _content(self) -> dict[str, Any]:
        return {"first": self.first.form(), "second": self.second.form()}

    @property
    def assigned_by(self) -> str:  # type: ignore[override]
        return next(
            (
                assigner
                for question_design in (self.first, self.second)
                if (assigner := question_design.assigned_by) != "nobody"
            ),
            "nobody",
        )

    @property
    def made_of(self) -> tuple[Answerable, ...]:
        return self.first, self.second

    @property
    def factors(self) -> tuple[Answerable, ...]:
        return (*self.first.factors, *self.second.factors)

    @property
    def names_needed(self) -> int:
        return self.first.names_needed + self.second.names_needed

    @cached_property
    def cells(self) -> tuple[Any, ...]:
        return crossed_labels(self.first, self.second, "cells")

    @property
    def measures_compliance(self) -> bool:
        return self.first.measures_compliance or self.second.measures_compliance

    def proportions_of(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = (share.weights(self.cells) for share in self.shares)
        return np.array([above @ cells / (below @ cells) for above, below in weights])

    @cached_property
    def _channels(self) -> dict[Any, tuple[Any, Any, Design]]:
        """By name: the level of each question, and the channel of the pair."""
        channels: dict[Any, tuple[Any, Any, Design]] = {}
        for first_level, second_level in itertools.product(self.first.levels, self.second.levels):
            names = (*_names(self.first, first_level), *_names(self.second, second_level))
            channel = Product.of(self.first.channel(first_level), self.second.channel(second_level))
            channels[names if len(names) > 1 else names[0] if names else None] = first_level, second_level, channel
        return channels

    @property
    def levels(self) -> tuple[Any, ...]:
        return tuple(self._channels)

    def channel(self, level: Any = None) -> Design:
        return self._channels[self.level_named(level)][2]

    def level_named(self, name: Any) -> Any:
        if name in self._channels:
            return name
        names = tuple(name) if isinstance(name, list | tuple) else (name,)
        if len(names) != self.names_needed:
            raise DataError(
                f"level {name!r} is not on offer; the levels are {_checks.listing_text(self.levels)}", value=name
            )
        first_count = self.first.names_needed
        names_by_question = [
            _names(
                question_design,
                question_design.level_named(question_names if len(question_names) > 1 else question_names[0]),
            )
            for question_design, question_names in (
                (self.first, names[:first_count]),
                (self.second, names[first_count:]),
            )
            if question_names
        ]
        all_names = tuple(itertools.chain(*names_by_question))
        return all_names if len(all_names) > 1 else all_names[0]

    def positions(self, truth: Any, source: Source = system) -> Truth:
        first_truth, second_truth = columns_of(truth, len(self.first.factors), len(self.second.factors))
        first, second = self.first.positions(first_truth, source), self.second.positions(second_truth, source)
        return np.where((first >= 0) & (second >= 0), first * len(self.second.cells) + second, -1)

    def _levels_of(self, level: Any) -> tuple[Any, Any]:
        """The column (or columns) of levels of each of the two questions; None where a question has none."""
        column_count, first_count = self.names_needed, self.first.names_needed
        if column_count == 0 or level is None:
            return None, None
        columns: Any = level if isinstance(level, tuple) and column_count > 1 else (level,)
        if len(columns) != column_count:
            raise DataError(
                f"{self.name} needs {column_count} columns of levels, one for each question that has levels, as a "
                f"tuple; got {len(columns)}"
            )
        columns_by_question = columns[:first_count], columns[first_count:]
        first_column, second_column = (
            (question_columns[0] if len(question_columns) == 1 else question_columns or None)
            for question_columns in columns_by_question
        )
        return first_column, second_column

    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses to both questions, each checked by its own design; see `columns_of`."""
        answers_by_question = columns_of(values, self.first.space.answers, self.second.space.answers)
        levels = self._levels_of(level)
        first_responses, second_responses = (
            question_design.encode(*answers_and_level)
            for question_design, *answers_and_level in zip(
                (self.first, self.second), answers_by_question, levels, strict=True
            )
        )
        return self._join_responses(first_responses, second_responses)

    def _join_responses(self, first_responses: Responses, second_responses: Responses) -> Responses:
        if len(first_responses) != len(second_responses):
            raise DataError(
                "every person must answer each question; "
                f"got {len(first_responses)} and {len(second_responses)} answers"
            )
        names = np.empty(len(first_responses), dtype=object)
        pairs = (
            (_level_rows(question_design, responses), question_design)
            for question_design, responses in ((self.first, first_responses), (self.second, second_responses))
        )
        columns = [[_names(question_design, level) for level in rows] for rows, question_design in pairs]
        for row, (first, second) in enumerate(zip(*columns, strict=True)):
            pair_names = (*first, *second)
            names[row] = pair_names if len(pair_names) > 1 else pair_names[0] if pair_names else None
        return Responses(np.hstack([first_responses.codes, second_responses.codes]), self.space, names)

    def _split(self, responses: Responses) -> tuple[Responses, Responses]:
        """The responses to each question, with its own levels."""
        if responses.space != self.space or responses.level is None:
            raise DataError("these responses were given to another design: their response spaces differ")
        first_codes, second_codes = self.space.split(responses.codes)
        level_pairs = [self._channels[name][:2] for name in responses.level.tolist()]
        levels = [np.empty(len(level_pairs), dtype=object) for _ in range(2)]
        for row, pair in enumerate(level_pairs):
            levels[0][row], levels[1][row] = pair
        return (
            Responses(first_codes, self.space.first, levels[0] if self.first.several else None),
            Responses(second_codes, self.space.second, levels[1] if self.second.several else None),
        )

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        first_level, second_level, _ = self._channels[level]
        first, second = self._split(responses)
        at_level = np.fromiter((name == level for name in _level_rows(self, responses)), np.bool_, len(responses))
        question_codes = [
            question_design.codes_at(question_level, part.take(np.flatnonzero(at_level)))[1]
            for question_design, question_level, part in (
                (self.first, first_level, first),
                (self.second, second_level, second),
            )
        ]
        return at_level, np.hstack(question_codes)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | cell) of both questions at the levels of each response, (n, cells)."""
        first_responses, second_responses = self._split(responses)
        first, second = self.first.likelihood(first_responses), self.second.likelihood(second_responses)
        return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(first), len(self.cells)))

    def randomize(self, truth: Any, *, level: Any = None, rng: np.random.Generator | Source | None = None) -> Responses:
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
        truths = columns_of(truth, len(self.first.factors), len(self.second.factors))
        responses = []
        for question_design, question_truth, level_column in zip(
            (self.first, self.second), truths, self._levels_of(level), strict=True
        ):
            design: Any = question_design
            level_argument = {} if level_column is None else {design.noun: level_column}
            responses.append(design.randomize(question_truth, rng=source, **level_argument))
        return self._join_responses(*responses)


def _names(design: Answerable, level: Any) -> tuple[Any, ...]:
    """What one question adds to the name of a pair of levels: its level, or nothing where it has no levels."""
    needed = design.names_needed
    return () if needed == 0 else (level,) if needed == 1 else level


def _level_rows(design: Answerable, responses: Responses) -> list[Any]:
    return [None] * len(responses) if responses.level is None else responses.level.tolist()


def _shares(first: Answerable, second: Answerable) -> list[Share]:
    """The categories of both questions as shares of their cells."""
    names = crossed_labels(first, second)
    pairs = itertools.product(first.shares, second.shares)
    return [
        _share(name, first, second, first_share, second_share)
        for name, (first_share, second_share) in zip(names, pairs, strict=True)
    ]


def _nuisance(first: Answerable, second: Answerable) -> list[Share]:
    """What either question estimates besides its categories."""
    whole_shares = {question_design: Share(None, question_design.cells) for question_design in (first, second)}
    crossed_shares: list[Share] = []
    for share, (first_share, second_share) in [(s, (s, whole_shares[second])) for s in first.nuisance] + [
        (s, (whole_shares[first], s)) for s in second.nuisance
    ]:
        taken_names = {other_share.name for other_share in crossed_shares}
        name = share.name if share.name not in taken_names else f"{share.name} (second question)"
        crossed_shares.append(_share(name, first, second, first_share, second_share))
    return crossed_shares


def _share(name: Any, first: Answerable, second: Answerable, first_share: Share, second_share: Share) -> Share:
    """The share of people who belong to both shares, one of each question."""
    cells = crossed_labels(first, second, "cells")
    (above, below), (over, under) = first_share.weights(first.cells), second_share.weights(second.cells)
    of, among = np.outer(above, over).ravel() > 0, np.outer(below, under).ravel() > 0
    member_cells = tuple(cell for cell, keep in zip(cells, of, strict=True) if keep)
    return Share(
        name, member_cells, () if among.all() else tuple(c for c, keep in zip(cells, among, strict=True) if keep)
    )
