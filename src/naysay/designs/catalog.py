"""The families by name, and designs written as calls: ``negative(discards=2)``.

A call is read as a tree of names and literal values; nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from naysay import _checks
from naysay.design import Answerable, mix
from naysay.designs._family import ASSUMPTIONS, FAMILIES, SOURCES
from naysay.errors import DesignError

__all__ = ["catalog", "parse"]

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
    rows = []
    for name, family in FAMILIES.items():
        shown = (each.name if each.default is each.empty else f"{each.name}={each.default!r}" for each in _own(name))
        summary = (inspect.getdoc(family) or "").split("\n")[0]
        rows.append((name, _COMPOSITIONS.get(name) or ", ".join(shown), summary))
    return rows


def parse(text: str, *, categories: Sequence[Any] | None = None) -> Answerable:
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
    stripped = text.strip()
    try:
        tree = ast.parse(stripped, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        offset = (getattr(error, "offset", None) or 1) - 1 if getattr(error, "lineno", 1) == 1 else len(stripped)
        raise _unreadable(stripped, offset, "this is not a call such as negative(discards=2)") from None
    try:
        return _Reader(stripped, None if categories is None else tuple(categories)).design(tree)
    except RecursionError:
        raise _unreadable(stripped, 0, "this is nested too deeply") from None


class _Reader:
    """Turns a syntax tree of calls and literals into a design."""

    def __init__(self, text: str, categories: tuple[Any, ...] | None) -> None:
        self.text = text
        self.categories = categories

    def design(self, node: ast.expr) -> Answerable:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            first, second = self.design(node.left), self.design(node.right)
            pairs = len(first.categories) * len(second.categories)
            if pairs > _MOST_PAIRS:
                raise _unreadable(self.text, node, f"a product may have {_MOST_PAIRS:,} categories, not {pairs:,}")
            return first * second
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
        name = node.func.id
        if name not in FAMILIES:
            raise _unreadable(self.text, node.func, _unknown(name))
        accepted = list(inspect.signature(FAMILIES[name]).parameters)
        arguments = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _unreadable(self.text, keyword, "write each argument out; ** is not allowed")
            if name not in _COMPOSITIONS and keyword.arg not in accepted:
                problem = f"{name} has no parameter {keyword.arg!r}; {_checks.nearest(keyword.arg, accepted)}"
                raise _unreadable(self.text, keyword, problem)
            arguments[keyword.arg] = self.value(keyword.value)
        positional = [self.value(argument) for argument in node.args]
        if name not in _COMPOSITIONS:
            self._check_places(node, name, positional)
            if self.categories is not None and "categories" in accepted[len(positional) :]:
                arguments.setdefault("categories", self.categories)
        return self._made(node, name, positional, arguments)

    def _check_places(self, node: ast.Call, name: str, positional: list[Any]) -> None:
        """Raise for the first argument that needs its name; only categories and matrices need none."""
        accepted = inspect.signature(FAMILIES[name]).parameters.values()
        places = [each.name for each in accepted if each.kind is each.POSITIONAL_OR_KEYWORD]
        named = [each.name for each in accepted if each.kind is each.KEYWORD_ONLY] or places
        for number, (argument, value) in enumerate(zip(node.args, positional, strict=True)):
            labels = isinstance(value, list | tuple | str)  # the family itself says what is wrong with a single text
            if number >= len(places) or (places[number] == "categories" and not labels):
                problem = f"write parameters with their names, such as {name}({named[0]}=…)"
                raise _unreadable(self.text, argument, problem)

    def _made(self, node: ast.Call, name: str, positional: list[Any], arguments: dict[str, Any]) -> Answerable:
        family = FAMILIES[name]
        try:
            inspect.signature(family).bind(*positional, **arguments)
        except TypeError as error:
            hint = f"write {_form(name)}"
            if "'categories'" in str(error):
                hint = "name the categories, such as --categories 'low,middle,high'"
            raise _unreadable(self.text, node, f"{name}: {error}; {hint}") from None
        try:
            return family(*positional, **arguments)
        except DesignError:
            raise
        except (TypeError, AttributeError, ValueError, LookupError, OverflowError):
            raise _unreadable(self.text, node, f"the arguments of {name} are of the wrong kind") from None

    def value(self, node: ast.expr) -> Any:
        if _is_design(node):
            return self.design(node)
        if isinstance(node, ast.Tuple | ast.List):
            elements = [self.value(element) for element in node.elts]
            return elements if isinstance(node, ast.List) else tuple(elements)
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [ast.literal_eval(key) if isinstance(key, ast.Constant) else None for key in node.keys]
            if None in keys:
                raise _unreadable(self.text, node, "only numbers and texts can be names here")
            return dict(zip(keys, (self.value(value) for value in node.values), strict=True))
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
    rule = "a design is a call with parentheses"
    if not isinstance(node, ast.Name):
        return f"{rule}, such as direct()"
    if node.id not in FAMILIES:
        return _unknown(node.id)
    optional = ", ".join(each.name for each in _own(node.id) if each.default is not each.empty)
    return f"{rule}: write {_form(node.id)}" + (f", which also takes {optional}" if optional else "")


def _unknown(name: str) -> str:
    """What to say about an unknown family: the families with the nearest names, or all."""
    near = difflib.get_close_matches(name.lower(), FAMILIES, n=3, cutoff=0.6)
    told = f"did you mean {' or '.join(map(_form, near))}?" if near else f"known are {_checks.shown(FAMILIES, 40)}"
    return f"no design is called {name!r}; {told}"


def _form(name: str) -> str:
    """A call of a family with its required arguments, such as ``warner(p=…)``."""
    required = ", ".join(f"{each.name}=…" for each in _own(name) if each.default is each.empty)
    return f"{name}({_COMPOSITIONS.get(name, required)})"


def _own(name: str) -> list[inspect.Parameter]:
    """The parameters of a family besides its categories; none for a composition."""
    taken = {} if name in _COMPOSITIONS else inspect.signature(FAMILIES[name]).parameters
    return [each for each in taken.values() if each.name != "categories"]


def _is_design(node: ast.expr) -> bool:
    """Whether an argument is a call, or a product that begins with one."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.left
    return isinstance(node, ast.Call)


def _unreadable(text: str, where: int | ast.expr | ast.keyword, problem: str) -> DesignError:
    place = where if isinstance(where, int) else where.col_offset
    # Python gives a line and a byte within it; the message counts characters from the start.
    if isinstance(where, ast.AST):
        lines = text.splitlines(keepends=True)
        place = sum(map(len, lines[: where.lineno - 1])) + len(lines[where.lineno - 1].encode()[:place].decode())
    start, end = max(0, place - _AROUND), place + _AROUND
    part = ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
    return DesignError(f"cannot read the design {part!r} at position {place + 1}: {problem}")
