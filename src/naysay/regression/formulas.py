"""Formulas such as ``cheated ~ age + gender``: what may stand in them, and the columns of numbers that they stand for.

formulaic would run any Python that a formula holds. Here a formula is checked before anything of it is evaluated: names
of columns, numbers, arithmetic, and the functions of `FUNCTIONS`; no attribute, no subscript, no other call.
"""

from __future__ import annotations

import ast
import importlib
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, NaysayError

__all__ = ["FUNCTIONS", "Formula", "Matrix", "formulaic", "parse"]

Floats = NDArray[np.float64]

FUNCTIONS = (
    *("C", "Treatment", "Sum", "I", "abs", "bs", "center", "cr", "exp"),
    *("log", "log10", "log2", "poly", "scale", "sqrt", "standardize"),
)
"""The functions that a formula may call."""

_NODES = (ast.Expression, ast.Load, ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div)
_OPERATORS = {"~", "+", "-", "*", ":", "/", "**", "^", "%in%"}
_LONGEST = 5_000  # letters of a formula
_POWER = 3  # the most that a sum of terms is multiplied by itself: the number of terms grows with that power
_LETTERS = set("\"'\\`{}")  # formulaic writes texts into code that it evaluates, and escapes quotes wrongly


def formulaic(module: str = "formulaic") -> Any:
    """A module of formulaic, or a clear word about what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        told = f"regression needs {error.name}, which is not installed; get it with: pip install 'naysay[regression]'"
        raise NaysayError(told) from None


@dataclass(frozen=True)
class Matrix:
    """The numbers that the right side of a formula stands for.

    Parameters
    ----------
    values : (n, p) float
    columns : tuple of str
        Their names, such as ``Intercept`` and ``gender[T.m]``.
    terms : {str: tuple of int}
        The places of each term's columns.
    spec : object
        What makes the same columns from other rows: categories, means and knots as they were found in these.
    """

    values: Floats
    columns: tuple[str, ...]
    terms: dict[str, tuple[int, ...]]
    spec: Any

    def of(self, table: Any) -> Floats:
        """The same columns for other rows, (rows, p)."""
        return _evaluated(self.spec, table)[0]


@dataclass(frozen=True)
class Formula:
    """A formula that was checked.

    Parameters
    ----------
    text : str
    response : tuple of str
        The columns on the left side.
    variables : tuple of str
        The columns on the right side, each once.
    factors : frozenset of str
        Those that stand in ``C(…)``: categories, even where they are numbers.
    parsed : object
        The right side, as formulaic holds it.
    """

    text: str
    response: tuple[str, ...]
    variables: tuple[str, ...]
    factors: frozenset[str]
    parsed: Any

    def matrix(self, table: Any) -> Matrix:
        """The columns of numbers for a pandas table that holds the variables.

        Raises
        ------
        DataError
            A function that cannot take a column, a categorical column with a single level, a term that is not finite
            in some row, or no columns at all.
        """
        spec = formulaic().ModelSpec.from_spec(self.parsed, na_action="ignore", output="numpy")
        values, spec = _evaluated(spec, table)
        _check_levels(spec)
        columns = tuple(spec.column_names)
        bad = ~np.isfinite(values)
        if bad.any():
            row, column = (int(each[0]) for each in np.nonzero(bad))
            held = ", ".join(f"{name} = {table[name].iloc[row]}" for name in self.variables)
            raise DataError(f"{columns[column]!r} is not a finite number where {held}", column=columns[column])
        if not columns:
            raise DataError(f"the formula {self.text!r} has nothing on its right side; write 1 for a constant")
        terms = {str(term): tuple(places) for term, places in spec.term_indices.items()}
        return Matrix(values, columns, terms, spec)

    def constant(self, table: Any) -> Matrix | None:
        """Only the constant of the formula; None where it has none, or nothing else."""
        if "1" not in map(str, self.parsed) or len(list(self.parsed)) == 1:
            return None
        return Formula("1", self.response, (), frozenset(), formulaic().Formula("1")).matrix(table)


def parse(text: str) -> Formula:
    """The formula that a text writes, after checking that nothing in it could run.

    Parameters
    ----------
    text : str
        Such as ``cheated ~ age + C(region)*gender``; a column whose name is no word stands between backticks.

    Raises
    ------
    DataError
        A text that is no formula, or that holds what a formula may not: says what.

    Examples
    --------
    >>> formula = parse("cheated ~ log(age) + gender:age")
    >>> formula.response, formula.variables
    (('cheated',), ('age', 'gender'))
    """
    if not isinstance(text, str):
        raise DataError(f"a formula is a text such as 'cheated ~ age + gender'; got {type(text).__name__}")
    _check_tokens(text)
    parsers = formulaic("formulaic.parser")
    parser = parsers.DefaultFormulaParser(feature_flags={"twosided"})
    try:
        found = formulaic().Formula(text, _parser=parser)
        left, right = found.lhs, found.rhs
        response = tuple(_response(term) for term in left)
        factors = {str(factor): factor for term in right for factor in term.factors}
        names = {text: list(_names(factor)) for text, factor in factors.items()}
    except DataError:
        raise
    except Exception as error:  # formulaic raises many kinds, and shows the place over several lines
        told = str(error).partition("\n")[0].partition(" (<unknown>")[0] or type(error).__name__
        raise DataError(f"{text!r} is no formula such as 'cheated ~ age + gender': {told}") from None
    variables = tuple(dict.fromkeys(name for each in names.values() for name in each))
    categories = frozenset(name for text, each in names.items() if text.startswith("C(") for name in each)
    return Formula(text, response, variables, categories, right)


def _check_tokens(text: str) -> None:
    """Raise unless the text is one response, a tilde, and operators that formulas have."""
    tokens = formulaic("formulaic.parser.algos.tokenize")
    way = "write the response, ~, and the columns beside it, such as 'cheated ~ age + gender'"
    if len(text) > _LONGEST or any(ord(letter) < ord(" ") and not letter.isspace() for letter in text):
        raise DataError(f"a formula has at most {_LONGEST} letters, and none that cannot be seen; {way}")
    try:
        found = list(tokens.tokenize(text))
    except Exception as error:
        raise DataError(f"{text!r} is no formula: {str(error).partition(chr(10))[0]}; {way}") from None
    kinds = [(token.kind.value, token.token) for token in found]
    if [word for kind, word in kinds if kind == "operator"].count("~") != 1 or ("operator", "~") in (
        kinds[0],
        kinds[-1],
    ):
        raise DataError(f"{text!r} is no formula: {way}")
    for place, (kind, word) in enumerate(kinds):
        if kind == "operator" and any(part not in _OPERATORS for part in _split(word)):
            raise DataError(f"a formula cannot hold {word!r}; {way}")
        if kind == "python" and unicodedata.normalize("NFKC", word) != word:
            raise DataError(f"{word!r} holds letters that Python takes for others; rename the column")
        if kind == "name" and word == "1":
            raise DataError("a column that is called 1 would be taken for the constant; rename it")
        if word == ".":
            raise DataError("a formula cannot hold '.'; name the columns")
        if kind == "context" and word in "[]":
            raise DataError(f"a formula cannot hold {word!r}; {way}")
        if kind == "operator" and word in ("**", "^"):
            power = kinds[place + 1][1] if place + 1 < len(kinds) else ""
            if not power.isdigit() or int(power) > _POWER:
                raise DataError(f"terms can be multiplied up to {_POWER} times, as in (a + b)**2; got {word}{power}")


def _split(word: str) -> Iterator[str]:
    """The operators of a run such as ``~-``, longest first."""
    while word:
        size = next((size for size in (4, 2, 1) if word[:size] in _OPERATORS), 1)
        yield word[:size]
        word = word[size:]


def _response(term: Any) -> str:
    """The column that a term of the left side names."""
    if len(term.factors) != 1 or term.factors[0].eval_method.value != "lookup":
        raise DataError(
            f"the left side of a formula names the column of the answers (or one column for each category, joined by "
            f"+); got {str(term)!r}"
        )
    return str(term.factors[0].expr)


def _names(factor: Any) -> Iterator[str]:
    """The columns that a factor of a term needs, after checking that it is nothing but arithmetic."""
    if factor.eval_method.value == "lookup":
        yield str(factor.expr)
    elif factor.eval_method.value == "python":
        aliases: dict[str, str] = {}
        _check_one_name_each(factor.expr)
        try:
            plain = formulaic("formulaic.utils.code").sanitize_variable_names(factor.expr, {}, aliases)
            tree = ast.parse(plain, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise DataError(f"{factor.expr!r} in the formula is neither a column nor a function of one") from None
        for node, role in _walked(tree):
            if role == "name":
                yield aliases.get(node, node)


def _check_one_name_each(expression: str) -> None:
    """Raise if formulaic would take one column for another: it calls ``a b`` a_b."""
    quoted = re.findall("`([^`]*)`", expression)
    names = {*quoted, *re.findall(r"\w+", re.sub("`[^`]*`", " ", expression))}
    for name in quoted:
        alike = {other for other in names - {name} if re.sub(r"\W", "_", other) == re.sub(r"\W", "_", name)}
        if alike:
            raise DataError(
                f"the columns {_checks.shown(sorted({name, *alike}))} cannot stand in one function; rename one"
            )


def _walked(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names in an expression, each with its role, after checking every node.

    What is not listed here cannot be written in a formula.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[_, ast.Name(id="Treatment"), *_]):
                told = "write a category with which the others are compared, such as C(region, Treatment('north'))"
                raise DataError(f"{ast.unparse(node)} names no category; {told}")
            case ast.Call(func=ast.Name(id=name), keywords=keywords) if name in FUNCTIONS:
                for keyword in keywords:
                    if keyword.arg is None or keyword.arg.startswith("_"):
                        raise DataError(f"{name}() in a formula cannot take {keyword.arg or '**'}")
            case ast.Call():
                raise DataError(
                    f"a formula cannot call {ast.unparse(node.func)!r}; the functions are {', '.join(FUNCTIONS)}"
                )
            case ast.BinOp(op=ast.Pow()):
                _check_power(node)
            case ast.Constant(value=str(word)):
                if _LETTERS & set(word) or not word.isprintable():
                    raise DataError(f"a text in a formula cannot hold quotes, backslashes or braces; got {word!r}")
            case ast.Constant(value=bool() | int() | float()) | ast.keyword() | ast.List() | ast.Tuple() | ast.Pow():
                pass
            case ast.Name(id=name):
                pass
            case _ if not isinstance(node, _NODES):
                told = type(node).__name__
                raise DataError(
                    f"a formula holds columns, numbers, arithmetic and {', '.join(FUNCTIONS)}; {ast.unparse(tree)!r} "
                    f"holds something else ({told})"
                )
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    bare = {keyword for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in _contrasts(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called and id(node) not in bare:
            yield node.id, "name"


def _contrasts(call: ast.Call) -> Iterator[int]:
    """Contrasts that are named without brackets, as in ``C(region, Sum)``."""
    arguments = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    return (id(each) for each in arguments if isinstance(each, ast.Name) and each.id in ("Sum", "Treatment"))


def _check_power(node: ast.BinOp) -> None:
    """Raise unless a power is that of a column: powers of numbers alone could fill the memory."""
    holds = any(isinstance(each, ast.Name) for each in ast.walk(node.left))
    fixed = isinstance(node.right, ast.Constant | ast.UnaryOp) and not any(
        isinstance(each, ast.Name | ast.BinOp | ast.Call) for each in ast.walk(node.right)
    )
    if not (holds and fixed):
        raise DataError(f"a power in a formula is that of a column to a number; got {ast.unparse(node)!r}")


def _evaluated(spec: Any, table: Any) -> tuple[Floats, Any]:
    """The numbers of a checked right side for a table, and what makes them again."""
    numeric = {"sqrt": np.sqrt, "abs": np.abs}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*outside of the nominated levels.*")
            found = spec.get_model_matrix(table, context=numeric)
    except Exception as error:  # whatever a function does not like about a column
        told = str(error.__cause__ or error).partition("\n")[0]
        raise DataError(f"the right side of the formula cannot be computed: {told}") from None
    return np.ascontiguousarray(found.__wrapped__, dtype=float), found.model_spec


def _check_levels(spec: Any) -> None:
    """Raise if a categorical factor has one level only: it would vanish without a word."""
    for name, (kind, state) in spec.encoder_state.items():
        levels: Sequence[Any] = state.get("categories", ())
        if kind.value == "categorical" and len(levels) == 1:
            raise DataError(
                f"{name!r} has one level only, {_checks.shown(levels)}: it tells nobody apart; leave it out",
                column=name,
            )
