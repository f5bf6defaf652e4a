"""``naysay estimate``: the population from a file of answers, or from a survey's database."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from naysay import _checks, estimate, files, privacy
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.labels import with_labels
from naysay.console.options import Categories, Codes, Encoding, Separator, design_of
from naysay.design import Answerable, Levels, Samples
from naysay.errors import DataError
from naysay.estimate import Estimate, printing
from naysay.responses import Pair
from naysay.tally import Tally
from naysay.tally.counting import in_group

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import polars as pl

    from naysay.collect.storage import Replies

__all__ = ["command"]

Estimator = Literal["maximum_likelihood", "moments", "nstops", "nstops_i", "nstops_ii", "stratified", "pooled"]
Interval = Literal["score", "agresti_coull", "wald", "profile", "bootstrap"]
MaybeFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="CSV, Parquet, JSON lines, SPSS or Stata, by suffix.")
]
MaybeDesign = Annotated[
    str | None,
    typer.Option("--design", metavar="DESIGN", help="A call, such as 'negative(discards=2)', or a design's JSON file."),
]
Fits = dict[Any, Estimate]

_MOST_COMPARED = 30  # groups up to which every difference is listed

_CSV = ("category", "proportion", "standard_error", "low", "high", "n", "missing")
_CSV_NAMED = ("design", "method", "target", "standard_error_kind", "confidence", "interval_method")
_CSV_LEVELS = {
    "stratified": "stratified",
    "stratified_standard_error": "stratified_standard_errors",
    "pooled": "pooled",
    "pooled_standard_error": "pooled_standard_errors",
    "difference": "difference",
    "difference_standard_error": "difference_standard_errors",
}


def command(
    file: MaybeFile = None,
    response: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The answers. Sets: one column such as 'a;b', or this option once for each category, in their order, "
            "with columns of 0 and 1. Two questions: twice. Of a survey: a private question, or question/choice; "
            "without it all of them, one after the other.",
        ),
    ] = None,
    design: MaybeDesign = None,
    categories: Categories = None,
    level: Annotated[str | None, typer.Option(metavar="COLUMN", help="The level that each respondent chose.")] = None,
    sample: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The sample that each respondent was in, for several samples.")
    ] = None,
    count: Annotated[str | None, typer.Option(metavar="COLUMN", help="How many people each row stands for.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weights.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Groups, each estimated by itself, with their differences.")
    ] = None,
    estimator: Annotated[
        Estimator | None,
        typer.Option(
            metavar="METHOD",
            help="maximum_likelihood (default), moments, nstops, nstops_i, nstops_ii; "
            "for levels stratified (default) or pooled.",
        ),
    ] = None,
    target: Annotated[
        Literal["population", "file"],
        typer.Option(help="file: the records themselves, where `naysay randomize` made the answers."),
    ] = "population",
    confidence: Annotated[float, typer.Option(help="Of each interval.")] = 0.95,
    interval: Annotated[
        Interval | None, typer.Option(help="By default the method whose coverage holds for this design.")
    ] = None,
    standard_errors: Annotated[
        Literal["observed", "expected", "outer_product", "sandwich"] | None,
        typer.Option(help="Of maximum likelihood; observed by default, sandwich with weights."),
    ] = None,
    noncompliance: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Of those who may not comply, for the band of designs that report one label."
        ),
    ] = printing.NONCOMPLIANCE,
    noncompliers: Annotated[
        Literal["anyone", "alike"],
        typer.Option(help="Who they may be: anyone, such as carriers who hide; or people like everyone else."),
    ] = "anyone",
    format_: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="Numbers in json and csv are not rounded.")
    ] = "table",
    separator: Separator = ",",
    encoding: Encoding = None,
    codes: Codes = False,
    survey: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Instead of FILE: a survey in the database of `naysay serve`."),
    ] = None,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Estimate the population from what people answered.

    Reads a file with one row for each respondent (or, with --count, for each distinct answer). An empty cell is a
    missing answer: it is counted, and does not enter the estimate. Messages count the rows of data from 1; in a CSV
    file with a header, row 1 is line 2. In a file of SPSS or Stata answers and groups are value labels, counts and
    weights are the numbers themselves, and user-missing values are missing.

    With --survey the answers come from the survey's database, and the designs from the questionnaire as it was
    published; --by is then a plain question.

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
      naysay estimate sets.parquet --design design.json \\
          --response low --response middle --response high --response none
      naysay estimate --survey sample --response income --by area
    """
    told = _Told(_checks.confidence(confidence), interval, noncompliance, noncompliers)
    how = _How(estimator, target, standard_errors)
    if survey is not None:
        columns = {"--design": design, "--categories": categories, "--level": level, "--sample": sample}
        _check_survey_alone(file, {**columns, "--count": count, "--weight": weight}, response)
        _say_survey(survey, response, by, db=db, data=data, how=how, told=told, format_=format_)
        return
    if file is None:
        raise DataError("give FILE, or --survey NAME; see naysay estimate --help")
    if not response:
        raise DataError("--response COLUMN is missing: the column of FILE with the answers")
    if design is None:
        raise DataError("--design DESIGN is missing: how the answers were randomized")
    asked = design_of(design, categories)
    _check_roles(asked, response, level=level, sample=sample, count=count, weight=weight)
    amounts = [name for name in (count, weight) if name is not None]
    frame = files.scan(file, separator=separator, encoding=encoding, codes=codes or amounts)
    with files.readable(file), with_labels(asked, file, response, encoding=encoding, codes=codes):
        frame = _prepared(asked, frame, response, level=level or sample, count=count, weight=weight, by=by)
        column = response[0] if len(response) == 1 else response
        said = asked.tally(frame, column, level=level, sample=sample, weights=weight, count=count, by=by)
    {"table": _table, "json": _json, "csv": _csv}[format_](_fits(asked, said, how), by, told)


class _How(NamedTuple):
    """How to estimate."""

    estimator: Estimator | None
    target: str
    standard_errors: str | None


def _fits(asked: Answerable, said: Tally | dict[Any, Tally], how: _How) -> Fits:
    """The estimate of each group, or of all."""
    fits = {}
    for group, tally in (said if isinstance(said, dict) else {None: said}).items():
        with in_group(group):
            fits[group] = fitted(asked, tally, **how._asdict())
    return fits


def _check_survey_alone(file: Path | None, given: dict[str, str | None], response: list[str] | None) -> None:
    if file is not None:
        raise DataError(f"answers come from a FILE or from a --survey; got both, {str(file)!r} and a survey")
    for option, value in given.items():
        if value is not None:
            raise DataError(f"leave {option} out: the published questionnaire says it")
    if response and len(response) > 1:
        raise DataError("give one --response, or none to estimate every private question in turn")


def _say_survey(
    survey: str,
    response: list[str] | None,
    by: str | None,
    *,
    db: str | None,
    data: Path,
    how: _How,
    told: _Told,
    format_: Literal["table", "json", "csv"],
) -> None:
    """Estimates of a survey: of one question, or of every private one in turn."""
    from naysay.collect.repeated import cautioned

    with opened(db, data, "read") as store:
        replies = store.replies(survey)
    asked = response or list(replies.private)
    if not asked:
        raise DataError(f"survey {survey!r} has no private question, so there is nothing to estimate")
    if len(asked) > 1 and format_ == "csv":
        raise DataError(f"csv holds one question; name it with --response: {_checks.shown(asked)}")
    found = {}
    for name, tally in _tallies(replies, asked, by).items():
        fits = _fits(replies.private[name], tally, how)
        found[name] = {group: cautioned(fit) for group, fit in fits.items()}
    if len(asked) == 1 and (response or format_ == "csv"):
        {"table": _table, "json": _json, "csv": _csv}[format_](found[asked[0]], by, told)
    elif format_ == "json":
        objects = [{"question": name, **_object(fits, by, told)} for name, fits in found.items()]
        output.say(output.json_text({"survey": survey, "questions": objects}))
    else:
        output.say("\n\n\n".join(_text(fits, by, told) for fits in found.values()))


def _tallies(replies: Replies, asked: list[str], by: str | None) -> dict[str, Any]:
    """The tally of each question; of several, those that nobody answered are left out and named."""
    from naysay import collect

    found = {name: collect.tally(replies, name, by=by) for name in asked}
    silent = [name for name in asked if not replies.frame[name].count()] if len(asked) > 1 else []
    for name in silent:
        output.note(f"nobody has answered {name!r}")
    return {name: tally for name, tally in found.items() if name not in silent}


class _Told(NamedTuple):
    """How results are told."""

    confidence: float
    interval: str | None
    noncompliance: float
    noncompliers: str

    @property
    def band(self) -> dict[str, Any]:
        """Of whom the band of non-compliance is."""
        return {"noncompliance": self.noncompliance, "noncompliers": self.noncompliers}

    def object(self, fit: Estimate) -> dict[str, Any]:
        """The estimate as a JSON object."""
        return printing.to_dict(fit, self.confidence, self.interval, **self.band)


def _check_roles(
    asked: Answerable,
    response: Sequence[str],
    *,
    level: str | None,
    sample: str | None,
    count: str | None,
    weight: str | None,
) -> None:
    """Raise unless the columns are those that the design needs, each named once."""
    named = [*response, *(name for name in (level, sample, count, weight) if name is not None)]
    twice = next((name for place, name in enumerate(named) if name in named[:place]), None)
    if twice is not None:
        raise DataError(f"column {twice!r} is named twice; each column has one role", column=twice)
    call = asked.name or asked.kind
    if isinstance(asked, Levels) and level is None:
        raise DataError(f"{call} needs --level COLUMN: the level that each respondent chose")
    if not isinstance(asked, Levels) and level is not None:
        raise DataError(f"{call} offers no levels; leave --level out, or use a design such as negative_levels()")
    several = isinstance(asked, Samples) and not asked.single
    if several and sample is None:
        raise DataError(f"{call} needs --sample COLUMN: the sample that each respondent was in")
    if not several and sample is not None:
        raise DataError(f"{call} has one sample only; leave --sample out")
    t = len(asked.categories)
    if isinstance(asked.space, Pair):
        if len(response) != 2:
            raise DataError(f"{call} takes two answers; give --response twice, got {len(response)}")
    elif len(response) not in (1, t):
        raise DataError(f"give --response once, or once for each of the {t} categories; got {len(response)}")


def _prepared(
    asked: Answerable,
    frame: pl.LazyFrame,
    response: Sequence[str],
    *,
    level: str | None,
    count: str | None,
    weight: str | None,
    by: str | None,
) -> pl.LazyFrame:
    """The frame with answers, levels and groups as text, sets in columns as booleans, counts and weights as numbers."""
    files.check_columns(frame, [*response, *(name for name in (level, count, weight, by) if name is not None)])
    if len(response) > 1 and not isinstance(asked.space, Pair):
        frame = files.as_booleans(frame, response)
        texts = [level, by]
    else:
        texts = [*response, level, by]
    frame = files.as_text(frame, list(dict.fromkeys(name for name in texts if name is not None)))
    if count is not None:
        frame = files.as_numbers(frame, count, what="counts")
    if weight is not None:
        frame = files.as_numbers(frame, weight, what="weights")
    return frame


def fitted(
    design: Answerable,
    tally: Tally,
    *,
    estimator: Estimator | None,
    target: str,
    standard_errors: str | None = None,
) -> Estimate:
    """The estimate by the method of that name."""
    method = estimator or ("stratified" if isinstance(design, Levels) else "maximum_likelihood")
    if method == "maximum_likelihood":
        return estimate.maximum_likelihood(design, tally, target=target, standard_errors=standard_errors)
    if standard_errors is not None:
        raise DataError(f"{method} has standard errors of one kind; leave --standard-errors out")
    if method.startswith("nstops"):
        if target == "file":
            raise DataError(f"{method} is for a population; with --target file use moments or maximum_likelihood")
        return getattr(estimate, method)(design, tally)  # type: ignore[no-any-return]
    return getattr(estimate, method)(design, tally, target=target)  # type: ignore[no-any-return]


def _table(fits: Fits, by: str | None, told: _Told) -> None:
    output.say(_text(fits, by, told))


def _text(fits: Fits, by: str | None, told: _Told) -> str:
    texts = []
    for group, fit in fits.items():
        head = f"{by} = {'(missing)' if group is None else group}\n" if by is not None else ""
        text = printing.to_text(fit, told.confidence, told.interval, **told.band)
        texts.append(head + text)
    if len(fits) > 1:
        texts.append(printing.differences_text(estimate.differences(fits), told.confidence, most=_MOST_COMPARED))
    return "\n\n".join(texts)


def _json(fits: Fits, by: str | None, told: _Told) -> None:
    output.say(output.json_text(_object(fits, by, told)))


def _object(fits: Fits, by: str | None, told: _Told) -> dict[str, Any]:
    objects = {group: told.object(fit) for group, fit in fits.items()}
    if by is None:
        return objects[None]
    whole: dict[str, Any] = {"groups": [{"group": group} | each for group, each in objects.items()]}
    if len(fits) > 1:
        found = estimate.differences(fits)
        whole["differences"] = printing.differences_dict(found, told.confidence, most=_MOST_COMPARED)
    return whole


def _csv(fits: Fits, by: str | None, told: _Told) -> None:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    grouped = by is not None
    design = next(iter(fits.values())).design
    compared = _CSV_LEVELS if isinstance(design, Levels) else {}
    table.writerow([*(["group"] if grouped else []), *_CSV, *compared, *_CSV_NAMED])
    for line in privacy.lines(design):
        output.note(line)
    for group, fit in fits.items():
        found = told.object(fit)
        for name, numbers, beside in _rows(fit, found, list(compared.values())):
            cells = [name, *numbers, found["n"], found["missing"], *beside, *(found[each] for each in _CSV_NAMED)]
            table.writerow([*([group] if grouped else []), *cells])
        tested = [str(fit.comparison.test)] if fit.comparison is not None else []
        for line in [*tested, *printing.checks(fit, **told.band), *found["warnings"]]:
            output.note(f"{by} = {group}: {line}" if grouped else line)
    if len(fits) > 1:
        output.note(str(estimate.differences(fits)))
    output.say(out.getvalue().rstrip("\n"))


def _rows(fit: Estimate, found: dict[str, Any], compared: Sequence[str]) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Each category, then each nuisance parameter: its name, its numbers, and those of the levels beside them."""
    for row, category in enumerate(fit.categories):
        numbers = [found["proportions"][row], found["standard_errors"][row], *found["intervals"][row]]
        yield _checks.label(category), numbers, [found["levels"][name][row] for name in compared if "levels" in found]
    for name, each in found.get("nuisance", {}).items():
        yield name, [each["estimate"], each["standard_error"], *each["interval"]], []
