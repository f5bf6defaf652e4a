"""What it costs to ask the same person again, under each rule of asking again.

The categories of two waves are pairs (x₁, x₂). ε of the pair bounds what both answers tell about both values, and so
also whether the value changed. People whose value stays are often promised more: ε of the pair for them alone.

Privacy of several answers of one person: to several questions, or in several waves.

What a public schedule of waves costs each respondent: the analyst's ledger, with nothing about any person in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import prices
from naysay.design import AffineHash, Answerable, Design
from naysay.design.base import check_channel
from naysay.design.memory import memory_of
from naysay.errors import DesignError
from naysay.privacy.statement import epsilon, information, odds, still_possible
from naysay.show import Column, Content, Note, Sentence, Table, plain, text

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
class Waves:
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

    def sections(self) -> list[Content]:
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

    def __str__(self) -> str:
        return text(self.sections())


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
    return Waves(rule_used, single_epsilon, _memory_pair_epsilon(memory), memory.epsilon_after(2))


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
    if design.space.size <= _LISTED and design.space.listable:
        return _pairwise_epsilons(design.matrix, rho)
    codes = design.typical_codes[:1]
    if len(design.pieces) > 1:
        raise DesignError("'redraw' has a closed form for k-ary, subset selection and affine designs only")
    row = design.rows(codes)[0]
    p, q = float(row.max()), float(row.min())
    e = math.log(p / q)
    stayed = max(2 * e, 0.0) if rho == 1 else e + math.log((1 - rho + rho * p) / (1 - rho + rho * q))
    return 2 * e + max(-math.log(rho), math.log((1 - rho) / p + rho)), stayed


def _pairwise_epsilons(matrix: NDArray[np.float64], rho: float) -> tuple[float, float]:
    """The same from all pairs of answers and of values."""
    pair = stayed = 0.0
    t = matrix.shape[1]
    is_other_value = ~np.eye(t, dtype=bool)
    for place, row in enumerate(matrix):
        fresh = rho * row * matrix
        fresh[place] += (1 - rho) * row
        moved = row[None, :, None] * matrix[:, None, :]
        moved = moved[:, is_other_value]  # (answers of the second wave, pairs of different values)
        is_possible = (fresh > 0).any(axis=1) | (moved > 0).any(axis=1)
        likelihoods = np.hstack([fresh, moved])[is_possible]
        with np.errstate(divide="ignore", invalid="ignore"):
            pair = max(pair, float(np.log(likelihoods.max(axis=1) / likelihoods.min(axis=1)).max()))
            stayed_likelihoods = fresh[fresh.max(axis=1) > 0]
            stayed = max(stayed, float(np.log(stayed_likelihoods.max(axis=1) / stayed_likelihoods.min(axis=1)).max()))
    return pair, stayed


def _memory_pair_epsilon(design: Any) -> float:
    """ε of the pair where each value has a memo of its own (of an affine design: each value of the one hash)."""
    if len(design.first.pieces) > 1 or design.first.kind == "subset_selection":
        raise DesignError("the pair of waves of remembered answers has a closed form for k-ary and affine designs only")
    ((p, q, n),) = design.first.pieces
    keep, whole = design.second.keep, design.second.whole
    p, q, rho = float(p), float(q), (keep * n + whole - keep) / (whole - keep)
    a, b, more = 1 + p * (rho - 1), 1 + q * (rho - 1), n > 2
    same = [1 + p * (rho**2 - 1), 1 + q * (rho**2 - 1), a * b, *([b * b] if more else [])]
    other = [1 + (p + q) * (rho - 1), a * a, b * b, *([1 + 2 * q * (rho - 1), a * b] if more else [])]
    return max(math.log(max(likelihoods) / min(likelihoods)) for likelihoods in (same, other))


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
    for design in designs:
        check_channel(design, "an answer to compose")
    return Composition(
        epsilon=math.fsum(epsilon(design) for design in designs),
        bits=math.fsum(information(design) for design in designs),
        still_possible=tuple(still_possible(design) for design in designs),
        largest_odds=tuple(float(odds(design).max()) for design in designs),
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
        rule = self.rule or ("fresh" if memory is None else "memory")
        if rule not in _RULES or (rule == "memory") != (memory is not None):
            raise DesignError(
                f"the rule of {self.question!r} must be one of {', '.join(_RULES)}, and fit; got {rule!r}"
            )
        if self.lot and rule != "fresh":
            raise DesignError(f"{self.question!r} is asked by lot, so that its rule must be 'fresh'; got {rule!r}")
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
        object.__setattr__(self, "rule", rule)
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
        """The price of an answer, as `naysay.prices` takes it."""
        memory, channel = memory_of(self.design), check_channel(self.design, "")
        memo = memory and prices.odds_of_memo(memory.first.pieces, memory.second.keep, memory.second.whole)
        return {"rule": self.rule, "epsilon": epsilon(channel), "values": _values(channel), "memo": memo}


@dataclass(frozen=True)
class Schedule:
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
            for number in question.waves if question.lot else ():  # type: ignore[union-attr]
                if number <= wave:
                    key, one = (question.lot, number), epsilon(check_channel(question.design, ""))
                    cost_of_lot[key] = max(cost_of_lot.get(key, 0.0), one)
        lot_cost = math.fsum(cost_of_lot.values())
        return math.fsum(one for one, _ in question_costs) + lot_cost, math.fsum(
            most for _, most in question_costs
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

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON would hold them; ∞ is null."""
        json_fields: dict[str, Any] = {
            "unchanged": self.unchanged,
            "per_change": self.per_change,
            "at_most": self.at_most,
        }
        json_fields |= {"cap": self.cap, "waves": [[wave, *self.until(wave)] for wave in range(1, self.last + 1)]}
        json_fields["questions"] = [
            {"question": e.question, "rule": e.rule, "waves": list(e.waves)}  # type: ignore[arg-type]
            for e in self.asked
        ]
        return {name: plain(value) for name, value in json_fields.items()}

    def sections(self) -> list[Content]:
        """The three lines and the table by wave, in the vocabulary of `naysay.show`."""
        lines = (
            ("if an answer never changed", self.unchanged),
            ("per change", self.per_change),
            (f"at most{', besides showing that it changed' * (self.per_change > 0)}", self.at_most),
        )
        rows = tuple((str(wave), *map(_number, self.until(wave))) for wave in range(1, self.last + 1))
        columns = (Column("up to wave"), Column("if it never changed"), Column("at most"))
        return [
            Sentence("What the schedule costs one respondent (ε, in nats)"),
            *(Sentence(f"{name}: ε = {_number(value)}") for name, value in lines),
            Table(columns, rows),
            *map(Note, self._notes()),
        ]

    def _notes(self) -> list[str]:
        notes = []
        if any(question.rule == "kept" for question in self.asked):
            notes.append("kept answers: two different ones prove that the value changed; no ε bounds that")
        if any(question.rule == "memory" for question in self.asked):
            notes.append("memory is bought by a weaker promise: reports of one memo can tell more than new draws would")
            notes.append("reports of memos also show, with some chance, that the value changed; see privacy.waves")
        shared = {question.rule for question in self.asked if question._price["values"] is None}
        if "kept" in shared:
            notes.append("kept answers of an affine design tell which values share a hash; k_ary has no hash")
        if "memory" in shared:
            notes.append("values that share the hash of an affine design share a memo; at most counts what that tells")
        if self.cap is not None and self.at_most > self.cap:
            first_wave = next(wave for wave in range(1, self.last + 1) if self.until(wave)[1] > self.cap)
            notes.append(
                f"the cap of {self.cap:g} can be exceeded from wave {first_wave} on; devices then refuse to answer"
            )
        for question in self.asked:
            number, single_epsilon = len(question.waves), epsilon(check_channel(question.design, ""))  # type: ignore[arg-type]
            if question.rule == "fresh" and number > _MANY and math.isfinite(single_epsilon):
                composed_epsilon = approximate(single_epsilon, number, delta=_DELTA)
                composition_text = f"(ε, δ) = ({composed_epsilon:.4g}, {_DELTA:g}) by optimal composition"
                notes.append(f"{question.question}: beside the sum, a weaker kind of promise: {composition_text}")
        return notes

    def __str__(self) -> str:
        return text(self.sections())


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
    names = [question.question for question in asked]
    if not names or len(set(names)) < len(names):
        raise DesignError(f"a schedule needs questions with different names; got {names}")
    if cap is not None and not cap > 0:
        raise DesignError(f"the cap must be above 0; got {cap!r}")
    return Schedule(tuple(asked), cap)


def of_tables(schedule_table: Mapping[str, Any], design_reader: Any) -> Schedule:
    """The schedule that a TOML or JSON file describes; `design_reader` makes a design from its text and categories."""
    questions = schedule_table.get("questions")
    if not isinstance(questions, list) or set(schedule_table) - {"questions", "cap"}:
        raise DesignError("a schedule has a list 'questions' and may have a 'cap', and nothing else")
    asked_questions = []
    for number, question_table in enumerate(questions, 1):
        allowed_keys = {"name", "design", "categories", "waves", "rule", "lot"}
        if not isinstance(question_table, Mapping) or not {"name", "design"} <= set(question_table) <= allowed_keys:
            raise DesignError(
                f"question {number} must have a name and a design, and may have categories, waves, a rule and a lot"
            )
        options = {name: question_table[name] for name in ("waves", "rule", "lot") if name in question_table}
        asked_questions.append(
            Asked(
                str(question_table["name"]),
                design_reader(question_table["design"], question_table.get("categories")),
                **options,
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
    logs = [math.lgamma(number + 1) - math.lgamma(k + 1) - math.lgamma(number - k + 1) for k in range(number + 1)]
    whole, best = number * math.log1p(math.exp(one)), number * one
    for i in range(1, number // 2 + 1):
        terms = [
            math.exp(logs[k] + (number - k) * one - whole) - math.exp(logs[k] + (number - 2 * i + k) * one - whole)
            for k in range(i)
        ]
        if math.fsum(terms) > delta:
            break
        best = (number - 2 * i) * one
    return best


def _values(design: Design) -> int | None:
    """How many values have draws of their own; None for a hash with fewer values than there are categories."""
    memory = memory_of(design)
    drawn_design = design if memory is None else memory.first
    if isinstance(drawn_design, AffineHash) and (
        drawn_design.named or len(drawn_design.categories) > drawn_design.base
    ):
        return None
    return len(drawn_design.categories)
