"""The paragraph on methods for a paper: how it was asked and estimated, the numbers, what they assume, whom to cite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from naysay import _checks, designs, privacy
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.fit import Intervals, decimals_of, number_text, reliable_errors, reliable_nuisance
from naysay.estimate.intervals import METHODS, nuisance_intervals
from naysay.estimate.result import Estimate, PrintOptions, assumptions, reservations
from naysay.show import text

COMPLIANCE = "people do what they are told"


def methods_text(
    fit: Estimate,
    *,
    confidence: float = 0.95,
    method: str | None = None,
    options: PrintOptions | None = None,
) -> str:
    """A paragraph on methods and results for a paper, and its references in BibTeX.

    It says all that the print says: the design with its source, the number of answers and how they were sampled,
    estimator, each share with its standard error and interval, other parameters of the design, tests, what the estimate
    assumes and what it would be otherwise, what one answer gives away, and each reservation.

    Parameters
    ----------
    fit : Estimate
    confidence : float
    method : str, optional
        Of the intervals; by default the one whose coverage holds for this design.
    options : PrintOptions, optional
        In place of both, with the share of people who may not comply.

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
    return methods_texts([("", fit)], options or PrintOptions(confidence, method))


def methods_texts(fits: Iterable[tuple[str, Estimate]], options: PrintOptions, compared: Iterable[str] = ()) -> str:
    """A paragraph for each estimate below its heading, what compares them, and every reference once."""
    paragraphs, cited = [], []
    for heading, fit in fits:
        paragraphs.append("\n".join(filter(None, [heading, _paragraph(fit, options)])))
        interval_method = METHODS[fit.intervals(options.confidence, method=options.method).method]
        cited += [*sources(fit.design), interval_method.source]
        cited += ["Bao, Luo & Zhang (2013)"] if fit.made_by.startswith("nstops") else []
    return "\n\n".join([*paragraphs, *compared, *references(cited)])


def _paragraph(fit: Estimate, options: PrintOptions) -> str:
    from importlib.metadata import version  # takes time that no other command needs

    if not isinstance(fit, Estimate):
        raise DataError(f"a methods text tells shares of categories; got {type(fit).__name__}")
    intervals = fit.intervals(options.confidence, method=options.method)
    interval_title = METHODS[intervals.method].title or f"{intervals.method} intervals"
    assumption_text = "; that ".join(assumed(fit.design, assumptions(fit)))
    lines = [
        _answers_sentence(fit),
        f"Answers are weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else "",
        "" if fit.tally.complex is None else fit.tally.complex.sentence,
        f"Shares were estimated by {fit.method}, with {interval_title}; standard errors: {fit.standard_error_kind}",
        "They describe these people themselves, and no larger population" if fit.target == "file" else "",
        *_share_sentences(fit, intervals),
        *_finding_sentences(fit, options),
        *privacy.lines(fit.design, fit.nuisance_shares),
        f"The estimate assumes that {assumption_text}" if assumption_text else "",
        *(f"Note: {line}" for line in reservations(fit, intervals)),
        f"All was computed with naysay {version('naysay')}",
    ]
    return " ".join(f"{line[0].upper()}{line[1:]}." for line in lines if line)


def _answers_sentence(fit: Estimate) -> str:
    """How many answered what under which design."""
    design_source = re.sub(r" \((\d{4})\)", r", \1", "; ".join(sources(fit.design)))
    source_text = f" ({design_source})" if design_source else ""
    question_text = f" “{_line(fit.tally.question)}”" if fit.tally.question else ""
    people_text = "person" if fit.n == 1 else "people"
    missing_text = f"; {fit.missing:,} more gave no answer" if fit.missing else ""
    design_text = f"{fit.design.name or fit.design.kind}{source_text}"
    return f"{fit.n:,} {people_text} answered{question_text} under the design {design_text}{missing_text}"


def _share_sentences(fit: Estimate, intervals: Intervals) -> Iterator[str]:
    """The shares, then the other parameters of the design, to the digits of the print, in percent."""
    places = max(0, decimals_of(fit) - 2)

    def share_text(name: object, value: float, error: float, low: float, high: float) -> str:
        value_text, error_text, low_text, high_text = (
            number_text(100 * number, places) for number in (value, error, low, high)
        )
        standard_error = "" if math.isnan(error) else f"s.e. {error_text}, "
        # as many digits as were asked for: 0.99999 is no 100 %
        interval_text = f"{100 * intervals.confidence:.10g} % interval {low_text} to {high_text}"
        return f"{value_text} % for “{_line(_checks.label(name))}” ({standard_error}{interval_text})"

    rows = zip(fit.categories, fit.proportions, reliable_errors(fit), *intervals.bounds.T, strict=True)
    yield f"The estimates are {_listed([share_text(*row) for row in rows])}"
    if fit.nuisance:
        ends, errors = (
            nuisance_intervals(fit, confidence=intervals.confidence, method=intervals.method),
            reliable_nuisance(fit),
        )
        nuisance_texts = [
            share_text(name, pair.value, errors[name], *ends[name]) for name, pair in fit.nuisance.items()
        ]
        yield f"The design also gives {_listed(nuisance_texts)}"


def _finding_sentences(fit: Estimate, options: PrintOptions) -> Iterator[str]:
    """What the estimate tells beyond its numbers: other estimates beside it, tests, bands and notes of the design."""
    places = decimals_of(fit)
    for finding in fit.findings:
        columns = [(name, [number_text(number, places) for number in numbers]) for name, numbers in finding.columns()]
        category_texts = [
            f"“{_line(_checks.label(category))}” {', '.join(f'{name} {numbers[place]}' for name, numbers in columns)}"
            for place, category in enumerate(fit.categories)
        ]
        if columns:
            yield f"Beside these stand, as shares: {'; '.join(category_texts)}"
        yield from filter(None, text(finding.content_below(options)).splitlines())
    yield from fit.design.notes if fit.design.structure.stacked else ()


def assumed(design: Answerable, assumption_texts: list[str]) -> list[str]:
    """What an estimate under a design assumes, that people comply among it unless the design measures that."""
    compliance = [] if design.offer.measures_compliance else [COMPLIANCE]
    return list(dict.fromkeys([*compliance, *assumption_texts]))


def sources(design: Answerable) -> list[str]:
    """Who proposed a design and what it is made of, as author and year."""
    from naysay.design.flowchart import parts

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


def _line(words: str) -> str:
    """A label on one line: an empty line would part the paragraph."""
    return " ".join(words.split())


def _listed(texts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
