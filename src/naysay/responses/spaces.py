"""What people may report, and how columns, lists and boolean arrays of reports are encoded.

Answers as they come, in lists, arrays and columns: their cells, and the words for cells that are no answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError, DesignError

Codes = NDArray[np.int64]
MISSING = -1
LISTABLE = 200_000  # a space with more responses than this is never listed
_ENTRIES = 2**21  # entries of the statistic that a sum holds at a time
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class Space(ABC):
    """What people may report. Subclasses define how reports are encoded, and their linear statistic."""

    labels: tuple[Any, ...]

    answers: ClassVar[int] = 1
    """How many questions one response answers."""

    one_label: ClassVar[bool] = False
    """Whether a response is one of the labels."""

    sets: ClassVar[bool] = False
    """Whether a response is a set of labels."""

    @property
    def constant_sum(self) -> bool:
        """Whether the linear statistic of every response has the same sum."""
        return self.one_label

    @property
    @abstractmethod
    def width(self) -> int:
        """Words per code."""

    @property
    def dimension(self) -> int:
        """Length d of the linear statistic: one number for each label, unless a space says otherwise."""
        return len(self.labels)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many different responses there are."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """Codes (n, width) of reports; -1 marks a missing report."""

    @abstractmethod
    def decode(self, codes: Codes) -> NDArray[Any]:
        """The reports that the codes stand for: labels (n,), or a boolean array (n, t) for sets."""

    @abstractmethod
    def texts(self, codes: Codes) -> list[str | None]:
        """Each report as one text (sets joined by ``;``); None where it is missing."""

    @abstractmethod
    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        """The linear statistic T of each response, (n, d)."""

    def total(self, codes: Codes, amounts: NDArray[Any]) -> NDArray[Any]:
        """Σ amount · T over these reports, (d,), for one amount a report; exact where amounts are whole."""
        result = np.zeros(self.dimension, dtype=amounts.dtype)
        step = max(1, _ENTRIES // self.dimension)
        for start in range(0, len(codes), step):
            rows = slice(start, start + step)
            result += amounts[rows] @ self.statistic(codes[rows]).astype(amounts.dtype)
        return result

    def added(self, codes: Codes, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each report the sums of the values (d, q) of the labels that it speaks for: T @ values, (n, q)."""
        step = max(1, _ENTRIES // self.dimension)
        parts = [self.statistic(codes[start : start + step]) @ values for start in range(0, len(codes), step)]
        return np.concatenate([np.zeros((0, values.shape[1])), *parts])

    def frequencies(self, codes: Codes) -> NDArray[np.int64]:
        """How many of these reports speak for each label: Σ T, (d,)."""
        return self.total(codes, np.ones(len(codes), dtype=np.int64))

    def sizes(self, codes: Codes) -> NDArray[np.int64]:
        """For how many labels each report speaks, (n,)."""
        step = max(1, _ENTRIES // self.dimension)
        parts = [self.statistic(codes[start : start + step]).sum(axis=1) for start in range(0, len(codes), step)]
        return np.concatenate([np.zeros(0), *parts]).astype(np.int64)

    @property
    def numbered(self) -> bool:
        """Whether each response is one whole number: its place in the order of a design's matrix rows."""
        return self.listable

    def places(self, codes: Codes) -> NDArray[np.int64]:
        """The number of each of these responses, (n,), where they are `numbered`; -1 for what is no response."""
        listing = self._listed
        distinct, inverse = np.unique(np.vstack([listing, codes]), axis=0, return_inverse=True)
        place_of_code = np.full(len(distinct), MISSING, dtype=np.int64)
        place_of_code[inverse.ravel()[: len(listing)]] = np.arange(len(listing))
        return np.asarray(place_of_code[inverse.ravel()[len(listing) :]])

    def at(self, places: NDArray[np.int64]) -> Codes:
        """The codes (n, width) of the responses with these numbers, each from 0 to `size` - 1."""
        return np.asarray(self._listed[places])

    @cached_property
    def _listed(self) -> Codes:
        return self.listing()

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
        """Whether the space has at most 200,000 responses, so that they can be listed."""
        return self.size <= LISTABLE

    def listing(self) -> Codes:
        """The codes of all responses, in the order of a design's matrix rows."""
        if not self.listable:
            raise DesignError(
                f"there are {self.size:.3g} possible responses, too many to list; `likelihood`, `randomize`, `tally` "
                "and the estimators work without the list"
            )
        return self._all_codes()

    def at_random(self, n: int, below: Callable[[int, int], NDArray[np.int64]]) -> Codes:
        """Codes of n random responses; all responses are equally likely.

        Parameters
        ----------
        n : int
        below : callable
            ``below(bound, size)`` returns `size` integers, each uniform on 0 … bound - 1.

        Raises
        ------
        DesignError
            There are too many responses to list, and drawing needs the list.
        """
        codes = self.listing()
        return np.asarray(codes[below(len(codes), n)])


@dataclass(frozen=True)
class Labels(Space):
    """One label out of several.

    Parameters
    ----------
    labels : sequence of label
        What people may report, in the order of the design matrix's rows.
    yes_no : bool
        Whether the first of two labels means yes. Then 1, true and yes (upper or lower case) stand for the first label,
        and 0, false and no for the second. Labels that are such words themselves need no `yes_no`.

    Examples
    --------
    >>> space = Labels(("yes", "no"))
    >>> space.encode(["no", "YES", 0, True, None]).ravel()
    array([ 1,  0,  1,  0, -1])
    """

    labels: tuple[Any, ...]
    yes_no: bool = field(default=False, compare=False)
    one_label: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checks.categories(self.labels, least=1, what="responses"))
        if self.yes_no and len(self.labels) != 2:
            raise DesignError(f"yes_no needs exactly two labels; got {_checks.listing_text(self.labels)}")

    width = 1

    @property
    def size(self) -> int:
        return len(self.labels)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        places = range(len(self.labels))
        return dict(zip(map(str, self.labels), places, strict=True)) | dict(zip(self.labels, places, strict=True))

    @cached_property
    def _words(self) -> dict[str, int]:
        """The place of each word for yes and no; empty if the space does not understand such words."""
        meanings = [_TRUTH.get(word_of(label)) for label in self.labels]
        if len(self.labels) == 2 and None not in meanings and meanings[0] != meanings[1]:
            return {word: meanings.index(truth) for word, truth in _TRUTH.items()}
        if self.yes_no and meanings == [None, None]:
            return {word: 0 if truth else 1 for word, truth in _TRUTH.items()}
        return {}

    def position(self, value: Any) -> int | None:
        """The place of one label; -1 if `value` is missing, None if it is not a label."""
        try:
            place = self._positions.get(value)
        except TypeError:  # an unhashable cell: a set or list that holds one label
            members = list(value)
            return self.position(members[0]) if len(members) == 1 else None
        if place is None and _checks.is_missing(value):
            return MISSING
        if place is None and isinstance(value, frozenset | tuple) and len(value) == 1:
            return self.position(next(iter(value)))
        number = isinstance(value, int | float | Decimal | np.integer | np.floating) and value % 1 == 0
        if place is None and number:
            place = self._positions.get(str(int(value)))
        if place is None and self._words and isinstance(value, str | bool | np.bool_ | np.number | int | float):
            return self._words.get(word_of(value))
        return place

    def encode(self, values: Any, *, what: str = "response") -> Codes:
        """Codes of labels. An error message calls a label a `what`."""
        cells = cells_of(values)
        if isinstance(cells, np.ndarray):
            return self._encode_one_hot(cells)
        positions = self._positions
        try:
            places = [positions.get(cell) for cell in cells]
        except TypeError:
            places = [self.position(cell) for cell in cells]
        unresolved = [row for row, place in enumerate(places) if place is None]
        for row in unresolved:
            place = self.position(cells[row])
            if place is None:
                unknown_cells = [
                    cells[unknown_row] for unknown_row in unresolved if self.position(cells[unknown_row]) is None
                ]
                raise unknown_label(
                    unknown_cells, self.labels, row=row, total=len(cells), what=what, words=bool(self._words)
                )
            places[row] = place
        return np.array(places, dtype=np.int64).reshape(-1, 1)

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
        label_table = np.empty(len(self.labels) + 1, dtype=object)
        label_table[:-1] = self.labels
        values = label_table[codes[:, 0]]  # a missing report has code -1, which picks the trailing None
        kinds = {type(label) for label in self.labels}
        if self.missing(codes).any() or len(kinds) > 1 or tuple in kinds:
            return values
        return values.astype(np.asarray(self.labels).dtype)

    def texts(self, codes: Codes) -> list[str | None]:
        names = [*map(str, self.labels), None]
        return [names[code] for code in codes[:, 0].tolist()]

    def total(self, codes: Codes, amounts: NDArray[Any]) -> NDArray[Any]:
        result = np.zeros(len(self.labels), dtype=amounts.dtype)
        np.add.at(result, codes[:, 0], amounts)
        return result

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = np.zeros((len(codes), len(self.labels)))
        result[np.arange(len(codes)), codes[:, 0]] = 1.0
        result[self.missing(codes)] = np.nan
        return result

    @property
    def numbered(self) -> bool:
        return True

    def places(self, codes: Codes) -> NDArray[np.int64]:
        return codes[:, 0]

    def at(self, places: NDArray[np.int64]) -> Codes:
        return places.reshape(-1, 1)

    def _all_codes(self) -> Codes:
        return np.arange(len(self.labels), dtype=np.int64).reshape(-1, 1)

    def form(self) -> dict[str, Any]:
        yes_no_field: dict[str, Any] = {"yes_no": True} if self.yes_no else {}
        return {"space": "labels", "labels": list(self.labels)} | yes_no_field


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
    >>> from naysay.responses import Labels
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

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Responses:
        """The reports of these respondents."""
        return Responses(self.codes[rows], self.space, None if self.level is None else self.level[rows])

    @property
    def parts(self) -> tuple[Responses, Responses]:
        """The answers to each of the two questions of a design ``a * b``."""
        if self.space.answers != 2:
            raise DesignError("only the responses to two questions, `a * b`, have parts")
        space: Any = self.space
        first_codes, second_codes = space.split(self.codes)
        return Responses(first_codes, space.first), Responses(second_codes, space.second)

    def texts(self) -> list[str | None]:
        """Each report as one text, sets joined by ``;``."""
        return self.space.texts(self.codes)


def cells_of(values: Any) -> list[Any] | NDArray[Any]:
    """Answers as a list of cells, or as the 2-d array that they came in."""
    if isinstance(values, str):
        raise DataError(f"answers must be a sequence, one entry for each respondent; got the single text {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        cells = zip(values.data.tolist(), np.ma.getmaskarray(values).tolist(), strict=True)
        return [None if is_missing else cell for cell, is_missing in cells]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method) and not isinstance(values, np.ndarray):
            return list(getattr(values, method)())
    if isinstance(values, np.ndarray):
        return values if values.ndim == 2 else list(values.tolist())
    try:
        return list(values)
    except TypeError:
        raise DataError(
            f"answers must be a sequence, one entry for each respondent; got {type(values).__name__}"
        ) from None


def columns_of(values: Any, first: int = 1, second: int = 1) -> tuple[Any, Any]:
    """The answers to two questions, split into `first` and `second` columns; several columns make a tuple.

    `values` is a tuple of sequences, or an array (n, columns).
    """
    size = first + second
    columns = values if isinstance(values, tuple) else ()
    if isinstance(values, np.ndarray) and values.ndim == 2:
        columns = tuple(values.T)
    if len(columns) != size:
        shape_words = {2: ("two", "(first, second)"), 3: ("three", "(first, second, third)")}
        number, shape = shape_words.get(size, (str(size), "(first, second, …)"))
        raise DataError(
            f"{number} questions to one person need {number} columns: a tuple {shape} or an array of shape (n, {size})"
        )
    first_columns, second_columns = columns[:first], columns[first:]
    return first_columns[0] if first == 1 else first_columns, second_columns[0] if second == 1 else second_columns


def key_of(cell: Any) -> Any:
    """The cell as a dictionary key."""
    key = tuple(cell) if isinstance(cell, list | np.ndarray) else frozenset(cell) if isinstance(cell, set) else cell
    try:
        hash(key)
    except TypeError:
        return repr(cell)
    return key


def membership_of(cells: NDArray[Any], labels: Sequence[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """From a 2-d array of 0/1, booleans or empty cells: membership (n, t), and which rows are missing."""
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
        problem = f"is only partly filled; give all {len(labels)} columns or none"
        raise AnswerError(problem, row=row, total=len(cells), value=cells[row].tolist())
    filled = np.where(empty, 0, cells.astype(object))
    if not np.isin(filled, [0, 1]).all():
        raise DataError("a 2-d array of answers must hold booleans (or 0 and 1), one column for each category")
    return np.asarray(filled, dtype=bool), np.asarray(missing)


def word_of(value: Any) -> str:
    """A cell as a word: True becomes ``true``; 1.0, as a number or as text, becomes ``1``."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    word = str(value).strip().casefold()
    return word[:-2] if word in ("1.0", "0.0") else word


def unknown_label(
    values: Sequence[Any], labels: Sequence[Any], *, row: int, total: int, what: str, words: bool = False
) -> AnswerError:
    """The error for reports that are no labels. It names the first, its row, and other unknown reports.

    With `words`, the message adds that words for yes and no are understood.
    """
    unknown_texts = list(dict.fromkeys(str(value)[:80] for value in values))
    others_text = f"; also found: {_checks.listing_text(unknown_texts[1:], 8)}" if len(unknown_texts) > 1 else ""
    hint = _checks.nearest(values[0], labels) + (" (or yes and no, true and false, 1 and 0)" if words else "")
    label_parts = [part.strip() for part in unknown_texts[0].split(";")]
    if len(label_parts) > 1 and set(label_parts) <= {str(label) for label in labels}:
        hint = f"it names {len(label_parts)} and the design takes one (discards={len(label_parts)} would take them)"
    problem = f"is {unknown_texts[0]!r}, which is not a {what} here; {hint}{others_text}"
    return AnswerError(problem, row=row, total=total, value=values[0])
