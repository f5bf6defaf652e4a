"""One simulated survey: the population, how people behave, and the tally of what they answer.

People are drawn from a shape of the literature, from counts, or from a column of real data. They choose a level, and
may lie, answer at random, or not at all.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import narwhals as nw
import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Design
from naysay.design.base import answers_of, check_design
from naysay.design.drawing import GeneratorSource
from naysay.design.several import choice, lies, place_of, positive, share, whole_people
from naysay.errors import DataError, DesignError
from naysay.responses import Codes
from naysay.tally import Part, Tally

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

Category = TypeVar("Category", bound=Hashable)

_LISTED = 20_000  # up to this many responses over all levels, counts are drawn at once; above it, person by person


@dataclass(frozen=True, eq=False)
class Survey:
    """The survey that is repeated.

    Parameters
    ----------
    design : Design, Levels or Samples
    population : Population
        Its proportions are in the order of the design's categories, or of its cells.
    n : int
        People who are asked.
    preferences : (levels, t) float
        P(level | category).
    behavior : Behavior
    target : {"population", "file"}
        With "file", the same people are asked every time.
    """

    design: Answerable
    population: Population
    n: int
    preferences: Floats
    behavior: Behavior
    target: str

    @property
    def truth(self) -> Floats:
        """The proportions to be estimated, (t,): those of the population, or of the fixed file."""
        cell_shares = self._file / self.n if self.target == "file" else self.population.proportions
        return self.design.structure.proportions(cell_shares)

    @cached_property
    def _file(self) -> NDArray[np.int64]:
        return self.population.people(self.n)

    @cached_property
    def cells(self) -> tuple[_Outcomes, ...] | None:
        """The chances of every outcome, level by level; None if there are too many responses to list."""
        channels = list(self.design.parts.values())
        if (
            not all(level_channel.space.listable for level_channel in channels)
            or sum(level_channel.space.size for level_channel in channels) > _LISTED
        ):
            return None
        stated_matrix = self.behavior.stated(self.design.cells)
        silent_shares = self.behavior.silent(self.design.cells)
        outcomes_by_level = []
        for level, channel, level_chances in zip(self.design.levels, channels, self.preferences, strict=True):
            response_codes = channel.space.listing()
            response_codes = response_codes[np.lexsort(response_codes.T[::-1])]  # sorted, as a tally stores them
            response_likelihood = channel.rows(response_codes)
            is_possible = response_likelihood.max(axis=1) > 0
            noise_chances = self.behavior.at_random * is_possible[:, None] / is_possible.sum()
            response_chances = self.behavior.complying * response_likelihood @ stated_matrix + noise_chances
            response_chances += self.behavior.habits(channel, response_codes)
            outcomes_by_level.append(
                _Outcomes(
                    level,
                    channel,
                    response_codes,
                    response_chances * (1 - silent_shares) * level_chances,
                    silent_shares * level_chances,
                )
            )
        return tuple(outcomes_by_level)

    @cached_property
    def _chances(self) -> Floats:
        """P(outcome | category), (outcomes, t): the responses of all levels one below the other, then no answer."""
        outcomes_by_level = self.cells or ()
        all_chances = np.vstack(
            [
                *(outcomes.response_chances for outcomes in outcomes_by_level),
                *(outcomes.silence_chances[None] for outcomes in outcomes_by_level),
            ]
        )
        return np.asarray(all_chances / all_chances.sum(axis=0))

    def draw(self, rng: np.random.Generator) -> Tally:
        """The tally of one survey."""
        if self.cells is None:
            return Tally(tuple(self._people(rng)))
        if self.target == "file":
            outcome_counts = rng.multinomial(self._file, self._chances.T).sum(axis=0)
        else:
            outcome_counts = rng.multinomial(self.n, self._chances @ self.population.proportions)
        part_ends = np.cumsum([len(outcomes.codes) for outcomes in self.cells])
        part_counts = np.split(outcome_counts, part_ends)
        silent_counts = part_counts.pop()
        return Tally(
            tuple(
                outcomes.part(response_counts, int(silent_count))
                for outcomes, response_counts, silent_count in zip(self.cells, part_counts, silent_counts, strict=True)
            )
        )

    def _people(self, rng: np.random.Generator) -> list[Part]:
        """The parts of a tally that is drawn person by person."""
        if self.behavior.complying < 1 - self.behavior.at_random:
            raise DataError("habits can be simulated only where there are few possible answers; leave them out")
        t = len(self.design.cells)
        people_by_category = (
            self._file if self.target == "file" else rng.multinomial(self.n, self.population.proportions)
        )
        true_categories = np.repeat(np.arange(t), people_by_category)
        level_places = _rows_drawn(self.preferences, true_categories, rng)
        is_silent = rng.random(self.n) < self.behavior.silent(self.design.cells)[true_categories]
        stated_category = _rows_drawn(self.behavior.stated(self.design.cells), true_categories, rng)
        is_noise = rng.random(self.n) < self.behavior.at_random
        level_parts, random_source = [], GeneratorSource(rng)
        for level_place, (level_name, channel) in enumerate(self.design.parts.items()):
            at_level = (level_places == level_place) & ~is_silent
            response_codes = channel.draw(stated_category[at_level & ~is_noise], random_source)
            if (at_level & is_noise).any():
                try:  # each response is equally likely
                    noise_codes = channel.space.at_random(int((at_level & is_noise).sum()), random_source.below)
                except DesignError:
                    raise DesignError(
                        f"{channel.name or channel.kind} has too many responses to list; leave out people who answer "
                        "at random"
                    ) from None
                response_codes = np.vstack([response_codes, noise_codes])
            silent_count = int(((level_places == level_place) & is_silent).sum())
            level_part = Part.of(
                channel, response_codes, level=level_name, count=np.ones(len(response_codes), dtype=np.int64)
            )
            level_parts.append(replace(level_part, missing=silent_count, missing_weight=silent_count))
        return level_parts


class _Outcomes(NamedTuple):
    """One level: its responses, P(response | category), and P(no answer | category)."""

    level: Any
    channel: Design
    codes: Codes
    response_chances: Floats
    silence_chances: Floats

    def part(self, count: NDArray[np.int64], missing: int) -> Part:
        is_observed = count > 0
        people_counts = count[is_observed]
        answer_weights = people_counts.astype(float)
        return Part(
            self.channel,
            self.level,
            self.codes[is_observed],
            people_counts,
            answer_weights,
            answer_weights,
            missing,
            missing,
        )


def _rows_drawn(chances: Floats, truth: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """For each person, one row drawn from the column of `chances` (rows, t) that belongs to their category."""
    chance_sums = np.cumsum(chances / chances.sum(axis=0), axis=0)
    uniforms = rng.random(len(truth))
    drawn_rows = np.zeros(len(truth), dtype=np.int64)
    for category in np.unique(truth).tolist():
        in_category = truth == category
        drawn_rows[in_category] = np.searchsorted(chance_sums[:-1, category], uniforms[in_category], side="right")
    return drawn_rows


@dataclass(frozen=True)
class Behavior:
    """How many people do not follow the instructions. By default everybody does.

    Parameters
    ----------
    liars : float
        Share of people who answer as if in another category.

        Of those in `among`.
    among : sequence of label, optional
        The categories of the liars.

        By default all; with `says`, all others.
    says : label, optional
        What all liars claim to be.

        Such as "no" for people who deny. By default they claim each other category equally often.
    at_random : float
        Share of people who give a random response, each equally often.

        Whatever the truth.
    nonresponse : float or {category: float}
        The share of people, or of each category, who give no answer. Categories that are left out answer.
    always : {response: float}, optional
        Shares of people who always give one answer, in controls too.

        Whatever the truth, such as the first box. Several answers are favorites. If boxes are shuffled for each person,
        such people answer at random.
    positive : float
        In a negative survey, the share of people who name what is true, in controls too.

        Of all answers that the instruction excludes, each is equally likely.

    Examples
    --------
    >>> Behavior(liars=0.2, among=("yes",), says="no").stated(("yes", "no"))
    array([[0.8, 0. ],
           [0.2, 1. ]])
    """

    liars: float = 0.0
    among: Sequence[Any] | None = None
    says: Any = None
    at_random: float = 0.0
    nonresponse: float | Mapping[Any, float] = 0.0
    always: Mapping[Any, float] = field(default_factory=dict)
    positive: float = 0.0

    def __post_init__(self) -> None:
        share(self.liars, what="the share of liars")
        share(self.at_random, what="the share that answers at random")
        share(self.positive, what="the share that names what is true")
        for answer, habit_share in self.always.items():
            share(habit_share, what=f"the share that always says {_checks.label(answer)!r}")
        share(self.complying, what="the share of people without such a habit")
        nonresponse_shares = self.nonresponse.values() if isinstance(self.nonresponse, Mapping) else [self.nonresponse]
        for silent_share in nonresponse_shares:
            share(silent_share, what="the share that does not answer")

    @property
    def complying(self) -> float:
        """The share of people whose answers depend on their truth as the design says, liars included."""
        return round(1 - self.at_random - self.positive - sum(self.always.values()), 12)

    def habits(self, channel: Design, codes: Codes) -> Floats:
        """P(response and a habit | cell), (responses, cells): of people who always give one answer, or name the truth.

        Raises
        ------
        DataError
            An answer that a question or a control does not have; no answer is excluded by what is true.
        """
        parts = answers_of(channel)
        chances = np.zeros((len(codes), len(channel.categories)))
        for answer, habit_share in self.always.items():
            one_answer = np.hstack([part.space.encode([answer]) for part in parts])
            chances[(codes == one_answer).all(axis=1)] += habit_share
        if self.positive:
            truthful = np.ones_like(chances)
            ends = np.cumsum([part.space.width for part in parts])
            for part, part_codes in zip(parts, np.split(codes, ends[:-1], axis=1), strict=True):
                listed, of_codes = part.rows(part.space.listing()), part.rows(part_codes)
                is_excluded = (listed == 0) & (listed.max(axis=1, keepdims=True) > 0)
                excluded = is_excluded.sum(axis=0)
                if not excluded.any():
                    raise DataError("nobody can name what is true where an instruction excludes no answer")
                # people in a cell that excludes nothing answer as they do
                truthful *= np.where(excluded > 0, (of_codes == 0) / np.maximum(excluded, 1), of_codes)
            chances += self.positive * truthful
        return chances

    def stated(self, categories: Sequence[Label]) -> Floats:
        """P(stated category | true category), (t, t)."""
        return lies(categories, self.liars, among=self.among, says=self.says)

    def silent(self, categories: Sequence[Label]) -> Floats:
        """P(no answer | category), (t,)."""
        if not isinstance(self.nonresponse, Mapping):
            return np.full(len(categories), float(self.nonresponse))
        silent_shares = np.zeros(len(categories))
        for category, silent_share in self.nonresponse.items():
            silent_shares[place_of(category, tuple(categories))] = silent_share
        if (silent_shares == 1).all():
            raise DataError("nobody answers: the share of nonresponse is 1 in every category")
        return silent_shares

    def __str__(self) -> str:
        behavior_texts = []
        if self.liars:
            liars_text = "" if self.among is None else f" of {_checks.listing_text(map(_checks.label, self.among))}"
            lie_text = "another category" if self.says is None else repr(_checks.label(self.says))
            behavior_texts.append(f"{self.liars:.4g}{liars_text} say {lie_text}")
        if self.at_random:
            behavior_texts.append(f"{self.at_random:.4g} answer at random")
        behavior_texts += [f"{part:.4g} always say {_checks.label(answer)!r}" for answer, part in self.always.items()]
        if self.positive:
            behavior_texts.append(f"{self.positive:.4g} name what is true")
        if isinstance(self.nonresponse, Mapping):
            silence_texts = (
                f"{silent_share:.4g} of {_checks.label(label)!r}" for label, silent_share in self.nonresponse.items()
            )
            behavior_texts.append(f"no answer from {', '.join(silence_texts)}")
        elif self.nonresponse:
            behavior_texts.append(f"no answer from {self.nonresponse:.4g}")
        return "; ".join(behavior_texts) or "all do as asked"


HONEST = Behavior()
"""Everybody answers and follows the instructions."""


def skewed(design: Answerable, *, toward: str = "private", ratio: float = 2.0) -> Floats:
    """Preferences over levels (levels,): from one end on, each level is `ratio` times as popular as the next.

    Parameters
    ----------
    design : Levels
    toward : {"private", "open"}
        Which end is the most popular.
    ratio : float
        At least 1. With 1, all levels are equally popular.

    Examples
    --------
    >>> from naysay import designs
    >>> skewed(designs.negative_levels(("a", "b", "c", "d"))).round(3)
    array([0.571, 0.286, 0.143])
    """
    check_design(design)
    if toward not in ("private", "open"):
        raise DataError(f"preferences are skewed toward 'private' or 'open'; got {toward!r}")
    if not 1 <= ratio < np.inf:
        raise DataError(f"ratio must be at least 1; got {ratio!r}")
    level_popularity = float(ratio) ** -np.arange(len(design.levels))
    level_popularity = level_popularity if toward == "private" else level_popularity[::-1]
    return np.asarray(level_popularity / level_popularity.sum())


def tied(design: Answerable, *, hiding: Sequence[Label], share_of: float = 1.0) -> Floats:
    """Preferences (levels, t) that depend on the category: some of those who hide something pick the first level.

    Parameters
    ----------
    design : Levels
    hiding : sequence of label
        The categories whose members hide.
    share_of : float
        The share of them who always choose the most private level. All others choose uniformly.

    Examples
    --------
    >>> from naysay import designs
    >>> tied(designs.negative_levels(("a", "b", "c")), hiding=("c",))
    array([[0.5, 0.5, 1. ],
           [0.5, 0.5, 0. ]])
    """
    level_preferences, hiding_share = choice(design), share(share_of, what="the share that hides")
    for category in hiding:
        category_place = place_of(category, design.categories)
        level_preferences[:, category_place] *= 1 - hiding_share
        level_preferences[0, category_place] += hiding_share
    return level_preferences


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
        place_of_label = {_checks.label(label): category_place for category_place, label in enumerate(self.categories)}
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


def _rounded_law(
    categories: Categories, cumulative: Callable[[Floats], Floats], name: str, **parameters: float | None
) -> Population:
    """Shares of a continuous value, rounded to the nearest of 1 … t; values beyond the ends count at the ends."""
    labels = _labels(categories)
    chances_below = cumulative(np.arange(1, len(labels), dtype=float) + 0.5)
    call_text = ", ".join(f"{key}={value:.6g}" for key, value in parameters.items() if value is not None)
    return Population(labels, np.diff([0.0, *chances_below, 1.0]), f"{name}({call_text})")


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
    return _rounded_law(categories, scipy.stats.uniform(1, len(_labels(categories)) - 1).cdf, "uniform")


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
    law_center = (1 + t) / 2 if mean is None else mean
    law_spread = (t - 1) / 6 if sd is None else positive(sd, what="sd")
    return _rounded_law(categories, scipy.stats.norm(law_center, law_spread).cdf, "normal", mean=mean, sd=sd)


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
    return _rounded_law(categories, law.cdf, "exponential", mean=mean)


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
    return _rounded_law(categories, law.cdf, "log_normal", log_mean=log_mean, log_sd=log_sd)


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


def counts(people: Mapping[Category, float]) -> Population:
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


def column(
    table: IntoFrame | Mapping[str, Iterable[object]], name: str, *, categories: Sequence[Label] | None = None
) -> Population:
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
    frame: Any = None if isinstance(table, Mapping) else nw.from_native(table).lazy()
    column_names = list(table) if isinstance(table, Mapping) else frame.collect_schema().names()
    if name not in column_names:
        raise DataError(f"there is no column {name!r}; {_checks.nearest(name, column_names)}", column=name)
    cells = table[name] if isinstance(table, Mapping) else frame.select(name).collect()[name].to_list()
    cell_labels = [_checks.label(cell) for cell in cells if not _checks.is_missing(cell)]
    if not cell_labels:
        raise DataError(f"column {name!r} holds no values, so it shows no population", column=name)
    count_of_label = dict(sorted(Counter(cell_labels).items()))
    column_categories = tuple(count_of_label) if categories is None else tuple(categories)
    category_texts = [_checks.label(label) for label in column_categories]
    unknown_labels = [value for value in count_of_label if value not in category_texts]
    if unknown_labels:
        hint = _checks.nearest(unknown_labels[0], category_texts)
        raise DataError(f"column {name!r} holds {unknown_labels[0]!r}, which is no category; {hint}", column=name)
    category_counts = np.array([count_of_label.get(text, 0) for text in category_texts], dtype=float)
    return Population(
        column_categories, category_counts / category_counts.sum(), f"column {name!r}, {len(cell_labels):,} people"
    )


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
    population_name, arguments = _call_parts(text.strip())
    if population_name not in POPULATIONS:
        raise DataError(
            f"no population is called {population_name!r}; {_checks.nearest(population_name, POPULATIONS)}",
            value=population_name,
        )
    parameter_names = [
        parameter_name
        for parameter_name in inspect.signature(POPULATIONS[population_name]).parameters
        if parameter_name != "categories"
    ]
    for parameter, value in arguments.items():
        if parameter not in parameter_names:
            hint = _checks.nearest(parameter, parameter_names) if parameter_names else "it takes none"
            raise DataError(f"{population_name} has no parameter {parameter!r}; {hint}", value=parameter)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"{parameter} of {population_name} must be a number; got {value!r}", value=value)
    return POPULATIONS[population_name](categories, **arguments)


def _call_parts(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call."""
    try:
        call_node = ast.parse(text, mode="eval").body
        if isinstance(call_node, ast.Name):
            return call_node.id, {}
        if isinstance(call_node, ast.Call) and isinstance(call_node.func, ast.Name) and not call_node.args:
            return call_node.func.id, {
                str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call_node.keywords
            }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise DataError(
        f"cannot read the population {text[:80]!r}; write a name such as normal, a call such as "
        "normal(mean=3, sd=0.6667), or shares such as 0.2,0.8",
        value=text,
    )
