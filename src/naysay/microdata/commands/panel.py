"""``naysay panel``: waves merged to one row for each respondent, and months of birth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer
from typer import Argument, Option

from naysay import _checks, files
from naysay.console import output
from naysay.console.options import Encoding, Force, Separator, column
from naysay.console.output import takes
from naysay.errors import DataError
from naysay.files.text import as_gaps
from naysay.microdata import panel
from naysay.microdata.commands import inputs
from naysay.microdata.commands.options import Place, Text
from naysay.responses import JOINER

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Prepare the waves of a panel for `naysay risk`.

    \b
    Example:
      naysay panel birthdays background.csv --out birthdays.csv
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@dataclass(frozen=True)
class WavesOptions:
    """The options of both commands: which waves to read, and what to write."""

    waves: Annotated[
        list[Path], Argument(metavar="FILE…", help="Waves and modules: CSV, Parquet, JSON lines, SPSS, Stata.")
    ]
    out: Annotated[Path, Option(metavar="FILE", help="The file to write, of the kind that its suffix says.")]
    respondent: Annotated[str, column("Who answered.")] = "respondent"
    wave: Annotated[str, column("In which month: 2009-03, 200903, or a date.")] = "wave"
    months: Annotated[Text, Option(metavar="RECORD", help="The month of each FILE, where files do not hold it.")] = None
    na: Annotated[Text, Option(metavar="RECORD", help="Cells that mean missing, such as 'NA,-9'.")] = None
    force: Force = False
    format_: Annotated[Literal["table", "json"], Option("--format", help="How the counts are printed.")] = "table"
    separator: Separator = ","
    encoding: Encoding = None


@dataclass(frozen=True)
class MergeOptions(WavesOptions):
    """The options of ``naysay panel merge``."""

    background: Annotated[
        Text,
        Option(metavar="RECORD", help="Background variables; respondents who answered nothing else are set aside."),
    ] = None
    number: Annotated[Text, column("Numbers of the waves; they must rise with the months.")] = None


@app.command("merge")
@takes(MergeOptions)
def merge(options: MergeOptions) -> None:
    """Merge monthly waves to one row for each respondent.

    The most recent known value of each variable counts. Files hold one row for each respondent and month. They may be
    one long file, one file a wave, or modules beside the background, in any order. The command prints how many
    respondents are set aside and what is missing. It prints no respondent's values.

    \b
    Examples:
      naysay panel merge background.csv work.csv --out merged.csv \\
          --background gender,age,year_of_birth
      naysay panel merge march.csv april.csv --months 2009-03,2009-04 \\
          --out merged.parquet --na refused --format json
    """
    _check_out([options.out], options.waves, force=options.force)
    background = options.background
    merged_panel = panel.merge_waves(
        _tables(options),
        respondent=options.respondent,
        wave=options.wave,
        background=None if background is None else inputs.record(background, option="--background"),
        number=options.number,
    )
    files.write(merged_panel.table, options.out, separator=options.separator)
    output.result(merged_panel, options.format_)
    output.note(f"{options.out}: {merged_panel.kept:,} respondents")


@dataclass(frozen=True)
class BirthdayOptions(WavesOptions):
    """The options of ``naysay panel birthdays``."""

    age: Annotated[str, column("Age in completed years.")] = "age"
    bounds: Annotated[bool, Option("--bounds", help="Use every age, as an intruder would, not only changes.")] = False
    year_of_birth: Annotated[Text, column("The year of birth; with --bounds it narrows the months.")] = None
    beside: Annotated[Place, Option(metavar="FILE", help="A file of respondents to which the month is added.")] = None
    contradictions: Annotated[
        Place, Option(metavar="FILE", help="Write respondents whose ages contradict each other, wave by wave.")
    ] = None


@app.command("birthdays")
@takes(BirthdayOptions)
def birthdays(options: BirthdayOptions) -> None:
    """Find the months of birth from changes of age between waves.

    The command writes a column month_of_birth with the months that remain possible. It is a list in Parquet and JSON
    lines; in CSV the months are joined by ';' (for naysay risk --joined month_of_birth). Respondents with contradictory
    ages are counted, and their month is missing.

    \b
    Examples:
      naysay panel birthdays background.csv --out birthdays.csv
      naysay panel birthdays background.csv --out with_month.csv \\
          --bounds --year-of-birth year_of_birth --beside members.csv
    """
    out_path, beside_path, contradictions_path = options.out, options.beside, options.contradictions
    out_paths = [out_path] if contradictions_path is None else [out_path, contradictions_path]
    _check_out(out_paths, [*options.waves, *([] if beside_path is None else [beside_path])], force=options.force)
    birth_months = panel.month_of_birth(
        _tables(options),
        age=options.age,
        respondent=options.respondent,
        wave=options.wave,
        bounds=options.bounds,
        year_of_birth=options.year_of_birth,
    )
    table = birth_months.table if beside_path is None else birth_months.beside(_read_table(beside_path, options))
    files.write(_plain(table, out_path), out_path, separator=options.separator)
    if contradictions_path is not None:
        files.write(
            _plain(birth_months.contradictions, contradictions_path), contradictions_path, separator=options.separator
        )
        output.note(
            f"{contradictions_path}: {birth_months.contradictions.height:,} respondents with their ages; keep it safe"
        )
    output.result(birth_months, options.format_)
    output.note(f"{out_path}: {table.height:,} respondents")


def _tables(options: WavesOptions) -> dict[str, pl.DataFrame]:
    """The files by name, each with its month in a column."""
    wave_paths, wave = options.waves, options.wave
    months = (None,) * len(wave_paths) if options.months is None else inputs.record(options.months, option="--months")
    if len(months) != len(wave_paths):
        raise DataError(f"--months must name one month a file; got {len(months)} for {len(wave_paths)} files")
    for wave_path in wave_paths:
        if wave_paths.count(wave_path) > 1:
            raise DataError(f"{str(wave_path)!r} is named twice")
    missing_texts = inputs.missing_texts(options.na)
    table_of = {}
    for wave_path, month in zip(wave_paths, months, strict=True):
        wave_table = _read_table(wave_path, options, missing_texts)
        if month is None and wave not in wave_table.columns:
            advice = "name it with --wave, or give the month of each file with --months"
            raise DataError(f"{str(wave_path)!r} has no column {wave!r} for the month of a row; {advice}")
        if month is not None and wave in wave_table.columns:
            raise DataError(f"{str(wave_path)!r} has a column {wave!r}; leave --months out, or name another --wave")
        table_of[str(wave_path)] = wave_table if month is None else wave_table.with_columns(pl.lit(month).alias(wave))
    return table_of


def _read_table(path: Path, options: WavesOptions, absent: Sequence[str] = ()) -> pl.DataFrame:
    """A file, with null for cells that mean missing; the names of respondents stay as they are."""
    with files.readable(path):
        frame = files.scan(path, separator=options.separator, encoding=options.encoding)
        files.check_columns(frame, [options.respondent])
        column_names = [name for name in frame.collect_schema().names() if name != options.respondent]
        return as_gaps(frame, column_names, absent).collect()


def _plain(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Lists as text where the file cannot hold them."""
    if files.kind(path) in ("parquet", "jsonl"):
        return table
    list_columns = [column_name for column_name, dtype in table.schema.items() if dtype == pl.List]
    return table.with_columns(
        pl.col(column_name).cast(pl.List(pl.String)).list.join(JOINER) for column_name in list_columns
    )


def _check_out(outs: Sequence[Path], input_paths: Sequence[Path], *, force: bool) -> None:
    """Raise unless every file can go where it should."""
    if len(set(outs)) < len(outs):
        raise DataError(f"two outputs have one name: {_checks.listing_text(outs)}")
    for out_path in outs:
        files.kind(out_path, to_write=True)
        if any(
            out_path.exists() and input_path.exists() and out_path.samefile(input_path) for input_path in input_paths
        ):
            raise DataError(f"{str(out_path)!r} is read as well; write to another file")
        output.check_free(out_path, force=force)
