"""A release beside a register of people: who is who, and what an intruder knows.

Two files of the same people: their cells in one writing, which rows belong together, what was recoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names

Places = NDArray[np.int64]
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
        release: Any,
        register: Any,
        keys: Sequence[str],
        *,
        identity: str | None = None,
        household: str | None = None,
        wave: str | None = None,
        recodings: Mapping[str, Mapping[Any, Any]] | None = None,
        most: int | None = None,
        seed: int = 1,
    ) -> Register:
        """Both files, checked and matched by the column that names people, or by their order.

        With `wave`, rows of one person in several waves become one: each key in each wave is a key of its own.
        """
        people, file = frame_of(register, what="the register"), frame_of(release, what="the release")
        names = tuple(dict.fromkeys(keys))
        if isinstance(keys, str) or not names:
            raise DataError(f"keys are a list of column names, at least one; got {keys!r}")
        for frame, what in ((people, "column of the register"), (file, "column of the release")):
            check_names([*names, *([] if wave is None else [wave])], frame.columns, what=what)
        if household is not None:
            check_names([household], people.columns, what="column of the register")
        if wave is not None:
            people, file, names = _wide(people, file, names, identity, wave, household)
        release_rows = _rows_in_release(people, file, identity)
        matched_register = cls(names, people, file, release_rows)
        matched_register = matched_register.translated(recodings or {})
        if household is not None:
            codes = texts(people[household]).fill_null("").rank("dense").to_numpy().astype(np.int64)
            matched_register = replace(matched_register, clusters=codes)
        return matched_register if most is None else matched_register.sampled(most, seed)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Who is in the release."""
        return np.asarray(self.own >= 0)

    def translated(self, recodings: Mapping[str, Mapping[Any, Any]]) -> Register:
        """The register in the values of the release: by the recodings that are given, or as linked people show them.

        Documentation that comes with a release says how it was recoded, so an intruder is taken to know it.
        """
        check_names(list(recodings), self.keys, what="key")
        people, recoded_keys = self.people, []
        for name in self.keys:
            parent_of = {str(value): str(parent) for value, parent in recodings.get(name, {}).items()}
            inside = self.inside
            if not parent_of and inside.any():
                parent_of = recoding(people[name].filter(inside), self.release[name][self.own[inside]]) or {}
            if not parent_of:
                continue
            cells = texts(people[name])
            lost = cells.drop_nulls().filter(~cells.drop_nulls().is_in(list(parent_of)))
            if name in recodings and len(lost):
                raise DataError(
                    f"the recoding of {name!r} must have every value of the register; {lost[0]!r} is not in it",
                    column=name,
                    value=lost[0],
                )
            people = people.with_columns(cells.replace(parent_of).alias(name))
            recoded_keys.append(name)
        return replace(self, people=people, recoded=tuple(recoded_keys))

    def sampled(self, most: int, seed: int) -> Register:
        """At most so many people of those in the release, and as many of the others, drawn at random."""
        if isinstance(most, bool) or most < 1:
            raise DataError(f"at least one person must be attacked; got most={most!r}")
        rng = np.random.default_rng(seed)
        rows = [
            np.flatnonzero(in_group)
            if in_group.sum() <= most
            else np.sort(rng.choice(np.flatnonzero(in_group), most, replace=False))
            for in_group in (self.inside, ~self.inside)
        ]
        return self.take(np.concatenate(rows))

    def take(self, rows: Places) -> Register:
        """Some of the people."""
        clusters = None if self.clusters is None else self.clusters[rows]
        return replace(self, people=self.people[rows], own=self.own[rows], clusters=clusters)


def _rows_in_release(people: pl.DataFrame, file: pl.DataFrame, identity: str | None) -> Places:
    """The row of each person in the release."""
    if identity is None:
        if people.height != file.height:
            raise DataError(
                f"the register has {people.height:,} rows and the release {file.height:,}, so rows do not say who is "
                "who; name the column that does (id, --id)"
            )
        return np.arange(file.height)
    for frame, what in ((people, "register"), (file, "release")):
        check_names([identity], frame.columns, what=f"column of the {what}")
        cells = texts(frame[identity])
        if len(twice := cells.filter(cells.is_duplicated() & cells.is_not_null())):
            row = int((cells == twice[0]).arg_true()[1])
            problem = f"a person must have one row; {twice[0]!r} in column {identity!r} of the {what} stands twice"
            raise DataError(
                f"{problem}, again in row {row + 1} (for the waves of a panel, name the column of the wave)", row=row
            )
    there = pl.DataFrame({_NAME: texts(file[identity])}).with_row_index("row").drop_nulls()
    people_rows = pl.DataFrame({_NAME: texts(people[identity])}).join(
        there, on=_NAME, how="left", maintain_order="left"
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
    for frame, what in ((people, "register"), (file, "release")):
        check_names([identity], frame.columns, what=f"column of the {what}")
        if frame.select(pl.struct(identity, wave).is_duplicated().any()).item():
            row = int(frame.select((~pl.struct(identity, wave).is_first_distinct()).arg_true().first()).item())
            raise DataError(f"a person must have one row a wave; row {row + 1} of the {what} has a double", row=row)
        months = texts(frame[wave]).unique().drop_nulls().sort().to_list()
        column_names = {(name, month): f"{name} in {month}" for month in months for name in keys}
        wide = frame.group_by(identity, maintain_order=True).agg(
            *(
                pl.col(name).filter(texts_of(wave) == month).first().alias(column_name)
                for (name, month), column_name in column_names.items()
            ),
            *([pl.col(household).first()] if household is not None and household in frame.columns else []),
        )
        wide_files.append((wide, list(column_names.values())))
    shared = tuple(name for name in wide_files[0][1] if name in wide_files[1][1])
    if not shared:
        raise DataError(
            f"register and release share no wave in column {wave!r}; {_checks.listing_text(wide_files[1][1])}"
        )
    return wide_files[0][0], wide_files[1][0], shared


def texts_of(name: str) -> pl.Expr:
    """A column as texts, as `texts` writes them."""
    return pl.col(name).map_batches(texts, return_dtype=pl.String)


def frame_of(data: Any, *, what: str) -> pl.DataFrame:
    """Any table in memory as a polars frame; empty texts and NaN are missing, categories are texts."""
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, Mapping):
        data = pl.DataFrame({name: list(cells) for name, cells in data.items()}, strict=False)
    if not isinstance(data, pl.DataFrame):
        try:
            data = pl.DataFrame(data)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise DataError(f"{what} must be a table, such as a dataframe; got {type(data).__name__}") from None
    if not data.height:
        raise DataError(f"{what} has no rows; a file of at least one person is needed")
    kinds = pl.selectors
    table: pl.DataFrame = data.with_columns(kinds.categorical().cast(pl.String), kinds.enum().cast(pl.String))
    return table.with_columns(kinds.float().fill_nan(None), kinds.string().replace("", None))


def texts(series: pl.Series) -> pl.Series:
    """Cells as texts: whole numbers without a point, so that 40 in one file is 40.0 in the other."""
    if series.dtype.is_float():
        whole = series.drop_nulls()
        if (whole == whole.round(0)).all() and (whole.abs() < 2**53).all():
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
    names = []
    for frame, what in ((before, "the original"), (after, "the release")):
        check_names([identity], frame.columns)
        record_names = texts(frame[identity])
        if record_names.null_count() or record_names.n_unique() < len(record_names):
            row = int((record_names.is_null() | ~record_names.is_first_distinct()).arg_true()[0])
            fault = "is missing" if record_names[row] is None else "stands twice"
            raise DataError(f"a record's name must be unique; in {what} that of row {row + 1} {fault}", row=row)
        names.append(pl.DataFrame({"name": record_names}).with_row_index(f"row {what}"))
    name_pairs = names[0].join(names[1], on="name", maintain_order="left")
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
    pairs = pl.DataFrame({"x": before, "y": after}).drop_nulls().unique().sort("x")
    one = pairs["x"].n_unique() == pairs.height
    numbers = before.dtype.is_numeric() and after.dtype.is_numeric()
    renamed = not numbers and not texts(pairs["y"]).is_in(texts(pairs["x"]).implode()).all()
    if not one or not (renamed or pairs["y"].n_unique() < pairs.height) or (numbers and not pairs["y"].is_sorted()):
        return None
    return dict(zip(texts(pairs["x"]).to_list(), texts(pairs["y"]).to_list(), strict=True))
