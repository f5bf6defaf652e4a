"""Collecting: the server, its database, and the page on which respondents answer.

What is imported here needs nothing but naysay itself: surveys as they are published, and bodies held against them. The
application (`naysay.collect.app`), the database (`naysay.collect.storage`) and the server (`naysay.collect.serving`)
need the extra ``collect``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from naysay._lazy import loader

if TYPE_CHECKING:  # loaded when first asked for, so that a command's help does not wait for it
    from naysay.collect.client import Client
    from naysay.collect.refusals import Refusal
    from naysay.collect.survey.published import Published
    from naysay.collect.survey.submission import Reader, Submission
    from naysay.collect.survey.tallies import replies, tally

__all__ = ["Client", "Published", "Reader", "Refusal", "Submission", "replies", "tally"]

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    __getattr__, __dir__ = loader(
        __name__,
        {
            "Client": "naysay.collect.client",
            "Published": "naysay.collect.survey.published",
            "Refusal": "naysay.collect.refusals",
            "Reader": "naysay.collect.survey.submission",
            "Submission": "naysay.collect.survey.submission",
            "replies": "naysay.collect.survey.tallies",
            "tally": "naysay.collect.survey.tallies",
        },
    )
