"""Hierarchies over ordered categories: each person reports the group of the one level that lot gave them.

With B groups in each group, level l of h cuts the t categories into groups of B^(h - l); the last level has the
categories themselves. A range of categories is a few groups of each level, so that its share adds few noisy numbers.
Each person spends the whole ε on one level; to split ε among levels would cost far more (Cormode, Kulkarni &
Srivastava 2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, check_channel, told_of
from naysay.design.chances import Truth
from naysay.design.drawing import Source
from naysay.design.exact import integer
from naysay.design.pure import domain_form, domain_of
from naysay.design.several import Several
from naysay.errors import DesignError
from naysay.responses import Codes, Responses

__all__ = ["Grouped", "Hierarchy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Grouped(Design):
    """A design that is asked about groups of neighboring categories.

    Parameters
    ----------
    design : Design
        The design over the groups, which are numbered from 0.
    width : int
        How many categories a group holds; the last one may hold fewer.

    Examples
    --------
    >>> from naysay import designs
    >>> pairs = Grouped.of(("a", "b", "c", "d"), designs.direct((0, 1)), 2)
    >>> pairs.matrix.tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
    """

    design: Design
    width: int
    kind: ClassVar[str] = "grouped"
    rule: ClassVar[str] = "With truth x, numbered from 0, draw from design; its truth is the number floor(x / width)."

    @classmethod
    def of(cls, categories: Sequence[Any], design: Answerable, width: int, **fields: Any) -> Self:
        labels, groups = tuple(categories), check_channel(design, "the design over groups")
        if integer(width) < 1 or groups.categories != tuple(range(-(-len(labels) // width))):
            raise DesignError(
                f"{len(labels)} categories in groups of {width} need a design over the numbers of these groups; got "
                f"{_checks.shown(groups.categories)}"
            )
        return cls(categories=labels, space=groups.space, design=groups, width=width, **fields)

    def form(self) -> dict[str, Any]:
        return super().form() | {"categories": domain_form(self.categories)}

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        return super().of_form({**node, "categories": domain_of(node["categories"])})

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The number of each category's group, (t,)."""
        return np.arange(len(self.categories)) // self.width

    def rows(self, codes: Codes) -> Floats:
        return self.design.rows(codes)[:, self.places]

    def integers(self, codes: Codes) -> NDArray[Any] | None:
        found = self.design.integers(codes)
        return None if found is None else found[:, self.places]

    def draw(self, truth: Truth, source: Source) -> Codes:
        return self.design.draw(truth // self.width, source)

    @cached_property
    def expected_statistic(self) -> Floats:
        return _checks.read_only(self.design.expected_statistic[:, self.places])

    @cached_property
    def even_mean(self) -> tuple[float, float] | None:
        return self.design.even_mean if self.width == 1 else None

    @property
    def odds(self) -> tuple[int, int] | None:
        return self.design.odds

    @property
    def typical_codes(self) -> Codes:
        return self.design.typical_codes

    @property
    def moments_only(self) -> str:
        return "one level of a hierarchy does not tell the categories of a group apart; use ranges"

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return self.design.impossible(codes)

    def diagnosed(self, part: Any) -> Any:
        return self.design.diagnosed(part)

    def told_bits(self, prior: Floats) -> float | None:
        """An answer tells of a category what it tells of its group."""
        shares = np.bincount(self.places, prior).astype(np.float64)
        if self.design.one_pattern and self.design.even_mean is not None:
            alpha, beta = self.design.even_mean
            row = self.design.rows(self.design.typical_codes[:1])[0]
            return float(row @ np.log2(row) - (chances := beta + alpha * shares) @ np.log2(chances))
        if (told := self.design.told_bits(shares)) is not None or not self.space.listable:
            return told
        rows = self.design.rows(self.space.listing())
        return float((rows * shares * np.log2(rows / (rows @ shares)[:, None])).sum())

    def guessed(self, prior: Floats) -> float:
        likeliest = np.maximum.reduceat(prior, np.arange(0, len(prior), self.width))
        return self.design.guessed(likeliest / likeliest.sum()) * float(likeliest.sum())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hierarchy(Several):
    """Ordered categories in groups of groups; lot gives each person the level that they report.

    Parameters
    ----------
    names : tuple of int
        The levels 1 … h; level h has the categories themselves.
    designs : tuple of Grouped
        The design of each level.
    fanout : int
        B, how many groups of the next level a group holds.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.hierarchy(100, epsilon=1, fanout=5)
    >>> {level: part.width for level, part in survey.parts.items()}
    {1: 25, 2: 5, 3: 1}
    """

    fanout: int
    kind: ClassVar[str] = "hierarchy"
    rule: ClassVar[str] = (
        "Draw v below the number of levels, and draw from the design of the v-th level, from 0. The report is the "
        "level and the response. Draw v afresh for each person, whatever their truth."
    )
    assigned_by: ClassVar[str] = "lot"
    estimates: ClassVar[str] = "ranges"
    noun = "level"
    unknown = "no level of this hierarchy"
    alike = "be about the same categories"
    needed = "answers of a hierarchy need `level`: the level that was drawn for each respondent"

    @classmethod
    def of(cls, levels: Mapping[Any, Answerable], fanout: int, *, name: str = "", notes: tuple[str, ...] = ()) -> Self:
        """The hierarchy of these levels, the coarsest first."""
        widths = [getattr(each, "width", 0) for each in levels.values()]
        expected = [integer(fanout) ** (len(levels) - 1 - place) for place in range(len(levels))]
        if fanout < 2 or widths != expected or tuple(levels) != tuple(range(1, len(levels) + 1)):
            raise DesignError(
                f"the levels of a hierarchy are 1, 2, …, each with groups {fanout} times as wide as the next; got "
                f"levels {_checks.shown(levels)} with groups of {_checks.shown(widths)}"
            )
        return cls._named(levels, tuple(levels), fanout=fanout, name=name, notes=notes)

    def randomize(self, truth: Any, *, level: Any = None, rng: np.random.Generator | Source | None = None) -> Responses:
        """One response for each respondent at the level that lot gives them.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response.
        level : (n,) sequence of level, or one level, optional
            The level of each respondent, where lot was drawn before; it must not depend on the truth.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the level of each.
        """
        return self._randomized(truth, level, None, rng, what="chances")

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Hierarchy:
        told = told_of(node)
        return cls.of(cls._offer(node), node["fanout"], name=told["name"], notes=told["notes"])
