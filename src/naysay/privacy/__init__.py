"""What an answer tells about the person who gave it.

The same rows P(response | category) that estimation reads, read from the other side. An ε of ∞ is legal, and always
comes with its reason and with what the answer does leave open. For an offer of levels every function answers level by
level, as a dict.
"""

from naysay.privacy.about import channels_about
from naysay.privacy.composition import Composition, compose, unexcluded
from naysay.privacy.measures import gain, odds, posterior, vulnerability
from naysay.privacy.statement import (
    Statement,
    about_categories,
    choosing,
    epsilon,
    information,
    lines,
    statement,
    still_possible,
)

__all__ = [
    "Composition",
    "Statement",
    "about_categories",
    "channels_about",
    "choosing",
    "compose",
    "epsilon",
    "gain",
    "information",
    "lines",
    "odds",
    "posterior",
    "statement",
    "still_possible",
    "unexcluded",
    "vulnerability",
]
