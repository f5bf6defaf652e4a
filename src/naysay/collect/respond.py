"""Scripted respondents: people, devices and sensors who answer a survey over HTTP, under the rules of the page.

True private answers stay in this process. An answer is drawn once, by the operating system's randomness and exactly as
the survey publishes it. The draw is kept until the server acknowledges it, so that a retry sends the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from naysay.collect.device.memory import Draft, Memory, check_invitations, marks
from naysay.collect.device.people import People, anybody, checked, draw_replies
from naysay.collect.device.post import Post, Refused, Survey, Undelivered, client, fetch, message, waited
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import httpx2

__all__ = [
    "People",
    "Receipt",
    "Refused",
    "Sent",
    "Survey",
    "Undelivered",
    "anybody",
    "checked",
    "fetch",
    "many",
    "one",
]


@dataclass(frozen=True)
class Receipt:
    """What one respondent keeps.

    Parameters
    ----------
    survey : str
        The hash of the survey.
    day : date
        When the answers were stored.
    body : bytes or None
        What was sent; None if it was acknowledged earlier, and is no longer kept.

    Examples
    --------
    >>> Receipt("88c2", datetime.date(2026, 11, 20), None).day.isoformat()
    '2026-11-20'
    """

    survey: str
    day: datetime.date
    body: bytes | None


def one(
    survey: Survey,
    answers: Mapping[str, object],
    *,
    levels: Mapping[str, str] | None = None,
    state: Path | None = None,
    invitation: str | None = None,
    patience: float = 600.0,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Receipt:
    """One respondent, or one device, answers; returns when the server has acknowledged.

    Parameters
    ----------
    survey : Survey
    answers : {question: answer}
        True answers, by the rules of `checked`. True private answers do not leave this process, and are not kept.
    levels : {question: level}, optional
        The chosen levels of privacy; by default the most private that a device draws.
    state : Path, optional
        The file in which this respondent's draw is kept. With it, a restart sends what was drawn before, even if the
        answers have changed, so that nobody answers twice.
    invitation : str, optional
        The link or the code of the invitation, where the survey invites.
    patience : float
        Seconds until the message is given up; with `state`, another call goes on.
    transport : httpx2.AsyncBaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        Answers that do not fit the questionnaire.
    Refused, Undelivered
        The message is refused, or not acknowledged in time.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.collect import Client
    >>> from naysay.collect.app import create_app
    >>> from naysay.collect.serving import background
    >>> from naysay.collect.storage import Store
    >>> from naysay.collect.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/answers.db")
    ...     app = create_app([sample()], store, client=Client({"survey.html": b"<!doctype html>"}))
    ...     with background(app) as server:
    ...         survey = fetch(f"{server}/s/sample")
    ...         receipt = one(survey, {"age": 30, "smoking": "yes"})
    ...     store.dispose()
    >>> receipt.survey == survey.hash, len(receipt.body) == survey.published.body_length
    (True, True)
    """
    questionnaire = survey.questionnaire
    answer_columns = {column_name: [cell] for column_name, cell in answers.items()} or {
        questionnaire.asked[0].name: [None]
    }
    people = checked(questionnaire, answer_columns, levels=levels)
    check_invitations(survey.published, None if invitation is None else 1, 1)
    with contextlib.closing(opened(state, survey)) as memory:
        stored_days = memory.days([0])
        if stored_days:
            return Receipt(survey.hash, stored_days[0], None)
        invitation_codes = (
            {} if invitation is None or memory.bodies([0]) else {0: invitation.strip().rpartition("#")[2]}
        )
        device_tokens = waited(_fetch_tokens(survey, memory, invitation_codes, patience, transport))
        messages, _ = prepared(survey, people, memory, range(1), device_tokens)
        reply_day = waited(_deliver(survey, messages[0], patience, transport))
        memory.acknowledge({0: reply_day})
        return Receipt(survey.hash, reply_day, messages[0])


async def _fetch_tokens(
    survey: Survey,
    memory: Memory,
    codes: Mapping[int, str],
    patience: float,
    transport: httpx2.AsyncBaseTransport | None,
) -> dict[int, str]:
    async with client(1, transport=transport) as connection:
        return await tokens(survey, memory, codes, Post(connection, f"{survey.url}/token", patience=patience))


async def _deliver(
    survey: Survey, body: bytes, patience: float, transport: httpx2.AsyncBaseTransport | None
) -> datetime.date:
    async with client(1, transport=transport) as connection:
        day, _ = await Post(connection, f"{survey.url}/answers", patience=patience).deliver(body)
    return day


_BATCH = 100  # people whose answers are drawn and kept together


@dataclass
class Sent:
    """How many respondents' answers are stored, while they are sent and afterwards.

    Parameters
    ----------
    people : int
        All respondents.
    before : int
        How many of these were acknowledged in an earlier run.
    acknowledged : int
        How many were acknowledged in this run.
    repeated : int
        How many of those acknowledged in this run were stored before it: their first acknowledgment was lost.
    unasked : int
        Answers to questions that the survey did not ask these respondents.

    Examples
    --------
    >>> Sent(20).acknowledged
    0
    """

    people: int
    before: int = 0
    acknowledged: int = 0
    repeated: int = 0
    unasked: int = 0

    @property
    def stored(self) -> int:
        """How many are known to be stored."""
        return self.before + self.acknowledged


def opened(state: Path | None, survey: Survey) -> Memory:
    """The memory of a survey, which recognizes its private questions."""
    memory = Memory(state, survey=survey.published.name)
    try:
        memory.admit(survey.hash, marks(survey.questionnaire))
    except DataError:
        memory.close()
        raise
    return memory


def prepared(
    survey: Survey, people: People, memory: Memory, rows: range, tokens: Mapping[int, str] | None = None
) -> tuple[dict[int, bytes], Sent]:
    """The messages of these people by their places, all kept in the memory. What was drawn before is not drawn again.

    The counts say how many of these people are acknowledged already, and how many of their answers were not asked for.
    """
    rows = rows[: max(0, people.size - rows.start)]
    stored_days = memory.days(rows)
    waiting_bodies = {row: _under(survey, kept_body) for row, kept_body in memory.bodies(rows).items()}
    fresh_rows = [row for row in rows if row not in stored_days and row not in waiting_bodies]
    drawn_replies = draw_replies(survey.questionnaire, people.take(fresh_rows))
    for row, row_answers in zip(fresh_rows, drawn_replies.answers, strict=True):
        waiting_bodies[row] = message(
            survey.published, secrets.token_hex(16), row_answers, token=(tokens or {}).get(row)
        )
    memory.keep(waiting_bodies)  # kept before any is sent: a crash in between must not lead to a second draw
    return dict(sorted(waiting_bodies.items())), Sent(len(rows), before=len(stored_days), unasked=drawn_replies.unasked)


def _under(survey: Survey, body: bytes) -> bytes:
    """The draw in `body`, in a message under the survey's present hash."""
    kept_message = json.loads(body)
    if kept_message["survey"] == survey.hash:
        return body
    question_names = [question.name for question in survey.questionnaire.questions]
    if list(kept_message["answers"]) != question_names:
        problem_text = f"the survey {survey.published.name!r} asks other questions now than when its answers were drawn"
        raise DataError(f"{problem_text}; serve it as it was, or keep new draws in another file")
    return message(survey.published, kept_message["id"], kept_message["answers"], token=kept_message.get("token"))


async def tokens(survey: Survey, memory: Memory, codes: Mapping[int, str], mail: Post) -> dict[int, str]:
    """The tokens of these people's invitations. What is drawn for them is kept, so that they can be asked for again."""

    async def token_of(draft: Draft) -> str:
        request_body = draft.asking(survey.published)
        return draft.token(survey.published, await mail.exchange(request_body, lambda _, content: content or None))

    drafts = memory.drafts(codes)
    return dict(zip(drafts, await asyncio.gather(*map(token_of, drafts.values())), strict=True))


def _check_fit(survey: Survey, people: People, memory: Memory) -> None:
    """Raise if answers do not fit the questionnaire, before any is sent. It draws once, and throws that draw away."""
    questionnaire = survey.questionnaire
    has_no_rules = not any(
        question.required or question.constraint or question.relevant for question in questionnaire.questions
    )
    for batch_start in range(0, 0 if has_no_rules else people.size, _BATCH):
        batch_rows = range(batch_start, min(batch_start + _BATCH, people.size))
        drawn_rows = memory.days(batch_rows).keys() | memory.bodies(batch_rows).keys()
        draw_replies(questionnaire, people.take([row for row in batch_rows if row not in drawn_rows]))


def many(
    survey: Survey,
    people: People,
    *,
    concurrency: int = 50,
    state: Path | None = None,
    invitations: Sequence[str] | None = None,
    patience: float = 600.0,
    on_acknowledged: Callable[[Sent], None] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Sent:
    """These people answer, many at once; returns when the server has acknowledged all of them.

    Parameters
    ----------
    survey : Survey
    people : People
        From `checked` or `anybody`. True answers do not leave this process, and are not kept.
    concurrency : int
        The most messages that are underway at once.
    state : Path, optional
        The file in which draws are kept until they are acknowledged. With it, a second run sends only what is missing,
        as it was drawn. People are known by their place, even if their answers have changed.
    invitations : sequence of str, optional
        Their links or codes, one for each, where the survey invites.
    patience : float
        Seconds for which one message is tried.
    on_acknowledged : callable, optional
        Called with the counts after each acknowledgment.
    transport : httpx2.AsyncBaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        Answers that do not fit the questionnaire. It is raised before any answer is sent, unless the fit depends on a
        draw.
    Refused, Undelivered
        The first message that is not taken. Messages underway are given up; acknowledged ones stay acknowledged.
    """
    if concurrency < 1:
        raise DataError(f"concurrency must be 1 or more; got {concurrency}")
    check_invitations(survey.published, None if invitations is None else len(invitations), people.size)
    invitation_codes = [link.strip().rpartition("#")[2] for link in invitations or ()]
    with contextlib.closing(opened(state, survey)) as memory:
        _check_fit(survey, people, memory)
        crowd = _Crowd(survey, people, memory, invitation_codes, on_acknowledged or (lambda _: None))
        return waited(crowd.send_all(concurrency, patience, transport))


@dataclass
class _Crowd:
    """The people of one run: a queue of messages, and the tasks that send them."""

    survey: Survey
    people: People
    memory: Memory
    codes: Sequence[str]
    on_acknowledged: Callable[[Sent], None]

    def __post_init__(self) -> None:
        self._line: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(_BATCH)
        self._stored: dict[int, datetime.date] = {}
        self._counts = Sent(self.people.size)

    async def send_all(self, concurrency: int, patience: float, transport: httpx2.AsyncBaseTransport | None) -> Sent:
        """Draw, keep and send, until all are acknowledged."""
        async with client(concurrency, transport=transport) as connection:
            answer_post = Post(connection, f"{self.survey.url}/answers", patience=patience)
            token_post = Post(connection, f"{self.survey.url}/token", patience=patience)
            try:
                async with asyncio.TaskGroup() as task_group:
                    worker_tasks = [
                        task_group.create_task(self._work(answer_post))
                        for _ in range(min(concurrency, self.people.size))
                    ]
                    await self._queue(token_post)
                    for _ in worker_tasks:
                        await self._line.put(None)
            except* (DataError, Undelivered) as failure_group:
                raise failure_group.exceptions[0] from None  # the other errors belong to messages that were given up
            finally:
                self._settle()
        return self._counts

    async def _queue(self, desk: Post) -> None:
        for batch_start in range(0, self.people.size, _BATCH):
            batch_rows = range(batch_start, min(batch_start + _BATCH, self.people.size))
            drawn_rows = self.memory.days(batch_rows).keys() | self.memory.bodies(batch_rows).keys()
            row_codes = {row: self.codes[row] for row in batch_rows if self.codes and row not in drawn_rows}
            row_tokens = await tokens(self.survey, self.memory, row_codes, desk)
            row_messages, batch_counts = prepared(self.survey, self.people, self.memory, batch_rows, row_tokens)
            self._counts.before += batch_counts.before
            self._counts.unasked += batch_counts.unasked
            for row_and_body in row_messages.items():
                await self._line.put(row_and_body)
            self._settle()

    async def _work(self, mail: Post) -> None:
        while (row_and_body := await self._line.get()) is not None:
            row, body = row_and_body
            self._stored[row], was_repeated = await mail.deliver(body)
            self._counts.acknowledged += 1
            self._counts.repeated += was_repeated
            self.on_acknowledged(self._counts)

    def _settle(self) -> None:
        """Write down what is acknowledged. A message that is not written down is sent again, and found to be stored."""
        stored_days, self._stored = self._stored, {}
        self.memory.acknowledge(stored_days)
