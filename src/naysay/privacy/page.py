"""Charts of what one answer reveals: how probable each category is before it, and after it."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from naysay import privacy
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.show import charts, finish


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

    P(X = j | y) ∝ P(y | j) π_j. Where both marks of a category coincide, the answer reveals nothing about it.

    Parameters
    ----------
    design : Design, Levels or Samples
    response : label, set, or pair of labels
        The answer.
    prior : (t,) float, optional
        What is known about the person before the answer; uniform by default.
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
        The design has several levels or samples, and `level` names none; the prior is no vector of t probabilities.
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
    responses = channel.encode(tuple([answer] for answer in response) if several else [response])
    # A missing answer, whose posterior is the prior.
    missing = channel.encode(([None],) * channel.space.answers if several else [None])
    marks = [
        charts.Mark("pooled", "before", privacy.posterior(channel, missing, prior)[0]),
        charts.Mark("estimate", "after", privacy.posterior(channel, responses, prior)[0]),
    ]
    heading = (
        title or f"{channel.name or channel.kind}: what the answer “{finish.label_line(responses.texts()[0])}” tells"
    )
    axis = "probability for this person"
    return charts.dots(channel.categories, marks, title=heading, size=size, room=room, axis=axis)
