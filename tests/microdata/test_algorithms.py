"""The algorithms check each other on tables too large for the definition."""

import numpy as np
import pytest

from naysay import DataError, microdata
from naysay.microdata.keys import counting, matches

from . import brute
from .tables import RULES, batch, columns, names, of_each_table


def random_table(seed, *, n, cards, gone=0.2, sets=()):
    """Columns of whole numbers, some cells missing, some columns with sets of two candidates."""
    rng = np.random.default_rng(seed)
    table = {}
    for place, values in enumerate(cards):
        cells = rng.integers(0, values, n).tolist()
        if place in sets:
            cells = [[cell, (cell + 1) % values] if rng.random() < 0.3 else cell for cell in cells]
        table[f"key {place}"] = [
            None if missing else cell for cell, missing in zip(cells, rng.random(n) < gone, strict=True)
        ]
    return table


def counts(keys, algorithm, rule="worst", weights=None):
    return microdata.matches(keys, rule=rule, algorithm=algorithm, weights=weights).tolist()


@pytest.mark.parametrize("rule", RULES)
def test_all_agree_over_several_blocks_of_tuples(rule):
    table = random_table(1, n=9_000, cards=(9, 12, 7, 30), sets=(1, 3))
    keys = microdata.Keys(table, list(table))
    assert len(keys.tuples) > counting.BLOCK
    found = counts(keys, "cube", rule)
    assert counts(keys, "bitmap", rule) == found
    assert counts(keys, "join", rule) == found
    assert max(found) > 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", RULES)
def test_questions_that_share_first_symbols_have_the_matches_of_brute_force(rule, seed, monkeypatch):
    monkeypatch.setattr(counting, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(counting, "BLOCK", 64)  # small blocks, in which many questions die after few symbols
    rows = batch(100 + seed)
    keys = microdata.Keys(columns(rows), names(rows))
    assert counts(keys, "bitmap", rule) == of_each_table(brute.matches, rows, rule)
    weights = np.random.default_rng(seed).integers(1, 9, len(rows)) / 2
    assert counts(keys, "bitmap", rule, weights) == counts(keys, "join", rule, weights)


def test_a_question_costs_nothing_for_what_it_does_not_know_or_shares_with_the_one_before():
    table = random_table(5, n=500, cards=(3, 4, 5), gone=0.5)
    keys = microdata.Keys(table, list(table))
    asked = counting.DistinctQuestions.of(list(keys.tuples.columns), np.cumsum([0, *keys.tuples.sizes[:-1]]))
    symbols, starts, shared = asked.compact
    cells = np.column_stack(keys.tuples.columns)
    assert len(symbols) == (cells > 0).sum()
    assert (np.diff(starts) == (cells > 0).sum(axis=1)).all()
    for before, now, common in zip(cells[:-1], cells[1:], shared[1:], strict=True):
        alike = next(place for place in range(4) if place == 3 or before[place] != now[place])
        assert common == (now[:alike] > 0).sum()
    assert shared.sum() > len(symbols) / 4


def test_where_half_the_cells_are_missing_bitmaps_are_foretold_to_be_slow():
    costs = []
    for gone in (0.02, 0.5):
        table = random_table(8, n=40_000, cards=(70, 2, 5, 15, 8, 10, 6, 12), gone=gone)
        plan = microdata.explain(microdata.Keys(table, list(table)))
        [bitmap] = [each for each in plan.costs if each.algorithm == "bitmap"]
        costs.append(bitmap.seconds / plan.distinct**2)
    assert costs[1] > 2 * costs[0]


def test_weights_of_halves_are_added_exactly():
    table = random_table(2, n=5_000, cards=(4, 5, 6))
    keys = microdata.Keys(table, list(table))
    weights = np.random.default_rng(2).integers(1, 9, 5_000) / 2
    assert counts(keys, "bitmap", weights=weights) == counts(keys, "cube", weights=weights)
    assert counts(keys, "join", weights=weights) == counts(keys, "cube", weights=weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_bitmaps_are_the_plain_ones(weighted, monkeypatch):
    table = random_table(3, n=6_000, cards=(3, 4, 5, 60), sets=(1,))
    keys = microdata.Keys(table, list(table))
    weights = np.random.default_rng(3).integers(1, 9, 6_000) / 2 if weighted else None
    plain = counts(keys, "bitmap", weights=weights)
    monkeypatch.setattr(counting, "_WORTH_COMPILING", 0)
    assert counting.adder(1).__module__ == "naysay.microdata.compiled"
    assert counts(keys, "bitmap", weights=weights) == plain
    dense = random_table(9, n=6_000, cards=(2, 3, 40), gone=0.5)  # most match, so amounts are added by binary places
    half = microdata.Keys(dense, list(dense))
    assert counts(half, "bitmap") == counts(half, "cube")
    single = microdata.Keys(random_table(4, n=5_000, cards=(50, 60, 70)), ["key 0", "key 1", "key 2"])
    assert counts(single, "bitmap") == counts(single, "cube")


def test_bitmaps_need_no_compiler(monkeypatch):
    monkeypatch.setattr(counting, "find_spec", lambda name: None)
    assert counting.adder(10**12) is counting.add_matches


def test_seventy_keys_are_more_than_one_number_holds():
    table = random_table(5, n=60, cards=(2,) * 70, gone=0.6)
    keys = microdata.Keys(table, list(table))
    known = [[row[place] for row in table.values()] for place in range(60)]
    by_hand = [
        sum(all(a is None or b is None or a == b for a, b in zip(one, other, strict=True)) for other in known)
        for one in known
    ]
    assert counts(keys, "bitmap") == by_hand
    assert counts(keys, "join") == by_hand


def test_the_plan_says_what_was_chosen_and_why():
    few = microdata.Keys(random_table(6, n=5_000, cards=(5, 4, 3)), ["key 0", "key 1", "key 2"])
    plan = microdata.explain(few)
    assert plan.chosen == "cube"
    assert {each.algorithm for each in plan.costs} == set(matches.ALGORITHMS)
    assert [each.seconds for each in plan.costs] == sorted(each.seconds for each in plan.costs)
    text = str(plan)
    assert text.startswith("5,000 respondents, ")
    assert "→ cube" in text
    assert "patterns of missing keys" in text


def test_many_keys_are_left_to_bitmaps():
    table = random_table(7, n=2_000, cards=(8,) * 14)
    assert microdata.explain(microdata.Keys(table, list(table))).chosen == "bitmap"


@pytest.mark.parametrize("rule", ["worst", "intersect"])
def test_bitmaps_of_wide_sets_are_counted_by_the_plan_and_built_quickly(rule):
    rng = np.random.default_rng(4)
    low = rng.integers(0, 3_000, 400)
    table = {"low": low, "high": low + rng.integers(0, 2_000, 400), "sex": rng.integers(0, 2, 400)}
    keys = microdata.Keys(table, ["span", "sex"], cells={"span": microdata.Between("low", "high")})
    costs = {cost.algorithm: cost for cost in microdata.explain(keys, rule=rule).costs}
    narrow = microdata.explain(keys.only(["sex"]), rule=rule).costs
    alone = next(cost for cost in narrow if cost.algorithm == "bitmap")
    assert costs["bitmap"].bytes > 100 * alone.bytes
    assert costs["bitmap"].seconds > alone.seconds
    assert counts(keys, "bitmap", rule) == counts(keys, "cube", rule)


def test_many_values_and_few_patterns_are_left_to_the_join():
    table = random_table(8, n=60_000, cards=(5_000, 4_000, 3_000), gone=0.01)
    assert microdata.explain(microdata.Keys(table, list(table))).chosen == "join"


@pytest.mark.parametrize("algorithm", ["bitmap", "join"])
def test_progress_rises_to_the_end(algorithm, monkeypatch):
    monkeypatch.setattr("naysay.microdata.keys.counting._TUPLES_AT_ONCE", 1)
    table = random_table(9, n=5_000, cards=(90, 80, 70))
    told = []
    microdata.matches(microdata.Keys(table, list(table)), algorithm=algorithm, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == 1.0


def test_an_interrupt_ends_the_work():
    table = random_table(10, n=5_000, cards=(90, 80, 70))

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        microdata.matches(microdata.Keys(table, list(table)), algorithm="bitmap", progress=stop)


def test_an_array_of_too_many_combinations_is_refused():
    table = random_table(11, n=200, cards=(90,) * 8)
    with pytest.raises(DataError, match=r"too many for an array of them all; .* ask for 'bitmap' or 'join'"):
        microdata.matches(microdata.Keys(table, list(table)), algorithm="cube")


def test_sets_that_hardly_repeat_are_matched_without_comparing_all_pairs():
    rng = np.random.default_rng(12)
    sets = [rng.permutation(16)[:8].tolist() for _ in range(9_000)]
    table = {"set": sets, "age": rng.integers(0, 40, 9_000).tolist()}
    keys = microdata.Keys(table, ["set", "age"])
    assert microdata.explain(keys, rule="intersect").chosen == "bitmap"
    assert microdata.explain(keys, rule="first").chosen == "cube"
    held = np.zeros((9_000, 16), int)
    held[np.arange(9_000)[:, None], sets] = 1
    found = microdata.matches(keys, rule="intersect")
    for row in range(0, 9_000, 500):
        meets = held @ held[row] > 0
        assert found[row] == (meets & (np.array(table["age"]) == table["age"][row])).sum()


@pytest.mark.parametrize("rule", RULES)
def test_uncertain_keys_beside_keys_that_everybody_knows(rule):
    table = random_table(13, n=800, cards=(5, 6, 4), gone=0.0, sets=(1,))
    table |= {
        name: cells for name, cells in random_table(14, n=800, cards=(3, 3, 3), sets=(2,)).items() if name != "key 0"
    }
    keys = microdata.Keys(table, list(table))
    assert counts(keys, "cube", rule) == counts(keys, "bitmap", rule) == counts(keys, "join", rule)
