"""Designs that remember: a report that is drawn once, kept, and sent with fresh noise in every wave."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from naysay.design import AffineHash, Design, Do, Pattern, Protocol, Redraw, Remembered, SubsetSelection, Unary
from naysay.design.exact import as_fraction, odds_within, steepened
from naysay.design.pure import ByOdds
from naysay.designs.catalog import YES_NO, domain, family
from naysay.designs.frequencies import affine, cost, subset_selection
from naysay.errors import DesignError

__all__ = ["remembered"]

_HALF = 2**31
_LOST = 1e-3  # most of ε that rounding to 32 bits may take
_STEPS = (
    "answer with the program on your own device; it keeps one random answer for each question, and sends it with new "
    "noise every time"
)
_SEPARATE = "if the value changes, the new one has a memo of its own, and the reports may show that it changed."
_SHARED = (
    "if the value changes, the new one has the same memo if both share the value of the hash, otherwise its own. "
    "So the reports may show that it changed, and which values share the hash; privacy.schedule says what that costs."
)


@family("Erlingsson, Pihur & Korolova (2014); Arcolezi et al. (2021), with the second step solved exactly")
def remembered(
    categories: Sequence[Any] | int = YES_NO, *, epsilon: Any, lifetime: Any, design: str = "frequency"
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
    if design not in _FAMILIES:
        raise DesignError(f"design must be one of {', '.join(_FAMILIES)}; got {design!r}")
    labels = domain(categories)
    odds_within(epsilon, others=1)  # raises where an ε is no number, not positive, or above 700
    odds_within(lifetime, others=1)
    if as_fraction(epsilon) >= as_fraction(lifetime):
        raise DesignError(f"epsilon must be below lifetime; got {epsilon!r} and {lifetime!r} (k_ary etc. need no memo)")
    first, second = _FAMILIES[design](labels, epsilon, lifetime)
    made = Remembered.of(replace(first, name="", notes=()), second, name="")
    one, two, most = (f"{made.epsilon_after(waves):.4g}" for waves in (1, 2, 10**6))
    shared = isinstance(first, AffineHash) and len(labels) > first.base
    notes = (
        f"One report has ε = {one}, the reports of 2 waves {two}, all reports of one value at most {most}.",
        f"Memory is bought by a weaker promise: {_SHARED if shared else _SEPARATE}",
    )
    return replace(made, notes=notes, protocol=Protocol(Do(_STEPS)))


def _stepped(a: int, b: int, copies: tuple[int, int], lifetime: Any) -> tuple[tuple[int, int], Redraw]:
    """The odds of the memo, and the noise that leaves exactly a : b of them."""
    high, low = steepened(a, b, copies, lifetime)
    shared = math.gcd(a - b, high - low)
    return (high, low), Redraw((a - b) // shared, (high - low) // shared)


def _k_ary(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    copies = (1, len(labels) - 1)
    (own, other), second = _stepped(*odds_within(epsilon, others=copies[1]), copies, lifetime)
    return Pattern.of(labels, own=own, other=other), second


def _by_odds(wave: ByOdds, lifetime: Any) -> tuple[Design, Redraw]:
    (inside, outside), second = _stepped(wave.inside, wave.outside, wave.copies, lifetime)
    return replace(wave, inside=inside, outside=outside, protocol=None), second


def _affine(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    made: AffineHash = affine(labels, epsilon=epsilon)
    return _by_odds(made, lifetime)


def _subset(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    made: SubsetSelection = subset_selection(labels, epsilon=epsilon)
    return _by_odds(made, lifetime)


def _frequency(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    a, b = odds_within(epsilon, others=len(labels) - 1)
    simple = cost(Pattern.of(labels, own=a, other=b)) <= cost(affine(labels, epsilon=epsilon))
    return (_k_ary if simple else _affine)(labels, epsilon, lifetime)


def _unary(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    """The bit of the true category is one with chance 1/2 in both steps."""
    wave, first = (int(_HALF * (e - 1) / (e + 1)) for e in map(_exp, (epsilon, lifetime)))
    return _flipped(labels, (0, wave), (0, first), lifetime)


def _symmetric(labels: tuple[Any, ...], epsilon: Any, lifetime: Any) -> tuple[Design, Redraw]:
    """The bit of the true category is one as often as another's is zero."""
    wave, first = (int(_HALF * (root - 1) / (root + 1)) for root in (_exp(each).sqrt() for each in (epsilon, lifetime)))
    return _flipped(labels, (wave, wave), (first, first), lifetime)


def _flipped(
    labels: tuple[Any, ...], wave: tuple[int, int], first: tuple[int, int], lifetime: Any
) -> tuple[Design, Redraw]:
    """The memo with these distances of p and q from one half, and the noise that leaves those of a wave."""
    made = Unary.of(labels, _HALF + first[0], _HALF - first[1]) if 0 < wave[1] < first[1] < _HALF else None
    if made is None or math.log(made.odds[0] / made.odds[1]) < float(as_fraction(lifetime)) - _LOST:
        raise DesignError(
            f"both values of ε must suit chances of 32 bits, up to about 15; got a lifetime of {lifetime!r}"
        )
    return made, Redraw(wave[1], first[1])


def _exp(epsilon: Any) -> Decimal:
    """e^ε, of the smaller one of the number as written and as stored."""
    exact = as_fraction(epsilon)
    exact = min(exact, Fraction(float(exact)))
    with localcontext() as context:
        context.prec = 60
        return (Decimal(exact.numerator) / Decimal(exact.denominator)).exp()


_FAMILIES: dict[str, Callable[[tuple[Any, ...], Any, Any], tuple[Design, Redraw]]] = {
    "frequency": _frequency,
    "k_ary": _k_ary,
    "affine": _affine,
    "subset_selection": _subset,
    "unary": _unary,
    "symmetric": _symmetric,
}
