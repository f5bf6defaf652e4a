"""The results of a survey as a fragment of a page: pictures first, the numbers beside them.

The researcher's own view of a survey: everything, at once.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from naysay import show
from naysay._checks import several
from naysay._values import Floats
from naysay.collect.results.answered import (
    CELL,
    COUNT,
    Answered,
    ColumnResult,
    Plain,
    days,
    gathered,
    levels,
    plain_of,
    reach,
)
from naysay.collect.results.counting import Counting, answered_of, current_counts, groupable
from naysay.collect.storage import Store
from naysay.estimate import Estimate, PrintOptions, differences
from naysay.estimate.groups import differences_content
from naysay.estimate.plain import Numbers, Shares
from naysay.show import Content, Note, Points, Sentence, Table, rows
from naysay.show.html import template
from naysay.show.rows import Mark

_WEEKLY = 62  # days from which on the columns of a chart are weeks
_BINS = 12
_COMPARED = 8  # groups up to which every difference is listed


@dataclass(frozen=True)
class Section:
    """A part of the fragment: its heading, and its HTML."""

    heading: str
    body: str


def fragment(
    answered: Answered,
    *,
    by: str | None,
    least: int,
    facts: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
    choices: Sequence[tuple[str, str]] = (),
    when: Section | None = None,
    repeated: bool = True,
    hidden: int = 0,
    level: int = 2,
) -> str:
    """The results as HTML, in which the texts of users are escaped.

    Parameters
    ----------
    answered : Answered
    by, least
        As in `gathered.gathered`.
    facts : sequence of (number, what it is)
    notes : sequence of str
        What a reader must know of all of it.
    choices : sequence of (column, title)
        The questions that may make groups; each is a link ``?by=COLUMN``.
    when : Section, optional
        How many replied when.
    repeated : bool
        Whether each question says what repeated answers would do, as for open links.
    hidden : int
        How many answers a question needs before it is shown; 0 if all are shown at once.
    level : int
        Of the heading with the survey's title.
    """
    options = PrintOptions()
    results = gathered(answered, by=by, least=least, options=options)
    sections = [
        section(answered, result, by=by, least=least, options=options, repeated=repeated, hidden=hidden)
        for result in results
    ]
    return template(
        "naysay.collect.results",
        "fragment.html",
        title=answered.book.title,
        level=level,
        facts=facts,
        notes=notes,
        choices=choices,
        by=by,
        sections=[*([] if when is None else [when]), *sections],
    )


def days_section(counts: dict[datetime.date, int]) -> Section:
    """How many replied on each day, or in each week of a long survey."""
    span_names, reply_counts = _spread(counts)
    return Section(
        "Replies per day" if len(counts) <= _WEEKLY else "Replies per week",
        rows.columns(span_names, {"replies": reply_counts}, title="Replies"),
    )


def _spread(counts: dict[datetime.date, int], over: Sequence[datetime.date] = ()) -> tuple[list[str], list[int]]:
    """The counts of every day between the first and the last, days without any included; of weeks if there are many."""
    all_days = sorted({*counts, *over})
    if not all_days:
        return [], []
    day_span = (all_days[-1] - all_days[0]).days + 1
    span_days = 1 if day_span <= _WEEKLY else 7
    span_counts = [0] * -(-day_span // span_days)
    for day, count in counts.items():
        span_counts[(day - all_days[0]).days // span_days] += count
    span_names = [
        (all_days[0] + datetime.timedelta(days=span_days * span_place)).strftime("%d %b")
        for span_place in range(len(span_counts))
    ]
    return [span_name.lstrip("0") for span_name in span_names], span_counts


def section(
    answered: Answered,
    result: ColumnResult,
    *,
    by: str | None,
    least: int,
    options: PrintOptions,
    repeated: bool = True,
    hidden: int = 0,
) -> Section:
    """One question: its picture, its numbers, and what they rest on; then its groups."""
    if result.problem or result.whole is None:
        empty_text = f"Shown from {hidden} answers on." if hidden else "Nobody has answered yet."
        return Section(result.title, _p(result.problem or empty_text))
    html_parts = [*_result_parts(answered, result, result.whole, options, hidden)]
    html_parts += _levels(answered, result)
    if repeated and not isinstance(result.whole, Numbers):  # no share of answers bounds what moves a mean
        move_texts = [
            f"{share:.0%} could move a share by up to {100 * points:.3g} point{'s' if points != 0.01 else ''}"
            for share, points in reach(result).items()
            if points is not None
        ]
        repeated_text = f"If answers were repeated or dishonest: {', '.join(move_texts)}." if move_texts else ""
        html_parts.append(_p(repeated_text, small=True))
    if by is not None and by != result.entry.column:
        html_parts += _groups(result, by, least, options, hidden=hidden)
    return Section(result.title, "".join(html_parts))


def _result_parts(
    answered: Answered, result: ColumnResult, summary: Estimate | Plain, options: PrintOptions, hidden: int
) -> Iterator[str]:
    if isinstance(summary, Estimate):
        yield _estimate_picture(summary, result.title, options)
        summary_content = summary.parts(options)
        yield _numbers(summary_content, result.title) + show.html(
            [content_part for content_part in summary_content if isinstance(content_part, Note)]
        )
        yield _details_html(
            "What this rests on",
            show.html([body_part for body_part in summary_content if isinstance(body_part, Sentence | Points)][1:]),
        )
        return
    if isinstance(summary, Numbers):
        number_cells = answered.cells.of(result.entry.column).drop_nulls()
        answer_numbers = number_cells[result.entry.column].cast(float).to_numpy()
        bin_names, bin_counts = _bins(answer_numbers, number_cells[COUNT].to_numpy(), hidden)
        yield rows.columns(bin_names, {"people": bin_counts}, title=f"{result.title}: how many gave each number")
    else:
        yield _shares_picture(summary, result.title)
    shown_summary: Any = summary.mean_alone() if hidden and isinstance(summary, Numbers) else summary
    summary_content = shown_summary.parts()
    yield _numbers(summary_content, result.title)
    basis_text = str(summary_content[1].text)
    yield _p(basis_text[:1].upper() + basis_text[1:], small=True)


def _numbers(content: Iterable[Content], title: str) -> str:
    """The tables, named for those who hear them."""
    return show.html(replace(part, caption=f"{title}: numbers") for part in content if isinstance(part, Table))


def _estimate_picture(fit: Estimate, title: str, options: PrintOptions) -> str:
    """The estimate with its intervals, the other one where respondents chose levels, and the band of non-compliance."""
    intervals = fit.intervals(options.confidence, method=options.method)
    marks = [Mark("estimate", fit.method.partition(" (")[0], fit.proportions, intervals.bounds)]
    if fit.comparison is not None:
        pooled_fit = fit.comparison.beside(fit)
        marks.append(Mark("pooled", pooled_fit.method.partition(" (")[0], pooled_fit.proportions))
    band = fit.noncompliance(options.noncompliance, options.noncompliers)
    band = fit.sensitivity if band is None else band
    band_note = "" if band is None else _p(_band(fit, options), small=True)
    return rows.rows(list(map(str, fit.categories)), marks, title=f"{title}: estimated shares", band=band) + band_note


def _band(fit: Estimate, options: PrintOptions) -> str:
    if any(finding.field == "noncompliance" for finding in fit.findings):
        return f"Pale: where the share could be if up to {options.noncompliance:.0%} of people did not comply."
    return "Pale: where the share could be if people chose between false categories as they like."


def _shares_picture(summary: Shares, title: str) -> str:
    marks = [Mark("estimate", "share", summary.proportions, summary.bounds)]
    return rows.rows(summary.labels, marks, title=f"{title}: shares", bars=True)


def _bins(values: Floats, counts: Floats, least: int) -> tuple[list[str], list[int]]:
    """Ranges between round numbers, or each whole number, and how many people are in them.

    The outermost ranges are widened until they hold so many people: else an end would tell of the oldest or richest.
    """
    low, high = float(values.min()), float(values.max())
    by_number = high - low <= 2 * _BINS and bool((values == values.round()).all())
    size = 10 ** math.floor(math.log10((high - low) / _BINS)) if high > low else 0.1
    bin_width = 1.0 if by_number else next(size * n for n in (1, 2, 2.5, 5, 10) if (high - low) / (size * n) <= _BINS)
    first_bin = math.floor(low / bin_width + 1e-9)
    bin_places = np.floor(values / bin_width + 1e-9).astype(int) - first_bin
    bin_counts = np.bincount(bin_places, weights=counts).astype(int).tolist()
    bin_edges = [(first_bin + bin_place) * bin_width for bin_place in range(len(bin_counts) + 1)]
    while len(bin_counts) > 1 and bin_counts[0] < least:
        bin_counts[:2], bin_edges[:2] = [bin_counts[0] + bin_counts[1]], [-math.inf]
    while len(bin_counts) > 1 and bin_counts[-1] < least:
        bin_counts[-2:], bin_edges[-2:] = [bin_counts[-2] + bin_counts[-1]], [math.inf]
    return [_range(bin_start, bin_end, by_number=by_number) for bin_start, bin_end in pairwise(bin_edges)], bin_counts


def _range(start: float, end: float, *, by_number: bool) -> str:
    if math.isinf(start) or math.isinf(end):
        return (
            "all"
            if math.isinf(start) and math.isinf(end)
            else f"< {end:,.6g}"
            if math.isinf(start)
            else f"≥ {start:,.6g}"
        )
    return f"{start:,.6g}" if by_number else f"{start:,.6g}–"


def _levels(answered: Answered, result: ColumnResult) -> Iterator[str]:
    """How many chose each level on each day."""
    level_counts = levels(answered, result.entry.column)
    if level_counts is None or not level_counts.height:
        return
    level_days = level_counts["day"].unique().to_list()
    counts_by_level: dict[str, list[int]] = {}
    span_names: list[str] = []
    for level in level_counts["level"].unique(maintain_order=True).sort().to_list():
        day_counts = dict(level_counts.filter(level_counts["level"] == level).select("day", "count").rows())
        span_names, counts_by_level[f"level {level}"] = _spread(day_counts, level_days)
    yield "<h3>Answers per day and level</h3>" + rows.columns(
        span_names, counts_by_level, title=f"{result.title}: answers by level"
    )


def _groups(result: ColumnResult, by: str, least: int, options: PrintOptions, *, hidden: int) -> Iterator[str]:
    """Each group with enough answers."""
    if not result.groups:
        waiting_text = f"groups appear once each has {least} answers, or those that are left out have as many together."
        yield _p(f"By {by}: {waiting_text if hidden else f'no group has {least} answers yet.'}", small=True)
        return
    for group, summary in result.groups.items():
        group_name = "(missing)" if group is None else group
        yield f"<h3><bdi>{escape(f'{by} = {group_name}')}</bdi></h3>"
        if isinstance(summary, Estimate):
            interval_bounds = summary.intervals(options.confidence, method=options.method).bounds
            marks = [Mark("estimate", "estimate", summary.proportions, interval_bounds)]
            yield rows.rows(list(map(str, summary.categories)), marks, title=f"{result.title}, {by} = {group_name}")
        elif isinstance(summary, Numbers):
            shown_summary = summary.mean_alone() if hidden else summary
            yield _numbers(shown_summary.parts(), f"{result.title}, {by} = {group_name}")
        else:
            yield _shares_picture(summary, f"{result.title}, {by} = {group_name}")
        yield _p(several(summary.n, "answer", "answers"), small=True)
    group_fits = {
        group: group_summary for group, group_summary in result.groups.items() if isinstance(group_summary, Estimate)
    }
    if len(group_fits) > 1:
        difference_parts = differences_content(differences(group_fits), options.confidence, most=_COMPARED)
        difference_parts = [
            replace(difference_part, caption=f"{result.title}: differences")
            if isinstance(difference_part, Table)
            else difference_part
            for difference_part in difference_parts
        ]
        yield _details_html("Differences between groups", show.html(difference_parts))


def _details_html(name: str, body: str) -> str:
    return f"<details><summary>{escape(name)}</summary>{body}</details>"


def _p(text: str, *, small: bool = False) -> str:
    return show.html([Sentence(text, small=small)]) if text else ""


def page(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> str:
    """The results of a survey as a fragment of an HTML page, for the researcher.

    It needs no script and no style attribute. It links the style sheet ``/results.css``, which the application serves.

    Parameters
    ----------
    store : Store
    name : str
        The survey.
    language : str, optional
        Of questions and answers; by default the first of the questionnaire.
    by : str, optional
        A plain question whose answers make groups, such as from a link ``?by=area`` of the fragment itself.

    Raises
    ------
    DataError
        No such survey or language, or no such question to make groups.
    """
    answered = of_store(store, name, by=by, language=language)
    repeated = store.published(name).key is None
    day_counts = days(answered)
    reply_count = answered.cells.replies
    facts = [
        (f"{reply_count:,}", "reply" if reply_count == 1 else "replies"),
        (f"{len(day_counts):,}", "day with replies" if len(day_counts) == 1 else "days with replies"),
    ]
    choices = [(column, column) for column in groupable(answered.book)]
    days_part = days_section(day_counts) if day_counts else None
    return fragment(answered, by=by, least=CELL, facts=facts, choices=choices, when=days_part, repeated=repeated)


def aggregates(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> dict[str, Any]:
    """The results of a survey as data that JSON can hold: counts, estimates and intervals, but nobody's reply.

    Answers are called by their names in the questionnaire, as in ``naysay estimate --survey NAME --format json``; with
    a language by what respondents read.

    Parameters
    ----------
    store, name, language, by
        As in `page`.

    Raises
    ------
    DataError
        No such survey or language, or no such question to make groups.
    """
    answered, options = of_store(store, name, by=by, language=language, names=language is None), PrintOptions()
    column_objects = []
    for result in gathered(answered, by=by, options=options):
        column_object = plain_of(result, options)
        level_counts = levels(answered, result.entry.column)
        if level_counts is not None:
            column_object["levels"] = [
                {"day": day.isoformat(), "level": level, "answers": count} for day, level, count in level_counts.rows()
            ]
        column_objects.append(column_object)
    return {
        "survey": name,
        "hash": answered.book.hash,
        "replies": answered.cells.replies,
        "by": by,
        "days": [{"day": day.isoformat(), "replies": count} for day, count in days(answered).items()],
        "questions": column_objects,
    }


def of_store(
    store: Store, name: str, *, by: str | None = None, language: str | None = None, names: bool = False
) -> Answered:
    """What was answered to a survey so far."""
    published = store.published(name)
    tally_counts = current_counts(store, published, beside=[] if by is None else [by])
    return answered_of(Counting(published), tally_counts, language=language, names=names)
