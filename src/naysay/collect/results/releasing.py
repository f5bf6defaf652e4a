"""What others may see: tallies that move only in steps of several people, so that two views tell nothing of a few.

A page that always showed the latest numbers would tell each answer to whoever looks before and after it. So a table is
shown, and moves, only by so many answers at once. All that can be added and subtracted from what was ever shown of a
question is then about no fewer people:

- A question's table moves when at least `least` more people have answered it, and when the survey as a whole has moved.
- Groups are those of one plain question. Which of them are shown is settled once; the others, taken together, are none
  or at least `least`. The table by groups moves together with the question's own, and only if each group and the
  others together have grown by nothing or by at least `least`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from naysay.collect.results.counting import Counting
from naysay.collect.storage.tallies import Key
from naysay.errors import DataError

LEAST = 20
"""The fewest answers that are shown, and that a table moves by, unless the researcher asks for more."""

_FEWEST = 5
_OTHERS = "null"
"""The cell of a table by groups that counts everybody in groups that are not shown; no answer is written so."""

Counts = Mapping[Key, int]


def check(counting: Counting, *, by: str, least: int) -> None:
    """Raise unless results can be shared in this way."""
    if least < _FEWEST:
        raise DataError(f"results are shared in steps of {_FEWEST} people or more; got {least}")
    group_questions = {spec.beside for spec in counting.specs}
    if by not in group_questions:
        other_questions = ", ".join(sorted(group_questions - {""})) or "none in this survey"
        raise DataError(
            f"{by!r} is no plain question with one answer of a list; groups are made by: {other_questions}", column=by
        )


def released_counts(
    counting: Counting, shown_counts: Counts, latest_counts: Counts, *, by: str, least: int
) -> Counter[Key]:
    """What is shown from now on.

    Parameters
    ----------
    counting : Counting
    shown_counts : {Key: people}
        What was shown last; empty at first.
    latest_counts : {Key: people}
        The tallies of all replies.
    by : str
        The question that makes groups; empty for none.
    least : int
    """
    before, after = _by_tally(shown_counts), _by_tally(latest_counts)
    people = sum(after.get(("", ""), {}).values())
    if people - sum(before.get(("", ""), {}).values()) < least:
        return Counter(shown_counts)
    next_counts: Counter[Key] = Counter({Key("", "", "", "[]"): people})
    for spec in counting.specs:
        if spec.by_day or spec.beside:
            continue
        tally_name = (spec.question, "")
        moves = _answers(after.get(tally_name, {})) - _answers(before.get(tally_name, {})) >= least
        next_counts.update(_keyed_counts(tally_name, (after if moves else before).get(tally_name, {})))
        if by and by != spec.question:
            groups = (spec.question, by)
            shown_cells, latest_cells = before.get(groups, {}), _answered_cells(after.get(groups, {}))
            next_cells = _grouped_cells(latest_cells, _groups(shown_cells) or _first(latest_cells, counting, by, least))
            next_counts.update(
                _keyed_counts(
                    groups, next_cells if moves and _moved_enough(shown_cells, next_cells, least) else shown_cells
                )
            )
    return next_counts


def _by_tally(counts: Counts) -> dict[tuple[str, str], dict[str, int]]:
    cells_by_tally: dict[tuple[str, str], dict[str, int]] = {}
    for key, people in counts.items():
        cells = cells_by_tally.setdefault((key.question, key.beside), {})
        cells[key.cell] = cells.get(key.cell, 0) + people  # replies are counted by day
    return cells_by_tally


def _keyed_counts(tally: tuple[str, str], cells: Mapping[str, int]) -> dict[Key, int]:
    return {Key(*tally, "", cell): people for cell, people in cells.items()}


def _answered_cells(cells: Mapping[str, int]) -> dict[str, int]:
    """The cells of those who answered."""
    return {cell: people for cell, people in cells.items() if json.loads(cell)[0] is not None}


def _answers(cells: Mapping[str, int]) -> int:
    return sum(_answered_cells(cells).values())


def _group(cell: str) -> Any:
    return json.loads(cell)[-1]


def _groups(cells: Mapping[str, int]) -> set[Any]:
    """The groups that are shown."""
    return {_group(cell) for cell in cells if cell != _OTHERS}


def _grouped_cells(cells: Mapping[str, int], groups: set[Any]) -> dict[str, int]:
    """The cells of these groups, and how many people are in the others together."""
    group_cells = {cell: people for cell, people in cells.items() if _group(cell) in groups}
    return group_cells | {_OTHERS: sum(cells.values()) - sum(group_cells.values())} if groups else {}


def _sizes(cells: Mapping[str, int]) -> Counter[Any]:
    group_sizes: Counter[Any] = Counter()
    for cell, people in cells.items():
        group_sizes[cell if cell == _OTHERS else _group(cell)] += people
    return group_sizes


def _first(cells: Mapping[str, int], counting: Counting, by: str, least: int) -> set[Any]:
    """The groups to show from now on: those that are large enough, once every group had time to become so."""
    sizes = _sizes(cells)
    if sum(sizes.values()) < least * len(counting.columns.book.columns[by].values):
        return set()
    large = {group for group, people in sizes.items() if people >= least and group is not None}
    return large if len(large) > 1 else set()


def _moved_enough(before_cells: Mapping[str, int], after_cells: Mapping[str, int], least: int) -> bool:
    """Whether each group that is shown, and the others together, have grown by nothing or by enough."""
    before, after = _sizes(before_cells), _sizes(after_cells)
    return bool(after_cells) and all(
        after[part] == before[part] or after[part] - before[part] >= least for part in after
    )


def stored_bytes(counts: Counts) -> bytes:
    """Tallies as they are stored; the same tallies are the same bytes."""
    return json.dumps([[*key, people] for key, people in sorted(counts.items())], ensure_ascii=False).encode()


def public_counts(shown_counts: Counts) -> Counter[Key]:
    """What is shown, without what is only remembered to judge the next step."""
    return Counter({key: people for key, people in shown_counts.items() if key.cell != _OTHERS})


def read(content: bytes) -> Counter[Key]:
    """Tallies that were stored."""
    return Counter({Key(*key): people for *key, people in json.loads(content)})
