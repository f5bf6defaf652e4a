"""Families under a finite ε: frequencies of many categories, heavy hitters, numbers, hierarchies, remembered reports.

Those for frequencies are pure (`naysay.design.pure`): one estimator, one variance and one interval serve them all. What
a design costs is n Σ_v Var(π̂_v) = [p*(1 - p*) + (t - 1) q*(1 - q*)] / (p* - q*)², the variance that randomization adds,
summed over the categories. It is free of the proportions.

Those for numbers between two bounds are windows (`naysay.design.window`): whole numbers only, two draws, and one
unbiased number for each place. The families here choose how many steps the grid has, and how wide the window is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from naysay import _checks
from naysay._values import Exact, Label
from naysay.design import (
    AffineHash,
    Design,
    Do,
    Grouped,
    Hierarchy,
    Levels,
    Pattern,
    Prefixes,
    Protocol,
    Redraw,
    Remembered,
    SubsetSelection,
    Unary,
)
from naysay.design.drawing import LIMIT, as_fraction, odds_within, steepened
from naysay.design.lot import bits_in_steps
from naysay.design.pure import ByOdds
from naysay.design.window import Window, largest_variance, place_values, units_of
from naysay.designs.catalog import YES_NO, capped, chance, domain, family
from naysay.designs.randomized import k_ary
from naysay.errors import DesignError
from naysay.responses.affine import prime

_SMALL = 32  # up to so many categories subset selection, the best design, has responses that can be counted
_MOST_OPEN = 29  # with a larger base, reports of an open domain could exceed 2**53
_UNIT = 2**32
_LOST = 1e-3  # most of ε that rounding to 32 bits may take
_STEPS = "answer with the program on your own device; it draws lots that nobody else can see"


@family("Ye & Barg (2018); S. Wang et al. (2016)")
def subset_selection(
    categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact, size: int | None = None
) -> SubsetSelection:
    """Subset selection: a random set of categories, which holds the true one with odds of e^ε against each set without.

    No design with the same ε has a smaller variance. It is the noisy negative survey: the categories *outside* the
    set are what a negative survey would have discarded.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        A whole number t stands for the categories 0 to t - 1.
    epsilon : float
        ε in nats, positive.
    size : int, optional
        k, the size of the set; by default the one with the least variance, near t/(e^ε + 1).

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700; a size outside 1 to t - 1.

    References
    ----------
    Ye & Barg (2018); S. Wang et al. (2016).

    Examples
    --------
    >>> survey = subset_selection(128, epsilon=1)
    >>> survey.size, round(cost(survey), 1)
    (34, 463.1)
    """
    labels = domain(categories)
    t = len(labels)
    if size is None:
        with localcontext() as context:  # ⌊t/(e^ε + 1)⌋ or the next is the best size of a set
            context.prec = 60
            lower_size = int(t / (_exact(epsilon).exp() + 1))
        best_sizes = {min(max(set_size, 1), t - 1) for set_size in (lower_size, lower_size + 1)}
        return min((_subset(labels, epsilon, k) for k in best_sizes), key=cost)
    return _subset(labels, epsilon, _checks.whole_number(size, 1, t - 1, what="size"))


def _subset(labels: tuple[Label, ...], epsilon: Exact, size: int) -> SubsetSelection:
    a, b = odds_within(epsilon, others=len(labels) - size, own_copies=size)
    return SubsetSelection.of(labels, size, inside=a, outside=b, protocol=_protocol("set"), notes=capped(epsilon, a, b))


@family("T. Wang, Blocki, Li & Jha (2017)")
def affine(
    categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact, base: int | None = None, names: bool = False
) -> AffineHash:
    """Local hashing with every linear hash over a prime field: a report is one whole number, and a tally is counts.

    The hash puts the categories into g groups; the group of the true category is reported with odds of e^ε against
    each other group. It costs 1 to 6 % more variance than `subset_selection` at small ε, and its reports need only
    log₂ t + 2 bits or so.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        A whole number t stands for the categories 0 to t - 1. With `names`: the candidates that are estimated.
    epsilon : float
        ε in nats, positive.
    base : int, optional
        g, a prime; by default the one with the least variance, near e^ε + 1.
    names : bool
        Whether the domain is open: any text may be the truth. It is known by 48 bits of its SHA-256.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700; a base that is no prime.

    References
    ----------
    T. Wang, Blocki, Li & Jha (2017), there with a hash function and its seed.

    Examples
    --------
    >>> survey = affine(1024, epsilon=1)
    >>> survey.base, f"{survey.space.size:,} reports"
    (3, '3,279 reports')
    """
    labels = (
        _checks.categories(categories, least=1) if names and not isinstance(categories, int) else domain(categories)
    )
    if base is not None:
        return _affine(labels, epsilon, _checks.whole_number(base, 2, 2**20, what="base"), names=names)
    largest_base = _MOST_OPEN if names else 4_096
    prime_bases = [g for g in range(2, min(4 * int(_exact(epsilon).exp()) + 24, largest_base) + 1) if prime(g)]
    if names:  # one base for all lists of candidates: as for so many that each is rare
        return min((_affine(labels, epsilon, g, names=True) for g in prime_bases), key=_rare)
    enough_place = next(
        (prime_place for prime_place, g in enumerate(prime_bases) if g >= len(labels)), len(prime_bases) - 1
    )
    return min((_affine(labels, epsilon, g, names=False) for g in prime_bases[: enough_place + 1]), key=cost)


def _rare(design: Design) -> float:
    """The variance, times n, of the estimate for a category that nobody has."""
    alpha, q = design.structure.even_mean or (math.nan, math.nan)
    return q * (1 - q) / alpha**2


def _affine(labels: tuple[Label, ...], epsilon: Exact, base: int, *, names: bool) -> AffineHash:
    if not prime(base):
        raise DesignError(f"base must be a prime; got {base}")
    a, b = odds_within(epsilon, others=base - 1)
    design_fields: dict[str, Any] = {"protocol": _protocol("number"), "notes": capped(epsilon, a, b)}
    return AffineHash.of(labels, base, inside=a, outside=b, named=names, **design_fields)


@family("Acharya, Sun & Zhang (2019)")
def hadamard(categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact) -> AffineHash:
    """Hadamard response: `affine` with two groups. Never better than `affine`; here for comparison.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    epsilon : float
        ε in nats, positive.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700.

    Examples
    --------
    >>> round(cost(hadamard(128, epsilon=2)) / cost(subset_selection(128, epsilon=2)), 2)
    2.4
    """
    return _affine(domain(categories), epsilon, 2, names=False)


@family("T. Wang, Blocki, Li & Jha (2017); Erlingsson, Pihur & Korolova (2014)")
def unary(categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact, p: Exact = "1/2") -> Unary:
    """Unary encoding: one randomized bit for each category, for an aggregator that can only add bits.

    Other designs have a smaller variance at the same ε. One forged report can speak for all categories at once.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    epsilon : float
        ε in nats, positive.
    p : probability or "symmetric"
        The chance of the true category's bit. One half is best for many categories (optimized unary encoding);
        "symmetric" gives the two kinds of errors the same chance (basic RAPPOR).

    Raises
    ------
    DesignError
        ε that is not positive, or too small or too large for 32-bit chances; p outside (0, 1).

    References
    ----------
    T. Wang, Blocki, Li & Jha (2017); Erlingsson, Pihur & Korolova (2014).

    Examples
    --------
    >>> survey = unary(("a", "b", "c"), epsilon=1)
    >>> [round(float(each), 4) for each in survey.structure.named_chances]
    [0.5, 0.2689]
    """
    with localcontext() as context:
        context.prec = 60
        e = _exact(epsilon).exp()
        if p == "symmetric":
            odds_root = e.sqrt()
            own_weight = int(
                _UNIT * odds_root / (odds_root + 1)
            )  # rounded down, toward one half: ε can only become smaller
        else:
            own_weight = round(chance(p, name="p", inside=True) * _UNIT)
        own_chance = Decimal(own_weight) / _UNIT
        other_weight = int((_UNIT * own_chance / (own_chance + e * (1 - own_chance))).to_integral_value(ROUND_CEILING))
    unary_design = (
        Unary.of(domain(categories), own_weight, other_weight, protocol=_protocol("set"))
        if 0 < other_weight < own_weight < _UNIT
        else None
    )
    if (
        unary_design is None
        or math.log(unary_design.odds[0] / unary_design.odds[1]) < float(as_fraction(epsilon)) - _LOST
    ):
        raise DesignError(f"epsilon must suit chances of 32 bits, up to about 15; got {epsilon!r} (use frequency())")
    return unary_design


@family("the rule of Ye & Barg (2018) and T. Wang, Blocki, Li & Jha (2017)")
def frequency(categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact) -> Design:
    """The design for the frequencies of these categories at this ε; its note says why it was chosen.

    If the best size of a set is one, it is `k_ary`. Otherwise it is `subset_selection` for up to 32 categories. For
    more it is `affine` or `k_ary`, whichever has the smaller variance: their tallies are tables of counts.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    epsilon : float
        ε in nats, positive.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700.

    Examples
    --------
    >>> [frequency(t, epsilon=1).kind for t in (4, 16, 1024)]
    ['pattern', 'subset_selection', 'affine']
    >>> print(*frequency(1024, epsilon=1).notes)
    affine with g = 3 was chosen: its variance is 1.025 times that of the best design, and each report is one of \
3,279 numbers, so that a table of counts is the whole tally; k_ary would have 92.3 times its variance
    """
    labels = domain(categories)
    best_design, simple_design = subset_selection(labels, epsilon=epsilon), k_ary(labels, epsilon=epsilon)
    if best_design.size == 1:
        reason_text = "k_ary was chosen: no design has a smaller variance at this ε"
        return replace(simple_design, name="", notes=(reason_text, *simple_design.notes))
    cost_text = f"k_ary would have {cost(simple_design) / cost(best_design):.3g} times its variance"
    if len(labels) <= _SMALL:
        reason_text = (
            f"subset_selection of {best_design.size} was chosen: no design has a smaller variance at this ε; "
            f"{cost_text}"
        )
        return replace(best_design, name="", notes=(reason_text, *best_design.notes))
    affine_design = affine(labels, epsilon=epsilon)
    if cost(simple_design) <= cost(affine_design):
        variance_text = (
            f"its variance is {cost(simple_design) / cost(best_design):.4g} times that of the best design, "
            "and less than affine's"
        )
        return replace(simple_design, name="", notes=(f"k_ary was chosen: {variance_text}", *simple_design.notes))
    reason_text = (
        f"affine with g = {affine_design.base} was chosen: "
        f"its variance is {cost(affine_design) / cost(best_design):.4g} times that of the best design, and "
        f"each report is one of {affine_design.space.size:,} numbers, so that a table of counts is the whole tally; "
        f"k_ary would have {cost(simple_design) / cost(affine_design):.3g} times its variance"
    )
    return replace(affine_design, name="", notes=(reason_text, *affine_design.notes))


@family("T. Wang, Blocki, Li & Jha (2017), with budgets that differ")
def budgets(
    categories: Sequence[Label] | int = YES_NO, *, epsilon: Sequence[Exact], design: str = "frequency"
) -> Levels:
    """The same question under several values of ε, one for each respondent: a level for each value.

    If people choose their ε, only the proportional weights of `estimate.stratified` are unbiased. If the device or a
    policy assigns it, independently of the answer, ``weights="design"`` can be hundreds of times as precise.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    epsilon : sequence of float
        The values of ε in nats, each positive; they name the levels.
    design : {"frequency", "k_ary", "subset_selection", "affine", "hadamard", "unary"}
        The design of every level.

    Raises
    ------
    DesignError
        An ε for which there is no design; an unknown design.

    Examples
    --------
    >>> budgets(64, epsilon=(0.5, 2, 4)).levels
    (0.5, 2, 4)
    """
    families = {
        family_function.__name__: family_function
        for family_function in (frequency, k_ary, subset_selection, affine, hadamard, unary)
    }
    if design not in families:
        raise DesignError(f"design must be one of {', '.join(families)}; got {design!r}")
    labels, epsilon_choices = domain(categories), _checks.categories(epsilon, least=1, what="values of epsilon")
    return Levels.of(
        {epsilon_choice: families[design](labels, epsilon=epsilon_choice) for epsilon_choice in epsilon_choices}
    )


def cost(design: Design) -> float:
    """N Σ_v Var(π̂_v) of a pure design for a file: the price of its privacy, free of the proportions.

    Parameters
    ----------
    design : Design
        A pure one: k-ary, subset selection, affine or unary.

    Raises
    ------
    DesignError
        Another design.

    Examples
    --------
    >>> round(cost(k_ary(range(8), epsilon=1)) / cost(subset_selection(8, epsilon=1)), 2)
    1.25
    """
    if design.structure.even_mean is None:
        raise DesignError(f"only designs that are pure have one cost; {design.name or design.kind} is not")
    alpha, q = design.structure.even_mean
    p = alpha + q
    return (p * (1 - p) + (len(design.categories) - 1) * q * (1 - q)) / alpha**2


def _exact(epsilon: Exact) -> Decimal:
    """ε as a decimal; the smaller one of the number as written and as stored."""
    odds_within(epsilon, others=1)  # raises where it is no number, not positive, or above 700
    exact_epsilon = as_fraction(epsilon, what="epsilon")
    exact_epsilon = min(exact_epsilon, Fraction(float(exact_epsilon)))
    return Decimal(exact_epsilon.numerator) / Decimal(exact_epsilon.denominator)


def _protocol(what: str) -> Protocol:
    return Protocol(Do(f"{_STEPS}, and send the {what} that it shows"))


_STEP = 6  # bits by which numbers grow from group to group; texts grow by one character
_FIRST = 8  # bits that the first group reports at least


@family("T. Wang, Li & Jha (2021), with a fresh last group")
def heavy_hitters(
    *,
    epsilon: Exact,
    length: int | None = None,
    alphabet: str = "",
    bits: int | None = None,
    step: int | None = None,
    base: int | None = None,
) -> Prefixes:
    """Which values do many people have, without a list: groups by lot report beginnings of a value, bit by bit.

    Each device draws a group, and reports the first bits of its value under `affine`, with all of ε. The analyst keeps
    the most common beginnings of a group, and asks the next group how they go on. The last group reports whole values
    again, and none of its reports has chosen what is estimated from it: see `estimate.heavy_hitters`. If you have a
    list of the values, use `affine` over it: all reports then tell about all values.

    Parameters
    ----------
    epsilon : float
        ε in nats, positive; of the one report that a device sends.
    length : int, optional
        For texts: their largest length, in bytes of UTF-8, or with an alphabet in characters.
    alphabet : str, optional
        The characters that texts are made of. Fewer bits, and so fewer groups, then make a character.
    bits : int, optional
        For whole numbers: below 2^bits.
    step : int, optional
        How many bits a group reports more than the group before; by default one character, or 6 bits of a number.
    base : int, optional
        g of the affine design, a prime; by default the one with the least variance.

    Raises
    ------
    DesignError
        ε that is not positive; not one of length and bits; values of more than 1,024 bits.

    References
    ----------
    T. Wang, Li & Jha (2021).

    Examples
    --------
    >>> heavy_hitters(bits=32, epsilon=2).prefixes
    (8, 14, 20, 26, 32, 32)
    >>> heavy_hitters(length=4, epsilon=2).prefixes
    (8, 16, 24, 32, 32)
    """
    if (length is None) == (bits is None):
        raise DesignError("give the length of texts, or the bits of whole numbers: heavy_hitters(length=8, epsilon=4)")
    if bits is not None and alphabet:
        raise DesignError("an alphabet belongs to texts; give length, not bits")
    bits_per_symbol = len(alphabet).bit_length() if alphabet else 8
    if length is not None:
        bits = _checks.whole_number(length, 1, 1_024 // bits_per_symbol, what="length") * bits_per_symbol
        bits_per_step = bits_per_symbol
    else:
        bits, bits_per_step = _checks.whole_number(bits, 1, 1_024, what="bits"), _STEP
    bits_per_step = bits_per_step if step is None else _checks.whole_number(step, 1, 16, what="step")
    group_channel = affine(("0",), epsilon=epsilon, base=base, names=True)
    return Prefixes.of(
        group_channel, tuple(bits_in_steps(bits, bits_per_step, first=_FIRST)), length=length or 0, alphabet=alphabet
    )


_GRIDS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 200, 1000)
_FINE = 255  # steps of a distribution: 256 points
_ROUNDED = 1_000  # units of the truth for each step, so that reading it adds nothing to the error
_NUMBER_STEPS = (
    "enter the number into the program on your own device; it draws lots that nobody else can see, and sends one place"
)


@family("Duchi, Jordan & Wainwright (2018); N. Wang et al. (2019); Li et al. (2020)")
def window(
    *, low: Exact, high: Exact, epsilon: Exact, steps: int, width: int, decimals: int | None = None, clip: bool = False
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
    k, w = (
        _checks.whole_number(whole_number, 1, 50_000, what=parameter_name)
        for whole_number, parameter_name in ((steps, "steps"), (width, "width"))
    )
    decimal_places = _digits(bounds, k) if decimals is None else _checks.whole_number(decimals, 0, 30, what="decimals")
    low_units, high_units = units_of(bounds, decimal_places)
    a, b = odds_within(epsilon, others=k, own_copies=w)
    bias_notes = ("numbers outside the bounds are moved to the nearest one, which biases the mean",) if clip else ()
    return Window.of(
        low=low_units,
        high=high_units,
        decimals=decimal_places,
        steps=k,
        width=w,
        inside=a,
        outside=b,
        clip=clip,
        notes=(*capped(epsilon, a, b), *bias_notes),
        protocol=Protocol(Do(_NUMBER_STEPS)),
    )


@family("the rule of Duchi, Jordan & Wainwright (2018), N. Wang et al. (2019) and Li et al. (2020)")
def number(
    *, low: Exact, high: Exact, epsilon: Exact, aim: str = "mean", decimals: int | None = None, clip: bool = False
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
        step_count, window_width, worst_variance = _least_worst(e)
        variance_bound = Context(prec=4, rounding=ROUND_CEILING).create_decimal(worst_variance)
        window_of = f"{step_count} step{'s' * (step_count > 1)} with a window of {window_width}"
        reason_text = (
            f"{window_of} {'were' if step_count > 1 else 'was'} chosen for the mean: the variance of one answer is at "
            f"most {variance_bound} (in units of half the distance of the bounds, squared); "
            f"with {_published_variances(e)}"
        )
    else:
        step_count, window_width = _FINE, _square_wave(epsilon)
        reason_text = (
            f"a window of {window_width} places on {step_count + 1} points, the square wave, was chosen for the "
            "distribution: it keeps most of the information; its mean is unbiased, but a design for the mean has less "
            "variance"
        )
    window_design = window(
        low=low, high=high, epsilon=epsilon, steps=step_count, width=window_width, decimals=decimals, clip=clip
    )
    return replace(window_design, name="", notes=(reason_text, *window_design.notes))


@cache
def _least_worst(epsilon: float) -> tuple[int, int, float]:
    """Steps, width and largest variance (of numbers in [-1, 1]) of the window with the least largest variance."""
    odds, tried_windows = math.exp(min(epsilon, 36)), []
    for step_count in _GRIDS:
        widths = sorted(
            {max(1, round(step_count * width_share)) for width_share in np.geomspace(1 / step_count, 1, 40)}
        )
        for window_width in widths:
            place_numbers = place_values(step_count, window_width, odds, 1.0)
            worst_variance = (
                largest_variance(place_numbers, step_count, window_width, odds, 1.0) * (2 / step_count) ** 2
            )
            tried_windows.append((worst_variance, step_count, window_width))
    least_variance = min(tried_windows)[0]
    # of those within a thousandth, the coarsest: it is the easiest to explain
    worst_variance, step_count, window_width = next(
        tried_window for tried_window in tried_windows if tried_window[0] <= least_variance * 1.001
    )
    return step_count, window_width, worst_variance


def _published_variances(epsilon: float) -> str:
    """The largest variances of the published mechanisms, on [-1, 1]."""
    half_growth = math.expm1(min(epsilon, 600) / 2)
    duchi = 1 / math.tanh(epsilon / 2) ** 2
    truths = np.linspace(0, 1, 101)
    piecewise = truths**2 / half_growth + (half_growth + 4) / (3 * half_growth**2)
    piecewise_share = -math.expm1(-epsilon / 2) if epsilon > 0.61 else 0.0  # of the piecewise mechanism in the hybrid
    hybrid = piecewise_share * piecewise + (1 - piecewise_share) * (duchi - truths**2)
    return (
        f"one step (Duchi et al.) {duchi:.4g}, piecewise {piecewise.max():.4g}, hybrid "
        f"{duchi if not piecewise_share else hybrid.max():.4g}"
    )


def _square_wave(epsilon: Exact) -> int:
    """W = 2βK with Li et al.'s β = (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), at least 1."""
    with localcontext() as context:
        context.prec = 60  # for small ε both terms vanish in second order
        exact_epsilon = as_fraction(epsilon)
        e = Decimal(exact_epsilon.numerator) / Decimal(exact_epsilon.denominator)
        odds = e.exp()
        window_share = (e * odds - odds + 1) / (odds * (odds - 1 - e))
    return max(1, round(float(window_share) * _FINE))


def _digits(bounds: tuple[Fraction, Fraction], steps: int) -> int:
    """The fewest decimals with which the bounds are whole units, and each step has a thousand of them."""
    for decimal_places in range(31):
        smallest_unit = Fraction(1, 10**decimal_places)
        span_in_units = (bounds[1] - bounds[0]) / smallest_unit
        if all((bound / smallest_unit).denominator == 1 for bound in bounds) and span_in_units >= _ROUNDED * steps:
            if span_in_units * steps > LIMIT:
                break
            return decimal_places
    raise DesignError(f"low and high must be decimal numbers with few digits; got {bounds[0]} and {bounds[1]}")


_SOURCE = "Cormode, Kulkarni & Srivastava (2019)"
_HIERARCHY_STEPS = (
    "answer with the program on your own device; it draws lots that nobody else can see, and sends what they leave"
)


@family(_SOURCE)
def hierarchy(categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact, fanout: int = 5) -> Hierarchy:
    """A hierarchy over ordered categories, for ranges and quantiles: lot gives each person one level to report.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        In their order. A whole number t stands for the categories 0 to t - 1.
    epsilon : float
        ε in nats, positive; all of it is for the one level of each person.
    fanout : int
        B, how many groups of the next level a group holds. Once `estimate.ranges` has made the levels agree, ranges
        have nearly the same variance for 2 to 5, more than a tenth more for 8, and a third more for 16.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700; a fanout below 2.

    References
    ----------
    Cormode, Kulkarni & Srivastava (2019); Hay, Rastogi, Miklau & Suciu (2010).

    Examples
    --------
    >>> survey = hierarchy(1024, epsilon=1)
    >>> [part.design.kind for part in survey.parts.values()]
    ['table', 'subset_selection', 'affine', 'affine', 'affine']
    """
    labels = domain(categories)
    group_fanout = _checks.whole_number(fanout, 2, 1_000, what="fanout")
    level_count = next(level_count for level_count in range(1, 64) if group_fanout**level_count >= len(labels))
    designs_by_level = {}
    for level_number in range(1, level_count + 1):
        group_width = group_fanout ** (level_count - level_number)
        group_count = -(-len(labels) // group_width)
        level_design = frequency(group_count, epsilon=epsilon)
        if level_design.structure.keeps_sums:  # counts tell the variance of every range, sums do not
            level_design = affine(group_count, epsilon=epsilon)
        bare_design = replace(level_design, notes=(), protocol=None)
        designs_by_level[level_number] = Grouped.of(
            labels, bare_design, group_width, protocol=Protocol(Do(_HIERARCHY_STEPS), source=_SOURCE)
        )
    reason_text = (
        f"lot gives each person one of {level_count} levels, and all of ε is for it; a range adds up few groups of each"
    )
    return Hierarchy.of(designs_by_level, group_fanout, notes=(reason_text,))


_HALF = 2**31
_MEMORY_STEPS = (
    "answer with the program on your own device; it keeps one random answer for each question, and sends it with new "
    "noise every time"
)
_MEMORIES = ("frequency", "k_ary", "affine", "subset_selection", "unary", "symmetric")
_SEPARATE = "if the value changes, the new one has a memo of its own, and the reports may show that it changed."
_SHARED = (
    "if the value changes, the new one has the same memo if both share the value of the hash, otherwise its own. "
    "So the reports may show that it changed, and which values share the hash; privacy.schedule says what that costs."
)


@family("Erlingsson, Pihur & Korolova (2014); Arcolezi et al. (2021), with the second step solved exactly")
def remembered(
    categories: Sequence[Label] | int = YES_NO, *, epsilon: Exact, lifetime: Exact, design: str = "frequency"
) -> Remembered:
    """A report that is drawn once and kept, and is sent with fresh noise in every wave.

    One report has ε = `epsilon`. All reports of one value together have at most ε = `lifetime`, however many waves
    there are. The variance of a wave is that of the design without memory at `epsilon`, whatever the lifetime is.

    Memory is bought by a weaker promise: the reports of several waves are not independent draws. Two reports of one
    memo can tell more than twice `epsilon`; `privacy.after_waves` says how much. Each further value that a person
    takes has a memo of its own. In an affine design, two values that share a hash share a memo, so that reports also
    tell which values do: over all values, they cost up to about ln ρ a wave, and no number of lifetimes bounds them.
    `privacy.schedule` says how much.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        A whole number t stands for the categories 0 to t - 1.
    epsilon : float
        ε of one report, in nats.
    lifetime : float
        ε of all reports of one value, in nats; larger than `epsilon`.
    design : {"frequency", "k_ary", "affine", "subset_selection", "unary", "symmetric"}
        The family; "frequency" takes `k_ary` or `affine`, whichever has the smaller variance. "unary" has the bit of
        the true category right in one half of all reports, "symmetric" (RAPPOR) has both kinds of errors alike.

    Raises
    ------
    DesignError
        An ε that is not positive, too small to be drawn, or not below `lifetime`; an unknown design.

    References
    ----------
    Erlingsson, Pihur & Korolova (2014); Arcolezi et al. (2021). Their L-GRR solves for two categories only: with 16, ε
    of a report that should be 1 is .573, and n Var is 26.33 in place of 5.662.

    Examples
    --------
    >>> survey = remembered(16, epsilon=1, lifetime=2, design="k_ary")
    >>> print(survey.notes[0])
    One report has ε = 1, the reports of 2 waves 1.8, all reports of one value at most 2.
    """
    if design not in _MEMORIES:
        raise DesignError(f"design must be one of {', '.join(_MEMORIES)}; got {design!r}")
    labels = domain(categories)
    odds_within(epsilon, others=1)  # raises where an ε is no number, not positive, or above 700
    odds_within(lifetime, others=1)
    if as_fraction(epsilon) >= as_fraction(lifetime):
        raise DesignError(f"epsilon must be below lifetime; got {epsilon!r} and {lifetime!r} (k_ary etc. need no memo)")
    if design == "frequency":
        simple_design = Pattern.of(labels, *odds_within(epsilon, others=len(labels) - 1))
        design = "k_ary" if cost(simple_design) <= cost(affine(labels, epsilon=epsilon)) else "affine"
    if design in ("unary", "symmetric"):
        memo_design, wave_noise = _memo_of_bits(labels, epsilon, lifetime, symmetric=design == "symmetric")
    elif design == "k_ary":
        copies = (1, len(labels) - 1)
        weights, wave_noise = _memo_and_noise(*odds_within(epsilon, others=copies[1]), copies, lifetime)
        memo_design = Pattern.of(labels, *weights)
    else:
        wave: ByOdds = (
            affine(labels, epsilon=epsilon) if design == "affine" else subset_selection(labels, epsilon=epsilon)
        )
        (inside, outside), wave_noise = _memo_and_noise(wave.inside, wave.outside, wave.copies, lifetime)
        memo_design = replace(wave, inside=inside, outside=outside, protocol=None)
    memory_design = Remembered.of(replace(memo_design, name="", notes=()), wave_noise, name="")
    one_report, two_reports, all_reports = (
        f"{memory_design.epsilon_after(wave_count):.4g}" for wave_count in (1, 2, 10**6)
    )
    shares_responses = isinstance(memo_design, AffineHash) and len(labels) > memo_design.base
    memory_notes = (
        (
            f"One report has ε = {one_report}, the reports of 2 waves {two_reports}, "
            f"all reports of one value at most {all_reports}."
        ),
        f"Memory is bought by a weaker promise: {_SHARED if shares_responses else _SEPARATE}",
    )
    return replace(memory_design, notes=memory_notes, protocol=Protocol(Do(_MEMORY_STEPS)))


def _memo_and_noise(a: int, b: int, copies: tuple[int, int], lifetime: Exact) -> tuple[tuple[int, int], Redraw]:
    """The odds of the memo, and the noise that leaves exactly a : b of them."""
    high_odds, low_odds = steepened(a, b, copies, lifetime)
    common_divisor = math.gcd(a - b, high_odds - low_odds)
    return (high_odds, low_odds), Redraw((a - b) // common_divisor, (high_odds - low_odds) // common_divisor)


def _memo_of_bits(
    labels: tuple[Label, ...], epsilon: Exact, lifetime: Exact, *, symmetric: bool
) -> tuple[Design, Redraw]:
    """The unary memo, and the noise of a wave.

    The bit of the true category is one with chance 1/2 in both steps, or if symmetric as often as another's is zero.
    """
    with localcontext() as context:
        context.prec = 60
        odds = [_exact(budget).exp() for budget in (epsilon, lifetime)]
    # How far the chance of another category's bit is from one half.
    wave_distance, memo_distance = (
        int(_HALF * (bit_odds - 1) / (bit_odds + 1)) for bit_odds in (e.sqrt() if symmetric else e for e in odds)
    )
    memo_design = None
    if 0 < wave_distance < memo_distance < _HALF:
        memo_design = Unary.of(labels, _HALF + (memo_distance if symmetric else 0), _HALF - memo_distance)
    if (
        memo_design is None
        or math.log(memo_design.odds[0] / memo_design.odds[1]) < float(as_fraction(lifetime)) - _LOST
    ):
        raise DesignError(
            f"both values of ε must suit chances of 32 bits, up to about 15; got a lifetime of {lifetime!r}"
        )
    return memo_design, Redraw(wave_distance, memo_distance)
