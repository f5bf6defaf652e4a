"""The tally: distinct answers and how often each was given. Tallies can be added, saved and loaded.

Checks of counts that users give, and the groups that tallies are made for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError, NotEstimable
from naysay.responses import Codes, Responses, Space
from naysay.sampling import Rows, Sampled, Units, joined, restored, stored
from naysay.tally.part import ARRAYS, Channel, Part, unique_codes
from naysay.tally.sums import Sums

_FORMAT = (
    4  # of files with a wave; others are of format 3 with sums, 2 with strata, clusters or replicate weights, or 1
)
_HEAD = ("level", "missing", "missing_weight")
_design_of_form: Callable[[Any], Any]
"""Reads a design's JSON for `Tally.load`. The layer of designs, which imports this one, registers it."""


def register_reader(design_reader: Callable[[Any], Any]) -> None:
    """Set the function with which `Tally.load` makes a design from its JSON object."""
    global _design_of_form  # noqa: PLW0603 (one reader, registered once, at import)
    _design_of_form = design_reader


class Asked(Protocol):
    """What a tally needs to know about a design: its named channels, and how its responses are encoded."""

    @property
    def levels(self) -> tuple[Any, ...]: ...
    @property
    def space(self) -> Space: ...
    def channel(self, level: Any = None) -> Channel: ...
    def encode(self, values: Any, level: Any = None) -> Responses: ...
    def codes_at(self, level: Any, responses: Responses) -> tuple[NDArray[np.bool_], Codes]: ...


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct answers and their weights, per design and level.

    `Design.tally` makes tallies; ``+`` adds two of them.

    Parameters
    ----------
    parts : tuple of Part or Sums
        One part for each design or level.
    weighted : bool
        Whether survey weights were given. If so, estimates are weighted and their covariance is linearized.
    question, wave : str, optional
        Name of the question, and of the wave in which it was asked. Tallies of two questions or waves do not add.
    complex : Sampled, optional
        How the people were sampled. Its items are the distinct answers of all parts, one part after the other. None if
        people were drawn independently of each other.

    Examples
    --------
    >>> from naysay import designs
    >>> income = designs.negative(("low", "middle", "high"))
    >>> tally = income.tally(["low", "high", "high", None])
    >>> tally.n, tally.missing, tally.counts.tolist()
    (3, 1, [1, 0, 2])
    >>> (tally + tally).n
    6
    """

    parts: tuple[Any, ...]
    weighted: bool = False
    question: str | None = field(default=None)
    complex: Sampled | None = field(default=None, repr=False)
    wave: str | None = field(default=None)

    def __post_init__(self) -> None:
        if not self.parts:
            raise DataError("a tally needs at least one part")
        first = self.parts[0].design.categories
        for part in self.parts[1:]:
            if part.design.categories != first:
                raise DataError(
                    "all answers of one tally must be about the same categories; got "
                    f"{_checks.listing_text(first)} and {_checks.listing_text(part.design.categories)}"
                )

    @classmethod
    def of(
        cls,
        asked: Asked,
        responses: Responses,
        count: NDArray[np.int64],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
        *,
        weighted: bool,
        question: str | None = None,
        rows: tuple[Rows, NDArray[Any]] | None = None,
        sums: bool | None = None,
    ) -> Tally:
        """The tally of encoded responses; raises if nobody answered. See `Part.of` for `count` and `weights`.

        Every level on offer has a part, even if nobody chose it. `rows` holds the rows of the whole sample, and the
        place of each response among them. With `sums` parts keep sums in place of answers; by default where the design
        says so, and people were drawn independently of each other.
        """
        parts = []
        for level in asked.levels:
            level_rows, codes = asked.codes_at(level, responses)
            level_weights, channel = (weights[0][level_rows], weights[1][level_rows]), asked.channel(level)
            kind = cls.kind(channel, sums, rows)
            parts.append(kind.of(channel, codes, level=level, count=count[level_rows], weights=level_weights))
        tally = cls(tuple(parts), weighted=weighted, question=question)
        tally._check_answered(len(count))
        if weighted and tally.weight == 0:
            raise DataError("the weights of the answers must not all be zero")
        if rows is None:
            return tally
        item, first = np.full(len(rows[0].weight), -1, dtype=np.intp), 0
        for level, part in zip(asked.levels, tally.parts, strict=True):
            level_rows, codes = asked.codes_at(level, responses)
            place = part.places(codes)
            item[rows[1][level_rows]] = np.where(place < 0, -1, first + place)
            first += len(part.codes)
        return replace(tally, complex=rows[0].collapsed(item, first))

    @classmethod
    def counted(cls, asked: Asked, responses: Responses, *, sums: bool | None = None) -> Tally:
        """The tally of encoded responses to one design, one row a person, without weights."""
        channel, (_, codes) = asked.channel(), asked.codes_at(None, responses)
        tally = cls((cls.kind(channel, sums).counted(channel, codes),))
        tally._check_answered(len(codes))
        return tally

    @staticmethod
    def kind(channel: Channel, asked: Any = None, rows: object = None) -> Any:
        """The class of the part of a channel: `Sums` where they are asked for, or where the design says so."""
        if asked and not channel.pure:
            raise DataError(
                "only pure designs, such as subset_selection or affine, have sums that tell all; leave sums out"
            )
        if asked and rows is not None:
            raise DataError("strata, clusters and replicate weights need the answers, not their sums; leave sums out")
        return Sums if (channel.keeps_sums and rows is None if asked is None else asked) else Part

    def _check_answered(self, rows: int) -> None:
        """Raise if nobody answered."""
        if self.n == 0:
            answers_text = "all counts are 0" if rows else "there are none"
            if self.missing:
                answers_text = "the one answer is missing" if self.missing == 1 else f"all {self.missing} are missing"
            raise DataError(f"at least one answer is needed; {answers_text}")

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that the answers are about."""
        labels: tuple[Any, ...] = self.parts[0].design.categories
        return labels

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return sum(part.n for part in self.parts)

    @property
    def missing(self) -> int:
        """Respondents who gave no answer."""
        return sum(part.missing for part in self.parts)

    @property
    def one_pattern(self) -> bool:
        """Whether it has one part, whose design is stored as a pattern, and no survey weights."""
        return len(self.parts) == 1 and self.parts[0].design.one_pattern and not self.weighted and self.n > 0

    @property
    def pure(self) -> bool:
        """Whether it has one part, whose design is pure, and people were drawn independently of each other."""
        return len(self.parts) == 1 and self.parts[0].design.pure and self.complex is None and self.n > 0

    @property
    def summed(self) -> bool:
        """Whether some part keeps sums in place of answers."""
        return any(part.summed for part in self.parts)

    @property
    def free(self) -> int:
        """How many response probabilities the designs leave free, over the parts that have answers."""
        return sum(part.design.space.size - 1 for part in self.parts if part.n)

    @property
    def weight(self) -> float:
        """Sum of the weights of those who answered."""
        return float(sum(part.weight.sum() for part in self.parts))

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise: (Σw)²/Σw² (Kish 1965)."""
        return self.weight**2 / float(sum(part.weight_squared.sum() for part in self.parts))

    @property
    def sampled(self) -> Sampled:
        """How the people behind the distinct answers were sampled: independently, unless `complex` says otherwise."""
        return self.drawn()

    def drawn(self, *, by_part: bool = False, kish: bool = False) -> Sampled:
        """How people were sampled; the options apply only to people who were drawn independently.

        Parameters
        ----------
        by_part : bool
            Whether the people of each part are a sample of their own, of a fixed size.
        kish : bool
            Whether unequal weights reduce the number of people; see `Units.independent`.
        """
        if self.complex is not None:
            return self.complex
        count, weight, squared = (np.concatenate([getattr(part, name) for part in self.parts]) for name in ARRAYS[1:])
        stratum = np.repeat(np.arange(len(self.parts)), [len(part.codes) for part in self.parts]) if by_part else None
        return Units.independent(count, weight, squared, stratum=stratum, kish=kish)

    @property
    def apart(self) -> list[tuple[Part, Sampled]]:
        """The parts that have answers, each with how its people were sampled."""
        ends = np.cumsum([len(part.codes) for part in self.parts])
        sampled_parts = []
        for part, end in zip(self.parts, ends.tolist(), strict=True):
            part_sample = (
                Units.independent(part.count, part.weight, part.weight_squared)
                if self.complex is None
                else self.complex.take(np.arange(end - len(part.codes), end))
            )
            sampled_parts.append((part, part_sample))
        return [(part, part_sample) for part, part_sample in sampled_parts if part.n]

    @cached_property
    def by_level(self) -> dict[Any, Part]:
        """The parts by their level."""
        return {part.level: part for part in self.parts}

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many people gave each response, (responses,), in the order of the design's matrix rows."""
        if len(self.parts) > 1:
            raise DataError(f"counts belong to one design; this tally has {len(self.parts)} parts, see `.parts`")
        part = self.parts[0]
        listing = part.design.space.listing()
        distinct, inverse = unique_codes(np.vstack([listing, part.codes]))
        totals = np.zeros(len(distinct), dtype=np.int64)
        totals[inverse[len(listing) :]] = part.count
        return totals[inverse[: len(listing)]]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        parts = list(self.parts)
        for part in other.parts:
            place = self._place(part)
            if place is None:
                parts.append(part)
            else:
                parts[place] = parts[place].plus(part)
        question, wave = self._shared_names(other)
        joint_tally = Tally(tuple(parts), weighted=self.weighted or other.weighted, question=question, wave=wave)
        if self.complex is None and other.complex is None:
            return joint_tally
        if self.complex is None or other.complex is None:
            raise DataError("only one of the two tallies has strata, clusters or replicate weights; tally both alike")
        places = joint_tally._items_of(self), joint_tally._items_of(other)
        return replace(
            joint_tally, complex=joined(self.complex, other.complex, places, sum(len(p.codes) for p in parts))
        )

    def __sub__(self, other: Tally) -> Tally:
        """The tally without another's answers, such as of people who want theirs deleted; exact without survey weights.

        Raises
        ------
        DataError
            The other tally holds an answer more often, or of another design, question or wave; or samples are complex.
        """
        if not isinstance(other, Tally):
            return NotImplemented
        if self.complex is not None or other.complex is not None:
            raise DataError("answers of a complex sample cannot be taken off; tally the others again")
        (question, wave), parts = self._shared_names(other), list(self.parts)
        for part in other.parts:
            place = self._place(part)
            if place is not None:
                parts[place] = parts[place].minus(part)
            elif part.n or part.missing:
                raise DataError("the answers to be taken off are of a level that this tally does not hold")
        return Tally(tuple(parts), weighted=self.weighted, question=question, wave=wave)

    def _place(self, part: Any) -> int | None:
        """The place of the part of the same level; None where there is none. Raises where its design is another one."""
        place = next((i for i, mine in enumerate(self.parts) if str(mine.level) == str(part.level)), None)
        if place is not None and self.parts[place].design != part.design:
            mine, theirs = self.parts[place].design.hash[:12], part.design.hash[:12]
            raise DataError(f"the two tallies are of different designs, {mine}… and {theirs}…; estimate each by itself")
        return place

    def _shared_names(self, other: Tally) -> tuple[str | None, str | None]:
        """The question and wave of both; raises where they differ."""
        for attribute in ("question", "wave"):
            mine, theirs = getattr(self, attribute), getattr(other, attribute)
            if mine is not None and theirs is not None and mine != theirs:
                hint = f"if they are one, give them one name first: dataclasses.replace(tally, {attribute}=...)"
                raise DataError(f"tallies of two {attribute}s do not add; got {mine!r} and {theirs!r} ({hint})")
        return self.question or other.question, self.wave or other.wave

    def _items_of(self, other: Tally) -> NDArray[np.intp]:
        """The places of another tally's items among the items of this one, which holds them all."""
        firsts = np.cumsum([0, *(len(part.codes) for part in self.parts)])
        item_places = []
        for part in other.parts:
            place = cast("int", self._place(part))  # this one holds the other's parts, too
            item_places.append(firsts[place] + self.parts[place].places(part.codes))
        return np.concatenate(item_places)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # sum() starts by adding 0

    def __repr__(self) -> str:
        about = f" to {self.question!r}" if self.question else ""
        about += f" of wave {self.wave!r}" if self.wave else ""
        missing = f", {self.missing} missing" if self.missing else ""
        contents = "sums" if self.summed else f"{sum(part.distinct for part in self.parts)} distinct"
        return f"<Tally: {self.n} answers{about}{missing}, {contents}>"

    def save(self, path: str | Path) -> None:
        """Write the tally and its designs to one file. The file holds no respondent's row."""
        path = Path(path)
        # Write another file and rename it, so that a crash leaves no half-written tally.
        unfinished = path.with_name(f"{path.name}.part")
        try:
            with unfinished.open("wb") as file:
                self.write(file)
            unfinished.replace(path)
        except OSError as error:
            raise DataError(f"cannot write {str(path)!r}: {error}") from None
        finally:
            unfinished.unlink(missing_ok=True)

    def write(self, file: BinaryIO) -> None:
        """Write the tally to an open binary file; see `save`."""
        arrays = {f"{name}{n}": getattr(part, name) for n, part in enumerate(self.parts) for name in part.arrays}
        parts = [
            {name: getattr(part, name) for name in _HEAD}
            | {"design": part.design.form()}
            | ({"sums": True, "categories": list(part.design.categories)} if part.summed else {})
            for part in self.parts
        ]
        head_fields: dict[str, Any] = {"weighted": self.weighted, "question": self.question, "parts": parts}
        if self.wave is not None:
            head_fields["wave"] = self.wave
        if self.complex is not None:
            head_fields["complex"], sampled = stored(self.complex)
            arrays |= {f"complex_{name}": array for name, array in sampled.items()}
        version = _FORMAT if self.wave is not None else 3 if self.summed else 2 if self.complex is not None else 1
        head = json.dumps({"naysay": "tally", "version": version} | head_fields)
        np.savez_compressed(file, head=np.array(head), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """The tally that `save` wrote."""
        path = Path(path)
        # Importing designs registers the reader; the caller may not have imported them yet.
        import_module("naysay.design")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as file_:
                head = json.loads(str(file_["head"]))
                later = head["version"] > _FORMAT
                parts = () if later else tuple(_part(file_, n, part) for n, part in enumerate(head["parts"]))
                arrays = {name.removeprefix("complex_"): file_[name] for name in file_.files if name[:7] == "complex"}
                sampled = restored(head["complex"], arrays) if "complex" in head else None
        except FileNotFoundError:
            raise DataError(f"there is no file {str(path)!r}") from None
        except (OSError, LookupError, TypeError, ValueError, EOFError, BadZipFile) as error:
            raise DataError(f"{str(path)!r} is not a tally that naysay saved ({error})") from None
        if later:
            raise DataError(f"{str(path)!r} was saved by a later naysay (format {head['version']}); please update")
        return cls(parts, weighted=head["weighted"], question=head["question"], complex=sampled, wave=head.get("wave"))


def _part(stored: Mapping[str, NDArray[Any]], number: int, head: dict[str, Any]) -> Any:
    kind: Any = Sums if head.get("sums") else Part
    arrays: dict[str, Any] = {name: stored[f"{name}{number}"] for name in kind.arrays}
    design = _design_of_form(head["design"])
    if kind is Sums and not design.categories:  # an open domain: its sums are those of the candidates
        design = design.about(head["categories"])
    return kind(design=design, **{name: head[name] for name in _HEAD}, **arrays)


_MOST = 2**53  # largest number of people: above it floating point skips whole numbers


def whole(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts as integers, after checking that they are whole."""
    fractional = counts != np.rint(counts)
    if fractional.any():
        row = int(fractional.argmax())
        raise DataError(
            f"counts must be whole numbers; got {counts[row]:g} in place {row + 1} (survey weights go into weights=)",
            row=row,
            value=float(counts[row]),
        )
    if counts.sum() > _MOST:
        raise DataError(f"counts must sum to at most 2**53; they sum to {counts.sum():g}")
    return counts.astype(np.int64)


def group_order(group: Any) -> tuple[bool, str]:
    """The key for sorting groups: the missing group first, then by text."""
    return group is not None, str(group)


@contextmanager
def in_group(group: Any) -> Iterator[None]:
    """Put the name of the group in front of errors raised inside."""
    try:
        yield
    except AnswerError:
        raise
    except (DataError, NotEstimable) as error:
        if group is None:
            raise
        message = f"in group {group!r} {error}"
        if isinstance(error, NotEstimable):
            raise NotEstimable(message, contrast=error.contrast, rank=error.rank) from None
        raise DataError(message, row=error.row, column=error.column, value=error.value) from None
