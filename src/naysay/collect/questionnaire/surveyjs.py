"""Surveys of SurveyJS (JSON of survey-core 1 and 2) as questionnaires, before they are checked.

`TYPES` is the one table of the kinds in SurveyJS. What a survey may have, and a questionnaire has not, is named, with
what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from naysay.collect.questionnaire.arms import arms_of
from naysay.collect.questionnaire.expressions import Answer, Apply, Expression, Value
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
from naysay.collect.questionnaire.offers import SENT_PLAINLY, names_privacy, reads_as_design
from naysay.collect.questionnaire.questionnaire import truth_column
from naysay.collect.questionnaire.questions import Draft, Kind, Place, in_languages
from naysay.collect.questionnaire.surveyjs_elements import (
    PRIVACY,
    TEXT,
    Asked,
    Element,
    ItemForm,
    Source,
    codes_of,
    condition,
    key_of,
    languages_of,
    named,
    unmarked,
)
from naysay.errors import DataError

_LISTS = ("pages", "elements", "questions")  # the last one is of version 1
_PANELS = ("panel", "flowpanel")
_MOST, _DEEPEST = 2_000, 12  # elements, and panels in panels
_TEXT_PROPERTIES = {"other": "otherPlaceholder", "comment": "commentText"}


def is_surveyjs(form: object) -> bool:
    """Whether an object looks like a survey of SurveyJS.

    Examples
    --------
    >>> is_surveyjs({"pages": []}), is_surveyjs({"naysay": "questionnaire", "items": []})
    (True, False)
    """
    return isinstance(form, dict) and "naysay" not in form and any(isinstance(form.get(key), list) for key in _LISTS)


def read_surveyjs(form: Mapping[str, object], *, name: str) -> Draft:
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
    survey_texts = {"about": survey.text("description"), "thanks": unmarked(survey.text("completedHtml"))}
    source.draft.form |= {
        "name": named(name.lower(), (), first="s-", digits=True).lower(),
        "title": survey.text("title") or dict.fromkeys(source.languages, name),
        **{field_name: field_text for field_name, field_text in survey_texts.items() if field_text},
        "languages": list(source.languages),
        "items": elements.items(form, "", "items", 0),
    }
    source.privacy |= {"naysayArms", "naysayStrata"}
    try:
        if arm_forms := arms_of(str(form.get("naysayArms") or "")):
            source.draft.form["arms"] = arm_forms
    except DataError as error:
        source.problem("naysayArms", str(error))
    if form.get("naysayStrata"):
        source.draft.form["strata"] = form["naysayStrata"]
    of_survey(survey)
    privacy(survey)
    return source.draft


def _inner(raw: Mapping[str, object], path: str) -> Iterator[tuple[object, str]]:
    """The pages or elements of a survey, page or panel, each with its path."""
    for key in _LISTS:
        raw_elements = raw.get(key)
        if isinstance(raw_elements, list):
            dot = "." if path else ""
            yield from ((raw_element, f"{path}{dot}{key}[{place}]") for place, raw_element in enumerate(raw_elements))


def _is_page(path: str) -> bool:
    return path.rpartition(".")[2].startswith("pages")


class _Elements:
    """Reads pages, panels and questions in their order."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[str, str] = {}
        self.taken: set[str] = set()

    def name(self, form: Mapping[str, object]) -> None:
        """Give every element a name, and remember the choices of every question: a condition may ask for any."""
        waiting_elements, element_count = [(form, "", True)], 0
        # its problems are forgotten: each element is read again, and then they are kept
        silent_source = Source(Draft({}), self.source.languages)
        while waiting_elements:
            outer_element, outer_path, holds_elements = waiting_elements.pop()
            if outer_path:
                self._give_name(Element(silent_source, outer_element, outer_path), asks=not holds_elements)
            inner_elements = [
                (raw_element, element_path, _is_page(element_path) or raw_element.get("type") in _PANELS)
                for raw_element, element_path in (_inner(outer_element, outer_path) if holds_elements else ())
                if isinstance(raw_element, dict)
            ]
            element_count += len(inner_elements)
            if element_count > _MOST:
                self.source.problem(outer_path or "pages", f"a survey must have at most {_MOST:,} elements", "split it")
                return
            waiting_elements += reversed(inner_elements)

    def _give_name(self, element: Element, *, asks: bool) -> None:
        own_name = element.name if isinstance(element.raw.get("name"), str) else ""
        data_name = named(own_name, self.taken, first="page" if not asks else "q")
        self.names[element.path] = data_name
        self.taken.add(data_name)
        if not asks or not own_name:
            return
        name_of_value = None
        answer_kind = "several" if element.type in ("checkbox", "tagbox") else element.type
        if answer_kind == "boolean":
            named_members = zip(members_of(element), ("yes", "no"), strict=True)
            name_of_value = {key_of(member["value"]): choice_name for member, choice_name in named_members}
            name_of_value |= {"true": "yes", "false": "no"}
        elif answer_kind in ("several", "radiogroup", "dropdown", "buttongroup"):
            name_of_value = codes_of(members_of(element))
        self.source.questions.setdefault(own_name, Asked(data_name, answer_kind, name_of_value))
        cells = element.get(PRIVACY)
        if isinstance(cells, dict) and cells.get("control"):  # its title may say what to suppose
            self.source.questions.setdefault(truth_column(own_name), Asked(truth_column(data_name)))
        for text_kind in self._text_kinds(element):
            text_name = named(f"{data_name}_{text_kind}", self.taken)
            self.taken.add(text_name)
            self.names[f"{element.path}-{text_kind}"] = text_name
            self.source.questions.setdefault(f"{own_name}-Comment", Asked(text_name))

    def _text_kinds(self, element: Element) -> list[str]:
        """Which texts SurveyJS asks beside a question: what "other" is, or a comment."""
        other_flags = [flag for flag in ("showOtherItem", "hasOther") if element.get(flag) is True]
        comment_flags = [flag for flag in ("showCommentArea", "hasComment") if element.get(flag) is True]
        return ["other"] if other_flags else ["comment"] if comment_flags else []

    def items(self, raw: Mapping[str, object], path: str, where: str, depth: int, start: int = 0) -> list[ItemForm]:
        """The items of a survey, page or panel; `where` is the path of their list, in which they begin at `start`."""
        item_forms: list[ItemForm] = []
        for raw_element, element_path in _inner(raw, path):
            if not isinstance(raw_element, dict):
                self.source.problem(element_path, "an element must be an object, with a type and a name")
                continue
            if element_path not in self.names:
                break  # there are too many
            element = Element(self.source, raw_element, element_path)
            item_place = f"{where}[{start + len(item_forms)}]"
            self.source.draft.places[item_place] = Place(path=element_path)
            if raw_element.get("visible") is False:
                element.problem("visible", "an element that nobody sees is left out", severity="warning")
                continue
            if _is_page(element.path) or element.type in _PANELS:
                item_forms += self._group(element, item_place, where, depth)
            else:
                item_forms += self._question(element, item_place)
        return item_forms

    def _group(self, element: Element, place: str, where: str, depth: int) -> list[ItemForm]:
        """A page or panel with a title is a group; what stands in another one is asked as if it stood outside."""
        if depth >= _DEEPEST:
            element.problem("", f"panels must be nested {_DEEPEST} deep at most", "put some of them side by side")
            return []
        title, group_condition = element.text("title"), element.condition("visibleIf")
        of_element(element)
        if title:
            self._fields(place)
            inner_items = self.items(element.raw, element.path, f"{place}.items", depth + 1)
            group_form = {"kind": "group", "name": self.names[element.path], "label": title, "items": inner_items}
            group_form |= {"hint": element.text("description"), **element.compared()}
            group_form |= {} if group_condition is None else {"relevant": group_condition}
            return [group_form] if inner_items else []
        start_place = int(place.rpartition("[")[2].removesuffix("]"))
        inner_items = self.items(element.raw, element.path, where, depth + 1, start_place)
        arm_fields = element.compared()
        for inner_item in inner_items:
            inner_item.update(arm_fields | ({"arms": inner_item["arms"]} if "arms" in inner_item else {}))
        for inner_item in inner_items if group_condition is not None else ():
            joint_conditions = [group_condition, inner_item["relevant"]] if "relevant" in inner_item else []
            inner_item["relevant"] = (
                {"kind": "apply", "op": "and", "args": joint_conditions} if joint_conditions else group_condition
            )
        return inner_items

    def _fields(self, place: str) -> None:
        element_path = str(self.source.draft.places[place])
        for field_name, property_name in FIELDS.items():
            self.source.draft.places[f"{place}.{field_name}"] = Place(path=f"{element_path}.{property_name}")

    def _question(self, element: Element, place: str) -> list[ItemForm]:
        self._fields(place)
        if element.type == "html":
            note_label = unmarked(element.text("html"))
            note_form = {"kind": "note", "label": note_label, **self._head(element), **element.compared()}
            return [note_form] if any(note_label.values()) else []
        make_fields = TYPES.get(element.type)
        if make_fields is None:
            way_out = WAYS_OUT.get(element.type) or f"the types are {', '.join(TYPES)}"
            element.problem("type", f"the type {element.type!r} is not asked here", way_out)
            self.source.draft.omitted.add(self.names[element.path])
            return []
        if not isinstance(element.raw.get("name"), str):
            element.problem("name", "a question must have a name", "write one, such as age")
        item_form = {"label": element.label(), "hint": element.text("description"), **self._head(element)}
        kind, kind_fields = make_fields(element, place)
        item_form |= {"kind": kind.flavor(), **kind_fields}
        # whom it is not asked, it is not required of
        asked_then = bool(element.get("requiredIf")) and element.get("requiredIf") == element.get("visibleIf")
        always_required = element.get("isRequired") is True or asked_then
        item_form |= {"required": item_form.get("required", False) or always_required}
        item_form |= constraint_of(element, kind)
        item_form |= element.compared("measures", "control", *(["order"] if kind is SelectOne else []))
        name_of_value = self.source.questions.get(element.name, Asked("")).codes or {}
        item_form |= element.private(kind, item_form, name_of_value)
        text_kinds = self._text_kinds(element)
        if element.get("requiredIf") and not item_form["required"]:
            way_out = "set isRequired: a question that is not asked is not required"
            message = "a question is required or not, and not by a condition; it may be left out"
            element.problem("requiredIf", message, way_out, severity="warning")
        of_element(element)
        return [item_form, *(self._text(element, item_form, text_kind) for text_kind in text_kinds)]

    def _head(self, element: Element) -> dict[str, Any]:
        data_name, relevant = self.names[element.path], element.condition("visibleIf")
        if element.name not in ("", data_name):
            element.problem("name", f"{element.name!r} is called {data_name!r} in data", severity="warning")
        return {"name": data_name, **({} if relevant is None else {"relevant": relevant})}

    def _text(self, element: Element, item: ItemForm, text_kind: str) -> ItemForm:
        """The text that is asked beside a question: of everybody, or of those who choose "other"."""
        text_label = element.text(_TEXT_PROPERTIES[text_kind]) or item["label"]
        if item.get("private"):
            element.problem("", f"a private question must not have a text ({text_kind}) beside it", "leave it out")
        text_item: ItemForm = {"kind": "text", "name": self.names[f"{element.path}-{text_kind}"], "label": text_label}
        if text_kind == "comment":
            return text_item | ({"relevant": item["relevant"]} if "relevant" in item else {})
        argument_forms = [{"kind": "answer", "of": item["name"]}, {"kind": "value", "value": "other"}]
        chooses_other = {"kind": "apply", "op": "selected", "args": argument_forms}
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
    for property_name, (message, way_out) in _SURVEY.items():
        if survey.raw.get(property_name):
            survey.source.problem(property_name, message, way_out)
    for property_name, message in _WARNINGS.items():
        if survey.raw.get(property_name):
            survey.source.problem(property_name, message, severity="warning")


def of_element(element: Element) -> None:
    """Name what a page, panel or question has and a questionnaire has not."""
    raw_element = element.raw
    for property_name, (message, way_out) in _ERRORS.items():
        if raw_element.get(property_name):
            element.problem(property_name, message, way_out)
    for property_name, message in _WARNINGS.items():
        is_meant = property_name == "choicesOrder" and element.shuffles
        if not is_meant and raw_element.get(property_name) not in (None, "", [], "none", "initial", "default", False):
            element.problem(property_name, message, severity="warning")
    if element.type in ("panel", "flowpanel") and (raw_element.get("requiredIf") or raw_element.get("isRequired")):
        element.problem("isRequired", "a panel is not required as a whole", "require its questions", severity="warning")
    unread_keys = sorted(
        set(map(str, raw_element)) - element.read - _LOOKS - _ERRORS.keys() - _WARNINGS.keys() - {"requiredIf"}
    )
    if unread_keys:
        keys_text = ", ".join(key_text[:40] for key_text in unread_keys[:8])
        element.problem("", f"not taken over: {keys_text}{' …' if len(unread_keys) > 8 else ''}", severity="warning")


def privacy(survey: Element) -> None:
    """Name each property that would make answers private and that nobody has read: misspelled, or at a wrong place."""
    ordinary_keys = _LOOKS | _ERRORS.keys() | _WARNINGS.keys() | {"value"}
    waiting_nodes: list[tuple[str, str, object, bool]] = [("", "", survey.raw, False)]
    while waiting_nodes:  # no recursion: a stranger's file may be nested a thousand times
        node_path, node_key, raw_node, in_text = waiting_nodes.pop()
        if node_path in survey.source.privacy or raw_node in (None, "", False):
            continue
        is_text = in_text or TEXT.search(node_key) is not None
        is_own = node_key not in ordinary_keys and not is_text
        node_text = raw_node if isinstance(raw_node, str) else ""
        if (is_own and names_privacy(node_key)) or reads_as_design(node_text, alone=is_own):
            message = f"privacy is not read here; got {str(raw_node)[:60]!r}"
            way_out = f'write it into the question, as its property "{PRIVACY}"'
            survey.source.problem(node_path, message, way_out, SENT_PLAINLY)
        elif isinstance(raw_node, dict):
            waiting_nodes += [
                (f"{node_path}.{property_name}".lstrip("."), str(property_name), member, is_text)
                for property_name, member in raw_node.items()
            ]
        elif isinstance(raw_node, list):
            waiting_nodes += [
                (f"{node_path}[{member_place}]", "value", member, is_text)
                for member_place, member in enumerate(raw_node)
            ]


Members = list[dict[str, Any]]
KindAndFields = tuple[Kind, dict[str, Any]]
Maker = Callable[[Element, str], KindAndFields]

_WORDS = {
    "other": {"en": "Other (describe)", "de": "Anderes", "es": "Otro (describa)", "ar": "غير ذلك"},
    "none": {"en": "None", "de": "Nichts davon", "es": "Ninguno", "ar": "لا شيء"},
    "dontknow": {"en": "Don't know", "de": "Weiß nicht", "es": "No sé", "ar": "لا أعرف"},
    "refused": {"en": "Refuse to answer", "de": "Keine Angabe", "es": "No contesto", "ar": "أفضّل عدم الإجابة"},
    "yes": {"en": "Yes", "de": "Ja", "es": "Sí", "ar": "نعم"},
    "no": {"en": "No", "de": "Nein", "es": "No", "ar": "لا"},
}
_SPECIAL = {
    "none": (("showNoneItem", "hasNone"), "noneText"),
    "refused": (("showRefuseItem",), "refuseText"),
    "dontknow": (("showDontKnowItem",), "dontKnowText"),
    "other": (("showOtherItem", "hasOther"), "otherText"),
}
_FILES = "files betray who sent them; ask for a description with text"
WAYS_OUT = {
    **dict.fromkeys(("file", "signaturepad"), _FILES),
    **dict.fromkeys(
        ("image", "imagepicker", "imagemap"), "a page shows no pictures; describe them, and ask with radiogroup"
    ),
    **dict.fromkeys(("matrixdynamic", "paneldynamic"), "each person answers each question once; ask how many"),
    "matrixdropdown": "ask each column as a matrix of its own",
    "multipletext": "ask each text as a question of its own, in a panel",
    "expression": "nothing is computed between questions; compute it from the collected answers",
}
"""What to do instead of a type that is not asked here."""

_TEXTS = ("text", "email", "tel", "url", "search")


def members_of(element: Element) -> Members:
    """The choices of a question, with those that SurveyJS adds; those of a boolean and a scale, too."""
    if element.type == "boolean":
        boolean_values = (
            ("yes", element.get("valueTrue", True), "labelTrue"),
            ("no", element.get("valueFalse", False), "labelFalse"),
        )
        return [
            {"value": value, "text": element.get(label_property) or _word(element, choice_name)}
            for choice_name, value, label_property in boolean_values
        ]
    if element.type == "matrix":
        return element.members_of_list("columns")
    if element.type == "rating":
        if written_values := element.members_of_list("rateValues"):
            return written_values
        low_point, step = element.number("rateMin", 1) or 0, element.number("rateStep", 1) or 1
        point_count, high_point = element.number("rateCount"), element.number("rateMax", 5) or 0
        if point_count and "rateMax" not in element.raw:
            high_point = low_point + step * (point_count - 1)
        if 0 < (high_point - low_point) / step < 200:
            last_step = int((high_point - low_point) / step + 1e-9)
            return [{"value": low_point + step * step_number} for step_number in range(last_step + 1)]
        range_text = f"{low_point:g} to {high_point:g} in steps of {step:g}"
        element.problem("rateMax", f"a rating must run upwards in steps; got {range_text}")
        return []
    members = element.members_of_list("choices")
    for choice_name, (flag_properties, text_property) in _SPECIAL.items():
        if any(element.get(flag) is True for flag in flag_properties):
            members.append({"value": choice_name, "text": element.get(text_property) or _word(element, choice_name)})
    return members


def _word(element: Element, name: str) -> dict[str, str]:
    """What SurveyJS calls a choice that it adds, in the languages that are known here."""
    return in_languages(_WORDS[name], element.source.languages)


def _choosing(element: Element, path: str, *, kind: Kind) -> KindAndFields:
    return kind, {"choices": element.choices(members_of(element), f"{path}.choices")}


def _boolean(element: Element, path: str) -> KindAndFields:
    members = members_of(element)
    name_of_value = {key_of(member["value"]): name for member, name in zip(members, ("yes", "no"), strict=True)}
    choice_forms = []
    for member in members:
        choice_label = element.source.text(member["text"], f"{element.path}.labelTrue")
        choice_forms.append({"name": name_of_value[key_of(member["value"])], "label": choice_label})
    return SelectOne, {"choices": choice_forms}


def _rating(element: Element, path: str) -> KindAndFields:
    members = members_of(element)
    values = [member["value"] for member in members]
    all_whole = all(type(value) in (int, float) and float(value).is_integer() for value in values)
    has_no_text = not any(member.get("text") for member in members)
    if not (values and all_whole and has_no_text and values == [values[0] + step for step in range(len(values))]):
        return SelectOne, {"choices": element.choices(members, f"{path}.choices")}
    end_labels = {"low_label": element.text("minRateDescription"), "high_label": element.text("maxRateDescription")}
    rating_fields = {"low": int(values[0]), "high": int(values[-1])}
    return Rating, rating_fields | {end_name: label for end_name, label in end_labels.items() if label}


def _matrix(element: Element, path: str) -> KindAndFields:
    column_members, row_members = members_of(element), element.members_of_list("rows")
    if element.get("cellType", "radio") != "radio":
        element.problem("cellType", "a row of a matrix takes one choice here", "ask a checkbox for each row")
    is_required = element.get("eachRowRequired") or element.get("isAllRowRequired")
    return Grid, {
        "rows": element.choices(row_members, f"{path}.rows"),
        "choices": element.choices(column_members, f"{path}.choices"),
        **({"required": True} if is_required else {}),
    }


def _text(element: Element, path: str) -> KindAndFields:
    input_type = str(element.get("inputType", "text"))
    is_numeric = any(
        isinstance(validator, dict) and validator.get("type") == "numeric"
        for validator in element.raw_members("validators")
    )
    if input_type in ("number", "range") or (is_numeric and input_type in _TEXTS):
        return _number(element)
    if input_type == "date":
        return Date, {}
    if input_type not in _TEXTS:
        way_out = "ask with text, number or date; a time of day may tell who answered"
        element.problem("inputType", f"the input type {input_type!r} is not asked here", way_out)
    elif input_type in ("email", "tel"):
        message = f"a question for {input_type} tells who answered"
        element.problem("inputType", message, "leave it out", severity="warning")
    return Text, _length(element)


def _number(element: Element) -> KindAndFields:
    step = element.number("step")
    is_whole = step is not None and step.is_integer() and step > 0
    if step is not None and step not in (0, 1):
        element.problem("step", f"steps of {step:g} are not held to", severity="warning")
    range_ends = {"low": element.number("min"), "high": element.number("max")}
    for validator in element.raw_members("validators"):
        if isinstance(validator, dict) and validator.get("type") == "numeric":
            for end_name, bound_property in (("low", "minValue"), ("high", "maxValue")):
                if isinstance(end_number := validator.get(bound_property), int | float):
                    range_ends[end_name] = float(end_number)
    known_ends = {end_name: end_number for end_name, end_number in range_ends.items() if end_number is not None}
    return Integer if is_whole else Decimal, {
        end_name: int(end_number) if is_whole and end_number.is_integer() else end_number
        for end_name, end_number in known_ends.items()
    }


def _length(element: Element) -> dict[str, Any]:
    length_limit = element.number("maxLength", -1) or -1
    return {"max_length": int(length_limit)} if length_limit > 0 else {}


def _comment(element: Element, path: str) -> KindAndFields:
    line_count = int(element.number("rows", 4) or 4)
    return Text, {"lines": min(max(line_count, 1), 20), "max_length": 2_000} | _length(element)


def _slider(element: Element, path: str) -> KindAndFields:
    if element.get("sliderType", "single") != "single":
        element.problem("sliderType", "a slider takes one number here", "ask for both ends, each with a number")
    return Decimal, {"low": element.number("min", 0.0), "high": element.number("max", 100.0)}


TYPES: Mapping[str, Maker] = {
    "text": _text,
    "comment": _comment,
    "boolean": _boolean,
    "rating": _rating,
    "matrix": _matrix,
    "slider": _slider,
    "ranking": partial(_choosing, kind=Ranking),
    **dict.fromkeys(("radiogroup", "dropdown", "buttongroup"), partial(_choosing, kind=SelectOne)),
    **dict.fromkeys(("checkbox", "tagbox"), partial(_choosing, kind=SelectMultiple)),
}
"""The types of questions in SurveyJS: from an element and the path of its item to a kind and the fields that it has."""

FIELDS = {
    "name": "name",
    "label": "title",
    "hint": "description",
    "relevant": "visibleIf",
    "constraint": "validators",
    "private": "naysay",
}
"""The property that a field of an item comes from."""


_OWN_ANSWER = Answer(of=".")
_LENGTH, _COUNT = Apply(op="string_length", args=(_OWN_ANSWER,)), Apply(op="count_selected", args=(_OWN_ANSWER,))
_BOUNDS = {
    "text": (_LENGTH, (">=", "minLength"), ("<=", "maxLength")),
    "answercount": (_COUNT, (">=", "minCount"), ("<=", "maxCount")),
}
_COUNTS = (("minSelectedChoices", ">="), ("maxSelectedChoices", "<="))
_DAYS = (("min", ">="), ("max", "<="))
_PATTERNS = "patterns differ from browser to browser; ask with the type that fits, or bound the length"

_MESSAGES = {
    "minSelectedChoices": {"en": "At least {}.", "de": "Mindestens {}.", "es": "Al menos {}.", "ar": "{} على الأقل."},
    "maxSelectedChoices": {"en": "At most {}.", "de": "Höchstens {}.", "es": "Como máximo {}.", "ar": "{} على الأكثر."},
    "min": {"en": "From {} on.", "de": "Ab {}.", "es": "Desde {}.", "ar": "ابتداءً من {}."},
    "max": {"en": "Until {}.", "de": "Bis {}.", "es": "Hasta {}.", "ar": "حتى {}."},
}
"""What respondents read of a bound, for which SurveyJS has words of its own."""

Requirement = tuple[Expression, dict[str, str]]


def constraint_of(element: Element, kind: Kind) -> dict[str, Any]:
    """The field `constraint` of a question, from its validators and bounds; empty where there are none."""
    requirements = list(_of_validators(element))
    bounds: list[tuple[str, str, Expression, int | str]] = []
    for bound_property, op in _COUNTS if kind is SelectMultiple else ():
        # SurveyJS has 0 where there is no bound
        if (count_bound := element.number(bound_property, 0)) and count_bound >= 1:
            bounds.append((bound_property, op, _COUNT, int(count_bound)))
    for bound_property, op in _DAYS if kind is Date else ():
        if isinstance(bound_day := element.get(bound_property), str) and bound_day:
            bounds.append((bound_property, op, _OWN_ANSWER, bound_day))
    for bound_property, op, measure, bound in bounds:
        words = in_languages(_MESSAGES[bound_property], element.source.languages)
        bound_message = {language_tag: bound_text.format(bound) for language_tag, bound_text in words.items()}
        requirements.append((Apply(op=op, args=(measure, Value(value=bound))), bound_message))
    if not requirements:
        return {}
    expressions = tuple(expression for expression, _ in requirements)
    joint_expression = expressions[0] if len(expressions) == 1 else Apply(op="and", args=expressions)
    texts_of_language: dict[str, list[str]] = {}
    for _, message in requirements:
        for language_tag, text in message.items():
            texts_of_language.setdefault(language_tag, []).append(text)
    joint_message = {language_tag: " ".join(texts) for language_tag, texts in texts_of_language.items()}
    return {"constraint": {"expression": joint_expression.model_dump(mode="json"), "message": joint_message}}


def _of_validators(element: Element) -> Iterator[Requirement]:
    for validator_place, validator in enumerate(element.raw_members("validators")):
        validator_path = f"validators[{validator_place}]"
        validator_type = validator.get("type") if isinstance(validator, dict) else None
        if validator_type == "numeric":
            continue  # the question asks for a number, which has its range
        text_path = f"{element.path}.{validator_path}.text"
        bound_message = element.source.text(validator.get("text"), text_path) if validator_type else {}
        if validator_type in _BOUNDS:
            measure, *bounds = _BOUNDS[validator_type]
            for op, bound_property in bounds:
                if type(validator.get(bound_property)) is int and validator[bound_property] > 0:
                    yield Apply(op=op, args=(measure, Value(value=validator[bound_property]))), bound_message
        elif validator_type == "expression":
            condition_text = str(validator.get("expression", ""))
            try:
                yield condition(condition_text, element.source.questions, own_name=element.name), bound_message
            except DataError as error:
                element.problem(f"{validator_path}.expression", str(error))
        elif validator_type in ("regex", "email"):
            message = f"a validator of the type {validator_type!r} has no place here"
            element.problem(validator_path, message, _PATTERNS, severity="warning")
        else:
            element.problem(validator_path, f"there is no validator of the type {validator_type!r}", "leave it out")
