"""An estimate as content and as JSON: its numbers, what they rest on, and its findings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from naysay import _checks, privacy
from naysay.design import Answerable
from naysay.estimate.findings import decimals, decimals_of, number_text
from naysay.estimate.groups import Differences
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.linear import is_stacked
from naysay.estimate.result import Estimate, Intervals, Options, reliable_errors, reliable_nuisance
from naysay.show import Column, Note, Points, Sentence, Table, plain, text
from naysay.show.content import Content

FEW = 30
"""The coverage of weighted intervals was measured from so many answers on (their worth under the weights)."""

_TINY = 5  # up to so many answers the coverage of intervals was measured as .82
_NAMED = 8  # categories named in a sentence

NONCOMPLIANCE = Options().noncompliance
"""The share of respondents whose non-compliance is shown by default."""

_LEAST_GAP = 1e-9
_NUMBERS = ("categories", "proportions", "standard_errors", "standard_error_kind", "covariance")
_FIELDS = ("levels", "preference_band", "noncompliance", "assumptions", "nuisance", "moments", "by_sample")
"""The order in JSON of fields that only some estimates have; other such fields follow these."""


def sections(fit: Estimate, options: Options) -> list[Content]:
    """The estimate in the vocabulary of `naysay.show`."""
    intervals = fit.intervals(options.confidence, method=options.method)
    contents_beside = [
        content for finding in fit.findings if finding.beside for content in finding.content_below(options)
    ]
    basis_lines = (*checks(fit, options), *privacy.lines(fit.design, fit.nuisance_shares))
    notes = [Note(reservation) for reservation in reservations(fit, intervals)]
    return [*_heading(fit, intervals), _table(fit, intervals), *contents_beside, Points(basis_lines), *notes]


def _heading(fit: Estimate, intervals: Intervals) -> list[Sentence]:
    """The lines above the numbers."""
    missing = f"{fit.missing:,} missing" if fit.missing else "none missing"
    weighted = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
    complex_ = fit.tally.complex
    sample_sentences = [] if complex_ is None else [Sentence(complex_.sentence)]
    gap = "" if fit.maximum is None else f"; within {_bound(fit.maximum.total_gap)} of the maximum log-likelihood"
    return [
        Sentence(f"{fit.tally.question or 'Estimate'}: {fit.design.name or fit.design.kind}"),
        Sentence(f"{fit.n:,} answers, {missing}{weighted}; target: the {fit.target}"),
        *sample_sentences,
        Sentence(f"{fit.method}; standard errors: {fit.standard_error_kind}{gap}"),
        Sentence(f"{intervals.confidence:.4g} intervals: {intervals.method}"),
    ]


def _bound(gap: float) -> str:
    """A gap rounded up to a power of ten. Below the least one it is the noise of one processor."""
    return f"{10.0 ** math.ceil(math.log10(max(gap, _LEAST_GAP))):.0e}"


def reservations(fit: Estimate, intervals: Intervals) -> list[str]:
    """Warnings of the estimate and of its intervals."""
    return [*cautions(fit), *beyond(fit, intervals)]


def beyond(fit: Estimate, intervals: Intervals) -> list[str]:
    """The sentence about intervals that lie outside [0, 1], and what is shown in their place; none elsewhere."""
    if not intervals.flagged.any():
        return []
    names = ", ".join(_checks.label(c) for c, flag in zip(fit.categories, intervals.flagged, strict=True) if flag)
    misfit = "; these answers hardly fit this design" if intervals.misfit else ""
    points = (intervals.bounds[:, 0] == intervals.bounds[:, 1])[intervals.flagged].any()
    shown_instead = "the nearest end, which is no certainty" if points else "that of an estimate at the nearest end"
    return [f"interval outside [0, 1], shown is {shown_instead}: {names}{misfit}"]


def cautions(fit: Estimate) -> list[str]:
    """Warnings of the estimate, and of intervals that rest on few answers."""
    sentences = [str(warning) for warning in fit.warnings]
    if fit.n <= _TINY:
        sentences.append(
            "so few people tell nothing: intervals of 1 to 5 answers can hold the true share less often than they say "
            "(.82 of two direct answers)"
        )
    if fit.tally.weighted and fit.tally.effective < FEW:
        sentences.append(
            f"the weights leave the worth of {fit.tally.effective:.0f} answers; intervals need {FEW} at least"
        )
    if fit.tally.weighted:
        carriers = np.maximum(fit.proportions, 0.0) * fit.tally.effective
        few = [_checks.label(c) for c, worth in zip(fit.categories, carriers, strict=True) if worth < FEW]
        if few:
            sentences.append(
                f"the weights leave the worth of fewer than {FEW} people in {', '.join(few[:_NAMED])}"
                f"{f' and {len(few) - _NAMED} more' if len(few) > _NAMED else ''}: if weights go with the category, "
                "intervals there can hold the true share far less often than they say (measured: .46 in place of .95, "
                "where fewer than one such person, of 15 times the weight, is expected)"
            )
    return sentences


def _table(fit: Estimate, intervals: Intervals) -> Table:
    """The numbers: one row per category, then one row per nuisance parameter."""
    numbers = [
        ("estimate", fit.proportions),
        ("s.e.", reliable_errors(fit)),
        ("low", intervals.bounds[:, 0]),
        ("high", intervals.bounds[:, 1]),
        *(column for finding in fit.findings if finding.beside for column in finding.columns()),
    ]
    names, values = zip(*numbers, strict=True)
    rows = [
        (_checks.label(category), category_numbers)
        for category, category_numbers in zip(fit.categories, np.column_stack(values), strict=True)
    ]
    ends = nuisance_intervals(fit, confidence=intervals.confidence, method=intervals.method)
    errors = reliable_nuisance(fit)
    for name, value in fit.nuisance.items():
        unbounded_numbers = fit.unbounded.nuisance[name] if fit.unbounded is not None else ()
        rows.append((str(name), np.array([value.value, errors[name], *ends[name], *unbounded_numbers])))
    places = decimals_of(fit)
    cells = [(label, *(number_text(float(number), places) for number in row)) for label, row in rows]
    blank = len(names) + 1
    columns = (Column("category", words=True, width=40), *map(Column, names))
    return Table(columns, tuple((*row, *[""] * (blank - len(row))) for row in cells))


def checks(fit: Estimate, options: Options | None = None) -> list[str]:
    """What the estimate rests on, and what it would be otherwise, one line for each."""
    print_options = options or Options()
    contents = [
        content for finding in fit.findings if not finding.beside for content in finding.content_below(print_options)
    ]
    lines = [line for line in text(contents).splitlines() if line]
    lines += fit.design.notes if is_stacked(fit.design) else ()
    assumed = assumptions(fit)
    return lines + ([f"assumes: {'; '.join(assumed)}"] if assumed else [])


def assumptions(fit: Estimate) -> list[str]:
    """What the designs of an estimate assume; each assumption occurs once."""
    return list(dict.fromkeys(_assumption_texts(fit.design)))


def _assumption_texts(design: Answerable) -> Iterator[str]:
    if design.protocol is not None:
        yield from design.protocol.assumes
    for part in design.made_of:
        yield from _assumption_texts(part)


def to_text(fit: Estimate, options: Options | None = None) -> str:
    """The estimate as plain text."""
    return text(fit.sections(options))


def to_dict(fit: Estimate, options: Options | None = None) -> dict[str, Any]:
    """The estimate as one JSON object with stable names; undefined numbers are None."""
    print_options = options or Options()
    intervals = fit.intervals(print_options.confidence, method=print_options.method)
    json_content: dict[str, Any] = plain(
        {
            "question": fit.tally.question,
            "design": fit.design.name or fit.design.kind,
            **{name: getattr(fit, name) for name in ("n", "missing", "target", "method", *_NUMBERS)},
            "intervals": intervals.bounds,
            "confidence": print_options.confidence,
            "interval_method": intervals.method,
            "privacy": _privacy(fit),
            "warnings": reservations(fit, intervals),
        }
    )
    findings_by_field = {finding.field: finding.plain(print_options) for finding in fit.findings} | {
        "assumptions": assumptions(fit)
    }
    if fit.tally.complex is not None:
        json_content |= {"sampling": str(fit.tally.complex), "degrees_of_freedom": fit.tally.complex.degrees_of_freedom}
    if fit.nuisance:
        findings_by_field["nuisance"] = _nuisance(fit, intervals)
    order = [
        *(name for name in _FIELDS if name in findings_by_field),
        *(name for name in findings_by_field if name not in _FIELDS),
    ]
    return json_content | {name: findings_by_field[name] for name in order if findings_by_field[name] is not None}


def _nuisance(fit: Estimate, intervals: Intervals) -> dict[str, Any]:
    ends = nuisance_intervals(fit, confidence=intervals.confidence, method=intervals.method)
    nuisance_content = {
        str(name): {"estimate": value.value, "standard_error": value.standard_error, "interval": ends[name]}
        for name, value in fit.nuisance.items()
    }
    numbers: dict[str, Any] = plain(nuisance_content)
    return numbers


def _privacy(fit: Estimate) -> dict[str, Any]:
    privacy_by_level = {
        level: {
            "epsilon": "inf" if math.isinf(statement.epsilon) else statement.epsilon,
            **{name: getattr(statement, name) for name in ("reason", "bits", "prior", "still_possible")},
        }
        for level, statement in fit.privacy.items()
    }
    if None in privacy_by_level:
        return privacy_by_level[None]
    worst = max(fit.privacy.values(), key=lambda statement: (statement.epsilon, statement.bits))
    overall = next(privacy_by_level[level] for level, statement in fit.privacy.items() if statement is worst)
    level_key = "by_level" if fit.design.assigned_by == "respondent" else "by_sample"
    return {**overall, level_key: {str(level): value for level, value in privacy_by_level.items()}}


def differences_text(differences: Differences, confidence: float = 0.95, *, most: int = 30) -> str:
    """Differences between groups as plain text; with more than `most` groups the listing is left out."""
    return text(differences_content(differences, confidence, most=most))


def differences_content(differences: Differences, confidence: float = 0.95, *, most: int = 30) -> list[Content]:
    """Differences between groups in the vocabulary of `naysay.show`; without the listing as in the text."""
    if len(differences.groups) >= most:
        return [
            Sentence(f"{len(differences.groups) + 1} groups, too many to list their differences"),
            Sentence(str(differences)),
        ]
    law = "normal" if math.isinf(differences.denominator) else "t"
    head = f"Differences from {_group(differences.reference)}; {confidence:.4g} {law} intervals"
    return [Sentence(head), _differences_table(differences, confidence), Sentence(str(differences))]


def _differences_table(differences: Differences, confidence: float) -> Table:
    """Every difference, one row for each."""
    names = (f"less {_group(differences.reference)}", "s.e.", "low", "high")
    errors = np.where(differences.reliable, differences.standard_errors, np.nan)
    ends = np.where(differences.reliable[..., None], differences.interval(confidence), np.nan)
    numbers = np.concatenate([differences.difference[..., None], errors[..., None], ends], axis=-1)
    places = decimals(errors) or 4
    rows = tuple(
        (
            _group(group),
            _checks.label(category),
            *(number_text(value, places) for value in numbers[row, column].tolist()),
        )
        for row, group in enumerate(differences.groups)
        for column, category in enumerate(differences.categories)
    )
    words = (Column("group", words=True, width=40), Column("category", words=True, width=40))
    return Table((*words, *map(Column, names)), rows)


def _group(name: Any) -> str:
    return "(missing)" if name is None else str(name)


def differences_dict(differences: Differences, confidence: float = 0.95, *, most: int = 30) -> dict[str, Any]:
    """Differences between groups as one JSON object.

    Undefined numbers are None. With more than `most` groups the covariance is None too.
    """
    json_content: dict[str, Any] = plain(
        {
            "reference": differences.reference,
            "groups": differences.groups,
            "differences": differences.difference,
            "standard_errors": differences.standard_errors,
            "intervals": differences.interval(confidence),
            "covariance": differences.covariance if len(differences.groups) < most else None,
            "equality": {
                **{name: getattr(differences, name) for name in ("test", "statistic", "degrees_of_freedom", "p_value")},
                "law": None if math.isnan(differences.p_value) else differences.law,
            },
        }
    )
    return json_content
