"""From the database of a survey to tallies: the design of each private question is the one that was published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.tally import Tally

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect.storage import Replies


def replies(db: str | Path, survey: str) -> Replies:
    """All that was sent to a survey, with the designs that its questions were published with.

    Parameters
    ----------
    db : str or Path
        The database: the path of an SQLite file, or an address such as ``postgresql://user@host/database``.
    survey : str
        The survey's name.

    Raises
    ------
    DataError
        No such database, no such survey in it, or one that another version of naysay made. Nothing is changed.

    Examples
    --------
    >>> replies("nowhere.db", "sample")
    Traceback (most recent call last):
        ...
    naysay.errors.DataError: there is no database 'nowhere.db'; a server makes one: naysay serve
    """
    from naysay.collect.storage import Store

    store = Store(db, mode="read")
    try:
        return store.replies(survey)
    finally:
        store.dispose()


@overload
def tally(replies: Replies, question: str, *, by: None = None) -> Tally: ...
@overload
def tally(replies: Replies, question: str, *, by: str) -> dict[str | None, Tally]: ...
@overload
def tally(replies: Replies, question: str, *, by: str | None) -> Tally | dict[str | None, Tally]: ...
def tally(replies: Replies, question: str, *, by: str | None = None) -> Tally | dict[str | None, Tally]:
    """The tally of what was sent to one private question, for the estimators.

    Its design is ``replies.private[question]``.

    Parameters
    ----------
    replies : Replies
    question : str
        A private question; of a private select multiple one choice, such as ``drugs/cannabis``.
    by : str, optional
        A plain question (of a grid one row, such as ``views/taxes``); the result is ``{group: Tally}``, groups as text.

    Raises
    ------
    DataError
        The question is unknown or not private, `by` is private, or the survey has no replies yet.

    Examples
    --------
    >>> import datetime
    >>> from naysay import estimate
    >>> from naysay.collect import Client, Published
    >>> from naysay.collect.storage import Replies
    >>> from naysay.collect.questionnaire import canonical, sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> empty = dict.fromkeys(question.name for question in sample().questions)
    >>> said = [{"level": None, "response": each} for each in ["yes"] * 40 + ["no"] * 60]
    >>> rows = [(datetime.date(2026, 11, 20), canonical(empty | {"smoking": each}).decode()) for each in said]
    >>> sent = Replies(published, rows)
    >>> float(estimate.moments(sent.private["smoking"], tally(sent, "smoking")).proportions[0].round(3))
    0.25
    """
    _check_question(replies, question)
    frame = replies.frame
    if not frame.height:
        raise DataError(f"nobody has answered {replies.questionnaire.name!r} yet; estimate when answers have come")
    level = replies.level_of(question)
    if by is None:
        whole_tally = replies.private[question].tally(frame, question, level=level)
        return replace(whole_tally, question=question)
    _check_groups(replies, by)
    text_frame = frame.with_columns(pl.col(by).cast(pl.String))
    group_tallies = replies.private[question].tally(text_frame, question, level=level, by=by)
    return {group: replace(group_tally, question=question) for group, group_tally in group_tallies.items()}


def _check_question(replies: Replies, question: str) -> None:
    """Raise unless it is a private column; say what to do instead."""
    if question in replies.private:
        return
    questions_by_name = {other_question.name: other_question for other_question in replies.questionnaire.questions}
    named_question = questions_by_name.get(question)
    if named_question is not None and named_question.privacy is not None and named_question.parts:
        part_columns = [f"{question}/{part}" for part in named_question.parts]
        raise DataError(
            f"{question!r} has a yes or no for each choice; name one of {_checks.listing_text(part_columns)}"
        )
    if question in replies.frame.columns or question in questions_by_name:
        raise DataError(
            f"question {question!r} is plain: what was sent is what people said, so there is nothing to estimate; "
            "count it (replies.frame in Python), or make groups of it with by"
        )
    hint_text = _checks.nearest(question, replies.private) if replies.private else "it has no private question"
    raise DataError(f"survey {replies.questionnaire.name!r} has no question {question!r}; {hint_text}", column=question)


def _check_groups(replies: Replies, by: str) -> None:
    columns = {
        column_name for column_name in replies.frame.columns if not replies.frame.schema[column_name].is_nested()
    }
    private = {*replies.private, *filter(None, map(replies.level_of, replies.private))}
    if by in private:
        raise DataError(f"groups come from a plain question; {by!r} is private, so groups are not known")
    if by not in columns:
        raise DataError(
            f"there is no plain question {by!r} with one answer a person; {_checks.nearest(by, columns - private)}",
            column=by,
        )
