"""What the values of a private column mean: categories that are ruled out, or what chance made of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from naysay.design import Design
from naysay.files.codebook import Entry, Value

__all__ = ["PHRASES", "Phrases", "explained"]


class Phrases(NamedTuple):
    """How the meaning of a value is said, in one language."""

    ruled_out: str
    randomized: str
    never_sent: str
    at_levels: str
    as_it_is: str = "{option}"


PHRASES = {
    "en": Phrases("not {option}", "{option} (after randomization)", "{option} (never sent)", "level {levels}: {words}"),
    "de": Phrases("nicht {option}", "{option} (nach dem Zufall)", "{option} (nie gesendet)", "Stufe {levels}: {words}"),
    "es": Phrases("no {option}", "{option} (tras el azar)", "{option} (nunca enviado)", "nivel {levels}: {words}"),
    "ar": Phrases("ليس {option}", "{option} (بعد تدخّل الصدفة)", "{option} (لا يُرسل أبدًا)", "المستوى {levels}: {words}"),
}
"""By language. What is ruled out is said as on the respondent's page; other languages get the English words."""

_HEADS = {
    "ruled_out": "RULED OUT",
    "randomized": "after randomization",
    "as_it_is": "sent as it is",
}
_SENTENCES = {
    "ruled_out": "not the person's answer: the person says that they are NOT in any category that is named here",
    "randomized": "not the person's answer: chance had a part in what was sent, and it may equal the answer or not",
    "as_it_is": "the design changes no answer",
}


def explained(entry: Entry, *, language: str = "en") -> Entry:
    """The entry with what its values mean; that of a plain column is as it was.

    A label stays what the design calls it, so that estimates are about the categories. The meaning stands beside it.

    Parameters
    ----------
    entry : Entry
        Its label is what was asked.
    language : str
        Of the labels.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.files import Asked
    >>> values = tuple(Value(code, name, name) for code, name in enumerate(("0-2", "3-9", "10+"), start=1))
    >>> partners = Entry("partners", "partners", "How many?", "values", values)
    >>> negative = explained(replace(partners, asked=Asked(designs.negative(("0-2", "3-9", "10+")))))
    >>> negative.label, [value.meaning for value in negative.values]
    ('RULED OUT: How many?', ['not 0-2', 'not 3-9', 'not 10+'])
    >>> randomized = explained(replace(partners, asked=Asked(designs.k_ary(("0-2", "3-9", "10+"), epsilon=1))))
    >>> randomized.values[2].meaning
    '10+ (after randomization)'
    """
    if entry.asked is None:
        return entry
    design = entry.asked.design
    kinds = {level: _kinds(channel) for level, channel in design.parts.items()}
    phrases = PHRASES.get(language.partition("-")[0].lower(), PHRASES["en"])
    values = tuple(replace(value, meaning=_meaning(value, kinds, phrases)) for value in entry.values)
    categories = set(map(str, design.categories))
    of_categories = {kind for labels in kinds.values() for label, kind in labels.items() if label in categories}
    there = [kind for kind in _HEADS if kind in of_categories] or ["randomized"]  # others name no category
    head = " or ".join(_HEADS[kind] for kind in there)
    head = head[:1].upper() + head[1:]
    sentence = (
        f"{head}, {_SENTENCES[there[0]]}." if len(there) == 1 else f"{head}: the meaning of each value says which."
    )
    wording = entry.wording or entry.label
    return replace(entry, label=f"{head}: {wording}", wording=wording, meaning=sentence, values=values)


def _kinds(channel: Design) -> dict[str, str]:
    """What it says of a person that a response names a label, for each label that some response names."""
    space = channel.space
    if not (space.one_label or space.sets):
        return {}
    places = {str(category): place for place, category in enumerate(channel.categories)}
    labels = list(map(str, space.labels))
    if channel.even_mean is not None:  # the same for all categories, which may be too many for a table
        alpha, beta = channel.even_mean
        return {label: _kind(alpha + beta, beta) if label in places else "randomized" for label in labels}
    found = {}
    for label, row in zip(labels, channel.expected_statistic, strict=True):  # that it is named, by true category
        own = places.get(label)
        if row.any():
            found[label] = "randomized" if own is None else _kind(row[own], np.delete(row, own).max(initial=0.0))
    return found


def _kind(own: float, others: float) -> str:
    """What a label says that people in its category name with this chance, and others with that one at most."""
    if own == 0:
        return "ruled_out"
    return "as_it_is" if (own, others) == (1, 0) else "randomized"


def _meaning(value: Value, kinds: Mapping[Any, Mapping[str, str]], phrases: Phrases) -> str:
    option = value.label.strip() or value.name
    levels: dict[str, list[str]] = {}
    for level, labels in kinds.items():
        if value.name in labels:
            words = getattr(phrases, labels[value.name]).format(option=option)
            levels.setdefault(words, []).append(str(level))
    if len(levels) <= 1:
        return next(iter(levels), phrases.never_sent.format(option=option))
    return "; ".join(phrases.at_levels.format(levels=", ".join(named), words=words) for words, named in levels.items())
