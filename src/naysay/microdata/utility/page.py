"""Pages about utility: one release, and the choice among several."""

from __future__ import annotations

from naysay.microdata.utility import charts
from naysay.microdata.utility.measured import Tradeoff, Utility
from naysay.show import Chart, Content, page
from naysay.show.page import Section


def utility_html(utility: Utility, *, title: str = "What this release kept") -> str:
    """What a release kept of its original, as a whole page.

    Parameters
    ----------
    utility : Utility
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
        (f"{utility.released:,}", "people in the release"),
        *(
            [(f"{100 * utility.changes.loss:.1f} %", "of what cells tell was lost")]
            if utility.changes is not None
            else []
        ),
        (
            f"{utility.distances.mean_pair:.3f}",
            f"mean total variation of pairs; a fresh sample {utility.distances.fresh_pair:.3f}",
        ),
        (f"{utility.propensity.ratio:.2f}", f"pMSE ratio; a fresh sample {utility.propensity.fresh:.2f}"),
    ]
    sections = []
    for heading, measure in utility.measures.items():
        content: list[Content] = list(measure.content())
        if measure is utility.distances:
            content.insert(0, Chart(lambda size, room: charts.margin_moves(utility.distances, size=size, room=room)))
        sections.append(Section(heading, content))
    weighted = "All numbers are weighted." if utility.weighted else ""
    return page.html(
        title, sections, lead=[*([weighted] if weighted else []), *utility.reservations], facts=facts, flow=True
    )


def tradeoff_html(tradeoff: Tradeoff, *, title: str = "Which release?") -> str:
    """Risk against utility over releases, as a whole page.

    Parameters
    ----------
    tradeoff : Tradeoff
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    tradeoff_charts = [Chart(lambda size, room: charts.picture(tradeoff, size=size))] if tradeoff.best else []
    lead = (
        "A release should lie low and to the left: few people are found in it, and its tables are close to those of "
        "the original. Left of the dashed line it is closer than a fresh sample of other people would be."
    )
    sections = [
        Section("Risk against utility", [*tradeoff_charts, *tradeoff.content()]),
        *(
            Section(release.name, [part for measure in release.utility.measures.values() for part in measure.content()])
            for release in tradeoff.releases
        ),
    ]
    facts = [
        (f"{len(tradeoff.releases)}", "releases"),
        (f"{100 * tradeoff.before:.1f} %", "of the people found in the original"),
    ]
    return page.html(title, sections, lead=[lead], facts=facts, flow=True)
