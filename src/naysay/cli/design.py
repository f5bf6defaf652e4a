"""``naysay design show`` and ``naysay designs``: what a design does, and the list of designs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from naysay import _checks, designs, privacy
from naysay.console import output
from naysay.console.options import Categories, design_of
from naysay.design import Answerable, Design, protocols
from naysay.design.flowchart import one_for_all, parts
from naysay.errors import DataError, DesignError, NotEstimable
from naysay.estimate.negative import sinks
from naysay.estimate.paper import assumed, sources
from naysay.report import flowchart
from naysay.show import Column, Content, Heading, Table
from naysay.show import text as as_text
from naysay.show.result import rounded_up

app = typer.Typer(rich_markup_mode=None)

PURPOSES = {
    "A yes-or-no question": "warner two_coins forced_response mangat kuk unrelated_question crosswise triangular "
    "christofides singh_joarder mangat_singh_singh",
    "A question with several answers, of which people rule some out (negative surveys)": "negative negative_sink "
    "two_option gaussian_negative negative_matrix",
    "How much to reveal is the respondent's choice": "negative_levels budgets levels",
    "Several samples or a second question, which tell what one alone cannot": "extended_crosswise anchored_crosswise "
    "controlled cheating_detection cheating_detection_symmetric stochastic_lie_detector unrelated_question_unknown "
    "one_saying asked_twice abul_ela samples double_sampling",
    "How many statements of a list are true (item counts)": "item_count double_list single_sample_count",
    "Categories under a promised ε (local differential privacy)": "frequency k_ary subset_selection affine unary "
    "heavy_hitters remembered",
    "Numbers and ordered categories under a promised ε": "number window hierarchy",
    "Made of other designs, of any matrix, or of counts": "mix custom calibrated",
    "For comparison only": "direct uniform hadamard",
}
"""The families by what somebody wants of them."""

_ROWS, _COLUMNS = 66, 12  # the largest matrix that is readable on a terminal


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
        typer.Option("--format", help="json: the design's file, in the form that clients read."),
    ] = "table",
    chart: Annotated[
        bool, typer.Option("--chart", help="Show what a respondent does, step by step, instead of the numbers.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the steps as a flowchart to an SVG file.")
    ] = None,
    shuffled: Annotated[
        int | None,
        typer.Option(metavar="N", help="Also show (ε, δ) if N reports arrive without sender and order; of each level."),
    ] = None,
    delta: Annotated[float, typer.Option(help="δ for --shuffled.")] = 1e-6,
    colluding: Annotated[
        float, typer.Option(metavar="SHARE", help="Senders for --shuffled among whose reports nobody hides.")
    ] = 0.0,
) -> None:
    """Show a design: its numbers, instruction, assumptions.

    Shows the matrix P(response | category) and what an answer reveals about the person, for each level or sample of the
    design. With --chart it shows the steps that a respondent follows instead. Below are the instruction in plain words,
    the assumptions, and the source.

    \b
    Examples:
      naysay design show "warner(p=0.7)"
      naysay design show "two_coins()" --chart
      naysay design show "negative(discards=2)" --categories "a,b,c,d"
      naysay design show "cheating_detection(p=(1/4, 3/4))" --svg flowchart.svg
      naysay design show "k_ary(epsilon=1)" --categories "a,b,c" --format json
      naysay design show "k_ary(epsilon=4)" --categories "a,b,c" --shuffled 100000
    """
    parsed_design = design_of(design, categories)
    if format_ == "json":
        if chart or shuffled is not None:
            wrong_option = "--chart" if chart else "--shuffled"
            raise DataError(
                f"--format json writes the design's own file, which holds its steps; leave {wrong_option} out"
            )
        output.say(parsed_design.to_json(indent=1))
    else:
        _say_design(parsed_design, chart=chart)
    if shuffled is not None:
        _say_shuffled(parsed_design, shuffled, delta, colluding)
    if svg is not None:
        output.write(svg, lambda: flowchart(parsed_design))
        output.note(f"the flowchart is in {svg}")


def _say_design(design: Answerable, *, chart: bool) -> None:
    """The design as text: its probabilities and privacy, or its flowchart; then the instruction and assumptions."""
    output.say(design.name or design.kind)
    categories_text = f"{len(design.categories)} categories: {', '.join(map(_checks.label, design.categories))}"
    output.say(categories_text if design.categories else "the values need no list")
    _say_cells(design)
    if not chart:
        _say_channels(design)
    for protocol_title, protocol in protocols(design):
        output.say()
        if protocol_title:
            output.say(f"{protocol_title}:")
        if chart:
            output.say(f"{protocol}\n")
        output.say(f"instruction: {protocol.instruction}")
    output.say()
    for line in _grounds(design):
        output.say(line)


def _say_shuffled(design: Answerable, reports: int, delta: float, colluding: float) -> None:
    """What n reports of each part promise if they arrive without sender and order."""
    n = dict.fromkeys(design.parts, reports) if design.offer.several else reports
    shuffled_privacy = privacy.shuffled(design, n=n, delta=delta, colluding=colluding)
    for part_name, part_privacy in shuffled_privacy.items() if design.offer.several else ((None, shuffled_privacy),):
        output.say(f"\n{'' if part_name is None else f'{design.offer.noun} {part_name}: '}{part_privacy}".rstrip())


def _say_cells(design: Answerable) -> None:
    """The kinds of people that samples tell apart, and the shares of them that are estimated."""
    if design.offer.assigned_by == "researcher":
        output.say(f"{len(design.parts)} samples, each asked in its own way; one estimate for all")
    if len(design.cells) > len(design.categories):
        output.say(f"{len(design.cells)} kinds of respondents: {', '.join(map(_checks.label, design.cells))}")
    for share in (*design.shares, *design.nuisance):
        of, among = (
            ", ".join(f"“{_checks.label(cell_name)}”" for cell_name in cell_names)
            for cell_names in (share.of, share.among)
        )
        if share.of != (share.name,):
            role = "estimated" if share in design.shares else "estimated beside them"
            output.say(f"{role}: “{_checks.label(share.name)}”, the share of {of}{' among ' if among else ''}{among}")


def _say_channels(design: Answerable) -> None:
    """Probabilities and privacy of the design, or of each of its parts."""
    if (shared_design := one_for_all(design)) is not None:
        output.say(f"{len(design.parts)} groups, of which each device draws one; all report in the same way")
        output.say(f"a response is the group, and a number of the design {shared_design.name}")
        output.say("\n".join(privacy.lines(design)))
        return
    offers_levels = design.offer.assigned_by == "respondent"
    if offers_levels:
        output.say(f"{len(design.parts)} levels, most private first; a response is read given its level")
    for part_name, part in design.parts.items():
        if part_name is not None:
            output.say()
            output.say(f"{design.kind.removesuffix('s')} {part_name}{f': {part.name}' if part.name else ''}")
        _say_channel(part)
    if offers_levels:
        output.say()
        output.say(privacy.lines(design)[-1])
    for note_text in design.notes if design.offer.several else ():
        output.say(f"note: {note_text}")


def _grounds(design: Answerable) -> list[str]:
    """One line on what the design assumes, and one on who proposed it."""
    assumption_texts = [
        text
        for part in parts(design)
        for text in (
            *designs.ASSUMPTIONS.get(part.name.partition("(")[0], ()),
            *(part.protocol.assumes if part.protocol is not None else ()),
        )
    ]
    grounds = {"assumes": assumed(design, assumption_texts), "source": sources(design)}
    return [f"{ground_name}: {'; '.join(texts)}" for ground_name, texts in grounds.items() if texts]


def _say_channel(design: Design) -> None:
    """Response space, matrix, notes and privacy of one design."""
    output.say(f"a response is {_response_text(design)}")
    output.say()
    _say_matrix(design)
    output.say()
    output.say("\n".join([*privacy.lines(design), f"largest odds: {_largest_odds(design)}", *_sinks(design)]))


def _response_text(design: Design) -> str:
    space: Any = design.space
    if space.sets:
        return f"a set of {space.sized} of the {len(space.labels)} categories, one of {space.size:,}"
    if space.answers == 1 and not space.one_label:
        return f"written as numbers, one of {space.size:,}"
    return f"{'one label' if space.answers == 1 else 'a pair of answers, one'} of {space.size:,}"


def _say_matrix(design: Design) -> None:
    t, response_count = len(design.categories), design.space.size
    if response_count > _ROWS or t > _COLUMNS:
        reason = "responses cannot be listed" if not design.space.listable else "the matrix is too large for a terminal"
        output.say(f"P(response | category) has {response_count:,} rows and {t} columns; {reason}, it is not shown")
        return
    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    grid.add_column("P(response | category)", overflow="fold")
    for category in design.categories:
        grid.add_column(Text(_checks.label(category)), justify="right", overflow="fold", min_width=6)
    for response_text, matrix_row in zip(design.responses.texts(), design.matrix, strict=True):
        grid.add_row(Text(str(response_text)), *(f"{chance:.4f}" for chance in matrix_row))
    output.show(grid)


def _largest_odds(design: Design) -> str:
    try:
        largest = float(privacy.odds(design).max())
    except DesignError:
        return "not computed, for the same reason"
    if math.isinf(largest):
        return "an answer can prove a category"
    most = rounded_up(largest, 4)
    return f"an answer multiplies the odds of a category against the rest by {most} at most (uniform prior)"


def _sinks(design: Design) -> list[str]:
    """For each category that a sink replaces: the odds of naming the sink, and the cost in variance."""
    try:
        return [
            f"{'' if sink.level is None else f'level {sink.level}: '}"
            f"sink {str(sink.response)!r} for {str(sink.category)!r}: odds a/b = {sink.odds:.4g}; the variance of its "
            f"estimate is {sink.variance_ratio:.4g} times that of negative() at equal shares"
            for sink in sinks(design)
        ]
    except NotEstimable as error:
        return [f"variance: not computed; {error}"]


def catalog(
    format_: Annotated[Literal["table", "json"], typer.Option("--format", help="Format of the list.")] = "table",
) -> None:
    """List the designs that --design can name.

    \b
    Example:
      naysay designs
    """
    catalog_rows = designs.catalog()
    if format_ == "json":
        field_names = ("name", "parameters", "description")
        output.say(output.json_text([dict(zip(field_names, catalog_row, strict=True)) for catalog_row in catalog_rows]))
        return
    columns = (Column("design", words=True), Column("what it is", words=True))
    row_of_design = {
        design_name: (f"{design_name}({parameters})", description)
        for design_name, parameters, description in catalog_rows
    }
    content: list[Content] = []
    for purpose, design_names in PURPOSES.items():
        content += [Heading(purpose), Table(columns, tuple(row_of_design[name] for name in design_names.split()))]
    output.say(as_text(content))
