"""Options that several commands share: designs, files, and how a sample was drawn, each declared once.

Also how their texts are read: a design, a record of categories or numbers, columns of weights and known totals.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import typer

from naysay import _checks, files
from naysay._values import Label
from naysay.console import output
from naysay.errors import DataError, DesignError
from naysay.show.result import csv_text

if TYPE_CHECKING:  # designs and sampling are loaded by the commands that are asked for them
    import polars as pl

    from naysay.design import Answerable
    from naysay.sampling import Sampling
    from naysay.tally import Channel

DATA_FILE = typer.Argument(metavar="FILE", help="CSV, Parquet, JSON lines, SPSS or Stata, by suffix.")
File = Annotated[Path, DATA_FILE]
design_option = typer.Option(
    "--design", metavar="DESIGN", help="A call, such as 'warner(p=0.7)', or a design's JSON file."
)
DesignText = Annotated[str, design_option]
TALLY_SUFFIX = ".tally"
"""The suffix of tally files, by which commands know them."""

Asked = TypeVar("Asked", bound=Any)


def column(help_text: str) -> Any:
    """An option that names a column of a file."""
    return typer.Option(metavar="COLUMN", help=help_text)


def share(help_text: str) -> Any:
    """An option that holds a share of people."""
    return typer.Option(metavar="SHARE", help=help_text)


Categories = Annotated[
    str | None,
    typer.Option(metavar="RECORD", help="The categories as one CSV record; not needed if the design names them."),
]
Count = Annotated[str | None, column("How many people each row stands for.")]
Separator = Annotated[str, typer.Option(metavar="CHAR", help="The character between the cells of a CSV file.")]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of a text file, such as utf-8 (the default), utf-16 or latin-1; or of a file of SPSS or Stata that "
        "names none, or a wrong one.",
    ),
]
Codes = Annotated[
    bool, typer.Option("--codes", help="SPSS and Stata: read the codes themselves, not the value labels.")
]
TableName = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="DuckDB: the table of FILE; not needed if it holds one."),
]
Confidence = Annotated[float, typer.Option(help="The confidence of each interval.")]
Target = Literal["population", "file"]
Format = Annotated[
    Literal["table", "json", "csv"],
    typer.Option("--format", help="Format of the output; numbers in json and csv are not rounded."),
]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write plots and numbers as a page.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


def design_of(text: str, categories: str | None) -> Answerable:
    """The design that ``--design`` and ``--categories`` describe: a call, JSON text, or the path of a JSON file."""
    from naysay import designs
    from naysay.design import load, read

    category_labels = None if categories is None else record(categories)
    text = text.strip()
    try:
        if text.startswith("{"):
            design: Answerable = read(text)
        elif text.lower().endswith(".json") or ("(" not in text and Path(text).is_file()):
            design = load(text)
        else:
            design = designs.parse(text, categories=category_labels)
    except RecursionError:
        raise DesignError("the design is nested too deeply to be read") from None
    if category_labels is not None and tuple(map(str, design.categories)) != category_labels:
        raise DesignError(
            f"--categories says {_checks.listing_text(category_labels)}, but the design is about "
            f"{_checks.listing_text(design.categories)}; leave --categories out"
        )
    return design


def options_and_design(design_options: Asked, file: Path, response: str) -> tuple[Asked, Answerable]:
    """The design that is asked for, or that the export of a survey has beside it; then options name its levels, too."""
    if design_options.design is not None:
        design = design_of(design_options.design, design_options.categories)
        compare_with_codebook(file, response, design, codes=design_options.codes)
        return design_options, design
    exported_design = files.designs_of(file, codes=design_options.codes).get(response)
    if exported_design is None:
        raise DataError(f"--design DESIGN is missing: how the answers in {response!r} were randomized")
    return replace(design_options, level=design_options.level or exported_design.level), exported_design.design


def compare_with_codebook(
    file: Path, column_name: str, design: Answerable, *, codes: bool = False, way_out: str = "leave --design out"
) -> None:
    """Say on stderr where a design is not the one that the codebook beside the file tells of the column.

    Raises
    ------
    DataError
        The codebook tells that nothing was randomized there.
    """
    book = files.codebook_of(file)
    if book is None:
        return
    beside, entry = f"the codebook beside {file.name!r}", book.columns.get(column_name)
    if entry is None:
        randomized = [other.column for other in book.entries if other.asked is not None]
        output.note(
            f"{beside} says of {_checks.listing_text(randomized)} how the answers were randomized, and not of "
            f"{column_name!r}; {design.name or design.kind} is used"
        )
        return
    published = entry.worded(names=codes)
    if published is None:
        if any(map(_is_drawn, design.parts.values())):
            raise DataError(
                f"column {column_name!r} holds people's own answers, by {beside}; {way_out}, or move the "
                "codebook away if they were randomized since",
                column=column_name,
            )
    elif not _is_alike(design, published.design):
        output.note(
            f"{beside} says that {column_name!r} was drawn by {published.design.name or published.design.kind}, and "
            f"{design.name or design.kind} is used; {way_out} to take that of the codebook"
        )


def note_words(frame: pl.LazyFrame, column_names: Sequence[str], design: Answerable) -> None:
    """Say on stderr which answer yes and no are taken for, where a design sends others, such as same and different."""
    from naysay.responses import Labels  # late: help needs no designs

    spaces = [space for channel in design.parts.values() if isinstance(space := channel.space, Labels) and space.yes_no]
    if not spaces or len(column_names) > 1 or column_names[0] not in frame.collect_schema():
        return
    space, name = spaces[0], column_names[0]
    cells = frame.select(name).unique().collect()[name].drop_nulls().sort().to_list()
    places = {cell: space.position(cell) for cell in cells if str(cell) not in map(str, space.labels)}
    words = [f"{str(cell)!r} as {space.labels[place]!r}" for cell, place in places.items() if place not in (None, -1)]
    if words:
        output.note(
            f"column {name!r} is read with {' and '.join(words)}; if it holds people's own answers to the question, "
            "nothing was randomized, and the estimate is wrong"
        )


def _is_drawn(channel: Channel) -> bool:
    """Whether chance has a part in some answer; so it is said of every design of which the answers are too many."""
    return not channel.space.listable or bool((channel.rows(channel.space.listing()) % 1).any())


def _is_alike(design: Answerable, other: Answerable) -> bool:
    """Whether answers are drawn alike, whatever the designs are called; those of too many answers by their JSON."""
    import numpy as np  # late: help needs no numbers

    parts, other_parts = list(design.parts.values()), list(other.parts.values())
    if len(parts) != len(other_parts) or design.categories != other.categories:
        return False
    return design.to_json() == other.to_json() or all(
        channel.space.listable
        and channel.space == other_channel.space
        and np.allclose(channel.rows(channel.space.listing()), other_channel.rows(channel.space.listing()))
        for channel, other_channel in zip(parts, other_parts, strict=True)
    )


NAIVE = "without the control, as if everybody had followed the instruction:"


class Control(NamedTuple):
    """A column of answers to a control, what is true there, and the column of each person's truth.

    Parameters
    ----------
    column : str
    truth : str or {str: str}
        A category, shares of categories, or "known" where the truth is each person's own.
    truth_column : str, optional
    people : int, optional
        Of how many people the shares were found.
    """

    column: str
    truth: str | dict[str, str]
    truth_column: str | None = None
    people: int | None = None


def control_of(text: str) -> Control:
    """The control that one ``--control`` describes.

    Examples
    --------
    >>> control_of("income_control: none").truth, control_of("season: lot").truth_column
    ('none', 'season_truth')
    >>> control_of("vote: yes 0.2, no 0.8 of 400")[1:]
    ({'yes': '1/5', 'no': '4/5'}, None, 400)
    """
    column_name, colon, truth = (part.strip() for part in text.partition(":"))
    if not (column_name and colon and truth):
        raise DataError(
            "--control is a column and what is true there, such as 'income_control: none', 'income_control: lot', "
            f"'income_control: yes 0.2, no 0.8 of 400' or 'income_control: file season'; got {text!r}",
            value=text,
        )
    if truth == "lot":
        return Control(column_name, "known", f"{column_name}_truth")
    if truth.startswith("file "):
        return Control(column_name, "known", truth.removeprefix("file ").strip())
    shares_text, _, people_text = truth.rpartition(" of ") if truth.rpartition(" of ")[2].isdigit() else (truth, "", "")
    pairs = [entry.strip().rpartition(" ") for entry in record_cells(shares_text)]
    try:
        shares = {label.strip(): str(Fraction(share)) for label, _, share in pairs if label}
    except (ValueError, ZeroDivisionError):
        shares = {}
    if len(shares) < len(pairs):
        return Control(column_name, truth)
    return Control(column_name, shares, people=int(people_text) if people_text else None)


def check_controls(questions: Sequence[str], controls: Sequence[Control], columns: Sequence[str]) -> None:
    """Raise where a column of answers has two roles, or one truth is named for a control that has one for each person.

    Parameters
    ----------
    questions : sequence of str
        The columns of the questions, of all waves or variables.
    controls : sequence of Control
        Those of all of these.
    columns : sequence of str
        The columns of the file.
    """
    if (repeated := _checks.repeated([*questions, *(control.column for control in controls)])) is not None:
        raise DataError(
            f"column {repeated!r} is named twice; each question and each control, of each wave, has its own column",
            column=repeated,
        )
    for control in controls:
        if control.truth_column is None and f"{control.column}_truth" in columns:
            raise DataError(
                f"--control says one truth for all of {control.column!r}, and column '{control.column}_truth' has one "
                f"for each person; say '{control.column}: lot'",
                column=control.column,
            )


def truths_of(controls: Sequence[Control]) -> str | None:
    """The column that names the sample of each person: that of the truth, or of the truths of several controls."""
    return "; ".join(control.truth_column for control in controls if control.truth_column is not None) or None


def with_controls(design: Answerable, controls: Sequence[Control], *, slips: float = 0) -> Answerable:
    """The design of a question and its controls, all answered by the same people, of whom some slip in a control."""
    from naysay import designs

    truths = []
    for control in controls:
        truth: Any = control.truth
        if isinstance(truth, dict) and len(truth) == 1 and len(design.categories) == 2:  # the rest is the other's
            [(label, share)] = truth.items()
            truth = truth | {str(other): str(1 - Fraction(share)) for other in design.categories if str(other) != label}
        truths.append(truth)
    people = [control.people for control in controls]
    return designs.controlled(
        design, truth=truths if len(truths) > 1 else truths[0], people=people if any(people) else None, slips=slips
    )


def record(text: str) -> tuple[str, ...]:
    """The categories that one CSV record lists."""
    try:
        csv_rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise DesignError(
            f"--categories must be one CSV record, such as 'low,middle,\"high, or more\"'; {error}"
        ) from None
    return tuple(map(str, _checks.categories(csv_rows[0] if csv_rows else (), what="categories")))


def numbers(text: str, option: str) -> tuple[float, ...]:
    """The numbers of one CSV record."""
    try:
        return tuple(float(cell) for cell in record_cells(text))
    except ValueError:
        raise DataError(f"{option} must be numbers with commas between them, such as 0.2,0.8; got {text!r}") from None


def record_cells(text: str) -> tuple[str, ...]:
    """The cells of one CSV record."""
    return tuple(next(csv.reader([text], skipinitialspace=True), []))


def record_text(labels: Sequence[Label]) -> str:
    """The CSV record that lists these categories."""
    return csv_text([labels])


_BINARY = {"0", "1"}  # if a file has just these codes, 1 means yes and 0 means no


@contextmanager
def with_labels(
    design: Answerable, file: Path, response: Sequence[str], *, encoding: str | None, codes: bool
) -> Iterator[None]:
    """Let errors about answers name the value labels of an SPSS or Stata file, and how the design accepts them."""
    try:
        yield
    except DataError as error:
        has_one_answer = design.space.answers == 1  # an error about a pair of answers does not belong to one column
        labeled_column = error.column if has_one_answer and not codes and error.column in response else None
        labels = {} if labeled_column is None else files.value_labels(file, labeled_column, encoding=encoding)
        if not labels:
            raise
        labels_text = _checks.listing_text(f"{code} = {label}" for code, label in labels.items())
        message = (
            f"{error}; the file labels its codes {labels_text}: {_way_out(design, labels, several=len(response) > 1)}"
        )
        raise DataError(message, row=error.row, column=labeled_column, value=error.value) from None


def _way_out(design: Answerable, labels: Mapping[str, str], *, several: bool) -> str:
    """The way out. It says which of two labels is the sensitive one only if the codes are 1 and 0."""
    names, is_binary = list(labels.values()), labels.keys() == _BINARY
    if several or tuple(design.space.labels) != tuple(design.categories):
        return (
            "add --codes"
            if is_binary
            else f"recode them as {'1 and 0' if several else _checks.listing_text(design.space.labels)}"
        )
    if len(design.categories) != 2:
        return f"name them with --categories {_shell_text(names)}"
    if is_binary:
        return f"take 1 as yes and 0 as no with --codes, or with --categories {_shell_text([labels['1'], labels['0']])}"
    if len(names) == 2:
        return (
            f"name the sensitive one first, --categories {_shell_text(names)} "
            f"or --categories {_shell_text(names[::-1])}"
        )
    return (
        f"name them all with --categories {_shell_text(names)}, or two for a yes-or-no design, the sensitive one first"
    )


def _shell_text(names: Sequence[str]) -> str:
    return shlex.quote(record_text(names))


_TOTALS = ["variable", "class", "total"]


@dataclass(frozen=True)
class SamplingOptions:
    """The columns of weights, strata, clusters and other properties of a sample."""

    weight: Annotated[str | None, column("Survey weights.")] = None
    strata: Annotated[str | None, column("The stratum of each respondent.")] = None
    cluster: Annotated[str | None, column("The cluster (primary sampling unit) of each respondent.")] = None
    nest: Annotated[bool, typer.Option("--nest", help="Cluster numbers start again in each stratum.")] = False
    fpc: Annotated[
        str | None,
        column(
            "Finite population: the units (clusters, or people where there are none) in the stratum's population, or "
            "up to 1 the share of them that was drawn. Randomized answers stay random."
        ),
    ] = None
    lonely: Annotated[
        Literal["error", "certainty", "center", "collapse"],
        typer.Option(
            help="A stratum with a single cluster: an error; no variance; its deviation from the mean of all; or "
            "joined with the next stratum."
        ),
    ] = "error"
    replicates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Replicate weights: a column, or several such as 'rw*'; or jackknife, bootstrap, brr or fay, to make "
            "them from strata and clusters.",
        ),
    ] = None
    replicate_kind: Annotated[
        Literal["bootstrap", "jackknife", "brr", "fay"] | None,
        typer.Option(help="What the columns of --replicates are."),
    ] = None
    replicate_scale: Annotated[
        float | None, typer.Option(help="The factor of the squared deviations, if it is not the usual one.")
    ] = None
    totals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Known totals, a CSV file with the columns variable, class and total: weights are calibrated to them "
            "(one variable: post-stratification; several: raking).",
        ),
    ] = None

    def sampling(self, frame: pl.LazyFrame) -> Sampling | None:
        """How the sample of a frame was drawn; None if the options name only weights, or nothing.

        Raises
        ------
        DataError
            Replicate weights that match no columns, or totals that cannot be read.
        """
        plain_options = (self.strata, self.cluster, self.fpc, self.totals, self.replicate_kind, self.replicate_scale)
        if (
            not self.replicates
            and not self.nest
            and self.lonely == "error"
            and all(option is None for option in plain_options)
        ):
            return None
        from naysay.sampling import KINDS, Sampling

        column_names = frame.collect_schema().names()
        replicate_kind: str | None = self.replicate_kind
        replicate_columns: list[str] | None = None
        if self.replicates:
            makes_replicates = self.replicates[0] in KINDS and self.replicates[0] not in column_names
            replicate_kind = self.replicates[0] if makes_replicates else replicate_kind
            replicate_columns = None if makes_replicates else _matching_columns(self.replicates, column_names)
        elif replicate_kind is not None:
            raise DataError(
                f"name the columns of the replicate weights, or say --replicates {replicate_kind} to make them"
            )
        return Sampling(
            weights=self.weight,
            strata=self.strata,
            clusters=self.cluster,
            fpc=self.fpc,
            replicates=replicate_columns,
            kind=replicate_kind,
            scale=self.replicate_scale,
            nest=self.nest,
            lonely=self.lonely,
            totals={} if self.totals is None else _read_totals(self.totals),
        )


def prepare_frame(frame: pl.LazyFrame, sampling: Sampling | None) -> pl.LazyFrame:
    """The frame, with strata, clusters and classes as text, and with weights and populations as numbers."""
    if sampling is None:
        return frame
    files.check_columns(frame, sampling.columns)
    text_columns = [column_name for column_name in sampling.labels if column_name != sampling.fpc]
    frame = files.as_text(frame, list(dict.fromkeys(text_columns)))
    number_columns = {"weights": sampling.weights, "finite populations": sampling.fpc}
    for amount_name, column_name in number_columns.items():
        frame = frame if column_name is None else files.as_numbers(frame, column_name, what=amount_name)
    for column_name in sampling.replicate_columns:
        frame = files.as_numbers(frame, column_name, what="replicate weights")
    return frame


def _matching_columns(patterns: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The columns that match patterns such as ``rw*``, in their order."""
    from naysay.sampling import KINDS

    matching_columns: list[str] = []
    for pattern in patterns:
        pattern_columns = [column_name for column_name in columns if column_name == pattern] or [
            n for n in columns if fnmatchcase(n, pattern)
        ]
        if not pattern_columns and any(wildcard_sign in pattern for wildcard_sign in "*?["):
            raise DataError(
                f"--replicates {pattern!r}: there is no column that matches; the columns are "
                f"{_checks.listing_text(columns)}, and {', '.join(KINDS)} make weights"
            )
        if not pattern_columns:
            raise DataError(f"--replicates {pattern!r}: {_checks.no_column(pattern, [*columns, *KINDS])}")
        matching_columns += pattern_columns
    return list(dict.fromkeys(matching_columns))


def _read_totals(path: Path) -> dict[str, dict[str, float]]:
    """Known totals by variable and class."""
    with files.readable(path), path.open(encoding="utf-8-sig", newline="") as file:
        csv_rows = list(csv.reader(file))
    if not csv_rows or [cell.strip() for cell in csv_rows[0]] != _TOTALS:
        first_cells = ",".join(csv_rows[0][:6]) if csv_rows else "nothing"
        raise DataError(f"{str(path)!r} must begin with the columns {','.join(_TOTALS)}; got {first_cells}")
    totals_of_variable: dict[str, dict[str, float]] = {}
    for row_number, row in enumerate(csv_rows[1:], 1):
        try:
            variable, class_label, total_text = (cell.strip() for cell in row)
            total_of_class = totals_of_variable.setdefault(variable, {})
            if class_label in total_of_class:
                raise DataError(f"{str(path)!r} has two totals of {class_label!r} of {variable!r}", row=row_number)
            total_of_class[class_label] = float(total_text)
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"row {row_number} of {str(path)!r} must be a variable, a class and a number; got {','.join(row)!r}",
                row=row_number,
            ) from None
    return totals_of_variable
