"""Counts of reports beside the surveys. What came together, when, and from whom is not kept.

An upload that names an id leaves a receipt for a day, so that it is not counted again if it is sent again.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Date, String, bindparam, delete, func, insert, select, text, update

from naysay.batches import Topic
from naysay.collect.storage.accepting import Outcome
from naysay.collect.storage.tables import report_count, report_receipt, report_topic
from naysay.errors import DataError

_ADD = text(
    "INSERT INTO report_count (design, question, wave, level, what, place, people) "
    "VALUES (:design, :question, :wave, :level, :what, :place, :people) "
    "ON CONFLICT (design, question, wave, level, what, place) "
    "DO UPDATE SET people = report_count.people + excluded.people"
)
_RECEIVED = text(  # another server, whose day may be another one, may write the same receipt at this moment: it waits
    "INSERT INTO report_receipt (digest, day) VALUES (:digest, :day) "
    "ON CONFLICT (digest) DO UPDATE SET day = excluded.day WHERE report_receipt.day < :since"
).bindparams(bindparam("day", type_=Date), bindparam("since", type_=Date), bindparam("digest", type_=String))
_KEPT = datetime.timedelta(days=1)  # a receipt of yesterday is still known
_TOPIC = (report_topic.c.design, report_topic.c.question, report_topic.c.wave)


class Cell(NamedTuple):
    """One counter: a topic, a level (empty where there is none), and what is counted, by its number."""

    design: str
    question: str
    wave: str
    level: str
    what: str
    place: int


@dataclass(frozen=True)
class Reports:
    """What the batches of one request add to the counters."""

    counts: Mapping[Cell, int]
    day: datetime.date
    receipt: str = ""
    """The SHA-256 of the upload's id and body; empty where it named no id."""

    @property
    def size(self) -> int:
        """How many reports these are. Where sums are kept, each is counted once under its size."""
        return sum(people for cell, people in self.counts.items() if cell.what != "named")


@dataclass(frozen=True)
class Known:
    """What reports are counted for, and how many have come."""

    topic: Topic
    content: bytes
    """The design as JSON."""
    opened: datetime.date
    closed: datetime.date | None
    reports: int


def add(connection: Connection, group: Sequence[Reports]) -> list[Outcome]:
    """Add reports to the counters: those of one request all, or none where one of its topics is not open.

    An upload with a receipt that is known is ``repeated``, and adds nothing.
    """
    asked = select(*_TOPIC).where(report_topic.c.closed.is_(None)).with_for_update(read=True)
    open_now = {Topic(*row) for row in connection.execute(asked)} if group else set()
    taken = [{Topic(*cell[:3]) for cell in each.counts} <= open_now for each in group]
    fresh = _received(connection, [each for each, good in zip(group, taken, strict=True) if good and each.receipt])
    total: Counter[Cell] = Counter()
    outcomes = []
    for each, good in zip(group, taken, strict=True):
        again = good and bool(each.receipt) and each.receipt not in fresh
        fresh.discard(each.receipt)  # the same upload may come twice in one group
        outcomes.append(Outcome("repeated" if again else "counted" if good else "closed", each.day))
        if good and not again:
            total.update(each.counts)
    if total:  # in the order of the keys, so that no two servers wait for each other
        connection.execute(_ADD, [{**cell._asdict(), "people": people} for cell, people in sorted(total.items())])
    return outcomes


def _received(connection: Connection, uploads: Sequence[Reports]) -> set[str]:
    """Write receipts; those that were not known. In their order, so that no two servers wait for each other."""
    written = set()
    for receipt, day in sorted({each.receipt: each.day for each in uploads}.items()):
        asked = {"digest": receipt, "day": day, "since": day - _KEPT}
        if connection.execute(_RECEIVED, asked).rowcount:
            written.add(receipt)
    return written


def forget(connection: Connection, day: datetime.date) -> None:
    """Delete the receipts of the days before yesterday."""
    connection.execute(delete(report_receipt).where(report_receipt.c.day < day - _KEPT))


def open_(connection: Connection, topic: Topic, content: bytes, day: datetime.date) -> None:
    """Count reports for a topic, from now on or again."""
    known_ = connection.execute(select(report_topic.c.design).filter_by(**topic._asdict())).first()
    if known_ is None:
        connection.execute(insert(report_topic).values(**topic._asdict(), content=content, opened=day))
    else:
        connection.execute(update(report_topic).filter_by(**topic._asdict()).values(closed=None))


def close(connection: Connection, topic: Topic, day: datetime.date) -> None:
    """Count no more reports for a topic."""
    connection.execute(update(report_topic).filter_by(**topic._asdict()).values(closed=day))


def standing(connection: Connection) -> dict[Topic, bool]:
    """All topics, and whether each is open. It is quick, so that it can be asked often."""
    found = connection.execute(select(*_TOPIC, report_topic.c.closed))
    return {Topic(*row[:3]): row[3] is None for row in found}


def contents(connection: Connection, topics: Sequence[Topic]) -> dict[str, bytes]:
    """The designs of these topics by their hash, as JSON."""
    hashes = {topic.design for topic in topics}
    if not hashes:
        return {}
    asked = select(report_topic.c.design, report_topic.c.content).where(report_topic.c.design.in_(hashes))
    return {design: bytes(content) for design, content in connection.execute(asked)}


def known(connection: Connection) -> tuple[Known, ...]:
    """Everything that reports are or were counted for, by question, wave and day of opening."""
    columns = report_count.c
    # each report was counted once as "report", or once by its size
    people = func.coalesce(func.sum(columns.people).filter(columns.what != "named"), 0)
    same = [columns[name] == report_topic.c[name] for name in Topic._fields]
    reports = select(people).where(*same).scalar_subquery()
    asked = select(*_TOPIC, report_topic.c.content, report_topic.c.opened, report_topic.c.closed, reports)
    found = connection.execute(asked.order_by("question", "wave", "opened", "design"))
    return tuple(Known(Topic(*row[:3]), bytes(row[3]), row[4], row[5], int(row[6])) for row in found)


def counts(connection: Connection, topic: Topic) -> dict[Cell, int]:
    """The counters of a topic."""
    columns = [report_count.c[name] for name in Cell._fields]
    asked = select(*columns, report_count.c.people).filter_by(**topic._asdict())
    return {Cell(*row[:-1]): int(row[-1]) for row in connection.execute(asked)}


def only(listed: Sequence[Known], question: str | None, wave: str | None, design: str | None = None) -> Known:
    """The one topic that is meant."""
    asked = {"question": question, "wave": wave}
    found = [
        each
        for each in listed
        if all(value is None or getattr(each.topic, name) == value for name, value in asked.items())
        and each.topic.design.startswith(design or "")
    ]
    if len(found) == 1:
        return found[0]
    there = "; ".join(f"{each.topic.question!r}, wave {each.topic.wave!r}, {each.topic.design[:12]}" for each in listed)
    told = f"{len(found)} are meant by this" if found else "nothing is counted under this name"
    raise DataError(f"{told}; name one question, wave and design: there are {there or 'none'}")
