"""From the database of a survey to tallies: the design of each private question is the one that was published.

Anyone who has an open link can answer any number of times: how far dishonest answers move an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

import polars as pl

from naysay import _checks
from naysay.collect.questionnaire import Questionnaire
from naysay.collect.questionnaire.arms import measurements
from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable, StatisticalWarning
from naysay.estimate import Estimate, leverage
from naysay.tally import Tally

if TYPE_CHECKING:
    from naysay.collect.storage import Replies

OPEN_LINK = "anyone who has the link can answer any number of times"
BY_INVITATION = "each answer comes with an invitation of its own"


def cautioned(fit: Estimate, *, invites: bool = False) -> Estimate:
    """An estimate from answers to an open link, with that among its warnings; from one that invites, as it is.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.warner(p=0.7)
    >>> print(cautioned(estimate.moments(survey, survey.tally(count=[480, 520]))).warnings[-1])
    anyone who has the link can answer any number of times: of every 100 answers, a single one that is repeated or ...
    """
    if invites:
        return fit
    points = _points([fit.design])
    caution_text = (
        "of every 100 answers, a single one that is repeated or dishonest moves a share by up to "
        f"{_points_text(points)}"
        if points
        else "repeated or dishonest answers move the shares"  # by how much depends on the sizes of the arms
    )
    return replace(fit, warnings=(*fit.warnings, StatisticalWarning(f"{OPEN_LINK}: {caution_text}")))


def moved_points_text(questionnaire: Questionnaire) -> str:
    """By how much one percent of repeated or dishonest answers moves the share that moves most; empty if all is plain.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> moved_points_text(sample())
    'up to ... percentage points (by moments)'
    """
    most_points = most_moved_points(questionnaire)
    return f"up to {_points_text(most_points)}" if most_points is not None else ""


def most_moved_points(questionnaire: Questionnaire) -> float | None:
    """By how many percentage points one percent of dishonest answers moves a share at most; None if all is plain.

    None, too, where arms are read together: how far their shares move depends on the sizes of the arms.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> most_moved_points(sample()) > 1
    True
    """
    private_designs = [question.privacy.offer for question in questionnaire.questions if question.privacy is not None]
    measured_designs = [asked.design for asked in measurements(questionnaire).values()]
    if not private_designs or not all(_points([design]) for design in measured_designs):
        return None
    return _points([*private_designs, *measured_designs])


def _points(designs: Iterable[Answerable]) -> float:
    most_leverage = 0.0
    for design in designs:
        try:
            most_leverage = max(most_leverage, leverage(design))
        except NotEstimable:  # nothing is estimated from such a design, so nothing can be moved
            continue
    return 100 * most_leverage


def _points_text(points: float) -> str:
    return f"{points:.3g} percentage points (by moments)"  # likelihood may move more, see `leverage`


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
