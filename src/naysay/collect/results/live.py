"""The researcher's own view of a survey: everything, at once."""

from __future__ import annotations

from typing import Any

from naysay.collect.results.answered import Answered
from naysay.collect.results.counting import Counting, answered_of, counted, groupable
from naysay.collect.results.fragments import days_section, fragment
from naysay.collect.storage import Store
from naysay.estimate import Options

__all__ = ["aggregates", "of_store", "page"]


def page(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> str:
    """See `naysay.collect.results.page`."""
    answered = of_store(store, name, by=by, language=language)
    repeated = store.published(name).key is None
    counts = answered.days(answered)
    replies = answered.cells.replies
    facts = [
        (f"{replies:,}", "reply" if replies == 1 else "replies"),
        (f"{len(counts):,}", "day with replies" if len(counts) == 1 else "days with replies"),
    ]
    choices = [(column, column) for column in groupable(answered.book)]
    when = days_section(counts) if counts else None
    return fragment(answered, by=by, least=answered.CELL, facts=facts, choices=choices, when=when, repeated=repeated)


def aggregates(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> dict[str, Any]:
    """See `naysay.collect.results.aggregates`."""
    answered, options = of_store(store, name, by=by, language=language, names=language is None), Options()
    questions = []
    for result in answered.gathered(answered, by=by, options=options):
        told = answered.plain_of(result, options)
        chosen = answered.levels(answered, result.entry.column)
        if chosen is not None:
            told["levels"] = [
                {"day": day.isoformat(), "level": level, "answers": count} for day, level, count in chosen.rows()
            ]
        questions.append(told)
    return {
        "survey": name,
        "hash": answered.book.hash,
        "replies": answered.cells.replies,
        "by": by,
        "days": [{"day": day.isoformat(), "replies": count} for day, count in answered.days(answered).items()],
        "questions": questions,
    }


def of_store(
    store: Store, name: str, *, by: str | None = None, language: str | None = None, names: bool = False
) -> Answered:
    """What was answered to a survey so far."""
    published = store.published(name)
    counts = counted(store, published, beside=[] if by is None else [by])
    return answered_of(Counting(published), counts, language=language, names=names)
