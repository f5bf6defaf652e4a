"""What can be estimated, and how: each entry states what it is for; commands, simulations and plans read it here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.errors import DataError
from naysay.estimate.estimators import maximum_likelihood, moments, pooled, stratified
from naysay.estimate.intervals import METHODS
from naysay.estimate.likelihood import KINDS
from naysay.estimate.mean import Measured, distribution, mean
from naysay.estimate.negative import nstops, nstops_i, nstops_ii, unsuited
from naysay.estimate.ranges import ranges
from naysay.estimate.result import Estimate
from naysay.tally import Tally

_ONE_MECHANISM = ("nobody", "researcher")
_OFFER = ("respondent",)


@dataclass(frozen=True)
class Estimator:
    """A way to estimate, and what it is for. To add an estimator, add one entry to `ESTIMATORS`.

    Parameters
    ----------
    name : str
        The name that commands, simulations and plans use.
    function : callable
        ``function(design, tally, **options)``, which makes the `Estimate`.
    help : str
        What it is, in one line.
    principle : {"likelihood", "moments", "weights"}
        It maximizes the likelihood, averages one unbiased indicator per respondent, or combines the levels' own
        estimates by weights other than their sizes. A plan takes its variance from this.
    assigned_by : tuple of {"nobody", "respondent", "researcher"}
        The designs that it is for. A design is described by who assigns a respondent to one of its parts.
    default_for : tuple of {"nobody", "respondent", "researcher"}
        The designs for which it is the default, in the same terms.
    usual : bool
        Whether a simulation tries it when you name no estimator.
    options : mapping
        Further arguments of the function, beside design, tally and target.
    standard_errors : tuple of str
        Kinds of standard errors that you may ask for; empty where there is only one kind.
    published : str
        Its name in the literature on negative surveys, for an estimator that applies its principle under that name.
        Such an estimator is only for negative surveys with one answer, and only for a population.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d"))
    >>> fit = estimate.ESTIMATORS["moments"].fit(survey, survey.tally(count=[280, 240, 260, 220]))
    >>> fit.proportions.round(2)
    array([0.16, 0.28, 0.22, 0.34])
    >>> estimate.default(survey).name
    'maximum_likelihood'
    """

    name: str
    function: Callable[..., Estimate]
    help: str
    principle: str
    assigned_by: tuple[str, ...]
    default_for: tuple[str, ...] = ()
    usual: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    standard_errors: tuple[str, ...] = ()
    published: str = ""

    def fit(
        self, design: Answerable, tally: Tally, target: str = "population", *, standard_errors: str | None = None
    ) -> Estimate:
        """The estimate of a tally.

        Parameters
        ----------
        design : Design, Levels or Samples
            The design under which the answers were given.
        tally : Tally
        target : {"population", "file"}
        standard_errors : str, optional
            One of `standard_errors`.

        Raises
        ------
        DataError
            If this estimator is not for the design, the target or the kind of standard errors.
        NotEstimable
            If the design cannot tell some proportions apart.
        """
        if (refusal_text := self.refusal(design, target)) is not None:
            raise DataError(refusal_text, value=self.name)
        if standard_errors is not None and not self.standard_errors:
            raise DataError(
                f"{self.name} has standard errors of one kind only; leave standard_errors (--standard-errors) out"
            )
        extra_arguments = {} if standard_errors is None else {"standard_errors": standard_errors}
        extra_arguments |= {} if self.published else {"target": target}
        return self.function(design, tally, **self.options, **extra_arguments)

    __call__ = fit

    def refusal(self, design: Answerable, target: str = "population") -> str | None:
        """The reason why it is not for a design or a target; None where it is for both."""
        if design.offer.assigned_by == "lot":
            return f"{self.name} is not for {design.name or design.kind}; use estimate.{design.structure.estimates}"
        if self.published:
            if target == "file":
                return f"{self.name} is for a population; for a file use moments or maximum_likelihood"
            return unsuited(design, self.published)
        if self.principle == "likelihood" and design.structure.moments_only:
            return f"{self.name} is not for {design.name or design.kind}: {design.structure.moments_only}; use moments"
        if design.offer.assigned_by not in self.assigned_by:
            return (
                f"{self.name} needs an offer of levels, such as negative_levels(); "
                f"{design.name or design.kind} offers none, use moments"
            )
        return None

    def under(self, design: Answerable) -> Estimator:
        """The estimator of the same principle for a design: for levels, moments stratify and likelihood pools."""
        offered = suitable(design)
        if self in offered or self.refusal(design) is not None:
            return self
        return next(
            (candidate for candidate in offered if candidate.principle == self.principle and candidate.usual), self
        )


_EVERY = ("nobody", "researcher", "respondent")
_SINGLE: Any = {"assigned_by": _ONE_MECHANISM, "usual": False}
_LEVELS: Any = {"assigned_by": _OFFER, "usual": False}

_ALL = (
    Estimator(
        "maximum_likelihood",
        maximum_likelihood,
        "the proportions that make the answers most likely, within [0, 1]",
        "likelihood",
        _EVERY,
        default_for=_ONE_MECHANISM,
        standard_errors=tuple(KINDS),
    ),
    Estimator("moments", moments, "unbiased, may leave [0, 1]", "moments", _EVERY),
    Estimator("nstops", nstops, "moments of a negative survey", "moments", **_SINGLE, published="NStoPS"),
    Estimator("nstops_i", nstops_i, "maximum likelihood by fixed point", "likelihood", **_SINGLE, published="NStoPS-I"),
    Estimator(
        "nstops_ii", nstops_ii, "maximum likelihood in few steps", "likelihood", **_SINGLE, published="NStoPS-II"
    ),
    Estimator("stratified", stratified, "unbiased however levels are chosen", "moments", _OFFER, default_for=_OFFER),
    Estimator(
        "stratified_equal", stratified, "each level counts as much", "weights", **_LEVELS, options={"weights": "equal"}
    ),
    Estimator(
        "stratified_variance",
        stratified,
        "levels count by their precision",
        "weights",
        **_LEVELS,
        options={"weights": "variance"},
    ),
    Estimator(
        "stratified_design",
        stratified,
        "levels count by their design, for levels that were assigned",
        "weights",
        **_LEVELS,
        options={"weights": "design"},
    ),
    Estimator("pooled", pooled, "biased if the choice goes with the category", "likelihood", _OFFER),
)
ESTIMATORS = {estimator.name: estimator for estimator in _ALL}
"""All estimators by name; one entry adds one."""


def default(design: Answerable) -> Estimator:
    """The estimator if you name none: maximum likelihood, moments where that takes long, and for levels stratified."""
    return suitable(design)[0]


def suitable(design: Answerable, target: str = "population") -> tuple[Estimator, ...]:
    """The estimators that are for a design, the default first.

    Examples
    --------
    >>> from naysay import designs
    >>> [estimator.name for estimator in suitable(designs.warner(p=0.7))]
    ['maximum_likelihood', 'moments']
    >>> [estimator.name for estimator in suitable(designs.negative_levels(("a", "b", "c")))]
    ['stratified', 'stratified_equal', 'stratified_variance', 'stratified_design', 'pooled']
    """
    check_design(design)
    suitable_estimators = [estimator for estimator in ESTIMATORS.values() if estimator.refusal(design, target) is None]
    if not suitable_estimators:
        raise DataError(
            f"{design.name or design.kind} is not for proportions of categories; "
            f"use estimate.{design.structure.estimates}"
        )
    for_offers = [estimator for estimator in suitable_estimators if estimator.assigned_by == _OFFER]
    slow_principle = "" if design.structure.by_transform is None else "likelihood"
    default_first = sorted(
        for_offers or suitable_estimators, key=lambda estimator: design.offer.assigned_by not in estimator.default_for
    )
    return tuple(sorted(default_first, key=lambda estimator: estimator.principle == slow_principle))


@dataclass(frozen=True)
class Quantity:
    """A way to estimate something other than proportions. To add one, add one entry to `QUANTITIES`.

    Parameters
    ----------
    name : str
    function : callable
        ``function(design, tally, target=…)``, which makes a `Measured`.
    help : str
        What it is, in one line.
    of : tuple of str
        The designs that it is for: what they say they `estimates`.
    """

    name: str
    function: Callable[..., Measured]
    help: str
    of: tuple[str, ...]

    def fit(self, design: Answerable, tally: Tally, target: str = "population", **others: Any) -> Measured:
        """The estimate of a tally.

        Raises
        ------
        DataError
            If it is not for this design, or other arguments are given that it does not have.
        """
        option_names = [name for name, value in others.items() if value is not None]
        if option_names:
            raise DataError(f"{self.name} has one kind of {option_names[0]}; leave it out")
        return self.function(design, tally, target=target)


_QUANTITIES = (
    Quantity("mean", mean, "the mean of a number, unbiased", ("mean",)),
    Quantity("distribution", distribution, "the distribution of a number, as a display", ()),
    Quantity("ranges", ranges, "quantiles and shares of ranges, from a hierarchy", ("ranges",)),
)
QUANTITIES = {quantity.name: quantity for quantity in _QUANTITIES}
"""All quantities by name. The first one that is for a design is its default."""


def default_quantity(design: Answerable) -> Quantity | None:
    """The quantity that a design's answers are for; None where they are for proportions.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> default_quantity(designs.number(low=0, high=1, epsilon=1)).name, default_quantity(designs.two_coins())
    ('mean', None)
    """
    return next((quantity for quantity in QUANTITIES.values() if design.structure.estimates in quantity.of), None)


if TYPE_CHECKING:
    EstimatorName = str
    EstimatedName = str
    IntervalName = str
    TriedInterval = str
else:  # typer checks a Literal, and lists it
    EstimatorName = Literal[tuple(ESTIMATORS)]
    EstimatedName = Literal[(*ESTIMATORS, *QUANTITIES)]
    IntervalName = Literal[tuple(METHODS)]
    TriedInterval = Literal[(*METHODS, "usual")]


def estimators(*, published: bool = True, quantities: bool = False) -> str:
    """All estimators, as the help of ``--estimator`` lists them: those of the literature, and of numbers, if asked for.

    Examples
    --------
    >>> estimators()
    'maximum_likelihood (default), moments; for negative surveys with one answer nstops, ...; for levels ...'
    """
    single, levels, negative = list[str](), list[str](), list[str]()
    for estimator in ESTIMATORS.values():
        group_names = negative if estimator.published else single if "nobody" in estimator.assigned_by else levels
        group_names.append(estimator.name + (" (default)" if estimator.default_for else ""))
    published_text = f"; for negative surveys with one answer {', '.join(negative)}" if published else ""
    quantities_text = f"; for numbers and hierarchies {', '.join(QUANTITIES)}" if quantities else ""
    return f"{', '.join(single)}{published_text}; for levels {', '.join(levels)}{quantities_text}."
