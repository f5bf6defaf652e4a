"""Bootstrap intervals: respondents are drawn again from those who answered, and estimated again."""

from __future__ import annotations

from typing import Any

import numpy as np

from naysay.errors import DataError, NotEstimable
from naysay.estimate.information import evidence, maximize
from naysay.estimate.likelihood import check_identified
from naysay.estimate.linear import Floats
from naysay.estimate.result import Estimate

__all__ = ["bootstrap_bounds", "not_redrawn"]

_LEAST = 2  # fewer replicates have no spread
_SEED = 1998  # fixed, so that a printed number can be reproduced


def not_redrawn(fit: Estimate) -> str | None:
    """Why an estimate cannot be bootstrapped; None where it can be."""
    if fit.target == "file":
        return "the bootstrap redraws respondents, but a file is fixed; use method='score', 'profile' or 'wald'"
    if fit.level_weights is not None:
        return "the bootstrap is for proportional weights of the levels; use method='score' or 'wald'"
    if fit.tally.weighted:
        return "the bootstrap of a weighted tally needs the rows; use method='score', 'wald' or 'profile'"
    if fit.cells is not None:
        return "several samples are not bootstrapped; use method='profile' or 'wald'"
    return None


def bootstrap_bounds(fit: Estimate, confidence: float, replicates: Any, rng: np.random.Generator | None) -> Floats:
    """The bootstrap intervals, (t, 2): studentized for means, percentiles of refits for likelihood estimates."""
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or replicates < _LEAST:
        raise DataError(f"replicates must be a whole number from {_LEAST} on, such as 1999; got {replicates!r}")
    replicates = int(replicates)
    rng = np.random.default_rng(_SEED) if rng is None else rng
    tail = (1 - confidence) / 2
    if fit.indicators is None:
        return _refit_bootstrap(fit, replicates, tail, rng)
    terms = fit.indicators
    ends = [_studentized(terms.u[:, j], terms.count, replicates, tail, rng) for j in range(terms.u.shape[1])]
    return np.array(ends)


def _studentized(
    u: Floats, count: Floats, replicates: int, tail: float, rng: np.random.Generator
) -> tuple[float, float]:
    """The bootstrap-t interval of a mean."""
    values, inverse = np.unique(u.round(12), return_inverse=True)
    size = np.bincount(inverse, count)
    n = int(size.sum())
    mean = float(size @ values / n)
    error = float(np.sqrt(size @ (values - mean) ** 2 / n / max(n - 1, 1)))
    drawn = rng.multinomial(n, size / n, size=replicates)
    means = drawn @ values / n
    errors = np.sqrt(np.maximum(drawn @ values**2 / n - means**2, 0) / max(n - 1, 1))
    usable = errors > 0
    if error == 0 or not usable.any():
        return mean, mean
    ratios = (means[usable] - mean) / errors[usable]
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return mean - high * error, mean - low * error


def _refit_bootstrap(fit: Estimate, replicates: int, tail: float, rng: np.random.Generator) -> Floats:
    """Percentiles of the estimate over resampled respondents; a resample that loses a category is left out."""
    check_identified(fit.tally)
    rows, weights, _ = evidence(fit.tally)
    n = round(weights.sum())
    refits = []
    for _ in range(replicates):
        drawn = rng.multinomial(n, weights / weights.sum())
        seen = drawn > 0
        refits.append(maximize(rows[seen], drawn[seen].astype(float), tolerance=1e-3, polish=0).proportions)
    if not refits:
        raise NotEstimable("a bootstrap needs at least one replicate")
    return np.quantile(np.array(refits), [tail, 1 - tail], axis=0).T
