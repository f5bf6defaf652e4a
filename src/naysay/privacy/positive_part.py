"""A proven upper bound of E[(X_1 + … + X_n)₊] for independent, equally distributed X with few values.

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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["Atom", "mean_positive_part"]

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
    one = whole = _Sum.of(atoms, cells)
    for bit in bin(n)[3:]:
        whole = whole.plus(whole, cells)
        if bit == "1":
            whole = whole.plus(one, cells)
    return whole.positive()


def up(value: float) -> float:
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
                mass[cell] = up(mass[cell] + up(float(chance * part)))
        return cls(int(first), float(step), mass, 0.0, float((first + len(mass)) * step))

    def plus(self, other: _Sum, cells: int) -> _Sum:
        """The sum of two independent ones."""
        one, two = (self, other) if self.step >= other.step else (other, self)
        while two.step < one.step:
            two = two._coarser()
        scale = 1 + (min(len(one.mass), len(two.mass)) + 16) * _UNIT
        mass = np.convolve(one.mass, two.mass) * scale + _TINY
        above = up(one.above * two._total + two.above * one._total)
        most = up(one.most + two.most) + one.step  # sharing out to a coarser grid moves a value by less than its step
        result = _Sum(one.first + two.first, one.step, mass, above, most)._trimmed()
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
        mass[0] = up(mass[0] + self.mass[:start].sum() * scale)
        above = up(self.above + self.mass[stop:].sum() * scale)
        return replace(self, first=self.first + start, mass=mass, above=above)

    def _coarser(self) -> _Sum:
        """The same on every second point; the others are halved between their neighbors."""
        odd, mass = self.first % 2, self.mass
        mass = np.pad(mass, (odd, 2 - (len(mass) + odd) % 2))  # from an even point to an odd one
        halves = mass[1::2] / 2
        kept = np.append(mass[::2], 0.0)
        kept[:-1] += halves
        kept[1:] += halves
        return _Sum((self.first - odd) // 2, 2 * self.step, up(1.0) * kept, self.above, self.most + 2 * self.step)

    def positive(self) -> float:
        """The mean of the positive part."""
        values = np.maximum((self.first + np.arange(len(self.mass))) * self.step, 0.0)
        return float((values @ self.mass) * (1 + (len(self.mass) + 16) * _UNIT) + up(self.above * self.most))
