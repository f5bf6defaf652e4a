"""A regression as a page of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from naysay.regression import Regression
from naysay.report.page import Section, html

__all__ = ["regression_html"]


def regression_html(fit: Regression, *, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> str:
    """One regression as a whole page: coefficients, odds ratios, tests, effects, and their basis.

    Parameters
    ----------
    fit : Regression
    confidence : float
    at : sequence of mapping
        Values of variables for which shares are predicted.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, regression
    >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
    >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
    >>> page = regression_html(fit)
    >>> page.startswith("<!doctype html>"), "odds ratio" in page
    (True, True)
    """
    facts = [(f"{fit.n:,}", "answers"), (f"{len(fit.names)}", "coefficients")]
    section = Section("The regression", fit.sections(confidence, at))
    return html(fit.data.formula.text, [section], facts=facts)
