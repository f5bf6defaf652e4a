"""What a sink in a negative survey tells, and what it costs.

A sink is the label that respondents name in place of a category that cannot be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design
from naysay.designs import negative
from naysay.estimate.linear import indicator_variances

__all__ = ["Sink", "sinks"]


class Sink(NamedTuple):
    """What a sink tells, and what it costs.

    Parameters
    ----------
    category : label
        The category that cannot be named.
    response : label
        The label that respondents name in its place.
    level : label
        The level that has this sink, where respondents choose a level; else None.
    odds : float
        a/b: an answer that names the sink multiplies the odds of being a member by this factor.
    variance_ratio : float
        Variance of the category's estimate, divided by that of `designs.negative` with as many discards, if all
        categories are equally common.
    """

    category: Any
    response: Any
    odds: float
    variance_ratio: float
    level: Any = None


def sinks(design: Answerable) -> tuple[Sink, ...]:
    """The sinks of a negative survey in which some categories cannot be named; none in other designs.

    The chances with which labels are named show the sinks. A sink has another label than its category. Members name it
    with one chance, a, and all others with another chance, b. No other label is named by its own members.

    Parameters
    ----------
    design : Design or Levels

    Returns
    -------
    tuple of Sink

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.

    Examples
    --------
    >>> from naysay import designs
    >>> (sink,) = sinks(designs.negative_sink(("a", "b", "c", "d"), sinks={"a": "none"}))
    >>> sink.category, sink.response, sink.odds, round(sink.variance_ratio, 3)
    ('a', 'none', 0.5, 4.407)
    """
    if design.assigned_by == "researcher":
        return ()
    return tuple(sink._replace(level=level) for level, channel in design.parts.items() for sink in _of_channel(channel))


def _of_channel(channel: Design) -> tuple[Sink, ...]:
    labels, categories = getattr(channel.space, "labels", ()), channel.categories
    if not channel.space.listable or len(labels) != len(categories) or len(categories) < 3:
        return ()
    named = channel.expected_statistic
    places = _sink_places(categories, labels, named)
    if not places:
        return ()
    discards = round(float(named[:, 0].sum()))
    ratio = indicator_variances(channel) / indicator_variances(negative(categories, discards=discards))
    odds = {i: float(named[i, i] / named[i, i - 1]) for i in places}  # of its members over any others
    return tuple(Sink(categories[i], labels[i], odds[i], float(ratio[i])) for i in places)


def _sink_places(categories: Sequence[Any], labels: Sequence[Any], named: NDArray[np.float64]) -> list[int]:
    """The places of the sinks; empty if the design is not a negative survey with sinks."""
    places = [i for i, label in enumerate(labels) if str(label) != str(categories[i])]
    ordinary = np.delete(np.diagonal(named), places)
    even = all(np.ptp(np.delete(named[i], i)) < 1e-9 and named[i, i - 1] for i in places)
    return places if even and len(ordinary) >= 2 and not ordinary.any() else []
