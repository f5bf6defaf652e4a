"""Files of SPSS, Stata and Excel: what they call labels and missing values, and what a workbook tells."""

from __future__ import annotations

import codecs
import datetime
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import polars as pl
from polars.io.plugins import register_io_source

from naysay.errors import DataError
from naysay.files.codebook import Codebook, Entry, Value
from naysay.files.text import PROGRAMS, kind, library, no_rows, text_of

if TYPE_CHECKING:
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet
    from pyreadstat import metadata_container

_ELLIPSIS = len("…".encode())
_LONGEST_TEXT = {"spss": 32_767, "stata": 2_000_000_000}  # bytes of one cell


class _Limits(NamedTuple):
    """What a label may be at most: of the file, of a variable, and in bytes of a value."""

    file: Callable[[str], str]
    variable: Callable[[str], str]
    value: int


_LIMITS = {
    "spss": _Limits(lambda text: cut(text, 64), lambda text: cut(text, 256), 120),
    "stata": _Limits(lambda text: _letters(text, 80), lambda text: _letters(text, 80), 30_000),
}


def _letters(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _value_label(value: Value, most: int) -> str:
    """What a value means, in so many bytes: the option is cut wherever it stands, and never the words around it."""
    option_text = value.label.strip() or value.name
    label_text = value.meaning or option_text
    excess_bytes = len(label_text.encode()) - most
    if excess_bytes <= 0 or not value.meaning:
        return cut(label_text, most)
    # of each option, where levels name it again
    bytes_left = len(option_text.encode()) + -excess_bytes // max(label_text.count(option_text), 1)
    if bytes_left > _ELLIPSIS and option_text in label_text:
        return label_text.replace(option_text, cut(option_text, bytes_left))
    return cut(f"see the codebook: {option_text}", most)  # half a meaning would be another one


def labels_of(entry: Entry, labels: Mapping[Code, str], system: str) -> tuple[str, dict[Code, str]]:
    """The labels of a variable and of its codes, as long as the program takes them, where a file had these of its own.

    A label that is no value of the entry, by its text or by its code, stays as it is.
    """
    limits = _LIMITS[system]
    value_of: dict[Code, Value] = {key: value for value in entry.values for key in (value.code, value.name)}
    meaning_of = dict(labels)
    for code, label in labels.items():
        if value := value_of.get(label) or value_of.get(code):
            meaning = value.meaning.replace(value.label, label)
            meaning_of[code] = _value_label(replace(value, label=label, meaning=meaning), limits.value)
    return limits.variable(entry.label), meaning_of


def write_statistical(frame: pl.DataFrame, place: str, *, path: Path, system: str, book: Codebook | None) -> None:
    """Write a frame to a place; `path` is what the file is called, `system` spss or stata.

    Missing cells are system-missing, and in columns of texts empty. Names that the program would not take are changed,
    and the variable's label says what they were.
    """
    writer = library(path)
    _check_texts(frame, path, system)
    names_there = portable(frame.columns, system)
    entry_of = book.columns if book is not None else {}
    limits = _LIMITS[system]
    writer_options: dict[str, Any] = {
        "column_labels": {
            name_there: limits.variable(entry_of[column_name].label if column_name in entry_of else column_name)
            for column_name, name_there in names_there.items()
            if column_name in entry_of or column_name != name_there
        },
        "variable_value_labels": {
            names_there[column_name]: {value.code: _value_label(value, limits.value) for value in entry.values}
            for column_name, entry in entry_of.items()
            if entry.holds in ("values", "numbers") and entry.values and column_name in names_there
        },
    }
    if book is not None:
        writer_options["file_label"] = limits.file(f"{book.survey} {book.hash}" if system == "stata" else book.title)
    if system == "spss":
        writer_options["variable_measure"] = {
            names_there[column_name]: entry.measure
            for column_name, entry in entry_of.items()
            if column_name in names_there
        }
        writer_options["compress"] = path.suffix.lower() == ".zsav"
        if book is not None:
            writer_options["note"] = [f"survey {book.survey}", f"hash {book.hash}"]
    write_file = writer.write_sav if system == "spss" else writer.write_dta
    try:
        write_file(_cells(frame).rename(names_there), place, **writer_options)
    except (writer.ReadstatError, writer.PyreadstatError) as error:
        raise DataError(f"cannot write {str(path)!r} as a file of {PROGRAMS[system]}: {error}") from None


def _check_texts(frame: pl.DataFrame, path: Path, system: str) -> None:
    """Raise for a text that the program would cut."""
    for column in frame.select(pl.col(pl.String)):
        longest_bytes = column.str.len_bytes().max() or 0
        if isinstance(longest_bytes, int) and longest_bytes > _LONGEST_TEXT[system]:
            problem = (
                f"column {column.name!r} holds a text of {longest_bytes:,} bytes; a file of {PROGRAMS[system]} such as"
            )
            raise DataError(f"{problem} {path.name!r} takes {_LONGEST_TEXT[system]:,}: write .csv or .parquet instead")


def _cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with cells of the kinds that both programs know."""
    cell_expressions = []
    for column_name, dtype in frame.schema.items():
        cell = pl.col(column_name)
        if dtype.is_float():
            cell = cell.fill_nan(None)
        elif dtype == pl.Boolean or (dtype.is_integer() and dtype.to_python() is int and _small(frame[column_name])):
            cell = cell.cast(pl.Int32)
        elif isinstance(dtype, pl.Datetime):
            cell = cell.dt.replace_time_zone(None)
        elif (dtype.is_temporal() and dtype != pl.Date) or dtype in (pl.Categorical, pl.Enum, pl.Null):
            cell = cell.cast(pl.String)
        cell_expressions.append(cell)
    return frame.select(cell_expressions)


def _small(column: pl.Series) -> bool:
    """Whether whole numbers fit where Stata keeps some of the largest for missing values."""
    low, high = column.min(), column.max()
    return not isinstance(low, int) or not isinstance(high, int) or (low > -(2**31) and high < 2**31 - 100)


Code = float | int | str

# Seconds from the first day of SPSS, 14 October 1582, and days from that of Stata, 1 January 1960, to 1970.
_SPSS_EPOCH, _STATA_EPOCH, _DAY = 12_219_379_200, 3_653, 86_400
_MOMENTS = {
    "spss date": re.compile(r"(?:[AEJS]?DATE|MOYR|QYR|WKYR)\d"),
    "spss datetime": re.compile(r"(?:DATETIME|YMDHMS)\d"),
    "stata date": re.compile(r"%-?t?d"),
    "stata datetime": re.compile(r"%-?tc"),
}
_STORED: Mapping[str, type[pl.DataType]] = {"string": pl.String, "double": pl.Float64, "float": pl.Float64}


@dataclass(frozen=True)
class Variable:
    """One variable of a file.

    Parameters
    ----------
    name : str
        Of its column.
    stored : polars data type
        Of its cells as pyreadstat gives them: text, whole numbers, or floats.
    moment : str, optional
        Which dates they are, such as ``spss date``.
    labels : mapping of code to label
        Empty where codes are asked for; codes that are user-missing are left out.

    Examples
    --------
    >>> answer = Variable("q", pl.Float64, None, {1.0: "yes", 2.0: "no"})
    >>> answer.cells([1.0, 2.0, 9.0, None]).to_list()
    ['yes', 'no', '9', None]
    """

    name: str
    stored: type[pl.DataType]
    moment: str | None
    labels: Mapping[Code, str]

    @property
    def dtype(self) -> pl.DataType:
        """The type of its column: text where codes have labels, and dates where numbers are dates."""
        if self.labels:
            return pl.String()
        if self.moment is None:
            return self.stored()
        return pl.Datetime("ms") if self.moment.endswith("datetime") else pl.Date()

    def check_labels(self) -> None:
        """Raise where two codes have the same label."""
        first_code: dict[str, Code] = {}
        for code, label in self.labels.items():
            if label in first_code:
                codes_text = f"{code_text(first_code[label])} and {code_text(code)}"
                raise self._alike(f"in column {self.name!r} the codes {codes_text} are both labelled {label!r}", label)
            first_code[label] = code

    def cells(self, codes: Sequence[Code | None], *, row: int = 0) -> pl.Series:
        """The column of these codes, the first of which is in this row, counted from 0.

        Raises
        ------
        DataError
            A code without a label that reads like the label of another code.
        """
        stored_codes = pl.Series(self.name, codes, dtype=self.stored)
        plain_frame = stored_codes.to_frame().select(_moment(self.name, self.moment))
        if self.labels:
            label_cells = stored_codes.replace_strict(dict(self.labels), default=None, return_dtype=pl.String)
            bare_texts = plain_frame.select(text_of(self.name, plain_frame.schema[self.name])).to_series()
            is_ambiguous = label_cells.is_null() & bare_texts.is_in(list(self.labels.values())).fill_null(value=False)
            if is_ambiguous.any():
                bad_place = is_ambiguous.arg_max() or 0
                label = bare_texts[bad_place]
                code = next(code for code, other_label in self.labels.items() if other_label == label)
                problem = (
                    f"column {self.name!r}, row {row + bad_place + 1}, holds the code {label}, which has no label, "
                    f"while the code {code_text(code)} is labelled {label!r}"
                )
                raise self._alike(problem, label, row=row + bad_place)
            plain_frame = label_cells.fill_null(bare_texts).to_frame()
        column = plain_frame.to_series()
        return column.replace("", None) if self.dtype == pl.String else column

    def _alike(self, problem: str, label: str, *, row: int | None = None) -> DataError:
        way_out = "read the codes instead (--codes), or correct the labels in the file"
        return DataError(f"labels must tell codes apart; {problem}; {way_out}", column=self.name, row=row, value=label)


def code_text(code: Code) -> str:
    """A code as it is written in messages: 1.0 as ``1``, a text in quotes."""
    if isinstance(code, str):
        return repr(code)
    return str(int(code)) if float(code).is_integer() else str(code)


def _moment(name: str, moment: str | None) -> pl.Expr:
    """Dates from numbers; thousandths of seconds, which a float still holds exactly."""
    cell = pl.col(name)
    if moment is None:
        return cell
    if moment == "spss date":
        return ((cell - _SPSS_EPOCH) / _DAY).floor().cast(pl.Int32).cast(pl.Date)
    if moment == "stata date":
        return (cell - _STATA_EPOCH).floor().cast(pl.Int32).cast(pl.Date)
    elapsed_time = (cell - _SPSS_EPOCH) * 1000 if moment == "spss datetime" else cell - _STATA_EPOCH * _DAY * 1000
    return elapsed_time.round().cast(pl.Int64).cast(pl.Datetime("ms"))


def variables(metadata: metadata_container, *, system: str, codes: bool | Collection[str]) -> dict[str, Variable]:
    """The variables by name, from what pyreadstat tells of a file of this system, spss or stata."""
    variable_of = {}
    for variable_name in metadata.column_names:
        stored_type = _STORED.get(metadata.readstat_variable_types[variable_name], pl.Int64)
        keeps_codes = codes if isinstance(codes, bool) else variable_name in codes
        label_of = {} if keeps_codes else _labels(metadata, variable_name, text=stored_type is pl.String)
        stored_format = metadata.original_variable_types[variable_name] or ""
        moments = (
            moment_name
            for moment_name, pattern in _MOMENTS.items()
            if moment_name.startswith(system) and pattern.match(stored_format)
        )
        variable_of[variable_name] = Variable(
            variable_name, stored_type, None if stored_type is pl.String else next(moments, None), label_of
        )
    return variable_of


def _labels(metadata: metadata_container, name: str, *, text: bool) -> dict[Code, str]:
    """The labels of codes that a cell can hold: not of user-missing ones, which may well share a label."""
    known_ranges: Any = metadata.missing_ranges.get(name, ())
    missing_ranges = [(missing_range["lo"], missing_range["hi"]) for missing_range in known_ranges]
    return {
        code: label
        for code, label in metadata.variable_value_labels.get(name, {}).items()
        # Stata's .a to .z come as letters among numbers
        if isinstance(code, str) == text
        and label.strip()
        and not any(low <= code <= high for low, high in missing_ranges)
    }


_LONGEST = {"spss": 64, "stata": 32}  # bytes there, characters here
_RESERVED = {
    "spss": {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"},
    "stata": {
        *("byte", "double", "float", "if", "in", "int", "long", "strl", "using", "with"),
        *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
    },
}


def portable(names: Iterable[str], system: str) -> dict[str, str]:
    """The name that each column has in a file of SPSS or Stata, ``{name: name there}``; no two are alike in any case.

    Examples
    --------
    >>> portable(["age", "drugs/cannabis", "drugs_cannabis", "2nd", "by"], "spss")
    {'age': 'age', 'drugs/cannabis': 'drugs_cannabis_2', 'drugs_cannabis': 'drugs_cannabis', '2nd': 'v2nd', 'by': 'by_'}
    """
    column_names = list(names)
    fitting_names = [name for name in column_names if _bare(name, system) == name]
    name_there = {
        name: name
        for name in fitting_names
        if [fitting_name.casefold() for fitting_name in fitting_names].count(name.casefold()) == 1
    }
    used_names = {name.casefold() for name in name_there}
    for name in column_names:
        if name not in name_there:
            number, bare_name = 1, _bare(name, system)
            name_there[name] = bare_name
            while name_there[name].casefold() in used_names:  # a number behind it
                number += 1
                name_there[name] = _fitted(bare_name, system, f"_{number}")
            used_names.add(name_there[name].casefold())
    return {name: name_there[name] for name in column_names}


def _bare(name: str, system: str) -> str:
    """A name of letters, digits and underscores that begins with a letter, and is no word of the program."""
    bare_name = re.sub(r"\W+", "_", name)
    bare_name = bare_name if bare_name[:1].isalpha() else f"v{bare_name}"
    bare_name = _fitted(bare_name, system)
    return f"{bare_name}_" if bare_name.casefold() in _RESERVED[system] else bare_name


def _fitted(name: str, system: str, end: str = "") -> str:
    name_length = _LONGEST[system] - len(end)
    return (cut(name, name_length, ellipsis="") if system == "spss" else name[:name_length]) + end


def cut(text: str, most: int, *, ellipsis: str = "…") -> str:
    """A text of so many bytes at most.

    Examples
    --------
    >>> cut("Größe", 9), cut("Größe", 6)
    ('Größe', 'Gr…')
    """
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len(ellipsis.encode())].decode(errors="ignore") + ellipsis


_CELLS = 2_000_000  # of one piece: pyreadstat makes a Python object of each
_READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}


def scan_labelled(path: Path, *, encoding: str | None, codes: bool | Collection[str]) -> pl.LazyFrame:
    """The file as a lazy frame, labels in place of codes unless codes are asked for."""
    path.open("rb").close()  # a folder, or a file without permission, in the system's own words
    file = _opened(path, encoding)
    metadata = file.metadata()
    variable_of = variables(metadata, system=kind(path), codes=codes)
    first_names = list(variable_of)[:1]
    # where a file does not say how many rows it holds, one is read
    if not first_names or not (
        metadata.number_rows or file.read_cells(usecols=first_names, row_limit=1)[0][first_names[0]]
    ):
        raise no_rows(path)

    def source(
        names: list[str] | None, predicate: pl.Expr | None, most: int | None, batch: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted_variables = [variable_of[name] for name in names or variable_of]
        for variable in wanted_variables:
            variable.check_labels()
        for piece in _pieces(file, wanted_variables, rows=metadata.number_rows, most=most):
            yield piece if predicate is None else piece.filter(predicate)

    return register_io_source(source, schema={name: file_variable.dtype for name, file_variable in variable_of.items()})


def variable_labels(path: Path, name: str, *, encoding: str | None) -> dict[str, str]:
    """The labels of one variable by code as text, in the order of the codes; none where there is no such variable."""
    variable_of = variables(_opened(path, encoding).metadata(), system=kind(path), codes=False)
    label_of = variable_of[name].labels if name in variable_of else {}
    return {code if isinstance(code, str) else code_text(code): label_of[code] for code in sorted(label_of)}


def stored(path: Path, *, encoding: str | None) -> tuple[dict[str, list[Code | None]], Any]:
    """All cells as the file stores them, user-missing ones too, and all that it tells of its variables."""
    read_options = {} if path.suffix.lower() == ".por" else {"user_missing": True}
    return _opened(path, encoding).read_cells(**read_options)


def titles_of(path: Path, *, encoding: str | None) -> dict[str, str]:
    """The labels of the variables, by name; those without one are left out."""
    metadata = _opened(path, encoding).metadata()
    return {name: label for name, label in metadata.column_names_to_labels.items() if label and label.strip()}


@dataclass(frozen=True)
class _File:
    """A file, and the library that reads it."""

    path: Path
    encoding: str | None
    library: Any

    def read_cells(self, **options: object) -> tuple[dict[str, list[Code | None]], Any]:
        """Cells by column, user-missing ones as None, and what the file tells of its variables."""
        reader = getattr(self.library, _READERS[self.path.suffix.lower()])
        if self.encoding is not None:
            options["encoding"] = self.encoding
        try:
            cells, metadata = reader(self.path, output_format="dict", disable_datetime_conversion=True, **options)
        except (self.library.ReadstatError, self.library.PyreadstatError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from None
        return cells, metadata

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

    def metadata(self) -> Any:
        """What the file tells of its variables, with the ranges of codes that are user-missing."""
        read_options = {} if self.path.suffix.lower() == ".por" else {"user_missing": True}  # not told of .por
        return self.read_cells(metadataonly=True, **read_options)[1]


def _pieces(
    file: _File, wanted_variables: Sequence[Variable], *, rows: int | None, most: int | None
) -> Iterator[pl.DataFrame]:
    """These variables in pieces; `rows` is what the file says that it holds."""
    variable_names = [variable.name for variable in wanted_variables]
    end_row = min((row_count for row_count in (rows, most) if row_count is not None), default=None)
    piece_size = max(_CELLS // len(variable_names), 1)
    start_row, is_full = 0, True
    while is_full and start_row != end_row:
        piece_limit = piece_size if end_row is None else min(piece_size, end_row - start_row)
        cells, _ = file.read_cells(usecols=variable_names, row_limit=piece_limit, row_offset=start_row)
        piece_height = len(cells[variable_names[0]])
        piece = pl.DataFrame([variable.cells(cells[variable.name], row=start_row) for variable in wanted_variables])
        _check_letters(file.path, piece)
        yield piece
        start_row, is_full = start_row + piece_height, piece_height == piece_limit


def _check_letters(path: Path, piece: pl.DataFrame) -> None:
    """Raise where the reader of .por files put U+FFFD for what is not UTF-8: different words may become one."""
    text_frame = piece.select(pl.col(pl.String)) if path.suffix.lower() == ".por" else pl.DataFrame()
    for column in text_frame:
        if column.str.contains("\ufffd", literal=True).any():
            raise DataError(
                f"column {column.name!r} of {str(path)!r} holds letters that are not UTF-8; save it as .sav instead",
                column=column.name,
            )


def _opened(path: Path, encoding: str | None) -> _File:
    """The file, and the library that reads it, after checking that both can be used."""
    try:
        codec_name = None if encoding is None else codecs.lookup(encoding).name.removesuffix("-sig")
    except LookupError:
        raise DataError(f"no encoding is called {encoding!r}; known are utf-8, latin-1, cp1252, …") from None
    reader = library(path)
    if codec_name is not None and (path.suffix.lower() == ".por" or codec_name.startswith(("utf-16", "utf-32"))):
        raise DataError(f"{str(path)!r} cannot be in {encoding}; leave --encoding out")
    return _File(path, codec_name, reader)


MOST_ROWS = 1_048_576
_VARIABLES = "variables"  # the sheet with what columns mean


def scan_workbook(path: Path) -> pl.LazyFrame:
    """The first sheet, its cells as text as in a CSV file: 1.0 as ``1``, a day as ``2026-11-20``."""
    openpyxl = library(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise DataError(f"cannot read {str(path)!r}: it is damaged or no workbook of Excel ({error})") from None
    try:
        sheet_rows = (
            [_text(cell) for cell in sheet_row] for sheet_row in book.worksheets[0].iter_rows(values_only=True)
        )
        column_names = [str(name) for name in next(sheet_rows, []) if name is not None]
        filled_rows = [
            (sheet_row + [None] * len(column_names))[: len(column_names)] for sheet_row in sheet_rows
        ]  # empty cells at the end are not kept
    finally:
        book.close()
    repeated_name = next((name for name in column_names if column_names.count(name) > 1), None)
    if repeated_name is not None or not column_names:
        problem = "no names of columns" if repeated_name is None else f"two columns {repeated_name!r}"
        raise DataError(f"{str(path)!r} has {problem} in its first row")
    return pl.LazyFrame(filled_rows, schema=dict.fromkeys(column_names, pl.String), orient="row")


def labels_in(path: Path) -> dict[str, str]:
    """The labels of the columns, by name, from the sheet of variables that an export has; none without it."""
    with closing(library(path).load_workbook(path, read_only=True, data_only=True)) as book:
        if _VARIABLES not in book.sheetnames:
            return {}
        rows = list(book[_VARIABLES].iter_rows(values_only=True))  # its first row says whether the sheet is naysay's
        return {
            str(row[0]): str(row[1]) for row in rows if rows[0][:2] == ("column", "label") and all(row[:2]) and row[1:]
        }


def _text(cell: object) -> str | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)


def write_workbook(pieces: Iterable[pl.DataFrame], file: IO[bytes], *, path: Path, book: Codebook | None) -> None:
    """Write pieces of a table to a workbook, row by row, with the codebook on two further sheets.

    A text is written as a text, whatever it begins with: Excel takes no cell for a formula, not even when it is edited.
    """
    openpyxl = library(path)
    workbook = openpyxl.Workbook(write_only=True)
    data_sheet, row_count = workbook.create_sheet("data"), 0
    with closing(data_sheet):
        for piece in pieces:
            _check_control_characters(piece, path)
            if not row_count:
                data_sheet.append([_safe(data_sheet, column_name) for column_name in piece.columns])
            row_count += piece.height
            if row_count >= MOST_ROWS:
                raise DataError(f"{path.name!r}: Excel takes {MOST_ROWS - 1:,} rows; write .parquet or .csv instead")
            for table_row in piece.iter_rows():
                data_sheet.append([_safe(data_sheet, cell) for cell in table_row])
    for sheet_title, sheet_rows in _sheets(book):
        codebook_sheet = workbook.create_sheet(sheet_title)
        for sheet_row in sheet_rows:
            codebook_sheet.append([_safe(codebook_sheet, cell) for cell in sheet_row])
    workbook.save(file)


def _check_control_characters(piece: pl.DataFrame, path: Path) -> None:
    """Raise for control characters, of which Excel takes the tab and new lines only."""
    for column in piece.select(pl.col(pl.String)):
        if column.str.contains(r"[\x00-\x08\x0b\x0c\x0e-\x1f]").any():
            problem = (
                f"cannot write {str(path)!r}: column {column.name!r} holds control characters, which Excel refuses"
            )
            raise DataError(f"{problem}; write .csv or .parquet instead", column=column.name)


def _safe(sheet: WriteOnlyWorksheet, cell: object) -> object:
    """A cell that is a text even where it looks like a formula."""
    if not isinstance(cell, str) or cell[:1] not in _FORMULA:
        return cell
    from openpyxl.cell import WriteOnlyCell

    text_cell = WriteOnlyCell(sheet, value=cell)
    text_cell.data_type, text_cell.quotePrefix = "s", True
    return text_cell


_FORMULA = tuple("=+-@\t\r＝＋－＠")


def _sheets(book: Codebook | None) -> Iterator[tuple[str, Sequence[Sequence[object]]]]:
    """What the columns and their values mean, a sheet each."""
    if book is None:
        return
    column_titles = ["column", "label", "meaning", "holds", "measure", "after randomization", "level"]
    entry_rows = [
        [
            entry.column,
            entry.label,
            entry.meaning,
            entry.holds,
            entry.measure,
            "yes" if entry.asked else "",
            entry.asked and entry.asked.level,
        ]
        for entry in book.entries
    ]
    yield (
        _VARIABLES,
        [column_titles, *entry_rows, [], ["survey", book.survey], ["hash", book.hash], ["language", book.language]],
    )
    value_rows = [
        [entry.column, value.name, value.label, value.meaning] for entry in book.entries for value in entry.values
    ]
    yield "values", [["column", "value", "label", "meaning"], *value_rows]
