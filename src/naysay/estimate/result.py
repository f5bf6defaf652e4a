"""The estimate: its numbers, their intervals, what it tells beyond them, and how all of it reads.

Some estimates have *findings* beside their numbers: another estimate, a test, a band. Each kind is one class, and
`FINDINGS` lists them. An estimator hands in how the other estimates are made (`Estimate.others`).
"""

from __future__ import annotations

import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from naysay import _checks, privacy
from naysay._values import Floats
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate import samples
from naysay.estimate.assumptions import (
    NONCOMPLIERS,
    answer_bounds,
    behaviors,
    bounds_interval,
    fits_badly,
    is_list,
    is_open,
    is_randomized,
    least_share,
    noncompliance_band,
    preference_band,
    probability_band,
    quick,
    shifts,
    tipping,
)
from naysay.estimate.compliance import (
    DENIERS,
    ELSEWHERE,
    ELSEWHERE_ONE,
    FOR_OTHERS,
    MEASURED,
    MEASURED_ONE,
    SOURCES,
    Compliance,
    compliance,
    sentences,
    share_sentence,
)
from naysay.estimate.fit import (
    Fit,
    Intervals,
    as_points,
    decimals_of,
    is_pooled,
    number_text,
    of_hundred,
    projected,
    reliable_errors,
    reliable_nuisance,
    share_text,
    without_rounding,
)
from naysay.estimate.fitting import GoodnessOfFit, IndependenceTest, goodness_of_fit
from naysay.estimate.intervals import holding, intervals, nuisance_intervals
from naysay.estimate.ranks import Ranks, ranks
from naysay.show import Column, Note, Points, Sentence, Table, plain, text
from naysay.show.content import Content, Picture
from naysay.show.result import Records, Result

_TESTED = 50_000  # a pure design with more responses × categories has no test of fit


@dataclass(frozen=True)
class PrintOptions:
    """How an estimate is printed.

    Parameters
    ----------
    confidence : float
        The confidence level of each interval by itself.
    method : str, optional
        The method of the intervals; by default the one whose coverage holds for the estimate.
    noncompliance : float
        The share of respondents who may not comply.
    noncompliers : {"anyone", "alike"}
        Who they are; see `noncompliance_band`.
    percent : bool
        Whether shares are told in percent, as on pages.
    """

    confidence: float = 0.95
    method: str | None = None
    noncompliance: float = 0.1
    noncompliers: str = "anyone"
    percent: bool = False


FEW = 30
"""The coverage of weighted intervals was measured from so many answers on (their worth under the weights)."""

_SHARED = 0.01  # below this p the test of one type for both answers gives a warning
_LONGEST = 40  # letters of a category in a sentence
_FEW_FOR_BAND = 100  # answers, below which a band's coverage was measured as .87 to .93 in the worst cells
_MOST_LISTED = 6  # categories up to which a sentence names each
_TINY = 5  # up to so many answers the coverage of intervals was measured as .82
_NAMED = 8  # categories named in a sentence

NONCOMPLIANCE = PrintOptions().noncompliance
"""The share of respondents whose non-compliance is shown by default."""

_LEAST_GAP = 1e-9
_NUMBERS = ("categories", "proportions", "standard_errors", "standard_error_kind", "covariance")
_FIELDS = (
    "levels",
    "preference_band",
    "noncompliance",
    "assumptions",
    "nuisance",
    "moments",
    "by_sample",
    "differences",
)
"""The order in JSON of fields that only some estimates have; other such fields follow these."""


@dataclass(frozen=True, eq=False)
class Finding(ABC):
    """A part of a result that only some results have, such as a test, a band, or another estimate beside it.

    A kind of finding is a subclass that defines `of` and its words.

    Parameters
    ----------
    fit : Estimate
    value : object
        What was found; None where it is left out, with a printed reason.
    """

    fit: Fit
    value: Any

    field: ClassVar[str]
    """The name in JSON."""

    beside: ClassVar[bool] = False
    """Whether it stands in the table beside the estimate; else it stands below the table."""

    left_out: ClassVar[str] = ""
    """The sentence where the value is left out; without one, there is then no finding."""

    @classmethod
    @abstractmethod
    def of(cls, fit: Fit) -> Self | None:
        """The finding; None where an estimate is not of the kind that can have it."""

    def columns(self) -> Iterable[tuple[str, Floats]]:
        """Columns of the table: names, and a number for each category."""
        return ()

    def words(self, options: PrintOptions) -> str:
        """One line about the value; empty where the table says all."""
        return ""

    def content_below(self, options: PrintOptions) -> Sequence[Content]:
        """The content below the table."""
        line = self.left_out if self.value is None else self.words(options)
        return [Points((line,))] if line else []

    def numbers(self, options: PrintOptions) -> object:
        """The value for JSON; None where JSON holds nothing of it."""
        return self.value


@dataclass(frozen=True, eq=False)
class Comparison:
    """Stratified beside pooled.

    Parameters
    ----------
    stratified, pooled : Estimate
    difference : (t,) float
        stratified - pooled.
    standard_errors : (t,) float
        Of the difference, valid whether or not the choice of level depends on the category.
    test : IndependenceTest
    """

    stratified: Estimate
    pooled: Estimate
    difference: Floats
    standard_errors: Floats
    test: IndependenceTest

    def beside(self, fit: Estimate) -> Estimate:
        """The estimate to show beside another: pooled beside stratified, and stratified beside pooled."""
        return self.stratified if is_pooled(fit) else self.pooled


class Compared(Finding):
    """For levels: the stratified beside the pooled estimate, with the test of independence."""

    field, beside = "levels", True
    left_out = "stratified beside pooled: not available, some level alone does not tell all categories apart"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        if fit.design.offer.assigned_by != "respondent" or "comparison" not in fit.others:
            return None
        return cls(fit, fit.others["comparison"](fit))

    def columns(self) -> Iterable[tuple[str, Floats]]:
        if self.value is not None:
            other_fit = self.value.beside(self.fit)
            yield "pooled" if is_pooled(other_fit) else "stratified", other_fit.proportions
            yield "s.e.", reliable_errors(other_fit)
            yield "stratified-pooled", self.value.difference
            yield "s.e.", self.value.standard_errors

    def words(self, options: PrintOptions) -> str:
        return str(self.value.test)

    def numbers(self, options: PrintOptions) -> object:
        if self.value is None:
            return None
        stratified, pooled = self.value.stratified, self.value.pooled
        test_fields = ("statistic", "degrees_of_freedom", "p_value", "reference", "test")
        return {
            "stratified": stratified.proportions,
            "stratified_standard_errors": stratified.standard_errors,
            "pooled": pooled.proportions,
            "pooled_standard_errors": pooled.standard_errors,
            "difference": self.value.difference,
            "difference_standard_errors": self.value.standard_errors,
            "independence": {test_field: getattr(self.value.test, test_field) for test_field in test_fields},
        }


class Unbounded(Finding):
    """The unbiased estimate beside one at the boundary."""

    field, beside = "moments", True

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        if fit.maximum is None or is_pooled(fit) or "unbounded" not in fit.others:
            return None
        cell_shares = fit.proportions if fit.cells is None else fit.cells.values
        at_edge = ((cell_shares <= 1e-9) | (cell_shares >= 1 - 1e-9)).any()
        return cls(fit, fit.others["unbounded"](fit)) if at_edge else None

    def columns(self) -> Iterable[tuple[str, Floats]]:
        yield "moments", self.value.proportions
        yield "s.e.", self.value.standard_errors

    def numbers(self, options: PrintOptions) -> object:
        return {"proportions": self.value.proportions, "standard_errors": self.value.standard_errors}


class Preferences(Finding):
    """For the two-option scheme: the band over all ways of choosing between false categories."""

    field, beside = "preference_band", True
    left_out = "band of preferences: takes long here, ask estimate.preference_band(design, tally)"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        if fit.design.offer.several or fit.design.channel().structure.shown is None:
            return None
        return cls(fit, preference_band(fit.design, fit.tally) if quick(fit.design) else None)

    def columns(self) -> Iterable[tuple[str, Floats]]:
        return () if self.value is None else zip(("band low", "band high"), self.value.T, strict=True)

    def words(self, options: PrintOptions) -> str:
        return "band: what the share could be if people chose between two false categories as they like"


class BySample(Finding):
    """Each of several samples alone."""

    field = "by_sample"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        if (
            not fit.design.structure.stacked
            or fit.design.cells != fit.design.categories
            or "by_sample" not in fit.others
        ):
            return None
        return cls(fit, fit.others["by_sample"](fit))

    def words(self, options: PrintOptions) -> str:
        format_share = _share_format(self.fit, options)
        sample_texts = (
            f"{sample_name} {format_share(sample_fit.proportions[0])} ({format_share(reliable_errors(sample_fit)[0])})"
            for sample_name, sample_fit in self.value.items()
        )
        return f"“{_checks.label(self.fit.categories[0])}” by sample (s.e.): {', '.join(sample_texts)}"

    def numbers(self, options: PrintOptions) -> object:
        return {
            str(name): {"proportions": sample_fit.proportions, "standard_errors": sample_fit.standard_errors}
            for name, sample_fit in self.value.items()
        }


class CorrectedDifference(NamedTuple):
    """How far the shares of the same two samples are apart among people who comply, as controls show.

    Parameters
    ----------
    shares : {sample: float}
        Of the first category. In a sample without a control it is that of all people.
    difference, standard_error : float
        The share that was larger without the correction less the other one. The error holds that of both samples, and
        of how many people do not comply.
    """

    shares: Mapping[str, float]
    difference: float
    standard_error: float


class ArmDifference(NamedTuple):
    """How far the first category's shares of two samples are apart, the larger one first.

    Parameters
    ----------
    larger, smaller : label
        The samples.
    difference, standard_error : float
    false_yes : float
        The share of people outside the category who would have to name it falsely, in the sample with the larger share
        only, for the difference to come from nothing else: δ / (1 - π), with π of the smaller share.
    corrected : CorrectedDifference, optional
        Where a sample's question has a control.
    """

    larger: Any
    smaller: Any
    difference: float
    standard_error: float
    false_yes: float
    corrected: CorrectedDifference | None = None


class ArmDifferences(Finding):
    """How far several samples are from the first, each by itself: they are never pooled because a test is silent."""

    field = "differences"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        by_sample = BySample.of(fit) if len(fit.categories) == 2 else None
        if by_sample is None or by_sample.value is None:
            return None
        ((first_name, first_fit), *others) = by_sample.value.items()
        corrected: Any = fit.others["corrected"](fit) if "corrected" in fit.others else {}
        return cls(fit, [_difference((first_name, first_fit), other, corrected) for other in others])

    def words(self, options: PrintOptions) -> str:
        format_share = _share_format(self.fit, options)
        category_text = f"“{_checks.label(self.fit.categories[0])}”"
        sentences = []

        def in_words(apart: ArmDifference | CorrectedDifference) -> str:
            low, high = _normal_interval(apart, options.confidence)
            error_text = (
                f"s.e. {format_share(apart.standard_error)}; {options.confidence:g} interval {format_share(low)} to "
                f"{format_share(high)}".replace(" %", "")
                if math.isfinite(apart.standard_error)
                else "no interval: the answers of one of them are too few or all alike"
            )
            return f"{as_points(format_share(apart.difference))} ({error_text})"

        for apart in self.value:
            by_chance = (
                f"if {format_share(apart.false_yes)} of all others named it falsely in {apart.larger} only, nothing "
                "would be left of the difference"
                if apart.false_yes <= 1
                else f"even if all others named it falsely in {apart.larger} only, a difference would be left"
            )
            sentences.append(
                f"{category_text} is larger in {apart.larger} than in {apart.smaller} by {in_words(apart)}; "
                f"more is not better by itself: {by_chance}"
            )
            if apart.corrected is not None:
                shares = " and ".join(f"{name} {format_share(share)}" for name, share in apart.corrected.shares.items())
                sentences.append(
                    f"corrected for people who fail the control it is {shares}: {apart.larger} less {apart.smaller} "
                    f"{in_words(apart.corrected)}, right for all only if people who comply are like the others; "
                    "people who understand and deny pass the control"
                )
        return "; ".join(sentences)

    def numbers(self, options: PrintOptions) -> object:
        def with_interval(apart: ArmDifference | CorrectedDifference) -> dict[str, Any]:
            return {**apart._asdict(), "interval": list(_normal_interval(apart, options.confidence))}

        nodes = []
        for apart in self.value:
            node = {**with_interval(apart), "larger": str(apart.larger), "smaller": str(apart.smaller)}
            corrected = node.pop("corrected")
            nodes.append(node if corrected is None else {**node, "corrected": with_interval(corrected)})
        return nodes


def _difference(first: tuple[Any, Fit], other: tuple[Any, Fit], corrected: Mapping[Any, Fit]) -> ArmDifference:
    fits = dict(sorted((first, other), key=lambda named: -float(named[1].proportions[0])))
    larger, smaller = fits
    shares, difference, error = _apart(fits)
    rest = 1 - min(max(shares[smaller], 0.0), 1.0)
    without = ArmDifference(larger, smaller, difference, error, math.inf if rest == 0 else difference / rest)
    if fits.keys().isdisjoint(corrected):
        return without
    corrected_apart = _apart({name: corrected.get(name, fit) for name, fit in fits.items()})
    return without._replace(corrected=CorrectedDifference(*corrected_apart))


def _apart(fits: Mapping[Any, Fit]) -> tuple[dict[Any, float], float, float]:
    """The first category's shares of two samples, the first less the second, and the standard error of that."""
    shares = {name: float(fit.proportions[0]) for name, fit in fits.items()}
    one, other = shares.values()
    return shares, one - other, math.hypot(*(reliable_errors(fit)[0] for fit in fits.values()))


def _normal_interval(apart: ArmDifference | CorrectedDifference, confidence: float) -> tuple[float, float]:
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * apart.standard_error
    return apart.difference - half, apart.difference + half


class FitTest(Finding):
    """Whether the answers fit the design."""

    field = "goodness_of_fit"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        # A test of many rare answers takes long, and says little.
        large = any(
            part.design.structure.pure and part.design.space.size * len(fit.categories) > _TESTED
            for part in fit.tally.parts
        )
        if fit.tally.free < len(fit.design.categories) or large or fit.tally.summed:
            return None
        return cls(fit, goodness_of_fit(fit.design, fit.tally, maximum=fit.maximum))

    def words(self, options: PrintOptions) -> str:
        return str(self.value)

    def numbers(self, options: PrintOptions) -> object:
        return self.value.to_dict()


class Untested(Finding):
    """A note that the fit is not tested, although the answers would allow a test."""

    field = "untested"
    left_out = "fit: not tested, the answers are weighted"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        would_test = fit.tally.weighted and fit.design.structure.stacked and samples.overdetermined(fit)
        return cls(fit, None) if would_test else None


class Complied(Finding):
    """What controls say of those who do not comply."""

    field = "compliance"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        return cls(fit, compliance(fit.design, fit.tally) or ()) if fit.design.structure.tells_types else None

    def content_below(self, options: PrintOptions) -> Sequence[Content]:
        ends = nuisance_intervals(self.fit, confidence=options.confidence, method=options.method)
        types = [(str(name), parameter.value, ends[name]) for name, parameter in self.fit.nuisance.items()]
        if not self.value:  # several types
            return [Points((*itertools.starmap(share_sentence, types), FOR_OTHERS, DENIERS))]
        people: Compliance = self.value
        shown, [(_, _, (low, high))] = self._shown, types
        if self._counts_others:
            low, high = 1 - high, 1 - low
        names = [_checks.label(category) for category in self.fit.categories]
        return [Points(tuple(sentences(people, shown, (low, high), names, _share_format(self.fit, options))))]

    @property
    def _counts_others(self) -> bool:
        """Whether the share of those who comply is estimated."""
        return self.value.type_name not in self.fit.design.nuisance[0].of

    @property
    def _shown(self) -> Compliance:
        """The controls at the shares of the table, which can be those of the likelihood."""
        [(share, _)] = self.fit.nuisance.values()
        share = 1 - share if self._counts_others else share
        people: Compliance = self.value
        return replace(people, share=share, naive=(1 - share) * self.fit.proportions + share * people.look)

    def numbers(self, options: PrintOptions) -> object:
        if not self.value:
            return None
        people: Compliance = self.value
        shown = self._shown
        return people.numbers(options.confidence) | {
            "uncorrected": people.naive,
            "corrected": people.corrected(people.share),
            "half_as_many_again": None if shown.more is None else shown.corrected(shown.more),
            "tipping": shown.tipping and {"category": self.fit.categories[shown.tipping[0]], "share": shown.tipping[1]},
        }


class Noncompliance(Finding):
    """What the estimate would be if people did not comply; the value gives the band for a share of such people."""

    field = "noncompliance"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        if not behaviors(fit.design) or not is_randomized(fit):
            return None
        # not a closure: with one, a printed estimate could not be pickled
        return cls(fit, functools.partial(noncompliance_band, fit))

    def words(self, options: PrintOptions) -> str:
        share, noncomplier_kind = options.noncompliance, options.noncompliers
        behavior_text = f"{NONCOMPLIERS[noncomplier_kind]} {' or '.join(behaviors(self.fit.design))}"
        ranges_text = _ranges(self.fit, self.value(share=share, noncompliers=noncomplier_kind), options)
        return f"if up to {100 * share:.3g} of 100 did not comply ({behavior_text}): {ranges_text}"

    def numbers(self, options: PrintOptions) -> object:
        share, who = options.noncompliance, options.noncompliers
        return {"share": share, "noncompliers": who, "bounds": self.value(share=share, noncompliers=who)}


class Unchecked(Finding):
    """What the estimate would be if people had not complied as often as elsewhere, where nothing here shows it."""

    field = "unchecked"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        return cls(fit, least_share(fit)) if is_open(fit) else None

    def content_below(self, options: PrintOptions) -> Sequence[Content]:
        fit, lines = self.fit, []
        if self.value > 1e-9 and fits_badly(fit):
            lines.append(
                f"at least about {of_hundred(self.value)} of 100 did not follow the instruction: no shares explain "
                "these answers"
            )
        elif fit.tally.free < len(fit.categories):  # otherwise a test of fit shows some of it
            lines.append("nothing in these answers shows whether people followed the instruction")
        kinds = [(ELSEWHERE, "random", "answered at random", MEASURED)]
        if not behaviors(fit.design):  # no band of non-compliance is shown
            kinds.append((ELSEWHERE_ONE, "any", "always gave one answer", MEASURED_ONE))
        for share, answers, behavior, measured in kinds:
            low, high = map(of_hundred, measured)
            lines.append(
                f"if up to {of_hundred(share)} of 100 {behavior} (surveys by hand measured {low} to {high})"
                f"{self._open(share, answers, options)}"
            )
        first = tipping(fit, intervals(fit, options.confidence, method=options.method).bounds)
        if first is not None:
            label = _checks.label(first.category)
            name = f"“{label if len(label) <= _LONGEST else f'{label[: _LONGEST - 1]}…'}”"
            at_end = "" if math.isnan(first.random_at_end) else of_hundred(first.random_at_end)
            if math.isnan(first.random):
                by_chance = f"no share of random answers brings {name} to 0"
                by_chance += at_end and f", but {at_end} of 100 the lower end of its interval"
            else:
                by_chance = f"{name} would be 0 if {of_hundred(first.random)} of 100 had answered at random"
                by_chance += at_end and f" ({at_end} by the lower end of its interval)"
            lines.append(
                f"{by_chance}; {of_hundred(first.any_answers)} of 100 could do it by the answers that mislead most"
            )
        return [Points(tuple(lines))]

    def _open(self, share: float, answers: str, options: PrintOptions) -> str:
        """What the share of the first of two categories could be, or by how much one of several could be off."""
        fit, format_share = self.fit, _share_format(self.fit, options)
        if len(fit.categories) > 2:
            fall, rise = (as_points(format_share(shift)) for shift in shifts(fit, share, answers))
            return f", a share could be up to {fall} lower or {rise} higher (before sampling error)"
        band = answer_bounds(fit, share=share, answers=answers, sharp=False)[0]
        ends = bounds_interval(fit, share=share, answers=answers, sharp=False, confidence=options.confidence)[0]
        (low, high), (least, most) = map(format_share, band.tolist()), map(format_share, ends.tolist())
        label = _checks.label(fit.categories[0])
        few_text = " (of so few answers it held .87 to .93 at worst)" if fit.tally.effective < _FEW_FOR_BAND else ""
        ends_text = f"from {least} to {most} with sampling error{few_text}"
        return f": “{label}” from {low} to {high} around the estimate, and {ends_text}"

    def numbers(self, options: PrintOptions) -> object:
        fit = self.fit
        first = tipping(fit, intervals(fit, options.confidence, method=options.method).bounds)
        tipped = first and {
            name: None if name != "category" and math.isnan(value) else value for name, value in first._asdict().items()
        }
        return {
            "share": ELSEWHERE,
            "random": answer_bounds(fit, share=ELSEWHERE, sharp=False),
            "random_interval": bounds_interval(fit, share=ELSEWHERE, sharp=False, confidence=options.confidence),
            "any": answer_bounds(fit, share=ELSEWHERE, answers="any", sharp=False),
            "share_of_one_answer": ELSEWHERE_ONE,
            "one_answer": answer_bounds(fit, share=ELSEWHERE_ONE, answers="any", sharp=False),
            "measured": {"random": MEASURED, "one_answer": MEASURED_ONE, "sources": SOURCES},
            "least_share": self.value,
            "tipping": tipped,
        }


class Hidden(Finding):
    """What the estimate of a list would be if carriers at its ends had counted as if they were none."""

    field = "liars"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        return cls(fit, functools.partial(bounds_interval, fit, answers="liars")) if is_list(fit) else None

    def words(self, options: PrintOptions) -> str:
        format_share = _share_format(self.fit, options)
        some, everybody = self.numbers(options)
        (low, high), (least, most) = (map(format_share, some[name]) for name in ("bounds", "interval"))
        label = f"“{_checks.label(self.fit.categories[0])}”"
        return (
            f"nothing in these answers shows who hides: if up to {of_hundred(some['share'])} of 100 people of {label}, "
            "of those to whom all or none of the other statements apply, left the sensitive one out: "
            f"{label} from {low} to {high}, and from {least} to {most} with sampling error; if all of them did, up to "
            f"{format_share(everybody['bounds'][1])}, and {format_share(everybody['interval'][1])}"
        )

    def numbers(self, options: PrintOptions) -> Any:
        return [
            {
                "share": share,
                "bounds": answer_bounds(self.fit, share=share, answers="liars")[0],
                "interval": self.value(share=share, confidence=options.confidence)[0],
            }
            for share in (options.noncompliance, 1.0)
        ]


class Probability(Finding):
    """What the estimate would be under another probability than the stated one."""

    field = "probability_band"

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        return cls(fit, probability_band(fit)) if fit.design.alternatives else None

    def words(self, options: PrintOptions) -> str:
        return f"over the stated range of the prevalence: {_ranges(self.fit, self.value, options)}"


FINDINGS = (
    Compared,
    Unbounded,
    Preferences,
    BySample,
    ArmDifferences,
    Complied,
    FitTest,
    Untested,
    Noncompliance,
    Unchecked,
    Hidden,
    Probability,
)
"""The kinds of findings, in the order in which they are printed."""


def _share_format(fit: Fit, options: PrintOptions) -> Callable[[float], str]:
    """How a share of an estimate is told in a sentence."""
    return functools.partial(share_text, places=decimals_of(fit), percent=options.percent)


def _ranges(fit: Fit, band: Floats, options: PrintOptions) -> str:
    """What each share could be; of many categories, how far any of them could move, and which moves most."""
    format_share = _share_format(fit, options)
    if len(fit.categories) > _MOST_LISTED:
        falls, rises = fit.proportions - band[:, 0], band[:, 1] - fit.proportions
        most = int(np.argmax(band[:, 1] - band[:, 0]))
        fall, rise = (as_points(format_share(max(float(moves.max()), 0.0))) for moves in (falls, rises))
        low, high = map(format_share, band[most].tolist())
        label = _checks.label(fit.categories[most])
        return (
            f"a share could be up to {fall} lower or {rise} higher; most of all “{label}”, from {low} to {high} "
            "(around the estimate, before sampling error)"
        )
    is_outside = (fit.proportions < 0) | (fit.proportions > 1)
    nearest_text = " (nearest to what lies outside [0, 1])"
    range_texts = [
        f"“{_checks.label(category)}” from {format_share(band_low)} to {format_share(band_high)}"
        f"{nearest_text if is_beyond and band_low == band_high else ''}"
        for category, (band_low, band_high), is_beyond in zip(fit.categories, band.tolist(), is_outside, strict=True)
    ]
    shown_texts = range_texts[:1] if len(range_texts) == 2 else range_texts
    return f"{', '.join(shown_texts)} (around the estimate, before sampling error)"


class Estimate(Fit, Result):
    """What a tally says about the population.

    Parameters
    ----------
    design : Design or Levels
    tally : Tally
    method : str
        The method in words.
    target : {"population", "file"}
        What the proportions describe: a population from which the respondents are a sample, or the fixed file whose
        records were randomized.
    proportions : (t,) float
        In category order. Moments may leave [0, 1]; they are reported as they are.
    covariance : (t, t) float
        NaN where it is undefined.
    standard_error_kind : str
        What the standard errors rest on.
    made_by : str
        The name of the estimator, one of `ESTIMATORS`.
    warnings : tuple of StatisticalWarning
        Reservations, printed with the numbers.
    indicators : Indicators, optional
        For means of unbiased indicators: these indicators; None where a closed form needs none (`named`).
    solution : {"mean", "least_squares"}, optional
        The unbiased map that you asked for by name; intervals and bands use the same map.
    maximum : Maximum, optional
        For likelihood methods: the certificate.
    path : (iterations + 1, t) float, optional
        Counts per category after each step of an iterative method.
    level_weights : {level: float}, optional
        Weights of the levels, where they are not proportional to the numbers of answers.
    named : Named, optional
        For a design that is stored as one pattern: how many people named each category.
    cells : Cells, optional
        Where the proportions are shares of cells: these cells.
    maps : LinearMaps, optional
        The unbiased maps of the parts that were made on the way here.
    others : {finding: callable}, optional
        Makes the other estimates that stand beside this one, by the names of their findings.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d"))
    >>> fit = estimate.moments(survey, survey.tally(count=[280, 240, 260, 220]))
    >>> fit.proportions.round(6)
    array([0.16, 0.28, 0.22, 0.34])
    >>> fit.standard_errors.round(6)
    array([0.042617, 0.040537, 0.041633, 0.039319])
    >>> fit.interval(confidence=0.95).round(3)[0]
    array([0.074, 0.241])
    """

    def projected(self) -> Projected:
        """The nearest possible shares beside these, labeled as a display; see `estimate.projected`."""
        return Projected(self)

    def ranks(self, confidence: float = 0.95, *, margin: float = 0.0, rng: np.random.Generator | None = None) -> Ranks:
        """The order of the categories, who may lead, and a confidence set for each rank; see `estimate.ranks`."""
        return ranks(self, confidence=confidence, margin=margin, rng=rng)

    def plot(self, *, confidence: float = 0.95, method: str | None = None) -> Picture:
        """The shares with their intervals as a picture. Needs the extra ``plots``.

        Parameters
        ----------
        confidence : float
        method : str, optional
            Of the intervals.

        Examples
        --------
        >>> from naysay import designs, estimate
        >>> coins = designs.two_coins()
        >>> estimate.moments(coins, coins.tally(count=[65, 135])).plot().svg[:4]
        '<svg'
        """
        from naysay.show import charts

        intervals = self.intervals(confidence, method=method)
        mark = charts.Mark("estimate", self.method, self.proportions, intervals.bounds)
        title = f"{self.tally.question or self.design.name}: shares with {100 * confidence:.10g} % intervals"
        return Picture(charts.dots(self.categories, [mark], title=title))

    def interval(
        self,
        confidence: float = 0.95,
        *,
        method: str | None = None,
        replicates: int = 1_999,
        rng: np.random.Generator | None = None,
    ) -> Floats:
        """Confidence intervals for each proportion, (t, 2), within [0, 1].

        Parameters
        ----------
        confidence : float
            The confidence of each interval by itself.
        method : {"score", "agresti_coull", "wald", "profile", "bootstrap"}, optional
            By default the method whose measured coverage holds for such an estimate (see the page on coverage).
        replicates, rng : int, numpy Generator
            Resamples of the bootstrap, and their generator; by default one with a fixed seed.

        Raises
        ------
        DataError
            If the method does not exist or does not suit this estimate; the message names methods that do.
        """
        return np.asarray(self.intervals(confidence, method=method, replicates=replicates, rng=rng).bounds)

    def intervals(self, confidence: float = 0.95, *, method: str | None = None, **options: Any) -> Intervals:
        """The intervals, with the name of their method and the flagged categories."""
        return intervals(self, confidence, method=method, **options)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What this estimate tells beyond its numbers, in the order in which it is printed."""
        return tuple(finding for kind in FINDINGS if (finding := self._finding(kind)) is not None)

    @cached_property
    def _findings_by_kind(self) -> dict[type[Finding], Finding | None]:
        """Findings made so far: each is made once, when it is first asked for."""
        return {}

    def _finding(self, kind: type[Finding]) -> Finding | None:
        if kind not in self._findings_by_kind:
            finding = kind.of(self)
            is_empty = finding is not None and finding.value is None and not finding.left_out
            self._findings_by_kind[kind] = None if is_empty else finding
        return self._findings_by_kind[kind]

    def _value_of(self, kind: type[Finding]) -> Any:
        finding = self._finding(kind)
        return None if finding is None else finding.value

    @property
    def comparison(self) -> Comparison | None:
        """For levels: stratified beside pooled, their difference and the test of independence; otherwise None."""
        return cast("Comparison | None", self._value_of(Compared))

    @property
    def sensitivity(self) -> Floats | None:
        """For the two-option scheme: the band (t, 2) over all ways of choosing between two false categories.

        None for other designs, and where it would take long; call `preference_band` then.
        """
        return cast("Floats | None", self._value_of(Preferences))

    @property
    def goodness_of_fit(self) -> GoodnessOfFit | None:
        """Pearson's test and the deviance; None unless the answers have more degrees of freedom than the estimate."""
        return cast("GoodnessOfFit | None", self._value_of(FitTest))

    @property
    def unbounded(self) -> Estimate | None:
        """The unbiased estimate, to stand beside a likelihood estimate at the boundary; None elsewhere."""
        return cast("Estimate | None", self._value_of(Unbounded))

    @property
    def by_sample(self) -> dict[Any, Estimate] | None:
        """The unbiased estimate of each of several samples by itself; None unless every sample has one."""
        return cast("dict[Any, Estimate] | None", self._value_of(BySample))

    def noncompliance(self, share: float = 0.1, noncompliers: str = "anyone") -> Floats | None:
        """The band (t, 2) of `noncompliance_band`; None where people answer without chance."""
        band = self._value_of(Noncompliance)
        return None if band is None else np.asarray(band(share=share, noncompliers=noncompliers))

    @property
    def probability_band(self) -> Floats | None:
        """The band (t, 2) over the range of a design probability that is not certain; None if no range is stated."""
        return cast("Floats | None", self._value_of(Probability))

    def parts(self, options: PrintOptions | None = None) -> list[Content]:
        """What it is, its table, and what it rests on."""
        print_options = options or PrintOptions()
        estimate_intervals = self.intervals(print_options.confidence, method=print_options.method)
        contents_beside = [
            content for finding in self.findings if finding.beside for content in finding.content_below(print_options)
        ]
        basis_lines = (*checks(self, print_options), *privacy.lines(self.design, self.nuisance_shares))
        answers_text = _checks.several(self.n, "answer", "answers")
        missing_text = f"{self.missing:,} missing" if self.missing else "none missing"
        weighted_text = f", weighted (sum of weights {self.tally.weight:,.6g})" if self.tally.weighted else ""
        complex_sample, gap_text = self.tally.complex, ""
        if self.maximum is not None:  # rounded up to a power of ten; below the least it is the noise of one processor
            gap_power = math.ceil(math.log10(max(self.maximum.total_gap, _LEAST_GAP)))
            gap_text = f"; within {10.0**gap_power:.0e} of the maximum log-likelihood"
        return [
            Sentence(f"{self.tally.question or 'Estimate'}: {self.design.name or self.design.kind}"),
            Sentence(f"{answers_text}, {missing_text}{weighted_text}; target: the {self.target}"),
            *([] if complex_sample is None else [Sentence(complex_sample.sentence)]),
            Sentence(f"{self.method}; standard errors: {self.standard_error_kind}{gap_text}"),
            Sentence(f"{estimate_intervals.confidence:.4g} intervals: {estimate_intervals.method}"),
            _table(self, estimate_intervals, percent=print_options.percent),
            *contents_beside,
            Points(basis_lines),
            *map(Note, reservations(self, estimate_intervals)),
        ]

    def numbers(self, options: PrintOptions | None = None) -> dict[str, object]:
        """Its numbers, what they rest on and what it tells beyond them, under the stable names of JSON."""
        print_options = options or PrintOptions()
        estimate_intervals = self.intervals(print_options.confidence, method=print_options.method)
        numbers: dict[str, object] = {
            "question": self.tally.question,
            "design": self.design.name or self.design.kind,
            **{
                attribute_name: getattr(self, attribute_name)
                for attribute_name in ("n", "missing", "target", "method", *_NUMBERS)
            },
            "intervals": estimate_intervals.bounds,
            "confidence": print_options.confidence,
            "interval_method": estimate_intervals.method,
            "privacy": _privacy(self),
            "warnings": reservations(self, estimate_intervals),
        }
        findings_by_field = {finding.field: finding.numbers(print_options) for finding in self.findings} | {
            "assumptions": assumptions(self)
        }
        if self.tally.complex is not None:
            numbers |= {
                "sampling": str(self.tally.complex),
                "degrees_of_freedom": self.tally.complex.degrees_of_freedom,
            }
        if self.nuisance:
            nuisance_ends = nuisance_intervals(
                self, confidence=print_options.confidence, method=estimate_intervals.method
            )
            findings_by_field["nuisance"] = {
                str(name): {"estimate": value, "standard_error": standard_error, "interval": nuisance_ends[name]}
                for name, (value, standard_error) in self.nuisance.items()
            }
        field_order = [
            *(field_name for field_name in _FIELDS if field_name in findings_by_field),
            *(field_name for field_name in findings_by_field if field_name not in _FIELDS),
        ]
        return numbers | {
            field_name: findings_by_field[field_name]
            for field_name in field_order
            if findings_by_field[field_name] is not None
        }

    def records(self) -> Records:
        """The categories with their proportions, standard errors and 0.95 intervals."""
        names = ("category", "estimate", "standard_error", "low", "high")
        numbers_of_category = zip(
            self.categories, self.proportions, self.standard_errors, *self.interval().T, strict=True
        )
        return Records(names, [list(row) for row in numbers_of_category])

    def to_dict(
        self,
        confidence: float = 0.95,
        *,
        interval_method: str | None = None,
        options: PrintOptions | None = None,
    ) -> dict[str, Any]:
        """The estimate as one JSON object with stable names; undefined numbers are None."""
        json_object: dict[str, Any] = plain(self.numbers(options or PrintOptions(confidence, interval_method)))
        return json_object


_LARGEST = 30_000_000  # largest array of answers × categories, in entries (240 MB)


@dataclass(frozen=True, eq=False)
class EvenEstimate(Estimate):
    """An estimate whose covariance (t, t) is made only when it is asked for.

    Parameters
    ----------
    variances : (t,) float
    general : callable
        Makes the same estimate in the general way, with all its arrays.
    spread : callable
        Makes the covariance (t, t).
    """

    covariance: Floats = field(init=False, repr=False)
    variances: Floats = field(kw_only=True, repr=False)
    general: Callable[[], Estimate] = field(kw_only=True, repr=False)
    spread: Callable[[], Floats] = field(kw_only=True, repr=False)

    def __post_init__(self) -> None:
        # not that of a fit, which would ask for the covariance
        object.__setattr__(self, "proportions", _checks.read_only(without_rounding(self.proportions)))
        self.variances.setflags(write=False)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set: fields without a value. Anything else is unknown.
        if name not in ("covariance", "_general"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        attribute = self.general() if name == "_general" else self.spread()
        object.__setattr__(self, name, attribute)
        return attribute

    @cached_property
    def standard_errors(self) -> Floats:
        """Square roots of the variances, (t,); NaN where undefined."""
        return np.asarray(np.sqrt(self.variances))

    def intervals(self, confidence: float = 0.95, *, method: str | None = None, **options: Any) -> Intervals:
        """The intervals; methods without a closed form use the general estimate."""
        if method in (None, "agresti_coull", "wald"):
            return super().intervals(confidence, method=method, **options)
        distinct_answers, t = sum(part.distinct or 0 for part in self.tally.parts), len(self.proportions)
        without_rows = self.maximum is not None and self.design.structure.by_transform is not None
        if without_rows or max(distinct_answers, t) * t > _LARGEST:
            raise DataError(
                f"{method} intervals of {distinct_answers:,} distinct answers about {t:,} categories take too long; "
                "use method='agresti_coull' or 'wald'"
            )
        general_intervals: Intervals = self._general.intervals(confidence, method=method, **options)
        if self.maximum is None:
            return general_intervals
        # the general solver ends as near to the maximum as it must, the closed form on it
        return replace(general_intervals, bounds=holding(general_intervals.bounds, self.proportions))


@dataclass(frozen=True, eq=False)
class Projected(Result):
    """The projected shares of an estimate, labeled as a display wherever they are printed.

    Parameters
    ----------
    fit : Estimate
        The unbiased estimate, which alone has intervals.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.k_ary(("a", "b", "c"), epsilon=1)
    >>> print(estimate.moments(survey, survey.tally(count=[60, 25, 15])).projected())
    category  estimate     low    high  display
    a           1.0656  0.7310  1.0000   0.9805
    b           0.1045  0.0000  0.3613   0.0195
    c          -0.1701  0.0000  0.2490   0.0000
    <BLANKLINE>
    note: display: moved to the nearest possible shares; its sums are biased, it is not a basis for intervals
    """

    fit: Estimate

    @property
    def shares(self) -> Floats:
        """The nearest possible shares, (t,)."""
        return projected(self.fit.proportions)

    def parts(self, confidence: float = 0.95) -> list[Content]:
        """The raw estimate with its intervals, and the projected shares in a column of their own."""
        number_array = np.column_stack([self.fit.proportions, self.fit.interval(confidence), self.shares])
        labeled_rows = zip(map(_checks.label, self.fit.categories), number_array.tolist(), strict=True)
        table_columns = (Column("category", words=True, width=40), *map(Column, ("estimate", "low", "high", "display")))
        note_text = (
            "display: moved to the nearest possible shares; its sums are biased, it is not a basis for intervals"
        )
        return [
            Table(
                table_columns,
                tuple(
                    (category_label, *(f"{number:.4f}" for number in row_numbers))
                    for category_label, row_numbers in labeled_rows
                ),
            ),
            Note(note_text),
        ]

    def numbers(self) -> dict[str, object]:
        return {"categories": self.fit.categories, "estimate": self.fit.proportions, "display": self.shares}


def reservations(fit: Estimate, intervals: Intervals) -> list[str]:
    """Warnings of the estimate and of its intervals."""
    return [*cautions(fit), *beyond(fit, intervals)]


def beyond(fit: Estimate, intervals: Intervals) -> list[str]:
    """The sentence about intervals that lie outside [0, 1], and what is shown in their place; none elsewhere."""
    if not intervals.flagged.any():
        return []
    category_names = ", ".join(
        _checks.label(c) for c, is_flagged in zip(fit.categories, intervals.flagged, strict=True) if is_flagged
    )
    misfit_text = "; these answers hardly fit this design" if intervals.misfit else ""
    has_points = (intervals.bounds[:, 0] == intervals.bounds[:, 1])[intervals.flagged].any()
    shown_instead = "the nearest end, which is no certainty" if has_points else "that of an estimate at the nearest end"
    return [f"interval outside [0, 1], shown is {shown_instead}: {category_names}{misfit_text}"]


def cautions(fit: Estimate) -> list[str]:
    """Warnings of the estimate, and of intervals that rest on few answers."""
    warning_texts = [str(warning) for warning in fit.warnings]
    if fit.design.structure.tells_types and fit.goodness_of_fit is not None and fit.goodness_of_fit.p_value < _SHARED:
        warning_texts.append(
            "the answers to question and control do not fit people who comply with both or with neither; "
            "moments hold also if each answer is at random by itself"
        )
    if fit.n <= _TINY:
        warning_texts.append(
            "so few people tell nothing: intervals of 1 to 5 answers can hold the true share less often than they say "
            "(.82 of two direct answers)"
        )
    if fit.tally.weighted and fit.tally.effective < FEW:
        warning_texts.append(
            f"the weights leave the worth of {fit.tally.effective:.0f} answers; intervals need {FEW} at least"
        )
    if fit.tally.weighted:
        carrier_worths = np.maximum(fit.proportions, 0.0) * fit.tally.effective
        few_categories = [
            _checks.label(c) for c, worth in zip(fit.categories, carrier_worths, strict=True) if worth < FEW
        ]
        if few_categories:
            warning_texts.append(
                f"the weights leave the worth of fewer than {FEW} people in {', '.join(few_categories[:_NAMED])}"
                f"{f' and {len(few_categories) - _NAMED} more' if len(few_categories) > _NAMED else ''}: if weights go "
                "with the category, intervals there can hold the true share far less often than they say "
                "(measured: .46 in place of .95, where fewer than one such person, of 15 times the weight, is expected)"
            )
    return warning_texts


def _table(fit: Estimate, intervals: Intervals, *, percent: bool) -> Table:
    """The numbers: one row per category, then one row per nuisance parameter."""
    number_columns = [
        ("estimate", fit.proportions),
        ("s.e.", reliable_errors(fit)),
        ("low", intervals.bounds[:, 0]),
        ("high", intervals.bounds[:, 1]),
        *(column for finding in fit.findings if finding.beside for column in finding.columns()),
    ]
    column_names, column_numbers = zip(*number_columns, strict=True)
    labeled_rows = [
        (_checks.label(category), category_numbers)
        for category, category_numbers in zip(fit.categories, np.column_stack(column_numbers), strict=True)
    ]
    nuisance_ends = nuisance_intervals(fit, confidence=intervals.confidence, method=intervals.method)
    nuisance_errors = reliable_nuisance(fit)
    for parameter_name, value in fit.nuisance.items():
        unbounded_numbers = fit.unbounded.nuisance[parameter_name] if fit.unbounded is not None else ()
        labeled_rows.append(
            (
                str(parameter_name),
                np.array(
                    [value.value, nuisance_errors[parameter_name], *nuisance_ends[parameter_name], *unbounded_numbers]
                ),
            )
        )
    decimal_places, whole = decimals_of(fit), 1
    if percent:
        decimal_places, whole = max(decimal_places - 2, 0), 100
        column_names = (f"{column_names[0]}, %", *column_names[1:])
    text_rows = [
        (row_label, *(number_text(whole * float(number), decimal_places) for number in row_numbers))
        for row_label, row_numbers in labeled_rows
    ]
    row_width = len(column_names) + 1
    table_columns = (Column("category", words=True, width=40), *map(Column, column_names))
    return Table(table_columns, tuple((*row_cells, *[""] * (row_width - len(row_cells))) for row_cells in text_rows))


def checks(fit: Estimate, options: PrintOptions | None = None) -> list[str]:
    """What the estimate rests on, and what it would be otherwise, one line for each."""
    print_options = options or PrintOptions()
    contents = [
        content for finding in fit.findings if not finding.beside for content in finding.content_below(print_options)
    ]
    basis_lines = [basis_line for basis_line in text(contents).splitlines() if basis_line]
    basis_lines += fit.design.notes if fit.design.structure.stacked else ()
    assumption_texts = assumptions(fit)
    return basis_lines + ([f"assumes: {'; '.join(assumption_texts)}"] if assumption_texts else [])


def assumptions(fit: Estimate) -> list[str]:
    """What the designs of an estimate assume; each assumption occurs once."""
    return list(dict.fromkeys(_assumption_texts(fit.design)))


def _assumption_texts(design: Answerable) -> Iterator[str]:
    if design.protocol is not None:
        yield from design.protocol.assumes
    for part in design.structure.made_of:
        yield from _assumption_texts(part)


def _privacy(fit: Estimate) -> dict[str, Any]:
    privacy_by_level = {
        level: {
            "epsilon": "inf" if math.isinf(statement.epsilon) else statement.epsilon,
            **{
                field_name: getattr(statement, field_name)
                for field_name in ("reason", "bits", "prior", "still_possible")
            },
        }
        for level, statement in fit.privacy.items()
    }
    if None in privacy_by_level:
        return privacy_by_level[None]
    worst_statement = max(fit.privacy.values(), key=lambda statement: (statement.epsilon, statement.bits))
    worst_content = next(
        privacy_by_level[level] for level, statement in fit.privacy.items() if statement is worst_statement
    )
    level_key = "by_level" if fit.design.offer.assigned_by == "respondent" else "by_sample"
    return {
        **worst_content,
        level_key: {str(level): level_content for level, level_content in privacy_by_level.items()},
    }
