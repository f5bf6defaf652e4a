"""Designs of two samples that estimate how many people deny: cheaters, and carriers who lie."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from naysay.design import Samples, Say, Share, Step, draw_lots
from naysay.design.protocol import words
from naysay.designs._family import HONESTLY, YES_NO, ask, family, of_steps, two
from naysay.designs.randomized import pair
from naysay.designs.stacked import ALIKE, stack
from naysay.errors import DesignError

__all__ = ["cheating_detection", "cheating_detection_symmetric", "stochastic_lie_detector"]


@family("Clark & Desharnais (1998)", assumes=("cheaters say no whatever the device shows", ALIKE))
def cheating_detection(*, p: Sequence[Any], categories: Sequence[Any] = YES_NO) -> Samples:
    """Cheating detection: two samples with different chances of a forced yes show how many always say no.

    Honest carriers say yes. Honest others say yes if they are forced to, with probability p_g in sample g. Cheaters say
    no, whatever the device shows. The share of honest carriers is a lower bound for the sensitive category; honest
    carriers and all cheaters together are an upper bound.

    Parameters
    ----------
    p : (2,) sequence of probability
        Probabilities of a forced yes in samples 1 and 2; they differ.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], or alike.

    References
    ----------
    Clark & Desharnais (1998).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = cheating_detection(p=(0.25, 0.75))
    >>> tally = survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[200, 300, 350, 150])
    >>> float(estimate.moments(survey, tally).proportions[0].round(6))
    0.25
    """
    yes, no = two(categories)
    honest, cells = _honest(yes, no)
    forced = _unless_cheating(Say(yes), yes, no)
    bounds = _bounds(yes, no, cells)
    return stack(p, lambda share: draw_lots((share, forced), (1 - share, honest)), cells, (yes, no), **bounds)


@family("Ostapczuk, Moshagen, Zhao & Musch (2009)", assumes=("cheaters say no whatever the device shows", ALIKE))
def cheating_detection_symmetric(
    *, forced_yes: Sequence[Any], forced_no: Sequence[Any], categories: Sequence[Any] = YES_NO
) -> Samples:
    """Symmetric cheating detection: some people must say yes and some must say no, so that neither answer is safe.

    P(yes) is 1 - f_no for honest carriers, f_yes for honest others and 0 for cheaters.

    Parameters
    ----------
    forced_yes, forced_no : (2,) sequence of probability
        Shares of all respondents who must say yes, and who must say no, in samples 1 and 2.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], that sum to one or more, or that are alike in both samples.

    References
    ----------
    Ostapczuk, Moshagen, Zhao & Musch (2009).

    Examples
    --------
    >>> survey = cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1))
    >>> survey.channel(1).matrix[0].round(2)
    array([0.6, 0.1, 0. ])
    """
    yes, no = two(categories)
    honest, cells = _honest(yes, no)
    up, down = pair(forced_yes, what="forced_yes"), pair(forced_no, what="forced_no")
    if (1 - down[0]) * up[1] == (1 - down[1]) * up[0]:
        raise DesignError(
            "the samples must differ in forced_yes / (1 - forced_no), or cheaters cannot be told from others; "
            f"got {forced_yes!r}, {forced_no!r}"
        )
    offer = {}
    for place, (f_yes, f_no) in enumerate(zip(up, down, strict=True), start=1):
        if f_yes + f_no >= 1:
            raise DesignError(
                f"forced_yes and forced_no must sum to less than one; sample {place} has {f_yes} and {f_no}"
            )
        lots = ((f_yes, _unless_cheating(Say(yes), yes, no)), (f_no, Say(no)), (1 - f_yes - f_no, honest))
        offer[place] = of_steps(draw_lots(*lots), cells, (yes, no), yes_no=True)
    return Samples.of(offer, **_bounds(yes, no, cells))


def _honest(yes: Any, no: Any) -> tuple[Step, tuple[str, str, str]]:
    cells = (f"honest {yes}", f"honest {no}", "cheater")
    return ask((cells[0], Say(yes)), (cells[1], Say(no)), (cells[2], Say(no)), told=HONESTLY), cells


def _unless_cheating(step: Step, yes: Any, no: Any) -> Step:
    """A forced answer; cheaters do not give it."""
    ways = ((f"honest {yes}", step), (f"honest {no}", step), ("cheater", Say(no)))
    return ask(*ways, question="You are told to. Do you?", told=f"{step}, whatever the truth")


def _bounds(yes: Any, no: Any, cells: tuple[str, str, str]) -> dict[str, Any]:
    """The sensitive category at least (honest carriers), and at most (with all cheaters)."""
    most = Share(f"{yes}, at most", (cells[0], cells[2]))
    note = f"“{yes}” is the least it can be, honest answers only; “{yes}, at most” counts every cheater to it"
    return {
        "shares": (Share(yes, cells[:1]), Share(no, cells[1:])),
        "nuisance": (Share("cheaters", cells[2:]), Share(cells[1], cells[1:2]), most),
        "measures_compliance": True,
        "notes": (note,),
    }


@family("Moshagen, Musch & Erdfelder (2012)", assumes=("everybody outside the sensitive category is honest", ALIKE))
def stochastic_lie_detector(*, p: Sequence[Any], categories: Sequence[Any] = YES_NO) -> Samples:
    """The stochastic lie detector: some carriers lie, non-carriers never do, and two samples show how many lie.

    Truthful carriers say yes. Non-carriers say yes if the device asks for the negation, with probability 1 - p_g in
    sample g. Lying carriers say no.

    Parameters
    ----------
    p : (2,) sequence of probability
        Probabilities that non-carriers are asked the sensitive question, in samples 1 and 2; they differ.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], or alike.

    References
    ----------
    Moshagen, Musch & Erdfelder (2012).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = stochastic_lie_detector(p=("2/12", "10/12"))
    >>> tally = survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[373, 191, 398, 294])
    >>> fit = estimate.maximum_likelihood(survey, tally)
    >>> round(float(fit.proportions[0]), 6), round(fit.nuisance["truth-tellers"].value, 6)
    (0.870695, 0.635806)
    """
    yes, no = two(categories)
    cells = (f"truthful {yes}", no, f"lying {yes}")

    def steps(share: Fraction) -> Step:
        other = draw_lots((share, Say(no)), (1 - share, Say(yes)))
        told = words(ask((yes, Say(yes)), (no, other))).rstrip(".")
        return ask((cells[0], Say(yes)), (cells[1], other), (cells[2], Say(no)), told=told)

    carriers = (cells[0], cells[2])
    shares = (Share(yes, carriers), Share(no, cells[1:2]))
    honest = (Share("truth-tellers", cells[:1], among=carriers),)
    return stack(p, steps, cells, (yes, no), shares=shares, nuisance=honest, measures_compliance=True)
