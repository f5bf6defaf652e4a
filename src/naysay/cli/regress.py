"""``naysay regress``: who is in which category, from a file of randomized answers and covariates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from naysay import _checks, files
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.options import SamplingOptions, prepare_frame, with_labels
from naysay.console.people import record_cells
from naysay.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from naysay.regression import Regression


@dataclass(frozen=True)
class Regressed:
    """What is regressed on what, as it is written on the command line."""

    formula: Annotated[
        str,
        typer.Argument(metavar="FORMULA", help="Such as 'cheated ~ age + gender', the column of answers on the left."),
    ]
    file: options.File
    design: Annotated[str | None, options.design_option] = None
    categories: options.Categories = None
    level: Annotated[str | None, options.column("The level that each respondent chose.")] = None
    sample: Annotated[str | None, options.column("The sample that each respondent was in, for several samples.")] = None
    count: options.Count = None
    offset: Annotated[str | None, options.column("Added to each linear predictor.")] = None
    reference: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="The category with which the others are compared; by default the last."),
    ] = None
    missing: Annotated[
        Literal["error", "drop"], typer.Option(help="People whose covariates have gaps: an error, or left out.")
    ] = "error"
    standard_errors: Annotated[
        Literal["observed", "expected", "outer_product", "sandwich"] | None,
        typer.Option(help="observed by default, sandwich with weights."),
    ] = None
    penalty: Annotated[
        float, typer.Option(metavar="M", help="m of log-F(m, m) priors, which keep coefficients finite; 1 is usual.")
    ] = 0.0
    cheaters: Annotated[
        Literal["within", "CDM"],
        typer.Option(help="The same share of those without an honest yes, or of everybody: the CDM of RRreg."),
    ] = "within"
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="RECORD", help="Predict shares if everybody had these, such as 'age=40,gender=f'; again."),
    ] = None
    confidence: options.Confidence = 0.95
    format_: Annotated[
        Literal["table", "json", "csv", "latex"],
        typer.Option("--format", help="Numbers in json and csv are not rounded; tables of latex need booktabs."),
    ] = "table"
    html: options.Html = None
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False


@dataclass(frozen=True)
class RegressOptions(SamplingOptions, Regressed):
    """All options: of the regression, then of the sample that it comes from."""


@takes(RegressOptions)
def command(request: RegressOptions) -> None:
    """Regress the true category on covariates, from randomized answers.

    Logistic regression for two categories, multinomial for more, under any design. A column of FILE that holds numbers
    only is a number, any other a text, whose categories are compared with the first in the alphabet; C(region) makes
    categories of numbers. A formula holds columns, + : * and **2, numbers, and functions such as log, sqrt, poly, bs, C
    and I; a column whose name is no word stands between backticks.

    \b
    Examples:
      naysay regress "doping ~ age" answers.csv --design "warner(p=0.7)"
      naysay regress "doping ~ age*sport" answers.csv --missing drop --penalty 1 \\
          --design "warner(p=0.7)" --at "age=20" --at "age=60,sport=judo"
      naysay regress "income ~ age" levels.csv --level level --format json \\
          --design "negative_levels()" --categories "low,middle,high,none"
      naysay regress "doping ~ age" school.csv --design "warner(p=0.7)" \\
          --weight weight --strata region --cluster school
      naysay regress "doping ~ age" samples.csv --sample sample \\
          --design "cheating_detection(p=(1/4, 3/4))" --format latex
    """
    from naysay import regression
    from naysay.regression.reading import parse

    _checks.confidence(request.confidence)
    output.check(request.html)
    formula = parse(request.formula)
    request, design = options.options_and_design(request, request.file, formula.response[0])
    _check_covariates(request, formula.variables)
    frame = _typed_frame(request, list(formula.response), list(formula.variables))
    sampling = request.sampling(frame)
    with (
        files.readable(request.file),
        with_labels(design, request.file, formula.response, encoding=request.encoding, codes=request.codes),
    ):
        fit = regression.regress(
            design,
            request.formula,
            prepare_frame(frame, sampling),
            **{name: getattr(request, name) for name in ("level", "sample", "count", "offset", "missing", "reference")},
            weights=request.weight if sampling is None else None,
            sampling=sampling,
            standard_errors=request.standard_errors,
            penalty=request.penalty,
            cheaters=request.cheaters,
        )
    _say(fit, request)


def _check_covariates(request: RegressOptions, variables: Iterable[str]) -> None:
    """Raise for a covariate that the export of a survey holds randomized: it would be read as the person's answer."""
    published_designs = files.designs_of(request.file, codes=request.codes)
    private = next((name for name in variables if name in published_designs), None)
    if private is not None:
        raise DataError(
            f"covariates come from plain questions; {private!r} is private, so its cells are no answers "
            f"(leave it out, or look at both questions together with naysay crosstab)",
            column=private,
        )


def _say(fit: Regression, request: RegressOptions) -> None:
    """The regression in the form that was asked for, and as a page."""
    at = [_values(text) for text in request.at or ()]
    if request.format_ == "csv":
        for note in fit.reservations:
            output.note(note)
        output.say(fit.to_csv(request.confidence))
    elif request.format_ == "json":
        output.say(output.json_text(fit.to_dict(request.confidence, at)))
    elif request.format_ == "latex":
        output.say(fit.to_latex(request.confidence, at))
    else:
        output.say(fit.to_text(request.confidence, at))
    if request.html is not None:
        from naysay.regression.page import regression_html

        output.write(request.html, lambda: regression_html(fit, confidence=request.confidence, at=at))


def _values(text: str) -> dict[str, Any]:
    """The values that ``--at age=40,gender=f`` gives."""
    pairs = [cell.partition("=") for cell in record_cells(text)]
    if not pairs or not all(name.strip() and sign for name, sign, _ in pairs):
        raise DataError(f"--at must be values by column, such as 'age=40,gender=f'; got {text!r}")
    return {name.strip(): _number(value.strip()) for name, _, value in pairs}


def _number(text: str) -> float | int | str:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _typed_frame(request: RegressOptions, response: list[str], variables: list[str]) -> pl.LazyFrame:
    """The file with answers as text, covariates as numbers where they are, and amounts as numbers."""
    amounts = {role: name for role in ("count", "weight", "offset") if (name := getattr(request, role)) is not None}
    codes = request.codes or list(amounts.values())
    frame = files.scan(request.file, separator=request.separator, encoding=request.encoding, codes=codes)
    level_columns = [name for name in (request.level, request.sample) if name is not None]
    with files.readable(request.file):
        files.check_columns(frame, [*response, *level_columns, *variables, *amounts.values()])
        if len(response) > 1 and len(response) == len(set(response)) and not level_columns:
            frame = files.as_booleans(frame, response)
        else:
            frame = files.as_text(frame, response)
        frame = files.as_text(frame, level_columns)
        for role, name in amounts.items():
            frame = files.as_numbers(frame, name, what="the offset" if role == "offset" else f"{role}s")
        return files.as_measured(frame, variables)
