"""Cells that may mean missing although nobody says so: they are noted, never refused."""

import polars as pl
import pytest

AGES = [20, 30, 40] * 6 + [-9] * 3 + [99] * 2
COMMANDS = {
    "risk": ("risk", "in.csv", "--keys", "age,sex"),
    "risk on DuckDB": ("risk", "in.csv", "--keys", "age,sex", "--engine", "duckdb"),
    "a sensitive column": ("risk", "in.csv", "--keys", "sex", "--sensitive", "age"),
    "protect": ("protect", "in.csv", "--keys", "age,sex"),
    "a condition": ("protect", "in.csv", "--keys", "sex", "--target", "k >= 3 and l(age) >= 2"),
    "a plan": ("protect", "in.csv", "--plan", "plan.toml"),
    "table": ("table", "in.csv", "--by", "age,sex"),
    "attack": ("attack", "safe.csv", "--register", "in.csv", "--keys", "age,sex", "--by", "exact"),
    "a secret": ("attack", "safe.csv", "--register", "in.csv", "--keys", "sex", "--by", "exact", "--secret", "age"),
}
PLAN = (
    'naysay = "plan"\nversion = 1\nkeys = ["age"]\n[[step]]\nmethod = "suppress"\nkeys = ["age"]\ntarget = "k >= 2"\n'
)


@pytest.fixture
def people(tmp_path):
    frame = pl.DataFrame({"age": AGES, "sex": ["f"] * len(AGES)})
    frame.write_csv(tmp_path / "in.csv")
    frame.with_columns(pl.col("age").replace([-9, 99], None)).write_csv(tmp_path / "safe.csv")
    (tmp_path / "plan.toml").write_text(PLAN.replace("[[step]]", 'target = "k >= 2"\n[[step]]', 1))
    return tmp_path


@pytest.mark.parametrize("case", COMMANDS)
def test_codes_that_nobody_declared_are_noted_once_with_their_rows_and_the_option(naysay, people, case):
    code, _, err = naysay(*COMMANDS[case])
    assert code == 0, err
    notes = [line for line in err.splitlines() if "may mean missing" in line]
    assert len(notes) == 1
    file = " of the register, in.csv" if COMMANDS[case][0] == "attack" else ""
    assert f"'-9' in 3 rows of 'age'{file}, '99' in 2 rows of 'age'{file}; they count as values" in notes[0]
    assert notes[0].endswith("say --na -9,99")
    code, _, err = naysay(*COMMANDS[case], "--na", "-9,99")
    assert code == 0, err
    assert "may mean missing" not in err


def test_codes_are_the_only_numbers_among_words(naysay, tmp_path):
    pl.DataFrame({"area": ["north", "south", "99", "-9"] * 5}).write_csv(tmp_path / "in.csv")
    _, _, err = naysay("risk", "in.csv", "--keys", "area")
    assert "'-9' in 5 rows of 'area', '99' in 5 rows of 'area'" in err


LEGITIMATE = {
    "numbers below zero": [-12, -9, -3, 0, 4, 8],
    "99 after 98": [95, 96, 97, 98, 99],
    "9 and 10 after 8": [7, 8, 9, 10],
    "the code alone": [99, 99, 99],
    "words": ["none", "some", "all"],
    "numbers among words": ["none", "98", "97", "96"],
}


@pytest.mark.parametrize("case", LEGITIMATE)
def test_values_like_others_are_not_taken_for_codes(naysay, tmp_path, case):
    pl.DataFrame({"age": LEGITIMATE[case] * 5}).write_csv(tmp_path / "in.csv")
    code, _, err = naysay("risk", "in.csv", "--keys", "age")
    assert code == 0, err
    assert "may mean missing" not in err


def test_a_code_with_a_comma_is_quoted_for_the_shell_and_the_record(naysay, tmp_path):
    pl.DataFrame({"job": ["cook", "smith", "?"] * 4, "town": ["a", "b", "n/a"] * 4}).write_csv(tmp_path / "in.csv")
    _, _, err = naysay("risk", "in.csv", "--keys", "job,town")
    assert "say --na '?,n/a'" in err


def test_declared_codes_of_numbers_with_a_point_are_gaps_in_every_command(naysay, people):
    for name in ("in", "safe"):
        pl.read_csv(people / f"{name}.csv").cast({"age": pl.Float64}).write_parquet(people / f"{name}.parquet")
    words = ("attack", "safe.parquet", "--register", "in.parquet", "--keys", "age", "--by", "exact", "--secret", "sex")
    code, _, err = naysay(*words, "--na", "-9,99")
    assert (code, "may mean missing" in err) == (0, False)
    assert "'-9' in 3 rows" in naysay(*words).err
