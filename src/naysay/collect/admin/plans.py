"""The dates of a survey: its first and last day of answers, and the last day on which they are kept."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, insert, select, update

from naysay.collect.admin import drafts
from naysay.collect.admin.log import SCHEDULE, record
from naysay.collect.client import FOLDER, Client
from naysay.collect.storage import Store, today
from naysay.collect.storage.tables import plan as table
from naysay.errors import DataError

log = logging.getLogger("naysay.collect")

_EVERY = 60.0  # seconds between two looks at what is due


@dataclass(frozen=True)
class Plan:
    """What is going to happen to a survey; days in UTC.

    Parameters
    ----------
    opens : date or None
        The first day of answers; the survey is opened when it begins.
    closes : date or None
        The last day of answers; the survey is closed when it is over.
    keeps : date or None
        The last day on which the survey is kept; it is deleted with its replies when it is over.

    Raises
    ------
    DataError
        A day lies before one that must come first.

    Examples
    --------
    >>> day = datetime.date
    >>> Plan(closes=day(2027, 3, 31), keeps=day(2027, 3, 1))
    Traceback (most recent call last):
    naysay.errors.DataError: the last day of answers must not be after the last day on which they are kept; got ...
    """

    opens: datetime.date | None = None
    closes: datetime.date | None = None
    keeps: datetime.date | None = None

    def __post_init__(self) -> None:
        all_days = {
            "the first day of answers": self.opens,
            "the last day of answers": self.closes,
            "the last day on which they are kept": self.keeps,
        }
        planned_days = [(day_name, day) for day_name, day in all_days.items() if day is not None]
        for (first_name, first_day), (second_name, second_day) in itertools.pairwise(planned_days):
            if first_day > second_day:
                raise DataError(f"{first_name} must not be after {second_name}; got {first_day} and {second_day}")


def find(store: Store, name: str) -> Plan:
    """The dates of a survey or draft; those that are over are left out."""
    with store.reading() as connection:
        plan_query = select(table.c.opens, table.c.closes, table.c.keeps).filter_by(survey=name)
        plan_row = connection.execute(plan_query).first()
    return Plan(*plan_row) if plan_row else Plan()


def schedule(store: Store, name: str, plan: Plan) -> None:
    """Give a survey or draft these dates in the place of earlier ones.

    Raises
    ------
    DataError
        There is nothing of this name, or a day is over. Only the first day of answers may be today. Or the survey is to
        be opened, and stays closed.
    """
    check(store, name)
    if plan.opens is not None:
        store.check_reopens(name)
    earlier_plan = find(store, name)
    for field_name, day in vars(plan).items():
        if day is not None and day < today() and day != getattr(earlier_plan, field_name):
            raise DataError(f"a date must not be over (it is {today()} in UTC); got {day}")
    with store.engine.begin() as connection:
        connection.execute(delete(table).filter_by(survey=name))
        if plan != Plan():
            connection.execute(insert(table).values(survey=name, **vars(plan)))


def check(store: Store, name: str) -> None:
    """Raise unless there is a survey or draft of this name.

    Raises
    ------
    DataError
        There is neither.
    """
    if name not in store.standing() and name not in {draft.name for draft in drafts.listed(store)}:
        raise DataError(f"there is no survey or draft {name!r}; see naysay survey list")


def carry_out(store: Store, *, client: Client | Path = FOLDER, day: datetime.date | None = None) -> list[str]:
    """Open, close and delete what is due; returns what was done.

    What fails is tried again at the next call, except an opening that cannot succeed: it is struck out, and logged.

    Parameters
    ----------
    store : Store
    client : Client or Path
        For surveys that are opened.
    day : date, optional
        The day (UTC); by default today.
    """
    with store.reading() as connection:
        plan_query = select(table.c.survey, table.c.opens, table.c.closes, table.c.keeps)
        plan_rows = connection.execute(plan_query.order_by(table.c.survey)).all()
    sentences: list[str] = []
    for name, *dates in plan_rows:
        try:
            for sentence in _due(store, name, Plan(*dates), day or today(), client):
                sentences.append(sentence)  # noqa: PERF402  # one by one: what was done before a failure is told
        except DataError as error:  # a failure of one survey keeps no other waiting
            log.warning("what is due could not be done, and is tried again: %s", error)
    if not all(receipt.overwritten for receipt in store.receipts()):
        store.overwrite()
    return sentences


def _due(store: Store, name: str, plan: Plan, now: datetime.date, client: Client | Path) -> Iterator[str]:
    """Each act first, and then its date is struck out: after a crash in between, it is done again and harms nothing."""
    if plan.keeps is not None and plan.keeps < now:
        if name in store.standing():
            store.delete(name, by=SCHEDULE, reason="; kept as long as promised")
        else:
            drafts.discard(store, name)
            record(store, "discarded", who=SCHEDULE, about=name)
        yield f"deleted {name}"
        return
    if plan.opens is not None and plan.opens <= now:
        if plan.closes is None or plan.closes >= now:
            yield _open(store, name, client)
        _strike_out(store, name, opens=None)
    if plan.closes is not None and plan.closes < now:
        survey_to_close = {listed_survey.name: listed_survey for listed_survey in store.surveys()}.get(name)
        if survey_to_close and (
            survey_to_close.closed is None or survey_to_close.closed > plan.closes
        ):  # again, if closing was not finished
            store.close(name)
            record(store, "closed", who=SCHEDULE, about=name)
            yield f"closed {name}"
        _strike_out(store, name, closes=None)


def _open(store: Store, name: str, client: Client | Path) -> str:
    try:
        if name in store.standing():
            store.reopen(name)
        else:
            drafts.publish(store, name, client=client)
    except DataError as error:
        record(store, "could not open", who=SCHEDULE, about=name, detail=str(error).split("\n")[0])
        return f"could not open {name}"
    record(store, "opened", who=SCHEDULE, about=name)
    return f"opened {name}"


def _strike_out(store: Store, name: str, **dates: None) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(table).filter_by(survey=name).values(**dates))


@dataclass
class Clock:
    """Carries out what is due, about once a minute; call it as often as you like.

    Parameters
    ----------
    store : Store
    client : Client
    """

    store: Store
    client: Client
    clock: Callable[[], float] = time.monotonic
    looked: float = dataclasses.field(default=float("-inf"), init=False)

    def __call__(self) -> None:
        """Look, if a minute is over."""
        if self.clock() - self.looked < _EVERY:
            return
        self.looked = self.clock()
        for done_sentence in carry_out(self.store, client=self.client):
            log.info("as scheduled: %s", done_sentence)
