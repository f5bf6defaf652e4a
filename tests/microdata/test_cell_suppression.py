"""Tables with suppressed cells, against exhaustive searches that know nothing of solvers."""

import itertools

import numpy as np
import pytest

from naysay.errors import DataError
from naysay.microdata import tables
from naysay.microdata.protect import Hierarchy
from naysay.microdata.tables.suppression import Problem, hypercubes, optimum

INVESTMENT = {
    "activity": ["I"] * 3 + ["II"] * 3 + ["III"] * 3,
    "region": list("ABC") * 3,
    "n": [20, 50, 10, 8, 19, 22, 17, 32, 12],
}


def random_counts(rng, shape, most=6):
    cells = list(np.ndindex(*shape))
    columns = {f"v{axis}": [f"c{cell[axis]}" for cell in cells] for axis in range(len(shape))}
    return columns | {"n": rng.integers(0, most, len(cells)).tolist()}, list(columns)


def tables_like(table, suppressed):
    """Every table of whole numbers with the published cells as they are and suppressed ones of 1 or more."""
    hidden = suppressed.reshape(-1)
    leaves, values, sums = table.leaf_cells, table.values.reshape(-1).astype(int), table.sums.toarray().astype(int)
    unknown = np.flatnonzero(hidden[leaves])
    every = table.inner.reshape(1, -1).astype(int).copy()
    every[:, unknown] = 1  # then one cell after the other, without what exceeds a published sum already
    for leaf in unknown:
        above = np.flatnonzero(~hidden & (sums[:, leaf] > 0))
        most = values[above].min(initial=values.max() + 4)
        every = np.repeat(every, most, axis=0)
        every[:, leaf] = np.tile(np.arange(1, most + 1), len(every) // most)
        every = every[(every @ sums[above].T <= values[above]).all(axis=1)]
    cells = every @ sums.T
    return cells[(cells[:, ~hidden] == values[~hidden]).all(axis=1)]


def protects(problem, suppressed):
    """Whether every telling cell may hold what its rule asks for, by looking at every table."""
    cells = tables_like(problem.table, suppressed)
    return all(cells[:, cell].max() >= problem.high[cell] for cell in np.flatnonzero(problem.primary))


def cheapest(problem):
    """The least cost of any pattern of inner cells and totals that protects, by trying all of them, cheapest first."""
    free = np.flatnonzero(problem.free & ~problem.primary)
    choices = [each for size in range(len(free) + 1) for each in itertools.combinations(free, size)]
    for choice in sorted(choices, key=lambda each: problem.cost[list(each)].sum()):
        suppressed = problem.primary.copy()
        suppressed[list(choice)] = True
        if protects(problem, suppressed):
            return problem.cost[list(choice)].sum()
    return None


def test_four_suppressed_cells_leave_the_values_that_some_table_with_these_totals_has():
    """Activity II in region C is 22, with three cells suppressed beside it."""
    table = tables.tabulate(INVESTMENT, ["activity", "region"], value="n")
    assert table.values[-1].tolist() == [45, 101, 44, 190]
    hidden = np.zeros(table.shape, bool)
    hidden[1:3, [0, 2]] = True
    # one of the four says the other three: 8 and 22 add up to 30, 22 and 12 to 34, 8 and 17 to 25
    possible = [x for x in range(191) if 30 - x >= 0 and 34 - x >= 0 and 25 - (30 - x) >= 0]
    assert [possible[0], possible[-1]] == [5, 30]
    assert tables.intervals(table, hidden)[1, 2].tolist() == pytest.approx([5, 30])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 2, 2)])
def test_the_interval_of_each_suppressed_count_is_that_of_all_tables_that_fit(shape, seed):
    rng = np.random.default_rng([seed, *shape])
    columns, by = random_counts(rng, shape)
    table = tables.tabulate(columns, by, count="n")
    positive = table.values > 0
    inner = np.zeros(table.shape, bool)
    inner[tuple(slice(0, -1) for _ in shape)] = True  # totals of whole tables would have no end
    hidden = positive & (rng.random(table.shape) < np.where(inner, 0.6, 0.2))
    hidden[tuple(-1 for _ in shape)] = False
    bounds = tables.intervals(table, hidden).reshape(-1, 2)
    cells = tables_like(table, hidden)
    assert bounds[:, 0].tolist() == cells.min(axis=0).tolist()
    assert bounds[:, 1].tolist() == cells.max(axis=0).tolist()


@pytest.mark.parametrize("cost", ["values", "cells"])
@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_costs_what_the_cheapest_of_all_patterns_costs(seed, cost):
    shape = [(2, 3), (2, 4), (2, 2, 2)][seed % 3] if seed < 6 else (3, 3)
    rng = np.random.default_rng([3, seed])
    columns, by = random_counts(rng, shape, most=5 if len(shape) == 3 else 6)
    columns["n"][0] = 1
    table = tables.tabulate(columns, by, count="n")
    problem = Problem(table, tables.Rules(), cost)
    problem.free[-1] = False  # the grand total is published; so the search has fewer patterns to try
    if len(shape) == 3:  # totals of totals as well
        problem.free &= (table.sums.sum(axis=1) <= 2) | problem.primary
    best = cheapest(problem)
    if best is None:
        with pytest.raises(DataError, match="no suppression of other cells hides"):
            optimum(problem)
        return
    found = optimum(problem)
    assert found.cost == pytest.approx(best)
    assert found.bound == pytest.approx(best)
    assert protects(problem, found.suppressed)


@pytest.mark.parametrize("seed", range(6))
def test_a_hypercube_pattern_protects_and_costs_no_less_than_the_optimum(seed):
    rng = np.random.default_rng([7, seed])
    columns, by = random_counts(rng, (3, 3), most=5)
    problem = Problem(tables.tabulate(columns, by, count="n"), tables.Rules(), "values")
    found = hypercubes(problem)
    assert protects(problem, found.suppressed)
    assert found.cost >= optimum(problem).cost


def test_without_secondary_suppression_the_table_gives_its_cells_away_and_says_so():
    table = tables.tabulate(INVESTMENT | {"n": [1, 50, 10, 8, 19, 22, 17, 32, 12]}, ["activity", "region"], count="n")
    found = tables.protect(table, method="none")
    assert found.open_cells == 1
    assert found.intervals[0, 0].tolist() == [1, 1]
    assert "do not publish this table" in str(found)


def test_a_hierarchy_adds_sums_and_hides_their_cells_too():
    areas = Hierarchy({"A": ["north", "all"], "B": ["north", "all"], "C": ["south", "all"], "D": ["south", "all"]})
    columns = {"area": list("ABCD") * 2, "sex": list("ffffmmmm"), "n": [2, 9, 7, 8, 6, 5, 9, 4]}
    table = tables.tabulate(columns, ["area", "sex"], count="n", hierarchies={"area": areas})
    assert table.dimensions[0].nodes == ("A", "B", "C", "D", "north", "south", "all")
    for method in ("optimal", "hypercube"):
        found = tables.protect(table, method=method)
        problem = Problem(table, tables.Rules(), "values")
        assert protects(problem, found.suppressed.reshape(-1))
        assert found.suppressed[1, 0]  # B, within the sum of the north that is published


def test_dominance_and_the_p_percent_rule_find_the_cells_that_their_definitions_name():
    amounts = {"a": list("xxxyyyz"), "firm": list("1231231"), "v": [80.0, 15, 5, 40, 35, 25, 7]}
    table = tables.tabulate(amounts, ["a"], value="v", unit="firm")
    assert table.contributors.tolist() == [3, 3, 1, 3]  # a firm in three cells is one in their total
    assert table.largest[-1].tolist() == [127, 50]
    dominated, _, high = table.primary(tables.Rules(minimum=1, dominance=(1, 75)))
    assert dominated.tolist() == [True, False, True, False]
    assert high[0] == pytest.approx(80 / 0.75)
    close, low, high = table.primary(tables.Rules(minimum=1, percent=10))
    assert close.tolist() == [True, False, True, False]
    assert (low[0], high[0]) == pytest.approx((97, 103))  # 5 are left; 10 % of 80 are 8


def test_an_only_contributor_cannot_compute_another_cell_from_their_own():
    """Two firms, each alone in a cell of one row: suppressing these two alone, each would know the other's amount."""
    others = [(a, b) for a in "pqr" for b in "xyz" if (a, b) not in {("p", "x"), ("p", "y")}]
    crowds = [(a, b, f"{a}{b}{number}", 20.0 + number) for a, b in others for number in range(5)]
    cells = [("p", "x", "1", 50.0), ("p", "y", "2", 60.0), *crowds]
    columns = dict(zip(("a", "b", "firm", "v"), map(list, zip(*cells, strict=True)), strict=True))
    table = tables.tabulate(columns, ["a", "b"], value="v", unit="firm")
    for method in ("optimal", "hypercube"):
        found = tables.protect(table, rules=tables.Rules(percent=10), method=method)
        assert found.open_cells == 0
        for own, other in ((0, 1), (1, 0)):
            low, high = tables.intervals(table, found.suppressed, knows=own)[0, other]
            value = table.values[0, other]
            assert low <= 0.9 * value + 1e-6
            assert high >= 1.1 * value - 1e-6


def test_a_household_of_four_is_one_contributor_to_a_count():
    people = {"area": ["n"] * 4 + ["s"] * 8, "home": [1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
    table = tables.tabulate(people, ["area"], unit="home")
    assert table.values.tolist() == [4, 8, 12]
    assert table.primary(tables.Rules())[0].tolist() == [True, False, False]
    assert not tables.tabulate(people, ["area"]).primary(tables.Rules())[0].any()


def test_totals_in_the_file_are_refused_and_gaps_are_a_category():
    with pytest.raises(DataError, match="reads like a total"):
        tables.tabulate({"a": ["x", "Total"], "n": [3, 3]}, ["a"], count="n")
    assert tables.tabulate({"a": ["x", None]}, ["a"]).dimensions[0].nodes == ("(missing)", "x", "Total")


def test_noise_has_the_law_that_epsilon_promises_and_totals_add_up():
    table = tables.tabulate({"a": [f"c{i:04}" for i in range(4_000)]}, ["a"])
    noise = tables.noisy(table, epsilon=0.7).values[:-1] - 1
    alpha = np.exp(-0.7)
    expected = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-4, 5)) * 4_000
    seen = np.array([(noise == x).sum() for x in range(-4, 5)])
    assert (((seen - expected) ** 2) / expected).sum() < 40  # χ² with about 9 degrees; 40 has p < 1e-5
    both = tables.noisy(tables.tabulate({"a": list("xxy"), "b": list("pqp")}, ["a", "b"]), epsilon="1/3")
    assert (both.values[:2].sum(axis=0) == both.values[2]).all()
    assert both.standard_errors[2, 2] == pytest.approx(2 * both.standard_errors[0, 0])
    assert "a factor of at most 2.719. That" in str(tables.noisy(table, epsilon=1))  # e = 2.7182…


def test_noise_is_refused_where_its_promise_would_not_hold():
    people = {"area": list("nns"), "home": [1, 1, 2], "v": [1.0, 2, 3]}
    for table in (tables.tabulate(people, ["area"], unit="home"), tables.tabulate(people, ["area"], value="v")):
        with pytest.raises(DataError, match="counts of rows"):
            tables.noisy(table, epsilon=1)
    with pytest.raises(DataError, match="above 0, at most 50"):
        tables.noisy(tables.tabulate(people, ["area"]), epsilon=0)
