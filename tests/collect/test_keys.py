"""The key of the day: opened with it is what was sealed today, and nothing after that."""

import logging
import math
import os
import shutil
from pathlib import Path

import pytest

from naysay.collect.server.keys import Keys
from naysay.collect.storage import Store
from naysay.errors import DataError

DAY, TWO_HOURS = 86_400, 7_200  # numbers of the test's own: what is promised, not what the code holds
NOON = 20_000 * DAY + DAY // 2
POINT = bytes.fromhex(Keys().public)  # what a device would draw
ASKED = b'{"point":"%s"}' % POINT.hex().encode()
JSON = {"content-type": "application/json"}


class Clock:
    def __init__(self):
        self.now = float(NOON)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory():
    """A folder in memory."""
    folder = Path("/dev/shm") / f"naysay-test-{os.getpid()}"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_sealed_box_has_one_of_few_lengths(page_node):
    """Padded to pages of 4,096 bytes, with 16 of AES-GCM behind them: the length tells little of what is inside."""
    sizes = [0, 1, 100, 4_093, 4_094, 4_095, 5_000, 8_190, 8_191, 40_000]
    boxes = page_node("sealing.mjs", "seal", "sealing.js", {"key": Keys().public, "sizes": sizes})
    assert boxes == [[4_096 * math.ceil((size + 2) / 4_096) + 16, True] for size in sizes]


def test_a_key_lasts_until_two_hours_after_its_day(clock):
    keys = Keys(clock=clock)
    public, [key] = keys.public, keys.of(POINT)
    clock.now = NOON + DAY // 2 - 1
    assert (keys.public, keys.of(POINT)) == (public, [key])
    clock.now = NOON + DAY // 2 + TWO_HOURS - 1  # what a respondent began before midnight opens
    assert keys.public != public
    assert len(keys.of(POINT)) == 2
    assert keys.of(POINT)[1] == key
    clock.now += 1
    assert key not in keys.of(POINT)
    assert len(keys.of(POINT)) == 1


def test_a_key_that_is_over_is_forgotten_though_nobody_asks(clock, memory):
    for keys in (Keys(clock=clock), Keys(memory, clock=clock)):
        clock.now = NOON
        assert keys.public
        clock.now = NOON + DAY // 2 + TWO_HOURS
        keys.forget()
        assert keys._held == {}
    assert list(memory.iterdir()) == []


def test_every_point_has_a_key_of_its_own():
    keys = Keys()
    assert keys.of(POINT) != keys.of(bytes.fromhex(Keys().public))
    assert keys.of(POINT) != Keys().of(POINT)
    with pytest.raises(ValueError):
        keys.of(b"\4" + bytes(64))


def test_servers_that_share_a_folder_share_their_keys(clock, memory):
    one, other = (Keys(memory, clock=clock) for _ in range(2))
    assert (one.public, one.of(POINT)) == (other.public, other.of(POINT))
    clock.now += DAY // 2 + TWO_HOURS // 2
    late = Keys(memory, clock=clock)
    assert other.of(POINT) == one.of(POINT) == late.of(POINT)
    assert len(late.of(POINT)) == 2
    assert {path.stat().st_mode & 0o077 for path in memory.iterdir()} == {0}


def test_keys_are_not_shared_on_a_disk(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path}/shm tmpfs rw 0 0\n")
    real = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, **how: real(mounts if path.name == "mounts" else path, **how))
    with pytest.raises(DataError, match=r"'.*/disk' is on a disk: name a folder in /dev/shm"):
        Keys(tmp_path / "disk")
    assert Keys(tmp_path / "shm" / "keys").public


@pytest.fixture
def asked(run, published, tmp_path):
    """A server that stores, and what asks it for keys."""
    running = run([published], Store(tmp_path / "answers.db"), client=published.client, each=3)

    def ask(content, **how):
        return running.ask("POST", "/s/kinds/key", content, headers=how.pop("headers", JSON), **how)

    return running, ask


def test_the_public_key_comes_with_the_survey_and_the_key_of_a_box_on_request(asked):
    running, ask = asked
    keys = running.app.state.service.keys
    assert running.get("/s/kinds/survey.json").headers["naysay-key"] == keys.public
    found = ask(ASKED)
    assert (found.status, found.json) == (200, {"keys": keys.of(POINT)})
    assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "malformed"),
        (b"[]", "malformed"),
        (b'{"point":7}', "malformed"),
        (b'{"point":"' + b"04" * 65 + b'"}', "malformed"),
        (b'{"point":"' + b"04" * 66 + b'"}', "too_large"),
    ],
)
def test_what_is_no_point_is_refused(asked, content, code):
    assert asked[1](content).code == code


def test_keys_are_asked_for_at_the_rate_of_answers_and_apart_from_them(asked):
    running, ask = asked
    assert [ask(ASKED).status for _ in range(4)] == [200, 200, 200, 429]
    assert running.post(b"{}").code == "malformed"
    assert running.ask("POST", "/s/none/key", ASKED, JSON, address="192.0.2.9").code == "unknown"
    assert ask(ASKED, headers={}, address="192.0.2.9").code == "wrong_type"


def test_no_key_is_in_the_database_or_the_log(asked, tmp_path, caplog):
    running, ask = asked
    with caplog.at_level(logging.DEBUG):
        keys = ask(ASKED).json["keys"]
        ask(b"no point")
    service = running.app.state.service
    private = [key.private_numbers().private_value for key in service.keys._held.values()]
    running.stop()
    texts = [*keys, POINT.hex(), service.keys.public, *(f"{value:064x}" for value in private)]
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("answers.db*"))
    assert len(stored) > 1_000
    assert not any(text in caplog.text for text in texts)
    assert not any(text.encode() in stored or bytes.fromhex(text) in stored for text in texts)
