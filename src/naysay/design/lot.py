"""Designs in which lot gives each person one of several parts: hierarchies, and the beginnings of values.

A `Hierarchy` is over ordered categories: each person reports the group of the one level that lot gave them.

With B groups in each group, level l of h cuts the t categories into groups of B^(h - l); the last level has the
categories themselves. A range of categories is a few groups of each level, so that its share adds few noisy numbers.
Each person spends the whole ε on one level; to split ε among levels would cost far more (Cormode, Kulkarni &
Srivastava 2019).

`Prefixes` finds values that nobody has listed: each device draws a group, and reports as many first bits of its value
as the group says.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array, Floats, JsonObject, Key, Label
from naysay.design.base import Answerable, Design, Structure, Truth, check_channel, drawn_codes, told_of
from naysay.design.drawing import Source, integer, source_of
from naysay.design.pure import AffineHash, domain_form, domain_of
from naysay.design.several import Several
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import Affine, Codes, Responses, cells_of, name_of

_LONGEST = 1_024  # bits of a value


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Grouped(Design):
    """A design that is asked about groups of neighboring categories.

    Parameters
    ----------
    design : Design
        The design over the groups, which are numbered from 0.
    width : int
        How many categories a group holds; the last one may hold fewer.

    Examples
    --------
    >>> from naysay import designs
    >>> pairs = Grouped.of(("a", "b", "c", "d"), designs.direct((0, 1)), 2)
    >>> pairs.matrix.tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
    """

    design: Design
    width: int
    kind: ClassVar[str] = "grouped"
    rule: ClassVar[str] = "With truth x, numbered from 0, draw from design; its truth is the number floor(x / width)."

    @classmethod
    def of(cls, categories: Sequence[Label], design: Answerable, width: int, **fields: Any) -> Self:
        labels, groups = tuple(categories), check_channel(design, "the design over groups")
        if integer(width) < 1 or groups.categories != tuple(range(-(-len(labels) // width))):
            raise DesignError(
                f"{len(labels)} categories in groups of {width} need a design over the numbers of these groups; got "
                f"{_checks.listing_text(groups.categories)}"
            )
        return cls(categories=labels, space=groups.space, design=groups, width=width, **fields)

    def form(self) -> dict[str, Any]:
        return super().form() | {"categories": domain_form(self.categories)}

    @classmethod
    def _of_form(cls, node: JsonObject) -> Design:
        return super()._of_form({**node, "categories": domain_of(node["categories"])})

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The number of each category's group, (t,)."""
        return np.arange(len(self.categories)) // self.width

    @cached_property
    def structure(self) -> Structure:
        groups = self.design.structure
        return Structure(
            self,
            all_possible=groups.all_possible,
            odds=groups.odds,
            moments_only="one level of a hierarchy does not tell the categories of a group apart; use ranges",
            mean=self._even_mean,
            typical=self._typical_codes,
        )

    def _even_mean(self) -> tuple[float, float] | None:
        return self.design.structure.even_mean if self.width == 1 else None

    def _typical_codes(self) -> Codes:
        return self.design.structure.typical_codes

    def rows(self, codes: Codes) -> Floats:
        return self.design.rows(codes)[:, self.places]

    def integers(self, codes: Codes) -> Array | None:
        group_integers = self.design.integers(codes)
        return None if group_integers is None else group_integers[:, self.places]

    def draw(self, truth: Truth, source: Source) -> Codes:
        return self.design.draw(truth // self.width, source)

    @cached_property
    def expected_statistic(self) -> Floats:
        return _checks.read_only(self.design.expected_statistic[:, self.places])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hierarchy(Several):
    """Ordered categories in groups of groups; lot gives each person the level that they report.

    Parameters
    ----------
    names : tuple of int
        The levels 1 … h; level h has the categories themselves.
    designs : tuple of Grouped
        The design of each level.
    fanout : int
        B, how many groups of the next level a group holds.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.hierarchy(100, epsilon=1, fanout=5)
    >>> {level: part.width for level, part in survey.parts.items()}
    {1: 25, 2: 5, 3: 1}
    """

    fanout: int
    kind: ClassVar[str] = "hierarchy"
    rule: ClassVar[str] = (
        "Draw v below the number of levels, and draw from the design of the v-th level, from 0. The report is the "
        "level and the response. Draw v afresh for each person, whatever their truth."
    )
    assigned_by: ClassVar[str] = "lot"
    estimates: ClassVar[str] = "ranges"
    noun = "level"
    unknown = "no level of this hierarchy"
    alike = "be about the same categories"
    needed = "answers of a hierarchy need `level`: the level that was drawn for each respondent"

    @classmethod
    def of(cls, levels: Mapping[Key, Answerable], fanout: int, *, name: str = "", notes: tuple[str, ...] = ()) -> Self:
        """The hierarchy of these levels, the coarsest first."""
        group_widths = [getattr(level_design, "width", 0) for level_design in levels.values()]
        expected_widths = [integer(fanout) ** (len(levels) - 1 - level_place) for level_place in range(len(levels))]
        if fanout < 2 or group_widths != expected_widths or tuple(levels) != tuple(range(1, len(levels) + 1)):
            raise DesignError(
                f"the levels of a hierarchy are 1, 2, …, each with groups {fanout} times as wide as the next; got "
                f"levels {_checks.listing_text(levels)} with groups of {_checks.listing_text(group_widths)}"
            )
        return cls._of_offer(levels, tuple(levels), fanout=fanout, name=name, notes=notes)

    def randomize(
        self, truth: object, *, level: object = None, rng: np.random.Generator | Source | None = None
    ) -> Responses:
        """One response for each respondent at the level that lot gives them.

        Parameters
        ----------
        truth : (n,) sequence of category
            True categories; a missing one gives a missing response.
        level : (n,) sequence of level, or one level, optional
            The level of each respondent, where lot was drawn before; it must not depend on the truth.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the level of each.
        """
        return self._randomize_by_name(truth, level, None, rng, what="chances")

    @classmethod
    def _of_form(cls, node: JsonObject) -> Hierarchy:
        description = told_of(node)
        return cls.of(cls._offer(node), node["fanout"], name=description["name"], notes=description["notes"])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Prefixes(Several):
    """A value as bits; each device draws a group, and reports the first bits of its value, as many as its group says.

    All groups report under one `AffineHash` of an open domain, in which the prefix is a text of 0s and 1s. The last
    groups report the whole value.

    Parameters
    ----------
    names : tuple of int
        The groups: 1, 2, ….
    prefixes : tuple of int
        How many bits each group reports, growing; the last number is that of all bits of a value.
    length : int
        The longest text: in bytes, or with an alphabet in characters. 0 if values are whole numbers.
    alphabet : str
        The characters of texts, each once; empty if they are UTF-8.

    Examples
    --------
    >>> from naysay import designs
    >>> words = designs.heavy_hitters(length=4, alphabet="abcdefghijklmnopqrstuvwxyz", epsilon=4)
    >>> words.prefixes, words.bits_of("cat")
    ((10, 15, 20, 20), '00011000011010000000')
    >>> words.value_of(words.bits_of("cat"))
    'cat'
    """

    prefixes: tuple[int, ...]
    length: int
    alphabet: str
    kind: ClassVar[str] = "prefixes"
    rule: ClassVar[str] = (
        "Write the truth as bits, the highest first. If length is 0, it is a number with as many bits as the last of "
        "prefixes. If alphabet is empty, it is a text in NFC and UTF-8, filled up with zero bytes to length bytes. "
        "Otherwise it is a text in NFC whose characters become their places in alphabet, counted from 1, filled up "
        "with zeros to length numbers; each has as many bits as the size of alphabet needs in binary. Draw i below the "
        "number of prefixes. Draw from design, whose truth is a text of 0s and 1s: the first prefixes[i] bits. The "
        "response is the group i + 1 and what was drawn; as text, joined by ';'."
    )
    assigned_by: ClassVar[str] = "lot"
    estimates: ClassVar[str] = "heavy_hitters"
    noun = "level"
    unknown = "no group of this design"
    alike = "have the same categories"
    needed = "reports of groups need `level`: the group that each device drew"

    def __post_init__(self) -> None:
        super().__post_init__()
        bit_counts = (0, *map(integer, self.prefixes))
        is_growing = (
            all(fewer_bits < more_bits for fewer_bits, more_bits in pairwise(bit_counts[:-1]))
            and bit_counts[-2] <= bit_counts[-1]
        )
        if not is_growing or not 1 <= bit_counts[-1] <= _LONGEST:
            raise DesignError(
                f"prefixes must grow, to {_LONGEST} bits at most; only the last two may be equal; got {self.prefixes}"
            )
        if integer(self.length) < 0 or (self.length and bit_counts[-1] != self.length * self.symbol):
            raise DesignError(
                f"texts of length {self.length} have {self.length * self.symbol} bits; got {bit_counts[-1]}"
            )
        if len(set(self.alphabet)) < len(self.alphabet) or unicodedata.normalize("NFC", self.alphabet) != self.alphabet:
            raise DesignError(f"an alphabet has each character once, in NFC; got {self.alphabet!r}")

    @classmethod
    def of(
        cls, design: AffineHash, prefixes: Sequence[int], *, length: int = 0, alphabet: str = "", **told: Any
    ) -> Self:
        """The groups that report so many bits, all under this design of an open domain."""
        if not getattr(design, "named", False):
            raise DesignError("prefixes are reported under a design of an open domain: affine((), names=True)")
        group_names = tuple(range(1, len(prefixes) + 1))
        channels_by_group = dict.fromkeys(
            group_names, replace(design, categories=(), space=Affine((), design.base, named=True))
        )
        return cls._of_offer(
            channels_by_group, group_names, prefixes=tuple(prefixes), length=length, alphabet=alphabet, **told
        )

    @property
    def symbol(self) -> int:
        """How many bits a character has."""
        return len(self.alphabet).bit_length() if self.alphabet else 8

    def _content(self) -> dict[str, Any]:
        own_content = {"prefixes": list(self.prefixes), "length": self.length, "alphabet": self.alphabet}
        return own_content | {"design": self.designs[0].form()}

    @classmethod
    def _of_form(cls, node: JsonObject) -> Prefixes:
        description = {key: value for key, value in told_of(node).items() if key != "protocol"}
        return cls.of(node["design"], node["prefixes"], length=node["length"], alphabet=node["alphabet"], **description)

    def bits_of(self, value: object) -> str:
        """The bits of a value, as a text of 0s and 1s.

        Raises
        ------
        DataError
            A value that is no number of so many bits, too long a text, or a character outside the alphabet.
        """
        bit_count = self.prefixes[-1]
        if not self.length:
            value_text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            if not (
                value_text.isascii()
                and value_text.isdigit()
                and len(value_text) <= _LONGEST
                and int(value_text) < 2**bit_count
            ):
                raise DataError(f"{_short(value)} is no whole number from 0 to 2**{bit_count} - 1", value=value)
            return f"{int(value_text):0{bit_count}b}"
        value_text = unicodedata.normalize("NFC", str(value))
        symbol_places = (
            [self.alphabet.find(letter) + 1 for letter in value_text] if self.alphabet else list(value_text.encode())
        )
        if 0 in symbol_places:
            character = value_text[symbol_places.index(0)] if self.alphabet else "\0"
            raise DataError(f"{_short(value)} holds {character!r}, which no value of this design has", value=value)
        if len(symbol_places) > self.length:
            unit = "characters" if self.alphabet else "bytes"
            raise DataError(
                f"{_short(value)} has {len(symbol_places)} {unit}; values have {self.length} at most "
                "(cut it, or take a larger length)",
                value=value,
            )
        return "".join(f"{symbol_place:0{self.symbol}b}" for symbol_place in symbol_places).ljust(bit_count, "0")

    def value_of(self, bits: str) -> Any:
        """The value that these bits write; `bits_of` turned around."""
        if not self.length:
            return int(bits, 2)
        symbol_places = [symbol_place for symbol_place in self._places(bits) if symbol_place]
        return (
            "".join(self.alphabet[symbol_place - 1] for symbol_place in symbol_places)
            if self.alphabet
            else bytes(symbol_places).decode()
        )

    def _places(self, bits: str) -> list[int]:
        """The numbers of the characters that are complete."""
        return [int(bits[at : at + self.symbol], 2) for at in range(0, len(bits) - self.symbol + 1, self.symbol)]

    def candidates(self, beginnings: Sequence[str], bits: int) -> list[str]:
        """All prefixes of so many bits that go on from these, and that a value can have."""
        bits_to_add = bits - len(beginnings[0]) if beginnings else 0
        bit_endings = ["".join(end_digits) for end_digits in product("01", repeat=bits_to_add)]
        return [
            longer_prefix
            for known_beginning in beginnings
            for bit_ending in bit_endings
            if self._possible(longer_prefix := known_beginning + bit_ending)
        ]

    def _possible(self, bits: str, *, whole: bool = False) -> bool:
        """Whether some value begins so: after a filling zero come only zeros, and characters are known."""
        if not self.length:
            return True
        symbol_places = self._places(bits)
        if 0 in symbol_places:
            filled_from = symbol_places.index(0) * self.symbol
            return "1" not in bits[filled_from:] and self._possible(bits[:filled_from], whole=True)
        if not self.alphabet:
            try:
                bytes(symbol_places).decode()
            except UnicodeDecodeError as error:
                # A character that was only begun may go on, unless its first bytes are those of no character.
                is_whole = whole or len(bits) == self.prefixes[-1]
                return not is_whole and error.reason == "unexpected end of data"
            return True
        begun_symbol = bits[len(symbol_places) * self.symbol :].ljust(
            self.symbol, "0"
        )  # the least character that begins so
        return max([int(begun_symbol, 2), *symbol_places]) <= len(self.alphabet)

    def randomize(
        self,
        truth: object,
        *,
        level: object = None,
        rng: np.random.Generator | Source | None = None,
    ) -> Responses:
        """One report for each device, from the group that it draws.

        Parameters
        ----------
        truth : (n,) sequence of str or int
            The values; a missing one gives a missing report.
        level : (n,) sequence of int, optional
            The groups, if they are known; otherwise each device draws one, all with the same chance.
        rng : numpy Generator, optional
            For simulation. Without it the operating system's randomness is used.

        Returns
        -------
        Responses
            With the group of each as its level.

        Raises
        ------
        AnswerError
            A value that the design cannot write as bits. It is never reported.
        """
        truth_cells, source = cells_of(truth), source_of(rng)
        bits_of_cell: dict[Any, str | None] = {}
        for row_number, truth_cell in enumerate(truth_cells):
            if truth_cell not in bits_of_cell:
                try:
                    bits_of_cell[truth_cell] = None if _checks.is_missing(truth_cell) else self.bits_of(truth_cell)
                except DataError as error:
                    problem = f"is {_short(truth_cell)}: it {str(error).removeprefix(f'{_short(truth_cell)} ')}"
                    raise AnswerError(problem, row=row_number, total=len(truth_cells), value=truth_cell) from None
        bits_by_row = [bits_of_cell[truth_cell] for truth_cell in truth_cells]
        is_missing = np.array([bit_text is None for bit_text in bits_by_row], dtype=bool)
        drawn_groups = source.below(len(self.names), len(bits_by_row)) + 1
        person_groups = drawn_groups if level is None else self._check_names(level, len(bits_by_row), is_missing)
        codes = np.zeros((len(bits_by_row), self.space.width), dtype=np.int64)
        for group_name, prefix_bits in zip(self.names, self.prefixes, strict=True):
            group_rows = np.flatnonzero(person_groups == group_name)
            codes[group_rows] = drawn_codes(
                self.channel(group_name), self._names(bits_by_row, group_rows, prefix_bits), source
            )
        return Responses(codes, self.space, person_groups)

    @staticmethod
    def _names(bits: list[str | None], rows: NDArray[np.intp], width: int) -> NDArray[np.int64]:
        """The 48-bit names of the first bits of these rows, -1 where a value is missing."""
        beginning_by_row = [
            None if (bit_text := bits[row_number]) is None else bit_text[:width] for row_number in rows.tolist()
        ]
        name_of_beginning = {
            beginning: -1 if beginning is None else name_of(beginning) for beginning in set(beginning_by_row)
        }
        return np.array([name_of_beginning[beginning] for beginning in beginning_by_row], dtype=np.int64)


def _short(value: object) -> str:
    return repr(value)[:80]


def bits_in_steps(bits: int, step: int, *, first: int) -> Iterator[int]:
    """How many bits each group reports: at least `first` at once, then so many more, and the whole value twice."""
    start = bits - step * max((bits - first) // step, 0)
    yield from range(start, bits + 1, step)
    yield bits
