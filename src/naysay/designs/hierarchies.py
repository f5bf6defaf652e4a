"""The hierarchy over many ordered categories: shares of ranges, the distribution, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naysay import _checks
from naysay.design import Do, Grouped, Hierarchy, Protocol
from naysay.designs.catalog import YES_NO, domain, family
from naysay.designs.frequencies import affine, frequency

__all__ = ["hierarchy"]

_SOURCE = "Cormode, Kulkarni & Srivastava (2019)"
_STEPS = "answer with the program on your own device; it draws lots that nobody else can see, and sends what they leave"


@family(_SOURCE)
def hierarchy(categories: Sequence[Any] | int = YES_NO, *, epsilon: Any, fanout: int = 5) -> Hierarchy:
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
    base = _checks.whole(fanout, 2, 1_000, what="fanout")
    depth = next(depth for depth in range(1, 64) if base**depth >= len(labels))
    levels = {}
    for level in range(1, depth + 1):
        width = base ** (depth - level)
        groups = -(-len(labels) // width)
        chosen = frequency(groups, epsilon=epsilon)
        if chosen.keeps_sums:  # counts tell the variance of every range, sums do not
            chosen = affine(groups, epsilon=epsilon)
        own = replace(chosen, notes=(), protocol=None)
        levels[level] = Grouped.of(labels, own, width, protocol=Protocol(Do(_STEPS), source=_SOURCE))
    why = f"lot gives each person one of {depth} levels, and all of ε is for it; a range adds up few groups of each"
    return Hierarchy.of(levels, base, notes=(why,))
