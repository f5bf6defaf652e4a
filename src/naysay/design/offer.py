"""An offer of designs, from which each respondent chooses her level of privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from naysay import _checks
from naysay.design.answerable import Answerable
from naysay.design.base import check_channel
from naysay.design.drawing import Source, source_of
from naysay.design.several import Several, shared_space
from naysay.errors import DataError, DesignError
from naysay.responses import Responses

__all__ = ["Levels"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Levels(Several):
    """Designs at several levels of privacy, of which each respondent picks one.

    This is an offer, not one channel: a response is read given the level that was chosen, and there is no single
    matrix. *Choosing* a level is part of the response: it tells something where the choice depends on the category.

    Parameters
    ----------
    names : tuple of label
        The levels, most private first.
    designs : tuple of Design
        The design of each.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> choice = designs.negative_levels(("a", "b", "c", "d"))
    >>> choice.levels
    (1, 2, 3)
    >>> said = choice.randomize(["a", "b", "c"], level=[1, 3, "2"], rng=np.random.default_rng(0))
    >>> np.asarray(said).sum(axis=1)
    array([1, 3, 2])
    """

    kind: ClassVar[str] = "levels"
    rule: ClassVar[str] = "Draw from the design of the level that the respondent chose."
    assigned_by: ClassVar[str] = "respondent"
    noun = "level"
    unknown = "not on offer"
    needed = "answers to an offer of levels need `level`: the level that each respondent chose"

    def __post_init__(self) -> None:
        for name, design in zip(self.names, self.designs, strict=True):
            check_channel(design, f"level {name!r}")
            if design.categories != self.categories:
                raise DesignError(
                    f"all levels must have the same categories; level {name!r} has {_checks.shown(design.categories)}, "
                    f"level {self.names[0]!r} has {_checks.shown(self.categories)}"
                )

    @classmethod
    def of(cls, offer: Mapping[Any, Answerable], *, name: str = "", notes: tuple[str, ...] = ()) -> Levels:
        """The offer of these designs by name, most private first."""
        names = _checks.categories(offer, least=1, what="levels")
        designs = tuple(check_channel(offer[level], f"level {level!r}") for level in offer)
        spaces = tuple(design.space for design in designs)
        return cls(
            categories=designs[0].categories,
            space=shared_space(spaces),
            names=names,
            designs=designs,
            name=name,
            notes=notes,
        )

    def randomize(
        self,
        truth: Any,
        *,
        level: Any = None,
        preferences: ArrayLike | None = None,
        rng: np.random.Generator | Source | None = None,
    ) -> Responses:
        """One response for each respondent under the level that she chose.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response.
        level : (n,) sequence of level, or one level, optional
            The choice of each respondent. Without it levels are drawn.
        preferences : (levels,) float, optional
            Probability of each level where levels are drawn; equal by default.
        rng : numpy Generator, optional
            For simulation; without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the level of each.
        """
        places = self.positions(truth)
        source = source_of(rng)
        if level is None:
            chosen = self._drawn_names(len(places), preferences, source, what="preferences")
        elif preferences is None:
            chosen = self._chosen(level, len(places), places < 0)
        else:
            raise DataError("give the levels or preferences over them, not both")
        return self.drawn(places, chosen, source)

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Levels:
        offer = {entry["level"]: entry["design"] for entry in node["levels"]}
        if len(offer) != len(node["levels"]):
            raise DesignError("the levels of an offer must differ")
        return cls.of(offer, name=node.get("name", ""), notes=tuple(node.get("notes", ())))

    def form(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "notes": list(self.notes),
            "levels": [
                {"level": name, "design": design.form()} for name, design in zip(self.names, self.designs, strict=True)
            ],
        }
