"""Samples that answer under different designs and are estimated together.

Some kinds of respondents cannot be told apart in one sample alone, such as cheaters, carriers who lie, or people with
an innocuous trait. These kinds are *cells*. Every sample has a design over the same cells, and shares of the cells are
estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.base import Answerable, Share, check_channel, told_of
from naysay.design.drawing import Source
from naysay.design.exact import flag
from naysay.design.several import Several
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Responses


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Samples(Several):
    """Designs over the same cells, one for each sample. Sample sizes are fixed; respondents do not choose.

    A single unnamed sample stands for a design that has more cells than categories.

    Parameters
    ----------
    names : tuple of label
        The samples; ``(None,)`` for a single one.
    designs : tuple of Design
        The design of each sample, over the cells.
    shares : tuple of Share
        The categories, in order, as shares of cells.
    nuisance : tuple of Share
        What else is estimated, as shares of cells.
    measures_compliance : bool
        Whether the nuisance parameters say how many people do not comply.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.cheating_detection(p=(0.25, 0.75))
    >>> survey.levels, survey.cells
    ((1, 2), ('honest yes', 'honest no', 'cheater'))
    """

    shares: tuple[Share, ...] = field()
    nuisance: tuple[Share, ...] = ()
    measures_compliance: bool = False
    kind: ClassVar[str] = "samples"
    rule: ClassVar[str] = (
        "Draw from the design of the sample that the respondent is in; null is the name of an only sample."
    )
    noun = "sample"
    unknown = "no sample of this design"
    alike = "be about the same cells"
    needed = "answers of several samples need `sample`: the sample that each respondent was in"

    def __post_init__(self) -> None:
        super().__post_init__()
        for share in (*self.shares, *self.nuisance):
            share.weights(self.cells)
        _checks.categories([share.name for share in (*self.shares, *self.nuisance)], what="shares")
        if tuple(share.name for share in self.shares) != self.categories:
            raise DesignError(f"the categories must be shares of cells; got {_checks.listing_text(self.shares)}")
        above, below = (np.array(part) for part in zip(*(s.weights(self.cells) for s in self.shares), strict=True))
        if (below != above.sum(axis=0)).any():
            raise DesignError("the categories must share out the same cells, each cell once")

    @classmethod
    def of(
        cls,
        samples: Mapping[Any, Answerable],
        *,
        shares: Sequence[Share] = (),
        nuisance: Sequence[Share] = (),
        measures_compliance: bool = False,
        name: str = "",
        notes: tuple[str, ...] = (),
    ) -> Samples:
        """The samples by name; without `shares` the cells are the categories."""
        names = tuple(samples) if None in samples else _checks.categories(samples, least=1, what="samples")
        cells = check_channel(samples[names[0]], f"sample {names[0]!r}").categories
        all_shares = tuple(shares) or tuple(Share(cell, (cell,)) for cell in cells)
        return cls._of_offer(
            samples,
            names,
            categories=tuple(share.name for share in all_shares),
            shares=all_shares,
            nuisance=tuple(nuisance),
            measures_compliance=measures_compliance,
            name=name,
            notes=notes,
        )

    @property
    def cells(self) -> tuple[Any, ...]:
        """The kinds of respondents over which every sample's design is defined."""
        return self.designs[0].categories

    @property
    def assigned_by(self) -> str:  # type: ignore[override]
        return "nobody" if self.single else "researcher"

    def proportions_of(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = (share.weights(self.cells) for share in self.shares)
        return np.array([above @ cells / (below @ cells) for above, below in weights])

    @property
    def single(self) -> bool:
        """Whether there is only one sample, which then needs no name."""
        return self.names == (None,)

    def encode(self, values: Any, level: Any = None) -> Responses:
        if not self.single:
            return super().encode(values, level)
        if level is not None:
            raise DataError(f"{self.name or 'this design'} has one sample only; leave `sample` out")
        return Responses(self.space.encode(values), self.space)

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if self.single:
            return self.designs[0].codes_at(None, responses)
        return super().codes_at(level, responses)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | cell) in the sample of each response, (n, cells); a row of ones where it is missing."""
        return self.designs[0].likelihood(responses) if self.single else super().likelihood(responses)

    def randomize(
        self,
        truth: Any,
        *,
        sample: Any = None,
        allocation: ArrayLike | None = None,
        rng: np.random.Generator | Source | None = None,
    ) -> Responses:
        """One response for each respondent under the design of their sample.

        Parameters
        ----------
        truth : (n,) sequence of cell
            True cells; a missing one gives a missing response.
        sample : (n,) sequence of sample, or one sample, optional
            The sample of each respondent. Without it samples are drawn.
        allocation : (samples,) float, optional
            Probability of each sample if samples are drawn; equal by default.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the sample of each.
        """
        if self.single:
            return self.designs[0].randomize(truth, rng=rng)
        return self._randomize_by_name(truth, sample, allocation, rng, what="allocation")

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Samples:
        description = told_of(node)
        return cls.of(
            cls._offer(node),
            shares=[Share.of_form(entry) for entry in node["shares"]],
            nuisance=[Share.of_form(entry) for entry in node["nuisance"]],
            measures_compliance=flag(node["measures_compliance"]),
            name=description["name"],
            notes=description["notes"],
        )
