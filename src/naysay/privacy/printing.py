"""The privacy of a design as lines of text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from naysay.design import Answerable
from naysay.privacy.sensitive import about_categories
from naysay.privacy.statement import choosing, statement

__all__ = ["lines"]


def lines(design: Answerable, nuisance: Mapping[Any, float] | None = None) -> list[str]:
    """The privacy of one answer as text: one line, one a sample, or one for each level and one about choosing it.

    Parameters
    ----------
    design : Design, Levels or Samples
    nuisance : {name: float}, optional
        Where samples tell finer cells apart than the categories: how common these are, see `about_categories`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from naysay import designs
    >>> print(lines(designs.negative_levels(("a", "b", "c")))[-1])
    privacy: choosing a level tells something of its own where the choice goes with the category; level and answer \
together tell 1.58 of 1.58 bits at most
    """
    if not design.several:
        return [f"privacy: {statement(design)}"]
    if design.assigned_by != "respondent":
        each_sample = (about_categories(design, nuisance) or statement(design)).items()
        return [f"privacy{'' if name is None else f', sample {name}'}: {each}" for name, each in each_sample]
    told = [f"privacy, level {level}: {each}" for level, each in statement(design).items()]
    return [
        *told,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {choosing(design):.3g} of {math.log2(len(design.categories)):.3g} bits at most",
    ]
