"""Commands that take their options as one object."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Options = TypeVar("Options")


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """A decorator for commands that take one object: the fields of its dataclass become the options.

    Annotate each field like a parameter of a typer command. The field's default is the option's default. A class that
    inherits from another has the options of both.

    Examples
    --------
    >>> import inspect
    >>> @dataclasses.dataclass(frozen=True)
    ... class Greeting:
    ...     name: str = "world"
    >>> @takes(Greeting)
    ... def greet(options):
    ...     print("hello", options.name)
    >>> greet(name="Ada")
    hello Ada
    >>> list(inspect.signature(greet).parameters)
    ['name']
    """
    kinds = get_type_hints(options, include_extras=True)
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is dataclasses.MISSING else each.default,
            annotation=kinds[each.name],
        )
        for each in dataclasses.fields(options)  # type: ignore[arg-type]
    ]

    def decorated(function: Callable[[Options], None]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**given: Any) -> None:
            function(options(**given))

        # typer reads both: the signature for the order and the defaults, the annotations for the kinds
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = kinds
        return command

    return decorated
