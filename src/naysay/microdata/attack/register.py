"""A release beside a register of people: who is who, what an intruder knows, and how often an attack is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Flags, Floats
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_names
from naysay.show.result import percent

Places = NDArray[np.int64]
Value = TypeVar("Value")
_NAME = "naysay name"


@dataclass(frozen=True, eq=False)
class Register:
    """People whom an intruder knows, beside the release in which they look for them.

    Parameters
    ----------
    keys : tuple of str
        What the intruder knows of each person.
    people, release : polars frames
        Values of the keys are written as the release writes them.
    own : (people,) int
        The row of each person in the release; -1 for those who are not in it.
    clusters : (people,) int, optional
        The household of each person.
    recoded : tuple of str
        Keys whose values were recoded for the release.
    """

    keys: tuple[str, ...]
    people: pl.DataFrame
    release: pl.DataFrame
    own: Places
    clusters: Places | None = None
    recoded: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        release: object,
        register: object,
        keys: Sequence[str],
        *,
        identity: str | None = None,
        household: str | None = None,
        wave: str | None = None,
        recodings: Mapping[str, Mapping[Value, object]] | None = None,
        most: int | None = None,
        seed: int = 1,
    ) -> Register:
        """Both files, checked and matched by the column that names people, or by their order.

        With `wave`, rows of one person in several waves become one: each key in each wave is a key of its own.
        """
        people_frame, release_frame = frame_of(register, what="the register"), frame_of(release, what="the release")
        key_names = tuple(dict.fromkeys(keys))
        if isinstance(keys, str) or not key_names:
            raise DataError(f"keys are a list of column names, at least one; got {keys!r}")
        for frame, frame_title in ((people_frame, "column of the register"), (release_frame, "column of the release")):
            check_names([*key_names, *([] if wave is None else [wave])], frame.columns, what=frame_title)
        if household is not None:
            check_names([household], people_frame.columns, what="column of the register")
        if wave is not None:
            people_frame, release_frame, key_names = _wide(
                people_frame, release_frame, key_names, identity, wave, household
            )
        release_rows = _rows_in_release(people_frame, release_frame, identity)
        matched_register = cls(key_names, people_frame, release_frame, release_rows)
        matched_register = matched_register.translated(recodings or {})
        if household is not None:
            household_codes = texts(people_frame[household]).fill_null("").rank("dense").to_numpy().astype(np.int64)
            matched_register = replace(matched_register, clusters=household_codes)
        return matched_register if most is None else matched_register.sampled(most, seed)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Who is in the release."""
        return np.asarray(self.own >= 0)

    def translated(self, recodings: Mapping[str, Mapping[Value, object]]) -> Register:
        """The register in the values of the release: by the recodings that are given, or as linked people show them.

        Documentation that comes with a release says how it was recoded, so an intruder is taken to know it.
        """
        check_names(list(recodings), self.keys, what="key")
        people_frame, recoded_keys = self.people, []
        for key_name in self.keys:
            parent_of = {str(value): str(parent) for value, parent in recodings.get(key_name, {}).items()}
            is_inside = self.inside
            if not parent_of and is_inside.any():
                parent_of = (
                    recoding(people_frame[key_name].filter(is_inside), self.release[key_name][self.own[is_inside]])
                    or {}
                )
            if not parent_of:
                continue
            person_cells = texts(people_frame[key_name])
            lost_texts = person_cells.drop_nulls().filter(~person_cells.drop_nulls().is_in(list(parent_of)))
            if key_name in recodings and len(lost_texts):
                raise DataError(
                    f"the recoding of {key_name!r} must have every value of the register; "
                    f"{lost_texts[0]!r} is not in it",
                    column=key_name,
                    value=lost_texts[0],
                )
            people_frame = people_frame.with_columns(person_cells.replace(parent_of).alias(key_name))
            recoded_keys.append(key_name)
        return replace(self, people=people_frame, recoded=tuple(recoded_keys))

    def sampled(self, most: int, seed: int) -> Register:
        """At most so many people of those in the release, and as many of the others, drawn at random."""
        if isinstance(most, bool) or most < 1:
            raise DataError(f"at least one person must be attacked; got most={most!r}")
        rng = np.random.default_rng(seed)
        row_groups = [
            np.flatnonzero(in_group)
            if in_group.sum() <= most
            else np.sort(rng.choice(np.flatnonzero(in_group), most, replace=False))
            for in_group in (self.inside, ~self.inside)
        ]
        return self.take(np.concatenate(row_groups))

    def take(self, rows: Places) -> Register:
        """Some of the people."""
        taken_clusters = None if self.clusters is None else self.clusters[rows]
        return replace(self, people=self.people[rows], own=self.own[rows], clusters=taken_clusters)


def _rows_in_release(people: pl.DataFrame, file: pl.DataFrame, identity: str | None) -> Places:
    """The row of each person in the release."""
    if identity is None:
        if people.height != file.height:
            raise DataError(
                f"the register has {people.height:,} rows and the release {file.height:,}, so rows do not say who is "
                "who; name the column that does (id, --id)"
            )
        return np.arange(file.height)
    for frame, file_role in ((people, "register"), (file, "release")):
        check_names([identity], frame.columns, what=f"column of the {file_role}")
        people_names = texts(frame[identity])
        if len(repeated_names := people_names.filter(people_names.is_duplicated() & people_names.is_not_null())):
            repeat_row = int((people_names == repeated_names[0]).arg_true()[1])
            problem = (
                f"a person must have one row; {repeated_names[0]!r} in column {identity!r} of the {file_role} "
                "stands twice"
            )
            raise DataError(
                f"{problem}, again in row {repeat_row + 1} (for the waves of a panel, name the column of the wave)",
                row=repeat_row,
            )
    release_names = pl.DataFrame({_NAME: texts(file[identity])}).with_row_index("row").drop_nulls()
    people_rows = pl.DataFrame({_NAME: texts(people[identity])}).join(
        release_names, on=_NAME, how="left", maintain_order="left"
    )
    return people_rows["row"].cast(pl.Int64).fill_null(-1).to_numpy()


def _wide(
    people: pl.DataFrame,
    file: pl.DataFrame,
    keys: tuple[str, ...],
    identity: str | None,
    wave: str,
    household: str | None,
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]:
    """Both files with one row a person, and the keys of every wave."""
    if identity is None:
        raise DataError("the waves of a person are found by a column that names people; name it (id, --id)")
    wide_files = []
    for frame, file_role in ((people, "register"), (file, "release")):
        check_names([identity], frame.columns, what=f"column of the {file_role}")
        if frame.select(pl.struct(identity, wave).is_duplicated().any()).item():
            repeat_row = int(frame.select((~pl.struct(identity, wave).is_first_distinct()).arg_true().first()).item())
            raise DataError(
                f"a person must have one row a wave; row {repeat_row + 1} of the {file_role} has a double",
                row=repeat_row,
            )
        wave_names = texts(frame[wave]).unique().drop_nulls().sort().to_list()
        column_names = {
            (key_name, wave_name): f"{key_name} in {wave_name}" for wave_name in wave_names for key_name in keys
        }
        wide_frame = frame.group_by(identity, maintain_order=True).agg(
            *(
                pl.col(key_name).filter(texts_of(wave) == wave_name).first().alias(column_name)
                for (key_name, wave_name), column_name in column_names.items()
            ),
            *([pl.col(household).first()] if household is not None and household in frame.columns else []),
        )
        wide_files.append((wide_frame, list(column_names.values())))
    shared_names = tuple(wave_column for wave_column in wide_files[0][1] if wave_column in wide_files[1][1])
    if not shared_names:
        raise DataError(
            f"register and release share no wave in column {wave!r}; {_checks.listing_text(wide_files[1][1])}"
        )
    return wide_files[0][0], wide_files[1][0], shared_names


def texts_of(name: str) -> pl.Expr:
    """A column as texts, as `texts` writes them."""
    return pl.col(name).map_batches(texts, return_dtype=pl.String)


def frame_of(data: object, *, what: str) -> pl.DataFrame:
    """Any table in memory as a polars frame; empty texts and NaN are missing, categories are texts."""
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, Mapping):
        data = pl.DataFrame({column_name: list(cells) for column_name, cells in data.items()}, strict=False)
    try:
        frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)  # type: ignore[arg-type]  # it says so
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise DataError(f"{what} must be a table, such as a dataframe; got {type(data).__name__}") from None
    if not frame.height:
        raise DataError(f"{what} has no rows; a file of at least one person is needed")
    frame = frame.with_columns(pl.selectors.categorical().cast(pl.String), pl.selectors.enum().cast(pl.String))
    return frame.with_columns(pl.selectors.float().fill_nan(None), pl.selectors.string().replace("", None))


def texts(series: pl.Series) -> pl.Series:
    """Cells as texts: whole numbers without a point, so that 40 in one file is 40.0 in the other."""
    if series.dtype.is_float():
        known_numbers = series.drop_nulls()
        if (known_numbers == known_numbers.round(0)).all() and (known_numbers.abs() < 2**53).all():
            series = series.cast(pl.Int64)
    return series.cast(pl.String)


def joined(before: pl.DataFrame, after: pl.DataFrame, identity: str | None) -> tuple[Places, Places]:
    """Rows of both files that belong to one record: by a column that names records, or by their order.

    Raises
    ------
    DataError
        Names that are missing or stand twice; files of different length without a column of names.
    """
    if identity is None:
        if before.height != after.height:
            raise DataError(
                f"the original has {before.height:,} rows and the release {after.height:,}, so rows do not say which "
                "records belong together; name the column that does (id, --id), or say that records are synthetic"
            )
        return np.arange(before.height), np.arange(after.height)
    name_frames = []
    for frame, file_title in ((before, "the original"), (after, "the release")):
        check_names([identity], frame.columns)
        record_names = texts(frame[identity])
        if record_names.null_count() or record_names.n_unique() < len(record_names):
            fault_row = int((record_names.is_null() | ~record_names.is_first_distinct()).arg_true()[0])
            fault = "is missing" if record_names[fault_row] is None else "stands twice"
            raise DataError(
                f"a record's name must be unique; in {file_title} that of row {fault_row + 1} {fault}", row=fault_row
            )
        name_frames.append(pl.DataFrame({"name": record_names}).with_row_index(f"row {file_title}"))
    name_pairs = name_frames[0].join(name_frames[1], on="name", maintain_order="left")
    if not name_pairs.height:
        raise DataError(f"no name in column {identity!r} stands in both files; is it the right column?")
    return name_pairs["row the original"].to_numpy().astype(np.int64), name_pairs["row the release"].to_numpy().astype(
        np.int64
    )


def recoding(before: pl.Series, after: pl.Series) -> dict[str, str] | None:
    """The released value of each original value, from cells that belong together.

    None unless each original value always becomes one value, and fewer values come out than went in: a recoding. Of
    numbers it must also keep the order, which noise on numbers that all differ does not. Gaps of either say nothing.
    """
    value_pairs = pl.DataFrame({"x": before, "y": after}).drop_nulls().unique().sort("x")
    is_function = value_pairs["x"].n_unique() == value_pairs.height
    are_numbers = before.dtype.is_numeric() and after.dtype.is_numeric()
    are_renamed = not are_numbers and not texts(value_pairs["y"]).is_in(texts(value_pairs["x"]).implode()).all()
    if (
        not is_function
        or not (are_renamed or value_pairs["y"].n_unique() < value_pairs.height)
        or (are_numbers and not value_pairs["y"].is_sorted())
    ):
        return None
    return dict(zip(texts(value_pairs["x"]).to_list(), texts(value_pairs["y"]).to_list(), strict=True))


_DRAWS = 2_000


@dataclass(frozen=True)
class Share:
    """A share with its interval; NaN where nobody is counted.

    Parameters
    ----------
    value : float
    interval : (float, float)
    n : int
        People counted.
    method : {"Wilson", "cluster bootstrap"}
    """

    value: float
    interval: tuple[float, float]
    n: int
    method: str = "Wilson"

    def __str__(self) -> str:
        if not self.n:
            return "nobody"
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})"

    def numbers(self) -> dict[str, object]:
        return {"share": self.value, "interval": self.interval, "n": self.n, "method": self.method}


def share_of(right: ArrayLike, clusters: Array | None = None, *, confidence: float = 0.95, seed: int = 1) -> Share:
    """The mean of chances to be right, with an interval.

    Wilson's interval of a binomial share. A pick among several candidates is right with a chance, and counts by it;
    the interval is then a little too wide. With clusters, such as households, whole clusters are drawn again (2,000
    times), and the interval holds the middle of the means; where all are right or all wrong a bootstrap has no width,
    and Wilson's interval for as many people as there are clusters stands instead.

    Parameters
    ----------
    right : (n,) float
    clusters : (n,) int, optional

    Examples
    --------
    >>> share_of([1.0] * 8 + [0.0] * 2).interval
    (0.4901..., 0.9433...)

    Source: Wilson (1927).
    """
    right_chances = np.asarray(right, dtype=float)
    n = len(right_chances)
    if not n:
        return Share(float("nan"), (float("nan"), float("nan")), 0)
    mean_chance = float(right_chances.mean())
    if clusters is None:
        return Share(mean_chance, _wilson(mean_chance, n, confidence), n)
    _, cluster_numbers = np.unique(clusters, return_inverse=True)
    cluster_sizes = np.bincount(cluster_numbers).astype(float)
    cluster_totals = np.bincount(cluster_numbers, right_chances)
    if mean_chance in (0.0, 1.0):
        return Share(mean_chance, _wilson(mean_chance, len(cluster_sizes), confidence), n, "cluster bootstrap")
    cluster_draws = np.random.default_rng(seed).integers(0, len(cluster_sizes), (_DRAWS, len(cluster_sizes)))
    drawn_means = cluster_totals[cluster_draws].sum(axis=1) / cluster_sizes[cluster_draws].sum(axis=1)
    low, high = np.quantile(drawn_means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Share(mean_chance, (float(low), float(high)), n, "cluster bootstrap")


def _wilson(value: float, n: float, confidence: float) -> tuple[float, float]:
    z = float(scipy.special.ndtri((1 + confidence) / 2))
    middle, half = value + z**2 / (2 * n), z * np.sqrt(value * (1 - value) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return max(0.0, float((middle - half) / scale)), min(1.0, float((middle + half) / scale))


@dataclass(frozen=True, eq=False)
class Linked:
    """What an attack did for each person of a register.

    Parameters
    ----------
    made : (n,) bool
        Whether it named a record.
    right : (n,) float
        The chance that this record is the person's.
    tried : (n,) bool, optional
        For whom it was tried; by default for everybody.
    """

    made: Flags
    right: Floats
    tried: Flags | None = None


@dataclass(frozen=True)
class Success:
    """How well one attack did.

    Parameters
    ----------
    name : str
    of_links : Share
        Right links among links made for people who are in the release.
    of_all : Share
        Right links among all people who are in the release.
    control : Share
        Links made among people who are not in the release; each of them is wrong.
    believed : float
        Right links among all links made, of people who are in the release or not: what a link is worth to an intruder
        who does not know who is in the file.
    """

    name: str
    of_links: Share
    of_all: Share
    control: Share
    believed: float

    @classmethod
    def of(
        cls, name: str, found: Linked, inside: Flags, clusters: Array | None, *, confidence: float, seed: int
    ) -> Success:
        """The shares, from what was done for each person; `inside` says who is in the release."""

        def share_among(rows: Flags, values: Floats) -> Share:
            row_clusters = None if clusters is None else clusters[rows]
            return share_of(values[rows], row_clusters, confidence=confidence, seed=seed)

        right_chances = np.where(found.made & inside, found.right, 0.0)
        links_made, is_tried = int(found.made.sum()), np.ones(len(inside), bool) if found.tried is None else found.tried
        return cls(
            name,
            share_among(found.made & inside, right_chances),
            share_among(is_tried & inside, right_chances),
            share_among(is_tried & ~inside, found.made.astype(float)),
            float(right_chances.sum() / links_made) if links_made else float("nan"),
        )

    def numbers(self) -> dict[str, object]:
        return {
            "attack": self.name,
            "right_of_links": self.of_links.numbers(),
            "right_of_all": self.of_all.numbers(),
            "control_links": self.control.numbers(),
            "right_of_links_with_control": self.believed,
        }
