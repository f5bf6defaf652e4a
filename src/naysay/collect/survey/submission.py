"""A body of answers, held against the survey that it is for. Pure: bytes in, a submission or a refusal out.

A refusal says why the server does not take a request: a code, a status, and one sentence that never repeats what was
sent.

What an answer must look like as it is sent. Pure: a value in, a complaint or nothing out.

A complaint is the rest of a sentence that begins with the question's name. It says what must hold, and never repeats
the value: complaints are sent back, and a proxy may log them.

Which questions are asked, and what their answers must fulfill: the rules of the page, evaluated again.

JSON read strictly: UTF-8, no key twice, no number that is not finite, no nesting without end.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from naysay.collect.questionnaire import Question, Questionnaire, canonical, truth
from naysay.collect.questionnaire.expressions import Meaning, compiled
from naysay.collect.survey.published import TOKEN, Published
from naysay.design import Design
from naysay.errors import NaysayError
from naysay.responses import JOINER

STATUS = {
    "malformed": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "unknown": 404,
    "wrong_method": 405,
    "too_slow": 408,
    "uninvited": 403,
    "used": 409,
    "spent": 409,
    "wrong_survey": 409,
    "conflict": 409,
    "closed": 410,
    "too_large": 413,
    "wrong_type": 415,
    "busy": 429,
    "internal": 500,
    "unavailable": 503,
}
"""The HTTP status of each code."""

CLOSED = "this survey is closed and takes no more answers"


class Refusal(NaysayError):
    """A request that the server does not take, and what must hold.

    Parameters
    ----------
    code : str
        One of `STATUS`.
    message : str
        What must hold, for the respondent's page and for authors of clients; never a value that was sent.
    retry_after : int, optional
        Seconds after which trying again makes sense.

    Examples
    --------
    >>> refusal = Refusal("unknown", "there is no survey of this name")
    >>> refusal.status, refusal.form()["error"]["code"]
    (404, 'unknown')
    """

    def __init__(self, code: str, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def form(self) -> dict[str, Any]:
        """The refusal as a JSON object."""
        return {"error": {"code": self.code, "message": self.message}}


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
    >>> from naysay.collect.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> Reader(published).read(b"{}", today=datetime.date(2026, 11, 20))
    Traceback (most recent call last):
    naysay.collect.survey.submission.Refusal: ...
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
        for question, answer_check in zip(self._questions, self._checks, strict=True):
            value = answers[question.name]
            answer_complaint = None if value is None else answer_check(value)
            if answer_complaint is not None:
                raise _malformed(f"question {question.name!r} {answer_complaint}")
        problem_text = self._conditions.complaint(answers, today=today)
        if problem_text is not None:
            raise _malformed(problem_text)
        return Submission(form["id"], answers, form.get("token"))

    def _envelope(self, body: bytes) -> dict[str, Any]:
        body_length = self._length
        if len(body) > body_length:
            raise Refusal("too_large", f"a body of this survey has exactly {body_length:,} bytes")
        form = read(body)
        if not (isinstance(form, dict) and tuple(form) == self._keys):
            raise _malformed(f"the body must be an object of {', '.join(self._keys)}, in this order")
        if form["naysay"] != "answers" or type(form["version"]) is not int or form["version"] != 1:
            raise _malformed("the body must say that it holds answers, version 1")
        if not (isinstance(form["survey"], str) and form["survey"] in self._known):  # the same questions, all of them
            raise Refusal("wrong_survey", "the survey was published with another hash; load its page again")
        if not (isinstance(form["id"], str) and _ID.fullmatch(form["id"])):
            raise _malformed("id must be 32 hexadecimal digits, in lower case")
        if not (isinstance(token := form.get("token", "0" * TOKEN), str) and _TOKEN.fullmatch(token)):
            raise _malformed(f"token must be {TOKEN} hexadecimal digits, in lower case")
        if not (isinstance(form["padding"], str) and not form["padding"].strip(" ")):
            raise _malformed("padding must be a text of spaces")
        if len(body) != body_length:
            raise _malformed(f"the body must have exactly {body_length:,} bytes")
        return form


def _malformed(message: str) -> Refusal:
    return Refusal("malformed", message)


Check = Callable[[object], str | None]

_MOST_LISTED = 10_000  # responses; of more, each is read when it comes


def check_of(question: Question) -> Check:
    """What to hold an answer that is not null against.

    Examples
    --------
    >>> from naysay.collect.questionnaire import Rating
    >>> check = check_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> check(4), check(6)
    (None, 'must be a whole number from 1 to 5')
    """
    private = question.privacy
    if private is None:
        return question.complaint
    levels = {level: _Channel(channel) for level, channel in private.channels}
    return partial(_private_parts, levels, question.parts) if question.parts else partial(_private_one, levels)


@dataclass(frozen=True)
class _Channel:
    """The responses that one design can give, as texts."""

    design: Design

    @cached_property
    def _possible_texts(self) -> frozenset[str | None] | None:
        if self.design.space.size > _MOST_LISTED:
            return None
        response_codes = self.design.space.listing()
        return frozenset(self.design.space.texts(response_codes[~self.design.structure.impossible(response_codes)]))

    def gives(self, text: str) -> bool:
        """Whether some category can give this response, written just as the design writes it."""
        if self._possible_texts is not None:
            return text in self._possible_texts
        try:
            response_codes = self.design.space.encode([text])
        except NaysayError:
            return False
        return (
            self.design.space.texts(response_codes) == [text]
            and not self.design.structure.impossible(response_codes)[0]
        )


_Levels = dict[str | None, _Channel]


def _private_one(levels: _Levels, value: object) -> str | None:
    if not (isinstance(value, dict) and tuple(value) == ("level", "response")):
        return "is private: it must be an object of a level and a response"
    level, response = value["level"], value["response"]
    if not (level is None or isinstance(level, str)) or level not in levels:
        offered_text = ", ".join("null" if level_name is None else repr(level_name) for level_name in levels)
        return f"must name a level that is offered ({offered_text})"
    if not (isinstance(response, str) and levels[level].gives(response)):
        return "must have a response that its design can give at this level"
    return None


def _private_parts(levels: _Levels, names: tuple[str, ...], value: object) -> str | None:
    if not (isinstance(value, dict) and value.keys() == set(names)):  # JavaScript moves names such as "1" to the front
        return "is private: it must be an object of all its choices, each with a level and a response"
    part_complaint = next(filter(None, (_private_one(levels, part_answer) for part_answer in value.values())), None)
    if part_complaint is not None:
        return part_complaint
    has_one_level = len({part_answer["level"] for part_answer in value.values()}) == 1
    return None if has_one_level else "must be answered at one level for all its choices"


_CLOCKS = (0, -1, 1)  # days by which a device's calendar may differ


@dataclass(frozen=True)
class _QuestionRules:
    """A question with the meaning of its conditions and of its constraint."""

    question: Question
    conditions: tuple[Meaning, ...]
    rule: Meaning | None


class Conditions:
    """The rules of a questionnaire, made ready once for all who answer.

    Parameters
    ----------
    questionnaire : Questionnaire

    Examples
    --------
    >>> import datetime
    >>> from naysay.collect.questionnaire import sample
    >>> survey = sample()
    >>> nothing = dict.fromkeys(question.name for question in survey.questions)
    >>> Conditions(survey).complaint(nothing, today=datetime.date(2026, 11, 20))
    "question 'age' must be answered"
    """

    def __init__(self, questionnaire: Questionnaire) -> None:
        self._private = [
            private_question for private_question in questionnaire.questions if private_question.privacy is not None
        ]
        self._asked = [
            _QuestionRules(
                question,
                tuple(map(compiled, conditions)),
                # that of a private question holds for its true answer, on the device
                None
                if question.constraint is None or question.privacy is not None
                else compiled(question.constraint.expression),
            )
            for question, conditions in questionnaire.questions_with_conditions
        ]

    def complaint(self, answers: Mapping[str, object], *, today: datetime.date) -> str | None:
        """What is wrong with answers today; None where nothing is wrong today, yesterday or tomorrow.

        Parameters
        ----------
        answers : {question: answer}
            Of every question, as they are sent.
        today : date
        """
        responses = {question.name: response_of(question, answers[question.name]) for question in self._private}
        plain_answers = {
            question_name: value for question_name, value in answers.items() if responses.get(question_name) is None
        }
        day_texts = ((today + datetime.timedelta(days=day_shift)).isoformat() for day_shift in _CLOCKS)
        day_complaints = (
            self._complaint(plain_answers, responses, answers, day) for day in day_texts
        )  # lazy: most answers need one day only
        first_complaint = next(day_complaints)
        return None if first_complaint is None or None in day_complaints else first_complaint

    def _complaint(
        self, plain: Mapping[str, object], responses: Mapping[str, object], answers: Mapping[str, object], day: str
    ) -> str | None:
        for question_rules in self._asked:
            question, value, problem_text = question_rules.question, answers[question_rules.question.name], None
            if not all(truth(condition(plain, responses, day)) for condition in question_rules.conditions):
                problem_text = None if value is None else "is not asked after these answers: it must be null"
            elif question.empty(value):
                problem_text = "must be answered" if question.required else None
            elif question_rules.rule is not None and not truth(
                question_rules.rule({**plain, ".": value}, responses, day)
            ):
                problem_text = "must fulfill its constraint"
            if problem_text is not None:
                return f"question {question.name!r} {problem_text}"
        return None


def response_of(question: Question, answer: Any) -> str | list[str] | None:
    """The response to a private question as expressions see it: a label as text, a set as a list."""
    if question.privacy is None or answer is None or question.parts:
        return None
    response: str = answer["response"]
    return [label for label in response.split(JOINER) if label] if question.privacy.offer.space.sets else response


DIGITS = 40  # of a number, more than any client writes


def read(body: bytes) -> Any:
    """The value of a JSON text.

    Raises
    ------
    Refusal
        ``malformed``, with what must hold and never with what came.

    Examples
    --------
    >>> read(b'{"a":[1,null]}')
    {'a': [1, None]}
    >>> read(b'{"a":1,"a":2}')
    Traceback (most recent call last):
        ...
    naysay.collect.survey.submission.Refusal: the body must not name a key twice
    """
    try:
        body_text = body.decode("utf-8")
        return json.loads(
            body_text, object_pairs_hook=_unique, parse_int=_number, parse_float=_number, parse_constant=_number
        )
    except UnicodeDecodeError:
        raise Refusal("malformed", "the body must be UTF-8") from None
    except RecursionError:
        raise Refusal("malformed", "the body must not be nested deeply") from None
    except ValueError:
        raise Refusal("malformed", "the body must be JSON") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    json_object = dict(pairs)
    if len(json_object) < len(pairs):
        raise Refusal("malformed", "the body must not name a key twice")
    return json_object


def _number(text: str) -> float:
    parsed_number = float(text) if len(text) <= DIGITS else math.inf  # "NaN" and "Infinity" come here too
    if not math.isfinite(parsed_number):
        raise Refusal("malformed", f"numbers must be finite and have {DIGITS} characters at most")
    return parsed_number if text.strip("-0123456789") else int(text)
