"""The ledger of web apps does what the ledger in Python does: the same vectors, the same text in the storage."""

import json
import math
import runpy
from pathlib import Path

import pytest

from naysay import client, designs, ledger
from naysay.telemetry.ledger import Ledger

CASES = json.loads((Path(__file__).parents[1] / "reference" / "memory_vectors.json").read_text(encoding="utf-8"))
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
        "; fresh and kept fit",
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
    again = ledger.kept_response(NODE["kary"], "a", lambda label: ledger.stream(key, "q", digest, label))
    assert client.response_text(NODE["kary"], again) == first


def test_python_s_ledger_goes_on_in_the_browser(node, tmp_path):
    book = Ledger(tmp_path / "ledger", cap=4, clock=lambda: 20_000 * 86_400)
    whole = {"naysay": "design", "version": 1, "design": NODE["kary"]}
    said = book.answer(whole, "a", question="q", wave=0, rule="kept")
    text = book.path.read_text(encoding="utf-8")
    asked = {"text": text, "design": NODE["kary"], "memory": NODE["memory"], "days": 20_001}
    told = node("ledger.mjs", "life", "randomize.js", asked)
    assert told["said"][0] == said
    assert told["spent"]["unchanged"] == pytest.approx(2)


RECORDED = runpy.run_path(str(Path(__file__).parents[1] / "reference" / "make_memory_vectors.py"))
FIVE = tuple("abcde")


@pytest.mark.parametrize(
    "design",
    [
        designs.k_ary(4, epsilon=1),
        designs.k_ary(256, epsilon=1),
        designs.k_ary(257, epsilon=1),
        designs.mix((1, designs.negative(FIVE)), (2, designs.k_ary(FIVE, epsilon=1))),
        designs.k_ary(FIVE, epsilon=2).then(designs.k_ary(FIVE, epsilon=3)),
        designs.remembered(FIVE, epsilon=1, lifetime=2, design="k_ary"),
    ],
    ids=["4", "256", "257", "mix", "then", "memo"],
)
def test_a_pattern_is_hashed_priced_and_kept_as_in_python(node, design):
    """Up to 256 categories as its table: a panel goes on with the shorter form, and no answer is drawn again."""
    account = RECORDED["account"](design, None, None)
    cases = {"key": RECORDED["KEY"].hex(), "accounts": [{"json": json.loads(design.to_json()), **account}]}
    (told,) = node("ledger.mjs", "accounts", "randomize.js", cases)
    assert told["digest"] == account["digest"]
    if design.kind != "remembered":
        assert account["digest"] == design.hash
    assert told["kept"] == [said for _, said in account["kept"]]
    assert told["values"] == account["values"]
    for mine, theirs in zip(told["costs"], account["costs"], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


NAMES = designs.heavy_hitters(epsilon=2, length=4)
AGES = designs.hierarchy(64, epsilon=1)
SHARED = designs.remembered(1024, epsilon=0.25, lifetime=0.3)
DAYS = 20_000


def form(design):
    """What the client in JavaScript takes of a design."""
    return json.loads(design.to_json())["design"]


def act(design, truth, question, wave, rule=None, level=None):
    """One answer that both ledgers are asked for."""
    return {"design": form(design), "truth": truth, "question": question, "wave": wave, "rule": rule, "level": level}


def in_python(path, acts, cap=None):
    """The ledger in Python does what the acts ask; what it says, and what is spent after each."""
    book = Ledger(path, cap=cap, clock=lambda: DAYS * 86_400)
    told = []
    for each in acts:
        whole = {"naysay": "design", "version": 1, "design": each["design"]}
        asked = {name: each[name] for name in ("question", "wave", "rule")} | {"part": each["level"]}
        told.append((book.answer(whole, each["truth"], **asked), tuple(book.spent())))
    return told


ACTS = {
    "open domains": [act(NAMES, "abcd", "name", wave, "kept") for wave in (1, 2)]
    + [act(NAMES, "zz", "name", 3, "kept")],
    "names of an affine design": [act(designs.affine(("a", "b"), epsilon=1, names=True), "é", "q", 1, "kept")],
    "a hierarchy": [act(AGES, 17, "age", wave, "kept", AGES.levels[-1]) for wave in (1, 2)],
    "new draws": [act(NAMES, "abcd", "name", 1, "fresh"), act(AGES, 17, "age", 1, "fresh", AGES.levels[0])],
    "memos of a shared hash": [act(SHARED, 5, "crash", wave) for wave in range(4)],
}


@pytest.mark.parametrize("acts", ACTS.values(), ids=ACTS)
def test_both_ledgers_charge_alike_and_kept_answers_are_the_same(node, tmp_path, acts):
    """Open domains and hierarchies were a TypeError in JavaScript, after they were charged."""
    path = tmp_path / "ledger"
    Ledger(path, clock=lambda: DAYS * 86_400).answer(
        designs.warner(p=0.7).to_json(), "yes", question="first", wave=0
    )  # so that both begin with one key
    text = path.read_text(encoding="utf-8")
    said = in_python(path, acts)
    found = node("ledger.mjs", "acts", "randomize.js", {"text": text, "cap": None, "days": DAYS, "acts": acts})
    for (answer, spent), told in zip(said, found["told"], strict=True):
        expected = [pytest.approx(value, rel=1e-9) if math.isfinite(value) else None for value in spent]
        assert list(told["spent"].values()) == expected
        assert told["said"] == answer or acts[0]["rule"] != "kept"
    path.write_text(found["text"], encoding="utf-8")
    assert tuple(Ledger(path).spent()) == pytest.approx(said[-1][1], rel=1e-9)


def of_version_1(path, values):
    """The same ledger as a naysay of before wrote it: the size of the hash where values can share one."""
    body = ledger.opened(path.read_bytes(), "")
    for entry in body["questions"]:
        entry["values"] = values
    path.write_bytes(ledger.sealed(body | {"version": 1}))


def test_an_old_ledger_is_charged_for_shared_hashes_when_it_is_opened(node, tmp_path):
    """Three memos of (.25, .3) were charged .6 until the question was asked again, in both languages."""
    path = tmp_path / "ledger"
    acts = [act(SHARED, 5, "crash", wave) for wave in range(4)]
    true = [spent for _, spent in in_python(path, acts[:3])][-1]
    of_version_1(path, SHARED.first.base)
    text = path.read_text(encoding="utf-8")
    asked = {"text": text, "cap": None, "days": DAYS}
    assert list(node("ledger.mjs", "acts", "randomize.js", asked | {"acts": []})["spent"].values()) == pytest.approx(
        true
    )
    assert tuple(Ledger(path).spent()) == pytest.approx(true)
    assert json.loads(path.read_bytes().split(b"\n")[0])["version"] == 1  # looking writes nothing
    again = node("ledger.mjs", "acts", "randomize.js", asked | {"acts": acts[3:]})
    (_, spent), *_ = in_python(path, acts[3:])
    assert list(again["spent"].values()) == pytest.approx(spent)
    for whole in (path.read_text(encoding="utf-8"), again["text"]):
        body = json.loads(whole.split("\n")[0])
        assert body["version"] == 2
        assert (body["questions"][0]["values"], "uncertain" in body["questions"][0]) == (None, False)


def test_an_old_ledger_of_a_design_without_a_hash_is_right_again_when_the_question_is(node, tmp_path):
    """A file of version 1 cannot tell three categories from three values of a hash: the worst is charged, and said."""
    path = tmp_path / "ledger"
    three, other = designs.k_ary(("a", "b", "c"), epsilon=1), designs.warner(p=0.7)
    said = in_python(path, [act(three, "a", "kept", wave, "kept") for wave in (1, 2)], cap=4)
    of_version_1(path, 3)
    assert Ledger(path, cap=4, clock=lambda: DAYS * 86_400).spent().at_most == math.inf
    asked = [act(other, "yes", "new", 1), act(three, "a", "kept", 3, "kept"), act(other, "yes", "new", 1)]
    found = node(
        "ledger.mjs",
        "acts",
        "randomize.js",
        {"text": path.read_text(encoding="utf-8"), "cap": 4, "days": DAYS, "acts": asked},
    )
    first, second, third = found["told"]
    for message in (first["refused"], str(refusal(path, asked[0]))):
        assert "refused: ε would be ∞ within 365 days" in message
        assert "did not write whether values of" in message
        assert "until the question is answered again" in message
    assert first["same"]
    assert second["said"] == said[0][0]
    assert second["spent"]["atMost"] == pytest.approx(3)
    assert third["spent"]["atMost"] == pytest.approx(3 + math.log(7 / 3))
    assert in_python(path, asked[1:], cap=4)[-1][1][2] == pytest.approx(3 + math.log(7 / 3))


@pytest.mark.parametrize(("after", "refused"), [(364, True), (365, False)])
def test_an_answer_counts_for_as_many_days_as_the_cap_says(node, tmp_path, after, refused):
    three = designs.k_ary(("a", "b", "c"), epsilon=1)
    path = tmp_path / "ledger"
    in_python(path, [act(three, "a", "q", 1)], cap=1)
    asked = {"text": path.read_text(encoding="utf-8"), "cap": 1, "acts": [act(three, "a", "q", 2)]}
    (told,) = node("ledger.mjs", "acts", "randomize.js", asked | {"days": DAYS + after})["told"]
    assert ("refused" in told) == refused


@pytest.mark.parametrize(("first", "then"), [(None, 3), (3, None)])
def test_a_ledger_in_the_browser_keeps_the_cap_with_which_it_was_made(node, tmp_path, first, then):
    three = designs.k_ary(("a", "b", "c"), epsilon=1)
    path = tmp_path / "ledger"
    in_python(path, [act(three, "a", "q", 1)], cap=first)
    asked = {"text": path.read_text(encoding="utf-8"), "cap": then, "days": DAYS, "acts": [act(three, "a", "q", 2)]}
    (told,) = node("ledger.mjs", "acts", "randomize.js", asked)["told"]
    assert "was made with the cap" in told["refused"]


@pytest.mark.parametrize("locks", [True, False])
def test_answers_at_once_are_charged_one_after_another(node, locks):
    three = designs.k_ary(("a", "b", "c"), epsilon=1)
    acts = [act(three, "a", "q", wave) for wave in (1, 1, 2, 3)]
    found = node("ledger.mjs", "together", "randomize.js", {"cap": 2, "acts": acts, "locks": locks})
    # Each is hashed before it waits for its turn, so that the turns may come in any order.
    messages = list(zip((1, 1, 2, 3), found["told"], strict=True))
    charged = sorted(str(wave) for wave, message in messages if message is None)
    (entry,) = json.loads(found["text"].splitlines()[0])["questions"]
    assert sorted(wave for wave, _ in entry["waves"]) == charged
    assert len(set(charged)) == 2
    for wave, message in messages:
        assert message is None or f"wave {wave} of q was answered" in message or "is refused: ε would be 3" in message


def refusal(path, asked):
    """What the ledger in Python says where it refuses."""
    with pytest.raises(ledger.LedgerError) as caught:
        in_python(path, [asked], cap=4)
    return caught.value


PARTS = {
    "a number in a pair": designs.number(low=0, high=100, epsilon=1) * designs.warner(p=0.7),
    "a memo in a pair": designs.remembered(3, epsilon=1, lifetime=2) * designs.warner(p=0.7),
    "a number in a pair of pairs": designs.number(low=0, high=100, epsilon=1)
    * designs.warner(p=0.7)
    * designs.warner(p=0.6),
}


@pytest.mark.parametrize("design", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("lot", [False, True])
def test_what_this_client_cannot_draw_is_refused_before_it_is_charged(node, design, lot):
    pair = ["50", "yes"]
    one = act(design, [pair, "yes"] if design.first.kind == "product" else pair, "q", 1, "fresh")
    given = {"wave": 1, "asked": {"q": [one["design"], one["truth"]]}} if lot else one
    found = node("ledger.mjs", "acts", "randomize.js", {"text": None, "cap": None, "days": DAYS, "acts": [given]})
    (told,) = found["told"]
    assert told["by"] == "LedgerError"
    assert "not as a part of another" in told["refused"] or "draws its memo once" in told["refused"]
    assert found.get("text") is None


def test_one_of_several_questions_by_lot_costs_the_largest(node):
    asked = {name: [form(designs.k_ary(3, epsilon=one)), 1] for name, one in (("a", 1), ("b", 3), ("c", 2))}
    acts = [{"wave": wave, "asked": asked} for wave in range(2)]
    found = node("ledger.mjs", "acts", "randomize.js", {"text": None, "cap": None, "days": DAYS, "acts": acts})
    assert [told["spent"]["atMost"] for told in found["told"]] == pytest.approx([3, 6])


def test_values_that_a_design_does_not_know_are_refused_before_they_are_charged(node):
    asked = [
        act(NAMES, "abcde", "q", 1),
        act(AGES, 64, "q", 1, level=AGES.levels[0]),
        act(AGES, 3, "q", 1),
        act(designs.number(low=0, high=1, epsilon=1), "2", "q", 1),
    ]
    found = node("ledger.mjs", "acts", "randomize.js", {"text": None, "cap": None, "days": DAYS, "acts": asked})
    assert [each["by"] for each in found["told"]] == ["RangeError"] * 4
    assert found.get("text") is None
