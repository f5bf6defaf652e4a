"""Limits on what one sender, and all senders together, may send. No address is stored."""

from __future__ import annotations

import array
import asyncio
import hashlib
import ipaddress
import math
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterable, Callable

from naysay.collect.refusals import Refusal

__all__ = ["MINUTE", "Rates", "Tries", "body_of"]

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
    each : int
        The most answers within a minute from one address, and the most refusals; 0 for any number.
    all : int
        The most answers within a minute from everybody; 0 for any number.
    window : float
        Seconds, where it is not a minute.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> rates = Rates(each=1, clock=lambda: 0.0)
    >>> rates.wait("192.0.2.1"), rates.wait("192.0.2.1"), rates.wait("192.0.2.2")
    (0, 60, 0)
    """

    def __init__(
        self, *, each: int = 0, all: int = 0, window: float = MINUTE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._each = each
        self._all = all
        self._window = window
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
        seconds = self._over(slot, answers)
        if not seconds:
            self._taken[slot] += answers
            self._total += answers
        return seconds

    def refuse(self, address: str) -> int:
        """Count a refused request; return the seconds to wait if there were too many of them."""
        slot = self._slot(address)
        self._refused[slot] += 1
        return self._left() if 0 < self._each < self._refused[slot] else 0

    def _over(self, slot: int, answers: int = 1) -> int:
        over = (0 < self._each < self._taken[slot] + answers) or (0 < self._all < self._total + answers)
        return self._left() if over else 0

    def _left(self) -> int:
        return max(1, math.ceil(self._began + self._window - self._clock()))

    def _slot(self, address: str) -> int:
        if self._clock() - self._began >= self._window:
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
            return self._left()

    def take(self) -> int:
        """Take one try; if there is none, the seconds until there is."""
        with self._lock:
            seconds = self._left()
            if not seconds:
                self._taken.append(self._clock())
            return seconds

    def give_back(self) -> None:
        """Return a try that does not count."""
        with self._lock:
            if self._taken:
                self._taken.pop()

    def _left(self) -> int:
        now = self._clock()
        while self._taken and now - self._taken[0] >= self._window:
            self._taken.popleft()
        return max(1, math.ceil(self._taken[0] + self._window - now)) if len(self._taken) >= self._most else 0


def _network(address: str) -> str:
    """The network of one sender: an IPv4 address, or a whole /64 of IPv6."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped) if found.ipv4_mapped else str(int(found) >> 64)
    return str(found)


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
            async for part in stream:
                body += part
                if len(body) > most:
                    raise refusal
    except TimeoutError:
        raise Refusal("too_slow", f"the body must arrive within {_PATIENCE:.0f} seconds") from None
    return bytes(body)
