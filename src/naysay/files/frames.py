"""A file of any kind as a frame, and a frame as a file, whole or not at all.

A table of a DuckDB database becomes a Parquet file, which is there for as long as the program runs. The order of its
rows is that of the table: whoever reads it a second time reads the same rows, in pieces or whole.

Of a file that is written again with some of its columns replaced, what stays is stored as it was: codes, labels of
variables and values, user-missing codes, formats of dates. What a method changed gets the codes that its values had, or
new codes with new labels where values are new.
"""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from naysay import _checks
from naysay.errors import DataError
from naysay.files import statistical, text
from naysay.files.codebook import Codebook, codebook_of, explained, is_randomized
from naysay.files.statistical import (
    Code,
    labels_in,
    labels_of,
    scan_workbook,
    stored,
    write_statistical,
    write_workbook,
)
from naysay.files.text import PROGRAMS, as_gaps, escaped, kind, library, no_rows, readable, text_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def scan(
    path: Path,
    *,
    separator: str = ",",
    encoding: str | None = None,
    codes: bool | Collection[str] = False,
    table: str | None = None,
) -> pl.LazyFrame:
    r"""The file as a lazy frame, after checking that it can be read.

    In a file of SPSS or Stata a coded cell becomes its value label, a cell whose code has no label becomes the code
    as text (1.0 as ``1``), and user-missing values and blank texts are missing. Dates become dates; times of day,
    which may exceed a day there, stay seconds. What concerns one column only, such as two codes with the same label,
    is found when that column is read. Where the codebook of an export lies beside the file, its labels are read, and
    people's own words as they wrote them.

    Parameters
    ----------
    path : Path
        A file whose name ends in .csv, .parquet, .jsonl, .ndjson, .sav, .zsav, .por, .dta, .xlsx or .duckdb.
    separator : str
        Between the cells of a CSV file.
    encoding : str, optional
        Of a text file, as Python names it; UTF-8 by default, and a byte order mark is fine. Of a file of SPSS or
        Stata, where it does not say its encoding or says the wrong one.
    codes : bool or names of columns
        Codes instead of value labels in a file of SPSS or Stata: everywhere, or in these columns. Of the export of a
        survey, which has its codebook beside it, the names in the questionnaire instead of labels, whatever the file.
    table : str, optional
        Of a database of DuckDB; not needed where it holds one.

    Raises
    ------
    DataError
        A file that is not there, empty, without rows, damaged, in another encoding, or with rows of different length;
        names the line. SPSS and Stata: pyreadstat is not installed, or labels collide; names the column.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("income\nlow\nhigh\n")
    ...     scan(path).collect()["income"].to_list()
    ['low', 'high']
    """
    book = codebook_of(path)
    if book is None:
        return _scan_plain(path, separator=separator, encoding=encoding, codes=codes, table=table)
    listed_columns = [entry.column for entry in book.entries if entry.listed or entry.holds == "numbers"]
    coded_columns = True if codes is True else [*(codes or ()), *listed_columns]
    frame = _scan_plain(path, separator=separator, encoding=encoding, codes=coded_columns, table=table)
    return book.read(frame, names=codes is True, escaped=kind(path) == "csv")


def _scan_plain(
    path: Path, *, separator: str, encoding: str | None, codes: bool | Collection[str], table: str | None = None
) -> pl.LazyFrame:
    """The file as it is, whatever lies beside it."""
    file_kind = kind(path)
    if table is not None and file_kind != "duckdb":
        raise DataError(f"--table is for databases of DuckDB; {str(path)!r} is none")
    with readable(path):
        if not path.stat().st_size:
            raise DataError(f"{str(path)!r} is empty (0 bytes)")
        if file_kind == "csv":
            frame = text.scan_csv(path, separator, encoding or "utf-8")
        elif file_kind == "jsonl":
            frame = text.scan_lines(path, encoding or "utf-8")
        elif file_kind == "parquet":
            frame = pl.scan_parquet(path, glob=False)
            frame.collect_schema()
        elif file_kind == "xlsx":
            frame = scan_workbook(path)
        elif file_kind == "duckdb":
            frame = scan_table(path, table)
        else:
            return statistical.scan_labelled(path, encoding=encoding, codes=codes)
        if not frame.head(1).collect().height:
            raise no_rows(path)
    return frame


def stored_cells(path: Path, *, separator: str = ",", encoding: str | None = None) -> pl.DataFrame:
    r"""All cells as the file holds them: codes in place of labels, and why a cell is missing where that is kept.

    Of SPSS and Stata they are texts: user-missing codes are numbers there, or letters.

    Parameters
    ----------
    path, separator, encoding
        As for `scan`.

    Raises
    ------
    DataError
        A file that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("income\n-9\n1.0\n")
    ...     stored_cells(path)["income"].to_list()
    ['-9', '1.0']
    """
    if kind(path) not in ("spss", "stata"):
        return _scan_plain(path, separator=separator, encoding=encoding, codes=False).collect()
    cells_of, _ = statistical.stored(path, encoding=encoding)
    texts_of = {
        column_name: [None if cell is None else str(cell) for cell in column_cells]
        for column_name, column_cells in cells_of.items()
    }
    return pl.DataFrame(texts_of, schema=dict.fromkeys(texts_of, pl.String))


def value_labels(path: Path, name: str, *, encoding: str | None = None) -> dict[str, str]:
    """What the codes of one column mean, by code as text; empty unless a file of SPSS or Stata says so.

    Labels of user-missing codes are left out.
    """
    return statistical.variable_labels(path, name, encoding=encoding) if kind(path) in ("spss", "stata") else {}


def variable_labels(path: Path, *, encoding: str | None = None) -> dict[str, str]:
    """What the columns of a file are called, by name: labels of SPSS and Stata, questions of a survey's export.

    Columns without a label are left out; other files have none.
    """
    book = codebook_of(path)
    if book is not None:
        return {entry.column: entry.label for entry in book.entries if entry.label.strip()}
    return statistical.titles_of(path, encoding=encoding) if kind(path) in ("spss", "stata") else {}


def randomized_columns(path: Path, *, encoding: str | None = None) -> tuple[str, ...]:
    """The columns in whose values chance had a part, as the file or the codebook beside it tells.

    The codebook holds designs; files of SPSS and Stata, and a workbook's sheet of variables, say it in labels. Other
    files without a codebook tell of none.
    """
    book = codebook_of(path)
    if book is not None:
        label_of = {entry.column: explained(entry).label for entry in book.entries if entry.asked is not None}
    elif kind(path) == "xlsx":
        label_of = labels_in(path)
    else:
        label_of = variable_labels(path, encoding=encoding)
    return tuple(column_name for column_name, label in label_of.items() if is_randomized(label))


_AS_TEXT = ("UUID", "INTERVAL", "BIT", "TIME WITH TIME ZONE")  # types that Parquet, or polars, has not
_WIDE = ("HUGEINT", "UHUGEINT")  # of sums; Parquet would round them


def scan_table(path: Path, table: str | None) -> pl.LazyFrame:
    """A table of a database, streamed to a temporary file once, as a lazy frame.

    Parameters
    ----------
    path : Path
    table : str, optional
        Its name, or ``schema.name``; not needed where the database holds one table.

    Raises
    ------
    DataError
        A table that is not there, or is not named where there are several; a view, whose rows have no order; a database
        that cannot be read, or whose last changes are not in the file.
    """
    log_path = path.with_name(f"{path.name}.wal")
    if log_path.is_file() and log_path.stat().st_size:
        raise DataError(
            f"{str(path)!r} has changes that are still in {log_path.name!r}: close the program that has it open, or "
            "run CHECKPOINT there"
        )
    file_status = path.stat()
    return pl.scan_parquet(
        _parquet_copy(path, path.resolve(), table, file_status.st_mtime_ns, file_status.st_size), glob=False
    )


@functools.cache
def _parquet_copy(path: Path, absolute: Path, table: str | None, changed: int, size: int) -> Path:
    """The copy of a table; a database that changed is copied anew."""
    duckdb = library(path)
    folder = tempfile.mkdtemp(prefix="naysay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy_path = Path(folder) / "table.parquet"
    quoted_path = str(copy_path).replace("'", "''")
    try:
        with duckdb.connect(str(absolute), read_only=True) as database:
            source_table = _quoted_table(database, path, table)
            column_rows = database.execute(f"DESCRIBE SELECT * FROM {source_table}").fetchall()
            cells_text = ", ".join(
                _cell(str(column_name), str(column_type)) for column_name, column_type, *_ in column_rows
            )
            database.execute("SET preserve_insertion_order = true")
            database.execute(f"COPY (SELECT {cells_text} FROM {source_table}) TO '{quoted_path}' (FORMAT parquet)")
    except duckdb.Error as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from None
    return copy_path


def _quoted_table(database: DuckDBPyConnection, path: Path, table: str | None) -> str:
    """The table, quoted."""
    table_rows = database.execute(
        "SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE NOT internal AND NOT temporary UNION ALL "
        "SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY ALL"
    ).fetchall()
    tables = [(schema_name, table_name) for schema_name, table_name, table_kind in table_rows if table_kind == "table"]
    table_names = [
        table_name if schema_name == "main" else f"{schema_name}.{table_name}" for schema_name, table_name in tables
    ]
    if not tables:
        raise DataError(f"{str(path)!r} holds no table")
    if table is None and len(tables) > 1:
        copy_command = f"COPY {'.'.join(map(_quoted, tables[0]))} TO '{tables[0][1]}.parquet'"
        raise DataError(
            f"{str(path)!r} holds several tables, {_checks.listing_text(table_names)}: say which one with --table, or "
            f"where a command has no such option, write it to a file: {copy_command}"
        )
    if table is not None and table in [
        table_name for schema_name, table_name, table_kind in table_rows if table_kind == "view"
    ]:
        raise DataError(f"{table!r} is a view, whose rows have no fixed order; make a table of it: CREATE TABLE … AS")
    matching_tables = [
        schema_and_name
        for schema_and_name, table_name in zip(tables, table_names, strict=True)
        if table in (None, table_name, ".".join(schema_and_name))
    ]
    if not matching_tables:
        raise DataError(f"{str(path)!r} has no table {table!r}; {_checks.nearest(table, table_names)}")
    return ".".join(map(_quoted, matching_tables[0]))


def _cell(name: str, kind: str) -> str:
    cast = "VARCHAR" if kind in _AS_TEXT else "BIGINT" if kind in _WIDE else ""
    return f"CAST({_quoted(name)} AS {cast}) AS {_quoted(name)}" if cast else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


Attribute = TypeVar("Attribute")

_WITH_LISTS = ("parquet", "jsonl")


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes its place only when all of it is written, and which leaves nothing otherwise."""
    # beside its place, for only within one file system does a move replace a file at once
    part_path = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part_path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part_path.replace(path)
    finally:
        part_path.unlink(missing_ok=True)


def write(frame: pl.DataFrame, path: Path, *, separator: str = ",") -> None:
    """Write a frame as the suffix says, whole or not at all.

    A file of SPSS or Stata gets names that the program takes; labels say what they were.

    Raises
    ------
    DataError
        What the file cannot hold, or the disk.
    """
    if kind(path, to_write=True) == "csv":
        # in CSV 1.0 is not 1, and SPSS, which may have written the original, knows floats only
        whole_columns = [
            column.cast(pl.Int64)
            for column in frame
            if column.dtype.is_float() and ((column % 1 == 0) & (column.abs() < 2**53)).all()
        ]
        frame = frame.with_columns(whole_columns)
    write_pieces([frame], path, separator=separator)


def write_pieces(
    pieces: Iterable[pl.DataFrame], path: Path, *, separator: str = ",", book: Codebook | None = None
) -> None:
    """Write pieces of a frame, one after the other, with what its columns mean.

    CSV, Parquet, JSON lines and Excel are written piece by piece; files of SPSS and Stata take all at once.

    Parameters
    ----------
    pieces : iterable of DataFrame
        One at least, all with the same columns.
    path : Path
    separator : str
        Between the cells of a CSV file.
    book : Codebook, optional
        Labels for files that hold them; of a CSV file which columns are people's own words, so that none is a formula.
    """
    system = kind(path, to_write=True)
    checked_pieces = pieces if system in _WITH_LISTS else (_without_lists(piece, path) for piece in pieces)
    try:
        with whole(path) as file:
            if system == "csv":
                text_columns = [entry.column for entry in book.entries if entry.holds == "texts"] if book else []
                for piece_number, piece in enumerate(checked_pieces):
                    escaped_piece = piece.with_columns(escaped(column_name) for column_name in text_columns)
                    escaped_piece.write_csv(file, separator=separator, include_header=piece_number == 0)
            elif system == "jsonl":
                for piece in checked_pieces:
                    piece.write_ndjson(file)
            elif system == "parquet":
                later_pieces = iter(checked_pieces)
                first_piece = next(later_pieces)
                metadata = {} if book is None else {"naysay.survey": book.survey, "naysay.hash": book.hash}
                # polars holds no more than a few pieces at a time
                source = register_io_source(lambda *_: chain([first_piece], later_pieces), schema=first_piece.schema)
                source.sink_parquet(file, metadata=metadata, maintain_order=True)
            elif system == "xlsx":
                write_workbook(checked_pieces, file, path=path, book=book)
            else:
                write_statistical(pl.concat(checked_pieces), file.name, path=path, system=system, book=book)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot write {str(path)!r}: {str(error).splitlines()[0]}") from None


def _without_lists(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The frame, after checking that it holds no lists, which only Parquet and JSON lines take."""
    nested_column = next((name for name, dtype in frame.schema.items() if dtype.is_nested()), None)
    if nested_column is not None:
        problem = f"cannot write {str(path)!r}: column {nested_column!r} holds {frame.schema[nested_column]}"
        raise DataError(f"{problem}; take .parquet or .jsonl, or join lists to texts", column=nested_column)
    return frame


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
    metadata: Any = field(default=None, repr=False)
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
        frame = scan(path, separator=separator, encoding=encoding, codes=codes, table=table)
        frame_with_gaps = as_gaps(frame, frame.collect_schema().names(), missing).collect()
        cells_of: dict[str, Any] = {}
        metadata = None
        if kind(path) in ("spss", "stata"):
            cells_of, metadata = stored(path, encoding=encoding)
        return cls(path, frame_with_gaps, separator, encoding, codes, tuple(missing), cells_of, metadata, table)

    @property
    def labels(self) -> dict[str, str]:
        """What the file calls its variables, of those that have a label."""
        label_of = {} if self.metadata is None else self.metadata.column_names_to_labels
        return {name: label for name, label in label_of.items() if label and label.strip()}

    def value_labels(self, name: str) -> dict[Any, str]:
        """What the file calls the codes of a variable."""
        return {} if self.metadata is None else dict(self.metadata.variable_value_labels.get(name, {}))

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
        raw_frame = scan(self.path, separator=self.separator, encoding=self.encoding).collect()
        restored_columns = {  # by name: of columns in a list, one without a name would be given another
            name: made[name] if name in plain else self._restored_column(raw_frame[name], made, name, rows)
            for name in made.columns
        }
        text_frame = _texts(pl.DataFrame(restored_columns))
        if system == "csv" and (self.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
            self._write_encoded(text_frame, path)
        elif system == "csv":
            has_mark, line_end = _marks(self.path)
            with whole(path) as file:
                text_frame.write_csv(file, separator=self.separator, include_bom=has_mark, line_terminator=line_end)
        else:
            write_pieces([_texts_as_numbers(text_frame) if system == "xlsx" else text_frame], path)

    def _restored_column(self, raw: pl.Series, table: pl.DataFrame, name: str, rows: Sequence[int] | None) -> pl.Series:
        """A column with the cells that the file holds where its gaps were: why something is missing stays."""
        new_cells = table[name]
        if rows is None or not self.missing or new_cells.dtype != raw.dtype:
            return new_cells
        raw_cells = raw.gather(pl.Series(rows, dtype=pl.UInt32))
        frame_cells = self.frame[name].gather(pl.Series(rows, dtype=pl.UInt32))
        return (
            pl.select(pl.when(new_cells.is_null() & frame_cells.is_null()).then(raw_cells).otherwise(new_cells))
            .to_series()
            .alias(name)
        )

    def _write_encoded(self, frame: pl.DataFrame, path: Path) -> None:
        try:
            line_end = _marks(self.path)[1]
            file_bytes = frame.write_csv(separator=self.separator, line_terminator=line_end).encode(
                self.encoding or "utf-8"
            )
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise DataError(
                f"{self.encoding} has no letter {letter!r}, which a new value holds; write .parquet"
            ) from None
        with whole(path) as file:
            file.write(file_bytes)

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
        writer, metadata = library(path), self.metadata
        cells_of: dict[str, list[Any]] = {}
        value_labels = dict(metadata.variable_value_labels)
        format_of, measure_of = dict(metadata.original_variable_types), dict(metadata.variable_measure)
        missing_ranges = dict(metadata.missing_ranges)  # what a code would mean, also where no cell holds it any more
        for variable_name in table.columns:
            if variable_name not in changed and variable_name not in plain and rows is not None:
                cells_of[variable_name] = [self.cells[variable_name][stored_row] for stored_row in rows]
            elif isinstance(table.schema[variable_name], pl.Enum):
                category_order = table[variable_name].dtype.categories.to_list()  # type: ignore[attr-defined]
                code_of = {label: category_code for category_code, label in enumerate(category_order, 1)}
                cells_of[variable_name] = [
                    None if cell is None else code_of[cell] for cell in table[variable_name].to_list()
                ]
                value_labels[variable_name] = {category_code: label for label, category_code in code_of.items()}
                format_of[variable_name] = "F8.0" if system == "spss" else "%8.0g"
                missing_ranges.pop(variable_name, None)
                measure_of[variable_name] = "nominal" if measure_of.get(variable_name) == "nominal" else "ordinal"
            else:
                cells_of[variable_name] = self._cells_as_codes(
                    table[variable_name], variable_name, rows, keep=variable_name not in plain
                )
        variable_titles = dict(metadata.column_names_to_labels)
        for entry in meanings.entries if meanings else ():
            variable_titles[entry.column], value_labels[entry.column] = labels_of(
                entry, value_labels.get(entry.column, {}), system
            )

        def of_written(value_of: Mapping[str, Attribute]) -> dict[str, Attribute]:
            return {variable_name: value for variable_name, value in value_of.items() if variable_name in cells_of}

        writer_options: dict[str, Any] = {
            "column_labels": {variable_name: variable_titles.get(variable_name) for variable_name in cells_of},
            "variable_value_labels": of_written(value_labels),
            "variable_format": {
                name: format_name for name, format_name in of_written(format_of).items() if format_name
            },
            "file_label": metadata.file_label or "",
        }
        if system == "spss":
            writer_options["missing_ranges"] = of_written(missing_ranges)
            writer_options["variable_measure"] = of_written(measure_of)
            writer_options["variable_display_width"] = of_written(metadata.variable_display_width)
            writer_options["note"] = metadata.notes or None
            writer_options["compress"] = path.suffix.lower() == ".zsav"
        else:
            missing_letters = of_written(metadata.missing_user_values)
            writer_options["missing_user_values"] = {
                name: letters for name, letters in missing_letters.items() if name not in plain
            }
            for name in plain & set(missing_letters):  # no cell holds a letter any more that its label could stand for
                code_labels = writer_options["variable_value_labels"].get(name, {})
                writer_options["variable_value_labels"][name] = {
                    code: label for code, label in code_labels.items() if code not in missing_letters[name]
                }
        write_it = writer.write_sav if system == "spss" else writer.write_dta
        written_frame = pl.DataFrame([self._series(variable_name, cells) for variable_name, cells in cells_of.items()])
        try:
            with whole(path) as file:
                write_it(written_frame, file.name, **writer_options)
        except (writer.ReadstatError, writer.PyreadstatError, OSError) as error:
            raise DataError(f"cannot write {str(path)!r} as a file of {PROGRAMS[system]}: {error}") from None

    def _cells_as_codes(self, column: pl.Series, name: str, rows: Sequence[int] | None, *, keep: bool) -> list[Any]:
        """Cells with the code that each value has in the file; numbers that are new stay numbers."""
        original_cells = self.frame[name]
        before_texts = original_cells.to_frame().select(text_of(name, original_cells.dtype)).to_series().to_list()
        code_of = {
            cell_text: code
            for cell_text, code in zip(before_texts, self.cells[name], strict=True)
            if cell_text is not None
        }
        code_of |= {
            label: code for code, label in self.value_labels(name).items() if label not in code_of and not self.codes
        }
        cell_texts = column.to_frame().select(text_of(name, column.dtype)).to_series().to_list()
        is_text = self.metadata.readstat_variable_types[name] == "string"
        cell_codes: list[Any] = []
        for cell_number, cell_text in enumerate(cell_texts):
            if cell_text is None:
                stays_missing = keep and rows is not None and before_texts[rows[cell_number]] is None
                cell_codes.append(self.cells[name][rows[cell_number]] if stays_missing and rows is not None else None)
            elif cell_text in code_of:
                cell_codes.append(code_of[cell_text])
            elif is_text:
                cell_codes.append(cell_text)
            else:
                cell_codes.append(self._number(cell_text, name))
        return cell_codes

    def _number(self, text: str, name: str) -> float:
        try:
            return float(text)
        except ValueError:
            problem = f"column {name!r} holds numbers in {self.path.name!r}, and has no code for {text!r}"
            raise DataError(
                f"{problem}; recode it, so that it gets codes of its own", column=name, value=text
            ) from None

    def _series(self, name: str, cells: list[Code | None]) -> pl.Series:
        stored_type = self.metadata.readstat_variable_types[name]
        if stored_type == "string" and all(cell is None or isinstance(cell, str) for cell in cells):
            return pl.Series(name, cells, dtype=pl.String)
        if any(isinstance(cell, str) for cell in cells):  # Stata's .a to .z come as letters among numbers
            return pl.Series(name, cells, dtype=pl.Object)
        numbers = [cell for cell in cells if isinstance(cell, float | int)]
        if stored_type == "double" or (stored_type == "float" and any(number != int(number) for number in numbers)):
            return pl.Series(name, cells, dtype=pl.Float64)
        fits_in_integer = all(number == int(number) and abs(number) < 2**31 - 101 for number in numbers)
        return pl.Series(name, cells, dtype=pl.Int32 if fits_in_integer else pl.Float64, strict=False)


def _marks(path: Path) -> tuple[bool, str]:
    """Whether a text file of UTF-8 begins with a byte order mark, and how its lines end."""
    with path.open("rb") as file:
        first_line = file.readline()
    return first_line.startswith(b"\xef\xbb\xbf"), "\r\n" if first_line.endswith(b"\r\n") else "\n"


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with Enums as texts, which other programs read."""
    return frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def _texts_as_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that are written just as numbers are, as numbers: a workbook's cells were read as texts."""
    typed_columns = []
    for column in frame:
        typed_column = column
        if column.dtype == pl.String:
            for number_type in (pl.Int64, pl.Float64):
                cast_column = column.cast(number_type, strict=False)
                if cast_column.cast(pl.String).eq_missing(column).all():
                    typed_column = cast_column
                    break
        typed_columns.append(typed_column)
    return pl.DataFrame(typed_columns)
