"""What SurveyJS writes: names and texts, conditions such as ``{age} >= 18 and {news} anyof ['net']``, and elements."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, TypeAlias

from naysay import _checks
from naysay.collect.questionnaire.arms import control_of
from naysay.collect.questionnaire.expressions import (
    DEEPEST,
    LONGEST,
    Answer,
    Apply,
    Expression,
    Sent,
    Value,
    grammar_of,
)
from naysay.collect.questionnaire.kinds import Integer
from naysay.collect.questionnaire.offers import bins_of, carried_out, parted, private_of, sink_words
from naysay.collect.questionnaire.questions import Draft, Kind, Place, Problem, Severity
from naysay.errors import DataError, DesignError

if TYPE_CHECKING:
    from lark import Token, Tree

Node: TypeAlias = "Expression | list[Node]"

ItemForm = dict[str, Any]
"""The JSON form of a question, note or group, before it is checked."""

_GRAMMAR = r"""
start: _either
_either: both_ | either_
either_: both_ (_OR both_)+ -> or_
?both_: compared | compared (_AND compared)+ -> and_
?compared: sum | compared COMPARE sum -> binary
?sum: product | sum SIGN product -> binary
?product: among | product FACTOR among -> binary
?among: ended | among AMONG ended -> among_
?ended: operand | operand ENDING -> ended_
?operand: NUMBER -> number
    | TEXT -> text
    | REFERENCE -> reference
    | WORD -> word
    | WORD "(" [_either ("," _either)*] ")" -> call
    | "[" [_either ("," _either)*] "]" -> list_
    | "(" _either ")" -> inner
    | NOT operand -> not_
    | SIGN operand -> signed
_OR: /\|\||or\b/i
_AND: /&&|and\b/i
COMPARE: /<=|>=|==|=|!=|<>|<|>|(lessorequal|greaterorequal|notequal|equal|less|greater)\b/i
ENDING: /(notempty|empty)\b/i
AMONG: /\*=|(notcontains|notcontain|contains|contain|anyof|noneof|allof)\b/i
SIGN: "+" | "-"
FACTOR: /\*(?!=)|\/|%|\^|power\b/i
NOT.2: /!|negate\b/i
NUMBER: /[0-9]+(\.[0-9]+)?/
TEXT: /'(\\.|[^'\\])*'|"(\\.|[^"\\])*"/
REFERENCE: /\{[^{}]+\}/
WORD: /[A-Za-z_][A-Za-z0-9_]*/
%ignore /\s+/
"""

_COMPARED = {
    **{"==": "=", "equal": "=", "=": "=", "!=": "!=", "<>": "!=", "notequal": "!="},
    **{"<": "<", "less": "<", ">": ">", "greater": ">", "<=": "<=", "lessorequal": "<="},
    **{">=": ">=", "greaterorequal": ">="},
    **{"+": "+", "-": "-", "*": "*", "/": "div", "%": "mod"},
}
_ALIASES = {"*=": "contains", "contain": "contains", "notcontain": "notcontains"}
_WAYS_OUT = {
    "iif": "write the cases with and, or and !",
    "age": "ask for the age, or compare the day of birth with a day",
    "isContainerReady": "questions are checked one by one",
    "displayValue": "compare with the value of the choice",
}


@dataclass(frozen=True)
class Asked:
    """What a condition must know of a question: its kind, and its choices as SurveyJS and the questionnaire name them.

    Parameters
    ----------
    name : str
        In the questionnaire.
    kind : str
        ``several``, ``boolean`` or another.
    codes : {value: name}
    """

    name: str
    kind: str = ""
    codes: Mapping[str, str] | None = None


def condition(text: str, questions: Mapping[str, Asked], *, own_name: str = "") -> Expression:
    """The expression that a condition of SurveyJS stands for.

    Parameters
    ----------
    text : str
    questions : {name: Asked}
        By their names in SurveyJS.
    own_name : str
        The question whose answer is checked, in a validator.

    Raises
    ------
    DataError
        What has no meaning here, with the way out.
    NaysayError
        The extra ``collect`` is not installed.

    Examples
    --------
    >>> from naysay.collect.questionnaire import write_expression
    >>> known = {"age": Asked("age"), "my news": Asked("my_news", "several", {"the net": "net", "tv": "tv"})}
    >>> print(write_expression(condition("{age} >= 18 && {my news} anyof ['the net', 'tv']", known)))
    ${age} >= 18 and (selected(${my_news}, 'net') or selected(${my_news}, 'tv'))
    """
    if len(text) > LONGEST:
        raise DataError(f"an expression must have at most {LONGEST:,} characters; got {len(text):,}")
    grammar = grammar_of(_GRAMMAR, maybe_placeholders=False)
    # import after the grammar: that one explains how to install a missing lark
    from lark.exceptions import UnexpectedInput

    try:
        reader = _Reader(questions, own_name)
        return reader.logical(reader.of(grammar.parse(text)))
    except UnexpectedInput as error:
        error_place = getattr(error, "pos_in_stream", None)
        at_end = getattr(getattr(error, "token", None), "type", "") == "$END"
        text_start = error_place if isinstance(error_place, int) and error_place >= 0 and not at_end else len(text)
        text_there = text[text_start : text_start + 20]
        complaint = f"{text_there!r} is not understood" if text_there else "something is missing at its end"
        raise DataError(f"cannot read the expression {_quoted_text(text)}: {complaint}") from None
    except RecursionError:
        raise DataError(f"cannot read the expression {_quoted_text(text)}: it is nested too deeply") from None


def _quoted_text(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:119]}…")


class _Reader:
    """Turns a tree of the grammar into an expression. A list in it is a Python list until its operator is known."""

    def __init__(self, questions: Mapping[str, Asked], own_name: str) -> None:
        self.questions, self.own = questions, own_name
        self.asked: dict[str, Asked] = {}

    def of(self, tree: Tree[Token], depth: int = 0) -> Node:
        if depth > DEEPEST:
            raise DataError(f"expressions are nested {DEEPEST} deep at most")
        token = next((str(child) for child in tree.children if isinstance(child, str)), "")
        nodes = [self.of(child, depth + 1) for child in tree.children if not isinstance(child, str)]
        match tree.data:
            case "or_" | "and_":
                return _apply(tree.data.strip("_"), *map(self.logical, nodes))
            case "not_":
                return _apply("not", self.logical(nodes[0]))
            case "number":
                return Value(value=float(token) if "." in token else int(token[:15]))
            case "text":
                return Value(value=token[1:-1].replace("\\'", "'").replace('\\"', '"'))
            case "word":
                constants = {"true": True, "false": False, "null": "", "undefined": ""}
                return Value(value=constants.get(token.lower(), token))
            case "signed":
                operand = _single(nodes[0])
                if isinstance(operand, Value) and not isinstance(operand.value, bool | str):
                    return Value(value=-operand.value if token == "-" else operand.value)
                return _apply(token, Value(value=0), operand)
            case "list_":
                return nodes
            case "reference":
                return self._reference(token[1:-1].strip().removeprefix("#"))
            case "call":
                return self._call(token, nodes)
            case "ended_":
                choice_count = _apply("count_selected", _single(nodes[0]))
                return _apply(">" if token.lower() == "notempty" else "=", choice_count, Value(value=0))
            case "binary":
                return self._binary(nodes[0], token, nodes[1])
            case "among_":
                return self._among(nodes[0], token.lower(), nodes[1])
        return nodes[0]

    def logical(self, node: Node) -> Expression:
        """A node where a truth value is wanted: a boolean question says yes."""
        expression = _single(node)
        asked_question = self.asked.get(expression.of) if isinstance(expression, Answer) else None
        is_boolean = asked_question is not None and asked_question.kind == "boolean"
        return _apply("=", expression, Value(value="yes")) if is_boolean else expression

    def _reference(self, question_name: str) -> Expression:
        if question_name == self.own:
            return Answer(of=".")
        asked_question = self.questions.get(question_name)
        if asked_question is None:
            raise DataError(
                f"{{{question_name}}} must be a question; {_checks.nearest(question_name, list(self.questions)[:200])}"
            )
        self.asked[asked_question.name] = asked_question
        return Answer(of=asked_question.name)

    def _call(self, function_name: str, arguments: list[Node]) -> Expression:
        if function_name in ("today", "currentDate") and not arguments:
            return _apply("today")
        if function_name == "getDate" and len(arguments) == 1:
            return self.logical(arguments[0])
        private_answer = arguments[0] if function_name == "sent" and len(arguments) == 1 else None
        if isinstance(private_answer, Answer) and private_answer.of != ".":
            return Sent(of=private_answer.of)
        way_out = _WAYS_OUT.get(function_name, "compare with an answer")
        raise DataError(f"{function_name}() is not understood here; {way_out}")

    def _binary(self, left_node: Node, sign: str, right_node: Node) -> Expression:
        op = _COMPARED.get(sign.lower())
        if op is None:
            raise DataError(f"{sign} is not computed here; multiply instead")
        left_side = _single(left_node)
        takes_several = isinstance(left_side, Answer) and self.question(left_side).kind == "several"
        if op in ("=", "!=") and (isinstance(right_node, list) or (takes_several and isinstance(right_node, Value))):
            choice_nodes: list[Node] = right_node if isinstance(right_node, list) else [right_node]
            count_fits = _apply("=", _apply("count_selected", left_side), Value(value=len(choice_nodes)))
            same_choices = _apply("and", count_fits, *self._selections(left_side, choice_nodes))
            return same_choices if op == "=" else _apply("not", same_choices)
        right_side = _single(right_node)
        if op in ("=", "!="):
            return _apply(op, self._code(left_side, right_side), self._code(right_side, left_side))
        return _apply(op, left_side, right_side)

    def question(self, node: Answer) -> Asked:
        """The question that an answer is to."""
        return self.questions[self.own] if node.of == "." else self.asked[node.of]

    def _among(self, left_node: Node, sign: str, right_node: Node) -> Expression:
        op = _ALIASES.get(sign, sign)
        choice_nodes: list[Node] = right_node if isinstance(right_node, list) else [right_node]
        if not isinstance(left_node, Answer) or not choice_nodes:
            raise DataError(f"{op} must stand between a question and the choices of which it speaks")
        if self.question(left_node).codes is None:
            raise DataError(f"{op} must be of a question with choices; parts of texts and numbers are not looked for")
        selections = self._selections(left_node, choice_nodes)
        joint_op = "and" if op in ("allof", "contains") else "or"
        joint_selection = selections[0] if len(selections) == 1 else _apply(joint_op, *selections)
        return _apply("not", joint_selection) if op in ("notcontains", "noneof") else joint_selection

    def _selections(self, answer_node: Expression, choices: list[Node]) -> list[Expression]:
        return [_apply("selected", answer_node, self._code(_single(choice), answer_node)) for choice in choices]

    def _code(self, node: Expression, other_node: Expression) -> Expression:
        """A constant beside a question with choices, as the name of its choice."""
        if not (isinstance(node, Value) and isinstance(other_node, Answer)) or node.value == "":
            return node
        asked_question = self.question(other_node)
        if asked_question.codes is None:
            return node
        key = key_of(node.value)
        if key not in asked_question.codes:
            raise DataError(
                f"{key!r} is no choice of {asked_question.name!r}; {_checks.nearest(key, asked_question.codes)}"
            )
        return Value(value=asked_question.codes[key])


def _single(node: Node) -> Expression:
    """A node that must not be a list."""
    if isinstance(node, list):
        raise DataError("a list must stand behind anyof, noneof, allof or =")
    return node


def _apply(op: str, *args: Expression) -> Apply:
    return Apply(op=op, args=args)


PRIVACY = "naysay"
"""The custom property of a question that holds its privacy."""

_ARM_CELLS = ("arms", "measures", "control", "order")
"""Beside privacy, its custom property says in which arms it is asked, and what it shows there."""

_PIPED = re.compile(r"\{([^{}]{1,200})\}")
_PRIVACY = (
    "design", "levels", "sink", "sinkLabel", "bins", "mode", "beginsAt", "innocuous", "firstLabel", "secondLabel",
)  # fmt: skip


@dataclass
class Source:
    """A survey of SurveyJS while it is read.

    Parameters
    ----------
    draft : Draft
        What has been read.
    languages : tuple of str
        The survey's own language first.
    questions : {name: Asked}
        Every question by its name in SurveyJS.
    privacy : set of str
        Where privacy has been read, such as ``pages[0].elements[2].naysay``.
    """

    draft: Draft
    languages: tuple[str, ...]
    questions: dict[str, Asked] = field(default_factory=dict)
    privacy: set[str] = field(default_factory=set)

    def problem(
        self, path: str, message: str, way_out: str = "", reason: str = "", severity: Severity = "error"
    ) -> None:
        """Note what is wrong at a place."""
        self.draft.problems.append(Problem("surveyjs", message, reason, way_out, severity, place=Place(path=path)))

    def text(self, value: object, path: str) -> dict[str, str]:
        """A text in each language that it has; names of questions in braces become those of the questionnaire."""
        text_of_tag = {DEFAULT: value} if isinstance(value, str) else value
        if text_of_tag is None:
            return {}
        if not isinstance(text_of_tag, dict) or not all(isinstance(text, str) for text in text_of_tag.values()):
            self.problem(path, "a text must be written in quotes, or as an object with a text for each language")
            return {}
        text_of_language = {self.languages[0] if name == DEFAULT else name: text for name, text in text_of_tag.items()}
        return {
            name: _PIPED.sub(
                lambda piped: f"${{{asked.name}}}" if (asked := self.questions.get(piped[1].strip())) else piped[0],
                text,
            )
            for name, text in text_of_language.items()
            if name in self.languages
        }


class Element:
    """A page, panel or question.

    Parameters
    ----------
    source : Source
    raw : object
        As it was written.
    path : str
        Where it stands in SurveyJS, such as ``pages[0].elements[2]``.
    """

    def __init__(self, source: Source, raw: Mapping[str, object], path: str) -> None:
        self.source, self.raw, self.path = source, raw, path
        self.read: set[str] = set()

    @property
    def type(self) -> str:
        """What kind of element it is, as SurveyJS calls it."""
        return str(self.get("type", "text"))

    @property
    def name(self) -> str:
        """Its name in SurveyJS."""
        return str(self.raw.get("name", ""))

    def get(self, key: str, default: object = None) -> Any:
        """A property; it counts as read."""
        self.read.add(key)
        return self.raw.get(key, default)

    def problem(
        self, key: str, message: str, way_out: str = "", reason: str = "", severity: Severity = "error"
    ) -> None:
        """Note what is wrong with a property."""
        self.source.problem(f"{self.path}.{key}" if key else self.path, message, way_out, reason, severity)

    def text(self, key: str) -> dict[str, str]:
        """A text in each language that it has; empty where there is none."""
        return self.source.text(self.get(key), f"{self.path}.{key}")

    def label(self) -> dict[str, str]:
        """The title, or else the name, which SurveyJS shows in its place."""
        return self.text("title") or dict.fromkeys(self.source.languages, self.name)

    def number(self, key: str, default: float | None = None) -> float | None:
        """A property that is a number; numbers in quotes count."""
        value = self.get(key)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                value = None
        if value is None and self.raw.get(key) in (None, ""):
            return default
        if type(value) not in (int, float):
            self.problem(key, f"{key} must be a number; got {str(self.raw[key])[:60]!r}")
            return default
        return float(value) if abs(value) < 2**53 else default

    def condition(self, key: str) -> dict[str, Any] | None:
        """A condition in its canonical form; None where there is none, or none that can be read."""
        condition_text = self.get(key)
        if condition_text in (None, ""):
            return None
        try:
            if not isinstance(condition_text, str):
                raise DataError(f"a condition must be a text; got {type(condition_text).__name__}")
            return condition(condition_text, self.source.questions).model_dump(mode="json")
        except DataError as error:
            self.problem(key, str(error))
            return None

    def members_of_list(self, key: str) -> list[dict[str, Any]]:
        """The members of a list, such as choices or rows, each as an object with a value."""
        raw_list = self.get(key, [])
        if not isinstance(raw_list, list):
            self.problem(key, f"{key} must be a list")
            return []
        members = []
        for member_place, raw_member in enumerate(raw_list):
            member = raw_member if isinstance(raw_member, dict) else {"value": raw_member}
            if not isinstance(member.get("value"), str | int | float | bool):
                self.problem(f"{key}[{member_place}]", "a choice must have a value", "write one, such as 1 or yes")
                continue
            for refused_property in ("visibleIf", "enableIf", "elements"):
                if member.get(refused_property):
                    message = f"one choice by itself has no {refused_property} here"
                    way_out = "offer it to everybody, or ask a question for each group, each with visibleIf"
                    self.problem(f"{key}[{member_place}].{refused_property}", message, way_out)
            members.append(member | {"at": f"{self.path}.{key}[{member_place}]"})
        return members

    def raw_members(self, key: str) -> list[Any]:
        """The members of a list as they are written; empty where there is no list."""
        raw_list = self.get(key, [])
        return raw_list if isinstance(raw_list, list) else []

    def choices(self, members: Sequence[Mapping[str, object]], path: str) -> list[dict[str, Any]]:
        """Choices or rows in their canonical form; `path` is where they stand in it."""
        choice_forms, codes = [], codes_of(members)
        for choice_place, choice in enumerate(members):
            value_key, choice_path = key_of(choice["value"]), str(choice.get("at", self.path))
            choice_text = self.source.text(choice.get("text"), f"{choice_path}.text")
            choice_label = choice_text or dict.fromkeys(self.source.languages, value_key)
            self.source.draft.places[f"{path}[{choice_place}]"] = Place(path=choice_path)
            choice_forms.append({"name": codes[value_key], "label": choice_label})
            if choice_text and codes[value_key] != value_key:
                message = f"the value {value_key!r} is called {codes[value_key]!r} in data"
                self.source.problem(choice_path, message, severity="warning")
        return choice_forms

    @property
    def shuffles(self) -> bool:
        """Whether its choices stand in another order for each respondent."""
        return self.type in ("radiogroup", "dropdown", "buttongroup") and self.get("choicesOrder") == "random"

    def compared(self, *fields: str) -> dict[str, Any]:
        """The arms in which it is asked, what it measures beside others, and of which question it is a control."""
        raw_property = self.get(PRIVACY)
        cells = raw_property if isinstance(raw_property, dict) else {}
        if cells:
            self.source.privacy.add(f"{self.path}.{PRIVACY}")
        compared_fields: dict[str, Any] = {"order": "shuffled"} if "order" in fields and self.shuffles else {}
        compared_fields |= {name: cells[name] for name in ("measures", "order") if name in fields and name in cells}
        if arm_names := list(map(str, _list_of(cells.get("arms") or ""))):
            compared_fields["arms"] = arm_names
        try:
            if "control" in fields and cells.get("control"):
                compared_fields["control"] = control_of(str(cells["control"]))
                compared_fields |= {} if self.get("title") else {"label": {}}  # words as in `complete_controls`
        except DataError as error:
            self.problem(PRIVACY, str(error))
        return compared_fields

    def private(self, kind: Kind, item: ItemForm, codes: Mapping[str, str]) -> dict[str, Any]:
        """The privacy that the custom property describes, with bins where a number has them."""
        raw_privacy = self.get(PRIVACY)
        self.source.privacy.add(f"{self.path}.{PRIVACY}")
        if isinstance(raw_privacy, dict) and "naysay" not in raw_privacy:
            raw_privacy = {name: cell for name, cell in raw_privacy.items() if name not in _ARM_CELLS} or None
        if raw_privacy in (None, ""):
            return {}
        is_whole_design = isinstance(raw_privacy, str) or (
            isinstance(raw_privacy, dict) and raw_privacy.get("naysay") == "design"
        )
        privacy_cells = {"design": raw_privacy} if is_whole_design else raw_privacy
        if not isinstance(privacy_cells, dict) or not set(privacy_cells) <= set(_PRIVACY):
            self.problem(PRIVACY, f"it must be a design, or an object of {', '.join((*_PRIVACY, *_ARM_CELLS))}")
            return {}
        if not kind.categories_in:
            way_out = "ask with radiogroup, dropdown, checkbox, boolean, or a number with bins"
            self.problem(PRIVACY, f"a {self.type} cannot be private", way_out, "designs are about categories")
            return {}
        try:
            return self._private(kind, item, dict.fromkeys(_PRIVACY, "") | privacy_cells, codes)
        except (DesignError, DataError, TypeError, ValueError, RecursionError) as error:
            self.problem(PRIVACY, str(error))
            return {}

    def _private(
        self, kind: Kind, item: ItemForm, privacy_cells: Mapping[str, object], codes: Mapping[str, str]
    ) -> dict[str, Any]:
        languages, bin_fields = self.source.languages, {}
        if kind.categories_in == "bins":
            bin_ends = [float(bin_end) for bin_end in _list_of(privacy_cells["bins"])]
            if not bin_ends:
                raise DataError("a private number needs bins: write where they end, such as [20, 40, 60]")
            bin_fields = {"bins": bins_of(bin_ends, languages, whole=kind is Integer)}
        elif privacy_cells["bins"]:
            raise DataError("bins are for numbers; choices are categories already")
        category_names = kind.categories_of([category["name"] for category in (item | bin_fields)[kind.categories_in]])
        design = privacy_cells["design"]
        sink_label, innocuous_label, first_label, second_label = (
            self.source.text(privacy_cells[text_name] or None, f"{self.path}.{PRIVACY}.{text_name}")
            for text_name in ("sinkLabel", "innocuous", "firstLabel", "secondLabel")
        )
        private_form = carried_out(
            private_of(
                category_names,
                design=json.dumps(design) if isinstance(design, dict) else str(design),
                levels=", ".join(map(str, _list_of(privacy_cells["levels"]))),
                sink=", ".join(codes.get(key_of(sink), str(sink)) for sink in _list_of(privacy_cells["sink"])),
                words=sink_label or sink_words(languages),
            ),
            languages,
            mode=", ".join(_list_of(privacy_cells["mode"])),
            several=kind.yes_or_no,
            innocuous=innocuous_label,
            first=first_label,
            second=second_label,
        )
        if privacy_cells["beginsAt"]:
            private_form["begins_at"] = str(privacy_cells["beginsAt"])
        return {**bin_fields, "private": private_form}


def _list_of(value: object) -> list[Any]:
    """Several values: a list, or a text with commas between them."""
    return value if isinstance(value, list) else parted(str(value))


DEFAULT = "default"
"""The key under which SurveyJS keeps a text in the survey's own language."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE)
TEXT = re.compile("(title|text|html|description|innocuous|label(True|False)?)$", re.IGNORECASE)
"""Properties that hold a text, which may be an object with a text for each language."""
_LONGEST_NAME = 60


def named(name: str, taken_names: Iterable[str], *, first: str = "q", digits: bool = False) -> str:
    """A name for data as close to this one as may be, and not taken yet.

    Parameters
    ----------
    name : str
    taken_names : iterable of str
    first : str
        What stands before a name that would begin with something else than a letter.
    digits : bool
        Whether it may begin with a digit or a minus sign, as the name of a choice may.

    Examples
    --------
    >>> named("Très satisfait !", ()), named("1st car", ()), named("age", ("age",)), named("-99", (), digits=True)
    ('Tres_satisfait', 'q1st_car', 'age_2', '-99')
    """
    plain_name = "".join(
        character for character in unicodedata.normalize("NFKD", name) if not unicodedata.combining(character)
    )
    candidate_name = _OTHER.sub("_", plain_name)
    if candidate_name != name:
        candidate_name = candidate_name.strip("_-")
    if not re.match(r"-?[A-Za-z0-9_]" if digits else "[A-Za-z_]", candidate_name):
        candidate_name = first + candidate_name.lstrip("-")
    candidate_name, reserved_names, next_number = candidate_name[:_LONGEST_NAME], set(taken_names), 2
    name_begin = candidate_name
    while candidate_name in reserved_names:
        candidate_name, next_number = f"{name_begin}_{next_number}", next_number + 1
    return candidate_name


def key_of(value: object) -> str:
    """A value of a choice as text: SurveyJS does not tell 1 from "1".

    Examples
    --------
    >>> key_of(True), key_of(1.0), key_of("a")
    ('true', '1', 'a')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, sort_keys=True)


def codes_of(members: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """The name of each member of a list of choices, by the key of its value.

    Examples
    --------
    >>> codes_of({"value": value} for value in ("Very good", "very good!", 3))
    {'Very good': 'Very_good', 'very good!': 'very_good', '3': '3'}
    """
    name_of_value: dict[str, str] = {}
    for member in members:
        value_key = key_of(member["value"])
        if value_key not in name_of_value:
            name_of_value[value_key] = named(value_key, name_of_value.values(), first="c", digits=True)
    return name_of_value


def languages_of(form: Mapping[str, object]) -> tuple[str, ...]:
    """The languages of a survey, its own first.

    Examples
    --------
    >>> languages_of({"pages": [{"title": {"default": "Age", "de": "Alter"}}]})
    ('en', 'de')
    """
    own_language = form.get("locale")
    language_tags = [own_language if isinstance(own_language, str) and _LANGUAGE.fullmatch(own_language) else "en"]
    waiting_nodes: list[tuple[str, object]] = [("", form)]
    while waiting_nodes:  # no recursion: a stranger's file may be nested a thousand times
        node_key, node = waiting_nodes.pop()
        if isinstance(node, dict):
            if TEXT.search(node_key):
                text_tags = [text_tag for text_tag, text in node.items() if isinstance(text, str)]
                language_tags += [tag for tag in text_tags if tag != DEFAULT and _LANGUAGE.fullmatch(tag)]
            waiting_nodes += reversed(node.items())
        elif isinstance(node, list):
            waiting_nodes += [(node_key, inner_node) for inner_node in reversed(node)]
    return tuple(dict.fromkeys(language_tags))


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found += ["\n"] if tag in ("br", "p", "div", "li") else []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def unmarked(label: Mapping[str, str]) -> dict[str, str]:
    r"""HTML without its markup, in each language.

    Examples
    --------
    >>> unmarked({"en": "<h3>Thank <b>you</b></h3><p>Bye &amp; all"})
    {'en': 'Thank you\nBye & all'}
    """
    plain_label = {}
    for language, text in label.items():
        reader = _Texts()
        reader.feed(text)
        reader.close()
        plain_label[language] = "".join(reader.found).strip()
    return plain_label
