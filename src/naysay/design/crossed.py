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
        who = {each.assigned_by for each in (first, second)} - {"nobody"}
        if len(who) > 1:
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
        return next((who for each in (self.first, self.second) if (who := each.assigned_by) != "nobody"), "nobody")

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
        found: dict[Any, tuple[Any, Any, Design]] = {}
        for one, two in itertools.product(self.first.levels, self.second.levels):
            names = (*_names(self.first, one), *_names(self.second, two))
            channel = Product.of(self.first.channel(one), self.second.channel(two))
            found[names if len(names) > 1 else names[0] if names else None] = one, two, channel
        return found

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
            raise DataError(f"level {name!r} is not on offer; the levels are {_checks.shown(self.levels)}", value=name)
        ahead = self.first.names_needed
        found = [
            _names(each, each.level_named(own if len(own) > 1 else own[0]))
            for each, own in ((self.first, names[:ahead]), (self.second, names[ahead:]))
            if own
        ]
        whole = tuple(itertools.chain(*found))
        return whole if len(whole) > 1 else whole[0]

    def positions(self, truth: Any, source: Source = system) -> Truth:
        one, two = columns_of(truth, len(self.first.factors), len(self.second.factors))
        first, second = self.first.positions(one, source), self.second.positions(two, source)
        return np.where((first >= 0) & (second >= 0), first * len(self.second.cells) + second, -1)

    def _levels_of(self, level: Any) -> tuple[Any, Any]:
        """The column (or columns) of levels of each of the two questions; None where a question has none."""
        needed, ahead = self.names_needed, self.first.names_needed
        if needed == 0 or level is None:
            return None, None
        columns: Any = level if isinstance(level, tuple) and needed > 1 else (level,)
        if len(columns) != needed:
            raise DataError(
                f"{self.name} needs {needed} columns of levels, one for each question that has levels, as a tuple; "
                f"got {len(columns)}"
            )
        own = columns[:ahead], columns[ahead:]
        one, two = ((each[0] if len(each) == 1 else each or None) for each in own)
        return one, two

    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses to both questions, each checked by its own design; see `columns_of`."""
        said = columns_of(values, self.first.space.answers, self.second.space.answers)
        levels = self._levels_of(level)
        one, two = (each.encode(*own) for each, *own in zip((self.first, self.second), said, levels, strict=True))
        return self._joined(one, two)

    def _joined(self, one: Responses, two: Responses) -> Responses:
        if len(one) != len(two):
            raise DataError(f"every person must answer each question; got {len(one)} and {len(two)} answers")
        names = np.empty(len(one), dtype=object)
        pairs = ((_level_rows(each, own), each) for each, own in ((self.first, one), (self.second, two)))
        columns = [[_names(each, level) for level in rows] for rows, each in pairs]
        for row, (first, second) in enumerate(zip(*columns, strict=True)):
            whole = (*first, *second)
            names[row] = whole if len(whole) > 1 else whole[0] if whole else None
        return Responses(np.hstack([one.codes, two.codes]), self.space, names)

    def _split(self, responses: Responses) -> tuple[Responses, Responses]:
        """The responses to each question, with its own levels."""
        if responses.space != self.space or responses.level is None:
            raise DataError("these responses were given to another design: their response spaces differ")
        one, two = self.space.split(responses.codes)
        found = [self._channels[name][:2] for name in responses.level.tolist()]
        levels = [np.empty(len(found), dtype=object) for _ in range(2)]
        for row, pair in enumerate(found):
            levels[0][row], levels[1][row] = pair
        return (
            Responses(one, self.space.first, levels[0] if self.first.several else None),
            Responses(two, self.space.second, levels[1] if self.second.several else None),
        )

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        one, two, _ = self._channels[level]
        first, second = self._split(responses)
        chosen = np.fromiter((name == level for name in _level_rows(self, responses)), np.bool_, len(responses))
        own = [
            each.codes_at(at, part.take(np.flatnonzero(chosen)))[1]
            for each, at, part in ((self.first, one, first), (self.second, two, second))
        ]
        return chosen, np.hstack(own)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | cell) of both questions at the levels of each response, (n, cells)."""
        one, two = self._split(responses)
        first, second = self.first.likelihood(one), self.second.likelihood(two)
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
        said = []
        for each, own, named in zip((self.first, self.second), truths, self._levels_of(level), strict=True):
            design: Any = each
            given = {} if named is None else {design.noun: named}
            said.append(design.randomize(own, rng=source, **given))
        return self._joined(*said)


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
    return [_share(name, first, second, one, two) for name, (one, two) in zip(names, pairs, strict=True)]


def _nuisance(first: Answerable, second: Answerable) -> list[Share]:
    """What either question estimates besides its categories."""
    every = {each: Share(None, each.cells) for each in (first, second)}
    taken: list[Share] = []
    for share, (one, two) in [(s, (s, every[second])) for s in first.nuisance] + [
        (s, (every[first], s)) for s in second.nuisance
    ]:
        known = {each.name for each in taken}
        name = share.name if share.name not in known else f"{share.name} (second question)"
        taken.append(_share(name, first, second, one, two))
    return taken


def _share(name: Any, first: Answerable, second: Answerable, one: Share, two: Share) -> Share:
    """The share of people who belong to both shares, one of each question."""
    cells = crossed_labels(first, second, "cells")
    (above, below), (over, under) = one.weights(first.cells), two.weights(second.cells)
    of, among = np.outer(above, over).ravel() > 0, np.outer(below, under).ravel() > 0
    chosen = tuple(cell for cell, keep in zip(cells, of, strict=True) if keep)
    return Share(name, chosen, () if among.all() else tuple(c for c, keep in zip(cells, among, strict=True) if keep))
