"""The API: every request names a token, and is checked before anything is looked up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from io import BytesIO
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.telemetry import TelemetryConfig
from sqlalchemy.exc import SQLAlchemyError
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException

import naysay
from naysay._checks import several
from naysay.collect import results
from naysay.collect.admin import log, tokens
from naysay.collect.api.forms import Aggregates, Standing, Surveys, Topic, Topics, refusals
from naysay.collect.export.packed import packed
from naysay.collect.refusals import Refusal
from naysay.collect.reports import topics
from naysay.collect.server.guard import Rates, failed, refused
from naysay.collect.storage import Listed, Store
from naysay.collect.storage.reported import Known
from naysay.errors import DataError

VERSION = "v1"
EACH, EVERYBODY = 300, 3_000
"""Requests a minute, from one address and from all."""

_EXPORTS = 2  # at once: each takes a part of the disk and of a core
_AGAIN = 5  # seconds

_SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
    "exclude": lambda _: True,
}
_ERRORS: tuple[type[Exception], ...] = (
    Refusal, DataError, HTTPException, RequestValidationError, SQLAlchemyError,
)  # fmt: skip
_TOLD = (
    "Programs read here what came out of surveys. Each request names a token, `Authorization: Bearer naysay_…`, which "
    "`naysay admin token` or the admin pages make for one purpose, and for one survey or all. A reply is never sent, "
    "except in an export. Who reads aggregates before and after a single reply can subtract them: give tokens only to "
    "programs that may read replies."
)


class Kind(Enum):
    """The kinds of files that an export may have."""

    csv = "csv"
    parquet = "parquet"
    jsonl = "jsonl"
    xlsx = "xlsx"
    sav = "sav"
    dta = "dta"


Name = Annotated[str, Path(max_length=64, description="The name of a survey.")]
Language = Annotated[
    str | None, Query(max_length=35, pattern="^[A-Za-z0-9-]+$", description="Of texts and labels, such as de.")
]
Named = Annotated[str | None, Query(max_length=140, description="As batches name it; needed where there are several.")]
Credentials = Annotated[
    HTTPAuthorizationCredentials | None,
    Depends(HTTPBearer(auto_error=False, scheme_name="token", description="A token: naysay_…")),
]


def api(store: Store, *, each: int = EACH, everybody: int = EVERYBODY) -> FastAPI:
    """The application under ``/api``, with its description at ``/api/openapi.json``.

    Parameters
    ----------
    store : Store
    each, everybody : int
        Requests a minute, from one address and from all; 0 for any number.

    Examples
    --------
    >>> store = Store("sqlite://")
    >>> sorted(api(store).openapi()["paths"])[:3]
    ['/v1/reports', '/v1/reports/tally', '/v1/surveys']
    >>> store.dispose()
    """
    app = FastAPI(
        title="naysay",
        summary="What came out of surveys, for programs.",
        description=_TOLD,
        version=naysay.__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
        exception_handlers=dict.fromkeys(_ERRORS, _failed),
    )
    desk = _Desk(store, Rates(each=each, all=everybody))
    survey, scoped = f"/{VERSION}/surveys/{{name}}", (401, 403, 422, 429, 500, 503)
    one = (*scoped, 404)
    routes: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
        (f"/{VERSION}/surveys", desk.surveys, {"response_model": Surveys, "responses": refusals(*scoped)}),
        (survey, desk.survey, {"response_model": Standing, "responses": refusals(*one)}),
        (f"{survey}/aggregates", desk.aggregates, {"response_model": Aggregates, "responses": refusals(*one)}),
        (f"{survey}/export", desk.export, {"response_class": Response, "responses": _ZIP | refusals(*one, 409)}),
    ]
    routes += [
        (f"/{VERSION}/reports", desk.reports, {"response_model": Topics, "responses": refusals(*scoped)}),
        (
            f"/{VERSION}/reports/tally",
            desk.tally,
            {"response_class": Response, "responses": _FILE | refusals(*scoped)},
        ),
    ]
    for path, endpoint, told in routes:
        app.get(path, operation_id=endpoint.__name__, **told)(endpoint)
    return app


_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "data, codebooks and designs", "content": {"application/zip": {"schema": {"type": "string"}}}}
}


_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "a tally file", "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}


class _Desk:
    """The endpoints. They are no coroutines, so that a long one keeps no answer of a respondent waiting."""

    def __init__(self, store: Store, rates: Rates) -> None:
        self._store = store
        self._rates = rates
        self._exporting = threading.BoundedSemaphore(_EXPORTS)

    def surveys(self, request: Request, given: Credentials) -> Surveys:
        """All surveys. The token must be for all of them, and good for `read:aggregates`."""
        self._let_in(request, given, "read:aggregates")
        return Surveys(surveys=[_standing(each) for each in self._store.surveys()])

    def survey(self, request: Request, given: Credentials, name: Name) -> Standing:
        """Whether a survey is open, and how many have replied (`read:aggregates`)."""
        self._let_in(request, given, "read:aggregates", name)
        return _standing(self._listed(name))

    def aggregates(
        self,
        request: Request,
        given: Credentials,
        name: Name,
        language: Language = None,
        by: Annotated[str | None, Query(max_length=200, description="A direct question that makes groups.")] = None,
    ) -> Response:
        """Counts, estimates and intervals of every question (`read:aggregates`)."""
        self._let_in(request, given, "read:aggregates", name)
        self._listed(name)
        return JSONResponse(results.aggregates(self._store, name, language=language, by=by))

    def export(
        self, request: Request, given: Credentials, name: Name, format: Kind = Kind.csv, language: Language = None
    ) -> Response:
        """All replies in random order, with codebooks and designs, as a zip file (`read:export`). It is logged."""
        token = self._let_in(request, given, "read:export", name)
        if not self._listed(name).replies:
            raise Refusal("conflict", "nobody has answered yet; export when answers have come")
        if not self._exporting.acquire(blocking=False):
            raise Refusal("busy", "other exports are being written; try again later", retry_after=_AGAIN)
        with ExitStack() as stack:
            stack.callback(self._exporting.release)
            path, done = stack.enter_context(packed(self._store, name, f".{format.value}", language=language))
            told = f"{format.value}, {several(done.replies, 'reply', 'replies')}"
            log.record(self._store, "exported", who=f"token {token.name}"[:80], about=name, detail=told)
            later = stack.pop_all()  # the file is there until it is sent
        return FileResponse(path, filename=path.name, background=BackgroundTask(later.close))

    def reports(self, request: Request, given: Credentials) -> Topics:
        """What reports are counted for, and how many have come. For a token of all surveys (`read:aggregates`)."""
        self._let_in(request, given, "read:aggregates")
        return Topics(reports=[_topic(each) for each in topics.listed(self._store)])

    def tally(
        self,
        request: Request,
        given: Credentials,
        question: Named = None,
        wave: Named = None,
        design: Annotated[str | None, Query(pattern="^[0-9a-f]{1,64}$", description="The hash begins so.")] = None,
    ) -> Response:
        """The tally of all reports to a question and wave, as a file for `naysay estimate` (`read:aggregates`)."""
        self._let_in(request, given, "read:aggregates")
        found = topics.tally(self._store, topics.topic_of(self._store, question=question, wave=wave, design=design))
        content = BytesIO()
        found.write(content)
        return Response(content.getvalue(), media_type="application/octet-stream")

    def _let_in(
        self, request: Request, given: HTTPAuthorizationCredentials | None, scope: str, survey: str | None = None
    ) -> tokens.Token:
        wait = self._rates.wait(request.client.host if request.client else "")
        if wait:
            raise Refusal("busy", "too many requests come at once; try again later", retry_after=wait)
        return tokens.check(self._store, given.credentials if given else None, scope=scope, survey=survey)

    def _listed(self, name: str) -> Listed:
        found = next((each for each in self._store.surveys() if each.name == name), None)
        if found is None:
            raise Refusal("unknown", "there is no survey of this name")
        return found


def _topic(known: Known) -> Topic:
    state = "open" if known.closed is None else "closed"
    told = {each: getattr(known, each) for each in ("reports", "opened", "closed")}
    return Topic(state=state, **known.topic._asdict(), **told)


def _standing(listed: Listed) -> Standing:
    state = "open" if listed.closed is None else "closed"
    told = {each: getattr(listed, each) for each in ("name", "hash", "replies", "opened", "closed")}
    return Standing(state=state, **told)


async def _failed(_: Request, error: Exception) -> Response:
    """The response to a refusal, and to errors of the framework and of the request, in one form."""
    if isinstance(error, Refusal):
        response = refused(error)
        if error.status == 401:
            response.headers["www-authenticate"] = "Bearer"
        return response
    if isinstance(error, DataError):
        return refused(Refusal("malformed", str(error)))
    if isinstance(error, SQLAlchemyError):
        return refused(Refusal("unavailable", "the database cannot be reached", retry_after=_AGAIN))
    return failed(error)
