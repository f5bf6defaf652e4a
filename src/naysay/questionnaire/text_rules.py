"""Rules about names and texts: unique names, every label in every language, nothing private repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from naysay import _checks
from naysay.questionnaire.items import Decimal as DecimalNumber
from naysay.questionnaire.items import Grid, Group, Integer, Note, Ranking, Rating, SelectMultiple, SelectOne
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.walk import Entry, Told, piped, private_of_item, texts, within

__all__ = ["languages", "names", "piping", "scales", "wording"]

_MARKUP = re.compile(r"<[A-Za-z/!][^<>]*>")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MOST_RANKED, _MOST_POINTS = 20, 21
_OF_OBJECTS = frozenset(
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"]
)
"""What every object of JavaScript has without being given it, beside names that begin with __."""


def names(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Names differ, over the questionnaire and within a list, and are safe in any language."""
    seen: dict[str, str] = {}
    taken = dict(_columns(walked))
    for entry in walked:
        name, path = entry.item.name, f"{entry.path}.name"
        if name in taken and not isinstance(entry.item, Note | Group):
            message = f"no question must be called {name!r}: a column of the replies is, with {taken[name]}"
            yield Problem("names", message, "data would mix them up", "rename it", path=path)
        if name in seen:
            yield _twice(name, path, f"it is at {seen[name]}, too")
        seen.setdefault(name, entry.path)
        yield from _unsafe(name, path)
        for kind in ("choices", "rows", "bins"):
            parts = getattr(entry.item, kind, ())
            counted = Counter(part.name for part in parts)
            for place, part in enumerate(parts):
                here = f"{entry.path}.{kind}[{place}].name"
                if counted[part.name] > 1:
                    yield _twice(part.name, here, f"{counted[part.name]} {kind} of {name!r} have it")
                yield from _unsafe(part.name, here)


def _columns(walked: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Columns of the replies beside the answers, and what is in each."""
    yield "day", "the day of the reply"
    for entry in walked:
        private = private_of_item(entry.item)
        design = None if private is None else private.design.get("design")
        if isinstance(design, dict) and "levels" in design:
            yield f"{entry.item.name}_level", f"the level of {entry.item.name!r}"


def _unsafe(name: str, path: str) -> Iterator[Problem]:
    if name.startswith("__") or name in _OF_OBJECTS:
        message = f"names must not begin with __, nor be {', '.join(sorted(_OF_OBJECTS))}; got {name!r}"
        yield Problem("names", message, "JavaScript uses them for itself", "rename it", path=path)


def _twice(name: str, path: str, where: str) -> Problem:
    return Problem(
        "names",
        f"names must differ; {name!r} is there twice, {where}",
        "data would mix them up",
        "rename one",
        path=path,
    )


def languages(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Every text is there in every language."""
    known = questionnaire.languages
    if not known:
        yield Problem("languages", "at least one language is needed", "", "name its tag, as en", path="languages")
    if len(set(known)) < len(known):
        yield Problem(
            "languages", f"languages must differ; got {_checks.shown(known)}", "", "leave one out", path="languages"
        )
    for told in _all(questionnaire, walked):
        present = {language for language, text in told.label.items() if text.strip()}
        if not (told.needed or present):
            continue
        for language in known:
            if language not in present:
                message = f"{told.what} must be there in every language; {language!r} is missing"
                way_out = "translate it" if present else "write it"
                path = f"{told.path}.{language}"
                yield Problem("languages", message, "respondents choose their language", way_out, path=path)
        for language in sorted(present - set(known)):
            message = f"{told.what} is in {language!r}, which the questionnaire does not offer"
            way_out = f"add {language!r} to the languages, or leave the text out"
            yield Problem("languages", message, "", way_out, "warning", path=f"{told.path}.{language}")


def _all(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Told]:
    yield from texts(questionnaire)
    for entry in walked:
        yield from within(entry)


def wording(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Texts are shown as they are written: no markup, nothing invisible."""
    for told in _all(questionnaire, walked):
        for language, text in told.label.items():
            path = f"{told.path}.{language}"
            if _MARKUP.search(text):
                message = f"markup is shown as it is written; got {_MARKUP.findall(text)[0]!r}"
                reason = "texts are never read as HTML"
                yield Problem("wording", message, reason, "write plain text", "warning", path=path)
            if _CONTROL.search(text):
                code = ord(_CONTROL.findall(text)[0])
                message = f"texts must hold no control characters; got U+{code:04X}"
                reason = "they can make a text read other than it is written"
                yield Problem("wording", message, reason, "type the text again", path=path)


def piping(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """``${question}`` in a text repeats a plain answer given before, never a private one."""
    by_name = {entry.item.name: entry for entry in walked}
    for told in texts(questionnaire):
        for language, text in told.label.items():
            for name in piped(text):
                message = f"{told.what} of the questionnaire must repeat no answer; got ${{{name}}}"
                yield Problem(
                    "piping", message, "it stands before or after all questions", path=f"{told.path}.{language}"
                )
    for entry in walked:
        for told in within(entry):
            for language, text in told.label.items():
                for name in piped(text):
                    yield from _piped(by_name.get(name), name, entry, f"{told.path}.{language}")


def _piped(asked: Entry | None, name: str, entry: Entry, path: str) -> Iterator[Problem]:
    if asked is None or isinstance(asked.item, Note | Group):
        message = f"${{{name}}} must be a question; there is none of that name"
        yield Problem("references", message, "", "correct the name", path=path)
    elif private_of_item(asked.item) is not None:
        message = f"a text must not repeat the private answer ${{{name}}}"
        reason = "whoever looks at the screen, or at its size, would see the true answer"
        yield Problem("piping", message, reason, "leave it out, or ask in words that fit every answer", path=path)
    elif asked.order >= entry.order:
        message = f"${{{name}}} must be asked before; it comes later"
        yield Problem("references", message, "there is no answer yet", "move the question up", path=path)


def scales(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Enough to choose from, and ranges that run upwards."""
    for entry in walked:
        item, path = entry.item, entry.path
        if isinstance(item, SelectOne | Ranking | Grid) and len(item.choices) < 2:
            message = f"at least two choices are needed; got {len(item.choices)}"
            yield Problem("choices", message, "", "add choices", path=f"{path}.choices")
        if isinstance(item, SelectMultiple) and not item.choices:
            yield Problem("choices", "at least one choice is needed", "", "add choices", path=f"{path}.choices")
        if isinstance(item, Grid) and not item.rows:
            yield Problem("choices", "a grid must have rows", "", "add rows", path=f"{path}.rows")
        if isinstance(item, Ranking) and len(item.choices) > _MOST_RANKED:
            message = f"at most {_MOST_RANKED} choices can be ranked; got {len(item.choices)}"
            yield Problem("choices", message, "nobody orders more", "leave some out", path=f"{path}.choices")
        if isinstance(item, Group) and not item.items:
            yield Problem("choices", "a group must hold something", "", "leave it out", path=path)
        yield from _ends(entry)


def _ends(entry: Entry) -> Iterator[Problem]:
    item, path = entry.item, f"{entry.path}.low"
    if isinstance(item, Rating) and not 1 <= item.high - item.low < _MOST_POINTS:
        message = f"a rating must run upwards over 2 to {_MOST_POINTS} points; got {item.low} to {item.high}"
        yield Problem("scales", message, "", "ask with integer for more", path=path)
    if isinstance(item, Integer | DecimalNumber) and _reversed(item.low, item.high):
        message = f"a range must run upwards; got {item.low} to {item.high}"
        yield Problem("scales", message, "", "exchange the ends", path=path)


def _reversed(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low > high
