"""What several designs side by side have in common, whether a respondent picks one or is put into one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.answerable import Answerable, Truth
from naysay.design.base import Design
from naysay.design.drawing import Source
from naysay.design.exact import rounded
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import Codes, Pair, Responses, Space, Subsets, cells_of

__all__ = ["AtLevels", "Several", "shared_space"]


@dataclass(frozen=True)
class AtLevels(Space):
    """Reports in different spaces at different levels; the first word of a code is the level's place."""

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Several(Answerable):
    """Designs by name; every answer belongs to one of them.

    Parameters
    ----------
    names : tuple of label
        What tells the designs apart: levels of privacy, or samples.
    designs : tuple of Design
        The design of each.
    """

    names: tuple[Any, ...]
    designs: tuple[Design, ...]

    several: ClassVar[bool] = True
    noun: ClassVar[str]
    """What one of the names is: a level, a sample."""
    unknown: ClassVar[str]
    """What another name is not."""
    needed: ClassVar[str]
    """What must come with the answers."""

    @property
    def levels(self) -> tuple[Any, ...]:
        """The names of the designs."""
        return self.names

    def channel(self, level: Any = None) -> Design:
        """The design of that name, a number or its text."""
        return self.designs[self.names.index(self.level_named(level))]

    def level_named(self, name: Any) -> Any:
        """The name itself, as it was given when the designs were put together.

        Raises
        ------
        DataError
            A name that there is not; the message lists all.
        """
        found = self._found(name)
        if found is None and None not in self.names:
            raise DataError(
                f"{self.noun} {name!r} is {self.unknown}; the {self.noun}s are {_checks.shown(self.names)}", value=name
            )
        return found

    def _found(self, name: Any) -> Any:
        """The name as it was given, None if there is no such."""
        if isinstance(name, float | np.floating) and float(name).is_integer():
            name = int(name)
        return next((level for level in self.names if str(level) == str(name)), None)

    def _chosen(self, level: Any, size: int, missing: NDArray[np.bool_]) -> NDArray[Any]:
        """The name for each respondent, checked; who has neither answer nor name stands under the first."""
        cells = [level] * size if np.ndim(level) == 0 else cells_of(level)
        if len(cells) != size:
            raise DataError(f"each of the {size} respondents needs a {self.noun}; got {len(cells)}")
        known = {str(name): name for name in self.names} | {name: name for name in self.names}
        result = np.empty(size, dtype=object)
        for row, cell in enumerate(cells):
            found = known.get(cell)
            if found is None:
                found = self._name_of(cell, row, size, answered=not missing[row])
            result[row] = found
        return result.astype(self._name_type)

    @property
    def _name_type(self) -> type:
        """How names are held in an array: as integers if all of them are."""
        return np.int64 if all(isinstance(name, int) for name in self.names) else object

    def _name_of(self, cell: Any, row: int, size: int, *, answered: bool) -> Any:
        if _checks.is_missing(cell) and not answered:
            return self.names[0]
        found = self._found(cell)
        if found is None:
            problem = f"is empty; say which {self.noun} it is"
            if not _checks.is_missing(cell):
                known = _checks.shown(self.names)
                problem = f"is {str(cell)[:80]!r}, which is {self.unknown}; the {self.noun}s are {known}"
            raise AnswerError(problem, row=row, total=size, value=cell, about=self.noun)
        return found

    def positions(self, truth: Any) -> Truth:
        return self.designs[0].positions(truth)

    def _drawn_names(self, n: int, chances: ArrayLike | None, source: Source, *, what: str) -> NDArray[Any]:
        names: NDArray[Any] = np.array(self.names, dtype=self._name_type)
        if chances is None:
            return np.asarray(names[source.below(len(names), n)])
        shares = _checks.probability_vector(chances, len(names), what=what)
        weights = rounded([Fraction(share) for share in shares.tolist()])
        drawn = source.below(sum(weights), n)
        return np.asarray(names[np.searchsorted(np.cumsum(weights), drawn, side="right")])

    def drawn(self, places: Truth, chosen: NDArray[Any], source: Source) -> Responses:
        """One response for each true place (-1 is missing) under the design of that name."""
        codes = np.zeros((len(places), self.space.width), dtype=np.int64)
        for place, (name, design) in enumerate(zip(self.names, self.designs, strict=True)):
            here = chosen == name
            drawn = np.zeros((int(here.sum()), design.space.width), dtype=np.int64)
            known = places[here] >= 0
            drawn[~known] = design._missing_code
            drawn[known] = design.draw(places[here][known], source)
            codes[here] = self._placed(place, drawn)
        return Responses(codes, self.space, chosen)

    def _placed(self, place: int, codes: Codes) -> Codes:
        """Codes of one design's space as codes of the space of all."""
        if isinstance(self.space, AtLevels):
            codes = np.hstack([np.full((len(codes), 1), place, dtype=np.int64), codes])
        return np.pad(codes, ((0, 0), (0, self.space.width - codes.shape[1])))

    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses under the design of each, checked against that design's response space."""
        if level is None:
            raise DataError(self.needed)
        columns = isinstance(values, tuple) and isinstance(self.designs[0].space, Pair)
        cells = values if columns else cells_of(values)
        size = len(cells[0]) if columns else len(cells)
        empty = np.array([_empty(cell) for cell in cells]) if not columns else np.zeros(size, dtype=bool)
        chosen = self._chosen(level, size, empty)
        codes = np.zeros((size, self.space.width), dtype=np.int64)
        for place, (name, design) in enumerate(zip(self.names, self.designs, strict=True)):
            here = np.flatnonzero(chosen == name)
            own: Any
            if columns:
                own = tuple([column[row] for row in here.tolist()] for column in values)
            else:
                own = cells[here] if isinstance(cells, np.ndarray) else [cells[row] for row in here.tolist()]
            try:
                encoded = design.space.encode(own)
            except AnswerError as error:
                problem = f"at {self.noun} {name!r} {error.problem}"
                raise AnswerError(problem, row=int(here[error.row or 0]), total=size, value=error.value) from None
            codes[here] = self._placed(place, encoded)
        return Responses(codes, self.space, chosen)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category) under the design of each response, (n, t); a row of ones where it is missing."""
        if not isinstance(responses, Responses) or responses.level is None:
            raise DataError(f"the likelihood under several designs needs Responses that carry their {self.noun}")
        result = np.ones((len(responses), len(self.designs[0].categories)))
        for name, design in zip(self.names, self.designs, strict=True):
            here, codes = self.codes_at(name, responses)
            known = ~design.space.missing(codes)
            result[np.flatnonzero(here)[known]] = design.rows(codes[known])
        return result

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.level is None:
            raise DataError(self.needed)
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        chosen = np.asarray(responses.level == level)
        start = 1 if isinstance(self.space, AtLevels) else 0
        return chosen, responses.codes[chosen][:, start : start + self.channel(level).space.width]


def shared_space(spaces: tuple[Space, ...]) -> Space:
    """One space that holds the reports of all levels, where their codes agree."""
    if all(space == spaces[0] for space in spaces):
        return spaces[0]
    if all(type(space) is Subsets and space.labels == spaces[0].labels for space in spaces):
        sets = [space for space in spaces if isinstance(space, Subsets)]
        return Subsets(spaces[0].labels, min(space.least for space in sets), max(space.most for space in sets))
    return AtLevels(spaces)


def _empty(cell: Any) -> bool:
    """Whether a respondent gave no answer (a missing cell, or a row of missing cells)."""
    if isinstance(cell, np.ndarray):
        return cell.dtype != bool and all(_checks.is_missing(entry) for entry in cell.tolist())
    return _checks.is_missing(cell)
