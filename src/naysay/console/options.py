"""Options that several commands share, each declared once; and the design that they describe.

Assumptions about people, read from options: shares, and the levels that they choose.

What an error about an answer adds if the file itself says what its codes mean.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import typer
from numpy.typing import NDArray

from naysay import _checks, designs, files, simulate
from naysay.design import Answerable, load, read
from naysay.errors import DataError, DesignError
from naysay.printing.text import csv_text

DATA_FILE = typer.Argument(metavar="FILE", help="CSV, Parquet, JSON lines, SPSS or Stata, by suffix.")
File = Annotated[Path, DATA_FILE]
design_option = typer.Option(
    "--design", metavar="DESIGN", help="A call, such as 'warner(p=0.7)', or a design's JSON file."
)
DesignText = Annotated[str, design_option]
Asked = TypeVar("Asked", bound=Any)


def column(told: str) -> Any:
    """An option that names a column of a file."""
    return typer.Option(metavar="COLUMN", help=told)


def share(told: str) -> Any:
    """An option that holds a share of people."""
    return typer.Option(metavar="SHARE", help=told)


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
    labels = None if categories is None else record(categories)
    text = text.strip()
    try:
        if text.startswith("{"):
            found: Answerable = read(text)
        elif text.lower().endswith(".json") or ("(" not in text and Path(text).is_file()):
            found = load(text)
        else:
            found = designs.parse(text, categories=labels)
    except RecursionError:
        raise DesignError("the design is nested too deeply to be read") from None
    if labels is not None and tuple(map(str, found.categories)) != labels:
        raise DesignError(
            f"--categories says {_checks.shown(labels)}, but the design is about {_checks.shown(found.categories)}; "
            "leave --categories out"
        )
    return found


def designed(asked: Asked, file: Path, response: str) -> tuple[Asked, Answerable]:
    """The design that is asked for, or that the export of a survey has beside it; then options name its levels, too."""
    if asked.design is not None:
        return asked, design_of(asked.design, asked.categories)
    known = files.designs_of(file, codes=asked.codes).get(response)
    if known is None:
        raise DataError(f"--design DESIGN is missing: how the answers in {response!r} were randomized")
    return replace(asked, level=asked.level or known.level), known.design


def record(text: str) -> tuple[str, ...]:
    """The categories that one CSV record lists."""
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise DesignError(
            f"--categories must be one CSV record, such as 'low,middle,\"high, or more\"'; {error}"
        ) from None
    return tuple(map(str, _checks.categories(rows[0] if rows else (), what="categories")))


def record_text(labels: Sequence[Any]) -> str:
    """The CSV record that lists these categories."""
    return csv_text([labels])


Preferences = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="How people choose levels: uniform, skewed, skewed:open, tied:CATEGORY, or a share for each level, "
        "such as 0.5,0.3,0.2.",
    ),
]

Floats = NDArray[np.float64]


def numbers(text: str, option: str) -> tuple[float, ...]:
    """The numbers of one CSV record."""
    try:
        return tuple(float(cell) for cell in listed(text))
    except ValueError:
        raise DataError(f"{option} must be numbers with commas between them, such as 0.2,0.8; got {text!r}") from None


def listed(text: str) -> tuple[str, ...]:
    """The cells of one CSV record."""
    return tuple(next(csv.reader([text], skipinitialspace=True), []))


def labeled(text: str, option: str) -> float | dict[str, float]:
    """One number, or numbers by category such as ``low=0.1,high=0.3``."""
    if "=" not in text:
        given = numbers(text, option)
        if len(given) != 1:
            raise DataError(f"{option} must be one share, or shares by category, such as high=0.3; got {text!r}")
        return given[0]
    result = {}
    for cell in listed(text):
        label, _, number = cell.rpartition("=")
        if not label:
            raise DataError(f"{option} must name a category in each of its shares, such as high=0.3; got {cell!r}")
        result[label] = numbers(number, option)[0]
    return result


def preferences_of(text: str | None, design: Any) -> Floats | Sequence[float] | None:
    """The preferences over levels that ``--preferences`` describes."""
    if text is None:
        return None
    if design.assigned_by != "respondent":
        raise DataError(f"{design.name or design.kind} offers no levels; leave --preferences out")
    name, _, rest = text.strip().partition(":")
    if name == "tied" and not rest:
        first = _checks.label(design.categories[0])
        raise DataError(f"--preferences tied needs the categories whose members hide, such as tied:{first}")
    known: dict[str, Any] = {
        "uniform": lambda: None,
        "skewed": lambda: simulate.skewed(design, toward=rest or "private"),
        "tied": lambda: simulate.tied(design, hiding=listed(rest)),
    }
    if name in known:
        return known[name]()  # type: ignore[no-any-return]
    if not name[:1].isdigit() and name[:1] not in (".", "-"):
        raise DataError(f"--preferences {text!r} is not known; {_checks.nearest(name, known)}")
    return numbers(text, "--preferences")


_BINARY = {"0", "1"}  # if a file has just these codes, 1 means yes and 0 means no


@contextmanager
def with_labels(
    asked: Answerable, file: Path, response: Sequence[str], *, encoding: str | None, codes: bool
) -> Iterator[None]:
    """Let errors about answers name the value labels of an SPSS or Stata file, and how the design accepts them."""
    try:
        yield
    except DataError as error:
        single = asked.space.answers == 1  # an error about a pair of answers does not belong to one column
        column = error.column if single and not codes and error.column in response else None
        labels = {} if column is None else files.value_labels(file, column, encoding=encoding)
        if not labels:
            raise
        shown = _checks.shown(f"{code} = {label}" for code, label in labels.items())
        told = f"{error}; the file labels its codes {shown}: {_way_out(asked, labels, several=len(response) > 1)}"
        raise DataError(told, row=error.row, column=column, value=error.value) from None


def _way_out(asked: Answerable, labels: Mapping[str, str], *, several: bool) -> str:
    """The way out. It says which of two labels is the sensitive one only if the codes are 1 and 0."""
    names, binary = list(labels.values()), labels.keys() == _BINARY
    if several or tuple(asked.space.labels) != tuple(asked.categories):
        return (
            "add --codes" if binary else f"recode them as {'1 and 0' if several else _checks.shown(asked.space.labels)}"
        )
    if len(asked.categories) != 2:
        return f"name them with --categories {_quoted(names)}"
    if binary:
        return f"take 1 as yes and 0 as no with --codes, or with --categories {_quoted([labels['1'], labels['0']])}"
    if len(names) == 2:
        return f"name the sensitive one first, --categories {_quoted(names)} or --categories {_quoted(names[::-1])}"
    return f"name them all with --categories {_quoted(names)}, or two for a yes-or-no design, the sensitive one first"


def _quoted(names: Sequence[str]) -> str:
    return shlex.quote(record_text(names))
