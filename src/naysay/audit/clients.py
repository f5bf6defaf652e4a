"""Clients under audit: a Python callable, a program, or an endpoint on this computer. Each takes truths, one by one."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import select
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import urlsplit

import numpy as np

from naysay.design import Answerable
from naysay.design.drawing import ByteSource, system
from naysay.errors import DataError
from naysay.responses import Responses

Replay = Callable[[Sequence[bytes], Sequence[str]], list[Hashable]]

_CELLS = 2**22  # responses × categories whose likelihoods are computed at a time
_QUIET = 10.0  # seconds after which a program that has not answered is asked for everything at once


@dataclass(frozen=True, slots=True)
class Observed:
    """All that is seen of one report.

    Parameters
    ----------
    report : bytes
        As it left the client.
    seconds : float, optional
        How long it took.
    drawn : int, optional
        Random bytes that were read for it.
    error : str
        What was seen instead of a report, or beside it, such as the name of an exception.
    beside : str
        What came with the report, such as the headers of a reply.
    """

    report: bytes
    seconds: float | None = None
    drawn: int | None = None
    error: str = ""
    beside: str = ""


class Client(ABC):
    """What takes truths and lets reports out.

    `replay` gives what a reader who knows the client computes from each of its reports, if that is known.
    """

    name: str
    replay: Replay | None = None

    @abstractmethod
    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        """What is seen for each truth, in order."""


class Callee(Client):
    """A Python function of one truth.

    Parameters
    ----------
    function : callable
        Takes a truth and returns its report: bytes, text, an `Observed`, or what JSON can hold.
    name : str

    Examples
    --------
    >>> [seen.report for seen in Callee(lambda truth: [truth, 1.5]).observe(["a"])]
    [b'["a", 1.5]']
    """

    def __init__(self, function: Callable[[str], Any], name: str = "") -> None:
        self.function, self.name = function, name or getattr(function, "__name__", "a function")

    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        for truth in truths:
            began = time.perf_counter()
            try:
                report = self.function(truth)
            except Exception as error:  # what a client raises tells about the truth, too
                yield Observed(b"", time.perf_counter() - began, error=type(error).__name__)
                continue
            seconds = time.perf_counter() - began
            yield report if isinstance(report, Observed) else Observed(_bytes(report), seconds)


def _bytes(report: Any) -> bytes:
    if isinstance(report, bytes):
        return report
    if isinstance(report, str):
        return report.encode()
    if isinstance(report, set | frozenset):  # a set of Python has no order of its own
        report = sorted(report)
    try:
        return json.dumps(report, default=lambda value: value.tolist()).encode()
    except (TypeError, ValueError, AttributeError):
        raise DataError(
            f"a report must be text, bytes or what JSON can hold; got {type(report).__name__}, so let the function "
            "return what it would send"
        ) from None


def of_design(design: Answerable, level: Any = None) -> Client:
    """The client that a design describes: naysay's own sampler, with the random bytes that it reads.

    Parameters
    ----------
    design : Design, Levels or Samples
    level : label, optional
        The level or sample; needed where the design has some.

    Examples
    --------
    >>> from naysay import designs
    >>> client = of_design(designs.negative(("a", "b", "c")))
    >>> [seen.drawn > 0 for seen in client.observe(["a", "b"])]
    [True, True]
    """
    channel = design.channel(level)
    places = {str(label): place for place, label in enumerate(channel.categories)}
    codes: dict[str, Any] = {}

    def replay(reports: Sequence[bytes], truths: Sequence[str]) -> list[Hashable]:
        """How likely each report is under each truth, beside the truth under which it is most likely."""
        truth_places, drawn_codes, likelihoods = [places[truth] for truth in truths], list(codes.values()), []
        step = max(_CELLS // len(channel.categories), 1)
        for start in range(0, len(drawn_codes), step):
            rows = channel.rows(np.concatenate(drawn_codes[start : start + step]))[:, truth_places]
            likelihoods += (rows / rows.max(axis=1, keepdims=True)).round(9).tolist()
        rows_by_report = {text.encode(): tuple(row) for text, row in zip(codes, likelihoods, strict=True)}
        return [rows_by_report[report] for report in reports]

    def draw_report(truth: str) -> Observed:
        bytes_read = 0

        def read_bytes(size: int) -> bytes:
            nonlocal bytes_read
            bytes_read += size
            return bytes(system._read(size))  # the same source that respondents have

        began = time.perf_counter()
        drawn_codes = channel.drawn(np.array([places[truth]]), ByteSource(read_bytes))
        (response,) = Responses(drawn_codes, channel.space).texts()
        seconds = time.perf_counter() - began
        codes[str(response)] = drawn_codes
        return Observed(str(response).encode(), seconds, bytes_read)

    client = Callee(draw_report, channel.name or channel.kind)
    client.replay = replay
    return client


class Command(Client):
    """A program that reads truths, a line each, and writes a report in a line for each, in the same order.

    A program that writes each line at once is timed, truth by truth. One that waits for the end of its input is given
    all truths, and is not timed. What it writes to stderr belongs to nobody's report.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.name = list(words), " ".join(words)

    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        with (
            tempfile.TemporaryFile() as error_file,
            self._process(error_file) as process,
            contextlib.ExitStack() as at_end,
        ):
            at_end.callback(process.kill)
            for place, truth in enumerate(truths):
                began = time.perf_counter()
                line = self._answer(process, truth, wait=place == 0)
                if line is None:
                    process.kill()
                    yield from self._at_once(truths)
                    return
                if not line:
                    raise DataError(
                        f"{self.name!r} ended after {place:,} of {len(truths):,} truths; {_last_error_line(error_file)}"
                    )
                yield Observed(line.rstrip(b"\r\n"), time.perf_counter() - began)

    def _process(self, error_file: Any) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=error_file,
                start_new_session=True,  # so that Ctrl-C ends the audit, and not the client in the middle of a report
            )
        except OSError as error:
            raise DataError(f"cannot run {self.words[0]!r}: {error.strerror}") from None

    def _answer(self, process: subprocess.Popen[bytes], truth: str, *, wait: bool) -> bytes | None:
        """The line for a truth; empty if the program has ended, None if it does not answer the first truth."""
        input_pipe, output_pipe = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        with contextlib.suppress(BrokenPipeError):
            input_pipe.write(truth.encode() + b"\n")
            input_pipe.flush()
        if wait and not select.select([output_pipe], [], [], _QUIET)[0]:
            return None
        return output_pipe.readline()

    def _at_once(self, truths: Sequence[str]) -> Iterator[Observed]:
        with tempfile.TemporaryFile() as error_file, self._process(error_file) as process:
            output, _ = process.communicate("".join(f"{truth}\n" for truth in truths).encode())
            lines = output.splitlines()
            if len(lines) != len(truths):
                raise DataError(
                    f"{self.name!r} wrote {len(lines):,} lines for {len(truths):,} truths; it must write a line for "
                    f"each, empty where there is no report; {_last_error_line(error_file)}"
                )
        yield from map(Observed, lines)


def _last_error_line(error_file: Any) -> str:
    """The last line that a program wrote to stderr."""
    error_file.seek(0)
    lines = error_file.read().decode(errors="replace").split("\n")
    last_line = next((line for line in reversed(lines) if line.strip()), "")
    return f"it said {last_line.strip()[:200]!r}" if last_line else "it said nothing on stderr"


class Endpoint(Client):
    """A server on this computer that is sent each truth as the body of a POST request, and answers with the report.

    Parameters
    ----------
    url : str
        On a loopback address, such as ``http://127.0.0.1:8000/report``: truths must not leave this computer.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise DataError(f"an endpoint is an address such as http://127.0.0.1:8000/report; got {url!r}")
        if not _is_loopback(parts.hostname):
            raise DataError(f"the endpoint must be on this computer, since it is sent truths; got {parts.hostname!r}")
        self.name, self._parts = url, parts

    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        path = self._parts.path or "/"
        path += f"?{self._parts.query}" if self._parts.query else ""
        connection = http.client.HTTPConnection(str(self._parts.hostname), self._parts.port or 80, timeout=30)
        with contextlib.closing(connection):
            for truth in truths:
                began = time.perf_counter()
                try:
                    connection.request("POST", path, truth.encode(), {"Content-Type": "text/plain; charset=utf-8"})
                    answer = connection.getresponse()
                    report = answer.read()
                except (OSError, http.client.HTTPException) as error:
                    raise DataError(f"{self.name} does not answer: {error}") from None
                seconds = time.perf_counter() - began
                header_text = "; ".join(
                    f"{name}: {value}" for name, value in answer.getheaders() if name.lower() != "date"
                )
                yield Observed(
                    report, seconds, None, "" if answer.status < 300 else f"status {answer.status}", header_text
                )


def _is_loopback(host: str) -> bool:
    try:
        addresses = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in addresses)
