"""Collecting: the server, its database, and the page on which respondents answer. Needs the extra ``collect``."""

from naysay.collect.client import Client
from naysay.collect.published import Published
from naysay.collect.refusals import Refusal
from naysay.collect.submission import Reader, Submission
from naysay.collect.tallies import replies, tally

__all__ = ["Client", "Published", "Reader", "Refusal", "Submission", "replies", "tally"]
