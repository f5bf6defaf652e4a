"""Conditions as SurveyJS writes them, ``{age} >= 18 and {news} anyof ['net']``, as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from naysay import _checks
from naysay.errors import DataError, NaysayError
from naysay.questionnaire.expressions.evaluation import Answer, Apply, Expression, Sent, Value
from naysay.questionnaire.surveyjs.names import key_of

if TYPE_CHECKING:
    from lark import Lark


_LONGEST, _DEEPEST = 2_000, 40

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
    >>> from naysay.questionnaire import write_expression
    >>> known = {"age": Asked("age"), "my news": Asked("my_news", "several", {"the net": "net", "tv": "tv"})}
    >>> print(write_expression(condition("{age} >= 18 && {my news} anyof ['the net', 'tv']", known)))
    ${age} >= 18 and (selected(${my_news}, 'net') or selected(${my_news}, 'tv'))
    """
    if len(text) > _LONGEST:
        raise DataError(f"an expression must have at most {_LONGEST:,} characters; got {len(text):,}")
    grammar = _grammar()
    # import after the grammar: that one explains how to install a missing lark
    from lark.exceptions import UnexpectedInput

    try:
        reader = _Reader(questions, own_name)
        return reader.logical(reader.of(grammar.parse(text)))
    except UnexpectedInput as error:
        place = getattr(error, "pos_in_stream", None)
        at_end = getattr(getattr(error, "token", None), "type", "") == "$END"
        text_there = text[place : place + 20] if isinstance(place, int) and place >= 0 and not at_end else ""
        complaint = f"{text_there!r} is not understood" if text_there else "something is missing at its end"
        raise DataError(f"cannot read the expression {_quoted_text(text)}: {complaint}") from None
    except RecursionError:
        raise DataError(f"cannot read the expression {_quoted_text(text)}: it is nested too deeply") from None


@cache
def _grammar() -> Lark:
    try:
        from lark import Lark
    except ImportError:
        raise NaysayError("conditions are read with lark; install it with: pip install 'naysay[collect]'") from None
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=False)


def _quoted_text(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:119]}…")


class _Reader:
    """Turns a tree of the grammar into an expression. A list in it is a Python list until its operator is known."""

    def __init__(self, questions: Mapping[str, Asked], own_name: str) -> None:
        self.questions, self.own = questions, own_name
        self.asked: dict[str, Asked] = {}

    def of(self, tree: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise DataError(f"expressions are nested {_DEEPEST} deep at most")
        parts = [child if isinstance(child, str) else self.of(child, depth + 1) for child in tree.children]
        return getattr(self, f"_{tree.data.strip('_')}")(parts)

    def logical(self, node: Any) -> Expression:
        """A node where a truth value is wanted: a boolean question says yes."""
        if isinstance(node, list):
            raise DataError("a list must stand behind anyof, noneof, allof or =")
        question = self.asked.get(node.of) if isinstance(node, Answer) else None
        return _apply("=", node, Value(value="yes")) if question and question.kind == "boolean" else node

    def _start(self, parts: list[Any]) -> Any:
        return parts[0]

    _inner = _start

    def _or(self, parts: list[Any]) -> Expression:
        return _apply("or", *map(self.logical, parts))

    def _and(self, parts: list[Any]) -> Expression:
        return _apply("and", *map(self.logical, parts))

    def _not(self, parts: list[Any]) -> Expression:
        return _apply("not", self.logical(parts[1]))

    def _number(self, parts: list[str]) -> Expression:
        return Value(value=float(parts[0]) if "." in parts[0] else int(parts[0][:15]))

    def _text(self, parts: list[str]) -> Expression:
        return Value(value=parts[0][1:-1].replace("\\'", "'").replace('\\"', '"'))

    def _word(self, parts: list[str]) -> Expression:
        constants = {"true": True, "false": False, "null": "", "undefined": ""}
        return Value(value=constants.get(parts[0].lower(), str(parts[0])))

    def _signed(self, parts: list[Any]) -> Expression:
        sign, operand = parts
        if isinstance(operand, Value) and type(operand.value) in (int, float):
            return Value(value=-operand.value if sign == "-" else operand.value)  # type: ignore[operator]
        return _apply(str(sign), Value(value=0), operand)

    def _list(self, parts: list[Any]) -> list[Any]:
        return parts

    def _reference(self, parts: list[str]) -> Expression:
        name = parts[0][1:-1].strip().removeprefix("#")
        if name == self.own:
            return Answer(of=".")
        question = self.questions.get(name)
        if question is None:
            raise DataError(f"{{{name}}} must be a question; {_checks.nearest(name, list(self.questions)[:200])}")
        self.asked[question.name] = question
        return Answer(of=question.name)

    def _call(self, parts: list[Any]) -> Expression:
        name, *args = parts
        if name in ("today", "currentDate") and not args:
            return _apply("today")
        if name == "getDate" and len(args) == 1:
            return self.logical(args[0])
        if name == "sent" and len(args) == 1 and isinstance(args[0], Answer) and args[0].of != ".":
            return Sent(of=args[0].of)
        raise DataError(f"{name}() is not understood here; {_WAYS_OUT.get(str(name), 'compare with an answer')}")

    def _ended(self, parts: list[Any]) -> Expression:
        choice_count = _apply("count_selected", self.single(parts[0]))
        return _apply(">" if parts[1].lower() == "notempty" else "=", choice_count, Value(value=0))

    def single(self, node: Any) -> Expression:
        """A node that must not be a list."""
        if isinstance(node, list):
            raise DataError("a list must stand behind anyof, noneof, allof or =")
        return node  # type: ignore[no-any-return]

    def _binary(self, parts: list[Any]) -> Expression:
        left_node, sign, right_node = parts
        op = _COMPARED.get(sign.lower())
        if op is None:
            raise DataError(f"{sign} is not computed here; multiply instead")
        several = isinstance(left_node, Answer) and self.kind(left_node) == "several"
        if op in ("=", "!=") and (isinstance(right_node, list) or (several and isinstance(right_node, Value))):
            choices = right_node if isinstance(right_node, list) else [right_node]
            count_fits = _apply("=", _apply("count_selected", left_node), Value(value=len(choices)))
            same = _apply("and", count_fits, *self._selections(left_node, choices))
            return same if op == "=" else _apply("not", same)
        left_side, right_side = self.single(left_node), self.single(right_node)
        equal = op in ("=", "!=")
        return (
            _apply(op, self._code(left_side, right_side), self._code(right_side, left_side))
            if equal
            else _apply(op, left_side, right_side)
        )

    def kind(self, node: Answer) -> str:
        """The kind of question that an answer is to."""
        return (self.questions[self.own] if node.of == "." else self.asked[node.of]).kind

    def _among(self, parts: list[Any]) -> Expression:
        left_node, sign, right_node = parts
        op = _ALIASES.get(sign.lower(), sign.lower())
        choices = right_node if isinstance(right_node, list) else [right_node]
        if not isinstance(left_node, Answer) or not choices:
            raise DataError(f"{op} must stand between a question and the choices of which it speaks")
        if (self.questions[self.own] if left_node.of == "." else self.asked[left_node.of]).codes is None:
            raise DataError(f"{op} must be of a question with choices; parts of texts and numbers are not looked for")
        selections = self._selections(left_node, choices)
        joint_selection = (
            selections[0]
            if len(selections) == 1
            else _apply("and" if op in ("allof", "contains") else "or", *selections)
        )
        return _apply("not", joint_selection) if op in ("notcontains", "noneof") else joint_selection

    def _selections(self, answer_node: Answer, choices: list[Any]) -> list[Expression]:
        return [_apply("selected", answer_node, self._code(self.single(choice), answer_node)) for choice in choices]

    def _code(self, node: Expression, other_node: Expression) -> Expression:
        """A constant beside a question with choices, as the name of its choice."""
        if not (isinstance(node, Value) and isinstance(other_node, Answer)) or node.value == "":
            return node
        question = self.questions[self.own] if other_node.of == "." else self.asked[other_node.of]
        if question.codes is None:
            return node
        key = key_of(node.value)
        if key not in question.codes:
            raise DataError(f"{key!r} is no choice of {question.name!r}; {_checks.nearest(key, question.codes)}")
        return Value(value=question.codes[key])


def _apply(op: str, *args: Expression) -> Apply:
    return Apply(op=op, args=args)
