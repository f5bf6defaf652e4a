"""The codebook as a page that people read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from naysay import privacy
from naysay.files import Codebook, Entry

__all__ = ["markdown"]

_HOLDS = {
    "values": "one of the values below",
    "sets": "several of the values below, such as `a;b`",
    "flags": "1 where it was chosen, 0 where not",
    "numbers": "a number",
    "days": "a day",
    "texts": "people's own words",
}


def markdown(book: Codebook, *, file: str, replies: int, caution: str = "", escaped: bool = False) -> str:
    """The codebook in Markdown.

    Parameters
    ----------
    book : Codebook
    file : str
        The name of the file of data.
    replies : int
        Its rows.
    caution : str
        What a reader must know of how answers came.
    escaped : bool
        Whether texts that a spreadsheet would take for formulas have an apostrophe before them.

    Examples
    --------
    >>> from naysay.files import Entry
    >>> entry = Entry("age", "age", "How old are you?", "numbers", measure="scale")
    >>> print(markdown(Codebook("sample", "A sample", "0" * 64, "en", (entry,)), file="data.csv", replies=12))
    # A sample
    ...
    ## `age`
    <BLANKLINE>
    How old are you?
    <BLANKLINE>
    It holds a number.
    <BLANKLINE>
    """
    facts = [("survey", book.survey), ("hash", f"`{book.hash}`"), ("file", f"`{file}`"), ("replies", f"{replies:,}")]
    lines = [f"# {_line(book.title)}", "", *([_line(book.about), ""] if book.about else [])]
    lines += [*_table(("", ""), facts), "", "Rows are in random order. An empty cell means that nothing was answered."]
    lines += ["", _line(caution)] if caution else []
    if escaped:
        lines += [
            "",
            "An apostrophe stands before what a spreadsheet would take for a formula, and before what looks so; "
            "`naysay` takes it away again.",
        ]
    for entry in book.entries:
        lines += ["", f"## `{entry.column}`", "", _line(entry.label), "", *_entry(entry, book, file)]
    return "\n".join(lines) + "\n"


def _entry(entry: Entry, book: Codebook, file: str) -> Iterator[str]:
    if entry.meaning:
        yield f"**{_line(entry.meaning)}**"
        yield ""
    yield f"It holds {_HOLDS[entry.holds]}."
    if entry.asked is not None:
        design, level = entry.asked.design, entry.asked.level
        yield ""
        chosen = f", at the level in `{level}`" if level else ""
        yield f"What was sent was drawn by `{design.name or design.kind}`{chosen}."
        yield ""
        for line in privacy.lines(design):
            yield f"- {_line(line)}"
        yield ""
        yield f"    naysay estimate {shlex.quote(file)} --response {shlex.quote(entry.column)}"
    if entry.values:
        coded = book.coded and entry.holds != "sets"
        head: tuple[str, ...] = ("code", "name", "label") if coded else ("value", "label")
        rows: list[tuple[str, ...]] = [
            ((str(v.code), v.name, v.label) if coded else (v.name, v.label)) for v in entry.values
        ]
        if entry.asked is not None:
            head, rows = (*head, "meaning"), [(*row, v.meaning) for row, v in zip(rows, entry.values, strict=True)]
        yield ""
        yield from _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _line(text: str) -> str:
    return " ".join(text.split())
