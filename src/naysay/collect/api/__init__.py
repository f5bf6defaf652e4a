"""What programs read of surveys, with tokens: which there are, what came out, and exports.

Every request names a token, and is checked before anything is looked up. Then what it answers, for its OpenAPI
description.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from io import BytesIO
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.telemetry import TelemetryConfig
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException

import naysay
from naysay._checks import several
from naysay.collect import reports, results
from naysay.collect.admin import log, tokens
from naysay.collect.export import packed
from naysay.collect.server.guard import Rates, failed, refused
from naysay.collect.storage import Listed, Store
from naysay.collect.survey.submission import Refusal
from naysay.errors import DataError

__all__ = ["VERSION", "api"]

VERSION = "v1"
ADDRESS_LIMIT, TOTAL_LIMIT = 300, 3_000
"""Requests a minute, from one address and from all."""

_EXPORTS = 2  # at once: each takes a part of the disk and of a core
_RETRY_AFTER = 5  # seconds

# FastAPI would hand requests to any telemetry that the process is set up for, with addresses, user agents and bodies.
SILENT: TelemetryConfig = {
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
_DESCRIPTION = (
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
BatchName = Annotated[
    str | None, Query(max_length=140, description="As batches name it; needed where there are several.")
]
Credentials = Annotated[
    HTTPAuthorizationCredentials | None,
    Depends(HTTPBearer(auto_error=False, scheme_name="token", description="A token: naysay_…")),
]


def api(store: Store, *, address_limit: int = ADDRESS_LIMIT, total_limit: int = TOTAL_LIMIT) -> FastAPI:
    """The application under ``/api``, with its description at ``/api/openapi.json``.

    Parameters
    ----------
    store : Store
    address_limit, total_limit : int
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
        description=_DESCRIPTION,
        version=naysay.__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=SILENT,
        exception_handlers=dict.fromkeys(_ERRORS, _error_response),
    )
    desk = _Desk(store, Rates(per_address=address_limit, all=total_limit))
    survey_path, common_statuses = f"/{VERSION}/surveys/{{name}}", (401, 403, 422, 429, 500, 503)
    survey_statuses = (*common_statuses, 404)
    routes: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
        (f"/{VERSION}/surveys", desk.surveys, {"response_model": Surveys, "responses": refusals(*common_statuses)}),
        (survey_path, desk.survey, {"response_model": Standing, "responses": refusals(*survey_statuses)}),
        (
            f"{survey_path}/aggregates",
            desk.aggregates,
            {"response_model": Aggregates, "responses": refusals(*survey_statuses)},
        ),
        (
            f"{survey_path}/export",
            desk.export,
            {"response_class": Response, "responses": _ZIP | refusals(*survey_statuses, 409)},
        ),
    ]
    routes += [
        (f"/{VERSION}/reports", desk.reports, {"response_model": Topics, "responses": refusals(*common_statuses)}),
        (
            f"/{VERSION}/reports/tally",
            desk.tally,
            {"response_class": Response, "responses": _FILE | refusals(*common_statuses)},
        ),
    ]
    for route_path, endpoint, route_options in routes:
        app.get(route_path, operation_id=endpoint.__name__, **route_options)(endpoint)
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

    def surveys(self, request: Request, credentials: Credentials) -> Surveys:
        """All surveys. The token must be for all of them, and good for `read:aggregates`."""
        self._let_in(request, credentials, "read:aggregates")
        return Surveys(surveys=[_standing(survey) for survey in self._store.surveys()])

    def survey(self, request: Request, credentials: Credentials, name: Name) -> Standing:
        """Whether a survey is open, and how many have replied (`read:aggregates`)."""
        self._let_in(request, credentials, "read:aggregates", name)
        return _standing(self._named_survey(name))

    def aggregates(
        self,
        request: Request,
        credentials: Credentials,
        name: Name,
        language: Language = None,
        by: Annotated[str | None, Query(max_length=200, description="A direct question that makes groups.")] = None,
    ) -> Response:
        """Counts, estimates and intervals of every question (`read:aggregates`)."""
        self._let_in(request, credentials, "read:aggregates", name)
        self._named_survey(name)
        return JSONResponse(results.aggregates(self._store, name, language=language, by=by))

    def export(
        self, request: Request, credentials: Credentials, name: Name, format: Kind = Kind.csv, language: Language = None
    ) -> Response:
        """All replies in random order, with codebooks and designs, as a zip file (`read:export`). It is logged."""
        export_token = self._let_in(request, credentials, "read:export", name)
        if not self._named_survey(name).replies:
            raise Refusal("conflict", "nobody has answered yet; export when answers have come")
        if not self._exporting.acquire(blocking=False):
            raise Refusal("busy", "other exports are being written; try again later", retry_after=_RETRY_AFTER)
        with ExitStack() as stack:
            stack.callback(self._exporting.release)
            zip_path, export_summary = stack.enter_context(
                packed(self._store, name, f".{format.value}", language=language)
            )
            log_detail = f"{format.value}, {several(export_summary.replies, 'reply', 'replies')}"
            log.record(self._store, "exported", who=f"token {export_token.name}"[:80], about=name, detail=log_detail)
            closing_stack = stack.pop_all()  # the file is there until it is sent
        return FileResponse(zip_path, filename=zip_path.name, background=BackgroundTask(closing_stack.close))

    def reports(self, request: Request, credentials: Credentials) -> Topics:
        """What reports are counted for, and how many have come. For a token of all surveys (`read:aggregates`)."""
        self._let_in(request, credentials, "read:aggregates")
        return Topics(
            reports=[
                Topic(
                    state="open" if status.closed is None else "closed",
                    **status.topic._asdict(),
                    **{field_name: getattr(status, field_name) for field_name in ("reports", "opened", "closed")},
                )
                for status in reports.all_topics(self._store)
            ]
        )

    def tally(
        self,
        request: Request,
        credentials: Credentials,
        question: BatchName = None,
        wave: BatchName = None,
        design: Annotated[str | None, Query(pattern="^[0-9a-f]{1,64}$", description="The hash begins so.")] = None,
    ) -> Response:
        """The tally of all reports to a question and wave, as a file for `naysay estimate` (`read:aggregates`)."""
        self._let_in(request, credentials, "read:aggregates")
        report_tally = reports.tally(
            self._store, reports.topic_of(self._store, question=question, wave=wave, design=design)
        )
        tally_buffer = BytesIO()
        report_tally.write(tally_buffer)
        return Response(tally_buffer.getvalue(), media_type="application/octet-stream")

    def _let_in(
        self, request: Request, credentials: HTTPAuthorizationCredentials | None, scope: str, survey: str | None = None
    ) -> tokens.Token:
        wait_seconds = self._rates.wait(request.client.host if request.client else "")
        if wait_seconds:
            raise Refusal("busy", "too many requests come at once; try again later", retry_after=wait_seconds)
        return tokens.check(self._store, credentials.credentials if credentials else None, scope=scope, survey=survey)

    def _named_survey(self, name: str) -> Listed:
        listed_survey = next((survey for survey in self._store.surveys() if survey.name == name), None)
        if listed_survey is None:
            raise Refusal("unknown", "there is no survey of this name")
        return listed_survey


def _standing(survey: Listed) -> Standing:
    survey_state = "open" if survey.closed is None else "closed"
    shared_fields = {
        field_name: getattr(survey, field_name) for field_name in ("name", "hash", "replies", "opened", "closed")
    }
    return Standing(state=survey_state, **shared_fields)


async def _error_response(_: Request, error: Exception) -> Response:
    """The response to a refusal, and to errors of the framework and of the request, in one form."""
    if isinstance(error, Refusal):
        response = refused(error)
        if error.status == 401:
            response.headers["www-authenticate"] = "Bearer"
        return response
    if isinstance(error, DataError):
        return refused(Refusal("malformed", str(error)))
    if isinstance(error, SQLAlchemyError):
        return refused(Refusal("unavailable", "the database cannot be reached", retry_after=_RETRY_AFTER))
    return failed(error)


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Standing(_Form):
    """A survey, and how many have replied."""

    name: str
    hash: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of survey.json")
    state: Literal["open", "closed"]
    replies: int = Field(ge=0)
    opened: datetime.date
    closed: datetime.date | None


class Surveys(_Form):
    """All surveys of the database."""

    surveys: list[Standing]


class Topic(_Form):
    """What reports are counted for, and how many have come."""

    design: str = Field(pattern="^[0-9a-f]{64}$", description="the hash of the design")
    question: str
    wave: str
    state: Literal["open", "closed"]
    reports: int = Field(ge=0)
    opened: datetime.date
    closed: datetime.date | None


class Topics(_Form):
    """Everything that reports are or were counted for."""

    reports: list[Topic]


class Day(_Form):
    """How many replied on a day, in UTC."""

    day: datetime.date
    replies: int = Field(ge=0)


class Aggregates(_Form):
    """Counts, estimates and intervals; those of each question as ``naysay estimate --format json`` prints them."""

    survey: str
    hash: str
    replies: int = Field(ge=0)
    by: str | None
    notes: list[str] = Field(description="What must be known of all numbers, such as that controls do not count.")
    days: list[Day]
    questions: list[dict[str, Any]]


class Problem(_Form):
    """Why a request is not answered."""

    code: str
    message: str


class Refused(_Form):
    """A request that is not answered."""

    error: Problem


_STATUS_MEANINGS = {
    401: "no token, or one that is not good any more",
    403: "the token is for something else, or for another survey",
    404: "there is no survey of this name",
    409: "nobody has answered yet, so there is nothing to export",
    422: "a parameter cannot be understood, such as a language that the survey does not have",
    429: "too many requests; try again later",
    500: "the server made a mistake",
    503: "the database cannot be reached",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a request that is not answered, by status."""
    return {status: {"model": Refused, "description": _STATUS_MEANINGS[status]} for status in statuses}
