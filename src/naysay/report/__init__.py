"""Results to look at: charts as SVG, and pages that are one file and load nothing.

`estimate_html` is one estimate as a page; `html` puts a page together from sections such as `estimate_section`;
`charts` draws. All of it needs the extra ``plots`` and raises `ExtraMissing` without.
"""

from naysay.report import charts
from naysay.report.extra import ExtraMissing
from naysay.report.page import Section, estimate_html, estimate_section, html

__all__ = ["ExtraMissing", "Section", "charts", "estimate_html", "estimate_section", "html"]
