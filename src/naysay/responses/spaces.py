"""What people may report, and how columns, lists and boolean arrays of reports are encoded.

A report is a label (`Labels`) or a set of labels (`Subsets`, one bit per label). Reports come as lists, arrays and
columns; `Space.encode` reads their cells, and knows which words stand for yes and no, and which for no answer.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naysay import _checks
from naysay._values import Array, Label
from naysay.errors import AnswerError, DataError, DesignError

Codes = NDArray[np.int64]
MISSING = -1
LISTABLE = 200_000  # a space with more responses than this is never listed
_SHOWN = 5  # responses that a repr shows
_LETTERS = 30  # of each of them
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
    def encode(self, values: object) -> Codes:
        """Codes (n, width) of reports; -1 marks a missing report."""

    @abstractmethod
    def decode(self, codes: Codes) -> Array:
        """The reports that the codes stand for: labels (n,), or a boolean array (n, t) for sets."""

    @abstractmethod
    def texts(self, codes: Codes) -> list[str | None]:
        """Each report as one text (sets joined by ``;``); None where it is missing."""

    @abstractmethod
    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        """The linear statistic T of each response, (n, d)."""

    def total(self, codes: Codes, amounts: Array) -> Array:
        """Σ amount · T over these reports, (d,), for one amount a report; exact where amounts are whole."""
        label_totals = np.zeros(self.dimension, dtype=amounts.dtype)
        block_length = max(1, _ENTRIES // self.dimension)
        for block_start in range(0, len(codes), block_length):
            block_rows = slice(block_start, block_start + block_length)
            label_totals += amounts[block_rows] @ self.statistic(codes[block_rows]).astype(amounts.dtype)
        return label_totals

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
        listing = self.listing()
        distinct_codes, code_places = np.unique(np.vstack([listing, codes]), axis=0, return_inverse=True)
        place_of_code = np.full(len(distinct_codes), MISSING, dtype=np.int64)
        place_of_code[code_places.ravel()[: len(listing)]] = np.arange(len(listing))
        return np.asarray(place_of_code[code_places.ravel()[len(listing) :]])

    def at(self, places: NDArray[np.int64]) -> Codes:
        """The codes (n, width) of the responses with these numbers, each from 0 to `size` - 1."""
        return np.asarray(self.listing()[places])

    @cached_property
    def _listed(self) -> Codes:
        return _checks.read_only(self._all_codes())

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
        return self._listed

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


class OneNumber(Space):
    """Reports that are whole numbers from 0 to `size` - 1, each of which is its own code."""

    width = 1

    @property
    def numbered(self) -> bool:
        return True

    def places(self, codes: Codes) -> NDArray[np.int64]:
        return codes[:, 0]

    def at(self, places: NDArray[np.int64]) -> Codes:
        return places.reshape(-1, 1)

    def _all_codes(self) -> Codes:
        return np.arange(self.size, dtype=np.int64).reshape(-1, 1)


def _in_javascript(number: float) -> str:
    """A number as JavaScript writes it, which is how browsers report such a label.

    >>> [_in_javascript(number) for number in (1.0, 0.5, 1e16, 1e-5, 1e-7, 1e21)]
    ['1', '0.5', '10000000000000000', '0.00001', '1e-7', '1e+21']
    """
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return f"{Decimal(str(number + 0.0)):f}".removesuffix(".0")  # + 0.0: of -0.0 it writes 0
    return str(number).replace("e-0", "e-")


@dataclass(frozen=True)
class Labels(OneNumber):
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

    @property
    def size(self) -> int:
        return len(self.labels)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        places = range(len(self.labels))
        written = {_in_javascript(label): place for place, label in enumerate(self.labels) if isinstance(label, float)}
        texts = dict(zip(map(str, self.labels), places, strict=True))
        return written | texts | dict(zip(self.labels, places, strict=True))  # what is a label's own text stays its own

    @cached_property
    def _words(self) -> dict[str, int]:
        """The place of each word for yes and no; empty if the space does not understand such words."""
        label_meanings = [_TRUTH.get(word_of(label)) for label in self.labels]
        if len(self.labels) == 2 and None not in label_meanings and label_meanings[0] != label_meanings[1]:
            return {truth_word: label_meanings.index(word_truth) for truth_word, word_truth in _TRUTH.items()}
        if self.yes_no and label_meanings == [None, None]:
            return {truth_word: 0 if word_truth else 1 for truth_word, word_truth in _TRUTH.items()}
        return {}

    def position(self, value: object) -> int | None:
        """The place of one label; -1 if `value` is missing, None if it is not a label."""
        try:
            label_place = self._positions.get(value)
        except TypeError:  # an unhashable cell: a set or list that holds one label
            set_members = list(value) if isinstance(value, Iterable) else []
            return self.position(set_members[0]) if len(set_members) == 1 else None
        if label_place is None and _checks.is_missing(value):
            return MISSING
        if label_place is None and isinstance(value, frozenset | tuple) and len(value) == 1:
            return self.position(next(iter(value)))
        if (
            label_place is None
            and isinstance(value, int | float | Decimal | np.integer | np.floating)
            and value % 1 == 0
        ):
            label_place = self._positions.get(str(int(value)))
        if label_place is None and self._words and isinstance(value, str | bool | np.bool_ | np.number | int | float):
            return self._words.get(word_of(value))
        return label_place

    def encode(self, values: object, *, what: str = "response") -> Codes:
        """Codes of labels. An error message calls a label a `what`."""
        response_cells = cells_of(values)
        if isinstance(response_cells, np.ndarray):
            membership, is_missing = membership_of(response_cells, self.labels)
            label_counts = membership.sum(axis=1)
            is_wrong = (label_counts != 1) & ~is_missing
            if is_wrong.any():
                wrong_row = int(is_wrong.argmax())
                problem = f"names {int(label_counts[wrong_row])} labels; it must name one"
                raise AnswerError(problem, row=wrong_row, total=len(response_cells), value=self.labels)
            return np.where(is_missing, MISSING, membership.argmax(axis=1)).astype(np.int64).reshape(-1, 1)
        label_positions = self._positions
        try:
            label_places = [label_positions.get(response_cell) for response_cell in response_cells]
        except TypeError:
            label_places = [self.position(response_cell) for response_cell in response_cells]
        unresolved_rows = [row_number for row_number, label_place in enumerate(label_places) if label_place is None]
        for row_number in unresolved_rows:
            label_place = self.position(response_cells[row_number])
            if label_place is None:
                unknown_cells = [
                    response_cells[unknown_row]
                    for unknown_row in unresolved_rows
                    if self.position(response_cells[unknown_row]) is None
                ]
                raise unknown_label(
                    unknown_cells,
                    self.labels,
                    row=row_number,
                    total=len(response_cells),
                    what=what,
                    words=bool(self._words),
                )
            label_places[row_number] = label_place
        return np.array(label_places, dtype=np.int64).reshape(-1, 1)

    def decode(self, codes: Codes) -> Array:
        label_table = np.empty(len(self.labels) + 1, dtype=object)
        label_table[:-1] = self.labels
        label_array = label_table[codes[:, 0]]  # a missing report has code -1, which picks the trailing None
        label_types = {type(label) for label in self.labels}
        if self.missing(codes).any() or len(label_types) > 1 or tuple in label_types:
            return label_array
        return label_array.astype(np.asarray(self.labels).dtype)

    def texts(self, codes: Codes) -> list[str | None]:
        names = [*map(str, self.labels), None]
        return [names[code] for code in codes[:, 0].tolist()]

    def total(self, codes: Codes, amounts: Array) -> Array:
        result = np.zeros(len(self.labels), dtype=amounts.dtype)
        np.add.at(result, codes[:, 0], amounts)
        return result

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = np.zeros((len(codes), len(self.labels)))
        result[np.arange(len(codes)), codes[:, 0]] = 1.0
        result[self.missing(codes)] = np.nan
        return result

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
    >>> said
    <3 responses: no, yes, missing; 1 missing>
    """

    codes: Codes
    space: Space
    level: Array | None = None

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

    def __repr__(self) -> str:
        response_texts = self.take(slice(_SHOWN)).texts()
        shown_texts = ["missing" if text is None else _shortened(text) for text in response_texts]
        missing_count, noun = int(self.missing.sum()), "response" if len(self) == 1 else "responses"
        return (
            f"<{len(self):,} {noun}{': ' if shown_texts else ''}{', '.join(shown_texts)}"
            f"{', …' if len(self) > _SHOWN else ''}"
            f"{f'; {missing_count:,} missing' if missing_count else ''}>"
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001 (numpy's protocol)
        return np.asarray(self.space.decode(self.codes), dtype=dtype)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each report is missing, (n,)."""
        return self.space.missing(self.codes)

    def take(self, rows: Sequence[int] | NDArray[np.integer] | slice) -> Responses:
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


def _shortened(text: str) -> str:
    """A response as it is shown among others: on one line, and cut where it is long."""
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LETTERS else f"{one_line[: _LETTERS - 1]}…"


def cells_of(values: object) -> list[Any] | Array:
    """Answers as a list of cells, or as the 2-d array that they came in."""
    if isinstance(values, str):
        raise DataError(f"answers must be a sequence, one entry for each respondent; got the single text {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        masked_cells = zip(values.data.tolist(), np.ma.getmaskarray(values).tolist(), strict=True)
        return [None if is_missing else cell for cell, is_missing in masked_cells]
    for method_name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method_name) and not isinstance(values, np.ndarray):
            return list(getattr(values, method_name)())
    if isinstance(values, np.ndarray):
        return values if values.ndim == 2 else list(values.tolist())
    if isinstance(values, Iterable):
        return list(values)
    raise DataError(f"answers must be a sequence, one entry for each respondent; got {type(values).__name__}")


def columns_of(values: object, first: int = 1, second: int = 1) -> tuple[Any, Any]:
    """The answers to two questions, split into `first` and `second` columns; several columns make a tuple.

    `values` is a tuple of sequences, or an array (n, columns).
    """
    column_count = first + second
    answer_columns = values if isinstance(values, tuple) else ()
    if isinstance(values, np.ndarray) and values.ndim == 2:
        answer_columns = tuple(values.T)
    if len(answer_columns) != column_count:
        shape_words = {2: ("two", "(first, second)"), 3: ("three", "(first, second, third)")}
        number_word, shape_text = shape_words.get(column_count, (str(column_count), "(first, second, …)"))
        raise DataError(
            f"{number_word} questions to one person need {number_word} columns: "
            f"a tuple {shape_text} or an array of shape (n, {column_count})"
        )
    first_columns, second_columns = answer_columns[:first], answer_columns[first:]
    return first_columns[0] if first == 1 else first_columns, second_columns[0] if second == 1 else second_columns


def key_of(cell: object) -> Any:
    """The cell as a dictionary key."""
    key = tuple(cell) if isinstance(cell, list | np.ndarray) else frozenset(cell) if isinstance(cell, set) else cell
    try:
        hash(key)
    except TypeError:
        return repr(cell)
    return key


def membership_of(cells: Array, labels: Sequence[Label]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """From a 2-d array of 0/1, booleans or empty cells: membership (n, t), and which rows are missing."""
    if cells.shape[1] != len(labels):
        raise DataError(
            f"a boolean array of answers must have one column for each of the {len(labels)} categories; "
            f"got shape {cells.shape}"
        )
    if cells.dtype == bool:
        return cells, np.zeros(len(cells), dtype=bool)
    is_empty = (
        np.vectorize(_checks.is_missing, otypes=[bool])(cells) if cells.size else np.zeros(cells.shape, dtype=bool)
    )
    is_missing = is_empty.all(axis=1)
    is_partial = is_empty.any(axis=1) & ~is_missing
    if is_partial.any():
        partial_row = int(is_partial.argmax())
        problem = f"is only partly filled; give all {len(labels)} columns or none"
        raise AnswerError(problem, row=partial_row, total=len(cells), value=cells[partial_row].tolist())
    filled_cells = np.where(is_empty, 0, cells.astype(object))
    if not np.isin(filled_cells, [0, 1]).all():
        raise DataError("a 2-d array of answers must hold booleans (or 0 and 1), one column for each category")
    return np.asarray(filled_cells, dtype=bool), np.asarray(is_missing)


def word_of(value: object) -> str:
    """A cell as a word: True becomes ``true``; 1.0, as a number or as text, becomes ``1``."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    word = str(value).strip().casefold()
    return word[:-2] if word in ("1.0", "0.0") else word


def unknown_label(
    values: Sequence[object], labels: Sequence[Label], *, row: int, total: int, what: str, words: bool = False
) -> AnswerError:
    """The error for reports that are no labels. It names the first, its row, and other unknown reports.

    With `words`, the message adds that words for yes and no are understood.
    """
    unknown_texts = list(dict.fromkeys(str(unknown_report)[:80] for unknown_report in values))
    others_text = f"; also found: {_checks.listing_text(unknown_texts[1:], 8)}" if len(unknown_texts) > 1 else ""
    hint_text = _checks.nearest(values[0], labels) + (" (or yes and no, true and false, 1 and 0)" if words else "")
    label_parts = [text_part.strip() for text_part in unknown_texts[0].split(";")]
    if len(label_parts) > 1 and set(label_parts) <= {str(label) for label in labels}:
        hint_text = (
            f"it names {len(label_parts)} and the design takes one (discards={len(label_parts)} would take them)"
        )
    problem = f"is {unknown_texts[0]!r}, which is not a {what} here; {hint_text}{others_text}"
    return AnswerError(problem, row=row, total=total, value=values[0])


JOINER = ";"
_WORD_BLOCK = 2**16  # words that are counted at a time, so that they stay in the cache
_FEW = 48  # so few words are counted bit by bit
WORD = 62  # labels per int64 word of a set: sign bit free, so that -1 can mean missing


@dataclass(frozen=True)
class Subsets(Space):
    """A set of labels, stored as one bit per label.

    Parameters
    ----------
    labels : sequence of label
        The t labels from which sets are formed.
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
    sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checks.categories(self.labels))
        if not 0 <= self.least <= self.most <= len(self.labels):
            raise DesignError(f"set sizes must rise from 0 to {len(self.labels)}; got {self.least} to {self.most}")

    @property
    def width(self) -> int:
        return -(-len(self.labels) // WORD)

    @property
    def size(self) -> int:
        return sum(math.comb(len(self.labels), size) for size in range(self.least, self.most + 1))

    @property
    def constant_sum(self) -> bool:
        return self.least == self.most

    @cached_property
    def _single(self) -> Labels:
        return Labels(self.labels)

    @property
    def sized(self) -> str:
        """The allowed sizes in words."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"

    def encode(self, values: object) -> Codes:
        set_cells = cells_of(values)
        if isinstance(set_cells, np.ndarray):
            membership, is_missing = membership_of(set_cells, self.labels)
            codes = self.pack(membership & ~is_missing[:, None])
            codes[is_missing, 0] = MISSING
            return self._check_sizes(codes, set_cells)
        code_of_key: dict[Any, tuple[int, ...]] = {}
        cell_keys = [key_of(set_cell) for set_cell in set_cells]
        for row_number, (cell_key, set_cell) in enumerate(zip(cell_keys, set_cells, strict=True)):
            if cell_key not in code_of_key:
                code_of_key[cell_key] = self._encode_cell(set_cell, row_number, len(set_cells))
        code_rows = [code_of_key[cell_key] for cell_key in cell_keys]
        return self._check_sizes(np.array(code_rows, dtype=np.int64).reshape(-1, self.width), set_cells)

    def _encode_cell(self, cell: object, row: int, total: int) -> tuple[int, ...]:
        code_words = [0] * self.width
        if _checks.is_missing(cell):
            code_words[0] = MISSING
            return tuple(code_words)
        for member_label in self._members(cell, row, total):
            position = self._single.position(member_label)
            if position is None or position == MISSING:
                raise unknown_label([member_label], self.labels, row=row, total=total, what="response")
            bit = 1 << (position % WORD)
            if code_words[position // WORD] & bit:
                raise AnswerError(f"names {member_label!r} twice in {cell!r}", row=row, total=total, value=cell)
            code_words[position // WORD] |= bit
        return tuple(code_words)

    def _members(self, cell: object, row: int, total: int) -> Sequence[Any]:
        if isinstance(cell, str) and not cell.strip(JOINER):
            return []  # a lone joiner is how a text says "the empty set": an empty text is a missing answer
        if isinstance(cell, str):
            labels_with_joiner = [label for label in self.labels if JOINER in str(label)]
            if JOINER in cell and labels_with_joiner:
                raise AnswerError(
                    f"is {cell!r}, which cannot be split at ';' because the label {labels_with_joiner[0]!r} holds one; "
                    "rename the label, or give sets, lists or boolean columns",
                    row=row,
                    total=total,
                    value=cell,
                )
            return [
                cell_part.strip() if self._single.position(cell_part) is None else cell_part
                for cell_part in cell.split(JOINER)
            ]
        return list(cell) if isinstance(cell, Iterable) else [cell]

    def _check_sizes(self, codes: Codes, cells: Sequence[object] | Array) -> Codes:
        set_sizes = self.statistic(codes).sum(axis=1)
        is_wrong = ((set_sizes < self.least) | (set_sizes > self.most)) & ~self.missing(codes)
        if is_wrong.any():
            wrong_row = int(is_wrong.argmax())
            problem = (
                "is empty"
                if set_sizes[wrong_row] == 0
                else f"names {_checks.several(int(set_sizes[wrong_row]), 'category', 'categories')}"
            )
            if set_sizes[wrong_row] == len(self.labels):
                problem = "names every category, so that no category is left"
            raise AnswerError(
                f"{problem}; it must be a set of {self.sized} of the {len(self.labels)} categories",
                row=wrong_row,
                total=len(codes),
                value=cells[wrong_row],
            )
        return codes

    def pack(self, membership: NDArray[np.bool_]) -> Codes:
        """Codes of a boolean membership array (n, t)."""
        codes = np.zeros((len(membership), self.width), dtype=np.int64)
        for position in range(len(self.labels)):
            codes[:, position // WORD] |= membership[:, position].astype(np.int64) << (position % WORD)
        return codes

    def decode(self, codes: Codes) -> Array:
        result = np.empty((len(codes), len(self.labels)), dtype=bool)
        for position in range(len(self.labels)):
            result[:, position] = (codes[:, position // WORD] >> (position % WORD)) & 1
        result[self.missing(codes)] = False
        return result

    def texts(self, codes: Codes) -> list[str | None]:
        label_texts = [str(label) for label in self.labels]
        return [
            None if is_missing else JOINER.join(itertools.compress(label_texts, membership_row)) or JOINER
            for membership_row, is_missing in zip(
                self.decode(codes).tolist(), self.missing(codes).tolist(), strict=True
            )
        ]

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = self.decode(codes).astype(np.float64)
        result[self.missing(codes)] = np.nan
        return result

    def frequencies(self, codes: Codes) -> NDArray[np.int64]:
        """How many of these sets hold each label, (t,).

        A full adder turns three words into one of the same weight and one of twice the weight, for all bits at once.
        """
        bit_counts, bit_places = np.zeros((codes.shape[1], WORD), dtype=np.int64), np.arange(WORD)
        for block_start in range(0, len(codes), _WORD_BLOCK):
            word_plane, plane_weight = codes[block_start : block_start + _WORD_BLOCK], 1
            while len(word_plane):
                carry_planes = []
                while len(word_plane) > _FEW:
                    third_length = len(word_plane) // 3
                    a, b, c = word_plane[: 3 * third_length].reshape(3, third_length, -1)
                    either = a ^ b
                    carry_planes.append((a & b) | (either & c))
                    word_plane = np.concatenate([either ^ c, word_plane[3 * third_length :]])
                bit_counts += plane_weight * ((word_plane[:, :, None] >> bit_places) & 1).sum(axis=0)
                word_plane = np.concatenate(carry_planes) if carry_planes else word_plane[:0]
                plane_weight *= 2
        return bit_counts.ravel()[: len(self.labels)]

    def sizes(self, codes: Codes) -> NDArray[np.int64]:
        counts = np.zeros(len(codes), dtype=np.int64)
        for column in codes.T:
            counts += np.bitwise_count(column)
        return counts

    def _all_codes(self) -> Codes:
        t = len(self.labels)
        member_sets = [
            member_places
            for set_size in range(self.least, self.most + 1)
            for member_places in itertools.combinations(range(t), set_size)
        ]
        membership = np.zeros((len(member_sets), t), dtype=bool)
        for set_number, member_places in enumerate(member_sets):
            membership[set_number, list(member_places)] = True
        return self.pack(membership)

    def at_random(self, n: int, below: Callable[[int, int], NDArray[np.int64]]) -> Codes:
        if not self.constant_sum:
            return super().at_random(n, below)
        t = len(self.labels)
        still_needed = np.full(n, self.least, dtype=np.int64)
        membership = np.zeros((n, t), dtype=bool)
        for label_place in range(t):  # take each with chance (still needed) / (still to come)
            membership[:, label_place] = below(t - label_place, n) < still_needed
            still_needed -= membership[:, label_place]
        return self.pack(membership)

    def form(self) -> dict[str, Any]:
        return {"space": "subsets", "labels": list(self.labels), "least": self.least, "most": self.most}


@dataclass(frozen=True)
class Bits(Subsets):
    """Any set of labels, one bit each. The empty set and the full set are also reports.

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

    @property
    def numbered(self) -> bool:
        """False: a bit for each label is the number, for every client alike."""
        return False

    def form(self) -> dict[str, Any]:
        return {"space": "bits", "labels": list(self.labels)}
