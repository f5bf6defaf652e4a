"""What the API answers, for its OpenAPI description."""

from __future__ import annotations

import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Standing(_Form):
    """A survey, and how many have replied."""

    name: str
    hash: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of survey.json")
    state: Literal["open", "closed"]
    replies: int = Field(ge=0)
    opened: datetime.date
    closed: datetime.date | None


class Surveys(_Form):
    """All surveys of the database."""

    surveys: list[Standing]


class Topic(_Form):
    """What reports are counted for, and how many have come."""

    design: str = Field(pattern="^[0-9a-f]{64}$", description="the hash of the design")
    question: str
    wave: str
    state: Literal["open", "closed"]
    reports: int = Field(ge=0)
    opened: datetime.date
    closed: datetime.date | None


class Topics(_Form):
    """Everything that reports are or were counted for."""

    reports: list[Topic]


class Day(_Form):
    """How many replied on a day, in UTC."""

    day: datetime.date
    replies: int = Field(ge=0)


class Aggregates(_Form):
    """Counts, estimates and intervals; those of each question as ``naysay estimate --format json`` prints them."""

    survey: str
    hash: str
    replies: int = Field(ge=0)
    by: str | None
    days: list[Day]
    questions: list[dict[str, Any]]


class Problem(_Form):
    """Why a request is not answered."""

    code: str
    message: str


class Refused(_Form):
    """A request that is not answered."""

    error: Problem


_STATUS_MEANINGS = {
    401: "no token, or one that is not good any more",
    403: "the token is for something else, or for another survey",
    404: "there is no survey of this name",
    409: "nobody has answered yet, so there is nothing to export",
    422: "a parameter cannot be understood, such as a language that the survey does not have",
    429: "too many requests; try again later",
    500: "the server made a mistake",
    503: "the database cannot be reached",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a request that is not answered, by status."""
    return {status: {"model": Refused, "description": _STATUS_MEANINGS[status]} for status in statuses}
