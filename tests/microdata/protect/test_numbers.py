"""Tails, rounding, noise, rank swapping and microaggregation: theorems, published numbers, bad input."""

import itertools

import numpy as np
import polars as pl
import pytest

from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect.numbers import mdav, optimal

RNG = np.random.default_rng(11)
FRAME = pl.DataFrame({"x": RNG.lognormal(3, 1, 400), "y": RNG.normal(0, 2, 400), "w": RNG.uniform(1, 3, 400)})
FRAME = FRAME.with_columns(z=pl.col("x") * 0.1 + pl.col("y"))


def test_top_coding_keeps_the_weighted_mean_and_hides_the_highest():
    safe, log = protect.Top(variable="x", share=0.05, weight="w").apply(FRAME)
    assert np.average(safe["x"], weights=FRAME["w"]) == pytest.approx(np.average(FRAME["x"], weights=FRAME["w"]))
    assert (safe["x"] == safe["x"].max()).sum() == log.changed == 20
    assert safe["x"].var() < FRAME["x"].var()
    low, _ = protect.Bottom(variable="x", below=5.0, by="median").apply(FRAME)
    tail = FRAME["x"].filter(FRAME["x"] < 5)
    assert low["x"].min() == pytest.approx(tail.median())


def test_a_tail_of_few_people_is_refused():
    with pytest.raises(DataError, match=r"2 records lie beyond .* fewer than 3"):
        protect.Top(variable="x", above=10).apply({"x": [1, 2, 11, 12]})
    for given in ({}, {"above": 1, "share": 0.1}, {"share": 1.5}):
        with pytest.raises(DataError):
            protect.Top(variable="x", **given)


def test_random_rounding_is_unbiased_with_its_variance():
    x, base = np.full(40_000, 13.0), 5
    safe, _ = protect.Round(columns=["x"], base=base, how="random", seed=2).apply(pl.DataFrame({"x": x}))
    part = 13 / base % 1
    assert set(safe["x"].unique()) == {10.0, 15.0}
    sd = base * np.sqrt(part * (1 - part))
    assert abs(safe["x"].mean() - 13) < 4 * sd / np.sqrt(len(x))
    assert safe["x"].std() == pytest.approx(sd, rel=0.05)


@pytest.mark.parametrize("how", ["independent", "correlated", "masked"])
def test_noise_has_the_moments_that_it_promises(how):
    big = pl.DataFrame({"x": RNG.normal(10, 3, 40_000), "e": RNG.normal(0, 3, 40_000)})
    big = big.select("x", y=pl.col("x") + pl.col("e"))
    safe, _ = protect.Noise(columns=["x", "y"], percent=50, how=how, seed=1).apply(big)
    before, after = np.cov(big.to_numpy().T), np.cov(safe.to_numpy().T)
    grown = 1.0 if how == "masked" else 1.25
    assert np.diag(after) == pytest.approx(grown * np.diag(before), rel=0.03)
    r = np.corrcoef(big.to_numpy().T)[0, 1]
    assert np.corrcoef(safe.to_numpy().T)[0, 1] == pytest.approx(r / 1.25 if how == "independent" else r, abs=0.02)
    assert safe["x"].mean() == pytest.approx(10, abs=0.1)


@pytest.mark.parametrize("percent", [2, 5, 20])
def test_rank_swapping_keeps_values_and_moves_ranks_no_further_than_it_says(percent):
    safe, _ = protect.RankSwap(columns=["x"], percent=percent, seed=percent).apply(FRAME)
    assert np.array_equal(np.sort(safe["x"]), np.sort(FRAME["x"]))
    moved = np.abs(FRAME["x"].rank().to_numpy() - safe["x"].rank().to_numpy())
    assert moved.max() <= percent * 400 / 100
    assert 0.3 < moved.mean() / (percent * 400 / 100) < 0.7  # about half of the most
    again, _ = protect.RankSwap(columns=["x"], percent=percent, seed=percent).apply(FRAME)
    assert again.equals(safe)


def test_swaps_stay_within_a_region_and_gaps_stay():
    frame = FRAME.with_columns(region=pl.Series(["n", "s"] * 200), x=pl.when(pl.col("x") > 5).then("x"))
    safe, _ = protect.RankSwap(columns=["x"], percent=30, within=["region"], seed=1).apply(frame)
    for one, other in zip(frame.partition_by("region"), safe.partition_by("region"), strict=True):
        assert sorted(one["x"].drop_nulls()) == sorted(other["x"].drop_nulls())
    assert safe["x"].is_null().equals(frame["x"].is_null())


@pytest.mark.parametrize("least", [2, 3, 7])
def test_mdav_makes_groups_of_k_to_2k_minus_1(least):
    size = np.bincount(mdav(FRAME.select("x", "y").to_numpy(), least))
    assert least <= size.min() and size.max() <= 2 * least - 1
    safe, _ = protect.Microaggregate(columns=["x", "y"], least=least).apply(FRAME)
    assert safe.select(pl.len().over("x", "y")).to_series().min() >= least
    assert safe["x"].mean() == pytest.approx(FRAME["x"].mean())


def partitions(values, least):
    """All cuts of sorted values into runs of `least` or more."""
    n = len(values)
    for cuts in range(n // least):
        for places in itertools.combinations(range(least, n - least + 1), cuts):
            runs = np.split(values, places)
            if min(map(len, runs)) >= least:
                yield sum(len(run) * run.var() for run in runs)


@pytest.mark.parametrize("seed", range(3))
def test_one_variable_is_grouped_best_of_all_partitions(seed):
    x = np.random.default_rng(seed).exponential(size=11)
    group = optimal(x, 3)
    lost = sum(len(own) * own.var() for own in (x[group == each] for each in np.unique(group)))
    assert lost == pytest.approx(min(partitions(np.sort(x), 3)))


def test_one_variable_each_loses_less_and_says_what_it_does_not_promise():
    one, jointly = (protect.Microaggregate(columns=["x", "y"], how=how) for how in ("each", "jointly"))
    lost = [float(np.square(method.apply(FRAME)[0]["y"] - FRAME["y"]).sum()) for method in (one, jointly)]
    assert lost[0] < lost[1]
    assert "promised nothing" in one.promise


WRONG = {
    "noise without size": (protect.Noise, {"columns": ["x"], "percent": 0}, "above 0 percent"),
    "noise of one record": (protect.Noise, {"columns": ["x"], "percent": 10}, "two records"),
    "a base of nothing": (protect.Round, {"columns": ["x"], "base": 0}, "base above 0"),
    "no distance": (protect.RankSwap, {"columns": ["x"], "percent": 0}, "more than 0"),
    "within itself": (protect.RankSwap, {"columns": ["x"], "percent": 5, "within": ["x"]}, "stay within"),
    "a group too large": (protect.Microaggregate, {"columns": ["x"], "least": 3}, "groups need 3 records"),
    "no column": (protect.Round, {"columns": [], "base": 1}, "one variable or more"),
}


@pytest.mark.parametrize("case", WRONG)
def test_parameters_that_cannot_be_are_refused(case):
    method, given, told = WRONG[case]
    with pytest.raises(DataError, match=told):
        method(**given).apply({"x": [1.0]})


def test_coded_columns_keep_their_type_and_their_guarantee():
    table = {"age": [17, 18, 18, 35], "x": [0.5, 0.5, 7.25, 7.25]}
    safe, log = protect.Bottom(variable="age", below=20, by="threshold").apply(table)
    assert safe["age"] == [20, 20, 20, 35] and type(safe["age"][0]) is int
    assert log.steps[0].columns[0].changed == 3
    safe, log = protect.Top(variable="age", above=17, by="mean").apply(table)
    assert safe["age"][1] == pytest.approx(71 / 3) and log.steps[0].columns[0].changed == 3
    assert protect.guarantee(safe, ["age"], least=2).k == 1
    assert protect.guarantee(safe, ["x"], least=2).k == 2  # floats are values like others


def test_noise_on_an_infinite_number_names_it():
    with pytest.raises(DataError, match=r"column 'a', row 2, holds an infinite number"):
        protect.Noise(columns=["a"], percent=10).apply({"a": [1, float("inf"), 2]})
