"""What some estimates tell beyond their numbers: another estimate beside them, a test, a band.

Each kind is one class with `of`, which says whether an estimate has it, and one entry of `FINDINGS`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.estimate import samples
from naysay.estimate.assumptions import (
    NONCOMPLIERS,
    behaviors,
    noncompliance_band,
    preference_band,
    probability_band,
    quick,
    shown_by,
)
from naysay.estimate.fitting import goodness_of_fit
from naysay.estimate.levels import compare
from naysay.estimate.linear import is_stacked
from naysay.estimate.moments import each_sample, unbounded
from naysay.estimate.protocol import Options
from naysay.estimate.result import Estimate, is_pooled, reliable_errors, reliable_nuisance
from naysay.printing import Points, plain
from naysay.printing.content import Content

__all__ = ["FINDINGS", "Found", "decimals", "decimals_of", "shown"]

Floats = NDArray[np.float64]

_FEWEST, _MOST = 2, 9  # decimals in print


def decimals(errors: ArrayLike) -> int | None:
    """Decimals that show two digits of the smallest of some standard errors; None where none is above zero.

    Examples
    --------
    >>> decimals([0.0341, 0.2]), decimals([0.00012]), decimals([0.0])
    (3, 5, None)
    """
    given = np.asarray(errors, dtype=float)
    usable = given[np.isfinite(given) & (given > 0)]
    if not usable.size:
        return None
    return min(max(1 - math.floor(math.log10(usable.min())), _FEWEST), _MOST)


def decimals_of(fit: Estimate) -> int:
    """Decimals for everything about an estimate; where it has no standard error, those of a plain share of n."""
    found = decimals([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    return decimals([0.5 / math.sqrt(max(fit.n, 1))]) or _FEWEST if found is None else found


def shown(value: float, places: int) -> str:
    """A number to so many decimals; a dash where it is undefined."""
    return "–" if math.isnan(value) else f"{value:.{places}f}"


@dataclass(frozen=True, eq=False)
class Found:
    """A finding about an estimate; see `naysay.estimate.protocol.Finding`."""

    fit: Estimate
    value: Any

    name: ClassVar[str]
    field: ClassVar[str]
    beside: ClassVar[bool] = False

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        """The finding, None where the estimate has none of this kind."""
        raise NotImplementedError

    def columns(self) -> Iterable[tuple[str, Floats]]:
        return ()

    def told(self, options: Options) -> Sequence[Content]:
        return ()

    def plain(self, options: Options) -> Any:
        return plain(self.value)


def _if_any(kind: type[Found], fit: Estimate, value: Any) -> Any:
    return None if value is None else kind(fit, value)


class Compared(Found):
    """For levels: stratified beside pooled, with the test of independence."""

    name, field, beside = "comparison", "levels", True

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        return cls(fit, compare(fit)) if fit.design.assigned_by == "respondent" else None

    def columns(self) -> Iterable[tuple[str, Floats]]:
        if self.value is None:
            return
        other = self.value.beside(self.fit)
        yield "pooled" if is_pooled(other) else "stratified", other.proportions
        yield "s.e.", reliable_errors(other)
        yield "stratified-pooled", self.value.difference
        yield "s.e.", self.value.standard_errors

    def told(self, options: Options) -> Sequence[Content]:
        if self.value is None:
            why = "some level alone does not tell all categories apart"
            return [Points((f"stratified beside pooled: not available, {why}",))]
        return [Points((str(self.value.test),))]

    def plain(self, options: Options) -> Any:
        if self.value is None:
            return None
        both = {"stratified": self.value.stratified, "pooled": self.value.pooled}
        test = self.value.test
        told: dict[str, Any] = {}
        for name, each in both.items():
            told |= {name: each.proportions, f"{name}_standard_errors": each.standard_errors}
        told |= {"difference": self.value.difference, "difference_standard_errors": self.value.standard_errors}
        tested = ("statistic", "degrees_of_freedom", "p_value", "reference", "test")
        return plain(told | {"independence": {name: getattr(test, name) for name in tested}})


class Unbounded(Found):
    """The unbiased estimate beside one at the boundary."""

    name, field, beside = "unbounded", "moments", True

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        return _if_any(cls, fit, unbounded(fit))  # type: ignore[no-any-return]

    def columns(self) -> Iterable[tuple[str, Floats]]:
        yield "moments", self.value.proportions
        yield "s.e.", self.value.standard_errors

    def plain(self, options: Options) -> Any:
        return _numbers(self.value)


class Preferences(Found):
    """For the two-option scheme: the band over all ways of choosing between false categories."""

    name, field, beside = "sensitivity", "preference_band", True

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        if shown_by(fit.design) is None:
            return None
        return cls(fit, preference_band(fit.design, fit.tally) if quick(fit.design) else None)

    def columns(self) -> Iterable[tuple[str, Floats]]:
        if self.value is not None:
            yield from zip(("band low", "band high"), self.value.T, strict=True)

    def told(self, options: Options) -> Sequence[Content]:
        if self.value is None:
            return [Points(("band of preferences: takes long here, ask estimate.preference_band(design, tally)",))]
        return [Points(("band: what the share could be if people chose between two false categories as they like",))]


class BySample(Found):
    """Each of several samples alone."""

    name = field = "by_sample"

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        return _if_any(cls, fit, each_sample(fit))  # type: ignore[no-any-return]

    def told(self, options: Options) -> Sequence[Content]:
        places = decimals_of(self.fit)
        each = (
            f"{name} {shown(one.proportions[0], places)} ({shown(reliable_errors(one)[0], places)})"
            for name, one in self.value.items()
        )
        first = _checks.label(self.fit.categories[0])
        return [Points((f"“{first}” by sample (s.e.): {', '.join(each)}",))]

    def plain(self, options: Options) -> Any:
        return {str(name): _numbers(one) for name, one in self.value.items()}


class Fit(Found):
    """Whether the answers look as the design says that they must."""

    name = field = "goodness_of_fit"

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        found = goodness_of_fit(fit.design, fit.tally)
        untested = found is None and fit.tally.weighted and is_stacked(fit.design) and samples.overdetermined(fit)
        return cls(fit, found) if untested or found is not None else None

    def told(self, options: Options) -> Sequence[Content]:
        return [Points(("fit: not tested, the answers are weighted" if self.value is None else str(self.value),))]

    def plain(self, options: Options) -> Any:
        return None if self.value is None else self.value.to_dict()


class Noncompliance(Found):
    """What the estimate would be if people did not comply; the value gives the band of a share of such people."""

    name = field = "noncompliance"

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        if not behaviors(fit.design):
            return None
        return cls(fit, lambda share, who: noncompliance_band(fit, share=share, noncompliers=who))

    def told(self, options: Options) -> Sequence[Content]:
        share, who = options.noncompliance, options.noncompliers
        how = f"{NONCOMPLIERS[who]} {' or '.join(behaviors(self.fit.design))}"
        ranges = _ranges(self.fit, self.value(share, who))
        return [Points((f"if up to {share:.3g} of the respondents did not comply ({how}): {ranges}",))]

    def plain(self, options: Options) -> Any:
        share, who = options.noncompliance, options.noncompliers
        return plain({"share": share, "noncompliers": who, "bounds": self.value(share, who)})


class Probability(Found):
    """What the estimate would be under another probability than the one stated."""

    name = field = "probability_band"

    @classmethod
    def of(cls, fit: Estimate) -> Self | None:
        return _if_any(cls, fit, probability_band(fit))  # type: ignore[no-any-return]

    def told(self, options: Options) -> Sequence[Content]:
        return [Points((f"over the stated range of the prevalence: {_ranges(self.fit, self.value)}",))]


FINDINGS = (Compared, Unbounded, Preferences, BySample, Fit, Noncompliance, Probability)
"""All kinds of findings, in the order in which they are printed."""


def _numbers(fit: Estimate) -> dict[str, Any]:
    numbers: dict[str, Any] = plain({"proportions": fit.proportions, "standard_errors": fit.standard_errors})
    return numbers


def _ranges(fit: Estimate, band: Floats) -> str:
    show = functools.partial(shown, places=decimals_of(fit))
    each = [
        f"“{_checks.label(category)}” from {show(low)} to {show(high)}"
        for category, (low, high) in zip(fit.categories, band.tolist(), strict=True)
    ]
    return f"{', '.join(each[:1] if len(each) == 2 else each)} (by moments, before sampling error)"
