"""Spaces for two reports of one person, and for reports at several levels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError, DesignError
from naysay.responses.sets import Subsets
from naysay.responses.spaces import Codes, Labels, Space, columns_of


@dataclass(frozen=True)
class Pair(Space):
    """Two reports of one person.

    Examples
    --------
    >>> space = Pair(Labels(("yes", "no")), Labels(("a", "b", "c")))
    >>> space.texts(space.encode((["no", "yes"], ["c", None])))
    ['no × c', 'yes × ?']
    """

    first: Space
    second: Space

    @property
    def answers(self) -> int:  # type: ignore[override]
        """How many answers a report holds: more than two if one of the two reports is itself a pair."""
        return self.first.answers + self.second.answers

    @property
    def labels(self) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple(itertools.product(self.first.labels, self.second.labels))

    @property
    def width(self) -> int:
        return self.first.width + self.second.width

    @property
    def dimension(self) -> int:
        return self.first.dimension * self.second.dimension

    @property
    def size(self) -> int:
        return self.first.size * self.second.size

    def split(self, codes: Codes) -> tuple[Codes, Codes]:
        """The codes of the two reports."""
        return codes[:, : self.first.width], codes[:, self.first.width :]

    def encode(self, values: Any) -> Codes:
        first, second = columns_of(values, self.first.answers, self.second.answers)
        one, two = self.first.encode(first), self.second.encode(second)
        if len(one) != len(two):
            raise DataError(f"two questions to one person need two answers each; got {len(one)} and {len(two)} answers")
        return np.hstack([one, two])

    def decode(self, codes: Codes) -> NDArray[Any]:
        if not all(isinstance(space, Labels | Pair) for space in (self.first, self.second)):
            raise DesignError("a pair that holds sets has no single array; use `.parts` of the responses")
        one, two = (
            space.decode(part) for space, part in zip((self.first, self.second), self.split(codes), strict=True)
        )
        return np.column_stack([one.astype(object), two.astype(object)])

    def texts(self, codes: Codes) -> list[str | None]:
        one, two = self.split(codes)
        blanks = [" × ".join("?" * space.answers) for space in (self.first, self.second)]
        return [
            None if a is None and b is None else " × ".join(c or blank for c, blank in zip((a, b), blanks, strict=True))
            for a, b in zip(self.first.texts(one), self.second.texts(two), strict=True)
        ]

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        one, two = self.split(codes)
        return self.first.missing(one) & self.second.missing(two)

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        one, two = self.split(codes)
        product = self.first.statistic(one)[:, :, None] * self.second.statistic(two)[:, None, :]
        return product.reshape(len(codes), self.dimension)

    def _all_codes(self) -> Codes:
        one, two = self.first.listing(), self.second.listing()
        return np.hstack([np.repeat(one, len(two), axis=0), np.tile(two, (len(one), 1))])

    def form(self) -> dict[str, Any]:
        return {"space": "pair", "first": self.first.form(), "second": self.second.form()}


@dataclass(frozen=True)
class Margins(Pair):
    """Two reports of one person about one thing. The linear statistics of both stand side by side.

    Examples
    --------
    >>> space = Margins(Labels(("same", "different")), Labels(("same", "different")))
    >>> space.statistic(space.encode((["same"], ["different"])))
    array([[1., 0., 0., 1.]])
    """

    @property
    def dimension(self) -> int:
        return self.first.dimension + self.second.dimension

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        one, two = self.split(codes)
        return np.hstack([self.first.statistic(one), self.second.statistic(two)])

    def form(self) -> dict[str, Any]:
        return super().form() | {"space": "margins"}


@dataclass(frozen=True)
class AtLevels(Space):
    """Reports whose space depends on the level. The first word of a code is the level's place."""

    spaces: tuple[Space, ...]

    @property
    def labels(self) -> tuple[Any, ...]:  # type: ignore[override]
        return self.spaces[0].labels

    @property
    def width(self) -> int:
        return 1 + max(space.width for space in self.spaces)

    @property
    def dimension(self) -> int:
        raise DesignError("answers at different levels share no statistic; look at one level")

    @property
    def size(self) -> int:
        return sum(space.size for space in self.spaces)

    def encode(self, values: Any) -> Codes:
        raise DataError("these levels report in different ways; encode with the design and `level=`")

    def _each(self, codes: Codes) -> list[tuple[Space, NDArray[np.intp], Codes]]:
        rows = [np.flatnonzero(codes[:, 0] == place) for place in range(len(self.spaces))]
        return [
            (space, here, codes[here][:, 1 : 1 + space.width]) for space, here in zip(self.spaces, rows, strict=True)
        ]

    def decode(self, codes: Codes) -> NDArray[Any]:
        result = np.empty(len(codes), dtype=object)
        result[:] = self.texts(codes)
        return result

    def texts(self, codes: Codes) -> list[str | None]:
        result: list[str | None] = [None] * len(codes)
        for space, here, own in self._each(codes):
            for row, text in zip(here.tolist(), space.texts(own), strict=True):
                result[row] = text
        return result

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        raise DesignError("answers at different levels share no statistic; look at one level")

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        result = np.zeros(len(codes), dtype=bool)
        for space, here, own in self._each(codes):
            result[here] = space.missing(own)
        return result

    def _all_codes(self) -> Codes:
        raise DesignError("responses are listed level by level: choice.channel(level).responses")

    def form(self) -> dict[str, Any]:
        return {"space": "levels", "spaces": [space.form() for space in self.spaces]}


def shared_space(spaces: tuple[Space, ...]) -> Space:
    """One space for the reports of all levels: their common space, or `AtLevels` where codes would differ."""
    if all(space == spaces[0] for space in spaces):
        return spaces[0]
    if all(type(space) is Subsets and space.labels == spaces[0].labels for space in spaces):
        sets = [space for space in spaces if isinstance(space, Subsets)]
        return Subsets(spaces[0].labels, min(space.least for space in sets), max(space.most for space in sets))
    return AtLevels(spaces)
