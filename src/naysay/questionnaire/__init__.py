"""Questionnaires: what is asked, in which languages, and how private each answer is."""

from naysay.questionnaire.checker import check
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
from naysay.questionnaire.loading import Examined, examine, load, of_form
from naysay.questionnaire.parsing import parse_expression, write_expression
from naysay.questionnaire.problems import Place, Problem, QuestionnaireError
from naysay.questionnaire.questionnaire import Questionnaire, canonical
from naysay.questionnaire.samples import sample
from naysay.questionnaire.schema import schema
from naysay.questionnaire.statements import lines, statements, together
from naysay.questionnaire.writing import write_xlsform

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
