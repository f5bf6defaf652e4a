"""Middleware: security headers on every response, and logged errors that tell nothing about the sender.

Limits on what one sender, and all senders together, may send. No address is stored.

Answers and reports go straight to their endpoints: a framework's routing costs more time than all their checks.
"""

from __future__ import annotations

import array
import asyncio
import base64
import hashlib
import ipaddress
import logging
import math
import re
import secrets
import threading
import time
import traceback
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Container, Iterable
from pathlib import Path

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naysay.collect.survey.submission import Refusal

log = logging.getLogger("naysay.collect")


_DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}

_FEATURES = (
    "accelerometer", "browsing-topics", "camera", "compute-pressure", "display-capture",
    "encrypted-media", "gamepad", "geolocation", "gyroscope", "hid", "identity-credentials-get",
    "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "otp-credentials", "payment",
    "publickey-credentials-get", "serial", "storage-access", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip

_INLINE = re.compile(rb"<(script|style)[^>]*>(.*?)</\1>", re.DOTALL)
_META = b'<meta http-equiv="Content-Security-Policy"'
_IN_HEADERS = ("frame-ancestors",)
"""Directives that browsers ignore in a page itself; sandbox and report-uri are others."""


def policy_of(page: bytes) -> str:
    """The Content-Security-Policy of a page: its own files, and the import map that is written in it.

    Of a page that holds a policy of its own (see `policy_within`) it is what browsers heed in a header alone.

    Examples
    --------
    >>> policy_of(b'<script type="importmap">{}</script>').split("; ")[1]
    "script-src 'self' 'sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='"
    """
    if _META in page:
        return _policy({}, only=_IN_HEADERS)
    script_sources = " ".join(["'self'", *_hashes(page)["script"]])
    return _policy({"script-src": script_sources})


def policy_within(page: bytes, modules: Iterable[str] = ()) -> str:
    """The policy that stands in a page itself, where no header can loosen it: policies only add up.

    What is written in the page runs, and modules that have these hashes; nothing but ``data:`` is shown as a picture.

    Examples
    --------
    >>> policy_within(b"<style>p{}</style>").split("; ")[1:4]
    ["script-src 'none'", "style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='", 'img-src data:']
    """
    hashes_by_tag = _hashes(page)
    hashes_by_tag["script"] += [f"'{digest}'" for digest in modules]
    own_directives = {f"{tag}-src": " ".join(hashes_by_tag[tag]) or "'none'" for tag in hashes_by_tag} | {
        "img-src": "data:"
    }
    return _policy(own_directives, only=_DIRECTIVES.keys() - _IN_HEADERS)


def _hashes(page: bytes) -> dict[str, list[str]]:
    """The hashes of the scripts and of the styles that stand in a page."""
    hashes_by_tag: dict[str, list[str]] = {"script": [], "style": []}
    for tag_name, tag_content in _INLINE.findall(page):
        if tag_content:
            digest = base64.b64encode(hashlib.sha256(tag_content).digest()).decode()
            hashes_by_tag[tag_name.decode()].append(f"'sha256-{digest}'")
    return hashes_by_tag


def _policy(own_directives: dict[str, str], *, only: Container[str] = _DIRECTIVES) -> str:
    return "; ".join(
        f"{directive_name} {value}"
        for directive_name, value in (_DIRECTIVES | own_directives).items()
        if directive_name in only
    )


POLICY = policy_of(b"")
"""The Content-Security-Policy of responses without one of their own."""

SECURITY = {
    "content-security-policy": POLICY,
    "integrity-policy": "blocked-destinations=(script)",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "permissions-policy": ",".join(f"{feature}=()" for feature in _FEATURES),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-dns-prefetch-control": "off",
    "cache-control": "no-store",
}
"""Headers of every response but surveys and files of the client; a response keeps a header that it sets itself."""

ASSETS = {"cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff"}
"""Headers of the client's files. A page loads thirty of them, and the page's own policy holds."""

DATA = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Headers of a survey's bytes, which a page loads: the page's own policy holds for what it does with them."""

_SECURITY, _ASSETS, _DATA = (
    [(name.encode(), value.encode()) for name, value in headers.items()] for headers in (SECURITY, ASSETS, DATA)
)


def refused(refusal: Refusal) -> JSONResponse:
    """The response that says why a request is not taken."""
    headers = {"retry-after": str(refusal.retry_after)} if refusal.retry_after is not None else None
    return JSONResponse(refusal.form(), status_code=refusal.status, headers=headers)


def failed(error: Exception) -> JSONResponse:
    """The response to a refusal, and to Starlette's own errors (path, method or text unknown), in one form."""
    if isinstance(error, Refusal):
        return refused(error)
    error_status = getattr(error, "status_code", None)
    if error_status == 405:
        response = refused(Refusal("wrong_method", "this address does not take this method"))
        response.headers["allow"] = (getattr(error, "headers", None) or {}).get("Allow", "GET, HEAD")
        return response
    if error_status == 404:
        return refused(Refusal("unknown", "there is nothing at this address"))
    return refused(Refusal("malformed", "the request cannot be understood"))


class Guard:
    """Middleware that sets the security headers, answers HEAD like GET, and lets no error out.

    An error is logged as its class and the place in the source: its message, and the values in its traceback, may
    hold what a respondent sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        has_begun = False

        async def guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                header_names = {header_name.lower() for header_name, _ in message["headers"]}
                is_success, request_path = message["status"] < 400, scope["path"]
                is_asset, is_data = (
                    is_success and request_path.startswith("/client/"),
                    is_success and request_path.endswith("/survey.json"),
                )
                default_headers = _ASSETS if is_asset else _DATA if is_data else _SECURITY
                missing_headers = [
                    (header_name, value) for header_name, value in default_headers if header_name not in header_names
                ]
                message = {**message, "headers": [*message["headers"], *missing_headers]}
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app({**scope, "method": "GET"} if is_head else scope, receive, guarded)
        except ClientDisconnect:  # the respondent is gone; the time of that must not be logged
            return
        except Exception as error:  # no server around this application may log the error, whatever it is
            *_, (last_frame, line_number) = traceback.walk_tb(error.__traceback__)
            error_place = f"{Path(last_frame.f_code.co_filename).name}:{line_number}"
            log.error("a request failed: %s at %s", type(error).__name__, error_place)
            if not has_begun:
                await refused(Refusal("internal", "the server made a mistake"))(scope, receive, guarded)


MINUTE = 60.0
SLOTS = 1 << 16
_TOO_LARGE = "a body of this survey has exactly {:,} bytes"
_PATIENCE = 30.0  # seconds for a body to arrive


class Rates:
    """How many answers were taken within a minute, and how many were refused: from each address, and from all.

    Refused requests are counted apart, so that junk from one address takes nothing from the answers of others. An
    address is hashed with a key that exists only in memory, for one minute. Only one counter in a fixed row of counters
    is kept. Two addresses may share a counter, so limits should be generous.

    Parameters
    ----------
    per_address : int
        The most answers within a minute from one address, and the most refusals; 0 for any number.
    all : int
        The most answers within a minute from everybody; 0 for any number.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> rates = Rates(per_address=1, clock=lambda: 0.0)
    >>> rates.wait("192.0.2.1"), rates.wait("192.0.2.1"), rates.wait("192.0.2.2")
    (0, 60, 0)
    """

    def __init__(self, *, per_address: int = 0, all: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._each = per_address
        self._all = all
        self._clock = clock
        self._renew()

    def _renew(self) -> None:
        self._began = self._clock()
        self._key = secrets.token_bytes(32)
        self._taken, self._refused = (array.array("L", bytes(SLOTS * array.array("L").itemsize)) for _ in range(2))
        self._total = 0

    def full(self, address: str) -> int:
        """Seconds until an answer from this address may come; 0 where it may come now."""
        return self._over(self._slot(address))

    def wait(self, address: str, answers: int = 1) -> int:
        """Count valid answers. If they would be too many, return the seconds to wait and do not count them."""
        slot = self._slot(address)
        wait_seconds = self._over(slot, answers)
        if not wait_seconds:
            self._taken[slot] += answers
            self._total += answers
        return wait_seconds

    def refuse(self, address: str) -> int:
        """Count a refused request; return the seconds to wait if there were too many of them."""
        slot = self._slot(address)
        self._refused[slot] += 1
        return self._seconds_left() if 0 < self._each < self._refused[slot] else 0

    def _over(self, slot: int, answers: int = 1) -> int:
        is_over = (0 < self._each < self._taken[slot] + answers) or (0 < self._all < self._total + answers)
        return self._seconds_left() if is_over else 0

    def _seconds_left(self) -> int:
        return max(1, math.ceil(self._began + MINUTE - self._clock()))

    def _slot(self, address: str) -> int:
        if self._clock() - self._began >= MINUTE:
            self._renew()
        digest = hashlib.blake2b(_network(address).encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest) % SLOTS


class Tries:
    """So many tries within any stretch of time of this length, wherever it begins and however many ask at once.

    Parameters
    ----------
    most : int
    window : float
        Seconds.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> tries = Tries(1, window=3_600, clock=lambda: 0.0)
    >>> tries.take(), tries.take()
    (0, 3600)
    """

    def __init__(self, most: int, *, window: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._window = window
        self._clock = clock
        self._taken: deque[float] = deque()
        self._lock = threading.Lock()

    def full(self) -> int:
        """Seconds until another try may be taken; 0 where it may be taken now."""
        with self._lock:
            return self._seconds_left()

    def take(self) -> int:
        """Take one try; if there is none, the seconds until there is."""
        with self._lock:
            wait_seconds = self._seconds_left()
            if not wait_seconds:
                self._taken.append(self._clock())
            return wait_seconds

    def give_back(self) -> None:
        """Return a try that does not count."""
        with self._lock:
            if self._taken:
                self._taken.pop()

    def _seconds_left(self) -> int:
        now = self._clock()
        while self._taken and now - self._taken[0] >= self._window:
            self._taken.popleft()
        return max(1, math.ceil(self._taken[0] + self._window - now)) if len(self._taken) >= self._most else 0


def _network(address: str) -> str:
    """The network of one sender: an IPv4 address, or a whole /64 of IPv6."""
    try:
        ip_address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip_address, ipaddress.IPv6Address):
        return str(ip_address.ipv4_mapped) if ip_address.ipv4_mapped else str(int(ip_address) >> 64)
    return str(ip_address)


async def body_of(
    stream: AsyncIterable[bytes], *, announced: str | None, most: int, too_large: str = _TOO_LARGE
) -> bytes:
    """A body of at most `most` bytes. Reading stops as soon as a body is known to be longer.

    Raises
    ------
    Refusal
        ``too_large``, or ``too_slow``.
    """
    refusal = Refusal("too_large", too_large.format(most))
    if announced is not None and announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
        raise refusal
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            async for body_part in stream:
                body += body_part
                if len(body) > most:
                    raise refusal
    except TimeoutError:
        raise Refusal("too_slow", f"the body must arrive within {_PATIENCE:.0f} seconds") from None
    return bytes(body)


_ANSWERS = re.compile(r"/s/([^/]+)/answers")


class Straight:
    """Middleware that calls the endpoints for answers and reports, and hands every other request on.

    The application has the same endpoints among its routes, which describe them and take what comes from elsewhere.

    Parameters
    ----------
    app : ASGIApp
    answers : callable
        Takes a request and the name of a survey.
    reports : callable, optional
        Takes a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        answers: Callable[[Request, str], Awaitable[Response]],
        reports: Callable[[Request], Awaitable[Response]] | None = None,
    ) -> None:
        self._app = app
        self._answers = answers
        self._reports = reports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path")
        if is_post and scope["path"] == "/reports" and self._reports is not None:
            response = await self._reports(Request(scope, receive))
            await response(scope, receive, send)
            return
        path_match = _ANSWERS.fullmatch(scope["path"]) if is_post else None
        if path_match is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await self._answers(Request(scope, receive), path_match[1])
        except Refusal as refusal:
            response = refused(refusal)
        await response(scope, receive, send)
