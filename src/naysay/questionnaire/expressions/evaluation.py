"""The value of an expression, given the answers: the same on the device and on the server.

Values are null (None), booleans, numbers, strings and lists of strings; numbers behave as in JavaScript. The rules are
written out in ``tests/reference/expression_vectors.json``, which every client replays.

Conditions over answers, as data: parsed once, evaluated the same way on the device and on the server.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field

from naysay.errors import DataError

Content = bool | int | float | str | list[str] | None

Meaning = Callable[[Mapping[str, Any], Mapping[str, Any], str], Content]
"""The value of an expression from plain answers, from the responses that are sent, and from the day."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def evaluate(
    expression: Expression,
    answers: Mapping[str, Any],
    *,
    sent: Mapping[str, Any] | None = None,
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
    >>> from naysay.questionnaire import parse_expression
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
    >>> from naysay.questionnaire import parse_expression
    >>> compiled(parse_expression("${age} >= 18"))({"age": 30}, {}, "2026-11-20")
    True
    """
    if isinstance(expression, Value):
        constant = expression.value
        return lambda answers, responses, day: constant
    if isinstance(expression, Answer):
        name = expression.of
        return lambda answers, responses, day: _content_of(answers.get(name))
    if isinstance(expression, Sent):
        name = expression.of
        return lambda answers, responses, day: _content_of(responses.get(name))
    op, parts = expression.op, [compiled(part) for part in expression.args]
    least, most = ARITY[op]
    if not least <= len(parts) <= most:
        expected = least if least == most else f"{least} or more"
        raise DataError(f"{op} takes {expected} arguments; got {len(parts)}")
    if op == "today":
        return lambda answers, responses, day: day
    if op in ("and", "or"):  # arguments after the one that decides are not evaluated
        decides = all if op == "and" else any
        return lambda answers, responses, day: decides(truth(part(answers, responses, day)) for part in parts)
    operation = _OPERATIONS[op]
    if len(parts) == 1:
        [only] = parts
        return lambda answers, responses, day: operation(only(answers, responses, day))
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


def _content_of(value: Any) -> Content:
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


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Content, Content], bool]:
    def compare_sides(left_side: Content, right_side: Content) -> bool:
        days = _is_day(left_side) and _is_day(right_side)
        return compare(left_side, right_side) if days else compare(_number(left_side), _number(right_side))

    return compare_sides


def _is_day(value: Content) -> bool:
    return isinstance(value, str) and _DAY.fullmatch(value) is not None


def _arithmetic(compute: Callable[[float, float], float]) -> Callable[[Content, Content], float]:
    return lambda left_side, right_side: compute(_number(left_side), _number(right_side))


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
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "div": _arithmetic(_quotient),
    "mod": _arithmetic(lambda a, b: math.nan if math.isinf(a) or b == 0 else math.fmod(a, b)),
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
