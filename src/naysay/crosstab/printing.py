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
from naysay.estimate.findings import decimals_of, shown
from naysay.estimate.independence import score_test
from naysay.estimate.information import alike
from naysay.estimate.linear import Floats
from naysay.estimate.printing import beyond, cautions
from naysay.estimate.result import reliable_errors
from naysay.show import Column, Note, Points, Sentence, Table, plain
from naysay.show.content import Content
from naysay.show.text import csv_text, fixed


@dataclass(frozen=True)
class Options:
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


def title(found: Any) -> str:
    """The columns that are crossed."""
    return " × ".join(each.column for each in found.variables)


def sections(found: Any, options: Options) -> list[Content]:
    """The crosstab in the vocabulary of `naysay.show`."""
    test = options.test or found.independence()
    return [
        *_heading(found, options),
        _joint(found, options),
        *(_within(found, layer, options) for layer in found.layers),
        *_measures(found, options),
        Points(tuple(_rests_on(found, test))),
        *(Note(told) for told in reservations(found, test, options.confidence)),
    ]


def _heading(found: Any, options: Options) -> list[Content]:
    fit = found.fit
    how = " × ".join("plain" if each.plain else each.design.name or each.design.kind for each in found.variables)
    left = f"{found.partly:,} of them left out some question" if found.partly else "each answered every question"
    missing = f", {fit.missing:,} more answered none" if fit.missing else ""
    weighted = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
    return [
        Sentence(f"{title(found)}: {how}"),
        Sentence(f"{fit.n:,} people, {left}{missing}{weighted}"),
        *([] if fit.tally.complex is None else [Sentence(fit.tally.complex.sentence)]),
        Sentence(f"{fit.method}; standard errors: {fit.standard_error_kind}"),
        Sentence(f"{options.confidence:.4g} intervals of cells: {fit.intervals(options.confidence).method}"),
    ]


def _cells(found: Any) -> Iterator[_Cell]:
    labels = [[_checks.label(label) for label in each.labels] for each in found.variables]
    for place in np.ndindex(*found.shape):
        yield _Cell(tuple(own[at] for own, at in zip(labels, place, strict=True)), place)


def _joint(found: Any, options: Options) -> Table:
    """Every cell with its numbers."""
    numbers = [
        ("share", found.proportions),
        ("s.e.", reliable_errors(found.fit).reshape(found.shape)),
        *zip(("low", "high"), np.moveaxis(found.interval(options.confidence), -1, 0), strict=True),
    ]
    if found.moments is not None:
        numbers.append(("moments", found.moments.proportions.reshape(found.shape)))
    places = decimals_of(found.fit)
    columns = [Column(each.column, words=True, width=30) for each in found.variables]
    rows = tuple(
        (*cell.labels, *(shown(float(values[cell.place]), places) for _, values in numbers)) for cell in _cells(found)
    )
    return Table((*columns, *(Column(name) for name, _ in numbers)), rows, "Shares of all")


def _within(found: Any, layer: Any, options: Options) -> Table:
    """The shares of the columns within each row, and how large the row is."""
    row, column = found.variables[:2]
    values, bounds = found.conditional(layer, confidence=options.confidence)
    table = found.sliced(layer)
    whole = table.sum()
    names = [_checks.label(label) for label in row.labels]
    rows = [
        (name, *(_told(*cell) for cell in zip(values[at], bounds[at], strict=True)), fixed(share, 3))
        for at, (name, share) in enumerate(zip(names, table.sum(axis=1) / whole, strict=True))
    ]
    rows.append(("all", *(fixed(share, 3) for share in table.sum(axis=0) / whole), "1.000"))
    within = "" if layer is None else f", {found.variables[2].column} = {_checks.label(layer)}"
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


def _told(value: float, bounds: Floats) -> str:
    if math.isnan(value):
        return "–"
    return f"{fixed(value, 3)} [{', '.join('–' if math.isnan(end) else fixed(end, 3) for end in bounds.tolist())}]"


def _measures(found: Any, options: Options) -> list[Content]:
    every = found.associations(options.confidence)
    layered = len(found.layers) > 1
    head = [Column("measure", words=True), *([Column(found.variables[2].column, words=True)] if layered else [])]
    rows = tuple(
        (
            each.name,
            *(["all" if each.layer is None else _checks.label(each.layer)] if layered else []),
            *(_number(value) for value in (each.value, *each.interval)),
            each.method,
        )
        for each in every
    )
    columns = (*head, Column("value"), Column("low"), Column("high"), Column("interval", words=True))
    return [Table(columns, rows, "How rows and columns go together")]


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3g}" if abs(value) >= 100 else fixed(value, 3)


def told(found: Any, options: Options) -> list[str]:
    """The test, what the numbers rest on, and reservations, a line each."""
    test = options.test or found.independence()
    return [*_rests_on(found, test), *reservations(found, test, options.confidence)]


def _rests_on(found: Any, test: Independence | None) -> Iterator[str]:
    layered = f" in each {found.variables[2].column}" if len(found.layers) > 1 else ""
    if test is None:
        yield "independence: no test, because the samples tell finer cells apart than the categories"
    else:
        yield str(test).replace("independence:", f"independence of rows and columns{layered}:", 1)
    if found.fit.design.assigned_by == "respondent":
        yield str(score_test(found.fit.tally))
    for each in found.variables:
        if not each.plain and each.design.protocol is not None and each.design.protocol.assumes:
            yield f"assumes of {each.column}: {'; '.join(each.design.protocol.assumes)}"


def reservations(found: Any, test: Independence | None, confidence: float = 0.95) -> list[str]:
    """Warnings that travel with the numbers."""
    told = cautions(found.fit)
    told += beyond(found.fit, found.intervals(confidence))
    if not alike(found.fit.tally):  # or the warnings of the estimate say it
        told += [
            f"all answers to {each.column} are alike: standard errors of its categories say nothing, see intervals"
            for place, each in enumerate(found.variables)
            if not each.plain and answered_alike(found.fit.tally, place)
        ]
    if found.fit.design.assigned_by == "respondent" and found.fit.maximum is not None:
        told.append(
            "maximum likelihood takes the chosen levels to be independent of the categories; moments do not need this"
        )
    if test is not None and test.rare and test.reference == "χ²":
        told.append(
            f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: χ² of the likelihood "
            "ratio is doubtful, see Pearson's X² or the bootstrap (replicates)"
        )
    if test is not None and test.rare and test.design_effects:
        told.append(
            f"a cell would hold {test.smallest:.2g} people if rows and columns were independent: in small clustered "
            "samples the corrected tests can find dependence too often"
        )
    if found.proportions.size > found.n:
        told.append(
            f"{found.proportions.size:,} cells for {found.n:,} people: the tests can contradict each other, and shares "
            "of single cells say little; join categories"
        )
    for place, each in enumerate(found.variables):
        empty = [label for label, share in zip(each.labels, found.margin(place), strict=True) if share <= 1e-9]
        if empty:
            told.append(f"an empty margin: {_checks.shown(empty)} of {each.column} is estimated to be nobody")
    return told


def to_dict(found: Any, options: Options) -> dict[str, Any]:
    """The crosstab as one JSON object with stable names; undefined and infinite numbers are None."""
    test = options.test or found.independence()
    fit = found.fit
    variables = [
        {"column": each.column, "design": None if each.plain else each.design.name, "categories": each.labels}
        for each in found.variables
    ]
    within = []
    for layer in found.layers:
        values, bounds = found.conditional(layer, confidence=options.confidence)
        within.append({"layer": layer, "shares": values, "intervals": bounds})
    whole: dict[str, Any] = plain(
        {
            "variables": variables,
            "n": fit.n,
            "answered_in_part": found.partly,
            "missing": fit.missing,
            "method": fit.method,
            "proportions": found.proportions,
            "standard_errors": found.standard_errors,
            "standard_error_kind": fit.standard_error_kind,
            "covariance": found.covariance,
            "confidence": options.confidence,
            "intervals": found.interval(options.confidence),
            "moments": None if found.moments is None else found.moments.proportions.reshape(found.shape),
            "within_rows": within,
            "associations": [asdict(each) for each in found.associations(options.confidence)],
            "independence": None if test is None else asdict(test),
            "warnings": reservations(found, test, options.confidence),
        }
    )
    if fit.tally.complex is not None:
        whole |= {"sampling": str(fit.tally.complex), "degrees_of_freedom": fit.tally.complex.degrees_of_freedom}
    return whole


def to_csv(found: Any, options: Options) -> str:
    """The cells as CSV, one a line, each with its share of its row."""
    bounds, rows = found.interval(options.confidence), [_csv_head(found)]
    layers: Sequence[Any] = found.layers[1:] or found.layers
    within = [found.conditional(layer, confidence=options.confidence) for layer in layers]
    for cell in _cells(found):
        shares, ends = within[cell.place[2] if len(cell.place) > 2 else 0]
        own = cell.place[:2]
        numbers = [found.proportions[cell.place], found.standard_errors[cell.place], *bounds[cell.place]]
        numbers += [shares[own], *ends[own]]
        rows.append([*cell.labels, *(plain(float(value)) for value in numbers)])
    return csv_text(rows)


def _csv_head(found: Any) -> list[str]:
    names = [each.column for each in found.variables]
    return [*names, "proportion", "standard_error", "low", "high", "row_share", "row_share_low", "row_share_high"]
