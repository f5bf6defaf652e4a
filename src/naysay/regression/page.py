"""A regression as a page of its own: coefficients and predicted shares as charts, then all its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from naysay import _checks
from naysay.regression import Regression
from naysay.regression.telling import beyond_along
from naysay.show import Chart, Content, Heading, Note, Sentence, charts, finish
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.page import Section, html
from naysay.show.rows import Mark, marks_in_rows

_SIZE = 640  # pixels at which a chart has its natural width


def coefficient_chart(
    fit: Regression, category: Any, *, confidence: float = 0.95, size: int = _SIZE, room: int = 26
) -> str:
    """An SVG image of the coefficients of one category's equation but the constant, with their intervals around 0.

    Parameters
    ----------
    fit : Regression
    category : label
        One other than the reference.
    confidence : float
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    coefficient_places = [place for place, (j, term) in enumerate(fit.names) if j == category and term != "Intercept"]
    terms = [fit.names[place][1] for place in coefficient_places]
    values, bounds = fit.coefficients[coefficient_places], fit.interval(confidence)[coefficient_places]
    bounds = np.where(np.isfinite(bounds), bounds, values[:, None])
    with np.errstate(over="ignore"):
        ratios = np.exp(np.column_stack([values, bounds])).tolist()
    numbers = zip(values.tolist(), bounds.tolist(), ratios, strict=True)
    mark_texts = [
        f"{value:.3f}, {low:.3f} to {high:.3f}; odds ratio {ratio:.3g}, {least:.3g} to {most:.3g}"
        for value, (low, high), (ratio, least, most) in numbers
    ]
    low, high = min(0.0, float(bounds.min())), max(0.0, float(bounds.max()))
    edge = (high - low or 1.0) / 25
    title = f"Log odds of “{_checks.label(category)}” against “{_checks.label(fit.reference)}”"
    return marks_in_rows(
        terms,
        [Mark("estimate", f"coefficient with its {confidence:.4g} interval", values, bounds, told=mark_texts)],
        Axis("log odds; 0 is no difference", (low - edge, high + edge), ""),
        title=title,
        description="; ".join(f"{term}: {mark_text}" for term, mark_text in zip(terms, mark_texts, strict=True)),
        size=size,
        room=room,
        aim=0.0,
    )


def prediction_chart(
    fit: Regression, variable: str, *, confidence: float = 0.95, size: int = _SIZE, room: int = 26
) -> str:
    """An SVG image of the shares that are predicted along one variable: lines with bands, or dots with intervals.

    Of two categories it shows the first. Other variables stay as they are.

    Parameters
    ----------
    fit : Regression
    variable : str
        One of the formula.
    confidence, size, room
        As in `coefficient_chart`.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    values, shares = fit.along(variable)
    category_places = range(1) if len(fit.categories) == 2 else range(len(fit.categories))
    names = [_checks.label(fit.categories[j]) for j in category_places]
    ends = shares.interval(confidence)
    ends = np.where(np.isfinite(ends), ends, shares.probabilities[..., None])
    title = f"Predicted share of {' and '.join(f'“{name}”' for name in names)}, if everybody had this {variable}"
    if len(values) < 3 or any(isinstance(value, str) for value in values) or variable in fit.data.formula.factors:
        rows = [
            _checks.label(value) if len(category_places) == 1 else f"{_checks.label(value)}: {name}"
            for value in values
            for name in names
        ]
        row_places = [(place, j) for place in range(len(values)) for j in category_places]
        places, categories = map(list, zip(*row_places, strict=True))
        mark = Mark(
            "estimate",
            f"predicted share with its {confidence:.4g} interval",
            shares.probabilities[places, categories],
            ends[places, categories],
        )
        return charts.dots(rows, [mark], title=title, size=size, room=room, axis="predicted share")
    share_lines = [
        Line(
            name,
            values,
            shares.probabilities[:, j],
            f"{name}: {shares.probabilities[0, j]:.1%} at {values[0]:g}, {shares.probabilities[-1, j]:.1%} at "
            f"{values[-1]:g}",
            bounds=ends[:, j],
        )
        for name, j in zip(names, category_places, strict=True)
    ]
    top = float(ends[:, list(category_places)].max())
    return lines(
        share_lines,
        Axis(variable, (float(values[0]), float(values[-1])), "", ticks=4),
        Axis("predicted share", (0.0, max(top, 0.01)), ".0%", nice=True),
        title=title,
        description="; ".join(line.told for line in share_lines),
        size=size,
        height=240,
        letters=max(room - 8, 8),
    )


def _charts(fit: Regression, confidence: float) -> Iterator[Content]:
    """Coefficients and predicted shares, each chart under a heading of its own."""
    terms = [column for column in fit.data.matrix.columns if column != "Intercept"]
    if terms:
        for category in (fit.categories[j] for j in fit.model.free):
            yield Heading(f"Log odds of “{_checks.label(category)}” against “{_checks.label(fit.reference)}”")
            yield Chart(
                lambda size, room, category=category: coefficient_chart(  # type: ignore[misc]
                    fit, category, confidence=confidence, size=min(size, _SIZE), room=room
                )
            )
    for variable in fit.data.formula.variables:
        yield Heading(f"Predicted shares by {finish.label_line(variable)}")
        yield Chart(
            lambda size, room, variable=variable: prediction_chart(  # type: ignore[misc]
                fit, variable, confidence=confidence, size=min(size, _SIZE), room=room
            )
        )
        if (beyond_sentence := beyond_along(fit, variable)) is not None:
            yield Note(beyond_sentence)
    if fit.data.formula.variables:
        yield Sentence(
            f"Shares if everybody had this value, other variables as they are; bands and intervals of {confidence:.4g}."
        )


def regression_html(fit: Regression, *, confidence: float = 0.95, at: Sequence[Mapping[str, Any]] = ()) -> str:
    """One regression as a whole page: charts, then coefficients, odds ratios, tests, effects, and their basis.

    Parameters
    ----------
    fit : Regression
    confidence : float
    at : sequence of mapping
        Values of variables for which shares are predicted.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, regression
    >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
    >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
    >>> page = regression_html(fit)
    >>> page.startswith("<!doctype html>"), "odds ratio" in page, page.count("<svg") >= 2
    (True, True, True)
    """
    facts = [(f"{fit.n:,}", "answers"), (f"{len(fit.names)}", "coefficients")]
    sections = [Section("The numbers", fit.sections(confidence, at))]
    if chart_contents := list(_charts(fit, confidence)):
        sections.insert(0, Section("The regression", chart_contents))
    return html(fit.data.formula.text, sections, facts=facts)
