"""What a design is: its channel, its offer, its structure, its tallies, its JSON; one design after or beside another.

The *channel* is P(response | category): categories, response space, likelihood, sampler. The *offer* says by what names
channels are offered, and who assigns them. The *structure* is what holds of the probabilities as a whole. What is
estimated are shares of *cells*, the kinds of people that the channels tell apart.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack, overload, runtime_checkable
from typing import Protocol as TypeProtocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._counts import Tally, tally_of
from naysay._values import Array, Floats, JsonNode, JsonObject, Label
from naysay.design import protocol
from naysay.design.drawing import ByteSource, Source, labels_of, source_of, system
from naysay.design.protocol import Protocol
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Labels, Pair, Responses, Space, columns_of
from naysay.sampling import Sampling

Truth = NDArray[np.int64]
Columns = str | Sequence[str] | None

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

VERSION = 1
"""The version of the JSON of designs."""

KINDS: dict[str, type[Answerable]] = {}
"""Every class of designs, by the `kind` of its JSON form. A class enters when it is defined."""

RULES = {
    "integer": (
        "To draw an integer below N: if N = 1 the integer is 0 and no byte is read. Otherwise let b be the number of "
        "bits of N - 1, read ceil(b / 8) bytes, take them as one big-endian number, clear all but its lowest b bits; "
        "if the result is N or more, discard it and read afresh."
    ),
}
"""How to draw an answer under each kind of design, in words, for clients in other languages. Each kind adds its own."""

DESCRIPTIVE_FIELDS = ("name", "notes", "protocol", "alternatives")
"""Fields that describe a design and change no answer."""

TABLED = 256
"""A pattern of so many categories or fewer is hashed as the table that it stands for: before, it was one."""

_TABLE_FIELDS = {"responses", "denominator", "columns"}

_NUMBERS = ("columns",)  # long lists of numbers, which need no search for designs or descriptive fields

_NO_FRAME = (Responses, Mapping, Sequence, np.ndarray, type(None))
_WANTED = (
    *("categories", "channel", "from_json", "hash", "kind", "levels", "likelihood", "matrix", "name", "notes"),
    *("offer", "parts", "protocol", "randomize", "responses", "space", "structure", "tally", "then", "to_json"),
)
_MOST_EXACT = 10_000  # entries of a table up to which chances are multiplied exactly
_NOTHING = 1e-11  # a slope below it counts as zero
_ROUNDING = 1e-10  # differences of chances below it
_FEW = 20_000  # a sum lists at most this many responses; above it a closed form is quicker


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """What holds of the probabilities of a design as a whole, so that nobody looks at every entry of P, or at its kind.

    Parameters
    ----------
    design : Answerable
    exchangeable : bool
        Whether one response stands for all: its probability depends only on whether the truth allows it.
    one_pattern : bool
        Whether P is αI + β11ᵀ and stored as α and β (see `even_mean`), so that no array of t × t is needed.
    pure : bool
        Whether a response speaks for a set of categories, and its chance depends only on whether the truth is there.
        Then `even_mean` alone gives the estimate, and a tally may keep sums in place of answers.
    tabular : bool
        Whether every response is a label and all chances are stored as integers.
    all_possible : bool
        Whether each response is one that some category can give.
    keeps_sums : bool
        Whether a tally keeps the sums of the statistic, because its responses cannot be listed.
    odds : (int, int), optional
        The largest odds of a response between two categories, as integers; None where they must be searched for.
    named_chances : (Fraction, Fraction), optional
        (p*, q*): the chances that a response speaks for the true category, and for a given other one. None where they
        depend on the category.
    estimates : str
        What the answers are for: "proportions" of categories, the "mean" of a number, "ranges" of a hierarchy, or
        "heavy_hitters", values that many share.
    moments_only : str
        Why there is no maximum of the likelihood; empty where there is one.
    divides_cells : bool
        Whether the categories are stored as shares of cells.
    shown : int, optional
        How many categories a respondent is shown in order to reject one; None for designs of another kind.
    made_of : tuple of design
        The designs that it is put together from; empty where it is one piece.
    mean, typical, transform : callable, optional
        Closed forms of `even_mean`, `typical_codes` and `by_transform`.
    """

    design: Any
    exchangeable: bool = False
    one_pattern: bool = False
    pure: bool = False
    tabular: bool = False
    all_possible: bool = False
    keeps_sums: bool = False
    odds: tuple[int, int] | None = None
    named_chances: tuple[Fraction, Fraction] | None = None
    estimates: str = "proportions"
    moments_only: str = ""
    divides_cells: bool = False
    shown: int | None = None
    made_of: tuple[Any, ...] = ()
    mean: Callable[[], tuple[float, float] | None] | None = None
    typical: Callable[[], Codes] | None = None
    transform: Callable[[], LinearOperator | None] | None = None

    @cached_property
    def even_mean(self) -> tuple[float, float] | None:
        """(α, β), if the mean of the linear statistic is αI + β11ᵀ and the statistic has a constant sum; else None.

        Then the unbiased indicator of category j is (T_j - β) / α, and nothing has to be inverted.
        """
        if self.mean is not None:
            return self.mean()
        expected_statistic, t = self.design.expected_statistic, len(self.design.categories)
        if len(expected_statistic) != t or t < 2 or not self.design.space.constant_sum:
            return None
        beta, alpha = expected_statistic[0, 1], expected_statistic[0, 0] - expected_statistic[0, 1]
        # An absolute tolerance alone: entries are chances, and a relative one would accept larger ones that differ.
        is_even = np.allclose(expected_statistic, alpha * np.eye(t) + beta, rtol=0, atol=1e-15)
        return (float(alpha), float(beta)) if is_even else None

    @property
    def typical_codes(self) -> Codes:
        """Responses that include the most revealing one: all of them, or one that stands for all."""
        if self.typical is not None:
            return self.typical()
        space, is_listed = self.design.space, self.design.space.size <= 5_000 or not self.exchangeable
        # `bytes`, called with n, gives n zero bytes: a source without chance.
        codes: Codes = (
            space.listing() if is_listed else self.design.draw(np.zeros(1, dtype=np.int64), ByteSource(bytes))
        )
        return codes

    @cached_property
    def by_transform(self) -> LinearOperator | None:
        """P as a linear operator (responses, t), where a transform gives its products and rows would be too many."""
        return None if self.transform is None else self.transform()

    @property
    def finer(self) -> bool:
        """Whether its cells differ from the categories, or something besides the categories is estimated."""
        return self.design.cells != self.design.categories or bool(self.design.nuisance or self.design.uncertain)

    @property
    def stacked(self) -> bool:
        """Whether proportions are shares of cells that several samples, or the answers to two questions, tell together.

        It is false where respondents choose their level: each level is then read by itself, whoever chooses it.
        """
        return bool(self.design.offer.assigned_by == "researcher" or self.finer)

    @cached_property
    def tells_types(self) -> bool:
        """Whether the last answers of a person are to controls, with types of people who do not comply."""
        cells, shares = self.design.cells, self.design.shares
        complying_places = [place for place, cell in enumerate(cells) if any(cell in share.of for share in shares)]
        return len(complying_places) < len(cells) and all(
            len(answers) > 1
            and all(
                np.abs(np.ptp(part.expected_statistic[:, complying_places], axis=1)).max() < _ROUNDING
                for part in answers[1:]
            )
            for answers in (answers_of(channel, joint=True) for channel in self.design.parts.values())
        )

    @property
    def plainly_apart(self) -> bool:
        """Whether the mean of the statistic is αI + β11ᵀ with α ≠ 0: all proportions can then be told apart."""
        return self.even_mean is not None and abs(self.even_mean[0]) > _NOTHING

    def proportions(self, cells: Floats) -> Floats:
        """The proportions of the categories, (t,), for these proportions of the cells."""
        if not self.divides_cells:
            return cells
        weights = (share.weights(self.design.cells) for share in self.design.shares)
        return np.array([above @ cells / (below @ cells) for above, below in weights])

    @property
    def listed(self) -> bool:
        """Whether sums over responses list all of them; above 20,000 responses a closed form is quicker."""
        return bool(self.design.space.listable and self.design.space.size <= _FEW)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        """Whether each of these responses is one that no category can give, (n,)."""
        if self.all_possible:
            return np.zeros(len(codes), dtype=bool)
        return np.asarray(self.design.rows(codes).max(axis=1) <= 0)


@dataclass(frozen=True)
class Offer:
    """How the channels of a design are offered.

    Parameters
    ----------
    noun : {"level", "sample"}
        What its channels are called.
    assigned_by : {"nobody", "respondent", "researcher", "lot"}
        Who decides which channel a respondent answers through; nobody where there is one.
    several : bool
        Whether its channels have names, which results then show. A single design is its own, unnamed channel.
    names_needed : int
        How many columns of levels or samples must come with the answers: one for each question that has them.
    measures_compliance : bool
        Whether what is estimated besides the categories says how many people do not comply.
    """

    noun: str = "level"
    assigned_by: str = "nobody"
    several: bool = False
    names_needed: int = 0
    measures_compliance: bool = False


class Beside(TypedDict, total=False):
    """What may come with the answers, as columns or as column names; see `Answerable.tally`."""

    level: object
    sample: object
    weights: object
    sampling: Sampling | None
    count: object
    sums: bool | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answerable(ABC):
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

    kind: ClassVar[str]
    """Name of the JSON form."""

    rule: ClassVar[str]
    """How to draw an answer, in words, for clients in other languages."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls
            if hasattr(cls, "rule"):
                RULES[cls.kind] = cls.rule

    _written: ClassVar[tuple[str, ...]] = ("name", "notes", "categories")
    """The fields with which the JSON form begins."""

    @classmethod
    @abstractmethod
    def _of_form(cls, node: JsonObject) -> Answerable:
        """The design that a JSON object describes, checked again. Designs inside the object have been read before."""

    @cached_property
    def structure(self) -> Structure:
        """What holds of its probabilities as a whole; a kind that knows more than can be computed says so here."""
        return Structure(self)

    @cached_property
    def offer(self) -> Offer:
        """How its channels are offered, and by whom they are assigned."""
        return Offer()

    @property
    @abstractmethod
    def levels(self) -> tuple[Any, ...]:
        """The levels that a respondent may choose from; ``(None,)`` when there is no choice."""

    @property
    def parts(self) -> dict[Any, Design]:
        """The channels by name. Each answer comes through one of them; a single design is ``{None: channel}``."""
        return {name: self.channel(name) for name in self.levels}

    @property
    def factors(self) -> tuple[Answerable, ...]:
        """The design of each question where one person is asked several; only this design where there is one question.

        Categories and responses are then tuples, one entry for each question. Likelihoods multiply, so that ε and bits
        add.
        """
        return (self,)

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
    def uncertain(self) -> tuple[Answerable, ...]:
        """Where it rests on an estimated number: the design, moved by a tenth of a standard error in each direction."""
        return ()

    @abstractmethod
    def channel(self, level: Label = None) -> Design:
        """The single design under which a level is answered."""

    @abstractmethod
    def encode(self, values: object, level: object = None) -> Responses:
        """Responses from labels, sets or boolean arrays, each checked against the response space."""

    @abstractmethod
    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        """Who answered at `level` (n,), and their codes in that level's space."""

    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: None = None, **beside: Unpack[Beside]
    ) -> Tally: ...
    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: ArrayLike, **beside: Unpack[Beside]
    ) -> dict[Any, Tally]: ...
    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: ArrayLike | None, **beside: Unpack[Beside]
    ) -> Tally | dict[Any, Tally]: ...
    def tally(
        self,
        said: object = None,
        column: Columns = None,
        *,
        level: object = None,
        sample: object = None,
        weights: object = None,
        sampling: Sampling | None = None,
        count: object = None,
        sums: bool | None = None,
        by: ArrayLike | None = None,
    ) -> Tally | dict[Any, Tally]:
        """The tally of what was said: distinct answers, and how often each was given.

        Parameters
        ----------
        said : Responses, sequence (n,), boolean array (n, t), dataframe, or mapping
            Labels; sets, or texts ``"a;b"``, for set-valued answers; any dataframe that narwhals takes, eager or lazy,
            with `column`; or ``{response: count}``. None is missing, and is counted.
        column : str or sequence of str
            With a frame, the column of answers: text, lists, or one boolean column for each category.
        level : (n,) sequence or column name
            The level that each respondent chose, for designs with levels.
        sample : (n,) sequence or column name
            The sample that each respondent was in, for designs of several samples.
        weights : (n,) float or column name
            Survey weights, not negative.
        sampling : Sampling, optional
            How the sample was drawn: weights, strata, clusters, finite population, replicate weights, known totals.
        count : (n,) int or column name
            How many people each row stands for. Alone, without `said`: how many gave each response, in the order of
            `responses`.
        sums : bool, optional
            Whether to keep how often answers speak for each category, in place of the distinct answers. By default only
            where a design has too many responses to count; for pure designs alone.
        by : (n,) sequence or column name
            Groups; the result is then ``{group: Tally}``.

        Returns
        -------
        Tally or dict of Tally

        Raises
        ------
        AnswerError
            An answer that the design cannot produce: which, where, and the nearest that it can.
        DataError
            Unknown columns, negative weights, no answers at all.

        Examples
        --------
        >>> from naysay import designs
        >>> survey = designs.negative(("a", "b", "c", "d"), discards=2)
        >>> survey.tally([{"a", "b"}, {"a", "c"}, {"b", "a"}, None])
        <Tally: 3 answers, 1 missing, 2 distinct>
        >>> designs.negative(("a", "b", "c")).tally(count=[5, 7, 9])
        <Tally: 21 answers, 3 distinct>
        """
        arguments = {"level": level, "sample": sample}
        level = arguments.pop(self.offer.noun)
        ((wrong_noun, wrong_argument),) = arguments.items()
        if wrong_argument is not None:
            raise DataError(
                f"{self.name or 'this design'} has no {wrong_noun}s; "
                f"leave `{wrong_noun}` out (or was {self.offer.noun}= meant?)"
            )
        if sampling is not None and weights is not None:
            sampling, weights = sampling.weighted(weights), None
        if column is not None or not isinstance(said, _NO_FRAME):
            from naysay import frames  # imports polars, which only dataframes need

            if column is not None:
                return frames.tally_frame(
                    self, said, column, level=level, weights=weights, sampling=sampling, count=count, by=by, sums=sums
                )
            if frames.is_frame(said):
                raise DataError("name the column that holds the answers: design.tally(frame, 'income')")
        if isinstance(said, Mapping):
            answers, count = list(said), list(said.values())
            # Pairs of answers are passed on as two columns.
            said = tuple(map(list, zip(*answers, strict=True))) if self.space.answers > 1 and answers else answers
        elif said is None and count is not None:
            said = Responses(self.space.listing(), self.space)
            counts = _checks.amounts(count, what="counts")
            if len(counts) != self.space.size:
                raise DataError(
                    f"counts must have one number for each of the {self.space.size} responses; got {len(counts)}"
                )
        responses = said if isinstance(said, Responses) else self.encode(said, level)
        return tally_of(self, responses, weights=weights, sampling=sampling, count=count, by=by, sums=sums)

    def form(self) -> dict[str, Any]:
        """The design as a JSON object; equal designs have equal forms."""
        shared_fields = {field_name: _formed(getattr(self, field_name)) for field_name in self._written}
        description: dict[str, Any] = {} if self.protocol is None else {"protocol": self.protocol.form()}
        if self.alternatives:
            description["alternatives"] = _formed(self.alternatives)
        return {"kind": self.kind} | shared_fields | self._content() | description

    def _content(self) -> dict[str, Any]:
        """The part of the JSON form that other designs do not have: the fields that the class adds."""
        return {name: _formed(getattr(self, name)) for name in self._own_fields()}

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
        text = _json_text(unnamed(self.form()), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @abstractmethod
    def likelihood(self, responses: object) -> NDArray[np.float64]:
        """P(response | category) for each response, (n, t); a row of ones where it is missing."""

    def __eq__(self, other: object) -> bool:
        """Whether both draw the same answers with the same chances. Their names may differ."""
        return self is other or (isinstance(other, Answerable) and unnamed(self.form()) == unnamed(other.form()))

    def __hash__(self) -> int:
        return hash((self.kind, self.categories))

    def __repr__(self) -> str:
        return f"<{self.name or self.kind}: {len(self.categories)} categories>"

    def __dir__(self) -> list[str]:
        """What somebody who collects or estimates wants of a design, for completion at a prompt."""
        return [name for name in _WANTED if hasattr(type(self), name) or name in vars(self)]

    def then(self, after: Answerable | Noise) -> Design:
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
        return after.following(self) if isinstance(after, Noise) else Then.of(self, after)

    @abstractmethod
    def __mul__(self, other: object) -> Answerable:
        """The design of two questions to one person."""

    def to_json(self, *, indent: int | None = None) -> str:
        """The design as JSON text, with the rules by which any client draws the same answers."""
        form = self.form()
        drawing_rules = {rule_name: RULES[rule_name] for rule_name in sorted({"integer", *_kinds(form)} & RULES.keys())}
        document = {"naysay": "design", "version": VERSION, "drawing": drawing_rules, "design": form}
        return _json_text(document, indent=indent)

    def _positions(self, truth: object, source: Source = system) -> Truth:
        """The place of each true category (n,); -1 where it is missing. Numbers are rounded by lots of the source."""
        label_space, is_numbered = self._truth_space
        if is_numbered and isinstance(truth, np.ndarray) and truth.ndim == 1 and truth.dtype.kind in "iu":
            is_outside = (truth < 0) | (truth >= len(self.categories))
            if not is_outside.any():
                return truth.astype(np.int64)
        return label_space.encode(truth, what="category")[:, 0]

    @cached_property
    def _truth_space(self) -> tuple[Labels, bool]:
        """The categories as a space, and whether they are 0, 1, …, so that each is its own place."""
        return Labels(self.categories), self.categories == tuple(range(len(self.categories)))


def _formed(value: object) -> Any:
    """A field as JSON: a tuple becomes a list, a design or a share becomes its own form."""
    if isinstance(value, tuple):
        return [_formed(entry) for entry in value]
    return value.form() if hasattr(value, "form") else value


def _json_text(content: JsonObject, **layout: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, **layout)
    except TypeError as error:
        raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None


def _kinds(node: object) -> set[str]:
    if isinstance(node, dict):
        node_kinds = {node["kind"]} if "kind" in node else set()
        return node_kinds.union(*(_kinds(value) for value in node.values()))
    return set().union(*(_kinds(value) for value in node)) if isinstance(node, list) else set()


def unnamed(node: object, *, memo: bool = False) -> Any:
    """A design's JSON form, in which it is hashed, without the fields that only describe it (`DESCRIPTIVE_FIELDS`).

    A pattern of at most `TABLED` categories becomes its table, which draws the same from the same bytes, so that
    a design in both forms is one; a memo stays.
    """
    if isinstance(node, dict):
        bare_node = {field_name: value for field_name, value in node.items() if field_name not in DESCRIPTIVE_FIELDS}
        if bare_node.get("kind") == "pattern" and len(bare_node["categories"]) <= TABLED and not memo:
            labels, own_weight, other_weight = (bare_node[name] for name in ("categories", "own", "other"))
            places = range(len(labels))
            return {
                "kind": "table",
                "categories": labels,
                "responses": labels,
                "denominator": own_weight + (len(labels) - 1) * other_weight,
                "columns": [[own_weight if row == column else other_weight for row in places] for column in places],
            }
        memo = bare_node.get("kind") == "remembered"
        return {
            field_name: value if field_name in _NUMBERS else unnamed(value, memo=memo)
            for field_name, value in bare_node.items()
        }
    return [unnamed(value) for value in node] if isinstance(node, list) else node


def of_node(node: object) -> Answerable:
    """The design that one object of the tree describes."""
    try:
        if not isinstance(node, Mapping):
            raise TypeError(f"{node!r} is no object")
        design_class = KINDS[node["kind"]]
        built_fields = {
            field_name: field_content if field_name in _NUMBERS else _build_field(field_content)
            for field_name, field_content in node.items()
        }
        for field_name in {"categories", "responses"} & built_fields.keys():
            built_fields[field_name] = labels_of(built_fields[field_name])
        design = design_class._of_form(built_fields)
        is_compacted = design.kind != node["kind"]  # a table that became a pattern
        written_fields = design.form().keys() | (_TABLE_FIELDS if is_compacted else set())
        if unknown_fields := node.keys() - written_fields - {*DESCRIPTIVE_FIELDS}:
            raise DesignError(
                f"a design of kind {node['kind']!r} has no field {min(unknown_fields)!r}; leave it out: a client that "
                "passes over it may draw by another design than you mean"
            )
        alternative_designs = tuple(built_fields.get("alternatives", ()))
        for alternative in alternative_designs:
            check_design(alternative, needed_text="an alternative must be a design", error=DesignError)
        return replace(design, alternatives=alternative_designs) if alternative_designs else design
    except DesignError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        kind_name = node.get("kind") if isinstance(node, Mapping) else node
        raise DesignError(
            f"a design's JSON must be of a known kind ({', '.join(KINDS)}) with its fields complete; "
            f"got kind {kind_name!r} and stumbled over {error!r}"
        ) from None


def _build_field(value: object) -> Any:
    """A field of the JSON, in which every object that describes a design is replaced by the design."""
    if isinstance(value, Mapping):
        return of_node(value) if "kind" in value else {key: _build_field(entry) for key, entry in value.items()}
    return [_build_field(entry) for entry in value] if isinstance(value, list) else value


@runtime_checkable
class Noise(TypeProtocol):
    """A second step that is no design of its own, such as `Redraw`."""

    def following(self, first: Answerable) -> Design:
        """The design in which this step follows `first`."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Design(Answerable):
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
    def _of_form(cls, node: JsonObject) -> Design:
        field_names = [
            field_name for field_name in (*cls._written, *cls._own_fields()) if field_name not in DESCRIPTIVE_FIELDS
        ]
        maker: Callable[..., Design] = getattr(cls, "of", cls)  # `of` makes the space, where it follows from the fields
        return maker(**{field_name: labels_of(node[field_name]) for field_name in field_names}, **told_of(node))

    levels = (None,)

    def channel(self, level: Label = None) -> Design:
        return self

    @abstractmethod
    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Likelihood rows P(response | category) of encoded, non-missing responses, (n, t)."""

    def integers(self, codes: Codes) -> NDArray[np.int64] | None:
        """Integers (n, t) in proportion to `rows`; None where the design does not store its chances as integers."""
        return None

    @abstractmethod
    def draw(self, truth: Truth, source: Source) -> Codes:
        """Codes of one response for each true category; no category is missing."""

    def encode(self, values: object, level: object = None) -> Responses:
        if level is not None:
            raise DataError(
                f"{self.name or 'this design'} offers no levels; leave `level` out or use negative_levels()"
            )
        return Responses(self.space.encode(values), self.space)

    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        if responses.space != self.space:
            raise DataError("these responses were given to another design: their response spaces differ")
        return np.ones(len(responses), dtype=bool), responses.codes

    def _answers(self, *, joint: bool) -> list[Design]:
        """See `answers_of`."""
        return [self]

    def __mul__(self, other: object) -> Design:
        return Product.of(self, other) if isinstance(other, Design) else NotImplemented

    def randomize(self, truth: object, *, rng: np.random.Generator | Source | None = None) -> Responses:
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
        return Responses(drawn_codes(self, self._positions(truth, source), source), self.space)

    def likelihood(self, responses: object) -> NDArray[np.float64]:
        """P(response | category) for each response, (n, t); a row of ones where it is missing.

        Examples
        --------
        >>> from naysay import designs
        >>> designs.warner(p=0.7).likelihood(["yes", None])
        array([[0.7, 0.3],
               [1. , 1. ]])
        """
        encoded = responses if isinstance(responses, Responses) else self.encode(responses)
        likelihood_rows = np.ones((len(encoded), len(self.categories)))
        has_answer = ~encoded.missing
        likelihood_rows[has_answer] = self.rows(encoded.codes[has_answer])
        return likelihood_rows

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """The mean of the linear statistic T given the category, (d, t): column j is E[T | X = j]."""
        codes = self.space.listing()
        return _checks.read_only(self.space.statistic(codes).T @ self.rows(codes))

    @property
    def responses(self) -> Responses:
        """All responses, in the order of the rows of `matrix`.

        Raises
        ------
        DesignError
            Where there are too many to list.
        """
        return Responses(self.space.listing(), self.space)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """P (responses, t); columns are categories and sum to one.

        Raises
        ------
        DesignError
            Where there are too many responses to list.
        """
        return self.rows(self.space.listing())

    @staticmethod
    def from_json(text: str | JsonNode) -> Answerable:
        """The design that `to_json` wrote, checked again from its integers."""
        try:
            document = json.loads(text) if isinstance(text, str) else text
        except (json.JSONDecodeError, RecursionError) as error:
            raise DesignError(f"a design's JSON must be readable; {error}") from None
        if not isinstance(document, Mapping) or document.get("naysay") != "design":
            raise DesignError('a design\'s JSON must be an object with "naysay": "design"')
        if document.get("version") != VERSION or document["version"] is True:
            raise DesignError(
                f"this naysay reads designs of version {VERSION}; got version {document.get('version')!r}"
            )
        if unknown_fields := document.keys() - {"naysay", "version", "drawing", "design"}:
            raise DesignError(f"a design's JSON has no field {min(unknown_fields)!r} beside its design; leave it out")
        return of_node(document.get("design"))


def drawn_codes(design: Design, places: Truth, source: Source) -> Codes:
    """Codes of one response for each true place. A missing place, -1, gives a missing response."""
    is_known = places >= 0
    if is_known.all():
        return design.draw(places, source)
    codes = np.zeros((len(places), design.space.width), dtype=np.int64)
    codes[~is_known] = design.space.encode([None] if design.space.answers == 1 else ([None],) * design.space.answers)
    codes[is_known] = design.draw(places[is_known], source)
    return codes


def answers_of(channel: Design, *, joint: bool = False) -> list[Design]:
    """The designs of the answers of one person whose statistics stand side by side, or with `joint` of all."""
    return channel._answers(joint=joint)


def told_of(node: JsonObject) -> dict[str, Any]:
    """The fields of a JSON form that describe a design and change no answer."""
    notes, steps = tuple(node.get("notes", ())), protocol.read(node.get("protocol"))
    return {"name": node.get("name", ""), "notes": notes, "protocol": steps}


def check_design(
    value: object, *, needed_text: str = "a design is needed first", error: type[Exception] = DataError
) -> None:
    """Raise unless the value is a design, an offer of levels or a design of samples."""
    if not isinstance(value, Answerable):
        raise error(f"{needed_text}; got {type(value).__name__}")


def check_known(design: Answerable, what: str) -> None:
    """Raise if chances of the design are estimated, whose error `what` would leave out."""
    if design.uncertain:
        raise DataError(f"{what} takes the chances of a design as known, and those of {design.name} are estimated")


def check_channel(design: object, role: str) -> Design:
    """The design itself, if it is a single channel."""
    if not isinstance(design, Design):
        what = type(design).__name__
        if isinstance(design, Answerable):
            is_offer = tuple(design.cells) == tuple(design.categories)
            what = f"{'an offer of levels' if is_offer else 'several samples, or answers to controls'}, not one design"
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

    def weights(self, cells: Sequence[Label]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
        above_weights = np.array([cell in self.of for cell in cells], dtype=float)
        below_weights = np.array([not self.among or cell in self.among for cell in cells], dtype=float)
        return above_weights, below_weights

    @classmethod
    def of_form(cls, node: JsonObject) -> Share:
        """The share that a JSON object describes."""
        return cls(*(labels_of(node[name]) for name in ("share", "of", "among")))

    def form(self) -> dict[str, Any]:
        """The share as a JSON object."""
        return {"share": self.name, "of": list(self.of), "among": list(self.among)}


def read(text: str | JsonNode) -> Answerable:
    """The design, offer of levels or design of samples that a JSON text or object describes.

    Parameters
    ----------
    text : str or mapping
        What `to_json` wrote, as text or as the object that it stands for.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        The text is no JSON, or the JSON is no design of this version. The message says what is wrong.

    Examples
    --------
    >>> from naysay import designs
    >>> read(designs.warner(p=0.7).to_json())
    <warner(p=0.7): 2 categories>
    """
    return Design.from_json(text)


def load(path: str | Path) -> Answerable:
    """The design, offer of levels or design of samples in a JSON file.

    Parameters
    ----------
    path : str or Path
        A file of UTF-8 text that `to_json` wrote.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        The file does not exist, cannot be read, or holds no design of this version.

    Examples
    --------
    >>> import tempfile
    >>> from naysay import designs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "income.json")
    ...     written = path.write_text(designs.negative(("low", "middle", "high")).to_json(), encoding="utf-8")
    ...     load(path)
    <negative(): 3 categories>
    """
    try:
        file_text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DesignError(f"there is no design file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DesignError(f"cannot read the design file {str(path)!r}: {error}") from None
    if not file_text.lstrip().startswith("{"):
        problem = f'{str(path)!r} is no design\'s JSON, an object with "naysay": "design"'
        raise DesignError(f"{problem}; the method to_json of a design writes one")
    return read(file_text)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoDesigns(Design):
    """A design of two designs."""

    first: Design
    second: Design
    _written: ClassVar[tuple[str, ...]] = ("name",)

    @cached_property
    def structure(self) -> Structure:
        return Structure(self, made_of=(self.first, self.second))

    @classmethod
    def _of_form(cls, node: JsonObject) -> Design:
        maker: Callable[..., Design] = getattr(cls, "of", cls)
        return maker(node["first"], node["second"])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Then(TwoDesigns):
    """One design after another; see `Design.then`."""

    kind: ClassVar[str] = "then"
    rule: ClassVar[str] = "Draw from first; its response, by position, is the truth of second; draw from second."

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Then:
        """The design `first` followed by `second`."""
        first, second = check_channel(first, "what is followed"), check_channel(second, "what follows a design")
        if not isinstance(first.space, Labels):
            raise DesignError("only a design that reports one label can be followed by another; this one reports sets")
        if tuple(map(str, first.space.labels)) != tuple(map(str, second.categories)):
            raise DesignError(
                "the second design must take the first one's responses as its categories; responses are "
                f"{_checks.listing_text(first.space.labels)}, categories are {_checks.listing_text(second.categories)}"
            )
        design_name = f"{first.name or first.kind}.then({second.name or second.kind})"
        return cls(categories=first.categories, space=second.space, first=first, second=second, name=design_name)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.second.rows(codes) @ self.first.matrix

    def integers(self, codes: Codes) -> Array | None:
        """Products of the integers of both, where both store them."""
        if self.first.space.size * len(self.categories) > _MOST_EXACT:
            return None
        first_integers, second_integers = self.first.integers(self.first.space.listing()), self.second.integers(codes)
        if first_integers is None or second_integers is None:
            return None
        return np.asarray(second_integers.astype(object) @ first_integers.astype(object))

    def draw(self, truth: Truth, source: Source) -> Codes:
        return self.second.draw(self.first.draw(truth, source)[:, 0], source)

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(self.second.expected_statistic @ self.first.matrix)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Product(TwoDesigns):
    """Two questions to one person, each randomized on its own; three or more where one of the two is a product.

    Categories are pairs; P is the Kronecker product. Truth and answers are two columns.

    Examples
    --------
    >>> from naysay import designs
    >>> both = designs.warner(p=0.8) * designs.negative(("a", "b", "c"))
    >>> both.matrix.shape, both.categories[1]
    ((6, 6), ('yes', 'b'))
    >>> three = both * designs.direct(("f", "m"))
    >>> three.matrix.shape, three.categories[1]
    ((12, 12), ('yes', 'a', 'm'))
    """

    space: Pair
    kind: ClassVar[str] = "product"
    rule: ClassVar[str] = "Draw from first, then from second; categories are numbered i * (categories of second) + j."

    @classmethod
    def of(cls, first: Answerable, second: Answerable) -> Product:
        """The design of both questions."""
        first, second = check_channel(first, "the first question"), check_channel(second, "the second question")
        design_name = f"{first.name or first.kind} * {second.name or second.kind}"
        return cls(
            categories=crossed_labels(first, second),
            space=Pair(first.space, second.space),
            first=first,
            second=second,
            name=design_name,
        )

    @property
    def factors(self) -> tuple[Answerable, ...]:
        return (*self.first.factors, *self.second.factors)

    @cached_property
    def structure(self) -> Structure:
        is_exchangeable = self.first.structure.exchangeable and self.second.structure.exchangeable
        return replace(super().structure, exchangeable=is_exchangeable)

    def _positions(self, truth: object, source: Source = system) -> Truth:
        first_truth, second_truth = columns_of(truth, len(self.first.factors), len(self.second.factors))
        first, second = self.first._positions(first_truth, source), self.second._positions(second_truth, source)
        is_known = (first >= 0) & (second >= 0)
        return np.where(is_known, first * len(self.second.categories) + second, -1)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        first_codes, second_codes = self.space.split(codes)
        question_rows = [
            rows_of_one(question_design, question_codes)
            for question_design, question_codes in ((self.first, first_codes), (self.second, second_codes))
        ]
        return np.asarray(
            (question_rows[0][:, :, None] * question_rows[1][:, None, :]).reshape(len(codes), len(self.categories))
        )

    def draw(self, truth: Truth, source: Source) -> Codes:
        first, second = np.divmod(truth, len(self.second.categories))
        return np.hstack([self.first.draw(first, source), self.second.draw(second, source)])

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(np.kron(self.first.expected_statistic, self.second.expected_statistic))


def crossed_labels(first: Answerable, second: Answerable, of: str = "categories") -> tuple[Any, ...]:
    """The pairs of two questions' categories (or cells). Where one of the two is a product, the tuples are longer."""
    label_tuples = (
        getattr(design, of) if len(design.factors) > 1 else [(label,) for label in getattr(design, of)]
        for design in (first, second)
    )
    return tuple(first_label + second_label for first_label, second_label in itertools.product(*label_tuples))


def rows_of_one(design: Design, codes: Codes) -> NDArray[np.float64]:
    """Likelihood rows of one of two answers; a row of ones where only the other answer was given."""
    has_answer = ~design.space.missing(codes)
    rows = np.ones((len(codes), len(design.categories)))
    rows[has_answer] = design.rows(codes[has_answer])
    return rows
