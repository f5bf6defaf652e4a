"""``naysay regress``: who is in which category, from a file of randomized answers and covariates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from naysay import _checks, files
from naysay.collect.commands.database import Surveyed
from naysay.collect.results.answered import measure, withheld_note
from naysay.console import options, output
from naysay.console.options import SamplingOptions, prepare_frame, record_cells, with_labels
from naysay.console.output import takes
from naysay.errors import DataError
from naysay.regression.fitting import regress
from naysay.regression.lists import ListRegression, is_list, regress_list
from naysay.regression.outcome import OutcomeRegression, regress_outcome
from naysay.regression.reading import parse, parse_right
from naysay.regression.result import Regression, regression_html
from naysay.show.page import Section, html

if TYPE_CHECKING:
    import polars as pl

    from naysay.design import Answerable


@dataclass(frozen=True)
class Regressed:
    """What is regressed on what, as it is written on the command line."""

    formula: Annotated[
        str,
        typer.Argument(metavar="FORMULA", help="Such as 'cheated ~ age + gender', the column of answers on the left."),
    ]
    file: Annotated[Path | None, options.DATA_FILE] = None
    design: Annotated[str | None, options.design_option] = None
    categories: options.Categories = None
    level: Annotated[str | None, "COLUMN"] = None
    sample: Annotated[str | None, "COLUMN"] = None
    control: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN: TRUTH", help="A control, as in naysay estimate; the regression without it follows."
        ),
    ] = None
    count: options.Count = None
    offset: Annotated[str | None, "COLUMN"] = None
    reference: Annotated[str | None, "LABEL"] = None
    missing: Literal["error", "drop"] = "error"
    standard_errors: Literal["observed", "expected", "outer_product", "sandwich"] | None = None
    penalty: Annotated[float, "M"] = 0.0
    cheaters: Literal["within", "CDM"] = "within"
    compliance: Annotated[str | None, "FORMULA"] = None
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="FORMULA", help="Regress a plain column on the true category, such as 'score ~ cheated + age'."
        ),
    ] = None
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
class RegressOptions(SamplingOptions, Surveyed, Regressed):
    """All options: of the regression, then of the survey or the sample that it comes from."""

    @property
    def variables(self) -> list[str]:
        """The covariates, of the answers and of who complies, and the columns of an outcome."""
        formula, of_outcome = parse(self.formula), [] if self.outcome is None else [parse(self.outcome)]
        of_compliance = () if self.compliance is None else parse_right(self.compliance, "answer").variables
        beside = [name for each in of_outcome for name in (*each.response, *each.variables)]
        trait = formula.response[0]
        return list(dict.fromkeys([*formula.variables, *of_compliance, *(name for name in beside if name != trait)]))

    def check_plain(self, subject: str, *others: str) -> None:
        """Raise if there are options that the regression of an outcome or of a list does not take."""
        plain = RegressOptions(self.formula)
        sampling_names = [option_field.name for option_field in fields(SamplingOptions)]
        names = ("offset", "standard_errors", "penalty", "cheaters", "at", "weight", *sampling_names, *others)
        needless_name = next((name for name in names if getattr(self, name) != getattr(plain, name)), None)
        if needless_name is not None:
            raise DataError(f"a regression of {subject} takes no --{needless_name.replace('_', '-')}; leave it out")


@takes(RegressOptions, regress)
def command(request: RegressOptions) -> None:
    """Regress the true category on covariates. The answers are randomized.

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
      naysay regress "doping ~ age" answers.csv --control "check: no" \\
          --design "warner(p=0.7)"
      naysay regress "doping ~ age" answers.csv --control "check: no" \\
          --compliance age --penalty 1 --design "warner(p=0.7)"
      naysay regress "smoking ~ area" --survey sample --penalty 1
      naysay regress "doping ~ age" answers.csv --design "warner(p=0.7)" \\
          --outcome "weight ~ doping + age"
      naysay regress "count ~ age" list.csv --sample arm \\
          --design "item_count(items=4)"
    """
    _checks.confidence(request.confidence)
    output.check(request.html)
    if request.outcome is not None:
        request.check_plain("an outcome", "survey")
    if (request.file is None) == (request.survey is None):
        raise DataError("give FILE or --survey NAME, one of both; see naysay regress --help")
    fits = _of_survey(request) if request.file is None else _of_file(request, request.file)
    _say(*fits)


def _of_file(request: RegressOptions, file: Path) -> Fits:
    """The regression of a file, and with controls that without them."""
    formula = parse(request.formula)
    book = files.codebook_of(file)
    if not request.design and book is not None and formula.response[0] in {entry.column for entry in book.measures}:
        raise DataError(
            f"{formula.response[0]!r} is what other columns of this export measure, and a regression of a file reads "
            "one for each answer: take --survey; or put the answers of all arms there, and say --design and --sample",
            column=formula.response[0],
        )
    request, design = options.options_and_design(request, file, formula.response[0])
    published_designs = files.designs_of(file, codes=request.codes)
    _check_covariates(request.variables, published_designs)
    uncontrolled = replace(request, compliance=None), design
    exported = published_designs.get(formula.response[0])
    if request.control:
        request, design = _controlled(request, design, [options.control_of(text) for text in request.control])
    elif exported is not None and exported.beside and not request.design:
        request = _beside(request, exported.beside, exported.sample)
    codes = request.codes or [name for name in (request.count, request.weight, request.offset) if name is not None]
    frame = files.scan(file, separator=request.separator, encoding=request.encoding, codes=codes)
    response = parse(request.formula).response
    with (
        files.readable(file),
        with_labels(design, file, response, encoding=request.encoding, codes=request.codes),
    ):
        if request.control:
            controls = [options.control_of(text) for text in request.control]
            options.check_controls(formula.response, controls, frame.collect_schema().names())
        options.note_words(frame, response, design)
        fit = _fitted(request, design, frame)
        return fit, request, _fitted(*uncontrolled, frame) if request.control else None


def _of_survey(request: RegressOptions) -> Fits:
    """The regression of a survey's answers, with the designs and the controls that it was published with."""
    import polars as pl  # late: help needs no tables

    from naysay.collect.questionnaire.arms import measurements
    from naysay.collect.questionnaire.questionnaire import ARM
    from naysay.collect.survey.tallies import OPEN_LINK

    sampling_names = [option_field.name for option_field in fields(SamplingOptions)]
    for name in ("design", "categories", "level", "sample", "control", "count", "weight", *sampling_names):
        if getattr(request, name, None) not in (None, False, "error"):
            raise DataError(f"leave --{name.replace('_', '-')} out: the published questionnaire says it")
    replies, formula = request.replies(), parse(request.formula)
    question = formula.response[0]
    known = [*replies.private, *measurements(replies.questionnaire)]
    if len(formula.response) > 1 or question not in known:
        asked_text = " + ".join(formula.response)
        raise DataError(
            f"the left side must be one private question of {request.survey!r}; got {asked_text!r}; "
            f"{_checks.nearest(question, known) if known else 'it has none'}",
            column=question,
        )
    # numbers, too: C(age) makes cells of them; and the offset, as whoever has none may be left out
    columns_beside = [*request.variables, *([] if request.offset is None else [request.offset])]
    _check_covariates(columns_beside, known)
    files.check_columns(replies.frame.lazy(), columns_beside)
    measured = measure(replies, question, beside=columns_beside)
    if measured.withheld:
        if request.compliance is not None:
            raise DataError(f"who complies is not told: {withheld_note(question)}")
        output.note(withheld_note(question))
    if replies.published.key is None:
        output.note(f"{OPEN_LINK}: repeated or dishonest answers move the coefficients")
    asked = measured.asked
    controlled = _at(_beside(request, asked.beside, ()), asked.design, measured.sample)
    naive = None
    if asked.beside and not asked.arms:  # arms have several answers to one question
        uncontrolled = measure(replies, question, controls=False)
        design = uncontrolled.asked.design
        plain_request = replace(request, compliance=None)
        naive = _fitted(_at(plain_request, design, uncontrolled.sample), design, uncontrolled.rows.lazy())
    rows = measured.rows.lazy()
    if measured.sample is not None and asked.arms:  # whoever stands in another arm was not asked
        rows = rows.filter(pl.col(ARM).is_in(list(asked.arms)))
    return _fitted(controlled, asked.design, rows), controlled, naive


def _at(request: RegressOptions, design: Answerable, column: str | None) -> RegressOptions:
    """The options with the column of the levels, or of the samples, of a design."""
    return replace(request, level=column) if design.offer.noun == "level" else replace(request, sample=column)


AnyRegression: TypeAlias = Regression | OutcomeRegression | ListRegression
Fits: TypeAlias = tuple[AnyRegression, RegressOptions, AnyRegression | None]
"""The regression, its options, and the one without controls."""


def _check_covariates(variables: Sequence[str], private: Collection[str]) -> None:
    """Raise if a covariate was randomized: it would be read as the person's answer."""
    private_column = next((name for name in variables if name in private), None)
    if private_column is not None:
        raise DataError(
            f"covariates come from plain questions; {private_column!r} is private, so its cells are no answers "
            f"(leave it out, or look at both questions together with naysay crosstab)",
            column=private_column,
        )


def _fitted(request: RegressOptions, design: Answerable, source: pl.LazyFrame) -> AnyRegression:
    """The regression of answers under a design."""
    response, variables = list(parse(request.formula).response), request.variables
    typed_frame = _typed_frame(request, source, response, variables, joint=design.space.answers > 1)
    names = ("level", "sample", "count", "missing", "reference")
    column_options = {option_name: getattr(request, option_name) for option_name in names}
    if is_list(design):
        request.check_plain("a list", "compliance", "outcome", "level")
        del column_options["level"]
        return regress_list(design, request.formula, prepare_frame(typed_frame, None), **column_options)
    if request.outcome is not None:
        column_options["compliance"] = request.compliance
        return regress_outcome(
            design, request.formula, request.outcome, prepare_frame(typed_frame, None), **column_options
        )
    sampling = request.sampling(typed_frame)
    return regress(
        design,
        request.formula,
        prepare_frame(typed_frame, sampling),
        **column_options,
        offset=request.offset,
        weights=request.weight if sampling is None else None,
        sampling=sampling,
        standard_errors=request.standard_errors,
        penalty=request.penalty,
        cheaters=request.cheaters,
        compliance=request.compliance,
    )


def _controlled(
    request: RegressOptions, design: Answerable, controls: Sequence[options.Control]
) -> tuple[RegressOptions, Answerable]:
    """The regression of a question together with its controls."""
    if request.sample is not None or request.level is not None:
        raise DataError("with --control the samples are the truths of the control; leave --sample and --level out")
    columns = [request.formula.partition("~")[0].strip(" `"), *(control.column for control in controls)]
    if (repeated := _checks.repeated(columns)) is not None:
        raise DataError(
            f"column {repeated!r} is named twice; a question and each of its controls have their own", column=repeated
        )
    truth_columns = [control.truth_column for control in controls if control.truth_column is not None]
    joint_request = _beside(request, [control.column for control in controls], truth_columns)
    return joint_request, options.with_controls(design, controls)


def _beside(request: RegressOptions, columns: Sequence[str], samples: Sequence[str]) -> RegressOptions:
    """The regression of the answers in one column and in others of the same people."""
    response, sign, covariates = request.formula.partition("~")
    names = [column if column.isidentifier() else f"`{column}`" for column in columns]
    answers = " + ".join([response.strip(), *names])
    return replace(request, formula=f"{answers} {sign}{covariates}", sample=_JOINER.join(samples) or None)


_JOINER = "; "  # between the truths of several controls


def _say(fit: AnyRegression, request: RegressOptions, naive: AnyRegression | None) -> None:
    """The regression in the form that was asked for, and as a page; after it, the one without the control."""
    values_at = [_values(at_text) for at_text in request.at or ()]
    of_print: dict[str, Any] = {"confidence": request.confidence} | (
        {"at": values_at} if isinstance(fit, Regression) else {}
    )
    if request.format_ == "csv":
        for note in fit.reservations:
            output.note(note)
        output.say(fit.to_csv(request.confidence))
    elif request.format_ == "json":
        uncorrected = {} if naive is None else {"without_control": naive.to_dict(**of_print)}
        output.say(output.json_text(fit.to_dict(**of_print) | uncorrected))
    elif request.format_ == "latex":
        output.say(fit.to_latex(**of_print))
    else:
        output.say(fit.to_text(**of_print))
        if naive is not None:
            output.say(f"\n{options.NAIVE}\n\n{naive.to_text(**of_print)}")
    if request.html is not None:
        output.write(request.html, lambda: _page(fit, request.confidence, values_at))


def _page(fit: AnyRegression, confidence: float, at: Sequence[dict[str, Any]]) -> str:
    """The regression as a page of its own."""
    if isinstance(fit, Regression):
        return regression_html(fit, confidence=confidence, at=at)
    return html(
        fit.outcome.text if isinstance(fit, OutcomeRegression) else fit.data.formula.text,
        [Section("The numbers", fit.parts(confidence))],
    )


def _values(text: str) -> dict[str, Any]:
    """The values that ``--at age=40,gender=f`` gives."""
    name_value_pairs = [cell.partition("=") for cell in record_cells(text)]
    if not name_value_pairs or not all(column_name.strip() and sign for column_name, sign, _ in name_value_pairs):
        raise DataError(f"--at must be values by column, such as 'age=40,gender=f'; got {text!r}")
    return {column_name.strip(): _number(value_text.strip()) for column_name, _, value_text in name_value_pairs}


def _number(text: str) -> float | int | str:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _typed_frame(
    request: RegressOptions, source: pl.LazyFrame, response: list[str], variables: list[str], *, joint: bool
) -> pl.LazyFrame:
    """The frame with answers as text, covariates as numbers where they are, and amounts as numbers."""
    column_of_role = {
        role: column_name
        for role in ("count", "weight", "offset")
        if (column_name := getattr(request, role)) is not None
    }
    frame, truths = source, str(request.sample).split(_JOINER)
    if len(truths) > 1 and request.sample not in frame.collect_schema().names():
        frame = files.together(frame, truths, str(request.sample))
    level_columns = [column_name for column_name in (request.level, request.sample) if column_name is not None]
    files.check_columns(frame, [*response, *level_columns, *variables, *column_of_role.values()])
    if not joint and len(response) > 1 and len(response) == len(set(response)) and not level_columns:
        frame = files.as_booleans(frame, response)
    else:
        frame = files.as_text(frame, response)
    frame = files.as_text(frame, level_columns)
    for role, column_name in column_of_role.items():
        frame = files.as_numbers(frame, column_name, what="the offset" if role == "offset" else f"{role}s")
    return files.as_measured(frame, variables)
