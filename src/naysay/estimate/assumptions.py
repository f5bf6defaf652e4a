"""What the estimate would be if an assumption failed.

Respondents may not comply. A probability may differ from the stated one. Respondents may choose between false
categories by preference, where they should toss a coin. Answers may be repeated, or dishonest on purpose (`leverage`).

Where nothing tested whether people complied there are sharp bounds, and how many people would overturn a result. Let
a_j be the share of people in category j who comply, k_j of those who do not, and b the shares of what the latter
answer. Then Pa + b = λ and Σb = Σk ≤ r. The share of category j is a_j + k_j, and its ends are linear programs. People
who answer at random have b = ρq with equal chances q of all possible answers.

In a list experiment an honest count shows carriers of whom all the other statements are true, or none. Those of them
who count as if the sensitive statement were not true are cells of their own, which no answer tells from others.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Samples
from naysay.design.base import Design, check_design
from naysay.errors import DataError
from naysay.estimate.fit import Fit
from naysay.estimate.likelihood import answering, evidence, maximize
from naysay.estimate.linear import linear_map
from naysay.estimate.samples import shares_of_means, slopes
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Tally

NONCOMPLIERS = {"anyone": "whatever is true of them, they", "alike": "like everyone else in what is true of them, they"}
"""Who the non-compliers are: anyone (only carriers, only others, any mixture), or people like everyone else."""

_AT_RANDOM = "answered at random"
_QUICK = 50_000  # unknowns × programs that take about a second


def behaviors(design: Answerable) -> dict[str, Callable[[Channel], Floats]]:
    """How people could fail to comply with a design that randomizes, in words, and what they would answer.

    With two categories, non-compliers may always give the answer that speaks least for the first category, or answer
    at random. With several categories they may give any answer, as often as they like. Where the design itself
    measures denial, only random answers are considered. A negative survey has no entry, because its answers can rule
    a category out; for its two-option scheme see `preference_band`. Each function returns one row of answer shares
    for every way, (ways, responses).
    """
    channels = list(design.parts.values())
    labels_only = design.offer.assigned_by != "respondent" and all(
        part_design.space.one_label for part_design in channels
    )
    if not labels_only or not any(map(_randomizes, channels)):
        return {}
    if design.offer.measures_compliance:
        return {_AT_RANDOM: _random}
    if len(design.categories) > 2:
        none_ruled_out = all(
            (part_design.rows(part_design.structure.typical_codes) > 0).all() for part_design in channels
        )
        # One row for each answer suffices: every mixture of answers lies between these rows.
        return {"gave any answers": lambda channel: np.eye(channel.space.size)} if none_ruled_out else {}
    return {"gave the safest answer always": _safest, _AT_RANDOM: _random}


def _randomizes(design: Channel) -> bool:
    if design.structure.one_pattern and design.structure.even_mean is not None:
        alpha, beta = design.structure.even_mean
        return max(alpha + beta, beta) < 1
    return bool((design.rows(design.space.listing()).max(axis=0) < 1).any())


def is_randomized(fit: Fit) -> bool:
    """Whether chance had a part in any answer that came; not so while only an arm that is asked directly answers."""
    return any(_randomizes(part.design) for part in answering(fit.tally))


def check_estimate(fit: object) -> None:
    """Raise unless the value is an estimate."""
    if not isinstance(fit, Fit):
        needed_text = "an estimate is needed first, such as estimate.moments(design, tally)"
        raise DataError(f"{needed_text}; got {type(fit).__name__}")


def noncompliance_band(fit: Fit, *, share: float = 0.1, noncompliers: str = "anyone") -> Floats:
    """The range of each estimate, (t, 2), if up to a share of the respondents did not comply with the protocol.

    Non-compliers always give the answer that speaks least for the first, sensitive category, or answer at random; with
    several categories they may give any answers. The band assumes that people who are asked directly comply. Let the
    non-compliers be a share δ of the respondents, with category shares κ and answer shares q. Then
    λ = P(π - δκ) + δq, and the estimate is taken at λ̂ + δ(Pκ - q). By default κ may be anything, so the band also
    holds where exactly the carriers hide. The band does not include sampling error. For a likelihood λ̂ is what the
    estimate expects, so that the band holds the estimate.

    Parameters
    ----------
    fit : Estimate
        Its design must report labels.
    share : float
        The largest δ, in [0, 1).
    noncompliers : {"anyone", "alike"}
        Who they are: anyone, or people whose category shares are those of everyone else, κ = π. The second band is
        narrower, and misses the truth where carriers hide.

    Returns
    -------
    (t, 2) float
        Within [0, 1].

    Raises
    ------
    DataError
        If the share is outside [0, 1), `noncompliers` has another value, or the design reports anything but labels.

    Examples
    --------
    Of 1,000 people 300 are carriers; 100 of these deny whatever the coins show.

    >>> from naysay import designs, estimate
    >>> survey = designs.two_coins()
    >>> fit = estimate.moments(survey, survey.tally(count=[325, 675]))
    >>> noncompliance_band(fit, share=0.1).round(4)
    array([[0.1, 0.3],
           [0.7, 0.9]])
    >>> noncompliance_band(fit, share=0.1, noncompliers="alike").round(4)
    array([[0.1111, 0.2222],
           [0.7778, 0.8889]])
    """
    check_estimate(fit)
    if not 0 <= share < 1:
        raise DataError(f"the share of those who do not comply must lie in [0, 1); got {share!r}")
    if noncompliers not in NONCOMPLIERS:
        raise DataError(f"noncompliers must be {' or '.join(map(repr, NONCOMPLIERS))}; got {noncompliers!r}")
    design = fit.design
    if design.offer.assigned_by == "respondent" or not all(
        channel.space.one_label for channel in design.parts.values()
    ):
        raise DataError("non-compliance can be assessed only for designs that report one label")
    if fit.named is not None and behaviors(fit.design):
        return fit.named.noncompliance(fit.proportions, share, alike=noncompliers == "alike")
    cell_reading = _CellReading.of(fit)
    moves_by_behavior = [
        cell_reading.moves(answers, share, noncompliers) for answers in behaviors(fit.design).values() or [_random]
    ]
    category_places = range(len(fit.categories))
    category_ends = [
        [cell_reading.extreme(category_place, behavior_moves, sign) for sign in (-1, 1)]
        for behavior_moves in moves_by_behavior
        for category_place in category_places
    ]
    ends_by_behavior = np.array(category_ends).reshape(-1, len(fit.categories), 2)
    return _hull([*ends_by_behavior[..., 0], *ends_by_behavior[..., 1]])


class _CellReading(NamedTuple):
    """How moments read the cells from the samples' answers, and how the cells move when the answers change."""

    parts: tuple[Part, ...]
    means: tuple[Floats, ...]
    slopes: tuple[Floats, ...]
    cells: Floats
    shares: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def of(cls, fit: Fit) -> _CellReading:
        design, answered_parts = fit.design, tuple(answering(fit.tally))
        part_means = _means(fit)
        cell_labels = design.cells
        if design.structure.stacked:
            part_sizes = np.array([part.n for part in answered_parts], dtype=float)
            part_slopes = slopes(
                design, [design.channel(part.level) for part in answered_parts], part_sizes / part_sizes.sum()
            )
        else:
            part_slopes = (fit.linear_maps(answered_parts[0]).slope,)
        even_shares = np.full(len(cell_labels), 1 / len(cell_labels))
        cell_shifts = (
            part_slope @ (part_mean - part_of_tally.design.expected_statistic @ even_shares)
            for part_of_tally, part_slope, part_mean in zip(answered_parts, part_slopes, part_means, strict=True)
        )
        return cls(
            answered_parts,
            part_means,
            part_slopes,
            even_shares + sum(cell_shifts),
            tuple(share.weights(cell_labels) for share in design.shares),
        )

    def moves(self, answers: Callable[[Channel], Floats], share: float, noncompliers: str) -> list[Floats]:
        """What undoing the non-compliance could add to the cells: a sum of one row of each array, (ways, cells)."""
        randomized_parts = [
            (part.design, part_mean, part_slope)
            for part, part_mean, part_slope in zip(self.parts, self.means, self.slopes, strict=True)
            if _randomizes(part.design)
        ]
        if not randomized_parts:  # nobody has answered but people who are asked directly
            return []
        if noncompliers == "alike":
            return [
                share / (1 - share) * (part_mean - answers(design)) @ part_slope.T
                for design, part_mean, part_slope in randomized_parts
            ]
        moves_per_cell = sum(part_slope @ design.expected_statistic for design, _, part_slope in randomized_parts)
        return [
            share * np.transpose(moves_per_cell),
            *(-share * answers(design) @ part_slope.T for design, _, part_slope in randomized_parts),
        ]

    def extreme(self, place: int, moves: list[Floats], sign: int) -> float:
        """The largest (sign 1) or smallest (sign -1) share of a category over all moves and none (Dinkelbach 1967)."""
        numerator_weights, denominator_weights = self.shares[place]
        extreme_share = float(numerator_weights @ self.cells / (denominator_weights @ self.cells))
        while True:
            contrast = sign * (numerator_weights - extreme_share * denominator_weights)
            moved_cells = self.cells + sum(move_rows[(move_rows @ contrast).argmax()] for move_rows in moves)
            if denominator_weights @ moved_cells <= 0:  # nobody is left among whom the share is counted
                return float(sign > 0)
            next_share = float(numerator_weights @ moved_cells / (denominator_weights @ moved_cells))
            if not sign * (next_share - extreme_share) > 1e-12:
                return extreme_share
            extreme_share = next_share


def probability_band(fit: Fit, *, designs: Sequence[Answerable] = ()) -> Floats | None:
    """The range of each estimate, (t, 2), over the known range of a probability of its design.

    Parameters
    ----------
    fit : Estimate
        Of a design that was made with ``between=(low, high)``, or of any design if you give `designs`.
    designs : sequence of Design
        The designs at the ends of the range, if the estimate's own design states no range: ``warner(p=0.69)``,
        ``warner(p=0.71)``.

    Returns
    -------
    (t, 2) float, or None
        Within [0, 1]; None where the design states no range and `designs` is empty.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25, between=(0.23, 0.27))
    >>> fit = estimate.moments(survey, survey.tally(count=[380, 620]))
    >>> probability_band(fit).round(4)
    array([[0.7222, 0.7609],
           [0.2391, 0.2778]])
    """
    check_estimate(fit)
    end_designs = (*fit.design.alternatives, *designs)
    if not end_designs:
        return None
    part_means = _means(fit)
    proportions_under_designs = [
        shares_of_means(design, fit.tally, part_means)
        if design.structure.stacked
        else linear_map(design.channel(), fit.solution)(part_means[0])
        for design in (fit.design, *end_designs)
    ]
    return _hull(proportions_under_designs)


def _means(fit: Fit) -> tuple[Floats, ...]:
    """The mean of the linear statistic of each part's answers; for a likelihood, the one that the estimate expects.

    So a band begins at the estimate itself, also where moments would give another one.
    """
    answered_parts = answering(fit.tally)
    if fit.maximum is not None:
        cell_shares = fit.proportions if fit.cells is None else fit.cells.proportions
        return tuple(np.asarray(part.design.expected_statistic @ cell_shares) for part in answered_parts)
    return tuple(np.asarray(p.weight @ p.design.space.statistic(p.codes) / p.weight.sum()) for p in answered_parts)


def _hull(ends: list[Floats]) -> Floats:
    stacked = np.array(ends)
    return np.asarray(np.clip(np.column_stack([stacked.min(axis=0), stacked.max(axis=0)]), 0.0, 1.0))


def _safest(design: Channel) -> Floats:
    """Answer shares (1, responses) with all weight on the answer that has the lowest odds of the first category."""
    design_matrix = design.rows(design.space.listing())
    # The tiny constant avoids 0/0 for an answer that nobody can give: its odds become 1.
    first_odds = (design_matrix[:, 0] + 1e-300) / (design_matrix[:, 1:].max(axis=1) + 1e-300)
    return np.eye(len(design_matrix))[[first_odds.argmin()]]


def _random(design: Channel) -> Floats:
    """Answer shares (1, responses) in which every possible answer is equally frequent."""
    possible = design.rows(design.space.listing()).max(axis=1) > 0
    return np.asarray(possible / possible.sum(), dtype=float)[None]


def shown_by(design: Answerable) -> int | None:
    """How many categories a respondent sees, of which they reject one; None for designs that do not work this way."""
    return None if design.offer.several else design.channel().structure.shown


def quick(design: Answerable) -> bool:
    """Whether a design has a band of preferences that takes about a second or less to compute."""
    t, s = len(design.categories), shown_by(design)
    return s is not None and (math.comb(t, s) * s + math.comb(t, s - 1) * (s - 1)) * 2 * t <= _QUICK


def preference_band(design: Answerable, tally: Tally) -> Floats:
    """The lowest and highest share of each category over all ways of choosing between false categories, (t, 2).

    A respondent sees a set of categories. The categories F of this set are false, and the respondent rejects i ∈ F with
    an unknown chance q(i | F). With φ(i, F) = q(i | F)(1 - π(F)), the answer shares are linear in (π, φ). Each end is
    therefore one linear program:

        C(t, s) λ_i = Σ_F φ(i, F),  Σ_{i ∈ F} φ(i, F) = 1 - π(F) ≥ 0,  φ ≥ 0, π ≥ 0, Σπ = 1,

    over the sets F of s categories (all shown are false) and of s - 1 (the true one is shown). For s = 2 these are the
    θ_ik of Esponda (2006). The band does not include sampling error: it shows what a misused coin could do. By chance
    the answers can lie beyond all preferences; the band is then computed at the nearest answer shares that some
    preferences give.

    Parameters
    ----------
    design : Design
        From `designs.two_option`.
    tally : Tally

    Returns
    -------
    (t, 2) float
        Shares of one, within [0, 1].

    Raises
    ------
    DataError
        If the design is not from `designs.two_option`.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.two_option(("a", "b", "c", "d"))
    >>> estimate.preference_band(survey, survey.tally(count=[280, 240, 260, 220])).round(3)
    array([[0.  , 0.44],
           [0.  , 0.52],
           [0.  , 0.48],
           [0.  , 0.56]])
    """
    check_design(design)
    t, s = len(design.categories), shown_by(design)
    if s is None:
        raise DataError("the band of preferences is only for the two-option scheme; make the design with two_option()")
    part = tally.parts[0]
    answer_shares = np.zeros(t)
    answer_shares[part.codes[:, 0]] = part.weight
    equalities, right_side = _program(t, s, answer_shares / answer_shares.sum())
    share_bounds = np.zeros((t, 2))
    for category, (end_place, sign) in itertools.product(range(t), enumerate((1, -1))):  # the least, and the largest
        cost = np.zeros(equalities.shape[1])
        cost[category] = sign
        share_bounds[category, end_place] = sign * _solve_program(cost, equalities, right_side).fun
    return np.asarray(np.clip(share_bounds, 0.0, 1.0))


def _program(t: int, s: int, shares: Floats) -> tuple[scipy.sparse.csr_array, Floats]:
    """The equalities over (π, φ), and their right side, which is moved by the least amount that makes them feasible.

    Columns are the t proportions, then one φ(i, F) for each member of each F.
    """
    false_sets = [f for set_size in (s - 1, s) for f in itertools.combinations(range(t), set_size)]
    matrix_entries: list[tuple[int, int]] = []  # all coefficients are 1
    column_number = t
    for set_row, false_set in enumerate(false_sets, start=t):
        matrix_entries += [(set_row, category) for category in false_set]  # Σ_i φ(i, F) + π(F) = 1
        for category in false_set:
            matrix_entries += [(category, column_number), (set_row, column_number)]
            column_number += 1
    total_row = t + len(false_sets)
    matrix_entries += [(total_row, category) for category in range(t)]
    entry_rows, entry_columns = np.array(matrix_entries).T
    equalities = scipy.sparse.csr_array(
        (np.ones(len(matrix_entries)), (entry_rows, entry_columns)), shape=(total_row + 1, column_number)
    )
    right_side = np.concatenate([math.comb(t, s) * shares, np.ones(len(false_sets) + 1)])
    # The change of the answer shares that makes the program feasible with the least sum of absolute values.
    move_matrix = scipy.sparse.eye_array(total_row + 1, t)
    move_cost = np.concatenate([np.zeros(column_number), np.ones(2 * t)])
    moved_equalities = scipy.sparse.hstack([equalities, -move_matrix, move_matrix], format="csr")
    moves = _solve_program(move_cost, moved_equalities, right_side).x[column_number:]
    right_side[:t] += moves[:t] - moves[t:]
    return equalities, right_side


def _solve_program(cost: Floats, equalities: scipy.sparse.csr_array, right: Floats) -> Any:
    # its types know dense matrices only
    return scipy.optimize.linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs")  # type: ignore[call-overload]


def leverage(design: Answerable, *, share: float = 0.01) -> float:
    """The most by which a share of answers that are not honest moves the estimated share of a category.

    Each answer has an unbiased indicator u (see `moments`), and an estimate is the mean of u over all answers. If
    someone chooses a share r of the answers at will, category j moves from π_j to (1 - r) π_j + r u_j. It moves by at
    most r · max(max u, 1 - min u), over all categories, responses and levels. A direct question moves by r; a more
    private design moves more.

    Maximum likelihood weighs answers by what it estimates. Where a design has more responses than categories, it can
    move more than this: in our trials up to 1.6 times as far.

    Parameters
    ----------
    design : Design or Levels
        With levels, all such answers come at the level that moves the estimate most.
    share : float
        The share of all answers that are not honest.

    Returns
    -------
    float
        A difference of proportions.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.

    Examples
    --------
    >>> from naysay import designs
    >>> round(leverage(designs.direct(("yes", "no"))), 4), round(leverage(designs.warner(p=0.7)), 4)
    (0.01, 0.0175)
    >>> round(leverage(designs.negative(("a", "b", "c", "d", "e"))), 4)
    0.04
    """
    check_design(design)
    reaches = []
    for channel in design.parts.values():
        linear, space = linear_map(channel), channel.space
        if space.listable:
            largest = smallest = linear(space.statistic(space.listing()))[channel.matrix.max(axis=1) > 0]
        else:  # over [0, 1]ᵈ
            largest = linear.constant + np.maximum(linear.slope, 0).sum(axis=1)
            smallest = linear.constant + np.minimum(linear.slope, 0).sum(axis=1)
        reaches.append(float(max(largest.max(), 1 - smallest.min())))
    return share * max(reaches)


ANSWERS = ("random", "any", "liars")
"""What people who do not comply may answer: at random, whatever they like, or what hides them at a list's ends."""


_BAD, _NONE = 0.01, 1e-9
_RARE = 1e-4  # added to the chance of each answer, so that one which is not foretold has some weight
_MOST = 5_000  # responses × categories up to which the programs take less than about a second
_MOST_OF_LISTS = 20_000  # the same for lists, of which four programs are solved


def is_open(fit: Fit) -> bool:
    """Whether the bounds can be computed: one design, whose few responses are drawn by chance."""
    if fit.design.offer.several or fit.tally.summed or not isinstance(fit.design, Design) or fit.target == "file":
        return False
    space = fit.design.space
    listed = space.listable and space.answers == 1 and space.size * len(fit.categories) <= _MOST
    return listed and bool((fit.design.rows(space.listing()).max(axis=0) < 1).any())


def is_list(fit: Fit) -> bool:
    """Whether all samples count the statements that are true of a person, some with the sensitive one among them."""
    return _at_ends(fit.design, 1.0) is not None


def _at_ends(design: Answerable, share: float) -> dict[Any, Floats] | None:
    """P of each sample of a list, with a column more for every kind of carrier who may lie; None for other designs.

    Of the people of such a column this share lies in each sample in which the honest count is the largest of its list,
    or in which none of the other statements is true of them.
    """
    if not isinstance(design, Samples) or len(design.shares) != 2:
        return None
    if not all(
        part.space.listable and part.space.size * len(design.cells) <= _MOST_OF_LISTS for part in design.parts.values()
    ):
        return None
    members, others = ([design.cells.index(cell) for cell in part_share.of] for part_share in design.shares)
    if len(members) != len(others) or len(members) < 2:  # each kind of others has a carrier of whom the same is true
        return None
    lies, matrices = np.zeros((len(design.parts), len(members)), dtype=bool), []
    for place, part in enumerate(design.parts.values()):
        matrix, counts = part.matrix, part.space.listing()
        if not np.isin(matrix[:, members + others], (0, 1)).all():
            return None
        honest, hidden = (counts[matrix[:, cells].argmax(axis=0)] for cells in (members, others))
        is_sensitive = honest - hidden == 1
        if not (is_sensitive | (honest == hidden)).all():
            return None
        lies[place] = (is_sensitive & ((hidden == 0) | (honest == counts.max(axis=0)))).any(axis=1)
        matrices.append(matrix)
    return {
        name: np.hstack([
            matrix,
            (matrix[:, members] + share * at_end * (matrix[:, others] - matrix[:, members]))[:, lies.any(axis=0)],
        ])
        for name, matrix, at_end in zip(design.parts, matrices, lies, strict=True)
    } if lies.any() else None  # fmt: skip


def answer_bounds(fit: Fit, *, share: float = 0.3, answers: str = "random", sharp: bool = True) -> Floats:
    """The least and largest share of each category, (t, 2), if up to a share of the respondents did not comply.

    The bounds hold whatever is true of those people. They do not include sampling error. The sharp ones are narrower
    where some share of people would leave less than nobody in a category; near 0 this rests on few answers.

    Parameters
    ----------
    fit : Estimate
        Of one design with responses that can be listed; with "liars", of a list experiment.
    share : float
        r, in [0, 1].
    answers : {"random", "any", "liars"}
        What those people answer. Liars are carriers of whom all the other statements of a list are true, or none; of
        these the share counts as if the sensitive statement were not true of them (Blair & Imai 2012).
    sharp : bool
        Whether nobody may be left with less than nobody; if not, the ends are π̂ - r max u and π̂ + r (1 - min u).

    Raises
    ------
    DataError
        The share or `answers` is not one of these, or the design has levels, samples or too many responses.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[6915, 3085]))
    >>> answer_bounds(fit, share=0.2).round(3)[0], answer_bounds(fit, share=0.2, answers="any").round(3)[0]
    (array([0.017, 0.217]), array([0.   , 0.417]))

    A list of three statements (Blair & Imai 2012), and all who could hide do:

    >>> survey = designs.item_count(items=3)
    >>> arms, counts = ["control"] * 4 + ["treatment"] * 5, [8, 132, 222, 227, 19, 123, 229, 219, 34]
    >>> fit = estimate.maximum_likelihood(survey, survey.tally([*range(4), *range(5)], sample=arms, count=counts))
    >>> (
    ...     answer_bounds(fit, share=0.25, answers="liars").round(4)[0],
    ...     answer_bounds(fit, share=1, answers="liars").round(4)[0],
    ... )
    (array([0.1052, 0.1235]), array([0.1052, 0.4545]))
    """
    return np.clip(_ends(fit, share, answers, sharp=sharp)[0], 0.0, 1.0)


def bounds_interval(
    fit: Fit, *, share: float = 0.3, answers: str = "random", sharp: bool = True, confidence: float = 0.95
) -> Floats:
    """The interval of each category, (t, 2), for the share that `answer_bounds` leaves open, with sampling error.

    It holds the true share of a category, wherever it lies between the bounds, with the confidence: low - C·se and
    high + C·se, with Φ(C + Δ / se) - Φ(-C) = confidence for bounds Δ apart and se the larger standard error of the two.
    Each bound is linear in the shares of answers, which gives its standard error. As in the interval of Agresti & Coull
    (1998), z²/2 answers are added at either extreme: else few answers, of which none tells, would have no error.

    Parameters
    ----------
    fit, share, answers, sharp
        As in `answer_bounds`.
    confidence : float

    References
    ----------
    Imbens & Manski (2004), "Confidence intervals for partially identified parameters"; Agresti & Coull (1998).

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[691, 309]))
    >>> bounds_interval(fit, share=0.2).round(3)[0], fit.interval().round(3)[0]
    (array([0.   , 0.267]), array([0.062, 0.177]))
    """
    level = _checks.confidence(confidence)
    ends, gradients, chances = _ends(fit, share, answers, sharp=sharp)
    below: Callable[[float], Any] = scipy.special.ndtr
    if fit.tally.complex is not None:
        below = functools.partial(scipy.special.stdtr, fit.tally.complex.degrees_of_freedom)
    added = float(scipy.optimize.brentq(lambda z: below(z) - 0.5 - level / 2, 0.0, 1e3)) ** 2 / len(gradients)
    centers, squared_errors = ends.copy(), np.zeros_like(ends)
    for (part, size), gradient, shares in zip(_worth(fit, gradients, chances), gradients, chances, strict=True):
        is_possible = part.matrix.max(axis=1) > 0
        extremes = np.stack([gradient[..., is_possible].min(axis=-1), gradient[..., is_possible].max(axis=-1)])
        means = (size * (gradient @ shares) + added * extremes.mean(axis=0)) / (size + added)
        squares = (size * (gradient**2 @ shares) + added * (extremes**2).mean(axis=0)) / (size + added)
        squared_errors += np.maximum(squares - means**2, 0.0) / (size + added)
        centers += means - gradient @ shares
    bounds, errors = np.clip(ends, 0.0, 1.0), np.sqrt(squared_errors)
    for place, largest in enumerate(errors.max(axis=1).tolist()):
        if largest > 0:
            apart = float(np.ptp(bounds[place])) / largest
            quantile = scipy.optimize.brentq(lambda c, apart=apart: below(c + apart) - below(-c) - level, 0.0, 1e3)
            low, high = centers[place] + quantile * errors[place] * (-1, 1)
            bounds[place] = min(low, bounds[place, 0]), max(high, bounds[place, 1])
    return np.clip(bounds, 0.0, 1.0)


def _worth(fit: Fit, gradients: Sequence[Floats], chances: Sequence[Floats]) -> list[tuple[Channel, Floats]]:
    """The designs with answers, each with how many unweighted answers would be as precise, for each end, (t, 2)."""
    worth = []
    for (part, people), gradient, shares in zip(_answered(fit), gradients, chances, strict=True):
        sizes = np.full(gradient.shape[:2], float(part.effective))
        if fit.tally.weighted or fit.tally.complex is not None:
            from_mean = gradient - (gradient @ shares)[..., None]
            plain = (from_mean**2 @ shares).ravel() / part.effective
            influence = (
                from_mean.reshape(-1, len(shares))[:, part.design.space.places(part.codes)].T / part.weight.sum()
            )
            if fit.tally.complex is None:
                linearized = part.weight_squared @ influence**2
            else:
                linearized = np.sum(np.square(people.deviations(influence)), axis=0)
            ratios = np.divide(linearized, plain, out=np.ones_like(plain), where=plain > 0)
            sizes = sizes / np.maximum(ratios, 1.0).reshape(sizes.shape)
        worth.append((part.design, sizes))
    return worth


def _answered(fit: Fit) -> list[tuple[Part, Sampled]]:
    return [(part, people) for part, people in fit.tally.apart if part.weight.sum() > 0]


def _ends(fit: Fit, share: float, answers: str, *, sharp: bool) -> tuple[Floats, list[Floats], list[Floats]]:
    """The ends (t, 2); for each sample how they move with its shares of answers (t, 2, responses), and these shares."""
    if not 0 <= share <= 1 or answers not in ANSWERS:
        raise DataError(
            f"share must lie in [0, 1], and answers be one of {', '.join(ANSWERS)}; got {share!r}, {answers!r}"
        )
    if answers == "liars":
        return _liar_ends(fit, share)
    matrix, fitted, observed = _answer_shares(fit)
    if not sharp:
        least, look, most = _indicators(fit)
        low, high = (most, least) if answers == "any" else (look, look)
        ends = np.column_stack([fit.proportions - share * low, fit.proportions + share * (1 - high)])
        part = fit.tally.parts[0]
        slopes = fit.linear_maps(part)(part.design.space.statistic(part.design.space.listing())).T
        return ends, [np.stack([slopes, slopes], axis=1)], [observed]
    t, m = matrix.shape[1], len(matrix)
    is_possible = matrix.max(axis=1) > 0
    others = np.eye(m)[:, is_possible] if answers == "any" else (is_possible / is_possible.sum())[:, None]
    width = others.shape[1]
    equalities = np.zeros((m + 1, 2 * t + width))  # the unknowns are a, k and the amounts of each way to answer
    equalities[:m, :t], equalities[:m, 2 * t :] = matrix, others
    equalities[m, t : 2 * t], equalities[m, 2 * t :] = 1, -1
    right_side = np.append(fitted, 0.0)
    at_most = np.concatenate([np.zeros(2 * t), np.ones(width)])[None]
    ends, gradients = np.zeros((t, 2)), np.zeros((t, 2, m))
    for category in range(t):
        cost = np.zeros(2 * t + width)
        cost[[category, t + category]] = 1
        for place, sign in enumerate((1, -1)):
            least_cost, prices, _ = _solved(sign * cost, equalities, right_side, at_most, share)
            ends[category, place], gradients[category, place] = sign * least_cost, sign * prices[:m]
    return ends, [gradients], [fitted]


def _liar_ends(fit: Fit, share: float) -> tuple[Floats, list[Floats], list[Floats]]:
    """The same for carriers at the ends of a list: programs over its cells, and one more for each who may lie."""
    matrices = _at_ends(fit.design, share)
    if matrices is None:
        raise DataError("liars at the ends are of list experiments: item_count() or double_list()")
    parts = [part for part, _ in _answered(fit)]
    shown = [matrices[part.level] for part in parts]
    rows = np.vstack([matrix[part.design.space.places(part.codes)] for part, matrix in zip(parts, shown, strict=True)])
    cells = maximize(
        rows, np.concatenate([part.weight for part in parts]) * (fit.tally.n / fit.tally.weight)
    ).proportions
    chances = [matrix @ cells for matrix in shown]
    above, below = fit.design.shares[0].weights(fit.design.cells)
    liars = np.ones(len(cells) - len(above))  # all of them carriers
    contrast, among = np.append(above, liars), np.append(below, liars)
    parts_end = np.cumsum([len(one) for one in chances])[:-1]
    matrix, fitted, people = np.vstack(shown), np.concatenate(chances), float(among @ cells)
    scale = np.concatenate([np.sqrt((one + _RARE) / part.effective) for one, part in zip(chances, parts, strict=True)])
    ends, gradients = np.zeros((2, 2)), np.zeros((2, 2, len(fitted)))
    for place, sign in enumerate((1, -1)):
        least_cost, _, amounts = _solved(sign * contrast, matrix, fitted)
        ends[0, place], ends[1, 1 - place] = sign * least_cost / people, 1 - sign * least_cost / people
        prices = (
            _steadiest(matrix / scale[:, None], sign * (contrast - ends[0, place] * among), amounts > _NONE) / scale
        )
        gradients[0, place], gradients[1, 1 - place] = sign * prices / people, -sign * prices / people
    return ends, np.split(gradients, parts_end, axis=2), chances


def _steadiest(matrix: Floats, cost: Floats, is_used: NDArray[np.bool_]) -> Floats:
    """Of all prices that a program of least cost can have, those of least length: least distance programming.

    They are at most the cost in each column, and equal to it in those that the solution uses (Lawson & Hanson 1974,
    chapter 23). Where a sample has more answers than the cells have shares, most prices would make an end move more
    than it needs to.
    """
    used = matrix[:, is_used].T
    prices = np.linalg.lstsq(used, cost[is_used], rcond=None)[0]
    free = scipy.linalg.null_space(used, rcond=_NONE)
    moves, room = matrix[:, ~is_used].T @ free, cost[~is_used] - matrix[:, ~is_used].T @ prices
    is_moved = (np.abs(moves) > _NONE).any(axis=1)
    if not is_moved.any():
        return np.asarray(prices)
    conditions = np.vstack([-moves[is_moved].T, -room[is_moved]])
    target = np.append(np.zeros(free.shape[1]), 1.0)
    residual = conditions @ scipy.optimize.nnls(conditions, target)[0] - target
    return np.asarray(prices - free @ residual[:-1] / residual[-1])


def fits_badly(fit: Fit) -> bool:
    """Whether hardly any proportions give these answers: p < 0.01 of Pearson's X² at the most likely ones."""
    _, fitted, observed = _answer_shares(fit)
    is_possible = fitted > 1e-12
    if observed[~is_possible].any():
        return True
    squares = (observed[is_possible] - fitted[is_possible]) ** 2 / fitted[is_possible]
    return bool(scipy.special.chdtrc(max(int(is_possible.sum()) - 1, 1), fit.tally.effective * squares.sum()) < _BAD)


def least_share(fit: Fit) -> float:
    """The least share of respondents who cannot have complied: the least Σb with Pa + b = λ̂, a, b ≥ 0.

    It is what the answers alone prove, before sampling error; 0 where some proportions explain all of them.

    Examples
    --------
    Of 729 people of whom at least one sixth were told to say yes, 98 said yes:

    >>> from naysay import designs, estimate
    >>> survey = designs.forced_response(forced_yes="1/6", forced_no="1/12")
    >>> round(least_share(estimate.moments(survey, survey.tally(count=[98, 631]))), 6)
    0.193416
    """
    matrix, _, observed = _answer_shares(fit)
    cost = np.concatenate([np.zeros(matrix.shape[1]), np.ones(len(matrix))])
    return max(_solved(cost, np.hstack([matrix, np.eye(len(matrix))]), observed)[0], 0.0)


def _answer_shares(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """P, the shares of answers that are expected at the most likely proportions, and those that came."""
    if not is_open(fit):
        raise DataError("bounds are for one design whose responses are drawn by chance and can be listed")
    [part] = [part for part in fit.tally.parts if part.n]
    matrix = fit.design.channel().matrix
    most_likely = fit.proportions if fit.maximum is not None else maximize(*evidence(fit.tally)[:2]).proportions
    observed = np.zeros(len(matrix))
    np.add.at(observed, part.design.space.places(part.codes), part.weight / part.weight.sum())
    return matrix, matrix @ most_likely, observed


def _indicators(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """The least, the mean and the largest unbiased indicator of each category over the possible answers, (t,) each."""
    part = fit.tally.parts[0]
    possible_codes = part.design.space.listing()[part.design.matrix.max(axis=1) > 0]
    indicators = fit.linear_maps(part)(part.design.space.statistic(possible_codes))
    return indicators.min(axis=0), indicators.mean(axis=0), indicators.max(axis=0)


def shifts(fit: Fit, share: float, answers: str = "random") -> tuple[float, float]:
    """By how much some category's share could be lower and higher if up to this share of people answered so."""
    least, look, most = _indicators(fit)
    low, high = (most, least) if answers == "any" else (look, look)
    return float(share * low.max()), float(share * (1 - high.min()))


def _solved(
    cost: Floats, equalities: Floats, right: Floats, at_most: Floats | None = None, limit: float | None = None
) -> tuple[float, Floats, Floats]:
    """The least cost of non-negative unknowns that satisfy the equalities, and of which a sum is at most the limit.

    With it come how it moves with the right sides of the equalities, and the unknowns.
    """
    bound: dict[str, Any] = {} if at_most is None else {"A_ub": at_most, "b_ub": [limit]}
    solution: Any = scipy.optimize.linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs", **bound)
    return float(solution.fun), np.asarray(solution.eqlin.marginals), np.asarray(solution.x)


class Tipping(NamedTuple):
    """How many people would have to answer otherwise until a category's estimate is no longer above 0.

    Parameters
    ----------
    category : label
    random : float
        The share who answer at random; NaN if no share of them could do it.
    random_at_end : float
        The same for the lower end of the interval.
    any_answers : float
        The share, if they give the answers that move the estimate most.
    """

    category: Label
    random: float
    random_at_end: float
    any_answers: float


def tipping(fit: Fit, bounds: Floats) -> Tipping | None:
    """What overturns first that a category is above 0; None if no interval (t, 2) lies above 0.

    Random answers look like v, so that the estimate is (π̂ - ρv) / (1 - ρ), which is 0 at ρ = π̂ / v.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[691_500, 308_500]))
    >>> tipping(fit, fit.interval()).any_answers
    0.078
    """
    if not is_open(fit):
        return None
    _, look, reach = _indicators(fit)
    found = [
        Tipping(
            category,
            _share(float(fit.proportions[place]), float(look[place])),
            _share(float(bounds[place, 0]), float(look[place])),
            round(min(float(fit.proportions[place] / reach[place]), 1.0), 12),
        )
        for place, category in enumerate(fit.categories)
        if bounds[place, 0] > 0
    ]
    if fit.design.space.one_label and len(fit.categories) == 2:
        found = [each for each in found if each.category == fit.categories[0]]
    return min(found, key=lambda each: (math.isnan(each.random), each.random, each.any_answers), default=None)


def _share(value: float, look: float) -> float:
    share = round(value / look, 12) if look else 1.0
    return share if 0 < share < 1 else math.nan
