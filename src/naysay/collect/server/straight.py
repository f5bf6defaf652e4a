"""Answers go straight to their endpoint: a framework's routing costs more time than all that is checked of them."""

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
    """Middleware that calls the endpoint for answers, and hands every other request on.

    The application has the same endpoint among its routes, which describe it and take what comes here from elsewhere.

    Parameters
    ----------
    app : ASGIApp
    answers : callable
        Takes a request and the name of a survey.
    """

    def __init__(self, app: ASGIApp, *, answers: Callable[[Request, str], Awaitable[Response]]) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        posted = scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path")
        found = _ANSWERS.fullmatch(scope["path"]) if posted else None
        if found is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await self._answers(Request(scope, receive), found[1])
        except Refusal as refusal:
            response = refused(refusal)
        await response(scope, receive, send)
