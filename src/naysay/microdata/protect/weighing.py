"""How often an intruder is right who knows everybody's keys, repeats the steps, and weighs all other columns.

Rows that read the same belong to people whose true keys may differ. What goes together with a key, however loosely,
makes some of these people likelier owners of a row than others. The likelihoods are those of the original, which the
intruder at best comes near to. Those of a class are
counted without its rows, so that chance tells nothing and rows that show the same are equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.protect.clues import rank_codes

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_GROUPS = (8, 25)  # into which numbers of more values are put, by rank; the ones are taken that tell more
_WEIGHTS = (1.0, 10.0, 100.0)  # of the whole file, in people, beside those who have one value of a key
_LEARNED = 20_000  # rows from which likelihoods are counted
_CLASS = 25  # rows of one class that are weighed against each other; the rest are learned from
_FOLDS = 10  # of classes, each weighed by what the others teach
_PAIRS = 300_000  # of a person and a row
_MOST_PAIRED = 12  # columns that are weighed in pairs, those that tell most alone
_MOST_PAIRS = 45  # of keys
_MOST_CLUES = 60
_TRUST = (1.0, 0.5, 0.2)  # in clues that overlap, which count the same knowledge twice
_EVIDENCE = 12.0  # nats by which a clue foretells left-out rows better than none: chance hardly gives them
_ROUNDS = 10  # of making everybody own one row, and every row belong to one person


@dataclass(frozen=True, eq=False)
class _Clue:
    """How a column goes together with a key: counts of both, and the weight of the whole file."""

    key: Codes
    column: Codes
    weight: float
    is_learned: NDArray[np.bool_]
    joint_counts: Floats
    gain: float

    @classmethod
    def of(cls, keys: Sequence[Codes], columns: Sequence[Codes], is_learned: NDArray[np.bool_]) -> _Clue | None:
        """The groups and the weight that foretell left-out rows best; None where nothing is foretold."""
        best, most = None, _EVIDENCE
        for key in keys:
            for column in columns:
                size = (int(key.max(initial=0)) + 1, int(column.max(initial=0)) + 1)
                if min(size) < 2:
                    continue
                number = np.bincount((key * size[1] + column)[is_learned], minlength=size[0] * size[1])
                joint_counts = number.astype(float).reshape(size)
                of_key, of_column = joint_counts.sum(axis=1, keepdims=True), joint_counts.sum(axis=0, keepdims=True)
                for weight in _WEIGHTS:
                    ratio = _ratio(joint_counts - 1, of_key - 1, of_column - 1, joint_counts.sum() - 1, weight)
                    gain = float((joint_counts * np.log(np.where(joint_counts > 0, ratio, 1.0))).sum())
                    if gain > most:
                        best, most = cls(key, column, weight, is_learned, joint_counts, gain), gain
        return best

    def bits(self, person: Codes, row: Codes, fold: Codes) -> Floats:
        """The log likelihood ratio of what a row shows, given the person's key, counted without their fold."""
        size = self.joint_counts.shape
        place = (fold * size[0] + self.key) * size[1] + self.column
        fold_counts = np.bincount(
            place[self.is_learned & (fold >= 0)], minlength=_FOLDS * self.joint_counts.size
        ).reshape(_FOLDS, *size)
        joint_counts = self.joint_counts - fold_counts
        ratio = _ratio(
            joint_counts,
            joint_counts.sum(axis=2, keepdims=True),
            joint_counts.sum(axis=1, keepdims=True),
            _all(joint_counts),
            self.weight,
        )
        log_ratios: Floats = np.log(ratio)[fold[person], self.key[person], self.column[row]]
        return log_ratios


def _all(joint_counts: Floats) -> Floats:
    total: Floats = joint_counts.sum(axis=(1, 2), keepdims=True)
    return total


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
    sizes = np.bincount(classes)
    chance = float((sizes > 0).sum())
    random = np.random.default_rng(0)
    n = len(classes)
    is_learned = np.ones(n, np.bool_) if n <= _LEARNED else random.permutation(n) < _LEARNED
    first = np.zeros(len(sizes), np.int64)
    first[classes[::-1]] = np.arange(n)[::-1]
    apart = np.zeros(len(sizes), np.bool_)  # classes of people whose true keys differ
    hidden_keys: list[list[Codes]] = []
    shown_keys: list[list[Codes]] = []
    for key in true:
        views = _views(key)
        differs = views[-1] != views[-1][first[classes]]
        apart[classes[differs]] = True
        (hidden_keys if differs.any() else shown_keys).append(views)
    clues, single_count = _clues(hidden_keys, shown_keys, [_views(column) for column in columns], is_learned)
    if not clues:
        return chance
    order = np.argsort(classes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    members: list[Codes] = []
    pairs, weighed_rows = 0, 0
    for number in random.permutation(np.flatnonzero(apart)):
        rows = order[starts[number] : starts[number] + sizes[number]]
        part = rows if len(rows) <= _CLASS else random.choice(rows, _CLASS, replace=False)
        pairs += len(part) ** 2
        if pairs > _PAIRS and members:
            break
        members.append(part)
        weighed_rows += len(rows)
    gain = _right(members, clues, single_count) - len(members)
    return chance + max(0.0, gain * float(sizes[apart].sum()) / weighed_rows)


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
    group = _pair_numbers(true, known_classes)
    several = int(rows.max(initial=0)) + 1
    cells, people = np.unique(group * several + rows, return_counts=True)
    owner, row = np.divmod(cells, several)
    most = np.zeros(int(group.max(initial=0)) + 1)
    np.maximum.at(most, owner, people / np.bincount(rows)[row])
    return float(most.sum())


def _pair_numbers(first_number: Codes, second_number: Codes) -> Codes:
    """Two numbers of each row as one, from 0."""
    pair_number: Codes = np.unique(
        first_number * (int(second_number.max(initial=0)) + 1) + second_number, return_inverse=True
    )[1].astype(np.int64)
    return pair_number


def _views(column: pl.Series) -> list[Codes]:
    return [rank_codes(column, most, gaps=True) for most in _GROUPS]


def _clues(
    keys: Sequence[Sequence[Codes]],
    shown_keys: Sequence[Sequence[Codes]],
    columns: Sequence[Sequence[Codes]],
    is_learned: NDArray[np.bool_],
) -> tuple[list[_Clue], int]:
    """What tells of hidden keys, each with each, and two of one side together; and how many are of one with one."""
    single_clues = [[_Clue.of(key, column, is_learned) for key in keys] for column in columns]
    gain = [sum(clue.gain for clue in column_clues if clue is not None) for column_clues in single_clues]
    best = [columns[place] for place in np.argsort(gain)[::-1][:_MOST_PAIRED]]
    # a key that is shown tells nothing alone, but may turn round what a column tells of another
    two = [_together(*pair) for pair in [*combinations(keys, 2), *product(keys, shown_keys)]][:_MOST_PAIRS]
    clue_pairs = [*product(two, best), *product(keys, [_together(*pair) for pair in combinations(best, 2)])]
    together = [_Clue.of(key, column, is_learned) for key, column in clue_pairs]
    singles = _strongest([clue for column_clues in single_clues for clue in column_clues])
    return [*singles, *_strongest(together)], len(singles)


def _strongest(clues: Sequence[_Clue | None]) -> list[_Clue]:
    return sorted((clue for clue in clues if clue is not None), key=lambda clue: -clue.gain)[:_MOST_CLUES]


def _together(one: Sequence[Codes], other: Sequence[Codes]) -> list[Codes]:
    """Two columns as one, of few groups each."""
    return [one[0] * (int(other[0].max(initial=0)) + 1) + other[0]]


def _right(members: Sequence[Codes], clues: Sequence[_Clue], single_count: int) -> float:
    """How many find their row, if each takes the likeliest, by the clues and the trust in them that find most."""
    fold = np.full(len(clues[0].key), -1)
    for number, part in enumerate(members):
        fold[part] = number % _FOLDS
    person = np.concatenate([np.repeat(part, len(part)) for part in members])
    row = np.concatenate([np.tile(part, len(part)) for part in members])
    bits, first, single = np.zeros(len(person)), np.zeros(len(person)), np.zeros(len(person))
    for number, clue in enumerate(clues):
        bits += clue.bits(person, row, fold)
        first = bits.copy() if number == 0 else first
        single = bits.copy() if number == single_count - 1 else single
    ends = np.cumsum([len(part) ** 2 for part in members])[:-1]
    together = bits - single
    choices = [first, *(trust * log_ratios for log_ratios in (single, together, bits) for trust in _TRUST)]
    return max(sum(map(_owners, np.split(log_ratios, ends))) for log_ratios in choices)


def _owners(bits: Floats) -> float:
    """The people of one class who find their row, (people × rows,) log likelihoods."""
    likely = bits.reshape(int(np.sqrt(len(bits)) + 0.5), -1)
    chance = np.exp(likely - likely.max(axis=1, keepdims=True)) + 1e-300
    for _ in range(_ROUNDS):
        chance /= chance.sum(axis=0)
        chance /= chance.sum(axis=1, keepdims=True)
    top = chance >= chance.max(axis=1, keepdims=True) * (1 - 1e-9)
    return float((np.diagonal(top) / top.sum(axis=1)).sum())
