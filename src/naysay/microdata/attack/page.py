"""The page on attacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from naysay.microdata.attack.inference import Inference, Replicated
from naysay.microdata.attack.linkage import Linkage
from naysay.microdata.attack.register import Share
from naysay.show import Chart, charts, page
from naysay.show.page import Section
from naysay.show.rows import Mark

_HEADINGS = {"linkage": "Links", "inference": "What is learned beside", "replicated": "Copies of people"}


def right_links_chart(linkage: Linkage, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the share of right links of each attack, and of the links made to people who are not there.

    Parameters
    ----------
    linkage : Linkage
    size, room : int
        As in `charts.dots`.
    """

    def mark(role: str, name: str, shares: Sequence[Share]) -> Mark:
        share_values, bounds = [share.value for share in shares], [share.interval for share in shares]
        return Mark(role, name, share_values, bounds)

    attacks = linkage.attacks
    marks = [
        mark("estimate", "right, of all people", [success.of_all for success in attacks]),
        mark("pooled", "right, of links made", [success.of_links for success in attacks]),
    ]
    if linkage.control:
        marks.append(Mark("truth", "control: links made", [success.control.value for success in attacks]))
    return charts.dots(
        [success.name for success in attacks],
        marks,
        title="What share of links is right",
        size=size,
        room=room,
        axis="share",
    )


def _links_image(linkage: Linkage) -> Chart:
    return Chart(lambda size, room: right_links_chart(linkage, size=size, room=room))


def attack_html(
    results: Sequence[Linkage | Inference | Replicated], *, title: str = "What an intruder would find"
) -> str:
    """What attacks on a release achieve, as a whole page. It holds no person's value.

    Parameters
    ----------
    results : sequence of Linkage, Inference or Replicated
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
    for result in results:
        section_content = list(result.parts())
        if isinstance(result, Linkage) and result.people:
            section_content.insert(1, _links_image(result))
            best_attack = result.strongest
            facts.append(
                (
                    f"{100 * best_attack.of_all.value:.1f} %",
                    f"of the people found by the strongest attack, {best_attack.name}",
                )
            )
        if isinstance(result, Inference) and not np.isnan(result.excess):
            facts.append((f"{100 * result.excess:.1f} %", f"what being in the file costs, of {result.secret!r}"))
        if isinstance(result, Replicated):
            facts.append((f"{result.found:,}", "unique people stand again in the synthetic file"))
        sections.append(Section(_HEADINGS[result.name], section_content))
    return page.html(title, sections, facts=facts, flow=True)
