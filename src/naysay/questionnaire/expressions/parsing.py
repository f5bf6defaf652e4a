"""Conditions as XLSForm writes them, ``${age} >= 18 and selected(${news}, 'net')``, read into expressions and back."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from naysay import _checks
from naysay.errors import DataError, NaysayError
from naysay.questionnaire.expressions.evaluation import ARITY, Answer, Apply, Expression, Sent, Value

if TYPE_CHECKING:
    from lark import Lark


_LONGEST, _DEEPEST = 2_000, 40

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


def parse_expression(text: str) -> Expression:
    """The expression that a condition of an XLSForm stands for.

    Parameters
    ----------
    text : str
        ``${question}``, ``.`` (the answer itself), numbers, quoted texts, ``and or not()``, comparison, ``+ - * div
        mod``, ``selected(), count-selected(), string-length(), today(), date('2026-11-20'), true(), false()``, and
        ``sent(${question})``, the response to a private question as it leaves the device.

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
    """
    if len(text) > _LONGEST:
        raise DataError(f"an expression must have at most {_LONGEST:,} characters; got {len(text):,}")
    grammar = _grammar()
    # import after the grammar: that one explains how to install a missing lark
    from lark.exceptions import UnexpectedInput

    try:
        return _Reader(text).of(grammar.parse(text))
    except UnexpectedInput as error:
        stream_position = getattr(error, "pos_in_stream", None)  # None where the text ends too early
        place = -1 if stream_position is None else int(stream_position)
        raise _unreadable(text, place if place >= 0 else len(text), _expected(text, place)) from None
    except RecursionError:
        raise _unreadable(text, 0, "this is nested too deeply") from None


@cache
def _grammar() -> Lark:
    try:
        from lark import Lark
    except ImportError:
        raise NaysayError("conditions are read with lark; install it with: pip install 'naysay[collect]'") from None
    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def _expected(text: str, place: int) -> str:
    """What is wrong at a place where the grammar ends."""
    character = text[place : place + 1] if place >= 0 else ""
    if character and character in "‘’“”„«»":
        return "texts stand in straight quotes, such as 'yes'"
    if character == "/" or text[max(place - 1, 0) : place + 1] == "..":
        return "a question is written as ${name}, not as a path"
    if character == "[":
        return "there are no lists to choose from; offer the choices themselves"
    if character == "":
        return "something is missing here"
    return "here must stand a question as ${name}, a number, a text such as 'yes', an operator or a function"


class _Reader:
    """Turns a tree of the grammar into an expression."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, tree: Any, depth: int = 0) -> Expression:
        if depth > _DEEPEST:
            raise self._unreadable(tree, f"expressions are nested {_DEEPEST} deep at most")
        if tree.data == "call":
            return self._call(tree, depth)
        if tree.data in ("number", "text", "answer", "self"):
            return self._leaf(tree)
        inner = tuple(self.of(child, depth + 1) for child in tree.children if child and not isinstance(child, str))
        if tree.data in ("and_", "or_"):
            return Apply(op="and" if tree.data == "and_" else "or", args=inner)
        if tree.data == "binary":
            return Apply(op=str(tree.children[1]), args=inner)
        if tree.data != "signed":
            return inner[0]
        sign, [operand] = str(tree.children[0]), inner
        if isinstance(operand, Value) and not isinstance(operand.value, bool | str):
            return Value(value=-operand.value if sign == "-" else operand.value)
        return Apply(op=sign, args=(Value(value=0), operand))

    def _leaf(self, tree: Any) -> Expression:
        if tree.data == "self":
            return Answer(of=".")
        token = str(tree.children[0])
        if tree.data == "text":
            return Value(value=token[1:-1])
        if tree.data == "answer":
            return Answer(of=token.strip())
        value = float(token)
        if math.isinf(value):
            raise self._unreadable(tree, "this number is too large")
        return Value(value=int(token) if token.isdigit() and value < 2**53 else value)

    def _call(self, tree: Any, depth: int) -> Expression:
        name = str(tree.children[0])
        if name not in _COUNTS:
            hint = _WAYS_OUT.get(name) or _checks.nearest(name, _COUNTS)
            raise self._unreadable(tree, f"{name}() is not understood here; {hint}")
        args = [self.of(child, depth + 1) for child in tree.children[1:] if child is not None]
        least, most = _COUNTS[name]
        if not least <= len(args) <= most:
            expected = _checks.several(least, "argument", "arguments")
            raise self._unreadable(tree, f"{name}() takes {expected}; got {len(args)}")
        if name in ("true", "false"):
            return Value(value=name == "true")
        if name == "sent":
            if isinstance(args[0], Answer) and args[0].of != ".":
                return Sent(of=args[0].of)
            raise self._unreadable(tree, "sent() is of a private question, such as sent(${smoking})")
        return self._day(tree, args[0]) if name == "date" else Apply(op=_FUNCTIONS[name], args=tuple(args))

    def _day(self, tree: Any, argument: Expression) -> Expression:
        day = argument.value if isinstance(argument, Value) else None
        try:
            if isinstance(day, str) and len(day) == len("2026-11-20"):
                return Value(value=datetime.date.fromisoformat(day).isoformat())
        except ValueError:
            pass
        raise self._unreadable(tree, "date() is of a day in quotes, such as date('2026-11-20')")

    def _unreadable(self, tree: Any, problem: str) -> DataError:
        return _unreadable(self.text, tree.meta.start_pos, problem)


def _unreadable(text: str, place: int, problem: str) -> DataError:
    start = max(0, place - 60)
    part = ("…" if start else "") + text[start : place + 60] + ("…" if place + 60 < len(text) else "")
    return DataError(f"cannot read the expression {part!r} at position {place + 1}: {problem}", value=text)


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
    if isinstance(expression, Value):
        return _constant(expression.value)
    if isinstance(expression, Answer):
        return "." if expression.of == "." else f"${{{expression.of}}}"
    if isinstance(expression, Sent):
        return f"sent(${{{expression.of}}})"
    if expression.op in _BINDS:
        return _operation_text(expression.op, expression.args, outer)
    inner = ", ".join(_expression_text(argument, -1) for argument in expression.args)
    return f"{_NAMES[expression.op]}({inner})"


def _operation_text(op: str, args: Sequence[Expression], outer: int) -> str:
    strength = _BINDS[op]
    flat = op in ("and", "or")  # these take any number of arguments, so that one inside another keeps its parentheses
    sides = [_expression_text(argument, strength - (place == 0 and not flat)) for place, argument in enumerate(args)]
    text = f" {op} ".join(sides)
    return f"({text})" if strength <= outer else text


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return "true()" if value else "false()"
    if isinstance(value, str):
        if "'" in value and '"' in value:
            raise DataError(f"a text in an expression must not hold both kinds of quotes; got {value!r}", value=value)
        return f'"{value}"' if "'" in value else f"'{value}'"
    return str(value) if isinstance(value, int) else str(np.format_float_positional(value, trim="-"))
