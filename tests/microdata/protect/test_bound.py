"""The most that anybody finds who knows no more of people than their keys, against intruders who know all else."""

from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest

from naysay import files
from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect.clues import ceiling
from naysay.microdata.protect.releases import protect_html
from naysay.show.result import percent


def best(true, known, rows):
    """People found who know the file but for whose row is whose: every order of rows that fits it is as likely."""
    n, held = len(rows), Counter(zip(true, known, rows, strict=True))
    fits = [
        order
        for order in permutations(range(n))
        if Counter((x, c, rows[place]) for x, c, place in zip(true, known, order, strict=True)) == held
    ]
    chance = np.zeros((n, n))
    for order in fits:
        chance[np.arange(n), order] += 1 / len(fits)
    return chance.max(axis=1).sum()


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_is_what_the_best_intruder_finds_by_going_through_all_orders(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    rows = rng.integers(0, rng.integers(1, 5), n)
    known, true = rows % 2, rng.integers(0, rng.integers(1, 4), n)
    found = ceiling(true, known, rows)
    assert found == pytest.approx(best(true, known, rows))
    assert found <= min(len(set(rows)), len(set(zip(true, known, strict=True)))) + 1e-9


def crowd(seed):
    """A file of a random size whose other columns go together with its keys in random ways."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(120, 300))
    keys = {name: rng.integers(0, rng.integers(2, 7), n) for name in ("a", "b", "c")}
    mixed = keys["a"] + 3 * keys["b"] + 7 * keys["c"]
    near = rng.random((3, n)) < rng.uniform(0.3, 0.95, (3, 1))
    others = {
        "x": np.where(near[0], keys["a"] // 2, rng.integers(0, 6, n)),
        "y": np.where(near[1], mixed % 5, rng.integers(0, 5, n)),
        "z": np.where(near[2], mixed, rng.integers(0, 60, n)),
    }
    return pl.DataFrame(keys | {name: others[name] for name in list("xyz")[: int(rng.integers(1, 4))]})


def knowing(frame, made, rows, keys):
    """People found by who knows how often which keys go with which other columns, and by who knows only pairs of these.

    Of their own class they take a row that shows what most people of the same keys show there: its owner is one of
    those who show it, each with the same chance. Nothing is left out of what they learn.
    """
    true = frame.select(keys).rows()
    shown = made.select(keys).rows()
    whole = made.rows()
    copies, exact = Counter(whole), Counter()
    own = [true[row] for row in rows]
    other = [name for name in made.columns if name not in keys]
    pairs = [Counter(zip(own, made[name], strict=True)) for name in other]
    members = {}
    for place, text in enumerate(shown):
        members.setdefault(text, []).append(place)
        exact[own[place], whole[place]] += 1
    found = np.zeros(2)
    for place, text in enumerate(shown):
        there = sorted({whole[each] for each in members[text]}, key=str)
        by_counts = max(there, key=lambda row: exact[own[place], row] / copies[row])
        by_pairs = max(there, key=lambda row: sum(
            np.log(count[own[place], value] + 0.1)
            for count, value in zip(pairs, row[len(row) - len(other) :], strict=True)))  # fmt: skip
        for number, pick in enumerate((by_counts, by_pairs)):
            found[number] += (pick == whole[place]) / copies[pick]
    return found / frame.height


@pytest.mark.parametrize("seed", range(24))
def test_who_knows_how_all_columns_go_together_finds_no_more_than_the_printed_bound(seed, tmp_path):
    frame, keys = crowd(seed), ["a", "b", "c"]
    frame.write_csv(tmp_path / "in.csv")
    plan = protect.Plan(keys=keys, target="k >= 4", steps=[protect.Suppress(keys=keys, target="k >= 4")])
    done = protect.release(files.Original.read(tmp_path / "in.csv"), plan, tmp_path / "out.csv", trial=True)
    made, _, rows = plan.run(frame)
    exact, pairs = knowing(frame, made, rows.to_list(), keys)
    standing = done.standings[0]
    assert max(exact, pairs) <= standing.bound_after + 1e-9
    assert exact == pytest.approx(standing.bound_after)  # it is reached, so no smaller number is a bound
    assert standing.most_after - 1e-9 <= standing.weighing_after <= standing.bound_after <= standing.most_before
    assert f"{standing.bound_after:.4f}" in str(done) and "The last line is proved" in str(done)
    assert done.to_dict()["intruder_most"]["bound_after"] == standing.bound_after
    assert f"more than {percent(standing.bound_after)} who" in protect_html(done)


def test_numbers_drawn_anew_and_noise_of_keys_add_nothing_to_the_bound(tmp_path):
    frame = crowd(1).with_row_index("id").with_columns(pl.col("id") + 500)
    frame.write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    plan = protect.Plan(keys=["a", "b"], target=None, steps=[protect.Suppress(keys=["a", "b"])])
    with_ids = protect.release(original, plan, tmp_path / "out.csv", trial=True).standings[0]
    frame.drop("id").write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    without = protect.release(original, plan, tmp_path / "without.csv", trial=True).standings[0]
    assert with_ids.bound_after == without.bound_after
    noisy = protect.Plan(keys=["a", "b"], target=None, steps=[protect.Noise(columns=["a", "b"], percent=50)])
    done = protect.release(original, noisy, tmp_path / "noisy.csv", trial=True)
    assert done.standings[0].bound_after <= done.standings[0].most_before
    assert f"{done.standings[0].bound_after:.4f}" in str(done) and "The last line is proved" in str(done)


def test_a_seed_that_stands_in_a_plan_is_noted_however_long_it_is(tmp_path):
    crowd(2).write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    chosen = protect.Plan(keys=["b"], target=None, steps=[protect.Noise(columns=["a"], percent=10, seed=2**50 + 1)])
    done = protect.release(original, chosen, tmp_path / "out.csv")
    assert "the seeds of 'noise' were not drawn for this release" in str(done)
    assert "not drawn for this release" in (tmp_path / "out.csv.log.toml").read_text()
    again = protect.release(original, protect.Plan.read(tmp_path / "out.csv.log.toml"), tmp_path / "again.csv")
    assert "the seeds of 'noise', 'shuffle' were not drawn" in str(again)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    free = protect.Plan(keys=["b"], target=None, steps=[protect.Noise(columns=["a"], percent=10)])
    assert "not drawn" not in str(protect.release(original, free, tmp_path / "free.csv"))
    with pytest.raises(DataError, match="which somebody chose"):
        step = protect.Noise(columns=["a"], percent=10, seed=2**40 - 1)
        protect.release(original, protect.Plan(keys=["b"], target=None, steps=[step]), tmp_path / "no.csv")


def test_the_order_of_rows_and_columns_of_earlier_releases_raise_the_bound(tmp_path):
    # four people of each age read the same; what else is out may say which age a row has
    frame = pl.DataFrame({"age": [20, 20, 20, 20, 30, 30, 30, 30] * 5, "v": [1, 1, 1, 1, 2, 2, 2, 2] * 5})
    frame.select("age").write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    steps = [protect.Bins(variable="age", width=40)]
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=steps)

    def bound(keep_order, beside):
        kept = protect.Plan(keys=["age"], target="k >= 3", steps=steps, keep_order=keep_order)
        done = protect.release(original, kept, tmp_path / "out.csv", force=True, trial=True, beside=beside)
        return done.standings[0].bound_after * 40

    assert plan.apply(frame)[0]["age"].n_unique() == 1
    assert bound(False, {}) == pytest.approx(1)
    assert bound(True, {}) == pytest.approx(2)  # rows could be put in the order of ages
    assert bound(False, {"earlier.csv": frame.select("v")}) == pytest.approx(2)


def found_in(path, rows, true):
    """The bound, from the lines of the text file itself: who shows what, letter by letter."""
    lines = path.read_text().splitlines()[1:]
    people, copies = Counter(zip((true[row] for row in rows), lines, strict=True)), Counter(lines)
    most: dict = {}
    for (keys, line), count in people.items():
        most[keys] = max(most.get(keys, 0), count / copies[line])
    return sum(most.values()) / len(true)


@pytest.mark.parametrize(("cells", "missing"), [
    (["-9", "99", "-8", ""], ("-9", "99", "-8")),
    (["1", "1.0", "1.00", "01"], ()),
])  # fmt: skip
def test_why_a_cell_is_missing_and_how_a_number_is_written_count_in_the_bound(cells, missing, tmp_path):
    # all ages read the same; the other column says the age by what a program takes for one value
    age = [20, 30, 40, 50] * 10
    frame = pl.DataFrame({"age": age, "q": cells * 10})
    frame.write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv", missing=missing)
    step = protect.Bins(variable="age", width=100)
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=[step], missing=missing)
    done = protect.release(original, plan, tmp_path / "out.csv", trial=True)
    _, _, rows = protect.Plan.read(tmp_path / "out.csv.log.toml").run(original.frame)
    assert found_in(tmp_path / "out.csv", rows.to_list(), age) == pytest.approx(4 / 40)
    assert done.standings[0].bound_after == pytest.approx(4 / 40)
    if missing:
        assert done.hints[0].implied == 40
        with pytest.raises(DataError, match="40 are read back by 'q'"):
            protect.release(original, plan, tmp_path / "out.csv", force=True)


def test_user_missing_codes_of_other_columns_are_read_back_and_count_in_the_bound(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"age": [20.0, 30.0, 40.0, 50.0] * 10, "q": [-9.0, -8.0, 1.0, -7.0] * 10})
    ranges = {"q": [{"lo": -9, "hi": -7}]}
    pyreadstat.write_sav(frame, str(tmp_path / "in.sav"), missing_ranges=ranges)
    step = protect.Bins(variable="age", width=100)
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=[step])
    done = protect.release(files.Original.read(tmp_path / "in.sav"), plan, tmp_path / "out.sav", trial=True)
    assert done.hints[0].implied == 40
    assert done.standings[0].bound_after == pytest.approx(4 / 40)
    assert done.standings[0].most_after == pytest.approx(4 / 40)  # of 40 people who read the same, four are found


def test_the_one_person_without_a_number_counts_in_the_bound(tmp_path):
    age = [20, 30, 40, 50] * 10
    pl.DataFrame({"age": age, "id": ["", *map(str, range(1_001, 1_040))]}).write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=[protect.Bins(variable="age", width=100)])
    done = protect.release(original, plan, tmp_path / "out.csv", trial=True)
    assert done.standings[0].bound_after * 40 == pytest.approx(1 + 30 / 39)  # that person, and 10 of 39 of three ages


def test_who_shares_a_new_number_counts_in_the_bound(tmp_path):
    # all read the same, and share a number with one other of their age
    frame = pl.DataFrame({"age": [20, 20, 30, 30] * 10, "home": [row // 2 + 700 for row in range(40)]})
    frame.write_csv(tmp_path / "in.csv")
    steps = [protect.Bins(variable="age", width=100), protect.Shuffle(), protect.Renumber(columns=["home"])]
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=steps)
    done = protect.release(files.Original.read(tmp_path / "in.csv"), plan, tmp_path / "out.csv", trial=True)
    assert done.standings[0].bound_after * 40 == pytest.approx(2)


def test_who_is_in_an_earlier_release_is_known_of_the_same_people_after_a_shuffle(tmp_path):
    pl.DataFrame({"age": [20] * 10 + [30] * 30}).write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=[protect.Suppress(keys=["age"])])
    earlier = {"earlier.csv": pl.DataFrame({"there": [True] * 10 + [None] * 30})}
    done = protect.release(original, plan, tmp_path / "out.csv", trial=True, beside=earlier)
    assert done.standings[0].beside == (10, 0)


def test_what_is_told_of_hidden_keys_for_sure_is_no_more_than_the_bound(tmp_path):
    # each value of q leaves two of three ages, and none of them is told apart further
    ages = {"A": (20, 30), "B": (30, 40), "C": (20, 40)}
    cells = [(age, q) for q in ages for age in ages[q]] * 40
    pl.DataFrame(cells, schema=["age", "q"], orient="row").write_csv(tmp_path / "in.csv")
    original = files.Original.read(tmp_path / "in.csv")
    plan = protect.Plan(keys=["age"], target="k >= 3", steps=[protect.Bins(variable="age", width=100)])
    done = protect.release(original, plan, tmp_path / "out.csv", trial=True).standings[0]
    assert done.bound_after * len(cells) == pytest.approx(1.5)
    assert done.most_after <= done.bound_after and done.weighing_after <= done.bound_after
