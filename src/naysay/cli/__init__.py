"""The command line: one subcommand for each task, such as ``naysay estimate`` or ``naysay survey``.

Exit codes: 0 for success, 1 for a bug (with its traceback), 2 for wrong input (with one line on stderr), 130 for an
interruption.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]

import naysay
from naysay.console import output
from naysay.console.output import Place, group_of
from naysay.errors import NaysayError

__all__ = ["app", "main"]

DOORS = {
    "You ask people": {
        "demo": Place("cli.demo"),
        "designs": Place("cli.design", "catalog"),
        "design": Place("cli.design", "group"),
        "plan": Place("planning.command"),
        "simulate": Place("simulate.command"),
        "questionnaire": Place("collect.commands.questionnaire", "group"),
        "serve": Place("collect.commands.serve"),
        "survey": Place("collect.commands.survey", "group"),
        "admin": Place("collect.commands.admin", "group"),
        "respond": Place("collect.commands.respond"),
        "verify": Place("collect.commands.respond", "verify"),
        "log": Place("collect.commands.log", "group"),
        "estimate": Place("cli.estimate"),
        "change": Place("cli.change"),
        "crosstab": Place("cli.crosstab"),
        "query": Place("cli.crosstab", "query"),
        "regress": Place("cli.regress"),
    },
    "You collect from devices": {
        "randomize": Place("cli.randomize"),
        "reports": Place("collect.commands.reports", "group"),
        "tally": Place("cli.telemetry"),
        "heavy-hitters": Place("cli.telemetry", "heavy_hitters"),
        "ledger": Place("cli.telemetry", "ledger"),
        "audit": Place("cli.telemetry", "audit_client"),
    },
    "You hold a file of people": {
        "risk": Place("microdata.commands.risk"),
        "risk search": Place("microdata.commands.risk", "search"),
        "risk report": Place("microdata.commands.risk", "report"),
        "panel": Place("microdata.commands.panel", "group"),
        "protect": Place("microdata.commands.risk", "protect"),
        "utility": Place("microdata.commands.utility"),
        "attack": Place("microdata.commands.utility", "attack"),
        "table": Place("microdata.commands.table"),
    },
}
"""The commands, by what somebody comes for."""

COMMANDS = {name: place for places in DOORS.values() for name, place in places.items()}

app = typer.Typer(cls=group_of(DOORS), rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Ask sensitive questions without learning anyone's answer, and estimate the population.

    \b
    Examples:
      naysay demo
      naysay estimate answers.csv --response income \\
          --design "negative(discards=2)" --categories "low,middle,high,none"
      naysay estimate --help
    """
    if version:
        output.say(f"naysay {naysay.__version__}")
    elif context.invoked_subcommand is None:
        output.say(context.get_help())


def main(argv: Sequence[str] | None = None, *, commands: typer.Typer = app, name: str = "naysay") -> int:
    """Run one command; returns its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after the program's name; by default those of this process.
    commands : Typer
        All commands.
    name : str
        The program's name on the command line.

    Examples
    --------
    >>> main(["--version"])
    naysay ...
    0
    """
    output.encodable()
    if "_NAYSAY_COMPLETE" in os.environ:  # a shell asks what may come next, or for the script by which it asks
        completion_init()
    try:
        exit_code = commands(args=argv, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except NaysayError as error:
        # A questionnaire's errors have a line for each problem.
        output.complain(*getattr(error, "lines", (str(error),)))
        return 2
    except typer.TyperException as error:
        output.complain(_usage(error))
        return 2
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "naysay":
            raise
        output.complain(f"this needs {error.name}, which is not installed; get it with: pip install 'naysay[all]'")
        return 2
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        return _pipe_closed()
    return exit_code if isinstance(exit_code, int) else 0


def _usage(error: typer.TyperException) -> str:
    """What is wrong with the command line, in one line that names the help."""
    command_context = getattr(error, "ctx", None)
    command_path = command_context.command_path if command_context is not None else "naysay"
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    list_parameters = (
        [parameter for parameter in command_context.command.params if parameter.metavar == "RECORD"]
        if command_context is not None
        else []
    )
    if list_parameters and message.startswith("Got unexpected extra argument"):
        message += f" (a list is one word, joined by commas: {list_parameters[0].opts[0]} a,b)"
    if command_path == "naysay design" and "(" in message:
        message += " (a design is shown by: naysay design show)"
    return f"{message}; see {command_path} --help" if message else f"a command is missing; see {command_path} --help"


def _pipe_closed() -> int:
    """The exit code after the reader of stdout has closed the pipe, such as ``| head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout at exit: that must not fail
    return 141
