"""From a table of answers and covariates to a model: who is in it, and who is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import AnswerError, DataError
from naysay.frames import located
from naysay.regression.formulas import Formula, Matrix, formulaic
from naysay.regression.likelihood import Answers, Model
from naysay.regression.within import CHEATERS, evenly, within
from naysay.responses import JOINER, Responses
from naysay.sampling import Rows, Sampled, Sampling
from naysay.tally import Tally
from naysay.tally.tally import whole

__all__ = ["MISSING", "Data", "Roles", "read", "table_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MISSING = ("error", "drop")

_FEWEST_NUMBERS = 20  # different numbers from which on a column of texts is one of numbers with a few texts in it


@dataclass(frozen=True)
class Roles:
    """The columns that hold more than answers and covariates.

    Parameters
    ----------
    part : str, optional
        The level that each respondent chose, or the sample that each was in.
    weights, count, offset : str, optional
    sampling : Sampling, optional
        How the sample was drawn, beyond weights.
    """

    part: str | None = None
    weights: str | None = None
    count: str | None = None
    offset: str | None = None
    sampling: Sampling | None = None

    @property
    def numbers(self) -> dict[str, str]:
        """The columns that must be numbers, by role."""
        pairs = {"weights": self.weights, "counts": self.count, "offset": self.offset}
        return {role: name for role, name in pairs.items() if name is not None}

    @property
    def columns(self) -> list[str]:
        """All columns that they name."""
        drawn = [] if self.sampling is None else self.sampling.columns
        return [*([] if self.part is None else [self.part]), *self.numbers.values(), *drawn]


@dataclass(frozen=True, eq=False)
class Data:
    """Those who answered, with their covariates.

    Parameters
    ----------
    design : Design, Levels or Samples
    formula : Formula
    tally : Tally
        Of their answers.
    table : pandas table
        The variables of the formula, a row for each of them.
    matrix : Matrix
    model : Model
    squared : (n,) float
        Sums of the squares of the weights of each row, scaled as the weights are.
    scale : float
        By what the weights were multiplied, so that they sum to the number of people.
    rows : (n,) int
        Their places in the file.
    sampled : Sampled, optional
        How they were sampled, a row each; None for people who were drawn independently of each other.
    total : int
        Rows of the file.
    missing : {column: int}
        People who answered, and were left out because a column of theirs is empty.
    dropped : int
        How many they are.
    """

    design: Answerable
    formula: Formula
    tally: Tally
    table: Any
    matrix: Matrix
    model: Model
    squared: Floats
    scale: float
    rows: Places
    sampled: Sampled | None
    total: int
    missing: dict[str, int]
    dropped: int

    @property
    def n(self) -> int:
        """People in the model."""
        return self.tally.n


def read(
    design: Answerable, formula: Formula, data: Any, roles: Roles, *, missing: str, reference: Any, cheaters: str
) -> Data:
    """The model of a formula for a table; see `regress` for what is given and raised."""
    if cheaters not in CHEATERS:
        raise DataError(f"cheaters must be one of {', '.join(CHEATERS)}; got {cheaters!r}")
    if missing not in MISSING:
        raise DataError(f"missing must be one of {', '.join(MISSING)}; got {missing!r}")
    frame = _collected(data, [*formula.response, *formula.variables], roles)
    amounts = {role: _amounts(frame[name], role) for role, name in roles.numbers.items()}
    said, answer = _answers(design, frame, formula.response, roles.part)
    people = whole(amounts["counts"]) if roles.count else np.ones(len(frame), dtype=np.int64)
    answered = ~said.missing[answer] & (people > 0)
    empty = {name: _empty(frame[name]) & answered for name in formula.variables}
    if roles.offset is not None:
        empty[roles.offset] = np.isnan(amounts["offset"]) & answered
    counts = {name: int(people[gone].sum()) for name, gone in empty.items() if gone.any()}
    lost = np.logical_or.reduce([*empty.values(), np.zeros(len(frame), dtype=bool)])
    dropped = int(people[lost].sum())
    if dropped and missing == "error":
        told = ", ".join(f"{name!r} ({count:,})" for name, count in counts.items())
        raise DataError(
            f"{dropped:,} of {int(people[answered].sum()):,} people who answered have an empty cell in {told}, first "
            f"in row {int(lost.argmax()) + 1}; leave them out with missing='drop' (--missing drop)",
            row=int(lost.argmax()),
            column=next(iter(counts)),
        )
    rows = np.flatnonzero(answered & ~lost)
    each = amounts["weights"] if roles.weights else np.ones(len(frame))
    drawn = _drawn(frame, roles.sampling, people, each)
    weight, squared = (each * people, each**2 * people) if drawn is None else (drawn.weight, drawn.squared)
    weight, squared = weight[rows], squared[rows]
    weighted = roles.weights is not None or drawn is not None
    tally = _tally(design, said, answer[rows], (people[rows], weight, squared), weighted=weighted)
    scale = tally.n / weight.sum()
    table = table_of({name: frame[name] for name in formula.variables}, rows)
    matrix = formula.matrix(table)
    model = Model(
        x=matrix.values,
        offset=amounts["offset"][rows] if roles.offset else None,
        answer=answer[rows],
        weight=weight * scale,
        answers=_known(design, said),
        within=evenly(design) if cheaters == "CDM" else within(design),
        reference=_reference(design, reference),
    )
    place = np.full(len(frame), -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    sampled = None if drawn is None else drawn.collapsed(place, len(rows))
    squared = squared * scale**2
    return Data(
        design, formula, tally, table, matrix, model, squared, scale, rows, sampled, len(frame), counts, dropped
    )


def _drawn(frame: Any, sampling: Sampling | None, people: NDArray[np.int64], each: Floats) -> Rows | None:
    """How all rows of the file were sampled, those that are left out included; None where nothing is told."""
    if sampling is None:
        return None
    amounts = each * people, each**2 * people
    return sampling.rows(len(frame), count=people, amounts=amounts, column=lambda name: frame[name].to_list())


def _collected(data: Any, named: Sequence[str], roles: Roles) -> Any:
    """The columns that are needed, of any table, after checking that it has them."""
    if isinstance(data, Mapping):
        data = pl.DataFrame({name: _listed(cells) for name, cells in data.items()}, strict=False)
    found = nw.from_native(data, pass_through=True)
    if not isinstance(found, nw.DataFrame | nw.LazyFrame):
        raise DataError(f"regression needs a table, such as a dataframe; got {type(data).__name__}")
    there = found.collect_schema().names()
    used = [*named, *roles.columns]
    for name in used:
        if name not in there:
            raise DataError(_checks.no_column(name, there), column=name)
    twice = next((name for name in named[len(set(named)) - len(named) :] if named.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"column {twice!r} stands on both sides of the formula", column=twice)
    chosen = found.select(list(dict.fromkeys(used)))
    frame = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    if not len(frame):
        raise DataError("at least one answer is needed; the data has no rows")
    return frame


def _listed(cells: Any) -> Any:
    if isinstance(cells, np.ndarray) and cells.dtype != object:  # its cells are no Python dates
        return cells
    return [sorted(map(str, cell)) if isinstance(cell, set | frozenset | tuple) else cell for cell in cells]


def _empty(series: Any) -> NDArray[np.bool_]:
    """Which cells of a column are empty."""
    gone = series.is_null()
    if series.dtype.is_float():
        gone = gone | series.is_nan()
    elif isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        gone = gone | (series.cast(nw.String) == "")
    return np.asarray(gone.fill_null(True).to_numpy(), dtype=bool)


def _amounts(series: Any, role: str) -> Floats:
    """A column of numbers; only an offset may be empty or negative."""
    if not series.dtype.is_numeric():
        raise DataError(f"{role} must be numbers; column {series.name!r} holds {series.dtype}", column=series.name)
    values = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=float)
    if role == "offset":
        if np.isinf(values).any():
            raise DataError(f"the offset must be finite; got {values[np.isinf(values)][0]}", column=series.name)
        return values
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(bad.argmax())
        held = "is empty" if np.isnan(values[row]) else f"holds {values[row]:g}"
        message = f"{role} must be finite and not negative; column {series.name!r} {held} in row {row + 1}"
        raise DataError(message, row=row, column=series.name, value=float(values[row]))
    return values


def _answers(design: Answerable, frame: Any, columns: Sequence[str], part: str | None) -> tuple[Responses, Places]:
    """The distinct answers, with their level or sample, and which of them each row holds."""
    pandas = formulaic("pandas")
    named = [*columns, *([part] if part is not None else [])]
    place = np.zeros(len(frame), dtype=np.int64)
    for name in named:
        codes, values = pandas.factorize(_keys(frame[name]), use_na_sentinel=True)
        place = place * (len(values) + 1) + codes + 1
    place, distinct = pandas.factorize(place)  # numbered in the order in which they came
    first = np.zeros(len(distinct), dtype=np.intp)
    first[place[::-1]] = np.arange(len(place))[::-1]
    cells = [[None if _checks.is_missing(each) else each for each in _cells(frame[name][first])] for name in named]
    levels = cells.pop() if part is not None else None
    said: Any = cells[0]
    if design.space.answers > 1:
        said = tuple(cells)
    elif len(cells) > 1:
        said = np.array(list(zip(*cells, strict=True)), dtype=object)
    try:
        return design.encode(said, levels), place
    except AnswerError as error:
        raise located(error, columns, [] if part is None else [part], row=int(first[error.row or 0])) from None


def _keys(series: Any) -> NDArray[Any]:
    """What tells the cells of a column apart, in the cheapest form."""
    native = series.to_native()
    if isinstance(native, pl.Series) and series.dtype == nw.String:
        return native.cast(pl.Categorical).to_physical().to_numpy()
    return np.array(_cells(series), dtype=object) if isinstance(series.dtype, nw.List | nw.Array) else series.to_numpy()


def _cells(series: Any) -> list[Any]:
    """The cells of a column, each set as one text."""
    if isinstance(series.dtype, nw.List | nw.Array):
        return [None if cell is None else JOINER.join(map(str, cell)) or JOINER for cell in series.to_list()]
    return list(series.to_list())


def _known(design: Answerable, said: Responses) -> Answers:
    """Likelihood rows of the distinct answers, and the channel of each."""
    names = list(design.parts)
    part = np.zeros(len(said), dtype=np.intp)
    if said.level is not None:
        part = np.array([names.index(design.level_named(level)) for level in said.level], dtype=np.intp)
    return Answers(design.likelihood(said), part, tuple(design.parts.values()))


def _tally(
    design: Answerable, said: Responses, place: Places, sums: Sequence[NDArray[Any]], *, weighted: bool
) -> Tally:
    """The tally of the answers in the model, which checks that they can be, and that some have weight.

    What is added up are counts, weights and squared weights.
    """
    count, weight, squared = (np.bincount(place, each, minlength=len(said)).astype(float) for each in sums)
    return Tally.of(design, said, count.astype(np.int64), (weight, squared), weighted=weighted)


def _reference(design: Answerable, name: Any) -> int:
    """The place of the category with which the others are compared: the last, unless another is named."""
    labels = [_checks.label(each) for each in design.categories]
    if name is None:
        return len(labels) - 1
    if _checks.label(name) not in labels:
        raise DataError(f"the reference {name!r} is no category; {_checks.nearest(_checks.label(name), labels)}")
    return labels.index(_checks.label(name))


def table_of(columns: Mapping[str, Any], rows: Places | slice) -> Any:
    """A pandas table of columns: numbers as they are, texts as categories in alphabetical order or in their own."""
    pandas = formulaic("pandas")
    size = len(rows) if not isinstance(rows, slice) else len(next(iter(columns.values()), ()))
    return pandas.DataFrame({name: _column(series, rows) for name, series in columns.items()}, index=range(size))


def _column(series: Any, rows: Places | slice) -> Any:
    pandas = formulaic("pandas")
    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = series.to_numpy()[rows]
        return values.astype(np.int64 if kind.is_integer() else np.float64)  # gaps, now gone, had made them others
    if isinstance(kind, nw.Enum):
        order = list(series.cat.get_categories().to_list())
        return pandas.Categorical(series.to_numpy()[rows], order).remove_unused_categories()
    if isinstance(kind, nw.String):
        _check_no_numbers(series.name, series.to_list(), rows)
    if isinstance(kind, nw.String | nw.Categorical | nw.Object):
        return pandas.Categorical(series.to_numpy()[rows])
    raise DataError(
        f"column {series.name!r} holds {kind}; a formula takes numbers and texts, so turn it into one of them",
        column=series.name,
    )


def _check_no_numbers(name: str, cells: Sequence[str | None], rows: Places | slice) -> None:
    """Raise where single texts among numbers turned a column of numbers into one of texts."""
    values = np.arange(len(cells))[rows]
    first: dict[str, int] = {}
    for row in values.tolist():
        first.setdefault(str(cells[row]), row)
    texts = [text for text in first if not _is_number(text)]
    if texts and len(first) - len(texts) >= max(_FEWEST_NUMBERS, 9 * len(texts)):
        row = first[texts[0]]
        raise DataError(
            f"column {name!r} holds numbers, but {texts[0]!r} in row {row + 1}; empty that cell, or, if these are "
            "categories, begin each with a letter",
            row=row,
            column=name,
            value=texts[0],
        )


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
