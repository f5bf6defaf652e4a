"""Answers drawn by the curator: the post-randomization method (PRAM), and the negative release of a column.

Both are designs of naysay. The released file carries its design, and estimates from it are unbiased, with standard
errors that know what was drawn.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import designs, privacy
from naysay.design import Design
from naysay.errors import DataError, DesignError
from naysay.microdata.keys.table import check_choice, check_names
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.tables import texts

_FINE = 10**9  # invariant matrices are rounded to this, so that they are exact
_POOR = 1e3  # a condition number above it: joint tables cannot be undone

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class _RandomizedColumn(Random):
    """A column whose cells are drawn by a design, record by record."""

    variable: str
    categories: Sequence[str] = ()
    gaps: Literal["keep", "category"] = "keep"
    within: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(map(str, self.categories)))
        object.__setattr__(self, "within", (self.within,) if isinstance(self.within, str) else tuple(self.within))
        check_choice(self.gaps, ("keep", "category"), what="gaps")
        if self.variable in self.within:
            raise DataError(f"{self.variable!r} is drawn, and cannot be a stratum of its own")

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.variable, *self.within)

    @abstractmethod
    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        """The design over these categories, of which the file holds these shares."""

    def done(self, frame: pl.DataFrame) -> Done:
        check_names(self.needs, frame.columns)
        cells = texts(frame[self.variable])
        if cells.dtype.is_nested():
            raise DataError(f"{self.variable!r} holds sets of candidates, which no design draws from")
        missing = "missing"
        if self.gaps == "category":
            if missing in cells.unique().to_list():
                raise DataError(f"{self.variable!r} holds the text 'missing' beside gaps; recode one of them")
            cells = cells.fill_null(missing)
        labels = self._labels(frame[self.variable], cells)
        is_known = cells.is_not_null().to_numpy()
        place = cells.replace_strict({label: at for at, label in enumerate(labels)}, default=-1, return_dtype=pl.Int64)
        count = np.bincount(place.to_numpy()[is_known], minlength=len(labels))
        design = self.design(labels, count / max(count.sum(), 1))
        drawn_cells: list[str | None] = [None] * frame.height
        for number, rows in enumerate(self._strata(frame, is_known)):
            truth = cells.gather(rows).to_list()
            for row, cell in zip(rows.tolist(), design.randomize(truth, rng=self.rng(number)).texts(), strict=True):
                drawn_cells[row] = cell
        column = pl.Series(self.variable, drawn_cells, dtype=pl.String)
        kind = frame.schema[self.variable]
        if kind.is_integer() and self.gaps == "keep":
            column = column.cast(kind)
        design_notes = notes_of_design(self.variable, design, count)
        return Done(frame.with_columns(column), None, design_notes, {self.variable: design})

    def _labels(self, column: pl.Series, cells: pl.Series) -> tuple[str, ...]:
        cell_labels = cells.drop_nulls().unique().sort().to_list()
        if isinstance(column.dtype, pl.Enum):
            cell_labels = [label for label in column.dtype.categories.to_list() if label in cell_labels]
        unknown = [label for label in cell_labels if self.categories and label not in self.categories]
        if unknown:
            raise DataError(f"column {self.variable!r} holds {unknown[0]!r}, which is none of its categories")
        labels = tuple(self.categories) or tuple(cell_labels)
        if len(labels) < 2:
            raise DataError(f"answers are drawn from two categories or more; {self.variable!r} holds {len(labels)}")
        if len(labels) > 1_000:
            complaint = (
                f"{self.variable!r} holds {len(labels):,} different values and looks like an identifier or a measure"
            )
            raise DataError(f"{complaint}; recode it first, or leave it out")
        return labels

    def _strata(self, frame: pl.DataFrame, is_known: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
        """The rows of each stratum that are drawn; each stratum has numbers of its own."""
        if not self.within:
            return [np.flatnonzero(is_known)]
        group = frame.select(pl.struct(self.within).rank("dense")).to_series().to_numpy()
        return [np.flatnonzero(is_known & (group == stratum)) for stratum in np.unique(group)]


@dataclass(frozen=True, kw_only=True)
class Pram(_RandomizedColumn):
    """Categories replaced at random, with known probabilities P (Gouweleeuw et al. 1998).

    Parameters
    ----------
    variable : str
    keep : float, optional
        The probability that a category stays; the others are equally likely.
    matrix : sequence of rows, optional
        Instead: P[i][j] = P(category i is released | category j is true), columns summing to one; decimals are exact.
    categories : sequence of str
        Their order; by default sorted as texts.
    invariant : bool
        R = QP in place of P, so that the shares of the file stay right on average without any correction. Joint tables
        can then often not be undone; the notes say how far.
    gaps : {"keep", "category"}
        Gaps stay, or "missing" is a category like others.
    within : sequence of str
        Strata; each draws from numbers of its own, from one P.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Pram(variable="job", keep=0.8, seed=1).apply({"job": ["cook", "nurse", None, "cook"]})
    >>> safe["job"]
    ['cook', 'nurse', None, 'cook']
    >>> log.steps[0].designs["job"].matrix
    array([[0.8, 0.2],
           [0.2, 0.8]])

    Source: Gouweleeuw et al. 1998; METHODS, section 3.
    """

    name: ClassVar[str] = "pram"
    keep: float | None = None
    matrix: Sequence[Sequence[Any]] = ()
    invariant: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in self.matrix))
        if (self.keep is None) == (not self.matrix):
            raise DataError(f"say how {self.variable!r} is drawn: by keep, or by a matrix")
        if self.keep is not None and not 0 <= self.keep < 1:
            raise DataError(f"keep must be a probability below 1; got {self.keep!r}")
        if self.matrix and not self.categories:
            raise DataError(f"a matrix needs its categories in their order; name those of {self.variable!r}")

    @property
    def promise(self) -> str:
        return "no value is certain to be true; estimates made with the design are unbiased, naive counts are not"

    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        rows: Any = self.matrix
        if self.keep is not None:
            stay = Fraction(str(self.keep))
            other = (1 - stay) / (len(labels) - 1)
            rows = [[stay if i == j else other for j in range(len(labels))] for i in range(len(labels))]
        try:
            column_design = designs.custom(rows, categories=labels)
        except DesignError as error:
            raise DataError(f"the probabilities of {self.variable!r} cannot be: {error}") from None
        if len(column_design.space.labels) != len(labels):
            raise DataError(f"the matrix of {self.variable!r} must have a row for each of its {len(labels)} categories")
        column_design = _invariant(column_design, labels, shares) if self.invariant else column_design
        if np.linalg.cond(column_design.matrix) > 1e12:
            raise DataError(
                f"the matrix of {self.variable!r} is singular: nothing can be estimated; raise its diagonal"
            )
        return column_design


@dataclass(frozen=True, kw_only=True)
class Negative(_RandomizedColumn):
    """A negative release: each record says a category that is *not* its own.

    Parameters
    ----------
    variable : str
    categories, gaps, within, seed
        As in `Pram`.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Negative(variable="job", seed=1).apply({"job": ["cook", "nurse", "smith"]})
    >>> any(a == b for a, b in zip(safe["job"], ["cook", "nurse", "smith"]))
    False

    Source: Esponda, Huerta & Guerrero 2016.
    """

    name: ClassVar[str] = "negative"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.categories and len(self.categories) < 3:
            raise DataError(f"a negative release of two categories gives the other one away; got {self.categories!r}")

    @property
    def promise(self) -> str:
        return "each record names a category that is not its own; estimates made with the design are unbiased"

    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        if len(labels) < 3:
            raise DataError(f"a negative release of two categories gives the other one away; {self.variable!r} has two")
        return designs.negative(labels)


def _invariant(pram_design: Design, labels: tuple[str, ...], shares: Floats) -> Design:
    """R = QP with Q[k, l] = P[l, k]·T_k / Σ_m P[l, m]·T_m, in whole parts of 10⁹: R·T = T."""
    p = np.asarray(pram_design.matrix, float)
    weight = p * shares
    total = weight.sum(axis=1, keepdims=True)
    q = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0).T
    r = q @ p
    for empty in np.flatnonzero(shares == 0):
        r[:, empty] = np.eye(len(shares))[empty]
    numerators = np.floor(r * _FINE + 0.5).astype(np.int64)
    numerators[np.arange(len(numerators)), np.arange(len(numerators))] += _FINE - numerators.sum(axis=0)
    return designs.custom(
        [[Fraction(int(numerator), _FINE) for numerator in row] for row in numerators], categories=labels
    )


def notes_of_design(name: str, design: Design, count: NDArray[np.int64]) -> tuple[str, ...]:
    """What a design costs: its condition, its least diagonal, ε, and the largest standard error that it adds."""
    p = np.asarray(design.matrix, float)
    n, share = int(count.sum()), count / max(count.sum(), 1)
    inverse = np.linalg.inv(p)
    spread = np.diag(p @ share) - (p * share) @ p.T
    added_errors = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse.T), 0) / max(n, 1))
    condition = float(np.linalg.cond(p))
    epsilon = privacy.epsilon(design)
    notes = [
        f"{name}: condition {condition:.4g}, least diagonal {np.diag(p).min():.4g}, ε = "
        f"{'∞' if np.isinf(epsilon) else f'{epsilon:.3g}'}; the largest standard error it adds to a share is "
        f"{added_errors.max():.4f}"
    ]
    if condition > _POOR:
        notes.append(
            f"{name}: joint tables cannot be undone with such a condition; use P itself, not the invariant form"
        )
    return tuple(notes)
