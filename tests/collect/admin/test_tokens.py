"""Tokens: each reads what it is for, of the survey that it is for, until its last day; only hashes are stored."""

import datetime

import pytest

from naysay import DataError
from naysay.collect.admin import tokens
from naysay.collect.storage import today
from naysay.collect.storage.tables import token as table
from naysay.collect.survey.submission import Refusal

READ, EXPORT = tokens.SCOPES


def refused(store, secret, scope=READ, survey="kinds"):
    with pytest.raises(Refusal) as found:
        tokens.check(store, secret, scope=scope, survey=survey)
    return found.value.status


def test_a_token_reads_what_it_is_for_and_nothing_else(store, published):
    store.open(published)
    one, secret = tokens.create(store, "numbers", scopes=[READ])
    both, wide = tokens.create(store, "all", scopes=[EXPORT, READ], survey="kinds")
    assert tokens.check(store, secret, scope=READ, survey="kinds").id == one.id
    assert tokens.check(store, secret, scope=READ).id == one.id
    assert tokens.check(store, wide, scope=EXPORT, survey="kinds").scopes == (READ, EXPORT)
    assert refused(store, secret, EXPORT) == 403
    assert refused(store, wide, EXPORT, "other") == 403
    assert refused(store, wide, EXPORT, None) == 403
    assert {each.id: each.used for each in tokens.listed(store)} == {one.id: today(), both.id: today()}


def test_what_is_no_token_is_refused(store):
    found, secret = tokens.create(store, "numbers", scopes=[READ])
    swapped = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    for wrong in (None, "", found.id, swapped, secret + "x", secret.upper(), "naysay_" + "0" * 52, "\0", "é" * 60):
        assert refused(store, wrong) == 401


def test_a_token_that_was_revoked_or_whose_day_is_over_reads_nothing(store):
    yesterday = today() - datetime.timedelta(1)
    found, secret = tokens.create(store, "numbers", scopes=[READ], expires=today())
    assert tokens.check(store, secret, scope=READ).id == found.id
    with store.engine.begin() as connection:
        connection.execute(table.update().values(expires=yesterday))
    assert refused(store, secret) == 401
    tokens.revoke(store, found.id)
    assert refused(store, secret) == 401
    assert tokens.listed(store) == ()
    with pytest.raises(DataError, match=r"there must be one token .* there are 0; there are: none"):
        tokens.revoke(store, found.id)


def test_tokens_are_revoked_by_name_where_only_one_has_it(store):
    for name in ("one", "two", "two"):
        tokens.create(store, name, scopes=[READ])
    assert tokens.revoke(store, "one").name == "one"
    with pytest.raises(DataError, match=r"there are 2; there are: .*two"):
        tokens.revoke(store, "two")


def test_a_token_goes_with_its_survey(store, published):
    """Another survey of the same name must not be open to it."""
    store.open(published)
    _, secret = tokens.create(store, "numbers", scopes=[READ], survey="kinds")
    store.delete("kinds")
    store.open(published)
    assert refused(store, secret) == 401


def test_no_secret_is_stored(store):
    _, secret = tokens.create(store, "numbers", scopes=[READ])
    with store.engine.connect() as connection:
        stored = " ".join(map(str, connection.execute(table.select()).one()))
    assert secret not in stored
    assert secret[16:] not in stored


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("  ", {}, "needs a name of at most 64 characters in one line; got ''"),
        ("x" * 65, {}, "needs a name"),
        ("two\nlines", {}, "in one line"),
        ("n", {"scopes": []}, "must be good for some of read:aggregates, read:export; got none"),
        ("n", {"scopes": ["write"]}, "got write"),
        ("n", {"expires": datetime.date(2020, 1, 1)}, "must not be over; got 2020-01-01"),
        ("n", {"survey": "nowhere"}, "there is no survey 'nowhere'"),
    ],
)
def test_bad_tokens_are_not_made(store, name, given, told):
    with pytest.raises(DataError, match=told):
        tokens.create(store, name, **{"scopes": [READ], **given})
