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
from naysay.console.options import numbers, with_labels
from naysay.console.output import takes
from naysay.errors import AnswerError, DataError
from naysay.responses import JOINER, Responses


@dataclass(frozen=True)
class RandomizeOptions:
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
    def needed_columns(self) -> list[str]:
        """The columns to read: the answers, and the levels if they are given."""
        return [self.response] if self.level is None else [self.response, self.level]


@takes(RandomizeOptions)
def command(request: RandomizeOptions) -> None:
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
    design: Any = options.design_of(request.design, request.categories)
    offers_levels = design.offer.several and design.offer.noun == "level"
    level_chances = _check_request(request, design)
    _check_places(request)
    with files.readable(request.file):
        file_frame = files.scan(
            request.file, separator=request.separator, encoding=request.encoding, codes=request.codes
        )
        files.check_columns(file_frame, request.needed_columns)
        file_table = file_frame.collect()
    drawn_level = f"{request.response}_level" if offers_levels and request.level is None else None
    if drawn_level in file_table.columns:
        raise DataError(f"the column {drawn_level!r}, for the levels drawn, exists; use it with --level, or rename it")
    with with_labels(design, request.file, [request.response], encoding=request.encoding, codes=request.codes):
        responses = _randomize_column(request, design, file_table, level_chances)
    written_columns = [pl.Series(request.response, responses.texts(), dtype=pl.String)]
    if drawn_level is not None and responses.level is not None:
        levels_and_gaps = zip(responses.level.tolist(), responses.missing.tolist(), strict=True)
        written_columns.append(
            pl.Series(
                drawn_level, [None if is_missing else level_choice for level_choice, is_missing in levels_and_gaps]
            )
        )
    files.write(file_table.with_columns(written_columns), request.out, separator=request.separator)
    if request.seed is not None:
        output.note(
            f"whoever knows the seed ({request.seed}) and the design can undo the randomization; keep it secret"
        )
    _report(
        request,
        design,
        responses,
        [column_name for column_name in file_table.columns if column_name not in request.needed_columns],
    )
    _recipe(request, design, request.level or drawn_level)


def _check_request(request: RandomizeOptions, design: Any) -> Any:
    """The preferences as numbers, after a check that the design and the options suit a file."""
    design_call = design.name or design.kind
    if design.space.answers > 1:
        raise DataError(
            f"{design_call} asks several questions; randomize their columns one after the other, or use Python"
        )
    if design.offer.assigned_by == "lot" and request.preferences is not None:
        raise DataError(f"{design_call} draws levels by lot with equal chances; leave --preferences out")
    if design.offer.assigned_by not in ("respondent", "lot") and (
        request.level is not None or request.preferences is not None
    ):
        raise DataError(f"{design_call} offers no levels; leave --level and --preferences out")
    if request.level is not None and request.preferences is not None:
        raise DataError("give --level or --preferences, not both: levels are either chosen or drawn")
    labels_with_joiner = [label for label in design.categories if JOINER in str(label)]
    if labels_with_joiner and any(part.space.sets for part in design.parts.values()):
        raise DataError(
            f"answers are sets joined by ';', so no label may hold one; {labels_with_joiner[0]!r} does, rename it"
        )
    if request.preferences is None:
        return None
    return _checks.probability_vector(
        numbers(request.preferences, "--preferences"), len(design.parts), what="--preferences"
    )


def _check_places(request: RandomizeOptions) -> None:
    """Raise unless the output can be written to its place."""
    file, out = request.file, request.out
    files.kind(file), files.kind(out, to_write=True)
    if out.exists():
        if file.exists() and out.samefile(file):
            raise DataError(f"--out must not be the input {str(file)!r}; the true answers would be lost")
        if not out.is_file():
            raise DataError(f"{str(out)!r} exists and is no ordinary file")
    output.check_free(out, force=request.force)


def _randomize_column(request: RandomizeOptions, design: Any, table: pl.DataFrame, chances: Any) -> Responses:
    """One randomized answer for each row."""
    response_column = request.response
    if table.schema[response_column].is_nested():
        raise DataError(
            f"column {response_column!r} must hold one category a row; it holds {table.schema[response_column]}"
        )
    text_frame = files.as_text(table.lazy().select(request.needed_columns), request.needed_columns).collect()
    rng = None if request.seed is None else np.random.default_rng(request.seed)
    try:
        if design.offer.several and design.offer.noun == "level":
            given_levels = None if request.level is None else text_frame[request.level].to_list()
            level_options = {} if chances is None else {"preferences": chances}
            responses = design.randomize(
                text_frame[response_column].to_list(), level=given_levels, rng=rng, **level_options
            )
        else:
            responses = design.channel().randomize(text_frame[response_column].to_list(), rng=rng)
    except AnswerError as error:
        raise frames.located(
            error, [response_column], [request.level] if request.level else [], row=error.row
        ) from None
    answers: Responses = responses
    return answers


def _report(request: RandomizeOptions, design: Any, responses: Responses, other_columns: list[str]) -> None:
    """What was written, and what the file may still reveal."""
    missing_count = int(responses.missing.sum())
    output.say(
        f"{request.out}: {len(responses):,} records, {request.response!r} randomized by {design.name or design.kind}, "
        f"{f'{missing_count:,} missing (kept so)' if missing_count else 'none missing'}"
    )
    for line in privacy.lines(design):
        output.say(line)
    others_text = (
        f"other columns ({_checks.listing_text(other_columns)}) and the order of the rows"
        if other_columns
        else "the order of the rows"
    )
    output.say(f"note: kept as before: {others_text}; they may give the answer away")


def _recipe(request: RandomizeOptions, design: Any, level: str | None) -> None:
    """The command that estimates from the new file."""
    command = "heavy-hitters" if design.structure.estimates == "heavy_hitters" else "estimate"
    command_words = ["naysay", command, str(request.out), "--response", request.response, "--design", request.design]
    command_words += [] if request.categories is None else ["--categories", options.record_text(design.categories)]
    command_words += [] if level is None else ["--level", level]
    if files.kind(request.out) == "csv" and request.separator != ",":
        command_words += ["--separator", request.separator]
    output.say(f"estimate: {shlex.join([*command_words, '--target', 'file'])}")
