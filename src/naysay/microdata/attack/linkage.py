"""Attacks that link a register with a release, and what share of their links is right.

Exact linkage: an intruder picks among the records that are consistent with all that they know of a person.

Linkage by distance: the record that is nearest in standardized values.

Probabilistic linkage after Fellegi and Sunter, by splink on DuckDB (extra ``linkage``).

Linkage of whole households: a household is the multiset of its members' keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, NaysayError
from naysay.microdata.attack.register import Register, texts
from naysay.microdata.attack.success import Linked, Share, Success
from naysay.microdata.keys.table import check_choice
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.risk.written import Printed, grid
from naysay.show import Content, Facts, Note, Sentence, plain
from naysay.show.text import csv_text

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
    people = register.people.height
    person_rows = np.arange(people)
    if people * register.release.height > _PAIRS:
        most = min(people, max(_LEAST, _PAIRS // register.release.height))
        person_rows = np.sort(np.random.default_rng(seed).choice(people, most, replace=False))
    part = register.take(person_rows)
    linker = _linker(splink, part)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=seed)
    for place in range(2):  # a key is learned while another one is known to agree
        linker.training.estimate_parameters_using_expectation_maximisation(splink.block_on(f"key_{place}"))
    predictions = pl.DataFrame(pl.from_arrow(linker.inference.predict().as_pyarrow_table()))
    link_made, right, chance = _best(predictions, part)
    every = np.zeros((3, people))
    every[:, person_rows] = link_made, right, chance
    tried = np.isin(np.arange(people), person_rows)
    return {
        "probabilistic": Linked(every[0] > 0, every[1], tried),
        "probabilistic, at least even": Linked((every[0] > 0) & (every[2] >= _EVEN), every[1], tried),
    }


def _linker(splink: Any, register: Register) -> Any:
    """The linker of both tables."""
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons

    logging.getLogger("splink").setLevel(logging.ERROR)
    api = splink.DuckDBAPI()
    tables = []
    key_comparisons: list[Any] = []
    for side, frame in ((0, register.people), (1, register.release)):
        columns: dict[str, Any] = {"unique_id": np.arange(frame.height)}
        for place, name in enumerate(register.keys):
            numeric = all(table[name].dtype.is_numeric() for table in (register.people, register.release))
            columns[f"key_{place}"] = frame[name].cast(pl.Float64) if numeric else texts(frame[name])
            if side == 0 and numeric:
                unit = float(np.nanstd(register.release[name].cast(pl.Float64).to_numpy())) or 1.0
                near = [levels.AbsoluteDifferenceLevel(f"key_{place}", unit * deviations) for deviations in _NEAR]
                steps = [levels.NullLevel(f"key_{place}"), levels.ExactMatchLevel(f"key_{place}"), *near]
                key_comparisons.append(
                    comparisons.CustomComparison([*steps, levels.ElseLevel()], output_column_name=f"key_{place}")
                )
            elif side == 0:
                key_comparisons.append(
                    comparisons.ExactMatch(f"key_{place}").configure(term_frequency_adjustments=True)
                )
        name = ("people", "records")[side]
        tables.append(api.register(pl.DataFrame(columns).to_arrow(), dataset_display_name=name))
    settings = splink.SettingsCreator(
        link_type="link_only",
        comparisons=key_comparisons,
        blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=min(0.5, 1 / register.release.height),
        retain_matching_columns=False,
    )
    return splink.Linker(tables, settings, log_level=None)


def _best(predictions: pl.DataFrame, register: Register) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each person whether there is a most probable record, the chance that it is theirs, and what splink says."""
    link_made, right, chance = (np.zeros(register.people.height) for _ in range(3))
    person_is_left = pl.col("source_dataset_l") == "people"
    pairs = predictions.select(
        pl.when(person_is_left).then("unique_id_l").otherwise("unique_id_r").cast(pl.Int64).alias("person"),
        pl.when(person_is_left).then("unique_id_r").otherwise("unique_id_l").cast(pl.Int64).alias("record"),
        "match_weight",
        "match_probability",
    )
    best = pairs.filter(pl.col("match_weight") >= pl.col("match_weight").max().over("person") - 1e-9)
    hit = best["record"] == pl.Series(register.own).gather(best["person"])
    person_links = (
        best.with_columns(hit.alias("hit"))
        .group_by("person")
        .agg(pl.col("hit").mean(), pl.col("match_probability").max())
    )
    rows = person_links["person"].to_numpy()
    link_made[rows], right[rows], chance[rows] = (
        1.0,
        person_links["hit"].to_numpy(),
        person_links["match_probability"].to_numpy(),
    )
    return link_made, right, chance


Floats = NDArray[np.float64]

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
    people = register.people.height
    right, link_made = np.zeros(people), np.zeros(people, bool)
    for rows, close in nearest_records(register):
        number, own_rows = close.sum(axis=1), register.own[rows]
        link_made[rows] = number > 0
        hit = (own_rows >= 0) & close[np.arange(len(rows)), np.maximum(own_rows, 0)]
        right[rows] = np.where(hit, 1 / np.maximum(number, 1), 0.0)
    return {"nearest": Linked(link_made, right)}


def nearest_records(register: Register) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """Which records are nearest to some people, in pieces: their rows, and (rows, records)."""
    columns = [_comparable(register, name) for name in register.keys]
    people, records = register.people.height, register.release.height
    step = max(1, _CELLS // records)
    for start in range(0, people, step):
        rows = np.arange(start, min(people, start + step))
        distances, has_evidence = np.zeros((len(rows), records), np.float32), np.zeros((len(rows), records), bool)
        for mine, theirs, numeric in columns:
            apart = mine[rows, None] - theirs[None, :]
            known_in_both = ~np.isnan(apart)
            has_evidence |= known_in_both
            distances += np.where(known_in_both, apart**2 if numeric else _STRANGERS * (apart != 0), _GAP).astype(
                np.float32
            )
        distances[~has_evidence] = np.inf
        yield rows, has_evidence & (distances <= distances.min(axis=1, keepdims=True) + _ALIKE)


def _comparable(register: Register, name: str) -> tuple[Floats, Floats, bool]:
    """A key on both sides: numbers in standard deviations, or codes; NaN for gaps."""
    mine, theirs = register.people[name], register.release[name]
    if mine.dtype.is_numeric() and theirs.dtype.is_numeric():
        x, y = (cells.cast(pl.Float64).to_numpy() for cells in (mine, theirs))
        unit = np.nanstd(y) if (~np.isnan(y)).any() else 1.0
        return x / (unit or 1.0), y / (unit or 1.0), True
    cells_of_both = pl.concat([texts(mine).rename(name), texts(theirs).rename(name)])
    codes = cells_of_both.rank("dense").cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return codes[: len(mine)], codes[len(mine) :], False


Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Records among which an intruder picks, for each person of a register.

    Parameters
    ----------
    number : (people,) int
        Records that are consistent with the person and show most of what is known of them; 0 where there is none, or
        where nothing is known of the person.
    hit : (people,) bool
        Whether the person's own record is among them.
    """

    number: Places
    hit: NDArray[np.bool_]


def exact(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Pick at random among the consistent records with fewest gaps; or name one only where it is the only one.

    Parameters
    ----------
    register : Register
    seed : int
        Not used: what a random pick achieves is computed.
    """
    record_candidates = candidates(register)
    chance = np.where(record_candidates.hit, 1 / np.maximum(record_candidates.number, 1), 0.0)
    return {
        "exact, any candidate": Linked(record_candidates.number > 0, chance),
        "exact, a single candidate": Linked(record_candidates.number == 1, record_candidates.hit.astype(float)),
    }


def candidates(register: Register) -> Candidates:
    """The records among which the intruder picks.

    A gap of either side is no evidence: it contradicts nothing, and shows nothing. Among the consistent records the
    intruder prefers those that show most of the keys that are known of the person. The number is found by matching,
    once for each pattern of what is known of people and each number of gaps.

    Parameters
    ----------
    register : Register
    """
    people = register.people.height
    keys = Keys(_stacked(register), register.keys)
    number, hit = np.zeros(people, np.int64), np.zeros(people, bool)
    known_keys = np.column_stack([column[keys.owner[:people]] > 0 for column in keys.tuples.columns])
    patterns, place = np.unique(known_keys, axis=0, return_inverse=True)
    for pattern, known_pattern in enumerate(patterns):
        names = [name for name, is_known in zip(register.keys, known_pattern, strict=True) if is_known]
        rows = np.flatnonzero(place.ravel() == pattern)
        if names:
            part = keys.only(names)
            number[rows], hit[rows] = _candidates_of(part, rows, people, register.own[rows])
    return Candidates(number, hit)


def _candidates_of(
    part: Keys, rows: NDArray[np.intp], people: int, own_rows: Places
) -> tuple[Places, NDArray[np.bool_]]:
    """Candidates of people of whom all of these keys are known, and whether their own record is one."""
    released = np.bincount(part.owner[people:], minlength=part.distinct)
    gaps = np.sum([column == 0 for column in part.tuples.columns], axis=0)
    person_tuples = part.owner[rows]
    number, least = np.zeros(len(rows), np.int64), np.full(len(rows), -1)
    for level in np.unique(gaps[released > 0]):
        if level == len(part.columns) or (number > 0).all():
            break  # a record that shows none of the keys says nothing
        match_counts = matches_of_tuples(part, np.where(gaps == level, released, 0), rule="intersect")[person_tuples]
        fresh = (number == 0) & (match_counts > 0)
        number[fresh], least[fresh] = match_counts[fresh], level
    record = part.owner[people:][np.maximum(own_rows, 0)]
    hit = (own_rows >= 0) & (gaps[record] == least)
    for variable, column in zip(part.variables, part.tuples.columns, strict=True):
        person_cells, record_cells = column[person_tuples].astype(np.int64), column[record].astype(np.int64)
        same = (person_cells == record_cells) | (person_cells == 0) | (record_cells == 0)
        several = ~same & (np.maximum(person_cells, record_cells) > len(variable.cells.values))
        if several.any():
            agree = variable.cells.agreeing(by_value=False)
            same[several] = np.asarray(agree[person_cells[several] - 1, record_cells[several] - 1]).ravel() > 0
        hit &= same
    return number, hit


def _stacked(register: Register) -> dict[str, object]:
    """The keys of the people, and below them those of the records."""
    stacked: dict[str, object] = {}
    for name in register.keys:
        pair = [register.people[name], register.release[name]]
        lists = [isinstance(series.dtype, pl.List | pl.Array) for series in pair]
        if any(lists):
            cells = [
                series.cast(pl.List(pl.String)) if is_list else texts(series)
                for series, is_list in zip(pair, lists, strict=True)
            ]
            stacked[name] = [*cells[0].to_list(), *cells[1].to_list()]
        else:
            stacked[name] = pl.concat([texts(series).rename(name) for series in pair])
    if not register.people.height:
        raise DataError("the register has nobody to look for")
    return stacked


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
    records: int
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

    def content(self) -> list[Content]:
        recoded = f"; in the release's coarser values: {', '.join(self.recoded)}" if self.recoded else ""
        facts = (
            ("known of each person", ", ".join(self.keys) + recoded),
            ("people", f"{self.people:,} who are in the release, {self.control:,} who are not (control)"),
            ("records", f"{self.records:,} in the release"),
        )
        rows = [
            (
                success.name,
                f"{success.of_links.n:,}",
                _share_text(success.of_links),
                _share_text(success.of_all),
                _share_text(success.control),
            )
            for success in self.attacks
        ]
        names = ("attack", "links made", "right of links", "right of all", "control: links made")
        caption = f"What share of links is right, with {100 * self.confidence:g} % intervals"
        return [
            Facts(facts),
            grid(caption, names, rows),
            Sentence(_EXPLAINED, small=True),
            *map(Note, self.reservations),
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        plain_fields = {name: value for name, value in vars(self).items() if name != "attacks"}
        json_fields: dict[str, Any] = plain(plain_fields | {"attacks": [success.fields() for success in self.attacks]})
        return json_fields

    def to_csv(self) -> str:
        """A row for each attack."""
        return csv_of_links([self])


def csv_of_links(links: Sequence[Linkage]) -> str:
    """One CSV table of what several intruders achieve: a row for each attack, with the keys of its intruder."""
    names = ("of_links", "of_all", "control")
    ends = ("", "_low", "_high", "_n")
    rows: list[Sequence[Any]] = [("attack", *(f"{name}{end}" for name in names for end in ends), "keys")]
    for linkage in links:
        for success in linkage.attacks:
            shares = [getattr(success, name) for name in names]
            cells = (cell for part in shares for cell in (part.value, *part.interval, part.n))
            rows.append([success.name, *cells, csv_text([linkage.keys])])
    return csv_text(rows)


def _share_text(share: Share) -> str:
    return str(share) if share.n else "–"


def link(
    release: Any,
    register: Any,
    keys: Sequence[str],
    *,
    id: str | None = None,
    household: str | None = None,
    wave: str | None = None,
    attacks: Sequence[str] = ("exact", "nearest"),
    recodings: Mapping[str, Mapping[Any, Any]] | None = None,
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
    for name in attacks:
        check_choice(name, tuple(ATTACKS), what="an attack")
    level = _checks.confidence(confidence)
    checked_register = Register.of(
        release, register, keys, identity=id, household=household, wave=wave, recodings=recodings, most=most, seed=seed
    )
    links_by_attack: dict[str, Linked] = {}
    for name in dict.fromkeys(attacks):
        links_by_attack |= ATTACKS[name](checked_register, seed=seed)
    successes = [
        Success.of(name, attack_links, checked_register.inside, checked_register.clusters, confidence=level, seed=seed)
        for name, attack_links in links_by_attack.items()
    ]
    if household is not None and household in checked_register.release.columns:
        successes.append(households(checked_register, household, confidence=level, seed=seed))
    inside = int(checked_register.inside.sum())
    return Linkage(
        checked_register.keys,
        checked_register.recoded,
        inside,
        checked_register.people.height - inside,
        checked_register.release.height,
        tuple(successes),
        level,
    )


Flags = NDArray[np.bool_]

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
    people = register.people.height
    stacked = {
        name: [*texts(register.people[name]).to_list(), *texts(register.release[name]).to_list()]
        for name in register.keys
    }
    keys = Keys(stacked, register.keys)
    cells = np.column_stack([column[keys.owner] for column in keys.tuples.columns]).astype(np.int64)
    if register.clusters is None:
        raise DataError("households are found by a column that names them")
    theirs = texts(register.release[column]).rank("dense").fill_null(0).to_numpy().astype(np.int64)
    known_by_size, released_by_size = _members(register.clusters), _members(theirs)
    links_by_size = [
        _household_links(
            cells[:people], known_by_size[size], cells[people:], released_by_size.get(size), theirs, register.own
        )
        for size in known_by_size
    ]
    link_made, right, inside = (np.concatenate(arrays) for arrays in zip(*links_by_size, strict=True))
    return Success.of(
        "exact, whole households", Linked(link_made, right), inside, None, confidence=confidence, seed=seed
    )


def _members(clusters: Places) -> dict[int, Places]:
    """The rows of each household, (households, members), by number of members."""
    order = np.argsort(clusters, kind="stable")
    _, starts, sizes = np.unique(clusters[order], return_index=True, return_counts=True)
    return {
        int(size): np.array([order[start : start + size] for start in starts[sizes == size]])
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
    inside = (rows_there >= 0).all(axis=1) & (names[rows_there] == names[rows_there[:, :1]]).all(axis=1)
    link_made, right = np.zeros(len(known_households), bool), np.zeros(len(known_households))
    if released_households is None:
        return link_made, right, inside
    gaps = (theirs[released_households] == 0).sum(axis=(1, 2))
    names_of = names[released_households[:, 0]]
    step = max(1, _HOUSEHOLD_CELLS // (len(released_households) * known_households.shape[1] ** 2))
    for start in range(0, len(known_households), step):
        rows = slice(start, start + step)
        agree = np.ones(
            (
                len(known_households[rows]),
                len(released_households),
                known_households.shape[1],
                known_households.shape[1],
            ),
            bool,
        )
        for key in range(mine.shape[1]):
            known_cells, released_cells = (
                mine[known_households[rows]][:, None, :, None, key],
                theirs[released_households][None, :, None, :, key],
            )
            agree &= (known_cells == released_cells) | (known_cells == 0) | (released_cells == 0)
        fits = _assigned(agree)
        fewest = np.where(fits, gaps, np.iinfo(gaps.dtype).max).min(axis=1)
        picked = fits & (gaps == fewest[:, None])
        number = picked.sum(axis=1)
        hit = (picked & (names_of == names[rows_there[rows, 0]][:, None])).any(axis=1) & inside[rows]
        link_made[rows], right[rows] = number > 0, np.where(hit, 1 / np.maximum(number, 1), 0.0)
    return link_made, right, inside


def _assigned(agree: Flags) -> Flags:
    """Whether members can be assigned to each other, (known, released), from which pairs agree."""
    members = agree.shape[-1]
    every = np.arange(members)
    if members <= _PERMUTED:
        orders = permutations(range(members))
        return np.asarray(np.any([agree[:, :, every, list(order)].all(axis=-1) for order in orders], axis=0))
    fits: Flags = np.asarray(agree.any(axis=-1).all(axis=-1) & agree.any(axis=-2).all(axis=-1))
    for one, other in zip(*np.nonzero(fits), strict=True):
        graph = scipy.sparse.csr_array(agree[one, other])
        matched = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")
        fits[one, other] = (matched >= 0).all()
    return fits
