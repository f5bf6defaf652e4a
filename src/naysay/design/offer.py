"""An offer of designs, from which each respondent chooses her level of privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, Truth, check_channel
from naysay.design.drawing import Source, source_of
from naysay.design.exact import rounded
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import Codes, Pair, Responses, Space, Subsets, cells_of

__all__ = ["AtLevels", "Levels"]


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
class Levels(Answerable):
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

    names: tuple[Any, ...]
    designs: tuple[Design, ...]
    kind: ClassVar[str] = "levels"

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
            space=_shared(spaces),
            names=names,
            designs=designs,
            name=name,
            notes=notes,
        )

    @property
    def levels(self) -> tuple[Any, ...]:
        """The levels, most private first."""
        return self.names

    def channel(self, level: Any = None) -> Design:
        """The design of a level, named by a number or its text."""
        return self.designs[self.names.index(self.level_named(level))]

    def level_named(self, name: Any) -> Any:
        """The level of that name.

        Raises
        ------
        DataError
            A level outside the offer; the message lists the offer.
        """
        found = self._found(name)
        if found is None:
            raise DataError(f"level {name!r} is not on offer; the levels are {_checks.shown(self.names)}", value=name)
        return found

    def _found(self, name: Any) -> Any:
        """The level of that name, None if it is not on offer."""
        if isinstance(name, float | np.floating) and float(name).is_integer():
            name = int(name)
        return next((level for level in self.names if str(level) == str(name)), None)

    def _chosen(self, level: Any, size: int, missing: NDArray[np.bool_]) -> NDArray[Any]:
        """The level of each respondent, checked; a respondent without answer and level stands at the first level."""
        cells = [level] * size if np.ndim(level) == 0 else cells_of(level)
        if len(cells) != size:
            raise DataError(f"each of the {size} respondents needs a level; got {len(cells)}")
        known = {str(name): name for name in self.names} | {name: name for name in self.names}
        result = np.empty(size, dtype=object)
        for row, cell in enumerate(cells):
            found = known.get(cell)
            if found is None:
                found = self._level_of(cell, row, size, answered=not missing[row])
            result[row] = found
        return result.astype(self._name_type)

    @property
    def _name_type(self) -> type:
        """How levels are held in an array: as integers if all of them are."""
        return np.int64 if all(isinstance(name, int) for name in self.names) else object

    def _level_of(self, cell: Any, row: int, size: int, *, answered: bool) -> Any:
        if _checks.is_missing(cell) and not answered:
            return self.names[0]
        found = self._found(cell)
        if found is None:
            problem = "is empty; say which level was chosen"
            if not _checks.is_missing(cell):
                offer = _checks.shown(self.names)
                problem = f"is {str(cell)[:80]!r}, which is no level on offer; the levels are {offer}"
            raise AnswerError(problem, row=row, total=size, value=cell, about="level")
        return found

    def positions(self, truth: Any) -> Truth:
        return self.designs[0].positions(truth)

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
            chosen = self._drawn_levels(len(places), preferences, source)
        elif preferences is None:
            chosen = self._chosen(level, len(places), places < 0)
        else:
            raise DataError("give the levels or preferences over them, not both")
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
        """Codes of one level's space as codes of the offer's space."""
        if isinstance(self.space, AtLevels):
            codes = np.hstack([np.full((len(codes), 1), place, dtype=np.int64), codes])
        return np.pad(codes, ((0, 0), (0, self.space.width - codes.shape[1])))

    def _drawn_levels(self, n: int, preferences: ArrayLike | None, source: Source) -> NDArray[Any]:
        names: NDArray[Any] = np.array(self.names, dtype=self._name_type)
        if preferences is None:
            return np.asarray(names[source.below(len(names), n)])
        shares = _checks.probability_vector(preferences, len(names), what="preferences")
        weights = rounded([Fraction(share) for share in shares.tolist()])
        drawn = source.below(sum(weights), n)
        return np.asarray(names[np.searchsorted(np.cumsum(weights), drawn, side="right")])

    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses at the level of each, checked against that level's response space."""
        if level is None:
            raise DataError("answers to an offer of levels need `level`: the level that each respondent chose")
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
                problem = f"at level {name!r} {error.problem}"
                raise AnswerError(problem, row=int(here[error.row or 0]), total=size, value=error.value) from None
            codes[here] = self._placed(place, encoded)
        return Responses(codes, self.space, chosen)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category, level) for each response, (n, t); a row of ones where it is missing."""
        if not isinstance(responses, Responses) or responses.level is None:
            raise DataError("the likelihood under an offer of levels needs Responses that carry their level")
        result = np.ones((len(responses), len(self.categories)))
        for name, design in zip(self.names, self.designs, strict=True):
            here, codes = self.codes_at(name, responses)
            known = ~design.space.missing(codes)
            result[np.flatnonzero(here)[known]] = design.rows(codes[known])
        return result

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.level is None:
            raise DataError("answers to an offer of levels need `level`: the level that each respondent chose")
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        chosen = np.asarray(responses.level == level)
        start = 1 if isinstance(self.space, AtLevels) else 0
        return chosen, responses.codes[chosen][:, start : start + self.channel(level).space.width]

    def form(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "notes": list(self.notes),
            "levels": [
                {"level": name, "design": design.form()} for name, design in zip(self.names, self.designs, strict=True)
            ],
        }


def _shared(spaces: tuple[Space, ...]) -> Space:
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
