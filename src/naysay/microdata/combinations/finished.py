"""The file of a search: one finished combination a line, so that a search can stop and go on.

The file holds JSON lines. The first line identifies the search: the keys, what a missing key means, the rule, and a
digest of the distinct tuples and their counts. The file holds numbers of respondents, never a value.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys
from naysay.microdata.population.theta import Sizes, Theta, theta_of
from naysay.show import number, plain

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

    def to_dict(self) -> dict[str, Any]:
        """The combination as one JSON object, its fields named as in the table of risk."""
        return {
            "keys": list(self.keys),
            "listwise": {
                "deleted": self.deleted,
                "kept": self.k.records,
                **self.k.counts("k"),
                "pr_su_kept": number(self.pr_su_kept),
                "pr_su_all": number(self.pr_su_all),
                **self.k.fields(),
                "informed_exact": number(self.exact),
            },
            "matches": {
                "records": self.m.records,
                **self.m.counts("m"),
                "pr_su": number(self.pr_su),
                **self.m.fields(),
            },
        }


def digest(keys: Keys) -> str:
    """A digest of the distinct tuples of cells, their counts, and what uncertain cells may hold; not of any value."""
    hasher = hashlib.sha256()
    pairs = zip(keys.variables, keys.tuples.columns, strict=True)
    cell_arrays = [
        codes for variable, column in pairs for codes in (column, variable.cells.starts, variable.cells.members)
    ]
    for numbers in (*cell_arrays, keys.tuples.count):
        hasher.update(np.ascontiguousarray(numbers, "<i8").tobytes())
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

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._stream.flush()

    def _open_file(self, path: Path) -> IO[bytes]:
        """The file, opened behind its last whole line: a killed search may have left half a line."""
        text = path.read_bytes() if path.exists() else b""
        if not text:
            self._stream = path.open("wb")
            self._write(self._header)
            return self._stream
        whole_lines = text[: text.rfind(b"\n") + 1]
        self._read_lines(whole_lines.decode("utf-8", "replace").splitlines())
        with path.open("r+b") as stream:
            stream.truncate(len(whole_lines))
        return path.open("ab")

    def _read_lines(self, lines: list[str]) -> None:
        header = _object_of_line(lines[0]) if lines else {}
        if header.get("naysay") != "search" or header.get("version") != _VERSION:
            raise DataError(f"{str(self._path)!r} is not the file of a search; name another, or remove it")
        for name, value in self._header.items():
            if header.get(name) != value:
                other_search = f"a search with {_ABOUT.get(name, 'other data')}"
                raise DataError(f"{str(self._path)!r} belongs to {other_search}; name another file, or remove it")
        for line_number, line in enumerate(lines[1:], start=2):
            fields = _object_of_line(line)
            try:
                combination = Combination(
                    tuple(fields["keys"]), self.n, _sizes_of_fields(fields["k"]), _sizes_of_fields(fields["m"])
                )
            except (KeyError, TypeError) as error:
                raise DataError(
                    f"line {line_number} of {str(self._path)!r} is damaged; remove that line and go on"
                ) from error
            self.done[combination.keys] = combination


def _object_of_line(line: str) -> dict[str, Any]:
    """The JSON object of a line; an empty one where the line is something else."""
    with suppress(ValueError):
        json_object = json.loads(line)
        return json_object if isinstance(json_object, dict) else {}
    return {}


def _sizes_of_fields(fields: Mapping[str, Any]) -> Sizes:
    numbers: dict[str, Any] = {name: math.nan if value is None else value for name, value in fields.items()}
    return Sizes(**numbers)
