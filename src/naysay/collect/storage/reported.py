"""Counts of reports beside the surveys. What came together, when, and from whom is not kept.

An upload that names an id leaves a receipt for a day, so that it is not counted again if it is sent again.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Date, String, bindparam, delete, select, text

from naysay.collect.storage.arrivals import Outcome
from naysay.collect.storage.tables import report_receipt, report_topic
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
TOPIC = (report_topic.c.design, report_topic.c.question, report_topic.c.wave)


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


def add(connection: Connection, group: Sequence[Reports]) -> list[Outcome]:
    """Add reports to the counters: those of one request all, or none where one of its topics is not open.

    An upload with a receipt that is known is ``repeated``, and adds nothing.
    """
    topic_query = select(*TOPIC).where(report_topic.c.closed.is_(None)).with_for_update(read=True)
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
