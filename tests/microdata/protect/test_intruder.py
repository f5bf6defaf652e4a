"""What an intruder gets who reads the other columns, has two releases, repeats the steps, or guesses a seed."""

import json
import tomllib

import numpy as np
import polars as pl
import pytest

from naysay import files
from naysay.cli import main
from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.commands.inputs import RECORD, Reading
from naysay.microdata.protect.clues import hints

SCHOOLS = ["none", "primary", "middle", "vocational", "high", "college", "bachelor", "master", "doctor"]


def census(n=1_000, seed=1):
    """A table like a census: schooling in words and in years, sexes of spouses, weights that differ."""
    rng = np.random.default_rng(seed)
    school = rng.choice(9, n, p=[0.01, 0.03, 0.1, 0.2, 0.3, 0.2, 0.1, 0.04, 0.02])
    sex, married = rng.choice(["m", "f"], n), rng.random(n) < 0.5
    spouse = np.where(married, np.where(sex == "m", "husband", "wife"), "single")
    return pl.DataFrame({
        "age": rng.integers(18, 90, n), "school": np.array(SCHOOLS)[school], "years": school * 2 + 1, "sex": sex,
        "spouse": spouse, "region": rng.choice(list("abcdef"), n, p=[0.4, 0.3, 0.2, 0.06, 0.03, 0.01]),
        "weight": rng.integers(10_000, 400_000, n), "hours": rng.integers(1, 80, n),
    })  # fmt: skip


KEYS = "age,school,sex,region"
BINS = ("--bins", "age=20")  # no search for them


def run(*words):
    return main(["protect", *map(str, words)])


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "census.csv"
    census().write_csv(path)
    return path


def read_back(release, original, key, other):
    """Emptied cells of a key that the rows of the release give away: those with the same other value show one value."""
    shown = release.drop_nulls(key).group_by(other).agg(pl.col(key).unique())
    table = {row[other]: row[key][0] for row in shown.iter_rows(named=True) if len(row[key]) == 1}
    hidden = release.filter(pl.col(key).is_null() & pl.col(other).is_not_null())
    truth = dict(original.select(other, key).unique().iter_rows())
    return sum(table.get(value) == truth[value] for value in hidden[other]), hidden.height


def test_schooling_in_years_reads_emptied_degrees_back_and_is_refused(original, capsys):
    out = original.with_name("out.csv")
    assert run(original, *BINS, "--keys", KEYS, "--out", out) == 2
    said = capsys.readouterr().err
    assert "are read back by 'years'" in said and "--related years=school" in said and not out.exists()
    assert run(original, *BINS, "--keys", KEYS) == 0  # what it would be, and that it would be refused
    said = capsys.readouterr()
    assert "k, with what other columns tell" in said.out and "with --out it is refused" in said.err


def test_a_related_column_is_emptied_along_and_nothing_is_read_back(original):
    out = original.with_name("out.csv")
    assert run(original, *BINS, "--keys", KEYS, "--related", "years=school", "--drop", "spouse", "--out", out) == 0
    release = pl.read_csv(out)
    assert read_back(release, census(), "school", "years")[0] == 0
    hidden = release["school"].is_null()
    assert hidden.sum() > 5 and (release["years"].is_null() == hidden).all()


def test_what_is_accepted_stands_in_the_log_and_in_the_risk(original, capsys):
    out = original.with_name("out.csv")
    words = (*BINS, "--keys", KEYS, "--accept", "years", "--accept", "spouse", "--format", "json", "--out", out)
    assert run(original, *words) == 0
    told = json.loads(capsys.readouterr().out)
    right, hidden = read_back(pl.read_csv(out), census(), "school", "years")
    [hint] = [each for each in told["hints"] if each["columns"] == ["years"]]
    assert right == hidden == hint["implied"] == hint["hidden"] > 5
    assert told["guarantee_after"]["k"] >= 3 > told["guarantee_read_back"]["k"]
    log = tomllib.loads(out.with_name("out.csv.log.toml").read_text(encoding="utf-8"))
    assert log["accepted"] == ["years", "spouse"] and log["log"]["hints"]


def related():
    """Columns that tell of age, region or job, each in another way; and the keys, and what is done."""
    rng = np.random.default_rng(3)
    n = 2_000
    age, region = rng.integers(18, 90, n), rng.choice(list("abcdefgh"), n)
    job = rng.choice(["nurse", "teacher", "farmer", "plumber", "baker"], n)
    pay, year = rng.lognormal(10, 1, n).round(), rng.integers(1990, 2020, n)
    base = pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], n), "region": region})
    bins = [protect.Bins(variable="age", width=10)]
    gaps = [*bins, protect.Suppress(keys=["age", "sex", "region"], target="k >= 15",
                                    importance={"age": "high", "sex": "high", "region": "low"})]  # fmt: skip
    dates = [f"{2020 - each}-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}" for each in age]
    district = [letter + str(rng.integers(20)) for letter in region]
    near = np.where(rng.random(n) < 0.99, region, rng.choice(list("abcdefgh"), n))
    notes = [f"I have been a {each} for {rng.integers(1e6)} days" for each in job]
    return {
        "a year of birth": (base.with_columns(x=pl.Series(2020 - age - rng.integers(0, 2, n))), bins, {}),
        "a date of birth": (base.with_columns(x=pl.Series(dates)), bins, {}),
        "two columns": (base.with_columns(x=pl.Series(year - age), y=pl.Series(year)), bins, {}),
        "a finer place": (base.with_columns(x=pl.Series(district)), gaps, {}),
        "99 of 100": (base.with_columns(x=pl.Series(near)), gaps, {}),
        "free text": (base.drop("region").with_columns(region=pl.Series(job), x=pl.Series(notes)), gaps, {}),
        "the order of rows": (base.sort("region"), gaps, {"ordered": True}),
        "numbers given in order": (base.sort("region").with_row_index("x"), gaps, {}),
        "another measure": (base.with_columns(age=pl.Series(pay), x=pl.Series((pay * 0.3).round())),
                            [protect.Bins(variable="age", width=20_000)], {}),
        "a value under noise": (base.with_columns(x=2020 - pl.col("age")),
                                [protect.Noise(columns=["age"], percent=20)], {"moved": ["age"]}),
    }  # fmt: skip


@pytest.mark.parametrize("case", related())
def test_a_relation_of_any_kind_is_found(case):
    frame, steps, how = related()[case]
    made, _, rows = protect.Plan(keys=["age", "sex", "region"], target=None, steps=steps).run(frame)
    found = hints(frame[rows.to_list()], made, ["age", "sex", "region"], **how)
    hint = max(found.hints, key=lambda each: (each.implied + each.narrowed) / each.hidden)
    assert hint.columns[0] in ("x", "the order of rows") and hint.implied + hint.narrowed >= 0.55 * hint.hidden
    if case == "two columns":
        assert any(hint.columns == ("x", "y") and hint.implied > 500 for hint in found.hints)


def test_columns_that_tell_nothing_are_not_blamed():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(80, 1_000))
        frame = pl.DataFrame({name: rng.integers(0, rng.integers(2, 40), n) for name in "abcdefgh"}).with_columns(
            z=pl.Series(rng.normal(size=n)), w=pl.Series(np.arange(n) // 2)
        )
        made, _, rows = protect.Plan(keys=list("abc"), target=None, steps=[protect.Suppress(keys=list("abc"))]).run(
            frame
        )
        assert not hints(frame[rows.to_list()], made, list("abc"), ordered=True).hints


def together(tables, keys, least=3):
    """People whom two releases side by side show with fewer than so many others."""
    frame = pl.concat([table.select(pl.col(keys).name.prefix(f"{place}")) for place, table in enumerate(tables)],
                      how="horizontal")  # fmt: skip
    return int((frame.select(pl.len().over(frame.columns)).to_series() < least).sum())


def test_two_releases_side_by_side_find_people_unless_the_second_knows_of_the_first(tmp_path):
    path = tmp_path / "in.csv"
    census().select("age", "school", "sex", "region", "hours").write_csv(path)
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    words = ("--keys", "age,sex,region", "--keep-order", "--drop", "school", "--bins", "age=2")
    assert run(path, *words, "--importance", "region=high", "--out", one) == 0
    words = (*words, "--importance", "age=high")
    assert run(path, *words, "--out", two) == 0
    tables = [pl.read_csv(each) for each in (one, two)]
    assert together(tables, ["age", "sex", "region"]) > 100  # the hole: each of them has k >= 3
    plan = tmp_path / "plan.toml"
    assert run(path, *words, "--save", plan) == 0
    assert run(path, "--plan", plan, "--beside", one, "--out", three) == 2  # a plan that does not know of it
    assert run(path, *words, "--beside", one, "--out", three) == 0
    rows = tomllib.loads(three.with_name("three.csv.log.toml").read_text())["log"]["rows_left_out"]
    there = [place for place in range(1_000) if place not in rows]
    assert together([tables[0][there], pl.read_csv(three)], ["age", "sex", "region"]) == 0


def test_rows_are_shuffled_and_numbers_drawn_anew_unless_order_is_kept(original, capsys):
    frame = census().with_row_index("id").drop("years", "spouse")
    frame.write_csv(original)
    one, two, three = (original.with_name(f"{name}.csv") for name in ("one", "two", "three"))
    for out, words in ((one, []), (two, []), (three, ["--keep-order"])):
        assert run(original, "--keys", "sex,region", "--out", out, *words) == 0
    assert "whoever has another file in this order" in capsys.readouterr().out
    tables = [pl.read_csv(each) for each in (one, two, three)]
    assert tables[2]["weight"].to_list() == frame["weight"].to_list()
    for table in tables[:2]:
        assert sorted(table["id"]) == list(range(1, 1_001))
        assert np.mean(np.array(table["weight"]) == np.array(frame["weight"])) < 0.02
        linked = table.join(frame.with_columns(pl.col("id").cast(pl.Int64)), on="id")
        assert (linked["weight"] == linked["weight_right"]).mean() < 0.02
    both = tables[0].join(tables[1], on="id")
    assert (both["weight"] == both["weight_right"]).mean() < 0.02
    # an attack still knows which row is whose: the log beside the release says so
    assert main(["attack", str(one), "--register", str(original), "--keys", "sex,region,hours", "--by", "exact"]) == 0
    assert " 0.00 %" not in capsys.readouterr().out.splitlines()[6]


def test_a_seed_that_somebody_chose_is_refused(original):
    step = protect.Noise(columns=["hours"], percent=10, seed=1)
    plan = protect.Plan(keys=["sex"], target=None, steps=[step])
    out = original.with_name("out.csv")
    with pytest.raises(DataError, match="the seed 1, which somebody chose"):
        protect.release(files.Original.read(original), plan, out)
    done = protect.release(
        files.Original.read(original),
        protect.Plan(keys=["sex"], target=None, steps=[protect.Noise(columns=["hours"], percent=10)]),
        out,
    )
    assert all(step.seed > 2**40 for step in done.plan.steps)


@pytest.mark.parametrize("target", ["k >= 3", "c >= 3", "m >= 3"])
def test_who_repeats_the_steps_gets_no_more_than_is_printed(target, original):
    frame = census(600)
    keys = ["age", "school", "sex"]
    plan = protect.Plan(keys=keys, target=target, steps=[protect.Suppress(keys=keys, target=target)])
    frame.drop("years", "spouse").write_csv(original)
    done = protect.release(files.Original.read(original), plan, original.with_name("out.csv"))
    made, _, _ = plan.run(files.Original.read(original).frame)
    # who repeats the steps on everybody's keys knows what each person's record shows, and picks one that shows it
    shown = made.select(pl.len().over(keys)).to_series().to_numpy()
    achieved = (1 / shown).sum() / 600
    assert achieved == pytest.approx(done.standings[0].most_after)
    assert done.worst.intruder_after.mean <= achieved
    assert "repeating the steps" in str(done) and f"{achieved:.4f}" in str(done)


def test_several_sets_of_keys_are_protected_each(original, capsys):
    out = original.with_name("out.csv")
    sets = (("age", "sex"), ("school", "region", "sex"))
    words = [word for keys in sets for word in ("--keys", ",".join(keys))]
    assert run(original, *words, *BINS, "--drop", "years,spouse", "--out", out, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [tuple(each["keys"]) for each in told["sets"]] == list(sets)
    release = pl.read_csv(out)
    assert [protect.guarantee(release, keys).k >= 3 for keys in sets] == [True, True]
    assert protect.guarantee(release, list(dict.fromkeys(sum(sets, ())))).k < 3  # nobody asked for all together


def test_an_attack_takes_several_sets_of_keys_and_names_only_columns_that_there_are(original, capsys):
    out = original.with_name("out.csv")
    assert run(original, "--keys", "sex,region", "--drop", "years,spouse", "--out", out) == 0
    words = ["attack", str(out), "--register", str(original), "--by", "exact"]
    capsys.readouterr()
    assert main([*words, "--keys", "sex,region", "--keys", "sex,hours", "--format", "json"]) == 0
    shares = [
        next(iter(each.values()))["attacks"][0]["right_of_all"]["share"]
        for each in json.loads(capsys.readouterr().out)["sets"]
    ]
    assert len(shares) == 2 and shares[0] < shares[1]
    assert main([*words, "--keys", "zip"]) == 2
    said = capsys.readouterr().err
    assert "'zip'" in said and "row of the original" not in said


CARELESS = {
    "a column twice": ("a,b,a\n1,2,3\n", ["--keys", "a"], "has the column 'a' twice, as columns 1 and 3"),
    "a header in a hierarchy": ("job\n" + "smith\nnurse\n" * 9, ["--keys", "job", "--hierarchy", "job=h.csv"],
                                "begins with a header, 'job', 'group', 'all': remove that row"),
    "a number of people as a key": ("id,sex\n" + "".join(f"{i},{i % 2}\n" for i in range(40)), ["--keys", "id,sex"],
                                    "the key 'id' is another one for each person"),
}  # fmt: skip


@pytest.mark.parametrize("case", CARELESS)
def test_a_careless_file_is_refused_with_the_way_out(case, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, words, told = CARELESS[case]
    (tmp_path / "in.csv").write_text(text)
    (tmp_path / "h.csv").write_text("job,group,all\nsmith,craft,any\nnurse,care,any\n")
    assert run("in.csv", *words) == 2
    assert told in capsys.readouterr().err


def test_undeclared_codes_of_missing_are_noted(tmp_path, capsys):
    ages = [20, 30, 40] * 6 + [-9] * 3 + [99] * 3
    pl.DataFrame({"age": ages, "sex": ["f"] * 24}).write_csv(tmp_path / "in.csv")
    assert run(tmp_path / "in.csv", "--keys", "age,sex") == 0
    told = "cells that may mean missing: '-9' in 3 rows of 'age', '99' in 3 rows of 'age'"
    assert told in (said := capsys.readouterr().err) and "say --na -9,99" in said
    assert run(tmp_path / "in.csv", "--keys", "age,sex", "--na", "-9", "--na", "99", "--out", tmp_path / "o.csv") == 0
    assert "that may mean" not in capsys.readouterr().err
    assert not {"-9", "99"} & set(pl.read_csv(tmp_path / "o.csv", infer_schema=False)["age"].drop_nulls())


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_byte_order_mark_and_ends_of_lines_are_kept(encoding, tmp_path):
    mark = b"\xef\xbb\xbf" if encoding == "utf-8" else b""
    (tmp_path / "in.csv").write_bytes(mark + b"a,b\r\n" + b"1,2\r\n" * 4)
    out = tmp_path / "o.csv"
    assert run(tmp_path / "in.csv", "--keys", "a", "--encoding", encoding, "--out", out) == 0
    assert out.read_bytes() == (tmp_path / "in.csv").read_bytes()


def test_two_releases_that_show_people_only_together_are_named_together(tmp_path, capsys):
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"age": rng.integers(0, 8, 120), "area": rng.integers(0, 8, 120)})
    frame.write_csv(tmp_path / "in.csv")
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    assert run(tmp_path / "in.csv", "--keys", "age", "--drop", "area", "--out", one) == 0
    assert run(tmp_path / "in.csv", "--keys", "area", "--drop", "age", "--beside", one, "--out", two) == 0
    words = ("--keys", "age,area", "--beside", one, "--beside", two, "--out", tmp_path / "three.csv")
    capsys.readouterr()
    assert run(tmp_path / "in.csv", *words) == 2
    assert "in 'one.csv', 'two.csv' together" in capsys.readouterr().err


def test_who_shuffles_before_rows_are_left_out_still_knows_whose_each_row_is(tmp_path):
    rng = np.random.default_rng(9)
    frame = pl.DataFrame({"age": [*rng.integers(0, 3, 97), 30, 31, 32], "value": np.arange(100) + 1000.5})
    frame.write_csv(tmp_path / "in.csv")
    steps = [protect.Shuffle(), protect.Suppress(keys=["age"], target="k >= 4")]
    original, out = files.Original.read(tmp_path / "in.csv"), tmp_path / "out.csv"
    done = protect.release(original, protect.Plan(keys=["age"], steps=steps), out, trial=True)
    reading = Reading(",", None, False, ())
    table = reading.released(out, tmp_path / "in.csv", 100, role="release", identity=None, synthetic=False)
    assert (table["value"] == frame["value"].gather(table[RECORD])).all() and done.after.k >= 4 and table.height == 97


@pytest.mark.parametrize("afterwards", [[], [protect.Shuffle()]], ids=["alone", "before a shuffle"])
def test_numbers_that_a_plan_draws_anew_do_not_follow_the_order_of_the_original(tmp_path, afterwards):
    frame = pl.DataFrame({"id": np.arange(500, 600), "sex": ["f", "m"] * 50, "value": np.arange(100) + 1000.5})
    frame.write_csv(tmp_path / "in.csv")
    plan = protect.Plan(keys=["sex"], steps=[protect.Renumber(columns=["id"]), *afterwards])
    protect.release(files.Original.read(tmp_path / "in.csv"), plan, tmp_path / "out.csv")
    table = pl.read_csv(tmp_path / "out.csv")
    assert sorted(table["id"]) == list(range(1, 101))
    assert (table["id"] + 999.5 == table["value"]).sum() < 10 and (table["value"] == frame["value"]).sum() < 10


def test_who_is_not_in_an_earlier_release_is_not_like_people_all_of_whose_cells_are_gaps_there(tmp_path, capsys):
    # two people of the first area are left out of the first release, and four of the second have nothing but gaps
    age, area = [*[30] * 20, 7, 8, *[40] * 20, *[None] * 4], ["a"] * 22 + ["b"] * 24
    pl.DataFrame({"age": age, "area": area}).write_csv(tmp_path / "in.csv")
    original, one = files.Original.read(tmp_path / "in.csv"), tmp_path / "one.csv"
    steps = [protect.Suppress(keys=["age"], strata=["area"]), protect.Drop(columns=["area"])]
    protect.release(original, protect.Plan(keys=["age"], steps=steps), one, trial=True)
    assert len(one.read_text().splitlines()) == 1 + 44
    capsys.readouterr()
    assert run(tmp_path / "in.csv", "--keys", "age", "--beside", one, "--out", tmp_path / "two.csv") == 2
    assert "2 people read like fewer than 3" in capsys.readouterr().err
