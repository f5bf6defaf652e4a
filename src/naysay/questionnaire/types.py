"""The types of an XLSForm row, and what to do about those that are not asked here."""

from __future__ import annotations

import re

__all__ = [
    "GROUP_ENDS",
    "GROUP_STARTS",
    "LISTED",
    "PLAIN",
    "RECORDED",
    "REPEAT_ENDS",
    "REPEAT_STARTS",
    "listed",
    "way_out",
]

PLAIN = {"integer": "integer", "int": "integer", "decimal": "decimal", "text": "text", "string": "text",
         "date": "date", "note": "note", "range": "rating"}  # fmt: skip
LISTED = {"select_one": "select_one", "select one": "select_one", "select_multiple": "select_multiple",
          "select multiple": "select_multiple", "rank": "ranking"}  # fmt: skip
GROUP_STARTS, GROUP_ENDS = {"begin_group", "begin group"}, {"end_group", "end group"}
REPEAT_STARTS, REPEAT_ENDS = {"begin_repeat", "begin repeat"}, {"end_repeat", "end repeat"}

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
}
RECORDED = {
    "start", "end", "today", "deviceid", "phonenumber", "simserial", "subscriberid", "username", "email", "audit",
    "start-geopoint", "background-audio", "background-geopoint",
}  # fmt: skip
_FILES = {"image", "audio", "video", "file"}
_PLACES = {"geopoint", "geotrace", "geoshape"}


def listed(text: str) -> tuple[str, str, str] | None:
    """Kind, list and what follows of a type with a list of choices, None where it has none.

    Examples
    --------
    >>> listed("select_one yes_no or_other")
    ('select_one', 'yes_no', 'or_other')
    """
    found = re.fullmatch(r"(select[_ ]one|select[_ ]multiple|rank)\s+(\S+)\s*(.*)", text, re.IGNORECASE)
    return None if found is None else (LISTED[found[1].lower()], found[2], found[3].strip())


def way_out(kind: str) -> str:
    """What to do instead of a type that is not asked here.

    Examples
    --------
    >>> way_out("geopoint")
    'a place tells who answered; offer regions as choices'
    """
    word = kind.lower().split()[0] if kind.split() else ""
    if word in _FILES:
        return "files betray who sent them; ask for a description with text"
    if word in _PLACES:
        return "a place tells who answered; offer regions as choices"
    if word.endswith("_from_file") or word == "select_one_external":
        return "no other file leaves with a survey; write the choices into the sheet choices"
    if word in ("select_one", "select_multiple", "rank", "select", "select1"):
        return "name its list of choices, as select_one yes_no"
    known = "select_one, select_multiple, rank, integer, decimal, text, date, range, note, begin_group, end_group"
    return _WAYS_OUT.get(word) or f"the types are {known}"
