"""Why some coefficients cannot be estimated, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import NotEstimable
from naysay.regression.reading import Data
from naysay.regression.solving import Optimum

__all__ = ["check_columns", "check_finite"]

Floats = NDArray[np.float64]

_COLLINEAR = 1e-11  # squared length of a combination of unit columns that counts as none
_PART = 1e-3  # entries of a direction below this share of the largest are left out of a message


def check_columns(data: Data) -> None:
    """Raise unless the columns of the formula can tell coefficients apart.

    Raises
    ------
    NotEstimable
        More coefficients than people, a column of zeros (an empty combination of categories), or collinear columns.
    """
    model, columns = data.model, data.matrix.columns
    carrying = model.weight > 0
    x = model.x if carrying.all() else model.x[carrying]
    if model.size > len(x):
        raise NotEstimable(
            f"the formula asks for {model.size} coefficients, and only {_checks.several(len(x), 'person', 'people')} "
            "answered; leave terms out, or join categories",
            rank=len(x),
        )
    squares = np.einsum("ij,ij->j", x, x)
    empty = [name for name, square in zip(columns, squares, strict=True) if square == 0]
    if empty:
        raise NotEstimable(
            f"nobody is in {_checks.shown(empty)}: this combination of categories is empty among those who answered; "
            "leave the interaction out, or join categories",
            rank=len(columns) - len(empty),
        )
    scaled = 1 / np.sqrt(squares)
    values, vectors = np.linalg.eigh((x.T @ x) * scaled * scaled[:, None])
    lost = values < _COLLINEAR * len(columns)
    if lost.any():
        contrast = vectors[:, 0] * scaled
        big = np.abs(vectors[:, 0]) > _PART * np.abs(vectors[:, 0]).max()
        names = [name for name, keep in zip(columns, big, strict=True) if keep]
        raise NotEstimable(
            f"the columns {_checks.shown(names)} are collinear: each follows from the others, so that their "
            "coefficients cannot be told apart; leave one of their terms out",
            contrast=contrast.tolist(),
            rank=int((~lost).sum()),
        )


def check_finite(data: Data, found: Optimum, penalty: float = 0.0) -> None:
    """Raise if coefficients grow without end (separation), or for longer than was searched.

    Raises
    ------
    NotEstimable
        Which coefficients, how many people they concern, and which share of theirs is estimated as 0 or 1.
    """
    if not found.endless.shape[1]:
        return
    remedy = (
        "a larger penalty" if penalty else "a penalty (penalty=1, --penalty 1), with which coefficients stay finite"
    )
    if found.search.lower:
        raise NotEstimable(
            f"the likelihood rises where some coefficients grow without end, and its highest finite maximum is lower "
            f"by {found.search.lower[0]:.1f}, too much to be believed (outside its 95 % region); leave terms out, join "
            f"categories, or add {remedy}",
            contrast=found.endless[:, 0].tolist(),
            rank=data.model.size - found.endless.shape[1],
        )
    model, columns = data.model, data.matrix.columns
    directions = np.array([model.split(each)[0] for each in found.endless.T])  # (k, t - 1, p)
    moved = np.sqrt(((directions @ model.x.T) ** 2).sum(axis=0))
    equation = int(moved.max(axis=1).argmax())
    concerned = (moved[equation] > 1e-6 * moved[equation].max()) & (model.weight > 0)
    spread = np.sqrt(np.mean(model.x**2, axis=0) * (directions[:, equation] ** 2).sum(axis=0))
    names = [name for name, size in zip(columns, spread, strict=True) if size > _PART * spread.max()]
    label = _checks.label(data.design.categories[model.free[equation]])
    other = _checks.label(data.design.categories[model.reference])
    share = model.shares(found.theta)[model.free[equation], concerned]
    ends = sorted({round(float(each)) for each in share[(share < 1e-4) | (share > 1 - 1e-4)]})
    told = f"their share of “{label}” is estimated as {' or '.join(map(str, ends))}" if ends else "their shares run off"
    standing = (model.weight > 0) if data.tally.weighted else model.weight  # each row for how many people
    people = f"{int(standing[concerned].sum()):,} of {data.n:,} people"
    raise NotEstimable(
        f"no finite coefficient of {_checks.shown(names)} for “{label}” against “{other}” (separation): for {people} "
        f"{told}, as their answers are as one-sided as the design allows; leave the term out, join its categories, or "
        f"add {remedy}",
        contrast=found.endless[:, 0].tolist(),
        rank=model.size - found.endless.shape[1],
    )
