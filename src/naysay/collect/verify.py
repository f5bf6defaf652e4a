"""Whether a server serves the page that was published: everything that it sends, compared with this version's files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from naysay.collect.client import FOLDER, Client
from naysay.collect.server.documents import Catalog, Document, home, threats
from naysay.collect.server.guard import ASSETS, DATA, SECURITY
from naysay.collect.survey.published import Published, complaint
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import httpx2


_TRANSPORT = {
    "accept-ranges", "age", "alt-svc", "connection", "content-encoding", "content-length", "date", "etag", "keep-alive",
    "naysay-key", "server", "strict-transport-security", "transfer-encoding", "vary", "via",
}  # fmt: skip
"""Headers on which a page does not depend, as a server or a proxy sets them; any other one must be ours."""

_FEWEST_DIGITS = 16
"""Of a hash: those that respondents and letters compare."""

_ENCODINGS = {"", "identity", "gzip", "deflate", "br", "zstd"}
"""As what a body may be packed; what it was packed from is compared."""

_BROWSER = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "accept-language": "en-US,en;q=0.5",
}
_MOST = 8_000_000
"""Bytes of a document, unpacked: no survey and no file of the client is nearly as long."""

_ACCEPTED = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_PAGE, _DATA, _SCRIPT = (
    {"accept": accept, "sec-fetch-dest": dest, "sec-fetch-mode": mode, "sec-fetch-site": site, **extra_headers}
    for accept, dest, mode, site, extra_headers in (
        (_ACCEPTED, "document", "navigate", "none", {"sec-fetch-user": "?1", "upgrade-insecure-requests": "1"}),
        ("*/*", "empty", "cors", "same-origin", {}),
        ("*/*", "script", "cors", "same-origin", {}),
    )
)
"""What Firefox asks with, so that a server cannot tell this command from a visitor by a header."""


@dataclass(frozen=True)
class Verdict:
    """What a server was found to serve.

    Parameters
    ----------
    hash : str
        SHA-256 of ``survey.json``, which must be the hash that somebody else holds.
    compared : tuple of str
        The addresses that were compared, all headers included.
    differences : tuple of str
        A sentence for each difference; none if the server serves what was published.
    published : Published
        The survey that came, with the files that it should have.
    """

    hash: str
    compared: tuple[str, ...]
    differences: tuple[str, ...]
    published: Published


class _Response(NamedTuple):
    """What came, unpacked."""

    status_code: int
    headers: httpx2.Headers
    content: bytes


def verify(
    url: str, *, hash: str | None = None, client: Client | None = None, transport: httpx2.BaseTransport | None = None
) -> Verdict:
    """A comparison of what a link serves with the files of this version of naysay, byte for byte.

    The page is filled anew from the published files, for the survey that came. It is compared with what came, as are
    the client's files, the pages on threats and the headers of each on which a page depends. The server is asked as a
    browser asks it, for nothing but what it gives to every visitor; whether it gives the same to everybody, no single
    visitor can see.

    Parameters
    ----------
    url : str
        The link that respondents are sent, whole: a server may answer another address otherwise.
    hash : str, optional
        The hash that the survey must have, from somebody who does not run the server; its first 16 digits are enough.
    client : Client, optional
        The files that were published; by default those of this version.
    transport : httpx2.BaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        There is no survey at the link, or the server cannot be reached.

    Examples
    --------
    >>> from naysay.collect.app import create_app
    >>> from naysay.collect.serving import background
    >>> from naysay.collect.questionnaire import sample
    >>> with background(create_app([sample()])) as server:
    ...     found = verify(f"{server}/s/sample", hash="0" * 64)
    >>> len(found.compared) > 15, found.differences
    (True, ('survey.json: the hash is ..., and should be 0000...',))
    """
    import httpx2

    url_parts = urlsplit(url.strip())
    if url_parts.scheme not in ("http", "https") or not url_parts.netloc:
        raise DataError(f"a survey's link begins with http:// or https://; got {url!r}")
    origin, survey_path = f"{url_parts.scheme}://{url_parts.netloc}", url_parts.path.rstrip("/")
    page_address = (url_parts.path or "/") + (f"?{url_parts.query}" if url_parts.query else "")
    with httpx2.Client(headers=_BROWSER, transport=transport, timeout=30.0) as connection:

        def response(address: str, request_headers: Mapping[str, str]) -> _Response:
            try:
                with connection.stream("GET", origin + address, headers=dict(request_headers)) as http_response:
                    content_bytes = bytearray()
                    for content_part in http_response.iter_bytes():
                        content_bytes += content_part
                        if len(content_bytes) > _MOST:
                            raise DataError(
                                f"{origin}{address} has more than {_MOST:,} bytes; nothing of ours is so long"
                            )
                    return _Response(http_response.status_code, http_response.headers, bytes(content_bytes))
            except (httpx2.TransportError, httpx2.InvalidURL) as error:
                raise DataError(f"the server of {origin} cannot be reached ({type(error).__name__})") from None
            except httpx2.DecodingError:
                raise DataError(f"{origin}{address} cannot be read: what the server sends is damaged") from None

        survey_response = response(f"{survey_path}/survey.json", _DATA)
        if survey_response.status_code != 200:
            raise DataError(f"there is no open survey at {url} (the server says {survey_response.status_code})")
        client_files = client or Client.of(FOLDER)
        published = _survey_of(survey_response.content, client_files)
        expected_documents = dict(_expected_documents(published, page_address, survey_path, client_files))
        differences = list(_survey_differences(published, hash))
        for address, (expected_document, kind_headers) in expected_documents.items():
            browser_headers = _SCRIPT if kind_headers is ASSETS else _PAGE
            served_response = (
                survey_response if address == f"{survey_path}/survey.json" else response(address, browser_headers)
            )
            differences += (
                f"{address}: {difference_text}"
                for difference_text in _differences(expected_document, kind_headers, served_response)
            )
        return Verdict(published.hash, tuple(expected_documents), tuple(differences), published)


def _survey_of(content: bytes, client: Client) -> Published:
    """The survey that came, with the files that it should have."""
    try:
        survey = Published.read(content, client=client)
        stated_files = survey.form["client"]
        if not all(isinstance(file_entry, str) for file_entry in (*stated_files, *stated_files.values())):
            raise TypeError
        survey_client = client.of_survey(survey.questionnaire, invites=survey.key is not None)
        problem_text = complaint(survey.form)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise DataError("what stands at survey.json is no survey") from None
    if problem_text is not None:
        raise DataError(f"the survey must not be answered: {problem_text}")
    return Published.read(content, client=survey_client)


def _survey_differences(published: Published, hash: str | None) -> Iterator[str]:
    wanted_hash = published.hash if hash is None else "".join(hash.split()).lower()
    if len(wanted_hash) < _FEWEST_DIGITS or not published.hash.startswith(wanted_hash):
        yield f"survey.json: the hash is {published.hash}, and should be {wanted_hash}"
    stated_files, shipped_files = published.form["client"], published.client.integrity
    if changed_names := sorted(
        file_name
        for file_name in {*stated_files, *shipped_files}
        if stated_files.get(file_name) != shipped_files.get(file_name)
    ):
        file_names = ", ".join(changed_names[:5]) + (
            f" and {len(changed_names) - 5} more" if len(changed_names) > 5 else ""
        )
        difference_text = f"survey.json: it names other files than this version of naysay has ({file_names})"
        yield f"{difference_text}; if it was opened with another version, compare with that one"


def _expected_documents(
    published: Published, page: str, path: str, files: Client
) -> Iterator[tuple[str, tuple[Document, Mapping[str, str]]]]:
    """Each address with the document that should be there, and the headers of its kind."""
    catalog = Catalog([published], store=None, client=published.client)
    served_survey = catalog.surveys[published.name]
    yield page, (served_survey.page, SECURITY)
    yield f"{path}/survey.json", (served_survey.json, DATA)
    client_folder = published.client.hash
    for file_name, document in catalog.clients[client_folder].items():
        yield f"/client/{client_folder}/{file_name}", (document, ASSETS)
    for language, document in threats(files).items():
        yield f"/threats?lang={language}", (document, SECURITY)
    yield "/threats", (threats(files)["en"], SECURITY)  # in the language that this command asks for
    yield "/", (home(files), SECURITY)


def _differences(document: Document, headers: Mapping[str, str], response: _Response) -> Iterator[str]:
    if response.status_code != 200:
        yield f"the server says {response.status_code}"
        return
    if response.content != document.content:
        byte_pairs = zip(response.content, document.content, strict=False)
        difference_place = next(
            (
                byte_place
                for byte_place, (served_byte, expected_byte) in enumerate(byte_pairs)
                if served_byte != expected_byte
            ),
            None,
        )
        byte_place = min(len(response.content), len(document.content)) if difference_place is None else difference_place
        content_digest = hashlib.sha256(response.content).hexdigest()[:16]
        yield (
            f"it differs from byte {byte_place} on: {response.content[byte_place : byte_place + 60]!r} "
            f"({len(response.content)} bytes, {content_digest}…)"
        )
    if (encoding := response.headers.get("content-encoding", "").lower()) not in _ENCODINGS:
        yield f"it is packed as {encoding!r}, which browsers may read otherwise"
    if (tag := response.headers.get("etag")) is not None and _bare_tag(tag) != _bare_tag(document.etag):
        yield f"the header etag is {tag!r}, and should be {document.etag!r}: a tag for each visitor marks them"
    expected_headers = {**headers, **document.headers, "content-type": document.type}
    for header_name in sorted(expected_headers.keys() | response.headers.keys()):
        if header_name not in _TRANSPORT and expected_headers.get(header_name) != (
            header_text := ", ".join(response.headers.get_list(header_name)) or None
        ):
            yield f"the header {header_name} is {header_text!r}, and should be {expected_headers.get(header_name)!r}"


def _bare_tag(tag: str) -> str:
    """A tag of content without what a proxy adds that packs the body."""
    return tag.removeprefix("W/").strip('"').partition("-")[0]
