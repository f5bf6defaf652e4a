"""Anonymity sets and matches on many combinations of the same keys, each built on smaller ones.

Two facts carry the work from a combination S to larger ones. First, the tuples of S with one more key v are the tuples
of S, each split by v: this costs one multiplication a row, and a count. Second, a missing cell discards nobody:
respondents who miss a key of S match the same people on S as on S without that key. So only respondents who have every
key are counted afresh. A complete tuple t is matched by the tuples that hold the values of t on some part of S, and are
missing elsewhere.

Three cases are left to the algorithms that `matches` chooses from: keys with sets of candidates, few combinations of
values, and very many patterns of missing keys.

Finished combinations stand in a file (`Finished`), one a line, so that a search can stop and go on. The file holds JSON
lines. The first line identifies the search: the keys, what a missing key means, the rule, and a
digest of the distinct tuples and their counts. The file holds numbers of respondents, never a value.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import accumulate, combinations
from pathlib import Path
from typing import IO

import numpy as np

from naysay._values import Array, JsonNode, JsonObject
from naysay.errors import DataError
from naysay.microdata.keys.cells import Tuples, grouped, packed
from naysay.microdata.keys.counting import cube_cells, pool_of
from naysay.microdata.keys.matches import matches_of_tuples
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.theta import Sizes, Theta, theta_of
from naysay.show import number, plain

Places = tuple[int, ...]
Whole = Array

_ROOM = 2**30  # bytes of matches kept for the combinations that build on them
_LARGEST = 2**62
_DENSE = 1 << 20  # combinations of values: up to so many are looked up in a table of them all, more by bisection
_PATTERNS = 128  # patterns of missing keys; with more of them bitmaps are faster


def number_of(variables: int, size: int) -> int:
    """How many combinations of 1 … size variables there are."""
    return sum(math.comb(variables, key_count) for key_count in range(1, size + 1))


def all_keys(keys: Keys, rule: str) -> Combination:
    """Who stands out on all of these keys together."""
    return Lattice(keys, rule).combination_on(tuple(range(len(keys.columns))))


@dataclass(frozen=True, eq=False)
class _Part:
    """The distinct tuples of a combination, in lexicographic order.

    Parameters
    ----------
    places : Places
    first : (distinct,) int
        One row of each tuple; a row is a distinct tuple of all keys.
    rank : (rows,) int
        The tuple of each row.
    """

    places: Places
    first: Whole
    rank: Whole


class Lattice:
    """All combinations of some keys.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    size : int
        Matches on combinations of fewer keys than this are kept, for as many sizes as memory holds.
    """

    def __init__(self, keys: Keys, rule: str, size: int = 1) -> None:
        self.keys, self.rule, self.rows, self.n = keys, rule, keys.distinct, keys.n
        self.type = np.min_scalar_type(self.n)
        combination_bytes, variable_count = self.rows * self.type.itemsize, len(keys.columns)
        cumulated_bytes = accumulate(
            math.comb(variable_count, combination_size) * combination_bytes for combination_size in range(1, size)
        )
        # nothing is read from smaller combinations if nobody misses a key
        self.kept = (
            sum(bytes_needed <= _ROOM for bytes_needed in cumulated_bytes)
            if any((column == 0).any() for column in keys.tuples.columns)
            else 0
        )
        self._held: dict[Places, Whole] = {}
        everybody = np.zeros(self.rows, np.int32)
        self._path = [_Part((), everybody[:1], everybody)]

    def combinations(self, size: int) -> Iterator[Places]:
        """All combinations of so many keys; neighbors in the order share most of their keys.

        The key that tells most people apart comes first, so that even an unfinished search has tried it.
        """
        columns, tuple_counts = self.keys.tuples.columns, self.keys.tuples.count
        alike_shares = [float(np.square(np.bincount(column, tuple_counts) / self.n).sum()) for column in columns]
        return combinations(
            sorted(range(len(alike_shares)), key=lambda key_place: (alike_shares[key_place], key_place)), size
        )

    def combination_on(self, places: Places) -> Combination:
        """The sizes k after listwise deletion, and m over everybody who is not dropped."""
        key_names = tuple(self.keys.columns[key_place] for key_place in sorted(places))
        combination_keys, m = self._keys_and_matches(places)
        tuple_counts = combination_keys.tuples.count
        k = tuple_counts[combination_keys.complete]
        return Combination(
            key_names,
            self.n,
            Sizes.of_counts(k, k),
            Sizes.of_counts(m[combination_keys.kept], tuple_counts[combination_keys.kept]),
        )

    def matches(self, places: Places) -> Whole:
        """M of each row on a combination, (rows,); 0 where a policy drops it."""
        if not places:
            return np.broadcast_to(np.array(self.n, self.type), self.rows)
        if places not in self._held:
            _, m = self._keys_and_matches(places)
            if len(places) > self.kept:
                return np.asarray(m[self.part(places).rank])
        return self._held[places]

    def part(self, places: Places) -> _Part:
        """The tuples of a combination, built on the longest beginning that it shares with the last ones."""
        while self._path[-1].places != places[: len(self._path[-1].places)]:
            self._path.pop()  # ends at the empty beginning, which every combination shares
        tuples = self.keys.tuples
        for key_place in places[len(self._path[-1].places) :]:
            last_part = self._path[-1]
            first_and_rank = grouped(
                [last_part.rank, tuples.columns[key_place]], [len(last_part.first), tuples.sizes[key_place]]
            )
            self._path.append(_Part((*last_part.places, key_place), *first_and_rank))
        return self._path[-1]

    def _keys_and_matches(self, places: Places) -> tuple[Keys, Whole]:
        """The keys of a combination, and M of each of their tuples; 0 where a policy drops it."""
        part, tuples = self.part(places), self.keys.tuples
        sizes = tuple(tuples.sizes[key_place] for key_place in places)
        tuple_counts = np.bincount(part.rank, None if self.rows == self.n else tuples.count, len(part.first))
        code_columns = tuple(tuples.columns[key_place][part.first] for key_place in places)
        part_tuples = Tuples(code_columns, sizes, tuple_counts.astype(np.int64))
        combination_keys = self.keys.of_tuples([self.keys.variables[key_place] for key_place in places], part_tuples)
        m = self._matches(combination_keys, part)
        if len(places) <= self.kept:
            self._held[places] = m.astype(self.type)[part.rank]
        return combination_keys, m

    def _matches(self, keys: Keys, part: _Part) -> Whole:
        pool, tuple_counts = pool_of(keys, self.rule, None), keys.tuples.count
        if not any(pool.uncertain):
            gap_places = [key_place for key_place, has_gap in enumerate(pool.gaps) if has_gap]
            if not gap_places:
                return np.where(keys.kept, tuple_counts, 0)
            combination_count, pattern_count = cube_cells(pool), 2 ** len(gap_places)
            if combination_count * (1 + len(gap_places)) < 4 * pattern_count * len(pool.tuples):
                return matches_of_tuples(keys, rule=self.rule, algorithm="cube")
            if pattern_count <= _PATTERNS and math.prod(keys.sizes) <= _LARGEST and len(part.places) <= self.kept + 1:
                # m of the tuples that miss a key is read from the combinations without it
                match_counts, is_pending = np.zeros(keys.distinct, np.int64), keys.kept.copy()
                for gap_place in gap_places:
                    gap_rows = np.flatnonzero(is_pending & (keys.tuples.columns[gap_place] == 0))
                    known_places = part.places[:gap_place] + part.places[gap_place + 1 :]
                    match_counts[gap_rows] = self.matches(known_places)[part.first[gap_rows]]
                    is_pending[gap_rows] = False
                complete = np.flatnonzero(keys.complete)
                match_counts[complete] = tuple_counts[complete] + _incomplete_matches(keys, complete, gap_places)
                return match_counts
        return matches_of_tuples(keys, rule=self.rule)


class Trial(Lattice):
    """A lattice for timing: it takes the matches on smaller combinations as known."""

    def matches(self, places: Places) -> Whole:
        return np.broadcast_to(np.ones(1, self.type), self.rows)


def _incomplete_matches(keys: Keys, complete: Whole, gaps: list[int]) -> Whole:
    """For each complete tuple, how many respondents miss a key and have the same values elsewhere."""
    codes, sizes = keys.tuples.columns, keys.tuples.sizes
    incomplete_counts = np.zeros(len(complete), np.int64)
    row_patterns = packed([(codes[gap_place] == 0) & keys.kept for gap_place in gaps], [2] * len(gaps))
    present = np.flatnonzero(np.bincount(row_patterns))
    for pattern_bits in present[present > 0].tolist():  # pattern 0: respondents who miss nothing, or are dropped
        known_flags = np.ones(len(codes), np.uint8)
        known_flags[
            [gap_place for bit_place, gap_place in enumerate(reversed(gaps)) if pattern_bits >> bit_place & 1]
        ] = 0
        spans = [size if is_known else 1 for size, is_known in zip(sizes, known_flags, strict=True)]
        pattern_rows = np.flatnonzero(row_patterns == pattern_bits)
        pattern_keys = packed([code[pattern_rows] for code in codes], spans)  # 0 already where they miss a key
        complete_keys = packed(
            [code[complete] * is_known for code, is_known in zip(codes, known_flags, strict=True)], spans
        )
        pattern_counts, span = keys.tuples.count[pattern_rows], math.prod(spans)
        if span <= max(_DENSE, 2 * len(complete_keys)):
            count_of_key = np.zeros(span, np.int64)
            count_of_key[pattern_keys] = pattern_counts
            incomplete_counts += count_of_key[complete_keys]
        else:  # keys rise
            key_places = np.minimum(np.searchsorted(pattern_keys, complete_keys), len(pattern_keys) - 1)
            incomplete_counts += np.where(pattern_keys[key_places] == complete_keys, pattern_counts[key_places], 0)
    return incomplete_counts


_VERSION = 1
_ABOUT = {"keys": "other keys", "missing": "other policies for missing cells", "rule": "another rule"}


@dataclass(frozen=True)
class Combination:
    """Who stands out on one combination of key variables.

    Parameters
    ----------
    keys : tuple of str
    n : int
        Respondents in the file.
    k : Sizes
        Anonymity sets of those who have every key.
    m : Sizes
        Numbers of matches of everybody whom no policy drops.

    Examples
    --------
    >>> one = Sizes.of(np.array([1, 1, 2, 2]))
    >>> found = Combination(("age",), 5, one, one)
    >>> found.deleted, found.pr_su_kept, found.pr_su_all, found.pr_su
    (1, 0.5, 0.4, 0.5)
    """

    keys: tuple[str, ...]
    n: int
    k: Sizes
    m: Sizes

    @property
    def deleted(self) -> int:
        """Respondents with a key missing or uncertain."""
        return self.n - self.k.records

    @property
    def pr_su_kept(self) -> float:
        """Share of those with every key that is unique; NaN where nobody has every key."""
        return self.k.share

    @property
    def pr_su_all(self) -> float:
        """Share of all respondents who have every key and are unique."""
        return self.k.unique / self.n

    @property
    def pr_su(self) -> float:
        """Share of respondents who match only themselves, of all whom no policy drops; NaN where there are none."""
        return self.m.share

    @property
    def exact(self) -> float:
        """How often an intruder who knows all keys of somebody in the file finds them by an exact match.

        This is the share kept times the mean of 1/k, over the same records as `m`; NaN where there are none.
        """
        right_picks = self.k.records * self.k.inverse if self.k.records else 0.0
        return right_picks / self.m.records if self.m.records else math.nan

    def thetas(self, population: float, *, confidence: float = 0.95) -> tuple[Theta, Theta]:
        """θ on k and, a heuristic, on m: how often a match with a unique record is the right person.

        Parameters
        ----------
        population : float
            The number of people from whom the respondents are a sample; at least the number of respondents.
        confidence : float
            Of the intervals.

        Raises
        ------
        DataError
            A population smaller than the file.

        Examples
        --------
        >>> sizes = Sizes.of(np.repeat([1, 2, 3], [50, 40, 30]))
        >>> on_k, on_m = Combination(("age", "job"), 150, sizes, sizes).thetas(30_000)
        >>> round(on_k.estimate, 4), on_k.pairs
        (0.005, 20.0)
        """
        return theta_of(self.k, population, confidence), theta_of(self.m, population, confidence)

    def unique(self, measure: str) -> int:
        """Respondents who stand out: m = 1, or k = 1 for the measure ``"anonymity"``."""
        return (self.k if measure == "anonymity" else self.m).unique

    def to_dict(self) -> JsonObject:
        """The combination as one JSON object, its fields named as in the table of risk."""
        return {
            "keys": list(self.keys),
            "listwise": {
                "deleted": self.deleted,
                "kept": self.k.records,
                **self.k.counts("k"),
                "pr_su_kept": number(self.pr_su_kept),
                "pr_su_all": number(self.pr_su_all),
                **self.k.numbers(),
                "informed_exact": number(self.exact),
            },
            "matches": {
                "records": self.m.records,
                **self.m.counts("m"),
                "pr_su": number(self.pr_su),
                **self.m.numbers(),
            },
        }


def digest(keys: Keys) -> str:
    """A digest of the distinct tuples of cells, their counts, and what uncertain cells may hold; not of any value."""
    hasher = hashlib.sha256()
    variables_and_columns = zip(keys.variables, keys.tuples.columns, strict=True)
    cell_arrays = [
        cell_array
        for variable, code_column in variables_and_columns
        for cell_array in (code_column, variable.cells.starts, variable.cells.members)
    ]
    for integer_array in (*cell_arrays, keys.tuples.count):
        hasher.update(np.ascontiguousarray(integer_array, "<i8").tobytes())
    return hasher.hexdigest()


class Finished:
    """The combinations that a search has finished: in memory and, if there is a path, in a file that it appends to.

    Parameters
    ----------
    keys : Keys
    rule : str
    path : Path, optional
        A file to begin or to go on with.

    Raises
    ------
    DataError
        The file belongs to another search, or is no file of a search.
    """

    def __init__(self, keys: Keys, rule: str, path: Path | None) -> None:
        self.n = keys.n
        self.done: dict[tuple[str, ...], Combination] = {}
        self._path = path
        self._stream: IO[bytes] | None = None
        self._header = {
            "naysay": "search",
            "version": _VERSION,
            "n": keys.n,
            "keys": list(keys.columns),
            "missing": {variable.name: variable.policy for variable in keys.variables if variable.policy != "wildcard"},
            "rule": rule,
            "data": "" if path is None else digest(keys),
        }

    def __enter__(self) -> Finished:
        if self._path is not None:
            try:
                self._stream = self._open_file(self._path)
            except OSError as error:
                raise DataError(f"cannot write to {str(self._path)!r}: {error.strerror or error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, combination: Combination) -> None:
        """Take one more combination."""
        self.done[combination.keys] = combination
        self._write(
            {"keys": list(combination.keys), "k": plain(asdict(combination.k)), "m": plain(asdict(combination.m))}
        )

    def _write(self, line: JsonNode) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._stream.flush()

    def _open_file(self, path: Path) -> IO[bytes]:
        """The file, opened behind its last whole line: a killed search may have left half a line."""
        file_bytes = path.read_bytes() if path.exists() else b""
        if not file_bytes:
            self._stream = path.open("wb")
            self._write(self._header)
            return self._stream
        whole_lines = file_bytes[: file_bytes.rfind(b"\n") + 1]
        lines = whole_lines.decode("utf-8", "replace").splitlines()
        file_header = _object_of_line(lines[0]) if lines else {}
        if file_header.get("naysay") != "search" or file_header.get("version") != _VERSION:
            raise DataError(f"{str(self._path)!r} is not the file of a search; name another, or remove it")
        for field_name, expected_entry in self._header.items():
            if file_header.get(field_name) != expected_entry:
                other_search = f"a search with {_ABOUT.get(field_name, 'other data')}"
                raise DataError(f"{str(self._path)!r} belongs to {other_search}; name another file, or remove it")
        for line_number, line in enumerate(lines[1:], start=2):
            line_fields = _object_of_line(line)
            try:
                combination = Combination(
                    tuple(line_fields["keys"]),
                    self.n,
                    _sizes_of_fields(line_fields["k"]),
                    _sizes_of_fields(line_fields["m"]),
                )
            except (KeyError, TypeError) as error:
                raise DataError(
                    f"line {line_number} of {str(self._path)!r} is damaged; remove that line and go on"
                ) from error
            self.done[combination.keys] = combination
        with path.open("r+b") as stream:
            stream.truncate(len(whole_lines))
        return path.open("ab")


def _object_of_line(line: str) -> JsonObject:
    """The JSON object of a line; an empty one where the line is something else."""
    with suppress(ValueError):
        json_object = json.loads(line)
        return json_object if isinstance(json_object, dict) else {}
    return {}


def _sizes_of_fields(fields: JsonNode) -> Sizes:
    numbers: JsonObject = {name: math.nan if value is None else value for name, value in fields.items()}
    return Sizes(**numbers)
