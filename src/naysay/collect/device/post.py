"""Sending: the survey in, one message out, tried again until it is acknowledged or refused."""

from __future__ import annotations

import datetime
import itertools
import json
from asyncio import sleep
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from naysay.errors import DataError, NaysayError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import httpx2

__all__ = ["Post", "Refused", "Undelivered", "client"]

_PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between tries, the last again and again, unless the server names a longer pause."""

_LONGEST = 600  # seconds that a server may ask to wait
_PASSING = {408, 429}  # refusals that pass


class Undelivered(NaysayError):
    """A message that was not acknowledged in time; it may be stored or not, and the same bytes may be sent again."""


class Refused(DataError):
    """A message that the server will not take.

    Parameters
    ----------
    code : str
        The server's name for the reason, such as ``closed``, or the HTTP status.
    message : str
        Its sentence.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"the server refused the answers ({code}): {message or 'it gave no reason'}")
        self.code = code


def client(connections: int, *, transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """An HTTP client with this many connections, which follows no redirect and tells nothing about itself.

    Raises
    ------
    DataError
        Without the extra ``collect``.
    """
    try:
        import httpx2
    except ModuleNotFoundError as error:
        raise DataError(
            f"this needs the extra collect ({error.name} is missing): pip install 'naysay[collect]'"
        ) from None
    return httpx2.AsyncClient(
        headers={"user-agent": "naysay", "accept": "application/json"},
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        timeout=httpx2.Timeout(30.0, pool=None),
        follow_redirects=False,
        transport=transport,
    )


@dataclass(frozen=True)
class _Wait:
    """A try that was not acknowledged, why, and the seconds that the server asks for."""

    reason: str
    seconds: float = 0.0


class _Stored(NamedTuple):
    """An acknowledgment: under which day, and whether the body had been stored before."""

    day: datetime.date
    again: bool


class Post:
    """Delivers messages to one address, from many devices at once.

    Parameters
    ----------
    client : httpx2.AsyncClient
    url : str
        Where to post.
    patience : float
        Seconds after which a message that is not acknowledged is given up.

    Examples
    --------
    >>> Post(client(1), "http://127.0.0.1:8000/s/sample/answers").tries
    0
    """

    def __init__(self, client: httpx2.AsyncClient, url: str, *, patience: float = 600.0) -> None:
        self._client = client
        self._url = url
        self._patience = patience
        self._closed_until = 0.0  # when the server says to wait, all devices wait
        self.tries = 0

    async def deliver(self, body: bytes) -> _Stored:
        """The day under which the body is stored, and whether it had been stored before.

        Raises
        ------
        Refused
            By the server, for good.
        Undelivered
            When the patience ends.
        """
        began, reason = monotonic(), ""
        for attempt in itertools.count():
            await self._turn()
            result = await self._once(body)
            if isinstance(result, _Stored):
                return result
            reason = result.reason
            pause = max(_PAUSES[min(attempt, len(_PAUSES) - 1)], min(result.seconds, _LONGEST))
            if monotonic() - began + pause > self._patience:
                break
            if result.seconds:
                self._closed_until = max(self._closed_until, monotonic() + pause)
            await sleep(pause)
        raise Undelivered(f"the server did not acknowledge within {self._patience:g} seconds: {reason}")

    async def _turn(self) -> None:
        while (left := self._closed_until - monotonic()) > 0:
            await sleep(left)

    async def _once(self, body: bytes) -> _Stored | _Wait:
        import httpx2

        self.tries += 1
        try:
            response = await self._client.post(self._url, content=body, headers={"content-type": "application/json"})
        except httpx2.TransportError as error:
            return _Wait(f"it cannot be reached ({type(error).__name__})")
        content = _content(response)
        status = response.status_code
        if status in (200, 201) and content.get("stored") is True:
            return _Stored(datetime.date.fromisoformat(str(content.get("day"))), status == 200)
        if status in (200, 201) and content.get("stored") is False:
            raise Refused("preview", "this server shows the survey and stores nothing")
        told = content.get("error")
        code, message = (told.get("code"), told.get("message")) if isinstance(told, dict) else (None, None)
        if response.is_success or status >= 500 or status in _PASSING:
            return _Wait(str(message or f"it answered with status {status}"), _seconds(response))
        raise Refused(str(code or status), str(message or ""))


def _content(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = json.loads(response.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(response: httpx2.Response) -> float:
    """What the server asks to wait; 0 where it names no number of seconds."""
    asked = response.headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else 0.0
