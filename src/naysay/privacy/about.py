"""What answers in several samples reveal about the categories alone, if their cells are finer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Share, Table
from naysay.design.base import check_design
from naysay.design.exact import table_weights
from naysay.errors import DesignError
from naysay.responses import Labels

__all__ = ["channels_about"]

_EVEN = 0.5  # the value of a nuisance share that is not given
_NOTHING = 1e-12  # shares below this count as 0


def channels_if(design: Answerable, nuisance: Mapping[Any, float]) -> dict[Any, Design] | None:
    """P(response | category) in each sample, given these nuisance shares; see `about_categories`."""
    within = _within(design, nuisance)
    if within is None:
        return None
    given = ", ".join(f"{_checks.label(share.name)} = {_value(share, nuisance):.3g}" for share in design.nuisance)
    given += "" if nuisance else " (assumed; ε depends on it)"
    return channels_about(design, within, notes=(f"about the sensitive category alone, if {given}",))


def channels_about(
    design: Answerable, within: NDArray[np.float64], *, notes: tuple[str, ...] = ()
) -> dict[Any, Design] | None:
    """P(response | category) in each sample, averaged over the cells that make up each category.

    Parameters
    ----------
    design : Design, Levels or Samples
    within : (cells, t) float
        How common each cell is within each category; columns sum to one.
    notes : tuple of str
        Notes for the reader, besides the design's own notes.

    Returns
    -------
    {sample: Design}, or None
        None if a response is not a single label.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.stochastic_lie_detector(p=("2/12", "10/12"))
    >>> channels_about(survey, np.array([[0.7, 0], [0, 1], [0.3, 0]]))[1].matrix.round(2)
    array([[0.7 , 0.83],
           [0.3 , 0.17]])
    """
    check_design(design, told="privacy is a property of a design", error=DesignError)
    told: dict[Any, Design] = {}
    for name, channel in design.parts.items():
        space = channel.space
        if not space.one_label:
            return None
        weights = table_weights((channel.matrix @ within).tolist(), columns=design.categories)
        noted = (*notes, *channel.notes)
        told[name] = Table(categories=design.categories, space=Labels(space.labels), weights=weights, notes=noted)
    return told


def _within(design: Answerable, given: Mapping[Any, float]) -> NDArray[np.float64] | None:
    """How common each cell is within each category, (cells, t)."""
    for name, value in given.items():
        if name not in {share.name for share in design.nuisance} or not 0 <= value <= 1:
            raise DesignError(f"nuisance shares of this design, within [0, 1], are needed; got {name!r}: {value!r}")
    if not any(len(share.of) > 1 for share in design.shares):
        return None
    columns = []
    for category in design.shares:
        own, ruled = set(category.of), False
        column = np.array([cell in own for cell in design.cells], dtype=float)
        for share in design.nuisance:
            if not own & set(share.of) or not own - set(share.of) or not (not share.among or set(share.among) == own):
                continue  # this share does not divide the category
            ruled, value = True, _value(share, given)
            column *= [value if cell in share.of else 1 - value for cell in design.cells]
        if category.among or (len(own) > 1 and not ruled) or abs(column.sum() - 1) > 1e-9:
            return None
        columns.append(np.where(column < _NOTHING, 0.0, column))
    return np.column_stack(columns)


def _value(share: Share, given: Mapping[Any, float]) -> float:
    return float(given.get(share.name, _EVEN))
