"""Values that stand out: the result of `heavy_hitters`, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import privacy
from naysay.design import Answerable
from naysay.estimate.linear import Floats
from naysay.printing import Column, Note, Points, Sentence, Table, plain, text
from naysay.printing.content import Content
from naysay.printing.html import notebook
from naysay.printing.numbers import csv_text

__all__ = ["HeavyHitters", "Stage"]

_SHOWN = 100  # rows that a text shows; all are in the data


@dataclass(frozen=True)
class Stage:
    """One group of the search.

    Parameters
    ----------
    group : int
    bits : int
        How many bits of a value it reports.
    reports, candidates, kept : int
        Its reports, what they were asked about, and how many of these went on; in the last group, were accepted.
    least : float or None
        The smallest estimated share that was kept; None in the last group.
    """

    group: int
    bits: int
    reports: int
    candidates: int
    kept: int
    least: float | None


@dataclass(frozen=True, eq=False, repr=False)
class HeavyHitters:
    """Values that many people have, by decreasing share.

    Parameters
    ----------
    design : Prefixes
    candidates : (k,) tuple of str or int
        What the last group was asked about.
    estimates, standard_errors : (k,) float
        Unbiased shares, from the last group alone.
    intervals : (k, 2) float
        For all candidates at once.
    accepted : (k,) bool
        Whether a share stands out of what chance allows.
    threshold : float
        The least estimated share that is accepted.
    confidence : float
        Of the acceptance of all candidates together, and of the intervals.
    target : {"population", "file"}
    stages : tuple of Stage
    forged : int
        About how many forged reports would put any value of an attacker's choice among the accepted ones.
    n : int
        Reports in all groups.
    warnings : tuple of str
    """

    design: Answerable
    candidates: tuple[Any, ...]
    estimates: Floats
    standard_errors: Floats
    intervals: Floats
    accepted: NDArray[np.bool_]
    threshold: float
    confidence: float
    target: str
    stages: tuple[Stage, ...]
    forged: int
    n: int
    warnings: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """The accepted values, by decreasing share."""
        return tuple(value for value, known in zip(self.candidates, self.accepted.tolist(), strict=True) if known)

    @property
    def shares(self) -> Floats:
        """Their estimated shares."""
        return self.estimates[self.accepted]

    @property
    def looked_at(self) -> int:
        """How many candidates were looked at, in all groups."""
        return sum(stage.candidates for stage in self.stages)

    def sections(self) -> list[Content]:
        """The result in the vocabulary of `naysay.printing`."""
        last, found = self.stages[-1], len(self.values)
        stand = "1 value stands out" if found == 1 else f"{found or 'no'} values stand out"
        about = "the population" if self.target == "population" else "the devices that reported"
        rows = [row for row in self._rows() if row[-1]][:_SHOWN]
        columns = (Column("value", words=True), *map(Column, ("share", "s.e.", "low", "high")))
        cells = tuple((str(row[0]), *(f"{each:.4f}" for each in row[1:5])) for row in rows)
        told = f"Shares of {about}; {self.confidence:.4g} intervals hold for all {last.candidates:,} candidates at once"
        return [
            Sentence(f"{stand} among {self.n:,} reports; {self.looked_at:,} candidates were looked at"),
            *([Table(columns, cells, caption=told)] if cells else []),
            Points(
                (
                    f"accepted from a share of {self.threshold:.4g}: with probability {self.confidence:.4g} no value "
                    "is accepted that nobody has",
                    "values below that share may exist; a value can also be lost in an earlier group",
                    f"about {self.forged:,} forged reports ({self.forged / self.n:.2%} of all) would put any chosen "
                    "value into the list",
                    f"privacy of the one report of a device: {privacy.statement(self.design.channel(last.group))}",
                )
            ),
            self._stages(),
            *map(Note, self.warnings),
        ]

    def _stages(self) -> Table:
        names = ("group", "bits", "reports", "candidates", "kept", "least share kept")
        rows = tuple(
            (*(f"{each:,}" for each in (stage.group, stage.bits, stage.reports, stage.candidates, stage.kept)),
             "–" if stage.least is None else f"{stage.least:.4f}")
            for stage in self.stages
        )  # fmt: skip
        return Table(tuple(map(Column, names)), rows, caption="The search; the last group was fresh")

    def _rows(self) -> list[tuple[Any, ...]]:
        columns = (self.estimates, self.standard_errors, *self.intervals.T, self.accepted)
        return list(zip(self.candidates, *(each.tolist() for each in columns), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The result as one JSON object, with all candidates of the last group."""
        names = ("value", "share", "standard_error", "low", "high", "accepted")
        told: dict[str, Any] = plain(
            {
                "design": self.design.name or self.design.kind,
                "n": self.n,
                "target": self.target,
                "confidence": self.confidence,
                "threshold": self.threshold,
                "looked_at": self.looked_at,
                "forged": self.forged,
                "candidates": [dict(zip(names, row, strict=True)) for row in self._rows()],
                "stages": [asdict(stage) for stage in self.stages],
                "warnings": list(self.warnings),
            }
        )
        return told

    def to_csv(self) -> str:
        """All candidates of the last group as CSV text, not rounded."""
        names = ("value", "share", "standard_error", "low", "high", "accepted")
        return csv_text([names, *self._rows()])

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<HeavyHitters: {len(self.values)} of {self.looked_at:,} candidates stand out>"
