"""What respondents do under any design, as steps and as a picture: one self-contained SVG, and question cards.

The steps come from the design's own protocol, from the designs it is made of, or from its table. The picture is a tidy
tree, measured by its texts: every step has a band of its own across the picture, which holds everything that follows
the step, so that no two boxes overlap.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from naysay import _checks
from naysay._values import Label
from naysay.design.algebra import Both, Mixture
from naysay.design.base import Answerable, Design, Product, Then, check_design
from naysay.design.channels import Pattern, Subset, Table, TwoOption, WeightedSubset
from naysay.design.protocol import (
    Branch,
    Chance,
    Do,
    Fork,
    Protocol,
    Say,
    Step,
    draw_lots,
    fraction_text,
    steps,
    way,
    words,
)
from naysay.design.several import Several
from naysay.show import finish
from naysay.show.finish import FONT, INKS, ink

# (letters in a line, whether sideways), tried in this order.
_SHAPES = ((24, False), (18, False), (26, True), (18, True), (13, False), (13, True))
_MARGIN = 2
_PARTS = 30  # pixels between the charts of two parts
_LEGEND = ((Chance, "chance decides"), (Fork, "look at yourself"), (Say, "say it"), (Do, "in words"))
_DARK = "#15181b"

escape = partial(html.escape, quote=False)  # that of xml.sax loads clients of HTTP and TLS with every design


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
    image_name = finish.label_line(title or design.name or design.kind)
    svg_parts: list[str] = []
    part_top, chart_width = 0.0, 0.0
    for heading, protocol in titled_protocols:
        protocol_drawing = _part(heading, protocol, size)
        svg_parts.append(f'<g transform="translate(0,{_number(part_top)})">{protocol_drawing.svg}</g>')
        part_top, chart_width = part_top + protocol_drawing.height + _PARTS, max(chart_width, protocol_drawing.width)
    legend_drawing = _legend({type(step) for _, protocol in titled_protocols for step in steps(protocol.first)})
    svg_parts.append(f'<g transform="translate(0,{_number(part_top)})">{legend_drawing.svg}</g>')
    chart_height = part_top + legend_drawing.height if legend_drawing.svg else part_top - _PARTS
    description = "\n".join(
        f"{heading}\n{protocol}" if heading else str(protocol) for heading, protocol in titled_protocols
    )
    return _image(
        image_name,
        "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in description),
        "".join(svg_parts),
        max(chart_width, legend_drawing.width),
        chart_height,
    )


class _Drawing(NamedTuple):
    svg: str
    width: float
    height: float


def _part(heading: str, protocol: Protocol, size: int) -> _Drawing:
    """One protocol under its heading, in the first arrangement that fits the width."""
    arrangements = (arranged(protocol.first, room=room, sideways=sideways) for room, sideways in _SHAPES)
    first_box = min(arrangements, key=lambda box: max(_extent(box)[0], size))
    part_width, part_height = _extent(first_box)
    svg_parts: list[str] = []
    for box in first_box.all():
        shape = _shape(type(box.step), box.x, box.y, box.width, box.height)
        lines_svg = _text([*map(escape, box.lines)], box.x + box.width / 2, box.y + box.height / 2)
        svg_parts.append(f"{_arrow(box)}<g><title>{escape(box.full_text)}</title>{shape}{lines_svg}</g>")
    boxes_svg = "".join(svg_parts)
    if not heading:
        return _Drawing(boxes_svg, part_width, part_height)
    heading_height, style = LINE + 12, _ink("fill", "text")
    heading_svg = f'<text y="{LINE - 4}" font-weight="600" style="{style}">{escape(finish.label_line(heading))}</text>'
    body_svg = f'<g transform="translate(0,{heading_height})">{boxes_svg}</g>'
    return _Drawing(heading_svg + body_svg, max(part_width, pixels(heading)), part_height + heading_height)


def _extent(first: Box) -> tuple[float, float]:
    """The width and height that the boxes and the words between them need."""
    parts = [part for box in first.all() for part in (box, box.way) if part is not None]
    return max(part.x + part.width for part in parts), max(part.y + part.height for part in parts)


def _arrow(box: Box) -> str:
    """The arrow from the previous step: its line, the words on it, its head."""
    if box.way is None:
        return ""
    line_path = "".join(f"M{'L'.join(map(_point, arrow_piece))}" for arrow_piece in box.arrow)
    (_, previous_y), (x, y) = box.arrow[-1]
    head_points = (
        [(x, y), (x - 7, y - 4), (x - 7, y + 4)] if previous_y == y else [(x, y), (x - 4, y - 7), (x + 4, y - 7)]
    )
    way = box.way
    chance_svg = f'<tspan font-weight="600" style="{_ink("fill", "estimate")}">{way.chance}</tspan>'
    way_lines = [*map(escape, way.lines), *([chance_svg] if way.chance else [])]
    return (
        f'<path d="{line_path}" fill="none" shape-rendering="crispEdges" style="{_ink("stroke", "muted")}"/>'
        f'<path d="M{"L".join(map(_point, head_points))}Z" style="{_ink("fill", "muted")}"/>'
        + _text(way_lines, way.x + way.width / 2, way.y + way.height / 2)
    )


def _shape(kind: type[Step], x: float, y: float, width: float, height: float) -> str:
    """The outline of a kind of step, which is recognizable in print and without colors."""
    if kind is Chance:
        corner_offsets = ((0, 0.5), (10, 0), (-10, 0), (0, 0.5), (-10, 1), (10, 1))
        is_right_side = (False, False, True, True, True, False)
        corner_points = [
            (x + width * at_right + x_shift, y + height * height_part)
            for (x_shift, height_part), at_right in zip(corner_offsets, is_right_side, strict=True)
        ]
        style = f"{_ink('stroke', 'estimate')};fill:none"
        return f'<path class="chance" d="M{"L".join(map(_point, corner_points))}Z" stroke-width="1.8" style="{style}"/>'
    corner_radius, shape_name = {Fork: (9.0, "fork"), Say: (min(height / 2, 17.0), "say"), Do: (0.0, "do")}[kind]
    is_fork = kind is Fork
    style = f"{_ink('stroke', 'pooled')};fill:none" if is_fork else f"{_ink('fill', 'grid')};{_ink('stroke', 'muted')}"
    shape_numbers = {
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "rx": corner_radius,
        "stroke-width": 1.8 if is_fork else 1.0,
    }
    shape_attributes = " ".join(
        f'{attribute_name}="{_number(attribute_number)}"' for attribute_name, attribute_number in shape_numbers.items()
    )
    return f'<rect class="{shape_name}" {shape_attributes} style="{style}"/>'


def _text(lines: list[str], x: float, y: float) -> str:
    """Lines in the middle of a place."""
    first_baseline = y - LINE * len(lines) / 2 + LINE * 0.73
    line_spans = "".join(
        f'<tspan x="{_number(x)}" y="{_number(first_baseline + LINE * line_number)}">{line}</tspan>'
        for line_number, line in enumerate(lines)
    )
    return f'<text text-anchor="middle" style="{_ink("fill", "text")}">{line_spans}</text>'


def _legend(kinds: set[type[Step]]) -> _Drawing:
    """What the shapes in the image mean; empty if there is only one shape."""
    if len(kinds) < 2:
        return _Drawing("", 0.0, 0.0)
    x, svg_parts = 0.0, []
    for step_kind, kind_text in _LEGEND:
        if step_kind in kinds:
            words_svg = f'<text x="{_number(x + 34)}" y="12" style="{_ink("fill", "muted")}">{kind_text}</text>'
            svg_parts.append(f'<g font-size="12">{_shape(step_kind, x, 1, 28, 14)}{words_svg}</g>')
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
    full_width, full_height = (round(extent + 2 * _MARGIN) for extent in (width, height))
    inks = ";".join(f"--chart-{ink_role}:{dark_ink}" for ink_role, (_, dark_ink) in INKS.items())
    dark_style = f"@media screen and (prefers-color-scheme:dark){{svg:root{{{inks};background:{_DARK}}}}}"
    style = f"max-width:{full_width}px;min-width:{round(0.7 * full_width)}px;width:100%;height:auto"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width}" height="{full_height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {full_width} {full_height}" role="img" '
        f'aria-label="{escape(name).replace(chr(34), "&quot;")}" '
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
    first_cell = _measure_step(first, None, room=room, sideways=sideways)
    depth_sizes = _depths(first_cell, along=0 if sideways else 1)
    depth_starts = [0.0, *itertools.accumulate(stem_length + box_length for stem_length, box_length in depth_sizes)]
    return _place_box(first_cell, 0.0, 0, _Levels(depth_starts, depth_sizes, sideways), None)


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
    text_lines = _lines(step, full_text, room)
    text_width = max(map(pixels, text_lines)) + 2 * (_INSIDE[0] + _POINT * isinstance(step, Chance))
    box_size = (max(text_width, 44.0), len(text_lines) * LINE + 2 * _INSIDE[1])
    way_words = _words(branch, room)
    way_lines = (*way_words[0], *filter(None, way_words[1:]))
    way_size = (max(map(pixels, way_lines), default=0.0), float(LINE * len(way_lines)))
    next_branches = step.branches if isinstance(step, Chance | Fork) else ()
    next_cells = tuple(
        _measure_step(next_branch.then, next_branch, room=room, sideways=sideways) for next_branch in next_branches
    )
    band_width = max(box_size[sideways], way_size[sideways], _together(next_cells))
    return _Cell(step, full_text, text_lines, box_size, way_words, way_size, next_cells, band_width)


def _together(cells: Sequence[_Cell]) -> float:
    """The total breadth of bands side by side."""
    return sum(cell.across for cell in cells) + _APART * max(0, len(cells) - 1)


def _lines(step: Step, full_text: str, room: int) -> tuple[str, ...]:
    """The text of a box, line by line; each line has the direction of its script."""
    line_limit = _MOST_LINES[type(step)]
    if isinstance(step, Say):
        response_label = finish.label_line(step.response)
        if finish.width(full_text) <= room:
            return (finish.isolated_line(f"say “{finish.isolated_line(response_label, response_label)}”", "say"),)
        return ("say", *_directed_lines(f"“{response_label}”", room, line_limit))
    return _directed_lines(full_text, room * 3 // 2 if isinstance(step, Do) else room, line_limit)


def _directed_lines(text: str, room: int, most: int) -> tuple[str, ...]:
    """The text in as few lines as the room allows, about equally long. A little more room may keep a word whole."""
    lines = finish.wrapped_lines(text, room, lines=most)
    narrower_wrappings = (
        finish.wrapped_lines(text, narrow_room, lines=len(lines)) for narrow_room in range(6, room + _SAVED)
    )
    # The first division that cuts nothing and breaks no word.
    best_lines = next((narrow_lines for narrow_lines in narrower_wrappings if " ".join(narrow_lines) == text), lines)
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
    stem_length = 0.0 if first else cell.way[along] + 3 * _STEM
    next_depths = itertools.zip_longest(
        *(_depths(next_cell, along=along, first=False) for next_cell in cell.below), fillvalue=(0, 0)
    )
    return [
        (stem_length, cell.box[along]),
        *((max(w for w, _ in child_sizes), max(b for _, b in child_sizes)) for child_sizes in next_depths),
    ]


def _bands(cell: _Cell, start: float) -> Iterator[tuple[_Cell, float]]:
    """The steps that follow, each with the start of its band; together they are centered in the step's own band."""
    band_start = start + (cell.across - _together(cell.below)) / 2
    for next_cell in cell.below:
        yield next_cell, band_start
        band_start += next_cell.across + _APART


def _middle(cell: _Cell, start: float, *, sideways: bool) -> float:
    """Where a box stands in its band: over the middle of the steps that follow, as far as the band allows."""
    half_width = max(cell.box[sideways], cell.way[sideways]) / 2
    next_middles = [_middle(next_cell, band_start, sideways=sideways) for next_cell, band_start in _bands(cell, start)]
    box_middle = (next_middles[0] + next_middles[-1]) / 2 if next_middles else start + cell.across / 2
    return min(max(box_middle, start + half_width), start + cell.across - half_width)


def _place_box(cell: _Cell, start: float, depth: int, levels: _Levels, before: Point | None) -> Box:
    """The box in its band, which begins at `start`. Its arrow starts at a point of the previous box."""
    sideways = levels.sideways
    depth_start, box_middle = levels.starts[depth], _middle(cell, start, sideways=sideways)
    box_start = depth_start + levels.depths[depth][0]
    x, y = levels.turned(box_start, box_middle - cell.box[sideways] / 2)
    way: Way | None = None
    arrow_pieces: Arrow = ()
    if before is not None:  # the two pieces of the arrow leave the words on it free
        turn, words_start = depth_start + _STEM, depth_start + 2 * _STEM
        words_end = words_start + cell.way[not sideways]
        pieces = (
            (before, (turn, before[1]), (turn, box_middle), (words_start - 3, box_middle)),
            ((words_end + 3, box_middle), (box_start, box_middle)),
        )
        way = Way(*cell.words, *levels.turned(words_start, box_middle - cell.way[sideways] / 2), *cell.way)
        arrow_pieces = tuple(tuple(levels.turned(*piece_point) for piece_point in piece) for piece in pieces)
    arrow_start = (box_start + cell.box[not sideways], box_middle)
    next_boxes = tuple(
        _place_box(next_cell, band_start, depth + 1, levels, arrow_start)
        for next_cell, band_start in _bands(cell, start)
    )
    return Box(cell.step, cell.full_text, cell.lines, x, y, *cell.box, way, arrow_pieces, next_boxes)


_CARD_WIDTH, _CARD_LINE, _CARD_ROW, _CARD_EDGE = 360, 19, 28, 18
_CARD_ROOM = 44  # most letters in a line


def question_pair(question_text: str, negation_text: str, categories: Sequence[Label]) -> str:
    """An SVG image of a question ("which applies?") above its negative, narrow enough for a phone.

    Parameters
    ----------
    question_text : str
        The positive question.
    negation_text : str
        The same in the negative.
    categories : (t,) sequence of label

    Examples
    --------
    >>> svg = question_pair("I earn", "I do not earn", ("< 30k", "> 30k"))
    >>> svg[:4], "&lt; 30k" in svg
    ('<svg', True)
    """
    question_card, question_end = _card(question_text, "Choose the one that applies.", categories, top=1)
    negation_card, negation_end = _card(
        negation_text, "Choose one that does not apply.", categories, top=question_end + 16
    )
    category_names = ", ".join(finish.label_line(category) for category in categories)
    description = (
        f"Two questions with the same answers, {category_names}. First: {question_text} Second: {negation_text}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_CARD_WIDTH} {negation_end + 1}" role="img" '
        f'aria-label="A question and its negative" style="max-width:{_CARD_WIDTH}px;width:100%;height:auto" '
        f'font-family="system-ui, sans-serif" font-size="14"><title>A question and its negative</title>'
        f"<desc>{html.escape(description)}</desc>{question_card}{negation_card}</svg>"
    )


def _card(question_text: str, instruction: str, categories: Sequence[Label], *, top: int) -> tuple[str, int]:
    """One question as a card, and the height at which the card ends."""
    question_lines = finish.wrapped_lines(question_text, _CARD_ROOM)
    y, svg_parts = top + 28, []
    for question_line in question_lines:
        svg_parts.append(_card_text(question_line, _CARD_EDGE, y, "text", 'font-weight="600"', whole=question_text))
        y += _CARD_LINE
    svg_parts.append(_card_text(instruction, _CARD_EDGE, y, "muted", 'font-size="12"', whole=instruction))
    y += _CARD_ROW
    for category in categories:
        category_name = finish.label_line(category)
        circle = f'<circle cx="{_CARD_EDGE + 7}" cy="{y - 5}" r="7" style="fill:none;stroke:{ink("muted")}"/>'
        svg_parts.append(
            circle
            + _card_text(
                finish.short_text(category_name, _CARD_ROOM - 4), _CARD_EDGE + 26, y, "text", "", whole=category_name
            )
        )
        y += _CARD_ROW
    card_end = y - _CARD_ROW + 16
    frame = (
        f'<rect x="1" y="{top}" width="{_CARD_WIDTH - 2}" height="{card_end - top}" rx="8" '
        f'style="fill:none;stroke:{ink("grid")}"/>'
    )
    return frame + "".join(svg_parts), card_end


def _card_text(line: str, x: int, y: int, role: str, more: str, *, whole: str) -> str:
    escaped_line = html.escape(finish.isolated_line(line, whole))
    return f'<text x="{x}" y="{y}" {more} style="fill:{ink(role)}">{escaped_line}</text>'


_MOST = 12  # a step with more ways out is told in words
_ENDS = 36  # a tree with more ends is told in words

_LISTED = "let the device draw one of {} responses, with the chances that the design gives your category"
_BY_LOT = "draw by lot {} of the {} categories that are not yours, and name {}"
_ALL = "name all {} categories that are not yours"
_ANY = "draw {} of the {} categories by lot, and name {}"
_WEIGHED = "let the device draw {} of the {} categories that are not yours, by their weights, and name them"
_THEN = ("step 1, to be said to nobody", "step 2, with the answer of step 1 for your category")


def protocols(design: Answerable) -> tuple[tuple[str, Protocol], ...]:
    """What respondents are told to do under a design, part by part.

    This is the design's own protocol where it has one. Otherwise the steps of a table go category by category, those of
    a mixture draw lots between its components, and those of one design after another join both. A step with more than
    12 ways out, or a response that is a set, is told in words.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    tuple of (str, Protocol)
        A title and a protocol for each level, sample, question or answer. The title is empty if the design is one
        piece.

    Examples
    --------
    >>> from naysay import designs
    >>> ((title, protocol),) = protocols(designs.custom([["0.8", 0], ["0.2", 1]], categories=("ill", "well")))
    >>> print(protocol)
    Which category is yours?
    ├─ ill: draw one of 5 numbered cards
    │  ├─ card 1 to 4 (4/5): say “ill”
    │  └─ card 5 (1/5): say “well”
    └─ well: say “well”
    """
    check_design(design)
    if (shared_design := one_for_all(design)) is not None:
        return protocols(shared_design)
    if design.protocol is None and isinstance(design, Several):
        named_designs = zip(design.names, design.designs, strict=True)
        titled_parts = [
            ("" if part_name is None else f"{design.offer.noun} {_checks.label(part_name)}", part_design)
            for part_name, part_design in named_designs
        ]
    elif design.protocol is None and isinstance(design, Product | Both):
        part_noun = "question" if isinstance(design, Product) else "answer"
        titled_parts = [
            (f"{part_noun} {part_number}", part_design)
            for part_number, part_design in enumerate(_flat(design, type(design)), start=1)
        ]
    elif design.protocol is None and isinstance(design, Then) and not _is_one_tree(design):
        titled_parts = list(zip(_THEN, (design.first, design.second), strict=True))
    else:
        part_protocols = [part_design.protocol for part_design in parts(design) if part_design.protocol is not None]
        all_assumptions = dict.fromkeys(text for protocol in part_protocols for text in protocol.assumes)
        all_sources = dict.fromkeys(protocol.source for protocol in part_protocols if protocol.source)
        return (("", Protocol(_fold_steps(_first(design)), tuple(all_assumptions), "; ".join(all_sources))),)
    return tuple(
        (", ".join(filter(None, (outer_title, inner_title))), protocol)
        for outer_title, part_design in titled_parts
        for inner_title, protocol in protocols(part_design)
    )


def one_for_all(design: Answerable) -> Design | None:
    """The design of every part, where there are several and all are alike; None otherwise."""
    first, *others = design.parts.values()
    return first if others and all(other_design == first for other_design in others) else None


def parts(design: Answerable) -> Iterator[Answerable]:
    """The design and every design that it is made of.

    Examples
    --------
    >>> from naysay import designs
    >>> [part.name for part in parts(designs.two_coins() * designs.direct(("a", "b")))]
    ['two_coins() * direct()', 'two_coins()', 'direct()']
    """
    yield design
    for part in design.structure.made_of:
        yield from parts(part)


def _flat(design: Design, kind: type[Design]) -> Iterator[Design]:
    """The questions of a product of products, one after the other."""
    if isinstance(design, kind) and isinstance(design, Product | Both) and design.protocol is None:
        yield from _flat(design.first, kind)
        yield from _flat(design.second, kind)
    else:
        yield design


def _first(design: Answerable) -> Step:
    """The first step of a design; one step in words if it has no tree of steps."""
    protocol = design.protocol
    if isinstance(design, Table | Pattern) and (protocol is None or not protocol.complete):
        return _of_table(design, "" if protocol is None else _lower(words(protocol.first).rstrip(".")))
    if protocol is not None:
        return protocol.first
    if isinstance(design, Mixture):
        total_weight = sum(design.weights)
        weighted_components = zip(design.weights, design.components, strict=True)
        return draw_lots(
            *(
                (Fraction(weight, total_weight), _first(component_design))
                for weight, component_design in weighted_components
            )
        )
    if isinstance(design, Then) and _is_one_tree(design):
        category_of_response = dict(zip(design.first.space.labels, design.second.categories, strict=True))
        second_step = _fold_steps(_first(design.second))
        return _continue_with(
            _fold_steps(_first(design.first)),
            lambda response: _steps_of_category(second_step, category_of_response[response]),
        )
    t = len(design.categories)
    if isinstance(design, Subset):
        if design.truthful and design.discards == t - 1:
            return Do(_ALL.format(t - 1))
        them = "it" if design.discards == 1 else "them"
        return Do((_BY_LOT if design.truthful else _ANY).format(design.discards, t - design.truthful, them))
    if isinstance(design, WeightedSubset):
        return Do(_WEIGHED.format(design.discards, t))
    if isinstance(design, Product | Both | Then):
        part_texts = (f"{title}: {_lower(words(protocol.first)).rstrip('.')}" for title, protocol in protocols(design))
        return Do("; ".join(part_texts))
    return Do(_LISTED.format(f"{design.space.size:,}"))


def _of_table(design: Table | Pattern, instruction: str) -> Step:
    """A fork between categories, then lots between the responses of each.

    `instruction` replaces the instruction in words.
    """
    response_labels, side_count = design.space.labels, design.denominator
    t = max(len(response_labels), len(design.categories))
    if isinstance(design, TwoOption) or t > _MOST or np.count_nonzero(design.weights) > _ENDS:
        return Do(instruction or _LISTED.format(len(response_labels)))
    category_columns = [
        [(Fraction(w, side_count), y) for w, y in zip(c, response_labels, strict=True) if w]
        for c in design.weights.T.tolist()
    ]
    category_branches = (
        Branch(_checks.label(category), _lots(category_column), members=(category,))
        for category, category_column in zip(design.categories, category_columns, strict=True)
    )
    return Fork("Which category is yours?", tuple(category_branches), instruction)


def _lots(column: list[tuple[Fraction, Label]]) -> Step:
    """Lots between the responses of a category. A single one is certain; equally likely ones are sides of a die."""
    side_count = len(column)
    if side_count == 1:
        return Say(column[0][1])
    if side_count == 2 or len({share for share, _ in column}) > 1:
        return draw_lots(*((share, Say(response)) for share, response in column))
    side_branches = (
        Branch(str(side_number), Say(label), chance=share) for side_number, (share, label) in enumerate(column, start=1)
    )
    return Chance(f"throw a die with {side_count} sides", tuple(side_branches))


def _is_one_tree(design: Then) -> bool:
    """Whether both designs can be told as one tree: no end is in words, and there are at most `_ENDS` ends."""
    first, second = _fold_steps(_first(design.first)), _fold_steps(_first(design.second))
    return Protocol(first).complete and Protocol(second).complete and _ends(first) * _ends(second) <= _ENDS


def _continue_with(step: Step, go_on: Callable[[Label], Step]) -> Step:
    """The steps, with each response replaced by the steps that it leads to."""
    if isinstance(step, Say):
        return go_on(step.response)
    return _each_way(step, lambda then: _continue_with(then, go_on))


def _steps_of_category(step: Step, category: Label) -> Step:
    """The steps of a respondent of this category. No question about the category is left."""
    if isinstance(step, Fork):
        return _steps_of_category(step.of(category), category)
    return _each_way(step, lambda then: _steps_of_category(then, category))


def _each_way(step: Step, change: Callable[[Step], Step]) -> Step:
    """The step with changed branches. Its instruction is dropped, because it described the old branches."""
    if isinstance(step, Say | Do):
        return step
    return replace(step, branches=tuple(replace(way, then=change(way.then)) for way in step.branches), instruction="")


def _fold_steps(step: Step) -> Step:
    """The steps, with every step of too many ways out told in words."""
    if isinstance(step, Say | Do):
        return step
    if (ways := len(step.branches)) > _MOST:
        if isinstance(step, Fork):
            summary = f"answer to yourself: {step.question} The list of {ways} answers says what to do next"
        else:
            only_says = all(isinstance(way.then, Say) for way in step.branches)
            summary = (
                f"{step.device}, unseen by anybody else; the list of {ways} outcomes says "
                f"{'which to say' if only_says else 'what to do next'}"
            )
        return Do(step.instruction or summary)
    return replace(step, branches=tuple(replace(branch, then=_fold_steps(branch.then)) for branch in step.branches))


def _ends(step: Step) -> int:
    return sum(_ends(branch.then) for branch in step.branches) if isinstance(step, Chance | Fork) else 1


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
