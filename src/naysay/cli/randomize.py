"""``naysay randomize``: replace one column of an existing file by randomized answers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from naysay import _checks, files, frames, privacy
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.options import with_labels
from naysay.console.people import numbers
from naysay.errors import AnswerError, DataError
from naysay.responses import JOINER, Responses


@dataclass(frozen=True)
class Options:
    """The options of ``naysay randomize``."""

    file: options.File
    response: Annotated[str, options.column("The column of true categories, which is replaced.")]
    design: options.DesignText
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; its suffix determines its kind.")]
    categories: options.Categories = None
    level: Annotated[str | None, options.column("The column of each record's level; without it levels are drawn.")] = (
        None
    )
    preferences: Annotated[
        str | None, typer.Option(metavar="P1,P2,…", help="The chance of each level, if levels are drawn.")
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Draw the same answers again. Anyone who knows the seed can undo the randomization."),
    ] = None
    force: options.Force = False
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False

    @property
    def read(self) -> list[str]:
        """The columns to read: the answers, and the levels if they are given."""
        return [self.response] if self.level is None else [self.response, self.level]


@takes(Options)
def command(asked: Options) -> None:
    """Randomize one column of an existing file.

    Each record is a respondent. Randomized answers (sets as 'a;b') replace the column of true categories; a missing
    cell stays missing. The other columns and the order of rows are kept. Chance comes from the operating system unless
    --seed is given. For a design with levels, --level names a column with each record's choice. Otherwise levels are
    drawn and written to a new column; its name is that of the response with _level added. A file of SPSS or Stata keeps
    its value labels, or with --codes its codes; user-missing values become empty cells.

    \b
    Examples:
      naysay randomize truth.csv --response income --out private.csv \\
          --design "negative(discards=2)" --categories "low,middle,high,none"
      naysay randomize truth.csv --response income --out levels.parquet \\
          --design "negative_levels()" --categories "low,middle,high,none" \\
          --preferences 0.5,0.3,0.2
    """
    # Any, because each kind of design randomizes with options of its own
    design: Any = options.design_of(asked.design, asked.categories)
    offered = design.several and design.noun == "level"
    chances = _check_request(asked, design)
    _check_places(asked)
    with files.readable(asked.file):
        frame = files.scan(asked.file, separator=asked.separator, encoding=asked.encoding, codes=asked.codes)
        files.check_columns(frame, asked.read)
        table = frame.collect()
    drawn_level = f"{asked.response}_level" if offered and asked.level is None else None
    if drawn_level in table.columns:
        raise DataError(f"the column {drawn_level!r}, for the levels drawn, exists; use it with --level, or rename it")
    with with_labels(design, asked.file, [asked.response], encoding=asked.encoding, codes=asked.codes):
        said = _said(asked, design, table, chances)
    columns = [pl.Series(asked.response, said.texts(), dtype=pl.String)]
    if drawn_level is not None and said.level is not None:
        choices = zip(said.level.tolist(), said.missing.tolist(), strict=True)
        columns.append(pl.Series(drawn_level, [None if gone else choice for choice, gone in choices]))
    files.write(table.with_columns(columns), asked.out, separator=asked.separator)
    if asked.seed is not None:
        output.note(f"whoever knows the seed ({asked.seed}) and the design can undo the randomization; keep it secret")
    _report(asked, design, said, [name for name in table.columns if name not in asked.read])
    _recipe(asked, design, asked.level or drawn_level)


def _check_request(asked: Options, design: Any) -> Any:
    """The preferences as numbers, after a check that the design and the options suit a file."""
    call = design.name or design.kind
    if design.space.answers > 1:
        raise DataError(f"{call} asks several questions; randomize their columns one after the other, or use Python")
    if design.assigned_by == "lot" and asked.preferences is not None:
        raise DataError(f"{call} draws levels by lot with equal chances; leave --preferences out")
    if design.assigned_by not in ("respondent", "lot") and (asked.level is not None or asked.preferences is not None):
        raise DataError(f"{call} offers no levels; leave --level and --preferences out")
    if asked.level is not None and asked.preferences is not None:
        raise DataError("give --level or --preferences, not both: levels are either chosen or drawn")
    holding = [label for label in design.categories if JOINER in str(label)]
    if holding and any(part.space.sets for part in design.parts.values()):
        raise DataError(f"answers are sets joined by ';', so no label may hold one; {holding[0]!r} does, rename it")
    if asked.preferences is None:
        return None
    return _checks.probability_vector(
        numbers(asked.preferences, "--preferences"), len(design.parts), what="--preferences"
    )


def _check_places(asked: Options) -> None:
    """Raise unless the output can be written to its place."""
    file, out = asked.file, asked.out
    files.kind(file), files.kind(out, to_write=True)
    if out.exists():
        if file.exists() and out.samefile(file):
            raise DataError(f"--out must not be the input {str(file)!r}; the true answers would be lost")
        if not out.is_file():
            raise DataError(f"{str(out)!r} exists and is no ordinary file")
        if not asked.force:
            raise DataError(f"{str(out)!r} exists; add --force to overwrite it")
    elif not out.parent.is_dir():
        raise DataError(f"there is no folder {str(out.parent)!r} to write to")


def _said(asked: Options, design: Any, table: pl.DataFrame, chances: Any) -> Responses:
    """One randomized answer for each row."""
    response = asked.response
    if table.schema[response].is_nested():
        raise DataError(f"column {response!r} must hold one category a row; it holds {table.schema[response]}")
    texts = files.as_text(table.lazy().select(asked.read), asked.read).collect()
    rng = None if asked.seed is None else np.random.default_rng(asked.seed)
    try:
        if design.several and design.noun == "level":
            level = None if asked.level is None else texts[asked.level].to_list()
            told = {} if chances is None else {"preferences": chances}
            said = design.randomize(texts[response].to_list(), level=level, rng=rng, **told)
        else:
            said = design.channel().randomize(texts[response].to_list(), rng=rng)
    except AnswerError as error:
        raise frames.located(error, [response], [asked.level] if asked.level else [], row=error.row) from None
    answers: Responses = said
    return answers


def _report(asked: Options, design: Any, said: Responses, kept: list[str]) -> None:
    """What was written, and what the file may still reveal."""
    missing = int(said.missing.sum())
    output.say(
        f"{asked.out}: {len(said):,} records, {asked.response!r} randomized by {design.name or design.kind}, "
        f"{f'{missing:,} missing (kept so)' if missing else 'none missing'}"
    )
    for line in privacy.lines(design):
        output.say(line)
    others = f"other columns ({_checks.shown(kept)}) and the order of the rows" if kept else "the order of the rows"
    output.say(f"note: kept as before: {others}; they may give the answer away")


def _recipe(asked: Options, design: Any, level: str | None) -> None:
    """The command that estimates from the new file."""
    command = "heavy-hitters" if design.estimates == "heavy_hitters" else "estimate"
    words = ["naysay", command, str(asked.out), "--response", asked.response, "--design", asked.design]
    words += [] if asked.categories is None else ["--categories", options.record_text(design.categories)]
    words += [] if level is None else ["--level", level]
    if files.kind(asked.out) == "csv" and asked.separator != ",":
        words += ["--separator", asked.separator]
    output.say(f"estimate: {shlex.join([*words, '--target', 'file'])}")
