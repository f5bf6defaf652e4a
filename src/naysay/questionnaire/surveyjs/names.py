"""Names and texts as SurveyJS writes them, turned into those of a questionnaire."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from typing import Any

DEFAULT = "default"
"""The key under which SurveyJS keeps a text in the survey's own language."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE)
TEXT = re.compile("(title|text|html|description|innocuous|label(True|False)?)$", re.IGNORECASE)
"""Properties that hold a text, which may be an object with a text for each language."""
_LONGEST = 60


def named(name: str, taken_names: Iterable[str], *, first: str = "q", digits: bool = False) -> str:
    """A name for data as close to this one as may be, and not taken yet.

    Parameters
    ----------
    name : str
    taken_names : iterable of str
    first : str
        What stands before a name that would begin with something else than a letter.
    digits : bool
        Whether it may begin with a digit or a minus sign, as the name of a choice may.

    Examples
    --------
    >>> named("Très satisfait !", ()), named("1st car", ()), named("age", ("age",)), named("-99", (), digits=True)
    ('Tres_satisfait', 'q1st_car', 'age_2', '-99')
    """
    plain = "".join(
        character for character in unicodedata.normalize("NFKD", name) if not unicodedata.combining(character)
    )
    candidate = _OTHER.sub("_", plain)
    if candidate != name:
        candidate = candidate.strip("_-")
    if not re.match(r"-?[A-Za-z0-9_]" if digits else "[A-Za-z_]", candidate):
        candidate = first + candidate.lstrip("-")
    candidate, reserved_names, number = candidate[:_LONGEST], set(taken_names), 2
    begin = candidate
    while candidate in reserved_names:
        candidate, number = f"{begin}_{number}", number + 1
    return candidate


def key_of(value: Any) -> str:
    """A value of a choice as text: SurveyJS does not tell 1 from "1".

    Examples
    --------
    >>> key_of(True), key_of(1.0), key_of("a")
    ('true', '1', 'a')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, sort_keys=True)


def coded(values: Iterable[Any]) -> dict[str, str]:
    """The name of each value of a list of choices, by its key.

    Examples
    --------
    >>> coded(["Very good", "very good!", 3])
    {'Very good': 'Very_good', 'very good!': 'very_good', '3': '3'}
    """
    name_of_value: dict[str, str] = {}
    used_names: set[str] = set()
    for value in values:
        key = key_of(value)
        if key not in name_of_value:
            name_of_value[key] = named(key, used_names, first="c", digits=True)
            used_names.add(name_of_value[key])
    return name_of_value


def languages_of(form: Mapping[str, Any]) -> tuple[str, ...]:
    """The languages of a survey, its own first.

    Examples
    --------
    >>> languages_of({"pages": [{"title": {"default": "Age", "de": "Alter"}}]})
    ('en', 'de')
    """
    own_language = form.get("locale")
    languages = [own_language if isinstance(own_language, str) and _LANGUAGE.fullmatch(own_language) else "en"]
    waiting: list[tuple[str, Any]] = [("", form)]
    while waiting:  # no recursion: a stranger's file may be nested a thousand times
        key, node = waiting.pop()
        if isinstance(node, dict):
            if TEXT.search(key):
                texts = [name for name, text in node.items() if isinstance(text, str)]
                languages += [name for name in texts if name != DEFAULT and _LANGUAGE.fullmatch(name)]
            waiting += reversed(node.items())
        elif isinstance(node, list):
            waiting += [(key, member) for member in reversed(node)]
    return tuple(dict.fromkeys(languages))


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found += ["\n"] if tag in ("br", "p", "div", "li") else []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def unmarked(text: str) -> str:
    r"""HTML without its markup.

    Examples
    --------
    >>> unmarked("<h3>Thank <b>you</b></h3><p>Bye &amp; all")
    'Thank you\nBye & all'
    """
    reader = _Texts()
    reader.feed(text)
    reader.close()
    return "".join(reader.found).strip()
