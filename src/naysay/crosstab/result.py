"""A `Crosstab`: the joint distribution of two or three variables, how it reads, and its page with heat maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial, reduce
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from naysay import _checks
from naysay._values import Floats, Label
from naysay.crosstab import independence
from naysay.crosstab.independence import Independence
from naysay.crosstab.intervals import Derived, correlation, odds_ratio, row_share, yules_q
from naysay.crosstab.variables import (
    Variable,
    answered_alike,
    as_variable,
    check_margin,
    check_variables,
)
from naysay.errors import DataError, NaysayError, NotEstimable
from naysay.estimate import ESTIMATORS, Estimate, maximum_likelihood
from naysay.estimate.compliance import DENIERS, OTHERS_ALIKE, share_sentence
from naysay.estimate.fit import Intervals, alike, decimals_of, number_text, reliable_errors
from naysay.estimate.fitting import score_test
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.likelihood import check_rank
from naysay.estimate.result import beyond, cautions
from naysay.responses.spaces import MISSING
from naysay.sampling import Sampling
from naysay.show import Chart, Column, Content, Note, Points, Records, Result, Sentence, Table
from naysay.show.charts import heat_map
from naysay.show.page import Section, html
from naysay.show.result import fixed_decimals, percent

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

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
    layer: Label | None
    value: float
    interval: tuple[float, float]
    method: str


@dataclass(frozen=True, eq=False)
class Crosstab(Result):
    """The joint distribution of two or three variables.

    Parameters
    ----------
    variables : tuple of Variable
        Rows, columns, and layers where there are three.
    fit : Estimate
        The joint distribution as one estimate over the pairs (or triples) of categories.
    confidence : float
        Of each interval in print, by itself.
    test : Independence, optional
        The test in print; by default that by χ².

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
    confidence: float = 0.95
    test: Independence | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each variable."""
        return tuple(len(variable.labels) for variable in self.variables)

    @property
    def layers(self) -> tuple[Label | None, ...]:
        """What measures are given for: the table of rows and columns (None), then each layer."""
        return (None, *self.variables[2].labels) if len(self.variables) > 2 else (None,)

    @property
    def n(self) -> int:
        """People who answered one of the questions at least."""
        return self.fit.n

    @cached_property
    def partly(self) -> int:
        """People who left out some of the questions; what they said is used by maximum likelihood."""
        return sum(int(part.count[(part.codes == MISSING).any(axis=1)].sum()) for part in self.fit.tally.parts)

    @cached_property
    def compliance(self) -> tuple[tuple[str, str, float, tuple[float, float]], ...]:
        """Who does not comply, by controls: the question's column, the type, its share, and the interval of that."""
        types = [(variable, share) for variable in self.variables for share in variable.known.nuisance]
        ends = nuisance_intervals(self.fit, confidence=self.confidence, method=None) if types else {}
        return tuple(
            (variable.column, _checks.label(share.name), value.value, ends[name])
            for (variable, share), (name, value) in zip(types, self.fit.nuisance.items(), strict=True)
            if variable.controls
        )

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
            return ESTIMATORS["moments"].under(self.fit.design).fit(self.fit.design, self.fit.tally)
        except NaysayError:  # answers in part have no unbiased indicator
            return None

    @cached_property
    def _derived(self) -> Derived:
        return Derived(self.fit, self.shape)

    def layer_named(self, layer: Label | None) -> int | None:
        """The place of a layer; None for the table of rows and columns alone."""
        if layer is None:
            return None
        layer_places = {str(layer_name): place for place, layer_name in enumerate(self.layers[1:])}
        if str(layer) not in layer_places:
            raise DataError(f"there is no layer {layer!r}; the layers are {_checks.listing_text(self.layers[1:])}")
        return layer_places[str(layer)]

    def sliced(self, layer: Label | None = None) -> Floats:
        """The joint distribution of rows and columns, (rows, columns): of all, or the part of it in a layer."""
        return self._derived.layer_table(self.layer_named(layer))

    def conditional(self, layer: Label | None = None, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
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
        layer_place = self.layer_named(layer)
        row_count, column_count = self.shape[:2]
        shares_within, bounds_within = (
            np.full((row_count, column_count), np.nan),
            np.full((row_count, column_count, 2), np.nan),
        )
        is_empty_row = self._derived.layer_table(layer_place).sum(axis=1) <= 1e-9
        for i, j in np.ndindex(row_count, column_count):
            if column_count == 2 and j == 1:  # the rest
                shares_within[i, 1], bounds_within[i, 1] = 1 - shares_within[i, 0], 1 - bounds_within[i, 0, ::-1]
            elif not is_empty_row[i]:
                shares_within[i, j], bounds_within[i, j], _ = self._derived.value_and_interval(
                    row_share(i, j), layer_place, confidence, ends=(0.0, 1.0)
                )
        return shares_within, bounds_within

    def associations(self, confidence: float = 0.95) -> tuple[Association, ...]:
        """Odds ratio (two by two), correlation (two or ordered categories) and Cramér's V, in each layer and over all.

        Parameters
        ----------
        confidence : float
            Of each interval by itself.
        """
        _checks.confidence(confidence)
        measures: list[Association] = []
        row_numbers, column_numbers = (variable.numbers for variable in self.variables[:2])
        for layer in self.layers:
            layer_place = self.layer_named(layer)
            value_and_interval = partial(
                self._derived.value_and_interval, layer=layer_place, confidence=confidence, ends=(-1.0, 1.0)
            )
            if self.shape[:2] == (2, 2):
                q, (low, high), method = value_and_interval(yules_q)
                measures.append(
                    Association("odds ratio", layer, odds_ratio(q), (odds_ratio(low), odds_ratio(high)), method)
                )
            if row_numbers is not None and column_numbers is not None:
                value, bounds, method = value_and_interval(correlation(np.array(row_numbers), np.array(column_numbers)))
                measures.append(Association("correlation", layer, value, bounds, method))
            if self.shape[:2] != (2, 2):  # there it is the absolute value of the correlation
                value, bounds = self._derived.cramers_v(layer_place, confidence)
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
        if self.fit.design.structure.finer:
            return None
        log_likelihood = self._derived.likelihood.top
        return independence.test(
            self.fit.tally, self.shape, log_likelihood, replicates=replicates, rng=rng, console=console
        )

    @cached_property
    def _printed_test(self) -> Independence | None:
        return self.test or self.independence()

    @cached_property
    def _measured(self) -> tuple[Association, ...]:
        return self.associations(self.confidence)

    @cached_property
    def _within_rows(self) -> dict[Label | None, tuple[Floats, Floats]]:
        return {layer: self.conditional(layer, confidence=self.confidence) for layer in self.layers}

    @property
    def title(self) -> str:
        """The columns that are crossed."""
        return " × ".join(variable.column for variable in self.variables)

    def parts(self) -> list[Content]:
        """The crosstab in the vocabulary of `naysay.show`: its basis, then its numbers."""
        return [*self.basis_parts(), *self.number_parts()]

    def basis_parts(self) -> list[Content]:
        """What was crossed, who answered, and how it is estimated."""
        fit = self.fit
        design_names = " × ".join(
            "plain" if variable.plain else variable.known.name or variable.known.kind for variable in self.variables
        )
        partly_text = (
            f"{self.partly:,} of them left out some question" if self.partly else "each answered every question"
        )
        missing_text = f", {fit.missing:,} more answered none" if fit.missing else ""
        weight_text = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
        return [
            Sentence(f"{self.title}: {design_names}"),
            Sentence(f"{fit.n:,} people, {partly_text}{missing_text}{weight_text}"),
            *([] if fit.tally.complex is None else [Sentence(fit.tally.complex.sentence)]),
            Sentence(f"{fit.method}; standard errors: {fit.standard_error_kind}"),
            Sentence(f"{self.confidence:.4g} intervals of cells: {fit.intervals(self.confidence).method}"),
        ]

    def number_parts(self) -> list[Content]:
        """The tables, the test, and reservations."""
        return [
            self._joint(),
            *(self._within(layer) for layer in self.layers),
            self._measures(),
            Points(tuple(self._rests_on())),
            *(Note(reservation) for reservation in self._reservations),
        ]

    def _cells(self) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """The categories of each variable in one cell after the other, and the cell's place."""
        labels_by_variable = [[_checks.label(label) for label in variable.labels] for variable in self.variables]
        return zip(itertools.product(*labels_by_variable), np.ndindex(*self.shape), strict=True)

    def _joint(self) -> Table:
        """Every cell with its numbers."""
        number_columns = [
            ("share", self.proportions),
            ("s.e.", reliable_errors(self.fit).reshape(self.shape)),
            *zip(("low", "high"), np.moveaxis(self.interval(self.confidence), -1, 0), strict=True),
        ]
        if self.moments is not None:
            number_columns.append(("moments", self.moments.proportions.reshape(self.shape)))
        decimal_places = decimals_of(self.fit)
        variable_columns = [Column(variable.column, words=True, width=30) for variable in self.variables]
        table_rows = tuple(
            (*labels, *(number_text(float(numbers[place]), decimal_places) for _, numbers in number_columns))
            for labels, place in self._cells()
        )
        return Table(
            (*variable_columns, *(Column(number_name) for number_name, _ in number_columns)),
            table_rows,
            "Shares of all",
        )

    def _within(self, layer: Label | None) -> Table:
        """The shares of the columns within each row, and how large the row is."""
        row_variable, column_variable = self.variables[:2]
        shares_within, bounds_within = self._within_rows[layer]
        layer_table = self.sliced(layer)
        layer_total = layer_table.sum()
        row_names = [_checks.label(label) for label in row_variable.labels]
        table_rows = [
            (
                row_name,
                *(
                    _share_with_bounds(*cell)
                    for cell in zip(shares_within[row_place], bounds_within[row_place], strict=True)
                ),
                fixed_decimals(share, 3),
            )
            for row_place, (row_name, share) in enumerate(
                zip(row_names, layer_table.sum(axis=1) / layer_total, strict=True)
            )
        ]
        table_rows.append(
            ("all", *(fixed_decimals(share, 3) for share in layer_table.sum(axis=0) / layer_total), "1.000")
        )
        layer_text = "" if layer is None else f", {self.variables[2].column} = {_checks.label(layer)}"
        return Table(
            (
                Column(row_variable.column, words=True, width=30),
                *(Column(_checks.label(label)) for label in column_variable.labels),
                Column("of all"),
            ),
            tuple(table_rows),
            f"Shares of {column_variable.column} within each {row_variable.column}{layer_text}",
            apart=1,
        )

    def _measures(self) -> Table:
        """Each measure, of all or of each layer, with its interval."""
        has_layers = len(self.layers) > 1
        layer_columns = [Column(self.variables[2].column, words=True)] if has_layers else []
        table_rows = tuple(
            (
                association.name,
                *(["all" if association.layer is None else _checks.label(association.layer)] if has_layers else []),
                *(_number(value) for value in (association.value, *association.interval)),
                association.method,
            )
            for association in self._measured
        )
        number_columns = (Column("value"), Column("low"), Column("high"), Column("interval", words=True))
        columns = (Column("measure", words=True), *layer_columns, *number_columns)
        return Table(columns, table_rows, "How rows and columns go together")

    def _rests_on(self) -> Iterator[str]:
        """What the numbers rest on: the test, then the levels and the designs."""
        layer_text = f" in each {self.variables[2].column}" if len(self.layers) > 1 else ""
        if self._printed_test is None:
            yield "independence: no test, because the samples tell finer cells apart than the categories"
        else:
            yield self._printed_test.sentence(f"independence of rows and columns{layer_text}")
        if self.fit.design.offer.assigned_by == "respondent":
            yield str(score_test(self.fit.tally))
        for column, type_name, share, ends in self.compliance:
            yield f"{column}: {share_sentence(type_name, share, ends)}; the table is of the others, {OTHERS_ALIKE}"
        if self.compliance:
            yield DENIERS
        for variable in self.variables:
            if not variable.plain and variable.known.protocol is not None and variable.known.protocol.assumes:
                yield f"assumes of {variable.column}: {'; '.join(variable.known.protocol.assumes)}"

    @cached_property
    def _reservations(self) -> list[str]:
        """Warnings that travel with the numbers."""
        test = self._printed_test
        sentences = cautions(self.fit)
        sentences += beyond(self.fit, self.intervals(self.confidence))
        if not alike(self.fit.tally):  # or the warnings of the estimate say it
            sentences += [
                f"all answers to {variable.column} are alike: standard errors of its categories say nothing, see "
                "intervals"
                for variable_place, variable in enumerate(self.variables)
                if not variable.plain and answered_alike(self.fit.tally, variable_place)
            ]
        if self.fit.design.offer.assigned_by == "respondent" and self.fit.maximum is not None:
            sentences.append(
                "maximum likelihood takes the chosen levels to be independent of the categories; moments do not need "
                "this"
            )
        if test is not None and test.rare and test.reference == "χ²":
            sentences.append(
                f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: χ² of the "
                "likelihood ratio is doubtful, see Pearson's X² or the bootstrap (replicates)"
            )
        if test is not None and test.rare and test.design_effects:
            sentences.append(
                f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: in small "
                "clustered samples the corrected tests can find dependence too often"
            )
        if self.proportions.size > self.n:
            sentences.append(
                f"{self.proportions.size:,} cells for {self.n:,} people: the tests can contradict each other, and "
                "shares of single cells say little; join categories"
            )
        for variable_place, variable in enumerate(self.variables):
            empty_labels = [
                label
                for label, share in zip(variable.labels, self.margin(variable_place), strict=True)
                if share <= 1e-9
            ]
            if empty_labels:
                sentences.append(
                    f"an empty margin: {_checks.listing_text(empty_labels)} of {variable.column} is estimated to be "
                    "nobody"
                )
        return sentences

    def remarks(self) -> list[str]:
        """What a reader must know beside the numbers: the test, what it rests on, and reservations."""
        return [*self._rests_on(), *self._reservations]

    def numbers(self) -> dict[str, object]:
        """The crosstab by the names of its JSON."""
        fit, test, sampled = self.fit, self._printed_test, self.fit.tally.complex
        variable_fields = [
            {
                "column": variable.column,
                "design": None if variable.plain else variable.known.name,
                "categories": variable.labels,
            }
            for variable in self.variables
        ]
        return {
            "variables": variable_fields,
            "n": fit.n,
            "answered_in_part": self.partly,
            "missing": fit.missing,
            "method": fit.method,
            "proportions": self.proportions,
            "standard_errors": self.standard_errors,
            "standard_error_kind": fit.standard_error_kind,
            "covariance": self.covariance,
            "confidence": self.confidence,
            "intervals": self.interval(self.confidence),
            "moments": None if self.moments is None else self.moments.proportions.reshape(self.shape),
            "within_rows": [
                {"layer": layer, "shares": shares, "intervals": bounds}
                for layer, (shares, bounds) in self._within_rows.items()
            ],
            "associations": [asdict(association) for association in self._measured],
            "independence": None if test is None else asdict(test),
            "compliance": [
                dict(zip(("column", "type", "share", "interval"), entry, strict=True)) for entry in self.compliance
            ],
            "warnings": self._reservations,
        } | ({} if sampled is None else {"sampling": str(sampled), "degrees_of_freedom": sampled.degrees_of_freedom})

    def records(self) -> Records:
        """The cells, one a row, each with its share of its row."""
        cell_bounds = self.interval(self.confidence)
        shares_and_bounds = [self._within_rows[layer] for layer in self.layers[1:] or self.layers]
        rows = []
        for labels, place in self._cells():
            shares_within, bounds_within = shares_and_bounds[place[2] if len(place) > 2 else 0]
            joint_numbers = (self.proportions[place], self.standard_errors[place], *cell_bounds[place])
            rows.append([*labels, *joint_numbers, shares_within[place[:2]], *bounds_within[place[:2]]])
        number_names = ("proportion", "standard_error", "low", "high", "row_share", "row_share_low", "row_share_high")
        return Records([*(variable.column for variable in self.variables), *number_names], rows)

    def __repr__(self) -> str:
        variable_texts = " × ".join(f"{variable.column} ({len(variable.labels)})" for variable in self.variables)
        return f"<Crosstab {variable_texts}: n = {self.n}>"


def crosstab(
    data: IntoFrame | Mapping[str, Iterable[object]],
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
        maximum_likelihood (default), or moments: unbiased, may leave [0, 1].

        Derived numbers of moments have intervals by the delta method, which hold less well.

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
    named_variables = [as_variable(variable) for variable in (row, column, layer) if variable is not None]
    variables = check_variables(named_variables, data)
    design = reduce(mul, [variable.known for variable in variables])
    tally = design.tally(
        data,
        [column for variable in variables for column in variable.columns],
        level=[variable.level for variable in variables if variable.level is not None] or None,
        weights=weights,
        sampling=sampling,
        count=count,
    )
    for place, variable in enumerate(variables):
        check_margin(place, variable, tally)
    try:
        if estimator == "moments":
            return Crosstab(variables, ESTIMATORS["moments"].under(design).fit(design, tally))
        return Crosstab(variables, maximum_likelihood(design, tally))
    except NotEstimable as error:
        for variable in variables:  # the same error about the one variable that is the reason
            for channel in variable.known.parts.values():
                try:
                    check_rank(channel.expected_statistic, channel.categories)
                except NotEstimable as reason:
                    raise NotEstimable(
                        f"column {variable.column!r}: {reason}", contrast=reason.contrast, rank=reason.rank
                    ) from None
        raise error


def _share_with_bounds(value: float, bounds: Floats) -> str:
    if math.isnan(value):
        return "–"
    bound_texts = ("–" if math.isnan(end) else fixed_decimals(end, 3) for end in bounds.tolist())
    return f"{fixed_decimals(value, 3)} [{', '.join(bound_texts)}]"


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3g}" if abs(value) >= 100 else fixed_decimals(value, 3)


def heat(crosstab: Crosstab, *, size: int = 640, room: int = 26) -> str:
    """A heat map of a crosstab: of rows and columns, or one for each layer, one after the other.

    Parameters
    ----------
    crosstab : Crosstab
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    row_variable, column_variable, *layer_variables = crosstab.variables
    layers = crosstab.layers[1:] or crosstab.layers
    cell_shares, cell_bounds = (
        numbers.reshape((*crosstab.shape[:2], len(layers), *numbers.shape[len(crosstab.shape) :]))
        for numbers in (crosstab.proportions, crosstab.interval(crosstab.confidence))
    )
    images = []
    for layer_place, layer in enumerate(layers):
        layer_text = "" if layer is None else f", {layer_variables[0].column} = {_checks.label(layer)}"
        cell_texts = [
            [
                f"{percent(cell_shares[i, j, layer_place], 1)} ({percent(low, 1)} to {percent(high, 1)})"
                for j, (low, high) in enumerate(cell_bounds[i, :, layer_place])
            ]
            for i in range(len(row_variable.labels))
        ]
        images.append(
            heat_map(
                row_variable.labels,
                column_variable.labels,
                cell_shares[:, :, layer_place],
                title=f"{row_variable.column} and {column_variable.column}{layer_text}: percent of all",
                names=(row_variable.column, f"{column_variable.column}{layer_text}, percent of all"),
                told=cell_texts,
                most=float(cell_shares.max()),
                size=size,
                room=room,
            )
        )
    return "".join(images)


def crosstab_html(crosstab: Crosstab) -> str:
    """A crosstab as a whole page: heat map, shares within rows, measures with their intervals, the test.

    Parameters
    ----------
    crosstab : Crosstab

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, crosstab
    >>> table = {"cheated": ["yes", "yes", "no", "no"], "sex": ["f", "m", "f", "m"], "n": [200, 90, 150, 160]}
    >>> found = crosstab(table, row=Variable("cheated", designs.warner(p=0.8)), column="sex", count="n")
    >>> page = crosstab_html(found)
    >>> page.startswith("<!doctype html>"), "yes, f: 36.1\u00a0%" in page
    (True, True)
    """
    chart = Chart(lambda size, room: heat(crosstab, size=min(size, 640), room=room))
    page_sections = [
        Section("The table", [*crosstab.basis_parts(), chart]),
        Section("The numbers", crosstab.number_parts()),
    ]
    return html(crosstab.title, page_sections, facts=[(f"{crosstab.n:,}", "people")])
