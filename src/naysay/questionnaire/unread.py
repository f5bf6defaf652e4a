"""Privacy that stands where nobody reads it: not in the column or property that makes answers private."""

from __future__ import annotations

import difflib
import inspect
import re
import unicodedata

from naysay.designs import FAMILIES

SENT_PLAINLY = "answers that were to be private would be sent as they are"
"""Why privacy that is not read is an error."""

_LOOK_ALIKE = str.maketrans(
    "авекмнорстухіјѕԁһԛԝґАВЕКМНОРСТУХІЈЅαβικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ",
    "abekmhopctyxijsdhqwrABEKMHOPCTYXIJSabiknoptuxABEZHIKMNOPTYXiga",
)
"""Letters of other alphabets that look like Latin ones; not ε, which is a word of its own."""
_UNSEEN = ("Cf", "Mn")  # characters that copying brings: joiners, marks of direction, accents


def _plain(text: str) -> str:
    """A text without what nobody sees: letters of another alphabet that look alike, other widths, accents, marks."""
    visible_characters = (
        character for character in unicodedata.normalize("NFKD", text) if unicodedata.category(character) not in _UNSEEN
    )
    return "".join(visible_characters).translate(_LOOK_ALIKE)


_WORDS = frozenset(map(_plain, {
    "naysay", "design", "designs", "private", "privacy", "randomize", "randomise", "randomized", "randomised",
    "randomization", "randomisation", "epsilon", "sensitive", "rrt", "sink", "innocuous", "levels", "privat", "geheim",
    "vertraulich", "privado", "privada", "diseño", "secret", "confidential", "confidencial", "anonymous", "anonymize",
    "anonymized", "anonym", "protect", "protected", "protection", "schutz", "datenschutz", "ldp", "krr", "rr", "eps",
    "ε", "randomizer", "randomiser",
    "randomizing", "randomising", "perturb", "perturbed", "perturbation", "randomisiert",
    "geschützt", "vertraulichkeit", "privatsphäre", "privacidad", "confidencialidad", "aleatorizado", "aleatorizada",
    "anonymisiert", "geheimhaltung", "zufallsverfahren", "verschleiert", "sensibel", "sensible", "anonymity",
    "aleatorio", "aleatoria", "anónimo", "anónima", "aléatoire", "confidentiel", "confidentialité", "privé", "privée",
    "anonyme", "protégé", "privacidade", "sigiloso", "riservato", "vertrouwelijk", "конфиденциально", "анонимно",
    "приватно", "секретно", "рандомизация", "خصوصية", "الخصوصية", "سري", "سرية", "عشوائي", "عشوائية",
}))  # fmt: skip
_EVERYDAY = frozenset(map(_plain, {
    "design", "designs", "levels", "sink", "secret", "protection", "randomize", "randomise", "sensible", "aleatorio",
    "aleatoria", "aléatoire", "عشوائي", "عشوائية",
}))  # fmt: skip
"""Of the words: those that ordinary columns hold beside another word, as in "child protection"."""
_FRAMES = frozenset({"bind", "body", "control", "instance", "question", "answer", "answers"})  # belong to any column
_COMMON = frozenset({
    "affine", "budgets", "custom", "direct", "frequency", "hierarchy", "levels", "mix", "number", "samples", "unary",
    "uniform", "window", "remembered",
})  # fmt: skip  # families whose names are everyday words: without arguments they are no design
_IN_TEXTS = frozenset({"negative", "negative_levels", "two_coins", "two_option"})  # everyday words in a label or hint
_PART = re.compile(r"[A-ZÀ-Þ]?[^\W\d_A-Z]+|[A-ZÀ-Þ]+")
_BEFORE = re.compile(r"[=\"'`“„\s]*(?:(?:naysay|designs|nd)\.)*")  # of a formula, a quotation, or a line of Python
_CALL = re.compile(r"([a-z][a-z0-9_-]*(?: [a-z0-9_-]+)*) ?[([{](.*)[)\]}]\W*", re.DOTALL)
_LOOSE = re.compile(
    r"([a-z][a-z0-9_ -]*?)[\s:;,\[{(]+(?:[a-zε]+\s*[:=]\s*)?([01]?[.,/]?\d+(?:/\d+)?)\W*"
)  # warner: p = .7
_INSIDE = re.compile(r"([a-z][a-z0-9_]*) ?\(([^()]*)\)")  # a call within a sentence
_ABBREVIATED = frozenset(
    {"rr", "rrt", "dp", "ldp", "krr", "k-rr", "grr", "oue", "olh"}
)  # methods, with a number behind
_PRICE = re.compile(r"(?:epsilon|eps|ε)\s*[:=]?\s*(?:ln ?)?\(?[\d.,/]+\W*")
_JSON = re.compile(r"""["'](naysay|kind|design)["']\s*:""")
_ARGUMENT = re.compile(r"(?:^|[(,;])\s*([a-zε_]+)\s*[:=]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TELLING = frozenset({"epsilon", "eps", "ε", "sigma", "discards", "forced_yes", "forced_no"})  # of a design by any name
_METHOD = re.compile(
    r"\b(?:randomi[sz]ed (?:response|answer|reply)s?|(?:local |locally )?differential(?:ly)? priva(?:cy|te)|rappor"
    r"|local(?:ly)? randomi[sz]\w+|locally private|local privacy|negative surveys?|forced responses?|crosswise|warner"
    r"|rrt|ldp|k ?rr|zufallsantwort\w*|randomisierte\w* antwort\w*|respuestas? aleatori\w+|reponses? aleatoires?"
    r"|respostas? aleatori\w+)\b"
)
_MOST_WORDS = 8  # of a cell that names a method; a longer one is a remark
_SHORT = re.compile(r"\W*(?:RRT?|LDP|DP)\W*")
_LEAST, _LONG = 5, 8  # letters of a word that may be misspelled, and in which one may be replaced
_ALIKE = 0.85


def names_privacy(header: str) -> bool:
    """Whether a column or property is called, or all but called, as if it made answers private.

    Examples
    --------
    >>> names_privacy("bind::private"), names_privacy("randomizedBy"), names_privacy("remarks")
    (True, True, False)
    >>> names_privacy("naysay design"), names_privacy("desing"), names_privacy("designer")
    (True, True, False)
    >>> names_privacy("bind::design"), names_privacy("design effect"), names_privacy("child protection")
    (True, False, False)
    >>> names_privacy("d\u0435sign"), names_privacy("Zufallsantwort"), names_privacy("Zufallszahl")  # a Cyrillic е
    (True, True, False)
    """
    parts = [part.lower() for part in _PART.findall(_plain(header))]
    if _METHOD.search(" ".join(parts)):
        return True
    alone = all(part in _FRAMES or _is_word(part, _WORDS) for part in parts)
    return any(_is_word(part, _WORDS if alone else _WORDS - _EVERYDAY) for part in parts)


def asks_for_privacy(text: str) -> bool:
    """Whether a text holds nothing but words for privacy, such as "private question".

    Examples
    --------
    >>> asks_for_privacy("Private!"), asks_for_privacy("ask in private"), asks_for_privacy("")
    (True, False, False)
    """
    parts = [part.lower() for part in _PART.findall(_plain(text))]
    return bool(parts) and all(part in _FRAMES or _is_word(part, _WORDS) for part in parts) and names_privacy(text)


def _is_word(part: str, words: frozenset[str]) -> bool:
    return part in words or any(_is_slip(part, word) for word in words)


def _is_slip(part: str, word: str) -> bool:
    """Whether one slip of the pen makes a word of another: a letter left out, doubled or replaced, or two exchanged.

    The first letter is right in most slips, and other words, such as "designer", end otherwise.
    """
    if len(word) < _LEAST or part[:1] != word[0]:
        return False
    if len(part) == len(word):
        wrong = [place for place, letter in enumerate(word) if part[place] != letter]
        if len(wrong) == 2 and wrong[1] == wrong[0] + 1:
            return part[wrong[0]] == word[wrong[1]] and part[wrong[1]] == word[wrong[0]]
        return len(wrong) == 1 and len(word) >= _LONG and part[-1] == word[-1]
    short, long = sorted((part, word), key=len)
    ends = part[-1] == word[-1] and len(long) == len(short) + 1
    return ends and any(long[:place] + long[place + 1 :] == short for place in range(len(long)))


def reads_as_design(text: str, *, alone: bool = True) -> bool:
    """Whether a cell reads as a design: a call such as ``warner(p=0.7)``, its JSON, or the name of a method alone.

    Parameters
    ----------
    text : str
    alone : bool
        Whether a name without arguments counts, such as ``negative``. In a text that respondents read it does not.

    Examples
    --------
    >>> reads_as_design("Waner(p = .7)"), reads_as_design("two coins"), reads_as_design('{"kind": "table"}')
    (True, True, True)
    >>> reads_as_design("krr(epsilon=1)"), reads_as_design("randomized response"), reads_as_design("RR")
    (True, True, True)
    >>> (
    ...     reads_as_design("=designs.warner(p=0.7)"),
    ...     reads_as_design("warner: p = 0.7"),
    ...     reads_as_design("ｗarner（p=.7）"),
    ... )
    (True, True, True)
    >>> reads_as_design("number (of people)"), reads_as_design("negative", alone=False), reads_as_design("see below")
    (False, False, False)
    """
    plain = " ".join(_plain(text).lower().split())
    if plain.startswith("{"):
        return _JSON.search(plain) is not None
    plain = _BEFORE.sub("", plain, count=1).rstrip("\"'`”“ ")
    call, loose = _CALL.fullmatch(plain), _LOOSE.fullmatch(plain)
    if call is not None and _is_call(call[1], call[2], alone=alone):
        return True
    if loose is not None and (_takes(_family(loose[1]), loose[2], alone=alone) or (alone and loose[1] in _ABBREVIATED)):
        return True
    if any(_names_arguments(*inner_call.groups()) for inner_call in _INSIDE.finditer(plain)):
        return True
    return alone and (_PRICE.fullmatch(plain) is not None or _names_method(text, plain))


def _names_arguments(name: str, inside: str) -> bool:
    """Whether a design is called with its arguments by their names, which no ordinary sentence does."""
    parameter_names = name in FAMILIES.keys() - _COMMON and inspect.signature(FAMILIES[name]).parameters.keys()
    return bool(parameter_names and set(_ARGUMENT.findall(inside)) & parameter_names)


def _is_call(name: str, inside: str, *, alone: bool) -> bool:
    """Whether these are a design and its arguments, and not a word with a remark behind it, as in "number(s)"."""
    nested = any(
        _is_call(inner_call[1], inner_call[2], alone=alone) for inner_call in re.finditer(r"(\w+)\(([^()]*)\)", inside)
    )
    argument_names = set(_ARGUMENT.findall(inside))
    if nested or (argument_names & _TELLING and (alone or " " not in name)):
        return True
    likely_families = difflib.get_close_matches(_family(name), FAMILIES, n=1, cutoff=_ALIKE)
    if not likely_families:
        return False
    if not inside.strip() or argument_names & inspect.signature(FAMILIES[likely_families[0]]).parameters.keys():
        return True
    return _takes(likely_families[0], inside, alone=alone)


def _takes(family: str, numbers: str, *, alone: bool) -> bool:
    """Whether these are arguments of a design: numbers, and no year; in a text that respondents read, shares alone."""
    everyday = _COMMON if alone else _COMMON | _IN_TEXTS
    shares = alone or re.search(r"[./]", numbers) is not None
    plain = re.fullmatch(r"[\d\s.,/()\[\]-]+", numbers) is not None and _YEAR.fullmatch(numbers.strip()) is None
    return family in FAMILIES.keys() - everyday and plain and shares


def _family(name: str) -> str:
    return re.sub(r"[ -]", "_", name)


def _names_method(text: str, plain: str) -> bool:
    family = _family(plain)
    if _SHORT.fullmatch(text.strip()) or difflib.get_close_matches(
        family, FAMILIES.keys() - _COMMON, n=1, cutoff=_ALIKE
    ):
        return True
    short = len(plain.split()) <= _MOST_WORDS and _YEAR.search(plain) is None  # no remark, and no citation
    return short and _METHOD.search(plain.replace("-", " ")) is not None
