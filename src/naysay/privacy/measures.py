"""What an answer changes in a reader's knowledge: posterior, gain in bits, odds, Bayes vulnerability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.design import Answerable, Design
from naysay.errors import DesignError
from naysay.privacy.statement import each_level, entropy, prior_of
from naysay.responses import Responses

__all__ = ["gain", "odds", "posterior", "vulnerability"]


def posterior(design: Answerable, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """The probability of each category given each answer: P(X = j | y) ∝ P(y | j) π_j.

    Parameters
    ----------
    design : Design, Levels or Samples
    responses : Responses or sequence (n,)
        Answers. After a missing answer the posterior is the prior.
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (n, t) float
        Rows sum to one.

    Raises
    ------
    DesignError
        An answer that is impossible under the prior.

    Examples
    --------
    >>> from naysay import designs
    >>> posterior(designs.two_coins(), ["yes"], prior=(0.15, 0.85)).round(3)
    array([[0.346, 0.654]])
    """
    pi = prior_of(prior, design)
    joint = _likely(design, responses) * pi
    totals = joint.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        row = int((totals[:, 0] == 0).argmax())
        raise DesignError(
            f"answer {row + 1} is impossible under this prior: every category that it leaves possible has prior 0"
        )
    return np.asarray(joint / totals)


def _likely(design: Answerable, responses: Any) -> NDArray[np.float64]:
    """The likelihood rows, (n, t), or numbers in proportion to them where they may be too small for a float."""
    odds = None if design.several else design.channel().odds
    if odds is None:
        return design.likelihood(responses)
    encoded = responses if isinstance(responses, Responses) else design.encode(responses)
    rows = np.ones((len(encoded), len(design.categories)))
    rows[~encoded.missing] = design.channel().integers(encoded.codes[~encoded.missing])
    return rows


def gain(design: Design, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """How many bits each answer takes off the uncertainty about the person: H(π) - H(π | y).

    The mean gain over all answers is the information. A single gain may be negative: the answer then makes a reader
    doubt who was almost certain before.

    Parameters
    ----------
    design : Design
    responses : Responses or sequence (n,)
    prior : (t,) float, optional

    Returns
    -------
    (n,) float

    References
    ----------
    Esponda (2006), equation 2.

    Examples
    --------
    >>> from naysay import designs
    >>> gain(designs.negative(("a", "b", "c")), ["a"], prior=(0.9, 0.05, 0.05)).round(2)
    array([-0.43])
    """
    return np.asarray(entropy(prior_of(prior, design)) - entropy(posterior(design, responses, prior)))


@each_level
def odds(design: Design, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Posterior odds over prior odds of each category, for each response, (responses, t).

    P(y | j) / P(y | not j), where the prior averages P(y | not j) over the other categories. It is 0 where the answer
    rules the category out, and ∞ where it proves it. If there are too many responses to list, there is one row, for a
    response that stands for all.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (responses, t) float, or {level: (responses, t) float}

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.

    Examples
    --------
    >>> from naysay import designs
    >>> odds(designs.warner(p=0.75)).round(3)
    array([[3.   , 0.333],
           [0.333, 3.   ]])
    """
    pi = prior_of(prior, design)
    rows = design.rows(design.typical_codes)
    if design.odds is not None:  # in proportion to the likelihood, which may be too small for a float
        rows = np.asarray(design.integers(design.typical_codes), dtype=float)
    rows = rows[rows.max(axis=1) > 0]
    # Add the other categories from both ends: subtracting one from the total would lose all digits at odds of 10^12.
    joint, none = rows * pi, np.zeros((len(rows), 1))
    before, after = np.cumsum(joint, axis=1)[:, :-1], np.cumsum(joint[:, ::-1], axis=1)[:, -2::-1]
    others = np.hstack([none, before]) + np.hstack([after, none])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rows * (1 - pi) / others
    return np.asarray(np.where(rows == 0, 0.0, ratio))


@each_level
def vulnerability(design: Design, prior: ArrayLike | None = None) -> tuple[float, float]:
    """How often the best guess of a person's category is right: after their answer, and before it.

    Bayes vulnerability Σ_y max_j π_j P(y | j), compared with max_j π_j before the answer.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (float, float), or {level: (float, float)}
        Probabilities: after the answer, and before it.

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.
    DesignError
        There are too many responses to list, and there is no closed form.

    Examples
    --------
    >>> from naysay import designs
    >>> vulnerability(designs.two_coins(), prior=(0.15, 0.85))
    (0.85, 0.85)
    """
    pi = prior_of(prior, design)
    return design.guessed(pi), float(pi.max())
