"""Webhooks: other servers hear how many have replied, each hour and in steps, and never what they said."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import http.client
import ipaddress
import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from naysay.collect.storage import Listed, Store, today
from naysay.errors import DataError

log = logging.getLogger("naysay.collect")

SIGNATURE = "naysay-signature"
"""The header that proves who sent a message."""

STEP = 10
"""Replies by which a number that is told moves."""

_HOUR = 3_600.0  # seconds between two counts
_EVERY, _LONGEST = 60.0, 3_600.0  # seconds between two looks, and the longest pause after failures
_MOST_FAILURES = 30  # in a row, about a day
_PATIENCE = 5.0
_SHORTEST = 16  # letters of a secret

_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")  # Python calls others global, too, such as fec0::1 and ::127.0.0.1
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # addresses of IPv4 behind a translator: NAT64, RFC 6052


@dataclass
class Target:
    """Where counts are sent to, and how it went.

    Parameters
    ----------
    url : str
        ``https://…``; plain HTTP only within one's own network.
    within : bool
        Whether it may be an address of one's own network or computer.

    Raises
    ------
    DataError
        The address is none of these, or holds a password.

    Examples
    --------
    >>> Target("https://hooks.example.org/naysay?survey=1").host
    'hooks.example.org'
    >>> Target("http://hooks.example.org/")
    Traceback (most recent call last):
    naysay.errors.DataError: a webhook must be an address https://HOST/…, without a password; ...
    """

    url: str
    within: bool = False
    sent_counts: dict[str, tuple[str, int]] = field(default_factory=dict)
    failures: int = 0
    waits_until: float = 0.0

    def __post_init__(self) -> None:
        try:
            url_parts = urlsplit(self.url)
            url_port = url_parts.port
        except ValueError:
            url_parts, url_port = urlsplit(""), None
        allowed_schemes = ("https", "http") if self.within else ("https",)
        if url_parts.scheme not in allowed_schemes or not url_parts.hostname or "@" in url_parts.netloc:
            raise DataError(f"a webhook must be an address https://HOST/…, without a password; got {self.url[:80]!r}")
        self.secure, self.host = url_parts.scheme == "https", url_parts.hostname
        self.port = url_port or (443 if self.secure else 80)
        self.path = (url_parts.path or "/") + (f"?{url_parts.query}" if url_parts.query else "")

    def address(self) -> str:
        """The address to connect to. It is looked up once and then used, so that no name changes in between.

        Raises
        ------
        DataError
            One of its addresses belongs to one's own network or computer, and that is not allowed.
        """
        host_addresses = [
            str(address_info[4][0])
            for address_info in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        ]
        for address in host_addresses if not self.within else ():
            if not _public(address):
                way_out = "allow it with --webhook-within"
                raise DataError(f"the webhook {self.host!r} leads into a network of its own, to {address}; {way_out}")
        return host_addresses[0]

    def send(self, body: bytes, headers: dict[str, str]) -> int:
        """Send a message; the status of the response. No redirect is followed, and nothing that comes back is read."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=_PATIENCE)
        with contextlib.closing(connection):
            plain_socket = socket.create_connection((self.address(), self.port), timeout=_PATIENCE)
            with plain_socket, _ended_after(2 * _PATIENCE, plain_socket):
                ssl_context = ssl.create_default_context()
                connection.sock = (
                    ssl_context.wrap_socket(plain_socket, server_hostname=self.host) if self.secure else plain_socket
                )
                connection.request("POST", self.path, body, headers)
                return connection.getresponse().status


@contextlib.contextmanager
def _ended_after(seconds: float, connection: socket.socket) -> Iterator[None]:
    """Hang up after so long. A timeout is for one byte: who sends one now and then would keep all others waiting."""
    with connection.dup() as connection_copy:

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                connection_copy.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _public(address: str) -> bool:
    """Whether an address is everybody's. One of IPv6 may lead on to one of IPv4, which must be so, too."""
    ip_address = ipaddress.ip_address(address.partition("%")[0])
    if ip_address.is_multicast or not ip_address.is_global:
        return False
    if isinstance(ip_address, ipaddress.IPv4Address):
        return True
    if ip_address in _TRANSLATED:
        return _public(str(ipaddress.IPv4Address(int(ip_address) & 0xFFFF_FFFF)))
    return ip_address in _GIVEN_OUT and (ip_address.sixtofour is None or _public(str(ip_address.sixtofour)))


def signed(body: bytes, secret: str, *, at: int) -> str:
    """The signature of a message: the time, and HMAC-SHA256 over time and message.

    Examples
    --------
    >>> signed(b"{}", "sixteen letters!", at=0)[:12]
    't=0,v1=70a5f'
    """
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={digest.hexdigest()}"


def verified(body: bytes, signature: str, secret: str, *, now: float | None = None, within: float = 300) -> bool:
    """Whether a message comes from somebody who has the secret, and is not an old one; for those who receive it.

    Examples
    --------
    >>> verified(b"{}", signed(b"{}", "sixteen letters!", at=100), "sixteen letters!", now=200)
    True
    """
    stamp = signature.partition(",")[0].removeprefix("t=")
    if not stamp.isdecimal() or len(stamp) > 12 or abs((time.time() if now is None else now) - int(stamp)) > within:
        return False
    return hmac.compare_digest(signed(body, secret, at=int(stamp)).encode(), signature.encode())


@dataclass
class Webhooks:
    """Tells other servers how many had replied when an hour began, as long as the context `running` lasts.

    Replies are counted at full hours (UTC) alone, or up to three minutes later: a look ends a minute after it began, or
    with the message that is underway then. So whoever hears of a step learns in which hour it was reached, and nothing
    finer. If a server does not answer with a status below 300, the same numbers are sent again, after pauses of
    up to an hour, 30 times at most: a receiver that fails on purpose must not learn numbers in between. What was told
    is kept in memory; after a restart the numbers are told once more, when the next hour begins.

    Parameters
    ----------
    store : Store
    targets : sequence of Target
    secret : str
        Sixteen letters or more, which those who receive messages have, too.

    Raises
    ------
    DataError
        The secret is too short.
    """

    store: Store
    targets: Sequence[Target]
    secret: str
    clock: Callable[[], float] = time.time
    stopwatch: Callable[[], float] = time.monotonic
    ended: threading.Event = dataclasses.field(default_factory=threading.Event)
    counts: Sequence[Listed] = ()

    def __post_init__(self) -> None:
        self._hour = self.clock() // _HOUR
        if len(self.secret) < _SHORTEST:
            raise DataError(f"the secret of webhooks must have {_SHORTEST} letters or more; got {len(self.secret)}")

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Look each minute, in a thread of its own, so that no reply waits for another server."""
        thread = threading.Thread(target=self._run, name="naysay-webhooks", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.ended.set()
            thread.join(2 * _PATIENCE)

    def _run(self) -> None:
        while not self.ended.wait(_EVERY):
            try:
                self.look()
            except Exception as error:  # whatever it is, such as a database that is down: the next look may go well
                log.warning("webhooks were not sent: %s", type(error).__name__)

    def look(self) -> None:
        """Count if an hour has begun, and tell every target what it has not been told yet, if its pause is over."""
        hour, look_end = self.clock() // _HOUR, self.stopwatch() + _EVERY
        if hour != self._hour:
            self._hour, self.counts = hour, self.store.surveys()
        for target in self.targets:
            if target.failures < _MOST_FAILURES and self.clock() >= target.waits_until:
                for survey in self.counts:
                    if self.stopwatch() >= look_end:
                        return  # the next look goes on: slow receivers must not choose when the next count is
                    current_counts = ("open" if survey.closed is None else "closed", survey.replies // STEP * STEP)
                    if target.sent_counts.get(survey.name) != current_counts:
                        if not self._send_counts(target, survey, *current_counts):
                            break
                        target.sent_counts[survey.name] = current_counts

    def _send_counts(self, target: Target, survey: Listed, state: str, replies: int) -> bool:
        message = {"naysay": "counts", "version": 1, "day": today().isoformat(), "survey": survey.name}
        message_body = json.dumps(message | {"hash": survey.hash, "state": state, "replies": replies}).encode()
        headers = {
            "content-type": "application/json",
            SIGNATURE: signed(message_body, self.secret, at=int(self.clock())),
        }
        try:
            response_status = target.send(message_body, headers)
        except (OSError, http.client.HTTPException, DataError) as error:
            response_status, failure_reason = 0, type(error).__name__
        else:
            failure_reason = f"status {response_status}"
        if 200 <= response_status < 300:
            target.failures, target.waits_until = 0, 0.0
            return True
        target.failures += 1
        target.waits_until = self.clock() + min(_EVERY * 2**target.failures, _LONGEST)
        log_ending = "; no more is sent until the server is restarted" if target.failures == _MOST_FAILURES else ""
        log.warning("the webhook at %s did not take a message: %s%s", target.host, failure_reason, log_ending)
        return False
