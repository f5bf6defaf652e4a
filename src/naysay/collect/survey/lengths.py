"""How long a body of answers can become, so that all can be made equally long."""

from __future__ import annotations

from naysay.design import Answerable
from naysay.questionnaire import Question, Questionnaire
from naysay.questionnaire.kinds.base import quoted

__all__ = ["STEP", "body_length"]

STEP = 1_024
_ENVELOPE = len('{"naysay":"answers","version":1,"survey":"","id":"","answers":{},"padding":""}') + 64 + 32


def body_length(questionnaire: Questionnaire) -> int:
    """Bytes of the longest possible body, rounded up to a multiple of `STEP`.

    Every body is padded to it, so that the size of what leaves the device tells nothing.

    Examples
    --------
    >>> from naysay.questionnaire import Questionnaire, Text
    >>> one = Text(name="why", label={"en": "Why?"}, max_length=500)
    >>> body_length(Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(one,)))
    3072
    """
    entries = (quoted(question.name) + 2 + _longest(question) for question in questionnaire.questions)
    return -(-(_ENVELOPE + sum(entries)) // STEP) * STEP


def _longest(question: Question) -> int:
    """Bytes of the longest answer to a question, as compact JSON; null has 4."""
    private = question.privacy
    if private is None:
        return max(4, question.longest)
    level = max(4 if name is None else quoted(name) for name in private.levels)
    one = len('{"level":,"response":}') + level + _longest_response(private.offer)
    return 2 + sum(quoted(name) + 2 + one for name in question.parts) if question.parts else one


def _longest_response(offer: Answerable) -> int:
    """Bytes of the longest response: a label, or a set with all labels."""
    labels = {str(label) for channel in offer.parts.values() for label in channel.space.labels}
    return 2 + sum(quoted(label) - 1 for label in labels)
