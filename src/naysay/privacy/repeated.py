"""What it costs to ask the same person again, under each rule of asking again.

The categories of two waves are pairs (x₁, x₂). ε of the pair bounds what both answers tell about both values, and so
also whether the value changed. People whose value stays are often promised more: ε of the pair for them alone.

Privacy of several answers of one person: to several questions, or in several waves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design
from naysay.design.base import check_channel
from naysay.design.memory import memory_of
from naysay.errors import DesignError
from naysay.printing import Column, Content, Sentence, Table, text
from naysay.privacy.statement import epsilon, information, odds, still_possible

__all__ = ["Composition", "Waves", "after_waves", "compose", "unexcluded", "waves"]

_LISTED = 120  # responses up to which all pairs of them are looked at

_TOLD = {
    "fresh": "ε adds: two new draws tell twice as much as one",
    "kept": "two different answers prove a change, so that no ε bounds the pair; given which answers are equal, ε for "
    "each value that was held, unless values share a hash (affine designs: no ε bounds it)",
    "redraw": "people whose value stayed draw anew with the chance that is given, so that two different answers prove "
    "nothing",
    "memory": "two reports of one memo; a further value (of an affine design: of its hash) has a memo of its own",
}


@dataclass(frozen=True)
class Waves:
    """ε of the answers in two waves.

    Parameters
    ----------
    rule : str
    wave : float
        ε of one answer by itself.
    pair : float
        ε of both answers, about both values and whether they differ.
    stayed : float
        ε of both answers about the value of people for whom it stayed, if it is known that it did.
    """

    rule: str
    wave: float
    pair: float
    stayed: float

    def sections(self) -> list[Content]:
        """The three numbers in the vocabulary of `naysay.printing`."""
        rows = (
            ("one answer", _number(self.wave)),
            ("both answers, whatever happened", _number(self.pair)),
            ("both answers of people whose value stayed", _number(self.stayed)),
        )
        return [
            Sentence(f"rule of asking again ({self.rule}): {_TOLD[self.rule]}"),
            Table((Column("what is told", words=True, width=60), Column("ε")), rows),
        ]

    def __str__(self) -> str:
        return text(self.sections())


def waves(design: Answerable, *, rule: str | None = None, redraw: float = 0.5) -> Waves:
    """ε of the answers in two waves, under a rule of asking again.

    Parameters
    ----------
    design : Design
    rule : {"fresh", "kept", "redraw", "memory"}, optional
        A new draw in each wave; an answer that is kept for each value; the same, but with a new draw by chance also
        where the value stayed; a report that is remembered and sent with new noise. By default "memory" for designs
        that remember, otherwise "fresh".
    redraw : float
        For "redraw": the chance of a new draw where the value stayed, above 0 and at most 1.

    Raises
    ------
    DesignError
        An unknown rule or chance; "memory" for a design without a memory, or one of more than one piece.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.k_ary(tuple("abcd"), epsilon=1)
    >>> [round(waves(survey, rule="redraw", redraw=rho).pair, 3) for rho in (1, 0.5, 0.2)]
    [2.0, 2.693, 3.609]
    >>> print(waves(survey, rule="kept"))
    rule of asking again (kept): two different answers prove a change, so that no ε bounds the pair; given which \
answers are equal, ε for each value that was held, unless values share a hash (affine designs: no ε bounds it)
    <BLANKLINE>
    what is told                                   ε
    one answer                                     1
    both answers, whatever happened                ∞
    both answers of people whose value stayed      1
    """
    channel = check_channel(design, "a design that is asked again")
    memory, one = memory_of(channel), epsilon(channel)
    asked = rule or ("fresh" if memory is None else "memory")
    if asked not in _TOLD:
        raise DesignError(f"rule must be one of {', '.join(_TOLD)}; got {rule!r}")
    if asked == "fresh":
        return Waves(asked, one, 2 * one, 2 * one)
    if asked == "kept":
        return Waves(asked, one, math.inf, one)
    if asked == "redraw":
        if not 0 < redraw <= 1:
            raise DesignError(f"redraw must be a chance above 0, at most 1; got {redraw!r} (0 is the rule 'kept')")
        return Waves(asked, one, *_redrawn(channel, float(redraw)))
    if memory is None:
        raise DesignError("only designs that remember have the rule 'memory'; make one with designs.remembered()")
    return Waves(asked, one, _remembered(memory), memory.epsilon_after(2))


def after_waves(design: Answerable, number: int) -> float:
    """ε of the answers in that many waves about one value that stays.

    The sum for new draws. For a design that remembers, the reports of one memo: at most the ε of its lifetime. They are
    no independent draws, so that they can tell more than the sum.

    Parameters
    ----------
    design : Design
    number : int
        Waves, at least 1.

    Raises
    ------
    DesignError
        Fewer than one wave.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.remembered(100, epsilon=0.25, lifetime=4, design="k_ary")
    >>> [round(after_waves(survey, number), 2) for number in (1, 2, 5, 100)]
    [0.25, 0.58, 1.93, 4.0]
    """
    channel = check_channel(design, "a design that is asked again")
    if number < 1:
        raise DesignError(f"there must be one wave or more; got {number}")
    memory = memory_of(channel)
    return number * epsilon(channel) if memory is None else memory.epsilon_after(number)


def _redrawn(design: Design, rho: float) -> tuple[float, float]:
    """ε of the pair and of those who stay, for a new draw with chance rho."""
    if design.space.size <= _LISTED and design.space.listable:
        return _enumerated(design.matrix, rho)
    codes = design.typical_codes[:1]
    if len(design.pieces) > 1:
        raise DesignError("'redraw' has a closed form for k-ary, subset selection and affine designs only")
    row = design.rows(codes)[0]
    p, q = float(row.max()), float(row.min())
    e = math.log(p / q)
    stayed = max(2 * e, 0.0) if rho == 1 else e + math.log((1 - rho + rho * p) / (1 - rho + rho * q))
    return 2 * e + max(-math.log(rho), math.log((1 - rho) / p + rho)), stayed


def _enumerated(matrix: NDArray[np.float64], rho: float) -> tuple[float, float]:
    """The same from all pairs of answers and of values."""
    pair = stayed = 0.0
    t = matrix.shape[1]
    apart = ~np.eye(t, dtype=bool)
    for place, row in enumerate(matrix):
        fresh = rho * row * matrix
        fresh[place] += (1 - rho) * row
        moved = row[None, :, None] * matrix[:, None, :]
        moved = moved[:, apart]  # (answers of the second wave, pairs of different values)
        seen = (fresh > 0).any(axis=1) | (moved > 0).any(axis=1)
        every = np.hstack([fresh, moved])[seen]
        with np.errstate(divide="ignore", invalid="ignore"):
            pair = max(pair, float(np.log(every.max(axis=1) / every.min(axis=1)).max()))
            some = fresh[fresh.max(axis=1) > 0]
            stayed = max(stayed, float(np.log(some.max(axis=1) / some.min(axis=1)).max()))
    return pair, stayed


def _remembered(design: Any) -> float:
    """ε of the pair where each value has a memo of its own (of an affine design: each value of the one hash)."""
    if len(design.first.pieces) > 1 or design.first.kind == "subset_selection":
        raise DesignError("the pair of waves of remembered answers has a closed form for k-ary and affine designs only")
    ((p, q, n),) = design.first.pieces
    keep, whole = design.second.keep, design.second.whole
    p, q, rho = float(p), float(q), (keep * n + whole - keep) / (whole - keep)
    a, b, more = 1 + p * (rho - 1), 1 + q * (rho - 1), n > 2
    same = [1 + p * (rho**2 - 1), 1 + q * (rho**2 - 1), a * b, *([b * b] if more else [])]
    other = [1 + (p + q) * (rho - 1), a * a, b * b, *([1 + 2 * q * (rho - 1), a * b] if more else [])]
    return max(math.log(max(each) / min(each)) for each in (same, other))


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


@dataclass(frozen=True)
class Composition:
    """The privacy of several answers of one person.

    Parameters
    ----------
    epsilon : float
        The sum of the questions' ε. It bounds what all answers together reveal; it is ∞ if one of them is.
    bits : float
        An upper bound on the bits that all answers together reveal. If questions are related, the answer to one may add
        to what is known about another.
    still_possible : tuple of (int, int)
        Fewest and most categories left, for each question.
    largest_odds : tuple of float
        Posterior over prior odds in the worst case, for each question, under uniform priors.
    """

    epsilon: float
    bits: float
    still_possible: tuple[tuple[int, int], ...]
    largest_odds: tuple[float, ...]


def compose(designs: Sequence[Design]) -> Composition:
    """The privacy of one person's answers to several questions, randomized independently.

    Likelihood rows multiply, so ε and bits add. If one ε is ∞, the sum is ∞ and says no more; then look at the
    categories left and at the odds.

    Parameters
    ----------
    designs : sequence of Design
        One design for each question. Repeat a design that is answered again.

    Returns
    -------
    Composition

    Raises
    ------
    DesignError
        No design, or an offer of levels (give one of its designs instead).

    Examples
    --------
    >>> from naysay import designs
    >>> round(compose([designs.two_coins()] * 2).epsilon, 4)
    2.1972
    """
    if not designs:
        raise DesignError("at least one design is needed")
    for design in designs:
        check_channel(design, "an answer to compose")
    return Composition(
        epsilon=math.fsum(epsilon(design) for design in designs),
        bits=math.fsum(information(design) for design in designs),
        still_possible=tuple(still_possible(design) for design in designs),
        largest_odds=tuple(float(odds(design).max()) for design in designs),
    )


def unexcluded(categories: int, waves: int) -> float:
    """Probability that no answer of several waves rules out a given false category.

    ((t - 2) / (t - 1))^w for the uniform negative survey. If every wave draws afresh, the answers together reveal more
    and more. If the first draw is repeated, later answers reveal nothing new.

    Parameters
    ----------
    categories : int
        t, at least 3.
    waves : int
        w, the number of times the question is answered.

    Returns
    -------
    float

    Raises
    ------
    DesignError
        Fewer than three categories, or a negative number of waves.

    Examples
    --------
    >>> round(unexcluded(5, waves=10), 4)
    0.0563
    """
    if categories < 3 or waves < 0:
        raise DesignError(f"at least three categories and 0 or more waves are needed; got {categories} and {waves}")
    return ((categories - 2) / (categories - 1)) ** waves
