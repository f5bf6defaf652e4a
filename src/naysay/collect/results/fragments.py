"""The results of a survey as a fragment of a page: pictures first, the numbers beside them.

The researcher's own view of a survey: everything, at once.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import chain, pairwise
from typing import Any

import numpy as np

from naysay import show
from naysay._checks import several
from naysay._values import Floats
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.results.answered import (
    CELL,
    COUNT,
    REPEATED,
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
from naysay.estimate.fit import decimals, shares_finding
from naysay.estimate.groups import differences_content
from naysay.estimate.intervals import METHODS
from naysay.estimate.page import typeset
from naysay.estimate.plain import Numbers, Shares
from naysay.files import Entry
from naysay.files.codebook import PHRASES
from naysay.show import Bar, Column, Content, Marked, Note, Points, Sentence, Table, rows
from naysay.show.result import template
from naysay.show.rows import Mark

_WEEKLY = 62  # days from which on the columns of a chart are weeks
_BINS = 12
_COMPARED = 8  # groups up to which every difference is listed


@dataclass(frozen=True)
class Section:
    """A part of the fragment: its heading, what was asked, and its HTML.

    The heading states the finding. `kind` says whether the answers were private.
    """

    heading: str
    body: str
    wording: str = ""
    kind: str = ""


def fragment(
    answered: Answered,
    *,
    by: str | None,
    least: int,
    facts: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
    choices: Sequence[str] = (),
    day_counts: dict[datetime.date, int] | None = None,
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
    choices : sequence of str
        The columns of questions that may make groups; each is a link ``?by=COLUMN`` with what was asked.
    day_counts : {date: int}, optional
        How many replied when, where a reader may know it.
    repeated : bool
        Whether each question says what repeated answers would do, as for open links.
    hidden : int
        How many answers a question needs before it is shown; 0 if all are shown at once.
    level : int
        Of the heading with the survey's title.
    """
    options = PrintOptions(percent=True)
    # what is true of all questions is said once, above them
    plainly_told = replace(answered, cautioned=lambda fit: fit)
    results = list(gathered(plainly_told, by=by, least=least, options=options))
    survey_text, titles = f"{answered.book.title}{_span(day_counts or {})}", _titles(results)
    sections = [
        section(answered, result, by=by, least=least, options=options, survey=survey_text, hidden=hidden, titles=titles)
        for result in results
    ]
    return template(
        "naysay.collect.results",
        "fragment.html",
        title=answered.book.title,
        level=level,
        facts=facts,
        notes=[*notes, *(_repeated_notes(results) if repeated else ())],
        choices=[(column, titles[column]) for column in choices],
        by=by,
        when=days_section(day_counts) if day_counts else None,
        sections=sections,
    )


def _repeated_notes(results: Iterable[ColumnResult]) -> Iterator[str]:
    """What answers that are repeated or dishonest can do to the shares of an open survey, at most."""
    share = REPEATED[0]
    answered = [result for result in results if result.whole is not None]
    moves = [move for result in answered if (move := reach(result)[share]) is not None]
    if any(result.entry.asked is not None and reach(result)[share] is None for result in answered):
        moves = []  # that of arms depends on their sizes, and may be the largest
    yield "Anyone who has the link can answer any number of times." + (
        f" If {share * 100:.0f} in 100 replies were repeated or dishonest, a share here could move by up to "
        f"{points_text(max(moves))} (computed by moments)."
        if moves
        else ""
    )


def points_text(share: float) -> str:
    """A difference of shares in percentage points.

    Examples
    --------
    >>> points_text(0.01), points_text(0.0175)
    ('1 point', '1.75 points')
    """
    return f"{100 * share:.3g} point{'' if math.isclose(share, 0.01) else 's'}"


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
    survey: str,
    hidden: int = 0,
    titles: Mapping[str, str] | None = None,
) -> Section:
    """One question: the finding, its picture and numbers, and where they come from; then its groups.

    `titles` says what the question of the groups is called, by its column.
    """
    wording = _wording(result)
    kind = "Private" if _is_private(answered, result.entry) else "Sent as it is"
    if result.problem or result.whole is None:
        empty_text = f"Shown from {hidden} answers on." if hidden else "Nobody has answered yet."
        is_shown = [answered.cells.of(*columns).drop_nulls().height > 0 for columns in _arms(result.entry)]
        if hidden and result.arms and not all(is_shown):
            return Section(wording, _p(f"Shown from {hidden} answers in each arm on."), kind=kind)
        return Section(wording, _p(result.problem or empty_text), kind=kind)
    html_parts = [*_result_parts(answered, result, result.whole, options, survey, hidden)]
    if by is not None and by != result.entry.column:
        html_parts += _groups(result, (titles or {}).get(by, by), least, options, hidden=hidden)
    return Section(finding(result, options), "".join(html_parts), wording, kind)


def _arms(entry: Entry) -> Collection[tuple[str, ...]]:
    """The columns that measure it in each arm; none where one question does."""
    return entry.asked.arms.values() if entry.asked is not None else ()


def _is_private(answered: Answered, entry: Entry) -> bool:
    """Whether chance had a part in what was sent, in some arm at least where arms are read together."""
    columns = set(chain(*_arms(entry)))
    if not columns:
        return entry.asked is not None
    return any(other.asked is not None for other in answered.book.entries if other.column in columns)


def _wording(result: ColumnResult) -> str:
    """What was asked and in which arms, with an ellipsis where the questionnaire repeats an answer."""
    question_text = result.entry.wording or result.entry.label or result.entry.column.replace("_", " ")
    one_line = " ".join(re.sub(r"\$\{[^}]*\}", "…", question_text).split())
    arms_text = f" (arm{'s' if len(result.arms) > 1 else ''} {_listed(result.arms)})" if result.arms else ""
    return _ASKED.sub(r"\1 ", one_line) + arms_text


_ASKED = re.compile(r"([?.!؟:])\s*: ")  # no colon follows a mark that ends a question


def _answer_to(title: str, answer: str | None) -> str:
    """An answer under what was asked, as a heading: ``Where do you live? In a city``."""
    return _ASKED.sub(r"\1 ", f"{title}: {_GONE if answer is None else answer}")


_GONE = "no answer"


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _titles(results: Sequence[ColumnResult]) -> dict[str, str]:
    """What was asked, by column; questions that read alike are told apart by their place on the page."""
    wordings = {result.entry.column: _wording(result) for result in results}
    often = Counter(wordings.values())
    return {
        column: wording if often[wording] == 1 else f"{wording} (question {place} of {len(results)})"
        for place, (column, wording) in enumerate(wordings.items(), 1)
    }


def _choice(result: ColumnResult) -> str | None:
    """The one of several choices, each a column of its own, that a result is about; None where it is no such column."""
    before, question_end, choice = (result.entry.wording or result.entry.label).rpartition(": ")
    is_one = result.entry.holds == "flags" or (result.entry.asked is not None and before.endswith(("?", "؟", ".")))
    return choice if question_end and is_one else None


def finding(result: ColumnResult, options: PrintOptions) -> str:
    """What is known of a question, in one line: a mean, or one of its shares as in `shares_finding`."""
    summary = result.whole
    if isinstance(summary, Numbers):
        return summary.finding()
    names, shares, bounds = _shown_shares(result.entry, summary, options)
    choice = _choice(result)
    return shares_finding(names if choice is None else [choice] * len(names), shares, bounds)


def _shown_shares(entry: Entry, summary: Any, options: PrintOptions) -> tuple[list[str], Floats, Floats]:
    """Names, the nearest possible shares, and intervals, each of which holds its share."""
    if isinstance(summary, Estimate):
        bounds = np.asarray(summary.intervals(options.confidence, method=options.method).bounds, dtype=float)
        shares = summary.projected().shares
        inside = np.clip(shares, np.where(np.isnan(bounds[:, 0]), 0, bounds[:, 0]), np.fmin(bounds[:, 1], 1))
        return [str(category) for category in summary.categories], inside, bounds
    assert isinstance(summary, Shares)  # noqa: S101
    names = ["chosen", "not chosen"] if entry.holds == "flags" else list(summary.labels)
    return names, np.asarray(summary.proportions, dtype=float), np.asarray(summary.bounds, dtype=float)


def _result_parts(
    answered: Answered, result: ColumnResult, summary: Estimate | Plain, options: PrintOptions, survey: str, hidden: int
) -> Iterator[str]:
    title = _wording(result)
    if isinstance(summary, Numbers):
        number_cells = answered.cells.of(result.entry.column).drop_nulls()
        answer_numbers = number_cells[result.entry.column].cast(float).to_numpy()
        bin_names, bin_counts = _bins(answer_numbers, number_cells[COUNT].to_numpy(), hidden)
        yield rows.columns(bin_names, {"people": bin_counts}, title=f"{title} – how many gave each number")
        shown_summary: Any = summary.mean_alone() if hidden else summary
        yield _numbers(shown_summary.parts(), title)
        yield _p(_source(survey, summary, "direct answers, as people gave them", options.confidence), small=True)
        return
    names, shares, bounds = _shown_shares(result.entry, summary, options)
    places = _percent_places(summary)
    mark = Mark("estimate", "share", shares, bounds)
    yield rows.rows(names, [mark], title=f"{title} – shares", places=places, ranges=False)
    columns = (Column("answer", words=True), Column("share, %"), Column("from"), Column("to"))
    cell_rows = tuple(
        (name, *(_percent(value, places) for value in (share, *ends)))
        for name, share, ends in zip(names, shares, bounds, strict=True)
    )
    yield show.html([Table(columns, cell_rows, caption=f"{title} – shares in percent")])
    if isinstance(summary, Shares):
        method = "drawn by lot on the device" if summary.lot else "direct answers, as people gave them"
        yield _p(_source(survey, summary, method, options.confidence), small=True)
        if summary.lot:  # a public page is told in steps, and holds no counts within strata
            lot = replace(summary.lot, strata="") if hidden else summary.lot
            yield "".join(_p(f"{line[0].upper()}{line[1:]}.", small=True) for line in lot.lines())
        yield _details_html("Counts and standard errors", show.html([_counts(summary, names, title)]))
        return
    yield _p(_source(survey, summary, _sent(result), options.confidence), small=True)
    yield from _rest(answered, result, summary, options)


def _counts(summary: Shares, names: Sequence[str], title: str) -> Table:
    """How many gave each answer, and the shares with their standard errors in percent."""
    places = max((decimals(summary.standard_errors) or 3) - 2, 0)
    columns = (Column("answer", words=True), *map(Column, ("count", "share, %", "s.e.", "low", "high")))
    numbers = np.column_stack([summary.proportions, summary.standard_errors, summary.bounds])
    cell_rows = tuple(
        (name, f"{count:,}", *(_percent(value, places) for value in row_numbers))
        for name, count, row_numbers in zip(names, summary.counts, numbers.tolist(), strict=True)
    )
    return Table(columns, cell_rows, caption=f"{title} – counts, and shares in percent")


def _sent(result: ColumnResult) -> str:
    """The method, in words: what was sent in place of answers."""
    asked = result.entry.asked
    if asked is not None and asked.arms:
        if result.entry.holds == "numbers":  # people count statements: no other measure holds numbers
            return "people sent their counts as they are; the shares are computed from all of them"
        if asked.is_of_everybody:
            return "the answers of each person are read together; the shares are corrected for chance"
        return "the arms are read together; where chance had a part in what was sent, the shares are corrected for it"
    said = re.split("[:,]", result.entry.meaning)[0]
    for phrases in PHRASES.values():
        if said == phrases.heads["ruled_out"]:
            return "people sent only answers that are not their own; the shares are computed from these"
        if said == phrases.heads["as_it_is"]:
            return "the design changes no answer"
    return "chance had a part in what was sent; the shares are corrected for it" if said else ""


def _rest(answered: Answered, result: ColumnResult, fit: Estimate, options: PrintOptions) -> Iterator[str]:
    """What a reader may look up: the unbiased shares and why they can be negative, and what all of it rests on."""
    content, title = fit.parts(options), _wording(result)
    lowest, highest = float(np.nanmin(fit.proportions)), float(np.nanmax(fit.proportions))
    details = [_numbers(content, title, "numbers in percent")]
    summary_text = "Estimates, standard errors and assumptions"
    if lowest < 0 or highest > 1:
        outside = lowest if lowest < 0 else highest
        nearest = 0 if lowest < 0 else 100
        summary_text = f"Why {nearest} and not {_percent(outside, _percent_places(fit))} %?"
        details.insert(0, _p(_NEAREST))
    details += [
        show.html([replace(part, text=typeset(part.text)) for part in content if isinstance(part, Note)]),
        show.html([_plainly(part, fit, options) for part in content if isinstance(part, Sentence | Points)][1:]),
        _band_picture(fit, title, options),
        *_levels(answered, result),
    ]
    move_texts = [f"{share * 100:.0f} %: {points_text(move)}" for share, move in reach(result).items() if move]
    if move_texts:
        details.append(
            _p(f"What repeated or dishonest answers could move, at most: {', '.join(move_texts)}.", small=True)
        )
    yield _details_html(summary_text, "".join(details))


def _plainly(part: Sentence | Points, fit: Estimate, options: PrintOptions) -> Sentence | Points:
    """A sentence of the print, in which the intervals are called as a paper calls them."""
    if not isinstance(part, Sentence):
        return replace(part, items=tuple(map(typeset, part.items)))
    name = fit.intervals(options.confidence, method=options.method).method
    title = METHODS[name].title if name in METHODS else name.replace("_", " ")
    written = f"{options.confidence:.4g} intervals: {name}"
    return replace(part, text=typeset(part.text.replace(written, f"{100 * options.confidence:.4g} % {title}")))


_NEAREST = (
    "Chance takes away a little more or a little less than expected, so an unbiased estimate can fall below 0 or above "
    "100 %. No share does: above stand the shares that are possible and nearest to the unbiased ones, each within its "
    "interval. Sums and averages of several surveys are right only with the unbiased ones, which stand here."
)


def _source(survey: str, summary: Estimate | Plain, method: str, confidence: float) -> str:
    """Where the numbers come from: survey and days, replies, and the method in words."""
    answer_count = summary.tally.n if isinstance(summary, Estimate) else summary.n
    source = f"{survey}; {several(int(answer_count), 'answer', 'answers')}; {100 * confidence:.4g} % intervals."
    return f"{source} {method[:1].upper()}{method[1:].rstrip('.')}." if method else source


def _span(day_counts: dict[datetime.date, int]) -> str:
    """The first and the last day with replies."""
    reply_days = sorted(day_counts)
    first_and_last = dict.fromkeys(_day(day) for day in (*reply_days[:1], *reply_days[-1:]))
    return f", {' to '.join(first_and_last)}" if reply_days else ""


def _day(day: datetime.date) -> str:
    return f"{day.day} {day:%B %Y}"


def _percent_places(summary: Estimate | Shares) -> int:
    """Decimals of a percentage: none where the standard error is half a point or more."""
    errors = np.asarray(summary.standard_errors, dtype=float)
    known = errors[errors > 0]  # an error of nought says that all answers are alike, and not that they are many
    return 0 if not known.size or np.median(known) >= 0.005 else 1


def _percent(share: float, places: int) -> str:
    if not math.isfinite(share):
        return "–"
    return f"{round(100 * share, places) + 0.0:.{places}f}".replace("-", "−")


def _numbers(content: Iterable[Content], title: str, what: str = "numbers") -> str:
    """The tables, named for those who hear them."""
    return show.html(_captioned(part, f"{title} – {what}") for part in content if isinstance(part, Table))


def _captioned(table: Table, caption: str) -> Table:
    """A table with its name; nought has no sign, and a minus looks like the others of the page."""
    rows_signed = tuple(tuple(_signed(cell) for cell in table_row) for table_row in table.rows)
    return replace(table, caption=caption, rows=rows_signed)


def _signed(cell: str | Bar | Marked) -> str | Bar | Marked:
    if not isinstance(cell, str) or not re.fullmatch(r"-[\d.,]+", cell):
        return cell
    return cell[1:] if not re.search(r"[1-9]", cell) else f"−{cell[1:]}"


def _band_picture(fit: Estimate, title: str, options: PrintOptions) -> str:
    """The unbiased estimate beside the pooled one where people chose levels, and the band of non-compliance."""
    intervals = fit.intervals(options.confidence, method=options.method)
    marks = [Mark("estimate", fit.method.partition(" (")[0], fit.proportions, intervals.bounds)]
    if fit.comparison is not None:
        pooled_fit = fit.comparison.beside(fit)
        marks.append(Mark("pooled", pooled_fit.method.partition(" (")[0], pooled_fit.proportions))
    band = fit.noncompliance(options.noncompliance, options.noncompliers)
    band = fit.sensitivity if band is None else band
    if band is None and len(marks) == 1:
        return ""
    band_note = "" if band is None else _p(_band(fit, options), small=True)
    return rows.rows(list(map(str, fit.categories)), marks, title=f"{title} – estimated shares", band=band) + band_note


def _band(fit: Estimate, options: PrintOptions) -> str:
    if any(finding.field == "noncompliance" for finding in fit.findings):
        return f"Pale: where the share could be if up to {100 * options.noncompliance:.4g} % of people did not comply."
    return "Pale: where the share could be if people chose between false categories as they like."


def _bins(values: Floats, counts: Floats, least: int) -> tuple[list[str], list[int]]:
    """Ranges between round numbers, or each whole number, and how many people are in them.

    The outermost ranges are widened until they hold so many people: else an end would tell of the oldest or richest.
    """
    low, high = float(values.min()), float(values.max())
    by_number = high - low <= 2 * _BINS and bool((values == values.round()).all())
    size = 10 ** math.floor(math.log10((high - low) / _BINS)) if high > low else 0.1
    steps = (1, 2, 5, 10) if bool((values == values.round()).all()) else (1, 2, 2.5, 5, 10)
    bin_width = 1.0 if by_number else next(size * n for n in steps if (high - low) / (size * n) <= _BINS)
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
        ).replace("-", "−")
    return f"{start:,.6g}".replace("-", "−") + ("" if by_number else "–")


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
        span_names, counts_by_level, title=f"{_wording(result)} – answers by level"
    )


def _groups(result: ColumnResult, title: str, least: int, options: PrintOptions, *, hidden: int) -> Iterator[str]:
    """Each group with enough answers, under the question that makes them and its answer."""
    if not result.groups:
        rest_text = "or those that are left out have as many together"
        waiting_text = f"Groups by “{title}” appear once each has {least} answers, {rest_text}."
        yield _p(waiting_text if hidden else f"No group by “{title}” has {least} answers yet.", small=True)
        return
    for group, summary in result.groups.items():
        heading = _answer_to(title, group)
        yield f"<h3><bdi>{escape(heading)}</bdi></h3>"
        picture_title = f"{_wording(result)} – {heading}"
        if isinstance(summary, Numbers):
            yield _numbers((summary.mean_alone() if hidden else summary).parts(), picture_title)
        else:
            names, shares, bounds = _shown_shares(result.entry, summary, options)
            yield rows.rows(
                names,
                [Mark("estimate", "share", shares, bounds)],
                title=picture_title,
                bars=isinstance(summary, Shares),
            )
        yield _p(several(summary.n, "answer", "answers"), small=True)
    group_fits = {
        _GONE if group is None else group: group_summary
        for group, group_summary in result.groups.items()
        if isinstance(group_summary, Estimate)
    }
    if len(group_fits) > 1:
        reference = next((group for group in result.groups if group is not None), ...)
        fit, caption = next(iter(group_fits.values())), f"{_wording(result)} – differences in points"
        parts = differences_content(
            differences(group_fits, reference=reference), options.confidence, most=_COMPARED, percent=True
        )
        in_words = (
            _captioned(part, caption) if isinstance(part, Table) else _plainly(part, fit, options)
            for part in parts
            if isinstance(part, Table | Sentence)
        )
        yield _details_html("Differences between groups", show.html(in_words))


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
    notes = control_notes(store.published(name).questionnaire, answered)
    return fragment(
        answered,
        by=by,
        least=CELL,
        facts=facts,
        notes=notes,
        choices=groupable(answered.book),
        day_counts=day_counts,
        repeated=repeated,
    )


def control_notes(form: Questionnaire, answered: Answered) -> list[str]:
    """What is said above results in which answers to controls do not count."""
    is_counted = any(entry.asked is not None and entry.asked.beside for entry in answered.book.entries)
    has_controls = any(question.control is not None for question in form.asked)
    return [_UNCOUNTED] if has_controls and not is_counted else []


_UNCOUNTED = (
    "Answers to controls do not count here: while the survey is open, in groups, and where few people answered alike, "
    "they could tell of one person whether they followed the instruction."
)


def findings(store: Store, name: str) -> list[tuple[str, str]]:
    """Each question with its finding so far, in words."""
    options = PrintOptions()
    return [
        (_wording(result), finding(result, options))
        for result in gathered(of_store(store, name), options=options)
        if result.whole is not None and not result.problem
    ]


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
        "notes": control_notes(store.published(name).questionnaire, answered),
        "days": [{"day": day.isoformat(), "replies": count} for day, count in days(answered).items()],
        "questions": column_objects,
    }


def of_store(
    store: Store, name: str, *, by: str | None = None, language: str | None = None, names: bool = False
) -> Answered:
    """What was answered to a survey so far."""
    published = store.published(name)
    is_closed = not store.standing()[name][
        1
    ]  # asked before counting: a reply may come, and the survey be closed, after it
    beside = filter(None, (by, published.questionnaire.strata))
    tally_counts = current_counts(store, published, beside=list(beside))
    controls = is_closed and by is None
    return answered_of(Counting(published), tally_counts, language=language, names=names, controls=controls)
