"""What a device keeps so that it never draws twice for one answer: the bodies to send, and which of them arrived.

In a changed survey, a private question is recognized by its words and by what draws its answers.

From an invitation to a token, on the device: a number is drawn and blinded, and the server's proof is checked.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from naysay.collect.questionnaire import Question, Questionnaire, canonical
from naysay.collect.questionnaire.arms import never_together
from naysay.collect.questionnaire.privacy import letters
from naysay.collect.questionnaire.questionnaire import Walk
from naysay.collect.questionnaire.questions import Label
from naysay.collect.survey.published import Published
from naysay.design.base import unnamed
from naysay.errors import DataError

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
            for table_statement in _TABLES:
                self._database.execute(table_statement)

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            problem_text = f"cannot keep what was drawn in {str(self._path)!r}: {error}; name another file"
            raise DataError(problem_text) from None

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
            # Questions of one survey may stand under one heading; under the same one in another survey they ask again.
            text_slots, heading_slots = (", ".join("?" * len(hashes)) for hashes in (mark.texts, mark.headings))
            query = (
                f"SELECT survey, design FROM asked WHERE text IN ({text_slots}) OR (survey = ? AND question = ?) "
                f"OR (survey != ? AND text IN ({heading_slots}))"
            )
            query_parameters = (*mark.texts, self._survey, mark.name, self._survey, *mark.headings)
            with self._readable():
                earlier_rows = self._database.execute(query, query_parameters).fetchall()
            for earlier_survey, earlier_design in earlier_rows:
                problem_text = f"{mark.question} was asked in the survey {earlier_survey!r} already"
                way_out = "leave it out, or keep the draws of other people in another file"
                if earlier_survey != self._survey:
                    raise DataError(f"{problem_text}, and would be drawn a second time; {way_out}")
                if earlier_design != mark.design:
                    raise DataError(f"{problem_text}, and was drawn by another design; ask it as it was, {way_out}")
            asked_rows = [
                (text_hash, self._survey, mark.name, mark.design) for text_hash in (*mark.texts, *mark.headings)
            ]
            self._write("INSERT OR IGNORE INTO asked (text, survey, question, design) VALUES (?, ?, ?, ?)", asked_rows)

    def bodies(self, respondents: Iterable[int]) -> dict[int, bytes]:
        """The bodies of these respondents that were drawn and are not acknowledged."""
        rows = self._rows("SELECT respondent, body FROM kept WHERE body IS NOT NULL", respondents)
        return {respondent: bytes(body) for respondent, body in rows}

    def days(self, respondents: Iterable[int]) -> dict[int, datetime.date]:
        """The days on which answers of these respondents were stored, for those whose answers were."""
        rows = self._rows("SELECT respondent, day FROM kept WHERE day IS NOT NULL", respondents)
        return {respondent: datetime.date.fromisoformat(day_text) for respondent, day_text in rows}

    def _rows(self, query: str, respondents: Iterable[int]) -> list[tuple[int, Any]]:
        respondent_set = set(respondents)
        query += " AND survey = ? AND respondent BETWEEN ? AND ?"
        with self._readable():
            query_parameters = (self._survey, min(respondent_set, default=0), max(respondent_set, default=-1))
            return [row for row in self._database.execute(query, query_parameters) if row[0] in respondent_set]

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
            kept_rows = self._database.execute(query, (self._survey,)).fetchall()
        kept_drafts = {
            respondent: Draft(*draft_fields)
            for respondent, *draft_fields in kept_rows
            if codes.get(respondent) == draft_fields[0]
        }
        fresh_drafts = {
            respondent: Draft.of(code) for respondent, code in codes.items() if respondent not in kept_drafts
        }
        draft_rows = [
            (self._survey, respondent, fresh_draft.code, fresh_draft.token_number, fresh_draft.blind)
            for respondent, fresh_draft in fresh_drafts.items()
        ]
        self._write("INSERT OR REPLACE INTO invited VALUES (?, ?, ?, ?, ?)", draft_rows)
        return kept_drafts | fresh_drafts

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
    >>> from naysay.collect.questionnaire import sample
    >>> [mark.question for mark in marks(sample())][:2]
    ['income', 'smoking']
    """
    private_marks: list[Mark] = []
    walk = Walk(questionnaire)
    for walk_entry, question in walk.questions():
        if question.privacy is None:
            continue
        group_labels = (label for group in walk.around(walk_entry) for _, label in group.item.labels())
        headings = _digests([question.hint, *group_labels])
        own_mark = Mark(question.name, _digests([question.label]), headings, _design(question))
        for place, earlier_mark in enumerate(private_marks):
            own_words, earlier_words = ({*mark.texts, *mark.headings} for mark in (own_mark, earlier_mark))
            if not (own_words & set(earlier_mark.texts) or earlier_words & set(own_mark.texts)):
                continue
            if not never_together(walk, walk_entry, walk.by_name[earlier_mark.question]):
                problem_text = (
                    f"{question.name} asks in the same words as {earlier_mark.question}, and would be a second draw "
                    "for one question"
                )
                raise DataError(f"{problem_text}; a private question says in its own label what it asks")
            # each respondent is asked one of the two: the words are remembered with both designs
            joint_design = _digest(canonical(sorted({own_mark.design, earlier_mark.design})))
            own_mark = replace(own_mark, design=joint_design)
            private_marks[place] = replace(earlier_mark, design=joint_design)
        private_marks.append(own_mark)
    return private_marks


def _digests(labels: Iterable[Label]) -> tuple[str, ...]:
    """Of words that are read, in each language."""
    letter_texts = (letters(text) for label in labels for text in label.values())
    return tuple(_digest(text) for text in letter_texts if text)


def _design(question: Question) -> str:
    question_form = question.model_dump(mode="json", by_alias=True)
    private_form = question_form["private"]
    part_names = list(question.parts) or None
    bin_limits = [[number_bin["name"], number_bin["below"]] for number_bin in question_form.get("bins") or ()]
    design_form = _bare(unnamed(private_form["design"]["design"]))
    return _digest(canonical([question_form["kind"], part_names, bin_limits, private_form["by_hand"], design_form]))


def _bare(node: object) -> Any:
    """A design without ``yes_no``: how its labels are written in a file changes no draw. See ``memory.js``."""
    if isinstance(node, dict):
        return {field_name: _bare(part) for field_name, part in node.items() if field_name != "yes_no"}
    return [_bare(part) for part in node] if isinstance(node, list) else node


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


@dataclass(frozen=True)
class Draft:
    """What a device has drawn for an invitation. It is kept before anything is sent, so that a retry asks for the same.

    Parameters
    ----------
    code : str
        Of the invitation.
    token_number, blind : str
        In hexadecimal: the number that will be in the token, and the scalar that hides it until then.
    """

    code: str
    token_number: str
    blind: str

    @classmethod
    def of(cls, code: str) -> Draft:
        """A fresh draw."""
        import rbcl

        from naysay.collect.invitations import RANDOM_BYTES

        return cls(code, secrets.token_hex(RANDOM_BYTES), bytes(rbcl.crypto_core_ristretto255_scalar_random()).hex())

    def asking(self, survey: Published) -> bytes:
        """The request for the token: the code, and a blinded element that tells nothing about what was drawn."""
        from naysay.collect import voprf

        blinded_element = voprf.blinded(self._data(survey), bytes.fromhex(self.blind))
        return json.dumps({"invitation": self.code, "blinded": blinded_element.hex()}, separators=(",", ":")).encode()

    def token(self, survey: Published, content: Mapping[str, object]) -> str:
        """The token, from the server's response.

        Raises
        ------
        DataError
            The server did not use the key that the survey publishes.
        """
        from naysay.collect import voprf

        try:
            evaluated_element, proof = (
                bytes.fromhex(str(content[field_name])) for field_name in ("evaluated", "proof")
            )
        except (KeyError, TypeError, ValueError):
            raise DataError("the server's response to an invitation is none; do not answer this survey") from None
        survey_key = bytes.fromhex(survey.key or "")
        return (
            self.token_number
            + voprf.finalized(self._data(survey), bytes.fromhex(self.blind), evaluated_element, proof, survey_key).hex()
        )

    def _data(self, survey: Published) -> bytes:
        from naysay.collect.invitations import data_of

        return data_of(survey.name, bytes.fromhex(self.token_number))


def check_invitations(survey: Published, invitation_count: int | None, people: int) -> None:
    """Raise unless a survey that invites gets an invitation for each of these people, and another one gets none."""
    if survey.key is None and invitation_count is not None:
        raise DataError(f"anybody can answer {survey.name!r}; leave the invitations out")
    if survey.key is not None and invitation_count is None:
        raise DataError(f"{survey.name!r} asks for invitations; give one for each of the {people:,} people")
    if invitation_count is not None and invitation_count != people:
        raise DataError(f"there must be an invitation for each of the {people:,} people; got {invitation_count:,}")
