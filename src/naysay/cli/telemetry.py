"""What is done with reports of devices: ``naysay tally``, ``ledger``, ``heavy-hitters`` and ``audit``."""

from __future__ import annotations

import importlib
import json
import shlex
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from naysay import _checks, estimate, files
from naysay.console import options, output
from naysay.console.output import takes
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.privacy.repeated import Schedule, of_tables
from naysay.show.page import Section, html
from naysay.show.result import csv_text
from naysay.tally import Tally
from naysay.telemetry import audit, batches
from naysay.telemetry.audit import Callee, Client, Command, Endpoint


@dataclass(frozen=True)
class TallyOptions:
    """What is counted, and where it is written."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…", help="Batches of reports, binary or JSON lines; - for stdin; or tallies (.tally)."
        ),
    ]
    design: Annotated[
        list[str] | None,
        typer.Option(metavar="DESIGN", help="What reports were drawn under; a call or a JSON file. May be repeated."),
    ] = None
    categories: options.Categories = None
    question: Annotated[str | None, typer.Option(metavar="NAME", help="Of batches, the question to tally.")] = None
    wave: Annotated[str | None, typer.Option(metavar="NAME", help="Of batches, the wave to tally.")] = None
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The tally to write; its name ends in .tally.")] = (
        None
    )
    subtract: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A tally to take off, such as of reports to delete. May be repeated."),
    ] = None
    bad: Annotated[
        Literal["refuse", "keep"],
        typer.Option(
            help="What becomes of a batch with a report that the design cannot make: refuse all, or keep the others."
        ),
    ] = "refuse"
    force: options.Force = False


@takes(TallyOptions)
def command(request: TallyOptions) -> None:
    """Count batches of reports, and add tallies.

    Reads any number of files, one batch after the other, so that memory does not depend on the number of reports.
    Without --out it lists what the files hold. With --out it writes the tally of one question and wave, which
    naysay estimate reads. Tallies of different designs, questions or waves do not add. --subtract takes reports off
    again, exactly, and refuses to go below zero.

    \b
    Examples:
      naysay tally reports.nsrb --design crash.json
      naysay tally reports.nsrb --design crash.json --question crash \\
          --out november.tally
      naysay tally monday.tally tuesday.tally --out both.tally
      naysay tally week.tally --subtract deleted.tally --out kept.tally
    """
    if request.out is not None:
        if request.out.suffix != options.TALLY_SUFFIX:
            raise DataError(f"a tally's name ends in {options.TALLY_SUFFIX}; got {str(request.out)!r}")
        output.check_free(request.out, force=request.force)
    tallies = [Tally.load(file_name) for file_name in request.files if file_name.endswith(options.TALLY_SUFFIX)]
    batch_tallies = _count_batches(
        request, [file_name for file_name in request.files if not file_name.endswith(options.TALLY_SUFFIX)]
    )
    tallies += batch_tallies
    for tally in tallies[1:]:
        if _designs(tally) != _designs(tallies[0]) and request.out is not None:
            raise DataError(
                "tallies of different designs do not add; name one question and wave, or count the designs apart: "
                + "; ".join(sorted({_topic_text(other_tally) for other_tally in tallies}))
            )
    if request.out is None:
        _list(tallies)
        return
    total_tally = reduce(
        lambda running_total, subtracted_file: running_total - Tally.load(subtracted_file),
        request.subtract or (),
        reduce(add, tallies),
    )
    total_tally.save(request.out)
    output.say(f"{total_tally.n:,} reports are in {request.out}")


def _count_batches(request: TallyOptions, names: list[str]) -> list[Tally]:
    """The tallies of the batches in these files, of the question and wave that are asked for."""
    if not names:
        return []
    if not request.design:
        raise DataError("--design DESIGN is missing: what the reports were drawn under")
    designs: list[Answerable] = [options.design_of(design_call, request.categories) for design_call in request.design]
    batch_sources: list[Any] = [sys.stdin.buffer if file_name == "-" else file_name for file_name in names]
    batch_counts = batches.count(batch_sources, designs, bad=request.bad)
    if batch_counts.refused:
        left_out_text = _checks.several(batch_counts.refused, "report", "reports")
        output.note(f"left out, since no device can draw them: {left_out_text}; {batch_counts.why}")
    wanted_topic = {"question": request.question, "wave": request.wave}
    topic_tallies = [
        tally
        for topic, tally in batch_counts.tallies.items()
        if all(value is None or getattr(topic, field_name) == value for field_name, value in wanted_topic.items())
    ]
    if not topic_tallies:
        topics_text = "; ".join(map(_topic_text, batch_counts.tallies.values()))
        raise DataError(
            f"no batch is of that question and wave; there are: {topics_text}" if topics_text else "there is no batch"
        )
    return topic_tallies


def _designs(tally: Tally) -> list[tuple[str, str]]:
    return sorted((str(part.level), part.design.hash) for part in tally.parts)


def _topic_text(tally: Tally) -> str:
    digests_text = ", ".join(digest[:12] for _, digest in _designs(tally))
    return f"question {tally.question or '(none)'}, wave {tally.wave or '(none)'}, design {digests_text}"


def _list(tallies: list[Tally]) -> None:
    tally_table = Table("question", "wave", "design", "hash", "reports", "kept as", box=None)
    for tally in tallies:
        design = tally.parts[0].design
        digests_text = ", ".join(digest[:12] for _, digest in _designs(tally))
        kept_as = "sums" if tally.summed else "counts"
        tally_table.add_row(tally.question or "", tally.wave or "", design.name, digests_text, f"{tally.n:,}", kept_as)
    output.show(tally_table)


@dataclass(frozen=True)
class LedgerOptions:
    """The options of ``naysay ledger``."""

    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A TOML or JSON file, by suffix.")]
    format_: options.Format = "table"


@takes(LedgerOptions)
def ledger(request: LedgerOptions) -> None:
    """Say what a schedule of questions costs each respondent.

    Three lines: ε of all answers if an answer never changed, what each change adds, and the most that it can be; then
    the same up to each wave. A question of the schedule has a name, a design and, where the design needs them,
    categories; waves (how many, or a list of their numbers); a rule of asking again (fresh, kept or memory); and a lot,
    if it is one of several of which a lot picks one. "cap" is the most that respondents were promised.

    \b
    Examples:
      naysay ledger schedule.toml
    with a file such as
      cap = 8
      [[questions]]
      name = "crash"
      design = "remembered(epsilon=1, lifetime=2)"
      categories = ["none", "start", "save", "print"]
      waves = 52
    """
    schedule = _read_schedule(request.schedule)
    if request.format_ == "csv":
        wave_rows = [(wave, *schedule.until(wave)) for wave in range(1, schedule.last + 1)]
        output.say(csv_text([("wave", "unchanged", "at_most"), *wave_rows]))
    else:
        output.result(schedule, request.format_)


def _read_schedule(path: Path) -> Schedule:
    try:
        schedule_text = path.read_text(encoding="utf-8-sig")
        schedule_tables: Any = (
            json.loads(schedule_text) if path.suffix.lower() == ".json" else tomllib.loads(schedule_text)
        )
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"cannot read the schedule {str(path)!r}: {error}") from None
    if not isinstance(schedule_tables, dict):
        raise DataError(f"the schedule {str(path)!r} must be an object with a list of questions")
    return of_tables(schedule_tables, _design)


def _design(text: object, categories: object) -> Any:
    if not isinstance(text, str) or not isinstance(categories, list | None):
        raise DataError(f"a design is a text such as 'warner(p=0.7)', with a list of categories; got {text!r}")
    return options.design_of(text, None if categories is None else options.record_text(categories).strip())


@dataclass(frozen=True)
class HeavyHittersOptions:
    """The options of ``naysay heavy-hitters``."""

    file: options.File
    response: Annotated[str, options.column("The reports: whole numbers.")]
    level: Annotated[str, options.column("The group that each device drew.")]
    design: options.DesignText
    count: options.Count = None
    keep: int = 32
    target: Annotated[
        options.Target, typer.Option(help="file: the records themselves, where `naysay randomize` made the reports.")
    ] = "population"
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    html: options.Html = None


@takes(HeavyHittersOptions, estimate.heavy_hitters)
def heavy_hitters(request: HeavyHittersOptions) -> None:
    """Find the values that many devices have. No list of them is needed.

    Reads a file with one row for each report, or with --count for each distinct report. The first group tells which
    beginnings of a value are common, the next one how these go on, and so forth. The last group is fresh: its reports
    have chosen nothing, so that its shares are unbiased. With the probability --confidence no value is accepted that
    nobody has, and the intervals hold for all candidates at once. The output says how many forged reports would put a
    chosen value into the list.

    json and csv hold all candidates of the last group, accepted or not. If you have a list of the values, use a design
    such as affine() over it and `naysay estimate`: all reports then tell about all values.

    \b
    Examples:
      naysay randomize words.csv --response word --out reports.csv \\
          --design "heavy_hitters(length=8, epsilon=4)"
      naysay heavy-hitters reports.csv --response word --level word_level \\
          --design "heavy_hitters(length=8, epsilon=4)"
    """
    output.check(request.html)
    design = options.design_of(request.design, None)
    if design.structure.estimates != "heavy_hitters":
        raise DataError(f"{design.name or design.kind} lists its values; use naysay estimate")
    frame = files.scan(request.file, separator=request.separator, encoding=request.encoding)
    with files.readable(request.file):
        files.check_columns(frame, [request.response, request.level, *([request.count] if request.count else [])])
        frame = files.as_text(frame, [request.response, request.level])
        if request.count is not None:
            frame = files.as_numbers(frame, request.count, what="counts")
        tally = design.tally(frame, request.response, level=request.level, count=request.count)
    common_values = estimate.heavy_hitters(
        design,
        tally,
        keep=request.keep,
        confidence=request.confidence,
        target=request.target,
        console=Console(stderr=True),
    )
    page_title = "Values that many people have"
    output.write(request.html, lambda: html(page_title, [Section("Heavy hitters", common_values.parts())]))
    output.result(common_values, request.format_)


_REFUTED = 3


@dataclass(frozen=True)
class AuditOptions:
    """The options of ``naysay audit``."""

    client: Annotated[
        str | None,
        typer.Argument(
            metavar="COMMAND",
            help="A program with its arguments in one word; package.module:function of Python; or an http:// address "
            "on this computer.",
        ),
    ] = None
    epsilon: Annotated[float | None, typer.Option(help="What the client promises, in nats.")] = None
    truths: Annotated[
        str | None, typer.Option(metavar="RECORD", help="Two truths or more, as one CSV record; all pairs are judged.")
    ] = None
    design: Annotated[
        str | None, typer.Option(metavar="DESIGN", help="Instead of COMMAND: naysay's own sampler of this design.")
    ] = None
    categories: options.Categories = None
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="A function of Python that takes a report and a truth, and returns what a reader computes from both, "
            "such as whether the hash of that truth under the report's seed is the one reported.",
        ),
    ] = None
    runs: int = 20_000
    alpha: float = 0.01
    format_: Annotated[Literal["table", "json"], typer.Option("--format", help="Format of the output.")] = "table"


@takes(AuditOptions, audit.audit)
def audit_client(request: AuditOptions) -> None:
    """Attack a client that randomizes, and say what ε it exceeds.

    Gives the client each truth many times, in random order, and looks for what tells them apart: values, bytes,
    length, order, members, low bits of floats, what two fields tell together, errors, random bytes read, time. One
    half of the reports finds an event, the other half judges it.

    A program reads a truth from each line of its input and writes a line for each. If it writes at once, it is timed,
    too. An address is sent each truth as the body of a POST request, and answers with the report.

    The exit code is 0 if the promise was not refuted, and 3 if it was. No audit can show that a promise is kept; the
    output says what would have been found. Ctrl-C judges the runs so far.

    \b
    Examples:
      naysay audit "node client.mjs" --truths yes,no --epsilon 1
      naysay audit telemetry.client:report --truths a,b,c --epsilon 2 --runs 5000
      naysay audit http://127.0.0.1:8000/report --truths yes,no --epsilon 1
      naysay audit --design "k_ary(epsilon=1)" --categories a,b,c --epsilon 1
    """
    if request.epsilon is None:
        raise DataError("say what the client promises: --epsilon 1")
    client, truths = _audited_client(request)
    if request.truths is not None:
        truths = list(options.record(request.truths))
    named_replay = _module_and_name(request.replay) if request.replay else None
    if request.replay and named_replay is None:
        raise DataError(f"--replay names a function of Python, such as telemetry.client:replay; got {request.replay!r}")
    verdict = audit.audit(
        client,
        truths,
        request.epsilon,
        runs=request.runs,
        alpha=request.alpha,
        console=Console(stderr=True),
        replay=None if named_replay is None else _function(*named_replay),
    )
    output.result(verdict, request.format_)
    if verdict.refuted:
        raise typer.Exit(_REFUTED)


def _audited_client(request: AuditOptions) -> tuple[Client, list[str]]:
    """The client, and the truths that it is given if none are named."""
    if (request.client is None) == (request.design is None):
        raise DataError("give COMMAND or --design DESIGN, one of both; see naysay audit --help")
    if request.client is None:
        design = options.design_of(str(request.design), request.categories)
        if design.offer.several:
            raise DataError("audit the channel of one level, or of one sample, such as negative(discards=2)")
        labels = list(map(str, design.categories))
        return audit.of_design(design), labels if len(labels) <= 3 else [labels[0], labels[-1]]
    if request.truths is None:
        raise DataError("name the truths that the client is given: --truths yes,no")
    if request.client.startswith(("http://", "https://")):
        return Endpoint(request.client), []
    command_words = shlex.split(request.client)
    if not command_words:
        raise DataError("COMMAND is empty; name a program, such as 'node client.mjs'")
    named_function = _module_and_name(command_words[0]) if len(command_words) == 1 else None
    return Command(command_words) if named_function is None else Callee(_function(*named_function), request.client), []


def _module_and_name(text: str) -> tuple[str, str] | None:
    """The module and the name of a function; None for what is neither."""
    module_name, _, function_name = text.partition(":")
    names = (*module_name.split("."), function_name)
    return (module_name, function_name) if all(name.isidentifier() for name in names) else None


def _function(module: str, name: str) -> Callable[..., Any]:
    sys.path.insert(0, str(Path.cwd()))
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise DataError(f"there is no {module}:{name}: {error}") from None
    finally:
        sys.path.pop(0)
    if not callable(function):
        raise DataError(f"{module}:{name} is no function; got {type(function).__name__}")
    return function  # type: ignore[no-any-return]
