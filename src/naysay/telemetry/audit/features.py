"""What can be told apart in reports: value, bytes, length, order, members, floats to the last bit, pairs, time.

A report can hide a truth behind a random number and send the number beside it. Each field alone is then noise, so that
two fields are also looked at together: whether they are equal, their difference, their XOR, a hash run again.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naysay._values import Floats, Integers
from naysay.telemetry.audit.clients import Observed, Replay

_PLACES = 256  # items of a report that are looked at one by one, and members that are looked for
_SHORT = 64  # bytes of a report that are looked at one by one
_DISTINCT = 0.1  # of all reports: if fewer are distinct, whole reports tell as much as their bytes
_BINS = 32  # of times and numbers
_INSIDE = "a multiple of 2⁻⁵³ inside (-½, ½)", "no multiple of 2⁻⁵³"
_EXACT = 2.0**53  # whole numbers below it are exact
_BITS = 53  # after the binary point: the last one of a sum that was near 1
HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "crc32")  # of a salt and a truth
FIELDS = 8  # of a report, of which any two are looked at
_TRIED = 2_000  # reports by which a hash is recognized
_LEAST = 2**12  # of a number that is a hash of 32 bits: a smaller one comes once in a million
_HEX = re.compile(r"[0-9a-f]{8,128}", re.IGNORECASE)


@dataclass(frozen=True)
class Feature:
    """One property of every report.

    Parameters
    ----------
    name : str
    codes : (n,) int
        The value that each report has, as a number from 0.
    values : sequence
        What the numbers stand for.
    """

    name: str
    codes: Integers
    values: Sequence[Any]


def features(
    observations: Sequence[Observed], truths: Sequence[str] = (), replay: Replay | None = None
) -> Iterator[Feature]:
    """Everything about the reports by which truths could be told apart.

    `replay` takes all reports and the truths, and gives what a reader computes from each report.
    """
    reports = [observation.report for observation in observations]
    yield _feature_of_values("the bytes", reports)
    yield _feature_of_values("the length in bytes", [len(report) for report in reports])
    yield _feature_of_values("an error", [observation.error for observation in observations])
    if any(observation.beside for observation in observations):
        yield _feature_of_values("what stands beside it", [observation.beside for observation in observations])
    parsed_reports = [parsed(report) for report in reports]
    value_feature = _feature_of_values("the value", [_canonical(report) for report in parsed_reports])
    member_features = list(_members(parsed_reports))
    yield value_feature
    yield from member_features
    yield from _positions(parsed_reports)
    yield from _numbers(parsed_reports)
    for relation_name, relation_cells in pairs(parsed_reports, truths):
        yield from _relation_features(relation_name, relation_cells)
    if replay is not None:
        yield _feature_of_values("the report replayed for each truth", replay(reports, truths))
    if all(isinstance(report, str) for report in parsed_reports):
        yield from _bytes_by_place(reports)
    if any(isinstance(report, dict) for report in parsed_reports):
        yield _feature_of_values(
            "the order of keys", [tuple(report) if isinstance(report, dict) else () for report in parsed_reports]
        )
    if any(observation.drawn is not None for observation in observations):
        bytes_feature = _feature_of_values("random bytes read", [observation.drawn for observation in observations])
        yield bytes_feature
        yield from (_feature_of_pairs(feature, bytes_feature) for feature in (value_feature, *member_features))
    if any(observation.seconds is not None for observation in observations):
        yield _feature_of_ranges(
            "the time in µs", np.array([(observation.seconds or 0.0) * 1e6 for observation in observations])
        )


def _relation_features(name: str, values: Sequence[Any]) -> Iterator[Feature]:
    """A relation of two fields: as it is, or if it hardly comes again, its size and lowest bits."""
    if len(set(values)) <= _DISTINCT * len(values) or len(values) < 1 / _DISTINCT:
        yield _feature_of_values(name, values)
        return
    numbers = np.array([_float(value) for value in values])
    if not np.isnan(numbers).all():
        yield _feature_of_ranges(name, numbers)
    if all(isinstance(value, int) for value in values):
        yield _feature_of_values(f"the lowest bits of {name}", [value % 4 for value in values])


def _float(value: float) -> float:
    """A number as a float; one that is too large for that, such as half of a ciphertext, as ±10³⁰⁰."""
    try:
        return float(value)
    except OverflowError:
        return 1e300 if value > 0 else -1e300


def parsed(report: bytes) -> Any:
    """What a report says: a number, a list of items, an object, or a text."""
    text = report.decode("utf-8", errors="backslashreplace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = text
    if isinstance(content, str):
        for separator in (";", ",", " "):
            if separator in content:
                return content.split(separator)
    if not isinstance(content, list | dict) and len(text) > 1 and set(text) <= {"0", "1"}:  # a row of bits
        return list(text)
    return content


def _bytes_by_place(reports: Sequence[bytes]) -> Iterator[Feature]:
    """Each byte of short texts by its place: one letter may tell, and all others be random."""
    most_bytes = max(map(len, reports))
    if 1 < most_bytes <= _SHORT and len(set(reports)) > _DISTINCT * len(reports):
        padded_bytes = np.frombuffer(b"".join(report.ljust(most_bytes, b"\0") for report in reports), dtype=np.uint8)
        byte_table = padded_bytes.reshape(-1, most_bytes).astype(np.int64)
        yield from (Feature(f"byte {place + 1}", byte_table[:, place], range(256)) for place in range(most_bytes))


def _items(report: object) -> list[Any]:
    items = list(report.values()) if isinstance(report, dict) else report if isinstance(report, list) else [report]
    return [item if isinstance(item, Hashable) else json.dumps(item, sort_keys=True) for item in items]


def _canonical(report: object) -> str:
    """The report without the order of its items: what a reader who sorts would see."""
    if isinstance(report, dict):
        return json.dumps(report, sort_keys=True)
    return json.dumps(sorted(map(str, _items(report))))


def _feature_of_values(name: str, values: Sequence[Hashable]) -> Feature:
    code_of_value: dict[Hashable, int] = {}
    value_codes = np.fromiter(
        (code_of_value.setdefault(value, len(code_of_value)) for value in values), np.int64, len(values)
    )
    return Feature(name, value_codes, list(code_of_value))


def _feature_of_ranges(name: str, numbers: Floats) -> Feature:
    """A number as one of a few ranges that hold about equally many reports."""
    range_edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, _BINS + 1)[1:-1]))
    range_texts = [f"below {range_edges[0]:.4g}", *(f"from {edge:.4g}" for edge in range_edges)]
    return Feature(name, np.searchsorted(range_edges, numbers, side="right").astype(np.int64), range_texts)


def _feature_of_pairs(first_feature: Feature, second_feature: Feature) -> Feature:
    pair_feature = _feature_of_values(
        "", list(zip(first_feature.codes.tolist(), second_feature.codes.tolist(), strict=True))
    )
    pair_texts = [f"{first_feature.values[x]} with {second_feature.values[y]}" for x, y in pair_feature.values]
    return Feature(f"{first_feature.name} × {second_feature.name}", pair_feature.codes, pair_texts)


def _members(reports: Sequence[object]) -> Iterator[Feature]:
    """Whether a report of several items holds a given one."""
    item_sets = [set(_items(report)) for report in reports]
    if max(map(len, item_sets), default=0) < 2:
        return
    common_items = [item for item, _ in Counter(item for row in item_sets for item in row).most_common(_PLACES)]
    if len(common_items) < _PLACES:  # otherwise items are numbers or names that hardly come again
        yield from (
            Feature(
                f"whether it holds {item!r}",
                np.fromiter((item in row for row in item_sets), np.int64, len(item_sets)),
                (0, 1),
            )
            for item in common_items
        )


def _positions(reports: Sequence[object]) -> Iterator[Feature]:
    """How many items there are, each by its place, and where their order descends."""
    item_lists = [_items(report) for report in reports]
    most_items = max(map(len, item_lists), default=0)
    if most_items < 2:
        return
    yield _feature_of_values("the number of items", list(map(len, item_lists)))
    for item_place in range(min(most_items, _PLACES)):
        yield _feature_of_values(
            f"item {item_place + 1}", [row[item_place] if item_place < len(row) else None for row in item_lists]
        )
    yield _feature_of_values("the last item", [row[-1] if row else None for row in item_lists])
    yield _feature_of_values("where items descend", list(map(_descent, item_lists)))


def _descent(row: Sequence[object]) -> int | None:
    """The first place where an item is below the one before it; None where items ascend."""
    item_texts = [str(item) for item in row]
    if all(text.lstrip("-").replace(".", "", 1).isdigit() for text in item_texts):
        return next(
            (place for place in range(1, len(row)) if float(item_texts[place]) < float(item_texts[place - 1])), None
        )
    return next((place for place in range(1, len(row)) if item_texts[place] < item_texts[place - 1]), None)


def _numbers(reports: Sequence[object]) -> Iterator[Feature]:
    """Size and low bits of each number: sums of floats keep traces of what was added (Mironov 2012)."""
    number_rows = [
        [_float(item) if isinstance(item, int | float) else math.nan for item in _items(parsed_report)]
        for parsed_report in reports
    ]
    row_lengths = {len(number_row) for number_row in number_rows}
    if len(row_lengths) != 1:
        return
    number_table = np.array(number_rows, dtype=float)
    is_whole = np.isnan(number_table) | (number_table == np.rint(number_table))
    for item_place in range(min(number_table.shape[1], _PLACES)):
        item_numbers = number_table[:, item_place]
        item_name = f"item {item_place + 1}" if number_table.shape[1] > 1 else "the number"
        if is_whole[:, item_place].all():
            if not np.isnan(item_numbers).any() and abs(item_numbers).max() < _EXACT:
                yield _feature_of_values(
                    f"the lowest bits of {item_name}", (item_numbers.astype(np.int64) % 4).tolist()
                )
            continue
        yield _feature_of_ranges(f"the size of {item_name}", item_numbers)
        yield _feature_of_values(f"the low bits of {item_name}", _low_bits(item_numbers))


def _low_bits(column: Floats) -> list[str]:
    """For each number whether it lies inside (-½, ½), and whether it is a multiple of 2⁻⁵³.

    A number that was added to 1 is, even where the sum is small: the sum was rounded there.
    """
    numbers = np.nan_to_num(column)
    scaled_numbers = np.ldexp(numbers, _BITS)
    is_inside, is_multiple = np.abs(numbers) < 0.5, scaled_numbers == np.rint(scaled_numbers)
    low_bits: list[str] = np.where(is_inside, np.where(is_multiple, *_INSIDE), "outside (-½, ½)").tolist()
    return low_bits


def leaves(report: object, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each field of a report with its name: the keys of objects and the places of lists."""
    if isinstance(report, dict):
        for key in sorted(report):
            yield from leaves(report[key], f"{name}.{key}" if name else str(key))
    elif isinstance(report, list):
        for item_place, item in enumerate(report, 1):
            yield from leaves(item, f"{name} item {item_place}".strip())
    else:
        yield name or "the report", report


def pairs(reports: Sequence[object], truths: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """The name of each relation, and its value in each report; none if reports have different fields."""
    report_fields = [dict(leaves(report)) for report in reports]
    field_names = list(report_fields[0]) if report_fields else []
    if not 1 < len(field_names) <= FIELDS or any(list(row) != field_names for row in report_fields):
        return
    column_by_name = {field_name: [row[field_name] for row in report_fields] for field_name in field_names}
    numbers_by_name = {field_name: _numbers_of_field(column) for field_name, column in column_by_name.items()}
    for first_name, second_name in itertools.combinations(field_names, 2):
        cell_pairs = zip(column_by_name[first_name], column_by_name[second_name], strict=True)
        yield f"whether {first_name} is {second_name}", [a == b for a, b in cell_pairs]
        first_numbers, second_numbers = numbers_by_name[first_name], numbers_by_name[second_name]
        if first_numbers is not None and second_numbers is not None:
            number_pairs = list(zip(first_numbers, second_numbers, strict=True))
            yield f"{first_name} - {second_name}", [_difference(a, b) for a, b in number_pairs]
            if all(isinstance(value, int) and value >= 0 for pair in number_pairs for value in pair):
                yield f"{first_name} xor {second_name}", [a ^ b for a, b in number_pairs]
    for salt_name, digest_name in itertools.permutations(field_names, 2):
        yield from _salted_hashes(
            salt_name, digest_name, column_by_name[salt_name], column_by_name[digest_name], truths
        )


def _numbers_of_field(column: Sequence[object]) -> list[Any] | None:
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
    salt: str, digest: str, salts: Sequence[object], digests: Sequence[object], truths: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """For each hash of a salt and a truth that was recognized, the truth whose hash stands in each report."""
    if not all(_HEX.fullmatch(_digits(value)) for value in digests[:_TRIED]):
        return
    for hash_words, hash_function in _hashes():

        def truth_of(
            salt_value: object, hash_field: object, hash_function: Callable[[bytes, bytes], str] = hash_function
        ) -> str | None:
            hash_digits, salt_octets = _digits(hash_field), str(salt_value).encode()
            matching_truths = (
                truth
                for truth in truths
                if hash_digits and hash_function(salt_octets, truth.encode()).startswith(hash_digits)
            )
            return next(matching_truths, None)

        first_rows = zip(salts[:_TRIED], digests[:_TRIED], strict=True)
        if any(truth_of(*row) is not None for row in first_rows):
            yield (
                f"the truth for which {digest} is {hash_words.format(salt)}",
                [truth_of(*row) for row in zip(salts, digests, strict=True)],
            )


def _digits(field: object) -> str:
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
