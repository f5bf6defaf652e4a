"""The attack on invitations: whoever runs the server, and keeps everything, tries to find whose reply is whose.

The adversary knows who took which invitation and when. They have every request and response, the database after each of
them (its rows, and where its files changed), all that is logged, the key, and every letter: they take each of them a
second time, on a device of their own. What they lack is what a respondent's device drew.
"""

import itertools
import json
import logging
import random
import re
import secrets
import shutil

import numpy as np
import pytest
import rbcl
from scipy.optimize import linear_sum_assignment
from sqlalchemy import text

from naysay.collect import invitations, voprf
from naysay.collect.client import FOLDER
from naysay.collect.device.memory import Draft
from naysay.collect.invitations import data_of
from naysay.collect.storage import Store
from naysay.collect.storage.replies import digest
from naysay.collect.storage.tables import metadata

JSON = {"content-type": "application/json"}
PEOPLE = 200
BY_CHANCE = 9
"""A random matching, of any size, has more pairs right once in ten million times: their number is Poisson, mean 1."""
ONE = bytes([1]) + bytes(31)


class Watched:
    """A server whose owner writes down everything."""

    def __init__(self, folder, run, client, published, caplog, people=PEOPLE):
        caplog.set_level(logging.DEBUG)
        self.log = caplog
        self.folder = folder
        self.store = Store(folder / "answers.db")
        self.store.open(published)
        self.codes = invitations.invite(self.store, "kinds", people)
        self.published = self.store.published("kinds")
        self.key = self.store.key("kinds")
        self.running = run([], self.store, client=client, each=0, everybody=0)
        self.kept = self.files(), self.rows()

    def files(self):
        whole = b"".join((self.folder / f"answers.db{end}").read_bytes().ljust(2**21, b"\0") for end in ("", "-wal"))
        return np.frombuffer(whole, dtype=np.uint64)

    def rows(self):
        with self.store.reading() as connection:
            found = {name: connection.execute(text(f"SELECT * FROM {name}")).all() for name in metadata.tables}
        return {(name, *map(str, row)) for name, rows in found.items() for row in rows}

    def observed(self, path, content):
        """One request, and all that it leaves."""
        self.log.clear()
        answer = self.running.ask("POST", f"/s/kinds/{path}", content, JSON)
        assert answer.status in (200, 201), answer.content
        (bytes_before, rows_before), self.kept = self.kept, (self.files(), self.rows())
        return {
            "sent": json.loads(content) | answer.json,
            "place": np.flatnonzero(bytes_before != self.kept[0]).mean(),
            "log": self.log.text,
            "all": repr((content, answer, rows_before ^ self.kept[1], self.log.text)),
        }


def body(published, answers, token):
    form = {"naysay": "answers", "version": 1, "survey": published.hash, "id": secrets.token_hex(16)}
    form |= {"token": token, "answers": answers, "padding": ""}
    sent = json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode()
    return sent[:-2] + b" " * (published.body_length - len(sent)) + sent[-2:]


class Python:
    """Devices that take tokens as naysay's own client in Python does."""

    def __init__(self, watched, *, blind=None):
        self.survey = watched.published
        drafts = map(Draft.of, watched.codes)
        self.drafts = [each if blind is None else Draft(each.code, each.token_number, blind) for each in drafts]
        self.drawn = [(each.token_number, each.blind) for each in self.drafts]

    def asking(self):
        return [draft.asking(self.survey) for draft in self.drafts]

    def tokens(self, responses):
        return [draft.token(self.survey, each) for draft, each in zip(self.drafts, responses, strict=True)]


class Page:
    """Devices that take tokens with the page's own module."""

    module = FOLDER / "invited" / "invitation.js"

    def __init__(self, watched, page_node, *, module=module):
        self.node, self.module = page_node, module
        survey = json.loads(watched.published.bytes)
        self.given = {"survey": {name: survey[name] for name in ("questionnaire", "invitations")}}
        self.given |= {"letters": watched.codes}
        self.given["kept"] = [each["kept"] for each in self._run()]
        held = [next(iter(each.values())) for each in self.given["kept"]]
        self.drawn = [(each["drawn"], each["blind"]) for each in held]

    def asking(self):
        return [each.encode() for each in self.asked]

    def tokens(self, responses):
        first = self.asked
        done = self._run(responses=responses)
        assert self.asked == first  # asked again after a broken connection, the page sends the same
        assert {each["why"] for each in done} == {None}
        return [each["token"] for each in done]

    def _run(self, **more):
        done = self.node("invited.mjs", "take", self.module, self.given | more)
        requests = [request for each in done for request in each["requests"]]
        assert {(each["address"], each["method"]) for each in requests} == {("/s/kinds/token", "POST")}
        self.asked = [each["body"] for each in requests]
        assert len(self.asked) == len(self.given["letters"])
        return done


def field(watched, answers, order, devices):
    """All take a token, one after the other, and then reply in some order: what was seen of each."""
    takes = [watched.observed("token", each) for each in devices.asking()]
    tokens = devices.tokens([{name: take["sent"][name] for name in ("evaluated", "proof")} for take in takes])
    return takes, [watched.observed("answers", body(watched.published, answers, tokens[each])) for each in order]


def attacks(watched, takes, replies, again):
    """The guess of each attack: for every reply, the place of a take.

    `again` is what other devices draw for the same letters. A device whose chance comes from the letter draws the same.
    """
    yield "the first is the first", np.arange(len(takes))
    yield "the first is the last", np.arange(len(takes))[::-1]
    yield "places in the files", ranked([take["place"] for take in takes], [each["place"] for each in replies])
    rows = [[row[2] for row in sorted(watched.rows()) if row[0] == name] for name in ("invitation", "spent")]
    tokens = [each["sent"]["token"][:32] for each in replies]
    codes = [rows[0].index(digest(code)) for code in watched.codes]
    yield "rows of the database", ranked(codes, list(map(rows[1].index, tokens)))
    yield "strings that both have", strings(takes, replies)
    points = [voprf.blinded(data_of("kinds", bytes.fromhex(each)), ONE) for each in tokens]
    yield "numbers of a second device", nearest([drawn for drawn, _ in again], tokens)
    yield (
        "blinds of a second device",
        nearest([bare(*each) for each in zip(takes, again, strict=True)], list(map(bytes.hex, points))),
    )
    theirs = {"drawn": tokens, "output": [each["sent"]["token"][32:] for each in replies]}
    theirs |= {"point": [each.hex() for each in points]}
    theirs |= {"value": [voprf.evaluated(watched.key, each).hex() for each in points]}
    theirs |= {"id": [each["sent"]["id"] for each in replies]}
    for seen, (what, known) in itertools.product(("blinded", "evaluated", "proof"), theirs.items()):
        ours = [take["sent"][seen] for take in takes]
        yield f"order of {seen} and {what}", ranked(ours, known)
        yield f"bits of {seen} and {what}", nearest(ours, known)


def bare(take, again):
    """The element behind the blind, if the blind is the one that another device drew for the same letter."""
    inverse = rbcl.crypto_core_ristretto255_scalar_invert(bytes.fromhex(again[1]))
    return bytes(rbcl.crypto_scalarmult_ristretto255(inverse, bytes.fromhex(take["sent"]["blinded"]))).hex()


def ranked(ours, theirs):
    """The smallest of the one is the smallest of the other."""
    return np.argsort(ours)[np.argsort(np.argsort(theirs))]


def nearest(ours, theirs):
    """The matching in which the bits of the pairs differ least."""
    size = min(len(ours[0]), len(theirs[0])) // 2
    one, other = (
        np.array([[*bytes.fromhex(each)[:size]] for each in texts], dtype=np.uint8) for texts in (ours, theirs)
    )
    a, b = (np.unpackbits(each, axis=1).astype(float) for each in (one, other))
    return linear_sum_assignment(b @ (1 - a).T + (1 - b) @ a.T)[1]


def strings(takes, replies):
    """The matching in which pairs have most strings in common: all that looks like a number, a code or a hash."""
    found = [set(re.findall(r"[\w-]{8,}", each["all"])) for each in (*takes, *replies)]
    shared = [[len(take & reply) for take in found[: len(takes)]] for reply in found[len(takes) :]]
    return linear_sum_assignment(-np.array(shared))[1]


def right(guess, order):
    return int((np.asarray(guess) == np.asarray(order)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["page", "Python"])
def test_nobody_finds_whose_reply_is_whose(tmp_path, run, client, published, answers, caplog, page_node, kind):
    people = PEOPLE if kind == "page" else 40
    order = random.Random(9497).sample(range(people), people)
    watched = Watched(tmp_path, run, client, published, caplog, people=people)
    devices, again = (Page(watched, page_node) if kind == "page" else Python(watched) for _ in range(2))
    takes, replies = field(watched, answers, order, devices)
    found = {name: right(guess, order) for name, guess in attacks(watched, takes, replies, again.drawn)}
    assert len(found) == 37
    assert {name: count for name, count in found.items() if count > BY_CHANCE} == {}
    assert sum(found.values()) < 2 * len(found)  # all attacks together: one pair each is what chance gives
    assert {each["log"] for each in (*takes, *replies)} == {""}


def test_the_attack_finds_everybody_where_a_device_does_not_blind(tmp_path, run, client, published, answers, caplog):
    order = random.Random(9497).sample(range(30), 30)
    watched = Watched(tmp_path, run, client, published, caplog, people=30)
    takes, replies = field(watched, answers, order, Python(watched, blind=ONE.hex()))
    found = {name: right(guess, order) for name, guess in attacks(watched, takes, replies, Python(watched).drawn)}
    assert found["bits of blinded and point"] == found["order of evaluated and value"] == 30


FROM_THE_LETTER = "(size) => Uint8Array.from({ length: size }, (_, place) => code.charCodeAt(place % 22) ^ place)"


@pytest.mark.parametrize(
    ("right_code", "wrong_code", "attack"),
    [
        ("this.#system(DRAWN)", f"({FROM_THE_LETTER})(DRAWN)", "numbers of a second device"),
        ("(this.#data(drawn), this.#system)", f"(this.#data(drawn), {FROM_THE_LETTER})", "blinds of a second device"),
    ],
    ids=["number", "blind"],
)
def test_the_attack_finds_everybody_whose_page_draws_from_the_letter(
    tmp_path, run, client, published, answers, caplog, page_node, right_code, wrong_code, attack
):
    shutil.copytree(FOLDER, tmp_path / "client")
    module = tmp_path / "client" / "invited" / "invitation.js"
    text = module.read_text(encoding="utf-8")
    assert text.count(right_code) == 1
    module.write_text(text.replace(right_code, wrong_code), encoding="utf-8")
    order = random.Random(9497).sample(range(12), 12)
    watched = Watched(tmp_path, run, client, published, caplog, people=12)
    devices, again = (Page(watched, page_node, module=module) for _ in range(2))
    takes, replies = field(watched, answers, order, devices)
    found = {name: right(guess, order) for name, guess in attacks(watched, takes, replies, again.drawn)}
    assert found[attack] == 12 > BY_CHANCE


def test_whoever_watches_the_clock_finds_those_who_reply_in_the_order_in_which_they_began(
    tmp_path, run, client, published, answers, caplog
):
    """The limit: so a device says why it may wait."""
    watched = Watched(tmp_path, run, client, published, caplog, people=30)
    devices = Python(watched)
    takes, replies = field(watched, answers, range(30), devices)
    assert right(next(attacks(watched, takes, replies, devices.drawn))[1], range(30)) == 30


def test_the_file_does_not_tell_in_which_order_people_began(tmp_path, run, client, published, caplog):
    """Once the server has settled, rows and their places in the file are the same for any order."""
    found = []
    drafts = None
    for order in (range(30), random.Random(1).sample(range(30), 30)):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        watched = Watched(folder, run, client, published, caplog, people=1)
        with watched.store.engine.begin() as connection:  # the same key and the same invitations in both
            connection.execute(metadata.tables["invitation"].delete())
            drafts = drafts or [Draft.of(code) for code in invitations.codes(30)]
        invitations.enlist(watched.store, "kinds", [draft.code for draft in drafts])
        for each in order:
            watched.running.ask("POST", "/s/kinds/token", drafts[each].asking(watched.published), JSON)
        watched.running.stop()
        rows = [row for row in watched.rows() if row[0] == "invitation"]
        content = (folder / "answers.db").read_bytes()
        places = [content.find(digest(draft.code).encode()) for draft in drafts]
        found.append((sorted(rows), np.argsort(places).tolist()))
    assert found[0] == found[1]
