"""Invitations: one person answers once, whatever fails between; and the function of RFC 9497 on both sides."""

import json
import re
import secrets
import threading
import time

import pytest
from sqlalchemy import insert, select

from naysay import DataError
from naysay.collect import Published, invitations, respond, voprf
from naysay.collect.admin import backup as backups
from naysay.collect.app import create_app
from naysay.collect.device.memory import Draft
from naysay.collect.invitations import data_of
from naysay.collect.serving import background
from naysay.collect.storage import Reply, Store, tables, today
from naysay.collect.survey.submission import Reader, Refusal

JSON = {"content-type": "application/json"}
VECTORS = "rfc9497_voprf.json"


@pytest.fixture(scope="module")
def rfc(request):
    text = (request.path.parents[1] / "reference" / VECTORS).read_text(encoding="utf-8")
    return json.loads(text, object_hook=octets)


def octets(found):
    return {key: bytes.fromhex(text) if is_hex(text) else text for key, text in found.items()}


def is_hex(text):
    return isinstance(text, str) and re.fullmatch("([0-9a-f]{2})+", text)


def test_the_server_computes_the_function_of_the_rfc(rfc):
    assert voprf.public(rfc["key"]) == rfc["public"]
    for case in rfc["vectors"]:
        element = voprf.blinded(case["input"], case["blind"])
        value = voprf.evaluated(rfc["key"], element)
        proof = voprf.proved(rfc["key"], element, value, nonce=case["nonce"])
        assert (element, value, proof) == (case["blinded"], case["evaluated"], case["proof"])
        assert voprf.finalized(case["input"], case["blind"], value, proof, rfc["public"]) == case["output"]
        assert voprf.output(rfc["key"], case["input"]) == case["output"]


def test_the_page_computes_the_function_of_the_rfc(rfc, page_node):
    given = json.loads(json.dumps(rfc, default=bytes.hex))
    told = page_node("voprf.mjs", "rfc", "vendor/voprf.js", given)
    assert told["vectors"] == [{name: case[name] for name in told["vectors"][0]} for case in given["vectors"]]
    assert told["key"] == given["key"]


def test_page_and_server_understand_each_other_and_no_other_key(page_node):
    key, other = (Draft.of("").blind for _ in range(2))
    told = page_node("voprf.mjs", "draw", "vendor/voprf.js", {"input": b"said".hex()})
    element = bytes.fromhex(told["blinded"])
    for used in (key, other):
        value = voprf.evaluated(bytes.fromhex(used), element)
        proof = voprf.proved(bytes.fromhex(used), element, value)
        asked = {"evaluated": value.hex(), "proof": proof.hex(), "key": voprf.public(bytes.fromhex(key)).hex()}
        found = page_node("voprf.mjs", "finish", "vendor/voprf.js", {**told, "input": b"said".hex(), **asked})
        wanted = voprf.output(bytes.fromhex(key), b"said").hex() if used == key else "proof verification failed"
        assert found == wanted


def test_a_device_takes_no_value_without_its_proof(rfc):
    [case, other] = rfc["vectors"]
    for value, proof in [
        (other["evaluated"], case["proof"]),
        (case["evaluated"], other["proof"]),
        (case["evaluated"], case["proof"][:32] + b"\xff" * 32),
        (case["evaluated"], bytes(64)),
        (case["evaluated"], b""),
        (bytes(32), case["proof"]),
        (b"\xff" * 32, case["proof"]),
    ]:
        with pytest.raises(DataError, match=r"key that the survey publishes|must be 32 bytes that encode one"):
            voprf.finalized(case["input"], case["blind"], value, proof, rfc["public"])


class Inviting:
    """A server that runs, whose survey invites."""

    def __init__(self, store, run, client, published):
        store.open(published)
        self.store, self.client = store, client
        self.codes = list(invitations.invite(store, published.name, 5))
        self.running = run([], store, client=client)

    @property
    def published(self):
        return self.store.published("kinds")

    def asked(self, draft, **changes):
        form = json.loads(draft.asking(self.published)) | changes
        return self.running.ask("POST", "/s/kinds/token", json.dumps(form).encode(), JSON)

    def token(self, draft=None):
        draft = draft or Draft.of(self.codes.pop())
        return draft.token(self.published, self.asked(draft).json)

    def counts(self):
        found = invitations.counts(self.store, "kinds")
        return found.invited, found.taken, found.replies, found.again


@pytest.fixture
def inviting(store, run, client, published):
    return Inviting(store, run, client, published)


def invited_body(published, answers, token, id=None):
    form = {"naysay": "answers", "version": 1, "survey": published.hash, "id": id or secrets.token_hex(16)}
    form |= {"token": token, "answers": answers, "padding": ""}
    text = json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode()
    return text[:-2] + b" " * (published.body_length - len(text)) + text[-2:]


def test_a_token_is_taken_once_and_spent_once(inviting, answers):
    draft = Draft.of(inviting.codes[0])
    first, again = inviting.asked(draft), inviting.asked(draft)
    assert first.status == again.status == 200
    assert first.json["evaluated"] == again.json["evaluated"]  # after a crash the same device gets the same token
    other = inviting.asked(Draft.of(inviting.codes[0]))
    assert (other.status, other.code) == (409, "used")
    assert inviting.counts() == (5, 1, 0, 0)
    token = draft.token(inviting.published, first.json)
    sent = invited_body(inviting.published, answers, token)
    assert inviting.running.post(sent).status == 201
    assert inviting.running.post(sent).status == 200  # the same submission, whose acknowledgment was lost
    second = inviting.running.post(invited_body(inviting.published, {**answers, "age": 31}, token))
    assert (second.status, second.code) == (409, "spent")
    assert inviting.counts() == (5, 1, 1, 0)


def test_who_has_no_token_of_this_survey_does_not_answer(inviting, answers):
    token = inviting.token()
    for wrong in ("0" * 160, token[:32] + "0" * 128, token[:-1] + ("0" if token[-1] != "0" else "1")):
        found = inviting.running.post(invited_body(inviting.published, answers, wrong))
        assert (found.status, found.code) == (403, "uninvited")
    for malformed in (token[:-1], token.upper(), 7, None):
        assert inviting.running.post(invited_body(inviting.published, answers, malformed)).code == "malformed"
    key = inviting.store.key("kinds")
    drawn = bytes(16)
    elsewhere = drawn.hex() + voprf.output(key, data_of("other", drawn)).hex()
    assert inviting.running.post(invited_body(inviting.published, answers, elsewhere)).code == "uninvited"
    assert inviting.counts() == (5, 1, 0, 0)


def test_a_server_that_is_given_the_published_survey_finds_its_key(inviting, run, answers):
    again = run([inviting.published], inviting.store, client=inviting.client)
    forged = invited_body(inviting.published, answers, "0" * 160)
    assert again.post(forged).code == "uninvited"
    token = inviting.token()
    assert again.post(invited_body(inviting.published, answers, token)).status == 201
    preview = run([inviting.published], client=inviting.client)  # has no key, and so believes no token
    assert preview.post(invited_body(inviting.published, answers, token)).code == "uninvited"


def test_a_scripted_person_whose_computer_stops_has_one_token_and_one_reply(inviting, tmp_path, monkeypatch):
    [code] = inviting.codes[:1]
    state = tmp_path / "sent"
    with background(create_app([], inviting.store, each=0)) as server:
        survey = respond.fetch(f"{server}/s/kinds")
        with pytest.raises(DataError, match="asks for invitations; give one for each of the 1 people"):
            respond.one(survey, {"age": 30}, state=state)

        def stop(*_, **__):
            raise KeyboardInterrupt

        for name in ("prepared", "_deliver"):  # after the token was taken; after the message was kept
            with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
                patched.setattr(respond, name, stop)
                respond.one(survey, {"age": 30}, state=state, invitation=code)
            assert inviting.counts() == (5, 1, 0, 0)
        receipt = respond.one(survey, {"age": 30}, state=state, invitation=f"{server}/s/kinds#{code}")
        assert inviting.counts() == (5, 1, 1, 0)
        assert json.loads(receipt.body)["token"][:32] not in state.read_bytes().decode("latin-1")
        assert respond.one(survey, {"age": 30}, state=state, invitation=code).body is None
    assert inviting.counts() == (5, 1, 1, 0)


def test_bad_requests_for_a_token_are_refused(inviting):
    draft = Draft.of(inviting.codes[0])
    unknown = inviting.asked(draft, invitation="A" * 22)
    assert (unknown.status, unknown.code) == (403, "uninvited")
    for changes in ({"invitation": 7}, {"invitation": "a"}, {"blinded": "00"}, {"more": 1}, {"blinded": "zz" * 32}):
        assert inviting.asked(draft, **changes).code == "malformed"
    for element in ("00" * 32, "ff" * 32):  # the identity, and what encodes no element
        assert inviting.asked(draft, blinded=element).code == "malformed"
    assert inviting.counts() == (5, 0, 0, 0)
    inviting.store.close("kinds")
    assert inviting.asked(draft).code == "closed"


def test_an_open_survey_gives_no_tokens(store, run, client, published):
    running = run([published], store, client=client)
    asking = b'{"invitation":"%s","blinded":"%s"}' % (b"A" * 22, b"11" * 32)
    assert running.ask("POST", "/s/kinds/token", asking, JSON).code == "unknown"
    assert invitations.counts(store, "kinds") is None


def test_a_renewed_survey_takes_the_tokens_of_before_and_a_closed_one_none(inviting, answers, until):
    token = inviting.token()
    before = inviting.published
    inviting.store.renew("kinds", client=inviting.client)
    assert inviting.published.hash != before.hash
    assert inviting.published.key == before.key
    until(lambda: inviting.running.app.state.service.catalog.surveys["kinds"].published.hash != before.hash)
    assert inviting.running.post(invited_body(before, answers, token)).status == 201  # an old page that is still open
    inviting.store.close("kinds")
    inviting.store.reopen("kinds")
    later = inviting.running.post(invited_body(inviting.published, answers, token))
    assert later.code == "spent"
    assert inviting.counts() == (5, 1, 1, 0)


def test_a_lost_link_is_replaced(inviting, answers):
    lost, used = inviting.codes[:2]
    new = invitations.replace(inviting.store, "kinds", lost)
    assert inviting.asked(Draft.of(lost)).code == "uninvited"
    assert inviting.asked(Draft.of(new)).status == 200
    token = inviting.token(Draft.of(used))
    assert inviting.running.post(invited_body(inviting.published, answers, token)).status == 201
    with pytest.raises(DataError, match="nobody can tell whether an answer has come with it"):
        invitations.replace(inviting.store, "kinds", used)
    invitations.replace(inviting.store, "kinds", used, although_taken=True)
    assert inviting.counts() == (5, 1, 1, 1)
    with pytest.raises(DataError, match="was replaced already"):
        invitations.replace(inviting.store, "kinds", used, although_taken=True)


def test_invitations_are_for_surveys_that_are_open_and_not_answered(store, published, answers, client):
    store.open(published)
    with pytest.raises(DataError, match="there is no survey 'nothing'"):
        invitations.invite(store, "nothing", 3)
    for count in (0, -1, 10**7):
        with pytest.raises(DataError, match=f"at most 1,000,000 at once; got {count:,}"):
            invitations.invite(store, "kinds", count)
    store.close("kinds")
    with pytest.raises(DataError, match="is closed; open it again"):
        invitations.invite(store, "kinds", 3)
    store.reopen("kinds")
    store.add([Reply("kinds", published.hash, "a" * 32, json.dumps(answers), today())])
    with pytest.raises(DataError, match="has 1 reply from an open link"):
        invitations.invite(store, "kinds", 3)
    assert store.published("kinds").hash == published.hash
    store.delete("kinds")


def test_a_reply_that_comes_through_the_open_link_at_the_same_moment_keeps_the_link_open(
    store, published, answers, client
):
    """Else a survey that publishes that all were invited would hold somebody who was not."""
    store.open(published)
    key = bytes([3]) + bytes(31)
    reply = Reply("kinds", published.hash, "0" * 32, json.dumps(answers), today())
    storing, refused = threading.Event(), []

    def restrict():
        storing.wait()
        try:
            store.restrict("kinds", key, voprf.public(key).hex(), client=client)
        except DataError as error:
            refused.append(str(error))

    thread = threading.Thread(target=restrict)
    thread.start()
    with store.engine.begin() as connection:  # as `Store.add` does, with time in between
        connection.execute(select(tables.survey.c.hash).with_for_update(read=True)).all()
        row = {name: getattr(reply, name) for name in ("survey", "id", "answers", "day")}
        connection.execute(insert(tables.reply).values(row))
        storing.set()
        time.sleep(0.3)
    thread.join()
    assert ["has 1 reply from an open link" in told for told in refused] == [True]
    assert store.published("kinds").key is None


def test_a_survey_that_invites_stays_one_when_it_is_served_or_replaced(inviting, published, client):
    before = inviting.published
    inviting.store.open(published)
    assert inviting.published.hash == before.hash
    other = Published.of(published.questionnaire.model_copy(update={"title": {"en": "Other"}}), client=client)
    inviting.store.open(other, replace=True, client=client)
    assert inviting.published.key == before.key and inviting.published.has(client)
    assert inviting.counts() == (5, 0, 0, 0)
    inviting.store.delete("kinds")
    inviting.store.open(published)
    assert inviting.published.key is None
    assert invitations.counts(inviting.store, "kinds") is None


def test_a_body_without_a_token_is_none_of_a_survey_that_invites(published, answers, write_body, client):
    asked = Published.of(published.questionnaire, client=client, key="ab" * 32)
    assert asked.hash != published.hash
    assert asked.body_length >= published.body_length
    with pytest.raises(Refusal, match="an object of naysay, version, survey, id, token, answers, padding"):
        Reader(asked).read(write_body(asked, answers), today=today())
    token = "1" * 160
    assert Reader(asked).read(invited_body(asked, answers, token), today=today()).token == token


def test_whoever_has_the_key_makes_tokens_and_the_counts_show_it(inviting, answers):
    drawn = bytes(16)
    made = drawn.hex() + voprf.output(inviting.store.key("kinds"), data_of("kinds", drawn)).hex()
    assert inviting.running.post(invited_body(inviting.published, answers, made)).status == 201
    assert inviting.counts() == (5, 0, 1, 0)


def test_whoever_looks_twice_finds_those_who_were_alone_in_between(inviting, answers):
    """The limit: two reminders, backups or copies, and one person who began and answered between them."""
    links = list(inviting.codes)

    def looked():
        return invitations.untaken(inviting.store, "kinds", links), list(inviting.store.replies("kinds").rows)

    inviting.running.post(invited_body(inviting.published, answers, inviting.token()))
    (waited, before), token = looked(), inviting.token()
    assert inviting.running.post(invited_body(inviting.published, {**answers, "age": 31}, token)).status == 201
    waits, after = looked()
    assert [was != now for was, now in zip(waited, waits, strict=True)].count(True) == 1
    assert len(set(after) - set(before)) == 1


def test_a_restored_backup_forgets_what_was_taken_and_spent_since(inviting, run, answers, tmp_path):
    """The limit: with the backup somebody who kept their message has it stored again, and takes a second token."""
    code = inviting.codes[-1]
    backups.backup(inviting.store, tmp_path / "backup.db")
    first = inviting.token()
    assert inviting.running.post(invited_body(inviting.published, answers, first)).status == 201
    restored = Store(tmp_path / "restored.db")
    backups.restore(restored, tmp_path / "backup.db")
    inviting.store, inviting.running = restored, run([], restored, client=inviting.client)
    for token in (first, inviting.token(Draft.of(code))):
        assert inviting.running.post(invited_body(inviting.published, answers, token)).status == 201
    assert inviting.counts() == (5, 1, 2, 0)  # more have answered than have begun
    inviting.running.stop()
    restored.dispose()


def test_storing_and_spending_happen_both_or_not_at_all(store, published, answers):
    """In whatever group two replies come: between the rows of one transaction nothing can be left."""
    store.open(published)
    invitations.invite(store, "kinds", 1)
    hash = store.published("kinds").hash

    def reply(id, token, day=None):
        return Reply("kinds", hash, id * 32, json.dumps(answers), day or today(), token * 32)

    assert [each.what for each in store.add([reply("a", "1"), reply("b", "1")])] == ["stored", "spent"]
    with pytest.raises(Exception, match=r"."):
        store.add([reply("c", "2", day="no day")])
    assert [each.what for each in store.add([reply("d", "2"), reply("a", "1"), reply("e", "1")])] == [
        "stored",
        "repeated",
        "spent",
    ]
    assert [each.replies for each in store.surveys()] == [2]


def test_two_servers_store_one_reply_with_a_token(store, url, published, answers):
    store.open(published)
    invitations.invite(store, "kinds", 1)
    other = Store(url)
    hash = store.published("kinds").hash
    replies = [Reply("kinds", hash, id * 32, json.dumps(answers), today(), "1" * 32) for id in "ab"]
    found = [place.add([reply])[0].what for place, reply in zip((store, other), replies, strict=True)]
    assert found == ["stored", "spent"]
    other.dispose()
