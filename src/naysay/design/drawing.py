"""Where chance comes from: exact uniform integers, from the operating system or from a seeded generator.

Every design draws through one primitive: a uniform integer below a bound. So each sampler is written once and gives
exactly the published probabilities from any source. The JSON form of a design holds the rule from bytes to integers
(`RULES`), so that a client in any language draws the same answer from the same bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError

_BULK = 2**14  # bytes from which on a key pays: the operating system takes 3 ns for one byte, AES a tenth of it

RULES = {
    "integer": (
        "To draw an integer below N: if N = 1 the integer is 0 and no byte is read. Otherwise let b be the number of "
        "bits of N - 1, read ceil(b / 8) bytes, take them as one big-endian number, clear all but its lowest b bits; "
        "if the result is N or more, discard it and read afresh."
    ),
}
"""How to draw an answer under each kind of design, in words, for clients in other languages. Each kind adds its own."""


class Source(Protocol):
    """A source of exact uniform integers."""

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        """`size` independent integers, each uniform on 0 … bound - 1."""


class ByteSource:
    """Integers out of random bytes by rejection (the rule ``integer`` of `RULES`).

    Parameters
    ----------
    read : callable
        Takes a number and returns that many random bytes.

    Examples
    --------
    >>> stream = iter(bytes([7, 2]))
    >>> ByteSource(lambda n: bytes(next(stream) for _ in range(n))).below(6, 1)  # 7 is rejected
    array([2])
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        if bound == 1 or not size:
            return np.zeros(size, dtype=np.int64)
        bits = (bound - 1).bit_length()
        width = -(-bits // 8)
        result = self._words(width, size) & ((1 << bits) - 1)  # else more than half of all draws could be rejected
        waiting = np.flatnonzero(result >= bound)
        while len(waiting):
            redraws = self._words(width, len(waiting)) & ((1 << bits) - 1)
            result[waiting] = redraws
            waiting = waiting[redraws >= bound]
        return result

    def _words(self, width: int, size: int) -> NDArray[np.int64]:
        """Big-endian numbers of that many bytes; above them stand bits of the number before."""
        if width == 1:
            return np.frombuffer(self._read(size), dtype=np.uint8).astype(np.int64)
        octets = bytes(8 - width) + self._read(width * size)
        return np.ndarray((size,), dtype=">i8", buffer=octets, strides=(width,)).astype(np.int64)


class GeneratorSource:
    """Integers from a seeded numpy generator: for simulation, never for respondents."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        return self._rng.integers(bound, size=size, dtype=np.int64)


def random_bytes(size: int) -> bytes:
    """Random bytes of the operating system; many at once are expanded from 32 of them by AES-256 in counter mode.

    Each call has a key of its own, so that nothing is kept between calls, threads or forked processes.
    """
    if size < _BULK or find_spec("cryptography") is None:
        return secrets.token_bytes(size)
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(secrets.token_bytes(32)), modes.CTR(bytes(16))).encryptor().update(bytes(size))


system = ByteSource(random_bytes)
"""The operating system's randomness."""


def source_of(rng: np.random.Generator | Source | None) -> Source:
    """The source that an `rng` argument asks for; None is the operating system."""
    if rng is None:
        return system
    if isinstance(rng, np.random.Generator):
        return GeneratorSource(rng)
    if hasattr(rng, "below"):
        return rng
    raise DataError(f"rng must be a numpy Generator, such as numpy.random.default_rng(2016), or None; got {rng!r}")
