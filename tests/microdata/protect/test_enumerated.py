"""Households, shares of members, and synthetic records, against enumerations in plain Python on small random files."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from scipy import stats

from naysay import files
from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect.target import Condition, unmet

from .test_conditions import met

KEYS = ["age", "sex"]


def households(rng, homes, most=3):
    """People in households of a few sizes, over waves in any order of rows."""
    size = rng.integers(1, most + 1, homes)
    home = np.repeat(np.arange(homes), size)
    wave = np.concatenate([np.arange(each) for each in size])
    n = len(home)
    frame = pl.DataFrame({
        "home": home, "wave": wave, "age": rng.integers(0, 3, n), "sex": rng.choice(["f", "m"], n),
        "ill": rng.choice(["flu", "gout", "hiv", None], n, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "pay": rng.integers(1, 6, n),
    })  # fmt: skip
    return frame[rng.permutation(n)]


def read_off(frame, *, order):
    """What each household shows, and the members of each class: alike, in households alike, in one place if told."""
    people, shown, classes = defaultdict(list), {}, defaultdict(list)
    for row in frame.iter_rows(named=True):
        people[row["home"]].append(row)
    for home, rows in people.items():
        rows.sort(key=lambda row: row["wave"])
        cells = [tuple(row[key] for key in KEYS) for row in rows]
        shown[home] = tuple(cells) if order else tuple(sorted(cells, key=str))
        for place, (row, cell) in enumerate(zip(rows, cells, strict=True)):
            classes[shown[home], cell, place if order else 0].append(row)
    return shown, classes


@pytest.mark.parametrize("order", [None, "wave"])
@pytest.mark.parametrize(
    "asked", ["", "l(ill) >= 2", "entropy_l(ill) >= 1.5", "t(ill) <= 0.4", "ordered_t(pay) <= 0.3"]
)
def test_members_who_read_the_same_in_households_that_do_meet_what_the_target_asks(asked, order):
    failed_without = 0
    for seed in range(4):
        frame = households(np.random.default_rng(seed), 60, most=2)
        target = " and ".join(["k >= 3", *([asked] if asked else [])])
        safe, _ = protect.Suppress(keys=KEYS, target=target, unit="home", order=order).apply(frame)
        shown, _ = read_off(safe, order=order)
        assert min(Counter(shown.values()).values()) >= 3
        assert protect.guarantee(safe, KEYS, unit="home", order=order).k == min(Counter(shown.values()).values())
        if not asked:
            continue
        plain, _ = protect.Suppress(keys=KEYS, unit="home", order=order).apply(frame)
        for made, must in ((safe, True), (plain, False)):
            condition, (_, there) = Condition.of(asked), read_off(made, order=order)
            name = condition.column
            every = made[name].drop_nulls().to_list()
            failing = [people for people in there.values() if (known := [row[name] for row in people
                       if row[name] is not None]) and not met(known, every, condition)]  # fmt: skip
            rows = sum(map(len, failing))
            assert unmet(made, KEYS, [condition], unit="home", order=order) == rows
            assert not (must and rows)
            failed_without += rows
        assert safe["home"].n_unique() > 0.5 * frame["home"].n_unique()
    assert failed_without > 0 or not asked  # k alone does not do it


def test_a_plan_for_households_is_checked_for_its_condition_too():
    homes = {"home": [1, 1, 2, 2, 3, 4], "age": [40, 10, 40, 10, 40, 40]}
    frame = pl.DataFrame({**homes, "ill": ["flu", "flu", "flu", "gout", "gout", "gout"]})
    # all people of 40 together have two illnesses; the parents have one, and so have those who live alone
    plan = protect.Plan(keys=["age"], target="k >= 2 and l(ill) >= 2", unit="home")
    with pytest.raises(DataError, match=r"4 of 6 records are in classes that fail l\(ill\) >= 2"):
        plan.apply(frame)


def test_the_place_of_a_member_is_that_among_the_waves_of_its_own_household():
    frame = pl.DataFrame({"home": [1, 1, 2, 2], "wave": [1, 2, 2, 3], "age": [40] * 4})
    crossed, same = (
        frame.with_columns(ill=pl.Series(ill)) for ill in (["flu", "gout", "gout", "flu"], ["flu", "gout"] * 2)
    )
    plan = protect.Plan(keys=["age"], target="k >= 2 and l(ill) >= 2", unit="home", order="wave")
    plan.apply(crossed)  # the first waves have two illnesses, and so have the second
    with pytest.raises(DataError, match=r"4 of 4 records are in classes that fail l\(ill\) >= 2"):
        plan.apply(same)


def fewest(frame, least):
    """The fewest emptied cells with which every household reads like others, trying every mask of every household."""
    people = [[tuple(row) for row in part.select(KEYS).rows()] for _, part in frame.group_by("home")]
    masks = [*itertools.product((True, False), repeat=len(KEYS)), None]  # None: the household is deleted
    best = None
    for choice in itertools.product(masks, repeat=len(people)):
        lost = sum((2 if mask is None else mask.count(False)) * len(rows)
                   for mask, rows in zip(choice, people, strict=True))  # fmt: skip
        if best is not None and lost >= best:
            continue
        shown = [tuple(sorted((tuple(cell if keep else None for cell, keep in zip(row, mask, strict=True))
                               for row in rows), key=str)) for mask, rows in zip(choice, people, strict=True)
                 if mask is not None]  # fmt: skip
        if shown and min(Counter(shown).values()) >= least:
            best = lost
    return best


def test_households_lose_hardly_more_cells_than_the_best_of_all_ways():
    greedy, optimal = [], []
    for seed in range(14):
        rng = np.random.default_rng(seed)
        frame = households(rng, 6, most=1) if seed % 2 else pl.concat(
            [households(rng, 6, most=1).with_columns(wave=pl.lit(place)) for place in (0, 1)])  # fmt: skip
        frame = frame.with_columns(pl.col("age") % 2)
        try:
            safe, log = protect.Suppress(keys=KEYS, target="k >= 2", unit="home").apply(frame)
        except DataError as error:
            assert "would empty column" in str(error)
            continue
        gone = frame.height - safe.height
        greedy.append(log.suppressed + gone * len(KEYS))  # a household that is deleted loses all its cells
        optimal.append(fewest(frame, 2))
        assert greedy[-1] >= optimal[-1]
    assert len(greedy) >= 8 and 0 < sum(optimal) <= sum(greedy) <= 1.5 * sum(optimal)


@pytest.mark.parametrize("sign", ["<=", ">="])
def test_the_share_of_members_of_a_study_in_each_class_stays_within_its_bound(sign):
    bound = 0.6 if sign == "<=" else 0.2
    before = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 200
        frame = pl.DataFrame({"age": rng.integers(0, 12, n), "sex": rng.choice(["f", "m"], n),
                              "study": rng.choice(["yes", "no"], n, p=[0.4, 0.6])})  # fmt: skip
        target = f"k >= 2 and presence(study, yes) {sign} {bound}"
        plain, _ = protect.Suppress(keys=KEYS, target="k >= 2").apply(frame)
        safe, _ = protect.Suppress(keys=KEYS, target=target).apply(frame)
        plan = protect.Plan(keys=KEYS, target=target)
        assert protect.Plan.read(plan.toml()) == plan and str(plan.goal) == target
        plan.check_conditions(safe)
        for made, must in ((safe, True), (plain, False)):
            classes = defaultdict(list)
            for age, sex, study in made.rows():
                classes[age, sex].append(study == "yes")
            shares = [np.mean(each) for each in classes.values()]
            wrong = [share for share in shares if (share > bound + 1e-9 if sign == "<=" else share < bound - 1e-9)]
            assert not (must and wrong)
            before += len(wrong)
        assert safe.height > 0.8 * n
    assert before > 0


@pytest.mark.parametrize("text", ["presence(study) <= 0.5", "presence(study, yes) <= 1", "l(ill, 2) >= 2",
                                  "recursive_l(ill, two) >= 2"])  # fmt: skip
def test_a_share_without_a_value_or_a_number_that_is_none_is_refused(text):
    with pytest.raises(DataError, match="must be"):
        protect.Target.of(f"k >= 3 and {text}")


def test_a_value_that_nobody_has_is_refused_with_the_nearest_one():
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "study": ["yes", "no"] * 2})
    with pytest.raises(DataError, match=r"never holds 'Yes'.*'yes'"):
        protect.Suppress(keys=["age"], target="k >= 2 and presence(study, Yes) <= 0.5").apply(frame)


@pytest.mark.parametrize("seed", range(5))
def test_synthetic_records_follow_the_shares_of_the_file_and_count_what_came_back(seed):
    rng = np.random.default_rng(seed)
    n = 60
    first = rng.integers(0, 4, n)
    frame = pl.DataFrame({"a": first, "b": np.where(rng.random(n) < 0.6, first % 3, rng.integers(0, 3, n)),
                          "c": rng.integers(0, 5, n)})  # fmt: skip
    made, log = protect.Synthesize(columns=["a", "b"], least=1, rows=20_000, seed=seed).apply(frame)
    held, drawn = Counter(frame.select("a", "b").rows()), Counter(made.rows())
    assert set(drawn) <= set(held)  # each leaf holds one value of a, and b is drawn from it
    expected = np.array([held[cell] / n * 20_000 for cell in held])
    assert stats.chisquare([drawn[cell] for cell in held], expected).pvalue > 1e-5
    small, log = protect.Synthesize(columns=["a", "b", "c"], least=2, seed=seed).apply(frame)
    unique = {row for row, count in Counter(frame.rows()).items() if count == 1}
    repeated = sum(row in unique for row in small.rows())
    [step] = log
    told = f"{repeated:,} records repeat one of {len(unique):,} combinations that are unique in the file"
    assert step.notes[0] == told
    without, _ = protect.Synthesize(columns=["a", "b", "c"], least=2, seed=seed, drop=True).apply(frame)
    assert without.rows() == [row for row in small.rows() if row not in unique]


def test_a_release_beside_another_must_meet_its_condition_for_both_together(tmp_path):
    # each class of an age holds two illnesses, and so does each area: who has both releases knows everybody's
    frame = pl.DataFrame({"age": [20, 20, 20, 20, 50, 50, 50, 50] * 3, "area": ["a", "a", "b", "b"] * 6,
                          "ill": ["flu", "flu", "gout", "gout", "gout", "gout", "flu", "flu"] * 3})  # fmt: skip
    frame.write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    steps = [protect.Drop(columns=["area"])]
    plan = protect.Plan(keys=["age", "area"], target="k >= 2 and l(ill) >= 2", steps=steps)
    alone = protect.release(original, plan, tmp_path / "one.csv", trial=True)
    assert alone.after.k == 12
    earlier = {"earlier.csv": original.frame.select("area")}
    with pytest.raises(DataError, match=r"beside 'earlier.csv', 24 records are in classes that fail l\(ill\) >= 2"):
        protect.release(original, plan, tmp_path / "two.csv", beside=earlier, trial=True)
    plain = protect.Plan(keys=["age", "area"], target="k >= 2", steps=steps)
    assert protect.release(original, plain, tmp_path / "two.csv", beside=earlier, trial=True).worst.beside == (6, 0)


def test_a_plan_that_leaves_a_key_out_must_still_reach_its_target_on_the_others(tmp_path):
    frame = pl.DataFrame({"age": list(range(12)), "sex": ["f", "m"] * 6, "area": ["a"] * 12})
    frame.write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    plan = protect.Plan(keys=["age", "sex", "area"], target="k >= 3", steps=[protect.Drop(columns=["area"])])
    with pytest.raises(DataError, match="the plan reaches k >= 1, not k >= 3"):
        protect.release(original, plan, tmp_path / "out.csv")
    steps = [protect.Drop(columns=["age"])]
    done = protect.release(original, protect.Plan(keys=["age", "sex"], steps=steps), tmp_path / "out.csv")
    assert (done.after.k, done.worst.intruder_after.mean) == (6, pytest.approx(1 / 6))
    assert done.worst.bound_after == pytest.approx(1 / 6)
