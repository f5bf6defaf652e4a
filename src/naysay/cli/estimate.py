"""``naysay estimate``: the population from answers.

The answers come from a file, a survey's export, a tally or a survey's database; estimates go out as text, JSON, CSV and
a page.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from naysay import _checks, estimate, files, privacy, report
from naysay._values import Label
from naysay.collect.commands.database import Surveyed
from naysay.collect.results.answered import Answered, Plain, of_database, of_export, withheld_note
from naysay.console import options, output
from naysay.console.options import SamplingOptions, prepare_frame, with_labels
from naysay.console.output import takes
from naysay.design import Answerable
from naysay.designs import calibrated
from naysay.errors import DataError, in_group
from naysay.estimate import Estimate, PrintOptions, groups
from naysay.estimate.page import Basis, basis_of, measured_section
from naysay.estimate.paper import methods_texts
from naysay.estimate.registry import EstimatedName, IntervalName, estimators
from naysay.estimate.result import checks
from naysay.show import Sentence, text
from naysay.show.result import csv_text
from naysay.tally import Tally

if TYPE_CHECKING:
    import polars as pl

Fits = dict[Any, Estimate]

_MOST_COMPARED = 30  # groups up to which every difference is listed


@dataclass(frozen=True)
class Estimated:
    """What is estimated from what, and how it is told, as it is written on the command line."""

    file: Annotated[Path | None, options.DATA_FILE] = None
    response: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The answers. Sets: one column such as 'a;b', or this option once for each category, in their order, "
            "with columns of 0 and 1. Two questions: twice. Of a survey: a private question, or question/choice; "
            "without it all of them, one after the other.",
        ),
    ] = None
    design: Annotated[str | None, options.design_option] = None
    categories: options.Categories = None
    level: Annotated[str | None, options.column("The level that each respondent chose.")] = None
    sample: Annotated[str | None, options.column("The sample that each respondent was in, for several samples.")] = None
    count: options.Count = None
    control: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN: TRUTH",
            help="A control under the same design, and what is true there: a category; lot, which COLUMN_truth holds; "
            "file COLUMN; or shares, 'yes 0.2, no 0.8 of 400' people. Once for each control.",
        ),
    ] = None
    slips: Annotated[
        float, options.share("With --control: of those who comply, how many rule out by mistake what is true there.")
    ] = 0.0
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="People of whom the answer (column as --response) and the truth (column truth) are known: how people "
            "answer is estimated from them. With --design negative() nobody can name their own category.",
        ),
    ] = None
    by: Annotated[str | None, options.column("Groups, each estimated by itself, with their differences.")] = None
    estimator: Annotated[EstimatedName | None, typer.Option(metavar="METHOD", help=estimators(quantities=True))] = None
    target: Annotated[
        options.Target, typer.Option(help="file: the records themselves, where `naysay randomize` made the answers.")
    ] = "population"
    confidence: options.Confidence = 0.95
    interval: Annotated[
        IntervalName | None, typer.Option(help="By default the method whose coverage holds for this design.")
    ] = None
    standard_errors: Annotated[
        Literal["observed", "expected", "outer_product", "sandwich"] | None,
        typer.Option(help="Of maximum likelihood; observed by default, sandwich with weights."),
    ] = None
    noncompliance: Annotated[
        float,
        options.share(
            "People who may not comply, for the band of designs that report one label; of lists, who may hide."
        ),
    ] = PrintOptions().noncompliance
    noncompliers: Annotated[
        Literal["anyone", "alike"],
        typer.Option(help="Who they may be: anyone, such as carriers who hide; or people like everyone else."),
    ] = "anyone"
    ranks: Annotated[bool, typer.Option("--ranks", help="Also who leads, and which ranks each category may have.")] = (
        False
    )
    margin: Annotated[
        float, typer.Option(metavar="SHARE", help="With --ranks: to lead means by so much at least, such as 0.03.")
    ] = 0.0
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="ROWSxCOLUMNS",
            help="The categories are the cells of a map, r1c1 and so on: also the map and its errors, drawn in --html.",
        ),
    ] = None
    heat_map: Annotated[
        bool, typer.Option("--heat-map", help="With --by: also all groups as one map and its errors, drawn in --html.")
    ] = False
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False
    language: Annotated[
        str | None,
        typer.Option(
            metavar="TAG",
            help="Of a survey's labels, which are in json then, too. [default: the questionnaire's first]",
        ),
    ] = None
    html: options.Html = None
    methods_text: Annotated[
        bool,
        typer.Option(
            "--methods-text",
            help="Print a paragraph for a paper instead: numbers, assumptions, and references in BibTeX.",
        ),
    ] = False

    @property
    def plain_names(self) -> bool:
        """Whether answers are called by their names in the questionnaire: programs read these, people read labels."""
        return self.format_ != "table"

    @property
    def print_options(self) -> estimate.PrintOptions:
        """How each estimate is told."""
        return estimate.PrintOptions(self.confidence, self.interval, self.noncompliance, self.noncompliers)

    @property
    def fitted(self) -> dict[str, Any]:
        """How each estimate is made."""
        return {name: getattr(self, name) for name in ("estimator", "target", "standard_errors")}

    def named(self, *names: str) -> dict[str, str]:
        """Those of these options that are given."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class EstimateOptions(SamplingOptions, Surveyed, Estimated):
    """All options: of the estimate, then of the survey or the sample that it comes from."""

    @property
    def tells_all(self) -> bool:
        """Whether labels and direct questions are told; programs that read JSON get them if they name a language."""
        return not self.methods_text and (self.format_ != "json" or self.language is not None or self.survey is None)


@takes(EstimateOptions)
def command(request: EstimateOptions) -> None:
    """Estimate the population from what people answered.

    Reads a file with one row for each respondent (or, with --count, for each distinct answer). An empty cell is a
    missing answer: it is counted, and does not enter the estimate. Messages count the rows of data from 1; in a CSV
    file with a header, row 1 is line 2. In a file of SPSS or Stata answers and groups are value labels, counts and
    weights are the numbers themselves, and user-missing values are missing.

    A file of naysay tally (.tally) holds counts and their design, and needs no further option.

    With --survey the answers come from the survey's database, and the designs from the questionnaire as it was
    published; --by is then a direct question. Direct questions are told, too: shares, or where numbers lie. The export
    of a survey is read the same way, as long as its codebook lies beside it.

    \b
    Examples:
      naysay estimate answers.csv --response income \\
          --design "negative(discards=2)" --categories "low,middle,high,none"
      naysay estimate answers.csv --response doping --design "warner(p=0.7)" \\
          --by sport --weight weight --format json
      naysay estimate levels.csv --response income --level level \\
          --design "negative_levels()" --categories "low,middle,high,none"
      naysay estimate counts.csv --response income --count n \\
          --design design.json --estimator moments --interval wald
      naysay estimate samples.csv --response doping --sample sample \\
          --design "cheating_detection(p=(1/4, 3/4))"
      naysay estimate school.csv --response doping --design "warner(p=0.7)" \\
          --weight weight --strata region --cluster school --fpc schools
      naysay estimate sets.parquet --design design.json \\
          --response low --response middle --response high --response none
      naysay estimate answers.csv --response doping \\
          --design "warner(p=0.7)" --control "check: no"
      naysay estimate answers.csv --response doping --calibration known.csv
      naysay estimate crash.tally
      naysay estimate answers.csv --response doping \\
          --design "warner(p=0.7)" --methods-text
      naysay estimate --survey sample --response income --by area
      naysay estimate --survey sample --html estimates.html
    """
    _checks.confidence(request.confidence)
    if request.methods_text and request.format_ != "table":
        raise DataError(f"--methods-text is a text; leave --format {request.format_} out")
    if request.slips and not request.control:
        raise DataError("--slips is about a control; add --control COLUMN: TRUTH")
    if request.margin and not request.ranks:
        raise DataError("--margin says what it means to lead; add --ranks")
    if request.ranks and (request.format_ == "csv" or request.methods_text):
        raise DataError("--ranks is a second table; use --format table or json")
    if request.grid is not None and (request.format_ == "csv" or request.methods_text):
        raise DataError("--grid is a second table; use --format table or json")
    if request.heat_map and request.by is None:
        raise DataError("--heat-map has a row for each group; add --by COLUMN")
    if request.heat_map and (request.format_ == "csv" or request.methods_text):
        raise DataError("--heat-map is a second table; use --format table or json")
    output.check(request.html)
    if request.grid is not None and request.design is not None and request.categories is None:
        request = replace(request, categories=",".join(_grid(request.grid).cells))
    if request.survey is not None:
        _say_survey(request, _survey(request))
        return
    if request.file is None:
        raise DataError("give FILE, or --survey NAME; see naysay estimate --help")
    if request.file.suffix == options.TALLY_SUFFIX:
        tally_question, fits = _of_tally(request, request.file)
        output.write(request.html, lambda: page_of(None, {tally_question: fits}, request, by=None))
        _say(fits, request)
        return
    # with weights or a complex sample, which a researcher adds to an export, one question is estimated as of any file
    has_sample_options = request.response is not None and request.named("count", "weight", "strata", "cluster", "fpc")
    exported_answers = (
        None if request.design is not None or has_sample_options else _answers_of_export(request, request.file)
    )
    if exported_answers is not None:
        _say_survey(request, exported_answers)
        return
    if not request.response:
        raise DataError("--response COLUMN is missing: the column of FILE with the answers")
    file, response = request.file, request.response
    if request.calibration is not None:
        design = _calibrated(request, request.calibration, response[0])
    else:
        request, design = options.options_and_design(request, file, response[0])
    truth_columns = []
    if request.control:
        controls = [options.control_of(control_text) for control_text in request.control]
        truth_columns = [control.truth_column for control in controls if control.truth_column is not None]
        if request.sample is not None:
            raise DataError("leave --sample out: with --control the samples are the truths of the controls")
        request = replace(request, sample="; ".join(truth_columns) or None)
        response = [*response, *(control.column for control in controls)]
        design = options.with_controls(design, controls, slips=request.slips)
    fits = _of_file(request, file, response, design, truth_columns)
    question_name = response[0]
    output.write(request.html, lambda: page_of(None, {question_name: fits}, request, by=request.by))
    _say(fits, request)


def _calibrated(request: EstimateOptions, path: Path, response: str) -> Answerable:
    """How people answer, from a file in which their truth is known."""
    if request.control or request.level is not None or request.sample is not None:
        raise DataError("--calibration is for one question; leave --control, --level and --sample out")
    frame = files.scan(path, separator=request.separator, encoding=request.encoding)
    columns = [response, "truth"]
    with files.readable(path):
        files.check_columns(frame, columns)
        people = files.as_text(frame, columns).select(columns).drop_nulls().collect()
    known, said = people["truth"], people[response]
    categories = sorted(known.unique()) if request.categories is None else options.record_cells(request.categories)
    record = csv_text([categories]).strip() if request.categories is None else request.categories
    design = None if request.design is None else options.design_of(request.design, record)
    is_negative = design is not None and np.array_equal(
        design.channel().matrix > 0, ~np.eye(len(categories), dtype=bool)
    )
    if design is not None and not is_negative:
        raise DataError(
            "with --calibration leave --design out, or give negative(): then nobody names their own category"
        )
    responses = categories if set(said) <= set(categories) else sorted(said.unique())
    counts = [[int(((known == category) & (said == label)).sum()) for category in categories] for label in responses]
    if unknown := set(known) - set(categories):
        raise DataError(f"column 'truth' of {path.name} holds {_checks.listing_text(sorted(unknown))}: no category")
    return calibrated(
        counts, categories=categories, responses=None if responses == categories else responses, negative=is_negative
    )


def _answers_of_export(request: EstimateOptions, file: Path) -> Answered | None:
    """The answers in the export of a survey; None where the file is none."""
    book = files.codebook_of(file)
    if book is None or (request.by is not None and request.response and request.by not in book.columns):
        return None  # groups may be a column that a release keeps beside those that its codebook describes
    randomizations = [book.columns[name].asked for name in request.response or () if name in book.columns]
    others = ("ranges", "heavy_hitters")
    if any(entry is not None and entry.design.structure.estimates in others for entry in randomizations):
        return None  # of numbers quantiles are estimated; values without a list have a command of their own
    column_names = [*(request.response or ()), *([request.by] if request.by and request.response else [])]
    names = request.plain_names or request.codes
    return of_export(file, names=names, separator=request.separator, encoding=request.encoding, columns=column_names)


def _of_file(
    request: EstimateOptions, file: Path, response: Sequence[str], design: Answerable, truth_columns: Sequence[str] = ()
) -> Fits:
    """The estimates from a file of answers; several columns of truths make one sample each combination."""
    _check_roles(request, design, response)
    amount_columns = list(request.named("count", "weight", "fpc").values())
    frame = files.scan(
        file, separator=request.separator, encoding=request.encoding, codes=request.codes or amount_columns
    )
    if request.sample is not None and len(truth_columns) > 1:
        frame = files.together(frame, truth_columns, request.sample)
    sampling = request.sampling(frame)
    with files.readable(file), with_labels(design, file, response, encoding=request.encoding, codes=request.codes):
        if request.control:
            controls = [options.control_of(control_text) for control_text in request.control]
            options.check_controls(response[:1], controls, frame.collect_schema().names())
        options.note_words(frame, response, design)
        tally = design.tally(
            prepare_frame(_typed_frame(request, frame, response, sets=len(response) > design.space.answers), sampling),
            response[0] if len(response) == 1 else response,
            level=request.level,
            sample=request.sample,
            weights=request.weight if sampling is None else None,
            sampling=sampling,
            count=request.count,
            by=request.by,
        )
    return _fits(design, tally, request)


def _of_tally(request: EstimateOptions, file: Path) -> tuple[str, Fits]:
    """The name of the question that a tally file is about, and the estimate from it."""
    column_options = request.named("level", "sample", "count", "by", "weight", "strata", "cluster", "fpc")
    for option_name in [*(["response"] if request.response else []), *column_options]:
        raise DataError(f"leave --{option_name} out: a tally has no columns")
    tally = Tally.load(file)
    if request.design is None and not (len(tally.parts) == 1 and tally.categories):
        raise DataError("name the --design of this tally: levels, and the texts of an open domain, are not in the file")
    design = tally.parts[0].design if request.design is None else options.design_of(request.design, request.categories)
    return tally.question or file.stem, _fits(design, tally, request)


def _fits(design: Answerable, tallies: Any, request: EstimateOptions) -> Fits:
    """The estimate of each group, or of all."""
    estimator = _estimator(request, design)
    fits = {}
    for group, group_tally in (tallies if isinstance(tallies, dict) else {None: tallies}).items():
        with in_group(group):
            fits[group] = estimator.fit(design, group_tally, request.target, standard_errors=request.standard_errors)
    return fits


def _estimator(request: EstimateOptions, design: Answerable) -> Any:
    """The estimator or the quantity that is asked for, or that the design's answers are for."""
    estimator_name = request.estimator
    quantity = estimate.default_quantity(design) if estimator_name is None else estimate.QUANTITIES.get(estimator_name)
    if quantity is None:
        return estimate.default(design) if estimator_name is None else estimate.ESTIMATORS[estimator_name]
    if request.interval is not None:
        raise DataError(f"{quantity.name} has intervals of one kind only; leave --interval out")
    return quantity


def _survey(request: EstimateOptions) -> Answered:
    """The answers in a survey's database, after checking that nothing is asked of them that the survey says."""
    if request.file is not None:
        raise DataError(f"answers come from a FILE or from a --survey; got both, {str(request.file)!r} and a survey")
    answered = of_database(request.replies(), names=request.plain_names, language=request.language, by=request.by)
    for question in answered.withheld:
        output.note(withheld_note(question))
    return answered


def _say_survey(request: EstimateOptions, answered: Answered) -> None:
    """Estimates of a survey: of one question, or of all in turn, private ones before plain ones."""
    for option_name in request.named("design", "categories", "level", "sample", "count"):
        raise DataError(f"leave --{option_name} out: the published questionnaire says it")
    sample_options = request.named("weight", "strata", "cluster", "fpc", "replicates", "replicate_kind", "totals")
    for option_name in sample_options:
        raise DataError(f"leave --{option_name.replace('_', '-')} out: a survey on the web has no such columns")
    if request.response and len(request.response) > 1:
        raise DataError("give one --response, or none to estimate every question in turn")
    question_names = request.response or [*answered.private, *(answered.plain if request.tells_all else [])]
    if not question_names:
        raise DataError(f"survey {answered.book.survey!r} has no private question; name one with --response")
    if len(question_names) > 1 and request.format_ == "csv":
        raise DataError(f"csv holds one question; name it with --response: {_checks.listing_text(question_names)}")
    results_of_question: dict[str, Any] = {}
    for question_name in question_names:
        if not request.response and answered.cells.replies and not answered.answers(question_name):
            output.note(f"nobody has answered {question_name!r}")
        elif answered.entry(question_name).asked is None and request.methods_text:
            raise DataError(f"--methods-text is for private questions; {question_name!r} was asked directly")
        elif answered.entry(question_name).asked is None:
            results_of_question[question_name] = answered.plain_summaries(
                question_name, request.by if request.by != question_name else None, request.confidence
            )
        else:
            question_results = answered.estimates(question_name, request.by, **request.fitted)
            if request.methods_text and not request.response and not _are_estimates(question_results):
                output.note(f"{question_name!r} has no shares of categories, and no methods text")
            else:
                results_of_question[question_name] = question_results
    if request.html is not None:
        output.write(request.html, lambda: page_of(answered, results_of_question, request, by=request.by))
    if request.format_ == "csv":
        [question_results] = results_of_question.values()
        output.say(
            _csv(question_results, request)
            if _are_estimates(question_results)
            else plain_csv(question_results, by=request.by)
        )
        return
    if request.methods_text:
        output.say(_methods(results_of_question, request))
        return
    if request.format_ == "table":
        question_texts = (
            _text(question_results, request)
            if _are_estimates(question_results)
            else plain_text(question_results, by=request.by)
            for question_results in results_of_question.values()
        )
        output.say("\n\n\n".join(question_texts))
        return
    object_of_question = {
        question_name: _add_labels(_object(question_results, request), request, answered, question_name)
        if _are_estimates(question_results)
        else plain_object(question_results, by=request.by)
        for question_name, question_results in results_of_question.items()
    }
    if request.response:
        output.say(output.json_text(object_of_question[question_names[0]]))
        return
    question_objects = [
        {"question": question_name, **object_of_question[question_name]}
        for question_name in object_of_question
        if _are_estimates(results_of_question[question_name])
    ]
    survey_content = {"survey": answered.book.survey, "questions": question_objects}
    plain_objects = [
        object_of_question[question_name]
        for question_name in object_of_question
        if not _are_estimates(results_of_question[question_name])
    ]
    output.say(output.json_text(survey_content | ({"plain": plain_objects} if request.tells_all else {})))


def _are_estimates(results_of_group: Fits) -> bool:
    """Whether these are estimates, and not what people said to a plain question."""
    return all(isinstance(result, Estimate) for result in results_of_group.values())


def _add_labels(content: dict[str, Any], request: EstimateOptions, answered: Answered, name: str) -> dict[str, Any]:
    """The object of an estimate, where they are asked for with what its categories are called beside their names."""
    if not request.tells_all:
        return content
    label_of_category = answered.book.columns[name].labels
    for group_object in content.get("groups", [content]):
        group_object["labels"] = [
            label_of_category.get(str(category), str(category)) for category in group_object["categories"]
        ]
    return content


def _check_roles(request: EstimateOptions, design: Answerable, response: Sequence[str]) -> None:
    """Raise unless the columns are those that the design needs, each named once."""
    named_columns = [
        *response,
        *request.named("level", "sample", "count", "weight", "strata", "cluster", "fpc").values(),
    ]
    repeated_column = _checks.repeated(named_columns)
    if repeated_column is not None:
        raise DataError(f"column {repeated_column!r} is named twice; each column has one role", column=repeated_column)
    if request.by in named_columns:
        raise DataError(
            f"--by {request.by} would put people into groups by what they answered, or by what says how; name a column "
            "that says something else of them",
            column=request.by,
        )
    design_call = design.name or design.kind
    if design.structure.estimates == "heavy_hitters":
        raise DataError(f"{design_call} has no list of categories; find its values with naysay heavy-hitters")
    level_texts = {
        "respondent": "the level that each respondent chose",
        "lot": "the level that was drawn for each respondent",
    }
    if design.offer.assigned_by in level_texts and request.level is None:
        raise DataError(f"{design_call} needs --level COLUMN: {level_texts[design.offer.assigned_by]}")
    if design.offer.assigned_by not in level_texts and request.level is not None:
        raise DataError(f"{design_call} offers no levels; leave --level out, or use a design such as negative_levels()")
    if design.offer.assigned_by == "researcher" and request.sample is None:
        raise DataError(f"{design_call} needs --sample COLUMN: the sample that each respondent was in")
    if design.offer.assigned_by != "researcher" and request.sample is not None:
        raise DataError(f"{design_call} has one sample only; leave --sample out")
    t = len(design.categories)
    if design.space.answers == 2 and len(response) != 2:
        raise DataError(f"{design_call} takes two answers; give --response twice, got {len(response)}")
    if design.space.answers == 1 and len(response) not in (1, t):
        raise DataError(f"give --response once, or once for each of the {t} categories; got {len(response)}")


def _typed_frame(request: EstimateOptions, frame: pl.LazyFrame, response: Sequence[str], *, sets: bool) -> pl.LazyFrame:
    """The frame with answers, levels and groups as text, sets in columns as booleans, counts and weights as numbers."""
    files.check_columns(frame, [*response, *request.named("level", "sample", "count", "weight", "by").values()])
    if sets:
        frame = files.as_booleans(frame, response)
    text_columns = [*([] if sets else response), *request.named("level", "sample", "by").values()]
    frame = files.as_text(frame, list(dict.fromkeys(text_columns)))
    for role, column_name in request.named("count", "weight").items():
        frame = files.as_numbers(frame, column_name, what=f"{role}s")
    return frame


def _say(fits: Fits, request: EstimateOptions) -> None:
    writer_of_format = {"table": _text, "json": lambda fits, asked: output.json_text(_object(fits, asked)), "csv": _csv}
    output.say(writer_of_format[request.format_](fits, request))


def _text(fits: Fits, request: EstimateOptions) -> str:
    if request.methods_text:
        return _methods({None: fits}, request)
    group_texts = []
    for group, fit in fits.items():
        group_head = f"{request.by} = {'(missing)' if group is None else group}\n" if request.by is not None else ""
        group_texts.append(group_head + text(fit.parts(request.print_options)))
        if request.ranks:
            group_texts.append(str(_ranks(fit, request)))
        if request.grid is not None:
            group_texts.append(str(_grid(request.grid).heat_map(fit, confidence=request.confidence)))
    if len(fits) > 1 and _are_estimates(fits):
        group_texts.append(groups.differences_text(estimate.differences(fits), request.confidence, most=_MOST_COMPARED))
    return "\n\n".join([*group_texts, *map(str, _heat_maps(fits, request))])


def _heat_maps(results: Mapping[Any, Any], request: EstimateOptions) -> list[estimate.HeatMap]:
    """The heat map of all groups, where it is asked for."""
    if not (request.heat_map and request.by):
        return []
    if not all(isinstance(result, Estimate) for result in results.values()):
        raise DataError("--heat-map shows shares of categories, and this design estimates none; leave it out")
    named_fits = {"(missing)" if group is None else str(group): fit for group, fit in results.items()}
    with contextlib.suppress(ValueError):  # hours stand in the order of numbers
        named_fits = dict(sorted(named_fits.items(), key=lambda named_fit: float(named_fit[0])))
    return [estimate.heat_map(named_fits, name=request.by, confidence=request.confidence)]


def _methods(fits_of_question: Mapping[Any, Fits], request: EstimateOptions) -> str:
    """The paragraphs for a paper of all questions and groups, then whether groups differ, and every reference once."""
    named_fits = [
        (_group(request.by, group) if request.by is not None else "", fit)
        for fits in fits_of_question.values()
        for group, fit in fits.items()
    ]
    compared = [
        f"{'' if question_name is None else f'“{question_name}”: '}{estimate.differences(fits)}"
        for question_name, fits in fits_of_question.items()
        if len(fits) > 1
    ]
    return methods_texts(named_fits, request.print_options, compared)


def _object(fits: Fits, request: EstimateOptions) -> dict[str, Any]:
    """The estimates as a JSON object."""
    object_of_group = {group: _plain(fit, request) for group, fit in fits.items()}
    if request.by is None:
        return dict(object_of_group[None])
    json_content: dict[str, Any] = {
        "groups": [{"group": group} | group_object for group, group_object in object_of_group.items()]
    }
    if len(fits) > 1 and _are_estimates(fits):
        group_differences = estimate.differences(fits)
        json_content["differences"] = groups.differences_dict(
            group_differences, request.confidence, most=_MOST_COMPARED
        )
    for heat_map in _heat_maps(fits, request):
        json_content["map"] = heat_map.to_dict()
    return json_content


def _plain(fit: Any, request: EstimateOptions) -> dict[str, Any]:
    """One estimate, of proportions or of a quantity, as a JSON object."""
    numbers = dict(fit.to_dict(options=request.print_options))
    numbers |= {"ranks": _ranks(fit, request).to_dict()} if request.ranks else {}
    return numbers | (
        {"map": _grid(request.grid).heat_map(fit, confidence=request.confidence).to_dict()}
        if request.grid is not None
        else {}
    )


def _grid(text: str) -> estimate.Grid:
    """The grid that ``--grid`` names."""
    rows, _, columns = text.lower().partition("x")
    if not (rows.strip().isdecimal() and columns.strip().isdecimal()):
        raise DataError(f"--grid takes rows and columns, such as 8x8; got {text!r}")
    return estimate.Grid(int(rows), int(columns))


def _ranks(fit: Any, request: EstimateOptions) -> estimate.Ranks:
    """The ranks of an estimate of shares."""
    if not isinstance(fit, Estimate):
        raise DataError("--ranks needs shares of categories, and this estimate has none")
    return fit.ranks(request.confidence, margin=request.margin)


def _csv(fits: Fits, request: EstimateOptions) -> str:
    """The numbers as CSV; what a reader must know beside them goes to stderr."""
    write_csv: Any = estimates_csv if _are_estimates(fits) else measured_csv
    return str(write_csv(fits, request.print_options, by=request.by))


_CSV = ("category", "proportion", "standard_error", "low", "high", "n", "missing")
_CSV_NAMED = ("design", "method", "target", "standard_error_kind", "confidence", "interval_method")
_CSV_LEVELS = [
    f"{estimate_name}{end}"
    for estimate_name in ("stratified", "pooled", "difference")
    for end in ("", "_standard_error")
]

_NUMBERS = ("quantity", "estimate", "standard_error", "low", "high")
_BESIDE = ("n", "missing", "design", "method", "target")


def measured_csv(fits: Mapping[Any, Any], options: PrintOptions, *, by: str | None) -> str:
    """The numbers of each group; what a reader must know beside them goes to stderr."""
    csv_rows: list[list[Any]] = [[*(["group"] if by else []), *_NUMBERS, *_BESIDE]]
    for group, fit in fits.items():
        content = fit.to_dict(options=options)
        beside_cells = [content[field_name] for field_name in _BESIDE]
        shares = content.get("ranges", [])
        csv_rows += [
            [*([group] if by else []), *numbers.values(), *beside_cells] for numbers in [*content["estimates"], *shares]
        ]
        for note_line in (*privacy.lines(fit.design), *content["warnings"]):
            output.note(f"{by} = {group}: {note_line}" if by else note_line)
    return csv_text(csv_rows)


def estimates_csv(fits: Mapping[Any, Estimate], options: PrintOptions, *, by: str | None) -> str:
    """The numbers of each group; what a reader must know beside them goes to stderr."""
    design = next(iter(fits.values())).design
    level_columns = _CSV_LEVELS if design.offer.assigned_by == "respondent" else []
    csv_rows = [[*(["group"] if by else []), *_CSV, *level_columns, *_CSV_NAMED]]
    for note_line in privacy.lines(design):
        output.note(note_line)
    for group, fit in fits.items():
        content = fit.to_dict(options=options)
        for row_name, row_numbers, beside_cells in _rows(fit, content, level_columns):
            row_cells = [
                row_name,
                *row_numbers,
                content["n"],
                content["missing"],
                *beside_cells,
                *(content[field_name] for field_name in _CSV_NAMED),
            ]
            csv_rows.append([*([group] if by else []), *row_cells])
        test_lines = [str(fit.comparison.test)] if fit.comparison is not None else []
        for note_line in [*test_lines, *checks(fit, options), *content["warnings"]]:
            output.note(f"{by} = {group}: {note_line}" if by else note_line)
    if len(fits) > 1:
        output.note(str(estimate.differences(fits)))
    return csv_text(csv_rows)


def _rows(
    fit: Estimate, content: dict[str, Any], compared: Sequence[str]
) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Each category, then each nuisance parameter: its name, its numbers, and those of the levels beside them."""
    for category_place, category in enumerate(fit.categories):
        row_numbers = [
            content["proportions"][category_place],
            content["standard_errors"][category_place],
            *content["intervals"][category_place],
        ]
        level_fields = content.get("levels", {})  # a column holds one of the errors that JSON lists under their plural
        beside_cells = [
            level_fields[column_name.replace("error", "errors")][category_place]
            for column_name in compared
            if level_fields
        ]
        yield _checks.label(category), row_numbers, beside_cells
    for parameter_name, parameter in content.get("nuisance", {}).items():
        yield parameter_name, [parameter["estimate"], parameter["standard_error"], *parameter["interval"]], []


def plain_text(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> str:
    """The tables of a plain question, one below the other."""
    return "\n\n".join(
        (f"{_group(by, group)}\n" if by and group is not None else "") + str(plain)
        for group, plain in plain_of_group.items()
    )


def plain_object(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> dict[str, Any]:
    """What was said to a plain question as a JSON object."""
    if by is None:
        return plain_of_group[None].to_dict()
    return {"groups": [{"group": group} | plain.to_dict() for group, plain in plain_of_group.items()]}


def plain_csv(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> str:
    """What was said to a plain question as CSV."""
    if by is None:
        return plain_of_group[None].to_csv()
    head_row = ["group", *next(iter(plain_of_group.values())).records().names]
    group_rows = [[group, *row] for group, plain in plain_of_group.items() for row in plain.records().rows]
    return csv_text([head_row, *group_rows])


def page_of(
    answered: Answered | None, results: Mapping[str, Mapping[Any, Any]], request: EstimateOptions, *, by: str | None
) -> str:
    """All estimates, and what was said to plain questions, as one page."""
    page_sections = [
        page_section
        for question_results in results.values()
        for page_section in _sections(question_results, request, by, alone=answered is None and len(results) == 1)
    ]
    first_result = next(iter(next(iter(results.values())).values()))
    page_title = answered.book.title if answered is not None else first_result.tally.question or next(iter(results))
    n = (
        answered.cells.replies
        if answered is not None
        else sum(result.n for result in next(iter(results.values())).values())
    )
    lead_lines = [] if answered is None else [f"Survey {answered.book.survey}, hash {answered.book.hash}"]
    return report.html(
        page_title, page_sections, lead=lead_lines, facts=[(f"{n:,}", "replies" if answered else "answers")], flow=True
    )


def _sections(
    results_of_group: Mapping[Any, Any], request: EstimateOptions, by: str | None, *, alone: bool
) -> Iterator[report.Section]:
    """The sections of a question. Where it is alone on the page, which has its name, the finding is the heading."""
    options = request.print_options
    for heat_map in _heat_maps(results_of_group, request) if by is not None else ():
        yield report.Section("Map of all groups", heat_map.parts())
    fits = {group: result for group, result in results_of_group.items() if isinstance(result, Estimate)}
    shared = (
        functools.reduce(Basis.shared, (basis_of(fit, options) for fit in fits.values())) if len(fits) > 1 else None
    )
    for group, result in results_of_group.items():
        is_group = by is not None and (group is not None or len(results_of_group) > 1)
        group_text = _group(by, group) if is_group else ""
        if request.grid is not None and isinstance(result, Estimate | estimate.Measured):
            heading = " · ".join(filter(None, ["Map", group_text]))
            yield report.Section(heading, _grid(request.grid).heat_map(result, confidence=request.confidence).parts())
        if isinstance(result, Estimate):
            question_names = [] if alone and not shared else [result.tally.question or result.design.name]
            names = [*question_names, group_text]
            section_heading = " · ".join(filter(None, names)) or None
            yield report.estimate_section(result, heading=section_heading, options=options, elsewhere=shared)
            if request.ranks:
                yield report.Section(" · ".join(filter(None, ["Ranks", group_text])), _ranks(result, request).parts())
        elif isinstance(result, estimate.Measured):
            question_names = [] if alone else [result.tally.question or result.design.name]
            section_heading = " · ".join(filter(None, [*question_names, group_text])) or None
            yield measured_section(result, heading=section_heading, options=options)
        else:
            names = [] if alone else [result.question]
            section_heading = " · ".join(filter(None, [*names, group_text])) or None
            finding = result.finding()
            content = result.body() if section_heading is None else [Sentence(finding), *result.body()]
            yield report.Section(section_heading or finding, content)
    if shared is not None:
        yield report.Section("The same for each group", shared.content())
        group_differences = estimate.differences(fits)
        yield report.Section(
            "Differences",
            groups.differences_content(group_differences, options.confidence, most=_MOST_COMPARED, percent=True),
        )


def _group(by: str | None, group: Label | None) -> str:
    return f"{by} = {'(missing)' if group is None else group}"
