"""Batches from a stream: binary or JSON lines, one after the other, with the memory of one batch.

Batches to a stream. Reports are sorted, so that a batch does not tell in which order they came.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, Literal

from naysay.batches.batch import Bad, Batch, BatchError, Heading, Layout, Named, Reader, Reports, by_hash, layout_of
from naysay.errors import DataError
from naysay.responses import Responses

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
    reader, number, name = Reader(by_hash(designs), bad), 0, repr(str(source)) if isinstance(source, str | Path) else ""
    with _open_file(source) as file:
        while first_byte := file.read(1):
            if first_byte in _SPACE:
                continue
            number += 1
            try:
                batch = _json(reader, first_byte, file) if first_byte == b"{" else _binary(reader, first_byte, file)
            except BatchError as error:
                raise error.within(f"batch {number}" + (f" of {name}" if name else "")) from None
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
    head = first_byte + file.read(HEAD.size - 1)
    if head[:4] != MAGIC[: len(head)]:
        raise BatchError("form", "it is no batch: it begins neither with NSRB nor with {")
    _check_whole(head, HEAD.size)
    _, version, width, design, count, *lengths = HEAD.unpack(head)
    if version != VERSION:
        raise BatchError("version", f"it is of version {version}; this naysay reads version {VERSION}: please update")
    if count * width > LARGEST:
        raise BatchError(
            "large", f"its body would have {count * width:,} bytes; a batch has at most {LARGEST:,}: write several"
        )
    names, body, check = (_exactly(file, size) for size in (sum(lengths), count * width, CHECK.size))
    if zlib.crc32(body, zlib.crc32(names, zlib.crc32(head))) != CHECK.unpack(check)[0]:
        raise BatchError("damaged", "its checksum does not fit: the file is damaged; get it again")
    ends = [sum(lengths[: place + 1]) for place in range(3)]
    try:
        texts = [names[end - length : end].decode() for length, end in zip(lengths, ends, strict=True)]
    except UnicodeDecodeError:
        raise BatchError("heading", "its question, wave and level must be UTF-8") from None
    heading = Heading(design.hex(), *texts)
    needed_width = reader.layout(heading).width
    if width != needed_width:
        raise BatchError("width", f"its reports have {width} bytes; under this design they have {needed_width}")
    return reader.of_bytes(heading, body)


def _exactly(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    _check_whole(content, size)
    return content


def _check_whole(content: bytes, size: int) -> None:
    if len(content) < size:
        raise BatchError("short", f"it is cut short: {size - len(content):,} bytes are missing; get the file again")


def _json(reader: Reader, first_byte: bytes, file: BinaryIO) -> Batch:
    line = first_byte + file.readline(LARGEST)
    if len(line) > LARGEST:
        raise BatchError("large", f"its line has more than {LARGEST:,} bytes: write several batches")
    try:
        batch_object = json.loads(line)
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
    return reader.of_json(Heading(*(_text(batch_object, name) for name in Heading._fields)), _reports(batch_object))


def _text(batch_object: dict[str, Any], name: str) -> str:
    heading_text = batch_object.get(name)
    if heading_text is None:
        heading_text = ""
    if not isinstance(heading_text, str):
        raise BatchError("heading", f"its {name} must be a text; got {heading_text!r}")
    return heading_text


def _reports(batch_object: dict[str, Any]) -> list[Any]:
    report_list = batch_object.get("reports")
    if not isinstance(report_list, list):
        raise BatchError("form", "its reports must be a list")
    return report_list


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
    level: Any = None,
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
        for start in range(0, len(codes), batch_size):
            reports = layout.of_codes(codes[start : start + batch_size])
            yield _json_line(heading, layout, reports) if form == "json" else binary_batch(heading, layout, reports)


def _json_line(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    batch_object = {"naysay": "reports", "version": VERSION, **heading._asdict(), "reports": layout.plain(reports)}
    return json.dumps(batch_object, ensure_ascii=False).encode() + b"\n"


def binary_batch(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    """One binary batch."""
    names = [name.encode() for name in heading[1:]]
    lengths = map(len, names)
    head = HEAD.pack(MAGIC, VERSION, layout.width, bytes.fromhex(heading.design), len(reports), *lengths)
    content = b"".join([head, *names, layout.to_bytes(reports)])
    return content + CHECK.pack(zlib.crc32(content))
