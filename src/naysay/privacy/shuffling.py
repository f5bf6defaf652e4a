"""What shuffling adds: (ε, δ) of reports that arrive without sender and order, by bounds that are proven.

A shuffler that does not collude strips everything but the reports themselves from n reports of one question. Each
person then hides among the others. Two bounds stand for this, and both are one formula: δ = E[(L_1 + … + L_n)₊] / n.

- *Clones* (Feldman, McMillan & Talwar 2021), for any design: each other report is, with chance e^{-ε₀}, drawn from the
  mean of the two distributions that are to be told apart.
- *Privacy blanket* (Balle, Bell, Gascón & Nissim 2019), for one known design that everybody uses: each report is, with
  chance γ = Σ_y min_j P(y | j), drawn from a distribution that does not depend on the truth.

In both, L is 0 unless the report is such a one, and otherwise (P(y | x) - e^ε P(y | x')) / m(y), with chance m(y):
that of drawing y in this way. Theorems 3.1 and 3.2 of Feldman, McMillan & Talwar (2023) promise more, but their
published erratum confines them to some designs; they are not used.

All bounds hold for the worst pair of categories, and for any truths of the others. Everybody must use the same design:
a person whose report shows another design, or another level, hides among the reports of that design alone.

Both bounds are a mean E[(X_1 + … + X_n)₊] of independent, equally distributed X with few values, bounded from above.
Sums are kept on a grid and doubled, as in binary exponentiation. Each step can only enlarge the mean:

- *Values between two points of the grid* are shared out between them so that their mean stays. By Jensen's inequality
  the mean of a convex function of the sum, such as the positive part, then only grows. When a sum needs more cells than
  are allowed, every second point is shared out to its neighbors in the same way.
- *Tails.* What lies below the window moves up to its lower end. What lies above is counted apart, at the largest value
  that the sum on the grid can have.
- *Rounding.* All numbers are positive, so that a convolution of N cells has a relative error of at most N u/(1 - N u)
  in each cell, u = 2⁻⁵³, in whatever order it is added (Higham 2002, section 3.1). Each cell is scaled up by more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from naysay import _checks
from naysay._values import Floats
from naysay.design import Answerable, Design, channels
from naysay.design.base import check_design
from naysay.design.drawing import as_fraction
from naysay.errors import DataError, DesignError
from naysay.privacy.measures import epsilon, log_ratio
from naysay.show import Column, Note, Result, Sentence, Table
from naysay.show.content import Content

Pair = Mapping[tuple[Fraction, Fraction], Fraction]
"""Two categories x and x': {(P(y | x) / m(y), P(y | x') / m(y)): the chance m of such y}."""

_COARSE, _FINE = 256, 2048  # points of the grids: the first to search on, the second for what is reported
_LARGEST_LOCAL = 40.0  # above it shuffling helps only with more than e^40 reports
_MOST_PAIRED = 2**17  # ordered pairs of categories × responses of a table from which its blanket is worked out
_UPWARD, _DOWNWARD = Context(prec=40, rounding=ROUND_CEILING), Context(prec=40, rounding=ROUND_FLOOR)


def shuffled(
    design: Answerable,
    *,
    n: int | Mapping[Any, int] | Sequence[int],
    delta: float,
    colluding: float = 0.0,
) -> Any:
    """The (ε, δ) of one person's report among n shuffled ones, beside the ε₀ that holds without the shuffler.

    The printed ε is an upper bound: the design's integers are taken exactly, discrete sums are rounded up, and so are
    the tails that are left out. It is the smallest of the bounds that apply, and ε₀ where none of them is better.

    Parameters
    ----------
    design : Design, Levels or Samples
        One that everybody uses, of a finite ε₀.
    n : int, {group: int}, or sequence of int
        How many reports of this question arrive, the person's own included. For groups that are published apart: of
        each of them, since a person hides in their own group alone. Of several levels or samples: {level: n}.
    delta : float
        δ, between 0 and 1; well below 1/n.
    colluding : float
        The share of senders whose true report is known to the attacker, or who send none: (1 - colluding) n count.

    Returns
    -------
    Shuffled, {group: Shuffled}, or list of Shuffled

    Raises
    ------
    DesignError
        A design with ε = ∞: shuffling does not hide what an answer proves. n below 1.
    DataError
        δ or a share outside their range, levels without their n.

    Examples
    --------
    >>> from naysay import designs
    >>> found = shuffled(designs.k_ary(16, epsilon=4), n=100_000, delta=1e-6)
    >>> round(found.local, 3), round(found.epsilon, 3)
    (4.0, 0.105)

    References
    ----------
    Balle, Bell, Gascón & Nissim (2019), lemma 5.3; Feldman, McMillan & Talwar (2021), theorems 3.1 and 3.2.
    """
    check_design(design, needed_text="shuffling is about the reports of a design", error=DesignError)
    if design.offer.several:
        if not isinstance(n, Mapping) or set(n) != set(design.parts):
            raise DataError(
                f"give the reports of each {design.offer.noun}: n={{{design.levels[0]!r}: 1000, …}}; got {n!r}"
            )
        return {
            part_name: _shuffled(part_design, n[part_name], delta, colluding)
            for part_name, part_design in design.parts.items()
        }
    channel = design.channel()
    if isinstance(n, Mapping):
        return {
            group_name: _shuffled(channel, report_count, delta, colluding) for group_name, report_count in n.items()
        }
    if isinstance(n, Sequence) and not isinstance(n, str):
        return [_shuffled(channel, report_count, delta, colluding) for report_count in n]
    return _shuffled(channel, n, delta, colluding)


def _shuffled(design: Design, n: int, delta: float, colluding: float) -> Shuffled:
    n = _checks.whole_number(n, 1, 2**53, what="n")
    if not 0 < delta < 1:
        raise DataError(f"delta must lie between 0 and 1; got {delta!r} (a tenth of 1/n, or less)")
    if not 0 <= colluding < 1:
        raise DataError(f"colluding is a share of all senders, from 0 to below 1; got {colluding!r}")
    local_epsilon = epsilon(design)
    if math.isinf(local_epsilon):
        raise DesignError(
            f"{design.name or design.kind} has ε = ∞: an answer can prove something, and shuffling does not hide it"
        )
    honest_count = math.floor(n * (1 - as_fraction(colluding)))
    blanket_epsilon = clones_epsilon = closed_form = None
    if honest_count > 1 and 0 < local_epsilon <= _LARGEST_LOCAL:
        # The worst pair of any ε₀: two responses, of which the truth picks one with odds of e^ε₀.
        odds = Fraction(Decimal(local_epsilon).exp(_UPWARD))
        larger_ratio, smaller_ratio = 2 * odds * odds / (odds + 1), 2 * odds / (odds + 1)
        clone_pair = {(larger_ratio, smaller_ratio): 1 / (2 * odds), (smaller_ratio, larger_ratio): 1 / (2 * odds)}
        clones_epsilon = _least_epsilon([clone_pair], honest_count, delta, local_epsilon)
        closed_form = _closed_form(local_epsilon, honest_count, delta)
        blanket_pairs = _blanket(design)
        blanket_epsilon = _least_epsilon(blanket_pairs, honest_count, delta, local_epsilon) if blanket_pairs else None
    return Shuffled(
        local=local_epsilon,
        n=n,
        honest=honest_count,
        delta=delta,
        blanket=blanket_epsilon,
        clones=clones_epsilon,
        closed_form=closed_form,
    )


def _least_epsilon(pairs: Sequence[Pair], n: int, delta: float, local: float) -> float | None:
    """The least ε that was found at which no pair of categories exceeds δ; None where it is not below ε₀."""
    least_epsilon = 0.0
    for pair in pairs:
        if least_epsilon and _holds(pair, n, delta, least_epsilon, _COARSE):
            continue
        rough_epsilon = _bisected_epsilon(pair, n, delta, (0.0, local), cells=_COARSE, steps=20)
        least_epsilon = max(
            least_epsilon,
            _bisected_epsilon(pair, n, delta, (0.95 * rough_epsilon, rough_epsilon), cells=_FINE, steps=8),
        )
    least_odds = Fraction(math.exp(least_epsilon))
    return log_ratio(least_odds.numerator, least_odds.denominator) if least_epsilon < local else None


def _bisected_epsilon(
    pair: Pair, n: int, delta: float, between: tuple[float, float], *, cells: int, steps: int
) -> float:
    """An ε between two at which the pair does not exceed δ, if it does not at the upper one."""
    low_epsilon, high_epsilon = between
    for _ in range(steps):
        middle_epsilon = (low_epsilon + high_epsilon) / 2
        if _holds(pair, n, delta, middle_epsilon, cells):
            high_epsilon = middle_epsilon
        else:
            low_epsilon = middle_epsilon
    return high_epsilon


def _holds(pair: Pair, n: int, delta: float, value: float, cells: int) -> bool:
    """Whether the pair is proven to be (ε, δ)-indistinguishable, with e^ε the floating-point number exp(value)."""
    odds = Fraction(math.exp(value))
    atoms = [(own_ratio - odds * other_ratio, chance) for (own_ratio, other_ratio), chance in pair.items()]
    return rounded_up(mean_positive_part(atoms, n, cells=cells) / n) <= delta


def _blanket(design: Design) -> list[Pair]:
    """The pairs of categories that must be told apart, by their privacy blanket; empty where it is not known."""
    if design.structure.named_chances is not None:
        return [_support_blanket(design, *design.structure.named_chances)]
    t = len(design.categories)
    if not isinstance(design, channels.Table) or t * t * design.space.size > _MOST_PAIRED:
        return []
    weight_rows = [weight_row for weight_row in design.weights.tolist() if any(weight_row)]
    distinct_blankets = set()  # each kind of pair once
    for x, other_place in permutations(range(t), 2):
        chance_of_ratios: dict[tuple[Fraction, Fraction], Fraction] = {}
        for weight_row in weight_rows:
            least_weight = min(weight_row)
            ratio_pair = Fraction(weight_row[x], least_weight), Fraction(weight_row[other_place], least_weight)
            chance = Fraction(least_weight, design.denominator)
            chance_of_ratios[ratio_pair] = chance_of_ratios.get(ratio_pair, Fraction(0)) + chance
        distinct_blankets.add(frozenset(chance_of_ratios.items()))
    return [dict(blanket) for blanket in distinct_blankets]


def _support_blanket(design: Design, p: Fraction, q: Fraction) -> Pair:
    """The blanket of a design whose responses speak for a category with chance p* if it is true, and q* if not.

    P(y | j) = c(y) a where the support of y holds j, and c(y) b elsewhere. The blanket takes c(y) min(a, b). Under it a
    response speaks for a category with chance h, and for two given ones with chance h₂. Both follow from p* and q*. In
    `Unary` the set of all categories has a larger least chance; taking less is a blanket, too.
    """
    a, b = design.structure.odds or (p.numerator * q.denominator, q.numerator * p.denominator)
    least_weight = Fraction(min(a, b))
    h = p * b / (a - p * (a - b))
    gamma = least_weight / (h * a + (1 - h) * b)
    chance_of_both = (q * least_weight / gamma - h * b) / (a - b)
    inside_ratio, outside_ratio = a / least_weight, b / least_weight
    chance_of_ratios = {
        (inside_ratio, outside_ratio): gamma * (h - chance_of_both),
        (outside_ratio, inside_ratio): gamma * (h - chance_of_both),
        (inside_ratio, inside_ratio): gamma * chance_of_both,
        (outside_ratio, outside_ratio): gamma * (1 - 2 * h + chance_of_both),
    }
    return {ratio_pair: chance for ratio_pair, chance in chance_of_ratios.items() if chance > 0}


def _closed_form(local: float, n: int, delta: float) -> float | None:
    """Theorem 3.1 of Feldman, McMillan & Talwar (2021), rounded up; None where its condition on ε₀ fails."""
    exact_delta, report_count = Decimal(delta), Decimal(n)
    local_limit = (
        (report_count / (16 * (2 / exact_delta).ln(_UPWARD))).ln(_DOWNWARD)
        if report_count > 16 * (2 / exact_delta).ln()
        else Decimal(0)
    )
    if Decimal(local) > local_limit:
        return None
    e = Decimal(local).exp(_UPWARD)
    root_term = _UPWARD.sqrt(e * (4 / exact_delta).ln(_UPWARD) / report_count)
    shuffled_epsilon = (1 + (e - 1) / (e + 1) * (8 * root_term + 8 * e / report_count)).ln(_UPWARD)
    return rounded_up(float(shuffled_epsilon))


_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)
_LARGE = "δ is 1/n or more: even a collector who publishes one person's truth in full would keep such a promise"


@dataclass(frozen=True, repr=False)
class Shuffled(Result):
    """(ε, δ) of one person's report among many without sender and order.

    Parameters
    ----------
    local : float
        ε₀ of a report by itself, whoever sees it.
    n : int
        Reports that arrive.
    honest : int
        How many of them come from people who do not collude, this person included.
    delta : float
    blanket, clones, closed_form : float or None
        The bounds: by the privacy blanket of this design; for any design with this ε₀; and the formula for the latter.
        None where a bound does not apply, or is not below ε₀.
    """

    local: float
    n: int
    honest: int
    delta: float
    blanket: float | None
    clones: float | None
    closed_form: float | None

    @property
    def epsilon(self) -> float:
        """ε of the shuffled report: the least of the bounds; ε₀ where none is less."""
        bounds = [bound for bound in (self.blanket, self.clones, self.closed_form) if bound is not None]
        return min([self.local, *bounds])

    def parts(self) -> list[Content]:
        """The promise in the vocabulary of `naysay.show`."""
        honest_text = "" if self.honest == self.n else f", {self.honest:,} of them from people who do not collude"
        if self.epsilon >= self.local:
            return [
                Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
                Note(
                    f"shuffling {self.n:,} reports{honest_text} is not proven to add anything at δ = {self.delta:.3g}"
                ),
            ]
        bound_rows = (
            ("this design, used by everybody", "privacy blanket", _four_digits(self.blanket)),
            ("any design with this ε", "clones", _four_digits(self.clones)),
            ("any design with this ε", "clones, closed form", _four_digits(self.closed_form)),
        )
        bound_columns = (Column("holds for", words=True), Column("bound", words=True), Column("ε"))
        return [
            Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
            Sentence(
                f"(ε, δ) = ({_four_digits(self.epsilon)}, {self.delta:.3g}) if the shuffler is honest and {self.n:,} "
                f"reports arrive{honest_text}"
            ),
            Table(bound_columns, bound_rows, caption=f"Upper bounds of ε at δ = {self.delta:.3g}, rounded up"),
            *([Note(_LARGE)] if self.delta * self.n >= 1 else []),
        ]

    def numbers(self) -> dict[str, object]:
        names = ("local", "epsilon", "delta", "n", "honest", "blanket", "clones", "closed_form")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return (
            f"<Shuffled: ε = {self.local:.4g} alone, ({_four_digits(self.epsilon)}, {self.delta:.3g}) among {self.n:,}>"
        )


def _four_digits(value: float | None) -> str:
    """A bound in four digits, rounded up."""
    if value is None:
        return "–"
    return f"{float(_FOUR_DIGITS.create_decimal_from_float(value)):.4g}"


Atom = tuple[Fraction, Fraction]
"""A value, and its chance."""

_LOST = 1e-40  # mass that a window leaves out at each of its ends
_TINY = 1e-300  # more than all that underflow can take from a cell
_UNIT = 2.0**-52  # twice the unit roundoff


def mean_positive_part(atoms: Sequence[Atom], n: int, *, cells: int) -> float:
    """An upper bound of E[(X_1 + … + X_n)₊], where X is 0 unless it takes one of these values.

    Parameters
    ----------
    atoms : sequence of (value, chance)
        Chances sum to 1 at most.
    n : int
    cells : int
        How many points of the grid a sum may take; more of them give a smaller bound.

    Examples
    --------
    The mean of n fair coins of ±1 is 0, and that of its positive part is half the mean distance from 0.

    >>> fair = [(Fraction(1), Fraction(1, 2)), (Fraction(-1), Fraction(1, 2))]
    >>> [round(mean_positive_part(fair, n, cells=256), 4) for n in (1, 2, 4)]
    [0.5, 0.5, 0.75]
    """
    if max(atom_point for atom_point, _ in atoms) <= 0:
        return 0.0
    single_sum = total_sum = _Sum.of(atoms, cells)
    for bit in bin(n)[3:]:
        total_sum = total_sum.plus(total_sum, cells)
        if bit == "1":
            total_sum = total_sum.plus(single_sum, cells)
    return total_sum.positive()


def rounded_up(value: float) -> float:
    """The value, larger by more than the few roundings that made it."""
    return value * (1 + 16 * _UNIT)


@dataclass(frozen=True)
class _Sum:
    """An upper bound of a measure on the multiples of `step`: cell i is at (first + i) step.

    `step` is a power of two, so that the values of the cells are exact; `above` is the mass beyond the last cell, and
    `most` is the largest value that it can have.
    """

    first: int
    step: float
    mass: Floats
    above: float
    most: float

    @classmethod
    def of(cls, atoms: Sequence[Atom], cells: int) -> _Sum:
        """One X, on a grid as fine as its range allows."""
        atom_points = [atom_point for atom_point, _ in atoms] + [Fraction(0)]
        atom_chances = [atom_chance for _, atom_chance in atoms]
        atom_chances.append(1 - sum(atom_chances, Fraction(0)))
        point_range = float(max(atom_points) - min(atom_points))
        grid_step = Fraction(2) ** int(np.ceil(np.log2(point_range / (cells // 2))))
        first_point = min(atom_points) // grid_step
        grid_mass = np.zeros(int(max(atom_points) // grid_step - first_point) + 2)
        for atom_point, atom_chance in zip(atom_points, atom_chances, strict=True):
            grid_point, step_remainder = divmod(atom_point, grid_step)
            upper_share = step_remainder / grid_step
            for cell_place, cell_share in (
                (grid_point - first_point, 1 - upper_share),
                (grid_point + 1 - first_point, upper_share),
            ):
                grid_mass[cell_place] = rounded_up(grid_mass[cell_place] + rounded_up(float(atom_chance * cell_share)))
        return cls(
            int(first_point), float(grid_step), grid_mass, 0.0, float((first_point + len(grid_mass)) * grid_step)
        )

    def plus(self, other_sum: _Sum, cells: int) -> _Sum:
        """The sum of two independent ones."""
        coarse_sum, fine_sum = (self, other_sum) if self.step >= other_sum.step else (other_sum, self)
        while fine_sum.step < coarse_sum.step:
            fine_sum = fine_sum._coarser()
        rounding_factor = 1 + (min(len(coarse_sum.mass), len(fine_sum.mass)) + 16) * _UNIT
        sum_mass = np.convolve(coarse_sum.mass, fine_sum.mass) * rounding_factor + _TINY
        mass_above = rounded_up(coarse_sum.above * fine_sum._total + fine_sum.above * coarse_sum._total)
        # sharing out to a coarser grid moves a value by less than its step
        largest_sum = rounded_up(coarse_sum.most + fine_sum.most) + coarse_sum.step
        joint_sum = _Sum(
            coarse_sum.first + fine_sum.first, coarse_sum.step, sum_mass, mass_above, largest_sum
        )._trimmed()
        while len(joint_sum.mass) > cells:
            joint_sum = joint_sum._coarser()
        return joint_sum

    @property
    def _total(self) -> float:
        return float(self.mass.sum()) * (1 + len(self.mass) * _UNIT) + self.above

    def _trimmed(self) -> _Sum:
        """Without the ends that hold next to nothing."""
        kept_start = int(np.searchsorted(np.cumsum(self.mass), _LOST))
        kept_stop = len(self.mass) - int(np.searchsorted(np.cumsum(self.mass[::-1]), _LOST))
        kept_mass, rounding_factor = self.mass[kept_start:kept_stop].copy(), 1 + len(self.mass) * _UNIT
        kept_mass[0] = rounded_up(kept_mass[0] + self.mass[:kept_start].sum() * rounding_factor)
        mass_above = rounded_up(self.above + self.mass[kept_stop:].sum() * rounding_factor)
        return replace(self, first=self.first + kept_start, mass=kept_mass, above=mass_above)

    def _coarser(self) -> _Sum:
        """The same on every second point; the others are halved between their neighbors."""
        odd_start, padded_mass = self.first % 2, self.mass
        # from an even point to an odd one
        padded_mass = np.pad(padded_mass, (odd_start, 2 - (len(padded_mass) + odd_start) % 2))
        half_masses = padded_mass[1::2] / 2
        coarse_mass = np.append(padded_mass[::2], 0.0)
        coarse_mass[:-1] += half_masses
        coarse_mass[1:] += half_masses
        return _Sum(
            (self.first - odd_start) // 2,
            2 * self.step,
            rounded_up(1.0) * coarse_mass,
            self.above,
            self.most + 2 * self.step,
        )

    def positive(self) -> float:
        """The mean of the positive part."""
        values = np.maximum((self.first + np.arange(len(self.mass))) * self.step, 0.0)
        return float((values @ self.mass) * (1 + (len(self.mass) + 16) * _UNIT) + rounded_up(self.above * self.most))
