"""Findings that some estimates have beside their numbers: another estimate, a test, a band.

Each kind is one class and one entry of `FINDINGS`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay import _checks
from naysay.errors import DataError, NotEstimable
from naysay.estimate import samples
from naysay.estimate.assumptions import (
    NONCOMPLIERS,
    behaviors,
    noncompliance_band,
    preference_band,
    probability_band,
    quick,
)
from naysay.estimate.fitting import GoodnessOfFit, goodness_of_fit
from naysay.estimate.levels import compare
from naysay.estimate.linear import Floats, is_stacked
from naysay.estimate.moments import each_sample, moments
from naysay.estimate.result import Estimate, Finding, Options, is_pooled, reliable_errors, reliable_nuisance
from naysay.show import plain
from naysay.show.text import fixed_decimals

_FEWEST, _MOST = 2, 9  # decimals in print
_TESTED = 50_000  # a pure design with more responses × categories has no test of fit


def decimals(errors: ArrayLike) -> int | None:
    """Decimals that show two digits of the smallest positive standard error; None where none is positive.

    Examples
    --------
    >>> decimals([0.0341, 0.2]), decimals([0.00012]), decimals([0.0])
    (3, 5, None)
    """
    standard_errors = np.asarray(errors, dtype=float)
    usable = standard_errors[np.isfinite(standard_errors) & (standard_errors > 0)]
    if not usable.size:
        return None
    return min(max(1 - math.floor(math.log10(usable.min())), _FEWEST), _MOST)


def decimals_of(fit: Estimate) -> int:
    """Decimals for all numbers of an estimate. Without standard errors, those for a plain share of n people."""
    error_decimals = decimals([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    return decimals([0.5 / math.sqrt(max(fit.n, 1))]) or _FEWEST if error_decimals is None else error_decimals


def number_text(value: float, places: int) -> str:
    """A number to so many decimals; a dash where it is undefined."""
    return "–" if math.isnan(value) else fixed_decimals(value, places)


class Compared(Finding):
    """For levels: the stratified beside the pooled estimate, with the test of independence."""

    name, field, beside = "comparison", "levels", True
    left_out = "stratified beside pooled: not available, some level alone does not tell all categories apart"
    compute = staticmethod(compare)

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return fit.design.assigned_by == "respondent"

    def columns(self) -> Iterable[tuple[str, Floats]]:
        if self.value is not None:
            other = self.value.beside(self.fit)
            yield "pooled" if is_pooled(other) else "stratified", other.proportions
            yield "s.e.", reliable_errors(other)
            yield "stratified-pooled", self.value.difference
            yield "s.e.", self.value.standard_errors

    def words(self, options: Options) -> str:
        return str(self.value.test)

    def plain(self, options: Options) -> Any:
        comparison = self.value
        if comparison is None:
            return None
        json_content: dict[str, Any] = {}
        for name, compared_fit in {"stratified": comparison.stratified, "pooled": comparison.pooled}.items():
            json_content |= {name: compared_fit.proportions, f"{name}_standard_errors": compared_fit.standard_errors}
        json_content |= {"difference": comparison.difference, "difference_standard_errors": comparison.standard_errors}
        tested = ("statistic", "degrees_of_freedom", "p_value", "reference", "test")
        return plain(json_content | {"independence": {name: getattr(comparison.test, name) for name in tested}})


class Unbounded(Finding):
    """The unbiased estimate beside one at the boundary."""

    name, field, beside = "unbounded", "moments", True

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        values = fit.proportions if fit.cells is None else fit.cells.values
        at_edge = bool(((values <= 1e-9) | (values >= 1 - 1e-9)).any())
        return at_edge and fit.maximum is not None and fit.design.assigned_by != "respondent"

    @staticmethod
    def compute(fit: Estimate) -> Estimate | None:
        try:
            return moments(fit.design, fit.tally, target=fit.target)
        except (NotEstimable, DataError):  # answers to only one of two questions have no moments
            return None

    def columns(self) -> Iterable[tuple[str, Floats]]:
        yield "moments", self.value.proportions
        yield "s.e.", self.value.standard_errors

    def plain(self, options: Options) -> Any:
        return _numbers(self.value)


class Preferences(Finding):
    """For the two-option scheme: the band over all ways of choosing between false categories."""

    name, field, beside = "sensitivity", "preference_band", True
    left_out = "band of preferences: takes long here, ask estimate.preference_band(design, tally)"

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return not fit.design.several and fit.design.channel().shown is not None

    @staticmethod
    def compute(fit: Estimate) -> Floats | None:
        return preference_band(fit.design, fit.tally) if quick(fit.design) else None

    def columns(self) -> Iterable[tuple[str, Floats]]:
        return () if self.value is None else zip(("band low", "band high"), self.value.T, strict=True)

    def words(self, options: Options) -> str:
        return "band: what the share could be if people chose between two false categories as they like"


class BySample(Finding):
    """Each of several samples alone."""

    name = field = "by_sample"
    compute = staticmethod(each_sample)

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return is_stacked(fit.design) and fit.design.cells == fit.design.categories

    def words(self, options: Options) -> str:
        places = decimals_of(self.fit)
        sample_texts = (
            f"{name} {number_text(sample_fit.proportions[0], places)} "
            f"({number_text(reliable_errors(sample_fit)[0], places)})"
            for name, sample_fit in self.value.items()
        )
        return f"“{_checks.label(self.fit.categories[0])}” by sample (s.e.): {', '.join(sample_texts)}"

    def plain(self, options: Options) -> Any:
        return {str(name): _numbers(sample_fit) for name, sample_fit in self.value.items()}


class Fit(Finding):
    """Whether the answers fit the design."""

    name = field = "goodness_of_fit"

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        # A test of many rare answers takes long, and says little.
        large = any(
            part.design.pure and part.design.space.size * len(fit.categories) > _TESTED for part in fit.tally.parts
        )
        return fit.tally.free >= len(fit.design.categories) and not large and not fit.tally.summed

    @staticmethod
    def compute(fit: Estimate) -> GoodnessOfFit | None:
        return goodness_of_fit(fit.design, fit.tally)

    def words(self, options: Options) -> str:
        return str(self.value)

    def plain(self, options: Options) -> Any:
        return self.value.to_dict()


class Untested(Finding):
    """A note that the fit is not tested, although the answers would allow a test."""

    name, field = "untested", "untested"
    left_out = "fit: not tested, the answers are weighted"

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return fit.tally.weighted and is_stacked(fit.design) and samples.overdetermined(fit)

    @staticmethod
    def compute(fit: Estimate) -> None:
        return None


class Noncompliance(Finding):
    """What the estimate would be if people did not comply; the value gives the band for a share of such people."""

    name = field = "noncompliance"

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return bool(behaviors(fit.design))

    @staticmethod
    def compute(fit: Estimate) -> Callable[[float, str], Floats]:
        return functools.partial(_band, fit)  # not a closure: with one, a printed estimate could not be pickled

    def words(self, options: Options) -> str:
        share, who = options.noncompliance, options.noncompliers
        how = f"{NONCOMPLIERS[who]} {' or '.join(behaviors(self.fit.design))}"
        ranges = _ranges(self.fit, self.value(share, who))
        return f"if up to {share:.3g} of the respondents did not comply ({how}): {ranges}"

    def plain(self, options: Options) -> Any:
        share, who = options.noncompliance, options.noncompliers
        return plain({"share": share, "noncompliers": who, "bounds": self.value(share, who)})


class Probability(Finding):
    """What the estimate would be under another probability than the stated one."""

    name = field = "probability_band"
    compute = staticmethod(probability_band)

    @classmethod
    def concerns(cls, fit: Estimate) -> bool:
        return bool(fit.design.alternatives)

    def words(self, options: Options) -> str:
        return f"over the stated range of the prevalence: {_ranges(self.fit, self.value)}"


def _band(fit: Estimate, share: float, noncompliers: str) -> Floats:
    return noncompliance_band(fit, share=share, noncompliers=noncompliers)


_KINDS = (Compared, Unbounded, Preferences, BySample, Fit, Untested, Noncompliance, Probability)


def _finding_of(kind: type[Finding], fit: Estimate) -> Finding | None:
    """The finding; None where an estimate has none of this kind."""
    if not kind.concerns(fit):
        return None
    value = kind.compute(fit)
    return kind(fit, value) if value is not None or kind.left_out else None


FINDINGS = {kind.name: functools.partial(_finding_of, kind) for kind in _KINDS}
"""How each kind of finding is made from an estimate, by name, in the order in which they are printed."""


def _numbers(fit: Estimate) -> dict[str, Any]:
    numbers: dict[str, Any] = plain({"proportions": fit.proportions, "standard_errors": fit.standard_errors})
    return numbers


def _ranges(fit: Estimate, band: Floats) -> str:
    show = functools.partial(number_text, places=decimals_of(fit))
    outside = (fit.proportions < 0) | (fit.proportions > 1)
    empty = " (nearest to what lies outside [0, 1])"
    range_texts = [
        f"“{_checks.label(category)}” from {show(low)} to {show(high)}{empty if beyond and low == high else ''}"
        for category, (low, high), beyond in zip(fit.categories, band.tolist(), outside, strict=True)
    ]
    shown_texts = range_texts[:1] if len(range_texts) == 2 else range_texts
    return f"{', '.join(shown_texts)} (around the estimate, before sampling error)"
