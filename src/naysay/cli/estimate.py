"""``naysay estimate``: the population from a file of answers, or from a survey's database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from naysay import _checks, estimate, files
from naysay.cli.estimated_csv import estimates_csv, measured_csv
from naysay.cli.surveyed_page import page_of, plain_csv, plain_object, plain_text
from naysay.cli.tally import SUFFIX
from naysay.collect.commands.database import Surveyed
from naysay.collect.results.answered import Answered, of_database, of_export
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.methods import EstimatedName, IntervalName, estimators
from naysay.console.options import SamplingOptions, prepare_frame, with_labels
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate import Estimate, printing
from naysay.tally import Tally
from naysay.tally.tally import in_group

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
        float, options.share("People who may not comply, for the band of designs that report one label.")
    ] = printing.NONCOMPLIANCE
    noncompliers: Annotated[
        Literal["anyone", "alike"],
        typer.Option(help="Who they may be: anyone, such as carriers who hide; or people like everyone else."),
    ] = "anyone"
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

    @property
    def plain_names(self) -> bool:
        """Whether answers are called by their names in the questionnaire: programs read these, people read labels."""
        return self.format_ != "table"

    @property
    def print_options(self) -> estimate.Options:
        """How each estimate is told."""
        return estimate.Options(self.confidence, self.interval, self.noncompliance, self.noncompliers)

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
        return self.format_ != "json" or self.language is not None or self.survey is None


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
      naysay estimate crash.tally
      naysay estimate --survey sample --response income --by area
      naysay estimate --survey sample --html estimates.html
    """
    _checks.confidence(request.confidence)
    output.check(request.html)
    if request.survey is not None:
        _say_survey(request, _survey(request))
        return
    if request.file is None:
        raise DataError("give FILE, or --survey NAME; see naysay estimate --help")
    if request.file.suffix == SUFFIX:
        tally_question, fits = _of_tally(request, request.file)
        output.write(request.html, lambda: page_of(None, {tally_question: fits}, request.print_options, by=None))
        _say(fits, request)
        return
    # with weights or a complex sample, which a researcher adds to an export, one question is estimated as of any file
    weighed = request.response is not None and request.named("count", "weight", "strata", "cluster", "fpc")
    exported = None if request.design is not None or weighed else _answers_of_export(request, request.file)
    if exported is not None:
        _say_survey(request, exported)
        return
    if not request.response:
        raise DataError("--response COLUMN is missing: the column of FILE with the answers")
    file, response = request.file, request.response
    request, design = options.options_and_design(request, file, response[0])
    fits = _of_file(request, file, response, design)
    question = response[0]
    output.write(request.html, lambda: page_of(None, {question: fits}, request.print_options, by=request.by))
    _say(fits, request)


def _answers_of_export(request: EstimateOptions, file: Path) -> Answered | None:
    """The answers in the export of a survey; None where the file is none."""
    columns = [*(request.response or ()), *([request.by] if request.by and request.response else [])]
    names = request.plain_names or request.codes
    return of_export(file, names=names, separator=request.separator, encoding=request.encoding, columns=columns)


def _of_file(request: EstimateOptions, file: Path, response: Sequence[str], design: Answerable) -> Fits:
    """The estimates from a file of answers."""
    _check_roles(request, design, response)
    amounts = list(request.named("count", "weight", "fpc").values())
    frame = files.scan(file, separator=request.separator, encoding=request.encoding, codes=request.codes or amounts)
    sampling = request.sampling(frame)
    with files.readable(file), with_labels(design, file, response, encoding=request.encoding, codes=request.codes):
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
    columns = request.named("level", "sample", "count", "by", "weight", "strata", "cluster", "fpc")
    for option in [*(["response"] if request.response else []), *columns]:
        raise DataError(f"leave --{option} out: a tally has no columns")
    tally = Tally.load(file)
    if request.design is None and not (len(tally.parts) == 1 and tally.categories):
        raise DataError("name the --design of this tally: levels, and the texts of an open domain, are not in the file")
    design = tally.parts[0].design if request.design is None else options.design_of(request.design, request.categories)
    return tally.question or file.stem, _fits(design, tally, request)


def _fits(design: Answerable, tallies: Any, request: EstimateOptions) -> Fits:
    """The estimate of each group, or of all."""
    estimator = _estimator(request, design)
    fits = {}
    for group, tally in (tallies if isinstance(tallies, dict) else {None: tallies}).items():
        with in_group(group):
            fits[group] = estimator.fit(design, tally, request.target, standard_errors=request.standard_errors)
    return fits


def _estimator(request: EstimateOptions, design: Answerable) -> Any:
    """The estimator or the quantity that is asked for, or that the design's answers are for."""
    name = request.estimator
    quantity = estimate.default_quantity(design) if name is None else estimate.QUANTITIES.get(name)
    if quantity is None:
        return estimate.default(design) if name is None else estimate.ESTIMATORS[name]
    if request.interval is not None:
        raise DataError(f"{quantity.name} has intervals of one kind only; leave --interval out")
    return quantity


def _survey(request: EstimateOptions) -> Answered:
    """The answers in a survey's database, after checking that nothing is asked of them that the survey says."""
    if request.file is not None:
        raise DataError(f"answers come from a FILE or from a --survey; got both, {str(request.file)!r} and a survey")
    return of_database(request.replies(), names=request.plain_names, language=request.language)


def _say_survey(request: EstimateOptions, answered: Answered) -> None:
    """Estimates of a survey: of one question, or of all in turn, private ones before plain ones."""
    for option in request.named("design", "categories", "level", "sample", "count"):
        raise DataError(f"leave --{option} out: the published questionnaire says it")
    sample_options = request.named("weight", "strata", "cluster", "fpc", "replicates", "replicate_kind", "totals")
    for option in sample_options:
        raise DataError(f"leave --{option.replace('_', '-')} out: a survey on the web has no such columns")
    if request.response and len(request.response) > 1:
        raise DataError("give one --response, or none to estimate every question in turn")
    names = request.response or [*answered.private, *(answered.plain if request.tells_all else [])]
    if not names:
        raise DataError(f"survey {answered.book.survey!r} has no private question; name one with --response")
    if len(names) > 1 and request.format_ == "csv":
        raise DataError(f"csv holds one question; name it with --response: {_checks.listing_text(names)}")
    results: dict[str, Any] = {}
    for name in names:
        if not request.response and answered.cells.replies and not answered.answers(name):
            output.note(f"nobody has answered {name!r}")
        elif answered.entry(name).asked is None:
            results[name] = answered.plain_summaries(
                name, request.by if request.by != name else None, request.confidence
            )
        else:
            results[name] = answered.estimates(name, request.by, **request.fitted)
    if request.html is not None:
        output.write(request.html, lambda: page_of(answered, results, request.print_options, by=request.by))
    if request.format_ == "csv":
        [question_results] = results.values()
        output.say(
            _csv(question_results, request)
            if _are_estimates(question_results)
            else plain_csv(question_results, by=request.by)
        )
        return
    if request.format_ == "table":
        texts = (
            _text(question_results, request)
            if _are_estimates(question_results)
            else plain_text(question_results, by=request.by)
            for question_results in results.values()
        )
        output.say("\n\n\n".join(texts))
        return
    objects = {
        name: _add_labels(_object(question_results, request), request, answered, name)
        if _are_estimates(question_results)
        else plain_object(question_results, by=request.by)
        for name, question_results in results.items()
    }
    if request.response:
        output.say(output.json_text(objects[names[0]]))
        return
    questions = [{"question": name, **objects[name]} for name in objects if _are_estimates(results[name])]
    content = {"survey": answered.book.survey, "questions": questions}
    plain_objects = [objects[name] for name in objects if not _are_estimates(results[name])]
    output.say(output.json_text(content | ({"plain": plain_objects} if request.tells_all else {})))


def _are_estimates(results_of_group: Fits) -> bool:
    """Whether these are estimates, and not what people said to a plain question."""
    return all(isinstance(result, Estimate) for result in results_of_group.values())


def _add_labels(content: dict[str, Any], request: EstimateOptions, answered: Answered, name: str) -> dict[str, Any]:
    """The object of an estimate, where they are asked for with what its categories are called beside their names."""
    if not request.tells_all:
        return content
    labels = answered.book.columns[name].labels
    for group in content.get("groups", [content]):
        group["labels"] = [labels.get(str(category), str(category)) for category in group["categories"]]
    return content


def _check_roles(request: EstimateOptions, design: Answerable, response: Sequence[str]) -> None:
    """Raise unless the columns are those that the design needs, each named once."""
    named = [*response, *request.named("level", "sample", "count", "weight", "strata", "cluster", "fpc").values()]
    twice = next((name for place, name in enumerate(named) if name in named[:place]), None)
    if twice is not None:
        raise DataError(f"column {twice!r} is named twice; each column has one role", column=twice)
    call = design.name or design.kind
    if design.estimates == "heavy_hitters":
        raise DataError(f"{call} has no list of categories; find its values with naysay heavy-hitters")
    levels = {
        "respondent": "the level that each respondent chose",
        "lot": "the level that was drawn for each respondent",
    }
    if design.assigned_by in levels and request.level is None:
        raise DataError(f"{call} needs --level COLUMN: {levels[design.assigned_by]}")
    if design.assigned_by not in levels and request.level is not None:
        raise DataError(f"{call} offers no levels; leave --level out, or use a design such as negative_levels()")
    if design.assigned_by == "researcher" and request.sample is None:
        raise DataError(f"{call} needs --sample COLUMN: the sample that each respondent was in")
    if design.assigned_by != "researcher" and request.sample is not None:
        raise DataError(f"{call} has one sample only; leave --sample out")
    t = len(design.categories)
    if design.space.answers == 2 and len(response) != 2:
        raise DataError(f"{call} takes two answers; give --response twice, got {len(response)}")
    if design.space.answers == 1 and len(response) not in (1, t):
        raise DataError(f"give --response once, or once for each of the {t} categories; got {len(response)}")


def _typed_frame(request: EstimateOptions, frame: pl.LazyFrame, response: Sequence[str], *, sets: bool) -> pl.LazyFrame:
    """The frame with answers, levels and groups as text, sets in columns as booleans, counts and weights as numbers."""
    files.check_columns(frame, [*response, *request.named("level", "sample", "count", "weight", "by").values()])
    if sets:
        frame = files.as_booleans(frame, response)
    texts = [*([] if sets else response), *request.named("level", "sample", "by").values()]
    frame = files.as_text(frame, list(dict.fromkeys(texts)))
    for role, name in request.named("count", "weight").items():
        frame = files.as_numbers(frame, name, what=f"{role}s")
    return frame


def _say(fits: Fits, request: EstimateOptions) -> None:
    writers = {"table": _text, "json": lambda fits, asked: output.json_text(_object(fits, asked)), "csv": _csv}
    output.say(writers[request.format_](fits, request))


def _text(fits: Fits, request: EstimateOptions) -> str:
    texts = []
    for group, fit in fits.items():
        head = f"{request.by} = {'(missing)' if group is None else group}\n" if request.by is not None else ""
        texts.append(head + printing.to_text(fit, request.print_options))
    if len(fits) > 1 and _are_estimates(fits):
        texts.append(printing.differences_text(estimate.differences(fits), request.confidence, most=_MOST_COMPARED))
    return "\n\n".join(texts)


def _object(fits: Fits, request: EstimateOptions) -> dict[str, Any]:
    """The estimates as a JSON object."""
    objects = {group: _plain(fit, request) for group, fit in fits.items()}
    if request.by is None:
        return dict(objects[None])
    content: dict[str, Any] = {"groups": [{"group": group} | group_object for group, group_object in objects.items()]}
    if len(fits) > 1 and _are_estimates(fits):
        group_differences = estimate.differences(fits)
        content["differences"] = printing.differences_dict(group_differences, request.confidence, most=_MOST_COMPARED)
    return content


def _plain(fit: Any, request: EstimateOptions) -> dict[str, Any]:
    """One estimate, of proportions or of a quantity, as a JSON object."""
    content = (
        printing.to_dict(fit, request.print_options)
        if isinstance(fit, Estimate)
        else fit.to_dict(request.print_options)
    )
    return dict(content)


def _csv(fits: Fits, request: EstimateOptions) -> str:
    """The numbers as CSV; what a reader must know beside them goes to stderr."""
    write: Any = estimates_csv if _are_estimates(fits) else measured_csv
    return str(write(fits, request.print_options, by=request.by))
