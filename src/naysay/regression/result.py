"""A `Regression`: what it is asked for, how it reads as text, JSON, CSV and LaTeX, and its page with charts."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Floats, JsonObject, Label
from naysay.errors import NotEstimable
from naysay.estimate.compliance import DENIERS, Compliance, complete, compliance
from naysay.estimate.fit import decimals, number_text
from naysay.regression.fitted import Effects, Equation, Fitted, Test
from naysay.responses.spaces import MISSING
from naysay.show import (
    Chart,
    Column,
    Content,
    Heading,
    Note,
    Points,
    Records,
    Result,
    Sentence,
    Table,
    charts,
    finish,
    latex,
    plain,
    text,
)
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.page import Section, html
from naysay.show.result import percent
from naysay.show.rows import Mark, marks_in_rows

At = Sequence[Mapping[str, object]]
"""Values of variables at which shares are predicted."""


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Fitted, Result):
    """A logistic or multinomial regression of the true category; `regress` makes it.

    Coefficients stand one equation after the other: for each category but the reference, one for each column of the
    formula.

    Parameters
    ----------
    data : Data
        Who is in it, and what they said.
    optimum : Optimum
    standard_error_name : str
        What standard errors rest on: observed, expected, outer_product or sandwich.
    penalty : Penalty, optional
    model : Model
        The likelihood; rows that are alike may be one.
    squared : (rows,) float
        Sums of squared weights of the rows of the model.

    Examples
    --------
    >>> from naysay import designs, regression
    >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
    >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
    >>> fit.names, fit.odds_ratios.round(3)
    ((('yes', 'Intercept'), ('yes', 'old')), array([0.429, 3.5  ]))
    """

    def tests(self) -> dict[str, Test]:
        """The Wald test of each term of the formula but the constant."""
        return {term: self.wald(term) for term in self.data.matrix.terms if term != "1"}

    @cached_property
    def compliance(self) -> Compliance | None:
        """Who does not comply, from the controls alone of people who left none out; None without controls."""
        answers = complete(self.data.tally) if self.data.design.offer.measures_compliance else None
        try:
            return None if answers is None else compliance(self.data.design, answers)
        except NotEstimable:
            return None

    def parts(self, confidence: float = 0.95, at: At = ()) -> list[Content]:
        """The regression in the vocabulary of `naysay.show`.

        Parameters
        ----------
        confidence : float
        at : sequence of mapping
            Values of variables at which shares are predicted, as by `margins`.
        """
        return [
            *_heading(self, confidence),
            *_coefficients(self, confidence),
            *_terms(self.tests()),
            *_effects(self, self.effects(), confidence),
            *_margins(self, at, confidence),
            Points(tuple(_rests(self, confidence))),
            *(Note(reservation) for reservation in [*self.reservations, *_predicted_beyond(self, at)]),
        ]

    def numbers(self, confidence: float = 0.95, at: At = ()) -> dict[str, object]:
        """The regression by the names of its JSON; `at` as in `parts`."""
        constant_test, data, search = self.against_constant, self.data, self.optimum.search
        compliance_test = self.equal_compliance
        sampled = data.sampled
        numbers: dict[str, object] = {
            "formula": data.formula.text,
            "response": data.formula.response,
            "design": data.design.name or data.design.kind,
            "n": self.n,
            "missing": data.unanswered,
            "left_out": {"people": data.dropped, "by_column": data.missing},
            "categories": self.categories,
            "reference": self.reference,
            "coefficients": list(_coefficient_rows(self, confidence)),
            "covariance": self.covariance,
            "standard_error_kind": self.standard_error_kind,
            "confidence": confidence,
            "nuisance": {
                str(name): {"estimate": share.value, "standard_error": share.standard_error}
                for name, share in self.nuisance.items()
            },
            "log_likelihood": self.log_likelihood,
            "aic": None if self.weighted else self.aic,
            "search": {name: getattr(search, name) for name in ("starts", "reached", "lower", "above")},
            "tests": {
                "constant": None if constant_test is None else asdict(constant_test),
                "terms": {term: asdict(test) for term, test in self.tests().items()},
            },
            "effects": _effect_rows(self, self.effects(), confidence),
            "predictions": [
                {
                    "at": dict(values),
                    "probabilities": predictions.probabilities[0],
                    "standard_errors": predictions.standard_errors[0],
                    "intervals": predictions.interval(confidence)[0],
                }
                for values, predictions in ((values, self.margins(**values)) for values in at)
            ],
            "rests_on": list(_rests(self, confidence)),
            "warnings": [*self.reservations, *_predicted_beyond(self, at)],
        }
        if data.compliance is not None:
            numbers |= {
                "compliance_formula": data.compliance[0].right_side,
                "compliance_equations": [equation.label for equation in self.equations[self.model.t - 1 :]],
                "compliance_test": None if compliance_test is None else asdict(compliance_test),
            }
        if self.compliance is not None:
            numbers["compliance"] = self.compliance.numbers(confidence)
        if sampled is not None:
            numbers |= {"sampling": str(sampled), "degrees_of_freedom": sampled.degrees_of_freedom}
        return numbers

    def records(self, confidence: float = 0.95) -> Records:
        """The coefficients, a row each."""
        ratio_names = ("odds_ratio", "odds_ratio_low", "odds_ratio_high")
        number_names = ("estimate", "standard_error", "statistic", "p_value", "low", "high", *ratio_names)
        rows: list[list[object]] = []
        for coefficient in _coefficient_rows(self, confidence):
            *first_cells, interval, odds_ratio, odds_ratio_interval = coefficient.values()
            last_cells = (self.n, self.standard_error_kind, confidence)
            rows.append([*first_cells, *interval, odds_ratio, *odds_ratio_interval, *last_cells])
        return Records(["category", "term", *number_names, "n", "standard_error_kind", "confidence"], rows)

    def to_text(self, confidence: float = 0.95, at: At = ()) -> str:
        """The regression as plain text; `at` as in `parts`."""
        return text(self.parts(confidence, at))

    def to_latex(self, confidence: float = 0.95, at: At = ()) -> str:
        """The regression as LaTeX, with tables that need the package booktabs; `at` as in `parts`."""
        return latex(self.parts(confidence, at))

    def to_dict(self, confidence: float = 0.95, at: At = ()) -> JsonObject:
        """The regression as one JSON object with stable names; undefined numbers are None; `at` as in `parts`."""
        return dict(plain(self.numbers(confidence, at)))

    def to_csv(self, confidence: float = 0.95) -> str:
        """The coefficients as CSV, a row each."""
        return self.records(confidence).to_csv()

    @property
    def reservations(self) -> list[str]:
        """What a reader must be told with the numbers."""
        data, model, sentences = self.data, self.model, []
        if data.dropped:
            name_text = ", ".join(f"{column_name} ({count:,})" for column_name, count in data.missing.items())
            sentences.append(f"{data.dropped:,} people were left out, whose covariates are missing: {name_text}")
        sentences += reservations_of_answers(self)
        held_shares = [
            share.name
            for share, is_bound in zip(
                model.within.parameters, self.optimum.bound[model.size - model.bounded :], strict=False
            )
            if is_bound
        ]
        if held_shares:
            sentences.append(
                f"at the boundary, and held there: {', '.join(map(str, held_shares))}; standard errors are given this"
            )
        is_impossible = _impossible(self, model.shares(self.optimum.theta).T)
        beyond = float(model.weight[is_impossible].sum() / model.weight.sum())
        if beyond > 0:
            sentences.append(
                f"for {percent(beyond, 1)} of these people the predicted share and that of cheaters sum to more than "
                "1; the CDM cannot hold of them"
            )
        search = self.optimum.search
        if search.lower:
            sentences.append(
                f"the likelihood has several maxima: the next one is lower by {search.lower[0]:.2f}, with other "
                "coefficients; these intervals do not reach over to it"
            )
        if search.above:
            sentences.append(
                f"the likelihood is higher by {search.above:.2f} where some coefficients grow without end; these "
                "numbers belong to its highest finite maximum, and a penalty (penalty=1, --penalty 1) keeps all of "
                "them finite"
            )
        if self.degrees_of_freedom < _UNITS:
            sentences.append(
                f"only {self.degrees_of_freedom:.0f} degrees of freedom of the sample; intervals may be too short, "
                "most of all those of covariates that are alike within clusters"
            )
        if self.n < _FEW * self.optimum.theta.size:
            sentences.append(
                f"only {self.n / self.optimum.theta.size:.1f} answers a coefficient; intervals may be too short"
            )
        return sentences

    def __repr__(self) -> str:
        return f"<Regression {self.data.formula.text!r}: {len(self.names)} coefficients (n = {self.n:,})>"


_EDGE = 1e-3  # a share below which a Wald interval of its logit says little
_SLACK = 1e-9  # a negative chance that rounding explains
_UNITS = 30  # degrees of freedom of a sample from which on intervals hold
_FEW = 10  # people for each coefficient, below which estimates of plain answers are known to be biased


def _heading(fit: Regression, confidence: float) -> list[Content]:
    """What stands above the numbers."""
    data = fit.data
    is_uneven = data.squared.sum() > fit.n * (1 + 1e-9)  # not so where clusters or strata alone are told
    weight_text = f", weighted (sum of weights {data.tally.weight:,.6g})" if is_uneven else ""
    left_out_text = f", {data.dropped:,} left out for missing covariates" if data.dropped else ""
    model_kind = "logistic" if fit.model.t == 2 else "multinomial"
    likelihood_name = "pseudo-log-likelihood" if fit.weighted else "log-likelihood"
    fit_texts = [f"{likelihood_name} {fit.log_likelihood:,.3f}", f"AIC {fit.aic:,.1f}"][: 1 if fit.weighted else 2]
    constant_test = fit.against_constant
    freedom_text = f", {fit.degrees_of_freedom:,.0f} for a coefficient"
    sampling_sentences = [] if data.sampled is None else [Sentence(data.sampled.sentence + freedom_text)]
    return [
        Sentence(f"{data.formula.text}: {data.design.name or data.design.kind}"),
        *([] if data.compliance is None else [Sentence(f"who complies: {data.compliance[0].right_side}")]),
        Sentence(f"{fit.n:,} answers, {data.unanswered_text}{left_out_text}{weight_text}"),
        *sampling_sentences,
        Sentence(
            f"{model_kind} regression against “{_checks.label(fit.reference)}”; "
            f"standard errors: {fit.standard_error_kind}"
        ),
        Sentence(
            f"{', '.join(fit_texts)}"
            + (f"; against the constant alone: {constant_test}" if constant_test is not None else "")
        ),
        *(
            [Sentence(f"against compliance that depends on no covariate: {compliance_test}")]
            if (compliance_test := fit.equal_compliance) is not None
            else []
        ),
        Sentence(f"{confidence:.4g} intervals: Wald"),
    ]


def _coefficients(fit: Regression, confidence: float) -> Iterator[Table]:
    """A table for each category but the reference, then who complies, the nuisance parameters below the last."""
    number_heads = ("coefficient", "s.e.", "z" if math.isinf(fit.degrees_of_freedom) else "t", "p", "low", "high")
    column_heads = (Column("term", words=True, width=40), *map(Column, (*number_heads, "odds ratio", "low", "high")))
    interval_ends, decimal_places = fit.interval(confidence), max(decimals(fit.standard_errors) or 3, 3)
    coefficient_numbers = np.column_stack(
        [fit.coefficients, fit.standard_errors, fit.statistics, fit.p_values, interval_ends]
    )
    with np.errstate(over="ignore"):
        odds_ratios = np.exp(np.column_stack([fit.coefficients, interval_ends]))
    for equation, place in zip(fit.equations, fit.model.places, strict=False):
        table_rows = [
            (
                term_name,
                *coefficient_texts(coefficient_numbers[i], decimal_places),
                *(_ratio(value) for value in odds_ratios[i].tolist()),
            )
            for i, term_name in enumerate(equation.columns, start=place.start)
        ]
        yield Table(column_heads, tuple(table_rows), f"Log odds of {equation.comparison}")
    if fit.nuisance:
        nuisance_rows = (
            (str(nuisance_name), number_text(v.value, decimal_places), number_text(v.standard_error, decimal_places))
            for nuisance_name, v in fit.nuisance.items()
        )
        column_heads = (Column("estimated beside", words=True, width=40), Column("share"), Column("s.e."))
        yield Table(column_heads, tuple(nuisance_rows))


def coefficient_texts(numbers: ArrayLike, places: int) -> tuple[str, ...]:
    """A coefficient, its standard error, z, p and the ends of its interval, as texts."""
    value, standard_error, test_statistic, p, low, high = np.asarray(numbers).tolist()
    return (
        *(number_text(number, places) for number in (value, standard_error)),
        number_text(test_statistic, 2),
        _p(p),
        number_text(low, places),
        number_text(high, places),
    )


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def _ratio(value: float) -> str:
    """An odds ratio to three digits."""
    return "–" if math.isnan(value) else f"{value:.3g}" if 0.01 <= value < 1e4 else f"{value:.1e}"


def _terms(term_tests: Mapping[str, Test]) -> Iterator[Table]:
    """The Wald test of each term, where some term has several coefficients."""
    if any(test.degrees_of_freedom > 1 for test in term_tests.values()):
        column_heads = (Column("term", words=True, width=40), Column("Wald χ²"), Column("df"), Column("p"))
        table_rows = (
            (n, number_text(t.statistic, 2), str(t.degrees_of_freedom), _p(t.p_value)) for n, t in term_tests.items()
        )
        yield Table(column_heads, tuple(table_rows))


def _effects(fit: Regression, effect_table: Effects, confidence: float) -> Iterator[Table]:
    """Average marginal effects; of two categories those on the first."""
    if not effect_table.names:
        return
    category_places = [0] if fit.model.t == 2 else range(fit.model.t)
    column_heads = [Column("effect on the share of", words=True, width=24), Column("change", words=True, width=40)]
    column_heads += map(Column, ("share", "s.e.", "low", "high"))
    interval_ends, decimal_places = effect_table.interval(confidence), decimals(effect_table.standard_errors) or 3
    table_rows = []
    for j in category_places:
        category_label = _checks.label(fit.categories[j])
        for i, effect_name in enumerate(effect_table.names):
            effect_numbers = (effect_table.values[i, j], effect_table.standard_errors[i, j], *interval_ends[i, j])
            number_texts = (number_text(float(number), decimal_places) for number in effect_numbers)
            table_rows.append((category_label, effect_name, *number_texts))
    yield Table(tuple(column_heads), tuple(table_rows), "Average marginal effects, over the people in the model")


def _margins(fit: Regression, at: At, confidence: float) -> Iterator[Table]:
    """Shares predicted with variables at given values."""
    if not at:
        return
    table_rows = []
    for variable_values in at:
        predictions = fit.margins(**variable_values)
        interval_ends, decimal_places = predictions.interval(confidence), decimals(predictions.standard_errors) or 3
        values_text = ", ".join(f"{variable_name} = {value}" for variable_name, value in variable_values.items())
        for j, category in enumerate(fit.categories):
            share_numbers = (predictions.probabilities[0, j], predictions.standard_errors[0, j], *interval_ends[0, j])
            number_texts = (number_text(float(number), decimal_places) for number in share_numbers)
            table_rows.append((values_text, _checks.label(category), *number_texts))
    column_heads = (Column("if everybody had", words=True, width=40), Column("category", words=True, width=24))
    yield Table((*column_heads, *map(Column, ("share", "s.e.", "low", "high"))), tuple(table_rows), "Predicted shares")


def rests_of_answers(fit: Regression, confidence: float) -> Iterator[str]:
    """What it rests on that answers tell categories."""
    if fit.compliance is not None:
        yield f"by the controls alone {fit.compliance.sentence(confidence)}"
        yield DENIERS
    if fit.data.design.offer.assigned_by == "respondent":
        yield "assumes: among people with the same covariates the chosen level has nothing to do with the category"
    if fit.data.compliance is not None:
        yield (
            "assumes: among people with the same covariates, who complies has nothing to do with the category; shares "
            "of who complies are averages over the people in the model"
        )
    elif fit.model.within.assumptions:
        yield (
            f"assumes: {' and '.join(fit.model.within.assumptions)} is the same for everyone, whatever their covariates"
        )


def reservations_of_answers(fit: Regression) -> Iterator[str]:
    """What a reader must be told of controls: who left them out, and that they may show nothing."""
    names = fit.data.formula.response
    if fit.data.design.offer.measures_compliance and fit.data.design.space.answers == len(names):
        silent = [
            (name, sum(int(part.count @ (part.codes[:, place] == MISSING)) for part in fit.data.tally.parts))
            for place, name in enumerate(names)
        ]
        if left_out := [f"{name} ({count:,} of {fit.n:,})" for name, count in silent if count]:
            yield (
                f"left out by people who answered the rest: {', '.join(left_out)}; what they said is used, and "
                "of those who do not comply it tells little"
            )
    if fit.data.compliance is not None and fit.compliance is not None and fit.compliance.interval()[0] <= 0:
        yield "by the controls alone perhaps everybody complies; what is told of who does not rests on little"


def _rests(fit: Regression, confidence: float) -> Iterator[str]:
    """What the numbers rest on."""
    yield from rests_of_answers(fit, confidence)
    if fit.penalty is not None:
        yield f"penalty: log-F({fit.penalty.m:g}, {fit.penalty.m:g}) priors on the coefficients of centered covariates"
    search = fit.optimum.search
    if search.starts > 1:
        yield (
            f"the highest maximum of the likelihood that {search.starts} searches found, from different starts; "
            f"{search.reached} ended at it, and that there is no higher one is not proven"
        )
    yield "effects are averages over these people; their errors take the covariates of these people as given"


def _impossible(fit: Regression, shares: Floats) -> NDArray[np.bool_]:
    """Whether shares of the categories (rows, t) leave some cell a negative chance, (rows,)."""
    if fit.data.compliance is not None:  # logits leave no chance below 0
        return np.zeros(len(shares), dtype=bool)
    cell_chances = fit.model.within.chances(fit.model.split(fit.optimum.theta)[1])
    return np.asarray((shares @ cell_chances.T < -_SLACK).any(axis=1))


def _predicted_beyond(fit: Regression, at: At) -> list[str]:
    """What must be told with shares that are predicted `at` values."""
    values_texts = [", ".join(f"{n} = {v}" for n, v in variable_values.items()) for variable_values in at]
    texts_beyond = [
        values_text
        for values_text, variable_values in zip(values_texts, at, strict=True)
        if _impossible(fit, fit.margins(**variable_values).probabilities)[0]
    ]
    return [_sum_above_one(f"at {' and at '.join(texts_beyond)}")] if texts_beyond else []


def beyond_along(fit: Regression, variable: str) -> str | None:
    """What must be told with shares that are predicted along a variable; None where nothing."""
    variable_values, predicted_shares = fit.along(variable)
    values_beyond = [
        variable_values[place] for place in np.flatnonzero(_impossible(fit, predicted_shares.probabilities))
    ]
    shown_values = [
        f"{value:.4g}" if isinstance(value, float) else str(value)
        for value in (values_beyond[:1] + values_beyond[1:][-1:])
    ]
    return _sum_above_one(f"at {variable} = {' to '.join(shown_values)}") if values_beyond else None


def _sum_above_one(place_text: str) -> str:
    return f"{place_text} the predicted share and that of cheaters sum to more than 1; the CDM cannot hold there"


def _coefficient_rows(fit: Regression, confidence: float) -> Iterator[dict[str, Any]]:
    """Each coefficient with its numbers."""
    interval_ends, odds_ratios = fit.interval(confidence), fit.odds_ratios
    for i, (category, column_name) in enumerate(fit.names):
        yield {
            "category": category,
            "term": column_name,
            "estimate": fit.coefficients[i],
            "standard_error": fit.standard_errors[i],
            "statistic": fit.statistics[i],
            "p_value": fit.p_values[i],
            "interval": interval_ends[i],
            "odds_ratio": odds_ratios[i],
            "odds_ratio_interval": np.exp(interval_ends[i]),
        }


def _effect_rows(fit: Regression, effect_table: Effects, confidence: float) -> list[dict[str, object]]:
    interval_ends = effect_table.interval(confidence)
    return [
        {
            "variable": effect_name,
            "category": category,
            "effect": effect_table.values[i, j],
            "standard_error": effect_table.standard_errors[i, j],
            "interval": interval_ends[i, j],
        }
        for i, effect_name in enumerate(effect_table.names)
        for j, category in enumerate(fit.categories)
    ]


_SIZE = 640  # pixels at which a chart has its natural width


def coefficient_chart(
    fit: Regression, category: Label, *, confidence: float = 0.95, size: int = _SIZE, room: int = 26
) -> str:
    """An SVG image of the coefficients of one category's equation but the constant, with their intervals around 0.

    Parameters
    ----------
    fit : Regression
    category : label
        One other than the reference, or a share of those who do not comply that has covariates.
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
    coefficient_places = [
        coefficient_place
        for coefficient_place, (j, term) in enumerate(fit.names)
        if j == category and term != "Intercept"
    ]
    term_names = [fit.names[coefficient_place][1] for coefficient_place in coefficient_places]
    values, interval_bounds = fit.coefficients[coefficient_places], fit.interval(confidence)[coefficient_places]
    interval_bounds = np.where(np.isfinite(interval_bounds), interval_bounds, values[:, None])
    with np.errstate(over="ignore"):
        odds_ratios = np.exp(np.column_stack([values, interval_bounds])).tolist()
    number_rows = zip(values.tolist(), interval_bounds.tolist(), odds_ratios, strict=True)
    mark_texts = [
        f"{value:.3f}, {low_bound:.3f} to {high_bound:.3f}; odds ratio {ratio:.3g}, {low_ratio:.3g} to {high_ratio:.3g}"
        for value, (low_bound, high_bound), (ratio, low_ratio, high_ratio) in number_rows
    ]
    axis_low, axis_high = min(0.0, float(interval_bounds.min())), max(0.0, float(interval_bounds.max()))
    axis_margin = (axis_high - axis_low or 1.0) / 25
    title = next(f"Log odds of {each.comparison}" for each in fit.equations if each.label == category)
    return marks_in_rows(
        term_names,
        [Mark("estimate", f"coefficient with its {confidence:.4g} interval", values, interval_bounds, told=mark_texts)],
        Axis("log odds; 0 is no difference", (axis_low - axis_margin, axis_high + axis_margin), ""),
        title=title,
        description="; ".join(f"{term}: {mark_text}" for term, mark_text in zip(term_names, mark_texts, strict=True)),
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
    interval_ends = shares.interval(confidence)
    interval_ends = np.where(np.isfinite(interval_ends), interval_ends, shares.probabilities[..., None])
    title = f"Predicted share of {' and '.join(f'“{name}”' for name in names)}, if everybody had this {variable}"
    if len(values) < 3 or any(isinstance(value, str) for value in values) or variable in fit.data.formula.factors:
        row_labels = [
            _checks.label(value) if len(category_places) == 1 else f"{_checks.label(value)}: {name}"
            for value in values
            for name in names
        ]
        row_places = [(value_place, j) for value_place in range(len(values)) for j in category_places]
        value_places, row_categories = map(list, zip(*row_places, strict=True))
        mark = Mark(
            "estimate",
            f"predicted share with its {confidence:.4g} interval",
            shares.probabilities[value_places, row_categories],
            interval_ends[value_places, row_categories],
        )
        return charts.dots(row_labels, [mark], title=title, size=size, room=room, axis="predicted share")
    share_lines = [
        Line(
            name,
            values,
            shares.probabilities[:, j],
            f"{name}: {percent(shares.probabilities[0, j], 1)} at {values[0]:g}, "
            f"{percent(shares.probabilities[-1, j], 1)} at {values[-1]:g}",
            bounds=interval_ends[:, j],
        )
        for name, j in zip(names, category_places, strict=True)
    ]
    highest_end = float(interval_ends[:, list(category_places)].max())
    return lines(
        share_lines,
        Axis(variable, (float(values[0]), float(values[-1])), "", ticks=4),
        Axis("predicted share", (0.0, max(highest_end, 0.01)), ".0%", nice=True),
        title=title,
        description="; ".join(line.told for line in share_lines),
        size=size,
        height=240,
        letters=max(room - 8, 8),
    )


def _charts(fit: Regression, confidence: float) -> Iterator[Content]:
    """Coefficients and predicted shares, each chart under a heading of its own."""
    for equation in fit.equations:
        if any(column != "Intercept" for column in equation.columns):
            yield Heading(f"Log odds of {equation.comparison}")
            yield Chart(
                lambda size, room, category=equation.label: coefficient_chart(  # type: ignore[misc]
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


def regression_html(fit: Regression, *, confidence: float = 0.95, at: Sequence[Mapping[str, object]] = ()) -> str:
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
    sections = [Section("The numbers", fit.parts(confidence, at))]
    if chart_contents := list(_charts(fit, confidence)):
        sections.insert(0, Section("The regression", chart_contents))
    return html(fit.data.formula.text, sections, facts=facts)


class Equations(Result):
    """A regression whose coefficients stand by equations, each with a Wald interval of any confidence."""

    @abstractmethod
    def coefficient_rows(self, confidence: float) -> Iterator[tuple[Equation, list[tuple[Any, ...]]]]:
        """The coefficients of each equation, as `wald_rows` gives them."""

    @abstractmethod
    def parts(self, confidence: float = 0.95) -> list[Content]:
        """The regression in the vocabulary of `naysay.show`."""

    @abstractmethod
    def numbers(self, confidence: float = 0.95) -> dict[str, object]:
        """The regression by the names of its JSON."""

    def records(self, confidence: float = 0.95) -> Records:
        """The coefficients, a row each, in the order of the equations."""
        names = ["equation", "term", "estimate", "standard_error", "statistic", "p_value", "low", "high"]
        equations = self.coefficient_rows(confidence)
        return Records(names, [[equation.label, *row] for equation, rows in equations for row in rows])

    def to_text(self, confidence: float = 0.95) -> str:
        """The regression as plain text."""
        return text(self.parts(confidence))

    def to_latex(self, confidence: float = 0.95) -> str:
        """The regression as LaTeX, with tables that need the package booktabs."""
        return latex(self.parts(confidence))

    def to_dict(self, confidence: float = 0.95) -> JsonObject:
        """The regression as one JSON object with stable names; undefined numbers are None."""
        return dict(plain(self.numbers(confidence)))

    def to_csv(self, confidence: float = 0.95) -> str:
        """The coefficients as CSV, a row each."""
        return self.records(confidence).to_csv()


def coefficient_tables(equations: Iterable[tuple[Equation, list[tuple[Any, ...]]]]) -> Iterator[Table]:
    """A table for each equation, of the rows that `wald_rows` gives."""
    heads = (Column("term", words=True, width=40), *map(Column, ("coefficient", "s.e.", "z", "p", "low", "high")))
    for equation, rows in equations:
        places = max(decimals([row[2] for row in rows]) or 3, 3)
        lines = [(column, *coefficient_texts(numbers, places)) for column, *numbers in rows]
        yield Table(heads, tuple(lines), equation.comparison)


def wald_rows(columns: Iterable[str], value: Floats, error: Floats, confidence: float) -> list[tuple[Any, ...]]:
    """Coefficients, each with its standard error, z, p and the ends of its interval."""
    reach = float(scipy.stats.norm.ppf((1 + _checks.confidence(confidence)) / 2)) * error
    p_values = 2 * scipy.stats.norm.sf(np.abs(value / error))
    numbers = (value, error, value / error, p_values, value - reach, value + reach)
    return list(zip(columns, *(number_column.tolist() for number_column in numbers), strict=True))
