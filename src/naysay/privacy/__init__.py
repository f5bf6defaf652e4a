"""Privacy: what an answer reveals about the person who gave it.

Privacy is computed from P(response | category), the same rows that estimation uses. An ε of ∞ is allowed; it always
comes with its reason and with the categories that an answer leaves open. For a design of several levels or samples,
every function returns a dict with one entry for each. Each module's ``__all__`` lists what it adds here.
"""

from naysay.privacy.measures import epsilon, gain, information, odds, posterior, still_possible, vulnerability
from naysay.privacy.repeated import (
    Asked,
    Composition,
    Schedule,
    Waves,
    after_waves,
    approximate,
    compose,
    schedule,
    unexcluded,
    waves,
)
from naysay.privacy.shuffling import Shuffled, shuffled
from naysay.privacy.statement import Statement, about_categories, channels_about, choosing, lines, statement

__all__ = [
    "Asked",
    "Composition",
    "Schedule",
    "Shuffled",
    "Statement",
    "Waves",
    "about_categories",
    "after_waves",
    "approximate",
    "channels_about",
    "choosing",
    "compose",
    "epsilon",
    "gain",
    "information",
    "lines",
    "odds",
    "posterior",
    "schedule",
    "shuffled",
    "statement",
    "still_possible",
    "unexcluded",
    "vulnerability",
    "waves",
]
