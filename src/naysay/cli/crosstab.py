"""``naysay crosstab``: two or three variables together, randomized or plain.

``naysay query``: how many people of a released file a condition describes, with the error of the randomization.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
import typer
from numpy.typing import NDArray
from rich.console import Console

from naysay import _checks, crosstab, files
from naysay.collect.commands.database import Surveyed
from naysay.collect.questionnaire.expressions import Answer, Apply, Expression, Value, has_order, parse_expression
from naysay.collect.results.answered import measure, withheld_note
from naysay.console import options, output
from naysay.console.options import SamplingOptions, prepare_frame
from naysay.console.output import takes
from naysay.crosstab import Crosstab, Variable
from naysay.crosstab.result import crosstab_html
from naysay.errors import DataError

_ROLES = ("row", "column", "layer")
_FEW_CELLS = 16
"""Cells up to which the bootstrap draws all its surveys by default."""

Design = Annotated[
    str | None, typer.Option(metavar="DESIGN", help="Of that variable; plain says that nothing was randomized.")
]
Level = Annotated[str | None, options.column("Of that variable: the level that each chose, or their sample.")]
Labels = Annotated[str | None, typer.Option(metavar="RECORD", help="Of that variable, unless its design names them.")]
Controls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN: TRUTH",
        help="A control of that variable, as in naysay estimate; the table without controls follows.",
    ),
]
Scores = Annotated[
    str | None, typer.Option(metavar="RECORD", help="A number for each category of that variable, for correlations.")
]


@dataclass(frozen=True)
class Crossed:
    """What is crossed, and how it is told, as it is written on the command line."""

    file: Annotated[Path | None, options.DATA_FILE] = None
    row: Annotated[str | None, options.column("The variable of the rows.")] = None
    column: Annotated[str | None, options.column("The variable of the columns.")] = None
    layer: Annotated[str | None, options.column("A third variable: a table for each of its categories.")] = None
    row_design: Design = None
    row_categories: Labels = None
    row_level: Level = None
    row_control: Controls = None
    row_scores: Scores = None
    column_design: Design = None
    column_categories: Labels = None
    column_level: Level = None
    column_control: Controls = None
    column_scores: Scores = None
    layer_design: Design = None
    layer_categories: Labels = None
    layer_level: Level = None
    layer_control: Controls = None
    joint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Once for each of any number of attributes, in place of --row and --column: how all of them go "
            "together, by moments. Their designs lie beside FILE; name some attributes for their marginal.",
        ),
    ] = None
    count: options.Count = None
    estimator: Annotated[Literal["maximum_likelihood", "moments"], "METHOD"] = "maximum_likelihood"
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Surveys that the test draws, at most; 0 for χ² alone. By default 999, fewer for more than 16 cells.",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Of the bootstrap.")] = None
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    html: options.Html = None
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False

    def variables(self) -> Iterator[Variable]:
        """Rows, columns, and layers where they are asked for."""
        for role in _ROLES:
            column_name = getattr(self, role)
            options_of_role = {
                option_name: getattr(self, f"{role}_{option_name}", None)
                for option_name in ("design", "categories", "level", "control", "scores")
            }
            if column_name is not None:
                yield _variable(role, column_name, **options_of_role)
            elif extra_option := next(
                (option_name for option_name, value in options_of_role.items() if value is not None), None
            ):
                raise DataError(f"--{role}-{extra_option} is given without --{role} COLUMN")


@dataclass(frozen=True)
class CrosstabOptions(SamplingOptions, Surveyed, Crossed):
    """All options: of the crosstab, then of the survey or the sample that it comes from."""


@takes(CrosstabOptions, crosstab.crosstab)
def command(request: CrosstabOptions) -> None:
    """Estimate how randomized or plain variables go together.

    Each variable is a column of FILE, or with --survey a question, with the design that was published. The export of a
    survey has its designs beside it. Any other variable without a design is plain: its answers are its categories. If
    they are those of a randomized question, such as yes and no, say so: --column-design plain. Levels are chosen for
    each variable by itself. An empty cell is a question left out; what the person said elsewhere still counts.

    Prints the joint distribution, the shares within rows, the odds ratio of a table of two by two, correlations of
    variables with two or ordered categories, Cramér's V, and a test of independence, each with its uncertainty. The
    test draws surveys again under independence; with weights it is corrected for them instead. Ctrl-C ends it with the
    surveys drawn so far.

    \b
    Examples:
      naysay crosstab study.csv --row cheated --row-design "warner(p=0.8)" \\
          --column sex
      naysay crosstab study.csv --row cheated --row-design "warner(p=0.8)" \\
          --column income --column-design "negative_levels()" \\
          --column-categories "low,middle,high,none" --column-level level
      naysay crosstab study.csv --row cheated --row-design "warner(p=0.8)" \\
          --column sex --layer region --html table.html
      naysay crosstab school.csv --row doping --row-design "warner(p=0.7)" \\
          --column sport --weight weight --strata region --cluster school
      naysay crosstab --survey sample --row smoking --column area
      naysay crosstab release.csv --joint income --joint age
    """
    _checks.confidence(request.confidence)
    if request.joint:
        _say_joint(request, request.joint)
        return
    if request.row is None or request.column is None:
        raise DataError("name two variables, --row COLUMN and --column COLUMN, or any number by --joint COLUMN each")
    output.check(request.html)
    if (request.file is None) == (request.survey is None):
        raise DataError("give FILE or --survey NAME, one of both; see naysay crosstab --help")
    estimated_table = _of_survey(request) if request.file is None else _of_file(request, request.file)
    naive_table = None
    if any(variable.controls and variable.known.structure.tells_types for variable in estimated_table.variables):
        naive_request = replace(request, row_control=None, column_control=None, layer_control=None)
        naive_table = (
            _of_survey(naive_request, controls=False) if request.file is None else _of_file(naive_request, request.file)
        )
        naive_table = replace(naive_table, confidence=request.confidence)
    independence_test = estimated_table.independence(
        replicates=_bootstrap_surveys(estimated_table) if request.bootstrap is None else request.bootstrap,
        rng=None if request.seed is None else np.random.default_rng(request.seed),
        console=Console(file=sys.stderr),
    )
    printed_table = replace(estimated_table, confidence=request.confidence, test=independence_test)
    output.write(request.html, lambda: crosstab_html(printed_table))
    if request.format_ == "json" and naive_table is not None:
        output.say(output.json_text(printed_table.to_dict() | {"without_control": naive_table.to_dict()}))
    else:
        output.result_and_remarks(printed_table, request.format_)
    if request.format_ == "table" and naive_table is not None:
        output.say(f"\n{options.NAIVE}\n\n{naive_table}")


_OF_JOINT = ("file", "joint", "count", "weight", "confidence", "format_", "separator", "encoding", "codes")
"""The options that go with ``--joint``."""


def _say_joint(request: CrosstabOptions, columns: list[str]) -> None:
    """Print how attributes go together whose designs lie beside a file."""
    for option_field in fields(request):
        if option_field.name not in _OF_JOINT and getattr(request, option_field.name) != option_field.default:
            option_name = option_field.name.replace("_", "-")
            raise DataError(f"--joint estimates all cells by moments, each by itself; leave --{option_name} out")
    if request.file is None:
        raise DataError("--joint reads FILE, such as naysay randomize wrote, with its designs beside it")
    randomizations = files.designs_of(request.file, codes=request.codes)
    variables = [
        randomized_variable(request.file, name, randomizations[name])
        if name in randomizations
        else Variable(name, "plain")
        for name in columns
    ]
    amounts = [name for name in (request.count, request.weight) if name is not None]
    frame = files.scan(
        request.file, separator=request.separator, encoding=request.encoding, codes=request.codes or amounts
    )
    with files.readable(request.file):
        frame = _typed_frame(request, frame, variables)
        if all(variable.plain for variable in variables):
            raise DataError(
                f"no design of {_checks.listing_text(columns)} lies beside {request.file.name!r}; naysay randomize and "
                "the export of a survey leave it there. Name designs of two or three by --row, --row-design and so on"
            )
        hidden = [name for name in files.randomized_columns(request.file, encoding=request.encoding) if name in columns]
        if unknown := [name for name in hidden if name not in randomizations]:
            raise DataError(f"column {unknown[0]!r} holds randomized answers, and no design of it lies beside the file")
        result = crosstab.joint(
            frame, variables, weights=request.weight, count=request.count, confidence=request.confidence
        )
    output.result_and_remarks(result, request.format_)


def _bootstrap_surveys(estimated_table: Crosstab) -> int:
    """Surveys of the bootstrap where no number is asked for: each takes longer the more cells there are."""
    cell_count = estimated_table.proportions.size
    return 999 if cell_count <= _FEW_CELLS else max(99, 999 * _FEW_CELLS // cell_count)


def _of_file(request: CrosstabOptions, file: Path) -> Crosstab:
    """The crosstab of a file of answers."""
    published_designs = files.designs_of(file, codes=request.codes)
    variables = [_with_published_design(variable, published_designs) for variable in request.variables()]
    amount_columns = [
        column_name for column_name in (request.count, request.weight, request.fpc) if column_name is not None
    ]
    for role, variable in zip(_ROLES, request.variables(), strict=False):
        if not isinstance(variable.design, str | None) and not variable.controls:
            options.compare_with_codebook(
                file, variable.column, variable.design, codes=request.codes, way_out=f"leave --{role}-design out"
            )
    frame = files.scan(
        file, separator=request.separator, encoding=request.encoding, codes=request.codes or amount_columns
    )
    for variable in variables:
        if not isinstance(variable.design, str | None) and not variable.controls:
            options.note_words(frame, [variable.column], variable.design)
    sampling = request.sampling(frame)
    plain_columns = [variable.column for variable in variables if variable.design in (None, "plain")]
    if sent_columns := [
        column_name
        for column_name in files.randomized_columns(file, encoding=request.encoding)
        if column_name in plain_columns
    ]:
        output.note(
            f"randomized answers, not people's own, and counted as they were sent: {', '.join(sent_columns)}; name the "
            "design, such as --row-design"
        )
    with files.readable(file):
        controls = [options.control_of(text) for role in _ROLES for text in getattr(request, f"{role}_control") or ()]
        if controls:
            questions = [variable.column for variable in variables]
            options.check_controls(questions, controls, frame.collect_schema().names())
        return crosstab.crosstab(
            prepare_frame(_typed_frame(request, frame, variables), sampling),
            row=variables[0],
            column=variables[1],
            layer=variables[2] if len(variables) > 2 else None,
            weights=request.weight if sampling is None else None,
            sampling=sampling,
            count=request.count,
            estimator=request.estimator,
        )


def _of_survey(request: CrosstabOptions, *, controls: bool = True) -> Crosstab:
    """The crosstab of a survey's answers, with the designs that its questions were published with."""
    from naysay.collect.questionnaire.arms import measurements
    from naysay.collect.survey.tallies import cautioned

    role_options = [
        option_field.name
        for option_field in fields(request)
        if option_field.name.startswith(tuple(f"{role}_" for role in _ROLES))
    ]
    for option_name in [*role_options, *(option_field.name for option_field in fields(SamplingOptions)), "count"]:
        if getattr(request, option_name) not in (None, False, "error"):
            raise DataError(f"leave --{option_name.replace('_', '-')} out: the published questionnaire says it")
    replies = request.replies()
    rows, variable_of_role, measures = replies.frame, dict[str, Any](), measurements(replies.questionnaire)
    named = {role: str(name) for role in _ROLES if (name := getattr(request, role)) is not None}
    makes_cells = {name for name, kind in rows.schema.items() if not kind.is_nested()} | measures.keys()
    for role, question in named.items():
        beside = [name for name in named.values() if name != question and name in makes_cells]
        if question in replies.private or question in measures:
            measured = measure(replies, question, beside=beside, controls=controls)
            added = [name for name in (question, *measured.asked.beside, measured.sample) if name is not None]
            rows = rows.with_columns(measured.rows.select(added))
            variable_of_role[role] = Variable(
                question, measured.asked.design, measured.sample, controls=measured.asked.beside
            )
            if measured.withheld:
                output.note(withheld_note(question))
            continue
        files.check_columns(rows.lazy(), [question])
        if rows.schema[question].is_nested():
            raise DataError(
                f"question {question!r} has several answers a person; a crosstab needs one", column=question
            )
        variable_of_role[role] = Variable(question, "plain")
        rows = files.as_text(rows.lazy(), [question]).collect()
    estimated_table = crosstab.crosstab(rows, **variable_of_role, estimator=request.estimator)
    return replace(estimated_table, fit=cautioned(estimated_table.fit, invites=replies.published.key is not None))


def _variable(
    role: str,
    name: str,
    *,
    design: str | None,
    categories: str | None,
    level: str | None,
    control: list[str] | None,
    scores: str | None,
) -> Variable:
    """The variable that its options describe."""
    category_scores = None if scores is None else _numbers(scores, f"--{role}-scores")
    if design is not None and design != "plain":
        controls = [options.control_of(text) for text in control or ()]
        if controls and level is not None:
            raise DataError(f"leave --{role}-level out: with --{role}-control the samples are the truths of controls")
        question = options.design_of(design, categories)
        return Variable(
            name,
            options.with_controls(question, controls) if controls else question,
            options.truths_of(controls) if controls else level,
            None,
            category_scores,
            tuple(each.column for each in controls),
        )
    if control:
        raise DataError(f"--{role}-control goes with the design of the question: name it with --{role}-design")
    return Variable(
        name,
        "plain" if design else None,
        level,
        None if categories is None else options.record(categories),
        category_scores,
    )


def _with_published_design(variable: Variable, published_designs: Mapping[str, files.Asked]) -> Variable:
    """The variable with the design that the export of a survey has beside it, unless an option names one."""
    if variable.design is not None or variable.column not in published_designs:
        return variable
    published = published_designs[variable.column]
    return replace(variable, design=published.design, level=variable.level or published.level)


def _numbers(record: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, record.split(",")))
    except ValueError:
        raise DataError(f"{option} must be numbers, such as 1,2,3; got {record!r}") from None


def _typed_frame(request: CrosstabOptions, frame: pl.LazyFrame, variables: list[Variable]) -> pl.LazyFrame:
    """The frame with answers and levels as text, counts and weights as numbers."""
    amount_columns = [column_name for column_name in (request.count, request.weight) if column_name is not None]
    text_columns = [
        column_name
        for variable in variables
        for column_name in (*variable.columns, variable.level)
        if column_name is not None
    ]
    repeated_column = next((column_name for column_name in amount_columns if column_name in text_columns), None)
    if repeated_column is not None:
        raise DataError(f"column {repeated_column!r} is named twice; each column has one role", column=repeated_column)
    for role in _ROLES:  # several truths are one name of a sample
        truths = [options.control_of(text).truth_column for text in getattr(request, f"{role}_control") or ()]
        names = [name for name in truths if name is not None]
        if len(names) > 1:
            frame = files.together(frame, names, "; ".join(names))
    files.check_columns(frame, [*text_columns, *amount_columns])
    frame = files.as_text(frame, list(dict.fromkeys(text_columns)))
    for role, column_name in (("count", request.count), ("weight", request.weight)):
        if column_name is not None:
            frame = files.as_numbers(frame, column_name, what=f"{role}s")
    return frame


_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FORM = "a condition compares a column with a value, such as age < 30, and joins comparisons by and, or, not()"
_MOST_NAMED = 200  # values of a plain column among which a misspelled one is sought
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class QueryOptions:
    """The options of ``naysay query``."""

    file: options.File
    condition: Annotated[
        str,
        typer.Argument(metavar="CONDITION", help="Such as 'age < 30 and income = low'; texts with blanks in quotes."),
    ]
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    codes: options.Codes = False


@dataclass(frozen=True)
class Comparison:
    """A column, a sign and a value.

    Parameters
    ----------
    column : str
    sign : {"=", "!=", "<", "<=", ">", ">="}
    value : bool, int, float or str
    """

    column: str
    sign: str
    value: bool | float | str


@takes(QueryOptions)
def query(request: QueryOptions) -> None:
    """Count the people of a file whom a condition describes. Some columns may be randomized.

    FILE is what naysay randomize wrote, or the export of a survey: the designs lie beside it. Columns without a design
    are filters. Each record counts as one: weights do not enter. The count is unbiased; its interval is that of the
    randomization alone, for the file is fixed. A count below 0 is chance, and is shown. A condition compares columns
    with values by = != < <= > >=, and joins comparisons by and, or, not(). Categories that are no numbers are ordered
    as their design lists them. A name that is no word stands in ${…}, a value that is none in quotes.

    \b
    Examples:
      naysay query release.csv "age < 30 and income = low"
      naysay query release.csv "not(income = low or income = none)" --format json
      naysay query release.csv "income >= middle and smoker = yes"
    """
    _checks.confidence(request.confidence)
    expression = parse_expression(request.condition, words=True)
    frame = files.scan(request.file, separator=request.separator, encoding=request.encoding, codes=request.codes)
    randomizations = files.designs_of(request.file, codes=request.codes)
    with files.readable(request.file):
        columns = frame.collect_schema().names()
        named_columns = list(dict.fromkeys(comparison.column for comparison in _comparisons(expression, columns)))
        variables = [
            randomized_variable(request.file, name, randomizations[name])
            for name in named_columns
            if name in randomizations
        ]
        plain_columns = [name for name in named_columns if name not in randomizations]
        needed_columns = [*named_columns, *(variable.level for variable in variables if variable.level is not None)]
        table = files.as_text(frame.select(list(dict.fromkeys(needed_columns))), needed_columns).collect()
    if not randomizations:
        output.note(f"no designs lie beside {request.file.name!r}: every column is counted as it is")
    orders: dict[str, tuple[str, ...]] = {}
    readings = {
        comparison: _reading(comparison, table[comparison.column], variables, orders)
        for comparison in _comparisons(expression, columns)
    }
    remarks = [f"{name} is ordered {' < '.join(labels)}" for name, labels in orders.items()]
    result = crosstab.count(
        table,
        lambda **cells: _described(expression, readings, cells, columns),
        randomized=variables,
        plain=plain_columns,
        confidence=request.confidence,
        text=request.condition.strip(),
        remark="; ".join(remarks),
    )
    output.result_and_remarks(result, request.format_)


def randomized_variable(file: Path, name: str, randomization: files.Asked) -> Variable:
    """The column with the design that lies beside the file; refused if more than its level is needed to read it."""
    if randomization.beside or randomization.sample or randomization.arms or randomization.design.space.answers > 1:
        raise DataError(
            f"column {name!r} of {file.name!r} belongs to a question with samples, controls or several answers; "
            "use naysay estimate",
            column=name,
        )
    return Variable(name, randomization.design, randomization.level)


def _comparison(node: Apply, columns: Collection[str]) -> Comparison:
    """The comparison that one node of an expression is."""
    left, right = node.args
    sign: str = node.op
    names_column = [isinstance(side, Answer) and side.of in columns for side in (left, right)]
    if isinstance(left, Value) or (isinstance(left, Answer) and names_column == [False, True]):
        left, right, sign = right, left, _MIRRORED.get(sign, sign)
    if not isinstance(left, Answer) or not isinstance(right, Answer | Value):
        raise DataError(_FORM)
    if left.of not in columns:
        raise DataError(_checks.no_column(left.of, list(columns)), column=left.of)
    if isinstance(right, Value):
        return Comparison(left.of, sign, right.value)
    if right.of in columns:
        raise DataError(
            f"{left.of} {sign} {right.of} compares two columns, and a condition compares a column with a value; "
            f"if {right.of!r} is a value here, write it in quotes"
        )
    return Comparison(left.of, sign, right.of)


def _comparisons(expression: Expression, columns: Collection[str]) -> Iterator[Comparison]:
    """The comparisons of a condition, from left to right."""
    if not isinstance(expression, Apply):
        if isinstance(expression, Answer) and expression.of not in columns:
            raise DataError(_checks.no_column(expression.of, list(columns)), column=expression.of)
        lone = expression.of if isinstance(expression, Answer) else getattr(expression, "value", expression)
        raise DataError(f"{_FORM}; {lone!r} stands alone")
    if expression.op in _SIGNS:
        yield _comparison(expression, columns)
    elif expression.op in ("and", "or", "not"):
        for part in expression.args:
            yield from _comparisons(part, columns)
    else:
        raise DataError(f"{_FORM}; got {expression.op!r}")


def _described(
    expression: Expression,
    readings: Mapping[Comparison, Callable[[NDArray[Any]], Bools]],
    cells: Mapping[str, NDArray[Any]],
    columns: Collection[str],
) -> Bools:
    """Whether the condition holds, for arrays of cells by column."""
    if not isinstance(expression, Apply):  # `_comparisons` has refused it before
        raise DataError(_FORM)
    if expression.op in _SIGNS:
        comparison = _comparison(expression, columns)
        return readings[comparison](cells[comparison.column])
    parts = [_described(part, readings, cells, columns) for part in expression.args]
    if expression.op == "not":
        return ~parts[0]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part if expression.op == "and" else joined | part
    return joined


def _reading(
    comparison: Comparison, cells: pl.Series, variables: Collection[Variable], orders: dict[str, tuple[str, ...]]
) -> Callable[[NDArray[Any]], Bools]:
    """What a comparison says of each cell of its column; notes in `orders` which categories were taken as ordered."""
    column, compare, value = comparison.column, _SIGNS[comparison.sign], comparison.value
    variable = next((variable for variable in variables if variable.column == column), None)
    is_order = comparison.sign not in ("=", "!=")
    labels = (
        tuple(map(str, variable.labels))
        if variable is not None
        else tuple(map(str, cells.drop_nulls().unique().sort()))
    )
    value_text = f"{value:g}" if isinstance(value, float) else str(value)
    number = _number(value_text)
    if labels and number is not None and all(_number(label) is not None for label in labels):
        if variable is not None and not is_order and number not in map(_number, labels):
            raise _unknown(column, value_text, labels)
        number_of = {label: _number(label) for label in labels}
        return lambda array: _each(array, lambda label: compare(number_of[str(label)], number))
    if is_order and variable is not None:
        if value_text not in labels:
            raise _unknown(column, value_text, labels)
        orders[column] = labels
        place_of, place = {label: place for place, label in enumerate(labels)}, labels.index(value_text)
        return lambda array: _each(array, lambda label: compare(place_of[str(label)], place))
    if is_order:
        unordered = next(
            (label for label in (*labels, value_text) if not has_order(label) or _number(label) is not None), None
        )
        if unordered is not None:
            raise DataError(
                f"{column!r} {comparison.sign} {value_text!r} compares numbers, or days such as '2026-11-28', and "
                f"{unordered!r} is none; compare by = or !=",
                column=column,
                value=unordered,
            )
        return lambda array: _each(array, lambda label: compare(str(label), value_text))
    if value_text not in labels:
        raise _unknown(column, value_text, labels[:_MOST_NAMED])
    return lambda array: _each(array, lambda label: compare(str(label), value_text))


def _each(array: NDArray[Any], holds: Callable[[object], bool]) -> Bools:
    distinct, places = np.unique(array.astype(str), return_inverse=True)
    return np.array([holds(label) for label in distinct], dtype=bool)[places].reshape(array.shape)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _unknown(column: str, value: str, labels: tuple[str, ...]) -> DataError:
    return DataError(
        f"column {column!r} never holds {value!r}; {_checks.nearest(value, labels)}", column=column, value=value
    )
