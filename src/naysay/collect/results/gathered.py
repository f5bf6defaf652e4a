"""All results of a survey as data: what is estimated, what was said, and how many replied on which day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from naysay.collect.results.answered import COUNT, Answered, Plain
from naysay.errors import NaysayError
from naysay.estimate import Estimate, Options, negative, printing
from naysay.files import Entry

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CELL", "REPEATED", "Result", "days", "gathered", "levels", "plain_of", "reach"]

CELL = 10
"""The fewest answers in a subgroup that is shown to the researcher."""

REPEATED = (0.01, 0.05, 0.1)
"""Shares of repeated answers whose effect is told."""


@dataclass(frozen=True)
class Result:
    """What is known of one column.

    Parameters
    ----------
    entry : Entry
    title : str
        Its name, and what was asked.
    whole : Estimate, Shares, Numbers or None
        None where nobody has answered, or `problem` says why nothing is told.
    groups : {group: Estimate, Shares or Numbers}
        Those with enough answers, if groups are asked for.
    problem : str
    """

    entry: Entry
    title: str
    whole: Estimate | Plain | None
    groups: Mapping[str | None, Any]
    problem: str = ""


def gathered(answered: Answered, *, by: str | None = None, least: int = CELL, options: Options) -> Iterator[Result]:
    """The results of every column that is told, private ones before plain ones.

    Parameters
    ----------
    answered : Answered
    by : str, optional
        A plain question whose answers make groups.
    least : int
        The fewest answers in a group that is told.
    options : Options
    """
    answered.check_groups(by)
    for column in (*answered.private, *answered.plain):
        entry, title = answered.book.columns[column], answered.title(column)
        if not answered.cells.replies or not answered.answers(column):
            yield Result(entry, title, None, {})
            continue
        try:
            whole = _told(answered, entry, None, options, 1)[None]
            groups = {} if by in (None, column) else _told(answered, entry, by, options, least)
            yield Result(entry, title, whole, groups)
        except NaysayError as error:  # such as a design that needs more answers to tell all categories apart
            yield Result(entry, title, None, {}, str(error))


def _told(answered: Answered, entry: Entry, by: str | None, options: Options, least: int) -> Mapping[str | None, Any]:
    """The estimates, or what was said, for all or for each group of at least so many answers."""
    if entry.asked is not None:
        return answered.estimates(entry.column, by, least=least)
    return answered.told(entry.column, by, options.confidence, least=least)


def days(answered: Answered) -> dict[Any, int]:
    """How many replied on each day, ``{date: count}``, in order."""
    return dict(sorted(answered.cells.of("day").select("day", COUNT).rows()))


def levels(answered: Answered, column: str) -> pl.DataFrame | None:
    """How many chose each level of a private question on each day: columns day, level, count; None without levels."""
    asked = answered.book.columns[column].asked
    if asked is None or asked.level is None:
        return None
    cells = answered.cells.of("day", asked.level)
    return cells.drop_nulls(asked.level).select("day", level=asked.level, count=COUNT).sort("day", "level")


def reach(result: Result) -> dict[float, float | None]:
    """How far shares of repeated or dishonest answers could move a share of this column, by moments."""
    asked = result.entry.asked
    if result.entry.holds == "numbers" and asked is None:  # one answer can move a mean as far as it likes
        return dict.fromkeys(REPEATED)
    try:
        each = {share: share if asked is None else negative(asked.design, share=share) for share in REPEATED}
    except NaysayError:  # nothing is estimated, so nothing can be moved
        return dict.fromkeys(REPEATED)
    return {share: min(1.0, moved) for share, moved in each.items()}


def plain_of(result: Result, options: Options) -> dict[str, Any]:
    """One column as a JSON object: with the numbers that ``naysay estimate --survey NAME --format json`` prints."""
    kind = "private" if result.entry.asked is not None else "plain"
    told: dict[str, Any] = {
        "column": result.entry.column,
        "kind": kind,
        "label": result.entry.wording or result.entry.label,
    }
    if result.problem:
        return told | {"problem": result.problem}
    told |= {"result": _object(result.whole, options)}
    if result.groups:
        told |= {"groups": [{"group": group, **_object(each, options)} for group, each in result.groups.items()]}
    if result.whole is not None:
        told["repeated"] = [{"share": share, "moves": moved} for share, moved in reach(result).items()]
    return told


def _object(found: Estimate | Plain | None, options: Options) -> dict[str, Any]:
    if found is None:
        return {}
    return printing.to_dict(found, options) if isinstance(found, Estimate) else found.to_dict()
