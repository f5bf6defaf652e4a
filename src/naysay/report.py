"""Reports: charts as SVG, and pages that are one file and load nothing.

`flowchart` draws what a respondent does under a design; it needs no extra. `estimate_html` is one estimate as a page.
`html` makes a page from sections such as `estimate_section`. `posterior` and `charts` draw charts. All but `flowchart`
need the extra ``plots``, and raise `ExtraMissing` without it. Each lives in the room of its subject; this is the door.
"""

from naysay.design.flowchart import flowchart
from naysay.errors import ExtraMissing
from naysay.estimate.page import estimate_html, estimate_section
from naysay.privacy.measures import posterior_chart as posterior
from naysay.show import charts
from naysay.show.page import Section, html

__all__ = ["ExtraMissing", "Section", "charts", "estimate_html", "estimate_section", "flowchart", "html", "posterior"]
