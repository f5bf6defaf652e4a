"""θ is what it should be on average, its interval covers, and the intruder who tries finds the same."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata.risk.theta import FEWEST, weighted_theta

PATH = Path(__file__).parents[2] / "benchmarks" / "theta.py"
SPEC = importlib.util.spec_from_file_location("theta_benchmark", PATH)
benchmark = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = benchmark  # dataclasses look themselves up there
SPEC.loader.exec_module(benchmark)

RUNS = 200
PEOPLE = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("population", benchmark.POPULATIONS, ids=lambda each: each.name)
@pytest.mark.parametrize("fraction", benchmark.FRACTIONS)
def test_theta_is_right_on_average_and_its_interval_covers(population, fraction):
    """The rows of benchmarks/theta.py with fewer runs and people."""
    rng = np.random.default_rng(55)
    found = benchmark.measure(population.sizes(PEOPLE, rng), fraction, RUNS, rng)
    if found.withheld > 0.5:
        assert found.pairs < 2 * FEWEST or found.unique < 2 * FEWEST
        return
    assert found.estimate == pytest.approx(found.truth, rel=0.1 if found.pairs < 50 else 0.03)
    shown = RUNS * (1 - found.withheld)
    assert found.covered >= 0.935 - 4 * math.sqrt(0.935 * 0.065 / shown)


@pytest.mark.slow
def test_without_triples_the_interval_is_too_short_where_the_fraction_is_large():
    rng = np.random.default_rng(56)
    found = benchmark.measure(benchmark.POPULATIONS[-1].sizes(PEOPLE, rng), 0.5, 600, rng)
    assert found.covered_without_triples < 0.92 < found.covered


@pytest.mark.slow
def test_weights_make_up_for_unequal_chances():
    rng = np.random.default_rng(57)
    people = 60_000
    cell = rng.choice(20_000, people, p=(shares := rng.lognormal(0, 1.2, 20_000)) / shares.sum())
    sizes = np.bincount(cell, minlength=20_000)
    chance = np.clip(0.02 * np.exp(0.4 * (cell % 7 - 3)) * rng.lognormal(0, 1, people), 0.001, 1)
    ratios, hits, naive = [], [], []
    for _ in range(RUNS):
        inside = rng.random(people) < chance
        k = np.bincount(cell[inside], minlength=20_000)
        weight = np.bincount(cell[inside], 1 / chance[inside], minlength=20_000)
        there, fraction = k > 0, inside.mean()
        found = weighted_theta(k[there], k[there], weight[there], weight[there], fraction=fraction)
        truth = (k == 1).sum() / sizes[k == 1].sum()
        ratios.append(found.estimate / truth)
        hits.append(found.interval[0] <= truth <= found.interval[1])
        naive.append(microdata.theta((k == 1).sum(), (k == 2).sum(), fraction=fraction).estimate / truth)
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    assert abs(np.mean(naive) - 1) > 0.1
    assert np.mean(hits) >= 0.935 - 4 * math.sqrt(0.935 * 0.065 / RUNS)


@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 500), st.floats(1e-6, 0.999))
def test_the_estimate_is_the_formula_and_lies_in_its_interval(n1, n2, n3, fraction):
    found = microdata.theta(n1, n2, fraction=fraction, triples=n3)
    assert found.estimate == pytest.approx(fraction * n1 / (fraction * n1 + 2 * (1 - fraction) * n2))
    low, high = found.interval
    assert 0 <= low <= found.estimate <= high <= 1
    without = microdata.theta(n1, n2, fraction=fraction)
    z = 1.959963984540054
    logit = math.log(found.estimate / (1 - found.estimate))
    half = z * math.sqrt(1 / n1 + 1 / n2)
    assert without.interval == pytest.approx([1 / (1 + math.exp(-logit + side)) for side in (half, -half)])


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 50), st.integers(2, 1_000))
def test_equal_weights_change_nothing(n1, n2, n3, weight):
    sizes = np.repeat([1, 2, 3], [n1, n2, n3])
    weights = sizes * float(weight)
    found = weighted_theta(sizes, sizes, weights, weights, fraction=1 / weight)
    plain = microdata.theta(n1, n2, triples=n3, fraction=1 / weight)
    assert found.estimate == pytest.approx(plain.estimate)
    assert found.interval == pytest.approx(plain.interval)


def test_the_corners():
    assert math.isnan(microdata.theta(0, 0, fraction=0.1).estimate)
    nobody_unique = microdata.theta(0, 12, fraction=0.1)
    assert nobody_unique.estimate == 0
    assert math.isnan(nobody_unique.interval[0])
    no_pairs = microdata.theta(30, 0, fraction=0.1)
    assert no_pairs.estimate == no_pairs.interval[1] == 1
    assert no_pairs.interval[0] == pytest.approx(30 / (30 + 18 * -math.log(0.025)))
    census = microdata.theta(3, 1, fraction=1)
    assert (census.estimate, census.interval, census.withheld) == (1, (1, 1), False)


@pytest.mark.parametrize(("n1", "n2", "withheld"), [(10, 10, False), (9, 10, True), (10, 9.5, True), (0, 0, True)])
def test_few_records_withhold_the_number(n1, n2, withheld):
    found = microdata.theta(n1, n2, fraction=0.01)
    assert found.withheld is withheld
    assert bool(found.reason) is withheld


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"unique": -1, "pairs": 2, "fraction": 0.1}, "unique must be a count"),
        ({"unique": 1, "pairs": math.nan, "fraction": 0.1}, "pairs must be a count"),
        ({"unique": 1, "pairs": 2, "triples": -3, "fraction": 0.1}, "triples must be a count"),
        ({"unique": 1, "pairs": 2, "fraction": 0}, "fraction must be a share"),
        ({"unique": 1, "pairs": 2, "fraction": 1.1}, "fraction must be a share"),
        ({"unique": 1, "pairs": 2, "fraction": 0.5, "confidence": 0}, "confidence"),
    ],
)
def test_counts_and_fractions_that_cannot_be_are_refused(arguments, told):
    unique, pairs = arguments.pop("unique"), arguments.pop("pairs")
    with pytest.raises(DataError, match=told):
        microdata.theta(unique, pairs, **arguments)


def population(missing, n=6_000):
    return benchmark.with_missing(n, missing, np.random.default_rng(3))


def test_everybody_tried_is_the_truth_counted_by_hand():
    people = population(0.0)
    inside = np.random.default_rng(4).random(people.n) < 0.2
    found = microdata.data_intrusion_simulation(people, inside)
    owner = np.asarray(people.owner)
    records = np.bincount(owner[inside], minlength=people.distinct)
    sizes = np.bincount(owner, minlength=people.distinct)
    assert (found.tried, found.unique) == (people.n, sizes[records == 1].sum())
    assert found.correct == (records == 1).sum()
    assert found.theta.unique == (records == 1).sum()
    assert found.theta.interval[0] <= found.rate <= found.theta.interval[1]


def test_with_missing_cells_the_file_alone_says_what_the_intruder_finds():
    people = population(0.1, 20_000)
    inside = np.random.default_rng(4).random(people.n) < 0.2
    found = microdata.data_intrusion_simulation(people, inside)
    assert found.theta.unique > 100
    assert found.theta.estimate == pytest.approx(found.rate, rel=0.25)


def test_a_match_is_right_only_for_people_in_the_file():
    people = microdata.Keys({"a": [1, 1, 2, 3, None]}, ["a"])
    found = microdata.data_intrusion_simulation(people, np.array([True, False, True, False, False]))
    assert (found.tried, found.unique, found.correct) == (5, 3, 2)  # both of 1 and that of 2; None matches two


def test_draws_repeat_and_converge():
    people = population(0.0)
    inside = np.random.default_rng(4).random(people.n) < 0.2
    every = microdata.data_intrusion_simulation(people, inside)
    drawn = microdata.data_intrusion_simulation(people, inside, draws=20_000)
    assert drawn == microdata.data_intrusion_simulation(people, inside, draws=20_000)
    assert drawn != microdata.data_intrusion_simulation(people, inside, draws=20_000, rng=np.random.default_rng(1))
    assert drawn.interval[0] < every.rate < drawn.interval[1]


def test_nobody_unique_has_no_rate():
    people = microdata.Keys({"a": [1, 1, 1]}, ["a"])
    found = microdata.data_intrusion_simulation(people, np.array([True, True, False]))
    assert math.isnan(found.rate)
    assert math.isnan(found.interval[0])


@pytest.mark.parametrize(
    ("sampled", "draws", "told"),
    [
        ([True], None, "must be 3 truth values"),
        ([1, 0, 1], None, "must be 3 truth values"),
        ([False] * 3, None, "nobody of the population"),
        ([True] * 3, 0, "draws must be at least one"),
    ],
)
def test_simulations_that_cannot_be_are_refused(sampled, draws, told):
    people = microdata.Keys({"a": [1, 1, 2]}, ["a"])
    with pytest.raises(DataError, match=told):
        microdata.data_intrusion_simulation(people, sampled, draws=draws)


def test_a_weight_below_one_is_not_raised_to_one():
    sizes = np.repeat([1, 2], [20, 10])
    weight = np.where(sizes == 1, 5.0, np.where(np.arange(30) % 2, 1.0, 9.0))  # a pair of 1 stands for less than two
    found = weighted_theta(sizes, sizes, weight, weight, fraction=0.2)
    wrong = (weight - sizes)[sizes == 2].sum()
    assert found.estimate == pytest.approx(20 / (20 + wrong))
