"""Questionnaires: what is asked, in which languages, and how private each answer is."""

from naysay.questionnaire.evaluation import evaluate, truth
from naysay.questionnaire.expressions import Answer, Apply, Expression, Sent, Value
from naysay.questionnaire.items import (
    Bin,
    Choice,
    Constraint,
    Date,
    Decimal,
    Grid,
    Group,
    Integer,
    Item,
    Label,
    Note,
    Private,
    Question,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
)
from naysay.questionnaire.parsing import parse_expression, write_expression
from naysay.questionnaire.questionnaire import Questionnaire, canonical
from naysay.questionnaire.samples import sample
from naysay.questionnaire.statements import lines, statements, together

__all__ = [
    "Answer",
    "Apply",
    "Bin",
    "Choice",
    "Constraint",
    "Date",
    "Decimal",
    "Expression",
    "Grid",
    "Group",
    "Integer",
    "Item",
    "Label",
    "Note",
    "Private",
    "Question",
    "Questionnaire",
    "Ranking",
    "Rating",
    "SelectMultiple",
    "SelectOne",
    "Sent",
    "Text",
    "Value",
    "canonical",
    "evaluate",
    "lines",
    "parse_expression",
    "sample",
    "statements",
    "together",
    "truth",
    "write_expression",
]
