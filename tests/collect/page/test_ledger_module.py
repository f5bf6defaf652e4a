"""The ledger of web apps does what the ledger in Python does: the same vectors, the same text in the storage."""

import json
from pathlib import Path

import pytest

from naysay import client, designs, ledger
from naysay.ledger import Ledger

CASES = json.loads((Path(__file__).parents[2] / "reference" / "memory_vectors.json").read_text(encoding="utf-8"))
NODE = {
    name: json.loads(design.to_json())["design"]
    for name, design in {
        "kary": designs.k_ary(("a", "b", "c"), epsilon=1),
        "memory": designs.remembered(("a", "b", "c"), epsilon=1, lifetime=1.5, design="k_ary"),
    }.items()
}


def test_remembering_designs_draw_what_was_recorded(node):
    for case, answers in zip(CASES["designs"], node("ledger.mjs", "replay", "randomize.js", CASES), strict=True):
        expected = [{key: vector[key] for key in ("answer", "read")} for vector in case["vectors"]]
        assert answers == expected, case["json"]["design"]["name"]


def test_prices_digests_and_kept_answers_are_those_of_python(node):
    for case, told in zip(CASES["accounts"], node("ledger.mjs", "accounts", "randomize.js", CASES), strict=True):
        assert told["digest"] == case["digest"], case["json"]["design"]["name"]
        assert told["kept"] == [said for _, said in case["kept"]]
        assert told["values"] == case["values"]
        for mine, theirs in zip(
            [*told["costs"], [told["per_change"]]], [*case["costs"], [case["per_change"]]], strict=True
        ):
            for one, other in zip(mine, theirs, strict=True):
                assert one is other is None or one == pytest.approx(other, rel=1e-9)


def test_a_life_of_a_ledger_in_the_browser_goes_on_in_python(node, tmp_path):
    """It charges, refuses with nothing lost, and Python reads its text and says the same answer."""
    asked = {"text": None, "design": NODE["kary"], "memory": NODE["memory"], "days": 20_000}
    told = node("ledger.mjs", "life", "randomize.js", asked)
    first, second, *_ = told["said"]
    assert first == second
    assert told["spent"] == pytest.approx({"unchanged": 2, "perChange": 1.5, "atMost": 3})
    assert told["said"][3][0] in ("one", "two")
    for own, message, alone in told["refused"]:
        assert alone, message
        assert own or "not a category" in message
    messages = [message for _, message, _ in told["refused"]]
    for part in (
        "was answered",
        "not a category",
        "does not fit",
        "with the cap",
        "goes back",
        "refused: ε would be 5",
        "asks for a number, which cannot be kept",
    ):
        assert sum(part in message for message in messages) == 1, (part, messages)
    assert sum("draws its memo once, and keeps it for all waves" in message for message in messages) == 2
    assert sum("damaged: cut short or changed" in message for message in messages) == 4
    path = tmp_path / "ledger"
    path.write_bytes(told["whole"].encode())
    book = Ledger(path, cap=4, clock=lambda: 20_000 * 86_400)
    assert book.spent().at_most == pytest.approx(4)
    key = bytes.fromhex(ledger.opened(path.read_bytes(), "")["key"])
    digest = ledger.digest(NODE["kary"])
    again = ledger.kept(NODE["kary"], "a", lambda label: ledger.stream(key, "q", digest, label))
    assert client.said(NODE["kary"], again) == first


def test_python_s_ledger_goes_on_in_the_browser(node, tmp_path):
    book = Ledger(tmp_path / "ledger", cap=4, clock=lambda: 20_000 * 86_400)
    whole = {"naysay": "design", "version": 1, "design": NODE["kary"]}
    said = book.answer(whole, "a", question="q", wave=0, rule="kept")
    text = book.path.read_text(encoding="utf-8")
    asked = {"text": text, "design": NODE["kary"], "memory": NODE["memory"], "days": 20_001}
    told = node("ledger.mjs", "life", "randomize.js", asked)
    assert told["said"][0] == said
    assert told["spent"]["unchanged"] == pytest.approx(2)
