"""The application: pages and surveys out, answers in. Of a private answer it receives what chance has drawn.

Then what the endpoints take and give, for the OpenAPI description.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

import naysay
from naysay.collect.admin import app as pages
from naysay.collect.admin.plans import Clock
from naysay.collect.admin.visits import Desk as AdminDesk
from naysay.collect.api import SILENT, api
from naysay.collect.client import FOLDER, Client
from naysay.collect.invitations import RANDOM_BYTES, REQUEST_BYTES, Asking
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.reports import Desk, Topics
from naysay.collect.results.counting import folding
from naysay.collect.server.documents import Catalog, Served, SharedResults, home, threats
from naysay.collect.server.guard import MINUTE, Guard, Rates, Straight, body_of, failed
from naysay.collect.server.keys import Keys
from naysay.collect.storage import Reply, Store, today
from naysay.collect.survey.published import Published
from naysay.collect.survey.submission import CLOSED, STATUS, Refusal
from naysay.collect.writer import Line, Unstored, Writer
from naysay.telemetry.batches import LONGEST, ONE_LINE

log = logging.getLogger("naysay.collect")

ADDRESS_LIMIT = 600
TOTAL_LIMIT = 60_000
"""Answers within a minute, from one address and from all. Many respondents may share an address."""

_POINT = 142  # bytes in a request for a key

_NOT_STORED = {
    "spent": "an answer has come with this invitation already; it is for one answer",
    "used": "another device has used this invitation already; continue there, or ask for a new one",
    "uninvited": "this invitation is not known; open the link that you were sent",
    "conflict": "other answers were stored under this id; an id is for one submission",
    "closed": CLOSED,
    "wrong_survey": "the survey was published with another hash; load its page again",
}

_UNLISTED: dict[str, Any] = {"response_model": None, "include_in_schema": False}


def create_app(
    surveys: Iterable[Questionnaire | Published] = (),
    store: Store | None = None,
    *,
    client: Path | Client = FOLDER,
    each: int = ADDRESS_LIMIT,
    everybody: int = TOTAL_LIMIT,
    settle_every: float = 60.0,
    keys: Keys | None = None,
    admin: bool = False,
) -> FastAPI:
    """The ASGI application that serves surveys and takes answers to them.

    Parameters
    ----------
    surveys : iterable of Questionnaire or Published
        The surveys to open in the store, if they are not open yet. All other surveys in the store are served, too.
    store : Store, optional
        Without a store the application is a preview: answers are checked, and not stored.
    client : Path or Client
        The respondent's page; a survey keeps the one that it was opened with.
    each, everybody : int
        The most answers within a minute from one address and from all; 0 for any number. Refused ones are counted
        apart.
    settle_every : float
        Seconds after which new answers are rewritten in random order.
    keys : Keys, optional
        The keys of the day, if several servers share them.
    admin : bool
        Whether it also has the pages under ``/admin/``; they need a store.

    Raises
    ------
    DataError
        A survey of the same name is open with other content.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> app = create_app([sample()], client=Client({"survey.html": b"<!doctype html>"}))
    >>> sorted(app.state.service.catalog.surveys)
    ['sample']
    """
    client_files = Client.of(client) if isinstance(client, Path) else client
    published_surveys = [
        source_survey
        if isinstance(source_survey, Published)
        else Published.of(source_survey, client=client_files, preview=store is None)
        for source_survey in surveys
    ]
    if store is not None:
        for published_survey in published_surveys:
            store.open(published_survey)
    catalog = Catalog(published_surveys, store=store, client=client_files)
    keys = keys or Keys()
    reply_line: Line = Unstored()
    report_desk: Desk | None = None
    if store is not None:
        topics = Topics(store)
        reply_line = Writer(
            store, look=_looks(store, catalog, topics, client_files), fold=folding(store), every=settle_every
        )
        report_desk = Desk(topics, reply_line, address_limit=each)
    service = Service(catalog, reply_line, client=client_files, keys=keys, address_limit=each, total_limit=everybody)
    app = FastAPI(
        title="naysay",
        summary="Surveys in which chance changes private answers on the respondent's device.",
        version=naysay.__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=service.lifespan,
        telemetry=SILENT,
        exception_handlers={
            Refusal: _error_response,
            HTTPException: _error_response,
            RequestValidationError: _error_response,
        },
    )
    app.state.service = service
    shared_results = SharedResults(store, catalog, Rates(per_address=each, all=everybody))
    app.add_middleware(Straight, answers=service.answers, reports=None if report_desk is None else report_desk.reports)
    app.add_middleware(Guard)  # around all of it
    routes: list[tuple[Callable[..., Any], str, Callable[..., Any], dict[str, Any]]] = [
        (app.get, "/", service.home, HOME),
        (app.get, "/s/{name}", service.page, PAGE),
        (app.get, "/s/{name}/survey.json", service.survey, SURVEY),
        (app.get, "/client/{digest}/{file:path}", service.file, FILE),
        (app.get, "/threats", service.threats, THREATS),
        (app.get, "/health", service.health, HEALTH),
        (app.get, "/results.css", shared_results.style, STYLE),
        (app.get, "/results/{secret}", shared_results.page, SHARED),
        (app.post, "/s/{name}/key", service.key, KEY),
        (app.post, "/s/{name}/token", service.token, TOKEN),
        (app.post, "/s/{name}/answers", service.answers, ANSWERS),
    ]
    for route_method, route_path, endpoint, route_schema in routes:
        route_method(route_path, response_model=None, **route_schema)(endpoint)
    if report_desk is not None:
        app.post("/reports", response_model=None, **REPORTS)(report_desk.reports)
        app.options("/reports", **_UNLISTED)(report_desk.preflight)
    if store is not None:
        app.mount("/api", api(store))
    if admin and store is not None:
        app.state.desk = AdminDesk(store, client_files, catalog.refresh, style=f"/admin/{pages.STYLE}")
        app.router.routes.extend(pages.routes())
        draft_previews = pages.Previews(store, client=client_files)
        preview_service = Service(
            draft_previews, Unstored(), client=client_files, keys=keys, address_limit=each, total_limit=everybody
        )
        app.get("/preview/{name}", **_UNLISTED)(preview_service.page)
        app.get("/preview/{name}/survey.json", **_UNLISTED)(preview_service.survey)
        app.post("/preview/{name}/key", **_UNLISTED)(preview_service.key)
        app.post("/preview/{name}/answers", **_UNLISTED)(preview_service.answers)
    return app


def _looks(store: Store, catalog: Catalog, topics: Topics, client: Client) -> Callable[[], None]:
    """What the writer does about once a second: carry out what is due, and notice what has changed."""
    due_clock = Clock(store, client)

    def look() -> None:
        due_clock()
        catalog.refresh()
        topics.refresh()

    return look


class Service:
    """The endpoints, and what they share.

    Parameters
    ----------
    catalog : Catalog or Previews
        The surveys, or drafts under the keys of their previews.
    line : Line
        Where replies go.
    client : Client
        For the pages that belong to no survey.
    keys : Keys
        The keys with which devices seal what they remember.
    address_limit, total_limit : int
        The most answers and requests for a key within a minute, from one address and from all.
    """

    def __init__(
        self,
        catalog: Catalog | pages.Previews,
        line: Line,
        *,
        client: Client,
        keys: Keys,
        address_limit: int,
        total_limit: int,
    ) -> None:
        self.catalog = catalog
        self.line = line
        self.keys = keys
        self._home, self._threats = home(client), threats(client)
        self._rates, self._openings = (Rates(per_address=address_limit, all=total_limit) for _ in range(2))
        self._told_proxy = False

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Store answers while the application runs; at its end, store all that still wait."""
        self.line.start()
        forgetting_task = asyncio.create_task(self._forget())
        try:
            yield
        finally:
            forgetting_task.cancel()
            await asyncio.to_thread(self.line.stop)

    async def _forget(self) -> None:
        """Delete the keys of days that are over, even if no device asks for a key."""
        while True:
            await asyncio.sleep(MINUTE)
            self.keys.forget()

    def _survey(self, name: str) -> Served:
        served_survey = self.catalog.surveys.get(name)
        if served_survey is None:
            raise Refusal("unknown", "there is no survey of this name")
        return served_survey

    async def home(self, request: Request) -> Response:
        """What this server is, for visitors without a link."""
        return self._home.response(request)

    async def page(self, request: Request, name: str) -> Response:
        """The respondent's page, the same for everybody; in a browser, a mistyped link leads to the first page."""
        if name not in self.catalog.surveys and "text/html" in request.headers.get("accept", ""):
            home_response = self._home.response(request)
            home_response.status_code = 404
            return home_response
        return self._survey(name).page.response(request)

    async def survey(self, request: Request, name: str) -> Response:
        """The survey: what is asked, how private each answer is, and the hashes of the client's files."""
        served_survey = self._survey(name)
        if not served_survey.open:
            raise Refusal("closed", CLOSED)
        survey_response = served_survey.json.response(request)
        survey_response.headers["naysay-key"] = self.keys.public  # in a header, because the bytes never change
        return survey_response

    async def file(self, request: Request, digest: str, file: str) -> Response:
        """A file of the client; under its hash it never changes."""
        document = self.catalog.clients.get(digest, {}).get(file)
        if document is None:
            raise Refusal("unknown", "there is no such file")
        return document.response(request)

    async def threats(self, request: Request, lang: str = "en") -> Response:
        """What is defended, and what is not, in plain words."""
        threats_page = self._threats.get(lang) or self._threats.get("en")
        if threats_page is None:
            raise Refusal("unknown", "this client has no page on threats")
        return threats_page.response(request)

    async def health(self) -> Response:
        """Whether answers can be stored."""
        if not self.line.healthy:
            raise Refusal("unavailable", "the database cannot be reached", retry_after=5)
        return JSONResponse({"status": "ok"})

    async def key(self, request: Request, name: str) -> Response:
        """Keys, one of which opens the box that a device sealed today. The server does not remember the request."""
        _check_wait(self._openings.wait(_address(request)))
        self._survey(name)
        request_body = await _body(request, most=_POINT)
        try:
            keys = self.keys.of(bytes.fromhex(json.loads(request_body)["point"]))
        except (ValueError, TypeError, KeyError):
            raise Refusal("malformed", "a request for a key must hold the point that the box was sealed with") from None
        return JSONResponse({"keys": keys})

    async def token(self, request: Request, name: str) -> Response:
        """Turn an invitation into a token that the server cannot know again. A device may ask for it again."""
        _check_wait(self._openings.wait(_address(request)))
        issuer = self._survey(name).issuer
        if issuer is None:
            raise Refusal("unknown", "anybody with the link can answer this survey; it has no invitations")
        asking = Asking.of_body(await _body(request, most=REQUEST_BYTES))
        evaluation = issuer.issued(asking.blinded)
        outcome = await asyncio.wrap_future(self.line.submit(asking.of(name)))
        if outcome.what in _NOT_STORED:
            raise Refusal(outcome.what, _NOT_STORED[outcome.what])
        return JSONResponse(evaluation)

    async def answers(self, request: Request, name: str) -> Response:
        """Take the answers of one respondent. They are acknowledged when they are stored, and not before."""
        client_address = _address(request)
        # uvicorn gives the port 0 to a client that a trusted proxy names
        if not self._told_proxy and "x-forwarded-for" in request.headers and request.client and request.client.port:
            self._told_proxy = True
            log.warning(
                "answers come through a proxy that is not trusted, so that all of them count as one address; "
                "if it is yours, set FORWARDED_ALLOW_IPS to its address"
            )
        _check_wait(self._rates.full(client_address))
        try:
            served_survey = self._survey(name)
            request_body = await _body(request, most=served_survey.published.body_length)
            reply_day = today()
            submission = served_survey.reader.read(request_body, today=reply_day)
            if submission.token is not None and not (
                served_survey.issuer and served_survey.issuer.knows(submission.token)
            ):
                raise Refusal("uninvited", "the token was not made for this survey; open the link that you were sent")
        except Refusal:
            _check_wait(self._rates.refuse(client_address))
            raise
        _check_wait(self._rates.wait(client_address))
        spent_token = submission.token and submission.token[: 2 * RANDOM_BYTES]
        reply = Reply(name, served_survey.published.hash, submission.id, submission.text, reply_day, spent_token)
        reply_outcome = await asyncio.wrap_future(self.line.submit(reply))
        if reply_outcome.what in _NOT_STORED:
            raise Refusal(reply_outcome.what, _NOT_STORED[reply_outcome.what])
        acknowledgement = {"stored": reply_outcome.what != "unstored", "day": reply_outcome.day.isoformat()}
        return JSONResponse(acknowledgement, status_code=200 if reply_outcome.what == "repeated" else 201)


def _check_wait(seconds: int) -> None:
    if seconds:
        raise Refusal("busy", "too many answers come at once; send the same again later", retry_after=seconds)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _body(request: Request, *, most: int) -> bytes:
    """The JSON text of a request; reading stops at the greatest length that is allowed."""
    media_type, _, type_parameters = request.headers.get("content-type", "").lower().partition(";")
    is_plain = request.headers.get("content-encoding", "identity").lower() == "identity"
    if media_type.strip() != "application/json" or type_parameters.strip() not in ("", "charset=utf-8") or not is_plain:
        raise Refusal("wrong_type", "answers are application/json in UTF-8, not compressed")
    return await body_of(request.stream(), announced=request.headers.get("content-length"), most=most)


async def _error_response(_: Request, error: Exception) -> Response:
    return failed(error)


def _refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The responses that carry these refusals."""
    by_status: dict[int | str, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUS[code], []).append(code)
    responses: dict[int | str, dict[str, Any]] = {}
    for status, status_codes in by_status.items():
        error_schema = _object(error=_object(code={"enum": status_codes}, message={"type": "string"}))
        responses[status] = _content("application/json", " or ".join(status_codes), error_schema)
        if {"busy", "unavailable"} & set(status_codes):
            responses[status]["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}
    return responses


def _object(**properties: object) -> dict[str, Any]:
    """An object of exactly these properties; none may be left out."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def _content(media_type: str, description: str, schema: Mapping[str, object]) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}


_HTML = _content("text/html; charset=utf-8", "a page", {"type": "string"})
_UNCHANGED = {304: {"description": "not changed since it was last asked for"}}
_HEX = {"type": "string", "pattern": "^[0-9a-f]*$"}
_CODE = {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$", "description": "from the link"}
_ACKNOWLEDGED = _object(stored={"type": "boolean"}, day={"type": "string", "format": "date"})
_BODY = _object(
    naysay={"const": "answers"},
    version={"const": 1},
    survey={"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of survey.json"},
    id={"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "drawn once by the device"},
    answers={"type": "object", "description": "every question of the survey, in order; null where unanswered"},
    padding={"type": "string", "pattern": "^ *$", "description": "spaces that bring the body to body_length bytes"},
)
_BODY["properties"]["token"] = {
    "type": "string",
    "pattern": "^[0-9a-f]{160}$",
    "description": "between id and answers, in a survey that invites and in no other: what was drawn, and its function",
}
_POINT_SCHEMA = {**_HEX, "description": "the point that a box was sealed with: an uncompressed point of P-256"}


def _json_body(schema: Mapping[str, object]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


HOME: dict[str, Any] = {"response_class": HTMLResponse, "responses": {200: _HTML, **_UNCHANGED}}
PAGE: dict[str, Any] = {"response_class": HTMLResponse, "responses": {200: _HTML, **_UNCHANGED, **_refusals("unknown")}}
SURVEY: dict[str, Any] = {
    "responses": {
        200: _content("application/json", "survey.json, the bytes whose SHA-256 names the survey", {"type": "object"}),
        **_UNCHANGED,
        **_refusals("unknown", "closed"),
    }
}
_FILES = ("text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml")
FILE: dict[str, Any] = {
    "responses": {
        200: {"description": "a file", "content": {kind: {"schema": {"type": "string"}} for kind in _FILES}},
        **_UNCHANGED,
        **_refusals("unknown"),
    }
}
THREATS: dict[str, Any] = {
    "response_class": HTMLResponse,
    "responses": {200: _HTML, **_UNCHANGED, **_refusals("unknown", "malformed")},
}
STYLE: dict[str, Any] = {
    "responses": {200: _content("text/css; charset=utf-8", "a style sheet", {"type": "string"}), **_UNCHANGED}
}
SHARED: dict[str, Any] = {
    "response_class": HTMLResponse,
    "responses": {200: _HTML, **_refusals("unknown", "malformed", "busy")},
}
HEALTH: dict[str, Any] = {
    "responses": {
        200: _content(
            "application/json",
            "answers can be stored",
            {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
        ),
        **_refusals("unavailable"),
    }
}
KEY: dict[str, Any] = {
    "openapi_extra": _json_body({"type": "object", "required": ["point"], "properties": {"point": _POINT_SCHEMA}}),
    "responses": {
        200: _content(
            "application/json",
            "the keys of days that are not over; one of them may open the box",
            _object(keys={"type": "array", "items": _HEX}),
        ),
        **_refusals("malformed", "unknown", "too_slow", "too_large", "wrong_type", "busy", "internal"),
    },
}
TOKEN: dict[str, Any] = {
    "openapi_extra": _json_body(_object(invitation=_CODE, blinded=_HEX)),
    "responses": {
        200: _content("application/json", "what the device makes its token of", _object(evaluated=_HEX, proof=_HEX)),
        **_refusals(
            "malformed", "unknown", "too_slow", "uninvited", "used", "closed", "too_large", "wrong_type", "busy",
            "internal", "unavailable",
        ),
    },
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "status_code": 201,
    "openapi_extra": _json_body(_BODY),
    "responses": {
        201: _content("application/json", "stored", _ACKNOWLEDGED),
        200: _content("application/json", "these very answers were stored before", _ACKNOWLEDGED),
        **_refusals(
            "malformed", "unknown", "too_slow", "uninvited", "wrong_survey", "conflict", "spent", "closed", "too_large",
            "wrong_type", "busy", "internal", "unavailable",
        ),
    },
}  # fmt: skip
_HEADING = {"type": ["string", "null"], "maxLength": LONGEST, "pattern": ONE_LINE}
_BATCH = {
    "type": "object",
    "required": ["naysay", "version", "design", "reports"],
    "additionalProperties": False,
    "properties": {
        "naysay": {"const": "reports"},
        "version": {"const": 1},
        "design": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "the hash of the design"},
        **dict.fromkeys(("question", "wave", "level"), _HEADING),
        "reports": {
            "type": "array",
            "items": {"type": ["integer", "string"]},
            "description": "numbers of responses, or the texts that clients draw",
        },
    },
}
_KINDS = {
    "application/json": {"schema": _BATCH},
    "application/x-ndjson": {"schema": {"type": "string", "description": "a batch on each line"}},
    "application/vnd.naysay.reports": {"schema": {"type": "string", "format": "binary"}},
}
REPORTS: dict[str, Any] = {
    "openapi_extra": {
        "requestBody": {"required": True, "content": _KINDS},
        "parameters": [
            {
                "name": "bad",
                "in": "query",
                "description": "what becomes of the others if a report is none of its design",
                "schema": {"enum": ["refuse", "keep"], "default": "refuse"},
            },
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "drawn at random for this upload; the same body under the same id is counted once",
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22,64}$"},
            },
        ],
    },
    "responses": {
        200: _content("application/json", "counted", _object(counted={"type": "integer"}, refused={"type": "integer"})),
        **_refusals(
            "malformed", "unknown", "closed", "too_slow", "too_large", "wrong_type", "busy", "internal", "unavailable"
        ),
    },
}
"""The OpenAPI description of each endpoint."""
