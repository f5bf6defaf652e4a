"""Randomized response: answers that chance has changed, with known probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Design
from naysay.design.exact import as_fraction, odds_within
from naysay.designs._table import YES_NO, call, of_probabilities, of_weights
from naysay.errors import DesignError

__all__ = ["k_ary", "two_coins", "warner"]


def warner(*, p: Any, categories: Sequence[Any] = YES_NO) -> Design:
    """Warner's design: chance decides whether a statement or its negation is answered with yes or no.

    P(yes | yes) = p, P(yes | no) = 1 - p, so that ε = abs(ln(p / (1 - p))).

    Parameters
    ----------
    p : probability
        That the sensitive statement is the one answered; not 1/2.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p outside [0, 1], or 1/2; other than two categories.

    References
    ----------
    Warner (1965).

    Examples
    --------
    >>> warner(p=0.7).matrix
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """
    chance = as_fraction(p, what="p")
    if not 0 <= chance <= 1:
        raise DesignError(f"p must lie in [0, 1]; got {p!r}")
    if 2 * chance == 1:
        raise DesignError(f"p must not be 1/2; got {p!r} (a fair coin carries no information)")
    return of_probabilities([[chance, 1 - chance], [1 - chance, chance]], _two(categories), name=call("warner", p=p))


def two_coins(*, categories: Sequence[Any] = YES_NO) -> Design:
    """The two coins: if the first shows heads tell the truth, otherwise let the second one answer.

    P(yes | yes) = 3/4, P(yes | no) = 1/4; three quarters of all answers are true, and ε = ln 3.

    Parameters
    ----------
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Other than two categories.

    Examples
    --------
    >>> two_coins().matrix[0]
    array([0.75, 0.25])
    """
    return of_weights([[3, 1], [1, 3]], _two(categories), name="two_coins()")


def k_ary(categories: Sequence[Any] = YES_NO, *, epsilon: Any) -> Design:
    """k-ary randomized response: the truth with odds e^ε against each other category.

    P[i, i] = e^ε / (e^ε + t - 1), elsewhere 1 / (e^ε + t - 1), rounded so that the realized ε never exceeds the
    requested one.

    Parameters
    ----------
    categories : (t,) sequence of label
    epsilon : float
        ε in nats, positive.

    Raises
    ------
    DesignError
        ε that is not positive, too small to be drawn, or above 700.

    References
    ----------
    Kairouz, Bonawitz & Ramage (2016).

    Examples
    --------
    >>> k_ary(("a", "b", "c"), epsilon=1).matrix[:, 0].round(4)
    array([0.5761, 0.2119, 0.2119])
    """
    labels = _checks.categories(categories)
    a, b = odds_within(epsilon, others=len(labels) - 1)
    weights = np.full((len(labels), len(labels)), b, dtype=np.int64)
    np.fill_diagonal(weights, a)
    capped = float(as_fraction(epsilon)) - math.log(a / b) > 1e-9
    notes = (f"ε = {math.log(a / b):.4g} is the largest that can be drawn, less than asked",) if capped else ()
    return of_weights(weights, labels, name=call("k_ary", epsilon=epsilon), notes=notes)


def _two(categories: Sequence[Any]) -> tuple[Any, ...]:
    labels = _checks.categories(categories)
    if len(labels) != 2:
        raise DesignError(f"this design takes two categories, the sensitive one first; got {len(labels)}")
    return labels
