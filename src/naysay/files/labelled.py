"""Files of SPSS and Stata, read in pieces, and only the columns that are asked for."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from naysay.errors import DataError
from naysay.files.kinds import PROGRAMS, kind, library, no_rows
from naysay.files.statistical import Code, Variable, shown, variables

__all__ = ["labels_of", "scan_labelled", "stored", "titles_of"]

_CELLS = 2_000_000  # of one piece: pyreadstat makes a Python object of each
_READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}


def scan_labelled(path: Path, *, encoding: str | None, codes: bool | Collection[str]) -> pl.LazyFrame:
    """The file as a lazy frame, labels in place of codes unless codes are asked for."""
    path.open("rb").close()  # a folder, or a file without permission, in the system's own words
    file = _opened(path, encoding)
    told = file.told()
    known = variables(told, system=kind(path), codes=codes)
    first = list(known)[:1]
    # where a file does not say how many rows it holds, one is read
    if not first or not (told.number_rows or file.read(usecols=first, row_limit=1)[0][first[0]]):
        raise no_rows(path)

    def source(
        names: list[str] | None, predicate: pl.Expr | None, most: int | None, batch: int | None
    ) -> Iterator[pl.DataFrame]:
        asked = [known[name] for name in names or known]
        for variable in asked:
            variable.check_labels()
        for piece in _pieces(file, asked, rows=told.number_rows, most=most):
            yield piece if predicate is None else piece.filter(predicate)

    return register_io_source(source, schema={name: each.dtype for name, each in known.items()})


def labels_of(path: Path, name: str, *, encoding: str | None) -> dict[str, str]:
    """The labels of one variable by code as text, in the order of the codes; none where there is no such variable."""
    known = variables(_opened(path, encoding).told(), system=kind(path), codes=False)
    labels = known[name].labels if name in known else {}
    return {code if isinstance(code, str) else shown(code): labels[code] for code in sorted(labels)}


def stored(path: Path, *, encoding: str | None) -> tuple[dict[str, list[Code | None]], Any]:
    """All cells as the file stores them, user-missing ones too, and all that it tells of its variables."""
    ranges = {} if path.suffix.lower() == ".por" else {"user_missing": True}
    return _opened(path, encoding).read(**ranges)


def titles_of(path: Path, *, encoding: str | None) -> dict[str, str]:
    """The labels of the variables, by name; those without one are left out."""
    told = _opened(path, encoding).told()
    return {name: label for name, label in told.column_names_to_labels.items() if label and label.strip()}


@dataclass(frozen=True)
class _File:
    """A file, and the library that reads it."""

    path: Path
    encoding: str | None
    library: Any

    def read(self, **options: Any) -> tuple[dict[str, list[Code | None]], Any]:
        """Cells by column, user-missing ones as None, and what the file tells of its variables."""
        reader = getattr(self.library, _READERS[self.path.suffix.lower()])
        if self.encoding is not None:
            options["encoding"] = self.encoding
        try:
            cells, told = reader(self.path, output_format="dict", disable_datetime_conversion=True, **options)
        except (self.library.ReadstatError, self.library.PyreadstatError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from None
        return cells, told

    def _unreadable(self, error: Exception) -> DataError:
        if isinstance(error, UnicodeDecodeError) or "byte sequence" in str(error):
            return DataError(
                f"the text in {str(self.path)!r} is not {self.encoding or 'in the encoding that the file names'}; "
                "if an older program wrote it, add --encoding cp1252 (or latin-1)"
            )
        if "character set" in str(error):
            return DataError(
                f"{str(self.path)!r} cannot be read as {self.encoding or 'the encoding that it names'}; "
                "name another with --encoding, such as utf-8, cp1252 or latin-1"
            )
        system = PROGRAMS[kind(self.path)]
        return DataError(f"cannot read {str(self.path)!r} ({error}); it is cut short, damaged or no file of {system}")

    def told(self) -> Any:
        """What the file tells of its variables, with the ranges of codes that are user-missing."""
        ranges = {} if self.path.suffix.lower() == ".por" else {"user_missing": True}  # not told of .por
        return self.read(metadataonly=True, **ranges)[1]


def _pieces(file: _File, asked: Sequence[Variable], *, rows: int | None, most: int | None) -> Iterator[pl.DataFrame]:
    """These variables in pieces; `rows` is what the file says that it holds."""
    names = [variable.name for variable in asked]
    end = min((number for number in (rows, most) if number is not None), default=None)
    size = max(_CELLS // len(names), 1)
    at, full = 0, True
    while full and at != end:
        limit = size if end is None else min(size, end - at)
        cells, _ = file.read(usecols=names, row_limit=limit, row_offset=at)
        height = len(cells[names[0]])
        piece = pl.DataFrame([variable.cells(cells[variable.name], row=at) for variable in asked])
        _check_letters(file.path, piece)
        yield piece
        at, full = at + height, height == limit


def _check_letters(path: Path, piece: pl.DataFrame) -> None:
    """Raise where the reader of .por files put U+FFFD for what is not UTF-8: different words may become one."""
    texts = piece.select(pl.col(pl.String)) if path.suffix.lower() == ".por" else pl.DataFrame()
    for column in texts:
        if column.str.contains("\ufffd", literal=True).any():
            raise DataError(
                f"column {column.name!r} of {str(path)!r} holds letters that are not UTF-8; save it as .sav instead",
                column=column.name,
            )


def _opened(path: Path, encoding: str | None) -> _File:
    """The file, and the library that reads it, after checking that both can be used."""
    try:
        name = None if encoding is None else codecs.lookup(encoding).name.removesuffix("-sig")
    except LookupError:
        raise DataError(f"no encoding is called {encoding!r}; known are utf-8, latin-1, cp1252, …") from None
    reader = library(path)
    if name is not None and (path.suffix.lower() == ".por" or name.startswith(("utf-16", "utf-32"))):
        raise DataError(f"{str(path)!r} cannot be in {encoding}; leave --encoding out")
    return _File(path, name, reader)
