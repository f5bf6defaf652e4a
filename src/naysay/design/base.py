"""What every design shares, whether it is a single design or puts several together.

Shares of cells. What is estimated is a share of the cells, the kinds of people that the channels tell apart.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import protocol
from naysay.design.chances import Chances, Truth
from naysay.design.drawing import RULES, Source, source_of, system
from naysay.design.exact import labels_of
from naysay.design.form import DESCRIPTIVE_FIELDS, KINDS, formed, hash_of, of_text, text_of, unnamed
from naysay.design.protocol import Protocol
from naysay.design.redraw import Redraw
from naysay.design.tallying import Tallied
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Labels, Responses, Space


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answerable(Tallied):
    """Anything under which answers can be collected: one `Design`, or several (`Levels`, `Samples`, `Crossed`).

    Parameters
    ----------
    categories : tuple of label
        The t true categories.
    space : Space
        What may be reported.
    name : str
        The design as a call, such as ``warner(p=0.7)``.
    notes : tuple of str
        What a reader must know besides the numbers.
    protocol : Protocol, optional
        What a respondent does to answer, what the estimate then assumes, and who proposed it.
    alternatives : tuple of design
        Where a probability of the design is known only as a range: the design at both ends of the range.
    """

    categories: tuple[Any, ...]
    space: Space
    name: str = ""
    notes: tuple[str, ...] = field(default=())
    protocol: Protocol | None = None
    alternatives: tuple[Answerable, ...] = ()

    rule: ClassVar[str] = ""
    """How to draw an answer, in words, for clients in other languages."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls
            if cls.rule:
                RULES[cls.kind] = cls.rule

    written: ClassVar[tuple[str, ...]] = ("name", "notes", "categories")
    """The fields with which the JSON form begins."""

    @classmethod
    @abstractmethod
    def of_form(cls, node: dict[str, Any]) -> Answerable:
        """The design that a JSON object describes, checked again. Designs inside the object have been read before."""

    @property
    def moments_only(self) -> str:
        """Why there is no maximum of the likelihood; empty where there is one."""
        return ""

    @property
    def by_transform(self) -> Any:
        """P as a linear operator (responses, t), where a transform gives its products and its rows would be too many.

        It is a `scipy.sparse.linalg.LinearOperator`, or None.
        """
        return None

    assigned_by: ClassVar[str] = "nobody"
    """Who decides which part a respondent answers: the respondent, the researcher, or lot on their device; nobody
    where there is one part."""

    estimates: ClassVar[str] = "proportions"
    """What its answers are for: "proportions" of categories, the "mean" of a number, "ranges" of a hierarchy, or
    "heavy_hitters", values that many share."""

    several: ClassVar[bool] = False
    """Whether its channels have names, which results then show. A single design is its own, unnamed channel."""

    @property
    def parts(self) -> dict[Any, Design]:
        """The channels by name. Each answer comes through one of them; a single design is ``{None: channel}``."""
        return {name: self.channel(name) for name in self.levels}

    @property
    def one_for_all(self) -> Design | None:
        """The design of every part, where there are several and all are alike; None otherwise."""
        first, *others = self.parts.values()
        return first if others and all(other_design == first for other_design in others) else None

    @property
    def made_of(self) -> tuple[Answerable, ...]:
        """The designs that this one is put together from; empty where it is one piece."""
        return ()

    @property
    def factors(self) -> tuple[Answerable, ...]:
        """The design of each question where one person is asked several; only this design where there is one question.

        Categories and responses are then tuples, one entry for each question. Likelihoods multiply, so that ε and bits
        add.
        """
        return (self,)

    @property
    def names_needed(self) -> int:
        """How many columns of levels or samples must come with the answers: one for each question that has them."""
        return 0 if self.levels == (None,) else 1

    @property
    def cells(self) -> tuple[Any, ...]:
        """The kinds of people that the channels tell apart: the categories, unless samples tell finer kinds apart."""
        return self.categories

    # Designs with finer cells store these as fields: a field can replace a cached property, but not a property.
    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """The categories, in order, as shares of the cells."""
        return tuple(Share(category, (category,)) for category in self.categories)

    @cached_property
    def nuisance(self) -> tuple[Share, ...]:
        """What is estimated besides the categories, as shares of the cells."""
        return ()

    @cached_property
    def measures_compliance(self) -> bool:
        """Whether the nuisance parameters say how many people do not comply."""
        return False

    @property
    def finer(self) -> bool:
        """Whether its cells differ from the categories, or something besides the categories is estimated."""
        return self.cells != self.categories or bool(self.nuisance)

    def proportions_of(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """The proportions of the categories, (t,), for these proportions of the cells."""
        return cells

    @abstractmethod
    def channel(self, level: Any = None) -> Design:
        """The single design under which a level is answered."""

    def form(self) -> dict[str, Any]:
        """The design as a JSON object; equal designs have equal forms."""
        shared = {name: formed(getattr(self, name)) for name in self.written}
        description: dict[str, Any] = {} if self.protocol is None else {"protocol": self.protocol.form()}
        if self.alternatives:
            description["alternatives"] = formed(self.alternatives)
        return {"kind": self.kind} | shared | self._content() | description

    def _content(self) -> dict[str, Any]:
        """The part of the JSON form that other designs do not have: the fields that the class adds."""
        return {name: formed(getattr(self, name)) for name in self._own_fields()}

    @classmethod
    def _own_fields(cls) -> list[str]:
        """The fields that the class adds to those of every design."""
        shared = {field.name for field in dataclasses.fields(Answerable)}
        return [field.name for field in dataclasses.fields(cls) if field.name not in shared]

    @cached_property
    def hash(self) -> str:
        """64 hexadecimal digits that name the design: equal designs have the same, whatever they are called.

        It is the SHA-256 of the object under "design" in the JSON, without "name", "notes", "protocol" and
        "alternatives", written in UTF-8 with sorted keys and without spaces. A pattern of at most 256 categories is
        hashed as the table with its weights, except as a memo.

        Examples
        --------
        >>> from naysay import designs
        >>> designs.warner(p=0.7).hash[:12], designs.warner(p="7/10").hash == designs.warner(p=0.7).hash
        ('308cbe39ef09', True)
        """
        return hash_of(self.form())

    @abstractmethod
    def level_named(self, name: Any) -> Any:
        """The level of that name (a number or its text)."""

    @abstractmethod
    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category) for each response, (n, t); a row of ones where it is missing."""

    def __eq__(self, other: object) -> bool:
        """Whether both draw the same answers with the same chances. Their names may differ."""
        return self is other or (isinstance(other, Answerable) and unnamed(self.form()) == unnamed(other.form()))

    def __hash__(self) -> int:
        return hash((self.kind, self.categories))

    def __repr__(self) -> str:
        return f"<{self.name or self.kind}: {len(self.categories)} categories>"

    def then(self, after: Answerable | Redraw) -> Design:
        """The design in which the response is randomized once more, by `after`.

        P of the whole is P(after) P(this); privacy can only grow. A design that reports a label is followed by a design
        of these labels. A pure one (k-ary, subset selection, affine, unary) may also be followed by a `Redraw`, for
        any number of categories: noise on a report that is remembered.

        Examples
        --------
        >>> from naysay import designs
        >>> twice = designs.warner(p=0.9).then(designs.warner(p=0.9))
        >>> float(twice.matrix[0, 0].round(4))
        0.82
        """
        return self._made_into(getattr(after, "follows", "then"), after)

    def __mul__(self, other: object) -> Design:
        if not isinstance(other, Answerable):
            return NotImplemented
        return self._made_into("crossed" if self.several or other.several else "product", other)

    def _made_into(self, kind: str, other: Answerable | Redraw) -> Design:
        """A design of this one and another; its class is found by kind, since the algebra imports this module."""
        return cast("Design", KINDS[kind].of_form({"first": self, "second": other}))

    def to_json(self, *, indent: int | None = None) -> str:
        """The design as JSON text, with the rules by which any client draws the same answers."""
        return text_of(self.form(), indent=indent)

    def positions(self, truth: Any, source: Source = system) -> Truth:
        """The place of each true category (n,); -1 where it is missing. Numbers are rounded by lots of the source."""
        if self._is_numbered and isinstance(truth, np.ndarray) and truth.ndim == 1 and truth.dtype.kind in "iu":
            wrong = (truth < 0) | (truth >= len(self.categories))
            if not wrong.any():
                return truth.astype(np.int64)
        return self._truth_space.encode(truth, what="category")[:, 0]

    @cached_property
    def _is_numbered(self) -> bool:
        """Whether the categories are 0, 1, …, so that each is its own place."""
        return self.categories == tuple(range(len(self.categories)))

    @cached_property
    def _truth_space(self) -> Labels:
        return Labels(self.categories)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Design(Answerable, Chances):
    """P(response | category): draws answers, and says how likely each answer is under each category.

    If the categories have proportions π, responses have probabilities λ = Pπ. Columns of P are categories and sum to
    one; rows are responses. Make a design with a family of `naysay.designs`, combine designs with `mix`, ``a.then(b)``
    and ``a * b``, and read one back with `Design.from_json`.

    A subclass gives `rows` (the likelihood), `draw` (the sampler), its fields, and the `rule` by which clients in
    other languages draw; its JSON is read from its fields.

    Examples
    --------
    >>> from naysay import designs
    >>> design = designs.warner(p=0.7)
    >>> design.matrix
    array([[0.7, 0.3],
           [0.3, 0.7]])
    >>> said = design.randomize(["yes", "no", None])
    >>> len(said), said.missing.tolist()
    (3, [False, False, True])
    >>> Design.from_json(design.to_json()) == design
    True
    """

    @classmethod
    def of(cls, *_: Any, **fields: Any) -> Self:
        """The design with these fields. A class whose response space follows from them makes the space here."""
        return cls(**fields)

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        named = [name for name in (*cls.written, *cls._own_fields()) if name not in DESCRIPTIVE_FIELDS]
        return cls.of(**{name: labels_of(node[name]) for name in named}, **told_of(node))

    # A design that shows options has a field of this name; a field can replace a cached property, but not a property.
    @cached_property
    def shown(self) -> int | None:
        """How many categories a respondent is shown in order to reject one; None for designs of another kind."""
        return None

    levels = (None,)

    def channel(self, level: Any = None) -> Design:
        return self

    def level_named(self, name: Any) -> Any:
        raise DataError(f"{self.name or 'this design'} offers no levels; got level {name!r}")

    def encode(self, values: Any, level: Any = None) -> Responses:
        if level is not None:
            raise DataError(
                f"{self.name or 'this design'} offers no levels; leave `level` out or use negative_levels()"
            )
        return Responses(self.space.encode(values), self.space)

    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        return np.ones(len(responses), dtype=bool), responses.codes

    def randomize(self, truth: Any, *, rng: np.random.Generator | Source | None = None) -> Responses:
        """One response for each respondent, drawn from the column of P for their category.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response. For ``a * b`` a pair of sequences.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used, as it must be for respondents.

        Returns
        -------
        Responses

        Examples
        --------
        >>> import numpy as np
        >>> from naysay import designs
        >>> income = designs.negative(("low", "middle", "high"))
        >>> np.asarray(income.randomize(["low", "low", "high"], rng=np.random.default_rng(1)))
        array(['middle', 'high', 'middle'], dtype='<U6')
        """
        source = source_of(rng)
        return Responses(self.drawn(self.positions(truth, source), source), self.space)

    def drawn(self, places: Truth, source: Source) -> Codes:
        """Codes of one response for each true place. A missing place, -1, gives a missing response."""
        is_known = places >= 0
        if is_known.all():
            return self.draw(places, source)
        codes = np.zeros((len(places), self.space.width), dtype=np.int64)
        codes[~is_known] = self.space.encode([None] if self.space.answers == 1 else ([None],) * self.space.answers)
        codes[is_known] = self.draw(places[is_known], source)
        return codes

    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category) for each response, (n, t); a row of ones where it is missing.

        Examples
        --------
        >>> from naysay import designs
        >>> designs.warner(p=0.7).likelihood(["yes", None])
        array([[0.7, 0.3],
               [1. , 1. ]])
        """
        encoded = responses if isinstance(responses, Responses) else self.encode(responses)
        result = np.ones((len(encoded), len(self.categories)))
        has_answer = ~encoded.missing
        result[has_answer] = self.rows(encoded.codes[has_answer])
        return result

    @staticmethod
    def from_json(text: str | Mapping[str, Any]) -> Answerable:
        """The design that `to_json` wrote, checked again from its integers."""
        return cast("Answerable", of_text(text))


def told_of(node: dict[str, Any]) -> dict[str, Any]:
    """The fields of a JSON form that describe a design and change no answer."""
    notes, steps = tuple(node.get("notes", ())), protocol.read(node.get("protocol"))
    return {"name": node.get("name", ""), "notes": notes, "protocol": steps}


def check_design(
    value: object, *, needed_text: str = "a design is needed first", error: type[Exception] = DataError
) -> None:
    """Raise unless the value is a design, an offer of levels or a design of samples."""
    if not isinstance(value, Answerable):
        raise error(f"{needed_text}; got {type(value).__name__}")


def check_channel(design: object, role: str) -> Design:
    """The design itself, if it is a single channel."""
    if not isinstance(design, Design):
        what = "an offer of levels, not one design" if isinstance(design, Answerable) else type(design).__name__
        raise DesignError(f"{role} must be a single design; got {what}")
    return design


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
        cell_set = set(cells)
        if (
            not self.of
            or not {*self.of, *self.among} <= cell_set
            or (self.among and not set(self.of) <= set(self.among))
        ):
            raise DesignError(
                f"the share {self.name!r} must be of cells among {_checks.listing_text(cells)}; got {self.of}"
            )
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
