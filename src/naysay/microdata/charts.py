"""Charts of risk: how many respondents are how much alone, and what the number of keys does to it."""

from __future__ import annotations

import math

import numpy as np

from naysay._checks import several
from naysay.errors import DataError
from naysay.microdata import Contributions, RiskTable, Search
from naysay.show import charts, finish
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.result import percent
from naysay.show.rows import Bars, Mark, stacked_bars

CLASSES = {
    "alone": "alone",
    "few": "with 1 to 3 others",
    "some": "with 4 to 8 others",
    "many": "with 9 or more",
    "deleted": "left out",
}
"""Classes of respondents, by how many others cannot be told from them, and the words for each."""

_WHOLE = 12  # lines of a label; a combination cut short would look like another one
_RANKED = 12  # combinations in a chart


def alone(risk_table: RiskTable, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of how many respondents are alone, or have few or many like them, on each quasi-identifier.

    Two bars each: after listwise deletion (k), and by what may match (m).

    Parameters
    ----------
    risk_table : RiskTable
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
    risk_rows = risk_table.quasi_identifiers
    row_labels = [risk_row.label for risk_row in risk_rows]
    sizes_of = {
        "k": [risk_row.listwise.sizes for risk_row in risk_rows],
        "m": [risk_row.matches.sizes for risk_row in risk_rows],
    }
    bar_groups = []
    for sign, all_sizes in sizes_of.items():
        cumulative_counts = np.array(
            [
                (row_sizes.unique, row_sizes.below_5, row_sizes.below_10, row_sizes.records, risk_table.n)
                for row_sizes in all_sizes
            ]
        )
        class_counts = np.diff(cumulative_counts, axis=1, prepend=0).tolist()
        bar_texts = [
            [
                f"{part:,} of {risk_table.n:,} {class_text}"
                for part, class_text in zip(row_parts, CLASSES.values(), strict=True)
            ]
            for row_parts in class_counts
        ]
        bar_groups.append(Bars(sign, cumulative_counts / risk_table.n, bar_texts))
    part_sentences = [
        f"{finish.label_line(row_label)}, {bar_group.sign}: {part_words}"
        for row_number, row_label in enumerate(row_labels)
        for bar_group in bar_groups
        for part_words, part in zip(
            bar_group.part_texts[row_number], np.diff(np.asarray(bar_group.ends)[row_number], prepend=0.0), strict=True
        )
        if part > 0
    ]
    axis = Axis("share of the respondents", (0, 1), ".0%")
    title, description = "How many respondents are alone", "; ".join(part_sentences)
    return stacked_bars(
        row_labels, bar_groups, CLASSES, axis, title=title, description=description, size=size, room=room
    )


def growth(search: Search, *, size: int = 640) -> str:
    """An SVG image of the share that stands out against the number of keys: worst, middle and mildest combination.

    Parameters
    ----------
    search : Search
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
    >>> svg[:4], "2 keys: 100.00\u00a0% on the worst combination" in svg
    ('<svg', True)
    """
    shares_of = {
        size: sorted(combination.unique(search.measure) / search.n for combination in finished_combinations)
        for size, finished_combinations in search.by_size
    }
    if not shares_of:
        raise DataError("the search has finished no combination; let it go on before it is drawn")
    three_shares = {
        size: (size_shares[0], size_shares[len(size_shares) // 2], size_shares[-1])
        for size, size_shares in shares_of.items()
    }
    size_texts = {
        size: f"{several(size, 'key', 'keys')}: {percent(worst, 2)} on the worst combination, "
        f"{percent(middle, 2)} on the middle one, {percent(mildest, 2)} on the mildest"
        for size, (mildest, middle, worst) in three_shares.items()
    }
    key_counts = list(shares_of)
    chart_lines = []
    for line_name, line_shares in zip(
        ("mildest", "middle", "worst"), zip(*three_shares.values(), strict=True), strict=True
    ):
        point_texts = [
            f"{several(size, 'key', 'keys')}, {line_name}: {percent(share, 2)}"
            for size, share in zip(key_counts, line_shares, strict=True)
        ]
        chart_lines.append(Line(line_name, key_counts, line_shares, size_texts[key_counts[-1]], point_texts))
    largest_share = max(max(size_shares) for size_shares in three_shares.values()) or 0.01
    # what tells the ends of five steps apart, in percent
    percent_digits = max(0, -math.floor(math.log10(25 * largest_share)))
    share_axis = Axis(
        "respondents who stand out",
        (0, largest_share),
        f".{percent_digits}%",
        nice=True,
        room=66 + 7 * max(0, percent_digits - 2),
    )
    size_axis = Axis("keys that the intruder knows", (0.8, key_counts[-1] + 0.2), "d", ticks=key_counts)
    title, description = "Who stands out, by the number of keys", "; ".join(size_texts.values())
    return lines(chart_lines, size_axis, share_axis, title=title, description=description, size=size, height=230)


def ranking(search: Search, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the combinations on which most respondents stand out.

    Parameters
    ----------
    search : Search
    size, room : int
        As in `charts.dots`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36], "gender": ["f", "m", "f"]}, ["age", "gender"])
    >>> "1. age + gender: stand out (m = 1) 100.00\u00a0%" in ranking(microdata.search(keys, size=2))
    True
    """
    top_combinations = search.combinations[:_RANKED]
    ranked_names = [
        f"{rank}. {' + '.join(combination.keys)}" for rank, combination in enumerate(top_combinations, start=1)
    ]
    marks = [
        Mark("pooled", "alone (k = 1)", [combination.k.unique / search.n for combination in top_combinations]),
        Mark("estimate", "stand out (m = 1)", [combination.m.unique / search.n for combination in top_combinations]),
    ]
    return charts.dots(ranked_names, marks, title="The most dangerous combinations", size=size, room=room, lines=_WHOLE)


def added(contributions: Contributions, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of what each key adds to the share of respondents who stand out.

    Parameters
    ----------
    contributions : Contributions
    size, room : int
        As in `charts.dots`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36], "gender": ["f", "m", "f"]}, ["age", "gender"])
    >>> svg = added(microdata.contributions(microdata.search(keys, size=2)))
    >>> "age: last 66.67\u00a0%" in svg
    True
    """
    key_names = [contribution.key for contribution in contributions.keys]
    marks = [
        Mark("truth", "alone", [contribution.alone for contribution in contributions.keys]),
        Mark("pooled", "last", [contribution.last for contribution in contributions.keys]),
        Mark("estimate", "on average", [contribution.averaged for contribution in contributions.keys]),
    ]
    return charts.dots(key_names, marks, title="What each key adds", size=size, room=room)
