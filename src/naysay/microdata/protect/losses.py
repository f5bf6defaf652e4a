"""What a release lost: answers of the original that are empty or differ in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from naysay.microdata.protect.tables import alike, texts


@dataclass(frozen=True)
class Losses:
    """Answers of a file, and what became of them.

    Parameters
    ----------
    answers : int
        Cells of the original that hold something, in the columns that were compared.
    emptied : int
        Those that are empty now, or whose record was deleted.
    changed : int
        Those that hold something else: a coarser value, or one that was drawn.
    left_out : tuple of str
        Columns that the release does not have. Their cells are not counted.
    """

    answers: int
    emptied: int
    changed: int
    left_out: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of answers that are no longer what they were; 0 where there were none."""
        return (self.emptied + self.changed) / self.answers if self.answers else 0.0

    def to_dict(self) -> dict[str, int | float | list[str]]:
        """As one JSON object with stable names."""
        return {**asdict(self), "left_out": list(self.left_out), "share": self.share}


def losses_of(
    before: pl.DataFrame, after: pl.DataFrame, rows: Sequence[int], *, changed: Iterable[str], numbers: Iterable[str]
) -> Losses:
    """The losses of a table whose rows are rows of another one.

    Parameters
    ----------
    before, after : DataFrame
    rows : (rows of after,) sequence of int
        The row of `before` that each row of `after` comes from.
    changed : iterable of str
        Columns that a step may have changed; all others are as they were.
    numbers : iterable of str
        Columns that number people: a new number loses no answer, and they are not compared.

    Examples
    --------
    >>> before = pl.DataFrame({"age": [36, 40, 41], "sex": ["f", "m", None]})
    >>> after = pl.DataFrame({"age": ["40 to 44", None], "sex": ["m", "f"]})
    >>> losses_of(before, after, [1, 0], changed=["age"], numbers=[])
    Losses(answers=5, emptied=2, changed=1, left_out=())
    """
    names = [name for name in before.columns if name in after.columns and name not in set(numbers)]
    changed_names, rows_before = set(changed), before[list(rows)]
    answers = emptied = changed_cells = 0
    for name in names:
        answer_count = texts(before[name]).count()
        was = texts(rows_before[name])
        answers, emptied = answers + answer_count, emptied + answer_count - was.count()
        if name in changed_names:
            now = texts(after[name])
            gone = int((was.is_not_null() & now.is_null()).sum())
            emptied += gone
            changed_cells += int((was.is_not_null() & ~alike(rows_before[name], after[name])).sum()) - gone
    left_out = tuple(name for name in before.columns if name not in after.columns)
    return Losses(answers, emptied, changed_cells, left_out)
