"""Reports without a survey: ``POST /reports`` checks a batch, counts it and forgets it, without time and address.

An upload may name an id in the header `Idempotency-Key`. Its hash is kept until the next day ends, so that the same
upload is counted once however often it is sent.

First what reports are counted for; then the counters, between batches and tallies; then the endpoint.
"""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sqlalchemy import func, insert, select, update
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naysay._values import Label
from naysay.collect.server.guard import Rates, body_of, refused
from naysay.collect.storage import Reports, Store, today
from naysay.collect.storage.replies import TOPIC, Cell
from naysay.collect.storage.tables import report_count, report_topic
from naysay.collect.survey.submission import Refusal
from naysay.collect.writer import Writer
from naysay.design import Answerable, Design
from naysay.errors import DataError
from naysay.tally import Part, Sums, Tally
from naysay.telemetry import batches
from naysay.telemetry.batches import Batch, BatchError, Heading, Topic, layout_of, runs

_MOST = 2**22  # counters of one question, wave and level


@dataclass(frozen=True)
class TopicStatus:
    """What reports are counted for, and how many have come."""

    topic: Topic
    content: bytes
    """The design as JSON."""
    opened: datetime.date
    closed: datetime.date | None
    reports: int


def open_topic(store: Store, design: Answerable, *, question: str = "", wave: str = "") -> Topic:
    """Count reports for a design, a question and a wave, from now on or again.

    Raises
    ------
    DataError
        A name of more than 140 characters, or a design whose counters would be too many.

    Examples
    --------
    >>> from naysay import designs
    >>> store = Store("sqlite://")
    >>> topic = open_topic(store, designs.k_ary(("list", "map", "search"), epsilon=1), question="crash")
    >>> [(each.topic.question, each.reports) for each in all_topics(store)]
    [('crash', 0)]
    >>> store.dispose()
    """
    for level in design.levels:
        channel = design.channel(level)
        layout_of(channel.space)
        if Tally.kind(channel) is Part and (channel.space.size > _MOST or channel.space.width > 1):
            raise DataError(
                f"a server counts designs of at most {_MOST:,} responses, or those whose tally keeps sums; "
                f"{design.name or design.kind} has {channel.space.size:.3g}. Keep its batches in files: naysay tally"
            )
    topic = Topic(*Heading(design.hash, question, wave).checked()[:3])
    with store.engine.begin() as connection:
        opening = update(report_topic).filter_by(**topic._asdict()).values(closed=None)
        if not connection.execute(opening).rowcount:
            topic_row = {**topic._asdict(), "content": design.to_json().encode(), "opened": today()}
            connection.execute(insert(report_topic).values(**topic_row))
    return topic


def close(store: Store, topic: Topic) -> None:
    """Count no more reports for a topic; what was counted stays."""
    with store.engine.begin() as connection:
        connection.execute(update(report_topic).filter_by(**topic._asdict()).values(closed=today()))


def all_topics(store: Store) -> tuple[TopicStatus, ...]:
    """Everything that reports are or were counted for, with how many have come, by question, wave and day."""
    count_columns = report_count.c
    # each report was counted once as "report", or once by its size
    people_sum = func.coalesce(func.sum(count_columns.people).filter(count_columns.what != "named"), 0)
    same_topic = [count_columns[field_name] == report_topic.c[field_name] for field_name in Topic._fields]
    report_sum = select(people_sum).where(*same_topic).scalar_subquery()
    topic_query = select(*TOPIC, report_topic.c.content, report_topic.c.opened, report_topic.c.closed, report_sum)
    with store.reading() as connection:
        topic_rows = connection.execute(topic_query.order_by("question", "wave", "opened", "design"))
        return tuple(
            TopicStatus(Topic(*topic_row[:3]), bytes(topic_row[3]), topic_row[4], topic_row[5], int(topic_row[6]))
            for topic_row in topic_rows
        )


def topic_of(store: Store, *, question: str | None, wave: str | None, design: str | None = None) -> TopicStatus:
    """The one topic of this question and wave; with several designs, of the one whose hash begins so.

    Raises
    ------
    DataError
        None or several are meant; the message lists all.
    """
    candidates = all_topics(store)
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


def design_of(content: bytes) -> Answerable:
    """The design that a topic was opened with."""
    return Design.from_json(content.decode())


def tally(store: Store, topic_status: TopicStatus) -> Tally:
    """The tally of all reports to a topic.

    Raises
    ------
    DataError
        None has come yet.
    """
    topic, design = topic_status.topic, design_of(topic_status.content)
    cell_columns = [report_count.c[field_name] for field_name in Cell._fields]
    count_query = select(*cell_columns, report_count.c.people).filter_by(**topic._asdict())
    with store.reading() as connection:
        counts = {Cell(*fields): int(people) for *fields, people in connection.execute(count_query)}
    if not counts:
        raise DataError(f"no report to {topic.question!r} has come yet")
    level_parts = []
    for level in design.levels:
        level_name = "" if level is None else str(level)
        level_counts = {cell: people for cell, people in counts.items() if cell.level == level_name}
        level_parts.append(_part(design.channel(level), level, level_counts))
    return Tally(tuple(level_parts), question=topic.question or None, wave=topic.wave or None)


def _part(channel: Design, level: Label, counts: Mapping[Cell, int]) -> Part | Sums:
    space = channel.space
    if Tally.kind(channel) is Part:
        cell_places = np.array([cell.place for cell in counts], dtype=np.int64)
        response_codes = space.at(cell_places) if space.numbered else cell_places.reshape(-1, 1)
        return Part.of(channel, response_codes, level=level, count=np.array(list(counts.values()), dtype=np.int64))
    sums = {"named": np.zeros(space.dimension, np.int64), "size": np.zeros(space.dimension + 1, np.int64)}
    for cell, people in counts.items():
        sums[cell.what][cell.place] = people
    n = np.array([sums["size"].sum()])
    named_counts = sums["named"]
    return Sums(channel, level, n, n.astype(float), n.astype(float), named_counts, named_counts, sums["size"])


def cells(batch: Batch) -> Counter[Cell]:
    """What a batch adds to the counters."""
    channel, response_codes = batch.design.channel(batch.level), batch.codes
    if Tally.kind(channel) is Sums:
        frequencies = {
            "named": channel.space.frequencies(response_codes),
            "size": np.bincount(channel.space.sizes(response_codes)),
        }
        places_by_what = {
            what: (np.flatnonzero(people_counts), people_counts[people_counts > 0])
            for what, people_counts in frequencies.items()
        }
    else:
        # `places` may not be at hand for a space of one word, whose code is a number itself
        report_numbers = batch.reports if channel.space.numbered else response_codes[:, 0]
        places_by_what = {"report": runs(np.sort(report_numbers))}
    return Counter(
        {
            Cell(*batch.heading, what, place): people
            for what, (cell_places, people_counts) in places_by_what.items()
            for place, people in zip(cell_places.tolist(), people_counts.tolist(), strict=True)
        }
    )


MOST = 2**18
"""Bytes of a body, at most."""


BINARY = "application/vnd.naysay.reports"


_KINDS = ("application/json", "application/x-ndjson", BINARY, "application/octet-stream")


_ASIDE = 2**13  # bytes of a body from which on it is read in a thread, so that nobody waits for it


_ID = re.compile(r"[A-Za-z0-9_-]{22,64}")  # 22 characters hold 128 random bits


_BAD: dict[str, Literal["refuse", "keep"]] = {"refuse": "refuse", "keep": "keep"}
_CLOSED = "reports to this question and wave are not counted any more"
_TOO_LARGE = "a body has at most {:,} bytes; send several"


CORS = {
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}
"""Any page may send reports, and read that they were counted: there are no cookies, and nothing else to read."""


_PREFLIGHT = CORS | {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type, idempotency-key",
    "access-control-max-age": "86400",
}


_PROBLEM_TEXTS = {
    "form": "the body must hold batches of reports, binary or as lines of JSON",
    "version": "this server reads batches of version 1",
    "short": "the last batch is cut short",
    "damaged": "the checksum of a batch does not fit",
    "large": "a batch is too large",
    "heading": "the question, wave and level of a batch must be texts of at most 140 characters in one line",
    "design": "a batch names a design that this server does not count",
    "level": "a batch must name a level if its design offers levels, one that is on offer",
    "width": "the reports of a batch have another number of bytes than its design needs",
    "order": "the reports of a binary batch must stand in ascending order",
    "report": "a report is none that its design can make",
}
"""What is wrong with a batch, in words that repeat nothing of it."""


class Topics:
    """What a database counts reports for, as it was at the last look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.designs: dict[str, Answerable] = {}
        self.open: dict[Topic, bool] = {}
        self.refresh()

    def refresh(self) -> None:
        """Learn what was opened and closed meanwhile."""
        with self._store.reading() as connection:
            topic_rows = connection.execute(select(*TOPIC, report_topic.c.closed)).all()
            standing_topics = {Topic(*topic_row[:3]): topic_row[3] is None for topic_row in topic_rows}
            missing_hashes = {topic.design for topic in standing_topics} - self.designs.keys()
            content_query = select(report_topic.c.design, report_topic.c.content)
            content_rows = connection.execute(content_query.where(report_topic.c.design.in_(missing_hashes))).all()
        new_designs = {design_hash: design_of(bytes(content)) for design_hash, content in content_rows}
        self.designs = self.designs | new_designs  # another dictionary: a thread may read a body with the one before
        self.open = standing_topics


class Desk:
    """The endpoint.

    Parameters
    ----------
    topics : Topics
    line : Writer
        Where counts go.
    address_limit : int
        The most reports within a minute from one address; 0 for any number.
    """

    def __init__(self, topics: Topics, line: Writer, *, address_limit: int) -> None:
        self._topics = topics
        self._line = line
        self._each = address_limit
        self._rates = Rates(per_address=address_limit)

    async def preflight(self) -> Response:
        """What a browser asks before a page of another origin sends reports."""
        return Response(status_code=204, headers=_PREFLIGHT)

    async def reports(self, request: Request) -> Response:
        """Take batches of reports. They are acknowledged when they are counted, and not before; then forgotten."""
        try:
            return await self._count_body(request)
        except Refusal as refusal:
            refusal_response = refused(refusal)
            refusal_response.headers.update(CORS)
            return refusal_response

    async def _count_body(self, request: Request) -> Response:
        client_address = request.client.host if request.client else ""
        _wait(self._rates.full(client_address))
        try:
            request_body = await self._body(request)
            upload_id, upload_receipt = request.headers.get("idempotency-key"), ""
            if upload_id is not None:
                if not _ID.fullmatch(upload_id):
                    id_rule = "has 22 to 64 letters, digits, - or _, drawn at random for it"
                    raise Refusal("malformed", f"the id of an upload {id_rule}")
                upload_receipt = hashlib.sha256(f"{upload_id} ".encode() + request_body).hexdigest()
            bad_handling = _BAD.get(request.query_params.get("bad", "refuse"))
            if bad_handling is None:
                raise Refusal("malformed", "bad must be refuse or keep")
            in_thread = len(request_body) > _ASIDE
            cell_counts, report_total, refused_count = (
                await asyncio.to_thread(self._counts_of, request_body, bad_handling)
                if in_thread
                else self._counts_of(request_body, bad_handling)
            )
            topics = {Topic(*cell[:3]) for cell in cell_counts}
            if not topics <= self._topics.open.keys():
                raise Refusal("unknown", "nothing is counted under this question and wave; nothing was counted")
            if not all(self._topics.open[topic] for topic in topics):
                raise Refusal("closed", _CLOSED)
        except Refusal:
            _wait(self._rates.refuse(client_address))
            raise
        if 0 < self._each < report_total:
            raise Refusal("too_large", f"one address may send {self._each:,} reports a minute; send fewer at once")
        _wait(self._rates.wait(client_address, report_total))
        if cell_counts:
            count_outcome = await asyncio.wrap_future(self._line.submit(Reports(cell_counts, today(), upload_receipt)))
            if count_outcome.what not in ("counted", "repeated"):
                raise Refusal("closed", _CLOSED)
        return JSONResponse({"counted": report_total, "refused": refused_count}, headers=CORS)

    async def _body(self, request: Request) -> bytes:
        media_type, _, type_parameters = request.headers.get("content-type", "").lower().partition(";")
        is_plain = request.headers.get("content-encoding", "identity").lower() == "identity"
        if media_type.strip() not in _KINDS or type_parameters.strip() not in ("", "charset=utf-8") or not is_plain:
            raise Refusal("wrong_type", f"reports are application/json or {BINARY}, not compressed")
        announced_length = request.headers.get("content-length")
        return await body_of(request.stream(), announced=announced_length, most=MOST, too_large=_TOO_LARGE)

    def _counts_of(self, body: bytes, bad: Literal["refuse", "keep"]) -> tuple[Counter[Cell], int, int]:
        """What is counted, how many reports that is, and how many are left out."""
        cell_counts: Counter[Cell] = Counter()
        batch_count = report_total = refused_count = 0
        try:
            for batch in batches.read(body, self._topics.designs.values(), bad=bad):
                cell_counts.update(cells(batch))
                batch_count += 1
                report_total += len(batch)
                refused_count += batch.refused
        except BatchError as error:
            place_text = "" if error.row is None else f"report {error.row + 1}: "
            message_text = f"batch {batch_count + 1}: {place_text}{_PROBLEM_TEXTS[error.problem]}; nothing was counted"
            raise Refusal("unknown" if error.problem == "design" else "malformed", message_text) from None
        if not batch_count:
            raise Refusal("malformed", "the body holds no batch")
        return cell_counts, report_total, refused_count


def _wait(seconds: int) -> None:
    if seconds:
        raise Refusal("busy", "too many reports come at once; send the same again later", retry_after=seconds)
