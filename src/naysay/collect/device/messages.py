"""The one message that leaves a device, byte for byte as the respondent's page writes it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from naysay.collect.survey.published import Published
from naysay.errors import DataError

__all__ = ["message", "written"]

_END = '"}'


def message(survey: Published, id: str, answers: Mapping[str, Any], *, token: str | None = None) -> bytes:
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
    >>> from naysay.questionnaire import Questionnaire, Rating
    >>> one = Rating(name="pain", label={"en": "How bad?"})
    >>> asked = Questionnaire(name="pain", title={"en": "Pain"}, languages=("en",), items=(one,))
    >>> survey = Published.of(asked, client=Client({"survey.html": b"<!doctype html>"}))
    >>> body = message(survey, "0" * 32, {"pain": 4})
    >>> len(body), b'"answers":{"pain":4},"padding":"   ' in body
    (1024, True)
    """
    said = ",".join(f"{written(question)}:{written(answer)}" for question, answer in answers.items())
    spent = "" if token is None else f'"token":"{token}",'
    start = (
        f'{{"naysay":"answers","version":1,"survey":"{survey.hash}","id":"{id}",{spent}"answers":{{{said}}},"padding":"'
    )
    missing = survey.body_length - len(start.encode()) - len(_END)
    if missing < 0:
        raise DataError(f"the answers are longer than the {survey.body_length:,} bytes that this survey allows")
    return (start + " " * missing + _END).encode()


def written(value: Any) -> str:
    """A name or an answer as ``JSON.stringify`` of JavaScript writes it, numbers included.

    Examples
    --------
    >>> [written(value) for value in (1.0, 0.00001, 1e21, -0.0, ["é"])]
    ['1', '0.00001', '1e+21', '0', '["é"]']
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    exact = Decimal(repr(value)).normalize()  # the shortest decimal that reads back as this number
    if not exact:  # JSON.stringify writes -0 as 0
        return "0"
    return f"{exact:f}" if -7 < exact.adjusted() < 21 else f"{exact:e}"  # the bounds of Number::toString
