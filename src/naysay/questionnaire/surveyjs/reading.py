"""A survey of SurveyJS, read into a questionnaire before it is checked.

What a survey of SurveyJS may have, and a questionnaire has not: each is named, with what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from naysay.questionnaire.problems import Place
from naysay.questionnaire.surveyjs.elements import PRIVACY, Element, Source, codes_of
from naysay.questionnaire.surveyjs.expressions import Asked
from naysay.questionnaire.surveyjs.kinds import FIELDS, TYPES, WAYS_OUT, constraint_of, members_of
from naysay.questionnaire.surveyjs.names import TEXT, key_of, languages_of, named, unmarked
from naysay.questionnaire.unread import SENT_PLAINLY, names_privacy, reads_as_design
from naysay.questionnaire.xlsform.drafts import Draft

_LISTS = ("pages", "elements", "questions")  # the last one is of version 1
_PANELS = ("panel", "flowpanel")
_MOST, _DEEPEST = 2_000, 12  # elements, and panels in panels
_TEXT_PROPERTIES = {"other": "otherPlaceholder", "comment": "commentText"}


def is_surveyjs(form: Any) -> bool:
    """Whether an object looks like a survey of SurveyJS.

    Examples
    --------
    >>> is_surveyjs({"pages": []}), is_surveyjs({"naysay": "questionnaire", "items": []})
    (True, False)
    """
    return isinstance(form, dict) and "naysay" not in form and any(isinstance(form.get(key), list) for key in _LISTS)


def read_surveyjs(form: Mapping[str, Any], *, name: str) -> Draft:
    """The questionnaire that a survey of SurveyJS asks, with a problem for all that has no place in one.

    Parameters
    ----------
    form : object
        The JSON of the survey.
    name : str
        What the questionnaire is called in links; SurveyJS has no name for a survey.

    Returns
    -------
    Draft

    Examples
    --------
    >>> asked = {"type": "radiogroup", "name": "smokes", "choices": ["yes", "no"], "naysay": "warner(p=0.7)"}
    >>> [item] = read_surveyjs({"title": "Smoking", "elements": [asked]}, name="smoking").form["items"]
    >>> item["kind"], item["private"]["design"]["design"]["kind"]
    ('select_one', 'table')
    """
    source = Source(Draft({"naysay": "questionnaire", "version": 1}), languages_of(form))
    survey = Element(source, form, "")
    elements = _Elements(source)
    elements.name(form)
    about = {"about": survey.text("description"), "thanks": _plain(survey.text("completedHtml"))}
    source.draft.form |= {
        "name": named(name.lower(), (), first="s-", digits=True).lower(),
        "title": survey.text("title") or dict.fromkeys(source.languages, name),
        **{field: text for field, text in about.items() if text},
        "languages": list(source.languages),
        "items": elements.items(form, "", "items", 0),
    }
    of_survey(survey)
    privacy(survey)
    return source.draft


def _plain(label: dict[str, str]) -> dict[str, str]:
    return {language: unmarked(text) for language, text in label.items()}


def _inner(raw: Mapping[str, Any], path: str) -> Iterator[tuple[Any, str]]:
    """The pages or elements of a survey, page or panel, each with its path."""
    for key in _LISTS:
        raw_elements = raw.get(key)
        if isinstance(raw_elements, list):
            dot = "." if path else ""
            yield from ((raw_element, f"{path}{dot}{key}[{place}]") for place, raw_element in enumerate(raw_elements))


class _Elements:
    """Reads pages, panels and questions in their order."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[str, str] = {}
        self.taken: set[str] = set()

    def name(self, form: Mapping[str, Any]) -> None:
        """Give every element a name, and remember the choices of every question: a condition may ask for any."""
        waiting, element_count = [(form, "", True)], 0
        while waiting:
            raw, path, holds = waiting.pop()
            if path:
                self._give_name(Element(self._silent(), raw, path), asks=not holds)
            inner = (
                [
                    (raw_element, element_path)
                    for raw_element, element_path in _inner(raw, path)
                    if isinstance(raw_element, dict)
                ]
                if holds
                else []
            )
            element_count += len(inner)
            if element_count > _MOST:
                self.source.problem(path or "pages", f"a survey must have at most {_MOST:,} elements", "split it")
                return
            waiting += [
                (
                    raw_element,
                    element_path,
                    element_path.rpartition(".")[2].startswith("pages") or raw_element.get("type") in _PANELS,
                )
                for raw_element, element_path in reversed(inner)
            ]

    def _silent(self) -> Source:
        """A source whose problems are forgotten: each element is read again, and then they are kept."""
        return Source(Draft({}), self.source.languages)

    def _give_name(self, element: Element, *, asks: bool) -> None:
        own_name = element.name if isinstance(element.raw.get("name"), str) else ""
        data_name = named(own_name, self.taken, first="page" if not asks else "q")
        self.names[element.path] = data_name
        self.taken.add(data_name)
        if not asks or not own_name:
            return
        codes = None
        kind = "several" if element.type in ("checkbox", "tagbox") else element.type
        if kind == "boolean":
            pairs = zip(members_of(element), ("yes", "no"), strict=True)
            codes = {key_of(member["value"]): name for member, name in pairs} | {"true": "yes", "false": "no"}
        elif kind in ("several", "radiogroup", "dropdown", "buttongroup"):
            codes = codes_of(members_of(element))
        self.source.questions.setdefault(own_name, Asked(data_name, kind, codes))
        for text_kind in self._text_kinds(element):
            text_name = named(f"{data_name}_{text_kind}", self.taken)
            self.taken.add(text_name)
            self.names[f"{element.path}-{text_kind}"] = text_name
            self.source.questions.setdefault(f"{own_name}-Comment", Asked(text_name))

    def _text_kinds(self, element: Element) -> list[str]:
        """Which texts SurveyJS asks beside a question: what "other" is, or a comment."""
        other = [flag for flag in ("showOtherItem", "hasOther") if element.get(flag) is True]
        comment = [flag for flag in ("showCommentArea", "hasComment") if element.get(flag) is True]
        return ["other"] if other else ["comment"] if comment else []

    def items(self, raw: Mapping[str, Any], path: str, where: str, depth: int, start: int = 0) -> list[dict[str, Any]]:
        """The items of a survey, page or panel; `where` is the path of their list, in which they begin at `start`."""
        item_forms: list[dict[str, Any]] = []
        for raw_element, element_path in _inner(raw, path):
            if not isinstance(raw_element, dict):
                self.source.problem(element_path, "an element must be an object, with a type and a name")
                continue
            if element_path not in self.names:
                break  # there are too many
            element = Element(self.source, raw_element, element_path)
            place = f"{where}[{start + len(item_forms)}]"
            self.source.draft.places[place] = Place(path=element_path)
            if raw_element.get("visible") is False:
                element.problem("visible", "an element that nobody sees is left out", severity="warning")
                continue
            if element.path.rpartition(".")[2].startswith("pages") or element.type in _PANELS:
                item_forms += self._group(element, place, where, depth)
            else:
                item_forms += self._question(element, place)
        return item_forms

    def _group(self, element: Element, place: str, where: str, depth: int) -> list[dict[str, Any]]:
        """A page or panel with a title is a group; what stands in another one is asked as if it stood outside."""
        if depth >= _DEEPEST:
            element.problem("", f"panels must be nested {_DEEPEST} deep at most", "put some of them side by side")
            return []
        title, relevant = element.text("title"), element.condition("visibleIf")
        of_element(element)
        if title:
            self._fields(place)
            inner = self.items(element.raw, element.path, f"{place}.items", depth + 1)
            group = {"kind": "group", "name": self.names[element.path], "label": title, "items": inner}
            group |= {"hint": element.text("description")}
            return [group | ({} if relevant is None else {"relevant": relevant})] if inner else []
        start = int(place.rpartition("[")[2].removesuffix("]"))
        inner = self.items(element.raw, element.path, where, depth + 1, start)
        for inner_item in inner if relevant is not None else ():
            conditions = [relevant, inner_item["relevant"]] if "relevant" in inner_item else []
            inner_item["relevant"] = {"kind": "apply", "op": "and", "args": conditions} if conditions else relevant
        return inner

    def _fields(self, place: str) -> None:
        places, element_path = self.source.draft.places, str(self.source.draft.places[place])
        places.update({f"{place}.{field}": Place(path=f"{element_path}.{key}") for field, key in FIELDS.items()})
        places[f"{place}.name"] = Place(path=f"{element_path}.name")

    def _question(self, element: Element, place: str) -> list[dict[str, Any]]:
        self._fields(place)
        if element.type == "html":
            note_label = _plain(element.text("html"))
            return [{"kind": "note", "label": note_label, **self._head(element)}] if any(note_label.values()) else []
        make_fields = TYPES.get(element.type)
        if make_fields is None:
            way_out = WAYS_OUT.get(element.type) or f"the types are {', '.join(TYPES)}"
            element.problem("type", f"the type {element.type!r} is not asked here", way_out)
            self.source.draft.omitted.add(self.names[element.path])
            return []
        if not isinstance(element.raw.get("name"), str):
            element.problem("name", "a question must have a name", "write one, such as age")
        item = {"label": element.label(), "hint": element.text("description"), **self._head(element)}
        item |= make_fields(element, place)
        asked_then = element.get("requiredIf") and element.get("requiredIf") == element.get("visibleIf")
        always = element.get("isRequired") is True or bool(asked_then)  # whom it is not asked, it is not required of
        item |= {"required": item.get("required", False) or always}
        item |= constraint_of(element, item["kind"])
        codes = self.source.questions.get(element.name, Asked("")).codes or {}
        item |= element.private(item, codes)
        text_kinds = self._text_kinds(element)
        of_question(element, item)
        return [item, *(self._text(element, item, text_kind) for text_kind in text_kinds)]

    def _head(self, element: Element) -> dict[str, Any]:
        name, relevant = self.names[element.path], element.condition("visibleIf")
        if element.name not in ("", name):
            element.problem("name", f"{element.name!r} is called {name!r} in data", severity="warning")
        return {"name": name, **({} if relevant is None else {"relevant": relevant})}

    def _text(self, element: Element, item: dict[str, Any], text_kind: str) -> dict[str, Any]:
        """The text that is asked beside a question: of everybody, or of those who choose "other"."""
        label = element.text(_TEXT_PROPERTIES[text_kind]) or item["label"]
        if item.get("private"):
            element.problem("", f"a private question must not have a text ({text_kind}) beside it", "leave it out")
        text_item: dict[str, Any] = {"kind": "text", "name": self.names[f"{element.path}-{text_kind}"], "label": label}
        if text_kind == "comment":
            return text_item | ({"relevant": item["relevant"]} if "relevant" in item else {})
        args = [{"kind": "answer", "of": item["name"]}, {"kind": "value", "value": "other"}]
        chooses_other = {"kind": "apply", "op": "selected", "args": args}
        return text_item | {"relevant": chooses_other, "required": True}


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
    unread_keys = sorted(
        set(map(str, raw)) - element.read - _LOOKS - _ERRORS.keys() - _WARNINGS.keys() - {"requiredIf"}
    )
    if unread_keys:
        keys_text = ", ".join(key_text[:40] for key_text in unread_keys[:8])
        element.problem("", f"not taken over: {keys_text}{' …' if len(unread_keys) > 8 else ''}", severity="warning")


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
    ordinary_keys = _LOOKS | _ERRORS.keys() | _WARNINGS.keys() | {"value"}
    waiting: list[tuple[str, str, Any, bool]] = [("", "", survey.raw, False)]
    while waiting:  # no recursion: a stranger's file may be nested a thousand times
        path, key, value, in_text = waiting.pop()
        if path in survey.source.privacy or value in (None, "", False):
            continue
        is_text = in_text or TEXT.search(key) is not None
        is_own = key not in ordinary_keys and not is_text
        cell = value if isinstance(value, str) else ""
        if (is_own and names_privacy(key)) or reads_as_design(cell, alone=is_own):
            message = f"privacy is not read here; got {str(value)[:60]!r}"
            survey.source.problem(
                path, message, f'write it into the question, as its property "{PRIVACY}"', SENT_PLAINLY
            )
        elif isinstance(value, dict):
            waiting += [(f"{path}.{name}".lstrip("."), str(name), member, is_text) for name, member in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{place}]", "value", member, is_text) for place, member in enumerate(value)]
