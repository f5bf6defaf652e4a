"""Every earlier version of the database, with rows in every table, becomes the newest, and no row changes."""

import datetime
import json

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from naysay import DataError
from naysay.collect.storage import Receipt, Store, migrations
from naysay.collect.storage.store import BACKENDS, address_of

DAY = datetime.date(2026, 11, 20)
SOME = {sa.Date: DAY, sa.LargeBinary: b"\0bytes", sa.Text: "text", sa.String: "text", sa.Integer: 7}


def made_by(url, version, published, answers):
    """A database as an earlier naysay made it, with two replies and a row in every other table."""
    address = address_of(url)
    engine = BACKENDS[address.get_backend_name()]().engine(address, reading=False)
    settings = Config()
    settings.set_main_option("script_location", migrations.__path__[0])
    settings.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, version)
        known = sa.MetaData()
        known.reflect(connection)
        versions = known.tables["alembic_version"]
        for table in known.sorted_tables:
            if table is not versions and table.name not in ("survey", "client_file", "reply"):
                connection.execute(table.insert().values({each.name: value(each) for each in table.columns}))
        survey = {"name": "kinds", "hash": published.hash, "client": published.client.hash, "opened": DAY}
        connection.execute(known.tables["survey"].insert().values(**survey, published=published.bytes))
        files = [{"client": published.client.hash, "name": n, "content": c} for n, c in published.client.files.items()]
        connection.execute(known.tables["client_file"].insert(), files)
        replies = [{"survey": "kinds", "id": id * 32, "day": DAY, "answers": json.dumps(answers)} for id in "ab"]
        connection.execute(known.tables["reply"].insert(), replies)
        before = rows(connection, known)
    engine.dispose()
    return before


def value(column):
    if column.name == "receipt":
        return Receipt("kinds", "0" * 64, DAY, None, DAY, 7, "sqlite").to_json()
    return next(some for kind, some in SOME.items() if isinstance(column.type, kind))


def rows(connection, known):
    tables = (table for table in known.sorted_tables if table.name != "alembic_version")
    return {
        table.name: {
            tuple(sorted((name, bytes(each) if isinstance(each, memoryview) else each) for name, each in row.items()))
            for row in connection.execute(table.select()).mappings()
        }
        for table in tables
    }


@pytest.mark.parametrize("version", migrations._VERSIONS)
def test_every_earlier_version_with_rows_in_it_becomes_the_newest(url, version, published, answers):
    before = made_by(url, version, published, answers)
    store = Store(url)
    try:
        with store.engine.connect() as connection:
            known = sa.MetaData()
            known.reflect(connection)
            after = rows(connection, known)
        for name, found in before.items():
            kept = {frozenset(row) for row in after[name]}
            assert all(any(set(row) <= each for each in kept) for row in found), name
            assert len(after[name]) == len(found)
        assert store.published("kinds").bytes == published.bytes
        assert store.replies("kinds").frame.height == 2
        assert store.replies("kinds").frame["age"].to_list() == [30, 30]
        store.delete("kinds")
    finally:
        store.dispose()


def test_reading_does_not_bring_a_database_up_to_date(url, published, answers):
    made_by(url, migrations._VERSIONS[0], published, answers)
    with pytest.raises(DataError, match=f"version {migrations._VERSIONS[0]}, an earlier one; naysay serve"):
        Store(url, mode="read")


def test_two_receipts_of_one_upload_become_one_of_the_later_day(url, published, answers):
    """Until version 0006 the day was a part of the key."""
    made_by(url, "0006", published, answers)
    address = address_of(url)
    engine = BACKENDS[address.get_backend_name()]().engine(address, reading=False)
    with engine.begin() as connection:
        for day in (DAY, DAY + datetime.timedelta(1)):
            connection.execute(
                sa.text("INSERT INTO report_receipt (day, digest) VALUES (:day, 'b')").bindparams(
                    sa.bindparam("day", day, sa.Date)
                )
            )
    engine.dispose()
    store = Store(url)
    try:
        with store.reading() as connection:
            found = connection.execute(sa.text("SELECT digest, day FROM report_receipt ORDER BY digest")).all()
            keys = sa.inspect(connection).get_pk_constraint("report_receipt")["constrained_columns"]
        assert [(digest, str(day)) for digest, day in found] == [("b", "2026-11-21"), ("text", "2026-11-20")]
        assert keys == ["digest"]
    finally:
        store.dispose()
