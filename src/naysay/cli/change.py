"""``naysay change``: the change between two waves of a panel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from naysay import _checks, estimate, files, report
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.options import SamplingOptions, prepare_frame
from naysay.errors import DataError
from naysay.show import Chart, Content, Table, text

_PERSON = "_person"


@dataclass(frozen=True)
class _WaveOptions:
    """The waves, and how they were randomized."""

    file: Annotated[Path, options.DATA_FILE]
    second: Annotated[
        Path | None,
        typer.Argument(metavar="SECOND", help="The file of the second wave; without it FILE holds both waves."),
    ] = None
    response: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="The answers. With one file twice: of the first wave, then of the second."),
    ] = None
    person: Annotated[str | None, options.column("With two files: the identifier that a person has in both.")] = None
    design: Annotated[str | None, options.design_option] = None
    design_second: Annotated[
        str | None, typer.Option(metavar="DESIGN", help="Of the second wave, if it was randomized otherwise.")
    ] = None
    categories: options.Categories = None
    rule: Annotated[
        Literal["fresh", "kept", "redraw", "memory", "never"] | None,
        typer.Option(help="How people answered again: each time anew, with a kept answer for each value, and so on."),
    ] = None
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    html: options.Html = None


@dataclass(frozen=True)
class ChangeOptions(SamplingOptions, _WaveOptions):
    """All options: of the change, then of the sample that it comes from."""


@takes(ChangeOptions)
def command(request: ChangeOptions) -> None:
    """Estimate the change between two waves from the answers of the same people.

    The two answers of a person are compared, so that whatever stays the same in a person takes no part in the error.
    The standard errors hold for every way of asking again: new draws, kept answers, some of both. People who answered
    in one wave only are used, too. Weights, strata and clusters are those of the persons.

    \b
    Examples:
      naysay change spring.csv autumn.csv --person id --response smokes --design "warner(p=0.7)"
      naysay change panel.csv --response smokes_1 --response smokes_2 \\
          --design "k_ary(epsilon=1)" --categories never,sometimes,daily --rule kept
      naysay change spring.csv autumn.csv --person id --response smokes \\
          --design "warner(p=0.7)" --weight weight --cluster household
    """
    _checks.confidence(request.confidence)
    output.check(request.html)
    if request.design is None:
        raise DataError("--design DESIGN is missing: how the answers were randomized")
    design = options.design_of(request.design, request.categories)
    after = None if request.design_second is None else options.design_of(request.design_second, request.categories)
    change = _estimate_change(request, design, after)
    if request.html is not None:
        part = report.Section("Change", _content(change, request.confidence))
        title = f"Change: {(request.response or [''])[0]}"
        output.write(
            request.html, lambda: report.html(title, [part], facts=[(f"{change.both:,}", "people in both waves")])
        )
    if request.format_ == "table":
        output.say(text(change.sections(request.confidence)))
    else:
        content = change.to_dict(request.confidence) if request.format_ == "json" else None
        output.say(change.to_csv(request.confidence) if content is None else output.json_text(content))


def _content(change: estimate.Change, confidence: float) -> list[Content]:
    """What the page tells: the sentences, a picture, and the table."""
    _, *content = change.sections(confidence)
    place = next(place for place, block in enumerate(content) if isinstance(block, Table))
    bounds, title = change.interval(confidence), "Change between two waves"
    picture = Chart(
        lambda size, room: report.charts.changes(
            change.categories, change.difference, bounds, title=title, size=size, room=room
        )
    )
    return [*content[:place], picture, *content[place:]]


def _estimate_change(request: ChangeOptions, design: Any, after: Any) -> estimate.Change:
    """The change in one file with two columns, or in two files."""
    paths = [request.file] if request.second is None else [request.file, request.second]
    answers = request.response or []
    if len(answers) != 3 - len(paths):
        times_text = "with one file twice: of the first wave, then of the second" if len(paths) == 1 else "once"
        raise DataError(f"give --response COLUMN {times_text}; got it {len(answers)} times")
    if (request.person is None) != (len(paths) == 1):
        raise DataError("--person COLUMN goes with two files: the identifier that a person has in both")
    frames = [files.scan(path, separator=request.separator, encoding=request.encoding) for path in paths]
    sampling = request.sampling(frames[-1])
    wave_tables = []
    for path, frame in zip(paths, frames, strict=True):
        with files.readable(path):
            column_names = [*answers, *([] if request.person is None else [request.person])]
            files.check_columns(frame, column_names)
            text_frame = files.as_text(frame, column_names)
            if frame is frames[-1]:
                text_frame = prepare_frame(text_frame, sampling)
                text_frame = (
                    text_frame
                    if request.weight is None
                    else files.as_numbers(text_frame, request.weight, what="weights")
                )
            wave_tables.append(text_frame.collect())
    if request.person is None:  # one file: a row is a person
        rows = wave_tables[0].with_row_index(_PERSON)
        wave_tables = [rows.with_columns(_said=rows[name]) for name in answers]
    return estimate.change(
        design,
        *wave_tables,
        column=answers[0] if request.person is not None else "_said",
        person=request.person or _PERSON,
        after=after,
        rule=request.rule,
        weights=request.weight if sampling is None else None,
        sampling=sampling,
    )
