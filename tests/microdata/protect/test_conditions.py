"""l-diversity and t-closeness as parts of a target, against their definitions read off class by class."""

import math
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect.target import Condition, unmet


def classes(frame, keys, column):
    found = defaultdict(list)
    for row in frame.select(*keys, column).rows():
        if row[-1] is not None:
            found[row[:-1]].append(row[-1])
    return found.values()


def met(values, every, condition):
    """The definitions of the papers, on one class."""
    count, n = Counter(values), len(values)
    if condition.measure == "l":
        return len(count) >= condition.bound
    if condition.measure == "entropy_l":
        entropy = -sum(c / n * math.log(c / n) for c in count.values())
        return entropy >= math.log(condition.bound) - 1e-9
    if condition.measure == "recursive_l":
        falling = sorted(count.values(), reverse=True)
        return falling[0] < condition.factor * sum(falling[int(condition.bound) - 1 :])
    labels, whole = sorted(set(every)), Counter(every)
    apart = [count[label] / n - whole[label] / len(every) for label in labels]
    if condition.measure == "t":
        return sum(map(abs, apart)) / 2 <= condition.bound + 1e-9
    moved = sum(abs(sum(apart[: place + 1])) for place in range(len(labels) - 1))
    return moved / (len(labels) - 1) <= condition.bound + 1e-9


ASKED = ["l(ill) >= 3", "entropy_l(ill) >= 2.2", "recursive_l(ill, 2) >= 2", "t(ill) <= 0.3", "ordered_t(pay) <= 0.15"]


@pytest.mark.parametrize("asked", [*ASKED, "l(ill) >= 2 and t(pay) <= 0.4"])
@pytest.mark.parametrize("seed", range(4))
def test_every_released_class_meets_what_the_target_asks(asked, seed):
    rng = np.random.default_rng(seed)
    n = 300
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 30, n),
            "sex": rng.choice(["f", "m"], n),
            "area": rng.integers(0, 4, n),
            "ill": rng.choice(["flu", "hiv", "flu", "gout", None], n),
            "pay": rng.integers(1, 6, n),
        }
    )
    keys, target = ["age", "sex", "area"], f"k >= 3 and {asked}"
    plain, _ = protect.Suppress(keys=keys).apply(frame)
    safe, _ = protect.Suppress(keys=keys, target=target).apply(frame)
    conditions = [Condition.of(each) for each in asked.split(" and ")]
    for condition in conditions:
        name = condition.column
        every = safe[name].drop_nulls().to_list()
        assert all(met(values, every, condition) for values in classes(safe, keys, name))
    assert protect.guarantee(safe, keys).k >= 3
    alone = [
        met(values, plain[each.column].drop_nulls().to_list(), each)
        for each in conditions
        for values in classes(plain, keys, each.column)
    ]
    assert not all(alone)  # k alone does not do it
    assert safe.height >= 0.75 * n


def test_a_plan_whose_classes_share_one_illness_is_refused():
    table = {"age": [30] * 3 + [40] * 3, "ill": ["flu"] * 3 + ["flu", "gout", "hiv"]}
    plan = protect.Plan(keys=["age"], target="k >= 3 and l(ill) >= 2")
    with pytest.raises(DataError, match=r"3 of 6 records are in classes that fail l\(ill\) >= 2"):
        plan.apply(table)
    safe, _ = protect.propose(table, ["age"], target="k >= 3 and l(ill) >= 2").apply(table)
    assert protect.guarantee(safe, ["age"]).k >= 3
    assert protect.Plan.read(plan.toml()) == plan


@pytest.mark.parametrize(
    "text", ["k >= 3 and l >= 2", "k >= 3 and l(ill) <= 2", "k >= 3 and t(ill) <= 2", "m >= 3 and l(ill) >= 2",
             "k >= 3 and recursive_l(ill) >= 2", "k >= 3 and l(ill) >= 1.5"]
)  # fmt: skip
def test_a_condition_that_says_nothing_is_refused(text):
    with pytest.raises(DataError, match=r"condition|bound"):
        protect.Target.of(text)


def test_a_key_cannot_be_its_own_secret():
    with pytest.raises(DataError, match="is a key and cannot be the sensitive column"):
        protect.Suppress(keys=["age"], target="k >= 3 and l(age) >= 2")


@pytest.mark.parametrize("asked", ["presence(study, yes) <= 0.5", "presence(study, yes) >= 0.5"])
def test_a_share_that_is_just_the_bound_is_within_it(asked):
    people = pl.DataFrame({"age": [30] * 6 + [40] * 6, "study": ["yes", "no"] * 6})
    assert unmet(people, ["age"], [Condition.of(asked)]) == 0
    changed = people.with_columns(pl.Series("study", ["yes", "no"] * 3 + ["yes"] * 4 + ["no"] * 2))
    assert unmet(changed, ["age"], [Condition.of(asked)]) == (6 if "<=" in asked else 0)


def test_shares_are_compared_with_those_of_the_people_who_are_left():
    held = {20: (2, 5), 30: (2, 5), 40: (4, 0), 50: (3, 2)}  # people with flu and with gout
    rows = [
        (age, ill) for age, many in held.items() for ill, n in zip(("flu", "gout"), many, strict=True) for _ in range(n)
    ]
    frame = pl.DataFrame(rows, schema=["age", "ill"], orient="row")
    safe, _ = protect.Suppress(keys=["age"], target="k >= 2 and t(ill) <= 0.2").apply(frame)
    assert 40 not in safe["age"]  # without these four, flu is rarer, and those of 50 are too far from it
    every = safe["ill"].to_list()
    assert all(met(values, every, Condition.of("t(ill) <= 0.2")) for values in classes(safe, ["age"], "ill"))
    assert sorted(safe["age"].unique()) == [20, 30]
