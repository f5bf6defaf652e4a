"""``POST /reports``: a batch is checked, counted and forgotten. No time and no address goes with it.

An upload may name an id in the header `Idempotency-Key`. Its hash is kept until the next day ends, so that the same
upload is counted once however often it is sent.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naysay import batches
from naysay.batches import BatchError, Topic
from naysay.collect.refusals import Refusal
from naysay.collect.reports.cells import cells
from naysay.collect.reports.topics import design_of
from naysay.collect.server.guard import Rates, body_of, refused
from naysay.collect.storage import Reports, Store, reported, today
from naysay.collect.writer import Writer
from naysay.design import Answerable

MOST = 2**18
"""Bytes of a body, at most."""

BINARY = "application/vnd.naysay.reports"
_KINDS = ("application/json", "application/x-ndjson", BINARY, "application/octet-stream")
_ASIDE = 2**13  # bytes of a body from which on it is read in a thread, so that nobody waits for it

_ID = re.compile(r"[A-Za-z0-9_-]{22,64}")  # 22 characters hold 128 random bits

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
            standing = reported.standing(connection)
            missing = [topic for topic in standing if topic.design not in self.designs]
            design_contents = reported.contents(connection, missing)
        self.designs |= {digest: design_of(content) for digest, content in design_contents.items()}
        self.open = standing


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
            response = refused(refusal)
            response.headers.update(CORS)
            return response

    async def _count_body(self, request: Request) -> Response:
        address = request.client.host if request.client else ""
        _wait(self._rates.full(address))
        try:
            body = await self._body(request)
            receipt = _receipt(request.headers.get("idempotency-key"), body)
            keep = request.query_params.get("bad", "refuse")
            if keep not in ("refuse", "keep"):
                raise Refusal("malformed", "bad must be refuse or keep")
            in_thread = len(body) > _ASIDE
            counts, reports, refused_count = (
                await asyncio.to_thread(self._counts_of, body, keep) if in_thread else self._counts_of(body, keep)
            )
            self._check_open({Topic(*cell[:3]) for cell in counts})
        except Refusal:
            _wait(self._rates.refuse(address))
            raise
        if 0 < self._each < reports:
            raise Refusal("too_large", f"one address may send {self._each:,} reports a minute; send fewer at once")
        _wait(self._rates.wait(address, reports))
        if counts:
            outcome = await asyncio.wrap_future(self._line.submit(Reports(counts, today(), receipt)))
            if outcome.what not in ("counted", "repeated"):
                raise Refusal("closed", "reports to this question and wave are not counted any more")
        return JSONResponse({"counted": reports, "refused": refused_count}, headers=CORS)

    async def _body(self, request: Request) -> bytes:
        kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
        plain = request.headers.get("content-encoding", "identity").lower() == "identity"
        if kind.strip() not in _KINDS or parameters.strip() not in ("", "charset=utf-8") or not plain:
            raise Refusal("wrong_type", f"reports are application/json or {BINARY}, not compressed")
        announced = request.headers.get("content-length")
        return await body_of(request.stream(), announced=announced, most=MOST, too_large=_TOO_LARGE)

    def _counts_of(self, body: bytes, bad: Any) -> tuple[Counter[reported.Cell], int, int]:
        """What is counted, how many reports that is, and how many are left out."""
        counts: Counter[reported.Cell] = Counter()
        batch_count = reports = refused_count = 0
        try:
            for batch in batches.read(body, self._topics.designs.values(), bad=bad):
                counts.update(cells(batch))
                batch_count, reports, refused_count = (
                    batch_count + 1,
                    reports + len(batch),
                    refused_count + batch.refused,
                )
        except BatchError as error:
            place = "" if error.row is None else f"report {error.row + 1}: "
            message = f"batch {batch_count + 1}: {place}{_PROBLEM_TEXTS[error.problem]}; nothing was counted"
            raise Refusal("unknown" if error.problem == "design" else "malformed", message) from None
        if not batch_count:
            raise Refusal("malformed", "the body holds no batch")
        return counts, reports, refused_count

    def _check_open(self, topics: set[Topic]) -> None:
        if not topics <= self._topics.open.keys():
            raise Refusal("unknown", "nothing is counted under this question and wave; nothing was counted")
        if not all(self._topics.open[topic] for topic in topics):
            raise Refusal("closed", "reports to this question and wave are not counted any more")


def _receipt(upload_id: str | None, body: bytes) -> str:
    """The SHA-256 of an upload's id and body; empty where it names no id."""
    if upload_id is None:
        return ""
    if not _ID.fullmatch(upload_id):
        raise Refusal("malformed", "the id of an upload has 22 to 64 letters, digits, - or _, drawn at random for it")
    return hashlib.sha256(f"{upload_id} ".encode() + body).hexdigest()


def _wait(seconds: int) -> None:
    if seconds:
        raise Refusal("busy", "too many reports come at once; send the same again later", retry_after=seconds)
