"""What any released version has made, every later one opens: databases, backups and questionnaires."""

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from naysay.collect import Published, invitations, reports
from naysay.collect.admin import backup as backups
from naysay.collect.client import FOLDER as CLIENT
from naysay.collect.questionnaire import load
from naysay.collect.results.counting import differing, folding
from naysay.collect.storage import Store
from naysay.collect.survey import tallies

FOLDER = Path(__file__).with_name("released")
RELEASED = sorted(FOLDER.glob("*.sql.gz"))


@pytest.fixture(params=RELEASED, ids=lambda path: path.name.removesuffix(".sql.gz"))
def made(request, tmp_path):
    """A database of a released version, as a file of SQLite."""
    path = tmp_path / "released.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress(request.param.read_bytes()).decode())
    connection.close()
    path.chmod(0o600)
    return path


def check(store):
    """What make_released.py had put into it."""
    assert {survey.name: (survey.replies, survey.taken) for survey in store.surveys()} == {
        "sample": (30, None),
        "invited": (0, 1),
    }
    assert invitations.counts(store, "invited").invited == 3
    [topic] = reports.all_topics(store)
    assert (topic.topic.question, topic.topic.wave, topic.reports) == ("crash", "2026-11", 10)
    folding(store)(1000)
    assert differing(store, "sample") == {}
    replies = store.replies("sample")
    assert replies.frame.height == 30
    assert 20 < tallies.tally(replies, "smoking").n <= 30


def test_a_database_that_was_released_is_opened_and_takes_answers(made):
    store = Store(made)
    try:
        check(store)
        published = store.published("sample")
        assert json.loads(published.bytes)["questionnaire"]["name"] == "sample"
        renewed = store.renew("sample")  # on its way to this version's page
        assert renewed.renewed[0] == published.hash
        store.close("sample")
    finally:
        store.dispose()


def test_a_backup_that_was_released_is_restored_into_either_kind_of_database(made, store):
    copied = backups.restore(store, made, client=CLIENT)
    assert (copied.surveys, copied.replies) == (2, 30)
    check(store)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_questionnaire_that_was_released_is_opened(path):
    form = load(path)
    assert json.loads(form.to_json()).keys() >= json.loads(path.read_bytes()).keys()
    assert Published.of(form).questionnaire == form
