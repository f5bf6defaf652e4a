"""What an intruder gains who weighs how loosely the other columns of a release go together with its keys."""

import numpy as np
import polars as pl
import pytest

from naysay import files
from naysay.microdata import protect
from naysay.microdata.protect.clues import weighing

KEYS = ["age", "sex", "region"]


def loose(kind, n=400):
    """People, and other columns that go together with their keys only loosely."""
    rng = np.random.default_rng(8)
    age, sex, region = rng.integers(18, 80, n), rng.integers(0, 2, n), rng.integers(0, 8, n)
    old, coin = (age > 50).astype(int), rng.integers(0, 2, n)
    near = rng.random(n) < 0.8
    columns = {
        "a place of work": {"x": np.where(near, region, rng.integers(0, 8, n))},
        "an income": {"x": (age * 300 + rng.normal(0, 4_000, n)).round()},
        "turned round by sex": {"x": np.where(near, old ^ sex, coin)},
        "two columns, of which neither tells": {"x": coin, "y": np.where(near, old ^ coin, rng.integers(0, 2, n))},
    }[kind]
    return pl.DataFrame({"age": age, "sex": sex, "region": region, **columns})


def frequencies(frame, made, rows):
    """People found by how often what rows show goes with age, sex and region among all other people, by brute force."""
    truth = [frame["age"].to_numpy()[rows] // 8, frame["sex"].to_numpy()[rows], frame["region"].to_numpy()[rows]]
    other = [made[name].to_numpy() for name in made.columns if name not in KEYS]
    other = [np.searchsorted(np.quantile(each, np.linspace(0, 1, 9)), each) for each in other]
    column = sum(each * 100**place for place, each in enumerate(other))
    age = truth[0] * 2 + truth[1]
    clues = [(key, column) for key in (age, truth[2])]
    found = 0.0
    for _, group in made.with_row_index("row").group_by(KEYS):
        members = group["row"].to_numpy()
        left = np.ones(len(made), bool)
        left[members] = False  # learned from other classes only
        for person in members:
            scores = np.zeros(len(members))
            for key, shown in clues:
                same = left & (key == key[person])
                for place, row in enumerate(members):
                    share = (shown[left] == shown[row]).mean() + 1e-3
                    scores[place] += np.log(((shown[same] == shown[row]).sum() + 5 * share) / (same.sum() + 5) / share)
            top = np.flatnonzero(scores >= scores.max() - 1e-9)
            found += float(person in members[top]) / len(top)
    return found


@pytest.mark.parametrize("kind", ["a place of work", "an income", "turned round by sex",
                                  "two columns, of which neither tells"])  # fmt: skip
def test_who_weighs_loose_relations_finds_no_more_than_is_printed(kind, tmp_path):
    frame = loose(kind)
    frame.write_csv(tmp_path / "in.csv")
    hide = protect.Suppress(keys=KEYS, target="k >= 5", importance={"age": "high", "sex": "high", "region": "low"})
    steps = [protect.Bins(variable="age", width=10 if kind == "a place of work" else 40), hide]
    plan = protect.Plan(keys=KEYS, target="k >= 5", steps=steps, keep_order=True)
    done = protect.release(files.Original.read(tmp_path / "in.csv"), plan, tmp_path / "out.csv", trial=True)
    made, _, rows = plan.run(frame)
    achieved = frequencies(frame, made, rows.to_numpy()) / 400
    standing = done.standings[0]
    assert achieved > 1.1 * made.select(KEYS).n_unique() / 400  # more than keys give
    assert achieved <= standing.weighing_after
    assert standing.weighing_after > 1.1 * standing.most_after
    assert "and weighing all other columns" in str(done) and f"{standing.weighing_after:.4f}" in str(done)
    assert done.to_dict()["intruder_most"]["weighing_after"] == standing.weighing_after


def test_columns_that_tell_nothing_add_nothing():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n = 600
        keys = [pl.Series(rng.integers(0, values, n)) for values in (60, 8, 3)]
        columns = [pl.Series(rng.integers(0, values, n)) for values in (2, 5, 12, n)] + [pl.Series(np.arange(n))]
        classes = rng.integers(0, 120, n)
        assert weighing(keys, columns, classes) <= 1.05 * len(np.unique(classes))


def test_nothing_is_learned_from_the_rows_that_are_weighed():
    classes, key = np.repeat(np.arange(6), 20), np.tile(np.arange(4), 30)
    column = pl.Series([f"{place} {value}" for place, value in zip(classes, key, strict=True)])
    assert weighing([pl.Series(key)], [column], classes) == pytest.approx(6)  # each class has a code of its own
    assert weighing([pl.Series(key)], [pl.Series(key).cast(pl.String)], classes) == pytest.approx(24)
