"""The options for how a sample was drawn; all commands that estimate share them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from naysay import _checks, files
from naysay.console.options import column
from naysay.errors import DataError
from naysay.sampling import KINDS, Sampling

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SamplingOptions", "prepared"]

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
        plain = (self.strata, self.cluster, self.fpc, self.totals, self.replicate_kind, self.replicate_scale)
        if not self.replicates and not self.nest and self.lonely == "error" and all(each is None for each in plain):
            return None
        columns = frame.collect_schema().names()
        kind: str | None = self.replicate_kind
        replicates: list[str] | None = None
        if self.replicates:
            made = self.replicates[0] in KINDS and self.replicates[0] not in columns
            kind = self.replicates[0] if made else kind
            replicates = None if made else _matching(self.replicates, columns)
        elif kind is not None:
            raise DataError(f"name the columns of the replicate weights, or say --replicates {kind} to make them")
        return Sampling(
            weights=self.weight,
            strata=self.strata,
            clusters=self.cluster,
            fpc=self.fpc,
            replicates=replicates,
            kind=kind,
            scale=self.replicate_scale,
            nest=self.nest,
            lonely=self.lonely,
            totals={} if self.totals is None else _read_totals(self.totals),
        )


def prepared(frame: pl.LazyFrame, sampling: Sampling | None) -> pl.LazyFrame:
    """The frame, with strata, clusters and classes as text, and with weights and populations as numbers."""
    if sampling is None:
        return frame
    files.check_columns(frame, sampling.columns)
    texts = [name for name in sampling.labels if name != sampling.fpc]
    frame = files.as_text(frame, list(dict.fromkeys(texts)))
    numbers = {"weights": sampling.weights, "finite populations": sampling.fpc}
    for what, name in numbers.items():
        frame = frame if name is None else files.as_numbers(frame, name, what=what)
    for name in sampling.replicate_columns:
        frame = files.as_numbers(frame, name, what="replicate weights")
    return frame


def _matching(patterns: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The columns that match patterns such as ``rw*``, in their order."""
    found: list[str] = []
    for pattern in patterns:
        own = [name for name in columns if name == pattern] or [n for n in columns if fnmatchcase(n, pattern)]
        if not own and any(sign in pattern for sign in "*?["):
            raise DataError(
                f"--replicates {pattern!r}: there is no column that matches; the columns are {_checks.shown(columns)}, "
                f"and {', '.join(KINDS)} make weights"
            )
        if not own:
            raise DataError(f"--replicates {pattern!r}: {_checks.no_column(pattern, [*columns, *KINDS])}")
        found += own
    return list(dict.fromkeys(found))


def _read_totals(path: Path) -> dict[str, dict[str, float]]:
    """Known totals by variable and class."""
    with files.readable(path), path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or [cell.strip() for cell in rows[0]] != _TOTALS:
        came = ",".join(rows[0][:6]) if rows else "nothing"
        raise DataError(f"{str(path)!r} must begin with the columns {','.join(_TOTALS)}; got {came}")
    found: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows[1:], 1):
        try:
            variable, label, total = (cell.strip() for cell in row)
            own = found.setdefault(variable, {})
            if label in own:
                raise DataError(f"{str(path)!r} has two totals of {label!r} of {variable!r}", row=number)
            own[label] = float(total)
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"row {number} of {str(path)!r} must be a variable, a class and a number; got {','.join(row)!r}",
                row=number,
            ) from None
    return found
