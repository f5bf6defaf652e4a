"""One simulated survey: from the population and its behavior to the tally of the answers.

Behavior of simulated respondents: their choice of level, lies, random answers, and nonresponse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Levels
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource, Source
from naysay.design.several import choice, lies, place_of, share
from naysay.errors import DataError, DesignError
from naysay.responses import Codes
from naysay.simulate.populations import Population
from naysay.tally import Part, Tally

Floats = NDArray[np.float64]

_LISTED = 20_000  # up to this many responses over all levels, counts are drawn at once; above it, person by person


@dataclass(frozen=True, eq=False)
class Survey:
    """The survey that is repeated.

    Parameters
    ----------
    design : Design, Levels or Samples
    population : Population
        Its proportions are in the order of the design's categories, or of its cells.
    n : int
        People who are asked.
    preferences : (levels, t) float
        P(level | category).
    behavior : Behavior
    target : {"population", "file"}
        With "file", the same people are asked every time.
    """

    design: Answerable
    population: Population
    n: int
    preferences: Floats
    behavior: Behavior
    target: str

    @property
    def truth(self) -> Floats:
        """The proportions to be estimated, (t,): those of the population, or of the fixed file."""
        people = self._file / self.n if self.target == "file" else self.population.proportions
        return self.design.proportions_of(people)

    @cached_property
    def _file(self) -> NDArray[np.int64]:
        return self.population.people(self.n)

    @cached_property
    def cells(self) -> tuple[_Outcomes, ...] | None:
        """The chances of every outcome, level by level; None if there are too many responses to list."""
        channels = list(self.design.parts.values())
        if (
            not all(level_channel.space.listable for level_channel in channels)
            or sum(level_channel.space.size for level_channel in channels) > _LISTED
        ):
            return None
        stated_matrix = self.behavior.stated(self.design.cells)
        silent_shares = self.behavior.silent(self.design.cells)
        cells = []
        for level, channel, level_chances in zip(self.design.levels, channels, self.preferences, strict=True):
            codes = channel.space.listing()
            codes = codes[np.lexsort(codes.T[::-1])]  # sorted, as a tally stores them
            likelihood = channel.rows(codes)
            possible = likelihood.max(axis=1) > 0
            noise = self.behavior.at_random * possible[:, None] / possible.sum()
            response_chances = (1 - self.behavior.at_random) * likelihood @ stated_matrix + noise
            cells.append(
                _Outcomes(
                    level,
                    channel,
                    codes,
                    response_chances * (1 - silent_shares) * level_chances,
                    silent_shares * level_chances,
                )
            )
        return tuple(cells)

    @cached_property
    def _chances(self) -> Floats:
        """P(outcome | category), (outcomes, t): the responses of all levels one below the other, then no answer."""
        cells = self.cells or ()
        all_chances = np.vstack(
            [
                *(outcomes.response_chances for outcomes in cells),
                *(outcomes.silence_chances[None] for outcomes in cells),
            ]
        )
        return np.asarray(all_chances / all_chances.sum(axis=0))

    def draw(self, rng: np.random.Generator) -> Tally:
        """The tally of one survey."""
        if self.cells is None:
            return Tally(tuple(self._people(rng)))
        if self.target == "file":
            outcome_counts = rng.multinomial(self._file, self._chances.T).sum(axis=0)
        else:
            outcome_counts = rng.multinomial(self.n, self._chances @ self.population.proportions)
        ends = np.cumsum([len(outcomes.codes) for outcomes in self.cells])
        part_counts = np.split(outcome_counts, ends)
        silent_counts = part_counts.pop()
        return Tally(
            tuple(
                outcomes.part(count, int(silent_count))
                for outcomes, count, silent_count in zip(self.cells, part_counts, silent_counts, strict=True)
            )
        )

    def _people(self, rng: np.random.Generator) -> list[Part]:
        """The parts of a tally that is drawn person by person."""
        t = len(self.design.cells)
        people_by_category = (
            self._file if self.target == "file" else rng.multinomial(self.n, self.population.proportions)
        )
        truth = np.repeat(np.arange(t), people_by_category)
        level = _rows_drawn(self.preferences, truth, rng)
        is_silent = rng.random(self.n) < self.behavior.silent(self.design.cells)[truth]
        stated_category = _rows_drawn(self.behavior.stated(self.design.cells), truth, rng)
        noise = rng.random(self.n) < self.behavior.at_random
        parts, source = [], GeneratorSource(rng)
        for place, (name, channel) in enumerate(self.design.parts.items()):
            at_level = (level == place) & ~is_silent
            codes = channel.draw(stated_category[at_level & ~noise], source)
            if (at_level & noise).any():
                codes = np.vstack([codes, _noise(channel, int((at_level & noise).sum()), source)])
            silent_count = int(((level == place) & is_silent).sum())
            part = Part.of(channel, codes, level=name, count=np.ones(len(codes), dtype=np.int64))
            parts.append(replace(part, missing=silent_count, missing_weight=silent_count))
        return parts


class _Outcomes(NamedTuple):
    """One level: its responses, P(response | category), and P(no answer | category)."""

    level: Any
    channel: Design
    codes: Codes
    response_chances: Floats
    silence_chances: Floats

    def part(self, count: NDArray[np.int64], missing: int) -> Part:
        is_observed = count > 0
        people = count[is_observed]
        weight = people.astype(float)
        return Part(self.channel, self.level, self.codes[is_observed], people, weight, weight, missing, missing)


def _rows_drawn(chances: Floats, truth: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """For each person, one row drawn from the column of `chances` (rows, t) that belongs to their category."""
    sums = np.cumsum(chances / chances.sum(axis=0), axis=0)
    uniforms = rng.random(len(truth))
    result = np.zeros(len(truth), dtype=np.int64)
    for category in np.unique(truth).tolist():
        in_category = truth == category
        result[in_category] = np.searchsorted(sums[:-1, category], uniforms[in_category], side="right")
    return result


def _noise(channel: Design, n: int, source: Source) -> Codes:
    """Random responses of the design, each equally likely."""
    try:
        return channel.space.at_random(n, source.below)
    except DesignError:
        raise DesignError(
            f"{channel.name or channel.kind} has too many responses to list; leave out people who answer at random"
        ) from None


@dataclass(frozen=True)
class Behavior:
    """How many people do not follow the instructions. By default everybody does.

    Parameters
    ----------
    liars : float
        The share of people in `among` who follow the design as if they belonged to another category.
    among : sequence of label, optional
        The categories whose members may lie: by default all; with `says`, all others.
    says : label, optional
        What liars claim to be, such as "no" for people who deny. By default they claim each other category equally
        often.
    at_random : float
        The share of all people who pick any possible response, each equally often, whatever the truth.
    nonresponse : float or {category: float}
        The share of people, or of each category, who give no answer. Categories that are left out answer.

    Examples
    --------
    >>> Behavior(liars=0.2, among=("yes",), says="no").stated(("yes", "no"))
    array([[0.8, 0. ],
           [0.2, 1. ]])
    """

    liars: float = 0.0
    among: Sequence[Any] | None = None
    says: Any = None
    at_random: float = 0.0
    nonresponse: float | Mapping[Any, float] = 0.0

    def __post_init__(self) -> None:
        share(self.liars, what="the share of liars")
        share(self.at_random, what="the share that answers at random")
        nonresponse_shares = self.nonresponse.values() if isinstance(self.nonresponse, Mapping) else [self.nonresponse]
        for value in nonresponse_shares:
            share(value, what="the share that does not answer")

    def stated(self, categories: Sequence[Any]) -> Floats:
        """P(stated category | true category), (t, t)."""
        return lies(categories, self.liars, among=self.among, says=self.says)

    def silent(self, categories: Sequence[Any]) -> Floats:
        """P(no answer | category), (t,)."""
        if not isinstance(self.nonresponse, Mapping):
            return np.full(len(categories), float(self.nonresponse))
        result = np.zeros(len(categories))
        for category, value in self.nonresponse.items():
            result[place_of(category, tuple(categories))] = value
        if (result == 1).all():
            raise DataError("nobody answers: the share of nonresponse is 1 in every category")
        return result

    def __str__(self) -> str:
        behavior_texts = []
        if self.liars:
            liars_text = "" if self.among is None else f" of {_checks.listing_text(map(_checks.label, self.among))}"
            lie_text = "another category" if self.says is None else repr(_checks.label(self.says))
            behavior_texts.append(f"{self.liars:.4g}{liars_text} say {lie_text}")
        if self.at_random:
            behavior_texts.append(f"{self.at_random:.4g} answer at random")
        if isinstance(self.nonresponse, Mapping):
            silence_texts = (f"{value:.4g} of {_checks.label(label)!r}" for label, value in self.nonresponse.items())
            behavior_texts.append(f"no answer from {', '.join(silence_texts)}")
        elif self.nonresponse:
            behavior_texts.append(f"no answer from {self.nonresponse:.4g}")
        return "; ".join(behavior_texts) or "all do as asked"


HONEST = Behavior()
"""Everybody answers and follows the instructions."""


def skewed(design: Levels, *, toward: str = "private", ratio: float = 2.0) -> Floats:
    """Preferences over levels (levels,): from one end on, each level is `ratio` times as popular as the next.

    Parameters
    ----------
    design : Levels
    toward : {"private", "open"}
        Which end is the most popular.
    ratio : float
        At least 1. With 1, all levels are equally popular.

    Examples
    --------
    >>> from naysay import designs
    >>> skewed(designs.negative_levels(("a", "b", "c", "d"))).round(3)
    array([0.571, 0.286, 0.143])
    """
    check_design(design)
    if toward not in ("private", "open"):
        raise DataError(f"preferences are skewed toward 'private' or 'open'; got {toward!r}")
    if not 1 <= ratio < np.inf:
        raise DataError(f"ratio must be at least 1; got {ratio!r}")
    popular = float(ratio) ** -np.arange(len(design.levels))
    popular = popular if toward == "private" else popular[::-1]
    return np.asarray(popular / popular.sum())


def tied(design: Levels, *, hiding: Sequence[Any], share_of: float = 1.0) -> Floats:
    """Preferences (levels, t) that depend on the category: some of those who hide something pick the first level.

    Parameters
    ----------
    design : Levels
    hiding : sequence of label
        The categories whose members hide.
    share_of : float
        The share of them who always choose the most private level. All others choose uniformly.

    Examples
    --------
    >>> from naysay import designs
    >>> tied(designs.negative_levels(("a", "b", "c")), hiding=("c",))
    array([[0.5, 0.5, 1. ],
           [0.5, 0.5, 0. ]])
    """
    result, amount = choice(design), share(share_of, what="the share that hides")
    for category in hiding:
        place = place_of(category, design.categories)
        result[:, place] *= 1 - amount
        result[0, place] += amount
    return result
