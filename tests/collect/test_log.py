"""A log only grows, and says so: its tree is that of the RFC, and whatever is changed in it is noticed."""

import base64
import re
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from naysay import DataError
from naysay.cli import main
from naysay.collect import log
from naysay.collect.app import create_app
from naysay.collect.commands import log as commands
from naysay.collect.log import Head, Log
from naysay.collect.questionnaire import sample
from naysay.collect.serving import background

from .test_verify import changing

# the leaves, roots and paths that implementations of Certificate Transparency test with (RFC 6962)
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = [
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
]
CONSISTENCY = [
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
]
KEY, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([octet] * 32)) for octet in (1, 2))
NAME = "board.example.org"
PUBLIC = log.public_key(NAME, KEY)


def hexadecimal(nodes):
    return [node.hex() for node in nodes]


def test_roots_and_paths_are_those_that_are_published():
    assert [log.root(LEAVES[:size]).hex() for size in range(9)] == ROOTS
    assert hexadecimal(log.inclusion(LEAVES, 0)) == INCLUSION
    assert hexadecimal(log.consistency(LEAVES, 6)) == CONSISTENCY


def test_every_entry_and_every_beginning_is_proved_and_nothing_else_is():
    entries = [bytes([number]) for number in range(13)]
    heads = [Head(NAME, size, log.root(entries[:size])) for size in range(14)]
    for size in range(1, 14):
        for place in range(size):
            path = log.inclusion(entries[:size], place)
            reached = {other: log.included(entries[place], other, size, path) for other in range(-1, size + 1)}
            assert [other for other, node in reached.items() if node == heads[size].root] == [place]
            assert log.included(b"x", place, size, path) != heads[size].root
            assert log.included(entries[place], place, size, [*path, bytes(32)]) is None
        for earlier in range(size + 1):
            path = log.consistency(entries[:size], earlier)
            assert log.consistent(heads[earlier], heads[size], path)
            assert not log.consistent(heads[earlier], heads[size], [*path, bytes(32)])
            for place in range(len(path)):
                assert not log.consistent(heads[earlier], heads[size], [*path[:place], bytes(32), *path[place + 1 :]])
            if earlier:
                other_root = heads[earlier]._replace(root=bytes(32))
                assert not log.consistent(other_root, heads[size], path)


@pytest.fixture
def announced():
    entries = (
        b'{"day":"2026-11-28","path":"/s/%d","survey":"%064d","page":"00"}' % (number, number) for number in range(5)
    )
    return Log(NAME, tuple(entries))


def test_whatever_is_changed_in_a_log_is_noticed(announced):
    text = announced.text(KEY)
    assert Log.read(text, PUBLIC) == announced
    lines = text.splitlines(keepends=True)
    others = [
        "".join(lines[:-1]),
        text + lines[-1],
        "".join([*lines[:-2], lines[-1], lines[-2]]),
        text.replace("/s/3", "/s/4"),
        text.replace("\n5\n", "\n6\n", 1),
        text.replace(NAME, "board.example.com"),
        announced.text(OTHER),
        "",
    ]
    for other in others:
        with pytest.raises(DataError):
            Log.read(other, PUBLIC)
    for public in (log.public_key(NAME, OTHER), PUBLIC[:-2], "", log.public_key("another", KEY)):
        with pytest.raises(DataError):
            Log.read(text, public)
    cosigned = text.replace("\n\n{", f"\n— witness {base64.b64encode(bytes(68)).decode()}\n\n{{", 1)
    assert Log.read(cosigned, PUBLIC) == announced  # who else signs is another matter


def test_a_proof_stands_without_the_log(announced):
    head = log.signed(announced.head, KEY)
    for place in range(5):
        proof = announced.proof(place, head)
        assert log.proved(proof, PUBLIC).path == f"/s/{place}"
        for other in (
            proof.replace(f"index {place}", "index 7"),
            proof.replace("extra ey", "extra eX"),
            head,
            proof[:90],
        ):
            with pytest.raises(DataError):
                log.proved(other, PUBLIC)


# a checkpoint of a log of certificates (May 2026) that witnesses have cosigned, with the public keys of the log and of
# one witness, as the tests of tlog_scales hold it
CHECKPOINT = """arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
"""  # noqa: E501
ARCHE = "arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f"
REMORA = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2"
SEEN = 1779573024


def test_a_checkpoint_that_others_have_cosigned_is_read_as_they_mean_it():
    assert log.head_of(CHECKPOINT, ARCHE).size == 1_432_088_532
    assert log.cosignatures(CHECKPOINT, ARCHE, [REMORA], now=SEEN, within=1) == [("remora.n621.de", SEEN)]
    later = CHECKPOINT.replace("— remora.n621.de 2net5wAAAABqEiEg", "— remora.n621.de 2net5wAAAABqEiEh")
    with pytest.raises(DataError, match="is not of this head"):
        log.cosignatures(later, ARCHE, [REMORA], now=SEEN)


WITNESS = "witness.example.org"
SECOND = 1_800_000_000
WITNESS_PUBLIC = log.public_key(WITNESS, OTHER, witness=True)


def cosigned(announced, *, key=OTHER, name=WITNESS, second=SECOND):
    return log.cosigned(announced.text(KEY), PUBLIC, key, name=name, second=second)


def test_a_cosignature_is_demanded_of_each_named_witness_and_of_this_head_alone(announced):
    text, day = cosigned(announced), 86_400
    assert Log.read(text, PUBLIC) == announced
    demand = {"public": PUBLIC, "witnesses": [WITNESS_PUBLIC], "now": SECOND}
    assert log.cosignatures(text, **demand) == [(WITNESS, SECOND)]
    again = log.cosigned(text, PUBLIC, OTHER, name=WITNESS, second=SECOND + 9)
    assert (again.count("— "), log.cosignatures(again, **demand)) == (2, [(WITNESS, SECOND + 9)])
    line = text.split("\n")[5]
    shorter = Log(NAME, announced.entries[:-1]).text(KEY)
    forked = Log(NAME, (*announced.entries[:-1], b"{}")).text(KEY)
    same_name = cosigned(announced, key=Ed25519PrivateKey.from_private_bytes(bytes(32)))
    board_line = log.signed(announced.head, OTHER).split("\n")[-2].split(" ")[2]
    as_board = base64.b64encode(base64.b64decode(line.split(" ")[2])[:4] + base64.b64decode(board_line)[4:]).decode()
    for other, reason in (
        (announced.text(KEY), "has not cosigned"),
        (same_name, "has not cosigned"),
        (cosigned(announced, name="witness.example.com"), "has not cosigned"),
        (text.replace(line, line.replace("— ", "- ")), "has not cosigned"),
        (text.replace(line, line.replace(WITNESS, "another")), "has not cosigned"),
        (shorter.replace("\n\n{", f"\n{line}\n\n{{", 1), "not of this head"),
        (forked.replace("\n\n{", f"\n{line}\n\n{{", 1), "not of this head"),
        (text.replace(line, f"— {WITNESS} {as_board}"), "not of this head"),  # signed, but as a board signs
        (text.replace(line, f"{line[:-4]}AAA="), "not of this head"),
        (
            text.replace(line, line[: len(WITNESS) + 2] + " " + line.split(" ")[2][:8]),
            "has not cosigned|not of this head",
        ),
        (f"{shorter.rpartition('{')[0]}{line}\n", "has not cosigned"),
    ):
        with pytest.raises(DataError, match=reason):
            log.cosignatures(other, **demand)
    for changed, reason in (
        ({"within": 3, "now": SECOND + 4 * day}, "last cosigned this log on 2027-01-15, more than 3 days ago"),
        ({"now": SECOND - 2 * day}, "a day to come"),
        ({"witnesses": [PUBLIC]}, "a public key of a witness looks like"),
        ({"witnesses": [WITNESS_PUBLIC.replace(WITNESS, "another")]}, "a public key of a witness looks like"),
        ({"witnesses": [WITNESS_PUBLIC, log.public_key("b", OTHER, witness=True)]}, "different keys"),
        ({"witnesses": [log.public_key("b", KEY, witness=True)]}, "different keys"),
        ({"public": WITNESS_PUBLIC}, "a public key of a log looks like"),
    ):
        with pytest.raises(DataError, match=reason):
            log.cosignatures(text, **demand | changed)


@pytest.fixture
def board(tmp_path, monkeypatch, capsys):
    """A board with a log of the sample survey, as files in the folder where the test runs."""
    monkeypatch.chdir(tmp_path)
    with background(create_app([sample()])) as server:
        assert main(["log", "add", "surveys.log", f"{server}/s/sample", "--key", "board.pem", "--name", NAME]) == 0
    printed = capsys.readouterr().out
    return dict(re.findall(r"^([a-z ]+): (\S+)", printed, re.MULTILINE))


def test_a_board_announces_and_anybody_checks(board, tmp_path, capsys):
    public, survey_hash = board["public key"], board["hash"]
    first = (tmp_path / "surveys.log").read_text()
    (tmp_path / "first.log").write_text(first)
    (tmp_path / "survey.json").write_bytes(sample().to_json())
    assert main(["log", "add", "surveys.log", "survey.json", "--key", "board.pem", "--manifest", "waict.json"]) == 0
    checked = ["log", "check", "surveys.log", "--public", public]
    assert main([*checked, "--hash", survey_hash[:16], "--earlier", "first.log", "--prove", "proof.txt"]) == 0
    assert "announced on" in capsys.readouterr().out
    assert main(["log", "check", "proof.txt", "--public", public, "--hash", survey_hash]) == 0
    assert main([*checked, "--hash", "0" * 64]) == 2
    capsys.readouterr()
    for digits in (survey_hash[:8], f"{survey_hash}0", f"hash: {survey_hash}"):
        assert main([*checked, "--hash", digits]) == 2
        assert "a hash has 64 digits" in capsys.readouterr().err
    assert main([*checked, "--hash", " ".join(survey_hash[place : place + 4] for place in range(0, 16, 4))]) == 0
    assert f"{NAME}: 2 entries, signed\n" in capsys.readouterr().out  # not that nothing was changed: since when?
    assert main([*checked, "--earlier", "first.log"]) == 0
    assert "2 entries, signed, and nothing of 'first.log' changed" in capsys.readouterr().out
    assert main(["log", "check", "first.log", *checked[3:], "--earlier", "surveys.log"]) == 2  # the wrong way round
    assert "has 1 entry, and 'surveys.log' has 2: it is an older one" in capsys.readouterr().err
    assert main(["log", "check", "proof.txt", "--public", public, "--hash", survey_hash[:8]]) == 2
    (tmp_path / "surveys.log").unlink()
    assert main(["log", "add", "surveys.log", "survey.json", "--key", "board.pem", "--name", NAME]) == 0
    assert main([*checked, "--earlier", "first.log"]) == 2
    assert "shows different people different logs" in capsys.readouterr().err
    assert (tmp_path / "board.pem").stat().st_mode & 0o77 == 0


def test_nothing_is_announced_twice_by_half_or_with_another_key(board, tmp_path, capsys):
    (tmp_path / "survey.json").write_bytes(sample().to_json())
    add = ["log", "add", "surveys.log", "survey.json", "--key"]
    assert main([*add, "board.pem"]) == 0  # the server had a preview, which is another survey
    before = (tmp_path / "surveys.log").read_bytes()
    for words, reason in (
        ([*add, "board.pem"], "announced on"),
        ([*add, "bord.pem"], "there is no key 'bord.pem'"),
        (["log", "add", "other.log", "survey.json", "--key", "new.pem"], "to begin one"),
        (["log", "add", "other.log", "survey.json", "--key", "new.pem", "--name", "a b"], "neither spaces"),
        (["log", "add", "other.log", "survey.json", "--key", "new.pem", "--name", "a\x1b[2J"], "neither spaces"),
        (["log", "add", "other.log", "survey.json", "--key", "no/new.pem", "--name", "a"], "cannot write 'no/new.pem'"),
    ):
        assert main(words) == 2
        assert reason in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"survey.json", "surveys.log", "board.pem"}
    other = Log.read(before.decode(), board["public key"])
    entry = log.Entry("2026-11-28", "/s/ünï", "e" * 64, "f" * 64)
    forked = other.with_entry(entry).text(KEY)
    with pytest.raises(DataError, match="changed meanwhile"):
        commands._replace(tmp_path / "surveys.log", forked, "")
    (tmp_path / "surveys.log.part").touch()
    with pytest.raises(DataError, match="is being written"):
        commands._replace(tmp_path / "surveys.log", before.decode(), "")
    assert (tmp_path / "surveys.log").read_bytes() == before


def test_a_check_names_the_survey_that_replaced_one_and_proves_the_newest_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    days = [("01", "a", "b"), ("02", "a", "c"), ("03", "d", "e")]
    entries = [log.Entry(f"2026-11-{day}", "/s/ünï", survey * 64, page * 64) for day, survey, page in days]
    grown = Log(NAME)
    for entry in entries:
        grown = grown.with_entry(entry)
    with pytest.raises(DataError, match="announced on 2026-11-01"):
        grown.with_entry(entries[0]._replace(day="2026-11-09"))
    assert [grown.later(place) for place in range(3)] == [entries[2], entries[2], None]
    (tmp_path / "surveys.log").write_text(grown.text(KEY))
    check = ["log", "check", "surveys.log", "--public", PUBLIC, "--hash"]
    assert main([*check, "a" * 16, "--prove", "proof.txt"]) == 0
    assert f"later, on 2026-11-03, another survey was announced at /s/ünï: {'d' * 64}" in capsys.readouterr().out
    assert log.proved((tmp_path / "proof.txt").read_text(), PUBLIC) == entries[1]
    assert main([*check, "d" * 64]) == 0
    said = capsys.readouterr()
    assert ("later" in said.out, "earlier day" in said.err) == (False, False)
    dated_back = grown.with_entry(log.Entry("2020-01-01", "/s/b", "f" * 64, "f" * 64))
    (tmp_path / "surveys.log").write_text(dated_back.text(KEY))
    assert main([*check, "f" * 64]) == 0
    assert "an earlier day than one before it" in capsys.readouterr().err


def test_an_empty_log_is_signed_and_holds_nothing():
    empty = Log(NAME)
    assert Log.read(empty.text(KEY), PUBLIC) == empty
    cosigned_text = log.cosigned(empty.text(KEY)[:-1], PUBLIC, OTHER, name=WITNESS, second=SECOND)
    assert log.cosignatures(cosigned_text, PUBLIC, [WITNESS_PUBLIC], now=SECOND) == [(WITNESS, SECOND)]


def test_a_witness_cosigns_a_log_that_only_grew(announced, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "surveys.log"
    shorter, longer = Log(NAME, announced.entries[:3]), announced
    forked = Log(NAME, (*announced.entries[:4], bytes(log.Entry.read(announced.entries[4])._replace(day="2020-01-01"))))
    cosign = ["log", "cosign", "surveys.log", "--public", PUBLIC, "--key", "witness.pem"]
    path.write_text(shorter.text(KEY))
    assert main(cosign) == 2
    assert "to make it, say whose it is" in capsys.readouterr().err
    assert main([*cosign, "--name", WITNESS]) == 0
    said = capsys.readouterr()
    witness = re.search(r"public key: (\S+)", said.out)[1]
    assert "the first log" in said.err
    check = ["log", "check", "surveys.log", "--public", PUBLIC, "--witness", witness]
    for grown in (longer, longer):
        path.write_text(grown.text(KEY))
        assert main(check) == 2
        assert f"{WITNESS} has not cosigned this log" in capsys.readouterr().err
        assert main(cosign) == 0
        assert main([*check, "--within", "1"]) == 0
        assert f"1 of 1 that you named have cosigned it ({WITNESS} on 20" in capsys.readouterr().out
    record = (tmp_path / "witness.pem.seen").read_bytes()
    for lie, said in (
        (forked, "does not begin with the 5 entries that you have cosigned"),
        (shorter, "this log has 3 entries, and the one that you have cosigned has 5: it is an older one"),
        (Log(NAME), "this log has 0 entries, and the one that you have cosigned has 5: it is an older one"),
    ):
        path.write_text(lie.text(KEY))
        assert main(cosign) == 2
        assert said in capsys.readouterr().err
        assert path.read_text() == lie.text(KEY)
    path.write_text(longer.text(OTHER))
    assert main([*cosign[:3], "--public", log.public_key(NAME, OTHER), *cosign[5:]]) == 2
    assert "signed with another key" in capsys.readouterr().err
    assert (tmp_path / "witness.pem.seen").read_bytes() == record
    second_board = "other.example.org"
    path.write_text(Log(second_board).text(KEY))  # of each log, the last head
    assert main([*cosign[:3], "--public", log.public_key(second_board, KEY), *cosign[5:]]) == 0
    path.write_text(shorter.text(KEY))
    assert main(cosign) == 2
    assert main([*cosign, "--name", "another.example.org"]) == 2
    assert "is the key of 'witness.example.org'" in capsys.readouterr().err
    second = [*cosign[:-1], "second.pem", "--name", "second.example.org"]
    assert main(second) == 0
    (tmp_path / "second.pem.seen").write_bytes(record)
    assert main(second[:-2]) == 2
    assert "tells what another key has cosigned" in capsys.readouterr().err
    (tmp_path / "witness.pem.seen").rename(tmp_path / "lost")
    assert main([*cosign, "--name", WITNESS]) == 2
    assert "nobody knows what this key has cosigned" in capsys.readouterr().err
    for damaged in ("", "[]", '{"key": "w", "heads": {"board.example.org": 1}}'):
        (tmp_path / "witness.pem.seen").write_text(damaged)
        assert main(cosign) == 2
        assert "cannot be read" in capsys.readouterr().err
    (tmp_path / "witness.pem").unlink()
    assert main([*cosign, "--name", WITNESS]) == 2


ENTRY = b'{"day":"2026-11-28","path":"/s/a","survey":"1","page":"2"}'
ODD = [
    b"hello", b"[]", b"{}", b"[" * 20_000, ENTRY.replace(b'"1"', b"1"), ENTRY.replace(b"}", b',"x":"y"}'),
    ENTRY.replace(b"/s/a", rb"/s/\u001b[2J"), ENTRY.replace(b"/s/a", rb"\ud800"),
    ENTRY.replace(b"/s/a", "\u2028".encode()),
]  # fmt: skip


@pytest.mark.parametrize("line", ODD, ids=lambda line: repr(line[:60]))
def test_what_is_signed_and_is_no_entry_is_refused_in_one_sentence(line):
    """They ended in a traceback, or moved the cursor."""
    odd = Log(NAME, (ENTRY, line))
    with pytest.raises(DataError, match="is no entry of a survey"):
        Log.read(odd.text(KEY), PUBLIC)
    with pytest.raises(DataError, match="is no entry of a survey"):
        log.proved(odd.proof(1, log.signed(odd.head, KEY)), PUBLIC)


def test_a_server_that_serves_something_else_is_not_announced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with background(changing("/s/sample", lambda body: body.replace(b"closed", b"opened"))) as server:
        assert main(["log", "add", "surveys.log", f"{server}/s/sample", "--key", "board.pem", "--name", NAME]) == 2
    assert "nothing was announced" in capsys.readouterr().err
    assert not (tmp_path / "surveys.log").exists()


def test_the_boards_page_knows_the_page_of_a_server_that_serves_one_person_something_else(board, browser, tmp_path):
    """The server knows its victim by a cookie. Everybody else, and naysay verify, gets the genuine page."""
    assert main(["log", "check", "surveys.log", "--public", board["public key"], "--page", "check.html"]) == 0
    lying = changing(
        "/s/sample",
        lambda body: body.replace(b"<noscript>", b"<script>steal()</script><noscript>"),
        when=lambda scope: scope["path"] == "/s/sample" and (b"cookie", b"victim=1") in scope["headers"],
    )
    page = browser.new_page()
    with background(lying) as server:
        for name, cookie in (("genuine", "victim=0"), ("changed", "victim=1")):
            visited = page.request.get(f"{server}/s/sample", headers={"cookie": cookie})
            (tmp_path / f"{name}.html").write_bytes(visited.body())
        (tmp_path / "survey.json").write_bytes(page.request.get(f"{server}/s/sample/survey.json").body())
    page.goto(f"file://{tmp_path}/check.html#{board['hash']}")
    assert page.locator("#log").inner_text().startswith(f"The list of {NAME} is as it was signed")
    assert "was announced on" in page.locator("#survey.yes").inner_text()
    page.fill("#digits", "0123 4567 89ab cdef")
    assert "do not answer" in page.locator("#survey.no").inner_text()
    page.set_input_files("#files", [tmp_path / f"{name}" for name in ("genuine.html", "changed.html", "survey.json")])
    page.wait_for_selector("#pages p:nth-child(3)")
    verdicts = page.locator("#pages p").all()
    assert [verdict.get_attribute("class") for verdict in verdicts] == ["verdict yes", "verdict no", "verdict yes"]
    assert "compare its digits, too" in verdicts[0].inner_text()  # of all surveys of this name it is the page
    forged = (tmp_path / "check.html").read_text().replace(board["hash"], "0" * 64)
    (tmp_path / "forged.html").write_text(forged)
    page.goto(f"file://{tmp_path}/forged.html")
    page.wait_for_selector("#log.no")
    assert "not the one that was signed" in page.locator("#log").inner_text()
    page.goto(f"file://{tmp_path}/forged.html#{board['hash']}")
    page.reload()
    page.wait_for_selector("#log.no")
    assert page.locator("#survey").is_hidden()  # of a list that is not to be trusted nothing follows, in either way
    (tmp_path / "unsigned.html").write_text((tmp_path / "check.html").read_text().replace(f"\\u2014 {NAME} ", "— "))
    page.goto(f"file://{tmp_path}/unsigned.html")
    page.wait_for_selector("#log.no")
    assert "not signed by the key of this page" in page.locator("#log").inner_text()
    page.close()


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("{16}", "yes"),
        ("{64}", "yes"),
        ("hash: {64}", "yes"),
        ("SHA-256 (survey.json) = {64}", "yes"),
        ("Hash:\n{upper}\n", "yes"),
        ("SHA 256: {16}", "yes"),
        ("Hash de l’enquête : {16}", "yes"),
        ("{pairs}", "yes"),
        ("{four}", "yes"),
        ("  {32}\n{rest}  ", "yes"),
        ("{15}", "open"),
        ("{64}0", "open"),
        ("hash:", "open"),
        ("O{15}", "open"),  # the letter O
        ("{15}0", "no"),
        ("hash: 0{15}", "no"),
        ("{63}0", "no"),
    ],
)
def test_the_boards_page_reads_digits_with_their_label_and_accuses_nobody_of_a_missing_one(
    typed, verdict, digits_page, board
):
    digits = board["hash"]
    assert (digits[0], digits[15], digits[-1]) != ("0", "0", "0")
    four = " ".join(digits[place : place + 4] for place in range(0, 16, 4))
    pairs = ":".join(digits[place : place + 2] for place in range(0, 16, 2))
    lengths = {length: digits[: int(length)] for length in ("15", "16", "32", "63", "64")}
    parts = {**lengths, "upper": digits.upper(), "four": four, "pairs": pairs, "rest": digits[32:]}
    digits_page.fill("#digits", re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], typed))
    assert digits_page.locator("#survey").get_attribute("class") == f"verdict {verdict}"


@pytest.fixture
def digits_page(board, browser, tmp_path):
    """The board's page, where digits are typed."""
    assert main(["log", "check", "surveys.log", "--public", board["public key"], "--page", "check.html"]) == 0
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/check.html")
    page.wait_for_selector("#entries tr")
    yield page
    page.close()


def test_the_boards_page_demands_its_witnesses(board, browser, tmp_path, capsys):
    public = board["public key"]
    assert main(["log", "cosign", "surveys.log", "--public", public, "--key", "w.pem", "--name", WITNESS]) == 0
    witness = re.search(r"public key: (\S+)", capsys.readouterr().out)[1]
    check = ["log", "check", "surveys.log", "--public", public, "--witness"]
    assert main([*check, witness, "--page", "check.html"]) == 0
    assert main([*check, WITNESS_PUBLIC, "--page", "other.html"]) == 2
    assert not (tmp_path / "other.html").exists()
    page, text = browser.new_page(), (tmp_path / "check.html").read_text()
    line = re.search(rf"\\u2014 {WITNESS} ([^\\]+)", text)[1]
    forged = text.replace(line, line[:16] + ("A" if line[16] != "A" else "B") + line[17:])
    for shown, said in (
        (text, f"is as it was signed; cosigned by {WITNESS} on 20"),
        (forged, f"{WITNESS} has not cosigned the list below"),
        (text.replace(f"\\u2014 {WITNESS} ", "- "), f"{WITNESS} has not cosigned the list below"),
        (text.replace(witness, WITNESS_PUBLIC), f"{WITNESS} has not cosigned the list below"),
    ):
        (tmp_path / "shown.html").write_text(shown)
        page.goto(f"file://{tmp_path}/shown.html")
        page.wait_for_function("document.querySelector('#log').textContent")
        assert said in page.locator("#log").inner_text()
        assert page.locator("#digits").is_disabled() == (shown != text)
    page.close()


def test_a_proof_carries_its_witnesses(board, tmp_path, capsys):
    public = board["public key"]
    assert main(["log", "cosign", "surveys.log", "--public", public, "--key", "w.pem", "--name", WITNESS]) == 0
    witness = re.search(r"public key: (\S+)", capsys.readouterr().out)[1]
    assert main(["log", "check", "surveys.log", "--public", public, "--hash", board["hash"], "--prove", "proof"]) == 0
    capsys.readouterr()
    assert main(["log", "check", "proof", "--public", public, "--witness", witness]) == 0
    assert "1 of 1 that you named have cosigned it" in capsys.readouterr().out
    assert main(["log", "check", "proof", "--public", public, "--witness", WITNESS_PUBLIC]) == 2


def test_a_symbolic_link_to_a_log_stays_one(board, tmp_path):
    public = board["public key"]
    (tmp_path / "web").mkdir()
    shutil.move(tmp_path / "surveys.log", tmp_path / "web" / "surveys.log")
    (tmp_path / "surveys.log").symlink_to("web/surveys.log")
    assert main(["log", "cosign", "surveys.log", "--public", public, "--key", "w.pem", "--name", WITNESS]) == 0
    assert (tmp_path / "surveys.log").is_symlink()
    assert f"— {WITNESS} " in (tmp_path / "web" / "surveys.log").read_text(encoding="utf-8")


def test_an_entry_more_needs_a_new_cosignature(board, tmp_path, capsys):
    public = board["public key"]
    assert main(["log", "cosign", "surveys.log", "--public", public, "--key", "w.pem", "--name", WITNESS]) == 0
    (tmp_path / "survey.json").write_bytes(sample().to_json())
    assert main(["log", "add", "surveys.log", "survey.json", "--key", "board.pem"]) == 0
    assert "have it cosigned again before you publish it" in capsys.readouterr().err
    assert WITNESS not in (tmp_path / "surveys.log").read_text()


def test_verify_demands_that_a_log_announces_what_is_served(board, tmp_path, capsys):
    public = board["public key"]
    assert main(["log", "cosign", "surveys.log", "--public", public, "--key", "w.pem", "--name", WITNESS]) == 0
    witness = re.search(r"public key: (\S+)", capsys.readouterr().out)[1]
    same_survey = Log.read((tmp_path / "surveys.log").read_text(), public).entries[0].replace(b'"page":"', b'"page":"0')
    other = Log("other.example.org", (ENTRY, same_survey))
    (tmp_path / "other.log").write_text(other.text(KEY))
    with background(create_app([sample()])) as server:
        verify = ["verify", f"{server}/s/sample", "--log", "surveys.log", "--public", public]
        assert main(verify) == 0
        assert "none was named with --witness" in capsys.readouterr().out
        assert main([*verify, "--witness", witness, "--within", "1"]) == 0
        said = capsys.readouterr().out
        assert f"{NAME} announced this survey and this page on" in said
        assert "1 of 1 that you named have cosigned it" in said and "later" not in said
        entry = log.Entry("2999-12-31", "/s/sample", "e" * 64, "f" * 64)
        grown = Log.read((tmp_path / "surveys.log").read_text(), public).with_entry(entry)
        (tmp_path / "grown.log").write_text(grown.text(commands._private_key(tmp_path / "board.pem")))
        assert main([*verify[:3], "grown.log", *verify[4:]]) == 0
        assert f"later, on 2999-12-31, another survey was announced at /s/sample: {'e' * 64}" in capsys.readouterr().out
        for words, reason in (
            ([*verify, "--witness", WITNESS_PUBLIC], "has not cosigned"),
            ([*verify, "--within", "1"], "name them with --witness"),
            (verify[:4], "together"),
            ([*verify[:2], "--witness", witness], "together"),
            ([*verify[:3], "other.log", "--public", log.public_key("other.example.org", KEY)], "has not announced"),
        ):
            assert main(words) == 2
            assert reason in capsys.readouterr().err
