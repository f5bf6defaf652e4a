"""The admin pages as routes of the application, and the previews of drafts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naysay.collect.admin import doors, drafts, surveys
from naysay.collect.admin.visits import Desk, Visit, route
from naysay.collect.client import Client
from naysay.collect.refusals import Refusal
from naysay.collect.server.documents import FOREVER, Document, Served
from naysay.collect.storage import Store
from naysay.collect.survey.published import Published

QUESTIONNAIRE = 5_100_000
"""Bytes of a form with a questionnaire: the greatest that is read, and the rest of the form."""

BACKUP = 2_000_000_000
"""Bytes of a form with a backup; a larger one is restored from the command line."""

_STYLE = Document(
    (Path(__file__).parent / "style.css").read_bytes(), "text/css; charset=utf-8", {"cache-control": FOREVER}
)
STYLE = f"style-{hashlib.sha256(_STYLE.content).hexdigest()[:16]}.css"
_KEY = re.compile("[0-9a-f]{32}")


def desk_of(store: Store, *, client: Client, refresh: Callable[[], None]) -> Desk:
    """What the admin pages of a database share; the application keeps it as ``app.state.desk``."""
    return Desk(store, client, refresh, style=f"/admin/{STYLE}")


def routes() -> list[Route]:
    """All admin pages and acts, each behind the door (see `naysay.collect.admin.visits`)."""
    survey_path, draft_path = "surveys/{name}", "drafts/{name}"
    open_to_all = [
        route("login", doors.login, anyone=True),
        route("login", doors.log_in, anyone=True, sends=True),
        route("setup/{key}", doors.setup, anyone=True),
        route("setup/{key}", doors.set_first, anyone=True, sends=True),
    ]
    pages = [
        ("", surveys.home),
        (survey_path, surveys.survey),
        (f"{survey_path}/results", surveys.results),
        (f"{survey_path}/questionnaire.{{kind}}", surveys.questionnaire),
        (draft_path, surveys.draft),
        (f"{draft_path}/questionnaire.{{kind}}", surveys.questionnaire),
        ("account", doors.account),
        ("tokens", doors.token_list),
        ("log", surveys.log_page),
        ("deleted", surveys.deleted),
        ("backup", surveys.backup_page),
    ]
    acts = [
        ("logout", doors.log_out),
        ("logout-all", doors.end_all),
        ("account/password", doors.change_password),
        ("account/factor", doors.start_second_factor),
        ("account/factor-off", doors.stop_second_factor),
        ("tokens", doors.create_token),
        ("tokens/{name}/revoke", doors.revoke_token),
        ("backup", surveys.backup),
        (f"{draft_path}/open", surveys.publish),
        (f"{draft_path}/discard", surveys.discard),
        (f"{draft_path}/schedule", surveys.schedule),
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
