"""``naysay randomize``: an existing file, with one column replaced by randomized answers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from naysay import _checks, files, frames, privacy
from naysay.console import output
from naysay.console.labels import with_labels
from naysay.console.options import Categories, Codes, DesignText, Encoding, File, Separator, design_of, record_text
from naysay.design import Answerable, Levels
from naysay.errors import AnswerError, DataError
from naysay.responses import JOINER, Pair, Responses, Subsets

__all__ = ["command"]


def command(
    file: File,
    response: Annotated[str, typer.Option(metavar="COLUMN", help="The true categories, which are replaced.")],
    design: DesignText,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, of the kind that its suffix says.")],
    categories: Categories = None,
    level: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The level of each record; without it levels are drawn.")
    ] = None,
    preferences: Annotated[
        str | None, typer.Option(metavar="P1,P2,…", help="The chance of each level where levels are drawn.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Draw the same answers again. Whoever knows the seed can undo the randomization."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE of --out if it exists.")] = False,
    separator: Separator = ",",
    encoding: Encoding = None,
    codes: Codes = False,
) -> None:
    """Randomize one column of an existing file.

    Each record is a respondent: the column of true categories is replaced by randomized answers (sets as 'a;b'); a
    missing cell stays missing. The other columns and the order of rows are kept. Chance comes from the operating
    system unless --seed is given. For a design with levels, --level names a column with each record's choice;
    otherwise levels are drawn, and written to a new column named after the response with _level. From a file of SPSS or
    Stata the value labels are kept, or with --codes the codes; user-missing values become empty cells.

    \b
    Examples:
      naysay randomize truth.csv --response income --out private.csv \\
          --design "negative(discards=2)" --categories "low,middle,high,none"
      naysay randomize truth.csv --response income --out levels.parquet \\
          --design "negative_levels()" --categories "low,middle,high,none" \\
          --preferences 0.5,0.3,0.2
    """
    asked = design_of(design, categories)
    chances = _check_request(asked, level, preferences)
    _check_places(file, out, force=force)
    with files.readable(file):
        frame = files.scan(file, separator=separator, encoding=encoding, codes=codes)
        files.check_columns(frame, [response] if level is None else [response, level])
        table = frame.collect()
    drawn_level = f"{response}_level" if isinstance(asked, Levels) and level is None else None
    if drawn_level in table.columns:
        raise DataError(f"the column {drawn_level!r}, for the levels drawn, exists; use it with --level, or rename it")
    with with_labels(asked, file, [response], encoding=encoding, codes=codes):
        said = _said(asked, table, response, level, chances, None if seed is None else np.random.default_rng(seed))
    columns = [pl.Series(response, said.texts(), dtype=pl.String)]
    if drawn_level is not None and said.level is not None:
        choices = zip(said.level.tolist(), said.missing.tolist(), strict=True)
        columns.append(pl.Series(drawn_level, [None if gone else choice for choice, gone in choices]))
    files.write(table.with_columns(columns), out, separator=separator)
    if seed is not None:
        output.note(f"whoever knows the seed ({seed}) and the design can undo the randomization; keep it secret")
    _report(asked, said, out, response, [name for name in table.columns if name not in (response, level)])
    again = {"--level": level or drawn_level, "--separator": separator if files.kind(out) == "csv" else ","}
    _recipe(asked, design, categories, out, response, again)


def _check_request(asked: Answerable, level: str | None, preferences: str | None) -> tuple[float, ...] | None:
    """The preferences as numbers, after checking that the design can be used on a file like this."""
    call = asked.name or asked.kind
    if isinstance(asked.space, Pair):
        raise DataError(f"{call} asks two questions; randomize their columns one after the other, or use Python")
    if not isinstance(asked, Levels) and (level is not None or preferences is not None):
        raise DataError(f"{call} offers no levels; leave --level and --preferences out")
    if level is not None and preferences is not None:
        raise DataError("give --level or --preferences, not both: levels are either chosen or drawn")
    spaces = [asked.channel(name).space for name in asked.levels]
    holding = [label for label in asked.categories if JOINER in str(label)]
    if holding and any(isinstance(space, Subsets) for space in spaces):
        raise DataError(f"answers are sets joined by ';', so no label may hold one; {holding[0]!r} does, rename it")
    return None if preferences is None else _chances(preferences, len(asked.levels))


def _chances(text: str, size: int) -> tuple[float, ...]:
    try:
        chances = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise DataError(f"--preferences must be numbers with commas, as 0.5,0.3,0.2; got {text!r}") from None
    return tuple(_checks.probability_vector(chances, size, what="--preferences").tolist())


def _check_places(file: Path, out: Path, *, force: bool) -> None:
    """Raise unless the output can go where it should."""
    files.kind(file), files.kind(out, to_write=True)
    if out.exists():
        if file.exists() and out.samefile(file):
            raise DataError(f"--out must not be the input {str(file)!r}; the true answers would be lost")
        if not out.is_file():
            raise DataError(f"{str(out)!r} exists and is no ordinary file")
        if not force:
            raise DataError(f"{str(out)!r} exists; add --force to overwrite it")
    elif not out.parent.is_dir():
        raise DataError(f"there is no folder {str(out.parent)!r} to write to")


def _said(
    asked: Answerable,
    table: pl.DataFrame,
    response: str,
    level: str | None,
    chances: tuple[float, ...] | None,
    rng: np.random.Generator | None,
) -> Responses:
    """One randomized answer for each row."""
    if table.schema[response].is_nested():
        raise DataError(f"column {response!r} must hold one category a row; it holds {table.schema[response]}")
    named = [response] if level is None else [response, level]
    texts = files.as_text(table.lazy().select(named), named).collect()
    truth = texts[response].to_list()
    chosen = None if level is None else texts[level].to_list()
    try:
        if isinstance(asked, Levels):
            return asked.randomize(truth, level=chosen, preferences=chances, rng=rng)
        return asked.channel().randomize(truth, rng=rng)
    except AnswerError as error:
        raise frames.located(error, [response], level, row=error.row) from None


def _report(asked: Answerable, said: Responses, out: Path, response: str, kept: list[str]) -> None:
    """What was written, and what it still tells."""
    missing = int(said.missing.sum())
    output.say(
        f"{out}: {len(said):,} records, {response!r} randomized by {asked.name or asked.kind}, "
        f"{f'{missing:,} missing (kept so)' if missing else 'none missing'}"
    )
    for line in privacy.lines(asked):
        output.say(line)
    others = f"other columns ({_checks.shown(kept)}) and the order of the rows" if kept else "the order of the rows"
    output.say(f"note: kept as before: {others}; they may give the answer away")


def _recipe(
    asked: Answerable, design: str, categories: str | None, out: Path, response: str, more: dict[str, str | None]
) -> None:
    """The command that estimates from the new file."""
    words = ["naysay", "estimate", str(out), "--response", response, "--design", design]
    if categories is not None:
        words += ["--categories", record_text(asked.categories)]
    for flag, value in more.items():
        if value is not None and value != ",":
            words += [flag, value]
    output.say(f"estimate: {shlex.join([*words, '--target', 'file'])}")
