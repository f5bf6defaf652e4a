"""What every method of protection is: a value with a name, its parameters, a promise, and a log of what it did."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names, engine_of
from naysay.microdata.protect.log import Done, Log, Step
from naysay.microdata.protect.tables import opened

Own = TypeVar("Own", bound="Random")
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A verb on a table.

    A method is a frozen value. `apply` never changes the table that it is given, and repeats itself exactly: whatever
    is random has a seed, which the log holds.
    """

    name: ClassVar[str]
    arithmetic: ClassVar[bool] = False
    """Whether it makes numbers that need not be values of the file. Value labels could then become false."""

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """The columns that it changes."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What it promises, and what not, in one sentence."""

    @abstractmethod
    def done(self, frame: pl.DataFrame) -> Done:
        """The table after it, in memory."""

    @property
    def foretold(self) -> bool:
        """Whether the true value of a cell tells what it becomes, unless emptied; if not, exact matching fails."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return self.variables

    def prepared(self) -> Method:
        """The same method with all that it leaves to chance decided."""
        return self

    def apply(self, table: Any) -> tuple[Any, Log]:
        """The table after it, and what was done.

        Parameters
        ----------
        table : dataframe or mapping of columns
            Any dataframe that narwhals takes, or a mapping; the result is of the same kind.

        Raises
        ------
        DataError
            Columns that the table does not have, or values that the method cannot take.
        """
        engine = engine_of(table)
        if engine is not None:
            return self.apply_on(engine, table)
        frame, back = opened(table)
        check_names(self.needs, frame.columns)
        method = self.prepared()
        done = method.done(frame)
        return back(done.frame), Log((Step.of(method, frame, done),))

    def apply_on(self, engine: str, table: Any) -> tuple[Any, Log]:
        """The same on a table of DuckDB or Spark."""
        raise DataError(
            f"{self.name!r} works on tables in memory; this one is lazy on {engine}: collect it first. There, recode, "
            "bins, intervals, dates, generalize and suppress work where the table is"
        )

    def form(self) -> dict[str, Any]:
        """The method as plain data, as a plan holds it."""
        plain_form: dict[str, Any] = {"method": self.name}
        for field in fields(self):
            value = _plain(getattr(self, field.name))
            if value is not None and value != {} and (value != [] or field.name in ("keys", "variables")):
                plain_form[field.name] = value
        return plain_form

    @classmethod
    def of_form(cls, node: Mapping[str, Any], *, folder: Path | None = None) -> Method:
        """The method that a plan in some folder describes.

        Raises
        ------
        DataError
            A parameter that it does not have, or one that is missing.
        """
        parameter_names = [field.name for field in fields(cls)]
        parameters = {name: value for name, value in node.items() if name != "method"}
        for name in parameters:
            if name not in parameter_names:
                raise DataError(f"{cls.name!r} has no parameter {name!r}; {_checks.nearest(name, parameter_names)}")
        try:
            return cls(**parameters)
        except TypeError as error:
            raise DataError(f"the step {cls.name!r} is not complete: {str(error).partition('() ')[2]}") from None


@dataclass(frozen=True, kw_only=True)
class Random(Method):
    """A method that draws; without a seed it takes one from the operating system, and the log says which."""

    seed: int | None = None

    def prepared(self: Own) -> Own:
        return self if self.seed is not None else replace(self, seed=secrets.randbits(63))

    def rng(self, *stratum: int) -> np.random.Generator:
        """The numbers of this method; each stratum has its own."""
        return np.random.default_rng([0 if self.seed is None else self.seed, *stratum])


def numbers_of(frame: pl.DataFrame, name: str, *, what: str) -> Floats:
    """A column as numbers, NaN where it has a gap; texts are read as the numbers that they write.

    Raises
    ------
    DataError
        A value that is no number, with its row.
    """
    column = frame[name]
    if column.dtype.is_numeric() and column.dtype != pl.Boolean:
        return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    texts = column.cast(pl.String, strict=False)
    texts = texts.set(texts == "", None)
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & texts.is_not_null()
    if wrong.any():
        row = wrong.arg_max() or 0
        complaint = f"column {name!r}, row {row + 1}, holds {str(texts[row])[:60]!r}, which is not a number"
        way_out = f"{what} needs numbers; say which cells are missing (--na), or recode the column by a hierarchy"
        raise DataError(f"{complaint}; {way_out}", row=row, column=name, value=texts[row])
    return numbers.fill_null(float("nan")).to_numpy()


def _plain(value: Any) -> Any:
    """A parameter in the words of a plan."""
    if hasattr(value, "form"):
        return value.form()
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    return value.item() if isinstance(value, np.generic) else value
