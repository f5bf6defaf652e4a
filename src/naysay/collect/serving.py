"""Running the server: a socket, quiet logs, and a stop that loses no answer."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from naysay.collect.server.connections import Connection, room
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
