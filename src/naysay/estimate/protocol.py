"""The parts on which an estimate builds: options of printing, intervals, findings, and the estimator's protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay.estimate.linear import Floats
from naysay.printing import Points, plain
from naysay.printing.content import Content

__all__ = ["MAKERS", "Finding", "Intervals", "Maker", "Options"]


@dataclass(frozen=True)
class Options:
    """How an estimate is printed.

    Parameters
    ----------
    confidence : float
        The confidence level of each interval by itself.
    method : str, optional
        The method of the intervals; by default the one whose coverage holds for the estimate.
    noncompliance : float
        The share of respondents who may not comply.
    noncompliers : {"anyone", "alike"}
        Who they are; see `noncompliance_band`.
    """

    confidence: float = 0.95
    method: str | None = None
    noncompliance: float = 0.1
    noncompliers: str = "anyone"


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals of all proportions.

    Parameters
    ----------
    bounds : (t, 2) float
    method : str
    confidence : float
    flagged : (t,) bool
        Where the interval missed [0, 1], and that of an estimate at the nearest end replaces it; for `bootstrap` and
        `profile` by name, that end itself.
    misfit : bool
        Whether some interval misses [0, 1] by so much that, if respondents keep to the design, at most one in a hundred
        surveys would.
    """

    bounds: Floats
    method: str
    confidence: float
    flagged: NDArray[np.bool_]
    misfit: bool = False


@dataclass(frozen=True, eq=False)
class Finding(ABC):
    """A part of a result that only some results have, such as a test, a band, or another estimate beside it.

    A kind of finding is a subclass that defines `compute` and its words.

    Parameters
    ----------
    fit : Estimate
    value : object
        What was found; None where it is left out, with a printed reason.
    """

    fit: Any
    value: Any

    name: ClassVar[str]
    """The member of `Estimate` that gives the value."""

    field: ClassVar[str]
    """The name in JSON."""

    beside: ClassVar[bool] = False
    """Whether it stands in the table beside the estimate; else it stands below the table."""

    left_out: ClassVar[str] = ""
    """The sentence where the value is left out; without one, there is then no finding."""

    @classmethod
    @abstractmethod
    def concerns(cls, fit: Any) -> bool:
        """Whether an estimate is of the kind that can have it."""

    @staticmethod
    @abstractmethod
    def compute(fit: Any) -> Any:
        """The value; None where there is none."""

    def columns(self) -> Iterable[tuple[str, Floats]]:
        """Columns of the table: names, and a number for each category."""
        return ()

    def words(self, options: Options) -> str:
        """One line about the value; empty where the table says all."""
        return ""

    def told(self, options: Options) -> Sequence[Content]:
        """The content below the table."""
        line = self.left_out if self.value is None else self.words(options)
        return [Points((line,))] if line else []

    def plain(self, options: Options) -> Any:
        """The value in JSON; None where JSON holds nothing of it."""
        return plain(self.value)


class Maker(Protocol):
    """What an estimate asks of the estimator that made it."""

    @property
    def name(self) -> str: ...
    @property
    def intervals(self) -> Callable[..., Intervals]: ...
    @property
    def findings(self) -> Mapping[str, Callable[[Any], Finding | None]]: ...
    @property
    def sections(self) -> Callable[[Any, Options], list[Content]]: ...
    @property
    def plain(self) -> Callable[[Any, Options], dict[str, Any]]: ...


MAKERS: dict[str, Maker] = {}
"""The estimators by name, below the estimates, so that each estimate finds its own; `estimators` fills it."""
