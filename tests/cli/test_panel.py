"""``naysay panel``: waves from files, what is written and printed, and what is refused."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from naysay import files
from naysay.microdata import panel
from reproductions.panel import BACKGROUND, generate


@pytest.fixture
def made(naysay):
    Path("made").mkdir()
    same = generate(respondents=60, background_only=40, waves=24)
    for name, table in {"background": same.background, **same.modules, "truth": same.truth}.items():
        table.write_parquet(f"made/{name}.parquet")
    return Path("made")


@pytest.fixture
def two(write):
    write("one.csv", "id,month,age,job", "a,2009-02,40,clerk", "b,2009-02,30,")
    return write("two.csv", "id,month,age,job", "a,2009-03,41,", "b,2009-03,30,-9")


ASKED = ("--respondent", "id", "--wave", "month")


def test_merge_is_that_of_the_library(naysay, made):
    same = generate(respondents=60, background_only=40, waves=24)
    expected = panel.merge_waves(same.waves, background=BACKGROUND)
    paths = sorted(path for path in made.iterdir() if path.stem != "truth")
    words = ("--background", ",".join(BACKGROUND), "--format", "json")
    code, out, err = naysay("panel", "merge", *paths, "--out", "merged.parquet", *words)
    assert code == 0
    assert err == "naysay: note: merged.parquet: 60 respondents\n"
    told = json.loads(out)
    assert [told[name] for name in ("respondents", "kept", "background_only")] == [100, 60, 40]
    written = pl.read_parquet("merged.parquet")
    assert written.select(expected.table.columns).equals(expected.table)


def test_every_field_of_the_json_is_documented(naysay, made):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "risk_json.md").read_text(encoding="utf-8")
    merged = json.loads(naysay("panel", "merge", "made/background.parquet", "--out", "a.csv", "--format", "json").out)
    born = json.loads(naysay("panel", "birthdays", "made/background.parquet", "--out", "b.csv", "--format", "json").out)
    names = {*merged, *merged["missing"][0], *merged["attendance"][0], *born}
    assert not [name for name in names if f"`{name}`" not in page]


def test_texts_that_mean_missing(naysay, two):
    assert naysay("panel", "merge", "one.csv", two, *ASKED, "--out", "out.csv", "--na", "-9").code == 0
    assert Path("out.csv").read_text() == "id,age,job\na,41,clerk\nb,30,\n"


def test_a_decimal_number_that_means_missing_is_named_without_its_zeros(naysay):
    table = pl.DataFrame({"id": ["a", "b"], "month": ["2009-02"] * 2, "age": [40, 30], "income": [-9.0, 2.5]})
    table.write_parquet("one.parquet")
    assert naysay("panel", "merge", "one.parquet", *ASKED, "--out", "out.csv", "--na", "-9").code == 0
    assert Path("out.csv").read_text() == "id,age,income\na,40,\nb,30,2.5\n"


def test_months_of_files_that_do_not_hold_them(naysay, write):
    write("one.csv", "respondent,job", "1,clerk")
    write("two.csv", "respondent,job", "1,baker")
    words = ("panel", "merge", "one.csv", "two.csv", "--out", "out.csv", "--force")
    assert naysay(*words, "--months", "2009-01,2009-02").code == 0
    assert "baker" in Path("out.csv").read_text()
    assert naysay(*words, "--months", "2009-02,2009-01").code == 0
    assert "clerk" in Path("out.csv").read_text()


def test_the_counts_are_printed_and_no_value_of_a_respondent(naysay, two):
    code, out, err = naysay("panel", "merge", "one.csv", two, *ASKED, "--out", "out.csv")
    assert code == 0
    assert "2 respondents in 2 waves, 2009-02 to 2009-03" in out
    assert "clerk" not in out + err


def test_birthdays_are_joined_texts_in_csv_and_lists_elsewhere(naysay, two):
    words = ("panel", "birthdays", "one.csv", two, *ASKED)
    code, out, _ = naysay(*words, "--out", "born.csv")
    assert code == 0
    assert "2 candidates" in out
    assert Path("born.csv").read_text() == "id,month_of_birth\na,2;3\nb,\n"
    assert naysay(*words, "--out", "born.parquet").code == 0
    assert pl.read_parquet("born.parquet")["month_of_birth"].to_list() == [[2, 3], None]


def test_birthdays_beside_a_file_are_keys_for_risk(naysay, two):
    naysay("panel", "merge", "one.csv", two, *ASKED, "--out", "merged.csv")
    assert naysay("panel", "birthdays", "one.csv", two, *ASKED, "--out", "keys.csv", "--beside", "merged.csv").code == 0
    words = ("risk", "keys.csv", "--keys", "month_of_birth", "--joined", "month_of_birth", "--population", 1000)
    told = json.loads(naysay(*words, "--format", "json").out)
    assert told["quasi_identifiers"][0]["matches"]["m1"] == 0


def test_bounds_use_the_year_of_birth(naysay, write):
    write("one.csv", "respondent,wave,age,born", "a,2009-03,41,1968")
    words = ("panel", "birthdays", "one.csv", "--out", "born.jsonl", "--bounds", "--year-of-birth", "born")
    assert json.loads(naysay(*words, "--format", "json").out)["candidates"] == {"3": 1}
    assert json.loads(Path("born.jsonl").read_text())["month_of_birth"] == [1, 2, 3]


def test_contradictions_are_counted_and_written_only_where_asked(naysay, write):
    write("one.csv", "respondent,wave,age", "a,2009-03,41", "a,2009-04,38")
    words = ("panel", "birthdays", "one.csv", "--out", "born.csv")
    code, out, err = naysay(*words)
    assert code == 0
    assert "contradiction, taken as missing: age falls: 1 respondent" in out
    assert "41" not in out + err
    assert naysay(*words, "--force", "--contradictions", "wrong.csv").code == 0
    assert Path("wrong.csv").read_text() == ("respondent,problem,waves,ages\na,age falls,2009-03;2009-04,41;38\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["merge", "one.csv", "two.csv", "--out", "out.csv"], "there is no column 'respondent'"),
        (["merge", "one.csv", "two.csv", *ASKED, "--out", "two.csv"], "'two.csv' is read as well"),
        (["merge", "one.csv", "two.csv", *ASKED, "--out", "out.txt"], "must end in .csv"),
        (["merge", "one.csv", "two.csv", *ASKED, "--out", "no/out.csv"], "there is no folder 'no'"),
        (["merge", "one.csv", "one.csv", *ASKED, "--out", "out.csv"], "'one.csv' is named twice"),
        (["merge", "one.csv", "no.csv", *ASKED, "--out", "out.csv"], "there is no file 'no.csv'"),
        (["merge", "one.csv", *ASKED, "--out", "out.csv", "--background", "jobs"], "did you mean 'job'"),
        (["merge", "one.csv", *ASKED, "--out", "out.csv", "--months", "2009-01"], "has a column 'month'"),
        (["merge", "one.csv", *ASKED, "--out", "out.csv", "--months", "1,2"], "one month a file; got 2 for 1 files"),
        (["merge", "one.csv", "--respondent", "id", "--wave", "w", "--months", "May", "--out", "o.csv"], "holds 'May'"),
        (["merge", "one.csv", *ASKED, "--number", "age", "--out", "out.csv"], "waves are out of order"),
        (
            ["merge", "typed.parquet", "one.csv", *ASKED, "--out", "out.csv"],
            "holds numbers in typed.parquet and texts in one.csv",
        ),
        (["birthdays", "one.csv", *ASKED, "--age", "job", "--out", "out.csv"], "it holds 'clerk'"),
        (["birthdays", "one.csv", *ASKED, "--year-of-birth", "age", "--out", "out.csv"], "bounds=True only"),
        (["birthdays", "one.csv", *ASKED, "--out", "o.csv", "--contradictions", "o.csv"], "two outputs have one name"),
        (["birthdays", "one.csv", *ASKED, "--out", "o.csv", "--beside", "typed.parquet"], "named alike"),
        (["birthdays", "one.csv", *ASKED, "--out", "o.csv", "--beside", "born.csv"], "'month_of_birth' already"),
        (["merge"], "Missing argument"),
    ],
)
def test_what_is_refused(refused, two, write, words, told):
    pl.DataFrame({"id": [1], "month": ["2009-01"], "age": [3], "job": ["x"]}).write_parquet("typed.parquet")
    write("born.csv", "id,month_of_birth", "a,2")
    assert told in refused("panel", *words)


def test_files_are_not_overwritten_unasked(naysay, refused, two):
    assert naysay("panel", "merge", two, *ASKED, "--out", "out.csv").code == 0
    assert "'out.csv' exists; add --force" in refused("panel", "merge", two, *ASKED, "--out", "out.csv")


def test_the_group_alone_shows_its_commands(naysay):
    assert "birthdays" in naysay("panel").out


def test_respondents_whose_type_changes_between_files(write, refused):
    write("one.csv", "respondent,wave,age", "1,2009-01,40", "2,2009-01,30")
    for first, second in (("01", "02"), ("1.0", "2.0")):
        write("two.csv", "respondent,wave,age", f"{first},2009-02,40", f"{second},2009-02,30")
        message = refused("panel", "merge", "one.csv", "two.csv", "--out", "out.csv")
        assert "row 1 of" in message
        assert "one number written in two ways, such as 7, 07, +7 and 7.0" in message
    write("two.csv", "respondent,wave,age", "A1,2009-02,40", "B2,2009-02,30")
    message = refused("panel", "birthdays", "one.csv", "two.csv", "--out", "out.csv")
    assert "column 'respondent' holds numbers in one.csv and other texts in two.csv" in message
    assert not Path("out.csv").exists()


def test_respondents_with_and_without_letters_in_one_file_are_texts(naysay, write):
    write("one.csv", "respondent,wave,age", "1,2009-01,40", "B2,2009-01,30")
    write("two.csv", "respondent,wave,age", "B2,2009-02,40")
    assert naysay("panel", "merge", "one.csv", "two.csv", "--out", "out.csv").code == 0


def test_waves_without_a_month(write, refused):
    write("one.csv", "respondent,age", "1,40")
    message = refused("panel", "merge", "one.csv", "--out", "out.csv")
    assert "'one.csv' has no column 'wave' for the month of a row" in message
    assert "--months" in message


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_months_of_birth_from_other_files_stand_beside_a_csv_file(naysay, kind, write):
    waves = {"respondent": [7.0, 7.0, 8.0], "wave": [200902.0, 200903.0, 200902.0], "age": [40.0, 41.0, 30.0]}
    getattr(pyreadstat, f"write_{kind}")(pd.DataFrame(waves), f"waves.{kind}")
    assert naysay("panel", "merge", f"waves.{kind}", "--out", "merged.csv").code == 0
    assert naysay("panel", "birthdays", f"waves.{kind}", "--out", "keys.csv", "--beside", "merged.csv").code == 0
    assert Path("keys.csv").read_text() == "respondent,age,month_of_birth\n7,41,2;3\n8,30,\n"


def test_the_help_names_every_kind_of_file(naysay):
    for command in ("merge", "birthdays"):
        assert "SPSS, Stata" in " ".join(naysay("panel", command, "--help").out.split())


@pytest.mark.parametrize("suffix", [".csv", ".sav", ".dta", ".parquet"])
@pytest.mark.parametrize("ids", [[1, 1, 2, 2], ["A1", "A1", "B2", "B2"]])
def test_waves_of_spss_go_beside_what_was_merged_from_them(naysay, tmp_path, suffix, ids):
    rows = {"respondent": ids, "wave": ["2009-02", "2009-03"] * 2, "age": [40, 41, 30, 30]}
    files.write(pl.DataFrame(rows), tmp_path / "waves.sav")
    assert naysay("panel", "merge", "waves.sav", "--out", f"merged{suffix}").code == 0
    words = ("panel", "birthdays", "waves.sav", "--beside", f"merged{suffix}", "--out", "born.jsonl")
    ran = naysay(*words)
    assert ran.code == 0, ran.err
    found = [json.loads(line) for line in Path("born.jsonl").read_text().splitlines()]
    assert [each["month_of_birth"] for each in found] == [[2, 3], None]


def test_names_that_a_csv_file_adds_to_numbers_are_nobody_in_the_waves(naysay, refused, write, tmp_path):
    rows = {"respondent": [1, 1, 2, 2], "wave": ["2009-02", "2009-03"] * 2, "age": [40, 41, 30, 30]}
    files.write(pl.DataFrame(rows), tmp_path / "waves.sav")
    write("members.csv", "respondent,job", "1.0,clerk", "x9,nurse")
    words = ("panel", "birthdays", "waves.sav", "--beside", "members.csv", "--out", "born.jsonl")
    assert naysay(*words).code == 0
    found = [json.loads(line) for line in Path("born.jsonl").read_text().splitlines()]
    assert [each["month_of_birth"] for each in found] == [[2, 3], None]
    write("members.csv", "respondent,job", "1,clerk", "01,nurse")
    assert "one number in 'respondent' is written in two ways" in refused(*words, "--force")


def test_months_go_into_spss(naysay, write):
    write("one.csv", "respondent,wave,age", "a,2009-03,41", "a,2009-04,42")
    assert naysay("panel", "birthdays", "one.csv", "--out", "born.sav").code == 0
    assert files.scan(Path("born.sav")).collect()["month_of_birth"].to_list() == ["3;4"]


def test_panels_are_not_written_as_portable_files(refused, write):
    write("one.csv", "respondent,wave,age", "a,2009-03,41")
    assert "portable files of SPSS are read, not written" in refused("panel", "merge", "one.csv", "--out", "x.por")
