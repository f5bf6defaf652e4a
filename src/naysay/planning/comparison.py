"""Designs beside one another, and beside a direct question to which people lie: their numbers, charts and page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, privacy
from naysay._values import Label
from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.design.several import choice, lies, share
from naysay.designs import direct as direct_question
from naysay.errors import DataError, DesignError
from naysay.planning.power import MOST, checked_error
from naysay.planning.variance import place_among, respondents, variance
from naysay.show import Chart, Column, Content, Points, Records, Result, Table
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.page import Section, html


def compare(
    designs: Mapping[str, Answerable] | Sequence[Answerable],
    proportions: ArrayLike,
    *,
    n: float = 1_000,
    category: Label | None = None,
    standard_error: float | None = None,
    liars: Liars | None = None,
    **assumed: Any,
) -> Comparison:
    """Precision against privacy of several designs, or of one family over its parameter.

    With `liars`, the direct question comes first, and errors are root mean squares. Lying hides some of the people, and
    no number of respondents removes this bias. A randomized design has a larger variance but, if people trust it, no
    bias. So above some number of respondents, its error is smaller.

    Parameters
    ----------
    designs : {name: Design} or sequence of Design
        All of the same categories.
    proportions : (t,) float
        The assumed proportions of the population; for samples with finer cells, the proportions of the cells.
    n : int
        Respondents who answer.
    category : label, optional
        The category whose proportion is estimated. Needed if there are more than two; of two, it is the first,
        sensitive one.
    standard_error : float, optional
        The wanted standard error (with liars: root mean square error). The result then says how many respondents each
        design needs.
    liars : Liars, optional
    **assumed
        `estimator`, `preferences` (over levels) and `target`, as in `variance`.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        No designs, designs of different categories, fewer than one respondent, shares outside [0, 1].
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> offers = [designs.warner(p=p) for p in (0.6, 0.75)]
    >>> found = planning.compare(offers, (0.1, 0.9), n=1_000, liars=planning.Liars(share=0.4))
    >>> [(option.name, round(option.rmse, 3), option.pays_from) for option in found.options]
    [('direct()', 0.041, None), ('warner(p=0.6)', 0.078, 3772), ('warner(p=0.75)', 0.029, 490)]
    """
    design_list = list(designs.values()) if isinstance(designs, Mapping) else list(designs)
    if not design_list:
        raise DataError("at least one design is needed to compare")
    for design in design_list:
        check_design(design, needed_text="a comparison takes designs")
    design_names = (
        list(designs) if isinstance(designs, Mapping) else [design.name or design.kind for design in design_list]
    )
    for design_name, design in zip(design_names, design_list, strict=True):
        if tuple(map(str, design.categories)) != tuple(map(str, design_list[0].categories)):
            raise DataError(
                f"designs to compare must have the same categories; {design_names[0]} has "
                f"{_checks.listing_text(design_list[0].categories)}, "
                f"{design_name} has {_checks.listing_text(design.categories)}"
            )
    if len(set(design_names)) < len(design_names):
        raise DataError(f"designs to compare must differ in name; got {_checks.listing_text(design_names)}")
    first_design = design_list[0]
    finer_design = next((candidate for candidate in design_list if candidate.structure.finer), first_design)
    cell_shares = _checks.probability_vector(proportions, len(finer_design.cells), what="proportions")
    pi = finer_design.structure.proportions(cell_shares)
    category_place = place_among(first_design.categories, category, len(pi))
    wanted_error = None if standard_error is None else checked_error(standard_error)
    question = _Question(
        pi,
        dict(zip(finer_design.cells, cell_shares, strict=True)),
        category_place,
        respondents(n),
        wanted_error,
        liars,
        assumed,
    )
    options, direct_option, lying_share = [], None, 0.0
    if liars is not None:
        # The direct question has no levels and only one estimator, so it takes neither argument.
        simple = replace(question, assumed={"target": assumed.get("target", "population"), "estimator": "moments"})
        direct_option = _option("direct()", direct_question(first_design.categories), simple, liars.share, None)
        options, lying_share = [direct_option], liars.under_design
    options += [
        _option(name, design, question, lying_share, direct_option)
        for name, design in zip(design_names, design_list, strict=True)
    ]
    label, share = _checks.label(first_design.categories[category_place]), float(pi[category_place])
    return Comparison(label, share, n=int(n), wanted=wanted_error, liars=liars, options=tuple(options))


@dataclass(frozen=True)
class _Question:
    proportions: NDArray[np.float64]
    cells: dict[Any, float]
    place: int
    n: float
    wanted_error: float | None
    liars: Liars | None
    assumed: dict[str, Any]

    def stated_shares(self, design: Answerable, amount: float) -> NDArray[np.float64]:
        """Shares of a design's cells as people state them, if a share of the sensitive category lies."""
        if design.structure.finer:
            if amount:
                raise DataError(
                    f"the cells of {design.name or design.kind} already say who lies; leave out liars under a design"
                )
            if set(design.cells) != set(self.cells):
                raise DataError(f"proportions must be of the cells {_checks.listing_text(design.cells)}")
            return np.array([self.cells[cell] for cell in design.cells])
        if self.liars is None or amount == 0:
            return self.proportions
        sensitive = design.categories[self.place]
        return np.asarray(lies(design.categories, amount, among=(sensitive,), says=self.liars.says) @ self.proportions)


def _option(name: str, design: Answerable, question: _Question, lying: float, direct: Option | None) -> Option:
    stated_shares = question.stated_shares(design, lying)
    chosen_by_people = design.offer.assigned_by == "respondent"
    assumed_arguments = question.assumed if chosen_by_people else {**question.assumed, "preferences": None}
    design_variance = variance(design, stated_shares, **assumed_arguments)
    person_variance = float(design_variance.each[question.place])
    bias = float(design.structure.proportions(stated_shares)[question.place] - question.proportions[question.place])
    estimate_error = math.sqrt(person_variance / question.n)
    needed_people = pays_from = None
    if question.wanted_error is not None:  # none reaches it if the bias alone is as large, or with more than all people
        variance_room = question.wanted_error**2 - bias**2
        if variance_room > 0 and person_variance / variance_room <= MOST:
            needed_people = max(1, math.ceil(person_variance / variance_room - 1e-9))
    if direct is not None:  # the least n at which bias² + V/n is below that of the direct question
        bias_gain, variance_loss = direct.bias**2 - bias**2, person_variance - direct.deviation**2
        if variance_loss < 0 <= bias_gain:
            pays_from = 1
        elif bias_gain > 0:
            pays_from = max(1, math.floor(variance_loss / bias_gain) + 1)
    return Option(
        name=name,
        bias=bias,
        standard_error=estimate_error,
        rmse=math.hypot(bias, estimate_error),
        deviation=math.sqrt(person_variance),
        needed=needed_people,
        pays_from=pays_from,
        kind=design_variance.kind,
        **_private(design, stated_shares, assumed_arguments.get("preferences")),
    )


def _private(design: Answerable, cells: NDArray[np.float64], preferences: ArrayLike | None) -> dict[str, Any]:
    """Measures of privacy. For an offer: those of its most revealing level, but bits averaged over chosen levels.

    If samples have finer cells: what an answer reveals about the categories, at the assumed shares of cells.
    """
    about = None
    if design.structure.finer:
        share_weights = np.column_stack([share.weights(design.cells)[0] for share in design.shares])
        cell_shares = share_weights * cells[:, None]
        # how common each cell is within each category, (cells, t); equally common in a category that nobody has
        cell_shares = np.where(cell_shares.sum(axis=0) > 0, cell_shares, share_weights)
        about = privacy.channels_about(design, cell_shares / cell_shares.sum(axis=0))
    channels = list((about or design.parts).values())
    level_shares = choice(design, preferences).mean(axis=1)
    statements: list[privacy.Statement] = [privacy.statement(channel) for channel in channels]
    fewest_possible, most_possible = zip(
        *(channel_statement.still_possible for channel_statement in statements), strict=True
    )
    return {
        "still_possible": (min(fewest_possible), max(most_possible)),
        "bits": float(level_shares @ [channel_statement.bits for channel_statement in statements]),
        "epsilon": max(channel_statement.epsilon for channel_statement in statements),
        "largest_odds": max(_largest_odds(channel) for channel in channels),
    }


def _largest_odds(channel: Design) -> float:
    try:
        return float(privacy.odds(channel).max())
    except DesignError:  # too many responses to list
        return math.nan


@dataclass(frozen=True)
class Liars:
    """The assumed behavior of people who would rather not tell the truth.

    Parameters
    ----------
    share : float
        The share of the sensitive category's members who lie when asked directly.
    says : label, optional
        What liars say instead. By default they say each other category equally often.
    under_design : float
        The share who lie even under a randomized design.
    """

    share: float
    says: Any = None
    under_design: float = 0.0

    def __post_init__(self) -> None:
        share(self.share, what="the share of liars")
        share(self.under_design, what="the share of liars under a design")


@dataclass(frozen=True)
class Option:
    """One design in a comparison.

    Parameters
    ----------
    name : str
    bias : float
        The error that lying causes, whatever the number of respondents; 0 if nobody lies.
    standard_error, rmse : float
        Errors with n answers; rmse² = bias² + standard_error².
    deviation : float
        Standard deviation per respondent: the standard error times √n.
    needed : int or None
        Respondents for the wanted precision; None if no number of respondents reaches it.
    pays_from : int or None
        The smallest number of respondents with which the design has a smaller error than the direct question. None if
        there is no such number, or if nobody lies when asked directly.
    still_possible : (int, int)
        Fewest and most categories left after an answer.
    bits : float
        Bits that an answer reveals about the person on average, under a uniform prior; for levels, averaged over the
        levels as people choose them.
    epsilon : float
    largest_odds : float
        Posterior odds over prior odds of a category after the most revealing answer, under a uniform prior.
    kind : str
        What the standard error rests on.
    """

    name: str
    bias: float
    standard_error: float
    rmse: float
    deviation: float
    needed: int | None
    pays_from: int | None
    still_possible: tuple[int, int]
    bits: float
    epsilon: float
    largest_odds: float
    kind: str

    def to_dict(self) -> dict[str, Any]:
        """The option as a JSON object; an infinite number is "inf"."""
        json_fields = asdict(self) | {"still_possible": list(self.still_possible)}
        for name, value in json_fields.items():
            if isinstance(value, float) and not math.isfinite(value):
                json_fields[name] = None if math.isnan(value) else "inf"  # None where it was not computed
        return json_fields


@dataclass(frozen=True)
class Comparison(Result):
    """A comparison of designs; `compare` makes it.

    Parameters
    ----------
    category : str
        The category whose proportion is estimated.
    proportion : float
    n : int
        Respondents who answer.
    wanted : float or None
        The standard error (with liars: the root mean square error) that `needed` reaches.
    liars : Liars or None
    options : tuple of Option
        If there are liars, the direct question comes first.
    """

    category: str
    proportion: float
    n: int
    wanted: float | None
    liars: Liars | None
    options: tuple[Option, ...]

    def numbers(self) -> dict[str, object]:
        """The comparison by the names of its JSON."""
        json_fields = asdict(self)
        del json_fields["options"]  # options come last, below the assumptions that they rest on
        return json_fields | {"prior": "uniform", "options": [option.to_dict() for option in self.options]}

    def records(self) -> Records:
        """One row for each design; numbers are not rounded."""
        rows = [option.to_dict() for option in self.options]
        for row in rows:
            row["fewest_possible"], row["most_possible"] = row.pop("still_possible")
        return Records(list(rows[0]), [list(row.values()) for row in rows])

    @property
    def assumptions(self) -> list[str]:
        """What is assumed of the population, and of liars."""
        assumption_lines = [
            f"Proportion of {self.category!r}, assumed to be {self.proportion:.4g}; {self.n:,} respondents answer"
        ]
        if self.liars is not None:
            stated_words = "another category" if self.liars.says is None else repr(_checks.label(self.liars.says))
            assumption_lines.append(
                f"A share of {self.liars.share:.4g} of those in {self.category!r} says {stated_words} "
                f"to the direct question, {self.liars.under_design:.4g} under a randomized design"
            )
        return assumption_lines

    def parts(self) -> tuple[Content, ...]:
        """The assumptions, a table with a row for each design, and notes on how to read the numbers."""
        return Points(tuple(self.assumptions)), self.table(), self.notes()

    def table(self, caption: str = "") -> Table:
        """The numbers of each design."""
        has_liars = self.liars is not None
        column_names = ["s.e.", *(["bias", "rmse", "pays from n"] if has_liars else [])]
        column_names += ["n needed"] if self.wanted is not None else []
        table_rows = []
        for option in self.options:
            row_texts = [option.name, f"{option.standard_error:.4f}"]
            if has_liars:
                pays = "never" if option.pays_from is None else f"{option.pays_from:,}"
                row_texts += [f"{option.bias:.4f}", f"{option.rmse:.4f}", "–" if option is self.options[0] else pays]
            if self.wanted is not None:
                row_texts.append("none reaches it" if option.needed is None else f"{option.needed:,}")
            few, many = option.still_possible
            row_texts += [f"{few}" if few == many else f"{few} to {many}", _number_text(option.bits, ".3f")]
            table_rows.append((*row_texts, _number_text(option.epsilon), _number_text(option.largest_odds)))
        column_names += ["categories left", "bits", "ε", "largest odds"]
        return Table((Column("design", words=True, width=44), *map(Column, column_names)), tuple(table_rows), caption)

    def notes(self) -> Points:
        """How the numbers are to be read."""
        note_lines = [
            "categories left, bits and odds: from one answer alone, under a uniform prior; of an offer of levels the "
            "bits as they are chosen, the rest of the most revealing level",
        ]
        if self.wanted is not None:
            what = "root mean square error" if self.liars is not None else "standard error"
            unreached_options = [option for option in self.options if option.needed is None]
            biased_names = [option.name for option in unreached_options if abs(option.bias) >= self.wanted]
            unreachable_names = [option.name for option in unreached_options if option.name not in biased_names]
            unreached_reasons = [f"the bias of {', '.join(biased_names)} alone is as large"] if biased_names else []
            if unreachable_names:
                unreached_reasons.append(
                    f"{', '.join(unreachable_names)} would need more respondents than there are people"
                )
            unreached_text = f"; none reaches it: {'; '.join(unreached_reasons)}" if unreached_reasons else ""
            note_lines.append(f"n needed: for a {what} of {self.wanted:g}{unreached_text}")
        if self.liars is not None:
            note_lines.append(
                "pays from n: with so many respondents or more the design errs less than the direct question; the bias "
                "of the direct question does not shrink with n"
            )
        kinds = dict.fromkeys(option.kind for option in self.options)
        return Points((*note_lines, f"standard errors: {'; '.join(kinds)}"), small=True)


def _number_text(value: float, form: str = ".3g") -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else format(value, form)


MEASURES = {
    "bits": "bits that an answer tells",
    "epsilon": "ε, in nats",
    "still_possible": "fewest categories left",
    "largest_odds": "largest posterior over prior odds",
}
"""Measures of privacy for the axis of a trade-off."""

_NEAR, _FAR = 10, 500  # ratios of an axis's ends: below the first it gets more ticks, above the second fewer


def tradeoff(comparison: Comparison, *, measure: str = "bits", size: int = 640) -> str:
    """An SVG image of the standard error against a measure of privacy, one point for each design.

    Parameters
    ----------
    comparison : Comparison
    measure : {"bits", "epsilon", "still_possible", "largest_odds"}
        Designs for which the measure is infinite or was not computed are left out.
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    DataError
        An unknown measure, or one that is infinite for all designs.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=p) for p in (0.6, 0.8)], (0.1, 0.9))
    >>> svg = tradeoff(found)
    >>> svg[:4], "warner(p=0.8)" in svg
    ('<svg', True)
    """
    if measure not in MEASURES:
        raise DataError(f"a trade-off is drawn against {', '.join(MEASURES)}; got {measure!r}")
    # With liars, the first option is the direct question: leave it out.
    options = comparison.options[0 if comparison.liars is None else 1 :]
    option_values = {
        option: privacy_measure for option in options if math.isfinite(privacy_measure := privacy_of(option, measure))
    }
    if not option_values:
        raise DataError(f"{measure} is infinite for all of these designs; draw another measure of privacy")
    chart_lines = []
    for option, privacy_measure in option_values.items():
        point_sentence = (
            f"{option.name}: standard error {option.standard_error:.4f}, {MEASURES[measure]} {privacy_measure:.4g}"
        )
        chart_lines.append(
            Line(option.name, privacy_measure, option.standard_error, option.name, points=(point_sentence,))
        )
    privacy_axis = _privacy(list(option_values.values()), measure)
    error_axis = Axis("standard error", (0, max(option.standard_error for option in option_values) * 1.08), ".3~f")
    chart_title = f"standard error of {comparison.category} against {MEASURES[measure]}, {comparison.n:,} respondents"
    return lines(
        chart_lines,
        privacy_axis,
        error_axis,
        title=chart_title,
        description="; ".join(line.points[0] for line in chart_lines),
        size=size,
    )


def privacy_of(option: Option, measure: str) -> float:
    """The value of one of the `MEASURES` for a design."""
    return float(option.still_possible[0] if measure == "still_possible" else getattr(option, measure))


def _privacy(values: list[float], measure: str) -> Axis:
    """The axis of a measure of privacy, with some margin beyond the outermost points."""
    low_end, high_end = min(values), max(values)
    if measure == "largest_odds":
        axis_room = (high_end / low_end) ** 0.05 if high_end > low_end else 1.5
        marked = _ticks(low_end / axis_room, high_end * axis_room)
        ticks = marked if len(marked) > 1 else 6
        return Axis(MEASURES[measure], (low_end / axis_room, high_end * axis_room), "~g", ticks=ticks, log=True)
    axis_room = (high_end - low_end) * 0.05 if high_end > low_end else max(abs(high_end), 1.0) * 0.5
    axis_ends = max(0.0, low_end - axis_room) if low_end >= 0 else low_end - axis_room, high_end + axis_room
    if measure == "still_possible":
        return Axis(
            MEASURES[measure], axis_ends, "d", ticks=range(math.ceil(axis_ends[0]), math.floor(axis_ends[1]) + 1)
        )
    return Axis(MEASURES[measure], axis_ends, "", ticks=6)


def errors(comparison: Comparison, *, size: int = 640) -> str:
    """An SVG image of the error against the number of respondents, one line for each design.

    With liars, the dashed line is the direct question, which levels off at its bias. Where a design's line is below it,
    randomizing pays.

    Parameters
    ----------
    comparison : Comparison
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=0.8)], (0.1, 0.9), liars=planning.Liars(0.5))
    >>> svg = errors(found)
    >>> svg[:4], "root mean square error" in svg
    ('<svg', True)
    """
    # a decade around n, and around the numbers from which randomizing pays
    pays_numbers = [float(option.pays_from) for option in comparison.options if option.pays_from is not None]
    sample_sizes = [float(comparison.n), *(n for n in pays_numbers if n > 1)]
    respondent_numbers = np.geomspace(
        max(10.0, min(sample_sizes) / 10), min(max(sample_sizes) * 10, comparison.n * 1e4), 60
    )
    chart_lines = []
    for place, option in enumerate(comparison.options):
        is_direct = comparison.liars is not None and place == 0
        pays = "" if is_direct or option.pays_from is None else f", pays from {option.pays_from:,} respondents"
        line_sentence = f"{option.name}: {option.rmse:.4f} with {comparison.n:,} respondents{pays}"
        design_errors = np.hypot(option.bias, option.deviation / np.sqrt(respondent_numbers))
        chart_lines.append(
            Line(
                option.name,
                respondent_numbers,
                design_errors,
                line_sentence,
                role="pooled" if is_direct else "estimate",
                dashed=is_direct,
            )
        )
    error_words = "standard error" if comparison.liars is None else "root mean square error"
    values = np.concatenate([np.ravel(chart_line.y) for chart_line in chart_lines])
    low_error, high_error = float(values.min()) / 1.15, float(values.max()) * 1.15
    fewest_people, most_people = float(respondent_numbers[0]), float(respondent_numbers[-1])
    here = f"{_checks.several(comparison.n, 'respondent', 'respondents')} answer"
    chart_lines.append(Line(here, (comparison.n,) * 2, (low_error, high_error), here, role="muted", dashed=True))
    return lines(
        chart_lines,
        Axis("respondents", (fewest_people, most_people), ",d", ticks=_ticks(fewest_people, most_people), log=True),
        Axis(error_words, (low_error, high_error), ".3~f", ticks=_ticks(low_error, high_error), log=True),
        title=f"{error_words} of {comparison.category} against the number of respondents",
        description="; ".join(chart_line.told for chart_line in chart_lines),
        size=size,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten; only powers of ten on a long axis, more ticks on a short one."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if high / low > _FAR else (1, 2, 5) if high / low > _NEAR else (1, 2, 3, 5, 7)
    return [step * 10.0**power for power, step in itertools.product(powers, steps) if low <= step * 10.0**power <= high]


def comparison_html(comparison: Comparison, *, title: str | None = None, above: Sequence[str] = ()) -> str:
    """A comparison of designs as a page: error against respondents, precision against privacy, a table.

    Parameters
    ----------
    comparison : Comparison
    title : str, optional
    above : sequence of str
        Sentences that stand first, such as what a plan reaches and with which power.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=0.7), designs.two_coins()], (0.1, 0.9))
    >>> comparison_html(found).startswith("<!doctype html>")
    True
    """
    options = comparison.options[0 if comparison.liars is None else 1 :]
    tradeoff_charts = [
        Chart(lambda size, _, measure=measure: tradeoff(comparison, measure=measure, size=size))  # type: ignore[misc]
        for measure in MEASURES  # a chart needs two designs that differ in a finite measure
        if len({value for option in options if math.isfinite(value := privacy_of(option, measure))}) > 1
    ]
    numbers_table = comparison.table("Standard errors and privacy of one answer")
    page_sections = [
        Section("Error and number of respondents", [Chart(lambda size, _: errors(comparison, size=size))]),
        *([Section("Precision against privacy", tradeoff_charts)] if tradeoff_charts else []),
        Section("The numbers", [numbers_table, comparison.notes()]),
    ]
    if title is None:
        title = (
            "Designs beside one another" if len(comparison.options) > 1 else f"A plan with {comparison.options[0].name}"
        )
    return html(title, page_sections, lead=[f"{line}." for line in (*above, *comparison.assumptions)])
