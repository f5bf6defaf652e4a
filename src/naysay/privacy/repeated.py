"""What several answers of one person tell: to several questions, in several waves, or over a public schedule of waves.

The categories of two waves are pairs (x₁, x₂). ε of the pair bounds what both answers tell about both values, and so
also whether the value changed. People whose value stays are often promised more: ε of the pair for them alone. A
schedule is the analyst's ledger, with nothing about any person in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay._values import JsonNode
from naysay.design import AffineHash, Answerable, Design
from naysay.design.algebra import memorable, memory_of
from naysay.design.base import check_channel
from naysay.errors import DesignError
from naysay.privacy.measures import epsilon, information, odds, still_possible
from naysay.show import Column, Content, Note, Records, Result, Sentence, Table
from naysay.telemetry import prices

_LISTED = 120  # responses up to which all pairs of them are looked at

_RULE_SENTENCES = {
    "fresh": "ε adds: two new draws tell twice as much as one",
    "kept": "two different answers prove a change, so that no ε bounds the pair; given which answers are equal, ε for "
    "each value that was held, unless values share a hash (affine designs: no ε bounds it)",
    "redraw": "people whose value stayed draw anew with the chance that is given, so that two different answers prove "
    "nothing",
    "memory": "two reports of one memo; a further value (of an affine design: of its hash) has a memo of its own",
}


@dataclass(frozen=True)
class Waves(Result):
    """ε of the answers in two waves.

    Parameters
    ----------
    rule : str
    wave : float
        ε of one answer by itself.
    pair : float
        ε of both answers, about both values and whether they differ.
    stayed : float
        ε of both answers about the value of people for whom it stayed, if it is known that it did.
    """

    rule: str
    wave: float
    pair: float
    stayed: float

    def parts(self) -> list[Content]:
        """The three numbers in the vocabulary of `naysay.show`."""
        rows = (
            ("one answer", _number(self.wave)),
            ("both answers, whatever happened", _number(self.pair)),
            ("both answers of people whose value stayed", _number(self.stayed)),
        )
        return [
            Sentence(f"rule of asking again ({self.rule}): {_RULE_SENTENCES[self.rule]}"),
            Table((Column("what is told", words=True, width=60), Column("ε")), rows),
        ]

    def numbers(self) -> dict[str, object]:
        return {"rule": self.rule, "wave": self.wave, "pair": self.pair, "stayed": self.stayed}


def waves(design: Answerable, *, rule: str | None = None, redraw: float = 0.5) -> Waves:
    """ε of the answers in two waves, under a rule of asking again.

    Parameters
    ----------
    design : Design
    rule : {"fresh", "kept", "redraw", "memory"}, optional
        A new draw in each wave; an answer that is kept for each value; the same, but with a new draw by chance also
        where the value stayed; a report that is remembered and sent with new noise. By default "memory" for designs
        that remember, otherwise "fresh".
    redraw : float
        For "redraw": the chance of a new draw where the value stayed, above 0 and at most 1.

    Raises
    ------
    DesignError
        An unknown rule or chance; "memory" for a design without a memory, or one of more than one piece.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.k_ary(tuple("abcd"), epsilon=1)
    >>> [round(waves(survey, rule="redraw", redraw=rho).pair, 3) for rho in (1, 0.5, 0.2)]
    [2.0, 2.693, 3.609]
    >>> print(waves(survey, rule="kept"))
    rule of asking again (kept): two different answers prove a change, so that no ε bounds the pair; given which \
answers are equal, ε for each value that was held, unless values share a hash (affine designs: no ε bounds it)
    <BLANKLINE>
    what is told                                   ε
    one answer                                     1
    both answers, whatever happened                ∞
    both answers of people whose value stayed      1
    """
    channel = check_channel(design, "a design that is asked again")
    memory, single_epsilon = memory_of(channel), epsilon(channel)
    rule_used = rule or ("fresh" if memory is None else "memory")
    if rule_used not in _RULE_SENTENCES:
        raise DesignError(f"rule must be one of {', '.join(_RULE_SENTENCES)}; got {rule!r}")
    if rule_used == "fresh":
        return Waves(rule_used, single_epsilon, 2 * single_epsilon, 2 * single_epsilon)
    if rule_used == "kept":
        return Waves(rule_used, single_epsilon, math.inf, single_epsilon)
    if rule_used == "redraw":
        if not 0 < redraw <= 1:
            raise DesignError(f"redraw must be a chance above 0, at most 1; got {redraw!r} (0 is the rule 'kept')")
        return Waves(rule_used, single_epsilon, *_redraw_epsilons(channel, float(redraw)))
    if memory is None:
        raise DesignError("only designs that remember have the rule 'memory'; make one with designs.remembered()")
    if len(memory.memo.pieces) > 1 or memory.first.kind == "subset_selection":
        raise DesignError("the pair of waves of remembered answers has a closed form for k-ary and affine designs only")
    # Each value has a memo of its own (of an affine design: each value of the one hash).
    ((exact_p, exact_q, n),), keep, whole = memory.memo.pieces, memory.second.keep, memory.second.whole
    p, q, rho = float(exact_p), float(exact_q), (keep * n + whole - keep) / (whole - keep)
    a, b, has_more_values = 1 + p * (rho - 1), 1 + q * (rho - 1), n > 2
    same_answer_chances = [1 + p * (rho**2 - 1), 1 + q * (rho**2 - 1), a * b, *([b * b] if has_more_values else [])]
    other_answer_chances = [
        1 + (p + q) * (rho - 1),
        a * a,
        b * b,
        *([1 + 2 * q * (rho - 1), a * b] if has_more_values else []),
    ]
    pair_epsilon = max(
        math.log(max(pair_chances) / min(pair_chances)) for pair_chances in (same_answer_chances, other_answer_chances)
    )
    return Waves(rule_used, single_epsilon, pair_epsilon, memory.epsilon_after(2))


def after_waves(design: Answerable, number: int) -> float:
    """ε of the answers in that many waves about one value that stays.

    The sum for new draws. For a design that remembers, the reports of one memo: at most the ε of its lifetime. They are
    no independent draws, so that they can tell more than the sum.

    Parameters
    ----------
    design : Design
    number : int
        Waves, at least 1.

    Raises
    ------
    DesignError
        Fewer than one wave.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.remembered(100, epsilon=0.25, lifetime=4, design="k_ary")
    >>> [round(after_waves(survey, number), 2) for number in (1, 2, 5, 100)]
    [0.25, 0.58, 1.93, 4.0]
    """
    channel = check_channel(design, "a design that is asked again")
    if number < 1:
        raise DesignError(f"there must be one wave or more; got {number}")
    memory = memory_of(channel)
    return number * epsilon(channel) if memory is None else memory.epsilon_after(number)


def _redraw_epsilons(design: Design, rho: float) -> tuple[float, float]:
    """ε of the pair and of those who stay, for a new draw with chance rho."""
    if design.space.size <= _LISTED and design.space.listable:  # from all pairs of answers and of values
        matrix, pair_epsilon, stayed_epsilon = design.matrix, 0.0, 0.0
        is_other_value = ~np.eye(matrix.shape[1], dtype=bool)
        for first_answer, likelihood_row in enumerate(matrix):
            same_value_chances = rho * likelihood_row * matrix
            same_value_chances[first_answer] += (1 - rho) * likelihood_row
            other_value_chances = likelihood_row[None, :, None] * matrix[:, None, :]
            # (answers of the second wave, pairs of different values)
            pair_likelihoods = np.hstack([same_value_chances, other_value_chances[:, is_other_value]])
            pair_epsilon = max(pair_epsilon, _largest_log_ratio(pair_likelihoods))
            stayed_epsilon = max(stayed_epsilon, _largest_log_ratio(same_value_chances))
        return pair_epsilon, stayed_epsilon
    typical_code = design.structure.typical_codes[:1]
    if len(memorable(design).pieces) > 1:
        raise DesignError("'redraw' has a closed form for k-ary, subset selection and affine designs only")
    likelihood_row = design.rows(typical_code)[0]
    p, q = float(likelihood_row.max()), float(likelihood_row.min())
    e = math.log(p / q)
    stayed_epsilon = max(2 * e, 0.0) if rho == 1 else e + math.log((1 - rho + rho * p) / (1 - rho + rho * q))
    return 2 * e + max(-math.log(rho), math.log((1 - rho) / p + rho)), stayed_epsilon


def _largest_log_ratio(likelihoods: NDArray[np.float64]) -> float:
    """The largest ln of a ratio within a row of likelihoods, of the rows that are not all 0."""
    possible_rows = likelihoods[likelihoods.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        return float(np.log(possible_rows.max(axis=1) / possible_rows.min(axis=1)).max())


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


@dataclass(frozen=True)
class Composition:
    """The privacy of several answers of one person.

    Parameters
    ----------
    epsilon : float
        The sum of the questions' ε. It bounds what all answers together reveal; it is ∞ if one of them is.
    bits : float
        An upper bound on the bits that all answers together reveal. If questions are related, the answer to one may add
        to what is known about another.
    still_possible : tuple of (int, int)
        Fewest and most categories left, for each question.
    largest_odds : tuple of float
        Posterior over prior odds in the worst case, for each question, under uniform priors.
    """

    epsilon: float
    bits: float
    still_possible: tuple[tuple[int, int], ...]
    largest_odds: tuple[float, ...]


def compose(designs: Sequence[Design]) -> Composition:
    """The privacy of one person's answers to several questions, randomized independently.

    Likelihood rows multiply, so ε and bits add. If one ε is ∞, the sum is ∞ and says no more; then look at the
    categories left and at the odds.

    Parameters
    ----------
    designs : sequence of Design
        One design for each question. Repeat a design that is answered again.

    Returns
    -------
    Composition

    Raises
    ------
    DesignError
        No design, or an offer of levels (give one of its designs instead).

    Examples
    --------
    >>> from naysay import designs
    >>> round(compose([designs.two_coins()] * 2).epsilon, 4)
    2.1972
    """
    if not designs:
        raise DesignError("at least one design is needed")
    for question_design in designs:
        check_channel(question_design, "an answer to compose")
    return Composition(
        epsilon=math.fsum(epsilon(question_design) for question_design in designs),
        bits=math.fsum(information(question_design) for question_design in designs),
        still_possible=tuple(still_possible(question_design) for question_design in designs),
        largest_odds=tuple(float(odds(question_design).max()) for question_design in designs),
    )


def unexcluded(categories: int, waves: int) -> float:
    """Probability that no answer of several waves rules out a given false category.

    ((t - 2) / (t - 1))^w for the uniform negative survey. If every wave draws afresh, the answers together reveal more
    and more. If the first draw is repeated, later answers reveal nothing new.

    Parameters
    ----------
    categories : int
        t, at least 3.
    waves : int
        w, the number of times the question is answered.

    Returns
    -------
    float

    Raises
    ------
    DesignError
        Fewer than three categories, or a negative number of waves.

    Examples
    --------
    >>> round(unexcluded(5, waves=10), 4)
    0.0563
    """
    if categories < 3 or waves < 0:
        raise DesignError(f"at least three categories and 0 or more waves are needed; got {categories} and {waves}")
    return ((categories - 2) / (categories - 1)) ** waves


_RULES = ("fresh", "kept", "memory")
_MANY = 20  # waves of new draws from which on (ε, δ) stands beside the sum
_DELTA = 1e-6


@dataclass(frozen=True)
class Asked:
    """A question that is asked in several waves.

    Parameters
    ----------
    question : str
    design : Design
    waves : int or sequence of int
        How many waves, from the first on; or which.
    rule : {"fresh", "kept", "memory"}, optional
        By default "memory" for designs that remember, otherwise "fresh".
    lot : str, optional
        Questions with the same lot are asked one at a time: one of them by a lot that depends on no answer. A wave then
        costs the largest ε of them.

    Raises
    ------
    DesignError
        An unknown rule or one that does not fit the design; no waves.
    """

    question: str
    design: Answerable
    waves: int | Sequence[int] = 1
    rule: str = ""
    lot: str = ""

    def __post_init__(self) -> None:
        memory = memory_of(check_channel(self.design, f"the design of {self.question!r}"))
        rule_used = self.rule or ("fresh" if memory is None else "memory")
        if rule_used not in _RULES or (rule_used == "memory") != (memory is not None):
            raise DesignError(
                f"the rule of {self.question!r} must be one of {', '.join(_RULES)}, and fit; got {rule_used!r}"
            )
        if self.lot and rule_used != "fresh":
            raise DesignError(f"{self.question!r} is asked by lot, so that its rule must be 'fresh'; got {rule_used!r}")
        waves_given = self.waves
        wave_numbers = tuple(range(1, waves_given + 1)) if isinstance(waves_given, int) else tuple(waves_given)
        if (
            not wave_numbers
            or min(wave_numbers) < 1
            or len(set(wave_numbers)) < len(wave_numbers)
            or isinstance(waves_given, bool)
        ):
            raise DesignError(
                f"the waves of {self.question!r} must be a number, or different numbers from 1; got {waves_given!r}"
            )
        object.__setattr__(self, "rule", rule_used)
        object.__setattr__(self, "waves", tuple(sorted(wave_numbers)))

    def until(self, wave: int) -> tuple[float, float]:
        """ε of the answers up to a wave: if the value never changed, and at most."""
        n = sum(asked_wave <= wave for asked_wave in self.waves)  # type: ignore[union-attr]
        return prices.after(self._price, n), prices.most(self._price, n)

    @property
    def per_change(self) -> float:
        """What a change of the value adds at most."""
        return prices.further(self._price, len(self.waves))  # type: ignore[arg-type]

    @cached_property
    def _price(self) -> dict[str, Any]:
        """The price of an answer, as `naysay.telemetry.prices` takes it."""
        memory, channel = memory_of(self.design), check_channel(self.design, "")
        memo = memory and prices.odds_of_memo(memory.memo.pieces, memory.second.keep, memory.second.whole)
        drawn_design = memory.first if memory else channel
        shares_draws = isinstance(drawn_design, AffineHash) and (
            drawn_design.named or len(drawn_design.categories) > drawn_design.base
        )  # values that share a hash have no draws of their own
        values = None if shares_draws else len(drawn_design.categories)
        return {"rule": self.rule, "epsilon": epsilon(channel), "values": values, "memo": memo}


@dataclass(frozen=True)
class Schedule(Result):
    """What a schedule costs one respondent.

    Parameters
    ----------
    asked : tuple of Asked
    cap : float, optional
        The most ε that respondents were promised.
    """

    asked: tuple[Asked, ...]
    cap: float | None = None

    @property
    def last(self) -> int:
        """The last wave."""
        return max(question.waves[-1] for question in self.asked)  # type: ignore[index]

    def until(self, wave: int) -> tuple[float, float]:
        """ε of all answers up to a wave: if no value ever changed, and at most."""
        question_costs = [question.until(wave) for question in self.asked if not question.lot]
        cost_of_lot: dict[tuple[str, int], float] = {}
        for question in self.asked:
            for wave_number in question.waves if question.lot else ():  # type: ignore[union-attr]
                if wave_number <= wave:
                    lot_and_wave, answer_cost = (question.lot, wave_number), epsilon(check_channel(question.design, ""))
                    cost_of_lot[lot_and_wave] = max(cost_of_lot.get(lot_and_wave, 0.0), answer_cost)
        lot_cost = math.fsum(cost_of_lot.values())
        return math.fsum(answer_cost for answer_cost, _ in question_costs) + lot_cost, math.fsum(
            largest_cost for _, largest_cost in question_costs
        ) + lot_cost

    @property
    def unchanged(self) -> float:
        """ε of all answers if no value ever changed."""
        return self.until(self.last)[0]

    @property
    def per_change(self) -> float:
        """What each change of a value adds at most."""
        return max(question.per_change for question in self.asked)

    @property
    def at_most(self) -> float:
        """The most that all answers tell about the values, besides showing that a value changed."""
        return self.until(self.last)[1]

    def numbers(self) -> dict[str, object]:
        return {
            "unchanged": self.unchanged,
            "per_change": self.per_change,
            "at_most": self.at_most,
            "cap": self.cap,
            "waves": [[wave, *self.until(wave)] for wave in range(1, self.last + 1)],
            "questions": [
                {"question": e.question, "rule": e.rule, "waves": list(e.waves)}  # type: ignore[arg-type]
                for e in self.asked
            ],
        }

    def records(self) -> Records:
        """A row for each wave: ε of all answers until then, if no value ever changed, and at most."""
        return Records(
            ["wave", "unchanged", "at_most"],
            [[wave, *map(float, self.until(wave))] for wave in range(1, self.last + 1)],
        )

    def parts(self) -> list[Content]:
        """The three lines and the table by wave, in the vocabulary of `naysay.show`."""
        cost_lines = (
            ("if an answer never changed", self.unchanged),
            ("per change", self.per_change),
            (f"at most{', besides showing that it changed' * (self.per_change > 0)}", self.at_most),
        )
        wave_rows = tuple((str(wave), *map(_number, self.until(wave))) for wave in range(1, self.last + 1))
        wave_columns = (Column("up to wave"), Column("if it never changed"), Column("at most"))
        return [
            Sentence("What the schedule costs one respondent (ε, in nats)"),
            *(Sentence(f"{line_name}: ε = {_number(line_cost)}") for line_name, line_cost in cost_lines),
            Table(wave_columns, wave_rows),
            *map(Note, self._notes()),
        ]

    def _notes(self) -> list[str]:
        note_texts = []
        if any(question.rule == "kept" for question in self.asked):
            note_texts.append("kept answers: two different ones prove that the value changed; no ε bounds that")
        if any(question.rule == "memory" for question in self.asked):
            note_texts.append(
                "memory is bought by a weaker promise: reports of one memo can tell more than new draws would"
            )
            note_texts.append("reports of memos also show, with some chance, that the value changed; see privacy.waves")
        rules_with_sharing = {question.rule for question in self.asked if question._price["values"] is None}
        if "kept" in rules_with_sharing:
            note_texts.append("kept answers of an affine design tell which values share a hash; k_ary has no hash")
        if "memory" in rules_with_sharing:
            note_texts.append(
                "values that share the hash of an affine design share a memo; at most counts what that tells"
            )
        if self.cap is not None and self.at_most > self.cap:
            first_wave = next(wave for wave in range(1, self.last + 1) if self.until(wave)[1] > self.cap)
            note_texts.append(
                f"the cap of {self.cap:g} can be exceeded from wave {first_wave} on; devices then refuse to answer"
            )
        for question in self.asked:
            wave_count, single_epsilon = len(question.waves), epsilon(check_channel(question.design, ""))  # type: ignore[arg-type]
            if question.rule == "fresh" and wave_count > _MANY and math.isfinite(single_epsilon):
                composed_epsilon = approximate(single_epsilon, wave_count, delta=_DELTA)
                composition_text = f"(ε, δ) = ({composed_epsilon:.4g}, {_DELTA:g}) by optimal composition"
                note_texts.append(f"{question.question}: beside the sum, a weaker kind of promise: {composition_text}")
        return note_texts


def schedule(asked: Sequence[Asked], *, cap: float | None = None) -> Schedule:
    """What a public schedule of questions and waves costs each respondent.

    Answers of one person that are drawn independently add, over questions and waves, however the values are related.
    (Only disjoint people cost the largest in place of the sum.) A kept answer costs once for each value that was held.

    Parameters
    ----------
    asked : sequence of Asked
    cap : float, optional
        The most ε that respondents were promised; a note says from which wave on it can be exceeded.

    Raises
    ------
    DesignError
        No question, two of the same name, or a cap that is not positive.

    Examples
    --------
    >>> from naysay import designs
    >>> crash = designs.remembered(1024, epsilon=1, lifetime=2)
    >>> found = schedule([Asked("crash", crash, waves=12), Asked("age", designs.k_ary(8, epsilon=1))])
    >>> [round(value, 2) for value in (found.unchanged, found.per_change, found.at_most)]
    [3.0, 15.25, 18.25]
    """
    question_names = [question.question for question in asked]
    if not question_names or len(set(question_names)) < len(question_names):
        raise DesignError(f"a schedule needs questions with different names; got {question_names}")
    if cap is not None and not cap > 0:
        raise DesignError(f"the cap must be above 0; got {cap!r}")
    return Schedule(tuple(asked), cap)


def of_tables(schedule_table: JsonNode, design_reader: Callable[[object, object], Answerable]) -> Schedule:
    """The schedule that a TOML or JSON file describes; `design_reader` makes a design from its text and categories."""
    question_tables = schedule_table.get("questions")
    if not isinstance(question_tables, list) or set(schedule_table) - {"questions", "cap"}:
        raise DesignError("a schedule has a list 'questions' and may have a 'cap', and nothing else")
    asked_questions = []
    for question_number, question_table in enumerate(question_tables, 1):
        allowed_keys = {"name", "design", "categories", "waves", "rule", "lot"}
        if not isinstance(question_table, Mapping) or not {"name", "design"} <= set(question_table) <= allowed_keys:
            raise DesignError(
                f"question {question_number} must have a name and a design, "
                "and may have categories, waves, a rule and a lot"
            )
        wave_options = {
            option_name: question_table[option_name]
            for option_name in ("waves", "rule", "lot")
            if option_name in question_table
        }
        asked_questions.append(
            Asked(
                str(question_table["name"]),
                design_reader(question_table["design"], question_table.get("categories")),
                **wave_options,
            )
        )
    return schedule(asked_questions, cap=schedule_table.get("cap"))


def approximate(one: float, number: int, *, delta: float) -> float:
    """The least ε of (ε, δ)-privacy of that many independent answers, each with ε = `one`.

    Parameters
    ----------
    one : float
    number : int
    delta : float
        The probability that the promise may fail, above 0.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), theorem 3.3.

    Examples
    --------
    >>> round(approximate(0.1, 100, delta=1e-6), 3), round(approximate(1, 2, delta=1e-6), 3)
    (4.8, 2)
    """
    log_binomials = [
        math.lgamma(number + 1) - math.lgamma(k + 1) - math.lgamma(number - k + 1) for k in range(number + 1)
    ]
    log_total, least_epsilon = number * math.log1p(math.exp(one)), number * one
    for i in range(1, number // 2 + 1):
        delta_terms = [
            math.exp(log_binomials[k] + (number - k) * one - log_total)
            - math.exp(log_binomials[k] + (number - 2 * i + k) * one - log_total)
            for k in range(i)
        ]
        if math.fsum(delta_terms) > delta:
            break
        least_epsilon = (number - 2 * i) * one
    return least_epsilon
