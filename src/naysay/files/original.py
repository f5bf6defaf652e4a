"""A file that is written again with some columns replaced, and with all else that it says as it was.

What stays is stored as it was: codes, labels of variables and values, user-missing codes, formats of dates. What a
method changed gets the codes that its values had, or new codes with new labels where values are new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from naysay.errors import DataError
from naysay.files.casts import text_of
from naysay.files.codebook import Codebook, codebook_of
from naysay.files.kinds import PROGRAMS, kind, library
from naysay.files.reading import scan
from naysay.files.statistical import labels_of, stored
from naysay.files.writing import whole, write, write_pieces


@dataclass(frozen=True, eq=False)
class Original:
    r"""A file, as it is read and as it is stored.

    Parameters
    ----------
    path : Path
    frame : DataFrame
        As `naysay.files.scan` reads it: labels in place of codes, and gaps where cells mean missing.
    separator, encoding, codes, missing, table
        How it was read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("age,name\n36,Ada\n-9,Eve\n")
    ...     file = Original.read(path, missing=["-9"])
    ...     file.frame["age"].to_list()
    ['36', None]
    """

    path: Path
    frame: pl.DataFrame
    separator: str = ","
    encoding: str | None = None
    codes: bool | Collection[str] = False
    missing: tuple[str, ...] = ()
    cells: Mapping[str, Any] = field(default_factory=dict, repr=False)
    told: Any = field(default=None, repr=False)
    table: str | None = None

    @classmethod
    def read(
        cls,
        path: Path,
        *,
        separator: str = ",",
        encoding: str | None = None,
        codes: bool | Collection[str] = False,
        missing: Sequence[str] = (),
        table: str | None = None,
    ) -> Original:
        """The file, all of it in memory.

        Raises
        ------
        DataError
            What `naysay.files.scan` refuses, and the export of a survey, whose private columns have a design already.
        """
        if codebook_of(path) is not None:
            told = f"{str(path)!r} is the export of a survey, or a release: its codebook lies beside it"
            raise DataError(f"{told}, and would not fit what is changed; copy the file to another folder without it")
        frame = scan(path, separator=separator, encoding=encoding, codes=codes, table=table).collect()
        cells: dict[str, Any] = {}
        about = None
        if kind(path) in ("spss", "stata"):
            cells, about = stored(path, encoding=encoding)
        schema = frame.schema
        flat = [name for name in frame.columns if missing and not schema[name].is_nested()]
        gone = [pl.when(~text_of(name, schema[name]).is_in(list(missing))).then(name).alias(name) for name in flat]
        return cls(path, frame.with_columns(gone), separator, encoding, codes, tuple(missing), cells, about, table)

    @property
    def labels(self) -> dict[str, str]:
        """What the file calls its variables, of those that have a label."""
        found = {} if self.told is None else self.told.column_names_to_labels
        return {name: label for name, label in found.items() if label and label.strip()}

    def value_labels(self, name: str) -> dict[Any, str]:
        """What the file calls the codes of a variable."""
        return {} if self.told is None else dict(self.told.variable_value_labels.get(name, {}))

    def reasons(self, name: str) -> int:
        """How many cells of a variable say why they are missing: user-missing codes of SPSS, Stata's .a to .z."""
        known = zip(self.cells.get(name, ()), self.frame[name].is_null(), strict=False)
        return sum(gap and cell is not None and cell != "" for cell, gap in known)

    def write(
        self,
        made: pl.DataFrame,
        rows: Sequence[int] | None,
        path: Path,
        *,
        changed: Collection[str],
        plain: Collection[str],
        meanings: Codebook | None = None,
    ) -> None:
        """Write a table that was made of this one, to a file of the same kind or of another.

        Parameters
        ----------
        made : DataFrame
        rows : (made.height,) sequence of int, optional
            The row of this file that each row was, counted from 0; None where rows are new.
        path : Path
        changed : columns whose cells may differ from those of the file
        plain : columns in which a gap is a gap: why something is missing is not kept, for it would tell people apart
        meanings : Codebook, optional
            Of columns that were drawn: in files of SPSS and Stata their labels say so.
        """
        system = kind(path, to_write=True)
        if system != kind(self.path):
            write(_texts(made), path, separator=self.separator)
            return
        if system in ("spss", "stata"):
            self._write_labelled(made, rows, path, system, set(changed), set(plain), meanings)
            return
        raw = scan(self.path, separator=self.separator, encoding=self.encoding).collect()
        kept = {  # by name: of columns in a list, one without a name would be given another
            name: self._restored(raw[name], made, name, rows) if name not in plain else made[name]
            for name in made.columns
        }  # fmt: skip
        frame = _texts(pl.DataFrame(kept))
        if system == "csv" and (self.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
            self._write_encoded(frame, path)
        elif system == "csv":
            marked, ends = _marks(self.path)
            with whole(path) as file:
                frame.write_csv(file, separator=self.separator, include_bom=marked, line_terminator=ends)
        else:
            write_pieces([_typed(frame) if system == "xlsx" else frame], path)

    def _restored(self, raw: pl.Series, made: pl.DataFrame, name: str, rows: Sequence[int] | None) -> pl.Series:
        """A column with the cells that the file holds where its gaps were: why something is missing stays."""
        own = made[name]
        if rows is None or not self.missing or own.dtype != raw.dtype:
            return own
        before = raw.gather(pl.Series(rows, dtype=pl.UInt32))
        was = self.frame[name].gather(pl.Series(rows, dtype=pl.UInt32))
        return pl.select(pl.when(own.is_null() & was.is_null()).then(before).otherwise(own)).to_series().alias(name)

    def _write_encoded(self, frame: pl.DataFrame, path: Path) -> None:
        try:
            ends = _marks(self.path)[1]
            data = frame.write_csv(separator=self.separator, line_terminator=ends).encode(self.encoding or "utf-8")
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise DataError(
                f"{self.encoding} has no letter {letter!r}, which a new value holds; write .parquet"
            ) from None
        with whole(path) as file:
            file.write(data)

    def _write_labelled(
        self,
        made: pl.DataFrame,
        rows: Sequence[int] | None,
        path: Path,
        system: str,
        changed: set[str],
        plain: set[str],
        meanings: Codebook | None,
    ) -> None:
        """A file of SPSS or Stata: stored cells where nothing changed, codes and labels of their own for new values."""
        writer, told = library(path), self.told
        columns: dict[str, list[Any]] = {}
        labels = dict(told.variable_value_labels)
        formats, measures = dict(told.original_variable_types), dict(told.variable_measure)
        ranges = dict(told.missing_ranges)  # what a code would mean, also where no cell holds it any more
        for name in made.columns:
            if name not in changed and name not in plain and rows is not None:
                columns[name] = [self.cells[name][row] for row in rows]
            elif isinstance(made.schema[name], pl.Enum):
                order = made[name].dtype.categories.to_list()  # type: ignore[attr-defined]
                codes = {label: number for number, label in enumerate(order, 1)}
                columns[name] = [None if cell is None else codes[cell] for cell in made[name].to_list()]
                labels[name] = {number: label for label, number in codes.items()}
                formats[name] = "F8.0" if system == "spss" else "%8.0g"
                ranges.pop(name, None)
                measures[name] = "nominal" if measures.get(name) == "nominal" else "ordinal"
            else:
                columns[name] = self._coded(made[name], name, rows, keep=name not in plain)
        names = dict(told.column_names_to_labels)
        for entry in meanings.entries if meanings else ():
            names[entry.column], labels[entry.column] = labels_of(entry, labels.get(entry.column, {}), system)
        given: dict[str, Any] = {
            "column_labels": {name: names.get(name) for name in columns},
            "variable_value_labels": {name: each for name, each in labels.items() if name in columns},
            "variable_format": {name: form for name, form in formats.items() if name in columns and form},
            "file_label": told.file_label or "",
        }
        if system == "spss":
            given["missing_ranges"] = {name: each for name, each in ranges.items() if name in columns}
            given["variable_measure"] = {name: each for name, each in measures.items() if name in columns}
            widths = told.variable_display_width
            given["variable_display_width"] = {name: each for name, each in widths.items() if name in columns}
            given["note"] = told.notes or None
            given["compress"] = path.suffix.lower() == ".zsav"
        else:
            letters = {name: each for name, each in told.missing_user_values.items() if name in columns}
            given["missing_user_values"] = {name: each for name, each in letters.items() if name not in plain}
            for name in plain & set(letters):  # no cell holds a letter any more, and its label has none to stand for
                told_labels = given["variable_value_labels"].get(name, {})
                given["variable_value_labels"][name] = {
                    code: label for code, label in told_labels.items() if code not in letters[name]
                }
        write_it = writer.write_sav if system == "spss" else writer.write_dta
        frame = pl.DataFrame([self._series(name, cells) for name, cells in columns.items()])
        try:
            with whole(path) as file:
                write_it(frame, file.name, **given)
        except (writer.ReadstatError, writer.PyreadstatError, OSError) as error:
            raise DataError(f"cannot write {str(path)!r} as a file of {PROGRAMS[system]}: {error}") from None

    def _coded(self, column: pl.Series, name: str, rows: Sequence[int] | None, *, keep: bool) -> list[Any]:
        """Cells with the code that each value has in the file; numbers that are new stay numbers."""
        before = self.frame[name]
        shown = before.to_frame().select(text_of(name, before.dtype)).to_series().to_list()
        known = {text: code for text, code in zip(shown, self.cells[name], strict=True) if text is not None}
        known |= {
            label: code for code, label in self.value_labels(name).items() if label not in known and not self.codes
        }
        texts = column.to_frame().select(text_of(name, column.dtype)).to_series().to_list()
        string = self.told.readstat_variable_types[name] == "string"
        found: list[Any] = []
        for place, text in enumerate(texts):
            if text is None:
                stays = keep and rows is not None and shown[rows[place]] is None
                found.append(self.cells[name][rows[place]] if stays and rows is not None else None)
            elif text in known:
                found.append(known[text])
            elif string:
                found.append(text)
            else:
                found.append(self._number(text, name))
        return found

    def _number(self, text: str, name: str) -> float:
        try:
            return float(text)
        except ValueError:
            told = f"column {name!r} holds numbers in {self.path.name!r}, and has no code for {text!r}"
            raise DataError(f"{told}; recode it, so that it gets codes of its own", column=name, value=text) from None

    def _series(self, name: str, cells: list[Any]) -> pl.Series:
        if self.told.readstat_variable_types[name] == "string" and all(
            cell is None or isinstance(cell, str) for cell in cells
        ):
            return pl.Series(name, cells, dtype=pl.String)
        if any(isinstance(cell, str) for cell in cells):  # Stata's .a to .z come as letters among numbers
            return pl.Series(name, cells, dtype=pl.Object)
        floats = self.told.readstat_variable_types[name] in ("double", "float") and any(
            cell is not None and cell != int(cell) for cell in cells
        )
        if floats or self.told.readstat_variable_types[name] == "double":
            return pl.Series(name, cells, dtype=pl.Float64)
        small = all(cell is None or (cell == int(cell) and abs(cell) < 2**31 - 101) for cell in cells)
        return pl.Series(name, cells, dtype=pl.Int32 if small else pl.Float64, strict=False)


def _marks(path: Path) -> tuple[bool, str]:
    """Whether a text file of UTF-8 begins with a byte order mark, and how its lines end."""
    with path.open("rb") as file:
        line = file.readline()
    return line.startswith(b"\xef\xbb\xbf"), "\r\n" if line.endswith(b"\r\n") else "\n"


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with Enums as texts, which other programs read."""
    return frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that are written just as numbers are, as numbers: a workbook's cells were read as texts."""
    found = []
    for column in frame:
        made = column
        if column.dtype == pl.String:
            for number in (pl.Int64, pl.Float64):
                cast = column.cast(number, strict=False)
                if cast.cast(pl.String).eq_missing(column).all():
                    made = cast
                    break
        found.append(made)
    return pl.DataFrame(found)
