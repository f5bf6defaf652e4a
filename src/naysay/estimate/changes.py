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
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Floats, Label
from naysay.design import Samples
from naysay.design.base import Answerable, Design, check_channel
from naysay.errors import DataError, NotEstimable, StatisticalWarning
from naysay.estimate.compliance import (
    DENIERS,
    ONE_ONLY,
    OTHERS_ALIKE,
    Compliance,
    about_share,
    behavior_text,
    compliance,
)
from naysay.estimate.linear import linear_map
from naysay.estimate.samples import controls_of, moves_of
from naysay.responses import Responses, cells_of
from naysay.sampling import Sampled, Sampling
from naysay.show import Column, Content, Note, Points, Sentence, Table, plain
from naysay.show.result import Records, Result, csv_text, percent

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
class Change(Result):
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
    compliance : tuple of str
        What the shares of those who did not comply mean for the change, and what it would be without the controls.
    people : tuple of (str, Compliance)
        The waves that have controls, each with who did not comply in it.
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
    compliance: tuple[str, ...] = ()
    people: tuple[tuple[str, Compliance], ...] = ()
    warnings: tuple[StatisticalWarning, ...] = ()

    @cached_property
    def standard_errors(self) -> Floats:
        """(t,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Intervals of the differences, (t, 2), inside [-1, 1]."""
        t_quantile = scipy.stats.t(self.degrees_of_freedom).ppf(0.5 + _checks.confidence(confidence) / 2)
        interval_ends = self.difference[:, None] + np.array([-1.0, 1.0]) * t_quantile * self.standard_errors[:, None]
        return np.asarray(np.clip(interval_ends, -1.0, 1.0))

    def numbers(self, confidence: float = 0.95) -> dict[str, object]:
        """The change under the stable names of JSON; numbers are not rounded."""
        low_ends, high_ends = self.interval(confidence).T
        return {
            "categories": self.categories,
            "change": self.difference,
            "standard_errors": self.standard_errors,
            "low": low_ends,
            "high": high_ends,
            "confidence": confidence,
            "first": self.first,
            "second": self.second,
            "both": self.both,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "share_paired": self.share_paired,
            "rule": self.rule,
            "compliance": self._compliance_lines(confidence),
            "noncompliance": [people.numbers(confidence) | {"wave": wave} for wave, people in self.people],
            "warnings": list(map(str, self.warnings)),
        }

    def _compliance_lines(self, confidence: float) -> tuple[str, ...]:
        """Who did not comply, with intervals from the controls of each wave alone, and what that means."""
        waves = (f"{wave} wave: {people.sentence(confidence)}" for wave, people in self.people)
        return (*waves, *self.compliance)

    def records(self, confidence: float = 0.95) -> Records:
        """A row for each category."""
        columns = (
            self.categories,
            *(self.first, self.second, self.difference, self.standard_errors, *self.interval(confidence).T),
        )
        names = ("category", "first", "second", "change", "standard_error", "low", "high")
        return Records(names, list(zip(*(np.asarray(column).tolist() for column in columns), strict=True)))

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The change as one JSON object."""
        json_object: dict[str, Any] = plain(self.numbers(confidence))
        return json_object

    def to_csv(self, confidence: float = 0.95) -> str:
        """A row for each category, not rounded."""
        column_names, rows = self.records(confidence)
        return csv_text([column_names, *rows])

    def parts(self, confidence: float = 0.95) -> list[Content]:
        return [Sentence("Change between two waves"), *self.body(confidence)]

    def body(self, confidence: float = 0.95) -> list[Content]:
        """The parts below the heading."""
        column_names = ("first wave", "second wave", "change", "s.e.", "low", "high")
        interval_ends = self.interval(confidence)
        number_rows = np.column_stack([self.first, self.second, self.difference, self.standard_errors, interval_ends])
        table_rows = tuple(
            (_checks.label(category_label), *(f"{value:.4f}" for value in number_row))
            for category_label, number_row in zip(self.categories, number_rows.tolist(), strict=True)
        )
        unpaired_text = f"{self.only_first:,} in the first wave only, {self.only_second:,} in the second only"
        people_text = f"{self.both:,} people in both waves" + (
            f", {unpaired_text}" if self.only_first + self.only_second else ""
        )
        errors_text = f"{confidence:.4g} intervals; standard errors: {self.standard_error_kind}"
        return [
            Sentence(f"{people_text}; {errors_text}"),
            Sentence(f"rule of asking again ({self.rule}): {RULES[self.rule]}"),
            Table((Column("category", words=True, width=40), *map(Column, column_names)), table_rows),
            *([Points(self._compliance_lines(confidence))] if self.people else []),
            *(Note(str(warning)) for warning in self.warnings),
        ]


def change(
    design: Answerable,
    first: object,
    second: object,
    *,
    column: str | Sequence[str] | None = None,
    person: str | None = None,
    sample: str | None = None,
    after: Answerable | None = None,
    rule: str | None = None,
    weights: ArrayLike | None = None,
    sampling: Sampling | None = None,
) -> Change:
    """The change of the proportions between two waves of a panel.

    People in both waves are compared with themselves. If some answered in one wave only, the estimate from the pairs
    and that from the others are combined by the inverse of their variances.

    Parameters
    ----------
    design : Design
        How the first wave was randomized. With controls (`designs.controlled`) the shares of each wave are those
        among people who comply in it.
    first, second : (n,) answers, or dataframes
        A row for each person, None where they did not answer. With `person`, dataframes in any order.
    column, person : str, optional
        With dataframes: the column of answers, and that of the persons' identifiers, each once in each wave. With
        controls, the columns of the question and of its controls.
    sample : str, optional
        With dataframes and controls: the column of the truth, where it differs between people.
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
    NotEstimable
        Controls that show hardly anybody who complies.

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
    first_design = _wave_design(design, "the design of the first wave")
    second_design = first_design if after is None else _wave_design(after, "the design of the second wave")
    if first_design.categories != second_design.categories:
        raise DataError("both waves must be about the same categories, in the same order")
    panel_rule = rule or ("memory" if first_design.kind == second_design.kind == "remembered" else "fresh")
    if panel_rule not in RULES:
        raise DataError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    if sampling is not None and weights is not None:
        sampling, weights = sampling.weighted(weights), None
    sampling_plan = sampling if sampling is not None else Sampling(weights=weights)
    wave_answers: tuple[object, ...]
    if person is not None or column is not None:
        columns = (column,) if column is None or isinstance(column, str) else tuple(column)
        values_by_column, values_of_column = _join_by_person(first, second, columns, person, sampling_plan, sample)
        wave_answers = tuple(
            _encoded(wave_design, answers)
            for wave_design, answers in zip((first_design, second_design), values_by_column, strict=True)
        )
    else:
        wave_answers, values_of_column = (first, second), lambda column_or_values: column_or_values
    wave_responses = tuple(
        answers if isinstance(answers, Responses) else wave_design.encode(answers)
        for wave_design, answers in zip((first_design, second_design), wave_answers, strict=True)
    )
    if len(wave_responses[0]) != len(wave_responses[1]):
        raise DataError(
            f"both waves must have a row for each person; got {len(wave_responses[0])} and {len(wave_responses[1])} "
            "(put None where somebody did not answer, or name a column of persons: person='id')"
        )
    if wave_responses[0].space != first_design.space or wave_responses[1].space != second_design.space:
        raise DataError("these responses were given to another design: their response spaces differ")
    return _change_of_waves(
        (first_design, second_design),
        wave_responses,
        sampling_plan,
        values_of_column,
        panel_rule,
        complex_=sampling is not None,
    )


def _wave_design(design: Answerable, role: str) -> Design | Samples:
    """The design, if it is a single channel, or one with controls that show one type of people who do not comply."""
    if isinstance(design, Samples) and all(controls_of(design, channel) for channel in design.designs):
        return design
    return check_channel(design, role)


def _encoded(design: Design | Samples, answers: list[list[Any]]) -> Responses:
    """The answers in the columns of one wave; the last column is that of samples, where there are several."""
    if not isinstance(design, Samples):
        return design.encode(answers[0] if len(answers) == 1 else tuple(answers))
    columns, level = (answers, None) if design.single else (answers[:-1], answers[-1])
    if len(columns) != design.space.answers:
        raise DataError(
            f"{design.name} needs {design.space.answers} columns of answers, to the question and to its controls"
            f"{'' if design.single else ', and sample=, the column of the truth'}; got {len(answers)}"
        )
    if level is not None:
        no_answer = [all(map(_checks.is_missing, row)) for row in zip(*columns, strict=True)]
        level = [design.names[0] if empty else cell for cell, empty in zip(level, no_answer, strict=True)]
    return design.encode(tuple(columns), level)


def _change_of_waves(
    designs: tuple[Design | Samples, ...],
    waves: tuple[Responses, ...],
    plan: Sampling,
    column: Callable[[Any], Any],
    rule: str,
    *,
    complex_: bool,
) -> Change:
    answered_first, answered_second = (~wave_responses.missing for wave_responses in waves)
    answered_rows = np.flatnonzero(answered_first | answered_second)
    wave_group = np.where(answered_first & answered_second, 0, np.where(answered_first, 1, 2))[answered_rows]
    group_counts = np.bincount(wave_group, minlength=3)
    if group_counts[0] < 2:
        raise DataError(
            f"at least two people must have answered in both waves; {group_counts[0]} did "
            "(are their identifiers alike?)"
        )
    wave_codes = [_codes_with_sample(*wave)[answered_rows] for wave in zip(designs, waves, strict=True)]
    item_codes = np.column_stack([*wave_codes, wave_group])
    distinct_items, answered_items = np.unique(item_codes, axis=0, return_inverse=True)
    if len(distinct_items) * len(designs[0].categories) > _ENTRIES:
        raise DataError(
            f"{len(distinct_items):,} different pairs of answers about {len(designs[0].categories):,} categories "
            "take too long; take a part of the panel, or merge categories first"
        )
    if complex_:
        item_places = np.full(len(answered_first), -1, dtype=np.intp)
        item_places[answered_rows] = answered_items.reshape(-1)
        sampled = plan.rows(len(answered_first), column=column).collapsed(item_places, len(distinct_items))
    else:  # people in both waves, in the first only and in the second only are three samples
        grouped_plan = replace(plan, strata=wave_group, lonely="certainty")
        sampled_rows = grouped_plan.rows(
            len(answered_rows),
            column=lambda column_or_values: (
                column_or_values
                if column_or_values is wave_group
                else np.asarray(column(column_or_values))[answered_rows]
            ),
        )
        sampled = sampled_rows.collapsed(answered_items.reshape(-1), len(distinct_items))
    code_width = wave_codes[0].shape[1]
    kinds = distinct_items[:, -1]
    item_codes_of_waves = (distinct_items[:, :code_width], distinct_items[:, code_width:-1])

    def estimated(wave_designs: Sequence[Design | Samples]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields of the change among people who comply, and those as if everybody complied."""
        u = [
            _indicators(design, codes, kinds != other)
            for design, codes, other in zip(wave_designs, item_codes_of_waves, (2, 1), strict=True)
        ]
        corrected = [
            _among_compliers(design, indicators, np.where(kinds != other, sampled.weight, 0.0), wave)
            for design, indicators, other, wave in zip(wave_designs, u, (2, 1), _WAVES, strict=True)
        ]
        counts = group_counts.tolist()
        among_compliers, among_all = (
            _combine_estimates(pair, kinds, counts, sampled) for pair in zip(*corrected, strict=True)
        )
        return among_compliers, among_all

    warning_texts = _warnings(designs, waves, answered_first & answered_second, rule)
    change_fields, naive = estimated(designs)
    moved = [estimated(moved_designs)[0]["difference"] for moved_designs in _moved_together(designs)]
    moves = moves_of(change_fields["difference"], moved)
    change_fields["covariance"] = change_fields["covariance"] + moves.T @ moves
    people = _compliance_of_waves(designs, waves, plan, column)
    meaning: tuple[str, ...] = ()
    if people:
        named = zip(designs[0].categories, naive["difference"].tolist(), strict=True)
        changes_text = ", ".join(f"“{_checks.label(label)}” {value:+.4f}" for label, value in named)
        meaning = (
            f"the change is that of the others, {OTHERS_ALIKE}",
            DENIERS,
            f"without the controls, as if everybody had followed the instruction, it is {changes_text}",
        )
    degrees = sampled.degrees_of_freedom if complex_ else math.inf
    sampling_text = f"{sampled.by}; " if complex_ or plan.weights is not None else ""
    return Change(
        **change_fields,
        categories=designs[0].categories,
        rule=rule,
        degrees_of_freedom=degrees,
        standard_error_kind=f"{sampling_text}a person is the lowest unit",
        compliance=meaning,
        people=people,
        warnings=tuple(map(StatisticalWarning, warning_texts)),
    )


def _combine_estimates(u: tuple[Floats, Floats], kinds: Array, counts: list[int], sampled: Sampled) -> dict[str, Any]:
    """The paired and the unpaired estimate by inverse variance, as one linearized mean."""
    weight, squared = sampled.weight, sampled.squared
    is_pair, is_early, is_late = ((kinds == kind) & (weight > 0) for kind in range(3))

    def weighted_mean(values: Floats, rows: NDArray[np.bool_]) -> tuple[Floats, float]:
        """The weighted mean of some rows, and its variance summed over the categories."""
        total_weight = weight[rows].sum()
        centre = weight[rows] @ values[rows] / total_weight
        return centre, float((squared[rows] / total_weight**2 @ (values[rows] - centre) ** 2).sum())

    d = u[1] - u[0]
    (paired_mean, paired_noise), paired_share, item_scores = weighted_mean(d, is_pair), 1.0, np.zeros_like(d)
    difference = paired_mean
    if min(counts[1:]) >= 2 and is_early.any() and is_late.any():
        (early_mean, early_noise), (late_mean, late_noise) = weighted_mean(u[0], is_early), weighted_mean(u[1], is_late)
        paired_share = (early_noise + late_noise) / (paired_noise + early_noise + late_noise)
        difference = paired_share * paired_mean + (1 - paired_share) * (late_mean - early_mean)
        item_scores[is_early] = (paired_share - 1) * (u[0][is_early] - early_mean) / weight[is_early].sum()
        item_scores[is_late] = (1 - paired_share) * (u[1][is_late] - late_mean) / weight[is_late].sum()
    item_scores[is_pair] = paired_share * (d[is_pair] - paired_mean) / weight[is_pair].sum()
    # A finite population takes sampling error off, but not the noise of answers: here nothing is taken off.
    covariance = sampled.covariance(item_scores) + item_scores.T @ (item_scores * sampled.kept[:, None])
    change_fields = {"difference": difference, "covariance": covariance, "share_paired": paired_share}
    change_fields |= {
        "first": weighted_mean(u[0], is_pair | is_early)[0],
        "second": weighted_mean(u[1], is_pair | is_late)[0],
    }
    return change_fields | dict(zip(("both", "only_first", "only_second"), counts, strict=True))


_WAVES = ("first", "second")


def _codes_with_sample(design: Design | Samples, responses: Responses) -> NDArray[np.int64]:
    """The codes of responses, and in one column more the place of the sample that each is of."""
    places = np.zeros(len(responses), dtype=np.int64)
    if isinstance(design, Samples) and not design.single:
        place_of_name = {name: place for place, name in enumerate(design.names)}
        places[:] = [place_of_name[name] for name in np.asarray(responses.level).tolist()]
    return np.column_stack([responses.codes, places])


def _moved_together(designs: Sequence[Design | Samples]) -> list[tuple[Design | Samples, Design | Samples]]:
    """The designs of both waves, moved by each estimated number that they rest on; what both rest on moves both."""
    first, second = designs
    moved_first, moved_second = (design.uncertain if isinstance(design, Samples) else () for design in designs)
    if first == second:
        return [(moved, moved) for moved in moved_first]
    return [*((moved, second) for moved in moved_first), *((first, moved) for moved in moved_second)]


def _compliance_of_waves(
    designs: Sequence[Design | Samples], waves: Sequence[Responses], plan: Sampling, column: Callable[[Any], Any]
) -> tuple[tuple[str, Compliance], ...]:
    """The waves with controls, each with who does not comply, from all who answered in it."""
    plan = replace(
        plan,
        **{
            name: column(value)
            for name in ("weights", "strata", "clusters", "fpc")
            if (value := getattr(plan, name)) is not None
        },
        totals=[(column(margin), totals) for margin, totals in plan.margins],
        replicates=list(map(column, plan.replicate_columns)) or plan.replicates,
    )
    people = []
    for wave, design, responses in zip(_WAVES, designs, waves, strict=True):
        if isinstance(design, Samples):
            by_controls = compliance(design, design.tally(responses, sampling=plan if plan.columns else None))
            people += [] if by_controls is None else [(wave, by_controls)]
    return tuple(people)


def _among_compliers(design: Design | Samples, indicators: Floats, weight: Floats, wave: str) -> tuple[Floats, Floats]:
    """The indicators (items, t) whose mean is the share among people who comply; those without controls.

    With D the last indicator and a the others, π̂ = ā/(1 - D̄), linearized: π̂ + (a - (1 - D)π̂)/(1 - D̄).
    """
    if not isinstance(design, Samples):
        return indicators, indicators
    categories, departs = indicators[:, :-1], indicators[:, -1]
    total = weight.sum()
    share = float(weight @ departs / total)
    error = math.sqrt(float(weight @ (departs - share) ** 2) / total**2)
    if share >= 1 - 2 * error:
        raise NotEstimable(
            f"{wave} wave: {about_share(share)} answered the control "
            f"{behavior_text(str(design.nuisance[0].name))}: hardly anybody may be left whose answers tell the shares; "
            "look at how the control was asked"
        )
    shares = weight @ categories / total / (1 - share)
    linear = shares + (categories - np.outer(1 - departs, shares)) / (1 - share)
    controls = controls_of(design, design.designs[0])
    look = np.zeros(len(shares)) if controls is None else controls.look
    return linear, categories + np.outer(departs, look)


def _indicators(design: Design | Samples, codes: NDArray[np.int64], has_answer: NDArray[np.bool_]) -> Floats:
    """The unbiased indicators of these answers, (items, t); zero where there is none."""
    codes, places = codes[:, :-1], codes[:, -1]
    if isinstance(design, Samples):  # a_j = u_j - D v_j of each category, then D
        cell_indicators, centre = np.zeros((len(codes), len(design.cells))), 1 / len(design.cells)
        for place, channel in enumerate(design.designs):
            controls, rows = controls_of(design, channel), has_answer & (places == place)
            statistic = channel.space.statistic(codes[rows])
            if np.isnan(statistic).any() or controls is None:
                raise DataError(ONE_ONLY)
            expected = centre * channel.expected_statistic.sum(axis=1)
            cell_indicators[rows] = centre + (statistic - expected) @ controls.slope.T
        return cell_indicators
    answer_indicators = np.zeros((len(codes), len(design.categories)))
    statistic = design.space.statistic(codes[has_answer])
    if design.structure.pure and design.structure.plainly_apart:
        alpha, beta = design.structure.even_mean or (math.nan, math.nan)
        answer_indicators[has_answer] = (statistic - beta) / alpha
    else:
        answer_indicators[has_answer] = linear_map(design)(statistic)
    return answer_indicators


def _warnings(
    designs: tuple[Design | Samples, ...], waves: tuple[Responses, ...], answered_both: NDArray[np.bool_], rule: str
) -> list[str]:
    """What the answers say against the rule that is named, and what the rule says of the change."""
    n, warning_texts = int(answered_both.sum()), []
    if n < _SMALL:
        warning_texts.append(f"only {n} people answered in both waves: intervals from the normal law are rough")
    if rule == "never":
        warning_texts.append("answers were kept whatever became of the value: this is not the change of the population")
    if designs[0] != designs[1] or not isinstance(designs[0], Design):
        return warning_texts
    same_share = float((waves[0].codes == waves[1].codes).all(axis=1)[answered_both].mean())
    if same_share == 1.0 and rule != "never":
        warning_texts.append("everybody gave the same answer twice: either nothing changed, or nobody was asked again")
    elif (
        rule == "fresh"
        and designs[0].structure.listed
        and designs[0].space.size * len(designs[0].categories) <= _LISTED
    ):
        most_expected = float((designs[0].matrix ** 2).sum(axis=0).max())  # of two draws, if nobody's value changed
        if same_share > most_expected + _UNLIKELY * math.sqrt(most_expected * (1 - most_expected) / n):
            warning_texts.append(
                f"{percent(same_share, 1)} gave the same answer twice; new draws would agree in "
                f"{percent(most_expected, 1)} at most. Answers were kept: name the rule"
            )
    return warning_texts


def _join_by_person(
    first: object,
    second: object,
    columns: Sequence[str | None],
    person: str | None,
    plan: Sampling,
    sample: str | None,
) -> tuple[tuple[list[list[Any]], ...], Callable[[Any], Any]]:
    """The columns of answers, and of samples, of each wave by person, and the other columns, of the later wave."""
    if None in columns or person is None:
        raise DataError("with dataframes, name both: the column of answers and that of the persons' identifiers")
    answer_columns = [str(column) for column in (*columns, *([] if sample is None else [sample]))]
    import narwhals as nw  # late: people by row need no dataframes

    wave_frames = []
    for wave_table in (first, second):
        frame = nw.from_native(wave_table, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if not isinstance(frame, nw.DataFrame):
            raise DataError(f"with `person`, both waves must be dataframes; got {type(wave_table).__name__}")
        wave_frames.append(frame)
    row_lookups: list[dict[Label, int]] = []
    for wave_number, frame in enumerate(wave_frames, 1):
        for column_name in (*answer_columns, person):
            if column_name not in frame.columns:
                raise DataError(
                    f"wave {wave_number}: {_checks.no_column(column_name, frame.columns)}", column=column_name
                )
        row_lookups.append(_rows_by_person(frame[person].to_list(), person, wave_number))
    person_ids = list(dict.fromkeys([*row_lookups[0], *row_lookups[1]]))
    wave_rows = [[row_lookup.get(person_id) for person_id in person_ids] for row_lookup in row_lookups]

    def cells_by_person(wave: int, name: str) -> list[Any]:
        column_cells = cells_of(wave_frames[wave][name])
        return [None if person_row is None else column_cells[person_row] for person_row in wave_rows[wave]]

    def values_of_column(column_or_values: Any) -> Any:
        if not isinstance(column_or_values, str):
            return column_or_values
        waves_with_column = [wave_place for wave_place in (1, 0) if column_or_values in wave_frames[wave_place].columns]
        if not waves_with_column:
            raise DataError(_checks.no_column(column_or_values, wave_frames[1].columns), column=column_or_values)
        merged_cells = cells_by_person(waves_with_column[0], column_or_values)
        for wave_place in waves_with_column[1:]:
            merged_cells = [
                earlier_cell if later_cell is None else later_cell
                for later_cell, earlier_cell in zip(
                    merged_cells, cells_by_person(wave_place, column_or_values), strict=True
                )
            ]
        return merged_cells

    waves_by_column = tuple([cells_by_person(wave, name) for name in answer_columns] for wave in (0, 1))
    return waves_by_column, values_of_column


def _rows_by_person(people: Sequence[Label], person: str, wave: int) -> dict[Label, int]:
    """The row of each person."""
    row_of: dict[Label, int] = {}
    for person_row, person_id in enumerate(people):
        if _checks.is_missing(person_id):
            raise DataError(
                f"row {person_row + 1} of wave {wave} has no {person!r}; every row needs its person", row=person_row
            )
        if person_id in row_of:
            raise DataError(
                f"{person_id!r} comes twice in wave {wave}, in rows {row_of[person_id] + 1} and {person_row + 1}; "
                "a person answers once a wave",
                row=person_row,
                value=person_id,
            )
        row_of[person_id] = person_row
    return row_of
