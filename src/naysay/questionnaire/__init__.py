"""Questionnaires: what is asked, in which languages, and how private each answer is."""

from naysay.questionnaire.expressions.evaluation import Answer, Apply, Expression, Sent, Value, evaluate, truth
from naysay.questionnaire.expressions.parsing import parse_expression, write_expression
from naysay.questionnaire.items import Group, Item, Note
from naysay.questionnaire.kinds.base import Bin, Choice, Constraint, Label, Practice, Private, Question
from naysay.questionnaire.kinds.choices import Grid, Ranking, SelectMultiple, SelectOne
from naysay.questionnaire.kinds.values import Date, Decimal, Integer, Rating, Text
from naysay.questionnaire.loading import Examined, examine, load, of_form
from naysay.questionnaire.piping import in_words
from naysay.questionnaire.problems import Place, Problem, QuestionnaireError
from naysay.questionnaire.questionnaire import Questionnaire, canonical, schema
from naysay.questionnaire.rules.checker import check
from naysay.questionnaire.samples import sample
from naysay.questionnaire.statements import lines, statements, together
from naysay.questionnaire.xlsform.writing import write_xlsform

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
