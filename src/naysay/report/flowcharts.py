"""Flowcharts of the protocol that a respondent follows: any design as one self-contained SVG."""

from __future__ import annotations

from typing import NamedTuple
from xml.sax.saxutils import escape

from naysay.design import Answerable, Chance, Do, Fork, Protocol, Say, Step, protocols
from naysay.design.protocol import steps
from naysay.report import finish
from naysay.report.finish import FONT, INKS, ink
from naysay.report.layout import LINE, Box, arranged, pixels

__all__ = ["flowchart"]

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
    told = protocols(design)
    name = finish.full(title or design.name or design.kind)
    drawn: list[str] = []
    top, width = 0.0, 0.0
    for heading, protocol in told:
        part = _part(heading, protocol, size)
        drawn.append(f'<g transform="translate(0,{_number(top)})">{part.svg}</g>')
        top, width = top + part.height + _PARTS, max(width, part.width)
    legend = _legend({type(step) for _, protocol in told for step in steps(protocol.first)})
    drawn.append(f'<g transform="translate(0,{_number(top)})">{legend.svg}</g>')
    height = top + legend.height if legend.svg else top - _PARTS
    return _image(name, _described(told), "".join(drawn), max(width, legend.width), height)


class _Drawn(NamedTuple):
    svg: str
    width: float
    height: float


def _described(told: tuple[tuple[str, Protocol], ...]) -> str:
    """The trees as text, for people who cannot see them."""
    text = "\n".join(f"{heading}\n{protocol}" if heading else str(protocol) for heading, protocol in told)
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _part(heading: str, protocol: Protocol, size: int) -> _Drawn:
    """One protocol under its heading, in the first arrangement that fits the width."""
    tries = (arranged(protocol.first, room=room, sideways=sideways) for room, sideways in _SHAPES)
    first = min(tries, key=lambda box: max(_extent(box)[0], size))
    width, height = _extent(first)
    boxes = "".join(_arrow(box) + _box(box) for box in first.all())
    if not heading:
        return _Drawn(boxes, width, height)
    above, style = LINE + 12, _ink("fill", "text")
    words = f'<text y="{LINE - 4}" font-weight="600" style="{style}">{escape(finish.full(heading))}</text>'
    body = f'<g transform="translate(0,{above})">{boxes}</g>'
    return _Drawn(words + body, max(width, pixels(heading)), height + above)


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
    tip = f"<title>{escape(box.told)}</title>"
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
    asked = kind is Fork
    style = f"{_ink('stroke', 'pooled')};fill:none" if asked else f"{_ink('fill', 'grid')};{_ink('stroke', 'muted')}"
    numbers = {"x": x, "y": y, "width": width, "height": height, "rx": corner, "stroke-width": 1.8 if asked else 1.0}
    place = " ".join(f'{key}="{_number(value)}"' for key, value in numbers.items())
    return f'<rect class="{name}" {place} style="{style}"/>'


def _text(lines: list[str], x: float, y: float) -> str:
    """Lines in the middle of a place."""
    start = y - LINE * len(lines) / 2 + LINE * 0.73
    spans = "".join(
        f'<tspan x="{_number(x)}" y="{_number(start + LINE * row)}">{line}</tspan>' for row, line in enumerate(lines)
    )
    return f'<text text-anchor="middle" style="{_ink("fill", "text")}">{spans}</text>'


def _legend(kinds: set[type[Step]]) -> _Drawn:
    """What the shapes in the image mean; empty if there is only one shape."""
    if len(kinds) < 2:
        return _Drawn("", 0.0, 0.0)
    x, drawn = 0.0, []
    for kind, told in _LEGEND:
        if kind in kinds:
            words = f'<text x="{_number(x + 34)}" y="12" style="{_ink("fill", "muted")}">{told}</text>'
            drawn.append(f'<g font-size="12">{_shape(kind, x, 1, 28, 14)}{words}</g>')
            x += 34 + pixels(told) + 14
    return _Drawn("".join(drawn), x - 14, 18)


def _ink(what: str, role: str) -> str:
    return f"{what}:{ink(role)}"


def _point(point: tuple[float, float]) -> str:
    return ",".join(map(_number, point))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _image(name: str, description: str, drawn: str, width: float, height: float) -> str:
    """The image. It chooses light or dark by itself only as a file of its own."""
    wide, high = (round(extent + 2 * _MARGIN) for extent in (width, height))
    inks = ";".join(f"--chart-{role}:{dark}" for role, (_, dark) in INKS.items())
    own = f"@media screen and (prefers-color-scheme:dark){{svg:root{{{inks};background:{_DARK}}}}}"
    style = f"max-width:{wide}px;min-width:{round(0.7 * wide)}px;width:100%;height:auto"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {wide} {high}" role="img" aria-label="{escape(name, {chr(34): "&quot;"})}" '
        f'font-family="{FONT}" font-size="13" style="{style}"><title>{escape(name)}</title>'
        f"<desc>{escape(description)}</desc><style>{own}</style>{drawn}</svg>"
    )
