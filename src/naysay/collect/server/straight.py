"""Answers and reports go straight to their endpoints: a framework's routing costs more time than all their checks."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from naysay.collect.refusals import Refusal
from naysay.collect.server.guard import refused

__all__ = ["Straight"]

_ANSWERS = re.compile(r"/s/([^/]+)/answers")


class Straight:
    """Middleware that calls the endpoints for answers and reports, and hands every other request on.

    The application has the same endpoints among its routes, which describe them and take what comes from elsewhere.

    Parameters
    ----------
    app : ASGIApp
    answers : callable
        Takes a request and the name of a survey.
    reports : callable, optional
        Takes a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        answers: Callable[[Request, str], Awaitable[Response]],
        reports: Callable[[Request], Awaitable[Response]] | None = None,
    ) -> None:
        self._app = app
        self._answers = answers
        self._reports = reports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        posted = scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path")
        if posted and scope["path"] == "/reports" and self._reports is not None:
            response = await self._reports(Request(scope, receive))
            await response(scope, receive, send)
            return
        found = _ANSWERS.fullmatch(scope["path"]) if posted else None
        if found is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await self._answers(Request(scope, receive), found[1])
        except Refusal as refusal:
            response = refused(refusal)
        await response(scope, receive, send)
