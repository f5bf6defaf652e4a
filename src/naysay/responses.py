"""Response spaces: what a person may report, and how reports are held compactly.

A space turns reports into integer codes and back, and owns the *linear statistic* T of a response from which unbiased
estimators are built. Codes are int64 arrays of shape (n, width); a first word of -1 is a missing answer.

=========== ============================================== =================== =======================
space       a report is                                    T(response)         d
=========== ============================================== =================== =======================
`Labels`    one label                                      indicator           number of labels
`Subsets`   a set of labels, as text ``"a;b"`` in a file   membership          number of labels
`Bits`      any set of labels, the empty and full too      membership          number of labels
`Pair`      two reports, one in each of two spaces         Kronecker product   product of the two
=========== ============================================== =================== =======================
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError, DesignError

__all__ = ["Bits", "Labels", "Pair", "Responses", "Space", "Subsets"]

Codes = NDArray[np.int64]
MISSING = -1
JOINER = ";"
WORD = 62  # labels per int64 word of a set: sign bit free, so that -1 can mean missing
LISTABLE = 200_000  # a space with more responses than this is never written out


class Space(ABC):
    """What may be reported. Subclasses say how reports are encoded and what their linear statistic is."""

    labels: tuple[Any, ...]

    @property
    @abstractmethod
    def width(self) -> int:
        """Words per code."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length d of the linear statistic."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many different responses there are."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """Codes (n, width) of reports; -1 where a report is missing."""

    @abstractmethod
    def decode(self, codes: Codes) -> NDArray[Any]:
        """The reports that the codes stand for: labels (n,), or a boolean array (n, t) for sets."""

    @abstractmethod
    def texts(self, codes: Codes) -> list[str | None]:
        """Each report as one text (sets joined by ``;``), None where it is missing."""

    @abstractmethod
    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        """The linear statistic T of each response, (n, d)."""

    @abstractmethod
    def _all_codes(self) -> Codes: ...

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """The space as a JSON object."""

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        """Whether each report is missing, (n,)."""
        return np.asarray(codes[:, 0] == MISSING)

    @property
    def listable(self) -> bool:
        """Whether the space is small enough to be written out."""
        return self.size <= LISTABLE

    def listing(self) -> Codes:
        """The codes of all responses, in the order of a design's matrix rows."""
        if not self.listable:
            raise DesignError(
                f"there are {self.size:.3g} possible responses, too many to list; `likelihood`, `randomize`, `tally` "
                "and the estimators work without the list"
            )
        return self._all_codes()


@dataclass(frozen=True)
class Labels(Space):
    """One label out of several.

    Parameters
    ----------
    labels : sequence of label
        What may be reported, in the order of the design matrix's rows.

    Examples
    --------
    >>> space = Labels(("yes", "no"))
    >>> space.encode(["no", "yes", None]).ravel()
    array([ 1,  0, -1])
    """

    labels: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checks.categories(self.labels, least=1, what="responses"))

    width = 1

    @property
    def dimension(self) -> int:
        return len(self.labels)

    @property
    def size(self) -> int:
        return len(self.labels)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        by_text = {str(label): position for position, label in enumerate(self.labels)}
        return by_text | {label: position for position, label in enumerate(self.labels)}

    def position(self, value: Any) -> int | None:
        """Place of one label, -1 if `value` is missing, None if it is not a label."""
        try:
            found = self._positions.get(value)
        except TypeError:  # an unhashable cell: a set or list that holds one label
            members = list(value)
            return self.position(members[0]) if len(members) == 1 else None
        if found is None and _checks.is_missing(value):
            return MISSING
        if found is None and isinstance(value, frozenset | tuple) and len(value) == 1:
            return self.position(next(iter(value)))
        if found is None and isinstance(value, int | float | Decimal | np.integer | np.floating) and value % 1 == 0:
            return self._positions.get(str(int(value)))
        return found

    def encode(self, values: Any) -> Codes:
        cells = cells_of(values)
        if isinstance(cells, np.ndarray):
            return self._encode_one_hot(cells)
        known = self._positions
        try:
            found = [known.get(cell) for cell in cells]
        except TypeError:
            found = [self.position(cell) for cell in cells]
        unresolved = [row for row, place in enumerate(found) if place is None]
        for row in unresolved:
            place = self.position(cells[row])
            if place is None:
                raise unknown_label(cells[row], self.labels, row=row, total=len(cells))
            found[row] = place
        return np.array(found, dtype=np.int64).reshape(-1, 1)

    def _encode_one_hot(self, cells: NDArray[Any]) -> Codes:
        membership, missing = membership_of(cells, self.labels)
        sizes = membership.sum(axis=1)
        wrong = (sizes != 1) & ~missing
        if wrong.any():
            row = int(wrong.argmax())
            names = f"names {int(sizes[row])} labels; it must name one"
            raise AnswerError(names, row=row, total=len(cells), value=self.labels)
        return np.where(missing, MISSING, membership.argmax(axis=1)).astype(np.int64).reshape(-1, 1)

    def decode(self, codes: Codes) -> NDArray[Any]:
        known = np.empty(len(self.labels) + 1, dtype=object)
        known[:-1] = self.labels
        values = known[codes[:, 0]]  # -1 picks the trailing None
        if self.missing(codes).any() or any(isinstance(label, tuple) for label in self.labels):
            return values
        return values.astype(np.asarray(self.labels).dtype)

    def texts(self, codes: Codes) -> list[str | None]:
        names = [*map(str, self.labels), None]
        return [names[code] for code in codes[:, 0].tolist()]

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = np.zeros((len(codes), len(self.labels)))
        missing = self.missing(codes)
        result[np.arange(len(codes)), codes[:, 0]] = 1.0
        result[missing] = np.nan
        return result

    def _all_codes(self) -> Codes:
        return np.arange(len(self.labels), dtype=np.int64).reshape(-1, 1)

    def form(self) -> dict[str, Any]:
        return {"space": "labels", "labels": list(self.labels)}


@dataclass(frozen=True)
class Subsets(Space):
    """A set of labels, held as one bit per label.

    Parameters
    ----------
    labels : sequence of label
        The t labels of which sets are formed.
    least, most : int
        Smallest and largest size of a set.

    Examples
    --------
    >>> space = Subsets(("a", "b", "c", "d"), 2, 2)
    >>> codes = space.encode([{"a", "c"}, "b;d", None])
    >>> space.texts(codes)
    ['a;c', 'b;d', None]
    >>> space.statistic(codes[:2]).astype(int)
    array([[1, 0, 1, 0],
           [0, 1, 0, 1]])
    """

    labels: tuple[Any, ...]
    least: int
    most: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checks.categories(self.labels))
        if not 0 <= self.least <= self.most <= len(self.labels):
            raise DesignError(f"set sizes must rise from 0 to {len(self.labels)}; got {self.least} to {self.most}")

    @property
    def width(self) -> int:
        return -(-len(self.labels) // WORD)

    @property
    def dimension(self) -> int:
        return len(self.labels)

    @property
    def size(self) -> int:
        return sum(math.comb(len(self.labels), size) for size in range(self.least, self.most + 1))

    @cached_property
    def _single(self) -> Labels:
        return Labels(self.labels)

    @property
    def sized(self) -> str:
        """The allowed sizes in words."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"

    def encode(self, values: Any) -> Codes:
        cells = cells_of(values)
        if isinstance(cells, np.ndarray):
            membership, missing = membership_of(cells, self.labels)
            codes = self.pack(membership)
            codes[missing] = 0
            codes[missing, 0] = MISSING
            return self._checked(codes, cells)
        known: dict[Any, tuple[int, ...]] = {}
        rows = []
        for row, cell in enumerate(cells):
            key = _key(cell)
            if key not in known:
                known[key] = self._encode_cell(cell, row, len(cells))
            rows.append(known[key])
        return self._checked(np.array(rows, dtype=np.int64).reshape(-1, self.width), cells)

    def _encode_cell(self, cell: Any, row: int, total: int) -> tuple[int, ...]:
        words = [0] * self.width
        if _checks.is_missing(cell):
            words[0] = MISSING
            return tuple(words)
        for label in self._members(cell, row, total):
            position = self._single.position(label)
            if position is None or position == MISSING:
                raise unknown_label(label, self.labels, row=row, total=total)
            bit = 1 << (position % WORD)
            if words[position // WORD] & bit:
                raise AnswerError(f"names {label!r} twice in {cell!r}", row=row, total=total, value=cell)
            words[position // WORD] |= bit
        return tuple(words)

    def _members(self, cell: Any, row: int, total: int) -> Sequence[Any]:
        if isinstance(cell, str) and not cell.strip(JOINER):
            return []  # a lone joiner is how a text says "the empty set": an empty text is a missing answer
        if isinstance(cell, str):
            holding = [label for label in self.labels if JOINER in str(label)]
            if JOINER in cell and holding:
                raise AnswerError(
                    f"is {cell!r}, which cannot be split at ';' because the label {holding[0]!r} holds one; "
                    "rename the label, or give sets, lists or boolean columns",
                    row=row,
                    total=total,
                    value=cell,
                )
            return [part.strip() if self._single.position(part) is None else part for part in cell.split(JOINER)]
        if isinstance(cell, Iterable):
            return list(cell)
        return [cell]

    def _checked(self, codes: Codes, cells: Sequence[Any] | NDArray[Any]) -> Codes:
        sizes = self.statistic(codes).sum(axis=1)
        wrong = ((sizes < self.least) | (sizes > self.most)) & ~self.missing(codes)
        if wrong.any():
            row = int(wrong.argmax())
            what = "is empty" if sizes[row] == 0 else f"names {int(sizes[row])} categories"
            if sizes[row] == len(self.labels):
                what = "names every category, so that none is left"
            raise AnswerError(
                f"{what}; it must be a set of {self.sized} of the {len(self.labels)} categories",
                row=row,
                total=len(codes),
                value=cells[row],
            )
        return codes

    def pack(self, membership: NDArray[np.bool_]) -> Codes:
        """Codes of a boolean membership array (n, t)."""
        codes = np.zeros((len(membership), self.width), dtype=np.int64)
        for position in range(len(self.labels)):
            codes[:, position // WORD] |= membership[:, position].astype(np.int64) << (position % WORD)
        return codes

    def decode(self, codes: Codes) -> NDArray[Any]:
        result = np.empty((len(codes), len(self.labels)), dtype=bool)
        for position in range(len(self.labels)):
            result[:, position] = (codes[:, position // WORD] >> (position % WORD)) & 1
        result[self.missing(codes)] = False
        return result

    def texts(self, codes: Codes) -> list[str | None]:
        names = [str(label) for label in self.labels]
        return [
            None if gone else JOINER.join(itertools.compress(names, row)) or JOINER
            for row, gone in zip(self.decode(codes).tolist(), self.missing(codes).tolist(), strict=True)
        ]

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = self.decode(codes).astype(np.float64)
        result[self.missing(codes)] = np.nan
        return result

    def _all_codes(self) -> Codes:
        t = len(self.labels)
        sets = [
            members for size in range(self.least, self.most + 1) for members in itertools.combinations(range(t), size)
        ]
        membership = np.zeros((len(sets), t), dtype=bool)
        for row, members in enumerate(sets):
            membership[row, list(members)] = True
        return self.pack(membership)

    def form(self) -> dict[str, Any]:
        return {"space": "subsets", "labels": list(self.labels), "least": self.least, "most": self.most}


@dataclass(frozen=True)
class Bits(Subsets):
    """Any set of labels, one bit each; the empty set and the full set are reports too.

    Examples
    --------
    >>> Bits(("a", "b")).size
    4
    """

    least: int = 0
    most: int = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", len(tuple(self.labels)))
        super().__post_init__()

    def form(self) -> dict[str, Any]:
        return {"space": "bits", "labels": list(self.labels)}


@dataclass(frozen=True)
class Pair(Space):
    """Two reports of one person.

    Examples
    --------
    >>> space = Pair(Labels(("yes", "no")), Labels(("a", "b", "c")))
    >>> space.texts(space.encode((["no", "yes"], ["c", None])))
    ['no × c', 'yes × ?']
    """

    first: Space
    second: Space

    @property
    def labels(self) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple(itertools.product(self.first.labels, self.second.labels))

    @property
    def width(self) -> int:
        return self.first.width + self.second.width

    @property
    def dimension(self) -> int:
        return self.first.dimension * self.second.dimension

    @property
    def size(self) -> int:
        return self.first.size * self.second.size

    def split(self, codes: Codes) -> tuple[Codes, Codes]:
        """The codes of the two reports."""
        return codes[:, : self.first.width], codes[:, self.first.width :]

    def encode(self, values: Any) -> Codes:
        first, second = columns_of(values)
        one, two = self.first.encode(first), self.second.encode(second)
        if len(one) != len(two):
            raise DataError(f"two questions to one person need two answers each; got {len(one)} and {len(two)} answers")
        return np.hstack([one, two])

    def decode(self, codes: Codes) -> NDArray[Any]:
        if not (isinstance(self.first, Labels) and isinstance(self.second, Labels)):
            raise DesignError("a pair that holds sets has no single array; use `.parts` of the responses")
        one, two = (
            space.decode(part) for space, part in zip((self.first, self.second), self.split(codes), strict=True)
        )
        return np.column_stack([one.astype(object), two.astype(object)])

    def texts(self, codes: Codes) -> list[str | None]:
        one, two = self.split(codes)
        return [
            None if a is None and b is None else f"{'?' if a is None else a} × {'?' if b is None else b}"
            for a, b in zip(self.first.texts(one), self.second.texts(two), strict=True)
        ]

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        one, two = self.split(codes)
        return self.first.missing(one) & self.second.missing(two)

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        one, two = self.split(codes)
        product = self.first.statistic(one)[:, :, None] * self.second.statistic(two)[:, None, :]
        return product.reshape(len(codes), self.dimension)

    def _all_codes(self) -> Codes:
        one, two = self.first.listing(), self.second.listing()
        return np.hstack([np.repeat(one, len(two), axis=0), np.tile(two, (len(one), 1))])

    def form(self) -> dict[str, Any]:
        return {"space": "pair", "first": self.first.form(), "second": self.second.form()}


@dataclass(frozen=True, eq=False)
class Responses:
    """What n people reported.

    ``np.asarray`` gives labels (n,), or a boolean array (n, t) for sets (a missing set is a row of False; see
    `missing`).

    Parameters
    ----------
    codes : (n, width) int
        Encoded reports.
    space : Space
        The space that the codes belong to.
    level : (n,) array, optional
        The level that each respondent chose.

    Examples
    --------
    >>> said = Responses(np.array([[1], [0], [-1]]), Labels(("yes", "no")))
    >>> len(said), said.missing, said.texts()
    (3, array([False, False,  True]), ['no', 'yes', None])
    """

    codes: Codes
    space: Space
    level: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        codes = np.array(self.codes, dtype=np.int64)
        if codes.ndim != 2 or codes.shape[1] != self.space.width:
            raise DataError(f"codes must have shape (n, {self.space.width}); got {codes.shape}")
        object.__setattr__(self, "codes", _checks.read_only(codes))
        if self.level is not None:
            if len(self.level) != len(codes):
                raise DataError(
                    f"each response needs its level; got {len(self.level)} levels for {len(codes)} responses"
                )
            object.__setattr__(self, "level", _checks.read_only(np.array(self.level)))

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 (numpy's protocol)
        return np.asarray(self.space.decode(self.codes), dtype=dtype)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each report is missing, (n,)."""
        return self.space.missing(self.codes)

    def take(self, rows: Sequence[int]) -> Responses:
        """The reports of these respondents."""
        return Responses(self.codes[rows], self.space, None if self.level is None else self.level[rows])

    @property
    def parts(self) -> tuple[Responses, Responses]:
        """The two columns of answers of a design ``a * b``."""
        if not isinstance(self.space, Pair):
            raise DesignError("only the responses to two questions, `a * b`, have parts")
        one, two = self.space.split(self.codes)
        return Responses(one, self.space.first), Responses(two, self.space.second)

    def texts(self) -> list[str | None]:
        """Each report as one text, sets joined by ``;``."""
        return self.space.texts(self.codes)


def cells_of(values: Any) -> list[Any] | NDArray[Any]:
    """Answers as a list of cells, or as the 2-d array that they came in."""
    if isinstance(values, str):
        raise DataError(f"answers must be a sequence, one entry a respondent; got the single text {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        cells = zip(values.data.tolist(), np.ma.getmaskarray(values).tolist(), strict=True)
        return [None if gone else cell for cell, gone in cells]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method) and not isinstance(values, np.ndarray):
            return list(getattr(values, method)())
    if isinstance(values, np.ndarray):
        return values if values.ndim == 2 else list(values.tolist())
    try:
        return list(values)
    except TypeError:
        raise DataError(f"answers must be a sequence, one entry a respondent; got {type(values).__name__}") from None


def columns_of(values: Any) -> tuple[Any, Any]:
    """Two columns of answers, from a pair of sequences or an (n, 2) array."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 2:
        return values[:, 0], values[:, 1]
    if isinstance(values, tuple) and len(values) == 2:
        return values
    raise DataError("two questions to one person need two columns: a tuple (first, second) or an array of shape (n, 2)")


def _key(cell: Any) -> Any:
    """The cell as a dictionary key."""
    key = tuple(cell) if isinstance(cell, list | np.ndarray) else frozenset(cell) if isinstance(cell, set) else cell
    try:
        hash(key)
    except TypeError:
        return repr(cell)
    return key


def membership_of(cells: NDArray[Any], labels: Sequence[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Boolean membership (n, t) and which rows are missing, from a 2-d array of 0/1, booleans or empty cells."""
    if cells.shape[1] != len(labels):
        raise DataError(
            f"a boolean array of answers must have one column for each of the {len(labels)} categories; "
            f"got shape {cells.shape}"
        )
    if cells.dtype == bool:
        return cells, np.zeros(len(cells), dtype=bool)
    empty = np.vectorize(_checks.is_missing, otypes=[bool])(cells) if cells.size else np.zeros(cells.shape, dtype=bool)
    missing = empty.all(axis=1)
    partial = empty.any(axis=1) & ~missing
    if partial.any():
        row = int(partial.argmax())
        problem = f"is filled in part; give all {len(labels)} columns or none"
        raise AnswerError(problem, row=row, total=len(cells), value=cells[row].tolist())
    filled = np.where(empty, 0, cells.astype(object))
    if not np.isin(filled, [0, 1]).all():
        raise DataError("a 2-d array of answers must hold booleans (or 0 and 1), one column a category")
    return np.asarray(filled, dtype=bool), np.asarray(missing)


def unknown_label(value: Any, labels: Sequence[Any], *, row: int, total: int) -> AnswerError:
    """The error for a report that is not a label."""
    problem = f"is {str(value)[:80]!r}, which is not a response here; {_checks.nearest(value, labels)}"
    return AnswerError(problem, row=row, total=total, value=value)
