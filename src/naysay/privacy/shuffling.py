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

The privacy of a shuffled report, as it is told: first what holds without the shuffler.

A proven upper bound of E[(X_1 + … + X_n)₊] for independent, equally distributed X with few values.

Both bounds for shuffled reports are such a mean (`naysay.privacy.shuffling`). Sums are kept on a grid and doubled, as
in binary exponentiation. Each step can only enlarge the mean:

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
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.design.exact import as_fraction
from naysay.errors import DataError, DesignError
from naysay.privacy.statement import epsilon, log_ratio
from naysay.show import Column, Note, Sentence, Table, plain, text
from naysay.show.content import Content
from naysay.show.html import notebook

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
    if design.several:
        if not isinstance(n, Mapping) or set(n) != set(design.parts):
            raise DataError(f"give the reports of each {design.noun}: n={{{design.levels[0]!r}: 1000, …}}; got {n!r}")
        return {name: _shuffled(part, n[name], delta, colluding) for name, part in design.parts.items()}
    channel = design.channel()
    if isinstance(n, Mapping):
        return {group: _shuffled(channel, report_count, delta, colluding) for group, report_count in n.items()}
    if isinstance(n, Sequence) and not isinstance(n, str):
        return [_shuffled(channel, report_count, delta, colluding) for report_count in n]
    return _shuffled(channel, n, delta, colluding)


def _shuffled(design: Design, n: int, delta: float, colluding: float) -> Shuffled:
    n = _checks.whole_number(n, 1, 2**53, what="n")
    if not 0 < delta < 1:
        raise DataError(f"delta must lie between 0 and 1; got {delta!r} (a tenth of 1/n, or less)")
    if not 0 <= colluding < 1:
        raise DataError(f"colluding is a share of all senders, from 0 to below 1; got {colluding!r}")
    local = epsilon(design)
    if math.isinf(local):
        raise DesignError(
            f"{design.name or design.kind} has ε = ∞: an answer can prove something, and shuffling does not hide it"
        )
    honest = math.floor(n * (1 - as_fraction(colluding)))
    blanket = clones = closed_form = None
    if honest > 1 and 0 < local <= _LARGEST_LOCAL:
        clones, closed_form = _least_epsilon([_clones(local)], honest, delta, local), _closed_form(local, honest, delta)
        pairs = _blanket(design)
        blanket = _least_epsilon(pairs, honest, delta, local) if pairs else None
    return Shuffled(
        local=local, n=n, honest=honest, delta=delta, blanket=blanket, clones=clones, closed_form=closed_form
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
    odds = Fraction(math.exp(least_epsilon))
    return log_ratio(odds.numerator, odds.denominator) if least_epsilon < local else None


def _bisected_epsilon(
    pair: Pair, n: int, delta: float, between: tuple[float, float], *, cells: int, steps: int
) -> float:
    """An ε between two at which the pair does not exceed δ, if it does not at the upper one."""
    low, high = between
    for _ in range(steps):
        middle = (low + high) / 2
        if _holds(pair, n, delta, middle, cells):
            high = middle
        else:
            low = middle
    return high


def _holds(pair: Pair, n: int, delta: float, value: float, cells: int) -> bool:
    """Whether the pair is proven to be (ε, δ)-indistinguishable, with e^ε the floating-point number exp(value)."""
    odds = Fraction(math.exp(value))
    atoms = [(own_ratio - odds * other_ratio, chance) for (own_ratio, other_ratio), chance in pair.items()]
    return rounded_up(mean_positive_part(atoms, n, cells=cells) / n) <= delta


def _clones(local: float) -> Pair:
    """The worst pair of any ε₀: two responses, of which the truth picks one with odds of e^ε₀."""
    odds = Fraction(Decimal(local).exp(_UPWARD))
    larger_ratio, smaller_ratio = 2 * odds * odds / (odds + 1), 2 * odds / (odds + 1)
    return {(larger_ratio, smaller_ratio): 1 / (2 * odds), (smaller_ratio, larger_ratio): 1 / (2 * odds)}


def _blanket(design: Design) -> list[Pair]:
    """The pairs of categories that must be told apart, by their privacy blanket; empty where it is not known."""
    if design.chances_named is not None:
        return [_support_blanket(design, *design.chances_named)]
    t = len(design.categories)
    if not design.tabular or t * t * design.space.size > _MOST_PAIRED:
        return []
    return _table_blankets(design)


def _support_blanket(design: Design, p: Fraction, q: Fraction) -> Pair:
    """The blanket of a design whose responses speak for a category with chance p* if it is true, and q* if not.

    P(y | j) = c(y) a where the support of y holds j, and c(y) b elsewhere. The blanket takes c(y) min(a, b). Under it a
    response speaks for a category with chance h, and for two given ones with chance h₂. Both follow from p* and q*. In
    `Unary` the set of all categories has a larger least chance; taking less is a blanket, too.
    """
    a, b = design.odds or (p.numerator * q.denominator, q.numerator * p.denominator)
    least_weight = Fraction(min(a, b))
    h = p * b / (a - p * (a - b))
    gamma = least_weight / (h * a + (1 - h) * b)
    chance_of_both = (q * least_weight / gamma - h * b) / (a - b)
    inside, outside = a / least_weight, b / least_weight
    pair = {
        (inside, outside): gamma * (h - chance_of_both),
        (outside, inside): gamma * (h - chance_of_both),
        (inside, inside): gamma * chance_of_both,
        (outside, outside): gamma * (1 - 2 * h + chance_of_both),
    }
    return {values: chance for values, chance in pair.items() if chance > 0}


def _table_blankets(design: Any) -> list[Pair]:
    """The blankets of all ordered pairs of categories, each kind of pair once."""
    rows = [row for row in design.weights.tolist() if any(row)]
    distinct_blankets = set()
    for x, other_place in permutations(range(len(design.categories)), 2):
        pair: dict[tuple[Fraction, Fraction], Fraction] = {}
        for row in rows:
            least_weight = min(row)
            values = Fraction(row[x], least_weight), Fraction(row[other_place], least_weight)
            pair[values] = pair.get(values, Fraction(0)) + Fraction(least_weight, design.denominator)
        distinct_blankets.add(frozenset(pair.items()))
    return [dict(blanket) for blanket in distinct_blankets]


def _closed_form(local: float, n: int, delta: float) -> float | None:
    """Theorem 3.1 of Feldman, McMillan & Talwar (2021), rounded up; None where its condition on ε₀ fails."""
    share, reports = Decimal(delta), Decimal(n)
    bound = (reports / (16 * (2 / share).ln(_UPWARD))).ln(_DOWNWARD) if reports > 16 * (2 / share).ln() else Decimal(0)
    if Decimal(local) > bound:
        return None
    e = Decimal(local).exp(_UPWARD)
    root = _UPWARD.sqrt(e * (4 / share).ln(_UPWARD) / reports)
    value = (1 + (e - 1) / (e + 1) * (8 * root + 8 * e / reports)).ln(_UPWARD)
    return rounded_up(float(value))


_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)
_LARGE = "δ is 1/n or more: even a collector who publishes one person's truth in full would keep such a promise"


@dataclass(frozen=True, repr=False)
class Shuffled:
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

    @property
    def amplified(self) -> bool:
        """Whether shuffling is proven to add anything."""
        return self.epsilon < self.local

    def sections(self) -> list[Content]:
        """The promise in the vocabulary of `naysay.show`."""
        honest_text = "" if self.honest == self.n else f", {self.honest:,} of them from people who do not collude"
        if not self.amplified:
            return [
                Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
                Note(
                    f"shuffling {self.n:,} reports{honest_text} is not proven to add anything at δ = {self.delta:.3g}"
                ),
            ]
        rows = (
            ("this design, used by everybody", "privacy blanket", _four_digits(self.blanket)),
            ("any design with this ε", "clones", _four_digits(self.clones)),
            ("any design with this ε", "clones, closed form", _four_digits(self.closed_form)),
        )
        columns = (Column("holds for", words=True), Column("bound", words=True), Column("ε"))
        return [
            Sentence(f"ε = {self.local:.4g} for each report, whoever sees it"),
            Sentence(
                f"(ε, δ) = ({_four_digits(self.epsilon)}, {self.delta:.3g}) if the shuffler is honest and {self.n:,} "
                f"reports arrive{honest_text}"
            ),
            Table(columns, rows, caption=f"Upper bounds of ε at δ = {self.delta:.3g}, rounded up"),
            *([Note(_LARGE)] if self.delta * self.n >= 1 else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The promise as one JSON object."""
        names = ("local", "epsilon", "delta", "n", "honest", "blanket", "clones", "closed_form")
        json_fields: dict[str, Any] = plain({name: getattr(self, name) for name in names})
        return json_fields

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return (
            f"<Shuffled: ε = {self.local:.4g} alone, ({_four_digits(self.epsilon)}, {self.delta:.3g}) among {self.n:,}>"
        )


def _four_digits(value: float | None) -> str:
    """A bound in four digits, rounded up."""
    if value is None:
        return "–"
    return f"{float(_FOUR_DIGITS.create_decimal_from_float(value)):.4g}"


Floats = NDArray[np.float64]
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
    if max(value for value, _ in atoms) <= 0:
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
        values = [value for value, _ in atoms] + [Fraction(0)]
        chances = [chance for _, chance in atoms]
        chances.append(1 - sum(chances, Fraction(0)))
        spread = float(max(values) - min(values))
        step = Fraction(2) ** int(np.ceil(np.log2(spread / (cells // 2))))
        first = min(values) // step
        mass = np.zeros(int(max(values) // step - first) + 2)
        for value, chance in zip(values, chances, strict=True):
            place, over = divmod(value, step)
            share = over / step
            for cell, part in ((place - first, 1 - share), (place + 1 - first, share)):
                mass[cell] = rounded_up(mass[cell] + rounded_up(float(chance * part)))
        return cls(int(first), float(step), mass, 0.0, float((first + len(mass)) * step))

    def plus(self, other_sum: _Sum, cells: int) -> _Sum:
        """The sum of two independent ones."""
        coarse_sum, fine_sum = (self, other_sum) if self.step >= other_sum.step else (other_sum, self)
        while fine_sum.step < coarse_sum.step:
            fine_sum = fine_sum._coarser()
        scale = 1 + (min(len(coarse_sum.mass), len(fine_sum.mass)) + 16) * _UNIT
        mass = np.convolve(coarse_sum.mass, fine_sum.mass) * scale + _TINY
        above = rounded_up(coarse_sum.above * fine_sum._total + fine_sum.above * coarse_sum._total)
        most = (
            rounded_up(coarse_sum.most + fine_sum.most) + coarse_sum.step
        )  # sharing out to a coarser grid moves a value by less than its step
        result = _Sum(coarse_sum.first + fine_sum.first, coarse_sum.step, mass, above, most)._trimmed()
        while len(result.mass) > cells:
            result = result._coarser()
        return result

    @property
    def _total(self) -> float:
        return float(self.mass.sum()) * (1 + len(self.mass) * _UNIT) + self.above

    def _trimmed(self) -> _Sum:
        """Without the ends that hold next to nothing."""
        start = int(np.searchsorted(np.cumsum(self.mass), _LOST))
        stop = len(self.mass) - int(np.searchsorted(np.cumsum(self.mass[::-1]), _LOST))
        mass, scale = self.mass[start:stop].copy(), 1 + len(self.mass) * _UNIT
        mass[0] = rounded_up(mass[0] + self.mass[:start].sum() * scale)
        above = rounded_up(self.above + self.mass[stop:].sum() * scale)
        return replace(self, first=self.first + start, mass=mass, above=above)

    def _coarser(self) -> _Sum:
        """The same on every second point; the others are halved between their neighbors."""
        odd, mass = self.first % 2, self.mass
        mass = np.pad(mass, (odd, 2 - (len(mass) + odd) % 2))  # from an even point to an odd one
        halves = mass[1::2] / 2
        coarse_mass = np.append(mass[::2], 0.0)
        coarse_mass[:-1] += halves
        coarse_mass[1:] += halves
        return _Sum(
            (self.first - odd) // 2, 2 * self.step, rounded_up(1.0) * coarse_mass, self.above, self.most + 2 * self.step
        )

    def positive(self) -> float:
        """The mean of the positive part."""
        values = np.maximum((self.first + np.arange(len(self.mass))) * self.step, 0.0)
        return float((values @ self.mass) * (1 + (len(self.mass) + 16) * _UNIT) + rounded_up(self.above * self.most))
