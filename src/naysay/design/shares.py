"""Shares of cells. What is estimated is a share of the cells, the kinds of people that the channels tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.exact import labels_of
from naysay.errors import DesignError

__all__ = ["Share"]


@dataclass(frozen=True)
class Share:
    """A share of cells: Σ c over `of`, divided by Σ c over `among`.

    Parameters
    ----------
    name : label
        A category, or the name of a nuisance parameter.
    of : tuple of label
        Cells of the numerator.
    among : tuple of label, optional
        Cells of the denominator, which include `of`; all cells by default.

    Examples
    --------
    >>> Share("truthful", ("a",), among=("a", "c")).weights(("a", "b", "c"))
    (array([1., 0., 0.]), array([1., 0., 1.]))
    """

    name: Any
    of: tuple[Any, ...]
    among: tuple[Any, ...] = ()

    def weights(self, cells: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Which cells belong to the numerator and to the denominator: 0 or 1 for each cell, (cells,) each."""
        known = set(cells)
        if not self.of or not {*self.of, *self.among} <= known or (self.among and not set(self.of) <= set(self.among)):
            raise DesignError(f"the share {self.name!r} must be of cells among {_checks.shown(cells)}; got {self.of}")
        above = np.array([cell in self.of for cell in cells], dtype=float)
        below = np.array([not self.among or cell in self.among for cell in cells], dtype=float)
        return above, below

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Share:
        """The share that a JSON object describes."""
        return cls(*(labels_of(node[name]) for name in ("share", "of", "among")))

    def form(self) -> dict[str, Any]:
        """The share as a JSON object."""
        return {"share": self.name, "of": list(self.of), "among": list(self.among)}
