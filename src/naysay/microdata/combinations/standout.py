"""Which keys make people stand out: the smallest sets on which somebody matches nobody else, and what each key adds.

The smallest sets of keys that tell one respondent from all others are minimal hitting sets. A choice is one key of the
respondent, known by one of its candidates. It tells some people apart from the respondent; these people are the bits of
a whole number. The search looks for the smallest sets of choices that tell everybody apart, with at most one choice for
each key. It takes one person who is not told apart yet, and tries each choice that does so. It gives up where an
earlier choice has become idle: other choices then tell apart all the people whom it alone told apart (Murakami & Uno
2014, Discrete Applied Mathematics 170, 83-94).

A key adds to the risk alone, as the last key, and on average over combinations (`contributions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.combinations.lattice import Lattice, Places, all_keys, number_of
from naysay.microdata.combinations.search import SIGN, Search, check_how
from naysay.microdata.keys.variables import Keys
from naysay.show import Content, Points, Sentence
from naysay.show.result import Printed, explained, grid, share

_OF_ONE = 5  # keys that are tried for one respondent by default
_ROOM = 2_000_000_000  # choices × tuples


@dataclass(frozen=True)
class KeySet:
    """Key variables on which some respondents match only themselves; on every smaller part they match others.

    Parameters
    ----------
    keys : tuple of str
    respondents : int
        How many respondents have it as such a smallest set; one respondent can have several.
    """

    keys: tuple[str, ...]
    respondents: int


@dataclass(frozen=True, eq=False)
class StandOut(Printed):
    """Who stands out, on how few keys.

    Parameters
    ----------
    keys : Keys
    fewest : (distinct,) int
        The fewest keys that tell each distinct tuple's respondent from all others; 0 where no set of up to `most` does.
    sets : tuple of KeySet
        The sets that make somebody stand out: fewest keys first, then most respondents.
    most : int
        The largest number of keys that was tried.
    """

    keys: Keys
    fewest: NDArray[np.int64]
    sets: tuple[KeySet, ...]
    most: int

    @property
    def size(self) -> NDArray[np.int64]:
        """The fewest keys that tell each respondent from all others, (n,); 0 where no set of up to `most` does."""
        return np.asarray(self.fewest[self.keys.owner])

    @property
    def respondents(self) -> dict[int, int]:
        """How many respondents stand out on 1 … `most` keys, and not on fewer."""
        counts = np.bincount(self.fewest, self.keys.tuples.count, self.most + 1)
        return {size: int(counts[size]) for size in range(1, self.most + 1)}

    def numbers(self) -> dict[str, object]:
        """The counts and the key sets; no respondent's values."""
        return {
            "most": self.most,
            "respondents": {str(size): respondent_count for size, respondent_count in self.respondents.items()},
            "sets": [{"keys": list(key_set.keys), "respondents": key_set.respondents} for key_set in self.sets],
        }

    def parts(self) -> list[Content]:
        """How many stand out on how few keys, and on which."""
        size_sentences = [
            Sentence(
                f"{n:,} of {self.keys.n:,} respondents stand out on {_checks.several(size, 'key', 'keys')}, "
                "and not on fewer"
            )
            for size, n in self.respondents.items()
        ]
        set_lines = (f"  {' + '.join(key_set.keys)}: {key_set.respondents:,}" for key_set in self.sets)
        return [*size_sentences, Points(tuple(set_lines))]


def stand_out(
    keys: Keys, *, most: int | None = None, rule: str = "worst", progress: Callable[[str, float], None] | None = None
) -> StandOut:
    """The smallest key sets on which m = 1, for everybody.

    More keys never give more matches. So small sets are tried first, and a set counts only for respondents who match
    others on each of its parts.

    Parameters
    ----------
    keys : Keys
        All key variables to choose from.
    most : int, optional
        The largest number of keys to try; by default 3, or all if there are fewer. The number of sets, and so the time,
        grows quickly with it.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    progress : callable, optional
        Called with each set, such as ``age + gender``, before it is tried, and the share of the sets that are done.

    Raises
    ------
    DataError
        A `most` below one or above the number of keys.

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> found = stand_out(Keys(people, ["age", "gender", "job"]))
    >>> found.size
    array([1, 1, 1, 3])
    >>> found.sets[0]
    KeySet(keys=('age',), respondents=1)
    >>> [each.keys for each in found.sets]
    [('age',), ('gender',), ('job',), ('age', 'gender', 'job')]
    """
    key_count = len(keys.columns)
    largest_size = _most(most, key_count)
    lattice = Lattice(keys, rule, largest_size)
    unique_before: dict[Places, NDArray[np.bool_]] = {(): np.zeros(keys.distinct, bool)}
    fewest_keys = np.zeros(keys.distinct, np.int64)
    key_sets = []
    done_count, combination_count = 0, number_of(key_count, largest_size)
    for set_size in range(1, largest_size + 1):
        unique_now = {}
        for key_places in combinations(range(key_count), set_size):
            key_names = tuple(keys.columns[key_place] for key_place in key_places)
            if progress is not None:
                progress(" + ".join(key_names), done_count / combination_count)
            done_count += 1
            was_unique = np.logical_or.reduce(
                [unique_before[smaller_places] for smaller_places in combinations(key_places, set_size - 1)]
            )
            is_unique = was_unique if was_unique.all() else was_unique | (lattice.matches(key_places) == 1)
            newly_unique = is_unique & ~was_unique
            if newly_unique.any():
                key_sets.append(KeySet(key_names, int(keys.tuples.count[newly_unique].sum())))
                fewest_keys[newly_unique & (fewest_keys == 0)] = set_size
            unique_now[key_places] = is_unique
        unique_before = unique_now
    key_sets.sort(key=lambda key_set: (len(key_set.keys), -key_set.respondents))
    return StandOut(keys, _checks.read_only(fewest_keys), tuple(key_sets), largest_size)


def _most(most: object, key_count: int) -> int:
    if most is None:
        return min(3, key_count)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= key_count:
        raise DataError(f"most must be a number of keys, from 1 to {key_count}; got {most!r}", value=most)
    return int(most)


def stand_out_of(
    keys: Keys,
    row: int,
    *,
    most: int | None = None,
    rule: str = "worst",
    progress: Callable[[str, float], None] | None = None,
) -> tuple[tuple[str, ...], ...]:
    """The smallest key sets on which one respondent matches nobody else; empty where there is none.

    The policy "drop" holds for each set by itself. If the respondent lacks a key with that policy, no set with this key
    makes them stand out. Other people who lack the key are left out of the sets that have it.

    Parameters
    ----------
    keys : Keys
    row : int
        The respondent's position, counted from 0.
    most : int, optional
        The largest number of keys to try; by default 5, or all if there are fewer.
    rule : {"worst", "intersect", "first"}
        How their uncertain cells match, see `matches`.
    progress : callable, optional
        Called with a name and the share done, from 0 to 1.

    Raises
    ------
    DataError
        A `row` that is not in the file, a `most` below one or above the number of keys, an unknown rule, or too many
        candidates to take each as known.

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> stand_out_of(Keys(people, ["age", "gender", "job"]), 3)
    (('age', 'gender', 'job'),)
    """
    check_how(rule)
    position: object = row
    if isinstance(position, bool) or not isinstance(position, int | np.integer) or not 0 <= position < keys.n:
        raise DataError(f"row must be a position in the file, from 0 to {keys.n - 1:,}; got {row!r}", value=row)
    own_tuple = int(keys.owner[row])
    largest_size = min(_OF_ONE, len(keys.columns)) if most is None else _most(most, len(keys.columns))
    if keys.tuples.count[own_tuple] > 1:
        return ()
    differs, key_of_choice = _choices(keys, own_tuple, rule)
    step_progress = None if progress is None else partial(progress, "which keys tell")
    place_sets = hitting_sets(
        np.delete(differs, own_tuple, axis=0), key_of_choice, most=largest_size, progress=step_progress
    )
    if keys.distinct == 1:  # nobody to be told apart from: every key suffices that does not drop the respondent
        variables_and_columns = enumerate(zip(keys.variables, keys.tuples.columns, strict=True))
        place_sets = [
            (key_place,)
            for key_place, (variable, code_column) in variables_and_columns
            if variable.policy != "drop" or code_column[own_tuple]
        ]
    return tuple(tuple(keys.columns[key_place] for key_place in key_places) for key_places in place_sets)


def _choices(keys: Keys, own_tuple: int, rule: str) -> tuple[NDArray[np.bool_], list[int]]:
    """Whom each way to know one key of a respondent tells apart, (distinct, choices), and the key of each way.

    By the rule, an intruder knows each candidate ("worst"), the first one ("first"), or only the set of candidates
    ("intersect").
    """
    choices: list[tuple[int, NDArray[np.int64]]] = []
    for key_place, (variable, code_column) in enumerate(zip(keys.variables, keys.tuples.columns, strict=True)):
        cell_set, own_cell = variable.cells, int(code_column[own_tuple])
        own_candidates = (
            cell_set.members[cell_set.starts[own_cell - 1] : cell_set.starts[own_cell]]
            if own_cell
            else cell_set.members[:0]
        )
        candidates_tried = own_candidates[:1] if rule == "first" else own_candidates
        choices += [
            (key_place, known_values)
            for known_values in ([candidates_tried] if rule == "intersect" and own_cell else candidates_tried[:, None])
        ]
    if len(choices) * keys.distinct > _ROOM:
        raise DataError(
            f"{len(choices):,} candidates of one respondent are too many to take each as known among {keys.distinct:,}"
            " distinct tuples; coarsen the keys, or ask for rule='intersect' or 'first'"
        )
    differs = np.zeros((keys.distinct, len(choices)), bool)
    for choice_number, (key_place, value_places) in enumerate(choices):
        variable = keys.variables[key_place]
        # whoever lacks the key matches, unless the policy drops them
        may_match = np.append(variable.policy != "drop", variable.cells.membership[:, value_places].sum(axis=1) > 0)
        differs[:, choice_number] = ~may_match[keys.tuples.columns[key_place]]
    return differs, [key_place for key_place, _ in choices]


_SHORTEST = 256  # rows, the hardest ones, that all others are compared with: a bound on the time of the check


def hitting_sets(
    differs: NDArray[np.bool_], group: Sequence[int], *, most: int, progress: Callable[[float], None] | None = None
) -> list[tuple[int, ...]]:
    """The smallest sets of keys whose choices tell everybody apart, fewest keys first; no set contains another.

    Parameters
    ----------
    differs : (persons, choices) bool
        Whether a choice tells a person apart from the respondent.
    group : (choices,) int
        The key of each choice; a set has at most one choice of each key.
    most : int
        The largest number of keys in a set.
    progress : callable, optional
        Called with the share that is done.

    Examples
    --------
    >>> differs = np.array([[True, False, True], [False, True, True]])
    >>> hitting_sets(differs, [0, 1, 2], most=2)
    [(2,), (0, 1)]
    """
    hardest_rows = _hardest(differs)
    if not hardest_rows.any(axis=1).all():
        return []
    persons_apart = [
        int.from_bytes(np.packbits(choice_column, bitorder="little").tobytes(), "little")
        for choice_column in hardest_rows.T
    ]
    told_by = [np.flatnonzero(person_row).tolist() for person_row in hardest_rows]
    key_sets: set[tuple[int, ...]] = set()

    def extend(choices: tuple[int, ...], alone: tuple[int, ...], persons_left: int, barred: frozenset[int]) -> None:
        """Complete `choices`.

        `alone` holds whom each choice alone tells apart, `persons_left` who is not told apart yet.
        """
        if not persons_left:
            key_sets.add(tuple(sorted(group[choice] for choice in choices)))
        if not persons_left or len(choices) == most:
            return
        used_keys = {group[choice] for choice in choices}
        next_person = (persons_left & -persons_left).bit_length() - 1
        open_choices = [c for c in told_by[next_person] if c not in barred and group[c] not in used_keys]
        for tried_count, choice in enumerate(open_choices):
            if progress is not None and not choices:
                progress(tried_count / len(open_choices))
            still_alone = tuple(persons_alone & ~persons_apart[choice] for persons_alone in alone)
            if all(still_alone):
                newly_apart = persons_left & persons_apart[choice]
                extend(
                    (*choices, choice),
                    (*still_alone, newly_apart),
                    persons_left & ~newly_apart,
                    barred.union(open_choices[:tried_count]),
                )

    extend((), (), (1 << len(hardest_rows)) - 1, frozenset())
    smallest_sets: list[tuple[int, ...]] = []
    for candidate_set in sorted(key_sets, key=lambda key_set: (len(key_set), key_set)):
        if not any(set(candidate_set).issuperset(smaller_set) for smaller_set in smallest_sets):
            smallest_sets.append(candidate_set)
    return smallest_sets


def _hardest(differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows without those whose differences contain another row's (a cheap, partial check); the hardest first."""
    packed_rows = (
        np.unique(np.packbits(differs, axis=1), axis=0) if differs.shape[1] else np.zeros((len(differs), 0), int)
    )
    difference_rows = np.unpackbits(packed_rows.astype(np.uint8), axis=1, count=differs.shape[1]).astype(bool)
    row_order = np.argsort(difference_rows.sum(axis=1), kind="stable")
    difference_rows, packed_rows = difference_rows[row_order], packed_rows[row_order]
    is_minimal = np.ones(len(difference_rows), bool)
    for row_place in range(min(_SHORTEST, len(difference_rows))):
        if is_minimal[row_place]:
            is_minimal &= ((packed_rows & packed_rows[row_place]) != packed_rows[row_place]).any(axis=1)
            is_minimal[row_place] = True
    return np.asarray(difference_rows[is_minimal])


@dataclass(frozen=True)
class Contribution:
    """What one key adds to the share of respondents who stand out.

    Parameters
    ----------
    key : str
    alone : float
        The share on this key by itself.
    last : float
        By how much the share on all keys would fall without it.
    averaged : float
        By how much it raises the share on average when it joins 0 … size - 1 other keys. The number of others is drawn
        first, each number equally likely, and then that many keys. If `size` counts all keys, this is the Shapley
        value.
    """

    key: str
    alone: float
    last: float
    averaged: float


@dataclass(frozen=True)
class Contributions(Printed):
    """What the keys of a search add, the largest average first.

    Parameters
    ----------
    measure : {"matches", "anonymity"}
    size : int
        The largest number of keys in the combinations that were averaged over: those that the search finished.
    every : float
        The share of respondents who stand out on all keys.
    mean : float
        The mean share over all combinations of exactly `size` keys.
    keys : tuple of Contribution
    """

    measure: str
    size: int
    every: float
    mean: float
    keys: tuple[Contribution, ...]

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names; undefined numbers are None."""
        return asdict(self)

    def parts(self) -> list[Content]:
        """What each key adds, and what the columns mean."""
        title = f"What each key adds to the share with {SIGN[self.measure]} = 1; on all keys it is {share(self.every)}"
        table_rows = (
            (contribution.key, share(contribution.alone), share(contribution.last), share(contribution.averaged))
            for contribution in self.keys
        )
        meaning = (
            "Alone: on this key only. Last: what all keys would lose without it. Averaged: what it adds when it joins"
            f" 0 to {self.size - 1} others picked at random.",
        )
        return [grid(title, ("key", "alone", "last", "averaged"), table_rows, width=48), explained(meaning)]


def contributions(found: Search, *, progress: Callable[[str, float], None] | None = None) -> Contributions:
    """What each key variable of a search adds to the share of respondents who stand out.

    Let U(S) be that share on the keys S, and p the number of keys. A key v adds U({v}) alone; U(all) - U(all but v)
    last; and on average

        φ_v = (1/q) Σ_{s < q} mean of U(S + v) - U(S) over the combinations S of s keys without v,

    where q is the largest size that the search finished. The averages add up: Σ_v φ_v = (p/q) · mean of U over the
    combinations of q keys; with q = p they are Shapley values, and add up to U(all). A key that tells people apart only
    together with other keys looks harmless alone. Two keys that tell the same look harmless last, because each replaces
    the other. The average is fair to both kinds.

    Parameters
    ----------
    found : Search
        Its measure and its rule are used.
    progress : callable, optional
        Called with each key and the share of the work that is done.

    Raises
    ------
    DataError
        A search that did not finish the keys one by one.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> found = microdata.search(microdata.Keys(people, ["age", "gender", "job"]))
    >>> told = contributions(found)
    >>> told.every, [(each.key, each.alone, each.last, round(each.averaged, 3)) for each in told.keys]
    (1.0, [('age', 0.25, 0.5, 0.333), ('gender', 0.25, 0.5, 0.333), ('job', 0.25, 0.5, 0.333)])

    Notes
    -----
    Shapley (1953), A value for n-person games; cut at q keys, because an intruder who knows all is rare.
    """
    largest_size = found.complete
    if not largest_size:
        raise DataError(
            "contributions need a search that finished at least each key alone; this one did not: let it go on"
        )
    unique_shares = {
        frozenset(combination.keys): combination.unique(found.measure) / found.n for combination in found.combinations
    }
    share_on_none = unique_shares[frozenset()] = float(found.n == 1)
    columns = found.keys.columns
    mean_contributions = dict.fromkeys(columns, 0.0)
    for keys, unique_share in unique_shares.items():
        if 0 < len(keys) <= largest_size:
            set_count = math.comb(len(columns) - 1, len(keys) - 1)
            for key in keys:
                mean_contributions[key] += (unique_share - unique_shares[keys - {key}]) / set_count
    share_on_all = _share_of_keys(found, columns)
    key_contributions = []
    for key_place, key in enumerate(columns):
        if progress is not None:
            progress(f"without {key}", key_place / len(columns))
        other_keys = tuple(other_name for other_name in columns if other_name != key)
        share_without = _share_of_keys(found, other_keys) if other_keys else share_on_none
        key_contributions.append(
            Contribution(
                key,
                unique_shares[frozenset([key])],
                share_on_all - share_without,
                mean_contributions[key] / largest_size,
            )
        )
    mean_share = float(np.mean([share for keys, share in unique_shares.items() if len(keys) == largest_size]))
    key_contributions.sort(key=lambda contribution: -contribution.averaged)
    return Contributions(found.measure, largest_size, share_on_all, mean_share, tuple(key_contributions))


def _share_of_keys(search: Search, columns: tuple[str, ...]) -> float:
    return all_keys(search.keys.only(columns), search.rule).unique(search.measure) / search.n
