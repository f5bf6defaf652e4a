"""Self-contained pages: one file, no request to anywhere, the same in a browser, on a phone and on paper."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import privacy
from naysay.design import Levels
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals, printing
from naysay.estimate.digits import decimals_of, reliable_errors, reliable_nuisance, shown
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.result import is_pooled
from naysay.report import charts, labels
from naysay.report.extra import need
from naysay.report.inks import FILLS, INKS

__all__ = ["Section", "estimate_html", "estimate_section", "html"]

_PARTS = {"levels": "level", "samples": "sample"}


@dataclass(frozen=True)
class Section:
    """One part of a page.

    Parameters
    ----------
    heading : str
    body : str
        HTML, where what users wrote is escaped.
    """

    heading: str
    body: str


def html(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    footnotes: Sequence[tuple[str, str]] = (),
    language: str = "en",
    flow: bool = False,
) -> str:
    """A whole page as one HTML text.

    Parameters
    ----------
    title : str
    sections : sequence of Section
    lead : sequence of str
        Paragraphs before the sections.
    facts : sequence of (number, what it is)
        Set large under the title.
    footnotes : sequence of (term, text)
        After the sections.
    language : str
        Of the page's own words.
    flow : bool
        Whether sections follow one another on paper, instead of each beginning a page.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> "&lt;b&gt;" in html("<b>", [])
    True
    """
    return _render(
        "page.html",
        title=title,
        sections=sections,
        lead=lead,
        facts=facts,
        footnotes=footnotes,
        language=language,
        flow=flow,
        inks=INKS | FILLS,
    )


def estimate_html(
    fit: Estimate,
    *,
    truth: ArrayLike | None = None,
    title: str | None = None,
    confidence: float = 0.95,
    noncompliance: float = printing.NONCOMPLIANCE,
) -> str:
    """One estimate as a whole page: plot, numbers, what they rest on, privacy and reservations.

    Parameters
    ----------
    fit : Estimate
    truth : (t,) float, optional
        The true proportions, where they are known.
    title : str, optional
        By default the question's name.
    confidence : float
    noncompliance : float
        The share of respondents for the band that shows what non-compliance could do.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d"))
    >>> page = estimate_html(estimate.moments(survey, survey.tally(count=[280, 240, 260, 220])))
    >>> page.startswith("<!doctype html>"), "16.0" in page
    (True, True)
    """
    heading = title or fit.tally.question or "Estimate"
    section = estimate_section(
        fit, truth=truth, heading="The estimate", confidence=confidence, noncompliance=noncompliance
    )
    return html(heading, [section], facts=[(f"{fit.n:,}", "answers")])


def estimate_section(
    fit: Estimate,
    *,
    truth: ArrayLike | None = None,
    heading: str | None = None,
    confidence: float = 0.95,
    noncompliance: float = printing.NONCOMPLIANCE,
) -> Section:
    """One estimate as a part of a page, to stand beside others.

    Parameters
    ----------
    fit : Estimate
    truth : (t,) float, optional
        The true proportions, where they are known.
    heading : str, optional
        By default the question's name.
    confidence : float
    noncompliance : float
        The share of respondents for the band that shows what non-compliance could do.

    Returns
    -------
    Section

    Raises
    ------
    DataError
        A truth of another length.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> coins = designs.two_coins()
    >>> section = estimate_section(estimate.moments(coins, coins.tally(count=[65, 135])), heading="Theft")
    >>> section.heading, "15.0" in section.body
    ('Theft', True)
    """
    true = None if truth is None else np.asarray(truth, dtype=float)
    if true is not None and true.shape != fit.proportions.shape:
        raise DataError(
            f"truth must have one share for each of the {len(fit.proportions)} categories; got {true.shape}"
        )
    found = fit.intervals(confidence)
    title = heading or fit.tally.question or "Estimate"
    body = _render(
        "estimate.html",
        plots=_plots(fit, found, true, title),
        steps=None if fit.path is None else charts.convergence(fit.path, fit.categories, title=f"{title}: convergence"),
        columns=_columns(fit, found, true),
        names=[labels.full(category) for category in fit.categories],
        nuisance=[labels.full(name) for name in fit.nuisance],
        told=_told(fit, found),
        checks=[_sentence(line) for line in printing.checks(fit, noncompliance)],
        test=None if fit.comparison is None else str(fit.comparison.test),
        privacy=_privacy(fit),
        bits=math.log2(max(told.categories for told in fit.privacy.values())),
        parts=_PARTS[fit.design.kind] if len(fit.privacy) > 1 else "",
        choosing=privacy.choosing(fit.design) if isinstance(fit.design, Levels) else None,
        notes=printing.reservations(fit, found),
    )
    return Section(title, body)


def _plots(
    fit: Estimate, found: Intervals, truth: NDArray[np.float64] | None, title: str
) -> tuple[list[str], list[str]]:
    """Images for a wide page, side by side, and for a phone, below each other."""
    marks = [charts.Mark("estimate", _short(fit), fit.proportions, found.bounds)]
    if fit.comparison is not None:
        other = fit.comparison.beside(fit)
        marks.append(charts.Mark("pooled", _short(other), other.proportions))
    shares = f"{title}: shares with {confidence_name(found)}"
    if truth is None:
        return [charts.dots(fit.categories, marks, title=shares)], [
            charts.dots(fit.categories, marks, title=shares, size=340, room=17)
        ]
    all_marks = [charts.Mark("truth", "truth", truth), *marks]
    distance = f"{title}: distance from the truth"
    return [
        charts.dots(fit.categories, all_marks, title=shares, size=600),
        charts.differences(fit.categories, marks, truth, title=distance, size=320, labeled=False),
    ], [
        charts.dots(fit.categories, all_marks, title=shares, size=340, room=17),
        charts.differences(fit.categories, marks, truth, title=distance, size=340, room=17),
    ]


def _short(fit: Estimate) -> str:
    """The method as a heading: without its options."""
    return "pooled" if is_pooled(fit) else fit.method.partition(" (")[0]


class _Column(NamedTuple):
    name: str
    cells: list[str]
    role: str = ""


def _columns(fit: Estimate, found: Intervals, truth: NDArray[np.float64] | None) -> list[_Column]:
    """The table, column by column; shares in percent, to two digits of their standard error."""
    low, high = found.bounds.T
    cells = functools.partial(_percents, places=max(decimals_of(fit) - 2, 0))

    def ranges(low: NDArray[np.float64], high: NDArray[np.float64]) -> list[str]:
        return [f"{start} to {end}" for start, end in zip(cells(low), cells(high), strict=True)]

    columns = [] if truth is None else [_Column("truth", cells(truth), "truth")]
    more = np.array([value.value for value in fit.nuisance.values()])
    errors = np.array([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    ends = nuisance_intervals(fit, confidence=found.confidence, method=found.method)
    bounds = np.array(list(ends.values())).reshape(-1, 2)
    columns += [
        _Column(_short(fit), cells(fit.proportions) + cells(more), "estimate"),
        _Column("s.e.", cells(errors)),
        _Column(confidence_name(found, many=False), ranges(low, high) + ranges(*bounds.T)),
    ]
    if truth is not None:
        columns.append(_Column("holds the truth", ["yes" if yes else "no" for yes in holds(found, truth)], "holds"))
    if fit.comparison is not None:
        other = fit.comparison.beside(fit)
        columns += [
            _Column(_short(other), cells(other.proportions), "pooled"),
            _Column("s.e.", cells(reliable_errors(other))),
            _Column("stratified − pooled", cells(fit.comparison.difference)),
            _Column("s.e.", cells(fit.comparison.standard_errors)),
        ]
    if fit.unbounded is not None:
        columns += [
            _Column("moments, without bounds", cells(fit.unbounded.proportions)),
            _Column("s.e.", cells(fit.unbounded.standard_errors)),
        ]
    if fit.sensitivity is not None:
        columns.append(_Column("band over all preferences", ranges(*fit.sensitivity.T)))
    rows = len(fit.categories) + len(fit.nuisance)
    return [column._replace(cells=column.cells + [""] * (rows - len(column.cells))) for column in columns]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def holds(found: Intervals, truth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each interval holds the true share, (t,)."""
    return np.asarray((found.bounds[:, 0] <= truth) & (truth <= found.bounds[:, 1]))


def confidence_name(found: Intervals, *, many: bool = True) -> str:
    """How the intervals are called: ``95 % intervals``."""
    return f"{100 * found.confidence:.4g} % interval{'s' if many else ''}"


def _percents(values: NDArray[np.float64], *, places: int) -> list[str]:
    return [shown(value, places).replace("-", "−") for value in (100 * values).tolist()]


def _told(fit: Estimate, found: Intervals) -> list[tuple[str, str]]:
    """How the numbers came about, in terms and words."""
    missing = f", {fit.missing:,} missing" if fit.missing else ", none missing"
    told = [
        ("Design", fit.design.name or fit.design.kind),
        ("Answers", f"{fit.n:,}{missing}"),
        ("Target", f"the {fit.target}"),
        ("Method", fit.method),
        ("Standard errors", fit.standard_error_kind),
        ("Intervals", f"{100 * found.confidence:.4g} %, {found.method.replace('_', '-')}"),
    ]
    if fit.tally.weighted:
        told.insert(2, ("Sum of weights", f"{fit.tally.weight:,.6g}"))
    return told


class _Told(NamedTuple):
    """What an answer at a level tells, for the table of privacy."""

    level: str
    chosen: str
    left: str
    possible: float
    bits: str
    share: float
    epsilon: str
    words: str


def _privacy(fit: Estimate) -> list[_Told]:
    chosen = {str(level): part.n for level, part in fit.tally.by_level.items()}
    result = []
    for level, told in fit.privacy.items():
        few, many = told.still_possible
        most = math.log2(told.categories)
        result.append(
            _Told(
                level="" if level is None else labels.full(level),
                chosen=f"{fit.n if level is None else chosen.get(str(level), 0):,}",
                left=f"{few if few == many else f'{few} to {many}'} of {told.categories}",
                possible=few / told.categories,
                bits="–" if math.isnan(told.bits) else f"{told.bits:.2f}",
                share=0.0 if math.isnan(told.bits) else min(1.0, told.bits / most),
                epsilon="∞" if math.isinf(told.epsilon) else "–" if math.isnan(told.epsilon) else f"{told.epsilon:.3g}",
                words="; ".join((told.reason, *told.notes)),
            )
        )
    return result


def _render(name: str, **values: Any) -> str:
    jinja = need("jinja2")
    environment = jinja.Environment(
        loader=jinja.PackageLoader("naysay.report", "templates"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return str(environment.get_template(name).render(values))
