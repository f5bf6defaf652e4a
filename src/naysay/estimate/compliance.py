"""How many do not comply, from controls: ρ with its interval and test, and what the shares are with and without it.

The interval of ρ inverts the test of the mean D̄ with the variance that each value of ρ implies,

    n Var D̄ = (1 - ρ) V₀ + ρ V₁ + ρ (1 - ρ),

with V₀ and V₁ the variances of D̄ among those who comply and among the others, and (1 - ρ)² of the variance that the
error of the known truth makes where everybody complies; for one two-valued control this is
Wilson's (1927). Where V₀ = 0, each violation shows itself, and the interval is that of Clopper & Pearson (1934). Where
D takes more than two values, or controls have different chances, its law may be skewed and is no binomial: then both
are those of the exact law of D̄, rounded to a grid. The test rejects where the interval leaves out 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from naysay._values import Floats
from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable
from naysay.estimate.fit import of_hundred
from naysay.estimate.likelihood import answering
from naysay.estimate.samples import Controls, controls_of, moment_cells
from naysay.responses.spaces import MISSING
from naysay.tally import Part, Tally

MEASURED = (0.23, 0.39)
"""The least and the largest share of random answers in five surveys by hand that measured it."""

ELSEWHERE = 0.3
"""The share of random answers for which an estimate without a control is shown: about the middle of `MEASURED`."""

MEASURED_ONE = (0.065, 0.19)
"""The same for people who always give one answer, such as the one that seems to protect."""

ELSEWHERE_ONE = 0.1
"""The share of such people for which an estimate without a control is shown."""

SOURCES = ("Höglinger & Jann (2018)", "Cruyff et al. (2024), four surveys")
"""Where these shares were measured."""

_ALL = 0.995  # of people; a larger share is printed as everybody
ONE_ONLY = "some answered the question or its control only; a control needs both: leave these rows out"

_NONE = 1e-10
_POINTS = 1 << 15  # of the grid of an exact law, at most
_FINEST = 60  # points between 0 and the smallest score, up to which a common measure of all scores is looked for
_RAREST = 30.0  # totals so far away that they are rarer than e^-30 are not on the grid


@dataclass(frozen=True)
class ScoreLaw:
    """The law of the sum of D over all people and controls, each answer's D as a whole number from 0.

    A person's answers are independent given the type, which all of them share. Those who do not comply have the larger
    scores, so that a larger share of them makes every total more likely to be reached.

    Parameters
    ----------
    people : (samples,) tuple of int
    chances : tuple of tuples of (2, scores) float
        How likely each score is from those who comply, and from the others, by sample and control.
    total : int
        The sum of the scores of the answers that came.
    width : int
        How many totals around the expected one hold all but the rarest.
    """

    people: tuple[int, ...]
    chances: tuple[tuple[Floats, ...], ...]
    total: int
    width: int

    @cached_property
    def _grid(self) -> tuple[int, int, Floats]:
        """The size of the grid, its last start, and each sample's transforms by type, (samples, 2, …)."""
        most = sum(n * sum(law.shape[1] - 1 for law in laws) for n, laws in zip(self.people, self.chances, strict=True))
        size = scipy.fft.next_fast_len(min(most, self.width) + 1, real=True)
        by_type = [np.prod([scipy.fft.rfft(law, size) for law in laws], axis=0) for laws in self.chances]
        return size, max(most + 1 - size, 0), np.array(by_type)

    @cached_property
    def _expected(self) -> Floats:
        """The total that is expected if everybody complies, and if nobody does, (2,)."""
        return np.asarray(
            self.people @ np.array([sum(law @ np.arange(law.shape[1]) for law in laws) for laws in self.chances])
        )

    def tails(self, share: float, total: int | None = None) -> tuple[float, float]:
        """How likely so low a total, and so high a one, are if this share of people does not comply."""
        size, last, transforms = self._grid
        of_all = np.ones(size // 2 + 1, dtype=complex)
        for people, (comply, others) in zip(self.people, transforms, strict=True):
            factor = (1 - share) * comply + share * others
            for bit in reversed(f"{people:b}"):  # a power by squaring
                of_all = of_all * factor if bit == "1" else of_all
                factor = factor * factor
        expected = float(np.array((1 - share, share)) @ self._expected)
        first = min(max(round(expected) - size // 2, 0), last)
        law = np.roll(scipy.fft.irfft(of_all, size), -first)  # of the totals from the first on
        place = max((self.total if total is None else total) - first, -1)
        low, high = law[: place + 1].sum(), law[max(place, 0) :].sum()
        return float(np.clip(low, 0.0, 1.0)), float(np.clip(high, 0.0, 1.0))

    def interval(self, confidence: float) -> tuple[float, float]:
        """All shares that neither tail rejects (Clopper & Pearson 1934), within [0, 1].

        A total below what nobody is expected to give is taken as that.
        """
        totals = max(self.total, math.ceil(self._expected[0])), self.total
        tail = (1 - confidence) / 2

        def end(side: int) -> float:
            """The share at which a tail is as likely as that."""

            def excess(share: float) -> float:
                return self.tails(share, totals[side])[side] - tail

            if excess(1.0 - side) >= 0:
                return 1.0 - side
            return float(scipy.optimize.brentq(excess, 0.0, 1.0, xtol=1e-9)) if excess(side) > 0 else float(side)

        return end(1), end(0)


@dataclass(frozen=True)
class Compliance:
    """Who does not comply, by controls.

    Parameters
    ----------
    share : float
        ρ̂, unbiased, so that it may lie below 0.
    standard_error : float
    type_name : str
        The cell of those who do not comply.
    n : float
        How many unweighted answers would be as precise.
    variances : (2,) float
        Var D̄ of one person who complies, and of one who does not.
    violations : (int, int), optional
        How many gave an answer to a control that nobody who complies can give, of how many; None where all answers are
        possible.
    visible : float
        How likely a violation is from people who do not comply.
    expected : (2,) float, optional
        The shares of the telling answer if everybody complies, and if nobody does, where all controls have two values
        and these shares; else None.
    controls : int
        How many controls everybody answers.
    observed : float
        The share that gave a telling answer to some control.
    naive, look : (t,) float
        Unbiased shares as if everybody complied, and what people who do not comply look like there.
    rules_out : bool
        Whether a violation is to rule out what is known to be true.
    law : ScoreLaw, optional
        The exact law of D̄, where it is no binomial and those who do not comply have the larger values.
    of_truth : float
        Var ρ̂ / (1 - ρ)² from the error of the known truth, which is alone in not becoming smaller with n.
    """

    share: float
    standard_error: float
    type_name: str
    n: float
    variances: Floats
    violations: tuple[int, int] | None
    visible: float
    expected: tuple[float, float] | None
    controls: int
    observed: float
    naive: Floats
    look: Floats
    rules_out: bool
    law: ScoreLaw | None = None
    of_truth: float = 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of ρ, within [0, 1], of which the lower end is 0 unless the test rejects that all comply.

        An estimate below 0 gets that of an estimate of 0.

        Examples
        --------
        >>> from naysay import designs, estimate
        >>> survey = designs.controlled(designs.negative(("a", "b", "c", "d")), truth="lot")
        >>> said = [(one, other) for one in "abcd" for other in "abcd"] * 4
        >>> tally = survey.tally(tuple(zip(*said)), sample=[truth for truth in "abcd" for _ in range(16)])
        >>> people = compliance(survey, tally)
        >>> people.violations, round(people.share, 3), [round(end, 3) for end in people.interval()]
        ((16, 64), 1.0, [0.601, 1.0])
        """
        if self.violations is not None:
            amount, tail = self.observed * self.n, (1 - confidence) / 2
            low = scipy.special.betaincinv(amount, self.n - amount + 1, tail) if amount > 0 else 0.0
            high = scipy.special.betaincinv(amount + 1, self.n - amount, 1 - tail) if amount < self.n else 1.0
            ends = np.clip([low / self.visible, high / self.visible, self.share], 0.0, 1.0)
            return float(min(ends)), float(max(ends[1:]))
        if self.law is not None:
            return self.law.interval(confidence)
        (comply, others), share = self.variances, max(self.share, 0.0)
        squared = scipy.special.ndtri(0.5 + confidence / 2) ** 2
        scaled, of_truth = squared / self.n, squared * self.of_truth
        # of {x: square x² - 2 middle x + at_nobody <= 0}, where square <= 0 if few people told the truth of the control
        square = 1 + scaled - of_truth
        middle = share + scaled * (others - comply + 1) / 2 - of_truth
        at_nobody = share**2 - scaled * comply - of_truth
        root = math.sqrt(max(middle**2 - square * at_nobody, 0.0))
        low = at_nobody / (middle + root) if at_nobody > 0 else 0.0
        if (telling := self._telling) is not None:
            amount, answers, nobody, everybody = telling
            tail = (1 - confidence) / 2
            exact = float(scipy.special.betaincinv(amount, answers - amount + 1, tail)) if amount > 0 else 0.0
            if (exact > nobody) != (low > 0):  # only just: the test, which is exact, decides whether all may comply
                low = max((exact - nobody) / (everybody - nobody), 0.0)
        high = (middle + root) / square if square > 0 else 1.0
        return min(low, share, 1.0), min(max(high, share), 1.0)

    @property
    def _telling(self) -> tuple[int, int, float, float] | None:
        """How many answers tell, of how many, and their shares if all comply, and nobody; None if no binomial."""
        if self.expected is None or self.of_truth or abs(self.n - round(self.n)) >= 1e-6:
            return None
        (comply, others), answers = self.expected, round(self.n) * self.controls
        return round(answers * (comply + self.share * (others - comply))), answers, comply, others

    @property
    def p_value(self) -> float:
        """One-sided, of ρ = 0: exact, or by the variance under ρ = 0 where answers have weights or truths an error.

        The interval leaves out 0 where this is below half of what its confidence leaves, such as .025.
        """
        if self.law is not None:
            return self.law.tails(0.0)[1]
        if (telling := self._telling) is not None:
            amount, answers, comply, _ = telling
            return float(scipy.special.bdtrc(amount - 1, answers, comply)) if amount > 0 else 1.0
        variance = self.variances[0] / self.n + self.of_truth
        if variance < _NONE:
            return float(self.observed <= 0)
        return float(scipy.special.ndtr(-self.share / math.sqrt(variance)))

    @property
    def more(self) -> float | None:
        """Half as many again who do not comply; None where there are none, or this is everybody."""
        return 1.5 * self.share if 0 < 1.5 * self.share < 1 else None

    @property
    def tipping(self) -> tuple[int, float] | None:
        """The place of the category that is 0 first if more people did not comply, and their share; None for none.

        With ū = (1 - ρ) π + ρ v, it is 0 at ρ* = ū / v. Of two categories it is the first.
        """
        shares = [
            (float(naive / look), place)
            for place, (naive, look) in enumerate(zip(self.naive, self.look, strict=True))
            if self.share * look < naive < _ALL * look and (place == 0 or len(self.naive) > 2)
        ]
        return min(shares)[::-1] if shares else None

    def sentence(self, confidence: float = 0.95) -> str:
        """How many did not comply, with the interval from the controls alone."""
        return share_sentence(self.type_name, self.share, self.interval(confidence))

    def numbers(self, confidence: float = 0.95) -> dict[str, object]:
        """The share of those who do not comply under the stable names of JSON."""
        return {
            "type": self.type_name,
            "share": self.share,
            "standard_error": self.standard_error,
            "interval": self.interval(confidence),
            "p_value": self.p_value,
            "violations": self.violations and self.violations[0],
        }

    def corrected(self, share: float) -> Floats:
        """The shares (t,) if this share of people did not comply: (ū - ρv) / (1 - ρ)."""
        return np.asarray((self.naive - share * self.look) / (1 - share))


def compliance(design: Answerable, tally: Tally) -> Compliance | None:
    """Who does not comply, by moments; None where the design has no control, or several types of people.

    Raises
    ------
    DataError
        Somebody has answered the question or its control only.
    """
    answered_parts = answering(tally)
    part_controls = [controls_of(design, design.channel(part.level)) for part in answered_parts]
    sample_controls = [controls for controls in part_controls if controls is not None]
    if len(sample_controls) < len(part_controls):
        return None
    if any(np.isnan(part.design.space.statistic(part.codes)).any() for part in answered_parts):
        raise DataError(ONE_ONLY)
    cells, covariance, moves = moment_cells(design, tally)
    share, variance = float(cells[-1]), max(float(covariance[-1, -1]), 0.0)
    moved = float(moves[:, -1] @ moves[:, -1])
    sizes = np.array([part.weight.sum() for part in answered_parts])
    variances = sizes / sizes.sum() @ np.array([controls.variances for controls in sample_controls])
    within = (1 - share) * variances[0] + share * variances[1] + share * (1 - share)
    n = float(tally.n)
    if tally.weighted:
        sampled = variance - moved
        n = min(n, within / sampled) if sampled > 0 and within > 0 else float(tally.effective)
    shows_violations = bool(variances[0] < _NONE) and not moved
    values = [
        controls.values(part.design.space.statistic(part.codes))
        for part, controls in zip(answered_parts, sample_controls, strict=True)
    ]
    told_count, told_weight = (
        sum(
            float(getattr(part, name) @ (part_values > [[signal.cut] for signal in controls.signals]).any(axis=0))
            for part, part_values, controls in zip(answered_parts, values, sample_controls, strict=True)
        )
        for name in ("count", "weight")
    )
    chances = np.array([controls.chances for controls in sample_controls])
    signals = [signal for controls in sample_controls for signal in controls.signals]
    of_signals = np.array([signal.chances for signal in signals])
    has_binomial = all(signal.has_two_values for signal in signals) and np.ptp(of_signals, axis=0).max() < _NONE
    law = None
    if not (has_binomial or shows_violations or tally.weighted or design.uncertain):
        law = _score_law(answered_parts, sample_controls, values)
    return Compliance(
        share,
        math.sqrt(variance),
        str(design.cells[-1]),
        n,
        np.asarray(variances),
        (round(told_count), int(tally.n)) if shows_violations else None,
        float(sizes / sizes.sum() @ chances[:, 1]),
        (float(of_signals[0, 0]), float(of_signals[0, 1])) if has_binomial else None,
        len(sample_controls[0].signals),
        told_weight / float(sizes.sum()),
        cells[:-1] + share * sample_controls[0].look,
        sample_controls[0].look,
        all(controls.rules_out for controls in sample_controls),
        law,
        moved / (1 - share) ** 2 if moved else 0.0,
    )


def complete(tally: Tally) -> Tally | None:
    """The answers of people who left out neither the question nor a control; None where there are none."""
    is_whole = [(part.codes != MISSING).all(axis=1) for part in tally.parts]
    if all(map(np.all, is_whole)):
        return tally
    parts = tuple(
        replace(part, **{name: getattr(part, name)[rows] for name in part.arrays})
        for part, rows in zip(tally.parts, is_whole, strict=True)
    )
    if not any(part.weight.sum() > 0 for part in parts):
        return None
    sampled = None if tally.complex is None else tally.complex.take(np.concatenate(is_whole))
    return replace(tally, parts=parts, complex=sampled)


def _score_law(parts: Sequence[Part], sample_controls: Sequence[Controls], values: Sequence[Floats]) -> ScoreLaw | None:
    """The law of D̄, of which these values (controls, answers) came; None where its tails do not go with ρ.

    Values without a common measure are rounded to the finest grid. The test is exact for the rounded ones, too. Of many
    million people rounding would leave too little, and the law is normal: None.
    """
    people = np.array([part.n for part in parts])
    scores = [[signal.values - signal.values.min() for signal in controls.signals] for controls in sample_controls]
    all_scores = np.concatenate([signal_scores for of_sample in scores for signal_scores in of_sample])
    spans = np.array([sum(np.ptp(signal_scores) for signal_scores in of_sample) for of_sample in scores])
    variances = [(max(controls.variances) + 0.25) * len(controls.signals) ** 2 for controls in sample_controls]
    near = spans.max() * _RAREST / 3  # by Bernstein's inequality (1924)
    width = min(2 * (near + math.sqrt(near**2 + 2 * _RAREST * (people @ variances))), people @ spans)
    units = all_scores[all_scores > 1e-9 * spans.max()].min() / np.arange(1, _FINEST + 1)
    multiples = all_scores / units[:, None]
    is_whole = (np.abs(multiples - multiples.round()).max(axis=1) < 1e-7) & (width < _POINTS * units)
    unit = units[is_whole.argmax()] if is_whole.any() else width / _POINTS
    places = [[(signal_scores / unit).round().astype(int) for signal_scores in of_sample] for of_sample in scores]
    laws = tuple(
        tuple(
            np.array([np.bincount(place, weights=law) for law in (signal.comply, signal.others)])
            for place, signal in zip(of_sample, controls.signals, strict=True)
        )
        for of_sample, controls in zip(places, sample_controls, strict=True)
    )
    goes_along = all(np.cumsum(law[0] - law[1]).min() > -1e-9 for of_sample in laws for law in of_sample)
    if not goes_along or unit**2 > min(variances):
        return None
    total = 0.0
    for part, part_values, controls in zip(parts, values, sample_controls, strict=True):
        least = [[signal.values.min()] for signal in controls.signals]
        total += float((((part_values - least) / unit).round() @ part.count).sum())
    return ScoreLaw(tuple(people.tolist()), laws, round(total), math.ceil(width / unit))


OTHERS_ALIKE = "and right for all only if those are like them"
FOR_OTHERS = f"the estimate is for the others, {OTHERS_ALIKE}"
DENIERS = "people who understand and deny pass every control; no number here sees them"
_FEWEST = 5  # violations, below which the share of those who do not comply rests on single people


def behavior_text(type_name: str) -> str:
    """How people of a type answered, in words."""
    always, _, answer = type_name.partition("always ")
    return f"as if {type_name}" if always or not answer else f"as if they always say “{answer}”"


def about_share(share: float) -> str:
    """An unbiased share, which may lie outside [0, 1], as so many of 100."""
    return f"about {of_hundred(min(max(share, 0.0), 1.0))} of 100"


def share_sentence(type_name: str, share: float, ends: tuple[float, float]) -> str:
    """How many did not comply, with the interval."""
    low, high = map(of_hundred, ends)
    return f"{about_share(share)} answered the control {behavior_text(type_name)} ({low} to {high})"


def sentences(
    people: Compliance,
    shown: Compliance,
    ends: tuple[float, float],
    categories: Sequence[str],
    format_share: Callable[[float], str],
) -> list[str]:
    """What the controls say, what it rests on, and what the shares would be otherwise, one sentence each.

    Shown is what stands in the table, by moments or by likelihood, with the interval of the share of such people.
    """
    lines = []
    if people.violations is not None:
        violated, asked = people.violations
        done = (
            "ruled out what is known to be true"
            if people.rules_out
            else "answered a control as nobody can who complies"
        )
        lines.append(f"{violated:,} of {asked:,} {done}; nobody who followed the instruction can")
    behavior = behavior_text(people.type_name)
    lines.append(f"{share_sentence(people.type_name, shown.share, ends)}; {FOR_OTHERS}")
    lines.append(DENIERS)
    assumed = "this assumes that people treat the sensitive question as they treat the control"
    if shown.more is not None:
        otherwise = _shares(shown.corrected(shown.more), categories, format_share)
        assumed += f"; if half as many again answer it {behavior}, the estimate is {otherwise}"
    lines.append(assumed)
    if (first := shown.tipping) is not None:
        lines.append(
            f"“{categories[first[0]]}” would be 0 if {of_hundred(first[1])} of 100 had answered the question {behavior}"
        )
    naive, corrected = (
        _shares(shares, categories, format_share) for shares in (people.naive, people.corrected(people.share))
    )
    lines.append(
        f"without the control it would be {naive}; by moments with it, which hold also if each answer is at random by "
        f"itself, {corrected}"
    )
    return lines


def _shares(values: Floats, categories: Sequence[str], format_share: Callable[[float], str]) -> str:
    """The share of the first of two categories, or of each."""
    named = list(zip(categories, values.tolist(), strict=True))
    return ", ".join(f"“{name}” {format_share(value)}" for name, value in (named[:1] if len(named) == 2 else named))


def reservations(design: Answerable, tally: Tally) -> list[str]:
    """Warnings that a reader of an estimate with controls needs.

    Raises
    ------
    NotEstimable
        If hardly anybody may be left who complies.
    """
    people = compliance(design, tally)
    if people is None:
        return []
    behavior = behavior_text(people.type_name)
    is_estimated = any(share.of == (people.type_name,) for share in design.nuisance)
    if is_estimated and people.share >= 1 - 2 * people.standard_error:
        raise NotEstimable(
            f"{about_share(people.share)}, and perhaps all, answered the control {behavior}: "
            "hardly anybody may be left whose answers tell the shares; look at how the control was asked"
        )
    low, high = people.interval()
    texts = []
    if people.share < 0:
        texts.append(
            f"fewer answered the control {behavior} than chance alone gives: their share comes out below 0; "
            "maximum likelihood stops at 0"
        )
    if people.violations is not None and 0 < people.violations[0] < _FEWEST:
        texts.append(f"fewer than {_FEWEST} violations: the share of those who do not comply rests on single people")
    if people.rules_out and design.levels == (None,):
        texts.append(
            "one truth for all in the control: people who always name one other category look as if they complied; "
            "draw the truth by lot"
        )
    if high - low > 1 - people.share:
        texts.append("the interval of those who do not comply is wider than the share of those who do; ask more people")
    return texts
