"""Invitations in the browser: a link becomes a token, the token is spent with the answers, and the page says so."""

import json

import pytest
from browsing import privates, running

from naysay.collect import Published, invitations
from naysay.collect.app import create_app
from naysay.collect.storage import Store


class Inviting:
    """A server whose survey invites, and the links."""

    def __init__(self, address, store, app):
        self.address, self.store, self.app = address, store, app

    def page(self, name):
        return f"{self.address}/s/{name}"

    def link(self):
        [code] = invitations.invite(self.store, "private", 1)
        return f"/s/private#{code}"


@pytest.fixture(scope="module")
def inviting(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("inviting") / "answers.sqlite")
    store.open(Published.of(privates()))
    invitations.invite(store, "private", 1)
    app = create_app([], store, each=0, everybody=0)
    with running(app) as address:
        yield Inviting(address, store, app)


@pytest.fixture
def invited(respond, inviting):
    """Somebody new with a link of their own."""

    def new(link=None, **how):
        found = respond("private", on=inviting, **how)
        found.address = inviting.address + (link or inviting.link())
        return found

    return new


def posts(respondent):
    return [(each.url.rpartition("/")[2], each.post_data) for each in respondent.requests if each.method == "POST"]


def test_a_link_becomes_a_token_which_is_spent_with_the_answers(invited, inviting):
    before = invitations.counts(inviting.store, "private")
    link = inviting.link()
    person = invited(link).open()
    assert posts(person) == []
    assert "ticket without a name" in person.page.locator("main").text_content()
    person.start()
    assert "#" not in person.page.url
    [(where, asked)] = posts(person)
    assert where == "token"
    person.to_review()
    shown = person.shown()
    assert "A clock could still tell" in person.page.locator(".review").text_content()
    person.confirm()
    assert person.bodies() == [shown]
    token = json.loads(shown)["token"]
    assert token not in asked
    now = invitations.counts(inviting.store, "private")
    assert (now.taken, now.replies) == (before.taken + 1, before.replies + 1)
    assert token not in "".join(person.stored())
    assert person.problems == []
