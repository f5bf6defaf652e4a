"""What can be answered: a single design or several, with what all of them share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.drawing import RULES
from naysay.design.protocol import Protocol
from naysay.design.shares import Share
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Labels, Responses, Space, cells_of
from naysay.tally import Tally
from naysay.tally.counting import counted, counts_of, group_order, in_group, of_responses

if TYPE_CHECKING:  # a design is something that can be answered
    from naysay.design.base import Design

__all__ = ["KINDS", "NUMBERS", "Answerable", "Truth", "unnamed"]

Truth = NDArray[np.int64]

KINDS: dict[str, type[Answerable]] = {}
"""Every kind of design by the name of its JSON form; a class enters when it is defined with a `kind`."""

_TOLD = ("name", "notes", "protocol", "alternatives")  # fields that change no answer
NUMBERS = ("columns",)  # fields that hold many numbers, and nothing that only tells


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answerable(ABC):
    """What answers can be collected under: one `Design`, or an offer of several (`Levels`).

    Parameters
    ----------
    categories : tuple of label
        The t true categories.
    space : Space
        What may be reported.
    name : str
        The design as a call, such as ``warner(p=0.7)``.
    notes : tuple of str
        What a reader must know beside the numbers.
    protocol : Protocol, optional
        What a respondent does to answer, on what that rests, and who proposed it.
    alternatives : tuple of design
        The same design with a probability that is not known for certain at either end of its range.
    """

    categories: tuple[Any, ...]
    space: Space
    name: str = ""
    notes: tuple[str, ...] = field(default=())
    protocol: Protocol | None = None
    alternatives: tuple[Answerable, ...] = ()

    kind: ClassVar[str]
    """Name of the JSON form."""

    rule: ClassVar[str] = ""
    """How an answer is drawn, in words, for clients in other languages."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls
            if cls.rule:
                RULES[cls.kind] = cls.rule

    @classmethod
    @abstractmethod
    def of_form(cls, node: dict[str, Any]) -> Answerable:
        """The design that a JSON object describes, checked again; what it is made of is read already."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Any, ...]:
        """The levels that a respondent may choose from; ``(None,)`` when there is no choice."""

    assigned_by: ClassVar[str] = "nobody"
    """Who puts a respondent under one of the parts: nobody where there is one, the respondent, or the researcher."""

    several: ClassVar[bool] = False
    """Whether its channels have names, by which results are told; a single design is its own channel."""

    @property
    def parts(self) -> dict[Any, Design]:
        """The channels by name, of which each answer comes through one; ``{None: channel}`` where there is one only."""
        return {name: self.channel(name) for name in self.levels}

    @property
    def cells(self) -> tuple[Any, ...]:
        """The kinds of people that the channels tell apart: the categories, unless samples tell finer ones apart."""
        return self.categories

    # Fields of designs whose cells are finer; a cached property gives way to a field, a property would not.
    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """The categories, in order, as shares of the cells."""
        return tuple(Share(category, (category,)) for category in self.categories)

    @cached_property
    def nuisance(self) -> tuple[Share, ...]:
        """What is estimated beside the categories, as shares of the cells."""
        return ()

    @cached_property
    def measures_compliance(self) -> bool:
        """Whether the nuisance parameters say how many people do not comply."""
        return False

    @property
    def finer(self) -> bool:
        """Whether the cells are other than the categories, or something is estimated beside them."""
        return self.cells != self.categories or bool(self.nuisance)

    def proportions_of(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """The proportions of the categories, (t,), where people are distributed over the cells like this."""
        return cells

    @abstractmethod
    def channel(self, level: Any = None) -> Design:
        """The single design under which a level is answered."""

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """The design as a JSON object; equal designs have equal forms."""

    @abstractmethod
    def level_named(self, name: Any) -> Any:
        """The level of that name (a number or its text)."""

    @abstractmethod
    def encode(self, values: Any, level: Any = None) -> Responses:
        """Responses from labels, sets or boolean arrays, each checked against the response space."""

    @abstractmethod
    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        """Who answered at `level` (n,), and their codes in that level's space."""

    @abstractmethod
    def likelihood(self, responses: Any) -> NDArray[np.float64]:
        """P(response | category) for each response, (n, t); a row of ones where it is missing."""

    def __eq__(self, other: object) -> bool:
        """Whether both draw the same answers with the same chances, however they are called."""
        return self is other or (isinstance(other, Answerable) and unnamed(self.form()) == unnamed(other.form()))

    def __hash__(self) -> int:
        return hash((self.kind, self.categories))

    def __repr__(self) -> str:
        return f"<{self.name or self.kind}: {len(self.categories)} categories>"

    @overload
    def tally(
        self,
        said: Any = None,
        column: str | Sequence[str] | None = None,
        *,
        level: Any = None,
        sample: Any = None,
        weights: Any = None,
        count: Any = None,
        by: None = None,
    ) -> Tally: ...
    @overload
    def tally(
        self,
        said: Any = None,
        column: str | Sequence[str] | None = None,
        *,
        level: Any = None,
        sample: Any = None,
        weights: Any = None,
        count: Any = None,
        by: ArrayLike,
    ) -> dict[Any, Tally]: ...
    @overload
    def tally(
        self,
        said: Any = None,
        column: str | Sequence[str] | None = None,
        *,
        level: Any = None,
        sample: Any = None,
        weights: Any = None,
        count: Any = None,
        by: ArrayLike | None,
    ) -> Tally | dict[Any, Tally]: ...
    def tally(
        self,
        said: Any = None,
        column: str | Sequence[str] | None = None,
        *,
        level: Any = None,
        sample: Any = None,
        weights: Any = None,
        count: Any = None,
        by: Any = None,
    ) -> Tally | dict[Any, Tally]:
        """The tally of what was said: distinct answers and how often.

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
        count : (n,) int or column name
            How many people each row stands for. Alone, without `said`: how many gave each response, in the order of
            `responses`.
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
        from naysay import frames  # and with it polars: designs and estimates alone do without

        level = self._given(level, sample)
        if column is not None:
            return frames.tally_frame(self, said, column, level=level, weights=weights, count=count, by=by)
        if frames.is_frame(said):
            raise DataError("name the column that holds the answers: design.tally(frame, 'income')")
        if isinstance(said, Mapping):
            said, count = counted(said, self.space)
        elif said is None and count is not None:
            codes, count = counts_of(count, self.space)
            said = Responses(codes, self.space)
        responses = said if isinstance(said, Responses) else self.encode(said, level)
        if by is None:
            return of_responses(self, responses, weights=weights, count=count)
        return self._tally_by(responses, by, weights=weights, count=count)

    def _given(self, level: Any, sample: Any) -> Any:
        """What tells the designs of this one apart, under the name that it has here."""
        given, other = (sample, level) if self.kind == "samples" else (level, sample)
        if other is not None:
            right, wrong = ("sample", "level") if self.kind == "samples" else ("level", "sample")
            raise DataError(
                f"{self.name or 'this design'} has no {wrong}s; leave `{wrong}` out (or was {right}= meant?)"
            )
        return given

    def _tally_by(self, responses: Responses, by: Any, *, weights: Any, count: Any) -> dict[Any, Tally]:
        size = len(responses)
        groups = [None if _checks.is_missing(group) else group for group in cells_of(by)]
        if len(groups) != size:
            raise DataError(f"by must give one group to each of the {size} answers; got {len(groups)}")
        each = None if weights is None else _checks.amounts(weights, what="weights", length=size)
        people = None if count is None else _checks.amounts(count, what="counts", length=size)
        members: dict[Any, list[int]] = {}
        for row, group in enumerate(groups):
            members.setdefault(group, []).append(row)
        result = {}
        for group in sorted(members, key=group_order):
            rows = members[group]
            with in_group(group):
                result[group] = of_responses(
                    self,
                    responses.take(rows),
                    weights=None if each is None else each[rows],
                    count=None if people is None else people[rows],
                )
        return result

    def then(self, after: Answerable) -> Design:
        """The design in which the response is randomized once more, by `after`.

        P of the whole is P(after) P(this); privacy can only grow.

        Examples
        --------
        >>> from naysay import designs
        >>> twice = designs.warner(p=0.9).then(designs.warner(p=0.9))
        >>> float(twice.matrix[0, 0].round(4))
        0.82
        """
        return self._made_into("then", after)

    def __mul__(self, other: object) -> Design:
        return self._made_into("product", other) if isinstance(other, Answerable) else NotImplemented

    def _made_into(self, kind: str, other: Answerable) -> Design:
        """A design of this and another; the algebra, which stands above, is found by its name."""
        made = KINDS[kind].of_form({"first": self, "second": other})
        return made.channel()

    def to_json(self, *, indent: int | None = None) -> str:
        """The design as JSON text, with the rules by which any client draws the same answers."""
        node = self.form()
        rules = {rule: RULES[rule] for rule in sorted({"integer", *_kinds(node)} & RULES.keys())}
        whole = {"naysay": "design", "version": 1, "drawing": rules, "design": node}
        try:
            return json.dumps(whole, ensure_ascii=False, indent=indent)
        except TypeError as error:
            raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None

    def _told(self) -> dict[str, Any]:
        """The fields of the JSON form that only some designs have, and that change no answer."""
        told: dict[str, Any] = {} if self.protocol is None else {"protocol": self.protocol.form()}
        if self.alternatives:
            told["alternatives"] = [design.form() for design in self.alternatives]
        return told

    def positions(self, truth: Any) -> Truth:
        """Place of each true category (n,), -1 where it is missing."""
        places: Truth = self._truth_space.encode(truth, what="category")[:, 0]
        return places

    @cached_property
    def _truth_space(self) -> Labels:
        return Labels(self.categories)


def _kinds(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["kind"]} if "kind" in node else set()
        return own.union(*(_kinds(value) for value in node.values()))
    return set().union(*(_kinds(value) for value in node)) if isinstance(node, list) else set()


def unnamed(node: Any) -> Any:
    """A design's JSON form without what only tells about it."""
    if isinstance(node, dict):
        told = {key: value for key, value in node.items() if key not in _TOLD}
        return {key: value if key in NUMBERS else unnamed(value) for key, value in told.items()}
    return [unnamed(value) for value in node] if isinstance(node, list) else node
