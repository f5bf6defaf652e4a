"""Files of SPSS, Stata and Excel, written and read back; texts that are no formulas."""

import datetime
import re
from zipfile import ZipFile

import polars as pl
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, files
from naysay.errors import DataError
from naysay.files.statistical import cut, portable
from naysay.files.text import escaped, unescaped

LABELLED = [".sav", ".zsav", ".dta"]
COLUMNS = {
    "id": [1, 2, 3],
    "k: age + sex": [1.5, None, 2.0],
    "said": ["=1+1", None, "ünï; “x”"],
    "day": [datetime.date(2026, 11, 20), None, datetime.date(1900, 2, 28)],
    "kept": [True, None, False],
    "many": [2**40, None, -(2**40)],
}


@pytest.mark.parametrize("suffix", LABELLED)
def test_what_is_written_is_read_again(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    files.write(pl.DataFrame(COLUMNS, strict=False), path)
    found = files.scan(path).collect()
    assert found.columns == ["id", "k_age_sex", "said", "day", "kept", "many"]
    assert found["k_age_sex"].to_list() == [1.5, None, 2.0]
    assert found["said"].to_list() == COLUMNS["said"]
    assert found["day"].to_list() == COLUMNS["day"]
    assert found["kept"].to_list() == [1, None, 0]
    assert found["many"].to_list() == COLUMNS["many"]
    read = pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav
    assert read(path)[1].column_names_to_labels["k_age_sex"] == "k: age + sex"
    assert not list(tmp_path.glob(".*"))


def test_a_workbook_holds_texts_that_are_no_formulas(tmp_path):
    path = tmp_path / "x.xlsx"
    said = ["=1+1", "+1", "-1", "@x", "\t=1", "'=1", "plain", None]
    files.write(pl.DataFrame({"said": said, "n": range(8), "last": [None] * 8}), path)
    assert files.scan(path).collect()["said"].to_list() == said
    assert files.scan(path).collect()["n"].to_list() == [str(n) for n in range(8)]
    with ZipFile(path) as inside:
        sheet = inside.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in sheet
        assert re.search(r'quotePrefix="1"', inside.read("xl/styles.xml").decode())


@pytest.mark.parametrize("suffix", [*LABELLED, ".csv", ".xlsx"])
def test_lists_need_parquet_or_json_lines(tmp_path, suffix):
    with pytest.raises(DataError, match=r"column 'months' holds List\(Int64\); take .parquet or .jsonl"):
        files.write(pl.DataFrame({"months": [[1, 2], None]}), tmp_path / f"x{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_workbook_has_no_room_for_more(tmp_path, monkeypatch):
    monkeypatch.setattr("naysay.files.statistical.MOST_ROWS", 3)
    with pytest.raises(DataError, match=r"Excel takes 2 rows; write .parquet or .csv instead"):
        files.write(pl.DataFrame({"n": [1, 2, 3]}), tmp_path / "x.xlsx")
    assert not list(tmp_path.iterdir())


def test_control_characters_are_refused_by_excel(tmp_path):
    with pytest.raises(DataError, match="column 'n' holds control characters, which Excel refuses"):
        files.write(pl.DataFrame({"n": ["a\x00b"]}), tmp_path / "x.xlsx")


@pytest.mark.parametrize("rows", [[], [[1, 2]], [["a", "a"], [1, 2]]])
def test_sheets_that_are_no_table(tmp_path, rows):
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match=r"names of columns|two columns 'a'|holds no rows"):
        files.scan(tmp_path / "x.xlsx")


def test_texts_too_long_for_spss_are_not_cut(tmp_path):
    frame = pl.DataFrame({"said": ["x" * 32_768]})
    with pytest.raises(DataError, match=r"'said' holds a text of 32,768 bytes; .* takes 32,767"):
        files.write(frame, tmp_path / "x.sav")
    files.write(frame, tmp_path / "x.dta")
    assert files.scan(tmp_path / "x.dta").collect()["said"].str.len_bytes().to_list() == [32_768]


def test_infinity_is_refused_by_stata(tmp_path):
    with pytest.raises(DataError, match=r"cannot write .* as a file of Stata"):
        files.write(pl.DataFrame({"x": [float("inf")]}), tmp_path / "x.dta")
    assert not list(tmp_path.iterdir())


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(st.lists(names, unique=True, min_size=1, max_size=8), st.sampled_from(["spss", "stata"]))
def test_names_are_such_as_the_program_takes(given, system):
    found = portable(given, system)
    assert list(found) == given
    there = [name.casefold() for name in found.values()]
    assert len(set(there)) == len(there)
    assert all(name[0].isalpha() and re.fullmatch(r"\w+", name) for name in found.values())
    assert all(len(name.encode()) <= 64 if system == "spss" else len(name) <= 32 for name in found.values())


def test_names_that_fit_stay():
    assert portable(["Age", "größe", "q1"], "stata") == {"Age": "Age", "größe": "größe", "q1": "q1"}
    assert portable(["ALL", "all_"], "spss") == {"ALL": "ALL__2", "all_": "all_"}


@given(st.text(max_size=40), st.integers(4, 30))
def test_texts_are_cut_between_letters(text, most):
    assert len(cut(text, most).encode()) <= most
    assert cut(text, 1_000) == text


texts = st.text(st.sampled_from(list("=+-@'; ,|\t\n\r ＝a1\xa0")), max_size=12)


@given(st.lists(texts, min_size=1, max_size=20))
def test_escaped_texts_are_no_formulas_and_come_back(said):
    frame = pl.DataFrame({"said": said})
    marked = frame.select(escaped("said"))
    assert marked.select(unescaped("said")).equals(frame)
    for text in marked["said"]:
        assert not any(re.match(r"\s*[=+\-@＝＋－＠]", part) for part in re.split(r"[;,|\t\n\r]", text))


def book(**more):
    values = (files.Value(1, "yes", "Ja"), files.Value(2, "no", "Nein"))
    asked = files.Asked(designs.warner(p=0.7))
    return files.Codebook(
        "s", "A survey", "0" * 64, "de", (files.Entry("q", "q", "?", "values", values, asked=asked),), **more
    )


def test_labels_that_are_alike_keep_their_names():
    values = (
        files.Value(1, "a", "same"),
        files.Value(2, "b", "same"),
        files.Value(3, "c", "a"),
        files.Value(4, "d", " "),
    )
    assert files.Entry("q", "q", "?", "values", values).labels == {"a": "a", "b": "b", "c": "c", "d": "d"}


def test_a_codebook_beside_a_file_gives_labels_and_designs(tmp_path):
    import json

    (tmp_path / "x.csv").write_text("q,other\nyes,1\nno,2\n,3\nmaybe,4\n", encoding="utf-8")
    (tmp_path / "x.csv.designs.json").write_text(json.dumps(book().form()), encoding="utf-8")
    path = tmp_path / "x.csv"
    assert files.scan(path).collect()["q"].to_list() == ["Ja", "Nein", None, "maybe"]
    assert files.scan(path, codes=True).collect()["q"].to_list() == ["yes", "no", None, "maybe"]
    assert files.designs_of(path)["q"].design.categories == ("Ja", "Nein")
    assert files.designs_of(path, codes=True)["q"].design == designs.warner(p=0.7)
    assert files.codebook_of(path) == book()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"naysay": "codebook", "version": 2}', '{"naysay": "design"}'])
def test_a_file_beside_it_that_is_no_codebook(tmp_path, text):
    (tmp_path / "x.csv").write_text("q\nyes\n", encoding="utf-8")
    (tmp_path / "x.csv.designs.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="is not the codebook of an export"):
        files.scan(tmp_path / "x.csv")
