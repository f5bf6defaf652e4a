"""What a sink in a negative survey tells, and what it costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Table
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
    if not isinstance(design, Table):
        return ()
    places = _sink_places(design)
    if not places:
        return ()
    ratio = indicator_variances(design) / indicator_variances(negative(design.categories))
    return tuple(
        Sink(design.categories[i], design.space.labels[i], float(_odds(design.weights[i], i)), float(ratio[i]))
        for i in places
    )


def _sink_places(design: Table) -> list[int]:
    """The rows of the sinks, none if the design is no negative survey with sinks."""
    labels, weights = design.space.labels, design.weights
    t = len(design.categories)
    if len(labels) != t or t < 3:
        return []
    places = [i for i, label in enumerate(labels) if str(label) != str(design.categories[i])]
    ordinary = np.delete(np.diagonal(weights), places)
    even = all(len(set(np.delete(weights[i], i).tolist())) == 1 and weights[i, i - 1] for i in places)
    return places if even and len(ordinary) >= 2 and not ordinary.any() else []


def _odds(row: NDArray[np.int64], place: int) -> Fraction:
    """The weight of the category in its place over that of any other."""
    return Fraction(int(row[place]), int(row[place - 1]))
