"""``naysay serve``: surveys on the web, until it is stopped."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naysay.collect.commands import opening
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.commands import takes
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.collect import Published
    from naysay.collect.api.webhooks import Target
    from naysay.collect.storage import Store


_CONTAINER = ("/.dockerenv", "/run/.containerenv")  # files that Docker and Podman put there

_SECRET = "NAYSAY_WEBHOOK_SECRET"

Host = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Where to listen; 0.0.0.0 is everywhere. [default: 127.0.0.1, or with --phone everywhere]",
    ),
]
Phone = Annotated[
    bool, typer.Option("--phone", help="For phones in this network: HTTPS with a certificate made on the spot.")
]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 takes any free one.")]


@dataclass(frozen=True)
class ServeOptions:
    """Which surveys are served, where, and from which database."""

    questionnaires: Annotated[
        list[Path] | None,
        typer.Argument(metavar="QUESTIONNAIRE…", help="XLSForm or JSON; a survey that is not open yet is opened."),
    ] = None
    db: Database = None
    port: Port = 8000
    host: Host = None
    phone: Phone = False
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate (chain) in PEM, to serve by HTTPS; with --key.")
    ] = None
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, in PEM and without a password.")] = None
    data: Data = DATA
    rate: Annotated[
        int,
        typer.Option(min=0, help="The most answers a minute from one address; 0 for any number. No address is kept."),
    ] = 600
    keys: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder in memory, such as /dev/shm/naysay, where servers share the key of the day.",
        ),
    ] = None
    admin: Annotated[
        bool, typer.Option("--admin/--no-admin", help="Whether surveys can be run from the page /admin/, too.")
    ] = True
    webhook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="Tell this server each hour how many have replied, in steps of 10; may be repeated."
        ),
    ] = None
    webhook_within: Annotated[
        bool,
        typer.Option("--webhook-within", help="Let webhooks lead into your own network, and use plain HTTP there."),
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help=opening.YES)] = False


@takes(ServeOptions)
def command(options: ServeOptions) -> None:
    """Serve surveys, and store what respondents send.

    Before a survey without private questions is opened, the server asks; the checker's warnings are printed. Open
    surveys in the database are served, too. An answer is acknowledged when it is stored. Stop the server with
    Ctrl+C: it first stores what has been sent.

    Anyone who has the link can answer any number of times, unless you invite people: see naysay survey invite. The
    server says at start, and each estimate says, how far a few dishonest answers would move a result.

    At /admin/ you run surveys from a browser: upload, open, close, export, delete. The first start prints a link, good
    once, with which you set the password.

    With --phone every device in your network can open the survey: scan the code that is shown. The browser warns once,
    since nobody vouches for a certificate that this computer made itself.

    A --webhook hears how many have replied, and never what they said. Its messages are signed with the secret in
    NAYSAY_WEBHOOK_SECRET.

    \b
    Examples:
      naysay serve
      naysay serve survey.json --port 8080 --data study
      naysay serve survey.json --phone
    """
    from naysay.collect import serving
    from naysay.collect.app import create_app
    from naysay.collect.commands import phone
    from naysay.collect.reports import topics
    from naysay.collect.server.keys import Keys

    daily_keys = Keys(options.keys)
    targets = _targets(options)
    host = options.host or ("0.0.0.0" if options.phone else "127.0.0.1")
    with (
        phone.secured(options.certificate, options.key, phone=options.phone) as certificate,
        serving.bound(host, options.port) as listening,
        opened(options.db, options.data, "make") as store,
    ):  # so that no survey is opened without being served
        heard()
        opened_before = {survey.name for survey in store.surveys()}
        forms = [
            opening.confirmed(path, yes=options.yes, opened_before=opened_before)
            for path in options.questionnaires or ()
        ]
        app = create_app(forms, store, each=options.rate, keys=daily_keys, admin=options.admin)
        names = [survey.name for survey in store.surveys() if survey.closed is None]
        served = app.state.service.catalog.surveys
        closed = sorted(set(served) - set(names))
        if closed:
            output.note(f"closed, and not opened by serving: {', '.join(closed)}; see naysay survey open --help")
        counting = any(topic.closed is None for topic in topics.all_topics(store))
        if not (names or counting or options.admin):
            raise DataError("there is no open survey to serve; name a questionnaire, as in naysay serve survey.json")
        base_url = serving.url_of(listening, secure=certificate is not None, host=phone.host_of(options))
        for name in names:
            output.say(f"{base_url}/s/{name}")
            if options.phone:
                phone.show(f"{base_url}/s/{name}")
        if counting:
            output.say(f"{base_url}/reports")
        if options.admin:
            (output.note if names or counting else output.say)(_of_admin(store, base_url))
        over = _of_host(listening) if certificate is None else phone.serving_notes(options, certificate, listening)
        where = [*over, *_of_proxy(options.rate), *_of_database(store)]
        for line in [*(survey_line for name in names for survey_line in _of_survey(served[name].published)), *where]:
            output.note(line)
        sys.stdout.flush()
        with _telling(store, targets):
            serving.serve(app, listening, certificate)


@dataclass(frozen=True)
class Preview:
    """Which questionnaire is previewed, and where."""

    questionnaire: Annotated[Path, typer.Argument(metavar="FILE", help="XLSForm or JSON, also of SurveyJS.")]
    port: Port = 8000
    host: Host = None
    phone: Phone = False

    @property
    def certificate(self) -> Path | None:
        """None: a preview is for trying out, so its certificate is made on the spot."""
        return None


@takes(Preview)
def preview(options: Preview) -> None:
    """Serve a questionnaire without storing anything.

    Answers are checked as in a survey, and then forgotten. Stop the preview with Ctrl+C. With --phone every device in
    your network can open it: see naysay serve --help.

    \b
    Examples:
      naysay questionnaire preview survey.json
      naysay questionnaire preview survey.json --phone
    """
    from naysay.collect import serving
    from naysay.collect.app import create_app
    from naysay.collect.commands import phone

    heard()
    form = opening.confirmed(options.questionnaire, yes=True)
    app = create_app([form])
    host = options.host or ("0.0.0.0" if options.phone else "127.0.0.1")
    with (
        phone.secured(None, None, phone=options.phone) as certificate,
        serving.bound(host, options.port) as listening,
    ):
        base_url = serving.url_of(listening, secure=certificate is not None, host=phone.host_of(options))
        output.say(f"{base_url}/s/{form.name}")
        if options.phone:
            phone.show(f"{base_url}/s/{form.name}")
        for line in (
            _of_host(listening) if certificate is None else phone.serving_notes(options, certificate, listening)
        ):
            output.note(line)
        sys.stdout.flush()
        serving.serve(app, listening, certificate)


def _targets(options: ServeOptions) -> list[Target]:
    """Where counts are sent to; wrong addresses are told before anything is served."""
    from naysay.collect.api.webhooks import Target

    return [Target(url, within=options.webhook_within) for url in options.webhook or ()]


def _telling(store: Store, targets: list[Target]) -> contextlib.AbstractContextManager[None]:
    """Tells the targets how many have replied, as long as the context lasts."""
    from naysay.collect.api.webhooks import Webhooks

    if not targets:
        return contextlib.nullcontext()
    return Webhooks(store, targets, os.environ.get(_SECRET, "")).running()


def _of_host(listening: socket.socket) -> Iterator[str]:
    """A warning that links over plain HTTP work only on this computer."""
    from naysay.collect.serving import for_others

    if for_others(listening):
        yield (
            "other devices need HTTPS: without it their browsers draw nothing. The link above works on this computer; "
            "put a proxy with a certificate before this server, and send respondents the proxy's https:// link"
        )


def _of_survey(published: Published) -> Iterator[str]:
    """How far a few dishonest answers move a share, and whether there is a newer page."""
    from naysay.collect import Client
    from naysay.collect.client import FOLDER
    from naysay.collect.survey import repeated

    name, moved = published.name, repeated.moved_points_text(published.questionnaire)
    moved_text = f"; 1 % of repeated or dishonest answers moves a share by {moved}" if moved else ""
    yield f"{name}: {repeated.OPEN_LINK}{moved_text}" if published.key is None else f"{name}: {repeated.BY_INVITATION}"
    if not published.has(Client.of(FOLDER)):
        yield f"{name}: it keeps the page of another naysay; for the page of this one: naysay survey renew {name}"


def _of_admin(store: Store, base_url: str) -> str:
    """Where surveys are run from a browser; until there is a password, the one-time link that sets it."""
    from naysay.collect.admin.account import Account

    key = Account(store).setup()
    if key is None:
        return f"run surveys from a browser at {base_url}/admin/"
    once = "to run surveys from a browser, set a password first; this link is good once, for a day"
    return f"{once}: {base_url}/admin/setup/{key}"


def _of_proxy(rate: int) -> Iterator[str]:
    """A warning that in a container all respondents behind a proxy have one address."""
    is_in_container = any(Path(path).exists() for path in _CONTAINER) or "KUBERNETES_SERVICE_HOST" in os.environ
    if is_in_container and rate and "FORWARDED_ALLOW_IPS" not in os.environ:
        yield (
            f"this runs in a container: behind an outside proxy, respondents all count as one address, with {rate:,} "
            "answers a minute together; set FORWARDED_ALLOW_IPS to the address from which the proxy comes"
        )


def _of_database(store: Store) -> Iterator[str]:
    """A warning if nothing verifies the identity of a database on another computer."""
    url = store.engine.url
    is_local = not url.host or url.host.startswith("/") or url.host in ("localhost", "127.0.0.1", "::1")
    mode = url.query.get("sslmode", os.environ.get("PGSSLMODE"))
    if not is_local and mode != "verify-full":
        yield (
            f"the database is on {url.host}, whose identity nothing verifies; add ?sslmode=verify-full to its address "
            "(and sslrootcert=FILE where its certificate is your own)"
        )


def heard() -> None:
    """Log errors and counts on stderr. No line holds an address, a header or an answer."""
    from naysay.collect.server.connections import Throttle

    handler = logging.StreamHandler()
    handler.addFilter(Throttle())
    handler.setFormatter(logging.Formatter("naysay: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("naysay").setLevel(logging.INFO)
