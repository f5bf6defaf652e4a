"""The analyst's ledger: the same three lines as the device's, from a public schedule."""

import json
import math

import pytest

from naysay import cli, designs, privacy
from naysay.errors import DesignError
from naysay.privacy import Asked, approximate, schedule
from naysay.telemetry.ledger import Ledger

ABC = tuple("abc")
DESIGNS = {
    "fresh": designs.k_ary(ABC, epsilon=0.5),
    "kept": designs.affine(30, epsilon=1, base=3),
    "memory": designs.remembered(30, epsilon=0.4, lifetime=3, design="k_ary"),
}


def test_the_analyst_and_the_device_say_the_same(tmp_path):
    found = schedule([Asked(rule, design, waves=6, rule=rule) for rule, design in DESIGNS.items()])
    book = Ledger(tmp_path / "ledger")
    for wave in range(1, 7):
        for rule, design in DESIGNS.items():
            book.answer(design.to_json(), design.categories[0], question=rule, wave=wave, rule=rule)
        assert tuple(book.spent())[::2] == pytest.approx(found.until(wave), rel=1e-9)
    assert tuple(book.spent()) == pytest.approx((found.unchanged, found.per_change, found.at_most), rel=1e-9)


def test_reports_of_a_memo_are_not_bounded_by_the_sum_but_by_the_lifetime():
    memo = Asked("q", DESIGNS["memory"], waves=200)
    assert memo.until(2)[0] > 2 * memo.until(1)[0]
    assert memo.until(200)[0] == pytest.approx(3, abs=1e-6)


def test_one_question_by_lot_costs_the_largest():
    two = [Asked("a", DESIGNS["fresh"], waves=4, lot="x"), Asked("b", designs.k_ary(4, epsilon=2), waves=[2], lot="x")]
    for order in (two, two[::-1]):
        assert schedule(order).at_most == pytest.approx(3 * 0.5 + 2)
    assert schedule([Asked(each.question, each.design, each.waves) for each in two]).at_most == pytest.approx(4)


def test_optimal_composition_is_between_nothing_and_the_sum():
    """Kairouz, Oh & Viswanath 2015: δ of the returned ε is at most what is asked, by the binomial privacy loss."""
    for one, number, delta in ((0.1, 100, 1e-6), (0.5, 40, 1e-5), (1, 2, 1e-6)):
        found = approximate(one, number, delta=delta)
        p = math.exp(one) / (1 + math.exp(one))
        losses = [
            ((2 * k - number) * one, math.comb(number, k) * p**k * (1 - p) ** (number - k)) for k in range(number + 1)
        ]
        assert sum(chance * (1 - math.exp(found - loss)) for loss, chance in losses if loss > found) <= delta
        assert 0 < found <= number * one
    assert approximate(0.1, 100, delta=1e-6) < 5


def test_the_command_reads_a_schedule(tmp_path, capsys):
    toml = """
        cap = 3
        [[questions]]
        name = "crash"
        design = "remembered(epsilon=1, lifetime=2)"
        categories = ["none", "save, and print", "start"]
        waves = 5
        [[questions]]
        name = "age"
        design = "k_ary(epsilon=0.2)"
        categories = ["young", "old"]
        waves = 30
    """
    (tmp_path / "s.toml").write_text(toml)
    assert cli.main(["ledger", str(tmp_path / "s.toml")]) == 0
    text = capsys.readouterr().out
    assert "if an answer never changed: ε = 7.995" in text
    assert "the cap of 3 can be exceeded from wave 3 on" in text
    assert "age: beside the sum, a weaker kind of promise: (ε, δ) = (" in text
    assert cli.main(["ledger", str(tmp_path / "s.toml"), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unchanged"] == pytest.approx(privacy.after_waves(designs.remembered(3, epsilon=1, lifetime=2), 5) + 6)
    assert len(told["waves"]) == 30


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[questions]]\nname='a'", "question 1 must have a name and a design"),
        ("[[questions]]\nname='a'\ndesign='warner(p=0.7)'\nwaves=0", "the waves of 'a' must be"),
        ("[[questions]]\nname='a'\ndesign='warner(p=0.7)'\nrule='memory'", "the rule of 'a' must be"),
        ("[[questions]]\nname='a'\ndesign=3", "a design is a text"),
        ("[[questions", "cannot read the schedule"),
        ("cap = 3", "a list 'questions'"),
        ("cap = -1\n[[questions]]\nname='a'\ndesign='warner(p=0.7)'", "the cap must be above 0"),
    ],
)
def test_a_bad_schedule_is_refused_in_one_line(tmp_path, capsys, text, told):
    (tmp_path / "s.toml").write_text(text)
    assert cli.main(["ledger", str(tmp_path / "s.toml")]) == 2
    assert told in capsys.readouterr().err


def test_questions_need_names_of_their_own():
    with pytest.raises(DesignError, match="different names"):
        schedule([Asked("a", DESIGNS["fresh"]), Asked("a", DESIGNS["fresh"])])
    with pytest.raises(DesignError, match="its rule must be 'fresh'"):
        Asked("a", DESIGNS["fresh"], rule="kept", lot="x")


def test_a_schedule_is_a_table_of_waves():
    found = schedule([Asked("q", DESIGNS["fresh"], waves=3)])
    frame = found.to_frame()
    assert frame.columns == ["wave", "unchanged", "at_most"]
    assert frame["unchanged"].to_list() == pytest.approx([0.5, 1.0, 1.5])
    assert found.to_csv().splitlines()[0] == "wave,unchanged,at_most"
