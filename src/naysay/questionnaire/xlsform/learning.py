"""Help for respondents, as an XLSForm writes it: the practice question, and naysay's check of understanding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from naysay import _checks
from naysay.questionnaire.kinds.base import Practice, Sheets
from naysay.questionnaire.problems import Place, Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.xlsform.drafts import Draft, Lists
from naysay.questionnaire.xlsform.sheets import Columns

CHECK = "naysay_check"
"""The type of a row that asks the check of understanding in naysay's own words."""

_COLUMN = "naysay_practice"
_YES_NO = {"": True, "yes": True, "no": False}
_FIELDS = {"practice": _COLUMN, "practice.choices": _COLUMN, "practice.label": "naysay_practice_label"}

_QUESTION = {
    "en": "Who can see your answer to a private question?",
    "de": "Wer kann Ihre Antwort auf eine private Frage sehen?",
    "es": "¿Quién puede ver su respuesta a una pregunta privada?",
    "ar": "من يستطيع أن يرى إجابتك عن سؤال خاص؟",
}
_CHOICES = {
    "nobody": {"en": "Nobody but me", "de": "Niemand außer mir", "es": "Nadie más que yo", "ar": "لا أحد غيري"},
    "researchers": {
        "en": "Those who run the survey",
        "de": "Alle, die die Umfrage leiten",
        "es": "Quienes hacen la encuesta",
        "ar": "القائمون على الاستبيان",
    },
    "readers": {
        "en": "All who read what is sent",
        "de": "Alle, die das Gesendete lesen",
        "es": "Quienes leen lo que se envía",
        "ar": "كل من يقرأ ما يُرسل",
    },
}
_EXPLANATION = {
    "en": "Your answer stays with you. What is sent has been changed by chance.",
    "de": "Ihre Antwort bleibt bei Ihnen. Was gesendet wird, hat der Zufall verändert.",
    "es": "Su respuesta se queda con usted. Lo que se envía lo ha cambiado el azar.",
    "ar": "تبقى إجابتك عندك. أما ما يُرسل فقد غيّرته الصدفة.",
}


def check_of(languages: Sequence[str]) -> dict[str, Any]:
    """A check of understanding in naysay's own words, as a question without a name.

    Examples
    --------
    >>> check_of(("en-GB",))["right"], check_of(("en-GB",))["label"]
    ('nobody', {'en-GB': 'Who can see your answer to a private question?'})
    """
    base_of_language = {language: language.partition("-")[0].lower() for language in languages}

    def label_of(words: Mapping[str, str]) -> dict[str, str]:
        return {language: words[base] for language, base in base_of_language.items() if base in words}

    choices = [{"name": name, "label": label_of(words)} for name, words in _CHOICES.items()]
    question_form = {"kind": "select_one", "label": label_of(_QUESTION), "explanation": label_of(_EXPLANATION)}
    return {**question_form, "choices": choices, "right": "nobody"}


def practice(
    draft: Draft, columns: Mapping[str, Columns], lists: Lists, number: int, row: Mapping[str, str]
) -> dict[str, Any]:
    """The practice question that the settings ask for: none, the page's own, or one with a list of choices."""
    practice_cell, label = (
        columns["settings"].text(row, _COLUMN),
        columns["settings"].label(row, "naysay_practice_label"),
    )
    draft.places |= {path.lstrip("."): place for path, place in columns["settings"].places("", number, _FIELDS)}
    if practice_cell.lower() in _YES_NO and not label:
        return {"practice": _YES_NO[practice_cell.lower()]}
    if practice_cell not in lists:
        hint = _checks.nearest(practice_cell, lists) if lists else "the sheet choices is empty"
        missing = f"there is no list {practice_cell!r}" if practice_cell else "none is named"
        message = f"a practice question must have a list of choices; {missing}"
        place = Place("settings", number, columns["settings"].plain.get(_COLUMN, _COLUMN))
        way_out = f"write its name, yes or no into {_COLUMN}; {hint}"
        draft.problems.append(Problem("cells", message, "", way_out, place=place))
        return {}
    choices, sheet = [], columns["choices"]
    for at, (line, cells) in enumerate(lists[practice_cell]):
        draft.places |= dict(sheet.places(f"practice.choices[{at}]", line, {"name": "name", "label": "label"}))
        choices.append({"name": sheet.text(cells, "name"), "label": sheet.label(cells, "label")})
    return {"practice": {"label": label, "choices": choices}}


def written_practice(questionnaire: Questionnaire, sheets: Sheets) -> dict[str, Any]:
    """The settings from which `practice` reads it back."""
    practice_question = questionnaire.practice
    if isinstance(practice_question, Practice):
        return {
            _COLUMN: sheets.list_of("practice", practice_question.choices),
            "naysay_practice_label": practice_question.label,
        }
    return {} if practice_question else {_COLUMN: "no"}
