"""Products of unbiased indicators: how many people a condition describes, and any number of attributes together.

Each answer y in a randomized column becomes its unbiased indicators h(y), one for each category: E[h_a(y) | x] is 1
where x = a, and 0 elsewhere. Products over columns are taken one column after the other: no matrix over pairs of cells
is built.

`count`: some of the columns that a condition names were randomized. It is an indicator f of the cells (a_1, …, a_D) of
the D randomized columns; plain columns decide which cells these are. For one record

    u = Σ_a f(a) h_{a_1}(y_1) ⋯ h_{a_D}(y_D),    E[u | truth] = f(truth),

so that the sum of u over the records is an unbiased count. The truth is fixed, and only the randomization is random: a
record in cell x adds

    V(x) = Σ_y P(y | x) u(y)² - f(x)

to the variance. The interval holds all counts N of n records with (count - N)² ≤ z² (N V₁ + (n - N) V₀). V₁ is the
mean of V over the cells that the condition describes, V₀ over the others; how common these cells are is estimated, with
one record more in each, so that no variance rests on a cell that only looks empty. Where u takes two values, this is
Wilson's interval.

Where chance changes few of the answers, or few records are undecided, a count has no normal law. The interval then
holds, too, all N that the law of the count itself does not reject: that of N numbers u of records in the cells of the
condition and n - N of others, convolved by Fourier's transform.

`joint`: attributes are answered under a design each. Of one person

    u = h_1(y_1) ⊗ ⋯ ⊗ h_D(y_D),    E[u | truth] = 1 in the true cell, and 0 elsewhere,

so that the mean of u is unbiased, and the mean of its squares gives every standard error. Both are sums over the
distinct answers; a million cells take a second. A marginal of some attributes is the same with the answers to the
others left out.

The interval of a cell holds all shares c with n (mean - c)² ≤ z² V(c), as the score interval of an estimate does: V(c)
= c S₁ + (1 - c) S₀ - c², where S₁ is the mean of u² of people in the cell, which the designs give, and S₀ that of all
others, with the estimated shares of the other cells and one person more in each. So a cell in which nobody seems to be
does not look certain. With weights, n is how many unweighted people would be as precise.

Sources: Esponda, Huerta & Guerrero 2016, p. 2 (fields of a database as respondents); Horey, Groat, Forrest & Esponda
2007 and Groat, Edwards, Horey, He & Forrest 2012 (several attributes, one inverse for each); errors by the second
moment of u.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array, Floats, Label
from naysay.crosstab.variables import Variable, known_variables
from naysay.design.base import check_known
from naysay.errors import AnswerError, DataError, NotEstimable
from naysay.estimate.inversion import mean_squares, score_ends
from naysay.estimate.linear import linear_map
from naysay.frames import check_amounts
from naysay.show import Column, Content, Note, Records, Result, Sentence, Table
from naysay.tally import Channel

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

MOST_QUERIED = 100_000
"""Cells of the randomized columns that one condition may name, together."""

_AT_ONCE = 4_000_000  # numbers held at once
_FEW = 30  # records below which the normal law of an interval is doubtful
_SMALL_ERROR = 3.0  # records, likewise: answers that rarely change follow Poisson's law; score intervals held in .79
_POINTS = 1 << 14  # of the grid on which a law is convolved
HOW_MANY = "how many"
"""The column with the number of people in each distinct row."""
WEIGHT, WEIGHT_SQUARED = "their weights", "their squared weights"
"""The columns with the sums of survey weights, and of their squares."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Count(Result):
    """How many records a condition describes.

    Parameters
    ----------
    condition : str
        As it was written.
    count : float
        Unbiased; chance can make it negative, or larger than the file.
    standard_error : float
        Of the randomization; 0 where the condition names no randomized column.
    interval : (float, float)
        Counts that are not rejected.
    confidence : float
    whole : int
        Records in which no named column is empty.
    left_out : int
        Those in which one is.
    randomized, plain : tuple of str
        The columns that the condition names.
    undecided : int
        Records of which the plain columns do not decide it.
    method : str
        Of the interval: score, convolution where chance changes few answers, wald where the answers are too many to
        list, or exact.
    remark : str
        How the condition was read.
    """

    condition: str
    count: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    whole: int
    left_out: int
    randomized: tuple[str, ...]
    plain: tuple[str, ...]
    undecided: int
    method: str
    remark: str = ""

    def parts(self) -> list[Content]:
        """The count with its interval in one sentence, then what to know beside it."""
        decimals = max(0, 1 - math.floor(math.log10(self.standard_error))) if 0 < self.standard_error < 100 else 0
        count_text, error_text, low_text, high_text = (
            f"{value + 0.0:,.{min(decimals, 3)}f}" for value in (self.count, self.standard_error, *self.interval)
        )
        head_text = f"{self.condition}: {count_text} of {self.whole:,} records"
        if self.method == "exact":
            why = "no column that it names was randomized"
            if self.randomized:
                why = "the plain columns decide it" if self.plain else "it holds for every answer, or for none"
            return [Sentence(f"{head_text}, exactly: {why}"), *self._notes()]
        interval_text = f"{self.confidence:g} interval {low_text} to {high_text}"
        return [Sentence(f"{head_text} (standard error {error_text}); {interval_text}"), *self._notes()]

    def _notes(self) -> Iterator[Note]:
        if self.remark:
            yield Note(self.remark)
        if self.left_out:
            yield Note(f"{self.left_out:,} more records have a gap in a column that the condition names; not counted")
        if self.count < 0 or self.count > self.whole:
            yield Note("no file has such a count: chance made it. It stays as it is, so that counts of parts add up")
        if self.method == "wald" and self.undecided < _FEW:
            yield Note(
                f"only {self.undecided:,} records are undecided by the plain columns: the interval is a rough one there"
            )

    def numbers(self) -> dict[str, object]:
        """Under the names of the JSON."""
        return {
            "condition": self.condition,
            "count": self.count,
            "standard_error": self.standard_error,
            "interval": self.interval,
            "confidence": self.confidence,
            "interval_method": self.method,
            "records": self.whole,
            "left_out": self.left_out,
            "undecided": self.undecided,
            "randomized": self.randomized,
            "plain": self.plain,
        }

    def records(self) -> Records:
        """One row, with the ends of the interval apart."""
        fields = {
            name: value for name, value in self.numbers().items() if name not in ("interval", "randomized", "plain")
        }
        fields |= {"low": self.interval[0], "high": self.interval[1]}
        return Records(list(fields), [list(fields.values())])


def count(
    data: IntoFrame | Mapping[str, Iterable[object]],
    condition: Callable[..., Any],
    *,
    randomized: Iterable[Variable],
    plain: Iterable[str] = (),
    confidence: float = 0.95,
    text: str = "the condition",
    remark: str = "",
) -> Count:
    """The number of records that a condition describes, unbiased, with its interval.

    Parameters
    ----------
    data : dataframe or mapping of columns
        One row for each record.
    condition : callable
        Takes one array for each column, by name, and returns booleans of their common shape. A randomized column is the
        array of its categories, a plain one the array of its values; the arrays broadcast.
    randomized : iterable of Variable
        The randomized columns that it names, with their designs.
    plain : iterable of str
        The other columns that it names.
    confidence : float
    text, remark : str
        How the result calls the condition, and what it says of how it was read.

    Raises
    ------
    DataError
        Columns that are not there; answers that a design cannot give; too many cells.
    NotEstimable
        A design that does not tell its categories apart.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, count
    >>> table = {"age": [20, 25, 40, 41], "smoker": ["yes", "no", "yes", "yes"]}
    >>> smoker = Variable("smoker", designs.warner(p=0.8))
    >>> young = count(table, lambda age, smoker: (age < 30) & (smoker == "yes"), randomized=[smoker], plain=["age"])
    >>> round(young.count, 3), young.whole, young.undecided
    (1.0, 4, 2)
    """
    _checks.confidence(confidence)
    variables, plain_columns = tuple(randomized), tuple(plain)
    shape = tuple(len(variable.labels) for variable in variables)
    if math.prod(shape) > MOST_QUERIED:
        raise DataError(
            f"{' × '.join(map(str, shape))} cells of randomized columns are more than {MOST_QUERIED:,}; name fewer "
            "columns at once"
        )
    rows, left_out = distinct_rows(data, variables, plain_columns)
    strata = list(_strata(rows, variables, plain_columns, condition, shape))
    total = sum(stratum.people.sum() for stratum in strata if stratum.holds.all())
    undecided = [stratum for stratum in strata if stratum.holds.any() and not stratum.holds.all()]
    names = tuple(variable.column for variable in variables)
    records, open_records = int(rows[HOW_MANY].sum()), int(sum(stratum.people.sum() for stratum in undecided))
    if not undecided:
        bounds, method, open_count, error = np.array([0.0, 0.0]), "exact", 0.0, 0.0
    else:
        open_count = float(sum(stratum.people @ stratum.terms() for stratum in undecided))
        bounds, method, error = _interval(undecided, open_count, open_records, confidence)
    low, high = (float(total + bound) for bound in np.clip(bounds, 0, open_records))
    return Count(
        text, float(total + open_count), error, (low, high), confidence, records, left_out, names, plain_columns,
        open_records, method, remark,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Stratum:
    """Records of which the plain columns leave the same cells open, under the same channels.

    Parameters
    ----------
    people : (rows,) int
    indicators : tuple of (rows, categories) float
        One array for each randomized column.
    holds : (categories, …) bool
        The cells that the condition describes.
    channels : tuple of Channel
    """

    people: NDArray[np.int64]
    indicators: tuple[Floats, ...]
    holds: Bools
    channels: tuple[Channel, ...]

    def terms(self) -> Floats:
        """The number u of each row, (rows,)."""
        cells = self.holds.size
        step = max(1, _AT_ONCE // max(cells, 1))
        return np.concatenate(
            [self._terms(slice(start, start + step)) for start in range(0, len(self.people), step)] or [np.zeros(0)]
        )

    def _terms(self, rows: slice) -> Floats:
        first, *others = self.indicators
        remaining = first[rows] @ self.holds.reshape(len(self.holds), -1).astype(float)
        for indicators in others:
            folded = remaining.reshape(len(remaining), indicators.shape[1], -1)
            remaining = np.einsum("ra,rab->rb", indicators[rows], folded)
        return np.asarray(remaining[:, 0])

    def people_by_cell(self) -> Floats:
        """The unbiased number of people in each cell, (categories, …)."""
        step = max(1, _AT_ONCE // max(self.holds.size, 1))
        cells = np.zeros(self.holds.size)
        for start in range(0, len(self.people), step):
            rows = slice(start, start + step)
            joint = self.people[rows].astype(float)[:, None]
            for indicators in self.indicators:
                joint = (joint[:, :, None] * indicators[rows][:, None, :]).reshape(len(joint), -1)
            cells += joint.sum(axis=0)
        return cells.reshape(self.holds.shape)

    def possible(self) -> tuple[Floats, list[Floats]] | None:
        """The number u of each combination of answers, (answers, …), and the chances of each column's answers.

        None where the answers are too many to list.
        """
        spaces = [channel.space for channel in self.channels]
        sizes = [space.size if space.listable else _AT_ONCE + 1 for space in spaces]
        if max(math.prod(sizes), self.holds.size) > _AT_ONCE:
            return None
        u, chances = self.holds.astype(float), []
        for axis, channel in enumerate(self.channels):  # (answers, categories) in place of the categories
            answers = channel.space.listing()
            u = _along(axis, linear_map(channel)(channel.space.statistic(answers)), u)
            chances.append(channel.rows(answers))
        return u, chances


def _along(axis: int, matrix: Floats, values: Floats) -> Floats:
    """The product of a matrix (a, b) and an axis of length b, which becomes a."""
    return np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)


def _interval(strata: list[_Stratum], count: float, records: int, confidence: float) -> tuple[Floats, str, float]:
    """Low and high end (2,), the method, and the standard error, of the records that are undecided."""
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    answers = [possible for stratum in strata if (possible := stratum.possible()) is not None]
    if len(answers) < len(strata):
        squares = [stratum.terms() for stratum in strata]
        variance = sum(float(stratum.people @ (u**2 - u)) for stratum, u in zip(strata, squares, strict=True))
        error = math.sqrt(max(variance, 0.0))
        return np.array([count - z * error, count + z * error]), "wald", error
    laws = [_Law.of(strata, answers, inside=inside) for inside in (False, True)]
    outside, inside = (law.variance for law in laws)
    law = np.array([[outside], [inside - outside], [0.0]])
    share = np.array([min(max(count / records, 0.0), 1.0)])
    bounds = score_ends(share, np.array([float(records)]), law, z**2)[0] * records
    error = math.sqrt(records * float((law[0] + law[1] * share)[0]))
    if records >= _FEW and error >= _SMALL_ERROR:
        return bounds, "score", error
    low, high = _convolved_ends(laws[0], laws[1], count, records, (1 - confidence) / 2)
    return np.array([min(low, bounds[0]), max(high, bounds[1])]), "convolution", error


@dataclass(frozen=True, eq=False)
class _Law:
    """What chance adds to the number u of a record inside or outside the condition: values u - f, and their chances."""

    values: Floats
    chances: Floats

    @classmethod
    def of(cls, strata: list[_Stratum], answers: list[tuple[Floats, list[Floats]]], *, inside: bool) -> _Law:
        """The mean law over the cells that the condition describes, or over the others."""
        values, people = [], []
        for stratum, (u, chances) in zip(strata, answers, strict=True):
            cells = (np.maximum(stratum.people_by_cell(), 0.0) + 1.0) * (stratum.holds == inside)
            for axis, chance in enumerate(chances):
                cells = _along(axis, chance, cells)
            values.append(u.ravel() - inside)
            people.append(cells.ravel())
        people_of_answers = np.concatenate(people)
        return cls(np.concatenate(values), people_of_answers / people_of_answers.sum())

    @property
    def variance(self) -> float:
        return float(self.chances @ self.values**2)


def _convolved_ends(outside: _Law, inside: _Law, count: float, records: int, tail: float) -> tuple[float, float]:
    """The smallest and the largest number of records at which neither tail beyond the count is below `tail`.

    Infinite, the wrong way round, where the count lies beyond what any number of records explains.
    """
    spread = math.sqrt(records * max(outside.variance, inside.variance))
    farthest = max(float(np.abs(law.values[law.chances > 0]).max()) for law in (outside, inside))
    step = 20 * (spread + farthest) / _POINTS
    transforms, blurs = [], []
    for law in (outside, inside):  # a value between two points of the grid goes to both, and the mean stays
        places, parts = np.divmod(law.values / step, 1.0)
        points = np.concatenate([places, places + 1]).astype(np.int64) % _POINTS
        chances = np.concatenate([law.chances * (1 - parts), law.chances * parts])
        transforms.append(np.fft.rfft(np.bincount(points, chances, minlength=_POINTS)))
        blurs.append(float(law.chances @ (parts * (1 - parts))) * step**2)
    grid = (np.arange(_POINTS) - _POINTS // 2) * step

    def is_held(described: int) -> bool:
        law = np.fft.irfft(transforms[0] ** (records - described) * transforms[1] ** described, _POINTS)
        law = np.fft.fftshift(law)
        tie = 2 * step + 4 * math.sqrt((records - described) * blurs[0] + described * blurs[1])
        deviation = count - described
        return bool(min(law[grid >= deviation - tie].sum(), law[grid <= deviation + tie].sum()) >= tail)

    nearest = min(max(round(count), 0), records)
    if not is_held(nearest):
        return math.inf, -math.inf
    ends = []
    for beyond in (-1, records + 1):
        held, rejected = nearest, beyond
        while abs(rejected - held) > 1:
            middle = (held + rejected) // 2
            held, rejected = (middle, rejected) if is_held(middle) else (held, middle)
        ends.append(float(held))
    return ends[0], ends[1]


def distinct_rows(
    data: IntoFrame | Mapping[str, Iterable[object]],
    variables: tuple[Variable, ...],
    plain: tuple[str, ...],
    *,
    weights: str | None = None,
    count: str | None = None,
) -> tuple[pl.DataFrame, int]:
    """The distinct records without gaps, with how many there are of each and their weights; how many have a gap."""
    frame: Any = nw.from_native(pl.DataFrame(data, strict=False) if isinstance(data, Mapping) else data).lazy()
    known_columns = frame.collect_schema().names()
    named_columns = [
        name for variable in variables for name in (variable.column, variable.level) if name is not None
    ] + list(plain)
    amounts = {what: name for what, name in (("weights", weights), ("counts", count)) if name is not None}
    for name in (*named_columns, *amounts.values()):
        if name not in known_columns:
            raise DataError(_checks.no_column(name, known_columns), column=name)
    if not named_columns:
        raise DataError("a condition names one column at least")
    for variable in variables:
        if variable.plain:
            raise DataError(f"column {variable.column!r} has no design; name it as a plain one", column=variable.column)
        check_known(variable.known, "a sum over answers")
    for what, name in amounts.items():
        if name in named_columns or list(amounts.values()).count(name) > 1:
            raise DataError(f"column {name!r} is named twice; each column has one role", column=name)
        check_amounts(frame, name, what)
    people = nw.lit(1) if count is None else nw.col(count).cast(nw.Int64)
    sums = {HOW_MANY: people}
    if weights is not None:
        weight = nw.col(weights).cast(nw.Float64)
        sums |= {WEIGHT: weight * people, WEIGHT_SQUARED: weight * weight * people}
    frame = frame.with_columns(**sums)
    rows = frame.group_by(list(dict.fromkeys(named_columns))).agg(nw.col(*sums).sum()).collect().to_polars()
    whole_rows = rows.drop_nulls()
    if not whole_rows.height:
        raise DataError(f"no record is without a gap in {_checks.listing_text(named_columns)}")
    if not whole_rows[list(sums)[-1]].sum():
        raise DataError(f"{' and '.join(amounts)} must not all be 0, as in {_checks.listing_text(amounts.values())}")
    return whole_rows, int(rows[HOW_MANY].sum()) - int(whole_rows[HOW_MANY].sum())


def _strata(
    rows: pl.DataFrame,
    variables: tuple[Variable, ...],
    plain: tuple[str, ...],
    condition: Callable[..., Any],
    shape: tuple[int, ...],
) -> Iterator[_Stratum]:
    """The records, grouped by the cells that plain columns leave open, and by the levels of the designs."""
    plain_rows = rows.select(plain).unique() if plain else pl.DataFrame({})
    place = np.zeros(rows.height, dtype=np.int64)
    if plain:
        numbered = plain_rows.with_row_index("_place")
        place = (
            rows.join(numbered, on=list(plain), how="left", maintain_order="left")["_place"].to_numpy().astype(np.int64)
        )
    masks, mask_of_place = _masks(plain_rows, variables, plain, condition, shape)
    level_columns = [variable.level for variable in variables]
    levels = [
        [None] * rows.height if column is None else rows[column].cast(pl.String).to_list() for column in level_columns
    ]
    people, mask_of_row = rows[HOW_MANY].to_numpy().astype(np.int64), mask_of_place[place]
    group_of_row = np.array(list(_numbered(zip(mask_of_row.tolist(), *levels, strict=True))), dtype=np.int64)
    for group in range(int(group_of_row.max()) + 1):
        members = np.flatnonzero(group_of_row == group)
        first = int(members[0])
        channels = tuple(channel_of(variable, levels[axis][first]) for axis, variable in enumerate(variables))
        indicators = tuple(
            indicators_of(channel, variable.column, rows[variable.column].gather(members))
            for channel, variable in zip(channels, variables, strict=True)
        )
        yield _Stratum(people[members], indicators, masks[mask_of_row[first]], channels)


def _numbered(keys: Iterable[tuple[Any, ...]]) -> Iterator[int]:
    """The number of each key, in the order in which keys first come."""
    number_of_key: dict[tuple[Any, ...], int] = {}
    for key in keys:
        yield number_of_key.setdefault(key, len(number_of_key))


def _masks(
    plain_rows: pl.DataFrame,
    variables: tuple[Variable, ...],
    plain: tuple[str, ...],
    condition: Callable[..., Any],
    shape: tuple[int, ...],
) -> tuple[list[Bools], NDArray[np.int64]]:
    """The distinct sets of cells that the condition describes, and which of them each distinct plain row has."""
    labels = {
        variable.column: np.array(variable.labels, dtype=object).reshape(
            [1, *(-1 if other == axis else 1 for other in range(len(shape)))]
        )
        for axis, variable in enumerate(variables)
    }
    height, cells = max(plain_rows.height, 1), math.prod(shape)
    step = max(1, _AT_ONCE // max(cells, 1))
    number_of_mask: dict[bytes, int] = {}
    masks: list[Bools] = []
    places = []
    for start in range(0, height, step):
        piece = plain_rows.slice(start, step)
        pieces = {name: piece[name].to_numpy().reshape([-1, *[1] * len(shape)]) for name in plain}
        size = len(piece) if plain else 1
        described = np.broadcast_to(np.asarray(condition(**labels, **pieces), dtype=bool), (size, *shape))
        for mask in described:
            key = np.packbits(mask).tobytes()
            if key not in number_of_mask:
                number_of_mask[key] = len(masks)
                masks.append(np.array(mask))
            places.append(number_of_mask[key])
    return masks, np.array(places, dtype=np.int64)


def channel_of(variable: Variable, level: str | None) -> Channel:
    """The channel under which the answers of one level were given."""
    design: Any = variable.design
    if variable.level is None:
        if design.offer.names_needed:
            raise DataError(
                f"{design.name or design.kind} needs the column of the levels of {variable.column!r}",
                column=variable.column,
            )
        channel: Channel = design.channel()
        return channel
    channels: dict[str, Channel] = {str(name): part for name, part in design.parts.items()}
    if level not in channels:
        raise DataError(
            f"column {variable.level!r} holds {level!r}, which is no level; {_checks.nearest(level, channels)}",
            column=variable.level,
        )
    return channels[level]


def indicators_of(channel: Channel, column: str, answers: pl.Series) -> Floats:
    """The unbiased indicators (rows, categories) of a column's answers."""
    try:
        codes = channel.space.encode(answers.to_list())
    except AnswerError as error:
        answer = answers[error.row] if isinstance(error.row, int) else error.value
        raise DataError(
            f"column {column!r} holds {answer!r}, which is no answer under its design", column=column
        ) from None
    try:
        return linear_map(channel)(channel.space.statistic(codes))
    except NotEstimable as error:
        raise NotEstimable(f"column {column!r}: {error}", contrast=error.contrast, rank=error.rank) from None


MOST_ATTRIBUTED = 30_000_000
"""Cells of all attributes together, and combinations of answers (240 MB each)."""

_SHOWN = 20  # cells in print, the largest first


@dataclass(frozen=True, eq=False)
class Joint(Result):
    """The joint distribution of several attributes; see `joint`.

    Parameters
    ----------
    columns : tuple of str
        The D attributes.
    labels : tuple of tuple of label
        The categories of each.
    indicators : tuple of (answers, categories) float
        The unbiased indicators of the distinct answers to each.
    squares : tuple of (categories, categories) float
        The mean square of each indicator (column) of people in each category (row).
    people : (answers, …) int
        How many people gave each combination of answers.
    left_out : int
        People without an answer to some attribute.
    confidence : float
        Of the intervals that are printed.
    weight, weight_squared : (answers, …) float, optional
        The sums of these people's weights and of their squares; without weights both are `people`.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    indicators: tuple[Floats, ...]
    squares: tuple[Floats, ...]
    people: Array
    left_out: int = 0
    confidence: float = 0.95
    weight: Array | None = None
    weight_squared: Array | None = None

    @property
    def n(self) -> int:
        """People who answered every attribute."""
        return int(self.people.sum())

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, float, float]:
        """The share of the weight of each combination of answers, the squared weights, and what both sum to."""
        weight = self.people if self.weight is None else self.weight
        squared = self.people if self.weight_squared is None else self.weight_squared
        total = float(weight.sum())
        return weight / total, squared, total, float(squared.sum())

    @cached_property
    def proportions(self) -> Floats:
        """The unbiased share of each cell, (categories, …); they sum to one, and some may be negative."""
        return _fold(self._sums[0], self.indicators)

    @cached_property
    def standard_errors(self) -> Floats:
        """Of each cell, (categories, …): moments, n - 1, linearized in the weights; NaN for one person."""
        _, squared, total, squared_total = self._sums
        squares = _fold(squared, [indicators**2 for indicators in self.indicators])
        if self.weight is None:
            deviations = squares - total * self.proportions**2
        else:
            deviations = squares - 2 * self.proportions * _fold(squared, self.indicators)
            deviations += squared_total * self.proportions**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(deviations, 0.0) * np.divide(self.n, self.n - 1.0)) / total)

    @property
    def _effective(self) -> Floats:
        """How many unweighted people are as precise, by cell: Kish's number, or fewer where weights go with answers."""
        shares, _, total, squared_total = self._sums
        if self.weight is None:
            return np.full(self.proportions.shape, float(self.n))
        kish = total**2 / squared_total
        plain = (_fold(shares, [indicators**2 for indicators in self.indicators]) - self.proportions**2) / kish
        linearized = self.standard_errors**2 * (1 - 1 / self.n)
        return np.asarray(kish / np.maximum(linearized / np.maximum(plain, 1e-300), 1.0))

    @cached_property
    def intervals(self) -> Floats:
        """Of each cell by itself, (categories, …, 2), cut to [0, 1]."""
        z = float(scipy.special.ndtri(0.5 + self.confidence / 2))
        inside = reduce(np.multiply.outer, [np.diagonal(squares) for squares in self.squares])
        effective = self._effective
        near = np.maximum(self.proportions, 0.0) * effective.max() + 1.0
        near /= near.sum()
        outside = np.maximum(_fold(near, self.squares) - near * inside, 0.0) / (1.0 - near)
        law = np.array([outside, inside - outside, np.full(near.shape, -1.0)]).reshape(3, -1)
        ends = score_ends(np.clip(self.proportions.ravel(), 0.0, 1.0), effective.ravel(), law, z**2)
        return np.clip(ends, 0.0, 1.0).reshape(*near.shape, 2)

    def marginal(self, *columns: str) -> Joint:
        """The joint distribution of some of the attributes, in this order."""
        for column in columns:
            if column not in self.columns:
                raise DataError(_checks.no_column(column, self.columns), column=column)
        if not columns or len(set(columns)) < len(columns):
            raise DataError(f"name different attributes, one at least; got {_checks.listing_text(columns)}")
        places = [self.columns.index(column) for column in columns]
        others = tuple(place for place in range(len(self.columns)) if place not in places)
        order = [sorted(places).index(place) for place in places]

        def margin(sums: Array) -> Array:
            return np.transpose(sums.sum(axis=others), order)

        return Joint(
            columns,
            tuple(self.labels[place] for place in places),
            tuple(self.indicators[place] for place in places),
            tuple(self.squares[place] for place in places),
            margin(self.people),
            self.left_out,
            self.confidence,
            None if self.weight is None else margin(self.weight),
            None if self.weight_squared is None else margin(self.weight_squared),
        )

    def parts(self) -> list[Content]:
        """The largest cells with their intervals."""
        cells = self.proportions.size
        order = np.argsort(-self.proportions, axis=None, kind="stable")[:_SHOWN]
        rows = []
        for place in order.tolist():
            cell = np.unravel_index(place, self.proportions.shape)
            share, error = float(self.proportions[cell]), float(self.standard_errors[cell])
            names = [_checks.label(labels[at]) for labels, at in zip(self.labels, cell, strict=True)]
            numbers = (share, error, *self.intervals[cell].tolist())
            rows.append((*names, *(f"{number:.4f}" for number in numbers)))
        shown = "" if cells <= _SHOWN else f"; the {_SHOWN} largest"
        people = "1 person" if self.n == 1 else f"{self.n:,} people"
        head = f"{' × '.join(self.columns)}: {cells:,} cells, {people} answered every attribute{shown}"
        heads = (*(Column(name, words=True) for name in self.columns), *map(Column, ("share", "s.e.", "low", "high")))
        notes = [Note("unbiased shares by moments, which may be negative; score intervals, each by itself")]
        if self.weight is not None:
            notes.append(Note("shares of the sum of the survey weights; people count as independent"))
        if self.left_out:
            notes.append(Note(f"{self.left_out:,} more people left an attribute out; not counted"))
        return [Sentence(head), Table(heads, tuple(rows)), *notes]

    def numbers(self) -> dict[str, object]:
        """Under the names of the JSON."""
        return {
            "columns": self.columns,
            "labels": [list(labels) for labels in self.labels],
            "n": self.n,
            "left_out": self.left_out,
            "proportions": self.proportions,
            "standard_errors": self.standard_errors,
            "intervals": self.intervals,
            "confidence": self.confidence,
        }

    def records(self) -> Records:
        """A row for each cell."""
        columns = (self.proportions[..., None], self.standard_errors[..., None], self.intervals)
        shares = np.concatenate(columns, axis=-1).reshape(-1, 4).tolist()
        names = (
            [labels[at] for labels, at in zip(self.labels, cell, strict=True)]
            for cell in np.ndindex(*self.proportions.shape)
        )
        rows = [[*cell_names, *numbers] for cell_names, numbers in zip(names, shares, strict=True)]
        return Records([*self.columns, "share", "standard_error", "low", "high"], rows)


def joint(
    data: IntoFrame | Mapping[str, Iterable[object]],
    attributes: Iterable[Variable],
    *,
    weights: str | None = None,
    count: str | None = None,
    confidence: float = 0.95,
) -> Joint:
    """The joint distribution of any number of attributes, each answered under its own design, with all errors.

    Parameters
    ----------
    data : dataframe or mapping of columns
        One row for each person.
    attributes : iterable of Variable
        Columns with their designs, or plain ones. With a column of levels, each answer is read under the level that its
        person chose.
    weights, count : str, optional
        The columns of survey weights, and of how many people each row stands for.
    confidence : float

    Returns
    -------
    Joint

    Raises
    ------
    DataError
        Columns that are not there, answers that a design cannot give, more than 30 million cells, designs whose chances
        are estimated, or which rest on several columns.
    NotEstimable
        A design that does not tell its categories apart.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, joint
    >>> place, mode = designs.negative(("north", "south", "west")), designs.negative(("car", "bus", "foot"))
    >>> said = {"place": ["south", "west", "south", "north"], "mode": ["bus", "bus", "foot", "car"]}
    >>> found = joint(said, [Variable("place", place), Variable("mode", mode)])
    >>> found.proportions.sum().round(9), found.marginal("mode").proportions.round(2)
    (np.float64(1.0), array([0.5, 0. , 0.5]))
    """
    _checks.confidence(confidence)
    variables = tuple(attributes)
    columns = tuple(variable.column for variable in variables)
    if not columns or len(set(columns)) < len(columns):
        raise DataError(f"name different attributes, one at least; got {_checks.listing_text(columns)}")
    variables = tuple(
        replace(variable, design=variable.known, categories=None) for variable in known_variables(variables, data)
    )
    for variable in variables:
        if variable.controls or variable.known.cells != variable.labels:
            raise DataError(
                f"column {variable.column!r}: controls and designs of several samples have no indicator of each "
                "answer; cross two or three such attributes by crosstab, --row and --column",
                column=variable.column,
            )
    _check_size([len(variable.labels) for variable in variables], "cells")
    _check_size([max(len(variable.labels) for variable in variables)] * 2, "pairs of categories of one attribute")
    rows, left_out = distinct_rows(data, variables, (), weights=weights, count=count)
    indexed = [_indexed(rows, variable) for variable in variables]
    shape = [len(indicators) for _, indicators, _ in indexed]
    _check_size(shape, "combinations of answers")
    places = np.ravel_multi_index([answer_places for answer_places, _, _ in indexed], shape)

    def sums(column: str) -> Array:
        return np.bincount(places, rows[column].to_numpy(), minlength=math.prod(shape)).reshape(shape)

    labels = tuple(variable.labels for variable in variables)
    _, indicators, squares = zip(*indexed, strict=True)
    weighted = () if weights is None else (sums(WEIGHT), sums(WEIGHT_SQUARED))
    return Joint(columns, labels, indicators, squares, sums(HOW_MANY), left_out, confidence, *weighted)


def _check_size(shape: Sequence[int], what: str) -> None:
    if math.prod(shape) > MOST_ATTRIBUTED:
        raise DataError(
            f"{' × '.join(map(str, shape))} {what} are more than {MOST_ATTRIBUTED:,}; name fewer attributes at once, "
            "or merge categories"
        )


def _indexed(rows: pl.DataFrame, variable: Variable) -> tuple[Array, Floats, Floats]:
    """The place of each row's answer among the distinct ones of a column, (rows,), their indicators and `squares`."""
    keys = [variable.column] if variable.level is None else [variable.column, variable.level]
    answers = rows.select(keys).unique(maintain_order=True)
    places = rows.select(keys).join(answers.with_row_index("_place"), on=keys, how="left", maintain_order="left")
    levels = [None] * answers.height if variable.level is None else answers[variable.level].cast(pl.String).to_list()
    indicators, squares = np.zeros((answers.height, len(variable.labels))), np.zeros((len(variable.labels),) * 2)
    people = np.bincount(places["_place"].to_numpy(), rows[HOW_MANY].to_numpy())
    for level in dict.fromkeys(levels):
        members = np.flatnonzero([other == level for other in levels])
        channel = channel_of(variable, level)
        indicators[members] = indicators_of(channel, variable.column, answers[variable.column].gather(members))
        squares += people[members].sum() / people.sum() * mean_squares(channel)
    return places["_place"].to_numpy(), indicators, squares


def _fold(people: Floats, indicators: Sequence[Floats]) -> Floats:
    """The sum over all combinations of answers, one axis after the other, (categories, …)."""
    for axis, of_axis in enumerate(indicators):
        people = _along(axis, of_axis.T, people)
    return np.ascontiguousarray(people)
