"""Pages about utility: one release, and the choice among several."""

from __future__ import annotations

from naysay.microdata.utility import charts
from naysay.microdata.utility.measured import Tradeoff, Utility
from naysay.show import Chart, Content, page
from naysay.show.page import Section


def utility_html(found: Utility, *, title: str = "What this release kept") -> str:
    """What a release kept of its original, as a whole page.

    Parameters
    ----------
    found : Utility
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.microdata import utility
    >>> table = {"age": [20, 30, 40, 50] * 5}
    >>> utility_html(utility.compare(table, table)).startswith("<!doctype html>")
    True
    """
    facts = [
        (f"{found.released:,}", "people in the release"),
        *([(f"{100 * found.changes.loss:.1f} %", "of what cells tell was lost")] if found.changes is not None else []),
        (
            f"{found.distances.mean_pair:.3f}",
            f"mean total variation of pairs; a fresh sample {found.distances.fresh_pair:.3f}",
        ),
        (f"{found.propensity.ratio:.2f}", f"pMSE ratio; a fresh sample {found.propensity.fresh:.2f}"),
    ]
    sections = []
    for heading, each in found.measures.items():
        content: list[Content] = list(each.content())
        if each is found.distances:
            content.insert(0, Chart(lambda size, room: charts.moved(found.distances, size=size, room=room)))
        sections.append(Section(heading, content))
    weighted = "All numbers are weighted." if found.weighted else ""
    return page.html(
        title, sections, lead=[*([weighted] if weighted else []), *found.reservations], facts=facts, flow=True
    )


def tradeoff_html(found: Tradeoff, *, title: str = "Which release?") -> str:
    """Risk against utility over releases, as a whole page.

    Parameters
    ----------
    found : Tradeoff
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    drawn = [Chart(lambda size, room: charts.picture(found, size=size))] if found.best else []
    lead = (
        "A release should lie low and to the left: few people are found in it, and its tables are close to those of "
        "the original. Left of the dashed line it is closer than a fresh sample of other people would be."
    )
    sections = [
        Section("Risk against utility", [*drawn, *found.content()]),
        *(
            Section(each.name, [part for one in each.utility.measures.values() for part in one.content()])
            for each in found.releases
        ),
    ]
    facts = [
        (f"{len(found.releases)}", "releases"),
        (f"{100 * found.before:.1f} %", "of the people found in the original"),
    ]
    return page.html(title, sections, lead=[lead], facts=facts, flow=True)
