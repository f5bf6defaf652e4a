"""Conditions over answers, as data: parsed once, evaluated the same way on the device and on the server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Answer", "Apply", "Expression", "Sent", "Value"]


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
