"""What commands share: how they take their options, when they are loaded, and where their output goes."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import inspect
import io
import json
import re
import sys
from collections import Counter, UserDict
from collections.abc import Callable, Collection
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ParameterInfo

from naysay.errors import DataError, ExtraMissing, NaysayError, need

if TYPE_CHECKING:
    from rich.table import Table

Options = TypeVar("Options")


def takes(
    options: type[Options], *documented: Callable[..., object], hidden: Collection[str] = ()
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """A decorator for commands that take one object: the fields of its dataclass become the options.

    Annotate each field like a parameter of a typer command. The field's default is the option's default. A class that
    inherits from another has the options of both. A field that is a parameter of a documented function needs no help of
    its own: it is the first paragraph that the docstring says of it. A text in its annotation is then its metavar. Help
    does not show what is `hidden`.

    Examples
    --------
    >>> def greeting(name="world"):
    ...     '''A greeting.
    ...
    ...     Parameters
    ...     ----------
    ...     name : str
    ...         Who is greeted.
    ...
    ...         Any script will do.
    ...     '''
    ...     return f"hello {name}"
    >>> @dataclasses.dataclass(frozen=True)
    ... class Greeting:
    ...     name: Annotated[str, "NAME"] = "world"
    >>> @takes(Greeting, greeting)
    ... def greet(options):
    ...     print(greeting(options.name))
    >>> greet(name="Ada")
    hello Ada
    >>> inspect.signature(greet).parameters["name"].annotation.__metadata__[1].help
    'Who is greeted.'
    """
    option_types = get_type_hints(options, include_extras=True)
    option_parameters = []
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        metadata = getattr(option_types[field.name], "__metadata__", ())
        if not any(isinstance(data, ParameterInfo) for data in metadata):
            for function in documented:
                if (public := inspect.signature(function).parameters.get(field.name)) is None:
                    continue
                if public.default not in (inspect.Parameter.empty, field.default):
                    raise TypeError(f"the default of {field.name!r} is not that of {function.__qualname__}")
                # -OO takes docstrings away: an option loses its help then, but no command is lost
                help_text = parameter_help(function).get(field.name)
                option = typer.Option(metavar=next(iter(metadata), None), help=help_text)
                option_types[field.name] = Annotated[option_types[field.name], option]
        if field.name in hidden:
            option_type, option = get_args(option_types[field.name])
            hidden_option = copy.copy(option)
            hidden_option.hidden = True
            option_types[field.name] = Annotated[option_type, hidden_option]
        option_parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
                annotation=option_types[field.name],
            )
        )

    def decorator(function: Callable[[Options], None]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**field_values: Any) -> None:
            function(options(**field_values))

        # typer reads both: the signature for the order and the defaults, the annotations for the kinds
        command.__signature__ = inspect.Signature(option_parameters)  # type: ignore[attr-defined]
        command.__annotations__ = option_types
        return command

    return decorator


def parameter_help(function: Callable[..., object]) -> dict[str, str]:
    """The first paragraph that a numpydoc docstring says of each parameter."""
    _, _, section = inspect.cleandoc(function.__doc__ or "").partition("\nParameters\n----------\n")
    entries = re.split(r"^(?=\S)", section, flags=re.MULTILINE)
    help_of_parameter: dict[str, str] = {}
    for entry in entries:
        names, _, description = entry.partition("\n")
        for name in names.partition(" : ")[0].split(", "):
            help_of_parameter.setdefault(name, " ".join(description.partition("\n\n")[0].split()))
    return help_of_parameter


PACKAGE = Path(__file__).parents[1]


class _Repeats:
    """A command that loses nothing which is given twice: lists of names grow, and any other option is refused.

    The parser below would keep the last value of a repeated option, and forget the others in silence.
    """

    def make_parser(self, ctx: Any) -> Any:
        """The parser of one call, which counts how often each option is given."""
        command_parameters = self.get_params(ctx)  # type: ignore[attr-defined]
        record_options = [option for option in command_parameters if option.metavar == "RECORD" and not option.multiple]
        for option in record_options:  # so that the parser collects them
            option.multiple = True
        parser = super().make_parser(ctx)  # type: ignore[misc]
        for option in record_options:
            option.multiple = False
        parse_args = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            option_values, remaining_args, option_order = parse_args(args)
            for option, times_given in Counter(option_order).items():
                is_single = option.param_type_name == "option" and not (option.multiple or option.count)
                if times_given > 1 and is_single and option not in record_options:
                    raise typer.BadParameter(f"it is given {times_given} times; give it once", ctx=ctx, param=option)
            # the records of one list are one record: --drop a --drop b is --drop a,b
            joined_records = {
                option.name: ",".join(option_values[option.name])
                for option in record_options
                if option.name in option_values
            }
            return option_values | joined_records, remaining_args, option_order

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
        if self.function == "group":
            app = resolve_name(f"naysay.{self.module}:app")
            for command_info in app.registered_commands:
                command_info.cls = _Command
            app.info.cls = _Group
            command: Any = typer.main.get_group(app)
        else:
            command_app = typer.Typer(rich_markup_mode=None, add_completion=False)
            command_app.command(name, cls=_Command)(resolve_name(f"naysay.{self.module}:{self.function}"))
            command = typer.main.get_command(command_app)
        command.name = name
        return command

    def summary(self) -> str:
        """The first paragraph of the command's docstring, read from the source, so that nothing is imported."""
        source_path = PACKAGE.joinpath(*self.module.split(".")).with_suffix(".py")
        module_body = ast.parse(source_path.read_text(encoding="utf-8")).body
        command_functions = (
            node for node in module_body if isinstance(node, ast.FunctionDef) and node.name == self.function
        )
        return (ast.get_docstring(next(command_functions)) or "").partition("\n\n")[0]


class _Commands(UserDict[str, Any]):
    """Commands by name. Each is a `Place` until it is asked for; then it is loaded."""

    def __getitem__(self, name: str) -> Any:
        command = self.data[name]
        if isinstance(command, Place):
            command = self.data[name] = command.load_command(name)
        return command


def group_of(doors: dict[str, dict[str, Place]]) -> type[TyperGroup]:
    """A class of command group with these commands, in this order, which its help lists under these headings.

    A command may be named by two words, such as ``risk search`` beside ``risk``.
    """
    places = {name: place for door_places in doors.values() for name, place in door_places.items()}

    class Group(_Group):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands = _Commands(places)

        def list_commands(self, ctx: Any) -> list[str]:
            return list(places)

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            word_count = 2 if " ".join(args[:2]) in places else 1
            return super().resolve_command(ctx, [" ".join(args[:word_count]), *args[word_count:]])

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            name_width = max(map(len, places))
            for door, door_places in doors.items():
                rows = [
                    (
                        name.ljust(name_width),
                        TyperCommand(name, help=place.summary()).get_short_help_str(formatter.width - 6 - name_width),
                    )
                    for name, place in door_places.items()
                ]
                with formatter.section(door):
                    formatter.write_dl(rows)

    return Group


_WIDTH = 120


def encodable() -> None:
    """Let both streams write characters that they cannot encode as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Write one result to stdout unchanged: not wrapped, not cut."""
    sys.stdout.write(text + "\n")


def result(printable: Any, form: str) -> None:
    """Write a result to stdout in the form that ``--format`` names: table, json or csv."""
    if form == "table":
        say(str(printable))
    else:
        say(json_text(printable.to_dict()) if form == "json" else printable.to_csv())


def result_and_remarks(printable: Any, form: str) -> None:
    """Write a result to stdout; CSV has no room for its remarks, which go to stderr."""
    result(printable, form)
    for remark in printable.remarks() if form == "csv" else ():
        note(remark)


def note(text: str) -> None:
    """Write one note to stderr."""
    sys.stderr.write(f"naysay: note: {_line(text)}\n")


def complain(*texts: str) -> None:
    """Write errors to stderr, one line for each."""
    sys.stderr.write("naysay: " + "\n  ".join(map(_line, texts)) + "\n")


def _line(text: str) -> str:
    return " ".join(text.split("\n")).replace("\r", " ")


def show(table: Table, *, indent: str = "") -> None:
    """Write content to stdout."""
    from rich.console import Console

    console_text = io.StringIO()
    Console(file=console_text, width=_WIDTH, color_system=None, legacy_windows=False).print(table)
    say("\n".join((indent + line).rstrip() for line in console_text.getvalue().splitlines()))


def json_text(value: Any) -> str:
    """JSON text. Letters that stdout cannot show are escaped."""
    stream_encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return json.dumps(value, ensure_ascii=stream_encoding != "utf8", indent=1, allow_nan=False)


def check(path: Path | None) -> None:
    """Raise, before any work is done, if a page cannot be drawn or cannot be written to this path."""
    if path is None:
        return
    drawable()
    check_free(path, force=True)
    if path.is_file() and path.stat().st_size and not _is_page(path):
        raise DataError(f"--html would replace {str(path)!r}, which is no page; name another file, such as page.html")


def _is_page(path: Path) -> bool:
    """Whether a file begins as an HTML page does."""
    with path.open("rb") as file:
        return file.read(200).lstrip(b"\xef\xbb\xbf \r\n").lower().startswith((b"<!doctype html", b"<html"))


def check_free(path: Path, *, force: bool) -> None:
    """Raise unless a file can be written there: in a folder that exists, and over another only with ``--force``."""
    if path.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: it is a folder")
    if path.exists() and not force:
        raise DataError(f"{str(path)!r} exists; add --force to overwrite it")
    if not path.parent.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: there is no folder {str(path.parent)!r}")


def drawable() -> None:
    """Raise, before any work is done, if nothing can be drawn."""
    try:
        for module in ("altair", "jinja2", "vl_convert"):
            need(module)
    except ExtraMissing as error:
        raise NaysayError(str(error)) from None


def write(path: Path | None, page: Callable[[], str]) -> None:
    """Draw the page and write it to its path."""
    if path is None:
        return
    try:
        path.write_text(page(), encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
