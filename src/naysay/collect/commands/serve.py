"""``naysay serve``: surveys on the web, until it is stopped; ``naysay questionnaire preview``: one, without storing.

With ``--phone`` also HTTPS in the local network, a code to scan, and what the browser's warning means.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naysay.collect.commands import database
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.output import takes
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.collect import Published
    from naysay.collect.server.keys import Certificate
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
    yes: Annotated[bool, typer.Option("--yes", help=database.YES)] = False


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
    from naysay.collect import reports, serving
    from naysay.collect.api.webhooks import Target, Webhooks
    from naysay.collect.app import create_app
    from naysay.collect.server.keys import Keys

    daily_keys = Keys(options.keys)
    targets = [Target(url, within=options.webhook_within) for url in options.webhook or ()]
    listening_host = options.host or ("0.0.0.0" if options.phone else "127.0.0.1")
    with (
        secured(options.certificate, options.key, phone=options.phone) as certificate,
        serving.bound(listening_host, options.port) as listening_socket,
        opened(options.db, options.data, "make") as store,
    ):  # so that no survey is opened without being served
        heard()
        opened_before = {survey.name for survey in store.surveys()}
        forms = [
            database.confirmed(questionnaire_path, yes=options.yes, opened_before=opened_before)
            for questionnaire_path in options.questionnaires or ()
        ]
        app = create_app(forms, store, each=options.rate, keys=daily_keys, admin=options.admin)
        open_names = [survey.name for survey in store.surveys() if survey.closed is None]
        served_surveys = app.state.service.catalog.surveys
        closed_names = sorted(set(served_surveys) - set(open_names))
        if closed_names:
            output.note(f"closed, and not opened by serving: {', '.join(closed_names)}; see naysay survey open --help")
        counts_reports = any(topic.closed is None for topic in reports.all_topics(store))
        if not (open_names or counts_reports or options.admin):
            raise DataError("there is no open survey to serve; name a questionnaire, as in naysay serve survey.json")
        base_url = serving.url_of(listening_socket, secure=certificate is not None, host=host_of(options))
        for survey_name in open_names:
            output.say(f"{base_url}/s/{survey_name}")
            if options.phone:
                show(f"{base_url}/s/{survey_name}")
        if counts_reports:
            output.say(f"{base_url}/reports")
        if options.admin:
            (output.note if open_names or counts_reports else output.say)(_of_admin(store, base_url))
        address_notes = (
            _of_host(listening_socket) if certificate is None else serving_notes(options, certificate, listening_socket)
        )
        server_notes = [*address_notes, *_of_proxy(options.rate), *_of_database(store)]
        for note_line in [
            *(
                survey_line
                for survey_name in open_names
                for survey_line in _of_survey(served_surveys[survey_name].published)
            ),
            *server_notes,
        ]:
            output.note(note_line)
        sys.stdout.flush()
        telling = (
            Webhooks(store, targets, os.environ.get(_SECRET, "")).running() if targets else contextlib.nullcontext()
        )
        with telling:
            serving.serve(app, listening_socket, certificate)


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

    heard()
    form = database.confirmed(options.questionnaire, yes=True)
    app = create_app([form])
    listening_host = options.host or ("0.0.0.0" if options.phone else "127.0.0.1")
    with (
        secured(None, None, phone=options.phone) as certificate,
        serving.bound(listening_host, options.port) as listening_socket,
    ):
        base_url = serving.url_of(listening_socket, secure=certificate is not None, host=host_of(options))
        output.say(f"{base_url}/s/{form.name}")
        if options.phone:
            show(f"{base_url}/s/{form.name}")
        for note_line in (
            _of_host(listening_socket) if certificate is None else serving_notes(options, certificate, listening_socket)
        ):
            output.note(note_line)
        sys.stdout.flush()
        serving.serve(app, listening_socket, certificate)


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
    from naysay.collect.survey import tallies

    name, points_text = published.name, tallies.moved_points_text(published.questionnaire)
    moved_text = f"; 1 % of repeated or dishonest answers moves a share by {points_text}" if points_text else ""
    yield f"{name}: {tallies.OPEN_LINK}{moved_text}" if published.key is None else f"{name}: {tallies.BY_INVITATION}"
    if not published.has(Client.of(FOLDER)):
        yield f"{name}: it keeps the page of another naysay; for the page of this one: naysay survey renew {name}"


def _of_admin(store: Store, base_url: str) -> str:
    """Where surveys are run from a browser; until there is a password, the one-time link that sets it."""
    from naysay.collect.admin.account import Account

    setup_key = Account(store).setup()
    if setup_key is None:
        return f"run surveys from a browser at {base_url}/admin/"
    setup_text = "to run surveys from a browser, set a password first; this link is good once, for a day"
    return f"{setup_text}: {base_url}/admin/setup/{setup_key}"


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
    ssl_mode = url.query.get("sslmode", os.environ.get("PGSSLMODE"))
    if not is_local and ssl_mode != "verify-full":
        yield (
            f"the database is on {url.host}, whose identity nothing verifies; add ?sslmode=verify-full to its address "
            "(and sslrootcert=FILE where its certificate is your own)"
        )


def heard() -> None:
    """Log errors and counts on stderr. No line holds an address, a header or an answer."""
    from naysay.collect.serving import Throttle

    log_handler = logging.StreamHandler()
    log_handler.addFilter(Throttle())
    log_handler.setFormatter(logging.Formatter("naysay: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log_handler])
    logging.getLogger("naysay").setLevel(logging.INFO)


@contextlib.contextmanager
def secured(certificate: Path | None, key: Path | None, *, phone: bool) -> Iterator[Certificate | None]:
    """The certificate to serve with: the one that is given, one made on the spot for phones, or none."""
    from naysay.collect.server import keys as certificates

    if (certificate is None) != (key is None):
        raise DataError("--certificate and --key belong together; give both, or neither")
    if certificate is not None and key is not None:
        yield certificates.certificate_of_files(certificate, key)
    elif phone:
        with certificates.temporary_certificate(
            ["127.0.0.1", *filter(None, [certificates.own_address()])]
        ) as fresh_certificate:
            yield fresh_certificate
    else:
        yield None


def host_of(options: ServeOptions | Preview) -> str | None:
    """The host of links: with ``--phone`` the address of this computer, where it listens everywhere."""
    from naysay.collect.server import keys as certificates

    return certificates.own_address() if options.phone and options.host in (None, "0.0.0.0", "::") else None


def code(link: str) -> str:
    """A link as a code that phones scan, in lines of blocks.

    Examples
    --------
    >>> len(code("https://192.0.2.7:8000/s/sample").splitlines())
    19
    """
    import segno

    blocks = io.StringIO()
    segno.make_qr(link, error="m").terminal(blocks, compact=True)
    return blocks.getvalue()


def show(link: str) -> None:
    """Show the code on stdout, where it can show blocks."""
    if "utf" in (getattr(sys.stdout, "encoding", None) or "").lower():
        output.say(code(link))
    else:
        output.note("this terminal shows no blocks, so no code to scan; type the link")


def serving_notes(options: ServeOptions | Preview, certificate: Certificate, listening: socket.socket) -> Iterator[str]:
    """What those who serve must know."""
    from naysay.collect.serving import for_others

    if options.phone:
        if not for_others(listening):
            yield "this address is for this computer alone; leave --host out, so that phones reach it"
        elif host_of(options) is None and options.host in (None, "0.0.0.0", "::"):
            yield "this computer is in no network, so no phone reaches it"
        yield "a phone must be in the same network as this computer, and a firewall here must let it through"
    if options.certificate is None:
        yield (
            "the browser warns that the connection is not private: nobody vouches for a certificate that this computer "
            "made just now. What is sent is encrypted all the same. Choose the details, and go on. Whoever controls "
            "the network could show a page and a certificate of their own: compare the fingerprint, or collect real "
            "answers with --certificate and --key"
        )
        yield f"fingerprint of the certificate (SHA-256): {certificate.fingerprint}"
