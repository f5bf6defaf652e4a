"""The paragraph on methods for a paper: how it was asked and estimated, the numbers, what they assume, whom to cite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata

from naysay import _checks, designs, privacy
from naysay.design import Answerable
from naysay.design.flowchart import parts
from naysay.errors import DataError
from naysay.estimate.fit import decimals
from naysay.estimate.result import Estimate, assumptions, reservations

COMPLIANCE = "people do what they are told"

_INTERVALS = {
    "score": ("score intervals", "Wilson (1927)"),
    "agresti_coull": ("intervals after Agresti and Coull", "Agresti & Coull (1998)"),
    "wald": ("Wald intervals", ""),
    "profile": ("profile likelihood intervals", ""),
    "bootstrap": ("bootstrap intervals", ""),
}
"""How the methods of intervals are called in a paper, and their source."""


def methods_text(fit: Estimate, *, confidence: float = 0.95, method: str | None = None) -> str:
    """A paragraph on methods and results for a paper, and its references in BibTeX.

    It has the design with its source, the number of answers, estimator, standard errors and intervals, each share with
    its interval, what the estimate assumes, what one answer gives away, and each reservation that the print has.

    Parameters
    ----------
    fit : Estimate
    confidence : float
    method : str, optional
        Of the intervals; by default the one whose coverage holds for this design.

    Raises
    ------
    DataError
        The result is no estimate of shares.

    Examples
    --------
    >>> from naysay import estimate
    >>> coins = designs.two_coins()
    >>> print(methods_text(estimate.moments(coins, coins.tally(count=[65, 135]))).partition(" Shares were")[0])
    200 people answered under the design two_coins() (Greenberg, Abul-Ela, Simmons & Horvitz, 1969, with coins).
    """
    if not isinstance(fit, Estimate):
        raise DataError(f"a methods text tells shares of categories; got {type(fit).__name__}")
    intervals = fit.intervals(confidence, method=method)
    interval_name, interval_source = _INTERVALS[intervals.method]
    source_texts = sources(fit.design)
    design_source = re.sub(r" \((\d{4})\)", r", \1", "; ".join(source_texts))
    design_text = f"{fit.design.name or fit.design.kind}{f' ({design_source})' if design_source else ''}"
    missing_text = f"; {fit.missing:,} more gave no answer" if fit.missing else ""
    weighted_text = " Answers are weighted." if fit.tally.weighted else ""
    places = max(0, (decimals(fit.standard_errors) or 3) - 2)
    share_texts = [
        f"{100 * share:.{places}f} % for “{_checks.label(category)}” "
        f"({100 * confidence:.4g} % interval {100 * low:.{places}f} to {100 * high:.{places}f})"
        for category, share, (low, high) in zip(fit.categories, fit.proportions, intervals.bounds, strict=True)
    ]
    sentences = [
        f"{fit.n:,} people answered under the design {design_text}{missing_text}.{weighted_text}",
        f"Shares were estimated by {fit.method}, with standard errors from {fit.standard_error_kind}, and "
        f"{interval_name}.",
        f"The estimates are {_listed(share_texts)}.",
        *(f"{line[0].upper()}{line[1:]}." for line in privacy.lines(fit.design)),
        *(f"The estimate assumes that {text}." for text in [_listed(assumed(fit.design, assumptions(fit)))] if text),
        *(f"Note: {line}." for line in reservations(fit, intervals)),
        f"All was computed with naysay {metadata.version('naysay')}.",
    ]
    cited = [*source_texts, interval_source, *(["Bao, Luo & Zhang (2013)"] if fit.made_by.startswith("nstops") else [])]
    return "\n\n".join([" ".join(sentences), *references(cited)])


def assumed(design: Answerable, assumption_texts: list[str]) -> list[str]:
    """What an estimate under a design assumes, that people comply among it unless the design measures that."""
    compliance = [] if design.offer.measures_compliance else [COMPLIANCE]
    return list(dict.fromkeys([*compliance, *assumption_texts]))


def sources(design: Answerable) -> list[str]:
    """Who proposed a design and what it is made of, as author and year."""

    def texts() -> Iterator[str]:
        for part in parts(design):
            yield from designs.SOURCES.get(part.name.partition("(")[0], "").split("; ")
            yield from (part.protocol.source if part.protocol is not None else "").split("; ")

    return list(dict.fromkeys(filter(None, texts())))


def references(source_texts: list[str]) -> list[str]:
    """The BibTeX entries of sources such as ``Warner (1965)``, in the order of the file; others have none."""
    from importlib import resources  # takes time that no other command needs

    file_text = resources.files("naysay.data").joinpath("references.bib").read_text(encoding="utf-8")
    return [
        re.sub(r"^%.*\n", "", entry, flags=re.MULTILINE).strip()
        for entry in re.split(r"\n\n(?=%)", file_text)
        if any(name in source for name in re.findall(r"^% (.*)$", entry, re.MULTILINE) for source in source_texts)
    ]


def _listed(texts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
