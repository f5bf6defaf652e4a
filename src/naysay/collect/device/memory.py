"""What a device keeps so that it never draws twice for one answer: confirmed bodies, and which of them arrived."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from naysay.collect.device.marks import Mark
from naysay.errors import DataError

__all__ = ["Memory"]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS kept (
    survey TEXT NOT NULL, respondent INTEGER NOT NULL, body BLOB, day TEXT, PRIMARY KEY (survey, respondent)
) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS asked (
    text TEXT PRIMARY KEY, survey TEXT NOT NULL, question TEXT NOT NULL, design TEXT NOT NULL
) WITHOUT ROWID""",
)
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "busy_timeout = 5000")


class Memory:
    """The bodies of one survey that are not acknowledged yet, and the days on which the others were stored.

    A survey is known by its name and by the words of its private questions, and not by its hash: no refusal, new hash
    or new name buys a second draw.

    A body holds responses, never true answers. It is kept before it is sent, so that a retry or a restart sends the
    same bytes, and deleted when it is acknowledged. Changes are whole or not at all, also when the power fails.

    Parameters
    ----------
    path : Path or None
        The file, made where there is none; None forgets with the process.
    survey : str
        The name of the survey; one file may hold several surveys.

    Raises
    ------
    DataError
        A file that cannot be written or is of another kind.

    Examples
    --------
    >>> memory = Memory(None, survey="sample")
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
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # readable for the owner only
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._database.execute(f"PRAGMA {pragma}")
            for table in _TABLES:
                self._database.execute(table)

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            told = f"cannot keep what was drawn in {str(self._path)!r}: {error}; name another file"
            raise DataError(told) from None

    def admit(self, hash: str, marks: Sequence[Mark]) -> None:
        """Remember the private questions of the survey, which now has this hash.

        Raises
        ------
        DataError
            A question that was asked under another name or with another design: the answers would be a second draw.
        """
        with self._readable():
            self._database.execute("UPDATE OR IGNORE kept SET survey = ? WHERE survey = ?", (self._survey, hash))
        for mark in marks:
            self._know(mark)
            rows = [(text, self._survey, mark.name, mark.design) for text in mark.texts]
            self._write("INSERT OR IGNORE INTO asked (text, survey, question, design) VALUES (?, ?, ?, ?)", rows)

    def _know(self, mark: Mark) -> None:
        holes = ", ".join("?" * len(mark.texts))
        asked = f"SELECT survey, design FROM asked WHERE text IN ({holes}) OR (survey = ? AND question = ?)"
        with self._readable():
            known = self._database.execute(asked, (*mark.texts, self._survey, mark.name)).fetchall()
        way_out = "leave it out, or keep the draws of other people in another file"
        for survey, design in known:
            told = f"{mark.question} was asked in the survey {survey!r} already"
            if survey != self._survey:
                raise DataError(f"{told}, and would be drawn a second time; {way_out}")
            if design != mark.design:
                raise DataError(f"{told}, and was drawn by another design; ask it as it was, {way_out}")

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
        """Keep bodies that are about to be sent, for respondents whose answers are not stored."""
        rows = [(self._survey, respondent, body) for respondent, body in bodies.items()]
        again = "ON CONFLICT DO UPDATE SET body = excluded.body WHERE day IS NULL"
        self._write(f"INSERT INTO kept (survey, respondent, body) VALUES (?, ?, ?) {again}", rows)

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
