"""An estimate as a page: shares with their intervals, what they rest on, and what an answer gives away."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import privacy
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals, PrintOptions
from naysay.estimate import result as estimates
from naysay.estimate.assumptions import check_estimate
from naysay.estimate.fit import decimals_of, is_pooled, number_text, reliable_errors, reliable_nuisance, shares_finding
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.mean import Measured
from naysay.show import (
    Bar,
    Chart,
    Column,
    Content,
    Facts,
    Heading,
    Marked,
    Note,
    Points,
    Sentence,
    Table,
    charts,
    finish,
)
from naysay.show.page import Section, html
from naysay.show.result import PHONE, rounded_up

_PARTS = {"respondent": "level", "researcher": "sample"}
"""The word for the parts of a design, by who assigns them."""


def estimate_html(
    fit: Estimate,
    *,
    truth: ArrayLike | None = None,
    title: str | None = None,
    confidence: float = 0.95,
    noncompliance: float = estimates.NONCOMPLIANCE,
) -> str:
    """One estimate as a whole page: plot, numbers, their basis, privacy and reservations.

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
    check_estimate(fit)
    section = estimate_section(fit, truth=truth, confidence=confidence, noncompliance=noncompliance)
    return html(title or fit.tally.question or "Estimate", [section], facts=[(f"{fit.n:,}", "answers")])


def estimate_section(
    fit: Estimate,
    *,
    truth: ArrayLike | None = None,
    heading: str | None = None,
    confidence: float = 0.95,
    noncompliance: float = estimates.NONCOMPLIANCE,
    options: PrintOptions | None = None,
    elsewhere: Basis | None = None,
) -> Section:
    """One estimate as a section of a page.

    Parameters
    ----------
    fit : Estimate
    truth : (t,) float, optional
        The true proportions, where they are known.
    heading : str, optional
        By default the finding, which otherwise stands below it.
    confidence : float
    noncompliance : float
        The share of respondents for the band that shows what non-compliance could do.
    options : PrintOptions, optional
        In place of both, with the method of the intervals and who the non-compliers are.
    elsewhere : Basis, optional
        What the page says of several estimates at once, and this section need not repeat.

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
    check_estimate(fit)
    true_shares = None if truth is None else np.asarray(truth, dtype=float)
    if true_shares is not None and true_shares.shape != fit.proportions.shape:
        raise DataError(
            f"truth must have one share for each of the {len(fit.proportions)} categories; got {true_shares.shape}"
        )
    page_options = options or PrintOptions(confidence, noncompliance=noncompliance)
    intervals = fit.intervals(page_options.confidence, method=page_options.method)
    shares = np.clip(fit.proportions, 0, 1)  # as in the table: all possible shares together may lie far from it
    finding = shares_finding(list(map(str, fit.categories)), shares, intervals.bounds)
    section_title = heading or fit.tally.question or "Estimate"
    basis = basis_of(fit, page_options)
    convergence_content: list[Content] = []
    if fit.path is not None:
        draw = functools.partial(charts.convergence, fit.path, fit.categories, title=f"{section_title}: convergence")
        convergence_content = [Heading("Convergence"), Chart(lambda size, _: draw(size=min(size, 640)))]
    content = [
        *([] if heading is None else [Sentence(finding)]),
        _shares(fit, intervals, true_shares, section_title),
        *_numbers(fit, intervals, true_shares),
        *convergence_content,
        *(basis if elsewhere is None else basis.without(elsewhere)).content(),
        *(Note(typeset(reservation_text)) for reservation_text in estimates.reservations(fit, intervals)),
    ]
    return Section(heading or finding, content)


def typeset(text: str) -> str:
    """A sentence of the print as pages write it: a confidence in percent, and the minus sign that tables have.

    Examples
    --------
    >>> typeset("larger by 3 % (0.95 interval -2 % to 8 %)")
    'larger by 3 % (95 % interval −2 % to 8 %)'
    """
    in_percent = re.sub(r"\b0?(\.\d+)(?= (?:\w+ )?intervals?\b)", lambda found: f"{100 * float(found[1]):.4g} %", text)
    return re.sub(r"(?<![\w.−-])-(?=\.?\d)", "−", in_percent)


def measured_section(result: Measured, *, heading: str | None, options: PrintOptions) -> Section:
    """The estimate of a number as a section of a page, which begins with its finding.

    Parameters
    ----------
    result : Measured
    heading : str, optional
        By default the finding, which otherwise stands below it.
    options : PrintOptions
    """
    finding = result.finding(options.confidence)
    return Section(
        heading or finding, [*([] if heading is None else [Sentence(finding)]), *map(_in_page, result.body(options))]
    )


def _in_page(content: Content) -> Content:
    """A part of the print as pages write it."""
    if isinstance(content, Sentence | Note):
        return replace(content, text=typeset(content.text))
    if isinstance(content, Points):
        return replace(content, items=tuple(map(typeset, content.items)))
    if isinstance(content, Table):
        cells = (tuple(typeset(cell) if isinstance(cell, str) else cell for cell in row) for row in content.rows)
        return replace(content, rows=tuple(cells))
    return content


@dataclass(frozen=True)
class Basis:
    """What stands below the numbers of an estimate: what they rest on, what an answer reveals, how they were made.

    Parameters
    ----------
    sentences : tuple of str
    privacy : tuple of Content
    facts : tuple of (term, text)
    """

    sentences: tuple[str, ...]
    privacy: tuple[Content, ...]
    facts: tuple[tuple[str, str], ...]

    def content(self) -> list[Content]:
        """As parts of a section."""
        heading: list[Content] = [Heading("What the estimate rests on"), Points(self.sentences, small=True)]
        return [*(heading if self.sentences else []), *self.privacy, *([Facts(self.facts)] if self.facts else [])]

    def without(self, other: Basis) -> Basis:
        """What the other does not say."""
        return Basis(
            tuple(sentence for sentence in self.sentences if sentence not in other.sentences),
            () if self.privacy == other.privacy else self.privacy,
            tuple(fact for fact in self.facts if fact not in other.facts),
        )

    def shared(self, other: Basis) -> Basis:
        """What both say."""
        return self.without(self.without(other))


def basis_of(fit: Estimate, options: PrintOptions) -> Basis:
    """What one estimate rests on."""
    intervals = fit.intervals(options.confidence, method=options.method)
    sentences = map(_sentence, map(typeset, estimates.checks(fit, replace(options, percent=True))))
    return Basis(tuple(sentences), tuple(_privacy(fit)), _facts(fit, intervals))


def _shares(fit: Estimate, intervals: Intervals, truth: NDArray[np.float64] | None, title: str) -> Chart:
    """The shares. If the truth is known, their distances from it stand beside them (on a phone, below)."""
    estimate_marks = [charts.Mark("estimate", _short(fit), fit.proportions, intervals.bounds)]
    if fit.comparison is not None:
        other_fit = fit.comparison.beside(fit)
        estimate_marks.append(charts.Mark("pooled", _short(other_fit), other_fit.proportions))
    draw_shares = functools.partial(
        charts.dots, fit.categories, title=f"{title}: shares with {confidence_name(intervals)}"
    )
    if truth is None:
        return Chart(lambda size, room: draw_shares(estimate_marks, size=min(size, 640), room=room))
    all_marks = [charts.Mark("truth", "truth", truth), *estimate_marks]
    draw_distances = functools.partial(
        charts.differences, fit.categories, estimate_marks, truth, title=f"{title}: distance from the truth"
    )

    def shares_and_distances(size: int, room: int) -> str:
        if (size, room) == PHONE:
            return draw_shares(all_marks, size=size, room=room) + draw_distances(size=size, room=room)
        return draw_shares(all_marks, size=600) + draw_distances(size=320, labeled=False)

    return Chart(shares_and_distances)


def _short(fit: Estimate) -> str:
    """The method as a heading, without its options."""
    return "pooled" if is_pooled(fit) else fit.method.partition(" (")[0]


def _numbers(fit: Estimate, intervals: Intervals, truth: NDArray[np.float64] | None) -> list[Content]:
    """The table of shares (in percent, to two digits of their standard error), and notes on how to read it."""
    column_pairs = _columns(fit, intervals, truth)
    row_labels = [finish.label_line(row_name) for row_name in (*fit.categories, *fit.nuisance)]
    padded_cells = [[*column_cells, *[""] * (len(row_labels) - len(column_cells))] for _, column_cells in column_pairs]
    table_rows = tuple(zip(row_labels, *padded_cells, strict=True))
    table_columns = (Column("category", words=True), *(column for column, _ in column_pairs))
    contents: list[Content] = [Table(table_columns, table_rows, "Shares in percent", apart=len(fit.nuisance))]
    if fit.nuisance:
        contents.append(Sentence("Below the line: what the design estimates besides the categories.", small=True))
    if fit.comparison is not None:
        test_text = (
            f"{_sentence(str(fit.comparison.test))}. A small p says that the choice of level depends on the category; "
            "then only the stratified estimate stands. A large p is no proof of the contrary."
        )
        contents.append(Sentence(test_text, small=True))
    return contents


def _columns(
    fit: Estimate, intervals: Intervals, truth: NDArray[np.float64] | None
) -> list[tuple[Column, Sequence[str | Marked]]]:
    """Each column with its cells; some columns have fewer cells than others."""
    decimal_places = max(decimals_of(fit) - 2, 0)

    def cell_texts(values: NDArray[np.float64]) -> list[str]:
        return [number_text(value, decimal_places).replace("-", "−") for value in (100 * values).tolist()]

    def range_texts(bounds: NDArray[np.float64]) -> list[str]:
        return [f"{start} to {end}" for start, end in zip(*map(cell_texts, bounds.T), strict=True)]

    def add_columns(name: str, values: NDArray[np.float64], errors: NDArray[np.float64], role: str = "") -> None:
        column_pairs.extend([(Column(name, role=role), cell_texts(values)), (Column("s.e."), cell_texts(errors))])

    column_pairs: list[tuple[Column, Sequence[str | Marked]]] = []
    if truth is not None:
        column_pairs.append((Column("truth", role="truth"), cell_texts(truth)))
    nuisance_shares = np.array([value.value for value in fit.nuisance.values()])
    standard_errors = np.array([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    add_columns(_short(fit), np.array([*fit.proportions, *nuisance_shares]), standard_errors, "estimate")
    nuisance_ends = nuisance_intervals(fit, confidence=intervals.confidence, method=intervals.method)
    all_bounds = np.array([*intervals.bounds, *nuisance_ends.values()])
    column_pairs.append((Column(confidence_name(intervals, many=False)), range_texts(all_bounds)))
    if truth is not None:
        holding_cells = ["yes" if is_inside else Marked("no", "wrong") for is_inside in holds(intervals, truth)]
        column_pairs.append((Column("holds the truth", role="holds"), holding_cells))
    if fit.comparison is not None:
        other_fit = fit.comparison.beside(fit)
        add_columns(_short(other_fit), other_fit.proportions, reliable_errors(other_fit), "pooled")
        add_columns("stratified − pooled", fit.comparison.difference, fit.comparison.standard_errors)
    if fit.unbounded is not None:
        add_columns("moments, without bounds", fit.unbounded.proportions, fit.unbounded.standard_errors)
    if fit.sensitivity is not None:
        column_pairs.append((Column("band over all preferences"), range_texts(fit.sensitivity)))
    return column_pairs


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def holds(intervals: Intervals, truth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each interval holds the true share, (t,)."""
    return np.asarray((intervals.bounds[:, 0] <= truth) & (truth <= intervals.bounds[:, 1]))


def confidence_name(intervals: Intervals, *, many: bool = True) -> str:
    """The name of the intervals: ``95 % intervals``."""
    return f"{100 * intervals.confidence:.4g} % interval{'s' if many else ''}"


def _facts(fit: Estimate, intervals: Intervals) -> tuple[tuple[str, str], ...]:
    """How the numbers were computed."""
    missing_text = f", {fit.missing:,} missing" if fit.missing else ", none missing"
    weight_facts = [("Sum of weights", f"{fit.tally.weight:,.6g}")] if fit.tally.weighted else []
    return (
        ("Design", fit.design.name or fit.design.kind),
        ("Answers", f"{fit.n:,}{missing_text}"),
        *weight_facts,
        *([] if fit.tally.complex is None else [("Sample", str(fit.tally.complex))]),
        ("Target", f"the {fit.target}"),
        ("Method", fit.method),
        ("Standard errors", fit.standard_error_kind),
        ("Intervals", f"{100 * intervals.confidence:.4g} %, {intervals.method.replace('_', '-')}"),
    )


def _privacy(fit: Estimate) -> list[Content]:
    """What an answer reveals; for a design of several parts, part by part."""
    several_parts = len(fit.privacy) > 1
    people_by_level = {str(level): part.n for level, part in fit.tally.by_level.items()}
    table_rows = []
    for level, statement in fit.privacy.items():
        part_cells = [finish.label_line(level), f"{people_by_level.get(str(level), 0):,}"] if several_parts else []
        table_rows.append((*part_cells, *_statement_cells(statement)))
    most_bits = math.log2(max(statement.categories for statement in fit.privacy.values()))
    column_names = ("categories left", f"bits, of {most_bits:.2f}", "ε")
    part_columns = [Column(_PARTS[fit.design.offer.assigned_by], words=True), Column("people")] if several_parts else []
    table_columns = (
        *part_columns,
        *(Column(column_name) for column_name in column_names),
        Column("in words", words=True),
    )
    caption_text = "From this answer alone, if every category was equally likely before"
    content: list[Content] = [Heading("What an answer reveals"), Table(table_columns, tuple(table_rows), caption_text)]
    if fit.design.offer.assigned_by == "respondent":
        choice_text = (
            "The choice of a level reveals something of its own if it depends on the category. Level and answer "
            f"together reveal at most {rounded_up(privacy.choosing(fit.design))} bits."
        )
        content.append(Sentence(choice_text, small=True))
    return content


def _statement_cells(statement: privacy.Statement) -> tuple[str | Bar, ...]:
    fewest_left, most_left = statement.still_possible
    left_text = (
        f"{fewest_left if fewest_left == most_left else f'{fewest_left} to {most_left}'} of {statement.categories}"
    )
    bits_text, bits_share = "–", 0.0
    if not math.isnan(statement.bits):
        bits_text, bits_share = f"{statement.bits:.2f}", min(1.0, statement.bits / math.log2(statement.categories))
    epsilon_text = (
        "∞" if math.isinf(statement.epsilon) else "–" if math.isnan(statement.epsilon) else f"{statement.epsilon:.3g}"
    )
    return (
        Bar(left_text, fewest_left / statement.categories),
        Bar(bits_text, bits_share),
        epsilon_text,
        "; ".join((statement.reason, *statement.notes)),
    )
