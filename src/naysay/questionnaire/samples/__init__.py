"""A questionnaire with every kind of question, direct and private, in four languages."""

from __future__ import annotations

from functools import cache
from importlib import resources

from naysay.questionnaire.questionnaire import Questionnaire

__all__ = ["sample"]


@cache
def sample() -> Questionnaire:
    """The questionnaire in the package: every kind of question, in English, German, Spanish and Arabic.

    Examples
    --------
    >>> len(sample().questions), sample().languages
    (21, ('en', 'de', 'es', 'ar'))
    """
    text = resources.files(__name__).joinpath("sample.json").read_text(encoding="utf-8")
    return Questionnaire.model_validate_json(text)
