"""Esponda, Huerta & Guerrero (2016): a simulated survey of 10,108 web users, figures 1 to 7.

Each respondent chooses how many categories to rule out, uniformly on 1 … t - 1. The paper sets the proportionally
weighted estimate beside that of a survey in which everybody rules out one. Here the other weightings, the pooled
estimate and the Cramér-Rao bound stand beside it, with the truth fixed as in the paper (the same people every time) and
redrawn (another sample every time); and the case in which the choice goes with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import designs, planning, simulate
from naysay.data import gvu_counts
from naysay.design import Design, Levels, flowchart
from naysay.show import charts
from naysay.simulate import Population, Simulation
from reproductions.result import Cell, Check, Measured, Picture, Reproduction, Table
from reproductions.setting import Setting, largest, ratio_of_spreads

__all__ = ["QUESTIONS", "Question", "run"]

Floats = NDArray[np.float64]
Draw = Callable[[int], str]

SOURCE = (
    "Esponda F, Huerta K, Guerrero VM (2016). A statistical approach to provide individualized privacy for surveys. "
    "PLoS ONE 11(1): e0147314."
)
ESTIMATORS = ("stratified", "stratified_equal", "stratified_variance", "pooled")
"""The paper's three weightings, the first of which it shows, and what it does not show."""

_LESS = 0.40  # "above 40% decrease on average per experiment"
_MISSED = 0.9  # ours: of those who hide, pooled sees fewer than one in ten
_WORST = "largest bias, in Monte Carlo errors"
_FIXED, _REDRAWN = "file", "population"
_NARROW = 400  # pixels, below which labels are wrapped earlier


def _words(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True)
class Question:
    """One of the five questions.

    Parameters
    ----------
    name : str
        Of its counts.
    asked : str
        As the paper's caption words it.
    figure : int
        In which the paper shows it.
    hiding : str
        The category whose members hide in the self-selected case: those who would not say.
    """

    name: str
    asked: str
    figure: int
    hiding: str

    @property
    def counts(self) -> Mapping[str, int]:
        """People in each category, whose name is written as words."""
        return {_words(category): people for category, people in gvu_counts()[self.name].items()}

    @property
    def label(self) -> str:
        """The name as words."""
        return _words(self.name)

    @property
    def n(self) -> int:
        """Respondents."""
        return sum(self.counts.values())

    @property
    def people(self) -> Population:
        """The respondents as a population."""
        return simulate.counts(self.counts)

    @property
    def choice(self) -> Levels:
        """The survey in which each chooses how many categories to rule out."""
        return designs.negative_levels(tuple(self.counts))

    @property
    def one(self) -> Design:
        """The survey in which everybody rules out one."""
        return designs.negative(tuple(self.counts))

    @property
    def exact_ratio(self) -> float:
        """The ratio of standard deviations, the truth fixed: sqrt(mean_k((t-1-k)/k)/(t-2)), whatever the truth is."""
        t = len(self.counts)
        k = np.arange(1, t)
        return float(np.sqrt(np.mean((t - 1 - k) / k) / (t - 2)))

    def planned(self, estimator: str, target: str) -> float:
        """The ratio of standard errors by formula; of the pooled estimate it is the Cramér-Rao bound."""
        proportions = self.people.proportions
        chosen = planning.variance(self.choice, proportions, estimator=estimator, target=target)
        single = planning.variance(self.one, proportions, estimator="moments", target=target)
        return float(np.mean(np.sqrt(chosen.each / single.each)))


QUESTIONS = (
    Question(
        "falsification_of_information",
        "When asked for personal information, what percent of the time do you falsify it?",
        2,
        "Not Say",
    ),
    Question("race", "How would you classify yourself?", 3, "Not Say"),
    Question("sexual_preference", "How would you classify yourself?", 4, "Not say"),
    Question(
        "household_income", "Please indicate your current household income in thousands of U.S. dollars.", 5, "Not Say"
    ),
    Question("age", "What is your age?", 6, "[0, 8)"),
)
"""The five questions, in the order of the paper's figures."""


@dataclass(frozen=True, eq=False)
class _Answered:
    """One question, simulated: levels chosen and one discard, by target, and the self-selected case."""

    question: Question
    chosen: Mapping[str, Simulation]
    single: Mapping[str, Simulation]
    selected: Simulation

    @cached_property
    def ratios(self) -> dict[tuple[str, str], Measured]:
        """Simulated ratios of standard deviations by estimator and target."""
        result = {}
        for target, found in self.chosen.items():
            single = self.single[target].runs["moments"].proportions
            for estimator in ESTIMATORS:
                result[estimator, target] = ratio_of_spreads(found.runs[estimator].proportions, single)
        return result

    def bias(self, estimator: str) -> Measured:
        """Of the category that hides, in the self-selected case."""
        bias = self.selected.summary(estimator).bias
        return Measured(float(bias.values[self.hiding]), float(bias.errors[self.hiding]))

    @property
    def hiding(self) -> int:
        """The place of the category that hides."""
        return self.question.choice.categories.index(self.question.hiding)

    @property
    def hiding_share(self) -> float:
        """Its share of the people."""
        return float(self.selected.truth[self.hiding])

    @property
    def equal_bias(self) -> float:
        """What equal weights miss by, by formula: who hides is found at one of t - 1 levels only."""
        levels = len(self.question.choice.levels)
        at_first = self.hiding_share / (self.hiding_share + (1 - self.hiding_share) / levels)
        return at_first / levels - self.hiding_share


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    answered = [_answered(question, setting, 10 * place) for place, question in enumerate(QUESTIONS)]
    return Reproduction(
        name="esponda2016",
        title="Levels of privacy that respondents choose: figures 1 to 7",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(
            _ratios(answered, _FIXED),
            _ratios(answered, _REDRAWN),
            _self_selected(answered),
            *(_figure(each) for each in answered),
            _one_survey(answered[3]),
        ),
        checks=tuple(_checks(answered)),
        pictures=_pictures(answered),
        notes=(
            "ratio: standard deviation over that of one discard, averaged over the categories",
            "not at equal privacy: who rules out t - 1 categories, one in t - 1 here, has revealed her answer",
            "self-selected: those who would not say always choose the most private level, all others choose at random",
        ),
    )


def _answered(question: Question, setting: Setting, place: int) -> _Answered:
    people, n = question.people, question.n
    targets = {_FIXED: place, _REDRAWN: place + 1}
    return _Answered(
        question,
        chosen={
            target: setting.surveys(question.choice, people, place=at, n=n, estimators=ESTIMATORS, target=target)
            for target, at in targets.items()
        },
        single={
            target: setting.surveys(question.one, people, place=at + 2, n=n, estimators=["moments"], target=target)
            for target, at in targets.items()
        },
        selected=setting.surveys(
            question.choice,
            people,
            place=place + 4,
            n=n,
            estimators=ESTIMATORS,
            target=_FIXED,
            preferences=simulate.tied(question.choice, hiding=(question.hiding,)),
        ),
    )


def _ratios(answered: Sequence[_Answered], target: str) -> Table:
    """Each estimator's ratio, and those that formulas give."""
    rows: list[tuple[Cell, ...]] = []
    for each in answered:
        simulated = [each.ratios[estimator, target] for estimator in ESTIMATORS]
        planned = [each.question.planned(estimator, target) for estimator in ("stratified", "pooled")]
        rows.append((each.question.label, *simulated, *planned))
    told = "the truth fixed" if target == _FIXED else "the truth redrawn"
    columns = ("question", "proportional", "equal", "variance", "pooled", "proportional, formula", "bound")
    return Table(f"ratios_{target}", f"Standard deviation over that of one discard, {told}", columns, tuple(rows))


def _self_selected(answered: Sequence[_Answered]) -> Table:
    """Bias in the category that hides, in points."""
    rows: list[tuple[Cell, ...]] = []
    for each in answered:
        biases = [Measured(100 * bias.value, 100 * bias.error) for bias in map(each.bias, ESTIMATORS)]
        rows.append((f"{each.question.label}: {each.question.hiding}", 100 * each.hiding_share, *biases))
    columns = ("the hiding category", "truth, %", "proportional", "equal", "variance", "pooled")
    return Table("self_selected", "Self-selected levels: bias in percentage points", columns, tuple(rows), digits=2)


def _figure(each: _Answered) -> Table:
    """What a figure shows: mean and standard deviation of the estimates beside the truth, in percent."""
    single, chosen = each.single[_FIXED], each.chosen[_FIXED]
    columns = ["category", "truth", "one discard", "s.d.", "chosen", "s.d.", "pooled", "s.d."]
    shown = [single.truth]
    for found, estimator in ((single, "moments"), (chosen, "stratified"), (chosen, "pooled")):
        summary = found.summary(estimator)
        shown += [found.truth + summary.bias.values, summary.standard_deviation.values]
    rows = tuple(
        (str(category), *row)
        for category, row in zip(single.categories, (100 * np.array(shown).T).tolist(), strict=True)
    )
    title = f"Figure {each.question.figure}. {each.question.asked} Percent, mean of all surveys"
    return Table(f"figure{each.question.figure}", title, tuple(columns), rows, digits=2)


def _one_survey(each: _Answered) -> Table:
    """Figure 7: the first survey of the income question."""
    shown = _first(each)
    rows = tuple(
        (str(category), *row)
        for category, row in zip(each.question.choice.categories, (100 * np.array(shown).T).tolist(), strict=True)
    )
    columns = ("category", "truth", "one discard", "chosen", "pooled")
    return Table("figure7", "Figure 7. The income question, one survey, percent", columns, rows, digits=2)


def _first(each: _Answered) -> list[Floats]:
    """Truth, one discard, levels chosen and pooled in the first survey."""
    single, chosen = each.single[_FIXED], each.chosen[_FIXED]
    runs = (single.runs["moments"], chosen.runs["stratified"], chosen.runs["pooled"])
    return [single.truth, *(run.proportions[0] for run in runs)]


def _checks(answered: Sequence[_Answered]) -> list[Check]:
    checks = []
    for each in answered:
        name, fixed = each.question.label, each.ratios["stratified", _FIXED]
        checks.append(Check(f"{name}: proportional, fixed", each.question.exact_ratio, *fixed))
        for target, told in ((_FIXED, "fixed"), (_REDRAWN, "redrawn")):
            bound = each.question.planned("pooled", target)
            checks.append(Check(f"{name}: pooled at the bound, {told}", bound, *each.ratios["pooled", target]))
    ratios = [each.ratios["stratified", _FIXED] for each in answered]
    mean = 1 - float(np.mean([ratio.value for ratio in ratios]))
    error = float(np.sqrt(np.sum([ratio.error**2 for ratio in ratios]))) / len(ratios)
    checks.append(Check("the paper: less spread by", _LESS, mean, error, relation="at least"))
    biases = [each.chosen[_FIXED].summary("stratified").bias for each in answered]
    found = max(largest(bias.values, bias.errors) for bias in biases)
    checks.append(Check(f"proportional: {_WORST}", 4.0, found, relation="at most"))
    return [*checks, *_selected_checks(answered)]


def _selected_checks(answered: Sequence[_Answered]) -> list[Check]:
    """Proportional weights stay unbiased when the choice goes with the answer; nothing else does."""
    checks = [
        Check(
            f"{each.question.label}, self-selected: bias of equal weights",
            each.equal_bias,
            *each.bias("stratified_equal"),
        )
        for each in answered
    ]
    biases = [each.selected.summary("stratified").bias for each in answered]
    found = max(largest(bias.values, bias.errors) for bias in biases)
    checks.append(Check(f"self-selected, proportional: {_WORST}", 4.0, found, relation="at most"))
    missed = min(-each.bias("pooled").value / each.hiding_share for each in answered)
    return [*checks, Check("self-selected, pooled: misses of the hiding", _MISSED, missed, relation="at least")]


def _pictures(answered: Sequence[_Answered]) -> tuple[Picture, ...]:
    income = answered[3].question
    figures = [
        Picture(f"figure{each.question.figure}", f"Figure {each.question.figure}. {each.question.asked}", _spread(each))
        for each in answered
    ]
    return (
        Picture(
            "figure1",
            "Figure 1. A positive question, and the same in the negative",
            lambda size: flowchart.question_pair(
                income.asked,
                "Which of these is NOT your household income?",
                tuple(income.counts),
            ),
        ),
        Picture("ratios", "Standard deviation over that of one discard", _ratio_chart(answered)),
        *figures,
        Picture("figure7", "Figure 7. The income question, one survey", _one_chart(answered[3])),
    )


def _spread(each: _Answered) -> Draw:
    """Truth, and mean with one standard deviation to both sides, of one discard and of levels chosen."""
    table = {name: np.array(column) / 100 for name, column in _columns(_figure(each)).items()}
    truth, one, one_sd, chosen, chosen_sd = list(table.values())[:5]
    marks = [
        charts.Mark("truth", "truth", truth),
        charts.Mark(
            "estimate", "chosen: mean ± s.d.", chosen, np.column_stack([chosen - chosen_sd, chosen + chosen_sd])
        ),
        charts.Mark("pooled", "one discard: mean ± s.d.", one, np.column_stack([one - one_sd, one + one_sd])),
    ]
    return _dots(each.question.choice.categories, marks, each.question.asked)


def _columns(table: Table) -> dict[int, list[Any]]:
    """The columns of numbers."""
    return {place: list(column) for place, column in enumerate(list(zip(*table.rows, strict=True))[1:])}


def _one_chart(each: _Answered) -> Draw:
    truth, one, chosen, _ = _first(each)
    marks = [
        charts.Mark("truth", "truth", truth),
        charts.Mark("estimate", "chosen", chosen),
        charts.Mark("pooled", "one discard", one),
    ]
    return _dots(each.question.choice.categories, marks, "Household income, one survey")


def _ratio_chart(answered: Sequence[_Answered]) -> Draw:
    """Spread against that of one discard: the paper's weights, pooled, and the bound."""
    found = {name: [each.ratios[name, _FIXED] for each in answered] for name in ("stratified", "pooled")}
    bound = [each.question.planned("pooled", _FIXED) for each in answered]
    marks = [charts.Mark("truth", "Cramér-Rao bound", bound)]
    for role, estimator, name in (("estimate", "stratified", "proportional"), ("pooled", "pooled", "pooled")):
        values, errors = np.array(found[estimator]).T
        marks.append(charts.Mark(role, name, values, np.column_stack([values - 2 * errors, values + 2 * errors])))
    title = "Standard deviation over that of one discard"
    return _dots(tuple(each.question.label for each in answered), marks, title, axis="of the s.d. of one discard")


def _dots(
    categories: Sequence[Any], marks: Sequence[charts.Mark], title: str, axis: str = "share of the respondents"
) -> Draw:
    return lambda size: charts.dots(
        categories, marks, title=title, size=size, room=17 if size < _NARROW else 26, axis=axis
    )
