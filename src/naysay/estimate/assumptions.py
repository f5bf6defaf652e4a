"""What the estimate would be if an assumption failed.

Respondents may not comply. A probability may differ from the stated one. Respondents may choose between false
categories by preference, where they should toss a coin.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.errors import DataError
from naysay.estimate.linear import Floats, is_stacked, linear_map
from naysay.estimate.result import Estimate
from naysay.estimate.samples import answering, shares_of_means, slopes
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
    labels = design.assigned_by != "respondent" and all(part_design.space.one_label for part_design in channels)
    if not labels or not any(map(_randomizes, channels)):
        return {}
    if design.measures_compliance:
        return {_AT_RANDOM: _random}
    if len(design.categories) > 2:
        none_ruled_out = all((part_design.rows(part_design.typical_codes) > 0).all() for part_design in channels)
        # One row for each answer suffices: every mixture of answers lies between these rows.
        return {"gave any answers": lambda channel: np.eye(channel.space.size)} if none_ruled_out else {}
    return {"gave the safest answer always": _safest, _AT_RANDOM: _random}


def _randomizes(design: Channel) -> bool:
    if design.one_pattern and design.even_mean is not None:
        alpha, beta = design.even_mean
        return max(alpha + beta, beta) < 1
    return bool((design.rows(design.space.listing()).max(axis=0) < 1).any())


def check_estimate(fit: object) -> None:
    """Raise unless the value is an estimate."""
    if not isinstance(fit, Estimate):
        needed_text = "an estimate is needed first, such as estimate.moments(design, tally)"
        raise DataError(f"{needed_text}; got {type(fit).__name__}")


def noncompliance_band(fit: Estimate, *, share: float = 0.1, noncompliers: str = "anyone") -> Floats:
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
    if design.assigned_by == "respondent" or not all(channel.space.one_label for channel in design.parts.values()):
        raise DataError("non-compliance can be assessed only for designs that report one label")
    if fit.named is not None and behaviors(fit.design):
        return fit.named.noncompliance(fit.proportions, share, alike=noncompliers == "alike")
    cell_reading = _CellReading.of(fit)
    moves_by_behavior = [
        cell_reading.moves(answers, share, noncompliers) for answers in behaviors(fit.design).values() or [_random]
    ]
    places = range(len(fit.categories))
    ends = [
        [cell_reading.extreme(place, moves, sign) for sign in (-1, 1)]
        for moves in moves_by_behavior
        for place in places
    ]
    ends_by_behavior = np.array(ends).reshape(-1, len(fit.categories), 2)
    return _hull([*ends_by_behavior[..., 0], *ends_by_behavior[..., 1]])


class _CellReading(NamedTuple):
    """How moments read the cells from the samples' answers, and how the cells move when the answers change."""

    parts: tuple[Part, ...]
    means: tuple[Floats, ...]
    slopes: tuple[Floats, ...]
    cells: Floats
    shares: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def of(cls, fit: Estimate) -> _CellReading:
        design, parts = fit.design, tuple(answering(fit.tally))
        means = _means(fit)
        kinds = design.cells
        if is_stacked(design):
            sizes = np.array([part.n for part in parts], dtype=float)
            steps = slopes(design, [part.design for part in parts], sizes / sizes.sum())
        else:
            steps = (linear_map(parts[0].design, fit.solution).slope,)
        centre = np.full(len(kinds), 1 / len(kinds))
        shifts = (
            step @ (mean - part_of_tally.design.expected_statistic @ centre)
            for part_of_tally, step, mean in zip(parts, steps, means, strict=True)
        )
        return cls(parts, means, steps, centre + sum(shifts), tuple(share.weights(kinds) for share in design.shares))

    def moves(self, answers: Callable[[Channel], Floats], share: float, noncompliers: str) -> list[Floats]:
        """What undoing the non-compliance could add to the cells: a sum of one row of each array, (ways, cells)."""
        chance = [
            (part.design, mean, step)
            for part, mean, step in zip(self.parts, self.means, self.slopes, strict=True)
            if _randomizes(part.design)
        ]
        if noncompliers == "alike":
            return [share / (1 - share) * (mean - answers(design)) @ step.T for design, mean, step in chance]
        kinds = sum(step @ design.expected_statistic for design, _, step in chance)
        return [share * np.transpose(kinds), *(-share * answers(design) @ step.T for design, _, step in chance)]

    def extreme(self, place: int, moves: list[Floats], sign: int) -> float:
        """The largest (sign 1) or smallest (sign -1) share of a category over all moves and none (Dinkelbach 1967)."""
        above, below = self.shares[place]
        extreme_share = float(above @ self.cells / (below @ self.cells))
        while True:
            contrast = sign * (above - extreme_share * below)
            cells = self.cells + sum(rows[(rows @ contrast).argmax()] for rows in moves)
            if below @ cells <= 0:  # nobody is left among whom the share is counted
                return float(sign > 0)
            next_share = float(above @ cells / (below @ cells))
            if not sign * (next_share - extreme_share) > 1e-12:
                return extreme_share
            extreme_share = next_share


def probability_band(fit: Estimate, *, designs: Sequence[Answerable] = ()) -> Floats | None:
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
    ends = (*fit.design.alternatives, *designs)
    if not ends:
        return None
    means = _means(fit)

    def proportions_under(design: Answerable) -> Floats:
        """The proportions, (t,), if the answers had been given under this design."""
        if is_stacked(design):
            return shares_of_means(design, fit.tally, means)
        return linear_map(design.channel(), fit.solution)(means[0])

    return _hull([proportions_under(design) for design in (fit.design, *ends)])


def _means(fit: Estimate) -> tuple[Floats, ...]:
    """The mean of the linear statistic of each part's answers; for a likelihood, the one that the estimate expects.

    So a band begins at the estimate itself, also where moments would give another one.
    """
    parts = answering(fit.tally)
    if fit.maximum is not None:
        cells = fit.proportions if fit.cells is None else fit.cells.proportions
        return tuple(np.asarray(part.design.expected_statistic @ cells) for part in parts)
    return tuple(np.asarray(p.weight @ p.design.space.statistic(p.codes) / p.weight.sum()) for p in parts)


def _hull(ends: list[Floats]) -> Floats:
    stacked = np.array(ends)
    return np.asarray(np.clip(np.column_stack([stacked.min(axis=0), stacked.max(axis=0)]), 0.0, 1.0))


def _safest(design: Channel) -> Floats:
    """Answer shares (1, responses) with all weight on the answer that has the lowest odds of the first category."""
    matrix = design.rows(design.space.listing())
    # The tiny constant avoids 0/0 for an answer that nobody can give: its odds become 1.
    odds = (matrix[:, 0] + 1e-300) / (matrix[:, 1:].max(axis=1) + 1e-300)
    return np.eye(len(matrix))[[odds.argmin()]]


def _random(design: Channel) -> Floats:
    """Answer shares (1, responses) in which every possible answer is equally frequent."""
    possible = design.rows(design.space.listing()).max(axis=1) > 0
    return np.asarray(possible / possible.sum(), dtype=float)[None]


def shown_by(design: Answerable) -> int | None:
    """How many categories a respondent sees, of which they reject one; None for designs that do not work this way."""
    return None if design.several else design.channel().shown


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
    shares = np.zeros(t)
    shares[part.codes[:, 0]] = part.weight
    equalities, right = _program(t, s, shares / shares.sum())

    def end(category: int, sign: int) -> float:
        """The smallest (sign 1) or largest (sign -1) proportion of a category."""
        cost = np.zeros(equalities.shape[1])
        cost[category] = sign
        return float(sign * _solve_program(cost, equalities, right).fun)

    bounds = [[end(category, sign) for sign in (1, -1)] for category in range(t)]
    return np.asarray(np.clip(bounds, 0.0, 1.0))


def _program(t: int, s: int, shares: Floats) -> tuple[Any, Floats]:
    """The equalities over (π, φ), and their right side, which is moved by the least amount that makes them feasible.

    Columns are the t proportions, then one φ(i, F) for each member of each F.
    """
    false_sets = [f for size in (s - 1, s) for f in itertools.combinations(range(t), size)]
    entries: list[tuple[int, int]] = []  # all coefficients are 1
    column = t
    for row, false in enumerate(false_sets, start=t):
        entries += [(row, category) for category in false]  # Σ_i φ(i, F) + π(F) = 1
        for category in false:
            entries += [(category, column), (row, column)]
            column += 1
    last = t + len(false_sets)
    entries += [(last, category) for category in range(t)]
    rows, columns = np.array(entries).T
    equalities = scipy.sparse.csr_array((np.ones(len(entries)), (rows, columns)), shape=(last + 1, column))
    right = np.concatenate([math.comb(t, s) * shares, np.ones(len(false_sets) + 1)])
    right[:t] += _least_move(equalities, right, t)
    return equalities, right


def _least_move(equalities: Any, right: Floats, t: int) -> Floats:
    """The change (t,) of the answer shares that makes the program feasible with the least sum of absolute values."""
    size = equalities.shape[1]
    spare = scipy.sparse.eye_array(equalities.shape[0], t)
    cost = np.concatenate([np.zeros(size), np.ones(2 * t)])
    solution = _solve_program(cost, scipy.sparse.hstack([equalities, -spare, spare], format="csr"), right).x
    return np.asarray(solution[size : size + t] - solution[size + t :], dtype=float)


def _solve_program(cost: Floats, equalities: Any, right: Floats) -> Any:
    return scipy.optimize.linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs")
