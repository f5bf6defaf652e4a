"""Populations to draw respondents from: shapes from the literature, counts, or a column of real data."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.design.several import positive, whole_people
from naysay.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """The true proportions that respondents are drawn from.

    Parameters
    ----------
    categories : (t,) tuple of label
    proportions : (t,) float
    name : str
        How the population was made, such as a call.

    Examples
    --------
    >>> normal(5).proportions.round(3)
    array([0.012, 0.214, 0.547, 0.214, 0.012])
    """

    categories: tuple[Any, ...]
    proportions: Floats
    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", _checks.categories(self.categories))
        checked = _checks.probability_vector(self.proportions, len(self.categories), what="the population's shares")
        object.__setattr__(self, "proportions", _checks.read_only(checked.copy()))

    def people(self, n: int) -> NDArray[np.int64]:
        """Whole counts (t,) of n people, as close to the proportions as possible: a fixed file."""
        return whole_people(self.proportions, n)

    def of(self, design: Answerable) -> Population:
        """The population in the order of a design's categories, or of its cells.

        Raises
        ------
        DataError
            Categories that are not those of the design.
        """
        check_design(design)
        place_of_label = {_checks.label(label): place for place, label in enumerate(self.categories)}
        cell_labels = [_checks.label(label) for label in design.cells]
        unknown_labels = [label for label in place_of_label if label not in cell_labels]
        if unknown_labels:
            raise DataError(
                f"the population holds {unknown_labels[0]!r}, which is no category of {design.name or design.kind}; "
                f"{_checks.nearest(unknown_labels[0], cell_labels)}"
            )
        cell_shares = [
            self.proportions[place_of_label[label]] if label in place_of_label else 0.0 for label in cell_labels
        ]
        return Population(design.cells, np.array(cell_shares), self.name)


Categories = Sequence[Any] | int


def _labels(categories: Categories) -> tuple[Any, ...]:
    """The labels; or 1 … t if a number of categories is given."""
    if isinstance(categories, int) and not isinstance(categories, bool):
        return tuple(range(1, categories + 1))
    return tuple(categories)  # type: ignore[arg-type]


def equal(categories: Categories) -> Population:
    """All categories equally common.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
        Labels; or their number t, and then they are 1 … t.

    Examples
    --------
    >>> equal(4).proportions
    array([0.25, 0.25, 0.25, 0.25])
    """
    labels = _labels(categories)
    return Population(labels, np.full(len(labels), 1 / len(labels)), "equal()")


def _rounded_law(categories: Categories, law: Any, name: str, **parameters: float | None) -> Population:
    """Shares of a continuous value, rounded to the nearest of 1 … t; values beyond the ends count at the ends."""
    labels = _labels(categories)
    chances_below = law.cdf(np.arange(1, len(labels)) + 0.5)
    call = ", ".join(f"{key}={value:.6g}" for key, value in parameters.items() if value is not None)
    return Population(labels, np.diff([0.0, *chances_below, 1.0]), f"{name}({call})")


def uniform(categories: Categories) -> Population:
    """A value uniform on [1, t], rounded to the nearest category; each end has half the share of the others.

    Parameters
    ----------
    categories : (t,) sequence of label, or int

    References
    ----------
    Bao, Luo & Zhang (2013), U(1, 5). The source does not say how it rounds; naysay rounds to the nearest of 1 … t.

    Examples
    --------
    >>> uniform(5).proportions
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    return _rounded_law(categories, scipy.stats.uniform(1, len(_labels(categories)) - 1), "uniform")


def normal(categories: Categories, *, mean: float | None = None, sd: float | None = None) -> Population:
    """A normal value, rounded to the nearest of 1 … t.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    mean, sd : float, optional
        By default the middle category and a sixth of the range: 3 and 2/3 for five categories.

    References
    ----------
    Bao, Luo & Zhang (2013), N(3, sd 0.6667).

    Examples
    --------
    >>> normal(5, mean=3, sd=0.6667).proportions.round(4)
    array([0.0122, 0.2144, 0.5467, 0.2144, 0.0122])
    """
    t = len(_labels(categories))
    centre, spread = (1 + t) / 2 if mean is None else mean, (t - 1) / 6 if sd is None else positive(sd, what="sd")
    return _rounded_law(categories, scipy.stats.norm(centre, spread), "normal", mean=mean, sd=sd)


def exponential(categories: Categories, *, mean: float = 4 / 5.81) -> Population:
    """An exponential value that starts at 1, rounded to the nearest of 1 … t.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    mean : float
        Mean of the value minus 1.

    References
    ----------
    Bao, Luo & Zhang (2013): mean 4/5.81 for five categories, 1.0329 for seven.

    Examples
    --------
    >>> exponential(5).proportions.round(3)
    array([0.516, 0.371, 0.087, 0.02 , 0.006])
    """
    law = scipy.stats.expon(1, positive(mean, what="mean"))
    return _rounded_law(categories, law, "exponential", mean=mean)


def log_normal(categories: Categories, *, log_mean: float = 0.8959, log_sd: float = 0.2310) -> Population:
    """A log-normal value, rounded to the nearest of 1 … t.

    Parameters
    ----------
    categories : (t,) sequence of label, or int
    log_mean, log_sd : float
        Mean and standard deviation of the value's logarithm.

    References
    ----------
    Bao, Luo & Zhang (2013), log-normal(0.8959, 0.2310).

    Examples
    --------
    >>> log_normal(5).proportions.round(3)
    array([0.017, 0.518, 0.404, 0.057, 0.004])
    """
    law = scipy.stats.lognorm(positive(log_sd, what="log_sd"), scale=np.exp(log_mean))
    return _rounded_law(categories, law, "log_normal", log_mean=log_mean, log_sd=log_sd)


def shares(proportions: ArrayLike, categories: Categories | None = None) -> Population:
    """A population with these proportions.

    Parameters
    ----------
    proportions : (t,) float
        They sum to one.
    categories : (t,) sequence of label, optional
        1 … t by default.

    Raises
    ------
    DataError
        Proportions that are negative or do not sum to one.

    Examples
    --------
    >>> shares((0.15, 0.85), ("yes", "no")).categories
    ('yes', 'no')
    """
    share_array = np.asarray(proportions, dtype=float)
    labels = _labels(len(share_array) if categories is None else categories)
    return Population(labels, share_array, "shares")


def counts(people: Mapping[Any, float]) -> Population:
    """A population in proportion to these counts.

    Parameters
    ----------
    people : {category: count}

    Raises
    ------
    DataError
        Negative counts, or none at all.

    Examples
    --------
    >>> counts({"low": 30, "high": 10}).proportions
    array([0.75, 0.25])
    """
    people_counts = _checks.amounts(list(people.values()), what="counts")
    if people_counts.sum() == 0:
        raise DataError("a population needs people; all counts are 0")
    return Population(
        tuple(people), people_counts / people_counts.sum(), f"counts of {people_counts.sum():,.0f} people"
    )


def column(table: Any, name: str, *, categories: Sequence[Any] | None = None) -> Population:
    """The population in a column of real data. Missing cells are left out.

    Parameters
    ----------
    table : dataframe or mapping of columns
        Any table that narwhals accepts.
    name : str
    categories : sequence of label, optional
        The order of the categories; by default they are sorted as text.

    Raises
    ------
    DataError
        An unknown column, a column without values, or values that are no categories.

    Examples
    --------
    >>> column({"income": ["low", "high", "low", None]}, "income").proportions.round(3)
    array([0.333, 0.667])
    """
    cell_labels = [_checks.label(cell) for cell in _cells(table, name) if not _checks.is_missing(cell)]
    if not cell_labels:
        raise DataError(f"column {name!r} holds no values, so it shows no population", column=name)
    count_of_label = dict(sorted(Counter(cell_labels).items()))
    labels = tuple(count_of_label) if categories is None else tuple(categories)
    texts = [_checks.label(label) for label in labels]
    unknown_labels = [value for value in count_of_label if value not in texts]
    if unknown_labels:
        hint = _checks.nearest(unknown_labels[0], texts)
        raise DataError(f"column {name!r} holds {unknown_labels[0]!r}, which is no category; {hint}", column=name)
    category_counts = np.array([count_of_label.get(text, 0) for text in texts], dtype=float)
    return Population(labels, category_counts / category_counts.sum(), f"column {name!r}, {len(cell_labels):,} people")


def _cells(table: Any, name: str) -> Sequence[Any]:
    """The cells of a column of any table."""
    columns = table if isinstance(table, Mapping) else nw.from_native(table).lazy()
    column_names = list(table) if isinstance(columns, Mapping) else columns.collect_schema().names()
    if name not in column_names:
        raise DataError(f"there is no column {name!r}; {_checks.nearest(name, column_names)}", column=name)
    return list(columns[name] if isinstance(columns, Mapping) else columns.select(name).collect()[name].to_list())


_SHAPES: tuple[Callable[..., Population], ...] = (equal, uniform, normal, exponential, log_normal)
POPULATIONS = {shape.__name__: shape for shape in _SHAPES}
"""The populations that a call may name."""


def population(text: str, categories: Categories) -> Population:
    """The population that a call such as ``normal(mean=3, sd=0.6667)``, or a plain name, describes.

    Parameters
    ----------
    text : str
        One of `POPULATIONS` with its arguments. The text is never run as code.
    categories : (t,) sequence of label, or int

    Raises
    ------
    DataError
        An unknown population or parameter, with the nearest known one.

    Examples
    --------
    >>> population("exponential(mean=1.0329)", 7).proportions.round(3)
    array([0.384, 0.382, 0.145, 0.055, 0.021, 0.008, 0.005])
    """
    name, arguments = _call_parts(text.strip())
    if name not in POPULATIONS:
        raise DataError(f"no population is called {name!r}; {_checks.nearest(name, POPULATIONS)}", value=name)
    parameter_names = [
        parameter_name
        for parameter_name in inspect.signature(POPULATIONS[name]).parameters
        if parameter_name != "categories"
    ]
    for parameter, value in arguments.items():
        if parameter not in parameter_names:
            hint = _checks.nearest(parameter, parameter_names) if parameter_names else "it takes none"
            raise DataError(f"{name} has no parameter {parameter!r}; {hint}", value=parameter)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"{parameter} of {name} must be a number; got {value!r}", value=value)
    return POPULATIONS[name](categories, **arguments)


def _call_parts(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call."""
    try:
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            return node.func.id, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise DataError(
        f"cannot read the population {text[:80]!r}; write a name such as normal, a call such as "
        "normal(mean=3, sd=0.6667), or shares such as 0.2,0.8",
        value=text,
    )
