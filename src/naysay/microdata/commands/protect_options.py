"""The options of ``naysay protect``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from naysay.console.options import Codes, Encoding, File, Force, Separator, TableName, column


@dataclass(frozen=True)
class ProtectOptions:
    """The options of ``naysay protect``."""

    file: File
    keys: Annotated[
        list[str] | None,
        Option(
            metavar="RECORD", help="The variables that an intruder may know, such as 'age,gender'. Repeat for more."
        ),
    ] = None
    target: Annotated[
        str | None,
        Option(
            metavar="TARGET",
            help="How many matches every record must have: 'k >= 3' (read the same, gaps included; the default), or c "
            "or m, which promise less; also 'k >= 3 and l(illness) >= 2' (or t, ordered_t, entropy_l, recursive_l, "
            "presence).",
        ),
    ] = None
    importance: Annotated[
        list[str] | None,
        Option(metavar="KEY=WORD", help="What losing a cell of a key costs: low, normal, high, must, or a number."),
    ] = None
    hierarchy: Annotated[
        list[str] | None, Option(metavar="KEY=FILE", help="Coarser levels of a key, a CSV file: a row a value.")
    ] = None
    hierarchies: Annotated[
        Path | None,
        Option(metavar="FILE", help="Coarser levels of keys: a workbook with a sheet a key, or a folder of CSV files."),
    ] = None
    write_hierarchies: Annotated[
        Path | None,
        Option(
            "--write-hierarchies", metavar="FILE", help="Write levels of each key to such a FILE, to edit them first."
        ),
    ] = None
    bins: Annotated[list[str] | None, Option(metavar="KEY=WIDTH", help="Put a key's numbers in bins first.")] = None
    strata: Annotated[
        str | None, Option(metavar="RECORD", help="Columns that stay, within whose values the target is reached.")
    ] = None
    related: Annotated[
        list[str] | None,
        Option(metavar="COLUMN=KEY", help="A column that tells of a key, and is emptied where the key is."),
    ] = None
    accept: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="Release this column although it tells of hidden cells; the log says so."),
    ] = None
    beside: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="An earlier release of this file, with its log: protect what both tell together."),
    ] = None
    keep_order: Annotated[
        bool, Option("--keep-order", help="Do not shuffle the rows; their order links files row by row.")
    ] = False
    unit: Annotated[str | None, column("Whose rows belong together: a household, or a person over waves.")] = None
    order: Annotated[
        str | None, column("What orders the rows of a unit, such as a wave; without it they have none.")
    ] = None
    drop: Annotated[
        str | None, Option(metavar="RECORD", help="Columns to leave out, such as numbers of respondents.")
    ] = None
    na: Annotated[str | None, Option(metavar="RECORD", help="Cells that mean missing, such as 'NA,-9'.")] = None
    plan: Annotated[
        Path | None, Option(metavar="FILE", help="Run this plan, a TOML file, instead of proposing one.")
    ] = None
    save: Annotated[
        Path | None, Option(metavar="FILE", help="Write the plan that is proposed, to read and change it.")
    ] = None
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The release; without it, only what the plan would do is shown.")
    ] = None
    html: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write before and after as a page for a review board."),
    ] = None
    force: Force = False
    format_: Annotated[Literal["table", "json"], Option("--format", help="How the result is printed.")] = "table"
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False
    table: TableName = None
