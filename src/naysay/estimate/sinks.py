"""What a sink in a negative survey tells, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable
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
        What is named in its place.
    odds : float
        a/b: by how much naming the sink multiplies the odds of being a member.
    variance_ratio : float
        Variance of the category's estimate over that of `designs.negative`, all categories equally common.
    """

    category: Any
    response: Any
    odds: float
    variance_ratio: float


def sinks(design: Answerable) -> tuple[Sink, ...]:
    """The sinks of a negative survey in which some categories cannot be named; none in other designs.

    Told by the matrix: a sink's response has another label than its category, and is named by members with one chance,
    a, and by all others with another, b; each other response is never given by its own members.

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
    if design.several or not design.channel().tabular:
        return ()
    channel = design.channel()
    weights = channel.integers(channel.space.listing())
    places = [] if weights is None else _sink_places(design.categories, channel.space.labels, weights)
    if weights is None or not places:
        return ()
    ratio = indicator_variances(channel) / indicator_variances(negative(design.categories))
    odds = {i: Fraction(int(weights[i, i]), int(weights[i, i - 1])) for i in places}  # of its members over any others
    labels = channel.space.labels
    return tuple(Sink(design.categories[i], labels[i], float(odds[i]), float(ratio[i])) for i in places)


def _sink_places(categories: Sequence[Any], labels: Sequence[Any], weights: NDArray[np.int64]) -> list[int]:
    """The rows of the sinks, none if the design is no negative survey with sinks."""
    t = len(categories)
    if len(labels) != t or t < 3:
        return []
    places = [i for i, label in enumerate(labels) if str(label) != str(categories[i])]
    ordinary = np.delete(np.diagonal(weights), places)
    even = all(len(set(np.delete(weights[i], i).tolist())) == 1 and weights[i, i - 1] for i in places)
    return places if even and len(ordinary) >= 2 and not ordinary.any() else []
