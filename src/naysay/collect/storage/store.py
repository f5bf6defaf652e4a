"""The database: surveys as they were published, what was sent to them, and receipts of what was deleted."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, text, update

from naysay._checks import several
from naysay.collect.client import FOLDER, Client
from naysay.collect.storage import migrations, replies, tables
from naysay.collect.storage.replies import Outcome, Replies, Reply, Reports, Taking, outcome_of
from naysay.collect.storage.tables import BACKENDS, address_of, deletion
from naysay.collect.survey.published import Published
from naysay.errors import DataError


def today() -> datetime.date:
    """The day in UTC: no finer time is ever stored."""
    return datetime.datetime.now(datetime.UTC).date()


@dataclass(frozen=True)
class Listed:
    """A survey in the database, and how many have answered."""

    name: str
    hash: str
    opened: datetime.date
    closed: datetime.date | None
    replies: int
    invited: int | None = None
    """Invitations that are out; None where anybody with the link can answer."""
    taken: int | None = None
    """How many of them have taken a token."""


Mode = Literal["make", "change", "read"]
"""What is done with a database: make it if there is none, change it, or only read it."""

_STANDING = select(tables.survey.c.name, tables.survey.c.hash, tables.survey.c.closed)
_OF_SURVEY = (*tables.OF_SURVEY, tables.plan, tables.token, *replies.TABLES)
"""What goes with a survey: another survey of its name must not inherit it."""


class Store:
    """A database of surveys and replies.

    Parameters
    ----------
    url : str
        ``sqlite:///naysay.db``, ``postgresql://user@host/database``, or the path of an SQLite file.
    mode : "make", "change" or "read"
        "make" makes the file if there is none; "change" and "read" need a file that is there. "make" and "change" bring
        the tables up to date. "read" changes nothing, and does not wait for a writer.

    Raises
    ------
    DataError
        The address names no database that can be used.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/answers.db")
    ...     surveys = store.surveys()
    ...     store.dispose()
    >>> surveys
    ()
    """

    def __init__(self, url: str | Path, *, mode: Mode = "make") -> None:
        address = address_of(url)
        self._backend = BACKENDS[address.get_backend_name()]()
        missing_file = None if mode == "make" else self._backend.missing(address)
        if missing_file is not None:
            raise DataError(f"there is no database {missing_file!r}; a server makes one: naysay serve")
        self.engine = self._backend.engine(address, reading=mode == "read")
        try:
            with self.reading() if mode == "read" else self.engine.begin() as connection:
                (migrations.check if mode == "read" else migrations.upgrade)(connection)
        except Exception:  # whatever it is: no connection may stay open on a store that is not returned
            self.engine.dispose()
            raise

    def open(self, published: Published, *, replace: bool = False, client: Client | Path = FOLDER) -> None:
        """Publish a survey and take answers to it. A survey that asks the same stays as it is, open or closed.

        A survey also keeps the client that it was published with: an upgrade of naysay does not change it.

        Parameters
        ----------
        published : Published
        replace : bool
            Replace another survey of the same name that has no replies.
        client : Client or Path
            The whole client, for a survey that invites when it is replaced: its page needs files that `published` of an
            open link does not have.

        Raises
        ------
        DataError
            A survey of this name asks something else: what respondents saw must not change.
        """
        with self.engine.begin() as connection:
            # the lock waits for replies that are being stored, and lets none in before the transaction ends
            survey_query = select(tables.survey.c.published).filter_by(name=published.name).with_for_update()
            stored_bytes = connection.execute(survey_query).scalar()
            if stored_bytes is not None:
                asks_the_same = json.loads(bytes(stored_bytes))["questionnaire"] == published.form["questionnaire"]
                if bytes(stored_bytes) == published.bytes or (asks_the_same and not replace):
                    return
                self._check_replaceable(connection, published.name, replace=replace)
                public_key = replies.public_key_in(bytes(stored_bytes))
                if public_key is not None:  # invitations that are out stay good
                    published = Published.of(published.questionnaire, client=client, key=public_key)
                connection.execute(delete(tables.survey).filter_by(name=published.name))
            self._keep_client(connection, published.client)
            connection.execute(insert(tables.survey).values(**_row(published), opened=today()))
            _drop_unused_clients(connection)

    def _check_replaceable(self, connection: Connection, name: str, *, replace: bool) -> None:
        if not replace:
            raise DataError(
                f"survey {name!r} was opened with another questionnaire, and does not change once it is open; give the "
                "questionnaire another name, or replace the survey as long as nobody has answered"
            )
        count_query = select(func.count()).select_from(tables.reply).filter_by(survey=name)
        reply_count = int(connection.execute(count_query).scalar_one())
        if reply_count:
            raise DataError(
                f"survey {name!r} has {several(reply_count, 'reply', 'replies')}, so it cannot be replaced; give the "
                "questionnaire another name, or delete the survey with its replies"
            )

    def _keep_client(self, connection: Connection, client: Client) -> None:
        client_row = connection.execute(select(tables.client_file.c.name).filter_by(client=client.hash)).first()
        if client_row is None:
            file_rows = [
                {"client": client.hash, "name": file_name, "content": file_content}
                for file_name, file_content in client.files.items()
            ]
            connection.execute(insert(tables.client_file), file_rows)

    def renew(self, name: str, *, client: Client | Path = FOLDER) -> Published:
        """Give an open survey the client of this naysay, or another. It gets a new hash, and lists its earlier ones.

        Replies stay. Respondents who still have the old page open can send their answers.
        """
        earlier_survey = self.published(name)
        renewed_survey = earlier_survey.renewal(client)
        if renewed_survey is not earlier_survey:
            with self.engine.begin() as connection:
                self._keep_client(connection, renewed_survey.client)
                survey_update = update(tables.survey).filter_by(name=name, hash=earlier_survey.hash)
                connection.execute(survey_update.values(**_row(renewed_survey)))
                _drop_unused_clients(connection)
        return renewed_survey

    def restrict(self, name: str, key: bytes, public: str, *, client: Client | Path = FOLDER) -> Published:
        """Take answers to a survey from those alone who are invited under a key. It gets this client, and a new hash.

        Raises
        ------
        DataError
            Somebody has answered already: their devices know the survey as it was.
        """
        earlier_survey = self.published(name)
        restricted_survey = Published.of(earlier_survey.questionnaire, client=client, key=public)
        with self.engine.begin() as connection:
            connection.execute(select(tables.survey.c.name).filter_by(name=name).with_for_update())  # as in `open`
            count_query = select(func.count()).select_from(tables.reply).filter_by(survey=name)
            if reply_count := connection.execute(count_query).scalar_one():
                raise DataError(
                    f"survey {name!r} has {several(reply_count, 'reply', 'replies')} from an open link, so it cannot "
                    "ask for invitations any more; open it under another name and invite to that"
                )
            connection.execute(insert(tables.issuer).values(survey=name, key=key, again=0))
            self._keep_client(connection, restricted_survey.client)
            connection.execute(update(tables.survey).filter_by(name=name).values(**_row(restricted_survey)))
            _drop_unused_clients(connection)
        return restricted_survey

    def reopen(self, name: str) -> None:
        """Take answers to a closed survey again, unless it has controls; see `check_reopens`."""
        self.check_reopens(name)
        self._change(name, closed=None)

    def check_reopens(self, name: str) -> None:
        """Raise where a survey stays closed.

        Raises
        ------
        DataError
            It has controls: how their answers go together with others has left the server when it was closed, and what
            comes out after one more reply could be subtracted.
        """
        is_closed = not self.standing().get(name, ("", True))[1]
        if is_closed and any(question.control is not None for question in self.published(name).questionnaire.asked):
            raise DataError(
                f"survey {name!r} has controls and stays closed: what their counts tell after one more reply would say "
                "whether its person followed the instruction; open it under another name"
            )

    def close(self, name: str) -> None:
        """Take no more answers, and give every reply a fresh random id, so that a receipt's id finds nothing."""
        self._change(name, closed=today())
        with self.engine.begin() as connection:
            of_survey = tables.reply.c.survey == name
            connection.execute(select(tables.reply.c.id).where(of_survey).limit(1))  # see `tables._SETTLE`
            # new replies get ids here and where they are counted; all others one of the database
            old_ids = connection.execute(select(tables.untallied.c.id).filter_by(survey=name)).scalars().all()
            id_pairs = [{"old": reply_id, "new": secrets.token_hex(16)} for reply_id in old_ids]
            for table in (tables.reply, tables.untallied) if id_pairs else ():
                is_old = (table.c.survey == name) & (table.c.id == bindparam("old"))
                connection.execute(update(table).where(is_old).values(id=bindparam("new")), id_pairs)
            fresh_id = text(self._backend.fresh_id)
            is_counted = tables.reply.c.id.not_in(select(tables.untallied.c.id).filter_by(survey=name))
            connection.execute(update(tables.reply).where(of_survey, is_counted).values(id=fresh_id))
        self.settle()

    def _change(self, name: str, *, closed: datetime.date | None) -> None:
        with self.engine.begin() as connection:
            changed_rows = connection.execute(update(tables.survey).filter_by(name=name).values(closed=closed)).rowcount
        if not changed_rows:
            raise self._unknown(name)

    def delete(self, name: str, *, by: str | None = None, reason: str = "") -> Receipt:
        """Delete a survey with all replies to it, and overwrite their place on disk.

        Parameters
        ----------
        name : str
        by : str, optional
            Who deletes it, for the log. The entry is written with the deletion, also where the place on disk cannot be
            overwritten yet.
        reason : str
            What the entry says behind the number of replies.

        Raises
        ------
        DataError
            There is no survey of this name; or another program reads the file, so that it is not overwritten yet.
        """
        survey_columns = tables.survey.c
        survey_query = select(
            survey_columns.name, survey_columns.hash, survey_columns.opened, survey_columns.closed
        ).filter_by(name=name)
        with self.engine.begin() as connection:
            survey_row = connection.execute(survey_query.with_for_update()).first()
            if survey_row is not None:
                deleted_counts = [
                    connection.execute(delete(table).where(table.c.survey == name)).rowcount for table in _OF_SURVEY
                ]
                connection.execute(delete(tables.survey).filter_by(name=name))
                _drop_unused_clients(connection)
                receipt = Receipt(*survey_row, today(), deleted_counts[0], self.engine.dialect.name)
                connection.execute(insert(deletion).values(name=name, day=today(), receipt=receipt.to_json()))
                if by is not None:
                    detail = several(receipt.replies, "reply", "replies") + reason
                    log_row = {"at": int(time.time()), "who": by, "what": "deleted", "about": name, "detail": detail}
                    connection.execute(insert(tables.log).values(**log_row))
        if survey_row is None:
            raise self._unknown(name)
        self.overwrite()
        return replace(receipt, overwritten=True)

    def overwrite(self) -> None:
        """Overwrite the place of all that was deleted, and note it on the receipts."""
        self.settle()
        with self.engine.begin() as connection:
            for receipt_number, receipt in stored_receipts(connection).items():
                if not receipt.overwritten:
                    overwritten_text = replace(receipt, overwritten=True).to_json()
                    connection.execute(update(deletion).filter_by(id=receipt_number).values(receipt=overwritten_text))

    def receipts(self) -> tuple[Receipt, ...]:
        """The receipts of all deletions, the last one first."""
        with self.reading() as connection:
            return tuple(stored_receipts(connection).values())

    def _unknown(self, name: str) -> DataError:
        survey_names = ", ".join(repr(survey.name) for survey in self.surveys())
        return DataError(
            f"there is no survey {name!r}; there are {survey_names}" if survey_names else f"there is no survey {name!r}"
        )

    def surveys(self) -> tuple[Listed, ...]:
        """All surveys by name, with how many have answered."""
        survey_columns = tables.survey.c
        reply_count = select(func.count()).where(tables.reply.c.survey == survey_columns.name).scalar_subquery()
        with self.reading() as connection:
            survey_query = select(
                survey_columns.name, survey_columns.hash, survey_columns.opened, survey_columns.closed, reply_count
            ).order_by(survey_columns.name)
            survey_rows = connection.execute(survey_query).all()  # replies are read first: see `tables._SETTLE`
            invited_counts = replies.invited_counts(connection)
        return tuple(Listed(*survey_row, *invited_counts.get(survey_row.name, ())) for survey_row in survey_rows)

    def standing(self) -> dict[str, tuple[str, bool]]:
        """The hash of every survey, and whether it is open. It is quick, so that it can be asked often."""
        with self.reading() as connection:
            return _standing(connection, _STANDING)

    def published(self, name: str) -> Published:
        """A survey as it was published.

        Raises
        ------
        DataError
            There is no survey of this name.
        """
        survey_columns = tables.survey.c
        with self.reading() as connection:
            survey_row = connection.execute(
                select(survey_columns.published, survey_columns.client).filter_by(name=name)
            ).first()
            file_query = select(tables.client_file.c.name, tables.client_file.c.content)
            file_rows = connection.execute(file_query.filter_by(client=survey_row.client)).all() if survey_row else ()
        if survey_row is None:
            raise self._unknown(name)
        return Published.read(
            bytes(survey_row.published),
            client=Client({file_name: bytes(file_content) for file_name, file_content in file_rows}),
        )

    def key(self, name: str) -> bytes | None:
        """The private key of a survey's invitations; None where anybody with the link can answer."""
        with self.reading() as connection:
            private_key = connection.execute(select(tables.issuer.c.key).filter_by(survey=name)).scalar()
        return None if private_key is None else bytes(private_key)

    def replies(self, name: str) -> Replies:
        """All replies to a survey, in the order of random ids."""
        published = self.published(name)
        reply_columns = tables.reply.c
        with self.reading() as connection:
            reply_query = (
                select(reply_columns.day, reply_columns.answers).filter_by(survey=name).order_by(reply_columns.id)
            )
            return Replies(published, tuple((day, answers) for day, answers in connection.execute(reply_query)))

    def shuffled(self, published: Published, *, size: int = 10_000) -> Iterator[Replies]:
        """All that was sent to a survey, in pieces, in an order that is drawn afresh each time.

        Only the ids are all held at once. In the order of ids two exports could be matched row by row.

        Raises
        ------
        DataError
            Where the survey is closed or deleted meanwhile.
        """
        reply_columns = tables.reply.c
        of_survey = reply_columns.survey == published.name
        with self.reading() as connection:
            id_query = select(reply_columns.id).where(of_survey).execution_options(yield_per=size)
            reply_ids = np.fromiter((reply_id for (reply_id,) in connection.execute(id_query)), dtype="S32")
            random_order = np.frombuffer(os.urandom(8 * len(reply_ids)), dtype=np.uint64).argsort()
            for piece_start in range(0, len(reply_ids), size):
                piece_ids = reply_ids[random_order[piece_start : piece_start + size]].astype(str).tolist()
                piece_query = select(reply_columns.id, reply_columns.day, reply_columns.answers).where(
                    of_survey, reply_columns.id.in_(piece_ids)
                )
                rows_by_id = {reply_id: (day, answers) for reply_id, day, answers in connection.execute(piece_query)}
                if len(rows_by_id) < len(piece_ids):
                    raise DataError(f"survey {published.name!r} was closed or deleted meanwhile; export it again")
                yield Replies(published, [rows_by_id[reply_id] for reply_id in piece_ids])

    def add(self, group: Sequence[Reply | Taking | Reports]) -> list[Outcome]:
        """Store replies with the tokens that they spend, mark invitations as taken, count reports: one transaction.

        It says what became of each; all are durable when this returns.
        """
        new_replies = [arrival for arrival in group if isinstance(arrival, Reply)]
        with self.engine.begin() as connection:
            survey_names, reply_ids = (
                {arrival.survey for arrival in group if not isinstance(arrival, Reports)},
                {reply.id for reply in new_replies},
            )
            standing_query = _STANDING.where(tables.survey.c.name.in_(survey_names))
            # the lock keeps surveys open, or closed, until the transaction ends
            open_now = _standing(connection, standing_query.with_for_update(read=True))
            reply_columns = tables.reply.c
            reply_query = select(reply_columns.survey, reply_columns.id, reply_columns.answers, reply_columns.day)
            stored_rows = connection.execute(
                reply_query.where(reply_columns.survey.in_(survey_names), reply_columns.id.in_(reply_ids))
            )
            stored_replies = {(survey, reply_id): (answers, day) for survey, reply_id, answers, day in stored_rows}
            fresh_replies: dict[tuple[str, str], Reply] = {}
            spent_tokens = replies.spent_tokens(
                connection, {reply.token for reply in new_replies if reply.token is not None}
            )
            reply_outcomes = [
                outcome_of(reply, open_now.get(reply.survey), stored_replies, fresh_replies, spent_tokens)
                for reply in new_replies
            ]
            if fresh_replies:  # inserted in the order of random ids, not of arrival
                reply_rows = [
                    {column.name: getattr(fresh_replies[reply_key], column.name) for column in reply_columns}
                    for reply_key in sorted(fresh_replies)
                ]
                connection.execute(insert(tables.reply), reply_rows)
                connection.execute(
                    insert(tables.untallied),
                    [{"survey": survey_name, "id": reply_id} for survey_name, reply_id in sorted(fresh_replies)],
                )
                new_tokens = [
                    (reply.survey, reply.token) for reply in fresh_replies.values() if reply.token is not None
                ]
                if new_tokens:  # in an order of their own, which says nothing of the replies'
                    spent_rows = [{"survey": survey_name, "token": token} for survey_name, token in sorted(new_tokens)]
                    connection.execute(insert(tables.spent), spent_rows)
            taking_outcomes = [
                Outcome(replies.take(connection, taking, open_now.get(taking.survey)), today())
                for taking in group
                if isinstance(taking, Taking)
            ]
            report_outcomes = replies.add_reports(
                connection, [report_group for report_group in group if isinstance(report_group, Reports)]
            )  # locks go last
            outcomes_by_type = {
                Reply: iter(reply_outcomes),
                Taking: iter(taking_outcomes),
                Reports: iter(report_outcomes),
            }
            return [next(outcomes_by_type[type(arrival)]) for arrival in group]

    def settle(self) -> None:
        """Rewrite what is stored in the order of random ids, so that nothing tells in which order it came."""
        with self.engine.begin() as connection:
            replies.forget_receipts(connection, today())
        self._backend.settle(self.engine)

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection that only reads, and does not wait for a writer."""
        return self.engine.execution_options(naysay_reading=True).connect()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that only reads, and sees the database as it is now."""
        engine = self.engine.execution_options(naysay_reading=True, **self._backend.snapshot)
        with engine.connect() as connection:
            self._backend.hold(connection)
            yield connection


def _row(published: Published) -> dict[str, object]:
    return {
        "name": published.name,
        "hash": published.hash,
        "client": published.client.hash,
        "published": published.bytes,
    }


def _drop_unused_clients(connection: Connection) -> None:
    used_clients = select(tables.survey.c.client)
    connection.execute(delete(tables.client_file).where(tables.client_file.c.client.not_in(used_clients)))


def _standing(connection: Connection, query: Select[str, str, datetime.date]) -> dict[str, tuple[str, bool]]:
    return {
        survey_name: (survey_hash, closing_day is None)
        for survey_name, survey_hash, closing_day in connection.execute(query)
    }


@dataclass(frozen=True)
class Receipt:
    """What was deleted, and when.

    Parameters
    ----------
    survey, hash : str
        Its name, and the SHA-256 of what was published.
    opened, closed, deleted : date
        Days in UTC; closed is None if it still took answers.
    replies : int
        How many were deleted with it.
    database : str
        ``sqlite`` or ``postgresql``.
    overwritten : bool
        Whether the place of the replies in the database's own files was overwritten, too.

    Examples
    --------
    >>> day = datetime.date(2027, 1, 31)
    >>> print(Receipt("sample", "ab" * 32, day, None, day, 812, "sqlite", True))
    Survey sample was deleted on 2027-01-31 (UTC), with all 812 replies.
    Its hash: abab...
    It was opened on 2027-01-31 and never closed.
    The database (sqlite) overwrote the place of the replies in its files.
    Backups, exports and copies that were made before are not touched: delete them yourself.
    """

    survey: str
    hash: str
    opened: datetime.date
    closed: datetime.date | None
    deleted: datetime.date
    replies: int
    database: str
    overwritten: bool = False

    def __str__(self) -> str:
        closing_text = f"closed on {self.closed}" if self.closed else "never closed"
        replies_text = "its only reply" if self.replies == 1 else f"all {self.replies:,} replies"
        wiping_text = "overwrote" if self.overwritten else "has not yet overwritten"
        return "\n".join(
            (
                f"Survey {self.survey} was deleted on {self.deleted} (UTC), with {replies_text}.",
                f"Its hash: {self.hash}",
                f"It was opened on {self.opened} and {closing_text}.",
                f"The database ({self.database}) {wiping_text} the place of the replies in its files.",
                "Backups, exports and copies that were made before are not touched: delete them yourself.",
            )
        )

    def to_json(self) -> str:
        """The receipt as a JSON object."""
        receipt_fields = {
            field_name: value.isoformat() if isinstance(value, datetime.date) else value
            for field_name, value in asdict(self).items()
        }
        return json.dumps({"naysay": "deletion", "version": 1, **receipt_fields}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Receipt:
        """The receipt that `to_json` wrote."""
        receipt_fields = {
            field_name: value
            for field_name, value in json.loads(text).items()
            if field_name not in ("naysay", "version")
        }
        for field_name in ("opened", "closed", "deleted"):
            receipt_fields[field_name] = receipt_fields[field_name] and datetime.date.fromisoformat(
                receipt_fields[field_name]
            )
        return cls(**receipt_fields)


def stored_receipts(connection: Connection) -> dict[int, Receipt]:
    """All receipts by number, the last one first."""
    receipt_rows = connection.execute(select(deletion.c.id, deletion.c.receipt).order_by(deletion.c.id.desc()))
    return {receipt_number: Receipt.of_json(receipt_text) for receipt_number, receipt_text in receipt_rows}
