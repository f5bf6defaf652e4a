"""Scripted respondents: people, devices and sensors who answer a survey over HTTP, under the rules of the page.

True private answers stay in this process. An answer is drawn once, by the operating system's randomness and exactly as
the survey publishes it. The draw is kept until the server acknowledges it, so that a retry sends the same bytes.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naysay.collect.device.crowd import Sent, many, opened, prepared, tokens
from naysay.collect.device.memory import Memory, check_invitations
from naysay.collect.device.people import People, anybody, checked
from naysay.collect.device.post import Post, Refused, Survey, Undelivered, client, fetch, waited

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
    answers: Mapping[str, Any],
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
        questionnaire.questions[0].name: [None]
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
