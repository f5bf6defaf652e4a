"""What two fields of one report tell together: whether they are equal, their difference, their XOR, a hash run again.

A report can hide a truth behind a random number and send the number beside it. Each field alone is then noise.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "crc32")  # of a salt and a truth

FIELDS = 8  # of a report, of which any two are looked at
_TRIED = 2_000  # reports by which a hash is recognized
_LEAST = 2**12  # of a number that is a hash of 32 bits: a smaller one comes once in a million
_HEX = re.compile(r"[0-9a-f]{8,128}", re.IGNORECASE)


def leaves(report: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each field of a report with its name: the keys of objects and the places of lists."""
    if isinstance(report, dict):
        for key in sorted(report):
            yield from leaves(report[key], f"{name}.{key}" if name else str(key))
    elif isinstance(report, list):
        for place, item in enumerate(report, 1):
            yield from leaves(item, f"{name} item {place}".strip())
    else:
        yield name or "the report", report


def pairs(reports: Sequence[Any], truths: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """The name of each relation, and its value in each report; none if reports have different fields."""
    rows = [dict(leaves(report)) for report in reports]
    names = list(rows[0]) if rows else []
    if not 1 < len(names) <= FIELDS or any(list(row) != names for row in rows):
        return
    columns = {name: [row[name] for row in rows] for name in names}
    numbers = {name: _numbers(column) for name, column in columns.items()}
    for first_name, second_name in itertools.combinations(names, 2):
        yield (
            f"whether {first_name} is {second_name}",
            [a == b for a, b in zip(columns[first_name], columns[second_name], strict=True)],
        )
        first_numbers, second_numbers = numbers[first_name], numbers[second_name]
        if first_numbers is not None and second_numbers is not None:
            yield (
                f"{first_name} - {second_name}",
                [_difference(a, b) for a, b in zip(first_numbers, second_numbers, strict=True)],
            )
            if all(isinstance(value, int) and value >= 0 for value in (*first_numbers, *second_numbers)):
                yield (
                    f"{first_name} xor {second_name}",
                    [a ^ b for a, b in zip(first_numbers, second_numbers, strict=True)],
                )
    for salt, digest in itertools.permutations(names, 2):
        yield from _salted_hashes(salt, digest, columns[salt], columns[digest], truths)


def _numbers(column: Sequence[Any]) -> list[Any] | None:
    """A field as numbers, written in decimal or hexadecimal digits; None where it holds something else."""
    if all(isinstance(value, int | float) for value in column):
        return [int(value) if isinstance(value, bool) else value for value in column]
    for base in (10, 16):
        try:
            return [int(str(value), base) for value in column]
        except ValueError:
            continue
    return None


def _difference(minuend: Any, subtrahend: Any) -> Any:
    """One number less another; of a float and a whole number that is too large for one, ±10³⁰⁰."""
    try:
        return minuend - subtrahend
    except OverflowError:
        return 1e300 if minuend > subtrahend else -1e300


def _salted_hashes(
    salt: str, digest: str, salts: Sequence[Any], digests: Sequence[Any], truths: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """For each hash of a salt and a truth that was recognized, the truth whose hash stands in each report."""
    if not all(_HEX.fullmatch(_digits(value)) for value in digests[:_TRIED]):
        return
    for words, hash_function in _hashes():

        def truth_of(
            salt_value: Any, hash_field: Any, hash_function: Callable[[bytes, bytes], str] = hash_function
        ) -> str | None:
            digits, octets = _digits(hash_field), str(salt_value).encode()
            hashes = (truth for truth in truths if digits and hash_function(octets, truth.encode()).startswith(digits))
            return next(hashes, None)

        first_rows = zip(salts[:_TRIED], digests[:_TRIED], strict=True)
        if any(truth_of(*row) is not None for row in first_rows):
            yield (
                f"the truth for which {digest} is {words.format(salt)}",
                [truth_of(*row) for row in zip(salts, digests, strict=True)],
            )


def _digits(field: Any) -> str:
    """A field in hexadecimal digits; empty for numbers that are small for a hash."""
    if isinstance(field, int):
        return f"{field:08x}" if field >= _LEAST else ""
    return str(field).lower()


def _hashes() -> Iterator[tuple[str, Callable[[bytes, bytes], str]]]:
    """Hashes of a salt and a truth in hexadecimal digits, with their names."""
    for name in HASHES:
        for order, join_octets in (
            ("{} + truth", lambda salt, truth: salt + truth),
            ("truth + {}", lambda salt, truth: truth + salt),
            ("{}:truth", lambda salt, truth: salt + b":" + truth),
            ("truth:{}", lambda salt, truth: truth + b":" + salt),
        ):
            yield f"{name}({order})", lambda salt, truth, n=name, j=join_octets: _digest(n, j(salt, truth))  # type: ignore[misc]
        if name != "crc32":
            yield f"hmac_{name}({{}}, truth)", lambda salt, truth, n=name: hmac.new(salt, truth, n).hexdigest()  # type: ignore[misc]


def _digest(name: str, octets: bytes) -> str:
    return f"{zlib.crc32(octets):08x}" if name == "crc32" else hashlib.new(name, octets).hexdigest()
