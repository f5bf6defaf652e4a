"""The page on attacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from naysay.microdata.attack.inference import Inference, Replicated
from naysay.microdata.attack.linkage import Linkage
from naysay.microdata.attack.success import Share
from naysay.show import Chart, charts, page
from naysay.show.page import Section
from naysay.show.rows import Mark

_HEADINGS = {"linkage": "Links", "inference": "What is learned beside", "replicated": "Copies of people"}


def right(found: Linkage, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the share of right links of each attack, and of the links made to people who are not there.

    Parameters
    ----------
    found : Linkage
    size, room : int
        As in `charts.dots`.
    """

    def mark(role: str, name: str, shares: Sequence[Share]) -> Mark:
        values, bounds = [each.value for each in shares], [each.interval for each in shares]
        return Mark(role, name, values, bounds)

    attacks = found.attacks
    marks = [
        mark("estimate", "right, of all people", [each.of_all for each in attacks]),
        mark("pooled", "right, of links made", [each.of_links for each in attacks]),
    ]
    if found.control:
        marks.append(Mark("truth", "control: links made", [each.control.value for each in attacks]))
    return charts.dots(
        [each.name for each in attacks], marks, title="What share of links is right", size=size, room=room, axis="share"
    )


def attack_html(
    found: Sequence[Linkage | Inference | Replicated], *, title: str = "What an intruder would find"
) -> str:
    """What attacks on a release achieve, as a whole page. It holds no person's value.

    Parameters
    ----------
    found : sequence of Linkage, Inference or Replicated
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.microdata import attack
    >>> table = {"age": [20, 30, 40, 40]}
    >>> attack_html([attack.link(table, table, ["age"])]).startswith("<!doctype html>")
    True
    """
    sections, facts = [], []
    for each in found:
        content = each.content()
        if isinstance(each, Linkage) and each.people:
            content.insert(1, Chart(lambda size, room, own=each: right(own, size=size, room=room)))  # type: ignore[misc]
            best = each.strongest
            facts.append(
                (f"{100 * best.of_all.value:.1f} %", f"of the people found by the strongest attack, {best.name}")
            )
        if isinstance(each, Inference) and not np.isnan(each.excess):
            facts.append((f"{100 * each.excess:.1f} %", f"what being in the file costs, of {each.secret!r}"))
        if isinstance(each, Replicated):
            facts.append((f"{each.found:,}", "unique people stand again in the synthetic file"))
        sections.append(Section(_HEADINGS[each.name], content))
    return page.html(title, sections, facts=facts, flow=True)
