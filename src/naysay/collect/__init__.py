"""Collecting: the server, its database, and the page on which respondents answer.

What is imported here needs nothing but naysay itself: surveys as they are published, and bodies held against them. The
application (`naysay.collect.app`), the database (`naysay.collect.storage`) and the server (`naysay.collect.serving`)
need the extra ``collect``.
"""

from naysay.collect.client import Client
from naysay.collect.published import Published
from naysay.collect.refusals import Refusal
from naysay.collect.submission import Reader, Submission
from naysay.collect.tallies import replies, tally

__all__ = ["Client", "Published", "Reader", "Refusal", "Submission", "replies", "tally"]
