"""The admin pages as routes of the application, and the previews of drafts.

Then the pages on who may: the first password, logging in and out, the second factor, the tokens of programs.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyotp
import segno
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naysay.collect.admin import drafts, surveys, tokens
from naysay.collect.admin.visits import HOME, Visit, route
from naysay.collect.client import Client
from naysay.collect.server.documents import FOREVER, Document, Served
from naysay.collect.storage import Store
from naysay.collect.survey.published import Published
from naysay.collect.survey.submission import Refusal
from naysay.errors import DataError

QUESTIONNAIRE = 5_100_000
"""Bytes of a form with a questionnaire: the greatest that is read, and the rest of the form."""

BACKUP = 2_000_000_000
"""Bytes of a form with a backup; a larger one is restored from the command line."""

_STYLE = Document(
    (Path(__file__).parent / "style.css").read_bytes(), "text/css; charset=utf-8", {"cache-control": FOREVER}
)
STYLE = f"style-{hashlib.sha256(_STYLE.content).hexdigest()[:16]}.css"
_KEY = re.compile("[0-9a-f]{32}")


def routes() -> list[Route]:
    """All admin pages and acts, each behind the door (see `naysay.collect.admin.visits`)."""
    survey_path, draft_path = "surveys/{name}", "drafts/{name}"
    open_to_all = [
        route("login", login, anyone=True),
        route("login", log_in, anyone=True, sends=True),
        route("setup/{key}", setup, anyone=True),
        route("setup/{key}", set_first, anyone=True, sends=True),
    ]
    pages = [
        ("", surveys.home),
        (survey_path, surveys.survey),
        (f"{survey_path}/results", surveys.results),
        (f"{survey_path}/questionnaire.{{kind}}", surveys.questionnaire),
        (draft_path, surveys.draft),
        (f"{draft_path}/questionnaire.{{kind}}", surveys.questionnaire),
        (f"{draft_path}/private", surveys.private_page),
        ("account", account),
        ("tokens", token_list),
        ("log", surveys.log_page),
        ("deleted", surveys.deleted),
        ("backup", surveys.backup_page),
    ]
    acts = [
        ("logout", log_out),
        ("logout-all", end_all),
        ("account/password", change_password),
        ("account/factor", start_second_factor),
        ("account/factor-off", stop_second_factor),
        ("tokens", create_token),
        ("tokens/{name}/revoke", revoke_token),
        ("backup", surveys.backup),
        (f"{draft_path}/open", surveys.publish),
        (f"{draft_path}/discard", surveys.discard),
        (f"{draft_path}/schedule", surveys.schedule),
        (f"{draft_path}/private", surveys.make_private),
        (f"{survey_path}/invite", surveys.invite),
        (f"{survey_path}/share", surveys.share),
        (f"{survey_path}/unshare", surveys.unshare),
        (f"{survey_path}/close", surveys.close),
        (f"{survey_path}/reopen", surveys.reopen),
        (f"{survey_path}/renew", surveys.renew),
        (f"{survey_path}/schedule", surveys.schedule),
        (f"{survey_path}/copy", surveys.copy),
        (f"{survey_path}/export", surveys.export),
        (f"{survey_path}/delete", surveys.delete),
    ]
    return [
        Route(f"/admin/{STYLE}", _style, include_in_schema=False),
        *open_to_all,
        *(route(route_path, endpoint) for route_path, endpoint in pages),
        route(f"{survey_path}/live", surveys.live, alone=True),
        *(route(route_path, endpoint, sends=True) for route_path, endpoint in acts),
        route("upload", surveys.upload, sends=True, most=QUESTIONNAIRE),
        route("restore", surveys.restore, sends=True, most=BACKUP),
        route("{rest:path}", _nothing),
        Route("/admin", _to_home, include_in_schema=False),
    ]


async def _style(request: Request) -> Response:
    return _STYLE.response(request)


async def _to_home(request: Request) -> Response:
    return Visit(request.app.state.desk, request).to("/admin/")


def _nothing(_: Visit) -> Response:
    raise Refusal("unknown", "there is no page at this address")


class Previews(Mapping[str, Served]):
    """The drafts as respondents would see them, by the random keys of their previews. Nothing is stored.

    Parameters
    ----------
    store : Store
    client : Client
    """

    def __init__(self, store: Store, *, client: Client) -> None:
        self._store = store
        self._client = client
        self.clients: Mapping[str, Mapping[str, Document]] = {}
        self._latest: tuple[str, Served] | None = None

    @property
    def surveys(self) -> Mapping[str, Served]:
        """Itself, so that it takes the place of a catalog."""
        return self

    def __getitem__(self, key: str) -> Served:
        draft = drafts.with_key(self._store, key) if _KEY.fullmatch(key) else None
        if draft is None:
            raise KeyError(key)
        if self._latest is None or self._latest[0] != key:
            published = Published.of(draft.questionnaire, client=self._client, preview=True)
            self._latest = key, Served(published, open=True)
        return self._latest[1]

    def __iter__(self) -> Iterator[str]:
        return (draft.key for draft in drafts.listed(self._store))

    def __len__(self) -> int:
        return len(drafts.listed(self._store))


def setup(visit: Visit) -> Response:
    """The page of the one-time link."""
    if not visit.desk.account.is_setup(str(visit.request.path_params["key"])):
        raise Refusal("unknown", "this link is void: it was used, is older than a day, or the server was started again")
    return visit.page("setup.html", problem="")


def set_first(visit: Visit) -> Response:
    """Set the first password, and log in."""
    try:
        _check_same(visit)
        visit.desk.account.set_password(visit.fields.get("password", ""), key=str(visit.request.path_params["key"]))
    except DataError as error:
        return visit.page("setup.html", status=422, problem=str(error))
    visit.desk.record("set the password")
    return visit.with_cookie(visit.to(HOME, "password"), visit.desk.sessions.begin())


def login(visit: Visit) -> Response:
    """The form for logging in."""
    if visit.session:
        return visit.to(HOME)
    return visit.page("login.html", problem="", needs_code=visit.desk.account.has_second_factor)


def log_in(visit: Visit) -> Response:
    """Begin a session under a fresh secret; whatever session the browser had before ends."""
    if not _is_right(visit):
        problem = "The password or the code is not right."
        needs_code = visit.desk.account.has_second_factor
        return visit.page("login.html", status=403, problem=problem, needs_code=needs_code)
    if visit.session:
        visit.desk.sessions.end(visit.session.secret)
    visit.desk.record("logged in")
    return visit.with_cookie(visit.to(HOME), visit.desk.sessions.begin())


def log_out(visit: Visit) -> Response:
    """End the session."""
    if visit.session:
        visit.desk.sessions.end(visit.session.secret)
    return visit.with_cookie(visit.to("/admin/login", "out"), None)


def account(visit: Visit) -> Response:
    """Password and second factor."""
    totp_secret = pyotp.random_base32()
    totp_link = pyotp.TOTP(totp_secret).provisioning_uri(
        name=visit.request.url.hostname or "naysay", issuer_name="naysay"
    )
    qr_code = segno.make_qr(totp_link, error="m").svg_inline(border=4, omitsize=True)
    has_second_factor = visit.desk.account.has_second_factor
    return visit.page(
        "account.html", secret=totp_secret, code=qr_code, link=totp_link, has_second_factor=has_second_factor
    )


def change_password(visit: Visit) -> Response:
    """Change the password: all sessions end, and this browser begins another one."""
    _check_right(visit, "old")
    _check_same(visit)
    visit.desk.account.set_password(visit.fields.get("password", ""))
    visit.desk.record("changed the password")
    return visit.with_cookie(visit.to("/admin/account", "password"), visit.desk.sessions.begin())


def start_second_factor(visit: Visit) -> Response:
    """Ask for a code at every login from now on."""
    _check_right(visit, "old")
    if visit.desk.account.has_second_factor:
        raise DataError("there is a second factor already; turn it off first")
    visit.desk.account.start_second_factor(visit["secret"], visit["new_code"])
    visit.desk.record("turned the second factor on")
    return visit.with_cookie(visit.to("/admin/account", "factor-on"), visit.desk.sessions.begin())


def stop_second_factor(visit: Visit) -> Response:
    """Ask for the password only."""
    _check_right(visit, "old")
    visit.desk.account.stop_second_factor()
    visit.desk.record("turned the second factor off")
    return visit.to("/admin/account", "factor-off")


def end_all(visit: Visit) -> Response:
    """Log everybody out, this browser too."""
    visit.desk.sessions.end_all()
    visit.desk.record("logged everybody out")
    return visit.with_cookie(visit.to("/admin/login", "out"), None)


def token_list(visit: Visit, *, secret: str = "") -> Response:
    """The tokens of programs, and a form for another one; a fresh secret is shown once."""
    survey_names = sorted(visit.store.standing())
    return visit.page(
        "tokens.html", tokens=tokens.listed(visit.store), scopes=tokens.SCOPES, surveys=survey_names, secret=secret
    )


def create_token(visit: Visit) -> Response:
    """A new token; its secret is shown on this one page."""
    scopes = [scope for scope in tokens.SCOPES if visit[scope]]
    only_survey, last_day = visit["survey"] or None, visit.day("expires")
    token, secret = tokens.create(visit.store, visit["token"], scopes=scopes, survey=only_survey, expires=last_day)
    visit.desk.record("made a token", token.survey, f"{token.id} ({token.name}): {', '.join(token.scopes)}")
    return token_list(visit, secret=secret)


def revoke_token(visit: Visit) -> Response:
    """Delete a token."""
    token = tokens.revoke(visit.store, visit.name)
    visit.desk.record("revoked a token", token.survey, f"{token.id} ({token.name})")
    return visit.to("/admin/tokens", "revoked")


def _check_same(visit: Visit) -> None:
    password, repetition = (visit.fields.get(field_name, "").encode() for field_name in ("password", "again"))
    if not hmac.compare_digest(password, repetition):
        raise DataError("the two passwords differ; type the same one twice")


def _check_right(visit: Visit, name: str) -> None:
    """Ask for the password once more before an act that could lock its owner out."""
    if not _is_right(visit, name):
        raise DataError("the password or the code is not right; nothing was changed")


def _is_right(visit: Visit, name: str = "password") -> bool:
    """Whether the password and the code are right. Tries are few within a minute; the first wrong one is logged.

    A wrong code behind the right password is always logged: somebody else may know the password. Ten may be tried in
    any hour, from all addresses together; after them even the right code is refused until one is older than that.
    """
    wait_seconds = visit.desk.tries.wait(visit.address)
    if wait_seconds:
        raise Refusal("busy", f"too many tries; wait {wait_seconds} seconds", retry_after=wait_seconds)
    wrong_part = visit.desk.account.wrong(visit.fields.get(name, ""), visit["code"], codes=visit.desk.wrong_codes)
    if wrong_part == "tries":
        wait_seconds = max(1, visit.desk.wrong_codes.full())
        raise Refusal("busy", f"too many wrong codes; wait {wait_seconds} seconds", retry_after=wait_seconds)
    if wrong_part == "code":
        visit.desk.record("wrong code", detail="the password was right; if this was not you, change it")
    elif wrong_part == "password" and not visit.desk.alarms.wait(""):
        visit.desk.record("wrong password", detail="further ones within this minute are not noted")
    return wrong_part is None
