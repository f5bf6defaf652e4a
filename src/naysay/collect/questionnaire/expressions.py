"""The value of an expression, given the answers: the same on the device and on the server.

Values are null (None), booleans, numbers, strings and lists of strings; numbers behave as in JavaScript. The rules are
written out in ``tests/reference/expression_vectors.json``, which every client replays.

Conditions over answers, as data: parsed once, evaluated the same way on the device and on the server.

Conditions as XLSForm writes them, ``${age} >= 18 and selected(${news}, 'net')``, read into expressions and back.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Literal, TypeGuard

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from naysay import _checks
from naysay.errors import DataError, NaysayError

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Content = bool | int | float | str | list[str] | None

Meaning = Callable[[Mapping[str, object], Mapping[str, object], str], Content]
"""The value of an expression from plain answers, from the responses that are sent, and from the day."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def evaluate(
    expression: Expression,
    answers: Mapping[str, object],
    *,
    sent: Mapping[str, object] | None = None,
    today: str | None = None,
) -> Content:
    """The value of an expression.

    Parameters
    ----------
    expression : Expression
    answers : {question: value}
        Plain answers, as they would be sent; ``"."`` is the answer to which a constraint belongs. Missing answers are
        null.
    sent : {question: str or list of str}, optional
        The responses that will be sent: a label as text, a set as a list.
    today : str, optional
        The day, such as 2026-11-20; by default today on this computer.

    Returns
    -------
    None, bool, float, int, str or list of str

    Raises
    ------
    DataError
        A function with the wrong number of arguments.

    Examples
    --------
    >>> from naysay.collect.questionnaire import parse_expression
    >>> evaluate(parse_expression("${age} >= 18 and selected(${news}, 'net')"), {"age": 30, "news": ["net"]})
    True
    """
    day = today or datetime.datetime.now().astimezone().date().isoformat()
    return compiled(expression)(answers, sent or {}, day)


def compiled(expression: Expression) -> Meaning:
    """The expression as a function of plain answers, of responses and of the day, for all who answer.

    Raises
    ------
    DataError
        A function with the wrong number of arguments.

    Examples
    --------
    >>> from naysay.collect.questionnaire import parse_expression
    >>> compiled(parse_expression("${age} >= 18"))({"age": 30}, {}, "2026-11-20")
    True
    """
    if isinstance(expression, Value):
        constant = expression.value
        return lambda answers, responses, day: constant
    if isinstance(expression, Answer):
        question_name = expression.of
        return lambda answers, responses, day: _content_of(answers.get(question_name))
    if isinstance(expression, Sent):
        question_name = expression.of
        return lambda answers, responses, day: _content_of(responses.get(question_name))
    op, parts = expression.op, [compiled(part) for part in expression.args]
    least, most = ARITY[op]
    if not least <= len(parts) <= most:
        expected_count = least if least == most else f"{least} or more"
        raise DataError(f"{op} takes {expected_count} arguments; got {len(parts)}")
    if op == "today":
        return lambda answers, responses, day: day
    if op in ("and", "or"):  # arguments after the one that decides are not evaluated
        decides = all if op == "and" else any
        return lambda answers, responses, day: decides(truth(part(answers, responses, day)) for part in parts)
    operation = _OPERATIONS[op]
    if len(parts) == 1:
        [only_part] = parts
        return lambda answers, responses, day: operation(only_part(answers, responses, day))
    left_part, right_part = parts
    return lambda answers, responses, day: operation(
        left_part(answers, responses, day), right_part(answers, responses, day)
    )


def truth(value: Content) -> bool:
    """Whether a value counts as true: null, "", 0, NaN, false and the empty list do not.

    Examples
    --------
    >>> [truth(value) for value in (None, "", "0", 0, [])]
    [False, False, True, False, False]
    """
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def _content_of(value: object) -> Content:
    """An answer as a value. An answer of several parts, such as that of a grid, is null: nothing compares with it."""
    if isinstance(value, list | tuple):
        return [str(element) for element in value]
    return value if isinstance(value, bool | int | float | str) else None


def _number(value: Content) -> float:
    """A value as a number; NaN for other values, such as a boolean or a text that is no decimal number."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if not _numeric(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def has_order(text: str) -> bool:
    """Whether a text is a number or a day, so that it can come before another.

    Examples
    --------
    >>> has_order("2026-11-20"), has_order("8.5"), has_order("08:00")
    (True, True, False)
    """
    return bool(_NUMBER.fullmatch(text) or _DAY.fullmatch(text))


def _equal(left_side: Content, right_side: Content) -> bool:
    if isinstance(left_side, list) or isinstance(right_side, list):
        return False
    left_side, right_side = ("" if side is None else side for side in (left_side, right_side))
    if _numeric(left_side) or _numeric(right_side):
        return _number(left_side) == _number(right_side)
    return _text(left_side) == _text(right_side)


def _numeric(value: Content) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Content) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compared(compare: Callable[[float, float], bool], left_side: Content, right_side: Content) -> bool:
    if isinstance(left_side, str) and isinstance(right_side, str) and all(map(_DAY.fullmatch, (left_side, right_side))):
        return compare((left_side > right_side) - (left_side < right_side), 0)
    return compare(_number(left_side), _number(right_side))


def _computed(compute: Callable[[float, float], float], left_side: Content, right_side: Content) -> float:
    return compute(_number(left_side), _number(right_side))


def _quotient(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def _selected(answer: Content, choice: Content) -> bool:
    if _numeric(choice) and abs(choice) < 2**53 and choice % 1 == 0:
        choice = str(int(choice))  # a choice named by a number without quotes, as other tools allow
    if isinstance(answer, list):
        return isinstance(choice, str) and choice in answer
    return isinstance(answer, str) and answer != "" and answer == choice


_OPERATIONS: dict[str, Callable[..., Content]] = {
    "not": lambda value: not truth(value),
    "=": _equal,
    "!=": lambda left_side, right_side: not _equal(left_side, right_side),
    "<": partial(_compared, operator.lt),
    "<=": partial(_compared, operator.le),
    ">": partial(_compared, operator.gt),
    ">=": partial(_compared, operator.ge),
    "+": partial(_computed, operator.add),
    "-": partial(_computed, operator.sub),
    "*": partial(_computed, operator.mul),
    "div": partial(_computed, _quotient),
    "mod": partial(_computed, lambda a, b: math.nan if math.isinf(a) or b == 0 else math.fmod(a, b)),
    "selected": _selected,
    "count_selected": lambda answer: len(answer) if isinstance(answer, list) else int(answer not in (None, "")),
    "string_length": lambda value: len(value) if isinstance(value, str) else 0,
}

_ANY = 10**6
_UNARY = ("not", "count_selected", "string_length")
ARITY = {
    **dict.fromkeys(_OPERATIONS, (2, 2)), **dict.fromkeys(_UNARY, (1, 1)),
    "today": (0, 0), "and": (1, _ANY), "or": (1, _ANY),
}  # fmt: skip
"""How many arguments each operator or function takes: fewest and most."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Value(_Node):
    """A constant.

    Examples
    --------
    >>> Value(value=18).value
    18
    """

    kind: Literal["value"] = "value"
    value: bool | int | float | str


class Answer(_Node):
    """The plain answer to a question; ``.`` is the question that the expression belongs to.

    Examples
    --------
    >>> Answer(of="age").of
    'age'
    """

    kind: Literal["answer"] = "answer"
    of: str


class Sent(_Node):
    """The response to a private question as it leaves the device; never the answer itself.

    Examples
    --------
    >>> Sent(of="smoking").kind
    'sent'
    """

    kind: Literal["sent"] = "sent"
    of: str


class Apply(_Node):
    """An operator or function of other expressions.

    Examples
    --------
    >>> Apply(op=">=", args=(Answer(of="age"), Value(value=18))).op
    '>='
    """

    kind: Literal["apply"] = "apply"
    op: Literal[
        "and", "or", "not", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod",
        "selected", "count_selected", "string_length", "today",
    ]  # fmt: skip
    args: tuple[Expression, ...] = ()


Expression = Annotated[Value | Answer | Sent | Apply, Field(discriminator="kind")]

Apply.model_rebuild()


LONGEST, DEEPEST = 2_000, 40
"""The most characters of an expression, and how deep it may be nested."""

_GRAMMAR = r"""
start: _disjunction
_disjunction: conjunction_ | disjunction
disjunction: conjunction_ ("or" conjunction_)+ -> or_
?conjunction_: equality | equality ("and" equality)+ -> and_
?equality: relation | equality EQUAL relation -> binary
?relation: sum | relation ORDER sum -> binary
?sum: product | sum SIGN product -> binary
?product: unary | product FACTOR unary -> binary
?unary: operand | SIGN unary -> signed
?operand: NUMBER -> number
    | TEXT -> text
    | "${" QUESTION "}" -> answer
    | "." -> self
    | NAME "(" [_disjunction ("," _disjunction)*] ")" -> call
    | "(" _disjunction ")" -> inner
EQUAL: "!=" | "="
ORDER: "<=" | ">=" | "<" | ">"
SIGN: "+" | "-"
FACTOR: "*" | "div" | "mod"
NUMBER: /[0-9]+(\.[0-9]*)?|\.[0-9]+/
TEXT: /'[^']*'|"[^"]*"/
QUESTION: /[ ]*[^}\s]+[ ]*/
NAME: /[A-Za-z_][A-Za-z0-9_:-]*/
%ignore /\s+/
"""

_WORD_GRAMMAR = _GRAMMAR.replace('| "." -> self', "| NAME -> answer").replace(
    "NAME: /[A-Za-z_][A-Za-z0-9_:-]*/", r"NAME: /[^\W\d][\w:-]*/"
)
_FUNCTIONS = {op.replace("_", "-"): op for op in ("selected", "count_selected", "string_length", "today", "not")}
_COUNTS = {name: ARITY[op] for name, op in _FUNCTIONS.items()} | {
    "true": (0, 0), "false": (0, 0), "date": (1, 1), "sent": (1, 1),
}  # fmt: skip

_WAYS_OUT = {
    "regex": "patterns differ from browser to browser; ask with the type that fits (integer, decimal, date), offer "
    "choices, or bound the length with string-length(.) = 5",
    "pulldata": "no other file leaves with a survey; put its rows into the choices",
    "now": "the time of day tells who answered; use today()",
    "if": "write the cases with and, or, not()",
    "coalesce": "an empty answer equals ''; compare with it",
    "number": "a number is compared as one already",
    "int": "ask with the type integer",
    "random": "chance is drawn by designs only; see the column bind::naysay_design",
    "once": "nothing is computed between questions",
    "jr:choice-name": "compare with the name of the choice",
    "selected-at": "use selected(), which asks for one choice by name",
}


def parse_expression(text: str, *, words: bool = False) -> Expression:
    """The expression that a condition of an XLSForm stands for.

    Parameters
    ----------
    text : str
        ``${question}``, ``.`` (the answer itself), numbers, quoted texts, ``and or not()``, comparison, ``+ - * div
        mod``, ``selected(), count-selected(), string-length(), today(), date('2026-11-20'), true(), false()``, and
        ``sent(${question})``, the response to a private question as it leaves the device.
    words : bool
        Whether a bare word is the answer of that name, and ``.`` nothing, as in a query of a file.

    Returns
    -------
    Expression

    Raises
    ------
    DataError
        Anything else, with its position and the way out.
    NaysayError
        The extra ``collect`` is not installed.

    Examples
    --------
    >>> parse_expression("${age} >= 18").op
    '>='
    >>> parse_expression("age >= 18", words=True) == parse_expression("${age} >= 18")
    True
    """
    if len(text) > LONGEST:
        raise DataError(f"an expression must have at most {LONGEST:,} characters; got {len(text):,}")
    grammar = grammar_of(_WORD_GRAMMAR if words else _GRAMMAR, propagate_positions=True)
    # import after the grammar: that one explains how to install a missing lark
    from lark.exceptions import UnexpectedInput

    try:
        return _Reader(text).of(grammar.parse(text))
    except UnexpectedInput as error:
        stream_position = getattr(error, "pos_in_stream", None)  # None where the text ends too early
        error_place = -1 if stream_position is None else int(stream_position)
        problem = _expected(text, error_place)
        problem = problem.replace("a question as ${name}", "a column") if words else problem
        raise _unreadable(text, error_place if error_place >= 0 else len(text), problem) from None
    except RecursionError:
        raise _unreadable(text, 0, "this is nested too deeply") from None


@cache
def grammar_of(rules: str, **options: bool) -> Lark:
    """The parser for a grammar of lark.

    Raises
    ------
    NaysayError
        The extra ``collect`` is not installed.
    """
    try:
        from lark import Lark
    except ImportError:
        raise NaysayError("conditions are read with lark; install it with: pip install 'naysay[collect]'") from None
    return Lark(rules, parser="lalr", **options)


def _expected(text: str, place: int) -> str:
    """What is wrong at a place where the grammar ends."""
    next_character = text[place : place + 1] if place >= 0 else ""
    if next_character and next_character in "‘’“”„«»":
        return "texts stand in straight quotes, such as 'yes'"
    if next_character == "/" or text[max(place - 1, 0) : place + 1] == "..":
        return "a question is written as ${name}, not as a path"
    if next_character == "[":
        return "there are no lists to choose from; offer the choices themselves"
    if next_character == "":
        return "something is missing here"
    return "here must stand a question as ${name}, a number, a text such as 'yes', an operator or a function"


class _Reader:
    """Turns a tree of the grammar into an expression."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, tree: Tree[Token], depth: int = 0) -> Expression:
        if depth > DEEPEST:
            raise self._unreadable(tree, f"expressions are nested {DEEPEST} deep at most")
        token_text = next((str(child) for child in tree.children if isinstance(child, str)), "")
        if tree.data == "call" and token_text not in _COUNTS:
            hint = _WAYS_OUT.get(token_text) or _checks.nearest(token_text, _COUNTS)
            raise self._unreadable(tree, f"{token_text}() is not understood here; {hint}")
        # a call without arguments has None in their place
        inner_expressions = tuple(
            self.of(child, depth + 1) for child in tree.children if child and not isinstance(child, str)
        )
        match tree.data:
            case "call":
                return self._call(tree, token_text, inner_expressions)
            case "self":
                return Answer(of=".")
            case "text":
                return Value(value=token_text[1:-1])
            case "answer":
                return Answer(of=token_text.strip())
            case "number":
                token_number = float(token_text)
                if math.isinf(token_number):
                    raise self._unreadable(tree, "this number is too large")
                return Value(value=int(token_text) if token_text.isdigit() and token_number < 2**53 else token_number)
            case "and_" | "or_":
                return Apply(op="and" if tree.data == "and_" else "or", args=inner_expressions)
            case "binary":
                return Apply(op=token_text, args=inner_expressions)
            case "signed":
                [operand] = inner_expressions
                if isinstance(operand, Value) and not isinstance(operand.value, bool | str):
                    return Value(value=-operand.value if token_text == "-" else operand.value)
                return Apply(op=token_text, args=(Value(value=0), operand))
        return inner_expressions[0]

    def _call(self, tree: Tree[Token], function_name: str, arguments: tuple[Expression, ...]) -> Expression:
        least, most = _COUNTS[function_name]
        if not least <= len(arguments) <= most:
            expected_count = _checks.several(least, "argument", "arguments")
            raise self._unreadable(tree, f"{function_name}() takes {expected_count}; got {len(arguments)}")
        if function_name in ("true", "false"):
            return Value(value=function_name == "true")
        if function_name == "sent":
            if isinstance(arguments[0], Answer) and arguments[0].of != ".":
                return Sent(of=arguments[0].of)
            raise self._unreadable(tree, "sent() is of a private question, such as sent(${smoking})")
        if function_name != "date":
            return Apply(op=_FUNCTIONS[function_name], args=arguments)
        day_text = arguments[0].value if isinstance(arguments[0], Value) else None
        try:
            if isinstance(day_text, str) and len(day_text) == len("2026-11-20"):
                return Value(value=datetime.date.fromisoformat(day_text).isoformat())
        except ValueError:
            pass
        raise self._unreadable(tree, "date() is of a day in quotes, such as date('2026-11-20')")

    def _unreadable(self, tree: Tree[Token], problem: str) -> DataError:
        return _unreadable(self.text, tree.meta.start_pos, problem)


def _unreadable(text: str, place: int, problem: str) -> DataError:
    part_start = max(0, place - 60)
    shown_part = ("…" if part_start else "") + text[part_start : place + 60] + ("…" if place + 60 < len(text) else "")
    return DataError(f"cannot read the expression {shown_part!r} at position {place + 1}: {problem}", value=text)


_STRENGTH = [("or",), ("and",), ("=", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "div", "mod")]
_BINDS = {op: strength for strength, ops in enumerate(_STRENGTH) for op in ops}
_NAMES = {op: name for name, op in _FUNCTIONS.items()}


def write_expression(expression: Expression) -> str:
    """The condition as XLSForm writes it; `parse_expression` reads it back.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    str

    Raises
    ------
    DataError
        A text with both kinds of quotes, which XLSForm cannot write.

    Examples
    --------
    >>> write_expression(parse_expression("( ${age}>=18 ) and not( sent(${smoking}) = 'yes' )"))
    "${age} >= 18 and not(sent(${smoking}) = 'yes')"
    """
    return _expression_text(expression, -1)


def _expression_text(expression: Expression, outer: int) -> str:
    """The text of an expression, in parentheses where what stands around it, of strength `outer`, binds as strongly."""
    if isinstance(expression, Value):
        value = expression.value
        if isinstance(value, bool):
            return "true()" if value else "false()"
        if isinstance(value, str):
            if "'" in value and '"' in value:
                raise DataError(
                    f"a text in an expression must not hold both kinds of quotes; got {value!r}", value=value
                )
            return f'"{value}"' if "'" in value else f"'{value}'"
        return str(value) if isinstance(value, int) else str(np.format_float_positional(value, trim="-"))
    if isinstance(expression, Answer):
        return "." if expression.of == "." else f"${{{expression.of}}}"
    if isinstance(expression, Sent):
        return f"sent(${{{expression.of}}})"
    if expression.op not in _BINDS:
        argument_texts = ", ".join(_expression_text(argument, -1) for argument in expression.args)
        return f"{_NAMES[expression.op]}({argument_texts})"
    strength = _BINDS[expression.op]
    # "and" and "or" take any number of arguments, so that one inside another keeps its parentheses
    flat = expression.op in ("and", "or")
    side_texts = [
        _expression_text(argument, strength - (argument_place == 0 and not flat))
        for argument_place, argument in enumerate(expression.args)
    ]
    operation_text = f" {expression.op} ".join(side_texts)
    return f"({operation_text})" if strength <= outer else operation_text
