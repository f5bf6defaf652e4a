"""What a released class must leave open about a sensitive column: l-diversity, t-closeness, δ-presence in targets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.tables import texts

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CONDITIONS = {
    "l(COLUMN) >= 2": "so many distinct values",
    "entropy_l(COLUMN) >= 2": "as uncertain as so many equally common values",
    "recursive_l(COLUMN, 3) >= 2": "the most common value less than 3 times the sum of the l-th and rarer ones",
    "t(COLUMN) <= 0.2": "shares within a total variation distance of those of the file",
    "ordered_t(COLUMN) <= 0.2": "the same for ordered values, by the earth mover's distance",
    "presence(COLUMN, VALUE) <= 0.5": "at most this share with that value, such as of people who are in a study",
    "presence(COLUMN, VALUE) >= 0.1": "at least this share",
}
"""What may be asked of every released class beside its size, as it is written."""

_FORM = re.compile(
    r"\s*(?P<measure>[a-z_]+)\s*\(\s*(?P<column>[^(),]+?)\s*(?:,\s*(?P<detail>[^(),]+?)\s*)?\)"
    r"\s*(?P<sign>>=|≥|<=|≤)\s*(?P<bound>\d*\.?\d+)\s*$"
)
_MOST = 4_000_000  # numbers of classes by values that are held at once
_NEAR = 1e-9


@dataclass(frozen=True)
class Condition:
    """A bound on what a released class tells of a sensitive column.

    Parameters
    ----------
    measure : {"l", "entropy_l", "recursive_l", "t", "ordered_t", "presence"}
    column : str
    bound : float
    factor : float, optional
        c of recursive (c, l)-diversity.
    value : str, optional
        Whose share δ-presence bounds, as the file writes it.
    lower : bool
        Whether it is bounded from below.

    Examples
    --------
    >>> str(Condition.of("recursive_l(illness, 3)>=2"))
    'recursive_l(illness, 3) >= 2'

    Source: Machanavajjhala et al. 2007; Li, Li & Venkatasubramanian 2007; Nergiz, Atzori & Clifton 2007 (δ-presence).
    """

    measure: str
    column: str
    bound: float
    factor: float | None = None
    value: str | None = None
    lower: bool = False

    @classmethod
    def of(cls, text: str) -> Condition:
        """The condition that a text such as ``l(illness) >= 2`` names."""
        form = _FORM.match(text)
        condition_choices = ", ".join(f"{written_form!r} ({what})" for written_form, what in CONDITIONS.items())
        if form is None or form["measure"] not in {condition_text.partition("(")[0] for condition_text in CONDITIONS}:
            raise DataError(f"a condition must be one of {condition_choices}; got {text.strip()!r}")
        measure, bound, detail = form["measure"], float(form["bound"]), form["detail"]
        share, lower = measure == "presence", form["sign"] in (">=", "≥")
        near = measure.endswith("t") or share
        number = detail is not None and re.fullmatch(r"\d*\.?\d+", detail) is not None
        fits = detail is not None if share else number if measure == "recursive_l" else detail is None
        if not fits or (not share and lower == near):
            raise DataError(f"a condition must be one of {condition_choices}; got {text.strip()!r}")
        factor = float(detail) if measure == "recursive_l" else None
        needs_whole = measure in ("l", "recursive_l")
        if (near and not 0 < bound < 1) or (not near and bound <= 1) or (needs_whole and bound != round(bound)):
            least = "between 0 and 1" if near else "whole and 2 or more" if needs_whole else "above 1"
            raise DataError(f"the bound of {measure} must be {least}; got {text.strip()!r}")
        if factor is not None and factor <= 0:
            raise DataError(f"c of recursive_l must be above 0; got {text.strip()!r}")
        return cls(measure, form["column"], bound, factor, detail if share else None, share and lower)

    def __str__(self) -> str:
        sign = ">=" if self.lower or self.measure.endswith("l") else "<="
        detail = f", {self.value}" if self.value is not None else "" if self.factor is None else f", {self.factor:g}"
        return f"{self.measure}({self.column}{detail}) {sign} {self.bound:g}"

    def holds(self, class_counts: Floats, file_counts: Floats) -> Bools:
        """Whether classes meet it: (classes, values) people with each value, in their order, and (values,) of all.

        A class of which no value is known tells none, and meets it.
        """
        people = class_counts.sum(axis=1)
        empty = np.asarray(people == 0)
        if self.measure == "l":
            return np.asarray(empty | ((class_counts > 0).sum(axis=1) >= self.bound))
        share = class_counts / np.maximum(people, 1)[:, None]
        if self.measure == "presence":  # the second of two values is the one that is asked about
            member = share[:, 1]
            return np.asarray(empty | (member >= self.bound - _NEAR if self.lower else member <= self.bound + _NEAR))
        if self.measure == "entropy_l":
            entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=1)
            return np.asarray(empty | (np.exp(entropy) >= self.bound - _NEAR))
        if self.measure == "recursive_l":
            falling = -np.sort(-class_counts, axis=1)
            rare = falling[:, round(self.bound) - 1 :].sum(axis=1)
            return np.asarray(empty | (falling[:, 0] < (self.factor or 0) * rare))
        apart = share - file_counts / max(file_counts.sum(), 1)
        if self.measure == "t":
            distance = np.abs(apart).sum(axis=1) / 2
        else:
            distance = np.abs(np.cumsum(apart, axis=1))[:, :-1].sum(axis=1) / max(class_counts.shape[1] - 1, 1)
        return np.asarray(empty | (distance <= self.bound + _NEAR))


@dataclass(frozen=True, eq=False)
class Secret:
    """Sensitive columns of a frame, by the members of units that its rows are.

    Parameters
    ----------
    conditions : sequence of Condition
    people_tables : for each condition, (members, values) people
    """

    conditions: Sequence[Condition]
    people_tables: Sequence[csr_array]

    @classmethod
    def of(
        cls, frame: pl.DataFrame, conditions: Sequence[Condition], member: NDArray[np.int64], members: int
    ) -> Secret:
        """The columns of a frame, whose rows are these members."""
        check_names([checked_condition.column for checked_condition in conditions], frame.columns)
        people_tables = []
        for condition in conditions:
            column = frame[condition.column]
            if condition.value is None:
                code = _ranks(column, ordered=condition.measure == "ordered_t")
            else:
                code = _is(column, condition.value)
            is_known = column.is_not_null().to_numpy()
            shape = (members, 2 if condition.value is not None else int(code[is_known].max(initial=0)) + 1)
            people_tables.append(
                csr_array((np.ones(int(is_known.sum())), (member[is_known], code[is_known])), shape=shape)
            )
        return cls(conditions, people_tables)

    def failing(
        self, member_numbers: NDArray[np.int64], group: NDArray[np.int64], everybody: NDArray[np.bool_]
    ) -> Bools:
        """Which of some members are in a class, given by a number for each of them, that fails a condition."""
        _, place = np.unique(group, return_inverse=True)
        is_failing = np.zeros(int(place.max(initial=-1)) + 1, bool)
        class_members = csr_array(
            (np.ones(len(member_numbers)), (place, member_numbers)),
            shape=(len(is_failing), self.people_tables[0].shape[0]),
        )
        for condition, people_table in zip(self.conditions, self.people_tables, strict=True):
            file_counts = np.asarray(people_table[np.flatnonzero(everybody)].sum(axis=0), np.float64).reshape(-1)
            counts = csr_array(class_members @ people_table)
            step = max(1, _MOST // max(people_table.shape[1], 1))
            for start in range(0, len(is_failing), step):
                part = counts[start : start + step].toarray()
                is_failing[start : start + step] |= ~condition.holds(part, file_counts)
        return np.asarray(is_failing[place])


def _ranks(column: pl.Series, *, ordered: bool) -> NDArray[np.int64]:
    """Values as numbers from 0 in their order; texts of numbers are ordered as numbers."""
    if column.dtype == pl.String or not (column.dtype.is_numeric() or isinstance(column.dtype, pl.Enum)):
        cells = texts(column)
        number = cells.cast(pl.Float64, strict=False)
        if ordered and number.null_count() > cells.null_count():
            complaint = f"{column.name!r} holds texts, which have no order"
            raise DataError(f"{complaint}: ask for t({column.name}), or give it numbers", column=column.name)
        column = number if ordered else cells
    ranks = (column.to_physical() if isinstance(column.dtype, pl.Enum) else column).rank("dense")
    return ranks.fill_null(1).to_numpy().astype(np.int64) - 1


def _is(column: pl.Series, value: str) -> NDArray[np.int64]:
    """1 where a column holds the value, which it must hold somewhere, and 0 elsewhere."""
    cells = texts(column)
    equal = (cells == value).fill_null(value=False)
    if not equal.any():
        present_texts = cells.drop_nulls().unique().sort().to_list()
        raise DataError(
            f"{column.name!r} never holds {value!r}; {_checks.nearest(value, present_texts)}", column=column.name
        )
    return equal.to_numpy().astype(np.int64)


def unmet(
    frame: pl.DataFrame,
    keys: Sequence[str],
    conditions: Sequence[Condition],
    *,
    unit: str | None = None,
    order: str | None = None,
) -> int:
    """How many rows of a frame are in a class, gaps being values, that fails a condition.

    Rows are in one class if they read the same, and so do the households or persons that they belong to.
    """
    if not conditions or not frame.height:
        return 0
    number = pl.struct([texts(frame[name]).alias(name) for name in keys]).rank("dense")
    group = frame.select(number).to_series().to_numpy().astype(np.int64)
    if unit is not None:
        people = pl.DataFrame({"unit": frame[unit], "own": group, "at": group if order is None else frame[order]})
        text = pl.col("own").sort_by("at").cast(pl.String).str.join(" ").over("unit")
        place = pl.lit(0) if order is None else pl.col("at").rank("dense").over("unit")
        group = (
            people.select(pl.struct(text.alias("whole"), "own", place.alias("place")).rank("dense"))
            .to_series()
            .to_numpy()
        )
    rows = np.arange(frame.height)
    secret = Secret.of(frame, conditions, rows, frame.height)
    return int(secret.failing(rows, group.astype(np.int64), rows >= 0).sum())
