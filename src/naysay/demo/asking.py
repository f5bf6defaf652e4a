"""The demonstration's respondents, and its questionnaire: five questions whose true answers are known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naysay import designs
from naysay.data import gvu_counts
from naysay.design import Levels
from naysay.questionnaire import Choice, Private, Questionnaire, SelectOne

PEOPLE = 2_000
"""How many people are asked."""

_TITLES = {
    "falsification_of_information": "How often people falsify information",
    "race": "Race",
    "sexual_preference": "Sexual preference",
    "household_income": "Household income, in thousands of dollars",
    "age": "Age, in years",
}


@dataclass(frozen=True, eq=False)
class Question:
    """A question whose true answers are known, so that estimates can be compared with them.

    Parameters
    ----------
    name, title : str
    counts : {category: count}
        The true answers of everybody.
    """

    name: str
    title: str
    counts: Mapping[str, int]

    @cached_property
    def design(self) -> Levels:
        """The offer: each respondent chooses how many categories to rule out."""
        return designs.negative_levels(tuple(self.counts))

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each category in data: ``{name: category}``."""
        category_of_name = {_name(category): category for category in self.counts}
        return (
            category_of_name
            if len(category_of_name) == len(self.counts)
            else {f"c{n}": numbered_category for n, numbered_category in enumerate(self.counts, 1)}
        )

    @cached_property
    def item(self) -> SelectOne:
        """The question as a private question of a questionnaire."""
        offer = designs.negative_levels(tuple(self.names))
        return SelectOne(
            name=self.name,
            label={"en": self.title},
            hint={"en": "You choose how many of the others your device rules out for you."},
            choices=tuple(Choice(name=name, label={"en": category}) for name, category in self.names.items()),
            private=Private(design=json.loads(offer.to_json())),
        )

    @property
    def truth(self) -> NDArray[np.float64]:
        """The true proportions of everybody, (t,)."""
        counts = np.array(tuple(self.counts.values()), dtype=float)
        return np.asarray(counts / counts.sum())


def _name(category: str) -> str:
    """The category's name in data: letters, digits and underscores."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", category).strip("_")
    return words if words[:1].isalpha() else f"from_{words}"


def questions() -> tuple[Question, ...]:
    """The five questions."""
    return tuple(Question(name, _TITLES[name], counts) for name, counts in gvu_counts().items())


def questionnaire(asked: Sequence[Question]) -> Questionnaire:
    """The questionnaire that the page shows and the server publishes.

    Examples
    --------
    >>> [question.name for question in questionnaire(questions()).questions][1:3]
    ['race', 'sexual_preference']
    """
    return Questionnaire(
        name="demo",
        title={"en": "Five sensitive questions"},
        about={
            "en": "Questions of a survey of web users in 1997, asked again. Your answers are randomized on your "
            "device, and stay on this computer: it is a demonstration."
        },
        thanks={"en": "Thank you. Your answers now stand among those of the demonstration."},
        languages=("en",),
        items=tuple(question.item for question in asked),
    )


@dataclass(frozen=True, eq=False)
class Asked:
    """The people asked: their true answers, ``{question: (n,) names}``, and the levels that they choose."""

    answers: dict[str, list[str]]
    levels: dict[str, list[str]]

    @property
    def columns(self) -> dict[str, list[str]]:
        """A table in the form that `naysay respond` reads, with columns for the levels."""
        return self.answers | {f"{name}_level": column for name, column in self.levels.items()}


def people(asked: Sequence[Question], *, size: int = PEOPLE, seed: int | None = None) -> Asked:
    """People with answers drawn at random from the published counts, question by question, and random levels.

    Parameters
    ----------
    asked : sequence of Question
    size : int
        How many people.
    seed : int, optional
        The same seed asks the same people again. It does not fix what they send: devices draw that by themselves.

    Examples
    --------
    >>> few = people(questions(), size=3, seed=1)
    >>> few.answers["sexual_preference"], few.levels["sexual_preference"]
    (['Heterosexual', 'Heterosexual', 'Heterosexual'], ['5', '2', '3'])
    """
    rng = np.random.default_rng(seed)
    answers = {question.name: rng.choice(tuple(question.names), size, p=question.truth).tolist() for question in asked}
    levels = {question.name: rng.choice(tuple(map(str, question.design.levels)), size).tolist() for question in asked}
    return Asked(answers, levels)
