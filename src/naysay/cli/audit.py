"""``naysay audit``: attack a client that randomizes answers."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from naysay import audit
from naysay.audit import Callee, Client, Command, Endpoint
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.errors import DataError

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
    runs: Annotated[int, typer.Option(help="Runs of each truth.")] = 20_000
    alpha: Annotated[float, typer.Option(help="The probability that a client which keeps its promise fails.")] = 0.01
    format_: Annotated[Literal["table", "json"], typer.Option("--format", help="Format of the output.")] = "table"


@takes(AuditOptions)
def command(request: AuditOptions) -> None:
    """Attack a client that randomizes answers, and say what ε it exceeds.

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
    client, truths = _client(request)
    if request.truths is not None:
        truths = list(options.record(request.truths))
    replay = _function(*_module_and_name(request.replay)) if request.replay else None
    verdict = audit.audit(
        client,
        truths,
        request.epsilon,
        runs=request.runs,
        alpha=request.alpha,
        console=Console(stderr=True),
        replay=replay,
    )
    output.result(verdict, request.format_)
    if verdict.refuted:
        raise typer.Exit(_REFUTED)


def _client(request: AuditOptions) -> tuple[Client, list[str]]:
    """The client, and the truths that it is given if none are named."""
    if (request.client is None) == (request.design is None):
        raise DataError("give COMMAND or --design DESIGN, one of both; see naysay audit --help")
    if request.client is None:
        design = options.design_of(str(request.design), request.categories)
        if design.several:
            raise DataError("audit the channel of one level, or of one sample, such as negative(discards=2)")
        labels = list(map(str, design.categories))
        return audit.of_design(design), labels if len(labels) <= 3 else [labels[0], labels[-1]]
    if request.truths is None:
        raise DataError("name the truths that the client is given: --truths yes,no")
    if request.client.startswith(("http://", "https://")):
        return Endpoint(request.client), []
    words = shlex.split(request.client)
    if not words:
        raise DataError("COMMAND is empty; name a program, such as 'node client.mjs'")
    module, colon, name = words[0].partition(":")
    if len(words) == 1 and colon and all(part.isidentifier() for part in (*module.split("."), name)):
        return Callee(_function(module, name), request.client), []
    return Command(words), []


def _module_and_name(text: str) -> tuple[str, str]:
    """The module and the name of a function."""
    module, colon, name = text.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), name)):
        raise DataError(f"--replay names a function of Python, such as telemetry.client:replay; got {text!r}")
    return module, name


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
