"""Privacy that stands where nobody reads it: in another column or property than the one that makes answers private."""

from __future__ import annotations

import difflib
import re
import unicodedata

from naysay.designs import FAMILIES

__all__ = ["SENT_PLAINLY", "names_privacy", "reads_as_design"]

SENT_PLAINLY = "answers that were to be private would be sent as they are"
"""Why privacy that is not read is an error."""

_WORDS = frozenset({
    "naysay", "design", "designs", "private", "privacy", "randomize", "randomise", "randomized", "randomised",
    "randomization", "randomisation", "epsilon", "sensitive", "rrt", "sink", "innocuous", "levels", "privat", "geheim",
    "vertraulich", "privado", "privada", "diseño", "secret", "confidential", "confidencial", "anonymous", "anonymize",
    "anonymized", "anonym", "protect", "protected", "protection", "schutz", "datenschutz", "ldp",
})  # fmt: skip
_COMMON = frozenset({
    "affine", "budgets", "custom", "direct", "frequency", "hierarchy", "levels", "mix", "number", "samples", "unary",
    "uniform", "window", "remembered",
})  # fmt: skip  # families whose names are everyday words: without parentheses they are no design
_PART = re.compile(r"[A-ZÀ-Þ]?[^\W\d_A-Z]+|[A-ZÀ-Þ]+")
_BEFORE = re.compile(r"[=\"'`“„\s]*(?:(?:naysay|designs|nd)\.)*")  # of a formula, a quotation, or a line of Python
_CALL = re.compile(r"([a-z][a-z0-9_-]*(?: [a-z0-9_-]+)*)(\(| \([^)]*=|$)")
_LOOSE = re.compile(r"([a-z][a-z_-]*)[\s:;,\[{(]+(?:[a-zε]+\s*[:=]\s*)?[01]?[.,/]?\d+(?:/\d+)?\W*")  # warner: p = .7
_JSON = re.compile(r'"(naysay|kind|design)"\s*:')
_ALIKE = 0.85


def names_privacy(header: str) -> bool:
    """Whether a column or property is called as if it made answers private.

    Examples
    --------
    >>> names_privacy("bind::private"), names_privacy("randomizedBy"), names_privacy("remarks")
    (True, True, False)
    >>> names_privacy("naysay design"), names_privacy("isPrivate"), names_privacy("designer")
    (True, True, False)
    """
    return any(part.lower() in _WORDS for part in _PART.findall(header))


def reads_as_design(text: str, *, alone: bool = True) -> bool:
    """Whether a cell reads as a design: a call such as ``warner(p=0.7)``, its JSON, or its name alone.

    Parameters
    ----------
    text : str
    alone : bool
        Whether a name without parentheses counts, such as ``negative``.

    Examples
    --------
    >>> reads_as_design("Waner(p = .7)"), reads_as_design("two coins"), reads_as_design('{"kind": "table"}')
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
    plain = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    if plain.startswith("{"):
        return _JSON.search(plain) is not None
    plain = _BEFORE.sub("", plain, count=1).rstrip("\"'`”“ ")
    loose = _LOOSE.fullmatch(plain)
    if loose is not None and loose[1] in FAMILIES.keys() - _COMMON:
        return True
    named = _CALL.match(plain)
    if named is None:
        return False
    family = re.sub(r"[ -]", "_", named[1])
    if named[2]:
        return family in FAMILIES or bool(difflib.get_close_matches(family, FAMILIES, n=1, cutoff=_ALIKE))
    return alone and family in FAMILIES and family not in _COMMON
