import datetime as dt
import math
import sys

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naysay import files
from naysay.errors import DataError
from naysay.files import statistical

YES_NO = {1.0: "yes", 2.0: "no", 9.0: "refused"}
FORMATS = [".sav", ".zsav", ".dta"]


def cells(path, name="q", **options):
    return files.scan(path, **options).select(name).collect()[name].to_list()


def problem(path, name="q", **options):
    with pytest.raises(DataError) as error, files.readable(path):
        cells(path, name, **options)
    return error.value


# labels and codes


@pytest.mark.parametrize("suffix", FORMATS)
def test_labels_stand_for_codes(survey, suffix):
    labels = {"q": {1: "yes", 2: "no"} if suffix == ".dta" else {1.0: "yes", 2.0: "no"}}
    path = survey("x" + suffix, {"q": [1.0, 2.0, 3.0, 2.5, None], "w": [0.5, 1.0, 1.5, 2.0, 1e15]}, labels=labels)
    assert cells(path) == ["yes", "no", "3", "2.5", None]
    assert cells(path, codes=True) == [1.0, 2.0, 3.0, 2.5, None]
    assert cells(path, "w") == [0.5, 1.0, 1.5, 2.0, 1e15]
    assert files.scan(path).collect_schema() == {"q": pl.String, "w": pl.Float64}


def test_codes_of_some_columns_only(survey):
    both = {"q": [1.0, 2.0], "w": [1.0, 2.0]}
    path = survey("x.sav", both, labels={"q": {1.0: "yes"}, "w": {1.0: "unweighted"}})
    assert files.scan(path, codes=["w"]).collect().rows() == [("yes", 1.0), ("2", 2.0)]


def test_labels_of_texts(survey):
    path = survey("x.sav", {"q": ["a", "b", "", "c" * 300]}, labels={"q": {"a": "Alpha", "b": "Bêta"}})
    assert cells(path) == ["Alpha", "Bêta", None, "c" * 300]
    assert cells(path, codes=True) == ["a", "b", None, "c" * 300]


@pytest.mark.parametrize("suffix", FORMATS)
def test_labels_in_any_script(survey, suffix):
    names = ["はい", "לא", "ça 😀", ' "a, b"']
    path = survey("é" + suffix, {"q": [1, 2, 3, 4]}, labels={"q": dict(enumerate(names, start=1))})
    assert cells(path) == names


def test_a_label_without_letters_is_none(survey):
    assert cells(survey("x.sav", {"q": [1.0, 2.0, 3.0]}, labels={"q": {1.0: " ", 2.0: "", 3.0: "c"}})) == [
        "1",
        "2",
        "c",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(codes=st.lists(st.integers(0, 9), min_size=1, max_size=30), split=st.integers(1, 40))
def test_pieces_do_not_show(survey, monkeypatch, codes, split):
    monkeypatch.setattr(statistical, "_CELLS", split)
    labels = {float(code): f"label {code}" for code in range(5)}
    path = survey("x.sav", {"q": [float(code) for code in codes], "n": list(range(len(codes)))}, labels={"q": labels})
    read = files.scan(path).collect()
    assert read["q"].to_list() == [labels.get(code, str(code)) for code in codes]
    assert read["n"].to_list() == list(range(len(codes)))
    for most in (0, 1, split):
        assert files.scan(path).head(most).collect().equals(read.head(most))
    few = files.scan(path).filter(pl.col("n") % 2 == 1).head(3).select("q").collect()["q"].to_list()
    assert few == read["q"].to_list()[1::2][:3]


# missing values


def test_user_missing_values_of_spss(survey):
    columns = {"q": [1.0, 9.0, 2.0], "w": [1.0, 97.0, 99.5], "low": [-3.0, 0.0, 4.0], "s": ["a", "zz", ""]}
    ranges = {"q": [9.0], "w": [{"lo": 97, "hi": 99}], "low": [{"lo": -math.inf, "hi": 0}, 4], "s": ["zz"]}
    path = survey("x.sav", columns, labels={"q": YES_NO}, missing_ranges=ranges)
    for codes in (False, True):
        read = files.scan(path, codes=codes).collect()
        assert read["q"].to_list() == ([1.0, None, 2.0] if codes else ["yes", None, "no"])
        assert read["w"].to_list() == [1.0, None, 99.5]
        assert read["low"].null_count() == 3
        assert read["s"].to_list() == ["a", None, None]


def test_a_number_whose_labels_are_all_missing_stays_a_number(survey):
    path = survey("x.sav", {"w": [0.5, 99.0]}, labels={"w": {99.0: "unknown"}}, missing_ranges={"w": [99]})
    assert files.scan(path).collect_schema() == {"w": pl.Float64}
    assert cells(path, "w") == [0.5, None]


def test_extended_missing_values_of_stata(survey):
    marked = pl.Series("q", [1, 2, "a", "z", None], dtype=pl.Object)
    labels = {"q": {1: "yes", 2: "no", "a": "refused", "z": "refused"}}
    path = survey("x.dta", {"q": marked}, labels=labels, missing_user_values={"q": ["a", "z"]})
    assert cells(path) == ["yes", "no", None, None, None]
    assert cells(path, codes=True) == [1, 2, None, None, None]
    assert files.scan(path, codes=True).collect_schema() == {"q": pl.Int64}


def test_portable_files(portable):
    path = portable("x.por", [1.0, 9.0, 2.0, 3.0, None])
    assert cells(path, "Q") == ["yes", None, "no", "3", None]
    assert cells(path, "Q", codes=True) == [1.0, None, 2.0, 3.0, None]


# labels that collide


@pytest.mark.parametrize("suffix", FORMATS)
def test_two_codes_with_one_label(survey, suffix):
    labels = {"q": {1: "yes", 2: "other", 7: "other"}}
    path = survey("x" + suffix, {"q": [1, 2], "r": [1, 2]}, labels=labels)
    error = problem(path)
    assert "column 'q' the codes 2 and 7 are both labelled 'other'; read the codes instead (--codes)" in str(error)
    assert (error.column, error.value) == ("q", "other")
    assert cells(path, "r") == [1, 2]
    assert cells(path, codes=True) == [1, 2]
    assert cells(path, codes=["q"]) == [1, 2]


def test_missing_codes_may_share_a_label(survey):
    labels = {"q": {1.0: "yes", 8.0: "none", 9.0: "none"}}
    path = survey("x.sav", {"q": [1.0, 8.0, 9.0]}, labels=labels, missing_ranges={"q": [8, 9]})
    assert cells(path) == ["yes", None, None]
    assert "the codes 1 and 8" in str(problem(survey("y.sav", {"q": [1.0]}, labels={"q": {1.0: "no", 8.0: "no"}})))


def test_texts_with_one_label(survey):
    error = problem(survey("x.sav", {"q": ["a", "b"]}, labels={"q": {"a": "one", "b": "one"}}))
    assert "the codes 'a' and 'b' are both labelled 'one'" in str(error)


@pytest.mark.parametrize("split", [1, 1000])
def test_a_code_that_reads_like_a_label(survey, monkeypatch, split):
    monkeypatch.setattr(statistical, "_CELLS", split)
    path = survey("x.sav", {"q": [1.0, 3.0, 2.0]}, labels={"q": {1.0: "2"}})
    error = problem(path)
    assert "column 'q', row 3, holds the code 2, which has no label, while the code 1 is labelled '2'" in str(error)
    assert "--codes" in str(error)
    assert (error.column, error.row, error.value) == ("q", 2, "2")
    assert cells(path, codes=True) == [1.0, 3.0, 2.0]


def test_labels_that_are_codes_with_labels_do_not_collide(survey):
    path = survey("x.sav", {"q": [1.0, 2.0, 3.0]}, labels={"q": {1.0: "2", 2.0: "1", 3.0: "3"}})
    assert cells(path) == ["2", "1", "3"]


# dates


@pytest.mark.parametrize("suffix", FORMATS)
def test_dates(survey, suffix):
    days = [dt.date(1583, 1, 2), dt.date(2020, 2, 29), None, dt.date(9999, 12, 31)]
    times = [dt.datetime(1960, 1, 1), dt.datetime(2024, 5, 6, 7, 8, 9, 500_000), None, dt.datetime(1899, 12, 31, 23)]
    path = survey("x" + suffix, {"d": days, "t": times})
    read = files.scan(path).collect()
    assert read.schema == {"d": pl.Date, "t": pl.Datetime("ms")}
    assert read["d"].to_list() == days
    assert read["t"].to_list() == times


def test_a_date_with_a_label_is_text_with_the_others(survey):
    numbers = {"d": [86400.0, 86400.0 * (dt.date(2020, 2, 29) - dt.date(1582, 10, 14)).days]}
    path = survey("x.sav", numbers, labels={"d": {86400.0: "long ago"}}, variable_format={"d": "DATE11"})
    assert cells(path, "d") == ["long ago", "2020-02-29"]
    assert cells(path, "d", codes=True) == [dt.date(1582, 10, 15), dt.date(2020, 2, 29)]


def test_a_date_beyond_all_calendars(survey):
    path = survey("x.sav", {"d": [1e20]}, variable_format={"d": "DATE11"})
    assert "cannot read" in str(problem(path, "d"))


def test_times_of_day_are_seconds(survey):
    assert cells(survey("x.sav", {"t": [dt.time(1, 2, 3)]}), "t") == [3723.0]


# files that cannot be read


@pytest.mark.parametrize("suffix", [*FORMATS, ".por"])
def test_files_that_are_none(tmp_path, suffix):
    path = tmp_path / ("x" + suffix)
    assert "there is no file" in str(problem(path))
    path.touch()
    assert "is empty (0 bytes)" in str(problem(path))
    path.write_bytes(b"junk" * 500)
    system = "Stata" if suffix == ".dta" else "SPSS"
    assert f"it is cut short, damaged or no file of {system}" in str(problem(path))
    path.unlink()
    path.mkdir()
    assert "cannot read" in str(problem(path))


@pytest.mark.parametrize("suffix", [*FORMATS, ".por"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_file_that_is_cut_short(survey, portable, suffix, share):
    codes = [float(code % 7) for code in range(2000)]
    path = portable("x.por", codes) if suffix == ".por" else survey("x" + suffix, {"q": codes})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert "it is cut short, damaged or no file of" in str(problem(path, "Q" if suffix == ".por" else "q"))


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_rows_and_no_columns(survey, suffix):
    empty = pl.Series("q", [], dtype=pl.Float64)
    assert "holds no rows, only the names of its columns" in str(problem(survey("x" + suffix, {"q": empty})))


def test_the_number_of_rows_may_be_unsaid(survey):
    path = survey("x.sav", {"q": [1.0, 2.0]}, labels={"q": YES_NO})
    told = bytearray(path.read_bytes())
    assert told[80:84] == b"\2\0\0\0"
    told[80:84] = b"\xff\xff\xff\xff"
    path.write_bytes(told)
    assert cells(path) == ["yes", "no"]


def test_an_old_encoding_is_named(survey):
    path = survey("x.sav", {"q": ["Ünïcode"], "r": ["a"]})
    path.write_bytes(path.read_bytes().replace("Ünïcode".encode(), b"\xdcn\xefcode  "))
    assert "add --encoding cp1252 (or latin-1)" in str(problem(path))
    assert cells(path, encoding="latin-1") == ["Ünïcode"]
    assert cells(path, encoding="cp1252") == ["Ünïcode"]
    assert "is not utf-8; if an older program" in str(problem(path, encoding="utf-8"))
    assert "no encoding is called 'utf-99'" in str(problem(path, encoding="utf-99"))
    assert "cannot be in utf-16; leave --encoding out" in str(problem(path, encoding="utf-16"))
    assert "cannot be read as mac-roman; name another" in str(problem(path, encoding="mac-roman"))


def test_a_portable_file_has_no_choice_of_encoding(portable):
    assert "leave --encoding out" in str(problem(portable("x.por", [1.0]), "Q", encoding="latin-1"))


def test_letters_that_a_portable_file_cannot_tell(portable):
    path = portable("x.por", [1.0, 2.0])
    path.write_bytes(path.read_bytes().replace(b"3/yes", b"3/s\xed "))
    assert "column 'Q' of" in str(problem(path, "Q"))
    assert cells(path, "Q", codes=True) == [1.0, 2.0]


def test_an_old_file_of_stata_says_no_encoding(survey):
    path = survey("x.dta", {"q": [1, 2]}, labels={"q": {1: "é"}}, version=13)
    assert cells(path, encoding="utf-8") == ["é", "2"]


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_without_the_extra_the_way_to_it_is_named(survey, monkeypatch, suffix):
    path = survey("x" + suffix, {"q": [1.0]})
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    error = str(problem(path))
    assert "pyreadstat, which reads and writes it, is not installed" in error
    assert 'pip install "naysay[files]"' in error


# writing


def test_portable_files_are_not_written(tmp_path):
    with pytest.raises(DataError, match=r"must end in \.csv, .* portable files of SPSS are read, not written"):
        files.write(pl.DataFrame({"q": ["a"]}), tmp_path / "x.por")


def test_whole_floats_are_whole_numbers_in_csv(tmp_path):
    path = tmp_path / "x.csv"
    columns = {"a": [1.0, None, -3.0], "b": [1.0, 2.5, 3.0], "c": [1.0, math.nan, 3.0]}
    files.write(pl.DataFrame(columns | {"d": [2.0**60, 1.0, 2.0]}), path)
    written = pl.read_csv(path)
    assert written.schema == {"a": pl.Int64, "b": pl.Float64, "c": pl.Float64, "d": pl.Float64}
    assert written["a"].to_list() == columns["a"]
    assert path.read_text(encoding="utf-8").splitlines()[2].startswith(",2.5,NaN,")
