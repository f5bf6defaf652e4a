"""Flowcharts of the protocol that a respondent follows: any design as one self-contained SVG.

Layout of a flowchart: a tidy tree, measured by its texts.

Every step has a band of its own across the picture. The band holds everything that follows the step, so that no two
boxes overlap.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape

from naysay.design import Answerable, Branch, Chance, Do, Fork, Protocol, Say, Step, protocols
from naysay.design.protocol import fraction_text, steps, way
from naysay.show import finish
from naysay.show.finish import FONT, INKS, ink

# (letters in a line, whether sideways), tried in this order.
_SHAPES = ((24, False), (18, False), (26, True), (18, True), (13, False), (13, True))
_MARGIN = 2
_PARTS = 30  # pixels between the charts of two parts
_LEGEND = ((Chance, "chance decides"), (Fork, "look at yourself"), (Say, "say it"), (Do, "in words"))
_DARK = "#15181b"


def flowchart(design: Answerable, *, title: str | None = None, size: int = 640) -> str:
    """An SVG image of what a respondent does under a design: devices, questions to themselves, responses.

    At a hexagon chance decides; each way shows its probability as a fraction. Rounded boxes are questions that
    respondents answer to themselves. Filled boxes end the protocol. Levels, samples and questions stand one below the
    other.

    Parameters
    ----------
    design : Design, Levels or Samples
    title : str, optional
        Read aloud for the whole image; the design's name by default.
    size : int
        The width to stay within, in pixels at which text has its natural size. A tree that is too wide is laid
        sideways.

    Returns
    -------
    str
        Inside a page, the image takes the page's colors (``--chart-text`` and others, see `inks.INKS`). As a file of
        its own, it follows the reader's choice of light or dark. It needs no extra.

    Examples
    --------
    >>> from naysay import designs
    >>> svg = flowchart(designs.two_coins())
    >>> svg[:4], svg.count("1/2"), "Toss a coin" in svg
    ('<svg', 8, True)
    """
    titled_protocols = protocols(design)
    name = finish.label_line(title or design.name or design.kind)
    svg_parts: list[str] = []
    top, width = 0.0, 0.0
    for heading, protocol in titled_protocols:
        part = _part(heading, protocol, size)
        svg_parts.append(f'<g transform="translate(0,{_number(top)})">{part.svg}</g>')
        top, width = top + part.height + _PARTS, max(width, part.width)
    legend = _legend({type(step) for _, protocol in titled_protocols for step in steps(protocol.first)})
    svg_parts.append(f'<g transform="translate(0,{_number(top)})">{legend.svg}</g>')
    height = top + legend.height if legend.svg else top - _PARTS
    return _image(name, _description(titled_protocols), "".join(svg_parts), max(width, legend.width), height)


class _Drawing(NamedTuple):
    svg: str
    width: float
    height: float


def _description(titled_protocols: tuple[tuple[str, Protocol], ...]) -> str:
    """The trees as text, for people who cannot see them."""
    text = "\n".join(f"{heading}\n{protocol}" if heading else str(protocol) for heading, protocol in titled_protocols)
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _part(heading: str, protocol: Protocol, size: int) -> _Drawing:
    """One protocol under its heading, in the first arrangement that fits the width."""
    tries = (arranged(protocol.first, room=room, sideways=sideways) for room, sideways in _SHAPES)
    first = min(tries, key=lambda box: max(_extent(box)[0], size))
    width, height = _extent(first)
    boxes = "".join(_arrow(box) + _box(box) for box in first.all())
    if not heading:
        return _Drawing(boxes, width, height)
    above, style = LINE + 12, _ink("fill", "text")
    words = f'<text y="{LINE - 4}" font-weight="600" style="{style}">{escape(finish.label_line(heading))}</text>'
    body = f'<g transform="translate(0,{above})">{boxes}</g>'
    return _Drawing(words + body, max(width, pixels(heading)), height + above)


def _extent(first: Box) -> tuple[float, float]:
    """The width and height that the boxes and the words between them need."""
    parts = [part for box in first.all() for part in (box, box.way) if part is not None]
    return max(part.x + part.width for part in parts), max(part.y + part.height for part in parts)


def _arrow(box: Box) -> str:
    """The arrow from the previous step: its line, the words on it, its head."""
    if box.way is None:
        return ""
    lines = "".join(f"M{'L'.join(map(_point, piece))}" for piece in box.arrow)
    (_, before), (x, y) = box.arrow[-1]
    head = [(x, y), (x - 7, y - 4), (x - 7, y + 4)] if before == y else [(x, y), (x - 4, y - 7), (x + 4, y - 7)]
    way = box.way
    chance = f'<tspan font-weight="600" style="{_ink("fill", "estimate")}">{way.chance}</tspan>'
    texts = [*map(escape, way.lines), *([chance] if way.chance else [])]
    return (
        f'<path d="{lines}" fill="none" shape-rendering="crispEdges" style="{_ink("stroke", "muted")}"/>'
        f'<path d="M{"L".join(map(_point, head))}Z" style="{_ink("fill", "muted")}"/>'
        + _text(texts, way.x + way.width / 2, way.y + way.height / 2)
    )


def _box(box: Box) -> str:
    tip = f"<title>{escape(box.full_text)}</title>"
    shape = _shape(type(box.step), box.x, box.y, box.width, box.height)
    return f"<g>{tip}{shape}{_text([*map(escape, box.lines)], box.x + box.width / 2, box.y + box.height / 2)}</g>"


def _shape(kind: type[Step], x: float, y: float, width: float, height: float) -> str:
    """The outline of a kind of step, which is recognizable in print and without colors."""
    if kind is Chance:
        points = ((0, 0.5), (10, 0), (-10, 0), (0, 0.5), (-10, 1), (10, 1))
        rights = (False, False, True, True, True, False)
        corners = [
            (x + width * right + shift, y + height * part) for (shift, part), right in zip(points, rights, strict=True)
        ]
        style = f"{_ink('stroke', 'estimate')};fill:none"
        return f'<path class="chance" d="M{"L".join(map(_point, corners))}Z" stroke-width="1.8" style="{style}"/>'
    corner, name = {Fork: (9.0, "fork"), Say: (min(height / 2, 17.0), "say"), Do: (0.0, "do")}[kind]
    is_fork = kind is Fork
    style = f"{_ink('stroke', 'pooled')};fill:none" if is_fork else f"{_ink('fill', 'grid')};{_ink('stroke', 'muted')}"
    numbers = {"x": x, "y": y, "width": width, "height": height, "rx": corner, "stroke-width": 1.8 if is_fork else 1.0}
    place = " ".join(f'{key}="{_number(value)}"' for key, value in numbers.items())
    return f'<rect class="{name}" {place} style="{style}"/>'


def _text(lines: list[str], x: float, y: float) -> str:
    """Lines in the middle of a place."""
    start = y - LINE * len(lines) / 2 + LINE * 0.73
    spans = "".join(
        f'<tspan x="{_number(x)}" y="{_number(start + LINE * row)}">{line}</tspan>' for row, line in enumerate(lines)
    )
    return f'<text text-anchor="middle" style="{_ink("fill", "text")}">{spans}</text>'


def _legend(kinds: set[type[Step]]) -> _Drawing:
    """What the shapes in the image mean; empty if there is only one shape."""
    if len(kinds) < 2:
        return _Drawing("", 0.0, 0.0)
    x, svg_parts = 0.0, []
    for kind, kind_text in _LEGEND:
        if kind in kinds:
            words = f'<text x="{_number(x + 34)}" y="12" style="{_ink("fill", "muted")}">{kind_text}</text>'
            svg_parts.append(f'<g font-size="12">{_shape(kind, x, 1, 28, 14)}{words}</g>')
            x += 34 + pixels(kind_text) + 14
    return _Drawing("".join(svg_parts), x - 14, 18)


def _ink(what: str, role: str) -> str:
    return f"{what}:{ink(role)}"


def _point(point: tuple[float, float]) -> str:
    return ",".join(map(_number, point))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _image(name: str, description: str, body_svg: str, width: float, height: float) -> str:
    """The image. It chooses light or dark by itself only as a file of its own."""
    wide, high = (round(extent + 2 * _MARGIN) for extent in (width, height))
    inks = ";".join(f"--chart-{role}:{dark}" for role, (_, dark) in INKS.items())
    dark_style = f"@media screen and (prefers-color-scheme:dark){{svg:root{{{inks};background:{_DARK}}}}}"
    style = f"max-width:{wide}px;min-width:{round(0.7 * wide)}px;width:100%;height:auto"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {wide} {high}" role="img" aria-label="{escape(name, {chr(34): "&quot;"})}" '
        f'font-family="{FONT}" font-size="13" style="{style}"><title>{escape(name)}</title>'
        f"<desc>{escape(description)}</desc><style>{dark_style}</style>{body_svg}</svg>"
    )


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
    full_text : str
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
    full_text: str
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
    >>> [box.full_text for box in arranged(first, room=24, sideways=False).all()][:3]
    ['Toss a coin', 'Is the sensitive statement true of you?', 'say “yes”']
    """
    cell = _measure_step(first, None, room=room, sideways=sideways)
    depths = _depths(cell, along=0 if sideways else 1)
    starts = [0.0, *itertools.accumulate(stem + box for stem, box in depths)]
    return _place_box(cell, 0.0, 0, _Levels(starts, depths, sideways), None)


class _Cell(NamedTuple):
    """The measures of a step: its box and the words on the arrow to it, as (width, height)."""

    step: Step
    full_text: str
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


def _measure_step(step: Step, branch: Branch | None, *, room: int, sideways: bool) -> _Cell:
    full_text = finish.label_line(step)
    if not isinstance(step, Say):
        full_text = full_text[:1].upper() + full_text[1:]
    lines = _lines(step, full_text, room)
    wide = max(map(pixels, lines)) + 2 * (_INSIDE[0] + _POINT * isinstance(step, Chance))
    box = (max(wide, 44.0), len(lines) * LINE + 2 * _INSIDE[1])
    words = _words(branch, room)
    texts = (*words[0], *filter(None, words[1:]))
    size = (max(map(pixels, texts), default=0.0), float(LINE * len(texts)))
    branches = step.branches if isinstance(step, Chance | Fork) else ()
    below = tuple(
        _measure_step(next_branch.then, next_branch, room=room, sideways=sideways) for next_branch in branches
    )
    across = max(box[sideways], size[sideways], _together(below))
    return _Cell(step, full_text, lines, box, words, size, below, across)


def _together(cells: Sequence[_Cell]) -> float:
    """The total breadth of bands side by side."""
    return sum(cell.across for cell in cells) + _APART * max(0, len(cells) - 1)


def _lines(step: Step, full_text: str, room: int) -> tuple[str, ...]:
    """The text of a box, line by line; each line has the direction of its script."""
    most = _MOST_LINES[type(step)]
    if isinstance(step, Say):
        response = finish.label_line(step.response)
        if finish.width(full_text) <= room:
            return (finish.isolated_line(f"say “{finish.isolated_line(response, response)}”", "say"),)
        return ("say", *_directed_lines(f"“{response}”", room, most))
    return _directed_lines(full_text, room * 3 // 2 if isinstance(step, Do) else room, most)


def _directed_lines(text: str, room: int, most: int) -> tuple[str, ...]:
    """The text in as few lines as the room allows, about equally long. A little more room may keep a word whole."""
    lines = finish.wrapped_lines(text, room, lines=most)
    fewer = (finish.wrapped_lines(text, narrow, lines=len(lines)) for narrow in range(6, room + _SAVED))
    # The first division that cuts nothing and breaks no word.
    best_lines = next((narrow_lines for narrow_lines in fewer if " ".join(narrow_lines) == text), lines)
    return tuple(finish.isolated_line(line, text) for line in best_lines)


def _words(branch: Branch | None, room: int) -> tuple[tuple[str, ...], str]:
    """The words on the arrow to a step: the event and its probability."""
    if branch is None:
        return (), ""
    chance = "" if branch.chance is None else fraction_text(branch.chance)
    event = finish.label_line(branch.event)
    if chance and way(branch) == branch.event:  # the event already gives the chance in words
        return (), chance
    return _directed_lines(event, max(10, room * 2 // 3), 3), chance


def _depths(cell: _Cell, *, along: int, first: bool = True) -> list[tuple[float, float]]:
    """For each depth: the longest arrow to it, and the longest box at it."""
    stem = 0.0 if first else cell.way[along] + 3 * _STEM
    below = itertools.zip_longest(
        *(_depths(next_cell, along=along, first=False) for next_cell in cell.below), fillvalue=(0, 0)
    )
    return [(stem, cell.box[along]), *((max(w for w, _ in level), max(b for _, b in level)) for level in below)]


def _bands(cell: _Cell, start: float) -> Iterator[tuple[_Cell, float]]:
    """The steps that follow, each with the start of its band; together they are centered in the step's own band."""
    band_start = start + (cell.across - _together(cell.below)) / 2
    for next_cell in cell.below:
        yield next_cell, band_start
        band_start += next_cell.across + _APART


def _middle(cell: _Cell, start: float, *, sideways: bool) -> float:
    """Where a box stands in its band: over the middle of the steps that follow, as far as the band allows."""
    half = max(cell.box[sideways], cell.way[sideways]) / 2
    middles = [_middle(next_cell, band_start, sideways=sideways) for next_cell, band_start in _bands(cell, start)]
    middle = (middles[0] + middles[-1]) / 2 if middles else start + cell.across / 2
    return min(max(middle, start + half), start + cell.across - half)


def _place_box(cell: _Cell, start: float, depth: int, levels: _Levels, before: Point | None) -> Box:
    """The box in its band, which begins at `start`. Its arrow starts at a point of the previous box."""
    sideways = levels.sideways
    along, middle = levels.starts[depth], _middle(cell, start, sideways=sideways)
    top = along + levels.depths[depth][0]
    x, y = levels.turned(top, middle - cell.box[sideways] / 2)
    way: Way | None = None
    arrow: Arrow = ()
    if before is not None:
        way, arrow = _arrow_to(cell, (along, top), middle, levels, before)
    end = (top + cell.box[not sideways], middle)
    below = tuple(
        _place_box(next_cell, band_start, depth + 1, levels, end) for next_cell, band_start in _bands(cell, start)
    )
    return Box(cell.step, cell.full_text, cell.lines, x, y, *cell.box, way, arrow, below)


def _arrow_to(cell: _Cell, along: Point, middle: float, levels: _Levels, before: Point) -> tuple[Way, Arrow]:
    """The words on the arrow to a box, and the two pieces of the arrow, which leave the words free."""
    turn, start = along[0] + _STEM, along[0] + 2 * _STEM
    end = start + cell.way[not levels.sideways]
    first = (before, (turn, before[1]), (turn, middle), (start - 3, middle))
    pieces = (first, ((end + 3, middle), (along[1], middle)))
    x, y = levels.turned(start, middle - cell.way[levels.sideways] / 2)
    return Way(*cell.words, x, y, *cell.way), tuple(tuple(levels.turned(*point) for point in piece) for piece in pieces)
