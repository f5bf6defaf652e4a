"""Layout of a flowchart: a tidy tree, measured by its texts.

Every step has a band of its own across the picture. The band holds everything that follows the step, so that no two
boxes overlap.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from naysay.design import Branch, Chance, Do, Fork, Say, Step
from naysay.design.protocol import way, written
from naysay.report import finish

__all__ = ["LINE", "Box", "Way", "arranged", "pixels"]

Point = tuple[float, float]
Arrow = tuple[tuple[Point, ...], ...]

LINE = 17
"""Height of a line of text."""

_LETTER = 7.0  # width of an ordinary letter, rounded up
_WIDE = 2.4  # extra width of a capital or another wide letter
_INSIDE = (12, 8)  # space between a box's edge and its text, across and down
_POINT = 10  # length of the points of a chance's hexagon
_APART = 14  # space between two boxes side by side
_STEM = 12  # length of an arrow before its words, and after them
_SAVED = 5  # a line may be this many letters longer, to keep a word whole
_MOST_LINES = {Do: 14, Say: 4, Chance: 6, Fork: 6}


class Way(NamedTuple):
    """The words on the arrow that leads to a box."""

    lines: tuple[str, ...]
    chance: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Box:
    """One step and its place in the picture.

    Parameters
    ----------
    step : Step
    told : str
        Its whole text.
    lines : tuple of str
        The lines that are shown.
    x, y, width, height : float
        Left edge, top edge and size, in pixels.
    way : Way or None
        The words on the arrow to this box; None for the first box.
    arrow : tuple of two tuples of (x, y)
        The line from the previous step to the words, and the line from the words to the box.
    below : tuple of Box
    """

    step: Step
    told: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    way: Way | None
    arrow: Arrow
    below: tuple[Box, ...]

    def all(self) -> Iterator[Box]:
        """The box itself and all boxes that follow it."""
        yield self
        for box in self.below:
            yield from box.all()


def pixels(text: str) -> float:
    """An upper bound on the drawn width of a text."""
    return finish.width(text) * _LETTER + _WIDE * sum(c.isupper() or c in "mw@%—…" for c in text)


def arranged(first: Step, *, room: int, sideways: bool) -> Box:
    """The boxes of a tree of steps, from its upper left corner at (0, 0).

    Parameters
    ----------
    first : Step
    room : int
        Most letters in a line.
    sideways : bool
        Whether steps follow each other from left to right, instead of from top to bottom.

    Examples
    --------
    >>> from naysay import designs
    >>> first = designs.two_coins().protocol.first
    >>> [box.told for box in arranged(first, room=24, sideways=False).all()][:3]
    ['Toss a coin', 'Is the sensitive statement true of you?', 'say “yes”']
    """
    cell = _measured(first, None, room=room, sideways=sideways)
    depths = _depths(cell, along=0 if sideways else 1)
    starts = [0.0, *itertools.accumulate(stem + box for stem, box in depths)]
    return _placed(cell, 0.0, 0, _Levels(starts, depths, sideways), None)


class _Cell(NamedTuple):
    """The measures of a step: its box and the words on the arrow to it, as (width, height)."""

    step: Step
    told: str
    lines: tuple[str, ...]
    box: tuple[float, float]
    words: tuple[tuple[str, ...], str]
    way: tuple[float, float]
    below: tuple[_Cell, ...]
    across: float
    """The breadth of the band for everything that follows."""


class _Levels(NamedTuple):
    """For each depth d: where its steps begin along the picture, and the room for their arrows and boxes."""

    starts: Sequence[float]
    depths: Sequence[tuple[float, float]]
    sideways: bool

    def turned(self, along: float, across: float) -> tuple[float, float]:
        """(x, y) of a point at these distances along the picture and across it."""
        return (along, across) if self.sideways else (across, along)


def _measured(step: Step, branch: Branch | None, *, room: int, sideways: bool) -> _Cell:
    told = finish.full(step)
    if not isinstance(step, Say):
        told = told[:1].upper() + told[1:]
    lines = _lines(step, told, room)
    wide = max(map(pixels, lines)) + 2 * (_INSIDE[0] + _POINT * isinstance(step, Chance))
    box = (max(wide, 44.0), len(lines) * LINE + 2 * _INSIDE[1])
    words = _words(branch, room)
    texts = (*words[0], *filter(None, words[1:]))
    size = (max(map(pixels, texts), default=0.0), float(LINE * len(texts)))
    branches = step.branches if isinstance(step, Chance | Fork) else ()
    below = tuple(_measured(each.then, each, room=room, sideways=sideways) for each in branches)
    across = max(box[sideways], size[sideways], _together(below))
    return _Cell(step, told, lines, box, words, size, below, across)


def _together(cells: Sequence[_Cell]) -> float:
    """The total breadth of bands side by side."""
    return sum(cell.across for cell in cells) + _APART * max(0, len(cells) - 1)


def _lines(step: Step, told: str, room: int) -> tuple[str, ...]:
    """The text of a box, line by line; each line has the direction of its script."""
    most = _MOST_LINES[type(step)]
    if isinstance(step, Say):
        response = finish.full(step.response)
        if finish.width(told) <= room:
            return (finish.isolated(f"say “{finish.isolated(response, response)}”", "say"),)
        return ("say", *_directed(f"“{response}”", room, most))
    return _directed(told, room * 3 // 2 if isinstance(step, Do) else room, most)


def _directed(text: str, room: int, most: int) -> tuple[str, ...]:
    """The text in as few lines as the room allows, about equally long. A little more room may keep a word whole."""
    lines = finish.wrapped(text, room, lines=most)
    fewer = (finish.wrapped(text, narrow, lines=len(lines)) for narrow in range(6, room + _SAVED))
    # The first division that cuts nothing and breaks no word.
    whole = next((found for found in fewer if " ".join(found) == text), lines)
    return tuple(finish.isolated(line, text) for line in whole)


def _words(branch: Branch | None, room: int) -> tuple[tuple[str, ...], str]:
    """The words on the arrow to a step: the event and its probability."""
    if branch is None:
        return (), ""
    chance = "" if branch.chance is None else written(branch.chance)
    event = finish.full(branch.event)
    if chance and way(branch) == branch.event:  # the event already gives the chance in words
        return (), chance
    return _directed(event, max(10, room * 2 // 3), 3), chance


def _depths(cell: _Cell, *, along: int, first: bool = True) -> list[tuple[float, float]]:
    """For each depth: the longest arrow to it, and the longest box at it."""
    stem = 0.0 if first else cell.way[along] + 3 * _STEM
    below = itertools.zip_longest(*(_depths(each, along=along, first=False) for each in cell.below), fillvalue=(0, 0))
    return [(stem, cell.box[along]), *((max(w for w, _ in level), max(b for _, b in level)) for level in below)]


def _bands(cell: _Cell, start: float) -> Iterator[tuple[_Cell, float]]:
    """The steps that follow, each with the start of its band; together they are centered in the step's own band."""
    at = start + (cell.across - _together(cell.below)) / 2
    for each in cell.below:
        yield each, at
        at += each.across + _APART


def _middle(cell: _Cell, start: float, *, sideways: bool) -> float:
    """Where a box stands in its band: over the middle of the steps that follow, as far as the band allows."""
    half = max(cell.box[sideways], cell.way[sideways]) / 2
    middles = [_middle(each, at, sideways=sideways) for each, at in _bands(cell, start)]
    middle = (middles[0] + middles[-1]) / 2 if middles else start + cell.across / 2
    return min(max(middle, start + half), start + cell.across - half)


def _placed(cell: _Cell, start: float, depth: int, levels: _Levels, before: Point | None) -> Box:
    """The box in its band, which begins at `start`. Its arrow starts at a point of the previous box."""
    sideways = levels.sideways
    along, middle = levels.starts[depth], _middle(cell, start, sideways=sideways)
    top = along + levels.depths[depth][0]
    x, y = levels.turned(top, middle - cell.box[sideways] / 2)
    way: Way | None = None
    arrow: Arrow = ()
    if before is not None:
        way, arrow = _reached(cell, (along, top), middle, levels, before)
    end = (top + cell.box[not sideways], middle)
    below = tuple(_placed(each, at, depth + 1, levels, end) for each, at in _bands(cell, start))
    return Box(cell.step, cell.told, cell.lines, x, y, *cell.box, way, arrow, below)


def _reached(cell: _Cell, along: Point, middle: float, levels: _Levels, before: Point) -> tuple[Way, Arrow]:
    """The words on the arrow to a box, and the two pieces of the arrow, which leave the words free."""
    turn, start = along[0] + _STEM, along[0] + 2 * _STEM
    end = start + cell.way[not levels.sideways]
    first = (before, (turn, before[1]), (turn, middle), (start - 3, middle))
    pieces = (first, ((end + 3, middle), (along[1], middle)))
    x, y = levels.turned(start, middle - cell.way[levels.sideways] / 2)
    return Way(*cell.words, x, y, *cell.way), tuple(tuple(levels.turned(*point) for point in piece) for piece in pieces)
