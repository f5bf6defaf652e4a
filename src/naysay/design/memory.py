"""Memory: a report is drawn once and kept, and noise is drawn afresh whenever it is asked for again.

What is kept is the memo, a response of `first`. Each wave sends it through a `Redraw`: with chance keep/whole it stays,
otherwise it is replaced by one of its n alternatives, each with the same chance. Both steps together are again a
design of the family of `first`, with smaller odds: moments, variances, intervals and tallies are those of that design.

The memo is one of several pieces that are redrawn apart: a label, the value of a hash (the hash stays), a set, or each
bit of a unary report. If p and q are the chances of a piece of the memo in two categories, w equal reports have odds

    (1 + p (ρ^w - 1)) / (1 + q (ρ^w - 1)),  ρ = (keep n + whole - keep) / (whole - keep),

which is the odds of one report for w = 1 and p/q in the limit. It is the most that w reports of one memo tell. It can
exceed the odds of w independent reports: a memo that is seen twice is more than two draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from naysay.design.base import Answerable, Design, check_channel, told_of
from naysay.design.chances import Truth
from naysay.design.drawing import Source, system
from naysay.design.redraw import Redraw
from naysay.errors import DesignError
from naysay.responses import Codes

_BLOCK = 2**14  # responses drawn at a time


def _of_wave(name: str) -> Any:
    """A member that is that of the design of one wave."""
    return property(lambda self: getattr(self.wave, name))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Remembered(Design):
    """A report that is kept and sent with fresh noise in each wave; see `Redraw`.

    Parameters
    ----------
    first : Design
        The design of the memo: k-ary, subset selection, affine or unary. Its ε is that of a lifetime.
    second : Redraw
        The noise of each wave.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.remembered(128, epsilon=1, lifetime=2)
    >>> survey.wave == designs.affine(128, epsilon=1)
    True
    >>> [round(survey.epsilon_after(waves), 2) for waves in (1, 2, 5, 100)]
    [1.0, 1.66, 2.0, 2.0]
    """

    first: Design
    second: Redraw
    kind: ClassVar[str] = "remembered"
    written: ClassVar[tuple[str, ...]] = ("name", "notes")
    rule: ClassVar[str] = (
        "Draw the memo from first; a device that remembers draws it once, and keeps it. Then, for each report, draw u "
        "below whole. If the memo is one of t labels, draw v below t; the report is the memo if u < keep, otherwise "
        "label v. If it is the number s*g+y of an affine design, draw v below g; the report is s*g+y if u < keep, "
        "otherwise s*g+v. If it is a set of k of t categories, draw for j = t-k, ..., t-1 a number v below j+1; the "
        "candidate is v if it was not drawn before, otherwise j; the report is the memo if u < keep, otherwise the set "
        "of the candidates. If it is unary, draw for each category, in order, its own u below whole, then v below 2; "
        "the category is named as in the memo if u < keep, otherwise if v = 1."
    )
    pure = True

    def __post_init__(self) -> None:
        _ = self.wave  # raises where the two steps do not fit

    @classmethod
    def of(cls, first: Answerable, second: Redraw, **fields: Any) -> Remembered:
        """The design of these two steps."""
        memo = check_channel(first, "what is remembered")
        fields.setdefault("name", f"{memo.name or memo.kind}.then(Redraw({second.keep}, {second.whole}))")
        return cls(categories=memo.categories, space=memo.space, first=memo, second=second, **fields)

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        second = node["second"]
        second = Redraw(second["keep"], second["whole"]) if isinstance(second, Mapping) else second
        return cls.of(node["first"], second, **{name: value for name, value in told_of(node).items() if value})

    @property
    def made_of(self) -> tuple[Design, ...]:
        return (self.first,)

    @cached_property
    def wave(self) -> Design:
        """The design of one report by itself: the same family, with the odds of both steps together."""
        wave_design: Design = self.first.faded(self.second.keep, self.second.whole)
        return wave_design

    def positions(self, truth: Any, source: Source = system) -> Truth:
        return self.first.positions(truth, source)

    def draw(self, truth: Truth, source: Source) -> Codes:
        codes = np.empty((len(truth), self.space.width), dtype=np.int64)
        for start in range(0, len(truth), _BLOCK):
            rows = slice(start, start + _BLOCK)
            codes[rows] = self.again(self.first.draw(truth[rows], source), source)
        return codes

    def again(self, memo: Codes, source: Source) -> Codes:
        """The reports of one more wave from these memos."""
        return self.first.redrawn(memo, self.second.keep, self.second.whole, source)

    def epsilon_after(self, waves: int) -> float:
        """ε of that many reports of one memo together: one wave's ε at first, at most that of `first`.

        Raises
        ------
        DesignError
            Fewer than one wave.
        """
        if waves < 1:
            raise DesignError(f"a memo is reported in one wave or more; got {waves}")
        keep, whole, total = self.second.keep, self.second.whole, Decimal(0)
        with localcontext() as context:
            context.prec, context.Emax = 60, 10**15
            for p, q, n in self.first.pieces:
                growth_less_one = (Decimal(keep * n + whole - keep) / (whole - keep)) ** waves - 1
                likely, rare = (1 + growth_less_one * chance.numerator / chance.denominator for chance in (p, q))
                total += (likely / rare).ln()
        nearest = float(total)
        return nearest if Decimal(nearest) >= total else math.nextafter(nearest, math.inf)

    # What follows from the chances of one report is that of `wave`.
    rows, integers, impossible = _of_wave("rows"), _of_wave("integers"), _of_wave("impossible")
    expected_statistic, even_mean = _of_wave("expected_statistic"), _of_wave("even_mean")
    products, second_moments = _of_wave("products"), _of_wave("second_moments")
    typical_codes, exchangeable, odds = _of_wave("typical_codes"), _of_wave("exchangeable"), _of_wave("odds")
    chances_named, one_pattern = _of_wave("chances_named"), _of_wave("one_pattern")
    guessed, told_bits, diagnosed = _of_wave("guessed"), _of_wave("told_bits"), _of_wave("diagnosed")
    keeps_sums, moments_only = _of_wave("keeps_sums"), _of_wave("moments_only")


def memory_of(design: object) -> Remembered | None:
    """The design itself, if its answers are remembered."""
    return cast("Remembered", design) if getattr(design, "kind", "") == Remembered.kind else None
