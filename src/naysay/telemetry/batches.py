"""Batches of reports: a number for each report, under a design, a question and a wave; and nothing about who sent it.

A batch is what devices send and servers keep until they have counted it. `write` makes batches, `read` takes them out
of a stream with the memory of one batch, `count` and `tally` count them with memory that depends on the design and not
on n. Reports are sorted, so that a batch does not tell in which order they came. docs/reference/batch_format.md has
both forms byte by byte.

First batches, then layouts: how the responses of a design are written as whole numbers, their places in a list, or a
bit for each category.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import chain
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array, Flags, Integers, JsonNode, Label
from naysay.errors import DataError, NaysayError
from naysay.responses import WORD, Codes, Responses, Space
from naysay.responses.spaces import MISSING
from naysay.tally import Asked, Tally

__all__ = ["Batch", "BatchError", "Counted", "Heading", "Topic", "count", "read", "tally", "write"]

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
        for field_name, heading_name in zip(("question", "wave", "level"), self[1:], strict=True):
            half_pair = re.search(r"[\ud800-\udfff]", heading_name)  # of a pair in UTF-16: no text
            if len(heading_name) > LONGEST or half_pair or not re.fullmatch(ONE_LINE, heading_name):
                requirement = f"the {field_name} of a batch must have at most {LONGEST} characters in one line"
                raise BatchError("heading", f"{requirement}; got {heading_name[:80]!r}")
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
    def level(self) -> Label:
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


def level_of(design: Named, heading: Heading) -> Label:
    """The level that a heading names; raises unless the design offers it."""
    design_name = design.name or "this design"
    if design.levels == (None,):
        if heading.level:
            raise BatchError("level", f"{design_name} offers no levels; the batch names level {heading.level!r}")
        return None
    if not heading.level:
        raise BatchError("level", f"{design_name} offers levels; the batch names none")
    try:
        design.channel(heading.level)
    except DataError as error:
        raise BatchError("level", str(error)) from None
    level: Label = next(level for level in design.levels if str(level) == heading.level)
    return level


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
                known_hashes = ", ".join(known_hash[:12] for known_hash in self._known)
                problem = (
                    f"its design has the hash {heading.design[:12]}…; "
                    f"expected {known_hashes or 'none'}…: another design"
                )
                raise BatchError("design", problem)
            report_layout = layout_of(design.channel(level_of(design, heading)).space)
            self._layouts[heading.design, heading.level] = report_layout
        return report_layout

    def of_json(self, heading: Heading, cells: Sequence[object]) -> Batch:
        """The batch of these cells of a JSON list."""
        layout = self.layout(heading.checked())
        reports, bad_places = layout.of_json(cells)
        bad_report = repr(cells[bad_places[0]])[:80] if bad_places else ""
        return self._batch(heading, layout, reports, bad_places, len(cells), bad_report)

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
        bad_places = np.flatnonzero(is_outside).tolist()
        if not bad_places:
            return self._batch(heading, layout, reports, [], len(reports), "")
        bad_report = "a set of other size, or with bits that stand for no category"
        if reports.ndim == 1:
            bad_report = f"{int(reports[bad_places[0]]):,}"
        return self._batch(heading, layout, reports[~is_outside], bad_places, len(reports), bad_report)

    def _batch(
        self, heading: Heading, layout: Layout, reports: Reports, bad_places: list[int], total: int, bad_report: str
    ) -> Batch:
        reason = ""
        if bad_places:
            reason = f"report {bad_places[0] + 1} of {total:,} is {bad_report}; it must be {layout.report_description}"
            if self._bad == "refuse":
                raise BatchError("report", reason, row=bad_places[0])
        return Batch(self._known[heading.design], heading, layout, reports, len(bad_places), reason)


MAGIC = b"NSRB"
VERSION = 1
HEAD = Struct("<4sHH32sQHHH")
"""Magic, version, bytes of a report, hash, number of reports, bytes of question, wave and level."""
CHECK = Struct("<I")
"""The CRC-32 of all bytes of the batch before it."""
LARGEST = 2**26
"""Bytes of the body of a batch, and of a line of JSON, at most: so much memory a reader needs."""

_KEYS = {"naysay", "version", "design", "question", "wave", "level", "reports"}
_SPACE = b" \t\r\n"

Source = str | Path | bytes | BinaryIO


def read(source: Source, designs: Named | Iterable[Named], *, bad: Bad = "refuse") -> Iterator[Batch]:
    """The batches of a file, one after the other; only one is in memory.

    Parameters
    ----------
    source : path, bytes or binary file
        Any number of batches, binary or JSON lines, one after the other.
    designs : design or iterable of designs
        The designs that reports may be drawn under.
    bad : "refuse" or "keep"
        What becomes of a batch with a report that the design cannot make: it is an error, or the others are kept.

    Yields
    ------
    Batch

    Raises
    ------
    DataError
        Another design or version, a file cut short or damaged, a report out of range; it names the batch.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import batches, designs
    >>> crashed = designs.k_ary(("list", "map", "search"), epsilon=1)
    >>> file = BytesIO()
    >>> batches.write(file, crashed, ["map", "list", "map"], question="crash")
    >>> [batch.responses.texts() for batch in batches.read(file.getvalue(), crashed)]
    [['list', 'map', 'map']]
    """
    reader, batch_number = Reader(by_hash(designs), bad), 0
    source_name = repr(str(source)) if isinstance(source, str | Path) else ""
    with _open_file(source) as file:
        while first_byte := file.read(1):
            if first_byte in _SPACE:
                continue
            batch_number += 1
            try:
                batch = _json(reader, first_byte, file) if first_byte == b"{" else _binary(reader, first_byte, file)
            except BatchError as error:
                raise error.within(f"batch {batch_number}" + (f" of {source_name}" if source_name else "")) from None
            yield batch


@contextmanager
def _open_file(source: Source) -> Iterator[BinaryIO]:
    if isinstance(source, bytes | bytearray):
        yield BytesIO(source)
    elif isinstance(source, str | Path):
        try:
            with Path(source).open("rb") as file:
                yield file
        except OSError as error:
            raise DataError(f"cannot read {str(source)!r}: {error.strerror or error}") from None
    else:
        yield source


def _binary(reader: Reader, first_byte: bytes, file: BinaryIO) -> Batch:
    head_bytes = first_byte + file.read(HEAD.size - 1)
    if head_bytes[:4] != MAGIC[: len(head_bytes)]:
        raise BatchError("form", "it is no batch: it begins neither with NSRB nor with {")
    _check_whole(head_bytes, HEAD.size)
    _, version, byte_width, design_hash, report_count, *text_lengths = HEAD.unpack(head_bytes)
    if version != VERSION:
        raise BatchError("version", f"it is of version {version}; this naysay reads version {VERSION}: please update")
    if report_count * byte_width > LARGEST:
        raise BatchError(
            "large",
            f"its body would have {report_count * byte_width:,} bytes; a batch has at most {LARGEST:,}: write several",
        )
    name_bytes, body, check_bytes = (
        _exactly(file, byte_count) for byte_count in (sum(text_lengths), report_count * byte_width, CHECK.size)
    )
    if zlib.crc32(body, zlib.crc32(name_bytes, zlib.crc32(head_bytes))) != CHECK.unpack(check_bytes)[0]:
        raise BatchError("damaged", "its checksum does not fit: the file is damaged; get it again")
    text_ends = [sum(text_lengths[: place + 1]) for place in range(3)]
    try:
        heading_texts = [
            name_bytes[text_end - text_length : text_end].decode()
            for text_length, text_end in zip(text_lengths, text_ends, strict=True)
        ]
    except UnicodeDecodeError:
        raise BatchError("heading", "its question, wave and level must be UTF-8") from None
    heading = Heading(design_hash.hex(), *heading_texts)
    needed_width = reader.layout(heading).width
    if byte_width != needed_width:
        raise BatchError("width", f"its reports have {byte_width} bytes; under this design they have {needed_width}")
    return reader.of_bytes(heading, body)


def _exactly(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    _check_whole(content, size)
    return content


def _check_whole(content: bytes, size: int) -> None:
    if len(content) < size:
        raise BatchError("short", f"it is cut short: {size - len(content):,} bytes are missing; get the file again")


def _json(reader: Reader, first_byte: bytes, file: BinaryIO) -> Batch:
    json_line = first_byte + file.readline(LARGEST)
    if len(json_line) > LARGEST:
        raise BatchError("large", f"its line has more than {LARGEST:,} bytes: write several batches")
    try:
        batch_object = json.loads(json_line)
    except (ValueError, RecursionError):
        batch_object = None
    if not isinstance(batch_object, dict):
        raise BatchError("form", "it is not one line of JSON; is it cut short?")
    if batch_object.get("naysay") != "reports" or set(batch_object) - _KEYS:
        wrong_keys = (
            ", ".join(map(repr, sorted(set(batch_object) - _KEYS))) or f'"naysay": {batch_object.get("naysay")!r}'
        )
        raise BatchError(
            "form",
            f'it must hold "naysay": "reports", and of its keys only {", ".join(sorted(_KEYS))}; got {wrong_keys}',
        )
    if batch_object.get("version") != VERSION:
        raise BatchError(
            "version",
            f"it is of version {batch_object.get('version')!r}; this naysay reads version {VERSION}: please update",
        )
    heading = Heading(*(_text(batch_object, field_name) for field_name in Heading._fields))
    report_list = batch_object.get("reports")
    if not isinstance(report_list, list):
        raise BatchError("form", "its reports must be a list")
    return reader.of_json(heading, report_list)


def _text(batch_object: JsonNode, name: str) -> str:
    heading_text = batch_object.get(name)
    if heading_text is None:
        heading_text = ""
    if not isinstance(heading_text, str):
        raise BatchError("heading", f"its {name} must be a text; got {heading_text!r}")
    return heading_text


Form = Literal["binary", "json"]

_SIZE = 2**20  # reports of a batch
_JSON = 2**16  # reports of a line of JSON: a set of many categories may be long


def write(
    target: str | Path | BinaryIO,
    design: Named,
    said: Any,
    *,
    question: str = "",
    wave: str | int = "",
    level: Label = None,
    form: Form = "binary",
) -> None:
    r"""Write reports as batches of at most 2²⁰ each.

    A batch holds numbers, the design's hash, question, wave and level, and nothing else. Its reports are sorted, so
    that they do not tell in which order they came; only the order of whole batches remains.

    Parameters
    ----------
    target : path or binary file
        A path is overwritten. Batches may be concatenated, so that an open file may already hold some.
    design : design
        What the reports were drawn under.
    said : Responses, or what `Design.encode` takes, or an iterator of such pieces
        The reports. From an iterator each piece becomes at least one batch, and only one is in memory.
    question, wave : str
        What was asked, and when: the names under which reports are counted.
    level : label, optional
        With a design of levels, the level of the reports, if they do not know it themselves.
    form : "binary" or "json"

    Raises
    ------
    DataError
        A missing answer, a name of more than 140 characters, or a file that cannot be written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import designs
    >>> file = BytesIO()
    >>> write(file, designs.k_ary(("list", "map", "search"), epsilon=1), ["map", "list"], form="json", wave=3)
    >>> file.getvalue().decode()[-61:]
    '"question": "", "wave": "3", "level": "", "reports": [0, 1]}\n'
    """
    if form not in ("binary", "json"):
        raise DataError(f'form must be "binary" or "json"; got {form!r}')
    try:
        with nullcontext(target) if hasattr(target, "write") else Path(target).open("wb") as file:
            for piece in said if isinstance(said, Iterator) else [said]:
                responses = piece if isinstance(piece, Responses) else design.encode(piece, level)
                for batch in _batches(design, responses, str(question), str(wave), form):
                    file.write(batch)
    except OSError as error:
        raise DataError(f"cannot write {str(target)!r}: {error.strerror or error}") from None


def _batches(design: Named, responses: Responses, question: str, wave: str, form: Form) -> Iterator[bytes]:
    for level in design.levels:
        _, codes = design.codes_at(level, responses)
        layout = layout_of(design.channel(level).space)
        heading = Heading(design.hash, question, wave, "" if level is None else str(level)).checked()
        batch_size = _JSON if form == "json" else min(_SIZE, LARGEST // layout.width)
        for batch_start in range(0, len(codes), batch_size):
            reports = layout.of_codes(codes[batch_start : batch_start + batch_size])
            yield _json_line(heading, layout, reports) if form == "json" else binary_batch(heading, layout, reports)


def _json_line(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    batch_object = {"naysay": "reports", "version": VERSION, **heading._asdict(), "reports": layout.plain(reports)}
    return json.dumps(batch_object, ensure_ascii=False).encode() + b"\n"


def binary_batch(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    """One binary batch."""
    name_bytes = [name.encode() for name in heading[1:]]
    name_lengths = map(len, name_bytes)
    head_bytes = HEAD.pack(MAGIC, VERSION, layout.width, bytes.fromhex(heading.design), len(reports), *name_lengths)
    batch_content = b"".join([head_bytes, *name_bytes, layout.to_bytes(reports)])
    return batch_content + CHECK.pack(zlib.crc32(batch_content))


_PENDING = 2**20  # entries that wait to be merged


class Topic(NamedTuple):
    """What is tallied together: a design by its hash, a question and a wave."""

    design: str
    question: str
    wave: str


@dataclass(frozen=True)
class Counted:
    """What a file of batches held.

    Parameters
    ----------
    tallies : dict of Topic to Tally
    batches, reports : int
        How many batches there were, and how many reports are counted.
    refused : int
        How many reports the designs cannot make; they are left out.
    why : str
        What was wrong with the first of them.
    """

    tallies: dict[Topic, Tally]
    batches: int
    reports: int
    refused: int
    why: str


def runs(reports: Array) -> tuple[Integers, Integers]:
    """The distinct values of an ascending array, and how often each comes.

    Examples
    --------
    >>> runs(np.array([2, 2, 2, 7]))
    (array([2, 7]), array([3, 1]))
    """
    if not len(reports):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    run_ends = np.append(np.flatnonzero(reports[1:] != reports[:-1]), len(reports) - 1)
    return reports[run_ends].astype(np.int64), np.diff(run_ends, prepend=-1)


@dataclass
class _Count:
    """The part that the reports to one question at one level make."""

    design: Named
    level: Label
    kind: Any
    part: Any = None
    pending: list[tuple[Integers, Integers]] = field(default_factory=list)
    waiting: int = 0

    def add(self, batch: Batch) -> None:
        """Count a batch: numbers by how long each run of one number is, sets one by one."""
        are_numbers = batch.reports.ndim == 1
        value_runs = runs(batch.reports) if are_numbers else (batch.codes, np.empty(0, np.int64))
        self.pending.append(value_runs)
        self.waiting += len(value_runs[0])
        if self.waiting > _PENDING:
            self.flush()

    def flush(self) -> Any:
        """The part with all that was added so far."""
        channel = self.design.channel(self.level)
        empty_codes = np.empty((0, channel.space.width), np.int64)
        pending_values, occurrences = (
            np.concatenate(arrays) for arrays in zip(*self.pending or [(empty_codes, empty_codes[:, 0])], strict=True)
        )
        if pending_values.ndim == 2:
            added_part = self.kind.counted(channel, pending_values, level=self.level)
        else:
            value_order = np.argsort(pending_values, kind="stable")
            distinct_places, run_lengths = runs(pending_values[value_order])
            place_totals = np.add.reduceat(occurrences[value_order], np.cumsum(run_lengths) - run_lengths)
            added_part = self.kind.of(channel, channel.space.at(distinct_places), level=self.level, count=place_totals)
        self.part = added_part if self.part is None else self.part.plus(added_part)
        self.pending, self.waiting = [], 0
        return self.part


def count(
    source: Source | Iterable[Source],
    designs: Named | Iterable[Named],
    *,
    bad: Bad = "refuse",
    sums: bool | None = None,
) -> Counted:
    """Everything that files of batches hold, as one tally for each design, question and wave.

    Memory depends on the designs, and not on the number of reports; except in an open domain, where a tally keeps the
    distinct reports unless `sums` is true.

    Parameters
    ----------
    source : path, bytes or binary file, or iterable of them
    designs : design or iterable of designs
        The designs that reports may be drawn under.
    bad : "refuse" or "keep"
        What becomes of a batch with a report that the design cannot make.
    sums : bool, optional
        Whether to keep how often reports speak for each category; see `Design.tally`.

    Returns
    -------
    Counted

    Raises
    ------
    DataError
        See `read`; also where there are more than 2**53 reports.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import batches, designs
    >>> crashed, file = designs.k_ary(("list", "map", "search"), epsilon=1), BytesIO()
    >>> for wave in (1, 2):
    ...     batches.write(file, crashed, ["map", "list", "map"], question="crash", wave=wave)
    >>> {topic.wave: tally.counts.tolist() for topic, tally in count(file.getvalue(), crashed).tallies.items()}
    {'1': [1, 2, 0], '2': [1, 2, 0]}
    """
    designs_by_hash = by_hash(designs)
    topic_counts: dict[Topic, dict[Label, _Count]] = {}
    batch_count, report_count, refused_count, first_reason = 0, 0, 0, ""
    has_several = isinstance(source, Iterable) and not isinstance(source, str | bytes | bytearray)
    sources = source if has_several and not hasattr(source, "read") else [source]
    for batch in chain.from_iterable(
        read(file_source, designs_by_hash.values(), bad=bad)  # type: ignore[arg-type]
        for file_source in sources  # type: ignore[union-attr]
    ):
        batch_count += 1
        report_count += len(batch)
        refused_count += batch.refused
        first_reason = first_reason or batch.why
        counts_of_level = topic_counts.setdefault(Topic(*batch.heading[:3]), {})
        if batch.level not in counts_of_level:
            channel = batch.design.channel(batch.level)
            counts_of_level[batch.level] = _Count(batch.design, batch.level, Tally.kind(channel, sums=sums))
        counts_of_level[batch.level].add(batch)
    tallies = {}
    for topic, counts_of_level in topic_counts.items():
        design = designs_by_hash[topic.design]
        # a level on offer has a part, even if nobody chose it
        empty_counts = (_Count(design, level, Tally.kind(design.channel(level), sums=sums)) for level in design.levels)
        level_parts = tuple(counts_of_level.get(empty_count.level, empty_count).flush() for empty_count in empty_counts)
        tallies[topic] = Tally(level_parts, question=topic.question or None, wave=topic.wave or None)
    return Counted(tallies, batch_count, report_count, refused_count, first_reason)


def tally(
    source: Source | Iterable[Source],
    design: Named,
    *,
    question: str | None = None,
    wave: str | int | None = None,
    bad: Bad = "refuse",
    sums: bool | None = None,
) -> Tally:
    """The tally of the reports to one question, of one wave, under one design.

    Parameters
    ----------
    source, bad, sums
        See `count`.
    design : design
    question, wave : str, optional
        Which question and wave, where the source holds several.

    Raises
    ------
    DataError
        Also where nothing is asked for and there are several questions or waves, or where there is none.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import batches, designs
    >>> crashed, file = designs.k_ary(("list", "map", "search"), epsilon=1), BytesIO()
    >>> batches.write(file, crashed, ["map", "list", "map"], question="crash")
    >>> tally(file.getvalue(), crashed)
    <Tally: 3 answers to 'crash', 2 distinct>
    """
    tallies = count(source, design, bad=bad, sums=sums).tallies
    wave_name = None if wave is None else str(wave)
    wanted_topics = [
        topic for topic in tallies if question in (None, topic.question) and wave_name in (None, topic.wave)
    ]
    if len(wanted_topics) == 1:
        return tallies[wanted_topics[0]]
    topic_list = _checks.listing_text(
        [f"{topic.question or '(no question)'}, wave {topic.wave or '(none)'}" for topic in tallies]
    )
    if not wanted_topics:
        raise DataError(
            f"there is no report to that; there are {topic_list}" if tallies else "there is no report in it"
        )
    raise DataError(f"there are several questions or waves; name one with question= and wave=: {topic_list}")


Reports = NDArray[np.integer[Any]]
"""Reports, in ascending order: (n,) numbers, or the codes (n, words) of sets."""

_WIDTHS = (1, 2, 4, 8)  # bytes of a number: what NumPy, DuckDB and JavaScript read without unpacking
_WHOLE = np.uint64(2**WORD - 1)


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
        """Bytes of a report."""
        return next(width for width in _WIDTHS if self.space.size <= 2 ** (8 * width))

    @property
    def report_description(self) -> str:
        """What a report is, for messages."""
        return f"a whole number from 0 to {self.space.size - 1:,}"

    def of_codes(self, codes: Codes) -> Reports:
        """Reports, in ascending order."""
        response_places = self.space.places(codes)
        if len(response_places) and response_places.min() < 0:
            raise DataError(f"a missing answer is no report; leave it out (answer {response_places.argmin() + 1})")
        return np.sort(response_places.astype(f"<u{self.width}"))

    def to_bytes(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        return np.frombuffer(body, f"<u{self.width}")

    def of_json(self, cells: Sequence[object]) -> tuple[Reports, list[int]]:
        """Reports in ascending order, and the places of the cells that are none."""
        report_numbers: list[int] = []
        bad_places: list[int] = []
        for cell_place, cell in enumerate(cells):
            report_number = self._number(cell)
            (bad_places if report_number is None else report_numbers).append(
                cell_place if report_number is None else report_number
            )
        return np.sort(np.array(report_numbers, f"<u{self.width}")), bad_places

    def _number(self, cell: object) -> int | None:
        report_number = cell if isinstance(cell, int) and not isinstance(cell, bool) else None
        if isinstance(cell, str):
            cell_codes = _codes_of(self.space, cell)
            report_number = None if cell_codes is None else int(self.space.places(cell_codes)[0])
        return report_number if report_number is not None and 0 <= report_number < self.space.size else None

    def outside(self, reports: Reports) -> Flags:
        """Which reports the design cannot make, (n,)."""
        return np.asarray(reports >= self.space.size)

    def unordered(self, reports: Reports) -> Flags:
        """Which reports are less than the one before, (n - 1,)."""
        return np.asarray(reports[1:] < reports[:-1])

    def codes(self, reports: Reports) -> Codes:
        return self.space.at(reports.astype(np.int64))

    def plain(self, reports: Reports) -> list[Any]:
        """Reports as JSON writes them: numbers, or the texts that clients draw."""
        return list(reports.tolist())


@dataclass(frozen=True)
class BitSets:
    """Each report is a set of categories: category c is bit c, as one number of ceil(t / 8) bytes.

    What its methods give is said at those of `Numbered`.
    """

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
        packed_words = np.zeros((len(reports), -(-self.width // 8) + 1), "<u8")
        for word_place, code_word in enumerate(reports.T.astype(np.uint64)):
            first_word, bit_shift = divmod(WORD * word_place, 64)
            packed_words[:, first_word] |= code_word << np.uint64(bit_shift)
            if bit_shift:
                packed_words[:, first_word + 1] |= code_word >> np.uint64(64 - bit_shift)
        return packed_words.view(np.uint8)[:, : self.width].tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        """Words of `WORD` bits each, cut out of words of 64 bits; a set with bits beyond the categories is missing."""
        report_octets = np.frombuffer(body, np.uint8).reshape(-1, self.width)
        padded_octets = np.zeros((len(report_octets), 8 * (-(-self.width // 8) + 1)), np.uint8)
        padded_octets[:, : self.width] = report_octets
        packed_words, code_words = padded_octets.view("<u8"), np.empty((self.space.width, len(report_octets)), np.int64)
        for word_place in range(self.space.width):
            first_word, bit_shift = divmod(WORD * word_place, 64)
            code_word = packed_words[:, first_word] >> np.uint64(bit_shift)
            if bit_shift:
                code_word |= packed_words[:, first_word + 1] << np.uint64(64 - bit_shift)
            code_words[word_place] = code_word & _WHOLE
        used_bits = len(self.space.labels) - 8 * (self.width - 1)
        if used_bits < 8:
            code_words[0, (report_octets[:, -1] >> used_bits) > 0] = MISSING
        return code_words.T

    def of_json(self, cells: Sequence[object]) -> tuple[Reports, list[int]]:
        cell_codes = [_codes_of(self.space, cell) if isinstance(cell, str) else None for cell in cells]
        good_codes = [codes for codes in cell_codes if codes is not None]
        codes = np.vstack([np.empty((0, self.space.width), np.int64), *good_codes])
        return self.of_codes(codes), [cell_place for cell_place, codes in enumerate(cell_codes) if codes is None]

    def outside(self, reports: Reports) -> Flags:
        is_outside = self.space.missing(reports)
        if (self.space.least, self.space.most) != (0, len(self.space.labels)):
            set_sizes = self.space.sizes(reports)
            is_outside = is_outside | (set_sizes < self.space.least) | (set_sizes > self.space.most)
        return np.asarray(is_outside)

    def unordered(self, reports: Reports) -> Flags:
        is_less, is_same = np.zeros(max(len(reports) - 1, 0), bool), np.ones(max(len(reports) - 1, 0), bool)
        for code_word in reports.T[::-1]:
            is_less |= is_same & (code_word[1:] < code_word[:-1])
            is_same &= code_word[1:] == code_word[:-1]
            if not is_same.any():
                break
        is_present = reports[:, 0] != MISSING  # the others are refused for another reason
        return np.asarray(is_less & is_present[1:] & is_present[:-1])

    def codes(self, reports: Reports) -> Codes:
        return reports.astype(np.int64, copy=False)

    def plain(self, reports: Reports) -> list[Any]:
        return list(self.space.texts(reports))


Layout: TypeAlias = Numbered | BitSets
"""How the responses of one design are written, which is all that a batch needs to know about them."""


def _codes_of(space: Space, text: str) -> Codes | None:
    """The code of a response as a client writes it; None for any other text."""
    try:
        codes = space.encode([text])
    except NaysayError:
        return None
    return None if space.missing(codes)[0] else codes
