"""Controls: a second answer of the same person whose truth is known, which shows how many do not comply."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from naysay import _checks
from naysay._values import Exact, Floats, Label
from naysay.design import Answerable, Both, Design, Do, Protocol, Samples, Share, Table
from naysay.design.base import check_channel
from naysay.design.drawing import LIMIT, as_fraction, table_weights, without_noise
from naysay.design.several import place_of
from naysay.designs.catalog import call, chance, family
from naysay.errors import DataError, DesignError, NotEstimable
from naysay.responses import Labels
from naysay.responses.spaces import LISTABLE

BY_PERSON = ("lot", "known")
"""Truths that differ between people: drawn by the device and shown, or known from a file."""

RANDOM, CARELESS, POSITIVE, DENIAL, ONE_ANSWER = "random", "careless", "positive", "denial", "one answer"
"""Types of people who do not comply; ONE_ANSWER is followed by ": " and the answer."""

_KINDS = (RANDOM, CARELESS, POSITIVE, DENIAL)
_SHARES = {RANDOM: "at random", DENIAL: "denies"}

Truth: TypeAlias = Label | Mapping[Any, Exact]
"""A category that is everybody's, shares of categories, or one of `BY_PERSON`."""


@family("Atsusaka & Stevenson (2023), here for any design")
def controlled(
    design: Answerable,
    *,
    truth: Truth | Sequence[Truth],
    control: Answerable | Sequence[Answerable] | None = None,
    types: Sequence[str] | Mapping[str, Sequence[Exact]] = (RANDOM,),
    people: int | Sequence[int | None] | None = None,
    slips: Exact = 0,
) -> Samples:
    """Any design with a control: a question of known truth, which the same people answer, shows who does not comply.

    People comply with both questions or with neither. Shares of categories are among those who comply; the share of
    each type that does not is estimated beside them. In a negative survey nobody who complies rules out the truth that
    is known. So a control shows a violation directly, and few people suffice.

    Parameters
    ----------
    design : Design
        The design of the sensitive question.
    truth : label, {label: share}, "lot" or "known"
        What is true in the control: one category for everybody, such as "no" for what is true of nobody; categories in
        known shares; or a category for each person, drawn by the device and shown ("lot") or known from a file
        ("known"). Then each category is a sample, and `sample` names the category of each person. For several controls
        a sequence, or one for all of them.
    control : Design or sequence of Design, optional
        The design of the control, or of each control; that of the question by default.
    types : sequence of str, or {str: sequence of probability}
        Who does not comply. "random" gives any possible answer with equal chance, or with the chances that a mapping
        gives. "one answer: no" always answers "no". "careless" states any truth to the device. "positive" is for
        negative surveys with one category ruled out: people name the category that is theirs. "denial" is refused:
        nothing tells people who act as if in the last category from people who are.
    people : int or sequence of int, optional
        Of how many other people the known shares of the truth were found; their error then enters the covariance. One
        number for each control, None where its truth is known without error. Controls of the same shares from as many
        people rest on the same people, and share their error.
    slips : probability
        How many of those who comply are expected to slip in a control, where its answer shows a violation: they answer
        as if another category were true. By default nobody, so that a single violation rejects that all comply.

    Raises
    ------
    DesignError
        A truth that is no category, slips in a control whose answers are all possible, a type that the designs do not
        know, or a type that no answer tells from others; the message names between which cells people can move.

    References
    ----------
    Atsusaka & Stevenson (2023) for the crosswise model.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = controlled(designs.negative(("a", "b", "c", "d")), truth="lot")
    >>> survey.levels, survey.cells[-2:]
    (('a', 'b', 'c', 'd'), ('complies, d', 'at random'))
    """
    question = _listed(design, "the design of the question")
    controls, truths = _controls(question, control, truth)
    slip_share = chance(slips, name="slips")
    answers_of_type = _types(types)
    types_of_people = [
        type_of_people
        for type_name, chances in answers_of_type.items()
        for type_of_people in _people(type_name, chances, question)
    ]
    complying_cells = tuple(f"complies, {_checks.label(category)}" for category in question.categories)
    cell_names = (*complying_cells, *(people.cell for people in types_of_people))
    truth_of_cell = [("truth", row) for row in _unit_rows(len(complying_cells))]
    question_part = _over_cells(
        cell_names, question, (*truth_of_cell, *(people.answers(question, None) for people in types_of_people))
    )
    part_designs: dict[Any, Design] = {}
    for sample_name, weights_of_control in _samples_of(controls, truths).items():
        control_parts = (
            _over_cells(
                cell_names,
                part,
                (
                    *[("truth", _with_slips(part, truth_weights, slip_share))] * len(complying_cells),
                    *(people.answers(part, truth_weights) for people in types_of_people),
                ),
            )
            for part, truth_weights in zip(controls, weights_of_control, strict=True)
        )
        all_answers: Design = question_part
        for control_part in control_parts:
            all_answers = Both.of(all_answers, control_part, joint=len(answers_of_type) > 1)
        part_designs[sample_name] = all_answers
    survey = Samples.of(
        part_designs,
        shares=[
            Share(category, (cell,), among=complying_cells)
            for category, cell in zip(question.categories, complying_cells, strict=True)
        ],
        nuisance=[
            Share(share_name, tuple(people.cell for people in types_of_people if people.share == share_name))
            for share_name in dict.fromkeys(people.share for people in types_of_people)
        ],
        measures_compliance=True,
        uncertain=tuple(
            controlled(question, truth=moved_truths, control=controls, types=types, slips=slips)
            for moved_truths in _moved(truths, people, controls, types_of_people)
        ),
        name=call(
            "controlled",
            truth=truth,
            control=control,
            types=None if types == (RANDOM,) else types,
            people=people,
            slips=slips or None,
        ).replace("controlled(", f"controlled({question.name or question.kind}, ", 1),
        notes=(f"assumes that of 100 who comply {100 * float(slip_share):.3g} slip in a control",)
        if slip_share
        else (),
    )
    return _identified(survey)


def _identified(survey: Samples) -> Samples:
    """The survey itself, if its answers tell everybody apart whom it counts."""
    try:
        survey.check_identified()
    except NotEstimable as error:
        raise DesignError(str(error).replace("the samples must differ in their designs", _ADVICE)) from None
    return survey


def _check_apart(
    part: Design, truth: Mapping[Any, Exact], covariance: Floats, types_of_people: Sequence[_People]
) -> None:
    """Refuse a control whose known shares, within two standard errors, look like people who do not comply."""
    codes = part.space.listing()
    chances = part.rows(codes)
    of_truth = chances[:, [place_of(label, part.categories) for label in truth]]
    exact_shares = [as_fraction(truth.get(category, 0)) for category in part.categories]
    spread = of_truth @ covariance @ of_truth.T
    for person in types_of_people:
        kind, weights = person.answers(part, _whole(exact_shares))
        column = np.array(weights, dtype=float) / sum(weights)
        apart = (chances @ column if kind == "truth" else column) - chances @ np.array(exact_shares, dtype=float)
        standardized = np.linalg.pinv(spread, rcond=1e-9, hermitian=True) @ apart
        if np.abs(spread @ standardized - apart).max() < 1e-9 and apart @ standardized < 4:
            raise DesignError(
                f"the answers to the control of those counted as {person.share!r} are only "
                f"{math.sqrt(max(apart @ standardized, 0.0)):.2g} standard errors from those of people who comply "
                "(2 at least): choose a control of another truth, or find its shares from more people"
            )


def _moved(
    truths: Sequence[Truth],
    people: int | Sequence[int | None] | None,
    controls: Sequence[Design],
    types_of_people: Sequence[_People],
) -> Iterator[list[Truth]]:
    """The truths, moved by a tenth of a standard error towards each category that the same people are counted in."""
    counts = [people] * len(truths) if people is None or isinstance(people, int) else list(people)
    sources: dict[tuple[frozenset[tuple[Label, Fraction]], int], tuple[dict[Label, Fraction], list[int]]] = {}
    for place, (truth, count) in enumerate(zip(truths, counts, strict=True)):
        if count is None:
            continue
        if not isinstance(truth, Mapping):
            raise DesignError(f"people= goes with known shares of the truth; the truth of this control is {truth!r}")
        shares_of_truth = {label: as_fraction(share) for label, share in truth.items()}
        size = _checks.whole_number(count, 1, LIMIT, what="people")
        sources.setdefault((frozenset(shares_of_truth.items()), size), (shares_of_truth, []))[1].append(place)
    for (_, size), (exact_truth, places) in sources.items():
        shares = np.array([float(share) for share in exact_truth.values()])
        covariance = (np.diag(shares) - np.outer(shares, shares)) / size
        for place in places:
            _check_apart(controls[place], exact_truth, covariance, types_of_people)
        # m Var = Σ_j z_j (e_j - z)(e_j - z)'; two more people of each category, so that one that few have has an error
        for category, share in exact_truth.items():
            weight = (float(share) * size + 2) / (size + 2 * len(exact_truth))
            step = Fraction(0.1 * math.sqrt(weight / size)).limit_denominator(10**9)
            moved: Truth = {label: exact_share * (1 - step) for label, exact_share in exact_truth.items()} | {
                category: share + step * (1 - share)
            }
            yield [moved if place in places else truth for place, truth in enumerate(truths)]


@family("test-retest questioning", assumes=("people draw afresh the second time, and answer alike both times",))
def asked_twice(design: Answerable, *, type: str = RANDOM) -> Samples:
    """One question asked twice with fresh draws: agreement of the two answers shows who answers at random.

    With answers ±1 of a crosswise question, C their mean product and p the prevalence, 1 - C / (1 - 2p)² of the people
    answer at random. It needs no control, and many people: a control is about five times as precise.

    Parameters
    ----------
    design : Design
        The design of the question, which is the same both times.
    type : str
        Who does not comply, as one of `types` in `controlled`.

    Raises
    ------
    DesignError
        A type that the two answers do not tell from others.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.asked_twice(designs.crosswise(prevalence=0.25))
    >>> answers = (["same", "same", "different", "different"], ["same", "different"] * 2)
    >>> fit = estimate.maximum_likelihood(survey, survey.tally(answers, count=[530, 215, 205, 110]))
    >>> round(float(fit.proportions[0]), 3), round(fit.nuisance["at random"].value, 3)
    (0.023, 0.17)
    """
    question = _listed(design, "the design of the question")
    people = _people(type, None, question)
    complying = tuple(f"complies, {_checks.label(category)}" for category in question.categories)
    sources = [
        *(("truth", row) for row in _unit_rows(len(complying))),
        *(person.answers(question, None) for person in people),
    ]
    answer = _over_cells((*complying, *(person.cell for person in people)), question, sources)
    survey = Samples.of(
        {None: Both.of(answer, answer, joint=True)},
        shares=[
            Share(category, (cell,), among=complying)
            for category, cell in zip(question.categories, complying, strict=True)
        ],
        nuisance=[Share(people[0].share, tuple(person.cell for person in people))],
        measures_compliance=True,
        name=f"asked_twice({question.name or question.kind}{'' if type == RANDOM else f', type={type!r}'})",
    )
    return _identified(survey)


_ADVICE = "leave a type out, add a control, or choose a control of another truth"


ColumnSource = tuple[str, tuple[int, ...]]
"""What the answers of a cell come from, "truth" or "response", and the whole weight of each truth or response."""


def _over_cells(cells: Sequence[str], base: Design, sources: Sequence[ColumnSource]) -> Design:
    """The design over cells: one with weights w of truths answers as Σ_j w_j P_j / Σ w, one of responses as w / Σ w."""
    told_by = base.protocol
    protocol = told_by and Protocol(Do(told_by.instruction), source=told_by.source, assumes=told_by.assumes)
    if not isinstance(base.space, Labels):  # sets of categories stay as they are: cells state a truth first
        truth_weights = [[Fraction(weight, sum(weights)) for weight in weights] for _, weights in sources]
        weights_of_truth = table_weights(list(zip(*truth_weights, strict=True)), columns=cells)
        stated_truth = Table(categories=tuple(cells), space=Labels(base.categories), weights=weights_of_truth)
        return replace(stated_truth.then(base), protocol=protocol)
    response_codes = base.space.listing()
    base_weights = base.integers(response_codes)
    base_chances = np.array(
        [
            [Fraction(entry) for entry in row]
            for row in (base.rows(response_codes) if base_weights is None else base_weights).tolist()
        ]
    )
    cell_columns = []
    for source_kind, weights in sources:
        column = (
            base_chances @ np.array(weights, dtype=object)
            if source_kind == "truth"
            else np.array(weights, dtype=object)
        )
        column_sum = sum(column)
        cell_columns.append([Fraction(entry) / column_sum for entry in column])
    return Table(
        categories=tuple(cells),
        space=base.space,
        weights=table_weights(list(zip(*cell_columns, strict=True)), columns=cells),
        protocol=protocol,
    )


@dataclass(frozen=True)
class _People:
    """People of one type in one cell: the cell, the share that counts them, and how they answer any question."""

    cell: str
    share: str
    answers: Callable[[Design, tuple[int, ...] | None], ColumnSource]


def _people(type_name: str, chances: Sequence[Exact] | None, question: Design) -> list[_People]:
    """The cells of a type. How its people answer depends on the design, and on what is true (None: the question)."""
    kind, _, answer = (text.strip() for text in type_name.partition(":"))
    if chances is not None and kind != RANDOM:
        raise DesignError(f"only people who answer at random have chances of their own; got some for {type_name!r}")
    if kind == RANDOM:
        return [_People(_SHARES[kind], _SHARES[kind], lambda part, _: _at_random(part, question, chances))]
    if kind == CARELESS:
        return [_People(kind, kind, lambda part, _: ("truth", (1,) * len(part.categories)))]
    if kind == DENIAL:
        last_category = _unit_rows(len(question.categories))[-1]
        return [_People(_SHARES[kind], _SHARES[kind], lambda part, truth: ("truth", truth or last_category))]
    if kind == ONE_ANSWER and answer:
        return [_People(f"always {answer}", f"always {answer}", lambda part, _: _one_answer(part, answer))]
    if kind == POSITIVE:
        if question.space.labels != question.categories or not question.space.one_label:
            raise DesignError(f"positive answers name a category; {question.name or question.kind} has other responses")
        return [
            _People(f"positive, {_checks.label(category)}", kind, partial(_positive, own_truth=own_truth))
            for category, own_truth in zip(question.categories, _unit_rows(len(question.categories)), strict=True)
        ]
    raise DesignError(
        f"a type of people who do not comply is {_checks.listing_text(_KINDS)} or 'one answer: ' and the answer; "
        f"got {type_name!r}"
    )


def _positive(part: Design, truth: tuple[int, ...] | None, *, own_truth: tuple[int, ...]) -> ColumnSource:
    if part.space.labels != part.categories:
        raise DesignError(f"positive answers name a category; {part.name or part.kind} has other responses")
    return "response", truth or own_truth


def _at_random(part: Design, question: Design, chances: Sequence[Exact] | None) -> ColumnSource:
    """The weight of each response of people who answer at random."""
    if chances is None or part.space != question.space:
        response_chances = part.rows(part.space.listing())
        is_possible = response_chances.max(axis=1) > 0
        if part.space.one_label:
            return "response", tuple(int(possible) for possible in is_possible.tolist())
        if np.ptp(response_chances[is_possible].mean(axis=1)) > 1e-12:
            raise DesignError(
                f"sets at random are those of a random truth, which {part.name or part.kind} makes unequally likely; "
                f"use types=({CARELESS!r},)"
            )
        return "truth", (1,) * len(part.categories)
    exact_chances = without_noise([chance(value, name="a chance of random answers") for value in chances])
    if not part.space.one_label or len(exact_chances) != part.space.size or sum(exact_chances) != 1:
        raise DesignError(
            f"random answers need a chance for each of the {part.space.size} responses, which are labels, and these "
            f"sum to one; got {chances!r}"
        )
    return "response", _whole(exact_chances)


def _with_slips(part: Design, truth: tuple[int, ...], slips: Fraction) -> tuple[int, ...]:
    """The weights of truths of which people who comply, but for some slips, answer a control."""
    if not slips:
        return truth
    chances, own = part.rows(part.space.listing()), np.array(truth)
    impossible = chances @ own == 0
    others = own == 0
    if not impossible.any():
        raise DesignError(
            f"slips= is for controls in which some answer shows a violation; of {part.name or part.kind} people who "
            "comply can give any answer; leave it out"
        )
    # who answers as if another category were true gives an impossible answer with this chance
    visible = Fraction(float(chances[impossible][:, others].sum() / others.sum())).limit_denominator(10**9)
    at_random = impossible[chances.max(axis=1) > 0].mean()
    if slips >= at_random:
        raise DesignError(f"slips must stay below {at_random:.3g}, as often as random answers slip; got {float(slips)}")
    mistaken, total = slips / visible, sum(truth)
    return _whole(
        [
            mistaken / int(others.sum()) if other else (1 - mistaken) * Fraction(weight, total)
            for weight, other in zip(truth, others.tolist(), strict=True)
        ]
    )


def _one_answer(part: Design, answer: str) -> ColumnSource:
    """All weight on one response."""
    try:
        place = int(part.space.places(part.space.encode([answer]))[0]) if part.space.one_label else None
    except DataError as error:
        raise DesignError(f"people who always answer {answer!r} need that response; {error}") from None
    if place is None:
        raise DesignError(
            f"people who always give one answer need labels as answers; {part.name or part.kind} has sets"
        )
    return "response", _unit_rows(part.space.size)[place]


def _types(types: Sequence[str] | Mapping[str, Sequence[Exact]]) -> dict[str, Sequence[Exact] | None]:
    if isinstance(types, str):
        return {types: None}
    if (repeated := _checks.repeated(list(types))) is not None:
        raise DesignError(f"type {repeated!r} is named twice, and nothing tells the two from each other; name it once")
    named_types: dict[str, Sequence[Exact] | None] = dict(types) if isinstance(types, Mapping) else dict.fromkeys(types)
    if not named_types:
        raise DesignError('name at least one type of people who do not comply, such as types=("random",)')
    return named_types


def _controls(
    question: Design, control: Answerable | Sequence[Answerable] | None, truth: Truth | Sequence[Truth]
) -> tuple[list[Design], list[Truth]]:
    """The controls, each with its truth."""
    truths = list(truth) if isinstance(truth, list | tuple) else [truth]
    if not truths:
        raise DesignError("a control needs a truth that is known for somebody: a category, shares, 'lot' or 'known'")
    given_controls = list(control) if isinstance(control, list | tuple) else [question if control is None else control]
    if len(given_controls) == 1:
        given_controls *= len(truths)
    elif len(truths) == 1:
        truths *= len(given_controls)
    if len(truths) != len(given_controls):
        raise DesignError(f"{len(given_controls)} controls need a truth each, or one for all; got {len(truths)}")
    return [_listed(part, "a control") for part in given_controls], truths


def _listed(design: object, role: str) -> Design:
    channel = check_channel(design, role)
    if not channel.space.listable or channel.space.answers > 1:
        raise DesignError(
            f"{role} must have one answer, and at most {LISTABLE:,} that can be given; "
            f"got {channel.name or channel.kind}"
        )
    return channel


def _samples_of(controls: Sequence[Design], truths: Sequence[Truth]) -> dict[Any, list[tuple[int, ...]]]:
    """For each sample, named by the truths of its people, the weights of the truths of each control."""
    named_weights: list[list[tuple[Label, tuple[int, ...]]]] = []
    for part, truth in zip(controls, truths, strict=True):
        t = len(part.categories)
        if isinstance(truth, Mapping):
            exact_shares = without_noise(
                [chance(truth.get(category, 0), name="a share of the truth") for category in part.categories]
            )
            unknown_labels = [label for label in truth if label not in part.categories]
            if unknown_labels or sum(exact_shares) != 1:
                raise DesignError(
                    f"the truth of a control needs shares of {_checks.listing_text(part.categories)} that sum to one; "
                    f"got {dict(truth)!r}"
                )
            named_weights.append([(None, _whole(exact_shares))])
        elif truth in BY_PERSON and truth not in part.categories:
            named_weights.append(list(zip(part.categories, _unit_rows(t), strict=True)))
        else:
            try:
                place = place_of(truth, part.categories)
            except DataError as error:
                raise DesignError(f"the truth of a control is a category, shares, 'lot' or 'known'; {error}") from None
            named_weights.append([(None, _unit_rows(t)[place])])
    weights_of_sample = {}
    for combination in itertools.product(*named_weights):
        person_truths = [label for label, _ in combination if label is not None]
        sample_name: Any = "; ".join(map(_checks.label, person_truths)) if len(person_truths) > 1 else None
        if len(person_truths) == 1:
            sample_name = person_truths[0]
        weights_of_sample[sample_name] = [weights for _, weights in combination]
    return weights_of_sample


def _unit_rows(t: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.eye(t, dtype=int).tolist()]


def _whole(shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Shares as whole weights over their common denominator."""
    common_denominator = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * common_denominator) for share in shares)
