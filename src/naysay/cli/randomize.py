"""``naysay randomize``: replace columns of a file by randomized answers, and write their designs beside it."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
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
from naysay.files.frames import whole
from naysay.files.text import hash_of
from naysay.responses import JOINER, Responses
from naysay.show.result import rounded_up

_PART = "part"  # what stands for ε in a design that gets a part of the budget
_SHARE_DIGITS = 10**9  # parts of a budget are cut to so many parts of one, so that their sum keeps to it


@dataclass(frozen=True)
class RandomizeOptions:
    """The options of ``naysay randomize``."""

    file: options.File
    response: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="A column of true categories, which is replaced. Once for each column."),
    ]
    design: Annotated[
        list[str],
        typer.Option(
            metavar="DESIGN",
            help="A call, such as 'warner(p=0.7)', or a design's JSON file; one for each column, or one for all. "
            "With --budget 'k_ary(epsilon=part)' takes an equal part of it.",
        ),
    ]
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; its suffix determines its kind.")]
    categories: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RECORD",
            help="The categories as one CSV record, for each column in order; '' where the design names them.",
        ),
    ] = None
    budget: Annotated[
        float | None, typer.Option(metavar="EPSILON", help="The ε that all columns together must not exceed.")
    ] = None
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


@dataclass(frozen=True)
class Masked:
    """A column to randomize, with its design.

    Parameters
    ----------
    column : str
    design : Design, Levels or Samples
    level : str, optional
        The column with each record's level, given or to be drawn.
    drawn : bool
        Whether levels are drawn into that column.
    call : str
        The design as it was written.
    """

    column: str
    # Any, because each kind of design randomizes with options of its own
    design: Any
    level: str | None = None
    drawn: bool = False
    call: str = ""

    @property
    def read_columns(self) -> list[str]:
        """The columns to read: the answers, and the levels if they are given."""
        return [self.column] if self.level is None or self.drawn else [self.column, self.level]

    @property
    def epsilon(self) -> float:
        """The ε of the answer, at the level that tells most."""
        level_epsilons = privacy.epsilon(self.design)
        return float(max(level_epsilons.values()) if isinstance(level_epsilons, dict) else level_epsilons)


@takes(RandomizeOptions)
def command(request: RandomizeOptions) -> None:
    """Randomize columns of an existing file.

    Each record is a respondent. Randomized answers (sets as 'a;b') replace the columns of true categories; a missing
    cell stays missing. The other columns and the order of rows are kept. The designs are written beside the file, so
    that estimate, crosstab, regress and query read them there. Chance comes from the operating system unless --seed is
    given. For a design with levels, --level names a column with each record's choice. Otherwise levels are drawn and
    written to a new column; its name is that of the response with _level added. A file of SPSS or Stata keeps its value
    labels, or with --codes its codes; user-missing values become empty cells.

    \b
    Examples:
      naysay randomize truth.csv --response income --out private.csv \\
          --design "negative(discards=2)" --categories "low,middle,high,none"
      naysay randomize truth.csv --response income --out levels.parquet \\
          --design "negative_levels()" --categories "low,middle,high,none" \\
          --preferences 0.5,0.3,0.2
      naysay randomize truth.csv --out release.csv --budget 3 \\
          --response income --categories "low,middle,high,none" \\
          --response smoker --categories "yes,no" --design "k_ary(epsilon=part)"
    """
    earlier_designs = files.designs_of(request.file, codes=request.codes)
    masked_columns = _masked_columns(request, earlier_designs)
    level_chances = _check_request(request, masked_columns)
    _check_places(request)
    with files.readable(request.file):
        file_frame = files.scan(
            request.file, separator=request.separator, encoding=request.encoding, codes=request.codes
        )
        read_columns = [name for masked in masked_columns for name in masked.read_columns]
        files.check_columns(file_frame, read_columns)
        file_table = file_frame.collect()
    for masked in masked_columns:
        if masked.column in earlier_designs:
            raise DataError(
                f"column {masked.column!r} holds randomized answers already, as the codebook beside "
                f"{request.file.name!r} says; what is randomized twice tells no more, and is estimated worse"
            )
        if masked.drawn and masked.level in file_table.columns:
            raise DataError(
                f"the column {masked.level!r}, for the levels drawn, exists; use it with --level, or rename it"
            )
    rng = None if request.seed is None else np.random.default_rng(request.seed)
    written_columns, missing_counts = [], []
    for masked in masked_columns:
        with with_labels(masked.design, request.file, [masked.column], encoding=request.encoding, codes=request.codes):
            responses = _randomize_column(masked, file_table, level_chances, rng)
        missing_counts.append(int(responses.missing.sum()))
        written_columns.append(pl.Series(masked.column, responses.texts(), dtype=pl.String))
        if masked.drawn and responses.level is not None:
            levels_and_gaps = zip(responses.level.tolist(), responses.missing.tolist(), strict=True)
            drawn_levels = [None if is_missing else level_choice for level_choice, is_missing in levels_and_gaps]
            written_columns.append(pl.Series(masked.level, drawn_levels))
    files.write(file_table.with_columns(written_columns), request.out, separator=request.separator)
    _write_codebook(request.out, masked_columns, earlier_designs)
    if request.seed is not None:
        output.note(
            f"whoever knows the seed ({request.seed}) and the design can undo the randomization; keep it secret"
        )
    _report(request, masked_columns, missing_counts, file_table.height)
    earlier_columns = [*earlier_designs, *(name for earlier in earlier_designs.values() for name in earlier.columns)]
    _report_whole(
        masked_columns,
        {name: earlier.design for name, earlier in earlier_designs.items()},
        [name for name in file_table.columns if name not in {*read_columns, *earlier_columns}],
        gaps=any(missing_counts),
    )
    for masked in masked_columns:
        _recipe(request, masked)


def _masked_columns(request: RandomizeOptions, earlier_designs: dict[str, files.Asked]) -> list[Masked]:
    """The columns with their designs: one for each, or one for all, with equal parts of the budget where it asks."""
    response_columns, category_records = request.response, request.categories or [""] * len(request.response)
    if repeated_column := next((name for name in response_columns if response_columns.count(name) > 1), None):
        raise DataError(
            f"--response {repeated_column} is given twice; a column is randomized once", column=repeated_column
        )
    design_texts = request.design * len(response_columns) if len(request.design) == 1 else request.design
    for option_name, option_texts in (("--design", design_texts), ("--categories", category_records)):
        if len(option_texts) != len(response_columns):
            hint = "" if option_name == "--design" else " ('' where the design names them)"
            raise DataError(
                f"{option_name} is given {len(option_texts)} times, and --response {len(response_columns)} times; give "
                f"one for each column, in the same order{hint}"
            )
    other_designs = [asked.design for name, asked in earlier_designs.items() if name not in response_columns]
    earlier_epsilon = math.fsum(Masked("", design).epsilon for design in other_designs)
    designs_and_calls = _designs(request, design_texts, category_records, earlier_epsilon)
    level_count = sum(_offers_levels(design) for design, _ in designs_and_calls)
    if level_count > 1 and (request.level, request.preferences) != (None, None):
        raise DataError(
            f"--level and --preferences are of one column, and {level_count} designs offer levels; leave them out, or "
            "randomize one column after the other"
        )
    return [
        Masked(column, design, request.level or f"{column}_level", request.level is None, call)
        if _offers_levels(design)
        else Masked(column, design, call=call)
        for column, (design, call) in zip(response_columns, designs_and_calls, strict=True)
    ]


def _designs(
    request: RandomizeOptions, design_texts: Sequence[str], category_records: Sequence[str], earlier_epsilon: float
) -> list[tuple[Any, str]]:
    """The design of each column, and its call; those that ask for a part of the budget share what the others leave.

    The columns of the file that are randomized already have spent `earlier_epsilon` of it.
    """
    part_call, budget = f"epsilon={_PART}", request.budget
    takes_part = [part_call in design_text.replace(" ", "") for design_text in design_texts]
    if budget is not None and not (budget > 0 and math.isfinite(budget)):
        raise DataError(f"--budget must be a number above 0, such as 2; got {budget:g}")
    if budget is None and any(takes_part):
        raise DataError(
            f"{design_texts[takes_part.index(True)]!r} takes part of a budget; add --budget, such as --budget 2"
        )
    texts_and_records = [
        (design_text, category_record or None)
        for design_text, category_record in zip(design_texts, category_records, strict=True)
    ]
    whole_designs = {
        place: options.design_of(*texts_and_records[place]) for place, is_part in enumerate(takes_part) if not is_part
    }
    if budget is not None:
        if math.isinf(earlier_epsilon):
            raise DataError(
                "a column of this file that is randomized already can rule a category out or give it away, so its ε is "
                "∞, which no budget holds; leave --budget out, or begin with the original file"
            )
        new_epsilon = math.fsum(Masked("", design).epsilon for design in whole_designs.values())
        spent = earlier_epsilon + new_epsilon
        if math.isinf(new_epsilon):
            place = next(place for place, design in whole_designs.items() if math.isinf(Masked("", design).epsilon))
            raise DataError(
                f"an answer of {design_texts[place]!r} can rule a category out or give it away, so its ε is ∞, which "
                "no budget holds; take such as k_ary(epsilon=part), or leave --budget out"
            )
        if spent > budget * (1 + 1e-12) or (spent >= budget and any(takes_part)):
            among = f", {earlier_epsilon:.4g} of it in columns randomized before" if earlier_epsilon else ""
            raise DataError(
                f"the designs spend ε = {spent:.4g}{among}, and --budget is {budget:g}; take a larger budget, or fewer "
                "columns"
            )
        part_of_budget = Fraction(int((budget - spent) / max(sum(takes_part), 1) * _SHARE_DIGITS), _SHARE_DIGITS)
        part_text = f"epsilon={float(part_of_budget)!r}"
        texts_and_records = [
            (design_text.replace(" ", "").replace(part_call, part_text) if is_part else design_text, category_record)
            for is_part, (design_text, category_record) in zip(takes_part, texts_and_records, strict=True)
        ]
    return [
        (
            whole_designs[place] if place in whole_designs else options.design_of(design_text, category_record),
            design_text,
        )
        for place, (design_text, category_record) in enumerate(texts_and_records)
    ]


def _offers_levels(design: Any) -> bool:
    return bool(design.offer.several and design.offer.noun == "level")


def _check_request(request: RandomizeOptions, masked_columns: Sequence[Masked]) -> Any:
    """The preferences as numbers, after a check that the designs and the options suit a file."""
    for masked in masked_columns:
        design, design_call = masked.design, masked.design.name or masked.design.kind
        if design.space.answers > 1:
            raise DataError(f"{design_call} asks several questions; randomize their columns one by one, or use Python")
        if design.offer.assigned_by == "lot" and request.preferences is not None:
            raise DataError(f"{design_call} draws levels by lot with equal chances; leave --preferences out")
        labels_with_joiner = [label for label in design.categories if JOINER in str(label)]
        if labels_with_joiner and any(part.space.sets for part in design.parts.values()):
            raise DataError(
                f"answers are sets joined by ';', so no label may hold one; {labels_with_joiner[0]!r} does, rename it"
            )
    leveled_design = next(
        (masked.design for masked in masked_columns if masked.design.offer.assigned_by in ("respondent", "lot")), None
    )
    if leveled_design is None and (request.level is not None or request.preferences is not None):
        design = masked_columns[0].design
        raise DataError(f"{design.name or design.kind} offers no levels; leave --level and --preferences out")
    if request.level is not None and request.preferences is not None:
        raise DataError("give --level or --preferences, not both: levels are either chosen or drawn")
    if request.preferences is None or leveled_design is None:
        return None
    return _checks.probability_vector(
        numbers(request.preferences, "--preferences"), len(leveled_design.parts), what="--preferences"
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


def _randomize_column(masked: Masked, table: pl.DataFrame, chances: Any, rng: np.random.Generator | None) -> Responses:
    """One randomized answer for each row."""
    design, column = masked.design, masked.column
    if table.schema[column].is_nested():
        raise DataError(f"column {column!r} must hold one category a row; it holds {table.schema[column]}")
    text_frame = files.as_text(table.lazy().select(masked.read_columns), masked.read_columns).collect()
    given_level = None if masked.drawn else masked.level
    try:
        if _offers_levels(design):
            given_levels = None if given_level is None else text_frame[given_level].to_list()
            level_options = {} if chances is None else {"preferences": chances}
            responses = design.randomize(text_frame[column].to_list(), level=given_levels, rng=rng, **level_options)
        else:
            responses = design.channel().randomize(text_frame[column].to_list(), rng=rng)
    except AnswerError as error:
        raise frames.located(error, [column], [given_level] if given_level else [], row=error.row) from None
    answers: Responses = responses
    return answers


def _write_codebook(out: Path, masked_columns: Sequence[Masked], earlier_designs: dict[str, files.Asked]) -> None:
    """Write beside the file which columns were randomized, and by which designs; those of before stay."""
    randomizations = earlier_designs | {
        masked.column: files.Asked(masked.design, masked.level) for masked in masked_columns
    }
    entries = []
    for column, randomization in randomizations.items():
        spaces = [part.space for part in randomization.design.parts.values()]
        is_named = all(space.one_label or space.sets for space in spaces)
        category_names = [*map(str, randomization.design.categories)] if is_named else []
        values = tuple(files.Value(code, name, name) for code, name in enumerate(category_names, 1))
        holds: Any = "sets" if any(space.sets for space in spaces) else "values"
        entries.append(files.explained(files.Entry(column, column, column, holds, values, asked=randomization)))
    book = files.Codebook(out.stem, f"Release {out.stem}", hash_of(out), "en", tuple(entries))
    with whole(files.place_of(out)) as book_file:
        book_file.write(json.dumps(book.form(), ensure_ascii=False, indent=1).encode())


def _report(
    request: RandomizeOptions, masked_columns: Sequence[Masked], missing_counts: Sequence[int], record_count: int
) -> None:
    """What was written, and what the answer in each column tells."""
    for masked, missing_count in zip(masked_columns, missing_counts, strict=True):
        missing_text = f"{missing_count:,} missing (kept so)" if missing_count else "none missing"
        output.say(
            f"{request.out}: {record_count:,} records, {masked.column!r} randomized by "
            f"{masked.design.name or masked.design.kind}, {missing_text}"
        )
        for line in privacy.lines(masked.design):
            output.say(line)


def _report_whole(
    masked_columns: Sequence[Masked], earlier_designs: dict[str, Any], other_columns: Sequence[str], *, gaps: bool
) -> None:
    """What all randomized columns tell of a person together, and what the file may still reveal.

    Answers are drawn independently, so that the likelihood rows of a person's answers multiply, and their ε add,
    however the columns go together among people.
    """
    every_column = [*masked_columns, *(Masked(name, design) for name, design in earlier_designs.items())]
    if len(every_column) > 1:
        total = math.fsum(masked.epsilon for masked in every_column)
        open_columns = [masked.column for masked in every_column if math.isinf(masked.epsilon)]
        together = f"{len(every_column)} randomized columns together"
        if open_columns:
            output.say(
                f"privacy, {together}: ε = ∞, because an answer in {_checks.listing_text(open_columns)} can rule a "
                "category out or give it away; where columns go together, what two answers leave open can be one"
            )
        else:
            most = rounded_up(math.exp(total), 4)
            output.say(
                f"privacy, {together}: ε = {rounded_up(total, 4)}: the odds of any two things about a person, such as "
                f"two incomes, change by a factor of {most} at most, however the columns go together"
            )
    others_text = f"other columns ({_checks.listing_text(other_columns)}) and " if other_columns else ""
    gaps_text = "; who has a gap is seen for certain" if gaps else ""
    output.say(f"note: kept as before: {others_text}the order of the rows; they may give the answer away{gaps_text}")


def _recipe(request: RandomizeOptions, masked: Masked) -> None:
    """The command that estimates from the new file."""
    command_words = ["naysay", "estimate", str(request.out), "--response", masked.column]
    if masked.design.structure.estimates == "heavy_hitters" and masked.level is not None:
        command_words[1] = "heavy-hitters"
        command_words += ["--level", masked.level, "--design", masked.call]
    if files.kind(request.out) == "csv" and request.separator != ",":
        command_words += ["--separator", request.separator]
    output.say(f"estimate: {shlex.join([*command_words, '--target', 'file'])}")
