"""Window designs: a number, rounded by lot to a grid, is answered by a place that probably lies in its window.

A truth x in [low, high] becomes one of the points 0 … K of an even grid: the one below it or the one above, by lot, so
that the mean of the point is x exactly. Point i is answered by one of the places 0 … K + w - 1; the w places i … i + w
- 1 of its window have weight a, the K others weight b, and ε = ln(a / b). The mean of the place is linear in i, and so
in x: one line turns places into unbiased numbers. Where w > 1 there are more places than points, and the line is one of
many unbiased readings; a window of few places has the one with less variance, see `place_values`.

With K = w = 1 it is Warner's design after rounding to the two ends (Duchi, Jordan & Wainwright 2018); with many points
and w near K e^(-ε/2) it has the variance of the piecewise mechanism (N. Wang et al. 2019); with w = 2βK it is the
square wave (Li et al. 2020). All of it is whole numbers: no low bits of a float can tell the truth (Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._counts import Channel
from naysay._values import Array, Floats
from naysay.design.base import Design, Structure, Truth
from naysay.design.drawing import LIMIT, Source, flag, integer, system
from naysay.errors import AnswerError, DesignError
from naysay.responses import Codes, Labels, cells_of

_MOST_PLACES = 100_000  # responses and grid points; more tell nothing that these do not


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Window(Design):
    """A number between two bounds, rounded by lot to a grid of `steps` steps, in a window of `width` places.

    Its categories are the points of the grid. The truth is a decimal number: the device reads it in whole units of
    10^-decimals, so that it needs no floating point.

    Parameters
    ----------
    low, high : int
        The bounds, in units of 10^-decimals.
    decimals : int
        The digits after the decimal point that are read; a number with more is rounded to the nearest unit.
    steps, width : int
        K and w.
    inside, outside : int
        a and b, with a w + b K at most 2**53.
    clip : bool
        Whether a number outside the bounds is moved to the nearest one; otherwise it is an error on the device.

    Examples
    --------
    >>> design = Window.of(low=0, high=100, decimals=1, steps=4, width=2, inside=3, outside=1)
    >>> design.categories, design.space.size
    ((0, 2.5, 5, 7.5, 10), 6)
    >>> design.matrix[:, 1]
    array([0.1, 0.3, 0.3, 0.1, 0.1, 0.1])
    """

    low: int
    high: int
    decimals: int
    steps: int
    width: int
    inside: int
    outside: int
    clip: bool = False
    space: Labels
    kind: ClassVar[str] = "window"
    _written: ClassVar[tuple[str, ...]] = ("name", "notes")
    rule: ClassVar[str] = (
        "The truth is a decimal number. Round it to `decimals` digits after the point, halves away from zero; let z be "
        "that number times 10^decimals; if z < low or z > high, refuse, or if clip is true take the nearest of the "
        "two. With K = steps, w = width, a = inside and b = outside: let i be the whole part and r the remainder of "
        "(z - low)*K / (high - low). Draw v below high - low; if v < r, add 1 to i. Then draw u below a*w + b*K. If "
        "u < a*w, the response is i + floor(u/a); otherwise let o = floor((u - a*w)/b), and the response is o if o < i "
        "and o + w otherwise."
    )

    def __post_init__(self) -> None:
        whole_numbers = (self.low, self.high, self.decimals, self.steps, self.width, self.inside, self.outside)
        low, high, decimals, steps, width, a, b = map(integer, whole_numbers)
        flag(self.clip)
        if not (low < high and 0 <= decimals <= 30 and (high - low) * steps <= LIMIT and max(-low, high) <= LIMIT):
            raise DesignError(
                f"low must lie below high, and (high - low) * steps units at most at 2**53; got {low} to {high} with "
                f"{steps} steps"
            )
        if not (steps >= 1 and width >= 1 and steps + width <= _MOST_PLACES):
            raise DesignError(
                f"steps and width must be at least 1, together at most {_MOST_PLACES:,}; got {steps} and {width}"
            )
        if not (0 < b < a and self.whole <= LIMIT):
            raise DesignError(f"odds must be whole numbers a > b > 0, a*width + b*steps at most 2**53; got {a} and {b}")

    @classmethod
    def of(cls, *, low: int, high: int, decimals: int, steps: int, width: int, **fields: Any) -> Self:
        are_whole = all(isinstance(parameter, int) for parameter in (low, high, decimals, steps, width))
        if not (
            are_whole and low < high and 0 < steps <= _MOST_PLACES and 0 < width <= _MOST_PLACES and 0 <= decimals <= 30
        ):
            raise DesignError(
                "a window needs low < high, decimals from 0 to 30, and steps and width from 1; got "
                f"{low}, {high}, {decimals}, {steps}, {width}"
            )
        grid_points = tuple(_plain(low + Fraction(i * (high - low), steps), decimals) for i in range(steps + 1))
        number_fields: dict[str, Any] = {"low": low, "high": high, "decimals": decimals, "steps": steps, "width": width}
        return cls(categories=grid_points, space=Labels(tuple(range(steps + width))), **number_fields, **fields)

    @property
    def whole(self) -> int:
        """D = a w + b K, the denominator of the chances."""
        return self.inside * self.width + self.outside * self.steps

    @cached_property
    def structure(self) -> Structure:
        return Structure(self, all_possible=True, odds=(self.inside, self.outside), estimates="mean")

    def integers(self, codes: Codes) -> Array:
        ahead = codes - np.arange(self.steps + 1)
        return np.where((ahead >= 0) & (ahead < self.width), self.inside, self.outside)

    def rows(self, codes: Codes) -> Floats:
        return np.asarray(self.integers(codes) / self.whole)

    def _positions(self, truth: object, source: Source = system) -> Truth:
        """The grid point of each number (n,), by lot the one below it or the one above; -1 where it is missing."""
        number_units = self._units(truth)
        is_known, bound_distance = number_units != _MISSING, self.high - self.low
        grid_point, remainder = np.divmod(np.where(is_known, number_units - self.low, 0) * self.steps, bound_distance)
        grid_point += source.below(bound_distance, len(number_units)) < remainder
        return np.where(is_known, grid_point, -1)

    def _units(self, truth: object) -> NDArray[np.int64]:
        """Each number in units of 10^-decimals (n,), checked against the bounds."""
        if isinstance(truth, np.ndarray) and truth.ndim == 1 and truth.dtype.kind in "iuf":
            scaled_numbers = truth * 10.0**self.decimals
            number_units = np.copysign(np.floor(np.abs(scaled_numbers) + 0.5), scaled_numbers)
            number_units = np.where(
                np.isnan(number_units), _MISSING, np.clip(number_units, -float(2**62), float(2**62))
            ).astype(np.int64)
            number_cells: Any = truth
        else:
            number_cells = list(cells_of(truth))
            number_units = np.array(
                [
                    self._unit(number_cell, row_number, len(number_cells))
                    for row_number, number_cell in enumerate(number_cells)
                ],
                dtype=np.int64,
            )
        is_outside = ((number_units < self.low) | (number_units > self.high)) & (number_units != _MISSING)
        if is_outside.any() and not self.clip:
            row_number = int(is_outside.argmax())
            bounds_text = f"from {self.categories[0]} to {self.categories[-1]}"
            problem = (
                f"is {str(number_cells[row_number])[:40]}; it must lie {bounds_text} "
                "(clip=True moves it there, which biases the mean)"
            )
            raise AnswerError(problem, row=row_number, total=len(number_cells), value=number_cells[row_number])
        return np.where(is_outside, np.clip(number_units, self.low, self.high), number_units)

    def _unit(self, cell: object, row: int, total: int) -> int:
        if _checks.is_missing(cell):
            return _MISSING
        try:
            if isinstance(cell, bool):
                raise ValueError
            exact_number = (
                Decimal(cell.numerator) / cell.denominator if isinstance(cell, Fraction) else Decimal(str(cell))
            )
            if not exact_number.is_finite():
                raise ValueError
        except (ValueError, InvalidOperation):
            problem = f"is {str(cell)[:40]!r}; it must be a number, such as 12.5"
            raise AnswerError(problem, row=row, total=total, value=cell) from None
        if exact_number.adjusted() + self.decimals > 18:  # outside any bounds; its digits need not be written out
            return -(2**62) if exact_number < 0 else 2**62
        return int(exact_number.scaleb(self.decimals).to_integral_value(ROUND_HALF_UP))

    def draw(self, truth: Truth, source: Source) -> Codes:
        draws, a, w = source.below(self.whole, len(truth)), self.inside, self.width
        other_places = (draws - a * w) // self.outside
        other_places += np.where(other_places >= truth, w, 0)
        return np.where(draws < a * w, truth + draws // a, other_places).reshape(-1, 1)

    @cached_property
    def values(self) -> Floats:
        """What each place stands for (places,): its unbiased number, in steps from the middle of the bounds."""
        return _checks.read_only(place_values(self.steps, self.width, self.inside, self.outside))

    @property
    def step(self) -> float:
        """The distance of two grid points."""
        return float(Fraction(self.high - self.low, self.steps * 10**self.decimals))

    def numbers(self, codes: Codes, power: int = 1) -> Floats:
        """Numbers with the mean x of the truth, or with `power` 2 with the mean of its rounded value's square, (n,)."""
        response_place, low_bound = codes[:, 0].astype(float), float(Fraction(self.low, 10**self.decimals))
        unbiased_point = self.steps / 2 + self.values[codes[:, 0]]
        if power == 1:
            return np.asarray(low_bound + self.step * unbiased_point)
        w, share = self.width, (self.inside - self.outside) / self.whole
        all_squares = self.outside / self.whole * float((np.arange(self.steps + w, dtype=float) ** 2).sum())
        window_squares = share * float((np.arange(w, dtype=float) ** 2).sum())
        # E[place² | i] = all_squares + window_squares + share (w i² + w (w - 1) i), solved for i² with the unbiased i
        unbiased_square = (response_place**2 - all_squares - window_squares) / (share * w) - (w - 1) * unbiased_point
        return np.asarray(low_bound**2 + 2 * low_bound * self.step * unbiased_point + self.step**2 * unbiased_square)

    def variance(self, truth: object) -> Floats:
        """The variance of one response's unbiased number for each of these truths, (n,), rounding included.

        Examples
        --------
        >>> duchi = Window.of(low=-1, high=1, decimals=0, steps=1, width=1, inside=3, outside=1)
        >>> duchi.variance([-1, 0, 1])
        array([3., 4., 3.])
        """
        low_bound = float(Fraction(self.low, 10**self.decimals))
        grid_place = np.clip((np.asarray(truth, dtype=float) - low_bound) / self.step, 0, self.steps)
        second_moments = _squares(self.values, self.steps, self.width, self.inside, self.outside)
        lower_point = np.minimum(np.floor(grid_place), self.steps - 1).astype(np.int64)
        rest = grid_place - lower_point
        variance_in_steps = (
            (1 - rest) * second_moments[lower_point]
            + rest * second_moments[lower_point + 1]
            - (grid_place - self.steps / 2) ** 2
        )
        return np.asarray(self.step**2 * variance_in_steps)


_MISSING = -(2**63)
_FEW = 64  # places up to which a reading with less variance than the line is looked for
_ENDS = (0.5, 1.0, 2.0, 4.0)


def place_values(steps: int, width: int, inside: float, outside: float) -> Floats:
    """What each place of a window stands for, in steps from the middle (places,), so that E[value | x] = x.

    Of the line and the readings that have the least mean variance where every point of the grid has the same share of
    people, and each end `_ENDS` times it, this is the one whose largest variance is the least. A window of one place
    has no reading but the line; one of more than `_FEW` places has the line, too.
    """
    stretch = (inside * width + outside * steps) / (inside - outside)
    linear_values: Floats = (np.arange(steps + width, dtype=np.float64) - (steps + width - 1) / 2) * (stretch / width)
    if width == 1 or steps + width > _FEW:
        return linear_values
    steps_ahead = np.arange(steps + width)[:, None] - np.arange(steps + 1)
    window_holds = ((steps_ahead >= 0) & (steps_ahead < width)).astype(float)
    best_values, least_variance = linear_values, largest_variance(linear_values, steps, width, inside, outside)
    for end_weight in _ENDS:
        point_shares = np.ones(steps + 1)
        point_shares[[0, -1]] = end_weight
        likely = outside * point_shares.sum() + (inside - outside) * (window_holds @ point_shares)
        # The least Σ likely value² with Σ of the values in each window as it must be. By symmetry all values sum to 0.
        weighed_windows = window_holds / likely[:, None]
        place_numbers = weighed_windows @ np.linalg.solve(
            window_holds.T @ weighed_windows, (np.arange(steps + 1) - steps / 2) * stretch
        )
        place_numbers = (place_numbers - place_numbers[::-1]) / 2
        worst_variance = largest_variance(place_numbers, steps, width, inside, outside)
        if worst_variance < least_variance * (1 - 1e-9):  # a tie is decided alike on every processor
            best_values, least_variance = place_numbers, worst_variance
    return best_values


def largest_variance(values: Floats, steps: int, width: int, inside: float, outside: float) -> float:
    """The largest variance of these values, in steps, over all numbers between the bounds, rounding included."""
    second_moments, point = _squares(values, steps, width, inside, outside), np.arange(steps) - steps / 2
    rise = np.diff(second_moments)
    rest = np.clip(rise / 2 - point, 0, 1)  # between two points, E[value²] is linear and x² is not
    return float((second_moments[:-1] + rest * rise - (point + rest) ** 2).max())


def _squares(values: Floats, steps: int, width: int, inside: float, outside: float) -> Floats:
    """E[value²] at each point of the grid, (K + 1,)."""
    sums = np.concatenate([[0.0], np.cumsum(values**2)])
    window_sums = sums[width:] - sums[: steps + 1]
    return np.asarray((outside * sums[-1] + (inside - outside) * window_sums) / (inside * width + outside * steps))


def _plain(value: Fraction, decimals: int) -> int | float:
    """Units of 10^-decimals as a whole number, or else as a float."""
    exact = value / 10**decimals
    return exact.numerator if exact.denominator == 1 else float(exact)


def units_of(bounds: Sequence[Fraction], decimals: int) -> tuple[int, ...]:
    """The bounds in units of 10^-decimals; raise if they are no whole ones."""
    scaled = [bound * 10**decimals for bound in bounds]
    if any(bound_in_units.denominator != 1 for bound_in_units in scaled):
        raise DesignError(f"low and high must have at most {decimals} decimals, as many as the numbers; give decimals=")
    return tuple(int(bound_in_units) for bound_in_units in scaled)


def numbers_of(design: Channel, codes: Codes, power: int = 1) -> Floats | None:
    """An unbiased number of each response's truth, or with `power` 2 of its square, (n,); None for categories."""
    return design.numbers(codes, power) if isinstance(design, Window) else None
