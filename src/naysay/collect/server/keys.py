"""The key of the day. Devices seal with it; the server can open what they sealed until the day is over."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from naysay.errors import DataError

__all__ = ["GRACE", "Keys"]

DAY = 86_400
GRACE = 7_200
"""Seconds for which yesterday's key is kept, for respondents who began before midnight (UTC)."""

_CURVE = ec.SECP256R1()
_POINT = serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
_IN_MEMORY = ("tmpfs", "ramfs")


class Keys:
    """One key a day: drawn when it is first needed, held in memory, deleted two hours after the day has ended.

    A device seals a box with the public half, which is the same for everyone, and with a random number of its own. It
    forgets the number and keeps the point of that number (ECDH on P-256). From the point, the private half finds the
    key of that one box again (HKDF-SHA256). The server keeps nothing about the device that asks.

    Parameters
    ----------
    folder : Path, optional
        A folder in memory in which several servers share their keys, such as one in ``/dev/shm``. Without it, a box
        that was sealed with one server's key cannot be opened by another server, or after a restart.
    clock : callable
        Seconds since 1970.

    Raises
    ------
    DataError
        The folder is on a disk, where deleted keys could still be found.

    Examples
    --------
    >>> today = [43_200.0]
    >>> keys = Keys(clock=lambda: today[0])
    >>> point = bytes.fromhex(Keys().public)  # as a device would draw one
    >>> [key] = keys.of(point)
    >>> today[0] = 86_400 + 3_600
    >>> key in keys.of(point), len(keys.of(point))
    (True, 2)
    >>> today[0] = 86_400 + 7_200
    >>> key in keys.of(point)
    False
    """

    def __init__(self, folder: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        if folder is not None:
            _check_in_memory(folder)
        self._folder = folder
        self._clock = clock
        self._held: dict[int, ec.EllipticCurvePrivateKey] = {}

    @property
    def public(self) -> str:
        """Today's public key, an uncompressed point in hexadecimal."""
        return self._living()[0].public_key().public_bytes(*_POINT).hex()

    def of(self, point: bytes) -> list[str]:
        """The keys of a box, in hexadecimal, one for each day that is not over; at most one of them opens it.

        Raises
        ------
        ValueError
            These bytes are no point of the curve.
        """
        other = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, point)
        common = [private.exchange(ec.ECDH(), other) for private in self._living()]
        return [HKDF(SHA256(), 32, salt=point, info=b"naysay box").derive(each).hex() for each in common]

    def forget(self) -> None:
        """Delete the keys of days that are over. Call it once in a while, even if no device asks for a key."""
        days = self._days()
        self._held = {day: key for day, key in self._held.items() if day in days}
        for path in () if self._folder is None else self._folder.glob("[0-9]*"):
            if not path.stem.isdigit() or int(path.stem) not in days:
                path.unlink(missing_ok=True)

    def _days(self) -> list[int]:
        """Today, and yesterday while its key is kept."""
        now = self._clock()
        return list(dict.fromkeys((int(now // DAY), int((now - GRACE) // DAY))))

    def _living(self) -> list[ec.EllipticCurvePrivateKey]:
        self.forget()
        today, *before = self._days()
        for day in (today, *before):
            path = self._folder and self._folder / str(day)
            if day not in self._held and (day == today or (path and path.exists())):
                self._held[day] = _shared(path) if path else ec.generate_private_key(_CURVE)
        return [self._held[day] for day in (today, *before) if day in self._held]


def _shared(path: Path) -> ec.EllipticCurvePrivateKey:
    """The key in a file. The first server writes the file as a whole or not at all; the others read it."""
    draft = path.with_suffix(f".{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(ec.generate_private_key(_CURVE).private_numbers().private_value.to_bytes(32))
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)  # atomic, and fails if another server was first: nobody reads half a key
    finally:
        draft.unlink(missing_ok=True)
    return ec.derive_private_key(int.from_bytes(path.read_bytes()), _CURVE)


def _check_in_memory(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mounts = Path("/proc/self/mounts")
    entries = [line.split() for line in mounts.read_text().splitlines()] if mounts.exists() else []
    found = [(len(where), kind) for _, where, kind, *_ in entries if folder.resolve().is_relative_to(where)]
    if max(found, default=(0, "unknown"))[1] not in _IN_MEMORY:
        raise DataError(f"keys are shared in memory only; {str(folder)!r} is on a disk: name a folder in /dev/shm")
