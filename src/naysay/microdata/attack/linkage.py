"""Attacks that link a register with a release, and what share of their links is right.

Exact linkage: an intruder picks among the records that are consistent with all that they know of a person.

Linkage by distance: the record that is nearest in standardized values.

Probabilistic linkage after Fellegi and Sunter, by splink on DuckDB (extra ``linkage``).

Linkage of whole households: a household is the multiset of its members' keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Flags, Floats
from naysay.errors import DataError, NaysayError
from naysay.microdata.attack.register import Linked, Places, Register, Share, Success, Value, texts
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.keys.matches import consistent, matches_of_tuples
from naysay.microdata.keys.variables import Keys
from naysay.show import Content, Facts, Note, Records, Sentence
from naysay.show.result import Printed, csv_text, grid

_PAIRS = 3_000_000
_LEAST = 100  # people, however many records there are
_EVEN = 0.5
_NEAR = (0.1, 0.5)  # standard deviations within which two numbers are nearly the same


def probabilistic(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Name the record with the largest probability; or only where that is at least a half.

    The chances that a key agrees for one person (m) are found by the EM algorithm, those that it agrees for two
    different ones (u) from random pairs; agreement on a rare value counts more. A gap is no evidence. Every person is
    compared with every record, so that of many people some are drawn: 3 million pairs, of at least 100 people.

    Parameters
    ----------
    register : Register
    seed : int
        For the people and the random pairs.

    Raises
    ------
    NaysayError
        Without the extra ``linkage``.
    DataError
        A single key: chances are learned from how keys agree together.
    """
    try:
        import splink
    except ModuleNotFoundError as error:
        problem = f"probabilistic linkage needs {error.name}, which is not installed"
        raise NaysayError(f"{problem}; get it with: pip install 'naysay[linkage]'") from None
    if len(register.keys) < 2:
        raise DataError("probabilistic linkage needs at least two keys: it learns from how they agree together")
    person_count = register.people.height
    person_rows = np.arange(person_count)
    if person_count * register.release.height > _PAIRS:
        most_people = min(person_count, max(_LEAST, _PAIRS // register.release.height))
        person_rows = np.sort(np.random.default_rng(seed).choice(person_count, most_people, replace=False))
    drawn_register = register.take(person_rows)
    linker = _linker(splink, drawn_register)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=seed)
    for key_number in range(2):  # a key is learned while another one is known to agree
        linker.training.estimate_parameters_using_expectation_maximisation(splink.block_on(f"key_{key_number}"))
    predictions = pl.DataFrame(pl.from_arrow(linker.inference.predict().as_pyarrow_table()))
    all_made, all_right, all_chances = link_arrays = np.zeros((3, person_count))
    link_arrays[:, person_rows] = _best(predictions, drawn_register)
    is_tried = np.isin(np.arange(person_count), person_rows)
    return {
        "probabilistic": Linked(all_made > 0, all_right, is_tried),
        "probabilistic, at least even": Linked((all_made > 0) & (all_chances >= _EVEN), all_right, is_tried),
    }


def _linker(splink: ModuleType, register: Register) -> Any:
    """The linker of both tables."""
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons

    logging.getLogger("splink").setLevel(logging.ERROR)
    api = splink.DuckDBAPI()
    tables = {"people": register.people, "records": register.release}
    columns_of: dict[str, dict[str, Any]] = {
        table_name: {"unique_id": np.arange(frame.height)} for table_name, frame in tables.items()
    }
    key_comparisons: list[Any] = []
    for key_number, key_name in enumerate(register.keys):
        splink_name = f"key_{key_number}"
        is_numeric = all(frame[key_name].dtype.is_numeric() for frame in tables.values())
        for table_name, frame in tables.items():
            key_cells = frame[key_name].cast(pl.Float64) if is_numeric else texts(frame[key_name])
            columns_of[table_name][splink_name] = key_cells
        if is_numeric:
            key_unit = float(np.nanstd(register.release[key_name].cast(pl.Float64).to_numpy())) or 1.0
            near_levels = [levels.AbsoluteDifferenceLevel(splink_name, key_unit * deviations) for deviations in _NEAR]
            all_levels = [levels.NullLevel(splink_name), levels.ExactMatchLevel(splink_name), *near_levels]
            key_comparisons.append(
                comparisons.CustomComparison([*all_levels, levels.ElseLevel()], output_column_name=splink_name)
            )
        else:
            key_comparisons.append(comparisons.ExactMatch(splink_name).configure(term_frequency_adjustments=True))
    splink_tables = [
        api.register(pl.DataFrame(columns).to_arrow(), dataset_display_name=table_name)
        for table_name, columns in columns_of.items()
    ]
    settings = splink.SettingsCreator(
        link_type="link_only",
        comparisons=key_comparisons,
        blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=min(0.5, 1 / register.release.height),
        retain_matching_columns=False,
    )
    return splink.Linker(splink_tables, settings, log_level=None)


def _best(predictions: pl.DataFrame, register: Register) -> Floats:
    """For each person whether there is a most probable record, the chance that it is theirs, and what splink says."""
    person_is_left = pl.col("source_dataset_l") == "people"
    record_pairs = predictions.select(
        pl.when(person_is_left).then("unique_id_l").otherwise("unique_id_r").cast(pl.Int64).alias("person"),
        pl.when(person_is_left).then("unique_id_r").otherwise("unique_id_l").cast(pl.Int64).alias("record"),
        "match_weight",
        "match_probability",
    )
    best_pairs = record_pairs.filter(pl.col("match_weight") >= pl.col("match_weight").max().over("person") - 1e-9)
    is_own = best_pairs["record"] == pl.Series(register.own).gather(best_pairs["person"])
    person_links = (
        best_pairs.with_columns(is_own.alias("hit"))
        .group_by("person")
        .agg(pl.col("hit").mean(), pl.col("match_probability").max())
    )
    link_arrays = np.zeros((3, register.people.height))
    link_arrays[0, person_links["person"]] = 1.0
    link_arrays[1:, person_links["person"]] = person_links.select("hit", "match_probability").to_numpy().T
    return link_arrays


_CELLS = 4_000_000  # distances held at once
_STRANGERS, _GAP = 2.0, 1.0  # squared standard deviations between two random people; and for a gap
_ALIKE = 1e-6  # squared standard deviations: two records at one distance


def nearest(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Name the nearest record; of several that are equally near, one at random.

    Numbers count by their squared difference in standard deviations of the release. Other values that differ count 2,
    as two random people do on average on a number. A gap is no evidence: it counts 1, halfway between a value that
    agrees and one of a stranger. Were it 0, a record with a gap would be nearer than the right one after some noise.

    Parameters
    ----------
    register : Register
    seed : int
        Not used: what a random pick achieves is computed.
    """
    person_count = register.people.height
    right_chances, link_made = np.zeros(person_count), np.zeros(person_count, bool)
    for person_rows, is_close in nearest_records(register):
        close_counts, own_rows = is_close.sum(axis=1), register.own[person_rows]
        link_made[person_rows] = close_counts > 0
        is_own_close = (own_rows >= 0) & is_close[np.arange(len(person_rows)), np.maximum(own_rows, 0)]
        right_chances[person_rows] = np.where(is_own_close, 1 / np.maximum(close_counts, 1), 0.0)
    return {"nearest": Linked(link_made, right_chances)}


def nearest_records(register: Register) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """Which records are nearest to some people, in pieces: their rows, and (rows, records)."""
    # a key on both sides: numbers in standard deviations, or codes; NaN for gaps
    key_columns: list[tuple[Floats, Floats, bool]] = []
    for name in register.keys:
        person_side, record_side = register.people[name], register.release[name]
        if person_side.dtype.is_numeric() and record_side.dtype.is_numeric():
            x, y = (cells.cast(pl.Float64).to_numpy() for cells in (person_side, record_side))
            unit = (np.nanstd(y) if (~np.isnan(y)).any() else 1.0) or 1.0
            key_columns.append((x / unit, y / unit, True))
        else:
            cells_of_both = pl.concat([texts(person_side).rename(name), texts(record_side).rename(name)])
            codes = cells_of_both.rank("dense").cast(pl.Float64).fill_null(float("nan")).to_numpy()
            key_columns.append((codes[: len(person_side)], codes[len(person_side) :], False))
    person_count, record_count = register.people.height, register.release.height
    step = max(1, _CELLS // record_count)
    for start in range(0, person_count, step):
        person_rows = np.arange(start, min(person_count, start + step))
        distances = np.zeros((len(person_rows), record_count), np.float32)
        has_evidence = np.zeros((len(person_rows), record_count), bool)
        for person_cells, record_cells, is_numeric in key_columns:
            differences = person_cells[person_rows, None] - record_cells[None, :]
            known_in_both = ~np.isnan(differences)
            has_evidence |= known_in_both
            distances += np.where(
                known_in_both, differences**2 if is_numeric else _STRANGERS * (differences != 0), _GAP
            ).astype(np.float32)
        distances[~has_evidence] = np.inf
        yield person_rows, has_evidence & (distances <= distances.min(axis=1, keepdims=True) + _ALIKE)


def exact(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Pick at random among the consistent records with fewest gaps; or name one only where it is the only one.

    Parameters
    ----------
    register : Register
    seed : int
        Not used: what a random pick achieves is computed.
    """
    candidate_counts, own_is_among = candidates(register)
    right_chances = np.where(own_is_among, 1 / np.maximum(candidate_counts, 1), 0.0)
    return {
        "exact, any candidate": Linked(candidate_counts > 0, right_chances),
        "exact, a single candidate": Linked(candidate_counts == 1, own_is_among.astype(float)),
    }


def candidates(register: Register) -> tuple[Places, Flags]:
    """How many records the intruder picks among, for each person, and whether the person's own is one of them.

    A gap of either side is no evidence: it contradicts nothing, and shows nothing. Among the consistent records the
    intruder prefers those that show most of the keys that are known of the person. There are none where nothing is
    known. The number is found by matching, once for each pattern of what is known of people and each number of gaps.

    Parameters
    ----------
    register : Register
    """
    person_count = register.people.height
    if not person_count:
        raise DataError("the register has nobody to look for")
    cells_of: dict[str, object] = {}  # the keys of the people, and below them those of the records
    for key_name in register.keys:
        file_cells = [register.people[key_name], register.release[key_name]]
        are_lists = [isinstance(series.dtype, pl.List | pl.Array) for series in file_cells]
        text_cells = [
            series.cast(pl.List(pl.String)) if is_list else texts(series).rename(key_name)
            for series, is_list in zip(file_cells, are_lists, strict=True)
        ]
        cells_of[key_name] = (
            [*text_cells[0].to_list(), *text_cells[1].to_list()] if any(are_lists) else pl.concat(text_cells)
        )
    keys = Keys(cells_of, register.keys)
    candidate_counts, own_is_among = np.zeros(person_count, np.int64), np.zeros(person_count, bool)
    person_tuples = keys.owner[:person_count]
    for pattern_tuples, known_places in keys.tuples.by_pattern(np.unique(person_tuples)):
        person_rows = np.flatnonzero(np.isin(person_tuples, pattern_tuples))
        if known_places:
            known_part = keys.only([register.keys[key_place] for key_place in known_places])
            candidate_counts[person_rows], own_is_among[person_rows] = _candidates_of(
                known_part, person_rows, person_count, register.own[person_rows]
            )
    return candidate_counts, own_is_among


def _candidates_of(part: Keys, rows: NDArray[np.intp], people: int, own_rows: Places) -> tuple[Places, Flags]:
    """Candidates of people of whom all of these keys are known, and whether their own record is one."""
    released_counts = np.bincount(part.owner[people:], minlength=part.distinct)
    gap_counts = np.sum([column == 0 for column in part.tuples.columns], axis=0)
    person_tuples = part.owner[rows]
    candidate_counts, least_gaps = np.zeros(len(rows), np.int64), np.full(len(rows), -1)
    for gap_level in np.unique(gap_counts[released_counts > 0]):
        if gap_level == len(part.columns) or (candidate_counts > 0).all():
            break  # a record that shows none of the keys says nothing
        match_counts = matches_of_tuples(part, np.where(gap_counts == gap_level, released_counts, 0), rule="intersect")[
            person_tuples
        ]
        is_first_found = (candidate_counts == 0) & (match_counts > 0)
        candidate_counts[is_first_found], least_gaps[is_first_found] = match_counts[is_first_found], gap_level
    own_tuples = part.owner[people:][np.maximum(own_rows, 0)]
    own_is_among = (own_rows >= 0) & (gap_counts[own_tuples] == least_gaps)
    return candidate_counts, own_is_among & consistent(part, person_tuples, own_tuples)


ATTACKS: dict[str, Callable[..., dict[str, Linked]]] = {
    "exact": exact,
    "nearest": nearest,
    "probabilistic": probabilistic,
}
"""Attacks by name: each takes a `Register` and a seed, and says what it did for each person."""

_EXPLAINED = (
    "Right of links: links to the person's own record, among links made for people who are in the release. Right of "
    "all: among all people who are in it. Control: links made for people who are not in the release; all of them are "
    "wrong. A pick among several records counts by its chance. A gap is no evidence: it contradicts nothing."
)


@dataclass(frozen=True)
class Linkage(Printed):
    """What intruders with a register achieve.

    Parameters
    ----------
    keys : tuple of str
    recoded : tuple of str
        Keys that the release holds in coarser values, which the intruder knows.
    people, control, records : int
        People attacked who are in the release, people attacked who are not, and records of the release.
    attacks : tuple of Success
    confidence : float
    """

    name = "linkage"
    keys: tuple[str, ...]
    recoded: tuple[str, ...]
    people: int
    control: int
    records: int = field()  # type: ignore[assignment]  # a number, so that rows are `attack_records`
    attacks: tuple[Success, ...]
    confidence: float = 0.95

    @property
    def strongest(self) -> Success:
        """The attack with the largest share of right links among all people."""
        return max(self.attacks, key=lambda success: success.of_all.value if success.of_all.n else -1.0)

    @property
    def reservations(self) -> list[str]:
        """What stays with the numbers."""
        notes = []
        if not self.people:
            notes.append("nobody of the register is in the release: there is nobody to be found")
        if not self.control:
            notes.append("the register holds nobody who is not in the release, so there is no control")
        return notes

    def parts(self) -> list[Content]:
        recoded_text = f"; in the release's coarser values: {', '.join(self.recoded)}" if self.recoded else ""
        facts = (
            ("known of each person", ", ".join(self.keys) + recoded_text),
            ("people", f"{self.people:,} who are in the release, {self.control:,} who are not (control)"),
            ("records", f"{self.records:,} in the release"),
        )
        attack_rows = [
            (
                success.name,
                f"{success.of_links.n:,}",
                _share_text(success.of_links),
                _share_text(success.of_all),
                _share_text(success.control),
            )
            for success in self.attacks
        ]
        column_titles = ("attack", "links made", "right of links", "right of all", "control: links made")
        caption = f"What share of links is right, with {100 * self.confidence:g} % intervals"
        return [
            Facts(facts),
            grid(caption, column_titles, attack_rows),
            Sentence(_EXPLAINED, small=True),
            *map(Note, self.reservations),
        ]

    def numbers(self) -> dict[str, object]:
        numbers_by_name = {name: value for name, value in vars(self).items() if name != "attacks"}
        return numbers_by_name | {"attacks": [success.numbers() for success in self.attacks]}

    def attack_records(self) -> Records:
        """A row for each attack."""
        return Records(
            ("attack", *(name + end for name in _SHARES for end in ("", "_low", "_high", "_n")), "keys"),
            [
                [
                    success.name,
                    *(
                        cell
                        for share in (getattr(success, name) for name in _SHARES)
                        for cell in (share.value, *share.interval, share.n)
                    ),
                    csv_text([self.keys]),
                ]
                for success in self.attacks
            ],
        )

    def to_csv(self) -> str:
        return csv_of_links([self])

    def to_frame(self) -> pl.DataFrame:
        return self.attack_records().to_frame()


_SHARES = ("of_links", "of_all", "control")


def csv_of_links(links: Sequence[Linkage]) -> str:
    """One CSV table of what several intruders achieve: a row for each attack, with the keys of its intruder."""
    link_records = [linkage.attack_records() for linkage in links]
    return csv_text([link_records[0].names, *(row for records in link_records for row in records.rows)])


def _share_text(share: Share) -> str:
    return str(share) if share.n else "–"


def link(
    release: object,
    register: object,
    keys: Sequence[str],
    *,
    id: str | None = None,
    household: str | None = None,
    wave: str | None = None,
    attacks: Sequence[str] = ("exact", "nearest"),
    recodings: Mapping[str, Mapping[Value, object]] | None = None,
    most: int | None = 1_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> Linkage:
    """Link a register of people with a release, and count how often that is right.

    Parameters
    ----------
    release, register : dataframe or mapping of columns
        The register may be the original: then the intruder knows everybody's keys.
    keys : sequence of str
        What is known of each person; columns of both files.
    id : str, optional
        The column that names people in both files; only to count what is right. People of the register whose name the
        release does not hold are the control. Without it, rows belong together in their order.
    household : str, optional
        The column of the register that names households. Intervals then draw whole households again, and where the
        release has the column, too, whole households are linked by the keys of all their members.
    wave : str, optional
        The column of waves, if both files hold several rows a person: what is known is every key in every wave.
    attacks : sequence of {"exact", "nearest", "probabilistic"}
        See `ATTACKS`; the last needs the extra ``linkage``.
    recodings : mapping of key to mapping of value to released value, optional
        By default as the linked people show them: documentation tells an intruder how values were recoded.
    most : int, optional
        The most people attacked of each kind, in the release and not in it, drawn at random; None for all.
    confidence : float
    seed : int

    Returns
    -------
    Linkage

    Raises
    ------
    DataError
        Keys that a file does not have, names that stand twice, files of different length without `id`, recodings with
        a gap, an unknown attack.

    Examples
    --------
    >>> register = {"name": ["a", "b", "c", "d"], "age": [40, 36, 36, 50], "town": ["X", "X", "Y", "Y"]}
    >>> release = {"name": ["a", "b", "c"], "age": [40, None, 36], "town": ["X", "X", "Y"]}
    >>> found = link(release, register, ["age", "town"], id="name", attacks=["exact"])
    >>> found.attacks[0].of_all.value, found.attacks[0].control.value
    (1.0, 0.0)

    References
    ----------
    Giomi et al. (2023) for the control; Fellegi & Sunter (1969).
    """
    for attack_name in attacks:
        check_choice(attack_name, tuple(ATTACKS), what="an attack")
    confidence_level = _checks.confidence(confidence)
    checked_register = Register.of(
        release, register, keys, identity=id, household=household, wave=wave, recodings=recodings, most=most, seed=seed
    )
    links_by_attack: dict[str, Linked] = {}
    for attack_name in dict.fromkeys(attacks):
        links_by_attack |= ATTACKS[attack_name](checked_register, seed=seed)
    successes = [
        Success.of(
            attack_name,
            attack_links,
            checked_register.inside,
            checked_register.clusters,
            confidence=confidence_level,
            seed=seed,
        )
        for attack_name, attack_links in links_by_attack.items()
    ]
    if household is not None and household in checked_register.release.columns:
        successes.append(households(checked_register, household, confidence=confidence_level, seed=seed))
    people_inside = int(checked_register.inside.sum())
    return Linkage(
        checked_register.keys,
        checked_register.recoded,
        people_inside,
        checked_register.people.height - people_inside,
        checked_register.release.height,
        tuple(successes),
        confidence_level,
    )


_PERMUTED = 4  # members up to which all assignments are tried at once
_HOUSEHOLD_CELLS = 20_000_000  # agreements of members held at once


def households(register: Register, column: str, *, confidence: float, seed: int) -> Success:
    """Pick at random among the released households that may be this one, and have fewest gaps.

    A released household may be a known one if both have as many members, and each member of one can be assigned to a
    member of the other so that all keys that are known of both agree. A household counts as in the release if all of
    the members whom the register holds are, in one household there.

    Raises
    ------
    DataError
        Keys with several possible values in a cell.
    """
    person_count = register.people.height
    cells_of = {
        key_name: [*texts(register.people[key_name]).to_list(), *texts(register.release[key_name]).to_list()]
        for key_name in register.keys
    }
    keys = Keys(cells_of, register.keys)
    cell_codes = np.column_stack([column[keys.owner] for column in keys.tuples.columns]).astype(np.int64)
    if register.clusters is None:
        raise DataError("households are found by a column that names them")
    record_households = texts(register.release[column]).rank("dense").fill_null(0).to_numpy().astype(np.int64)
    known_by_size, released_by_size = _members(register.clusters), _members(record_households)
    links_by_size = [
        _household_links(
            cell_codes[:person_count],
            known_by_size[household_size],
            cell_codes[person_count:],
            released_by_size.get(household_size),
            record_households,
            register.own,
        )
        for household_size in known_by_size
    ]
    link_made, right_chances, is_inside = (np.concatenate(arrays) for arrays in zip(*links_by_size, strict=True))
    return Success.of(
        "exact, whole households", Linked(link_made, right_chances), is_inside, None, confidence=confidence, seed=seed
    )


def _members(clusters: Places) -> dict[int, Places]:
    """The rows of each household, (households, members), by number of members."""
    row_order = np.argsort(clusters, kind="stable")
    _, starts, sizes = np.unique(clusters[row_order], return_index=True, return_counts=True)
    return {
        int(size): np.array([row_order[start : start + size] for start in starts[sizes == size]])
        for size in np.unique(sizes)
    }


def _household_links(
    mine: Places,
    known_households: Places,
    theirs: Places,
    released_households: Places | None,
    names: Places,
    own_rows: Places,
) -> tuple[Flags, NDArray[np.float64], Flags]:
    """For households of one size: whether a link was made, the chance that it is right, whether they are there."""
    rows_there = own_rows[known_households]
    is_inside = (rows_there >= 0).all(axis=1) & (names[rows_there] == names[rows_there[:, :1]]).all(axis=1)
    link_made, right_chances = np.zeros(len(known_households), bool), np.zeros(len(known_households))
    if released_households is None:
        return link_made, right_chances, is_inside
    gap_counts = (theirs[released_households] == 0).sum(axis=(1, 2))
    names_of = names[released_households[:, 0]]
    step = max(1, _HOUSEHOLD_CELLS // (len(released_households) * known_households.shape[1] ** 2))
    for start in range(0, len(known_households), step):
        household_slice = slice(start, start + step)
        members_agree = np.ones(
            (
                len(known_households[household_slice]),
                len(released_households),
                known_households.shape[1],
                known_households.shape[1],
            ),
            bool,
        )
        for key_number in range(mine.shape[1]):
            known_cells = mine[known_households[household_slice]][:, None, :, None, key_number]
            released_cells = theirs[released_households][None, :, None, :, key_number]
            members_agree &= (known_cells == released_cells) | (known_cells == 0) | (released_cells == 0)
        may_match = _assigned(members_agree)
        fewest_gaps = np.where(may_match, gap_counts, np.iinfo(gap_counts.dtype).max).min(axis=1)
        is_picked = may_match & (gap_counts == fewest_gaps[:, None])
        picked_counts = is_picked.sum(axis=1)
        own_is_picked = (is_picked & (names_of == names[rows_there[household_slice, 0]][:, None])).any(
            axis=1
        ) & is_inside[household_slice]
        link_made[household_slice], right_chances[household_slice] = (
            picked_counts > 0,
            np.where(own_is_picked, 1 / np.maximum(picked_counts, 1), 0.0),
        )
    return link_made, right_chances, is_inside


def _assigned(agree: Flags) -> Flags:
    """Whether members can be assigned to each other, (known, released), from which pairs agree."""
    member_count = agree.shape[-1]
    member_numbers = np.arange(member_count)
    if member_count <= _PERMUTED:
        member_orders = permutations(range(member_count))
        return np.asarray(
            np.any(
                [agree[:, :, member_numbers, list(member_order)].all(axis=-1) for member_order in member_orders], axis=0
            )
        )
    fits: Flags = np.asarray(agree.any(axis=-1).all(axis=-1) & agree.any(axis=-2).all(axis=-1))
    for known_household, released_household in zip(*np.nonzero(fits), strict=True):
        graph = scipy.sparse.csr_array(agree[known_household, released_household])
        matched = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")
        fits[known_household, released_household] = (matched >= 0).all()
    return fits
