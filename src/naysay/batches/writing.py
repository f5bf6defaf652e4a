"""Batches to a stream. Reports are sorted, so that a batch does not tell in which order they came."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal

from naysay.batches.batch import Heading, Layout, Named, Reports, layout_of
from naysay.batches.reading import CHECK, HEAD, LARGEST, MAGIC, VERSION
from naysay.errors import DataError
from naysay.responses import Responses

__all__ = ["Form", "write"]

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
        most = _JSON if form == "json" else min(_SIZE, LARGEST // layout.width)
        for start in range(0, len(codes), most):
            reports = layout.of_codes(codes[start : start + most])
            yield _line(heading, layout, reports) if form == "json" else packed(heading, layout, reports)


def _line(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    told = {"naysay": "reports", "version": VERSION, **heading._asdict(), "reports": layout.plain(reports)}
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def packed(heading: Heading, layout: Layout, reports: Reports) -> bytes:
    """One binary batch."""
    names = [each.encode() for each in heading[1:]]
    lengths = map(len, names)
    head = HEAD.pack(MAGIC, VERSION, layout.width, bytes.fromhex(heading.design), len(reports), *lengths)
    whole = b"".join([head, *names, layout.to_bytes(reports)])
    return whole + CHECK.pack(zlib.crc32(whole))
