"""Several designs side by side, and `Levels`: an offer from which each respondent picks one.

What respondents decide themselves: which level they choose, and what they state instead of the truth.

Both are probabilities given the category, as in the design itself, and both come before it. If people state category i
with probability S[i, j] when j is true, responses have probabilities λ = P S π. Each level takes its share of λ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.base import Answerable, Design, check_channel, check_design, told_of
from naysay.design.chances import Truth
from naysay.design.drawing import Source, source_of, system
from naysay.design.exact import labels_of, rounded
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import AtLevels, Codes, Pair, Responses, cells_of, shared_space


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Several(Answerable):
    """Several designs, each with a name; every answer belongs to one of them.

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
    unknown: ClassVar[str]
    """What an error says about an unknown name."""
    needed: ClassVar[str]
    """What must come with the answers."""
    alike: ClassVar[str]
    """What the designs must have in common."""
    written: ClassVar[tuple[str, ...]] = ("name", "notes")

    def __post_init__(self) -> None:
        for name, design in zip(self.names, self.designs, strict=True):
            check_channel(design, f"{self.noun} {name!r}")
            if design.categories != self.cells:
                raise DesignError(
                    f"all {self.noun}s must {self.alike}; {self.noun} {name!r} has "
                    f"{_checks.listing_text(design.categories)}, {self.noun} {self.names[0]!r} has "
                    f"{_checks.listing_text(self.cells)}"
                )

    @classmethod
    def _of_offer(cls, offer: Mapping[Any, Answerable], names: tuple[Any, ...], **fields: Any) -> Self:
        designs = tuple(check_channel(design, f"{cls.noun} {name!r}") for name, design in offer.items())
        space = shared_space(tuple(part_design.space for part_design in designs))
        common: dict[str, Any] = {"categories": designs[0].categories, "space": space}
        return cls(names=names, designs=designs, **(common | fields))

    @classmethod
    def _offer(cls, node: dict[str, Any]) -> dict[Any, Any]:
        """The designs by name that a JSON object lists."""
        offer = {labels_of(entry[cls.noun]): entry["design"] for entry in node[f"{cls.noun}s"]}
        if len(offer) != len(node[f"{cls.noun}s"]):
            raise DesignError(f"the {cls.noun}s of a design must differ")
        return offer

    def _content(self) -> dict[str, Any]:
        own_content = {
            field_name: value
            for field_name, value in super()._content().items()
            if field_name not in ("names", "designs")
        }
        return own_content | {
            f"{self.noun}s": [
                {self.noun: name, "design": part_design.form()} for name, part_design in self.parts.items()
            ]
        }

    @property
    def parts(self) -> dict[Any, Design]:
        return dict(zip(self.names, self.designs, strict=True))

    @property
    def moments_only(self) -> str:
        several = "the likelihood of several designs with so many responses takes long"
        reasons = (
            part_design.moments_only or (several if part_design.by_transform is not None else "")
            for part_design in self.designs
        )
        return next(filter(None, reasons), "")

    @property
    def made_of(self) -> tuple[Design, ...]:
        return self.designs

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
            The name is unknown; the message lists all names.
        """
        given_name = self._name_as_given(name)
        if given_name is None and None not in self.names:
            raise DataError(
                f"{self.noun} {name!r} is {self.unknown}; the {self.noun}s are {_checks.listing_text(self.names)}",
                value=name,
            )
        return given_name

    def _name_as_given(self, name: Any) -> Any:
        """The name as it was given; None if it is unknown."""
        texts = {str(name)}
        # A frame may hold level 1 as 1.0; a level may also be called 1.0.
        if isinstance(name, float | np.floating) and float(name).is_integer():
            texts.add(str(int(name)))
        return next((level for level in self.names if str(level) in texts), None)

    def _check_names(self, level: Any, size: int, missing: NDArray[np.bool_]) -> NDArray[Any]:
        """The name for each respondent, checked; a respondent with no answer and no name counts under the first."""
        cells = [level] * size if np.ndim(level) == 0 else cells_of(level)
        if len(cells) != size:
            raise DataError(f"each of the {size} respondents needs a {self.noun}; got {len(cells)}")
        name_of = {str(name): name for name in self.names} | {name: name for name in self.names}
        result = np.empty(size, dtype=object)
        for row, cell in enumerate(cells):
            given_name = name_of.get(cell)
            if given_name is None:
                given_name = self.names[0] if missing[row] and _checks.is_missing(cell) else self._name_as_given(cell)
            if given_name is None:
                known_names = f"the {self.noun}s are {_checks.listing_text(self.names)}"
                problem = f"is {str(cell)[:80]!r}, which is {self.unknown}; {known_names}"
                if _checks.is_missing(cell):
                    problem = f"is empty; say which {self.noun} it is"
                raise AnswerError(problem, row=row, total=size, value=cell, about=self.noun)
            result[row] = given_name
        return result.astype(self._name_type)

    @property
    def _name_type(self) -> type:
        """The dtype of an array of names: integer if all names are integers, otherwise object."""
        return np.int64 if all(isinstance(name, int) for name in self.names) else object

    def positions(self, truth: Any, source: Source = system) -> Truth:
        return self.designs[0].positions(truth, source)

    def _randomize_by_name(
        self,
        truth: Any,
        level_names: Any,
        chances: ArrayLike | None,
        rng: np.random.Generator | Source | None,
        *,
        what: str,
    ) -> Responses:
        """One response for each respondent under the design named for them; without names, designs are drawn."""
        if level_names is not None and chances is not None:
            raise DataError(f"give {self.noun}= or {what}=, not both")
        source = source_of(rng)
        places = self.positions(truth, source)
        if level_names is None:
            person_names = self._drawn_names(len(places), chances, source, what=what)
        else:
            person_names = self._check_names(level_names, len(places), places < 0)
        codes = np.zeros((len(places), self.space.width), dtype=np.int64)
        for place, (name, design) in enumerate(self.parts.items()):
            has_name = person_names == name
            codes[has_name] = self._shared_codes(place, design.drawn(places[has_name], source))
        return Responses(codes, self.space, person_names)

    def _drawn_names(self, n: int, chances: ArrayLike | None, source: Source, *, what: str) -> NDArray[Any]:
        weights = [1] * len(self.names)
        if chances is not None:
            weights = rounded(
                list(map(Fraction, _checks.probability_vector(chances, len(weights), what=what).tolist()))
            )
        # side="right": a draw equal to a running sum belongs to the next design.
        places = np.searchsorted(np.cumsum(weights), source.below(sum(weights), n), side="right")
        return np.array(self.names, dtype=self._name_type)[places]

    def _shared_codes(self, place: int, codes: Codes) -> Codes:
        """Codes of one design's response space, as codes of the space that all designs share."""
        if isinstance(self.space, AtLevels):
            codes = np.hstack([np.full((len(codes), 1), place, dtype=np.int64), codes])
        return np.pad(codes, ((0, 0), (0, self.space.width - codes.shape[1])))

    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses, each checked against the response space of its own design."""
        if level is None:
            raise DataError(self.needed)
        columns = isinstance(values, tuple) and isinstance(self.designs[0].space, Pair)
        cells = values if columns else cells_of(values)
        size = len(cells[0]) if columns else len(cells)
        empty = np.zeros(size, dtype=bool) if columns else np.array([_empty(cell) for cell in cells])
        person_names = self._check_names(level, size, empty)
        codes = np.zeros((size, self.space.width), dtype=np.int64)
        for place, (name, design) in enumerate(self.parts.items()):
            design_rows = np.flatnonzero(person_names == name)
            design_cells: Any
            if columns:
                design_cells = tuple([column[row] for row in design_rows.tolist()] for column in values)
            else:
                design_cells = (
                    cells[design_rows]
                    if isinstance(cells, np.ndarray)
                    else [cells[row] for row in design_rows.tolist()]
                )
            try:
                encoded = design.space.encode(design_cells)
            except AnswerError as error:
                problem = f"at {self.noun} {name!r} {error.problem}"
                raise AnswerError(
                    problem, row=int(design_rows[error.row or 0]), total=size, value=error.value
                ) from None
            codes[design_rows] = self._shared_codes(place, encoded)
        return Responses(codes, self.space, person_names)

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category) under the design of each response, (n, t); a row of ones where it is missing."""
        if not isinstance(responses, Responses) or responses.level is None:
            raise DataError(f"the likelihood under several designs needs Responses that carry their {self.noun}")
        result = np.ones((len(responses), len(self.cells)))
        for name, design in self.parts.items():
            at_level, codes = self.codes_at(name, responses)
            has_answer = ~design.space.missing(codes)
            result[np.flatnonzero(at_level)[has_answer]] = design.rows(codes[has_answer])
        return result

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.level is None:
            raise DataError(self.needed)
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        at_level = np.asarray(responses.level == level)
        start = 1 if isinstance(self.space, AtLevels) else 0
        return at_level, responses.codes[at_level][:, start : start + self.channel(level).space.width]


def _empty(cell: Any) -> bool:
    """Whether a respondent gave no answer (a missing cell, or a row of missing cells)."""
    if isinstance(cell, np.ndarray):
        return cell.dtype != bool and all(_checks.is_missing(entry) for entry in cell.tolist())
    return _checks.is_missing(cell)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Levels(Several):
    """Designs at several levels of privacy; each respondent picks a level.

    This is an offer, not one channel. There is no single matrix: each response is read given the level that the
    respondent chose. *Choosing* a level is itself part of the response. It reveals something if the choice depends on
    the category.

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
    alike = "have the same categories"
    needed = "answers to an offer of levels need `level`: the level that each respondent chose"

    @classmethod
    def of(cls, offer: Mapping[Any, Answerable], *, name: str = "", notes: tuple[str, ...] = ()) -> Levels:
        """The offer of these designs by name, most private first."""
        return cls._of_offer(offer, _checks.categories(offer, least=1, what="levels"), name=name, notes=notes)

    def randomize(
        self,
        truth: Any,
        *,
        level: Any = None,
        preferences: ArrayLike | None = None,
        rng: np.random.Generator | Source | None = None,
    ) -> Responses:
        """One response for each respondent at the level that they chose.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response.
        level : (n,) sequence of level, or one level, optional
            The choice of each respondent. Without it levels are drawn.
        preferences : (levels,) float, optional
            Probability of each level if levels are drawn; equal by default.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the level of each.
        """
        return self._randomize_by_name(truth, level, preferences, rng, what="preferences")

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Levels:
        description = told_of(node)
        return cls.of(cls._offer(node), name=description["name"], notes=description["notes"])


Floats = NDArray[np.float64]


def choice(design: Answerable, preferences: ArrayLike | None = None) -> Floats:
    """P(level | category), shape (levels, t); columns sum to one. For several samples: P(sample | cell).

    Parameters
    ----------
    design : Design, Levels or Samples
    preferences : (levels,) or (levels, t) float, optional
        One vector for everybody; or one column for each category, if the choice depends on the category. Equal by
        default.

    Raises
    ------
    DataError
        The design has no levels, or the preferences have another shape, are negative or do not sum to one.

    Examples
    --------
    >>> from naysay import designs
    >>> choice(designs.negative_levels(("a", "b", "c")), (0.25, 0.75))
    array([[0.25, 0.25, 0.25],
           [0.75, 0.75, 0.75]])
    """
    check_design(design)
    levels, t = len(design.levels), len(design.cells)
    if preferences is None:
        return np.full((levels, t), 1 / levels)
    if not design.several:
        raise DataError(f"{design.name or design.kind} offers no levels; leave preferences out")
    preference_array = np.asarray(preferences)
    if preference_array.ndim < 2:
        return np.tile(_checks.probability_vector(preferences, levels, what="preferences")[:, None], t)
    if preference_array.shape != (levels, t):
        raise DataError(
            f"preferences must be {levels} probabilities, one a level, or {levels} rows (levels) and {t} columns "
            f"(categories); got an array of shape {preference_array.shape}"
        )
    if design.assigned_by != "respondent":
        raise DataError("people are put into samples by chance, whatever their cell; give one share for each sample")
    for category, column in zip(design.categories, preference_array.T, strict=True):
        _checks.probability_vector(column, levels, what=f"preferences of {_checks.label(category)!r}")
    return preference_array.astype(np.float64)


def lies(categories: Sequence[Any], share_of: float, *, among: Sequence[Any] | None = None, says: Any = None) -> Floats:
    """P(stated category | true category), shape (t, t), where a share of people do not state the truth.

    Parameters
    ----------
    categories : (t,) sequence of label
    share_of : float
        The share who lie among people whose category is in `among`, from 0 to 1.
    among : sequence of label, optional
        The categories whose members lie. By default all categories; members of `says` tell the truth in any case.
    says : label, optional
        What liars say, such as "no" for people who deny. Without it they say each other category equally often.

    Raises
    ------
    DataError
        A share outside [0, 1]; labels that are no categories.

    Examples
    --------
    >>> lies(("yes", "no"), 0.25, says="no")
    array([[0.75, 0.  ],
           [0.25, 1.  ]])
    """
    labels, t = tuple(categories), len(categories)
    stated_place = None if says is None else place_of(says, labels)
    liars = [place_of(label, labels) for label in (labels if among is None else among)]
    amount = share(share_of, what="the share of liars")
    stated_shares = np.eye(t)
    for place in liars:
        instead = [stated_place] if stated_place is not None else [other for other in range(t) if other != place]
        if place != stated_place:
            stated_shares[place, place] -= amount
            stated_shares[instead, place] += amount / len(instead)
    return stated_shares


def whole_people(proportions: Floats, n: int) -> NDArray[np.int64]:
    """Whole counts (t,) of n people, as close to the proportions as possible: a fixed file."""
    exact = proportions * n
    whole = np.floor(exact + 1e-9).astype(np.int64)
    missing = n - int(whole.sum())
    # A stable sort gives ties to the first categories, so that the file is the same on every machine.
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return whole


def place_of(label: Any, categories: Sequence[Any]) -> int:
    """The place of a category, named by itself or by its text."""
    texts = [_checks.label(category) for category in categories]
    if _checks.label(label) not in texts:
        raise DataError(f"{label!r} is no category; {_checks.nearest(_checks.label(label), texts)}", value=label)
    return texts.index(_checks.label(label))


def number(value: Any, holds: Callable[[Any], bool], *, must: str, hint: str = "") -> float:
    """The number, if `holds` is true of it. The message says what must hold, what came, and a hint."""
    # True is an int to Python. NaN fails every comparison, so `holds` rejects it.
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not holds(value):
        raise DataError(f"{must}; got {value!r}{hint}", value=value)
    return float(value)


def positive(value: Any, *, what: str, hint: str = "") -> float:
    """A finite number above 0."""
    return number(
        value, lambda candidate_number: 0 < candidate_number < np.inf, must=f"{what} must be above 0", hint=hint
    )


def share(value: Any, *, what: str) -> float:
    """A share of people, from 0 to 1."""
    return number(value, lambda candidate_number: 0 <= candidate_number <= 1, must=f"{what} must lie in [0, 1]")
