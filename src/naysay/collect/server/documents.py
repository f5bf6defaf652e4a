"""Documents that are the same for everybody: surveys, pages and files of clients, hashed and compressed once.

Results that the researcher shares under a link, and the style sheet of all pages of results.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import brotli
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from naysay.collect import results
from naysay.collect.client import ENTRY, TYPES, Client
from naysay.collect.invitations import Issuer
from naysay.collect.results import sharing
from naysay.collect.server.guard import Rates, policy_of, policy_within
from naysay.collect.storage import Store
from naysay.collect.survey.published import Published
from naysay.collect.survey.submission import Reader, Refusal

_HOME = Path(__file__).with_name("home.html")

_SPACE = re.compile(r"(?:\s|/\*.*?\*/)+", re.DOTALL)
"""Between words of a style sheet, comments included."""

_MEANINGLESS = re.compile(r"; ?(?=})| ?([{};,]) ?|(?<=:) |\b0(?=\.\d)")
"""Of a style sheet: blanks around its signs, the semicolon before a brace, and the 0 of 0.5."""

FOREVER = "max-age=31536000, immutable"
FRESH = "no-cache"  # a browser may keep the copy, but must ask each time whether it is still current


@dataclass(frozen=True)
class Document:
    """Bytes that are served as they are.

    Parameters
    ----------
    content : bytes
    type : str
        The media type.
    headers : {name: value}
        In addition to those of every response.
    """

    content: bytes
    type: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def etag(self) -> str:
        """A tag of the content. It is the same for everybody, so that it identifies nobody."""
        return f'W/"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    @cached_property
    def compressed(self) -> dict[str, bytes]:
        """The content in each encoding, the shortest first: browsers take ``br`` over HTTPS, or from this computer."""
        return _compressed(self.content)

    def response(self, request: Request) -> Response:
        """The document, compressed if the browser takes that; or the answer that it has not changed."""
        response_headers = {**self.headers, "vary": "accept-encoding"}
        if response_headers.get("cache-control") != FOREVER:
            response_headers["etag"] = self.etag
        if self.etag.removeprefix("W/") in (tag.removeprefix("W/") for tag in _header_parts(request, "if-none-match")):
            return Response(status_code=304, headers=response_headers)
        for encoding, compressed_content in self.compressed.items():
            if _takes(request, encoding) and len(compressed_content) < len(self.content):
                response_headers["content-encoding"] = encoding
                return Response(compressed_content, headers=response_headers, media_type=self.type)
        return Response(self.content, headers=response_headers, media_type=self.type)


@lru_cache(maxsize=32)  # by content: a page takes most of a second, and may be served by several applications
def _compressed(content: bytes) -> dict[str, bytes]:
    modes, blocks = (brotli.MODE_GENERIC, brotli.MODE_FONT), (0, 16)
    tried = [brotli.compress(content, mode=mode, lgblock=block, lgwin=18) for mode in modes for block in blocks]
    return {"br": min(tried, key=len), "gzip": gzip.compress(content, 9, mtime=0)}


def _header_parts(request: Request, name: str) -> list[str]:
    return [part.strip() for part in request.headers.get(name, "").split(",")]


def _takes(request: Request, encoding: str) -> bool:
    """Whether an encoding is among those that the browser takes; a quality of 0 says that it is not."""
    encoding_weights = [
        header_part.replace(" ", "").partition(";q=") for header_part in _header_parts(request, "accept-encoding")
    ]
    return any(
        encoding_name == encoding and (not separator or weight.strip("0.") != "")
        for encoding_name, separator, weight in encoding_weights
    )


def threats(client: Client) -> dict[str, Document]:
    """The page on what is defended and what is not, ``{language: document}``, from ``threats.LANGUAGE.html``."""
    page_names = (
        page_name for page_name in client.files if page_name.startswith("threats.") and page_name.endswith(".html")
    )
    return {page_name.split(".")[1]: _page_document(client, client.files[page_name]) for page_name in page_names}


def home(client: Client) -> Document:
    """The page at the root, which says what this server is. It lists no surveys: their names may tell what is asked."""
    return _page_document(client, _HOME.read_bytes())


def _page_document(client: Client, template: bytes, *, survey: str = "") -> Document:
    page_bytes = fill_template(client, template.decode(), survey=survey).encode()
    headers = {"cache-control": FRESH, "content-security-policy": policy_of(page_bytes)}
    return Document(page_bytes, TYPES[".html"], headers)


def fill_template(client: Client, template: str, *, survey: str = "") -> str:
    """A page, with the placeholders for the client and the survey filled in.

    ``{{client}}`` is the folder of the client's files, ``{{integrity NAME}}`` the hash of one. What stands in the page
    itself is ``{{style}}``, ``{{script}}`` and, as an address, ``{{icon}}``; ``{{importmap}}`` says where the other
    modules are, and their hashes; ``{{policy}}`` is the page's own Content-Security-Policy, and allows just these.
    ``{{survey}}`` is the survey's name.

    Examples
    --------
    >>> client = Client({"a.js": b""})
    >>> fill_template(client, '<script type="module" src="{{client}}/a.js" integrity="{{integrity a.js}}"></script>')
    '<script type="module" src="/client/.../a.js" integrity="sha256-47DEQpj8HBSa..."></script>'
    """
    client_folder = f"/client/{client.hash}"
    module_digests = {
        file_name: file_digest
        for file_name, file_digest in client.integrity.items()
        if file_name.endswith(".js") and file_name != ENTRY
    }
    module_folders = sorted({file_name.partition("/")[0] for file_name in module_digests if "/" in file_name})
    import_map = {
        "imports": {f"./{folder_name}/": f"{client_folder}/{folder_name}/" for folder_name in module_folders},
        "integrity": {f"{client_folder}/{file_name}": file_digest for file_name, file_digest in module_digests.items()},
    }
    replacements = {
        "client": client_folder,
        "survey": survey,
        "importmap": json.dumps(import_map, separators=(",", ":")),
    }
    replacements |= {f"integrity {file_name}": file_digest for file_name, file_digest in client.integrity.items()}
    script, style, icon = (client.files.get(file_name, b"").decode() for file_name in (ENTRY, "style.css", "icon.svg"))
    replacements |= {
        "script": script,
        "style": _MEANINGLESS.sub(r"\1", _SPACE.sub(" ", style.partition("/* Links, ")[0])),
        "icon": "data:image/svg+xml," + quote(icon.strip(), safe=" =:/'"),
    }
    for placeholder_name, replacement_text in replacements.items():
        template = template.replace("{{" + placeholder_name + "}}", replacement_text)
    return template.replace("{{policy}}", policy_within(template.encode(), module_digests.values()))


@dataclass(frozen=True)
class Served:
    """A survey and all its documents."""

    published: Published
    open: bool
    issuer: Issuer | None = None
    """Who makes tokens of invitations; None where anybody with the link can answer."""

    @cached_property
    def reader(self) -> Reader:
        """The reader of bodies that are sent to the survey."""
        return Reader(self.published)

    @cached_property
    def page(self) -> Document:
        """The respondent's page: ``survey.html`` of the client, filled in (see `fill_template`)."""
        client = self.published.client
        return _page_document(client, client.files["survey.html"], survey=self.published.name)

    @cached_property
    def json(self) -> Document:
        """The survey as the page reads it."""
        # the page shows the hash of these bytes
        return Document(self.published.bytes, "application/json", {"cache-control": FRESH})


class Catalog:
    """The surveys by name, and the files of their clients by hash.

    Parameters
    ----------
    surveys : sequence of Published
        The surveys to begin with.
    store : Store, optional
        Where to look for other surveys, and for which ones are open.
    client : Client
        The client of this version of naysay, for pages that belong to no survey.
    """

    def __init__(self, surveys: Sequence[Published], *, store: Store | None, client: Client) -> None:
        self._store = store
        self._client = client
        self.surveys: Mapping[str, Served] = {}
        self.clients: Mapping[str, Mapping[str, Document]] = {}
        self._serve({published.name: Served(published, open=True) for published in surveys})
        if store is not None:
            self.refresh()

    def refresh(self) -> None:
        """Look up which surveys are in the database, and which of them are open."""
        if self._store is None:
            return
        served_by_name = {}
        for survey_name, (survey_hash, is_open) in self._store.standing().items():
            served_survey = self.surveys.get(survey_name)
            if (
                served_survey is None
                or served_survey.published.hash != survey_hash
                or (served_survey.published.key and not served_survey.issuer)
            ):
                survey_key = self._store.key(survey_name)
                served_survey = Served(
                    self._store.published(survey_name),
                    is_open,
                    None if survey_key is None else Issuer(survey_name, survey_key),
                )
            served_by_name[survey_name] = (
                served_survey if served_survey.open == is_open else replace(served_survey, open=is_open)
            )
        if served_by_name != self.surveys:
            self._serve(served_by_name)

    def _serve(self, surveys: Mapping[str, Served]) -> None:
        clients_by_hash = {
            served_survey.published.client.hash: served_survey.published.client for served_survey in surveys.values()
        }
        previews = [
            self._client.serving(invites=False, lots=lots, beside=beside)
            for lots, beside in product((False, True), repeat=2)
        ]
        clients_by_hash |= {own_client.hash: own_client for own_client in (self._client, *previews)}
        self.clients = {
            client_hash: self.clients.get(client_hash)
            or {  # what a page loads; pages themselves are made by `Served.page` and `threats`
                file_name: Document(file_content, TYPES[PurePosixPath(file_name).suffix], {"cache-control": FOREVER})
                for file_name, file_content in client.files.items()
                if not file_name.endswith(".html")
            }
            for client_hash, client in clients_by_hash.items()
        }
        self.surveys = surveys


_AGE = 30.0  # seconds for which a page is not made anew, however often it is asked for
_MOST = 100  # pages that are kept


class SharedResults:
    """The endpoints of shared results. A page is made at most twice a minute, so that its readers slow nobody down.

    Parameters
    ----------
    store : Store, optional
        A preview has none, and shares nothing.
    catalog : Catalog
        The surveys, for their languages.
    rates : Rates
        How many requests are answered within a minute, with a right link or a wrong one.
    clock : callable
        Seconds that only grow.
    """

    def __init__(
        self, store: Store | None, catalog: Catalog, rates: Rates, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._rates = rates
        self._clock = clock
        self._made: dict[tuple[str, str | None], tuple[float, str]] = {}
        self._making = threading.Lock()
        self._style = Document(results.style().encode(), "text/css", {"cache-control": FRESH})

    async def style(self, request: Request) -> Response:
        """The style sheet of pages of results."""
        return self._style.response(request)

    async def page(self, request: Request, secret: str, lang: str | None = None) -> Response:
        """Results that were shared: nothing about fewer than a floor of answers, and only in steps of as many."""
        if wait_seconds := self._rates.wait(request.client.host if request.client else ""):
            raise Refusal("busy", "too many requests come at once; load the page again later", retry_after=wait_seconds)
        return HTMLResponse(await run_in_threadpool(self._page, secret, lang))

    def _page(self, secret: str, lang: str | None) -> str:
        store = self._store
        survey_name = None if store is None else sharing.survey_of(store, secret)
        if store is None or survey_name is None:
            raise Refusal("unknown", "no results are shared under this link, or not any more")
        served_survey = self._catalog.surveys.get(survey_name)
        if served_survey is None or lang not in served_survey.published.questionnaire.languages:
            lang = None
        with self._making:  # each request has a thread of its own, and two would draw the same page
            page_time, page_text = self._made.get((secret, lang), (0.0, ""))
            if not page_text or self._clock() - page_time >= _AGE:
                page_text = sharing.shared_page(store, survey_name, language=lang)
                if len(self._made) >= _MOST:
                    self._made.clear()
                self._made[secret, lang] = (self._clock(), page_text)
        return page_text
