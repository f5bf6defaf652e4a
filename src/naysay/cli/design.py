"""``naysay design show`` and ``naysay designs``: what a design does, and which there are."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from naysay import designs, privacy
from naysay.cli import output
from naysay.cli.options import Categories, design_of
from naysay.design import Design, Levels
from naysay.errors import DesignError, NotEstimable
from naysay.estimate.sinks import sinks
from naysay.responses import Pair, Subsets

__all__ = ["app", "catalog"]

app = typer.Typer(rich_markup_mode=None)

_ROWS, _COLUMNS = 66, 12  # the largest matrix that a terminal shows readably


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Look at a design.

    \b
    Example:
      naysay design show "warner(p=0.7)"
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command("show")
def show(
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="A call, or a design's JSON file.")],
    categories: Categories = None,
    format_: Annotated[
        Literal["table", "json"],
        typer.Option("--format", help="json: the design's own file, as every client reads it."),
    ] = "table",
) -> None:
    """Show a design and its privacy.

    The matrix P(response | category), what an answer tells about its person, and for each level its own.

    \b
    Examples:
      naysay design show "warner(p=0.7)"
      naysay design show "negative(discards=2)" --categories "a,b,c,d"
      naysay design show "k_ary(epsilon=1)" --categories "a,b,c" --format json
    """
    asked = design_of(design, categories)
    if format_ == "json":
        output.say(asked.to_json(indent=1))
        return
    output.say(asked.name or asked.kind)
    output.say(f"{len(asked.categories)} categories: {', '.join(map(output.label, asked.categories))}")
    if isinstance(asked, Levels):
        output.say(f"{len(asked.levels)} levels, most private first; a response is read given its level")
        for level in asked.levels:
            output.say()
            output.say(f"level {level}: {asked.channel(level).name or asked.channel(level).kind}")
            _channel(asked.channel(level))
        output.say()
        output.say(privacy.lines(asked)[-1])
    else:
        _channel(asked.channel())
    for text in asked.notes if isinstance(asked, Levels) else ():
        output.say(f"note: {text}")


def _channel(design: Design) -> None:
    """Response space, matrix, notes and privacy of one design."""
    output.say(f"a response is {_reported(design)}")
    output.say()
    _matrix(design)
    output.say()
    for line in privacy.lines(design):
        output.say(line)
    try:
        output.say(f"largest odds: {_largest_odds(design)}")
    except DesignError:
        output.say("largest odds: not computed, for the same reason")
    for line in _sinks(design):
        output.say(line)


def _reported(design: Design) -> str:
    space = design.space
    if isinstance(space, Subsets):
        return f"a set of {space.sized} of the {len(space.labels)} categories, one of {space.size:,}"
    if isinstance(space, Pair):
        return f"a pair of answers, one of {space.size:,}"
    return f"one label of {space.size:,}"


def _matrix(design: Design) -> None:
    t, size = len(design.categories), design.space.size
    if size > _ROWS or t > _COLUMNS:
        why = "responses cannot be listed" if not design.space.listable else "the matrix is too large for a terminal"
        output.say(f"P(response | category) has {size:,} rows and {t} columns; {why}, it is not shown")
        return
    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    grid.add_column("P(response | category)", overflow="fold")
    for category in design.categories:
        grid.add_column(Text(output.label(category)), justify="right", overflow="fold", min_width=6)
    for text, row in zip(design.responses.texts(), design.matrix, strict=True):
        grid.add_row(Text(str(text)), *(f"{chance:.4f}" for chance in row))
    output.show(grid)


def _largest_odds(design: Design) -> str:
    largest = float(privacy.odds(design).max())
    if math.isinf(largest):
        return "an answer can prove a category"
    return f"an answer multiplies the odds of a category against the rest by {largest:.4g} at most (uniform prior)"


def _sinks(design: Design) -> list[str]:
    """For each category that a sink replaces: the odds of naming it, and what it costs in variance."""
    try:
        return [
            f"sink {str(sink.response)!r} for {str(sink.category)!r}: odds a/b = {sink.odds:.4g}; the variance of its "
            f"estimate is {sink.variance_ratio:.4g} times that of negative() at equal shares"
            for sink in sinks(design)
        ]
    except NotEstimable as error:
        return [f"variance: not computed; {error}"]


def catalog(
    format_: Annotated[Literal["table", "json"], typer.Option("--format", help="How to list them.")] = "table",
) -> None:
    """List the designs that --design can name.

    \b
    Example:
      naysay designs
    """
    rows = designs.catalog()
    if format_ == "json":
        keys = ("name", "parameters", "description")
        output.say(output.json_text([dict(zip(keys, row, strict=True)) for row in rows]))
        return
    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    grid.add_column("design", overflow="fold")
    grid.add_column("what it is", overflow="fold")
    for name, parameters, told in rows:
        grid.add_row(Text(f"{name}({parameters})"), Text(told))
    output.show(grid)
