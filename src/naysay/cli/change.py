"""``naysay change``: the change between two waves of a panel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from naysay import _checks, estimate, files, report
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.options import SamplingOptions, prepared
from naysay.errors import DataError
from naysay.show import Chart, Content, Table, text

_PERSON = "_person"


@dataclass(frozen=True)
class _Asked:
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
class Options(SamplingOptions, _Asked):
    """All options: of the change, then of the sample that it comes from."""


@takes(Options)
def command(asked: Options) -> None:
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
    _checks.confidence(asked.confidence)
    output.check(asked.html)
    if asked.design is None:
        raise DataError("--design DESIGN is missing: how the answers were randomized")
    design = options.design_of(asked.design, asked.categories)
    after = None if asked.design_second is None else options.design_of(asked.design_second, asked.categories)
    found = _found(asked, design, after)
    if asked.html is not None:
        part = report.Section("Change", _content(found, asked.confidence))
        title = f"Change: {(asked.response or [''])[0]}"
        output.write(
            asked.html, lambda: report.html(title, [part], facts=[(f"{found.both:,}", "people in both waves")])
        )
    if asked.format_ == "table":
        output.say(text(found.sections(asked.confidence)))
    else:
        told = found.to_dict(asked.confidence) if asked.format_ == "json" else None
        output.say(found.to_csv(asked.confidence) if told is None else output.json_text(told))


def _content(found: estimate.Change, confidence: float) -> list[Content]:
    """What the page tells: the sentences, a picture, and the table."""
    _, *content = found.sections(confidence)
    place = next(place for place, each in enumerate(content) if isinstance(each, Table))
    bounds, title = found.interval(confidence), "Change between two waves"
    picture = Chart(
        lambda size, room: report.charts.changes(
            found.categories, found.difference, bounds, title=title, size=size, room=room
        )
    )
    return [*content[:place], picture, *content[place:]]


def _found(asked: Options, design: Any, after: Any) -> estimate.Change:
    """The change in one file with two columns, or in two files."""
    paths = [asked.file] if asked.second is None else [asked.file, asked.second]
    answers = asked.response or []
    if len(answers) != 3 - len(paths):
        told = "with one file twice: of the first wave, then of the second" if len(paths) == 1 else "once"
        raise DataError(f"give --response COLUMN {told}; got it {len(answers)} times")
    if (asked.person is None) != (len(paths) == 1):
        raise DataError("--person COLUMN goes with two files: the identifier that a person has in both")
    frames = [files.scan(path, separator=asked.separator, encoding=asked.encoding) for path in paths]
    sampling = asked.sampling(frames[-1])
    read = []
    for path, frame in zip(paths, frames, strict=True):
        with files.readable(path):
            named = [*answers, *([] if asked.person is None else [asked.person])]
            files.check_columns(frame, named)
            plain = files.as_text(frame, named)
            if frame is frames[-1]:
                plain = prepared(plain, sampling)
                plain = plain if asked.weight is None else files.as_numbers(plain, asked.weight, what="weights")
            read.append(plain.collect())
    if asked.person is None:  # one file: a row is a person
        rows = read[0].with_row_index(_PERSON)
        read = [rows.with_columns(_said=rows[name]) for name in answers]
    return estimate.change(
        design,
        *read,
        column=answers[0] if asked.person is not None else "_said",
        person=asked.person or _PERSON,
        after=after,
        rule=asked.rule,
        weights=asked.weight if sampling is None else None,
        sampling=sampling,
    )
