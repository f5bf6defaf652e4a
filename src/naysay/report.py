"""Reports: charts as SVG, and pages that are one file and load nothing.

`flowchart` draws what a respondent does under a design; it needs no extra. `estimate_html` is one estimate as a page.
`html` makes a page from sections such as `estimate_section`. `posterior` and `charts` draw charts. All but `flowchart`
need the extra ``plots``, and raise `ExtraMissing` without it. Each lives in the room of its subject; this is the door.
"""

from naysay import privacy
from naysay.design import Answerable
from naysay.design.flowchart import flowchart
from naysay.errors import DesignError, ExtraMissing
from naysay.estimate.page import estimate_html, estimate_section
from naysay.privacy.measures import posterior_chart as posterior
from naysay.show import Column, Content, Points, Sentence, Table, charts
from naysay.show.page import Section, html
from naysay.show.result import notebook

__all__ = [
    "ExtraMissing",
    "Section",
    "charts",
    "design_html",
    "estimate_html",
    "estimate_section",
    "flowchart",
    "html",
    "posterior",
]

_LARGEST = 12  # categories and responses of a matrix that is shown


def design_html(design: Answerable) -> str:
    """A design as a notebook shows it: its matrix where it is small, what respondents do, and the privacy of an answer.

    Parameters
    ----------
    design : Design, Levels or Samples

    Examples
    --------
    >>> from naysay import designs
    >>> page = design_html(designs.warner(p=0.7))
    >>> "<td>0.7</td>" in page, "<svg" in page, "0.119 of 1 bit" in page
    (True, True, True)
    """
    content: list[Content] = [Sentence(repr(design).strip("<>"))]
    parts = design.parts
    for part_name, channel in parts.items():
        if not channel.structure.listed or max(len(channel.categories), channel.space.size) > _LARGEST:
            continue
        columns = (Column("response", words=True), *(Column(str(category)) for category in channel.categories))
        matrix_rows = zip(channel.responses.texts(), channel.matrix, strict=True)
        rows = tuple((str(said), *(f"{chance:.4g}" for chance in row)) for said, row in matrix_rows)
        part_text = f", {design.offer.noun} {part_name}" if len(parts) > 1 else ""
        content.append(Table(columns, rows, caption=f"Chances of each response, by category{part_text}"))
    try:
        picture = flowchart(design)
    except DesignError:
        picture = ""  # nobody has said what respondents do under it
    return notebook(content) + picture + notebook([Points(tuple(privacy.lines(design)))])
