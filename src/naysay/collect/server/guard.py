"""Middleware: security headers on every response, and logged errors that tell nothing about the sender."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import traceback
from collections.abc import Container, Iterable
from pathlib import Path

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naysay.collect.refusals import Refusal

__all__ = ["ASSETS", "DATA", "POLICY", "SECURITY", "Guard", "failed", "policy_of", "policy_within", "refused"]

log = logging.getLogger("naysay.collect")


_DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}

_FEATURES = (
    "accelerometer", "browsing-topics", "camera", "compute-pressure", "display-capture",
    "encrypted-media", "gamepad", "geolocation", "gyroscope", "hid", "identity-credentials-get",
    "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "otp-credentials", "payment",
    "publickey-credentials-get", "serial", "storage-access", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip

_INLINE = re.compile(rb"<(script|style)[^>]*>(.*?)</\1>", re.DOTALL)
_META = b'<meta http-equiv="Content-Security-Policy"'
_IN_HEADERS = ("frame-ancestors",)
"""Directives that browsers ignore in a page itself; sandbox and report-uri are others."""


def policy_of(page: bytes) -> str:
    """The Content-Security-Policy of a page: its own files, and the import map that is written in it.

    Of a page that holds a policy of its own (see `policy_within`) it is what browsers heed in a header alone.

    Examples
    --------
    >>> policy_of(b'<script type="importmap">{}</script>').split("; ")[1]
    "script-src 'self' 'sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='"
    """
    if _META in page:
        return _policy({}, only=_IN_HEADERS)
    scripts = " ".join(["'self'", *_hashes(page)["script"]])
    return _policy({"script-src": scripts})


def policy_within(page: bytes, modules: Iterable[str] = ()) -> str:
    """The policy that stands in a page itself, where no header can loosen it: policies only add up.

    What is written in the page runs, and modules that have these hashes; nothing but ``data:`` is shown as a picture.

    Examples
    --------
    >>> policy_within(b"<style>p{}</style>").split("; ")[1:4]
    ["script-src 'none'", "style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='", 'img-src data:']
    """
    found = _hashes(page)
    found["script"] += [f"'{digest}'" for digest in modules]
    own = {f"{tag}-src": " ".join(found[tag]) or "'none'" for tag in found} | {"img-src": "data:"}
    return _policy(own, only=_DIRECTIVES.keys() - _IN_HEADERS)


def _hashes(page: bytes) -> dict[str, list[str]]:
    """The hashes of the scripts and of the styles that stand in a page."""
    found: dict[str, list[str]] = {"script": [], "style": []}
    for tag, content in _INLINE.findall(page):
        if content:
            digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
            found[tag.decode()].append(f"'sha256-{digest}'")
    return found


def _policy(own: dict[str, str], *, only: Container[str] = _DIRECTIVES) -> str:
    return "; ".join(f"{name} {value}" for name, value in (_DIRECTIVES | own).items() if name in only)


POLICY = policy_of(b"")
"""The Content-Security-Policy of responses without one of their own."""

SECURITY = {
    "content-security-policy": POLICY,
    "integrity-policy": "blocked-destinations=(script)",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "permissions-policy": ", ".join(f"{feature}=()" for feature in _FEATURES),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-dns-prefetch-control": "off",
    "cache-control": "no-store",
}
"""Headers of every response but surveys and files of the client; a response keeps a header that it sets itself."""

ASSETS = {"cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff"}
"""Headers of the client's files. A page loads thirty of them, and the page's own policy holds."""

DATA = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Headers of a survey's bytes, which a page loads: the page's own policy holds for what it does with them."""

_SECURITY, _ASSETS, _DATA = (
    [(name.encode(), value.encode()) for name, value in headers.items()] for headers in (SECURITY, ASSETS, DATA)
)


def refused(refusal: Refusal) -> JSONResponse:
    """The response that says why a request is not taken."""
    headers = {"retry-after": str(refusal.retry_after)} if refusal.retry_after is not None else None
    return JSONResponse(refusal.form(), status_code=refusal.status, headers=headers)


def failed(error: Exception) -> JSONResponse:
    """The response to a refusal, and to Starlette's own errors (path, method or text unknown), in one form."""
    if isinstance(error, Refusal):
        return refused(error)
    status = getattr(error, "status_code", None)
    if status == 405:
        response = refused(Refusal("wrong_method", "this address does not take this method"))
        response.headers["allow"] = (getattr(error, "headers", None) or {}).get("Allow", "GET, HEAD")
        return response
    if status == 404:
        return refused(Refusal("unknown", "there is nothing at this address"))
    return refused(Refusal("malformed", "the request cannot be understood"))


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
                found, path = message["status"] < 400, scope["path"]
                is_asset, is_data = found and path.startswith("/client/"), found and path.endswith("/survey.json")
                own = _ASSETS if is_asset else _DATA if is_data else _SECURITY
                added = [(name, value) for name, value in own if name not in given]
                message = {**message, "headers": [*message["headers"], *added]}
            elif head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app({**scope, "method": "GET"} if head else scope, receive, guarded)
        except ClientDisconnect:  # the respondent is gone; the time of that must not be logged
            return
        except Exception as error:  # no server around this application may log the error, whatever it is
            *_, (frame, line) = traceback.walk_tb(error.__traceback__)
            place = f"{Path(frame.f_code.co_filename).name}:{line}"
            log.error("a request failed: %s at %s", type(error).__name__, place)
            if not begun:
                await refused(Refusal("internal", "the server made a mistake"))(scope, receive, guarded)
