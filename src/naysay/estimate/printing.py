"""An estimate as content and as JSON: its numbers, what they rest on, and its findings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from naysay import _checks, privacy
from naysay.design import Answerable
from naysay.estimate.findings import decimals, decimals_of, shown
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
    found = fit.intervals(options.confidence, method=options.method)
    beside = [each for finding in fit.findings if finding.beside for each in finding.told(options)]
    rests = (*checks(fit, options), *privacy.lines(fit.design, fit.nuisance_shares))
    notes = [Note(each) for each in reservations(fit, found)]
    return [*_heading(fit, found), _table(fit, found), *beside, Points(rests), *notes]


def _heading(fit: Estimate, found: Intervals) -> list[Sentence]:
    """The lines above the numbers."""
    missing = f"{fit.missing:,} missing" if fit.missing else "none missing"
    weighted = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
    complex_ = fit.tally.complex
    drawn = [] if complex_ is None else [Sentence(complex_.sentence)]
    gap = "" if fit.maximum is None else f"; within {_bound(fit.maximum.total_gap)} of the maximum log-likelihood"
    return [
        Sentence(f"{fit.tally.question or 'Estimate'}: {fit.design.name or fit.design.kind}"),
        Sentence(f"{fit.n:,} answers, {missing}{weighted}; target: the {fit.target}"),
        *drawn,
        Sentence(f"{fit.method}; standard errors: {fit.standard_error_kind}{gap}"),
        Sentence(f"{found.confidence:.4g} intervals: {found.method}"),
    ]


def _bound(gap: float) -> str:
    """A gap rounded up to a power of ten. Below the least one it is the noise of one processor."""
    return f"{10.0 ** math.ceil(math.log10(max(gap, _LEAST_GAP))):.0e}"


def reservations(fit: Estimate, found: Intervals) -> list[str]:
    """Warnings of the estimate and of its intervals."""
    return [*cautions(fit), *beyond(fit, found)]


def beyond(fit: Estimate, found: Intervals) -> list[str]:
    """The sentence about intervals that lie outside [0, 1], and what is shown in their place; none elsewhere."""
    if not found.flagged.any():
        return []
    names = ", ".join(_checks.label(c) for c, flag in zip(fit.categories, found.flagged, strict=True) if flag)
    misfit = "; these answers hardly fit this design" if found.misfit else ""
    points = (found.bounds[:, 0] == found.bounds[:, 1])[found.flagged].any()
    shown_instead = "the nearest end, which is no certainty" if points else "that of an estimate at the nearest end"
    return [f"interval outside [0, 1], shown is {shown_instead}: {names}{misfit}"]


def cautions(fit: Estimate) -> list[str]:
    """Warnings of the estimate, and of intervals that rest on few answers."""
    told = [str(warning) for warning in fit.warnings]
    if fit.n <= _TINY:
        told.append(
            "so few people tell nothing: intervals of 1 to 5 answers can hold the true share less often than they say "
            "(.82 of two direct answers)"
        )
    if fit.tally.weighted and fit.tally.effective < FEW:
        told.append(f"the weights leave the worth of {fit.tally.effective:.0f} answers; intervals need {FEW} at least")
    if fit.tally.weighted:
        carriers = np.maximum(fit.proportions, 0.0) * fit.tally.effective
        few = [_checks.label(c) for c, worth in zip(fit.categories, carriers, strict=True) if worth < FEW]
        if few:
            told.append(
                f"the weights leave the worth of fewer than {FEW} people in {', '.join(few[:_NAMED])}"
                f"{f' and {len(few) - _NAMED} more' if len(few) > _NAMED else ''}: if weights go with the category, "
                "intervals there can hold the true share far less often than they say (measured: .46 in place of .95, "
                "where fewer than one such person, of 15 times the weight, is expected)"
            )
    return told


def _table(fit: Estimate, found: Intervals) -> Table:
    """The numbers: one row per category, then one row per nuisance parameter."""
    numbers = [
        ("estimate", fit.proportions),
        ("s.e.", reliable_errors(fit)),
        ("low", found.bounds[:, 0]),
        ("high", found.bounds[:, 1]),
        *(column for finding in fit.findings if finding.beside for column in finding.columns()),
    ]
    names, values = zip(*numbers, strict=True)
    rows = [
        (_checks.label(category), each) for category, each in zip(fit.categories, np.column_stack(values), strict=True)
    ]
    ends = nuisance_intervals(fit, confidence=found.confidence, method=found.method)
    errors = reliable_nuisance(fit)
    for name, value in fit.nuisance.items():
        beside = fit.unbounded.nuisance[name] if fit.unbounded is not None else ()
        rows.append((str(name), np.array([value.value, errors[name], *ends[name], *beside])))
    places = decimals_of(fit)
    cells = [(label, *(shown(float(each), places) for each in row)) for label, row in rows]
    blank = len(names) + 1
    columns = (Column("category", words=True, width=40), *map(Column, names))
    return Table(columns, tuple((*row, *[""] * (blank - len(row))) for row in cells))


def checks(fit: Estimate, options: Options | None = None) -> list[str]:
    """What the estimate rests on, and what it would be otherwise, one line for each."""
    asked = options or Options()
    told = [each for finding in fit.findings if not finding.beside for each in finding.told(asked)]
    lines = [line for line in text(told).splitlines() if line]
    lines += fit.design.notes if is_stacked(fit.design) else ()
    assumed = assumptions(fit)
    return lines + ([f"assumes: {'; '.join(assumed)}"] if assumed else [])


def assumptions(fit: Estimate) -> list[str]:
    """What the designs of an estimate assume; each assumption occurs once."""
    return list(dict.fromkeys(_assumed(fit.design)))


def _assumed(design: Answerable) -> Iterator[str]:
    if design.protocol is not None:
        yield from design.protocol.assumes
    for part in design.made_of:
        yield from _assumed(part)


def to_text(fit: Estimate, options: Options | None = None) -> str:
    """The estimate as plain text."""
    return text(fit.sections(options))


def to_dict(fit: Estimate, options: Options | None = None) -> dict[str, Any]:
    """The estimate as one JSON object with stable names; undefined numbers are None."""
    asked = options or Options()
    found = fit.intervals(asked.confidence, method=asked.method)
    whole: dict[str, Any] = plain(
        {
            "question": fit.tally.question,
            "design": fit.design.name or fit.design.kind,
            **{name: getattr(fit, name) for name in ("n", "missing", "target", "method", *_NUMBERS)},
            "intervals": found.bounds,
            "confidence": asked.confidence,
            "interval_method": found.method,
            "privacy": _privacy(fit),
            "warnings": reservations(fit, found),
        }
    )
    told = {finding.field: finding.plain(asked) for finding in fit.findings} | {"assumptions": assumptions(fit)}
    if fit.tally.complex is not None:
        whole |= {"sampling": str(fit.tally.complex), "degrees_of_freedom": fit.tally.complex.degrees_of_freedom}
    if fit.nuisance:
        told["nuisance"] = _nuisance(fit, found)
    order = [*(name for name in _FIELDS if name in told), *(name for name in told if name not in _FIELDS)]
    return whole | {name: told[name] for name in order if told[name] is not None}


def _nuisance(fit: Estimate, found: Intervals) -> dict[str, Any]:
    ends = nuisance_intervals(fit, confidence=found.confidence, method=found.method)
    each = {
        str(name): {"estimate": value.value, "standard_error": value.standard_error, "interval": ends[name]}
        for name, value in fit.nuisance.items()
    }
    numbers: dict[str, Any] = plain(each)
    return numbers


def _privacy(fit: Estimate) -> dict[str, Any]:
    told = {
        level: {
            "epsilon": "inf" if math.isinf(statement.epsilon) else statement.epsilon,
            **{name: getattr(statement, name) for name in ("reason", "bits", "prior", "still_possible")},
        }
        for level, statement in fit.privacy.items()
    }
    if None in told:
        return told[None]
    worst = max(fit.privacy.values(), key=lambda statement: (statement.epsilon, statement.bits))
    overall = next(told[level] for level, statement in fit.privacy.items() if statement is worst)
    apart = "by_level" if fit.design.assigned_by == "respondent" else "by_sample"
    return {**overall, apart: {str(level): value for level, value in told.items()}}


def differences_text(found: Differences, confidence: float = 0.95, *, most: int = 30) -> str:
    """Differences between groups as plain text; with more than `most` groups the listing is left out."""
    return text(differences_content(found, confidence, most=most))


def differences_content(found: Differences, confidence: float = 0.95, *, most: int = 30) -> list[Content]:
    """Differences between groups in the vocabulary of `naysay.show`; without the listing as in the text."""
    if len(found.groups) >= most:
        return [Sentence(f"{len(found.groups) + 1} groups, too many to list their differences"), Sentence(str(found))]
    law = "normal" if math.isinf(found.denominator) else "t"
    head = f"Differences from {_group(found.reference)}; {confidence:.4g} {law} intervals"
    return [Sentence(head), _listed(found, confidence), Sentence(str(found))]


def _listed(found: Differences, confidence: float) -> Table:
    """Every difference, one row for each."""
    names = (f"less {_group(found.reference)}", "s.e.", "low", "high")
    errors = np.where(found.reliable, found.standard_errors, np.nan)
    ends = np.where(found.reliable[..., None], found.interval(confidence), np.nan)
    numbers = np.concatenate([found.difference[..., None], errors[..., None], ends], axis=-1)
    places = decimals(errors) or 4
    rows = tuple(
        (_group(group), _checks.label(category), *(shown(value, places) for value in numbers[row, column].tolist()))
        for row, group in enumerate(found.groups)
        for column, category in enumerate(found.categories)
    )
    words = (Column("group", words=True, width=40), Column("category", words=True, width=40))
    return Table((*words, *map(Column, names)), rows)


def _group(name: Any) -> str:
    return "(missing)" if name is None else str(name)


def differences_dict(found: Differences, confidence: float = 0.95, *, most: int = 30) -> dict[str, Any]:
    """Differences between groups as one JSON object.

    Undefined numbers are None. With more than `most` groups the covariance is None too.
    """
    told: dict[str, Any] = plain(
        {
            "reference": found.reference,
            "groups": found.groups,
            "differences": found.difference,
            "standard_errors": found.standard_errors,
            "intervals": found.interval(confidence),
            "covariance": found.covariance if len(found.groups) < most else None,
            "equality": {
                **{name: getattr(found, name) for name in ("test", "statistic", "degrees_of_freedom", "p_value")},
                "law": None if math.isnan(found.p_value) else found.law,
            },
        }
    )
    return told
