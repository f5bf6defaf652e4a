"""Several designs side by side, and what people decide: `Levels` to choose from, `Samples` to be put in, and lies.

`Levels` are an offer from which each respondent picks one. `Samples` answer under different designs and are estimated
together. Some kinds of respondents cannot be told apart in one sample alone, such as cheaters, carriers who lie, or
people with an innocuous trait. These kinds are *cells*. Every sample has a design over the same cells, and shares of
the cells are estimated.

Which level respondents choose, and what they state instead of the truth, are probabilities given the category, as in
the design itself, and both come before it. If people state category i with probability S[i, j] when j is true,
responses have probabilities λ = P S π. Each level takes its share of λ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Floats, JsonObject, Key, Label
from naysay.design.algebra import Crossing
from naysay.design.base import (
    Answerable,
    Design,
    Offer,
    Share,
    Structure,
    Truth,
    check_channel,
    check_design,
    drawn_codes,
    told_of,
)
from naysay.design.drawing import Source, flag, labels_of, lots, rounded, source_of, system
from naysay.errors import AnswerError, DataError, DesignError, NotEstimable
from naysay.responses import AtLevels, Codes, Pair, Responses, cells_of, shared_space


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Several(Crossing):
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

    noun: ClassVar[str]
    """What its designs are called: "level" or "sample"."""
    assigned_by: ClassVar[str]
    """Who decides which design a respondent answers; see `Offer`."""
    unknown: ClassVar[str]
    """What an error says about an unknown name."""
    needed: ClassVar[str]
    """What must come with the answers."""
    estimates: ClassVar[str] = "proportions"
    """What the answers are for; see `Structure`."""
    alike: ClassVar[str]
    """What the designs must have in common."""
    _written: ClassVar[tuple[str, ...]] = ("name", "notes")

    def __post_init__(self) -> None:
        for part_name, part_design in zip(self.names, self.designs, strict=True):
            check_channel(part_design, f"{self.noun} {part_name!r}")
            if part_design.categories != self.cells:
                raise DesignError(
                    f"all {self.noun}s must {self.alike}; {self.noun} {part_name!r} has "
                    f"{_checks.listing_text(part_design.categories)}, {self.noun} {self.names[0]!r} has "
                    f"{_checks.listing_text(self.cells)}"
                )

    @classmethod
    def _of_offer(cls, offer: Mapping[Key, Answerable], names: tuple[Label, ...], **fields: Any) -> Self:
        checked_designs = tuple(check_channel(design, f"{cls.noun} {name!r}") for name, design in offer.items())
        space = shared_space(tuple(part_design.space for part_design in checked_designs))
        common: dict[str, Any] = {"categories": checked_designs[0].categories, "space": space}
        return cls(names=names, designs=checked_designs, **(common | fields))

    @classmethod
    def _offer(cls, node: JsonObject) -> dict[Any, Any]:
        """The designs by name that a JSON object lists."""
        entries = node[f"{cls.noun}s"]
        if unknown_fields := {field_name for entry in entries for field_name in entry} - {cls.noun, "design"}:
            raise DesignError(f"a {cls.noun} of a design has no field {min(unknown_fields)!r}; leave it out")
        offer = {labels_of(entry[cls.noun]): entry["design"] for entry in entries}
        if len(offer) != len(entries):
            raise DesignError(f"the {cls.noun}s of a design must differ")
        return offer

    def _content(self) -> dict[str, Any]:
        own_content = {
            field_name: field_content
            for field_name, field_content in super()._content().items()
            if field_name not in ("names", "designs")
        }
        return own_content | {
            f"{self.noun}s": [
                {self.noun: part_name, "design": part_design.form()} for part_name, part_design in self.parts.items()
            ]
        }

    @property
    def parts(self) -> dict[Any, Design]:
        return dict(zip(self.names, self.designs, strict=True))

    @cached_property
    def structure(self) -> Structure:
        several = "the likelihood of several designs with so many responses takes long"
        reasons = (
            part_design.structure.moments_only or (several if part_design.structure.by_transform is not None else "")
            for part_design in self.designs
        )
        return Structure(
            self, moments_only=next(filter(None, reasons), ""), estimates=self.estimates, made_of=self.designs
        )

    @cached_property
    def offer(self) -> Offer:
        return Offer(self.noun, self.assigned_by, several=True, names_needed=0 if self.names == (None,) else 1)

    @property
    def levels(self) -> tuple[Any, ...]:
        """The names of the designs."""
        return self.names

    def channel(self, level: Label = None) -> Design:
        """The design of that name, a number or its text."""
        return self.designs[self.names.index(self.level_named(level))]

    def level_named(self, name: Label) -> Any:
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

    def _name_as_given(self, name: Label) -> Label:
        """The name as it was given; None if it is unknown."""
        possible_texts = {str(name)}
        # A frame may hold level 1 as 1.0; a level may also be called 1.0.
        if isinstance(name, float | np.floating) and float(name).is_integer():
            possible_texts.add(str(int(name)))
        return next((level for level in self.names if str(level) in possible_texts), None)

    def _check_names(self, level: object, size: int, missing: NDArray[np.bool_]) -> Array:
        """The name for each respondent, checked; a respondent with no answer and no name counts under the first."""
        name_cells = [level] * size if np.asarray(level).ndim == 0 else cells_of(level)
        if len(name_cells) != size:
            raise DataError(f"each of the {size} respondents needs a {self.noun}; got {len(name_cells)}")
        name_of = {str(known_name): known_name for known_name in self.names} | {
            known_name: known_name for known_name in self.names
        }
        person_names = np.empty(size, dtype=object)
        for row_number, name_cell in enumerate(name_cells):
            given_name = name_of.get(name_cell)
            if given_name is None:
                given_name = (
                    self.names[0]
                    if missing[row_number] and _checks.is_missing(name_cell)
                    else self._name_as_given(name_cell)
                )
            if given_name is None:
                known_names = f"the {self.noun}s are {_checks.listing_text(self.names)}"
                problem = f"is {str(name_cell)[:80]!r}, which is {self.unknown}; {known_names}"
                if _checks.is_missing(name_cell):
                    problem = f"is empty; say which {self.noun} it is"
                raise AnswerError(problem, row=row_number, total=size, value=name_cell, about=self.noun)
            person_names[row_number] = given_name
        return person_names.astype(self._name_type)

    @property
    def _name_type(self) -> type:
        """The dtype of an array of names: integer if all names are integers, otherwise object."""
        return np.int64 if all(isinstance(name, int) for name in self.names) else object

    def _positions(self, truth: object, source: Source = system) -> Truth:
        return self.designs[0]._positions(truth, source)

    def _randomize_by_name(
        self,
        truth: object,
        level_names: object,
        chances: ArrayLike | None,
        rng: np.random.Generator | Source | None,
        *,
        what: str,
    ) -> Responses:
        """One response for each respondent under the design named for them; without names, designs are drawn."""
        if level_names is not None and chances is not None:
            raise DataError(f"give {self.noun}= or {what}=, not both")
        source = source_of(rng)
        true_places = self._positions(truth, source)
        if level_names is None:
            draw_weights = [1] * len(self.names)
            if chances is not None:
                checked_chances = _checks.probability_vector(chances, len(draw_weights), what=what)
                draw_weights = rounded(list(map(Fraction, checked_chances.tolist())))
            design_places = lots(draw_weights, len(true_places), source)
            person_names: Array = np.array(self.names, dtype=self._name_type)[design_places]
        else:
            person_names = self._check_names(level_names, len(true_places), true_places < 0)
        codes = np.zeros((len(true_places), self.space.width), dtype=np.int64)
        for design_place, (design_name, part_design) in enumerate(self.parts.items()):
            has_name = person_names == design_name
            codes[has_name] = self._shared_codes(design_place, drawn_codes(part_design, true_places[has_name], source))
        return Responses(codes, self.space, person_names)

    def _shared_codes(self, place: int, codes: Codes) -> Codes:
        """Codes of one design's response space, as codes of the space that all designs share."""
        if isinstance(self.space, AtLevels):
            codes = np.hstack([np.full((len(codes), 1), place, dtype=np.int64), codes])
        return np.pad(codes, ((0, 0), (0, self.space.width - codes.shape[1])))

    def encode(self, values: object, level: object = None) -> Responses:
        """Responses, each checked against the response space of its own design."""
        if level is None:
            raise DataError(self.needed)
        if isinstance(values, tuple) and isinstance(self.designs[0].space, Pair):
            answer_columns, is_empty = values, np.zeros(len(values[0]), dtype=bool)
        else:
            answer_cells = cells_of(values)
            answer_columns, is_empty = (answer_cells,), np.array([_empty(cell) for cell in answer_cells])
        answer_count = len(answer_columns[0])
        person_names = self._check_names(level, answer_count, is_empty)
        codes = np.zeros((answer_count, self.space.width), dtype=np.int64)
        for design_place, (design_name, part_design) in enumerate(self.parts.items()):
            design_rows = np.flatnonzero(person_names == design_name)
            design_columns = tuple(
                answer_column[design_rows]
                if isinstance(answer_column, np.ndarray)
                else [answer_column[row_number] for row_number in design_rows.tolist()]
                for answer_column in answer_columns
            )
            try:
                encoded = part_design.space.encode(design_columns if answer_columns is values else design_columns[0])
            except AnswerError as error:
                problem = f"at {self.noun} {design_name!r} {error.problem}"
                raise AnswerError(
                    problem, row=int(design_rows[error.row or 0]), total=answer_count, value=error.value
                ) from None
            codes[design_rows] = self._shared_codes(design_place, encoded)
        return Responses(codes, self.space, person_names)

    def likelihood(self, responses: object) -> NDArray[np.float64]:
        """P(response | category) under the design of each response, (n, t); a row of ones where it is missing."""
        if not isinstance(responses, Responses) or responses.level is None:
            raise DataError(f"the likelihood under several designs needs Responses that carry their {self.noun}")
        likelihood_rows = np.ones((len(responses), len(self.cells)))
        for design_name, part_design in self.parts.items():
            at_level, level_codes = self.codes_at(design_name, responses)
            has_answer = ~part_design.space.missing(level_codes)
            likelihood_rows[np.flatnonzero(at_level)[has_answer]] = part_design.rows(level_codes[has_answer])
        return likelihood_rows

    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.level is None:
            raise DataError(self.needed)
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        at_level = np.asarray(responses.level == level)
        first_column = 1 if isinstance(self.space, AtLevels) else 0
        return at_level, responses.codes[at_level][:, first_column : first_column + self.channel(level).space.width]


def _empty(cell: object) -> bool:
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
    def of(cls, offer: Mapping[Key, Answerable], *, name: str = "", notes: tuple[str, ...] = ()) -> Levels:
        """The offer of these designs by name, most private first."""
        return cls._of_offer(offer, _checks.categories(offer, least=1, what="levels"), name=name, notes=notes)

    def randomize(
        self,
        truth: object,
        *,
        level: object = None,
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
    def _of_form(cls, node: JsonObject) -> Levels:
        description = told_of(node)
        return cls.of(cls._offer(node), name=description["name"], notes=description["notes"])


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
    level_count, t = len(design.levels), len(design.cells)
    if preferences is None:
        return np.full((level_count, t), 1 / level_count)
    if not design.offer.several:
        raise DataError(f"{design.name or design.kind} offers no levels; leave preferences out")
    preference_array = np.asarray(preferences)
    if preference_array.ndim < 2:
        return np.tile(_checks.probability_vector(preferences, level_count, what="preferences")[:, None], t)
    if preference_array.shape != (level_count, t):
        raise DataError(
            f"preferences must be {level_count} probabilities, one a level, or {level_count} rows (levels) and {t} "
            f"columns (categories); got an array of shape {preference_array.shape}"
        )
    if design.offer.assigned_by != "respondent":
        raise DataError("people are put into samples by chance, whatever their cell; give one share for each sample")
    for category, preference_column in zip(design.categories, preference_array.T, strict=True):
        _checks.probability_vector(preference_column, level_count, what=f"preferences of {_checks.label(category)!r}")
    return preference_array.astype(np.float64)


def lies(
    categories: Sequence[Label], share_of: float, *, among: Sequence[Label] | None = None, says: Label = None
) -> Floats:
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
    liar_places = [place_of(label, labels) for label in (labels if among is None else among)]
    liar_share = share(share_of, what="the share of liars")
    stated_shares = np.eye(t)
    for true_place in liar_places:
        stated_places = (
            [stated_place]
            if stated_place is not None
            else [other_place for other_place in range(t) if other_place != true_place]
        )
        if true_place != stated_place:
            stated_shares[true_place, true_place] -= liar_share
            stated_shares[stated_places, true_place] += liar_share / len(stated_places)
    return stated_shares


def whole_people(proportions: Floats, n: int) -> NDArray[np.int64]:
    """Whole counts (t,) of n people, as close to the proportions as possible: a fixed file."""
    exact_counts = proportions * n
    whole_counts = np.floor(exact_counts + 1e-9).astype(np.int64)
    missing_people = n - int(whole_counts.sum())
    # A stable sort gives ties to the first categories, so that the file is the same on every machine.
    whole_counts[np.argsort(whole_counts - exact_counts, kind="stable")[:missing_people]] += 1
    return whole_counts


def place_of(label: object, categories: Sequence[Label]) -> int:
    """The place of a category, named by itself or by its text."""
    texts = [_checks.label(category) for category in categories]
    if _checks.label(label) not in texts:
        raise DataError(f"{label!r} is no category; {_checks.nearest(_checks.label(label), texts)}", value=label)
    return texts.index(_checks.label(label))


def number(value: object, holds: Callable[[float], bool], *, must: str, hint: str = "") -> float:
    """The number, if `holds` is true of it. The message says what must hold, what came, and a hint."""
    # True is an int to Python. NaN fails every comparison, so `holds` rejects it.
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not holds(float(value)):
        raise DataError(f"{must}; got {value!r}{hint}", value=value)
    return float(value)


def positive(value: object, *, what: str, hint: str = "") -> float:
    """A finite number above 0."""
    return number(
        value, lambda candidate_number: 0 < candidate_number < np.inf, must=f"{what} must be above 0", hint=hint
    )


def share(value: object, *, what: str) -> float:
    """A share of people, from 0 to 1."""
    return number(value, lambda candidate_number: 0 <= candidate_number <= 1, must=f"{what} must lie in [0, 1]")


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
    uncertain : tuple of Samples
        Where the designs rest on an estimated number: the same design, moved by a tenth of a standard error, in each
        direction. The covariance of the cells grows by what they differ.

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
    uncertain: tuple[Samples, ...] = ()
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
        above_weights, below_weights = (
            np.array(weight_rows) for weight_rows in zip(*(s.weights(self.cells) for s in self.shares), strict=True)
        )
        if (below_weights != above_weights.sum(axis=0)).any():
            raise DesignError("the categories must share out the same cells, each cell once")

    @classmethod
    def of(
        cls,
        samples: Mapping[Key, Answerable],
        *,
        shares: Sequence[Share] = (),
        nuisance: Sequence[Share] = (),
        measures_compliance: bool = False,
        uncertain: tuple[Samples, ...] = (),
        name: str = "",
        notes: tuple[str, ...] = (),
    ) -> Samples:
        """The samples by name; without `shares` the cells are the categories."""
        sample_names = tuple(samples) if None in samples else _checks.categories(samples, least=1, what="samples")
        sample_cells = check_channel(samples[sample_names[0]], f"sample {sample_names[0]!r}").categories
        all_shares = tuple(shares) or tuple(Share(cell, (cell,)) for cell in sample_cells)
        return cls._of_offer(
            samples,
            sample_names,
            categories=tuple(share.name for share in all_shares),
            shares=all_shares,
            nuisance=tuple(nuisance),
            measures_compliance=measures_compliance,
            uncertain=uncertain,
            name=name,
            notes=notes,
        )

    @cached_property
    def offer(self) -> Offer:
        return replace(super().offer, measures_compliance=self.measures_compliance)

    @cached_property
    def structure(self) -> Structure:
        return replace(super().structure, divides_cells=True)

    @property
    def cells(self) -> tuple[Any, ...]:
        """The kinds of respondents over which every sample's design is defined."""
        return self.designs[0].categories

    @property
    def assigned_by(self) -> str:  # type: ignore[override]
        return "nobody" if self.single else "researcher"

    @property
    def single(self) -> bool:
        """Whether there is only one sample, which then needs no name."""
        return self.names == (None,)

    def _content(self) -> dict[str, Any]:
        content = super()._content()
        return content if self.uncertain else {name: part for name, part in content.items() if name != "uncertain"}

    def encode(self, values: object, level: object = None) -> Responses:
        if not self.single:
            return super().encode(values, level)
        if level is not None:
            raise DataError(f"{self.name or 'this design'} has one sample only; leave `sample` out")
        return Responses(self.space.encode(values), self.space)

    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if self.single:
            return self.designs[0].codes_at(None, responses)
        return super().codes_at(level, responses)

    def likelihood(self, responses: object) -> NDArray[np.float64]:
        """P(response | cell) in the sample of each response, (n, cells); a row of ones where it is missing."""
        return self.designs[0].likelihood(responses) if self.single else super().likelihood(responses)

    def randomize(
        self,
        truth: object,
        *,
        sample: object = None,
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
    def _of_form(cls, node: JsonObject) -> Samples:
        description = told_of(node)
        return cls.of(
            cls._offer(node),
            shares=[Share.of_form(entry) for entry in node["shares"]],
            nuisance=[Share.of_form(entry) for entry in node["nuisance"]],
            measures_compliance=flag(node["measures_compliance"]),
            uncertain=tuple(node.get("uncertain", ())),
            name=description["name"],
            notes=description["notes"],
        )

    def check_identified(self) -> None:
        """Raise `NotEstimable` unless the chances of all answers tell every share of the cells.

        A share is told if its numerator and its denominator lie in the row space of the samples' designs, stacked.
        Where answers are too many to list, their linear statistic stands for them.
        """
        part_matrices = [
            design.matrix if design.space.listable else design.expected_statistic for design in self.designs
        ]
        triangle = np.asarray(scipy.linalg.qr(np.vstack(part_matrices), mode="r")[0], dtype=np.float64)
        triangle = triangle[: len(self.cells)]  # the rows below are 0, and may be hundreds of thousands
        _, singular_values, right_vectors = np.linalg.svd(triangle - triangle.mean(axis=1, keepdims=True))
        rank = int((singular_values > _SMALL * max(singular_values.max(initial=0.0), _SMALL)).sum())
        ones_row = np.full((1, len(self.cells)), 1 / np.sqrt(len(self.cells)))
        check_shares(self, np.vstack([ones_row, right_vectors[:rank]]))


_SMALL = 1e-9  # singular values below this share of the largest count as zero


def check_shares(design: Answerable, determined_rows: Floats, *, advice: str = "") -> None:
    """Raise `NotEstimable` unless numerator and denominator of every share lie in the span of what answers tell.

    Parameters
    ----------
    design : Design or Samples
    determined_rows : (rank + 1, cells) float
        Orthonormal rows; one of them is that of all cells together.
    advice : str, optional
        What the message ends with.
    """
    for share in (*design.shares, *design.nuisance):
        for share_weights in share.weights(design.cells):
            undetermined_part = share_weights - determined_rows.T @ (determined_rows @ share_weights)
            if np.abs(undetermined_part).max() < 1e-8:
                continue
            contrast = undetermined_part / np.abs(undetermined_part).max()
            growing_text, shrinking_text = opposed(design.cells, contrast)
            rank = len(determined_rows) - 1
            raise NotEstimable(
                f"the answers cannot tell the share of {_checks.label(share.name)!r}: people can move between "
                f"{growing_text} and {shrinking_text} without changing any response probability "
                f"(rank {rank} of {len(design.cells) - 1}); {advice or 'the samples must differ in their designs'}",
                contrast=contrast.tolist(),
                rank=rank,
            )


def opposed(labels: Sequence[Label], contrast: Floats) -> tuple[str, str]:
    """The labels whose shares grow along a contrast, and those whose shares shrink, as two listings."""
    growing_labels, shrinking_labels = (
        [_checks.label(label) for label, entry in zip(labels, sign * contrast, strict=True) if entry > 1e-9]
        for sign in (1, -1)
    )
    return _checks.listing_text(growing_labels), _checks.listing_text(shrinking_labels)
