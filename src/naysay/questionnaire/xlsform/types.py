"""The types of an XLSForm row, and what to do about those that are not asked here."""

from __future__ import annotations

import re

from naysay.questionnaire.items import KINDS
from naysay.questionnaire.kinds.base import Question

__all__ = ["GROUP_ENDS", "GROUP_STARTS", "RECORDED", "REPEAT_ENDS", "REPEAT_STARTS", "asked", "way_out"]

GROUP_STARTS, GROUP_ENDS = {"begin_group", "begin group"}, {"end_group", "end group"}
REPEAT_STARTS, REPEAT_ENDS = {"begin_repeat", "begin repeat"}, {"end_repeat", "end repeat"}
RECORDED = {
    "start", "end", "today", "deviceid", "phonenumber", "simserial", "subscriberid", "username", "email", "audit",
    "start-geopoint", "background-audio", "background-geopoint",
}  # fmt: skip

_FILES = "files betray who sent them; ask for a description with text"
_PLACES = "a place tells who answered; offer regions as choices"
_UNLISTED = "name its list of choices, as select_one yes_no"
_WAYS_OUT = {
    "calculate": "nothing is computed between questions; compute it from the collected answers",
    "hidden": "what respondents do not see is not sent; leave it out",
    "acknowledge": "ask a select_one with yes and no",
    "trigger": "ask a select_one with yes and no",
    "time": "ask for the hour with integer, or offer choices",
    "datetime": "ask for the day with date; a time of day may tell who answered",
    "barcode": "ask for it with text",
    "xml-external": "no other file leaves with a survey; write the choices out",
    "csv-external": "no other file leaves with a survey; write the choices out",
    "select_one_external": "no other file leaves with a survey; write the choices into the sheet choices",
    **dict.fromkeys(("image", "audio", "video", "file"), _FILES),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape"), _PLACES),
    **dict.fromkeys(("select", "select1"), _UNLISTED),
}


def asked(text: str) -> tuple[type[Question], str, str] | None:
    """The kind of question that a type asks, its list of choices, and what follows; None where it asks none.

    Examples
    --------
    >>> kind, name, rest = asked("select_one yes_no or_other")
    >>> kind.__name__, name, rest
    ('SelectOne', 'yes_no', 'or_other')
    """
    for kind in KINDS.values():
        for word in kind.types:
            pattern = rf"{re.escape(word)}\s+(\S+)\s*(.*)" if kind.listed else rf"{re.escape(word)}()()"
            found = re.fullmatch(pattern, text, re.IGNORECASE)
            if found is not None:
                return kind, found[1], found[2].strip()
    return None


def way_out(text: str) -> str:
    """What to do instead of a type that is not asked here.

    Examples
    --------
    >>> way_out("geopoint")
    'a place tells who answered; offer regions as choices'
    """
    word = text.lower().partition(" ")[0]
    if any(word in kind.types for kind in KINDS.values() if kind.listed):
        return _UNLISTED
    if word.endswith("_from_file"):
        return _WAYS_OUT["select_one_external"]
    known = [kind.types[0] for kind in KINDS.values() if kind.types]
    return _WAYS_OUT.get(word) or f"the types are {', '.join([*known, 'note', 'begin_group', 'end_group'])}"
