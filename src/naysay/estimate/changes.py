"""Change between two waves, from the answers of the same people: the mean of d = u(Y₂) - u(Y₁) over people.

u is the unbiased indicator of an answer. The mean of d is unbiased for the change of the proportions under every rule
of asking again in which each wave's own chances are those of its design, and Σ(d - d̄)²/(n(n - 1)) is an honest variance
under all of them: it holds whatever links the two answers of a person. So persons are the lowest unit, always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, check_channel
from naysay.errors import DataError, StatisticalWarning
from naysay.estimate.linear import Floats, linear_map, plainly_apart
from naysay.responses import Responses, cells_of
from naysay.sampling import Sampled, Sampling
from naysay.show import Column, Content, Note, Sentence, Table, text
from naysay.show.text import csv_text
from naysay.show.text import plain as plainly

RULES = {
    "fresh": "each wave drew a new answer",
    "kept": "an answer was kept for each value: only people whose value changed add noise, and two different answers "
    "of a person prove a change",
    "redraw": "some people whose value stayed drew a new answer, the others kept theirs",
    "memory": "a kept report was sent with new noise in each wave",
    "never": "an answer was kept even where the value had changed: the change is that of the others alone, (1 - f) "
    "times the true one if a share f of those who changed kept their answer",
}
"""How people answered again, and what that means for the change."""

_SMALL = 30  # fewer people than this, and the normal law is rough
_ENTRIES = 30_000_000  # largest array of people × categories, in entries (240 MB)
_LISTED = 1_000_000  # largest table that agreement by chance is computed from, in entries
_UNLIKELY = 4.0  # standard errors


@dataclass(frozen=True, eq=False)
class Change:
    """The change of proportions between two waves.

    Parameters
    ----------
    categories : (t,) tuple of label
    difference : (t,) float
        Second wave less first.
    covariance : (t, t) float
    first, second : (t,) float
        The proportions of each wave, from all who answered in it.
    both, only_first, only_second : int
        People who answered in both waves, and in one of them.
    share_paired : float
        The weight of those in both waves: the inverse of its variance against that of the others.
    rule : str
        How people answered again; see `RULES`.
    degrees_of_freedom : float
    standard_error_kind : str
    warnings : tuple of StatisticalWarning
    """

    categories: tuple[Any, ...]
    difference: Floats
    covariance: Floats
    first: Floats
    second: Floats
    both: int
    only_first: int
    only_second: int
    share_paired: float
    rule: str
    degrees_of_freedom: float = math.inf
    standard_error_kind: str = "persons as units"
    warnings: tuple[StatisticalWarning, ...] = ()

    @cached_property
    def standard_errors(self) -> Floats:
        """(t,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Intervals of the differences, (t, 2), inside [-1, 1]."""
        half = scipy.stats.t(self.degrees_of_freedom).ppf(0.5 + _checks.confidence(confidence) / 2)
        ends = self.difference[:, None] + np.array([-1.0, 1.0]) * half * self.standard_errors[:, None]
        return np.asarray(np.clip(ends, -1.0, 1.0))

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The change as JSON would hold it; numbers are not rounded."""
        low, high = self.interval(confidence).T
        json_content = {
            "categories": list(self.categories),
            "change": self.difference,
            "standard_errors": self.standard_errors,
        }
        json_content |= {"low": low, "high": high, "confidence": confidence, "first": self.first, "second": self.second}
        json_content |= {"both": self.both, "only_first": self.only_first, "only_second": self.only_second}
        json_content |= {
            "share_paired": self.share_paired,
            "rule": self.rule,
            "warnings": list(map(str, self.warnings)),
        }
        return {name: plainly(value) for name, value in json_content.items()}

    def to_csv(self, confidence: float = 0.95) -> str:
        """A row for each category."""
        low, high = self.interval(confidence).T
        columns = (self.categories, self.first, self.second, self.difference, self.standard_errors, low, high)
        head = ("category", "first", "second", "change", "standard_error", "low", "high")
        return csv_text([head, *zip(*(np.asarray(column).tolist() for column in columns), strict=True)])

    def sections(self, confidence: float = 0.95) -> list[Content]:
        """The change in the vocabulary of `naysay.show`."""
        names = ("first wave", "second wave", "change", "s.e.", "low", "high")
        ends = self.interval(confidence)
        numbers = np.column_stack([self.first, self.second, self.difference, self.standard_errors, ends])
        rows = tuple(
            (_checks.label(label), *(f"{value:.4f}" for value in row))
            for label, row in zip(self.categories, numbers.tolist(), strict=True)
        )
        unpaired_text = f"{self.only_first:,} in the first wave only, {self.only_second:,} in the second only"
        people_text = f"{self.both:,} people in both waves" + (
            f", {unpaired_text}" if self.only_first + self.only_second else ""
        )
        errors = f"{confidence:.4g} intervals; standard errors: {self.standard_error_kind}"
        return [
            Sentence("Change between two waves"),
            Sentence(f"{people_text}; {errors}"),
            Sentence(f"rule of asking again ({self.rule}): {RULES[self.rule]}"),
            Table((Column("category", words=True, width=40), *map(Column, names)), rows),
            *(Note(str(warning)) for warning in self.warnings),
        ]

    def __str__(self) -> str:
        return text(self.sections())


def change(
    design: Answerable,
    first: Any,
    second: Any,
    *,
    column: str | None = None,
    person: str | None = None,
    after: Answerable | None = None,
    rule: str | None = None,
    weights: Any = None,
    sampling: Sampling | None = None,
) -> Change:
    """The change of the proportions between two waves of a panel.

    People in both waves are compared with themselves. If some answered in one wave only, the estimate from the pairs
    and that from the others are combined by the inverse of their variances.

    Parameters
    ----------
    design : Design
        How the first wave was randomized.
    first, second : (n,) answers, or dataframes
        A row for each person, None where they did not answer. With `person`, dataframes in any order.
    column, person : str, optional
        With dataframes: the column of answers, and that of the persons' identifiers, each once in each wave.
    after : Design, optional
        How the second wave was randomized, if otherwise; about the same categories.
    rule : {"fresh", "kept", "redraw", "memory", "never"}, optional
        How people answered again; see `RULES`. By default "memory" for designs that remember, otherwise "fresh". No
        number depends on it, but what the change means does, and a warning is given where the answers contradict it.
    weights : (n,) float or column name, optional
        Survey weights of the persons; of the later wave, where both dataframes have the column.
    sampling : Sampling, optional
        Strata, clusters and so on of the persons. A person is the lowest unit.

    Raises
    ------
    DataError
        Waves of different lengths, a person who comes twice or has no identifier, nobody in both waves, columns that
        do not exist, an unknown rule.
    AnswerError
        An answer that the design cannot produce.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, rng = designs.warner(p=0.8), np.random.default_rng(4)
    >>> before = rng.choice(["yes", "no"], 5_000, p=[0.3, 0.7])
    >>> now = np.where(rng.random(5_000) < 0.1, "yes", before)
    >>> found = change(survey, survey.randomize(before, rng=rng), survey.randomize(now, rng=rng))
    >>> found.difference.round(3), found.standard_errors.round(4)
    (array([ 0.065, -0.065]), array([0.0138, 0.0138]))
    """
    first_design = check_channel(design, "the design of the first wave")
    second_design = first_design if after is None else check_channel(after, "the design of the second wave")
    if first_design.categories != second_design.categories:
        raise DataError("both waves must be about the same categories, in the same order")
    panel_rule = rule or ("memory" if first_design.kind == second_design.kind == "remembered" else "fresh")
    if panel_rule not in RULES:
        raise DataError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    if sampling is not None and weights is not None:
        sampling, weights = sampling.weighted(weights), None
    plan = sampling if sampling is not None else Sampling(weights=weights)
    if person is not None or column is not None:
        wave_answers, values_of_column = _join_by_person(first, second, column, person, plan)
    else:
        wave_answers, values_of_column = (first, second), lambda column_or_values: column_or_values
    waves = tuple(
        answers if isinstance(answers, Responses) else wave.encode(answers)
        for wave, answers in zip((first_design, second_design), wave_answers, strict=True)
    )
    if len(waves[0]) != len(waves[1]):
        raise DataError(
            f"both waves must have a row for each person; got {len(waves[0])} and {len(waves[1])} (put None where "
            "somebody did not answer, or name a column of persons: person='id')"
        )
    if waves[0].space != first_design.space or waves[1].space != second_design.space:
        raise DataError("these responses were given to another design: their response spaces differ")
    return _change_of_waves(
        (first_design, second_design), waves, plan, values_of_column, panel_rule, complex_=sampling is not None
    )


def _change_of_waves(
    designs: tuple[Design, Design],
    waves: tuple[Responses, ...],
    plan: Sampling,
    column: Callable[[Any], Any],
    rule: str,
    *,
    complex_: bool,
) -> Change:
    first, second = (~wave.missing for wave in waves)
    answered = np.flatnonzero(first | second)
    group = np.where(first & second, 0, np.where(first, 1, 2))[answered]
    counts = np.bincount(group, minlength=3)
    if counts[0] < 2:
        raise DataError(
            f"at least two people must have answered in both waves; {counts[0]} did (are their identifiers alike?)"
        )
    codes = np.column_stack([*(wave.codes[answered] for wave in waves), group])
    items, place = np.unique(codes, axis=0, return_inverse=True)
    if len(items) * len(designs[0].categories) > _ENTRIES:
        raise DataError(
            f"{len(items):,} different pairs of answers about {len(designs[0].categories):,} categories take too long; "
            "take a part of the panel, or merge categories first"
        )
    if complex_:
        item = np.full(len(first), -1, dtype=np.intp)
        item[answered] = place.reshape(-1)
        sampled = plan.rows(len(first), column=column).collapsed(item, len(items))
    else:  # people in both waves, in the first only and in the second only are three samples
        grouped_plan = replace(plan, strata=group, lonely="certainty")
        rows = grouped_plan.rows(
            len(answered),
            column=lambda column_or_values: (
                column_or_values if column_or_values is group else np.asarray(column(column_or_values))[answered]
            ),
        )
        sampled = rows.collapsed(place.reshape(-1), len(items))
    width = waves[0].codes.shape[1]
    u = (
        _indicators(designs[0], items[:, :width], items[:, -1] != 2),
        _indicators(designs[1], items[:, width:-1], items[:, -1] != 1),
    )
    sentences = _warnings(designs, waves, first & second, rule)
    change_fields = _combine_estimates(u, items[:, -1], counts.tolist(), sampled)
    degrees = sampled.degrees_of_freedom if complex_ else math.inf
    by = f"{sampled.by}; " if complex_ or plan.weights is not None else ""
    return Change(
        **change_fields,
        categories=designs[0].categories,
        rule=rule,
        degrees_of_freedom=degrees,
        standard_error_kind=f"{by}a person is the lowest unit",
        warnings=tuple(map(StatisticalWarning, sentences)),
    )


def _combine_estimates(
    u: tuple[Floats, Floats], kinds: NDArray[Any], counts: list[int], sampled: Sampled
) -> dict[str, Any]:
    """The paired and the unpaired estimate by inverse variance, as one linearized mean."""
    weight, squared = sampled.weight, sampled.squared
    pairs, early, late = ((kinds == kind) & (weight > 0) for kind in range(3))

    def mean(values: Floats, rows: NDArray[np.bool_]) -> tuple[Floats, float]:
        """The weighted mean of some rows, and its variance summed over the categories."""
        total_weight = weight[rows].sum()
        centre = weight[rows] @ values[rows] / total_weight
        return centre, float((squared[rows] / total_weight**2 @ (values[rows] - centre) ** 2).sum())

    d = u[1] - u[0]
    (paired, noise), part, scores = mean(d, pairs), 1.0, np.zeros_like(d)
    difference = paired
    if min(counts[1:]) >= 2 and early.any() and late.any():
        (before, early_noise), (after, late_noise) = mean(u[0], early), mean(u[1], late)
        part = (early_noise + late_noise) / (noise + early_noise + late_noise)
        difference = part * paired + (1 - part) * (after - before)
        scores[early] = (part - 1) * (u[0][early] - before) / weight[early].sum()
        scores[late] = (1 - part) * (u[1][late] - after) / weight[late].sum()
    scores[pairs] = part * (d[pairs] - paired) / weight[pairs].sum()
    # A finite population takes sampling error off, but not the noise of answers: here nothing is taken off.
    covariance = sampled.covariance(scores) + scores.T @ (scores * sampled.kept[:, None])
    change_fields = {"difference": difference, "covariance": covariance, "share_paired": part}
    change_fields |= {"first": mean(u[0], pairs | early)[0], "second": mean(u[1], pairs | late)[0]}
    return change_fields | dict(zip(("both", "only_first", "only_second"), counts, strict=True))


def _indicators(design: Design, codes: NDArray[np.int64], has_answer: NDArray[np.bool_]) -> Floats:
    """The unbiased indicators of these answers, (items, t); zero where there is none."""
    result = np.zeros((len(codes), len(design.categories)))
    statistic = design.space.statistic(codes[has_answer])
    if design.pure and plainly_apart(design):
        alpha, beta = design.even_mean or (math.nan, math.nan)
        result[has_answer] = (statistic - beta) / alpha
    else:
        result[has_answer] = linear_map(design)(statistic)
    return result


def _warnings(
    designs: tuple[Design, Design], waves: tuple[Responses, ...], answered_both: NDArray[np.bool_], rule: str
) -> list[str]:
    """What the answers say against the rule that is named, and what the rule says of the change."""
    n, sentences = int(answered_both.sum()), []
    if n < _SMALL:
        sentences.append(f"only {n} people answered in both waves: intervals from the normal law are rough")
    if rule == "never":
        sentences.append("answers were kept whatever became of the value: this is not the change of the population")
    if designs[0] != designs[1]:
        return sentences
    same_share = float((waves[0].codes == waves[1].codes).all(axis=1)[answered_both].mean())
    if same_share == 1.0 and rule != "never":
        sentences.append("everybody gave the same answer twice: either nothing changed, or nobody was asked again")
    elif rule == "fresh" and designs[0].listed and designs[0].space.size * len(designs[0].categories) <= _LISTED:
        most_expected = float((designs[0].matrix ** 2).sum(axis=0).max())  # of two draws, if nobody's value changed
        if same_share > most_expected + _UNLIKELY * math.sqrt(most_expected * (1 - most_expected) / n):
            sentences.append(
                f"{same_share:.1%} gave the same answer twice; new draws would agree in {most_expected:.1%} at most. "
                "Answers were kept: name the rule"
            )
    return sentences


def _join_by_person(
    first: Any, second: Any, column: str | None, person: str | None, plan: Sampling
) -> tuple[tuple[list[Any], list[Any]], Callable[[Any], Any]]:
    """The answers of both waves by person, and the other columns, of the later wave where both have them."""
    if column is None or person is None:
        raise DataError("with dataframes, name both: the column of answers and that of the persons' identifiers")
    frames = [_eager(wave_table) for wave_table in (first, second)]
    places: list[dict[Any, int]] = []
    for wave, frame in enumerate(frames, 1):
        for name in (column, person):
            if name not in frame.columns:
                raise DataError(f"wave {wave}: {_checks.no_column(name, frame.columns)}", column=name)
        places.append(_rows_by_person(frame[person].to_list(), person, wave))
    people = list(dict.fromkeys([*places[0], *places[1]]))
    rows = [[place.get(person_id) for person_id in people] for place in places]

    def cells_by_person(wave: int, name: str) -> list[Any]:
        cells = cells_of(frames[wave][name])
        return [None if row is None else cells[row] for row in rows[wave]]

    def values(column_or_values: Any) -> Any:
        if not isinstance(column_or_values, str):
            return column_or_values
        waves_with_column = [wave for wave in (1, 0) if column_or_values in frames[wave].columns]
        if not waves_with_column:
            raise DataError(_checks.no_column(column_or_values, frames[1].columns), column=column_or_values)
        merged = cells_by_person(waves_with_column[0], column_or_values)
        for wave in waves_with_column[1:]:
            merged = [
                other if cell is None else cell
                for cell, other in zip(merged, cells_by_person(wave, column_or_values), strict=True)
            ]
        return merged

    return (cells_by_person(0, column), cells_by_person(1, column)), values


def _eager(data: Any) -> Any:
    import narwhals as nw  # late: people by row need no dataframes

    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        raise DataError(f"with `person`, both waves must be dataframes; got {type(data).__name__}")
    return frame


def _rows_by_person(people: Sequence[Any], person: str, wave: int) -> dict[Any, int]:
    """The row of each person."""
    row_of: dict[Any, int] = {}
    for row, person_id in enumerate(people):
        if _checks.is_missing(person_id):
            raise DataError(f"row {row + 1} of wave {wave} has no {person!r}; every row needs its person", row=row)
        if person_id in row_of:
            raise DataError(
                f"{person_id!r} comes twice in wave {wave}, in rows {row_of[person_id] + 1} and {row + 1}; a person "
                "answers once a wave",
                row=row,
                value=person_id,
            )
        row_of[person_id] = row
    return row_of
