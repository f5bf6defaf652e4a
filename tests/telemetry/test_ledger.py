"""The device's ledger: what it charges, what it refuses, and what a thief of the device would learn."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from naysay import Design, DesignError, client, designs, ledger, prices, privacy
from naysay.telemetry.ledger import Ledger, LedgerError

ABC = tuple("abc")
KARY = designs.k_ary(ABC, epsilon=1).to_json()
MEMORY = designs.remembered(ABC, epsilon=1, lifetime=2, design="k_ary")
DAY = 86_400


class Clock:
    """A clock that is set by hand, in days."""

    def __init__(self, day=20_000.0):
        self.day = day

    def __call__(self):
        return self.day * DAY


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger"


@pytest.mark.parametrize(
    "design",
    [
        designs.warner(p=0.7),
        designs.k_ary(300, epsilon=2),
        designs.subset_selection(9, epsilon=1),
        designs.affine(500, epsilon=1),
        designs.affine(("x", "y"), epsilon=1, names=True),
        designs.unary(9, epsilon=1),
        designs.negative(tuple("abcde"), discards=2),
        designs.uniform(tuple("abcde"), discards=2),
        designs.mix((3, designs.negative(ABC)), (1, designs.uniform(ABC))),
        designs.mix(
            (3, designs.negative(tuple("abcde"), discards=2)), (1, designs.uniform(tuple("abcde"), discards=2))
        ),
        designs.mix(*((1, designs.negative(tuple("abcde"), discards=2)) for _ in range(2))),  # no noise: ε is ∞
        designs.two_coins() * designs.k_ary(ABC, epsilon=0.5),
        *(
            designs.remembered(7, epsilon=0.5, lifetime=2, design=family)
            for family in ("k_ary", "affine", "subset_selection", "unary")
        ),
    ],
    ids=lambda design: design.name,
)
def test_the_device_and_the_analyst_say_the_same_epsilon(design):
    node = client.channel(design.to_json())
    assert prices.epsilon(node) == pytest.approx(privacy.epsilon(design), rel=1e-9)
    if design.kind == "remembered":
        entry = prices.cost(node, "memory") | {"rule": "memory"}
        for waves in (1, 2, 7, 1_000):
            assert prices.after(entry, waves) == pytest.approx(privacy.after_waves(design, waves), rel=1e-9)


def test_post_processing_is_charged_no_less_than_it_costs():
    twice = designs.k_ary(ABC, epsilon=2).then(designs.k_ary(ABC, epsilon=1))
    assert privacy.epsilon(twice) <= prices.epsilon(client.channel(twice.to_json())) == pytest.approx(2)


def test_three_lines(path):
    """New draws add, a kept draw adds nothing if nothing changed, a memo its formula; the worst is charged beside."""
    book = Ledger(path)
    for wave in range(3):
        book.answer(KARY, "a", question="new", wave=wave)
        book.answer(KARY, "a", question="kept", wave=wave, rule="kept")
        book.answer(MEMORY.to_json(), "a", question="memo", wave=wave)
    spent = book.spent()
    assert spent.unchanged == pytest.approx(3 + 1 + privacy.after_waves(MEMORY, 3))
    assert spent.per_change == pytest.approx(2)
    most = 3 * max(privacy.after_waves(MEMORY, w) / w for w in (1, 2, 3))
    assert spent.at_most == pytest.approx(3 + 3 + most)
    assert str(spent).splitlines()[0].startswith("if your answer never changed: ε = ")


def test_kept_answers_stay_and_a_change_and_back_finds_the_old_one(path):
    many = designs.k_ary(1_000, epsilon=0.1).to_json()
    book = Ledger(path)
    said = [book.answer(many, truth, question="q", wave=wave, rule="kept") for wave, truth in enumerate([5, 5, 7, 5])]
    assert said[0] == said[1] == said[3] != said[2]
    path.unlink()  # a lost key: new draws, charged again
    assert Ledger(path).answer(many, 5, question="q", wave=0, rule="kept") != said[0]


def test_kept_answers_and_remembered_reports_follow_the_design(tmp_path):
    """Over many keys, what is said is drawn from P."""
    for design, rule in ((designs.affine(5, epsilon=1, base=3), "kept"), (MEMORY, "memory"), (MEMORY, None)):
        truth, node = design.categories[1], client.channel(design.to_json())
        counts = dict.fromkeys(design.responses.texts(), 0)
        for number in range(1_500):
            streams = lambda label, number=number: ledger.stream(number.to_bytes(32), "q", "d", label)  # noqa: E731
            memo = ledger.kept_response(node, truth, streams)
            said = (
                memo
                if rule == "kept"
                else client.redraw_response(
                    node, memo, client.Bytes(ledger.stream(bytes([number % 256, number // 256]), "n", "", ""))
                )
            )
            counts[client.response_text(node, said)] += 1
        expected = 1_500 * design.matrix[:, 1]
        chi = ((np.array(list(counts.values())) - expected) ** 2 / expected).sum()
        assert chi < len(counts) + 6 * math.sqrt(2 * len(counts))


def test_kept_answers_of_one_hash_tell_which_values_share_it_and_no_epsilon_bounds_that(path):
    """The hash of an affine memo is kept for life: 40 categories, at most g reports, and 3 was printed."""
    survey = designs.affine(40, epsilon=1, base=3).to_json()
    book = Ledger(path)
    said = {int(book.answer(survey, value, question="q", wave=value, rule="kept")) for value in range(40)}
    assert len({report // 3 for report in said}) == 1
    assert book.spent().at_most == math.inf


def test_the_cap_refuses_before_anything_is_drawn_or_written(path):
    clock = Clock()
    book = Ledger(path, cap=2, clock=clock)
    book.answer(KARY, "a", question="q", wave=1)
    book.answer(KARY, "a", question="r", wave=1)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="'q' is refused: ε would be 3 within 365 days, and at most 2 is allowed"):
        book.answer(KARY, "a", question="q", wave=2)
    assert path.read_bytes() == before
    clock.day += 366
    book.answer(KARY, "a", question="q", wave=2)
    assert book.spent().at_most == pytest.approx(1)
    with pytest.raises(LedgerError, match="was made with the cap"):
        Ledger(path, cap=9).answer(KARY, "a", question="q", wave=3)
    with pytest.raises(LedgerError, match="refused"):
        Ledger(path.with_name("other"), cap=4).answer(designs.direct(ABC).to_json(), "a", question="q", wave=1)


def test_an_answer_counts_for_as_many_days_as_the_cap_says(path):
    clock = Clock()
    book = Ledger(path, cap=1, days=30, clock=clock)
    book.answer(KARY, "a", question="q", wave=1)
    clock.day += 29.9
    with pytest.raises(LedgerError, match="is refused"):
        book.answer(KARY, "a", question="q", wave=2)
    clock.day += 0.2
    book.answer(KARY, "a", question="q", wave=2)


def test_a_cap_on_what_never_changed_lets_kept_answers_through(path):
    book = Ledger(path, cap=1, of="unchanged")
    for wave in range(20):
        book.answer(KARY, "a", question="q", wave=wave, rule="kept")
    with pytest.raises(LedgerError, match="refused"):
        book.answer(KARY, "a", question="other", wave=0)


def test_one_of_several_questions_by_lot_costs_the_largest(path):
    book = Ledger(path)
    asked = {"a": (KARY, "a"), "b": (designs.k_ary(ABC, epsilon=3).to_json(), "b")}
    names = [book.one_of(asked, wave=wave)[0] for wave in range(40)]
    assert set(names) == {"a", "b"}
    assert book.spent().at_most == pytest.approx(40 * 3)


@pytest.mark.parametrize(
    "spoil", [lambda o: o[:-20], lambda o: o[:40], lambda o: b"", lambda o: o.replace(b'"1"', b'"2"')]
)
def test_a_file_cut_short_or_changed_is_refused_and_left_alone(path, spoil):
    book = Ledger(path)
    book.answer(KARY, "a", question="q", wave="1")
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    damaged = path.read_bytes()
    for act in (book.spent, lambda: book.answer(KARY, "a", question="q", wave="3")):
        with pytest.raises(LedgerError, match=r"damaged: cut short or changed\. It was left as it is"):
            act()
    assert path.read_bytes() == damaged
    path.write_bytes(whole)
    assert book.spent().at_most == pytest.approx(1)


def test_a_clock_that_goes_back_is_refused_and_loses_nothing(path):
    clock = Clock(20_010)
    book = Ledger(path, clock=clock)
    book.answer(KARY, "a", question="q", wave=1)
    clock.day = 20_009.9
    with pytest.raises(
        LedgerError, match="the clock goes back: it says 2024-10-13, and the ledger was used on 2024-10-14"
    ):
        book.answer(KARY, "a", question="q", wave=2)
    clock.day = 20_010.2
    book.answer(KARY, "a", question="q", wave=2)
    assert book.spent().at_most == pytest.approx(2)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda book: book.answer(KARY, "z", question="q", wave=1), "'z' is no category"),
        (lambda book: book.answer(KARY, "a", question="q", wave=0), "was answered; send that answer again"),
        (lambda book: book.answer(KARY, "a", question="q", wave=1, rule="memory"), "'fresh' and 'kept' fit"),
        (lambda book: book.answer(MEMORY.to_json(), "a", question="q", wave=1, rule="kept"), "'memory' fits"),
        (lambda book: book.answer("{}", "a", question="q", wave=1), "no design of version 1"),
        (lambda book: book.one_of({}, wave=1), "one question or more"),
        (lambda book: Ledger(book.path.parent / "none" / "x").spent(), "cannot use"),
        (lambda book: Ledger(book.path, cap=0), "a cap must be positive"),
        (lambda book: Ledger(book.path, cap=math.nan), "a cap must be positive"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_it_is_charged(path, call, told):
    book = Ledger(path)
    book.answer(KARY, "a", question="q", wave=0)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=told):
        call(book)
    assert path.read_bytes() == before


NO_DESIGNS = [
    "[]",
    "true",
    "3.0",
    "NaN",
    "null",
    '"x"',
    "{",
    "[" * 100_000,
    [],
    True,
    3.0,
    math.nan,
    None,
    {"naysay": "design"},
]
NO_DESIGNS += [{"naysay": "design", "version": 1, "design": node} for node in ([], 3.0, True, {}, {"kind": "no"})]
NO_DESIGNS += [json.loads(KARY) | {"version": True}]


@pytest.mark.parametrize("given", NO_DESIGNS, ids=lambda given: str(given)[:60])
def test_what_is_no_design_is_refused_in_one_sentence_at_every_entrance(path, given):
    book = Ledger(path)
    for act in (
        lambda: client.draw(given, "a"),
        lambda: book.answer(given, "a", question="q", wave=1),
        lambda: book.one_of({"q": (given, "a")}, wave=1),
    ):
        with pytest.raises(ValueError, match=r"this is no design of version 1; make one with design.to_json\(\) \(got"):
            act()
    with pytest.raises(DesignError, match=r"a design's JSON must be|reads designs of version 1"):
        Design.from_json(given)
    assert not path.exists()


def test_true_is_no_category_one():
    """In Python True == 1; JSON and the client in JavaScript know the difference."""
    with pytest.raises(ValueError, match="True is no category"):
        client.draw(designs.k_ary(3, epsilon=1).to_json(), True)


@pytest.mark.parametrize("design", [MEMORY, MEMORY * designs.warner(p=0.7)], ids=["alone", "in a pair"])
def test_a_memo_that_would_not_be_kept_is_not_drawn(path, design):
    """1,000 calls of `client.draw` gave 471, 201, 164, 164: the most frequent was the truth."""
    truth = "a" if design is MEMORY else ["a", "yes"]
    with pytest.raises(ValueError, match=r"draws its memo once, and keeps it .* naysay.telemetry.ledger.Ledger"):
        client.draw(design.to_json(), truth)
    book = Ledger(path)
    with pytest.raises(LedgerError, match="is asked by itself, with rule 'memory'"):
        book.one_of({"q": (design.to_json(), truth)}, wave=1)
    if design is not MEMORY:
        with pytest.raises(LedgerError, match="is asked by itself, with rule 'memory'"):
            book.answer(design.to_json(), truth, question="q", wave=1)
    assert not path.exists()


@pytest.mark.parametrize("rule", ["fresh", "kept"])
def test_open_domains_and_hierarchies_are_charged_what_they_cost(path, rule):
    """KeyError and TypeError before."""
    book = Ledger(path)
    names = designs.heavy_hitters(epsilon=2, length=4)
    ages = designs.hierarchy(64, epsilon=1)
    level = ages.levels[0]
    for wave in (1, 2):
        book.answer(names.to_json(), "abcd", question="name", wave=wave, rule=rule)
        book.answer(ages.to_json(), 17, question="age", wave=wave, rule=rule, part=level)
    one = 2 + privacy.epsilon(ages.channel(level))
    assert book.spent().at_most == pytest.approx(2 * one, rel=1e-6)
    assert book.spent().unchanged == pytest.approx((2 if rule == "fresh" else 1) * one, rel=1e-6)


@pytest.mark.parametrize("pair", [False, True])
def test_a_number_cannot_be_kept(path, pair):
    """Kept answers were drawn for each text: 50, 50.0 and +50 gave three; 40 that move a little cost 64.6, not 2."""
    number = designs.number(low=0, high=100, epsilon=2)
    design, truth = (number * designs.warner(p=0.7), ["50", "yes"]) if pair else (number, "50")
    book = Ledger(path)
    with pytest.raises(LedgerError, match="'q' asks for a number, which cannot be kept"):
        book.answer(design.to_json(), truth, question="q", wave=1, rule="kept")
    assert not path.exists()
    assert book.answer(design.to_json(), truth, question="q", wave=1)


def test_two_processes_take_turns_or_are_refused(path, monkeypatch):
    code = f"""if True:
        from naysay.telemetry.ledger import Ledger
        import sys
        book = Ledger({str(path)!r})
        for wave in range(8):
            book.answer(sys.stdin.read() if wave < 0 else DESIGN, "a", question=sys.argv[1], wave=wave)
    """.replace("DESIGN", repr(KARY))
    running = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("x", "y")]
    assert [each.wait() for each in running] == [0, 0]
    book = Ledger(path)
    assert book.spent().at_most == pytest.approx(16)
    monkeypatch.setattr(ledger, "_WAIT", 0.05)
    with book._locked(), pytest.raises(LedgerError, match="another process uses"):
        book.spent()


def test_the_file_tells_nothing_of_values_or_changes(path):
    """Two people, one of whom changed all the time: their files are alike (here they share a key)."""
    files = []
    for truths in ("aaaa", "abca"):
        path.unlink(missing_ok=True)
        book = Ledger(path, read=lambda size: bytes(range(size)), clock=Clock())
        for wave, truth in enumerate(truths):
            book.answer(KARY, truth, question="q", wave=wave, rule="kept")
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert path.stat().st_mode & 0o077 == 0 or sys.platform == "win32"
    assert json.loads(files[0].split(b"\n")[0])["questions"][0]["design"] == ledger.digest(client.channel(KARY))


def test_three_files_are_enough(tmp_path):
    for module in (client, ledger, prices):
        shutil.copy(module.__file__, tmp_path / Path(module.__file__).name)
    told = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.modules['numpy'] = sys.modules['naysay'] = None; "
        "import ledger; book = ledger.Ledger(sys.argv[1]); "
        "print(book.answer(sys.stdin.read(), 'a', question='q', wave=1), book.spent().unchanged)"
    )
    words = [sys.executable, "-I", "-c", told, str(tmp_path / "book")]
    done = subprocess.run(words, input=KARY, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] in ABC
    assert float(done.stdout.split()[1]) == pytest.approx(1)


def test_the_digest_knows_what_draws_and_not_what_is_told():
    node = client.channel(KARY)
    assert ledger.digest(node) == ledger.digest(node | {"name": "other", "notes": ["x"]})
    assert ledger.digest(node) != ledger.digest(node | {"denominator": node["denominator"] + 1})


def test_a_wave_is_answered_once_under_any_rule(path):
    book = Ledger(path)
    book.answer(KARY, "a", question="q", wave=1, rule="kept")
    with pytest.raises(LedgerError, match="wave 1 of 'q' was answered"):
        book.answer(KARY, "a", question="q", wave=1, rule="fresh")


@pytest.mark.parametrize(("first", "then"), [(None, 3), (3, None)])
def test_a_ledger_keeps_the_cap_with_which_it_was_made(path, first, then):
    Ledger(path, cap=first).answer(KARY, "a", question="q", wave=1)
    with pytest.raises(LedgerError, match="was made with the cap"):
        Ledger(path, cap=then).spent()
