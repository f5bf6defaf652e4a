"""The demonstration: a survey on real counts, with server, respondents, estimates and a report.

It needs the extra ``collect``, and ``plots`` for the report.
"""

from naysay.demo.asking import PEOPLE, Asked, Question, people, questionnaire, questions
from naysay.demo.results import Result, Results
from naysay.demo.running import forever, page, run

__all__ = [
    "PEOPLE",
    "Asked",
    "Question",
    "Result",
    "Results",
    "forever",
    "page",
    "people",
    "questionnaire",
    "questions",
    "run",
]
