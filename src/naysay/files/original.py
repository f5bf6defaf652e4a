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
            problem = f"{str(path)!r} is the export of a survey, or a release: its codebook lies beside it"
            raise DataError(f"{problem}, and would not fit what is changed; copy the file to another folder without it")
        frame = scan(path, separator=separator, encoding=encoding, codes=codes, table=table).collect()
        cells: dict[str, Any] = {}
        metadata = None
        if kind(path) in ("spss", "stata"):
            cells, metadata = stored(path, encoding=encoding)
        schema = frame.schema
        flat = [name for name in frame.columns if missing and not schema[name].is_nested()]
        gone = [pl.when(~text_of(name, schema[name]).is_in(list(missing))).then(name).alias(name) for name in flat]
        return cls(path, frame.with_columns(gone), separator, encoding, codes, tuple(missing), cells, metadata, table)

    @property
    def labels(self) -> dict[str, str]:
        """What the file calls its variables, of those that have a label."""
        label_of = {} if self.told is None else self.told.column_names_to_labels
        return {name: label for name, label in label_of.items() if label and label.strip()}

    def value_labels(self, name: str) -> dict[Any, str]:
        """What the file calls the codes of a variable."""
        return {} if self.told is None else dict(self.told.variable_value_labels.get(name, {}))

    def reasons(self, name: str) -> int:
        """How many cells of a variable say why they are missing: user-missing codes of SPSS, Stata's .a to .z."""
        cells_and_gaps = zip(self.cells.get(name, ()), self.frame[name].is_null(), strict=False)
        return sum(gap and cell is not None and cell != "" for cell, gap in cells_and_gaps)

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
        restored_columns = {  # by name: of columns in a list, one without a name would be given another
            name: self._restored_column(raw[name], made, name, rows) if name not in plain else made[name]
            for name in made.columns
        }  # fmt: skip
        frame = _texts(pl.DataFrame(restored_columns))
        if system == "csv" and (self.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
            self._write_encoded(frame, path)
        elif system == "csv":
            marked, ends = _marks(self.path)
            with whole(path) as file:
                frame.write_csv(file, separator=self.separator, include_bom=marked, line_terminator=ends)
        else:
            write_pieces([_texts_as_numbers(frame) if system == "xlsx" else frame], path)

    def _restored_column(self, raw: pl.Series, table: pl.DataFrame, name: str, rows: Sequence[int] | None) -> pl.Series:
        """A column with the cells that the file holds where its gaps were: why something is missing stays."""
        new_cells = table[name]
        if rows is None or not self.missing or new_cells.dtype != raw.dtype:
            return new_cells
        before = raw.gather(pl.Series(rows, dtype=pl.UInt32))
        was = self.frame[name].gather(pl.Series(rows, dtype=pl.UInt32))
        return (
            pl.select(pl.when(new_cells.is_null() & was.is_null()).then(before).otherwise(new_cells))
            .to_series()
            .alias(name)
        )

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
        table: pl.DataFrame,
        rows: Sequence[int] | None,
        path: Path,
        system: str,
        changed: set[str],
        plain: set[str],
        meanings: Codebook | None,
    ) -> None:
        """A file of SPSS or Stata: stored cells where nothing changed, codes and labels of their own for new values."""
        writer, metadata = library(path), self.told
        columns: dict[str, list[Any]] = {}
        labels = dict(metadata.variable_value_labels)
        formats, measures = dict(metadata.original_variable_types), dict(metadata.variable_measure)
        ranges = dict(metadata.missing_ranges)  # what a code would mean, also where no cell holds it any more
        for name in table.columns:
            if name not in changed and name not in plain and rows is not None:
                columns[name] = [self.cells[name][row] for row in rows]
            elif isinstance(table.schema[name], pl.Enum):
                order = table[name].dtype.categories.to_list()  # type: ignore[attr-defined]
                codes = {label: number for number, label in enumerate(order, 1)}
                columns[name] = [None if cell is None else codes[cell] for cell in table[name].to_list()]
                labels[name] = {number: label for label, number in codes.items()}
                formats[name] = "F8.0" if system == "spss" else "%8.0g"
                ranges.pop(name, None)
                measures[name] = "nominal" if measures.get(name) == "nominal" else "ordinal"
            else:
                columns[name] = self._cells_as_codes(table[name], name, rows, keep=name not in plain)
        names = dict(metadata.column_names_to_labels)
        for entry in meanings.entries if meanings else ():
            names[entry.column], labels[entry.column] = labels_of(entry, labels.get(entry.column, {}), system)
        writer_options: dict[str, Any] = {
            "column_labels": {name: names.get(name) for name in columns},
            "variable_value_labels": {name: code_labels for name, code_labels in labels.items() if name in columns},
            "variable_format": {name: form for name, form in formats.items() if name in columns and form},
            "file_label": metadata.file_label or "",
        }
        if system == "spss":
            writer_options["missing_ranges"] = {
                name: code_ranges for name, code_ranges in ranges.items() if name in columns
            }
            writer_options["variable_measure"] = {
                name: measure for name, measure in measures.items() if name in columns
            }
            widths = metadata.variable_display_width
            writer_options["variable_display_width"] = {
                name: width for name, width in widths.items() if name in columns
            }
            writer_options["note"] = metadata.notes or None
            writer_options["compress"] = path.suffix.lower() == ".zsav"
        else:
            letters = {
                name: missing_codes for name, missing_codes in metadata.missing_user_values.items() if name in columns
            }
            writer_options["missing_user_values"] = {
                name: missing_codes for name, missing_codes in letters.items() if name not in plain
            }
            for name in plain & set(letters):  # no cell holds a letter any more, and its label has none to stand for
                all_labels = writer_options["variable_value_labels"].get(name, {})
                writer_options["variable_value_labels"][name] = {
                    code: label for code, label in all_labels.items() if code not in letters[name]
                }
        write_it = writer.write_sav if system == "spss" else writer.write_dta
        frame = pl.DataFrame([self._series(name, cells) for name, cells in columns.items()])
        try:
            with whole(path) as file:
                write_it(frame, file.name, **writer_options)
        except (writer.ReadstatError, writer.PyreadstatError, OSError) as error:
            raise DataError(f"cannot write {str(path)!r} as a file of {PROGRAMS[system]}: {error}") from None

    def _cells_as_codes(self, column: pl.Series, name: str, rows: Sequence[int] | None, *, keep: bool) -> list[Any]:
        """Cells with the code that each value has in the file; numbers that are new stay numbers."""
        before = self.frame[name]
        before_texts = before.to_frame().select(text_of(name, before.dtype)).to_series().to_list()
        code_of = {text: code for text, code in zip(before_texts, self.cells[name], strict=True) if text is not None}
        code_of |= {
            label: code for code, label in self.value_labels(name).items() if label not in code_of and not self.codes
        }
        texts = column.to_frame().select(text_of(name, column.dtype)).to_series().to_list()
        string = self.told.readstat_variable_types[name] == "string"
        codes: list[Any] = []
        for place, text in enumerate(texts):
            if text is None:
                stays = keep and rows is not None and before_texts[rows[place]] is None
                codes.append(self.cells[name][rows[place]] if stays and rows is not None else None)
            elif text in code_of:
                codes.append(code_of[text])
            elif string:
                codes.append(text)
            else:
                codes.append(self._number(text, name))
        return codes

    def _number(self, text: str, name: str) -> float:
        try:
            return float(text)
        except ValueError:
            problem = f"column {name!r} holds numbers in {self.path.name!r}, and has no code for {text!r}"
            raise DataError(
                f"{problem}; recode it, so that it gets codes of its own", column=name, value=text
            ) from None

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


def _texts_as_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that are written just as numbers are, as numbers: a workbook's cells were read as texts."""
    columns = []
    for column in frame:
        typed_column = column
        if column.dtype == pl.String:
            for number in (pl.Int64, pl.Float64):
                cast = column.cast(number, strict=False)
                if cast.cast(pl.String).eq_missing(column).all():
                    typed_column = cast
                    break
        columns.append(typed_column)
    return pl.DataFrame(columns)
