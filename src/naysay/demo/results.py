"""Results of the demonstration: estimates from the database, and the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naysay import estimate
from naysay.demo.asking import Question
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals
from naysay.estimate.page import holds
from naysay.responses import JOINER
from naysay.show import Column, Content, Marked, Sentence, Table

if TYPE_CHECKING:  # collect needs an extra: import it where it is used
    from naysay.collect.storage import Replies


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
        """The truth and the estimate in percent, the test of levels, and what an answer at each level reveals."""
        fit, beside = self.fit, self.fit.comparison
        if beside is None:
            raise DataError("the demo compares stratified and pooled estimates; each level must be estimable alone")
        shares = [self.question.truth, fit.proportions, fit.standard_errors, self.found.bounds]
        shares += [beside.pooled.proportions, beside.pooled.standard_errors]
        percent = 100 * np.column_stack([*shares, beside.difference, beside.standard_errors])
        rows = []
        for category, row, holding in zip(fit.categories, percent.tolist(), self.holds, strict=True):
            truth, share, error, low, high, *compared_texts = (f"{value:.2f}" for value in row)
            interval_text = f"{low}–{high} " if holding else Marked(f"{low}–{high}!", "wrong")
            rows.append((str(category), truth, share, error, interval_text, *compared_texts))
        names = ("s.e.", "95 % interval", "pooled", "s.e.", "diff.", "s.e.")
        first_columns = (
            Column("percent", words=True, width=40),
            *(Column(role, role=role) for role in ("truth", "estimate")),
        )
        levels = (
            f"{level}: reveals the answer"
            if level_statement.still_possible[0] == 1
            else f"{level}: {level_statement.still_possible[0]} left"
            for level, level_statement in fit.privacy.items()
        )
        privacy_sentence = (
            f"privacy by level, ε = ∞ throughout; of {len(fit.categories)} categories {', '.join(levels)}"
        )
        table = Table((*first_columns, *map(Column, names)), tuple(rows), caption=self.question.title)
        return [table, Sentence(str(beside.test)), Sentence(privacy_sentence)]


@dataclass(frozen=True, eq=False)
class Results:
    """All questions, and how many intervals hold the truth."""

    each: tuple[Result, ...]

    @property
    def intervals(self) -> int:
        """How many intervals there are."""
        return sum(len(result.holds) for result in self.each)

    @property
    def holding(self) -> int:
        """How many intervals hold the truth."""
        return sum(int(result.holds.sum()) for result in self.each)

    @property
    def people(self) -> int:
        """How many respondents there are; each answers every question."""
        return max(result.fit.n for result in self.each)

    @property
    def population(self) -> int:
        """How many people the published counts cover; the respondents are drawn from them."""
        return max(sum(result.question.counts.values()) for result in self.each)

    @property
    def revealing(self) -> tuple[int, int]:
        """How many answers were given at the most open level, which reveals them; and how many in all."""
        levels = [result.fit.tally.by_level for result in self.each]
        return sum(tally_of_level[max(tally_of_level)].n for tally_of_level in levels), sum(
            result.fit.n for result in self.each
        )


def estimated_result(question: Question, replies: Replies) -> Result:
    """The estimate of a question. The estimator sees only what was sent."""
    level = replies.level_of(question.name)
    levels = None if level is None else replies.frame[level].to_list()
    responses = [  # replace the names by the categories as people read them
        None if text is None else {question.names[name] for name in text.split(JOINER)}
        for text in replies.frame[question.name].to_list()
    ]
    tally = replace(question.design.tally(responses, level=levels), question=question.title)
    fit = estimate.stratified(question.design, tally)
    _ = fit.comparison  # a cached property: compute it here, while a progress bar is shown
    return Result(question, fit, fit.intervals())
