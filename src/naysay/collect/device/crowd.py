"""Many respondents at once. The answers of each are drawn once, kept, sent and acknowledged."""

from __future__ import annotations

import asyncio
import datetime
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from naysay.collect.device import post
from naysay.collect.device.answers import drawn
from naysay.collect.device.marks import marks
from naysay.collect.device.memory import Memory
from naysay.collect.device.messages import message
from naysay.collect.device.people import People
from naysay.collect.device.surveys import Survey
from naysay.collect.device.waiting import waited
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    import httpx2

__all__ = ["Sent", "many", "opened", "prepared"]

_BATCH = 100  # people whose answers are drawn and kept together


@dataclass
class Sent:
    """How many of the answers of many respondents are stored, while they are sent and after.

    Parameters
    ----------
    people : int
        All respondents.
    before : int
        Of these, acknowledged in an earlier run.
    acknowledged : int
        Acknowledged in this run.
    repeated : int
        Of these, stored before this run: the acknowledgment had been lost.
    unasked : int
        Answers that respondents had and that the survey did not ask for.

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
        """All that are known to be stored."""
        return self.before + self.acknowledged


class Prepared(NamedTuple):
    """Messages that are kept and not acknowledged, how many people are done, and how many answers were not asked for.

    A message is its sender's place and its bytes.
    """

    messages: list[tuple[int, bytes]]
    before: int
    unasked: int


def opened(state: Path | None, survey: Survey) -> Memory:
    """The memory of a survey, in which its private questions are known again."""
    memory = Memory(state, survey=survey.published.name)
    try:
        memory.admit(survey.hash, marks(survey.questionnaire))
    except DataError:
        memory.close()
        raise
    return memory


def prepared(survey: Survey, people: People, memory: Memory, rows: range) -> Prepared:
    """The messages of these people: those that were drawn before as they are, the others drawn now and kept."""
    rows = rows[: max(0, people.size - rows.start)]
    done = memory.days(rows)
    waiting = {row: _under(survey, body) for row, body in memory.bodies(rows).items()}
    fresh = [row for row in rows if row not in done and row not in waiting]
    said = drawn(survey.questionnaire, people.take(fresh))
    new = {
        row: message(survey.published, secrets.token_hex(16), answers)
        for row, answers in zip(fresh, said.answers, strict=True)
    }
    memory.keep(waiting | new)
    return Prepared(sorted((waiting | new).items()), len(done), said.unasked)


def _under(survey: Survey, body: bytes) -> bytes:
    """What was drawn, in a message under the hash that the survey has now."""
    said = json.loads(body)
    if said["survey"] == survey.hash:
        return body
    names = [question.name for question in survey.questionnaire.questions]
    if list(said["answers"]) != names:
        told = f"the survey {survey.published.name!r} asks other questions now than when its answers were drawn"
        raise DataError(f"{told}; let it be served as it was, or keep new draws in another file")
    return message(survey.published, said["id"], said["answers"])


def _try(survey: Survey, people: People, memory: Memory) -> None:
    """Raise if answers do not fit the questionnaire, before any is sent. It draws once, and throws that draw away."""
    asked = survey.questionnaire
    free = not any(question.required or question.constraint or question.relevant for question in asked.questions)
    for start in range(0, 0 if free else people.size, _BATCH):
        rows = range(start, min(start + _BATCH, people.size))
        known = memory.days(rows).keys() | memory.bodies(rows).keys()
        drawn(asked, people.take([row for row in rows if row not in known]))


def many(
    survey: Survey,
    people: People,
    *,
    concurrency: int = 50,
    state: Path | None = None,
    patience: float = 600.0,
    told: Callable[[Sent], None] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Sent:
    """These people answer, many at once; returns when the server has acknowledged all of them.

    Parameters
    ----------
    survey : Survey
    people : People
        From `checked` or `anybody`. True answers do not leave this process, and are not kept.
    concurrency : int
        How many messages are underway at once, at most.
    state : Path, optional
        The file in which draws are kept until they are acknowledged. With it a second run sends only what is
        missing, as it was drawn; people are known by their place, whatever their answers are then.
    patience : float
        Seconds for which one message is tried.
    told : callable, optional
        Called with the counts after each acknowledgment.
    transport : httpx2.AsyncBaseTransport, optional
        In place of the network.

    Raises
    ------
    DataError
        Answers that do not fit the questionnaire, before any is sent unless it depends on what was drawn.
    Refused, Undelivered
        For the first message that is not taken; those underway are given up, and acknowledged ones stay so.
    """
    if concurrency < 1:
        raise DataError(f"concurrency must be 1 or more; got {concurrency}")
    memory = opened(state, survey)
    try:
        _try(survey, people, memory)
        return waited(_sent(survey, people, memory, concurrency, patience, told, transport))
    finally:
        memory.close()


async def _sent(
    survey: Survey,
    people: People,
    memory: Memory,
    concurrency: int,
    patience: float,
    told: Callable[[Sent], None] | None,
    transport: httpx2.AsyncBaseTransport | None,
) -> Sent:
    async with post.client(concurrency, transport=transport) as client:
        mail = post.Post(client, f"{survey.url}/answers", patience=patience)
        crowd = _Crowd(survey, people, memory, mail, told)
        try:
            await crowd.send(concurrency)
        except* (DataError, post.Undelivered) as failed:
            raise _first(failed) from None
        finally:
            crowd.settle()
    return crowd.counts


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group; the others are of messages that were given up."""
    error: BaseException = failed
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Crowd:
    """The people of one run: a line of messages, and those who send them."""

    def __init__(
        self, survey: Survey, people: People, memory: Memory, mail: post.Post, told: Callable[[Sent], None] | None
    ) -> None:
        self._survey, self._people, self._memory, self._mail = survey, people, memory, mail
        self._told = told or (lambda _: None)
        self._line: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(_BATCH)
        self._stored: dict[int, datetime.date] = {}
        self.counts = Sent(people.size)

    async def send(self, concurrency: int) -> None:
        """Draw, keep and send, until all are acknowledged."""
        workers = min(concurrency, self._people.size)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())
            for start in range(0, self._people.size, _BATCH):
                batch = prepared(self._survey, self._people, self._memory, range(start, start + _BATCH))
                self.counts.before += batch.before
                self.counts.unasked += batch.unasked
                for each in batch.messages:
                    await self._line.put(each)
                self.settle()
            for _ in range(workers):
                await self._line.put(None)

    async def _work(self) -> None:
        while (each := await self._line.get()) is not None:
            row, body = each
            day, repeated = await self._mail.deliver(body)
            self._stored[row] = day
            self.counts.acknowledged += 1
            self.counts.repeated += repeated
            self._told(self.counts)

    def settle(self) -> None:
        """Write down what is acknowledged. What is not written down is sent again, and found to be stored."""
        stored, self._stored = self._stored, {}
        self._memory.acknowledge(stored)
