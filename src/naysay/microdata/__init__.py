"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells."""

from naysay.microdata.anonymity import anonymity
from naysay.microdata.candidates import Between, Chances, Either, Form, Joined, Privatized
from naysay.microdata.cost import explain
from naysay.microdata.expected import expected_matches
from naysay.microdata.keys import Keys
from naysay.microdata.matches import matches

__all__ = [
    "Between",
    "Chances",
    "Either",
    "Form",
    "Joined",
    "Keys",
    "Privatized",
    "anonymity",
    "expected_matches",
    "explain",
    "matches",
]
