"""A batch: reports to one question, of one wave, drawn under one design; and nothing else about who sent them.

How the responses of a design are written as whole numbers: their places in a list, or a bit for each category.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError, NaysayError
from naysay.responses import WORD, Codes, Responses, Space
from naysay.responses.spaces import MISSING
from naysay.tally import Asked

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
        for field_name, name in zip(("question", "wave", "level"), self[1:], strict=True):
            half = re.search(r"[\ud800-\udfff]", name)  # of a pair in UTF-16: no text
            if len(name) > LONGEST or half or not re.fullmatch(ONE_LINE, name):
                requirement = f"the {field_name} of a batch must have at most {LONGEST} characters in one line"
                raise BatchError("heading", f"{requirement}; got {name[:80]!r}")
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
    design_name = design.name or "this design"
    if design.levels == (None,):
        if heading.level:
            raise BatchError("level", f"{design_name} offers no levels; the batch names level {heading.level!r}")
        return None
    if not heading.level:
        raise BatchError("level", f"{design_name} offers levels; the batch names none")
    try:
        return design.level_named(heading.level)
    except DataError as error:
        raise BatchError("level", str(error)) from None


def by_hash(designs: Named | Iterable[Named]) -> dict[str, Named]:
    """The designs by their hash."""
    return {design.hash: design for design in (designs if isinstance(designs, Iterable) else [designs])}


class Reader:
    """Turns what a file holds into checked batches, for the designs that it was told about.

    Parameters
    ----------
    designs_by_hash : mapping of str to design
        The designs by their hash.
    bad : "refuse" or "keep"
    """

    def __init__(self, designs_by_hash: Mapping[str, Named], bad: Bad = "refuse") -> None:
        if bad not in ("refuse", "keep"):
            raise DataError(f'bad must be "refuse" or "keep"; got {bad!r}')
        self._known, self._bad = designs_by_hash, bad
        self._layouts: dict[tuple[str, str], Layout] = {}

    def layout(self, heading: Heading) -> Layout:
        """How reports under this heading are written; raises for a design that is not known."""
        report_layout = self._layouts.get((heading.design, heading.level))
        if report_layout is None:
            design = self._known.get(heading.design)
            if design is None:
                known_hashes = ", ".join(digest[:12] for digest in self._known)
                problem = (
                    f"its design has the hash {heading.design[:12]}…; "
                    f"expected {known_hashes or 'none'}…: another design"
                )
                raise BatchError("design", problem)
            report_layout = layout_of(design.channel(level_of(design, heading)).space)
            self._layouts[heading.design, heading.level] = report_layout
        return report_layout

    def of_json(self, heading: Heading, cells: list[Any]) -> Batch:
        """The batch of these cells of a JSON list."""
        layout = self.layout(heading.checked())
        reports, bad_places = layout.of_json(cells)
        return self._batch(heading, layout, reports, bad_places, len(cells), lambda place: repr(cells[place])[:80])

    def of_bytes(self, heading: Heading, body: bytes) -> Batch:
        """The batch of this body, which must have been written in ascending order."""
        layout = self.layout(heading.checked())
        reports = layout.of_bytes(body)
        if (is_unordered := layout.unordered(reports)).any():
            raise BatchError(
                "order",
                f"report {is_unordered.argmax() + 2} of {len(reports):,} is less than the one before; reports must "
                "stand in ascending order, so that a batch does not tell in which order they came",
                row=int(is_unordered.argmax()) + 1,
            )
        is_outside = layout.outside(reports)
        places = np.flatnonzero(is_outside).tolist()
        good_reports = reports[~is_outside] if places else reports
        return self._batch(
            heading, layout, good_reports, places, len(reports), lambda place: _report_text(reports[place])
        )

    def _batch(
        self, heading: Heading, layout: Layout, reports: Reports, bad_places: list[int], total: int, report_text: Any
    ) -> Batch:
        reason = ""
        if bad_places:
            reason = (
                f"report {bad_places[0] + 1} of {total:,} is {report_text(bad_places[0])}; "
                f"it must be {layout.report_description}"
            )
            if self._bad == "refuse":
                raise BatchError("report", reason, row=bad_places[0])
        return Batch(self._known[heading.design], heading, layout, reports, len(bad_places), reason)


def _report_text(report: Any) -> str:
    return f"{int(report):,}" if report.ndim == 0 else "a set of other size, or with bits that stand for no category"


Reports = NDArray[np.integer[Any]]
"""Reports, in ascending order: (n,) numbers, or the codes (n, words) of sets."""

_WIDTHS = (1, 2, 4, 8)  # bytes of a number: what NumPy, DuckDB and JavaScript read without unpacking
_WHOLE = np.uint64(2**WORD - 1)


class Layout(Protocol):
    """What a batch needs to know about the responses of one design."""

    @property
    def width(self) -> int:
        """Bytes of a report."""

    @property
    def report_description(self) -> str:
        """What a report is, for messages."""

    def of_codes(self, codes: Codes) -> Reports:
        """Reports, in ascending order."""

    def to_bytes(self, reports: Reports) -> bytes: ...
    def of_bytes(self, body: bytes) -> Reports: ...
    def of_json(self, cells: Sequence[Any]) -> tuple[Reports, list[int]]:
        """Reports in ascending order, and the places of the cells that are none."""

    def outside(self, reports: Reports) -> NDArray[np.bool_]:
        """Which reports the design cannot make, (n,)."""

    def unordered(self, reports: Reports) -> NDArray[np.bool_]:
        """Which reports are less than the one before, (n - 1,)."""

    def codes(self, reports: Reports) -> Codes: ...
    def plain(self, reports: Reports) -> list[Any]:
        """Reports as JSON writes them: numbers, or the texts that clients draw."""


def layout_of(space: Space) -> Layout:
    """The layout of the responses of a design.

    Raises
    ------
    DataError
        Responses that are no whole numbers, such as a pair of large sets.

    Examples
    --------
    >>> from naysay import designs
    >>> layout_of(designs.k_ary(range(300), epsilon=1).space).width
    2
    >>> layout_of(designs.unary(20, epsilon=1).space).width
    3
    """
    if space.numbered:
        return Numbered(space)
    if space.sets:
        return BitSets(space)
    raise DataError(
        "there are no batches for this design: its responses are neither numbered nor sets. Ask its questions apart, "
        "or tally answers from a table"
    )


@dataclass(frozen=True)
class Numbered:
    """Each report is the number of a response, in the order of the design's matrix rows."""

    space: Space

    @cached_property
    def width(self) -> int:
        return next(width for width in _WIDTHS if self.space.size <= 2 ** (8 * width))

    @property
    def report_description(self) -> str:
        return f"a whole number from 0 to {self.space.size - 1:,}"

    def of_codes(self, codes: Codes) -> Reports:
        places = self.space.places(codes)
        if len(places) and places.min() < 0:
            raise DataError(f"a missing answer is no report; leave it out (answer {places.argmin() + 1})")
        return np.sort(places.astype(f"<u{self.width}"))

    def to_bytes(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        return np.frombuffer(body, f"<u{self.width}")

    def of_json(self, cells: Sequence[Any]) -> tuple[Reports, list[int]]:
        numbers: list[int] = []
        bad_places: list[int] = []
        for place, cell in enumerate(cells):
            number = self._number(cell)
            (bad_places if number is None else numbers).append(place if number is None else number)
        return np.sort(np.array(numbers, f"<u{self.width}")), bad_places

    def _number(self, cell: Any) -> int | None:
        number = cell if isinstance(cell, int) and not isinstance(cell, bool) else None
        if isinstance(cell, str):
            codes = _codes_of(self.space, cell)
            number = None if codes is None else int(self.space.places(codes)[0])
        return number if number is not None and 0 <= number < self.space.size else None

    def outside(self, reports: Reports) -> NDArray[np.bool_]:
        return np.asarray(reports >= self.space.size)

    def unordered(self, reports: Reports) -> NDArray[np.bool_]:
        return np.asarray(reports[1:] < reports[:-1])

    def codes(self, reports: Reports) -> Codes:
        return self.space.at(reports.astype(np.int64))

    def plain(self, reports: Reports) -> list[Any]:
        return list(reports.tolist())


@dataclass(frozen=True)
class BitSets:
    """Each report is a set of categories: category c is bit c, as one number of ceil(t / 8) bytes."""

    space: Any

    @cached_property
    def width(self) -> int:
        return -(-len(self.space.labels) // 8)

    @property
    def report_description(self) -> str:
        return f"a set of {self.space.sized} of {len(self.space.labels):,} categories"

    def of_codes(self, codes: Codes) -> Reports:
        is_missing = self.space.missing(codes)
        if is_missing.any():
            raise DataError(f"a missing answer is no report; leave it out (answer {is_missing.argmax() + 1})")
        return np.asarray(codes[np.lexsort(codes.T)])  # the last word is the highest

    def to_bytes(self, reports: Reports) -> bytes:
        """Words of `WORD` bits each, put together to words of 64 bits."""
        words = np.zeros((len(reports), -(-self.width // 8) + 1), "<u8")
        for place, word in enumerate(reports.T.astype(np.uint64)):
            first_word, shift = divmod(WORD * place, 64)
            words[:, first_word] |= word << np.uint64(shift)
            if shift:
                words[:, first_word + 1] |= word >> np.uint64(64 - shift)
        return words.view(np.uint8)[:, : self.width].tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        """Words of `WORD` bits each, cut out of words of 64 bits; a set with bits beyond the categories is missing."""
        octets = np.frombuffer(body, np.uint8).reshape(-1, self.width)
        padded = np.zeros((len(octets), 8 * (-(-self.width // 8) + 1)), np.uint8)
        padded[:, : self.width] = octets
        words, result = padded.view("<u8"), np.empty((self.space.width, len(octets)), np.int64)
        for place in range(self.space.width):
            first_word, shift = divmod(WORD * place, 64)
            word = words[:, first_word] >> np.uint64(shift)
            if shift:
                word |= words[:, first_word + 1] << np.uint64(64 - shift)
            result[place] = word & _WHOLE
        used_bits = len(self.space.labels) - 8 * (self.width - 1)
        if used_bits < 8:
            result[0, (octets[:, -1] >> used_bits) > 0] = MISSING
        return result.T

    def of_json(self, cells: Sequence[Any]) -> tuple[Reports, list[int]]:
        cell_codes = [_codes_of(self.space, cell) if isinstance(cell, str) else None for cell in cells]
        good_codes = [codes for codes in cell_codes if codes is not None]
        codes = np.vstack([np.empty((0, self.space.width), np.int64), *good_codes])
        return self.of_codes(codes), [place for place, codes in enumerate(cell_codes) if codes is None]

    def outside(self, reports: Reports) -> NDArray[np.bool_]:
        is_outside = self.space.missing(reports)
        if (self.space.least, self.space.most) != (0, len(self.space.labels)):
            sizes = self.space.sizes(reports)
            is_outside = is_outside | (sizes < self.space.least) | (sizes > self.space.most)
        return np.asarray(is_outside)

    def unordered(self, reports: Reports) -> NDArray[np.bool_]:
        is_less, is_same = np.zeros(max(len(reports) - 1, 0), bool), np.ones(max(len(reports) - 1, 0), bool)
        for word in reports.T[::-1]:
            is_less |= is_same & (word[1:] < word[:-1])
            is_same &= word[1:] == word[:-1]
            if not is_same.any():
                break
        is_present = reports[:, 0] != MISSING  # the others are refused for another reason
        return np.asarray(is_less & is_present[1:] & is_present[:-1])

    def codes(self, reports: Reports) -> Codes:
        return reports.astype(np.int64, copy=False)

    def plain(self, reports: Reports) -> list[Any]:
        return list(self.space.texts(reports))


def _codes_of(space: Space, text: str) -> Codes | None:
    """The code of a response as a client writes it; None for any other text."""
    try:
        codes = space.encode([text])
    except NaysayError:
        return None
    return None if space.missing(codes)[0] else codes
