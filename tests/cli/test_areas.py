"""Areas of few people (Mulder, section 2.6): what ``naysay risk`` finds, and ``protect`` mends."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

PEOPLE = {"city": 900_000, "port": 120_000, "dale": 60_000, "isle": 3_000}
RULE = "people(town, towns.csv) >= 100,000"


@pytest.fixture
def towns(write):
    rng = np.random.default_rng(31)
    rows = [
        f"{rng.choice(['f', 'm'])},{town}" for town in rng.choice([*PEOPLE, ""], 200, p=[0.5, 0.3, 0.12, 0.05, 0.03])
    ]
    write("towns.csv", "town,people", *(f"{town},{people}" for town, people in PEOPLE.items()))
    return write("in.csv", "sex,town", *rows)


def test_risk_names_the_areas_of_few_people_and_counts_who_lives_there(naysay, towns):
    frame = pl.read_csv("in.csv")
    inside = int(frame["town"].is_in(["dale", "isle"]).sum())
    code, out, err = naysay("risk", towns, "--keys", "sex", "--areas", RULE)
    assert (code, err) == (0, "")
    sentence = "town: 2 of 4 areas hold fewer than 100,000 people, and"
    assert f"{sentence} {inside} respondents are in them ('isle', 'dale')" in out
    code, out, err = naysay("risk", towns, "--keys", "sex", "--areas", RULE, "--format", "json")
    assert json.loads(out)["areas"] == [
        {"column": "town", "least": 100_000, "areas": 4, "areas_below": ["isle", "dale"], "records_below": inside}
    ]
    assert "--areas is not in csv" in naysay("risk", towns, "--keys", "sex", "--areas", RULE, "--format", "csv")[2]
    naysay("risk", "report", towns, "--keys", "sex", "--areas", RULE, "--html", "board.html")
    assert "hold fewer than 100,000 people" in Path("board.html").read_text(encoding="utf-8")


def test_no_area_of_few_people_is_released_where_the_target_forbids_it(naysay, towns):
    words = ("--keys", "sex,town", "--target", f"k >= 3 and {RULE}", "--out", "safe.csv", "--save", "plan.toml")
    code, _, err = naysay("protect", towns, *words)
    assert code == 0, err
    safe = pl.read_csv("safe.csv")
    assert set(safe["town"].drop_nulls()) == {"city", "other areas"}
    assert safe.group_by("sex", "town").len()["len"].min() >= 3
    code, _, err = naysay("protect", towns, "--plan", "plan.toml", "--out", "again.csv")
    assert code == 0, err
    assert sorted(pl.read_csv("again.csv").rows(), key=str) == sorted(safe.rows(), key=str)
    assert (
        "'other areas' is not said; add a row for it to the list"
        in naysay("risk", "safe.csv", "--keys", "sex", "--areas", RULE)[2]
    )
    # the released file is judged like every other, once the list of people names what was put together
    with Path("towns.csv").open("a", encoding="utf-8") as file:
        file.write("other areas,183000\n")
    code, out, err = naysay("risk", "safe.csv", "--keys", "sex", "--areas", RULE)
    assert code == 0, err
    assert "town: each of the 2 areas of the file holds 100,000 people or more" in out


@pytest.mark.parametrize(
    ("rule", "lines", "complaint"),
    [
        ("people(town) >= 5", (), "a rule on areas must be such as 'people(town, towns.csv) >= 100000'"),
        ("people(twon, towns.csv) >= 100000", (), "did you mean 'town'?"),
        (RULE, ("port,many",), "row 6 of 'towns.csv': the people of 'port' must be a number"),
        (RULE, ("port,5",), "row 6 of 'towns.csv' names 'port' again; give each area one row"),
        (RULE, ("hill,5,6",), "row 6 of 'towns.csv' must have two cells, an area and its people; it has 3"),
        ("people(town, no.csv) >= 5", (), "cannot read 'no.csv'"),
        ("people(town, towns.csv) >= ,", (), "a rule on areas must be such as"),
        ("people(town, towns.csv) >= 0", (), "must be 2 people or more; got 0"),
        (RULE, ("hill,inf",), "row 6 of 'towns.csv': the people of 'hill' must be a number from 0 on"),
        (RULE, ('hill,"1,000"',), "without commas, such as 120000; got '1,000'"),
    ],
)
@pytest.mark.parametrize("command", [("risk", "--areas"), ("protect", "--target")])
def test_a_rule_on_areas_that_cannot_be_judged_is_refused(naysay, towns, command, rule, lines, complaint):
    with Path("towns.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    code, _, err = naysay(command[0], towns, "--keys", "sex", command[1], rule)
    assert code == 2
    assert complaint in err
