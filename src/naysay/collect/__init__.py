"""Collecting: the server, its database, and the page on which respondents answer.

What is imported here needs nothing but naysay itself: it describes published surveys and checks the bodies that are
sent to them. The application (`naysay.collect.app`), the database (`naysay.collect.storage`) and the server
(`naysay.collect.serving`) need the extra ``collect``.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
