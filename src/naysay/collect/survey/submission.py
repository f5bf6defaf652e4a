"""A body of answers, held against the survey that it is for. Pure: bytes in, a submission or a refusal out."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naysay.collect.refusals import Refusal
from naysay.collect.survey import strict
from naysay.collect.survey.answers import Check, check_of
from naysay.collect.survey.conditions import Conditions
from naysay.collect.survey.published import TOKEN, Published
from naysay.questionnaire import canonical

__all__ = ["Reader", "Submission"]

_KEYS = ("naysay", "version", "survey", "id", "answers", "padding")
_ID = re.compile(r"[0-9a-f]{32}")
_TOKEN = re.compile(f"[0-9a-f]{{{TOKEN}}}")


@dataclass(frozen=True)
class Submission:
    """The answers of one respondent, checked.

    Parameters
    ----------
    id : str
        32 hexadecimal digits that the device drew; nothing else tells two submissions apart.
    answers : {question: answer}
        Private ones as what was sent: level and response.
    token : str or None
        In a survey that invites, what was drawn and what the key made of it; whether it did is not checked here.

    Examples
    --------
    >>> Submission("0" * 32, {"age": 30}).text
    '{"age":30}'
    """

    id: str
    answers: dict[str, Any]
    token: str | None = None

    @cached_property
    def text(self) -> str:
        """The answers as canonical JSON: equal answers have equal texts."""
        return canonical(self.answers).decode()


class Reader:
    """Reads the bodies that are sent to one survey.

    Parameters
    ----------
    published : Published
        The survey; all that can be prepared is prepared once.

    Examples
    --------
    >>> import datetime
    >>> from naysay.collect import Client
    >>> from naysay.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> Reader(published).read(b"{}", today=datetime.date(2026, 11, 20))
    Traceback (most recent call last):
    naysay.collect.refusals.Refusal: ...
    """

    def __init__(self, published: Published) -> None:
        self._questions = published.questionnaire.questions
        self._keys = _KEYS if published.key is None else (*_KEYS[:4], "token", *_KEYS[4:])
        self._names = tuple(question.name for question in self._questions)
        self._conditions = Conditions(published.questionnaire)
        self._known = {published.hash, *published.renewed}
        self._length = published.body_length
        self._checks: tuple[Check, ...] = tuple(map(check_of, self._questions))

    def read(self, body: bytes, *, today: datetime.date) -> Submission:
        """The submission that a body holds.

        Parameters
        ----------
        body : bytes
            Exactly `Published.body_length` of them.
        today : date
            For conditions that depend on it; the day before and the day after count, too: clocks differ.

        Raises
        ------
        Refusal
            ``too_large``, ``wrong_survey`` or ``malformed``: which question, and what must hold.
        """
        form = self._envelope(body)
        answers = form["answers"]
        if not (isinstance(answers, dict) and tuple(answers) == self._names):
            raise _malformed("answers must be an object of every question of the survey, in their order")
        for question, check in zip(self._questions, self._checks, strict=True):
            value = answers[question.name]
            wrong = None if value is None else check(value)
            if wrong is not None:
                raise _malformed(f"question {question.name!r} {wrong}")
        problem = self._conditions.complaint(answers, today=today)
        if problem is not None:
            raise _malformed(problem)
        return Submission(form["id"], answers, form.get("token"))

    def _envelope(self, body: bytes) -> dict[str, Any]:
        length = self._length
        if len(body) > length:
            raise Refusal("too_large", f"a body of this survey has exactly {length:,} bytes")
        form = strict.read(body)
        if not (isinstance(form, dict) and tuple(form) == self._keys):
            raise _malformed(f"the body must be an object of {', '.join(self._keys)}, in this order")
        if form["naysay"] != "answers" or type(form["version"]) is not int or form["version"] != 1:
            raise _malformed("the body must say that it holds answers, version 1")
        if form["survey"] not in self._known:  # the same questions, all of them
            raise Refusal("wrong_survey", "the survey was published with another hash; load its page again")
        if not (isinstance(form["id"], str) and _ID.fullmatch(form["id"])):
            raise _malformed("id must be 32 hexadecimal digits, in lower case")
        if not (isinstance(token := form.get("token", "0" * TOKEN), str) and _TOKEN.fullmatch(token)):
            raise _malformed(f"token must be {TOKEN} hexadecimal digits, in lower case")
        if not (isinstance(form["padding"], str) and not form["padding"].strip(" ")):
            raise _malformed("padding must be a text of spaces")
        if len(body) != length:
            raise _malformed(f"the body must have exactly {length:,} bytes")
        return form


def _malformed(message: str) -> Refusal:
    return Refusal("malformed", message)
