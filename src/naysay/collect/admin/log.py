"""The log of what was done to surveys. It says nothing of respondents."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass

from sqlalchemy import insert, select

from naysay.collect.storage import Store
from naysay.collect.storage.tables import log

PAGE = "page"
COMMAND_LINE = "command line"
SCHEDULE = "schedule"
"""Who does things."""


@dataclass(frozen=True)
class Entry:
    """What was done, by whom and when, to which survey."""

    at: datetime.datetime
    who: str
    what: str
    about: str | None
    detail: str | None


def record(store: Store, what: str, *, who: str, about: str | None = None, detail: str | None = None) -> None:
    """Add an entry to the log.

    Parameters
    ----------
    what : str
        Such as "opened"; at most 40 characters.
    who : str
        `PAGE`, `COMMAND_LINE`, `SCHEDULE`, or the name of a token.
    about : str, optional
        A survey.
    detail : str, optional
        Never an address, and nothing that a respondent sent.

    Examples
    --------
    >>> store = Store("sqlite://")
    >>> record(store, "opened", who=COMMAND_LINE, about="sample")
    >>> [(entry.who, entry.what, entry.about) for entry in entries(store)]
    [('command line', 'opened', 'sample')]
    >>> store.dispose()
    """
    entry_row = {"at": int(time.time()), "who": who, "what": what, "about": about, "detail": detail}
    with store.engine.begin() as connection:
        connection.execute(insert(log).values(**entry_row))


def entries(store: Store, *, most: int = 1_000) -> tuple[Entry, ...]:
    """The latest entries of the log, the last one first; times in UTC."""
    log_columns = log.c
    entry_query = select(log_columns.at, log_columns.who, log_columns.what, log_columns.about, log_columns.detail)
    with store.reading() as connection:
        entry_rows = connection.execute(entry_query.order_by(log_columns.id.desc()).limit(most)).all()
    return tuple(
        Entry(datetime.datetime.fromtimestamp(entry_time, datetime.UTC), *entry_fields)
        for entry_time, *entry_fields in entry_rows
    )
