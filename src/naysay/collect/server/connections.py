"""Connections, as many as the computer can hold; one whose sender makes the server wait too long is ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST = 1_000  # connections at once, if the limit on open files allows it
HEAD = 10.0  # seconds for the head of a request to arrive, or for the sender to take the answer
REQUEST = 120.0  # seconds for a whole request, body and answer
REST = 1 << 20  # bytes of a body that are read and thrown away after the answer: else a browser would not see it

_SPARE = 100  # files for the database, the log and whatever else is open
_WANTED_FILES = 4_096


class Connection(H11Protocol):
    """A connection with a deadline. When there are too many, the one that has kept the server waiting longest ends.

    So half-sent requests hold their place for only a few seconds. They cannot keep out a browser, which sends at once.
    """

    most = MOST
    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # None before the first request
    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0
    _thrown = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection; if there are too many, another one ends."""
        super().connection_made(transport)
        self._until(HEAD)
        if len(self.connections) > self.most:
            waiting = [
                connection for connection in self.connections if isinstance(connection, Connection) and connection.waits
            ]
            min(waiting, key=lambda connection: connection._since).drop()  # never empty: this one waits, too

    @property
    def waits(self) -> bool:
        """Whether the server waits for the sender to send a request or to take an answer."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def drop(self) -> None:
        """End the connection at once, even if something has not been sent."""
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read on; if a body was answered before its end, read at most `REST` more bytes of it."""
        if self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._thrown += len(data)
            if self._thrown > REST:
                self.drop()
                return
        super().data_received(data)

    def handle_events(self) -> None:
        """Give a request that has begun its own time."""
        cycle_before = self.cycle
        super().handle_events()
        if self.cycle is not cycle_before:
            self._until(REQUEST)

    def on_response_complete(self) -> None:
        """Give the answer time to be taken, and the next request time to begin."""
        self._thrown = 0
        self._until(HEAD)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _until(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(seconds, self.drop)


def room() -> int:
    """How many connections this process can hold; as many again may wait to be accepted.

    The limit on open files is raised as far as the system allows. With no file left, asyncio could not accept a
    connection, and would log every attempt, thousands in a second.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return (512 - _SPARE) // 2
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    file_limit = _WANTED_FILES if hard_limit == resource.RLIM_INFINITY else min(_WANTED_FILES, hard_limit)
    if soft_limit != resource.RLIM_INFINITY and soft_limit < file_limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (file_limit, hard_limit))
        soft_limit = file_limit
    return MOST if soft_limit == resource.RLIM_INFINITY else max(1, min(MOST, (soft_limit - _SPARE) // 2))


class Throttle(logging.Filter):
    """Lets each line of the source write to the log a few times a minute, and counts the rest.

    Parameters
    ----------
    most : int
        Records a minute from one line.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> throttle = Throttle(most=1, clock=lambda: 0.0)
    >>> record = logging.makeLogRecord({"msg": "no room", "pathname": "a.py", "lineno": 1})
    >>> throttle.filter(record), throttle.filter(record)
    (True, False)
    """

    def __init__(self, most: int = 10, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most = most
        self._clock = clock
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written; the first of a new minute says how many were not."""
        source_line, now = (record.pathname, record.lineno), self._clock()
        minute_start, record_count = self._seen.get(source_line, (now, 0))
        if now - minute_start >= 60:
            if record_count > self._most:
                summary_text = (
                    f"{record.getMessage()} (and {record_count - self._most:,} times more since, not written)"
                )
                record.msg, record.args = summary_text, ()
            minute_start, record_count = now, 0
        self._seen[source_line] = (minute_start, record_count + 1)
        return record_count < self._most
