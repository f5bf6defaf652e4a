"""A regression as data, with all that follows from its numbers: tests, effects, predictions, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naysay.regression import effects, hypotheses, telling
from naysay.regression.effects import Effects, Predictions
from naysay.regression.fitted import Fitted
from naysay.regression.hypotheses import Test
from naysay.show import latex, text
from naysay.show.content import Content
from naysay.show.html import notebook


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Fitted):
    """A logistic or multinomial regression of the true category; `regress` makes it.

    Coefficients stand one equation after the other: for each category but the reference, one for each column of the
    formula.

    Parameters
    ----------
    data : Data
        Who is in it, and what they said.
    optimum : Optimum
    standard_error_name : str
        What standard errors rest on: observed, expected, outer_product or sandwich.
    penalty : Penalty, optional
    model : Model
        The likelihood; rows that are alike may be one.
    squared : (rows,) float
        Sums of squared weights of the rows of the model.

    Examples
    --------
    >>> from naysay import designs, regression
    >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
    >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
    >>> fit.names, fit.odds_ratios.round(3)
    ((('yes', 'Intercept'), ('yes', 'old')), array([0.429, 3.5  ]))
    """

    @cached_property
    def against_constant(self) -> Test | None:
        """The likelihood-ratio test against the constant alone; None where that says nothing."""
        return hypotheses.against_constant(self)

    def wald(self, term: str) -> Test:
        """The Wald test that all coefficients of a term are 0, such as ``gender`` or ``age:gender``."""
        return hypotheses.wald(self, term)

    def tests(self) -> dict[str, Test]:
        """The Wald test of each term of the formula but the constant."""
        return {term: self.wald(term) for term in self.data.matrix.terms if term != "1"}

    def likelihood_ratio(self, smaller: Regression) -> Test:
        """The likelihood-ratio test against a regression of the same answers with fewer terms.

        Raises
        ------
        DataError
            Other people, no fewer coefficients, weights or a penalty, under which the ratio has no known distribution.
        """
        return hypotheses.likelihood_ratio(self, smaller)

    def effects(self, variables: Sequence[str] | None = None) -> Effects:
        """Average marginal effects: how the shares change with each variable, on average over the people in the model.

        Of a number the mean derivative; of a text the mean difference from its first category. Other variables stay as
        they are.

        Parameters
        ----------
        variables : sequence of str, optional
            All variables of the formula by default.
        """
        return effects.effects(self, variables)

    def margins(self, **values: Any) -> Predictions:
        """Shares predicted with some variables at one value for everybody, averaged over the people in the model.

        Examples
        --------
        >>> from naysay import designs, regression
        >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
        >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
        >>> fit.margins(old=1).probabilities.round(3)
        array([[0.6, 0.4]])
        """
        return effects.margins(self, values)

    def along(self, variable: str) -> tuple[tuple[Any, ...], Predictions]:
        """Shares predicted along one variable: its values, and the shares if everybody had each of them.

        The values are the categories of a text; of a number its own values, or 21 between the least and the largest.
        Other variables stay as they are.

        Examples
        --------
        >>> from naysay import designs, regression
        >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
        >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
        >>> values, shares = fit.along("old")
        >>> values, shares.probabilities[:, 0].round(3)
        ((0, 1), array([0.3, 0.6]))
        """
        return effects.along(self, variable)

    def predict(self, data: Any, *, offset: Any = 0.0) -> Predictions:
        """The shares of people with given covariates.

        Parameters
        ----------
        data : dataframe or mapping of columns
            The variables of the formula, one row for each kind of people.
        offset : float or (rows,) float
            Added to the linear predictors.
        """
        return effects.predict(self, data, offset)

    def sections(self, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> list[Content]:
        """The regression in the vocabulary of `naysay.show`."""
        return telling.sections(self, confidence, at)

    def to_dict(self, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """The regression as one JSON object with stable names; undefined numbers are None."""
        return telling.to_dict(self, confidence, at)

    def to_csv(self, confidence: float = 0.95) -> str:
        """The coefficients as CSV, a row each."""
        return telling.to_csv(self, confidence)

    def to_latex(self, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> str:
        """The regression as LaTeX, with tables that need the package booktabs."""
        return latex(self.sections(confidence, at))

    def to_text(self, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> str:
        """The regression as plain text.

        Parameters
        ----------
        confidence : float
        at : sequence of mapping
            Values of variables at which shares are predicted, as by `margins`.
        """
        return text(self.sections(confidence, at))

    @property
    def reservations(self) -> list[str]:
        """What a reader must be told with the numbers."""
        return telling.reservations(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<Regression {self.data.formula.text!r}: {len(self.names)} coefficients (n = {self.n:,})>"
