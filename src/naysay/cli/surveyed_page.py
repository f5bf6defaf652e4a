"""What people said to plain questions as text, JSON and CSV; and all estimates as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from naysay import estimate, report
from naysay.collect.results.answered import Answered, Plain
from naysay.estimate import Estimate, Options, printing
from naysay.show.text import csv_text

_MOST_COMPARED = 30


def plain_text(told: Mapping[Any, Plain], *, by: str | None) -> str:
    """The tables of a plain question, one below the other."""
    return "\n\n".join(
        (f"{_group(by, group)}\n" if by and group is not None else "") + str(each) for group, each in told.items()
    )


def plain_object(told: Mapping[Any, Plain], *, by: str | None) -> dict[str, Any]:
    """What was said to a plain question as a JSON object."""
    if by is None:
        return told[None].to_dict()
    return {"groups": [{"group": group} | each.to_dict() for group, each in told.items()]}


def plain_csv(told: Mapping[Any, Plain], *, by: str | None) -> str:
    """What was said to a plain question as CSV."""
    if by is None:
        return told[None].to_csv()
    head = ["group", *next(iter(told.values())).table()[0]]
    rows = [[group, *row] for group, each in told.items() for row in each.table()[1:]]
    return csv_text([["" if cell is None else cell for cell in row] for row in (head, *rows)])


def page_of(
    answered: Answered | None, found: Mapping[str, Mapping[Any, Any]], options: Options, *, by: str | None
) -> str:
    """All estimates, and what was said to plain questions, as one page."""
    sections = [section for told in found.values() for section in _sections(told, options, by)]
    first = next(iter(next(iter(found.values())).values()))
    title = answered.book.title if answered is not None else first.tally.question or next(iter(found))
    n = answered.cells.replies if answered is not None else sum(each.n for each in next(iter(found.values())).values())
    lead = [] if answered is None else [f"Survey {answered.book.survey}, hash {answered.book.hash}"]
    return report.html(title, sections, lead=lead, facts=[(f"{n:,}", "replies" if answered else "answers")], flow=True)


def _sections(told: Mapping[Any, Any], options: Options, by: str | None) -> Iterator[report.Section]:
    for group, each in told.items():
        beside = f"{_group(by, group)}" if by is not None and len(told) > 1 else ""
        if isinstance(each, Estimate):
            heading = " · ".join(filter(None, [each.tally.question or each.design.name, beside]))
            yield report.estimate_section(each, heading=heading, options=options)
        elif isinstance(each, estimate.Measured):
            heading = " · ".join(filter(None, [each.tally.question or each.design.name, beside]))
            yield report.Section(heading, each.sections(options)[1:])
        else:
            yield report.Section(" · ".join(filter(None, [each.question, beside])), each.content()[1:])
    fits = {group: each for group, each in told.items() if isinstance(each, Estimate)}
    if len(fits) > 1:
        apart = estimate.differences(fits)
        yield report.Section(
            "Differences", printing.differences_content(apart, options.confidence, most=_MOST_COMPARED)
        )


def _group(by: str | None, group: Any) -> str:
    return f"{by} = {'(missing)' if group is None else group}"
