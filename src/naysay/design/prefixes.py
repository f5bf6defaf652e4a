"""Groups by lot, each of which reports the beginning of a value: how values are found that nobody has listed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.affine import AffineHash
from naysay.design.base import told_of
from naysay.design.drawing import Source, source_of
from naysay.design.exact import integer
from naysay.design.several import Several
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import Affine, Responses, cells_of, name_of

_LONGEST = 1_024  # bits of a value


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
        bits = (0, *map(integer, self.prefixes))
        grows = all(below < above for below, above in pairwise(bits[:-1])) and bits[-2] <= bits[-1]
        if not grows or not 1 <= bits[-1] <= _LONGEST:
            raise DesignError(
                f"prefixes must grow, to {_LONGEST} bits at most; only the last two may be equal; got {self.prefixes}"
            )
        if integer(self.length) < 0 or (self.length and bits[-1] != self.length * self.symbol):
            raise DesignError(f"texts of length {self.length} have {self.length * self.symbol} bits; got {bits[-1]}")
        if len(set(self.alphabet)) < len(self.alphabet) or unicodedata.normalize("NFC", self.alphabet) != self.alphabet:
            raise DesignError(f"an alphabet has each character once, in NFC; got {self.alphabet!r}")

    @classmethod
    def of(
        cls, design: AffineHash, prefixes: Sequence[int], *, length: int = 0, alphabet: str = "", **told: Any
    ) -> Self:
        """The groups that report so many bits, all under this design of an open domain."""
        if not getattr(design, "named", False):
            raise DesignError("prefixes are reported under a design of an open domain: affine((), names=True)")
        names = tuple(range(1, len(prefixes) + 1))
        offer = dict.fromkeys(names, replace(design, categories=(), space=Affine((), design.base, named=True)))
        return cls._of_offer(offer, names, prefixes=tuple(prefixes), length=length, alphabet=alphabet, **told)

    @property
    def symbol(self) -> int:
        """How many bits a character has."""
        return len(self.alphabet).bit_length() if self.alphabet else 8

    def _content(self) -> dict[str, Any]:
        own_content = {"prefixes": list(self.prefixes), "length": self.length, "alphabet": self.alphabet}
        return own_content | {"design": self.designs[0].form()}

    @classmethod
    def of_form(cls, node: dict[str, Any]) -> Prefixes:
        description = {key: value for key, value in told_of(node).items() if key != "protocol"}
        return cls.of(node["design"], node["prefixes"], length=node["length"], alphabet=node["alphabet"], **description)

    def bits_of(self, value: Any) -> str:
        """The bits of a value, as a text of 0s and 1s.

        Raises
        ------
        DataError
            A value that is no number of so many bits, too long a text, or a character outside the alphabet.
        """
        bits = self.prefixes[-1]
        if not self.length:
            text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST and int(text) < 2**bits):
                raise DataError(f"{_short(value)} is no whole number from 0 to 2**{bits} - 1", value=value)
            return f"{int(text):0{bits}b}"
        text = unicodedata.normalize("NFC", str(value))
        places = [self.alphabet.find(letter) + 1 for letter in text] if self.alphabet else list(text.encode())
        if 0 in places:
            character = text[places.index(0)] if self.alphabet else "\0"
            raise DataError(f"{_short(value)} holds {character!r}, which no value of this design has", value=value)
        if len(places) > self.length:
            unit = "characters" if self.alphabet else "bytes"
            raise DataError(
                f"{_short(value)} has {len(places)} {unit}; values have {self.length} at most (cut it, or take a "
                "larger length)",
                value=value,
            )
        return "".join(f"{place:0{self.symbol}b}" for place in places).ljust(bits, "0")

    def value_of(self, bits: str) -> Any:
        """The value that these bits write; `bits_of` turned around."""
        if not self.length:
            return int(bits, 2)
        places = [place for place in self._places(bits) if place]
        return "".join(self.alphabet[place - 1] for place in places) if self.alphabet else bytes(places).decode()

    def _places(self, bits: str) -> list[int]:
        """The numbers of the characters that are complete."""
        return [int(bits[at : at + self.symbol], 2) for at in range(0, len(bits) - self.symbol + 1, self.symbol)]

    def candidates(self, beginnings: Sequence[str], bits: int) -> list[str]:
        """All prefixes of so many bits that go on from these, and that a value can have."""
        bits_to_add = bits - len(beginnings[0]) if beginnings else 0
        ends = ["".join(digits) for digits in product("01", repeat=bits_to_add)]
        return [longer_prefix for start in beginnings for end in ends if self._possible(longer_prefix := start + end)]

    def _possible(self, bits: str, *, whole: bool = False) -> bool:
        """Whether some value begins so: after a filling zero come only zeros, and characters are known."""
        if not self.length:
            return True
        places = self._places(bits)
        if 0 in places:
            end = places.index(0) * self.symbol
            return "1" not in bits[end:] and self._possible(bits[:end], whole=True)
        if not self.alphabet:
            return _begins_utf8(bytes(places), whole=whole or len(bits) == self.prefixes[-1])
        begun = bits[len(places) * self.symbol :].ljust(self.symbol, "0")  # the least character that begins so
        return max([int(begun, 2), *places]) <= len(self.alphabet)

    def randomize(
        self,
        truth: Any,
        *,
        level: Any = None,
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
        cells, source = cells_of(truth), source_of(rng)
        bits = self._bits_of_all(cells)
        missing = np.array([bit_text is None for bit_text in bits], dtype=bool)
        drawn_groups = source.below(len(self.names), len(bits)) + 1
        person_groups = drawn_groups if level is None else self._check_names(level, len(bits), missing)
        codes = np.zeros((len(bits), self.space.width), dtype=np.int64)
        for name, width in zip(self.names, self.prefixes, strict=True):
            group_rows = np.flatnonzero(person_groups == name)
            codes[group_rows] = self.channel(name).drawn(self._names(bits, group_rows, width), source)
        return Responses(codes, self.space, person_groups)

    def _bits_of_all(self, cells: Any) -> list[str | None]:
        bits_of_cell: dict[Any, str | None] = {}
        for row, cell in enumerate(cells):
            if cell not in bits_of_cell:
                try:
                    bits_of_cell[cell] = None if _checks.is_missing(cell) else self.bits_of(cell)
                except DataError as error:
                    problem = str(error).removeprefix(f"{_short(cell)} ")
                    raise AnswerError(
                        f"is {_short(cell)}: it {problem}", row=row, total=len(cells), value=cell
                    ) from None
        return [bits_of_cell[cell] for cell in cells]

    @staticmethod
    def _names(bits: list[str | None], rows: NDArray[np.intp], width: int) -> NDArray[np.int64]:
        """The 48-bit names of the first bits of these rows, -1 where a value is missing."""
        beginnings = [None if (bit_text := bits[row]) is None else bit_text[:width] for row in rows.tolist()]
        name_of_beginning = {
            beginning: -1 if beginning is None else name_of(beginning) for beginning in set(beginnings)
        }
        return np.array([name_of_beginning[beginning] for beginning in beginnings], dtype=np.int64)


def _begins_utf8(octets: bytes, *, whole: bool) -> bool:
    """Whether some text in UTF-8 begins with these bytes; `whole` if it must end with them."""
    try:
        octets.decode()
    except UnicodeDecodeError as error:
        # A character that was only begun may go on, unless its first bytes are those of no character.
        return not whole and error.reason == "unexpected end of data"
    return True


def _short(value: Any) -> str:
    return repr(value)[:80]


def bits_in_steps(bits: int, step: int, *, first: int) -> Iterator[int]:
    """How many bits each group reports: at least `first` at once, then so many more, and the whole value twice."""
    start = bits - step * max((bits - first) // step, 0)
    yield from range(start, bits + 1, step)
    yield bits
