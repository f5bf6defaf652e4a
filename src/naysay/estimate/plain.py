"""Answers to plain questions, with intervals: the shares of answers, and the mean and quartiles of numbers."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Floats
from naysay.designs import direct
from naysay.errors import DataError
from naysay.estimate.estimators import moments
from naysay.estimate.fit import decimals, mean_finding, number_text, shares_finding
from naysay.show import Column, Content, Sentence, Table
from naysay.show.result import Records, Result

_QUARTILES = {"first quartile": 0.25, "median": 0.5, "third quartile": 0.75}


class _Plain(Result):
    """The common part of both kinds of results."""

    question: str
    n: int
    missing: int
    confidence: float

    def parts(self) -> list[Content]:
        return [Sentence(self.question), *self.body()]

    def body(self) -> list[Content]:
        """The parts below the question."""
        column_names, number_rows = self.records()
        missing_text = f"{self.missing:,} missing" if self.missing else "none missing"
        drawn = "drawn by the device" if getattr(self, "weights", ()) else "direct answers, as people gave them"
        count_sentence = (
            f"{_checks.several(self.n, 'answer', 'answers')}, {missing_text}; {self.confidence:.4g} intervals; {drawn}"
        )
        decimal_places = self._places()
        table_rows = tuple(
            (str(row_name), *(_cell_text(value, decimal_places) for value in row_cells))
            for row_name, *row_cells in number_rows
        )
        table_columns = (Column(column_names[0], words=True, width=40), *map(Column, column_names[1:]))
        return [Sentence(count_sentence), Table(table_columns, table_rows)]

    @abstractmethod
    def _places(self) -> int:
        """Decimals that are shown of each number."""


def _cell_text(value: Any, places: int) -> str:
    return f"{value:,}" if isinstance(value, int) else number_text(np.nan if value is None else float(value), places)


@dataclass(frozen=True, eq=False)
class Shares(_Plain):
    """How many people gave each answer to a plain question.

    Parameters
    ----------
    question : str
    labels : tuple of str
        The t possible answers.
    counts : (t,) int
    n, missing : int
        People who answered, and people who did not.
    proportions, standard_errors : (t,) float
    bounds : (t, 2) float
        Intervals; each holds its confidence by itself.
    confidence : float
    weights : tuple of int
        The chances of the answers where a device drew them by lot; empty where people answered.
    strata : str
        The question within whose answers the sizes are compared with that lot; empty for none.
    sizes : {stratum: (t,) int}
        How many completed in each arm, where this is known of a stratum and enough people are in it.
    """

    question: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    n: int
    missing: int
    proportions: Floats
    standard_errors: Floats
    bounds: Floats
    confidence: float
    weights: tuple[int, ...] = ()
    strata: str = ""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def finding(self) -> str:
        """The largest share, or the first of two, with its interval, in one line."""
        return shares_finding(self.labels, self.proportions, self.bounds)

    def body(self) -> list[Content]:
        return [*super().body(), *([Sentence(line) for line in self.lot.lines()] if self.lot else [])]

    @cached_property
    def lot(self) -> LotTest | None:
        """The sizes against the lot; None where people answered."""
        if not self.weights:
            return None
        return LotTest(self.labels, self.weights, self.counts, self.confidence, self.strata, self.sizes)

    def records(self) -> Records:
        columns = (self.labels, self.counts, self.proportions, self.standard_errors, *self.bounds.T)
        return Records(("answer", "count", "share", "s.e.", "low", "high"), list(zip(*columns, strict=True)))

    def _places(self) -> int:
        return decimals(self.standard_errors) or 3

    def numbers(self) -> dict[str, object]:
        field_names = ("question", "n", "missing", "labels", "counts", "proportions", "standard_errors", "confidence")
        plain_numbers = {field_name: getattr(self, field_name) for field_name in field_names}
        return plain_numbers | {"intervals": self.bounds} | ({"lot": self.lot.numbers()} if self.lot else {})


_OUTCOMES = 50_000  # of sizes of three arms or more, up to which a test lists them all
_SPARSE = 5  # people, below which an arm's size is too far from normal for χ²
_DRAWS = 99_999  # of the lot, against which sizes are held then
_DOUBTFUL = 0.001  # the level of a test of the lot below which arms are not what lot made them


@dataclass(frozen=True)
class LotTest:
    """How many completed in each arm, against the chances of the lot.

    Nobody sees who began: a device tells its arm only with its answers. If people leave one arm more often than
    another, the sizes show it: an arm of chance w in which a share c completes, and c' elsewhere, is a share
    θ = wc / (wc + (1 - w)c') of those who completed, so that c / c' = θ/(1 - θ) · (1 - w)/w.

    Parameters
    ----------
    labels : tuple of str
    weights, counts : tuple of int
        Chances, as whole numbers, and people who completed.
    confidence : float
    strata : str
        The question within whose answers arms are compared; empty for none.
    sizes : {stratum: (arms,) int}
        How many completed in each arm of a stratum. The lot is the same in each.

    Examples
    --------
    >>> test = LotTest(("masked", "direct"), (2, 1), (540, 360), 0.95)
    >>> round(test.p_value, 5), [round(end, 3) for end in test.completion(0)]
    (3e-05, [0.75, 0.655, 0.859])
    """

    labels: tuple[str, ...]
    weights: tuple[int, ...]
    counts: tuple[int, ...]
    confidence: float
    strata: str = ""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def test_name(self) -> str:
        """Binomial for two arms, multinomial for more, Pearson's with too many outcomes to list; by draws if sparse."""
        arms = len(self.weights)
        if arms == 2:
            return "exact binomial test"
        if math.comb(sum(self.counts) + arms - 1, arms - 1) <= _OUTCOMES:
            return "exact multinomial test"
        is_sparse = sum(self.counts) * min(self.weights) < _SPARSE * sum(self.weights)
        return f"Pearson's test ({_DRAWS:,} draws of the lot)" if is_sparse else "Pearson's test"

    @cached_property
    def p_value(self) -> float:
        """How likely sizes are under the lot that are as rare as these; by Pearson's test, as far away."""
        chances, n = np.array(self.weights) / sum(self.weights), sum(self.counts)
        if len(self.weights) == 2:
            return float(scipy.stats.binomtest(self.counts[0], n, chances[0]).pvalue)
        if self.test_name.startswith("Pearson's"):
            far = scipy.stats.chisquare(self.counts, n * chances)
            if self.test_name == "Pearson's test":
                return float(far.pvalue)
            draws = np.random.default_rng(0).multinomial(n, chances, _DRAWS)
            as_far = ((draws - n * chances) ** 2 / (n * chances)).sum(axis=1) >= far.statistic * (1 - 1e-9)
            return float(1 + as_far.sum()) / (1 + _DRAWS)
        last = len(chances) - 1
        bars = np.array(list(itertools.combinations(range(n + last), last)))
        outcomes = np.diff(bars, axis=1, prepend=-1, append=n + last) - 1
        law = scipy.stats.multinomial.pmf(outcomes, n, chances)
        own = scipy.stats.multinomial.pmf(self.counts, n, chances)
        return min(float(law[law <= own * (1 + 1e-9)].sum()), 1.0)

    @cached_property
    def within(self) -> dict[str, LotTest]:
        """The test within each stratum."""
        return {
            stratum: LotTest(self.labels, self.weights, counts, self.confidence)
            for stratum, counts in self.sizes.items()
        }

    def completion(self, place: int) -> tuple[float, float, float]:
        """Completion in an arm over that in all others, and its exact interval (Clopper and Pearson 1934)."""
        odds = self.weights[place] / (sum(self.weights) - self.weights[place])
        shares = scipy.stats.binomtest(self.counts[place], sum(self.counts)).proportion_ci(self.confidence, "exact")
        ends = np.array([self.counts[place] / sum(self.counts), *shares])
        with np.errstate(divide="ignore"):
            share, low, high = (ends / (1 - ends) / odds).tolist()
        return share, low, high

    def lines(self) -> list[str]:
        """What it says, and what nobody can see."""
        whole = sum(self.weights)
        chances = ", ".join(
            f"{label} {weight}/{whole}" for label, weight in zip(self.labels, self.weights, strict=True)
        )
        test = self.test_name
        said = [f"drawn by lot on each device, {chances}; {test} of the completed sizes: p = {self.p_value:.3g}"]
        if self.p_value < _DOUBTFUL:
            said.append("warning: the sizes are not those of the lot: people left one arm more often, so arms differ")
        shown = range(1 if len(self.labels) == 2 else len(self.labels))
        ratios = []
        for place in shown:
            ratio, low, high = self.completion(place)
            label, other = self.labels[place], self.labels[1] if len(self.labels) == 2 else "the others"
            ratio_text = f"{ratio:.2f} ({low:.2f} to {high:.2f})"
            if self.counts[place] == 0:
                ratio_text = f"at most {high:.2f} (nobody completed {label})"
            elif math.isinf(ratio):
                ratio_text = f"at least {low:.2f} (nobody completed {other})"
            ratios.append(f"{label} over {other} {ratio_text}")
        said.append(
            "nobody sees who began, for the arm comes with the answers; by these sizes, the chance to complete: "
            + ", ".join(ratios)
        )
        return [*said, *self._lines_within()] if self.strata else said

    def _lines_within(self) -> Iterator[str]:
        """The sizes against the lot within each stratum."""
        if not self.within:
            yield (
                f"sizes within the answers to “{self.strata}” are not shown here, as for too few people or of counts "
                "that are not kept; naysay estimate --survey shows those of ten people or more"
            )
            return
        tests = " and ".join(sorted({f"{test.test_name}" for test in self.within.values()}))
        listed = "; ".join(
            f"{stratum}: "
            + ", ".join(f"{label} {size:,}" for label, size in zip(self.labels, test.counts, strict=True))
            + f", p = {test.p_value:.3g}"
            for stratum, test in self.within.items()
        )
        yield f"within the answers to “{self.strata}” the lot is the same in each; {tests}: {listed}"
        if left_out := sum(self.counts) - sum(sum(test.counts) for test in self.within.values()):
            people_text = _checks.several(left_out, "person is", "people are")
            yield f"{people_text} in none of these: they left it out, or fewer than ten answered like them"
        least, stratum = min((test.p_value, stratum) for stratum, test in self.within.items())
        if least * len(self.within) < _DOUBTFUL:
            yield f"warning: the sizes in “{stratum}” are not those of the lot, so that arms differ there"

    def numbers(self) -> dict[str, object]:
        """The same as a JSON object."""
        return {
            "weights": self.weights,
            "p_value": self.p_value,
            "completion": {label: list(self.completion(place)) for place, label in enumerate(self.labels)},
            **({"strata": self.strata, "within": {name: test.numbers() | {"counts": test.counts}
                                                  for name, test in self.within.items()}} if self.strata else {}),
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Numbers(_Plain):
    """The mean and the quartiles of the numbers that people gave to a plain question.

    Parameters
    ----------
    question : str
    n, missing : int
    rows : {measure: (value, standard error or None, low, high)}
        The mean has an interval of Student's t. Each quartile has an exact interval between two of the numbers given;
        an end is None where there are too few numbers for it.
    confidence : float
    """

    question: str
    n: int
    missing: int
    rows: Mapping[str, tuple[float, float | None, float | None, float | None]]
    confidence: float

    def finding(self) -> str:
        """The mean with its interval, in one line."""
        mean, _, *ends = self.rows["mean"]
        return mean_finding(mean, *(math.nan if end is None else end for end in ends))

    def mean_alone(self) -> Numbers:
        """The same without quartiles, whose intervals end at what some person said."""
        return replace(self, rows={"mean": self.rows["mean"]})

    def records(self) -> Records:
        names = ("measure", "value", "s.e.", "low", "high")
        return Records(names, [[measure_name, *number_row] for measure_name, number_row in self.rows.items()])

    def _places(self) -> int:
        return decimals([self.rows["mean"][1] or 0]) or 2

    def numbers(self) -> dict[str, object]:
        column_names = ("value", "standard_error", "low", "high")
        field_names = ("question", "n", "missing", "confidence")
        return {field_name: getattr(self, field_name) for field_name in field_names} | {
            measure_name: dict(zip(column_names, number_row, strict=True))
            for measure_name, number_row in self.rows.items()
        }


def shares(
    answers: Sequence[Any],
    labels: Sequence[str],
    *,
    count: ArrayLike | None = None,
    question: str = "",
    confidence: float = 0.95,
    weights: Sequence[int] = (),
) -> Shares:
    """How many people gave each answer, and the shares with intervals (Agresti and Coull 1998).

    Parameters
    ----------
    answers : (n,) sequence of label
        None for a person who did not answer.
    labels : (t,) sequence of str
        All possible answers, two or more.
    count : (n,) int, optional
        How many people each answer stands for.
    question : str
    confidence : float
    weights : (t,) sequence of int, optional
        The chances of the answers, where a device drew them by lot.

    Raises
    ------
    DataError
        If nobody answered, or an answer is not one of the labels.

    Examples
    --------
    >>> print(shares(["city"] * 30 + ["country"] * 60 + [None], ["city", "country"], question="area"))
    area
    90 answers, 1 missing; 0.95 intervals; direct answers, as people gave them
    <BLANKLINE>
    answer   count  share   s.e.    low   high
    city        30  0.333  0.050  0.244  0.436
    country     60  0.667  0.050  0.564  0.756
    """
    design = direct(tuple(labels))
    tally = design.tally(list(answers), count=count)
    fit = moments(design, tally)
    share_intervals = fit.intervals(confidence)
    answer_counts = tuple(round(share * fit.n) for share in fit.proportions)
    standard_errors = np.sqrt(np.diagonal(fit.covariance))
    return Shares(
        question,
        tuple(labels),
        answer_counts,
        fit.n,
        fit.missing,
        fit.proportions,
        standard_errors,
        share_intervals.bounds,
        confidence,
        tuple(weights),
    )


def numbers(values: ArrayLike, *, question: str = "", confidence: float = 0.95) -> Numbers:
    """The mean and the quartiles of numbers, with intervals.

    The interval of a quartile lies between two order statistics x(l) and x(u). With B ~ Binomial(n, q), it holds the
    q-quantile with probability at least P(l ≤ B < u).

    Parameters
    ----------
    values : (n,) float
        NaN for a person who did not answer.
    question : str
    confidence : float

    Raises
    ------
    DataError
        If nobody answered.

    Examples
    --------
    >>> found = numbers([float(n) for n in range(1, 100)], question="age")
    >>> found.rows["median"]
    (50.0, None, 40.0, 60.0)

    Source: David and Nagaraja (2003), *Order Statistics*, section 7.1.
    """
    _checks.confidence(confidence)
    number_array = np.asarray(values, dtype=float)
    sorted_numbers = np.sort(number_array[~np.isnan(number_array)])
    n = len(sorted_numbers)
    if not n:
        raise DataError(f"nobody has answered {question!r}" if question else "there are no numbers")
    number_mean = float(sorted_numbers.mean())
    standard_error = float(sorted_numbers.std(ddof=1)) / np.sqrt(n) if n > 1 else None
    rows_by_measure: dict[str, tuple[float, float | None, float | None, float | None]] = {
        "mean": (number_mean, None, None, None)
    }
    if standard_error is not None:
        half_width = float(scipy.stats.t.ppf((1 + confidence) / 2, n - 1)) * standard_error
        rows_by_measure["mean"] = (number_mean, standard_error, number_mean - half_width, number_mean + half_width)
    for quartile_name, quartile_share in _QUARTILES.items():
        rows_by_measure[quartile_name] = (
            float(np.quantile(sorted_numbers, quartile_share)),
            None,
            *_around(sorted_numbers, quartile_share, confidence),
        )
    return Numbers(question, n, len(number_array) - n, rows_by_measure, confidence)


def _around(sorted_numbers: Floats, share: float, confidence: float) -> tuple[float | None, float | None]:
    """The order statistics around a quantile; None on a side where there are too few numbers."""
    tail, n = (1 - confidence) / 2, len(sorted_numbers)
    low = int(scipy.stats.binom.ppf(tail, n, share))  # P(B < low) ≤ tail
    high = int(scipy.stats.binom.ppf(1 - tail, n, share)) + 1  # P(B ≥ high) ≤ tail
    return (
        float(sorted_numbers[low - 1]) if low >= 1 else None,
        float(sorted_numbers[high - 1]) if high <= n else None,
    )
