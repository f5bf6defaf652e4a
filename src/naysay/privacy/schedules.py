"""What a public schedule of waves costs each respondent: the analyst's ledger, with nothing about any person in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naysay import prices
from naysay.design import AffineHash, Answerable, Design
from naysay.design.base import check_channel
from naysay.design.memory import memory_of
from naysay.errors import DesignError
from naysay.printing import Column, Content, Note, Sentence, Table, plain, text
from naysay.privacy.statement import epsilon

__all__ = ["Asked", "Schedule", "approximate", "schedule"]

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
        given = self.waves
        found = tuple(range(1, given + 1)) if isinstance(given, int) else tuple(given)
        if not found or min(found) < 1 or len(set(found)) < len(found) or isinstance(given, bool):
            raise DesignError(
                f"the waves of {self.question!r} must be a number, or different numbers from 1; got {given!r}"
            )
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "waves", tuple(sorted(found)))

    def until(self, wave: int) -> tuple[float, float]:
        """ε of the answers up to a wave: if the value never changed, and at most."""
        n = sum(each <= wave for each in self.waves)  # type: ignore[union-attr]
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
        return max(each.waves[-1] for each in self.asked)  # type: ignore[index]

    def until(self, wave: int) -> tuple[float, float]:
        """ε of all answers up to a wave: if no value ever changed, and at most."""
        apart = [each.until(wave) for each in self.asked if not each.lot]
        lots: dict[tuple[str, int], float] = {}
        for each in self.asked:
            for number in each.waves if each.lot else ():  # type: ignore[union-attr]
                if number <= wave:
                    key, one = (each.lot, number), epsilon(check_channel(each.design, ""))
                    lots[key] = max(lots.get(key, 0.0), one)
        together = math.fsum(lots.values())
        return math.fsum(one for one, _ in apart) + together, math.fsum(most for _, most in apart) + together

    @property
    def unchanged(self) -> float:
        """ε of all answers if no value ever changed."""
        return self.until(self.last)[0]

    @property
    def per_change(self) -> float:
        """What each change of a value adds at most."""
        return max(each.per_change for each in self.asked)

    @property
    def at_most(self) -> float:
        """The most that all answers tell about the values, besides showing that a value changed."""
        return self.until(self.last)[1]

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON would hold them; ∞ is null."""
        told: dict[str, Any] = {"unchanged": self.unchanged, "per_change": self.per_change, "at_most": self.at_most}
        told |= {"cap": self.cap, "waves": [[wave, *self.until(wave)] for wave in range(1, self.last + 1)]}
        told["questions"] = [{"question": e.question, "rule": e.rule, "waves": list(e.waves)} for e in self.asked]  # type: ignore[arg-type]
        return {name: plain(value) for name, value in told.items()}

    def sections(self) -> list[Content]:
        """The three lines and the table by wave, in the vocabulary of `naysay.printing`."""
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
        found = []
        if any(each.rule == "kept" for each in self.asked):
            found.append("kept answers: two different ones prove that the value changed; no ε bounds that")
        if any(each.rule == "memory" for each in self.asked):
            found.append("memory is bought by a weaker promise: reports of one memo can tell more than new draws would")
            found.append("reports of memos also show, with some chance, that the value changed; see privacy.waves")
        shared = {each.rule for each in self.asked if each._price["values"] is None}
        if "kept" in shared:
            found.append("kept answers of an affine design tell which values share a hash; k_ary has no hash")
        if "memory" in shared:
            found.append("values that share the hash of an affine design share a memo; at most counts what that tells")
        if self.cap is not None and self.at_most > self.cap:
            first = next(wave for wave in range(1, self.last + 1) if self.until(wave)[1] > self.cap)
            found.append(f"the cap of {self.cap:g} can be exceeded from wave {first} on; devices then refuse to answer")
        for each in self.asked:
            number, one = len(each.waves), epsilon(check_channel(each.design, ""))  # type: ignore[arg-type]
            if each.rule == "fresh" and number > _MANY and math.isfinite(one):
                told = f"(ε, δ) = ({approximate(one, number, delta=_DELTA):.4g}, {_DELTA:g}) by optimal composition"
                found.append(f"{each.question}: beside the sum, a weaker kind of promise: {told}")
        return found

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
    names = [each.question for each in asked]
    if not names or len(set(names)) < len(names):
        raise DesignError(f"a schedule needs questions with different names; got {names}")
    if cap is not None and not cap > 0:
        raise DesignError(f"the cap must be above 0; got {cap!r}")
    return Schedule(tuple(asked), cap)


def of_tables(told: Mapping[str, Any], read: Any) -> Schedule:
    """The schedule that a TOML or JSON file describes; `read` makes a design from its text and categories."""
    questions = told.get("questions")
    if not isinstance(questions, list) or set(told) - {"questions", "cap"}:
        raise DesignError("a schedule has a list 'questions' and may have a 'cap', and nothing else")
    asked = []
    for number, each in enumerate(questions, 1):
        known = {"name", "design", "categories", "waves", "rule", "lot"}
        if not isinstance(each, Mapping) or not {"name", "design"} <= set(each) <= known:
            raise DesignError(
                f"question {number} must have a name and a design, and may have categories, waves, a rule and a lot"
            )
        rest = {name: each[name] for name in ("waves", "rule", "lot") if name in each}
        asked.append(Asked(str(each["name"]), read(each["design"], each.get("categories")), **rest))
    return schedule(asked, cap=told.get("cap"))


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
    kept = design if memory is None else memory.first
    if isinstance(kept, AffineHash) and (kept.named or len(kept.categories) > kept.base):
        return None
    return len(kept.categories)


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"
