"""Cells that may mean missing although nobody says so: -9, 99, 'refused'. They count as values of their own."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from naysay import _checks
from naysay.console.options import record_text
from naysay.microdata.keys.table import texts_of_values
from naysay.microdata.keys.variables import Keys

_WORDS = ["na", "n/a", "nan", "null", "missing", "unknown", "refused", "?", "-", "."]
_LOW = [*(f"-{digit}" for digit in range(1, 10)), *(f"-{digit}{digit}" for digit in range(6, 10)),
        "-97", "-98", "-997", "-998", "-999", "-9997", "-9998", "-9999"]  # fmt: skip
_HIGH = ["97", "98", "99", "997", "998", "999", "9997", "9998", "9999", "99997", "99998", "99999"]
_MOST_CODES = 12


class MissingCode(NamedTuple):
    """A cell that may mean missing: how it is written, in which column, and in how many rows."""

    text: str
    column: str
    rows: int
    file: str = ""

    def __str__(self) -> str:
        where = f" of {self.file}" if self.file else ""
        return f"{self.text!r} in {_checks.several(self.rows, 'row', 'rows')} of {self.column!r}{where}"


def codes_in_frame(
    frame: pl.DataFrame | pl.LazyFrame, columns: Iterable[str], *, declared: Sequence[str] = (), file: str = ""
) -> list[MissingCode]:
    """Such cells of some columns of a table, but for those that are declared; lists are not looked into."""
    table, schema = frame.lazy(), frame.collect_schema()
    codes = []
    for name in dict.fromkeys(columns):
        if not schema[name].is_nested():
            cells = table.group_by(name).len().collect(engine="streaming")
            codes += _codes(name, texts_of_values(cells[name]), cells["len"], declared, file)
    return codes


def codes_in_keys(keys: Keys, columns: Iterable[str]) -> list[MissingCode]:
    """Such cells of some key variables."""
    codes = []
    for name in dict.fromkeys(columns):
        values = [value for value in keys.variable(name).cells.values if value is not None]
        texts = texts_of_values(pl.Series(values, strict=False))
        if values and _missing_texts(texts):
            tuples = keys.only([name]).tuples
            rows = np.bincount(tuples.columns[0], tuples.count, len(values) + 1)[1 : len(values) + 1]
            codes += _codes(name, texts, pl.Series(rows.astype(np.int64)), (), "")
    return codes


def sentence(codes: Sequence[MissingCode]) -> str | None:
    """What to say about such cells, and which option declares them; None where there are none."""
    if not codes:
        return None
    record = shlex.quote(record_text(list(dict.fromkeys(code.text for code in codes))))
    code_texts = [str(code) for code in codes[:_MOST_CODES]] + (
        [f"{len(codes) - _MOST_CODES:,} more"] if codes[_MOST_CODES:] else []
    )
    explanation = "they count as values of their own; if they do mean missing, say"
    return f"cells that may mean missing: {', '.join(code_texts)}; {explanation} --na {record}"


def _codes(name: str, cells: pl.Series, rows: pl.Series, declared: Sequence[str], file: str) -> list[MissingCode]:
    there = cells.is_not_null() & ~cells.is_in(list(declared))
    counts = dict(pl.DataFrame([cells.alias("text"), rows.alias("rows")]).filter(there).group_by("text").sum().rows())
    return [
        MissingCode(text, name, counts[text], file) for text in _missing_texts(pl.Series(list(counts), dtype=pl.String))
    ]


def _missing_texts(texts: pl.Series) -> list[str]:
    """Those of the texts that often mean missing.

    They are words such as 'refused'; -9 where no other number is negative; 99 far above all other numbers; and both if
    they are the only numbers among words.
    """
    numbers = texts.cast(pl.Float64, strict=False)
    are_words = texts.str.to_lowercase().is_in(_WORDS)
    missing_texts = texts.filter(are_words).sort().to_list()
    table = pl.DataFrame([texts.alias("text"), numbers.alias("number")]).filter(numbers.is_finite()).sort("number")
    if (numbers.is_null() & ~are_words).any() and set(table["text"]) <= {*_LOW, *_HIGH}:
        return missing_texts + table["text"].to_list()
    below = table.filter(pl.col("number") < 0)["text"].to_list()
    above = table.filter(pl.col("number") >= 0).rows()
    if any(text not in _HIGH for text, _ in above) and set(below) <= set(_LOW):
        missing_texts += below
    largest = None
    for text, number in above:
        if text in _HIGH and largest is not None and number > largest + 2:
            missing_texts.append(text)
        else:
            largest = number
    return missing_texts
