"""One person under one name: what is surely the same is made so, what may be is told."""

import datetime

import polars as pl
import pytest

from naysay import DataError
from naysay.microdata import panel


def merged(*names, **others):
    """Everybody in two waves, the names of the second written differently."""
    first, second = names
    waves = {"2009-01": {"respondent": first, "job": ["a"] * len(first)}}
    return panel.merge_waves(waves | {"2009-02": {"respondent": second, "job": ["b"] * len(second)}}, **others)


@pytest.mark.parametrize(
    "other", [" A 12", "A 12 ", "A\u00a012", "\ufeffA 12", "A\u202f12\u00a0", "A\u200b 12", "A\t12", "A  12"]
)
def test_spaces_and_what_nobody_sees_are_no_part_of_a_name(other):
    found = merged(["A 12", "B 7"], [other, "B 7"])
    assert found.table.rows() == [("A 12", "b"), ("B 7", "b")]
    assert found.warnings == ()


def test_letters_composed_in_two_ways_and_minus_signs_are_one():
    assert merged(["Zo\u00eb", "x"], ["Zoe\u0308", "x"]).respondents == 2
    assert merged(["-7", "x"], ["\u22127", "x"]).respondents == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [("A12", "a12"), ("1234", "1,234"), ("1234", "1.234"), ("1234", "1\u00a0234"), ("1234567", "+1'234'567")],
)
def test_what_may_be_one_person_is_told_with_the_rows_and_without_the_names(one, other):
    found = merged([one, "x"], ["x", other])
    assert found.respondents == 3
    (warning,) = found.warnings
    assert "2 respondents in column 'respondent' differ from others only in capital letters or in marks" in str(warning)
    assert "row 1 of wave 2009-01" in str(warning)
    assert "row 2 of wave 2009-02" in str(warning)
    assert not [name for name in (one, other) if name in str(warning)]
    assert f"note: {warning}" in str(found)
    assert found.to_dict()["warnings"] == [str(warning)]


def test_every_verb_of_panels_passes_the_warning_on():
    waves = {"respondent": ["a", "A"], "wave": ["2009-01", "2009-02"], "age": [40, 41]}
    for found in (panel.month_of_birth(waves), panel.when_changed(waves, "age")):
        assert "row 2 and row 1" in str(found.warnings[0])
    assert "note: 2 respondents" in str(panel.month_of_birth(waves))


def test_a_number_with_a_sign_is_a_number_written_in_two_ways():
    with pytest.raises(DataError, match=r"7, 07, \+7 and 7.0"):
        merged(["7", "8"], ["+7", "8"])


def test_names_of_spaces_are_none():
    with pytest.raises(DataError, match="row 2, is empty"):
        merged(["a", "\u00a0"], ["a", "b"])


def test_respondents_of_a_table_beside_the_waves_are_compared_alike():
    born = panel.month_of_birth({"respondent": ["A 1", "A 1"], "wave": ["2009-01", "2009-02"], "age": [40, 41]})
    table = pl.DataFrame({"respondent": [" A\u00a01", "b"]})
    assert born.beside(table).rows() == [(" A\u00a01", [1, 2]), ("b", None)]
    numbers = panel.month_of_birth({"respondent": ["7", "7"], "wave": ["2009-01", "2009-02"], "age": [40, 41]})
    assert numbers.beside(pl.DataFrame({"respondent": [7.0, 8.0]}))["month_of_birth"].to_list() == [[1, 2], None]
    with pytest.raises(DataError, match=r"whole numbers or texts; row 1 has 7\.5"):
        numbers.beside(pl.DataFrame({"respondent": [7.5]}))


def test_a_time_is_of_the_month_that_its_own_clock_shows():
    ahead = datetime.timezone(datetime.timedelta(hours=2))
    first = datetime.datetime(2009, 3, 1, 0, 30, tzinfo=ahead)
    for wave in ([first], pl.Series([first]).dt.convert_time_zone("Etc/GMT-2"), ["2009-03-01T00:30:00+02:00"]):
        assert panel.merge_waves({"respondent": [1], "wave": wave, "a": [1]}).attendance["wave"][0] == "2009-03"
    assert panel.merge_waves({first: {"respondent": [1], "a": [1]}}).attendance["wave"][0] == "2009-03"


@pytest.mark.parametrize("day", ["2009-02-99", "2009-02-29", "2009-04-31", "2009-02-3", "200902-15"])
def test_a_day_that_no_calendar_has_is_no_month(day):
    with pytest.raises(DataError, match=f"row 2, holds '{day}'"):
        panel.merge_waves({"respondent": [1, 1], "wave": ["2009-01-31", day], "a": [1, 2]})
