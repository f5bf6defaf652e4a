"""Clients under audit: a Python callable, a program, or an endpoint on this computer. Each takes truths, one by one.

Of a small design `walked` takes the whole sampler, draw by draw: its exact chances, and the random numbers it reads.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import math
import select
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import IO, Any, cast
from urllib.parse import urlsplit

import numpy as np

from naysay._values import Integers, Label
from naysay.design import Answerable, Design
from naysay.design.drawing import ByteSource, system
from naysay.errors import DataError, DesignError
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

    def __init__(self, function: Callable[[str], object], name: str = "") -> None:
        self.function, self.name = function, name or getattr(function, "__name__", "a function")

    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        for truth in truths:
            start_time = time.perf_counter()
            try:
                report = self.function(truth)
            except Exception as error:  # what a client raises tells about the truth, too
                yield Observed(b"", time.perf_counter() - start_time, error=type(error).__name__)
                continue
            seconds = time.perf_counter() - start_time
            yield report if isinstance(report, Observed) else Observed(_bytes(report), seconds)


def _bytes(report: object) -> bytes:
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


def of_design(design: Answerable, level: Label = None) -> Client:
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
    place_of_label = {str(label): place for place, label in enumerate(channel.categories)}
    codes_by_text: dict[str, Any] = {}

    def replay(reports: Sequence[bytes], truths: Sequence[str]) -> list[Hashable]:
        """How likely each report is under each truth, beside the truth under which it is most likely."""
        truth_places = [place_of_label[truth] for truth in truths]
        drawn_codes, likelihoods = list(codes_by_text.values()), []
        batch_size = max(_CELLS // len(channel.categories), 1)
        for batch_start in range(0, len(drawn_codes), batch_size):
            likelihood_rows = channel.rows(np.concatenate(drawn_codes[batch_start : batch_start + batch_size]))[
                :, truth_places
            ]
            likelihoods += (likelihood_rows / likelihood_rows.max(axis=1, keepdims=True)).round(9).tolist()
        rows_by_report = {
            response_text.encode(): tuple(row) for response_text, row in zip(codes_by_text, likelihoods, strict=True)
        }
        return [rows_by_report[report] for report in reports]

    def draw_report(truth: str) -> Observed:
        bytes_read = 0

        def read_bytes(size: int) -> bytes:
            nonlocal bytes_read
            bytes_read += size
            return bytes(system._read(size))  # the same source that respondents have

        start_time = time.perf_counter()
        drawn_codes = channel.draw(np.array([place_of_label[truth]]), ByteSource(read_bytes))
        (response,) = Responses(drawn_codes, channel.space).texts()
        seconds = time.perf_counter() - start_time
        codes_by_text[str(response)] = drawn_codes
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
                start_time = time.perf_counter()
                report_line = self._answer(process, truth, wait=place == 0)
                if report_line is None:
                    process.kill()
                    yield from self._at_once(truths)
                    return
                if not report_line:
                    raise DataError(
                        f"{self.name!r} ended after {place:,} of {len(truths):,} truths; {_last_error_line(error_file)}"
                    )
                yield Observed(report_line.rstrip(b"\r\n"), time.perf_counter() - start_time)

    def _process(self, error_file: IO[bytes]) -> subprocess.Popen[bytes]:
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


def _last_error_line(error_file: IO[bytes]) -> str:
    """The last line that a program wrote to stderr."""
    error_file.seek(0)
    error_lines = error_file.read().decode(errors="replace").split("\n")
    last_line = next((line for line in reversed(error_lines) if line.strip()), "")
    return f"it said {last_line.strip()[:200]!r}" if last_line else "it said nothing on stderr"


class Endpoint(Client):
    """A server on this computer that is sent each truth as the body of a POST request, and answers with the report.

    Parameters
    ----------
    url : str
        On a loopback address, such as ``http://127.0.0.1:8000/report``: truths must not leave this computer.
    """

    def __init__(self, url: str) -> None:
        url_parts = urlsplit(url)
        if url_parts.scheme != "http" or not url_parts.hostname:
            raise DataError(f"an endpoint is an address such as http://127.0.0.1:8000/report; got {url!r}")
        if not _is_loopback(url_parts.hostname):
            raise DataError(
                f"the endpoint must be on this computer, since it is sent truths; got {url_parts.hostname!r}"
            )
        self.name, self._parts = url, url_parts

    def observe(self, truths: Sequence[str]) -> Iterator[Observed]:
        request_path = self._parts.path or "/"
        request_path += f"?{self._parts.query}" if self._parts.query else ""
        connection = http.client.HTTPConnection(str(self._parts.hostname), self._parts.port or 80, timeout=30)
        with contextlib.closing(connection):
            for truth in truths:
                start_time = time.perf_counter()
                try:
                    connection.request(
                        "POST", request_path, truth.encode(), {"Content-Type": "text/plain; charset=utf-8"}
                    )
                    server_answer = connection.getresponse()
                    report = server_answer.read()
                except (OSError, http.client.HTTPException) as error:
                    raise DataError(f"{self.name} does not answer: {error}") from None
                seconds = time.perf_counter() - start_time
                header_text = "; ".join(
                    f"{header_name}: {value}"
                    for header_name, value in server_answer.getheaders()
                    if header_name.lower() != "date"
                )
                yield Observed(
                    report,
                    seconds,
                    None,
                    "" if server_answer.status < 300 else f"status {server_answer.status}",
                    header_text,
                )


def _is_loopback(host: str) -> bool:
    try:
        addresses = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in addresses)


_MOST = 20_000  # paths of draws for each category


@dataclass(frozen=True)
class Walked:
    """What a sampler does, over all random numbers that it could read.

    Parameters
    ----------
    chances : {category: {response: Fraction}}
        Exact; responses as text.
    bounds : {category: set of tuple of int}
        The sequences of bounds below which integers were drawn. One sequence for all categories means that neither the
        number of random bytes nor the time that they take tells anything.
    """

    chances: dict[Any, dict[str, Fraction]]
    bounds: dict[Any, set[tuple[int, ...]]]


class _Script:
    """A source whose integers are given beforehand; beyond them it draws 0, and notes the bounds."""

    def __init__(self, scripted_integers: tuple[int, ...]) -> None:
        self.given, self.bounds = scripted_integers, []  # type: tuple[int, ...], list[int]

    def below(self, bound: int, size: int) -> Integers:
        integers = []
        for _ in range(size):
            draw_place = len(self.bounds)
            self.bounds.append(bound)
            integers.append(self.given[draw_place] if draw_place < len(self.given) else 0)
        return np.array(integers, dtype=np.int64)


def walked(design: Answerable, level: Label = None) -> Walked:
    """Every path through a design's sampler, for every category.

    An integer below a bound is uniform by the rule ``integer``, whatever bytes are rejected. So the chances of a path
    are one over the product of its bounds, and their sums are exact.

    Parameters
    ----------
    design : Design, Levels or Samples
    level : label, optional
        The level or sample; needed where the design has some.

    Raises
    ------
    DesignError
        More than 20,000 paths for a category: use `audit` instead.

    Examples
    --------
    >>> from naysay import designs
    >>> found = walked(designs.warner(p=0.75))
    >>> found.chances["yes"], found.bounds["yes"]
    ({'yes': Fraction(3, 4), 'no': Fraction(1, 4)}, {(4,)})
    """
    channel = design.channel(level)
    chances_by_category: dict[Any, dict[str, Fraction]] = {}
    bounds_by_category: dict[Any, set[tuple[int, ...]]] = {}
    for category_place, category in enumerate(channel.categories):
        response_chances = chances_by_category.setdefault(category, {})
        bound_sequences = bounds_by_category.setdefault(category, set())
        for path, response in _paths(channel, category_place):
            response_chances[response] = response_chances.get(response, Fraction(0)) + Fraction(1, math.prod(path))
            bound_sequences.add(path)
    return Walked(chances_by_category, bounds_by_category)


def _paths(channel: Design, place: int) -> Iterator[tuple[tuple[int, ...], str]]:
    """The bounds of the draws on each path, and the response at its end; the last draw moves first."""
    scripted_integers: tuple[int, ...] = ()
    while True:
        script = _Script(scripted_integers)
        (response,) = Responses(channel.draw(np.array([place]), script), channel.space).texts()
        path = tuple(script.bounds)
        if math.prod(path) > _MOST:
            raise DesignError(
                f"{channel.name or 'this design'} has more than {_MOST:,} paths of draws; audit it instead"
            )
        yield path, str(response)
        next_integers = [*scripted_integers, *[0] * (len(path) - len(scripted_integers))][: len(path)]
        while next_integers and next_integers[-1] + 1 == path[len(next_integers) - 1]:
            next_integers.pop()
        if not next_integers:
            return
        next_integers[-1] += 1
        scripted_integers = tuple(next_integers)
