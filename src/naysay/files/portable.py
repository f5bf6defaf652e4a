"""Names of columns and texts that files of SPSS and Stata can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["cut", "portable"]

_LONGEST = {"spss": 64, "stata": 32}  # bytes there, characters here
_RESERVED = {
    "spss": {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"},
    "stata": {
        *("byte", "double", "float", "if", "in", "int", "long", "strl", "using", "with"),
        *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
    },
}


def portable(names: Iterable[str], system: str) -> dict[str, str]:
    """The name that each column has in a file of SPSS or Stata, ``{name: name there}``; no two are alike in any case.

    Examples
    --------
    >>> portable(["age", "drugs/cannabis", "drugs_cannabis", "2nd", "by"], "spss")
    {'age': 'age', 'drugs/cannabis': 'drugs_cannabis_2', 'drugs_cannabis': 'drugs_cannabis', '2nd': 'v2nd', 'by': 'by_'}
    """
    given = list(names)
    kept = [name for name in given if _bare(name, system) == name]
    found = {name: name for name in kept if [each.casefold() for each in kept].count(name.casefold()) == 1}
    taken = {name.casefold() for name in found}
    for name in given:
        if name not in found:
            found[name] = _free(_bare(name, system), system, taken)
            taken.add(found[name].casefold())
    return {name: found[name] for name in given}


def _bare(name: str, system: str) -> str:
    """A name of letters, digits and underscores that begins with a letter, and is no word of the program."""
    text = re.sub(r"\W+", "_", name)
    text = text if text[:1].isalpha() else f"v{text}"
    text = _fitted(text, system)
    return f"{text}_" if text.casefold() in _RESERVED[system] else text


def _free(name: str, system: str, taken: set[str]) -> str:
    """The name, or if it is taken, with a number behind it."""
    number, found = 1, name
    while found.casefold() in taken:
        number += 1
        found = _fitted(name, system, f"_{number}")
    return found


def _fitted(name: str, system: str, end: str = "") -> str:
    most = _LONGEST[system] - len(end)
    return (cut(name, most, ellipsis="") if system == "spss" else name[:most]) + end


def cut(text: str, most: int, *, ellipsis: str = "…") -> str:
    """A text of so many bytes at most.

    Examples
    --------
    >>> cut("Größe", 9), cut("Größe", 6)
    ('Größe', 'Gr…')
    """
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len(ellipsis.encode())].decode(errors="ignore") + ellipsis
