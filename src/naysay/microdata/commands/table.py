"""``naysay table``: a table of counts or amounts made safe to publish."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from naysay import files
from naysay.console import output
from naysay.console.options import Count, Encoding, File, Force, Format, Html, Separator, column
from naysay.console.output import takes
from naysay.errors import DataError
from naysay.microdata.commands import inputs
from naysay.microdata.protect.hierarchies import Hierarchy

if TYPE_CHECKING:
    import polars as pl

    from naysay.microdata.tables import CellTable, NoisyTable, ProtectedTable, Rules


@dataclass(frozen=True)
class TableOptions:
    """The options of ``naysay table``."""

    file: File
    by: Annotated[str, Option(metavar="RECORD", help="The columns whose values make the cells: 'region,activity'.")]
    value: Annotated[str | None, column("An amount that is added up; without it people are counted.")] = None
    count: Count = None
    unit: Annotated[str | None, column("Who contributes: rows of one household or firm are one contributor.")] = None
    hierarchy: Annotated[
        list[str] | None, Option(metavar="COLUMN=FILE", help="Sums below the total, a CSV file: a row a category.")
    ] = None
    minimum: Annotated[
        int, Option(min=1, metavar="N", help="Fewer contributors than this are too few; 1 for no such rule.")
    ] = 3
    dominance: Annotated[
        str | None, Option(metavar="N,K", help="Of amounts: the N largest may hold at most K percent.")
    ] = None
    percent: Annotated[
        float | None,
        Option(metavar="P", help="Of amounts, the p % rule: nobody may know the largest to within P percent."),
    ] = None
    margin: Annotated[
        float, Option(metavar="P", help="Of amounts with too few contributors: percent that must stay open.")
    ] = 30.0
    method: Annotated[
        Literal["optimal", "hypercube", "none"],
        Option(help="How further cells are chosen: the cheapest, quickly, or not at all (to look)."),
    ] = "optimal"
    cost: Annotated[Literal["values", "cells"], Option(help="What a further cell costs: its value, or one.")] = "values"
    epsilon: Annotated[
        str | None, Option(metavar="E", help="Instead: counts with noise, differentially private for each row.")
    ] = None
    na: Annotated[str | None, Option(metavar="RECORD", help="Cells that mean missing, such as 'NA,-9'.")] = None
    out: Annotated[Path | None, Option(metavar="FILE", help="Write the table that may be published, as CSV.")] = None
    force: Force = False
    html: Html = None
    format_: Format = "table"
    separator: Separator = ","
    encoding: Encoding = None


@takes(TableOptions)
def command(options: TableOptions) -> None:
    """Suppress the cells of a table that tell too much. Others go with them, so that none can be computed.

    FILE has a row for each person or firm, or with --count a row for each cell. The command adds up all totals, finds
    the cells that tell too much of single contributors, and suppresses the cheapest further cells that hide them. Then
    it computes, for every suppressed cell, the least and the largest value that the published cells leave possible.
    Printed are the table and these intervals. Json and csv also hold the suppressed values: they are for you alone.

    \b
    Examples:
      naysay table people.csv --by region,gender
      naysay table counts.csv --by region,job --count n --method hypercube \\
          --out safe.csv
      naysay table firms.csv --by region,activity --value turnover \\
          --unit firm --percent 10 --hierarchy region=regions.csv --html table.html
      naysay table people.csv --by region,gender --epsilon 0.5 --out noisy.csv
    """
    from naysay.microdata.tables import noisy, protect

    output.check(options.html)
    if options.out is not None:
        output.check_free(options.out, force=options.force)
    rules, missing = _rules(options), inputs.missing_texts(options.na)
    with files.readable(options.file):
        frame = files.Original.read(
            options.file, separator=options.separator, encoding=options.encoding, codes=False, missing=missing
        ).frame
    table = _table(options, frame, max(2, rules.dominance[0] if rules.dominance else 2))
    protected_table: ProtectedTable | NoisyTable
    if options.epsilon is None:
        protected_table = protect(table, rules=rules, method=options.method, cost=options.cost)
    else:
        protected_table = noisy(table, epsilon=options.epsilon)
    table_columns = [
        *inputs.record(options.by, option="--by"),
        *(column_name for column_name in (options.value, options.unit) if column_name),
    ]
    inputs.note_codes(inputs.codes_in_frame(frame, table_columns))
    if options.out is not None:
        options.out.write_text(protected_table.released() + "\n", encoding="utf-8")
    output.result(protected_table, options.format_)
    output.write(options.html, protected_table.page)


def _rules(options: TableOptions) -> Rules:
    """The rules that the options name, checked before the file is read."""
    from naysay.microdata.tables import Rules

    dominance = None
    if options.dominance is not None:
        try:
            most, share = options.dominance.split(",")
            dominance = (int(most), float(share))
        except ValueError:
            raise DataError(f"--dominance must be N,K, such as 1,75; got {options.dominance!r}") from None
    return Rules(options.minimum, dominance, options.percent, options.margin)


def _table(options: TableOptions, frame: pl.DataFrame, largest: int) -> CellTable:
    from naysay.microdata.tables import tabulate

    by_columns = inputs.record(options.by, option="--by")
    path_texts = inputs.named_values(options.hierarchy or (), option="--hierarchy", example="region=regions.csv")
    randomized = files.randomized_columns(options.file, encoding=options.encoding)
    if tabulated_columns := [column_name for column_name in randomized if column_name in (*by_columns, options.value)]:
        output.note(
            f"randomized answers, not people's own, and counted as they were sent: {', '.join(tabulated_columns)}"
        )
    hierarchies = {
        column_name: Hierarchy.read(Path(path_text), separator=options.separator)
        for column_name, path_text in path_texts.items()
    }
    return tabulate(
        frame,
        by_columns,
        value=options.value,
        count=options.count,
        unit=options.unit,
        hierarchies=hierarchies,
        largest=largest,
    )
