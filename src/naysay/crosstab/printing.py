"""What a crosstab tells: its cells, shares within rows, measures and test, as content, as JSON and as CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from naysay import _checks
from naysay.crosstab.independence import Independence
from naysay.crosstab.variables import answered_alike
from naysay.estimate.findings import decimals_of, number_text
from naysay.estimate.independence import score_test
from naysay.estimate.information import alike
from naysay.estimate.linear import Floats
from naysay.estimate.printing import beyond, cautions
from naysay.estimate.result import reliable_errors
from naysay.show import Column, Note, Points, Sentence, Table, plain
from naysay.show.content import Content
from naysay.show.text import csv_text, fixed_decimals


@dataclass(frozen=True)
class CrosstabPrint:
    """How a crosstab is told.

    Parameters
    ----------
    confidence : float
        Of each interval by itself.
    test : Independence, optional
        The test to tell; by default that by χ².
    """

    confidence: float = 0.95
    test: Independence | None = None


class _Cell(NamedTuple):
    """One cell: the categories of each variable, its place, and its numbers."""

    labels: tuple[str, ...]
    place: tuple[int, ...]


def title(crosstab: Any) -> str:
    """The columns that are crossed."""
    return " × ".join(variable.column for variable in crosstab.variables)


def sections(crosstab: Any, options: CrosstabPrint) -> list[Content]:
    """The crosstab in the vocabulary of `naysay.show`."""
    test = options.test or crosstab.independence()
    return [
        *_heading(crosstab, options),
        _joint(crosstab, options),
        *(_within(crosstab, layer, options) for layer in crosstab.layers),
        *_measures(crosstab, options),
        Points(tuple(_rests_on(crosstab, test))),
        *(Note(reservation) for reservation in reservations(crosstab, test, options.confidence)),
    ]


def _heading(crosstab: Any, options: CrosstabPrint) -> list[Content]:
    fit = crosstab.fit
    design_names = " × ".join(
        "plain" if variable.plain else variable.design.name or variable.design.kind for variable in crosstab.variables
    )
    partly_text = (
        f"{crosstab.partly:,} of them left out some question" if crosstab.partly else "each answered every question"
    )
    missing_text = f", {fit.missing:,} more answered none" if fit.missing else ""
    weight_text = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
    return [
        Sentence(f"{title(crosstab)}: {design_names}"),
        Sentence(f"{fit.n:,} people, {partly_text}{missing_text}{weight_text}"),
        *([] if fit.tally.complex is None else [Sentence(fit.tally.complex.sentence)]),
        Sentence(f"{fit.method}; standard errors: {fit.standard_error_kind}"),
        Sentence(f"{options.confidence:.4g} intervals of cells: {fit.intervals(options.confidence).method}"),
    ]


def _cells(crosstab: Any) -> Iterator[_Cell]:
    labels = [[_checks.label(label) for label in variable.labels] for variable in crosstab.variables]
    for place in np.ndindex(*crosstab.shape):
        yield _Cell(
            tuple(
                variable_labels[category_place] for variable_labels, category_place in zip(labels, place, strict=True)
            ),
            place,
        )


def _joint(crosstab: Any, options: CrosstabPrint) -> Table:
    """Every cell with its numbers."""
    numbers = [
        ("share", crosstab.proportions),
        ("s.e.", reliable_errors(crosstab.fit).reshape(crosstab.shape)),
        *zip(("low", "high"), np.moveaxis(crosstab.interval(options.confidence), -1, 0), strict=True),
    ]
    if crosstab.moments is not None:
        numbers.append(("moments", crosstab.moments.proportions.reshape(crosstab.shape)))
    places = decimals_of(crosstab.fit)
    columns = [Column(variable.column, words=True, width=30) for variable in crosstab.variables]
    rows = tuple(
        (*cell.labels, *(number_text(float(values[cell.place]), places) for _, values in numbers))
        for cell in _cells(crosstab)
    )
    return Table((*columns, *(Column(name) for name, _ in numbers)), rows, "Shares of all")


def _within(crosstab: Any, layer: Any, options: CrosstabPrint) -> Table:
    """The shares of the columns within each row, and how large the row is."""
    row, column = crosstab.variables[:2]
    values, bounds = crosstab.conditional(layer, confidence=options.confidence)
    table = crosstab.sliced(layer)
    layer_total = table.sum()
    names = [_checks.label(label) for label in row.labels]
    rows = [
        (
            name,
            *(_share_with_bounds(*cell) for cell in zip(values[at], bounds[at], strict=True)),
            fixed_decimals(share, 3),
        )
        for at, (name, share) in enumerate(zip(names, table.sum(axis=1) / layer_total, strict=True))
    ]
    rows.append(("all", *(fixed_decimals(share, 3) for share in table.sum(axis=0) / layer_total), "1.000"))
    within = "" if layer is None else f", {crosstab.variables[2].column} = {_checks.label(layer)}"
    return Table(
        (
            Column(row.column, words=True, width=30),
            *(Column(_checks.label(label)) for label in column.labels),
            Column("of all"),
        ),
        tuple(rows),
        f"Shares of {column.column} within each {row.column}{within}",
        apart=1,
    )


def _share_with_bounds(value: float, bounds: Floats) -> str:
    if math.isnan(value):
        return "–"
    bound_texts = ("–" if math.isnan(end) else fixed_decimals(end, 3) for end in bounds.tolist())
    return f"{fixed_decimals(value, 3)} [{', '.join(bound_texts)}]"


def _measures(crosstab: Any, options: CrosstabPrint) -> list[Content]:
    associations = crosstab.associations(options.confidence)
    layered = len(crosstab.layers) > 1
    head = [Column("measure", words=True), *([Column(crosstab.variables[2].column, words=True)] if layered else [])]
    rows = tuple(
        (
            association.name,
            *(["all" if association.layer is None else _checks.label(association.layer)] if layered else []),
            *(_number(value) for value in (association.value, *association.interval)),
            association.method,
        )
        for association in associations
    )
    columns = (*head, Column("value"), Column("low"), Column("high"), Column("interval", words=True))
    return [Table(columns, rows, "How rows and columns go together")]


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3g}" if abs(value) >= 100 else fixed_decimals(value, 3)


def basis_and_reservations(crosstab: Any, options: CrosstabPrint) -> list[str]:
    """The test, what the numbers rest on, and reservations, a line each."""
    test = options.test or crosstab.independence()
    return [*_rests_on(crosstab, test), *reservations(crosstab, test, options.confidence)]


def _rests_on(crosstab: Any, test: Independence | None) -> Iterator[str]:
    layered = f" in each {crosstab.variables[2].column}" if len(crosstab.layers) > 1 else ""
    if test is None:
        yield "independence: no test, because the samples tell finer cells apart than the categories"
    else:
        yield str(test).replace("independence:", f"independence of rows and columns{layered}:", 1)
    if crosstab.fit.design.assigned_by == "respondent":
        yield str(score_test(crosstab.fit.tally))
    for variable in crosstab.variables:
        if not variable.plain and variable.design.protocol is not None and variable.design.protocol.assumes:
            yield f"assumes of {variable.column}: {'; '.join(variable.design.protocol.assumes)}"


def reservations(crosstab: Any, test: Independence | None, confidence: float = 0.95) -> list[str]:
    """Warnings that travel with the numbers."""
    sentences = cautions(crosstab.fit)
    sentences += beyond(crosstab.fit, crosstab.intervals(confidence))
    if not alike(crosstab.fit.tally):  # or the warnings of the estimate say it
        sentences += [
            f"all answers to {variable.column} are alike: standard errors of its categories say nothing, see intervals"
            for place, variable in enumerate(crosstab.variables)
            if not variable.plain and answered_alike(crosstab.fit.tally, place)
        ]
    if crosstab.fit.design.assigned_by == "respondent" and crosstab.fit.maximum is not None:
        sentences.append(
            "maximum likelihood takes the chosen levels to be independent of the categories; moments do not need this"
        )
    if test is not None and test.rare and test.reference == "χ²":
        sentences.append(
            f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: χ² of the likelihood "
            "ratio is doubtful, see Pearson's X² or the bootstrap (replicates)"
        )
    if test is not None and test.rare and test.design_effects:
        sentences.append(
            f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: in small clustered "
            "samples the corrected tests can find dependence too often"
        )
    if crosstab.proportions.size > crosstab.n:
        sentences.append(
            f"{crosstab.proportions.size:,} cells for {crosstab.n:,} people: the tests can contradict each other, and "
            "shares of single cells say little; join categories"
        )
    for place, variable in enumerate(crosstab.variables):
        empty = [label for label, share in zip(variable.labels, crosstab.margin(place), strict=True) if share <= 1e-9]
        if empty:
            sentences.append(
                f"an empty margin: {_checks.listing_text(empty)} of {variable.column} is estimated to be nobody"
            )
    return sentences


def to_dict(crosstab: Any, options: CrosstabPrint) -> dict[str, Any]:
    """The crosstab as one JSON object with stable names; undefined and infinite numbers are None."""
    test = options.test or crosstab.independence()
    fit = crosstab.fit
    variables = [
        {
            "column": variable.column,
            "design": None if variable.plain else variable.design.name,
            "categories": variable.labels,
        }
        for variable in crosstab.variables
    ]
    within = []
    for layer in crosstab.layers:
        values, bounds = crosstab.conditional(layer, confidence=options.confidence)
        within.append({"layer": layer, "shares": values, "intervals": bounds})
    json_fields: dict[str, Any] = plain(
        {
            "variables": variables,
            "n": fit.n,
            "answered_in_part": crosstab.partly,
            "missing": fit.missing,
            "method": fit.method,
            "proportions": crosstab.proportions,
            "standard_errors": crosstab.standard_errors,
            "standard_error_kind": fit.standard_error_kind,
            "covariance": crosstab.covariance,
            "confidence": options.confidence,
            "intervals": crosstab.interval(options.confidence),
            "moments": None if crosstab.moments is None else crosstab.moments.proportions.reshape(crosstab.shape),
            "within_rows": within,
            "associations": [asdict(association) for association in crosstab.associations(options.confidence)],
            "independence": None if test is None else asdict(test),
            "warnings": reservations(crosstab, test, options.confidence),
        }
    )
    if fit.tally.complex is not None:
        json_fields |= {"sampling": str(fit.tally.complex), "degrees_of_freedom": fit.tally.complex.degrees_of_freedom}
    return json_fields


def to_csv(crosstab: Any, options: CrosstabPrint) -> str:
    """The cells as CSV, one a line, each with its share of its row."""
    bounds, rows = crosstab.interval(options.confidence), [_csv_head(crosstab)]
    layers: Sequence[Any] = crosstab.layers[1:] or crosstab.layers
    within = [crosstab.conditional(layer, confidence=options.confidence) for layer in layers]
    for cell in _cells(crosstab):
        shares, ends = within[cell.place[2] if len(cell.place) > 2 else 0]
        row_and_column = cell.place[:2]
        numbers = [crosstab.proportions[cell.place], crosstab.standard_errors[cell.place], *bounds[cell.place]]
        numbers += [shares[row_and_column], *ends[row_and_column]]
        rows.append([*cell.labels, *(plain(float(value)) for value in numbers)])
    return csv_text(rows)


def _csv_head(crosstab: Any) -> list[str]:
    names = [variable.column for variable in crosstab.variables]
    return [*names, "proportion", "standard_error", "low", "high", "row_share", "row_share_low", "row_share_high"]
