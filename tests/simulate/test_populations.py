import numpy as np
import pandas as pd
import polars as pl
import pytest

from naysay import designs, simulate
from naysay.errors import DataError, DesignError
from naysay.simulate import POPULATIONS

LAWS = {
    "uniform": lambda rng, n: rng.uniform(1, 5, n),
    "normal": lambda rng, n: rng.normal(3, 0.6667, n),
    "exponential": lambda rng, n: 1 + rng.exponential(4 / 5.81, n),
    "log_normal": lambda rng, n: rng.lognormal(0.8959, 0.2310, n),
}


@pytest.mark.parametrize("name", LAWS)
def test_shares_are_those_of_rounded_and_clipped_draws(name):
    n = 400_000
    drawn = np.clip(np.rint(LAWS[name](np.random.default_rng(2013), n)), 1, 5).astype(int)
    found = simulate.population("normal(mean=3, sd=0.6667)" if name == "normal" else name, 5).proportions
    errors = np.sqrt(found * (1 - found) / n)
    assert (abs(np.bincount(drawn, minlength=6)[1:] / n - found) < 4 * errors).all()


@pytest.mark.parametrize("name", POPULATIONS)
def test_every_population_is_a_call(name):
    found = simulate.population(name, ("a", "b", "c"))
    assert found.categories == ("a", "b", "c")
    assert found.proportions.sum() == pytest.approx(1)
    assert found.name.startswith(name)


def test_arguments_reach_the_law():
    assert simulate.population("exponential(mean=1.0329)", 7).proportions == pytest.approx(
        simulate.exponential(7, mean=1.0329).proportions
    )


def test_counts_and_shares():
    assert simulate.counts({"a": 3, "b": 1}).proportions.tolist() == [0.75, 0.25]
    assert simulate.shares((0.5, 0.5)).categories == (1, 2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, dict])
def test_a_column_of_real_data(frame):
    found = simulate.column(
        frame({"income": ["low", "high", "low", None]}), "income", categories=("low", "mid", "high")
    )
    assert found.proportions.tolist() == [2 / 3, 0, 1 / 3]
    assert found.name == "column 'income', 3 people"


def test_whole_people_come_as_near_as_they_can():
    population = simulate.shares((0.5, 0.3, 0.2))
    for n in (1, 2, 7, 10, 99):
        people = population.people(n)
        assert people.sum() == n
        assert abs(people - n * population.proportions).max() < 1
    assert simulate.counts({"a": 30, "b": 11}).people(41).tolist() == [30, 11]


def test_the_order_is_the_designs():
    found = simulate.counts({"no": 3, "yes": 1}).of(designs.warner(p=0.7))
    assert (found.categories, found.proportions.tolist()) == (("yes", "no"), [0.25, 0.75])


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: simulate.population("nromal", 5), "no population is called 'nromal'; did you mean 'normal'"),
        (lambda: simulate.population("normal(s=1)", 5), "no parameter 's'; did you mean 'sd'"),
        (lambda: simulate.population("equal(sd=1)", 5), "it takes none"),
        (lambda: simulate.population("normal(sd='a')", 5), "sd of normal must be a number"),
        (lambda: simulate.population("normal(sd=0)", 5), "sd must be above 0"),
        (lambda: simulate.population("exponential(mean=-1)", 5), "mean must be above 0"),
        (lambda: simulate.population("__import__('os')", 5), "cannot read the population"),
        (lambda: simulate.population("normal(", 5), "cannot read the population"),
        (lambda: simulate.shares((0.5, 0.6)), "must sum to one; they sum to 1.1"),
        (lambda: simulate.shares((1.5, -0.5)), "must not be negative"),
        (lambda: simulate.counts({"a": 0, "b": 0}), "all counts are 0"),
        (lambda: simulate.counts({"a": -1, "b": 2}), "must be finite and not negative"),
        (lambda: simulate.column({"x": ["a"]}, "y"), "there is no column 'y'"),
        (lambda: simulate.column(pl.DataFrame({"income": ["a"]}), "incme"), "did you mean 'income'"),
        (lambda: simulate.column({"x": [None, ""]}, "x"), "holds no values"),
        (lambda: simulate.column({"x": ["a", "q"]}, "x", categories=("a", "b")), "'q', which is no category"),
        (lambda: simulate.counts({"maybe": 1, "no": 1}).of(designs.warner(p=0.7)), "holds 'maybe'"),
    ],
)
def test_populations_that_cannot_be(made, told):
    with pytest.raises(DataError, match=told):
        made()


def test_a_population_has_categories():
    with pytest.raises(DesignError, match="must differ"):
        simulate.equal(("a", "a"))
