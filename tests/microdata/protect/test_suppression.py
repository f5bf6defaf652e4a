"""Local suppression: what it promises, how near it comes to the fewest cells, and what it refuses."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect import suppression
from naysay.microdata.protect.target import Units

sys.path.insert(0, str(Path(__file__).parent))
from tables_of import classes, skewed

KEYS = ["v0", "v1", "v2", "v3"]


def fewest_cells(frame, least):
    """The least number of emptied cells with which all rows read like `least` - 1 others, by an integer program."""
    rows = [tuple(row) for row in frame.iter_rows()]
    masks = list(product((0, 1), repeat=frame.width))
    released = [
        [tuple(v if keep else None for v, keep in zip(row, mask, strict=True)) for mask in masks] for row in rows
    ]
    shown = sorted({each for row in released for each in row}, key=str)
    place = {each: number for number, each in enumerate(shown)}
    n, x = len(rows), len(rows) * len(masks)
    cost = np.concatenate([np.tile([mask.count(0) for mask in masks], n), np.zeros(len(shown))])
    one = np.zeros((n, x + len(shown)))
    enough, only = np.zeros((len(shown), x + len(shown))), []
    for i in range(n):
        for j in range(len(masks)):
            at, y = i * len(masks) + j, x + place[released[i][j]]
            one[i, at] = 1
            enough[y - x, at] = 1
            row = np.zeros(x + len(shown))
            row[at], row[y] = 1, -1  # a row shows it only where it is in use
            only.append(row)
    for y in range(len(shown)):
        enough[y, x + y] = -least
    limits = [LinearConstraint(one, 1, 1), LinearConstraint(enough, 0, np.inf)]
    limits.append(LinearConstraint(np.array(only), -np.inf, 0))
    found = scipy.optimize.milp(cost, constraints=limits, integrality=np.ones(len(cost)), bounds=Bounds(0, 1))
    return round(found.fun)


def test_greedy_is_near_the_integer_optimum():
    greedy = best = 0
    for seed in range(6):
        frame = skewed(12, [3, 2, 3, 2], seed=seed)
        log = protect.Suppress(keys=KEYS, target="k >= 2").apply(frame)[1]
        least = fewest_cells(frame, 2)
        lost = log.suppressed + 4 * log.deleted
        assert lost >= least
        greedy, best = greedy + lost, best + least
    assert greedy <= 1.8 * best  # on tables of 12 rows, where each row weighs


@pytest.mark.parametrize("least", [2, 3, 5])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_strict_suppression_reaches_its_target_in_plain_counts(least, gaps):
    frame = skewed(300, [9, 2, 5, 4], seed=least, gaps=gaps)
    safe, log = protect.Suppress(keys=KEYS, target=f"k >= {least}").apply(frame)
    assert min(classes(safe, KEYS)) >= least
    assert safe.height == 300 and not log.deleted
    for name in KEYS:  # nothing but cells emptied
        kept = safe[name].is_not_null()
        assert safe[name].filter(kept).equals(frame[name].filter(kept))


def test_nothing_is_done_where_nobody_stands_out():
    frame = pl.DataFrame({"v": [1, 1, 2, 2, None, None]})
    safe, log = protect.Suppress(keys=["v"], target="k >= 2").apply(frame)
    assert safe.equals(frame) and log.changed == log.deleted == 0


@pytest.mark.parametrize("reading", ["k", "c", "m"])
def test_each_reading_reaches_its_own_target_and_weaker_ones_lose_less(reading):
    frame = skewed(400, [9, 2, 5, 4], seed=3, gaps=0.05)
    safe, log = protect.Suppress(keys=KEYS, target=f"{reading} >= 3").apply(frame)
    found = protect.guarantee(safe, KEYS)
    assert found.of(reading) >= 3
    assert found.k <= found.c <= found.m
    _, strict = protect.Suppress(keys=KEYS, target="k >= 3").apply(frame)
    assert log.suppressed <= strict.suppressed


def test_m_does_not_take_the_way_of_two_emptied_records():
    frame = skewed(200, [9, 2, 5, 4], seed=5)
    safe, log = protect.Suppress(keys=KEYS, target="m >= 3").apply(frame)
    emptied = safe.select(pl.sum_horizontal(pl.col(KEYS).is_null()) > 2).to_series()
    rest = safe.filter(~emptied)
    assert microdata.matches(microdata.Keys(rest, KEYS)).min() >= 3 - 1  # those left need nobody who was emptied
    assert "no promise" in log.steps[0].notes[0]


@pytest.mark.parametrize("seed", range(3))
def test_no_strategy_of_an_intruder_beats_one_in_k(seed):
    frame = skewed(300, [9, 3, 5, 4], seed=seed)
    safe, log = protect.Suppress(keys=KEYS, target="k >= 3").apply(frame)
    assert not log.deleted
    truth, shown = list(frame.select(KEYS).iter_rows()), list(safe.select(KEYS).iter_rows())

    def fits(true, seen):
        return [all(b is None or a == b for a, b in zip(true, each, strict=True)) for each in seen]

    for strategy in ("any that fits", "fewest gaps", "most alike"):
        for target in range(0, 300, 7):
            which = np.flatnonzero(fits(truth[target], shown))
            if strategy != "any that fits":
                gaps = np.array([shown[i].count(None) for i in which])
                which = which[gaps == gaps.min()]
            if strategy == "most alike":
                texts = [shown[i] for i in which]
                best = max(set(texts), key=texts.count)
                which = np.array([i for i in which if shown[i] == best])
            assert (target in which) / len(which) <= 1 / 3 + 1e-12


def test_importance_moves_losses_and_must_keeps_a_key_whole():
    frame = skewed(500, [9, 9, 3], seed=8)
    keys = ["v0", "v1", "v2"]
    plain = protect.Suppress(keys=keys).apply(frame)[1]
    dear = protect.Suppress(keys=keys, importance={"v0": "high"}).apply(frame)[1]
    lost = lambda log, name: next(each.suppressed for each in log.steps[0].columns if each.variable == name)  # noqa: E731
    assert lost(dear, "v0") < lost(plain, "v0")
    safe, must = protect.Suppress(keys=keys, importance={"v2": "must"}).apply(frame)
    assert lost(must, "v2") == 0 and min(classes(safe, keys)) >= 3


def test_named_sets_are_checked_together_until_each_holds():
    frame = skewed(300, [7, 6, 5, 4], seed=2)
    safe, log = protect.Suppress(keys=KEYS, sets=[("v0", "v1"), ("v1", "v2"), ("v0", "v3")]).apply(frame)
    for names in (("v0", "v1"), ("v1", "v2"), ("v0", "v3")):
        assert min(classes(safe, list(names))) >= 3
    pairs, _ = protect.Suppress(keys=KEYS, sets=2).apply(frame)
    assert all(min(classes(pairs, [a, b])) >= 3 for a in KEYS for b in KEYS if a < b)
    everything = protect.Suppress(keys=KEYS).apply(frame)[1]
    assert log.suppressed < everything.suppressed


def test_strata_hold_the_target_each_by_itself():
    frame = skewed(400, [7, 4, 3], seed=4).with_columns(region=pl.Series(["n", "s"] * 200))
    safe, _ = protect.Suppress(keys=["v0", "v1", "v2"], strata=["region"]).apply(frame)
    for part in safe.partition_by("region"):
        assert min(classes(part, ["v0", "v1", "v2"])) >= 3
    assert safe["region"].equals(frame["region"]) or safe.height < frame.height


def test_a_household_reads_like_others_as_the_tuple_of_its_members():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 4, 150)
    house = np.repeat(np.arange(150), sizes)
    frame = pl.DataFrame({"house": house, "age": rng.integers(1, 5, len(house)), "sex": rng.integers(1, 3, len(house))})
    frame = frame.sample(fraction=1, shuffle=True, seed=1)
    safe, log = protect.Suppress(keys=["age", "sex"], unit="house").apply(frame)
    told = [tuple(sorted(part.select("age", "sex").iter_rows(), key=str)) for part in safe.partition_by("house")]
    assert min(told.count(each) for each in told) >= 3
    assert protect.guarantee(safe, ["age", "sex"], unit="house").k >= 3
    persons = protect.Suppress(keys=["age", "sex"]).apply(frame)[1]
    assert persons.suppressed < log.suppressed  # persons alone promise less


def test_waves_tell_in_their_order():
    frame = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3, 4, 4], "wave": [1, 2] * 4, "job": list("abbaabab")})
    one = protect.guarantee(frame, ["job"], unit="who")
    other = protect.guarantee(frame, ["job"], unit="who", order="wave")
    assert (one.k, other.k) == (4, 1)
    frame = pl.concat([frame, frame.with_columns(who=pl.col("who") + 4)])
    assert protect.guarantee(frame, ["job"], unit="who", order="wave").k == 2


def test_many_wide_keys_are_hashed_and_still_right(monkeypatch):
    frame = skewed(200, [4] * 6, seed=6)
    names = frame.columns
    packed, _ = protect.Suppress(keys=names, target="k >= 2").apply(frame)
    monkeypatch.setattr("naysay.microdata.protect.target._BITS", 3)
    hashed, _ = protect.Suppress(keys=names, target="k >= 2").apply(frame)
    assert packed.equals(hashed)


def test_uncompiled_sums_are_the_same(monkeypatch):
    frame = skewed(200, [9, 2, 5, 4], seed=7)
    compiled, _ = protect.Suppress(keys=KEYS).apply(frame)
    monkeypatch.setitem(sys.modules, "naysay.microdata.compiled", None)
    plain, _ = protect.Suppress(keys=KEYS).apply(frame)
    assert compiled.equals(plain)


BAD = {
    "a target that is none": ({"target": "k > 3"}, "a target must be such as 'k >= 3'"),
    "a target that every file meets": ({"target": "k >= 1"}, "2 matches or more"),
    "more than there are": ({"target": "k >= 9"}, "needs 9 records or more; the file has 8"),
    "importance of a variable that is no key": ({"importance": {"income": "high"}}, "'income' is none of them"),
    "importance that is no word": ({"importance": {"a": "huge"}}, "low"),
    "a stratum that is a key": ({"strata": ["a"]}, "named as both"),
    "a set of what is no key": ({"sets": [["x"]]}, "there is no key 'x'"),
    "too large sets": ({"sets": 3}, "sets"),
    "keys in one text": ({"keys": "ab"}, "list of column names"),
    "a key that is not there": ({"keys": ["age"]}, "there is no column 'age'"),
    "an order without a unit": ({"order": "b"}, "needs their unit"),
    "a column that would be emptied": ({"keys": ["id", "a"]}, "would empty column 'id'"),
    "a key in the way": ({"keys": ["id", "a"], "importance": {"id": "must"}}, "in the way stand 'id'"),
    "m of households": ({"unit": "b", "target": "m >= 2"}, "households and persons over waves have k"),
    "sets of candidates under m": ({"keys": ["s"], "target": "m >= 2"}, "holds sets of candidates"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused_with_its_reason(case):
    halves = [1, 1, 1, 1, 2, 2, 2, 2]
    table = pl.DataFrame({"id": range(8), "a": halves, "b": halves, "s": [[1, 2], [1]] * 4})
    given, told = BAD[case]
    with pytest.raises((DataError, ValueError), match=told):
        protect.Suppress(**{"keys": ["a", "b"]} | given).apply(table)


def test_an_unreachable_target_says_how_near_it_comes():
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="1 of 3 records stay below it, the nearest to k >= 1 even when"):
        protect.Suppress(keys=["a", "b"], target="k >= 2", importance={"a": "must"}).apply(frame)


def test_a_wave_twice_is_refused_with_its_row():
    frame = pl.DataFrame({"who": [1, 1], "wave": [1, 1], "job": ["a", "b"]})
    with pytest.raises(DataError, match="row 2 repeats"):
        protect.guarantee(frame, ["job"], unit="who", order="wave")
    with pytest.raises(DataError, match="every row needs its 'who'; row 1"):
        protect.guarantee(frame.with_columns(who=None), ["job"], unit="who")


def test_any_kind_of_table_comes_back_as_what_it_was():
    import pandas as pd

    columns = {"a": [1, 1, 2], "b": ["x", "x", "y"]}
    for table in (columns, pl.DataFrame(columns), pl.LazyFrame(columns), pd.DataFrame(columns)):
        safe, log = protect.Suppress(keys=["a", "b"], target="k >= 2").apply(table)
        assert type(safe) is (pl.DataFrame if isinstance(table, pl.LazyFrame) else type(table))
        assert log.deleted == 1 and list(safe["b"]) == ["x", "x"]
    with pytest.raises(DataError, match="no rows"):
        protect.Suppress(keys=["a"]).apply({"a": []})
    with pytest.raises(DataError, match="equally long"):
        protect.Suppress(keys=["a"]).apply({"a": [1], "b": []})
    with pytest.raises(DataError, match="got int"):
        protect.Suppress(keys=["a"]).apply(3)


def test_cells_that_are_lists_are_emptied_like_others():
    table = {"a": [[1, 2], [1, 2], [1], [2]], "b": [1, 1, 1, 2]}
    safe, log = protect.Suppress(keys=["a", "b"], target="k >= 2").apply(table)
    assert safe["a"] == [[1, 2], [1, 2], None, None]
    assert [each.suppressed for each in log.steps[0].columns] == [2, 2]
    with pytest.raises(DataError, match=r"'a' holds values of several kinds \(list, int\)"):
        protect.Suppress(keys=["a", "b"]).apply({"a": [[1, 2], 1, 1, 2], "b": [1, 1, 1, 2]})


def test_a_gap_that_came_with_the_file_counts_for_m():
    table = {"a": [1, 2, None, None, None, None, 1, 2], "b": [1, 1, None, None, None, None, 2, 2]}
    assert protect.guarantee(table, ["a", "b"]).m == 5
    safe, log = protect.Suppress(keys=["a", "b"], target="m >= 3").apply(table)
    assert safe == table and log.suppressed == 0


def test_m_is_counted_as_by_hand_in_files_with_gaps_emptied_further():
    for seed in range(20):
        own = Units.of_tuples(microdata.Keys(skewed(25, [4, 3, 3], seed=seed, gaps=0.2), ["v0", "v1", "v2"]))
        rng = np.random.default_rng(seed)
        keep = own.known & rng.integers(0, 8, len(own))
        lost = np.bitwise_count(own.known & ~keep)
        shown = [[int(column[row]) if keep[row] >> place & 1 else 0
                  for place, column in enumerate(own.keys.tuples.columns)] for row in range(len(own))]  # fmt: skip
        fits = [[all(0 in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True))
                 and (2 * lost[at] <= 3 or at == row) for at, other in enumerate(shown)]
                for row, one in enumerate(shown)]  # fmt: skip
        every = np.arange(len(own))
        assert (suppression.matches_of(own, keep, every, keep) == np.array(fits) @ own.count).all()
