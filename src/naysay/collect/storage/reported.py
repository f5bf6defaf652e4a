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

from naysay.collect.storage.arrivals import Outcome
from naysay.collect.storage.tables import report_count, report_receipt, report_topic
from naysay.errors import DataError
from naysay.telemetry.batches import Topic

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
_RECEIPT_LIFETIME = datetime.timedelta(days=1)  # a receipt of yesterday is still known
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
class TopicStatus:
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
    topic_query = select(*_TOPIC).where(report_topic.c.closed.is_(None)).with_for_update(read=True)
    open_now = {Topic(*topic_row) for topic_row in connection.execute(topic_query)} if group else set()
    open_flags = [{Topic(*cell[:3]) for cell in upload.counts} <= open_now for upload in group]
    fresh_receipts = _write_receipts(
        connection, [upload for upload, is_open in zip(group, open_flags, strict=True) if is_open and upload.receipt]
    )
    total_counts: Counter[Cell] = Counter()
    outcomes = []
    for upload, is_open in zip(group, open_flags, strict=True):
        is_repeated = is_open and bool(upload.receipt) and upload.receipt not in fresh_receipts
        fresh_receipts.discard(upload.receipt)  # the same upload may come twice in one group
        outcomes.append(Outcome("repeated" if is_repeated else "counted" if is_open else "closed", upload.day))
        if is_open and not is_repeated:
            total_counts.update(upload.counts)
    if total_counts:  # in the order of the keys, so that no two servers wait for each other
        connection.execute(
            _ADD, [{**cell._asdict(), "people": people} for cell, people in sorted(total_counts.items())]
        )
    return outcomes


def _write_receipts(connection: Connection, uploads: Sequence[Reports]) -> set[str]:
    """Write receipts; those that were not known. In their order, so that no two servers wait for each other."""
    new_receipts = set()
    for receipt, day in sorted({upload.receipt: upload.day for upload in uploads}.items()):
        receipt_row = {"digest": receipt, "day": day, "since": day - _RECEIPT_LIFETIME}
        if connection.execute(_RECEIVED, receipt_row).rowcount:
            new_receipts.add(receipt)
    return new_receipts


def forget(connection: Connection, day: datetime.date) -> None:
    """Delete the receipts of the days before yesterday."""
    connection.execute(delete(report_receipt).where(report_receipt.c.day < day - _RECEIPT_LIFETIME))


def open_(connection: Connection, topic: Topic, content: bytes, day: datetime.date) -> None:
    """Count reports for a topic, from now on or again."""
    topic_row = connection.execute(select(report_topic.c.design).filter_by(**topic._asdict())).first()
    if topic_row is None:
        connection.execute(insert(report_topic).values(**topic._asdict(), content=content, opened=day))
    else:
        connection.execute(update(report_topic).filter_by(**topic._asdict()).values(closed=None))


def close(connection: Connection, topic: Topic, day: datetime.date) -> None:
    """Count no more reports for a topic."""
    connection.execute(update(report_topic).filter_by(**topic._asdict()).values(closed=day))


def standing(connection: Connection) -> dict[Topic, bool]:
    """All topics, and whether each is open. It is quick, so that it can be asked often."""
    topic_rows = connection.execute(select(*_TOPIC, report_topic.c.closed))
    return {Topic(*topic_row[:3]): topic_row[3] is None for topic_row in topic_rows}


def contents(connection: Connection, topics: Sequence[Topic]) -> dict[str, bytes]:
    """The designs of these topics by their hash, as JSON."""
    design_hashes = {topic.design for topic in topics}
    if not design_hashes:
        return {}
    content_query = select(report_topic.c.design, report_topic.c.content).where(
        report_topic.c.design.in_(design_hashes)
    )
    return {design_hash: bytes(content) for design_hash, content in connection.execute(content_query)}


def topic_statuses(connection: Connection) -> tuple[TopicStatus, ...]:
    """Everything that reports are or were counted for, by question, wave and day of opening."""
    count_columns = report_count.c
    # each report was counted once as "report", or once by its size
    people_sum = func.coalesce(func.sum(count_columns.people).filter(count_columns.what != "named"), 0)
    same_topic = [count_columns[field_name] == report_topic.c[field_name] for field_name in Topic._fields]
    report_sum = select(people_sum).where(*same_topic).scalar_subquery()
    topic_query = select(*_TOPIC, report_topic.c.content, report_topic.c.opened, report_topic.c.closed, report_sum)
    topic_rows = connection.execute(topic_query.order_by("question", "wave", "opened", "design"))
    return tuple(
        TopicStatus(Topic(*topic_row[:3]), bytes(topic_row[3]), topic_row[4], topic_row[5], int(topic_row[6]))
        for topic_row in topic_rows
    )


def counts(connection: Connection, topic: Topic) -> dict[Cell, int]:
    """The counters of a topic."""
    cell_columns = [report_count.c[field_name] for field_name in Cell._fields]
    count_query = select(*cell_columns, report_count.c.people).filter_by(**topic._asdict())
    return {Cell(*count_row[:-1]): int(count_row[-1]) for count_row in connection.execute(count_query)}


def only(
    candidates: Sequence[TopicStatus], question: str | None, wave: str | None, design: str | None = None
) -> TopicStatus:
    """The one topic that is meant."""
    wanted_names = {"question": question, "wave": wave}
    matching_topics = [
        topic_status
        for topic_status in candidates
        if all(
            wanted_name is None or getattr(topic_status.topic, field_name) == wanted_name
            for field_name, wanted_name in wanted_names.items()
        )
        and topic_status.topic.design.startswith(design or "")
    ]
    if len(matching_topics) == 1:
        return matching_topics[0]
    topic_list = "; ".join(
        f"{topic_status.topic.question!r}, wave {topic_status.topic.wave!r}, {topic_status.topic.design[:12]}"
        for topic_status in candidates
    )
    problem = f"{len(matching_topics)} are meant by this" if matching_topics else "nothing is counted under this name"
    raise DataError(f"{problem}; name one question, wave and design: there are {topic_list or 'none'}")
