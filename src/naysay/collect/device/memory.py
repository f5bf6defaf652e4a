"""What a device keeps so that it never draws twice for one answer: confirmed bodies, and which of them arrived."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from naysay.errors import DataError

__all__ = ["Memory"]

_TABLE = """
CREATE TABLE IF NOT EXISTS kept (
    survey TEXT NOT NULL, respondent INTEGER NOT NULL, body BLOB, day TEXT, PRIMARY KEY (survey, respondent)
) WITHOUT ROWID
"""
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "busy_timeout = 5000")


class Memory:
    """The bodies of one survey that are not acknowledged yet, and the days on which the others were stored.

    A body holds responses, never true answers. It is kept before it is sent, so that a retry or a restart sends the
    same bytes, and deleted when it is acknowledged. Changes are whole or not at all, also when the power fails.

    Parameters
    ----------
    path : Path or None
        The file, made where there is none; None forgets with the process.
    survey : str
        The hash of the survey; one file may hold several surveys.

    Raises
    ------
    DataError
        A file that cannot be written or is of another kind.

    Examples
    --------
    >>> memory = Memory(None, survey="9f")
    >>> memory.keep({0: b"first", 1: b"second"})
    >>> memory.acknowledge({0: datetime.date(2026, 11, 20)})
    >>> memory.bodies([0, 1, 2]), memory.days([0, 1, 2])
    ({1: b'second'}, {0: datetime.date(2026, 11, 20)})
    """

    def __init__(self, path: Path | None, *, survey: str) -> None:
        self._survey = survey
        self._path = path
        with self._readable():
            if path is not None:
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # nobody else's to read
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute(_TABLE)

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            told = f"cannot keep what was drawn in {str(self._path)!r}: {error}; name another file"
            raise DataError(told) from None

    def bodies(self, respondents: Iterable[int]) -> dict[int, bytes]:
        """The bodies of these respondents that were drawn and are not acknowledged."""
        rows = self._rows("SELECT respondent, body FROM kept WHERE body IS NOT NULL", respondents)
        return {respondent: bytes(body) for respondent, body in rows}

    def days(self, respondents: Iterable[int]) -> dict[int, datetime.date]:
        """When the answers of these respondents were stored, for those whose were."""
        rows = self._rows("SELECT respondent, day FROM kept WHERE day IS NOT NULL", respondents)
        return {respondent: datetime.date.fromisoformat(day) for respondent, day in rows}

    def _rows(self, asked: str, respondents: Iterable[int]) -> list[tuple[int, Any]]:
        among = list(respondents)
        low, high = min(among, default=0), max(among, default=-1)
        wanted = set(among)
        with self._readable():
            found = self._database.execute(
                f"{asked} AND survey = ? AND respondent BETWEEN ? AND ?", (self._survey, low, high)
            ).fetchall()
        return [row for row in found if row[0] in wanted]

    def keep(self, bodies: Mapping[int, bytes]) -> None:
        """Keep bodies that are about to be sent, for respondents who have none."""
        rows = [(self._survey, respondent, body) for respondent, body in bodies.items()]
        self._write("INSERT INTO kept (survey, respondent, body) VALUES (?, ?, ?)", rows)

    def acknowledge(self, days: Mapping[int, datetime.date]) -> None:
        """Delete the bodies of respondents whose answers are stored, and keep the day."""
        rows = [(day.isoformat(), self._survey, respondent) for respondent, day in days.items()]
        self._write("UPDATE kept SET body = NULL, day = ? WHERE survey = ? AND respondent = ?", rows)

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        with self._readable():
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                self._database.executemany(statement, rows)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
