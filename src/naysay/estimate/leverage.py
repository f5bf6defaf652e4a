"""How far repeated or dishonest answers can move an estimate."""

from __future__ import annotations

import numpy as np

from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.estimate.linear import linear_map


def leverage(design: Answerable, *, share: float = 0.01) -> float:
    """The most by which a share of answers that are not honest moves the estimated share of a category.

    Each answer has an unbiased indicator u (see `moments`), and an estimate is the mean of u over all answers. If
    someone chooses a share r of the answers at will, category j moves from π_j to (1 - r) π_j + r u_j. It moves by at
    most r · max(max u, 1 - min u), over all categories, responses and levels. A direct question moves by r; a more
    private design moves more.

    Maximum likelihood weighs answers by what it estimates. Where a design has more responses than categories, it can
    move more than this: in our trials up to 1.6 times as far.

    Parameters
    ----------
    design : Design or Levels
        With levels, all such answers come at the level that moves the estimate most.
    share : float
        The share of all answers that are not honest.

    Returns
    -------
    float
        A difference of proportions.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.

    Examples
    --------
    >>> from naysay import designs
    >>> round(leverage(designs.direct(("yes", "no"))), 4), round(leverage(designs.warner(p=0.7)), 4)
    (0.01, 0.0175)
    >>> round(leverage(designs.negative(("a", "b", "c", "d", "e"))), 4)
    0.04
    """
    check_design(design)
    return share * max(_reach(design.channel(level)) for level in design.levels)


def _reach(design: Design) -> float:
    """max(max u, 1 - min u) over all possible responses; over [0, 1]ᵈ where they are too many to list."""
    linear, space = linear_map(design), design.space
    if space.listable:
        u = linear(space.statistic(space.listing()))[design.matrix.max(axis=1) > 0]
        return float(max(u.max(), 1 - u.min()))
    most = linear.constant + np.maximum(linear.slope, 0).sum(axis=1)
    least = linear.constant + np.minimum(linear.slope, 0).sum(axis=1)
    return float(max(most.max(), 1 - least.min()))
