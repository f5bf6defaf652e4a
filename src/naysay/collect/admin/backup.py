"""Backups: one SQLite file, whatever the database is. It can be restored into either kind, and served as it is."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from naysay import _checks
from naysay.collect.admin import drafts
from naysay.collect.client import FOLDER, Client
from naysay.collect.storage import Store, tables
from naysay.errors import DataError

_LEFT_OUT = (
    tables.session,  # else a restored backup would let in what was locked out since
    tables.token,
    tables.report_receipt,  # it is kept for a day, and a backup for years
)
_SIZE = 1_000  # rows that are held at once
_MAGIC = b"SQLite format 3\0"
_SCHEMA = "SELECT iif(type = 'table' AND rootpage = 0, 'virtual table', type), name, tbl_name FROM sqlite_schema"


@dataclass(frozen=True)
class Copied:
    """How many surveys and replies a backup holds, and what was changed when it was restored.

    Surveys that are `renewed` came with a page that this naysay does not ship. They have the page of this naysay
    instead. So they have a new hash, which names the hash before. Drafts that are `undated` have no private question,
    and lost their first day.
    """

    surveys: int
    replies: int
    renewed: tuple[str, ...] = ()
    undated: tuple[str, ...] = ()

    def __str__(self) -> str:
        several = _checks.several
        return f"{several(self.surveys, 'survey', 'surveys')} with {several(self.replies, 'reply', 'replies')}"


def backup(store: Store, path: Path) -> Copied:
    """Write everything in a database to one file, as it was at one moment; sessions and tokens are left out.

    The file is readable for its owner alone. Its rows lie in the order of random ids, as those of the database.

    Parameters
    ----------
    store : Store
    path : Path
        A file that is not there yet.

    Raises
    ------
    DataError
        The file is there, or cannot be written.

    Examples
    --------
    >>> store = Store("sqlite://")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     backup(store, Path(folder, "backup.db"))
    Copied(surveys=0, replies=0, renewed=(), undated=())
    >>> store.dispose()
    """
    if path.exists():
        raise DataError(f"{str(path)!r} exists; a backup does not replace another: give a new name")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {str(path.parent)!r} to write to")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".backup-") as folder:
        draft_path = Path(folder, path.name)
        draft_store = Store(draft_path)
        try:
            with store.snapshot() as source_connection, draft_store.engine.begin() as draft_connection:
                for table in _tables_to_copy():
                    _copy(source_connection, draft_connection, table)
                copy_counts = _copy_counts(draft_connection)
            draft_store.settle()
        finally:
            draft_store.dispose()
        with contextlib.closing(sqlite3.connect(draft_path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # one file without a log beside it can be moved
        with draft_path.open("rb") as file:
            os.fsync(file.fileno())
        os.link(draft_path, path)  # fails if another backup took the name meanwhile
    return copy_counts


def restore(store: Store, path: Path, *, client: Client | Path = FOLDER) -> Copied:
    """Copy everything in a backup into a database without surveys, in one transaction.

    A password that is set there stays; sessions, tokens and links to results are not restored. No page comes in but the
    one that this naysay ships: a hash shows only that a page is whole, not who wrote it, and on the admin's origin a
    page can act as the admin. A survey with another page is renewed. A draft without a private question loses its first
    day: it would open by itself, and nobody here agreed to that.

    Parameters
    ----------
    store : Store
        Of either kind.
    path : Path
        A backup of this version of naysay or an earlier one.
    client : Client or Path
        The respondents' page of this naysay.

    Raises
    ------
    DataError
        The database holds surveys; or the file is no sound backup; or a survey has a page that this naysay does not
        ship, and cannot be renewed.
    """
    with readied(path, client=client) as copied_into:
        return copied_into(store)


@contextlib.contextmanager
def readied(path: Path, *, client: Client | Path = FOLDER) -> Iterator[Callable[[Store], Copied]]:
    """What copies a backup into a database, once it is found sound: before, no database needs to be made for it."""
    shipped_client = Client.of(client) if isinstance(client, Path) else client
    with contextlib.ExitStack() as stack:
        try:
            backup_store = stack.enter_context(_private_copy(path))
            with backup_store.engine.begin() as connection:  # files without a survey may lie under another page's hash
                used_clients = select(tables.survey.c.client)
                connection.execute(delete(tables.client_file).where(tables.client_file.c.client.not_in(used_clients)))
            _check_surveys(backup_store)
            renewed_names, undated_names = _renew_pages(backup_store, shipped_client), drafts.strike_out(backup_store)
            _check_surveys(
                backup_store
            )  # a renewed survey may not have taken files that lay under the hash of the shipped page
        except SQLAlchemyError:
            raise DataError(f"{path.name!r} is damaged; take another backup") from None
        yield lambda store: dataclasses.replace(
            _copy_all(backup_store, store), renewed=renewed_names, undated=undated_names
        )


def _copy_all(backup_store: Store, store: Store) -> Copied:
    with backup_store.snapshot() as backup_connection, store.engine.begin() as store_connection:
        if survey_count := _copy_counts(store_connection).surveys:
            problem = "a backup is restored into a database without surveys"
            raise DataError(f"{problem}; this one holds {survey_count}: take a new database, or delete them first")
        if store_connection.execute(select(func.count()).select_from(tables.report_topic)).scalar_one():
            raise DataError("this database counts reports, which a restored backup would replace: take a new one")
        for table in _tables_to_copy():
            if table is tables.account and store_connection.execute(select(table.c.password)).scalar() is not None:
                continue
            if table not in (tables.log, tables.deletion):  # what was done here stays known
                store_connection.execute(table.delete())
            _copy(backup_connection, store_connection, table)
        store_connection.execute(
            update(tables.shared).values(link=None)
        )  # it may have been revoked since, or be a stranger's
        copy_counts = _copy_counts(store_connection)
    store.settle()
    return copy_counts


def hashes(store: Store, name: str) -> str:
    """The hash of a renewed survey, and the one before, in words for a log."""
    published = store.published(name)
    return f"before {published.renewed[0]}, now {published.hash}"


def _tables_to_copy() -> list[Table]:
    return [table for table in tables.metadata.sorted_tables if table not in _LEFT_OUT]


def _copy(source: Connection, into: Connection, table: Table) -> None:
    """All rows in the order of their keys. Numbers that the database gives are given anew."""
    numbered_columns = [column.name for column in table.primary_key if column is table.autoincrement_column]
    row_query = select(*(column for column in table.columns if column.name not in numbered_columns)).order_by(
        *table.primary_key
    )
    source_rows = source.execute(row_query.execution_options(yield_per=_SIZE if table is tables.reply else 20))
    for row_batch in source_rows.mappings().partitions():
        into.execute(insert(table), [dict(row) for row in row_batch])


def _copy_counts(connection: Connection) -> Copied:
    survey_count, reply_count = (
        connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in (tables.survey, tables.reply)
    )
    return Copied(survey_count, reply_count)


@contextlib.contextmanager
def _private_copy(path: Path) -> Iterator[Store]:
    """A private copy of a backup, brought up to date; the file itself does not change."""
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if not is_database:
        raise DataError(f"{path.name!r} is no backup; naysay survey backup writes one")
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        copy_path = Path(folder, "backup.db")
        shutil.copyfile(path, copy_path)
        copy_path.chmod(0o600)
        _check_file(path.name, copy_path)
        copy_store = Store(copy_path, mode="change")
        try:
            yield copy_store
        finally:
            copy_store.dispose()


def _check_file(name: str, path: Path) -> None:
    """Refuse a damaged file, and one that holds more than naysay's tables: a trigger, view or module would be run."""
    own_tables = {*tables.metadata.tables, "alembic_version"}
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            schema_rows = connection.execute(_SCHEMA).fetchall()
            is_sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    except sqlite3.Error:
        raise DataError(f"{name!r} is damaged; take another backup") from None
    if not is_sound:
        raise DataError(f"{name!r} is damaged; take another backup")
    for object_kind, object_name, table_name in schema_rows:
        is_own_index = object_kind == "index" and object_name.startswith(f"sqlite_autoindex_{table_name}_")
        if not (object_kind == "table" and object_name in own_tables) and not (
            is_own_index and table_name in own_tables
        ):
            raise DataError(f"{name!r} is no backup of this naysay: it holds the {object_kind} {object_name!r}")


def _check_surveys(backup: Store) -> None:
    """Refuse surveys that are not what their hashes say. Rules that are newer than a survey do not keep it out."""
    with backup.reading() as connection:
        survey_rows = connection.execute(
            select(tables.survey.c.name, tables.survey.c.hash, tables.survey.c.client)
        ).all()
    for survey_name, survey_hash, client_hash in survey_rows:
        try:
            published = backup.published(survey_name)
            is_same = (hashlib.sha256(published.bytes).hexdigest(), published.name) == (survey_hash, survey_name)
            has_page = published.client.integrity == published.form["client"] and published.client.hash == client_hash
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # whatever its bytes are
            raise DataError(f"survey {survey_name!r} in the backup is damaged; take another backup") from None
        if not is_same:
            raise DataError(f"survey {survey_name!r} in the backup is damaged: it is not what its name and hash say")
        if not has_page:
            raise DataError(f"the page of survey {survey_name!r} in the backup is damaged: its files have other hashes")


def _renew_pages(backup: Store, shipped: Client) -> tuple[str, ...]:
    """The names of the surveys whose page is not the shipped one: they get it, and files of other pages are dropped."""
    other_surveys = tuple(
        survey_name for survey_name in backup.standing() if not backup.published(survey_name).has(shipped)
    )
    for survey_name in other_surveys:
        try:
            backup.renew(survey_name, client=shipped)
        except DataError as error:
            problem = (
                f"the page of survey {survey_name!r} is none that this naysay ships, and it cannot have another one"
            )
            way_out = "export its replies from the backup itself: naysay survey export NAME --db sqlite:///FILE"
            raise DataError(f"{problem} ({error}); {way_out}") from None
    return other_surveys
