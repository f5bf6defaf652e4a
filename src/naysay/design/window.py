"""Window designs: a number, rounded by lot to a grid, is answered by a place that probably lies in its window.

A truth x in [low, high] becomes one of the points 0 … K of an even grid: the one below it or the one above, by lot, so
that the mean of the point is x exactly. Point i is answered by one of the places 0 … K + w - 1; the w places i … i + w
- 1 of its window have weight a, the K others weight b, and ε = ln(a / b). The mean of the place is linear in i, and so
in x: one line turns places into unbiased numbers. Where w > 1 there are more places than points, and the line is one of
many unbiased readings; a window of few places has the one with less variance, see `place_values`.

With K = w = 1 it is Warner's design after rounding to the two ends (Duchi, Jordan & Wainwright 2018); with many points
and w near K e^(-ε/2) it has the variance of the piecewise mechanism (N. Wang et al. 2019); with w = 2βK it is the
square wave (Li et al. 2020). All of it is whole numbers: no low bits of a float can tell the truth (Mironov 2012).

Hierarchies over ordered categories: each person reports the group of the one level that lot gave them.

With B groups in each group, level l of h cuts the t categories into groups of B^(h - l); the last level has the
categories themselves. A range of categories is a few groups of each level, so that its share adds few noisy numbers.
Each person spends the whole ε on one level; to split ε among levels would cost far more (Cormode, Kulkarni &
Srivastava 2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, check_channel, told_of
from naysay.design.chances import Truth
from naysay.design.drawing import Source, system
from naysay.design.exact import LIMIT, flag, integer
from naysay.design.pure import bits, domain_form, domain_of
from naysay.design.several import Several
from naysay.errors import AnswerError, DesignError
from naysay.responses import Codes, Labels, Responses, cells_of

Floats = NDArray[np.float64]

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
    written: ClassVar[tuple[str, ...]] = ("name", "notes")
    estimates: ClassVar[str] = "mean"
    rule: ClassVar[str] = (
        "The truth is a decimal number. Round it to `decimals` digits after the point, halves away from zero; let z be "
        "that number times 10^decimals; if z < low or z > high, refuse, or if clip is true take the nearest of the "
        "two. With K = steps, w = width, a = inside and b = outside: let i be the whole part and r the remainder of "
        "(z - low)*K / (high - low). Draw v below high - low; if v < r, add 1 to i. Then draw u below a*w + b*K. If "
        "u < a*w, the response is i + floor(u/a); otherwise let o = floor((u - a*w)/b), and the response is o if o < i "
        "and o + w otherwise."
    )

    def __post_init__(self) -> None:
        numbers = (self.low, self.high, self.decimals, self.steps, self.width, self.inside, self.outside)
        low, high, decimals, steps, width, a, b = map(integer, numbers)
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
        points = tuple(_plain(low + Fraction(i * (high - low), steps), decimals) for i in range(steps + 1))
        numbers: dict[str, Any] = {"low": low, "high": high, "decimals": decimals, "steps": steps, "width": width}
        return cls(categories=points, space=Labels(tuple(range(steps + width))), **numbers, **fields)

    @property
    def odds(self) -> tuple[int, int]:
        return self.inside, self.outside

    @property
    def whole(self) -> int:
        """D = a w + b K, the denominator of the chances."""
        return self.inside * self.width + self.outside * self.steps

    def integers(self, codes: Codes) -> NDArray[Any]:
        ahead = codes - np.arange(self.steps + 1)
        return np.where((ahead >= 0) & (ahead < self.width), self.inside, self.outside)

    def rows(self, codes: Codes) -> Floats:
        return np.asarray(self.integers(codes) / self.whole)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(codes), dtype=bool)

    def positions(self, truth: Any, source: Source = system) -> Truth:
        """The grid point of each number (n,), by lot the one below it or the one above; -1 where it is missing."""
        units = self._units(truth)
        is_known, span = units != _MISSING, self.high - self.low
        point, remainder = np.divmod(np.where(is_known, units - self.low, 0) * self.steps, span)
        point += source.below(span, len(units)) < remainder
        return np.where(is_known, point, -1)

    def _units(self, truth: Any) -> NDArray[np.int64]:
        """Each number in units of 10^-decimals (n,), checked against the bounds."""
        if isinstance(truth, np.ndarray) and truth.ndim == 1 and truth.dtype.kind in "iuf":
            scaled = truth * 10.0**self.decimals
            units = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
            units = np.where(np.isnan(units), _MISSING, np.clip(units, -float(2**62), float(2**62))).astype(np.int64)
            cells: Any = truth
        else:
            cells = list(cells_of(truth))
            units = np.array([self._unit(cell, row, len(cells)) for row, cell in enumerate(cells)], dtype=np.int64)
        outside = ((units < self.low) | (units > self.high)) & (units != _MISSING)
        if outside.any() and not self.clip:
            row = int(outside.argmax())
            ends = f"from {self.categories[0]} to {self.categories[-1]}"
            problem = f"is {str(cells[row])[:40]}; it must lie {ends} (clip=True moves it there, which biases the mean)"
            raise AnswerError(problem, row=row, total=len(cells), value=cells[row])
        return np.where(outside, np.clip(units, self.low, self.high), units)

    def _unit(self, cell: Any, row: int, total: int) -> int:
        if _checks.is_missing(cell):
            return _MISSING
        try:
            if isinstance(cell, bool):
                raise ValueError
            exact = Decimal(cell.numerator) / cell.denominator if isinstance(cell, Fraction) else Decimal(str(cell))
            if not exact.is_finite():
                raise ValueError
        except (ValueError, InvalidOperation):
            problem = f"is {str(cell)[:40]!r}; it must be a number, such as 12.5"
            raise AnswerError(problem, row=row, total=total, value=cell) from None
        if exact.adjusted() + self.decimals > 18:  # outside any bounds; its digits need not be written out
            return -(2**62) if exact < 0 else 2**62
        return int(exact.scaleb(self.decimals).to_integral_value(ROUND_HALF_UP))

    def draw(self, truth: Truth, source: Source) -> Codes:
        draws, a, w = source.below(self.whole, len(truth)), self.inside, self.width
        other = (draws - a * w) // self.outside
        other += np.where(other >= truth, w, 0)
        return np.where(draws < a * w, truth + draws // a, other).reshape(-1, 1)

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
        place, low = codes[:, 0].astype(float), float(Fraction(self.low, 10**self.decimals))
        point = self.steps / 2 + self.values[codes[:, 0]]
        if power == 1:
            return np.asarray(low + self.step * point)
        w, share = self.width, (self.inside - self.outside) / self.whole
        all_squares = self.outside / self.whole * float((np.arange(self.steps + w, dtype=float) ** 2).sum())
        window_squares = share * float((np.arange(w, dtype=float) ** 2).sum())
        # E[place² | i] = every + own + share (w i² + w (w - 1) i), solved for i² with the unbiased i put in
        square = (place**2 - all_squares - window_squares) / (share * w) - (w - 1) * point
        return np.asarray(low**2 + 2 * low * self.step * point + self.step**2 * square)

    def variance(self, truth: Any) -> Floats:
        """The variance of one response's unbiased number for each of these truths, (n,), rounding included.

        Examples
        --------
        >>> duchi = Window.of(low=-1, high=1, decimals=0, steps=1, width=1, inside=3, outside=1)
        >>> duchi.variance([-1, 0, 1])
        array([3., 4., 3.])
        """
        low = float(Fraction(self.low, 10**self.decimals))
        place = np.clip((np.asarray(truth, dtype=float) - low) / self.step, 0, self.steps)
        second = _squares(self.values, self.steps, self.width, self.inside, self.outside)
        lower = np.minimum(np.floor(place), self.steps - 1).astype(np.int64)
        rest = place - lower
        spread = (1 - rest) * second[lower] + rest * second[lower + 1] - (place - self.steps / 2) ** 2
        return np.asarray(self.step**2 * spread)

    def told_bits(self, prior: Floats) -> float:
        """The information: each place speaks for the points whose window holds it."""
        return bits(self._spoken(prior), np.full(self.space.size, 1 / self.whole), self.inside, self.outside)

    def _spoken(self, prior: Floats) -> Floats:
        """The share of people in whose window each place lies, (places,)."""
        sums = np.concatenate([[0.0], np.cumsum(prior)])
        place = np.arange(self.space.size)
        top, bottom = np.minimum(place, self.steps) + 1, np.maximum(place - self.width + 1, 0)
        return np.asarray(np.maximum(sums[top] - sums[bottom], 0.0))

    def guessed(self, prior: Floats) -> float:
        """Σ_o max(a max of the points that o speaks for, b max of all): a sliding maximum."""
        padded = np.concatenate([prior, np.zeros(self.width - 1)])
        most = scipy.ndimage.maximum_filter1d(
            padded, self.width, mode="constant", cval=0.0, origin=(self.width - 1) // 2
        )
        return float(np.maximum(self.inside * most, self.outside * prior.max()).sum() / self.whole)


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
    line: Floats = (np.arange(steps + width, dtype=np.float64) - (steps + width - 1) / 2) * (stretch / width)
    if width == 1 or steps + width > _FEW:
        return line
    ahead = np.arange(steps + width)[:, None] - np.arange(steps + 1)
    holds = ((ahead >= 0) & (ahead < width)).astype(float)
    best, least = line, largest_variance(line, steps, width, inside, outside)
    for ends in _ENDS:
        share = np.ones(steps + 1)
        share[[0, -1]] = ends
        likely = outside * share.sum() + (inside - outside) * (holds @ share)
        # The least Σ likely value² with Σ of the values in each window as it must be. By symmetry all values sum to 0.
        weighed = holds / likely[:, None]
        values = weighed @ np.linalg.solve(holds.T @ weighed, (np.arange(steps + 1) - steps / 2) * stretch)
        values = (values - values[::-1]) / 2
        worst = largest_variance(values, steps, width, inside, outside)
        if worst < least * (1 - 1e-9):  # a tie is decided alike on every processor
            best, least = values, worst
    return best


def largest_variance(values: Floats, steps: int, width: int, inside: float, outside: float) -> float:
    """The largest variance of these values, in steps, over all numbers between the bounds, rounding included."""
    second, point = _squares(values, steps, width, inside, outside), np.arange(steps) - steps / 2
    rise = np.diff(second)
    rest = np.clip(rise / 2 - point, 0, 1)  # between two points, E[value²] is linear and x² is not
    return float((second[:-1] + rest * rise - (point + rest) ** 2).max())


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Grouped(Design):
    """A design that is asked about groups of neighboring categories.

    Parameters
    ----------
    design : Design
        The design over the groups, which are numbered from 0.
    width : int
        How many categories a group holds; the last one may hold fewer.

    Examples
    --------
    >>> from naysay import designs
    >>> pairs = Grouped.of(("a", "b", "c", "d"), designs.direct((0, 1)), 2)
    >>> pairs.matrix.tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
    """

    design: Design
    width: int
    kind: ClassVar[str] = "grouped"
    rule: ClassVar[str] = "With truth x, numbered from 0, draw from design; its truth is the number floor(x / width)."

    @classmethod
    def of(cls, categories: Sequence[Any], design: Answerable, width: int, **fields: Any) -> Self:
        labels, groups = tuple(categories), check_channel(design, "the design over groups")
        if integer(width) < 1 or groups.categories != tuple(range(-(-len(labels) // width))):
            raise DesignError(
                f"{len(labels)} categories in groups of {width} need a design over the numbers of these groups; got "
                f"{_checks.listing_text(groups.categories)}"
            )
        return cls(categories=labels, space=groups.space, design=groups, width=width, **fields)

    def form(self) -> dict[str, Any]:
        return super().form() | {"categories": domain_form(self.categories)}

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        return super().of_form({**node, "categories": domain_of(node["categories"])})

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The number of each category's group, (t,)."""
        return np.arange(len(self.categories)) // self.width

    def rows(self, codes: Codes) -> Floats:
        return self.design.rows(codes)[:, self.places]

    def integers(self, codes: Codes) -> NDArray[Any] | None:
        group_integers = self.design.integers(codes)
        return None if group_integers is None else group_integers[:, self.places]

    def draw(self, truth: Truth, source: Source) -> Codes:
        return self.design.draw(truth // self.width, source)

    @cached_property
    def expected_statistic(self) -> Floats:
        return _checks.read_only(self.design.expected_statistic[:, self.places])

    @cached_property
    def even_mean(self) -> tuple[float, float] | None:
        return self.design.even_mean if self.width == 1 else None

    @property
    def odds(self) -> tuple[int, int] | None:
        return self.design.odds

    @property
    def typical_codes(self) -> Codes:
        return self.design.typical_codes

    @property
    def moments_only(self) -> str:
        return "one level of a hierarchy does not tell the categories of a group apart; use ranges"

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return self.design.impossible(codes)

    def diagnosed(self, part: Any) -> Any:
        return self.design.diagnosed(part)

    def told_bits(self, prior: Floats) -> float | None:
        """An answer tells of a category what it tells of its group."""
        shares = np.bincount(self.places, prior).astype(np.float64)
        if self.design.one_pattern and self.design.even_mean is not None:
            alpha, beta = self.design.even_mean
            row = self.design.rows(self.design.typical_codes[:1])[0]
            return float(row @ np.log2(row) - (chances := beta + alpha * shares) @ np.log2(chances))
        if (group_bits := self.design.told_bits(shares)) is not None or not self.space.listable:
            return group_bits
        rows = self.design.rows(self.space.listing())
        return float((rows * shares * np.log2(rows / (rows @ shares)[:, None])).sum())

    def guessed(self, prior: Floats) -> float:
        likeliest = np.maximum.reduceat(prior, np.arange(0, len(prior), self.width))
        return self.design.guessed(likeliest / likeliest.sum()) * float(likeliest.sum())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hierarchy(Several):
    """Ordered categories in groups of groups; lot gives each person the level that they report.

    Parameters
    ----------
    names : tuple of int
        The levels 1 … h; level h has the categories themselves.
    designs : tuple of Grouped
        The design of each level.
    fanout : int
        B, how many groups of the next level a group holds.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.hierarchy(100, epsilon=1, fanout=5)
    >>> {level: part.width for level, part in survey.parts.items()}
    {1: 25, 2: 5, 3: 1}
    """

    fanout: int
    kind: ClassVar[str] = "hierarchy"
    rule: ClassVar[str] = (
        "Draw v below the number of levels, and draw from the design of the v-th level, from 0. The report is the "
        "level and the response. Draw v afresh for each person, whatever their truth."
    )
    assigned_by: ClassVar[str] = "lot"
    estimates: ClassVar[str] = "ranges"
    noun = "level"
    unknown = "no level of this hierarchy"
    alike = "be about the same categories"
    needed = "answers of a hierarchy need `level`: the level that was drawn for each respondent"

    @classmethod
    def of(cls, levels: Mapping[Any, Answerable], fanout: int, *, name: str = "", notes: tuple[str, ...] = ()) -> Self:
        """The hierarchy of these levels, the coarsest first."""
        widths = [getattr(level_design, "width", 0) for level_design in levels.values()]
        expected = [integer(fanout) ** (len(levels) - 1 - place) for place in range(len(levels))]
        if fanout < 2 or widths != expected or tuple(levels) != tuple(range(1, len(levels) + 1)):
            raise DesignError(
                f"the levels of a hierarchy are 1, 2, …, each with groups {fanout} times as wide as the next; got "
                f"levels {_checks.listing_text(levels)} with groups of {_checks.listing_text(widths)}"
            )
        return cls._of_offer(levels, tuple(levels), fanout=fanout, name=name, notes=notes)

    def randomize(self, truth: Any, *, level: Any = None, rng: np.random.Generator | Source | None = None) -> Responses:
        """One response for each respondent at the level that lot gives them.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response.
        level : (n,) sequence of level, or one level, optional
            The level of each respondent, where lot was drawn before; it must not depend on the truth.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the level of each.
        """
        return self._randomize_by_name(truth, level, None, rng, what="chances")

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Hierarchy:
        description = told_of(node)
        return cls.of(cls._offer(node), node["fanout"], name=description["name"], notes=description["notes"])
