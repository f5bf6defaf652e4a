"""Content as LaTeX, for articles. Tables need the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naysay.show.content import Chart, Content, Facts, Heading, Note, Points, Sentence, Table

_ESCAPES = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "“": "``", "”": "''", "–": "--", "−": "$-$", "²": "$^2$"},
    **{"χ": r"$\chi$", "ε": r"$\varepsilon$", "λ": r"$\lambda$", "π": r"$\pi$", "∞": r"$\infty$", "≤": r"$\le$"},
    **{"≥": r"$\ge$", "×": r"$\times$", "…": r"\dots{}"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))
_NUMBER = re.compile(r"-(?=[\d.])")


def latex(content: Iterable[Content]) -> str:
    r"""The content as LaTeX. Text of users is escaped; charts are left out.

    Parameters
    ----------
    content : iterable of Content

    Examples
    --------
    >>> from naysay.show import Column, Table
    >>> print(latex([Table((Column("name", words=True), Column("share")), (("a_1", "-0.25"),), caption="50 %")]))
    \begin{table}
    \caption{50 \%}
    \begin{tabular}{lr}
    \toprule
    name & share \\
    \midrule
    a\_1 & $-$0.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    return "\n".join(line for part in content for line in _lines(part))


def _lines(part: Content) -> list[str]:
    match part:
        case Table():
            return _table(part)
        case Heading():
            return [f"\\subsection*{{{_escape_text(part.text)}}}"]
        case Sentence():
            return [_escape_text(line) + r"\\" for line in part.text.splitlines()]
        case Note():
            return [rf"\emph{{Note:}} {_escape_text(part.text)}\\"]
        case Points():
            return [r"\begin{itemize}", *(rf"\item {_escape_text(item)}" for item in part.items), r"\end{itemize}"]
        case Facts():
            return [rf"\emph{{{_escape_text(term)}:}} {_escape_text(value)}\\" for term, value in part.pairs]
        case Chart():
            return []
        case _:
            raise TypeError(f"no content is a {type(part).__name__}")


def _table(part: Table) -> list[str]:
    """A floating table: words are aligned left, numbers right."""
    rows = [" & ".join(_cell(str(cell)) for cell in row) + r" \\" for row in part.rows]
    if part.apart:
        rows.insert(len(rows) - part.apart, r"\midrule")
    return [
        r"\begin{table}",
        *([rf"\caption{{{_escape_text(part.caption)}}}"] if part.caption else []),
        rf"\begin{{tabular}}{{{''.join('l' if column.words else 'r' for column in part.columns)}}}",
        r"\toprule",
        " & ".join(_escape_text(column.name) for column in part.columns) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _cell(text: str) -> str:
    """A cell. A negative number gets a minus sign, not a hyphen."""
    return _NUMBER.sub("$-$", text, count=1) if re.fullmatch(r"-?[\d.,]+(e[+-]?\d+)?", text) else _escape_text(text)


def _escape_text(text: str) -> str:
    return _SPECIAL.sub(lambda special_letter: _ESCAPES[special_letter[0]], text)
