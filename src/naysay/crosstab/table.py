"""The crosstab as data: the joint distribution of two or three variables, and what is read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from rich.console import Console

from naysay import _checks
from naysay.crosstab import independence, printing
from naysay.crosstab.derived import Derived, correlation, odds_ratio, row_share, yules_q
from naysay.crosstab.printing import CrosstabPrint
from naysay.crosstab.variables import Variable, answered_in_part, check_variables, design_and_tally, variable
from naysay.errors import DataError, NaysayError, NotEstimable
from naysay.estimate import ESTIMATORS, Estimate, maximum_likelihood
from naysay.estimate.linear import Floats, check_rank
from naysay.estimate.result import Intervals
from naysay.sampling import Sampling
from naysay.show import text
from naysay.show.content import Content
from naysay.show.html import notebook

ESTIMATED = ("maximum_likelihood", "moments")
"""The estimators of a crosstab."""


@dataclass(frozen=True)
class Association:
    """A measure of how rows and columns go together.

    Parameters
    ----------
    name : str
        Odds ratio, correlation or Cramér's V.
    layer : label or None
        The layer that it is of; None for the table of rows and columns alone.
    value : float
    interval : (float, float)
    method : str
        Of the interval.
    """

    name: str
    layer: Any
    value: float
    interval: tuple[float, float]
    method: str


@dataclass(frozen=True, eq=False)
class Crosstab:
    """The joint distribution of two or three variables.

    Parameters
    ----------
    variables : tuple of Variable
        Rows, columns, and layers where there are three.
    fit : Estimate
        The joint distribution as one estimate over the pairs (or triples) of categories.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, crosstab
    >>> table = {"cheated": ["yes", "yes", "no", "no"], "sex": ["f", "m", "f", "m"], "n": [200, 90, 150, 160]}
    >>> found = crosstab(table, row=Variable("cheated", designs.warner(p=0.8)), column="sex", count="n")
    >>> found.proportions.round(3)
    array([[0.361, 0.111],
           [0.222, 0.306]])
    >>> found.conditional()[1].round(3)
    array([[[0.687, 0.841],
            [0.159, 0.313]],
    <BLANKLINE>
           [[0.345, 0.496],
            [0.504, 0.655]]])
    """

    variables: tuple[Variable, ...]
    fit: Estimate

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each variable."""
        return tuple(len(variable.labels) for variable in self.variables)

    @property
    def layers(self) -> tuple[Any, ...]:
        """What measures are given for: the table of rows and columns (None), then each layer."""
        return (None, *self.variables[2].labels) if len(self.variables) > 2 else (None,)

    @property
    def n(self) -> int:
        """People who answered one of the questions at least."""
        return self.fit.n

    @cached_property
    def partly(self) -> int:
        """People who left out some of the questions; what they said is used by maximum likelihood."""
        return answered_in_part(self.fit.tally)

    @property
    def proportions(self) -> Floats:
        """The joint distribution, (rows, columns) or (rows, columns, layers)."""
        return self.fit.proportions.reshape(self.shape)

    @property
    def standard_errors(self) -> Floats:
        """Of the proportions, in the same shape; NaN where undefined."""
        return self.fit.standard_errors.reshape(self.shape)

    @property
    def covariance(self) -> Floats:
        """Of the proportions, (cells, cells), in the order of ``proportions.ravel()``."""
        return self.fit.covariance

    def interval(self, confidence: float = 0.95, *, method: str | None = None) -> Floats:
        """Intervals of the proportions, (rows, columns, 2) or (rows, columns, layers, 2); see `Estimate.interval`."""
        return self.intervals(confidence, method=method).bounds.reshape(*self.shape, 2)

    def intervals(self, confidence: float = 0.95, *, method: str | None = None) -> Intervals:
        """The intervals with their method, and which of them lay outside [0, 1]; see `Estimate.intervals`."""
        return self.fit.intervals(confidence, method=method)

    def margin(self, place: int = 0) -> Floats:
        """The distribution of one variable, (categories,): 0 for the rows, 1 for the columns, 2 for the layers."""
        other_axes = tuple(axis for axis in range(len(self.shape)) if axis != place)
        return np.asarray(self.proportions.sum(axis=other_axes))

    @cached_property
    def moments(self) -> Estimate | None:
        """The unbiased estimate, to stand beside maximum likelihood; None where there is none."""
        if self.fit.maximum is None:
            return None
        try:
            return _moments(self.fit)
        except NaysayError:  # answers in part have no unbiased indicator
            return None

    @cached_property
    def _derived(self) -> Derived:
        return Derived(self.fit, self.shape)

    def layer_named(self, layer: Any) -> int | None:
        """The place of a layer; None for the table of rows and columns alone."""
        if layer is None:
            return None
        places = {str(name): place for place, name in enumerate(self.layers[1:])}
        if str(layer) not in places:
            raise DataError(f"there is no layer {layer!r}; the layers are {_checks.listing_text(self.layers[1:])}")
        return places[str(layer)]

    def sliced(self, layer: Any = None) -> Floats:
        """The joint distribution of rows and columns, (rows, columns): of all, or the part of it in a layer."""
        return self._derived.layer_table(self.layer_named(layer))

    def conditional(self, layer: Any = None, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """The shares of the columns within each row, (rows, columns), and their intervals, (rows, columns, 2).

        NaN in rows that are estimated to be empty.

        Parameters
        ----------
        layer : label, optional
            Within a layer; by default over all layers.
        confidence : float
            Of each interval by itself.
        """
        _checks.confidence(confidence)
        place = self.layer_named(layer)
        rows, columns = self.shape[:2]
        values, bounds = np.full((rows, columns), np.nan), np.full((rows, columns, 2), np.nan)
        empty = self._derived.layer_table(place).sum(axis=1) <= 1e-9
        for i, j in np.ndindex(rows, columns):
            if columns == 2 and j == 1:  # the rest
                values[i, 1], bounds[i, 1] = 1 - values[i, 0], 1 - bounds[i, 0, ::-1]
            elif not empty[i]:
                values[i, j], bounds[i, j], _ = self._derived.value_and_interval(
                    row_share(i, j), place, confidence, ends=(0.0, 1.0)
                )
        return values, bounds

    def associations(self, confidence: float = 0.95) -> tuple[Association, ...]:
        """Odds ratio (two by two), correlation (two or ordered categories) and Cramér's V, in each layer and over all.

        Parameters
        ----------
        confidence : float
            Of each interval by itself.
        """
        _checks.confidence(confidence)
        measures: list[Association] = []
        row, column = (variable.numbers for variable in self.variables[:2])
        for layer in self.layers:
            place = self.layer_named(layer)
            value_and_interval = partial(
                self._derived.value_and_interval, layer=place, confidence=confidence, ends=(-1.0, 1.0)
            )
            if self.shape[:2] == (2, 2):
                q, (low, high), method = value_and_interval(yules_q)
                measures.append(
                    Association("odds ratio", layer, odds_ratio(q), (odds_ratio(low), odds_ratio(high)), method)
                )
            if row is not None and column is not None:
                value, bounds, method = value_and_interval(correlation(np.array(row), np.array(column)))
                measures.append(Association("correlation", layer, value, bounds, method))
            if self.shape[:2] != (2, 2):  # there it is the absolute value of the correlation
                value, bounds = self._derived.cramers_v(place, confidence)
                measures.append(Association("Cramér's V", layer, value, bounds, "noncentral χ²"))
        return tuple(measures)

    def independence(
        self, *, replicates: int = 0, rng: np.random.Generator | None = None, console: Console | None = None
    ) -> independence.Independence | None:
        """The test that rows and columns are independent; with layers, in each layer.

        Parameters
        ----------
        replicates : int
            Surveys of the parametric bootstrap, at most; 0 for χ² alone. With survey weights there is no bootstrap, and
            the reference is the second-order correction of Rao & Scott.
        rng : numpy Generator, optional
            By default one with a fixed seed.
        console : rich Console, optional
            Where to show progress.

        Returns
        -------
        Independence or None
            None where samples tell finer cells apart than the categories.
        """
        if replicates < 0:
            raise DataError(f"replicates must not be negative; got {replicates}")
        if self.fit.design.finer:
            return None
        log_likelihood = self._derived.likelihood.top
        return independence.test(
            self.fit.tally, self.shape, log_likelihood, replicates=replicates, rng=rng, console=console
        )

    def sections(self, options: CrosstabPrint | None = None) -> list[Content]:
        """The crosstab in the vocabulary of `naysay.show`."""
        return printing.sections(self, options or CrosstabPrint())

    def to_dict(self, options: CrosstabPrint | None = None) -> dict[str, Any]:
        """The crosstab as one JSON object with stable names; undefined and infinite numbers are None."""
        return printing.to_dict(self, options or CrosstabPrint())

    def told(self, options: CrosstabPrint | None = None) -> list[str]:
        """What a reader must know beside the numbers: the test, what it rests on, and reservations."""
        return printing.basis_and_reservations(self, options or CrosstabPrint())

    def to_csv(self, options: CrosstabPrint | None = None) -> str:
        """The cells as CSV, one a line, with their shares within rows."""
        return printing.to_csv(self, options or CrosstabPrint())

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        names = " × ".join(f"{variable.column} ({len(variable.labels)})" for variable in self.variables)
        return f"<Crosstab {names}: n = {self.n}>"


def _moments(fit: Estimate) -> Estimate:
    return ESTIMATORS["moments"].under(fit.design).fit(fit.design, fit.tally)


def crosstab(
    data: Any,
    *,
    row: Variable | str,
    column: Variable | str,
    layer: Variable | str | None = None,
    weights: str | None = None,
    sampling: Sampling | None = None,
    count: str | None = None,
    estimator: str = "maximum_likelihood",
) -> Crosstab:
    """The joint distribution of two or three variables, randomized or plain.

    A joint answer is evidence about a pair of categories: its likelihood row is the Kronecker product of the rows of
    the answers. A question that a person left out is a row of ones: what they said elsewhere still counts.

    Parameters
    ----------
    data : dataframe or mapping of columns
        One row for each respondent, or with `count` for each distinct answer.
    row, column, layer : Variable or str
        A name alone is that of a column that is read as it is; its answers must not be those of a randomized question,
        yes and no or the categories of another variable's design: ``Variable(column, "plain")`` says that nobody
        randomized them.
    weights, count : str, optional
        Columns of survey weights, and of how many people each row stands for.
    sampling : Sampling, optional
        Strata, clusters, finite population, replicate weights.
    estimator : {"maximum_likelihood", "moments"}
        Moments are unbiased and may leave [0, 1]; their derived numbers have intervals by the delta method, which hold
        less well.

    Returns
    -------
    Crosstab

    Raises
    ------
    DataError
        Unknown columns, or one in two roles; a plain category that nobody is in; a question that nobody answered; too
        many cells.
    NotEstimable
        If a design cannot tell some categories apart.

    References
    ----------
    van den Hout & van der Heijden (2002) for two randomized answers; Rao & Scott (1984) for survey weights.

    Examples
    --------
    >>> from naysay import designs
    >>> table = {"a": ["yes", "yes", "no", "no"], "b": ["yes", "no"] * 2, "n": [90, 70, 80, 170]}
    >>> kuk = designs.warner(p=0.8)
    >>> found = crosstab(table, row=Variable("a", kuk), column=Variable("b", kuk), count="n")
    >>> found.proportions.round(3)
    array([[0.274, 0.043],
           [0.084, 0.599]])
    >>> found.independence().p_value < 0.001
    True
    """
    if estimator not in ESTIMATED:
        raise DataError(f"a crosstab is estimated by {' or '.join(ESTIMATED)}; got {estimator!r}")
    names_or_variables: Sequence[Variable | str] = [
        crossed_variable for crossed_variable in (row, column, layer) if crossed_variable is not None
    ]
    variables = check_variables([variable(crossed_variable) for crossed_variable in names_or_variables], data)
    design, tally = design_and_tally(variables, data, weights=weights, sampling=sampling, count=count)
    try:
        if estimator == "moments":
            return Crosstab(variables, ESTIMATORS["moments"].under(design).fit(design, tally))
        return Crosstab(variables, maximum_likelihood(design, tally))
    except NotEstimable as error:
        for crossed_variable in variables:
            _check_estimable(crossed_variable)
        raise error


def _check_estimable(crossed_variable: Variable) -> None:
    """Raise the same error about the one variable that is the reason."""
    for channel in crossed_variable.known.parts.values():
        try:
            check_rank(channel.expected_statistic, channel.categories)
        except NotEstimable as error:
            raise NotEstimable(
                f"column {crossed_variable.column!r}: {error}", contrast=error.contrast, rank=error.rank
            ) from None
