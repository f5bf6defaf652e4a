"""What the demonstration found: estimates from the database, the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naysay import estimate
from naysay.demo.asking import Question
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals
from naysay.printing import Column, Content, Marked, Sentence, Table
from naysay.report.page import holds
from naysay.responses import JOINER

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect.storage import Replies

__all__ = ["Result", "Results", "estimated"]


@dataclass(frozen=True, eq=False)
class Result:
    """One question: the truth, and the estimate from the randomized answers alone."""

    question: Question
    fit: Estimate
    found: Intervals

    @property
    def holds(self) -> NDArray[np.bool_]:
        """Whether each interval holds the true share, (t,)."""
        return holds(self.found, self.question.truth)

    def sections(self) -> list[Content]:
        """The truth beside the estimate, in percent; the test of levels; and what an answer at each level tells."""
        fit, beside = self.fit, self.fit.comparison
        if beside is None:
            raise DataError("the demo compares stratified and pooled estimates; each level must be estimable alone")
        shares = [self.question.truth, fit.proportions, fit.standard_errors, self.found.bounds]
        shares += [beside.pooled.proportions, beside.pooled.standard_errors]
        percent = 100 * np.column_stack([*shares, beside.difference, beside.standard_errors])
        rows = []
        for category, row, holding in zip(fit.categories, percent.tolist(), self.holds, strict=True):
            truth, share, error, low, high, *compared = (f"{value:.2f}" for value in row)
            inside = f"{low}–{high} " if holding else Marked(f"{low}–{high}!", "wrong")
            rows.append((str(category), truth, share, error, inside, *compared))
        names = ("s.e.", "95 % interval", "pooled", "s.e.", "diff.", "s.e.")
        first = (Column("percent", words=True, width=40), *(Column(role, role=role) for role in ("truth", "estimate")))
        levels = (
            f"{level}: reveals the answer" if each.still_possible[0] == 1 else f"{level}: {each.still_possible[0]} left"
            for level, each in fit.privacy.items()
        )
        told = f"privacy by level, ε = ∞ throughout; of {len(fit.categories)} categories {', '.join(levels)}"
        table = Table((*first, *map(Column, names)), tuple(rows), caption=self.question.title)
        return [table, Sentence(str(beside.test)), Sentence(told)]


@dataclass(frozen=True, eq=False)
class Results:
    """All questions, and how well the intervals did."""

    each: tuple[Result, ...]

    @property
    def intervals(self) -> int:
        """How many intervals there are."""
        return sum(len(result.holds) for result in self.each)

    @property
    def holding(self) -> int:
        """How many of them hold the truth."""
        return sum(int(result.holds.sum()) for result in self.each)

    @property
    def people(self) -> int:
        """Respondents, each of whom answers every question."""
        return max(result.fit.n for result in self.each)

    @property
    def population(self) -> int:
        """Everybody whose answers were published, of whom the respondents were drawn."""
        return max(sum(result.question.counts.values()) for result in self.each)

    @property
    def revealing(self) -> tuple[int, int]:
        """Answers given at the most open level, which reveals them, and all answers."""
        levels = [result.fit.tally.by_level for result in self.each]
        return sum(own[max(own)].n for own in levels), sum(result.fit.n for result in self.each)


def estimated(question: Question, replies: Replies) -> Result:
    """The estimate of a question; the estimator sees what was sent, and nothing else."""
    level = replies.level_of(question.name)
    levels = None if level is None else replies.frame[level].to_list()
    said = [  # with the categories as people read them in place of their names
        None if text is None else {question.names[name] for name in text.split(JOINER)}
        for text in replies.frame[question.name].to_list()
    ]
    tally = replace(question.design.tally(said, level=levels), question=question.title)
    fit = estimate.stratified(question.design, tally)
    _ = fit.comparison  # here, while there is a progress bar to look at
    return Result(question, fit, fit.intervals())
