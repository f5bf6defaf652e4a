"""Questionnaires: what is asked, in which languages, and how private each answer is."""

from naysay.collect.questionnaire.expressions import (
    Answer,
    Apply,
    Expression,
    Sent,
    Value,
    evaluate,
    parse_expression,
    truth,
    write_expression,
)
from naysay.collect.questionnaire.kinds import (
    Date,
    Decimal,
    Grid,
    Integer,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
)
from naysay.collect.questionnaire.loading import Examined, examine, load, of_form
from naysay.collect.questionnaire.privacy import lines, statements, together
from naysay.collect.questionnaire.problems import Place, Problem, QuestionnaireError
from naysay.collect.questionnaire.questionnaire import (
    Group,
    Item,
    Note,
    Questionnaire,
    canonical,
    in_words,
    sample,
    schema,
)
from naysay.collect.questionnaire.questions import Bin, Choice, Constraint, Label, Practice, Private, Question
from naysay.collect.questionnaire.rules import check
from naysay.collect.questionnaire.xlsform import write_xlsform

__all__ = [
    "Answer",
    "Apply",
    "Bin",
    "Choice",
    "Constraint",
    "Date",
    "Decimal",
    "Examined",
    "Expression",
    "Grid",
    "Group",
    "Integer",
    "Item",
    "Label",
    "Note",
    "Place",
    "Practice",
    "Private",
    "Problem",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "Ranking",
    "Rating",
    "SelectMultiple",
    "SelectOne",
    "Sent",
    "Text",
    "Value",
    "canonical",
    "check",
    "evaluate",
    "examine",
    "in_words",
    "lines",
    "load",
    "of_form",
    "parse_expression",
    "sample",
    "schema",
    "statements",
    "together",
    "truth",
    "write_expression",
    "write_xlsform",
]
