"""Designs of several samples or of two answers, in which one identifies what the other leaves open.

Designs of two samples that estimate how many people deny: cheaters, and carriers who lie.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Answerable, Both, Samples, Say, Share, Step, draw_lots
from naysay.design.exact import as_fraction
from naysay.design.protocol import words
from naysay.designs.catalog import HONESTLY, SENSITIVE, YES_NO, ask, call, chance, family, of_steps, two
from naysay.designs.randomized import COMPARE, INDEPENDENT, INNOCUOUS, PREVALENCE, SAME, crosswise, innocuous, pair
from naysay.errors import DesignError

ALIKE = "the samples are drawn at random from one population"
ATTENTION = "people are as attentive to both questions, and attention has nothing to do with the sensitive category"
_CORNERS = 4_096  # a band tries at most this many combinations of the ends of uncertain probabilities


@family("stacked samples", assumes=(ALIKE,))
def samples(offer: Mapping[Any, Answerable] | None = None, **named: Answerable) -> Samples:
    """Several samples of one population, each with a design of its own, such as a randomized and a direct arm.

    All samples give one estimate, with a test of whether they agree.

    Parameters
    ----------
    offer : {name: Design}
        The samples by name, all with the same categories.

    Raises
    ------
    DesignError
        No sample, or samples with different categories.

    Examples
    --------
    >>> from naysay import designs
    >>> samples(direct=designs.direct(("yes", "no")), randomized=designs.crosswise(prevalence=0.25)).levels
    ('direct', 'randomized')
    """
    designs_by_name: dict[Any, Any] = {**(offer or {}), **named}
    calls = ", ".join(f"{name}={getattr(design, 'name', design)}" for name, design in designs_by_name.items())
    if not designs_by_name:
        raise DesignError("samples are made of designs by name: samples(direct=…, randomized=…)")
    samples_design = Samples.of(designs_by_name, name=f"samples({calls})")
    ends_by_design = [design.alternatives or (design,) for design in designs_by_name.values()]
    corners = itertools.product(*ends_by_design) if any(len(ends) > 1 for ends in ends_by_design) else ()
    corner_designs = (
        Samples.of(dict(zip(designs_by_name, corner, strict=True))) for corner in itertools.islice(corners, _CORNERS)
    )
    return replace(samples_design, alternatives=tuple(corner_designs))


@family("Greenberg, Abul-Ela, Simmons & Horvitz (1969)", assumes=(INDEPENDENT, ALIKE))
def unrelated_question_unknown(*, p: Sequence[Any], categories: Sequence[Any] = YES_NO) -> Samples:
    """The unrelated question in two samples, which also estimate the innocuous prevalence.

    In sample g people answer the sensitive question with probability p_g. With sensitive share π and innocuous
    prevalence u, the share of yes is λ_g = p_g π + (1 - p_g) u.

    Parameters
    ----------
    p : (2,) sequence of probability
        Probabilities that the sensitive question is the one answered, in samples 1 and 2; they differ.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Probabilities outside [0, 1], or alike.

    References
    ----------
    Greenberg, Abul-Ela, Simmons & Horvitz (1969).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = unrelated_question_unknown(p=(0.7, 0.3))
    >>> tally = survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[150, 350, 250, 250])
    >>> estimate.moments(survey, tally).proportions.round(6)
    array([0.15, 0.85])
    """
    yes, no = two(categories)
    cells = [(f"{label}, innocuous {other}", label, other) for label in (yes, no) for other in ("yes", "no")]
    sensitive = ask(*((cell, Say(label)) for cell, label, _ in cells), instruction=HONESTLY)
    unrelated = ask(
        *((cell, Say(yes if other == "yes" else no)) for cell, _, other in cells),
        question="Is the innocuous statement true of you?",
        instruction=INNOCUOUS,
    )
    names = tuple(cell for cell, _, _ in cells)
    shares = (Share(yes, names[:2]), Share(no, names[2:]))
    nuisance = (Share("innocuous yes", (names[0], names[2])),)

    def steps(share: Fraction) -> Step:
        return draw_lots((share, sensitive), (1 - share, unrelated))

    return stack(p, steps, names, (yes, no), shares=shares, nuisance=nuisance)


@family("Heck, Hoffmann & Moshagen (2018)", assumes=(INDEPENDENT, PREVALENCE, ALIKE))
def extended_crosswise(
    *, prevalence: Any, between: Sequence[Any] | None = None, categories: Sequence[Any] = YES_NO
) -> Samples:
    """The extended crosswise model: a second sample with the opposite innocuous prevalence tests the model.

    Sample 1 has innocuous prevalence p, sample 2 has 1 - p. If everybody complies, the shares of "same" in both samples
    sum to one: λ₁ + λ₂ = 1. This gives a test on one degree of freedom. It cannot detect people who answer at random.

    Parameters
    ----------
    prevalence : probability
        p, the share of people with a yes to the innocuous question of sample 1; not 1/2.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1/2.

    References
    ----------
    Heck, Hoffmann & Moshagen (2018).

    Examples
    --------
    >>> survey = extended_crosswise(prevalence=0.2)
    >>> survey.channel(2).matrix[0]
    array([0.8, 0.2])
    """
    p = as_fraction(prevalence, what="prevalence")
    if not 0 <= p <= 1 or 2 * p == 1:
        raise DesignError(f"prevalence must lie in [0, 1] and not be 1/2; got {prevalence!r}")
    first = crosswise(prevalence=p, between=between, categories=categories)

    def two_samples(first_prevalence: Any) -> Samples:
        sample_designs = (
            crosswise(prevalence=share, categories=categories)
            for share in (first_prevalence, 1 - as_fraction(first_prevalence))
        )
        return Samples.of(
            dict(enumerate(sample_designs, start=1)), notes=("the test of fit is blind to people who answer at random",)
        )

    return replace(
        two_samples(p), alternatives=tuple(two_samples(end) for end in between or ()) if first.alternatives else ()
    )


@family("Atsusaka & Stevenson (2023)", assumes=(INDEPENDENT, PREVALENCE, ATTENTION))
def anchored_crosswise(*, prevalence: Any, anchor: Any, categories: Sequence[Any] = YES_NO) -> Samples:
    """The crosswise model with an anchor: a second statement, true of nobody, shows how many answer at random.

    Attentive people answer both questions by the crosswise model; the anchor has innocuous prevalence p'. Others give
    random answers. If a share λ' say "same" to the anchor, the attentive share is γ = (λ' - ½) / (½ - p'). If a share λ
    say "same" to the sensitive question, (λ - (1 - γ)/2) / γ is that share among the attentive, and gives the sensitive
    share.

    Parameters
    ----------
    prevalence : probability
        p, the share of people with a yes to the innocuous question beside the sensitive one; not 1/2.
    anchor : probability
        p', the share of people with a yes to the innocuous question beside the anchor; not 1/2.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1/2.

    References
    ----------
    Atsusaka & Stevenson (2023), "A bias-corrected estimator for the crosswise model with inattentive respondents".

    Examples
    --------
    >>> survey = anchored_crosswise(prevalence=0.15, anchor=0.15)
    >>> survey.cells
    ('attentive yes', 'attentive no', 'inattentive')
    """
    yes, no = two(categories)
    cells = (f"attentive {yes}", f"attentive {no}", "inattentive")
    main = _crosswise_or_random(chance(prevalence, name="prevalence"), cells, same=(True, False))
    control = _crosswise_or_random(chance(anchor, name="anchor"), cells, same=(False, False), about="anchor")
    answers = Both.of(of_steps(main, cells, SAME, yes_no=True), of_steps(control, cells, SAME, yes_no=True))
    return Samples.of(
        {None: answers},
        shares=(Share(yes, cells[:1], among=cells[:2]), Share(no, cells[1:2], among=cells[:2])),
        nuisance=(Share("attentive", cells[:2]),),
        measures_compliance=True,
        name=call("anchored_crosswise", prevalence=prevalence, anchor=anchor),
    )


def _crosswise_or_random(
    p: Fraction, cells: tuple[str, str, str], *, same: tuple[bool, bool], about: str = "sensitive"
) -> Step:
    """One crosswise question: cells with `same` say "same" on an innocuous yes; inattentive people toss a coin."""
    if 2 * p == 1:
        raise DesignError(f"a prevalence must not be 1/2; got {float(p):g} (the answer would carry no information)")
    alike, unlike = Say(SAME[0]), Say(SAME[1])
    toss = draw_lots((Fraction(1, 2), alike), (Fraction(1, 2), unlike))
    ways = [
        (cell, innocuous(p, alike, unlike) if first else innocuous(p, unlike, alike))
        for cell, first in zip(cells, same, strict=False)
    ]
    question, instruction = (text.replace("sensitive", about) for text in (SENSITIVE, COMPARE))
    return ask(*ways, (cells[2], toss), question=question, instruction=instruction)


@family("Abul-Ela, Greenberg & Horvitz (1967)", assumes=(ALIKE,))
def abul_ela(categories: Sequence[Any], *, p: Sequence[Sequence[Any]]) -> Samples:
    """Abul-Ela's design: in each of t - 1 samples, chance picks the category that is asked about.

    In sample g chance picks the question "are you in category i?" with probability p_gi, so that P(yes | i) = p_gi.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three; with two it is `warner`.
    p : (t - 1, t) sequence of probability
        One row for each sample. Each row sums to one, and the rows differ.

    Raises
    ------
    DesignError
        Another shape, rows that do not sum to one, or two rows alike.

    References
    ----------
    Abul-Ela, Greenberg & Horvitz (1967).

    Examples
    --------
    >>> survey = abul_ela(("a", "b", "c"), p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]])
    >>> survey.channel(1).matrix[0]
    array([0.6, 0.3, 0.1])
    """
    labels = _checks.categories(categories, least=3)
    rows = [[chance(share, name=f"p of sample {g}") for share in row] for g, row in enumerate(p, start=1)]
    if len(rows) != len(labels) - 1 or any(len(row) != len(labels) for row in rows):
        raise DesignError(
            f"p must have {len(labels) - 1} rows (samples) of {len(labels)} probabilities, one for each category"
        )
    if np.linalg.matrix_rank(np.array([[1] * len(labels), *rows], dtype=float)) < len(labels):
        raise DesignError("the samples must differ in their probabilities; a row of p follows from the others")
    questions = []
    for i in labels:
        ways = ((label, Say("yes" if label == i else "no")) for label in labels)
        questions.append(ask(*ways, question=f"Is “{i}” yours?", instruction=f"say truthfully whether “{i}” is yours"))
    lots = (draw_lots(*zip(row, questions, strict=True)) for row in rows)
    return Samples.of(
        {g: of_steps(sample_steps, labels, YES_NO, yes_no=True) for g, sample_steps in enumerate(lots, start=1)}
    )


def stack(p: Any, steps: Any, cells: Sequence[Any], responses: tuple[Any, Any], **fields: Any) -> Samples:
    """Samples 1 and 2, with steps that depend on a probability; it must differ between the samples."""
    first, second = pair(p, what="p")
    if first == second:
        raise DesignError(
            f"the two samples must carry different p; got {p[0]!r} twice (both samples would give the same equation)"
        )
    designs = (of_steps(steps(share), cells, responses, yes_no=True) for share in (first, second))
    return Samples.of(dict(enumerate(designs, start=1)), **fields)


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
    return ask((cells[0], Say(yes)), (cells[1], Say(no)), (cells[2], Say(no)), instruction=HONESTLY), cells


def _unless_cheating(step: Step, yes: Any, no: Any) -> Step:
    """A forced answer; cheaters do not give it."""
    ways = ((f"honest {yes}", step), (f"honest {no}", step), ("cheater", Say(no)))
    return ask(*ways, question="You are told to. Do you?", instruction=f"{step}, whatever the truth")


def _bounds(yes: Any, no: Any, cells: tuple[str, str, str]) -> dict[str, Any]:
    """The sensitive category at least (honest carriers), and at most (with all cheaters)."""
    upper_share = Share(f"{yes}, at most", (cells[0], cells[2]))
    note = f"“{yes}” is the least it can be, honest answers only; “{yes}, at most” counts every cheater to it"
    return {
        "shares": (Share(yes, cells[:1]), Share(no, cells[1:])),
        "nuisance": (Share("cheaters", cells[2:]), Share(cells[1], cells[1:2]), upper_share),
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
        other_step = draw_lots((share, Say(no)), (1 - share, Say(yes)))
        instruction = words(ask((yes, Say(yes)), (no, other_step))).rstrip(".")
        return ask((cells[0], Say(yes)), (cells[1], other_step), (cells[2], Say(no)), instruction=instruction)

    carriers = (cells[0], cells[2])
    shares = (Share(yes, carriers), Share(no, cells[1:2]))
    honest = (Share("truth-tellers", cells[:1], among=carriers),)
    return stack(p, steps, cells, (yes, no), shares=shares, nuisance=honest, measures_compliance=True)
