"""A batch: reports to one question, of one wave, drawn under one design; and nothing else about who sent them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from naysay.batches.layout import Layout, Reports, layout_of
from naysay.errors import DataError
from naysay.responses import Codes, Responses
from naysay.tally import Asked

__all__ = ["Bad", "Batch", "BatchError", "Heading", "Named", "Reader", "by_hash"]

Bad = Literal["refuse", "keep"]
"""What becomes of a batch with a report that the design cannot make: all of it is refused, or the others are kept."""

LONGEST = 140  # characters of a question or wave
ONE_LINE = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$"
"""What a question, a wave or a level may be, for Python and for JSON schemas."""


class BatchError(DataError):
    """A batch that cannot be counted.

    Parameters
    ----------
    problem : str
        What is wrong, for programs: "form", "version", "short", "damaged", "large", "heading", "design", "level",
        "width", "order" or "report".
    message : str
    row : int, optional
        The place of the first bad report, counted from 0.

    Examples
    --------
    >>> error = BatchError("report", "report 3 of 5 is 7", row=2)
    >>> error.problem, str(error.within("batch 2"))
    ('report', 'batch 2: report 3 of 5 is 7')
    """

    def __init__(self, problem: str, message: str, *, row: int | None = None) -> None:
        super().__init__(message, row=row)
        self.problem = problem

    def within(self, place: str) -> BatchError:
        """The same error; its message begins with the place of the batch."""
        return BatchError(self.problem, f"{place}: {self}", row=self.row)


class Named(Asked, Protocol):
    """What a batch needs to know about a design."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    def level_named(self, name: Any) -> Any: ...


class Heading(NamedTuple):
    """What a batch says about its reports, beside their number.

    Parameters
    ----------
    design : str
        The hash of the design, `Design.hash`.
    question, wave, level : str
        Names; empty where there are none.
    """

    design: str
    question: str = ""
    wave: str = ""
    level: str = ""

    def checked(self) -> Heading:
        """The heading itself, if its names fit into a batch."""
        for what, name in zip(("question", "wave", "level"), self[1:], strict=True):
            half = re.search(r"[\ud800-\udfff]", name)  # of a pair in UTF-16: no text
            if len(name) > LONGEST or half or not re.fullmatch(ONE_LINE, name):
                told = f"the {what} of a batch must have at most {LONGEST} characters in one line"
                raise BatchError("heading", f"{told}; got {name[:80]!r}")
        return self


@dataclass(frozen=True, eq=False)
class Batch:
    """Reports to one question under one design, in ascending order.

    Parameters
    ----------
    design : design
        The design, or the offer of levels.
    heading : Heading
    reports : (n,) or (n, words) int
        The reports as numbers, or as codes of sets.
    refused : int
        How many reports were left out because the design cannot make them.
    why : str
        What was wrong with the first of them.
    """

    design: Named
    heading: Heading
    layout: Layout
    reports: Reports
    refused: int = 0
    why: str = ""

    def __len__(self) -> int:
        return len(self.reports)

    @property
    def level(self) -> Any:
        """The level at which these reports were drawn, as the design calls it; None for a single design."""
        return level_of(self.design, self.heading)

    @property
    def codes(self) -> Codes:
        """The reports as codes of the design's space, (n, width)."""
        return self.layout.codes(self.reports)

    @property
    def responses(self) -> Responses:
        """The reports as responses."""
        return Responses(self.codes, self.design.channel(self.level).space)


def level_of(design: Named, heading: Heading) -> Any:
    """The level that a heading names; raises unless the design offers it."""
    told = design.name or "this design"
    if design.levels == (None,):
        if heading.level:
            raise BatchError("level", f"{told} offers no levels; the batch names level {heading.level!r}")
        return None
    if not heading.level:
        raise BatchError("level", f"{told} offers levels; the batch names none")
    try:
        return design.level_named(heading.level)
    except DataError as error:
        raise BatchError("level", str(error)) from None


def by_hash(designs: Named | Iterable[Named]) -> dict[str, Named]:
    """The designs by their hash."""
    return {each.hash: each for each in (designs if isinstance(designs, Iterable) else [designs])}


class Reader:
    """Turns what a file holds into checked batches, for the designs that it was told about.

    Parameters
    ----------
    known : mapping of str to design
        The designs by their hash.
    bad : "refuse" or "keep"
    """

    def __init__(self, known: Mapping[str, Named], bad: Bad = "refuse") -> None:
        if bad not in ("refuse", "keep"):
            raise DataError(f'bad must be "refuse" or "keep"; got {bad!r}')
        self._known, self._bad = known, bad
        self._layouts: dict[tuple[str, str], Layout] = {}

    def layout(self, heading: Heading) -> Layout:
        """How reports under this heading are written; raises for a design that is not known."""
        found = self._layouts.get((heading.design, heading.level))
        if found is None:
            design = self._known.get(heading.design)
            if design is None:
                known = ", ".join(each[:12] for each in self._known)
                told = f"its design has the hash {heading.design[:12]}…; expected {known or 'none'}…: another design"
                raise BatchError("design", told)
            found = layout_of(design.channel(level_of(design, heading)).space)
            self._layouts[heading.design, heading.level] = found
        return found

    def of_json(self, heading: Heading, cells: list[Any]) -> Batch:
        """The batch of these cells of a JSON list."""
        layout = self.layout(heading.checked())
        reports, wrong = layout.of_json(cells)
        return self._batch(heading, layout, reports, wrong, len(cells), lambda place: repr(cells[place])[:80])

    def of_bytes(self, heading: Heading, body: bytes) -> Batch:
        """The batch of this body, which must have been written in ascending order."""
        layout = self.layout(heading.checked())
        reports = layout.of_bytes(body)
        if (wrong := layout.unordered(reports)).any():
            raise BatchError(
                "order",
                f"report {wrong.argmax() + 2} of {len(reports):,} is less than the one before; reports must stand in "
                "ascending order, so that a batch does not tell in which order they came",
                row=int(wrong.argmax()) + 1,
            )
        out = layout.outside(reports)
        places = np.flatnonzero(out).tolist()
        kept = reports[~out] if places else reports
        return self._batch(heading, layout, kept, places, len(reports), lambda place: _shown(reports[place]))

    def _batch(
        self, heading: Heading, layout: Layout, reports: Reports, wrong: list[int], total: int, shown: Any
    ) -> Batch:
        why = ""
        if wrong:
            why = f"report {wrong[0] + 1} of {total:,} is {shown(wrong[0])}; it must be {layout.told}"
            if self._bad == "refuse":
                raise BatchError("report", why, row=wrong[0])
        return Batch(self._known[heading.design], heading, layout, reports, len(wrong), why)


def _shown(report: Any) -> str:
    return f"{int(report):,}" if report.ndim == 0 else "a set of other size, or with bits that stand for no category"
