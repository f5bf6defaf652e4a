"""The report on a file for a review board: its page, its charts, its words."""

from naysay.microdata.report.page import risk_html

__all__ = ["risk_html"]
