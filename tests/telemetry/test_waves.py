"""What asking again costs: closed forms against the table of all pairs of answers."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from naysay import designs, prices, privacy
from naysay.design import Redraw, Remembered
from naysay.design.algebra import memory_of
from naysay.design.drawing import GeneratorSource, steepened
from naysay.errors import DesignError
from naysay.telemetry.ledger import Ledger, LedgerError

KARY = designs.k_ary(4, epsilon=1)


def largest(joint):
    """ε of a table (answers..., cells)."""
    rows = joint.reshape(-1, joint.shape[-1])
    rows = rows[rows.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        return float(np.log(rows.max(axis=1) / rows.min(axis=1)).max())


def table(stay, change, t):
    """The chances of both answers, (answers, answers, pairs of values); `stay(x)` and `change(x1, x2)` give them."""
    cells = [stay(x1) if x1 == x2 else change(x1, x2) for x1, x2 in itertools.product(range(t), repeat=2)]
    return np.stack(cells, axis=-1), np.stack([stay(x) for x in range(t)], axis=-1)


@pytest.mark.parametrize("t", [2, 4, 130])
@pytest.mark.parametrize("rho", [1, 0.5, 0.2])
def test_a_partial_new_draw_costs_what_the_table_of_pairs_says(t, rho):
    design = designs.k_ary(t, epsilon=1)
    p = design.matrix
    small = min(t, 4)  # answers and values alike in all that matters
    pair, stayed = table(
        lambda x: (rho * np.outer(p[:, x], p[:, x]) + (1 - rho) * np.diag(p[:, x]))[:small, :small],
        lambda x, z: np.outer(p[:, x], p[:, z])[:small, :small],
        small,
    )
    found = privacy.waves(design, rule="redraw", redraw=rho)
    assert found.pair == pytest.approx(largest(pair), abs=1e-12)
    assert found.stayed == pytest.approx(largest(stayed), abs=1e-12)
    published = {1: (2, 2), 0.5: (2.693, 1.228), 0.2: (3.609, 1.070)}[rho]  # METHODS_LDP 3.3
    assert t != 4 or (found.pair, found.stayed) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("t", [2, 5])
def test_two_reports_of_memos_cost_what_the_table_of_pairs_says(t):
    survey = designs.remembered(t, epsilon=0.7, lifetime=2, design="k_ary")
    first, keep = survey.first.matrix, survey.second.keep / survey.second.whole
    second = keep * np.eye(t) + (1 - keep) / t
    both = [np.einsum("m,am,bm->ab", first[:, x], second, second) for x in range(t)]
    pair, stayed = table(lambda x: both[x], lambda x, z: np.outer(survey.matrix[:, x], survey.matrix[:, z]), t)
    found = privacy.waves(survey)
    assert found.rule == "memory"
    assert found.pair == pytest.approx(largest(pair), abs=1e-12)
    assert found.stayed == pytest.approx(largest(stayed), abs=1e-12) == privacy.after_waves(survey, 2)


def of_sequence(first, second, values):
    """The chances of all reports of these values, one a wave, (answers, ...): each value has one memo."""
    t, waves = len(first), len(values)
    chance = np.ones((t,) * waves)
    for value in set(values):
        own = [wave for wave in range(waves) if values[wave] == value]
        grid = np.zeros((t,) * waves)
        for memo in range(t):
            term = np.full((t,) * waves, first[memo, value])
            for wave in own:
                term = term * second[:, memo].reshape([-1 if axis == wave else 1 for axis in range(waves)])
            grid += term
        chance = chance * grid
    return chance


@pytest.mark.parametrize("seed", range(4))
def test_at_most_is_about_the_values_and_a_change_shows_besides(seed):
    """All sequences of values in three waves: the third line of a ledger, and the bound of docs/reference/ledger.md."""
    rng = np.random.default_rng([2026, seed])
    t, one = int(rng.integers(2, 4)), float(rng.uniform(0.2, 1.5))
    survey = designs.remembered(t, epsilon=one, lifetime=one + float(rng.uniform(0.05, 2)), design="k_ary")
    keep = survey.second.keep / survey.second.whole
    second = keep * np.eye(t) + (1 - keep) / t
    sequences = list(itertools.product(range(t), repeat=3))
    chances = [of_sequence(survey.first.matrix, second, each) for each in sequences]
    patterns = [tuple(each.index(value) for value in each) for each in sequences]
    alike = max(
        float(np.log(mine / other).max())
        for (mine, a), (other, b) in itertools.product(zip(chances, patterns, strict=True), repeat=2)
        if a == b
    )
    every = largest(np.stack(chances, axis=-1))
    asked = privacy.Asked("q", survey, waves=3)
    rho = (keep * t + 1 - keep) / (1 - keep)
    assert alike <= asked.until(3)[1] + 1e-9
    assert every <= privacy.epsilon(survey) + 2 * math.log(rho) + 1e-9


AFFINE = {  # (categories, base, ε of a report, ε of a memo)
    (3, 2, 0.5, 1.5),
    (4, 2, 0.25, 0.3),
    (5, 3, 1.0, 2.0),
    (9, 3, 0.3, 3.0),
    (3, 3, 0.7, 2.0),  # one category for each value of the hash: none are shared
}


def stepped(wave, lifetime):
    """The odds of a memo, and the noise that leaves those of `wave`."""
    high, low = steepened(wave.inside, wave.outside, wave.copies, lifetime)
    shared = math.gcd(wave.inside - wave.outside, high - low)
    return (high, low), Redraw((wave.inside - wave.outside) // shared, (high - low) // shared)


def of_hashed(design, reports, hashed):
    """The chance of these reports of one hash, where a memo belongs to each value that the hash has."""
    memory = memory_of(design)
    kept = design if memory is None else memory.first
    keep = 1.0 if memory is None else memory.second.keep / memory.second.whole
    p, q, g = kept.inside / kept.whole, kept.outside / kept.whole, kept.base
    chance = 1.0
    for value in set(hashed):
        mine = [report for report, held in zip(reports, hashed, strict=True) if held == value]
        chance *= sum(
            (p if memo == value else q) * math.prod(keep * (said == memo) + (1 - keep) / g for said in mine)
            for memo in range(g)
        )
    return chance


def told_at_most(design, waves):
    """(ε about the values among sequences of one pattern, ε about the values and the pattern), over all sequences."""
    memory = memory_of(design)
    kept = design if memory is None else memory.first
    t, g = len(kept.categories), kept.base
    table = kept.space.values(np.repeat(np.arange(kept.space.hashes), t), np.tile(np.arange(t), kept.space.hashes))
    every = alike = 0.0
    for row in {tuple(each) for each in table.reshape(-1, t).tolist()}:
        for reports in itertools.product(range(g), repeat=waves):
            chances = {}
            ends = {}
            for values in itertools.product(range(t), repeat=waves):
                hashed = tuple(row[value] for value in values)
                if hashed not in chances:
                    chances[hashed] = of_hashed(design, reports, hashed)
                pattern = tuple(values.index(value) for value in values)
                low, high = ends.get(pattern, (math.inf, 0.0))
                ends[pattern] = min(low, chances[hashed]), max(high, chances[hashed])
            ratios = [high / low if low else math.inf for low, high in ends.values() if high]
            alike = max(alike, math.log(max(ratios, default=1.0)))
            low, high = min(chances.values()), max(chances.values())
            every = max(every, math.log(high / low) if low else math.inf)
    return alike, every


@pytest.mark.parametrize(("t", "base", "one", "lifetime"), sorted(AFFINE))
def test_at_most_holds_for_all_sequences_of_values_that_may_share_a_hash(t, base, one, lifetime, tmp_path):
    wave = designs.affine(t, epsilon=one, base=base)
    (high, low), second = stepped(wave, lifetime)
    survey = Remembered.of(replace(wave, inside=high, outside=low, protocol=None, name="", notes=()), second)
    asked, device = privacy.Asked("q", survey, waves=4), Ledger(tmp_path / "ledger")
    for waves in (1, 2, 3, 4) if t < 5 else (1, 2, 3):
        device.answer(survey.to_json(), 0, question="q", wave=waves)
        alike, every = told_at_most(survey, waves)
        most = asked.until(waves)[1]
        assert alike <= most + 1e-9
        assert device.spent().at_most == pytest.approx(most, rel=1e-9)
        if t > base:  # what answers tell of the pattern is counted, too
            assert every <= most + 1e-9
            lines = device.spent()  # a change can show which values share a hash: it may cost all that is left
            assert lines.unchanged + lines.per_change == pytest.approx(most)
            ((_, _, rho),) = prices.odds_of_memo(survey.first.pieces, second.keep, second.whole)
            assert most <= one + (waves - 1) * rho + 1e-9


@pytest.mark.parametrize("t", [3, 4, 5])
def test_kept_answers_of_an_affine_design_prove_which_values_share_a_hash(t, tmp_path):
    design = designs.affine(t, epsilon=1, base=2)
    assert [told_at_most(design, waves)[0] for waves in (1, 2)] == pytest.approx([1, math.inf])
    asked = privacy.Asked("q", design, waves=2, rule="kept")
    assert (asked.until(1)[1], asked.until(2)[1], asked.per_change) == pytest.approx((1, math.inf, math.inf))
    book = Ledger(tmp_path / "ledger", cap=50)
    book.answer(design.to_json(), 0, question="q", wave=1, rule="kept")
    with pytest.raises(LedgerError, match=r"ε would be ∞ .* show which values share a hash"):
        book.answer(design.to_json(), 0, question="q", wave=2, rule="kept")


def test_four_reports_of_a_short_memo_cost_3_72_and_a_cap_of_0_6_stops_them(tmp_path):
    """The default for 1,024 categories; .6 was printed, and a cap of .6 answered twelve waves."""
    survey = designs.remembered(1024, epsilon=0.25, lifetime=0.3)
    assert survey.first.kind == "affine"
    g = survey.first.base
    words = list(itertools.product(range(g), repeat=4))  # any two of them are the hashes of four different values each
    table = np.array([[of_hashed(survey, reports, hashed) for hashed in words] for reports in words])
    true = float(np.log(table.max(axis=1) / table.min(axis=1)).max())
    assert true == pytest.approx(3.724, abs=5e-4)
    assert true < privacy.Asked("q", survey, waves=4).until(4)[1] < 2 * true
    book = Ledger(tmp_path / "ledger", cap=0.6)
    book.answer(survey.to_json(), 0, question="q", wave=0)
    with pytest.raises(LedgerError, match="is refused"):
        book.answer(survey.to_json(), 0, question="q", wave=1)


def test_a_memo_of_which_each_report_tells_more_costs_no_less_if_the_value_never_changed(tmp_path):
    """With a weak report of a strong memo, two reports tell more than twice as much as one."""
    survey = designs.remembered(4, epsilon=0.25, lifetime=2, design="k_ary")
    book = Ledger(tmp_path / "ledger")
    for wave in range(4):
        book.answer(survey.to_json(), 0, question="q", wave=wave)
        assert book.spent().at_most >= book.spent().unchanged - 1e-12
        assert wave == 0 or book.spent().unchanged > (wave + 1) * 0.25


def test_kept_answers_cost_one_draw_of_each_value_and_no_more(tmp_path):
    book = Ledger(tmp_path / "ledger")
    for wave in range(7):
        book.answer(KARY.to_json(), 0, question="q", wave=wave, rule="kept")
        assert book.spent().at_most == pytest.approx(min(wave + 1, 4))


def test_a_change_can_show_more_than_the_values_cost():
    survey = designs.remembered(16, epsilon=1, lifetime=1.2, design="k_ary")
    asked = privacy.schedule([privacy.Asked("q", survey, waves=2)])
    assert privacy.waves(survey).pair > asked.at_most
    assert "at most, besides showing that it changed" in str(asked)
    fresh = privacy.schedule([privacy.Asked("q", KARY, waves=2)])
    assert "besides" not in str(fresh)


def test_kept_answers_that_differ_prove_a_change_and_new_draws_add():
    p = KARY.matrix
    pair, stayed = table(lambda x: np.diag(p[:, x]), lambda x, z: np.outer(p[:, x], p[:, z]), 4)
    found = privacy.waves(KARY, rule="kept")
    assert largest(pair) == found.pair == math.inf
    assert found.stayed == pytest.approx(largest(stayed)) == 1.0
    assert (privacy.waves(KARY).pair, privacy.after_waves(KARY, 5)) == (2.0, 5.0)


def test_a_kept_lot_gives_both_values_away():
    """Never keep the lot in place of the answer: k-ary response told by lots, with a value that changes.

    The lot says "the truth" with chance p - q, otherwise it says one category, whatever is true. If it is kept, two
    different answers come only from "the truth": the posterior of both values is 1. METHODS_LDP 3.3: chance .30.
    """
    p, q = KARY.matrix[0, 0], KARY.matrix[0, 1]
    lots = {"truth": p - q, 0: q, 1: q, 2: q, 3: q}
    assert sum(lots.values()) == pytest.approx(1)
    joint = np.zeros((4, 4, 4, 4))  # both answers, both values
    for (lot, chance), x1, x2 in itertools.product(lots.items(), range(4), range(4)):
        said = (x1, x2) if lot == "truth" else (lot, lot)
        joint[said][x1, x2] += chance / 16
    for one, two in itertools.permutations(range(4), 2):
        posterior = joint[one, two] / joint[one, two].sum()
        assert posterior[one, two] == 1.0
        differ = sum(joint[a, b, one, two] for a, b in itertools.permutations(range(4), 2)) * 16
        assert differ == pytest.approx(0.30, abs=5e-4)


def test_the_mean_of_waves_of_people_whose_value_stays():
    """METHODS_LDP 3.2: n Var = V(ε∞) + (V(ε₁) - V(ε∞))/w, with t = 4, (2, 1), w = 5: .94 .86 .76 .64."""
    survey, pi = designs.remembered(4, epsilon=1, lifetime=2, design="k_ary"), np.array([0.4, 0.3, 0.2, 0.1])

    def variance(design):
        alpha, q = design.structure.even_mean
        rate = q + alpha * pi
        return rate * (1 - rate) / alpha**2

    expected = variance(survey.first) + (variance(survey) - variance(survey.first)) / 5
    assert expected == pytest.approx([0.94, 0.86, 0.76, 0.64], abs=0.006)
    rng, means, naive, n = np.random.default_rng(2), [], [], 500
    for _ in range(300):
        memo, source = survey.first.draw(rng.choice(4, n, p=pi), GeneratorSource(rng)), GeneratorSource(rng)
        u = [
            (np.eye(4)[survey.again(memo, source)[:, 0]] - survey.structure.even_mean[1])
            / survey.structure.even_mean[0]
            for _ in range(5)
        ]
        persons = np.mean(u, axis=0)
        means.append(persons.mean(axis=0))
        naive.append(persons.var(axis=0))
    assert np.var(means, axis=0) * n == pytest.approx(expected, rel=0.35)
    assert np.mean(naive, axis=0) == pytest.approx(expected, rel=0.02)  # persons as clusters
    assert (variance(survey) / 5 < 0.7 * expected).all()  # waves as if independent claim too little


def test_rules_that_do_not_exist_are_refused():
    with pytest.raises(DesignError, match="rule must be one of fresh, kept, redraw, memory"):
        privacy.waves(KARY, rule="again")
    with pytest.raises(DesignError, match="redraw must be a chance above 0"):
        privacy.waves(KARY, rule="redraw", redraw=0)
    with pytest.raises(DesignError, match="only designs that remember"):
        privacy.waves(KARY, rule="memory")
    with pytest.raises(DesignError, match="k-ary and affine designs only"):
        privacy.waves(designs.remembered(4, epsilon=1, lifetime=2, design="unary"))
    with pytest.raises(DesignError, match="one wave or more"):
        privacy.after_waves(KARY, 0)
