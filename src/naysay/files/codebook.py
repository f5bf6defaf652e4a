"""What the columns of a file of answers mean: the codebook that an export leaves beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from naysay.design import Answerable, read, relabeled
from naysay.errors import DataError
from naysay.files.casts import text_of
from naysay.files.escapes import unescaped
from naysay.responses import JOINER

Holds = Literal["values", "sets", "flags", "numbers", "days", "texts"]
"""What a column holds: one value, sets of them such as ``a;b``, 0 and 1, numbers, days, or people's own words."""

_VERSION = 1


@dataclass(frozen=True)
class Value:
    """One value of a column.

    Parameters
    ----------
    code : int
        In files of SPSS and Stata.
    name, label : str
        In the survey, and what respondents read.
    meaning : str
        Of a private column what the value says of a person, such as ``not 10 or more``; empty where the label says it.
    """

    code: int
    name: str
    label: str
    meaning: str = ""


@dataclass(frozen=True)
class Asked:
    """How the answers in a column were randomized, and the column with the levels that respondents chose."""

    design: Answerable
    level: str | None = None


@dataclass(frozen=True)
class Entry:
    """One column.

    Parameters
    ----------
    column : str
        Its name in the file.
    question : str
        The question that it belongs to.
    label : str
        What was asked; of a private column with what its values are before it.
    holds : Holds
    values : tuple of Value
        Those that it may hold; of a scale of numbers those that have a label.
    measure : {"nominal", "ordinal", "scale"}
    asked : Asked, optional
        Where the answers are private: how they were randomized, about the names of the values.
    wording : str
        What was asked, as respondents read it; empty where the label is that.
    meaning : str
        Of a private column, one sentence on what its values are.

    Examples
    --------
    >>> values = (Value(1, "yes", "Ja"), Value(2, "no", "Nein"))
    >>> Entry("smoking", "smoking", "Rauchen Sie?", "values", values).words(coded=True)
    {'1': 'Ja', '2': 'Nein'}
    """

    column: str
    question: str
    label: str
    holds: Holds
    values: tuple[Value, ...] = ()
    measure: Literal["nominal", "ordinal", "scale"] = "nominal"
    asked: Asked | None = None
    wording: str = ""
    meaning: str = ""

    @property
    def listed(self) -> bool:
        """Whether its cells are values of a list, or sets of them."""
        return self.holds in ("values", "sets")

    @property
    def labels(self) -> dict[str, str]:
        """What each value is called where people read it, by name; values whose labels are alike keep their names."""
        texts = [value.label.replace(JOINER, ",") if self.holds == "sets" else value.label for value in self.values]
        names = {value.name for value in self.values}
        alone = {
            value.name: text
            for value, text in zip(self.values, texts, strict=True)
            if text.strip() and texts.count(text) == 1 and text not in names - {value.name}
        }
        return {value.name: alone.get(value.name, value.name) for value in self.values}

    def words(self, *, coded: bool, names: bool = False) -> dict[str, str]:
        """What stands for each cell where it is read: labels, or names; cells hold codes, or names."""
        labels = {value.name: value.name for value in self.values} if names else self.labels
        return {str(value.code) if coded else value.name: labels[value.name] for value in self.values}

    def worded(self, *, names: bool = False) -> Asked | None:
        """How its answers were randomized, about the words that `words` gives."""
        if self.asked is None or names:
            return self.asked
        return Asked(relabeled(self.asked.design, self.labels), self.asked.level)

    def form(self) -> dict[str, Any]:
        """The entry as a JSON object."""
        json_fields: dict[str, Any] = {name: getattr(self, name) for name in ("column", "question", "label", "holds")}
        json_fields |= {"wording": self.wording, "meaning": self.meaning}
        json_fields |= {"measure": self.measure, "values": [vars(value) for value in self.values]}
        if self.asked is not None:
            json_fields |= {"level": self.asked.level, "design": json.loads(self.asked.design.to_json())}
        return json_fields

    @classmethod
    def of_form(cls, node: Mapping[str, Any]) -> Entry:
        """The entry that a JSON object describes."""
        plain = {name: node[name] for name in ("column", "question", "label", "holds", "measure")}
        plain |= {"meaning": node.get("meaning", ""), "wording": node.get("wording", "")}  # older ones have none
        randomization = Asked(read(node["design"]), node["level"]) if "design" in node else None
        return cls(**plain, values=tuple(Value(**value_fields) for value_fields in node["values"]), asked=randomization)


@dataclass(frozen=True)
class Codebook:
    """What the columns of a file mean, and of which survey they are.

    Parameters
    ----------
    survey, title, hash : str
        The survey's name, its title, and the hash under which it was published.
    language : str
        Of the labels.
    entries : tuple of Entry
        The columns, in order.
    coded : bool
        Whether cells hold codes, as in files of SPSS and Stata, and not names.
    about : str
        Why it was asked, and by whom.

    Examples
    --------
    >>> entry = Entry("age", "age", "How old are you?", "numbers", measure="scale")
    >>> book = Codebook("sample", "A sample", "0" * 64, "en", (entry,))
    >>> Codebook.of_form(book.form()) == book
    True
    """

    survey: str
    title: str
    hash: str
    language: str
    entries: tuple[Entry, ...]
    coded: bool = False
    about: str = ""

    @property
    def columns(self) -> dict[str, Entry]:
        """The entries by the name of their column."""
        return {entry.column: entry for entry in self.entries}

    def asked(self, *, names: bool = False) -> dict[str, Asked]:
        """How the answers in each private column were randomized, about labels, or on request about names."""
        randomization_of = {entry.column: entry.worded(names=names) for entry in self.entries}
        return {
            column: randomization for column, randomization in randomization_of.items() if randomization is not None
        }

    def read(self, frame: pl.LazyFrame, *, names: bool = False, escaped: bool = False) -> pl.LazyFrame:
        """The frame with labels, or on request names, in place of what the file holds; numbers and days as such.

        Columns without an entry stay as they are.
        """
        schema = frame.collect_schema()
        there = [entry for entry in self.entries if entry.column in schema]
        listed = [_cells_as_words(entry, schema[entry.column], self.coded, names) for entry in there if entry.listed]
        texts = [entry.column for entry in there if entry.holds == "texts" and escaped]
        typed = [
            _cells_as_typed(typed_entry, schema[typed_entry.column])
            for typed_entry in there
            if typed_entry.holds in ("numbers", "flags", "days")
        ]
        return frame.with_columns(*listed, *typed, *(unescaped(name) for name in texts))

    def form(self) -> dict[str, Any]:
        """The codebook as a JSON object, complete with every design."""
        head_fields = {name: getattr(self, name) for name in ("survey", "title", "about", "hash", "language", "coded")}
        columns = [entry.form() for entry in self.entries]
        return {"naysay": "codebook", "version": _VERSION, **head_fields, "columns": columns}

    @classmethod
    def of_form(cls, node: Mapping[str, Any]) -> Codebook:
        """The codebook that a JSON object describes."""
        plain = {name: node[name] for name in ("survey", "title", "about", "hash", "language", "coded")}
        return cls(**plain, entries=tuple(map(Entry.of_form, node["columns"])))


def _cells_as_words(entry: Entry, dtype: pl.DataType, coded: bool, names: bool) -> pl.Expr:  # noqa: FBT001
    """The cells of a column of values, or of sets of values, as words."""
    words = entry.words(coded=coded and entry.holds == "values", names=names)
    cell = text_of(entry.column, dtype)
    if entry.holds == "values":
        return cell.replace(words).alias(entry.column)
    return cell.str.split(JOINER).list.eval(pl.element().replace(words)).list.join(JOINER).alias(entry.column)


def _cells_as_typed(entry: Entry, dtype: pl.DataType) -> pl.Expr:
    """Cells that a file of texts holds as texts, as the numbers or days that they are."""
    cell = pl.col(entry.column)
    if entry.holds != "days":
        return cell.cast(pl.Float64)
    return cell.str.to_date() if dtype == pl.String else cell.cast(pl.Date)


def place_of(path: Path) -> Path:
    """Where the codebook of a file is.

    Examples
    --------
    >>> place_of(Path("study/data.sav")).name
    'data.sav.designs.json'
    """
    return path.with_name(f"{path.name}.designs.json")  # data.csv and data.sav hold other cells


def codebook_of(path: Path) -> Codebook | None:
    """The codebook that an export left beside a file; None where there is none.

    Raises
    ------
    DataError
        One that cannot be read.
    """
    place = place_of(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {str(place)!r}, the codebook of {str(path)!r}: {error}") from None
    try:
        node = json.loads(text)
        if (node["naysay"], node["version"]) != ("codebook", _VERSION):
            raise ValueError(f"this naysay reads codebooks of version {_VERSION}")
        return Codebook.of_form(node)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{str(place)!r} is not the codebook of an export ({error})"
        raise DataError(f"{problem}; export the survey again, or move that file away from {path.name!r}") from None


def designs_of(path: Path, *, codes: bool = False) -> dict[str, Asked]:
    """How the answers in each private column of a survey's export were randomized; empty for any other file.

    The designs are about the words that `naysay.files.scan` reads there, so that both fit together.

    Parameters
    ----------
    path : Path
        The file of data.
    codes : bool
        As for `naysay.files.scan`: the names in the questionnaire instead of labels.

    Raises
    ------
    DataError
        A codebook beside the file that cannot be read.

    Examples
    --------
    >>> designs_of(Path("no-export.csv"))
    {}
    """
    book = codebook_of(path)
    return {} if book is None else book.asked(names=codes)
