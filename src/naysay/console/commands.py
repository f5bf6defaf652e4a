"""Commands that take their options as one object.

Commands that are imported only when they run, so that each starts without the imports of the others.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
from collections import Counter, UserDict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

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
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=kinds[field.name],
        )
        for field in dataclasses.fields(options)  # type: ignore[arg-type]
    ]

    def decorator(function: Callable[[Options], None]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**field_values: Any) -> None:
            function(options(**field_values))

        # typer reads both: the signature for the order and the defaults, the annotations for the kinds
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = kinds
        return command

    return decorator


PACKAGE = Path(__file__).parents[1]


class _Repeats:
    """A command that loses nothing which is given twice: lists of names grow, and any other option is refused.

    The parser below would keep the last value of a repeated option, and forget the others in silence.
    """

    def make_parser(self, ctx: Any) -> Any:
        """The parser of one call, which counts how often each option is given."""
        parameters = self.get_params(ctx)  # type: ignore[attr-defined]
        records = [option for option in parameters if option.metavar == "RECORD" and not option.multiple]
        for option in records:  # so that the parser collects them
            option.multiple = True
        parser = super().make_parser(ctx)  # type: ignore[misc]
        for option in records:
            option.multiple = False
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            values, remaining, order = parse(args)
            for option, times in Counter(order).items():
                is_single = option.param_type_name == "option" and not (option.multiple or option.count)
                if times > 1 and is_single and option not in records:
                    raise typer.BadParameter(f"it is given {times} times; give it once", ctx=ctx, param=option)
            # the records of one list are one record: --drop a --drop b is --drop a,b
            joined_records = {option.name: ",".join(values[option.name]) for option in records if option.name in values}
            return values | joined_records, remaining, order

        parser.parse_args = parse_once
        return parser


class _Command(_Repeats, TyperCommand):
    """A command that loses no option."""


class _Group(_Repeats, TyperGroup):
    """A group that loses no option."""


class Place(NamedTuple):
    """Where a command is: its module, and its function. The function of a group is ``group``."""

    module: str
    function: str = "command"

    def load_command(self, name: str) -> Any:
        """The command, after importing its module."""
        module = import_module(f"naysay.{self.module}")
        if self.function == "group":
            for command_info in module.app.registered_commands:
                command_info.cls = _Command
            module.app.info.cls = _Group
            command: Any = typer.main.get_group(module.app)
        else:
            app = typer.Typer(rich_markup_mode=None, add_completion=False)
            app.command(name, cls=_Command)(getattr(module, self.function))
            command = typer.main.get_command(app)
        command.name = name
        return command

    def summary(self) -> str:
        """The first paragraph of the command's docstring, read from the source, so that nothing is imported."""
        source = PACKAGE.joinpath(*self.module.split(".")).with_suffix(".py")
        body = ast.parse(source.read_text(encoding="utf-8")).body
        functions = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == self.function)
        return (ast.get_docstring(next(functions)) or "").partition("\n\n")[0]


class _Commands(UserDict[str, Any]):
    """Commands by name. Each is a `Place` until it is asked for; then it is loaded."""

    def __getitem__(self, name: str) -> Any:
        command = self.data[name]
        if isinstance(command, Place):
            command = self.data[name] = command.load_command(name)
        return command


def group_of(places: dict[str, Place]) -> type[TyperGroup]:
    """A class of command group with these commands, in this order."""

    class Group(_Group):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands = _Commands(places)

        def list_commands(self, ctx: Any) -> list[str]:
            return list(places)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            summaries = {name: TyperCommand(name, help=place.summary()) for name, place in places.items()}
            TyperGroup(commands=dict(summaries)).format_commands(ctx, formatter)

    return Group
