"""The door to the admin pages: every request passes here, before any page or act sees it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hmac
import ipaddress
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.exc import OperationalError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message

from naysay.collect.admin import log
from naysay.collect.admin.account import Account, Session, Sessions
from naysay.collect.client import Client
from naysay.collect.server.guard import Rates, Tries
from naysay.collect.storage import Store
from naysay.collect.survey.submission import Refusal
from naysay.errors import DataError, NaysayError

HOME = "/admin/"
LOGIN = "/admin/login"
FORM = 20_000
"""Bytes of a form without files."""

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""The Content-Security-Policy of admin pages: no script runs there at all."""

_RENEWED = {
    "refresh": "5",
    "x-frame-options": "SAMEORIGIN",
    "content-security-policy": POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
}
"""Headers of a page that stands in a frame of another admin page, and is fetched again every few seconds."""
_HEADERS = {"content-security-policy": POLICY, "cache-control": "no-store"}
_COOKIE = "naysay-admin"
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Desk:
    """What all admin pages share.

    Parameters
    ----------
    store : Store
    client : Client
        The respondents' page of this naysay.
    refresh : callable
        Lets the server notice at once that surveys have changed.
    style : str
        The address of the style sheet.
    """

    store: Store
    client: Client
    refresh: Callable[[], None]
    style: str
    tries: Rates = field(default_factory=lambda: Rates(per_address=10, all=60))
    alarms: Rates = field(default_factory=lambda: Rates(all=1))
    wrong_codes: Tries = field(default_factory=lambda: Tries(10, window=3_600))

    @property
    def account(self) -> Account:
        """The password and the second factor."""
        return Account(self.store)

    @property
    def sessions(self) -> Sessions:
        """Who is logged in."""
        return Sessions(self.store)

    def record(self, what: str, about: str | None = None, detail: str | None = None) -> None:
        """Add to the log what was done on the page."""
        log.record(self.store, what, who=log.PAGE, about=about, detail=detail)


@dataclass(frozen=True)
class Visit:
    """One request that was let in.

    Parameters
    ----------
    desk : Desk
    request : Request
    session : Session or None
        None on the pages that need none.
    fields : {name: text}
        Of the form that was sent.
    files : {name: UploadFile}
    """

    desk: Desk
    request: Request
    session: Session | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, UploadFile] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The database."""
        return self.desk.store

    @property
    def name(self) -> str:
        """The survey, draft or token that the address names."""
        return str(self.request.path_params["name"])

    @property
    def address(self) -> str:
        """Where the request comes from; it is neither stored nor logged."""
        return self.request.client.host if self.request.client else ""

    @property
    def origin(self) -> str:
        """The beginning of links to this server, as the browser reached it."""
        return f"{self.request.url.scheme}://{self.request.url.netloc}"

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def day(self, name: str) -> datetime.date | None:
        """A field with a date; None where it is empty."""
        try:
            return datetime.date.fromisoformat(self[name]) if self[name] else None
        except ValueError:
            raise DataError(f"a date is written as 2027-01-31; got {self[name][:40]!r}") from None

    def page(self, template: str, *, status: int = 200, **values: object) -> Response:
        """A page; whatever is put into it is escaped."""
        common_values = {
            "session": self.session,
            "form_token": self.session.form_token if self.session else "",
            "done": self.request.query_params.get("done", ""),
            "path": self.request.url.path,
            "style": self.desk.style,
            "icon": f"/client/{self.desk.client.hash}/icon.svg",
        }
        page_text = _TEMPLATES.get_template(template).render(**common_values, **values)
        return HTMLResponse(page_text, status_code=status, headers=_HEADERS)

    def framed(self, template: str, **values: object) -> Response:
        """A page for a frame of an admin page, which renews itself."""
        response = self.page(template, status=200, **values)
        response.headers.update(_RENEWED)
        return response

    def to(self, path: str, done: str = "") -> Response:
        """On to another page, which says what was done."""
        return RedirectResponse(path + (f"?done={done}" if done else ""), status_code=303, headers=_HEADERS)

    def with_cookie(self, response: Response, session: Session | None) -> Response:
        """The response with the cookie of a session, or with an order to forget it.

        No script can read it, no other site's request carries it, and no request of a respondent does: it is sent to
        admin pages only.
        """
        is_secure = self.request.url.scheme == "https"
        response.set_cookie(
            _cookie(self.request),
            session.secret if session else "",
            max_age=None if session else 0,
            path="/admin",
            secure=is_secure,
            httponly=True,
            samesite="strict",
        )
        return response


Endpoint = Callable[[Visit], Response]


def download(cleaning: contextlib.ExitStack, path: Path) -> Response:
    """A file that is sent piece by piece; when it is sent, or the reader is gone, its folder is deleted."""

    def pieces() -> Iterator[bytes]:
        with cleaning, path.open("rb") as file:
            while piece := file.read(1 << 18):
                yield piece

    headers = {"content-disposition": f'attachment; filename="{path.name}"', "content-length": str(path.stat().st_size)}
    return StreamingResponse(pieces(), headers=headers, media_type="application/octet-stream")


def route(
    path: str, endpoint: Endpoint, *, sends: bool = False, most: int = FORM, anyone: bool = False, alone: bool = False
) -> Route:
    """A route to an endpoint, behind the door.

    Parameters
    ----------
    path : str
        Behind ``/admin/``.
    endpoint : callable
        It runs in a thread.
    sends : bool
        Whether it changes something: then it takes a form of that session, by POST, and nothing else.
    most : int
        Bytes that the form may have.
    anyone : bool
        Whether it needs no session.
    alone : bool
        Whether the browser fetches it by itself: then it shows nobody at work, and the session ends when nobody is.
    """

    async def behind_door(request: Request) -> Response:
        """Let a request in, or say why not."""
        desk: Desk = request.app.state.desk
        visit = Visit(desk, request)
        try:
            _check_channel(request)
            cookie = request.cookies.get(_cookie(request))
            session = await asyncio.to_thread(desk.sessions.find, cookie, noted=not alone) if cookie else None
            if session is None and not anyone:
                return visit.to(LOGIN, "ended" if request.method == "POST" else "")
            visit = Visit(desk, request, session)
            if request.method != "POST":
                return await asyncio.to_thread(endpoint, visit)
            # browsers say which site's page sends a form; those that do not still need the form's token
            if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise Refusal("forbidden", "this form was sent by a page of another site")
            async with _form(request, most) as (fields, files):
                form_token = fields.get("form_token", "").encode()
                if session is not None and not hmac.compare_digest(session.form_token.encode(), form_token):
                    raise Refusal("forbidden", "this form is not from a page of this session; load the page again")
                return await asyncio.to_thread(endpoint, Visit(desk, request, session, fields, files))
        except Refusal as refusal:
            return _trouble_page(visit, refusal.status, refusal.message, wait=refusal.retry_after)
        except NaysayError as error:
            return _trouble_page(visit, 422, str(error))
        except OperationalError:  # such as while a large file is rewritten
            busy_text = "the database is busy; look whether it was done, and try again in a moment"
            return _trouble_page(visit, 503, busy_text, wait=5)

    return Route(f"/admin/{path}", behind_door, methods=["POST" if sends else "GET"], include_in_schema=False)


def _trouble_page(visit: Visit, status: int, message: str, *, wait: int | None = None) -> Response:
    back_path = visit.request.url.path.rpartition("/")[0] if "name" in visit.request.path_params else HOME
    response = visit.page("trouble.html", status=status, message=message, back=back_path if status == 422 else HOME)
    if wait is not None:
        response.headers["retry-after"] = str(wait)
    return response


def _cookie(request: Request) -> str:
    """The name of the cookie; with this beginning, a browser takes it only over HTTPS."""
    return f"__Secure-{_COOKIE}" if request.url.scheme == "https" else _COOKIE


def _check_channel(request: Request) -> None:
    """Refuse a password over a line that others can read: HTTPS, or this computer, under its own name.

    A proxy here that says nothing of itself seems to be this computer; and so does a site whose name leads here.
    """
    both_ends = (request.client.host if request.client else "", request.url.hostname or "")
    if request.url.scheme == "https" or all(map(_is_loopback, both_ends)):
        return
    raise Refusal(
        "forbidden",
        "the admin pages need HTTPS, or a browser on the computer that serves. Where a proxy has the certificate, it "
        "must send X-Forwarded-Proto, and FORWARDED_ALLOW_IPS must name its address",
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@contextlib.asynccontextmanager
async def _form(request: Request, most: int) -> AsyncIterator[tuple[dict[str, str], dict[str, UploadFile]]]:
    """The fields and files of a form; reading stops at the greatest length."""
    announced_length = request.headers.get("content-length", "0")
    too_large = Refusal("too_large", f"a form of this page has at most {most:,} bytes")
    if not (announced_length.isascii() and announced_length.isdigit()) or int(announced_length[:20]) > most:
        raise too_large
    byte_count = 0

    async def receive_bounded() -> Message:
        nonlocal byte_count
        message = await request.receive()
        byte_count += len(message.get("body", b""))
        if byte_count > most:
            raise too_large
        return message

    try:
        async with Request(request.scope, receive_bounded).form(max_files=1, max_fields=40, max_part_size=FORM) as form:
            fields = {field_name: value for field_name, value in form.multi_items() if isinstance(value, str)}
            yield (
                fields,
                {field_name: value for field_name, value in form.multi_items() if isinstance(value, UploadFile)},
            )
    except HTTPException:  # so Starlette says that a form cannot be read
        raise Refusal("malformed", "the form cannot be read; load the page again") from None
