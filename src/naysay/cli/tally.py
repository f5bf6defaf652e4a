"""``naysay tally``: batches of reports counted, and tallies added or taken off one another."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from naysay import _checks, batches
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.tally import Tally

SUFFIX = ".tally"
"""The suffix of tally files, by which commands know them."""


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
        _check_out(request.out, force=request.force)
    tallies = [Tally.load(name) for name in request.files if name.endswith(SUFFIX)]
    batch_tallies = _count_batches(request, [name for name in request.files if not name.endswith(SUFFIX)])
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
    designs: list[Answerable] = [options.design_of(call, request.categories) for call in request.design]
    sources: list[Any] = [sys.stdin.buffer if name == "-" else name for name in names]
    batch_counts = batches.count(sources, designs, bad=request.bad)
    if batch_counts.refused:
        left_out_text = _checks.several(batch_counts.refused, "report", "reports")
        output.note(f"left out, since no device can draw them: {left_out_text}; {batch_counts.why}")
    wanted_topic = {"question": request.question, "wave": request.wave}
    tallies = [
        tally
        for topic, tally in batch_counts.tallies.items()
        if all(value is None or getattr(topic, name) == value for name, value in wanted_topic.items())
    ]
    if not tallies:
        topics_text = "; ".join(map(_topic_text, batch_counts.tallies.values()))
        raise DataError(
            f"no batch is of that question and wave; there are: {topics_text}" if topics_text else "there is no batch"
        )
    return tallies


def _designs(tally: Tally) -> list[tuple[str, str]]:
    return sorted((str(part.level), part.design.hash) for part in tally.parts)


def _topic_text(tally: Tally) -> str:
    digests = ", ".join(digest[:12] for _, digest in _designs(tally))
    return f"question {tally.question or '(none)'}, wave {tally.wave or '(none)'}, design {digests}"


def _list(tallies: list[Tally]) -> None:
    table = Table("question", "wave", "design", "hash", "reports", "kept as", box=None)
    for tally in tallies:
        design = tally.parts[0].design
        digests = ", ".join(digest[:12] for _, digest in _designs(tally))
        kept_as = "sums" if tally.summed else "counts"
        table.add_row(tally.question or "", tally.wave or "", design.name, digests, f"{tally.n:,}", kept_as)
    output.show(table)


def _check_out(out: Path, *, force: bool) -> None:
    if out.suffix != SUFFIX:
        raise DataError(f"a tally's name ends in {SUFFIX}; got {str(out)!r}")
    if out.exists() and not force:
        raise DataError(f"{str(out)!r} exists; give another name, or --force")
