"""Charts of risk: how many respondents are how much alone, and what the number of keys does to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from naysay.errors import DataError
from naysay.microdata import Contributions, RiskTable, Search
from naysay.microdata.population.sizes import Sizes
from naysay.printing.extra import need
from naysay.report import charts, finish, labels
from naysay.report.charts import Mark
from naysay.report.inks import FILLS, INKS

__all__ = ["CLASSES", "added", "alone", "growth", "ranking"]

CLASSES = {
    "alone": "alone",
    "few": "with 1 to 3 others",
    "some": "with 4 to 8 others",
    "many": "with 9 or more",
    "deleted": "left out",
}
"""Respondents by how many cannot be told from them, and the words for it."""

_LETTER, _LINE = 6.3, 15
_BAR = 16
_HEIGHT = 230
_LINES = {"mildest": 0, "middle": 1, "worst": 2}
_WIDE = 600  # pixels from which a legend fits on one line
_WHOLE = 12  # lines of a label: a combination with its end cut off would be another one
_RANKED = 12  # combinations in a chart


def alone(found: RiskTable, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of how many respondents are alone, in small company, or in large, on each quasi-identifier.

    Two bars each: after listwise deletion (k), and by what may match (m).

    Parameters
    ----------
    found : RiskTable
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import microdata
    >>> svg = alone(microdata.risk_table({"age": [40, 36, 36]}, [["age"]], population=100))
    >>> svg[:4], "1 of 3 alone" in svg
    ('<svg', True)
    """
    alt = need("altair")
    bars, words, ends = _bars(found, room)
    left = math.ceil(max(labels.width(line) for each in words for line in each["lines"]) * _LETTER) + 34
    lines = 1 if size > _WIDE else len(CLASSES)  # on a phone two words beside each other would be cut off
    y = alt.Scale(domain=[ends[-1], 0], nice=False, zero=False)
    between = alt.Chart(alt.InlineData(values=[{"y": end} for end in ends[:-1]]))
    drawn = alt.layer(
        _stacked(bars, y, columns=len(CLASSES) if lines == 1 else 1),
        between.mark_rule(color=INKS["grid"][0], strokeWidth=1, aria=False).encode(y=alt.Y("y:Q", scale=y, axis=None)),
        *_named(words, y),
    )
    padding = {"left": left, "right": 22, "top": 20 + 16 * lines, "bottom": 48}
    image = finish.drawn(drawn, width=size - left - 22, height=int(ends[-1]), padding=padding)
    return finish.accessible(image, "How many respondents are alone", "; ".join(each["told"] for each in bars))


def _stacked(bars: list[dict[str, Any]], y: Any, *, columns: int) -> Any:
    """The bars, from those who are alone to those who are left out."""
    alt = need("altair")
    scale = alt.Scale(domain=list(CLASSES.values()), range=[FILLS[role][0] for role in CLASSES])
    legend = alt.Legend(
        orient="top", title=None, columns=columns, symbolType="square", symbolSize=120, offset=8, columnPadding=22
    )
    axis = alt.Axis(
        format=".0%", title="share of the respondents", tickCount=5, labelFlush=False, labelSeparation=8, grid=False
    )
    data = alt.Chart(alt.InlineData(values=bars))
    return data.mark_rect(opacity=1).encode(
        x=alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=axis),
        x2="high:Q",
        y=alt.Y("top:Q", scale=y, axis=None),
        y2="bottom:Q",
        color=alt.Color("kind:N", scale=scale, legend=legend),
        description="told:N",
    )


def _named(words: list[dict[str, Any]], y: Any) -> list[Any]:
    """The quasi-identifiers at the left, and which bar is which."""
    alt = need("altair")
    text = {"align": "right", "fontSize": 12, "color": INKS["text"][0]}
    names = [{"y": each["first"], "label": each["label"], "told": each["told"]} for each in words]
    signs = [
        {"y": each["y"] + step, "sign": sign} for each in words for step, sign in ((-_BAR / 2, "k"), (_BAR / 2, "m"))
    ]
    return [
        alt.Chart(alt.InlineData(values=names))
        .mark_text(lineBreak="\n", lineHeight=_LINE, **text)
        .encode(x=alt.value(-26), y=alt.Y("y:Q", scale=y, axis=None), text="label:N", description="told:N"),
        alt.Chart(alt.InlineData(values=signs))
        .mark_text(**(text | {"color": INKS["muted"][0]}))
        .encode(x=alt.value(-8), y=alt.Y("y:Q", scale=y, axis=None), text="sign:N"),
    ]


def _bars(found: RiskTable, room: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[float]]:
    bars: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    ends: list[float] = []
    for row in found.quasi_identifiers:
        name = labels.full(row.label)
        lines = labels.wrapped(name, room, lines=4)
        height = max(2 * _BAR + 14, (len(lines)) * _LINE + 12)
        middle = (ends[-1] if ends else 0.0) + height / 2
        ends.append(middle + height / 2)
        first = middle - (len(lines) - 1) * _LINE / 2
        text = "\n".join(labels.isolated(line, name) for line in lines)
        words.append({"y": middle, "first": first, "lines": lines, "label": text, "told": name})
        for sign, sizes, start in (("k", row.listwise.sizes, middle - _BAR - 1), ("m", row.matches.sizes, middle + 1)):
            place = {"top": start, "bottom": start + _BAR - 1}
            bars += [part | place for part in _parts(f"{name}, {sign}", sizes, found.n)]
    return bars, words, ends


def _parts(name: str, sizes: Sizes, n: int) -> Iterator[dict[str, Any]]:
    """The classes of one bar that hold anybody, from one share of the respondents to another."""
    counts = (0, sizes.unique, sizes.below_5, sizes.below_10, sizes.records, n)
    for kind, (low, high) in zip(CLASSES.values(), pairwise(counts), strict=True):
        if high > low:
            told = f"{name}: {high - low:,} of {n:,} {kind}"
            yield {"low": low / n, "high": high / n, "kind": kind, "told": told}


def growth(found: Search, *, size: int = 640) -> str:
    """An SVG image of the share that stands out against the number of keys: worst, middle and mildest combination.

    Parameters
    ----------
    found : Search
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    DataError
        A search that has finished nothing.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36], "gender": ["f", "m", "f"]}, ["age", "gender"])
    >>> svg = growth(microdata.search(keys, size=2))
    >>> svg[:4], "2 keys: 100.00% on the worst combination" in svg
    ('<svg', True)
    """
    alt = need("altair")
    rows = _grown(found)
    if not rows:
        raise DataError("the search has finished no combination; let it go on before it is drawn")
    points = [{"n": row["n"], "y": row["y"][place], "name": name} for row in rows for name, place in _LINES.items()]
    points = [point | {"told": _point(point)} for point in points]
    top = max(point["y"] for point in points) or 0.01
    digits = max(0, -math.floor(math.log10(25 * top)))  # what tells the ends of five steps apart, in percent
    x, y = _axes(rows, top, digits)
    last = rows[-1]
    heights = finish.apart([last["y"][place] for place in _LINES.values()], top * _LINE / _HEIGHT)
    names = [
        {"n": last["n"], "y": float(at), "label": name, "told": last["told"]}
        for name, at in zip(_LINES, heights.tolist(), strict=True)
    ]
    data, ink = alt.Chart(alt.InlineData(values=points)), INKS["estimate"][0]
    words = alt.Chart(alt.InlineData(values=names)).mark_text(align="left", dx=9, fontSize=12, color=INKS["text"][0])
    layers = alt.layer(
        data.mark_line(strokeWidth=2, color=ink).encode(x=x, y=y, detail="name:N"),
        data.mark_point(filled=True, opacity=1, size=46, color=ink).encode(x=x, y=y, description="told:N"),
        words.encode(x=x, y=y, text="label:N", description="told:N"),
    )
    left = 66 + 7 * max(0, digits - 2)
    padding = {"left": left, "right": 64, "top": 12, "bottom": 48}
    drawn = finish.drawn(layers, width=size - left - 64, height=_HEIGHT, padding=padding)
    return finish.accessible(drawn, "Who stands out, by the number of keys", "; ".join(row["told"] for row in rows))


def _axes(rows: list[dict[str, Any]], top: float, digits: int) -> tuple[Any, Any]:
    """Numbers of keys, and shares of the respondents."""
    alt = need("altair")
    sizes = [row["n"] for row in rows]
    across = alt.Axis(title="keys that the intruder knows", grid=False, format="d", values=sizes)
    up = alt.Axis(title="respondents who stand out", format=f".{digits}%", tickCount=5)
    return (
        alt.X("n:Q", scale=alt.Scale(domain=[0.8, sizes[-1] + 0.2], nice=False), axis=across),
        alt.Y("y:Q", scale=alt.Scale(domain=[0, top], nice=True), axis=up),
    )


def _point(point: dict[str, Any]) -> str:
    return f"{_keys(point['n'])}, {point['name']}: {point['y']:.2%}"


def _keys(number: int) -> str:
    return f"{number} key" + ("s" if number > 1 else "")


def _grown(found: Search) -> list[dict[str, Any]]:
    """Least, middle and largest share for each number of keys."""
    rows = []
    for size in range(1, found.size + 1):
        shares = sorted(each.unique(found.measure) / found.n for each in found.of(size))
        if shares:
            three = (shares[0], shares[len(shares) // 2], shares[-1])
            told = f"{_keys(size)}: {three[2]:.2%} on the worst combination, {three[1]:.2%} on the middle one"
            rows.append({"n": size, "y": three, "told": f"{told}, {three[0]:.2%} on the mildest"})
    return rows


def ranking(found: Search, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the combinations on which most respondents stand out.

    Parameters
    ----------
    found : Search
    size, room : int
        As in `charts.dots`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36], "gender": ["f", "m", "f"]}, ["age", "gender"])
    >>> "1. age + gender: stand out (m = 1) 100.00%" in ranking(microdata.search(keys, size=2))
    True
    """
    top = found.combinations[:_RANKED]
    names = [f"{place}. {' + '.join(each.keys)}" for place, each in enumerate(top, start=1)]
    marks = [
        Mark("pooled", "alone (k = 1)", [each.k.unique / found.n for each in top]),
        Mark("estimate", "stand out (m = 1)", [each.m.unique / found.n for each in top]),
    ]
    return charts.dots(names, marks, title="The most dangerous combinations", size=size, room=room, lines=_WHOLE)


def added(found: Contributions, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of what each key adds to the share of respondents who stand out.

    Parameters
    ----------
    found : Contributions
    size, room : int
        As in `charts.dots`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36], "gender": ["f", "m", "f"]}, ["age", "gender"])
    >>> svg = added(microdata.contributions(microdata.search(keys, size=2)))
    >>> "age: last 66.67%" in svg
    True
    """
    names = [each.key for each in found.keys]
    marks = [
        Mark("truth", "alone", [each.alone for each in found.keys]),
        Mark("pooled", "last", [each.last for each in found.keys]),
        Mark("estimate", "on average", [each.averaged for each in found.keys]),
    ]
    return charts.dots(names, marks, title="What each key adds", size=size, room=room)
