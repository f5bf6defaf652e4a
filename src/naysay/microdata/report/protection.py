"""What was done to a file before it is released, and what is left: a section of the board's page, from a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from naysay.errors import DataError
from naysay.microdata.risk.written import DASH, grid, percent
from naysay.show import Content, Points, Sentence

_LEAST = {
    "k": "people whose rows read the same (k)",
    "c": "people who show as much (c)",
    "m": "people who may be the same (m)",
}
_INTRUDER = {
    "mean": "right about anybody in the file",
    "mean_at_risk": "right about those who stood out before",
    "highest": "right about one person, at most",
}


def protection(log: Mapping[str, Any], titles: Mapping[str, str] | None = None) -> list[Content]:
    """The content of a section on protection.

    Parameters
    ----------
    log : mapping
        Plain data, as ``naysay protect`` writes it: ``steps``, each with what was done (``step``), the records deleted
        and, by column, its cells changed and suppressed; ``guarantee_before`` and ``guarantee_after`` (the least k, c
        and m); ``intruder_before`` and ``intruder_after`` (how often an informed intruder is right). All of it may
        stand under ``log``, as in the file beside a release.
    titles : {key: text}, optional
        What variables are called.

    Raises
    ------
    DataError
        A log without steps.

    Examples
    --------
    >>> steps = [{"step": {"method": "suppress"}, "columns": {"age": {"cells": 100, "changed": 3, "suppressed": 3}}}]
    >>> told = protection({"steps": steps, "guarantee_before": {"k": 1}, "guarantee_after": {"k": 3}})
    >>> [part.caption for part in told if hasattr(part, "caption")]
    ['What was done', 'What is left']
    """
    log_fields = log.get("log", log)
    if not isinstance(log_fields, Mapping) or not _is_list(log_fields.get("steps")):
        raise DataError("a log of protection holds a list 'steps'; give the log that naysay protect wrote")
    rows = [
        row
        for number, step in enumerate(log_fields["steps"], start=1)
        for row in _rows_of_step(number, step, titles or {})
    ]
    deleted = sum(int(step.get("deleted", 0)) for step in log_fields["steps"])
    parts: list[Content] = [
        Sentence(
            "The file was changed before this report, in these steps. Cells are those that held an answer before."
        ),
        grid("What was done", ("step", "cells", "changed", "of it emptied", "share changed"), rows),
    ]
    if deleted:
        parts.append(Sentence(f"{deleted:,} records were deleted."))
    notes = [f"{_name(step)}: {note}" for step in log_fields["steps"] for note in step.get("notes", ())]
    parts += [Points(tuple(notes))] if notes else []
    return [*parts, *_remaining_risk(log_fields)]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(element, Mapping) for element in value)


def _name(step: Mapping[str, Any]) -> str:
    form = step.get("step", {})
    named = form.get("method", form.get("name", "step")) if isinstance(form, Mapping) else form
    return str(named)


def _rows_of_step(number: int, step: Mapping[str, Any], titles: Mapping[str, str]) -> Iterable[tuple[str, ...]]:
    """A row for each column of a step."""
    for column, cells in step.get("columns", {}).items():
        every, changed = int(cells.get("cells", 0)), int(cells.get("changed", 0))
        share = percent(changed / every) if every else DASH
        name = f"{number}. {_name(step)}: {titles.get(column, column)}"
        yield name, f"{every:,}", f"{changed:,}", f"{int(cells.get('suppressed', 0)):,}", share


def _remaining_risk(log_fields: Mapping[str, Any]) -> list[Content]:
    """Risk before and after."""
    before, after = (log_fields.get(f"guarantee_{when}") or {} for when in ("before", "after"))
    least = [
        (f"fewest {text}", *(_whole(guarantee.get(sign)) for guarantee in (before, after)))
        for sign, text in _LEAST.items()
    ]
    parts: list[Content] = []
    if before or after:
        parts += [
            grid("What is left", ("", "before", "after"), least),
            Sentence(
                "Only k is a promise: whatever somebody knows of these keys, they pick the right record with a"
                " probability of at most one in k. c and m also count rows with gaps, which need not be taken for"
                " the person by somebody who knows all keys.",
                True,
            ),
        ]
    before, after, nearest = (log_fields.get(f"intruder_{when}") or {} for when in ("before", "after", "nearest"))
    if before and not after:
        nearest_text = f" Of {_whole(nearest['n'])} people, the nearest record was right for {_share(nearest['share'])}"
        parts.append(
            Sentence(
                "Keys may hold other values now than the true ones. So it is not told how often somebody who knows all"
                " true keys picks the right record by comparing values: they would take the nearest record instead."
                + (f"{nearest_text}; in the original it was {_share(before.get('mean'))}." if nearest else "")
                + " naysay attack measures such attacks."
            )
        )
    if (log_fields.get("guarantee_before") or log_fields.get("guarantee_after")) and not before:
        parts.append(
            Sentence(
                "How often an intruder picks the right record is not told: it is measured where each row is a person,"
                " where the release has all keys and only rows of the original, and where memory holds the file."
            )
        )
    if before and after:
        rows = [
            (text, *(_share(intruder.get(name)) for intruder in (before, after))) for name, text in _INTRUDER.items()
        ]
        parts += [
            grid("How often somebody who knows all true keys picks the right record", ("", "before", "after"), rows),
            Sentence("They take the records that fit, and of these the ones with the fewest gaps.", True),
        ]
    return parts


def _whole(value: Any) -> str:
    return DASH if value is None else f"{int(value):,}"


def _share(value: Any) -> str:
    return DASH if value is None else percent(float(value))
