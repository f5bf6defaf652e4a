"""HTTP: fetch a survey and check its hash; send a message again until it is acknowledged or refused.

The one message that leaves a device, byte for byte as the respondent's page writes it.
"""

from __future__ import annotations

import asyncio
import datetime
import itertools
import json
import math
from asyncio import sleep
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from naysay.collect.client import Client
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.survey.published import Published, complaint
from naysay.collect.survey.submission import CLOSED
from naysay.errors import DataError, NaysayError

if TYPE_CHECKING:
    import httpx2


T = TypeVar("T")

_PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between tries, unless the server names a longer pause; the last value repeats."""

_LONGEST = 600  # seconds that a server may ask to wait
_PASSING = {408, 429}  # statuses of refusals after which trying again makes sense


class Undelivered(NaysayError):
    """A message was not acknowledged in time. It may be stored or not; the same bytes may be sent again."""


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
    """An HTTP client with this many connections. It follows no redirect and tells nothing about itself.

    Raises
    ------
    DataError
        Without the extra ``collect``.
    """
    try:
        import httpx2
    except ModuleNotFoundError as error:
        problem_text = f"this needs the extra collect ({error.name} is missing): pip install 'naysay[collect]'"
        raise DataError(problem_text) from None
    return httpx2.AsyncClient(
        headers={"user-agent": "naysay", "accept": "application/json"},
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        timeout=httpx2.Timeout(30.0, pool=None),
        follow_redirects=False,
        transport=transport,
    )


class _Wait(NamedTuple):
    """A try that was not acknowledged: the reason, and the seconds that the server asks to wait."""

    reason: str
    seconds: float = 0.0


class _Acknowledgment(NamedTuple):
    """An acknowledgment: the day under which the body is stored, and whether it had been stored before."""

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

    async def deliver(self, body: bytes) -> _Acknowledgment:
        """The day under which the body is stored, and whether it had been stored before; see `exchange`."""
        return await self.exchange(body, _acknowledgment)

    async def exchange(self, body: bytes, interpret: Callable[[int, dict[str, object]], T | None]) -> T:
        """What the server's response to a body is read as, once there is one.

        Parameters
        ----------
        body : bytes
        interpret : callable
            Of the status and the content; None where the server did not do what it was asked for.

        Raises
        ------
        Refused
            The server refuses the message for good.
        Undelivered
            The patience ends.
        """
        start_time, wait_reason = monotonic(), ""
        for attempt in itertools.count():
            # a loop: during the pause, a response to another device may have asked to wait longer
            while (seconds_left := self._closed_until - monotonic()) > 0:
                await sleep(seconds_left)
            result = await self._once(body, interpret)
            if not isinstance(result, _Wait):
                return result
            wait_reason = result.reason
            pause_seconds = max(_PAUSES[min(attempt, len(_PAUSES) - 1)], min(result.seconds, _LONGEST))
            if monotonic() - start_time + pause_seconds > self._patience:
                break
            if result.seconds:
                self._closed_until = max(self._closed_until, monotonic() + pause_seconds)
            await sleep(pause_seconds)
        raise Undelivered(f"the server did not acknowledge within {self._patience:g} seconds: {wait_reason}")

    async def _once(self, body: bytes, interpret: Callable[[int, dict[str, object]], T | None]) -> T | _Wait:
        import httpx2

        self.tries += 1
        try:
            response = await self._client.post(self._url, content=body, headers={"content-type": "application/json"})
        except httpx2.TransportError as error:
            return _Wait(f"it cannot be reached ({type(error).__name__})")
        content = _content(response)
        response_status = response.status_code
        if response_status in (200, 201) and (result := interpret(response_status, content)) is not None:
            return result
        refusal = content.get("error")
        refusal_code, refusal_message = (
            (refusal.get("code"), refusal.get("message")) if isinstance(refusal, dict) else (None, None)
        )
        retry_after = response.headers.get("retry-after", "")
        wait_seconds = float(retry_after) if retry_after.isdecimal() else 0.0
        if response.is_success or response_status >= 500 or response_status in _PASSING:
            return _Wait(str(refusal_message or f"it answered with status {response_status}"), wait_seconds)
        raise Refused(str(refusal_code or response_status), str(refusal_message or ""))


def _acknowledgment(status: int, content: Mapping[str, object]) -> _Acknowledgment | None:
    if content.get("stored") is False:
        raise Refused("preview", "this server shows the survey and stores nothing")
    return (
        _Acknowledgment(datetime.date.fromisoformat(str(content["day"])), status == 200)
        if content.get("stored")
        else None
    )


def _content(response: httpx2.Response) -> dict[str, Any]:
    try:
        content = json.loads(response.content)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


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
        return f"<Survey: {self.published.name}, {len(self.questionnaire.asked)} questions>"

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
        The hash that the survey must have, from a receipt or the researcher.
    transport : httpx2.AsyncBaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        There is no survey at the link, or its hash is another one, or it must not be trusted (`complaint`).

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.app import create_app
    >>> from naysay.collect.serving import background
    >>> from naysay.collect.questionnaire import sample
    >>> app = create_app([sample()], client=Client({"survey.html": b"<!doctype html>"}))
    >>> with background(app) as server:
    ...     fetch(f"{server}/s/sample")
    <Survey: sample, 21 questions>
    """
    url_parts = urlsplit(url.strip())
    if url_parts.scheme not in ("http", "https") or not url_parts.netloc:
        raise DataError(f"a survey's link begins with http:// or https://; got {url!r}")
    survey_link = f"{url_parts.scheme}://{url_parts.netloc}{url_parts.path.removesuffix('/survey.json').rstrip('/')}"
    survey_bytes = waited(_survey_bytes(survey_link, transport))
    published = Published.read(survey_bytes, client=Client({}))
    if hash is not None and published.hash != hash.strip().lower():
        raise DataError(
            f"the survey at {survey_link} must have the hash {hash}; it has {published.hash}: it is another one"
        )
    try:
        complaint_text = complaint(json.loads(survey_bytes))
    except ValueError:
        complaint_text = "it is not JSON"
    if complaint_text is not None:
        raise DataError(f"the survey at {survey_link}/survey.json must not be answered: {complaint_text}")
    return Survey(survey_link, published)


async def _survey_bytes(link: str, transport: httpx2.AsyncBaseTransport | None) -> bytes:
    async with client(1, transport=transport) as connection:
        import httpx2

        try:
            response = await connection.get(f"{link}/survey.json")
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            problem_text = f"the server of {link} cannot be reached"
            raise DataError(f"{problem_text} ({type(error).__name__}): is it running?") from None
    if response.status_code == 410:
        raise Refused("closed", CLOSED)
    if response.status_code != 200:
        raise DataError(f"there is no survey at {link} (the server says {response.status_code}); look at the link")
    return bytes(response.content)


def waited(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine. It also works where this thread runs an event loop already, as in a notebook.

    An interrupt cancels the work, and is raised once the work has ended.

    Examples
    --------
    >>> waited(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    event_loop = asyncio.new_event_loop()
    task = event_loop.create_task(work)
    with ThreadPoolExecutor(1) as thread_pool:
        try:
            return thread_pool.submit(event_loop.run_until_complete, task).result()
        except BaseException:
            event_loop.call_soon_threadsafe(task.cancel)
            raise
        finally:
            thread_pool.submit(event_loop.close)


_END = '"}'


def message(survey: Published, id: str, answers: Mapping[str, object], *, token: str | None = None) -> bytes:
    """The body that sends these answers: compact JSON, filled up with spaces to the length that every body has.

    Parameters
    ----------
    survey : Published
    id : str
        32 hexadecimal digits, drawn once.
    answers : {question: answer}
        Every question in order, private ones as level and response.
    token : str, optional
        Of an invitation, in a survey that invites.

    Raises
    ------
    DataError
        Answers that are longer than any that the survey allows.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.questionnaire import Questionnaire, Rating
    >>> one = Rating(name="pain", label={"en": "How bad?"})
    >>> asked = Questionnaire(name="pain", title={"en": "Pain"}, languages=("en",), items=(one,))
    >>> survey = Published.of(asked, client=Client({"survey.html": b"<!doctype html>"}))
    >>> body = message(survey, "0" * 32, {"pain": 4})
    >>> len(body), b'"answers":{"pain":4},"padding":"   ' in body
    (1024, True)
    """
    answers_text = ",".join(
        f"{json_text(question_name)}:{json_text(answer)}" for question_name, answer in answers.items()
    )
    token_text = "" if token is None else f'"token":"{token}",'
    message_start = (
        f'{{"naysay":"answers","version":1,"survey":"{survey.hash}","id":"{id}",'
        f'{token_text}"answers":{{{answers_text}}},"padding":"'
    )
    missing_length = survey.body_length - len(message_start.encode()) - len(_END)
    if missing_length < 0:
        raise DataError(f"the answers are longer than the {survey.body_length:,} bytes that this survey allows")
    return (message_start + " " * missing_length + _END).encode()


def json_text(value: object) -> str:
    """A name or an answer as ``JSON.stringify`` of JavaScript writes it, numbers included.

    Examples
    --------
    >>> [json_text(value) for value in (1.0, 0.00001, 1e21, -0.0, ["é"])]
    ['1', '0.00001', '1e+21', '0', '["é"]']
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    exact = Decimal(repr(value)).normalize()  # the shortest decimal that reads back as this number
    if not exact:  # JSON.stringify writes -0 as 0
        return "0"
    return f"{exact:f}" if -7 < exact.adjusted() < 21 else f"{exact:e}"  # the bounds of Number::toString
