"""All errors of naysay, and its one warning.

::

    NaysayError
    ├── DesignError        a design that cannot be, or cannot be drawn      (also a ValueError)
    ├── DataError          answers, weights, levels or files that do not fit (also a ValueError)
    │   └── AnswerError    one answer that the design cannot produce
    └── NotEstimable       answers from which the question cannot be decided (also a ValueError)
    StatisticalWarning     a valid number that needs a reservation

A message says what must hold, what came instead, and the way out. The attributes hold what a program needs to recover.
A `StatisticalWarning` is neither raised nor printed. It stays with its estimate, in ``fit.warnings``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

__all__ = [
    "AnswerError",
    "DataError",
    "DesignError",
    "ExtraMissing",
    "NaysayError",
    "NotEstimable",
    "StatisticalWarning",
    "need",
]


class NaysayError(Exception):
    """The root of all errors that naysay raises on purpose."""


class DesignError(NaysayError, ValueError):
    """An impossible design: bad probabilities, too few categories, labels that collide."""


class DataError(NaysayError, ValueError):
    """Data that does not fit the design or the file.

    Parameters
    ----------
    message : str
        What must hold, what came, and the way out.
    row : int, optional
        Position of the first offending answer, counted from 0.
    column : str, optional
        Name of the offending column.
    value : object, optional
        The offending value.

    Examples
    --------
    >>> error = DataError("weights must not be negative; got -1.0 in answer 4 of 9", row=3, value=-1.0)
    >>> error.row, error.value
    (3, -1.0)
    """

    def __init__(
        self, message: str, *, row: int | None = None, column: str | None = None, value: object = None
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value


class AnswerError(DataError):
    """One answer that the design cannot produce.

    Parameters
    ----------
    problem : str
        What is wrong with the answer. The text continues a sentence that begins with the answer's place.
    row, total : int
        The answer's position, counted from 0, and the number of answers.
    value : object
        The answer.
    about : str
        What the problem concerns: the "answer", or the "level" or "sample" in which it was given.

    Examples
    --------
    >>> error = AnswerError("is empty", row=3, total=9, value="")
    >>> print(error)
    answer 4 of 9 is empty
    >>> print(error.at("column 'income', row 70,"))
    column 'income', row 70, is empty
    """

    def __init__(self, problem: str, *, row: int, total: int, value: object, about: str = "answer") -> None:
        super().__init__(f"{about} {row + 1} of {total} {problem}", row=row, value=value)
        self.problem = problem
        self.about = about

    def at(self, place: str, *, row: int | None = None, column: str | None = None) -> DataError:
        """The same error, with the place named in another way."""
        return DataError(f"{place} {self.problem}", row=row, column=column, value=self.value)


class NotEstimable(NaysayError, ValueError):
    """Proportions that the answers cannot tell apart, however many answers there are.

    Parameters
    ----------
    message : str
        Which contrast is lost, and the way out.
    contrast : sequence of float, optional
        A direction (t,) in which the proportions can move without changing any response probability.
    rank : int, optional
        Rank of the design on the proportions that sum to one; t - 1 is needed.
    """

    def __init__(self, message: str, *, contrast: Sequence[float] = (), rank: int | None = None) -> None:
        super().__init__(message)
        self.contrast = tuple(contrast)
        self.rank = rank


class StatisticalWarning(UserWarning):
    """A reservation about a valid number: an estimate at the boundary, small cells, a level chosen by category."""


class ExtraMissing(ImportError):
    """A library of an extra is not installed. The message says how to install it."""


def need(module: str) -> ModuleType:
    """The module; if it is missing, an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"the report needs {error.name}, which is not installed; get it with: pip install 'naysay[plots]'",
            name=error.name,
        ) from None


@contextmanager
def in_group(group: object) -> Iterator[None]:
    """Put the name of the group in front of errors raised inside."""
    try:
        yield
    except AnswerError:
        raise
    except (DataError, NotEstimable) as error:
        if group is None:
            raise
        message = f"in group {group!r} {error}"
        if isinstance(error, NotEstimable):
            raise NotEstimable(message, contrast=error.contrast, rank=error.rank) from None
        raise DataError(message, row=error.row, column=error.column, value=error.value) from None
