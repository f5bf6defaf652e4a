"""Spaces for two reports of one person, and for reports at several levels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay._values import Array
from naysay.errors import DataError, DesignError
from naysay.responses.spaces import Codes, Labels, Space, Subsets, columns_of


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

    def encode(self, values: object) -> Codes:
        first_columns, second_columns = columns_of(values, self.first.answers, self.second.answers)
        first_codes, second_codes = self.first.encode(first_columns), self.second.encode(second_columns)
        if len(first_codes) != len(second_codes):
            raise DataError(
                "two questions to one person need two answers each; "
                f"got {len(first_codes)} and {len(second_codes)} answers"
            )
        return np.hstack([first_codes, second_codes])

    def decode(self, codes: Codes) -> Array:
        if not all(isinstance(question_space, Labels | Pair) for question_space in (self.first, self.second)):
            raise DesignError("a pair that holds sets has no single array; use `.parts` of the responses")
        first_labels, second_labels = (
            question_space.decode(question_codes)
            for question_space, question_codes in zip((self.first, self.second), self.split(codes), strict=True)
        )
        return np.column_stack([first_labels.astype(object), second_labels.astype(object)])

    def texts(self, codes: Codes) -> list[str | None]:
        first_codes, second_codes = self.split(codes)
        blank_texts = [" × ".join("?" * question_space.answers) for question_space in (self.first, self.second)]
        return [
            None
            if first_text is None and second_text is None
            else " × ".join(
                answer_text or blank_text
                for answer_text, blank_text in zip((first_text, second_text), blank_texts, strict=True)
            )
            for first_text, second_text in zip(
                self.first.texts(first_codes), self.second.texts(second_codes), strict=True
            )
        ]

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        first_codes, second_codes = self.split(codes)
        return self.first.missing(first_codes) & self.second.missing(second_codes)

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        first_codes, second_codes = self.split(codes)
        product = self.first.statistic(first_codes)[:, :, None] * self.second.statistic(second_codes)[:, None, :]
        return product.reshape(len(codes), self.dimension)

    def _all_codes(self) -> Codes:
        first_codes, second_codes = self.first.listing(), self.second.listing()
        return np.hstack(
            [np.repeat(first_codes, len(second_codes), axis=0), np.tile(second_codes, (len(first_codes), 1))]
        )

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
        first_codes, second_codes = self.split(codes)
        return np.hstack([self.first.statistic(first_codes), self.second.statistic(second_codes)])

    def form(self) -> dict[str, Any]:
        return super().form() | {"space": "margins"}


@dataclass(frozen=True)
class AtLevels(Space):
    """Reports whose space depends on the level. The first word of a code is the level's place."""

    spaces: tuple[Space, ...]

    @property
    def answers(self) -> int:  # type: ignore[override]
        """How many answers a report holds, at each level alike."""
        return self.spaces[0].answers

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

    def encode(self, values: object) -> Codes:
        raise DataError("these levels report in different ways; encode with the design and `level=`")

    def _by_space(self, codes: Codes) -> list[tuple[Space, NDArray[np.intp], Codes]]:
        rows_by_level = [np.flatnonzero(codes[:, 0] == level_place) for level_place in range(len(self.spaces))]
        return [
            (level_space, level_rows, codes[level_rows][:, 1 : 1 + level_space.width])
            for level_space, level_rows in zip(self.spaces, rows_by_level, strict=True)
        ]

    def decode(self, codes: Codes) -> Array:
        result = np.empty(len(codes), dtype=object)
        result[:] = self.texts(codes)
        return result

    def texts(self, codes: Codes) -> list[str | None]:
        response_texts: list[str | None] = [None] * len(codes)
        for level_space, level_rows, level_codes in self._by_space(codes):
            for row_number, response_text in zip(level_rows.tolist(), level_space.texts(level_codes), strict=True):
                response_texts[row_number] = response_text
        return response_texts

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        raise DesignError("answers at different levels share no statistic; look at one level")

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        result = np.zeros(len(codes), dtype=bool)
        for space, level_rows, level_codes in self._by_space(codes):
            result[level_rows] = space.missing(level_codes)
        return result

    def _all_codes(self) -> Codes:
        raise DesignError("responses are listed level by level: choice.channel(level).responses")

    def form(self) -> dict[str, Any]:
        return {"space": "levels", "spaces": [space.form() for space in self.spaces]}


def shared_space(spaces: tuple[Space, ...]) -> Space:
    """One space for the reports of all levels: their common space, or `AtLevels` where codes would differ."""
    if all(level_space == spaces[0] for level_space in spaces):
        return spaces[0]
    if all(type(level_space) is Subsets and level_space.labels == spaces[0].labels for level_space in spaces):
        set_spaces = [level_space for level_space in spaces if isinstance(level_space, Subsets)]
        return Subsets(
            spaces[0].labels,
            min(level_space.least for level_space in set_spaces),
            max(level_space.most for level_space in set_spaces),
        )
    return AtLevels(spaces)
