"""Privacy: what an answer reveals about the person who gave it.

Privacy is computed from P(response | category), the same rows that estimation uses. An ε of ∞ is allowed; it always
comes with its reason and with the categories that an answer leaves open. For a design of several levels or samples,
every function returns a dict with one entry for each.
"""

from naysay.privacy.measures import (
    Statement,
    about_categories,
    channels_about,
    choosing,
    epsilon,
    gain,
    information,
    lines,
    odds,
    posterior,
    statement,
    still_possible,
    vulnerability,
)
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
