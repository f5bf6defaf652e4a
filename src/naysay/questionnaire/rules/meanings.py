"""What a choice means, as far as its words tell, in English, German, Spanish and Arabic."""

from __future__ import annotations

import re

from naysay.questionnaire.kinds.base import Bin, Choice

_NONE = (
    r"none( of (the above|these|those|them))?", r"(nothing|neither)( of (these|those|them))?", r"not any( of these)?",
    r"no(ne)? (answer )?(applies|fits)", r"other|others|something else|any other",
    r"kein(e|er|es|en|s)?( davon| der (genannten|obigen)| von (diesen|beiden|ihnen))?", r"nichts( davon)?",
    r"weder noch", r"trifft nichts zu", r"andere(s|r)?|sonstige(s)?",
    r"ningun[oa]?|ningún( de (los|las|estos|estas) ?(anteriores)?)?", r"ningun[oa] de .+",
    r"nada( de (esto|eso|lo anterior))?",
    r"otr[oa]s?", r"لا شيء( مما (سبق|ذكر))?", r"لا أحد", r"لا يوجد", r"ولا واحد.*", r"أي مما سبق", r"غير ذلك", r"أخرى",
)  # fmt: skip
_REFUSAL = (
    r"(would |i'd |i would )?(rather|prefer) not( to)? (say|answer|tell).*", r"no answer", r"refused?",
    r"(i )?don'?t know",     r"not sure", r"no opinion", r"decline to .*", r"keine angabe",
    r"(möchte|will) ich nicht (sagen|beantworten)",
    r"weiß (ich )?nicht", r"ich weiß (es )?nicht", r"verweigert", r"prefiero no (decirlo|decir|contestar|responder)",
    r"no (lo )?s[eé]|no sabe.*", r"sin respuesta", r"no (contesta|responde|quiere contestar)",
    r"أفضل (عدم|ألا) .+", r"لا أعرف",
    r"لا أدري", r"لا إجابة", r"بدون إجابة", r"أرفض .*",
)  # fmt: skip
_COMPLEMENT = (
    r"never", r"no", r"not", r"zero", r"0", r"(no|not) (at all|ever)",
    r"nie(mals)?", r"nein", r"null", r"gar nicht", r"überhaupt nicht",
    r"nunca|jamás", r"cero", r"لا", r"أبد[اًا]+|مطلقًا", r"صفر", r"0( to | bis | a |-|–).+", r"(de|من) 0 .+",
)  # fmt: skip


def _pattern_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_NONE_OF_THEM, _REFUSED, _COMPLEMENTS = _pattern_of(_NONE), _pattern_of(_REFUSAL), _pattern_of(_COMPLEMENT)


def none_of_them(choice: Choice | Bin) -> bool:
    """Whether a choice stands for everything beside the other choices: "none of the above", "something else".

    Examples
    --------
    >>> none_of_them(Choice(name="x", label={"de": "Keine davon"}))
    True
    """
    return _any(_NONE_OF_THEM, choice)


def refusal(choice: Choice | Bin) -> bool:
    """Whether a choice says that there is no answer: "rather not say", "don't know".

    Examples
    --------
    >>> refusal(Choice(name="x", label={"es": "Prefiero no decirlo"}))
    True
    """
    return _any(_REFUSED, choice)


def complement(choice: Choice | Bin) -> bool:
    """Whether a choice denies what the others admit, such as "never", "no", "0 to 2". Ruling it out admits the thing.

    Examples
    --------
    >>> complement(Choice(name="x", label={"en": "Never"}))
    True
    """
    return _any(_COMPLEMENTS, choice)


def _any(pattern: re.Pattern[str], choice: Choice | Bin) -> bool:
    """Whether the name or a label fits, without the characters around its words."""
    labels = (re.sub(r"\s+", " ", text).strip(" .,;:!?()[]«»\"'“”„…،؟") for text in choice.label.values())
    return any(map(pattern.fullmatch, (choice.name.replace("_", " "), *labels)))
