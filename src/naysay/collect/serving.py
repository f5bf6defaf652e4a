"""Running the server: a socket, quiet logs, and a stop that loses no answer.

Connections, as many as the computer can hold; one whose sender makes the server wait too long is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from naysay.collect.server.keys import Certificate
from naysay.errors import DataError

WAITING = 1_024  # connections that may wait to be accepted
GRACE = 20  # seconds for requests that are running when the server is asked to stop


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 takes any free one.

    Raises
    ------
    DataError
        The address is taken, or does not belong to this computer.

    Examples
    --------
    >>> with bound("127.0.0.1", 0) as here:
    ...     url_of(here)
    'http://127.0.0.1:...'
    """
    try:
        address_family, socket_type, protocol, _, socket_address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listening_socket = socket.socket(address_family, socket_type, protocol)
        try:
            if sys.platform != "win32":  # on Windows it would let two servers share a port
                listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening_socket.bind(socket_address)
            listening_socket.listen(WAITING)
        except OSError:
            listening_socket.close()
            raise
    except OSError as error:
        way_out = "stop what runs there, or take another port with --port (0 takes a free one)"
        raise DataError(f"cannot serve at {host}:{port}: {error.strerror or error}; {way_out}") from None
    return listening_socket


def url_of(listening: socket.socket, *, secure: bool = False, host: str | None = None) -> str:
    """The address of a socket as the beginning of a link: one that works on this computer, or at another host."""
    address, port = listening.getsockname()[:2]
    # a link needs one address; 0.0.0.0 and :: mean all of them
    host = host or {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    return f"http{'s' * secure}://{f'[{host}]' if ':' in host else host}:{port}"


def for_others(listening: socket.socket) -> bool:
    """Whether other computers can reach a socket. Their browsers draw nothing there, because it has no HTTPS."""
    return not ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


class _Server(uvicorn.Server):
    """A server that drops open connections when it is interrupted twice, and still stores what it has received."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for open_socket in sockets or ():
            open_socket.listen(WAITING)  # asyncio's own queue is only as long as what it accepts in one go

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn would drop the application without its shutdown, and log a traceback
            await self.lifespan.shutdown()


def _server(app: FastAPI, certificate: Certificate | None = None) -> _Server:
    """A server that logs no request. It trusts the headers of those proxies that uvicorn's settings name."""
    logging.getLogger("uvicorn.access").disabled = True
    for logger_name in ("uvicorn", "uvicorn.error", "uvicorn.asgi"):
        logging.getLogger(logger_name).setLevel(logging.WARNING)
    most_connections = room()
    return _Server(
        uvicorn.Config(
            app,
            http=type("Connection", (Connection,), {"most": most_connections}),
            backlog=max(1, most_connections // 4),  # accepted in one go; the first can be dropped only some goes later
            access_log=False,
            log_config=None,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=GRACE,
            ssl_certfile=certificate and certificate.certificate,
            ssl_keyfile=certificate and certificate.key,
        )
    )


def serve(app: FastAPI, listening: socket.socket, certificate: Certificate | None = None) -> None:
    """Serve until the process is asked to stop, then answer what has begun and store what waits.

    Once all that is done, it returns if the process was terminated; if it was interrupted at the keyboard, it raises
    `KeyboardInterrupt`. With a certificate it speaks HTTPS.
    """
    server = _server(app, certificate)

    def stop(*_: object) -> None:
        """Handle signals before uvicorn listens to them, and those that it raises again when it has stopped."""
        server.should_exit = True

    earlier_handler = signal.signal(signal.SIGTERM, stop)
    try:
        server.run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, earlier_handler)


@contextlib.contextmanager
def background(
    app: FastAPI, *, host: str = "127.0.0.1", port: int = 0, certificate: Certificate | None = None
) -> Iterator[str]:
    """Serve in a thread as long as the context lasts, for scripts and demonstrations; with a certificate by HTTPS.

    Yields
    ------
    str
        The beginning of all links, such as ``http://127.0.0.1:8123``.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.app import create_app
    >>> from naysay.collect.questionnaire import sample
    >>> with background(create_app([sample()], client=Client({"survey.html": b"<!doctype html>"}))) as link:
    ...     link
    'http://127.0.0.1:...'
    """
    listening_socket = bound(host, port)
    server = _server(app, certificate)
    server_thread = threading.Thread(target=server.run, kwargs={"sockets": [listening_socket]}, name="naysay-server")
    server_thread.start()
    try:
        while server_thread.is_alive() and not server.started:  # if the server cannot start, its thread ends
            time.sleep(0.01)
        yield url_of(listening_socket, secure=certificate is not None)
    finally:
        server.should_exit = True
        server_thread.join()
        listening_socket.close()


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
