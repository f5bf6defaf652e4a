"""``naysay change``: the change between two waves, from the answers of the same people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from naysay import _checks, estimate, files, report
from naysay.console import options, output
from naysay.console.options import SamplingOptions, prepare_frame
from naysay.console.output import takes
from naysay.errors import DataError
from naysay.show import Chart, Content, Table, text

_PERSON, _TRUTH = "_person", "_truth"


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
    control: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN: TRUTH",
            help="A control, as in naysay estimate. With one file twice: of the first wave, then of the second.",
        ),
    ] = None
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
    """Estimate the change between two waves.

    Both are answers of the same people. The two answers of a person are compared, so that whatever stays the same in
    a person takes no part in the error. The standard errors hold for every way of asking again: new draws, kept
    answers, some of both. People who answered in one wave only are used, too. Weights, strata and clusters are those
    of the persons.

    \b
    Examples:
      naysay change spring.csv autumn.csv --person id --response smokes --design "warner(p=0.7)"
      naysay change panel.csv --response smokes_1 --response smokes_2 \\
          --design "k_ary(epsilon=1)" --categories never,sometimes,daily --rule kept
      naysay change spring.csv autumn.csv --person id --response smokes \\
          --design "warner(p=0.7)" --weight weight --cluster household
      naysay change spring.csv autumn.csv --person id --response smokes \\
          --design "warner(p=0.7)" --control "check: no"
    """
    _checks.confidence(request.confidence)
    output.check(request.html)
    if request.design is None:
        raise DataError("--design DESIGN is missing: how the answers were randomized")
    design = options.design_of(request.design, request.categories)
    second_design = (
        None if request.design_second is None else options.design_of(request.design_second, request.categories)
    )
    waves = [(request.file, design), (request.second or request.file, second_design or design)]
    for (file, wave_design), name in dict.fromkeys(zip(waves, 2 * (request.response or []), strict=False)):
        options.compare_with_codebook(file, name, wave_design, way_out="name its design in --design")
    change = _estimate_change(request, design, second_design)
    if request.html is not None:
        page_section = report.Section("Change", _change_content(change, request.confidence))
        page_title = f"Change: {(request.response or [''])[0]}"
        output.write(
            request.html,
            lambda: report.html(page_title, [page_section], facts=[(f"{change.both:,}", "people in both waves")]),
        )
    if request.format_ == "table":
        output.say(text(change.parts(request.confidence)))
    else:
        json_content = change.to_dict(request.confidence) if request.format_ == "json" else None
        output.say(change.to_csv(request.confidence) if json_content is None else output.json_text(json_content))


def _change_content(change: estimate.Change, confidence: float) -> list[Content]:
    """What the page tells: the sentences, a picture, and the table."""
    content = change.body(confidence)
    table_place = next(table_place for table_place, block in enumerate(content) if isinstance(block, Table))
    bounds, chart_title = change.interval(confidence), "Change between two waves"
    change_chart = Chart(
        lambda size, room: report.charts.changes(
            change.categories, change.difference, bounds, title=chart_title, size=size, room=room
        )
    )
    return [*content[:table_place], change_chart, *content[table_place:]]


def _estimate_change(request: ChangeOptions, design: Any, after: Any) -> estimate.Change:
    """The change in one file with two columns, or in two files."""
    wave_paths = [request.file] if request.second is None else [request.file, request.second]
    answer_columns = request.response or []
    if len(answer_columns) != 3 - len(wave_paths):
        times_text = "with one file twice: of the first wave, then of the second" if len(wave_paths) == 1 else "once"
        raise DataError(f"give --response COLUMN {times_text}; got it {len(answer_columns)} times")
    if (request.person is None) != (len(wave_paths) == 1):
        raise DataError("--person COLUMN goes with two files: the identifier that a person has in both")
    controls = [options.control_of(text) for text in request.control or ()]
    if len(wave_paths) == 1 and len(controls) % 2:
        raise DataError(
            f"with one file give --control twice for each control: of the first wave, then of the second; got "
            f"{len(controls)}"
        )
    half = len(controls) // 2
    wave_controls = [controls[:half], controls[half:]] if len(wave_paths) == 1 else [controls, controls]
    wave_columns = [
        [column, *(control.column for control in of_wave)]
        for column, of_wave in zip(answer_columns * (3 - len(answer_columns)), wave_controls, strict=True)
    ]
    truths = [options.truths_of(of_wave) for of_wave in wave_controls]
    if controls:
        after = options.with_controls(design if after is None else after, wave_controls[1])
        design = options.with_controls(design, wave_controls[0])
    wave_frames = [files.scan(path, separator=request.separator, encoding=request.encoding) for path in wave_paths]
    for truth in {name for name in truths if name is not None and "; " in name}:
        wave_frames = [files.together(frame, truth.split("; "), truth) for frame in wave_frames]
    sampling = request.sampling(wave_frames[-1])
    wave_tables = []
    for path, wave_frame in zip(wave_paths, wave_frames, strict=True):
        with files.readable(path):
            if controls:
                options.check_controls(answer_columns, controls, wave_frame.collect_schema().names())
            column_names = list(
                dict.fromkeys(
                    [*wave_columns[0], *wave_columns[1], *filter(None, truths), *filter(None, [request.person])]
                )
            )
            files.check_columns(wave_frame, column_names)
            text_frame = files.as_text(wave_frame, column_names)
            if path is wave_paths[-1]:
                text_frame = prepare_frame(text_frame, sampling)
                text_frame = (
                    text_frame
                    if request.weight is None
                    else files.as_numbers(text_frame, request.weight, what="weights")
                )
            wave_tables.append(text_frame.collect())
    names = wave_columns[0]
    if request.person is None:  # one file: a row is a person
        person_rows = wave_tables[0].with_row_index(_PERSON)
        names = [f"_said {place}" for place in range(len(wave_columns[0]))]
        wave_tables = [
            person_rows.with_columns(
                *(person_rows[column].alias(name) for name, column in zip(names, columns, strict=True)),
                *([] if truth is None else [person_rows[truth].alias(_TRUTH)]),
            )
            for columns, truth in zip(wave_columns, truths, strict=True)
        ]
    return estimate.change(
        design,
        *wave_tables,
        column=names,
        sample=truths[0] if truths[0] is None or request.person is not None else _TRUTH,
        person=request.person or _PERSON,
        after=after,
        rule=request.rule,
        weights=request.weight if sampling is None else None,
        sampling=sampling,
    )
