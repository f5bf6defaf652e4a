"""What the values of a private column mean: categories that are ruled out, or what chance made of an answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from naysay.design import Design
from naysay.files.codebook import Entry, Value


class Phrases(NamedTuple):
    """How the meaning of a value, and of a whole column, is said in one language."""

    ruled_out: str
    randomized: str
    never_sent: str
    at_levels: str
    heads: Mapping[str, str]
    """What the label of a private column begins with, by what its values are."""
    sentences: Mapping[str, str]
    either: str
    by_value: str
    as_it_is: str = "{option}"

    def head(self, kinds: Iterable[str]) -> str:
        """The beginning of a label, where values are of one kind or of several."""
        first, *others = (self.heads[kind] for kind in kinds)
        others = [word if word.isupper() else word[:1].lower() + word[1:] for word in others]
        return f" {self.either} ".join([first, *others])


_KINDS = ("ruled_out", "randomized", "as_it_is")


def _phrases(
    values: tuple[str, str, str, str], heads: Sequence[str], sentences: Sequence[str], either: str, by_value: str
) -> Phrases:
    of_labels, of_columns = (dict(zip(_KINDS, words, strict=True)) for words in (heads, sentences))
    return Phrases(*values, heads=of_labels, sentences=of_columns, either=either, by_value=by_value)


PHRASES = {
    "en": _phrases(
        ("not {option}", "{option} (after randomization)", "{option} (never sent)", "level {levels}: {words}"),
        ("RULED OUT", "After randomization", "Sent as it is"),
        (
            "not the person's answer: the person says that they are NOT in any category that is named here",
            "not the person's answer: chance had a part in what was sent, and it may equal the answer or not",
            "the design changes no answer",
        ),
        "or",
        "the meaning of each value says which",
    ),
    "de": _phrases(
        ("nicht {option}", "{option} (nach Randomisierung)", "{option} (nie gesendet)", "Stufe {levels}: {words}"),
        ("AUSGESCHLOSSEN", "Nach Randomisierung", "Unverändert gesendet"),
        (
            "nicht die Antwort der Person: Sie sagt, dass sie zu KEINER der hier genannten Kategorien gehört",
            "nicht die Antwort der Person: Was gesendet wurde, hat der Zufall mitbestimmt. Es kann die Antwort sein",
            "das Verfahren ändert keine Antwort",
        ),
        "oder",
        "Was zutrifft, sagt die Bedeutung jedes Werts",
    ),
    "es": _phrases(
        ("no {option}", "{option} (tras la aleatorización)", "{option} (nunca enviado)", "nivel {levels}: {words}"),
        ("DESCARTADO", "Tras la aleatorización", "Enviado tal cual"),
        (
            "no es la respuesta de la persona: dice que NO está en ninguna de las categorías que se nombran aquí",
            "no es la respuesta de la persona: el azar intervino en lo que se envió, que puede coincidir o no con ella",
            "el diseño no cambia ninguna respuesta",
        ),
        "o",
        "el significado de cada valor dice cuál",
    ),
    "ar": _phrases(
        ("ليس {option}", "{option} (بعد تغيير عشوائي)", "{option} (لا يُرسل أبدًا)", "المستوى {levels}: {words}"),
        ("مُستبعَد", "بعد تغيير عشوائي", "مُرسَل كما هو"),
        (
            "ليست إجابة الشخص: يقول إنه لا ينتمي إلى أي فئة مذكورة هنا",
            "ليست إجابة الشخص: كان للصدفة دور فيما أُرسل، وقد يطابق الإجابة أو لا يطابقها",
            "لا يغيّر التصميم أي إجابة",
        ),
        "أو",
        "يبيّن معنى كل قيمة أيّهما",
    ),
}
"""By language. What is ruled out is said as on the respondent's page; other languages get the English words."""

_BY_CHANCE = frozenset(
    words.head(kinds)
    for words in PHRASES.values()
    for size in range(1, len(_KINDS) + 1)
    for kinds in itertools.combinations(_KINDS, size)
    if kinds != ("as_it_is",)
)


def is_randomized(label: str) -> bool:
    """Whether the label of a variable says that chance had a part in its values.

    Examples
    --------
    >>> is_randomized("RULED OUT: How many?"), is_randomized("Nach Randomisierung: Rauchen Sie?")
    (True, True)
    >>> is_randomized("Sent as it is: How many?"), is_randomized("After randomization of clinics: which one?")
    (False, False)
    """
    return label.partition(": ")[0] in _BY_CHANCE


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
    there = [kind for kind in _KINDS if kind in of_categories] or ["randomized"]  # others name no category
    head = phrases.head(there)
    sentence = f"{head}, {phrases.sentences[there[0]]}." if len(there) == 1 else f"{head}: {phrases.by_value}."
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
    kind_of_label = {}
    for label, row in zip(labels, channel.expected_statistic, strict=True):  # that it is named, by true category
        own_place = places.get(label)
        if row.any():
            kind_of_label[label] = (
                "randomized" if own_place is None else _kind(row[own_place], np.delete(row, own_place).max(initial=0.0))
            )
    return kind_of_label


def _kind(own_chance: float, other_chance: float) -> str:
    """What a label says that people in its category name with this chance, and others with that one at most."""
    if own_chance == 0:
        return "ruled_out"
    return "as_it_is" if (own_chance, other_chance) == (1, 0) else "randomized"


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
