"""Everything that keeps a questionnaire from being fielded, and what its author should know.

Rules about names and texts: unique names, every label in every language, nothing private repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator

from naysay import _checks
from naysay.questionnaire.items import Group
from naysay.questionnaire.kinds.base import Question
from naysay.questionnaire.piping import piped
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.rules import carried_out, logic, privacy
from naysay.questionnaire.rules.walk import Entry, Walk

__all__ = ["RULES", "check", "languages", "names", "piping", "scales", "wording"]

_MARKUP = re.compile(r"<[A-Za-z/!][^<>]*>")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LEAST, _MOST = 3, 6  # choices of a practice question
_OF_OBJECTS = frozenset(
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"]
)
"""Names that every JavaScript object has by itself, apart from names that begin with __."""


def names(walk: Walk) -> Iterator[Problem]:
    """Names must differ within the questionnaire and within a list, and be safe in any programming language."""
    seen: dict[str, str] = {}
    taken = {"day": "the day of the reply", **dict(_columns_of_levels(walk))}
    for entry in walk.entries:
        name, path = entry.item.name, f"{entry.path}.name"
        if name in taken and isinstance(entry.item, Question):
            message = f"no question must be called {name!r}: a column of the replies is, with {taken[name]}"
            yield Problem("names", message, "data would mix them up", "rename it", path=path)
        if name in seen:
            yield _twice(name, path, f"it is at {seen[name]}, too")
        seen.setdefault(name, entry.path)
        yield from _unsafe(name, path)
        for kind, parts in entry.item.lists():
            counted = Counter(part.name for part in parts)
            for place, part in enumerate(parts):
                here = f"{entry.path}.{kind}[{place}].name"
                if counted[part.name] > 1:
                    yield _twice(part.name, here, f"{counted[part.name]} {kind} of {name!r} have it")
                yield from _unsafe(part.name, here)


def _columns_of_levels(walk: Walk) -> Iterator[tuple[str, str]]:
    """The columns of the replies that hold the level of an answer, with a description."""
    for _, question in walk.questions():
        # the raw form: the design may be unreadable
        design = question.privacy and question.privacy.design.get("design")
        if isinstance(design, dict) and "levels" in design:
            yield f"{question.name}_level", f"the level of {question.name!r}"


def _unsafe(name: str, path: str) -> Iterator[Problem]:
    if name.startswith("__") or name in _OF_OBJECTS:
        message = f"names must not begin with __, nor be {', '.join(sorted(_OF_OBJECTS))}; got {name!r}"
        yield Problem("names", message, "JavaScript uses them for itself", "rename it", path=path)


def _twice(name: str, path: str, where: str) -> Problem:
    message = f"names must differ; {name!r} is there twice, {where}"
    return Problem("names", message, "data would mix them up", "rename one", path=path)


def languages(walk: Walk) -> Iterator[Problem]:
    """Every text must be there in every language."""
    known = walk.languages
    if not known:
        yield Problem("languages", "at least one language is needed", "", "name its tag, such as en", path="languages")
    if len(set(known)) < len(known):
        message = f"languages must differ; got {_checks.shown(known)}"
        yield Problem("languages", message, "", "leave one out", path="languages")
    for told in walk.texts:
        present = {language for language, text in told.label.items() if text.strip()}
        if not (told.needed or present):
            continue
        for language in known:
            if language not in present:
                message = f"{told.what} must be there in every language; {language!r} is missing"
                way_out, path = "translate it" if present else "write it", f"{told.path}.{language}"
                yield Problem("languages", message, "respondents choose their language", way_out, path=path)
        for language in sorted(present - set(known)):
            message = f"{told.what} is in {language!r}, which the questionnaire does not offer"
            way_out = f"add {language!r} to the languages, or leave the text out"
            yield Problem("languages", message, "", way_out, "warning", path=f"{told.path}.{language}")


def wording(walk: Walk) -> Iterator[Problem]:
    """Texts are shown as they are written, so they must hold no markup and nothing invisible."""
    for _, path, text in walk.wordings():
        if markup := _MARKUP.search(text):
            message = f"markup is shown as it is written; got {markup[0]!r}"
            yield Problem("wording", message, "texts are never read as HTML", "write plain text", "warning", path=path)
        if control := _CONTROL.search(text):
            message = f"texts must hold no control characters; got U+{ord(control[0]):04X}"
            reason = "they can make a text read other than it is written"
            yield Problem("wording", message, reason, "type the text again", path=path)


def piping(walk: Walk) -> Iterator[Problem]:
    """``${question}`` in a text may repeat an earlier plain answer, never a private one."""
    for told, path, text in walk.wordings():
        for name in piped(text):
            if told.entry is None:
                message = f"{told.what} of the questionnaire must repeat no answer; got ${{{name}}}"
                yield Problem("piping", message, "it stands before or after all questions", path=path)
            else:
                yield from _piped(walk.by_name.get(name), name, told.entry, path)


def _piped(asked: Entry | None, name: str, entry: Entry, path: str) -> Iterator[Problem]:
    if asked is None or not isinstance(asked.item, Question):
        message = f"${{{name}}} must be a question; there is none of that name"
        yield Problem("references", message, "", "correct the name", path=path)
    elif asked.item.privacy is not None:
        message = f"a text must not repeat the private answer ${{{name}}}"
        reason = "whoever looks at the screen, or at its size, would see the true answer"
        yield Problem("piping", message, reason, "leave it out, or ask in words that fit every answer", path=path)
    elif asked.order >= entry.order:
        message = f"${{{name}}} must be asked before; it comes later"
        yield Problem("references", message, "there is no answer yet", "move the question up", path=path)


def scales(walk: Walk) -> Iterator[Problem]:
    """The rules of each kind of question, such as enough choices and ranges that run upwards."""
    if walk.practice is not None and not _LEAST <= len(walk.practice) <= _MOST:
        message = f"a practice question must have {_LEAST} to {_MOST} choices; got {len(walk.practice)}"
        reason = "it shows that some options are struck out, and others stay"
        yield Problem("choices", message, reason, "such as the four seasons", path="practice.choices")
    for entry in walk.entries:
        if isinstance(entry.item, Question):
            yield from entry.item.flaws(entry.path)
        elif isinstance(entry.item, Group) and not entry.item.items:
            yield Problem("choices", "a group must hold something", "", "leave it out", path=entry.path)


Rule = Callable[[Walk], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    names, languages, wording, scales, piping,
    logic.conditions, logic.behind_sent, logic.constraints,
    privacy.designs_fit, privacy.levels, privacy.words, privacy.categories, privacy.apart,
    carried_out.by_hand, carried_out.modes, carried_out.innocuous,
)  # fmt: skip
"""The rules that are checked; each yields problems with their path."""


def check(questionnaire: Questionnaire, *, omitted: Collection[str] = ()) -> tuple[Problem, ...]:
    """Every problem of a questionnaire: errors, which keep it from being fielded, and warnings.

    Parameters
    ----------
    questionnaire : Questionnaire
    omitted : collection of str, optional
        Names of questions that could not be read; a reference to one of them is not a further problem.

    Returns
    -------
    tuple of Problem
        Each problem has its path, what must hold, why, and the way out. Empty where there is no problem.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [each.rule for each in check(sample()) if each.severity == "error"]
    []
    """
    walk, unread = Walk(questionnaire), set(omitted)
    # a dict, not a set: problems keep the order of the rules
    found = dict.fromkeys(problem for rule in RULES for problem in rule(walk))
    about_unread = {each for each in found if each.rule == "references" and not unread.isdisjoint(piped(each.message))}
    return tuple(each for each in found if each not in about_unread)
