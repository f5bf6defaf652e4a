"""Designs for numbers between two bounds under a finite ε: their mean, and their distribution.

All are windows (`naysay.design.window`): whole numbers only, two draws, and one unbiased number for each place. The
families here choose how many steps the grid has, and how wide the window is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Do, Protocol
from naysay.design.exact import LIMIT, as_fraction, odds_within
from naysay.design.window import Window, largest_variance, place_values, units_of
from naysay.designs.catalog import capped, family
from naysay.errors import DesignError

__all__ = ["number", "window"]

_GRIDS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 200, 1000)
_FINE = 255  # steps of a distribution: 256 points
_ROUNDED = 1_000  # units of the truth for each step, so that reading it adds nothing to the error
_STEPS = (
    "enter the number into the program on your own device; it draws lots that nobody else can see, and sends one place"
)


@family("Duchi, Jordan & Wainwright (2018); N. Wang et al. (2019); Li et al. (2020)")
def window(
    *, low: Any, high: Any, epsilon: Any, steps: int, width: int, decimals: int | None = None, clip: bool = False
) -> Window:
    """A number rounded by lot to a grid, answered by a place that probably lies in its window.

    Parameters
    ----------
    low, high : number
        The bounds, read as written.
    epsilon : float
        ε in nats, positive.
    steps : int
        K: the grid has K + 1 points. With ``steps=1, width=1`` it is the mechanism of Duchi, Jordan & Wainwright.
    width : int
        w, how many of the K + w places belong to the window of a point.
    decimals : int, optional
        The digits after the decimal point that are read of a truth; by default a thousandth of a step is told apart.
    clip : bool
        Move numbers outside the bounds to the nearest one; this biases the mean. By default they are errors.

    Raises
    ------
    DesignError
        Bounds that are not increasing numbers; ε that is not positive, too small to be drawn, or above 700.

    References
    ----------
    Duchi, Jordan & Wainwright (2018); N. Wang et al. (2019); Li et al. (2020), there with real numbers.

    Examples
    --------
    >>> survey = window(low=0, high=1, epsilon=1, steps=1000, width=607)  # the piecewise mechanism
    >>> (survey.variance([0.5, 1]) * 4).round(3)
    array([3.682, 5.223])
    """
    bounds = as_fraction(low, what="low"), as_fraction(high, what="high")
    if bounds[0] >= bounds[1]:
        raise DesignError(f"low must be less than high; got {low!r} and {high!r}")
    k, w = (_checks.whole(each, 1, 50_000, what=name) for each, name in ((steps, "steps"), (width, "width")))
    digits = _digits(bounds, k) if decimals is None else _checks.whole(decimals, 0, 30, what="decimals")
    below, above = units_of(bounds, digits)
    a, b = odds_within(epsilon, others=k, own=w)
    biased = ("numbers outside the bounds are moved to the nearest one, which biases the mean",) if clip else ()
    return Window.of(
        low=below,
        high=above,
        decimals=digits,
        steps=k,
        width=w,
        inside=a,
        outside=b,
        clip=clip,
        notes=(*capped(epsilon, a, b), *biased),
        protocol=Protocol(Do(_STEPS)),
    )


@family("the rule of Duchi, Jordan & Wainwright (2018), N. Wang et al. (2019) and Li et al. (2020)")
def number(
    *, low: Any, high: Any, epsilon: Any, aim: str = "mean", decimals: int | None = None, clip: bool = False
) -> Window:
    """The design for a number between two bounds at this ε; its note says why it was chosen.

    For a mean it is the window whose largest variance, over all numbers between the bounds, is the least; of those
    within a thousandth of it, the one with the fewest steps. Up to ε = 1.25 the window is as wide as the grid, so that
    a place says on which side of a threshold, drawn by lot, the number probably lies; then it grows narrower. From
    ε = 0.1 to 20 its largest variance is below that of the hybrid mechanism of N. Wang et al. For a distribution it is
    the square wave of Li et al. (2020) on 256 points.

    Keep the JSON of a design (`to_json`) with the answers: another version of naysay may choose another window for the
    same call.

    Parameters
    ----------
    low, high : number
        The bounds, read as written. Narrow bounds make the mean precise: its standard error grows with their distance.
    epsilon : float
        ε in nats, positive.
    aim : {"mean", "distribution"}
        What is to be estimated.
    decimals : int, optional
        The digits after the decimal point that are read of a truth; by default a thousandth of a step is told apart.
    clip : bool
        Move numbers outside the bounds to the nearest one; this biases the mean. By default they are errors.

    Raises
    ------
    DesignError
        Bounds that are not increasing numbers; ε that is not positive, too small to be drawn, or above 700; an unknown
        aim.

    Examples
    --------
    >>> [(number(low=0, high=1, epsilon=e).steps, number(low=0, high=1, epsilon=e).width) for e in (0.5, 2, 4)]
    [(8, 8), (8, 4), (24, 8)]
    >>> print(*number(low=-1, high=1, epsilon=2).notes)
    8 steps with a window of 4 were chosen for the mean: the variance of one answer is at most 0.9561 (in units of \
half the distance of the bounds, squared); with one step (Duchi et al.) 1.724, piecewise 1.228, hybrid 1.042
    """
    if aim not in ("mean", "distribution"):
        raise DesignError(f"aim must be 'mean' or 'distribution'; got {aim!r}")
    odds_within(epsilon, others=1)  # raises where it is no number, not positive, or above 700
    e = float(as_fraction(epsilon, what="epsilon"))
    if aim == "mean":
        steps, width, worst = _least_worst(e)
        most = Context(prec=4, rounding=ROUND_CEILING).create_decimal(worst)
        window_of = f"{steps} step{'s' * (steps > 1)} with a window of {width}"
        why = (
            f"{window_of} {'were' if steps > 1 else 'was'} chosen for the mean: the variance of one answer is at most "
            f"{most} (in units of half the distance of the bounds, squared); with {_others(e)}"
        )
    else:
        steps, width = _FINE, _square_wave(epsilon)
        why = (
            f"a window of {width} places on {steps + 1} points, the square wave, was chosen for the distribution: it "
            "keeps most of the information; its mean is unbiased, but a design for the mean has less variance"
        )
    found = window(low=low, high=high, epsilon=epsilon, steps=steps, width=width, decimals=decimals, clip=clip)
    return replace(found, name="", notes=(why, *found.notes))


@cache
def _least_worst(epsilon: float) -> tuple[int, int, float]:
    """Steps, width and largest variance (of numbers in [-1, 1]) of the window with the least largest variance."""
    odds, windows = math.exp(min(epsilon, 36)), []
    for steps in _GRIDS:
        widths = sorted({max(1, round(steps * share)) for share in np.geomspace(1 / steps, 1, 40)})
        for width in widths:
            values = place_values(steps, width, odds, 1.0)
            worst = largest_variance(values, steps, width, odds, 1.0) * (2 / steps) ** 2
            windows.append((worst, steps, width))
    least = min(windows)[0]
    # of those within a thousandth, the coarsest: it is the easiest to explain
    worst, steps, width = next(each for each in windows if each[0] <= least * 1.001)
    return steps, width, worst


def _others(epsilon: float) -> str:
    """The largest variances of the published mechanisms, on [-1, 1]."""
    half = math.expm1(min(epsilon, 600) / 2)
    duchi = 1 / math.tanh(epsilon / 2) ** 2
    truths = np.linspace(0, 1, 101)
    piecewise = truths**2 / half + (half + 4) / (3 * half**2)
    share = -math.expm1(-epsilon / 2) if epsilon > 0.61 else 0.0  # of the piecewise mechanism in the hybrid
    hybrid = share * piecewise + (1 - share) * (duchi - truths**2)
    return (
        f"one step (Duchi et al.) {duchi:.4g}, piecewise {piecewise.max():.4g}, hybrid "
        f"{duchi if not share else hybrid.max():.4g}"
    )


def _square_wave(epsilon: Any) -> int:
    """W = 2βK with Li et al.'s β = (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), at least 1."""
    with localcontext() as context:
        context.prec = 60  # for small ε both terms vanish in second order
        exact = as_fraction(epsilon)
        e = Decimal(exact.numerator) / Decimal(exact.denominator)
        odds = e.exp()
        doubled = (e * odds - odds + 1) / (odds * (odds - 1 - e))
    return max(1, round(float(doubled) * _FINE))


def _digits(bounds: tuple[Fraction, Fraction], steps: int) -> int:
    """The fewest decimals with which the bounds are whole units, and each step has a thousand of them."""
    for digits in range(31):
        unit = Fraction(1, 10**digits)
        span = (bounds[1] - bounds[0]) / unit
        if all((bound / unit).denominator == 1 for bound in bounds) and span >= _ROUNDED * steps:
            if span * steps > LIMIT:
                break
            return digits
    raise DesignError(f"low and high must be decimal numbers with few digits; got {bounds[0]} and {bounds[1]}")
