"""Designs of several samples or of two answers: one identifies what the other leaves open, such as how many deny."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay._values import Exact, Key, Label
from naysay.design import Answerable, Both, Samples, Say, Share, Step, Table, draw_lots
from naysay.design.drawing import ChanceRows, as_fraction
from naysay.design.protocol import words
from naysay.designs.catalog import HONESTLY, SENSITIVE, YES_NO, ask, call, chance, family, of_steps, two
from naysay.designs.randomized import COMPARE, INDEPENDENT, INNOCUOUS, PREVALENCE, SAME, crosswise, innocuous, pair
from naysay.errors import DesignError

ALIKE = "the samples are drawn at random from one population"
ATTENTION = "people are as attentive to both questions, and attention has nothing to do with the sensitive category"
_CORNERS = 4_096  # a band tries at most this many combinations of the ends of uncertain probabilities


@family("stacked samples", assumes=(ALIKE,))
def samples(offer: Mapping[Key, Answerable] | None = None, **named: Answerable) -> Samples:
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
    sample_calls = ", ".join(
        f"{sample_name}={getattr(sample_design, 'name', sample_design)}"
        for sample_name, sample_design in designs_by_name.items()
    )
    if not designs_by_name:
        raise DesignError("samples are made of designs by name: samples(direct=…, randomized=…)")
    samples_design = Samples.of(designs_by_name, name=f"samples({sample_calls})")
    ends_by_design = [sample_design.alternatives or (sample_design,) for sample_design in designs_by_name.values()]
    end_combinations = (
        itertools.product(*ends_by_design) if any(len(design_ends) > 1 for design_ends in ends_by_design) else ()
    )
    corner_designs = (
        Samples.of(dict(zip(designs_by_name, end_combination, strict=True)))
        for end_combination in itertools.islice(end_combinations, _CORNERS)
    )
    return replace(samples_design, alternatives=tuple(corner_designs))


@family("Greenberg, Abul-Ela, Simmons & Horvitz (1969)", assumes=(INDEPENDENT, ALIKE))
def unrelated_question_unknown(*, p: Sequence[Exact], categories: Sequence[Label] = YES_NO) -> Samples:
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
    labeled_cells = [
        (f"{sensitive_label}, innocuous {innocuous_answer}", sensitive_label, innocuous_answer)
        for sensitive_label in (yes, no)
        for innocuous_answer in ("yes", "no")
    ]
    sensitive_step = ask(
        *((cell_name, Say(sensitive_label)) for cell_name, sensitive_label, _ in labeled_cells), instruction=HONESTLY
    )
    unrelated_step = ask(
        *(
            (cell_name, Say(yes if innocuous_answer == "yes" else no))
            for cell_name, _, innocuous_answer in labeled_cells
        ),
        question="Is the innocuous statement true of you?",
        instruction=INNOCUOUS,
    )
    cell_names = tuple(cell_name for cell_name, _, _ in labeled_cells)
    sensitive_shares = (Share(yes, cell_names[:2]), Share(no, cell_names[2:]))
    innocuous_shares = (Share("innocuous yes", (cell_names[0], cell_names[2])),)

    def steps(share: Fraction) -> Step:
        return draw_lots((share, sensitive_step), (1 - share, unrelated_step))

    return stack(p, steps, cell_names, (yes, no), shares=sensitive_shares, nuisance=innocuous_shares)


@family("Heck, Hoffmann & Moshagen (2018)", assumes=(INDEPENDENT, PREVALENCE, ALIKE))
def extended_crosswise(
    *, prevalence: Exact, between: Sequence[Exact] | None = None, categories: Sequence[Label] = YES_NO
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
        raise DesignError(f"prevalence must lie in [0, 1] and not be 1/2; got {prevalence}")
    first_design = crosswise(prevalence=p, between=between, categories=categories)

    def two_samples(first_prevalence: Exact) -> Samples:
        sample_designs = (
            crosswise(prevalence=sample_prevalence, categories=categories)
            for sample_prevalence in (first_prevalence, 1 - as_fraction(first_prevalence))
        )
        return Samples.of(
            dict(enumerate(sample_designs, start=1)), notes=("the test of fit is blind to people who answer at random",)
        )

    return replace(
        two_samples(p),
        alternatives=tuple(two_samples(range_end) for range_end in between or ()) if first_design.alternatives else (),
    )


@family("Cruyff et al. (2024); with random answers Sayed et al. (2024)", assumes=(INDEPENDENT, PREVALENCE, ALIKE))
def one_saying(
    *, prevalence: Exact, types: Sequence[str] = ("one-sayers",), categories: Sequence[Label] = YES_NO
) -> Samples:
    """The extended crosswise model with people who always say "different", the answer that seems to protect.

    A share θ says "different" whatever is true. If λ₁ and λ₂ say "same" in the samples with innocuous prevalence p and
    1 - p, then θ = 1 - λ₁ - λ₂, and 1/2 - (λ₁ - λ₂) / (2 (1 - 2p) (1 - θ)) is the sensitive share among the others.
    With "random", a third sample named "control" answers a question of which both truths are known ("same": rightly,
    "different": wrongly): half of those who answer at random do so wrongly.

    Parameters
    ----------
    prevalence : probability
        p, the share of people with a yes to the innocuous question of sample 1; not 1/2.
    types : sequence of {"one-sayers", "random"}
        Who does not comply. One-saying is taken to concern the sensitive question only.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1/2; no type, or an unknown one.

    References
    ----------
    Cruyff et al. (2024); Sayed et al. (2024).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = one_saying(prevalence=0.2)
    >>> tally = survey.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=[109, 60, 46, 139])
    >>> fit = estimate.moments(survey, tally)
    >>> round(float(fit.proportions[0]), 4), round(fit.nuisance["one-sayers"].value, 4)
    (0.1304, 0.1064)
    """
    yes, no = two(categories)
    p = chance(prevalence, name="prevalence")
    names = (types,) if isinstance(types, str) else tuple(types)
    if not names or not set(names) <= {"one-sayers", "random"}:
        raise DesignError(f"types are 'one-sayers', 'random' or both; got {names!r}")
    if 2 * p == 1:
        raise DesignError(f"prevalence must not be 1/2; got {prevalence} (the answer would carry no information)")
    complying = (f"complies, {yes}", f"complies, {no}")
    type_cells = tuple(name for name in ("one-sayers", "random") if name in names)
    same_step, different_step = Say(SAME[0]), Say(SAME[1])
    coin_step = draw_lots((Fraction(1, 2), same_step), (Fraction(1, 2), different_step))

    def answers(carriers: Step, others: Step, one_sayers: Step) -> Table:
        steps: dict[str, Step] = {"one-sayers": one_sayers, "random": coin_step}
        ways = [(complying[0], carriers), (complying[1], others), *((name, steps[name]) for name in type_cells)]
        return of_steps(ask(*ways, instruction=COMPARE), (*complying, *type_cells), SAME, yes_no=True)

    sample_designs: dict[Any, Table] = {
        number: answers(
            innocuous(share, same_step, different_step), innocuous(share, different_step, same_step), different_step
        )
        for number, share in ((1, p), (2, 1 - p))
    }
    if "random" in names:
        sample_designs["control"] = answers(same_step, same_step, same_step)
    return Samples.of(
        sample_designs,
        shares=[Share(label, (cell,), among=complying) for label, cell in zip((yes, no), complying, strict=True)],
        nuisance=[Share("at random" if name == "random" else name, (name,)) for name in type_cells],
        measures_compliance=True,
    )


@family("Atsusaka & Stevenson (2023)", assumes=(INDEPENDENT, PREVALENCE, ATTENTION))
def anchored_crosswise(*, prevalence: Exact, anchor: Exact, categories: Sequence[Label] = YES_NO) -> Samples:
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
    cell_names = (f"attentive {yes}", f"attentive {no}", "inattentive")
    sensitive_step = _crosswise_or_random(chance(prevalence, name="prevalence"), cell_names, same=(True, False))
    anchor_step = _crosswise_or_random(chance(anchor, name="anchor"), cell_names, same=(False, False), about="anchor")
    both_answers = Both.of(
        of_steps(sensitive_step, cell_names, SAME, yes_no=True), of_steps(anchor_step, cell_names, SAME, yes_no=True)
    )
    return Samples.of(
        {None: both_answers},
        shares=(Share(yes, cell_names[:1], among=cell_names[:2]), Share(no, cell_names[1:2], among=cell_names[:2])),
        nuisance=(Share("attentive", cell_names[:2]),),
        measures_compliance=True,
        name=call("anchored_crosswise", prevalence=prevalence, anchor=anchor),
    )


def _crosswise_or_random(
    p: Fraction, cells: tuple[str, str, str], *, same: tuple[bool, bool], about: str = "sensitive"
) -> Step:
    """One crosswise question: cells with `same` say "same" on an innocuous yes; inattentive people toss a coin."""
    if 2 * p == 1:
        raise DesignError(f"a prevalence must not be 1/2; got {float(p):g} (the answer would carry no information)")
    same_step, different_step = Say(SAME[0]), Say(SAME[1])
    coin_step = draw_lots((Fraction(1, 2), same_step), (Fraction(1, 2), different_step))
    attentive_ways = [
        (cell, innocuous(p, same_step, different_step) if says_same else innocuous(p, different_step, same_step))
        for cell, says_same in zip(cells, same, strict=False)
    ]
    question, instruction = (text.replace("sensitive", about) for text in (SENSITIVE, COMPARE))
    return ask(*attentive_ways, (cells[2], coin_step), question=question, instruction=instruction)


@family("Abul-Ela, Greenberg & Horvitz (1967)", assumes=(ALIKE,))
def abul_ela(categories: Sequence[Label], *, p: ChanceRows) -> Samples:
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
    chance_rows = [
        [chance(question_chance, name=f"p of sample {g}") for question_chance in sample_chances]
        for g, sample_chances in enumerate(p, start=1)
    ]
    if len(chance_rows) != len(labels) - 1 or any(len(sample_chances) != len(labels) for sample_chances in chance_rows):
        raise DesignError(
            f"p must have {len(labels) - 1} rows (samples) of {len(labels)} probabilities, one for each category"
        )
    if np.linalg.matrix_rank(np.array([[1] * len(labels), *chance_rows], dtype=float)) < len(labels):
        raise DesignError("the samples must differ in their probabilities; a row of p follows from the others")
    question_steps = []
    for i in labels:
        answer_ways = ((label, Say("yes" if label == i else "no")) for label in labels)
        question_steps.append(
            ask(*answer_ways, question=f"Is “{i}” yours?", instruction=f"say truthfully whether “{i}” is yours")
        )
    sample_lots = (draw_lots(*zip(sample_chances, question_steps, strict=True)) for sample_chances in chance_rows)
    return Samples.of(
        {g: of_steps(sample_steps, labels, YES_NO, yes_no=True) for g, sample_steps in enumerate(sample_lots, start=1)}
    )


def stack(
    p: Sequence[Exact],
    steps: Callable[[Fraction], Step],
    cells: Sequence[Label],
    responses: tuple[Label, Label],
    **fields: Any,
) -> Samples:
    """Samples 1 and 2, with steps that depend on a probability; it must differ between the samples."""
    first_chance, second_chance = pair(p, what="p")
    if first_chance == second_chance:
        raise DesignError(
            f"the two samples must carry different p; got {p[0]} twice (both samples would give the same equation)"
        )
    sample_designs = (
        of_steps(steps(sample_chance), cells, responses, yes_no=True) for sample_chance in (first_chance, second_chance)
    )
    return Samples.of(dict(enumerate(sample_designs, start=1)), **fields)


@family("Clark & Desharnais (1998)", assumes=("cheaters say no whatever the device shows", ALIKE))
def cheating_detection(*, p: Sequence[Exact], categories: Sequence[Label] = YES_NO) -> Samples:
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
    honest_step, cell_names = _honest(yes, no)
    forced_step = _unless_cheating(Say(yes), yes, no)
    bound_fields = _bounds(yes, no, cell_names)
    return stack(
        p,
        lambda forced_chance: draw_lots((forced_chance, forced_step), (1 - forced_chance, honest_step)),
        cell_names,
        (yes, no),
        **bound_fields,
    )


@family("Ostapczuk, Moshagen, Zhao & Musch (2009)", assumes=("cheaters say no whatever the device shows", ALIKE))
def cheating_detection_symmetric(
    *, forced_yes: Sequence[Exact], forced_no: Sequence[Exact], categories: Sequence[Label] = YES_NO
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
    honest_step, cell_names = _honest(yes, no)
    yes_chances, no_chances = pair(forced_yes, what="forced_yes"), pair(forced_no, what="forced_no")
    if (1 - no_chances[0]) * yes_chances[1] == (1 - no_chances[1]) * yes_chances[0]:
        raise DesignError(
            "the samples must differ in forced_yes / (1 - forced_no), or cheaters cannot be told from others; "
            f"got {forced_yes!r}, {forced_no!r}"
        )
    sample_designs = {}
    for sample_number, (f_yes, f_no) in enumerate(zip(yes_chances, no_chances, strict=True), start=1):
        if f_yes + f_no >= 1:
            raise DesignError(
                f"forced_yes and forced_no must sum to less than one; sample {sample_number} has {f_yes} and {f_no}"
            )
        weighted_steps = (
            (f_yes, _unless_cheating(Say(yes), yes, no)),
            (f_no, Say(no)),
            (1 - f_yes - f_no, honest_step),
        )
        sample_designs[sample_number] = of_steps(draw_lots(*weighted_steps), cell_names, (yes, no), yes_no=True)
    return Samples.of(sample_designs, **_bounds(yes, no, cell_names))


def _honest(yes: Label, no: Label) -> tuple[Step, tuple[str, str, str]]:
    cells = (f"honest {yes}", f"honest {no}", "cheater")
    return ask((cells[0], Say(yes)), (cells[1], Say(no)), (cells[2], Say(no)), instruction=HONESTLY), cells


def _unless_cheating(step: Step, yes: Label, no: Label) -> Step:
    """A forced answer; cheaters do not give it."""
    ways = ((f"honest {yes}", step), (f"honest {no}", step), ("cheater", Say(no)))
    return ask(*ways, question="You are told to. Do you?", instruction=f"{step}, whatever the truth")


def _bounds(yes: Label, no: Label, cells: tuple[str, str, str]) -> dict[str, Any]:
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
def stochastic_lie_detector(*, p: Sequence[Exact], categories: Sequence[Label] = YES_NO) -> Samples:
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
    cell_names = (f"truthful {yes}", no, f"lying {yes}")

    def steps(share: Fraction) -> Step:
        other_step = draw_lots((share, Say(no)), (1 - share, Say(yes)))
        instruction = words(ask((yes, Say(yes)), (no, other_step))).rstrip(".")
        return ask(
            (cell_names[0], Say(yes)), (cell_names[1], other_step), (cell_names[2], Say(no)), instruction=instruction
        )

    carrier_cells = (cell_names[0], cell_names[2])
    sensitive_shares = (Share(yes, carrier_cells), Share(no, cell_names[1:2]))
    honesty_shares = (Share("truth-tellers", cell_names[:1], among=carrier_cells),)
    return stack(
        p, steps, cell_names, (yes, no), shares=sensitive_shares, nuisance=honesty_shares, measures_compliance=True
    )
