import datetime
import random

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError
from naysay.microdata import panel

from .waves import START, text

MONTHS = 6
cell = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def panels(draw):
    """Rows (respondent, month, job, sport) of a few people over half a year, in any order."""
    slots = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, MONTHS - 1)), unique=True, min_size=1))
    return [(who, START + month, draw(cell), draw(cell)) for who, month in slots]


def long(rows):
    names = ("respondent", "wave", "job", "sport")
    columns = [[row[place] for row in rows] for place in range(4)]
    return dict(zip(names, columns, strict=True)) | {"wave": [text(month) for month in columns[1]]}


def latest(rows, place):
    found = {}
    for row in sorted(rows, key=lambda row: row[1]):
        if row[place] is not None:
            found[row[0]] = row[place]
    return found


def groups(rows):
    """Who is kept, and who is set aside, by looking at one after the other."""
    job, sport, everybody = latest(rows, 2), latest(rows, 3), {row[0] for row in rows}
    return (
        sorted(job.keys() & sport.keys()),
        len(job.keys() - sport.keys()),
        len(sport.keys() - job.keys()),
        len(everybody - job.keys() - sport.keys()),
    )


@settings(max_examples=200)
@given(panels())
def test_the_most_recent_known_value_of_each_variable(rows):
    kept, *aside = groups(rows)
    if not kept:
        with pytest.raises(DataError, match="nobody is left"):
            panel.merge_waves(long(rows), background=["job"])
        return
    merged = panel.merge_waves(long(rows), background=["job"])
    job, sport = latest(rows, 2), latest(rows, 3)
    assert merged.table.rows() == [(who, job[who], sport[who]) for who in kept]
    assert [merged.background_only, merged.without_background, merged.without_any] == aside
    assert merged.respondents == len({row[0] for row in rows})


@settings(max_examples=60)
@given(panels(), st.randoms())
def test_order_and_files_are_of_no_matter(rows, shuffler):
    if not latest(rows, 2):
        return
    whole = panel.merge_waves(long(rows))
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    by_month = {}
    for row in shuffled:
        by_month.setdefault(text(row[1]), []).append(row)
    apart = {month: pl.DataFrame(long(each)).drop("wave") for month, each in by_month.items()}
    modules = [{name: cells for name, cells in long(shuffled).items() if name != gone} for gone in ("sport", "job")]
    for same in (long(shuffled), [long(each) for each in by_month.values()], apart, modules):
        merged = panel.merge_waves(same)
        assert merged.table.select(whole.table.columns).equals(whole.table)
        assert merged.attendance.equals(whole.attendance)


@settings(max_examples=60)
@given(panels())
def test_merging_what_is_merged_changes_nothing(rows):
    if not latest(rows, 2):
        return
    once = panel.merge_waves(long(rows)).table
    assert panel.merge_waves(once.with_columns(wave=pl.lit("2020-01"))).table.equals(once)


@settings(max_examples=60)
@given(panels())
def test_attendance_counts_everybody(rows):
    if not latest(rows, 2):
        return
    table = panel.merge_waves(long(rows)).attendance
    held = {month: {row[0] for row in rows if row[1] == month} for month in sorted({row[1] for row in rows})}
    months = list(held)
    for place, (month, found) in enumerate(zip(months, table.iter_rows(named=True), strict=True)):
        before = set().union(*(held[each] for each in months[:place]))
        after = set().union(*(held[each] for each in months[place + 1 :]))
        last = place == len(months) - 1
        assert found == {
            "wave": text(month),
            "present": len(held[month]),
            "entered": len(held[month] - before),
            "left": 0 if last else len(held[month] - after),
            "away": len((before & after) - held[month]),
        }


def test_missing_counts_tell_what_was_asked():
    waves = [
        {"respondent": [1, 2, 3], "wave": ["2009-01"] * 3, "job": ["a", None, "b"], "age": [1, 2, 3]},
        {"respondent": [1, 2], "wave": ["2009-02"] * 2, "sport": ["judo", None]},
    ]
    merged = panel.merge_waves(waves)
    assert merged.missing.rows() == [("job", 1, 1 / 3, 3), ("age", 0, 0.0, 3), ("sport", 2, 2 / 3, 2)]
    assert "sport           2  0.667            1" in str(merged)
    assert "complete: age" in str(merged)
    assert merged.to_dict()["missing"][0] == {"variable": "job", "missing": 1, "share": 1 / 3, "asked": 3}


FRAMES = {
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "mapping": dict,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame(frame):
    columns = {
        "respondent": [1, 1, 2],
        "wave": [200901, 200902, 200902],
        "job": ["a", None, "b"],
        "pay": [1.5, None, 2.0],
    }
    merged = panel.merge_waves(FRAMES[frame](columns))
    assert merged.table.rows() == [(1, "a", 1.5), (2, "b", 2.0)]


@pytest.mark.parametrize(
    "month",
    ["2009-03", " 200903 ", "2009-03-17", 200903, 200903.0, datetime.date(2009, 3, 17), datetime.datetime(2009, 3, 17)],
    ids=str,
)
def test_months_are_written_in_many_ways(month):
    merged = panel.merge_waves({"respondent": [1], "wave": [month], "job": ["a"]})
    assert merged.attendance["wave"].to_list() == ["2009-03"]


@pytest.mark.parametrize(
    "month", ["", None, "March 2009", "2009-13", "2009", 2009, 200900, 20090317, 200903.5, float("nan")], ids=str
)
def test_a_row_without_a_month(month):
    waves = {
        "respondent": [1, 2],
        "wave": pl.Series(["200901", month] if isinstance(month, str | None) else [200901.0, month]),
        "job": ["a", "b"],
    }
    with pytest.raises(DataError, match="needs its month; column 'wave', row 2") as raised:
        panel.merge_waves(waves)
    assert (raised.value.row, raised.value.column) == (1, "wave")


def test_a_month_that_is_no_date_at_all():
    with pytest.raises(DataError, match="'wave' holds Boolean"):
        panel.merge_waves({"respondent": [1], "wave": [True], "job": ["a"]})


def test_a_table_without_months():
    with pytest.raises(DataError, match="table 2: there is no column 'wave'"):
        panel.merge_waves([{"respondent": [1], "wave": ["2009-01"], "job": ["a"]}, {"respondent": [1], "job": ["a"]}])
    with pytest.raises(DataError, match="a month is written as 2009-03, 200903, or a date; got 'first'"):
        panel.merge_waves({"first": pl.DataFrame({"respondent": [1], "job": ["a"]})})


def test_a_table_named_after_another_month():
    waves = {"2009-01": pl.DataFrame({"respondent": [1], "wave": ["2009-02"], "job": ["a"]})}
    with pytest.raises(DataError, match="wave 2009-01: it holds 2009-02 in row 1"):
        panel.merge_waves(waves)


def test_tables_with_months_may_have_any_name():
    waves = {"some.csv": pl.DataFrame({"respondent": [1], "wave": ["2009-02"], "job": ["a"]})}
    assert panel.merge_waves(waves).kept == 1


def test_a_respondent_twice_in_a_wave():
    waves = {"respondent": [1, 2, 1, 2], "wave": ["2009-01", "2009-01", "2009-02", "2009-01"], "job": list("abcd")}
    with pytest.raises(DataError, match="row 2 and row 4 are the same respondent in 2009-01") as raised:
        panel.merge_waves(waves)
    assert raised.value.row == 3


def test_a_respondent_twice_in_a_wave_of_two_tables():
    one, two = ({"respondent": [1], "wave": ["2009-01"], "job": ["a"], name: ["b"]} for name in ("x", "y"))
    with pytest.raises(DataError, match="row 1 of table 1 and row 1 of table 2 are the same respondent"):
        panel.merge_waves([one, two])


@pytest.mark.parametrize(
    ("months", "told"),
    [
        (["2009-02", "2009-01", "2009-03"], "number 2 is of 2009-01, but number 1 is of 2009-02"),
        (["2009-01", "2009-02", "2009-02"], "number 3 is of 2009-02, but number 2 is of 2009-02"),
    ],
)
def test_waves_out_of_order(months, told):
    waves = {"respondent": [1, 1, 2], "wave": months, "round": [1, 2, 3], "job": list("abc")}
    with pytest.raises(DataError, match=f"waves are out of order: {told}"):
        panel.merge_waves(waves, number="round")


def test_wave_numbers_are_checked_and_left_out():
    waves = {"respondent": [1, 2], "wave": ["2009-01", "2009-02"], "round": ["9", "10"], "job": ["a", "b"]}
    assert panel.merge_waves(waves, number="round").table.columns == ["respondent", "job"]
    with pytest.raises(DataError, match="column 'round', row 2, holds no number"):
        panel.merge_waves(waves | {"round": ["9", "ten"]}, number="round")
    with pytest.raises(DataError, match="number 1 is of 2009-02, but number 1 is of 2009-01"):
        panel.merge_waves(waves | {"round": [1, 1]}, number="round")


def test_identifiers_that_change_their_type():
    one = pl.DataFrame({"respondent": [1], "wave": ["2009-01"], "job": ["a"]})
    with pytest.raises(DataError, match="'respondent' holds numbers in table 1 and texts in table 2"):
        panel.merge_waves([one, one.with_columns(pl.col("respondent").cast(pl.String))])
    with pytest.raises(DataError, match="'respondent' must hold values of one kind"):
        panel.merge_waves({"respondent": [1, "1"], "wave": ["2009-01", "2009-02"], "job": ["a", "b"]})
    assert (
        panel.merge_waves([one, one.with_columns(pl.col("respondent").cast(pl.Float32), wave=pl.lit("2009-02"))]).kept
        == 1
    )


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([1, None], "row 2, is empty"),
        (["a", ""], "row 2, is empty"),
        ([1.0, 1.5], "row 2 has 1.5"),
        ([1.0, 2.0**60], "row 2 has 1.15"),
        ([1, 2**63], "beyond 63 bits"),
        ([True, False], "holds Boolean"),
    ],
)
def test_rows_without_a_respondent(cells, told):
    with pytest.raises(DataError, match=told):
        panel.merge_waves({"respondent": cells, "wave": ["2009-01"] * 2, "job": ["a", "b"]})


def test_variables_of_two_kinds():
    waves = [{"respondent": [1], "wave": [200900 + month], "job": [job]} for month, job in ((1, "a"), (2, 3))]
    with pytest.raises(DataError, match="'job' must hold values of one kind in every wave; it holds 'String', 'Int64'"):
        panel.merge_waves(waves)


def test_background_that_cannot_be():
    waves = {"respondent": [1], "wave": [200901], "job": ["a"]}
    with pytest.raises(DataError, match=r"write \['job'\]"):
        panel.merge_waves(waves, background="job")
    with pytest.raises(DataError, match="no column 'jobs'"):
        panel.merge_waves(waves, background=["jobs"])
    with pytest.raises(DataError, match="other answers are none"):
        panel.merge_waves(waves, background=["job"])


def test_nothing_to_merge():
    with pytest.raises(DataError, match="got 'wave' for both"):
        panel.merge_waves({"wave": [200901], "job": ["a"]}, respondent="wave")
    with pytest.raises(DataError, match="at least one wave"):
        panel.merge_waves([])
    with pytest.raises(DataError, match="nothing to merge"):
        panel.merge_waves({"respondent": [1], "wave": [200901]})
    with pytest.raises(DataError, match="table 2 has no rows"):
        panel.merge_waves(
            [{"respondent": [1], "wave": [200901], "job": ["a"]}, {"respondent": [], "wave": [], "job": []}]
        )


def test_no_value_of_a_respondent_is_told():
    random.seed(1)
    jobs = [f"job-{random.randrange(10**6)}" for _ in range(20)]
    merged = panel.merge_waves({"respondent": list(range(20)), "wave": [200901] * 20, "job": jobs})
    assert "job-" not in str(merged) + str(merged.to_dict())
