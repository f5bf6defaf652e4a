"""The families by name: their register (source, assumptions), what they are made with, and how a call of one is read.

A call such as ``negative(discards=2)`` is read as a tree of names and literal values; nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Exact, Label
from naysay.design import (
    Answerable,
    Both,
    Branch,
    Design,
    Do,
    Fork,
    Pattern,
    Protocol,
    Samples,
    Say,
    Step,
    Table,
    draw_lots,
    mix,
)
from naysay.design.channels import LEAST, MANY, compact
from naysay.design.drawing import ChanceRows, as_fraction, table_weights, whole_weights
from naysay.design.protocol import probabilities
from naysay.design.pure import MOST_NUMBERED
from naysay.errors import DesignError
from naysay.responses import Labels

P = ParamSpec("P")
A = TypeVar("A", bound=Answerable)


FAMILIES: dict[str, Callable[..., Answerable]] = {}
"""Every family that a design call may name."""

SOURCES: dict[str, str] = {}
"""Author and year of each family."""

ASSUMPTIONS: dict[str, tuple[str, ...]] = {}
"""What each family assumes, beyond people following the protocol."""


def family(source: str, *, assumes: tuple[str, ...] = ()) -> Callable[[Callable[P, A]], Callable[P, A]]:
    """Register a function as a family. Its designs then carry their call, their source and their assumptions.

    Parameters
    ----------
    source : str
        Author and year.
    assumes : tuple of str
        The assumptions, each in a few words.
    """

    def register(make: Callable[P, A]) -> Callable[P, A]:
        defaults = {
            parameter_name: parameter.default
            for parameter_name, parameter in inspect.signature(make).parameters.items()
        }

        @functools.wraps(make)
        def make_with_source(*arguments: P.args, **keyword_arguments: P.kwargs) -> A:
            try:
                inspect.signature(make).bind(*arguments, **keyword_arguments)
            except TypeError as error:
                unknown = [name for name in keyword_arguments if name not in defaults]
                if unknown:
                    raise TypeError(_no_parameter(make.__name__, unknown[0])) from None
                required = ", ".join(
                    name if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else f"{name}=…"
                    for name, parameter in inspect.signature(make).parameters.items()
                    if parameter.default is parameter.empty
                )
                optional = ", ".join(
                    f"{name}=…" for name, default in defaults.items() if default is not inspect.Parameter.empty
                )
                hint = f"write {make.__name__}({required})" + (f", which also takes {optional}" if optional else "")
                raise TypeError(f"{make.__name__}: {error}; {hint}") from None
            try:
                design = make(*arguments, **keyword_arguments)
            except (TypeError, AttributeError, LookupError) as error:  # its words are for programmers
                written = {**inspect.signature(make).bind(*arguments, **keyword_arguments).arguments}
                written.pop("categories", None)
                raise DesignError(f"an argument is of the wrong kind: {call(make.__name__, **written)}") from error
            if not design.name:  # the name shows every argument that is not a default; categories are stored beside it
                shown_arguments = {
                    argument_name: argument_content
                    for argument_name, argument_content in keyword_arguments.items()
                    if argument_name != "categories" and argument_content is not defaults[argument_name]
                }
                design = replace(design, name=call(make.__name__, **shown_arguments))
            return _with_source(design, source, assumes)

        FAMILIES[make.__name__], SOURCES[make.__name__], ASSUMPTIONS[make.__name__] = make_with_source, source, assumes
        return make_with_source

    return register


def _with_source(design: A, source: str, assumes: tuple[str, ...]) -> A:
    """The design with source and assumptions in its protocol; for samples, in the protocol of each sample."""
    if isinstance(design, Samples):
        return replace(
            design, designs=tuple(_with_source(sample_design, source, assumes) for sample_design in design.designs)
        )
    if isinstance(design, Both):
        return replace(
            design,
            **{
                field_name: _with_source(getattr(design, field_name), source, assumes)
                for field_name in ("first", "second")
            },
        )
    if not isinstance(design, Design) or design.protocol is None:
        return design
    protocol = design.protocol
    all_assumptions = tuple(dict.fromkeys((*protocol.assumes, *assumes)))
    return replace(design, protocol=replace(protocol, source=protocol.source or source, assumes=all_assumptions))


def call(family: str, **arguments: Any) -> str:
    """A design as a call, such as ``warner(p=0.7)``. Arguments that are None are left out."""
    arguments_text = ", ".join(
        f"{name}={literal_text(value)}" for name, value in arguments.items() if value is not None
    )
    return f"{family}({arguments_text})"


def literal_text(value: object) -> str:
    """An argument as it is written in a call."""
    plain_value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain_value, tuple | list):
        return f"({', '.join(map(literal_text, plain_value))}{',' if len(plain_value) == 1 else ''})"
    if isinstance(plain_value, dict):
        return f"{{{', '.join(f'{key!r}: {literal_text(entry)}' for key, entry in plain_value.items())}}}"
    if isinstance(plain_value, Answerable):
        return plain_value.name or plain_value.kind
    return str(plain_value) if isinstance(plain_value, Fraction) else repr(plain_value)


YES_NO = ("yes", "no")


def domain(categories: Sequence[Label] | int) -> tuple[Any, ...]:
    """The categories as labels; a whole number t stands for 0 … t - 1."""
    if isinstance(categories, bool):
        raise DesignError(f"categories must be labels, or how many there are; got {categories}")
    if isinstance(categories, int):
        return tuple(range(_checks.whole_number(categories, 2, MOST_NUMBERED, what="the number of categories")))
    return _checks.categories(categories)


def capped(epsilon: Exact, a: int, b: int) -> tuple[str, ...]:
    """The note for an ε so large that integers up to 2⁵³ cannot reach it."""
    short = float(as_fraction(epsilon)) - math.log(a / b) > 1e-9
    return (f"ε = {math.log(a / b):.4g} is the largest that can be drawn, less than asked",) if short else ()


def of_probabilities(
    matrix: ChanceRows, categories: Sequence[Label], responses: Sequence[Label] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with this matrix of probabilities (responses, t), read exactly as written."""
    labels = _checks.categories(categories)
    row_lengths = {len(matrix_row) for matrix_row in matrix}
    if row_lengths != {len(labels)}:
        raise DesignError(
            f"each row of the matrix must have {len(labels)} entries, one for each category; got {sorted(row_lengths)}"
        )
    return of_weights(table_weights(matrix, columns=labels), labels, responses, **fields)


def of_weights(
    weights: NDArray[np.int64], categories: Sequence[Label], responses: Sequence[Label] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with these integer weights (responses, t). Responses are the categories unless they are named."""
    category_labels = _checks.categories(categories)
    response_labels = category_labels if responses is None else tuple(responses)
    return compact(Table(categories=category_labels, space=Labels(response_labels), weights=weights, **fields))


def of_pattern(
    own_weight: int, other_weight: int, categories: Sequence[Label], first: Step, **fields: Any
) -> Table | Pattern:
    """The design in which the true category has weight `own_weight`, and each other category `other_weight`."""
    fields = {"protocol": Protocol(first), **fields}
    design = Pattern.of(categories, own_weight, other_weight, **fields)
    return design if len(categories) >= LEAST else of_weights(design.weights, categories, **fields)


def of_steps(
    first: Step,
    categories: Sequence[Label],
    responses: Sequence[Label] | None = None,
    *,
    yes_no: bool = False,
    **fields: Any,
) -> Table:
    """The design that these steps make. Its probabilities are read from the steps."""
    category_labels = _checks.categories(categories)
    response_labels = category_labels if responses is None else tuple(responses)
    response_weights = whole_weights(*probabilities(first, category_labels, response_labels), columns=category_labels)
    space = Labels(response_labels, yes_no=yes_no)
    return Table(categories=category_labels, space=space, weights=response_weights, protocol=Protocol(first), **fields)


def two(categories: Sequence[Label]) -> tuple[Any, Any]:
    """Two categories, the sensitive one first."""
    labels = _checks.categories(categories)
    if len(labels) != 2:
        raise DesignError(f"this design takes two categories, the sensitive one first; got {len(labels)}")
    return labels[0], labels[1]


SENSITIVE = "Is the sensitive statement true of you?"
TRUTHFULLY = "say truthfully which category is yours"
HONESTLY = "say truthfully whether the sensitive statement is true of you"


def ask(*ways: tuple[Any, Step], question: str = SENSITIVE, instruction: str = "") -> Fork:
    """A question that people answer to themselves, and the next step of each category: (category, step)."""
    branches = (Branch(_checks.label(category), step, members=(category,)) for category, step in ways)
    return Fork(question, tuple(branches), instruction)


def truth(categories: Sequence[Label]) -> Fork:
    """Every category says its own name."""
    ways = ((category, Say(category)) for category in categories)
    question_words = (SENSITIVE, HONESTLY) if len(categories) == 2 else ("Which category is yours?", TRUTHFULLY)
    return ask(*ways, question=question_words[0], instruction=question_words[1])


def truthfully(categories: Sequence[Label]) -> Step:
    """The same, told in words where there are too many categories for one branch each."""
    return Do(TRUTHFULLY) if len(categories) > MANY else truth(categories)


def by_lot(categories: Sequence[Label]) -> Step:
    """Lots between all categories, each with the same chance; told in words where there are many."""
    if (t := len(categories)) > MANY:
        return Do(f"let the device draw lots, unseen by anybody else; the list of {t} outcomes says which to say")
    return draw_lots(*((Fraction(1, t), Say(category)) for category in categories))


def chance(value: object, *, name: str, inside: bool = False) -> Fraction:
    """A probability, read as written; in [0, 1], or with `inside` strictly between 0 and 1."""
    exact = as_fraction(value, what=name)
    if not 0 <= exact <= 1 or (inside and exact in (0, 1)):
        raise DesignError(f"{name} must lie {'strictly between 0 and 1' if inside else 'in [0, 1]'}; got {value!r}")
    return exact


FAMILIES["mix"], SOURCES["mix"], ASSUMPTIONS["mix"] = mix, "a lottery of designs", ()

_COMPOSITIONS = dict.fromkeys(("levels", "samples"), "name=design, …") | {
    "mix": "(weight, design), …"
}  # the arguments that each of them takes
_MOST_PAIRS = 10_000  # largest number of categories of a product
_AROUND = 100  # a message shows this many characters before and after the place of the error


def catalog() -> list[tuple[str, str, str]]:
    """Each family's name, its parameters, and one line about it.

    Examples
    --------
    >>> [row for row in catalog() if row[0] == "two_coins"][0][2]
    'The two coins: if the first one shows heads, tell the truth; otherwise let the second one answer.'
    """
    family_rows = []
    for family_name, family_function in FAMILIES.items():
        parameter_texts = (
            parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
            for parameter in _own_parameters(family_name)
        )
        summary = (inspect.getdoc(family_function) or "").split("\n")[0]
        family_rows.append((family_name, _COMPOSITIONS.get(family_name) or ", ".join(parameter_texts), summary))
    return family_rows


def parse(text: str, *, categories: Sequence[Label] | None = None) -> Answerable:
    """The design that a call describes, such as ``negative(discards=2)`` or ``mix((3, negative()), (1, uniform()))``.

    Parameters
    ----------
    text : str
        A family and its arguments: numbers, texts, fractions such as ``1/3``, lists and dicts of these, and nested
        calls. Write two questions as ``warner(p=0.7) * two_coins()``, and one design after another as
        ``warner(p=0.7).then(two_coins())``.
    categories : sequence of label, optional
        The categories, for families that accept any number of categories.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        The text does not parse (the message gives the position), names an unknown family or parameter, or holds
        something that is not a literal.

    Examples
    --------
    >>> parse("k_ary(epsilon=1)", categories=("a", "b", "c"))
    <k_ary(epsilon=1): 3 categories>
    """
    stripped_text = text.strip()
    try:
        call_node = ast.parse(stripped_text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        error_offset = (
            (getattr(error, "offset", None) or 1) - 1 if getattr(error, "lineno", 1) == 1 else len(stripped_text)
        )
        number_hint = "; write 0.8, not 80%" if "%" in stripped_text else ""
        number_hint = "; write 0.7, not 0,7" if re.search(r"=\s*0,\d", stripped_text) else number_hint
        problem = f"this is not a call such as negative(discards=2){number_hint}"
        raise _unreadable(stripped_text, error_offset, problem) from None
    try:
        return _Reader(stripped_text, None if categories is None else tuple(categories)).design(call_node)
    except RecursionError:
        raise _unreadable(stripped_text, 0, "this is nested too deeply") from None


class _Reader:
    """Turns a syntax tree of calls and literals into a design."""

    def __init__(self, text: str, categories: tuple[Label, ...] | None) -> None:
        self.text = text
        self.categories = categories

    def design(self, node: ast.expr) -> Answerable:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            first_design, second_design = self.design(node.left), self.design(node.right)
            pair_count = len(first_design.categories) * len(second_design.categories)
            if pair_count > _MOST_PAIRS:
                raise _unreadable(self.text, node, f"a product may have {_MOST_PAIRS:,} categories, not {pair_count:,}")
            return first_design * second_design
        if not isinstance(node, ast.Call):
            raise _unreadable(self.text, node, _no_call(node))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "then":
            if len(node.args) != 1 or node.keywords:
                raise _unreadable(self.text, node, "write one design after another as warner(p=0.7).then(two_coins())")
            return self.design(node.func.value).then(self.design(node.args[0]))
        return self._call(node)

    def _call(self, node: ast.Call) -> Answerable:
        if not isinstance(node.func, ast.Name):
            raise _unreadable(self.text, node.func, "a design is named by a plain word")
        family_name = node.func.id
        if family_name not in FAMILIES:
            raise _unreadable(self.text, node.func, unknown(family_name))
        parameter_names = list(inspect.signature(FAMILIES[family_name]).parameters)
        arguments_by_name = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _unreadable(self.text, keyword, "write each argument out; ** is not allowed")
            if family_name not in _COMPOSITIONS and keyword.arg not in parameter_names:
                raise _unreadable(self.text, keyword, _no_parameter(family_name, keyword.arg))
            arguments_by_name[keyword.arg] = self.value(keyword.value)
        positional_arguments = [self.value(argument_node) for argument_node in node.args]
        if family_name not in _COMPOSITIONS:
            self._check_places(node, family_name, positional_arguments)
            if self.categories is not None and "categories" in parameter_names[len(positional_arguments) :]:
                arguments_by_name.setdefault("categories", self.categories)
        family_function = FAMILIES[family_name]
        try:
            inspect.signature(family_function).bind(*positional_arguments, **arguments_by_name)
        except TypeError as error:
            hint = f"write {_form(family_name)}"
            if "'categories'" in str(error):
                hint = "name the categories, such as --categories 'low,middle,high'"
            raise _unreadable(self.text, node, f"{family_name}: {error}; {hint}") from None
        try:
            return family_function(*positional_arguments, **arguments_by_name)
        except DesignError:
            raise
        except (TypeError, AttributeError, ValueError, LookupError, OverflowError):
            raise _unreadable(self.text, node, f"the arguments of {family_name} are of the wrong kind") from None

    def _check_places(self, node: ast.Call, name: str, positional: list[object]) -> None:
        """Raise for the first argument that needs its name; only categories and matrices need none."""
        family_parameters = inspect.signature(FAMILIES[name]).parameters.values()
        positional_names = [
            parameter.name for parameter in family_parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        keyword_names = [
            parameter.name for parameter in family_parameters if parameter.kind is parameter.KEYWORD_ONLY
        ] or positional_names
        for argument_number, (argument_node, argument_content) in enumerate(zip(node.args, positional, strict=True)):
            may_be_labels = isinstance(
                argument_content, list | tuple | str
            )  # the family itself says what is wrong with a single text
            if argument_number >= len(positional_names) or (
                positional_names[argument_number] == "categories" and not may_be_labels
            ):
                problem = f"write parameters with their names, such as {name}({keyword_names[0]}=…)"
                raise _unreadable(self.text, argument_node, problem)

    def value(self, node: ast.expr) -> Any:
        first_factor = node  # a design is a call, or a product that begins with one
        while isinstance(first_factor, ast.BinOp) and isinstance(first_factor.op, ast.Mult):
            first_factor = first_factor.left
        if isinstance(first_factor, ast.Call):
            return self.design(node)
        if isinstance(node, ast.Tuple | ast.List):
            elements = [self.value(element_node) for element_node in node.elts]
            return elements if isinstance(node, ast.List) else tuple(elements)
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [
                ast.literal_eval(key_node) if isinstance(key_node, ast.Constant) else None for key_node in node.keys
            ]
            if None in keys:
                raise _unreadable(self.text, node, "only numbers and texts can be names here")
            return dict(zip(keys, (self.value(entry_node) for entry_node in node.values), strict=True))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._ratio(node)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            problem = "only numbers, texts, lists and designs may stand here; naysay runs no code"
            raise _unreadable(self.text, node, problem) from None

    def _ratio(self, node: ast.BinOp) -> Fraction:
        above, below = self.value(node.left), self.value(node.right)
        if not isinstance(above, int | Fraction) or not isinstance(below, int | Fraction) or below == 0:
            raise _unreadable(self.text, node, "a fraction is one whole number over another, such as 1/3")
        return Fraction(above) / Fraction(below)


def _no_call(node: ast.expr) -> str:
    """What is wrong with a design that is no call, and which call the writer may have meant."""
    call_rule = "a design is a call with parentheses"
    if not isinstance(node, ast.Name):
        return f"{call_rule}, such as direct()"
    if node.id not in FAMILIES:
        return unknown(node.id)
    optional_names = ", ".join(
        parameter.name for parameter in _own_parameters(node.id) if parameter.default is not parameter.empty
    )
    return f"{call_rule}: write {_form(node.id)}" + (f", which also takes {optional_names}" if optional_names else "")


def _no_parameter(family_name: str, name: str) -> str:
    """What to say about a parameter that a family does not take: the nearest, or all."""
    parameter_names = list(inspect.signature(FAMILIES[family_name]).parameters)
    return f"{family_name} has no parameter {name!r}; {_checks.nearest(name, parameter_names)}"


def unknown(name: str) -> str:
    """What to say about an unknown family: the families with the nearest names, or all."""
    nearest_names = difflib.get_close_matches(name.lower(), FAMILIES, n=3, cutoff=0.6)
    hint = (
        f"did you mean {' or '.join(map(_form, nearest_names))}?"
        if nearest_names
        else f"known are {_checks.listing_text(FAMILIES, 40)}"
    )
    return f"no design is called {name!r}; {hint}"


def _form(name: str) -> str:
    """A call of a family with its required arguments, such as ``warner(p=…)``."""
    required = ", ".join(
        f"{parameter.name}=…" for parameter in _own_parameters(name) if parameter.default is parameter.empty
    )
    return f"{name}({_COMPOSITIONS.get(name, required)})"


def _own_parameters(name: str) -> list[inspect.Parameter]:
    """The parameters of a family besides its categories; none for a composition."""
    parameters = {} if name in _COMPOSITIONS else inspect.signature(FAMILIES[name]).parameters
    return [parameter for parameter in parameters.values() if parameter.name != "categories"]


def _unreadable(text: str, where: int | ast.expr | ast.keyword, problem: str) -> DesignError:
    error_place = where if isinstance(where, int) else where.col_offset
    # Python gives a line and a byte within it; the message counts characters from the start.
    if isinstance(where, ast.AST):
        text_lines = text.splitlines(keepends=True)
        error_place = sum(map(len, text_lines[: where.lineno - 1])) + len(
            text_lines[where.lineno - 1].encode()[:error_place].decode()
        )
    part_start, part_end = max(0, error_place - _AROUND), error_place + _AROUND
    text_part = ("…" if part_start else "") + text[part_start:part_end] + ("…" if part_end < len(text) else "")
    return DesignError(f"cannot read the design {text_part!r} at position {error_place + 1}: {problem}")
