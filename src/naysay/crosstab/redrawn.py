"""What people say under a fitted table: surveys drawn again, and the information that is expected of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from naysay.crosstab.variables import first_words
from naysay.design.drawing import GeneratorSource
from naysay.estimate.fitting import LISTED
from naysay.estimate.information import evidence, information
from naysay.estimate.linear import Floats, Indicators
from naysay.responses.spaces import MISSING
from naysay.tally import Part, Tally

__all__ = ["SEED", "bootstrapped", "expected", "indicators_at", "information_of_more", "left_out"]

SEED = 2016
"""Seed where no generator is given, so that a printed number can be printed again."""

_ENOUGH = 20  # exceedances after which a p-value is settled (Besag & Clifford 1991)


def bootstrapped(
    tally: Tally,
    null: Floats,
    statistic: Callable[[Floats, Floats], float],
    observed: float,
    *,
    replicates: int,
    rng: np.random.Generator | None,
    console: Console | None,
) -> tuple[float, str]:
    """The p-value of a statistic of likelihood rows and weights, and how it was found.

    As many people as in the tally answer again, at the same levels, and leave out the same questions. It ends once
    enough replicates exceeded what was observed, or by Ctrl-C with those that were drawn.
    """
    source = np.random.default_rng(SEED) if rng is None else rng
    surveys = [_Survey.of(part, null, pattern) for part in tally.parts if part.n for pattern in _patterns(part)]
    hidden = console is None or not console.is_terminal
    columns = TextColumn("surveys drawn again"), BarColumn(), MofNCompleteColumn()
    exceeded = drawn = 0
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=replicates)
        try:
            while drawn < replicates and exceeded < _ENOUGH:
                rows, weights = zip(*(survey.draw(source) for survey in surveys), strict=True)
                exceeded += statistic(np.vstack(rows), np.concatenate(weights)) >= observed - 1e-6
                drawn += 1
                progress.update(task, completed=drawn)
        except KeyboardInterrupt:
            if console is not None:
                console.print(f"interrupted after {drawn:,} of {replicates:,} surveys", highlight=False)
    if not drawn:
        return float("nan"), "parametric bootstrap, interrupted before its first survey"
    settled = exceeded >= _ENOUGH
    early = ", ended early" if drawn < replicates else ""
    p_value = exceeded / drawn if settled else (exceeded + 1) / (drawn + 1)
    return p_value, f"parametric bootstrap, {drawn:,} replicates{early}"


@dataclass(frozen=True, eq=False)
class _Survey:
    """People who answered the same questions of a part, to be drawn again from the null fit."""

    design: Any
    n: int
    left_out: NDArray[np.bool_]
    null: Floats
    rows: Floats | None
    chances: Floats | None

    @classmethod
    def of(cls, part: Part, null: Floats, pattern: tuple[NDArray[np.bool_], int]) -> _Survey:
        design: Any = part.design
        left_out, n = pattern
        if design.space.size > LISTED:
            return cls(design, n, left_out, null, None, None)
        codes = design.space.listing()
        chances = design.rows(codes) @ null
        return cls(
            design, n, left_out, null, design.rows(cls._blanked(design, codes, left_out)), chances / chances.sum()
        )

    @staticmethod
    def _blanked(design: Any, codes: NDArray[np.int64], left_out: NDArray[np.bool_]) -> NDArray[np.int64]:
        if not left_out.any():
            return codes
        blanked = np.array(codes)
        widths = [factor.space.width for factor in design.factors]
        blanked[:, np.cumsum([0, *widths[:-1]])[left_out]] = MISSING
        return blanked

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Likelihood rows of the answers that came, and how many."""
        if self.rows is not None and self.chances is not None:
            counts = rng.multinomial(self.n, self.chances)
            return self.rows[counts > 0], counts[counts > 0].astype(float)
        truth = rng.choice(len(self.null), size=self.n, p=self.null / self.null.sum())
        codes = self._blanked(self.design, self.design.draw(truth, GeneratorSource(rng)), self.left_out)
        again = Part.of(self.design, codes, count=np.ones(self.n, dtype=np.int64))
        return self.design.rows(again.codes), again.weight


def _patterns(part: Part) -> list[tuple[NDArray[np.bool_], int]]:
    """Which questions were left out together, and by how many people."""
    patterns, place = np.unique(left_out(part), axis=0, return_inverse=True)
    people = np.bincount(place.ravel(), part.count)
    return list(zip(patterns, people.astype(int).tolist(), strict=True))


def left_out(part: Part) -> NDArray[np.bool_]:
    """Which questions each answer leaves out, (distinct, variables)."""
    return np.asarray(first_words(part) == MISSING)


def expected(tally: Tally, cells: Floats) -> Floats:
    """The information (cells, cells) that is expected of a tally at these cells, with the questions that were left out.

    The observed one where answers are too many to list.
    """
    total = np.zeros((len(cells),) * 2)
    for part in tally.parts:
        if not part.n:
            continue
        design, weight = part.design, part.weight * tally.n / tally.weight
        if design.space.size > LISTED:
            total += information(design.rows(part.codes), weight, cells)
            continue
        codes = design.space.listing()
        chances = design.rows(codes) @ cells
        patterns, place = np.unique(left_out(part), axis=0, return_inverse=True)
        for pattern, people in zip(patterns, np.bincount(place.ravel(), weight), strict=True):
            rows = design.rows(_Survey._blanked(design, codes, pattern))[chances > 0]
            total += people * information(rows, chances[chances > 0], cells)
    return total


def information_of_more(tally: Tally, cells: Floats, more: Floats) -> Floats:
    """What people of whom `more` are in each cell would add to the outer product of the scores, (cells, cells)."""
    total = np.zeros((len(cells),) * 2)
    for part in tally.parts:
        if part.n and part.design.space.size <= LISTED:
            listed = part.design.matrix
            listed = listed[listed @ cells > 0]
            weight = part.weight.sum() / tally.weight * (listed @ more) / (listed @ cells) ** 2
            total += listed.T @ (listed * weight[:, None])
    return total


def indicators_at(tally: Tally, cells: Floats, bread: Floats) -> Indicators:
    """Each answer's indicator of its cell if these were the cells, and `bread` the inverse of the information there.

    Their covariance is that of the cells under the sampling design.
    """
    rows, weights, sampled = evidence(tally)
    scores = rows / (rows @ cells)[:, None] - 1
    return Indicators(cells + weights.sum() * scores @ bread, weights, weights, sampled.squared, sampled)
