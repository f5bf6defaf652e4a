"""Randomized response: answers that chance has changed, by a device or by an innocuous question of known prevalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay._values import Exact, Label
from naysay.design import Branch, Chance, Design, Say, Step, draw_lots
from naysay.design.drawing import odds_within, without_noise
from naysay.designs.catalog import (
    YES_NO,
    ask,
    by_lot,
    capped,
    chance,
    domain,
    family,
    literal_text,
    of_pattern,
    of_steps,
    truth,
    truthfully,
    two,
)
from naysay.errors import DesignError

_MOST_DRAWS = 100


@family("Warner (1965)")
def warner(*, p: Exact, categories: Sequence[Label] = YES_NO) -> Design:
    """Warner's design: chance decides whether people answer yes or no to a statement or to its negation.

    P(yes | yes) = p, P(yes | no) = 1 - p, so that ε = abs(ln(p / (1 - p))).

    Parameters
    ----------
    p : probability
        Probability that the sensitive statement is the one answered; not 1/2. Below 1/2 an answer speaks for the other
        category, which prints say: 0.2 is as private and as precise as 0.8.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p outside [0, 1], or 1/2; other than two categories.

    References
    ----------
    Warner (1965).

    Examples
    --------
    >>> warner(p=0.7).matrix
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """
    yes, no = two(categories)
    statement_chance = chance(p, name="p")
    if 2 * statement_chance == 1:
        raise DesignError(f"p must not be 1/2; got {p} (a fair coin carries no information)")
    negation_question, negation_instruction = "Is its negation true of you?", "say truthfully whether its negation is"
    negation_step = ask((yes, Say(no)), (no, Say(yes)), question=negation_question, instruction=negation_instruction)
    swapped_notes = (
        f"p is below 1/2: most people answer the negation, so an answer “{_checks.label(yes)}” speaks for "
        f"“{_checks.label(no)}”; it is as private and as precise as p={float(1 - statement_chance):g} with the answers "
        "swapped",
    )
    return of_steps(
        draw_lots((statement_chance, truth((yes, no))), (1 - statement_chance, negation_step)),
        (yes, no),
        yes_no=True,
        notes=swapped_notes if 2 * statement_chance < 1 else (),
    )


@family("Greenberg, Abul-Ela, Simmons & Horvitz (1969), with coins")
def two_coins(*, categories: Sequence[Label] = YES_NO) -> Design:
    """The two coins: if the first one shows heads, tell the truth; otherwise let the second one answer.

    P(yes | yes) = 3/4 and P(yes | no) = 1/4. Three quarters of all answers are true, and ε = ln 3.

    Parameters
    ----------
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Other than two categories.

    Examples
    --------
    >>> two_coins().matrix[0]
    array([0.75, 0.25])
    """
    yes, no = two(categories)
    second_coin = draw_lots((Fraction(1, 2), Say(yes)), (Fraction(1, 2), Say(no)), again=True)
    return of_steps(
        draw_lots((Fraction(1, 2), truth((yes, no))), (Fraction(1, 2), second_coin)), (yes, no), yes_no=True
    )


@family("Boruch (1971); Bourke & Dalenius (1976) for several categories")
def forced_response(
    categories: Sequence[Label] = YES_NO,
    *,
    forced_yes: Exact | None = None,
    forced_no: Exact | None = None,
    forced: Sequence[Exact] | None = None,
) -> Design:
    """Forced response: chance makes some respondents give a fixed answer; the others tell the truth.

    P(y | j) = f_y + (1 - Σf) [y = j], where f_y is the share who must say y. All f are shares of *all* respondents
    (unconditional). If a die forces a yes at 5, then ``forced_yes=1/6``. With two categories P(yes | yes) = 1 - f_no
    and P(yes | no) = f_yes.

    Parameters
    ----------
    categories : (t,) sequence of label
        With two, the sensitive one first.
    forced_yes, forced_no : probability
        For two categories: the shares of all respondents who must say the first, and the second.
    forced : (t,) sequence of probability
        For any number of categories: the share of all respondents who must say each category.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], or that sum to one or more: nobody would tell the truth.

    References
    ----------
    Boruch (1971); Bourke & Dalenius (1976).

    Examples
    --------
    >>> forced_response(forced_yes="1/6", forced_no="1/12").matrix.round(4)
    array([[0.9167, 0.1667],
           [0.0833, 0.8333]])
    """
    labels = _checks.categories(categories)
    if (forced is None) == (forced_yes is None and forced_no is None):
        raise DesignError("give forced_yes and forced_no, or forced with one probability for each category")
    if forced is None:
        two(labels)
        forced = (0 if forced_yes is None else forced_yes, 0 if forced_no is None else forced_no)
    if isinstance(forced, str) or np.ndim(np.asarray(forced, dtype=object)) != 1 or len(forced) != len(labels):
        raise DesignError(f"forced must be {len(labels)} probabilities, one for each category; got {forced!r}")
    forced_shares = [
        chance(share, name=f"the forced probability of {label!r}") for share, label in zip(forced, labels, strict=True)
    ]
    forced_total = sum(forced_shares, Fraction(0))
    if forced_total >= 1:
        raise DesignError(
            f"the forced probabilities must sum to less than one, or nobody tells the truth; they sum to "
            f"{float(forced_total):g} (they are shares of all respondents: multiply conditional ones by 1 - P(truth))"
        )
    weighted_steps: list[tuple[Any, Step]] = [(1 - forced_total, truth(labels))]
    weighted_steps += [(forced_share, Say(label)) for forced_share, label in zip(forced_shares, labels, strict=True)]
    return of_steps(draw_lots(*weighted_steps), labels, yes_no=len(labels) == 2)


@family("Mangat (1994)", assumes=("everybody in the sensitive category says so",))
def mangat(*, p: Exact, categories: Sequence[Label] = YES_NO) -> Design:
    """Mangat's design: members of the sensitive category say yes; the others answer as Warner's device says.

    P(yes | yes) = 1, P(yes | no) = 1 - p. A no proves that the respondent is not a member.

    Parameters
    ----------
    p : probability
        Probability that the device points at the sensitive statement; not 0.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p outside [0, 1], or 0; other than two categories.

    References
    ----------
    Mangat (1994).

    Examples
    --------
    >>> mangat(p=0.7).matrix[0].round(2)
    array([1. , 0.3])
    """
    yes, no = two(categories)
    statement_chance = chance(p, name="p")
    if statement_chance == 0:
        raise DesignError("p must not be 0: everybody would say yes")
    other_step = draw_lots((statement_chance, Say(no)), (1 - statement_chance, Say(yes)))
    return of_steps(ask((yes, Say(yes)), (no, other_step)), (yes, no), yes_no=True)


@family("Kuk (1990)")
def kuk(*, p: Sequence[Exact], draws: int = 1, categories: Sequence[Label] = YES_NO) -> Design:
    """Kuk's design: two packs of cards; the respondent draws from the pack of their category and names the color.

    In r draws with replacement the number of red cards is binomial, with probability p₁ for members and p₂ for others.
    Nobody says yes or no to anything sensitive.

    With several draws, `estimate.moments` can use the published estimator, which rests on the mean number of red cards,
    or least squares on how often each number came. It takes the one with the smaller variance when half of the people
    are members. Ask for either one with ``solution="mean"`` or ``solution="least_squares"``.

    Parameters
    ----------
    p : (2,) sequence of probability
        Share of red cards in the pack of the sensitive category, and in the other; they differ.
    draws : int
        r, the number of cards drawn, with replacement. With one card the response is its color; with more cards it is
        the number of red ones.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], or alike; other than two categories; too many draws.

    References
    ----------
    Kuk (1990).

    Examples
    --------
    >>> kuk(p=(0.8, 0.2), draws=2).matrix.round(2)
    array([[0.04, 0.64],
           [0.32, 0.32],
           [0.64, 0.04]])
    """
    yes, no = two(categories)
    red_shares = pair(p, what="p, the shares of red cards")
    if red_shares[0] == red_shares[1]:
        raise DesignError(f"the two packs must hold different shares of red cards; got {p[0]} twice")
    # The most cards with which the rarest number of red ones can still be drawn.
    rarest_share = min(share for red_share in red_shares for share in (red_share, 1 - red_share) if share)
    most_draws = next(
        (cards - 1 for cards in range(2, _MOST_DRAWS + 1) if rarest_share**cards < Fraction(1, 2**53)), _MOST_DRAWS
    )
    draws = _checks.whole_number(draws, 1, most_draws, what="draws")
    draw_text = (
        f"draw {draws} cards, each put back, and say how many are red" if draws > 1 else "draw a card and say its color"
    )
    instruction = (
        f"take the first pack of cards if the sensitive statement is true of you, otherwise the second; {draw_text}"
    )
    first_step = ask((yes, _cards(red_shares[0], draws)), (no, _cards(red_shares[1], draws)), instruction=instruction)
    return of_steps(first_step, (yes, no), range(draws + 1) if draws > 1 else ("red", "black"), yes_no=draws == 1)


def _cards(red: Fraction, draws: int) -> Chance:
    """The step of drawing this many cards from one pack; each card is put back."""
    if draws == 1:
        device_text = "draw a card from your pack"
        outcome_ways = [("red", Say("red"), red), ("black", Say("black"), 1 - red)]
    else:
        device_text = f"draw {draws} cards from your pack, each put back, and count the red ones"
        count_chances = (math.comb(draws, k) * red**k * (1 - red) ** (draws - k) for k in range(draws + 1))
        outcome_ways = [(f"{k} red", Say(k), outcome_chance) for k, outcome_chance in enumerate(count_chances)]
    return Chance(
        device_text,
        tuple(
            Branch(event, next_step, chance=outcome_chance)
            for event, next_step, outcome_chance in outcome_ways
            if outcome_chance
        ),
    )


def pair(p: Sequence[Exact], *, what: str) -> tuple[Fraction, Fraction]:
    """Two probabilities."""
    if isinstance(p, str) or np.asarray(p, dtype=object).ndim != 1 or len(p) != 2:
        raise DesignError(f"{what} must be two probabilities; got {literal_text(p)}")
    return chance(p[0], name=what), chance(p[1], name=what)


@family("Kairouz, Bonawitz & Ramage (2016)")
def k_ary(categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact) -> Design:
    """k-ary randomized response: the truth with odds e^ε against each other category.

    P[i, i] = e^ε / (e^ε + t - 1); all other entries are 1 / (e^ε + t - 1). Rounding never makes the realized ε exceed
    the requested one.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        A whole number t stands for the categories 0 to t - 1.
    epsilon : float
        ε in nats, positive.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700.

    References
    ----------
    Kairouz, Bonawitz & Ramage (2016).

    Examples
    --------
    >>> k_ary(("a", "b", "c"), epsilon=1).matrix[:, 0].round(4)
    array([0.5761, 0.2119, 0.2119])
    """
    labels = domain(categories)
    a, b = odds_within(epsilon, others=len(labels) - 1)
    other_chance = Fraction(b, a + (len(labels) - 1) * b)
    first_step = draw_lots(
        (1 - len(labels) * other_chance, truthfully(labels)), (len(labels) * other_chance, by_lot(labels))
    )
    return of_pattern(a, b, labels, first_step, notes=capped(epsilon, a, b))


INDEPENDENT = "the innocuous answer has nothing to do with the sensitive one"
PREVALENCE = "the innocuous prevalence is the one stated"
SAME = ("same", "different")
COMPARE = (
    "think of your answers to the sensitive and to the innocuous question, and say only whether they are the “same” or "
    "“different”"
)
_EITHER = (
    "say “at least one” if the sensitive or the innocuous statement, or both, are true of you, otherwise “neither”"
)
INNOCUOUS = "say truthfully whether the innocuous statement is true of you"


@family("Yu, Tian & Tang (2008)", assumes=(INDEPENDENT, PREVALENCE))
def crosswise(
    *, prevalence: Exact, between: Sequence[Exact] | None = None, categories: Sequence[Label] = YES_NO
) -> Design:
    """The crosswise model: people say whether their answers to a sensitive and an innocuous question agree.

    This is Warner's design without a device. If p is the innocuous prevalence, P(same | yes) = p and P(same | no) = 1 -
    p.

    Parameters
    ----------
    prevalence : probability
        p, the share of people with a yes to the innocuous question; not 1/2. For a birthday in the first three months
        it is about 1/4.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1/2; a range that does not hold it, or that holds 1/2.

    References
    ----------
    Yu, Tian & Tang (2008).

    Examples
    --------
    >>> crosswise(prevalence=0.25).matrix
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    p = chance(prevalence, name="prevalence")
    if 2 * p == 1:
        raise DesignError(f"prevalence must not be 1/2; got {prevalence} (the answer would carry no information)")
    yes, no = two(categories)
    same_step, different_step = Say(SAME[0]), Say(SAME[1])
    first_step = innocuous(
        p, ask((yes, same_step), (no, different_step)), ask((yes, different_step), (no, same_step)), instruction=COMPARE
    )
    middle_design = of_steps(first_step, (yes, no), SAME, yes_no=True)
    return _ranged(middle_design, between, p, lambda range_end: crosswise(prevalence=range_end, categories=categories))


@family("Yu, Tian & Tang (2008)", assumes=(INDEPENDENT, PREVALENCE))
def triangular(
    *, prevalence: Exact, between: Sequence[Exact] | None = None, categories: Sequence[Label] = YES_NO
) -> Design:
    """The triangular model: people say whether a sensitive or an innocuous statement, or both, are true of them.

    P(at least one | yes) = 1, P(at least one | no) = p. People who say "neither" are known not to be members.

    Parameters
    ----------
    prevalence : probability
        p, the share of people of whom the innocuous statement is true; not 1.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1; a range that does not hold it.

    References
    ----------
    Yu, Tian & Tang (2008).

    Examples
    --------
    >>> triangular(prevalence=0.25).matrix
    array([[1.  , 0.25],
           [0.  , 0.75]])
    """
    p = chance(prevalence, name="prevalence")
    if p == 1:
        raise DesignError(f"prevalence must not be 1; got {prevalence} (everybody would say the same)")
    yes, no = two(categories)
    at_least_one, neither_step = Say("at least one"), Say("neither")
    first_step = innocuous(p, at_least_one, ask((yes, at_least_one), (no, neither_step)), instruction=_EITHER)
    middle_design = of_steps(first_step, (yes, no), (at_least_one.response, neither_step.response), yes_no=True)
    return _ranged(middle_design, between, p, lambda range_end: triangular(prevalence=range_end, categories=categories))


@family("Horvitz, Shah & Simmons (1967); Greenberg et al. (1969)", assumes=(INDEPENDENT, PREVALENCE))
def unrelated_question(
    *, p: Exact, prevalence: Exact, between: Sequence[Exact] | None = None, categories: Sequence[Label] = YES_NO
) -> Design:
    """The unrelated question: chance decides whether people answer a sensitive or an innocuous question.

    If u is the innocuous prevalence, P(yes | yes) = p + (1 - p)u and P(yes | no) = (1 - p)u.

    Parameters
    ----------
    p : probability
        Probability that the sensitive question is the one answered; not 0.
    prevalence : probability
        u, the share of people with a yes to the innocuous question. If it is unknown, use `unrelated_question_unknown`.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p or the prevalence outside [0, 1]; p = 0.

    References
    ----------
    Horvitz, Shah & Simmons (1967); Greenberg, Abul-Ela, Simmons & Horvitz (1969).

    Examples
    --------
    >>> unrelated_question(p=0.7, prevalence=0.25).matrix[0]
    array([0.775, 0.075])
    """
    sensitive_chance, u = chance(p, name="p"), chance(prevalence, name="prevalence")
    if sensitive_chance == 0:
        raise DesignError("p must not be 0: nobody would answer the sensitive question")
    yes, no = two(categories)
    honest_step, innocuous_step = truth((yes, no)), innocuous(u, Say(yes), Say(no), instruction=INNOCUOUS)
    middle_design = of_steps(
        draw_lots((sensitive_chance, honest_step), (1 - sensitive_chance, innocuous_step)), (yes, no), yes_no=True
    )
    return _ranged(
        middle_design,
        between,
        u,
        lambda range_end: unrelated_question(p=p, prevalence=range_end, categories=categories),
    )


def innocuous(prevalence: Fraction, if_yes: Step, if_no: Step, *, instruction: str = "") -> Chance:
    """A chance step whose device is an innocuous question; nobody else knows its answer."""
    branches = (Branch("yes", if_yes, chance=prevalence), Branch("no", if_no, chance=1 - prevalence))
    return Chance(
        "think of your answer to the innocuous question",
        tuple(branch for branch in branches if branch.chance),
        instruction,
    )


def _ranged(
    middle_design: Design, between: Sequence[Exact] | None, value: Fraction, design_at: Callable[[Fraction], Design]
) -> Design:
    """The design; its `alternatives` are the designs at both ends of the uncertain prevalence's range."""
    if between is None:
        return middle_design
    if isinstance(between, str) or np.asarray(between, dtype=object).ndim != 1 or len(between) != 2:
        raise DesignError(f"between must be the lowest and highest prevalence; got {between!r}")
    lowest_prevalence, highest_prevalence = (chance(range_end, name="an end of between") for range_end in between)
    if not lowest_prevalence <= value <= highest_prevalence:
        raise DesignError(f"between must hold the prevalence, {float(value):g}; got {between!r}")
    end_designs = (design_at(lowest_prevalence), design_at(highest_prevalence))
    speaks_for_first = {bool(design.matrix[0, 0] > design.matrix[0, 1]) for design in (middle_design, *end_designs)}
    if len(speaks_for_first) > 1:
        raise DesignError(f"between must stay on one side of 1/2, or the answer may mean the opposite; got {between!r}")
    return replace(middle_design, alternatives=end_designs)


@family("Christofides (2003)")
def christofides(*, p: Sequence[Exact], categories: Sequence[Label] = YES_NO) -> Design:
    """Christofides' design: a card shows a number; members report the number counted from the other end.

    Card k of m comes up with probability p_k. Others report k, members report m + 1 - k. Nobody says yes or no.

    Parameters
    ----------
    p : (m,) sequence of probability
        Probabilities of the cards 1 to m. They sum to one, and they differ when read backwards.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Fewer than two cards, probabilities that do not sum to one, or that read the same backwards.

    References
    ----------
    Christofides (2003).

    Examples
    --------
    >>> christofides(p=(0.2, 0.3, 0.5)).matrix
    array([[0.5, 0.2],
           [0.3, 0.3],
           [0.2, 0.5]])
    """
    yes, no = two(categories)
    if isinstance(p, str) or np.asarray(p, dtype=object).ndim != 1:
        raise DesignError(f"p must be the probabilities of two cards or more; got {literal_text(p)}")
    card_chances = without_noise([chance(card_chance, name="p") for card_chance in p])
    m = len(card_chances)
    if m < 2 or sum(card_chances, Fraction(0)) != 1:
        raise DesignError(f"p must be the probabilities of two cards or more and sum to one; got {literal_text(p)}")
    if card_chances == card_chances[::-1]:
        raise DesignError(
            f"p must not read the same backwards; got {literal_text(p)} (the number would carry no information)"
        )
    instruction = f"draw a card; say its number k, or {m + 1} - k if the sensitive statement is true of you"

    def cards(number: Callable[[int], int]) -> Step:
        ways = (
            Branch(f"card {k}", Say(number(k)), chance=share) for k, share in enumerate(card_chances, start=1) if share
        )
        return Chance("draw a card", tuple(ways))

    first_step = ask((yes, cards(lambda k: m + 1 - k)), (no, cards(lambda k: k)), instruction=instruction)
    return of_steps(first_step, (yes, no), range(1, m + 1))


@family("Singh & Joarder (1997)")
def singh_joarder(*, p: Exact, categories: Sequence[Label] = YES_NO) -> Design:
    """Singh and Joarder's design: as Warner's, but a member whose card says no draws once more.

    P(yes | yes) = p + (1 - p)p, P(yes | no) = 1 - p.

    Parameters
    ----------
    p : probability
        Share of cards with the sensitive statement; 3p - p² differs from 1.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p outside [0, 1], or a p at which both columns are alike.

    References
    ----------
    Singh & Joarder (1997).

    Examples
    --------
    >>> singh_joarder(p=0.7).matrix[0].round(2)
    array([0.91, 0.3 ])
    """
    yes, no = two(categories)
    card_chance = chance(p, name="p")
    if 2 * card_chance - card_chance**2 == 1 - card_chance:
        raise DesignError(f"p must tell members from others; got {p}")
    second_draw = draw_lots((card_chance, Say(yes)), (1 - card_chance, Say(no)), again=True)
    member_step = draw_lots((card_chance, Say(yes)), (1 - card_chance, second_draw))
    return of_steps(
        ask((yes, member_step), (no, draw_lots((card_chance, Say(no)), (1 - card_chance, Say(yes))))),
        (yes, no),
        yes_no=True,
    )


@family(
    "Mangat, Singh & Singh (1992)", assumes=(INDEPENDENT, PREVALENCE, "everybody in the sensitive category says so")
)
def mangat_singh_singh(*, p: Exact, prevalence: Exact, categories: Sequence[Label] = YES_NO) -> Design:
    """Mangat, Singh and Singh's design: members say yes; the others get the unrelated question.

    P(yes | yes) = 1, P(yes | no) = (1 - p)u.

    Parameters
    ----------
    p : probability
        Probability that the others are asked the sensitive question.
    prevalence : probability
        u, the share of people with a yes to the innocuous question.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A probability outside [0, 1]; (1 - p)u = 1: everybody would say yes.

    References
    ----------
    Mangat, Singh & Singh (1992).

    Examples
    --------
    >>> mangat_singh_singh(p=0.6, prevalence=0.25).matrix[0].round(2)
    array([1. , 0.1])
    """
    yes, no = two(categories)
    sensitive_chance, u = chance(p, name="p"), chance(prevalence, name="prevalence")
    if (1 - sensitive_chance) * u == 1:
        raise DesignError("(1 - p) · prevalence must be less than 1: everybody would say yes")
    other_step = draw_lots(
        (sensitive_chance, truth((yes, no))),
        (1 - sensitive_chance, innocuous(u, Say(yes), Say(no), instruction=INNOCUOUS)),
    )
    return of_steps(ask((yes, Say(yes)), (no, other_step)), (yes, no), yes_no=True)
