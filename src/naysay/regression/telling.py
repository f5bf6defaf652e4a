"""What a regression tells: its numbers, tests and effects, and what they rest on, as content, JSON, CSV and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.estimate.findings import decimals, number_text
from naysay.regression import hypotheses
from naysay.regression.effects import Effects, Predictions, along, effects, margins
from naysay.regression.fitted import Fitted
from naysay.show import Column, Note, Points, Sentence, Table, plain
from naysay.show.content import Content
from naysay.show.text import csv_text

Floats = NDArray[np.float64]
At = Sequence[Mapping[str, Any]]

_EDGE = 1e-3  # a share below which a Wald interval of its logit says little
_SLACK = 1e-9  # a negative chance that rounding explains
_FEW = 10  # people for each coefficient, below which estimates of plain answers are known to be biased


def sections(fit: Fitted, confidence: float, at: At) -> list[Content]:
    """The regression in the vocabulary of `naysay.show`."""
    term_tests = {term: hypotheses.wald(fit, term) for term in fit.data.matrix.terms if term != "1"}
    return [
        *_heading(fit, confidence),
        *_coefficients(fit, confidence),
        *_terms(term_tests),
        *_effects(fit, effects(fit, None), confidence),
        *_margins(fit, at, confidence),
        Points(tuple(_rests(fit))),
        *(Note(reservation) for reservation in [*reservations(fit), *_predicted_beyond(fit, at)]),
    ]


def _heading(fit: Fitted, confidence: float) -> list[Content]:
    """What stands above the numbers."""
    data = fit.data
    uneven = data.squared.sum() > fit.n * (1 + 1e-9)  # not so where clusters or strata alone are told
    weight_text = f", weighted (sum of weights {data.tally.weight:,.6g})" if uneven else ""
    left_out_text = f", {data.dropped:,} left out for missing covariates" if data.dropped else ""
    missing_text = f"{data.tally.missing:,} missing" if data.tally.missing else "none missing"
    model_kind = "logistic" if fit.model.t == 2 else "multinomial"
    likelihood_name = "pseudo-log-likelihood" if fit.weighted else "log-likelihood"
    fit_texts = [f"{likelihood_name} {fit.log_likelihood:,.3f}", f"AIC {fit.aic:,.1f}"][: 1 if fit.weighted else 2]
    test = hypotheses.against_constant(fit)
    freedom_text = f", {fit.degrees_of_freedom:,.0f} for a coefficient"
    sampling_sentences = [] if data.sampled is None else [Sentence(data.sampled.sentence + freedom_text)]
    return [
        Sentence(f"{data.formula.text}: {data.design.name or data.design.kind}"),
        Sentence(f"{fit.n:,} answers, {missing_text}{left_out_text}{weight_text}"),
        *sampling_sentences,
        Sentence(
            f"{model_kind} regression against “{_checks.label(fit.reference)}”; "
            f"standard errors: {fit.standard_error_kind}"
        ),
        Sentence(f"{', '.join(fit_texts)}" + (f"; against the constant alone: {test}" if test is not None else "")),
        Sentence(f"{confidence:.4g} intervals: Wald"),
    ]


def _coefficients(fit: Fitted, confidence: float) -> Iterator[Table]:
    """A table for each category but the reference, the nuisance parameters below the last."""
    columns = ("coefficient", "s.e.", "z" if math.isinf(fit.degrees_of_freedom) else "t", "p", "low", "high")
    heads = (Column("term", words=True, width=40), *map(Column, (*columns, "odds ratio", "low", "high")))
    ends, places = fit.interval(confidence), max(decimals(fit.standard_errors) or 3, 3)
    numbers = np.column_stack([fit.coefficients, fit.standard_errors, fit.statistics, fit.p_values, ends])
    with np.errstate(over="ignore"):
        ratios = np.exp(np.column_stack([fit.coefficients, ends]))
    columns_per_category = len(fit.data.matrix.columns)
    for place, j in enumerate(fit.model.free):
        rows = [
            (name, *_row(numbers[i], places), *(_ratio(value) for value in ratios[i].tolist()))
            for i, name in enumerate(fit.data.matrix.columns, start=place * columns_per_category)
        ]
        caption = f"Log odds of “{_checks.label(fit.categories[j])}” against “{_checks.label(fit.reference)}”"
        yield Table(heads, tuple(rows), caption)
    if fit.nuisance:
        cells = (
            (str(name), number_text(v.value, places), number_text(v.standard_error, places))
            for name, v in fit.nuisance.items()
        )
        heads = (Column("estimated beside", words=True, width=40), Column("share"), Column("s.e."))
        yield Table(heads, tuple(cells))


def _row(numbers: ArrayLike, places: int) -> tuple[str, ...]:
    value, error, ratio, p, low, high = np.asarray(numbers).tolist()
    return (
        *(number_text(number, places) for number in (value, error)),
        number_text(ratio, 2),
        _p(p),
        number_text(low, places),
        number_text(high, places),
    )


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def _ratio(value: float) -> str:
    """An odds ratio to three digits."""
    return "–" if math.isnan(value) else f"{value:.3g}" if 0.01 <= value < 1e4 else f"{value:.1e}"


def _terms(term_tests: Mapping[str, hypotheses.Test]) -> Iterator[Table]:
    """The Wald test of each term, where some term has several coefficients."""
    if any(test.degrees_of_freedom > 1 for test in term_tests.values()):
        heads = (Column("term", words=True, width=40), Column("Wald χ²"), Column("df"), Column("p"))
        rows = (
            (n, number_text(t.statistic, 2), str(t.degrees_of_freedom), _p(t.p_value)) for n, t in term_tests.items()
        )
        yield Table(heads, tuple(rows))


def _effects(fit: Fitted, effect_table: Effects, confidence: float) -> Iterator[Table]:
    """Average marginal effects; of two categories those on the first."""
    if not effect_table.names:
        return
    category_places = [0] if fit.model.t == 2 else range(fit.model.t)
    heads = [Column("effect on the share of", words=True, width=24), Column("change", words=True, width=40)]
    heads += map(Column, ("share", "s.e.", "low", "high"))
    ends, places = effect_table.interval(confidence), decimals(effect_table.standard_errors) or 3
    rows = []
    for j in category_places:
        label = _checks.label(fit.categories[j])
        for i, name in enumerate(effect_table.names):
            numbers = (effect_table.values[i, j], effect_table.standard_errors[i, j], *ends[i, j])
            rows.append((label, name, *(number_text(float(number), places) for number in numbers)))
    yield Table(tuple(heads), tuple(rows), "Average marginal effects, over the people in the model")


def _margins(fit: Fitted, at: At, confidence: float) -> Iterator[Table]:
    """Shares predicted with variables at given values."""
    if not at:
        return
    rows = []
    for values in at:
        predictions = margins(fit, values)
        ends, places = predictions.interval(confidence), decimals(predictions.standard_errors) or 3
        values_text = ", ".join(f"{name} = {value}" for name, value in values.items())
        for j, category in enumerate(fit.categories):
            numbers = (predictions.probabilities[0, j], predictions.standard_errors[0, j], *ends[0, j])
            rows.append(
                (values_text, _checks.label(category), *(number_text(float(number), places) for number in numbers))
            )
    heads = (Column("if everybody had", words=True, width=40), Column("category", words=True, width=24))
    yield Table((*heads, *map(Column, ("share", "s.e.", "low", "high"))), tuple(rows), "Predicted shares")


def _rests(fit: Fitted) -> Iterator[str]:
    """What the numbers rest on."""
    if fit.data.design.assigned_by == "respondent":
        yield "assumes: among people with the same covariates the chosen level has nothing to do with the category"
    if fit.model.within.assumptions:
        yield (
            f"assumes: {' and '.join(fit.model.within.assumptions)} is the same for everyone, whatever their covariates"
        )
    if fit.penalty is not None:
        yield f"penalty: log-F({fit.penalty.m:g}, {fit.penalty.m:g}) priors on the coefficients of centered covariates"
    search = fit.optimum.search
    if search.starts > 1:
        yield (
            f"the highest maximum of the likelihood that {search.starts} searches found, from different starts; "
            f"{search.reached} ended at it, and that there is no higher one is not proven"
        )
    yield "effects are averages over these people; their errors take the covariates of these people as given"


def reservations(fit: Fitted) -> list[str]:
    """What a reader must be told with the numbers."""
    data, sentences = fit.data, []
    if data.dropped:
        names = ", ".join(f"{name} ({count:,})" for name, count in data.missing.items())
        sentences.append(f"{data.dropped:,} people were left out, whose covariates are missing: {names}")
    held_shares = [
        share.name
        for share, is_bound in zip(fit.model.within.parameters, fit.optimum.bound[-fit.model.q :], strict=False)
        if is_bound
    ]
    if held_shares:
        sentences.append(
            f"at the boundary, and held there: {', '.join(map(str, held_shares))}; standard errors are given this"
        )
    beyond = _beyond(fit)
    if beyond > 0:
        sentences.append(
            f"for {beyond:.1%} of these people the predicted share and that of cheaters sum to more than 1; the CDM "
            "cannot hold of them"
        )
    search = fit.optimum.search
    if search.lower:
        sentences.append(
            f"the likelihood has several maxima: the next one is lower by {search.lower[0]:.2f}, with other "
            "coefficients; these intervals do not reach over to it"
        )
    if search.above:
        sentences.append(
            f"the likelihood is higher by {search.above:.2f} where some coefficients grow without end; these numbers "
            "belong to its highest finite maximum, and a penalty (penalty=1, --penalty 1) keeps all of them finite"
        )
    if fit.n < _FEW * fit.optimum.theta.size:
        sentences.append(f"only {fit.n / fit.optimum.theta.size:.1f} answers a coefficient; intervals may be too short")
    return sentences


def _beyond(fit: Fitted) -> float:
    """The share of people for whom the model gives some cell a negative chance."""
    model = fit.model
    return float(model.weight[_impossible(fit, model.shares(fit.optimum.theta).T)].sum() / model.weight.sum())


def _impossible(fit: Fitted, shares: Floats) -> NDArray[np.bool_]:
    """Whether shares of the categories (rows, t) leave some cell a negative chance, (rows,)."""
    chances = fit.model.within.chances(fit.model.split(fit.optimum.theta)[1])
    return np.asarray((shares @ chances.T < -_SLACK).any(axis=1))


def _predicted_beyond(fit: Fitted, at: At) -> list[str]:
    """What must be told with shares that are predicted `at` values."""
    values_texts = [", ".join(f"{n} = {v}" for n, v in variable_values.items()) for variable_values in at]
    beyond = [
        values_text
        for values_text, variable_values in zip(values_texts, at, strict=True)
        if _impossible(fit, margins(fit, variable_values).probabilities)[0]
    ]
    return [_sum_above_one(f"at {' and at '.join(beyond)}")] if beyond else []


def beyond_along(fit: Fitted, variable: str) -> str | None:
    """What must be told with shares that are predicted along a variable; None where nothing."""
    values, shares = along(fit, variable)
    beyond = [values[place] for place in np.flatnonzero(_impossible(fit, shares.probabilities))]
    shown_values = [
        f"{value:.4g}" if isinstance(value, float) else str(value) for value in (beyond[:1] + beyond[1:][-1:])
    ]
    return _sum_above_one(f"at {variable} = {' to '.join(shown_values)}") if beyond else None


def _sum_above_one(place_text: str) -> str:
    return f"{place_text} the predicted share and that of cheaters sum to more than 1; the CDM cannot hold there"


def to_dict(fit: Fitted, confidence: float, at: At) -> dict[str, Any]:
    """The regression as one JSON object with stable names; undefined numbers are None."""
    test, data = hypotheses.against_constant(fit), fit.data
    json_fields: dict[str, Any] = plain(
        {
            "formula": data.formula.text,
            "response": data.formula.response,
            "design": data.design.name or data.design.kind,
            "n": fit.n,
            "missing": data.tally.missing,
            "left_out": {"people": data.dropped, "by_column": data.missing},
            "categories": fit.categories,
            "reference": fit.reference,
            "coefficients": list(_coefficient_rows(fit, confidence)),
            "covariance": fit.covariance,
            "standard_error_kind": fit.standard_error_kind,
            "confidence": confidence,
            "nuisance": {
                str(name): {"estimate": value.value, "standard_error": value.standard_error}
                for name, value in fit.nuisance.items()
            },
            "log_likelihood": fit.log_likelihood,
            "aic": None if fit.weighted else fit.aic,
            "search": {name: getattr(fit.optimum.search, name) for name in ("starts", "reached", "lower", "above")},
            "tests": {
                "constant": None if test is None else _test_fields(test),
                "terms": {term: _test_fields(hypotheses.wald(fit, term)) for term in data.matrix.terms if term != "1"},
            },
            "effects": _effect_rows(fit, effects(fit, None), confidence),
            "predictions": [
                {"at": dict(values)} | _prediction_numbers(margins(fit, values), confidence) for values in at
            ],
            "rests_on": list(_rests(fit)),
            "warnings": [*reservations(fit), *_predicted_beyond(fit, at)],
        }
    )
    if data.sampled is not None:
        json_fields |= {"sampling": str(data.sampled), "degrees_of_freedom": data.sampled.degrees_of_freedom}
    return json_fields


def _coefficient_rows(fit: Fitted, confidence: float) -> Iterator[dict[str, Any]]:
    """Each coefficient with its numbers."""
    ends, ratios = fit.interval(confidence), fit.odds_ratios
    for i, (category, column) in enumerate(fit.names):
        yield {
            "category": category,
            "term": column,
            "estimate": fit.coefficients[i],
            "standard_error": fit.standard_errors[i],
            "statistic": fit.statistics[i],
            "p_value": fit.p_values[i],
            "interval": ends[i],
            "odds_ratio": ratios[i],
            "odds_ratio_interval": np.exp(ends[i]),
        }


def _test_fields(test: hypotheses.Test) -> dict[str, Any]:
    names = ("name", "statistic", "degrees_of_freedom", "denominator", "p_value")
    return {name: getattr(test, name) for name in names}


def _effect_rows(fit: Fitted, effect_table: Effects, confidence: float) -> list[dict[str, Any]]:
    ends = effect_table.interval(confidence)
    return [
        {
            "variable": name,
            "category": category,
            "effect": effect_table.values[i, j],
            "standard_error": effect_table.standard_errors[i, j],
            "interval": ends[i, j],
        }
        for i, name in enumerate(effect_table.names)
        for j, category in enumerate(fit.categories)
    ]


def _prediction_numbers(predictions: Predictions, confidence: float) -> dict[str, Any]:
    ends = predictions.interval(confidence)
    return {
        "probabilities": predictions.probabilities[0],
        "standard_errors": predictions.standard_errors[0],
        "intervals": ends[0],
    }


def to_csv(fit: Fitted, confidence: float) -> str:
    """The coefficients as CSV, a row each."""
    numbers = ("estimate", "standard_error", "statistic", "p_value")
    head = ("category", "term", *numbers, "low", "high", "odds_ratio", "odds_ratio_low", "odds_ratio_high", "n")
    kinds = (fit.standard_error_kind, confidence)
    rows: list[Sequence[Any]] = [(*head, "standard_error_kind", "confidence")]
    for coefficient in _coefficient_rows(fit, confidence):
        first_cells = [
            coefficient["category"],
            coefficient["term"],
            *(coefficient[name] for name in numbers),
            *coefficient["interval"],
        ]
        rows.append([*first_cells, coefficient["odds_ratio"], *coefficient["odds_ratio_interval"], fit.n, *kinds])
    return csv_text([[plain(cell) for cell in row] for row in rows])
