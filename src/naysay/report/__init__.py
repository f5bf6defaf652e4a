"""Reports: charts as SVG, and pages that are one file and load nothing.

`flowchart` draws what a respondent does under a design; it needs no extra. `estimate_html` is one estimate as a page.
`html` makes a page from sections such as `estimate_section`. `posterior` and `charts` draw charts. All but `flowchart`
need the extra ``plots``, and raise `ExtraMissing` without it.
"""

from naysay.errors import ExtraMissing
from naysay.report import charts
from naysay.report.flowcharts import flowchart
from naysay.report.page import Section, estimate_html, estimate_section, html
from naysay.report.posteriors import posterior

__all__ = ["ExtraMissing", "Section", "charts", "estimate_html", "estimate_section", "flowchart", "html", "posterior"]
