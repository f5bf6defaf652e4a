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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._checks import whole
from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.errors import AnswerError, DataError, NaysayError
from naysay.frames import located
from naysay.regression.likelihood import CHEATERS, Answers, Model, Within, evenly, within
from naysay.responses import JOINER, Responses
from naysay.sampling import Sampled, Sampling
from naysay.tally import Tally

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    from formulaic import ModelSpec  # type: ignore[import-untyped]
    from formulaic.parser.types import Factor, Term  # type: ignore[import-untyped]
    from narwhals.typing import IntoDataFrame, IntoFrame, IntoSeries

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
        column_by_role = {"weights": self.weights, "counts": self.count, "offset": self.offset}
        return {role: column_name for role, column_name in column_by_role.items() if column_name is not None}

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
    compliance : (Formula, Matrix), optional
        The covariates of who complies.
    model : Model
    squared : (n,) float
        Sums of the squares of the weights of each row, scaled as the weights are.
    scale : float
        By what the weights were multiplied, so that they sum to the number of people.
    rows : (n,) int
        Their places in the file.
    sampled : Sampled, optional
        How they were sampled, a row each; None for people who were drawn independently of each other.
    unanswered : int
        People who gave no answer.
    missing : {column: int}
        People who answered, and were left out because a column of theirs is empty.
    dropped : int
        How many they are.
    """

    design: Answerable
    formula: Formula
    tally: Tally
    table: pd.DataFrame
    matrix: Matrix
    compliance: tuple[Formula, Matrix] | None
    model: Model
    squared: Floats
    scale: float
    rows: Places
    sampled: Sampled | None
    unanswered: int
    missing: dict[str, int]
    dropped: int

    @property
    def n(self) -> int:
        """People in the model."""
        return self.tally.n

    @property
    def unanswered_text(self) -> str:
        """How many gave no answer, in words."""
        return f"{self.unanswered:,} missing" if self.unanswered else "none missing"


def read(
    design: Answerable,
    formula: Formula,
    data: IntoFrame | Mapping[str, Iterable[object]],
    roles: Roles,
    *,
    missing: str,
    reference: Label | None,
    cheaters: str,
    compliance: Formula | None = None,
    beside: Sequence[str] = (),
    cells: Within | None = None,
) -> Data:
    """The model of a formula for a table; see `regress` for what is given and raised.

    Its table has the columns `beside`, too, in which nobody may have a gap. `cells` are those of a design whose cells
    no likelihood of the answers tells apart.
    """
    if cheaters not in CHEATERS:
        raise DataError(f"cheaters must be one of {', '.join(CHEATERS)}; got {cheaters!r}")
    if missing not in MISSING:
        raise DataError(f"missing must be one of {', '.join(MISSING)}; got {missing!r}")
    variables = tuple(dict.fromkeys([*formula.variables, *(compliance.variables if compliance else ()), *beside]))
    frame = _needed_columns(data, formula.response, variables, roles)
    amounts_by_role = {role: _amounts(frame[column_name], role) for role, column_name in roles.numbers.items()}
    responses, answer_places = _answers(design, frame, formula.response, roles.part)
    people_counts = whole(amounts_by_role["counts"]) if roles.count else np.ones(len(frame), dtype=np.int64)
    has_answer = ~responses.missing[answer_places] & (people_counts > 0)
    empty_cells = {column_name: _empty(frame[column_name]) & has_answer for column_name in variables}
    if roles.offset is not None:
        empty_cells[roles.offset] = np.isnan(amounts_by_role["offset"]) & has_answer
    empty_counts = {
        column_name: int(people_counts[is_empty].sum())
        for column_name, is_empty in empty_cells.items()
        if is_empty.any()
    }
    is_dropped = np.logical_or.reduce([*empty_cells.values(), np.zeros(len(frame), dtype=bool)])
    people_dropped = int(people_counts[is_dropped].sum())
    if people_dropped and missing == "error":
        empty_columns = ", ".join(
            f"{column_name!r} ({empty_count:,})" for column_name, empty_count in empty_counts.items()
        )
        raise DataError(
            f"{people_dropped:,} of {int(people_counts[has_answer].sum()):,} people who answered have an empty cell in "
            f"{empty_columns}, first in row {int(is_dropped.argmax()) + 1}; "
            "leave them out with missing='drop' (--missing drop)",
            row=int(is_dropped.argmax()),
            column=next(iter(empty_counts)),
        )
    model_rows = np.flatnonzero(has_answer & ~is_dropped)
    row_weights = amounts_by_role["weights"] if roles.weights else np.ones(len(frame))
    weight_sums, square_sums, sampled_rows = row_weights * people_counts, row_weights**2 * people_counts, None
    if roles.sampling is not None:  # how all rows of the file were sampled, those that are left out included
        sampled_rows = roles.sampling.rows(
            len(frame),
            count=people_counts,
            amounts=(weight_sums, square_sums),
            column=lambda name: frame[str(name)].to_list(),
        )
        weight_sums, square_sums = sampled_rows.weight, sampled_rows.squared
    weight_sums, square_sums = weight_sums[model_rows], square_sums[model_rows]
    answer_counts, answer_weights, answer_squares = (
        np.bincount(answer_places[model_rows], amounts, minlength=len(responses)).astype(float)
        for amounts in (people_counts[model_rows], weight_sums, square_sums)
    )
    tally = Tally.of(  # checks that the answers can be, and that some have weight
        design,
        responses,
        answer_counts.astype(np.int64),
        (answer_weights, answer_squares),
        weighted=roles.weights is not None or sampled_rows is not None,
    )
    weight_scale = tally.n / weight_sums.sum()
    covariate_table = table_of({column_name: frame[column_name] for column_name in variables}, model_rows)
    matrix = formula.matrix(covariate_table)
    compliance_matrix = None if compliance is None else compliance.matrix(covariate_table)
    model = Model(
        x=matrix.values,
        offset=amounts_by_role["offset"][model_rows] if roles.offset else None,
        answer=answer_places[model_rows],
        weight=weight_sums * weight_scale,
        answers=_answer_likelihoods(design, responses),
        within=cells or (evenly(design) if cheaters == "CDM" else within(design)),
        reference=_reference(design, reference),
        w=None if compliance_matrix is None else compliance_matrix.values,
    )
    model_places = np.full(len(frame), -1, dtype=np.intp)
    model_places[model_rows] = np.arange(len(model_rows))
    sampled = None if sampled_rows is None else sampled_rows.collapsed(model_places, len(model_rows))
    square_sums = square_sums * weight_scale**2
    return Data(
        design,
        formula,
        tally,
        covariate_table,
        matrix,
        None if compliance is None or compliance_matrix is None else (compliance, compliance_matrix),
        model,
        square_sums,
        weight_scale,
        model_rows,
        sampled,
        int(people_counts[responses.missing[answer_places]].sum()),
        empty_counts,
        people_dropped,
    )


def _needed_columns(
    data: IntoFrame | Mapping[str, Iterable[object]], response: Sequence[str], variables: Sequence[str], roles: Roles
) -> nw.DataFrame[Any]:
    """The columns that are needed, of any table, after checking that it has them."""
    if isinstance(data, Mapping):
        plain_columns = {
            column_name: cells
            if isinstance(cells, np.ndarray) and cells.dtype != object  # its cells are no Python dates
            else [sorted(map(str, cell)) if isinstance(cell, set | frozenset | tuple) else cell for cell in cells]
            for column_name, cells in data.items()
        }
        data = pl.DataFrame(plain_columns, strict=False)
    narwhals_frame = nw.from_native(data, pass_through=True)
    if not isinstance(narwhals_frame, nw.DataFrame | nw.LazyFrame):
        raise DataError(f"regression needs a table, such as a dataframe; got {type(data).__name__}")
    column_names = narwhals_frame.collect_schema().names()
    needed_names = [*response, *variables, *roles.columns]
    for column_name in needed_names:
        if column_name not in column_names:
            raise DataError(_checks.no_column(column_name, column_names), column=column_name)
    repeated_name = next((column_name for column_name in response if column_name in variables), None)
    if repeated_name is not None:
        raise DataError(f"column {repeated_name!r} stands on both sides of the formula", column=repeated_name)
    needed_columns = narwhals_frame.select(list(dict.fromkeys(needed_names)))
    frame = needed_columns.collect() if isinstance(needed_columns, nw.LazyFrame) else needed_columns
    if not len(frame):
        raise DataError("at least one answer is needed; the data has no rows")
    return frame


def _empty(series: nw.Series[IntoSeries]) -> NDArray[np.bool_]:
    """Which cells of a column are empty."""
    is_empty = series.is_null()
    if series.dtype.is_float():
        is_empty = is_empty | series.is_nan()
    elif isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        is_empty = is_empty | (series.cast(nw.String) == "")
    return np.asarray(is_empty.fill_null(True).to_numpy(), dtype=bool)


def _amounts(series: nw.Series[IntoSeries], role: str) -> Floats:
    """A column of numbers; only an offset may be empty or negative."""
    if not series.dtype.is_numeric():
        raise DataError(f"{role} must be numbers; column {series.name!r} holds {series.dtype}", column=series.name)
    row_amounts = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=float)
    if role == "offset":
        if np.isinf(row_amounts).any():
            raise DataError(
                f"the offset must be finite; got {row_amounts[np.isinf(row_amounts)][0]}", column=series.name
            )
        return row_amounts
    is_invalid = ~(np.isfinite(row_amounts) & (row_amounts >= 0))
    if is_invalid.any():
        invalid_row = int(is_invalid.argmax())
        cell_text = "is empty" if np.isnan(row_amounts[invalid_row]) else f"holds {row_amounts[invalid_row]:g}"
        message = f"{role} must be finite and not negative; column {series.name!r} {cell_text} in row {invalid_row + 1}"
        raise DataError(message, row=invalid_row, column=series.name, value=float(row_amounts[invalid_row]))
    return row_amounts


def _answers(
    design: Answerable, frame: nw.DataFrame[IntoDataFrame], columns: Sequence[str], part: str | None
) -> tuple[Responses, Places]:
    """The distinct answers, with their level or sample, and which of them each row holds."""
    pandas = formulaic("pandas")
    columns_needed = [*columns, *([part] if part is not None else [])]
    answer_places = np.zeros(len(frame), dtype=np.int64)
    for column_name in columns_needed:
        cell_codes, distinct_cells = pandas.factorize(_keys(frame[column_name]), use_na_sentinel=True)
        answer_places = answer_places * (len(distinct_cells) + 1) + cell_codes + 1
    answer_places, distinct_keys = pandas.factorize(answer_places)  # numbered in the order in which they came
    first_rows = np.zeros(len(distinct_keys), dtype=np.intp)
    first_rows[answer_places[::-1]] = np.arange(len(answer_places))[::-1]
    cells_by_column = [
        [None if _checks.is_missing(cell) else cell for cell in _cells(frame[column_name][first_rows])]
        for column_name in columns_needed
    ]
    level_cells = cells_by_column.pop() if part is not None else None
    answer_columns: Any = cells_by_column[0]
    if design.space.answers > 1:
        answer_columns = tuple(cells_by_column)
    elif len(cells_by_column) > 1:
        answer_columns = np.array(list(zip(*cells_by_column, strict=True)), dtype=object)
    try:
        return design.encode(answer_columns, level_cells), answer_places
    except AnswerError as error:
        raise located(error, columns, [] if part is None else [part], row=int(first_rows[error.row or 0])) from None


def _keys(series: nw.Series[IntoSeries]) -> NDArray[Any]:
    """What tells the cells of a column apart, in the cheapest form."""
    native = series.to_native()
    if isinstance(native, pl.Series) and series.dtype == nw.String:
        return native.cast(pl.Categorical).to_physical().to_numpy()
    return np.array(_cells(series), dtype=object) if isinstance(series.dtype, nw.List | nw.Array) else series.to_numpy()


def _cells(series: nw.Series[IntoSeries]) -> list[Any]:
    """The cells of a column, each set as one text."""
    if isinstance(series.dtype, nw.List | nw.Array):
        return [None if cell is None else JOINER.join(map(str, cell)) or JOINER for cell in series.to_list()]
    return list(series.to_list())


def _answer_likelihoods(design: Answerable, responses: Responses) -> Answers:
    """Likelihood rows of the distinct answers, and the channel of each."""
    part_names = list(design.parts)
    levels = responses.level
    channel_places = [0] * len(responses) if levels is None else [part_names.index(level) for level in levels]
    return Answers(design.likelihood(responses), np.array(channel_places, dtype=np.intp), tuple(design.parts.values()))


def _reference(design: Answerable, name: Label | None) -> int:
    """The place of the category with which the others are compared: the last, unless another is named."""
    category_labels = [_checks.label(category) for category in design.categories]
    if name is None:
        return len(category_labels) - 1
    if _checks.label(name) not in category_labels:
        raise DataError(
            f"the reference {name!r} is no category; {_checks.nearest(_checks.label(name), category_labels)}"
        )
    return category_labels.index(_checks.label(name))


def table_of(columns: Mapping[str, nw.Series[IntoSeries]], rows: Places | slice) -> pd.DataFrame:
    """A pandas table of columns: numbers as they are, texts as categories in alphabetical order or in their own."""
    pandas = formulaic("pandas")
    row_count = len(rows) if not isinstance(rows, slice) else len(next(iter(columns.values()), ()))
    return pandas.DataFrame(
        {column_name: _column(series, rows) for column_name, series in columns.items()}, index=range(row_count)
    )


def _column(series: nw.Series[IntoSeries], rows: Places | slice) -> object:
    pandas = formulaic("pandas")
    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = series.to_numpy()[rows]
        return values.astype(np.int64 if kind.is_integer() else np.float64)  # gaps, now gone, had made them others
    if isinstance(kind, nw.Enum):
        category_order = list(series.cat.get_categories().to_list())
        return pandas.Categorical(series.to_numpy()[rows], category_order).remove_unused_categories()
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
    row_numbers = np.arange(len(cells))[rows]
    first_row_of: dict[str, int] = {}
    for row in row_numbers.tolist():
        first_row_of.setdefault(str(cells[row]), row)
    texts = [cell_text for cell_text in first_row_of if not _is_number(cell_text)]
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
    spec: ModelSpec

    def of(self, table: pd.DataFrame) -> Floats:
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
    parsed: Sequence[Term]

    @property
    def right_side(self) -> str:
        """What stands right of the tilde."""
        return self.text.partition("~")[2].strip()

    def matrix(self, table: pd.DataFrame) -> Matrix:
        """The columns of numbers for a pandas table that holds the variables.

        Raises
        ------
        DataError
            A function that cannot take a column, a categorical column with a single level, a term that is not finite
            in some row, or no columns at all.
        """
        model_spec = formulaic().ModelSpec.from_spec(self.parsed, na_action="ignore", output="numpy")
        matrix_cells, model_spec = _model_matrix(model_spec, table)
        for factor_name, (factor_kind, encoder_state) in model_spec.encoder_state.items():
            levels = encoder_state.get("categories", ())
            if factor_kind.value == "categorical" and len(levels) == 1:  # it would vanish without a word
                raise DataError(
                    f"{factor_name!r} has one level only, {_checks.listing_text(levels)}: it tells nobody apart; "
                    "leave it out",
                    column=factor_name,
                )
        column_names = tuple(model_spec.column_names)
        is_infinite = ~np.isfinite(matrix_cells)
        if is_infinite.any():
            row_place, column_place = (int(places_of_axis[0]) for places_of_axis in np.nonzero(is_infinite))
            variable_texts = ", ".join(
                f"{variable_name} = {table[variable_name].iloc[row_place]}" for variable_name in self.variables
            )
            raise DataError(
                f"{column_names[column_place]!r} is not a finite number where {variable_texts}",
                column=column_names[column_place],
            )
        if not column_names:
            raise DataError(f"the formula {self.text!r} has nothing on its right side; write 1 for a constant")
        term_columns = {str(term): tuple(column_places) for term, column_places in model_spec.term_indices.items()}
        return Matrix(matrix_cells, column_names, term_columns, model_spec)

    def constant(self, table: pd.DataFrame) -> Matrix | None:
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
    parser_module = formulaic("formulaic.parser")
    parser = parser_module.DefaultFormulaParser(feature_flags={"twosided"})
    try:
        parsed_formula = formulaic().Formula(text, _parser=parser)
        left_side, right_side = parsed_formula.lhs, parsed_formula.rhs
        response_columns = tuple(_response(term) for term in left_side)
        factor_by_text = {str(factor): factor for term in right_side for factor in term.factors}
        names_by_factor = {text: list(_names(factor)) for text, factor in factor_by_text.items()}
    except DataError:
        raise
    except Exception as error:  # formulaic raises many kinds, and shows the place over several lines
        parser_message = str(error).partition("\n")[0].partition(" (<unknown>")[0] or type(error).__name__
        raise DataError(f"{text!r} is no formula such as 'cheated ~ age + gender': {parser_message}") from None
    variable_names = tuple(
        dict.fromkeys(column_name for factor_names in names_by_factor.values() for column_name in factor_names)
    )
    categorical_names = frozenset(
        column_name
        for text, factor_names in names_by_factor.items()
        if text.startswith("C(")
        for column_name in factor_names
    )
    return Formula(text, response_columns, variable_names, categorical_names, right_side)


def parse_right(text: str, response: str) -> Formula:
    """The formula of who complies, given by its right side, such as ``age + gender``."""
    if not str(text).strip() or "~" in str(text):
        raise DataError(f"compliance takes the right side of a formula, such as 'age + gender'; got {text!r}")
    return parse(f"{response} ~ {text}")


def _check_tokens(text: str) -> None:
    """Raise unless the text is one response, a tilde, and operators that formulas have."""
    tokenize_module = formulaic("formulaic.parser.algos.tokenize")
    remedy = "write the response, ~, and the columns beside it, such as 'cheated ~ age + gender'"
    if len(text) > _LONGEST or any(ord(letter) < ord(" ") and not letter.isspace() for letter in text):
        raise DataError(f"a formula has at most {_LONGEST} letters, and none that cannot be seen; {remedy}")
    try:
        token_list = list(tokenize_module.tokenize(text))
    except Exception as error:
        raise DataError(f"{text!r} is no formula: {str(error).partition(chr(10))[0]}; {remedy}") from None
    kinds_and_words = [(token.kind.value, token.token) for token in token_list]
    tilde = ("operator", "~")
    if kinds_and_words.count(tilde) != 1 or tilde in (kinds_and_words[0], kinds_and_words[-1]):
        raise DataError(f"{text!r} is no formula: {remedy}")
    for token_place, (token_kind, token_word) in enumerate(kinds_and_words):
        if token_kind == "operator" and any(operator_part not in _OPERATORS for operator_part in _split(token_word)):
            raise DataError(f"a formula cannot hold {token_word!r}; {remedy}")
        if token_kind == "python" and unicodedata.normalize("NFKC", token_word) != token_word:
            raise DataError(f"{token_word!r} holds letters that Python takes for others; rename the column")
        if token_kind == "name" and token_word == "1":
            raise DataError("a column that is called 1 would be taken for the constant; rename it")
        if token_word == ".":
            raise DataError("a formula cannot hold '.'; name the columns")
        if token_kind == "context" and token_word in "[]":
            raise DataError(f"a formula cannot hold {token_word!r}; {remedy}")
        if token_kind == "operator" and token_word in ("**", "^"):
            power_text = kinds_and_words[token_place + 1][1] if token_place + 1 < len(kinds_and_words) else ""
            if not power_text.isdigit() or int(power_text) > _POWER:
                raise DataError(
                    f"terms can be multiplied up to {_POWER} times, as in (a + b)**2; got {token_word}{power_text}"
                )


def _split(word: str) -> Iterator[str]:
    """The operators of a run such as ``~-``, longest first."""
    while word:
        operator_length = next((length for length in (4, 2, 1) if word[:length] in _OPERATORS), 1)
        yield word[:operator_length]
        word = word[operator_length:]


def _response(term: Term) -> str:
    """The column that a term of the left side names."""
    if len(term.factors) != 1 or term.factors[0].eval_method.value != "lookup":
        raise DataError(
            f"the left side of a formula names the column of the answers (or one column for each category, joined by "
            f"+); got {str(term)!r}"
        )
    return str(term.factors[0].expr)


def _names(factor: Factor) -> Iterator[str]:
    """The columns that a factor of a term needs, after checking that it is nothing but arithmetic."""
    if factor.eval_method.value == "lookup":
        yield str(factor.expr)
    elif factor.eval_method.value == "python":
        aliases: dict[str, str] = {}
        _check_one_name_each(factor.expr)
        try:
            plain_expression = formulaic("formulaic.utils.code").sanitize_variable_names(factor.expr, {}, aliases)
            expression_tree = ast.parse(plain_expression, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise DataError(f"{factor.expr!r} in the formula is neither a column nor a function of one") from None
        for column_name in _column_names(expression_tree):
            yield aliases.get(column_name, column_name)


def _check_one_name_each(expression: str) -> None:
    """Raise if formulaic would take one column for another: it calls ``a b`` a_b."""
    quoted_names = re.findall("`([^`]*)`", expression)
    expression_names = {*quoted_names, *re.findall(r"\w+", re.sub("`[^`]*`", " ", expression))}
    for name in quoted_names:
        similar_names = {
            other_name
            for other_name in expression_names - {name}
            if re.sub(r"\W", "_", other_name) == re.sub(r"\W", "_", name)
        }
        if similar_names:
            raise DataError(
                f"the columns {_checks.listing_text(sorted({name, *similar_names}))} cannot stand in one function; "
                "rename one"
            )


def _column_names(tree: ast.AST) -> Iterator[str]:
    """The names of columns in an expression, after checking every node.

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
            case ast.Constant(value=str(literal_text)):
                if _LETTERS & set(literal_text) or not literal_text.isprintable():
                    raise DataError(
                        f"a text in a formula cannot hold quotes, backslashes or braces; got {literal_text!r}"
                    )
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
    other_names: set[ast.expr] = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        contrasts = [*call.args[1:], *(keyword.value for keyword in call.keywords)]  # C(region, Sum), without brackets
        other_names |= {contrast for contrast in contrasts if getattr(contrast, "id", "") in ("Sum", "Treatment")}
        other_names.add(call.func)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node not in other_names:
            yield node.id


def _check_power(node: ast.BinOp) -> None:
    """Raise unless a power is that of a column: powers of numbers alone could fill the memory."""
    has_column = any(isinstance(subnode, ast.Name) for subnode in ast.walk(node.left))
    is_fixed_power = isinstance(node.right, ast.Constant | ast.UnaryOp) and not any(
        isinstance(subnode, ast.Name | ast.BinOp | ast.Call) for subnode in ast.walk(node.right)
    )
    if not (has_column and is_fixed_power):
        raise DataError(f"a power in a formula is that of a column to a number; got {ast.unparse(node)!r}")


def _model_matrix(spec: ModelSpec, table: pd.DataFrame) -> tuple[Floats, ModelSpec]:
    """The numbers of a checked right side for a table, and what makes them again."""
    numeric_functions = {"sqrt": np.sqrt, "abs": np.abs}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*outside of the nominated levels.*")
            model_matrix = spec.get_model_matrix(table, context=numeric_functions)
    except Exception as error:  # whatever a function does not like about a column
        cause_text = str(error.__cause__ or error).partition("\n")[0]
        raise DataError(f"the right side of the formula cannot be computed: {cause_text}") from None
    return np.ascontiguousarray(model_matrix.__wrapped__, dtype=float), model_matrix.model_spec
