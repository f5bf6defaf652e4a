"""A survey from the questionnaire to the report, on real counts: serve, respond, estimate from the database, report.

Needs the extra ``collect``, and ``plots`` for the report.
"""

from naysay.demo.asking import PEOPLE, Asked, Question, people, questionnaire, questions
from naysay.demo.page import page
from naysay.demo.results import Result, Results
from naysay.demo.running import forever, run

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
