"""What a survey of SurveyJS may have, and a questionnaire has not: each is named, with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naysay.questionnaire.surveyjs.elements import PRIVACY, Element
from naysay.questionnaire.surveyjs.names import TEXT
from naysay.questionnaire.unread import SENT_PLAINLY, names_privacy, reads_as_design

__all__ = ["of_element", "of_question", "of_survey", "privacy"]

_CONDITIONS = "write the condition as visibleIf"
_ERRORS = {
    "enableIf": ("a question is asked or not asked, and never shown without being asked", _CONDITIONS),
    "choicesByUrl": ("no other website is asked for choices: it would see who answers", "write the choices out"),
    "choicesFromQuestion": ("choices must not come from another answer", "write the choices out"),
    "choicesVisibleIf": ("choices do not depend on an answer", "ask a question for each group, each with visibleIf"),
    "choicesEnableIf": ("choices do not depend on an answer", "ask a question for each group, each with visibleIf"),
    "rowsVisibleIf": ("rows do not depend on an answer", "ask a matrix for each group, each with visibleIf"),
    "columnsVisibleIf": ("columns do not depend on an answer", "ask a matrix for each group, each with visibleIf"),
    "valueName": ("two questions must not share an answer", "ask once"),
    "setValueExpression": ("nothing is computed between questions", "ask, or compute it from the collected answers"),
    "resetValueIf": ("an answer stays until the respondent changes it", _CONDITIONS),
    "selectToRankEnabled": ("all choices are ranked", "leave it out, or ask which ones matter with checkbox"),
    "minValueExpression": ("bounds are numbers or days", "write the bound, or an expression validator"),
    "maxValueExpression": ("bounds are numbers or days", "write the bound, or an expression validator"),
    "readOnly": ("a question that cannot be answered is not asked", "show its text with html"),
}
_SURVEY = {
    "triggers": ("nothing happens by itself after an answer", _CONDITIONS),
    "calculatedValues": ("nothing is computed between questions", "compute it from the collected answers"),
    "partialSendEnabled": ("nothing is sent before respondents confirm", "leave it out"),
    "sendResultOnPageNext": ("nothing is sent before respondents confirm", "leave it out"),
    "surveyPostId": ("answers are sent to naysay alone", "leave it out"),
}
_WARNINGS = {
    "defaultValue": "no answer is filled in beforehand",
    "defaultValueExpression": "no answer is filled in beforehand",
    "correctAnswer": "answers are not marked as right or wrong",
    "choicesOrder": "choices keep their order",
    "rowOrder": "rows keep their order",
    "rowsOrder": "rows keep their order",
    "questionOrder": "questions keep their order",
    "questionsOrder": "questions keep their order",
    "eachRowUnique": "rows may have the same answer",
    "isUnique": "answers of different people are not compared",
    "timeLimit": "there is no time limit",
    "maxTimeToFinish": "there is no time limit",
    "cookieName": "there are no cookies",
    "completedHtmlOnCondition": "everybody reads the same text at the end",
    "navigateToUrl": "no other website is opened at the end",
    "logo": "a page shows no pictures",
    "html": "markup is taken away",
}
_LOOKS = frozenset({
    "acceptCarriageReturn", "allowClear", "allowCustomLabels", "allowResize", "alternateRows", "autocomplete",
    "autoGenerate", "autoGenerateLabels", "autoGrow", "choices", "clearIfInvisible", "closeOnSelect",
    "colCount", "colCountLayout", "colSpan", "columnMinWidth", "columns", "commentPlaceholder", "commentText",
    "contentMode", "customLabels", "dataList", "description", "descriptionLocation", "displayMode",
    "displayRateDescriptionsAsExtremeItems", "displayStyle", "dontKnowText", "elements", "errorLocation",
    "hasComment", "hasNone", "hasOther", "hasSelectAll", "hideNumber", "hideSelectedItems", "imageFit",
    "indent", "innerIndent", "inputMode", "isPanelless", "isRequired", "itemSize", "labelCount", "labelFalse",
    "labelFormat", "labelTrue", "locale", "longTap", "maskSettings", "maskType", "maxErrorText", "maxWidth",
    "minErrorText", "minWidth", "mobileView", "name", "navigationButtonsVisibility", "navigationDescription",
    "navigationTitle", "noneText", "optionsCaption", "otherErrorText", "otherPlaceholder", "otherText", "page",
    "pages", "placeholder", "placeHolder", "questionErrorLocation", "questions", "questionStartIndex",
    "questionTitleLocation", "questionTitleWidth", "rateColorMode", "rateDescriptionLocation",
    "rateDisplayMode", "rateType", "refuseText", "renderAs", "requiredErrorText", "requiredText", "rows",
    "rowTitleWidth", "scaleColorMode", "searchEnabled", "searchMode", "selectAllText",
    "selectToRankAreasLayout", "separateSpecialChoices", "showClearButton", "showCommentArea",
    "showDontKnowItem", "showHeader", "showLabel", "showLabels", "showNoneItem", "showNumber", "showOtherItem",
    "showRefuseItem", "showSelectAllItem", "size", "startWithNewLine", "state", "storeOthersAsComment",
    "swapOrder", "textWrapMode", "title", "titleLocation", "tooltipFormat", "tooltipVisibility", "type",
    "useDisplayValuesInDynamicTexts", "verticalAlign", "visible", "visibleIf", "width",
})  # fmt: skip
"""Properties that change how an element looks, or that are read without being asked for here."""


def of_survey(survey: Element) -> None:
    """Name what a whole survey may have and a questionnaire has not. How it looks and how pages turn is not named."""
    for key, (message, way_out) in _SURVEY.items():
        if survey.raw.get(key):
            survey.source.problem(key, message, way_out)
    for key, message in _WARNINGS.items():
        if survey.raw.get(key):
            survey.source.problem(key, message, severity="warning")


def of_element(element: Element) -> None:
    """Name what a page, panel or question has and a questionnaire has not."""
    raw = element.raw
    for key, (message, way_out) in _ERRORS.items():
        if raw.get(key):
            element.problem(key, message, way_out)
    for key, message in _WARNINGS.items():
        if raw.get(key) not in (None, "", [], "none", "initial", "default", False):
            element.problem(key, message, severity="warning")
    if element.type in ("panel", "flowpanel") and (raw.get("requiredIf") or raw.get("isRequired")):
        element.problem("isRequired", "a panel is not required as a whole", "require its questions", severity="warning")
    rest = sorted(set(map(str, raw)) - element.read - _LOOKS - _ERRORS.keys() - _WARNINGS.keys() - {"requiredIf"})
    if rest:
        told = ", ".join(each[:40] for each in rest[:8])
        element.problem("", f"not taken over: {told}{' …' if len(rest) > 8 else ''}", severity="warning")


def of_question(element: Element, item: Mapping[str, Any]) -> None:
    """Name what a question has and a questionnaire has not."""
    required = element.get("requiredIf")
    if required and not item["required"]:
        way_out = "set isRequired: a question that is not asked is not required"
        message = "a question is required or not, and not by a condition; it may be left out"
        element.problem("requiredIf", message, way_out, severity="warning")
    of_element(element)


def privacy(survey: Element) -> None:
    """Name each property that would make answers private and that nobody has read: misspelled, or at a wrong place."""
    known = _LOOKS | _ERRORS.keys() | _WARNINGS.keys() | {"value"}
    waiting: list[tuple[str, str, Any, bool]] = [("", "", survey.raw, False)]
    while waiting:  # no recursion: a stranger's file may be nested a thousand times
        path, key, value, in_text = waiting.pop()
        if path in survey.source.privacy or value in (None, "", False):
            continue
        is_text = in_text or TEXT.search(key) is not None
        is_own = key not in known and not is_text
        cell = value if isinstance(value, str) else ""
        if (is_own and names_privacy(key)) or reads_as_design(cell, alone=is_own):
            message = f"privacy is not read here; got {str(value)[:60]!r}"
            survey.source.problem(
                path, message, f'write it into the question, as its property "{PRIVACY}"', SENT_PLAINLY
            )
        elif isinstance(value, dict):
            waiting += [(f"{path}.{name}".lstrip("."), str(name), each, is_text) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{place}]", "value", each, is_text) for place, each in enumerate(value)]
