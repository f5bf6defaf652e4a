"""What people said to plain questions as text, JSON and CSV; and all estimates as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from naysay import estimate, report
from naysay.collect.results.answered import Answered, Plain
from naysay.estimate import Estimate, Options, printing
from naysay.show.text import csv_text

_MOST_COMPARED = 30


def plain_text(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> str:
    """The tables of a plain question, one below the other."""
    return "\n\n".join(
        (f"{_group(by, group)}\n" if by and group is not None else "") + str(plain)
        for group, plain in plain_of_group.items()
    )


def plain_object(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> dict[str, Any]:
    """What was said to a plain question as a JSON object."""
    if by is None:
        return plain_of_group[None].to_dict()
    return {"groups": [{"group": group} | plain.to_dict() for group, plain in plain_of_group.items()]}


def plain_csv(plain_of_group: Mapping[Any, Plain], *, by: str | None) -> str:
    """What was said to a plain question as CSV."""
    if by is None:
        return plain_of_group[None].to_csv()
    head = ["group", *next(iter(plain_of_group.values())).table()[0]]
    rows = [[group, *row] for group, plain in plain_of_group.items() for row in plain.table()[1:]]
    return csv_text([["" if cell is None else cell for cell in row] for row in (head, *rows)])


def page_of(
    answered: Answered | None, results: Mapping[str, Mapping[Any, Any]], options: Options, *, by: str | None
) -> str:
    """All estimates, and what was said to plain questions, as one page."""
    sections = [
        section for question_results in results.values() for section in _sections(question_results, options, by)
    ]
    first = next(iter(next(iter(results.values())).values()))
    title = answered.book.title if answered is not None else first.tally.question or next(iter(results))
    n = (
        answered.cells.replies
        if answered is not None
        else sum(result.n for result in next(iter(results.values())).values())
    )
    lead = [] if answered is None else [f"Survey {answered.book.survey}, hash {answered.book.hash}"]
    return report.html(title, sections, lead=lead, facts=[(f"{n:,}", "replies" if answered else "answers")], flow=True)


def _sections(results_of_group: Mapping[Any, Any], options: Options, by: str | None) -> Iterator[report.Section]:
    for group, result in results_of_group.items():
        beside = f"{_group(by, group)}" if by is not None and len(results_of_group) > 1 else ""
        if isinstance(result, Estimate):
            heading = " · ".join(filter(None, [result.tally.question or result.design.name, beside]))
            yield report.estimate_section(result, heading=heading, options=options)
        elif isinstance(result, estimate.Measured):
            heading = " · ".join(filter(None, [result.tally.question or result.design.name, beside]))
            yield report.Section(heading, result.sections(options)[1:])
        else:
            yield report.Section(" · ".join(filter(None, [result.question, beside])), result.content()[1:])
    fits = {group: result for group, result in results_of_group.items() if isinstance(result, Estimate)}
    if len(fits) > 1:
        differences = estimate.differences(fits)
        yield report.Section(
            "Differences", printing.differences_content(differences, options.confidence, most=_MOST_COMPARED)
        )


def _group(by: str | None, group: Any) -> str:
    return f"{by} = {'(missing)' if group is None else group}"
