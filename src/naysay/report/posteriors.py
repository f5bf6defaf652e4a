"""What one answer tells about its person, drawn: how probable each category was before, and is after."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from naysay import privacy
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.report import charts, labels

__all__ = ["posterior"]


def posterior(
    design: Answerable,
    response: Any,
    *,
    prior: ArrayLike | None = None,
    level: Any = None,
    title: str | None = None,
    size: int = 640,
    room: int = 26,
) -> str:
    """An SVG image of the posterior of one answer beside the prior, one row for each category.

    P(X = j | y) ∝ P(y | j) π_j. Two marks that lie on each other say that the answer tells nothing about a category.

    Parameters
    ----------
    design : Design, Levels or Samples
    response : label, set, or pair of labels
        The answer.
    prior : (t,) float, optional
        What is known of the person before, uniform by default.
    level : optional
        The level, or the sample, under which the answer was given.
    title : str, optional
        Read aloud for the whole image.
    size, room : int
        As in `charts.dots`.

    Raises
    ------
    AnswerError
        An answer that the design cannot produce.
    DataError
        Several levels or samples, and none of them named; a prior that is no vector of t probabilities.
    DesignError
        An answer that is impossible under the prior.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs
    >>> svg = posterior(designs.two_coins(), "yes", prior=(0.15, 0.85))
    >>> "yes: after 34.62%" in svg, "no: before 85.00%" in svg
    (True, True)
    """
    check_design(design)
    channel = design.channel(level)
    several = channel.space.answers > 1
    said = channel.encode(tuple([answer] for answer in response) if several else [response])
    missing = channel.encode(([None],) * channel.space.answers if several else [None])  # leaves the prior
    marks = [
        charts.Mark("pooled", "before", privacy.posterior(channel, missing, prior)[0]),
        charts.Mark("estimate", "after", privacy.posterior(channel, said, prior)[0]),
    ]
    heading = title or f"{channel.name or channel.kind}: what the answer “{labels.full(said.texts()[0])}” tells"
    axis = "probability for this person"
    return charts.dots(channel.categories, marks, title=heading, size=size, room=room, axis=axis)
