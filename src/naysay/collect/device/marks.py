"""By which a private question is known again in a changed survey: its words, and what draws its answers."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Any

from naysay.design.form import unnamed
from naysay.errors import DataError
from naysay.questionnaire import Question, Questionnaire, canonical

__all__ = ["Mark", "marks"]


@dataclass(frozen=True)
class Mark:
    """What is remembered of a private question; hashes only.

    Parameters
    ----------
    question : str
        Its name in this survey.
    texts : tuple of str
        One for each language in which it is asked.
    design : str
        Of what draws its answers: categories, integers, levels, bins.
    """

    question: str
    texts: tuple[str, ...]
    design: str

    @property
    def name(self) -> str:
        """The hash of its name."""
        return _digest(self.question)


def marks(questionnaire: Questionnaire) -> list[Mark]:
    """The marks of all private questions.

    Raises
    ------
    DataError
        Two of them ask in the same words: the answers would be two draws for one question.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [mark.question for mark in marks(sample())][:2]
    ['income', 'smoking']
    """
    found: list[Mark] = []
    seen: dict[str, str] = {}
    for question in questionnaire.questions:
        if question.privacy is None:
            continue
        texts = tuple(_digest(_letters(text)) for text in question.label.values())
        twin = next((seen[text] for text in texts if text in seen), None)
        if twin is not None:
            told = f"{question.name} asks in the same words as {twin}, and would be a second draw for one question"
            raise DataError(f"{told}; a private question says in its own label what it asks")
        seen |= dict.fromkeys(texts, question.name)
        found.append(Mark(question.name, texts, _design(question)))
    return found


def _design(question: Question) -> str:
    form = question.model_dump(mode="json", by_alias=True)
    private = form["private"]
    names = list(question.parts) or None
    bins = [[each["name"], each["below"]] for each in form.get("bins") or ()]
    return _digest(
        canonical([form["kind"], names, bins, private["by_hand"], _bare(unnamed(private["design"]["design"]))])
    )


def _bare(node: Any) -> Any:
    """A design without ``yes_no`` too: how its labels are written in a file changes no draw. See ``memory.js``."""
    if isinstance(node, dict):
        return {name: _bare(part) for name, part in node.items() if name != "yes_no"}
    return [_bare(part) for part in node] if isinstance(node, list) else node


_UNSEEN = "\u115f\u1160\u3164\uffa0"  # letters that fill a place, and show nothing


def _letters(text: str) -> str:
    """Letters and digits that are seen, so that a blank more or less makes no new question."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(each for each in plain if unicodedata.category(each)[0] in "LN" and each not in _UNSEEN)


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
