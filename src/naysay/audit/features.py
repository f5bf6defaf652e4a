"""What can be told apart in reports: value, bytes, length, order, members, floats to the last bit, pairs, time.

The whole sampler of a small design, draw by draw: its exact chances, and the random numbers that it reads.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.audit.clients import Observed, Replay
from naysay.audit.relations import pairs
from naysay.design import Answerable, Design
from naysay.errors import DesignError
from naysay.responses import Responses

_PLACES = 256  # items of a report that are looked at one by one, and members that are looked for
_SHORT = 64  # bytes of a report that are looked at one by one
_DISTINCT = 0.1  # of all reports: if fewer are distinct, whole reports tell as much as their bytes
_BINS = 32  # of times and numbers
_INSIDE = "a multiple of 2⁻⁵³ inside (-½, ½)", "no multiple of 2⁻⁵³"
_EXACT = 2.0**53  # whole numbers below it are exact
_BITS = 53  # after the binary point: the last one of a sum that was near 1

Codes = NDArray[np.int64]


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
    codes: Codes
    values: Sequence[Any]


def features(
    observations: Sequence[Observed], truths: Sequence[str] = (), replay: Replay | None = None
) -> Iterator[Feature]:
    """Everything about the reports by which truths could be told apart.

    `replay` takes all reports and the truths, and gives what a reader computes from each report.
    """
    yield _feature_of_values("the bytes", [observation.report for observation in observations])
    yield _feature_of_values("the length in bytes", [len(observation.report) for observation in observations])
    yield _feature_of_values("an error", [observation.error for observation in observations])
    if any(observation.beside for observation in observations):
        yield _feature_of_values("what stands beside it", [observation.beside for observation in observations])
    reports = [parsed(observation.report) for observation in observations]
    value = _feature_of_values("the value", [_canonical(report) for report in reports])
    members = list(_members(reports))
    yield value
    yield from members
    yield from _positions(reports)
    yield from _numbers(reports)
    for name, relation_cells in pairs(reports, truths):
        yield from _relation_features(name, relation_cells)
    if replay is not None:
        yield _feature_of_values(
            "the report replayed for each truth", replay([observation.report for observation in observations], truths)
        )
    if all(isinstance(report, str) for report in reports):
        yield from _bytes_by_place([observation.report for observation in observations])
    if any(isinstance(report, dict) for report in reports):
        yield _feature_of_values(
            "the order of keys", [tuple(report) if isinstance(report, dict) else () for report in reports]
        )
    if any(observation.drawn is not None for observation in observations):
        bytes_feature = _feature_of_values("random bytes read", [observation.drawn for observation in observations])
        yield bytes_feature
        yield from (_feature_of_pairs(feature, bytes_feature) for feature in (value, *members))
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
    longest = max(map(len, reports))
    if 1 < longest <= _SHORT and len(set(reports)) > _DISTINCT * len(reports):
        padded_bytes = np.frombuffer(b"".join(report.ljust(longest, b"\0") for report in reports), dtype=np.uint8)
        table = padded_bytes.reshape(-1, longest).astype(np.int64)
        yield from (Feature(f"byte {place + 1}", table[:, place], range(256)) for place in range(longest))


def _items(report: Any) -> list[Any]:
    items = list(report.values()) if isinstance(report, dict) else report if isinstance(report, list) else [report]
    return [item if isinstance(item, Hashable) else json.dumps(item, sort_keys=True) for item in items]


def _canonical(report: Any) -> str:
    """The report without the order of its items: what a reader who sorts would see."""
    if isinstance(report, dict):
        return json.dumps(report, sort_keys=True)
    return json.dumps(sorted(map(str, _items(report))))


def _feature_of_values(name: str, values: Sequence[Hashable]) -> Feature:
    codes: dict[Hashable, int] = {}
    places = np.fromiter((codes.setdefault(value, len(codes)) for value in values), np.int64, len(values))
    return Feature(name, places, list(codes))


def _feature_of_ranges(name: str, numbers: NDArray[np.float64]) -> Feature:
    """A number as one of a few ranges that hold about equally many reports."""
    edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, _BINS + 1)[1:-1]))
    ranges = [f"below {edges[0]:.4g}", *(f"from {edge:.4g}" for edge in edges)]
    return Feature(name, np.searchsorted(edges, numbers, side="right").astype(np.int64), ranges)


def _feature_of_pairs(first_feature: Feature, second_feature: Feature) -> Feature:
    pairs = _feature_of_values("", list(zip(first_feature.codes.tolist(), second_feature.codes.tolist(), strict=True)))
    values = [f"{first_feature.values[x]} with {second_feature.values[y]}" for x, y in pairs.values]
    return Feature(f"{first_feature.name} × {second_feature.name}", pairs.codes, values)


def _members(reports: Sequence[Any]) -> Iterator[Feature]:
    """Whether a report of several items holds a given one."""
    rows = [set(_items(report)) for report in reports]
    if max(map(len, rows), default=0) < 2:
        return
    common = [item for item, _ in Counter(item for row in rows for item in row).most_common(_PLACES)]
    if len(common) < _PLACES:  # otherwise items are numbers or names that hardly come again
        yield from (
            Feature(
                f"whether it holds {item!r}", np.fromiter((item in row for row in rows), np.int64, len(rows)), (0, 1)
            )
            for item in common
        )


def _positions(reports: Sequence[Any]) -> Iterator[Feature]:
    """How many items there are, each by its place, and where their order descends."""
    rows = [_items(report) for report in reports]
    longest = max(map(len, rows), default=0)
    if longest < 2:
        return
    yield _feature_of_values("the number of items", list(map(len, rows)))
    for place in range(min(longest, _PLACES)):
        yield _feature_of_values(f"item {place + 1}", [row[place] if place < len(row) else None for row in rows])
    yield _feature_of_values("the last item", [row[-1] if row else None for row in rows])
    yield _feature_of_values("where items descend", list(map(_descent, rows)))


def _descent(row: Sequence[Any]) -> int | None:
    """The first place where an item is below the one before it; None where items ascend."""
    texts = [str(item) for item in row]
    if all(text.lstrip("-").replace(".", "", 1).isdigit() for text in texts):
        return next((place for place in range(1, len(row)) if float(texts[place]) < float(texts[place - 1])), None)
    return next((place for place in range(1, len(row)) if texts[place] < texts[place - 1]), None)


def _numbers(reports: Sequence[Any]) -> Iterator[Feature]:
    """Size and low bits of each number: sums of floats keep traces of what was added (Mironov 2012)."""
    rows = [[_float(item) if isinstance(item, int | float) else math.nan for item in _items(row)] for row in reports]
    sizes = {len(row) for row in rows}
    if len(sizes) != 1:
        return
    table = np.array(rows, dtype=float)
    is_whole = np.isnan(table) | (table == np.rint(table))
    for place in range(min(table.shape[1], _PLACES)):
        column, name = table[:, place], f"item {place + 1}" if table.shape[1] > 1 else "the number"
        if is_whole[:, place].all():
            if not np.isnan(column).any() and abs(column).max() < _EXACT:
                yield _feature_of_values(f"the lowest bits of {name}", (column.astype(np.int64) % 4).tolist())
            continue
        yield _feature_of_ranges(f"the size of {name}", column)
        yield _feature_of_values(f"the low bits of {name}", _low_bits(column))


def _low_bits(column: NDArray[np.float64]) -> list[str]:
    """For each number whether it lies inside (-½, ½), and whether it is a multiple of 2⁻⁵³.

    A number that was added to 1 is, even where the sum is small: the sum was rounded there.
    """
    numbers = np.nan_to_num(column)
    scaled = np.ldexp(numbers, _BITS)
    is_inside, is_multiple = np.abs(numbers) < 0.5, scaled == np.rint(scaled)
    low_bits: list[str] = np.where(is_inside, np.where(is_multiple, *_INSIDE), "outside (-½, ½)").tolist()
    return low_bits


_MOST = 20_000  # paths of draws for each category


@dataclass(frozen=True)
class Walked:
    """What a sampler does, over all random numbers that it could read.

    Parameters
    ----------
    chances : {category: {response: Fraction}}
        Exact; responses as text.
    bounds : {category: set of tuple of int}
        The sequences of bounds below which integers were drawn. One sequence for all categories means that neither the
        number of random bytes nor the time that they take tells anything.
    """

    chances: dict[Any, dict[str, Fraction]]
    bounds: dict[Any, set[tuple[int, ...]]]


class _Script:
    """A source whose integers are given beforehand; beyond them it draws 0, and notes the bounds."""

    def __init__(self, scripted_integers: tuple[int, ...]) -> None:
        self.given, self.bounds = scripted_integers, []  # type: tuple[int, ...], list[int]

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        integers = []
        for _ in range(size):
            place = len(self.bounds)
            self.bounds.append(bound)
            integers.append(self.given[place] if place < len(self.given) else 0)
        return np.array(integers, dtype=np.int64)


def walked(design: Answerable, level: Any = None) -> Walked:
    """Every path through a design's sampler, for every category.

    An integer below a bound is uniform by the rule ``integer``, whatever bytes are rejected. So the chances of a path
    are one over the product of its bounds, and their sums are exact.

    Parameters
    ----------
    design : Design, Levels or Samples
    level : label, optional
        The level or sample; needed where the design has some.

    Raises
    ------
    DesignError
        More than 20,000 paths for a category: use `audit` instead.

    Examples
    --------
    >>> from naysay import designs
    >>> found = walked(designs.warner(p=0.75))
    >>> found.chances["yes"], found.bounds["yes"]
    ({'yes': Fraction(3, 4), 'no': Fraction(1, 4)}, {(4,)})
    """
    channel = design.channel(level)
    chances: dict[Any, dict[str, Fraction]] = {}
    bounds: dict[Any, set[tuple[int, ...]]] = {}
    for place, category in enumerate(channel.categories):
        response_chances, bound_sequences = chances.setdefault(category, {}), bounds.setdefault(category, set())
        for path, response in _paths(channel, place):
            response_chances[response] = response_chances.get(response, Fraction(0)) + Fraction(1, math.prod(path))
            bound_sequences.add(path)
    return Walked(chances, bounds)


def _paths(channel: Design, place: int) -> Iterator[tuple[tuple[int, ...], str]]:
    """The bounds of the draws on each path, and the response at its end; the last draw moves first."""
    scripted_integers: tuple[int, ...] = ()
    while True:
        script = _Script(scripted_integers)
        (response,) = Responses(channel.drawn(np.array([place]), script), channel.space).texts()
        path = tuple(script.bounds)
        if math.prod(path) > _MOST:
            raise DesignError(
                f"{channel.name or 'this design'} has more than {_MOST:,} paths of draws; audit it instead"
            )
        yield path, str(response)
        next_integers = [*scripted_integers, *[0] * (len(path) - len(scripted_integers))][: len(path)]
        while next_integers and next_integers[-1] + 1 == path[len(next_integers) - 1]:
            next_integers.pop()
        if not next_integers:
            return
        next_integers[-1] += 1
        scripted_integers = tuple(next_integers)
