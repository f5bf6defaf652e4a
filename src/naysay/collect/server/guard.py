"""Middleware: security headers on every response, and errors that tell nothing about the sender."""

from __future__ import annotations

import logging
from pathlib import Path

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naysay.collect.refusals import Refusal
from naysay.collect.server.headers import ASSETS, SECURITY

__all__ = ["Guard", "refused"]

log = logging.getLogger("naysay.collect")


def refused(refusal: Refusal) -> JSONResponse:
    """The response that says why a request is not taken."""
    headers = {"retry-after": str(refusal.retry_after)} if refusal.retry_after is not None else None
    return JSONResponse(refusal.form(), status_code=refusal.status, headers=headers)


class Guard:
    """Middleware that sets the security headers, answers HEAD like GET, and lets no error out.

    An error is logged as its class and the place in the source: its message, and the values in its traceback, may
    hold what a respondent sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = {name.lower() for name, _ in message["headers"]}
                is_asset = scope["path"].startswith("/client/") and message["status"] < 400
                own = _ASSETS if is_asset else _SECURITY
                added = [(name, value) for name, value in own if name not in given]
                message = {**message, "headers": [*message["headers"], *added]}
            elif head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app({**scope, "method": "GET"} if head else scope, receive, guarded)
        except ClientDisconnect:  # the respondent is gone; when they went away is not to be logged
            return
        except Exception as error:  # whatever it is, no server in front of this one may log it
            log.error("a request failed: %s at %s", type(error).__name__, _place(error))
            if not begun:
                await refused(Refusal("internal", "the server made a mistake"))(scope, receive, guarded)


_SECURITY, _ASSETS = (
    [(name.encode(), value.encode()) for name, value in headers.items()] for headers in (SECURITY, ASSETS)
)


def _place(error: Exception) -> str:
    """The line of the source where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "an unknown place" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
