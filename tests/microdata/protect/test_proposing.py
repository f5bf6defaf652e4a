"""Plans that are proposed, against the optimum of all recodings and all suppressions of small tables."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.optimize import LinearConstraint, milp

from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect import proposals


def census(n=4_000):
    """Ages, and words that leave few people alike: nobody gives a hierarchy."""
    rng = np.random.default_rng(2)
    jobs, areas = [f"job {i}" for i in range(14)], [f"area {i}" for i in range(30)]
    return pl.DataFrame(
        {
            "age": np.clip(rng.gamma(6, 6.5, n).round() + 10, 17, 90).astype(int),
            "job": rng.choice(jobs, n, p=np.arange(1, 15) ** 2 / 1015),
            "area": rng.choice(areas, n, p=[0.85, *[0.15 / 29] * 29]),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def test_a_number_is_offered_in_bins_though_another_key_has_no_hierarchy():
    people, keys = census(), ["age", "job", "area", "sex"]
    plan = protect.propose(people, keys)
    assert [step.variable for step in plan.steps[:-1]] == ["age"]
    safe, _ = plan.apply(people)
    alone, _ = protect.Suppress(keys=keys).apply(people)
    assert alone["age"].null_count() > 0.2 * people.height
    assert safe["age"].null_count() < 0.1 * people.height


def test_the_plan_is_the_same_however_slow_the_clock(monkeypatch):
    people, keys = census(1_000), ["age", "job", "sex"]
    plan = protect.propose(people, keys)
    ticks = itertools.count(0, 10_000)
    monkeypatch.setattr("time.monotonic", lambda: next(ticks))
    assert protect.propose(people, keys) == plan


def test_bins_and_a_hierarchy_of_one_key_are_refused_together():
    ages = protect.hierarchy_of_numbers(range(17, 91))
    with pytest.raises(DataError, match="both a hierarchy and bins"):
        protect.propose(census(), ["age", "sex"], bins={"age": 5}, hierarchies={"age": ages})


def test_a_hierarchy_is_tried_whatever_the_reading_of_a_gap():
    table = {"age": [str(age) for age in range(20, 60)]}
    tens = protect.Hierarchy({age: [f"{age[0]}0s", "any"] for age in table["age"]})
    for target in ("k >= 3", "c >= 3"):
        plan = protect.propose(table, ["age"], target=target, hierarchies={"age": tens})
        assert [step.name for step in plan.steps] == ["generalize", "suppress"]


def shares_of(values):
    """For each value the share of the distinct values of its key that it stands for."""
    leaves, groups = values
    count = {group: sum(g == group for g in groups.values()) for group in set(groups.values())}
    return {leaf: count[groups[leaf]] / len(leaves) for leaf in leaves}


def least_loss(table, keys, ladders, least):
    """The least loss of any recoding and any grouping of records that read the same: by integer programming."""
    frame, n = pl.DataFrame(table), len(table[keys[0]])
    best = np.inf
    sets = [each for size in range(least, 2 * least) for each in itertools.combinations(range(n), size)]
    member = np.zeros((n, len(sets)))
    for place, each in enumerate(sets):
        member[list(each), place] = 1
    for rungs in itertools.product(*(ladders[key] for key in keys)):
        cost = np.zeros(len(sets))
        for key, rung in zip(keys, rungs, strict=True):
            shown = frame[key] if rung is None else rung.values(frame)
            cells = [str(value) for value in shown.to_list()]
            groups = dict(zip(map(str, table[key]), cells, strict=True))
            share = shares_of((list(groups), groups))
            own = [share[str(value)] for value in table[key]]
            for place, each in enumerate(sets):
                alike = len({cells[row] for row in each}) == 1
                cost[place] += sum(own[row] for row in each) if alike else len(each)
        solved = milp(
            cost / n, constraints=LinearConstraint(member, 1, 1), integrality=np.ones(len(sets)), bounds=(0, 1)
        )
        best = min(best, solved.fun)
    return best


def test_proposals_for_small_tables_come_near_the_optimum_of_all_recodings_and_suppressions():
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 10 + seed % 3
        table = {"age": rng.integers(20, 50, n).tolist(), "sex": rng.choice(["f", "m"], n).tolist()}
        table["job"] = rng.choice(list("abc"), n).tolist()
        keys, price = list(table), dict.fromkeys(table, 1.0)
        frame = pl.DataFrame(table)
        ladders = {key: proposals._ladder(key, frame[key], None) for key in keys}
        best = least_loss(table, keys, ladders, 2)
        loss = proposals._loss(protect.propose(table, keys, target="k >= 2"), frame, price, {})
        assert loss >= best - 1e-9
        ratios.append(loss / best)
    assert np.mean(ratios) < 1.1
    assert max(ratios) < 1.25
