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

import naysay
from naysay.console import output
from naysay.console.commands import Place, group_of
from naysay.errors import NaysayError

__all__ = ["app", "main"]

COMMANDS = {
    "estimate": Place("cli.estimate"),
    "change": Place("cli.change"),
    "tally": Place("cli.tally"),
    "ledger": Place("cli.ledger"),
    "regress": Place("cli.regress"),
    "crosstab": Place("cli.crosstab"),
    "simulate": Place("cli.simulate"),
    "plan": Place("cli.plan"),
    "randomize": Place("cli.randomize"),
    "heavy-hitters": Place("cli.heavy_hitters"),
    "audit": Place("cli.audit"),
    "risk": Place("microdata.commands.risk"),
    "protect": Place("microdata.commands.protect"),
    "utility": Place("microdata.commands.utility"),
    "attack": Place("microdata.commands.attack"),
    "table": Place("microdata.commands.table"),
    "designs": Place("cli.design", "catalog"),
    "serve": Place("collect.commands.serve"),
    "respond": Place("collect.commands.respond"),
    "verify": Place("collect.commands.verify"),
    "demo": Place("cli.demo"),
    "panel": Place("microdata.commands.panel", "group"),
    "design": Place("cli.design", "group"),
    "questionnaire": Place("collect.commands.questionnaire", "group"),
    "reports": Place("collect.commands.reports", "group"),
    "survey": Place("collect.commands.survey", "group"),
    "admin": Place("collect.commands.admin", "group"),
}

app = typer.Typer(cls=group_of(COMMANDS), rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


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
    try:
        code = commands(args=argv, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except NaysayError as error:
        # A questionnaire's errors have a line for each problem.
        output.complain(*getattr(error, "lines", (str(error),)))
        return 2
    except typer.TyperException as error:
        output.complain(_usage(error))
        return 2
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        return _pipe_closed()
    return code if isinstance(code, int) else 0


def _usage(error: typer.TyperException) -> str:
    """What is wrong with the command line, in one line that names the help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "naysay"
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    lists = (
        [parameter for parameter in context.command.params if parameter.metavar == "RECORD"]
        if context is not None
        else []
    )
    if lists and message.startswith("Got unexpected extra argument"):
        message += f" (a list is one word, joined by commas: {lists[0].opts[0]} a,b)"
    return f"{message}; see {command} --help" if message else f"a command is missing; see {command} --help"


def _pipe_closed() -> int:
    """The exit code after the reader of stdout has closed the pipe, such as ``| head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout at exit: that must not fail
    return 141
