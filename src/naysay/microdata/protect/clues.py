"""What the other columns of a release tell of the cells that it hides.

A cell of a key is hidden where people with different true values show the same: it was emptied, or made coarser. The
intruder knows how columns go together, from the rows that show both, from documentation, or from the world: schooling
in years tells the degree, and a year of birth the age. Each other column is tried, alone and in pairs. A value of it
tells of a key if the people who have it hold few values of the key, with an evidence that chance does not give, and if
that also holds for the very cells that are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from naysay import _checks
from naysay.microdata.keys.table import texts_of_values

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

ROW_ORDER = "the order of rows"
"""What a hint calls the place of a row, which is a column like others."""

_TAIL = 0.05  # of the people with one value, whose rarer values of the key are left out of what it tells
_EVIDENCE = 10.0  # nats, and the logarithm of the number of values that are judged: chance gives it once in 22,000
_FEW = 8  # people with one value, below which values are judged together
_RIGHT = 0.8  # of what is told about hidden cells
_RULED_OUT = 1 / 3  # of the people who show the same, at least
_GROUPS = 100  # into which numbers of more values are put, by rank
_WORK = 400_000_000  # cells of pairs of columns that are tried
_SIZES = (5, 25)  # of groups of neighbors, in a column that can be sorted


@dataclass(frozen=True)
class Hint:
    """What one column, or two, tell of a key.

    Parameters
    ----------
    columns : tuple of str
    key : str
    hidden : int
        Cells of the key that the release hides.
    implied : int
        Of these, cells whose value they tell.
    narrowed : int
        Of these, cells of which they rule out much and leave several values.
    """

    columns: tuple[str, ...]
    key: str
    hidden: int
    implied: int
    narrowed: int

    def __str__(self) -> str:
        who = " and ".join(map(repr, self.columns))
        ways = [f"{self.implied:,} are read back"] if self.implied else []
        ways += [f"{self.narrowed:,} are narrowed"] if self.narrowed else []
        of = f"of {_checks.several(self.hidden, 'cell', 'cells')} of {self.key!r} that the release hides"
        return f"{of}, {' and '.join(ways)} by {who}"

    def to_dict(self) -> dict[str, object]:
        """As one JSON object with stable names."""
        json_fields = {"columns": list(self.columns), "key": self.key}
        return json_fields | {"hidden": self.hidden, "implied": self.implied, "narrowed": self.narrowed}


@dataclass(frozen=True, eq=False)
class Hints:
    """All hints, and what they tell of each row.

    Parameters
    ----------
    hints : tuple of Hint
    claim_numbers : mapping of key to (n,) int
        A number for what is told of the cell of each row: equal ones are told the same, and 0 is nothing.
    pairs : bool
        Whether all pairs of columns were tried.
    """

    hints: tuple[Hint, ...]
    claim_numbers: Mapping[str, Codes]
    pairs: bool


@dataclass(frozen=True, eq=False)
class _Hidden:
    """A key, as it truly is and as it is shown.

    Parameters
    ----------
    truth : (n,) int
        True values, -1 where they are not known.
    shown_codes : (n,) int
        What each row shows, from 0.
    within : (shown, values) sparse float
        The share of each true value among the rows that show the same.
    cells : (n,) bool
        Whether the cell is hidden.
    """

    truth: Codes
    shown_codes: Codes
    within: sparse.csr_array
    cells: Flags

    @classmethod
    def of(cls, true_column: pl.Series, shown_column: pl.Series, *, moved: bool) -> _Hidden:
        truth = rank_codes(true_column, _GROUPS)
        shown_codes = np.zeros(len(truth), np.int64) if moved else _codes(shown_column)
        is_known = truth >= 0
        size = (int(shown_codes.max(initial=0)) + 1, int(truth.max(initial=0)) + 1)
        table = sparse.csr_array((np.ones(is_known.sum()), (shown_codes[is_known], truth[is_known])), shape=size)
        table.sum_duplicates()
        several = np.diff(table.indptr) > 1
        total = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
        within = sparse.csr_array(sparse.diags_array(1 / total) @ table)
        return cls(truth, shown_codes, within, is_known & several[shown_codes])


@dataclass(frozen=True, eq=False)
class _Claim:
    """What a column tells of hidden cells: which ones, of how many values, whether it is right, and a number for it."""

    rows: Codes
    values: Codes
    right: Flags
    number: Codes


def hints(
    original: pl.DataFrame,
    released: pl.DataFrame,
    keys: Sequence[str],
    *,
    moved: Collection[str] = (),
    ordered: bool = False,
    alone: Collection[str] = (),
) -> Hints:
    """What other columns of a release tell of its keys.

    Parameters
    ----------
    original, released : DataFrame
        Row by row the same people.
    keys : sequence of str
    moved : collection of str
        Keys that may hold other values than the true ones, such as after noise; all their cells are hidden.
    ordered : bool
        Whether the rows stand in the order of the original, which may tell, too.
    alone : collection of str
        Columns that are not tried in pairs.

    Examples
    --------
    >>> from naysay.microdata.protect.clues import hints
    >>> people = pl.DataFrame({"school": ["low", "high"] * 50, "years": [9, 16] * 50})
    >>> shown = people.with_columns(pl.when(pl.int_range(100) > 3).then("school").alias("school"))
    >>> print(*hints(people, shown, ["school"]).hints)
    of 4 cells of 'school' that the release hides, 4 are read back by 'years'
    """
    key_names = [name for name in keys if name in released.columns and not original.schema[name].is_nested()]
    hidden = {name: _Hidden.of(original[name], released[name], moved=name in moved) for name in key_names}
    hidden = {name: key for name, key in hidden.items() if key.cells.any()}
    other_columns = [
        released[name] for name in released.columns if name not in keys and not released.schema[name].is_nested()
    ]
    other_columns += [pl.int_range(released.height, eager=True).alias(ROW_ORDER)] if ordered else []
    column_hints: list[Hint] = []
    claim_numbers = {name: np.zeros(released.height, np.int64) for name in hidden}

    def try_columns(columns: tuple[str, ...], views: Iterator[Codes], name: str, least: int = 0) -> int:
        """The cells that columns tell of, by the view that tells most; kept if they are more than the least."""
        best = max((claim for view in views if (claim := _claim(view, hidden[name]))), key=_weight, default=None)
        if best is None or best.right.sum() <= least:
            return 0
        is_read_back = best.right & (best.values == 1)
        hint = Hint(
            columns,
            name,
            int(hidden[name].cells.sum()),
            int(is_read_back.sum()),
            int((best.right & ~is_read_back).sum()),
        )
        column_hints.append(hint)
        # what several hints tell together is told by the tuple of their numbers
        claim_numbers[name][best.rows] = claim_numbers[name][best.rows] * 1_000_003 + best.number + len(column_hints)
        return int(best.right.sum())

    cells = {
        (column.name, name): try_columns((column.name,), _views(column, original[name]), name)
        for column in other_columns
        for name in hidden
    }
    small = {
        column.name: rank_codes(column, _GROUPS, gaps=True)
        for column in other_columns
        if column.name not in (ROW_ORDER, *alone)
    }
    small = {name: view for name, view in small.items() if view.max(initial=0) > 0}
    room = _WORK // max(released.height * len(hidden), 1)
    pairs = list(combinations(small, 2))
    for pair in pairs[:room]:
        view = small[pair[0]] * (small[pair[1]].max() + 1) + small[pair[1]]
        for name in hidden:  # a pair must tell of half as many cells again as its columns do
            try_columns(pair, iter([view]), name, 3 * max(cells[column, name] for column in pair) // 2)
    return Hints(tuple(column_hints), claim_numbers, len(pairs) <= room)


def _weight(claim: _Claim) -> tuple[int, int]:
    """What makes a claim the stronger one: cells read back, then cells told of."""
    return int((claim.right & (claim.values == 1)).sum()), int(claim.right.sum())


def _claim(view: Codes, key: _Hidden) -> _Claim | None:
    """What the values of a view tell of the hidden cells of a key; None where they tell nothing."""
    is_known = key.truth >= 0
    several = key.within.shape[1]
    cells, inverse, count = np.unique(
        view[is_known] * several + key.truth[is_known], return_inverse=True, return_counts=True
    )
    group, value = np.divmod(cells, several)
    groups = int(view.max(initial=0)) + 1
    people = np.bincount(group, count, groups).astype(float)
    order = np.lexsort((count, group))
    rank = np.empty(len(order))
    rank[order] = np.cumsum(count[order]) - np.repeat(
        (np.cumsum(people) - people)[np.unique(group)], np.unique(group, return_counts=True)[1]
    )
    member = rank > _TAIL * people[group]
    has_others = member & (count > 1)  # a person's own row is no evidence about them
    is_accepted = _telling_values(group, value, count, member, has_others, people)
    row_right = np.zeros(len(view), np.bool_)
    row_right[is_known] = has_others[inverse]
    rows = np.flatnonzero(key.cells & is_accepted[view])
    if not len(rows):
        return None
    shape = (groups, several)
    sets = sparse.csr_array((np.ones(member.sum()), (group[member], value[member])), shape=shape)
    pairs, place = np.unique(view[rows] * key.within.shape[0] + key.shown_codes[rows], return_inverse=True)
    view_group, shown_code = np.divmod(pairs, key.within.shape[0])
    shared_values = sparse.csr_array(sets[view_group].multiply(key.within[shown_code]))
    share = np.asarray(shared_values.sum(axis=1), float).ravel()
    size = np.diff(shared_values.indptr)
    narrow = (share < 1 - 1e-9) & ((size == 1) | (share <= 1 - _RULED_OUT))
    shared_values.data = np.random.default_rng(0).integers(1, 2**40, several)[shared_values.indices].astype(float)
    number = np.asarray(shared_values.sum(axis=1)).ravel().astype(np.int64)
    is_narrow = narrow[place]
    rows, place = rows[is_narrow], place[is_narrow]
    rows, place = _confirm_claims(rows, place, view, row_right, share)
    return _Claim(rows, size[place], row_right[rows], number[place]) if len(rows) and row_right[rows].any() else None


def _telling_values(
    group: Codes, value: Codes, count: Codes, member: Flags, has_others: Flags, people: Floats
) -> Flags:
    """The values that tell of the key among all people, more than chance does; rare ones are judged together."""
    groups = len(people)
    share = np.bincount(value, count) / count.sum()
    mass = np.bincount(group, share[value] * member, groups)[group]
    mass = np.clip(
        np.where(member & ~has_others, mass - share[value], mass), 1e-9, 1 - 1e-9
    )  # without a person's own row
    # the first of several people with one value is no evidence: it is what the others are judged by
    bits = np.where(has_others, (count - 1) * np.log((1 - _TAIL) / mass), count * np.log(_TAIL / (1 - mass)))
    evidence, wrong = np.bincount(group, bits, groups), np.bincount(group, count * ~has_others, groups)
    least_evidence = _EVIDENCE + np.log(groups)
    rare = (people > 1) & (people < _FEW)
    together = rare.any() and evidence[rare].sum() >= least_evidence and wrong[rare].sum() <= 0.1 * people[rare].sum()
    is_accepted: Flags = (people >= _FEW) & (evidence >= least_evidence) & (wrong <= 0.1 * people) | (rare & together)
    return is_accepted


def _confirm_claims(rows: Codes, place: Codes, view: Codes, right: Flags, share: Floats) -> tuple[Codes, Codes]:
    """The claims that also hold for hidden cells: what is hidden is rare, and may be what a value does not imply."""
    row_value = view[rows]
    claims_per_value = np.bincount(row_value)
    group = np.where(
        claims_per_value[row_value] >= _FEW, row_value + 1, 0
    )  # few claims of one value are judged with the others like it
    total = np.bincount(group).astype(float)
    hits = np.bincount(group, right[rows])
    chance = np.bincount(group, share[place])
    good = (hits >= _RIGHT * total) & (total - hits <= 0.5 * (total - chance))
    stay = good[group] if len(rows) else np.zeros(0, np.bool_)
    return rows[stay], place[stay]


def _views(column: pl.Series, key: pl.Series) -> Iterator[Codes]:
    """A column as groups of equal cells, of neighbors in its order, and of cells that hold one value of the key."""
    plain = _codes(column)
    yield plain
    if plain.max(initial=0) < 30:
        return
    rank = _order(column)
    for size in (*_SIZES, max(len(column) // 20, 50)):
        yield rank // size
    if column.dtype == pl.String and column.str.len_chars().sum() > 12 * len(column):
        values = [
            value_text for value_text in texts_of_values(key).drop_nulls().unique().to_list() if len(value_text) > 1
        ]
        if 1 < len(values) <= 2_000:
            words = sorted(map(re.escape, values), key=len, reverse=True)
            yield _codes(column.str.to_lowercase().str.extract(rf"\b({'|'.join(words).lower()})\b"))


def _codes(column: pl.Series) -> Codes:
    """A number from 1 for each value of a column, and 0 for gaps."""
    return texts_of_values(column).rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _order(column: pl.Series) -> Codes:
    """The place of each cell in the order of its column: numbers by size, texts by letters; equal cells share one."""
    number = column.cast(pl.Float64, strict=False) if not column.dtype.is_temporal() else column.to_physical()
    numbers = number.null_count() <= column.null_count() + 0.05 * len(column)
    return (number if numbers else texts_of_values(column)).rank("min").fill_null(0).to_numpy().astype(np.int64)


def rank_codes(column: pl.Series, most: int, *, gaps: bool = False) -> Codes:
    """Values as numbers; numbers of more values in groups of near ones. A gap is -1, or 0 below all values."""
    codes = _codes(column) - (0 if gaps else 1)
    if codes.max(initial=0) <= most:
        return codes
    rank = _order(column)
    number = column.cast(pl.Float64, strict=False) if not column.dtype.is_temporal() else column.to_physical()
    if number.null_count() > column.null_count() + 0.05 * len(column):
        return codes if not gaps else rank * most // max(len(rank), 1)
    return np.where(codes < (1 if gaps else 0), codes, rank * most // (len(rank) + 1) + (1 if gaps else 0))
