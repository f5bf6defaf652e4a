"""The options of ``naysay risk`` and ``naysay protect``, whose work is loaded only when they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from typer import Option

from naysay.console.options import Codes, Encoding, File, Force, Format, Separator, TableName, column

Text = str | None
Texts = list[str] | None
Whole = int | None
Place = Path | None

OF_SEARCH = ("measure", "order", "most", "minutes", "resume")
OF_REPORT = ("by", "protection")
"""The options of ``naysay risk`` that only a search, and only a report, has."""


@dataclass(frozen=True, kw_only=True)
class RiskOptions:
    """The options of ``naysay risk``, as they are written on the command line."""

    search_option: ClassVar[str] = "--search"

    file: File
    keys: Annotated[
        list[str], Option(metavar="RECORD", help="The key variables of one quasi-identifier. Repeat for more.")
    ]
    population: Annotated[
        float | None, Option(metavar="N", help="The size of the population that was sampled; for θ and weights.")
    ] = None
    missing: Annotated[
        Texts,
        Option(
            metavar="POLICIES",
            help="A missing key matches everything (wildcard, the default), is a value of its own (category), "
            "deletes its respondent (drop) or is drawn from people who are alike (impute). For all keys, or for each: "
            "age=drop,income=category. Repeat to compare.",
        ),
    ] = None
    na: Annotated[Text, Option(metavar="RECORD", help="Cells that mean missing, such as 'Not_Say,NA,-9'.")] = None
    rule: Annotated[
        Literal["worst", "intersect", "first"],
        Option(help="How uncertain keys match: by the worst candidate, any or the first."),
    ] = "worst"
    weight: Annotated[Text, column("Sampling weights: people behind each respondent.")] = None
    sensitive: Annotated[Text, column("Count its values among people alike on the keys.")] = None
    also: Annotated[
        Texts,
        Option(
            metavar="RECORD",
            help="Measure more: readings (the least k, c and m); models of the population: pitman, zayatz, snb, "
            "loglinear; individual (risk of each record); suda (special uniques); closeness, "
            "ordered_closeness, presence (of --sensitive).",
        ),
    ] = None
    household: Annotated[Text, column("Also the risk that somebody of the same household is recognized.")] = None
    areas: Annotated[
        Texts,
        Option(
            metavar="RULE",
            help="Which areas hold too few people: 'people(town, FILE) >= 100000'; FILE is CSV, area,people.",
        ),
    ] = None
    joined: Annotated[Texts, Option(metavar="KEY", help="A key whose cells list candidates: 'March;April'.")] = None
    either: Annotated[Texts, Option(metavar="KEY=A,B", help="A key with two candidates, from columns A and B.")] = None
    between: Annotated[Texts, Option(metavar="KEY=LOW,HIGH", help="A key known to lie between two columns.")] = None
    design: Annotated[
        Texts, Option(metavar="KEY=DESIGN", help="A key of privatized answers, such as income='negative(discards=2)'.")
    ] = None
    categories: Annotated[
        Texts, Option(metavar="KEY=RECORD", help="The categories of such a key, unless its design names them.")
    ] = None
    level: Annotated[
        Texts, Option(metavar="KEY=COLUMN", help="The column of chosen levels, if the design offers them.")
    ] = None
    attempt: Annotated[
        Texts,
        Option(
            metavar="SCENARIO=P",
            help="Your judgment of Pr(attempt), for Pr(identification): acquaintance, demonstration or register.",
        ),
    ] = None
    stand_out: Annotated[
        Whole,
        Option(min=1, metavar="MOST", help="The fewest keys, up to MOST, on which people match nobody else."),
    ] = None
    row: Annotated[Whole, Option(min=1, metavar="ROW", help="As --stand-out, for one respondent, counted from 1.")] = (
        None
    )
    search: Annotated[Whole, Option(metavar="Q", help="Count and rank every combination of up to Q keys.")] = None
    measure: Annotated[
        Literal["matches", "anonymity"] | None,
        Option(help="What combinations are ranked by: m = 1 (matches, the default) or k = 1."),
    ] = None
    order: Annotated[Texts, Option(metavar="KEY=RECORD", help="A key's values in order, to join neighbors.")] = None
    most: Annotated[Whole, Option(min=1, metavar="N", help="The most combinations that are counted now.")] = None
    minutes: Annotated[float | None, Option(metavar="MINUTES", help="The most time that the search takes.")] = None
    resume: Annotated[Place, Option(metavar="FILE", help="Where finished combinations are kept, to go on later.")] = (
        None
    )
    html: Annotated[Place, Option(metavar="FILE", help="Write a report for a review board, one page.")] = None
    by: Annotated[Text, Option(metavar="NAME", help="Who made the report; it stands at the end of its page.")] = None
    protection: Annotated[
        Place, Option(metavar="FILE", help="The log of what was done to FILE before, for the report: TOML or JSON.")
    ] = None
    per_row: Annotated[Place, Option(metavar="FILE", help="Write each respondent's k, m and risks, without keys.")] = (
        None
    )
    force: Annotated[bool, Option("--force", help="Overwrite FILE of --per-row if it exists.")] = False
    engine: Annotated[Literal["polars", "duckdb", "spark"], Option(help="Where the respondents are counted.")] = (
        "polars"
    )
    explain: Annotated[bool, Option("--explain", help="Say on stderr which algorithm runs, and its likely cost.")] = (
        False
    )
    confidence: Annotated[float, Option(help="The confidence level of θ's intervals.")] = 0.95
    format_: Format = "table"
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False
    table: TableName = None


@dataclass(frozen=True, kw_only=True)
class SearchOptions(RiskOptions):
    """The options of ``naysay risk search``."""

    search_option: ClassVar[str] = "--up-to"

    search: Annotated[
        int, Option("--up-to", metavar="Q", help="Count and rank every combination of up to Q of the keys.")
    ] = field()


@dataclass(frozen=True, kw_only=True)
class ReportOptions(RiskOptions):
    """The options of ``naysay risk report``."""

    html: Annotated[Path, Option(metavar="FILE", help="Where the report for a review board is written, one page.")] = (
        field()
    )


@dataclass(frozen=True)
class ProtectOptions:
    """The options of ``naysay protect``."""

    file: File
    keys: Annotated[
        Texts,
        Option(
            metavar="RECORD", help="The variables that an intruder may know, such as 'age,gender'. Repeat for more."
        ),
    ] = None
    target: Annotated[
        Text,
        Option(
            metavar="TARGET",
            help="How many matches every record must have: 'k >= 3' (read the same, gaps included; the default), or c "
            "or m, which promise less; also 'k >= 3 and l(illness) >= 2' (or t, ordered_t, entropy_l, recursive_l, "
            "presence); 'people(town, FILE) >= 100000' puts areas of fewer people together (FILE: area,people).",
        ),
    ] = None
    importance: Annotated[
        Texts,
        Option(metavar="KEY=WORD", help="What losing a cell of a key costs: low, normal, high, must, or a number."),
    ] = None
    hierarchy: Annotated[
        Texts, Option(metavar="KEY=FILE", help="Coarser levels of a key, a CSV file: a row a value.")
    ] = None
    hierarchies: Annotated[
        Place,
        Option(metavar="FILE", help="Coarser levels of keys: a workbook with a sheet a key, or a folder of CSV files."),
    ] = None
    write_hierarchies: Annotated[
        Place,
        Option(
            "--write-hierarchies", metavar="FILE", help="Write levels of each key to such a FILE, to edit them first."
        ),
    ] = None
    bins: Annotated[Texts, Option(metavar="KEY=WIDTH", help="Put a key's numbers in bins first.")] = None
    strata: Annotated[
        Text, Option(metavar="RECORD", help="Columns that stay, within whose values the target is reached.")
    ] = None
    related: Annotated[
        Texts,
        Option(metavar="COLUMN=KEY", help="A column that tells of a key, and is emptied where the key is."),
    ] = None
    accept: Annotated[
        Texts,
        Option(metavar="COLUMN", help="Release this column although it tells of hidden cells; the log says so."),
    ] = None
    beside: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="An earlier release of this file, with its log: protect what both tell together."),
    ] = None
    keep_order: Annotated[
        bool, Option("--keep-order", help="Do not shuffle the rows; their order links files row by row.")
    ] = False
    unit: Annotated[Text, column("Whose rows belong together: a household, or a person over waves.")] = None
    order: Annotated[Text, column("What orders the rows of a unit, such as a wave; without it they have none.")] = None
    drop: Annotated[Text, Option(metavar="RECORD", help="Columns to leave out, such as numbers of respondents.")] = None
    na: Annotated[Text, Option(metavar="RECORD", help="Cells that mean missing, such as 'NA,-9'.")] = None
    plan: Annotated[Place, Option(metavar="FILE", help="Run this plan, a TOML file, instead of proposing one.")] = None
    save: Annotated[Place, Option(metavar="FILE", help="Write the plan that is proposed, to read and change it.")] = (
        None
    )
    out: Annotated[
        Place, Option(metavar="FILE", help="The release; without it, only what the plan would do is shown.")
    ] = None
    html: Annotated[
        Place,
        Option(metavar="FILE", help="Write before and after as a page for a review board."),
    ] = None
    force: Force = False
    format_: Annotated[Literal["table", "json"], Option("--format", help="How the result is printed.")] = "table"
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False
    table: TableName = None
