"""The design: P(response | category), from which everything else is read."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import protocol
from naysay.design.answerable import Answerable, Truth
from naysay.design.drawing import Source, source_of
from naysay.design.exact import labels_of
from naysay.design.form import read
from naysay.errors import DataError, DesignError
from naysay.responses import Codes, Pair, Responses

__all__ = ["Design", "check_channel", "check_design"]

_FEW = 20_000  # responses that are listed for a sum; beyond them a closed form is quicker
_ENTRIES = 30_000_000  # of an array of second moments


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Design(Answerable):
    """P(response | category): it draws answers, and says how likely any answer is under each category.

    λ = Pπ: with proportions π of the categories, responses come with probabilities λ. Columns of P are categories and
    sum to one; rows are responses. Make one with a family of `naysay.designs`, combine with `mix`, ``a.then(b)`` and
    ``a * b``, read one back with `Design.from_json`.

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

    @abstractmethod
    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Likelihood rows P(response | category) of encoded, non-missing responses, (n, t)."""

    @abstractmethod
    def draw(self, truth: Truth, source: Source) -> Codes:
        """Codes of one response for each true category, none missing."""

    @classmethod
    def of(cls, *_: Any, **fields: Any) -> Self:
        """The design with these fields; a class whose space follows from them makes it here."""
        return cls(**fields)

    @classmethod
    def _own(cls) -> list[str]:
        """The fields that the class adds to those of every design; they are what its JSON says beside the labels."""
        shared = {each.name for each in dataclasses.fields(Design)}
        return [each.name for each in dataclasses.fields(cls) if each.name not in shared]

    def form(self) -> dict[str, Any]:
        told = {"kind": self.kind, "name": self.name, "notes": list(self.notes), "categories": list(self.categories)}
        own = {name: getattr(self, name) for name in self._own()}
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
        return told | listed | self._told()

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Design:
        return cls.of(
            categories=node["categories"],
            **{name: labels_of([node[name]])[0] for name in cls._own()},  # a tuple is a list in JSON
            name=node.get("name", ""),
            notes=tuple(node.get("notes", ())),
            protocol=protocol.read(node.get("protocol")),
        )

    @property
    def exchangeable(self) -> bool:
        """Whether one response stands for all: its probability depends only on its being compatible with the truth."""
        return False

    tabular: ClassVar[bool] = False
    """Whether the chances of all responses, labels each, are kept as integers."""

    @property
    def factors(self) -> tuple[Design, ...]:
        """The designs of questions that one person is asked, each randomized on its own; only itself where it is one.

        Categories and responses are tuples of theirs, and likelihoods multiply, so that ε and bits add.
        """
        return (self,)

    # A design that shows options has a field of this name; a cached property gives way to a field.
    @cached_property
    def shown(self) -> int | None:
        """How many categories a respondent is shown, to reject one; None where that is not what people do."""
        return None

    def integers(self, codes: Codes) -> NDArray[np.int64] | None:
        """Integers (n, t) in proportion to `rows`; None where the design does not keep its chances so."""
        return None

    @cached_property
    def even_mean(self) -> tuple[float, float] | None:
        """(α, β) where the mean of the linear statistic is αI + β11ᵀ and its sum is constant; None where it is not.

        Then the unbiased indicator of category j is (T_j - β) / α, and nothing has to be inverted.
        """
        expected, t = self.expected_statistic, len(self.categories)
        if len(expected) != t or t < 2 or not self.space.constant_sum:
            return None
        beta, alpha = expected[0, 1], expected[0, 0] - expected[0, 1]
        even = np.allclose(expected, alpha * np.eye(t) + beta, rtol=0, atol=1e-15)
        return (float(alpha), float(beta)) if even else None

    @property
    def listed(self) -> bool:
        """Whether sums over responses go through all of them; more than these are too slow to list."""
        return self.space.listable and self.space.size <= _FEW

    def second_moments(self) -> NDArray[np.float64] | None:
        """E[T Tᵀ | X = j] of the linear statistic T for each category j, (t, d, d).

        None where there are too many responses to list and no closed form does without, or where it is too large.
        """
        if self.space.dimension**2 * len(self.categories) > _ENTRIES:
            return None
        return self._second_moments()

    def _second_moments(self) -> NDArray[np.float64] | None:
        if not self.listed:
            return None
        codes = self.space.listing()
        statistic = self.space.statistic(codes)
        return np.asarray(np.einsum("yj,ya,yb->jab", self.rows(codes), statistic, statistic, optimize=True))

    def guessed(self, prior: NDArray[np.float64]) -> float:
        """How often the likeliest category after a response is the true one: Σ_y max_j π_j P(y | j).

        Raises
        ------
        DesignError
            Where there are too many responses to list, and no closed form does without.
        """
        if self.exchangeable and (prior == prior[0]).all():
            row = self.rows(self.typical_codes[:1])
            return float(row.max() / row.sum())
        return float((self.rows(self.space.listing()) * prior).max(axis=1).sum())

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        """Whether no category at all could give each of these responses, (n,)."""
        return np.asarray(self.rows(codes).max(axis=1) <= 0)

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
        """One response for each respondent, drawn from her column of P.

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
        places = self.positions(truth)
        known = places >= 0
        codes = np.zeros((len(places), self.space.width), dtype=np.int64)
        codes[~known] = self._missing_code
        codes[known] = self.draw(places[known], source_of(rng))
        return Responses(codes, self.space)

    @cached_property
    def _missing_code(self) -> Codes:
        """The code of a missing response."""
        space = self.space
        codes: Codes = space.encode(([None], [None]) if isinstance(space, Pair) else [None])[0]
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
        known = ~encoded.missing
        result[known] = self.rows(encoded.codes[known])
        return result

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """A (d, t) with column j = E[T | X = j], the mean of the linear statistic given the category."""
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

    @property
    def typical_codes(self) -> Codes:
        """Responses among which the most revealing one is: all, or one that stands for all."""
        listing = self.space.size <= 5_000 or not self.exchangeable
        return self.space.listing() if listing else self.draw(np.zeros(1, dtype=np.int64), _First())

    @staticmethod
    def from_json(text: str | Mapping[str, Any]) -> Answerable:
        """The design that `to_json` wrote, checked again from its integers."""
        return read(text)


class _First:
    """A source that always draws 0."""

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)


def check_design(value: object, *, told: str = "a design is needed first", error: type[Exception] = DataError) -> None:
    """Raise unless the value is a design, an offer of levels or a design of samples."""
    if not isinstance(value, Answerable):
        raise error(f"{told}; got {type(value).__name__}")


def check_channel(design: object, role: str) -> Design:
    """The design itself, if it is a single channel."""
    if not isinstance(design, Design):
        what = "an offer of levels, not one design" if isinstance(design, Answerable) else type(design).__name__
        raise DesignError(f"{role} must be a single design; got {what}")
    return design
