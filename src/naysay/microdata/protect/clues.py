"""What the other columns of a release tell: for sure, of the cells that it hides, and loosely, of whose row is whose.

For sure (`hints`). A cell of a key is hidden where people with different true values show the same: it was emptied, or
made coarser. The intruder knows how columns go together, from the rows that show both, from documentation, or from the
world: schooling in years tells the degree, and a year of birth the age. Each other column is tried, alone and in
pairs. A value of it tells of a key if the people who have it hold few values of the key, with an evidence that chance
does not give, and if that also holds for the very cells that are hidden.

Loosely (`weighing`). An intruder who knows everybody's keys repeats the steps, and weighs all other columns. Rows that
read the same belong to people whose true keys may differ. What goes together with a key makes some of these people
likelier owners of a row than others. The likelihoods are those of the original, which the intruder at best comes near
to. Those of a class are counted without its rows, so that chance tells nothing and rows that show the same are equally
likely.

Some columns name people or households without more (`naming`, `numbers_of_people`, `grouping`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from naysay import _checks
from naysay._values import Flags, Floats
from naysay.microdata.keys.codes import texts_of_values
from naysay.microdata.protect.method import texts

Codes = NDArray[np.int64]

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
        pair_counts = sparse.csr_array((np.ones(is_known.sum()), (shown_codes[is_known], truth[is_known])), shape=size)
        pair_counts.sum_duplicates()
        has_several = np.diff(pair_counts.indptr) > 1
        total = np.maximum(np.asarray(pair_counts.sum(axis=1)).ravel(), 1)
        within = sparse.csr_array(sparse.diags_array(1 / total) @ pair_counts)
        return cls(truth, shown_codes, within, is_known & has_several[shown_codes])


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
    key_names = [
        key_name for key_name in keys if key_name in released.columns and not original.schema[key_name].is_nested()
    ]
    hidden_keys = {
        key_name: _Hidden.of(original[key_name], released[key_name], moved=key_name in moved) for key_name in key_names
    }
    hidden_keys = {key_name: key for key_name, key in hidden_keys.items() if key.cells.any()}
    other_columns = [
        released[column_name]
        for column_name in released.columns
        if column_name not in keys and not released.schema[column_name].is_nested()
    ]
    other_columns += [pl.int_range(released.height, eager=True).alias(ROW_ORDER)] if ordered else []
    column_hints: list[Hint] = []
    claim_numbers = {key_name: np.zeros(released.height, np.int64) for key_name in hidden_keys}

    def try_columns(columns: tuple[str, ...], views: Iterator[Codes], name: str, least: int = 0) -> int:
        """The cells that columns tell of, by the view that tells most; kept if they are more than the least."""
        claims = [claim for view in views if (claim := _claim(view, hidden_keys[name]))]
        # the stronger one has more cells read back, then more cells told of
        best_claim = max(
            claims,
            key=lambda claim: (int((claim.right & (claim.values == 1)).sum()), int(claim.right.sum())),
            default=None,
        )
        if best_claim is None or best_claim.right.sum() <= least:
            return 0
        told_count, read_back = int(best_claim.right.sum()), int((best_claim.right & (best_claim.values == 1)).sum())
        hidden_count = int(hidden_keys[name].cells.sum())
        column_hints.append(Hint(columns, name, hidden_count, read_back, told_count - read_back))
        # what several hints tell together is told by the tuple of their numbers
        claim_numbers[name][best_claim.rows] = (
            claim_numbers[name][best_claim.rows] * 1_000_003 + best_claim.number + len(column_hints)
        )
        return told_count

    claimed_counts = {
        (other_column.name, key_name): try_columns(
            (other_column.name,), _views(other_column, original[key_name]), key_name
        )
        for other_column in other_columns
        for key_name in hidden_keys
    }
    pairable_views = {
        other_column.name: column_view
        for other_column in other_columns
        if other_column.name not in (ROW_ORDER, *alone)
        and (column_view := rank_codes(other_column, _GROUPS, gaps=True)).max(initial=0) > 0
    }
    pair_limit = _WORK // max(released.height * len(hidden_keys), 1)
    column_pairs = list(combinations(pairable_views, 2))
    for column_pair in column_pairs[:pair_limit]:
        first_view, second_view = (pairable_views[column_name] for column_name in column_pair)
        column_view = first_view * (second_view.max() + 1) + second_view
        for key_name in hidden_keys:  # a pair must tell of half as many cells again as its columns do
            least = 3 * max(claimed_counts[column_name, key_name] for column_name in column_pair) // 2
            try_columns(column_pair, iter([column_view]), key_name, least)
    return Hints(tuple(column_hints), claim_numbers, len(column_pairs) <= pair_limit)


def _claim(view: Codes, key: _Hidden) -> _Claim | None:
    """What the values of a view tell of the hidden cells of a key; None where they tell nothing."""
    is_known = key.truth >= 0
    value_count = key.within.shape[1]
    pair_codes, pair_of_row, pair_counts = np.unique(
        view[is_known] * value_count + key.truth[is_known], return_inverse=True, return_counts=True
    )
    pair_group, pair_value = np.divmod(pair_codes, value_count)
    group_count = int(view.max(initial=0)) + 1
    people_per_group = np.bincount(pair_group, pair_counts, group_count).astype(float)
    pair_order = np.lexsort((pair_counts, pair_group))
    people_rank = np.empty(len(pair_order))
    people_rank[pair_order] = np.cumsum(pair_counts[pair_order]) - np.repeat(
        (np.cumsum(people_per_group) - people_per_group)[np.unique(pair_group)],
        np.unique(pair_group, return_counts=True)[1],
    )
    is_typical = people_rank > _TAIL * people_per_group[pair_group]
    has_others = is_typical & (pair_counts > 1)  # a person's own row is no evidence about them
    is_accepted = _telling_values(pair_group, pair_value, pair_counts, is_typical, has_others, people_per_group)
    row_right = np.zeros(len(view), np.bool_)
    row_right[is_known] = has_others[pair_of_row]
    claim_rows = np.flatnonzero(key.cells & is_accepted[view])
    if not len(claim_rows):
        return None
    shape = (group_count, value_count)
    group_values = sparse.csr_array(
        (np.ones(is_typical.sum()), (pair_group[is_typical], pair_value[is_typical])), shape=shape
    )
    pairs, pair_place = np.unique(
        view[claim_rows] * key.within.shape[0] + key.shown_codes[claim_rows], return_inverse=True
    )
    view_group, shown_code = np.divmod(pairs, key.within.shape[0])
    shared_values = sparse.csr_array(group_values[view_group].multiply(key.within[shown_code]))
    remaining_share = np.asarray(shared_values.sum(axis=1), float).ravel()
    remaining_count = np.diff(shared_values.indptr)
    is_narrow_pair = (remaining_share < 1 - 1e-9) & ((remaining_count == 1) | (remaining_share <= 1 - _RULED_OUT))
    shared_values.data = np.random.default_rng(0).integers(1, 2**40, value_count)[shared_values.indices].astype(float)
    claim_number = np.asarray(shared_values.sum(axis=1)).ravel().astype(np.int64)
    is_narrow = is_narrow_pair[pair_place]
    claim_rows, pair_place = claim_rows[is_narrow], pair_place[is_narrow]
    claim_rows, pair_place = _confirm_claims(claim_rows, pair_place, view, row_right, remaining_share)
    return (
        _Claim(claim_rows, remaining_count[pair_place], row_right[claim_rows], claim_number[pair_place])
        if len(claim_rows) and row_right[claim_rows].any()
        else None
    )


def _telling_values(
    group: Codes, value: Codes, count: Codes, member: Flags, has_others: Flags, people: Floats
) -> Flags:
    """The values that tell of the key among all people, more than chance does; rare ones are judged together."""
    group_count = len(people)
    value_shares = np.bincount(value, count) / count.sum()
    chance_mass = np.bincount(group, value_shares[value] * member, group_count)[group]
    # without a person's own row
    others_mass = np.where(member & ~has_others, chance_mass - value_shares[value], chance_mass)
    chance_mass = np.clip(others_mass, 1e-9, 1 - 1e-9)
    # the first of several people with one value is no evidence: it is what the others are judged by
    pair_evidence = np.where(
        has_others, (count - 1) * np.log((1 - _TAIL) / chance_mass), count * np.log(_TAIL / (1 - chance_mass))
    )
    group_evidence = np.bincount(group, pair_evidence, group_count)
    wrong_people = np.bincount(group, count * ~has_others, group_count)
    least_evidence = _EVIDENCE + np.log(group_count)
    is_rare = (people > 1) & (people < _FEW)
    together = (
        is_rare.any()
        and group_evidence[is_rare].sum() >= least_evidence
        and wrong_people[is_rare].sum() <= 0.1 * people[is_rare].sum()
    )
    is_accepted: Flags = (people >= _FEW) & (group_evidence >= least_evidence) & (wrong_people <= 0.1 * people) | (
        is_rare & together
    )
    return is_accepted


def _confirm_claims(rows: Codes, place: Codes, view: Codes, right: Flags, share: Floats) -> tuple[Codes, Codes]:
    """The claims that also hold for hidden cells: what is hidden is rare, and may be what a value does not imply."""
    row_value = view[rows]
    claims_per_value = np.bincount(row_value)
    # few claims of one value are judged with the others like it
    claim_group = np.where(claims_per_value[row_value] >= _FEW, row_value + 1, 0)
    group_sizes = np.bincount(claim_group).astype(float)
    group_hits = np.bincount(claim_group, right[rows])
    chance_hits = np.bincount(claim_group, share[place])
    good = (group_hits >= _RIGHT * group_sizes) & (group_sizes - group_hits <= 0.5 * (group_sizes - chance_hits))
    is_confirmed = good[claim_group] if len(rows) else np.zeros(0, np.bool_)
    return rows[is_confirmed], place[is_confirmed]


def _views(column: pl.Series, key: pl.Series) -> Iterator[Codes]:
    """A column as groups of equal cells, of neighbors in its order, and of cells that hold one value of the key."""
    plain_codes = _codes(column)
    yield plain_codes
    if plain_codes.max(initial=0) < 30:
        return
    cell_ranks = _order(column)
    for size in (*_SIZES, max(len(column) // 20, 50)):
        yield cell_ranks // size
    if column.dtype == pl.String and column.str.len_chars().sum() > 12 * len(column):
        key_texts = [
            value_text for value_text in texts_of_values(key).drop_nulls().unique().to_list() if len(value_text) > 1
        ]
        if 1 < len(key_texts) <= 2_000:
            words = sorted(map(re.escape, key_texts), key=len, reverse=True)
            yield _codes(column.str.to_lowercase().str.extract(rf"\b({'|'.join(words).lower()})\b"))


def _codes(column: pl.Series) -> Codes:
    """A number from 1 for each value of a column, and 0 for gaps."""
    return texts_of_values(column).rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _order(column: pl.Series) -> Codes:
    """The place of each cell in the order of its column: numbers by size, texts by letters; equal cells share one."""
    numbers = _numbers(column)
    sortable = texts_of_values(column) if numbers is None else numbers
    return sortable.rank("min").fill_null(0).to_numpy().astype(np.int64)


def _numbers(column: pl.Series) -> pl.Series | None:
    """A column as numbers; None if more than one cell in twenty is none."""
    numbers = column.to_physical() if column.dtype.is_temporal() else column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() <= column.null_count() + 0.05 * len(column) else None


def rank_codes(column: pl.Series, most: int, *, gaps: bool = False) -> Codes:
    """Values as numbers; numbers of more values in groups of near ones. A gap is -1, or 0 below all values."""
    value_codes = _codes(column) - (0 if gaps else 1)
    if value_codes.max(initial=0) <= most:
        return value_codes
    cell_ranks = _order(column)
    if _numbers(column) is None:
        return value_codes if not gaps else cell_ranks * most // max(len(cell_ranks), 1)
    return np.where(
        value_codes < (1 if gaps else 0), value_codes, cell_ranks * most // (len(cell_ranks) + 1) + (1 if gaps else 0)
    )


_GROUP_NUMBERS = (8, 25)  # into which numbers of more values are put, by rank; the ones are taken that tell more
_FILE_WEIGHTS = (1.0, 10.0, 100.0)  # of the whole file, in people, beside those who have one value of a key
_LEARNED = 20_000  # rows from which likelihoods are counted
_CLASS = 25  # rows of one class that are weighed against each other; the rest are learned from
_FOLDS = 10  # of classes, each weighed by what the others teach
_PAIRS = 300_000  # of a person and a row
_MOST_PAIRED = 12  # columns that are weighed in pairs, those that tell most alone
_MOST_PAIRS = 45  # of keys
_MOST_CLUES = 60
_TRUST = (1.0, 0.5, 0.2)  # in clues that overlap, which count the same knowledge twice
_CLUE_EVIDENCE = 12.0  # nats by which a clue foretells left-out rows better than none: chance hardly gives them
_ROUNDS = 10  # of making everybody own one row, and every row belong to one person


@dataclass(frozen=True, eq=False)
class _Clue:
    """How a column goes together with a key: counts of both, and the weight of the whole file."""

    key: Codes
    column: Codes
    weight: float
    is_learned: Flags
    joint_counts: Floats
    gain: float

    @classmethod
    def of(cls, keys: Sequence[Codes], columns: Sequence[Codes], is_learned: Flags) -> _Clue | None:
        """The groups and the weight that foretell left-out rows best; None where nothing is foretold."""
        best_clue, most_gain = None, _CLUE_EVIDENCE
        for key_codes in keys:
            for column_codes in columns:
                table_shape = (int(key_codes.max(initial=0)) + 1, int(column_codes.max(initial=0)) + 1)
                if min(table_shape) < 2:
                    continue
                number = np.bincount(
                    (key_codes * table_shape[1] + column_codes)[is_learned], minlength=table_shape[0] * table_shape[1]
                )
                joint_counts = number.astype(float).reshape(table_shape)
                of_key, of_column = joint_counts.sum(axis=1, keepdims=True), joint_counts.sum(axis=0, keepdims=True)
                for weight in _FILE_WEIGHTS:
                    ratio = _ratio(joint_counts - 1, of_key - 1, of_column - 1, joint_counts.sum() - 1, weight)
                    gain = float((joint_counts * np.log(np.where(joint_counts > 0, ratio, 1.0))).sum())
                    if gain > most_gain:
                        best_clue = cls(key_codes, column_codes, weight, is_learned, joint_counts, gain)
                        most_gain = gain
        return best_clue

    def bits(self, person: Codes, row: Codes, fold: Codes) -> Floats:
        """The log likelihood ratio of what a row shows, given the person's key, counted without their fold."""
        table_shape = self.joint_counts.shape
        cell_places = (fold * table_shape[0] + self.key) * table_shape[1] + self.column
        fold_counts = np.bincount(
            cell_places[self.is_learned & (fold >= 0)], minlength=_FOLDS * self.joint_counts.size
        ).reshape(_FOLDS, *table_shape)
        joint_counts = self.joint_counts - fold_counts
        likelihood_ratio = _ratio(
            joint_counts,
            joint_counts.sum(axis=2, keepdims=True),
            joint_counts.sum(axis=1, keepdims=True),
            joint_counts.sum(axis=(1, 2), keepdims=True),
            self.weight,
        )
        log_ratios: Floats = np.log(likelihood_ratio)[fold[person], self.key[person], self.column[row]]
        return log_ratios


def _ratio(joint_counts: Floats, of_key: Floats, of_column: Floats, rows: Floats | float, weight: float) -> Floats:
    share = np.maximum(of_column, 0.5) / np.maximum(rows, 1.0)
    ratios: Floats = (np.maximum(joint_counts, 0.0) + weight * share) / ((np.maximum(of_key, 0.0) + weight) * share)
    return ratios


def weighing(true: Sequence[pl.Series], columns: Sequence[pl.Series], classes: Codes) -> float:
    """The mean number of people, of all in the release, whose row is found.

    Parameters
    ----------
    true : sequence of (n,) Series
        The keys of each person, as the original holds them.
    columns : sequence of (n,) Series
        What the release shows of other columns.
    classes : (n,) int
        Rows of one class read the same, from 0.

    Notes
    -----
    Columns are weighed alone and in pairs, with keys alone and in pairs, and their likelihoods are multiplied (naive
    Bayes), also with less trust where they overlap. Classes are sampled where there are many, and so are the rows from
    which likelihoods are counted. It is at least one person for each class, which is what picking at random achieves.

    Examples
    --------
    >>> age, shown = pl.Series([20, 70] * 100), pl.Series(["bike", "car"] * 100)
    >>> weighing([age], [], np.zeros(200, np.int64)), round(weighing([age], [shown], np.zeros(200, np.int64)))
    (1.0, 2)
    """
    class_sizes = np.bincount(classes)
    chance_matches = float((class_sizes > 0).sum())
    random = np.random.default_rng(0)
    n = len(classes)
    is_learned = np.ones(n, np.bool_) if n <= _LEARNED else random.permutation(n) < _LEARNED
    first_rows = np.zeros(len(class_sizes), np.int64)
    first_rows[classes[::-1]] = np.arange(n)[::-1]
    is_mixed = np.zeros(len(class_sizes), np.bool_)  # classes of people whose true keys differ
    hidden_keys: list[list[Codes]] = []
    shown_keys: list[list[Codes]] = []
    for key in true:
        key_views = _group_views(key)
        differs_from_first = key_views[-1] != key_views[-1][first_rows[classes]]
        is_mixed[classes[differs_from_first]] = True
        (hidden_keys if differs_from_first.any() else shown_keys).append(key_views)
    clues, single_count = _clues(hidden_keys, shown_keys, [_group_views(column) for column in columns], is_learned)
    if not clues:
        return chance_matches
    class_order = np.argsort(classes, kind="stable")
    class_starts = np.cumsum(class_sizes) - class_sizes
    class_parts: list[Codes] = []
    pair_count, weighed_rows = 0, 0
    for number in random.permutation(np.flatnonzero(is_mixed)):
        class_rows = class_order[class_starts[number] : class_starts[number] + class_sizes[number]]
        class_part = class_rows if len(class_rows) <= _CLASS else random.choice(class_rows, _CLASS, replace=False)
        pair_count += len(class_part) ** 2
        if pair_count > _PAIRS and class_parts:
            break
        class_parts.append(class_part)
        weighed_rows += len(class_rows)
    gain = _right(class_parts, clues, single_count) - len(class_parts)
    return chance_matches + max(0.0, gain * float(class_sizes[is_mixed].sum()) / weighed_rows)


def ceiling(true: Codes, known_classes: Codes, rows: Codes) -> float:
    """The most people, on average, whose row anybody finds who knows of each person no more than their keys.

    With N(x, c, r) people of true keys x whose row r is known to be in c, and N(r) rows that read r:
    the sum over x and c of max_r N(x, c, r) / N(r).

    Parameters
    ----------
    true : (n,) int
        A number for the true keys of each person.
    known_classes : (n,) int
        A number for what who repeats the steps knows of the row of each person.
    rows : (n,) int
        A number for the whole row of each person, with all that it shows.

    Notes
    -----
    Proof. To who knows of people no more than x and c, those who share both are exchangeable: whatever else is known,
    also how often which keys go with which rows, a person's row reads r with probability N(x, c, r) / N(x, c), and is
    each of the N(r) rows that read so with the same chance. Whatever is picked for that person is right with at most
    max_r N(x, c, r) / (N(x, c) · N(r)), and N(x, c) people have it. Who knows these numbers reaches it. It is at most
    the number of distinct rows, and of distinct x and c.

    Examples
    --------
    >>> ceiling(np.array([0, 0, 1, 1]), np.zeros(4, np.int64), np.array([0, 0, 0, 1]))
    1.6666666666666665
    """
    group_numbers = true * (int(known_classes.max(initial=0)) + 1) + known_classes
    row_groups = np.unique(group_numbers, return_inverse=True)[1].astype(np.int64)
    row_limit = int(rows.max(initial=0)) + 1
    cells, pair_counts = np.unique(row_groups * row_limit + rows, return_counts=True)
    pair_group, pair_row = np.divmod(cells, row_limit)
    most_shares = np.zeros(int(row_groups.max(initial=0)) + 1)
    np.maximum.at(most_shares, pair_group, pair_counts / np.bincount(rows)[pair_row])
    return float(most_shares.sum())


def _group_views(column: pl.Series) -> list[Codes]:
    return [rank_codes(column, most, gaps=True) for most in _GROUP_NUMBERS]


def _clues(
    keys: Sequence[Sequence[Codes]],
    shown_keys: Sequence[Sequence[Codes]],
    columns: Sequence[Sequence[Codes]],
    is_learned: Flags,
) -> tuple[list[_Clue], int]:
    """What tells of hidden keys, each with each, and two of one side together; and how many are of one with one."""
    single_clues = [[_Clue.of(key, column, is_learned) for key in keys] for column in columns]
    gain = [sum(clue.gain for clue in column_clues if clue is not None) for column_clues in single_clues]
    best_columns = [columns[place] for place in np.argsort(gain)[::-1][:_MOST_PAIRED]]
    # a key that is shown tells nothing alone, but may turn round what a column tells of another
    two = [_together(*pair) for pair in [*combinations(keys, 2), *product(keys, shown_keys)]][:_MOST_PAIRS]
    clue_pairs = [
        *product(two, best_columns),
        *product(keys, [_together(*pair) for pair in combinations(best_columns, 2)]),
    ]
    pair_clues = [_Clue.of(key, column, is_learned) for key, column in clue_pairs]
    singles = _strongest([clue for column_clues in single_clues for clue in column_clues])
    return [*singles, *_strongest(pair_clues)], len(singles)


def _strongest(clues: Sequence[_Clue | None]) -> list[_Clue]:
    return sorted((clue for clue in clues if clue is not None), key=lambda clue: -clue.gain)[:_MOST_CLUES]


def _together(one: Sequence[Codes], other: Sequence[Codes]) -> list[Codes]:
    """Two columns as one, of few groups each."""
    return [one[0] * (int(other[0].max(initial=0)) + 1) + other[0]]


def _right(members: Sequence[Codes], clues: Sequence[_Clue], single_count: int) -> float:
    """How many find their row, if each takes the likeliest, by the clues and the trust in them that find most."""
    fold_of_person = np.full(len(clues[0].key), -1)
    for class_number, class_members in enumerate(members):
        fold_of_person[class_members] = class_number % _FOLDS
    pair_person = np.concatenate([np.repeat(class_members, len(class_members)) for class_members in members])
    pair_row = np.concatenate([np.tile(class_members, len(class_members)) for class_members in members])
    all_ratios, first_ratios, single_ratios = np.zeros((3, len(pair_person)))
    for clue_number, clue in enumerate(clues):
        all_ratios += clue.bits(pair_person, pair_row, fold_of_person)
        first_ratios = all_ratios.copy() if clue_number == 0 else first_ratios
        single_ratios = all_ratios.copy() if clue_number == single_count - 1 else single_ratios
    class_ends = np.cumsum([len(class_members) ** 2 for class_members in members])[:-1]
    paired_ratios = all_ratios - single_ratios
    choices = [
        first_ratios,
        *(trust * log_ratios for log_ratios in (single_ratios, paired_ratios, all_ratios) for trust in _TRUST),
    ]
    return max(sum(map(_owners, np.split(log_ratios, class_ends))) for log_ratios in choices)


def _owners(bits: Floats) -> float:
    """The people of one class who find their row, (people × rows,) log likelihoods."""
    likely = bits.reshape(int(np.sqrt(len(bits)) + 0.5), -1)
    match_chances = np.exp(likely - likely.max(axis=1, keepdims=True)) + 1e-300
    for _ in range(_ROUNDS):
        match_chances /= match_chances.sum(axis=0)
        match_chances /= match_chances.sum(axis=1, keepdims=True)
    is_likeliest = match_chances >= match_chances.max(axis=1, keepdims=True) * (1 - 1e-9)
    return float((np.diagonal(is_likeliest) / is_likeliest.sum(axis=1)).sum())


_FEWEST = 10  # cells from which a column that differs for all names people, and not by chance
_IDENTITY = re.compile(r"(?i)(^|_|\b)(id|nr|no|num|number|pid|person|respondent|case|caseid|key|uuid|index)(_|\d|\b|$)")
_MOST_MEMBERS = 8  # members of a household, on average
_HOUSEHOLD = re.compile(r"(?i)(^|_)(hh|hid|hhid|idhh)(_|\d|$)|house|haus|famil|dwelling|wohnung")


def naming(frame: pl.DataFrame) -> list[str]:
    """The columns that differ for all who have them, measures apart: they name people.

    Examples
    --------
    >>> naming(pl.DataFrame({"id": [1, 2, 3], "age": [36, 36, 40], "weight": ["0.5", "0.7", "1.1"]}))
    ['id']
    """
    naming_columns = []
    for column in frame:
        filled_cells = column.drop_nulls()
        if column.dtype.is_nested() or len(filled_cells) < 2 or filled_cells.n_unique() < len(filled_cells):
            continue
        is_measure = False
        if filled_cells.dtype.is_float() or filled_cells.dtype == pl.String:
            cell_numbers = filled_cells.cast(pl.Float64, strict=False)
            is_measure = not cell_numbers.has_nulls() and not (cell_numbers == cell_numbers.round(0)).all()
        if not is_measure:
            naming_columns.append(column.name)
    return naming_columns


def grouping(frame: pl.DataFrame, keys: Collection[str]) -> list[str]:
    """The columns, no keys, that seem to say which rows are one household.

    Each value stands in a few rows, and these stand next to one another or the name says so.

    Examples
    --------
    >>> grouping(pl.DataFrame({"group": [1, 1, 2, 3, 3, 3], "age": [36, 40, 36, 41, 40, 7]}), ["age"])
    ['group']
    """
    grouping_columns = []
    for column in frame:
        filled_cells = column.drop_nulls()
        if column.name in keys or column.dtype.is_nested() or not len(filled_cells):
            continue
        value_count = filled_cells.n_unique()
        has_few_rows = value_count > 1 and value_count < len(filled_cells) <= _MOST_MEMBERS * value_count
        if has_few_rows and (filled_cells.rle_id().max() == value_count - 1 or _HOUSEHOLD.search(column.name)):
            grouping_columns.append(column.name)
    return grouping_columns


def numbers_of_people(frame: pl.DataFrame, names: Iterable[str]) -> list[str]:
    """Those of some columns that differ for all, and are numbers or codes of people rather than measures or words.

    Whole numbers are such if they leave few gaps, or if the column is called so; texts if they hold no blank.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"id": range(20), "income": range(0, 20_000, 1_000), "mail": [f"{i}@x.org" for i in range(20)]}
    ... )
    >>> numbers_of_people(frame, frame.columns)
    ['id', 'mail']
    """
    numbering_columns = []
    for column_name in names:
        filled_cells = frame[column_name].drop_nulls()
        if (
            len(filled_cells) < _FEWEST
            or 2 * len(filled_cells) < frame.height
            or filled_cells.dtype.is_temporal()
            or filled_cells.dtype.is_nested()
        ):
            continue
        cell_numbers = filled_cells.cast(pl.Float64, strict=False)
        if cell_numbers.has_nulls():
            names_people = not texts(filled_cells).str.contains(r"\s").any()
        else:
            value_range: float = cell_numbers.max() - cell_numbers.min()  # type: ignore[operator, assignment]
            names_people = bool(value_range < 2 * len(filled_cells)) or _IDENTITY.search(column_name) is not None
        numbering_columns += [column_name] if names_people else []
    return numbering_columns
