"""The first version of the database stays as it is written down, and a later one keeps every row."""

import json
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from naysay import DataError
from naysay.collect.storage import Reply, Store, migrations, today
from naysay.collect.storage.tables import metadata

FIRST = Path(__file__).with_name("first_version.sql")
SECOND = '''"""A column more."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Surveys have a color."""
    op.add_column("survey", sa.Column("color", sa.String(8)))
'''


def definitions():
    """The tables as both databases make them."""
    for dialect in (sqlite.dialect(), postgresql.dialect()):
        yield f"-- {dialect.name}"
        for table in metadata.sorted_tables:
            lines = str(CreateTable(table).compile(dialect=dialect)).split("\n")
            yield "\n".join(line.rstrip().replace("\t", "    ") for line in lines if line.strip()) + ";"


def test_the_first_version_is_the_one_that_is_written_down():
    """As long as no database is released, write it down anew: ``"\\n".join(definitions())``; see the first version."""
    assert "\n".join(definitions()) + "\n" == FIRST.read_text(encoding="utf-8")


@pytest.fixture
def later(tmp_path, monkeypatch):
    """A naysay whose database has a second version."""
    folder = shutil.copytree(Path(migrations.__file__).parent, tmp_path / "migrations")
    (folder / "versions" / "0002_color.py").write_text(SECOND, encoding="utf-8")

    def update():
        monkeypatch.setattr(migrations, "__file__", str(folder / "__init__.py"))
        monkeypatch.setattr(migrations, "_VERSIONS", ["0001", "0002"])

    return update


def test_a_later_version_keeps_every_row(url, published, answers, later):
    store = Store(url)
    store.open(published)
    store.add([Reply(published.name, published.hash, "a" * 32, json.dumps(answers), today())])
    store.dispose()
    later()
    with pytest.raises(DataError, match="version 0001, an earlier one; naysay serve"):
        Store(url, mode="read")
    store = Store(url)
    try:
        with store.reading() as connection:
            assert "color" in {column["name"] for column in sa.inspect(connection).get_columns("survey")}
        assert store.published("kinds").bytes == published.bytes
        assert store.replies("kinds").frame["age"].to_list() == [30]
        store.delete("kinds")
    finally:
        store.dispose()
