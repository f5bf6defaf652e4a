"""What an analysis returns: it says how it reads and what its numbers are, and every form of output follows."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from naysay.show.content import Content, Note, Points
from naysay.show.html import html, notebook
from naysay.show.text import csv_text, latex, markdown, plain, text

if TYPE_CHECKING:  # estimates are results, too, and load no Polars
    from polars import DataFrame


class Records(NamedTuple):
    """A table of unrounded numbers: the names of its columns, which may repeat, and its rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[object]]

    def to_csv(self) -> str:
        """The table as CSV, without a line break after the last row."""
        return csv_text([self.names, *(plain(list(row)) for row in self.rows)])

    def to_frame(self) -> DataFrame:
        """The table as a dataframe of Polars."""
        from polars import DataFrame

        return DataFrame([plain(list(row)) for row in self.rows], schema=list(self.names), orient="row")


class Result(ABC):
    """What an analysis returns.

    A subclass has `parts`, how it reads, and `numbers`, under the stable names of its JSON. Where it is a table of
    numbers it has `records`, too. What decides how it is printed, such as a level of confidence, is a field of it, or
    a parameter with a default.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from naysay.show import Note, Sentence
    >>> @dataclass(frozen=True)
    ... class Share(Result):
    ...     share: float
    ...
    ...     def parts(self):
    ...         return [Sentence(f"one in {1 / self.share:.0f}"), Note("made up")]
    ...
    ...     def numbers(self):
    ...         return {"share": self.share}
    >>> print(Share(0.25))
    one in 4
    note: made up
    >>> print(Share(0.25).to_csv())
    share
    0.25
    >>> Share(float("nan")).to_dict(), Share(0.25).remarks()
    ({'share': None}, ['made up'])
    """

    @abstractmethod
    def parts(self) -> Sequence[Content]:
        """How it reads, in the vocabulary of `naysay.show`."""

    @abstractmethod
    def numbers(self) -> dict[str, object]:
        """Its numbers by stable names: arrays, numbers and labels, and lists or mappings of them."""

    def records(self) -> Records:
        """Its numbers as a table: by default one row of all of them."""
        numbers_by_name = self.numbers()
        return Records(list(numbers_by_name), [list(numbers_by_name.values())])

    def remarks(self) -> list[str]:
        """What a reader must know beside the numbers, a line each: its points and notes."""
        remark_parts = [part for part in self.parts() if isinstance(part, Points | Note)]
        return [line for part in remark_parts for line in (part.items if isinstance(part, Points) else (part.text,))]

    def to_dict(self) -> dict[str, Any]:
        """The numbers as one JSON object; undefined and infinite ones are None."""
        json_object: dict[str, Any] = plain(self.numbers())
        return json_object

    def to_json(self) -> str:
        """The numbers as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """The records as CSV, without a line break after the last."""
        return self.records().to_csv()

    def to_frame(self) -> DataFrame:
        """The records as a dataframe of Polars."""
        return self.records().to_frame()

    def to_html(self) -> str:
        """The parts as HTML. Charts need the extra ``plots``."""
        return html(self.parts())

    def to_markdown(self) -> str:
        """The parts as Markdown."""
        return markdown(self.parts())

    def to_latex(self) -> str:
        """The parts as LaTeX."""
        return latex(self.parts())

    def __str__(self) -> str:
        return text(self.parts())

    def _repr_html_(self) -> str:
        return notebook(self.parts())
