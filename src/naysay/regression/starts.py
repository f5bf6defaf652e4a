"""Where searches for a maximum of the likelihood begin.

Every start depends on the answers and on the space that the columns of the model span, and on nothing else: the same
starts come under another reference category, another order of the rows, another coding of the same factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from naysay.estimate.information import maximize
from naysay.regression.likelihood import Model

Floats = NDArray[np.float64]

_EDGE = 0.02  # where shares and nuisance parameters start that alone would be at 0 or 1
_SPREADS = (0.5, 1.0, 1.5)  # standard deviations of the linear predictors of random starts
_SEED = 1987


def is_concave(model: Model) -> bool:
    """Whether the log-likelihood has one maximum at most: each answer points at one category, or nothing is compared.

    Then log f is a multinomial logarithm. With a constant alone, f is linear in the shares.
    """
    if model.q:
        return False
    rows = model.answers.rows @ model.within.chances(np.zeros(0))
    is_plain = ((rows > 0).sum(axis=1) == 1) | (np.ptp(rows, axis=1) == 0)
    constant = model.x.shape[1] == 1 and float(np.ptp(model.x)) == 0 and model.offset is None
    return constant or bool(is_plain[np.unique(model.answer[model.weight > 0])].all())


def starts(model: Model) -> Iterator[Floats]:
    """Parameters (P,) to begin from: the shares of everybody, two estimates by moments, and then random ones forever.

    The shares of everybody ignore the covariates. Moments regress unbiased indicators of the categories on the
    covariates by least squares, and take logits of what comes out, away from the ends. A random start adds linear
    predictors that are normal with standard deviations of 0.5 to 1.5.
    """
    answer_weights = np.bincount(model.answer, model.weight, minlength=len(model.answers.rows)).astype(float)
    cells = maximize(
        model.answers.rows[answer_weights > 0], answer_weights[answer_weights > 0], tolerance=1e-2
    ).proportions
    nu, shares = _inside(model, cells)
    rows = model.answers.rows @ model.within.chances(nu)
    whitening = _whitening(model)
    inverse = whitening @ whitening.T
    indicators = _indicators(rows, answer_weights, shares)[model.answer]
    fitted_shares = model.x @ (inverse @ (model.x.T @ (indicators * model.weight[:, None])))
    everybody = np.broadcast_to(shares, fitted_shares.shape)
    for chances, edge in ((everybody, _EDGE), (fitted_shares, _EDGE), (fitted_shares, 5 * _EDGE)):
        yield np.concatenate([_coefficients(model, inverse, np.maximum(chances, edge)).ravel(), nu])
    common = _coefficients(model, inverse, np.maximum(everybody, _EDGE))
    axes = _axes(model, whitening, indicators @ np.arange(model.t))
    rng = np.random.default_rng(_SEED)
    while True:
        for spread in _SPREADS:
            random_terms = spread * rng.normal(size=(model.t, axes.shape[1])) @ axes.T
            beta = common + (random_terms - random_terms[model.reference])[model.free]
            yield np.concatenate([beta.ravel(), rng.uniform(0.1, 0.9, model.q)])


def _inside(model: Model, cells: Floats) -> tuple[Floats, Floats]:
    """Nuisance parameters and shares of the categories from shares of cells."""
    nu, shares = np.empty(model.q), np.zeros(model.t)
    holders = Counter(cell for cell, _ in model.within.paths)  # a cell of no category lies within all of them
    for cell, category in model.within.paths:
        shares[category] += cells[cell] / holders[cell]
    for k in range(model.q):
        path_cells = {cell: up for (cell, _), path in model.within.paths.items() for place, up in path if place == k}
        whole_share = sum(cells[cell] for cell in path_cells)
        part = sum(cells[cell] for cell, up in path_cells.items() if up)
        nu[k] = np.clip(part / whole_share, _EDGE, 1 - _EDGE) if whole_share > _EDGE else 0.5
    return nu, shares


def _indicators(rows: Floats, heavy: Floats, shares: Floats) -> Floats:
    """What each distinct answer says of each category, (distinct, t), with the category itself as its mean.

    The score s = L / f has the mean I e_j in category j, I the mean of s sᵀ; so I⁻¹ s has the mean e_j.
    """
    f = rows @ np.maximum(shares, _EDGE)
    scores = rows / np.where(f > 0, f, 1.0)[:, None]
    information = (scores.T * heavy) @ scores / heavy.sum()
    return np.asarray(scores @ np.linalg.pinv(information, rcond=1e-9, hermitian=True))


def _coefficients(model: Model, inverse: Floats, shares: Floats) -> Floats:
    """Coefficients (t - 1, p) whose linear predictors are nearest to the logits of shares (n, t)."""
    logits = np.log(shares)
    eta = logits[:, model.free] - logits[:, [model.reference]]
    if model.offset is not None:
        eta = eta - model.offset[:, None]
    return np.asarray((inverse @ (model.x.T @ (eta * model.weight[:, None]))).T)


def _whitening(model: Model) -> Floats:
    """Directions (p, rank) of coefficients whose linear predictors are orthonormal over the people."""
    moments = (model.x.T * model.weight) @ model.x
    scale = 1 / np.sqrt(np.maximum(np.diagonal(moments), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(moments * scale * scale[:, None])
    is_present = values > 1e-12 * values.max()
    return np.asarray(scale[:, None] * vectors[:, is_present] / np.sqrt(values[is_present]))


def _axes(model: Model, white: Floats, answers: Floats) -> Floats:
    """Directions (p, rank) of coefficients that follow from the data, each with linear predictors of mean square 1.

    They diagonalize Σ w c x xᵀ beside Σ w x xᵀ, where c is the leverage of a row and its answer as a number: other
    columns that span the same space give the same linear predictors.
    """
    z = model.x @ white
    c = model.weight * ((z**2).sum(axis=1) * model.weight.sum() / z.shape[1] + answers)
    _, rotation = np.linalg.eigh((z.T * c) @ z)
    signs = np.where(c @ (z @ rotation) < 0, -1.0, 1.0)
    return np.asarray(white @ (rotation * signs) * np.sqrt(model.weight.sum()))
