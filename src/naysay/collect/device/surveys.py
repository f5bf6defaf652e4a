"""The survey that a device answers, fetched and held against its hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from naysay.collect.client import Client
from naysay.collect.device import post
from naysay.collect.device.waiting import waited
from naysay.collect.refusals import CLOSED
from naysay.collect.survey.published import Published, complaint
from naysay.errors import DataError
from naysay.questionnaire import Questionnaire

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import httpx2

__all__ = ["Survey", "fetch"]


@dataclass(frozen=True)
class Survey:
    """A survey as it was fetched: what is asked, and where answers go.

    Parameters
    ----------
    url : str
        The link that respondents are sent.
    published : Published
        The bytes that the server published, and their hash.
    """

    url: str
    published: Published

    def __repr__(self) -> str:
        return f"<Survey: {self.published.name}, {len(self.questionnaire.questions)} questions>"

    @property
    def questionnaire(self) -> Questionnaire:
        """What is asked."""
        return self.published.questionnaire

    @property
    def hash(self) -> str:
        """SHA-256 of the survey's bytes, in hexadecimal, computed here."""
        return self.published.hash


def fetch(url: str, *, hash: str | None = None, transport: httpx2.AsyncBaseTransport | None = None) -> Survey:
    """The survey behind a link, its hash computed from the bytes that came.

    Parameters
    ----------
    url : str
        The link that respondents are sent, such as ``https://example.org/s/sample``.
    hash : str, optional
        The hash that the survey must have, as a receipt or the researcher tells it.
    transport : httpx2.AsyncBaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        No survey there, another than the hash says, or one that must not be trusted (`complaint`).

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.app import create_app
    >>> from naysay.collect.serving import background
    >>> from naysay.questionnaire import sample
    >>> app = create_app([sample()], client=Client({"survey.html": b"<!doctype html>"}))
    >>> with background(app) as server:
    ...     fetch(f"{server}/s/sample")
    <Survey: sample, 21 questions>
    """
    link = _link(url)
    content = waited(_fetched(link, transport))
    published = Published.read(content, client=Client({}))
    if hash is not None and published.hash != hash.strip().lower():
        raise DataError(f"the survey at {link} must have the hash {hash}; it has {published.hash}: it is another one")
    try:
        wrong = complaint(json.loads(content))
    except ValueError:
        wrong = "it is no JSON"
    if wrong is not None:
        raise DataError(f"the survey at {link}/survey.json must not be answered: {wrong}")
    return Survey(link, published)


def _link(url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise DataError(f"a survey's link begins with http:// or https://; got {url!r}")
    path = parts.path.removesuffix("/survey.json").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


async def _fetched(link: str, transport: httpx2.AsyncBaseTransport | None) -> bytes:
    async with post.client(1, transport=transport) as client:
        import httpx2

        try:
            response = await client.get(f"{link}/survey.json")
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise DataError(
                f"the server of {link} cannot be reached ({type(error).__name__}): is it running?"
            ) from None
    if response.status_code == 410:
        raise post.Refused("closed", CLOSED)
    if response.status_code != 200:
        raise DataError(f"there is no survey at {link} (the server says {response.status_code}); look at the link")
    return bytes(response.content)
