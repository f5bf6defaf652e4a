"""Levels of keys in a spreadsheet: written, changed by a person, and read back."""

import csv
import datetime

import numpy as np
import openpyxl
import polars as pl
import pytest

from naysay.cli import main
from naysay.errors import DataError
from naysay.microdata import protect
from naysay.microdata.protect.hierarchies import hierarchy_of_values, read_hierarchies, write_hierarchies


def people(n=400):
    rng = np.random.default_rng(5)
    return pl.DataFrame({
        "age": rng.integers(18, 90, n),
        "region": rng.choice(["north", "east", "south", "=west"], n, p=[0.5, 0.3, 0.19, 0.01]),
        "height": rng.normal(1.7, 0.1, n).round(3),
        "born": [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 9_000, n)],
    })  # fmt: skip


def changed(path, sheet, row, column, value):
    book = openpyxl.load_workbook(path)
    place = [cell.value for cell in book[sheet][1]].index(column) + 1
    book[sheet].cell(row, place).value = value
    book.save(path)


@pytest.mark.parametrize("place", ["levels.xlsx", "levels"], ids=["a workbook", "CSV files"])
def test_what_is_written_is_read_back_and_every_level_nests(place, tmp_path):
    frame = people()
    written = write_hierarchies(tmp_path / place, frame, frame.columns)
    assert read_hierarchies(tmp_path / place) == written
    for name, hierarchy in written.items():
        known = frame[name].cast(pl.String).unique().to_list()
        assert sorted(hierarchy.levels) == sorted(known)
        for level in range(1, hierarchy.height):
            groups, above = hierarchy.numbers(known)[level : level + 2]
            assert len(set(zip(groups.tolist(), above.tolist(), strict=True))) == len(set(groups.tolist()))
    assert written["born"].levels[
        "1955-05-03" if "1955-05-03" in written["born"].levels else min(written["born"].levels)
    ]
    low = min(written["height"].levels, key=float)
    bounds = [float(part) for part in written["height"].levels[low][0].split(" to under ")]
    assert bounds[0] <= float(low) < bounds[1]


def test_a_sheet_names_the_key_and_counts_the_rows_of_each_value(tmp_path):
    frame = people()
    write_hierarchies(tmp_path / "levels.xlsx", frame, ["region"])
    rows = list(openpyxl.load_workbook(tmp_path / "levels.xlsx")["region"].iter_rows(values_only=True))
    assert rows[0] == ("region", "count", "level 1", "level 2")
    assert {row[0]: row[1] for row in rows[1:]} == dict(frame["region"].value_counts().iter_rows())
    assert openpyxl.load_workbook(tmp_path / "levels.xlsx")["region"]["A2"].data_type == "s"  # "=west" is no formula


def test_keys_that_differ_in_what_excel_cannot_name_have_sheets_of_their_own(tmp_path):
    names = ["income/year", "income:year", "Income_Year", "x" * 60, "x" * 61]
    frame = pl.DataFrame({name: ["a", "b"] for name in names})
    for place in ("levels.xlsx", "levels"):
        write_hierarchies(tmp_path / place, frame, names)
        assert set(read_hierarchies(tmp_path / place)) == set(names)


@pytest.mark.parametrize(("row", "column", "value", "told"), [
    (4, "level 2", "40 to 49", r"row 4, column 'level 2': '40 to 49', but in row 5 '20 to 24' \(level 1\) is in"),
    (6, "level 1", None, r"row 6, column 'level 1': the cell is empty"),
    (3, "age", "18", r"row 3, column 'age': '18' stands in row 2 already"),
    (5, "level 5", "all", r"row 5, column 'level 5': 'all', but .* 'any'"),
    (2, "level 1", datetime.date(2026, 5, 1), r"row 2, column 'level 1': the spreadsheet holds a day.*1-5"),
    (1, "level 2", None, r"the first row must name the key"),
], ids=["nesting", "empty", "twice", "top", "day", "header"])  # fmt: skip
def test_a_cell_that_is_wrong_is_named_by_sheet_row_and_column(row, column, value, told, tmp_path):
    path = tmp_path / "levels.xlsx"
    write_hierarchies(path, pl.DataFrame({"age": range(18, 90)}), ["age"])
    changed(path, "age", row, column, value)
    with pytest.raises(DataError, match=r"sheet 'age'.*" + told):
        read_hierarchies(path)


def test_what_is_no_workbook_is_one_clear_error(tmp_path):
    (tmp_path / "levels.xlsx").write_text("no")
    with pytest.raises(DataError, match="damaged or no workbook"):
        read_hierarchies(tmp_path / "levels.xlsx")
    with pytest.raises(DataError, match="there is no file"):
        read_hierarchies(tmp_path / "other.xlsx")
    with pytest.raises(DataError, match="a folder of CSV files"):
        read_hierarchies(tmp_path / "other")


def test_a_column_without_values_has_no_levels():
    with pytest.raises(DataError, match="holds no value"):
        hierarchy_of_values(pl.Series("job", [None, ""]))


def test_groups_that_a_person_wrote_in_the_spreadsheet_stand_in_the_release(tmp_path, capsys):
    data, book, out = (str(tmp_path / name) for name in ("people.csv", "levels.xlsx", "safe.csv"))
    frame = people().select("age", "region")
    frame.write_csv(data)
    keys = ["protect", data, "--keys", "region"]
    assert main([*keys, "--write-hierarchies", book]) == 0
    assert capsys.readouterr().out == "region: 4 values, 2 levels\n"
    goal = ["--target", "k >= 30"]
    for row in range(2, 6):
        sheet = openpyxl.load_workbook(book)["region"]
        name = sheet.cell(row, 1).value
        changed(book, "region", row, "level 1", "north" if name == "north" else "elsewhere")
    assert main([*keys, "--hierarchies", book, "--importance", "region=must", *goal, "--out", out]) == 0
    safe = pl.read_csv(out)
    assert set(safe["region"]) == {"north", "elsewhere"}
    assert (safe["region"] == "north").sum() == (frame["region"] == "north").sum()


def test_a_hierarchy_without_a_value_of_the_file_is_refused_and_not_left_out():
    """The plan without it was proposed, and the output said that none of its levels loses less."""
    levels = protect.Hierarchy({"north": ["n", "any"], "east": ["e", "any"]})
    with pytest.raises(DataError, match="does not hold '=west', 'south', which the file does; add a row"):
        protect.propose(people().select("age", "region"), ["age", "region"], hierarchies={"region": levels})


def test_levels_of_one_key_from_two_places_are_refused(tmp_path, capsys):
    frame = people().select("region")
    frame.write_csv(tmp_path / "people.csv")
    write_hierarchies(tmp_path / "levels", frame, ["region"])
    with (tmp_path / "region.csv").open("w", newline="") as file:
        csv.writer(file).writerows((name, "any") for name in frame["region"].unique())
    words = ["protect", str(tmp_path / "people.csv"), "--keys", "region", "--hierarchies", str(tmp_path / "levels")]
    assert main([*words, "--hierarchy", f"region={tmp_path / 'region.csv'}"]) == 2
    assert "both have levels of 'region'" in capsys.readouterr().err


GERMAN = {
    "semicolons": "smith;craft;any\r\nnurse;care;any\r\n;;\r\n",
    "semicolons beside commas": "smith;craft, and more;any\nnurse;care, and more;any\n",
    "tabs": "smith\tcraft\tany\nnurse\tcare\tany\n",
    "blanks before labels": "smith, craft,any\nnurse,care, any\n",
    "commas": 'smith,"craft;x",any\nnurse,"care;x",any\n',
}


@pytest.mark.parametrize("case", GERMAN)
def test_a_hierarchy_is_read_as_spreadsheets_of_any_country_write_it(case, tmp_path):
    (tmp_path / "jobs.csv").write_bytes(b"\xef\xbb\xbf" + GERMAN[case].encode())
    found = protect.Hierarchy.read(tmp_path / "jobs.csv")
    assert list(found.levels) == ["smith", "nurse"]
    labels = found.levels["smith"]
    assert (labels[0][:5], labels[-1], len(labels)) == ("craft", "any", 2)


def test_a_folder_of_levels_that_was_saved_with_semicolons_is_read_back(tmp_path):
    frame = pl.DataFrame({"job": ["smith", "nurse"] * 5})
    written = write_hierarchies(tmp_path / "levels", frame, ["job"])
    file = tmp_path / "levels" / "job.csv"
    file.write_text("\ufeff" + file.read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    assert read_hierarchies(tmp_path / "levels") == written


CARELESS = {
    "in another encoding": ("Bäcker,Handwerk,any\n".encode("cp1252"), "save it as 'CSV UTF-8'"),
    "with a blank before a value": (b" smith,craft,any\nnurse,care,any\n", "holds ' smith', and the file 'smith'"),
    "with rows of several lengths": (b"smith;craft;any\nnurse;any\n", "row 2 has 2 of 3"),
}


@pytest.mark.parametrize("case", CARELESS)
def test_a_hierarchy_that_was_saved_carelessly_is_one_clear_error(case, tmp_path, capsys):
    pl.DataFrame({"job": ["smith", "nurse"] * 9}).write_csv(tmp_path / "in.csv")
    (tmp_path / "jobs.csv").write_bytes(CARELESS[case][0])
    words = ["protect", str(tmp_path / "in.csv"), "--keys", "job", "--hierarchy", f"job={tmp_path / 'jobs.csv'}"]
    assert main(words) == 2
    assert CARELESS[case][1] in capsys.readouterr().err
