"""Charts of risk: how many respondents are how much alone, and what the number of keys does to it."""

from __future__ import annotations

import math
from typing import Any

from naysay.errors import DataError
from naysay.microdata import Contributions, RiskTable, Search
from naysay.microdata.printing import label
from naysay.report import charts, labels
from naysay.report.charts import INKS, Mark
from naysay.report.extra import need

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
    legend_rows = 1 if size > 600 else 3
    domain = list(CLASSES.values())
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=domain, range=[INKS[role][0] for role in CLASSES]),
        legend=alt.Legend(
            orient="top", title=None, columns=5 if legend_rows == 1 else 2, symbolType="square", symbolSize=120
        ),
    )
    y = alt.Scale(domain=[ends[-1], 0], nice=False, zero=False)
    axis = alt.Axis(format=".0%", title="share of the respondents", tickCount=5, labelFlush=False, grid=False)
    drawn = alt.layer(
        alt.Chart(alt.InlineData(values=bars))
        .mark_rect(opacity=1)
        .encode(
            x=alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=axis),
            x2="high:Q",
            y=alt.Y("top:Q", scale=y, axis=None),
            y2="bottom:Q",
            color=color,
            description="told:N",
        ),
        alt.Chart(alt.InlineData(values=[{"y": end} for end in ends[:-1]]))
        .mark_rule(color=INKS["grid"][0], strokeWidth=1, aria=False)
        .encode(y=alt.Y("y:Q", scale=y, axis=None)),
        *_named(words, y),
    )
    top = 16 + 20 * legend_rows
    padding = {"left": left, "right": 22, "top": top, "bottom": 48}
    image = charts._drawn(drawn, width=size - left - 22, height=int(ends[-1]), padding=padding)
    return charts._accessible(image, "How many respondents are alone", "; ".join(each["told"] for each in bars))


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
        name = labels.full(label(row))
        lines = labels.wrapped(name, room, lines=4)
        height = max(2 * _BAR + 14, (len(lines)) * _LINE + 12)
        middle = (ends[-1] if ends else 0.0) + height / 2
        ends.append(middle + height / 2)
        first = middle - (len(lines) - 1) * _LINE / 2
        text = "\n".join(labels.isolated(line, name) for line in lines)
        words.append({"y": middle, "first": first, "lines": lines, "label": text, "told": name})
        for sign, sizes, start in (
            ("k", row.listwise.sizes, middle - _BAR - 1),
            ("m", row.matches.sizes, middle + 1),
        ):
            counts = (sizes.unique, sizes.below_5, sizes.below_10, sizes.records, found.n)
            low = 0
            for kind, high in zip(CLASSES.values(), counts, strict=True):
                if high > low:
                    told = f"{name}, {sign}: {high - low:,} of {found.n:,} {kind}"
                    part = {"low": low / found.n, "high": high / found.n, "kind": kind, "told": told}
                    bars.append(part | {"top": start, "bottom": start + _BAR - 1})
                low = max(low, high)
    return bars, words, ends


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
    values = {"mildest": 0, "middle": 1, "worst": 2}
    points = [{"n": row["n"], "y": row["y"][place], "name": name} for row in rows for name, place in values.items()]
    top = max(0.01, *(point["y"] for point in points))
    x = alt.X(
        "n:Q",
        scale=alt.Scale(domain=[0.8, max(1, rows[-1]["n"]) + 0.2], nice=False),
        axis=alt.Axis(title="keys that the intruder knows", grid=False, format="d", values=[row["n"] for row in rows]),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, top], nice=True),
        axis=alt.Axis(title="respondents who stand out", format=f".{0 if top > 0.05 else 2}%", tickCount=5),
    )
    data = alt.Chart(alt.InlineData(values=points))
    height, last = 230, rows[-1]
    heights = charts._apart([last["y"][place] for place in values.values()], top * _LINE / height)
    names = [
        {"n": last["n"], "y": float(at), "label": name, "told": last["told"]}
        for name, at in zip(values, heights.tolist(), strict=True)
    ]
    layers = alt.layer(
        data.mark_line(strokeWidth=2, color=INKS["estimate"][0]).encode(x=x, y=y, detail="name:N"),
        alt.Chart(alt.InlineData(values=[point | {"told": _point(point)} for point in points]))
        .mark_point(filled=True, opacity=1, size=46, color=INKS["estimate"][0])
        .encode(x=x, y=y, description="told:N"),
        alt.Chart(alt.InlineData(values=names))
        .mark_text(align="left", dx=9, fontSize=12, color=INKS["text"][0])
        .encode(x=x, y=y, text="label:N", description="told:N"),
    )
    padding = {"left": 66, "right": 64, "top": 12, "bottom": 48}
    drawn = charts._drawn(layers, width=size - 130, height=height, padding=padding)
    return charts._accessible(drawn, "Who stands out, by the number of keys", "; ".join(row["told"] for row in rows))


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
        Mark("pooled", "alone after deletion (k = 1)", [each.k.unique / found.n for each in top]),
        Mark("estimate", "stand out (m = 1)", [each.m.unique / found.n for each in top]),
    ]
    return charts.dots(names, marks, title="The most dangerous combinations", size=size, room=room)


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
