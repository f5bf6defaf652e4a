"""Who carries out a design, as an XLSForm writes it: modes, innocuous question, words of the responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from naysay import _checks
from naysay.design import Answerable, Design, read
from naysay.designs.randomized import PREVALENCE
from naysay.errors import DesignError
from naysay.questionnaire.by_hand import way_by_hand
from naysay.questionnaire.kinds.base import Label, Private

__all__ = ["carried_out", "written_carried"]

_MODES = ("hand", "device")
_RESPONSES = {
    "crosswise": {
        "en": ("The same", "Different"),
        "de": ("Gleich", "Verschieden"),
        "es": ("Iguales", "Distintas"),
        "ar": ("متطابقتان", "مختلفتان"),
    },
    "triangular": {
        "en": ("At least one", "Neither"),
        "de": ("Mindestens eine", "Keine"),
        "es": ("Al menos una", "Ninguna"),
        "ar": ("واحدة على الأقل", "ولا واحدة"),
    },
}
"""What respondents read for the two responses: of what "yes" and "no" to both questions comes to."""

_BIRTHDAY = {
    "en": "Is your mother's birthday in the months January to {month}?",
    "de": "Hat Ihre Mutter in den Monaten Januar bis {month} Geburtstag?",
    "es": "¿Cumple años su madre en los meses de enero a {month}?",
    "ar": "هل يقع عيد ميلاد والدتك في الأشهر من يناير إلى {month}؟",
}
_MONTHS = {
    "en": "February March April May June July August September October November",
    "de": "Februar März April Mai Juni Juli August September Oktober November",
    "es": "febrero marzo abril mayo junio julio agosto septiembre octubre noviembre",
    "ar": "فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر",
}


def carried_out(
    form: dict[str, Any],
    languages: Sequence[str],
    *,
    mode: str = "",
    several: bool = False,
    innocuous: Label | None = None,
    first: Label | None = None,
    second: Label | None = None,
) -> dict[str, Any]:
    """The privacy of a question, completed by who carries out its design and in which words.

    Parameters
    ----------
    form : object
        The JSON form of `Private`, as `private_of` gives it.
    languages : sequence of str
    mode : str
        ``hand, device``; the first is what the page begins with. By default by hand where there is an innocuous
        question, with the device for those who prefer it.
    several : bool
        Whether the question has several answers; one innocuous question cannot protect them.
    innocuous, first, second : {language: text}, optional
        The innocuous question and the words of the two responses. Where they are missing, naysay writes its own if it
        has fitting ones: a mother's birthday for a prevalence in twelfths.

    Raises
    ------
    DesignError
        The mode is unknown.

    Examples
    --------
    >>> from naysay.questionnaire.xlsform.offers import private_of
    >>> form = private_of(("yes", "no"), design="crosswise(prevalence=1/4)")
    >>> told = carried_out(form, ("en",))
    >>> told["modes"], told["innocuous"]
    (['hand', 'device'], {'en': "Is your mother's birthday in the months January to March?"})
    """
    modes = _modes(mode)
    offer = read(form["design"])
    asks = modes != ["device"] and not several and _assumes_prevalence(offer)
    asked = innocuous or (_birthday(offer, languages) if asks else {})
    modes = modes or (["hand", "device"] if asked else ["device"])
    words = _default_words(offer, languages)
    named = zip(_labels(offer), (first, second), strict=False)
    words |= {label: dict(given) for label, given in named if given}
    own = {"modes": modes} | ({"innocuous": dict(asked)} if asked else {})
    return {**form, "responses": form["responses"] | words, **(own if asked or modes != ["device"] else {})}


def written_carried(private: Private) -> dict[str, Any]:
    """The cells for who carries out a design and in which words; `carried_out` reads them back."""
    needed = private.modes != ("device",) or _assumes_prevalence(private.offer)
    cells: dict[str, Any] = {"mode": ", ".join(private.modes)} if needed else {}
    cells["innocuous"] = private.innocuous
    for column, label in zip(("first_label", "second_label"), _labels(private.offer), strict=False):
        cells[column] = private.responses.get(label, {})
    return cells


def _modes(text: str) -> list[str]:
    named = [each.strip().lower() for each in text.split(",") if each.strip()]
    unknown = [each for each in named if each not in _MODES]
    if unknown:
        raise DesignError(f"a mode must be hand or device; {_checks.nearest(unknown[0], _MODES)}")
    return named


def _assumes_prevalence(offer: Answerable) -> bool:
    return offer.protocol is not None and PREVALENCE in offer.protocol.assumes


def _single(offer: Answerable) -> Design | None:
    """The one design of an offer without levels or samples."""
    return next(iter(offer.parts.values())) if offer.assigned_by == "nobody" else None


def _labels(offer: Answerable) -> list[str]:
    """The two responses of a design for two categories, if they differ from the categories; else none."""
    design = _single(offer)
    labels = [] if design is None or not design.space.one_label else [str(label) for label in design.space.labels]
    return labels if len(labels) == 2 and labels != list(map(str, offer.categories)) else []


def _way(offer: Answerable) -> str | None:
    """How people carry out a design with an innocuous question; other designs, such as cards, may share its chances."""
    design = _single(offer)
    return way_by_hand(design, innocuous=True) if design is not None and _assumes_prevalence(offer) else None


def _default_words(offer: Answerable, languages: Sequence[str]) -> dict[str, Label]:
    known = _spoken(_RESPONSES.get(_way(offer) or "", {}), languages)
    return {label: {tag: words[at] for tag, words in known.items()} for at, label in enumerate(_labels(offer)) if known}


def _birthday(offer: Answerable, languages: Sequence[str]) -> Label:
    """An innocuous question about birthdays for a prevalence in twelfths; empty for other prevalences."""
    months = _prevalence(offer) * 12
    if months.denominator > 1 or not 2 <= months <= 11:
        return {}
    asked = _spoken(_BIRTHDAY, languages)
    ends = _spoken(_MONTHS, languages)
    return {tag: text.format(month=ends[tag].split()[int(months) - 2]) for tag, text in asked.items()}


def _prevalence(offer: Answerable) -> Fraction:
    """The prevalence of the innocuous question: how often its yes makes others give the first response."""
    way, ((a, b), (c, _)) = _way(offer), _columns(offer)
    return Fraction(b, b + c) if way == "unrelated" else Fraction(a if way == "crosswise" else b, a + c)


def _columns(offer: Answerable) -> Any:
    """The weights of both responses, for members and for others; ((0, 0), (1, 1)) for other designs."""
    weights = offer.channel().integers(offer.space.listing()) if _way(offer) else None
    return ((0, 0), (1, 1)) if weights is None else weights.tolist()


def _spoken(known: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """The known texts, for those of the languages that have one."""
    base = {tag: tag.partition("-")[0].lower() for tag in languages}
    return {tag: known[own] for tag, own in base.items() if own in known}
