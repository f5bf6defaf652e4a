"""From a table of answers and covariates to a model: who is in it, and who is left out.

Formulas such as ``cheated ~ age + gender``: what may stand in them, and the columns of numbers that they stand for.

formulaic would run any Python that a formula holds. Here a formula is checked before anything of it is evaluated: names
of columns, numbers, arithmetic, and the functions of `FUNCTIONS`; no attribute, no subscript, no other call.
"""

from __future__ import annotations

import ast
import importlib
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import AnswerError, DataError, NaysayError
from naysay.frames import located
from naysay.regression.likelihood import CHEATERS, Answers, Model, evenly, within
from naysay.responses import JOINER, Responses
from naysay.sampling import Rows, Sampled, Sampling
from naysay.tally import Tally
from naysay.tally.tally import whole

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MISSING = ("error", "drop")

_FEWEST_NUMBERS = 20  # different numbers from which on a column of texts is one of numbers with a few texts in it


@dataclass(frozen=True)
class Roles:
    """The columns that hold more than answers and covariates.

    Parameters
    ----------
    part : str, optional
        The level that each respondent chose, or the sample that each was in.
    weights, count, offset : str, optional
    sampling : Sampling, optional
        How the sample was drawn, beyond weights.
    """

    part: str | None = None
    weights: str | None = None
    count: str | None = None
    offset: str | None = None
    sampling: Sampling | None = None

    @property
    def numbers(self) -> dict[str, str]:
        """The columns that must be numbers, by role."""
        pairs = {"weights": self.weights, "counts": self.count, "offset": self.offset}
        return {role: name for role, name in pairs.items() if name is not None}

    @property
    def columns(self) -> list[str]:
        """All columns that they name."""
        sampling_columns = [] if self.sampling is None else self.sampling.columns
        return [*([] if self.part is None else [self.part]), *self.numbers.values(), *sampling_columns]


@dataclass(frozen=True, eq=False)
class Data:
    """Those who answered, with their covariates.

    Parameters
    ----------
    design : Design, Levels or Samples
    formula : Formula
    tally : Tally
        Of their answers.
    table : pandas table
        The variables of the formula, a row for each of them.
    matrix : Matrix
    model : Model
    squared : (n,) float
        Sums of the squares of the weights of each row, scaled as the weights are.
    scale : float
        By what the weights were multiplied, so that they sum to the number of people.
    rows : (n,) int
        Their places in the file.
    sampled : Sampled, optional
        How they were sampled, a row each; None for people who were drawn independently of each other.
    total : int
        Rows of the file.
    missing : {column: int}
        People who answered, and were left out because a column of theirs is empty.
    dropped : int
        How many they are.
    """

    design: Answerable
    formula: Formula
    tally: Tally
    table: Any
    matrix: Matrix
    model: Model
    squared: Floats
    scale: float
    rows: Places
    sampled: Sampled | None
    total: int
    missing: dict[str, int]
    dropped: int

    @property
    def n(self) -> int:
        """People in the model."""
        return self.tally.n


def read(
    design: Answerable, formula: Formula, data: Any, roles: Roles, *, missing: str, reference: Any, cheaters: str
) -> Data:
    """The model of a formula for a table; see `regress` for what is given and raised."""
    if cheaters not in CHEATERS:
        raise DataError(f"cheaters must be one of {', '.join(CHEATERS)}; got {cheaters!r}")
    if missing not in MISSING:
        raise DataError(f"missing must be one of {', '.join(MISSING)}; got {missing!r}")
    frame = _needed_columns(data, [*formula.response, *formula.variables], roles)
    amounts = {role: _amounts(frame[name], role) for role, name in roles.numbers.items()}
    responses, answer = _answers(design, frame, formula.response, roles.part)
    people = whole(amounts["counts"]) if roles.count else np.ones(len(frame), dtype=np.int64)
    has_answer = ~responses.missing[answer] & (people > 0)
    empty = {name: _empty(frame[name]) & has_answer for name in formula.variables}
    if roles.offset is not None:
        empty[roles.offset] = np.isnan(amounts["offset"]) & has_answer
    counts = {name: int(people[is_empty].sum()) for name, is_empty in empty.items() if is_empty.any()}
    is_dropped = np.logical_or.reduce([*empty.values(), np.zeros(len(frame), dtype=bool)])
    people_dropped = int(people[is_dropped].sum())
    if people_dropped and missing == "error":
        empty_columns = ", ".join(f"{name!r} ({count:,})" for name, count in counts.items())
        raise DataError(
            f"{people_dropped:,} of {int(people[has_answer].sum()):,} people who answered have an empty cell in "
            f"{empty_columns}, first in row {int(is_dropped.argmax()) + 1}; "
            "leave them out with missing='drop' (--missing drop)",
            row=int(is_dropped.argmax()),
            column=next(iter(counts)),
        )
    rows = np.flatnonzero(has_answer & ~is_dropped)
    row_weights = amounts["weights"] if roles.weights else np.ones(len(frame))
    sampled_rows = _sampled_rows(frame, roles.sampling, people, row_weights)
    weight, squared = (
        (row_weights * people, row_weights**2 * people)
        if sampled_rows is None
        else (sampled_rows.weight, sampled_rows.squared)
    )
    weight, squared = weight[rows], squared[rows]
    weighted = roles.weights is not None or sampled_rows is not None
    tally = _tally(design, responses, answer[rows], (people[rows], weight, squared), weighted=weighted)
    scale = tally.n / weight.sum()
    table = table_of({name: frame[name] for name in formula.variables}, rows)
    matrix = formula.matrix(table)
    model = Model(
        x=matrix.values,
        offset=amounts["offset"][rows] if roles.offset else None,
        answer=answer[rows],
        weight=weight * scale,
        answers=_answer_likelihoods(design, responses),
        within=evenly(design) if cheaters == "CDM" else within(design),
        reference=_reference(design, reference),
    )
    place = np.full(len(frame), -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    sampled = None if sampled_rows is None else sampled_rows.collapsed(place, len(rows))
    squared = squared * scale**2
    return Data(
        design, formula, tally, table, matrix, model, squared, scale, rows, sampled, len(frame), counts, people_dropped
    )


def _sampled_rows(frame: Any, sampling: Sampling | None, people: NDArray[np.int64], row_weights: Floats) -> Rows | None:
    """How all rows of the file were sampled, those that are left out included; None where nothing is told."""
    if sampling is None:
        return None
    amounts = row_weights * people, row_weights**2 * people
    return sampling.rows(len(frame), count=people, amounts=amounts, column=lambda name: frame[name].to_list())


def _needed_columns(data: Any, formula_columns: Sequence[str], roles: Roles) -> Any:
    """The columns that are needed, of any table, after checking that it has them."""
    if isinstance(data, Mapping):
        data = pl.DataFrame({name: _plain_cells(cells) for name, cells in data.items()}, strict=False)
    narwhals_frame = nw.from_native(data, pass_through=True)
    if not isinstance(narwhals_frame, nw.DataFrame | nw.LazyFrame):
        raise DataError(f"regression needs a table, such as a dataframe; got {type(data).__name__}")
    column_names = narwhals_frame.collect_schema().names()
    needed_names = [*formula_columns, *roles.columns]
    for name in needed_names:
        if name not in column_names:
            raise DataError(_checks.no_column(name, column_names), column=name)
    repeated_name = next(
        (
            name
            for name in formula_columns[len(set(formula_columns)) - len(formula_columns) :]
            if formula_columns.count(name) > 1
        ),
        None,
    )
    if repeated_name is not None:
        raise DataError(f"column {repeated_name!r} stands on both sides of the formula", column=repeated_name)
    needed_columns = narwhals_frame.select(list(dict.fromkeys(needed_names)))
    frame = needed_columns.collect() if isinstance(needed_columns, nw.LazyFrame) else needed_columns
    if not len(frame):
        raise DataError("at least one answer is needed; the data has no rows")
    return frame


def _plain_cells(cells: Any) -> Any:
    if isinstance(cells, np.ndarray) and cells.dtype != object:  # its cells are no Python dates
        return cells
    return [sorted(map(str, cell)) if isinstance(cell, set | frozenset | tuple) else cell for cell in cells]


def _empty(series: Any) -> NDArray[np.bool_]:
    """Which cells of a column are empty."""
    is_empty = series.is_null()
    if series.dtype.is_float():
        is_empty = is_empty | series.is_nan()
    elif isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        is_empty = is_empty | (series.cast(nw.String) == "")
    return np.asarray(is_empty.fill_null(True).to_numpy(), dtype=bool)


def _amounts(series: Any, role: str) -> Floats:
    """A column of numbers; only an offset may be empty or negative."""
    if not series.dtype.is_numeric():
        raise DataError(f"{role} must be numbers; column {series.name!r} holds {series.dtype}", column=series.name)
    values = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=float)
    if role == "offset":
        if np.isinf(values).any():
            raise DataError(f"the offset must be finite; got {values[np.isinf(values)][0]}", column=series.name)
        return values
    is_invalid = ~(np.isfinite(values) & (values >= 0))
    if is_invalid.any():
        row = int(is_invalid.argmax())
        cell_text = "is empty" if np.isnan(values[row]) else f"holds {values[row]:g}"
        message = f"{role} must be finite and not negative; column {series.name!r} {cell_text} in row {row + 1}"
        raise DataError(message, row=row, column=series.name, value=float(values[row]))
    return values


def _answers(design: Answerable, frame: Any, columns: Sequence[str], part: str | None) -> tuple[Responses, Places]:
    """The distinct answers, with their level or sample, and which of them each row holds."""
    pandas = formulaic("pandas")
    columns_needed = [*columns, *([part] if part is not None else [])]
    place = np.zeros(len(frame), dtype=np.int64)
    for name in columns_needed:
        codes, values = pandas.factorize(_keys(frame[name]), use_na_sentinel=True)
        place = place * (len(values) + 1) + codes + 1
    place, distinct = pandas.factorize(place)  # numbered in the order in which they came
    first_rows = np.zeros(len(distinct), dtype=np.intp)
    first_rows[place[::-1]] = np.arange(len(place))[::-1]
    cells = [
        [None if _checks.is_missing(cell) else cell for cell in _cells(frame[name][first_rows])]
        for name in columns_needed
    ]
    levels = cells.pop() if part is not None else None
    answer_columns: Any = cells[0]
    if design.space.answers > 1:
        answer_columns = tuple(cells)
    elif len(cells) > 1:
        answer_columns = np.array(list(zip(*cells, strict=True)), dtype=object)
    try:
        return design.encode(answer_columns, levels), place
    except AnswerError as error:
        raise located(error, columns, [] if part is None else [part], row=int(first_rows[error.row or 0])) from None


def _keys(series: Any) -> NDArray[Any]:
    """What tells the cells of a column apart, in the cheapest form."""
    native = series.to_native()
    if isinstance(native, pl.Series) and series.dtype == nw.String:
        return native.cast(pl.Categorical).to_physical().to_numpy()
    return np.array(_cells(series), dtype=object) if isinstance(series.dtype, nw.List | nw.Array) else series.to_numpy()


def _cells(series: Any) -> list[Any]:
    """The cells of a column, each set as one text."""
    if isinstance(series.dtype, nw.List | nw.Array):
        return [None if cell is None else JOINER.join(map(str, cell)) or JOINER for cell in series.to_list()]
    return list(series.to_list())


def _answer_likelihoods(design: Answerable, responses: Responses) -> Answers:
    """Likelihood rows of the distinct answers, and the channel of each."""
    names = list(design.parts)
    part = np.zeros(len(responses), dtype=np.intp)
    if responses.level is not None:
        part = np.array([names.index(design.level_named(level)) for level in responses.level], dtype=np.intp)
    return Answers(design.likelihood(responses), part, tuple(design.parts.values()))


def _tally(
    design: Answerable, responses: Responses, place: Places, sums: Sequence[NDArray[Any]], *, weighted: bool
) -> Tally:
    """The tally of the answers in the model, which checks that they can be, and that some have weight.

    What is added up are counts, weights and squared weights.
    """
    count, weight, squared = (
        np.bincount(place, row_amounts, minlength=len(responses)).astype(float) for row_amounts in sums
    )
    return Tally.of(design, responses, count.astype(np.int64), (weight, squared), weighted=weighted)


def _reference(design: Answerable, name: Any) -> int:
    """The place of the category with which the others are compared: the last, unless another is named."""
    labels = [_checks.label(category) for category in design.categories]
    if name is None:
        return len(labels) - 1
    if _checks.label(name) not in labels:
        raise DataError(f"the reference {name!r} is no category; {_checks.nearest(_checks.label(name), labels)}")
    return labels.index(_checks.label(name))


def table_of(columns: Mapping[str, Any], rows: Places | slice) -> Any:
    """A pandas table of columns: numbers as they are, texts as categories in alphabetical order or in their own."""
    pandas = formulaic("pandas")
    size = len(rows) if not isinstance(rows, slice) else len(next(iter(columns.values()), ()))
    return pandas.DataFrame({name: _column(series, rows) for name, series in columns.items()}, index=range(size))


def _column(series: Any, rows: Places | slice) -> Any:
    pandas = formulaic("pandas")
    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = series.to_numpy()[rows]
        return values.astype(np.int64 if kind.is_integer() else np.float64)  # gaps, now gone, had made them others
    if isinstance(kind, nw.Enum):
        order = list(series.cat.get_categories().to_list())
        return pandas.Categorical(series.to_numpy()[rows], order).remove_unused_categories()
    if isinstance(kind, nw.String):
        _check_no_numbers(series.name, series.to_list(), rows)
    if isinstance(kind, nw.String | nw.Categorical | nw.Object):
        return pandas.Categorical(series.to_numpy()[rows])
    raise DataError(
        f"column {series.name!r} holds {kind}; a formula takes numbers and texts, so turn it into one of them",
        column=series.name,
    )


def _check_no_numbers(name: str, cells: Sequence[str | None], rows: Places | slice) -> None:
    """Raise where single texts among numbers turned a column of numbers into one of texts."""
    values = np.arange(len(cells))[rows]
    first_row_of: dict[str, int] = {}
    for row in values.tolist():
        first_row_of.setdefault(str(cells[row]), row)
    texts = [text for text in first_row_of if not _is_number(text)]
    if texts and len(first_row_of) - len(texts) >= max(_FEWEST_NUMBERS, 9 * len(texts)):
        row = first_row_of[texts[0]]
        raise DataError(
            f"column {name!r} holds numbers, but {texts[0]!r} in row {row + 1}; empty that cell, or, if these are "
            "categories, begin each with a letter",
            row=row,
            column=name,
            value=texts[0],
        )


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


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
        install_message = (
            f"regression needs {error.name}, which is not installed; get it with: pip install 'naysay[regression]'"
        )
        raise NaysayError(install_message) from None


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
        return _model_matrix(self.spec, table)[0]


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
        values, spec = _model_matrix(spec, table)
        _check_levels(spec)
        columns = tuple(spec.column_names)
        is_infinite = ~np.isfinite(values)
        if is_infinite.any():
            row, column = (int(places_of_axis[0]) for places_of_axis in np.nonzero(is_infinite))
            variable_texts = ", ".join(f"{name} = {table[name].iloc[row]}" for name in self.variables)
            raise DataError(
                f"{columns[column]!r} is not a finite number where {variable_texts}", column=columns[column]
            )
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
        parsed_formula = formulaic().Formula(text, _parser=parser)
        left_side, right_side = parsed_formula.lhs, parsed_formula.rhs
        response = tuple(_response(term) for term in left_side)
        factors = {str(factor): factor for term in right_side for factor in term.factors}
        names = {text: list(_names(factor)) for text, factor in factors.items()}
    except DataError:
        raise
    except Exception as error:  # formulaic raises many kinds, and shows the place over several lines
        parser_message = str(error).partition("\n")[0].partition(" (<unknown>")[0] or type(error).__name__
        raise DataError(f"{text!r} is no formula such as 'cheated ~ age + gender': {parser_message}") from None
    variables = tuple(dict.fromkeys(name for factor_names in names.values() for name in factor_names))
    categories = frozenset(
        name for text, factor_names in names.items() if text.startswith("C(") for name in factor_names
    )
    return Formula(text, response, variables, categories, right_side)


def _check_tokens(text: str) -> None:
    """Raise unless the text is one response, a tilde, and operators that formulas have."""
    tokens = formulaic("formulaic.parser.algos.tokenize")
    remedy = "write the response, ~, and the columns beside it, such as 'cheated ~ age + gender'"
    if len(text) > _LONGEST or any(ord(letter) < ord(" ") and not letter.isspace() for letter in text):
        raise DataError(f"a formula has at most {_LONGEST} letters, and none that cannot be seen; {remedy}")
    try:
        token_list = list(tokens.tokenize(text))
    except Exception as error:
        raise DataError(f"{text!r} is no formula: {str(error).partition(chr(10))[0]}; {remedy}") from None
    kinds = [(token.kind.value, token.token) for token in token_list]
    if [word for kind, word in kinds if kind == "operator"].count("~") != 1 or ("operator", "~") in (
        kinds[0],
        kinds[-1],
    ):
        raise DataError(f"{text!r} is no formula: {remedy}")
    for place, (kind, word) in enumerate(kinds):
        if kind == "operator" and any(part not in _OPERATORS for part in _split(word)):
            raise DataError(f"a formula cannot hold {word!r}; {remedy}")
        if kind == "python" and unicodedata.normalize("NFKC", word) != word:
            raise DataError(f"{word!r} holds letters that Python takes for others; rename the column")
        if kind == "name" and word == "1":
            raise DataError("a column that is called 1 would be taken for the constant; rename it")
        if word == ".":
            raise DataError("a formula cannot hold '.'; name the columns")
        if kind == "context" and word in "[]":
            raise DataError(f"a formula cannot hold {word!r}; {remedy}")
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
            plain_expression = formulaic("formulaic.utils.code").sanitize_variable_names(factor.expr, {}, aliases)
            tree = ast.parse(plain_expression, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise DataError(f"{factor.expr!r} in the formula is neither a column nor a function of one") from None
        for node, role in _names_with_roles(tree):
            if role == "name":
                yield aliases.get(node, node)


def _check_one_name_each(expression: str) -> None:
    """Raise if formulaic would take one column for another: it calls ``a b`` a_b."""
    quoted_names = re.findall("`([^`]*)`", expression)
    names = {*quoted_names, *re.findall(r"\w+", re.sub("`[^`]*`", " ", expression))}
    for name in quoted_names:
        similar_names = {
            other_name for other_name in names - {name} if re.sub(r"\W", "_", other_name) == re.sub(r"\W", "_", name)
        }
        if similar_names:
            raise DataError(
                f"the columns {_checks.listing_text(sorted({name, *similar_names}))} cannot stand in one function; "
                "rename one"
            )


def _names_with_roles(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names in an expression, each with its role, after checking every node.

    What is not listed here cannot be written in a formula.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[_, ast.Name(id="Treatment"), *_]):
                remedy = "write a category with which the others are compared, such as C(region, Treatment('north'))"
                raise DataError(f"{ast.unparse(node)} names no category; {remedy}")
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
                node_kind = type(node).__name__
                raise DataError(
                    f"a formula holds columns, numbers, arithmetic and {', '.join(FUNCTIONS)}; {ast.unparse(tree)!r} "
                    f"holds something else ({node_kind})"
                )
    function_ids = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    contrast_ids = {keyword for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in _contrasts(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in function_ids and id(node) not in contrast_ids:
            yield node.id, "name"


def _contrasts(call: ast.Call) -> Iterator[int]:
    """Contrasts that are named without brackets, as in ``C(region, Sum)``."""
    arguments = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    return (
        id(argument) for argument in arguments if isinstance(argument, ast.Name) and argument.id in ("Sum", "Treatment")
    )


def _check_power(node: ast.BinOp) -> None:
    """Raise unless a power is that of a column: powers of numbers alone could fill the memory."""
    has_column = any(isinstance(subnode, ast.Name) for subnode in ast.walk(node.left))
    is_fixed_power = isinstance(node.right, ast.Constant | ast.UnaryOp) and not any(
        isinstance(subnode, ast.Name | ast.BinOp | ast.Call) for subnode in ast.walk(node.right)
    )
    if not (has_column and is_fixed_power):
        raise DataError(f"a power in a formula is that of a column to a number; got {ast.unparse(node)!r}")


def _model_matrix(spec: Any, table: Any) -> tuple[Floats, Any]:
    """The numbers of a checked right side for a table, and what makes them again."""
    numeric = {"sqrt": np.sqrt, "abs": np.abs}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*outside of the nominated levels.*")
            model_matrix = spec.get_model_matrix(table, context=numeric)
    except Exception as error:  # whatever a function does not like about a column
        cause_text = str(error.__cause__ or error).partition("\n")[0]
        raise DataError(f"the right side of the formula cannot be computed: {cause_text}") from None
    return np.ascontiguousarray(model_matrix.__wrapped__, dtype=float), model_matrix.model_spec


def _check_levels(spec: Any) -> None:
    """Raise if a categorical factor has one level only: it would vanish without a word."""
    for name, (kind, state) in spec.encoder_state.items():
        levels: Sequence[Any] = state.get("categories", ())
        if kind.value == "categorical" and len(levels) == 1:
            raise DataError(
                f"{name!r} has one level only, {_checks.listing_text(levels)}: it tells nobody apart; leave it out",
                column=name,
            )
