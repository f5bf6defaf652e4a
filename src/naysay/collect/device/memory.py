"""What a device keeps so that it never draws twice for one answer: the bodies to send, and which of them arrived.

In a changed survey, a private question is recognized by its words and by what draws its answers.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naysay.collect.device.tokens import Draft
from naysay.design.form import unnamed
from naysay.errors import DataError
from naysay.questionnaire import Question, Questionnaire, canonical
from naysay.questionnaire.by_hand import letters
from naysay.questionnaire.kinds.base import Label
from naysay.questionnaire.rules.walk import Walk

_TABLES = (
    """CREATE TABLE IF NOT EXISTS kept (
    survey TEXT NOT NULL, respondent INTEGER NOT NULL, body BLOB, day TEXT, PRIMARY KEY (survey, respondent)
) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS asked (
    text TEXT PRIMARY KEY, survey TEXT NOT NULL, question TEXT NOT NULL, design TEXT NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS invited (
    survey TEXT NOT NULL, respondent INTEGER NOT NULL, code TEXT NOT NULL, drawn TEXT NOT NULL, blind TEXT NOT NULL,
    PRIMARY KEY (survey, respondent)
) WITHOUT ROWID""",
)
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "busy_timeout = 5000")


class Memory:
    """The bodies of one survey that are not acknowledged yet, and the days on which the others were stored.

    A survey is known by its name and by the words of its private questions, not by its hash. So no refusal, new hash or
    new name leads to a second draw.

    A body holds responses, never true answers. It is kept before it is sent, so that a retry or a restart sends the
    same bytes, and deleted when it is acknowledged. A change is made as a whole or not at all, even if the power fails.

    Parameters
    ----------
    path : Path or None
        The file, which is made where there is none. With None, the memory ends with the process.
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
            problem = f"cannot keep what was drawn in {str(self._path)!r}: {error}; name another file"
            raise DataError(problem) from None

    def admit(self, hash: str, marks: Sequence[Mark]) -> None:
        """Remember the private questions of the survey, which now has this hash.

        Raises
        ------
        DataError
            A question was asked under another name or with another design, so that its answers would be a second draw.
        """
        with self._readable():
            self._database.execute("UPDATE OR IGNORE kept SET survey = ? WHERE survey = ?", (self._survey, hash))
        for mark in marks:
            for survey, design in self._earlier_surveys(mark):
                problem = f"{mark.question} was asked in the survey {survey!r} already"
                way_out = "leave it out, or keep the draws of other people in another file"
                if survey != self._survey:
                    raise DataError(f"{problem}, and would be drawn a second time; {way_out}")
                if design != mark.design:
                    raise DataError(f"{problem}, and was drawn by another design; ask it as it was, {way_out}")
            rows = [(text, self._survey, mark.name, mark.design) for text in (*mark.texts, *mark.headings)]
            self._write("INSERT OR IGNORE INTO asked (text, survey, question, design) VALUES (?, ?, ?, ?)", rows)

    def _earlier_surveys(self, mark: Mark) -> list[tuple[str, str]]:
        """The surveys in which a private question was asked in the same words or by the same name; its designs.

        Questions of one survey may stand under one heading; under the same one in another survey they ask again.
        """
        texts, headings = (", ".join("?" * len(hashes)) for hashes in (mark.texts, mark.headings))
        query = (
            f"SELECT survey, design FROM asked WHERE text IN ({texts}) OR (survey = ? AND question = ?) "
            f"OR (survey != ? AND text IN ({headings}))"
        )
        values = (*mark.texts, self._survey, mark.name, self._survey, *mark.headings)
        with self._readable():
            return self._database.execute(query, values).fetchall()

    def bodies(self, respondents: Iterable[int]) -> dict[int, bytes]:
        """The bodies of these respondents that were drawn and are not acknowledged."""
        rows = self._rows("SELECT respondent, body FROM kept WHERE body IS NOT NULL", respondents)
        return {respondent: bytes(body) for respondent, body in rows}

    def days(self, respondents: Iterable[int]) -> dict[int, datetime.date]:
        """The days on which answers of these respondents were stored, for those whose answers were."""
        rows = self._rows("SELECT respondent, day FROM kept WHERE day IS NOT NULL", respondents)
        return {respondent: datetime.date.fromisoformat(day) for respondent, day in rows}

    def _rows(self, query: str, respondents: Iterable[int]) -> list[tuple[int, Any]]:
        among = set(respondents)
        query += " AND survey = ? AND respondent BETWEEN ? AND ?"
        with self._readable():
            ends = (self._survey, min(among, default=0), max(among, default=-1))
            return [row for row in self._database.execute(query, ends) if row[0] in among]

    def keep(self, bodies: Mapping[int, bytes]) -> None:
        """Keep bodies that are about to be sent, for respondents whose answers are not stored."""
        rows = [(self._survey, respondent, body) for respondent, body in bodies.items()]
        on_conflict = "ON CONFLICT DO UPDATE SET body = excluded.body WHERE day IS NULL"
        self._write(f"INSERT INTO kept (survey, respondent, body) VALUES (?, ?, ?) {on_conflict}", rows)

    def acknowledge(self, days: Mapping[int, datetime.date]) -> None:
        """Delete the bodies of respondents whose answers are stored, and keep the day."""
        rows = [(day.isoformat(), self._survey, respondent) for respondent, day in days.items()]
        self._write("UPDATE kept SET body = NULL, day = ? WHERE survey = ? AND respondent = ?", rows)
        self._write("DELETE FROM invited WHERE survey = ? AND respondent = ?", [row[1:] for row in rows])

    def drafts(self, codes: Mapping[int, str]) -> dict[int, Draft]:
        """What was drawn for the invitations of these respondents; what was not yet drawn is drawn and kept now."""
        with self._readable():
            query = "SELECT respondent, code, drawn, blind FROM invited WHERE survey = ?"
            rows = self._database.execute(query, (self._survey,)).fetchall()
        kept_drafts = {respondent: Draft(*draft) for respondent, *draft in rows if codes.get(respondent) == draft[0]}
        fresh = {respondent: Draft.of(code) for respondent, code in codes.items() if respondent not in kept_drafts}
        draft_rows = [
            (self._survey, respondent, fresh_draft.code, fresh_draft.token_number, fresh_draft.blind)
            for respondent, fresh_draft in fresh.items()
        ]
        self._write("INSERT OR REPLACE INTO invited VALUES (?, ?, ?, ?, ?)", draft_rows)
        return kept_drafts | fresh

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        with self._readable():
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                self._database.executemany(statement, rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


@dataclass(frozen=True)
class Mark:
    """The hashes by which a private question is remembered.

    Parameters
    ----------
    question : str
        Its name in this survey.
    texts : tuple of str
        Of its label, in each language in which it is asked.
    headings : tuple of str
        The same of its hint, and of the groups in which it stands.
    design : str
        The hash of what draws its answers: categories, integers, levels, bins.
    """

    question: str
    texts: tuple[str, ...]
    headings: tuple[str, ...]
    design: str

    @property
    def name(self) -> str:
        """The hash of its name."""
        return _digest(self.question)


def marks(questionnaire: Questionnaire) -> list[Mark]:
    """The marks of all private questions.

    Raises
    ------
    DataError
        Two of them ask in the same words, so that the answers would be two draws for one question.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [mark.question for mark in marks(sample())][:2]
    ['income', 'smoking']
    """
    private_marks: list[Mark] = []
    name_of_words: dict[str, str] = {}
    name_of_label: dict[str, str] = {}
    walk = Walk(questionnaire)
    for entry, question in walk.questions():
        if question.privacy is None:
            continue
        texts = _digests([question.label])
        groups = (label for group in walk.around(entry) for _, label in group.item.labels())
        headings = _digests([question.hint, *groups])
        twin = next((name_of_words[text] for text in texts if text in name_of_words), None)
        twin = twin or next((name_of_label[text] for text in headings if text in name_of_label), None)
        if twin is not None:
            problem = f"{question.name} asks in the same words as {twin}, and would be a second draw for one question"
            raise DataError(f"{problem}; a private question says in its own label what it asks")
        name_of_label |= dict.fromkeys(texts, question.name)
        name_of_words |= dict.fromkeys((*texts, *headings), question.name)
        private_marks.append(Mark(question.name, texts, headings, _design(question)))
    return private_marks


def _digests(labels: Iterable[Label]) -> tuple[str, ...]:
    """Of words that are read, in each language."""
    words = (letters(text) for label in labels for text in label.values())
    return tuple(_digest(text) for text in words if text)


def _design(question: Question) -> str:
    form = question.model_dump(mode="json", by_alias=True)
    private = form["private"]
    names = list(question.parts) or None
    bins = [[number_bin["name"], number_bin["below"]] for number_bin in form.get("bins") or ()]
    design = _bare(unnamed(private["design"]["design"]))
    return _digest(canonical([form["kind"], names, bins, private["by_hand"], design]))


def _bare(node: Any) -> Any:
    """A design without ``yes_no``: how its labels are written in a file changes no draw. See ``memory.js``."""
    if isinstance(node, dict):
        return {name: _bare(part) for name, part in node.items() if name != "yes_no"}
    return [_bare(part) for part in node] if isinstance(node, list) else node


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
