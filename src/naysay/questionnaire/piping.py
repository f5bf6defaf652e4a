"""Texts that repeat an earlier answer, such as "How many of the ${household_size} are children?"."""

from __future__ import annotations

import re

from naysay.questionnaire.questionnaire import Questionnaire

_PIPED = re.compile(r"\$\{\s*+([^}\s]*+)\s*+\}")

ANSWER_TO = {
    "en": "[answer to: {question}]",
    "de": "[Antwort auf: {question}]",
    "es": "[respuesta a: {question}]",
    "ar": "[الإجابة عن: {question}]",
}
"""What stands for an answer where nobody has given it yet, by language; other languages get the English words."""


def piped(text: str) -> list[str]:
    """The questions whose answers a text repeats.

    Examples
    --------
    >>> piped("How many of the ${household_size} are children?")
    ['household_size']
    """
    return _PIPED.findall(text)


def in_words(text: str, form: Questionnaire, language: str) -> str:
    """The text for readers of all replies: the question itself stands where respondents read their own answer to it.

    Parameters
    ----------
    text : str
    form : Questionnaire
        The one that the text is from.
    language : str
        Of the text.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> in_words("How many of the ${household_size} are children?", sample(), "en")
    'How many of the [answer to: How many people live in your household, with you?] are children?'
    """
    labels = {question.name: question.label.get(language, "") for question in form.questions}
    answer = ANSWER_TO.get(language.partition("-")[0].lower(), ANSWER_TO["en"])

    def question_of(match: re.Match[str]) -> str:
        label = _PIPED.sub("…", labels.get(match[1], "")).strip()  # a question that repeats an answer itself
        return answer.format(question=label or match[1])

    return _PIPED.sub(question_of, text)
