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

_TOLD = {
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
            missing = [each for each in standing if each.design not in self.designs]
            found = reported.contents(connection, missing)
        self.designs |= {digest: design_of(content) for digest, content in found.items()}
        self.open = standing


class Desk:
    """The endpoint.

    Parameters
    ----------
    topics : Topics
    line : Writer
        Where counts go.
    each : int
        The most reports within a minute from one address; 0 for any number.
    """

    def __init__(self, topics: Topics, line: Writer, *, each: int) -> None:
        self._topics = topics
        self._line = line
        self._each = each
        self._rates = Rates(each=each)

    async def preflight(self) -> Response:
        """What a browser asks before a page of another origin sends reports."""
        return Response(status_code=204, headers=_PREFLIGHT)

    async def reports(self, request: Request) -> Response:
        """Take batches of reports. They are acknowledged when they are counted, and not before; then forgotten."""
        try:
            return await self._counted(request)
        except Refusal as refusal:
            response = refused(refusal)
            response.headers.update(CORS)
            return response

    async def _counted(self, request: Request) -> Response:
        address = request.client.host if request.client else ""
        _wait(self._rates.full(address))
        try:
            body = await self._body(request)
            receipt = _receipt(request.headers.get("idempotency-key"), body)
            keep = request.query_params.get("bad", "refuse")
            if keep not in ("refuse", "keep"):
                raise Refusal("malformed", "bad must be refuse or keep")
            aside = len(body) > _ASIDE
            counts, reports, out = await asyncio.to_thread(self._read, body, keep) if aside else self._read(body, keep)
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
        return JSONResponse({"counted": reports, "refused": out}, headers=CORS)

    async def _body(self, request: Request) -> bytes:
        kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
        plain = request.headers.get("content-encoding", "identity").lower() == "identity"
        if kind.strip() not in _KINDS or parameters.strip() not in ("", "charset=utf-8") or not plain:
            raise Refusal("wrong_type", f"reports are application/json or {BINARY}, not compressed")
        announced = request.headers.get("content-length")
        return await body_of(request.stream(), announced=announced, most=MOST, too_large=_TOO_LARGE)

    def _read(self, body: bytes, bad: Any) -> tuple[Counter[reported.Cell], int, int]:
        """What is counted, how many reports that is, and how many are left out."""
        counts: Counter[reported.Cell] = Counter()
        seen = reports = out = 0
        try:
            for batch in batches.read(body, self._topics.designs.values(), bad=bad):
                counts.update(cells(batch))
                seen, reports, out = seen + 1, reports + len(batch), out + batch.refused
        except BatchError as error:
            place = "" if error.row is None else f"report {error.row + 1}: "
            told = f"batch {seen + 1}: {place}{_TOLD[error.problem]}; nothing was counted"
            raise Refusal("unknown" if error.problem == "design" else "malformed", told) from None
        if not seen:
            raise Refusal("malformed", "the body holds no batch")
        return counts, reports, out

    def _check_open(self, topics: set[Topic]) -> None:
        if not topics <= self._topics.open.keys():
            raise Refusal("unknown", "nothing is counted under this question and wave; nothing was counted")
        if not all(self._topics.open[topic] for topic in topics):
            raise Refusal("closed", "reports to this question and wave are not counted any more")


def _receipt(named: str | None, body: bytes) -> str:
    """The SHA-256 of an upload's id and body; empty where it names no id."""
    if named is None:
        return ""
    if not _ID.fullmatch(named):
        raise Refusal("malformed", "the id of an upload has 22 to 64 letters, digits, - or _, drawn at random for it")
    return hashlib.sha256(f"{named} ".encode() + body).hexdigest()


def _wait(seconds: int) -> None:
    if seconds:
        raise Refusal("busy", "too many reports come at once; send the same again later", retry_after=seconds)
